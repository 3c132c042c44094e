/**
 * `.autobuild/logs/`: the run as a story. `execution.log` tells what happened, an event at a time;
 * `phase-<id>.log` what one agent did.
 *
 * Invariants
 *  1. Each line of `execution.log` comes from one event: the same journal gives the same log.
 *  2. Whatever a plan, a commit message or an agent says stays inside the line that quotes it: no
 *     text of theirs can look like a line of ours.
 *  3. A batch is a level of the graph with more than one phase. It starts with its first phase and
 *     ends with its last; in between, first attempts are not announced one by one.
 */

import type { RecordedEvent } from "../event.ts";
import type { Finding } from "../finding.ts";
import { findingLine } from "../verification/finding-table.ts";
import type { ErrorType, PhaseError } from "./phase-error.ts";
import { attemptNumber, wholeSeconds } from "./phase-file.ts";
import {
  blockers,
  isChecked,
  isComplete,
  type PhaseProgress,
  type PlanRun,
  phaseOf,
} from "./progress.ts";
import { batchesIn } from "./readiness.ts";
import type { GateOutcome, RunEvent, RunPhase, Stack } from "./run-event.ts";

type Of<T extends RunEvent["type"]> = Extract<RunEvent, { type: T }>;

/** What the event adds to the log; "" is a blank line. `after` is `before` with the event in it. */
export function logLines(
  event: RecordedEvent,
  before: PlanRun | undefined,
  after: PlanRun,
): string[] {
  const stamp = `[${wholeSeconds(event.at)}] `;
  return storyOf(event, before, after).map((line) => (line === "" ? "" : stamp + oneLine(line)));
}

function storyOf(event: RecordedEvent, before: PlanRun | undefined, after: PlanRun): string[] {
  switch (event.type) {
    case "run-started":
      return opening(after);
    case "run-resumed":
      return ["", "RESUMED"];
    case "plan-reread":
      return [
        "",
        "PLAN CHANGED",
        ...event.changes.map((each) => `Changed: ${each}`),
        ...order(after),
      ];
    case "attempt-started":
      return started(event, before, after);
    case "attempt-failed":
    case "attempt-conflicted": {
      const phase = phaseOf(after, event.phase);
      return [
        failedLine(event.phase, phase),
        ...(phase?.state.is === "failed" ? closing(event.phase, before, after) : []),
      ];
    }
    case "attempt-interrupted":
      return [`${title(event.phase)} INTERRUPTED - ${event.reason}`];
    case "attempt-unable":
      return [`${title(event.phase)} WAITING - ${event.agent}: ${event.message}`];
    case "attempt-over-budget":
      return [`${title(event.phase)} STOPPED - ${event.over}`];
    case "attempt-parked":
      return [`${title(event.phase)} PARKED until ${wholeSeconds(event.until)}`];
    case "phase-landed": {
      const state = phaseOf(after, event.phase)?.state;
      const message = state?.is === "landed" ? firstLine(state.check.message) : "";
      return [
        `${title(event.phase)} COMPLETE${message === "" ? "" : ` - ${message}`}${isUnverified(after, event.phase) ? " (unverified)" : ""}`,
        ...closing(event.phase, before, after),
      ];
    }
    case "baseline-taken":
      return baseline(event);
    case "phase-skipped":
      return [
        `${title(event.phase)} SKIPPED - ${event.reason}`,
        ...closing(event.phase, before, after),
      ];
    case "phase-reset":
      return [`${title(event.phase)} RESET - ${event.reason}`];
    case "phase-published":
      return after.mode === "auto" && event.commit !== null ? [committed(event.commit)] : [];
    case "run-published":
      return [committed(event.commit)];
    case "target-moved":
      return [
        `TARGET MOVED to ${short(event.commit)}`,
        ...(event.undone.length > 0 ? [`To be verified again: ${named(event.undone)}`] : []),
      ];
    case "run-ended":
      return ["", ...ending(event, after)];
    default:
      return [];
  }
}

function isUnverified(run: PlanRun, id: string): boolean {
  const phase = phaseOf(run, id);
  return phase?.state.is === "landed" && !isChecked(phase);
}

// ---- how a run begins and ends

/** A base on which all is well needs no word. */
const baseline = ({ unverified, dropped = [], accepted = {} }: Of<"baseline-taken">): string[] => [
  ...(unverified ? ["BASELINE: no gate runs, what is complete is unverified"] : []),
  ...dropped.map((gate) => `BASELINE: ${gate} fails and was dropped`),
  ...Object.entries(accepted).map(
    ([gate, failures]) =>
      `BASELINE: ${gate} fails, ${thousands(failures.length)} known failures accepted`,
  ),
];

const opening = (run: PlanRun): string[] => [
  "AUTOBUILD STARTED",
  `Plan: ${run.plan}`,
  `Commit mode: ${run.mode}`,
  `Stack detected: ${stackWords(run.stack)}`,
  ...order(run),
  ...run.phases.flatMap(({ id, state }) =>
    state.is === "skipped" ? [`${title(id)} SKIPPED - ${state.reason}`] : [],
  ),
];

const stackWords = ({ language, framework }: Stack): string =>
  [language, framework].filter((each) => each !== null).join("/") || "none";

const order = (run: PlanRun): string[] => [
  `Phases identified: ${run.order.length}`,
  `Execution order: ${levelsOf(run)
    .batches.map((batch) => `[${batch.join(",")}]`)
    .join(" -> ")}`,
];

function ending({ how, until }: Of<"run-ended">, run: PlanRun): string[] {
  const completed = run.phases.filter(isComplete).length;
  switch (how) {
    case "complete":
      return ["AUTOBUILD COMPLETE", `Completed: ${counted(completed)}`];
    case "halted": {
      const failed = run.phases.filter(({ state }) => state.is === "failed");
      const remaining = run.phases.filter(
        (phase) => !isComplete(phase) && phase.state.is !== "failed",
      );
      return [
        "AUTOBUILD HALTED",
        `Completed: ${counted(completed)}`,
        `Failed: ${counted(failed.length)}${among(failed)}`,
        `Remaining: ${counted(remaining.length)}${among(remaining)}`,
      ];
    }
    case "interrupted":
      return ["INTERRUPTED"];
    case "parked":
      return [until === undefined ? "PARKED" : `PARKED until ${wholeSeconds(until)}`];
    case "asking":
      return ["WAITING FOR USER INPUT"];
    case "stopped":
      return ["STOPPED"];
  }
}

const counted = (count: number): string => `${count} ${count === 1 ? "phase" : "phases"}`;

const among = (phases: readonly PhaseProgress[]): string =>
  phases.length === 0 ? "" : ` (${named(phases.map(({ id }) => id))})`;

/** A plan may have ten thousand phases; the log is for people. */
function named(ids: readonly string[], most = 50): string {
  const rest = ids.length - most;
  return rest > 0 ? `${ids.slice(0, most).join(", ")} and ${thousands(rest)} more` : ids.join(", ");
}

// ---- how a phase begins and ends

function started(
  { phase: id }: Of<"attempt-started">,
  before: PlanRun | undefined,
  after: PlanRun,
): string[] {
  const earlier = before && phaseOf(before, id);
  const batch = levelsOf(after).batchOf.get(id) ?? [id];
  if (earlier && earlier.charged + earlier.conflicts > 0) return [`${title(id)} RETRY STARTED`];
  if (batch.length === 1) return ["", `${title(id)} STARTED`];
  if (earlier && earlier.attempts > 0) return [`${title(id)} STARTED`];
  const first = !before || !begun(before, batch);
  return first ? ["", `PARALLEL BATCH STARTED: ${named(batch)}`] : [];
}

const begun = (run: PlanRun, batch: readonly string[]): boolean =>
  batch.some((id) => (phaseOf(run, id)?.attempts ?? 0) > 0);

function failedLine(id: string, phase: PhaseProgress | undefined): string {
  const error = phase?.errors.at(-1);
  const reason = error ? shortReason(error) : "";
  const attempt = phase ? attemptNumber(phase) : 1;
  return `${title(id)} FAILED - ${reason} (attempt ${attempt})`;
}

const gateWords: Readonly<Partial<Record<ErrorType, string>>> = {
  test_failure: "tests failing",
  lint_error: "lint failing",
  typecheck_error: "typecheck failing",
  format_error: "format failing",
};

/** The gates' own words are in the phase's file; what has no word of its own says it itself. */
const shortReason = ({ type, message }: PhaseError): string =>
  gateWords[type] ?? clipped(oneLine(message) || type.replaceAll("_", " "), 160);

/** What the end of a phase ends with it: phases that wait in vain, batches. */
function closing(id: string, before: PlanRun | undefined, after: PlanRun): string[] {
  if (!before) return [];
  const { batchOf } = levelsOf(after);
  const blockedBefore = blockedIn(before);
  const blockedAfter = blockedIn(after);
  const newly = [...blockedAfter].filter(([each]) => !blockedBefore.has(each));

  const touched = new Set<readonly string[]>();
  for (const each of [id, ...newly.map(([blocked]) => blocked)]) {
    const batch = batchOf.get(each);
    if (batch && batch.length > 1 && begun(after, batch)) touched.add(batch);
  }
  const ended = [...touched].filter(
    (batch) =>
      batch.every((each) => hasEnded(after, each, blockedAfter)) &&
      !batch.every((each) => hasEnded(before, each, blockedBefore)),
  );
  return [
    ...ended.map((batch) => batchEnd(batch, after, blockedAfter)),
    ...newly.map(([each, by]) => `${title(each)} BLOCKED by ${by.toUpperCase()}`),
  ];
}

type Blocked = ReadonlyMap<string, string>;
const nobody: Blocked = new Map();

function blockedIn(run: PlanRun): Blocked {
  // While nothing has failed, which is mostly so, nobody can be waiting in vain.
  if (run.readiness.failed === 0) return nobody;
  const blocked = blockers(run);
  return new Map([...blocked].filter(([id]) => phaseOf(run, id)?.state.is === "pending"));
}

function hasEnded(run: PlanRun, id: string, blocked: Blocked): boolean {
  const phase = phaseOf(run, id);
  return !phase || isComplete(phase) || phase.state.is === "failed" || blocked.has(id);
}

function batchEnd(batch: readonly string[], run: PlanRun, blocked: Blocked): string {
  const groups: Record<"failed" | "blocked" | "complete", string[]> = {
    failed: [],
    blocked: [],
    complete: [],
  };
  for (const id of batch) {
    if (phaseOf(run, id)?.state.is === "failed") groups.failed.push(id);
    else groups[blocked.has(id) ? "blocked" : "complete"].push(id);
  }
  if (groups.complete.length === batch.length) return `PARALLEL BATCH COMPLETE: ${named(batch)}`;
  const said = Object.entries(groups).flatMap(([how, ids]) =>
    ids.length > 0 ? [`${ids.join("+")} ${how}`] : [],
  );
  return `PARALLEL BATCH FAILED: ${said.join(", ")}`;
}

interface Levels {
  readonly batches: readonly (readonly string[])[];
  readonly batchOf: ReadonlyMap<string, readonly string[]>;
}

const levelsIn = new WeakMap<readonly RunPhase[], Levels>();

function levelsOf(run: PlanRun): Levels {
  let known = levelsIn.get(run.order);
  if (!known) {
    const batches = batchesIn(run);
    known = {
      batches,
      batchOf: new Map(batches.flatMap((batch) => batch.map((id) => [id, batch] as const))),
    };
    levelsIn.set(run.order, known);
  }
  return known;
}

const title = (id: string): string => `PHASE ${id.toUpperCase()}`;
const short = (commit: string): string => commit.slice(0, 7);
const committed = (commit: string): string => `Committed: ${short(commit)}`;

// ---- one agent's work

export interface PhaseLogHead {
  readonly id: string;
  readonly startedAt: string;
  readonly model?: string | undefined;
}

export interface PhaseLogEnd {
  readonly id: string;
  readonly status: "complete" | "failed" | "interrupted" | "parked";
  readonly gates?: readonly GateOutcome[] | undefined;
  readonly planUpdates?: { readonly tasks: number; readonly done: number } | undefined;
  /** The commit's message; its first line is shown. */
  readonly message?: string | undefined;
  readonly error?: PhaseError | undefined;
  readonly findings?: readonly Finding[] | undefined;
}

export const phaseLogHead = ({ id, startedAt, model }: PhaseLogHead): string[] => [
  `=== ${title(id)} SUB-AGENT LOG ===`,
  `Started: ${wholeSeconds(startedAt)}`,
  `Model: ${oneLine(model ?? "") || "unknown"}`,
  "",
];

export const phaseLogEnd = (end: PhaseLogEnd): string[] => [
  ...(end.gates && end.gates.length > 0
    ? ["", "--- QUALITY GATES ---", ...end.gates.map(gateLine)]
    : []),
  ...(end.planUpdates
    ? [
        "",
        "--- PLAN UPDATES ---",
        `Checked: ${end.planUpdates.tasks} ${end.planUpdates.tasks === 1 ? "task" : "tasks"}`,
        `DoD: ${end.planUpdates.done} ${end.planUpdates.done === 1 ? "item" : "items"}`,
      ]
    : []),
  "",
  "--- RESULT ---",
  `Status: ${end.status}`,
  ...(end.message ? [`Commit: ${oneLine(firstLine(end.message))}`] : []),
  ...(end.error ? [`Error: ${end.error.type} - ${oneLine(end.error.message)}`] : []),
  ...(end.findings && end.findings.length > 0
    ? ["", "--- FINDINGS ---", ...end.findings.map((finding) => oneLine(findingLine(finding)))]
    : []),
  "",
  `=== END ${title(end.id)} LOG ===`,
];

function gateLine(gate: GateOutcome): string {
  const { name, command, passed, summary } = gate;
  const label = name === "test" ? "Tests" : name.charAt(0).toUpperCase() + name.slice(1);
  if (passed === null)
    return oneLine(`${label}: ${command ?? "no command"} -> SKIPPED (${summary})`);
  const tests = name === "test" ? /\b(\d+) tests? passed\b/.exec(summary)?.[1] : undefined;
  const note =
    passed && tests !== undefined
      ? ` (${tests} ${tests === "1" ? "test" : "tests"})`
      : !passed && summary !== ""
        ? ` (${summary})`
        : "";
  return oneLine(`${label}: ${command ?? "no command"} -> ${passed ? "PASS" : "FAIL"}${note}`);
}

/** The whole file: never more than `most` lines, whatever the agent has said. */
export const phaseLog = (
  head: PhaseLogHead,
  said: readonly string[],
  end: PhaseLogEnd,
  most = 500,
): string[] => {
  const top = phaseLogHead(head);
  const bottom = phaseLogEnd(end);
  return [...top, ...truncatedLog(said, Math.max(3, most - top.length - bottom.length)), ...bottom];
};

/** Without its middle: how it began and how it ended is what people look for. */
export function truncatedLog(lines: readonly string[], most = 500): string[] {
  // One “line” of an agent's may well be a whole file.
  const all = lines.flatMap((line) => line.split(/\r\n|[\r\n]/));
  if (all.length <= most) return all;
  const head = Math.floor((most - 1) / 2);
  const tail = most - 1 - head;
  return [
    ...all.slice(0, head),
    `… ${thousands(all.length - head - tail)} lines left out …`,
    ...all.slice(all.length - tail),
  ];
}

// ---- somebody's text in a line of ours

/** Control characters, whatever breaks a line anywhere, and what turns its direction round. */
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]+/g;

export const oneLine = (text: string): string => text.replace(unprintable, " ").trim();

/** The first that says something. */
const firstLine = (text: string): string =>
  text
    .split(/\r\n|[\r\n\u2028\u2029\u0085]/)
    .map((line) => line.trim())
    .find((line) => line !== "") ?? "";

const clipped = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}…` : text;

const thousands = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ",");
