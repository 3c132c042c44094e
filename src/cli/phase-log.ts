/** `autodev log PHASE`: what an attempt's agent and gates printed, now or as it is printed. */
import { type Failure, type Result, succeed } from "../core/failure.ts";
import { type AttemptRecord, isUnderWay } from "../core/plan/attempts.ts";
import { normaliseId } from "../core/plan/ids.ts";
import {
  attemptNamed,
  findPhase,
  inWords,
  isHeld,
  openProject,
  type PhaseHistory,
  type Project,
  readTranscript,
  shown,
  shownLine,
  transcriptOf,
} from "../project.ts";
import { isOutputGone, print, printError, printJson } from "./output.ts";
import { exitCodes, reportFailure } from "./render/failure.ts";
import { type Style, styleFor } from "./render/style.ts";
import type { PhaseLogOutput } from "./shapes.ts";

export interface PhaseLogOptions {
  readonly json?: boolean;
  readonly color?: boolean;
  readonly follow?: boolean;
  readonly lines?: number;
  readonly attempt?: number;
  readonly attempts?: boolean;
  readonly raw?: boolean;
}

export async function showPhaseLog(name: string, options: PhaseLogOptions): Promise<number> {
  const json = options.json === true;
  const project = openProject(process.cwd());
  const found = findPhase(project, name);
  if (!found.ok) {
    // A fresh clone may have brought the file along, though nothing is on record here.
    const brought = found.failure.code === "not-found" ? phaseLogFile(project, name) : undefined;
    if (!brought || options.attempts) return reportFailure(found.failure, json);
    if (json) printJson(outputOf(undefined, normaliseId(name), undefined, brought));
    else showFile(brought, "nothing is on record here", options);
    return exitCodes.finished;
  }
  const history = found.value;
  if (options.attempts) {
    if (json) printJson(outputOf(history, history.id, undefined, undefined));
    else for (const line of attemptLines(history, styleFor(options.color))) print(line);
    return exitCodes.finished;
  }
  if (options.follow) return follow(project, name, options);
  const attempt = attemptNamed(history, options.attempt);
  if (!attempt.ok) return reportFailure(attempt.failure, json);
  return showAttempt(project, history, attempt.value, options);
}

function showAttempt(
  project: Project,
  history: PhaseHistory,
  { attempt }: AttemptRecord,
  options: PhaseLogOptions,
): number {
  const json = options.json === true;
  const file = transcriptOf(project, history.run.id, history.id, attempt);
  const kept = linesKept(options.lines);
  const printing = json || options.lines !== undefined ? kept : printed();
  const each = options.raw ? printing.add : inWords(printing.add);
  const read = readTranscript(file, 0, each, { rest: true });
  if (read !== undefined) {
    const text = printing.end();
    if (json)
      printJson(outputOf(history, history.id, attempt, { source: "transcript", file, text }));
    else if (options.lines !== undefined) for (const line of text) print(shownLine(line));
    return exitCodes.finished;
  }
  const brought = phaseLogFile(project, history.id);
  if (!brought) {
    return reportFailure(
      {
        code: "not-found",
        message: `what attempt ${attempt} at phase ${history.written} printed is no longer kept`,
        hint: `autodev log ${history.written} --attempts`,
      },
      json,
    );
  }
  if (json) printJson(outputOf(history, history.id, attempt, brought));
  else showFile(brought, `no transcript of attempt ${attempt} is kept`, options);
  return exitCodes.finished;
}

interface Text {
  readonly source: "transcript" | "phase-log";
  readonly file: string;
  readonly text: readonly string[];
}

/** All attempts in one file, at most 500 lines: better than nothing. */
function phaseLogFile(project: Project, name: string): Text | undefined {
  const id = normaliseId(name);
  if (id === "") return undefined;
  const file = `.autobuild/logs/phase-${id}.log`;
  const read = project.store.readProjection(file);
  if (!read.ok || read.value === undefined) return undefined;
  return { source: "phase-log", file, text: read.value.replace(/\n$/, "").split("\n") };
}

function showFile({ file, text }: Text, why: string, { lines }: PhaseLogOptions): void {
  printError(`${why}: this is ${file}, which tells less`);
  for (const line of lastOf(text, lines)) print(shownLine(line));
}

const lastOf = (text: readonly string[], lines: number | undefined): readonly string[] =>
  lines === undefined ? text : text.slice(-lines || text.length);

interface Lines {
  add(line: string): void;
  end(): readonly string[];
}

/** Many in one write: a transcript has some hundred thousand. */
function printed(): Lines {
  let waiting: string[] = [];
  let length = 0;
  const flush = (): void => {
    if (waiting.length > 0) print(waiting.join("\n"));
    waiting = [];
    length = 0;
  };
  return {
    add(line) {
      const safe = shownLine(line);
      waiting.push(safe);
      length += safe.length;
      if (length > 32 * 1024) flush();
    },
    end() {
      flush();
      return [];
    },
  };
}

/** All of them for JSON, else only as many as are wanted. */
function linesKept(most: number | undefined): Lines {
  let kept: string[] = [];
  return {
    add(line) {
      kept.push(line);
      if (most && kept.length > 2 * most + 64) kept = kept.slice(-most);
    },
    end: () => lastOf(kept, most),
  };
}

// ── as it grows ────────────────────────────────────────────────────────────────────────────────

const lookMs = 150;

/** Until the attempt has ended, or nobody is at it any more; with `--json`, all of it then. */
async function follow(project: Project, name: string, options: PhaseLogOptions): Promise<number> {
  const json = options.json === true;
  const stop = { asked: false };
  const onSignal = (): void => {
    stop.asked = true;
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, onSignal);
  const lines = printed();
  const each = options.raw ? lines.add : inWords(lines.add);
  let from = 0;
  let now: Now | undefined;
  for (let round = 0; ; round++) {
    // Whether it is over is asked before the file is read: what came before the end is in it then.
    const held = isHeld(project);
    if (round % 3 === 0 || !held) {
      const asked = attemptNow(project, name, now?.record.attempt ?? options.attempt);
      const comes = held && options.attempt === undefined && !asked.ok && isAbsent(asked.failure);
      if (!asked.ok && !comes) return reportFailure(asked.failure, json);
      if (asked.ok) now = asked.value;
    }
    const over = now !== undefined && (!isUnderWay(now.record) || !held);
    if (now && !json) {
      from = readTranscript(now.file, from, each, { rest: over }) ?? from;
      lines.end();
    }
    if (now && over) return followedTo(project, now, from, options);
    if (stop.asked) return exitCodes.interrupted;
    if (isOutputGone()) return exitCodes.finished;
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

/** It may come yet. */
const isAbsent = ({ code }: Failure): boolean => code === "not-found";

interface Now {
  readonly history: PhaseHistory;
  readonly record: AttemptRecord;
  readonly file: string;
}

function attemptNow(project: Project, name: string, number: number | undefined): Result<Now> {
  const history = findPhase(project, name);
  if (!history.ok) return history;
  const record = attemptNamed(history.value, number);
  if (!record.ok) return record;
  const { run, id } = history.value;
  const file = transcriptOf(project, run.id, id, record.value.attempt);
  return succeed({ history: history.value, record: record.value, file });
}

function followedTo(
  project: Project,
  { history, record }: Now,
  from: number,
  options: PhaseLogOptions,
): number {
  if (from === 0) return showAttempt(project, history, record, options);
  const how = isUnderWay(record) ? `${record.how}, and nobody is at it any more` : record.how;
  printError(`attempt ${record.attempt} at phase ${history.written}: ${how}`);
  return exitCodes.finished;
}

// ── how they ended ─────────────────────────────────────────────────────────────────────────────

function attemptLines({ written, name, attempts }: PhaseHistory, style: Style): string[] {
  if (attempts.length === 0) return [`Phase ${written} has had no attempt yet.`];
  return [
    style.bold(shown(`Phase ${written}: ${name}`)),
    ...attempts.flatMap((record) => {
      const { attempt, how, startedAt, lines } = record;
      const paint = how === "landed" ? style.green : how === "failed" ? style.red : style.yellow;
      const seconds = secondsOf(record);
      const took = seconds === undefined ? "" : `, ${duration(seconds)}`;
      return [
        `  ${attempt}  ${paint(how)}  ${style.dim(`${startedAt}${took}`)}`,
        ...lines.map((line) => `     ${shown(line)}`),
      ];
    }),
  ];
}

const secondsOf = ({ startedAt, endedAt }: AttemptRecord): number | undefined =>
  endedAt === undefined
    ? undefined
    : Math.max(0, Math.round((Date.parse(endedAt) - Date.parse(startedAt)) / 100) / 10);

const duration = (seconds: number): string =>
  seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;

const outputOf = (
  history: PhaseHistory | undefined,
  phase: string,
  attempt: number | undefined,
  text: Text | undefined,
): PhaseLogOutput => ({
  version: 1,
  run: history?.run.id ?? null,
  phase,
  name: history?.name ?? "",
  attempt: attempt ?? null,
  source: text?.source ?? "none",
  file: text?.file ?? null,
  text: text ? text.text.map((line) => `${line}\n`).join("") : null,
  attempts: (history?.attempts ?? []).map((record) => ({
    attempt: record.attempt,
    how: record.how,
    startedAt: record.startedAt,
    endedAt: record.endedAt ?? null,
    seconds: secondsOf(record) ?? null,
    lines: [...record.lines],
  })),
});
