/** Lays a plan out beside the page: five hundred phases take seconds, and nothing waits for them. */
import { Graph, layout } from "@dagrejs/dagre";
import { directNeeds, type Node } from "../../src/core/plan/graph.ts";
import { box, curveThrough, type Drawing, gap, type Point, type Shape, sides } from "./shape.ts";

function drawn(nodes: readonly Node[]): Drawing {
  const graph = new Graph();
  graph.setGraph({
    rankdir: "LR",
    nodesep: gap.row,
    ranksep: gap.column,
    edgesep: 10,
    ranker: nodes.length > 200 ? "longest-path" : "tight-tree",
  });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id } of nodes) graph.setNode(id, { ...box });
  const needs = directNeeds(nodes);
  for (const [id, from] of needs) for (const each of from) graph.setEdge(each, id);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const places = Object.fromEntries(
    nodes.map(({ id }) => {
      const { x, y } = graph.node(id) as unknown as Point;
      return [id, { x, y }];
    }),
  );
  const at = (id: string): Point => places[id] ?? { x: 0, y: 0 };
  const edges = [...needs].flatMap(([to, from]) =>
    from.map((each) => {
      const { points } = graph.edge(each, to) as unknown as { points: Point[] };
      const [start, end] = sides(at(each), at(to));
      return { from: each, to, path: curveThrough([start, ...points.slice(1, -1), end]) };
    }),
  );
  return { width, height, places, edges };
}

addEventListener("message", ({ data }: MessageEvent<Shape>) => {
  postMessage({ key: data.key, drawing: drawn(data.nodes) });
});
