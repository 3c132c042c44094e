/**
 * From what an agent delivered to a commit that is ready to land: merged onto what has landed
 * meanwhile, with the plan ticked by us, checked by the gates as exactly that tree.
 */
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import { applyEdits, type Edit, phaseNamed, planEdits } from "../core/plan/edits.ts";
import type { Move } from "../core/plan/next-moves.ts";
import { commitMessage } from "../core/plan/phase-commit.ts";
import type { Item } from "../core/plan/plan.ts";
import { type Delivery, type PlanRun, phaseOf } from "../core/plan/progress.ts";
import type { RunEvent } from "../core/plan/run-event.ts";
import type { Performed } from "../core/plan/run-plan.ts";
import {
  type Change,
  changesBetween,
  commitTree,
  type Entry,
  merge,
  treeOf,
  treeWith,
  updateRefs,
  writeBlob,
} from "../git/objects.ts";
import { runGates } from "./run-gates.ts";
import { attemptRef, landedRef, type RunSite, refused } from "./run-site.ts";

type VerifyMove = Extract<Move, { do: "verify" | "land" }>;

export async function verifyPhase(
  site: RunSite,
  { phase, slot }: VerifyMove,
  run: PlanRun,
): Promise<Performed> {
  const state = phaseOf(run, phase)?.state;
  if (state?.is !== "delivered") throw new Error(`phase ${phase} has delivered nothing`);
  const events = await verify(site, phase, run, { ...state, slot });
  return events.ok ? { is: "done", events: events.value } : refused(events);
}

/**
 * One at a time. What was verified on top of another tip is merged and checked again first; the
 * verdict is on record before the ref moves, so that a crash in between finds the very commit.
 */
export async function landPhase(
  site: RunSite,
  { phase, slot }: VerifyMove,
  run: PlanRun,
): Promise<Performed> {
  const state = phaseOf(run, phase)?.state;
  if (state?.is !== "verified") throw new Error(`phase ${phase} is not verified`);
  const { attempt, check } = state;
  if (check.onto !== run.tip) {
    const again = await verify(site, phase, run, { ...state, slot });
    return again.ok ? { is: "done", events: again.value } : refused(again);
  }
  const landed = await updateRefs(site.git, [
    { ref: landedRef(run.id), to: check.commit },
    { ref: attemptRef(run.id, phase, attempt), to: null },
  ]);
  if (!landed.ok) return refused(landed);
  return { is: "done", events: [{ type: "phase-landed", phase, attempt, commit: check.commit }] };
}

async function verify(
  site: RunSite,
  phase: string,
  run: PlanRun,
  delivery: Delivery,
): Promise<Result<RunEvent[]>> {
  const { attempt, uuid, claim, slot } = delivery;
  const onto = run.tip;
  const planned = run.order.find(({ id }) => id === phase);
  if (!planned) return fail("no-such-phase", `there is no phase ${phase} in ${run.plan}`);
  const candidate = await candidateFor(site, phase, run, delivery);
  if (!candidate.ok) return candidate;
  if ("conflicts" in candidate.value) {
    const files = candidate.value.conflicts;
    return succeed([{ type: "attempt-conflicted", phase, attempt, files }]);
  }
  const { tree, ticks } = candidate.value;
  const message = commitMessage(claim.message, planned, { run: run.id, attempt: uuid });
  const commit = await commitTree(site.git, {
    tree,
    parent: onto,
    message,
    at: site.project.world.now(),
    by: site.identity,
  });
  if (!commit.ok) return commit;
  const changes = await changesBetween(site.git, onto, commit.value);
  if (!changes.ok) return changes;
  const checked = await runGates(site, run, { phase, slot, commit: commit.value });
  if (!checked.ok) return checked;
  const { error, stopped } = checked.value;
  const gates = [...checked.value.gates];
  // It stays delivered: the next session checks it, and no agent has to work again.
  if (stopped) return succeed([]);
  if (error) {
    return succeed([{ type: "attempt-failed", phase, attempt, error: { ...error }, gates, claim }]);
  }
  return succeed([
    {
      type: "phase-verified",
      phase,
      attempt,
      onto,
      commit: commit.value,
      message,
      ...filesOf(changes.value, run),
      gates,
      planFrom: planKey(run),
      ...ticks,
    },
  ]);
}

/** The plan's own file is ours: a phase is not said to have changed it. */
function filesOf(
  changes: readonly Change[],
  run: PlanRun,
): { created: string[]; modified: string[]; deleted: string[] } {
  const own = changes.filter(({ path: file }) => run.planFiles[file] === undefined);
  const paths = (is: (change: Change) => boolean): string[] =>
    own.filter(is).map((each) => each.path);
  return {
    created: paths(({ old }) => old === null),
    modified: paths(({ old, now }) => old !== null && now !== null),
    deleted: paths(({ now }) => now === null),
  };
}

interface Ticks {
  readonly tasksChecked: number;
  readonly doneChecked: number;
  readonly statusUpdated: boolean;
}

async function candidateFor(
  site: RunSite,
  phase: string,
  run: PlanRun,
  delivery: Delivery,
): Promise<Result<{ tree: string; ticks: Ticks } | { conflicts: string[] }>> {
  const merged = await mergedTree(site, run.tip, delivery);
  if (!merged.ok) return merged;
  if ("conflicts" in merged.value) return succeed(merged.value);
  const ticked = await tickedPlan(site, phase, run);
  if (!ticked.ok) return ticked;
  const index = path.join(site.folders.scratch, `${run.id}-index-${delivery.slot}`);
  const tree = await treeWith(site.git, merged.value.tree, ticked.value.entries, index);
  return tree.ok ? succeed({ tree: tree.value, ticks: ticked.value.ticks }) : tree;
}

async function mergedTree(
  site: RunSite,
  tip: string,
  { base, commit }: Delivery,
): Promise<Result<{ tree: string } | { conflicts: string[] }>> {
  if (base !== tip) return merge(site.git, tip, commit);
  const tree = await treeOf(site.git, commit);
  return tree.ok ? succeed({ tree: tree.value }) : tree;
}

/** The plan as it stands once this phase has landed too. */
async function tickedPlan(
  site: RunSite,
  phase: string,
  run: PlanRun,
): Promise<Result<{ entries: Map<string, Entry>; ticks: Ticks }>> {
  const planned = phaseNamed(site.plan().compiled.plan, phase);
  const ticks: Ticks = {
    tasksChecked: unticked(planned?.tasks ?? []),
    doneChecked: unticked(planned?.definitionOfDone ?? []),
    statusUpdated: ticksOf(site, phase).length > 0,
  };
  const entries = new Map<string, Entry>();
  if (run.planOutside) return succeed({ entries, ticks });
  const done = [...run.landed.map((landing) => landing.phase), phase];
  for (const [file, text] of plansWith(site, run, done)) {
    const blob = await writeBlob(site.git, Buffer.from(text));
    if (!blob.ok) return blob;
    entries.set(file, { mode: "100644", blob: blob.value });
  }
  return succeed({ entries, ticks });
}

/** Which reading of the plan it is. */
export const planKey = ({ planFiles }: PlanRun): string => Object.values(planFiles).join(" ");

/** The plan's files as they were read, with these phases ticked. */
export function plansWith(
  site: RunSite,
  run: PlanRun,
  phases: readonly string[],
): Map<string, string> {
  const all = phases.flatMap((id) => ticksOf(site, id));
  return new Map(
    site
      .plan()
      .sources.filter(({ file }) => run.planFiles[file] !== undefined)
      .map(({ file, text }) => {
        const edits = all.filter((edit) => edit.file === file);
        return [file, applyEdits(text, once(edits))];
      }),
  );
}

const unticked = (items: readonly Item[]): number =>
  items.filter(({ box, done, optional }) => box !== undefined && !done && !optional).length;

const known = new WeakMap<object, Map<string, readonly Edit[]>>();

/** What ticking a phase changes in the plan as it was read; worked out once. */
function ticksOf(site: RunSite, phase: string): readonly Edit[] {
  const { sources, compiled } = site.plan();
  const cache = known.get(compiled) ?? new Map<string, readonly Edit[]>();
  known.set(compiled, cache);
  const done = cache.get(phase);
  if (done) return done;
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  const edits = planEdits(
    compiled.plan,
    [{ phase, boxes: "tick", status: "complete" }],
    ({ file, from, to }) => (texts.get(file) ?? "").slice(from, to),
  );
  const found = edits.ok ? edits.value : [];
  cache.set(phase, found);
  return found;
}

/** Two phases may share a place (a range in one cell): the later word counts. */
const once = (edits: readonly Edit[]): Edit[] => [
  ...new Map(edits.map((edit) => [edit.from, edit])).values(),
];
