/**
 * A plan as we understand it, whatever document it came from. Everything knows its place, so that
 * every message can point and every edit can be surgical.
 */

import type { Notation } from "./status.ts";

/** Offsets count UTF-16 units of the file's decoded text; line and column count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly from: number;
  readonly to: number;
}

export const phaseStatuses = [
  "pending",
  "running",
  "complete",
  "failed",
  "blocked",
  "skipped",
  "unknown",
] as const;
export type PhaseStatus = (typeof phaseStatuses)[number];

/** Each format, and what a phase and its tasks are in it. */
export const planFormatTable = [
  [
    "superplan",
    "an overview table of phases, sections `Phase 2A: …`, or both; also `x-plan-1.md`, `x-plan-2.md` …",
    "the boxes of the section",
  ],
  ["spec-kit", "`## Phase N: …` of a `tasks.md` with tasks `T001` …", "those tasks"],
  ["openspec", "`## 1. …` with tasks `1.1` …", "those tasks"],
  ["kiro", "a top-level numbered box `- [ ] 1. …`", "the boxes in it; without any, the box itself"],
  ["task-master", "a task of the current tag of `tasks.json`", "its subtasks"],
  ["superpowers", "`### Task N: …`", "its steps, as boxes or bold lines"],
  [
    "backlog",
    "a file with front matter (`backlog/tasks`)",
    "its implementation plan; criteria are the definition of done",
  ],
  ["story", "a story's file", "Tasks / Subtasks; acceptance criteria are the definition of done"],
  ["tasks", "a file in `todo/` or `done/`, ordered by `_dependencies_table.md`", "its boxes"],
  ["generic", "the shallowest headings that hold boxes", "those boxes"],
] as const satisfies readonly (readonly [string, string, string])[];
export type PlanFormat = (typeof planFormatTable)[number][0];
export const planFormats = planFormatTable.map(([name]) => name) as [PlanFormat, ...PlanFormat[]];

/** A task, a point of the definition of done, or a checkpoint. */
export interface Item {
  readonly text: string;
  readonly done: boolean;
  readonly place: Place;
  /** What stands between the brackets, or the value that says so in JSON; absent: not a box. */
  readonly box?: Place;
  readonly optional?: true;
}

export interface DeclaredFile {
  readonly path: string;
  /** `touch`: named without saying what happens to it. */
  readonly change: "create" | "modify" | "delete" | "touch";
  readonly blocks: readonly { readonly info: string; readonly text: string }[];
  readonly place: Place;
}

/** A script for the shell that a phase spells out: a code block of its own, run as a whole. */
export interface SpelledCommand {
  readonly text: string;
  readonly place: Place;
}

/** Something that the document says of a phase, where, and in which of its parts. */
export interface Said {
  readonly text: string;
  readonly place: Place;
  readonly where:
    | "table"
    | "section"
    | "heading"
    | "box"
    | "prose"
    | "graph"
    | "document"
    | "folder";
  /** Under a label that may as well speak of packages: only what is a phase counts. */
  readonly loose?: true;
  /** Not for one phase's change to write: it speaks of the whole, or is not written in one piece. */
  readonly fixed?: true;
}

export interface SaidStatus extends Said {
  readonly status: PhaseStatus;
  /** Nothing is said there yet (an empty cell, a dash): it is where a status will be written. */
  readonly silent?: true;
}

export interface Phase {
  readonly id: string;
  readonly written: string;
  readonly name: string;
  readonly dependsOn: readonly string[];
  readonly parallelWith: readonly string[];
  readonly estimate?: number;
  readonly status: PhaseStatus;
  /** Every place that states it: what a change of status has to write. */
  readonly statuses: readonly SaidStatus[];
  readonly tasks: readonly Item[];
  readonly definitionOfDone: readonly Item[];
  readonly checkpoints: readonly Item[];
  readonly files: readonly DeclaredFile[];
  readonly commands: readonly SpelledCommand[];
  /** The row of the overview, the section, or both; never neither. */
  readonly row?: Place;
  readonly section?: Place;
  readonly place: Place;
  /** The phase's own box, besides those in it. */
  readonly box?: Place;
  /** What an agent is told: the section as it is written. */
  readonly text: string;
  /** Something can be done there: tasks, lists, tables, code. */
  readonly hasWork: boolean;
}

export interface Plan {
  readonly format: PlanFormat;
  readonly reason: string;
  readonly files: readonly string[];
  readonly phases: readonly Phase[];
  readonly boxes: {
    readonly total: number;
    readonly done: number;
    readonly outsidePhases: readonly Item[];
  };
  readonly notation: Notation;
}

/** What the compiler has to say; an error blocks a run, a warning only a strict one. */
export interface PlanFinding {
  readonly code: PlanFindingCode;
  readonly message: string;
  readonly file: string;
  readonly line: number;
  /** What to change. */
  readonly hint: string;
}

/** Every finding there is: what the compiler prints, the reference lists. */
export const planFindingTable = [
  ["no-phases", "error", "nothing in the document is a phase"],
  ["duplicate-id", "error", "two phases have the same id"],
  ["colliding-ids", "error", "two ids that look different are filed under the same name"],
  ["self-dependency", "error", "a phase waits for itself"],
  ["unknown-dependency", "error", "a phase waits for one that is not there"],
  ["cycle", "error", "phases wait for each other"],
  [
    "phase-without-section",
    "error",
    "a row of the overview without a section (a warning once it is done)",
  ],
  ["section-without-row", "error", "a section that the overview does not list"],
  [
    "nothing-to-do",
    "error",
    "a phase without tasks, lists, files or code (a warning once it is done)",
  ],
  [
    "contradiction",
    "warning",
    "table, section and boxes say different things; both lines are named",
  ],
  ["unread", "warning", "something that could not be read, and where"],
  ["shared-file", "warning", "two phases that may run at once declare the same file"],
  ["no-tasks", "warning", "a phase that lists no tasks: an agent gets only its text"],
  ["unchecked-tasks", "warning", "tasks without a definition of done or a test"],
  ["destructive", "warning", "rm -rf, DROP TABLE, push --force and the like"],
  ["placeholder", "warning", "[Name], TBD, ???"],
  ["parallel-depends", "warning", "phases that are to run together, and one waits for the other"],
  ["boxes-outside", "warning", "boxes that belong to no phase"],
] as const satisfies readonly (readonly [string, "error" | "warning", string])[];

export type PlanFindingCode = (typeof planFindingTable)[number][0];

export const count = (items: readonly Item[]): { total: number; done: number } => ({
  total: items.length,
  done: items.filter((item) => item.done).length,
});
