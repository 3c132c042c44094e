/** JavaScript and TypeScript: jest, vitest, mocha, node:test, ava, tape, jasmine, playwright, chai. */
import { parser } from "@lezer/javascript";
import type { TestCode } from "../../core/test-code.ts";
import { deadBranches, failures, tries } from "./braces.ts";
import {
  after,
  argumentsAt,
  beginsChain,
  beginsStatement,
  type Chain,
  chainAt,
  inside,
  partsOf,
  type Segment,
  statementEnd,
  step,
  textAt,
} from "./chain.ts";
import { type Check, fluentChecks, judged, readFluent, readNamed, whole } from "./checks.ts";
import { assemble, type Block, type FoundFunction, type Skip } from "./outline.ts";
import { render } from "./render.ts";
import { type Code, type Range, tokensOfTree } from "./tokens.ts";

export function read(text: string, extension: string): TestCode | undefined {
  const code = parse(text, extension);
  if (!code) return undefined;
  const suites: Block[] = [];
  const tests: Block[] = [];
  const functions: FoundFunction[] = [];
  const checks: Check[] = [...failures(code)];
  const skips: Skip[] = [];
  const ends: number[] = [];
  for (let at = 0; at < code.tokens.length; at++) {
    if (code.tokens[at]?.kind !== "word") continue;
    const found = functionAt(code, at);
    if (found) functions.push(found);
    if (textAt(code, at) === "return") ends.push(at);
    if (!beginsChain(code, at)) continue;
    const chain = chainAt(code, at);
    const block = blockAt(code, chain);
    if (block?.is === "suite") suites.push(block.block);
    else if (block?.is === "test") tests.push(block.block);
    else if (block?.is === "hook") functions.push(block.found);
    else {
      const skip = skipAt(code, chain);
      if (skip) skips.push(skip);
      else checks.push(...checksAt(code, chain));
    }
  }
  const outline = {
    suites,
    tests,
    functions,
    checks,
    skips,
    ends,
    dead: deadBranches(code),
    tries: tries(code),
  };
  return assemble(code, outline, { constantsOnly: false, failing: /^(?:get|find)(?:All)?By[A-Z]/ });
}

/** What says nothing at run time. */
const isType = (name: string): boolean =>
  /^(?:Type(?:ArgList|ParamList|Annotation|AliasDeclaration|Name|Predicate)|InterfaceDeclaration|satisfies|as)$|Type$/.test(
    name,
  );

const parsers = new Map<string, typeof parser>();

function parserFor(dialect: string): typeof parser {
  const made = parsers.get(dialect) ?? parser.configure({ dialect });
  parsers.set(dialect, made);
  return made;
}

function parse(text: string, extension: string): Code | undefined {
  const dialects = /^[cm]?tsx?$/.test(extension)
    ? [extension.endsWith("x") ? "ts jsx" : "ts"]
    : ["jsx", "ts jsx"];
  let best: Code | undefined;
  for (const dialect of dialects) {
    const code = tokensOfTree(parserFor(dialect).parse(text), text, { leaveOut: isType });
    if (!best || code.errors < best.errors) best = code;
    if (best.errors === 0) break;
  }
  return best && best.errors <= 2 + best.tokens.length / 10
    ? { ...best, quotedKeys: true }
    : undefined;
}

const testRoots = /^(?:[xf]?(?:it|test|specify)|[xf]?example)$/;
const suiteRoots = /^[xf]?(?:describe|context|suite|module)$/;
const modifiers =
  /^(?:skip|only|todo|each|for|skipIf|runIf|concurrent|sequential|serial|parallel|fails|failing|describe|suite|context|fixme|shuffle|test|it|cb|macro|configure)$/;
const hooks = /^(?:before|after|setup|teardown|suiteSetup|suiteTeardown)(?:Each|All|EachTest)?$/;
/** A name that somebody made of `it` and a condition. */
const conditionalRoots =
  /^(?:it|test|describe|suite)(?:If|Unless|On|When|Only|Skip|With|Requires|_)\w*$/;

type Found =
  | { readonly is: "suite" | "test"; readonly block: Block }
  | { readonly is: "hook"; readonly found: FoundFunction };

/** A call that defines a test, a suite or a hook. */
function blockAt(code: Code, chain: Chain): Found | undefined {
  const { segments } = chain;
  const start =
    /^(?:t|tt|QUnit|Deno|Bun|tap|ctx)$/.test(segments[0]?.name ?? "") && segments.length > 1
      ? 1
      : 0;
  const root = segments[start]?.name ?? "";
  const isConditional = conditionalRoots.test(root);
  if (!testRoots.test(root) && !suiteRoots.test(root) && !hooks.test(root) && !isConditional)
    return undefined;
  if (start === 1 && segments[0]?.args !== undefined) return undefined;
  const end = segments.findIndex(
    ({ name, args }, index) =>
      index >= start &&
      args !== undefined &&
      !(/^(?:each|for|skipIf|runIf)$/.test(name) && segments[index + 1]?.name === ""),
  );
  const definition = segments[end];
  if (!definition) return undefined;
  const names = segments
    .slice(start + 1, end + 1)
    .map(({ name }) => name)
    .filter((name) => name !== "");
  const args = argumentsAt(code, definition.args);
  const hook = [root, ...names].find((name) => hooks.test(name));
  if (hook && (root === hook || testRoots.test(root))) return hookOf(code, chain, hook, args);
  if (!names.every((name) => modifiers.test(name))) return undefined;
  const [title, ...rest] = args;
  const body = rest.map((each) => functionBody(code, each)).find((each) => each !== undefined);
  const isTitle = title !== undefined && code.tokens[title.from]?.kind === "string";
  if (!title || (!body && !isTitle)) return undefined;
  if (!body && rest.length === 0 && names.includes("skip") && start === 0 && !isTitle)
    return undefined;
  const isSuite =
    suiteRoots.test(root) ||
    /^describe|^suite/.test(root) ||
    names.some((name) => suiteRoots.test(name));
  const options = optionsOf(code, rest);
  const conditions = conditionsOf(code, segments.slice(start, end));
  const last = rest.at(-1);
  const isPending = !body && !(last && isCallable(code, last)) && !isSuite;
  const block: Block = {
    title: titleOf(code, title),
    whole: { from: chain.from, to: chain.to },
    body: body ?? last ?? { from: title.to, to: title.to },
    skipped:
      root.startsWith("x") ||
      names.some((name) => /^(?:skip|todo|fixme|fails|failing)$/.test(name)) ||
      isPending ||
      options.skipped ||
      conditions.skipped,
    conditional: isConditional || options.conditional || conditions.conditional,
    focused:
      /^f(?:it|test|describe|context|specify)/.test(root) ||
      names.includes("only") ||
      options.focused,
    ...tableOf(code, segments.slice(start, end)),
  };
  return { is: isSuite ? "suite" : "test", block };
}

function hookOf(code: Code, chain: Chain, name: string, args: readonly Range[]): Found | undefined {
  const body = args.map((each) => functionBody(code, each)).find((each) => each !== undefined);
  const whole = { from: chain.from, to: chain.to };
  return body && { is: "hook", found: { name, parameters: [], whole, body } };
}

const titleOf = (code: Code, range: Range): string => {
  const [only, ...more] = render(code, range);
  return only !== undefined && more.length === 0
    ? only.replace(/^["`]|["`]$/g, "")
    : render(code, range).join(" ");
};

const isCallable = (code: Code, { from }: Range): boolean =>
  code.tokens[from]?.kind === "word" && !/^(?:true|false|null|undefined)$/.test(textAt(code, from));

/** The inside of the function that an argument is. */
function functionBody(code: Code, { from, to }: Range): Range | undefined {
  for (let at = from; at < to; at = step(code, at)) {
    const text = textAt(code, at);
    if (text === "=>") {
      return textAt(code, at + 1) === "{" ? inside(code, at + 1) : { from: at + 1, to };
    }
    if (text === "{" && textAt(code, from) !== "{") return inside(code, at);
    // A function in a wrapper: `withDatabase(async () => …)`.
    if (
      text === "(" &&
      at > from &&
      code.pair[at] === to - 1 &&
      code.tokens[at - 1]?.kind === "word" &&
      textAt(code, at - 1) !== "function" &&
      textAt(code, at - 1) !== "async"
    ) {
      const inner = argumentsAt(code, at).map((each) => functionBody(code, each));
      return inner.find((each) => each !== undefined);
    }
  }
  return undefined;
}

interface Flags {
  readonly skipped: boolean;
  readonly conditional: boolean;
  readonly focused: boolean;
}

/** `{ skip: true, only: true }` between the title and the function. */
function optionsOf(code: Code, args: readonly Range[]): Flags {
  const flags = { skipped: false, conditional: false, focused: false };
  for (const { from } of args) {
    if (textAt(code, from) !== "{") continue;
    for (const part of partsOf(code, inside(code, from), ",")) {
      const name = textAt(code, part.from).replaceAll('"', "");
      const value = textAt(code, part.from + 2);
      const isOff = value === "false" || value === "undefined" || value === "null";
      if (isOff) continue;
      const isOn =
        part.to === part.from + 3 &&
        (value === "true" || code.tokens[part.from + 2]?.kind === "string");
      if (name === "only") flags.focused = true;
      else if (/^(?:skip|todo|fails|ignore)$/.test(name)) {
        if (isOn) flags.skipped = true;
        else flags.conditional = true;
      }
    }
  }
  return flags;
}

function conditionsOf(
  code: Code,
  segments: readonly Segment[],
): { skipped: boolean; conditional: boolean } {
  let skipped = false;
  let conditional = false;
  for (const { name, args } of segments) {
    if (name !== "skipIf" && name !== "runIf") continue;
    const said = render(code, inside(code, args ?? 0)).join("");
    const isTrue = /^(?:true|1|!0|!false)$/.test(said);
    const isFalse = /^(?:false|0|!1|!true)$/.test(said);
    if (name === "skipIf" ? isTrue : isFalse) skipped = true;
    else if (!isTrue && !isFalse) conditional = true;
  }
  return { skipped, conditional };
}

/** The rows of `each`: a list, a tagged template, or a list that is named. */
function tableOf(code: Code, segments: readonly Segment[]): { rows?: Range[] } {
  const table = segments.find(({ name }) => name === "each" || name === "for");
  if (!table) return {};
  if (table.tag !== undefined) {
    const at = table.tag;
    const lines = textAt(code, at)
      .split("\n")
      .filter((line) => line.includes("${")).length;
    return { rows: Array.from({ length: lines }, () => ({ from: at, to: at + 1 })) };
  }
  const [list] = argumentsAt(code, table.args);
  if (!list) return {};
  const open =
    textAt(code, list.from) === "[" ? list.from : listNamed(code, textAt(code, list.from), list);
  return open === undefined ? {} : { rows: partsOf(code, inside(code, open), ",") };
}

function listNamed(code: Code, name: string, { from, to }: Range): number | undefined {
  if (to !== from + 1) return undefined;
  for (let at = from - 1; at > 1; at--) {
    if (textAt(code, at) === name && textAt(code, at + 1) === "=" && textAt(code, at + 2) === "[")
      return at + 2;
  }
  return undefined;
}

function functionAt(code: Code, at: number): FoundFunction | undefined {
  const text = textAt(code, at);
  if (text === "function") {
    const star = textAt(code, at + 1) === "*" ? 1 : 0;
    const open = at + 2 + star;
    if (textAt(code, open) !== "(" || code.tokens[at + 1 + star]?.kind !== "word") return undefined;
    return functionFrom(code, at, textAt(code, at + 1 + star), open);
  }
  const next = textAt(code, at + 1);
  if (next === "=") {
    let value = at + 2;
    if (textAt(code, value) === "async") value++;
    if (textAt(code, value) === "function") {
      while (textAt(code, value) !== "(" && value < at + 6) value++;
      return textAt(code, value) === "(" ? functionFrom(code, at, text, value) : undefined;
    }
    const isArrow =
      textAt(code, value) === "("
        ? textAt(code, after(code, value)) === "=>"
        : textAt(code, value + 1) === "=>";
    return isArrow ? arrowFrom(code, at, text, value) : undefined;
  }
  // A method.
  if (next !== "(" || /^(?:if|for|while|switch|catch|with|function|return|super)$/.test(text))
    return undefined;
  if (
    !/^[{};,]$|^async$|^static$/.test(textAt(code, at - 1)) ||
    textAt(code, after(code, at + 1)) !== "{"
  )
    return undefined;
  return functionFrom(code, at, text, at + 1);
}

function functionFrom(
  code: Code,
  from: number,
  name: string,
  open: number,
): FoundFunction | undefined {
  const brace = after(code, open);
  if (textAt(code, brace) !== "{") return undefined;
  const body = inside(code, brace);
  return {
    name,
    parameters: parametersOf(code, open),
    whole: { from, to: after(code, brace) },
    body,
  };
}

function arrowFrom(code: Code, from: number, name: string, start: number): FoundFunction {
  const isList = textAt(code, start) === "(";
  const arrow = isList ? after(code, start) : start + 1;
  const parameters = isList ? parametersOf(code, start) : [textAt(code, start)];
  if (textAt(code, arrow + 1) === "{") {
    return {
      name,
      parameters,
      whole: { from, to: after(code, arrow + 1) },
      body: inside(code, arrow + 1),
    };
  }
  const end = statementEnd(code, arrow + 1);
  return { name, parameters, whole: { from, to: end }, body: { from: arrow + 1, to: end } };
}

const parametersOf = (code: Code, open: number): string[] =>
  argumentsAt(code, open).map(({ from }) =>
    textAt(code, from) === "..." ? textAt(code, from + 1) : textAt(code, from),
  );

/** `this.skip()`, `t.skip()`, playwright's `test.skip(condition)` inside a test. */
function skipAt(code: Code, { from, segments }: Chain): Skip | undefined {
  const [root, call] = segments;
  if (
    segments.length !== 2 ||
    call?.args === undefined ||
    !/^(?:skip|todo|fixme|fail)$/.test(call.name)
  )
    return undefined;
  if (!/^(?:this|t|tt|ctx|context|test|task)$/.test(root?.name ?? "")) return undefined;
  if (call.name === "fail" && root?.name !== "test") return undefined;
  const [first] = argumentsAt(code, call.args);
  const isAlways =
    !first || code.tokens[first.from]?.kind === "string" || textAt(code, first.from) === "true";
  return { at: from, ...(!isAlways && { conditional: true }) };
}

const avaNames =
  /^(?:is|not|equal|equals|deepEqual|notDeepEqual|same|strictSame|strictEqual|strictEquals|notEqual|notEquals|looseEqual|deepLooseEqual|true|false|truthy|falsy|ok|notOk|assert|throws|throwsAsync|notThrows|notThrowsAsync|doesNotThrow|like|regex|match|has|hasStrict|snapshot|error|ifError|rejects|resolves|matchSnapshot|type|test)$/;

function checksAt(code: Code, chain: Chain): Check[] {
  const { segments, from, to } = chain;
  const range = { from, to };
  const named = (at: number, callee?: string): Check[] => {
    const segment = segments[at] as Segment;
    const args = argumentsAt(code, segment.args);
    return readNamed(code, range, { name: segment.name, args }, rules).map((check) =>
      callee ? { ...check, callee } : check,
    );
  };
  const root = segments[0]?.name ?? "";
  const expect = segments.findIndex(({ name }) =>
    /^expect(?:TypeOf|Type)?$|^assertThat$/.test(name),
  );
  if (
    expect === 0 ||
    (expect > 0 && segments.slice(0, expect).every(({ args }) => args === undefined))
  ) {
    if (segments[expect]?.args !== undefined) {
      const callee = segments[expect]?.name ?? "";
      return readFluent(code, chain, expect).map((check) => ({ ...check, callee }));
    }
    const next = segments[expect + 1];
    return /^(?:soft|poll)$/.test(next?.name ?? "") ? readFluent(code, chain, expect + 1) : [];
  }
  if (expect > 0) return requestChecks(code, chain, expect);
  const assert = segments.findIndex(({ name }) => name === "assert");
  if (assert >= 0 && root !== "console") {
    if (segments[assert]?.args !== undefined) {
      return readNamed(
        code,
        range,
        { name: "ok", args: argumentsAt(code, segments[assert]?.args) },
        rules,
      ).map((check) => ({ ...check, callee: "assert" }));
    }
    const method = segments.findIndex(({ args }, index) => index > assert && args !== undefined);
    if (method < 0 || segments[method]?.name === "fail") return [];
    return named(method);
  }
  const should = segments.findIndex(({ name }) => name === "should");
  if (should > 0) return shouldChecks(code, chain, should);
  if (
    /^(?:t|tt|assertions|tap)$/.test(root) &&
    segments.length === 2 &&
    segments[1]?.args !== undefined
  ) {
    return avaNames.test(segments[1].name) ? named(1) : [];
  }
  const own = segments.length === 1 ? 0 : segments.length === 2 && root === "this" ? 1 : -1;
  const name = segments[own]?.name ?? "";
  const looksLike =
    /^(?:assert|expect|check|verify)(?:[A-Z_])/.test(name) && segments[own]?.args !== undefined;
  return looksLike && beginsStatement(code, from) ? named(own, name) : [];
}

const rules = { typed: false, expectedFirst: false };

/** `request(app).get("/").expect(200)`. */
function requestChecks(code: Code, chain: Chain, first: number): Check[] {
  const range = { from: chain.from, to: chain.to };
  const open = chain.segments[first]?.args;
  if (open === undefined) return [];
  const actual = { from: chain.from, to: open - 2 };
  return chain.segments.slice(first).flatMap(({ name, args }): Check[] => {
    const list = argumentsAt(code, args);
    if (name !== "expect" || list.length === 0) return [];
    return [
      { range, strength: "exact", partial: false, negated: false, actual, expected: whole(list) },
    ];
  });
}

/** chai's `x.should.equal(y)` and cypress' `.should("equal", y)`. */
function shouldChecks(code: Code, chain: Chain, at: number): Check[] {
  const range = { from: chain.from, to: chain.to };
  const open = chain.segments[at]?.args;
  if (open === undefined) {
    let link = chain.from;
    while (link < chain.to && textAt(code, link) !== "should") link = step(code, link);
    return fluentChecks(code, chain, at, { from: chain.from, to: link - 1 });
  }
  const [name, ...args] = argumentsAt(code, open);
  if (!name) return [];
  const actual = { from: chain.from, to: open - 2 };
  const words = textAt(code, name.from).replace(/^"|"$/g, "").replaceAll(".", "_");
  return [judged(range, actual, { name: words, args }, code)];
}
