import { expect, it } from "vitest";
import { clock, duration, roughly, spendWords, tokens } from "./amounts.ts";

const [s, min, h] = [1000, 60_000, 3_600_000];

it("durations are said as people say them", () => {
  expect([0, 999, 12 * s, min, 4 * min + 12 * s, h, h + 5 * min, 50 * h].map(duration)).toEqual([
    "0 s",
    "0 s",
    "12 s",
    "1 min",
    "4 min 12 s",
    "1 h",
    "1 h 5 min",
    "50 h",
  ]);
  expect([12 * s, 59 * min + 59 * s, h + 5 * min, 99 * h, 1234 * h].map(clock)).toEqual([
    "0:12",
    "59:59",
    "1h 05",
    "99h 00",
    "1234h",
  ]);
});

it("a guess is rough", () => {
  expect([5 * s, 61 * s, 59 * min, 80 * min, 30 * h].map(roughly)).toEqual([
    "less than a minute",
    "about 2 min",
    "about 59 min",
    "about 1.5 h",
    "about 30 h",
  ]);
});

it("spend is what is known of it", () => {
  expect([0, 950, 1000, 12_400, 999_499, 1_200_000, 571_770_000].map(tokens)).toEqual([
    "0",
    "950",
    "1k",
    "12k",
    "999k",
    "1.2M",
    "572M",
  ]);
  expect(spendWords({ tokens: 1500 })).toBe("1.5k tokens");
  expect(spendWords({ tokens: 0, cost: 0.001 })).toBe("<$0.01");
  expect(spendWords({ tokens: 1_200_000, cost: 3.4 })).toBe("1.2M tokens, $3.40");
});
