/**
 * npm run bench -- [--short] [--only group] [--json file [--charts]]
 * npm run bench -- --draw file
 *
 * What is measured is always a ratio or a difference to the bare thing or to what others do, taken in
 * turns in the same run, so that a busy machine slows both. Programs of others are run in the full
 * form only. In a file each group takes its own place as soon as it is measured; `--charts` draws the
 * figures beside it, `--draw` those of an earlier run. At the end: what missed its target, and who is
 * ahead of us and why.
 */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { parseArgs } from "node:util";
import { aheadOf } from "./ahead.ts";
import { chartsOf } from "./charts.ts";
import { environmentOf, inWords } from "./environment.ts";
import { groups } from "./groups.ts";
import { measureStarts, measureStartsFlag } from "./peer-starts.ts";
import { measurePlan, measurePlanFlag } from "./plans.ts";
import { type MeasuredGroup, readResults, withGroup, writeResults } from "./results.ts";
import type { Row } from "./row.ts";

interface Orders {
  readonly short: boolean;
  readonly only?: string;
  readonly json?: string;
  readonly charts: boolean;
  readonly draw?: string;
}

async function main(): Promise<number> {
  const orders = readOrders(process.argv.slice(2));
  if (typeof orders === "string") {
    console.error(orders);
    return 2;
  }
  const { only, json, charts, draw } = orders;
  if (draw !== undefined) {
    drawCharts(draw);
    return 0;
  }
  const scratch = fs.mkdtempSync(path.join(tmpdir(), "autodev-bench-"));
  console.log(`${inWords(environmentOf(scratch))}, in ${tmpdir()}`);
  const measured: MeasuredGroup[] = [];
  try {
    for (const [name, { about, rows: rowsOf }] of Object.entries(groups)) {
      if (only !== undefined && only !== name) continue;
      console.log(`\n${name}: ${about}`);
      const environment = environmentOf(scratch);
      const rows: Row[] = [];
      for await (const row of await rowsOf(scratch, orders.short)) {
        rows.push(row);
        console.log(lineOf(row));
      }
      const group = { name, environment, rows };
      measured.push(group);
      // At once: what took long is not lost with what comes after it.
      if (json !== undefined) keep(json, group, orders);
    }
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
  if (json !== undefined && charts) drawCharts(json);
  for (const line of closing(measured)) console.log(line);
  return 0;
}

function keep(json: string, group: MeasuredGroup, { short }: Orders): void {
  const form = short ? "short" : "full";
  writeResults(json, withGroup(readResults(json), form, group, Object.keys(groups)));
}

function closing(measured: readonly MeasuredGroup[]): string[] {
  const missed = measured
    .flatMap(({ rows }) => rows)
    .filter(({ figure, target }) => target !== undefined && figure !== null && figure > target);
  const ahead = measured.flatMap(aheadOf);
  return [
    `\ntargets missed: ${missed.length === 0 ? "none" : missed.map(({ name }) => name).join("; ")}`,
    `ahead of us: ${ahead.length === 0 ? "nobody" : ""}`.trimEnd(),
    ...ahead.map(
      ({ name, why, plan }) => `  ${name}: ${why ?? "nobody has said why yet"} ${plan ?? ""}`,
    ),
  ];
}

function readOrders(args: string[]): Orders | string {
  let orders: Orders;
  try {
    const { values } = parseArgs({
      args,
      options: {
        short: { type: "boolean", default: false },
        only: { type: "string" },
        json: { type: "string" },
        charts: { type: "boolean", default: false },
        draw: { type: "string" },
      },
    });
    orders = values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const { only, json, charts, draw } = orders;
  if (only !== undefined && !(only in groups))
    return `"${only}" is no group: ${Object.keys(groups).join(", ")}`;
  if (charts && json === undefined) return "--charts needs --json: they are drawn beside it";
  if (draw !== undefined && !fs.existsSync(draw)) return `there is no ${draw} to draw`;
  return orders;
}

function lineOf({ name, figure, unit, target, detail }: Row): string {
  const said = figure === null ? "not measured" : `${figure.toFixed(2)} ${unit}`;
  const judged =
    target === undefined || figure === null
      ? ""
      : `  target ≤ ${target} ${unit}: ${figure <= target ? "met" : "not met"}`;
  return `  ${name.padEnd(40)} ${said}${judged}  (${detail})`;
}

function drawCharts(json: string): void {
  const drawn = chartsOf(readResults(json) ?? { form: "full", groups: [] });
  for (const [name, text] of drawn) fs.writeFileSync(path.join(path.dirname(json), name), text);
  console.log(`${drawn.size} charts beside ${json}`);
}

/** This program again, for one measurement: it prints what it found, and leaves nothing behind. */
const children: Readonly<Record<string, (args: readonly string[]) => void>> = {
  [measurePlanFlag]: measurePlan,
  [measureStartsFlag]: measureStarts,
};

const asked = children[process.argv[2] ?? ""];
if (asked) asked(process.argv.slice(3));
else
  void main().then((code) => {
    process.exitCode = code;
  });
