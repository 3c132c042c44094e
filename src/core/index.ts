/** `autodev/core`: what decides, without a clock, a disk or a process. Runs anywhere. */
export {
  type Board,
  blankBoard,
  evolveBoard,
  type RunBoard,
  runOn,
  runsOn,
} from "./board/board.ts";
export * from "./decision.ts";
export type { Event, RecordedEvent } from "./event.ts";
export * from "./evolve.ts";
export * from "./failure.ts";
export type { Finding } from "./finding.ts";
export * from "./flow/flow.ts";
export { builtInFlows, flowNamed } from "./flow/flows/index.ts";
export * from "./flow/generations.ts";
export { flowsThatFit, scanPosition } from "./flow/locate.ts";
export { type Opening, openingMove } from "./flow/opening.ts";
export { type Reading as StateFileReading, readPosition } from "./flow/position.ts";
export { convertStateFile, currentForm, type Form, renderStateFile } from "./flow/render.ts";
export * from "./flow/state.ts";
export { parseStateFile, type StateFile, textOf } from "./flow/state-file.ts";
export { type StepStatus, stepsOf } from "./flow/steps.ts";
export { type Facts, type Verdict, type Whereabouts, whereabouts } from "./flow/whereabouts.ts";
export type { GitPlace } from "./git-place.ts";
export { type CompiledPlan, compilePlan } from "./plan/compile.ts";
export type { PhaseDraft, PlanDraft } from "./plan/draft.ts";
export { applyEdits, type Edit, type PhaseChange, phaseNamed, planEdits } from "./plan/edits.ts";
export { batchesOf, criticalPathOf, cyclesOf } from "./plan/graph.ts";
export { normaliseId } from "./plan/ids.ts";
export { type Limits, type Move, nextMoves } from "./plan/next-moves.ts";
export { type ErrorType, isRetryable, type PhaseError } from "./plan/phase-error.ts";
export * from "./plan/plan.ts";
export {
  type Attempt,
  blockers,
  evolveRun,
  isComplete,
  type Landing,
  type PhaseProgress,
  type PhaseState,
  type PlanRun,
  phaseOf,
  standingOf,
} from "./plan/progress.ts";
export { batchesIn } from "./plan/readiness.ts";
export type { AgentResult } from "./plan/result.ts";
export type { CommitMode, Gate, GateOutcome, RunEvent } from "./plan/run-event.ts";
export type { Opened, RunNews, Spend } from "./plan/run-news.ts";
export { type Driver, type Performed, type RunOutcome, runPlan } from "./plan/run-plan.ts";
export { type PhaseStage, type PhaseView, type RunView, viewRun } from "./plan/run-view.ts";
export { type RunWatch, unwatched, watchEvents, watchNews } from "./plan/run-watch.ts";
export { understand } from "./plan/understand.ts";
export { writeSuperplan } from "./plan/write-superplan.ts";
