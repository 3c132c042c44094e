/** A run that nobody is at work on, though it has not come to an end: its last session was killed. */
import type { Board } from "../../src/core/board/board.ts";
import { momentOf } from "../../src/core/plan/moment.ts";
import type { PlanRun } from "../../src/core/plan/progress.ts";

/** `held`: somebody's session is open. Whoever came for a phase works on it without one, while it is his. */
export const isLeftAlone = ({ ended, phases }: PlanRun, held: boolean, now: number): boolean =>
  ended === undefined &&
  !held &&
  !phases.some(
    ({ state }) =>
      state.is === "working" && state.lease && (momentOf(state.lease.until) ?? 0) > now,
  );

/** Time stands still there: it ended with the last thing that happened. */
export const timeIn = (run: PlanRun, held: boolean, { at }: Board, now: number): number =>
  isLeftAlone(run, held, now) ? (momentOf(at) ?? now) : now;

/** The tasks of a flow's step are gone on with by the flow. */
export const goOn = ({ plan, under }: PlanRun): string =>
  under === undefined ? `autodev build ${plan}` : "autodev";
