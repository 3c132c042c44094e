import { expect, it } from "vitest";
import { blankBoard } from "../../src/core/board/board.ts";
import { begin } from "../../test/run-story.ts";
import { moment, watchedRun } from "../../test/watched-run.ts";
import { goOn, isLeftAlone, timeIn } from "./left-alone.ts";

const story = watchedRun([{ id: "a" }]).at(1, begin("a", 1));
const board = { ...blankBoard, at: moment(9) };
const now = Date.parse(moment(500));

it("a run without an end is left alone when nobody's session is open, and its time stands still", () => {
  const run = story.run();
  expect(isLeftAlone(run, true)).toBe(false);
  expect(isLeftAlone(run, false)).toBe(true);
  expect(timeIn(run, true, board, now)).toBe(now);
  expect(timeIn(run, false, board, now)).toBe(Date.parse(moment(9)));
  expect(goOn(run)).toBe(`autodev build ${run.plan}`);
  expect(isLeftAlone({ ...run, ended: "halted" }, false)).toBe(false);
});

it("one that somebody came to work on is not, though no session of ours is open", () => {
  const lease = { by: "claude", epoch: 1, until: moment(600), root: "/x", holder: "", host: "" };
  const leased = { type: "attempt-leased", phase: "a", attempt: 1, lease } as const;
  const run = watchedRun([{ id: "a" }])
    .at(1, begin("a", 1))
    .at(2, { ...leased, lease: { ...lease, pid: 1, started: "" } } as never)
    .run();
  expect(isLeftAlone(run, false)).toBe(false);
});
