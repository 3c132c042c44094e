/** The attempts at each phase of a run, as history tells them: how each ended, and why. */
import type { RecordedEvent } from "../event.ts";
import type { RunEvent } from "./run-event.ts";

export const attemptEnds = [
  "landed",
  "failed",
  "conflicted",
  "interrupted",
  "parked",
  "working",
  "delivered",
  "verified",
] as const;

export interface AttemptRecord {
  readonly attempt: number;
  readonly base: string;
  readonly startedAt: string;
  /** The last three: it has not ended. */
  readonly how: (typeof attemptEnds)[number];
  /** Absent: it has not ended, or nobody was there to see when. */
  readonly endedAt?: string;
  /** What it left, or what has landed of it. */
  readonly commit?: string;
  /** The first useful lines about its end. */
  readonly lines: readonly string[];
}

export const isUnderWay = ({ how }: AttemptRecord): boolean =>
  how === "working" || how === "delivered" || how === "verified";

/** Of one run, by phase, in their order. */
export function attemptsIn(
  events: readonly RecordedEvent[],
): ReadonlyMap<string, readonly AttemptRecord[]> {
  const attempts = new Map<string, AttemptRecord[]>();
  for (const event of events) {
    if (event.type === "attempt-started") {
      const { phase, attempt, base, at: startedAt } = event;
      const begun: AttemptRecord = { attempt, base, startedAt, how: "working", lines: [] };
      attempts.set(phase, [...(attempts.get(phase) ?? []), begun]);
      continue;
    }
    if (event.type === "run-resumed" || event.type === "run-ended") {
      for (const each of attempts.values()) endWorking(each, event);
      continue;
    }
    if (event.type === "target-moved") {
      for (const phase of event.undone) undo(attempts.get(phase));
      continue;
    }
    const known = "attempt" in event ? attempts.get(event.phase) : undefined;
    const at = known?.findLastIndex((each) => "attempt" in event && each.attempt === event.attempt);
    const before = known?.[at ?? -1];
    if (known && before) known[at ?? -1] = { ...before, ...attemptChange(event) };
  }
  return attempts;
}

/** The agent never came to an end: we did. */
function endWorking(attempts: AttemptRecord[], { type }: RecordedEvent): void {
  const last = attempts.at(-1);
  if (last?.how !== "working") return;
  const why = type === "run-resumed" ? "autodev was killed" : "nobody came to work on it";
  attempts[attempts.length - 1] = { ...last, how: "interrupted", lines: [why] };
}

/** It has to be checked and landed once more. */
function undo(attempts: AttemptRecord[] | undefined): void {
  const last = attempts?.at(-1);
  if (!attempts || last?.how !== "landed") return;
  const { endedAt: _, ...rest } = last;
  attempts[attempts.length - 1] = { ...rest, how: "delivered", lines: [] };
}

/** What an event makes of the attempt that it names. */
export function attemptChange(event: RecordedEvent): Partial<AttemptRecord> {
  switch (event.type) {
    case "attempt-delivered":
      return { how: "delivered", commit: event.commit };
    case "phase-verified":
      return { how: "verified" };
    case "phase-landed":
      return { how: "landed", commit: event.commit, endedAt: event.at };
    case "attempt-failed":
      return { how: "failed", endedAt: event.at, lines: usefulLines(event) };
    case "attempt-conflicted": {
      const lines = [`collides with what has landed in ${event.files.join(", ")}`];
      return { how: "conflicted", endedAt: event.at, lines };
    }
    case "attempt-interrupted":
      return { how: "interrupted", endedAt: event.at, lines: [event.reason] };
    case "attempt-parked": {
      const lines = [`${event.reason}, until ${event.until}`];
      return { how: "parked", endedAt: event.at, lines };
    }
    case "attempt-unable":
      return { how: "parked", endedAt: event.at, lines: [`${event.agent}: ${event.message}`] };
    case "attempt-over-budget":
      return { how: "parked", endedAt: event.at, lines: [event.over] };
    default:
      return {};
  }
}

type Failed = Extract<RunEvent, { type: "attempt-failed" }>;

/** What was wrong first, then where, then what was printed. */
function usefulLines({ error, findings = [], gates = [] }: Failed): string[] {
  const lines = [
    `${error.type}: ${error.message}`,
    ...findings.flatMap(({ level, message }) => (level === "error" ? [message] : [])),
    ...gates.flatMap(({ passed, failures = [] }) => (passed === false ? failures : [])),
    ...(error.details ?? "").split("\n"),
  ].map((line) => line.trim());
  const useful = lines.filter((line, at) => line !== "" && lines.indexOf(line) === at);
  const [first = "", ...rest] = useful;
  return [first, ...rest.filter((line) => !first.endsWith(line))].slice(0, mostLines);
}

const mostLines = 5;
