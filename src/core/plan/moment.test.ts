import { describe, expect, it } from "vitest";
import { momentOf } from "./moment.ts";

describe("a moment", () => {
  it.each([
    "1970-01-01T00:00:00.000Z",
    "2026-02-28T23:59:59.999Z",
    "2024-02-29T12:00:00.123Z",
    "2000-03-01T00:00:00Z",
    "2100-03-01T07:08Z",
    "2026-10-06T20:00:00+02:00",
    "2026-10-06T20:00:00.5-0530",
  ])("%s is the millisecond that a calendar says", (iso) => {
    expect(momentOf(iso)).toBe(Date.parse(iso.replace(/([+-]\d\d)(\d\d)$/, "$1:$2")));
  });

  it("is every day of four hundred years", () => {
    for (let day = 0; day < 146_097; day += 13) {
      const iso = new Date(day * 86_400_000 - 62_135_596_800_000 / 4).toISOString();
      expect(momentOf(iso)).toBe(Date.parse(iso));
    }
  });

  it.each(["", "tomorrow", "2026-10-06", "2026-10-06T20:00:00"])("is not %j", (text) => {
    expect(momentOf(text)).toBeUndefined();
  });
});
