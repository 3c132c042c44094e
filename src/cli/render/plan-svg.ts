/** The graph as a drawing for a browser: readable in light and dark, no script, no outside parts. */
import { Graph, layout } from "@dagrejs/dagre";
import type { CompiledPlan } from "../../core/plan/compile.ts";
import { directNeeds } from "../../core/plan/graph.ts";
import { count, type Phase, type PhaseStatus } from "../../core/plan/plan.ts";
import { shown } from "../../project.ts";
import { cutTo, widthOf } from "./width.ts";

export const mostInDrawing = 500;

const height = 52;
const margin = 24;

const words: Record<PhaseStatus, string> = {
  pending: "not started",
  running: "in progress",
  complete: "complete",
  failed: "failed",
  blocked: "blocked",
  skipped: "skipped",
  unknown: "status unknown",
};

interface Point {
  readonly x: number;
  readonly y: number;
}

export function drawSvg({ plan, criticalPath }: CompiledPlan): string {
  const graph = new Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 32, ranksep: 56, ranker: "tight-tree" });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const phase of plan.phases) graph.setNode(phase.id, { width: boxWidth(phase), height });
  for (const [id, needs] of directNeeds(plan.phases)) {
    for (const need of needs) graph.setEdge(need, id);
  }
  layout(graph);
  const at = (id: string): Point => graph.node(id) as unknown as Point;
  const critical = new Set(
    criticalPath.slice(1).map((id, index) => `${criticalPath[index]}\0${id}`),
  );
  const edges = graph.edges() as readonly { readonly v: string; readonly w: string }[];
  const lines = edges.map(({ v, w }) => {
    const { points } = graph.edge(v, w) as unknown as { points: Point[] };
    const isCritical = critical.has(`${v}\0${w}`);
    return { isCritical, points: through(at(v), at(w), points) };
  });
  const sides = [
    ...plan.phases.flatMap((phase) => {
      const { x, y } = at(phase.id);
      const half = boxWidth(phase) / 2;
      return [
        { x: x - half, y: y - height / 2 },
        { x: x + half, y: y + height / 2 },
      ];
    }),
    ...lines.flatMap(({ points }) => points),
  ];
  const [xs, ys] = [sides.map(({ x }) => x), sides.map(({ y }) => y)];
  const [left, top] = [Math.min(...xs) - margin, Math.min(...ys) - margin];
  const [wide, high] = [Math.max(...xs) + margin - left, Math.max(...ys) + margin - top];
  const label = `${plan.files[0] ?? "plan"}: ${plan.phases.length} phases`;
  const box = [left, top, wide, high].map(round);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box.join(" ")}" width="${round(wide)}" height="${round(high)}" role="img" aria-label="${escaped(label)}">`,
    `<title>${escaped(label)}</title>`,
    `<style>${styles}</style>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path class="tip" d="M0 0.5 8 4 0 7.5z"/></marker></defs>',
    `<rect class="page" x="${box[0]}" y="${box[1]}" width="${box[2]}" height="${box[3]}"/>`,
    ...lines.map(
      ({ isCritical, points }) =>
        `<path class="edge${isCritical ? " critical" : ""}" d="${curve(points)}" marker-end="url(#tip)"/>`,
    ),
    ...plan.phases.map((phase) => drawBox(phase, at(phase.id))),
    "</svg>",
    "",
  ].join("\n");
}

/** From the foot of one box to the head of the other, by the way that the layout left free. */
const through = (from: Point, to: Point, points: readonly Point[]): Point[] => [
  { x: from.x, y: from.y + height / 2 },
  ...(points.length > 3 ? points.slice(1, -1) : []),
  { x: to.x, y: to.y - height / 2 },
];

const title = (phase: Phase): string =>
  cutTo(phase.name === phase.written ? phase.name : `${phase.written}  ${phase.name}`, 34);
const boxWidth = (phase: Phase): number =>
  Math.max(130, Math.round(Math.max(widthOf(title(phase)) * 8.4, widthOf(facts(phase)) * 7)) + 34);

function facts(phase: Phase): string {
  const { total, done } = count([...phase.tasks, ...phase.definitionOfDone]);
  return [
    words[phase.status],
    ...(phase.estimate === undefined ? [] : [`${phase.estimate} pt`]),
    ...(total === 0 ? [] : [`${done}/${total}`]),
  ].join(" · ");
}

function drawBox(phase: Phase, { x, y }: Point): string {
  const width = boxWidth(phase);
  const [left, top] = [round(x - width / 2), round(y - height / 2)];
  return [
    `<g class="phase ${phase.status}"><title>${escaped(`${phase.written}: ${phase.name}`)}</title>`,
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" rx="8"/>`,
    `<text class="name" x="${left + 16}" y="${top + 22}">${escaped(title(phase))}</text>`,
    `<text class="facts" x="${left + 16}" y="${top + 40}">${escaped(facts(phase))}</text></g>`,
  ].join("");
}

/** Leaves and arrives straight down, without corners in between. */
function curve(points: readonly Point[]): string {
  const [start, ...rest] = points;
  let path = start ? `M${round(start.x)} ${round(start.y)}` : "";
  let previous = start;
  for (const point of rest) {
    const middle = round(((previous?.y ?? point.y) + point.y) / 2);
    path += ` C${round(previous?.x ?? point.x)} ${middle} ${round(point.x)} ${middle} ${round(point.x)} ${round(point.y)}`;
    previous = point;
  }
  return path;
}

const round = (value: number): number => Math.round(value * 10) / 10;

const escaped = (text: string): string =>
  shown(text)
    // Not all that is text is XML.
    .replace(/[\uFFFE\uFFFF]|\p{Surrogate}/gu, "\uFFFD")
    .replace(/[&<>"']/g, (each) => `&#${each.codePointAt(0)};`);

const styles = [
  "text{font-family:ui-sans-serif,system-ui,sans-serif}",
  ".page{fill:#ffffff}.name{font-size:14px;font-weight:600;fill:#1f2328}.facts{font-size:12px;fill:#59636e}",
  ".phase rect{fill:#ffffff;stroke:#8b949e;stroke-width:1.5}",
  ".complete rect{fill:#dafbe1;stroke:#1a7f37}.running rect{fill:#fff8c5;stroke:#9a6700}",
  ".failed rect,.blocked rect{fill:#ffebe9;stroke:#cf222e}.skipped rect{fill:#f6f8fa;stroke-dasharray:5 3}",
  ".edge{fill:none;stroke:#8b949e;stroke-width:1.5}.edge.critical{stroke:#0969da;stroke-width:2.5}.tip{fill:#59636e}",
  "@media(prefers-color-scheme:dark){.page{fill:#0d1117}.name{fill:#f0f6fc}.facts{fill:#9198a1}.phase rect{fill:#151b23;stroke:#656c76}.complete rect{fill:#12261e;stroke:#3fb950}.running rect{fill:#272115;stroke:#d29922}.failed rect,.blocked rect{fill:#25171c;stroke:#f85149}.skipped rect{fill:#0d1117}.edge.critical{stroke:#4493f8}.tip{fill:#9198a1}}",
].join("");
