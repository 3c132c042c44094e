/** Sessions, spending and limits of agents: what is folded of them, and what follows from it. */
import { describe, expect, it } from "vitest";
import {
  after,
  begin,
  deliver,
  failing,
  noon,
  resumed,
  started,
  used,
} from "../../../test/run-story.ts";
import type { RecordedEvent } from "../event.ts";
import { earliestParked, type Limits, type Move, nextMoves } from "./next-moves.ts";
import { evolveRun, type PhaseProgress, type PlanRun, phaseOf } from "./progress.ts";
import type { RunEvent } from "./run-event.ts";

const later = "2026-01-01T13:00:00.000Z";
const evenLater = "2026-01-01T14:00:00.000Z";
const limits: Limits = { jobs: 2, now: noon, review: false, wait: true, stopping: false };
const moves = (
  run: PlanRun,
  more: Partial<Limits> = {},
  withheld: readonly string[] = [],
): Move[] => nextMoves(run, { ...limits, ...more }, [], new Set(withheld));

const phase = (run: PlanRun, id = "a"): PhaseProgress => {
  const found = phaseOf(run, id);
  if (!found) throw new Error(`there is no phase ${id}`);
  return found;
};
const opens = (agent = "claude", session = "s1", attempt = 1): RunEvent => ({
  type: "session-opened",
  phase: "a",
  attempt,
  agent,
  session,
});
const limited = (agent: string, until = later, id = "a", attempt = 1): RunEvent => ({
  type: "attempt-parked",
  phase: id,
  attempt,
  until,
  reason: "empty",
  agent,
  kind: "usage_limit",
});
const unable: RunEvent = {
  type: "attempt-unable",
  phase: "a",
  attempt: 1,
  agent: "claude",
  kind: "auth",
  message: "nobody is logged in",
  hint: "log in",
};
/** At a moment of its own. */
const then = (run: PlanRun, at: string, ...events: readonly RunEvent[]): PlanRun =>
  events.reduce<PlanRun>(
    (known, event) =>
      evolveRun(known, { ...event, seq: 9, at, run: known.id } as RecordedEvent) ?? known,
    run,
  );

describe("a session", () => {
  const atWork = after(started({ a: [], b: [] }), begin("a"), opens(), used("a", 40));

  it("is known as soon as it is open, with what it has used", () => {
    expect(phase(atWork).session).toEqual({
      id: "s1",
      agent: "claude",
      attempt: 1,
      base: "c0",
      folder: 1,
      tokens: 40,
    });
  });

  it("is found in the folder in which it was opened, whoever was there meanwhile", () => {
    const goesOn = { ...begin("a", 2), continues: 1, folder: 1 };
    const others = { ...begin("a", 3), agent: "goose", continues: 2 };
    const run = after(
      atWork,
      limited("claude"),
      goesOn,
      opens("claude", "s1", 2),
      limited("claude", later, "a", 2),
      others,
      { ...unable, attempt: 3, agent: "goose" },
    );
    expect(phase(run).session).toMatchObject({ agent: "claude", attempt: 2, folder: 1 });
  });

  it.each([
    ["a death of ours", resumed],
    ["an interrupt", { type: "attempt-interrupted", phase: "a", attempt: 1, reason: "x" } as const],
    ["an empty account", limited("claude")],
    ["no login", unable],
    [
      "an end of its budget",
      { type: "attempt-over-budget", phase: "a", attempt: 1, over: "x" } as const,
    ],
  ])("outlives %s", (_name, event) => {
    expect(phase(after(atWork, event)).session?.id).toBe("s1");
  });

  it("ends with a delivery, a failure and a reset", () => {
    expect(phase(after(atWork, deliver("a"))).session).toBeUndefined();
    expect(phase(after(atWork, failing("a", "test_failure"))).session).toBeUndefined();
    const reset: RunEvent = { type: "phase-reset", phase: "a", reason: "x" };
    expect(phase(after(atWork, reset)).session).toBeUndefined();
  });

  it("that goes on keeps counting; another begins at nothing", () => {
    const again: RunEvent = { ...begin("a", 2), continues: 1, folder: 1 } as RunEvent;
    const going = after(atWork, resumed, again);
    expect(phase(going).folder).toBe(1);
    expect(phase(after(going, opens("claude", "s1", 2))).session).toMatchObject({
      tokens: 40,
      attempt: 2,
    });
    expect(phase(after(going, opens("codex", "s2", 2))).session).toMatchObject({
      tokens: 0,
      agent: "codex",
    });
    expect(
      phase(after(going, failing("a", "test_failure", 2), begin("a", 3))).folder,
    ).toBeUndefined();
  });

  it("of an attempt that is over changes nothing", () => {
    const over = after(atWork, failing("a", "test_failure"));
    expect(after(over, opens())).toBe(over);
  });
});

describe("waits", () => {
  const parks = (at: string): number | undefined => {
    const overloaded: RunEvent = { ...limited("claude"), kind: "overloaded" } as RunEvent;
    const waited = after(started({ a: [] }), begin("a"), overloaded, begin("a", 2));
    return phase(then(waited, at, { ...overloaded, attempt: 2 } as RunEvent)).parks;
  };

  it("are in a row when nothing was done between them", () => {
    expect(parks("2026-01-01T12:01:00.000Z")).toBe(2);
  });

  it("are not where somebody was at work for a while", () => {
    expect(parks(later)).toBe(1);
  });
});

describe("what was used", () => {
  it("is counted by phase and by run, whatever becomes of the attempt", () => {
    const run = after(
      started({ a: [], b: [] }),
      begin("a"),
      used("a", 100, 0.5),
      failing("a", "test_failure"),
      begin("a", 2),
      used("a", 50),
      begin("b"),
      used("b", 7, 0.25),
      resumed,
    );
    expect(phase(run).spent).toMatchObject({ tokens: 150, cost: 0.5 });
    expect(run.spent).toMatchObject({ tokens: 157, cost: 0.75 });
  });

  it("is also time: from the beginning of an attempt to its end, or to our last sign of life", () => {
    const begun = then(started({ a: [] }), noon, begin("a"));
    expect(then(begun, later, failing("a", "test_failure")).spent?.ms).toBe(3_600_000);
    const died = then(then(begun, later, used("a", 1)), evenLater, resumed);
    expect(died.spent?.ms).toBe(3_600_000);
    expect(phase(died).spent?.ms).toBe(3_600_000);
  });
});

describe("an account that has nothing left", () => {
  const agents = (id: string): readonly string[] => (id === "a" ? ["claude", "codex"] : ["claude"]);
  const run = after(started({ a: [], b: [] }), begin("a"), limited("claude"));

  it("is passed over for the next, and waited for where there is none", () => {
    expect(moves(run, { agents })).toEqual([
      { do: "begin", phase: "a", attempt: 2, slot: 0, agent: "codex" },
      { do: "wait", until: later },
    ]);
  });

  it("is asked again when its time has come", () => {
    expect(moves(run, { agents, now: later })).toEqual([
      { do: "begin", phase: "a", attempt: 2, slot: 0, agent: "claude" },
      { do: "begin", phase: "b", attempt: 1, slot: 1, agent: "claude" },
    ]);
  });

  it("with everybody's empty, the first that has something again is waited for", () => {
    const both = after(run, begin("a", 2), limited("codex", evenLater, "a", 2));
    expect(moves(both, { agents })).toEqual([{ do: "wait", until: later }]);
    expect(moves(both, { agents, wait: false })).toEqual([
      { do: "end", how: "parked", until: later },
    ]);
    expect(earliestParked(both, { now: noon, agents })).toBe(later);
  });

  it("whose stand-in cannot work at all is waited for, and nobody is asked", () => {
    const alone = after(run, begin("a", 2), { ...unable, agent: "codex", attempt: 2 } as RunEvent);
    expect(moves(alone, { agents })).toEqual([{ do: "wait", until: later }]);
    expect(moves(alone, { agents, now: later })[0]).toMatchObject({ phase: "a", agent: "claude" });
    const back = after(alone, { type: "phase-released", phase: "a", reason: "x" });
    expect(moves(back, { agents })[0]).toMatchObject({ phase: "a", agent: "codex" });
  });

  it("survives a restart", () => {
    expect(moves(after(run, resumed), { agents: () => ["claude"] })).toEqual([
      { do: "wait", until: later },
    ]);
  });

  it("does not hold what is limited for itself alone", () => {
    const alone = after(started({ a: [], b: [] }), begin("a"), {
      ...limited("claude"),
      kind: "overloaded",
    } as RunEvent);
    expect(moves(alone, { agents: () => ["claude"] })).toEqual([
      { do: "begin", phase: "b", attempt: 1, slot: 0, agent: "claude" },
      { do: "wait", until: later },
    ]);
  });
});

describe("what only people can put right", () => {
  it("is asked for the phase; the others go on", () => {
    const run = after(started({ a: [], b: [] }), begin("a"), unable);
    const agents = (): readonly string[] => ["claude"];
    expect(moves(run, { agents })).toEqual([
      { do: "ask-agent", phase: "a" },
      { do: "begin", phase: "b", attempt: 1, slot: 0, agent: "claude" },
    ]);
    // Somebody else does it now: there is nothing to ask.
    expect(moves(run, { agents: () => ["codex"] })[0]).toMatchObject({
      do: "begin",
      agent: "codex",
    });
    expect(moves(run, { agents }, ["phase a", "phase b"])).toEqual([{ do: "end", how: "asking" }]);
    const released = after(run, { type: "phase-released", phase: "a", reason: "x" });
    expect(moves(released)[0]).toMatchObject({ do: "begin", phase: "a", attempt: 2 });
    expect(phase(released).charged).toBe(0);
  });
});

describe("what may be used up", () => {
  const budgets = { attempt: {}, phase: { tokens: 100 }, run: { tokens: 250 } };

  it("of a phase is asked for the phase, and a yes is as much again", () => {
    const run = after(
      started({ a: [], b: [] }),
      begin("a"),
      used("a", 120),
      failing("a", "test_failure"),
    );
    const question = { do: "ask-budget", phase: "a", over: "120 tokens used, of 100 tokens" };
    expect(moves(run, { budgets })[0]).toEqual(question);
    const raised = after(run, { type: "budget-raised", phase: "a" });
    expect(moves(raised, { budgets })[0]).toMatchObject({ do: "begin", phase: "a" });
    expect(moves(after(run, resumed), { budgets })[0]).toEqual(question);
  });

  it("of a run is asked once, and nothing begins meanwhile", () => {
    const run = after(
      started({ a: [], b: [], c: [] }),
      begin("a"),
      used("a", 260),
      { type: "budget-raised", phase: "a" },
      { type: "budget-raised", phase: "a" },
      failing("a", "test_failure"),
    );
    expect(moves(run, { budgets })).toEqual([
      { do: "ask-budget", over: "260 tokens used, of 250 tokens" },
    ]);
    expect(moves(run, { budgets }, ["budget"])).toEqual([{ do: "end", how: "asking" }]);
    const raised = after(run, { type: "run-budget-raised" });
    expect(moves(raised, { budgets }).map((move) => move.do)).toEqual(["begin", "begin"]);
  });

  it("stops nothing that is delivered", () => {
    const run = after(started({ a: [] }), begin("a"), used("a", 1000), deliver("a"));
    expect(moves(run, { budgets }).map((move) => move.do)).toEqual(["verify"]);
  });
});

describe("hours that are quiet", () => {
  it("begin nothing, and end", () => {
    const run = started({ a: [] });
    expect(moves(run, { quietUntil: later })).toEqual([{ do: "wait", until: later }]);
    expect(moves(run, { quietUntil: later, now: later })[0]).toMatchObject({ do: "begin" });
    const working = after(run, begin("a"), deliver("a"));
    expect(moves(working, { quietUntil: later })[0]).toMatchObject({ do: "verify" });
  });
});
