/**
 * The time of day when we began, and from there on by a clock that nobody sets. So whatever is
 * waited for takes as long as it was meant to, nothing takes less than no time, and what one
 * session records never goes backwards, whatever somebody does to the machine's clock meanwhile.
 * Whoever begins later begins with the time of day as it is then.
 */
import type * as os from "node:os";

/** In milliseconds, as far as each of them goes. */
export interface Clocks {
  /** May be set at any moment. */
  timeOfDay(): number;
  /** Never set; stands still while the machine sleeps. */
  running(): number;
  /** Never set, and goes on while it sleeps; coarse. */
  sinceBoot(): number;
}

export const realClocks: Clocks = {
  timeOfDay: () => Date.now(),
  running: () => performance.now(),
  sinceBoot: () => {
    const { uptime } = process.getBuiltinModule("node:os") as typeof os;
    return uptime() * 1000;
  },
};

/** Less is how coarse the one clock is, not sleep. */
const leastSleepMs = 1000;

/** Milliseconds since 1970, like `Date.now()`. */
export function steadyClock(clocks: Clocks = realClocks): () => number {
  const began = clocks.timeOfDay();
  const [running, sinceBoot] = [clocks.running(), clocks.sinceBoot()];
  let asleep = 0;
  return () => {
    const ran = clocks.running() - running;
    const slept = clocks.sinceBoot() - sinceBoot - ran;
    // Never taken back: the time that was told must not be told again.
    if (slept - asleep >= leastSleepMs) asleep = slept;
    return Math.round(began + ran + asleep);
  };
}
