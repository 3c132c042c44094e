/**
 * The driver of a flow: look, decide, do, record, until there is a reason to rest. It knows no disk,
 * no clock and no agent: whatever engine carries it out gives it these.
 */
import type { Event } from "../event.ts";
import type { ProjectState } from "../evolve.ts";
import type { Failure, Result } from "../failure.ts";
import {
  type FlowFacts,
  type FlowLimits,
  type FlowMove,
  nextMove,
  type Rest,
} from "./next-move.ts";

export type FlowOutcome =
  | { readonly is: "rested"; readonly rest: Rest }
  /** Only a person can say how it goes on, and nobody is there. */
  | { readonly is: "asking"; readonly failure: Failure }
  /** The machine refuses: a full disk, a journal that somebody else writes. */
  | { readonly is: "refused"; readonly failure: Failure };

export interface FlowDriver {
  /** Everything as it is on record and on disk now. */
  look(): Promise<Result<{ readonly state: ProjectState; readonly facts: FlowFacts }>>;
  limits(): FlowLimits;
  hash(text: string): string;
  /** What came of it, to be put on record; what is asked is on record already. */
  perform(move: Performable, state: ProjectState): Promise<Result<readonly Event[]>>;
  record(events: readonly Event[]): Promise<Result<unknown>>;
}

export type Performable = Exclude<FlowMove, { is: "record" | "rest" }>;

export async function runFlow(driver: FlowDriver): Promise<FlowOutcome> {
  let before = "";
  for (;;) {
    const looked = await driver.look();
    if (!looked.ok) return { is: "refused", failure: looked.failure };
    const { state, facts } = looked.value;
    const move = nextMove(state, facts, driver.limits(), driver.hash);
    if (move.is === "rest") return { is: "rested", rest: move.rest };
    // Every move leaves something that makes the next one another; one that does not is a mistake
    // of ours, and must not go on for ever.
    const now = `${state.course?.occasion} ${JSON.stringify(state.flow)} ${JSON.stringify(move)}`;
    if (now === before && move.is !== "wait") {
      throw new Error(`a flow goes round: ${move.is} changed nothing`);
    }
    before = now;
    const events =
      move.is === "record"
        ? { ok: true as const, value: move.events }
        : await driver.perform(move, state);
    if (!events.ok) return notDone(events.failure);
    if (events.value.length > 0) {
      const recorded = await driver.record(events.value);
      if (!recorded.ok) return notDone(recorded.failure);
    }
  }
}

const notDone = (failure: Failure): FlowOutcome => ({
  is: failure.code === "decision-required" ? "asking" : "refused",
  failure,
});
