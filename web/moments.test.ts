import { describe, expect, it } from "vitest";
import { ago, countdown, inWords } from "./moments.ts";

const now = Date.UTC(2026, 0, 1, 12);

describe("a moment", () => {
  it.each([
    [0, "just now"],
    [59_000, "just now"],
    [61_000, "1 min ago"],
    [3_725_000, "1 h 2 min ago"],
    [50 * 3_600_000, "2 days ago"],
  ])("%i ms ago", (ms, words) => {
    expect(ago(now - ms, now)).toBe(words);
  });

  it.each([
    [1, "0:01"],
    [61_000, "1:01"],
    [725_000, "12:05"],
    [3_723_000, "1:02:03"],
    [0, undefined],
    [-5, undefined],
  ])("in %i ms", (ms, words) => {
    expect(countdown(now + ms, now)).toBe(words);
  });

  it("that is none is not told", () => {
    expect([ago("", now), countdown("soon", now)]).toEqual(["", undefined]);
  });

  it("within a sentence is said as people say it", () => {
    expect(inWords("parked until 2026-01-01T12:30:00.000Z, no more", now)).toMatch(
      /^parked until \d\d:\d\d, no more$/,
    );
  });
});
