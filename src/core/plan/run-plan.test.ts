import { describe, expect, it } from "vitest";
import { after, begin, deliver, noon, seen, started } from "../../../test/run-story.ts";
import { fail, type Result, succeed } from "../failure.ts";
import { type Limits, type Move, subjectOf } from "./next-moves.ts";
import { type PlanRun, phaseOf } from "./progress.ts";
import type { RunEvent } from "./run-event.ts";
import { type Driver, type Performed, runPlan } from "./run-plan.ts";

const limits: Limits = { jobs: 2, now: noon, review: false, wait: true, stopping: false };

const done = (...events: RunEvent[]): Performed => ({ is: "done", events });
const question: Performed = {
  is: "asking",
  failure: fail("decision-required", "may it be?").failure,
};

/** A world where everything goes well. */
function goesWell(move: Move, run: PlanRun): Performed {
  switch (move.do) {
    case "baseline":
      return done(seen(run.tip));
    case "begin":
      return done(begin(move.phase, move.attempt, move.slot));
    case "work":
      return done(deliver(move.phase, phaseOf(run, move.phase)?.attempts));
    case "verify":
      return done({
        type: "phase-verified",
        phase: move.phase,
        attempt: phaseOf(run, move.phase)?.attempts ?? 1,
        onto: run.tip,
        commit: `${move.phase} on ${run.tip}`,
        message: "feat: x",
        created: [],
        modified: [],
        deleted: [],
        gates: [],
        tasksChecked: 1,
        doneChecked: 0,
        statusUpdated: true,
      });
    case "land": {
      const state = phaseOf(run, move.phase)?.state;
      if (state?.is !== "verified") throw new Error("it is not verified");
      if (state.check.onto !== run.tip)
        return goesWell({ do: "verify", phase: move.phase, slot: move.slot }, run);
      const { attempt, check } = state;
      return done({ type: "phase-landed", phase: move.phase, attempt, commit: check.commit });
    }
    case "publish": {
      const commit = run.landed[run.published]?.commit ?? null;
      return done({ type: "phase-published", phase: move.phase, commit, kept: [] });
    }
    case "publish-run":
      return done({ type: "run-published", commit: "squash", kept: [] });
    case "review":
      return done({ type: "review-passed", commit: run.tip });
    case "ask-again":
    case "ask-agent":
    case "ask-budget":
    case "take-in":
    case "take-back":
    case "await-report":
    case "wait":
    case "end":
      return done();
  }
}

interface Trace {
  readonly moves: Move[];
  readonly recorded: RunEvent[];
  calledOff: number;
}

/** A driver whose every step can be another one's. */
function driverOf(
  start: PlanRun,
  change: Partial<Driver> = {},
): { driver: Driver; trace: Trace; run: () => PlanRun } {
  let run = start;
  const trace: Trace = { moves: [], recorded: [], calledOff: 0 };
  const driver: Driver = {
    limits: () => limits,
    perform: async (move, known) => {
      trace.moves.push(move);
      return goesWell(move, known);
    },
    record: async (events): Promise<Result<PlanRun>> => {
      trace.recorded.push(...events);
      run = after(run, ...events);
      return succeed(run);
    },
    callOff: () => {
      trace.calledOff++;
    },
    ...change,
  };
  return { driver, trace, run: () => run };
}

const diamond = { a: [], b: ["a"], c: ["a"], d: ["b", "c"] };

describe("a run", () => {
  it("goes on until everything is complete and published", async () => {
    const { driver, trace } = driverOf(started(diamond));
    const { run, asking, refused } = await runPlan(started(diamond), driver);
    expect(run.ended).toBe("complete");
    expect(run.landed).toHaveLength(4);
    expect(run.published).toBe(4);
    expect([asking, refused]).toEqual([[], undefined]);
    expect(trace.recorded.at(-1)).toEqual({ type: "run-ended", how: "complete" });
  });

  it("takes up what people say meanwhile, and goes by it", async () => {
    const words: RunEvent[][] = [[{ type: "note-given", phase: "d", note: "mind", by: "x" }]];
    const { driver, trace } = driverOf(started(diamond), {
      arriving: () => {
        const next = words.shift();
        return next ? Promise.resolve(next) : new Promise(() => {});
      },
    });
    const { run } = await runPlan(started(diamond), driver);
    expect(run.ended).toBe("complete");
    expect(phaseOf(run, "d")?.notes).toEqual(["mind"]);
    expect(trace.recorded.filter(({ type }) => type === "note-given")).toHaveLength(1);
  });

  it("in single mode is published once, after the last landing", async () => {
    const { driver, trace } = driverOf(started(diamond, "single"));
    const { run } = await runPlan(started(diamond, "single"), driver);
    expect(run).toMatchObject({ ended: "complete", published: 4, squash: "squash" });
    const published = trace.recorded.filter(({ type }) => type === "run-published");
    expect(published).toHaveLength(1);
  });

  it("is the same for the same answers in the same order", async () => {
    const lives = await Promise.all(
      [1, 2].map(async () => {
        const { driver, trace } = driverOf(started(diamond), { first: (all) => last(all) });
        await runPlan(started(diamond), driver);
        return trace.recorded;
      }),
    );
    expect(lives[0]).toEqual(lives[1]);
  });

  it("comes to the same end whoever is heard first", async () => {
    for (const first of [last, firstOf]) {
      const { driver } = driverOf(started(diamond), { first: (all) => first(all) });
      const { run } = await runPlan(started(diamond), driver);
      expect(run.ended).toBe("complete");
      expect(run.landed.map(({ phase }) => phase).sort()).toEqual(["a", "b", "c", "d"]);
    }
  });

  it("lets a slow phase hold up nothing but what depends on it", async () => {
    const needs = { slow: [], a: [], b: ["a"], c: ["b"] };
    const { driver, trace } = driverOf(started(needs), { first: (all) => last(all) });
    await runPlan(started(needs), driver);
    const order = trace.recorded.flatMap((event) =>
      event.type === "phase-landed" ? [event.phase] : [],
    );
    expect(order).toEqual(["a", "b", "c", "slow"]);
  });
});

describe("what a move brought about", () => {
  it("is recorded before anything follows from it", async () => {
    const start = started(diamond);
    const { driver, trace, run } = driverOf(start);
    const perform = driver.perform.bind(driver);
    const early: string[] = [];
    await runPlan(start, {
      ...driver,
      perform: (move, known) => {
        if (known !== run()) early.push(move.do);
        return perform(move, known);
      },
    });
    expect(early).toEqual([]);
    expect(trace.moves[0]).toEqual({ do: "begin", phase: "a", attempt: 1, slot: 0 });
  });

  it("is recorded one move after the other, never two at once", async () => {
    let recording = 0;
    let most = 0;
    const { driver } = driverOf(started(diamond));
    const record = driver.record.bind(driver);
    await runPlan(started(diamond), {
      ...driver,
      record: async (events) => {
        most = Math.max(most, ++recording);
        await Promise.resolve();
        const recorded = await record(events);
        recording--;
        return recorded;
      },
    });
    expect(most).toBe(1);
  });

  it("is not recorded if it is nothing", async () => {
    const { driver, trace } = driverOf(started({ a: [] }), {
      limits: () => ({ ...limits, stopping: trace.moves.length > 1 }),
      perform: async (move, known) => {
        trace.moves.push(move);
        return move.do === "work" ? done() : goesWell(move, known);
      },
    });
    const { run } = await runPlan(started({ a: [] }), driver);
    expect(trace.recorded.map(({ type }) => type)).toEqual(["attempt-started", "run-ended"]);
    expect(run.ended).toBe("interrupted");
  });
});

describe("a question that nobody answers", () => {
  it("holds up its own subject alone, and is asked once in a session", async () => {
    const { driver, trace } = driverOf(started(diamond), {
      perform: async (move, known) => {
        trace.moves.push(move);
        return move.do === "publish" ? question : goesWell(move, known);
      },
    });
    const { run, asking } = await runPlan(started(diamond), driver);
    expect(run).toMatchObject({ ended: "asking", published: 0 });
    expect(run.landed).toHaveLength(4);
    expect(asking.map(({ message }) => message)).toEqual(["may it be?"]);
    expect(trace.moves.filter((move) => move.do === "publish")).toHaveLength(1);
  });

  it("is asked again in the next session, and then the run goes on to its end", async () => {
    const first = driverOf(started({ a: [] }), {
      perform: async (move, known) => (move.do === "publish" ? question : goesWell(move, known)),
    });
    const { run } = await runPlan(started({ a: [] }), first.driver);
    const again = after(run, { type: "run-resumed" });
    const { driver, trace } = driverOf(again);
    expect((await runPlan(again, driver)).run.ended).toBe("complete");
    expect(trace.moves.map(({ do: what }) => what)).toEqual(["publish"]);
  });
});

describe("a machine that refuses", () => {
  const refusal = fail("disk", "it is full");

  it("ends the run: what is under way is called off, and the failure is the result", async () => {
    const { driver, trace } = driverOf(started({ a: [], b: [] }), {
      perform: async (move, known) => {
        trace.moves.push(move);
        if (move.do === "work" && move.phase === "a")
          return { is: "refused", failure: refusal.failure };
        return goesWell(move, known);
      },
      first: (all) => firstOf(all),
    });
    const { refused, run } = await runPlan(started({ a: [], b: [] }), driver);
    expect(refused).toEqual(refusal.failure);
    expect(trace.calledOff).toBe(1);
    expect(run.ended).toBeUndefined();
    const later = trace.moves.slice(1 + trace.moves.findIndex(({ do: what }) => what === "work"));
    expect(later.map(subjectOf)).not.toContain("phase a");
  });

  it("still has the outcome of what was under way recorded", async () => {
    const { driver, trace } = driverOf(started({ a: [], b: [] }), {
      perform: async (move, known) => {
        if (move.do === "work" && move.phase === "a")
          return { is: "refused", failure: refusal.failure };
        return goesWell(move, known);
      },
    });
    await runPlan(started({ a: [], b: [] }), {
      ...driver,
      first: (all) => firstOf(all),
    });
    expect(trace.recorded).toContainEqual(expect.objectContaining({ phase: "b" }));
    expect(trace.recorded.some(({ type }) => type === "run-ended")).toBe(false);
  });

  it("to record ends the run with what was on record before", async () => {
    const { driver, trace, run } = driverOf(started(diamond));
    const record = driver.record.bind(driver);
    const outcome = await runPlan(started(diamond), {
      ...driver,
      record: async (events) =>
        events.some(({ type }) => type === "phase-verified") ? refusal : record(events),
    });
    expect(outcome.refused).toEqual(refusal.failure);
    expect(outcome.run).toBe(run());
    expect(phaseOf(outcome.run, "a")?.state.is).toBe("delivered");
    expect(trace.calledOff).toBe(1);
  });

  it("to record the end itself is told as well", async () => {
    const { driver } = driverOf(started({ a: [] }));
    const record = driver.record.bind(driver);
    const outcome = await runPlan(started({ a: [] }), {
      ...driver,
      record: async (events) =>
        events.some(({ type }) => type === "run-ended") ? refusal : record(events),
    });
    expect(outcome.refused).toEqual(refusal.failure);
    expect(outcome.run.published).toBe(1);
  });
});

describe("a stop", () => {
  it("begins nothing new, lets what is under way end, and ends as interrupted", async () => {
    const { driver, trace } = driverOf(started(diamond), {
      limits: () => ({
        ...limits,
        stopping: trace.moves.some(({ do: what }) => what === "verify"),
      }),
    });
    const { run } = await runPlan(started(diamond), driver);
    expect(run.ended).toBe("interrupted");
    expect(trace.moves.at(-1)?.do).toBe("verify");
    expect(phaseOf(run, "a")?.state.is).toBe("verified");
  });
});

function last<T>(all: readonly Promise<T>[]): Promise<T> {
  const promise = all.at(-1);
  if (!promise) throw new Error("nothing is under way");
  return promise;
}

function firstOf<T>(all: readonly Promise<T>[]): Promise<T> {
  const promise = all[0];
  if (!promise) throw new Error("nothing is under way");
  return promise;
}
