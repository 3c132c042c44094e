/** The graph of a plan: who waits for whom, what can run at once, what decides how long it takes. */

type Graph = ReadonlyMap<string, readonly string[]>;

export interface Node {
  readonly id: string;
  readonly dependsOn: readonly string[];
}

export const graphOf = (nodes: readonly Node[]): Graph =>
  new Map(nodes.map(({ id, dependsOn }) => [id, dependsOn]));

/** Is `to` among what `from` waits for, however far? */
export function reaches(graph: Graph, from: string, to: string): boolean {
  const seen = new Set<string>();
  const next = [from];
  for (let id = next.pop(); id !== undefined; id = next.pop()) {
    if (id === to) return true;
    if (seen.has(id)) continue;
    seen.add(id);
    next.push(...(graph.get(id) ?? []));
  }
  return false;
}

/** Without those that others of the set wait for anyway. */
export function reduced(ids: ReadonlySet<string>, graph: Graph): Set<string> {
  return new Set(
    [...ids].filter(
      (id) =>
        ![...ids].some(
          (other) => other !== id && reaches(graph, other, id) && !reaches(graph, id, other),
        ),
    ),
  );
}

/**
 * Levels: a phase is in the first batch after all that it waits for. Phases on a cycle are in
 * none, nor are those behind one.
 */
export function batchesOf(nodes: readonly Node[]): string[][] {
  const known = new Set(nodes.map(({ id }) => id));
  const waiting = new Map<string, number>();
  const behind = new Map<string, string[]>();
  for (const { id, dependsOn } of nodes) {
    const needs = new Set(dependsOn.filter((each) => known.has(each)));
    waiting.set(id, needs.size);
    for (const need of needs) {
      const list = behind.get(need);
      if (list) list.push(id);
      else behind.set(need, [id]);
    }
  }
  const order = new Map(nodes.map(({ id }, index) => [id, index]));
  const batches: string[][] = [];
  let batch = [...waiting].filter(([, count]) => count === 0).map(([id]) => id);
  while (batch.length > 0) {
    batches.push(batch);
    const next: string[] = [];
    for (const id of batch) {
      for (const each of behind.get(id) ?? []) {
        const left = (waiting.get(each) ?? 0) - 1;
        waiting.set(each, left);
        if (left === 0) next.push(each);
      }
    }
    batch = next.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
  }
  return batches;
}

/** Every cycle once, as it would be walked: a waits for b, b for c, c for a. */
export function cyclesOf(nodes: readonly Node[]): string[][] {
  const graph = graphOf(nodes);
  const state = new Map<string, "open" | "closed">();
  const cycles: string[][] = [];
  for (const { id: start } of nodes) {
    if (state.has(start)) continue;
    // An explicit stack: a plan may be a chain of ten thousand phases.
    const path: { id: string; next: number }[] = [{ id: start, next: 0 }];
    const at = new Map<string, number>([[start, 0]]);
    state.set(start, "open");
    while (path.length > 0) {
      const top = path.at(-1);
      if (!top) break;
      const child = graph.get(top.id)?.[top.next++];
      if (child === undefined) {
        state.set(top.id, "closed");
        at.delete(top.id);
        path.pop();
      } else if (state.get(child) === "open") {
        if (child !== top.id) cycles.push(path.slice(at.get(child)).map(({ id }) => id));
      } else if (!state.has(child) && graph.has(child)) {
        state.set(child, "open");
        at.set(child, path.length);
        path.push({ id: child, next: 0 });
      }
    }
  }
  return cycles;
}

/** The chain that takes longest; a phase without an estimate weighs one point. */
export function criticalPathOf(
  nodes: readonly (Node & { readonly estimate?: number })[],
  batches: readonly (readonly string[])[],
): string[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const best = new Map<string, { length: number; before?: string }>();
  for (const id of batches.flat()) {
    const node = byId.get(id);
    let before: string | undefined;
    let length = 0;
    for (const each of node?.dependsOn ?? []) {
      const reached = best.get(each);
      if (reached && reached.length > length) [before, length] = [each, reached.length];
    }
    best.set(id, {
      length: length + (node?.estimate ?? 1),
      ...(before === undefined ? {} : { before }),
    });
  }
  let end: string | undefined;
  for (const [id, { length }] of best) {
    if (end === undefined || length > (best.get(end)?.length ?? 0)) end = id;
  }
  const path: string[] = [];
  for (let id = end; id !== undefined; id = best.get(id)?.before) path.unshift(id);
  return path;
}

/**
 * Without the dependencies that follow from others: fewer lines in a picture, the same order. Large
 * graphs are left as they are: nobody looks at all their lines.
 */
export function directNeeds(nodes: readonly Node[]): Map<string, string[]> {
  const graph = graphOf(nodes);
  const small = nodes.length <= 500;
  return new Map(
    nodes.map(({ id, dependsOn }) => {
      const known = [...new Set(dependsOn)].filter((need) => graph.has(need) && need !== id);
      const follows = (need: string): boolean =>
        known.some((other) => other !== need && reaches(graph, other, need));
      return [id, small ? known.filter((need) => !follows(need)) : known];
    }),
  );
}
