/**
 * Two people tick phases of one plan, each on a branch, and git merges the document. A conflict that
 * is left open in it is refused; else what both have ticked is ticked, and nothing else is.
 */

import { isOver } from "../src/core/plan/compile.ts";
import { applyEdits, planEdits } from "../src/core/plan/edits.ts";
import { readPlan } from "../src/formats/read-plan.ts";
import { isConflicted, mergeFile, strategies } from "./merge-files.ts";
import type { MergeShare, MergeTally } from "./merge-flows.ts";
import { type Random, randomFrom } from "./rig.ts";

const file = "plan.md";

export function mergePlans(
  { seed, folder }: Pick<MergeShare, "seed" | "folder">,
  index: number,
  tally: Pick<MergeTally, "plans" | "conflicts" | "phases compared">,
): string[] {
  const random = randomFrom(seed, index, 12);
  tally.plans++;
  const count = random.between(2, 9);
  const ids = Array.from({ length: count }, (_, at) => `${at + 1}`);
  const first = ticked(planOf(ids, random), some(ids, random, 0.2));
  const [ours, theirs] = [some(ids, random, 0.4), some(ids, random, 0.4)];
  const texts = { base: first, ours: ticked(first, ours), theirs: ticked(first, theirs) };
  const by = strategies[random.below(strategies.length)] ?? "default";
  const text = mergeFile(folder, texts, by);
  const read = readPlan([{ file, text }]);
  if (isConflicted(text)) {
    tally.conflicts++;
    return read.ok || read.failure.line === undefined
      ? [`a conflict in a plan is read: ${by}`]
      : [];
  }
  // Rows that both have written are there twice: what that means is said, or nothing is.
  if (!read.ok) return by === "union" ? [] : [`a merged plan is refused: ${read.failure.message}`];
  if (by === "union") return [];
  const [done, before] = [doneIn(text), doneIn(first)];
  const wrong: string[] = [];
  for (const id of ids) {
    tally["phases compared"]++;
    const [a, b] = [ours, theirs].map((each) => each.includes(id));
    const should = before.has(id) || a || b;
    const isEither = by === "ours" || by === "theirs";
    if (done.has(id) && !should) wrong.push(`a phase is done by nobody: ${id} (${by})`);
    // Whoever prefers one side may lose what stands beside its lines on the other, but never both's.
    const must = isEither ? before.has(id) || (a && b) : should;
    if (!done.has(id) && must) wrong.push(`a done phase is open again: ${id} (${by})`);
  }
  return wrong;
}

const some = (ids: readonly string[], random: Random, share: number): string[] =>
  ids.filter(() => random.chance(share));

/** With a table of them, whose rows stand side by side, or without. */
function planOf(ids: readonly string[], random: Random): string {
  const table = [
    "| Phase | Name | Depends On | Parallel With | Estimate | Status |",
    "|---|---|---|---|---|---|",
    ...ids.map((id) => `| ${id} | Part ${id} | - | - | 1 | ⬜ |`),
    "",
  ];
  const sections = ids.map(
    (id) =>
      `### Phase ${id}: Part ${id}\n\n#### Tasks\n\n- [ ] Do it\n- [ ] Look at it\n\nWords about it.\n\n#### Definition of Done\n\n- [ ] It is there\n`,
  );
  const head = random.chance(0.3) ? table : [];
  return ["# A plan", "", ...head, ...sections].join("\n");
}

function ticked(text: string, ids: readonly string[]): string {
  const read = readPlan([{ file, text }]);
  if (!read.ok) throw new Error(read.failure.message);
  const changes = ids.map((phase) => ({
    phase,
    boxes: "tick" as const,
    status: "complete" as const,
  }));
  const edits = planEdits(read.value.plan, changes, ({ from, to }) => text.slice(from, to));
  if (!edits.ok) throw new Error(edits.failure.message);
  return applyEdits(text, edits.value);
}

function doneIn(text: string): Set<string> {
  const read = readPlan([{ file, text }]);
  if (!read.ok) throw new Error(read.failure.message);
  return new Set(read.value.plan.phases.filter(isOver).map(({ id }) => id));
}
