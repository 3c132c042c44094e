/** What a benchmark says: a figure, or why there is none. */
export interface Row {
  readonly name: string;
  /** Null: it could not be measured; the detail says why. */
  readonly figure: number | null;
  readonly unit: string;
  readonly target?: number;
  readonly detail: string;
  readonly versus?: Versus;
}

/** Ours and another's, in turns in the same run; the rows of one chart are drawn as one. */
export interface Versus {
  readonly chart: ChartName;
  readonly ours: Measure;
  readonly theirs: Measure;
}

export interface Measure {
  /** With its version, where it is somebody's. */
  readonly name: string;
  /** In the unit of its chart; null: it could not be measured. */
  readonly figure: number | null;
}

/** What is compared with others: what a bar is the length of, and in which unit. */
export const charts = {
  "cold-start": ["--version, from the command to its end", "ms"],
  looking: ["A look at where things stand, from the command to its end", "ms"],
  "durable-step": ["One step that survives a power cut", "ms"],
  "schedule-100": ["100 phases: the order of all of them, from the file", "ms"],
  "schedule-1000": ["1,000 phases: the order of all of them, from the file", "ms"],
  "schedule-10000": ["10,000 phases: the order of all of them, from the file", "ms"],
  "task-list-100": ["100 tasks: read and told", "ms"],
  "task-list-1000": ["1,000 tasks: read and told", "ms"],
  "task-list-10000": ["10,000 tasks: read and told", "ms"],
  "whole-run": ["Phases that do next to nothing, and their git commands alone", "s"],
  verification: ["A verification, and its gates alone", "ms"],
} as const satisfies Record<string, readonly [title: string, unit: string]>;
export type ChartName = keyof typeof charts;

export const median = (values: number[]): number =>
  values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** A row for one who stands beside us: a ratio, or why there is none. */
export function ratioRow(
  versus: { chart: ChartName; ours: Measure; theirs: Measure },
  detail: string,
): Row {
  const { ours, theirs } = versus;
  const both = ours.figure !== null && theirs.figure !== null;
  return {
    name: `${ours.name} / ${theirs.name}`,
    figure: both ? (ours.figure ?? 0) / (theirs.figure ?? 1) : null,
    unit: "×",
    detail,
    versus,
  };
}
