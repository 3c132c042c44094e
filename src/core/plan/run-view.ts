/**
 * A run as somebody sees it who glances at it: is it all right, what is it doing, how long still.
 * Everything that a display shows, as values; how it looks is up to the display. Names and lines
 * are other people's text: to be made safe before they are shown.
 */
import { failureLines } from "./failure-lines.ts";
import { momentOf } from "./moment.ts";
import {
  blockers,
  isChecked,
  isComplete,
  type PhaseProgress,
  type PlanRun,
  type RunEnd,
} from "./progress.ts";
import { placeOf } from "./readiness.ts";
import type { Spend } from "./run-news.ts";
import { addSpend, type OpenQuestion, type RunWatch } from "./run-watch.ts";
import { timeLeft, weightsOf } from "./time-left.ts";

export type PhaseStage =
  /** Not all that it waits for is complete. */
  | { readonly is: "waiting"; readonly for: readonly string[] }
  /** It could begin; the places are taken. */
  | { readonly is: "ready" }
  /** An attempt has failed, the next is to come. */
  | { readonly is: "retrying"; readonly message: string }
  | { readonly is: "working" }
  | { readonly is: "checking"; readonly gate?: string }
  | { readonly is: "landing"; readonly gate?: string }
  | { readonly is: "complete"; readonly commit: string; readonly unverified: boolean }
  | { readonly is: "skipped"; readonly reason: string }
  | { readonly is: "failed"; readonly message: string; readonly lines: readonly string[] }
  | { readonly is: "blocked"; readonly by: string }
  | { readonly is: "parked"; readonly until: string }
  /** Not among those that were chosen. */
  | { readonly is: "left-out" };

export interface PhaseView {
  readonly id: string;
  /** As the plan writes the id. */
  readonly written: string;
  readonly name: string;
  readonly stage: PhaseStage;
  /** Which of its attempts; those that were not its fault are not counted. */
  readonly attempt: number;
  readonly of: number;
  /** Under way: of this attempt. Complete: of all. Milliseconds. */
  readonly elapsed?: number;
  /** The last line that its agent or its gate printed. */
  readonly activity?: string;
  readonly spend?: Spend;
}

export interface RunView {
  readonly id: string;
  readonly title: string;
  readonly plan: string;
  /** Weights: points where the plan has estimates. */
  readonly bar: { readonly complete: number; readonly active: number; readonly total: number };
  readonly complete: number;
  readonly total: number;
  /** Milliseconds in which a session was at work. */
  readonly elapsed: number;
  /** Absent: nothing is known yet. */
  readonly left?: number;
  /** Absent: no agent has said anything about it. */
  readonly spend?: Spend;
  /** What goes on before the first phase begins. */
  readonly baseline?: string;
  readonly phases: readonly PhaseView[];
  readonly asking: readonly OpenQuestion[];
  readonly ended?: RunEnd;
}

/** `now`: milliseconds since 1970, by the clock that dates the events. */
export function viewRun(run: PlanRun, watch: RunWatch, now: number): RunView {
  const blocked = blockers(run);
  const weights = weightsOf(run);
  const isLeftOut = (at: number): boolean => {
    const { id = "", state } = run.phases[at] ?? {};
    const chosen =
      watch.only === undefined || watch.only.has(id) || run.readiness.active.includes(at);
    return !chosen || state?.is === "failed" || blocked.has(id);
  };
  const phases = run.phases.map((phase, at) => viewPhase(run, watch, now, { phase, at, blocked }));
  const weigh = (places: readonly number[]): number =>
    places.reduce((all, at) => all + (weights[at] ?? 0), 0);
  const all = run.phases.map((_, at) => at);
  const ended = run.ended !== undefined;
  const left = ended ? undefined : timeLeft(run, watch, now, { weights, isLeftOut });
  const spend = Object.values(watch.spend).reduce<Spend | undefined>(addSpend, undefined);
  return {
    id: run.id,
    title: run.title,
    plan: run.plan,
    bar: {
      complete: weigh(all.filter((at) => run.phases[at] && isComplete(run.phases[at]))),
      active: weigh(run.readiness.active),
      total: weigh(all),
    },
    complete: run.readiness.complete,
    total: run.phases.length,
    elapsed: watch.worked + (watch.since === undefined ? 0 : Math.max(0, now - watch.since)),
    ...(left !== undefined && { left }),
    ...(spend && { spend }),
    ...(watch.baseline !== undefined && { baseline: watch.baseline }),
    phases,
    asking: watch.asking,
    ...(run.ended !== undefined && { ended: run.ended }),
  };
}

function viewPhase(
  run: PlanRun,
  watch: RunWatch,
  now: number,
  {
    phase,
    at,
    blocked,
  }: { phase: PhaseProgress; at: number; blocked: ReadonlyMap<string, string> },
): PhaseView {
  const { id, state } = phase;
  const { written = id, name = "" } = run.order[at] ?? {};
  const activity = watch.activities[id];
  const times = watch.times.get(id);
  const underWay = state.is === "working" || state.is === "delivered" || state.is === "verified";
  const since = times?.since ?? watch.since;
  const elapsed = underWay
    ? since !== undefined && Math.max(0, now - since)
    : isComplete(phase) && (times?.took ?? false);
  const spend = watch.spend[id];
  return {
    id,
    written,
    name,
    stage: stageOf(run, watch, now, { phase, at, blocked }),
    attempt: Math.min(phase.charged + 1, run.maxAttempts),
    of: run.maxAttempts,
    ...(elapsed !== false && { elapsed }),
    ...(underWay && activity?.line !== undefined && { activity: activity.line }),
    ...(spend && { spend }),
  };
}

function stageOf(
  run: PlanRun,
  watch: RunWatch,
  now: number,
  {
    phase,
    at,
    blocked,
  }: { phase: PhaseProgress; at: number; blocked: ReadonlyMap<string, string> },
): PhaseStage {
  const { id, state, errors, charged, conflicts } = phase;
  const by = blocked.get(id);
  const gate = watch.activities[id]?.gate;
  switch (state.is) {
    case "landed":
      return { is: "complete", commit: state.landed, unverified: !isChecked(phase) };
    case "skipped":
      return { is: "skipped", reason: state.reason };
    case "failed": {
      const lines = failureLines({ ...phase, error: state.error });
      return { is: "failed", message: state.error.message, lines };
    }
    case "working":
      return { is: "working" };
    case "delivered":
      return by === undefined
        ? { is: "checking", ...(gate !== undefined && { gate }) }
        : { is: "blocked", by: writtenOf(run, by) };
    case "verified":
      return { is: "landing", ...(gate !== undefined && { gate }) };
    case "pending": {
      if (by !== undefined) return { is: "blocked", by: writtenOf(run, by) };
      if (watch.only?.has(id) === false) return { is: "left-out" };
      if (state.notBefore !== undefined && (momentOf(state.notBefore) ?? 0) > now) {
        return { is: "parked", until: state.notBefore };
      }
      const needs = (run.order[at]?.dependsOn ?? []).filter((need) => {
        const other = run.phases[placeOf(run.order, need) ?? -1];
        return !other || !isComplete(other);
      });
      if (needs.length > 0)
        return { is: "waiting", for: needs.map((need) => writtenOf(run, need)) };
      const last = errors.at(-1);
      return charged + conflicts > 0 && last
        ? { is: "retrying", message: last.message }
        : { is: "ready" };
    }
  }
}

const writtenOf = (run: PlanRun, id: string): string =>
  run.order[placeOf(run.order, id) ?? -1]?.written ?? id;
