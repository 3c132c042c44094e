/** Boxes and lines as a drawing for a browser: readable in light and dark, no script, no outside parts. */
import { Graph, layout } from "@dagrejs/dagre";
import { shown } from "../../project.ts";
import { cutTo, widthOf } from "./width.ts";

export const mostInDrawing = 500;

const height = 52;
const margin = 24;

export interface Drawing {
  readonly label: string;
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
  /** Lines that lead back up, along the right side. */
  readonly loops?: readonly Line[];
}

export interface Box {
  readonly id: string;
  readonly title: string;
  readonly facts: string;
  /** Seen when somebody points at it. */
  readonly whole: string;
  /** A class of the styles below. */
  readonly kind: string;
}

export interface Line {
  readonly from: string;
  readonly to: string;
  readonly kind?: "critical" | "boundary" | undefined;
  readonly label?: string | undefined;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

export function drawSvg({ label, boxes, lines, loops = [] }: Drawing): string {
  const graph = new Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 32, ranksep: 56, ranker: "tight-tree" });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const box of boxes) graph.setNode(box.id, { width: boxWidth(box), height });
  for (const { from, to } of lines) graph.setEdge(from, to);
  layout(graph);
  const at = (id: string): Point => graph.node(id) as unknown as Point;
  const forward = lines.map((line) => {
    const { points } = graph.edge(line.from, line.to) as unknown as { points: Point[] };
    return { ...line, points: through(at(line.from), at(line.to), points) };
  });
  const corners = boxes.flatMap((box) => {
    const { x, y } = at(box.id);
    const half = boxWidth(box) / 2;
    return [
      { x: x - half, y: y - height / 2 },
      { x: x + half, y: y + height / 2 },
    ];
  });
  const side = Math.max(...corners.map(({ x }) => x), ...forward.map(labelEnd));
  const widths = new Map(boxes.map((box) => [box.id, boxWidth(box)]));
  const back = loops.map((line, index) => {
    const beside = (id: string): Point => ({
      x: at(id).x + (widths.get(id) ?? 0) / 2,
      y: at(id).y,
    });
    const lane = side + 32 * (index + 1);
    return { ...line, points: [beside(line.from), { x: lane, y: 0 }, beside(line.to)], lane };
  });
  const sides = [
    ...corners,
    ...forward.flatMap(({ points }) => points),
    ...forward.map((line) => ({ x: labelEnd(line), y: line.points[0]?.y ?? 0 })),
    ...back.map(({ lane, label: text = "", points }) => ({
      x: lane + 8 + textWidth(text),
      y: points[0]?.y ?? 0,
    })),
  ];
  const [xs, ys] = [sides.map(({ x }) => x), sides.map(({ y }) => y)];
  const [left, top] = [Math.min(...xs) - margin, Math.min(...ys) - margin];
  const [wide, high] = [Math.max(...xs) + margin - left, Math.max(...ys) + margin - top];
  const frame = [left, top, wide, high].map(round);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${frame.join(" ")}" width="${round(wide)}" height="${round(high)}" role="img" aria-label="${escaped(label)}">`,
    `<title>${escaped(label)}</title>`,
    `<style>${styles}</style>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path class="tip" d="M0 0.5 8 4 0 7.5z"/></marker></defs>',
    `<rect class="page" x="${frame[0]}" y="${frame[1]}" width="${frame[2]}" height="${frame[3]}"/>`,
    ...forward.map((line) => drawLine(line, curve(line.points), middleOf(line.points))),
    ...back.map((line) => {
      const [from = { x: 0, y: 0 }, , to = from] = line.points;
      const way = `M${round(from.x)} ${round(from.y)} H${round(line.lane)} V${round(to.y)} H${round(to.x)}`;
      return drawLine(line, way, { x: line.lane, y: (from.y + to.y) / 2 });
    }),
    ...boxes.map((box) => drawBox(box, at(box.id))),
    "</svg>",
    "",
  ].join("\n");
}

function drawLine({ kind, label }: Line, way: string, beside: Point): string {
  const path = `<path class="edge${kind ? ` ${kind}` : ""}" d="${way}" marker-end="url(#tip)"/>`;
  if (label === undefined) return path;
  const [x, y] = [round(beside.x + 8), round(beside.y + 4)];
  return `${path}<text class="facts" x="${x}" y="${y}">${escaped(label)}</text>`;
}

const middleOf = (points: readonly Point[]): Point => {
  const [first = { x: 0, y: 0 }, last = first] = [points[0], points.at(-1)];
  return { x: (first.x + last.x) / 2, y: (first.y + last.y) / 2 };
};

const textWidth = (text: string): number => widthOf(text) * 7;
const labelEnd = ({ label = "", points }: Line & { points: readonly Point[] }): number =>
  middleOf(points).x + 8 + textWidth(label);

/** From the foot of one box to the head of the other, by the way that the layout left free. */
const through = (from: Point, to: Point, points: readonly Point[]): Point[] => [
  { x: from.x, y: from.y + height / 2 },
  ...(points.length > 3 ? points.slice(1, -1) : []),
  { x: to.x, y: to.y - height / 2 },
];

const titleOf = (box: Box): string => cutTo(box.title, 34);
const boxWidth = (box: Box): number =>
  Math.max(130, Math.round(Math.max(widthOf(titleOf(box)) * 8.4, textWidth(box.facts))) + 34);

function drawBox(box: Box, { x, y }: Point): string {
  const width = boxWidth(box);
  const [left, top] = [round(x - width / 2), round(y - height / 2)];
  return [
    `<g class="phase ${box.kind}"><title>${escaped(box.whole)}</title>`,
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" rx="8"/>`,
    `<text class="name" x="${left + 16}" y="${top + 22}">${escaped(titleOf(box))}</text>`,
    `<text class="facts" x="${left + 16}" y="${top + 40}">${escaped(box.facts)}</text></g>`,
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
  ".failed rect,.blocked rect{fill:#ffebe9;stroke:#cf222e}.skipped rect,.optional rect{fill:#f6f8fa;stroke-dasharray:5 3}",
  ".edge{fill:none;stroke:#8b949e;stroke-width:1.5}.edge.critical{stroke:#0969da;stroke-width:2.5}.edge.boundary{stroke-dasharray:5 4}.tip{fill:#59636e}",
  "@media(prefers-color-scheme:dark){.page{fill:#0d1117}.name{fill:#f0f6fc}.facts{fill:#9198a1}.phase rect{fill:#151b23;stroke:#656c76}.complete rect{fill:#12261e;stroke:#3fb950}.running rect{fill:#272115;stroke:#d29922}.failed rect,.blocked rect{fill:#25171c;stroke:#f85149}.skipped rect,.optional rect{fill:#0d1117}.edge.critical{stroke:#4493f8}.tip{fill:#9198a1}}",
].join("");
