/** What happens in a run, told in short words: what the tests of the driver are written in. */
import type { RecordedEvent } from "../src/core/event.ts";
import { evolveRun, type PlanRun } from "../src/core/plan/progress.ts";
import type { CommitMode, RunEvent } from "../src/core/plan/run-event.ts";

export const noon = "2026-01-01T12:00:00.000Z";

/** Phases with what they wait for, in the plan's order. */
export type Needs = Readonly<Record<string, readonly string[]>>;

export const phasesOf = (needs: Needs): Extract<RunEvent, { type: "run-started" }>["phases"] =>
  Object.entries(needs).map(([id, dependsOn]) => ({
    id,
    written: id,
    name: id,
    dependsOn: [...dependsOn],
    parallelWith: [],
    tasks: 1,
    asks: id,
  }));

export const started = (needs: Needs, mode: CommitMode = "auto"): PlanRun =>
  after(startedUnseen(needs, mode), seen("c0"));

/** Nobody has looked at the gates yet. */
export function startedUnseen(needs: Needs, mode: CommitMode = "auto"): PlanRun {
  const nothing = { language: null, framework: null, package_manager: null };
  const run = evolveRun(undefined, {
    type: "run-started",
    plan: "plan.md",
    format: "autobuild",
    title: "Plan",
    mode,
    target: "refs/heads/main",
    base: "c0",
    targetAt: "c0",
    agent: "apply",
    maxAttempts: 2,
    stack: { ...nothing, test_framework: null, linter: null, formatter: null },
    gates: [],
    phases: phasesOf(needs),
    planFiles: {},
    seq: 1,
    at: noon,
    run: "r0123456789",
  });
  if (!run) throw new Error("it has not begun");
  return run;
}

/** The gates on what the run builds on: all is well. */
export const seen = (commit: string): RunEvent => ({ type: "baseline-taken", commit, gates: [] });

export const after = (run: PlanRun, ...events: readonly RunEvent[]): PlanRun =>
  events.reduce<PlanRun>((known, event) => {
    const recorded = { ...event, seq: 2, at: noon, run: "r0123456789" } as RecordedEvent;
    return evolveRun(known, recorded) ?? known;
  }, run);

export const begin = (phase: string, attempt = 1, slot = 0): RunEvent => ({
  type: "attempt-started",
  phase,
  attempt,
  slot,
  uuid: `${phase}-${attempt}`,
  base: "c0",
});
export const deliver = (phase: string, attempt = 1): RunEvent => ({
  type: "attempt-delivered",
  phase,
  attempt,
  commit: `work of ${phase}`,
  claim: { status: "complete", tasksTotal: 1, tasksCompleted: 1, message: "feat: x" },
});
export const verify = (phase: string, onto: string, attempt = 1): RunEvent => ({
  type: "phase-verified",
  phase,
  attempt,
  onto,
  commit: `${phase} on ${onto}`,
  message: "feat: x",
  created: [],
  modified: [],
  deleted: [],
  gates: [],
  tasksChecked: 1,
  doneChecked: 0,
  statusUpdated: true,
});
export const landing = (phase: string, onto: string, attempt = 1): RunEvent[] => [
  begin(phase, attempt),
  deliver(phase, attempt),
  verify(phase, onto, attempt),
  { type: "phase-landed", phase, attempt, commit: `${phase} on ${onto}` },
];
export const failing = (
  phase: string,
  type: "test_failure" | "plan_invalid",
  attempt = 1,
): RunEvent => ({
  type: "attempt-failed",
  phase,
  attempt,
  error: { type, message: "red" },
});
export const parked = (phase: string, until: string, attempt = 1): RunEvent[] => [
  begin(phase, attempt),
  { type: "attempt-parked", phase, attempt, until, reason: "limit" },
];
export const published = (phase: string, commit: string | null): RunEvent => ({
  type: "phase-published",
  phase,
  commit,
  kept: [],
});
export const resumed: RunEvent = { type: "run-resumed" };

export const used = (phase: string, tokens: number, cost?: number, attempt = 1): RunEvent => ({
  type: "usage-counted",
  phase,
  attempt,
  tokens,
  ...(cost !== undefined && { cost }),
});
