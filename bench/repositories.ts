/** Repositories with a long history and many files, which nothing but the store has written to. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import type { Event } from "../src/core/event.ts";
import { hold, openProject, type Project } from "../src/project.ts";

export function newRepository(scratch: string, name: string): string {
  const root = path.join(scratch, name);
  fs.mkdirSync(root);
  const { status } = spawnSync("git", ["init", "-q", root]);
  if (status !== 0) throw new Error("git init failed");
  return root;
}

/** What the steps before Implement leave: a state that the folders contradict takes a longer look. */
const leftBefore = [
  "00_problem/problem.md",
  "01_solution/solution.md",
  "02_document/architecture.md",
  "02_tasks/_dependencies_table.md",
  "02_tasks/done/01_first.md",
];

interface Contents {
  readonly events: number;
  readonly artifacts: number;
  /** Of the user's, which nobody looks at. */
  readonly files: number;
}

export async function repositoryWith(root: string, contents: Contents): Promise<string> {
  const { events, artifacts, files } = contents;
  newRepository(path.dirname(root), path.basename(root));
  const write = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  };
  const docs = path.join(root, "_docs");
  for (const name of leftBefore) write(path.join(docs, name), "# There\n");
  for (let n = leftBefore.length; n < artifacts; n++) {
    const folder = ["02_document/components", "02_tasks/done", "03_implementation/reviews"][n % 3];
    write(path.join(docs, folder ?? "", `artifact_${n}.md`), `# Artifact ${n}\n`);
  }
  for (let n = 0; n < files; n++) {
    write(path.join(root, "src", `part-${n % 300}`, `file-${n}.ts`), "");
  }
  await fill(openProject(root), events);
  return root;
}

async function fill(project: Project, events: number): Promise<void> {
  const held = await hold(project, "bench");
  if (!held.ok) throw new Error(held.failure.message);
  await created(held.value.record);
  for (let n = 1; n < events; n += 100) {
    const batch = Array.from({ length: Math.min(100, events - n) }, (_, at) => subStep(n + at));
    const recorded = await held.value.record(...batch);
    if (!recorded.ok) throw new Error(recorded.failure.message);
  }
  await held.value.release();
}

export const subStep = (n: number): Event => ({
  type: "sub-step-reported",
  subStep: { phase: (n % 9) + 1, name: "batch-loop", detail: `batch ${n}` },
});

export async function created(record: (...events: Event[]) => Promise<unknown>): Promise<void> {
  const text =
    '# Autodev State\n\n## Current Step\nflow: greenfield\nstep: 6\nname: Implement\nstatus: in_progress\nsub_step:\n  phase: 1\n  name: batch-loop\n  detail: ""\nretry_count: 0\ncycle: 1\n';
  await record({
    type: "state-file-adopted",
    why: "created",
    path: "_docs/_autodev_state.md",
    text,
    generation: 3,
    variant: 13,
    corrections: [],
    state: {
      flow: "greenfield",
      step: "6",
      name: "Implement",
      status: "in_progress",
      subStep: { phase: 1, name: "batch-loop", detail: "" },
      retryCount: 0,
      cycle: 1,
      skipped: [],
      completed: [],
      keyDecisions: [],
      retryLog: [],
      blockers: [],
    },
  });
}
