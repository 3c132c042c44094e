/**
 * npm run torture -- [--tier ci|full] [--only row[:case]] [--seed n] [--json file]
 *
 * Real faults against the real store, one row of the table after the other.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { parseArgs } from "node:util";
import { crashRuns } from "./crash-runs.ts";
import { crashStates } from "./crash-states.ts";
import { decisionRaces } from "./decision-races.ts";
import { flowHistories } from "./flow-histories.ts";
import { flowKills } from "./flow-kills.ts";
import { fuzzPlans } from "./fuzz-plans.ts";
import { fuzzStateFiles } from "./fuzz-state-files.ts";
import { hostileRepositories } from "./hostile-repositories.ts";
import { killSweep } from "./kill-sweep.ts";
import { liars } from "./liars.ts";
import { lockRaces } from "./lock-races.ts";
import { plantedBugs } from "./mutants.ts";
import { powerCuts } from "./power-cuts.ts";
import { pullKills } from "./pull-kills.ts";
import {
  type Context,
  figuresLine,
  type Outcome,
  type Row,
  table,
  temporaryFolder,
  writeJson,
} from "./rig.ts";
import { runKills } from "./run-kills.ts";
import { runPowerCuts } from "./run-power-cuts.ts";
import { simulatedRuns } from "./simulated-runs.ts";
import { trackerEffects } from "./tracker-effects.ts";
import { userBytes } from "./user-bytes.ts";

const rows: readonly Row[] = [
  fuzzStateFiles,
  fuzzPlans,
  hostileRepositories,
  simulatedRuns,
  flowHistories,
  crashStates,
  killSweep,
  lockRaces,
  decisionRaces,
  powerCuts,
  crashRuns,
  runKills,
  flowKills,
  pullKills,
  runPowerCuts,
  trackerEffects,
  userBytes,
  liars,
  plantedBugs,
];

const usage = `npm run torture -- [--tier ci|full] [--only row[:case]] [--seed n] [--json file]
rows: ${rows.map(({ name }) => name).join(", ")}`;

interface Orders {
  readonly tier: Context["tier"];
  readonly seed: number;
  readonly only?: { row: string; case?: string };
  readonly json?: string;
}

interface Done {
  readonly row: Row;
  readonly outcome: Outcome;
  readonly seconds: number;
}

async function main(): Promise<number> {
  const orders = readOrders(process.argv.slice(2));
  if (typeof orders === "string") {
    console.error(`${orders}\n${usage}`);
    return 2;
  }
  const chosen = rows.filter(({ name }) => orders.only === undefined || name === orders.only.row);
  console.log(`tier ${orders.tier}, seed ${orders.seed}`);
  const done: Done[] = [];
  for (const row of chosen) done.push(await runRow(row, orders));
  report(done, orders);
  return done.some(({ outcome }) => outcome.is === "failed") ? 1 : 0;
}

function readOrders(args: string[]): Orders | string {
  let values: { tier?: string; only?: string; seed?: string; json?: string };
  try {
    ({ values } = parseArgs({
      args,
      options: {
        tier: { type: "string", default: "ci" },
        only: { type: "string" },
        seed: { type: "string", default: "1" },
        json: { type: "string" },
      },
    }));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const { tier, only, json } = values;
  const seed = Number(values.seed);
  if (tier !== "ci" && tier !== "full") return `"${tier}" is no tier`;
  if (!Number.isSafeInteger(seed)) return `"${values.seed}" is no seed`;
  const [row = "", ...rest] = only?.split(":") ?? [];
  if (only !== undefined && !rows.some(({ name }) => name === row)) return `"${row}" is no row`;
  return {
    tier,
    seed,
    ...(only !== undefined && {
      only: { row, ...(rest.length > 0 && { case: rest.join(":") }) },
    }),
    ...(json !== undefined && { json }),
  };
}

async function runRow(row: Row, { tier, seed, only }: Orders): Promise<Done> {
  const budget = row.budgetSeconds[tier];
  console.log(`\n${row.name}: ${row.promise}\n  budget ${budget} s`);
  const scratch = temporaryFolder(row.name);
  const began = performance.now();
  const outcome = await outcomeOf(row, {
    tier,
    seed,
    scratch,
    ...(only?.case !== undefined && { onlyCase: only.case }),
    note: (line) => console.log(`  ${line}`),
  });
  const seconds = (performance.now() - began) / 1000;
  fs.rmSync(scratch, { recursive: true, force: true });
  const late = seconds > budget ? " (over its budget)" : "";
  console.log(`  ${verdict(outcome)} in ${seconds.toFixed(1)} s${late}`);
  for (const failure of outcome.failures) console.log(`  ✗ ${failure}`);
  return { row, outcome, seconds };
}

async function outcomeOf(row: Row, context: Context): Promise<Outcome> {
  try {
    return await row.run(context);
  } catch (error) {
    const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { is: "failed", figures: {}, failures: [`the row itself broke: ${said}`] };
  }
}

const verdict = ({ is, figures, reason }: Outcome): string =>
  [is, figuresLine(figures), reason].filter(Boolean).join(": ");

function report(done: readonly Done[], { tier, seed, json }: Orders): void {
  console.log(
    `\n${table([
      ["row", "outcome", "seconds", "budget", "figures"],
      ...done.map(({ row, outcome, seconds }) => [
        row.name,
        outcome.is,
        seconds.toFixed(1),
        String(row.budgetSeconds[tier]),
        figuresLine(outcome.figures) || (outcome.reason ?? ""),
      ]),
    ])}\n`,
  );
  if (json !== undefined) {
    writeJson(json, {
      tier,
      seed,
      node: process.version,
      rows: done.map(({ row, outcome, seconds }) => ({
        name: row.name,
        promise: row.promise,
        budgetSeconds: row.budgetSeconds[tier],
        seconds: Number(seconds.toFixed(3)),
        ...outcome,
      })),
    });
    console.log(`written to ${path.relative(process.cwd(), json) || json}`);
  }
  const count = (is: Outcome["is"]): number =>
    done.filter(({ outcome }) => outcome.is === is).length;
  console.log(`${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped`);
}

void main().then((code) => {
  process.exitCode = code;
});
