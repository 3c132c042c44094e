/**
 * How long a run will still take, if it goes on as it went: what has landed tells how long a point
 * takes, and the rest of the plan is walked through with so many at once, each phase after those
 * that it waits for. A guess, but one that knows the longest chain; nothing has landed, no guess.
 */
import { momentOf } from "./moment.ts";
import type { PlanRun } from "./progress.ts";
import { batchesIn, isComplete, placeOf } from "./readiness.ts";
import type { RunWatch } from "./run-watch.ts";

/** What a phase weighs: its estimate; without one, as much as the others on average. */
export function weightsOf({ order }: Pick<PlanRun, "order">): number[] {
  const known = order.flatMap(({ estimate = 0 }) => (estimate > 0 ? [estimate] : []));
  const usual = known.length === 0 ? 1 : known.reduce((a, b) => a + b, 0) / known.length;
  return order.map(({ estimate = 0 }) => (estimate > 0 ? estimate : usual));
}

/** Milliseconds; undefined: nothing is known yet, or nothing is left. */
export function timeLeft(
  run: PlanRun,
  watch: RunWatch,
  now: number,
  { weights, isLeftOut }: { weights: readonly number[]; isLeftOut(at: number): boolean },
): number | undefined {
  const pace = paceOf(run, watch, weights);
  if (pace === undefined) return undefined;
  const left = (at: number): number => {
    const whole = (weights[at] ?? 1) * pace;
    const since = watch.times.get(run.phases[at]?.id ?? "")?.since;
    // Who takes longer than expected will be done soon, as far as anybody knows.
    return since === undefined ? whole : Math.max(whole - (now - since), whole / 10);
  };
  return walked(run, now, Math.max(1, watch.jobs), left, isLeftOut);
}

/** Milliseconds for a point, by what has landed. */
function paceOf(run: PlanRun, watch: RunWatch, weights: readonly number[]): number | undefined {
  let [time, weight] = [0, 0];
  for (const [at, { id, state }] of run.phases.entries()) {
    const took = state.is === "landed" ? watch.times.get(id)?.took : undefined;
    if (took === undefined) continue;
    time += took;
    weight += weights[at] ?? 1;
  }
  return weight === 0 ? undefined : time / weight;
}

/** Whoever is under way goes first, then batch by batch: the order in which phases begin, nearly. */
function walked(
  run: PlanRun,
  now: number,
  jobs: number,
  left: (at: number) => number,
  isLeftOut: (at: number) => boolean,
): number | undefined {
  const ends = run.phases.map(() => 0);
  const places: number[] = Array.from({ length: jobs }, () => 0);
  const underWay = new Set(run.readiness.active);
  const inOrder = [
    ...run.readiness.active,
    ...batchesIn(run)
      .flat()
      .map((id) => placeOf(run.order, id) ?? -1)
      .filter((at) => !underWay.has(at)),
  ];
  let last: number | undefined;
  for (const at of inOrder) {
    const phase = run.phases[at];
    if (!phase || isComplete(phase) || isLeftOut(at)) continue;
    const needs = run.order[at]?.dependsOn ?? [];
    const { notBefore = "" } = phase.state.is === "pending" ? phase.state : {};
    const earliest = Math.max(
      (momentOf(notBefore) ?? now) - now,
      ...needs.map((need) => ends[placeOf(run.order, need) ?? -1] ?? 0),
    );
    let free = 0;
    for (let place = 1; place < jobs; place++) {
      if ((places[place] ?? 0) < (places[free] ?? 0)) free = place;
    }
    const end = Math.max(earliest, places[free] ?? 0) + left(at);
    ends[at] = end;
    places[free] = end;
    last = Math.max(last ?? 0, end);
  }
  return last;
}
