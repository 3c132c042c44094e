/**
 * The store of a run that many machines share. What is read here is a copy that follows the
 * database (`refresh`); what is written goes there, and counts once it is committed.
 *
 *  1. One session at a time, by a lease on the run's row that its holder renews; a server that was
 *     away takes nobody's lease: it begins anew with the server.
 *  2. Each session has an epoch. A transition is written only while its epoch is the run's, in the
 *     same statement that looks: a session that was overtaken can never write again.
 *  3. A statement whose answer was lost is asked again; its own hash tells whether it had arrived.
 */
import { createHash, randomUUID } from "node:crypto";
import type { Answer } from "../core/decision.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { Message } from "../core/message.ts";
import {
  type Head,
  type Holder,
  type Sent,
  type Session,
  type Store,
  type StoredTransition,
  since,
  type Transition,
} from "../store.ts";
import { attempting, type Database } from "./postgres/database.ts";
import { every } from "./postgres/every.ts";
import { jsonbOf } from "./postgres/jsonb.ts";

export interface PostgresStoreOptions {
  readonly database: Database;
  readonly run: string;
  readonly leaseMs: number;
  /** The files that people read, where somebody reads them; absent: nobody does. */
  readonly projections?: Projections;
}

export type Projections = Pick<Store, "readProjection"> &
  Pick<Session, "writeProjection" | "setAside" | "keepCopy">;

export interface PostgresStore extends Store {
  /** Brings what is read here up to what the database holds. */
  refresh(): Promise<Result<void>>;
  /** The same again and again, until it is told to end. */
  follow(everyMs: number): () => void;
}

interface JournalRow {
  readonly seq: string;
  readonly epoch: number;
  readonly hash: string;
  readonly transition: Transition;
}

const empty: Head = { seq: 0, hash: "" };

export async function openPostgresStore(
  options: PostgresStoreOptions,
): Promise<Result<PostgresStore>> {
  const { database, run, leaseMs, projections = inMemory() } = options;
  const history: StoredTransition[] = [];
  let head = empty;
  let answers = new Map<string, Answer>();
  let held: Holder | undefined;
  let waiting = new Set<string>();

  const take = ({ seq, epoch, hash, transition }: JournalRow): void => {
    const stored = { ...transition, seq: Number(seq), epoch };
    if (stored.seq <= head.seq) return;
    history.push(stored);
    head = { seq: stored.seq + transition.events.length - 1, hash };
  };

  const refresh = (): Promise<Result<void>> =>
    attempting(database, async () => {
      const [rows, given, [row], sent] = await Promise.all([
        database.query<JournalRow>(
          "SELECT seq, epoch, hash, transition FROM autodev.journal WHERE run = $1 AND seq > $2 ORDER BY seq",
          [run, head.seq],
        ),
        database.query<{ decision: string; answer: Answer }>(
          "SELECT decision, answer FROM autodev.answers WHERE run = $1",
          [run],
        ),
        database.query<{ holder: Holder | null; lapsed: boolean }>(
          `SELECT holder, ${hasLapsed("$2")} AS lapsed FROM autodev.runs WHERE id = $1`,
          [run, leaseMs],
        ),
        database.query<{ id: string }>("SELECT id FROM autodev.messages WHERE run = $1", [run]),
      ]);
      for (const each of rows) take(each);
      answers = new Map(given.map(({ decision, answer }) => [decision, answer]));
      held = row && !row.lapsed ? (row.holder ?? undefined) : undefined;
      waiting = new Set(sent.map(({ id }) => id));
    });

  const open = async (holder: Holder): Promise<Result<Session>> => {
    const claimed = await attempting(database, async () => {
      const token = randomUUID();
      const mine = jsonbOf({ ...holder, token });
      const [row] = await database.query<{ epoch: number }>(
        `UPDATE autodev.runs SET epoch = epoch + 1, holder = $2, held_until = now() + $3 * interval '1 millisecond'
         WHERE id = $1 AND (holder IS NULL OR ${hasLapsed("$3")} OR holder ->> 'token' = $4) RETURNING epoch`,
        [run, mine, leaseMs, token],
      );
      return row && { epoch: row.epoch, token };
    });
    if (!claimed.ok) return claimed;
    const fresh = await refresh();
    if (!fresh.ok) return fresh;
    if (!claimed.value) return lockedBy(run, held);
    const { epoch, token } = claimed.value;
    const renewing = renewal(database, { run, epoch, leaseMs });
    const session: Session = {
      epoch,
      get head() {
        return head;
      },
      async append(expectedSeq, transition) {
        const appended = await append(database, { run, epoch, head, expectedSeq, transition });
        if (appended.ok) take(appended.value);
        return appended.ok ? succeed(head) : appended;
      },
      writeProjection: (...args) => projections.writeProjection(...args),
      setAside: (...args) => projections.setAside(...args),
      keepCopy: (...args) => projections.keepCopy(...args),
      async messages() {
        const rows = await database.query<{ id: string; to: Holder; message: unknown }>(
          'SELECT id, "to", message FROM autodev.messages WHERE run = $1 ORDER BY id',
          [run],
        );
        return rows.flatMap(({ id, to, message }): Sent[] => {
          const read = Message.safeParse(message);
          return isSame(to, holder) && read.success ? [{ id, message: read.data }] : [];
        });
      },
      takenUp: (id) => remove(id),
      // Every reader has a copy of its own, which it only has to bring up to date.
      saveSnapshot: async () => {},
      async release() {
        renewing.end();
        await database.query(
          "UPDATE autodev.runs SET holder = NULL, held_until = NULL WHERE id = $1 AND holder ->> 'token' = $2",
          [run, token],
        );
        held = undefined;
      },
    };
    return succeed(session);
  };

  const remove = async (id: string): Promise<void> => {
    await database.query("DELETE FROM autodev.messages WHERE run = $1 AND id = $2", [run, id]);
    waiting.delete(id);
  };

  const store: PostgresStore = {
    refresh,
    follow: (everyMs) => every(everyMs, refresh).end,
    read: (options = {}) =>
      succeed({
        head,
        snapshot: undefined,
        after: since(history, "from" in options ? options.from : 1),
      }),
    tail() {
      let told = 0;
      return {
        next() {
          const transitions = history.slice(told);
          told = history.length;
          return succeed({ transitions, anew: false });
        },
      };
    },
    everRendered: (file, hash) => history.some(({ rendered }) => rendered?.[file] === hash),
    readProjection: (file) => projections.readProjection(file),
    open,
    answer: (id, answer) =>
      attempting(database, async () => {
        await database.query(
          "INSERT INTO autodev.answers (run, decision, answer) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
          [run, id, jsonbOf(answer)],
        );
        const [first] = await database.query<{ answer: Answer }>(
          "SELECT answer FROM autodev.answers WHERE run = $1 AND decision = $2",
          [run, id],
        );
        const stands = first?.answer ?? answer;
        answers.set(id, stands);
        return stands;
      }),
    answers: (to) => new Map([...answers].filter(([id]) => to?.includes(id) !== false)),
    holder: () => held && plainHolder(held),
    send: (to, message) =>
      attempting(database, async () => {
        const [row] = await database.query<{ id: string }>(
          'INSERT INTO autodev.messages (run, "to", message) VALUES ($1, $2, $3) RETURNING id',
          [run, jsonbOf(to), jsonbOf(message)],
        );
        const id = row?.id ?? "";
        waiting.add(id);
        return id;
      }),
    isWaiting: (id) => waiting.has(id),
    takeBack: remove,
    examine: () => [],
    repair: async () => succeed([]),
  };
  const first = await refresh();
  return first.ok ? succeed(store) : first;
}

/** Whoever had it has not renewed it; a server that was away has been back for as long. */
const hasLapsed = (ms: string): string =>
  `(held_until IS NOT NULL AND greatest(held_until, pg_postmaster_start_time() + ${ms} * interval '1 millisecond') < now())`;

interface Appending {
  readonly run: string;
  readonly epoch: number;
  readonly head: Head;
  readonly expectedSeq: number;
  readonly transition: Transition;
}

async function append(
  database: Database,
  { run, epoch, head, expectedSeq, transition }: Appending,
): Promise<Result<JournalRow>> {
  if (expectedSeq !== head.seq) return movedOn(head.seq, expectedSeq);
  const text = jsonbOf(transition);
  // The same twice is two transitions: only what is asked again is one.
  const hash = createHash("sha256")
    .update([head.hash, epoch, randomUUID(), text].join("\n"))
    .digest("hex");
  const seq = String(expectedSeq + 1);
  const outcome = await attempting(database, async () => {
    const written = await database.query(
      `WITH held AS (SELECT id FROM autodev.runs WHERE id = $1 AND epoch = $3 FOR SHARE)
       INSERT INTO autodev.journal (run, seq, epoch, hash, transition)
       SELECT id, $2, $3, $4, $5 FROM held ON CONFLICT DO NOTHING RETURNING seq`,
      [run, seq, epoch, hash, text],
    );
    if (written.length === 1) return "written" as const;
    const [row] = await database.query<{ hash: string | null; epoch: number }>(
      `SELECT j.hash, r.epoch FROM autodev.runs r
       LEFT JOIN autodev.journal j ON j.run = r.id AND j.seq = $2 WHERE r.id = $1`,
      [run, seq],
    );
    if (row?.hash === hash) return "written" as const;
    return row?.epoch === epoch ? ("moved on" as const) : ("fenced" as const);
  });
  if (!outcome.ok) return outcome;
  if (outcome.value === "fenced") {
    return fail(
      "journal-fenced",
      `somebody else has taken over run ${run} (epoch ${epoch} is over)`,
    );
  }
  if (outcome.value === "moved on") return movedOn(expectedSeq + 1, expectedSeq);
  return succeed({ seq, epoch, hash, transition: JSON.parse(text) as Transition });
}

const movedOn = (at: number, expected: number): ReturnType<typeof fail> =>
  fail("journal-moved-on", `the history is at ${at}, not ${expected}`);

/** For as long as the session lasts; one that is overtaken learns it when it writes. */
function renewal(
  database: Database,
  { run, epoch, leaseMs }: { run: string; epoch: number; leaseMs: number },
): { end(): void } {
  return every(leaseMs / 5, () =>
    database.query(
      "UPDATE autodev.runs SET held_until = now() + $3 * interval '1 millisecond' WHERE id = $1 AND epoch = $2 AND holder IS NOT NULL",
      [run, epoch, leaseMs],
    ),
  );
}

function lockedBy(run: string, held: Holder | undefined): ReturnType<typeof fail> {
  const who = held ? `process ${held.pid} on ${held.host} (${held.command})` : "somebody";
  return fail("locked", `run ${run} is with ${who}${held ? ` since ${held.since}` : ""}`, {
    hint: "autodev attach follows it",
  });
}

const isSame = (a: Holder, b: Holder): boolean =>
  a.pid === b.pid && a.since === b.since && a.host === b.host;

const plainHolder = ({ pid, host, since, command }: Holder): Holder => ({
  pid,
  host,
  since,
  command,
});

/** Nobody looks at the files of a clone that goes when the run is over. */
function inMemory(): Projections {
  const files = new Map<string, string>();
  return {
    readProjection: (file) => succeed(files.get(file)),
    async writeProjection(file, text) {
      files.set(file, text);
      return succeed(undefined);
    },
    async setAside(file, at) {
      const kept = `rescue/${at}-${file}`;
      files.set(kept, files.get(file) ?? "");
      files.delete(file);
      return succeed(kept);
    },
    async keepCopy(file, at) {
      const kept = `rescue/${at}-${file}`;
      files.set(kept, files.get(file) ?? "");
      return succeed(kept);
    },
  };
}
