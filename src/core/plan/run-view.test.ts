import { describe, expect, it } from "vitest";
import { begin, deliver, parked } from "../../../test/run-story.ts";
import { failed, moment, watchedRun } from "../../../test/watched-run.ts";
import type { PhaseView, RunView } from "./run-view.ts";

const second = 1000;
const phaseIn = (view: RunView, id: string): PhaseView => {
  const phase = view.phases.find((each) => each.id === id);
  if (!phase) throw new Error(`there is no phase ${id}`);
  return phase;
};
const stages = (view: RunView): string[] => view.phases.map(({ stage }) => stage.is);

describe("a phase, as it is seen,", () => {
  const plan = [{ id: "a" }, { id: "b", dependsOn: ["a"] }, { id: "c", dependsOn: ["a", "b"] }];

  it("waits for what is not complete, by the names of the plan", () => {
    const view = watchedRun(plan).lands("a", 0, 5).view(6);
    expect(view.phases.map(({ stage }) => stage)).toEqual([
      { is: "complete", commit: "a000abcdef0123", unverified: false },
      { is: "ready" },
      { is: "waiting", for: ["B"] },
    ]);
  });

  it("works, is checked gate by gate, lands", () => {
    const story = watchedRun(plan).at(10, begin("a")).news({ phase: "a", text: "hm" });
    expect(phaseIn(story.view(14), "a")).toMatchObject({
      stage: { is: "working" },
      elapsed: 4 * second,
      activity: "hm",
      attempt: 1,
      of: 2,
    });
    story.at(20, deliver("a"));
    expect(phaseIn(story.view(20), "a").stage).toEqual({ is: "checking" });
    story.news({ phase: "a", gate: "test", command: "npm test" });
    expect(phaseIn(story.view(21), "a")).toMatchObject({
      stage: { is: "checking", gate: "test" },
      activity: "npm test",
      elapsed: 11 * second,
    });
  });

  it("tries again, and has failed when it may not any more; what waits for it is blocked", () => {
    const gates = [
      { name: "test", command: "x", passed: false, summary: "", failures: ["a.js:1 one"] },
    ];
    const story = watchedRun(plan).at(1, begin("a")).at(5, failed("a", { gates }));
    expect(phaseIn(story.view(6), "a")).toMatchObject({ stage: { is: "retrying" }, attempt: 2 });
    story.at(7, begin("a", 2)).at(9, failed("a", { attempt: 2, gates }));
    const view = story.view(10);
    expect(stages(view)).toEqual(["failed", "blocked", "blocked"]);
    expect(phaseIn(view, "a").stage).toMatchObject({ lines: ["a.js:1 one"] });
    expect(phaseIn(view, "c").stage).toEqual({ is: "blocked", by: "A" });
  });

  it("is parked until its limit has passed", () => {
    const story = watchedRun([{ id: "a" }]).at(1, ...parked("a", moment(60)));
    expect(stages(story.view(30))).toEqual(["parked"]);
    expect(stages(story.view(61))).toEqual(["ready"]);
  });

  it("is left out when others were chosen, and skipped when it was done before", () => {
    const story = watchedRun([
      { id: "a", skipped: "complete in the plan" },
      { id: "b" },
      { id: "c" },
    ]);
    const only = new Set(["b"]);
    story.news({ opened: { history: story.history(), jobs: 2, only } });
    expect(stages(story.view(1))).toEqual(["skipped", "ready", "left-out"]);
  });
});

describe("the bar", () => {
  it("weighs phases by their estimates; one without weighs as much as the others do", () => {
    const story = watchedRun([
      { id: "a", estimate: 5 },
      { id: "b", estimate: 1 },
      { id: "c" },
      { id: "d", estimate: 0 },
    ]);
    story.lands("a", 0, 5).at(6, begin("b"));
    expect(story.view(7).bar).toEqual({ complete: 5, active: 1, total: 12 });
    expect(story.view(7)).toMatchObject({ complete: 1, total: 4 });
  });
});

describe("what is left", () => {
  const chain = [
    { id: "a", estimate: 1 },
    { id: "b", estimate: 2, dependsOn: ["a"] },
    { id: "c", estimate: 3, dependsOn: ["b"] },
  ];

  it("is not guessed before anything has landed", () => {
    expect(watchedRun(chain).at(1, begin("a")).view(100).left).toBeUndefined();
  });

  it("goes on as it went: points, and the longest chain", () => {
    const story = watchedRun(chain).lands("a", 0, 10);
    expect(story.view(10).left).toBe(50 * second);
  });

  it("is less by what has been done of it, but never nothing while somebody is at work", () => {
    const story = watchedRun(chain).lands("a", 0, 10).at(10, begin("b"));
    expect(story.view(15).left).toBe(45 * second);
    expect(story.view(1000).left).toBe(32 * second);
  });

  it("counts with as many at once as there are", () => {
    const wide = ["a", "b", "c", "d", "e"].map((id) => ({ id }));
    const story = watchedRun(wide).lands("a", 0, 10);
    expect(story.view(10).left).toBe(40 * second);
    story.news({ opened: { history: story.history(), jobs: 2 } });
    expect(story.view(10).left).toBe(20 * second);
  });

  it("leaves out what is blocked, and waits for who is parked", () => {
    const some = [{ id: "a" }, { id: "b" }, { id: "c", dependsOn: ["b"] }, { id: "d" }];
    const story = watchedRun(some).lands("a", 0, 10);
    story.at(11, begin("b")).at(12, failed("b")).at(13, begin("b", 2));
    story.at(14, failed("b", { attempt: 2 }));
    expect(story.view(14).left).toBe(10 * second);
    story.at(14, ...parked("d", moment(100)));
    expect(story.view(14).left).toBe(96 * second);
  });

  it("is nothing that is said once it has ended", () => {
    const story = watchedRun(chain).lands("a", 0, 10);
    story.at(11, { type: "run-ended", how: "interrupted" });
    expect(story.view(12)).toMatchObject({ ended: "interrupted" });
    expect(story.view(12).left).toBeUndefined();
  });
});
