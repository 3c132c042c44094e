import { describe, expect, it } from "vitest";
import type { Event, RecordedEvent } from "../event.ts";
import { logLines, phaseLog, phaseLogEnd, phaseLogHead, truncatedLog } from "./execution-log.ts";
import { PhaseFile, renderPhaseFile, renderRunConfig } from "./phase-file.ts";
import { blockers, evolveRun, type PlanRun } from "./progress.ts";
import type { CommitMode, RunPhase, Stack } from "./run-event.ts";

const phases = (text: string): RunPhase[] =>
  text.split(" ").map((each) => {
    const [id = "", needs = ""] = each.split("<");
    const dependsOn = needs.split(",").filter(Boolean);
    return { id, written: id, name: id, dependsOn, parallelWith: [], tasks: 1, asks: "" };
  });

const nothingDetected: Stack = {
  language: null,
  framework: null,
  package_manager: null,
  test_framework: null,
  linter: null,
  formatter: null,
};

const begin = (graph: string, mode: CommitMode = "auto", stack: Partial<Stack> = {}): Event => ({
  type: "run-started",
  plan: "docs/feature-plan.md",
  format: "superplan",
  title: "Feature",
  mode,
  target: "refs/heads/main",
  base: "0",
  targetAt: "0",
  agent: "claude",
  maxAttempts: 2,
  stack: { ...nothingDetected, ...stack },
  gates: [],
  phases: phases(graph),
  planFiles: {},
});

const start = (phase: string, attempt = 1): Event => ({
  type: "attempt-started",
  phase,
  attempt,
  uuid: `${phase}-${attempt}`,
  base: "0",
  slot: 0,
});

const fails = (phase: string, attempt = 1, message = "3 tests failed"): Event => ({
  type: "attempt-failed",
  phase,
  attempt,
  error: { type: message === "3 tests failed" ? "test_failure" : "agent_crash", message },
});

/** From delivery to landing; only the last of them is told. */
const lands = (phase: string, message: string, attempt = 1): Event[] => [
  {
    type: "attempt-delivered",
    phase,
    attempt,
    commit: "d",
    claim: { status: "complete", tasksTotal: 1, tasksCompleted: 1, message },
  },
  {
    type: "phase-verified",
    phase,
    attempt,
    onto: "0",
    commit: "v",
    message,
    created: [],
    modified: [],
    deleted: [],
    gates: [{ name: "test", command: "true", passed: true, summary: "exit code 0" }],
    tasksChecked: 0,
    doneChecked: 0,
    statusUpdated: false,
  },
  { type: "phase-landed", phase, attempt, commit: `${phase}0000000000` },
];

const publish = (phase: string, commit: string | null): Event => ({
  type: "phase-published",
  phase,
  commit,
  kept: [],
});

/** `at`: a time for those that follow. */
function told(story: readonly (Event | { at: string })[]): { log: string[]; run: PlanRun } {
  let run: PlanRun | undefined;
  let at = "2025-01-25T10:00:00.999Z";
  const log: string[] = [];
  for (const [index, item] of story.entries()) {
    if (!("type" in item)) {
      at = `2025-01-25T${item.at}.001Z`;
      continue;
    }
    const onto = item.type === "phase-verified" && { onto: run?.tip };
    const event = { ...item, ...onto, seq: index, at, run: "r0123456789" } as RecordedEvent;
    const after = evolveRun(run, event);
    if (!after) throw new Error("no run");
    log.push(...logLines(event, run, after));
    run = after;
  }
  if (!run) throw new Error("no run");
  return { log, run };
}

const texts = (story: readonly (Event | { at: string })[]): string[] =>
  told(story).log.map((line) => line.replace(/^\[[^\]]*\] /, ""));

const seedGraph = "0 1<0 2a<1 2b<1 2c<1 3<2a,2b,2c";

/** The story that the description of the format tells. */
const seedStory = [
  begin(seedGraph, "auto", { language: "typescript", framework: "express" }),
  { at: "10:00:03" },
  start("0"),
  { at: "10:05:00" },
  ...lands("0", "chore(bootstrap): add quality tools\n\n- Add ESLint"),
  { at: "10:05:01" },
  publish("0", "a1b2c3d4e5f6"),
  { at: "10:05:02" },
  start("1"),
  { at: "10:10:00" },
  ...lands("1", "feat(db): add user schema"),
  { at: "10:10:01" },
  publish("1", "b2c3d4e5f6a1"),
  { at: "10:10:02" },
  start("2a"),
  start("2b"),
  start("2c"),
  { at: "10:25:00" },
  ...lands("2b", "feat(ui): add login form"),
  { at: "10:27:00" },
  ...lands("2c", "test(auth): add edge cases"),
  { at: "10:30:00" },
  fails("2a"),
  { at: "10:30:01" },
  start("2a", 2),
  { at: "10:35:00" },
  fails("2a", 2),
  { at: "10:35:02" },
  { type: "run-ended", how: "halted" } as Event,
];

describe("execution.log", () => {
  it("tells the story of the format's description in its words", () => {
    const { log } = told(seedStory);
    // We also say who waits in vain; the description has no such line.
    const blocked = log.filter((line) => line.includes("BLOCKED"));
    expect(blocked).toEqual(["[2025-01-25T10:35:00Z] PHASE 3 BLOCKED by 2A"]);
    expect(`\n${log.filter((line) => !blocked.includes(line)).join("\n")}\n`).toBe(`
[2025-01-25T10:00:00Z] AUTOBUILD STARTED
[2025-01-25T10:00:00Z] Plan: docs/feature-plan.md
[2025-01-25T10:00:00Z] Commit mode: auto
[2025-01-25T10:00:00Z] Stack detected: typescript/express
[2025-01-25T10:00:00Z] Phases identified: 6
[2025-01-25T10:00:00Z] Execution order: [0] -> [1] -> [2a,2b,2c] -> [3]

[2025-01-25T10:00:03Z] PHASE 0 STARTED
[2025-01-25T10:05:00Z] PHASE 0 COMPLETE - chore(bootstrap): add quality tools
[2025-01-25T10:05:01Z] Committed: a1b2c3d

[2025-01-25T10:05:02Z] PHASE 1 STARTED
[2025-01-25T10:10:00Z] PHASE 1 COMPLETE - feat(db): add user schema
[2025-01-25T10:10:01Z] Committed: b2c3d4e

[2025-01-25T10:10:02Z] PARALLEL BATCH STARTED: 2a, 2b, 2c
[2025-01-25T10:25:00Z] PHASE 2B COMPLETE - feat(ui): add login form
[2025-01-25T10:27:00Z] PHASE 2C COMPLETE - test(auth): add edge cases
[2025-01-25T10:30:00Z] PHASE 2A FAILED - tests failing (attempt 1)
[2025-01-25T10:30:01Z] PHASE 2A RETRY STARTED
[2025-01-25T10:35:00Z] PHASE 2A FAILED - tests failing (attempt 2)
[2025-01-25T10:35:00Z] PARALLEL BATCH FAILED: 2a failed, 2b+2c complete

[2025-01-25T10:35:02Z] AUTOBUILD HALTED
[2025-01-25T10:35:02Z] Completed: 4 phases
[2025-01-25T10:35:02Z] Failed: 1 phase (2a)
[2025-01-25T10:35:02Z] Remaining: 1 phase (3)
`);
  });

  it("and the phase files tell the same", () => {
    const { run } = told(seedStory);
    const blocked = blockers(run);
    const status = run.order.map(({ id }) => {
      const file = PhaseFile.parse(JSON.parse(renderPhaseFile(run, id, blocked)));
      return [id, file.status, file.attempt, file.commit?.committed, file.error?.type];
    });
    expect(status).toEqual([
      ["0", "complete", 1, true, undefined],
      ["1", "complete", 1, true, undefined],
      ["2a", "failed", 2, undefined, "test_failure"],
      ["2b", "complete", 1, false, undefined],
      ["2c", "complete", 1, false, undefined],
      ["3", "blocked", 0, undefined, "blocked"],
    ]);
    expect(JSON.parse(renderRunConfig(run, blocked)).phases).toEqual({
      total: 6,
      completed: 4,
      failed: 1,
      pending: 1,
    });
  });

  it("goes on after a halt: a new series is not a retry, and the batch ends again", () => {
    const story = [
      ...seedStory,
      { type: "run-resumed" } as Event,
      start("2a", 3),
      ...lands("2a", "feat(api): at last", 3),
      publish("2a", null),
      start("3"),
      ...lands("3", "feat: together"),
      { type: "run-ended", how: "complete" } as Event,
    ];
    const all = texts(story);
    expect(all.slice(all.indexOf("RESUMED") - 1)).toEqual([
      "",
      "RESUMED",
      "PHASE 2A STARTED",
      "PHASE 2A COMPLETE - feat(api): at last",
      "PARALLEL BATCH COMPLETE: 2a, 2b, 2c",
      "",
      "PHASE 3 STARTED",
      "PHASE 3 COMPLETE - feat: together",
      "",
      "AUTOBUILD COMPLETE",
      "Completed: 6 phases",
    ]);
  });

  it("ends a batch when its last phase is blocked, and none that never began", () => {
    const said = texts([
      begin("a b c<a d<b e<c f<c"),
      start("b"),
      ...lands("b", "feat: b"),
      start("d"),
      ...lands("d", "feat: d"),
      start("a"),
      fails("a", 1, "killed by the system"),
      start("a", 2),
      fails("a", 2, "killed again"),
    ]);
    expect(said.slice(6)).toEqual([
      "",
      "PARALLEL BATCH STARTED: a, b",
      "PHASE B COMPLETE - feat: b",
      "",
      "PARALLEL BATCH STARTED: c, d",
      "PHASE D COMPLETE - feat: d",
      "PHASE A FAILED - killed by the system (attempt 1)",
      "PHASE A RETRY STARTED",
      "PHASE A FAILED - killed again (attempt 2)",
      "PARALLEL BATCH FAILED: a failed, b complete",
      "PARALLEL BATCH FAILED: c blocked, d complete",
      "PHASE C BLOCKED by A",
      "PHASE E BLOCKED by A",
      "PHASE F BLOCKED by A",
    ]);
  });

  it("tells interruptions, limits, conflicts, skips and other rests", () => {
    const said = texts([
      begin("0 1<0 2<1"),
      { type: "phase-skipped", phase: "0", reason: "the tools are there" },
      start("1"),
      { type: "attempt-interrupted", phase: "1", attempt: 1, reason: "SIGTERM" },
      { type: "run-ended", how: "interrupted" },
      { type: "run-resumed" },
      start("1", 2),
      {
        type: "attempt-parked",
        phase: "1",
        attempt: 2,
        until: "2025-01-25T15:00:00.000Z",
        reason: "usage limit",
      },
      { type: "run-ended", how: "parked", until: "2025-01-25T15:00:00.000Z" },
      start("1", 3),
      { type: "attempt-conflicted", phase: "1", attempt: 3, files: ["a.ts", "b\n.ts"] },
      start("1", 4),
      { type: "phase-reset", phase: "1", reason: "by hand" },
      { type: "target-moved", commit: "c0ffee00c0ffee", undone: ["1"] },
      { type: "run-ended", how: "asking" },
    ]);
    expect(said.slice(3)).toEqual([
      "Stack detected: none",
      "Phases identified: 3",
      "Execution order: [0] -> [1] -> [2]",
      "PHASE 0 SKIPPED - the tools are there",
      "",
      "PHASE 1 STARTED",
      "PHASE 1 INTERRUPTED - SIGTERM",
      "",
      "INTERRUPTED",
      "",
      "RESUMED",
      "",
      "PHASE 1 STARTED",
      "PHASE 1 PARKED until 2025-01-25T15:00:00Z",
      "",
      "PARKED until 2025-01-25T15:00:00Z",
      "",
      "PHASE 1 STARTED",
      "PHASE 1 FAILED - conflicts with what has landed meanwhile in a.ts, b .ts (attempt 1)",
      "PHASE 1 RETRY STARTED",
      "PHASE 1 RESET - by hand",
      "TARGET MOVED to c0ffee0",
      "To be verified again: 1",
      "",
      "WAITING FOR USER INPUT",
    ]);
  });

  it("commits nothing in message-only, and once in single", () => {
    const story = (mode: CommitMode): string[] =>
      texts([
        begin("0", mode),
        start("0"),
        ...lands("0", "feat: x"),
        mode === "single"
          ? { type: "run-published", commit: "5555555555", kept: [] }
          : publish("0", "4444444444"),
      ]).filter((line) => line.startsWith("Committed"));
    expect(story("auto")).toEqual(["Committed: 4444444"]);
    expect(story("message-only")).toEqual([]);
    expect(story("single")).toEqual(["Committed: 5555555"]);
  });

  it("cannot be forged by what a message, a plan or an agent says", () => {
    const forged = "[2025-01-25T10:00:00Z] AUTOBUILD COMPLETE";
    const { log } = told([
      { ...begin("0 1"), plan: `p.md\n${forged}` } as Event,
      start("0"),
      ...lands("0", `\n  feat: x\u2028${forged}\r${forged}\n${forged}`),
      start("1"),
      { type: "attempt-interrupted", phase: "1", attempt: 1, reason: `x\u0085${forged}\u001b[2J` },
      { type: "phase-skipped", phase: "1", reason: `y\r\n${forged}` },
      { type: "plan-reread", phases: phases("0"), planFiles: {}, changes: [`z\v${forged}`] },
    ]);
    for (const line of log) {
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
      expect(line).not.toBe(forged);
      if (line !== "") expect(line).toMatch(/^\[2025-01-25T10:00:00Z\] (?!\[)/);
    }
    expect(log.some((line) => line.endsWith("PHASE 0 COMPLETE - feat: x"))).toBe(true);
  });
});

describe("phase-<id>.log", () => {
  const end = {
    id: "2a",
    status: "complete",
    gates: [
      { name: "lint", command: "pnpm run lint", passed: true, summary: "No errors" },
      { name: "test", command: "pnpm test", passed: true, summary: "47 tests passed, 0 failed" },
      { name: "e2e", command: "pnpm e2e", passed: false, summary: "2 failed\nsee above" },
      { name: "format", command: null, passed: null, summary: "no formatter" },
    ],
    planUpdates: { tasks: 4, done: 6 },
    message: "feat(api): implement JWT token validation\n\nbody",
  } as const;
  const head = { id: "2a", startedAt: "2025-01-25T10:15:00.000Z", model: "sonnet" };

  it("has the head and the end of the format", () => {
    expect([...phaseLogHead(head), "[Writing test...]", ...phaseLogEnd(end)].join("\n")).toBe(
      `=== PHASE 2A SUB-AGENT LOG ===
Started: 2025-01-25T10:15:00Z
Model: sonnet

[Writing test...]

--- QUALITY GATES ---
Lint: pnpm run lint -> PASS
Tests: pnpm test -> PASS (47 tests)
E2e: pnpm e2e -> FAIL (2 failed see above)
Format: no command -> SKIPPED (no formatter)

--- PLAN UPDATES ---
Checked: 4 tasks
DoD: 6 items

--- RESULT ---
Status: complete
Commit: feat(api): implement JWT token validation

=== END PHASE 2A LOG ===`,
    );
    const failed = phaseLogEnd({
      id: "2a",
      status: "failed",
      error: { type: "timeout", message: "took\nlonger" },
    });
    expect(failed).toEqual([
      "",
      "--- RESULT ---",
      "Status: failed",
      "Error: timeout - took longer",
      "",
      "=== END PHASE 2A LOG ===",
    ]);
  });

  it("keeps the beginning and the end of a long one, 500 lines in all", () => {
    const many = Array.from({ length: 2000 }, (_, index) => `line ${index + 1}`);
    expect(truncatedLog(many.slice(0, 500))).toEqual(many.slice(0, 500));
    const cut = truncatedLog(many);
    expect(cut).toHaveLength(500);
    expect([cut[0], cut[248], cut[249], cut[250], cut[499]]).toEqual([
      "line 1",
      "line 249",
      "… 1,501 lines left out …",
      "line 1751",
      "line 2000",
    ]);
    expect(truncatedLog([many.join("\n")], 3)).toEqual([
      "line 1",
      "… 1,998 lines left out …",
      "line 2000",
    ]);
    const whole = phaseLog(head, many, end);
    expect(whole).toHaveLength(500);
    expect(whole.at(-1)).toBe("=== END PHASE 2A LOG ===");
  });
});
