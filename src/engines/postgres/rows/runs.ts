/**
 * What a fleet knows of its runs: one statement for each thing that somebody does. Time is the
 * database's: machines whose clocks disagree agree here.
 */
import type { CloneOrder } from "../../../activities/clone-run.ts";
import type { FlowOptions } from "../../../activities/start-flow.ts";
import type { BuildOptions, Retry } from "../../../activities/start-run.ts";
import type { Decision } from "../../../core/decision.ts";
import type { Failure } from "../../../core/failure.ts";
import type { Lack } from "../../../core/fleet/lacks.ts";
import type { RunState } from "../../../core/fleet/told.ts";
import type { Holder } from "../../../store.ts";
import type { Database } from "../../../stores/postgres/database.ts";
import { jsonbOf } from "../../../stores/postgres/jsonb.ts";
import { forgetLosses } from "./workers.ts";

/** What was submitted: everything that whoever drives it has to know. */
export interface Submitted {
  readonly options: Omit<BuildOptions, "trustSha256" | "fresh" | "resume">;
  readonly order?: CloneOrder;
  /** Of everything that may be run, as a person has approved it. */
  readonly trust?: string;
  readonly by: string;
  /** What every worker has to have that takes a part of it. */
  readonly needs: readonly string[];
  /** Of a flow: how it is to be followed. */
  readonly flow?: FlowOptions & { readonly flow?: string };
}

export interface RunRow {
  readonly id: string;
  readonly kind: "plan" | "flow";
  readonly remote: string;
  readonly plan: string;
  readonly target: string;
  readonly submitted: Submitted;
  readonly state: RunState;
  readonly outcome: RunResult | null;
  readonly asking: readonly Decision[];
  readonly waits: string | null;
  /** Of one that made room for others: what has to change before it is driven again. */
  readonly lacks: readonly Lack[] | null;
  readonly progress: RunProgress;
  readonly is_open: boolean;
  readonly paused: boolean;
  /** As people have asked whoever drives it; whoever drives it next is bound by it too. */
  readonly stopping: Stopping | null;
  readonly wanted: number;
  readonly driven: number;
  readonly version: string;
  readonly epoch: number;
  readonly holder: Holder | null;
  /** Of one without an order: somebody is at it, or is about to. */
  readonly being_submitted?: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** `after-phase`: what is under way comes to its end, and nothing begins. */
export type Stopping = "now" | "kill" | "after-phase";

/** How the last drive ended. */
export interface RunResult {
  readonly how: string;
  readonly until?: string;
  readonly failure?: Failure;
  /** How often in a row it was refused. */
  readonly tries?: number;
  readonly said?: readonly string[];
}

export interface RunProgress {
  readonly phases?: number;
  readonly complete?: number;
  readonly underWay?: readonly string[];
}

const beingSubmitted =
  "(created_at > now() - interval '15 seconds' OR (holder IS NOT NULL AND held_until > now())) AS being_submitted";

export async function runNamed(database: Database, id: string): Promise<RunRow | undefined> {
  const [row] = await database.query<RunRow>(
    `SELECT *, ${beingSubmitted} FROM autodev.runs WHERE id = $1`,
    [id],
  );
  return row;
}

export const listRuns = (database: Database, most: number): Promise<readonly RunRow[]> =>
  database.query<RunRow>(
    "SELECT * FROM autodev.runs ORDER BY is_open DESC, created_at DESC LIMIT $1",
    [most],
  );

/** The one that is not over, of a plan for a branch. */
export async function openRunOf(
  database: Database,
  of: Pick<RunRow, "remote" | "kind" | "plan" | "target">,
): Promise<RunRow | undefined> {
  const [row] = await database.query<RunRow>(
    `SELECT *, ${beingSubmitted} FROM autodev.runs WHERE remote = $1 AND kind = $2 AND plan = $3 AND target = $4 AND is_open`,
    [of.remote, of.kind, of.plan, of.target],
  );
  return row;
}

/** A row for it, or the one that somebody else has made meanwhile: there is one. */
export async function claimRun(
  database: Database,
  row: Pick<RunRow, "id" | "remote" | "kind" | "plan" | "target" | "submitted" | "version">,
): Promise<RunRow> {
  await database.query(
    `INSERT INTO autodev.runs (id, remote, kind, plan, target, submitted, version)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`,
    [row.id, row.remote, row.kind, row.plan, row.target, jsonbOf(row.submitted), row.version],
  );
  const found = (await openRunOf(database, row)) ?? (await runNamed(database, row.id));
  if (!found) throw new Error(`run ${row.id} is gone`);
  return found;
}

/** It was never submitted to its end, or another takes its place. */
export const closeRunRow = (database: Database, id: string): Promise<unknown> =>
  database.query(
    "UPDATE autodev.runs SET is_open = false, state = 'over', updated_at = now() WHERE id = $1",
    [id],
  );

/** False: it was set aside meanwhile. */
export async function describeRun(
  database: Database,
  id: string,
  submitted: Submitted,
): Promise<boolean> {
  const rows = await database.query(
    "UPDATE autodev.runs SET submitted = $2, updated_at = now() WHERE id = $1 AND is_open RETURNING id",
    [id, jsonbOf(submitted)],
  );
  return rows.length === 1;
}

/**
 * Said anew of one that goes on: whatever else was said of it, by whomever, stands; but for the choice
 * of phases, which is meant for the time being.
 */
export const describeAnew = (
  database: Database,
  id: string,
  {
    options,
    trust,
  }: { readonly options: Partial<BuildOptions>; readonly trust?: string | undefined },
): Promise<unknown> =>
  database.query(
    `UPDATE autodev.runs SET updated_at = now(),
       submitted = jsonb_set(submitted, '{options}', (submitted -> 'options') - '{only,from}'::text[] || $2) ||
         CASE WHEN $3::text IS NULL THEN '{}'::jsonb ELSE jsonb_build_object('trust', ${bothHashes}) END
     WHERE id = $1 AND is_open`,
    [id, jsonbOf(options), trust ?? null],
  );

/** What is approved later joins what was approved before. */
const bothHashes = `(SELECT string_agg(DISTINCT hash, ',')
  FROM unnest(string_to_array(concat_ws(',', submitted ->> 'trust', $3::text), ',')) hash)`;

/** Tried again as soon as somebody drives it, with whatever else is wanted so. */
export const retryWanted = (database: Database, id: string, retry: Retry): Promise<unknown> =>
  database.query(
    `UPDATE autodev.runs SET updated_at = now(), submitted =
       jsonb_set(submitted, '{options,retries}', ${retriesWanted} || jsonb_build_array($2::jsonb))
     WHERE id = $1 AND is_open`,
    [id, jsonbOf(retry)],
  );

/** It is on record that these are tried again; whatever else was said meanwhile stands. */
export const retryTaken = (
  database: Database,
  id: string,
  retries: readonly Retry[],
): Promise<unknown> =>
  database.query(
    `UPDATE autodev.runs SET submitted = jsonb_set(submitted, '{options,retries}', COALESCE(
       (SELECT jsonb_agg(retry) FROM jsonb_array_elements(${retriesWanted}) retry
        WHERE NOT $2::jsonb @> jsonb_build_array(retry)), '[]'))
     WHERE id = $1`,
    [id, jsonbOf(retries)],
  );

const retriesWanted = "COALESCE(submitted #> '{options,retries}', '[]')";

/**
 * An answer that lies there. Whoever drives the run, or is about to, finds it by himself: only one
 * that rests on it goes on. `isFirst` is false of what was answered before.
 */
export interface AnswerGiven {
  readonly decision: string;
  readonly isFirst: boolean;
}

/** Whoever drove it so far gives it to others, if they do not have it already. */
export interface HandedOver {
  readonly epoch: number;
}

/** Why it is to be driven; of none of them, because a person wants it. */
export interface Wish {
  readonly answer?: AnswerGiven;
  readonly handedOver?: HandedOver;
  /** Nobody has heard of this wish, it seems: unless it was driven, or stopped, since that was read. */
  readonly unheard?: number;
  /** Its time had come when somebody looked. */
  readonly isDue?: true;
}

/**
 * Somebody wants it driven on; resolves with the number of that wish, undefined where it needs none.
 * What a newer one has driven stays with those who can replay it, whoever asks for it.
 */
export async function wantDriven(
  database: Database,
  id: string,
  version: string,
  { answer, handedOver, unheard, isDue }: Wish,
): Promise<number | undefined> {
  const [row] = await database.query<{ wanted: number }>(
    `UPDATE autodev.runs SET wanted = wanted + 1, version = greatest(version::int, $2::int)::text, updated_at = now(),
       lacks = NULL, state = CASE WHEN state = 'driving' AND held_until > now() THEN state ELSE 'waiting' END
     WHERE id = $1 AND is_open
       AND ($3::jsonb IS NULL OR (asking @> $3 AND
         (lacks IS NOT NULL OR (wanted = driven AND ($4 OR state = 'asking')))))
       AND ($5::int IS NULL OR (epoch = $5 AND state = 'driving'))
       AND ($6::int IS NULL OR (wanted = $6 AND wanted > driven))
       AND (NOT $7 OR ${isDueNow})
     RETURNING wanted`,
    [
      id,
      version,
      answer ? jsonbOf([{ id: answer.decision }]) : null,
      answer?.isFirst ?? true,
      handedOver?.epoch ?? null,
      unheard ?? null,
      isDue ?? false,
    ],
  );
  return row?.wanted;
}

/**
 * Its time has come, by the one clock that all go by; or nobody has held it for long, while the server
 * was there: nobody could renew anything before.
 */
const isDueNow = `(
  (state = 'parked' AND wanted = driven AND (outcome ->> 'until')::timestamptz <= now())
  OR (state = 'driving' AND updated_at < now() - interval '1 minute'
    AND greatest(COALESCE(held_until, updated_at), pg_postmaster_start_time()) < now() - interval '1 minute'))`;

/**
 * By whoever holds it: how it is to stop, as people had asked until now. Undefined: what was wanted has
 * been answered meanwhile, others hold it, or whoever held it before was asked to stop.
 */
export async function runDriving(
  database: Database,
  { id, epoch }: { readonly id: string; readonly epoch: number },
): Promise<Pick<RunRow, "stopping"> | undefined> {
  const [row] = await database.query<Pick<RunRow, "stopping">>(
    `UPDATE autodev.runs SET state = 'driving', outcome = NULL, lacks = NULL, waits = NULL, updated_at = now()
     WHERE id = $1 AND is_open AND epoch = $2 AND wanted > driven AND ${goesOn} RETURNING stopping`,
    [id, epoch],
  );
  return row;
}

const goesOn = "(stopping IS NULL OR stopping = 'after-phase')";

/** Of a run that goes on no further. */
export const isToStop = ({ stopping }: Pick<RunRow, "stopping">): boolean =>
  stopping === "now" || stopping === "kill";

/** How a drive came to its rest. */
export interface DriveRest {
  readonly driven: number;
  /** Under which it was driven, or had been before whoever says so looked. */
  readonly epoch: number;
  readonly state: RunState;
  readonly outcome: RunResult;
  readonly asking: readonly Decision[];
  readonly progress: RunProgress;
  /** By people: whatever was wanted before that is over with it. */
  readonly isStopped?: boolean;
  /** Decisions whose answer it would have heard until a moment ago. */
  readonly awaits?: readonly string[];
}

/**
 * By whoever has just let go of it. What people have stopped meanwhile does not rest as something that
 * goes on by itself; and whoever rests has no agent at work, but for one that is tried again in a
 * moment. `wanted`: somebody has wanted something since `driven`, has
 * answered, or lets go on what was paused, so it is not at rest. `held`: somebody else drives it or has since, and it is his to say
 * how it ends. Whoever drove it last and comes back now can record nothing more.
 */
export async function runRests(
  database: Database,
  id: string,
  rest: DriveRest,
): Promise<"rests" | "wanted" | "held"> {
  return database.transaction(async (query) => {
    // Who answers or lets go on does so wholly before this, and is seen, or wholly after, and sees the rest.
    await query("SELECT one FROM autodev.fleet FOR SHARE");
    await query("SELECT id FROM autodev.runs WHERE id = $1 FOR UPDATE", [id]);
    const [rested] = await query<{ state: RunState }>(
      `UPDATE autodev.runs SET driven = wanted, state = CASE WHEN ${staysStopped} THEN 'halted' ELSE $3 END,
         outcome = CASE WHEN ${staysStopped} THEN $4::jsonb - 'until' || '{"how": "interrupted"}' ELSE $4::jsonb END,
         asking = $5, progress = $6, waits = NULL, lacks = NULL, stopping = NULL, is_open = ($3 <> 'over'), updated_at = now(),
         epoch = epoch + 1, holder = NULL, held_until = NULL
       WHERE id = $1 AND is_open AND epoch = $9 AND NOT ${isHeld} AND ($7 OR (wanted = $2 AND NOT EXISTS
         (SELECT FROM autodev.answers a WHERE a.run = $1 AND a.decision = ANY ($8))))
         AND ($3 <> 'paused' OR paused OR EXISTS (SELECT FROM autodev.fleet f WHERE f.paused))
       RETURNING state`,
      [
        id,
        rest.driven,
        rest.state,
        jsonbOf(rest.outcome),
        jsonbOf(rest.asking),
        jsonbOf(rest.progress),
        rest.isStopped === true,
        rest.awaits ?? [],
        rest.epoch,
      ],
    );
    if (rested) {
      if (rested.state === "halted") await forgetLosses(query, [id]);
      if (rested.state !== "parked")
        await query(
          "UPDATE autodev.agent_uses SET ended_at = now() WHERE run = $1 AND ended_at IS NULL",
          [id],
        );
      return "rests";
    }
    const [row] = await query<{ held: boolean }>(
      `SELECT (${isHeld} OR epoch <> $2 OR NOT is_open) AS held FROM autodev.runs WHERE id = $1`,
      [id, rest.epoch],
    );
    return row?.held ? "held" : "wanted";
  });
}

const staysStopped = "stopping IS NOT NULL AND $3 IN ('parked', 'paused')";

/**
 * Driven by nobody for now, though it is not at rest: others need the place more. False: somebody has
 * wanted something meanwhile, answered, or stopped it, so there is something to do after all; or others
 * have it.
 */
export async function runMakesRoom(
  database: Database,
  id: string,
  at: Pick<DriveRest, "driven" | "epoch" | "asking"> & {
    readonly lacks: readonly Lack[];
    readonly why: string;
  },
): Promise<boolean> {
  return database.transaction(async (query) => {
    await query("SELECT id FROM autodev.runs WHERE id = $1 FOR UPDATE", [id]);
    const rows = await query(
      `UPDATE autodev.runs SET state = 'waiting', lacks = $4, waits = $5, asking = $6, updated_at = now()
       WHERE id = $1 AND is_open AND wanted = $2 AND epoch = $3 AND ${goesOn} AND NOT ${isHeld} AND NOT EXISTS
         (SELECT FROM autodev.answers a WHERE a.run = $1 AND a.decision = ANY ($7))
       RETURNING id`,
      [
        id,
        at.driven,
        at.epoch,
        jsonbOf(at.lacks),
        at.why,
        jsonbOf(at.asking),
        at.asking.map((decision) => decision.id),
      ],
    );
    return rows.length === 1;
  });
}

const isHeld = "(holder IS NOT NULL AND held_until > now())";

/** By whoever drives it: what one says who did before is old. */
export const tellRun = (
  database: Database,
  { id, epoch }: { readonly id: string; readonly epoch: number },
  told: { readonly progress?: RunProgress; readonly asking?: readonly Decision[] },
): Promise<unknown> =>
  database.query(
    `UPDATE autodev.runs SET progress = COALESCE($2, progress), asking = COALESCE($3, asking),
       updated_at = now() WHERE id = $1 AND epoch = $4`,
    [
      id,
      told.progress ? jsonbOf(told.progress) : null,
      told.asking ? jsonbOf(told.asking) : null,
      epoch,
    ],
  );

/** What keeps it from going on; null: nothing does. */
export const runWaits = (database: Database, id: string, why: string | null): Promise<unknown> =>
  database.query("UPDATE autodev.runs SET waits = $2 WHERE id = $1 AND waits IS DISTINCT FROM $2", [
    id,
    why,
  ]);

/** By whoever drives it, or asks him, as long as nobody else does. False: somebody else does. */
export async function stopRun(
  database: Database,
  { id, epoch }: { readonly id: string; readonly epoch: number },
  how: Stopping,
): Promise<boolean> {
  const rows = await database.query(
    "UPDATE autodev.runs SET stopping = $3 WHERE id = $1 AND epoch = $2 RETURNING id",
    [id, epoch, how],
  );
  return rows.length === 1;
}

export async function pauseRun(database: Database, id: string, paused: boolean): Promise<boolean> {
  const rows = await database.query(
    "UPDATE autodev.runs SET paused = $2, updated_at = now() WHERE id = $1 AND is_open RETURNING id",
    [id, paused],
  );
  return rows.length === 1;
}

export const pauseFleet = (database: Database, paused: boolean): Promise<unknown> =>
  database.query("UPDATE autodev.fleet SET paused = $1", [paused]);

export async function isPaused(database: Database, id?: string): Promise<boolean> {
  const [row] = await database.query<{ paused: boolean }>(
    "SELECT f.paused OR COALESCE(r.paused, false) AS paused FROM autodev.fleet f LEFT JOIN autodev.runs r ON r.id = $1",
    [id ?? null],
  );
  return row?.paused === true;
}

/** Those of them that nobody will go on with. */
export async function runsOver(
  database: Database,
  ids: readonly string[],
): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>(
    "SELECT id FROM autodev.runs WHERE id = ANY($1) AND NOT is_open",
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** Of a decision that somewhere is open: in which run; how it begins is enough. */
export async function runsAsking(
  database: Database,
  decision: string,
): Promise<readonly { readonly id: string; readonly decision: Decision }[]> {
  return database.query(
    `SELECT r.id, d AS decision FROM autodev.runs r, jsonb_array_elements(r.asking) d
     WHERE r.is_open AND starts_with(d ->> 'id', $1)`,
    [decision],
  );
}

/** Wanted by somebody of a version that nobody here has any more: an older one's, we can go on with. */
export const abandonedRuns = (
  database: Database,
  version: string,
): Promise<readonly Pick<RunRow, "id" | "version" | "wanted">[]> =>
  database.query(
    `SELECT id, version, wanted FROM autodev.runs r WHERE is_open AND wanted > driven AND version <> $1
       AND NOT EXISTS (SELECT 1 FROM autodev.workers w WHERE w.version = r.version AND w.state IN ('active', 'draining'))`,
    [version],
  );

export async function runsDue(database: Database): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>(
    `SELECT id FROM autodev.runs WHERE is_open AND ${isDueNow} LIMIT 100`,
  );
  return rows.map(({ id }) => id);
}

/** Waiting for a while, those for whom nobody has looked the longest first: to ask for them again is to ask once. */
export const unheardRuns = (
  database: Database,
): Promise<readonly Pick<RunRow, "id" | "wanted" | "version" | "lacks">[]> =>
  database.query(
    `UPDATE autodev.runs SET updated_at = now() WHERE id IN (
       SELECT id FROM autodev.runs WHERE is_open AND state = 'waiting' AND NOT ${isHeld}
         AND submitted ? 'order' AND updated_at < now() - interval '5 seconds'
       ORDER BY updated_at LIMIT 100)
     RETURNING id, wanted, version, lacks`,
  );
