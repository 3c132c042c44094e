/**
 * Which phases are under way and which could begin, kept up to date event by event: a run of ten
 * thousand phases must not look at all of them for each thing that happens.
 */
import { batchesOf } from "./graph.ts";
import type { PhaseProgress, PlanRun } from "./progress.ts";
import type { RunPhase } from "./run-event.ts";

export interface Readiness {
  /** Places of phases that are working, delivered or verified; ascending, like the others. */
  readonly active: readonly number[];
  /** Pending, and everything that they wait for is complete. */
  readonly ready: readonly number[];
  readonly complete: number;
  readonly failed: number;
}

interface Graph {
  readonly places: ReadonlyMap<string, number>;
  readonly behind: readonly number[][];
  readonly levels: readonly (readonly string[])[];
}

const graphs = new WeakMap<readonly RunPhase[], Graph>();

function graphOf(order: readonly RunPhase[]): Graph {
  const known = graphs.get(order);
  if (known) return known;
  const places = new Map(order.map(({ id }, at) => [id, at]));
  const behind: number[][] = order.map(() => []);
  for (const [at, { dependsOn }] of order.entries()) {
    for (const need of dependsOn) behind[places.get(need) ?? -1]?.push(at);
  }
  const graph = { places, behind, levels: batchesOf(order) };
  graphs.set(order, graph);
  return graph;
}

export const placeOf = (order: readonly RunPhase[], id: string): number | undefined =>
  graphOf(order).places.get(id);

/** The plan's batches, as `plan check` shows them. */
export const batchesIn = ({ order }: Pick<PlanRun, "order">): readonly (readonly string[])[] =>
  graphOf(order).levels;

type Phases = Pick<PlanRun, "order" | "phases">;

/** Everything, from the beginning. */
export function readinessOf(run: Phases): Readiness {
  const all = run.phases.map((_, at) => at);
  return {
    active: all.filter((at) => isActive(run.phases[at])),
    ready: all.filter((at) => isReady(run, at)),
    complete: run.phases.filter(isComplete).length,
    failed: run.phases.filter(hasFailed).length,
  };
}

/** After one phase has changed. */
export function readinessAfter(
  before: Readiness,
  run: Phases,
  at: number,
  was: PhaseProgress,
): Readiness {
  const now = run.phases[at];
  const complete = Number(now !== undefined && isComplete(now)) - Number(isComplete(was));
  const failed = Number(hasFailed(now)) - Number(hasFailed(was));
  let ready = member(before.ready, at, isReady(run, at));
  if (complete !== 0) {
    for (const each of graphOf(run.order).behind[at] ?? []) {
      ready = member(ready, each, isReady(run, each));
    }
  }
  return {
    active: member(before.active, at, isActive(now)),
    ready,
    complete: before.complete + complete,
    failed: before.failed + failed,
  };
}

export const isComplete = ({ state }: PhaseProgress): boolean =>
  state.is === "landed" || state.is === "skipped";

const isActive = (phase: PhaseProgress | undefined): boolean =>
  phase?.state.is === "working" ||
  phase?.state.is === "delivered" ||
  phase?.state.is === "verified";

const hasFailed = (phase: PhaseProgress | undefined): boolean => phase?.state.is === "failed";

const isReady = (run: Phases, at: number): boolean =>
  run.phases[at]?.state.is === "pending" && dependenciesMet(run, at);

export const dependenciesMet = ({ order, phases }: Phases, at: number): boolean =>
  order[at]?.dependsOn.every((need) => {
    const other = phases[placeOf(order, need) ?? -1];
    return other !== undefined && isComplete(other);
  }) ?? false;

/** The list with or without one place, in order; the same list if nothing changes. */
function member(list: readonly number[], place: number, belongs: boolean): readonly number[] {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] ?? 0) < place) low = middle + 1;
    else high = middle;
  }
  if ((list[low] === place) === belongs) return list;
  return belongs ? list.toSpliced(low, 0, place) : list.toSpliced(low, 1);
}
