/** Go: testing, testify, gomega, go-cmp. */
import { parser } from "@lezer/go";
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
import { type Check, judged, readNamed } from "./checks.ts";
import { assemble, type Block, type FoundFunction, type Skip } from "./outline.ts";
import { render } from "./render.ts";
import { type Code, tokensOfTree } from "./tokens.ts";

export function read(text: string): TestCode | undefined {
  const code = tokensOfTree(parser.parse(text), text);
  if (code.errors > 2 + code.tokens.length / 10) return undefined;
  const tests: Block[] = [];
  const functions: FoundFunction[] = [];
  const checks: Check[] = [...failures(code, isFailure, true)];
  const skips: Skip[] = [];
  const ends: number[] = [];
  for (let at = 0; at < code.tokens.length; at++) {
    const word = textAt(code, at);
    if (word === "func") {
      const found = functionAt(code, at);
      if (found && isTest(found.name))
        tests.push({ title: found.name, whole: found.whole, body: found.body });
      else if (found) functions.push(found);
    } else if (word === "return") ends.push(at);
    if (!beginsChain(code, at)) continue;
    const literal = literalFunctionAt(code, at);
    if (literal) functions.push(literal);
    const chain = chainAt(code, at);
    const [root, call] = chain.segments;
    const sub = subtestAt(code, chain);
    if (sub) tests.push(sub);
    else if (
      /^(?:Skip|Skipf|SkipNow)$/.test(call?.name ?? "") &&
      call?.args !== undefined &&
      /^(?:t|s|tt|tb|b|f)$/.test(root?.name ?? "")
    )
      skips.push({ at });
    else checks.push(...checksAt(code, chain));
  }
  const outline = {
    suites: [],
    tests,
    functions,
    checks,
    skips,
    ends,
    dead: deadBranches(code),
    tries: [],
  };
  const read = assemble(code, outline, { constantsOnly: false });
  const tag =
    code.comments.find(
      (each) => /^\/\/\s*(?:go:build|\+build)\b/.test(each.text) && each.before <= 1,
    )?.text ?? "";
  if (tag === "") return read;
  const isOff = /\b(?:ignore|never|skip|disabled)\b/.test(tag);
  return {
    ...read,
    tests: read.tests.map((test) =>
      isOff ? { ...test, skipped: true } : { ...test, conditional: true },
    ),
  };
}

const isTest = (name: string): boolean =>
  /^(?:Test|Fuzz)(?![a-z])/.test(name) && name !== "TestMain";

function functionAt(code: Code, at: number): FoundFunction | undefined {
  let name = at + 1;
  if (textAt(code, name) === "(") name = after(code, name);
  if (code.tokens[name]?.kind !== "word" || textAt(code, name + 1) !== "(") return undefined;
  return bodyOf(code, at, textAt(code, name), name + 1);
}

/** `check := func(…) { … }`. */
function literalFunctionAt(code: Code, at: number): FoundFunction | undefined {
  if (!/^:?=$/.test(textAt(code, at + 1)) || textAt(code, at + 2) !== "func") return undefined;
  return bodyOf(code, at, textAt(code, at), at + 3);
}

function bodyOf(code: Code, from: number, name: string, open: number): FoundFunction | undefined {
  let brace = after(code, open);
  for (let steps = 0; steps < 20 && textAt(code, brace) !== "{"; steps++) {
    brace = textAt(code, brace) === "(" ? after(code, brace) : brace + 1;
  }
  if (textAt(code, brace) !== "{") return undefined;
  const parameters = argumentsAt(code, open).map((each) => textAt(code, each.from));
  return { name, parameters, whole: { from, to: after(code, brace) }, body: inside(code, brace) };
}

/** `t.Run("name", func(t *testing.T) { … })`. */
function subtestAt(code: Code, { segments, from, to }: Chain): Block | undefined {
  const [, call] = segments;
  if (segments.length !== 2 || call?.name !== "Run" || call.args === undefined) return undefined;
  const [title, body] = argumentsAt(code, call.args);
  if (!title || !body) return undefined;
  const brace = textAt(code, body.from) === "func" ? after(code, body.from + 1) : -1;
  return {
    title: render(code, title).join(" ").replace(/^"|"$/g, ""),
    whole: { from, to },
    body: textAt(code, brace) === "{" ? inside(code, brace) : body,
  };
}

const isFailure = (code: Code, at: number): boolean =>
  (/^(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)$/.test(textAt(code, at)) &&
    textAt(code, at - 1) === "." &&
    /^(?:t|tt|tb|s|f|b)$/.test(textAt(code, at - 2)) &&
    textAt(code, at + 1) === "(") ||
  (textAt(code, at) === "panic" && textAt(code, at + 1) === "(");

const rules = { typed: true, expectedFirst: true };

function checksAt(code: Code, chain: Chain): Check[] {
  const { segments, from, to } = chain;
  const range = { from, to };
  const [root, call] = segments;
  if (
    /^(?:Expect|Ω|Eventually|Consistently)$/.test(root?.name ?? "") ||
    /^(?:Expect)$/.test(call?.name ?? "")
  )
    return gomega(code, chain);
  const last = segments.at(-1);
  const name = last?.name ?? "";
  if (last?.args === undefined) return [];
  const isTestify =
    /^(?:assert|require|is|a|r|s|suite|must|check)$/.test(root?.name ?? "") &&
    segments.length > 1 &&
    /^[A-Z]/.test(name);
  if (
    isTestify &&
    !/^(?:New|Run|T|SetupTest|Require|Assert|FailNow|Fail|Log|Logf|Helper|Cleanup|Parallel|Setenv|TempDir|Name|Skip|Errorf|Fatal|Fatalf)$/.test(
      name,
    )
  ) {
    const args = argumentsAt(code, last.args).filter(
      (each) => !/^(?:t|tb|s\.T\(\)|suite\.T\(\))$/.test(render(code, each).join("")),
    );
    if (args.length === 0) return [];
    const isThat = root?.name === "is" || root?.name === "check";
    return readNamed(
      code,
      range,
      { name: name.replace(/f$/, ""), args },
      { ...rules, expectedFirst: !isThat },
    );
  }
  const own =
    segments.length === 1 && /^(?:assert|expect|check|verify|must|require)[A-Z]/.test(name);
  if (!own || !beginsStatement(code, from)) return [];
  const args = argumentsAt(code, last.args).filter(
    (each) => !/^(?:t|tb)$/.test(render(code, each).join("")),
  );
  return readNamed(code, range, { name, args }, rules).map((check) => ({ ...check, callee: name }));
}

/** `Expect(actual).To(Equal(5))`. */
function gomega(code: Code, chain: Chain): Check[] {
  const { segments } = chain;
  const root = segments.findIndex(({ name }) =>
    /^(?:Expect|Ω|Eventually|Consistently)$/.test(name),
  );
  const [actual] = argumentsAt(code, segments[root]?.args);
  const to = segments.find(
    ({ name, args }) => /^(?:To|ToNot|NotTo|Should|ShouldNot)$/.test(name) && args !== undefined,
  );
  const [matcher] = argumentsAt(code, to?.args);
  if (!actual || !to || !matcher || code.tokens[matcher.from]?.kind !== "word") return [];
  const inner = chainAt(code, matcher.from);
  const last = inner.segments.at(-1);
  const name = `${/Not/.test(to.name) ? "not_" : ""}${last?.name ?? ""}`
    .replace("HaveOccurred", "error")
    .replace("Succeed", "no_error");
  return [
    judged(
      { from: chain.from, to: chain.to },
      actual,
      { name, args: argumentsAt(code, last?.args) },
      code,
    ),
  ];
}
