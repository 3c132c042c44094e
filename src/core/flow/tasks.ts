/**
 * A step that changes code does it by running its tasks as a plan: the run is a child of the step's,
 * with an id and a history of its own. Here is what follows from it: which batches there were, what
 * is told of them, and whether all of it is there.
 */
import type { Event } from "../event.ts";
import { isComplete, type PlanRun, phaseOf } from "../plan/progress.ts";
import { outlineOf } from "./outline.ts";

/** What a step says of the tasks that it runs; paths are relative to `_docs/`. */
export interface TaskWork {
  /** A folder with `todo/`, `done/` and a dependencies table. */
  readonly tasks: string;
  /** By which skill each round is reviewed before it is reported. */
  readonly review?: string;
  /** `{slug}` and `{cycle}` are filled in. */
  readonly report: string;
}

/** What is on disk of them. */
export interface TaskFacts {
  /** Names of files, without their ending. */
  readonly todo: readonly string[];
  readonly done: readonly string[];
  /** Why they cannot be run, a sentence each. */
  readonly errors: readonly string[];
  /** In the dependencies table, and in no folder. */
  readonly missing: readonly string[];
  /** By the id of its phase, what a task's file is called. */
  readonly names: Readonly<Record<string, string>>;
}

export const noTaskFacts: TaskFacts = { todo: [], done: [], errors: [], missing: [], names: {} };

/** Tasks that were ready together, and what became of them. */
export interface Batch {
  readonly number: number;
  readonly tasks: readonly BatchTask[];
}

export interface BatchTask {
  readonly id: string;
  /** As its file is called. */
  readonly task: string;
  readonly name: string;
  readonly result: "landed" | "failed" | "was done";
  readonly commit?: string;
  readonly attempts: number;
  /** What went wrong on the way, a sentence each. */
  readonly troubles: readonly string[];
  /** What was noticed about what landed, a sentence each. */
  readonly notes: readonly string[];
}

/** It is over: on record before it is in a file. */
export const batchReported = ({ number, tasks }: Batch): Event => ({
  type: "batch-reported",
  number,
  tasks: tasks.map((task) => ({ ...task, troubles: [...task.troubles], notes: [...task.notes] })),
});

/** What the journal remembers of a step's tasks. */
export interface TaskCourse {
  readonly batches: readonly Batch[];
  /** How many of the batches have been reviewed. */
  readonly reviewed: number;
  /** Why the tasks have to be looked at before they are run again. */
  readonly trouble?: string;
  readonly parked?: { readonly until: string; readonly reason: string };
}

export const noTasksYet: TaskCourse = { batches: [], reviewed: 0 };

/** By this a run knows whose child it is, and a step its run. */
export const underStep = (flow: string, step: string, cycle: number): string =>
  `${flow} ${step} cycle ${cycle}`;

// ── batches ────────────────────────────────────────────────────────────────────────────────────

/** What this run has to do, by what is ready together; the first level waits for nothing of it. */
export function levelsOf(run: PlanRun): string[][] {
  const level = new Map<string, number>();
  for (const { id, dependsOn } of run.order) {
    if (phaseOf(run, id)?.state.is === "skipped") continue;
    level.set(id, 1 + Math.max(-1, ...dependsOn.map((need) => level.get(need) ?? -1)));
  }
  const levels: string[][] = [];
  for (const [id, at] of level) (levels[at] ??= []).push(id);
  return levels;
}

/** Batches that are over and that nobody has been told of; a later one waits for those before it. */
export function dueBatches(
  run: PlanRun,
  told: readonly Batch[],
  { names }: Pick<TaskFacts, "names">,
): (readonly BatchTask[])[] {
  const landedBefore = new Set(
    told.flatMap(({ tasks }) =>
      tasks.flatMap(({ id, result }) => (result === "landed" ? [id] : [])),
    ),
  );
  const halted = run.ended === "halted";
  const due: (readonly BatchTask[])[] = [];
  for (const level of levelsOf(run)) {
    const tasks = level.flatMap((id) => taskIn(run, id, halted, names[id] ?? id));
    const isOver = halted || level.every((id) => isDone(run, id));
    if (!isOver) break;
    const fresh = tasks.filter((task) =>
      task.result === "landed" ? !landedBefore.has(task.id) : !isKnown(task, told),
    );
    if (fresh.length > 0) due.push(fresh);
  }
  return due;
}

const isDone = (run: PlanRun, id: string): boolean => {
  const phase = phaseOf(run, id);
  return phase !== undefined && isComplete(phase);
};

/** By the name of its file. */
export const hasLanded = (
  run: PlanRun,
  task: string,
  { names }: Pick<TaskFacts, "names">,
): boolean => Object.entries(names).some(([id, name]) => name === task && isDone(run, id));

const isKnown = (task: BatchTask, told: readonly Batch[]): boolean =>
  told.some(({ tasks }) =>
    tasks.some(
      (each) =>
        each.id === task.id && each.result === task.result && each.attempts === task.attempts,
    ),
  );

function taskIn(run: PlanRun, id: string, halted: boolean, task: string): BatchTask[] {
  const phase = phaseOf(run, id);
  const asked = run.order.find((each) => each.id === id);
  if (!phase || !asked) return [];
  const about = {
    id,
    task,
    name: asked.name,
    attempts: phase.attempts,
    troubles: phase.errors.map(({ attempt, message }) => `attempt ${attempt}: ${message}`),
  };
  const { state } = phase;
  if (state.is === "landed") {
    const notes = (state.check.findings ?? []).map(({ message }) => message);
    return [{ ...about, result: "landed", commit: state.landed, notes }];
  }
  if (!halted || state.is !== "failed") return [];
  const troubles = about.troubles.length > 0 ? about.troubles : [state.error.message];
  return [{ ...about, troubles, result: "failed", notes: [] }];
}

/** Where the run stands, as people count: "batch 2 of ~4". */
export function batchWords(run: PlanRun, told: readonly Batch[]): string {
  const levels = levelsOf(run);
  const at = levels.findIndex((level) => level.some((id) => !isDone(run, id)));
  const before =
    told.length - levels.filter((level) => level.every((id) => isDone(run, id))).length;
  const earlier = Math.max(before, 0);
  const total = levels.length + earlier;
  return `batch ${at < 0 ? total : at + 1 + earlier} of ~${total}`;
}

/** What failed, for whoever looks at the tasks before they are run again. */
export function troubleOf(run: PlanRun): string {
  const failed = run.phases.flatMap(({ id, state }) =>
    state.is === "failed" ? [`${id}: ${state.error.message}`] : [],
  );
  const waiting = run.phases.filter((phase) => !isComplete(phase)).length - failed.length;
  const rest = waiting > 0 ? `; ${waiting} more ${waiting === 1 ? "waits" : "wait"} for them` : "";
  return `${failed.length === 1 ? "a task" : `${failed.length} tasks`} failed (${failed.slice(0, 5).join("; ")})${rest}`;
}

// ── what people read ───────────────────────────────────────────────────────────────────────────

export const batchFile = (number: number): string =>
  `03_implementation/batch_${String(number).padStart(2, "0")}_report.md`;

export const reviewFile = (number: number): string =>
  `03_implementation/reviews/batch_${String(number).padStart(2, "0")}.md`;

/** The highest that is there, whoever made it. */
export function highestBatch(files: Iterable<string>): number {
  let highest = 0;
  for (const file of files) {
    const [, number = "0"] = /^03_implementation\/batch_(\d+)_report\.md$/.exec(file) ?? [];
    highest = Math.max(highest, Number(number));
  }
  return highest;
}

const cell = (text: string): string => text.replace(/\s+/g, " ").replaceAll("|", "\\|").trim();
const short = (commit: string | undefined): string => commit?.slice(0, 9) ?? "–";
const list = (lines: readonly string[]): string[] =>
  lines.length === 0 ? ["none"] : lines.map((line) => `- ${line.replace(/\s+/g, " ").trim()}`);
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  `| ${head.join(" | ")} |`,
  `|${head.map(() => "---|").join("")}`,
  ...rows.map((row) => `| ${row.map(cell).join(" | ")} |`),
];

export function batchReport({ number, tasks }: Batch): string {
  const landed = tasks.filter(({ result }) => result !== "failed");
  return [
    `# Batch ${number}`,
    "",
    ...table(
      ["Task", "Result", "Commit", "Attempts"],
      tasks.map(({ task, result, commit, attempts }) => [
        task,
        result,
        short(commit),
        String(attempts),
      ]),
    ),
    "",
    "## What landed",
    ...list(landed.map(({ task, name }) => `${task}: ${name}`)),
    "",
    "## What was learnt",
    ...list(
      tasks.flatMap(({ task, troubles, notes }) =>
        [...troubles, ...notes].map((line) => `${task}: ${line}`),
      ),
    ),
    "",
  ].join("\n");
}

export interface Verdict {
  readonly file: string;
  readonly verdict: string;
}

export function implementationReport(
  title: string,
  batches: readonly Batch[],
  reviews: readonly Verdict[],
): string {
  const landed = landedIn(batches);
  const attempts = landed.reduce((sum, task) => sum + task.attempts, 0);
  const warned = reviews.filter(({ verdict }) => verdict !== "PASS");
  return [
    `# Implementation report: ${title}`,
    "",
    "## Summary",
    `${landed.length} of ${landed.length} tasks landed in ${plural(batches.length, "batch", "batches")}, ${plural(attempts, "attempt", "attempts")}. Each was verified on the tree of its own commit.`,
    ...reviews.map(({ file, verdict }) => `- ${file}: ${verdict}`),
    "",
    "## Tasks",
    ...table(
      ["Task", "Name", "Result", "Commit"],
      landed.map(({ task, name, result, commit }) => [task, name, result, short(commit)]),
    ),
    "",
    "## Deviations",
    ...list(landed.flatMap(({ task, notes }) => notes.map((note) => `${task}: ${note}`))),
    "",
    "## Left over",
    ...list(
      warned.map(({ file, verdict }) => `${file} (${verdict}): its findings have no task yet`),
    ),
    "",
  ].join("\n");
}

/** Each once, as it was told last. */
export const landedIn = (batches: readonly Batch[]): BatchTask[] => [
  ...new Map(
    batches
      .flatMap(({ tasks }) => tasks)
      .filter(({ result }) => result !== "failed")
      .map((task) => [task.id, task]),
  ).values(),
];

const plural = (count: number, one: string, many: string): string =>
  `${count} ${count === 1 ? one : many}`;

/** Two or three words for what it is about: those of the first task. */
export const slugOf = (name: string): string =>
  name
    .replace(/^(?:[A-Za-z][A-Za-z0-9]*-\d+|\d+)_/u, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 40) || "tasks";

export const reportFile = (pattern: string, slug: string, cycle: number): string =>
  pattern.replaceAll("{slug}", slug).replaceAll("{cycle}", String(cycle));

/** As a contract reads it: in any case, and not in a fence or a comment. */
export function verdictIn(text: string): string | undefined {
  for (const line of outlineOf(text).prose) {
    const [, verdict] = /^\*\*Verdict\*\*: (PASS_WITH_WARNINGS|PASS|FAIL)[ \t]*$/i.exec(line) ?? [];
    if (verdict !== undefined) return verdict.toUpperCase();
  }
  return undefined;
}

// ── complete? ──────────────────────────────────────────────────────────────────────────────────

/** What is still missing, a sentence each; empty: every task is where tasks lie that are done. */
export function incomplete(
  { todo, missing, done }: TaskFacts,
  batches: readonly Batch[],
): string[] {
  const lost = landedIn(batches).filter(
    ({ task, result }) => result === "landed" && !done.includes(task),
  );
  return [
    ...todo.map((name) => `task ${name} is still in todo/`),
    ...missing.map((name) => `task ${name} of the dependencies table is in no folder`),
    ...lost.map(({ task }) => `task ${task} has landed, and its file is not in done/`),
  ];
}
