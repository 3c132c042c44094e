import { describe, expect, it } from "vitest";
import { type AgentUse, admit } from "./admission.ts";

const now = "2026-01-01T12:00:00.000Z";
const later = "2026-01-01T13:00:00.000Z";
const dayEnds = "2026-01-02T00:00:00.000Z";
const idle: AgentUse = { underWay: 0, begun: [], dollarsToday: 0, dayEnds };
const asked = (rule: Parameters<typeof admit>[1], use: Partial<AgentUse> = {}) =>
  admit("codex", rule, { ...idle, ...use }, now);

describe("whoever wants one more attempt of an agent", () => {
  it("gets it where nothing was settled, and up to what was settled", () => {
    const much = { underWay: 99, begun: [now, now], dollarsToday: 1e6 };
    expect(asked({}, much).is).toBe("admitted");
    const rule = { atOnce: 3, perMinute: 3, dollarsADay: 5 };
    expect(asked(rule, { underWay: 2, begun: [now, now], dollarsToday: 4.99 }).is).toBe("admitted");
  });

  it("waits for a place, and for the minute to pass", () => {
    expect(asked({ atOnce: 3 }, { underWay: 3 })).toEqual({
      is: "waits",
      why: "3 of 3 places for codex are taken",
    });
    expect(asked({ perMinute: 1 }, { begun: [now] }).is).toBe("waits");
    expect(asked({ atOnce: 0 }).is).toBe("waits");
  });

  it("is parked until midnight when the day's money is spent", () => {
    expect(asked({ dollarsADay: 5 }, { dollarsToday: 5 })).toEqual({
      is: "parked",
      until: dayEnds,
      why: "the fleet's budget for codex is used up for today: $5.00 of $5.00",
    });
  });

  it("is parked for as long as its account has nothing left, and no longer", () => {
    const limited = { limitedUntil: later, reason: "five hours are over" };
    expect(asked({ ...limited, atOnce: 0 })).toEqual({
      is: "parked",
      until: later,
      why: "five hours are over",
    });
    expect(admit("codex", limited, idle, later).is).toBe("admitted");
  });
});
