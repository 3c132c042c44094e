import { describe, expect, it } from "vitest";
import { merged, type RecordedRow, type TortureRecord } from "./record.ts";

const row = (name: string, seed: number): RecordedRow => ({
  name,
  promise: `${name} holds`,
  budgetSeconds: 1,
  seconds: 1,
  seed,
  node: "v20",
  date: "2026-01-01T00:00:00.000Z",
  is: "passed",
  figures: {},
  failures: [],
});
const record = (...rows: RecordedRow[]): TortureRecord => ({ tier: "full", rows });
const names = ["first", "second", "third"];

describe("what is kept of the table", () => {
  it("is what was run last of each row, in the order of the table", () => {
    const before = record(row("first", 1), row("third", 1));
    const now = record(row("second", 2), row("first", 2));
    expect(merged(before, now, names).rows.map(({ name, seed }) => `${name} ${seed}`)).toEqual([
      "first 2",
      "second 2",
      "third 1",
    ]);
  });

  it("forgets a row that is no longer in the table", () => {
    const kept = merged(record(row("gone", 1)), record(row("first", 2)), names);
    expect(kept.rows.map(({ name }) => name)).toEqual(["first"]);
  });

  it("mixes no tiers, and no single case with whole rows", () => {
    const before = record(row("first", 1));
    const other: TortureRecord = { tier: "ci", rows: [row("second", 2)] };
    const one: TortureRecord = { tier: "full", onlyCase: "7", rows: [row("second", 2)] };
    expect(() => merged(before, other, names)).toThrow("another kind of run");
    expect(() => merged(before, one, names)).toThrow("another kind of run");
    expect(() => merged(one, before, names)).toThrow("another kind of run");
    expect(merged(one, one, names)).toEqual(one);
  });
});
