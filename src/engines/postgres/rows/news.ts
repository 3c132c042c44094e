/** What is told once, where transcripts are, and what is forgotten in time. */
import type { Database } from "../../../stores/postgres/database.ts";
import { jsonbOf } from "../../../stores/postgres/jsonb.ts";
import { forgetLosses } from "./workers.ts";

export const tellNews = (
  database: Database,
  run: string,
  lines: readonly unknown[],
): Promise<unknown> =>
  database.query(
    "INSERT INTO autodev.news (run, kind, news) SELECT $1, 'line', jsonb_array_elements($2::jsonb)",
    [run, jsonbOf(lines)],
  );

export const newsAfter = (
  database: Database,
  run: string,
  after: string,
): Promise<readonly { readonly id: string; readonly news: unknown }[]> =>
  database.query(
    "SELECT id, news FROM autodev.news WHERE run = $1 AND id > $2 ORDER BY id LIMIT 500",
    [run, after],
  );

/** What is told once, said to whoever is no longer there, or known of workers of yesterday. */
export async function forgetOld(database: Database): Promise<void> {
  // A piece at a time: after a while without anybody there is more than one statement gets through.
  await database.query(
    `DELETE FROM autodev.news WHERE id IN
       (SELECT id FROM autodev.news WHERE at < now() - interval '1 hour' LIMIT 50000)`,
  );
  await database.query(
    "DELETE FROM autodev.workers WHERE state IN ('gone', 'lost') AND beat_at < now() - interval '1 day'",
  );
  // Longer than what was spent is counted.
  await database.query(
    `DELETE FROM autodev.agent_uses WHERE task IN
       (SELECT task FROM autodev.agent_uses WHERE at < now() - interval '8 days' AND ended_at IS NOT NULL LIMIT 50000)`,
  );
  await database.query(
    "DELETE FROM autodev.messages m USING autodev.runs r WHERE r.id = m.run AND NOT r.is_open",
  );
}

/** Over for a day: what the engine keeps of their tasks nobody asks for again. Their history stays. */
export async function runsToForget(database: Database): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>(
    `SELECT id FROM autodev.runs WHERE NOT is_open AND NOT forgotten
       AND updated_at < now() - interval '1 day' ORDER BY created_at LIMIT 20`,
  );
  return rows.map(({ id }) => id);
}

export async function runsForgotten(database: Database, ids: readonly string[]): Promise<void> {
  await forgetLosses(database.query, ids);
  await database.query("UPDATE autodev.runs SET forgotten = true WHERE id = ANY($1)", [ids]);
}

/** `part`: what was done then; each may have been done on another machine. */
export const keepTranscript = (
  database: Database,
  of: {
    readonly run: string;
    readonly phase: string;
    readonly attempt: number;
    readonly part: string;
  },
  kept: { readonly reference: string; readonly bytes: number },
): Promise<unknown> =>
  database.query(
    `INSERT INTO autodev.transcripts (run, phase, attempt, part, reference, bytes) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (run, phase, attempt, part) DO UPDATE SET reference = $5, bytes = $6`,
    [of.run, of.phase, of.attempt, of.part, kept.reference, kept.bytes],
  );

export interface TranscriptRow {
  readonly phase: string;
  readonly attempt: number;
  readonly part: string;
  readonly reference: string;
  readonly bytes: string;
}

export const transcriptsOf = (
  database: Database,
  run: string,
  phase: string | undefined,
): Promise<readonly TranscriptRow[]> =>
  database.query(
    `SELECT phase, attempt, part, reference, bytes FROM autodev.transcripts
     WHERE run = $1 AND ($2::text IS NULL OR phase = $2) ORDER BY phase, attempt, part DESC`,
    [run, phase ?? null],
  );
