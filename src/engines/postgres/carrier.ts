/**
 * What we ask of DBOS, through its public interface alone: to keep work until somebody takes it, to
 * give it to one at a time, to keep what came of it, and to give it to another when whoever had it is
 * lost. Temporal has the same under other names: a task is an activity, a drive a short workflow.
 */
import type { DBOSClient, WorkflowStatus } from "@dbos-inc/dbos-sdk";
import { type Result, succeed } from "../../core/failure.ts";
import { chooseLane } from "../../core/fleet/capabilities.ts";
import type { Database } from "../../stores/postgres/database.ts";
import { optional } from "../../stores/postgres/optional.ts";
import { liveWorkers } from "./rows/workers.ts";
import type { Task, TaskDone } from "./tasks.ts";

/**
 * What a worker has to understand to take over: raised when the meaning of a task, of a drive or of
 * the history changes, so that nobody takes work that he cannot replay. A newer one can replay older.
 */
export const protocol = "1";

export const application = "autodev";
/** Where drives wait; any worker can take one. */
export const runsQueue = "runs";

export interface Carrier {
  /** `mark`: the wish that it answers; the same one twice is one drive. `version`: who can replay it. */
  enqueueDrive(
    run: string,
    mark: string,
    to: { readonly version: string; readonly turn: Turn },
  ): Promise<void>;
  /** A flow, which takes a place where it is driven. */
  enqueueFlow(
    run: string,
    mark: string,
    to: { readonly lane: string; readonly version: string; readonly turn: Turn },
  ): Promise<void>;
  /** Twice is once; one that is known already stays where it is. */
  enqueueTask(name: string, lane: string, task: Task): Promise<void>;
  /** What had come of it before anybody asks now; `taken`: somebody is at it; undefined: nobody yet. */
  known(name: string): Promise<TaskOutcome | "taken" | undefined>;
  /** Runs that wait for somebody who drives them; of our version. */
  waitingDrives(): Promise<readonly string[]>;
  /** Those of them that nobody has taken yet. */
  stillQueued(tasks: readonly string[]): Promise<ReadonlySet<string>>;
  /** Flows that wait in a lane. */
  waitingFlows(): Promise<
    readonly { readonly id: string; readonly run: string; readonly lane: string }[]
  >;
  moveTo(id: string, lane: string): Promise<void>;
  /** Nobody asks for any of it again. */
  forget(runs: readonly string[]): Promise<void>;
  /** What came of it, as soon as that is on record. */
  outcomeOf(name: string, asker: Asker): Promise<TaskOutcome>;
  /** What is this worker's, as the queue has it. */
  claimedBy(worker: string): Promise<readonly string[]>;
  /** It lies there for everybody again, unless somebody else has it by now. */
  giveBack(name: string, worker: string): Promise<void>;
  /** How many wait or are at work in each lane. */
  load(): Promise<ReadonlyMap<string, number>>;
  /** The same, as it was within the last second: many may ask. */
  loadSeen(): Promise<ReadonlyMap<string, number>>;
  /**
   * Everything that is with nobody of `there` is given to others; resolves with what that was.
   * `before`: told of each while it is still with whoever had it.
   */
  takeOver(
    there: () => Promise<ReadonlySet<string>>,
    before: (id: string, worker: string) => Promise<unknown>,
  ): Promise<readonly { readonly id: string; readonly worker: string }[]>;
  close(): Promise<void>;
}

/** `first`: it was driven before, and had to let others go first. */
export type Turn = "first" | "usual";

/** The smaller one is taken first; of equals, the one that has waited longer. */
const priorityOf = (turn: Turn): number => (turn === "first" ? 1 : 2);

/**
 * How whoever asks stands to the run. `ended`: people have stopped it, so what nobody has begun is
 * called off. `fenced`: it is somebody else's now, and so is the task: it is left alone.
 */
export type AskerStanding = "driving" | "ended" | "fenced";

export interface Asker {
  standing(): AskerStanding;
  /** It lies behind the work of others, in this lane; undefined: somebody has taken it. */
  lies(lane: string | undefined): void;
}

export type TaskOutcome =
  | { readonly is: "done"; readonly done: TaskDone }
  | { readonly is: "called off" }
  /** Left by a version that nobody has any more. */
  | { readonly is: "abandoned" }
  | { readonly is: "fenced" }
  /** A bug of ours, on whichever machine. */
  | { readonly is: "broken"; readonly message: string };

export const driveName = (run: string, mark: string): string => `${run}/drive/${mark}`;
export const flowName = (run: string, mark: string): string => `${run}/flow/${mark}`;

/** DBOS tells us what we know better how to tell. */
export const quiet = { info() {}, debug() {}, warn() {}, error() {} };

const pollMs = 100;
const strandedMs = 2000;
const seenMs = 900;

export async function openCarrier(
  database: Database,
  url: string,
  version: string,
): Promise<Result<Carrier>> {
  const dbos = optional("@dbos-inc/dbos-sdk");
  if (!dbos.ok) return dbos;
  const client = await dbos.value.DBOSClient.create({
    systemDatabaseUrl: url,
    systemDatabasePool: database.pool,
    applicationName: application,
    logger: quiet,
  });
  return succeed(carrierOver(client, database, version));
}

interface Waiting extends Asker {
  resolve(outcome: TaskOutcome): void;
  since: number;
}

function carrierOver(client: DBOSClient, database: Database, version: string): Carrier {
  const waiting = new Map<string, Waiting>();
  const { patiently } = database;
  let polling: NodeJS.Timeout | undefined;
  let closed = false;
  // Many drives of one worker ask the same.
  const waitingDrives = seenLately(async () => {
    const found = await patiently(() =>
      client.listWorkflows({
        workflowName: "drive",
        status: "ENQUEUED",
        applicationVersion: version,
        loadInput: false,
        loadOutput: false,
        limit: 100,
      }),
    );
    return found.map(({ workflowID }) => workflowID);
  });
  const load = async (): Promise<ReadonlyMap<string, number>> => {
    const found = await patiently(() =>
      client.listWorkflows({
        workflowName: ["task", "flow"],
        status: ["ENQUEUED", "PENDING"],
        loadInput: false,
        loadOutput: false,
      }),
    );
    const counted = new Map<string, number>();
    for (const { queueName = "" } of found)
      counted.set(queueName, (counted.get(queueName) ?? 0) + 1);
    return counted;
  };

  const poll = async (): Promise<void> => {
    const names = [...waiting.keys()];
    const found = await patiently(() =>
      client.listWorkflows({ workflowIDs: names, loadInput: true, loadOutput: true }),
    );
    // A database that was set back to an earlier moment has never heard of it.
    const known = new Set(found.map(({ workflowID }) => workflowID));
    for (const name of names) {
      if (known.has(name)) continue;
      waiting.get(name)?.resolve({ is: "called off" });
      waiting.delete(name);
    }
    for (const each of found) {
      const { workflowID: name, status, output, error } = each;
      const asked = waiting.get(name);
      if (!asked) continue;
      const standing = asked.standing();
      asked.lies(status === "ENQUEUED" ? each.queueName : undefined);
      const outcome =
        standing === "fenced" ? { is: "fenced" as const } : outcomeIn(status, output, error);
      if (outcome) {
        waiting.delete(name);
        asked.resolve(outcome);
      } else if (status === "ENQUEUED" && standing === "ended") {
        await patiently(() => client.cancelWorkflow(name));
      } else if (status === "ENQUEUED" && performance.now() - asked.since > strandedMs) {
        asked.since = performance.now();
        if ((await moveOn(each)) === "stays") continue;
        await patiently(() => client.cancelWorkflow(name));
        waiting.delete(name);
        asked.resolve({ is: "abandoned" });
      }
    }
  };
  /**
   * Work that waits in a lane in which nobody works any more goes to another; that of a version of
   * which nobody is there any more can only be asked for anew.
   */
  const moveOn = async (left: WorkflowStatus): Promise<"stays" | "abandoned"> => {
    const { workflowID: name, queueName: from, applicationVersion = version, input } = left;
    const workers = (await liveWorkers(database)).filter(
      (worker) => worker.version === applicationVersion,
    );
    if (workers.length === 0 && applicationVersion !== version) return "abandoned";
    if (workers.some(({ lane }) => lane === from)) return "stays";
    const [task] = (input ?? []) as Task[];
    const wanted = { needs: task?.needs ?? [], version: applicationVersion };
    const to = chooseLane(workers, wanted, new Map());
    if (to !== undefined) await patiently(() => client.resumeWorkflow(name, { queueName: to }));
    return "stays";
  };
  const keepPolling = (): void => {
    polling ??= setTimeout(() => {
      void poll()
        .catch(() => {})
        .then(() => {
          polling = undefined;
          if (waiting.size > 0 && !closed) keepPolling();
        });
    }, pollMs);
  };

  return {
    enqueueDrive: async (run, mark, { version: appVersion, turn }) => {
      await patiently(() =>
        client.enqueue(
          {
            queueName: runsQueue,
            workflowName: "drive",
            workflowID: driveName(run, mark),
            appVersion,
            priority: priorityOf(turn),
          },
          run,
        ),
      );
    },
    enqueueFlow: async (run, mark, { lane, version: appVersion, turn }) => {
      const [workflowID, priority] = [flowName(run, mark), priorityOf(turn)];
      await patiently(() =>
        client.enqueue(
          { queueName: lane, workflowName: "flow", workflowID, appVersion, priority },
          run,
        ),
      );
    },
    enqueueTask: async (name, lane, task) => {
      await patiently(() =>
        client.enqueue(
          {
            queueName: lane,
            workflowName: "task",
            workflowID: name,
            appVersion: version,
            priority: priorityOf("usual"),
          },
          task,
        ),
      );
    },
    async known(name) {
      const found = await patiently(() => client.getWorkflow(name));
      if (found?.status === "PENDING") return "taken";
      return found && outcomeIn(found.status, found.output, found.error);
    },
    waitingDrives,
    async stillQueued(tasks) {
      if (tasks.length === 0) return new Set();
      const found = await patiently(() =>
        client.listWorkflows({
          workflowIDs: [...tasks],
          status: "ENQUEUED",
          loadInput: false,
          loadOutput: false,
        }),
      );
      return new Set(found.map(({ workflowID }) => workflowID));
    },
    async waitingFlows() {
      const found = await patiently(() =>
        client.listWorkflows({ workflowName: "flow", status: "ENQUEUED", loadOutput: false }),
      );
      return found.map(({ workflowID: id, queueName: lane = "", input }) => ({
        id,
        lane,
        run: String(input?.[0]),
      }));
    },
    async moveTo(id, lane) {
      await patiently(() => client.resumeWorkflow(id, { queueName: lane }));
    },
    async forget(runs) {
      for (const run of runs) {
        const found = await client.listWorkflows({
          workflow_id_prefix: `${run}/`,
          loadInput: false,
          loadOutput: false,
        });
        const ids = found.map(({ workflowID }) => workflowID);
        if (ids.length > 0) await client.deleteWorkflows(ids);
      }
    },
    outcomeOf: (name, asker) =>
      new Promise((resolve) => {
        waiting.set(name, { ...asker, resolve, since: performance.now() });
        keepPolling();
      }),
    load,
    loadSeen: seenLately(load),
    async takeOver(there, before) {
      const taken: { id: string; worker: string }[] = [];
      const all = await client.listWorkflows({
        status: "PENDING",
        loadInput: false,
        loadOutput: false,
      });
      // Asked after that: whoever has taken something was known before he did.
      const staff = await there();
      for (const { workflowID: id, executorId: worker } of all) {
        if (worker !== undefined && staff.has(worker)) continue;
        // As late as can be: another may have given it to somebody a moment ago.
        const now = await client.getWorkflow(id);
        if (now?.status !== "PENDING" || worker === undefined || now.executorId !== worker)
          continue;
        await before(id, worker);
        await client.resumeWorkflow(id, { queueName: now.queueName ?? runsQueue });
        taken.push({ id, worker });
      }
      return taken;
    },
    async claimedBy(worker) {
      const found = await client.listWorkflows({
        status: "PENDING",
        executorId: worker,
        loadInput: false,
        loadOutput: false,
      });
      return found.map(({ workflowID }) => workflowID);
    },
    async giveBack(id, worker) {
      const now = await client.getWorkflow(id);
      if (now?.status === "PENDING" && now.executorId === worker)
        await client.resumeWorkflow(id, { queueName: now.queueName ?? runsQueue });
    },
    async close() {
      closed = true;
      clearTimeout(polling);
      // Its connections are the database's, which whoever opened it closes.
    },
  };
}

/** One look serves all who ask within a second; one that came to nothing serves nobody. */
function seenLately<T>(look: () => Promise<T>): () => Promise<T> {
  let seen: { readonly at: number; readonly found: Promise<T> } | undefined;
  return () => {
    const now = performance.now();
    if (!seen || now - seen.at > seenMs) {
      const found = look();
      seen = { at: now, found };
      found.catch(() => {
        if (seen?.found === found) seen = undefined;
      });
    }
    return seen.found;
  };
}

function outcomeIn(status: string, output: unknown, error: unknown): TaskOutcome | undefined {
  switch (status) {
    case "SUCCESS":
      return { is: "done", done: output as TaskDone };
    case "CANCELLED":
      return { is: "called off" };
    case "ERROR":
    case "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
      return { is: "broken", message: error instanceof Error ? error.message : String(error) };
    default:
      return undefined;
  }
}
