import { describe, expect, it } from "vitest";
import { batchesOf, criticalPathOf, cyclesOf } from "./graph.ts";
import { drawLanes } from "./lanes.ts";

const nodes = (text: string): { id: string; dependsOn: string[] }[] =>
  text.split(" ").map((each) => {
    const [id = "", needs = ""] = each.split("<");
    return { id, dependsOn: needs.split(",").filter(Boolean) };
  });

describe("a graph", () => {
  it("falls into batches", () => {
    expect(batchesOf(nodes("0 1<0 2a<1 2b<1 3<2a,2b"))).toEqual([
      ["0"],
      ["1"],
      ["2a", "2b"],
      ["3"],
    ]);
  });

  it("names a cycle as it is walked, and leaves its phases out of the batches", () => {
    const round = nodes("1 2<1,4 3<2 4<3 5<4");
    expect(cyclesOf(round)).toEqual([["2", "4", "3"]]);
    expect(batchesOf(round)).toEqual([["1"]]);
  });

  it("has a longest chain, by points where there are any", () => {
    const graph = nodes("0 1<0 2<0 3<1,2").map((node) => ({
      ...node,
      estimate: node.id === "2" ? 8 : 1,
    }));
    expect(criticalPathOf(graph, batchesOf(graph))).toEqual(["0", "2", "3"]);
  });

  it("of ten thousand phases in a row does not run out of stack", () => {
    const chain = Array.from({ length: 10_000 }, (_, index) => ({
      id: String(index),
      dependsOn: index === 0 ? [] : [String(index - 1)],
    }));
    expect(cyclesOf(chain)).toEqual([]);
    expect(criticalPathOf(chain, batchesOf(chain))).toHaveLength(10_000);
  });
});

describe("lanes", () => {
  const drawn = (text: string): string[] | undefined =>
    drawLanes(nodes(text), () => "o")?.map(({ lanes, id }) => (id ? `${lanes} ${id}` : lanes));

  it("fork and join", () => {
    expect(drawn("1 2a<1 2b<1 3<2a,2b")).toEqual(["o 1", "├─╮", "o │ 2a", "│ o 2b", "├─╯", "o 3"]);
  });

  it("leave out what follows from other lines", () => {
    expect(drawn("1 2<1 3<1,2")).toEqual(["o 1", "o 2", "o 3"]);
  });

  it("give up when they would be too many", () => {
    const fan = ["0", ...Array.from({ length: 20 }, (_, index) => `a${index}<0`)].join(" ");
    expect(drawn(fan)).toBeUndefined();
  });
});
