import { describe, expect, it } from "vitest";
import { evolveStories, type Stories } from "../../src/core/board/attempt-story.ts";
import { begin, deliver, parked, resumed } from "../../test/run-story.ts";
import { failed, moment, watchedRun } from "../../test/watched-run.ts";
import { type Bar, rangeOf, rowsOf, sessionRows, shareOf } from "./gantt-rows.ts";

const start = Date.parse(moment(0));
const plan = [{ id: "b", dependsOn: ["a"] }, { id: "a" }, { id: "c" }];
type Story = ReturnType<typeof watchedRun>;

const rows = (story: Story, seconds: number) =>
  rowsOf(
    story.run(),
    story.history().reduce<Stories>((known, event) => evolveStories(known, event, "mine"), []),
    start + seconds * 1000,
  );
const told = (bars: readonly Bar[] = []): string[] =>
  bars.map(
    ({ is, from, to, open }) =>
      `${is} ${(from - start) / 1000}-${(to - start) / 1000}${open ? " on" : ""}`,
  );

describe("the line of time", () => {
  it("has a row for each phase that was begun, by batch", () => {
    const story = watchedRun(plan).lands("a", 1, 5).at(6, begin("b"));
    expect(rows(story, 9).map(({ label, bars }) => [label, told(bars)])).toEqual([
      ["A", ["working 1-5"]],
      ["B", ["working 6-9 on"]],
    ]);
  });

  it("shows what was checked after it was worked on, and how that ended", () => {
    const story = watchedRun(plan)
      .at(1, begin("a"))
      .at(4, deliver("a"))
      .at(6, failed("a"))
      .at(8, begin("a", 2))
      .at(9, deliver("a", 2));
    expect(told(rows(story, 12)[0]?.bars)).toEqual([
      "working 1-4",
      "failed 4-6",
      "waiting 6-8",
      "working 8-9",
      "checking 9-12 on",
    ]);
  });

  it("shows a park until it is over, or until somebody went on", () => {
    const [beginning, park] = parked("a", moment(60));
    const story = watchedRun(plan).at(1, ...(beginning ? [beginning] : []));
    story.at(3, ...(park ? [park] : []));
    expect(told(rows(story, 10)[0]?.bars)).toEqual(["working 1-3", "parked 3-60"]);
    story.at(20, begin("a", 2));
    expect(told(rows(story, 25)[0]?.bars)).toEqual([
      "working 1-3",
      "parked 3-20",
      "working 20-25 on",
    ]);
  });

  it("shows that somebody was interrupted", () => {
    const story = watchedRun(plan).at(1, begin("a")).at(9, resumed);
    expect(rows(story, 20)[0]?.bars[0]).toMatchObject({
      is: "interrupted",
      note: "autodev was killed",
    });
  });

  it("reaches from the first bar to the last, with a little room", () => {
    const story = watchedRun(plan).at(10, begin("a"));
    const { from, to } = rangeOf(rows(story, 110), start + 110_000);
    expect([(from - start) / 1000, (to - start) / 1000]).toEqual([10, 112]);
    expect(rangeOf([], 100_000)).toEqual({ from: 40_000, to: 100_000 });
  });

  it("cuts bars at the edges of what is shown", () => {
    const bar = { from: 0, to: 100 } as Bar;
    expect(shareOf(bar, { from: 50, to: 150 })).toEqual({ left: 0, width: 0.5 });
    expect(shareOf(bar, { from: 200, to: 300 })).toBeUndefined();
  });

  it("has the sessions of skills by step; one that has no end and is not the last died", () => {
    const session = (number: number, more: object) => ({
      session: number,
      step: "2",
      cycle: 1,
      skill: "research",
      agent: "mine",
      startedAt: moment(number * 10),
      ...more,
    });
    const [row] = sessionRows(
      [session(1, {}), session(2, { how: "stuck", endedAt: moment(25) }), session(3, {})],
      start + 40_000,
    );
    expect(told(row?.bars)).toEqual(["working 10-10", "failed 20-25", "working 30-40 on"]);
  });
});
