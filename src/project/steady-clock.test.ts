import { describe, expect, it } from "vitest";
import { type Clocks, realClocks, steadyClock } from "./steady-clock.ts";

const hour = 3_600_000;

/** Three clocks, moved by hand. */
function clocksAt(timeOfDay: number) {
  const at = { timeOfDay, running: 5000, sinceBoot: 90_000 };
  const clocks: Clocks = {
    timeOfDay: () => at.timeOfDay,
    running: () => at.running,
    sinceBoot: () => at.sinceBoot,
  };
  return {
    clocks,
    set: (time: number) => (at.timeOfDay = time),
    pass(ms: number) {
      at.timeOfDay += ms;
      at.running += ms;
      at.sinceBoot += ms;
    },
    sleep(ms: number) {
      at.timeOfDay += ms;
      at.sinceBoot += ms;
    },
  };
}

describe("the steady clock", () => {
  it("begins with the time of day and goes on with it", () => {
    const world = clocksAt(10 * hour);
    const now = steadyClock(world.clocks);
    expect(now()).toBe(10 * hour);
    world.pass(1500);
    expect(now()).toBe(10 * hour + 1500);
  });

  it("does not go along with a clock that is set, forwards or backwards", () => {
    const world = clocksAt(10 * hour);
    const now = steadyClock(world.clocks);
    for (const time of [8 * hour, 90_000 * hour, 0]) {
      world.set(time);
      world.pass(1000);
    }
    expect(now()).toBe(10 * hour + 3000);
  });

  it("counts the time for which the machine slept", () => {
    const world = clocksAt(10 * hour);
    const now = steadyClock(world.clocks);
    world.pass(1000);
    world.sleep(2 * hour);
    expect(now()).toBe(12 * hour + 1000);
    world.pass(1000);
    world.sleep(hour);
    expect(now()).toBe(13 * hour + 2000);
  });

  it("never goes backwards, however coarse the clock is that knows of sleep", () => {
    const world = clocksAt(10 * hour);
    const coarse = {
      ...world.clocks,
      sinceBoot: () => Math.floor(world.clocks.sinceBoot() / 1000) * 1000,
    };
    const now = steadyClock(coarse);
    let last = now();
    for (let step = 0; step < 500; step++) {
      world.pass(37);
      expect(now()).toBeGreaterThanOrEqual(last);
      last = now();
    }
    expect(last).toBe(10 * hour + 500 * 37);
  });

  it("agrees with this machine's", () => {
    expect(Math.abs(steadyClock(realClocks)() - Date.now())).toBeLessThan(100);
  });
});
