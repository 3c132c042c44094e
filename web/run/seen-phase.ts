/** A phase as it is shown: as every display sees it, and what holds it up that only its state tells. */
import { momentOf } from "../../src/core/plan/moment.ts";
import type { PlanRun } from "../../src/core/plan/progress.ts";
import type { PhaseStage, PhaseView } from "../../src/core/plan/run-view.ts";
import { goOn } from "./left-alone.ts";
import { isActive } from "./phase-words.ts";

export type Stage =
  | PhaseStage
  /** Not before a person has done something about it. */
  | { readonly is: "held"; readonly message: string };

export interface SeenPhase extends Omit<PhaseView, "stage"> {
  readonly stage: Stage;
}

/** `phases`: of a view of the run, in the run's order; `left`: nobody is at work on it. */
export const seenPhases = (
  run: PlanRun,
  phases: readonly PhaseView[],
  now: number,
  left: boolean,
): readonly SeenPhase[] =>
  phases.map((phase, at) => {
    const stage =
      left && isActive(phase.stage.is) ? leftStage(run) : heldStage(run, at, phase.stage, now);
    return stage ? { ...phase, stage } : phase;
  });

const leftStage = (run: PlanRun): Stage => ({
  is: "held",
  message: `autodev was ended while it was at work on it; it goes on with: ${goOn(run)}`,
});

function heldStage(run: PlanRun, at: number, stage: PhaseStage, now: number): Stage | undefined {
  if (stage.is !== "ready" && stage.is !== "retrying") return undefined;
  const { state, agent = run.agent } = run.phases[at] ?? {};
  if (state?.is !== "pending") return undefined;
  const { unable, over } = state;
  if (unable) return { is: "held", message: `${unable.agent}: ${unable.message}. ${unable.hint}` };
  if (over !== undefined) return { is: "held", message: over };
  const until = run.limited?.[agent];
  return until !== undefined && (momentOf(until) ?? 0) > now ? { is: "parked", until } : undefined;
}
