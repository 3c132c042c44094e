import { describe, expect, it } from "vitest";
import type { Decision } from "../../core/decision.ts";
import { type FlowState, flowStateAt } from "../../core/flow/state.ts";
import type { Look } from "../../project.ts";
import type { Style } from "./style.ts";
import { summary } from "./summary.ts";

const same = (text: string): string => text;
const plain: Style = { bold: same, dim: same, red: same, green: same, yellow: same };

const place: FlowState = flowStateAt({
  flow: "existing-code",
  step: "10",
  name: "Implement",
  status: "in_progress",
  subStep: { phase: 7, name: "batch-loop", detail: "batch 2 of ~4" },
  retryCount: 1,
  cycle: 3,
});

const shownOf = (
  state: FlowState,
  decisions: readonly Decision[] = [],
  corrections: readonly string[] = [],
): string => {
  const look: Look = {
    state: { flow: state, decisions: Object.fromEntries(decisions.map((each) => [each.id, each])) },
    head: { seq: 1, hash: "", epoch: 1 } as unknown as Look["head"],
    here: {
      source: "state",
      state,
      generation: 3,
      variant: 13,
      corrections,
      verdict: { is: "as-recorded" },
      bothNames: false,
      files: [],
    },
  };
  return summary(look, "shop", plain);
};

describe("the status summary", () => {
  it("begins with project, flow and cycle between rules", () => {
    expect(shownOf(place).split("\n").slice(0, 3)).toEqual([
      "═".repeat(38),
      " shop · existing-code · cycle 3",
      "═".repeat(38),
    ]);
  });

  it("lists every step: done, skipped, where we are and how far, and to come", () => {
    const text = shownOf({ ...place, skipped: ["8", "14"] });
    expect(text).toContain(" ✓  9 New Task\n");
    expect(text).toContain(" –  8 Refactor (optional)\n");
    expect(text).toContain(
      " ▶ 10 Implement — in progress · 7 batch-loop: batch 2 of ~4 · retry 1 of 3\n",
    );
    expect(text).toContain(" ○ 11 Run Tests\n");
    expect(text).toContain(" – 14 Security Audit (optional)\n");
    expect(text.match(/^ [✓▶○–✗] /gm)).toHaveLength(17);
  });

  it("marks what has failed", () => {
    const text = shownOf({ ...place, status: "failed", retryCount: 3 });
    expect(text).toContain(" ✗ 10 Implement — failed · 7 batch-loop");
  });

  it("says that a flow is done", () => {
    const done = { ...place, flow: "greenfield", step: "done", name: "Done", cycle: 1 };
    expect(shownOf(done)).toContain("\n ✓ done\n");
  });

  it("tells key decisions, the last session and blockers to whoever comes back", () => {
    const text = shownOf({
      ...place,
      keyDecisions: ["2026-01-01 store → A) files"],
      lastSession: {
        date: "2026-01-02",
        endedAt: "Step 9 New Task — SubStep 8 loop",
        reason: "session boundary",
        notes: "New Task complete, implementation ready",
      },
      blockers: ["no network"],
    });
    expect(text).toContain(" Key decisions:\n  - 2026-01-01 store → A) files\n");
    expect(text).toContain(
      " Last session:\n  - 2026-01-02 · Step 9 New Task — SubStep 8 loop · session boundary · New Task complete, implementation ready\n",
    );
    expect(text).toContain(" Blockers:\n  - no network");
  });

  it("says what was put right, and asks what is open, with the command that answers it", () => {
    const open: Decision = {
      kind: "optional-step",
      subject: "existing-code 10",
      cycle: 3,
      cause: "event 1",
      question: "do it?",
      options: [
        { key: "A", text: "Yes" },
        { key: "B", text: "No" },
      ],
      recommendation: "A",
      reason: "it is better",
      blocks: "the flow",
      id: "d-0123456789ab",
      askedAt: "2026-01-01T00:00:00Z",
    };
    const text = shownOf(place, [open], ["the file was edited"]);
    expect(text).toContain(" Noticed:\n  - the file was edited\n");
    expect(text).toContain(" DECISION REQUIRED: do it?\n");
    expect(text).toContain(" autodev decide d-0123456789ab A");
  });
});
