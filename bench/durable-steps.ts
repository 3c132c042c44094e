/**
 * One step that is on the disk before the next begins, by everybody who promises that: a transition
 * of ours, the bare append and sync that is the limit, a row in SQLite, a step of a LangGraph with
 * its SQLite saver, a step of a DBOS workflow on PostgreSQL. All of them in this process, the same
 * number of steps, in turns; what a peer needs to begin and end a series of steps is its own.
 */
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as path from "node:path";
import { performance } from "node:perf_hooks";
import { findPostgres, startPostgres } from "../scripts/postgres.mjs";
import { hold, openProject } from "../src/project.ts";
import { install, type Peer, peerName } from "./peers.ts";
import { created, newRepository, subStep } from "./repositories.ts";
import { median, type Row, ratioRow } from "./row.ts";

const sqlite: Peer = {
  name: "better-sqlite3",
  version: "12.11.1",
  proof: "build/Release/better_sqlite3.node",
  needsScript: true,
};
/** The newest whose parts the registry has in versions that fit together on Node 20. */
const langGraph: Peer = {
  name: "@langchain/langgraph",
  version: "1.4.14",
  beside: ["@langchain/core@1.2.13", "@langchain/langgraph-checkpoint-sqlite@1.0.4"],
  proof: "package.json",
};

const series = 20;
const steps = 50;
/** What a step leaves: as much as a line of our journal. */
const left = "x".repeat(400);

interface Stepper {
  readonly name: string;
  /** That many, each on the disk before the next begins; throws if they are not there then. */
  take(count: number): Promise<void>;
  end(): Promise<void>;
}

export async function* durableStepRows(scratch: string, short: boolean): AsyncGenerator<Row> {
  if (short) {
    const detail = "others are run in the full form only";
    yield { name: "autodev transition / others", figure: null, unit: "×", detail };
    return;
  }
  // It reports to nobody by itself; said once more.
  process.env["LANGSMITH_TRACING"] = "false";
  const folder = path.join(scratch, "durable-steps");
  fs.mkdirSync(folder);
  const ours = await ourJournal(folder);
  const steppers: Stepper[] = [ours];
  const missing: [name: string, why: string][] = [];
  for (const [name, open] of [
    [limitName, bareFile],
    [`${peerName(sqlite)}, WAL, FULL`, inSqlite],
    [`${peerName(langGraph)}, SQLite`, inLangGraph],
    ["DBOS on PostgreSQL", inDbos],
  ] as const) {
    try {
      steppers.push(await open(folder));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      missing.push([name, why.replace(/\s+/gu, " ")]);
    }
  }
  const times = new Map<Stepper, number[]>(steppers.map((each) => [each, []]));
  try {
    // The first series finds everything cold.
    for (let turn = -1; turn < series; turn++) {
      // Somebody else goes first each time: nobody has a place of his own in a busy machine's rhythm.
      for (let at = 0; at < steppers.length; at++) {
        const stepper = steppers[(at + turn + 1) % steppers.length] as Stepper;
        const began = performance.now();
        await stepper.take(steps);
        if (turn >= 0) times.get(stepper)?.push((performance.now() - began) / steps);
      }
    }
  } finally {
    for (const stepper of steppers.toReversed()) await stepper.end();
  }
  const measured = steppers.map((each) => ({ name: each.name, times: times.get(each) ?? [] }));
  yield* stepRows(measured, missing);
}

/** Of each, turn by turn; the first is ours, and whoever is called by the limit's name is the limit. */
export function* stepRows(
  measured: readonly { readonly name: string; readonly times: readonly number[] }[],
  missing: readonly (readonly [name: string, why: string])[],
): Generator<Row> {
  const chart = "durable-step";
  const [ours, ...others] = measured;
  if (!ours) return;
  const ratiosTo = (theirs: readonly number[]): number[] =>
    ours.times.map((time, turn) => time / (theirs[turn] ?? time)).sort((a, b) => a - b);
  const limit = others.find(({ name }) => name === limitName);
  const overLimit = limit ? median(ratiosTo(limit.times)) : undefined;
  // A transition holds the very calls that are the limit: less than that is noise, and so is all else then.
  const noise =
    overLimit !== undefined && overLimit < 1
      ? `not usable: ours came out at ${overLimit.toFixed(2)} × of the calls that it consists of, so this machine was too busy; measure again`
      : undefined;
  const us = { name: ours.name, figure: noise ? null : median([...ours.times]) };
  for (const { name, times } of others) {
    const theirs = { name, figure: noise ? null : median([...times]) };
    const ratios = ratiosTo(times);
    const quarter = (part: number): string =>
      (ratios[Math.floor((ratios.length - 1) * part)] ?? 0).toFixed(2);
    const detail =
      noise ??
      `median of ${ratios.length} turns of ${steps} steps each, half of them between ${quarter(0.25)} and ${quarter(0.75)} ×; ${us.figure?.toFixed(3)} ms and ${theirs.figure?.toFixed(3)} ms a step`;
    const row = ratioRow({ chart, ours: us, theirs }, detail);
    const target = name === limitName ? { target: 1.3 } : {};
    yield { ...row, ...target, figure: noise ? null : median(ratios) };
  }
  for (const [name, why] of missing)
    yield ratioRow({ chart, ours: us, theirs: { name, figure: null } }, why);
}

// ── ours, and the limit ────────────────────────────────────────────────────────────────────────

async function ourJournal(folder: string): Promise<Stepper> {
  const held = await hold(openProject(newRepository(folder, "ours")), "bench");
  if (!held.ok) throw new Error(held.failure.message);
  const { record, release } = held.value;
  await created(record);
  let number = 0;
  return {
    name: "autodev transition",
    async take(count) {
      for (let step = 0; step < count; step++) {
        const recorded = await record(subStep(++number));
        if (!recorded.ok) throw new Error(recorded.failure.message);
      }
    },
    end: async () => void (await release()),
  };
}

const limitName = "append + fdatasync";

/** The calls that a transition makes on a disk that answers quickly (stores/file/disk.ts), and no other. */
async function bareFile(folder: string): Promise<Stepper> {
  const file = fs.openSync(path.join(folder, "bare.log"), "a");
  return {
    name: limitName,
    async take(count) {
      for (let step = 0; step < count; step++) {
        fs.writeSync(file, left);
        fs.fdatasyncSync(file);
      }
    },
    end: async () => fs.closeSync(file),
  };
}

// ── SQLite ─────────────────────────────────────────────────────────────────────────────────────

interface SqliteDatabase {
  pragma(text: string, options?: { simple: boolean }): unknown;
  exec(text: string): void;
  prepare(text: string): { run(...values: unknown[]): unknown; get(): unknown };
  close(): void;
}

/** By its own account: what is committed is synced. */
function openSqlite(file: string): SqliteDatabase {
  const installed = install(sqlite);
  if (typeof installed === "string") throw new Error(installed);
  const Database = requireFrom(installed.folder, sqlite.name) as new (
    file: string,
  ) => SqliteDatabase;
  const database = new Database(file);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  return database;
}

function mustSync(database: SqliteDatabase): void {
  const [mode, synchronous] = ["journal_mode", "synchronous"].map((name) =>
    database.pragma(name, { simple: true }),
  );
  if (mode !== "wal" || synchronous !== 2)
    throw new Error(`SQLite is in mode ${String(mode)}, synchronous ${String(synchronous)}`);
}

async function inSqlite(folder: string): Promise<Stepper> {
  const database = openSqlite(path.join(folder, "steps.db"));
  database.exec("CREATE TABLE steps (number INTEGER PRIMARY KEY, left TEXT NOT NULL)");
  mustSync(database);
  const insert = database.prepare("INSERT INTO steps (left) VALUES (?)");
  return {
    name: `${peerName(sqlite)}, WAL, FULL`,
    async take(count) {
      for (let step = 0; step < count; step++) insert.run(left);
    },
    end: async () => database.close(),
  };
}

// ── LangGraph ──────────────────────────────────────────────────────────────────────────────────

/** As much of it as is called here. */
interface LangGraph {
  readonly START: string;
  readonly END: string;
  readonly Annotation: { (): unknown; Root(fields: object): unknown };
  readonly StateGraph: new (state: unknown) => Graph;
}
interface GraphState {
  readonly step: number;
  readonly most: number;
  readonly left: string;
}
interface Graph {
  addNode(name: string, does: (state: GraphState) => Partial<GraphState>): Graph;
  addEdge(from: string, to: string): Graph;
  addConditionalEdges(from: string, to: (state: GraphState) => string): Graph;
  compile(options: object): {
    invoke(input: GraphState, config: object): Promise<GraphState>;
  };
}

/** A node that follows itself; with `sync` each of its checkpoints is kept before the next step. */
async function inLangGraph(folder: string): Promise<Stepper> {
  const installed = install(langGraph);
  if (typeof installed === "string") throw new Error(installed);
  const { START, END, Annotation, StateGraph } = requireFrom(
    installed.folder,
    langGraph.name,
  ) as LangGraph;
  const { SqliteSaver } = requireFrom(
    installed.folder,
    "@langchain/langgraph-checkpoint-sqlite",
  ) as { SqliteSaver: new (database: SqliteDatabase) => object };
  const database = openSqlite(path.join(folder, "graph.db"));
  const State = Annotation.Root({ step: Annotation(), most: Annotation(), left: Annotation() });
  const graph = new StateGraph(State)
    .addNode("next", ({ step }) => ({ step: step + 1, left }))
    .addEdge(START, "next")
    .addConditionalEdges("next", ({ step, most }) => (step < most ? "next" : END))
    .compile({ checkpointer: new SqliteSaver(database) });
  const kept = (): number =>
    (database.prepare("SELECT count(*) AS kept FROM checkpoints").get() as { kept: number }).kept;
  let [thread, before] = [0, 0];
  return {
    name: `${peerName(langGraph)}, SQLite`,
    async take(count) {
      const { step } = await graph.invoke(
        { step: 0, most: count, left },
        {
          configurable: { thread_id: String(++thread) },
          durability: "sync",
          recursionLimit: count + 5,
        },
      );
      mustSync(database);
      const now = kept();
      if (step !== count || now - before < count)
        throw new Error(`LangGraph took ${step} steps and kept ${now - before}`);
      before = now;
    },
    end: async () => database.close(),
  };
}

const requireFrom = (folder: string, name: string): unknown =>
  createRequire(path.join(folder, "package.json"))(name);

// ── DBOS ───────────────────────────────────────────────────────────────────────────────────────

async function inDbos(): Promise<Stepper> {
  if (findPostgres() === undefined) throw new Error("PostgreSQL is not on this machine");
  const require = createRequire(path.resolve("package.json"));
  const { DBOS } = require("@dbos-inc/dbos-sdk") as typeof import("@dbos-inc/dbos-sdk");
  const manifest = fs.readFileSync("node_modules/@dbos-inc/dbos-sdk/package.json", "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  // What is committed is on the disk.
  const postgres = await startPostgres({ fast: false });
  const take = DBOS.registerWorkflow(
    async (count: number): Promise<number> => {
      let taken = 0;
      for (let step = 0; step < count; step++)
        taken += (await DBOS.runStep(async () => left, { name: "next" })).length / left.length;
      return taken;
    },
    { name: "series" },
  );
  DBOS.setConfig({
    name: "bench",
    systemDatabaseUrl: await postgres.createDatabase("bench"),
    runAdminServer: false,
    logLevel: "error",
  });
  await DBOS.launch();
  let number = 0;
  return {
    name: `DBOS ${version} on PostgreSQL`,
    async take(count) {
      const workflowID = `series-${++number}`;
      const handle = await DBOS.startWorkflow(take, { workflowID })(count);
      if ((await handle.getResult()) !== count) throw new Error(`DBOS lost steps of ${workflowID}`);
    },
    async end() {
      await DBOS.shutdown();
      await postgres.remove();
    },
  };
}
