import { describe, expect, it } from "vitest";
import type { Probe } from "./flow.ts";
import { existingCode } from "./flows/existing-code.ts";
import { greenfield } from "./flows/greenfield.ts";
import { metaRepo } from "./flows/meta-repo.ts";
import { doerOf, loopOf, marksOf, probeInWords, proofOf } from "./in-words.ts";

describe("a probe in words", () => {
  const table: [Probe, string][] = [
    [{ exists: "a.md" }, "a.md"],
    [{ filled: "a.md" }, "a.md, not empty"],
    [{ folder: "a" }, "a file in a/"],
    [{ file: "a.md", says: "^b:" }, "a.md says “^b:”"],
    [{ file: "a.md", says: "x".repeat(99) }, `a.md says “${"x".repeat(48)}…”`],
    [{ dated: "a_*.md" }, "a_*.md, dated in this cycle"],
    [{ reported: "drift" }, "“drift” was reported"],
    [{ no: { exists: "a.md" } }, "no a.md"],
    [
      { all: [{ filled: "a" }, { filled: "b" }, { folder: "c" }] },
      "a and b, not empty; and a file in c/",
    ],
    [{ all: [{ any: [{ exists: "a" }, { exists: "b" }] }, { exists: "c" }] }, "(a or b) and c"],
    [{ no: { any: [{ exists: "a" }, { exists: "b" }] } }, "no (a or b)"],
  ];
  it.each(table)("%j: %s", (probe, words) => {
    expect(probeInWords(probe)).toBe(words);
  });
});

describe("a step in words", () => {
  const step = ({ steps }: typeof greenfield, number: string): (typeof steps)[number] =>
    steps.find((each) => each.step === number) as (typeof steps)[number];
  it("is done by somebody, sometimes, and proved", () => {
    expect(doerOf(step(greenfield, "9"))).toBe("test-run, perf");
    expect(doerOf(step(metaRepo, "2"))).toBe("a person");
    expect(doerOf(step(metaRepo, "6"))).toMatch(/nobody/);
    expect(marksOf(step(greenfield, "4"))).toEqual(["conditional"]);
    expect(marksOf(step(greenfield, "8"))).toEqual(["optional"]);
    expect(proofOf(step(greenfield, "3"))).toMatch(/architecture.*; while under way also .*FINAL/);
    expect(proofOf(step(greenfield, "7"))).toBeUndefined();
  });

  it("may lead back", () => {
    expect(loopOf(existingCode, step(existingCode, "17"))).toBe("9");
    expect(loopOf(metaRepo, step(metaRepo, "6"))).toBe("3");
    expect(loopOf(greenfield, step(greenfield, "11"))).toBeUndefined();
    expect(loopOf(greenfield, step(greenfield, "5"))).toBeUndefined();
  });
});
