/**
 * What the whole-program tests stand on: the built binary, real temporary repositories, real
 * terminals, other users, small disks. It imports nothing from `src`: what a journal line looks
 * like is written down here a second time, so that the two have to agree.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { spawn as spawnAtTerminal } from "@lydell/node-pty";
import { expect } from "vitest";

const packageRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

/** Removed when we end, however we end. Open to all, so that an unprivileged user can run here. */
const scratch = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "autodev-test-"));
fs.chmodSync(scratch, 0o755);
const sweeper = spawn("sh", ["-c", 'read -r _; sleep 1; rm -rf "$0"', scratch], {
  stdio: ["pipe", "ignore", "ignore"],
  detached: true,
});
sweeper.unref();
(sweeper.stdin as unknown as { unref(): void }).unref();

let counter = 0;
export function makeFolder(name: string): string {
  const folder = path.join(scratch, `${counter++}-${name}`);
  fs.mkdirSync(folder, { recursive: true });
  return folder;
}

// ── the binary ─────────────────────────────────────────────────────────────────────────────────

/** A copy of the build, made anew when the source is newer: nobody's rebuild disturbs a test. */
const buildAndCopy = `
  if [ ! -e dist/cli/main.cjs ] ||
     [ -n "$(find src web examples scripts/build.mjs -newer dist/cli/main.cjs ! -name '*.test.ts' -type f -print -quit)" ]
  then "$1" scripts/build.mjs --cli-only || exit 1
  fi
  cp -r dist/cli "$2" && cp -r dist/web "$2/../web" && cp -r skills "$2/../skills"`;

let built: string | undefined;
export function binary(): string {
  if (built !== undefined) return built;
  const given = process.env["AUTODEV_TEST_BINARY"];
  if (given) return given;
  const target = path.join(scratch, "cli");
  const shell = ["sh", "-c", buildAndCopy, "sh", process.execPath, target];
  const lock = path.join(os.tmpdir(), `autodev-build-${hash(packageRoot).slice(0, 12)}.lock`);
  const { status, stderr } = spawnSync("flock", [lock, ...shell], {
    cwd: packageRoot,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the binary cannot be built: ${stderr}`);
  built = path.join(target, "main.cjs");
  return built;
}

/** Nothing of the caller's: no CI, no agent, no colours, no configuration of git. */
export const plainEnvironment: Readonly<Record<string, string>> = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  HOME: makeFolder("home"),
  XDG_CACHE_HOME: makeFolder("cache"),
  XDG_CONFIG_HOME: makeFolder("config"),
  USER: "tester",
  LANG: "C.UTF-8",
  TERM: "xterm-256color",
  AUTODEV_NO_NOTIFY: "1",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_NAME: "Tester",
  GIT_AUTHOR_EMAIL: "tester@example.invalid",
  GIT_COMMITTER_NAME: "Tester",
  GIT_COMMITTER_EMAIL: "tester@example.invalid",
};

type Environment = Readonly<Record<string, string | undefined>>;

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
  /** Both, for what may be said on either. */
  readonly all: string;
}

interface RunOptions {
  readonly cwd: string;
  readonly env?: Environment;
  readonly input?: string;
  /** Kills it: nothing here may take longer. */
  readonly timeout?: number;
}

export function run(command: string, args: readonly string[], options: RunOptions): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...args], {
      cwd: options.cwd,
      env: { ...plainEnvironment, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), options.timeout ?? 30_000);
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, out, err, all: out + err });
    });
  });
}

/** The built binary, without a terminal. */
export const autodevIn = (options: RunOptions, ...args: string[]): Promise<Ran> =>
  run(process.execPath, [binary(), ...withoutWork(args)], options);

/** Bare `autodev` would look for an agent and have it work: only flow tests want that. */
const withoutWork = (args: readonly string[]): readonly string[] => {
  const [first = "--"] = args;
  const isAsked = /^(?:-V|--version|-h|--help)$/.test(first);
  return first.startsWith("-") && !isAsked ? ["--no-work", ...args] : args;
};

const isRoot = process.getuid?.() === 0;

/** As a user to whom permissions apply. */
export function asNobody(cwd: string, ...args: string[]): Promise<Ran> {
  const command = [process.execPath, binary(), ...withoutWork(args)];
  if (!isRoot) return run(command[0] as string, command.slice(1), { cwd });
  const drop = ["--reuid=65534", "--regid=65534", "--clear-groups"];
  // What is root's own cannot be read by anybody else: settings and approvals of one's own.
  const home = nobodysHome();
  const env = { HOME: home, XDG_CONFIG_HOME: `${home}/config`, XDG_CACHE_HOME: `${home}/cache` };
  return run("setpriv", [...drop, ...command], { cwd, env });
}

let homeOfNobody: string | undefined;
function nobodysHome(): string {
  if (homeOfNobody === undefined) giveToNobody((homeOfNobody = makeFolder("nobodys")));
  return homeOfNobody as string;
}

export function giveToNobody(folder: string): void {
  if (isRoot) spawnSync("chown", ["-R", "65534:65534", folder]);
}

// ── repositories ───────────────────────────────────────────────────────────────────────────────

export interface Repo {
  readonly root: string;
  readonly stateFile: string;
  at(file: string): string;
  write(file: string, content: string | Buffer): void;
  read(file: string): string;
  bytes(file: string): Buffer;
  exists(file: string): boolean;
  git(...args: string[]): string;
  autodev(...args: string[]): Promise<Ran>;
  with(env: Environment, ...args: string[]): Promise<Ran>;
  /** `status --json`, which has to work. */
  status(): Promise<Status>;
  decisions(): Promise<DecisionView[]>;
  events(): Promise<LoggedEvent[]>;
}

export interface DecisionView {
  readonly id: string;
  readonly question: string;
  readonly options: readonly { readonly key: string; readonly text: string }[];
  readonly recommendation: string;
  readonly reason: string;
  readonly status?: string;
  readonly answer?: string | null;
  readonly answeredBy?: string | null;
}

export interface Status {
  readonly version: number;
  readonly root: string;
  readonly flow: string;
  readonly step: string;
  readonly name: string;
  readonly status: string;
  readonly subStep: { readonly phase: number; readonly name: string; readonly detail: string };
  readonly retryCount: number;
  readonly cycle: number;
  readonly tracker: string | null;
  readonly source: string;
  readonly generation: number;
  readonly corrections: readonly string[];
  readonly steps: readonly {
    readonly step: string;
    readonly name: string;
    readonly status: string;
    readonly optional: boolean;
  }[];
  readonly decisions: readonly DecisionView[];
  readonly blockers: readonly string[];
  readonly components?: readonly Readonly<Record<string, unknown>>[];
}

export interface LoggedEvent {
  readonly version: number;
  readonly seq: number;
  readonly type: string;
  readonly [key: string]: unknown;
}

export const present = "_docs/_autodev_state.md";
export const former = "_docs/_autopilot_state.md";

let template: string | undefined;

/** A repository with one commit; `files` are written, not committed. */
export function makeRepo(
  files: Readonly<Record<string, string | Buffer>> = {},
  name = "project",
): Repo {
  if (template === undefined) {
    template = makeFolder("template");
    const git = gitIn(template);
    git("init", "--quiet", "--initial-branch=main", "--template=");
    fs.writeFileSync(path.join(template, "README.md"), "# A project\n");
    git("add", ".");
    git("commit", "--quiet", "--message=first");
  }
  const root = makeFolder(name);
  fs.cpSync(template, root, { recursive: true });
  const repo = repoAt(root);
  const state = [files[present], files[former]].find((text) => text?.toString().trim());
  const left = state === undefined ? {} : leftBefore(state.toString());
  for (const [file, content] of Object.entries({ ...left, ...files })) repo.write(file, content);
  return repo;
}

/**
 * What is left of the steps before the one that a state file names: alone, it would be contradicted by
 * the folders. By names, since numbers changed with the generations; of both flows, where a name is in both.
 */
function leftBefore(state: string): Record<string, string> {
  const named = /^\W*name:[ \t]*(.+?)[ \t]*\r?$/m.exec(state)?.[1] ?? "";
  const cycle = /^\W*cycle:[ \t]*(\d+)/m.exec(state)?.[1] ?? "1";
  const name = named === "Blackbox Test Spec" ? "Test Spec" : named;
  const files = courses.flatMap((steps) => {
    const at = steps.findLastIndex(([step]) => step === name);
    return at < 0 ? [] : steps.slice(0, at).flatMap(([, ...left]) => left);
  });
  const known = files.length > 0 ? files : ["00_problem/problem.md", "02_task_plans/feature.md"];
  return Object.fromEntries(
    known.map((file) => [`_docs/${file.replace("{cycle}", cycle)}`, "# What is left of it\n"]),
  );
}

type Course = readonly (readonly [step: string, ...left: string[]])[];

const courses: readonly Course[] = [
  [
    ["Problem", "00_problem/problem.md"],
    ["Research", "01_solution/solution.md"],
    ["Plan", "02_document/architecture.md"],
    ["UI Design"],
    ["Decompose", "02_tasks/done/01_first.md", "02_tasks/_dependencies_table.md"],
    ["Implement", "03_implementation/implementation_report_first.md"],
    ...["Run Tests", "Security Audit", "Performance Test", "Deploy", "Retrospective"].map(
      (step): [string] => [step],
    ),
    ["Done"],
  ],
  [
    ["Document", "02_document/FINAL_report.md"],
    ["Architecture Baseline Scan", "02_document/architecture_compliance_baseline.md"],
    ["Test Spec", "02_document/tests/traceability-matrix.md"],
    ["Code Testability Revision"],
    ["Decompose Tests", "02_tasks/done/01_test_infrastructure.md"],
    ["Implement Tests", "03_implementation/implementation_report_tests.md"],
    ["Run Tests"],
    ["Refactor"],
  ],
  [["Discover", "_repo-config.yaml"], ["Config Review"]],
  [
    ["New Task", "02_task_plans/feature.md"],
    ["Implement", "03_implementation/implementation_report_feature_cycle{cycle}.md"],
    ["Run Tests"],
    ["Test-Spec Sync"],
    ["Update Docs", "02_document/ripple_log_cycle{cycle}.md"],
    ...["Security Audit", "Performance Test", "Deploy", "Retrospective"].map((step): [string] => [
      step,
    ]),
  ],
];

export const gitIn =
  (cwd: string) =>
  (...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync("git", args, {
      cwd,
      env: { ...plainEnvironment },
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}${stdout}`);
    return stdout;
  };

export function repoAt(root: string): Repo {
  const at = (file: string): string => path.join(root, file);
  const repo: Repo = {
    root,
    stateFile: at(present),
    at,
    write(file, content) {
      fs.mkdirSync(path.dirname(at(file)), { recursive: true });
      fs.writeFileSync(at(file), content);
    },
    read: (file) => fs.readFileSync(at(file), "utf8"),
    bytes: (file) => fs.readFileSync(at(file)),
    exists: (file) => fs.existsSync(at(file)),
    git: gitIn(root),
    autodev: (...args) => autodevIn({ cwd: root }, ...args),
    with: (env, ...args) => autodevIn({ cwd: root, env }, ...args),
    async status() {
      return jsonOf<Status>(await repo.autodev("status", "--json"));
    },
    async decisions() {
      return jsonOf<DecisionView[]>(await repo.autodev("decisions", "--all", "--json"));
    },
    async events() {
      const ran = await repo.autodev("log", "--json");
      expect(ran).toMatchObject({ code: 0, err: "" });
      return ran.out
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as LoggedEvent);
    },
  };
  return repo;
}

export function jsonOf<T>(ran: Ran, code = 0): T {
  expect({ code: ran.code, err: ran.err }, ran.all).toEqual({ code, err: "" });
  return JSON.parse(ran.out) as T;
}

interface ErrorView {
  readonly code: string;
  readonly message: string;
  readonly file?: string;
  readonly line?: number;
  readonly hint?: string;
}

/** The error shape, on standard output; nothing of ours that went wrong beside it. */
export function errorOf(ran: Ran): ErrorView {
  expectNoCrash(ran);
  const { version, error } = JSON.parse(ran.out) as { version: number; error: ErrorView };
  expect(version).toBe(1);
  expect(error.code).toMatch(/^[a-z-]+$/);
  expect(error.message.length).toBeGreaterThan(10);
  return error;
}

export function expectNoCrash(ran: Ran): void {
  expect(ran.all).not.toMatch(/\n\s+at .+:\d+/);
  expect(ran.all).not.toMatch(/\[object |undefined|bug of ours|NaN/);
  expect(ran.code, ran.all).not.toBe(70);
  expect(ran.code, ran.all).not.toBeNull();
}

/** Every file below a folder with its bytes, its kind and its mode: for "nothing was changed". */
export function pictureOf(folder: string): Record<string, string> {
  const picture: Record<string, string> = {};
  const walk = (at: string): void => {
    for (const entry of fs.readdirSync(at, { withFileTypes: true })) {
      const full = path.join(at, entry.name);
      const mode = (fs.lstatSync(full).mode & 0o7777).toString(8);
      const key = path.relative(folder, full);
      if (entry.isDirectory()) {
        picture[key] = `folder ${mode}`;
        walk(full);
      } else if (entry.isFile()) picture[key] = `file ${mode} ${hash(fs.readFileSync(full))}`;
      else if (entry.isSymbolicLink()) picture[key] = `link ${fs.readlinkSync(full)}`;
      else picture[key] = "other";
    }
  };
  walk(folder);
  return picture;
}

// ── state files ────────────────────────────────────────────────────────────────────────────────

export const stateText = (block: string, title = "Autodev State"): string =>
  `# ${title}\n\n## Current Step\n${block.replace(/\n*$/, "\n")}`;

export const generation3 = stateText(`flow: existing-code
step: 10
name: Implement
status: in_progress
sub_step:
  phase: 7
  name: batch-loop
  detail: "batch 2 of ~4"
retry_count: 0
cycle: 3
`);

export const generation2 = stateText(
  `flow: greenfield
step: 3
name: Plan
status: in_progress
sub_step: 4 — Architecture Review & Risk Assessment
retry_count: 0
`,
  "Autopilot State",
);

export const generation1 = stateText(
  `step: 2
name: Plan
status: in_progress
sub_step: 4 — Architecture Review & Risk Assessment
retry_count: 0
`,
  "Autopilot State",
);

// ── the journal, as bytes ──────────────────────────────────────────────────────────────────────

const hash = (content: string | Buffer): string =>
  createHash("sha256").update(content).digest("hex");

export interface JournalRecord {
  readonly seq: number;
  readonly events: number;
  readonly epoch: number;
  readonly prev: string;
  readonly hash: string;
  readonly payload: string;
}

export const memoryOf = (repo: Repo): string => repo.at(".git/autodev");

/** The segments, oldest first. */
export function segmentsOf(repo: Repo): string[] {
  const journal = path.join(memoryOf(repo), "journal");
  return fs
    .readdirSync(journal)
    .sort()
    .flatMap((group) =>
      fs
        .readdirSync(path.join(journal, group))
        .sort()
        .map((name) => path.join(journal, group, name)),
    );
}

export function recordsIn(segment: string): JournalRecord[] {
  return fs
    .readFileSync(segment, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [, seq, events, epoch, , prev, own] = line.split(" ", 7);
      const payload = line.split(" ").slice(7).join(" ");
      return {
        seq: Number(seq),
        events: Number(events),
        epoch: Number(epoch),
        prev: String(prev),
        hash: String(own),
        payload,
      };
    });
}

/** The events of a transition, by number. */
export const seqsOf = ({ seq, events }: JournalRecord): number[] =>
  Array.from({ length: events }, (_, at) => seq + at);

/** A line as the journal writes it, with a checksum that fits. */
export function forgedLine(
  fields: Omit<JournalRecord, "hash">,
  format = 1,
): { line: string; hash: string } {
  const { seq, events, epoch, prev, payload } = fields;
  const own = hash(`${seq} ${events} ${epoch} ${prev}\n${payload}`).slice(0, 32);
  const length = Buffer.byteLength(payload);
  return {
    hash: own,
    line: `autodev${format} ${seq} ${events} ${epoch} ${length} ${prev} ${own} ${payload}\n`,
  };
}

/** Forgets the cache, so that the journal itself has to be read. */
export const dropSnapshot = (repo: Repo): void =>
  fs.rmSync(path.join(memoryOf(repo), "snapshot"), { force: true });

const prepared = new Map<string, Promise<Repo>>();

/** A copy of a repository that is made once: what leads up to a test need not be run again. */
async function copyOf(name: string, make: () => Promise<Repo>): Promise<Repo> {
  let original = prepared.get(name);
  if (!original) prepared.set(name, (original = make()));
  const { root } = await original;
  const copy = makeFolder("project");
  fs.cpSync(root, copy, { recursive: true, preserveTimestamps: true });
  return repoAt(copy);
}

const onlyDecision = async (repo: Repo): Promise<DecisionView> => {
  const [decision] = await repo.decisions();
  if (!decision) throw new Error("no decision was asked");
  return decision;
};

/** A generation-1 file, and the question whether to migrate it stands open. */
export async function makeAskedRepo(): Promise<Repo & { readonly decision: DecisionView }> {
  const repo = await copyOf("asked", async () => {
    const original = makeRepo({ [former]: generation1 });
    expect((await original.autodev()).code).toBe(3);
    return original;
  });
  const { status: _, ...decision } = await onlyDecision(repo);
  return { ...repo, decision };
}

/**
 * A repository with some history: a generation-1 file taken over, a decision asked, answered and
 * carried out, over several sessions (so: several segments).
 */
export const makeRepoWithHistory = (): Promise<Repo> =>
  copyOf("history", async () => {
    const repo = await makeAskedRepo();
    expect((await repo.autodev("decide", repo.decision.id, "A")).code).toBe(0);
    expect((await repo.autodev()).code).toBe(0);
    return repo;
  });

/** One session, so one segment, that holds at least three transitions. */
export const makeRepoWithOneSession = (): Promise<Repo> =>
  copyOf("one session", async () => {
    const repo = makeRepo({ [present]: generation3.replace("in_progress", "paused") });
    expect((await repo.autodev("--decide", "recommended")).code).toBe(0);
    const [segment = ""] = segmentsOf(repo);
    expect(recordsIn(segment).length).toBeGreaterThanOrEqual(3);
    return repo;
  });

// ── terminals ──────────────────────────────────────────────────────────────────────────────────

export interface Terminal {
  readonly pid: number;
  /** Everything that was shown so far. */
  shown(): string;
  /** Resolves once it is shown; fails after a while, or when the program ends without it. */
  until(text: string | RegExp): Promise<void>;
  type(keys: string): void;
  resize(columns: number, rows: number): void;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<{ code: number; signal: number }>;
}

/** The built binary at a terminal of its own. */
export function atTerminal(
  cwd: string,
  args: readonly string[] = [],
  env: Environment = {},
  { columns = 120, rows = 40, work = false } = {},
): Terminal {
  const merged: Record<string, string> = {};
  for (const [key, value] of Object.entries({ ...plainEnvironment, ...env })) {
    if (value !== undefined) merged[key] = value;
  }
  const words = work ? args : withoutWork(args);
  const child = spawnAtTerminal(process.execPath, [binary(), ...words], {
    cwd,
    env: merged,
    cols: columns,
    rows,
    name: merged["TERM"] ?? "xterm-256color",
  });
  let text = "";
  let over = false;
  child.onData((data) => (text += data));
  const ended = new Promise<{ code: number; signal: number }>((resolve) => {
    child.onExit(({ exitCode, signal }) => {
      over = true;
      resolve({ code: exitCode, signal: signal ?? 0 });
    });
  });
  return {
    pid: child.pid,
    shown: () => text,
    async until(wanted) {
      const found = (): boolean =>
        typeof wanted === "string" ? text.includes(wanted) : wanted.test(text);
      for (let waited = 0; !found(); waited += 20) {
        if (waited > 30_000 || (over && waited > 500)) {
          throw new Error(`"${String(wanted)}" was not shown, but:\n${text}`);
        }
        await sleep(20);
      }
    },
    type: (keys) => child.write(keys),
    resize: (width, height) => child.resize(width, height),
    // Once it has ended, its number is a stranger's before long.
    kill: (signal) => over || process.kill(child.pid, signal),
    ended,
  };
}

/** The prompt: whoever shows it holds the repository and waits for a letter. */
export const prompt = /\? $/;

/** Somebody who holds the repository: an autodev that waits at its terminal for an answer. */
export async function makeHolder(repo: Repo): Promise<Terminal> {
  const holder = atTerminal(repo.root);
  await holder.until(prompt);
  return holder;
}

export const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What becomes true soon, or a failure that says what did not. */
export async function eventually(
  what: string,
  holds: () => boolean | Promise<boolean>,
  within = 5000,
): Promise<void> {
  const until = Date.now() + within;
  while (!(await holds())) {
    if (Date.now() > until) throw new Error(`not within ${within} ms: ${what}`);
    await sleep(30);
  }
}

// ── small disks ────────────────────────────────────────────────────────────────────────────────

interface SmallDisk {
  readonly folder: string;
  /** The folder as this process sees it. */
  readonly seen: string;
  run(command: string, ...args: string[]): Promise<Ran>;
  autodev(cwd: string, ...args: string[]): Promise<Ran>;
  end(): void;
}

/** A file system of its own in a mount namespace of its own; a sentence where that is impossible. */
export async function smallDisk(megabytes: number): Promise<SmallDisk | string> {
  if (!isRoot) return "mounting needs root";
  const folder = makeFolder("disk");
  const script = `mount -t tmpfs -o size=${megabytes}m,mode=755 tmpfs "$0" && echo ready && exec sleep 600`;
  const child = spawn(
    "unshare",
    ["--mount", "--propagation", "private", "sh", "-c", script, folder],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const ready = await new Promise<string>((resolve) => {
    child.stdout.once("data", () => resolve("ready"));
    child.stderr.once("data", (text: Buffer) => resolve(text.toString()));
    child.once("error", (error) => resolve(error.message));
    child.once("exit", () => resolve("the namespace ended"));
  });
  if (ready !== "ready") return `mounting is impossible here: ${ready.trim()}`;
  const enter = ["-t", String(child.pid), "-m", "--"];
  return {
    folder,
    seen: path.join(`/proc/${child.pid}/root`, folder),
    run: (command, ...args) => run("nsenter", [...enter, command, ...args], { cwd: "/" }),
    autodev: (cwd, ...args) =>
      run(
        "nsenter",
        [
          ...enter,
          "sh",
          "-c",
          'cd "$0" && exec "$@"',
          cwd,
          process.execPath,
          binary(),
          ...withoutWork(args),
        ],
        { cwd: "/" },
      ),
    end: () => child.kill("SIGKILL"),
  };
}
