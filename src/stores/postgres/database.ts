/**
 * A PostgreSQL that may be away for a while: every statement here can be done twice without harm,
 * so that one whose answer was lost is simply asked again.
 */
import type { Pool, PoolClient } from "pg";
import { type Failure, fail, type Result, succeed } from "../../core/failure.ts";
import { optional } from "./optional.ts";
import { makePool } from "./pool.ts";
import { migrationLock, schemaSteps, schemaVersion } from "./schema.ts";

type Rows<T> = Promise<readonly T[]>;

export interface Database {
  /** Asked again for as long as the server is away, at most as long as this database was opened for. */
  query<T = Record<string, unknown>>(text: string, values?: readonly unknown[]): Rows<T>;
  /** All or nothing, and again from its beginning where the server has gone away in the middle. */
  transaction<T>(
    act: (query: <R>(text: string, values?: readonly unknown[]) => Rows<R>) => Promise<T>,
  ): Promise<T>;
  /** The same for whatever else asks it through this pool. */
  patiently<T>(act: () => Promise<T>): Promise<T>;
  readonly pool: Pool;
  /** Where it is, without what is secret about that. */
  readonly shown: string;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** How long a server that is away is waited for; a worker does so for ever. */
  readonly patienceMs: number;
  readonly connections?: number;
  /** How long an answer may take before its connection is given up; a migration may take long. */
  readonly answerMs?: number;
  /** Told when it is away, and when it is back. */
  readonly told?: (line: string) => void;
}

/** A lease is a little longer: a connection that was cut without a word costs nobody his. */
const mostAnswerMs = 10_000;

/** Two who are in each other's way for a moment are nothing to speak of. */
const lastingMs = 1000;

/** The failure: there is no such server, or it does not let us in. */
export async function openDatabase(options: DatabaseOptions): Promise<Result<Database>> {
  const { url, patienceMs, told = () => {} } = options;
  const read = readUrl(url);
  if (!read.ok) return read;
  const library = optional("pg");
  if (!library.ok) return library;
  const shown = read.value;
  const { connections = 4, answerMs = mostAnswerMs } = options;
  const pool = makePool(library.value, { url, connections, answerMs });
  let isAway = false;
  const patiently = async <T>(act: () => Promise<T>): Promise<T> => {
    const until = performance.now() + patienceMs;
    for (let wait = 50; ; wait = Math.min(wait * 2, 1000)) {
      try {
        const done = await act();
        if (isAway) told(`${shown} is back`);
        isAway = false;
        return done;
      } catch (error) {
        if (!mayPass(error) || performance.now() + wait > until) throw error;
        if (!isAway && (isGone(error) || wait >= lastingMs)) {
          isAway = true;
          told(`${shown} is away: ${wordsOf(error)}; waiting for it`);
        }
        await new Promise((resolve) => setTimeout(resolve, wait));
      }
    }
  };
  const database: Database = {
    pool,
    shown,
    patiently,
    query: <T>(text: string, values: readonly unknown[] = []) =>
      patiently(async () => (await pool.query(text, [...values])).rows as T[]),
    transaction: (act) =>
      patiently(async () => {
        const client = await pool.connect();
        return inTransaction(client, () =>
          act(async (text, values = []) => (await client.query(text, [...values])).rows as never),
        );
      }),
    close: () => pool.end(),
  };
  try {
    await database.query("SELECT 1");
    return succeed(database);
  } catch (error) {
    await pool.end().catch(() => {});
    return { ok: false, failure: failureOf(error, shown) };
  }
}

/** A promise that fails with a database's error as one that resolves with a failure. */
export async function attempting<T>(
  { shown }: Pick<Database, "shown">,
  act: () => Promise<T>,
): Promise<Result<T>> {
  try {
    return succeed(await act());
  } catch (error) {
    return { ok: false, failure: failureOf(error, shown) };
  }
}

async function inTransaction<T>(client: PoolClient, act: () => Promise<T>): Promise<T> {
  let broken: Error | undefined;
  try {
    await client.query("BEGIN");
    const done = await act();
    await client.query("COMMIT");
    return done;
  } catch (error) {
    broken = error instanceof Error && isGone(error) ? error : undefined;
    if (!broken) await client.query("ROLLBACK").catch(() => {});
    throw error;
  } finally {
    client.release(broken);
  }
}

/** Without its password, and without whatever else it carries. */
function readUrl(url: string): Result<string> {
  try {
    const { protocol, hostname, port, pathname } = new URL(url);
    if (!/^postgres(?:ql)?:$/.test(protocol) || pathname.length < 2) throw new Error("no database");
    return succeed(`postgres://${hostname}${port && `:${port}`}${pathname}`);
  } catch {
    return fail("database", "the database's address is none that can be used", {
      hint: "AUTODEV_DATABASE_URL=postgres://user:password@host:5432/name",
    });
  }
}

// ── what can go wrong ──────────────────────────────────────────────────────────────────────────

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

const wordsOf = (error: unknown): string => {
  // A host with several addresses fails once for each.
  if (error instanceof AggregateError) return wordsOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
};

/** The connection is gone, or there is none: the server was stopped, starts, or cannot be reached. */
export const isGone = (error: unknown): boolean => {
  if (error instanceof AggregateError) return error.errors.some(isGone);
  return (
    /^(?:08|57P0[1-3]|ECONN|ETIMEDOUT|EPIPE|ENETUNREACH|EHOSTUNREACH|EAI_AGAIN)/.test(
      codeOf(error),
    ) ||
    (error instanceof Error &&
      /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
        error.message,
      ))
  );
};

/** Said by the server, or by the way to it. */
export const isFromDatabase = (error: unknown): boolean =>
  isGone(error) || (error instanceof Error && "severity" in error);

/**
 * Gone, in each other's way, or short of something: the same again may go well. 53: connections,
 * memory, room; 57014: it took too long; 25006: a standby that is about to take over.
 */
const mayPass = (error: unknown): boolean =>
  isGone(error) || /^(?:40001|40P01|55P03|53[123]00|57014|25006)$/.test(codeOf(error));

/** It lets us in no more, or gives us no right: the same again goes no better until people mend it. */
export const isRefusal = (error: unknown): boolean =>
  /^(?:28|3D000|3F000|42501|42P01)/.test(codeOf(error));

export function failureOf(error: unknown, shown: string): Failure {
  const code = codeOf(error);
  const said = wordsOf(error);
  if (code === "42501") {
    return fail("database", `${shown} gives this role no right to that: ${said}`, {
      hint: "autodev engine migrate --role <this role>, by whoever owns the schemas, grants them",
    }).failure;
  }
  if (code === "42P01" || code === "3F000") return absent(shown).failure;
  if (code.startsWith("28")) {
    return fail("database", `${shown} does not let us in: ${said}`, {
      hint: "see the user and the password in AUTODEV_DATABASE_URL",
    }).failure;
  }
  if (code === "3D000") {
    return fail("database", `${shown}: ${said}`, {
      hint: "createdb makes it; then autodev engine migrate",
    }).failure;
  }
  if (isGone(error) || code === "ENOTFOUND") {
    return fail("database", `${shown} cannot be reached: ${said}`, {
      hint: "see that it runs and that AUTODEV_DATABASE_URL names it",
    }).failure;
  }
  return fail("database", `${shown}: ${said}`).failure;
}

// ── the schema ─────────────────────────────────────────────────────────────────────────────────

const absent = (shown: string): ReturnType<typeof fail> =>
  fail("database-schema", `${shown} has no tables of ours`, { hint: "autodev engine migrate" });

/** Neither older nor newer than what we read and write. */
export async function checkSchema(database: Database): Promise<Result<void>> {
  const found = await attempting(database, async () => {
    const [server] = await database.query<{ there: string | null; waits: string }>(
      "SELECT to_regclass('autodev.schema_version')::text AS there, current_setting('synchronous_commit') AS waits",
    );
    const { there = null, waits = "on" } = server ?? {};
    if (there === null) return { waits };
    const [row] = await database.query<{ version: number }>(
      "SELECT version FROM autodev.schema_version",
    );
    return { version: row?.version, waits };
  });
  if (!found.ok) return found;
  const { shown } = database;
  const { version, waits } = found.value;
  if (waits === "off") {
    return fail("database", `${shown} says "committed" before it is: synchronous_commit is off`, {
      hint: "ALTER DATABASE … SET synchronous_commit = on, by whoever owns it",
    });
  }
  if (version === undefined) return absent(shown);
  if (version < schemaVersion) {
    return fail(
      "database-schema",
      `${shown} has tables of version ${version}, this autodev needs ${schemaVersion}`,
      { hint: "autodev engine migrate" },
    );
  }
  if (version > schemaVersion) {
    return fail(
      "database-schema",
      `${shown} has tables of version ${version}, newer than this autodev knows (${schemaVersion})`,
      { hint: "install the autodev that the rest of the fleet has" },
    );
  }
  return succeed(undefined);
}

export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/**
 * Tables as this release has them. `engine` makes those of the engine below ours, under the same
 * lock: by itself it does not bear two at once. `worksAs`: the role of whoever works there afterwards.
 */
export async function migrateSchema(
  database: Database,
  engine: () => Promise<void>,
  worksAs: string | undefined,
): Promise<Result<Migrated>> {
  const client = await attempting(database, () => database.pool.connect());
  if (!client.ok) return client;
  const connection = client.value;
  try {
    await lockMigration(connection);
    const role = await connection.query("SELECT FROM pg_roles WHERE rolname = $1", [worksAs ?? ""]);
    if (worksAs !== undefined && role.rowCount === 0) {
      return fail("database", `${database.shown} has no role ${worksAs}`, {
        hint: `CREATE ROLE "${worksAs}" LOGIN makes it; then the same command again`,
      });
    }
    await engine();
    await connection.query("BEGIN");
    await connection.query("CREATE SCHEMA IF NOT EXISTS autodev");
    await connection.query(
      "CREATE TABLE IF NOT EXISTS autodev.schema_version (one boolean PRIMARY KEY DEFAULT true CHECK (one), version integer NOT NULL)",
    );
    const { rows } = await connection.query<{ version: number }>(
      "SELECT version FROM autodev.schema_version",
    );
    const from = rows[0]?.version ?? 0;
    if (from > schemaVersion) {
      await connection.query("ROLLBACK");
      return fail(
        "database-schema",
        `${database.shown} has tables of version ${from}, newer than this autodev knows (${schemaVersion})`,
        { hint: "install the autodev that the rest of the fleet has" },
      );
    }
    for (const step of schemaSteps.slice(from)) await connection.query(step);
    await connection.query(
      "INSERT INTO autodev.schema_version (version) VALUES ($1) ON CONFLICT (one) DO UPDATE SET version = EXCLUDED.version",
      [schemaVersion],
    );
    if (worksAs !== undefined)
      for (const grant of grantsFor(worksAs)) await connection.query(grant);
    await connection.query("COMMIT");
    return succeed({ from, to: schemaVersion });
  } catch (error) {
    await connection.query("ROLLBACK").catch(() => {});
    return { ok: false, failure: failureOf(error, database.shown) };
  } finally {
    await connection.query("SELECT pg_advisory_unlock($1)", [migrationLock]).catch(() => undefined);
    connection.release();
  }
}

/**
 * Asked for again and again: whoever waited inside one statement would hold up the very indexes that
 * the holder makes, which wait for all statements that began before them.
 */
async function lockMigration(connection: PoolClient): Promise<void> {
  for (;;) {
    const { rows } = await connection.query<{ got: boolean }>(
      "SELECT pg_try_advisory_lock($1) AS got",
      [migrationLock],
    );
    if (rows[0]?.got) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Rows, but no tables: whoever works there can neither make nor drop anything. */
function grantsFor(role: string): string[] {
  const name = `"${role.replaceAll('"', '""')}"`;
  return [
    `GRANT USAGE ON SCHEMA autodev TO ${name}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA autodev TO ${name}`,
    `REVOKE INSERT, UPDATE, DELETE ON autodev.schema_version FROM ${name}`,
    `GRANT USAGE ON ALL SEQUENCES IN SCHEMA autodev TO ${name}`,
    `ALTER DEFAULT PRIVILEGES IN SCHEMA autodev GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${name}`,
    `ALTER DEFAULT PRIVILEGES IN SCHEMA autodev GRANT USAGE ON SEQUENCES TO ${name}`,
  ];
}
