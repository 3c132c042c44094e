/**
 * A drive of which nothing is with a worker only takes the place of others: none has what it needs,
 * its agent has no place, or everything of it lies behind the work of others. When drives wait for a
 * place to be driven, it makes room; what it has enqueued stays where it lies. Where it lies behind
 * others and all workers are busy it stays: another in its place would only lie behind it, and of many
 * runs none would come to its end before all have begun.
 */
import type { Lack } from "../../core/fleet/lacks.ts";
import { every } from "../../stores/postgres/every.ts";
import type { Carrier } from "./carrier.ts";

interface Waiting {
  readonly lack: Lack;
  /** For people. */
  readonly why: string;
}

export interface Idle {
  /** Others need the place more: what is asked for is no longer asked for here. */
  readonly madeRoom: AbortSignal;
  /** Of what only waits: for what. */
  waiting(): readonly Waiting[];
  /** A move is performed meanwhile. */
  during<T>(move: Promise<T>): Promise<T>;
  /** One of the moves waits for people. */
  asking<T>(answer: Promise<T>): Promise<T>;
  /** The work of this name waits; undefined: no longer. */
  waits(work: string, why: Waiting | undefined): void;
  end(): void;
}

const lookEveryMs = 1000;
/** Something is often free a moment later. */
export const idlePatienceMs = 5000;

export function watchIdle(
  carrier: Pick<Carrier, "waitingDrives">,
  isSomebodyFree: () => Promise<boolean>,
): Idle {
  const madeRoom = new AbortController();
  const waiting = new Map<string, Waiting>();
  let [performed, asked] = [0, 0];
  let since: number | undefined;
  let seen: ReadonlySet<string> = new Set();

  /** Whether others could do more in its place. */
  const helps = async (): Promise<boolean> =>
    [...waiting.values()].every(({ lack }) => lack.is !== "turn") || (await isSomebodyFree());

  const look = async (): Promise<void> => {
    if (waiting.size === 0 || waiting.size + asked < performed) {
      since = undefined;
      return;
    }
    since ??= performance.now();
    if (performance.now() - since < idlePatienceMs) return;
    const drives = new Set(await carrier.waitingDrives());
    // What has only just come is about to be taken.
    const isNeeded = [...drives].some((drive) => seen.has(drive));
    seen = drives;
    if (!isNeeded || !(await helps()) || waiting.size === 0 || waiting.size + asked < performed)
      return;
    madeRoom.abort();
  };
  const { end } = every(lookEveryMs, look);

  return {
    madeRoom: madeRoom.signal,
    waiting: () => [...waiting.values()],
    async during(move) {
      performed++;
      try {
        return await move;
      } finally {
        performed--;
      }
    },
    async asking(answer) {
      asked++;
      try {
        return await answer;
      } finally {
        asked--;
      }
    },
    waits(work, why) {
      // It goes on in its own time once room is made: why it waited is still wanted then.
      if (madeRoom.signal.aborted) return;
      if (why) waiting.set(work, why);
      else waiting.delete(work);
      if (!why) since = undefined;
    },
    end,
  };
}
