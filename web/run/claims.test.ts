import { describe, expect, it } from "vitest";
import type { AttemptStory } from "../../src/core/board/attempt-story.ts";
import { claimsAgainstFacts } from "./claims.ts";

const gate = (name: string, passed: boolean | null) => ({
  name,
  command: "x",
  passed,
  summary: "",
});
const none = { created: [], modified: [], deleted: [] };

const story = (more: Partial<AttemptStory>): AttemptStory => ({
  phase: "a",
  attempt: 1,
  base: "c0",
  slot: 0,
  agent: "mine",
  startedAt: "2026-01-01T12:00:00.000Z",
  how: "landed",
  lines: [],
  tokens: 0,
  ...more,
});
const claim = {
  status: "complete",
  tasksTotal: 3,
  tasksCompleted: 3,
  message: "all done",
} as const;
const told = (of: AttemptStory) =>
  claimsAgainstFacts(of).map(({ what, claimed, found, holds }) => [what, claimed, found, holds]);

describe("claims against facts", () => {
  it("hold where we found the same", () => {
    const files = { ...none, created: ["a.ts"] };
    expect(
      told(
        story({
          verifiedAt: "x",
          claim: { ...claim, gates: { test: true }, files },
          gates: [gate("test", true)],
          files,
        }),
      ),
    ).toEqual([
      ["Status", "complete", "verified", true],
      ["Tasks", "3 of 3", "none left open", true],
      ["Gate test", "passed", "passed", true],
      ["Files created", "1", "1", true],
    ]);
  });

  it("differ where the agent said more than there was", () => {
    const rows = told(
      story({
        how: "failed",
        error: { type: "test_failure", message: "red" },
        claim: {
          ...claim,
          tasksCompleted: 2,
          gates: { test: true },
          files: { ...none, created: ["a.ts"] },
        },
        gates: [gate("test", false), gate("lint", null)],
        findings: [{ code: "file-missing", level: "error", message: "not there", file: "a.ts" }],
      }),
    );
    expect(rows).toEqual([
      ["Status", "complete", "not verified", false],
      ["Tasks", "2 of 3", "1 left open, by its own word", false],
      ["Gate test", "passed", "failed", false],
      ["Gate lint", "–", "skipped", null],
      ["Files created", "1", "not so: a.ts", false],
    ]);
  });

  it("are not judged before anybody has looked", () => {
    expect(told(story({ how: "delivered", claim }))[0]).toEqual([
      "Status",
      "complete",
      "not checked yet",
      null,
    ]);
    expect(claimsAgainstFacts(story({ how: "working" }))).toEqual([]);
  });
});
