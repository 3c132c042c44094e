import { describe, expect, it } from "vitest";
import { type Reading, readPosition } from "./position.ts";
import { knownStatuses } from "./state.ts";
import { parseStateFile } from "./state-file.ts";

function read(block: string, title = "Autodev State"): Reading {
  const parsed = parseStateFile(`# ${title}\n\n## Current Step\n${block}\n`, "state.md");
  if (!parsed.ok) throw new Error(parsed.failure.message);
  return readPosition(parsed.value, "state.md");
}

const third = (more: string): string =>
  `flow: greenfield\nstep: 3\nname: Plan\nstatus: in_progress\nsub_step:\n${more}\nretry_count: 0\ncycle: 1`;

describe("a state file says", () => {
  it("one of five words for its status", () => {
    expect(knownStatuses).toEqual(["not_started", "in_progress", "completed", "skipped", "failed"]);
    for (const status of knownStatuses) {
      const { state, corrections } = read(third("  phase: 0").replace("in_progress", status));
      expect([state.status, corrections]).toEqual([status, []]);
    }
  });

  it.each([
    ["greenfield", "11", true],
    ["greenfield", "12", false],
    ["existing-code", "17", true],
    ["existing-code", "18", false],
    ["meta-repo", "6", true],
    ["meta-repo", "7", false],
    ["greenfield", "0", false],
    ["greenfield", "done", true],
  ])("a step of its flow: %s %s, understood: %s", (flow, step, understood) => {
    const block = `flow: ${flow}\nstep: ${step}\nstatus: not_started\nsub_step:\n  phase: 0\ncycle: 1`;
    expect(read(block).understood).toBe(understood);
  });

  it.each([0, 1, 2, 3])("that it was tried again %s times", (count) => {
    const block = third("  phase: 0").replace("retry_count: 0", `retry_count: ${count}`);
    expect(read(block).state.retryCount).toBe(count);
  });

  it("how far its skill is: a whole number, a name, and a detail that may be empty", () => {
    const { state } = read(third('  phase: 4\n  name: risk-review\n  detail: ""'));
    expect(state.subStep).toEqual({ phase: 4, name: "risk-review", detail: "" });
  });

  it("a sub-step that nobody understands: it is not guessed, and the line is told", () => {
    const { understood, corrections, state } = read(third("  phase: 4.5\n  name: between"));
    expect(understood).toBe(false);
    expect(corrections).toEqual([
      "state.md:8 sub_step is not understood; the folders decide the position",
    ]);
    expect(state.subStep).toEqual({ phase: 0, name: "awaiting-invocation", detail: "" });
  });

  it("which tracker was chosen", () => {
    expect(read(`${third("  phase: 0")}\ntracker: ado`).state.tracker).toBe("ado");
  });
});
