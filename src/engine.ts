/**
 * The contract of an engine: what carries a run, from the moment that somebody wants it to its next
 * rest. `local` is this machine; `postgres` is a fleet.
 *
 * What every implementation promises
 *  1. The same plan for the same branch is one run, however often it is submitted.
 *  2. What comes of a move is on record before anything follows from it; the history is the same,
 *     whoever carries the run.
 *  3. A decision is asked once. The first answer stands, also one that came before anybody waited.
 *  4. Whoever dies is replaced, or replaces himself: nothing that landed is done again, nothing that
 *     a lost one brings afterwards counts.
 *  5. At most as many phases at once as was said.
 *  6. To stop reaches those at work; what they had is kept, and the run goes on when it is wanted.
 *
 * It fits what durable engines have: a task is an activity with a heartbeat, an answer or a stop is
 * a signal, a run at rest is a workflow that nobody has to keep in memory.
 */
import type { Answer, Decision } from "./core/decision.ts";
import type { RecordedEvent } from "./core/event.ts";
import type { Result } from "./core/failure.ts";
import type { PlanRun } from "./core/plan/progress.ts";
import type { CommitMode } from "./core/plan/run-event.ts";

/** A plan that is wanted, in the repository that the engine was made for. */
export interface RunWish {
  readonly plan: string;
  readonly commit: CommitMode;
  readonly jobs?: number;
  readonly agent?: string;
}

export interface Engine {
  /** Begins it, or goes on with it; does not wait for its end. */
  submit(wish: RunWish): Promise<Result<{ readonly run: string; readonly created: boolean }>>;
  /** As it is when nothing is under way any more. */
  rested(run: string): Promise<Result<PlanRun>>;
  /** Everything on record, in order. */
  events(run: string): Promise<Result<readonly RecordedEvent[]>>;
  /** What only people can say. */
  openDecisions(run: string): Promise<Result<readonly Decision[]>>;
  /** The answer that stands: this one, or the one that came first. The run goes on with it. */
  answer(
    run: string,
    decision: string,
    answer: Pick<Answer, "key" | "by">,
  ): Promise<Result<Answer>>;
  /** Those at work are asked to end; what they have done so far is kept. */
  stop(run: string, by: string): Promise<Result<void>>;
}
