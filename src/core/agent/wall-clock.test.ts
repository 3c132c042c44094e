import { describe, expect, it } from "vitest";
import { fixedZone, isoOf, momentOfWall, namedZone, wallAt, weekdayAt } from "./wall-clock.ts";

describe("a clock on the wall", () => {
  it("shows what a calendar says, on every day of four hundred years", () => {
    for (let day = 0; day < 146_097; day += 13) {
      const moment = day * 86_400_000 + 45_296_789;
      expect(isoOf(moment)).toBe(new Date(moment).toISOString());
      expect(weekdayAt(moment, fixedZone(0))).toBe(new Date(moment).getUTCDay());
    }
  });

  it("says nothing of moments that have no year of four digits", () => {
    expect([Number.NaN, -1, 1e18, Number.POSITIVE_INFINITY].map(isoOf)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it.each(["Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata", "Pacific/Auckland", "UTC"])(
    "goes there and back in %s, summer and winter",
    (name) => {
      const zone = namedZone(name);
      if (!zone) throw new Error(name);
      for (let month = 1; month <= 12; month++) {
        const moment = Date.UTC(2026, month - 1, 15, 11, 7, 3);
        expect(momentOfWall(wallAt(moment, zone), zone, moment)).toBe(moment);
        expect(momentOfWall(wallAt(moment, zone), zone, moment - 3 * 86_400_000)).toBe(moment);
      }
    },
  );

  it("knows no zone that nobody knows", () => {
    expect(namedZone("Nowhere/Land")).toBeUndefined();
    expect(namedZone("")).toBeUndefined();
  });
});
