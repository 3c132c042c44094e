import { describe, expect, it } from "vitest";
import { begin } from "../../test/run-story.ts";
import { failed, moment, type PhaseOf, watchedRun } from "../../test/watched-run.ts";
import { criticalIn } from "./critical.ts";
import { attemptWords, countedStages, looksTheSame, spoken, why } from "./phase-words.ts";
import { type SeenPhase, seenPhases } from "./seen-phase.ts";

const plan: PhaseOf[] = [
  { id: "a", estimate: 1 },
  { id: "b", estimate: 5, dependsOn: ["a"] },
  { id: "c", estimate: 2, dependsOn: ["a"] },
  { id: "d", estimate: 1, dependsOn: ["b", "c"] },
];
type Story = ReturnType<typeof watchedRun>;
const now = (seconds: number): number => Date.parse(moment(seconds));
const seenIn = (story: Story, seconds: number, left = false): readonly SeenPhase[] =>
  seenPhases(story.run(), story.view(seconds).phases, now(seconds), left);
const limited = (until: string) =>
  ({
    type: "attempt-parked",
    phase: "a",
    attempt: 1,
    until,
    reason: "limit",
    agent: "mine",
    kind: "usage_limit",
  }) as const;

describe("a phase, as the page shows it,", () => {
  it("is nobody's, once whoever was at work on it is gone: it does not go on looking busy", () => {
    const story = watchedRun(plan).at(1, begin("a", 1));
    expect(seenIn(story, 5)[0]?.stage.is).toBe("working");
    expect(seenIn(story, 5, true).map(({ stage }) => stage.is)).toEqual([
      "held",
      ...Array<string>(3).fill("waiting"),
    ]);
  });

  it("is parked as long as the account of its agent is", () => {
    const story = watchedRun(plan)
      .at(1, begin("a"))
      .at(2, limited(moment(60)));
    expect(seenIn(story, 3)[0]?.stage).toEqual({ is: "parked", until: moment(60) });
    expect(seenIn(story, 61)[0]?.stage.is).toBe("ready");
  });

  it("needs a person when its agent cannot work, and says what is to be done", () => {
    const story = watchedRun(plan).at(1, begin("a")).at(2, {
      type: "attempt-unable",
      phase: "a",
      attempt: 1,
      agent: "mine",
      kind: "auth",
      message: "nobody is logged in",
      hint: "mine login",
    });
    const stage = seenIn(story, 3)[0]?.stage;
    expect(stage).toEqual({ is: "held", message: "mine: nobody is logged in. mine login" });
    expect(stage && why(stage, now(3))).toContain("mine login");
  });

  it("is read out with everything that its colour says", () => {
    const story = watchedRun(plan).at(0, begin("a"));
    const spokenAt = (seconds: number): string =>
      seenIn(story, seconds)
        .slice(0, 1)
        .map((phase) => spoken(phase, true))
        .join("");
    expect(spokenAt(200)).toBe(
      "Phase A Part a, working, attempt 1 of 2, 3 min, on the critical path",
    );
    expect(spokenAt(20)).toContain("less than a minute");
  });

  it("looks the same until a second has passed or something has happened", () => {
    const story = watchedRun(plan).at(0, begin("a"));
    const same = (phase: number, one: number, other: number): boolean =>
      looksTheSame(
        seenIn(story, one)[phase] as SeenPhase,
        seenIn(story, other)[phase] as SeenPhase,
      );
    expect(same(0, 5, 5.4)).toBe(true);
    expect(same(0, 5, 6)).toBe(false);
    expect(same(1, 5, 600)).toBe(true);
  });

  it("tells which attempt only where that is worth a word", () => {
    const story = watchedRun(plan).at(1, begin("a")).at(2, failed("a"));
    expect(seenIn(story, 3).map(attemptWords)).toEqual(["attempt 2 of 2", "", "", ""]);
  });

  it("is counted by its stage, the worst first", () => {
    const story = watchedRun(plan).at(1, begin("a")).at(2, failed("a"));
    expect(countedStages(seenIn(story, 3))).toEqual([
      ["retrying", 1],
      ["waiting", 3],
    ]);
  });

  it("says whom it waits for, and not a hundred of them", () => {
    expect(why({ is: "waiting", for: ["1", "2", "3", "4", "5", "6"] }, 0)).toBe(
      "for 1, 2, 3, 4 and 2 more",
    );
  });
});

describe("the critical path", () => {
  it("is the longest chain of what is left, by estimates", () => {
    expect(criticalIn(watchedRun(plan).run())).toEqual(["a", "b", "d"]);
    expect(criticalIn(watchedRun(plan).lands("a", 0, 5).run())).toEqual(["b", "d"]);
  });

  it("is none where nothing waits for anything", () => {
    expect(criticalIn(watchedRun([{ id: "a" }, { id: "b" }]).run())).toEqual([]);
  });
});
