import { describe, expect, it } from "vitest";
import { heardSubStep } from "./reported.ts";
import type { SkillPhase } from "./skill.ts";
import { awaitingInvocation, type SubStep } from "./state.ts";

const phases: SkillPhase[] = ["gather", "write", "check"].map((name) => ({
  name,
  reads: [],
  break: false,
}));
const unknown: SkillPhase[] = [];

function heard(
  said: readonly (readonly [number, string, string?])[],
  known: SkillPhase[],
): string[] {
  let last: SubStep = awaitingInvocation;
  return said.flatMap(([number, name, detail = ""]) => {
    const next = heardSubStep({ number, name, detail }, last, known);
    if (!next) return [];
    last = next;
    return [`${next.phase} ${next.name}${next.detail === "" ? "" : `: ${next.detail}`}`];
  });
}

describe("a sub-step that a skill reports", () => {
  it("is numbered from 1 on, in steps of one, by its place among the skill's phases", () => {
    const said = [
      [1, "gather"],
      [2, "write"],
      [3, "check"],
    ] as const;
    expect(heard(said, phases)).toEqual(["1 gather", "2 write", "3 check"]);
    expect(heard([[7, "write"]], phases)).toEqual(["2 write"]);
  });

  it("takes the next whole number where the skill has half-steps, and so do those behind it", () => {
    const said = [
      [4, "four"],
      [4.5, "between"],
      [5, "five"],
      [6, "six"],
    ] as const;
    expect(heard(said, unknown)).toEqual(["4 four", "5 between", "6 five", "7 six"]);
  });

  it("has the skill's own number and name where we know none of its phases", () => {
    expect(heard([[7, "batch-loop", "batch 2 of ~4"]], unknown)).toEqual([
      "7 batch-loop: batch 2 of ~4",
    ]);
  });

  it("has its name in kebab-case", () => {
    expect(heard([[1, "Component Decomposition & Risks"]], unknown)).toEqual([
      "1 component-decomposition-risks",
    ]);
  });

  it("may change its detail alone, and is no news without that", () => {
    const said = [
      [1, "batch-loop", "batch 1"],
      [1, "batch-loop", "batch 1"],
      [1, "batch-loop", "batch 2"],
      [1, "batch-loop"],
    ] as const;
    expect(heard(said, unknown)).toEqual([
      "1 batch-loop: batch 1",
      "1 batch-loop: batch 2",
      "1 batch-loop",
    ]);
  });

  it("never goes back", () => {
    const said = [
      [3, "check"],
      [1, "gather"],
    ] as const;
    expect(heard(said, phases)).toEqual(["3 check"]);
    expect(heard(said, unknown)).toEqual(["3 check"]);
  });

  it("is never the one that has not begun: that name and number 0 are reserved", () => {
    expect(heard([[1, "awaiting-invocation"]], unknown)).toEqual([]);
    expect(heard([[0, "gather"]], unknown)).toEqual([]);
  });
});
