export interface PostgresOptions {
  /** Made and initialized where there is none yet; without it, a temporary one. */
  readonly data?: string;
  /** Without it, a free one. */
  readonly port?: number;
  /** Without fsync: what is committed survives the server, but not the machine. */
  readonly fast?: boolean;
}

export interface Postgres {
  /** Of the database `postgres`, as its superuser. */
  readonly url: string;
  readonly port: number;
  readonly data: string;
  /** The postmaster's; throws while it does not run. */
  pid(): number;
  /** `fast` (without a word) ends all sessions and writes everything down, `immediate` leaves that to recovery. */
  stop(how?: "fast" | "immediate"): Promise<void>;
  /** Once more, with the same data on the same port. */
  start(): Promise<void>;
  /** `kill -9` of the postmaster and all its children at once. */
  kill(): Promise<void>;
  /** With its data. */
  remove(): Promise<void>;
  /** Its address. */
  createDatabase(name: string): Promise<string>;
}

/** It ends with this process, whatever ends that. */
export function startPostgres(options?: PostgresOptions): Promise<Postgres>;

/** The folder of the binaries; undefined where there are none. */
export function findPostgres(): string | undefined;
