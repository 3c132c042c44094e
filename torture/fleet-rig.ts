/**
 * What everything about fleets stands on: a real PostgreSQL, workers that are processes with a cache
 * of their own, a bare repository as the remote, and a look at what is left when all is over.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { findPostgres, type Postgres, startPostgres } from "../scripts/postgres.mjs";
import { repositoryRoot } from "./rig.ts";

export { findPostgres, type Postgres };

/** Both scripts come with the environment, so that what has to be trusted is the same everywhere. */
const settings = `gates:
  test: eval "$FLEET_GATE"
agents:
  mine:
    command: eval "$FLEET_AGENT"
    confined: false
`;

/** Says that everything is done. */
export const finish = `finish() {
  printf '{"phase_id":"%s","status":"complete","tasks":{"total":1,"completed":1},"commit_message":"feat: part %s"}' \\
    "$AUTODEV_PHASE" "$AUTODEV_PHASE" > "$AUTODEV_RESULT"
}
`;

/** One file for its phase: what an agent does that does its work. */
export const working =
  'mkdir -p src; echo "part $AUTODEV_PHASE" > "src/$AUTODEV_PHASE.txt"; finish';

export interface FleetProject {
  readonly repo: string;
  readonly remote: string;
  readonly plan: string;
  readonly trust: string;
}

export interface ProjectWish {
  readonly plan: string;
  readonly agent?: "apply" | "mine";
  readonly files?: Readonly<Record<string, string>>;
  readonly config?: string;
}

export interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly all: string;
}

export interface WorkerWish {
  readonly jobs?: number;
  readonly leaseSeconds?: number;
  readonly labels?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly args?: readonly string[];
  /** Before the program itself: `faketime`, say. */
  readonly through?: readonly string[];
}

export interface FleetWorker {
  readonly name: string;
  readonly pid: number;
  said(): string;
  isAlive(): boolean;
  signal(signal: NodeJS.Signals): void;
  /** With its whole process group, as a machine goes. */
  kill(): Promise<void>;
  readonly ended: Promise<number | null>;
}

export interface FleetRig {
  readonly folder: string;
  readonly postgres: Postgres;
  readonly url: string;
  readonly workers: Set<FleetWorker>;
  env(more?: Readonly<Record<string, string>>): Record<string, string>;
  autodev(args: readonly string[], options?: RunOptions): Promise<Said>;
  project(name: string, wish: ProjectWish): Promise<FleetProject>;
  build(project: FleetProject, args?: readonly string[], options?: RunOptions): Promise<Said>;
  worker(name: string, wish?: WorkerWish): FleetWorker;
  sql<T = Record<string, string>>(text: string): T[];
  /** By its owner, unless another address is given. */
  sqlRun(text: string, url?: string): void;
  end(): Promise<void>;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

/** Whoever waits here waits with everything: nothing else can end it. */
const patienceMs = 120_000;

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms));

export async function until(what: string, is: () => boolean | Promise<boolean>, ms = 180_000) {
  const end = performance.now() + ms;
  while (!(await is())) {
    if (performance.now() > end) throw new Error(`never: ${what}`);
    await pause(100);
  }
}

/** `program`: the built command line; `fast`: a database that need not survive the machine. */
export async function startFleet(
  folder: string,
  program: string,
  options: { readonly fast?: boolean; readonly migrate?: boolean } = {},
): Promise<FleetRig> {
  fs.mkdirSync(folder, { recursive: true });
  const postgres = await startPostgres({ fast: options.fast ?? true });
  const url = await postgres.createDatabase("fleet");
  const workers = new Set<FleetWorker>();
  const env = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    // The packages that a fleet needs are beside us, not beside a copy of the program.
    NODE_PATH: path.join(repositoryRoot(), "node_modules"),
    HOME: folder,
    XDG_CONFIG_HOME: path.join(folder, "config"),
    XDG_CACHE_HOME: path.join(folder, "cache"),
    LANG: "C.UTF-8",
    CI: "true",
    AUTODEV_NO_NOTIFY: "1",
    AUTODEV_DATABASE_URL: url,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_AUTHOR_NAME: "Fleet",
    GIT_AUTHOR_EMAIL: "fleet@example.invalid",
    GIT_COMMITTER_NAME: "Fleet",
    GIT_COMMITTER_EMAIL: "fleet@example.invalid",
    FLEET_AGENT: finish + working,
    FLEET_GATE: "true",
    ...more,
  });
  const autodev = (args: readonly string[], run: RunOptions = {}): Promise<Said> =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [program, ...args], {
        cwd: run.cwd ?? folder,
        env: env(run.env),
        stdio: ["ignore", "pipe", "pipe"],
      });
      let [out, err] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
      child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
      const timer = setTimeout(() => child.kill("SIGKILL"), run.timeoutMs ?? 120_000);
      child.on("error", reject);
      child.on("close", (code) => {
        clearTimeout(timer);
        resolve({ code, out, err, all: out + err });
      });
    });
  const rig: FleetRig = {
    folder,
    postgres,
    url,
    workers,
    env,
    autodev,
    async project(name, { plan: text, agent = "apply", files = {}, config = settings }) {
      const repo = path.join(folder, name);
      const remote = path.join(folder, `${name}.git`);
      const plan = "docs/plan.md";
      const all = { [plan]: text, ".autodev/config.yaml": config, ...files };
      for (const [file, bytes] of Object.entries(all)) {
        fs.mkdirSync(path.dirname(path.join(repo, file)), { recursive: true });
        fs.writeFileSync(path.join(repo, file), bytes);
      }
      const git = gitIn(repo, env());
      git("init", "--quiet", "--initial-branch=main", "--template=");
      git("add", "--all");
      git("commit", "--quiet", "--message=first");
      git("clone", "--quiet", "--bare", "--template=", repo, remote);
      git("remote", "add", "origin", remote);
      const told = await autodev(["trust", plan, `--agent=${agent}`, "--json"], { cwd: repo });
      const trust = /\b[0-9a-f]{64}\b/.exec(told.all)?.[0] ?? "";
      return { repo, remote, plan, trust };
    },
    build: ({ repo, plan, trust }, args = [], run = {}) =>
      autodev(
        [
          "build",
          plan,
          ...(args.some((each) => each.startsWith("--commit")) ? [] : ["--commit=auto"]),
          ...(args.some((each) => each.startsWith("--engine")) ? [] : ["--engine=postgres"]),
          `--trust-sha256=${trust}`,
          ...args,
        ],
        { cwd: repo, ...run },
      ),
    worker(name, wish = {}) {
      const worker = spawnWorker({ name, folder, program, wish, env: env(wish.env) });
      workers.add(worker);
      return worker;
    },
    sql: (text) => queried(url, text),
    sqlRun(text, as = url) {
      const psql = path.join(findPostgres() ?? "", "psql");
      const ran = spawnSync(psql, [as, "-Xq", "-c", text], {
        encoding: "utf8",
        timeout: patienceMs,
      });
      if (ran.status !== 0) throw new Error(`${text}: ${ran.stderr}${ran.signal ?? ""}`);
    },
    async end() {
      await Promise.all([...workers].map((worker) => worker.kill()));
      await postgres.remove();
    },
  };
  if (options.migrate !== false) {
    const migrated = await autodev(["engine", "migrate"]);
    if (migrated.code !== 0) throw new Error(migrated.all);
  }
  return rig;
}

interface Spawning {
  readonly name: string;
  readonly folder: string;
  readonly program: string;
  readonly wish: WorkerWish;
  readonly env: Readonly<Record<string, string>>;
}

function spawnWorker({ name, folder, program, wish, env }: Spawning): FleetWorker {
  const { jobs = 2, leaseSeconds = 3, labels = [], through = [] } = wish;
  const [command = "", ...args] = [
    ...through,
    process.execPath,
    program,
    "worker",
    `--name=${name}`,
    `--jobs=${jobs}`,
    `--lease-seconds=${leaseSeconds}`,
    ...labels.map((label) => `--label=${label}`),
    ...(wish.args ?? []),
  ];
  const child: ChildProcess = spawn(command, args, {
    cwd: folder,
    // Each its own machine: no clone is shared.
    env: {
      ...env,
      XDG_CACHE_HOME: path.join(folder, `cache-${name}`),
      ...(wish.url !== undefined && { AUTODEV_DATABASE_URL: wish.url }),
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => (said += text));
  }
  let over = false;
  const ended = new Promise<number | null>((resolve) => {
    child.on("error", () => {});
    child.on("close", (code) => {
      over = true;
      resolve(code);
    });
  });
  const { pid } = child;
  // Without a number it would be our own group that is killed at the end.
  if (pid === undefined) throw new Error(`a worker cannot be started: ${command} is not there`);
  // Once it has ended, its number is a stranger's before long.
  const signalTo = (whom: number, signal: NodeJS.Signals): void => {
    if (!over) quietly(() => process.kill(whom, signal));
  };
  const onExit = (): void => signalTo(-pid, "SIGKILL");
  process.on("exit", onExit);
  void ended.then(() => process.off("exit", onExit));
  return {
    name,
    pid,
    said: () => said,
    isAlive: () => !over,
    signal: (signal) => signalTo(pid, signal),
    async kill() {
      signalTo(-pid, "SIGKILL");
      await ended;
    },
    ended,
  };
}

function quietly(act: () => unknown): void {
  try {
    act();
  } catch {
    // It has just ended by itself.
  }
}

export const gitIn =
  (repo: string, env: Readonly<Record<string, string>>) =>
  (...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync("git", args, {
      cwd: repo,
      env,
      encoding: "utf8",
      timeout: patienceMs,
    });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}${stdout}`);
    return stdout;
  };

function queried<T>(url: string, text: string): T[] {
  const psql = path.join(findPostgres() ?? "", "psql");
  const wrapped = `SELECT coalesce(json_agg(t), '[]') FROM (${text}) t`;
  const { status, stdout, stderr } = spawnSync(psql, [url, "-XqAt", "-c", wrapped], {
    encoding: "utf8",
    maxBuffer: 256 * 1024 ** 2,
    timeout: patienceMs,
  });
  if (status !== 0) throw new Error(`${text}: ${stderr}`);
  return JSON.parse(stdout) as T[];
}

// ── what is left ───────────────────────────────────────────────────────────────────────────────

/** Commits of a branch above its first, oldest first: what each is about and the tree that it has. */
export function landedIn(repo: string, env: Readonly<Record<string, string>>, branch = "main") {
  const log = gitIn(repo, env)(
    "log",
    "--reverse",
    "--format=%H%x09%T%x09%s%x09%(trailers:key=Autobuild-Phase,valueonly,separator=%x2C)",
    branch,
  );
  return log
    .trim()
    .split("\n")
    .slice(1)
    .map((line) => {
      const [commit = "", tree = "", subject = "", phase = ""] = line.split("\t");
      return { commit, tree, subject, phase };
    });
}

/** Processes that carry this fleet's folder in their environment, but for ourselves. */
export function processesOf(folder: string): number[] {
  return fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return fs.readFileSync(`/proc/${name}/environ`, "utf8").includes(`HOME=${folder}\0`);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** What an engine has recorded, without what differs from one time to the next: times, ids, hashes. */
export function sameInBoth(events: readonly Record<string, unknown>[]): string[] {
  return events.map((event) =>
    JSON.stringify(event, (key, value: unknown) => {
      if (["at", "seq", "run", "uuid", "slot", "version"].includes(key)) return undefined;
      return typeof value === "string"
        ? value.replaceAll(/\b[0-9a-f]{40}\b|\br[0-9a-f]{10}\b/g, "…")
        : value;
    }),
  );
}
