/** Python: pytest, unittest. Blocks are lines that stand further in. */
import { parser } from "@lezer/python";
import type { TestCode } from "../../core/test-code.ts";
import {
  argumentsAt,
  beginsChain,
  beginsStatement,
  type Chain,
  chainAt,
  inside,
  partsOf,
  statementEnd,
  step,
  textAt,
} from "./chain.ts";
import { type Check, judged, readCondition, readFluent, readNamed, whole } from "./checks.ts";
import { assemble, type Block, type FoundFunction, type Skip } from "./outline.ts";
import { type Guard, guardsOf, isNothing, leaves, mentionsIn } from "./reach.ts";
import { render } from "./render.ts";
import { type Code, type Range, type Token, tokensOfTree } from "./tokens.ts";

export function read(text: string): TestCode | undefined {
  const code = tokensOfTree(parser.parse(text), text);
  if (code.errors > 2 + code.tokens.length / 10) return undefined;
  const lines = linesOf(code);
  const suites: Block[] = [];
  const tests: Block[] = [];
  const functions: FoundFunction[] = [];
  const dead: Range[] = [];
  const tries: { body: Range; rescue: Range }[] = [];
  const scopes: Scope[] = [];
  const guards: Guard[] = [];
  const mentions = mentionsIn(code);
  let isSkippedFile = false;
  lines.forEach((line, index) => {
    while (scopes.length > 0 && (scopes.at(-1) as Scope).to <= line.from) scopes.pop();
    const scope = scopes.at(-1);
    const word = textAt(code, line.from) === "async" ? line.from + 1 : line.from;
    const body = (): Range => ({ from: blockStart(code, line), to: line.blockEnd });
    const kind = textAt(code, word);
    if (kind === "class") {
      const marks = marksOf(code, lines, index);
      const isTests = isTestClass(code, word);
      suites.push({
        title: textAt(code, word + 1),
        whole: marks.whole(line),
        body: body(),
        ...marks.flags,
      });
      scopes.push({ to: line.blockEnd, holdsTests: isTests && (!scope || scope.holdsTests) });
    } else if (kind === "def") {
      const name = textAt(code, word + 1);
      const marks = marksOf(code, lines, index);
      const isTest = name.startsWith("test") && (!scope || scope.holdsTests) && !marks.isFixture;
      if (isTest)
        tests.push({ title: name, whole: marks.whole(line), body: body(), ...marks.flags });
      else {
        const parameters = argumentsAt(code, word + 2)
          .map(({ from }) => textAt(code, from))
          .filter((each) => !/^(?:self|cls)$/.test(each));
        functions.push({ name, parameters, whole: marks.whole(line), body: body() });
      }
      scopes.push({ to: line.blockEnd, holdsTests: false });
    } else if (/^(?:if|while|elif)$/.test(kind) && isNever(code, word + 1)) dead.push(body());
    else if (kind === "if") guards.push(...guardsAt(code, lines, index));
    else if (kind === "for" && isNothing(code, listOf(code, line), mentions)) dead.push(body());
    else if (kind === "try") {
      const rescue = lines.slice(index + 1, index + 200).find((each) => each.from >= line.blockEnd);
      if (rescue && textAt(code, rescue.from) === "except" && rescue.column === line.column) {
        tries.push({
          body: body(),
          rescue: { from: blockStart(code, rescue), to: rescue.blockEnd },
        });
      }
    } else if (/^(?:pytestmark|__test__)$/.test(kind)) {
      const said = render(code, { from: line.from, to: line.to }).join(" ");
      const isSkip = /mark \. (?:skip|xfail)\b(?!if)|__test__ = False/.test(said);
      const open = suites.find((each) => each.body.from <= line.from && each.body.to > line.from);
      if (isSkip && open) suites[suites.indexOf(open)] = { ...open, skipped: true };
      else if (isSkip) isSkippedFile = true;
    }
  });
  const checks: Check[] = [];
  const skips: Skip[] = [];
  const ends: number[] = [];
  for (let at = 0; at < code.tokens.length; at++) {
    const token = code.tokens[at] as Token;
    if (token.kind !== "word") continue;
    if (token.text === "assert" && beginsStatement(code, at)) checks.push(...assertAt(code, at));
    else if (token.text === "return") ends.push(at);
    else if (token.text === "raise") {
      if (/^(?:SkipTest|unittest)$/.test(textAt(code, at + 1))) skips.push({ at });
      else checks.push(...raiseAt(code, lines, at));
    } else if (beginsChain(code, at)) {
      const chain = chainAt(code, at);
      const skip = skipAt(code, chain);
      if (skip === "file") isSkippedFile = true;
      else if (skip) skips.push({ at });
      else checks.push(...checksAt(code, chain, lines));
    }
  }
  const outline = {
    suites,
    tests: lastOfEachName(tests, suites),
    functions,
    checks,
    skips,
    ends,
    dead,
    tries,
    guards,
  };
  const read = assemble(code, outline, { constantsOnly: false, isTopLevel });
  return isSkippedFile
    ? { ...read, tests: read.tests.map((test) => ({ ...test, skipped: true })) }
    : read;
}

interface Line extends Range {
  readonly column: number;
  /** Behind the lines that stand further in. */
  blockEnd: number;
}

interface Scope {
  readonly to: number;
  readonly holdsTests: boolean;
}

/** Logical lines: one that a bracket or a backslash continues is one. */
function linesOf(code: Code): Line[] {
  const lines: Line[] = [];
  const open: Line[] = [];
  code.tokens.forEach(({ first, column }, at) => {
    if (
      !first ||
      code.parent[at] !== -1 ||
      textAt(code, at - 1) === "\\" ||
      /^[)\]}]$/.test(textAt(code, at))
    )
      return;
    const last = lines.at(-1);
    if (last) lines[lines.length - 1] = Object.assign(last, { to: at });
    while (open.length > 0 && (open.at(-1) as Line).column >= column)
      (open.pop() as Line).blockEnd = at;
    const line: Line = { from: at, to: code.tokens.length, column, blockEnd: code.tokens.length };
    lines.push(line);
    open.push(line);
  });
  return lines;
}

/** The `if` of this line with all that hangs on it. */
function guardsAt(code: Code, lines: readonly Line[], index: number): Guard[] {
  const { column } = lines[index] as Line;
  const branches: { range: Range; condition: Range }[] = [];
  for (let line = lines[index]; line && branches.length < 40; ) {
    const start = blockStart(code, line);
    const condition = { from: line.from + 1, to: Math.max(line.from + 1, start - 1) };
    branches.push({ condition, range: { from: start, to: line.blockEnd } });
    const next: Line | undefined = lines[lineIndex(lines, line.blockEnd)];
    const isPart =
      next?.from === line.blockEnd &&
      next.column === column &&
      /^(?:elif|else)$/.test(textAt(code, next.from));
    line = isPart ? next : undefined;
  }
  const last = branches.at(-1);
  if (!last || !leaves(code, last.range)) return guardsOf(branches);
  const behind = lines.slice(index + 1, index + 300);
  const to = behind.find((each) => each.column < column)?.from ?? code.tokens.length;
  return guardsOf(branches, { from: last.range.to, to: Math.max(last.range.to, to) });
}

/** What a `for` goes through. */
function listOf(code: Code, line: Line): Range {
  const to = Math.max(line.from, blockStart(code, line) - 1);
  for (let at = line.from; at < to; at = step(code, at))
    if (textAt(code, at) === "in") return { from: at + 1, to };
  return { from: to, to };
}

/** Behind the colon that ends a header. */
function blockStart(code: Code, line: Line): number {
  for (let at = line.from; at < line.to; at = step(code, at)) {
    if (textAt(code, at) === ":" && code.tokens[at]?.kind === "mark")
      return Math.min(at + 1, line.blockEnd);
  }
  return line.to;
}

const isTopLevel = (code: Code, at: number, body: Range): boolean => {
  const token = code.tokens[at] as Token;
  const start = code.tokens[body.from] as Token;
  return (
    at >= body.from &&
    at < body.to &&
    token.first &&
    (start.first ? token.column === start.column : at === body.from)
  );
};

const isNever = (code: Code, at: number): boolean =>
  /^(?:False|0|None)$/.test(textAt(code, at)) && textAt(code, at + 1) === ":";

function isTestClass(code: Code, at: number): boolean {
  const name = textAt(code, at + 1);
  const bases = textAt(code, at + 2) === "(" ? render(code, inside(code, at + 2)).join(" ") : "";
  return /^Test|Tests?$|TestCase$/.test(name) || /Test/.test(bases);
}

/** Of two tests with one name in one scope only the last is ever collected. */
function lastOfEachName(tests: readonly Block[], suites: readonly Block[]): Block[] {
  const scopeOf = (test: Block): number =>
    suites.findLast(({ body }) => body.from <= test.whole.from && body.to >= test.whole.to)?.body
      .from ?? -1;
  const scoped = tests.map((test) => ({
    test,
    key: `${suites.length > 0 ? scopeOf(test) : -1} ${test.title}`,
  }));
  const last = new Map(scoped.map(({ test, key }) => [key, test]));
  return scoped.filter(({ test, key }) => last.get(key) === test).map(({ test }) => test);
}

interface Marks {
  readonly flags: Partial<Block>;
  readonly isFixture: boolean;
  whole(line: Line): Range;
}

/** The decorators above a line. */
function marksOf(code: Code, lines: readonly Line[], index: number): Marks {
  let first = index;
  while (
    first > 0 &&
    textAt(code, lines[first - 1]?.from ?? 0) === "@" &&
    lines[first - 1]?.column === lines[index]?.column
  )
    first--;
  let flags: Partial<Block> = {};
  let isFixture = false;
  for (const { from } of lines.slice(first, index)) {
    const chain = chainAt(code, from + 1);
    const name = chain.segments.at(-1)?.name ?? "";
    const args = argumentsAt(code, chain.segments.at(-1)?.args);
    const positional = args.filter((each) => textAt(code, each.from + 1) !== "=");
    if (name === "fixture") isFixture = true;
    if (
      name === "skip" ||
      name === "expectedFailure" ||
      (name === "xfail" && positional.length === 0)
    )
      flags = { ...flags, skipped: true };
    else if (/^(?:skipif|skipIf|skipUnless|skip_unless|xfail|skip_if)$/.test(name))
      flags = { ...flags, ...underCondition(code, name, positional[0]) };
    else if (/^(?:parametrize|expand|parameterized|data|with_data|params)$/.test(name)) {
      const table = name === "parametrize" ? args[1] : args[0];
      const rows = table && rowsOf(code, table);
      if (rows) flags = { ...flags, rows: [...(flags.rows ?? []), ...rows] };
    }
  }
  const start = lines[first]?.from ?? 0;
  return { flags, isFixture, whole: (line) => ({ from: start, to: line.blockEnd }) };
}

function underCondition(code: Code, name: string, condition: Range | undefined): Partial<Block> {
  const said = condition ? render(code, condition).join("") : "";
  const isTrue = /^(?:True|1|"True"|"1")$/.test(said);
  const isFalse = /^(?:False|0)$/.test(said);
  const wantsFalse = /nless/.test(name);
  if (wantsFalse ? isFalse : isTrue) return { skipped: true };
  return isTrue || isFalse ? {} : { conditional: true };
}

function rowsOf(code: Code, { from }: Range): Range[] | undefined {
  let open = from;
  if (code.tokens[from]?.kind === "word") {
    for (let at = from - 1; at >= 0 && open === from; at--) {
      if (textAt(code, at) === textAt(code, from) && textAt(code, at + 1) === "=") open = at + 2;
    }
  }
  if (!/^[[(]$/.test(textAt(code, open))) return undefined;
  return partsOf(code, inside(code, open), ",").filter(
    (row) => !/mark \. (?:skip|xfail)/.test(render(code, row).join(" ")),
  );
}

function assertAt(code: Code, at: number): Check[] {
  const end = statementEnd(code, at + 1);
  const [condition] = partsOf(code, { from: at + 1, to: end }, ",");
  return condition
    ? readCondition(code, condition, { from: at, to: end }, { negate: false, typed: false })
    : [];
}

/** `if a != b: raise AssertionError`. */
function raiseAt(code: Code, lines: readonly Line[], at: number): Check[] {
  const index = lineIndex(lines, at);
  const own = lines[index];
  const header = own && lines[index - 1];
  const isInline = own !== undefined && textAt(code, own.from) === "if";
  const line = isInline ? own : header;
  if (!own || !line || textAt(code, line.from) !== "if" || (!isInline && line.column >= own.column))
    return [];
  const condition = { from: line.from + 1, to: blockStart(code, line) - 1 };
  return readCondition(
    code,
    condition,
    { from: line.from, to: own.to },
    { negate: true, typed: false },
  );
}

function lineIndex(lines: readonly Line[], at: number): number {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((lines[middle] as Line).from <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

function skipAt(code: Code, { segments, from }: Chain): "test" | "file" | undefined {
  const [root, call] = segments;
  if (!call || call.args === undefined || segments.length !== 2) return undefined;
  const isSkip =
    (root?.name === "pytest" && /^(?:skip|xfail|importorskip)$/.test(call.name)) ||
    (root?.name === "self" && call.name === "skipTest");
  if (!isSkip) return undefined;
  const isFile = code.tokens[from]?.column === 0 && call.name === "skip";
  return isFile ? "file" : "test";
}

function checksAt(code: Code, chain: Chain, lines: readonly Line[]): Check[] {
  const { segments, from, to } = chain;
  const range = { from, to };
  const last = segments.at(-1);
  const name = last?.name ?? "";
  if (segments[0]?.name === "assert_that" || segments[0]?.name === "expect") {
    if (segments.length > 1) return readFluent(code, chain, 0);
  }
  if (last?.args === undefined) return [];
  const args = argumentsAt(code, last.args);
  const root = segments[0]?.name ?? "";
  if (
    /^(?:raises|warns|assertRaises(?:Regex(?:p)?)?|assertWarns(?:Regex)?|deprecated_call|assertLogs|assertRaisesMessage)$/.test(
      name,
    )
  ) {
    return [raisesAt(code, { range, args }, lines)];
  }
  if (name === "fail" && /^(?:pytest|self)$/.test(root)) return failAt(code, lines, from);
  const isCalled =
    /^assert_(?:called|any_call|has_calls|not_called|awaited|has_awaits|not_awaited|any_await)/.test(
      name,
    );
  if (isCalled) {
    const actual = { from, to: Math.max(from + 1, last.args - 2) };
    return [
      judged(
        range,
        actual,
        {
          name: name
            .replace("assert_", "")
            .replace("any_call", "called_with")
            .replace("has_calls", "called_with"),
          args,
        },
        code,
      ),
    ];
  }
  if (!/^assert(?:[A-Z_]|$)|^(?:expect|check|verify)_/.test(name) || !beginsStatement(code, from))
    return [];
  const isOwn = segments.length === 1 || (segments.length === 2 && /^(?:self|cls)$/.test(root));
  return readNamed(code, range, { name, args }, { typed: false, expectedFirst: false }).map(
    (check) => (isOwn ? { ...check, callee: name } : check),
  );
}

/** Something has to be raised by the block, or by the call in the arguments. */
function raisesAt(
  code: Code,
  { range, args }: { range: Range; args: readonly Range[] },
  lines: readonly Line[],
): Check {
  const line = lines[lineIndex(lines, range.from)];
  const isBlock = line !== undefined && /^(?:with|async)$/.test(textAt(code, line.from));
  const wanted = isBlock ? args : args.slice(0, 1);
  const actual = isBlock
    ? { from: blockStart(code, line), to: line.blockEnd }
    : whole(args.slice(1));
  const said = wanted.length > 0 ? render(code, whole(wanted)).join(" ") : "";
  const isLoose = /^(?:Base)?Exception$|^$/.test(said);
  const base = { range, partial: false, negated: false, actual };
  return isLoose
    ? { ...base, strength: "loose", expected: "throws" }
    : { ...base, strength: "exact", expected: whole(wanted) };
}

const failAt = (code: Code, lines: readonly Line[], at: number): Check[] => {
  const under = raiseAt(code, lines, at);
  if (under.length > 0) return under;
  const range = { from: at, to: statementEnd(code, at) };
  return [{ range, strength: "exact", partial: true, negated: false, expected: "not reached" }];
};
