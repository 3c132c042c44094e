/**
 * `.autobuild/phases/phase-<id>.json` and `.autobuild/config.json`: a run as other tools read it.
 *
 * The schemas say what we accept: what other tools wrote, so little is required and nothing
 * unknown is refused. The renderers say what we write: every key, always in the same order, so
 * that the same run gives the same bytes everywhere and a diff shows only what happened.
 */
import { z } from "zod";
import { hasUsed, type Spent } from "../agent/budget.ts";
import {
  gatesOf,
  isChecked,
  type PhaseProgress,
  type PlanRun,
  phaseOf,
  standingOf,
} from "./progress.ts";
import { commitModes, type GateOutcome, type RunPhase } from "./run-event.ts";

export const phaseFileStatuses = ["pending", "running", "complete", "failed", "blocked"] as const;

const time = z.string().describe("ISO 8601, in UTC, without milliseconds");
const ids = z.array(z.string());
const count = z.int().min(0);

const GateRecord = z
  .looseObject({
    passed: z.boolean().nullish().describe("null: skipped, which is not passed"),
    skipped: z.boolean().nullish().describe("true: there was nothing to run"),
    command: z.string().nullish().describe("what was run, in the project's folder"),
    output_summary: z.string().nullish().describe("one line, or `skipped: <reason>`"),
    coverage: z.string().nullish().describe("of a test gate that measures it"),
    tests_passed: count.nullish().describe("as the test runner counts"),
    tests_failed: count.nullish(),
    tests_skipped: count.nullish().describe("skipped is not passed"),
    failures: z.array(z.string()).nullish().describe("file:line and name of what failed"),
  })
  .describe("what one gate said");

export const PhaseFile = z
  .looseObject({
    phase_id: z.string().min(1).describe("lower case, without punctuation: 2a for “Phase 2A”"),
    phase_name: z.string().describe("the phase's title in the plan"),
    status: z
      .enum(phaseFileStatuses)
      .describe("complete: verified and landed, or skipped; blocked: something upstream failed"),
    attempt: count.describe("the attempt under way or the last one; 0: none yet"),
    max_attempts: z.int().min(1).describe("how many may fail"),
    timestamps: z
      .looseObject({
        started: time.nullish(),
        completed: time.nullish(),
        failed: time.nullish(),
        duration_seconds: z.number().min(0).nullish().describe("from the start to the end"),
      })
      .nullish()
      .describe("empty while the phase is pending"),
    dependencies: z
      .looseObject({
        depends_on: ids.nullish().describe("phases that have to be complete first"),
        parallel_with: ids.nullish().describe("phases that the plan wants at the same time"),
        blocks: ids.nullish().describe("phases that depend on this one"),
      })
      .nullish(),
    execution: z
      .looseObject({
        subagent_id: z.string().nullish().describe("the attempt's own id"),
        subagent_model: z.string().nullish(),
        agent: z.string().nullish().describe("who did it, where it is not the run's own agent"),
        usage: z
          .looseObject({
            tokens: z.number().nullish(),
            cost_usd: z.number().nullish(),
            seconds: z.number().nullish().describe("in which an agent was at work"),
          })
          .nullish()
          .describe("of all attempts, as far as agents tell"),
        tasks_total: count.nullish(),
        tasks_completed: count.nullish().describe("as the agent says"),
      })
      .nullish()
      .describe("who worked on it; null: nobody yet"),
    quality_gates: z
      .record(z.string(), GateRecord.nullable())
      .nullish()
      .describe("by the gate's name; null: none has run"),
    verification: z
      .looseObject({
        subagent_claimed: z.string().nullish().describe("what the agent says: complete, failed"),
        fresh_verification: z
          .string()
          .nullish()
          .describe(
            "what we found: passed, failed; unverified: no gate ran, and that was accepted",
          ),
        verified_at: time.nullish(),
        findings: z
          .array(
            z.looseObject({
              code: z.string(),
              level: z.enum(["note", "error"]),
              message: z.string(),
              file: z.string().nullish(),
              line: z.int().nullish(),
            }),
          )
          .nullish()
          .describe(
            "what a failed attempt failed with, or what is worth knowing of a complete one",
          ),
        evidence: z.string().nullish().describe("the blob that holds everything that was seen"),
      })
      .nullish(),
    commit: z
      .looseObject({
        message: z.string().nullish(),
        type: z.string().nullish().describe("of the conventional message: feat, fix, chore …"),
        scope: z.string().nullish(),
        files_created: z.array(z.string()).nullish(),
        files_modified: z.array(z.string()).nullish(),
        files_deleted: z.array(z.string()).nullish(),
        committed: z.boolean().nullish().describe("true: it is on the branch"),
        commit_sha: z.string().nullish().describe("null while it is not on the branch"),
      })
      .nullish()
      .describe("null: the phase is not complete, or was skipped"),
    plan_updates: z
      .looseObject({
        tasks_checked: count.nullish(),
        dod_checked: count.nullish().describe("boxes of the definition of done"),
        status_updated: z.boolean().nullish(),
      })
      .nullish(),
    error: z
      .looseObject({
        type: z.string().nullish(),
        message: z.string().nullish(),
        details: z.string().nullish(),
        kind: z.string().nullish().describe("of an agent that failed: what exactly was the matter"),
        blocking_phase: z.string().nullish().describe("of a blocked phase: the one that failed"),
      })
      .nullish()
      .describe("of a failed or blocked phase; attempt_1_error, attempt_2_error … say how it went"),
    skipped: z.string().nullish().describe("why there was nothing to do; such a phase is complete"),
  })
  .describe("One phase of a run: .autobuild/phases/phase-<id>.json");
export type PhaseFile = z.infer<typeof PhaseFile>;

export const RunConfigFile = z
  .looseObject({
    version: z.string().nullish().describe("of this format"),
    plan_path: z.string().min(1).describe("the plan, from the project's folder"),
    commit_mode: z
      .enum(commitModes)
      .describe("auto: a commit a phase; message-only: commits.sh; single: one at the end"),
    started_at: time.nullish(),
    last_updated: time.nullish(),
    stack: z
      .looseObject({
        language: z.string().nullish(),
        framework: z.string().nullish(),
        package_manager: z.string().nullish(),
        test_framework: z.string().nullish(),
        linter: z.string().nullish(),
        formatter: z.string().nullish(),
      })
      .nullish()
      .describe("what was detected; null: nothing was"),
    commands: z
      .record(z.string(), z.string().nullable())
      .nullish()
      .describe("the gates' commands, by the gate's name"),
    phases: z
      .looseObject({
        total: count.nullish(),
        completed: count.nullish().describe("with those that were skipped"),
        failed: count.nullish(),
        pending: count.nullish().describe("with those that are running or blocked"),
      })
      .nullish(),
    skipped_gates: z
      .record(z.string(), z.string())
      .nullish()
      .describe("gates that have no command, and why"),
  })
  .describe("The run: .autobuild/config.json");
export type RunConfigFile = z.infer<typeof RunConfigFile>;

const formatVersion = "1.0.0";

/** `blocked`: which failed phase each phase waits for in vain (see `blockers`). */
export function renderPhaseFile(
  run: PlanRun,
  id: string,
  blocked: ReadonlyMap<string, string>,
): string {
  const asked = askedOf(run, id);
  const phase = phaseOf(run, id);
  if (!asked || !phase) throw new Error(`run ${run.id} has no phase ${id}`);

  const standing = standingOf(phase, blocked);
  const begun = standing !== "pending" && standing !== "blocked" && phase.state.is !== "skipped";
  return jsonText({
    phase_id: id,
    phase_name: asked.phase.name,
    status: standing,
    attempt: attemptNumber(phase),
    max_attempts: run.maxAttempts,
    timestamps: timestamps(phase, begun),
    dependencies: {
      depends_on: asked.phase.dependsOn,
      parallel_with: asked.phase.parallelWith,
      blocks: asked.blocks,
    },
    execution: begun ? execution(phase, asked.phase) : null,
    quality_gates: begun && phase.gates ? gateRecords(phase.gates) : null,
    verification: begun ? verification(phase) : null,
    commit: commitRecord(run, phase),
    plan_updates: planUpdates(phase),
    error: errorRecord(run, phase, blocked),
    ...(phase.state.is === "skipped" ? { skipped: phase.state.reason } : {}),
  } satisfies PhaseFile);
}

export function renderRunConfig(run: PlanRun, blocked: ReadonlyMap<string, string>): string {
  let completed = 0;
  let failed = 0;
  for (const phase of run.phases) {
    const standing = standingOf(phase, blocked);
    if (standing === "complete") completed++;
    if (standing === "failed") failed++;
  }
  const commands: [string, string][] = [];
  const skipped: [string, string][] = [];
  for (const { name, command, reason } of gatesOf(run)) {
    if (command === null) skipped.push([name, reason ?? "there is no tool for it"]);
    else commands.push([name, command]);
  }
  const total = run.phases.length;
  return jsonText({
    version: formatVersion,
    plan_path: run.plan,
    commit_mode: run.mode,
    started_at: wholeSeconds(run.startedAt),
    last_updated: wholeSeconds(run.updatedAt),
    stack: {
      language: run.stack.language,
      framework: run.stack.framework,
      package_manager: run.stack.package_manager,
      test_framework: run.stack.test_framework,
      linter: run.stack.linter,
      formatter: run.stack.formatter,
    },
    commands: Object.fromEntries(commands),
    phases: { total, completed, failed, pending: total - completed - failed },
    ...(skipped.length > 0 ? { skipped_gates: Object.fromEntries(skipped) } : {}),
  } satisfies RunConfigFile);
}

const jsonText = (value: PhaseFile | RunConfigFile): string =>
  `${JSON.stringify(value, undefined, 2)}\n`;

/**
 * Counted as `max_attempts` counts: a new series begins at 1, and an attempt that ended with our
 * own death is not one. (The journal's numbers are never used again; a reader who compares with
 * `max_attempts` would take the third for one too many.)
 */
export function attemptNumber(phase: PhaseProgress): number {
  const { is } = phase.state;
  const underWay = is === "working" || is === "delivered" || is === "verified" || is === "landed";
  return phase.charged + phase.conflicts + (underWay ? 1 : 0);
}

/** Of this series; `errors` may reach further back. */
const errorsOfSeries = ({ errors, charged, conflicts }: PhaseProgress): PhaseProgress["errors"] =>
  errors.slice(Math.max(0, errors.length - charged - conflicts));

function timestamps(phase: PhaseProgress, begun: boolean): NonNullable<PhaseFile["timestamps"]> {
  const { state, startedAt, endedAt } = phase;
  if (state.is === "skipped") {
    return endedAt === undefined ? {} : { completed: wholeSeconds(endedAt) };
  }
  if (!begun) return {};
  const started = startedAt === undefined ? {} : { started: wholeSeconds(startedAt) };
  const key = state.is === "landed" ? "completed" : state.is === "failed" ? "failed" : undefined;
  if (key === undefined || endedAt === undefined) return started;
  const duration = startedAt === undefined ? undefined : secondsBetween(startedAt, endedAt);
  return {
    ...started,
    [key]: wholeSeconds(endedAt),
    ...(duration === undefined ? {} : { duration_seconds: duration }),
  };
}

/** Of all attempts; what an agent does not tell is not there. */
const usageOf = ({
  tokens,
  cost,
  ms,
}: Spent): NonNullable<NonNullable<PhaseFile["execution"]>["usage"]> => ({
  ...(tokens > 0 && { tokens }),
  ...(cost > 0 && { cost_usd: Math.round(cost * 1e6) / 1e6 }),
  seconds: Math.round(ms / 1000),
});

function execution(phase: PhaseProgress, asked: RunPhase): NonNullable<PhaseFile["execution"]> {
  const total = asked.tasks > 0 ? asked.tasks : (phase.claim?.tasksTotal ?? 0);
  return {
    subagent_id: phase.uuid ?? null,
    subagent_model: phase.model ?? null,
    ...(phase.agent !== undefined && { agent: phase.agent }),
    ...(phase.spent && hasUsed(phase.spent) && { usage: usageOf(phase.spent) }),
    tasks_total: total,
    tasks_completed: Math.min(phase.claim?.tasksCompleted ?? 0, total),
  };
}

const gateRecords = (gates: readonly GateOutcome[]): NonNullable<PhaseFile["quality_gates"]> =>
  Object.fromEntries(
    gates.map((gate) => [gate.name, gate.passed === null ? skippedGate(gate) : ranGate(gate)]),
  );

const skippedGate = ({ command, summary }: GateOutcome): z.infer<typeof GateRecord> => ({
  passed: null,
  skipped: true,
  command,
  output_summary: /^skipped\b/i.test(summary) ? summary : `skipped: ${summary}`,
});

const ranGate = ({
  passed,
  command,
  summary,
  failures,
  tests,
}: GateOutcome): z.infer<typeof GateRecord> => ({
  passed,
  command,
  output_summary: summary,
  ...(tests?.coverage === undefined ? {} : { coverage: `${tests.coverage}%` }),
  ...(tests && {
    tests_passed: tests.passed,
    tests_failed: tests.failed,
    tests_skipped: tests.skipped,
  }),
  ...(failures && failures.length > 0 ? { failures } : {}),
});

function verification(phase: PhaseProgress): PhaseFile["verification"] {
  const { state, claim, checkedAt, findings = [] } = phase;
  // What was delivered is to be checked yet, even if it had been, on another base.
  const passed = state.is === "verified" || state.is === "landed";
  const checked = checkedAt !== undefined && state.is !== "delivered" && state.is !== "working";
  if (!claim && !checked) return null;
  return {
    subagent_claimed: claim?.status ?? null,
    fresh_verification: checked
      ? passed
        ? isChecked(phase)
          ? "passed"
          : "unverified"
        : "failed"
      : null,
    verified_at: checked ? wholeSeconds(checkedAt) : null,
    ...(checked && findings.length > 0 && { findings: [...findings] }),
    ...(checked &&
      passed &&
      state.check.evidence !== undefined && { evidence: state.check.evidence }),
  };
}

function commitRecord(run: PlanRun, phase: PhaseProgress): PhaseFile["commit"] {
  if (phase.state.is !== "landed") return null;
  const { message, created, modified, deleted } = phase.state.check;
  const sha = committedAs(run, phase.id);
  return {
    message,
    ...conventional(message),
    files_created: created,
    files_modified: modified,
    files_deleted: deleted,
    committed: sha !== null,
    commit_sha: sha,
  };
}

/** The commit that people have on their branch; null: not yet, or they commit themselves. */
function committedAs(run: PlanRun, id: string): string | null {
  const at = landingOf(run, id);
  if (at === undefined || at >= run.published || run.target === "") return null;
  switch (run.mode) {
    case "auto":
      return run.landed[at]?.commit ?? null;
    case "single":
      return run.squash ?? null;
    case "message-only":
      return null;
  }
}

/** `feat(api)!: …`: feat and api. Null: not written that way. */
function conventional(message: string): { type: string | null; scope: string | null } {
  const [, type, scope] = /^([a-z][a-z0-9-]*)(?:\(([^()\r\n]*)\))?!?:/i.exec(message) ?? [];
  return { type: type ?? null, scope: scope || null };
}

function planUpdates({ state }: PhaseProgress): PhaseFile["plan_updates"] {
  if (state.is !== "landed") return null;
  const { tasksChecked, doneChecked, statusUpdated } = state.check;
  return { tasks_checked: tasksChecked, dod_checked: doneChecked, status_updated: statusUpdated };
}

function errorRecord(
  run: PlanRun,
  phase: PhaseProgress,
  blocked: ReadonlyMap<string, string>,
): PhaseFile["error"] {
  if (phase.state.is === "failed") {
    const { type, message, details, kind } = phase.state.error;
    return {
      type,
      message,
      ...(kind && { kind }),
      details: details ?? null,
      ...Object.fromEntries(
        errorsOfSeries(phase).map((error, index) => [`attempt_${index + 1}_error`, error.message]),
      ),
    };
  }
  const by = blocked.get(phase.id);
  if (by === undefined || phase.state.is !== "pending") return null;
  const failed = askedOf(run, by)?.phase;
  const name = failed ? `phase ${failed.written} (${failed.name})` : `phase ${by}`;
  return { type: "blocked", message: `waits for ${name}, which failed`, blocking_phase: by };
}

// ---- looked up once, not once a phase: a plan may have ten thousand

interface Asked {
  readonly phase: RunPhase;
  readonly blocks: string[];
}

const askedIn = new WeakMap<readonly RunPhase[], ReadonlyMap<string, Asked>>();

function askedOf(run: PlanRun, id: string): Asked | undefined {
  let known = askedIn.get(run.order);
  if (!known) {
    const all = new Map(
      run.order.map((phase): [string, Asked] => [phase.id, { phase, blocks: [] }]),
    );
    for (const { id: behind, dependsOn } of run.order) {
      for (const need of new Set(dependsOn)) all.get(need)?.blocks.push(behind);
    }
    askedIn.set(run.order, all);
    known = all;
  }
  return known.get(id);
}

const landingsIn = new WeakMap<PlanRun["landed"], ReadonlyMap<string, number>>();

/** Where in the order of landing; of a phase that was done again, the last time. */
function landingOf(run: PlanRun, id: string): number | undefined {
  let known = landingsIn.get(run.landed);
  if (!known) {
    known = new Map(run.landed.map(({ phase }, index) => [phase, index]));
    landingsIn.set(run.landed, known);
  }
  return known.get(id);
}

// ---- time, as text

/** As these files show it: `2025-01-25T10:00:00Z`. */
export const wholeSeconds = (iso: string): string => iso.replace(/\.\d+(?=Z|[+-]|$)/, "");

/** Whole seconds, never negative: clocks are set back. Undefined: one of them is not a time. */
export function secondsBetween(from: string, to: string): number | undefined {
  const start = epochSeconds(from);
  const end = epochSeconds(to);
  return start === undefined || end === undefined ? undefined : Math.max(0, end - start);
}

const isoTime =
  /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:Z|([+-])(\d{2}):?(\d{2}))$/;

/** Since 1970, without a clock: core has none. */
function epochSeconds(iso: string): number | undefined {
  const match = isoTime.exec(iso);
  if (!match) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map(Number);
  const offset = (Number(match[8] ?? 0) * 60 + Number(match[9] ?? 0)) * (match[7] === "-" ? -1 : 1);
  return daysSince1970(year, month, day) * 86_400 + (hour * 60 + minute - offset) * 60 + second;
}

/** Counted in years that begin in March, so that the leap day is the last of its year. */
function daysSince1970(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  return y * 365 + leapDays + dayOfYear - 719_468;
}
