/**
 * npm run torture -- [--tier ci|full] [--only row[:case]] [--seed n] [--at-once n] [--json file]
 *
 * Real faults against the real store, row by row of the table; two at once in CI and three in full,
 * since much of what they do is to wait. That is how busy a machine is that the budgets are for.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { parseArgs } from "node:util";
import { inMemory } from "../scripts/in-memory.mjs";
import { isOfAnotherKind, readRecord, type TortureRecord, writeRecord } from "./record.ts";
import {
  type Context,
  figuresLine,
  inParallel,
  type Outcome,
  type Row,
  table,
  temporaryFolder,
} from "./rig.ts";
import { rows } from "./rows.ts";

const usage = `npm run torture -- [--tier ci|full] [--only row[:case]] [--seed n] [--at-once n] [--json file]
rows: ${rows.map(({ name }) => name).join(", ")}`;

interface Orders {
  readonly tier: Context["tier"];
  readonly seed: number;
  readonly atOnce: number;
  readonly only?: { row: string; case?: string };
  readonly json?: string;
}

interface Done {
  readonly row: Row;
  readonly outcome: Outcome;
  readonly seconds: number;
  /** When it ended. */
  readonly date: string;
}

async function main(): Promise<number> {
  const orders = readOrders(process.argv.slice(2));
  if (typeof orders === "string") {
    console.error(`${orders}\n${usage}`);
    return 2;
  }
  process.env["TMPDIR"] = inMemory();
  const chosen = rows.filter(({ name }) => orders.only === undefined || name === orders.only.row);
  const budget = chosen.reduce((sum, { budgetSeconds }) => sum + budgetSeconds[orders.tier], 0);
  console.log(
    `tier ${orders.tier}, seed ${orders.seed}, ${orders.atOnce} at once; at most ${inMinutes(budget / Math.min(orders.atOnce, chosen.length))} min in all (budgets of ${inMinutes(budget)} min)`,
  );
  const done: Done[] = [];
  // Those that take longest begin first: at the end none of them keeps the others waiting.
  const inTurn = [...chosen.entries()];
  if (orders.atOnce > 1) {
    const { tier } = orders;
    inTurn.sort(([, a], [, b]) => b.budgetSeconds[tier] - a.budgetSeconds[tier]);
  }
  await inParallel(
    inTurn,
    async ([at, row]) => {
      const ended = await runRow(row, orders);
      done[at] = ended;
      // At once: what took an hour is not lost with what comes after it.
      if (orders.json !== undefined) keep(orders.json, ended, orders);
    },
    orders.atOnce,
  );
  report(done, orders);
  if (orders.json !== undefined) console.log(`kept in ${path.relative("", orders.json)}`);
  // Where everything is wanted, a row that could not be run has shown nothing.
  const bad = orders.tier === "full" ? ["failed", "skipped"] : ["failed"];
  return done.some(({ outcome }) => bad.includes(outcome.is)) ? 1 : 0;
}

/** How many rows at once, where nothing else is said. */
const usually = { ci: 2, full: 3 };

const inMinutes = (seconds: number): number => Math.ceil(seconds / 60);

function readOrders(args: string[]): Orders | string {
  let values: { tier?: string; only?: string; seed?: string; "at-once"?: string; json?: string };
  try {
    ({ values } = parseArgs({
      args,
      options: {
        tier: { type: "string", default: "ci" },
        only: { type: "string" },
        seed: { type: "string", default: "1" },
        "at-once": { type: "string" },
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
  const atOnce = Number(values["at-once"] ?? usually[tier]);
  if (!(atOnce >= 1)) return `"${values["at-once"]}" is no number of rows`;
  const [row = "", ...rest] = only?.split(":") ?? [];
  if (only !== undefined && !rows.some(({ name }) => name === row)) return `"${row}" is no row`;
  const onlyCase = rest.length > 0 ? rest.join(":") : undefined;
  const kept = json === undefined ? undefined : readRecord(json);
  const ofNow = { tier, ...(onlyCase !== undefined && { onlyCase }) } as const;
  if (kept && isOfAnotherKind(kept, ofNow))
    return `${json} keeps ${kept.onlyCase === undefined ? `rows of the tier ${kept.tier}` : "a single case"}: another file, please`;
  return {
    tier,
    seed,
    atOnce,
    ...(only !== undefined && { only: { row, ...(onlyCase !== undefined && { case: onlyCase }) } }),
    ...(json !== undefined && { json }),
  };
}

async function runRow(row: Row, { tier, seed, only }: Orders): Promise<Done> {
  const budget = row.budgetSeconds[tier];
  const say = (line: string): void => console.log(`${row.name}: ${line}`);
  say(`${row.promise} (budget ${budget} s)`);
  const scratch = temporaryFolder(row.name);
  const began = performance.now();
  const outcome = await outcomeOf(row, {
    tier,
    seed,
    scratch,
    ...(only?.case !== undefined && { onlyCase: only.case }),
    note: (line) => say(`  ${line}`),
  });
  const seconds = (performance.now() - began) / 1000;
  try {
    fs.rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  } catch (error) {
    say(`${scratch} is left: ${error instanceof Error ? error.message : String(error)}`);
  }
  const late = seconds > budget ? " (over its budget)" : "";
  say(`${verdict(outcome)} in ${seconds.toFixed(1)} s${late}`);
  for (const failure of outcome.failures) say(`✗ ${failure}`);
  return { row, outcome, seconds, date: new Date().toISOString() };
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

function keep(
  file: string,
  { row, outcome, seconds, date }: Done,
  { tier, seed, only }: Orders,
): void {
  const record: TortureRecord = {
    tier,
    ...(only?.case !== undefined && { onlyCase: only.case }),
    rows: [
      {
        name: row.name,
        promise: row.promise,
        budgetSeconds: row.budgetSeconds[tier],
        seconds: Number(seconds.toFixed(3)),
        seed,
        node: process.version,
        date,
        ...outcome,
      },
    ],
  };
  const names = rows.map(({ name }) => name);
  writeRecord(file, record, names);
}

function report(done: readonly Done[], { tier }: Orders): void {
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
  const count = (is: Outcome["is"]): number =>
    done.filter(({ outcome }) => outcome.is === is).length;
  console.log(`${count("passed")} passed, ${count("failed")} failed, ${count("skipped")} skipped`);
}

void main().then((code) => {
  process.exitCode = code;
});
