import { describe, expect, it } from "vitest";
import { parkedFor } from "./patience.ts";

const minute = 60_000;

describe("how long an agent is left alone", () => {
  it("is as long as it says, the first time", () => {
    expect(parkedFor("usage_limit", 0, 5 * 60 * minute)).toBe(5 * 60 * minute);
    expect(parkedFor("usage_limit", 0, -minute)).toBe(0);
  });

  it("grows where what it says was wrong each time: nobody is asked without a pause", () => {
    const waits = [1, 2, 3, 4, 5, 6, 20].map((parks) => parkedFor("usage_limit", parks, -minute));
    expect(waits).toEqual([0.5, 1, 2, 4, 8, 15, 15].map((minutes) => minutes * minute));
    expect(parkedFor("usage_limit", 3, 60 * minute)).toBe(60 * minute);
  });

  it("comes to an end for a service that always says it will not be long", () => {
    expect(parkedFor("overloaded", 9, 1000)).toBe(15 * minute);
    expect(parkedFor("overloaded", 10, 1000)).toBeUndefined();
    expect(parkedFor("rate_limit", 10, 60 * minute)).toBe(60 * minute);
  });

  it("is never for years, and what is no time is none", () => {
    expect(parkedFor("usage_limit", 0, 1e13)).toBe(35 * 24 * 60 * minute);
    expect(parkedFor("usage_limit", 0, Number.NaN)).toBe(30 * minute);
    expect(parkedFor("overloaded", 2, undefined)).toBe(2 * minute);
  });
});
