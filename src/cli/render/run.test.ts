import { describe, expect, it } from "vitest";
import { begin, deliver, used } from "../../../test/run-story.ts";
import { failed, watchedRun } from "../../../test/watched-run.ts";
import { stillAtWork, storyLines, summaryLines } from "./run.ts";
import type { Style } from "./style.ts";

const same = (text: string): string => text;
const plain: Style = { bold: same, dim: same, red: same, green: same, yellow: same };
const three = [{ id: "a" }, { id: "b", dependsOn: ["a"] }, { id: "c" }];

describe("a long silence", () => {
  it("is broken by who is still at work, and for how long", () => {
    const story = watchedRun(three)
      .at(10, begin("a"))
      .at(20, begin("c", 1, 1))
      .at(30, deliver("c"));
    expect(stillAtWork(story.view(250))).toEqual(["still at work: A (4 min), C (3 min 50 s)"]);
  });
  it("is left alone when nobody is", () => {
    expect(stillAtWork(watchedRun(three).view(250))).toEqual([]);
  });
  it("is broken by the gate that runs first of all", () => {
    const story = watchedRun(three).news({ gate: "test", command: "npm test" });
    expect(stillAtWork(story.view(250))).toEqual(["still at the baseline: test"]);
  });
});

const error = { type: "agent_crash", message: "mine ended with 1" } as const;

describe("what is told on the way", () => {
  it("is what a phase took, and why it failed", () => {
    const story = watchedRun(three).lands("a", 0, 12);
    const lines = story
      .history()
      .flatMap((event) => storyLines(event, story.run(), story.watch(), plain));
    expect(lines).toEqual(["✓ A Part a  a000abc  12 s"]);
    story
      .at(13, begin("c"))
      .at(14, failed("c", { error: { ...error, details: "boom: an error\n" } }));
    const last = story.history().slice(-1);
    expect(last.flatMap((event) => storyLines(event, story.run(), story.watch(), plain))).toEqual([
      "✗ C Part c: mine ended with 1 (attempt 1 of 2)",
      "    boom: an error",
    ]);
  });

  it("is whose commits came first, and what that means", () => {
    const lines = (undone: string[]): string[] => {
      const story = watchedRun(three).at(5, { type: "target-moved", commit: "c0ffee0000", undone });
      return story
        .history()
        .slice(-1)
        .flatMap((event) => storyLines(event, story.run(), story.watch(), plain));
    };
    const first = "↻ somebody's commits came first (c0ffee0)";
    expect(lines([])).toEqual([`${first}: the run goes on from there`]);
    expect(lines(["a"])).toEqual([`${first}: a is verified again on top`]);
    expect(lines(["a", "c"])).toEqual([`${first}: a, c are verified again on top`]);
  });
  it("is nothing that a terminal obeys", () => {
    const story = watchedRun([{ id: "a", name: "\u001b[2Jx" }]).at(1, begin("a"));
    story.at(2, failed("a", { error: { ...error, details: "\u001b]0;t\u0007error\rgone" } }));
    const text = story
      .history()
      .flatMap((event) => storyLines(event, story.run(), story.watch(), plain))
      .join("\n");
    expect(text).toBe("✗ A x: mine ended with 1 (attempt 1 of 2)\n    error gone");
  });
});

describe("the summary", () => {
  it("says what landed, what failed, what waits, how long, how much, and what to type next", () => {
    const story = watchedRun(three).lands("c", 0, 70);
    story
      .at(71, begin("a"))
      .at(72, failed("a"))
      .at(73, begin("a", 2))
      .at(75, failed("a", { attempt: 2 }));
    story.at(75, used("a", 2_500_000, 4.2), { type: "run-ended", how: "halted" });
    expect(summaryLines(story.run(), story.view(99), plain)).toEqual([
      "✓ C Part c  c000abc  1 min 10 s",
      "✗ A Part a: test failed: `npm test` ended with 1",
      "    .autobuild/logs/phase-a.log",
      "• B Part b: waits for A",
      "1 of 3 phases complete, 1 min 15 s, 2.5M tokens, $4.20; halted: nothing else can run",
      "1 landed, not published: refs/autobuild/r0123456789/landed",
      "  → see why: autodev log A, autodev diff A, autodev shell A",
      '  → try it again with a word: autodev retry A --note "…"',
      "  → look at it: git log --oneline c0..c000abcde",
      "  → check it again: autodev audit c0..c000abcde",
      "  → mend what is named above, then: autodev build docs/plan.md",
    ]);
  });

  it("is short where very much has landed", () => {
    const many = Array.from({ length: 100 }, (_, at) => ({ id: `p${at}` }));
    const story = watchedRun(many);
    for (const [at, { id }] of many.entries()) story.lands(id, at, at + 1);
    const lines = summaryLines(story.run(), story.view(200), plain);
    expect(lines[0]).toBe("  … 70 more landed before these");
    expect(lines.length).toBeLessThan(40);
  });
});
