/** Phases that somebody came for: what becomes of them, and of all others meanwhile. */
import { describe, expect, it } from "vitest";
import { after, begin, noon, started } from "../../../test/run-story.ts";
import type { Lease, LeaseStanding } from "../lease.ts";
import { type Limits, type Move, nextMoves } from "./next-moves.ts";
import { type PlanRun, phaseOf } from "./progress.ts";
import type { AgentResult } from "./result.ts";
import type { RunEvent } from "./run-event.ts";

const later = "2026-01-01T12:30:00.000Z";
const lease: Lease = {
  epoch: 1,
  until: later,
  by: "x",
  holder: "h",
  host: "m",
  pid: 1,
  started: 1,
  root: "/r",
};
const limits: Limits = { jobs: 1, now: noon, review: false, wait: true, stopping: false };

const lend = (phase: string, attempt = 1, epoch = 1): RunEvent => ({
  type: "attempt-leased",
  phase,
  attempt,
  lease: { ...lease, epoch },
});
const result: AgentResult = {
  phase_id: "a",
  status: "complete",
  tasks: { total: 1, completed: 1 },
  gates: {},
  commit_message: "feat: a",
  files: { created: [], modified: [], deleted: [] },
  plan_updated: false,
  error: null,
};
const report = (phase: string, epoch = 1, attempt = 1): RunEvent => ({
  type: "attempt-reported",
  phase,
  attempt,
  epoch,
  result,
});
const lent = (): PlanRun => after(started({ a: [], b: [], c: ["a"] }), begin("a"), lend("a"));
const movesOf = (run: PlanRun, more: Partial<Limits> = {}, busy: Move[] = []): string[] =>
  nextMoves(run, { ...limits, ...more }, busy).map((move) =>
    "phase" in move ? `${move.do} ${move.phase}` : move.do,
  );

describe("a phase that somebody came for", () => {
  it("holds no place: another begins beside it, with ports of its own", () => {
    const moves = nextMoves(lent(), limits, []);
    expect(moves).toEqual([{ do: "begin", phase: "b", attempt: 1, slot: 1 }]);
  });

  it("is waited for by whoever stays, and by nobody else", () => {
    expect(movesOf(lent(), { awaits: true })).toEqual(["await-report a", "begin b"]);
    expect(movesOf(lent(), { awaits: true, finishing: true })).toEqual(["end"]);
    const busy: Move[] = [{ do: "await-report", phase: "a", until: later }];
    expect(movesOf(lent(), { awaits: true }, busy)).toEqual(["begin b"]);
  });

  it("is a reason to end as parked, where there is nothing else", () => {
    const run = after(started({ a: [], c: ["a"] }), begin("a"), lend("a"));
    expect(nextMoves(run, limits, [])).toEqual([{ do: "end", how: "parked", until: later }]);
  });

  it.each<[LeaseStanding, string]>([
    ["ours", "work a"],
    ["lapsed", "take-back a"],
  ])("is %s: %s", (standing, move) => {
    expect(movesOf(lent(), { leased: () => standing })[0]).toBe(move);
  });

  it("lapses by the clock where nobody knows better", () => {
    expect(movesOf(lent(), { now: later })).toContain("take-back a");
  });

  it("is taken in when it is reported, whatever its lease is by then", () => {
    const run = after(lent(), report("a"));
    expect(movesOf(run, { now: later, leased: () => "lapsed" })).toEqual(["take-in a"]);
  });

  it.each([
    ["of another epoch", report("a", 2)],
    ["of another attempt", report("a", 1, 2)],
    ["of a phase that nobody has", report("b")],
    ["of a phase that there is not", report("z")],
  ])("is not reported by a word %s", (_, event) => {
    expect(after(lent(), event).phases).toEqual(lent().phases);
  });

  it("stays his through sessions of ours that end, are killed, and begin again", () => {
    const run = after(
      lent(),
      { type: "run-ended", how: "parked" },
      { type: "run-resumed" },
      { type: "run-resumed", pulled: true },
    );
    expect(phaseOf(run, "a")).toEqual(phaseOf(lent(), "a"));
    expect(phaseOf(run, "a")?.interruptions).toBe(0);
  });

  it("is pending again when it was taken back, and its tree is out until it is back", () => {
    const taken = after(lent(), {
      type: "attempt-interrupted",
      phase: "a",
      attempt: 1,
      reason: "",
    });
    expect(phaseOf(taken, "a")).toMatchObject({ state: { is: "pending" }, lent: [{ attempt: 1 }] });
    const again = after(taken, begin("a", 2), lend("a", 2));
    expect(phaseOf(again, "a")?.lent?.map(({ attempt }) => attempt)).toEqual([1, 2]);
    const back = after(again, { type: "lent-tree-kept", phase: "a", attempt: 1 });
    expect(phaseOf(back, "a")?.lent?.map(({ attempt }) => attempt)).toEqual([2]);
  });

  it("leaves no lease behind when it is delivered or has failed", () => {
    const claim = { status: "complete" as const, tasksTotal: 1, tasksCompleted: 1, message: "m" };
    const events: RunEvent[] = [
      { type: "attempt-delivered", phase: "a", attempt: 1, commit: "c1", claim },
      { type: "attempt-failed", phase: "a", attempt: 1, error: { type: "timeout", message: "" } },
    ];
    for (const event of events) {
      const phase = phaseOf(after(lent(), report("a"), event), "a");
      expect(phase).not.toHaveProperty("lent");
      expect(phase?.state).not.toHaveProperty("lease");
      expect(phase?.state).not.toHaveProperty("report");
    }
  });
});

describe("what has failed", () => {
  const error = { type: "plan_invalid" as const, message: "no" };
  const failed = after(started({ a: [] }), begin("a"), {
    type: "attempt-failed",
    phase: "a",
    attempt: 1,
    error,
  });

  it("stays so when somebody comes for work, and has a new series when a person starts again", () => {
    expect(phaseOf(after(failed, { type: "run-resumed", pulled: true }), "a")?.state.is).toBe(
      "failed",
    );
    expect(phaseOf(after(failed, { type: "run-resumed" }), "a")?.state.is).toBe("pending");
  });
});
