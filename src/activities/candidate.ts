/**
 * The tree that would be committed: what the agent left, merged onto what has landed meanwhile,
 * with the plan ticked by us.
 */
import { type Result, succeed } from "../core/failure.ts";
import { applyEdits, type Edit, phaseNamed, planEdits } from "../core/plan/edits.ts";
import type { Item } from "../core/plan/plan.ts";
import type { Delivery, PlanRun } from "../core/plan/progress.ts";
import { placeWhenDone } from "../core/plan/task-folder.ts";
import { merge, treeOf, writeBlob } from "../git/objects.ts";
import { type Entry, treeWith } from "../git/trees.ts";
import type { RunSite } from "./run-site.ts";

export interface Ticks {
  readonly tasksChecked: number;
  readonly doneChecked: number;
  readonly statusUpdated: boolean;
}

export async function candidateFor(
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
  const tree = await treeWith(site.git, merged.value.tree, ticked.value.entries);
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
): Promise<Result<{ entries: Map<string, Entry | null>; ticks: Ticks }>> {
  const planned = phaseNamed(site.plan().compiled.plan, phase);
  const ticks: Ticks = {
    tasksChecked: unticked(planned?.tasks ?? []),
    doneChecked: unticked(planned?.definitionOfDone ?? []),
    statusUpdated: ticksOf(site, phase).length > 0,
  };
  const entries = new Map<string, Entry | null>();
  if (run.planOutside) return succeed({ entries, ticks });
  const done = [...run.landed.map((landing) => landing.phase), phase];
  for (const [file, text] of plansWith(site, run, done)) {
    if (text === null) {
      entries.set(file, null);
      continue;
    }
    const blob = await writeBlob(site.git, Buffer.from(text));
    if (!blob.ok) return blob;
    entries.set(file, { mode: "100644", blob: blob.value });
  }
  return succeed({ entries, ticks });
}

/** Which reading of the plan it is. */
export const planKey = ({ planFiles }: PlanRun): string => Object.values(planFiles).join(" ");

/** The plan's files as they were read, with these phases ticked; null: it has been moved away. */
export function plansWith(
  site: RunSite,
  run: PlanRun,
  phases: readonly string[],
): Map<string, string | null> {
  const all = phases.flatMap((id) => ticksOf(site, id));
  const moved = movedBy(site, run, phases);
  return new Map(
    site
      .plan()
      .sources.filter(({ file }) => run.planFiles[file] !== undefined)
      .flatMap(({ file, text }): [string, string | null][] => {
        const edits = all.filter((edit) => edit.file === file);
        const ticked = applyEdits(text, once(edits));
        const to = moved.get(file);
        return to === undefined
          ? [[file, ticked]]
          : [
              [file, null],
              [to, ticked],
            ];
      }),
  );
}

/** Which files lie elsewhere once these phases have landed, and where. */
export function movedBy(
  site: RunSite,
  run: PlanRun,
  phases: readonly string[],
): Map<string, string> {
  const { plan } = site.plan().compiled;
  return new Map(
    phases.flatMap((id): [string, string][] => {
      const file = phaseNamed(plan, id)?.section?.file;
      const to = file === undefined ? undefined : placeWhenDone(run.format, file);
      return file === undefined || to === undefined || to === file ? [] : [[file, to]];
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
