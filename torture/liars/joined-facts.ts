/**
 * The facts of two agents in one: what each left differently from somebody who does plainly what
 * the phase says, in one tree. Where both have touched the same thing in ways that exclude each
 * other there is no such agent, and nobody is made up.
 */
import { isDeepStrictEqual } from "node:util";
import type { GateOutcome, TestCounts } from "../../src/core/plan/run-event.ts";
import type { Facts } from "../../src/core/verification/facts.ts";
import { DoesNotFit } from "./kind.ts";

/** All three in the same project, at the same phase. */
export function joinedFacts(plain: Facts, one: Facts, other: Facts): Facts {
  const by = <T>(pick: (facts: Facts) => readonly T[], key: (item: T) => string): T[] =>
    joinedLists(key, pick(plain), pick(one), pick(other));
  const text = (pick: (facts: Facts) => readonly string[]): string[] => by(pick, (each) => each);
  return {
    ...one,
    claim: joinedClaims(plain.claim, one.claim, other.claim),
    traces: joinedTraces(plain.traces, one.traces, other.traces),
    changes: by(
      ({ changes }) => changes,
      ({ path }) => path,
    ),
    there: new Set(text(({ there }) => [...there])),
    surface: by(
      ({ surface }) => surface,
      ({ name, file }) => `${name} ${file}`,
    ),
    toolsChanged: text(({ toolsChanged }) => toolsChanged),
    hooksChanged: text(({ hooksChanged }) => hooksChanged),
    tests: by(
      ({ tests }) => tests,
      ({ kind, file, test }) => `${kind} ${file} ${test}`,
    ),
    testsAdded: one.testsAdded + other.testsAdded - plain.testsAdded,
    unreadable: text(({ unreadable }) => unreadable),
    gates: plain.gates.map((gate) => joinedGates(gate, gateOf(one, gate), gateOf(other, gate))),
  };
}

/** What only one of them has changed is as he left it. */
function settled<T>(plain: T, one: T, other: T): T {
  if (isDeepStrictEqual(one, plain)) return other;
  if (isDeepStrictEqual(other, plain) || isDeepStrictEqual(one, other)) return one;
  throw new DoesNotFit("both have changed the same thing");
}

function joinedLists<T>(
  key: (item: T) => string,
  ...lists: readonly [plain: readonly T[], one: readonly T[], other: readonly T[]]
): T[] {
  const [plain, one, other] = lists.map((list) => new Map(list.map((item) => [key(item), item])));
  const keys = new Set(lists.flat().map(key));
  return [...keys].flatMap((at) => {
    const item = settled(plain?.get(at), one?.get(at), other?.get(at));
    return item === undefined ? [] : [item];
  });
}

type Claim = Facts["claim"];

function joinedClaims(plain: Claim, one: Claim, other: Claim): Claim {
  const field = <K extends keyof Claim>(name: K): Claim[K] =>
    settled(plain[name], one[name], other[name]);
  const files = joinedFiles(plain, one, other);
  const gates = field("gates");
  return {
    status: field("status"),
    tasksTotal: field("tasksTotal"),
    tasksCompleted: field("tasksCompleted"),
    message: field("message"),
    ...(gates && { gates }),
    ...(files && { files }),
  };
}

function joinedFiles(plain: Claim, one: Claim, other: Claim): Claim["files"] {
  const all = [plain.files, one.files, other.files] as const;
  if (!all[0] || !all[1] || !all[2]) return settled(...all);
  const list = (name: "created" | "modified" | "deleted"): string[] =>
    joinedLists((each) => each, all[0]?.[name] ?? [], all[1]?.[name] ?? [], all[2]?.[name] ?? []);
  return { created: list("created"), modified: list("modified"), deleted: list("deleted") };
}

type Traces = Facts["traces"];

function joinedTraces(plain: Traces, one: Traces, other: Traces): Traces {
  const names = ["history", "state", "plan", "leftOut", "ignored", "nested"] as const;
  const lists = names.flatMap((name) => {
    const list = joinedLists((each) => each, plain[name] ?? [], one[name] ?? [], other[name] ?? []);
    return list.length > 0 ? [[name, list] as const] : [];
  });
  const processes = (one.processes ?? 0) + (other.processes ?? 0);
  return { ...Object.fromEntries(lists), ...(processes > 0 && { processes }) };
}

// ── gates ──────────────────────────────────────────────────────────────────────────────────────

const gateOf = ({ gates }: Facts, { name }: GateOutcome): GateOutcome | undefined =>
  gates.find((gate) => gate.name === name);

/** A gate fails if either makes it fail; where both only add or take away tests, both count. */
function joinedGates(
  plain: GateOutcome,
  one: GateOutcome | undefined,
  other: GateOutcome | undefined,
): GateOutcome {
  if (!one || !other) throw new DoesNotFit(`${plain.name} is not run for both`);
  if (isDeepStrictEqual(verdictOf(one), verdictOf(plain))) return other;
  if (isDeepStrictEqual(verdictOf(other), verdictOf(plain))) return one;
  if (one.passed === false && other.passed === false) {
    const failures = [...new Set([...(one.failures ?? []), ...(other.failures ?? [])])];
    return { ...one, ...(failures.length > 0 && { failures }) };
  }
  if (one.passed !== other.passed || !plain.tests || !one.tests || !other.tests) {
    throw new DoesNotFit(`${plain.name} cannot say both`);
  }
  return { ...one, tests: joinedCounts(plain.tests, one.tests, other.tests) };
}

/** How long it took is in its summary, perhaps, and means nothing. */
const verdictOf = ({ passed, tests, failures, known, timedOut }: GateOutcome) => ({
  passed,
  tests,
  failures,
  known,
  timedOut,
});

function joinedCounts(plain: TestCounts, one: TestCounts, other: TestCounts): TestCounts {
  const count = (name: "passed" | "failed" | "skipped"): number =>
    one[name] + other[name] - plain[name];
  const counts = { ...one, passed: count("passed"), failed: count("failed") };
  const skipped = count("skipped");
  // Both have left out the same tests: how many that makes cannot be told from here.
  if (counts.passed < 0 || counts.failed < 0 || skipped < 0) {
    throw new DoesNotFit("fewer tests than none");
  }
  return { ...counts, skipped };
}
