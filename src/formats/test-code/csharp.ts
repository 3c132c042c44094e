/** C#: xUnit, NUnit, MSTest, FluentAssertions, Shouldly. */
import type { TestCode } from "../../core/test-code.ts";
import { deadBranches, failures, tries } from "./braces.ts";
import {
  argumentsAt,
  beginsChain,
  beginsStatement,
  type Chain,
  chainAt,
  textAt,
  unwrapped,
} from "./chain.ts";
import { type Check, fluentChecks, judged, readNamed, whole } from "./checks.ts";
import { lineComment, quoted, type Special, slashComment, tokensOf } from "./lexer.ts";
import { type Declared, declarationsIn } from "./methods.ts";
import { assemble, type Block, type FoundFunction, type Skip } from "./outline.ts";
import { render } from "./render.ts";
import type { Code, Range } from "./tokens.ts";

export function read(text: string): TestCode | undefined {
  const code = tokensOf(text, { word: /[\p{L}_][\p{L}\p{N}_]*/uy, special });
  if (code.errors > 2) return undefined;
  const suites: Block[] = [];
  const tests: Block[] = [];
  const functions: FoundFunction[] = [];
  for (const each of declarationsIn(code)) {
    if (each.is === "class") suites.push(blockOf(code, each));
    else if (each.annotations.some(({ name }) => testMarks.test(name)))
      tests.push(blockOf(code, each));
    else functions.push(each);
  }
  const checks: Check[] = [
    ...failures(code, (all, at) => textAt(all, at) === "Fail" && textAt(all, at - 2) === "Assert"),
  ];
  const skips: Skip[] = [];
  const ends: number[] = [];
  for (let at = 0; at < code.tokens.length; at++) {
    if (textAt(code, at) === "return") ends.push(at);
    if (!beginsChain(code, at)) continue;
    const chain = chainAt(code, at);
    const [root, call] = chain.segments;
    if (
      /^(?:Assert|Skip)$/.test(root?.name ?? "") &&
      /^(?:Ignore|Inconclusive|Skip|If|IfNot|SkipWhen|SkipUnless)$/.test(call?.name ?? "")
    ) {
      skips.push({ at, ...(/If|When|Unless/.test(call?.name ?? "") && { conditional: true }) });
    } else checks.push(...checksAt(code, chain));
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
  return assemble(code, outline, { constantsOnly: false });
}

function special(text: string, at: number): Special | undefined {
  const char = text[at];
  if (char === "/") return slashComment(text, at, false);
  if (char === "#") return directive(text, at);
  if (char === "'") return quoted(text, at + 1, "'");
  const start = /[$@]*("{3,}|")/y;
  start.lastIndex = at;
  const match = start.exec(text);
  if (!match) return undefined;
  const [opening, quote = ""] = match;
  const from = at + opening.length;
  if (quote.length >= 3) {
    const end = text.indexOf(quote, from);
    return end < 0
      ? { end: text.length, is: "string", broken: true }
      : { end: end + quote.length, is: "string" };
  }
  return opening.includes("@")
    ? verbatim(text, from)
    : quoted(text, from, '"', opening.includes("$") ? "{" : "");
}

/** `@"…"`, in which a quotation mark is written twice. */
function verbatim(text: string, from: number): Special {
  for (let at = from; at < text.length; at++) {
    if (text[at] !== '"') continue;
    if (text[at + 1] !== '"') return { end: at + 1, is: "string" };
    at++;
  }
  return { end: text.length, is: "string", broken: true };
}

/** `#if false … #endif` is a comment; other instructions are left out alone. */
function directive(text: string, at: number): Special {
  if (!/^#\s*if\s+(?:false|0|NEVER)\b/i.test(text.slice(at, at + 40))) return lineComment(text, at);
  const end = /^\s*#\s*(?:endif|else|elif)\b/gm;
  end.lastIndex = at;
  const match = end.exec(text);
  return { end: match ? match.index : text.length, is: "comment" };
}

const testMarks =
  /^(?:Fact|Theory|Test|TestCase|TestCaseSource|TestMethod|DataTestMethod|SkippableFact|SkippableTheory|StaFact|Property)(?:Attribute)?$/;

function blockOf(code: Code, { name, annotations, whole: all, body }: Declared): Block {
  const rows = annotations.filter(
    (each) => /^(?:InlineData|TestCase|DataRow|Arguments)$/.test(each.name) && each.args.length > 0,
  );
  const isOff = annotations.some(
    (each) =>
      /^(?:Ignore|Explicit)$/.test(each.name) ||
      each.args.some((arg) => /^(?:Skip|Ignore)=/.test(render(code, arg).join(""))),
  );
  return {
    title: name,
    whole: all,
    body,
    skipped: isOff,
    conditional: annotations.some((each) =>
      /^(?:Platform|Conditional\w+|SkipOn\w*)$/.test(each.name),
    ),
    ...(rows.length > 0 && { rows: rows.map(({ args }) => whole(args)) }),
  };
}

const rules = { typed: true, expectedFirst: true };

function checksAt(code: Code, chain: Chain): Check[] {
  const { segments, from, to } = chain;
  const range = { from, to };
  const root = segments[0]?.name ?? "";
  const should = segments.findIndex(({ name, args }) => name === "Should" && args !== undefined);
  if (should > 0) {
    const open = segments[should]?.args ?? from;
    return fluentChecks(code, chain, should, { from, to: Math.max(from + 1, open - 2) });
  }
  const shouldly = segments.findIndex(
    ({ name, args }) => /^Should[A-Z]/.test(name) && args !== undefined,
  );
  if (shouldly > 0) {
    const { name = "", args } = segments[shouldly] ?? {};
    const actual = { from, to: Math.max(from + 1, (args ?? from) - 2) };
    return [judged(range, actual, { name, args: argumentsAt(code, args) }, code)];
  }
  if (/^(?:\w*Assert|Expect)$/.test(root) && segments.length > 1) return assertChecks(code, chain);
  const last = segments.at(-1);
  if (
    /^(?:Verify\w*|MustHaveHappened\w*)$/.test(last?.name ?? "") &&
    last?.args !== undefined &&
    segments.length > 1
  ) {
    return [
      {
        range,
        strength: "exact",
        partial: false,
        negated: false,
        actual: range,
        expected: "verified",
      },
    ];
  }
  const name = segments.length === 1 ? root : "";
  if (
    !/^(?:Assert|Expect|Check|Verify)[A-Z]/.test(name) ||
    last?.args === undefined ||
    !beginsStatement(code, from)
  )
    return [];
  return readNamed(code, range, { name, args: argumentsAt(code, last.args) }, rules).map(
    (check) => ({ ...check, callee: name }),
  );
}

function assertChecks(code: Code, chain: Chain): Check[] {
  const range = { from: chain.from, to: chain.to };
  const call = chain.segments.findIndex(({ args }, index) => index > 0 && args !== undefined);
  const { name = "", args: open } = chain.segments[call] ?? {};
  if (
    open === undefined ||
    /^(?:Multiple|Fail|Pass|Ignore|Inconclusive|Warn|EnterMultipleScope|All)$/.test(name)
  )
    return [];
  const args = argumentsAt(code, open);
  const [first, second] = args;
  if (name === "That" && first && second && code.tokens[second.from]?.kind === "word") {
    const matcher = chainAt(code, second.from);
    const names = matcher.segments.map((each) => each.name).join("_");
    const given = matcher.segments.flatMap((each) => argumentsAt(code, each.args));
    return [judged(range, unwrapped(code, first), { name: names, args: given }, code)];
  }
  if (name === "That") return readNamed(code, range, { name: "IsTrue", args }, rules);
  const type = typeArgument(code, open);
  if (name.startsWith("Throws") && type && first) {
    return [
      { range, strength: "exact", partial: false, negated: false, actual: first, expected: type },
    ];
  }
  return readNamed(code, range, { name, args }, rules);
}

/** `<Type>` before a bracket. */
function typeArgument(code: Code, open: number): Range | undefined {
  if (textAt(code, open - 1) !== ">") return undefined;
  for (let at = open - 2; at > open - 20; at--)
    if (textAt(code, at) === "<") return { from: at + 1, to: open - 1 };
  return undefined;
}
