/** Who works in a fleet, whether he still does, and what was lost with whoever does not. */
import type { Capabilities, WorkerSeen } from "../../../core/fleet/capabilities.ts";
import type { Database } from "../../../stores/postgres/database.ts";
import { jsonbOf } from "../../../stores/postgres/jsonb.ts";

export interface WorkerRow extends WorkerSeen {
  readonly id: string;
  readonly name: string;
  readonly host: string;
  readonly pid: number;
  readonly state: "active" | "draining" | "lost" | "gone";
  readonly doing: readonly string[];
  readonly started_at: Date;
  readonly beat_at: Date;
  readonly lease_ms: number;
}

export const registerWorker = (
  database: Database,
  worker: Omit<WorkerRow, "state" | "doing" | "started_at" | "beat_at">,
): Promise<unknown> =>
  database.query(
    `INSERT INTO autodev.workers (id, name, host, pid, version, lane, jobs, capabilities, lease_ms)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING`,
    [
      worker.id,
      worker.name,
      worker.host,
      worker.pid,
      worker.version,
      worker.lane,
      worker.jobs,
      jsonbOf(worker.capabilities satisfies Capabilities),
      worker.lease_ms,
    ],
  );

/** It is still there. Undefined: others have taken it for dead, and what it had. */
export async function beat(
  database: Database,
  id: string,
  told: { readonly draining: boolean; readonly doing: readonly string[] },
): Promise<{ readonly now: Date } | undefined> {
  const [row] = await database.query<{ now: Date }>(
    `UPDATE autodev.workers SET beat_at = now(), doing = $2, state = $3
     WHERE id = $1 AND state IN ('active', 'draining') RETURNING clock_timestamp() AS now`,
    [id, jsonbOf(told.doing), told.draining ? "draining" : "active"],
  );
  return row;
}

export const workerGone = (database: Database, id: string): Promise<unknown> =>
  database.query("UPDATE autodev.workers SET state = 'gone', doing = '[]' WHERE id = $1", [id]);

/** Not a word for longer than its lease; when all of them are gone, nobody is left to write it down. */
const isSilent =
  "greatest(beat_at, pg_postmaster_start_time()) < now() - lease_ms * interval '1 millisecond'";

/**
 * Those whose lease is over are lost, whoever finds out; a server that was away has to be back for
 * as long, since nobody could renew anything meanwhile.
 */
export const markLost = (database: Database): Promise<unknown> =>
  database.query(
    `UPDATE autodev.workers SET state = 'lost' WHERE state IN ('active', 'draining')
       AND ${isSilent}`,
  );

/** Everybody whose work is his own; what any other has is to be taken over. */
export async function workersThere(database: Database): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ id: string }>(
    "SELECT id FROM autodev.workers WHERE state IN ('active', 'draining')",
  );
  return new Set(rows.map(({ id }) => id));
}

export const liveWorkers = (database: Database): Promise<readonly WorkerRow[]> =>
  database.query<WorkerRow>(
    `SELECT * FROM autodev.workers WHERE state = 'active' AND NOT (${isSilent}) ORDER BY name, started_at`,
  );

/** With those that are ending: what they have counts as what lies in their lanes. */
export const workersAtWork = (
  database: Database,
): Promise<readonly (WorkerRow & { readonly isLeaving: boolean })[]> =>
  database.query(
    `SELECT *, state = 'draining' AS "isLeaving" FROM autodev.workers WHERE state IN ('active', 'draining') AND NOT (${isSilent})`,
  );

/** With those that are ending or were lost a moment ago. */
export const seenWorkers = (database: Database): Promise<readonly WorkerRow[]> =>
  database.query<WorkerRow>(
    `SELECT w.*, CASE WHEN state IN ('active', 'draining') AND ${isSilent} THEN 'lost' ELSE state END AS state
     FROM autodev.workers w WHERE (state IN ('active', 'draining') AND beat_at > now() - interval '1 day')
       OR (state = 'lost' AND beat_at > now() - interval '1 hour') ORDER BY name, started_at`,
  );

/** Which of these runs are to come to an end, and which are no longer anybody's. */
export const toldToStop = (
  database: Database,
  runs: readonly string[],
): Promise<
  readonly {
    readonly id: string;
    readonly is_open: boolean;
    readonly stopping: "now" | "kill" | null;
  }[]
> =>
  runs.length === 0
    ? Promise.resolve([])
    : database.query(
        `SELECT id, is_open, CASE WHEN state = 'halted' THEN 'now' ELSE nullif(stopping, 'after-phase') END AS stopping
         FROM autodev.runs WHERE id = ANY($1)`,
        [runs],
      );

/** Once for each; whoever has ended by himself was not lost with it. */
export const countLoss = (database: Database, task: string, worker: string): Promise<unknown> =>
  database.query(
    `INSERT INTO autodev.losses (task, worker)
     SELECT $1, id FROM autodev.workers WHERE id = $2 AND state = 'lost' ON CONFLICT DO NOTHING`,
    [task, worker],
  );

/** Whatever these runs begin from now on has killed nobody yet. */
export const forgetLosses = (query: Database["query"], runs: readonly string[]): Promise<unknown> =>
  query("DELETE FROM autodev.losses WHERE split_part(task, '/', 1) = ANY($1)", [runs]);

/** How many workers were lost with it, since somebody last wanted it tried again. */
export async function lossesOf(database: Database, task: string): Promise<number> {
  const [row] = await database.query<{ losses: number }>(
    "SELECT count(*)::int AS losses FROM autodev.losses WHERE task = $1",
    [task],
  );
  return row?.losses ?? 0;
}

/** It came further than where they were lost. */
export const forgetLossesWith = (database: Database, task: string): Promise<unknown> =>
  database.query("DELETE FROM autodev.losses WHERE task = $1", [task]);
