import { describe, expect, it } from "vitest";
import { type Board, blankBoard, evolveBoard } from "../../src/core/board/board.ts";
import type { Event, RecordedEvent } from "../../src/core/event.ts";
import { momentOf } from "../../src/core/plan/moment.ts";
import { needsOf, waitsOf } from "./needs.ts";
import { verdictOf } from "./verdict.ts";

const run = "r0123456789";
const sha = "0".repeat(40);
const now = momentOf("2026-01-01T01:00:00.000Z") ?? 0;

const phase = (id: string, dependsOn: string[] = []) => ({
  id,
  written: id.toUpperCase(),
  name: `Phase ${id}`,
  dependsOn,
  parallelWith: [],
  tasks: 1,
  asks: "",
});

const started: Event = {
  type: "run-started",
  plan: "docs/plan.md",
  format: "superplan",
  title: "A plan",
  mode: "auto",
  target: "refs/heads/main",
  base: sha,
  targetAt: sha,
  agent: "claude",
  maxAttempts: 1,
  stack: {
    language: null,
    framework: null,
    package_manager: null,
    test_framework: null,
    linter: null,
    formatter: null,
  },
  gates: [],
  phases: [phase("1"), phase("2a"), phase("2b", ["2a"])],
  planFiles: {},
};

const begin = (id: string): Event => ({
  type: "attempt-started",
  phase: id,
  attempt: 1,
  uuid: id,
  base: sha,
  slot: 0,
});

const asked: Event = {
  type: "decision-asked",
  decision: {
    id: "d-0123456789ab",
    kind: "budget",
    subject: "1",
    cycle: 1,
    cause: "x",
    question: "May it?",
    options: [
      { key: "A", text: "Yes" },
      { key: "B", text: "No" },
    ],
    recommendation: "A",
    reason: "why not",
    blocks: "phase 1",
    askedAt: "2026-01-01T00:00:00.000Z",
  },
};

const boardOf = (...events: Event[]): Board =>
  events
    .map((event, at): RecordedEvent => {
      const second = String(at).padStart(2, "0");
      return { at: `2026-01-01T00:00:${second}.000Z`, ...event, seq: at + 1, run };
    })
    .reduce(evolveBoard, blankBoard);

const failure: Event = {
  type: "attempt-failed",
  phase: "1",
  attempt: 1,
  error: { type: "test_failure", message: "2 of 3 tests fail" },
};

const limit: Event = {
  type: "attempt-parked",
  phase: "2a",
  attempt: 1,
  until: "2026-01-01T01:30:00.000Z",
  reason: "nothing left",
  agent: "claude",
  kind: "usage_limit",
};

describe("what needs a person", () => {
  it("is nothing as long as everything goes on", () => {
    expect(needsOf(boardOf(started, begin("1")))).toEqual([]);
  });

  it("is a decision until it is answered", () => {
    expect(needsOf(boardOf(started, asked))).toMatchObject([{ is: "decision" }]);
    const answer: Event = {
      type: "decision-answered",
      id: "d-0123456789ab",
      key: "A",
      by: "me",
      at: "2026-01-01T00:00:05.000Z",
    };
    expect(needsOf(boardOf(started, asked, answer))).toEqual([]);
  });

  it("is a phase that has failed for good, by its name", () => {
    expect(needsOf(boardOf(started, begin("1"), failure))).toEqual([
      { is: "failure", run, phase: "1", name: "1 Phase 1", message: "2 of 3 tests fail" },
    ]);
  });

  it("is not a run whose place another one took", () => {
    const aside: Event = { type: "run-set-aside", aside: "x" };
    expect(needsOf(boardOf(started, begin("1"), failure, aside))).toEqual([]);
  });
});

describe("a limit", () => {
  const board = boardOf(started, begin("2a"), limit);

  it("is waited for by whoever would use it", () => {
    expect(waitsOf(board, now)).toEqual([
      { run, who: "claude", until: "2026-01-01T01:30:00.000Z", phases: ["1", "2A"] },
    ]);
  });

  it("is over when its time has come", () => {
    expect(waitsOf(board, now + 31 * 60_000)).toEqual([]);
  });
});

describe("the verdict", () => {
  it.each<[string, Board, boolean, string]>([
    ["nothing yet", blankBoard, false, "Nothing has been run here yet"],
    ["at work", boardOf(started, begin("1")), true, "At work on 1 phase"],
    ["killed", boardOf(started, begin("1")), false, "Nobody is at work on it"],
    ["before the first phase", boardOf(started), true, "Getting ready"],
    [
      "parked",
      boardOf(started, begin("2a"), limit),
      true,
      "Parked until there is something left to use",
    ],
    [
      "stopped",
      boardOf(started, { type: "run-ended", how: "stopped" }),
      false,
      "Stopped where you wanted",
    ],
    ["complete", boardOf(started, { type: "run-ended", how: "complete" }), false, "All done"],
  ])("of a project that is %s", (_, board, held, title) => {
    expect(verdictOf(board, now, held, needsOf(board).length).title).toBe(title);
  });

  it("is first of all that somebody is needed, wherever", () => {
    const board = boardOf(started, begin("1"), asked);
    expect(verdictOf(board, now, true, 1)).toMatchObject({
      tone: "warn",
      title: "One thing needs you",
      short: "(1) needs you",
    });
    expect(verdictOf(board, now, true, 3).title).toBe("3 things need you");
  });
});
