/**
 * What the tests of plan runs stand on: small plans, an agent and a gate whose scripts each test
 * brings along in the environment (so that what has to be trusted is the same everywhere), and a
 * look at everything that a run must not leave behind.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { expect } from "vitest";
import {
  binary,
  type DecisionView,
  eventually,
  expectNoCrash,
  giveToNobody,
  makeFolder,
  makeRepo,
  plainEnvironment,
  type Ran,
  type Repo,
} from "./rig.ts";

export const plan = "docs/feature-plan.md";

// ── plans ──────────────────────────────────────────────────────────────────────────────────────

export interface PhaseText {
  readonly id: string;
  readonly name?: string;
  readonly needs?: readonly string[];
  readonly parallel?: readonly string[];
  /** Whole files that it creates; none: an agent has to think of something. */
  readonly files?: Readonly<Record<string, string>>;
  /** A script that it runs. */
  readonly command?: string;
}

const list = (ids: readonly string[] = []): string => (ids.length === 0 ? "-" : ids.join(", "));

const fence = (language: string, text: string): string =>
  `\`\`\`${language}\n${text.replace(/\n*$/, "\n")}\`\`\`\n`;

export function planOf(phases: readonly PhaseText[]): string {
  const rows = phases.map(
    ({ id, name = `Part ${id}`, needs, parallel }) =>
      `| ${id} | ${name} | ${list(needs)} | ${list(parallel)} | 2 | ⬜ |`,
  );
  const sections = phases.map(({ id, name = `Part ${id}`, files = {}, command }) =>
    [
      `### Phase ${id}: ${name}\n`,
      "#### Tasks\n",
      `- [ ] Make part ${id}\n`,
      ...Object.entries(files).map(
        ([file, text]) => `##### File: \`${file}\` (CREATE)\n\n${fence("text", text)}`,
      ),
      ...(command === undefined ? [] : [`#### Commands\n\n${fence("bash", command)}`]),
      "#### Definition of Done\n",
      `- [ ] Part ${id} is there\n`,
    ].join("\n"),
  );
  return [
    "# A feature\n",
    "| Phase | Name | Depends On | Parallel With | Estimate | Status |",
    "|---|---|---|---|---|---|",
    ...rows,
    "",
    ...sections,
  ].join("\n");
}

/** Each phase creates one file of its own, `src/<id>.txt`. */
export const spelled = (id: string, needs: readonly string[] = [], text = `part ${id}`) => ({
  id,
  needs,
  files: { [`src/${id}.txt`]: text },
});

export const onePhase = planOf([spelled("1")]);
export const twoPhases = planOf([spelled("1"), spelled("2", ["1"])]);
/** Nobody says which files: only an agent can do it. */
export const vaguePhase = planOf([{ id: "1" }]);

// ── repositories ───────────────────────────────────────────────────────────────────────────────

/** Both scripts come with the environment: see `Surroundings`. */
export const config = `gates:
  test: eval "$TEST_GATE"
agents:
  mine:
    command: eval "$TEST_AGENT"
    confined: false
`;

/** A plan and the settings above, committed. */
export function makeBuildRepo(
  text = onePhase,
  files: Readonly<Record<string, string | Buffer>> = {},
  name = "project",
): Repo {
  const repo = makeRepo({ [plan]: text, ".autodev/config.yaml": config, ...files }, name);
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--message=plan");
  return repo;
}

export interface Surroundings {
  /** A script; what it wants to be a result, it writes with `finish`. */
  readonly agent?: string;
  readonly gate?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Kills it: nothing here may take longer. */
  readonly timeout?: number;
  /** Of another name, `dist/cli/autobuild.cjs`, say. */
  readonly program?: readonly string[];
  /** Instead of the plan: the phase that `retry` names, say. */
  readonly plan?: string;
  /** `false`: no mode is chosen for it. */
  readonly mode?: false;
  /** As a user to whom permissions apply. */
  readonly asNobody?: boolean;
}

/** `finish`: says that everything is done. */
const finish = `finish() {
  printf '{"phase_id":"%s","status":"complete","tasks":{"total":1,"completed":1},"commit_message":"%s"}' \\
    "$AUTODEV_PHASE" "\${1:-feat: part $AUTODEV_PHASE}" > "$AUTODEV_RESULT"
}
`;

/** What an agent does that does its work: one file for its phase. */
export const working =
  'mkdir -p src; echo "part $AUTODEV_PHASE" > "src/$AUTODEV_PHASE.txt"; finish';

/** A gate has nothing against what was there before: only then a run begins. */
export const environmentOf = ({ agent = working, gate = "true", env }: Surroundings) => ({
  TEST_AGENT: finish + agent,
  TEST_GATE: `[ -n "$AUTODEV_PHASE" ] || exit 0; ${gate}`,
  ...env,
});

/** Hashes that were told, by what they were told for: the settings, and whether `apply` can do it. */
const hashes = new Map<string, string>();
const settingsOf = (repo: Repo): string => {
  const [settings, text] = [".autodev/config.yaml", plan].map((file) =>
    repo.exists(file) ? repo.read(file) : "",
  );
  return `${text?.includes("(CREATE)")} ${settings}`;
};

const keyOf = (repo: Repo, around: Surroundings): string =>
  `${around.agent === undefined} ${settingsOf(repo)}`;

export const hashIn = (ran: Ran): string | undefined =>
  /--trust-sha256 ([0-9a-f]{64})/.exec(ran.all)?.[1];

/** A build whose commands are trusted, as in CI: by their hash. */
export async function build(
  repo: Repo,
  args: readonly string[] = [],
  around: Surroundings = {},
): Promise<Ran> {
  const key = keyOf(repo, around);
  const known = hashes.get(key);
  const first = await startBuild(repo, withHash(args, known), around).ended;
  const told = hashIn(first);
  if (first.code !== 3 || told === undefined || told === known) return first;
  hashes.set(key, told);
  return startBuild(repo, withHash(args, told), around).ended;
}

const withHash = (args: readonly string[], hash: string | undefined): string[] =>
  hash === undefined ? [...args] : [...args, "--trust-sha256", hash];

/** The same, under way. */
export async function startTrusted(
  repo: Repo,
  args: readonly string[],
  around: Surroundings,
): Promise<Underway> {
  const key = keyOf(repo, around);
  if (!hashes.has(key)) hashes.set(key, await trustHash(repo));
  return startBuild(repo, withHash(args, hashes.get(key)), around);
}

/** The hash of what this repository would run. */
export async function trustHash(repo: Repo, args: readonly string[] = []): Promise<string> {
  const told = hashIn(await startBuild(repo, args, {}).ended);
  if (told === undefined) throw new Error("nothing has to be trusted");
  return told;
}

export interface Underway {
  readonly pid: number;
  readonly ended: Promise<Ran>;
  said(): string;
  until(text: string | RegExp): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  /** The most memory it has had so far, in megabytes; as it ends, the last figure. */
  peak(): number;
}

/** `autodev build` as it is typed; `--commit=auto` unless another mode is named. */
export function startBuild(
  repo: Repo,
  args: readonly string[] = [],
  around: Surroundings = {},
): Underway {
  const program = around.program ?? [binary(), "build"];
  const named = around.mode === false || args.some((arg) => arg.startsWith("--commit"));
  const moded = named ? [] : ["--commit=auto"];
  const drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
  const [command = "", ...words] = [
    ...(around.asNobody ? drop : []),
    process.execPath,
    ...program,
    around.plan ?? plan,
    ...moded,
    ...args,
  ];
  const child = spawn(command, words, {
    cwd: around.cwd ?? repo.root,
    env: {
      ...plainEnvironment,
      ...environmentOf(around),
      ...(around.asNobody && { HOME: homeOfNobody(), XDG_CACHE_HOME: "", XDG_CONFIG_HOME: "" }),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err, over, peak] = ["", "", false, 0];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const pid = child.pid ?? 0;
  const timer = setTimeout(() => child.kill("SIGKILL"), around.timeout ?? 90_000);
  const look = setInterval(() => (peak = Math.max(peak, peakOf(pid))), 50);
  const ended = new Promise<Ran>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      over = true;
      clearTimeout(timer);
      clearInterval(look);
      resolve({ code, signal, out, err, all: out + err });
    });
  });
  return {
    pid,
    ended,
    said: () => out + err,
    async until(wanted) {
      const found = (): boolean =>
        typeof wanted === "string" ? (out + err).includes(wanted) : wanted.test(out + err);
      await eventually(`"${String(wanted)}" in\n${out}${err}`, () => found() || over, 60_000);
      if (!found()) throw new Error(`"${String(wanted)}" was never said, but:\n${out}${err}`);
    },
    kill: (signal) => child.kill(signal),
    peak: () => peak,
  };
}

let nobodysHome: string | undefined;
function homeOfNobody(): string {
  if (nobodysHome === undefined) giveToNobody((nobodysHome = makeFolder("nobody")));
  return nobodysHome as string;
}

function peakOf(pid: number): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${pid}/status`, "utf8"));
    return Number(kilobytes?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

// ── shapes ─────────────────────────────────────────────────────────────────────────────────────

interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** As much of JSON Schema as `schemas/` uses. */
function misfits(value: unknown, schema: Schema, at: string): string[] {
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) {
    const tried = choices.map((choice) => misfits(value, choice, at));
    return tried.some((each) => each.length === 0) ? [] : [`${at}: fits none of ${choices.length}`];
  }
  if ("const" in schema && value !== schema.const) return [`${at}: not ${String(schema.const)}`];
  if (schema.enum && !schema.enum.includes(value))
    return [`${at}: not one of ${schema.enum.join()}`];
  const types = [schema.type ?? []].flat();
  if (types.length > 0 && !types.some((type) => kindsOf(value).includes(type))) {
    return [`${at}: not ${types.join(" or ")}`];
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((each, index) => misfits(each, items, `${at}[${index}]`)) : [];
  }
  if (typeof value !== "object" || value === null) return [];
  const missing = (schema.required ?? []).filter((key) => !(key in value));
  const rest = schema.additionalProperties;
  return [
    ...missing.map((key) => `${at}.${key}: missing`),
    ...Object.entries(value).flatMap(([key, each]) => {
      const own = schema.properties?.[key] ?? rest ?? true;
      if (own === false) return [`${at}.${key}: not in the schema`];
      return own === true ? [] : misfits(each, own, `${at}.${key}`);
    }),
  ];
}

const kindsOf = (value: unknown): string[] =>
  value === null
    ? ["null"]
    : Array.isArray(value)
      ? ["array"]
      : Number.isInteger(value)
        ? ["integer", "number"]
        : [typeof value];

const schemas = path.join(import.meta.dirname, "../schemas");

/** Against the published schema of that name. */
export function expectSchema(value: unknown, name: string): void {
  const file = path.join(schemas, `${name}.schema.json`);
  const schema = JSON.parse(fs.readFileSync(file, "utf8")) as Schema;
  expect(misfits(value, schema, name)).toEqual([]);
}

// ── what a run leaves ──────────────────────────────────────────────────────────────────────────

export interface PhaseFileView {
  readonly phase_id: string;
  readonly status: string;
  readonly attempt: number;
  readonly max_attempts: number;
  readonly commit: {
    readonly message: string;
    readonly committed: boolean;
    readonly commit_sha: string | null;
    readonly files_created: readonly string[];
  } | null;
  readonly verification: {
    readonly findings?: readonly { readonly code: string; readonly message: string }[];
  } | null;
  readonly error: { readonly type: string; readonly message: string } | null;
  readonly [key: string]: unknown;
}

export const phaseFile = (repo: Repo, id: string): PhaseFileView =>
  JSON.parse(repo.read(`.autobuild/phases/phase-${id}.json`)) as PhaseFileView;

export const executionLog = (repo: Repo): string =>
  repo.read(".autobuild/logs/execution.log").replace(/^\[\d{4}-[^\]]+Z\] /gm, "");

export const subjects = (repo: Repo, ref = "HEAD"): string[] =>
  repo.git("log", "--format=%s", ref, "--").trim().split("\n");

/** Finished, with exactly these commits on top of the plan's, newest first. */
export function expectComplete(ran: Ran): void {
  expectNoCrash(ran);
  expect(ran.code, ran.all).toBe(0);
}

/**
 * Nothing of ours lies about: no work tree, no branch, no ref of an attempt, no scratch file, and
 * git finds nothing wrong. What is not committed is what `dirty` says, beside `.autobuild`.
 */
export function expectTidy(repo: Repo, dirty: readonly string[] = []): void {
  expect(repo.git("worktree", "list", "--porcelain").match(/^worktree /gm)).toHaveLength(1);
  expect(repo.git("for-each-ref", "--format=%(refname)", "refs/heads/autobuild")).toBe("");
  expect(repo.exists(".autodev/var"), "work trees").toBe(false);
  const scratch = repo.at(".git/autodev/scratch");
  expect(fs.existsSync(scratch) ? fs.readdirSync(scratch) : []).toEqual([]);
  expect(
    repo
      .git("status", "--porcelain", "-z", "--untracked-files=all")
      .split("\0")
      .filter((line) => line !== "" && !line.startsWith("?? .autobuild/")),
  ).toEqual(dirty);
  repo.git("fsck", "--strict", "--no-dangling");
}

/** A folder outside the repository in which scripts of the test leave word. */
export const makeMailbox = (): string => makeFolder("mailbox");

export const arrived = (mailbox: string, name: string, within = 60_000): Promise<void> =>
  eventually(`${name} in the mailbox`, () => fs.existsSync(path.join(mailbox, name)), within);

/** Whatever carries this in its environment is a child of one test's. */
export const makeToken = (): string => randomUUID();

/** Processes, other than autodev itself, that were started with this token. */
export function survivors(token: string): string[] {
  return fs.readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const environment = fs.readFileSync(`/proc/${pid}/environ`, "utf8");
      if (!environment.includes(`TEST_TOKEN=${token}`)) return [];
      const command = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      return command === "" ? [] : [`${pid} ${command}`];
    } catch {
      return [];
    }
  });
}

/** The one question that stands open. */
export async function openDecision(repo: Repo): Promise<DecisionView> {
  const open = (await repo.decisions()).filter(({ status }) => status === "open");
  expect(open).toHaveLength(1);
  return open[0] as DecisionView;
}

export async function decide(repo: Repo, letter: string): Promise<void> {
  const { id } = await openDecision(repo);
  const ran = await repo.autodev("decide", id, letter);
  expect(ran.code, ran.all).toBe(0);
}
