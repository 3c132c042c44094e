/** The database that a fleet shares: where it is, whether we may use it, and who says what time it is. */
import { fail, type Result, succeed } from "../../core/failure.ts";
import { type Carrier, openCarrier, protocol } from "../../engines/postgres/carrier.ts";
import {
  attempting,
  checkSchema,
  type Database,
  type Migrated,
  migrateSchema,
  openDatabase,
} from "../../stores/postgres/database.ts";
import { optional } from "../../stores/postgres/optional.ts";
import { realWorld } from "../open.ts";
import { wholeAddress } from "./address.ts";

export interface Fleet {
  readonly database: Database;
  readonly carrier: Carrier;
  readonly url: string;
  readonly version: string;
  close(): Promise<void>;
}

export interface FleetOptions {
  /** How long a database that is away is waited for. */
  readonly patienceMs?: number;
  readonly connections?: number;
  readonly version?: string;
  /** Absent: as the environment has it. */
  readonly url?: string;
  told?(line: string): void;
}

const urlName = "AUTODEV_DATABASE_URL";
const urlFileName = "AUTODEV_DATABASE_URL_FILE";

let known: Result<string> | undefined;

/**
 * Taken out of the environment with the first look: whatever is started from here on, an agent
 * above all, has never heard of it. What else is said there of the connection is in the address then.
 */
export function databaseUrl(): Result<string> {
  known ??= readUrl(process.env);
  for (const name of Object.keys(process.env)) {
    if (name === urlName || /^PG(?:PASS|USER|HOST|PORT|DATABASE|SERVICE|SSL)/.test(name))
      delete process.env[name];
  }
  return known;
}

function readUrl(env: NodeJS.ProcessEnv): Result<string> {
  const file = env[urlFileName];
  try {
    const text = file === undefined ? env[urlName] : readText(file);
    const url = text?.trim();
    if (url) return wholeAddress(url, env, readOwn);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return fail("database", `${urlFileName} cannot be read: ${why}`);
  }
  return fail("database", "the engine on PostgreSQL needs to know where the database is", {
    hint: `${urlName}=postgres://user:password@host:5432/name, or a file that ${urlFileName} names`,
  });
}

const readText = (file: string): string =>
  process.getBuiltinModule("node:fs").readFileSync(file, "utf8");

/** As PostgreSQL's own programs do it: what others can read holds no passwords. */
function readOwn(file: string): string | undefined {
  try {
    const { mode } = process.getBuiltinModule("node:fs").statSync(file);
    return process.platform !== "win32" && (mode & 0o077) !== 0 ? undefined : readText(file);
  } catch {
    return undefined;
  }
}

/** The failure says what is wrong: the address, the rights, the tables. */
export async function openFleet(options: FleetOptions = {}): Promise<Result<Fleet>> {
  const url = options.url === undefined ? databaseUrl() : succeed(options.url);
  if (!url.ok) return url;
  const { patienceMs = 5000, connections, told, version = protocol } = options;
  const opened = await openDatabase({
    url: url.value,
    patienceMs,
    ...(connections !== undefined && { connections }),
    ...(told && { told }),
  });
  if (!opened.ok) return opened;
  const database = opened.value;
  const checked = await checkSchema(database);
  const carrier = checked.ok ? await attemptCarrier(database, url.value, version) : checked;
  if (!carrier.ok) {
    await database.close();
    return carrier;
  }
  return succeed({
    database,
    carrier: carrier.value,
    url: url.value,
    version,
    async close() {
      await carrier.value.close();
      await database.close();
    },
  });
}

async function attemptCarrier(
  database: Database,
  url: string,
  version: string,
): Promise<Result<Carrier>> {
  const opened = await attempting(database, () => openCarrier(database, url, version));
  return opened.ok ? opened.value : opened;
}

/** By whoever owns the schemas; ten at once are one. */
export async function migrateEngine(role?: string): Promise<Result<Migrated & { at: string }>> {
  const url = databaseUrl();
  if (!url.ok) return url;
  const dbos = optional("@dbos-inc/dbos-sdk");
  if (!dbos.ok) return dbos;
  const opened = await openDatabase({
    url: url.value,
    patienceMs: 5000,
    connections: 2,
    answerMs: Number.POSITIVE_INFINITY,
  });
  if (!opened.ok) return opened;
  const database = opened.value;
  const { DBOS } = dbos.value;
  const quietly = silenced();
  const options = role === undefined ? {} : { applicationRole: role };
  const migrated = await migrateSchema(database, () => DBOS.migrate(url.value, options), role);
  quietly.end();
  await database.close();
  return migrated.ok ? succeed({ ...migrated.value, at: database.shown }) : migrated;
}

/** Its migration tells a story of its own, on our standard output. */
function silenced(): { end(): void } {
  const { log, info } = console;
  console.log = () => {};
  console.info = () => {};
  return {
    end() {
      console.log = log;
      console.info = info;
    },
  };
}

/** Machines disagree about the time; what is recorded and waited for goes by the database's. */
export function fleetClock(): { read(now: Date): void; now(): string } {
  let ahead = 0;
  return {
    read(now) {
      ahead = now.getTime() - Date.parse(realWorld.now());
    },
    now: () => new Date(Date.parse(realWorld.now()) + ahead).toISOString(),
  };
}
