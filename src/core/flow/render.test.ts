import { describe, expect, it } from "vitest";
import { renderStateFile } from "./render.ts";
import { type FlowState, flowStateAt } from "./state.ts";

const state: FlowState = flowStateAt({
  flow: "existing-code",
  step: "10",
  name: "Implement",
  status: "in_progress",
  subStep: { phase: 7, name: "batch-loop", detail: "batch 2 of ~4" },
  retryCount: 0,
  cycle: 3,
});

const rendered = (base: string | undefined, next: FlowState): string => {
  const result = renderStateFile(base, next);
  if (!result.ok) throw new Error(result.failure.message);
  return result.value;
};

const headings = (text: string): string[] => text.match(/^## .+$/gm) ?? [];

describe("the state file as we write it", () => {
  it("is generation 3, to the letter", () => {
    expect(rendered(undefined, state)).toBe(`# Autodev State

## Current Step
flow: existing-code
step: 10
name: Implement
status: in_progress
sub_step:
  phase: 7
  name: batch-loop
  detail: "batch 2 of ~4"
retry_count: 0
cycle: 3
`);
  });

  it("changes one line for one value", () => {
    const base = rendered(undefined, state);
    const next = rendered(base, { ...state, retryCount: 1 });
    const changed = next.split("\n").filter((line, at) => line !== base.split("\n")[at]);
    expect(changed).toEqual(["retry_count: 1"]);
  });

  it("leaves no cycle that another flow's file was not meant to have", () => {
    const byHand = rendered(undefined, {
      ...state,
      flow: "greenfield",
      step: "done",
      name: "Done",
    });
    expect(byHand).toContain("cycle: 3");
    const next = rendered(byHand, { ...state, step: "9", name: "New Task", cycle: 1 });
    expect(next).toContain("cycle: 1\n");
  });

  it("has its sections in the usual order, whichever came first", () => {
    const full: FlowState = {
      ...state,
      blockers: ["no network"],
      keyDecisions: ["2026-01-01 store → A) files"],
      lastSession: { date: "2026-01-01", endedAt: "Step 10", reason: "user paused", notes: "" },
      retryLog: [
        { attempt: 1, step: "10", name: "Implement", subStep: "7", reason: "a | b", at: "now" },
      ],
    };
    const blocked = rendered(undefined, { ...state, blockers: full.blockers });
    const order = [
      "## Current Step",
      "## Key Decisions",
      "## Last Session",
      "## Retry Log",
      "## Blockers",
    ];
    expect(headings(rendered(undefined, full))).toEqual(order);
    expect(headings(rendered(blocked, full))).toEqual(order);
    expect(rendered(undefined, full)).toContain("| 1 | 10 | Implement | 7 | a \\| b | now |");
  });

  it("keeps an existing file's own order and sections", () => {
    const base = `${rendered(undefined, state)}\n## Blockers\n- none\n\n## Our Notes\nhello\n\n## Key Decisions\n- ours\n`;
    const next = rendered(base, {
      ...state,
      blockers: ["no network"],
      keyDecisions: ["ours", "2026-01-01 new"],
    });
    expect(headings(next)).toEqual([
      "## Current Step",
      "## Blockers",
      "## Our Notes",
      "## Key Decisions",
    ]);
    expect(next).toContain(
      "## Blockers\n- no network\n\n## Our Notes\nhello\n\n## Key Decisions\n- ours\n- 2026-01-01 new\n",
    );
  });

  it("empties the retry log when the step has succeeded", () => {
    const row = {
      attempt: 1,
      step: "10",
      name: "Implement",
      subStep: "7",
      reason: "red",
      at: "now",
    };
    const base = rendered(undefined, { ...state, retryLog: [row] });
    expect(base).toContain("| red |");
    expect(rendered(base, state)).not.toContain("| red |");
  });

  it("stays under thirty lines: older decisions of ours are in the log", () => {
    const keyDecisions = Array.from({ length: 40 }, (_, n) => `2026-01-01 decision ${n}`);
    const text = rendered(undefined, { ...state, keyDecisions });
    const lines = text.trimEnd().split("\n");
    expect(lines.length).toBeLessThan(30);
    expect(text).toContain("- 2026-01-01 decision 39\n");
    const shown = lines.filter((line) => line.startsWith("- 2026")).length;
    expect(lines.at(-1)).toBe(`- (${40 - shown} earlier: autodev log)`);
  });

  it("never drops a decision that a person wrote", () => {
    const theirs = Array.from({ length: 30 }, (_, n) => `- theirs ${n}`).join("\n");
    const base = `${rendered(undefined, state)}\n## Key Decisions\n${theirs}\n`;
    const known = theirs.split("\n").map((line) => line.slice(2));
    const text = rendered(base, { ...state, keyDecisions: [...known, "ours 1", "ours 2"] });
    for (const line of theirs.split("\n")) expect(text).toContain(`${line}\n`);
    expect(text).toContain("- ours 2\n");
  });

  it("lets decisions of ours give way also in a file that was edited by hand", () => {
    const keyDecisions = Array.from({ length: 20 }, (_, n) => `2026-01-01 decision ${n}`);
    const isOurs = (line: string): boolean => line.startsWith("2026-01-01 decision");
    const base = `${rendered(undefined, { ...state, keyDecisions })}- by hand\n`;
    const next = renderStateFile(
      base,
      { ...state, keyDecisions: [...keyDecisions, "by hand", "2026-01-01 decision 20"] },
      { isOurs },
    );
    const lines = next.ok ? next.value.trimEnd().split("\n") : [];
    expect(lines.length).toBeLessThan(30);
    expect(lines).toContain("- by hand");
    expect(lines).toContain("- 2026-01-01 decision 20");
  });

  it("writes an unmigrated file in its own generation", () => {
    const old =
      "# Autopilot State\n\n## Current Step\nstep: 2g\nname: Implement\nstatus: in_progress\nsub_step: 3 — Batch Loop\nretry_count: 0\n";
    const form = { generation: 1, variant: 13 } as const;
    const next = renderStateFile(
      old,
      { ...state, step: "11", name: "Run Tests", cycle: 1 },
      { form },
    );
    expect(next.ok && next.value).toBe(
      "# Autopilot State\n\n## Current Step\nstep: 2h\nname: Run Tests\nstatus: in_progress\nsub_step: 7 — Batch Loop\nretry_count: 0\n",
    );
  });

  it("refuses a step that an older generation has no number for, by its name", () => {
    const result = renderStateFile(
      undefined,
      { ...state, step: "12", name: "Test-Spec Sync" },
      { form: { generation: 2, variant: 13 } },
    );
    expect(result).toMatchObject({ ok: false, failure: { code: "no-such-column" } });
    expect(!result.ok && result.failure.message).toContain("Test-Spec Sync");
  });
});

describe("a state file that tells its whole history", () => {
  const completed = [
    { step: "9", name: "New Task", completed: "2026-01-01", outcome: "2 tasks" },
    { step: "10", name: "Implement", completed: "2026-01-02", outcome: "done" },
  ];

  it("lists the completed steps first, and grows by a row", () => {
    const full = (rows: typeof completed, base?: string): string => {
      const result = renderStateFile(base, { ...state, completed: rows }, { sections: "full" });
      if (!result.ok) throw new Error(result.failure.message);
      return result.value;
    };
    const one = full(completed.slice(0, 1));
    expect(one).toContain(
      "## Completed Steps\n| Step | Name | Completed | Key Outcome |\n|---|---|---|---|\n| 9 | New Task | 2026-01-01 | 2 tasks |\n",
    );
    expect(full(completed, one)).toBe(`${one}| 10 | Implement | 2026-01-02 | done |\n`);
  });
});
