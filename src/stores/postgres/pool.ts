/**
 * Connections that are given up when nothing comes back: one whose way was cut without a word looks
 * alive for as long as the system sends again what it has sent, which is a quarter of an hour.
 */
import type { Duplex } from "node:stream";
import type { Pool, PoolClient } from "pg";

export interface PoolOptions {
  readonly url: string;
  readonly connections: number;
  /** How long an answer may take: statements here are short. Infinity: they are not. */
  readonly answerMs: number;
}

export function makePool(
  pg: typeof import("pg"),
  { url, connections, answerMs }: PoolOptions,
): Pool {
  class Client extends pg.Client {
    constructor(config?: string | import("pg").ClientConfig) {
      super(config);
      // Whoever asks is told by what he asked; a connection that breaks in between ends nobody.
      this.on("error", () => {});
    }

    override query(...args: unknown[]): never {
      if (answerMs === Number.POSITIVE_INFINITY) return this.#ask(args);
      // With its way: pg's own limit would leave the connection to whoever asks next.
      const timer = setTimeout(() => streamOf(this).destroy(), answerMs);
      const answered = args.at(-1);
      if (typeof answered === "function") {
        const told = (...said: unknown[]): void => {
          clearTimeout(timer);
          answered(...said);
        };
        return this.#ask([...args.slice(0, -1), told]);
      }
      const asked: Promise<unknown> = this.#ask(args);
      return asked.finally(() => clearTimeout(timer)) as never;
    }

    #ask(args: readonly unknown[]): never {
      return super.query(...(args as [never])) as never;
    }
  }
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    application_name: "autodev",
    Client,
    onConnect: settle,
  });
  // An idle connection that breaks is no failure: the next one is opened when it is needed.
  pool.on("error", () => {});
  return pool;
}

const streamOf = (client: object): Duplex =>
  (client as { readonly connection: { readonly stream: Duplex } }).connection.stream;

/** What the server does for a client that is gone, or hangs, is ended: others wait for its locks. */
function settle(client: Pick<PoolClient, "query">): unknown {
  // The first one is younger than the oldest server that does. The pool waits for the answer.
  return client
    .query(
      `SELECT set_config(name, '20s', false) FROM pg_settings
       WHERE name IN ('client_connection_check_interval', 'idle_in_transaction_session_timeout')`,
    )
    .catch(() => {});
}
