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
  expect(isLeftAlone(run, true, now)).toBe(false);
  expect(isLeftAlone(run, false, now)).toBe(true);
  expect(timeIn(run, true, board, now)).toBe(now);
  expect(timeIn(run, false, board, now)).toBe(Date.parse(moment(9)));
  expect(goOn(run)).toBe(`autodev build ${run.plan}`);
  expect(isLeftAlone({ ...run, ended: "halted" }, false, now)).toBe(false);
});

it("one that somebody came to work on is not, as long as it is his", () => {
  const puller = { by: "claude", root: "/x", holder: "h", host: "h", pid: 1, started: 0 };
  const lease = { ...puller, epoch: 1, until: moment(600) };
  const run = watchedRun([{ id: "a" }])
    .at(1, begin("a", 1))
    .at(2, { type: "attempt-leased", phase: "a", attempt: 1, lease })
    .run();
  expect(isLeftAlone(run, false, now)).toBe(false);
  expect(isLeftAlone(run, false, Date.parse(moment(601)))).toBe(true);
});
