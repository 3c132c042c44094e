/**
 * A run in a rectangle of a terminal: the bar and the figures, then a line for each phase. Pure, and
 * exact: no line is as wide as the screen (the last column would make some terminals wrap), and
 * there are fewer lines than it has rows. Where there is no room for all phases, those under way
 * come first, then what went wrong, then what comes next; the others are counted.
 */

import { clock, duration, roughly, spendShort, spendWords } from "../../core/amounts.ts";
import type { PhaseStage, PhaseView, RunView } from "../../core/plan/run-view.ts";
import { shown } from "../../project.ts";
import type { Style } from "./style.ts";
import { cutTo, padTo, widthOf } from "./width.ts";

export interface Screen {
  readonly columns: number;
  readonly rows: number;
  readonly style: Style;
  /** False: nothing but ASCII of our own. */
  readonly unicode: boolean;
  /** A moment as the clock on the wall has it; without it, in UTC. */
  readonly localTime?: (iso: string) => string;
  /** Of a fleet's: elsewhere a decision is only found where the engine is named. */
  readonly isFleet?: boolean;
}

export function liveLines(view: RunView, screen: Screen): string[] {
  const width = Math.max(1, screen.columns - 1);
  const height = Math.max(1, screen.rows - 1);
  const airy = height >= 18;
  const lines = [...(airy ? [""] : []), ...headLines(view, width, screen)];
  const room = height - lines.length;
  lines.push(...phaseLines(view, width, room, screen));
  const own = screen.unicode ? lines : lines.map(inAscii);
  return own.slice(0, height);
}

// ── the head ───────────────────────────────────────────────────────────────────────────────────

function headLines(view: RunView, width: number, { style, isFleet }: Screen): string[] {
  const where = isFleet ? " --engine postgres" : "";
  const margin = width >= 50 ? " " : "";
  // Further to the right, the figures would no longer be seen together with the title.
  const inner = Math.min(width - margin.length, 110);
  const facts = [
    duration(view.elapsed),
    ...(view.left === undefined ? [] : [leftWords(view.left, inner)]),
    ...(view.spend && inner >= 60 ? [spendWords(view.spend)] : []),
  ].filter((fact) => fact !== "");
  const figures = cutTo(facts.join(" · "), inner);
  const title = cutTo(oneLine(view.title || view.plan), Math.max(0, inner - widthOf(figures) - 2));
  const gap = " ".repeat(Math.max(0, inner - widthOf(title) - widthOf(figures)));
  const counts = cutTo(countWords(view), Math.max(8, inner - 12));
  const bar = barOf(view, Math.min(48, inner - widthOf(counts) - 2), style);
  return [
    `${margin}${style.bold(title)}${gap}${figures}`,
    `${margin}${bar}${bar === "" ? "" : "  "}${cutTo(counts, inner)}`,
    ...view.asking
      .slice(0, 2)
      .flatMap(({ id, question, recommendation }) => [
        margin + style.yellow(cutTo(`? ${oneLine(question)}`, inner)),
        margin + cutTo(`  autodev decide ${id} ${recommendation}${where}`, inner),
      ]),
  ];
}

const leftWords = (left: number, inner: number): string => {
  const rough = roughly(left);
  if (inner >= 60) return `${rough} left`;
  return `${rough.replace("about ", "≈ ").replace("less than a minute", "< 1 min")} left`;
};

function barOf({ bar }: RunView, width: number, style: Style): string {
  if (width < 6 || bar.total <= 0) return "";
  const cells = (weight: number): number => Math.floor((weight / bar.total) * width);
  const complete = cells(bar.complete);
  // What is under way is seen, however small it is.
  const started = cells(bar.complete + bar.active);
  const active = Math.min(width - complete, Math.max(started - complete, bar.active > 0 ? 1 : 0));
  return [
    style.green("█".repeat(complete)),
    style.yellow("▒".repeat(active)),
    style.dim("░".repeat(width - complete - active)),
  ].join("");
}

function countWords({ complete, total, phases, baseline, ended }: RunView): string {
  const count = (...stages: readonly PhaseStage["is"][]): number =>
    phases.filter(({ stage }) => stages.includes(stage.is)).length;
  const atWork = count(...underWay);
  const figures: readonly (readonly [number, string])[] = [
    [atWork, "at work"],
    [count("failed"), "failed"],
    [count("blocked"), "blocked"],
    [count("parked"), "parked"],
  ];
  return [
    `${complete} of ${total}`,
    ...figures.flatMap(([number, what]) => (number > 0 ? [`${number} ${what}`] : [])),
    ...(baseline !== undefined && atWork === 0 ? [`baseline: ${oneLine(baseline)}`] : []),
    ...(ended !== undefined && ended !== "complete" ? [ended] : []),
  ].join(" · ");
}

// ── the phases ─────────────────────────────────────────────────────────────────────────────────

const underWay: readonly PhaseStage["is"][] = ["working", "checking", "landing", "retrying"];

/** Below this there is no room for columns. */
const narrowest = 36;

interface Columns {
  readonly total: number;
  readonly margin: string;
  readonly id: number;
  readonly name: number;
  readonly state: number;
  /** 0: there is no room for it. */
  readonly spend: number;
  /** What was printed last, on the same line; 0: on a line of its own. */
  readonly tail: number;
  /** Where a line of its own begins, and how long it may be. */
  readonly indent: number;
  readonly below: number;
}

const timeWidth = 6;

/** The same for every frame of a run at this width: nothing jumps about. */
function columnsFor({ phases, spend }: RunView, width: number): Columns {
  const margin = width >= 50 ? " " : "";
  const widest = (texts: readonly string[]): number =>
    texts.reduce((most, text) => Math.max(most, text.length > 60 ? 60 : widthOf(text)), 1);
  const id = Math.min(width >= 60 ? 12 : 6, widest(phases.map(({ written }) => oneLine(written))));
  const spendWidth = spend && width >= 79 ? 8 : 0;
  const rest = width - margin.length - 2 - id - 1 - timeWidth - 1 - spendWidth;
  const state = width >= 110 ? 24 : width >= 70 ? 18 : Math.max(6, Math.floor(rest * 0.42));
  const longest = widest(phases.map(({ name }) => oneLine(name)));
  const name = Math.max(4, Math.min(longest, width >= 150 ? 48 : 36, rest - state - 1));
  const tail = rest - state - 1 - name - 2;
  const indent = margin.length + 2 + id + 1;
  return {
    total: width,
    margin,
    id,
    name,
    state,
    spend: spendWidth,
    tail: tail >= 30 ? tail : 0,
    indent,
    below: Math.max(0, width - indent - 2),
  };
}

function phaseLines(view: RunView, width: number, room: number, screen: Screen): string[] {
  if (room < 1) return [];
  const columns = columnsFor(view, width);
  const fits = view.phases.length <= room;
  const { chosen, spare } = fits
    ? { chosen: view.phases, spare: room - view.phases.length }
    : chosenFor(view.phases, room, columns);
  const below = belowEach(chosen, columns, spare);
  const { style } = screen;
  const indent = " ".repeat(columns.indent);
  return [
    ...chosen.flatMap((phase) => [
      phaseLine(phase, columns, screen),
      ...(below.get(phase) ?? []).map((text, index) =>
        style.dim(`${indent}${index === 0 ? "└" : " "} ${cutTo(text, columns.below)}`),
      ),
    ]),
    ...(fits ? [] : [restLine(view.phases, chosen, width, columns, screen)]),
  ];
}

/** What is said about a phase in hand is worth more than one more that waits; so is what scrolls by. */
function chosenFor(
  phases: readonly PhaseView[],
  room: number,
  columns: Columns,
): { chosen: readonly PhaseView[]; spare: number } {
  const used = Math.min(room, Math.max(8, Math.floor(room * 0.75))) - 1;
  const wanted = [...belowEach(phases, columns, used).values()].flat().length;
  const spare = Math.min(wanted, Math.floor(used / 3));
  return { chosen: mostTelling(phases, used - spare), spare };
}

/** The lines below each phase, as far as there is room; what goes on comes before what went wrong. */
function belowEach(
  phases: readonly PhaseView[],
  columns: Columns,
  room: number,
): Map<PhaseView, readonly string[]> {
  const below = new Map<PhaseView, readonly string[]>();
  let spare = room;
  for (const wanted of [underWay, ["failed"] as const]) {
    for (const phase of phases) {
      if (spare < 1) return below;
      if (!wanted.some((stage) => stage === phase.stage.is)) continue;
      const lines = belowOf(phase, columns).slice(0, spare);
      spare -= lines.length;
      below.set(phase, lines);
    }
  }
  return below;
}

function belowOf({ stage, activity }: PhaseView, { tail, below }: Columns): string[] {
  if (below < 10) return [];
  if (stage.is === "failed") {
    return [...(tail > 0 ? [] : [stage.message]), ...stage.lines.slice(0, 3)].map(oneLine);
  }
  if (tail > 0) return [];
  if (stage.is === "retrying") return [oneLine(stage.message)];
  return activity === undefined ? [] : [oneLine(activity)];
}

const ranks: Record<PhaseStage["is"], number> = {
  working: 0,
  checking: 0,
  landing: 0,
  retrying: 0,
  failed: 1,
  parked: 2,
  blocked: 3,
  ready: 4,
  waiting: 4,
  complete: 5,
  skipped: 6,
  "left-out": 7,
};

/** By rank, in the plan's order; of the blocked ones a few, since the next ones matter too. */
function mostTelling(phases: readonly PhaseView[], room: number): PhaseView[] {
  if (room < 1) return [];
  const groups: PhaseView[][] = Array.from({ length: 8 }, () => []);
  for (const phase of phases) groups[ranks[phase.stage.is]]?.push(phase);
  const next = groups[ranks.ready] ?? [];
  const blocked = groups[ranks.blocked] ?? [];
  const few = Math.max(Math.floor(room / 4), room - next.length);
  groups[ranks.blocked] = blocked.slice(0, Math.max(0, few));
  return groups.flat().slice(0, room);
}

function restLine(
  phases: readonly PhaseView[],
  chosen: readonly PhaseView[],
  width: number,
  { margin }: Columns,
  { style }: Screen,
): string {
  const hidden = new Set(phases);
  for (const phase of chosen) hidden.delete(phase);
  const counts = new Map<string, number>();
  for (const { stage } of hidden) {
    const what = wordsForRest[stage.is];
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const words = restOrder.flatMap((what) =>
    counts.has(what) ? [`${counts.get(what)} ${what}`] : [],
  );
  return style.dim(cutTo(`${margin}… ${words.join(", ")}`, width));
}

const wordsForRest: Record<PhaseStage["is"], string> = {
  working: "at work",
  checking: "at work",
  landing: "at work",
  retrying: "at work",
  failed: "failed",
  parked: "parked",
  blocked: "blocked",
  ready: "waiting",
  waiting: "waiting",
  complete: "complete",
  skipped: "skipped",
  "left-out": "left out",
};
const restOrder = [...new Set(["complete", "skipped", ...Object.values(wordsForRest)])];

function phaseLine(phase: PhaseView, columns: Columns, screen: Screen): string {
  const { style } = screen;
  const { margin, id, name, state, spend, tail, total } = columns;
  const { stage } = phase;
  if (total < narrowest) {
    const text = [phase.written, stateWords(phase, 8, screen), phase.name].map(oneLine).join(" ");
    return paintOf(stage, style)(cutTo(`${marks[stage.is]} ${text}`, total));
  }
  const quiet = !underWay.includes(stage.is) && stage.is !== "failed";
  const plain = (text: string): string => text;
  const paint = stage.is === "complete" ? plain : quiet ? style.dim : plain;
  const time = phase.elapsed === undefined ? "" : clock(phase.elapsed);
  const cells = [
    `${margin}${paintOf(stage, style)(marks[stage.is])} `,
    paint(padTo(cutTo(oneLine(phase.written), id), id)),
    " ",
    (quiet ? paint : style.bold)(padTo(cutTo(oneLine(phase.name), name), name)),
    " ",
    paintOf(stage, style)(padTo(cutTo(stateWords(phase, state, screen), state), state)),
    " ",
    paint(time.padStart(timeWidth)),
    ...(spend > 0 ? [paint((phase.spend ? spendShort(phase.spend) : "").padStart(spend))] : []),
    ...(tail > 0 ? ["  ", style.dim(cutTo(tailOf(phase), tail))] : []),
  ];
  return cells.join("").trimEnd();
}

function tailOf({ stage, activity }: PhaseView): string {
  if (stage.is === "failed" || stage.is === "retrying") return oneLine(stage.message);
  if (stage.is === "skipped") return oneLine(stage.reason);
  return activity === undefined ? "" : oneLine(activity);
}

function stateWords({ stage, attempt, of }: PhaseView, width: number, screen: Screen): string {
  const again =
    attempt < 2 ? "" : width >= 24 ? `, attempt ${attempt} of ${of}` : ` ${attempt}/${of}`;
  switch (stage.is) {
    case "waiting":
      return `${width >= 16 ? "waits for" : "after"} ${stage.for.map(oneLine).join(", ")}`;
    case "ready":
      return "next";
    case "retrying":
      return width >= 24 ? `attempt ${attempt} of ${of} is next` : `again ${attempt}/${of}`;
    case "working":
      return `working${again}`;
    case "checking":
      return stage.gate === undefined ? `checking${again}` : `checking: ${oneLine(stage.gate)}`;
    case "landing":
      return stage.gate === undefined ? "landing" : `landing: ${oneLine(stage.gate)}`;
    case "complete":
      return `${stage.commit.slice(0, 7)}${stage.unverified ? " unverified" : ""}`;
    case "skipped":
      return "skipped";
    case "failed":
      return "failed";
    case "blocked":
      return `${width >= 16 ? "blocked by" : "blocked:"} ${oneLine(stage.by)}`;
    case "parked":
      return `${width >= 16 ? "parked until" : "until"} ${(screen.localTime ?? utc)(stage.until)}`;
    case "left-out":
      return "not chosen";
  }
}

const utc = (iso: string): string => `${oneLine(iso).slice(11, 16)} UTC`;

const marks: Record<PhaseStage["is"], string> = {
  waiting: "○",
  ready: "○",
  retrying: "↻",
  working: "▸",
  checking: "▸",
  landing: "▸",
  complete: "✓",
  skipped: "–",
  failed: "✗",
  blocked: "•",
  parked: "‖",
  "left-out": "–",
};

function paintOf(stage: PhaseStage, style: Style): (text: string) => string {
  switch (stage.is) {
    case "complete":
      return stage.unverified ? style.yellow : style.green;
    case "failed":
      return style.red;
    case "blocked":
    case "parked":
    case "retrying":
      return style.yellow;
    case "working":
    case "checking":
    case "landing":
      return (text) => text;
    default:
      return style.dim;
  }
}

/** Whatever it is, it is one line, and nothing that a terminal obeys. */
const oneLine = (text: string): string => shown(text).trim();

/** Our own signs, one for one; other people's text is left to the terminal. */
const ascii: Readonly<Record<string, string>> = {
  "✓": "+",
  "▸": ">",
  "↻": "~",
  "○": "o",
  "✗": "x",
  "•": "!",
  "‖": "=",
  "–": "-",
  "·": "-",
  "…": "~",
  "█": "#",
  "▒": "=",
  "░": ".",
  "└": "`",
  "≈": "~",
};
const inAscii = (line: string): string =>
  line.replace(/[✓▸↻○✗•‖–·…█▒░└≈]/gu, (sign) => ascii[sign] ?? sign);
