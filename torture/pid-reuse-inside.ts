/**
 * Inside the namespace of `pid-reuse`, where nobody else takes numbers: who dies, who gets his number, and
 * what the program says of it.
 *
 *   judge <folder> <count> [kind]   so many times, and prints what came of it
 *   victim <kind> <folder>          has to do with us, says so, and waits for its death
 */
import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { isGone } from "../src/activities/lend-phase.ts";
import { enterShell, type ShellTree, usersOf } from "../src/activities/shell-tree.ts";
import { listEntries } from "../src/dependency-cache.ts";
import { nextId } from "../src/exec/enclosure.ts";
import { inGroup } from "../src/exec/group.ts";
import { ourName, ourStart } from "../src/exec/process-table.ts";
import type { Store } from "../src/store.ts";
import { realDisk } from "../src/stores/file/disk.ts";
import { createFileStore } from "../src/stores/file.ts";
import { freshFolder, sleep } from "./rig.ts";

export interface ReuseReport {
  readonly reused: number;
  readonly kinds: Readonly<Record<string, number>>;
  readonly alive: readonly Wrong[];
  readonly harmed: readonly Wrong[];
}

interface Wrong {
  readonly kind: string;
  readonly what: string;
}

const kinds = ["lock", "temporary", "lease", "shell", "cache", "group"] as const;
type Kind = (typeof kinds)[number];

// ── victims ────────────────────────────────────────────────────────────────────────────────────

const storeIn = (folder: string, disk = realDisk): Store =>
  createFileStore({ folder: path.join(folder, "memory"), root: folder, disk });

const holder = () => ({
  pid: process.pid,
  host: os.hostname(),
  since: new Date().toISOString(),
  command: "autodev build",
});

const treeIn = (folder: string): ShellTree => ({ admin: folder }) as ShellTree;

async function victim(kind: Kind, folder: string): Promise<void> {
  const ready = (): void => console.log(JSON.stringify({ name: ourName(), started: ourStart() }));
  // Nobody ends by himself here.
  setInterval(() => {}, 60_000);
  if (kind === "lock") await storeIn(folder).open(holder());
  if (kind === "shell") {
    fs.writeFileSync(path.join(folder, "autodev-shell.json"), "{}");
    enterShell(treeIn(folder));
  }
  if (kind === "cache") fs.mkdirSync(path.join(folder, `filling-${ourName()}-x`));
  if (kind !== "temporary") return ready();
  const stuck = new Promise<never>(() => {});
  const disk = { ...realDisk, link: async () => (ready(), stuck) };
  await storeIn(folder, disk).answer("d-0123456789ab", { key: "A", by: "x", at: "now" });
}

// ── judgement ──────────────────────────────────────────────────────────────────────────────────

const self = process.argv[1] ?? "";

async function judge(scratch: string, count: number, only: string): Promise<ReuseReport> {
  const alive: Wrong[] = [];
  const harmed: Wrong[] = [];
  const done: Record<string, number> = {};
  let reused = 0;
  for (let number = 0; number < count; number++) {
    const kind = kinds[number % kinds.length] as Kind;
    if (only !== "" && only !== kind) continue;
    const folder = freshFolder(scratch, kind);
    const { pid, judgeIt } = await (kind === "group" ? group(folder) : oneOf(kind, folder));
    const stranger = await strangerCalled(pid);
    reused++;
    done[kind] = (done[kind] ?? 0) + 1;
    const wrong = await judgeIt();
    if (wrong !== undefined) alive.push({ kind, what: wrong });
    if (stranger.exitCode !== null || stranger.signalCode !== null)
      harmed.push({ kind, what: `the stranger with number ${pid} is dead` });
    await ended(stranger, () => stranger.kill("SIGKILL"));
    fs.rmSync(folder, { recursive: true });
  }
  return { reused, kinds: done, alive, harmed };
}

interface Dead {
  readonly pid: number;
  /** What is wrong, now that somebody else has the number. */
  judgeIt(): Promise<string | undefined>;
}

async function oneOf(kind: Exclude<Kind, "group">, folder: string): Promise<Dead> {
  const child = spawn(process.execPath, [self, "victim", kind, folder], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const said = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding("utf8").once("data", resolve);
    child.once("exit", () => reject(new Error(`the victim of ${kind} has died before its time`)));
  });
  const { started } = JSON.parse(said) as { started: number };
  await ended(child, () => child.kill("SIGKILL"));
  const pid = child.pid ?? 0;
  return { pid, judgeIt: () => judged[kind](folder, pid, started) };
}

const judged: Readonly<
  Record<
    Exclude<Kind, "group">,
    (folder: string, pid: number, started: number) => Promise<string | undefined>
  >
> = {
  async lock(folder, pid) {
    const store = storeIn(folder);
    if (store.holder()) return `the store is held by ${store.holder()?.pid}`;
    // Somebody who has it and has not said so yet: the file still names the dead one.
    const lock = path.join(folder, "memory", "lock");
    const other = spawn("flock", ["--no-fork", lock, "sleep", "60"], { stdio: "ignore" });
    while (!store.holder()) await sleep(2);
    const refused = await store.open(holder());
    await ended(other, () => other.kill("SIGKILL"));
    if (refused.ok) return "two have the store";
    if (refused.failure.message.includes(`process ${pid} `)) return refused.failure.message;
    const opened = await store.open(holder());
    if (!opened.ok) return opened.failure.message;
    await opened.value.release();
    return undefined;
  },
  async temporary(folder) {
    const opened = await storeIn(folder).open(holder());
    if (!opened.ok) return opened.failure.message;
    await opened.value.release();
    const left = fs.readdirSync(path.join(folder, "memory", "answers"));
    return left.length === 0 ? undefined : `${left.join(", ")} is left`;
  },
  async lease(folder, pid, started) {
    const who = { by: "x", root: folder, holder: "x", host: os.hostname(), epoch: 1, until: "" };
    return isGone({ ...who, pid, started }) ? undefined : `whoever had ${pid} still has its lease`;
  },
  async shell(folder) {
    const users = usersOf(treeIn(folder));
    return users.length === 0 ? undefined : `${users.join(", ")} is in it`;
  },
  async cache(folder) {
    const [entry] = listEntries(folder);
    return entry?.isHalf ? undefined : "what was being filled in is taken for under way";
  },
};

async function group(folder: string): Promise<Dead> {
  const start = { id: nextId(), command: ["true"], env: {}, cwd: folder, input: undefined };
  const { child, empty } = await inGroup(start);
  await ended(child, () => {});
  return {
    pid: child.pid ?? 0,
    async judgeIt() {
      const { left } = await empty(0, null);
      return left === 0 ? undefined : `${left} processes of others are killed`;
    },
  };
}

const ended = (child: ChildProcess, end: () => void): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    end();
  });

/** The leader of a session of his own, as a stranger would be. */
async function strangerCalled(pid: number): Promise<ChildProcess> {
  for (let tries = 0; tries < 100; tries++) {
    fs.writeFileSync("/proc/sys/kernel/ns_last_pid", String(pid - 1));
    const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
    if (child.pid === pid) return child;
    await ended(child, () => child.kill("SIGKILL"));
  }
  throw new Error(`nobody gets the number ${pid}`);
}

const [, , part, ...rest] = process.argv;
if (part === "victim") void victim(rest[0] as Kind, rest[1] ?? "");
if (part === "judge") {
  void judge(rest[0] ?? "", Number(rest[1]), rest[2] ?? "").then((report) => {
    console.log(JSON.stringify(report));
    process.exit(0);
  });
}
