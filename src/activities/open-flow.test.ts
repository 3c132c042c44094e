import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Event } from "../core/event.ts";
import { type Held, hold, openFlow, openProject } from "../project.ts";

const nobody = { ask: async () => ({ ok: true, value: undefined }) as const, by: "nobody" };

function makeProject(files: Readonly<Record<string, string>> = {}): string {
  const root = mkdtempSync(join(tmpdir(), "autodev-open-"));
  execFileSync("git", ["init", "-q", root]);
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return root;
}

async function opened(root: string): Promise<{ held: Held; said: readonly string[] }> {
  const project = openProject(root);
  const held = await hold(project, "test");
  if (!held.ok) throw new Error(held.failure.message);
  const open = await openFlow(project, held.value, nobody);
  if (!open.ok) throw new Error(open.failure.message);
  return { held: held.value, said: open.value.said };
}

const stateFile = (root: string): string =>
  readFileSync(join(root, "_docs/_autodev_state.md"), "utf8");

it("the state file is made at the first start, right after the step was found", async () => {
  const root = makeProject();
  expect(existsSync(join(root, "_docs"))).toBe(false);
  const { held, said } = await opened(root);
  expect(said).toEqual(["created _docs/_autodev_state.md: greenfield, step 1 Problem"]);
  expect(stateFile(root)).toBe(`# Autodev State

## Current Step
flow: greenfield
step: 1
name: Problem
status: not_started
sub_step:
  phase: 0
  name: awaiting-invocation
  detail: ""
retry_count: 0
cycle: 1
`);
  await held.release();
});

describe("the state file follows", () => {
  const changes: [what: string, event: Event, line: string][] = [
    [
      "the start of a step",
      { type: "step-started", step: "1", name: "Problem" },
      "status: in_progress",
    ],
    [
      "a sub-step",
      { type: "sub-step-reported", subStep: { phase: 2, name: "gather", detail: "" } },
      "  phase: 2\n  name: gather",
    ],
    [
      "a batch, which is a detail",
      { type: "sub-step-reported", subStep: { phase: 2, name: "gather", detail: "batch 2 of ~4" } },
      'detail: "batch 2 of ~4"',
    ],
    ["a retry", { type: "step-retried", reason: "no network" }, "retry_count: 1"],
    ["a failure", { type: "step-failed", blocker: "no network" }, "## Blockers\n- no network"],
    ["the end of a step", { type: "step-completed", outcome: "" }, "status: completed"],
    [
      "a boundary",
      { type: "session-ended", reason: "session boundary", notes: "" },
      "reason: session boundary",
    ],
    [
      "the next step",
      { type: "step-entered", flow: "greenfield", step: "2", name: "Research", cycle: 1 },
      "step: 2\nname: Research\nstatus: not_started",
    ],
  ];

  it("every change", async () => {
    const root = makeProject();
    const { held } = await opened(root);
    for (const [what, event, line] of changes) {
      const recorded = await held.record(event);
      expect(recorded.ok).toBe(true);
      // What is recorded in one breath is written once.
      await held.look();
      expect(stateFile(root), what).toContain(line);
    }
    await held.release();
  });
});

it("where the folders contradict the state file it is written anew, and a line says so", async () => {
  const state =
    "# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 2\nname: Research\nstatus: in_progress\nretry_count: 0\ncycle: 1\n";
  const there = [
    "00_problem/problem.md",
    "01_solution/solution_draft01.md",
    "01_solution/solution.md",
    "02_document/architecture.md",
  ];
  const files = Object.fromEntries(there.map((file) => [`_docs/${file}`, "# There\n"]));
  const root = makeProject({ ...files, "_docs/_autodev_state.md": state });
  const { held, said } = await opened(root);
  expect(said).toEqual([
    "what step 3 Plan leaves is there, but the state says step 2 Research: the flow goes on at 4 UI Design",
  ]);
  expect(stateFile(root)).toContain("step: 4\nname: UI Design\nstatus: not_started\n");
  await held.release();
});
