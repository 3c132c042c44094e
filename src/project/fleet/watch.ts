/** What people see of a fleet, and say to it: from any machine, whoever is at work. */
import { triedAgain } from "../../activities/hear.ts";
import { eventsOf, type Project } from "../../activities/hold.ts";
import { type Answer, type Decision, optionFor } from "../../core/decision.ts";
import { evolve, nothingYet } from "../../core/evolve.ts";
import { fail, type Result, succeed } from "../../core/failure.ts";
import type { AgentRule } from "../../core/fleet/admission.ts";
import type { Message } from "../../core/message.ts";
import { type AgentRow, listAgentRules, setAgentRule } from "../../engines/postgres/rows/agents.ts";
import { newsAfter, type TranscriptRow, transcriptsOf } from "../../engines/postgres/rows/news.ts";
import {
  isPaused,
  listRuns,
  pauseFleet,
  pauseRun,
  type RunRow,
  retryWanted,
  runNamed,
  runRests,
  runsAsking,
  stopRun,
} from "../../engines/postgres/rows/runs.ts";
import { seenWorkers, type WorkerRow, workersAtWork } from "../../engines/postgres/rows/workers.ts";
import { wantRun } from "../../engines/postgres/want.ts";
import { openObjectStore } from "../../object-store.ts";
import { attempting, type Database } from "../../stores/postgres/database.ts";
import { openPostgresStore, type PostgresStore } from "../../stores/postgres.ts";
import { openProject } from "../open.ts";
import type { Fleet } from "./connect.ts";
import { remoteHere } from "./submit.ts";

export interface FleetSeen {
  readonly paused: boolean;
  readonly runs: readonly RunRow[];
  readonly workers: readonly WorkerRow[];
  readonly agents: readonly AgentRow[];
  /** By lane: how many wait or are at work. */
  readonly load: ReadonlyMap<string, number>;
}

export const seeFleet = (fleet: Fleet, most: number): Promise<Result<FleetSeen>> =>
  attempting(fleet.database, async () => ({
    paused: await isPaused(fleet.database),
    runs: await listRuns(fleet.database, most),
    workers: await seenWorkers(fleet.database),
    agents: await listAgentRules(fleet.database),
    load: await fleet.carrier.load(),
  }));

/** The run that is meant: by its id, or the one that is open of the repository that we are in. */
export async function findRunRow(
  fleet: Fleet,
  id: string | undefined,
  cwd = process.cwd(),
): Promise<Result<RunRow>> {
  const remote = id === undefined ? await remoteHere(cwd) : undefined;
  const found = await attempting(fleet.database, async () => {
    if (id !== undefined) return runNamed(fleet.database, id);
    if (remote === undefined) return undefined;
    const own = (await listRuns(fleet.database, 1000)).filter((row) => row.remote === remote);
    const open = own.filter(({ is_open }) => is_open);
    return open.length > 1 ? undefined : (open[0] ?? own[0]);
  });
  if (!found.ok) return found;
  if (found.value) return succeed(found.value);
  const what = id === undefined ? "it is not clear which run is meant" : `there is no run ${id}`;
  return fail("not-found", what, { hint: "autodev fleet lists them; --run <id> names one" });
}

export interface WatchedRun {
  readonly project: Project;
  readonly store: PostgresStore;
  row(): Promise<Result<RunRow | undefined>>;
  /** Lines that were told since the last look. */
  news(): Promise<Result<readonly unknown[]>>;
  end(): void;
}

/** A copy of its history that follows it, wherever it is driven. */
export async function watchRun(
  { database }: Fleet,
  cwd: string,
  id: string,
): Promise<Result<WatchedRun>> {
  const store = await openPostgresStore({ database, run: id, leaseMs: 15_000 });
  if (!store.ok) return store;
  const unfollow = store.value.follow(250);
  let last = "0";
  let isFirst = true;
  return succeed({
    project: { ...openProject(cwd), store: store.value },
    store: store.value,
    row: () => attempting(database, () => runNamed(database, id)),
    async news() {
      const found = await attempting(database, () => newsAfter(database, id, last));
      if (!found.ok) return found;
      const rows = found.value;
      last = rows.at(-1)?.id ?? last;
      // What was told before anybody watched is no news.
      const told = isFirst ? [] : rows.map(({ news }) => news);
      isFirst = false;
      return succeed(told);
    },
    end: unfollow,
  });
}

/** On record with whoever comes first; then it goes on, wherever that is. */
export async function answerIn(
  fleet: Fleet,
  { wanted, key, by }: { readonly wanted: string; readonly key: string; readonly by: string },
): Promise<Result<{ readonly run: string; readonly id: string; readonly answer: Answer }>> {
  const found = await attempting(fleet.database, () => runsAsking(fleet.database, wanted));
  if (!found.ok) return found;
  const [only] = found.value;
  if (!only || found.value.length > 1) {
    const what = only ? "several decisions begin with" : "there is no open decision";
    return fail("not-found", `${what} "${wanted}"`, {
      hint: "autodev decisions --engine postgres lists them",
    });
  }
  const { decision, id: run } = only;
  const option = optionFor(decision, key);
  if (!option) {
    const keys = decision.options.map((each) => each.key).join(", ");
    return fail("usage", `"${key}" is no option of ${decision.id}; there are ${keys}`);
  }
  const stands = await answerRun(fleet, run, decision, { key: option.key, by });
  if (!stands.ok) return stands;
  if (stands.value.key !== option.key) {
    const { key: first, by: who, at } = stands.value;
    return fail(
      "decision-taken",
      `${decision.id} was answered before: ${first} by ${who}, ${at}; the first answer stands`,
    );
  }
  return succeed({ run, id: decision.id, answer: stands.value });
}

export async function answerRun(
  fleet: Fleet,
  run: string,
  { id }: Pick<Decision, "id">,
  { key, by }: { readonly key: string; readonly by: string },
): Promise<Result<Answer>> {
  const store = await openPostgresStore({ database: fleet.database, run, leaseMs: 15_000 });
  if (!store.ok) return store;
  const mine: Answer = { key, by, at: new Date().toISOString() };
  const stands = await store.value.answer(id, mine);
  if (!stands.ok) return stands;
  const { at, by: whose } = stands.value;
  const answer = { decision: id, isFirst: at === mine.at && whose === by };
  const wanted = await attempting(fleet.database, () => wantRun(fleet, run, { answer }));
  return wanted.ok ? stands : wanted;
}

/** Asked of whoever drives it; what nobody drives rests at once. */
export async function stopIn(
  { database }: Fleet,
  { id }: Pick<RunRow, "id">,
  { how, by }: { readonly how: "now" | "after-phase"; readonly by: string },
): Promise<Result<"asked" | "rests">> {
  const store = await openPostgresStore({ database, run: id, leaseMs: 15_000 });
  if (!store.ok) return store;
  // Whoever drove it may just have died: somebody else takes it over, and is asked then.
  for (const until = performance.now() + 60_000; performance.now() < until; ) {
    const row = await attempting(database, () => runNamed(database, id));
    if (!row.ok) return row;
    if (!row.value || !["waiting", "driving", "parked", "paused"].includes(row.value.state))
      return succeed("rests");
    const { kind, epoch } = row.value;
    const at = new Date().toISOString();
    const heard =
      kind === "flow" && store.value.holder()
        ? // Whoever follows a flow looks there, and nowhere else.
          await attempting(database, () => stopRun(database, { id, epoch }, "now"))
        : await heardBy(store.value, { say: "stop", how, by, at });
    if (!heard.ok || heard.value) return heard.ok ? succeed("asked") : heard;
    // Whoever drives it next finds it there; its agents come to their end meanwhile.
    const told = await attempting(
      database,
      async () =>
        how === "after-phase" &&
        (await isAtWork(database, id)) &&
        (await stopRun(database, { id, epoch }, how)),
    );
    if (!told.ok || told.value) return told.ok ? succeed("asked") : told;
    // Nobody has it: what would go on by itself, now or when its time has come, does not.
    const { wanted: driven, asking, progress } = row.value;
    const rest = { driven, epoch, asking, progress, state: "halted" as const };
    const rested = await attempting(database, () =>
      runRests(database, id, { ...rest, outcome: { how: "interrupted" } }),
    );
    if (!rested.ok) return rested;
    if (rested.value === "rests") return succeed("rests");
    await new Promise((resolve) => setTimeout(resolve, 250));
    const fresh = await store.value.refresh();
    if (!fresh.ok) return fresh;
  }
  return fail("locked", `run ${id} is driven by somebody who does not answer`, {
    hint: "autodev fleet shows by whom",
  });
}

/** Nobody drives it, and some of it is with a worker: of one that was handed over, or has made room. */
const isAtWork = async (database: Database, id: string): Promise<boolean> =>
  (await workersAtWork(database)).some(({ doing }) =>
    doing.some((task) => task.startsWith(`${id}/`)),
  );

/** Told to whoever drives it, or what it goes on with: a phase is tried again, with a word for it. */
export async function retryIn(
  fleet: Fleet,
  { id, is_open }: Pick<RunRow, "id" | "is_open">,
  word: { readonly phase: string; readonly note?: string; readonly by: string },
): Promise<Result<"told" | "goes on">> {
  const { database } = fleet;
  const opened = await openPostgresStore({ database, run: id, leaseMs: 15_000 });
  if (!opened.ok) return opened;
  const store = opened.value;
  const read = store.read();
  if (!read.ok) return read;
  const run = read.value.after.flatMap(eventsOf).reduce(evolve, nothingYet).runs?.[id];
  if (!run) return fail("usage", `${id} is no run of a plan`);
  const nothing = triedAgain(run, word);
  if (typeof nothing === "string") return fail("usage", nothing);
  if (!is_open) return fail("usage", `run ${id} is over: no phase of it is tried again`);
  const heard = await heardBy(store, { say: "retry", ...word, at: new Date().toISOString() });
  if (!heard.ok || heard.value) return heard.ok ? succeed("told") : heard;
  const { by: _, ...retry } = word;
  const wanted = await attempting(database, async () => {
    await retryWanted(database, id, retry);
    await wantRun(fleet, id);
  });
  return wanted.ok ? succeed("goes on") : wanted;
}

/** False: nobody drives it, or no longer; what was said is taken back. */
async function heardBy(store: PostgresStore, message: Message): Promise<Result<boolean>> {
  const holder = store.holder();
  if (!holder) return succeed(false);
  const sent = await store.send(holder, message);
  if (!sent.ok) return sent;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    const fresh = await store.refresh();
    if (!fresh.ok) return fresh;
    if (!store.isWaiting(sent.value)) return succeed(true);
    const now = store.holder();
    if (now?.pid === holder.pid && now.since === holder.since) continue;
    await store.takeBack(sent.value);
    return succeed(false);
  }
}

/** Nothing new begins; what is under way comes to its end. Without an id: in the whole fleet. */
export async function pauseIn(
  fleet: Fleet,
  id: string | undefined,
  paused: boolean,
): Promise<Result<readonly string[]>> {
  const { database } = fleet;
  if (id !== undefined) {
    const known = await attempting(database, () => pauseRun(database, id, paused));
    if (!known.ok) return known;
    if (!known.value) {
      return fail("not-found", `there is no run ${id} that is not over`, { hint: "autodev fleet" });
    }
  }
  return attempting(database, async () => {
    if (id === undefined) await pauseFleet(database, paused);
    if (paused) return [];
    const resting = (await listRuns(database, 10_000)).filter(
      (row) => row.state === "paused" && (id === undefined ? !row.paused : row.id === id),
    );
    for (const row of resting) await wantRun(fleet, row.id);
    return resting.map((row) => row.id);
  });
}

export const limitAgent = (
  { database }: Fleet,
  agent: string,
  rule: Pick<AgentRule, "atOnce" | "perMinute" | "dollarsADay">,
): Promise<Result<unknown>> => attempting(database, () => setAgentRule(database, agent, rule));

/** What agents and gates have printed, from wherever it is kept: never more than one part in memory. */
export async function keptTranscripts(
  { database }: Fleet,
  {
    run,
    phase,
    address,
  }: { readonly run: string; readonly phase?: string; readonly address: string },
  take: (part: TranscriptRow & { readonly text: string }) => void,
): Promise<Result<void>> {
  const kept = openObjectStore(address, process.env);
  if (!kept.ok) return kept;
  const rows = await attempting(database, () => transcriptsOf(database, run, phase));
  if (!rows.ok) return rows;
  if (rows.value.length === 0) {
    const what = phase === undefined ? `run ${run}` : `phase ${phase} of run ${run}`;
    return fail("not-found", `nothing is kept of ${what}`, {
      hint: "autodev fleet lists the runs; what is kept is what workers with --transcripts have done",
    });
  }
  for (const row of rows.value) {
    const bytes = await kept.value.get(row.reference);
    if (!bytes.ok) return bytes;
    take({ ...row, text: bytes.value.toString("utf8") });
  }
  return succeed(undefined);
}
