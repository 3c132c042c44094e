/** Java and Kotlin: JUnit 3 to 5, TestNG, AssertJ, Hamcrest, Truth, Mockito, Kotest's words. */
import { parser } from "@lezer/java";
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
  statementEnd,
  textAt,
} from "./chain.ts";
import { type Check, judged, readCondition, readFluent, readNamed } from "./checks.ts";
import { lineComment, quoted, slashComment, tokensOf } from "./lexer.ts";
import { type Annotation, type Declared, declarationsIn } from "./methods.ts";
import { assemble, type Block, type FoundFunction, type Skip } from "./outline.ts";
import { render } from "./render.ts";
import { type Code, type Range, tokensOfTree } from "./tokens.ts";

export function read(text: string, extension: string): TestCode | undefined {
  const isKotlin = /^kts?$/.test(extension);
  const code = isKotlin ? kotlinTokens(text) : tokensOfTree(parser.parse(text), text);
  if (code.errors > 2 + code.tokens.length / 10) return undefined;
  const declared = declarationsIn(code);
  const tests: Block[] = isKotlin ? specsIn(code) : [];
  const suites: Block[] = [];
  const functions: FoundFunction[] = [];
  for (const each of declared) {
    if (each.is === "class") suites.push(blockOf(code, each));
    else if (isTest(code, each)) tests.push(blockOf(code, each));
    else functions.push(each);
  }
  const checks: Check[] = [...failures(code, isFailure)];
  const skips: Skip[] = [];
  const ends: number[] = [];
  for (let at = 0; at < code.tokens.length; at++) {
    if (textAt(code, at) === "return") ends.push(at);
    if (isKotlin) checks.push(...infixAt(code, at));
    if (!beginsChain(code, at)) continue;
    const chain = chainAt(code, at);
    const skip = skipAt(code, chain);
    if (skip) skips.push(skip);
    else checks.push(...checksAt(code, chain));
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
  return assemble(code, outline, { constantsOnly: false, bracedLambdas: isKotlin });
}

function kotlinTokens(text: string): Code {
  return tokensOf(text, {
    word: /[\p{L}_$][\p{L}\p{N}_$]*/uy,
    special: (whole, at) => {
      const char = whole[at];
      if (char === "/") return slashComment(whole, at, true);
      if (char === "#" && at === 0) return lineComment(whole, at);
      if (whole.startsWith('"""', at)) return quoted(whole, at + 3, '"""', "${");
      if (char === '"') return quoted(whole, at + 1, '"', "${");
      if (char === "'") return quoted(whole, at + 1, "'");
      if (char === "`") return { ...quoted(whole, at + 1, "`"), is: "word" };
      return undefined;
    },
  });
}

const testMarks =
  /^(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property|Theory)$/;

const isTest = (_code: Code, { annotations, name, words }: Declared): boolean =>
  annotations.some((each) => testMarks.test(each.name)) ||
  (/^test[A-Z_]/.test(name) && words.includes("public") && words.includes("void"));

function blockOf(code: Code, { name, annotations, whole, body }: Declared): Block {
  const has = (pattern: RegExp): Annotation | undefined =>
    annotations.find((each) => pattern.test(each.name));
  const marked = has(/^Test$/);
  const options = (marked?.args ?? []).map((each) => ({ each, text: render(code, each).join("") }));
  const thrown = options.find(({ text }) => text.startsWith("expected="))?.each;
  const rows = annotations.flatMap((each) => rowsOf(code, each));
  const checks: Check[] = thrown
    ? [
        {
          range: thrown,
          strength: "exact",
          partial: false,
          negated: false,
          actual: body,
          expected: { from: thrown.from + 2, to: thrown.to },
        },
      ]
    : [];
  return {
    title: name,
    whole,
    body,
    skipped:
      has(/^(?:Disabled|Ignore|Ignored)$/) !== undefined ||
      options.some(({ text }) => text === "enabled=false"),
    conditional: has(/^(?:Disabled|Enabled)(?:On|If|For)/) !== undefined,
    ...(rows.length > 0 && { rows }),
    ...(checks.length > 0 && { checks }),
  };
}

function rowsOf(code: Code, { name, args }: Annotation): Range[] {
  if (
    !/^(?:ValueSource|CsvSource|EnumSource|MethodSource|CsvFileSource)$/.test(name) ||
    name === "MethodSource"
  )
    return [];
  const list = args.find(
    ({ from, to }) =>
      /[{[]/.test(textAt(code, from)) || /^[{[]$/.test(textAt(code, Math.min(from + 2, to - 1))),
  );
  if (!list) return [];
  const open = /^[{[]$/.test(textAt(code, list.from)) ? list.from : list.from + 2;
  return partsOf(code, inside(code, open), ",");
}

/** Kotest: `test("name") { … }`. */
function specsIn(code: Code): Block[] {
  const found: Block[] = [];
  for (let at = 0; at < code.tokens.length; at++) {
    const name = textAt(code, at);
    if (!/^x?(?:test|it|should|expect|scenario)$/.test(name) || textAt(code, at + 1) !== "(")
      continue;
    const brace = after(code, at + 1);
    if (
      textAt(code, brace) !== "{" ||
      code.tokens[at + 2]?.kind !== "string" ||
      textAt(code, at - 1) === "."
    )
      continue;
    const title = textAt(code, at + 2).slice(1, -1);
    found.push({
      title,
      whole: { from: at, to: after(code, brace) },
      body: inside(code, brace),
      skipped: name.startsWith("x"),
    });
  }
  return found;
}

const isFailure = (code: Code, at: number): boolean =>
  (/^(?:fail|error)$/.test(textAt(code, at)) && textAt(code, at + 1) === "(") ||
  (textAt(code, at) === "throw" &&
    /Assertion|IllegalState|Exception|Error/.test(
      textAt(code, at + 1) === "new" ? textAt(code, at + 2) : textAt(code, at + 1),
    ));

function skipAt(code: Code, { segments, from }: Chain): Skip | undefined {
  const last = segments.at(-1);
  const name = last?.name ?? "";
  if (
    last?.args === undefined ||
    !/^(?:assume(?:True|False|That|NotNull|NoException)?|abort)$/.test(name)
  )
    return undefined;
  const said = render(code, argumentsAt(code, last.args)[0] ?? { from, to: from }).join("");
  if (
    name === "abort" ||
    (name === "assumeTrue" && said === "false") ||
    (name === "assumeFalse" && said === "true")
  )
    return { at: from };
  return { at: from, conditional: true };
}

const rules = { typed: true, expectedFirst: true };

function checksAt(code: Code, chain: Chain): Check[] {
  const { segments, from, to } = chain;
  const range = { from, to };
  const that = segments.findIndex(({ name }) =>
    /^(?:assertThat\w*|expectThat|assertThatThrownBy|then)$/.test(name),
  );
  if (that >= 0 && segments[that]?.args !== undefined && segments[that]?.name !== "then") {
    const args = argumentsAt(code, segments[that]?.args);
    return args.length > 1 ? matched(code, range, args) : readFluent(code, chain, that);
  }
  if (segments[0]?.name === "verify" && segments[0].args !== undefined && segments.length > 1) {
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
  const last = segments.at(-1);
  const name = last?.name ?? "";
  if (/^assert(?:All|Softly|Timeout\w*)$/.test(name)) return [];
  const typed = typedThrow(code, chain);
  if (typed) return [typed];
  if (
    last?.args === undefined ||
    !/^(?:assert|verify|check|expect|should)[A-Z_]|^assert$/.test(name)
  )
    return [];
  const isOwn = segments.length === 1 || segments[0]?.name === "this";
  if (!name.startsWith("assert") && !beginsStatement(code, from)) return [];
  const isThrow = /^assert(?:Throws|ThrowsExactly|FailsWith)$/.test(name);
  const args = argumentsAt(code, last.args);
  const read = readNamed(
    code,
    range,
    {
      name: name === "assert" ? "assertTrue" : name,
      args:
        isThrow && args.length > 1 ? [args[1], args[0]].filter((each) => each !== undefined) : args,
    },
    rules,
  );
  return read.map((check) => (isOwn ? { ...check, callee: name } : check));
}

/** Kotlin's `assertThrows<Type> { … }` and `assertFailsWith<Type> { … }`. */
function typedThrow(code: Code, { from, to, segments }: Chain): Check | undefined {
  if (
    !/^(?:assertThrows|assertFailsWith|shouldThrow)$/.test(segments[0]?.name ?? "") ||
    textAt(code, to) !== "<"
  )
    return undefined;
  let end = to;
  while (end < to + 20 && textAt(code, end) !== ">") end++;
  if (textAt(code, end + 1) !== "{") return undefined;
  const range = { from, to: end };
  return {
    range,
    strength: "exact",
    partial: false,
    negated: false,
    actual: inside(code, end + 1),
    expected: { from: to + 1, to: end },
  };
}

/** Hamcrest's `assertThat(actual, is(equalTo(5)))`. */
function matched(code: Code, range: Range, args: readonly Range[]): Check[] {
  const [actual, matcher] =
    args.length > 2 && code.tokens[args[0]?.from ?? 0]?.kind === "string" ? args.slice(1) : args;
  if (!actual || !matcher) return [];
  const names: string[] = [];
  let inner = matcher;
  for (let depth = 0; depth < 5 && code.tokens[inner.from]?.kind === "word"; depth++) {
    const chain = chainAt(code, inner.from);
    const last = chain.segments.at(-1);
    if (last?.args === undefined || chain.to < inner.to) break;
    names.push(...chain.segments.map(({ name }) => name));
    const list = argumentsAt(code, last.args);
    const [only] = list;
    const isMatcher =
      only &&
      list.length === 1 &&
      /^(?:is|not|equalTo|nullValue|notNullValue|instanceOf|hasItem|Is|Matchers|anything)$/.test(
        textAt(code, only.from),
      );
    if (!only || !isMatcher)
      return [
        judged(
          range,
          actual,
          {
            name: names.join("_").replace("notNullValue", "notNull").replace("nullValue", "null"),
            args: list,
          },
          code,
        ),
      ];
    inner = only;
  }
  return readCondition(code, actual, range, { negate: false, typed: true });
}

/** `actual shouldBe expected`. */
function infixAt(code: Code, at: number): Check[] {
  if (
    !/^should[A-Z]\w*$/.test(textAt(code, at)) ||
    textAt(code, at - 1) === "." ||
    textAt(code, at + 1) === "("
  )
    return [];
  let from = at;
  while (from > 0 && !code.tokens[from]?.first && !/^[{;]$/.test(textAt(code, from - 1))) from--;
  const end = statementEnd(code, at + 1);
  const range = { from, to: end };
  return [
    judged(
      range,
      { from, to: at },
      { name: textAt(code, at), args: [{ from: at + 1, to: end }] },
      code,
    ),
  ];
}
