/**
 * The files in which people follow a run: `.autobuild/config.json`, a file for each phase, the logs
 * and `commits.sh`. All of them are renderings of the journal: written soon after each change, once
 * for many in quick succession, and never read back but to notice what somebody changed in them.
 */
import type { RecordedEvent } from "../core/event.ts";
import { type Failure, type Result, succeed } from "../core/failure.ts";
import { commitsScript } from "../core/plan/commits-script.ts";
import { logLines, phaseLogEnd, phaseLogHead } from "../core/plan/execution-log.ts";
import { renderPhaseFile, renderRunConfig } from "../core/plan/phase-file.ts";
import { blockers, evolveRun, type PlanRun, phaseOf } from "../core/plan/progress.ts";
import type { RunEvent } from "../core/plan/run-event.ts";
import type { Git } from "../git/call.ts";
import { type Change, changesBetween } from "../git/trees.ts";
import { shown } from "../safe-text.ts";
import type { Held } from "./hold.ts";
import type { Rendered } from "./show.ts";

export const runFolder = ".autobuild";
export const configFile = `${runFolder}/config.json`;
export const phaseFile = (id: string): string => `${runFolder}/phases/phase-${id}.json`;
const executionLog = `${runFolder}/logs/execution.log`;
const phaseLogFile = (id: string): string => `${runFolder}/logs/phase-${id}.log`;
const scriptFile = `${runFolder}/commits.sh`;

export interface PhaseLog {
  add(line: string): void;
}

export interface RunShowing {
  /** What these events change in the files; called when they are on record. */
  happened(events: readonly RecordedEvent[]): void;
  /** The output of a phase's agent and gates; `attempt`: a new one begins. */
  phaseLog(id: string, attempt?: { attempt: number; startedAt: string }): PhaseLog;
  /** These phases' files are not what they should be. */
  stale(ids: readonly string[]): void;
  /** Everything that is wanted is written; says what could not be. */
  settled(options: { durable: boolean }): Promise<Result<void>>;
}

/** The phase files that look different after these events. */
export function changedPhases(
  before: PlanRun | undefined,
  after: PlanRun,
  events: readonly { readonly type: string; readonly phase?: string }[],
): string[] {
  const whole = events.some(({ type }) => changesAll.has(type));
  if (!before || whole) return after.order.map(({ id }) => id);
  const changed = new Set(
    events.flatMap((event) => (event.phase === undefined ? [] : [event.phase])),
  );
  // A failure, or its end, shows in everything that waits for it.
  if (before.readiness.failed > 0 || after.readiness.failed > 0) {
    const [was, is] = [blockers(before), blockers(after)];
    for (const { id } of after.order) if (was.get(id) !== is.get(id)) changed.add(id);
  }
  return [...changed].filter((id) => phaseOf(after, id) !== undefined);
}

const changesAll: ReadonlySet<string> = new Set([
  "run-started",
  "run-resumed",
  "plan-reread",
  "target-moved",
  "run-published",
  "run-ended",
]);

export const renderedPhases = (run: PlanRun, ids: readonly string[]): Rendered[] => {
  const blocked = blockers(run);
  return ids.map((id) => ({ path: phaseFile(id), text: renderPhaseFile(run, id, blocked) }));
};

/** On record with the look of every file that it changes; what was recorded, with its place. */
export async function recordRun(
  held: Held,
  id: string,
  events: readonly RunEvent[],
): Promise<Result<RecordedEvent[]>> {
  const before = held.state.runs?.[id];
  const recorded = await held.recordIn(id, events, (state) => {
    const after = state.runs?.[id];
    return after ? renderedPhases(after, changedPhases(before, after, events)) : [];
  });
  if (!recorded.ok) return recorded;
  const first = held.head.seq - events.length + 1;
  const at = recorded.value.runs?.[id]?.updatedAt ?? "";
  return succeed(events.map((event, index) => ({ ...event, seq: first + index, at, run: id })));
}

export function createRunShowing(options: {
  readonly held: Held;
  readonly git: Git;
  /** Everything that the journal holds of this run so far. */
  readonly history: readonly RecordedEvent[];
}): RunShowing {
  const { held, git } = options;
  let run: PlanRun | undefined;
  const log: string[] = [];
  const phaseLogs = new Map<string, KeptLines>();
  const dirty = { phases: new Set<string>(), logs: new Set<string>(), log: false, script: false };
  const unsynced = new Set<string>();
  const scripted = new Map<string, readonly Change[]>();
  let trouble: Failure | undefined;

  const happened = (events: readonly RecordedEvent[]): void => {
    for (const event of events) {
      const after = evolveRun(run, event);
      if (!after) continue;
      log.push(...logLines(event, run, after));
      for (const each of changedPhases(run, after, [event])) dirty.phases.add(each);
      if (event.type === "phase-published" && after.mode === "message-only") dirty.script = true;
      const ended = "phase" in event && phaseLogs.has(event.phase) ? logEnd(event) : [];
      if ("phase" in event && ended.length > 0) {
        for (const line of ended) phaseLogs.get(event.phase)?.add(line);
        dirty.logs.add(event.phase);
      }
      run = after;
    }
    dirty.log = true;
    soon();
  };

  const write = async (file: Rendered, durable: boolean): Promise<void> => {
    const written = await held.write(file, { durable });
    if (!written.ok) trouble = written.failure;
    else if (durable) unsynced.delete(file.path);
    else unsynced.add(file.path);
  };

  const flush = async (durable: boolean): Promise<void> => {
    if (!run) return;
    const now = run;
    const ids = [...dirty.phases].filter((each) => phaseOf(now, each) !== undefined);
    const logs = [...dirty.logs];
    const { script } = dirty;
    const wanted: Rendered[] = renderedPhases(now, ids);
    dirty.phases.clear();
    dirty.logs.clear();
    dirty.script = false;
    for (const each of logs) {
      const text = `${phaseLogs.get(each)?.shown().join("\n") ?? ""}\n`;
      wanted.push({ path: phaseLogFile(each), text });
    }
    if (script) wanted.push({ path: scriptFile, text: await scriptOf(now) });
    if (dirty.log) {
      const blocked = blockers(now);
      wanted.push({ path: executionLog, text: `${log.join("\n")}\n` });
      wanted.push({ path: configFile, text: renderRunConfig(now, blocked) });
    }
    dirty.log = false;
    for (const file of wanted) await write(file, durable);
  };

  const scriptOf = async (now: PlanRun): Promise<string> => {
    const phases: Parameters<typeof commitsScript>[0]["phases"][number][] = [];
    for (const { phase, commit } of now.landed.slice(0, now.published)) {
      const state = phaseOf(now, phase)?.state;
      if (state?.is !== "landed") continue;
      const planned = now.order.find((each) => each.id === phase);
      const changes = scripted.get(commit) ?? (await changesOf(commit));
      scripted.set(commit, changes);
      phases.push({
        written: planned?.written ?? phase,
        name: planned?.name ?? "",
        uuid: state.uuid,
        message: state.check.message,
        changes: changes.map(({ path, old, now: entry }) => ({
          path,
          oldMode: old?.mode ?? null,
          oldBlob: old?.blob ?? null,
          newMode: entry?.mode ?? null,
          newBlob: entry?.blob ?? null,
        })),
      });
    }
    return commitsScript({ plan: now.plan, generatedAt: now.updatedAt, phases });
  };
  const changesOf = async (commit: string): Promise<readonly Change[]> => {
    const changes = await changesBetween(git, `${commit}^`, commit);
    return changes.ok ? changes.value : [];
  };

  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();
  let pause = shortest;
  const now = (durable: boolean): Promise<void> => {
    last = last.then(async () => {
      const began = performance.now();
      await flush(durable);
      // Writing never takes more than a small share of the time.
      pause = Math.max(shortest, (performance.now() - began) * 10);
    });
    return last;
  };
  const soon = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      void now(false);
    }, pause);
  };

  happened(options.history);
  // History is in the files already; only what somebody removed is written again.
  dirty.phases.clear();
  return {
    happened,
    phaseLog(phase, attempt) {
      const kept = phaseLogs.get(phase) ?? keptLines();
      phaseLogs.set(phase, kept);
      if (attempt) {
        for (const line of phaseLogHead({ id: phase, startedAt: attempt.startedAt }))
          kept.add(line);
      }
      return {
        add(line) {
          // Somebody will look at it in a terminal.
          kept.add(shown(line));
          dirty.logs.add(phase);
          soon();
        },
      };
    },
    stale(ids) {
      for (const id of ids) dirty.phases.add(id);
      dirty.log = true;
      dirty.script = run?.mode === "message-only" && run.published > 0;
    },
    async settled({ durable }) {
      clearTimeout(timer);
      timer = undefined;
      trouble = undefined;
      if (durable) for (const file of unsynced) again(file);
      await now(durable);
      return trouble ? { ok: false, failure: trouble } : succeed(undefined);
    },
  };

  function again(file: string): void {
    const phase = /phases\/phase-(.+)\.json$/.exec(file)?.[1];
    const logged = /logs\/phase-(.+)\.log$/.exec(file)?.[1];
    if (phase !== undefined) dirty.phases.add(phase);
    else if (logged !== undefined) dirty.logs.add(logged);
    else if (file === scriptFile) dirty.script = true;
    else dirty.log = true;
  }
}

const shortest = 25;

function logEnd(event: RecordedEvent): string[] {
  switch (event.type) {
    case "phase-verified": {
      const { phase: id, gates, findings, message, tasksChecked: tasks, doneChecked: done } = event;
      const planUpdates = { tasks, done };
      return phaseLogEnd({ id, status: "complete", gates, planUpdates, message, findings });
    }
    case "attempt-failed": {
      const { phase: id, gates, error, findings } = event;
      return phaseLogEnd({ id, status: "failed", gates, error, findings });
    }
    case "attempt-interrupted":
      return phaseLogEnd({ id: event.phase, status: "interrupted" });
    case "attempt-parked":
    case "attempt-unable":
    case "attempt-over-budget":
      return phaseLogEnd({ id: event.phase, status: "parked" });
    default:
      return [];
  }
}

const longestLog = 500;

interface KeptLines {
  add(line: string): void;
  shown(): string[];
}

/** How it began and how it ended; memory stays flat however much is printed in between. */
function keptLines(): KeptLines {
  const first: string[] = [];
  let last: string[] = [];
  let left = 0;
  const half = longestLog / 2 - 1;
  return {
    add(line) {
      if (first.length < half) first.push(line);
      else last.push(line);
      if (last.length > 2 * half) {
        left += last.length - half;
        last = last.slice(-half);
      }
    },
    shown() {
      const out = left + Math.max(0, last.length - half);
      const note = out > 0 ? [`… ${out.toLocaleString("en")} lines left out …`] : [];
      return [...first, ...note, ...last.slice(-half)];
    },
  };
}
