/**
 * Plans of 100, 1,000 and 10,000 phases: read and compiled, ticked, checked by the built program.
 * Each is measured in a process of its own, which is stopped when it takes too long.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { performance } from "node:perf_hooks";
import { applyEdits, planEdits } from "../src/core/plan/edits.ts";
import type { Plan } from "../src/core/plan/plan.ts";
import { readPlan } from "../src/formats/read-plan.ts";
import { bigPlan, dependenciesOf, editsOfPhase, openPhases } from "./big-plan.ts";
import { median, type Row } from "./row.ts";

export const measurePlanFlag = "--measure-plan";
export const program = path.resolve("dist/cli/main.cjs");

const file = "big-plan.md";
const sizes = [100, 1_000, 10_000] as const;
type Size = (typeof sizes)[number];
/** Ten times the phases, ten times the time: what is beyond this is no longer linear. */
const growthTarget = 11;

/** Runs until there are enough, or until the time for them is spent; never less than one. */
interface Effort {
  readonly runs: number;
  readonly seconds: number;
  /** After which the process is stopped. */
  readonly limit: number;
}
const efforts: Record<"short" | "full", Record<Size, Effort>> = {
  short: {
    100: { runs: 15, seconds: 0.5, limit: 5 },
    1_000: { runs: 5, seconds: 1.5, limit: 5 },
    10_000: { runs: 2, seconds: 4, limit: 45 },
  },
  full: {
    100: { runs: 51, seconds: 10, limit: 60 },
    1_000: { runs: 15, seconds: 20, limit: 60 },
    10_000: { runs: 7, seconds: 40, limit: 120 },
  },
};

const counted = (size: number): string => size.toLocaleString("en");
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(2)} MB`;

export function* planRows(scratch: string, short: boolean): Generator<Row> {
  const measured = new Map<Size, Measured>();
  for (const size of sizes) {
    const effort = efforts[short ? "short" : "full"][size];
    const folder = path.join(scratch, `plan-${size}`);
    fs.mkdirSync(folder);
    const text = bigPlan(size);
    fs.writeFileSync(path.join(folder, file), text);
    const name = `plan of ${counted(size)} phases`;
    const result = measureInChild(path.join(folder, file), size, effort);
    if (!result) {
      const detail = `${megabytes(Buffer.byteLength(text))}, not done within ${effort.limit} s`;
      yield { name: `${name}: read`, figure: null, unit: "ms", detail };
      continue;
    }
    measured.set(size, result);
    const { read, tick, ticks, peak, kept } = result;
    yield {
      name: `${name}: read`,
      figure: read.median,
      unit: "ms",
      detail: `median of ${read.runs}; ${megabytes(Buffer.byteLength(text))} read and compiled`,
    };
    yield {
      name: `${name}: memory`,
      figure: peak / 1e6,
      unit: "MB",
      detail: `resident at the peak of the first reading, over what it was before; ${megabytes(kept)} of heap stay with the plan`,
    };
    for (const [what, { median: figure, runs, phases }] of [
      ["tick one", tick],
      ["tick many", ticks],
    ] as const) {
      const detail = `median of ${runs}; boxes and status of ${phases === 1 ? "one phase" : `${phases} phases`}, planned and applied`;
      yield { name: `${name}: ${what}`, figure, unit: "ms", detail };
    }
  }
  const [small, large] = [measured.get(1_000), measured.get(10_000)];
  const stopped = efforts[short ? "short" : "full"][10_000].limit * 1000;
  yield growth(
    "read, 10,000 / 1,000 phases",
    large?.tenth ?? small?.read,
    large?.read ?? { stopped },
  );
  if (small && large) {
    yield growth("tick one, 10,000 / 1,000 phases", small.tick, large.tick);
    yield growth("tick many, 10,000 / 1,000 phases", small.ticks, large.ticks);
  }
  if (short) return;
  yield* checks(scratch);
}

/**
 * By the fastest of each, which a busy machine bends least; the ratio of the medians beside it. Of
 * what was stopped the growth is at least what had passed by then.
 */
function growth(
  name: string,
  small: Timed | undefined,
  large: Timed | { readonly stopped: number },
): Row {
  const row = { name, unit: "×", target: growthTarget };
  if (small === undefined) return { ...row, figure: null, detail: "1,000 phases were not done" };
  const best = small.best.toFixed(2);
  if ("best" in large) {
    const detail = `linear is 10; fastest of ${small.runs} and ${large.runs}: ${best} and ${large.best.toFixed(2)} ms; by medians ${(large.median / small.median).toFixed(2)} ×`;
    return { ...row, figure: large.best / small.best, detail };
  }
  const figure = large.stopped / small.best;
  const detail = `at least: ${best} ms, and stopped after ${large.stopped / 1000} s`;
  return { ...row, figure: figure > growthTarget ? figure : null, detail };
}

// ── the built program ──────────────────────────────────────────────────────────────────────────

function* checks(scratch: string): Generator<Row> {
  const [rounds, limit, seconds] = [7, 120_000, 60];
  const times = new Map<Size, number[]>(sizes.map((size) => [size, []]));
  const began = performance.now();
  for (let round = 0; round < rounds; round++) {
    if (round > 0 && performance.now() - began > seconds * 1000) break;
    for (const [size, list] of times) {
      const cwd = path.join(scratch, `plan-${size}`);
      const took = timeOf([program, "plan", "check", file, "--json"], { cwd, limit });
      if (took) list.push(took.ms);
      else times.delete(size);
    }
  }
  for (const size of sizes) {
    const name = `plan check --json, ${counted(size)} phases`;
    const list = times.get(size);
    const detail = list
      ? `median of ${list.length}, in turns; the whole process`
      : `stopped after ${limit / 1000} s`;
    yield { name, figure: list ? median(list) : null, unit: "ms", detail };
  }
  const [small, large] = [times.get(1_000), times.get(10_000)];
  yield growth(
    "plan check, 10,000 / 1,000 phases",
    small && summary(small),
    large ? summary(large) : { stopped: limit },
  );
}

/** One process from its start to its end; undefined: it was stopped at the limit. */
export function timeOf(
  argv: readonly string[],
  { cwd, limit, env = {} }: { cwd: string; limit: number; env?: Record<string, string> },
): { ms: number; stdout: string } | undefined {
  // Parsed at every start of Node 20: time that is not the program's.
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const began = performance.now();
  const { status, error, stdout, stderr } = spawnSync(process.execPath, argv, {
    cwd,
    env: { ...inherited, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    encoding: "utf8",
    maxBuffer: 512 * 1024 * 1024,
    timeout: limit,
  });
  const ms = performance.now() - began;
  if (error && "code" in error && error.code === "ETIMEDOUT") return undefined;
  if (status !== 0) {
    const said = (stderr.trim() || stdout.trim()).slice(-300);
    throw new Error(`${argv.join(" ")} ended with ${status}: ${error?.message ?? said}`);
  }
  return { ms, stdout };
}

// ── one plan, in a process of its own ──────────────────────────────────────────────────────────

interface Timed {
  readonly median: number;
  readonly best: number;
  readonly runs: number;
}

const summary = (times: number[]): Timed => ({
  median: median(times),
  best: Math.min(...times),
  runs: times.length,
});

interface Measured {
  readonly read: Timed;
  /**
   * As many phases in ten plans, read one after the other by the same process in turns, by the plan:
   * what one of them leaves to be swept up the next one pays for. Of the largest plan only.
   */
  readonly tenth: Timed;
  readonly tick: Timed & { readonly phases: number };
  readonly ticks: Timed & { readonly phases: number };
  /** Bytes. */
  readonly peak: number;
  readonly kept: number;
}

function measureInChild(plan: string, size: number, effort: Effort): Measured | undefined {
  const self = process.argv[1] ?? "";
  const argv = [plan, size, effort.runs, effort.seconds].map(String);
  const done = timeOf(["--expose-gc", self, measurePlanFlag, ...argv], {
    cwd: process.cwd(),
    limit: effort.limit * 1000,
  });
  return done && (JSON.parse(done.stdout) as Measured);
}

/** What the child does. */
export function measurePlan([plan = "", ...numbers]: readonly string[]): void {
  const [size = 0, runs = 1, seconds = 1] = numbers.map(Number);
  const text = fs.readFileSync(plan, "utf8");
  const began = performance.now();
  const [resident, heap] = [peakMemory(), heapInUse()];
  const first = timed(() => planOf(text));
  const peak = peakMemory() - resident;
  const kept = heapInUse() - heap;
  check(first.value, size);
  // The compiler of the engine takes many small plans to warm up, or one large one: cold against
  // cold would flatter the growth, warm against warm tells it.
  const smaller = size === sizes.at(-1) ? bigPlan(size / 10) : undefined;
  const [times, tenths]: [number[], number[]] = [[first.ms], []];
  const readSmaller = (): void => {
    if (smaller === undefined) return;
    const ten = timed(() => Array.from({ length: 10 }, () => planOf(smaller).phases.length));
    tenths.push(ten.ms / 10);
  };
  readSmaller();
  while (times.length < runs && performance.now() - began < seconds * 1000) {
    times.push(timed(() => planOf(text)).ms);
    readSmaller();
  }
  const result: Measured = {
    read: summary(times),
    tenth: summary(tenths),
    tick: ticked(text, first.value, openPhases(size, 1)),
    ticks: ticked(text, first.value, openPhases(size, 100)),
    peak,
    kept,
  };
  console.log(JSON.stringify(result));
}

function timed<T>(what: () => T): { ms: number; value: T } {
  const began = performance.now();
  const value = what();
  return { ms: performance.now() - began, value };
}

function planOf(text: string): Plan {
  const read = readPlan([{ file, text }]);
  if (!read.ok) throw new Error(read.failure.message);
  const [error] = read.value.errors;
  if (error) throw new Error(`${error.code}, line ${error.line}: ${error.message}`);
  return read.value.plan;
}

/** Fast and wrong would be no figure. */
function check({ phases }: Plan, size: number): void {
  if (phases.length !== size) throw new Error(`${phases.length} phases were read, not ${size}`);
  phases.forEach(({ written, dependsOn }, at) => {
    const wanted = dependenciesOf(at).map((each) => String(each + 1));
    if (dependsOn.join() !== wanted.join())
      throw new Error(`phase ${written} waits for ${dependsOn.join()}, not for ${wanted.join()}`);
  });
}

function ticked(text: string, plan: Plan, names: readonly string[]): Measured["tick"] {
  const runs = 21;
  const changes = names.map((phase) => ({ phase, boxes: "tick", status: "complete" }) as const);
  const raw = ({ from, to }: { from: number; to: number }): string => text.slice(from, to);
  const times = Array.from({ length: runs }, () => {
    const { ms, value } = timed(() => {
      const edits = planEdits(plan, changes, raw);
      if (!edits.ok) throw new Error(edits.failure.message);
      return { edits: edits.value, after: applyEdits(text, edits.value) };
    });
    // A mark for a mark: nothing moves.
    if (value.edits.length !== names.length * editsOfPhase || value.after.length !== text.length)
      throw new Error(`${value.edits.length} edits for ${names.length} phases`);
    return ms;
  });
  return { ...summary(times), phases: names.length };
}

/** Of this process alone: elsewhere than on Linux its parent's may be counted in. */
function peakMemory(): number {
  try {
    const [, peak] = /^VmHWM:\s+(\d+)/mu.exec(fs.readFileSync("/proc/self/status", "utf8")) ?? [];
    if (peak !== undefined) return Number(peak) * 1024;
  } catch {
    // Not Linux.
  }
  return process.resourceUsage().maxRSS * 1024;
}

function heapInUse(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
