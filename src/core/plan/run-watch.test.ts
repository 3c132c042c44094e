import { describe, expect, it } from "vitest";
import { begin, resumed, used } from "../../../test/run-story.ts";
import { failed, watchedRun } from "../../../test/watched-run.ts";
import { unwatched, watchEvents } from "./run-watch.ts";

const two = [{ id: "a" }, { id: "b", dependsOn: ["a"] }];
const second = 1000;

describe("the time of a phase", () => {
  it("is what all its attempts took, without the waits between them", () => {
    const story = watchedRun(two).at(10, begin("a")).at(25, failed("a"));
    story.lands("a", 100, 130, 2);
    expect(story.watch().times.get("a")?.took).toBe(45 * second);
  });

  it("does not hold the night between two sessions", () => {
    const story = watchedRun(two)
      .at(10, begin("a"))
      .at(20, begin("b", 1, 1))
      .at(3600, resumed);
    // Killed: nothing was heard after second 20.
    expect(story.watch().times.get("a")).toEqual({ spent: 10 * second });
    story.lands("a", 3601, 3606, 2);
    expect(story.watch().times.get("a")?.took).toBe(15 * second);
    expect(story.view(3610).elapsed).toBe((20 + 10) * second);
  });

  it("stops with the session", () => {
    const story = watchedRun(two)
      .at(5, begin("a"))
      .at(9, { type: "run-ended", how: "interrupted" });
    expect(story.watch().times.get("a")).toEqual({ spent: 4 * second });
    expect(story.view(5000).elapsed).toBe(9 * second);
    story.at(6000, resumed);
    expect(story.view(6001).elapsed).toBe(10 * second);
  });
});

describe("whoever joins later", () => {
  it("arrives at the same times from the journal alone", () => {
    const story = watchedRun(two).at(1, begin("a")).at(4, failed("a"));
    story.lands("a", 5, 9, 2).at(10, begin("b", 1, 1));
    expect(watchEvents(unwatched, story.history())).toEqual(story.watch());
  });

  it("is given everything so far when a session opens, and how many work at once", () => {
    const story = watchedRun(two).lands("a", 1, 9);
    const later = watchedRun(two).news({ opened: { history: story.history(), jobs: 4 } });
    expect(later.watch()).toEqual({ ...story.watch(), jobs: 4 });
  });

  it("sees how many have worked at once, if nobody says", () => {
    expect(
      watchedRun(two)
        .at(1, begin("a", 1, 2))
        .watch().jobs,
    ).toBe(3);
  });
});

describe("what is said", () => {
  it("is the last line, until the phase goes on to something else", () => {
    const story = watchedRun(two)
      .at(1, begin("a"))
      .news({ phase: "a", text: "one" }, { phase: "a", text: "two" }, { phase: "a", text: "  " });
    expect(story.watch().activities).toEqual({ a: { line: "two" } });
    story.at(2, failed("a"));
    expect(story.watch().activities).toEqual({});
  });

  it("keeps the gate that prints it", () => {
    const story = watchedRun(two)
      .at(1, begin("a"))
      .news({ phase: "a", gate: "lint", command: "npm run lint" }, { phase: "a", text: "fine" });
    expect(story.watch().activities).toEqual({ a: { gate: "lint", line: "fine" } });
  });

  it("is added up where it is money", () => {
    const story = watchedRun(two)
      .at(1, begin("a"))
      .at(1, used("a", 1000), used("a", 500, 0.25), used("b", Number.NaN, -3));
    expect(story.watch().spend).toEqual({
      a: { tokens: 1500, cost: 0.25 },
      b: { tokens: 0, cost: 0 },
    });
    expect(story.view(1).spend).toEqual({ tokens: 1500, cost: 0.25 });
  });

  it("names the questions that stand open", () => {
    const decision = {
      id: "d-0123456789ab",
      kind: "dirty",
      subject: "r0123456789",
      cycle: 1,
      cause: "x",
      question: "keep it?",
      options: [
        { key: "A", text: "yes" },
        { key: "B", text: "no" },
      ],
      recommendation: "A",
      reason: "x",
      blocks: "publishing",
      askedAt: "2026-01-01T12:00:00.000Z",
    };
    const place = { seq: 9, at: "2026-01-01T12:00:01.000Z", run: "r0123456789" };
    const asked = watchEvents(unwatched, [{ type: "decision-asked", decision, ...place }]);
    expect(asked.asking).toEqual([
      { id: "d-0123456789ab", question: "keep it?", recommendation: "A" },
    ]);
    const answered = {
      type: "decision-answered",
      id: "d-0123456789ab",
      key: "A",
      by: "x",
    } as const;
    expect(watchEvents(asked, [{ ...answered, ...place }]).asking).toEqual([]);
  });
});
