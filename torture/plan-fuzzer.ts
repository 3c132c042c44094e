/** The work of the row fuzz-plans, in a program of its own: it can be bundled with a bug in it. */
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import type { CompiledPlan } from "../src/core/plan/compile.ts";
import { applyEdits, type PhaseChange, planEdits } from "../src/core/plan/edits.ts";
import { phaseStatuses } from "../src/core/plan/plan.ts";
import type { KnownStatus } from "../src/core/plan/status.ts";
import { readPlan } from "../src/formats/read-plan.ts";
import { generate, grown, loadCorpus, pick, type Sources } from "./plan-generator.ts";
import { compareBoxes, compareInPieces, compareLineEnds } from "./plan-gfm.ts";
import {
  checkChange,
  checkPlaces,
  type Edited,
  isProblem,
  orderOf,
  type Problem,
  rawOf,
} from "./plan-oracle.ts";
import { again, type Context, type Random, randomFrom } from "./rig.ts";

/** Far beyond what any document of this size needs. */
const slowMs = 200;

/** What a worker is told: its share of the documents. */
export interface Share {
  readonly context: Pick<Context, "tier" | "seed" | "onlyCase">;
  readonly documents: number;
  readonly comparisons: number;
  readonly lane: number;
  readonly lanes: number;
}

export interface Found {
  readonly tally: Tally;
  /** By kind: the first of them, and how many there are. */
  readonly failures: ReadonlyMap<string, { readonly first: string; readonly times: number }>;
}

export interface Tally {
  documents: number;
  read: number;
  refused: number;
  phases: number;
  boxes: number;
  changes: number;
  edits: number;
  restored: number;
  slowest: number;
  compared: number;
  agreed: number;
  /** Differences from the other parser, by the reason for them. */
  readonly explained: Map<string, number>;
}

type Check = (sources: Sources, tally: Tally) => Problem | undefined;

/** After this many kinds of failure there is enough to do. */
const most = 20;

const nothing = (): Tally => ({
  documents: 0,
  read: 0,
  refused: 0,
  phases: 0,
  boxes: 0,
  changes: 0,
  edits: 0,
  restored: 0,
  slowest: 0,
  compared: 0,
  agreed: 0,
  explained: new Map(),
});

export function fuzzPlans({ context, documents, comparisons, lane, lanes }: Share): Found {
  const tally = nothing();
  const failures = new Map<string, { first: string; times: number }>();
  const corpus = loadCorpus();
  const first = context.seed * 10_000_019;
  const isMine = (n: number, name: string): boolean =>
    context.onlyCase === undefined
      ? Math.floor(n / 50) % lanes === lane
      : context.onlyCase === name && lane === 0;
  const judge = (name: string, sources: Sources, check: Check): void => {
    const found = caught(check, sources, tally);
    if (!found) return;
    const known = failures.get(found.kind);
    if (known) known.times++;
    else
      failures.set(found.kind, { first: report(context, name, sources, check, found), times: 1 });
  };
  for (let n = 0; n < documents && failures.size < most; n++) {
    if (!isMine(n, `plan-${n}`)) continue;
    tally.documents++;
    const seed = first + n;
    judge(`plan-${n}`, generate(seed, corpus), (sources, counts) =>
      checkPlan(sources, seed, counts),
    );
  }
  for (let n = 0; n < comparisons && failures.size < most; n++) {
    if (!isMine(n, `gfm-${n}`)) continue;
    tally.compared++;
    judge(`gfm-${n}`, grown(first + n, "markdown"), ([source], counts) =>
      source ? compare(source.text, counts) : undefined,
    );
  }
  return { tally, failures };
}

/** With the other parser, and with itself under other line ends and in pieces. */
function compare(text: string, tally: Tally): Problem | undefined {
  const { agreed, reasons, problem } = compareBoxes(text);
  tally.agreed += agreed;
  for (const reason of reasons) {
    tally.explained.set(reason, (tally.explained.get(reason) ?? 0) + 1);
  }
  return problem ?? compareLineEnds(text) ?? compareInPieces(text);
}

function caught(check: Check, sources: Sources, tally: Tally): Problem | undefined {
  try {
    return check(sources, tally);
  } catch (error) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const [said = "", ...at] = stack.split("\n");
    return { kind: `it threw ${said.slice(0, 80)}`, said: at.slice(0, 4).join(" / ") };
  }
}

// ── one document ───────────────────────────────────────────────────────────────────────────────

function checkPlan(sources: Sources, seed: number, tally: Tally): Problem | undefined {
  for (const { text } of sources) {
    const problem = compareInPieces(text);
    if (problem) return problem;
  }
  const began = performance.now();
  const read = readPlan(sources);
  const took = performance.now() - began;
  // A slow one is measured again: others use this machine, too.
  const best = took > slowMs / 4 ? Math.min(took, timed(sources), timed(sources)) : took;
  tally.slowest = Math.max(tally.slowest, best);
  if (best > slowMs && Math.min(timed(sources), timed(sources), timed(sources)) > slowMs) {
    return { kind: "slow", said: `${Math.round(best)} ms for ${sizeOf(sources)} characters` };
  }
  if (!read.ok) {
    tally.refused++;
    return undefined;
  }
  tally.read++;
  const { plan } = read.value;
  tally.phases += plan.phases.length;
  tally.boxes += plan.boxes.total;
  return checkPlaces(plan, sources) ?? checkEdits(read.value, sources, randomFrom(seed, 3), tally);
}

function timed(sources: Sources): number {
  const began = performance.now();
  readPlan(sources);
  return performance.now() - began;
}

const sizeOf = (sources: Sources): number =>
  sources.reduce((sum, { text }) => sum + text.length, 0);

const known = phaseStatuses.filter((status): status is KnownStatus => status !== "unknown");

/** What is ticked when a phase ends, and what is not when it starts over. */
const alongWith: Partial<Record<KnownStatus, Pick<PhaseChange, "boxes">>> = {
  complete: { boxes: "tick" },
  pending: { boxes: "untick" },
};

function checkEdits(
  before: CompiledPlan,
  sources: Sources,
  random: Random,
  tally: Tally,
): Problem | undefined {
  const { phases } = before.plan;
  // Of phases with the same id only the first can be named.
  const named = phases.filter((phase, at) => phases.findIndex(({ id }) => id === phase.id) === at);
  // Reading is cheap; what is edited is read again.
  if (named.length === 0 || random.chance(0.4)) return undefined;
  const chosen = random.shuffled(named).slice(0, random.chance(0.8) ? 1 : 3);
  const make = (change: Omit<PhaseChange, "phase">): PhaseChange[] =>
    chosen.map(({ id }) => ({ phase: id, ...change }));
  const only = random.chance(0.8) ? {} : { only: pick(random, ["tasks", "done"] as const) };
  const boxes = random.chance(0.7) ? "tick" : "untick";
  const isStated = chosen.some(({ statuses }) => statuses.length > 0);
  if (!isStated || random.chance(0.6)) {
    const problem = ticking(before, sources, make({ boxes, ...only }), tally);
    if (problem || !isStated || random.chance(0.6)) return problem;
  }
  // Each status is written in its own way: all of them, now and then.
  const statuses = random.chance(0.1) ? known : [pick(random, known)];
  for (const status of statuses) {
    const found = twice(
      before,
      sources,
      make({ status, ...(random.chance(0.3) ? alongWith[status] : {}) }),
      tally,
    );
    if (found) return found;
  }
  return undefined;
}

/** Ticked and unticked again, everything is as it was, if all boxes were open. */
function ticking(
  before: CompiledPlan,
  sources: Sources,
  changes: readonly PhaseChange[],
  tally: Tally,
): Problem | undefined {
  const [first] = changes;
  if (first?.boxes !== "tick") return twice(before, sources, changes, tally);
  const ticked = checkChange(before, sources, changes);
  tally.changes++;
  if (isProblem(ticked)) return ticked;
  tally.edits += ticked.edits.length;
  const repeated = repeating(ticked, changes);
  if (repeated) return repeated;
  if (ticked.edits.length === 0) return undefined;
  const wereOpen = ticked.edits.every(({ file, from, to }) => {
    const old = sources.find((source) => source.file === file)?.text.slice(from, to);
    return old === " " || old === "pending";
  });
  const touched = new Set(ticked.edits.map(({ file, from }) => `${file} ${from}`));
  const isAll = changes.every(({ phase: id, only }) => {
    const phase = before.plan.phases.find((each) => each.id === id);
    const items = [
      ...(only === "done" ? [] : (phase?.tasks ?? [])),
      ...(only === "tasks" ? [] : (phase?.definitionOfDone ?? [])),
    ];
    const places = items.flatMap(({ box, optional }) => (box && !optional ? [box] : []));
    if (phase?.box && only === undefined) places.push(phase.box);
    return places.every(({ file, from }) => touched.has(`${file} ${from}`));
  });
  if (!wereOpen || !isAll) return undefined;
  const back = planEdits(
    ticked.compiled.plan,
    changes.map((change) => ({ ...change, boxes: "untick" as const })),
    rawOf(ticked.sources),
  );
  if (!back.ok) return { kind: "change refused", said: back.failure.message };
  tally.changes++;
  tally.edits += back.value.length;
  tally.restored++;
  const isSame = ticked.sources.every(({ file, text }, at) => {
    const restored = applyEdits(
      text,
      back.value.filter((edit) => edit.file === file),
    );
    return Buffer.from(restored).equals(Buffer.from(sources[at]?.text ?? ""));
  });
  return isSame
    ? undefined
    : { kind: "tick and untick is not what it was", said: JSON.stringify(back.value.slice(0, 3)) };
}

function twice(
  before: CompiledPlan,
  sources: Sources,
  changes: readonly PhaseChange[],
  tally: Tally,
): Problem | undefined {
  const changed = checkChange(before, sources, changes);
  tally.changes++;
  if (isProblem(changed)) return changed;
  tally.edits += changed.edits.length;
  return repeating(changed, changes);
}

/** The same change once more has nothing left to do. */
function repeating(
  { compiled, sources }: Edited,
  changes: readonly PhaseChange[],
): Problem | undefined {
  const more = planEdits(compiled.plan, changes, rawOf(sources));
  if (more.ok && more.value.length === 0) return undefined;
  const said = more.ok ? JSON.stringify(more.value.slice(0, 3)) : more.failure.message;
  return { kind: "not idempotent", said: `the second time ${said} (${orderOf(changes)})` };
}

// ── reports ────────────────────────────────────────────────────────────────────────────────────

function report(
  context: Share["context"],
  name: string,
  sources: Sources,
  check: Check,
  found: Problem,
): string {
  const small = shrunk(sources, (each) => caught(check, each, nothing())?.kind === found.kind);
  const { said } = caught(check, small, nothing()) ?? found;
  const shown = small.map(({ file, text }) => `${file}: ${JSON.stringify(text)}`).join("\n      ");
  return `${name}: ${said}\n      ${shown}\n      ${again(context, "fuzz-plans", name)}`;
}

const patienceMs = 2500;

/** Lines that are not needed go, then characters, as long as it fails in the same way. */
function shrunk(sources: Sources, fails: (sources: Sources) => boolean): Sources {
  const until = performance.now() + patienceMs;
  const attempt = (at: number, text: string, from: Sources): Sources | undefined => {
    if (performance.now() > until) return undefined;
    const next = from.map((source, index) => (index === at ? { ...source, text } : source));
    return fails(next) ? next : undefined;
  };
  const without = (from: Sources, at: number, cut: (text: string) => string[]): Sources => {
    let best = from;
    for (
      let size = Math.ceil(cut(best[at]?.text ?? "").length / 2);
      size >= 1;
      size = size === 1 ? 0 : Math.ceil(size / 2)
    ) {
      for (let start = 0; start < cut(best[at]?.text ?? "").length; ) {
        const parts = cut(best[at]?.text ?? "");
        const smaller = attempt(at, parts.toSpliced(start, size).join(""), best);
        if (smaller) best = smaller;
        else start += size;
      }
    }
    return best;
  };
  const lines = (text: string): string[] => text.split(/(?<=\r\n|\n|\r(?!\n))/u);
  const characters = (text: string): string[] => (text.length > 3000 ? [] : Array.from(text));
  let best = sources;
  for (const cut of [lines, lines, characters, characters]) {
    for (let at = 0; at < best.length; at++) best = without(best, at, cut);
  }
  return best;
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
if (!isMainThread && parentPort) parentPort.postMessage(fuzzPlans(workerData as Share));
