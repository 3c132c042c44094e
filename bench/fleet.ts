/**
 * What it costs that a run is carried by a fleet: the same plan of phases that do next to nothing,
 * by one worker beside the database and by this machine alone, in turns; and how much more is done
 * by more workers. All of it shares the cores of one machine, the database too.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { performance } from "node:perf_hooks";
import {
  type FleetProject,
  type FleetRig,
  findPostgres,
  gitIn,
  landedIn,
  pause,
  startFleet,
} from "../torture/fleet-rig.ts";
import {
  noPostgres,
  openFleetOf,
  type PhaseWish,
  planText,
  submit,
  workersAreReady,
} from "../torture/fleet-runs.ts";
import { program } from "./plans.ts";
import { median, type Row } from "./row.ts";

interface Effort {
  /** Phases of the run that both carry, and how often they take turns. */
  readonly compared: number;
  readonly turns: number;
  /** Runs at once, and phases of each, that more and more workers share. */
  readonly projects: number;
  readonly phases: number;
}
const efforts: Record<"short" | "full", Effort> = {
  short: { compared: 20, turns: 1, projects: 3, phases: 2 },
  full: { compared: 40, turns: 3, projects: 4, phases: 20 },
};

export async function* fleetRows(scratch: string, short: boolean): AsyncGenerator<Row> {
  if (findPostgres() === undefined) {
    yield { name: "phase in a fleet / local", figure: null, unit: "×", detail: noPostgres };
    return;
  }
  const effort = efforts[short ? "short" : "full"];
  const folder = path.join(scratch, "fleet");
  // A copy that nobody rebuilds meanwhile.
  fs.cpSync(path.dirname(program), path.join(scratch, "fleet-cli"), { recursive: true });
  const rig = await startFleet(
    folder,
    path.join(scratch, "fleet-cli", path.basename(program)),
    // What is committed is on the disk, as it is where people rely on it.
    { fast: false },
  );
  try {
    yield* overhead(rig, effort);
    yield* throughput(rig, effort);
  } finally {
    await rig.end();
  }
}

/** Two chains side by side: of two phases at work, neither waits for the other. */
const chains = (count: number): PhaseWish[] =>
  Array.from({ length: count }, (_, at) => ({
    id: String(at + 1),
    needs: at < 2 ? [] : [String(at - 1)],
  }));

/** Each with a remote of its own; what has to be trusted is the same in all. */
async function projectsOf(rig: FleetRig, phases: number, count: number): Promise<FleetProject[]> {
  const name = `of-${phases}`;
  const template = await rig.project(name, { plan: planText(chains(phases), true) });
  return Array.from({ length: count }, (_, at) => {
    const [repo, remote] = [`${template.repo}-${at}`, `${template.repo}-${at}.git`];
    fs.cpSync(template.repo, repo, { recursive: true });
    fs.cpSync(template.remote, remote, { recursive: true });
    gitIn(repo, rig.env())("remote", "set-url", "origin", remote);
    return { ...template, repo, remote };
  });
}

// ── one phase ──────────────────────────────────────────────────────────────────────────────────

async function* overhead(rig: FleetRig, { compared, turns }: Effort): AsyncGenerator<Row> {
  await staff(rig, { count: 1, jobs: 2 });
  const [fleet, local]: [number[], number[]] = [[], []];
  const projects = await projectsOf(rig, compared, 2 * turns);
  for (let turn = 0; turn < turns; turn++) {
    for (const [engine, times] of [
      ["postgres", fleet],
      ["local", local],
    ] as const) {
      const project = projects.pop();
      if (!project) throw new Error("more turns than projects");
      const began = performance.now();
      const said = await rig.build(project, [`--engine=${engine}`, "--jobs=2"], {
        timeoutMs: 10 * 60_000,
      });
      times.push((performance.now() - began) / compared);
      if (said.code !== 0) throw new Error(`${engine}: exit ${said.code}: ${said.all.slice(-300)}`);
    }
  }
  const [theirs, ours] = [median(fleet), median(local)];
  const detail = `${compared} phases, --jobs 2, from the command to its end, median of ${turns} in turns: ${theirs.toFixed(0)} ms and ${ours.toFixed(0)} ms a phase`;
  yield { name: "phase in a fleet / local", figure: theirs / ours, unit: "×", detail };
  yield {
    name: "phase in a fleet over local",
    figure: theirs - ours,
    unit: "ms",
    detail: "the same; what an agent takes minutes for",
  };
}

// ── many workers ───────────────────────────────────────────────────────────────────────────────

async function* throughput(rig: FleetRig, { projects, phases }: Effort): AsyncGenerator<Row> {
  const fleet = await openFleetOf(rig);
  const all = await projectsOf(rig, phases, 3 * projects);
  let alone: number | undefined;
  for (const count of [1, 2, 4]) {
    await staff(rig, { count, jobs: 1 });
    const some = all.splice(0, projects);
    const began = performance.now();
    for (const project of some) await submit(fleet, project, "apply");
    const open = async (): Promise<number> =>
      (await fleet.database.query("SELECT id FROM autodev.runs WHERE is_open")).length;
    for (; (await open()) > 0; await pause(50)) {
      if (performance.now() - began > 15 * 60_000) throw new Error("runs do not come to an end");
    }
    const minutes = (performance.now() - began) / 60_000;
    const landed = some.flatMap(({ remote }) => landedIn(remote, rig.env())).length;
    if (landed !== projects * phases) throw new Error(`${landed} phases have landed`);
    const figure = landed / minutes;
    alone ??= figure;
    yield {
      name: `throughput, ${count} worker${count === 1 ? "" : "s"}`,
      figure,
      unit: "phases/min",
      detail: `${projects} runs of ${phases} phases at once, a job each; ${(figure / alone).toFixed(2)} × one worker`,
    };
  }
  await fleet.close();
}

/** These and nobody else; those before them are drained. */
async function staff(
  rig: FleetRig,
  { count, jobs }: { readonly count: number; readonly jobs: number },
): Promise<void> {
  for (const worker of rig.workers) worker.signal("SIGTERM");
  await Promise.all([...rig.workers].map(({ ended }) => ended));
  rig.workers.clear();
  for (let at = 1; at <= count; at++) rig.worker(`w${at}`, { jobs, leaseSeconds: 15 });
  await workersAreReady(rig);
}
