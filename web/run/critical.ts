/** The chain that decides how long a run still takes: of what is not complete, by its estimates. */
import { criticalPathOf } from "../../src/core/plan/graph.ts";
import type { PlanRun } from "../../src/core/plan/progress.ts";
import { batchesIn, isComplete } from "../../src/core/plan/readiness.ts";
import { weightsOf } from "../../src/core/plan/time-left.ts";

/** Empty: nothing is left, or nothing waits for anything. */
export function criticalIn(run: PlanRun): readonly string[] {
  const weights = weightsOf(run);
  const open = run.order.flatMap(({ id, dependsOn }, at) => {
    const phase = run.phases[at];
    return phase && !isComplete(phase) ? [{ id, dependsOn, estimate: weights[at] ?? 1 }] : [];
  });
  const ids = new Set(open.map(({ id }) => id));
  const batches = batchesIn(run).map((batch) => batch.filter((id) => ids.has(id)));
  const path = criticalPathOf(open, batches);
  return path.length > 1 ? path : [];
}
