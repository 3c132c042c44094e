import { describe, expect, it } from "vitest";
import type { Node } from "../../src/core/plan/graph.ts";
import { laidOut } from "./lay-out.ts";
import { box, shapeOf } from "./shape.ts";

const plan = (needs: Readonly<Record<string, string>>): Node[] =>
  Object.entries(needs).map(([id, list]) => ({
    id,
    dependsOn: list === "" ? [] : list.split(" "),
  }));

/** Left to right, each column from above. */
function columnsOf(nodes: readonly Node[]): string[][] {
  const { places } = laidOut(nodes);
  const columns = new Map<number, string[]>();
  const sorted = Object.keys(places).sort((a, b) => (places[a]?.y ?? 0) - (places[b]?.y ?? 0));
  for (const id of sorted) {
    const x = places[id]?.x ?? 0;
    columns.set(x, [...(columns.get(x) ?? []), id]);
  }
  return [...columns].sort(([a], [b]) => a - b).map(([, ids]) => ids);
}

describe("the drawing of a plan", () => {
  it("has a column for each batch", () => {
    expect(columnsOf(plan({ a: "", b: "a", c: "a", d: "b c" }))).toEqual([
      ["a"],
      ["b", "c"],
      ["d"],
    ]);
  });

  it("turns columns around so that lines do not cross", () => {
    expect(columnsOf(plan({ a: "", b: "", c: "b", d: "a" }))).toEqual([
      ["a", "b"],
      ["d", "c"],
    ]);
  });

  it("puts a phase level with the only one that it waits for", () => {
    const { places } = laidOut(plan({ a: "", b: "a", c: "b" }));
    expect(new Set(Object.values(places).map(({ y }) => y)).size).toBe(1);
  });

  it("leads a line that passes a column through a lane of its own", () => {
    const nodes = plan({ a: "", x: "", b: "a", c: "b x" });
    const { places, edges } = laidOut(nodes);
    const lane = edges.find(({ from, to }) => from === "x" && to === "c");
    const level = Number(/C\S+ \S+ \S+ (\S+) \S+ \S+H/.exec(lane?.path ?? "")?.[1]);
    expect(Math.abs(level - (places["b"]?.y ?? 0))).toBeGreaterThan(box.height / 2);
  });

  it("leaves out lines that follow from others", () => {
    const { edges } = laidOut(plan({ a: "", b: "a", c: "a b" }));
    expect(edges.map(({ from, to }) => `${from}${to}`)).toEqual(["ab", "bc"]);
  });

  it("shows phases on a cycle after all others", () => {
    expect(columnsOf(plan({ a: "", b: "c", c: "b" }))).toEqual([["a"], ["b", "c"]]);
  });

  it("of nothing is nothing", () => {
    expect(laidOut([])).toEqual({ width: 0, height: 0, places: {}, edges: [] });
  });

  it("of five hundred phases has no two boxes on top of each other, and is no higher than it has to be", () => {
    const wide = 14;
    const nodes = Array.from({ length: 500 }, (_, at) => ({
      id: `p${at}`,
      dependsOn: at < wide ? [] : [`p${at - wide}`, `p${at - wide - ((at * 7) % wide)}`],
    }));
    const { places, height } = laidOut(nodes);
    for (const { x } of Object.values(places)) {
      const column = Object.values(places).filter((each) => each.x === x);
      const ys = column.map(({ y }) => y).sort((one, other) => one - other);
      const closest = Math.min(...ys.slice(1).map((y, at) => y - (ys[at] ?? 0)));
      expect(closest).toBeGreaterThanOrEqual(box.height);
    }
    expect(height).toBeLessThan(wide * 4 * box.height);
  });
});

describe("a plan's shape", () => {
  it("is the same for the same order, and has the same key when it is read anew", () => {
    const order = plan({ a: "", b: "a" });
    expect(shapeOf(order)).toBe(shapeOf(order));
    expect(shapeOf(plan({ a: "", b: "a" })).key).toBe(shapeOf(order).key);
    expect(shapeOf(plan({ a: "", b: "" })).key).not.toBe(shapeOf(order).key);
  });
});
