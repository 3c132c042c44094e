import { describe, expect, it } from "vitest";
import { nothingSpentYet, type Spending, spendMore } from "../../src/core/board/spend.ts";
import { isInSight, mostLayers, spendOfSessions, stackOf, totalsOf } from "./spending.ts";

const series = (...spendings: readonly Spending[]) => spendings.reduce(spendMore, nothingSpentYet);
const two = series(
  { at: 1000, agent: "claude", phase: "a", tokens: 10, cost: 1 },
  { at: 3000, agent: "codex", phase: "b", tokens: 100 },
  { at: 5000, agent: "claude", phase: "b", tokens: 5, cost: 2 },
);

describe("what was spent", () => {
  it("is stacked by agent, from the beginning to the end of what is shown", () => {
    expect(stackOf(two, "agents", "tokens", { from: 500, to: 9000 })).toEqual({
      at: [500, 2000, 4000, 6000, 9000],
      layers: [
        { name: "codex", sums: [0, 0, 100, 100, 100] },
        { name: "claude", sums: [0, 10, 10, 15, 15] },
      ],
      total: 115,
    });
  });

  it("is stacked by phase, in money, as far as anybody tells of money", () => {
    const { layers, total } = stackOf(two, "phases", "cost", { from: 1000, to: 0 });
    expect(layers.map(({ name, sums }) => [name, sums.at(-1)])).toEqual([
      ["b", 2],
      ["a", 1],
    ]);
    expect(total).toBe(3);
  });

  it("has no more layers than can be told apart: the rest is one", () => {
    const many = series(
      ...Array.from({ length: 20 }, (_, at) => ({
        at: at * 1000,
        agent: "claude",
        phase: `p${at}`,
        tokens: 100 + at,
      })),
    );
    const { layers, total } = stackOf(many, "phases", "tokens", { from: 0, to: 0 });
    expect(layers).toHaveLength(mostLayers);
    expect(layers.at(-1)?.name).toBe("others");
    expect(total).toBe(2190);
  });

  it("is listed by who has spent most; what nobody told stays untold", () => {
    expect(totalsOf(two, "agents")).toEqual([
      { name: "claude", spend: { tokens: 15, cost: 3 } },
      { name: "codex", spend: { tokens: 100 } },
    ]);
  });

  it("is set against a budget that is in sight", () => {
    expect([isInSight(25, 18), isInSight(250, 18), isInSight(undefined, 18)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it("of a flow comes from its sessions", () => {
    const session = { session: 1, step: "2", cycle: 1, skill: "plan", agent: "mine" };
    const spent = spendOfSessions([
      { ...session, startedAt: "2026-01-01T12:00:00.000Z", spend: { tokens: 7 } },
      { ...session, startedAt: "2026-01-01T12:05:00.000Z" },
    ]);
    expect(totalsOf(spent, "phases")).toEqual([{ name: "2", spend: { tokens: 7 } }]);
  });
});
