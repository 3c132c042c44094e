/**
 * An order of phases that is drawn in characters: boxes, trees, arrows down and to the right. Lines
 * are followed cell by cell, as an eye would; a drawing with an arrow that leads nowhere is not
 * read at all (undefined), because half a graph is a wrong one.
 */
import { reaches } from "./graph.ts";

type Side = "up" | "down" | "left" | "right";

const opposite: Record<Side, Side> = { up: "down", down: "up", left: "right", right: "left" };
const step: Record<Side, readonly [number, number]> = {
  up: [-1, 0],
  down: [1, 0],
  left: [0, -1],
  right: [0, 1],
};

const ports = new Map<string, readonly Side[]>();
for (const [signs, sides] of [
  ["│┃║|╎┆", ["up", "down"]],
  ["─━═-╌┄", ["left", "right"]],
  ["┌╭╔", ["right", "down"]],
  ["┐╮╗", ["left", "down"]],
  ["└╰╚", ["right", "up"]],
  ["┘╯╝", ["left", "up"]],
  ["├╠", ["up", "down", "right"]],
  ["┤╣", ["up", "down", "left"]],
  ["┬╦", ["left", "right", "down"]],
  ["┴╩", ["left", "right", "up"]],
  ["┼╬+", ["up", "down", "left", "right"]],
  ["▼↓⬇vV", ["up", "down", "left", "right"]],
  ["►▶→➡➜>", ["left", "right"]],
  ["◄◀←", ["left", "right"]],
  ["▲↑^", ["up", "down"]],
] as const) {
  for (const sign of signs) ports.set(sign, sides);
}

const heads = new Map<string, Side>();
for (const [signs, side] of [
  ["▼↓⬇vV", "down"],
  ["►▶→➡➜>", "right"],
  ["◄◀←", "left"],
  ["▲↑^", "up"],
] as const) {
  for (const sign of signs) heads.set(sign, side);
}

/** Signs that are only part of a drawing when they do not stand in a word. */
const drawn =
  /[─━═│┃║╎┆╌┄┌┐└┘├┤┬┴┼╭╮╰╯╔╗╚╝╠╣╦╩╬▼▲►◄▶◀↓↑→←⬇➡➜]|(?<=^|\s)[|+vV^](?=\s|$)|(?<=^|\s)-{2,}>?(?=\s|$)|(?<=[|+\s])-+>(?=\s)|(?<=^|\s)\+-+(?:\+-+)*\+?(?=\s|$)/gu;

interface Shape {
  readonly ids: readonly string[];
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

export interface DrawnEdge {
  readonly phase: string;
  readonly dependsOn: string;
}

/** `node`: the phases that a label names; undefined: it names none. */
export function readDrawnOrder(
  lines: readonly string[],
  node: (label: string) => readonly string[] | undefined,
): DrawnEdge[] | undefined {
  const grid = lines.map((line) => Array.from(line));
  const isLine = lines.map((line) => lineCells(line));
  const boxes = findBoxes(grid);
  const shapes = [...boxedShapes(grid, boxes, node), ...looseShapes(grid, isLine, boxes, node)];
  const walls = new Set(boxes.flatMap(borderOf));
  const owner = ownersOf(shapes);
  const isConnector = (row: number, column: number): boolean =>
    (isLine[row]?.has(column) ?? false) &&
    !walls.has(`${row} ${column}`) &&
    owner(row, column) === undefined;

  const edges: DrawnEdge[] = [];
  const seen = new Set<string>();
  for (const [row, cells] of isLine.entries()) {
    for (const column of cells) {
      if (seen.has(`${row} ${column}`) || !isConnector(row, column)) continue;
      const touched = follow(row, column);
      if (!touched) return undefined;
      edges.push(...touched);
    }
  }
  const graph = new Map<string, string[]>();
  for (const { phase, dependsOn } of edges) {
    if (reaches(graph, dependsOn, phase)) return undefined;
    graph.set(phase, [...(graph.get(phase) ?? []), dependsOn]);
  }
  return edges;

  /** One connected line with all its branches: who is at its ends. */
  function follow(startRow: number, startColumn: number): DrawnEdge[] | undefined {
    const from = new Set<Shape>();
    const to = new Set<Shape>();
    const ends: { shape: Shape; side: Side; pointed: boolean }[] = [];
    let hasHead = false;
    const next: [number, number][] = [[startRow, startColumn]];
    seen.add(`${startRow} ${startColumn}`);
    for (let cell = next.pop(); cell; cell = next.pop()) {
      const [row, column] = cell;
      const sign = grid[row]?.[column] ?? " ";
      const head = heads.get(sign);
      hasHead ||= head !== undefined;
      for (const side of ports.get(sign) ?? []) {
        const [down, right] = step[side];
        const [r, c] = [row + down, column + right];
        const shape =
          owner(r, c) ?? (side === "right" || side === "left" ? beyond(r, c, right) : undefined);
        if (shape) ends.push({ shape, side, pointed: head === side });
        else if (isConnector(r, c) && !seen.has(`${r} ${c}`)) {
          const other = grid[r]?.[c] ?? " ";
          if ((ports.get(other) ?? []).includes(opposite[side])) {
            seen.add(`${r} ${c}`);
            next.push([r, c]);
          }
        }
      }
    }
    for (const { shape, side, pointed } of ends) {
      if (pointed || (!hasHead && (side === "down" || side === "right"))) to.add(shape);
      else from.add(shape);
    }
    for (const shape of to) from.delete(shape);
    // A rule under a title touches nobody, nor does the "←" before a remark; an arrow that leads
    // from a phase to nowhere is a riddle.
    if (to.size === 0 || from.size === 0)
      return ends.length > 0 && (hasHead || ends.length > 1) ? undefined : [];
    return [...to].flatMap(({ ids }) =>
      ids.flatMap((phase) =>
        [...from].flatMap((source) =>
          source.ids.filter((id) => id !== phase).map((dependsOn) => ({ phase, dependsOn })),
        ),
      ),
    );
  }

  /** A blank between an arrow and what it points to. */
  function beyond(row: number, column: number, direction: number): Shape | undefined {
    return grid[row]?.[column] === " " ? owner(row, column + direction) : undefined;
  }
}

function lineCells(line: string): Set<number> {
  const cells = new Set<number>();
  for (const { 0: signs, index } of line.matchAll(drawn)) {
    const start = Array.from(line.slice(0, index)).length;
    for (let at = 0; at < signs.length; at++) cells.add(start + at);
  }
  return cells;
}

interface Box {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

function findBoxes(grid: readonly (readonly string[])[]): Box[] {
  const boxes: Box[] = [];
  for (const [top, row] of grid.entries()) {
    for (const [left, sign] of row.entries()) {
      if (!/[┌╭╔+]/u.test(sign)) continue;
      let right = left + 1;
      while (/[─━═\-┬┴]/u.test(row[right] ?? "")) right++;
      if (right === left + 1 || !/[┐╮╗+]/u.test(row[right] ?? "")) continue;
      let bottom = top + 1;
      while (/[│┃║|├┤]/u.test(grid[bottom]?.[left] ?? "")) bottom++;
      const closes =
        /[└╰╚+]/u.test(grid[bottom]?.[left] ?? "") && /[┘╯╝+]/u.test(grid[bottom]?.[right] ?? "");
      if (closes && bottom > top + 1) boxes.push({ top, bottom, left, right });
    }
  }
  return boxes;
}

function borderOf({ top, bottom, left, right }: Box): string[] {
  const cells: string[] = [];
  for (let column = left; column <= right; column++)
    cells.push(`${top} ${column}`, `${bottom} ${column}`);
  for (let row = top; row <= bottom; row++) cells.push(`${row} ${left}`, `${row} ${right}`);
  return cells;
}

/** A box that holds the name of one phase is that phase, with all of its area. */
function boxedShapes(
  grid: readonly (readonly string[])[],
  boxes: readonly Box[],
  node: (label: string) => readonly string[] | undefined,
): Shape[] {
  return boxes.flatMap((box) => {
    const inside = boxes.some(
      (other) =>
        other !== box &&
        other.top > box.top &&
        other.bottom < box.bottom &&
        other.left > box.left &&
        other.right < box.right,
    );
    if (inside) return [];
    for (let row = box.top + 1; row < box.bottom; row++) {
      const ids = node(
        (grid[row] ?? [])
          .slice(box.left + 1, box.right)
          .join("")
          .trim(),
      );
      if (ids) return [{ ids, ...box }];
    }
    return [];
  });
}

/** Names that stand free: what lies between lines or wide gaps. */
function looseShapes(
  grid: readonly (readonly string[])[],
  isLine: readonly ReadonlySet<number>[],
  boxes: readonly Box[],
  node: (label: string) => readonly string[] | undefined,
): Shape[] {
  return grid.flatMap((row, at) => {
    const shapes: Shape[] = [];
    const taken = (column: number): boolean =>
      (isLine[at]?.has(column) ?? false) ||
      boxes.some(
        ({ top, bottom, left, right }) =>
          at >= top && at <= bottom && column >= left && column <= right,
      );
    for (let left = 0; left < row.length; left++) {
      if (row[left] === " " || taken(left)) continue;
      let right = left;
      for (let column = left; column < row.length && !taken(column); column++) {
        if (row[column] !== " ") right = column;
        else if (column - right > 2) break;
      }
      const ids = node(
        row
          .slice(left, right + 1)
          .join("")
          .trim(),
      );
      if (ids) shapes.push({ ids, top: at, bottom: at, left, right });
      left = right;
    }
    return shapes;
  });
}

function ownersOf(shapes: readonly Shape[]): (row: number, column: number) => Shape | undefined {
  const byRow = new Map<number, Shape[]>();
  for (const shape of shapes) {
    for (let row = shape.top; row <= shape.bottom; row++)
      byRow.set(row, [...(byRow.get(row) ?? []), shape]);
  }
  return (row, column) =>
    byRow.get(row)?.find(({ left, right }) => column >= left && column <= right);
}
