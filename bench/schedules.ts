/**
 * Who may begin when, for plans of 100, 1,000 and 10,000 phases: the same graph for us, for make and
 * for ninja, each in a process of its own, from the file to the last line of the order. Nobody
 * starts anything: make and ninja are asked what they would do (`-n`, with `true` for every recipe),
 * and our driver has every move performed by somebody who is done at once. We do more on the way: a
 * phase is five moves, and each of their events is folded before the next is decided.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { performance } from "node:perf_hooks";
import { bundle } from "../torture/rig.ts";
import { bigPlan, dependenciesOf } from "./big-plan.ts";
import { type ChartName, median, type Row, ratioRow } from "./row.ts";

const sizes = [100, 1_000, 10_000] as const;
const [rounds, limit] = [7, 120_000];

export async function* scheduleRows(scratch: string, short: boolean): AsyncGenerator<Row> {
  if (short) {
    const detail = "others are run in the full form only";
    yield { name: "order of a plan / make, ninja", figure: null, unit: "×", detail };
    return;
  }
  const ours = await bundle("bench/decide.ts", { out: path.join(scratch, "decide.cjs") });
  for (const size of sizes) {
    const folder = path.join(scratch, `schedule-${size}`);
    fs.mkdirSync(folder);
    fs.writeFileSync(path.join(folder, "plan.md"), bigPlan(size));
    fs.writeFileSync(path.join(folder, "Makefile"), makefile(size));
    fs.writeFileSync(path.join(folder, "build.ninja"), ninjaFile(size));
    yield* compared(folder, size, ours);
  }
}

// ── the same graph, in three notations ─────────────────────────────────────────────────────────

const targets = (phases: readonly number[]): string => phases.map((at) => `p${at + 1}`).join(" ");
const every = (size: number): number[] => Array.from({ length: size }, (_, at) => at);

const makefile = (size: number): string =>
  [
    `.PHONY: all ${targets(every(size))}`,
    `all: ${targets(every(size))}`,
    ...every(size).map((at) => `p${at + 1}: ${targets(dependenciesOf(at))}\n\ttrue p${at + 1}`),
    "",
  ].join("\n");

const ninjaFile = (size: number): string =>
  [
    "rule phase\n  command = true $out",
    ...every(size).map((at) => `build p${at + 1}: phase ${targets(dependenciesOf(at))}`),
    "",
  ].join("\n");

// ── in turns ───────────────────────────────────────────────────────────────────────────────────

interface Scheduler {
  readonly name: string;
  readonly argv: readonly string[];
  /** It is on this machine, and says its version. */
  readonly version: readonly string[];
}

function* compared(folder: string, size: number, decide: string): Generator<Row> {
  const self = [process.execPath, decide, "plan.md"];
  const ours: Scheduler = { name: "autodev", argv: self, version: [process.execPath, "-v"] };
  const others: Scheduler[] = [
    { name: "make", argv: ["make", "-n", "all"], version: ["make", "--version"] },
    { name: "ninja", argv: ["ninja", "-n", "-v"], version: ["ninja", "--version"] },
  ];
  const times = new Map<Scheduler, number[] | string>();
  const versions = new Map<Scheduler, string>();
  for (const each of [ours, ...others]) {
    const [command = "", ...args] = each.version;
    const { status, stdout } = spawnSync(command, args, { encoding: "utf8" });
    versions.set(each, /\d+(?:\.\d+)+/u.exec(stdout ?? "")?.[0] ?? "");
    times.set(each, status === 0 ? [] : `${each.name} is not on this machine`);
  }
  for (let round = -1; round < rounds; round++) {
    for (const [scheduler, list] of times) {
      if (typeof list === "string") continue;
      const took = timeOrder(scheduler, folder, size);
      if (typeof took === "string") times.set(scheduler, took);
      else if (round >= 0) list.push(took);
    }
  }
  const figureOf = (of: Scheduler): number | null => {
    const list = times.get(of);
    return typeof list === "object" ? median(list) : null;
  };
  const counted = size.toLocaleString("en");
  const us = { name: `order of ${counted} phases`, figure: figureOf(ours) };
  for (const other of others) {
    const theirs = { name: `${other.name} -n ${versions.get(other)}`, figure: figureOf(other) };
    const why = [times.get(ours), times.get(other)].find((list) => typeof list === "string");
    const detail =
      us.figure === null || theirs.figure === null
        ? String(why)
        : `medians of ${rounds}, in turns, whole processes, nothing is started: ${us.figure.toFixed(1)} ms and ${theirs.figure.toFixed(1)} ms`;
    yield ratioRow({ chart: `schedule-${size}` as ChartName, ours: us, theirs }, detail);
  }
}

function timeOrder({ name, argv }: Scheduler, folder: string, size: number): number | string {
  const [command = "", ...args] = argv;
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const began = performance.now();
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: folder,
    env,
    encoding: "utf8",
    timeout: limit,
    maxBuffer: 64 * 1024 * 1024,
  });
  const took = performance.now() - began;
  if (status !== 0)
    return `${name}, ${size} phases: ${error?.message ?? `${status}: ${stderr.slice(-300)}`}`;
  mustBeInOrder(name, stdout, size);
  return took;
}

/** Fast and wrong would be no figure. */
function mustBeInOrder(name: string, said: string, size: number): void {
  const order = [...said.matchAll(/\btrue p(\d+)$/gmu)].map(([, number]) => Number(number) - 1);
  const place = new Map(order.map((phase, at) => [phase, at]));
  if (place.size !== size || order.length !== size)
    throw new Error(`${name} told of ${order.length} of ${size} phases`);
  for (const [phase, at] of place)
    for (const need of dependenciesOf(phase))
      if ((place.get(need) ?? size) > at)
        throw new Error(`${name} has phase ${phase + 1} before ${need + 1}`);
}
