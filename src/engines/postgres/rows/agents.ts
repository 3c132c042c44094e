/** The accounts of agents, which all workers share: their rules, and who has a place there. */
import { type Admission, type AgentRule, admit } from "../../../core/fleet/admission.ts";
import type { Database } from "../../../stores/postgres/database.ts";

export interface AgentRow {
  readonly agent: string;
  readonly at_once: number | null;
  readonly per_minute: number | null;
  readonly dollars_a_day: string | null;
  readonly limited_until: Date | null;
  readonly reason: string | null;
}

export const listAgentRules = (database: Database): Promise<readonly AgentRow[]> =>
  database.query<AgentRow>("SELECT * FROM autodev.agents ORDER BY agent");

export const ruleOf = (row: AgentRow | undefined): AgentRule => ({
  ...(row?.at_once != null && { atOnce: row.at_once }),
  ...(row?.per_minute != null && { perMinute: row.per_minute }),
  ...(row?.dollars_a_day != null && { dollarsADay: Number(row.dollars_a_day) }),
  ...(row?.limited_until != null && { limitedUntil: row.limited_until.toISOString() }),
  ...(row?.reason != null && { reason: row.reason }),
});

/** What its account has told us goes with it: people may know that there is something left again. */
export const setAgentRule = (
  database: Database,
  agent: string,
  rule: Pick<AgentRule, "atOnce" | "perMinute" | "dollarsADay">,
): Promise<unknown> =>
  database.query(
    `INSERT INTO autodev.agents (agent, at_once, per_minute, dollars_a_day) VALUES ($1, $2, $3, $4)
     ON CONFLICT (agent) DO UPDATE SET at_once = $2, per_minute = $3, dollars_a_day = $4,
       limited_until = NULL, reason = NULL`,
    [agent, rule.atOnce ?? null, rule.perMinute ?? null, rule.dollarsADay ?? null],
  );

/** One of us has met a limit of its account: nobody else has to meet it too. The later one stands. */
export const agentLimited = (
  database: Database,
  agent: string,
  until: string,
  reason: string,
): Promise<unknown> =>
  database.query(
    `INSERT INTO autodev.agents (agent, limited_until, reason) VALUES ($1, $2, $3)
     ON CONFLICT (agent) DO UPDATE SET limited_until = $2, reason = $3
       WHERE agents.limited_until IS NULL OR agents.limited_until < EXCLUDED.limited_until`,
    [agent, until, reason],
  );

export interface PlaceWish {
  readonly agent: string;
  /** The same, however often it is asked for: it has one place. */
  readonly task: string;
  readonly run: string;
}

/**
 * A place for one attempt, taken in the same breath in which it is counted. `keptSeconds`: kept for so
 * long for whoever is woken up for it, who would else find that others who never slept have taken it.
 */
export async function takePlace(
  database: Database,
  { agent, task, run }: PlaceWish,
  keptSeconds?: number,
): Promise<Admission> {
  const kept = "now() + $4 * interval '1 second'";
  return database.transaction(async (query) => {
    // Two that count at once would both find the last place free.
    await query("SELECT pg_advisory_xact_lock(hashtext('autodev agent ' || $1))", [agent]);
    const [had] = await query(`SELECT FROM autodev.agent_uses WHERE task = $1 AND ${hasPlace}`, [
      task,
    ]);
    const judged: Admission = had ? { is: "admitted" } : await judgePlace(query, agent);
    if (judged.is === "admitted") {
      await query(
        `INSERT INTO autodev.agent_uses (task, agent, run, kept_until) VALUES ($1, $2, $3, ${kept})
         ON CONFLICT (task) DO UPDATE SET kept_until = ${kept}, at = now(), ended_at = NULL
           WHERE agent_uses.kept_until IS NOT NULL OR agent_uses.ended_at IS NOT NULL`,
        [task, agent, run, keptSeconds ?? null],
      );
    }
    return judged;
  });
}

/** It was not left, nor was it only kept, for longer than it took whoever was woken up for it. */
const hasPlace = "(ended_at IS NULL AND (kept_until IS NULL OR kept_until > now()))";

/** Those of these tasks that have a place. */
export async function placesOf(
  database: Database,
  tasks: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ task: string }>(
    `SELECT task FROM autodev.agent_uses WHERE task = ANY($1) AND ${hasPlace}`,
    [tasks],
  );
  return new Set(rows.map(({ task }) => task));
}

/** Of a flow, which has one at a time: a place that an earlier drive had, or was kept for this one. */
export async function inheritPlace(database: Database, { agent, task, run }: PlaceWish) {
  await database.query(
    `UPDATE autodev.agent_uses SET task = $2 WHERE task =
       (SELECT task FROM autodev.agent_uses WHERE run = $1 AND agent = $3 AND ended_at IS NULL ORDER BY at DESC LIMIT 1)
       AND NOT EXISTS (SELECT FROM autodev.agent_uses WHERE task = $2)`,
    [run, task, agent],
  );
  await database.query(
    "UPDATE autodev.agent_uses SET ended_at = now() WHERE run = $1 AND task <> $2 AND ended_at IS NULL",
    [run, task],
  );
}

async function judgePlace(query: Database["query"], agent: string): Promise<Admission> {
  const [row] = await query<AgentRow>("SELECT * FROM autodev.agents WHERE agent = $1", [agent]);
  const [use] = await query<{
    under_way: string;
    begun: Date[] | null;
    today: string | null;
    now: Date;
    day_ends: Date;
  }>(
    `SELECT count(*) FILTER (WHERE ${hasPlace} AND run IN
         (SELECT id FROM autodev.runs WHERE is_open AND state IN ('waiting', 'driving', 'parked'))) AS under_way,
       array_agg(at ORDER BY at) FILTER (WHERE at > now() - interval '1 minute'
         AND (${hasPlace} OR kept_until IS NULL)) AS begun,
       sum(dollars) FILTER (WHERE at >= date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC') AS today,
       now() AS now,
       (date_trunc('day', now() AT TIME ZONE 'UTC') + interval '1 day') AT TIME ZONE 'UTC' AS day_ends
     FROM autodev.agent_uses WHERE agent = $1 AND at > now() - interval '7 days'`,
    [agent],
  );
  const now = use?.now ?? new Date();
  return admit(
    agent,
    ruleOf(row),
    {
      underWay: Number(use?.under_way ?? 0),
      begun: (use?.begun ?? []).map((at) => at.toISOString()),
      dollarsToday: Number(use?.today ?? 0),
      dayEnds: (use?.day_ends ?? now).toISOString(),
    },
    now.toISOString(),
  );
}

export const placeUsed = (
  database: Database,
  task: string,
  used: { readonly tokens: number; readonly dollars: number; readonly ended: boolean },
): Promise<unknown> =>
  database.query(
    `UPDATE autodev.agent_uses SET tokens = $2, dollars = $3,
       ended_at = CASE WHEN $4 THEN COALESCE(ended_at, now()) ELSE ended_at END WHERE task = $1`,
    [task, used.tokens, used.dollars, used.ended],
  );

/** Whatever became of it: its place is free. */
export const leavePlace = (database: Database, task: string): Promise<unknown> =>
  database.query(
    "UPDATE autodev.agent_uses SET ended_at = COALESCE(ended_at, now()) WHERE task = $1",
    [task],
  );
