/**
 * npm run bench -- [--short] [--only group] [--json file]
 *
 * What is measured is always a ratio or a difference to the bare thing, taken in turns in the
 * same run, so that a busy machine slows both.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { cpus, tmpdir } from "node:os";
import * as path from "node:path";
import { performance } from "node:perf_hooks";
import type { Event } from "../src/core/event.ts";
import { hold, look, openProject, type Project } from "../src/project.ts";
import { dashboardRows } from "./dashboard.ts";
import { peerRows } from "./peer.ts";
import { measurePlan, measurePlanFlag, planRows } from "./plans.ts";
import { median, type Row } from "./row.ts";
import { runRows } from "./runs.ts";
import { verificationRows } from "./verification.ts";

const short = process.argv.includes("--short");
/** This program again, for one plan: it leaves nothing behind. */
const isChild = process.argv[2] === measurePlanFlag;
const scratch = isChild ? "" : fs.mkdtempSync(path.join(tmpdir(), "autodev-bench-"));

type Rows = Iterable<Row> | AsyncIterable<Row>;

function valueOf(option: string): string | undefined {
  const at = process.argv.indexOf(option);
  return at > 0 ? process.argv[at + 1] : undefined;
}

async function main(): Promise<number> {
  console.log(
    `node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? "cpu"}, in ${tmpdir()}`,
  );
  const rows: Row[] = [];
  const report = (row: Row): void => {
    rows.push(row);
    const { figure } = row;
    const target =
      row.target === undefined || figure === null
        ? ""
        : `  target ≤ ${row.target} ${row.unit}: ${figure <= row.target ? "met" : "not met"}`;
    const said = figure === null ? "not measured" : `${figure.toFixed(2)} ${row.unit}`;
    console.log(`${row.name.padEnd(34)} ${said}${target}  (${row.detail})`);
  };
  const groups: Record<string, () => Rows | Promise<Rows>> = {
    "cold-start": async () => coldStarts(await repositoryWith(10_000, 500)),
    transition: transitionRatios,
    opening,
    plans: () => planRows(scratch, short),
    peer: () => peerRows(scratch, short),
    verification: () => verificationRows(scratch, short),
    runs: () => runRows(scratch, short),
    dashboard: () => dashboardRows(scratch, short),
  };
  const only = valueOf("--only");
  if (only !== undefined && !(only in groups)) {
    console.error(`"${only}" is no group: ${Object.keys(groups).join(", ")}`);
    return 2;
  }
  try {
    for (const [name, rowsOf] of Object.entries(groups)) {
      if (only !== undefined && only !== name) continue;
      for await (const row of await rowsOf()) report(row);
    }
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
  const file = valueOf("--json");
  if (file) fs.writeFileSync(file, `${JSON.stringify({ node: process.version, rows }, null, 2)}\n`);
  return 0;
}

// ── cold start ─────────────────────────────────────────────────────────────────────────────────

/** Of the user's, which nobody looks at. */
const files = short ? 2000 : 100_000;

function coldStarts(root: string): Row[] {
  const program = path.resolve("dist/cli/main.cjs");
  const bare = ["-e", "0"];
  const calls = {
    bare,
    version: [program, "--version"],
    status: [program, "status"],
    "status --json": [program, "status", "--json"],
  };
  // Parsed at every start of Node 20: 38 ms that are not ours, where it is set.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const best: Record<string, number> = {};
  const rounds = short ? 25 : 120;
  for (let round = 0; round < rounds; round++) {
    for (const [name, argv] of Object.entries(calls)) {
      const began = performance.now();
      const { status } = spawnSync(process.execPath, argv, { cwd: root, env, stdio: "pipe" });
      const took = performance.now() - began;
      if (status !== 0) throw new Error(`${name} ended with ${status}`);
      best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, took);
    }
  }
  const over = (name: string): number => (best[name] ?? 0) - (best["bare"] ?? 0);
  const detail = `minimum of ${rounds}, in turns; bare node ${best["bare"]?.toFixed(1)} ms`;
  return [
    { name: "--version over bare node", figure: over("version"), unit: "ms", detail },
    { name: "status over bare node", figure: over("status"), unit: "ms", target: 8, detail },
    {
      name: "status --json over bare node",
      figure: over("status --json"),
      unit: "ms",
      target: 8,
      detail: `${detail}; 10,000 events, 500 artifacts, ${files} files`,
    },
  ];
}

// ── one transition ─────────────────────────────────────────────────────────────────────────────

async function transitionRatios(): Promise<Row[]> {
  const root = newRepository("transition");
  const project = openProject(root);
  const held = await hold(project, "bench");
  if (!held.ok) throw new Error(held.failure.message);
  await created(held.value.record);
  const file = fs.openSync(path.join(root, ".git", "autodev", "bare.log"), "a");
  const line = Buffer.alloc(400, "x");
  const ours: number[] = [];
  const bare: number[] = [];
  const blocking: number[] = [];
  const rounds = short ? 400 : 1000;
  const warmUp = 50;
  for (let round = -warmUp; round < rounds; round++) {
    let began = performance.now();
    await new Promise<void>((resolve, reject) => {
      fs.write(file, line, 0, line.length, null, (error) => {
        if (error) reject(error);
        else fs.fsync(file, (failed) => (failed ? reject(failed) : resolve()));
      });
    });
    bare.push(performance.now() - began);
    began = performance.now();
    fs.writeSync(file, line);
    fs.fsyncSync(file);
    blocking.push(performance.now() - began);
    began = performance.now();
    const recorded = await held.value.record(subStep(round));
    ours.push(performance.now() - began);
    if (!recorded.ok) throw new Error(recorded.failure.message);
    if (round < 0) for (const times of [ours, bare, blocking]) times.length = 0;
  }
  fs.closeSync(file);
  await held.value.release();
  const detail = `medians of ${rounds}, in turns: ${median(ours).toFixed(3)} ms, asynchronous ${median(bare).toFixed(3)}, blocking ${median(blocking).toFixed(3)}; the state file is rendered behind it`;
  return [
    {
      name: "transition / append + fsync",
      figure: median(ours) / median(bare),
      unit: "×",
      target: 1.4,
      detail,
    },
    {
      name: "transition / blocking append + fsync",
      figure: median(ours) / median(blocking),
      unit: "×",
      detail: "the same, against the call that stops the whole process",
    },
  ];
}

// ── opening a long journal ─────────────────────────────────────────────────────────────────────

async function opening(): Promise<Row[]> {
  const events = short ? 20_000 : 100_000;
  const project = openProject(await repositoryWith(events, 0));
  const timed = (what: () => unknown): number => {
    const began = performance.now();
    what();
    return performance.now() - began;
  };
  const quick = Math.min(...Array.from({ length: 5 }, () => timed(() => look(project))));
  fs.rmSync(path.join(project.root, ".git", "autodev", "snapshot"));
  const whole = Math.min(...Array.from({ length: 3 }, () => timed(() => look(project))));
  const detail = `${events} events`;
  return [
    { name: "opening with a snapshot", figure: quick, unit: "ms", detail },
    {
      name: "opening without one",
      figure: whole,
      unit: "ms",
      detail: `${detail}, all read, checked and folded`,
    },
  ];
}

// ── repositories ───────────────────────────────────────────────────────────────────────────────

let made = 0;
function newRepository(name: string): string {
  const root = path.join(scratch, `${name}-${++made}`);
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

async function repositoryWith(events: number, artifacts: number): Promise<string> {
  const root = newRepository("large");
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

const subStep = (n: number): Event => ({
  type: "sub-step-reported",
  subStep: { phase: (n % 9) + 1, name: "batch-loop", detail: `batch ${n}` },
});

async function created(record: (...events: Event[]) => Promise<unknown>): Promise<void> {
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

if (isChild) measurePlan(process.argv.slice(3));
else
  void main().then((code) => {
    process.exitCode = code;
  });
