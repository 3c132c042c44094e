/**
 * A plan's shape: who waits for whom, and nothing of how far it has come. Where phases stand in the
 * drawing follows from it alone, so that a run is laid out once, however much happens in it.
 */
import type { Node } from "../../src/core/plan/graph.ts";

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
export const gap = { column: 60, row: 18, line: 10 } as const;

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
