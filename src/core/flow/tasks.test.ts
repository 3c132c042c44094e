import { describe, expect, it } from "vitest";
import type { RecordedEvent } from "../event.ts";
import { evolve, nothingYet } from "../evolve.ts";
import type { PlanRun } from "../plan/progress.ts";
import type { RunEvent } from "../plan/run-event.ts";
import {
  type Batch,
  batchReport,
  batchWords,
  dueBatches,
  highestBatch,
  implementationReport,
  incomplete,
  levelsOf,
  noTaskFacts,
  slugOf,
  troubleOf,
  verdictIn,
} from "./tasks.ts";

const id = "r0123456789";
const names = { names: { "01": "01_a", "02": "02_b", "03": "03_c", "04": "04_d" } };

/** 01 was done before; 02 and 03 are ready together, 04 waits for 02. */
const started = {
  type: "run-started",
  plan: "_docs/02_tasks",
  format: "tasks",
  title: "t",
  mode: "auto",
  target: "refs/heads/main",
  targetAt: "c0",
  base: "c0",
  agent: "mine",
  maxAttempts: 2,
  stack: {
    language: null,
    framework: null,
    package_manager: null,
    test_framework: null,
    linter: null,
    formatter: null,
  },
  gates: [],
  planFiles: {},
  phases: (["01", "02", "03", "04"] as const).map((each) => ({
    id: each,
    written: each,
    name: `Task ${each}`,
    dependsOn: each === "04" ? ["01", "02"] : each === "01" ? [] : ["01"],
    parallelWith: [],
    tasks: 1,
    asks: each,
    ...(each === "01" && { skipped: "complete in the plan before the run" }),
  })),
} satisfies RunEvent;

function runAfter(...events: readonly RunEvent[]): PlanRun {
  const state = [started as RunEvent, ...events]
    .map((event, at) => ({ ...event, seq: at + 1, at: "2026-01-01T00:00:00Z", run: id }))
    .reduce((before, event) => evolve(before, event as RecordedEvent), nothingYet);
  const run = state.runs?.[id];
  if (!run) throw new Error("there is no run");
  return run;
}

/** From the start of an attempt to its landing on what has landed before. */
function lands(phase: string, onto: string, commit: string): RunEvent[] {
  const of = { phase, attempt: 1 };
  const claim = { status: "complete", message: "feat: it", tasks: { total: 1, completed: 1 } };
  return [
    { type: "attempt-started", ...of, uuid: "u", base: onto, slot: 0 },
    { type: "attempt-delivered", ...of, commit: `${commit}-left`, claim },
    {
      type: "phase-verified",
      ...of,
      onto,
      commit,
      message: "feat: it",
      created: [],
      modified: [],
      deleted: [],
      gates: [],
      tasksChecked: 1,
      doneChecked: 0,
      statusUpdated: false,
      planFrom: "",
    },
    { type: "phase-landed", ...of, commit },
  ] as unknown as RunEvent[];
}

const fails = (phase: string, attempt: number, message: string): RunEvent[] =>
  [
    { type: "attempt-started", phase, attempt, uuid: `u${attempt}`, base: "c0", slot: 0 },
    {
      type: "attempt-failed",
      phase,
      attempt,
      error: { type: "test_failure", message, retryable: true },
    },
  ] as unknown as RunEvent[];

const ended = (how: "complete" | "halted"): RunEvent => ({ type: "run-ended", how }) as RunEvent;
const told = (number: number, tasks: Batch["tasks"]): Batch => ({ number, tasks });

describe("batches", () => {
  it("are what is ready together, without what was done before", () => {
    expect(levelsOf(runAfter())).toEqual([["02", "03"], ["04"]]);
  });

  it("are told when all of them have landed, in their order", () => {
    const one = lands("02", "c0", "c2");
    expect(dueBatches(runAfter(...one), [], names)).toEqual([]);
    // The second level is ready before the first is over: it waits to be told.
    const three = [...one, ...lands("04", "c2", "c4")];
    expect(dueBatches(runAfter(...three), [], names)).toEqual([]);
    const all = runAfter(...three, ...lands("03", "c4", "c3"));
    expect(dueBatches(all, [], names).map((tasks) => tasks.map(({ task }) => task))).toEqual([
      ["02_b", "03_c"],
      ["04_d"],
    ]);
  });

  it("are told once", () => {
    const all = runAfter(
      ...lands("02", "c0", "c2"),
      ...lands("03", "c2", "c3"),
      ...lands("04", "c3", "c4"),
    );
    const [first = [], second = []] = dueBatches(all, [], names);
    expect(dueBatches(all, [told(1, first)], names)).toEqual([second]);
    expect(dueBatches(all, [told(1, first), told(2, second)], names)).toEqual([]);
  });

  it("of a run that has halted tell what failed, and later only what has landed since", () => {
    const events = [
      ...lands("03", "c0", "c3"),
      ...fails("02", 1, "it is red"),
      ...fails("02", 2, "it is still red"),
      ended("halted"),
    ];
    const halted = runAfter(...events);
    const [first = []] = dueBatches(halted, [], names);
    expect(first.map(({ task, result }) => `${task} ${result}`)).toEqual([
      "02_b failed",
      "03_c landed",
    ]);
    expect(dueBatches(halted, [told(1, first)], names)).toEqual([]);
    expect(troubleOf(halted)).toBe("a task failed (02: it is still red); 1 more waits for them");
    const again = runAfter(
      ...events,
      { type: "run-resumed" } as RunEvent,
      ...lands("02", "c3", "c2"),
    );
    const [next = []] = dueBatches(again, [told(1, first)], names);
    expect(next.map(({ task, result }) => `${task} ${result}`)).toEqual(["02_b landed"]);
    expect(batchWords(again, [told(1, first), told(2, next)])).toBe("batch 3 of ~3");
  });

  it("are counted on from the highest that anybody has left", () => {
    const files = ["03_implementation/batch_02_report.md", "03_implementation/batch_10_report.md"];
    expect(highestBatch([...files, "03_implementation/batch_x_report.md"])).toBe(10);
    expect(highestBatch([])).toBe(0);
  });
});

const landed = {
  id: "02",
  task: "02_b",
  name: "A | B",
  result: "landed",
  commit: "0123456789abcdef",
  attempts: 2,
  troubles: ["attempt 1: red\nand more"],
  notes: ["src/x.ts is not among its files"],
} as const;

describe("reports", () => {
  it("of a batch keep their table whole, whatever a task is called", () => {
    const text = batchReport(told(3, [landed, { ...landed, task: "03_c", result: "failed" }]));
    expect(text).toContain("| 02_b | landed | 012345678 | 2 |");
    expect(text).toContain("- 02_b: A | B");
    expect(text).toContain("- 02_b: attempt 1: red and more");
  });
  it("of a batch without anything to tell say so", () => {
    const text = batchReport(told(1, [{ ...landed, troubles: [], notes: [] }]));
    expect(text).toMatch(/## What was learnt\nnone\n/);
  });
  it("of a step name each task once, as it ended, and what its reviews leave open", () => {
    const reviews = [{ file: "reviews/batch_02.md", verdict: "PASS_WITH_WARNINGS" }];
    const batches = [told(1, [{ ...landed, result: "failed" }]), told(2, [landed])];
    const text = implementationReport("b", batches, reviews);
    expect(text).toContain("1 of 1 tasks landed in 2 batches, 2 attempts");
    expect(text.match(/^\| 02_b \|/gm)?.length).toBe(1);
    expect(text).toContain("| 02_b | A \\| B | landed | 012345678 |");
    expect(text).toContain("- reviews/batch_02.md (PASS_WITH_WARNINGS): its findings");
    expect(text).toContain("- 02_b: src/x.ts is not among its files");
  });
  it("are called after their first task", () => {
    expect(slugOf("03_outbox_on_disk")).toBe("outbox_on_disk");
    expect(slugOf("AZ-12_Schéma (v2)")).toBe("schéma_v2");
    expect(slugOf("")).toBe("tasks");
  });
});

describe("a step's tasks are complete", () => {
  const done = { ...noTaskFacts, done: ["02_b"] };
  it("when each has landed and lies in done/", () => {
    expect(incomplete(done, [told(1, [landed])])).toEqual([]);
  });
  it.each([
    ["one is left", { ...done, todo: ["04_d"] }, "task 04_d is still in todo/"],
    [
      "one has no file",
      { ...done, missing: ["07"] },
      "task 07 of the dependencies table is in no folder",
    ],
    [
      "one was moved back",
      { ...done, done: [] },
      "task 02_b has landed, and its file is not in done/",
    ],
  ])("but not when %s", (_, facts, sentence) => {
    expect(incomplete(facts, [told(1, [landed])])).toEqual([sentence]);
  });
});

describe("a verdict", () => {
  it.each([
    ["**Verdict**: PASS", "PASS"],
    ["x\n**Verdict**: PASS_WITH_WARNINGS  \ny", "PASS_WITH_WARNINGS"],
    ["**Verdict**: FAIL\n", "FAIL"],
    ["The **Verdict**: PASS", undefined],
    ["**Verdict**: PASSED", undefined],
  ])("of %j is %s", (text, verdict) => {
    expect(verdictIn(text)).toBe(verdict);
  });
});
