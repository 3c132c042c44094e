/**
 * The other side of lock-races: one process that wants the store.
 *
 *   contend <repository> <log> <seed> <stop file>   takes it again and again, until told to stop
 *   write <repository> <log> <name> [--forged]      opens once, then obeys lines on its input:
 *                                                   "append", and the end of the input
 *   answer <repository> <log> <key> [--hold-first]  answers a decision; before that, it may take
 *                                                   the store and let it go
 *   history <repository>                            prints what the store holds
 *
 * What it sees goes to the log, one JSON line each, with the monotonic clock, which is the same
 * for all processes. Whoever is killed has written everything up to that moment.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { type Result, succeed } from "../src/core/failure.ts";
import type { Head, Session, Store } from "../src/store.ts";
import { createFileStore } from "../src/stores/file.ts";
import { randomFrom, sleep } from "./rig.ts";

/** Times in nanoseconds. A hold lasts at the least from `held` to `releasing`. */
export type Seen =
  | { readonly is: "held"; readonly at: number; readonly epoch: number }
  | { readonly is: "releasing"; readonly at: number }
  | {
      readonly is: "refused";
      readonly asked: number;
      readonly at: number;
      readonly code: string;
      readonly message: string;
    }
  | { readonly is: "acked"; readonly text: string }
  | { readonly is: "answered"; readonly stands: string }
  | { readonly is: "not-acked"; readonly code: string; readonly message: string };

export interface Told {
  readonly texts: readonly string[];
  /** The answer that stands, by its key. */
  readonly answer?: string;
  readonly problem?: string;
}

export const monotonicNow = (): number => Number(process.hrtime.bigint());

const holder = { pid: process.pid, host: "torture", since: "now", command: "lock-contender" };

async function contend(repository: string, log: string, seed: number, stop: string): Promise<void> {
  const store = storeOf(repository);
  const note = noteTo(log);
  const random = randomFrom(seed, 1);
  for (let turn = 1; !fs.existsSync(stop); turn++) {
    const session = await openNoted(store, note);
    if (!session) continue;
    await sleep(random.between(0, 8));
    if (random.chance(0.4)) await appendNoted(session, note, `${seed}.${turn}`);
    note({ is: "releasing", at: monotonicNow() });
    await session.release();
  }
}

/** `forged`: with a lock that locks nothing, as on a disk where locks do not work. */
async function write(
  repository: string,
  log: string,
  name: string,
  forged: boolean,
): Promise<void> {
  const store = storeOf(repository, forged);
  const note = noteTo(log);
  const session = await openNoted(store, note);
  if (!session) return;
  let turn = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === "append") await appendNoted(session, note, `${name}.${++turn}`);
  }
  note({ is: "releasing", at: monotonicNow() });
  await session.release();
}

const decision = "d-0123456789ab";

async function answer(
  repository: string,
  log: string,
  key: string,
  holdFirst: boolean,
): Promise<void> {
  const store = storeOf(repository);
  const note = noteTo(log);
  if (holdFirst) await (await openNoted(store, note))?.release();
  const at = new Date().toISOString();
  const answered = await store.answer(decision, { key, by: "lock-races", at });
  if (answered.ok) note({ is: "answered", stands: answered.value.key });
  else note({ is: "not-acked", code: answered.failure.code, message: answered.failure.message });
}

function history(repository: string): Told {
  const store = storeOf(repository);
  const stands = store.answers().get(decision)?.key;
  const reading = store.read({ whole: true });
  if (!reading.ok) return { texts: [], problem: reading.failure.message };
  const texts = reading.value.after.flatMap(({ events }) =>
    events.map((event) => (event.type === "blocker-raised" ? event.text : event.type)),
  );
  return { texts, ...(stands !== undefined && { answer: stands }) };
}

// ── the parts ──────────────────────────────────────────────────────────────────────────────────

const storeOf = (repository: string, forged = false): Store =>
  createFileStore({
    folder: path.join(repository, ".git", "autodev"),
    root: repository,
    shown: path.join(".git", "autodev"),
    ...(forged && { lock: () => succeed({ release() {} }) }),
  });

type Note = (seen: Seen) => void;

const noteTo =
  (log: string): Note =>
  (seen) =>
    fs.appendFileSync(log, `${JSON.stringify(seen)}\n`);

async function openNoted(store: Store, note: Note): Promise<Session | undefined> {
  const asked = monotonicNow();
  const opened = await store.open(holder);
  const at = monotonicNow();
  if (opened.ok) {
    note({ is: "held", at, epoch: opened.value.epoch });
    return opened.value;
  }
  const { code, message } = opened.failure;
  note({ is: "refused", asked, at, code, message });
  return undefined;
}

async function appendNoted(session: Session, note: Note, text: string): Promise<void> {
  const appended: Result<Head> = await session.append(session.head.seq, {
    at: new Date().toISOString(),
    run: "lock-races",
    events: [{ type: "blocker-raised", text }],
  });
  if (appended.ok) note({ is: "acked", text });
  else note({ is: "not-acked", code: appended.failure.code, message: appended.failure.message });
}

const [mode, repository = "", log = "", ...rest] = process.argv.slice(2);
if (process.argv[1]?.includes("lock-contender")) {
  if (mode === "contend") void contend(repository, log, Number(rest[0]), rest[1] ?? "");
  if (mode === "write") void write(repository, log, rest[0] ?? "", rest[1] === "--forged");
  if (mode === "answer") void answer(repository, log, rest[0] ?? "", rest[1] === "--hold-first");
  if (mode === "history") console.log(JSON.stringify(history(repository)));
}
