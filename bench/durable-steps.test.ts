import { describe, expect, it } from "vitest";
import { stepRows } from "./durable-steps.ts";

const limit = "append + fdatasync";
const rowsOf = (ours: number[], others: Record<string, number[]>) => [
  ...stepRows(
    [
      { name: "autodev transition", times: ours },
      ...Object.entries(others).map(([name, times]) => ({ name, times })),
    ],
    [["absent", "it could not be installed"]],
  ),
];

describe("a durable step beside those of others", () => {
  it("is compared turn by turn, so that a turn in which all are slow counts no more than others", () => {
    const rows = rowsOf([2, 20, 2], { [limit]: [1, 10, 1], slow: [4, 40, 4] });
    expect(rows.map(({ figure }) => figure)).toEqual([2, 0.5, null]);
  });

  it("has no figure at all where it came out quicker than the calls that it consists of", () => {
    const rows = rowsOf([1, 1, 1], { [limit]: [2, 2, 2], slow: [4, 4, 4] });
    expect(rows.map(({ figure }) => figure)).toEqual([null, null, null]);
    expect(rows.flatMap(({ versus }) => versus?.theirs.figure ?? [])).toEqual([]);
    expect(rows[1]?.detail).toContain("too busy");
  });

  it("names who is missing, with the reason", () => {
    const row = rowsOf([2], { [limit]: [1] }).at(-1);
    expect([row?.name, row?.figure, row?.detail]).toEqual([
      "autodev transition / absent",
      null,
      "it could not be installed",
    ]);
  });
});
