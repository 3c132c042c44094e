/**
 * A piece of a run that one worker does: which it is, what it is called, and what comes of it. Its
 * name says what it is about and nothing of who asks, so that whoever takes over a run asks for the
 * same one and is given the same answer.
 */
import type { GateRun } from "../../activities/run-gates.ts";
import { type Failure, fail, type Result } from "../../core/failure.ts";
import type { Move } from "../../core/plan/next-moves.ts";
import { type PlanRun, phaseOf } from "../../core/plan/progress.ts";
import type { Performed } from "../../core/plan/run-plan.ts";

export type TaskMove = Extract<Move, { do: "work" | "verify" | "land" | "baseline" }>;

export interface Task {
  readonly run: string;
  readonly move: TaskMove;
  /** How far the history had come when it was asked for. */
  readonly seq: number;
  readonly needs: readonly string[];
  /** Who does it; absent: no agent is needed. */
  readonly agent?: string;
  readonly attempt?: number;
}

export type TaskDone =
  | { readonly is: "performed"; readonly performed: Performed }
  | { readonly is: "gates"; readonly ran: Result<GateRun> }
  /** Its worker was told to end, or the run had gone on: nothing came of it, and it is asked anew. */
  | { readonly is: "stopped" }
  /** An attempt's worker is lost, and what it did counts for nothing; of all else, `mostLost` were. */
  | { readonly is: "lost"; readonly worker: string };

/**
 * `rests`: how often the run has rested so far, by its history: after a rest it asks anew, whoever
 * drives it until then asks for the same. `tries`: a machine has refused, another is asked.
 */
export function taskName(
  { move, run, attempt }: Task,
  at: { readonly tip: string; readonly rests: number; readonly tries: number },
): string {
  const about = move.do === "baseline" ? "baseline" : `${move.phase}/${attempt ?? 0}/${move.do}`;
  // What an attempt works on was settled when it began; everything else is about the tip.
  const onto = move.do === "work" ? "" : `@${at.tip.slice(0, 12)}`;
  return `${run}/${at.rests}/${about}${onto}/${at.tries}`;
}

/**
 * So many workers are lost with one thing before it rests: it may be what they are lost by. Many, since
 * where machines come and go some things are unlucky; an attempt has a limit of its own (`next-moves`).
 */
export const mostLost = 10;

/** Nobody tries it again by himself: whoever knows why it is so has to say that it is not any more. */
export const deadly = (what: string): Failure =>
  fail("workers-lost", `${mostLost} workers were lost, one after the other, with ${what}`, {
    hint: "see what it takes, memory above all; engine.needs: [memory:16] asks for a larger machine",
  }).failure;

/** Of an attempt, whoever asks for it and however often: one place of its agent's. */
export const placeName = ({ run, move, attempt }: Task): string =>
  `${run}/${move.do === "baseline" ? "" : move.phase}/${attempt ?? 0}`;

/** The attempt that a move is about; undefined: the run has gone on without it. */
export function attemptOf(run: PlanRun, move: TaskMove): number | undefined {
  if (move.do === "baseline") return run.baseline ? undefined : 0;
  const state = phaseOf(run, move.phase)?.state;
  const wanted = { work: "working", verify: "delivered", land: "verified" }[move.do];
  return state?.is === wanted && "attempt" in state ? state.attempt : undefined;
}
