/**
 * A plan's shape: who waits for whom, and nothing of how far it has come. Where phases stand in the
 * drawing follows from it alone, so that a run is laid out once, however much happens in it.
 */
import { batchesOf, type Node } from "../../src/core/plan/graph.ts";

export interface Shape {
  readonly key: string;
  readonly nodes: readonly Node[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  /** As a path of SVG. */
  readonly path: string;
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  /** By phase: where the middle of its box is. */
  readonly places: Readonly<Record<string, Point>>;
  readonly edges: readonly Edge[];
}

export const box = { width: 216, height: 58 } as const;
export const gap = { column: 56, row: 18 } as const;

const shapes = new WeakMap<readonly Node[], Shape>();

/** The same order is the same shape; one that was read anew is compared by its key. */
export function shapeOf(order: readonly Node[]): Shape {
  const known = shapes.get(order);
  if (known) return known;
  const nodes = order.map(({ id, dependsOn }) => ({ id, dependsOn }));
  const shape = { key: JSON.stringify(nodes.map((node) => [node.id, ...node.dependsOn])), nodes };
  shapes.set(order, shape);
  return shape;
}

/** From left to right: a line leaves and arrives level, whatever it passes between. */
export function curveThrough(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let path = `M${round(first.x)} ${round(first.y)}`;
  let before = first;
  for (const point of rest) {
    const middle = round((before.x + point.x) / 2);
    const [x, y] = [round(point.x), round(point.y)];
    path += `C${middle} ${round(before.y)} ${middle} ${y} ${x} ${y}`;
    before = point;
  }
  return path;
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** Column by column, without looking for fewer crossings: for when nobody lays it out better. */
export function inColumns(nodes: readonly Node[]): Drawing {
  const columns = batchesOf(nodes);
  const placed = new Set(columns.flat());
  const lost = nodes.filter(({ id }) => !placed.has(id)).map(({ id }) => id);
  if (lost.length > 0) columns.push(lost);
  const step = { x: box.width + gap.column, y: box.height + gap.row };
  const tallest = Math.max(0, ...columns.map((column) => column.length));
  const places: Record<string, Point> = {};
  for (const [at, column] of columns.entries()) {
    const top = ((tallest - column.length) * step.y) / 2;
    for (const [row, id] of column.entries()) {
      places[id] = { x: at * step.x + box.width / 2, y: top + row * step.y + box.height / 2 };
    }
  }
  return {
    width: Math.max(0, columns.length * step.x - gap.column),
    height: Math.max(0, tallest * step.y - gap.row),
    places,
    edges: nodes.flatMap(({ id, dependsOn }) =>
      dependsOn.flatMap((from) => {
        const [a, b] = [places[from], places[id]];
        return a && b && from !== id ? [{ from, to: id, path: curveThrough(sides(a, b)) }] : [];
      }),
    ),
  };
}

/** From the right side of one box to the left side of another. */
export const sides = (from: Point, to: Point): [Point, Point] => [
  { x: from.x + box.width / 2, y: from.y },
  { x: to.x - box.width / 2, y: to.y },
];
