import { describe, expect, it } from "vitest";
import { after, begin, landing, started, used } from "../../../test/run-story.ts";
import { forecast, forecastWords, pastOf } from "./forecast.ts";

const past = (weight: number, tokens: number, cost = 0, ms = 60_000) => ({
  weight,
  tokens,
  cost,
  ms,
});

describe("a forecast", () => {
  it("is none where nothing was done, or nothing is left", () => {
    expect(forecast([1, 2], [])).toBeUndefined();
    expect(forecast([], [past(1, 10)])).toBeUndefined();
  });

  it("goes by points", () => {
    expect(forecast([2, 3], [past(2, 2000)])).toEqual({
      seen: 1,
      tokens: [5000, 5000],
      ms: [150_000, 150_000],
    });
  });

  it("is the middle half of what was seen", () => {
    const seen = [1, 2, 3, 4, 100].map((tokens) => past(1, tokens * 1000, tokens));
    expect(forecast([1], seen)).toMatchObject({ tokens: [2000, 4000], cost: [2, 4] });
  });

  it("is told in words", () => {
    const words = forecastWords({
      seen: 3,
      tokens: [1.24e6, 3.4e6],
      cost: [2.1, 5.8],
      ms: [1.2e6, 2.7e6],
    });
    expect(words).toBe(
      "1.2–3.4 M tokens, $2.10–5.80, 20–45 min of work, judged by 3 phases done here",
    );
    expect(forecastWords({ seen: 1, tokens: [5000, 5000], ms: [60_000, 60_000] })).toBe(
      "5 k tokens, 1 min of work, judged by 1 phase done here",
    );
  });
});

describe("what a run leaves to judge by", () => {
  it("are the phases that landed and told what they used", () => {
    const run = after(
      started({ a: [], b: [] }),
      begin("a"),
      used("a", 500, 0.5),
      ...landing("a", "c0").slice(1),
      begin("b"),
      used("b", 100),
    );
    expect(pastOf(run)).toEqual([{ weight: 1, tokens: 500, cost: 0.5, ms: 0 }]);
    const aside = after(run, { type: "run-set-aside", aside: "elsewhere" });
    expect(pastOf(aside)).toEqual(pastOf(run));
    expect(aside.phases).toEqual([]);
  });
});
