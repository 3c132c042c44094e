/** Where an arrow key leads in the graph: along the lines sideways, within a column up and down. */
import type { Drawing } from "./shape.ts";

export type Arrow = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

/** Undefined: there is nothing on that side. */
export function walked({ places, edges }: Drawing, from: string, arrow: Arrow): string | undefined {
  const here = places[from];
  if (!here) return undefined;
  if (arrow === "ArrowLeft" || arrow === "ArrowRight") {
    const ends =
      arrow === "ArrowRight"
        ? edges.flatMap((edge) => (edge.from === from ? [edge.to] : []))
        : edges.flatMap((edge) => (edge.to === from ? [edge.from] : []));
    return nearest(ends, (id) => Math.abs((places[id]?.y ?? 0) - here.y));
  }
  const sign = arrow === "ArrowDown" ? 1 : -1;
  const beyond = Object.keys(places).filter((id) => ((places[id]?.y ?? 0) - here.y) * sign > 1);
  // A column is what an eye takes for one: what lies further to the side is farther than it is down.
  return nearest(beyond, (id) => {
    const { x, y } = places[id] ?? here;
    return Math.abs(y - here.y) + Math.abs(x - here.x) * 4;
  });
}

function nearest(ids: readonly string[], far: (id: string) => number): string | undefined {
  let best: string | undefined;
  for (const id of ids) if (best === undefined || far(id) < far(best)) best = id;
  return best;
}
