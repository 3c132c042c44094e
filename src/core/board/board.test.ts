import { describe, expect, it } from "vitest";
import type { Event, RecordedEvent } from "../event.ts";
import { attemptsIn } from "../plan/attempts.ts";
import { type Board, blankBoard, evolveBoard, packBoard, runsOn, unpackBoard } from "./board.ts";

const run = "r0123456789";
const sha = (digit: number): string => String(digit).repeat(40);

const gate = { name: "test", command: "npm test", passed: true, summary: "3 passed" };
const claim = { status: "complete" as const, tasksTotal: 1, tasksCompleted: 1, message: "feat: x" };
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
  base: sha(0),
  targetAt: sha(0),
  agent: "claude",
  maxAttempts: 2,
  stack: {
    language: null,
    framework: null,
    package_manager: null,
    test_framework: null,
    linter: null,
    formatter: null,
  },
  gates: [{ name: "test", command: "npm test" }],
  phases: [phase("1"), phase("2a", ["1"]), phase("2b", ["1"])],
  planFiles: {},
};

const begin = (id: string, attempt: number, agent?: string): Event => ({
  type: "attempt-started",
  phase: id,
  attempt,
  uuid: `${id}-${attempt}`,
  base: sha(0),
  slot: 0,
  ...(agent !== undefined && { agent }),
});
const verified = (id: string, attempt: number, commit: string, onto: string): Event => ({
  type: "phase-verified",
  phase: id,
  attempt,
  onto,
  commit,
  message: "feat: x",
  created: ["a.txt"],
  modified: [],
  deleted: [],
  gates: [gate],
  tasksChecked: 1,
  doneChecked: 0,
  statusUpdated: true,
});
const delivered = (id: string, attempt: number, commit: string): Event => ({
  type: "attempt-delivered",
  phase: id,
  attempt,
  commit,
  claim,
});
const used = (id: string, attempt: number, tokens: number, cost?: number): Event => ({
  type: "usage-counted",
  phase: id,
  attempt,
  tokens,
  ...(cost !== undefined && { cost }),
});

/** A failure, a kill of ours, a limit, a landing that has to be made again. */
const ofRun: readonly Event[] = [
  started,
  begin("1", 1),
  used("1", 1, 100, 0.5),
  {
    type: "attempt-failed",
    phase: "1",
    attempt: 1,
    error: { type: "test_failure", message: "test does not pass" },
    claim,
    gates: [{ ...gate, passed: false, failures: ["a.test.js:3 sums"] }],
  },
  begin("1", 2, "codex"),
  used("1", 2, 50),
  delivered("1", 2, sha(1)),
  verified("1", 2, sha(2), sha(0)),
  { type: "phase-landed", phase: "1", attempt: 2, commit: sha(2) },
  begin("2a", 1),
  begin("2b", 1),
  { type: "run-resumed" },
  begin("2a", 2),
  {
    type: "attempt-parked",
    phase: "2a",
    attempt: 2,
    until: "2026-01-01T05:00:00.000Z",
    reason: "usage limit",
    agent: "claude",
    kind: "usage_limit",
  },
  { type: "target-moved", commit: sha(3), undone: ["1"] },
  { type: "run-ended", how: "parked", until: "2026-01-01T05:00:00.000Z" },
];

const ofFlow: readonly Event[] = [
  { type: "step-entered", flow: "greenfield", step: "1", name: "Problem", cycle: 1 },
  { type: "step-started", step: "1", name: "Problem" },
  { type: "skill-started", session: 1, step: "1", skill: "problem", agent: "claude" },
  { type: "skill-usage-counted", session: 1, tokens: 10, cost: 0.1 },
  { type: "skill-usage-counted", session: 1, tokens: 5 },
  { type: "skill-ended", session: 1, how: "done" },
  { type: "step-completed", outcome: "4 files" },
  { type: "step-committed", step: "1", commit: sha(4) },
  { type: "step-entered", flow: "greenfield", step: "2", name: "Research", cycle: 1 },
  { type: "step-skipped", reason: "a person said so" },
];

const minute = (seq: number): string =>
  `2026-01-01T00:${String(seq % 60).padStart(2, "0")}:00.000Z`;
const recorded = (events: readonly Event[], of: string, after = 0): RecordedEvent[] =>
  events.map((event, at) => ({ ...event, seq: after + at + 1, at: minute(after + at), run: of }));

const history = [...recorded(ofFlow, "flow"), ...recorded(ofRun, run, ofFlow.length)];
const folded = (events: readonly RecordedEvent[], from: Board = blankBoard): Board =>
  events.reduce(evolveBoard, from);

describe("a board", () => {
  const board = folded(history);

  it("is the same, however often it went over the wire on the way", () => {
    for (let cut = 0; cut <= history.length; cut++) {
      const sent = JSON.stringify(packBoard(folded(history.slice(0, cut))));
      const arrived = unpackBoard(JSON.parse(sent) as ReturnType<typeof packBoard>);
      expect(folded(history.slice(cut), arrived)).toEqual(board);
    }
  });

  it("tells of attempts what the log tells of them, and more", () => {
    const own = history.filter((event) => event.run === run);
    for (let cut = 0; cut <= own.length; cut++) {
      const { stories = [] } = folded(own.slice(0, cut)).runs[run] ?? {};
      const told = [...attemptsIn(own.slice(0, cut))].flatMap(([, records]) => records);
      const alike = told.map(({ attempt, base, startedAt, how, lines, commit }) => ({
        attempt,
        base,
        startedAt,
        how,
        lines,
        ...(commit !== undefined && { commit }),
      }));
      const byPhase = [...new Set(stories.map((story) => story.phase))].flatMap((id) =>
        stories.filter((story) => story.phase === id),
      );
      expect(byPhase).toMatchObject(alike);
    }
    const [failed, landed, , , parked] = board.runs[run]?.stories ?? [];
    expect(failed).toMatchObject({ agent: "claude", tokens: 100, cost: 0.5, claim });
    expect(landed).toMatchObject({ agent: "codex", files: { created: ["a.txt"] }, gates: [gate] });
    expect(parked).toMatchObject({ how: "parked", until: "2026-01-01T05:00:00.000Z" });
  });

  it("adds up by agent and by phase what was spent", () => {
    const slices = board.runs[run]?.spend.slices ?? [];
    expect(slices.map(({ agents }) => agents)).toEqual([
      { claude: { tokens: 100, cost: 0.5 } },
      { codex: { tokens: 50 } },
    ]);
    expect(slices.every(({ phases }) => Object.keys(phases).join() === "1")).toBe(true);
  });

  it("keeps no more slices for a long run than for a short one, and loses nothing", () => {
    const many = Array.from({ length: 20_000 }, (_, at) => ({
      ...used("1", 1, 1, 0.01),
      seq: at + 100,
      at: new Date(Date.UTC(2026, 0, 1) + at * 7_000).toISOString(),
      run,
    })) as RecordedEvent[];
    const { sliceMs, slices } = folded(many, board).runs[run]?.spend ?? { sliceMs: 0, slices: [] };
    expect(slices.length).toBeLessThanOrEqual(240);
    expect(slices.every(({ at }, index) => index === 0 || at > (slices[index - 1]?.at ?? 0))).toBe(
      true,
    );
    expect(slices.every(({ at }) => at % sliceMs === 0)).toBe(true);
    const total = slices.reduce((sum, { phases }) => sum + (phases["1"]?.tokens ?? 0), 0);
    expect(total).toBe(20_150);
  });

  it("tells the steps of a flow and who worked on them", () => {
    expect(board.flow.steps).toMatchObject([
      { step: "1", name: "Problem", how: "completed", outcome: "4 files", commit: sha(4) },
      { step: "2", name: "Research", how: "skipped", outcome: "a person said so" },
    ]);
    expect(board.flow.sessions).toMatchObject([
      { session: 1, skill: "problem", how: "done", spend: { tokens: 15, cost: 0.1 } },
    ]);
  });

  it("still has a run that another took the place of, as it was", () => {
    const aside = recorded([{ type: "run-set-aside", aside: ".autobuild-1" }], run, history.length);
    const after = folded(aside, board);
    expect(after.state.runs?.[run]?.phases).toEqual([]);
    expect(runsOn(after).map(({ id, phases }) => [id, phases.length])).toEqual([[run, 3]]);
  });
});
