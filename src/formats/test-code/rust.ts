/** Rust: the built-in tests, tokio, rstest, test-case, proptest, insta. */
import { parser } from "@lezer/rust";
import type { TestCode } from "../../core/test-code.ts";
import { deadBranches, failures } from "./braces.ts";
import {
  after,
  argumentsAt,
  beginsChain,
  beginsStatement,
  type Chain,
  chainAt,
  inside,
  textAt,
} from "./chain.ts";
import { type Check, readCondition, readNamed, whole } from "./checks.ts";
import { assemble, type Block, type FoundFunction } from "./outline.ts";
import { render } from "./render.ts";
import { type Code, type Range, tokensOfTree } from "./tokens.ts";

export function read(text: string): TestCode | undefined {
  const code = tokensOfTree(parser.parse(text), text);
  if (code.errors > 2 + code.tokens.length / 10) return undefined;
  const suites: Block[] = [];
  const tests: Block[] = [];
  const functions: FoundFunction[] = [];
  const checks: Check[] = [...failures(code, isFailure)];
  const ends: number[] = [];
  for (let at = 0; at < code.tokens.length; at++) {
    const word = textAt(code, at);
    if (word === "return") ends.push(at);
    else if (word === "mod" && textAt(code, at + 2) === "{") suites.push(moduleAt(code, at));
    else if (word === "fn") {
      const found = functionAt(code, at);
      const attributes = found ? attributesBefore(code, at) : [];
      if (found && attributes.some(({ name }) => testMarks.test(name)))
        tests.push(testOf(found, attributes));
      else if (found) functions.push(found);
    } else if (
      word === "let" &&
      /^\|\|?$/.test(textAt(code, at + 3)) &&
      textAt(code, at + 2) === "="
    ) {
      const closure = closureAt(code, at + 1);
      if (closure) functions.push(closure);
    }
    if (beginsChain(code, at)) checks.push(...checksAt(code, chainAt(code, at)));
  }
  const outline = {
    suites,
    tests,
    functions,
    checks,
    skips: [],
    ends,
    dead: deadBranches(code),
    tries: [],
  };
  return assemble(code, outline, {
    constantsOnly: false,
    failing: /^(?:unwrap|expect|unwrap_err|expect_err|\?)$/,
  });
}

const testMarks =
  /^(?:test|rstest|test_case|quickcheck|bench_test|wasm_bindgen_test|proptest|sqlx_test)$/;

interface Attribute {
  readonly name: string;
  readonly args: readonly Range[];
  readonly text: string;
  readonly from: number;
}

/** The attributes above an item, whatever its visibility. */
function attributesBefore(code: Code, at: number): Attribute[] {
  let from = at;
  while (/^(?:pub|async|unsafe|const|extern|\))$/.test(textAt(code, from - 1))) {
    from = textAt(code, from - 1) === ")" ? (code.pair[from - 1] ?? from - 1) : from - 1;
  }
  const found: Attribute[] = [];
  while (textAt(code, from - 1) === "]") {
    const open = code.pair[from - 1] ?? -1;
    if (open < 1 || textAt(code, open - 1) !== "#") break;
    let name = open + 1;
    while (textAt(code, name + 1) === "::") name += 2;
    const bracket = textAt(code, name + 1) === "(" ? name + 1 : undefined;
    const text = render(code, inside(code, open)).join(" ");
    found.unshift({
      name: textAt(code, name),
      args: argumentsAt(code, bracket),
      text,
      from: open - 1,
    });
    from = open - 1;
  }
  return found;
}

function moduleAt(code: Code, at: number): Block {
  const attributes = attributesBefore(code, at);
  return {
    title: textAt(code, at + 1),
    whole: { from: attributes[0]?.from ?? at, to: after(code, at + 2) },
    body: inside(code, at + 2),
    ...configured(attributes),
  };
}

/** `#[cfg(…)]`: all but `test` leaves the item out somewhere. */
function configured(attributes: readonly Attribute[]): { skipped: boolean; conditional: boolean } {
  const said = attributes
    .filter(({ name }) => name === "cfg")
    .map(({ text }) => text.replace(/^cfg \( | \)$/g, ""));
  return {
    skipped: said.some((text) =>
      /^any \( \)?$|^(?:FALSE|never|disabled|false)$|^not \( test \)?$/.test(text),
    ),
    conditional: said.some((text) => text !== "test"),
  };
}

function testOf(
  { name, whole: all, body }: FoundFunction,
  attributes: readonly Attribute[],
): Block {
  const panics = attributes.find((each) => each.name === "should_panic");
  const rows = attributes
    .filter((each) => /^(?:case|test_case)$/.test(each.name) && each.args.length > 0)
    .map(({ args }) => whole(args));
  const from = attributes[0]?.from ?? all.from;
  const under = configured(attributes);
  const [expected] = panics?.args ?? [];
  const check: Check | undefined = panics && {
    range: { from, to: all.from },
    strength: expected ? "exact" : "loose",
    partial: false,
    negated: false,
    actual: body,
    expected: expected ?? "throws",
  };
  return {
    title: name,
    whole: { from, to: all.to },
    body,
    skipped: under.skipped || attributes.some((each) => each.name === "ignore"),
    conditional:
      under.conditional || attributes.some(({ text }) => /^cfg_attr .*ignore/.test(text)),
    ...(rows.length > 0 && { rows }),
    // Whatever fails in it makes it pass.
    ...(check && { checks: [check], inverted: true }),
  };
}

function functionAt(code: Code, at: number): FoundFunction | undefined {
  let open = at + 2;
  for (let steps = 0; steps < 60 && textAt(code, open) !== "("; steps++) open++;
  if (textAt(code, open) !== "(" || code.tokens[at + 1]?.kind !== "word") return undefined;
  let brace = after(code, open);
  for (let steps = 0; steps < 60 && !/^[{;]$/.test(textAt(code, brace)); steps++) {
    brace = textAt(code, brace) === "(" ? after(code, brace) : brace + 1;
  }
  if (textAt(code, brace) !== "{") return undefined;
  const parameters = parametersOf(code, argumentsAt(code, open));
  return {
    name: textAt(code, at + 1),
    parameters,
    whole: { from: at, to: after(code, brace) },
    body: inside(code, brace),
  };
}

const parametersOf = (code: Code, args: readonly Range[]): string[] =>
  args
    .map(({ from }) => (textAt(code, from) === "mut" ? textAt(code, from + 1) : textAt(code, from)))
    .filter((name) => !/^(?:&|self)$/.test(name));

/** `let check = |a, b| { … };`. */
function closureAt(code: Code, at: number): FoundFunction | undefined {
  const parameters: string[] = [];
  let end = at + 2;
  if (textAt(code, end) === "|") {
    for (end++; end < at + 40 && textAt(code, end) !== "|"; end++) {
      if (code.tokens[end]?.kind === "word" && /^[|,]$/.test(textAt(code, end - 1)))
        parameters.push(textAt(code, end));
    }
  }
  if (textAt(code, end + 1) !== "{") return undefined;
  return {
    name: textAt(code, at),
    parameters,
    whole: { from: at, to: after(code, end + 1) },
    body: inside(code, end + 1),
  };
}

const isFailure = (code: Code, at: number): boolean =>
  /^(?:panic|unreachable)$/.test(textAt(code, at)) && textAt(code, at + 1) === "!";

const rules = { typed: true, expectedFirst: false };

function checksAt(code: Code, chain: Chain): Check[] {
  const { segments, from, to } = chain;
  const range = { from, to };
  const last = segments.at(-1);
  const name = last?.name ?? "";
  const isMacro = last?.args !== undefined && textAt(code, last.args - 1) === "!";
  const args = argumentsAt(code, last?.args);
  if (isMacro && /^(?:debug_)?assert$|^prop_assert$|^ensure$/.test(name)) {
    const [condition] = args;
    return condition ? readCondition(code, condition, range, { negate: false, typed: true }) : [];
  }
  if (isMacro && /assert/.test(name))
    return readNamed(
      code,
      range,
      {
        name: name.replace("prop_", "").replace("matches", "eq"),
        args: name.includes("snapshot") ? args.slice(0, 2) : args.slice(0, 2),
      },
      rules,
    );
  const own =
    segments.length === 1 &&
    /^(?:assert|expect|check|verify)_/.test(name) &&
    last?.args !== undefined;
  if (!own || !beginsStatement(code, from)) return [];
  return readNamed(code, range, { name, args }, rules).map((check) => ({ ...check, callee: name }));
}
