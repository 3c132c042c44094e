import { describe, expect, it } from "vitest";
import {
  after,
  begin,
  deliver,
  failing,
  landing,
  type Needs,
  noon,
  parked,
  phasesOf,
  published,
  resumed,
  started,
  verify,
} from "../../../test/run-story.ts";
import type { RecordedEvent } from "../event.ts";
import { errorTypes, isRetryable } from "./phase-error.ts";
import {
  blockers,
  evolveRun,
  isComplete,
  type PhaseProgress,
  type PlanRun,
  phaseOf,
  standingOf,
} from "./progress.ts";
import type { RunEvent } from "./run-event.ts";

const one = "2026-01-01T13:00:00.000Z";

const at = (run: PlanRun, id: string): PhaseProgress => {
  const phase = phaseOf(run, id);
  if (!phase) throw new Error(`there is no phase ${id}`);
  return phase;
};
const stateOf = (run: PlanRun, id: string): string => at(run, id).state.is;
const standings = (run: PlanRun): string[] => {
  const blocked = blockers(run);
  return run.phases.map((phase) => standingOf(phase, blocked));
};
const conflicting = (phase: string, attempt: number): RunEvent => ({
  type: "attempt-conflicted",
  phase,
  attempt,
  files: ["a.txt"],
});
const reread = (needs: Needs): RunEvent => ({
  type: "plan-reread",
  phases: phasesOf(needs),
  planFiles: { "plan.md": "blob" },
  changes: ["something changed"],
});

describe("an attempt", () => {
  it("goes from pending through working, delivered and verified to landed", () => {
    let run = started({ a: [] });
    const seen = [stateOf(run, "a")];
    for (const event of landing("a", "c0")) {
      run = after(run, event);
      seen.push(stateOf(run, "a"));
    }
    expect(seen).toEqual(["pending", "working", "delivered", "verified", "landed"]);
    expect(run.tip).toBe("a on c0");
    expect(run.landed).toEqual([{ phase: "a", commit: "a on c0" }]);
  });

  it("is counted when it begins", () => {
    expect(at(after(started({ a: [] }), begin("a")), "a").attempts).toBe(1);
  });

  it("that failed is charged, and what it said is kept for the next one", () => {
    const run = after(started({ a: [] }), begin("a"), failing("a", "test_failure"));
    expect(at(run, "a")).toMatchObject({
      state: { is: "pending" },
      attempts: 1,
      charged: 1,
      errors: [{ type: "test_failure", message: "red", attempt: 1 }],
    });
  });

  it("that fails for the last time allowed ends the series", () => {
    const twice = [begin("a"), failing("a", "test_failure"), begin("a", 2)];
    const run = after(started({ a: [] }), ...twice, failing("a", "test_failure", 2));
    expect(at(run, "a")).toMatchObject({ state: { is: "failed" }, charged: 2 });
  });

  it.each(errorTypes)("that fails with %s is tried again only if that can help", (type) => {
    const error = { type, message: "x" };
    const failed: RunEvent = { type: "attempt-failed", phase: "a", attempt: 1, error };
    const run = after(started({ a: [] }), begin("a"), failed);
    expect(stateOf(run, "a")).toBe(isRetryable(type) ? "pending" : "failed");
  });

  it("that is asked to stop is neither charged nor a death", () => {
    const stopped: RunEvent = {
      type: "attempt-interrupted",
      phase: "a",
      attempt: 1,
      reason: "asked to stop",
    };
    const run = after(started({ a: [] }), begin("a"), stopped);
    expect(at(run, "a")).toMatchObject({ state: { is: "pending" }, charged: 0, interruptions: 0 });
  });

  it("that meets a usage limit is not charged and may not go on before its time", () => {
    const run = after(started({ a: [] }), ...parked("a", one));
    expect(at(run, "a")).toMatchObject({ state: { is: "pending", notBefore: one }, charged: 0 });
  });

  it("that conflicts is done once more, uncharged, and then for people", () => {
    const once = after(started({ a: [] }), begin("a"), deliver("a"), conflicting("a", 1));
    expect(at(once, "a")).toMatchObject({ state: { is: "pending" }, charged: 0, conflicts: 1 });
    const twice = after(once, begin("a", 2), deliver("a", 2), conflicting("a", 2));
    expect(at(twice, "a").state).toMatchObject({
      is: "failed",
      error: { type: "file_conflict" },
    });
  });

  it("that was not under way delivers nothing", () => {
    const run = started({ a: [] });
    expect(after(run, deliver("a"))).toEqual(run);
  });

  it("that was not verified does not land", () => {
    const run = after(started({ a: [] }), begin("a"), deliver("a"));
    const landed = after(run, { type: "phase-landed", phase: "a", attempt: 1, commit: "x" });
    expect(landed).toEqual(run);
  });

  it("that was verified on another tip does not land", () => {
    const both = [begin("a"), deliver("a"), verify("a", "c0"), ...landing("b", "c0")];
    const run = after(started({ a: [], b: [] }), ...both);
    const late = after(run, { type: "phase-landed", phase: "a", attempt: 1, commit: "a on c0" });
    expect(stateOf(late, "a")).toBe("verified");
    expect(late.tip).toBe("b on c0");
    expect(late.landed.map(({ phase }) => phase)).toEqual(["b"]);
  });

  it("may be verified anew on what has landed since", () => {
    const both = [begin("a"), deliver("a"), verify("a", "c0"), ...landing("b", "c0")];
    const run = after(started({ a: [], b: [] }), ...both, verify("a", "b on c0"));
    const landed = after(run, {
      type: "phase-landed",
      phase: "a",
      attempt: 1,
      commit: "a on b on c0",
    });
    expect(landed.landed.map(({ phase }) => phase)).toEqual(["b", "a"]);
  });
});

describe("a resumed run", () => {
  it("takes what was under way for a death: a new number, nothing charged", () => {
    const run = after(started({ a: [] }), begin("a"), resumed);
    expect(at(run, "a")).toMatchObject({
      state: { is: "pending" },
      attempts: 1,
      charged: 0,
      interruptions: 1,
    });
  });

  it("counts deaths in a row, and no longer once an attempt has ended by itself", () => {
    const dead = after(started({ a: [] }), begin("a"), resumed, begin("a", 2), resumed);
    expect(at(dead, "a").interruptions).toBe(2);
    const heard = after(dead, begin("a", 3), failing("a", "test_failure", 3));
    expect(at(heard, "a").interruptions).toBe(0);
    expect(at(after(dead, begin("a", 3), deliver("a", 3)), "a").interruptions).toBe(0);
  });

  it("keeps the charged failures of a series that is not over", () => {
    const run = after(started({ a: [] }), begin("a"), failing("a", "test_failure"), resumed);
    expect(at(run, "a")).toMatchObject({ state: { is: "pending" }, charged: 1, attempts: 1 });
  });

  it("gives what had failed a new series, with numbers that go on", () => {
    const run = after(started({ a: [] }), begin("a"), failing("a", "plan_invalid"), resumed);
    expect(at(run, "a")).toMatchObject({ state: { is: "pending" }, charged: 0, attempts: 1 });
    expect(at(run, "a").errors).toHaveLength(1);
  });

  it.each([
    ["delivered", [begin("a"), deliver("a")]],
    ["verified", [begin("a"), deliver("a"), verify("a", "c0")]],
    ["landed", landing("a", "c0")],
    ["skipped", [{ type: "phase-skipped", phase: "a", reason: "done" }]],
    ["pending", parked("a", one)],
  ] as const)("keeps what is %s as it is", (is, events) => {
    const run = after(started({ a: [] }), ...events);
    expect(stateOf(run, "a")).toBe(is);
    expect(at(after(run, resumed), "a")).toEqual(at(run, "a"));
  });

  it("is no longer ended or parked", () => {
    const ended: RunEvent = { type: "run-ended", how: "parked", until: one };
    const run = after(started({ a: [] }), ...parked("a", one), ended);
    expect(run).toMatchObject({ ended: "parked", parkedUntil: one });
    const going = after(run, resumed);
    expect("ended" in going || "parkedUntil" in going).toBe(false);
  });

  it("may have another agent and other gates", () => {
    const gates = [{ name: "test", command: "npm test" }];
    const run = after(started({ a: [] }), { type: "run-resumed", agent: "codex", gates });
    expect(run).toMatchObject({ agent: "codex", gates });
  });
});

describe("the end of a run", () => {
  it("leaves nobody at work: what was begun and never worked on is no death", () => {
    const run = after(started({ a: [] }), begin("a"), { type: "run-ended", how: "interrupted" });
    expect(stateOf(run, "a")).toBe("pending");
    expect(at(after(run, resumed), "a").interruptions).toBe(0);
    expect(at(run, "a").attempts).toBe(1);
  });
});

describe("what is published", () => {
  const bothLanded = [...landing("a", "c0"), ...landing("b", "a on c0")];

  it("is counted in the order of landing, and moves what the target holds", () => {
    const run = after(started({ a: [], b: [] }), ...bothLanded, published("a", "a on c0"));
    expect(run).toMatchObject({ published: 1, targetAt: "a on c0" });
  });

  it("as files only leaves the target where it was", () => {
    const run = after(
      started({ a: [], b: [] }, "message-only"),
      ...bothLanded,
      published("a", null),
    );
    expect(run).toMatchObject({ published: 1, targetAt: "c0" });
  });

  it("as one commit is everything that has landed", () => {
    const run = after(started({ a: [], b: [] }, "single"), ...bothLanded, {
      type: "run-published",
      commit: "squash",
      kept: [],
    });
    expect(run).toMatchObject({ published: 2, targetAt: "squash", squash: "squash" });
  });

  it("may go elsewhere", () => {
    const chosen: RunEvent = { type: "target-chosen", target: "refs/heads/x", holds: "" };
    expect(after(started({ a: [] }), chosen)).toMatchObject({
      target: "refs/heads/x",
      targetAt: "",
    });
  });
});

describe("when somebody's commits came first", () => {
  const moved = (...undone: string[]): RunEvent => ({
    type: "target-moved",
    commit: "theirs",
    undone,
  });
  const bothLanded = [...landing("a", "c0"), ...landing("b", "a on c0")];

  it("what was not published goes back to what its agent delivered", () => {
    const run = after(started({ a: [], b: [] }), ...bothLanded, moved("a", "b"));
    expect(run).toMatchObject({ tip: "theirs", targetAt: "theirs", landed: [] });
    expect(at(run, "a").state).toEqual({
      is: "delivered",
      attempt: 1,
      uuid: "a-1",
      base: "c0",
      slot: 0,
      commit: "work of a",
      claim: { status: "complete", tasksTotal: 1, tasksCompleted: 1, message: "feat: x" },
    });
  });

  it("what was published stays", () => {
    const run = after(
      started({ a: [], b: [] }),
      ...bothLanded,
      published("a", "a on c0"),
      moved("b"),
    );
    expect(stateOf(run, "a")).toBe("landed");
    expect(stateOf(run, "b")).toBe("delivered");
    expect(run.landed).toEqual([{ phase: "a", commit: "a on c0" }]);
  });

  it("what landed while that was being found out goes back as well", () => {
    const run = after(started({ a: [], b: [] }), ...bothLanded, moved("a"));
    expect(run.landed).toEqual([]);
    expect(stateOf(run, "b")).toBe("delivered");
  });

  it("a landing that comes too late does not count", () => {
    const verified = [begin("b"), deliver("b"), verify("b", "a on c0")];
    const run = after(started({ a: [], b: [] }), ...landing("a", "c0"), ...verified, moved("a"));
    const late = after(run, {
      type: "phase-landed",
      phase: "b",
      attempt: 1,
      commit: "b on a on c0",
    });
    expect(late.tip).toBe("theirs");
    expect(late.landed).toEqual([]);
  });
});

describe("a plan that people have changed", () => {
  it("gains phases that have not begun", () => {
    const run = after(started({ a: [] }), ...landing("a", "c0"), reread({ a: [], b: ["a"] }));
    expect(run.phases.map(({ state }) => state.is)).toEqual(["landed", "pending"]);
    expect(run.planFiles).toEqual({ "plan.md": "blob" });
  });

  it("loses phases, and with them whatever was begun", () => {
    const run = after(started({ a: [], b: [] }), begin("b"), reread({ a: [] }));
    expect(run.phases.map(({ id }) => id)).toEqual(["a"]);
    expect(phaseOf(run, "b")).toBeUndefined();
  });

  it("keeps the landing of a phase that was taken out", () => {
    const run = after(started({ a: [], b: [] }), ...landing("b", "c0"), reread({ a: [] }));
    expect(run).toMatchObject({ tip: "b on c0", landed: [{ phase: "b", commit: "b on c0" }] });
  });

  it("knows a phase that comes back, with the numbers of its attempts", () => {
    const run = after(started({ a: [], b: [] }), begin("b"), failing("b", "test_failure"));
    const back = after(run, reread({ a: [] }), reread({ a: [], b: [] }));
    expect(at(back, "b")).toEqual(at(run, "b"));
    expect(back.gone).toEqual([]);
  });

  it("may be put in another order and wait for others", () => {
    const run = after(started({ a: [], b: [] }), ...landing("b", "c0"));
    const turned = after(run, reread({ b: [], a: ["b"] }));
    expect(turned.order.map(({ id }) => id)).toEqual(["b", "a"]);
    expect(turned.phases.map(({ id }) => id)).toEqual(["b", "a"]);
    expect(stateOf(turned, "b")).toBe("landed");
  });
});

describe("a phase that a person wants again", () => {
  it("has a new series, with numbers that go on", () => {
    const twice = [begin("a"), failing("a", "test_failure"), begin("a", 2)];
    const run = after(started({ a: [] }), ...twice, failing("a", "test_failure", 2), {
      type: "phase-reset",
      phase: "a",
      reason: "again",
    });
    expect(at(run, "a")).toMatchObject({
      state: { is: "pending" },
      attempts: 2,
      charged: 0,
      conflicts: 0,
      interruptions: 0,
    });
  });
});

describe("what people are told about a phase", () => {
  it("is blocked behind one that failed, however far", () => {
    const needs = { a: [], b: ["a"], c: ["b"], d: [] };
    const run = after(started(needs), begin("a"), failing("a", "plan_invalid"));
    expect(standings(run)).toEqual(["failed", "blocked", "blocked", "pending"]);
    expect(blockers(run).get("c")).toBe("a");
  });

  it("is running from the first attempt to the landing, between attempts too", () => {
    const run = started({ a: [] });
    expect(standings(run)).toEqual(["pending"]);
    expect(standings(after(run, begin("a")))).toEqual(["running"]);
    expect(standings(after(run, begin("a"), failing("a", "test_failure")))).toEqual(["running"]);
    expect(standings(after(run, begin("a"), deliver("a")))).toEqual(["running"]);
    expect(standings(after(run, ...landing("a", "c0")))).toEqual(["complete"]);
  });

  it("is blocked even if it was delivered before what it waits for was undone and failed", () => {
    const run = after(
      started({ a: [], b: ["a"] }),
      ...landing("a", "c0"),
      begin("b"),
      deliver("b"),
      { type: "target-moved", commit: "theirs", undone: ["a"] },
      failing("a", "plan_invalid"),
      { type: "run-ended", how: "halted" },
    );
    expect(standings(run)).toEqual(["failed", "blocked"]);
  });

  it("is complete when it was done before the run", () => {
    const run = after(started({ a: [] }), { type: "phase-skipped", phase: "a", reason: "done" });
    expect(standings(run)).toEqual(["complete"]);
    expect(isComplete(at(run, "a"))).toBe(true);
  });
});

describe("the fold", () => {
  it("ignores what happens to a run that has not begun", () => {
    const event = { ...begin("a"), seq: 1, at: noon, run: "r0123456789" } as RecordedEvent;
    expect(evolveRun(undefined, event)).toBeUndefined();
  });

  it("ignores a phase that it does not have", () => {
    const run = started({ a: [] });
    expect(after(run, begin("b"), deliver("b"), ...landing("b", "c0"))).toBe(run);
  });

  it("does not begin a run twice", () => {
    const run = after(started({ a: [] }), begin("a"));
    const again = { type: "run-started", seq: 9, at: one, run: "r9999999999" } as RecordedEvent;
    expect(evolveRun(run, again)).toBe(run);
  });

  it("changes nothing that it was given", () => {
    const run = started({ a: [], b: [] });
    const before = structuredClone(run);
    after(run, ...landing("a", "c0"), { type: "target-moved", commit: "theirs", undone: ["a"] });
    expect(run).toEqual(before);
  });

  it("knows since when what is run is no longer what it was begun with", () => {
    const theirs = { type: "target-moved" as const, commit: "theirs", undone: [] };
    const same = after(
      started({ a: [], b: [] }),
      ...landing("a", "c0"),
      { type: "phase-published", phase: "a", commit: "a on c0", kept: [] },
      { ...theirs, runsTheSame: true },
    );
    expect(same.ground).toBeUndefined();
    const other = after(same, ...landing("b", "theirs"), theirs);
    expect(other.ground).toEqual({ commit: "theirs", landed: 1 });
  });

  it("comes to the same from a snapshot that was written down and read again", () => {
    const events = [...landing("a", "c0"), begin("b"), resumed, ...landing("b", "a on c0", 2)];
    const whole = after(started({ a: [], b: ["a"] }), ...events);
    for (const middle of events.keys()) {
      const half = after(started({ a: [], b: ["a"] }), ...events.slice(0, middle));
      const read = JSON.parse(JSON.stringify(half)) as PlanRun;
      expect(after(read, ...events.slice(middle))).toEqual(whole);
    }
  });
});
