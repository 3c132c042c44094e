/**
 * What keeps all of a run from going on: nothing of it is with a worker. Whoever drives it makes
 * room for others as long as that is so, and is asked for again when it no longer is.
 */
import { missing, type WorkerSeen } from "./capabilities.ts";

export type Lack =
  /** Nobody is there who has all of it. */
  | { readonly is: "nobody"; readonly needs: readonly string[] }
  /** All places of its account are taken; it asks for one by this name. */
  | { readonly is: "place"; readonly agent: string; readonly task: string }
  /** It lies behind the work of others, under this name; only a driver has it moved to another lane. */
  | { readonly is: "turn"; readonly task: string; readonly lane: string };

export interface FleetAtHand {
  readonly workers: readonly WorkerSeen[];
  /** Whether it has a place with it by now. */
  hasPlace(agent: string, task: string): boolean;
  isQueued(task: string): boolean;
}

/** Whether any of it could go on by now, with those of its version. */
export const couldGoOn = (
  lacks: readonly Lack[],
  version: string,
  { workers, hasPlace, isQueued }: FleetAtHand,
): boolean => {
  const ours = workers.filter((worker) => worker.version === version);
  return lacks.some((lack) => {
    switch (lack.is) {
      case "nobody":
        return ours.some(({ capabilities }) => missing(capabilities, lack.needs).length === 0);
      case "place":
        return hasPlace(lack.agent, lack.task);
      case "turn":
        return !isQueued(lack.task) || ours.every(({ lane }) => lane !== lack.lane);
    }
  });
};
