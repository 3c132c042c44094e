import { describe, expect, it } from "vitest";
import { budgetsOf, exceeded, nothingSpent, usualBudgets } from "./budget.ts";

const spent = (more: object) => ({ ...nothingSpent, ...more });

describe("what may be used up", () => {
  it("has usual limits for attempts, phases and runs", () => {
    expect(budgetsOf()).toEqual(usualBudgets);
    for (const cap of Object.values(usualBudgets))
      expect(Object.keys(cap).length).toBeGreaterThan(1);
  });

  it("is what people say, key by key; `false` is no limit", () => {
    const { attempt, phase } = budgetsOf({ attempt: { tokens: 10, cost: false } });
    expect(attempt).toEqual({ tokens: 10 });
    expect(phase).toEqual(usualBudgets.phase);
  });

  it("is over at the limit, not before", () => {
    expect(exceeded(spent({ tokens: 999 }), { tokens: 1000 })).toBeUndefined();
    expect(exceeded(spent({ tokens: 1000 }), { tokens: 1000 })).toBe(
      "1 k tokens used, of 1 k tokens",
    );
    expect(exceeded(spent({ cost: 2.5 }), { cost: 2 })).toBe("$2.50 spent, of $2.00");
    expect(exceeded(spent({ ms: 3_600_000 }), { minutes: 30 })).toBe("60 min of work, of 30");
    expect(exceeded(spent({ tokens: 1e12, cost: 1e6, ms: 1e12 }), {})).toBeUndefined();
  });

  it("is as much again for each yes", () => {
    expect(exceeded(spent({ tokens: 1500 }), { tokens: 1000 }, 2)).toBeUndefined();
    expect(exceeded(spent({ tokens: 2_000 }), { tokens: 1000 }, 2)).toBe(
      "2 k tokens used, of 2 k tokens",
    );
  });
});
