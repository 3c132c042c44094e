/**
 * From what a language's reader found in the tokens to the tests of a file: which assertion belongs
 * to which test, which of them can never run, what the functions say that a test calls.
 */
import type { Assertion, TestCase, TestCode, TestFunction } from "../../core/test-code.ts";
import {
  argumentsAt,
  beginsChain,
  chainAt,
  inside,
  isUnderCondition,
  partsOf,
  statementEnd,
  textAt,
} from "./chain.ts";
import type { Check } from "./checks.ts";
import {
  emptyLoops,
  type Guard,
  guardsIn,
  hasConditionBehind,
  idleLambdas,
  isBehindCondition,
  isUse,
  mentionsIn,
  mutedIn,
} from "./reach.ts";
import { isLiteral, type NameRules, type Names, namesIn, render } from "./render.ts";
import type { Code, Range, Token } from "./tokens.ts";

export interface Block {
  readonly title: string;
  readonly whole: Range;
  readonly body: Range;
  readonly skipped?: boolean;
  readonly conditional?: boolean;
  readonly focused?: boolean;
  /** The rows of its table. */
  readonly rows?: readonly Range[];
  /** What a decoration of the test checks, such as that it panics. */
  readonly checks?: readonly Check[];
  /** Assertions in it are expected to fail, so that they check nothing. */
  readonly inverted?: boolean;
}

export interface FoundFunction {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly whole: Range;
  readonly body: Range;
}

export interface Outline {
  readonly suites: readonly Block[];
  readonly tests: readonly Block[];
  readonly functions: readonly FoundFunction[];
  readonly checks: readonly Check[];
  /** Ranges that never run. */
  readonly dead: readonly Range[];
  /** Tokens that end the block they stand in (`return`), and those that skip the test. */
  readonly ends: readonly number[];
  readonly skips: readonly Skip[];
  /** What is tried, and what is done if it fails. */
  readonly tries: readonly { readonly body: Range; readonly rescue: Range }[];
  /** The branches of its conditions, where they do not stand in braces. */
  readonly guards?: readonly Guard[];
  /** Names of assertions that were replaced, where the tokens do not say so. */
  readonly muted?: readonly string[];
}

export interface Skip {
  readonly at: number;
  /** It depends on more than where it stands. */
  readonly conditional?: boolean;
}

export interface OutlineRules extends NameRules {
  /** Whether a token stands in the block itself and under no condition. */
  readonly isTopLevel?: (code: Code, at: number, body: Range) => boolean;
  /** Calls that fail by themselves: a test of nothing else still checks something. */
  readonly failing?: RegExp;
  /** A name alone is a call. */
  readonly bareCalls?: boolean;
  /** `{ … }` as a value is a function. */
  readonly bracedLambdas?: boolean;
}

interface Interval {
  readonly is: "suite" | "test" | "function";
  readonly whole: Range;
  readonly body: Range;
  readonly block?: Block;
  readonly found?: FoundFunction;
  readonly up: Interval | undefined;
  readonly checks: Check[];
  hasTests: boolean;
  skipped: boolean;
  conditional: boolean;
}

export function assemble(code: Code, outline: Outline, rules: OutlineRules): TestCode {
  const intervals = nested(outline);
  const owner = owners(code, intervals);
  const isTop = rules.isTopLevel ?? inBraces;
  const { bareCalls = false, bracedLambdas = false } = rules;
  const dead = [
    ...outline.dead,
    ...emptyLoops(code),
    ...idleLambdas(code, { bareCalls, bracedLambdas }),
  ];
  for (const at of outline.ends) {
    const own = owner[at];
    if (!own || !isTop(code, at, own.body)) continue;
    // A bare `return` ends with its line.
    const end = code.tokens[at + 1]?.first ? at + 1 : statementEnd(code, at + 1);
    dead.push({ from: end, to: own.body.to });
  }
  for (const { at, conditional } of outline.skips) {
    const own = owner[at];
    if (!own) continue;
    if (!conditional && isTop(code, at, own.body)) own.skipped = true;
    else own.conditional = true;
  }
  const isDead = covered(code, dead);
  const functions = new Map(outline.functions.map((each) => [each.name, each]));
  const checks = outline.checks
    .filter(({ callee }) => callee === undefined || !functions.has(callee))
    .sort((a, b) => a.range.from - b.range.from);
  const counts = countsOf(code, checks);
  const isIdle = covered(code, swallowed(code, outline, counts));
  const isMuted = mutedIn(code, outline.muted);
  const isGuarded = guarded(code, outline, { checks, counts, owner, bareCalls });
  for (const at of outline.ends) {
    const own = owner[at];
    const condition = own && conditionOfReturn(code, at, own.body);
    const before = lastBefore(checks, counts[at] ?? 0);
    if (condition && !isAsserted(code, condition, { before, owner, opposite: true }))
      own.conditional = true;
  }
  for (const check of checks) {
    const { from } = check.range;
    if (isDead[from]) continue;
    const idle = isIdle[from] === 1 || isMuted(check);
    owner[from]?.checks.push(idle ? { ...check, idle } : check);
  }
  const reader = new AssertionReader(code, intervals, rules, {
    isDead,
    isGuarded,
    isChecked: covered(
      code,
      checks.map(({ range }) => range),
    ),
  });
  const tests = intervals.flatMap((interval) => {
    if (interval.is !== "test" || (interval.hasTests && interval.checks.length === 0)) return [];
    const { from } = interval.whole;
    const test = testOf(code, interval, reader, { rules, isDead: isDead[from] === 1 });
    return [test.conditional || isGuarded[from] ? underCondition(test) : test];
  });
  const mentions = mentionsIn(code);
  const shared = intervals.flatMap((interval): TestFunction[] => {
    if (!interval.found) return [];
    const { name } = interval.found;
    if (tests.length > 0 && isIdleFunction(code, interval, mentions)) return [];
    const line = lineAt(code, interval.whole.from);
    return [{ name, line, assertions: reader.own(interval) }];
  });
  return { tests, functions: shared };
}

/** The test as a whole stands under a condition, so that its assertions need not say so. */
const underCondition = (test: TestCase): TestCase => ({
  ...test,
  conditional: true,
  assertions: test.assertions.map((each) => ({ ...each, guarded: false })),
});

function testOf(
  code: Code,
  interval: Interval,
  reader: AssertionReader,
  { rules, isDead }: { rules: OutlineRules; isDead: boolean },
): TestCase {
  const block = interval.block as Block;
  const chain: Interval[] = [];
  for (let each: Interval | undefined = interval; each; each = each.up) chain.unshift(each);
  const blocks = chain.flatMap((each) => (each.block ? [each.block] : []));
  const { assertions, calls } = reader.all(interval);
  const around = interval.up?.is === "test" ? interval.up.body : undefined;
  const own = block.rows ?? tableIn(code, block.body);
  // A test for each row of a table that stands in the test around it.
  const outer = own.length === 0 && around && !block.rows ? tableIn(code, around) : own;
  const rows = outer.length === 0 && !block.rows ? rowsAround(code, block.whole.from) : outer;
  return {
    name: blocks.map(({ title }) => title).join(" › "),
    line: lineAt(code, interval.whole.from),
    skipped:
      isDead ||
      block.rows?.length === 0 ||
      chain.some((each) => each.skipped || each.block?.skipped === true),
    conditional: chain.some((each) => each.conditional || each.block?.conditional === true),
    focused: blocks.some(({ focused }) => focused === true),
    assertions: assertions.length > 0 ? assertions : runsAtAll(code, block, rules),
    body: render(code, block.body).join(" "),
    rows: rows.map((row) => render(code, row).join(" ")),
    calls,
  };
}

/** A test that only runs something which fails by itself. */
function runsAtAll(code: Code, { body }: Block, { failing }: OutlineRules): Assertion[] {
  if (!failing) return [];
  for (let at = body.from; at < body.to; at++) {
    const token = code.tokens[at] as Token;
    if (token.kind === "string" || !failing.test(token.text)) continue;
    const text = "does not fail";
    return [
      {
        line: token.line,
        text,
        strength: "loose",
        partial: false,
        guarded: false,
        actual: "",
        expected: text,
      },
    ];
  }
  return [];
}

/** `if (…) return;` in the test itself: what comes after it may never run. */
function conditionOfReturn(code: Code, at: number, body: Range): Range | undefined {
  const next = code.tokens[at + 1];
  if (next && !next.first && !/^[;}]$/.test(next.text)) return undefined;
  const around = code.parent[body.from] ?? -1;
  const brace = code.parent[at] ?? -1;
  const branch = brace === around ? at : brace;
  if (branch !== at && (brace !== at - 1 || code.parent[brace] !== around)) return undefined;
  if (branch <= body.from || !isUnderCondition(code, branch)) return undefined;
  const isElse = textAt(code, branch - 1) === "else";
  return isElse ? { from: branch, to: branch } : inside(code, code.pair[branch - 1] ?? branch);
}

const lineAt = (code: Code, at: number): number => code.tokens[at]?.line ?? 1;

/** All ranges, the outer before the inner, each knowing what is around it. */
function nested({ suites, tests, functions }: Outline): Interval[] {
  const flat = [
    ...suites.map((block) => ({
      is: "suite" as const,
      block,
      whole: block.whole,
      body: block.body,
    })),
    ...tests.map((block) => ({ is: "test" as const, block, whole: block.whole, body: block.body })),
    ...functions.map((found) => ({
      is: "function" as const,
      found,
      whole: found.whole,
      body: found.body,
    })),
  ].sort((a, b) => a.whole.from - b.whole.from || b.whole.to - a.whole.to);
  const stack: Interval[] = [];
  return flat.map((each): Interval => {
    while (stack.length > 0 && (stack.at(-1) as Interval).whole.to < each.whole.to) stack.pop();
    while (stack.length > 0 && (stack.at(-1) as Interval).whole.to <= each.whole.from) stack.pop();
    const up = stack.at(-1);
    if (each.is === "test" && up) up.hasTests = true;
    const block = each.is === "function" ? undefined : each.block;
    const checks = [...(block?.checks ?? [])];
    const state = { hasTests: false, skipped: false, conditional: false };
    const interval: Interval = { ...each, up, checks, ...state };
    stack.push(interval);
    return interval;
  });
}

/** Of each token the innermost range around it. */
function owners(code: Code, intervals: readonly Interval[]): (Interval | undefined)[] {
  const owner = Array.from<Interval | undefined>({ length: code.tokens.length });
  const stack: Interval[] = [];
  let next = 0;
  for (let at = 0; at < owner.length; at++) {
    while (stack.length > 0 && (stack.at(-1) as Interval).whole.to <= at) stack.pop();
    while ((intervals[next]?.whole.from ?? Number.POSITIVE_INFINITY) <= at)
      stack.push(intervals[next++] as Interval);
    owner[at] = stack.at(-1);
  }
  return owner;
}

function covered(code: Code, ranges: readonly Range[]): Uint8Array {
  const changes = new Int32Array(code.tokens.length + 1);
  for (const { from, to } of ranges) {
    if (to <= from) continue;
    changes[from] = (changes[from] ?? 0) + 1;
    const end = Math.min(to, code.tokens.length);
    changes[end] = (changes[end] ?? 0) - 1;
  }
  const is = new Uint8Array(code.tokens.length);
  let depth = 0;
  for (let at = 0; at < is.length; at++) {
    depth += changes[at] ?? 0;
    is[at] = depth > 0 ? 1 : 0;
  }
  return is;
}

const inBraces = (code: Code, at: number, body: Range): boolean =>
  at >= body.from &&
  at < body.to &&
  code.parent[at] === code.parent[body.from] &&
  !isUnderCondition(code, at);

/** Before each token, how many checks there are. */
function countsOf(code: Code, checks: readonly Check[]): Int32Array {
  const before = new Int32Array(code.tokens.length + 1);
  for (const { range } of checks) before[range.from + 1] = (before[range.from + 1] ?? 0) + 1;
  for (let at = 1; at < before.length; at++) before[at] = (before[at] ?? 0) + (before[at - 1] ?? 0);
  return before;
}

/** Whether something in it can make a test fail. */
function canFail(code: Code, { from, to }: Range, counts: Int32Array): boolean {
  if (counts[to] !== counts[from]) return true;
  for (let at = from; at < Math.min(to, from + mostScanned); at++) {
    const { text, kind } = code.tokens[at] as Token;
    if (kind === "word" && failureWords.test(text)) return true;
  }
  return false;
}

const mostScanned = 2000;

const failureWords =
  /^(?:throw|raise|fail|panic|done|reject|assert\w*|expect\w*|Fail|Fatalf?|Errorf?|next|exit)$/;

/** What is tried, where a failure is caught and nothing comes of it. */
const swallowed = (code: Code, { tries }: Outline, counts: Int32Array): Range[] =>
  tries.filter(({ rescue }) => !canFail(code, rescue, counts)).map(({ body }) => body);

interface Found {
  readonly checks: readonly Check[];
  readonly counts: Int32Array;
  readonly owner: readonly (Interval | undefined)[];
  readonly bareCalls: boolean;
}

/** What is done under a condition, where nothing fails if it does not hold. */
function guarded(code: Code, outline: Outline, found: Found): Uint8Array {
  const { checks, counts, owner, bareCalls } = found;
  const branches = outline.guards ?? guardsIn(code);
  const starts = new Set(checks.map(({ range }) => range.from));
  const single = checks
    .map(({ range }) => range)
    .filter(
      (range) =>
        isBehindCondition(code, range, (at) => starts.has(at)) ||
        (bareCalls && hasConditionBehind(code, range)),
    );
  const told = ({ from }: Range, opposite: boolean): Asserting => ({
    before: lastBefore(checks, counts[from] ?? 0),
    owner,
    opposite,
  });
  const open = branches.filter(
    ({ range, condition, otherwise }) =>
      range.to > range.from &&
      !otherwise.some((other) => canFail(code, other, counts)) &&
      !isAsserted(code, condition, told(range, false)),
  );
  const behind = branches.flatMap((guard) =>
    guard.behind &&
    /^(?:test|function)$/.test(owner[guard.range.from]?.is ?? "") &&
    !canFail(code, guard.range, counts) &&
    !isAsserted(code, guard.condition, told(guard.range, true))
      ? [guard.behind]
      : [],
  );
  return covered(code, [...single, ...open.map(({ range }) => range), ...behind]);
}

const mostLookedBack = 20;

const lastBefore = (checks: readonly Check[], end: number): readonly Check[] =>
  checks.slice(Math.max(0, end - mostLookedBack), end);

interface Asserting {
  readonly before: readonly Check[];
  readonly owner: readonly (Interval | undefined)[];
  /** That the condition does not hold is what has to be asserted. */
  readonly opposite: boolean;
}

/** Assertions before it, in the same test, say that the condition holds. */
function isAsserted(code: Code, condition: Range, { before, owner, opposite }: Asserting): boolean {
  const { from, to } = condition;
  const said = new Set<string>();
  const values: string[] = [];
  let compares = false;
  for (let at = from; at < to; at++) {
    const { kind, text } = code.tokens[at] as Token;
    if (/^={2,3}$/.test(text)) compares = true;
    if (kind === "string" || kind === "number") values.push(text);
    if (!beginsChain(code, at) || wordsOfConditions.test(text)) continue;
    const chain = chainAt(code, at);
    const looked = render(code, { from: at, to: Math.min(chain.to, to) }).join(" ");
    said.add(looked.replace(/ \. (?:length|size|count)(?: \( \))?$/, ""));
    at = chain.to - 1;
  }
  const asks = render(code, condition).join(" ");
  const isNo = /^(?:!|not) /.test(asks) || / (?:is|={2,3}) (?:None|null|undefined|nil)$/.test(asks);
  const isNegative = isNo !== opposite;
  const wanted = [...said, ...(compares && !opposite ? values : [])];
  const told = before
    .filter(
      (check) => owner[check.range.from] === owner[from] && denies(code, check) === isNegative,
    )
    .map(({ range }) => ` ${render(code, range).join(" ")} `);
  return said.size > 0 && wanted.every((each) => told.some((text) => text.includes(` ${each} `)));
}

const wordsOfConditions =
  /^(?:let|not|is|in|of|as|and|or|None|null|undefined|true|false|True|False|Some|Ok|nil|typeof|instanceof|await)$/;

/** It says that something is false, or not there. */
function denies(code: Code, { expected, negated }: Check): boolean {
  const word =
    typeof expected === "string"
      ? expected
      : expected && expected.to === expected.from + 1
        ? textAt(code, expected.from)
        : "";
  return /^(?:false|falsy|null|none|nil|undefined)$/i.test(word) !== negated;
}

/** A function that nothing in this file calls, nor anything outside of it can. */
function isIdleFunction(
  code: Code,
  { whole, found, up }: Interval,
  mentions: ReadonlyMap<string, number>,
): boolean {
  for (let each = up; each; each = each.up) if (each.is === "test") return true;
  const name = found?.name ?? "";
  if (/^(?:set_?up|tear_?down|before|after|around|init|clean|dispose)/i.test(name)) return false;
  const isMarked = /^[@[#]/.test(textAt(code, whole.from));
  const isPublic =
    /^(?:export|default|public|pub)$/.test(textAt(code, whole.from - 1)) ||
    /^(?:export|default|public|pub)$/.test(textAt(code, whole.from - 2)) ||
    /^(?:export|public|pub)$/.test(textAt(code, whole.from));
  return !isMarked && !isPublic && mentions.get(name) === 1;
}

const mostInlined = 300;

/** What is known of each token. */
interface Marks {
  readonly isDead: Uint8Array;
  readonly isGuarded: Uint8Array;
  /** It is part of a check. */
  readonly isChecked: Uint8Array;
}

/** Reads the assertions of tests and functions, those of functions in the words of their callers. */
class AssertionReader {
  private readonly functions = new Map<string, Interval>();
  private readonly names = new Map<Interval, Names>();
  private readonly fileNames: ReadonlyMap<string, Range | null>;
  /** Tokens that may still be looked at for calls: functions that call each other could be many. */
  private budget = 20_000_000;

  private readonly code: Code;
  private readonly rules: OutlineRules;
  private readonly marks: Marks;

  constructor(code: Code, intervals: readonly Interval[], rules: OutlineRules, marks: Marks) {
    this.code = code;
    this.rules = rules;
    this.marks = marks;
    for (const each of intervals) if (each.found) this.functions.set(each.found.name, each);
    this.fileNames = constantsOf(code, rules);
  }

  own(interval: Interval): Assertion[] {
    const names = this.namesOf(interval);
    return interval.checks.map((check) => this.read(check, names));
  }

  all(interval: Interval): { assertions: Assertion[]; calls: string[] } {
    const names = this.namesOf(interval);
    const inverted = interval.block?.inverted === true;
    const own = inverted ? [...(interval.block?.checks ?? [])] : interval.checks;
    const assertions = own.map((check) => this.read(check, names));
    const calls = new Set<string>();
    this.addCalled(interval, names, { assertions, calls, depth: 0, path: new Set() });
    return {
      assertions: inverted ? assertions.slice(0, own.length) : assertions,
      calls: [...calls],
    };
  }

  private addCalled(
    interval: Interval,
    names: Names,
    into: {
      assertions: Assertion[];
      calls: Set<string>;
      depth: number;
      path: Set<string>;
      guarded?: boolean;
    },
  ): void {
    const { body } = interval;
    this.budget -= body.to - body.from;
    if (this.budget < 0) return;
    for (let at = body.from; at < body.to; at++) {
      const token = this.code.tokens[at] as Token;
      if (token.kind !== "word" || this.marks.isDead[at]) continue;
      const called = this.functions.get(token.text);
      if (!called) {
        if (into.calls.size < 100 && textAt(this.code, at + 1) === "(") into.calls.add(token.text);
        continue;
      }
      if (called === interval || into.path.has(token.text)) continue;
      if (at >= called.whole.from && at < called.whole.to) continue;
      if (!isUse(this.code, at, this.rules.bareCalls === true)) continue;
      if (into.assertions.length > mostInlined || into.depth > 3) return;
      const inner = this.namesAsCalled(called, at, names);
      const guarded = into.guarded === true || this.marks.isGuarded[at] === 1;
      into.assertions.push(
        ...called.checks.map((check) => {
          const read = this.read(check, inner);
          return guarded ? { ...read, guarded } : read;
        }),
      );
      into.path.add(token.text);
      this.addCalled(called, inner, { ...into, depth: into.depth + 1, guarded });
      into.path.delete(token.text);
    }
  }

  private namesOf(interval: Interval): Names {
    const known = this.names.get(interval);
    if (known) return known;
    const names = { values: namesIn(this.code, interval.body, this.rules), outer: this.fileNames };
    this.names.set(interval, names);
    return names;
  }

  private namesAsCalled(called: Interval, at: number, names: Names): Names {
    const open = textAt(this.code, at + 1) === "(" ? at + 1 : undefined;
    const given = argumentsAt(this.code, open).map((each) => render(this.code, each, names));
    const wanted = called.found?.parameters ?? [];
    const parameters = new Map(
      wanted.flatMap((name, index) => {
        const value = given[index];
        return value ? [[name, value] as const] : [];
      }),
    );
    return { ...this.namesOf(called), parameters };
  }

  private read(check: Check, names: Names): Assertion {
    const { code } = this;
    const { range, expected, partial, strength } = check;
    const text = render(code, range).join(" ").slice(0, mostText);
    let actual = check.actual ? render(code, check.actual, names) : [];
    let wanted =
      typeof expected === "string" ? [expected] : expected ? render(code, expected, names) : [];
    if (check.sides === "unknown" && isLiteral(actual) && !isLiteral(wanted))
      [actual, wanted] = [wanted, actual];
    const ofKind = actual[0] === "typeof" && isLiteral(wanted);
    if (ofKind) [actual, wanted] = [actual.slice(1), ["kind"]];
    // That there is no error says what "does not throw" says.
    const ofError =
      /^‹?err(?:or)?›?$/i.test(actual.at(-1) ?? "") && /^(?:null|present)$/.test(wanted.join(" "));
    if (ofError) wanted = [wanted[0] === "null" ? "quiet" : "throws"];
    const isConstant = check.idle === true || this.isConstant(check, actual, wanted);
    if (!isConstant && !check.negated && this.isItself(check, [actual, wanted], names)) {
      wanted = ["itself"];
    }
    const ofItself = wanted[0] === "itself";
    const all = [...(check.negated ? ["not"] : []), ...wanted].join(" ");
    return {
      line: lineAt(code, range.from),
      text,
      strength: isConstant ? "constant" : ofKind || ofError || ofItself ? "loose" : strength,
      partial,
      guarded: this.marks.isGuarded[range.from] === 1,
      actual: actual.join(" ").slice(0, mostText),
      expected: all.slice(0, mostText),
    };
  }

  /** The same call on both sides, with nothing done between the two. */
  private isItself(
    { actual, expected, range }: Check,
    [left, right]: readonly [readonly string[], readonly string[]],
    names: Names,
  ): boolean {
    if (!actual || !expected || typeof expected === "string") return false;
    const text = left.join(" ");
    if (!text.includes("(") || text !== right.join(" ")) return false;
    const values = [actual, expected].flatMap(({ from, to }) => {
      const value = to === from + 1 ? names.values.get(textAt(this.code, from)) : undefined;
      return value ? [value] : [];
    });
    const start = Math.min(range.from, ...values.map(({ to }) => to));
    for (let at = start; at < range.from; at++) {
      const isOurs = values.some(({ from, to }) => at >= from && at < to);
      if (textAt(this.code, at) === "(" && !isOurs && !this.marks.isChecked[at]) return false;
    }
    return true;
  }

  /** Nothing of the program is in it, or the same thing on both sides. */
  private isConstant(check: Check, actual: readonly string[], wanted: readonly string[]): boolean {
    if (!check.actual) return false;
    const said = typeof check.expected === "string" || isLiteral(wanted);
    if (isLiteral(actual) && (said || wanted.length === 0)) return true;
    if (typeof check.expected === "string" || !check.expected) return false;
    const left = render(this.code, check.actual);
    return !left.includes("(") && left.join(" ") === render(this.code, check.expected).join(" ");
  }
}

const mostText = 4000;

/** Values that are written out at the top of the file. */
function constantsOf(code: Code, rules: OutlineRules): Map<string, Range | null> {
  const found = new Map<string, Range | null>();
  if (rules.constantsOnly) return found;
  for (let at = 0; at + 2 < code.tokens.length; at++) {
    if (code.parent[at] !== -1 || textAt(code, at + 1) !== "=") continue;
    const { kind, text, column } = code.tokens[at] as Token;
    if (kind !== "word" || (column > 0 && code.tokens[at]?.first)) continue;
    const value = { from: at + 2, to: statementEnd(code, at + 2) };
    const isShort = value.to - value.from <= 60 && isLiteral(render(code, value));
    found.set(text, found.has(text) || !isShort ? null : value);
  }
  for (const [name, value] of found) if (value === null) found.delete(name);
  return found;
}

/** The list of the loop that a test is defined in. */
function rowsAround(code: Code, at: number): Range[] {
  const brace = code.parent[at] ?? -1;
  if (brace < 1 || textAt(code, brace) !== "{") return [];
  const open = listBefore(code, brace);
  return open === undefined ? [] : partsOf(code, inside(code, open), ",");
}

/** The bracket of the list, or of the one that the list's name was set to. */
function listBefore(code: Code, brace: number): number | undefined {
  const before = textAt(code, brace - 1);
  // `for (const row of [...]) {`
  if (before === ")") {
    const head = code.pair[brace - 1] ?? -1;
    if (!/^(?:for|foreach|await)$/.test(textAt(code, head - 1))) return undefined;
    return listEnding(code, brace - 2);
  }
  // `[...].each do |row|`
  if (before === "each") return listEnding(code, brace - 3);
  // `[...].forEach((row) => {`
  const call = code.parent[brace] ?? -1;
  return before === "=>" && textAt(code, call - 1) === "forEach"
    ? listEnding(code, call - 3)
    : undefined;
}

/** How far back a list is looked for. */
const mostSought = 5000;

function listEnding(code: Code, end: number): number | undefined {
  if (textAt(code, end) === "]") return code.pair[end];
  const name = textAt(code, end);
  if (code.tokens[end]?.kind !== "word") return undefined;
  for (let at = end - 2; at >= Math.max(0, end - mostSought); at--)
    if (textAt(code, at) === name && textAt(code, at + 1) === "=")
      return textAt(code, at + 2) === "[" ? at + 2 : undefined;
  return undefined;
}

/** A list of rows that a test goes through in a loop of its own. */
function tableIn(code: Code, { from, to }: Range): Range[] {
  let hasLoop = false;
  const lists: number[] = [];
  let named: number | undefined;
  for (let at = from; at < to; at++) {
    const { text, kind } = code.tokens[at] as Token;
    if (kind === "word" && /^(?:of|in|range)$/.test(text) && /^[){:]$/.test(textAt(code, at + 2)))
      named ??= listEnding(code, at + 1);
    if (kind === "word" && /^(?:for|foreach|forEach|each|range|map)$/.test(text)) hasLoop = true;
    if (kind === "mark" && (text === "[" || text === "{") && lists.length < 40) lists.push(at);
  }
  if (!hasLoop) return [];
  for (const open of lists) {
    const rows = partsOf(code, { from: open + 1, to: Math.min(code.pair[open] ?? to, to) }, ",");
    const isRow = ({ from: start, to: end }: Range): boolean =>
      /^[[{(]$/.test(textAt(code, start)) && (code.pair[start] ?? -1) === end - 1;
    const isEntry = ({ from: start, to: end }: Range): boolean =>
      partsOf(code, { from: start, to: end }, ":", "=>").length === 2;
    const isMap =
      textAt(code, open) === "{" &&
      (/^(?:items|each|forEach|entries)$/.test(textAt(code, (code.pair[open] ?? to) + 2)) ||
        textAt(code, open - 2) === "entries");
    if (rows.length > 1 && (rows.every(isRow) || (isMap && rows.every(isEntry)))) return rows;
  }
  return named === undefined ? [] : partsOf(code, inside(code, named), ",");
}
