/**
 * Says how the tests of a change were weakened. Tests are paired by name, else by what they do and
 * check; what a pair has lost is looked for in the rest of the change before it counts as lost.
 *
 * 1. Moving, renaming, reformatting, splitting, merging and tabulating tests is never reported.
 * 2. An assertion is the same as another if it looks at the same thing and expects the same, in
 *    whatever framework's words.
 * 3. What was skipped or checked nothing before has nothing to lose.
 */
import type { Assertion, TestCase, TestCode } from "./test-code.ts";

export interface TestChange {
  readonly kind:
    | "test-deleted"
    | "test-skipped"
    | "test-focused"
    /** It had assertions and has none. */
    | "test-emptied"
    | "assertions-gone"
    /** It looks at the same and demands less. */
    | "test-weakened"
    /** It looks at the same and expects another value. */
    | "expectation-changed"
    /** A new test that cannot fail. */
    | "constant-test";
  readonly test: string;
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

export function compareTests(
  before: ReadonlyMap<string, TestCode>,
  after: ReadonlyMap<string, TestCode>,
): TestChange[] {
  const old = placed(before);
  const now = placed(after);
  const likeness = likenessOf([...old, ...now]);
  const pairs = paired(old, now, likeness);
  const compared = pairs.map((pair) => ({ ...pair, ...assertionsOf(pair) }));
  const isPaired = new Set(pairs.flatMap((pair) => [pair.old, pair.now]));
  const added = now.filter((test) => !isPaired.has(test));
  const removed = old.filter((test) => !isPaired.has(test));
  const pool = new Pool(
    [
      ...compared.flatMap(({ now: test, spare }) => spare.map((each) => ({ ...each, test }))),
      ...added.flatMap((test) => checking(test).map((each) => ({ ...each, test }))),
    ],
    functionsOf(before, after),
  );
  const rows = new RowPool(now, pairs);
  const changes: TestChange[] = [];
  for (const each of compared) changes.push(...pairChanges(each, { pool, after, added, rows }));
  for (const test of removed) {
    if (isAccountedFor(test, { now, added, pool, rows, likeness })) continue;
    changes.push(change("test-deleted", test, `the test "${test.name}" is gone`));
  }
  const unwritten = unwrittenFiles(before, after);
  for (const test of added) changes.push(...newTestChanges(test, unwritten.has(test.file)));
  changes.push(...functionChanges(before, after));
  return changes.sort((a, b) => compareText(a.file, b.file) || a.line - b.line);
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

interface Placed extends TestCase {
  readonly file: string;
}

interface Pair {
  readonly old: Placed;
  readonly now: Placed;
}

const placed = (code: ReadonlyMap<string, TestCode>): Placed[] =>
  [...code].flatMap(([file, { tests }]) => tests.map((test) => ({ ...test, file })));

const change = (
  kind: TestChange["kind"],
  { name, file, line }: Placed,
  message: string,
  at = line,
): TestChange => ({ kind, test: name, file, line: at, message });

/** Assertions that can fail. */
const checking = ({ assertions }: TestCase): Assertion[] =>
  assertions.filter(({ strength }) => strength !== "constant");

// ── one test, before and after ──────────────────────────────────────────────────────────────────

interface Surroundings {
  readonly pool: Pool;
  readonly after: ReadonlyMap<string, TestCode>;
  readonly added: readonly Placed[];
  readonly rows: RowPool;
}

function pairChanges(pair: Pair & Compared, around: Surroundings): TestChange[] {
  const { old, now } = pair;
  const changes: TestChange[] = [];
  if (now.focused && !old.focused) {
    changes.push(change("test-focused", now, `only "${now.name}" would run`));
  }
  if (old.skipped) return now.skipped ? changes : [...changes, ...constantChanges(now)];
  if (now.skipped) return [...changes, change("test-skipped", now, `"${now.name}" is skipped`)];
  if (now.conditional && !old.conditional) {
    const message = `"${now.name}" is skipped under a condition`;
    changes.push(change("test-skipped", now, message));
  }
  return [...changes, ...assertionChanges(pair, around), ...rowChanges(pair, around)];
}

function assertionChanges(pair: Pair & Compared, around: Surroundings): TestChange[] {
  const { old, now, weaker, changed } = pair;
  const said = changed.map(([was, is]) => {
    const message = `"${now.name}" expected ${short(was.expected)} and now expects ${short(is.expected)}`;
    return change("expectation-changed", now, message, is.line);
  });
  const lost = pair.lost
    .filter((each) => !around.pool.take(each, now))
    .filter((each) => !around.rows.takeAssertions([each]));
  if (lost.length === 0 && weaker.length === 0) return said;
  if (now.assertions.length === 0 && !callsForHelp(now, old, around)) {
    const message = `"${now.name}" had ${count(checking(old).length, "assertion")} and has none`;
    return [...said, change("test-emptied", now, message)];
  }
  const { weakened, gone, easier } = replaced(lost, pair);
  for (const [was, is] of easier) {
    const message = `"${now.name}" asked for ${short(keyOf(was))} and now asks for ${short(keyOf(is))}`;
    said.push(change("expectation-changed", now, message, is.line));
  }
  const isWeaker = weaker.length + weakened.length > 0;
  if (isWeaker) {
    const was = weaker[0]?.[0] ?? weakened[0];
    const line = weaker[0]?.[1].line ?? now.line;
    const message = `"${now.name}" demands less than before: ${short(was?.text ?? "")} is gone`;
    said.push(change("test-weakened", now, message, line));
  }
  if (gone.length > 0 && !callsForHelp(now, old, around)) {
    const message = `"${now.name}" has lost ${count(gone.length, "assertion")}: ${short(gone[0]?.text ?? "")}`;
    said.push(change("assertions-gone", now, message));
  }
  return said;
}

/** Lost assertions for which others, of something else, have come. */
function replaced(
  lost: readonly Assertion[],
  { old, now, spare }: Pair & Compared,
): { weakened: Assertion[]; gone: Assertion[]; easier: [Assertion, Assertion][] } {
  const rest = [...spare].sort((a, b) => rank(b) - rank(a));
  const easier: [Assertion, Assertion][] = [];
  const empty = now.assertions.length - checking(now).length;
  let constants = Math.max(0, empty - (old.assertions.length - checking(old).length));
  const weakened: Assertion[] = [];
  const gone: Assertion[] = [];
  const open = [...lost].sort((a, b) => rank(b) - rank(a));
  // What gives the same as before was only asked in other words.
  const unanswered = open.filter((each) => {
    const at = rest.findIndex((one) => isReworded(each, one));
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
  for (const each of unanswered) {
    const same = rest.findIndex((one) => asksAnother(each, one) || demandsLess(each, one));
    const [other] = rest.splice(Math.max(0, same), 1);
    if (same >= 0 && other && asksAnother(each, other)) easier.push([each, other]);
    else if (same >= 0) weakened.push(each);
    else if (other && (rank(other) > 1 || rank(each) === 1)) continue;
    else if (other) weakened.push(each);
    else if (constants-- > 0) weakened.push(each);
    else gone.push(each);
  }
  return { weakened, gone, easier };
}

const isReworded = (was: Assertion, is: Assertion): boolean =>
  was.expected === is.expected &&
  rank(is) >= rank(was) &&
  callOf(was.actual) !== undefined &&
  callOf(was.actual) === callOf(is.actual);

/** The same function, called with something else, has to give something else. */
function asksAnother(was: Assertion, is: Assertion): boolean {
  if (rank(was) < 3 || rank(is) < 3 || was.expected === is.expected) return false;
  const called = callOf(was.actual);
  if (called === undefined || called !== callOf(is.actual)) return false;
  if (!isWritten(was.expected) || !isWritten(is.expected)) return false;
  // More of the same is asked for.
  return !(holds(is.actual, was.actual) && holds(is.expected, was.expected));
}

/** What is called and what is taken of it, without what it is called with. */
function callOf(actual: string): string | undefined {
  const tokens = actual.split(" ");
  const open = tokens.indexOf("(");
  if (open < 1 || tokens.slice(0, open).some((each) => each.startsWith("‹"))) return undefined;
  let depth = 0;
  const close = tokens.findIndex((each, at) => {
    if (at >= open && /^[([{]$/.test(each)) depth++;
    if (at >= open && /^[)\]}]$/.test(each)) depth--;
    return at >= open && depth === 0;
  });
  return [...tokens.slice(0, open), "(", ...tokens.slice(close < 0 ? tokens.length : close)].join(
    " ",
  );
}

const isWritten = (text: string): boolean => literals(text).length > 0 && !text.includes("(");

/** Whether all values of one are in the other, a text also as part of a longer one. */
function holds(whole: string, part: string): boolean {
  const values = literals(whole);
  if (isWithin(literals(part), values)) return true;
  return literals(part).every((each) =>
    each.startsWith('"')
      ? values.some((one) => one.startsWith('"') && one.includes(each.slice(1, -1)))
      : values.includes(each),
  );
}

/** It looks at something made of what was looked at, and takes more than one value. */
const demandsLess = (was: Assertion, is: Assertion): boolean =>
  rank(was) === 3 &&
  rank(is) < 3 &&
  was.actual !== "" &&
  ` ${is.actual} `.includes(` ${was.actual} `);

/** It calls something new that makes assertions, in another file of this change. */
function callsForHelp(now: Placed, old: Placed, { after }: Surroundings): boolean {
  const calls = now.calls.filter((name) => !old.calls.includes(name));
  if (calls.length === 0) return false;
  return [...after.values()].some(({ functions }) =>
    functions.some(
      ({ name, assertions }) =>
        calls.includes(name) && assertions.some(({ strength }) => strength !== "constant"),
    ),
  );
}

const rank = ({ strength, partial }: Assertion): number =>
  strength === "constant" ? 0 : strength === "loose" ? 1 : partial ? 2 : 3;

const count = (number: number, what: string): string =>
  `${number} ${what}${number === 1 ? "" : "s"}`;

const short = (text: string): string => {
  const plain = text.replace(/[‹›]/g, "").replace(/ ?([().,[\]]) ?/g, "$1");
  return plain.length > 80 ? `${plain.slice(0, 79)}…` : plain;
};

interface Compared {
  readonly weaker: readonly (readonly [Assertion, Assertion])[];
  readonly changed: readonly (readonly [Assertion, Assertion])[];
  readonly lost: readonly Assertion[];
  /** New ones that stand for none of the old. */
  readonly spare: readonly Assertion[];
}

function assertionsOf({ old, now }: Pair): Compared {
  // Those that are always made meet each other before those that may not be.
  const byGuard = (a: Assertion, b: Assertion): number => Number(a.guarded) - Number(b.guarded);
  let was = checking(old).sort(byGuard);
  let is = checking(now).sort(byGuard);
  const weaker: [Assertion, Assertion][] = [];
  const changed: [Assertion, Assertion][] = [];
  const guard = (each: Assertion, other: Assertion): boolean => {
    const isNew = other.guarded && !each.guarded;
    if (isNew) weaker.push([each, other]);
    return isNew;
  };
  const meet = (
    key: (each: Assertion) => string | undefined,
    found: (was: Assertion, is: Assertion) => void = guard,
  ): void => {
    const places = new Map<string, Assertion[]>();
    for (const each of is) {
      const own = key(each);
      if (own !== undefined) places.set(own, [...(places.get(own) ?? []), each]);
    }
    const taken = new Set<Assertion>();
    was = was.filter((each) => {
      const own = key(each);
      const other = own === undefined ? undefined : places.get(own)?.shift();
      if (!other) return true;
      taken.add(other);
      found(each, other);
      return false;
    });
    is = is.filter((each) => !taken.has(each));
  };
  meet(keyOf);
  meet((each) => masked(keyOf(each)));
  const judge = (each: Assertion, other: Assertion): void => {
    if (guard(each, other)) return;
    if (rank(other) < rank(each)) {
      if (other.expected !== each.expected) weaker.push([each, other]);
    } else if (expectsOther(each, other)) changed.push([each, other]);
  };
  // What says the most is compared with what says the most.
  was.sort((a, b) => rank(b) - rank(a));
  is.sort((a, b) => rank(b) - rank(a));
  meet(({ actual }) => actual || undefined, judge);
  meet(({ actual }) => (actual.includes("‹") ? masked(actual) : undefined), judge);
  const constants = now.assertions.filter(({ strength }) => strength === "constant");
  was = was.filter((each) => {
    const other = constants.find((one) => keyOf(one) === keyOf(each) || one.text === each.text);
    if (other) weaker.push([each, other]);
    return !other;
  });
  const lost = was.filter((each) => !isImplied(each, checking(now)));
  return { weaker, changed, lost, spare: is };
}

const keyOf = ({ actual, expected, text }: Assertion): string =>
  actual === "" ? text : `${actual} = ${expected}`;

const masked = (text: string): string => text.replace(/‹[^›]*›/g, "‹›");

const negatives = new Set(["falsy", "null", "uncalled", "quiet", "false"]);

function expectsOther(was: Assertion, is: Assertion): boolean {
  if (was.expected === is.expected || masked(was.expected) === masked(is.expected)) return false;
  if (was.strength === "loose") {
    return is.strength === "loose" && negatives.has(was.expected) !== negatives.has(is.expected);
  }
  if (rank(is) > rank(was)) return false;
  // The same values, got in another way.
  const values = [literals(was.expected), literals(is.expected)] as const;
  const isComputed = [was, is].some(({ expected }) =>
    /[\p{L}‹]/u.test(expected.replace(/"(?:[^"\\]|\\.)*"/g, "")),
  );
  if (isComputed && isWithin(values[0], values[1]) && isWithin(values[1], values[0])) return false;
  // More is asked of it than before.
  return !(was.partial && isWithin(literals(was.expected, true), literals(is.expected, true)));
}

/** Whether another assertion of the test would fail as well. */
function isImplied(lost: Assertion, now: readonly Assertion[]): boolean {
  return now.some((other) => {
    if (lost.actual === "" || other.actual === "") return false;
    const isSame = other.actual === lost.actual;
    if (lost.strength === "loose" && lost.expected !== "kind" && other.expected !== "kind") {
      if (isSame || other.actual.startsWith(`${lost.actual} .`)) return true;
    }
    if (rank(other) < 3) return false;
    if (isSame && rank(lost) < 3) return true;
    const isPart = lost.actual.startsWith(`${other.actual} `) && lost.actual !== other.actual;
    return isPart && isWithin(literals(lost.expected, true), literals(other.expected, true));
  });
}

/** Strings, numbers and truth values in tokens. */
function literals(text: string, withWords = false): string[] {
  const found = text.match(/"(?:[^"\\]|\\.)*"|\b\d[\w.]*|\b[\p{L}_]\w*/gu) ?? [];
  return withWords
    ? found
    : found.filter((each) => /^["\d]|^(?:true|false|null|True|False|None|nil)$/.test(each));
}

function isWithin(parts: readonly string[], whole: readonly string[]): boolean {
  const rest = new Map<string, number>();
  for (const each of whole) rest.set(each, (rest.get(each) ?? 0) + 1);
  return parts.every((each) => {
    const left = rest.get(each) ?? 0;
    rest.set(each, left - 1);
    return left > 0;
  });
}

// ── tables ──────────────────────────────────────────────────────────────────────────────────────

function rowChanges({ old, now }: Pair, { added, rows }: Surroundings): TestChange[] {
  if (old.rows.length === 0) return [];
  const spare = [...now.rows];
  const missing = old.rows.filter((row) => {
    const at = spare.indexOf(row);
    if (at >= 0) spare.splice(at, 1);
    return at < 0;
  });
  const changes: TestChange[] = [];
  let gone = 0;
  for (const row of missing) {
    const other = spare.findIndex((each) => isSameInput(row, each));
    const replacement = other < 0 ? -1 : other;
    if (replacement >= 0) {
      const [is = ""] = spare.splice(replacement, 1);
      if (expectsOtherRow(row, is)) {
        const message = `"${now.name}" had the case ${short(row)} and now has ${short(is)}`;
        changes.push(change("expectation-changed", now, message));
      }
    } else if (spare.length > 0) {
      const [is = ""] = spare.splice(mostAlike(row, spare), 1);
      if (!asksAnotherRow(row, is)) continue;
      const message = `"${now.name}" had the case ${short(row)} and now has ${short(is)}`;
      changes.push(change("expectation-changed", now, message));
    } else if (!isElsewhere(row, now, added) && !rows.take(row, now)) gone++;
  }
  if (gone > 0) {
    const message = `"${now.name}" has lost ${count(gone, "case")} of ${old.rows.length}`;
    changes.push(change("assertions-gone", now, message));
  }
  return changes;
}

/** A case that has become a test or a loop of its own. */
function isElsewhere(row: string, now: Placed, added: readonly Placed[]): boolean {
  const values = literals(row);
  if (values.length === 0) return now.rows.length === 0;
  const holds = ({ body }: Placed): boolean => isWithin(values, literals(body));
  return (now.rows.length === 0 && holds(now)) || added.some(holds);
}

function cellsOf(row: string): string[] {
  const tokens = row.split(" ");
  const inner = /^[[({]$/.test(tokens[0] ?? "") ? tokens.slice(1, -1) : tokens;
  const cells: string[][] = [[]];
  let depth = 0;
  for (const token of inner) {
    if (/^[[({]$/.test(token)) depth++;
    if (/^[\])}]$/.test(token)) depth--;
    if (token === "," && depth === 0) cells.push([]);
    else cells.at(-1)?.push(token);
  }
  return cells.map((cell) => cell.join(" "));
}

const resultKey = /^"?(?:want|expect|out|result|res|should|status|code|is|err|valid)\w*"? ?[:=]/i;
const labelKey = /^"?(?:name|desc|description|title|label|scenario|case|it|when)"? ?[:=]/i;

const isResult = (cell: string, index: number, cells: readonly string[]): boolean =>
  cells.some((each) => /^"?\w+"? :/.test(each)) ? resultKey.test(cell) : index === cells.length - 1;

const isSameInput = (a: string, b: string): boolean => {
  const [left, right] = [cellsOf(a), cellsOf(b)];
  if (left.length !== right.length) return false;
  const inputs = (cells: readonly string[]): string =>
    cells
      .filter((cell, index) => !isResult(cell, index, cells) && !labelKey.test(cell))
      .join(" , ");
  return inputs(left) === inputs(right) && inputs(left) !== "";
};

const expectsOtherRow = (a: string, b: string): boolean => {
  const results = (row: string): string => {
    const cells = cellsOf(row);
    return cells.filter((cell, index) => isResult(cell, index, cells)).join(" , ");
  };
  return results(a) !== results(b);
};

/** A row may be one text, with commas between its values. */
const valuesOf = (row: string): string[] =>
  /^"[^"]*,[^"]*"$/.test(row) ? literals(row.slice(1, -1)) : literals(row);

/** The row that has the most cells of this one. */
function mostAlike(row: string, rows: readonly string[]): number {
  const cells = cellsOf(row);
  const shared = rows.slice(0, mostRows).map((each) => {
    const other = cellsOf(each);
    return cells.filter((cell, index) => cell === other[index]).length;
  });
  return Math.max(0, shared.indexOf(Math.max(...shared)));
}

const mostRows = 500;

/** Something else goes in and something else has to come out. */
function asksAnotherRow(was: string, is: string): boolean {
  const [left, right] = [cellsOf(was), cellsOf(is)];
  const isAlike = left.length === right.length && left.length > 1;
  return isAlike && expectsOtherRow(was, is) && literals(was).length > 0 && !holds(is, was);
}

/** Rows that have come with this change, for tests that have become rows. */
class RowPool {
  private readonly rows: { row: readonly string[]; test: Placed }[] = [];

  constructor(now: readonly Placed[], pairs: readonly Pair[]) {
    const was = new Map(pairs.map((pair) => [pair.now, pair.old]));
    for (const test of now) {
      if (test.skipped || checking(test).length === 0) continue;
      const known = [...(was.get(test)?.rows ?? [])];
      for (const row of test.rows) {
        const at = known.indexOf(row);
        if (at >= 0) known.splice(at, 1);
        else this.rows.push({ row: valuesOf(row), test });
      }
    }
  }

  /** Uses up the row that holds these values. */
  take(values: string, except?: Placed): boolean {
    const wanted = literals(values);
    if (wanted.length === 0) return false;
    const at = this.rows.findIndex(({ row, test }) => test !== except && isWithin(wanted, row));
    if (at >= 0) this.rows.splice(at, 1);
    return at >= 0;
  }

  /** Uses up the row of a test that calls the same with the values of this one. */
  takeCall(assertion: Assertion): boolean {
    const values = literals(`${assertion.actual} ${assertion.expected}`);
    const called = literals(assertion.actual, true).find((each) => /^[\p{L}_]/u.test(each));
    if (values.length === 0 || called === undefined) return false;
    const at = this.rows.findIndex(
      ({ row, test }) => isWithin(values, row) && literals(test.body, true).includes(called),
    );
    if (at >= 0) this.rows.splice(at, 1);
    return at >= 0;
  }

  /** Uses up the row that they have become: what is expected, and most of the rest, are in it. */
  takeAssertions(assertions: readonly Assertion[]): boolean {
    const expected = [...new Set(assertions.flatMap((each) => literals(each.expected)))];
    const all = [
      ...new Set(literals(assertions.map((each) => `${each.actual} ${each.expected}`).join(" "))),
    ];
    if (all.length === 0) return false;
    const at = this.rows.findIndex(({ row }) => {
      const held = all.filter((each) => row.includes(each)).length;
      return expected.every((each) => row.includes(each)) && held >= all.length / 2;
    });
    if (at >= 0) this.rows.splice(at, 1);
    return at >= 0;
  }
}

// ── tests that came and went ────────────────────────────────────────────────────────────────────

/** New files in which every test is still to be written. */
function unwrittenFiles(
  before: ReadonlyMap<string, TestCode>,
  after: ReadonlyMap<string, TestCode>,
): Set<string> {
  const isToDo = ({ skipped, body }: TestCase): boolean => skipped && body === "";
  return new Set(
    [...after].flatMap(([file, { tests }]) =>
      (before.get(file)?.tests.length ?? 0) === 0 && tests.every(isToDo) ? [file] : [],
    ),
  );
}

function newTestChanges(test: Placed, isUnwritten: boolean): TestChange[] {
  const changes: TestChange[] = [];
  if (test.focused) changes.push(change("test-focused", test, `only "${test.name}" would run`));
  if (!test.skipped) return [...changes, ...constantChanges(test)];
  // A test that is still to be written says so openly.
  if (test.body === "") {
    if (!isUnwritten) return changes;
    const message = `the new test "${test.name}" is still to be written, as all of its file are`;
    return [...changes, change("constant-test", test, message)];
  }
  return [...changes, change("test-skipped", test, `the new test "${test.name}" is skipped`)];
}

/** That something gives the same again can be what a test is about. */
const ofSameness =
  /same|again|twice|once|cache|memo|determin|stable|pure|idempot|singleton|identical|instance|repeat|consisten|referen|reuse|seed|random|unique|equal|hash|lazy|share/i;

function constantChanges(test: Placed): TestChange[] {
  const checks = checking(test);
  const isOfItself =
    checks.every(({ expected }) => expected === "itself") && !ofSameness.test(test.name);
  if (checks.length > 0 && !isOfItself) return [];
  const why =
    checks.length > 0
      ? "compares what the code says with what the code says"
      : test.assertions.length === 0
        ? "checks nothing"
        : "compares only constants";
  return [change("constant-test", test, `the new test "${test.name}" ${why}`)];
}

/** Each row of its table is a test of its own. */
function haveBecomeTests({ rows }: Placed, added: readonly Placed[]): boolean {
  const rest = added.filter((test) => !test.skipped && checking(test).length > 0);
  return (
    rows.length > 0 &&
    rows.every((row) => {
      const at = rest.findIndex(({ body }) => isWithin(literals(row), literals(body)));
      if (at >= 0) rest.splice(at, 1);
      return at >= 0 && literals(row).length > 0;
    })
  );
}

interface Rest {
  readonly added: readonly Placed[];
  readonly now: readonly Placed[];
  readonly pool: Pool;
  readonly rows: RowPool;
  readonly likeness: Likeness;
}

/** Whether what a test checked is checked elsewhere, or was nothing. */
function isAccountedFor(test: Placed, { now, added, pool, rows, likeness }: Rest): boolean {
  const checks = checking(test);
  if (test.skipped || checks.length === 0) return true;
  if (now.some((other) => !other.skipped && other.body === test.body && test.body !== ""))
    return true;
  if (pool.takeAll(checks, test, likeness)) return true;
  if (rows.takeAssertions(checks) || haveBecomeTests(test, added)) return true;
  return checks.every((each) => rows.takeCall(each) || pool.takeMoved(each, test));
}

interface Spare extends Assertion {
  readonly test: Placed;
}

/** Assertions that have come with this change and stand for none that was there. */
class Pool {
  private readonly spare = new Map<string, Spare[]>();
  private readonly helped = new Map<string, number>();

  constructor(spare: readonly Spare[], inFunctions: readonly Assertion[]) {
    for (const each of spare) {
      if (each.test.skipped) continue;
      const key = masked(keyOf(each));
      const list = this.spare.get(key);
      if (list) list.push(each);
      else this.spare.set(key, [each]);
    }
    for (const each of inFunctions) {
      const key = masked(keyOf(each));
      this.helped.set(key, (this.helped.get(key) ?? 0) + 1);
    }
  }

  take(lost: Assertion, from: Placed): boolean {
    return this.helped.has(masked(keyOf(lost))) || this.takeMoved(lost, from);
  }

  takeMoved(lost: Assertion, from: Placed): boolean {
    const list = this.spare.get(masked(keyOf(lost)));
    const at =
      list?.findIndex(({ test, guarded }) => test !== from && (!guarded || lost.guarded)) ?? -1;
    if (!list || at < 0) return false;
    list.splice(at, 1);
    return true;
  }

  takeAll(checks: readonly Assertion[], from: Placed, likeness: Likeness): boolean {
    const used: [Spare[], Spare][] = [];
    for (const each of checks) {
      const list = this.spare.get(masked(keyOf(each)));
      const other = list?.pop();
      if (!list || !other) {
        for (const [back, one] of used) back.push(one);
        return false;
      }
      used.push([list, other]);
    }
    // `‹response›.status = 200` alone could be any test's.
    const isTelling = checks.some((each) => !each.actual.includes("‹") && each.actual !== "");
    const isLike = used.some(([, { test }]) => likeness(from, test) > 0.5);
    if (isTelling || isLike) return true;
    for (const [back, one] of used) back.push(one);
    return false;
  }
}

/** What functions and hooks check now and did not before. */
function functionsOf(
  before: ReadonlyMap<string, TestCode>,
  after: ReadonlyMap<string, TestCode>,
): Assertion[] {
  const known = new Set(
    [...before.values()].flatMap(({ functions }) =>
      functions.flatMap((each) => each.assertions.map(keyOf)),
    ),
  );
  return [...after.values()]
    .flatMap(({ functions }) => functions.flatMap(({ assertions }) => assertions))
    .filter((each) => each.strength !== "constant" && !known.has(keyOf(each)));
}

/** In a file without tests only: elsewhere the tests that call them tell. */
function functionChanges(
  before: ReadonlyMap<string, TestCode>,
  after: ReadonlyMap<string, TestCode>,
): TestChange[] {
  return [...before].flatMap(([file, code]) => {
    const now = after.get(file);
    if (!now || code.tests.length > 0 || now.tests.length > 0) return [];
    return code.functions.flatMap((shared): TestChange[] => {
      const other = now.functions.find(({ name }) => name === shared.name);
      const had = checkingOf(shared.assertions);
      // Whoever called one that is gone has changed as well.
      if (!other || checkingOf(other.assertions) >= had) return [];
      const has = checkingOf(other.assertions);
      const message = `"${shared.name}" has lost ${count(had - has, "assertion")}`;
      return [
        {
          kind: "assertions-gone",
          test: shared.name,
          file,
          line: other.line,
          message,
        },
      ];
    });
  });
}

const checkingOf = (assertions: readonly Assertion[]): number =>
  assertions.filter(({ strength }) => strength !== "constant").length;

// ── which test is which ─────────────────────────────────────────────────────────────────────────

type Likeness = (a: Placed, b: Placed) => number;

/** Comparing each with each is for a few hundred tests; beyond that only names and equal bodies. */
const mostCompared = 60_000;

function paired(old: readonly Placed[], now: readonly Placed[], likeness: Likeness): Pair[] {
  const pairs: Pair[] = [];
  let was = [...old];
  let is = [...now];
  const meet = (key: (test: Placed) => string | undefined): void => {
    const places = new Map<string, Placed[]>();
    for (const test of is) {
      const own = key(test);
      if (own === undefined) continue;
      const list = places.get(own);
      if (list) list.push(test);
      else places.set(own, [test]);
    }
    const taken = new Set<Placed>();
    was = was.filter((test) => {
      const own = key(test);
      const list = own === undefined ? undefined : places.get(own);
      if (!list || list.length === 0) return true;
      // Among several of one name the one with the same body.
      const same = list.findIndex(({ body }) => body === test.body);
      const [other] = list.splice(Math.max(0, same), 1);
      pairs.push({ old: test, now: other as Placed });
      taken.add(other as Placed);
      return false;
    });
    is = is.filter((test) => !taken.has(test));
  };
  meet(({ file, name, body }) => `${file} ${name} ${body}`);
  meet(({ file, name }) => `${file} ${name}`);
  meet(({ name, body }) => `${name} ${body}`);
  meet(({ body }) => body || undefined);
  meet(({ name }) => name);
  meetAlike();
  return pairs;

  function meetAlike(): void {
    if (was.length * is.length > mostCompared) {
      meet(({ name }) => leafOf(name));
      return;
    }
    const candidates = was.flatMap((test) =>
      is.flatMap((other) => {
        const like = likeness(test, other);
        const isNamed = leafOf(test.name) === leafOf(other.name);
        const score = isNamed ? like + 0.5 : like;
        return isOneTest(test, other, { like, isNamed }) ? [{ test, other, score }] : [];
      }),
    );
    const taken = new Set<Placed>();
    for (const { test, other } of candidates.sort((a, b) => b.score - a.score)) {
      if (taken.has(test) || taken.has(other)) continue;
      taken.add(test).add(other);
      pairs.push({ old: test, now: other });
    }
  }
}

function isOneTest(
  old: Placed,
  now: Placed,
  { like, isNamed }: { like: number; isNamed: boolean },
): boolean {
  if (like > 0.8 || (isNamed && like > 0.3)) return true;
  if (like < 0.3) return false;
  const looks = new Set(now.assertions.map(({ actual }) => masked(actual)));
  const checks = checking(old);
  const same = checks.filter(({ actual }) => actual !== "" && looks.has(masked(actual))).length;
  return (
    checks.length > 0 && same * 2 >= checks.length && like > (same === checks.length ? 0.4 : 0.5)
  );
}

const leafOf = (name: string): string => name.split(" › ").at(-1) ?? name;

/** How much two tests do the same, from 0 to 1: words that few tests have weigh the most. */
function likenessOf(tests: readonly Placed[]): Likeness {
  const words = new Map<Placed, Map<string, number>>();
  const holders = new Map<string, number>();
  const wordsIn = (test: Placed): Map<string, number> => {
    const known = words.get(test);
    if (known) return known;
    const found = new Map<string, number>();
    for (const word of literals(test.body.slice(0, 20_000), true))
      found.set(word, (found.get(word) ?? 0) + 1);
    words.set(test, found);
    return found;
  };
  for (const test of tests)
    for (const word of wordsIn(test).keys()) holders.set(word, (holders.get(word) ?? 0) + 1);
  const weight = (word: string): number =>
    Math.log(1 + (2 * tests.length) / (holders.get(word) ?? 1));
  const sizes = new Map<Placed, number>();
  const size = (test: Placed): number => {
    const known = sizes.get(test);
    if (known !== undefined) return known;
    let sum = 0;
    for (const [word, times] of wordsIn(test)) sum += weight(word) * times;
    sizes.set(test, sum);
    return sum;
  };
  return (a, b) => {
    let shared = 0;
    const other = wordsIn(b);
    for (const [word, times] of wordsIn(a))
      shared += weight(word) * Math.min(times, other.get(word) ?? 0);
    const all = size(a) + size(b);
    return all === 0 ? 0 : (2 * shared) / all;
  };
}
