/** A plan as a run sees it: which phases there are, what each asks for, what has changed. */
import type { CompiledPlan } from "./compile.ts";
import { isOver } from "./compile.ts";
import type { Phase } from "./plan.ts";
import { isComplete, type PlanRun, phaseOf } from "./progress.ts";
import type { RunPhase } from "./run-event.ts";

/** `anew`: what the plan says is done is done again. */
export const runPhases = (
  { plan, batches }: CompiledPlan,
  hash: (text: string) => string,
  anew = false,
): RunPhase[] => {
  const level = new Map(batches.flatMap((batch, index) => batch.map((id) => [id, index] as const)));
  const inOrder = [...plan.phases].sort((a, b) => (level.get(a.id) ?? 0) - (level.get(b.id) ?? 0));
  return inOrder.map((phase) => ({
    id: phase.id,
    written: phase.written,
    name: phase.name,
    dependsOn: [...phase.dependsOn],
    parallelWith: [...phase.parallelWith],
    tasks: phase.tasks.length,
    ...(phase.estimate !== undefined && { estimate: phase.estimate }),
    asks: hash(askedOf(phase)).slice(0, 16),
    ...(isOver(phase) && !anew && { skipped: `${phase.status} in the plan before the run` }),
  }));
};

/** What a phase asks for, whatever is ticked in it. */
function askedOf(phase: Phase): string {
  const told = new Set(
    phase.statuses.flatMap(({ place }) =>
      phase.section && place.file === phase.section.file ? [place.line - phase.section.line] : [],
    ),
  );
  const lines = phase.text
    .split(/\r\n|[\r\n]/)
    .filter((_, index) => !told.has(index))
    .map((line) => line.replace(/\[[ xX~-]\]/g, "[ ]").trimEnd());
  return JSON.stringify([phase.name, phase.dependsOn, lines]);
}

/** What people changed in the plan since the run read it, and what that means; empty: nothing. */
export function planChanges(run: PlanRun, now: readonly RunPhase[]): string[] {
  const before = new Map(run.order.map((phase) => [phase.id, phase]));
  const after = new Map(now.map((phase) => [phase.id, phase]));
  const said: string[] = [];
  for (const phase of now) {
    const old = before.get(phase.id);
    if (!old) {
      said.push(`phase ${phase.written} was added: it will be run`);
      continue;
    }
    if (old.name !== phase.name) {
      said.push(`phase ${phase.written} was renamed: “${old.name}” is “${phase.name}” now`);
    }
    const state = phaseOf(run, phase.id);
    const done = state !== undefined && isComplete(state);
    const needs = phase.dependsOn.filter((id) => !old.dependsOn.includes(id));
    const unmet = needs.filter((id) => {
      const other = phaseOf(run, id);
      return !other || !isComplete(other);
    });
    if (done && unmet.length > 0) {
      said.push(
        `phase ${phase.written} is complete, but now waits for ${unmet.join(", ")}: it stays complete`,
      );
    } else if (needs.length > 0 || old.dependsOn.some((id) => !phase.dependsOn.includes(id))) {
      said.push(`phase ${phase.written} waits for ${phase.dependsOn.join(", ") || "nothing"} now`);
    } else if (old.asks !== phase.asks && old.name === phase.name) {
      said.push(
        done
          ? `phase ${phase.written} asks for something else now, but is complete: it stays so`
          : `phase ${phase.written} asks for something else now`,
      );
    }
  }
  for (const old of run.order) {
    if (after.has(old.id)) continue;
    const landed = phaseOf(run, old.id)?.state.is === "landed";
    said.push(
      `phase ${old.written} was removed${landed ? ": its commit stays" : ": it will not be run"}`,
    );
  }
  return said;
}
