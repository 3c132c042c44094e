import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { builtInFlows } from "../core/flow/flows/index.ts";
import { awaitingInvocation, flowStateAt } from "../core/flow/state.ts";
import { factsOf } from "./flow-facts.ts";

const task = (name: string, points: number, after: string): string =>
  `**Task**: ${name}\n**Name**: ${name}\n**Complexity**: ${points}\n**Dependencies**: ${after}\n\n## Tasks\n\n- [ ] do it\n`;

function project(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "autodev-ahead-"));
  for (const [file, text] of Object.entries(files)) {
    const full = join(root, "_docs/02_tasks", file);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
  }
  return root;
}

const aheadOf = (root: string, status: string): readonly string[] => {
  const flow = flowStateAt({
    flow: "greenfield",
    step: "6",
    name: "Implement",
    status,
    subStep: awaitingInvocation,
    retryCount: 0,
    cycle: 1,
  });
  const held = { state: { flow, decisions: {} } };
  return factsOf({ project: { root }, held, flows: builtInFlows }).ahead;
};

const table = `| Task | Name | Complexity | Dependencies | Epic |
|---|---|---|---|---|
| 00 | base | 5 | None | E |
| 01 | structure | 2 | 00 | E |
| 02 | store | 3 | 01 | E |
| 03 | page | 3 | 01 | E |
`;

it("before a boundary the tasks, the batches and the points are counted, without what is done", () => {
  const root = project({
    "_dependencies_table.md": table,
    "done/00_base.md": task("base", 5, "None"),
    "todo/01_structure.md": task("structure", 2, "00"),
    "todo/02_store.md": task("store", 3, "01"),
    "todo/03_page.md": task("page", 3, "01"),
  });
  expect(aheadOf(root, "not_started")).toEqual(["Tasks: 3 · batches expected: 2 · points: 8"]);
  expect(aheadOf(root, "in_progress")).toEqual([]);
});

it("where there is no task, nothing is counted", () => {
  expect(aheadOf(project({}), "not_started")).toEqual([]);
});
