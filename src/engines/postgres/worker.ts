/**
 * A worker: takes drives and tasks for as long as it is wanted, says every second that it is there,
 * and sees to it that what others had goes on when they no longer say so.
 *
 *  1. A worker has an id that is used once. Whoever was taken for dead and is not learns it with its
 *     next beat: its agents are told to stop, what they did counts for nothing, and it begins anew
 *     under another id.
 *  2. What one worker after the other was lost with is not given to yet another: it would go on until
 *     none is left, and begin again with whoever is started anew.
 *  3. A drain hands its drives to others, lets its tasks come to their end, and takes nothing new.
 *  4. A database that is away is waited for; agents go on meanwhile. One that refuses for longer than a
 *     lease ends the worker: somebody has to see that.
 */
import { randomUUID } from "node:crypto";
import { type Failure, type Result, succeed } from "../../core/failure.ts";
import { type Capabilities, laneOf } from "../../core/fleet/capabilities.ts";
import { attempting, type Database, failureOf, isRefusal } from "../../stores/postgres/database.ts";
import { every } from "../../stores/postgres/every.ts";
import { optional } from "../../stores/postgres/optional.ts";
import { application, type Carrier, quiet, runsQueue } from "./carrier.ts";
import { forgetOld, runsForgotten, runsToForget } from "./rows/news.ts";
import { abandonedRuns, runsDue, unheardRuns } from "./rows/runs.ts";
import {
  beat,
  countLoss,
  forgetLossesWith,
  liveWorkers,
  lossesOf,
  markLost,
  registerWorker,
  toldToStop,
  workerGone,
  workersThere,
} from "./rows/workers.ts";
import { mostLost, type Task, type TaskDone } from "./tasks.ts";
import { ableToGoOn, moveFlows, wantAgain, wantRun } from "./want.ts";

export interface WorkerOptions {
  readonly database: Database;
  readonly carrier: Carrier;
  readonly url: string;
  readonly name: string;
  readonly host: string;
  readonly jobs: number;
  readonly capabilities: Capabilities;
  readonly leaseMs: number;
  readonly version: string;
  hash(text: string): string;
  /** Drain; and at once. */
  readonly signal: AbortSignal;
  readonly killNow: AbortSignal;
  told(line: string): void;
  /** Each time that the database has told what time it is. */
  clockRead(now: Date): void;
  /** Resolves when the run rests, or when it is given to somebody else (`handOver`). */
  drive(run: string, at: DriveContext): Promise<string>;
  work(task: Task, at: TaskContext): Promise<TaskDone>;
  /** From where it is to its next rest. `isDeadly`: it only says that it has cost too many workers. */
  flow(run: string, at: TaskContext, isDeadly: boolean): Promise<string>;
  /** Now and then: what nobody needs any more goes. */
  tidy(): Promise<void>;
}

export interface DriveContext {
  readonly worker: string;
  /** Others drive it on: nothing that is under way is ended for that. */
  readonly handOver: AbortSignal;
  /** Too many workers were lost before they could drive it: it is driven no further. */
  readonly isDeadly: boolean;
  /** Whoever is lost from now on was not lost by what comes before it: a run is long, and machines go. */
  hasBegun(): Promise<unknown>;
}

export interface TaskContext {
  readonly worker: string;
  readonly name: string;
  /** A place on this machine that no other task has now. */
  readonly slot: number;
  readonly signal: AbortSignal;
  readonly killNow: AbortSignal;
}

interface AtWork {
  readonly run: string;
  readonly name: string;
  readonly slot: number;
  readonly stop: AbortController;
  readonly kill: AbortController;
}

/** What the workflows of this process are done by; DBOS knows them for as long as the process lives. */
let serving: Serving | undefined;
let registered = false;

interface Serving {
  drive(run: string): Promise<string>;
  task(task: Task): Promise<TaskDone>;
  flow(run: string): Promise<string>;
}

/** Serves until it is told to end, again and again should others take it for dead. */
export async function serveFleet(options: WorkerOptions): Promise<Result<void>> {
  for (;;) {
    const ended = await serveOnce(options);
    if (!ended.ok || ended.value === "drained") return ended.ok ? succeed(undefined) : ended;
    options.told("taken for dead by the rest of the fleet: beginning anew under another name");
  }
}

async function serveOnce(options: WorkerOptions): Promise<Result<"drained" | "lost">> {
  const { database, jobs, capabilities, leaseMs, version } = options;
  const loaded = optional("@dbos-inc/dbos-sdk");
  if (!loaded.ok) return loaded;
  const { DBOS } = loaded.value;
  const id = `${options.name}-${randomUUID().slice(0, 8)}`;
  const lane = laneOf(capabilities, jobs, options.hash);
  const atWork = new Map<string, AtWork>();
  const handOver = new AbortController();
  let isLost = false;

  serving = {
    drive: (run) =>
      inHand(async (name) => {
        const isDeadly = await isLostWith(name);
        const hasBegun = (): Promise<unknown> => forgetLossesWith(database, name);
        return options.drive(run, { worker: id, handOver: handOver.signal, isDeadly, hasBegun });
      }),
    task: (task) => inHand((name) => doTask(task, name)),
    flow: (run) =>
      inHand(async (name) => {
        const isDeadly = await isLostWith(name);
        return during(run, name, (at) => options.flow(run, at, isDeadly));
      }),
  };
  /** What has come from the queue to us, and has not come to its end. */
  const held = new Set<string>();
  const inHand = async <T>(act: (name: string) => Promise<T>): Promise<T> => {
    const name = DBOS.workflowID ?? "";
    held.add(name);
    try {
      return await act(name);
    } finally {
      held.delete(name);
    }
  };
  const isLostWith = async (name: string): Promise<boolean> =>
    (await lossesOf(database, name)) >= mostLost;
  const doTask = async (task: Task, name: string): Promise<TaskDone> => {
    // The first to have it says so on record: whoever finds another's word there came later.
    const taken = await DBOS.runStep(async () => id, { name: "taken" });
    if (taken !== id && (task.move.do === "work" || (await isLostWith(name))))
      return { is: "lost", worker: taken };
    return during(task.run, name, (at) =>
      DBOS.runStep(() => options.work(task, at), { name: task.move.do }),
    );
  };
  const during = async <T>(
    run: string,
    name: string,
    act: (at: TaskContext) => Promise<T>,
  ): Promise<T> => {
    const { slot, stop, kill } = begin(run, name);
    try {
      const [signal, killNow] = [stop.signal, kill.signal];
      return await act({ worker: id, name, slot, signal, killNow });
    } finally {
      atWork.delete(name);
    }
  };
  const begin = (run: string, name: string): AtWork => {
    const taken = new Set([...atWork.values()].map(({ slot }) => slot));
    let slot = 0;
    while (taken.has(slot)) slot++;
    const [stop, kill] = [new AbortController(), new AbortController()];
    const work = { run, name, slot, stop, kill };
    atWork.set(name, work);
    if (options.killNow.aborted || isLost) end(work, "kill");
    return work;
  };
  const end = ({ stop, kill }: AtWork, how: "now" | "kill"): void => {
    stop.abort();
    if (how === "kill") kill.abort();
  };
  const endAll = (): void => {
    for (const work of atWork.values()) end(work, "kill");
  };

  if (!registered) {
    registered = true;
    const config = { maxRecoveryAttempts: 1_000_000 };
    DBOS.registerWorkflow((run: string) => current().drive(run), { name: "drive", ...config });
    DBOS.registerWorkflow((task: Task) => current().task(task), { name: "task", ...config });
    DBOS.registerWorkflow((run: string) => current().flow(run), { name: "flow", ...config });
  }
  const launch = async (): Promise<void> => {
    if (options.signal.aborted) throw new Error("it was told to end before it began");
    try {
      DBOS.setConfig({
        name: application,
        systemDatabaseUrl: options.url,
        // What it asks has to be given up as ours is when nothing comes back.
        systemDatabasePool: database.pool,
        applicationVersion: version,
        executorID: id,
        runMigrations: false,
        logger: quiet,
        listenQueues: [lane, runsQueue],
      });
      // First of all: what somebody has whom nobody knows is taken from him.
      const { name, host } = options;
      const { pid } = process;
      const worker = { id, name, host, pid, version, lane, jobs, capabilities, lease_ms: leaseMs };
      await registerWorker(database, worker);
      await DBOS.launch();
      // Every worker of a lane says the same; the drives of runs take no place, they only wait.
      const usual = { onConflict: "always_update" as const };
      await DBOS.registerQueue(lane, {
        ...usual,
        minPollingIntervalMs: taskPollMs,
        workerConcurrency: jobs,
      });
      await DBOS.registerQueue(runsQueue, {
        ...usual,
        minPollingIntervalMs: drivePollMs,
        workerConcurrency: mostDrives,
      });
    } catch (error) {
      // Half of it is none: all of it is begun anew when the database is back.
      await DBOS.shutdown().catch(() => {});
      throw error;
    }
  };
  const launched = await attempting(database, () => database.patiently(launch));
  if (!launched.ok && options.signal.aborted) return succeed("drained");
  if (!launched.ok) return launched;
  options.told(`worker ${id}: ${jobs} at once, ${lane}`);

  const refused = new AbortController();
  let refusal: Failure | undefined;
  const complained = new Set<string>();
  const complain = (failure: Failure): void => {
    const line =
      failure.hint === undefined ? failure.message : `${failure.message}; ${failure.hint}`;
    if (!complained.has(line)) options.told(line);
    complained.add(line);
  };
  /** Others may have to do without us for a lease; whoever is refused for longer is of no use here. */
  const again = (act: () => Promise<unknown>, isLasting: (error: unknown) => boolean) => {
    let since: number | undefined;
    return every(Math.min(1000, leaseMs / 5), async () => {
      try {
        await act();
        since = undefined;
      } catch (error) {
        const failure = failureOf(error, database.shown);
        complain(failure);
        since = isLasting(error) ? (since ?? performance.now()) : undefined;
        if (since === undefined || performance.now() - since < leaseMs || isLost) return;
        refusal = failure;
        endAll();
        refused.abort();
      }
    });
  };
  const beats = async (): Promise<void> => {
    if (isLost) return;
    const doing = [...atWork.keys()];
    const alive = await beat(database, id, { draining: options.signal.aborted, doing });
    if (!alive) {
      isLost = true;
      endAll();
      lost.abort();
      return;
    }
    options.clockRead(alive.now);
    const runs = [...new Set([...atWork.values()].map(({ run }) => run))];
    for (const { id: run, stopping, is_open } of await toldToStop(database, runs)) {
      const how = is_open ? stopping : "now";
      if (how === null) continue;
      for (const work of atWork.values()) if (work.run === run) end(work, how);
    }
  };
  const lost = new AbortController();
  const contact: Contact = { since: performance.now(), last: performance.now() };
  // A database that is away is waited for: what comes back from it is what it says.
  const beating = again(beats, () => true);
  const sweeping = again(() => sweep(options, id, contact), isRefusal);
  // A connection that broke behind the queue's word that something is ours: nobody has told us.
  let unheardOf: readonly string[] = [];
  const listening = every(claimMs, async () => {
    const claimed = (await options.carrier.claimedBy(id)).filter((name) => !held.has(name));
    for (const name of claimed.filter((each) => unheardOf.includes(each)))
      if (!isLost && !options.signal.aborted) await options.carrier.giveBack(name, id);
    unheardOf = claimed;
  });
  const tidying = every(tidyMs, async () => {
    try {
      await options.tidy();
      await forgetWhatIsOver(options);
    } catch (error) {
      complain(failureOf(error, database.shown));
    }
  });

  const drained = new Promise<void>((resolve) => {
    const drain = (): void => {
      options.told(
        atWork.size > 0
          ? `draining: ${atWork.size} tasks come to their end (once more: at once)`
          : "draining",
      );
      handOver.abort();
      resolve();
    };
    if (options.signal.aborted) drain();
    else options.signal.addEventListener("abort", drain, { once: true });
  });
  options.killNow.addEventListener("abort", endAll, { once: true });
  const gone = new Promise<void>((resolve) => {
    for (const { signal } of [lost, refused])
      signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await Promise.race([drained, gone]);
  handOver.abort();
  // Takes nothing new from here on; what is under way comes to its end, and its end is on record.
  await DBOS.shutdown({ workflowCompletionTimeoutMS: isLost || refusal ? 10_000 : mostDrainMs });
  beating.end();
  sweeping.end();
  listening.end();
  tidying.end();
  if (refusal) return { ok: false, failure: refusal };
  if (isLost) return succeed("lost");
  await workerGone(database, id);
  return succeed("drained");
}

/** How long what is wanted lies there at the most: not much beside an agent, and idle costs little. */
const taskPollMs = 150;
const drivePollMs = 500;
const mostDrives = 20;
const tidyMs = 60_000;
const claimMs = 5000;
const mostDrainMs = 24 * 60 * 60_000;

function current(): Serving {
  if (!serving) throw new Error("this worker is not serving");
  return serving;
}

/** Since when this worker has reached the database without a break, and when it last did. */
interface Contact {
  since: number;
  last: number;
}

/** By one of them, the first by name: two at once would only be in each other's way. */
async function sweep(options: WorkerOptions, id: string, contact: Contact): Promise<void> {
  const { database, carrier, version, leaseMs } = options;
  // Whoever could not reach the database himself cannot tell who else could not.
  const now = performance.now();
  if (now - contact.last > leaseMs / 2) contact.since = now;
  if (now - contact.since >= leaseMs) await markLost(database);
  contact.last = performance.now();
  const [first] = (await liveWorkers(database)).map((worker) => worker.id).toSorted();
  if (first !== id) return;
  const taken = await carrier.takeOver(
    () => workersThere(database),
    (task, worker) => countLoss(database, task, worker),
  );
  for (const { id: task, worker } of taken) {
    options.told(`${task} was with ${worker}, which is gone: somebody else takes it`);
  }
  // What is newer than we are nobody here can replay.
  const older = (await abandonedRuns(database, version)).filter(
    (run) => Number(run.version) <= Number(version),
  );
  for (const { id: run, wanted } of older) await wantRun(options, run, { unheard: wanted });
  for (const run of await runsDue(database)) await wantRun(options, run, { isDue: true });
  // Wanted, and then whoever wanted it was killed before he could say so to anybody; or it has made
  // room for others, and need not any more.
  for (const run of await ableToGoOn(options, await unheardRuns(database)))
    await wantAgain(options, run);
  await moveFlows(options);
}

/** Each of them, now and then: what is forgotten twice is forgotten. */
export async function forgetWhatIsOver({
  database,
  carrier,
}: Pick<WorkerOptions, "database" | "carrier">): Promise<void> {
  await forgetOld(database);
  const runs = await runsToForget(database);
  await carrier.forget(runs);
  await runsForgotten(database, runs);
}
