/** What waits for a person in a project, and what only waits: told from its board, worst first. */
import type { Board } from "../../src/core/board/board.ts";
import type { Decision } from "../../src/core/decision.ts";
import { currentRuns, openDecisions } from "../../src/core/evolve.ts";
import { momentOf } from "../../src/core/plan/moment.ts";
import { viewRun } from "../../src/core/plan/run-view.ts";
import { unwatched } from "../../src/core/plan/run-watch.ts";
import { seenPhases } from "../run/seen-phase.ts";

export type Need =
  | { readonly is: "decision"; readonly decision: Decision }
  | { readonly is: "blocker"; readonly text: string }
  | {
      readonly is: "failure";
      readonly run: string;
      readonly phase: string;
      readonly name: string;
      readonly message: string;
    };

export function needsOf(board: Board): Need[] {
  const { state } = board;
  const decisions = openDecisions(state).map((decision): Need => ({ is: "decision", decision }));
  const blockers = (state.flow?.blockers ?? []).map((text): Need => ({ is: "blocker", text }));
  const failures = currentRuns(state).flatMap((run) =>
    run.phases.flatMap(({ id, state: phase }, at): Need[] => {
      if (phase.is !== "failed") return [];
      const { written = id, name = "" } = run.order[at] ?? {};
      const { message } = phase.error;
      return [
        { is: "failure", run: run.id, phase: id, name: `${written} ${name}`.trim(), message },
      ];
    }),
  );
  return [...decisions, ...failures, ...blockers];
}

/** Somebody's account has nothing left, or a phase is not to begin yet; nobody has to do anything. */
export interface Wait {
  readonly run: string;
  readonly who: string;
  readonly until: string;
  /** Phases that wait for it. */
  readonly phases: readonly string[];
}

export function waitsOf(board: Board, now: number): Wait[] {
  const isAhead = (until: string | undefined): until is string =>
    until !== undefined && (momentOf(until) ?? 0) > now;
  return currentRuns(board.state).flatMap((run) => {
    const waits = new Map<string, Wait>();
    for (const [who, until] of Object.entries(run.limited ?? {})) {
      if (isAhead(until)) waits.set(who, { run: run.id, who, until, phases: [] });
    }
    const { phases } = viewRun(run, board.runs[run.id]?.watch ?? unwatched, now);
    seenPhases(run, phases, now, false).forEach(({ stage, written }, at) => {
      if (stage.is !== "parked") return;
      const who = run.phases[at]?.agent ?? run.agent;
      const known = waits.get(who) ?? { run: run.id, who, until: stage.until, phases: [] };
      waits.set(who, { ...known, phases: [...known.phases, written] });
    });
    if (waits.size === 0 && isAhead(run.parkedUntil))
      return [{ run: run.id, who: run.agent, until: run.parkedUntil, phases: [] }];
    return [...waits.values()];
  });
}
