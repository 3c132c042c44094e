/** Which attempt at which phase is meant: what `log`, `diff` and `shell` begin with. */
import { currentRun } from "../core/evolve.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { type AttemptRecord, attemptsIn } from "../core/plan/attempts.ts";
import { normaliseId } from "../core/plan/ids.ts";
import { type PhaseProgress, type PlanRun, phaseOf } from "../core/plan/progress.ts";
import { type Project, readHistory, readState } from "./hold.ts";

export interface PhaseHistory {
  readonly run: PlanRun;
  readonly id: string;
  /** As the plan writes it, and what it is called there. */
  readonly written: string;
  readonly name: string;
  readonly progress: PhaseProgress;
  readonly attempts: readonly AttemptRecord[];
}

/** In the current run, or in `among`; what it says is as old as the moment of asking. */
export function findPhase(project: Project, name: string, among?: string): Result<PhaseHistory> {
  const state = readState(project);
  if (!state.ok) return state;
  const run = among === undefined ? currentRun(state.value) : state.value.runs?.[among];
  if (!run && among !== undefined) return fail("not-found", `there is no run ${among}`);
  if (!run) {
    return fail("not-found", "no plan was run here yet: there is no phase to look at", {
      hint: "autodev build docs/feature-plan.md --commit=message-only",
    });
  }
  const wanted = normaliseId(name);
  const known =
    run.order.find(({ id }) => id === name) ??
    run.order.find(({ written }) => written === name) ??
    run.order.find(({ id }) => id === wanted);
  const gone = known ? undefined : run.gone.find(({ id }) => id === name || id === wanted);
  const progress = known ? phaseOf(run, known.id) : gone;
  if (!progress) {
    const there = run.order.map(({ written }) => written);
    return fail("no-such-phase", `there is no phase ${name} in the run of ${run.plan}`, {
      hint: `it has ${there.slice(0, 30).join(", ")}${there.length > 30 ? " …" : ""}`,
    });
  }
  const history = readHistory(project, run);
  if (!history.ok) return history;
  const { id } = progress;
  return succeed({
    run,
    id,
    written: known?.written ?? id,
    name: known?.name ?? "",
    progress,
    attempts: attemptsIn(history.value).get(id) ?? [],
  });
}

/** That one, or the last; with those that there are, if it is none of them. */
export function attemptNamed(
  { written, attempts }: PhaseHistory,
  wanted: number | undefined,
): Result<AttemptRecord> {
  const found =
    wanted === undefined ? attempts.at(-1) : attempts.find(({ attempt }) => attempt === wanted);
  if (found) return succeed(found);
  if (attempts.length === 0) {
    return fail("not-found", `phase ${written} has had no attempt yet`, { hint: "autodev log" });
  }
  return fail("not-found", `phase ${written} has had no attempt ${wanted}`, {
    hint: `it has had ${attempts.map(({ attempt }) => attempt).join(", ")}: autodev log ${written} --attempts`,
  });
}
