/**
 * Charts from the figures of a run: one small SVG for each thing that is compared, ours highlighted,
 * everybody else with a ratio to it. Pure, and the same bytes for the same figures; it can be read on
 * light and dark pages alike.
 */
import { inWords } from "./environment.ts";
import type { Results } from "./results.ts";
import { type ChartName, charts, type Measure, type Row } from "./row.ts";

/** By the name of its file; a chart of which nothing was measured is none. */
export function chartsOf(results: Results): Map<string, string> {
  const drawn = new Map<string, string>();
  for (const { rows, environment } of results.groups) {
    for (const name of Object.keys(charts) as ChartName[]) {
      const bars = barsOf(name, rows);
      if (bars !== undefined) drawn.set(`${name}.svg`, draw(name, bars, inWords(environment)));
    }
  }
  return drawn;
}

interface Bars {
  readonly ours: Measure & { readonly figure: number };
  readonly theirs: readonly Measure[];
}

function barsOf(name: ChartName, rows: readonly Row[]): Bars | undefined {
  const compared = rows.flatMap(({ versus }) => (versus?.chart === name ? [versus] : []));
  const [first] = compared;
  const figure = first?.ours.figure;
  if (first === undefined || figure === null || figure === undefined) return undefined;
  if (compared.every(({ theirs }) => theirs.figure === null)) return undefined;
  return { ours: { ...first.ours, figure }, theirs: compared.map(({ theirs }) => theirs) };
}

// ── drawing ────────────────────────────────────────────────────────────────────────────────────

const [width, labels, top, rowHeight, barHeight] = [760, 270, 64, 30, 18];
/** Where the longest bar ends: its figure and its ratio stand to the right of it. */
const longest = 330;

const style = `text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.title { font-size: 15px; font-weight: 600 }
.quiet { font-size: 11px; fill: #59636e }
.ours { font-weight: 600 }
rect { fill: #b6bec7 } rect.ours { fill: #1a7f37 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .quiet { fill: #9198a1 } rect { fill: #57606a } rect.ours { fill: #3fb950 }
}`;

function draw(name: ChartName, { ours, theirs }: Bars, where: string): string {
  const [title, unit] = charts[name];
  const all = [ours, ...theirs];
  const most = Math.max(...all.map(({ figure }) => figure ?? 0));
  const height = top + all.length * rowHeight + 30;
  const rows = all.map((measure, at) =>
    rowOf(measure, top + at * rowHeight, {
      isOurs: at === 0,
      length: most > 0 ? ((measure.figure ?? 0) / most) * longest : 0,
      said: saidOf(measure, unit, at === 0 ? undefined : ours.figure),
    }),
  );
  const told = all.map((measure) => `${measure.name}: ${saidOf(measure, unit)}`).join("; ");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title about">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="about">${escaped(told)}</desc>`,
    `<style>${style}</style>`,
    `<text class="title" x="16" y="26">${escaped(title)}</text>`,
    `<text class="quiet" x="16" y="46">less is better; × is how many times as long as ours it takes</text>`,
    ...rows,
    `<text class="quiet" x="16" y="${height - 12}">${escaped(where)}</text>`,
    "</svg>",
    "",
  ].join("\n");
}

interface Drawn {
  readonly isOurs: boolean;
  readonly length: number;
  readonly said: string;
}

function rowOf({ name }: Measure, y: number, { isOurs, length, said }: Drawn): string {
  const kind = isOurs ? ' class="ours"' : "";
  const baseline = y + 14;
  // What was measured is always seen.
  const drawnLength = length > 0 ? Math.max(2, length) : 0;
  const end = labels + drawnLength + 8;
  return [
    `<text${kind} x="${labels - 10}" y="${baseline}" text-anchor="end">${escaped(shortened(name))}</text>`,
    ...(drawnLength > 0
      ? [
          `<rect${kind} x="${labels}" y="${y}" width="${rounded(drawnLength)}" height="${barHeight}" rx="2"/>`,
        ]
      : []),
    `<text${kind} x="${rounded(end)}" y="${baseline}">${escaped(said)}</text>`,
  ].join("\n");
}

/** `of`: what it is compared with. */
function saidOf({ figure }: Measure, unit: string, of?: number): string {
  if (figure === null) return "not measured";
  const said = `${digits(figure)} ${unit}`;
  return of === undefined || of <= 0 ? said : `${said}  ${digits(figure / of)} ×`;
}

/** Three that count, and never a power of ten. */
function digits(value: number): string {
  const behind = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  const [whole = "", rest] = value.toFixed(behind).split(".");
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/gu, ",");
  return rest === undefined ? grouped : `${grouped}.${rest}`;
}

const rounded = (value: number): string => String(Number(value.toFixed(1)));

const shortened = (name: string): string => (name.length > 38 ? `${name.slice(0, 37)}…` : name);

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
