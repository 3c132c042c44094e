import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Event, RecordedEvent } from "../event.ts";
import {
  PhaseFile,
  RunConfigFile,
  renderPhaseFile,
  renderRunConfig,
  secondsBetween,
  wholeSeconds,
} from "./phase-file.ts";
import { blockers, evolveRun, type PlanRun } from "./progress.ts";
import { readPhaseFile, readRunConfig } from "./read-run-files.ts";
import type { GateOutcome, RunPhase } from "./run-event.ts";

const sha = (letter: string): string => letter.repeat(40);

const asked = (text: string): RunPhase[] =>
  text.split(" ").map((each) => {
    const [id = "", needs = ""] = each.split("<");
    return {
      id,
      written: id.toUpperCase(),
      name: id === "3" ? "Integration" : id === "2a" ? "Backend API" : `Name of ${id}`,
      dependsOn: needs.split(",").filter(Boolean),
      parallelWith: id.startsWith("2") ? ["2a", "2b", "2c"].filter((other) => other !== id) : [],
      tasks: 4,
      asks: "",
    };
  });

const runStarted: Extract<Event, { type: "run-started" }> = {
  type: "run-started",
  plan: "docs/feature-plan.md",
  format: "superplan",
  title: "Feature",
  mode: "auto",
  target: "refs/heads/main",
  base: sha("0"),
  targetAt: sha("0"),
  agent: "claude",
  maxAttempts: 2,
  stack: {
    language: "typescript",
    framework: "express",
    package_manager: "pnpm",
    test_framework: "jest",
    linter: "eslint",
    formatter: "prettier",
  },
  gates: [
    { name: "lint", command: "pnpm run lint" },
    { name: "format", command: "pnpm run format:check" },
    { name: "typecheck", command: "pnpm run typecheck" },
    { name: "test", command: "pnpm test" },
  ],
  phases: asked("0 1<0 2a<1 2b<1 2c<1 3<2a,2b,2c"),
  planFiles: {},
};

const claim = { status: "complete", tasksTotal: 4, tasksCompleted: 4, message: "" } as const;

const gates = (passed: boolean): GateOutcome[] => [
  { name: "lint", command: "pnpm run lint", passed: true, summary: "No errors" },
  {
    name: "format",
    command: "pnpm run format:check",
    passed: true,
    summary: "All files formatted",
  },
  { name: "typecheck", command: "pnpm run typecheck", passed: true, summary: "No type errors" },
  passed
    ? { name: "test", command: "pnpm test", passed: true, summary: "47 tests passed, 0 failed" }
    : {
        name: "test",
        command: "pnpm test",
        passed: false,
        summary: "3 tests failed",
        failures: ["src/api/auth.test.ts:45 - should validate token"],
      },
];

const start = (phase: string, attempt = 1): Event => ({
  type: "attempt-started",
  phase,
  attempt,
  uuid: `task-${phase}-${attempt}`,
  base: sha("0"),
  slot: 0,
});
const delivered = (phase: string, attempt = 1): Event => ({
  type: "attempt-delivered",
  phase,
  attempt,
  commit: sha("d"),
  claim,
  model: "sonnet",
});
const verified = (phase: string, message: string, attempt = 1): Event => ({
  type: "phase-verified",
  phase,
  attempt,
  onto: sha("0"),
  commit: sha("e"),
  message,
  created: ["src/api/auth.ts", "src/api/auth.test.ts"],
  modified: ["src/api/routes.ts"],
  deleted: [],
  gates: gates(true),
  tasksChecked: 4,
  doneChecked: 6,
  statusUpdated: true,
});
const landed = (phase: string, commit: string, attempt = 1): Event => ({
  type: "phase-landed",
  phase,
  attempt,
  commit,
});
const published = (phase: string, commit: string | null): Event => ({
  type: "phase-published",
  phase,
  commit,
  kept: [],
});
const failed = (phase: string, attempt: number, message: string): Event => ({
  type: "attempt-failed",
  phase,
  attempt,
  error: {
    type: "test_failure",
    message,
    details: "Tests in src/api/auth.test.ts failing on token validation logic",
  },
  claim: { ...claim, tasksCompleted: 2 },
  gates: gates(false),
});

/** Each event with its time (`10:05:00`). */
function fold(events: readonly (readonly [string, Event])[]): PlanRun {
  let run: PlanRun | undefined;
  for (const [index, [time, event]] of events.entries()) {
    const recorded = {
      ...event,
      seq: index + 1,
      at: `2025-01-25T${time}.123Z`,
      run: "r0123456789",
    };
    run = evolveRun(run, recorded as RecordedEvent);
  }
  if (!run) throw new Error("no run");
  return run;
}

const blockedIn = (run: PlanRun): Map<string, string> => blockers(run);

const fileOf = (run: PlanRun, id: string): PhaseFile =>
  JSON.parse(renderPhaseFile(run, id, blockedIn(run))) as PhaseFile;

const message =
  "feat(api): implement JWT token validation\n\n- Add validateToken function\n- Add token refresh endpoint\n- Add comprehensive test coverage";

const untilDone2a: (readonly [string, Event])[] = [
  ["10:00:00", runStarted],
  ["10:15:00", start("2a")],
  ["10:24:00", delivered("2a")],
  ["10:24:30", verified("2a", message)],
  ["10:25:00", landed("2a", sha("a"))],
];

describe("a phase file", () => {
  it("of a pending phase is the smallest form", () => {
    const run = fold([["10:00:00", runStarted]]);
    expect(renderPhaseFile(run, "3", new Map())).toBe(
      `${JSON.stringify(
        {
          phase_id: "3",
          phase_name: "Integration",
          status: "pending",
          attempt: 0,
          max_attempts: 2,
          timestamps: {},
          dependencies: { depends_on: ["2a", "2b", "2c"], parallel_with: [], blocks: [] },
          execution: null,
          quality_gates: null,
          verification: null,
          commit: null,
          plan_updates: null,
          error: null,
        },
        undefined,
        2,
      )}\n`,
    );
  });

  it("of a complete phase has every key, in order", () => {
    const run = fold([...untilDone2a, ["10:25:01", published("2a", sha("a"))]]);
    expect(renderPhaseFile(run, "2a", new Map())).toBe(
      `${JSON.stringify(
        {
          phase_id: "2a",
          phase_name: "Backend API",
          status: "complete",
          attempt: 1,
          max_attempts: 2,
          timestamps: {
            started: "2025-01-25T10:15:00Z",
            completed: "2025-01-25T10:25:00Z",
            duration_seconds: 600,
          },
          dependencies: { depends_on: ["1"], parallel_with: ["2b", "2c"], blocks: ["3"] },
          execution: {
            subagent_id: "task-2a-1",
            subagent_model: "sonnet",
            tasks_total: 4,
            tasks_completed: 4,
          },
          quality_gates: {
            lint: { passed: true, command: "pnpm run lint", output_summary: "No errors" },
            format: {
              passed: true,
              command: "pnpm run format:check",
              output_summary: "All files formatted",
            },
            typecheck: {
              passed: true,
              command: "pnpm run typecheck",
              output_summary: "No type errors",
            },
            test: {
              passed: true,
              command: "pnpm test",
              output_summary: "47 tests passed, 0 failed",
            },
          },
          verification: {
            subagent_claimed: "complete",
            fresh_verification: "passed",
            verified_at: "2025-01-25T10:24:30Z",
          },
          commit: {
            message,
            type: "feat",
            scope: "api",
            files_created: ["src/api/auth.ts", "src/api/auth.test.ts"],
            files_modified: ["src/api/routes.ts"],
            files_deleted: [],
            committed: true,
            commit_sha: sha("a"),
          },
          plan_updates: { tasks_checked: 4, dod_checked: 6, status_updated: true },
          error: null,
        },
        undefined,
        2,
      )}\n`,
    );
  });

  it("of a failed phase tells each attempt, and what it blocks is blocked by it", () => {
    const run = fold([
      ["10:00:00", runStarted],
      ["10:15:00", start("2a")],
      ["10:30:00", failed("2a", 1, "3 tests failed - token validation incorrect")],
      ["10:30:01", start("2a", 2)],
      ["10:35:00", failed("2a", 2, "3 tests failed - same failures after retry")],
    ]);
    const file = fileOf(run, "2a");
    expect(file).toMatchObject({
      status: "failed",
      attempt: 2,
      timestamps: {
        started: "2025-01-25T10:15:00Z",
        failed: "2025-01-25T10:35:00Z",
        duration_seconds: 1200,
      },
      execution: { tasks_total: 4, tasks_completed: 2 },
      quality_gates: {
        test: {
          passed: false,
          failures: ["src/api/auth.test.ts:45 - should validate token"],
        },
      },
      verification: {
        subagent_claimed: "complete",
        fresh_verification: "failed",
        verified_at: "2025-01-25T10:35:00Z",
      },
      commit: null,
      plan_updates: null,
    });
    expect(JSON.stringify(file.error)).toBe(
      JSON.stringify({
        type: "test_failure",
        message: "3 tests failed - same failures after retry",
        details: "Tests in src/api/auth.test.ts failing on token validation logic",
        attempt_1_error: "3 tests failed - token validation incorrect",
        attempt_2_error: "3 tests failed - same failures after retry",
      }),
    );
    expect(fileOf(run, "3")).toMatchObject({
      status: "blocked",
      timestamps: {},
      execution: null,
      error: {
        type: "blocked",
        message: "waits for phase 2A (Backend API), which failed",
        blocking_phase: "2a",
      },
    });
  });

  it("counts a new series from one again, and tells only its errors", () => {
    const run = fold([
      ["10:00:00", runStarted],
      ["10:15:00", start("2a")],
      ["10:30:00", failed("2a", 1, "old 1")],
      ["10:30:01", start("2a", 2)],
      ["10:35:00", failed("2a", 2, "old 2")],
      ["10:40:00", { type: "run-resumed" }],
      ["10:41:00", start("2a", 3)],
      ["10:42:00", failed("2a", 3, "new 1")],
      ["10:43:00", start("2a", 4)],
    ]);
    expect(fileOf(run, "2a")).toMatchObject({ status: "running", attempt: 2, error: null });
    const after = evolveRun(run, {
      ...failed("2a", 4, "new 2"),
      seq: 99,
      at: "2025-01-25T10:44:00Z",
      run: "r0123456789",
    } as RecordedEvent);
    expect(after && fileOf(after, "2a")).toMatchObject({
      attempt: 2,
      error: { attempt_1_error: "new 1", attempt_2_error: "new 2" },
    });
    expect(after && fileOf(after, "2a").error).not.toHaveProperty("attempt_3_error");
  });

  it("is honest while the phase is under way", () => {
    const working = fold(untilDone2a.slice(0, 2));
    expect(fileOf(working, "2a")).toMatchObject({
      status: "running",
      attempt: 1,
      timestamps: { started: "2025-01-25T10:15:00Z" },
      execution: { subagent_id: "task-2a-1", subagent_model: null, tasks_completed: 0 },
      quality_gates: null,
      verification: null,
      commit: null,
    });
    expect(fileOf(fold(untilDone2a.slice(0, 3)), "2a").verification).toEqual({
      subagent_claimed: "complete",
      fresh_verification: null,
      verified_at: null,
    });
    const between = fold([
      ["10:00:00", runStarted],
      ["10:15:00", start("2a")],
      ["10:30:00", failed("2a", 1, "x")],
    ]);
    expect(fileOf(between, "2a")).toMatchObject({ status: "running", attempt: 1, error: null });
  });

  it("says committed only of what people have on their branch", () => {
    const commitIn = (mode: "auto" | "message-only" | "single", ...more: Event[]): unknown[] => {
      const events = untilDone2a.map(([time, event]) =>
        event.type === "run-started"
          ? ([time, { ...event, mode }] as const)
          : ([time, event] as const),
      );
      const run = fold([...events, ...more.map((event) => ["10:26:00", event] as const)]);
      const { commit } = fileOf(run, "2a");
      return [commit?.committed, commit?.commit_sha];
    };
    const all: Event = { type: "run-published", commit: sha("5"), kept: [] };
    expect(commitIn("auto")).toEqual([false, null]);
    expect(commitIn("auto", published("2a", sha("a")))).toEqual([true, sha("a")]);
    expect(commitIn("message-only", published("2a", null))).toEqual([false, null]);
    expect(commitIn("single")).toEqual([false, null]);
    expect(commitIn("single", all)).toEqual([true, sha("5")]);
  });

  it("of a skipped phase or gate says so", () => {
    const run = fold([
      [
        "10:00:00",
        {
          ...runStarted,
          gates: [{ name: "lint", command: null, reason: "no linter" }],
          phases: runStarted.phases.map((phase) =>
            phase.id === "0" ? { ...phase, skipped: "the tools are there" } : phase,
          ),
        },
      ],
      ["10:15:00", start("2a")],
      [
        "10:16:00",
        {
          type: "attempt-failed",
          phase: "2a",
          attempt: 1,
          error: { type: "agent_crash", message: "it crashed" },
          gates: [{ name: "lint", command: null, passed: null, summary: "no linter" }],
        },
      ],
    ]);
    expect(fileOf(run, "0")).toMatchObject({
      status: "complete",
      attempt: 0,
      timestamps: {},
      commit: null,
      skipped: "the tools are there",
    });
    expect(fileOf(run, "2a").quality_gates).toEqual({
      lint: { passed: null, skipped: true, command: null, output_summary: "skipped: no linter" },
    });
    expect(JSON.parse(renderRunConfig(run, blockedIn(run)))).toMatchObject({
      commands: {},
      phases: { total: 6, completed: 1, failed: 0, pending: 5 },
      skipped_gates: { lint: "no linter" },
    });
  });

  it("is read back as it was written", () => {
    const run = fold([...untilDone2a, ["10:25:01", published("2a", sha("a"))]]);
    for (const { id } of run.order) {
      const text = renderPhaseFile(run, id, blockedIn(run));
      const read = readPhaseFile(text, "f");
      expect(read.ok && JSON.stringify(read.value, undefined, 2)).toBe(text.trimEnd());
    }
    const config = renderRunConfig(run, blockedIn(run));
    const read = readRunConfig(config, "f");
    expect(read.ok && JSON.stringify(read.value, undefined, 2)).toBe(config.trimEnd());
  });

  it("finds what depends on a phase without looking at all pairs", () => {
    const phases = Array.from({ length: 5000 }, (_, index) => ({
      ...(runStarted.phases[0] as RunPhase),
      id: `p${index}`,
      dependsOn: index === 0 ? [] : [`p${index - 1}`],
    }));
    const run = fold([["10:00:00", { ...runStarted, phases }]]);
    for (const { id } of phases) renderPhaseFile(run, id, new Map());
    expect(fileOf(run, "p7").dependencies?.blocks).toEqual(["p8"]);
  });
});

describe("config.json", () => {
  it("has the keys of the format, and counts that add up", () => {
    const run = fold([
      ...untilDone2a,
      ["10:26:00", start("2b")],
      ["10:27:00", failed("2c", 1, "x")],
      ["10:28:00", failed("2c", 2, "x")],
    ]);
    expect(renderRunConfig(run, blockedIn(run))).toBe(`{
  "version": "1.0.0",
  "plan_path": "docs/feature-plan.md",
  "commit_mode": "auto",
  "started_at": "2025-01-25T10:00:00Z",
  "last_updated": "2025-01-25T10:28:00Z",
  "stack": {
    "language": "typescript",
    "framework": "express",
    "package_manager": "pnpm",
    "test_framework": "jest",
    "linter": "eslint",
    "formatter": "prettier"
  },
  "commands": {
    "lint": "pnpm run lint",
    "format": "pnpm run format:check",
    "typecheck": "pnpm run typecheck",
    "test": "pnpm test"
  },
  "phases": {
    "total": 6,
    "completed": 1,
    "failed": 1,
    "pending": 4
  }
}
`);
  });

  it("and the phase file have a JSON Schema with a word for every key", () => {
    for (const schema of [PhaseFile, RunConfigFile]) {
      const json = z.toJSONSchema(schema, { io: "input" });
      expect(json.description).toMatch(/\.autobuild/);
      expect(Object.keys(json.properties ?? {}).length).toBeGreaterThan(7);
    }
    const phase = z.toJSONSchema(PhaseFile, { io: "input" });
    expect(phase.required).toEqual(["phase_id", "phase_name", "status", "attempt", "max_attempts"]);
  });
});

describe("time without a clock", () => {
  it("counts seconds as Date does", () => {
    for (let index = 0; index < 3000; index++) {
      const from = (index * 7_919_123_457) % 4_102_444_800_000;
      const to = from + ((index * 104_729_331) % 90_000_000_000);
      const [a, b] = [new Date(from).toISOString(), new Date(to).toISOString()];
      expect(secondsBetween(a, b)).toBe(Math.floor(to / 1000) - Math.floor(from / 1000));
    }
    expect(secondsBetween("2024-02-28T23:59:59Z", "2024-03-01T00:00:00Z")).toBe(86_401);
    expect(secondsBetween("2025-01-25T10:00:00+02:00", "2025-01-25T10:00:00Z")).toBe(7200);
    expect(secondsBetween("2025-01-25T10:00:05Z", "2025-01-25T10:00:00Z")).toBe(0);
    expect(secondsBetween("yesterday", "2025-01-25T10:00:00Z")).toBeUndefined();
    expect(wholeSeconds("2025-01-25T10:00:00.123Z")).toBe("2025-01-25T10:00:00Z");
    expect(wholeSeconds("2025-01-25T10:00:00Z")).toBe("2025-01-25T10:00:00Z");
  });
});
