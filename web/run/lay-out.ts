/**
 * Where phases stand: a column for each batch, in an order in which few lines cross, as level with
 * what they wait for as their neighbours allow. Lines that pass a column have a lane of their own in
 * it, one for all that come from the same phase, so that no line runs through a box.
 *
 *  1. A column is a batch, as `plan check` shows them: what stands in one could run at once.
 *  2. A column is never higher than its boxes and lanes need: five hundred phases still fit a screen.
 */
import { batchesOf, directNeeds, type Node } from "../../src/core/plan/graph.ts";
import { box, type Drawing, gap, type Point } from "./shape.ts";

/** A box, or the lane of a line. */
interface Cell {
  readonly id?: string;
  readonly column: number;
  readonly before: Cell[];
  readonly after: Cell[];
  /** Its place in the column, from above. */
  at: number;
  y: number;
}

type Columns = Cell[][];

export function laidOut(nodes: readonly Node[]): Drawing {
  const columns: Columns = batchesOf(nodes).map((batch, column) =>
    batch.map((id, at) => ({ id, column, before: [], after: [], at, y: 0 })),
  );
  const placed = new Map(columns.flat().map((cell) => [cell.id, cell]));
  // On a cycle, or behind one: nothing is known of their order.
  const lost = nodes.filter(({ id }) => !placed.has(id));
  if (lost.length > 0) {
    const column = columns.length;
    columns.push(lost.map(({ id }, at) => ({ id, column, before: [], after: [], at, y: 0 })));
    for (const cell of columns[column] ?? []) placed.set(cell.id, cell);
  }
  const lines = [...directNeeds(nodes)].flatMap(([to, needs]) =>
    needs.map((from) => ({ from, to })),
  );
  const lanes = new Map<string, Cell>();
  const ways = lines.flatMap(({ from, to }) => {
    const [start, end] = [placed.get(from), placed.get(to)];
    return start && end ? [{ from, to, way: wayFrom(start, end, columns, lanes) }] : [];
  });
  order(columns);
  level(columns);
  return drawn(columns, ways);
}

/** Through a lane in each column between them. */
function wayFrom(start: Cell, end: Cell, columns: Columns, lanes: Map<string, Cell>): Cell[] {
  const way = [start];
  for (let column = start.column + 1; column < end.column; column++) {
    const key = `${start.id} ${column}`;
    const list = columns[column] ?? [];
    const lane = lanes.get(key) ?? { column, before: [], after: [], at: list.length, y: 0 };
    if (!lanes.has(key)) {
      lanes.set(key, lane);
      list.push(lane);
    }
    way.push(lane);
  }
  way.push(end);
  for (const [at, cell] of way.entries()) {
    const next = way[at + 1];
    if (!next || next.column <= cell.column || cell.after.includes(next)) continue;
    cell.after.push(next);
    next.before.push(cell);
  }
  return way;
}

const sweeps = 12;

/** To and fro, each column by the middle of what it hangs on; the best that came up is kept. */
function order(columns: Columns): void {
  let best = columns.map((column) => [...column]);
  let fewest = crossings(columns);
  for (let sweep = 0; sweep < sweeps && fewest > 0; sweep++) {
    const forward = sweep % 2 === 0;
    for (const column of forward ? columns : columns.toReversed()) {
      const wish = new Map(
        column.map((cell) => [cell, mean(forward ? cell.before : cell.after, "at") ?? cell.at]),
      );
      column.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0));
      number(column);
    }
    const count = crossings(columns);
    if (count >= fewest) continue;
    fewest = count;
    best = columns.map((column) => [...column]);
  }
  for (const [at, column] of best.entries()) {
    columns[at] = column;
    number(column);
  }
}

function number(column: readonly Cell[]): void {
  for (const [at, cell] of column.entries()) cell.at = at;
}

function crossings(columns: Columns): number {
  let count = 0;
  for (const column of columns) {
    const lines = column.flatMap((from) => from.after.map((to) => [from.at, to.at] as const));
    for (const [at, [from, to]] of lines.entries()) {
      for (let other = at + 1; other < lines.length; other++) {
        const [start = 0, end = 0] = lines[other] ?? [];
        if ((from - start) * (to - end) < 0) count++;
      }
    }
  }
  return count;
}

function mean(cells: readonly Cell[], of: "at" | "y"): number | undefined {
  if (cells.length === 0) return undefined;
  return cells.reduce((sum, cell) => sum + cell[of], 0) / cells.length;
}

/** Each as high as what it hangs on, to and fro; what would overlap makes room by the least. */
function level(columns: Columns): void {
  for (const column of columns)
    settle(
      column,
      column.map(() => 0),
    );
  for (let sweep = 0; sweep < 8; sweep++) {
    const forward = sweep % 2 === 0;
    for (const column of forward ? columns : columns.toReversed()) {
      settle(
        column,
        column.map((cell) => {
          const near = mean(forward ? cell.before : cell.after, "y");
          const far = mean(forward ? cell.after : cell.before, "y");
          return near === undefined ? (far ?? cell.y) : (3 * near + (far ?? near)) / 4;
        }),
      );
    }
  }
}

/** Least squares with the order kept: neighbours that want each other's place share it. */
function settle(column: readonly Cell[], wishes: readonly number[]): void {
  const groups: { sum: number; weight: number; cells: Cell[] }[] = [];
  const offsets = new Map<Cell, number>();
  let offset = 0;
  for (const [at, cell] of column.entries()) {
    const above = column[at - 1];
    if (above) offset += room(above, cell);
    offsets.set(cell, offset);
    // A line that is bent is worse than a box that is a little off.
    const weight = cell.id === undefined ? 3 : 1;
    groups.push({ sum: ((wishes[at] ?? 0) - offset) * weight, weight, cells: [cell] });
    for (let last = groups.length - 1; last > 0; last--) {
      const [upper, lower] = [groups[last - 1], groups[last]];
      if (!upper || !lower || upper.sum / upper.weight <= lower.sum / lower.weight) break;
      upper.sum += lower.sum;
      upper.weight += lower.weight;
      upper.cells.push(...lower.cells);
      groups.pop();
    }
  }
  for (const { sum, weight, cells } of groups) {
    for (const cell of cells) cell.y = sum / weight + (offsets.get(cell) ?? 0);
  }
}

/** From the middle of one to the middle of the next. */
function room(above: Cell, below: Cell): number {
  const boxes = Number(above.id !== undefined) + Number(below.id !== undefined);
  return (boxes * box.height) / 2 + (boxes === 2 ? gap.row : gap.line);
}

function drawn(
  columns: Columns,
  ways: readonly { readonly from: string; readonly to: string; readonly way: readonly Cell[] }[],
): Drawing {
  const step = box.width + gap.column;
  const boxes = columns.flat().filter(({ id }) => id !== undefined);
  const top = Math.min(...columns.flat().map(({ y }) => y)) - box.height / 2;
  const bottom = Math.max(...columns.flat().map(({ y }) => y)) + box.height / 2;
  const left = ({ column, y }: Cell): Point => ({ x: column * step, y: y - top });
  const right = ({ column, y }: Cell): Point => ({ x: column * step + box.width, y: y - top });
  return {
    width: Math.max(0, columns.length * step - gap.column),
    height: boxes.length === 0 ? 0 : bottom - top,
    places: Object.fromEntries(
      boxes.map(({ id = "", column, y }) => [id, { x: column * step + box.width / 2, y: y - top }]),
    ),
    edges: ways.map(({ from, to, way }) => ({
      from,
      to,
      path: pathAlong(
        way.flatMap((cell, at) =>
          at === 0
            ? [right(cell)]
            : at === way.length - 1
              ? [left(cell)]
              : [left(cell), right(cell)],
        ),
      ),
    })),
  };
}

/** Level through each lane, curved between them. */
function pathAlong(points: readonly Point[]): string {
  return points
    .map(({ x, y }, at) => {
      const before = points[at - 1];
      if (!before) return `M${round(x)} ${round(y)}`;
      if (at % 2 === 0) return `H${round(x)}`;
      const middle = round((before.x + x) / 2);
      return `C${middle} ${round(before.y)} ${middle} ${round(y)} ${round(x)} ${round(y)}`;
    })
    .join("");
}

const round = (value: number): number => Math.round(value * 10) / 10;
