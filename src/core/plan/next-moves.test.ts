import { describe, expect, it } from "vitest";
import {
  after,
  begin,
  deliver,
  failing,
  landing,
  noon,
  parked,
  published,
  resumed,
  seen,
  started,
  startedUnseen,
  verify,
} from "../../../test/run-story.ts";
import { type Limits, type Move, mostInterruptions, nextMoves } from "./next-moves.ts";
import { type PlanRun } from "./progress.ts";
import type { RunEvent } from "./run-event.ts";

const one = "2026-01-01T13:00:00.000Z";
const two = "2026-01-01T14:00:00.000Z";
const limits: Limits = { jobs: 2, now: noon, review: false, wait: true, stopping: false };

/** `begin a`, `land b`, `end complete`: short enough to read a list of them. */
const said = (moves: readonly Move[]): string[] =>
  moves.map((move) => {
    if (move.do === "wait") return `wait ${move.until}`;
    if (move.do === "end") return `end ${move.how}`;
    return "phase" in move ? `${move.do} ${move.phase}` : move.do;
  });
const next = (
  run: PlanRun,
  more: Partial<Limits> = {},
  busy: readonly Move[] = [],
  withheld: readonly string[] = [],
): string[] => said(nextMoves(run, { ...limits, ...more }, busy, new Set(withheld)));
const busyWith = (what: "work" | "verify" | "land", phase: string, slot = 0): Move => ({
  do: what,
  phase,
  slot,
});

describe("a phase begins when its dependencies are complete", () => {
  const diamond = { a: [], b: ["a"], c: ["a"], d: ["b", "c"] };

  it("begins with what waits for nothing", () => {
    expect(next(started(diamond))).toEqual(["begin a"]);
  });

  it("begins all that waited for a phase once that has landed", () => {
    const run = after(started(diamond), ...landing("a", "c0"), published("a", "a on c0"));
    expect(next(run)).toEqual(["begin b", "begin c"]);
  });

  it("does not begin a dependant of a phase that is only verified", () => {
    const run = after(started(diamond), begin("a"), deliver("a"), verify("a", "c0"));
    expect(next(run)).toEqual(["land a"]);
  });

  it("waits for all dependencies, not for one of them", () => {
    const run = after(started(diamond), ...landing("a", "c0"), ...landing("b", "a on c0"));
    expect(next(run)).toEqual(["begin c", "publish a"]);
  });

  it("begins a phase when its own dependencies are complete, not when the batch is", () => {
    const run = after(started({ a: [], b: [], c: ["a"] }), begin("b", 1, 1), ...landing("a", "c0"));
    expect(next(run, {}, [busyWith("work", "b", 1)])).toEqual(["begin c", "publish a"]);
  });

  it("counts a phase that was done before the run as complete", () => {
    const run = after(started(diamond), { type: "phase-skipped", phase: "a", reason: "done" });
    expect(next(run)).toEqual(["begin b", "begin c"]);
  });

  it("keeps to the plan's order", () => {
    expect(next(started({ z: [], a: [], m: [] }), { jobs: 3 })).toEqual([
      "begin z",
      "begin a",
      "begin m",
    ]);
  });

  it("never begins what waits for a phase that is not there", () => {
    expect(next(started({ a: ["gone"] }))).toEqual(["end halted"]);
  });
});

describe("at most jobs phases are under way", () => {
  const wide = { a: [], b: [], c: [] };

  it("begins no more than jobs", () => {
    expect(next(started(wide))).toEqual(["begin a", "begin b"]);
    expect(next(started(wide), { jobs: 1 })).toEqual(["begin a"]);
  });

  it("counts a beginning that is not yet on record", () => {
    const busy: Move[] = [
      { do: "begin", phase: "a", attempt: 1, slot: 0 },
      { do: "begin", phase: "b", attempt: 1, slot: 1 },
    ];
    expect(next(started(wide), {}, busy)).toEqual([]);
  });

  it("gives the place of a landed phase to the next one", () => {
    const run = after(started(wide), begin("b", 1, 1), ...landing("a", "c0"));
    const moves = nextMoves(run, limits, [busyWith("work", "b", 1)]);
    expect(moves).toContainEqual({ do: "begin", phase: "c", attempt: 1, slot: 0 });
  });

  it("gives each phase under way a slot of its own, the lowest that is free", () => {
    const run = after(started(wide), begin("a", 1, 1));
    const moves = nextMoves(run, { ...limits, jobs: 3 }, [busyWith("work", "a", 1)]);
    expect(moves).toEqual([
      { do: "begin", phase: "b", attempt: 1, slot: 0 },
      { do: "begin", phase: "c", attempt: 1, slot: 2 },
    ]);
  });

  it("holds the place of a phase that is delivered or verified", () => {
    const run = after(started(wide), begin("a"), deliver("a"), begin("b", 1, 1), deliver("b"));
    expect(next(run)).toEqual(["verify a", "verify b"]);
  });

  it("checks no more than jobs at once after a resume with fewer", () => {
    const run = after(started(wide), begin("a"), deliver("a"), begin("b", 1, 1), deliver("b"));
    expect(next(after(run, resumed), { jobs: 1 })).toEqual(["verify a"]);
  });

  it("never lets two share a slot, whatever slots they had", () => {
    const run = after(started(wide), begin("a"), deliver("a"), begin("b"), deliver("b"));
    const slots = nextMoves(run, limits, []).map((move) => ("slot" in move ? move.slot : -1));
    expect(new Set(slots).size).toBe(2);
  });
});

describe("what was delivered is verified, what was verified lands", () => {
  it("works on what was begun", () => {
    expect(next(after(started({ a: [] }), begin("a")))).toEqual(["work a"]);
  });

  it("does one thing about a phase at a time", () => {
    const run = after(started({ a: [] }), begin("a"));
    expect(next(run, {}, [busyWith("work", "a")])).toEqual([]);
  });

  it("lands one phase at a time", () => {
    const both = [begin("a"), deliver("a"), begin("b", 1, 1), deliver("b")];
    const run = after(started({ a: [], b: [] }), ...both, verify("a", "c0"), verify("b", "c0"));
    expect(next(run)).toEqual(["land a"]);
    expect(next(run, {}, [busyWith("land", "a")])).toEqual([]);
  });

  it("tries a failed attempt again with a new number", () => {
    const run = after(started({ a: [] }), begin("a"), failing("a", "test_failure"));
    expect(nextMoves(run, limits, [])).toEqual([{ do: "begin", phase: "a", attempt: 2, slot: 0 }]);
  });
});

describe("publishing", () => {
  const chain = { a: [], b: ["a"] };
  const bothLanded = [...landing("a", "c0"), ...landing("b", "a on c0")];

  it("follows the order of landing", () => {
    const run = after(started({ a: [], b: [] }), ...landing("b", "c0"), ...landing("a", "b on c0"));
    expect(next(run)).toEqual(["publish b"]);
    expect(next(after(run, published("b", "b on c0")))).toEqual(["publish a"]);
  });

  it("is one at a time", () => {
    const run = after(started(chain), ...bothLanded);
    expect(next(run, {}, [{ do: "publish", phase: "a" }])).toEqual([]);
  });

  it("never holds up a phase", () => {
    const run = after(started(chain), ...landing("a", "c0"));
    expect(next(run, {}, [{ do: "publish", phase: "a" }])).toEqual(["begin b"]);
    expect(next(run, {}, [], ["publishing"])).toEqual(["begin b"]);
  });

  it("in message-only mode is phase by phase too", () => {
    const run = after(started(chain, "message-only"), ...landing("a", "c0"));
    expect(next(run)).toEqual(["begin b", "publish a"]);
  });

  it("in single mode comes once, at the very end", () => {
    const run = after(started(chain, "single"), ...landing("a", "c0"));
    expect(next(run)).toEqual(["begin b"]);
    const landed = after(run, ...landing("b", "a on c0"));
    expect(next(landed)).toEqual(["publish-run"]);
    const done = after(landed, { type: "run-published", commit: "squash", kept: [] });
    expect(next(done)).toEqual(["end complete"]);
  });

  it("in single mode does not come while a phase has failed", () => {
    const run = after(started({ a: [], b: [] }, "single"), ...landing("a", "c0"));
    const lost = after(run, begin("b"), failing("b", "plan_invalid"));
    expect(next(lost)).toEqual(["end halted"]);
  });
});

describe("a review", () => {
  const chain = { a: [], b: ["a"] };
  const review = { review: true };

  it("comes when nothing else can be done", () => {
    const run = after(started(chain), ...landing("a", "c0"));
    expect(next(run, review)).toEqual(["begin b"]);
    expect(next(after(run, ...landing("b", "a on c0")), review)).toEqual(["review"]);
  });

  it("does not come of a part, when the run is to begin nothing more", () => {
    const part = after(started(chain), ...landing("a", "c0"));
    expect(next(part, { ...review, finishing: true })).toEqual(["end stopped"]);
  });

  it("does not come while somebody is at work", () => {
    const run = after(started(chain), ...landing("a", "c0"), begin("b"));
    expect(next(run, review, [busyWith("work", "b")])).toEqual([]);
  });

  it("lets what it passed be published", () => {
    const run = after(started({ a: [] }), ...landing("a", "c0"));
    const passed = after(run, { type: "review-passed", commit: "a on c0" });
    expect(next(passed, review)).toEqual(["publish a"]);
  });

  it("is asked for again when something has landed since", () => {
    const run = after(started(chain), ...landing("a", "c0"), {
      type: "review-passed",
      commit: "a on c0",
    });
    expect(next(after(run, ...landing("b", "a on c0")), review)).toEqual(["review"]);
  });

  it("that nobody answers ends the run as asking, with nothing published", () => {
    const run = after(started({ a: [] }), ...landing("a", "c0"));
    expect(next(run, review, [], ["publishing"])).toEqual(["end asking"]);
  });
});

describe("a move that waits for a person", () => {
  it("is withheld while everything else goes on", () => {
    expect(next(started({ a: [], b: [], c: ["a"] }), {}, [], ["phase a"])).toEqual(["begin b"]);
  });

  it("holds no place", () => {
    expect(next(started({ a: [], b: [] }), { jobs: 1 }, [], ["phase a"])).toEqual(["begin b"]);
  });

  it("ends the run as asking once nothing else is left", () => {
    expect(next(started({ a: [] }), {}, [], ["phase a"])).toEqual(["end asking"]);
  });
});

describe("deaths in a row", () => {
  const deaths = (times: number): RunEvent[] =>
    Array.from({ length: times }, (_, index) => [begin("a", index + 1), resumed]).flat();

  it("are followed by a new attempt with a new number", () => {
    const run = after(started({ a: [] }), ...deaths(mostInterruptions - 1));
    const attempt = mostInterruptions;
    expect(nextMoves(run, limits, [])).toEqual([{ do: "begin", phase: "a", attempt, slot: 0 }]);
  });

  it("become a question once there are too many", () => {
    const run = after(started({ a: [], b: [] }), ...deaths(mostInterruptions));
    expect(next(run)).toEqual(["ask-again a", "begin b"]);
  });

  it("are forgotten when a person says: again", () => {
    const run = after(started({ a: [] }), ...deaths(mostInterruptions), {
      type: "phase-reset",
      phase: "a",
      reason: "again",
    });
    expect(next(run)).toEqual(["begin a"]);
  });

  it("end with the phase failed when a person gives it up", () => {
    const run = after(started({ a: [], b: ["a"] }), ...deaths(mostInterruptions), {
      type: "attempt-failed",
      phase: "a",
      attempt: mostInterruptions,
      error: { type: "interrupted", message: "given up" },
    });
    expect(next(run)).toEqual(["end halted"]);
  });
});

describe("a usage limit", () => {
  it("is waited for while a place is free", () => {
    const run = after(started({ a: [], b: [] }), ...parked("a", one));
    expect(next(run)).toEqual(["begin b", `wait ${one}`]);
  });

  it("is waited for beside others at work, so that nobody sleeps past it", () => {
    const run = after(started({ a: [], b: [] }), begin("b", 1, 1), ...parked("a", one));
    expect(next(run, {}, [busyWith("work", "b", 1)])).toEqual([`wait ${one}`]);
  });

  it("is waited for once", () => {
    const run = after(started({ a: [] }), ...parked("a", one));
    expect(next(run, {}, [{ do: "wait", until: one }])).toEqual([]);
  });

  it("is waited for anew when another one passes earlier", () => {
    const run = after(started({ a: [], b: [] }), ...parked("a", two), ...parked("b", one));
    expect(next(run, {}, [{ do: "wait", until: two }])).toEqual([`wait ${one}`]);
  });

  it("is over when its time has come", () => {
    const run = after(started({ a: [] }), ...parked("a", one));
    expect(next(run, { now: one })).toEqual(["begin a"]);
  });

  it("ends the run as parked, until the earliest of them, if nobody wants to wait", () => {
    const run = after(started({ a: [], b: [] }), ...parked("a", two), ...parked("b", one));
    expect(nextMoves(run, { ...limits, wait: false }, [])).toEqual([
      { do: "end", how: "parked", until: one },
    ]);
  });

  it("does not end the run before everything else is done", () => {
    const run = after(started({ a: [], b: [] }), ...parked("a", one));
    expect(next(run, { wait: false })).toEqual(["begin b"]);
  });

  it("of a phase that a person has to answer about first is not waited for", () => {
    const run = after(started({ a: [], b: [] }), ...parked("a", one), ...parked("b", two));
    expect(next(run, {}, [], ["phase a"])).toEqual([`wait ${two}`]);
    expect(next(run, {}, [], ["phase a", "phase b"])).toEqual(["end asking"]);
    expect(next(run, {}, [], ["budget"])).toEqual(["end asking"]);
  });

  it("is not waited for while nobody has answered about the gates", () => {
    const gates = [{ name: "test", command: "true" }];
    const unseen = after(started({ a: [] }), ...parked("a", one), { type: "run-resumed", gates });
    expect(next(unseen, {}, [], ["baseline"])).toEqual(["end asking"]);
    expect(next(unseen, { wait: false }, [], ["baseline"])).toEqual(["end asking"]);
  });

  it("of a phase that was not chosen is nobody's business", () => {
    const run = after(started({ a: [], b: [] }), ...parked("a", one), ...landing("b", "c0"));
    const done = after(run, published("b", "b on c0"));
    const only = new Set(["b"]);
    expect(next(done, { only })).toEqual(["end stopped"]);
    expect(next(done, { only, wait: false })).toEqual(["end stopped"]);
  });
});

describe("--only", () => {
  const wide = { a: [], b: [], c: ["b"] };

  it("does nothing about the others", () => {
    expect(next(started(wide), { only: new Set(["b"]) })).toEqual(["begin b"]);
  });

  it("ends as stopped when the chosen ones are complete and others are not", () => {
    const run = after(started(wide), ...landing("b", "c0"), published("b", "b on c0"));
    expect(next(run, { only: new Set(["b"]) })).toEqual(["end stopped"]);
  });

  it("ends as complete when that was all there was to do", () => {
    const run = after(started({ a: [] }), ...landing("a", "c0"), published("a", "a on c0"));
    expect(next(run, { only: new Set(["a"]) })).toEqual(["end complete"]);
  });

  it("ends as halted when a chosen one has failed", () => {
    const run = after(started(wide), begin("b"), failing("b", "plan_invalid"));
    expect(next(run, { only: new Set(["b", "c"]) })).toEqual(["end halted"]);
  });

  it("goes on with what was begun before, chosen or not", () => {
    const run = after(started(wide), begin("a"), deliver("a"), resumed);
    expect(next(run, { only: new Set(["b"]) })).toEqual(["verify a", "begin b"]);
  });

  it("lands again what somebody's commits have undone, chosen or not", () => {
    const run = after(started(wide), ...landing("b", "c0"), {
      type: "target-moved",
      commit: "theirs",
      undone: ["b"],
    });
    expect(next(after(run, seen("theirs")), { only: new Set(["c"]) })).toEqual(["verify b"]);
  });
});

describe("the baseline", () => {
  it("comes before everything else, alone", () => {
    const run = startedUnseen({ a: [], b: [] });
    expect(next(run)).toEqual(["baseline"]);
    expect(next(run, {}, [{ do: "baseline" }])).toEqual([]);
    expect(next(after(run, seen("c0")))).toEqual(["begin a", "begin b"]);
  });

  it("is not taken for a run in which nothing is left to do", () => {
    const run = after(startedUnseen({ a: [] }), ...landing("a", "c0"), published("a", "a on c0"));
    expect(next(run)).toEqual(["end complete"]);
    expect(next(startedUnseen({ a: [], b: ["a"] }), { only: new Set() })).toEqual(["end stopped"]);
  });

  it("counts only for what it was taken on", () => {
    expect(next(after(startedUnseen({ a: [] }), seen("another")))).toEqual(["baseline"]);
    const gates = [{ name: "test", command: "true" }];
    const judgedAnew: RunEvent = { type: "run-resumed", gates };
    expect(next(after(started({ a: [] }), judgedAnew))).toEqual(["baseline"]);
    expect(next(after(started({ a: [] }), resumed))).toEqual(["begin a"]);
  });

  it("is withheld while a person is asked about it", () => {
    const withheld = new Set(["baseline"]);
    expect(said(nextMoves(startedUnseen({ a: [] }), limits, [], withheld))).toEqual(["end asking"]);
  });
});

describe("finishing", () => {
  const finishing = { finishing: true };

  it("carries what was begun to its end, and begins nothing", () => {
    const begun = after(started({ a: [], b: [] }), begin("a"));
    expect(next(begun, finishing)).toEqual(["work a"]);
    const delivered = after(begun, deliver("a"));
    expect(next(delivered, finishing)).toEqual(["verify a"]);
    const landed = after(started({ a: [], b: [] }), ...landing("a", "c0"));
    expect(next(landed, finishing)).toEqual(["publish a"]);
  });

  it("tries nothing again, waits for no limit, and ends as stopped", () => {
    const failed = after(started({ a: [] }), begin("a"), failing("a", "test_failure"));
    expect(next(failed, finishing)).toEqual(["end stopped"]);
    const waiting = after(started({ a: [] }), ...parked("a", two));
    expect(next(waiting, finishing)).not.toContain(`wait ${two}`);
  });

  it("of a run that is whole is its completion", () => {
    const run = after(started({ a: [] }), ...landing("a", "c0"), published("a", "a on c0"));
    expect(next(run, finishing)).toEqual(["end complete"]);
  });
});

describe("stopping", () => {
  const stopping = { stopping: true };

  it("begins nothing new and waits for what is under way", () => {
    const run = after(started({ a: [], b: [] }), begin("a"));
    expect(next(run, stopping, [busyWith("work", "a")])).toEqual([]);
  });

  it("ends as interrupted once nothing is under way", () => {
    expect(next(started({ a: [] }), stopping)).toEqual(["end interrupted"]);
  });

  it("ends as complete when everything is", () => {
    const run = after(started({ a: [] }), ...landing("a", "c0"), published("a", "a on c0"));
    expect(next(run, stopping)).toEqual(["end complete"]);
  });

  it("ends as interrupted when only publishing is left", () => {
    const run = after(started({ a: [] }), ...landing("a", "c0"));
    expect(next(run, stopping)).toEqual(["end interrupted"]);
  });
});

describe("a phase that fails for good", () => {
  it("holds up what depends on it and nothing else", () => {
    const run = after(
      started({ a: [], b: ["a"], c: [], d: ["c"] }),
      begin("a"),
      failing("a", "plan_invalid"),
      ...landing("c", "c0"),
    );
    expect(next(run)).toEqual(["begin d", "publish c"]);
  });

  it("halts the run when nothing is left that can run", () => {
    const run = after(started({ a: [], b: ["a"] }), begin("a"), failing("a", "plan_invalid"));
    expect(next(run)).toEqual(["end halted"]);
  });

  it("is tried anew in the next session", () => {
    const run = after(started({ a: [] }), begin("a"), failing("a", "plan_invalid"), resumed);
    expect(nextMoves(run, limits, [])).toEqual([{ do: "begin", phase: "a", attempt: 2, slot: 0 }]);
  });
});

describe("when somebody's commits came first", () => {
  const chain = { a: [], b: ["a"] };
  const moved: RunEvent[] = [
    { type: "target-moved", commit: "theirs", undone: ["a"] },
    seen("theirs"),
  ];

  it("verifies what had landed unpublished again", () => {
    expect(next(after(started({ a: [] }), ...landing("a", "c0"), ...moved))).toEqual(["verify a"]);
  });

  it("does not begin what depends on it before it has landed again", () => {
    const run = after(started(chain), ...landing("a", "c0"), ...moved);
    expect(next(run)).toEqual(["verify a"]);
    const again = after(run, verify("a", "theirs"), {
      type: "phase-landed",
      phase: "a",
      attempt: 1,
      commit: "a on theirs",
    });
    expect(next(again)).toEqual(["begin b", "publish a"]);
  });

  it("does not verify or land a dependant before it has landed again", () => {
    const delivered = after(started(chain), ...landing("a", "c0"), begin("b"), deliver("b"));
    expect(next(after(delivered, ...moved))).toEqual(["verify a"]);
    const verified = after(delivered, verify("b", "a on c0"), ...moved);
    expect(next(verified)).toEqual(["verify a"]);
  });

  it("gives the place of a waiting dependant to what it waits for", () => {
    const run = after(started(chain), ...landing("a", "c0"), begin("b"), deliver("b"), ...moved);
    const red = after(run, failing("a", "test_failure"));
    expect(next(red, { jobs: 1 })).toEqual(["begin a"]);
  });
});

describe("the end", () => {
  it("is complete only when everything is complete and published", () => {
    const run = after(started({ a: [] }), ...landing("a", "c0"));
    expect(next(run)).toEqual(["publish a"]);
    expect(next(after(run, published("a", "a on c0")))).toEqual(["end complete"]);
  });

  it("of a plan where all was done before is complete at once", () => {
    const run = after(started({ a: [] }), { type: "phase-skipped", phase: "a", reason: "done" });
    expect(next(run)).toEqual(["end complete"]);
  });

  it("does not come while anything is under way", () => {
    const run = after(started({ a: [] }), ...landing("a", "c0"));
    expect(next(run, {}, [{ do: "publish", phase: "a" }])).toEqual([]);
  });
});
