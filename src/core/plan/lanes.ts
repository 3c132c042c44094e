/**
 * A graph as lines of text, the way `git log --graph` draws history: time runs downwards, a lane is
 * a phase that somebody waits for. Pure layout: what stands beside a node is the caller's.
 */
import { batchesOf, directNeeds, type Node } from "./graph.ts";

export interface LaneRow {
  /** The drawing to the left. */
  readonly lanes: string;
  /** Absent: a line that only connects. */
  readonly id?: string;
}

/** Rows in an order in which the phases could be done; undefined: too wide to be readable. */
export function drawLanes(
  nodes: readonly Node[],
  mark: (id: string) => string,
  widest = 16,
): LaneRow[] | undefined {
  const order = depthFirst(nodes);
  const needs = directNeeds(nodes);
  const dependents = new Map<string, string[]>();
  const position = new Map(order.map((id, index) => [id, index]));
  for (const id of order) {
    for (const need of needs.get(id) ?? []) addTo(dependents, need, id);
  }
  const rows: LaneRow[] = [];
  /** Whom each lane leads to; undefined: free. */
  const lanes: (string | undefined)[] = [];
  for (const id of order) {
    const mine = lanes.flatMap((target, index) => (target === id ? [index] : []));
    const free = lanes.indexOf(undefined);
    const column = mine[0] ?? (free < 0 ? lanes.length : free);
    if (mine.length > 1) {
      rows.push({ lanes: joined(lanes, mine, "╯", "┴") });
      for (const index of mine.slice(1)) lanes[index] = undefined;
    }
    lanes[column] = id;
    while (lanes.length > 0 && lanes.at(-1) === undefined) lanes.pop();
    rows.push({
      lanes: lanes
        .map((target, index) => (index === column ? mark(id) : target === undefined ? " " : "│"))
        .join(" "),
      id,
    });
    const next = (dependents.get(id) ?? []).sort(
      (a, b) => (position.get(a) ?? 0) - (position.get(b) ?? 0),
    );
    lanes[column] = next[0];
    const opened = [column];
    for (const target of next.slice(1)) {
      const place = firstFree(lanes, column + 1);
      lanes[place] = target;
      opened.push(place);
    }
    if (opened.length > 1) rows.push({ lanes: joined(lanes, opened, "╮", "┬") });
    while (lanes.length > 0 && lanes.at(-1) === undefined) lanes.pop();
    if (lanes.length > widest) return undefined;
  }
  return rows;
}

function firstFree(lanes: readonly (string | undefined)[], from: number): number {
  for (let index = from; index < lanes.length; index++)
    if (lanes[index] === undefined) return index;
  return Math.max(from, lanes.length);
}

/** One line from the first of these lanes to the last, over what lies between. */
function joined(
  lanes: readonly (string | undefined)[],
  mine: readonly number[],
  end: string,
  middle: string,
): string {
  const [first = 0] = mine;
  const last = mine.at(-1) ?? first;
  const isMine = new Set(mine);
  const cells: string[] = [];
  for (let index = 0; index < Math.max(lanes.length, last + 1); index++) {
    const busy = lanes[index] !== undefined;
    const sign =
      index === first
        ? "├"
        : index === last
          ? end
          : isMine.has(index)
            ? middle
            : index > first && index < last
              ? busy
                ? "┼"
                : "─"
              : busy
                ? "│"
                : " ";
    cells.push(sign, index >= first && index < last ? "─" : " ");
  }
  return cells.join("").trimEnd();
}

/** An order that stays on a branch as long as it can, so that lanes close early. */
function depthFirst(nodes: readonly Node[]): string[] {
  const placed = batchesOf(nodes).flat();
  const known = new Set(placed);
  const waiting = new Map<string, number>();
  const behind = new Map<string, string[]>();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  for (const id of placed) {
    const needs = new Set((byId.get(id)?.dependsOn ?? []).filter((need) => known.has(need)));
    waiting.set(id, needs.size);
    for (const need of needs) addTo(behind, need, id);
  }
  const order: string[] = [];
  const ready = placed.filter((id) => waiting.get(id) === 0).reverse();
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    order.push(id);
    const freed: string[] = [];
    for (const each of behind.get(id) ?? []) {
      const left = (waiting.get(each) ?? 0) - 1;
      waiting.set(each, left);
      if (left === 0) freed.push(each);
    }
    ready.push(...freed.reverse());
  }
  return order;
}

function addTo(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
