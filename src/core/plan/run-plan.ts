/**
 * The driver that any engine can run: it asks `nextMoves`, has each move performed, records what
 * came of it, and asks again. It knows no clock, no disk, no process; given the same answers in
 * the same order it makes the same run.
 *
 *  1. What a move brought about is recorded before anything follows from it.
 *  2. A machine that refuses (a full disk, a fenced journal) ends the run: nothing new begins, what
 *     is under way is called off, and the failure is the result.
 */
import type { Failure, Result } from "../failure.ts";
import { type Limits, type Move, nextMoves, subjectOf } from "./next-moves.ts";
import type { PlanRun } from "./progress.ts";
import type { RunEvent } from "./run-event.ts";

export type Performed =
  | { readonly is: "done"; readonly events: readonly RunEvent[] }
  /** Only a person can say; the failure holds the question. */
  | { readonly is: "asking"; readonly failure: Failure }
  /** The machine refuses. */
  | { readonly is: "refused"; readonly failure: Failure };

export interface Driver {
  limits(): Limits;
  perform(move: Move, run: PlanRun): Promise<Performed>;
  record(events: readonly RunEvent[]): Promise<Result<PlanRun>>;
  /** Calls off what is under way. */
  callOff(): void;
  /** What people say meanwhile; resolves with what the next word of theirs brings about. */
  arriving?(): Promise<readonly RunEvent[]>;
  /** The first to end; an engine that replays its history decides by that. */
  first?<T>(underWay: readonly Promise<T>[]): Promise<T>;
}

export interface RunOutcome {
  readonly run: PlanRun;
  /** Questions that nobody was there to answer. */
  readonly asking: readonly Failure[];
  readonly refused?: Failure;
}

/** A move has ended, or somebody has said something. */
type Happened =
  | { readonly move: Move; readonly performed: Performed }
  | { readonly events: readonly RunEvent[] };

export async function runPlan(start: PlanRun, driver: Driver): Promise<RunOutcome> {
  const first = driver.first ?? (<T>(all: readonly Promise<T>[]) => Promise.race(all));
  const underWay = new Map<Move, Promise<Happened>>();
  const asking = new Map<string, Failure>();
  const listen = (): Promise<Happened> | undefined =>
    driver.arriving?.().then((events) => ({ events }));
  let arriving = listen();
  let run = start;
  let refused: Failure | undefined;

  const refuse = (failure: Failure): void => {
    if (refused) return;
    refused = failure;
    driver.callOff();
  };

  const take = async (events: readonly RunEvent[]): Promise<void> => {
    if (events.length === 0) return;
    const recorded = await driver.record(events);
    if (recorded.ok) run = recorded.value;
    else refuse(recorded.failure);
  };

  for (;;) {
    const busy = [...underWay.keys()];
    const moves = refused ? [] : nextMoves(run, driver.limits(), busy, new Set(asking.keys()));
    for (const move of moves) {
      if (move.do === "end") {
        const { until } = move;
        // What people decided against is no open question.
        const declined = [...asking.values()].every(({ code }) => code === "run-halted");
        const how = move.how === "asking" && declined ? "halted" : move.how;
        const event: RunEvent = {
          type: "run-ended",
          how,
          ...(until === undefined ? {} : { until }),
        };
        const recorded = await driver.record([event]);
        if (!recorded.ok) return { run, asking: [...asking.values()], refused: recorded.failure };
        return { run: recorded.value, asking: [...asking.values()] };
      }
      underWay.set(
        move,
        driver.perform(move, run).then((performed) => ({ move, performed })),
      );
    }
    if (underWay.size === 0) {
      return { run, asking: [...asking.values()], ...(refused && { refused }) };
    }
    const happened = await first([...underWay.values(), ...(arriving ? [arriving] : [])]);
    if ("events" in happened) {
      await take(happened.events);
      arriving = listen();
      continue;
    }
    const { move, performed } = happened;
    underWay.delete(move);
    if (performed.is === "asking") asking.set(subjectOf(move), performed.failure);
    else if (performed.is === "refused") refuse(performed.failure);
    else await take(performed.events);
  }
}
