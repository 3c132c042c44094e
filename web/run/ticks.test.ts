import { describe, expect, it } from "vitest";
import { amountTicks, timeTicks } from "./ticks.ts";

const minute = 60_000;
const hour = 60 * minute;

describe("the marks of a scale", () => {
  it("stand at times that people count in, not more than there is room for", () => {
    expect(timeTicks(7 * minute, 62 * minute, 6)).toEqual({
      step: 10 * minute,
      at: [10, 20, 30, 40, 50, 60].map((each) => each * minute),
    });
    expect(timeTicks(0, 30 * 24 * hour, 6).step).toBe(7 * 24 * hour);
  });

  it("stand at midnight by the clock on the wall", () => {
    const { at } = timeTicks(0, 48 * hour, 3, 2 * hour);
    expect(at).toEqual([22 * hour, 46 * hour]);
  });

  it("stand at round amounts, the last not below the most", () => {
    expect(amountTicks(18.72)).toEqual([0, 5, 10, 15, 20]);
    expect(amountTicks(0.03)).toHaveLength(4);
    expect(amountTicks(0)).toEqual([0]);
    expect(amountTicks(Number.NaN)).toEqual([0]);
  });
});
