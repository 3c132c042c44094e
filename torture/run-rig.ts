/**
 * What the rows about runs of plans stand on: small projects with plans that need no thinking, the
 * product bundled from the source, builds that can be killed with their whole process group, and
 * the oracle: what a run has left behind when it is over, to be compared with a run that nothing
 * ever disturbed.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { bundle, type Plant, sleep, whenEnding } from "./rig.ts";

// ── projects ───────────────────────────────────────────────────────────────────────────────────

export interface Scenario {
  readonly name: string;
  readonly mode: "auto" | "message-only" | "single";
  readonly jobs: number;
  /** Committed before the run. */
  readonly files: Readonly<Record<string, string>>;
  readonly agent?: string;
  /** Somebody's own: one file staged, one not even known to git. */
  readonly dirty: boolean;
  /** Ids, as trailers have them. */
  readonly phases: readonly string[];
}

export const planFile = "docs/plan.md";
const stagedFile = "notes/staged.txt";
const untrackedFile = "notes/not known.txt";

/** A repository, and beside it everything else that a run may write to. */
export interface Site {
  readonly folder: string;
  readonly repo: string;
  readonly env: Readonly<Record<string, string>>;
}

export const siteAt = (folder: string): Site => ({
  folder,
  repo: path.join(folder, "repo"),
  env: {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: path.join(folder, "home"),
    XDG_CONFIG_HOME: path.join(folder, "config"),
    XDG_CACHE_HOME: path.join(folder, "cache"),
    LANG: "C.UTF-8",
    AUTODEV_NO_NOTIFY: "1",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_AUTHOR_NAME: "Torture",
    GIT_AUTHOR_EMAIL: "torture@example.invalid",
    GIT_COMMITTER_NAME: "Torture",
    GIT_COMMITTER_EMAIL: "torture@example.invalid",
  },
});

export interface Template {
  readonly scenario: Scenario;
  readonly folder: string;
  /** What the run begins with. */
  readonly base: string;
  readonly trust: string;
}

/** The project before its run, to be copied; the hash of what it wants to run is asked for once. */
export async function makeTemplate(
  program: string,
  folder: string,
  scenario: Scenario,
): Promise<Template> {
  const site = siteAt(folder);
  for (const each of [
    site.repo,
    ...["home", "config", "cache"].map((name) => path.join(folder, name)),
  ])
    fs.mkdirSync(each, { recursive: true });
  const write = (file: string, text: string): void => {
    const full = path.join(site.repo, file);
    fs.mkdirSync(path.dirname(full), { recursive: true });
    fs.writeFileSync(full, text, { mode: text.startsWith("#!") ? 0o755 : 0o644 });
  };
  for (const [file, text] of Object.entries(scenario.files)) write(file, text);
  git(site, "init", "--quiet", "--initial-branch=main", "--template=");
  git(site, "add", "--all");
  git(site, "commit", "--quiet", "--message=first");
  if (scenario.dirty) {
    write(stagedFile, "staged by somebody\n");
    git(site, "add", stagedFile);
    write(untrackedFile, "not known to git\n");
  }
  const base = git(site, "rev-parse", "HEAD").trim();
  const asked = siteAt(`${folder}-asked`);
  fs.cpSync(folder, asked.folder, { recursive: true });
  const said = await startBuild(program, asked, { scenario, folder, base, trust: "0".repeat(64) })
    .ended;
  fs.rmSync(asked.folder, { recursive: true, force: true });
  const trust = /\b(?!0{64})[0-9a-f]{64}\b/.exec(said.out + said.err)?.[0];
  if (trust === undefined) throw new Error(`no hash was asked for: ${how(said)}`);
  return { scenario, folder, base, trust };
}

export function copyOf({ folder }: Template, to: string): Site {
  fs.cpSync(folder, to, { recursive: true });
  return siteAt(to);
}

export function git({ repo, env }: Site, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: repo, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}${stdout}`);
  return stdout;
}

// ── builds ─────────────────────────────────────────────────────────────────────────────────────

export const buildProgram = (plant?: Plant): Promise<string> =>
  bundle("torture/build-entry.ts", plant && { plant });

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
  readonly timedOut: boolean;
}

export interface Build {
  readonly ended: Promise<Ended>;
  readonly isOver: () => boolean;
  elapsedMs(): number;
  /** kill -9, to its whole process group. */
  kill(): void;
}

/** `autodev build`: a new run, or the same one again. */
export const startBuild = (
  program: string,
  site: Site,
  { scenario, trust }: Template,
  env: Readonly<Record<string, string>> = {},
): Build =>
  start(
    [
      program,
      "build",
      planFile,
      `--commit=${scenario.mode}`,
      `--jobs=${scenario.jobs}`,
      `--trust-sha256=${trust}`,
      ...(scenario.agent === undefined ? [] : [`--agent=${scenario.agent}`]),
      ...(scenario.dirty ? ["--decide=recommended"] : []),
    ],
    site,
    env,
  );

function start(
  args: readonly string[],
  site: Site,
  env: Readonly<Record<string, string>> = {},
  timeoutMs = 120_000,
): Build {
  const began = performance.now();
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: site.repo,
    env: { ...site.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let over = false;
  let timedOut = false;
  const kill = (): void => {
    if (over || child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has just ended by itself.
    }
  };
  const forget = whenEnding(kill);
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, timeoutMs);
  const said = { out: "", err: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (said.out += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said.err += text));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => {
      over = true;
      clearTimeout(timer);
      forget();
      // What it started may hold its pipes for a moment longer, and is no business of ours.
      if (signal !== null) resolve({ code, signal, ...said, timedOut });
    });
    child.on("close", (code, signal) => resolve({ code, signal, ...said, timedOut }));
  });
  return { ended, isOver: () => over, elapsedMs: () => performance.now() - began, kill };
}

export const how = ({ code, signal, timedOut, out, err }: Ended): string => {
  const end = timedOut ? "did not end in time" : signal ? `died by ${signal}` : `exit ${code}`;
  const said = `${err}${out}`.trim().split("\n").slice(-6).join(" / ").slice(0, 500);
  return said === "" ? end : `${end}: ${said}`;
};

// ── the journal ────────────────────────────────────────────────────────────────────────────────

const journalFolder = ({ repo }: Site): string => path.join(repo, ".git", "autodev", "journal");

/** Lines that all sessions together have appended; asked every few milliseconds. */
export function countLines(site: Site): () => number {
  const known = new Map<string, { size: number; lines: number }>();
  return () => {
    for (const group of namesIn(journalFolder(site))) {
      const folder = path.join(journalFolder(site), group);
      for (const file of namesIn(folder).map((name) => path.join(folder, name))) {
        const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
        if (size === (known.get(file)?.size ?? 0)) continue;
        const lines = fs.readFileSync(file, "latin1").split("\n").length - 1;
        known.set(file, { size, lines });
      }
    }
    return [...known.values()].reduce((sum, { lines }) => sum + lines, 0);
  };
}

export interface Logged {
  readonly type: string;
  readonly run: string;
  readonly phase?: string;
  readonly attempt?: number;
  readonly commit?: string | null;
}

/** `autodev log --json`; a string says why it cannot be read. */
export async function readLog(program: string, site: Site): Promise<readonly Logged[] | string> {
  const said = await start([program, "log"], site).ended;
  if (said.code !== 0) return `log --json: ${how(said)}`;
  try {
    return said.out
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Logged);
  } catch {
    return `log --json prints ${said.out.slice(0, 200)}`;
  }
}

/** Every commit that the journal names is there, with all that it needs, under a ref. */
export function phantoms(site: Site, log: readonly Logged[]): string[] {
  const told = log.flatMap(({ type, phase, commit }) =>
    [
      "attempt-delivered",
      "phase-verified",
      "phase-landed",
      "phase-published",
      "run-published",
    ].includes(type) && typeof commit === "string"
      ? [{ commit, what: `${type}${phase === undefined ? "" : ` ${phase}`}` }]
      : [],
  );
  const wrong: string[] = [];
  for (const { commit, what } of told) {
    const read = spawnSync("git", ["rev-list", "--objects", "--quiet", commit], {
      cwd: site.repo,
      env: site.env,
      encoding: "utf8",
    });
    if (read.status !== 0)
      wrong.push(`${what} names ${commit}, which cannot be read: ${read.stderr.trim()}`);
    // A verdict comes before its ref, and a delivery's ref goes when it has landed.
    else if (/^phase-landed|published/.test(what)) {
      const refs = git(site, "for-each-ref", `--contains=${commit}`, "--format=%(refname)");
      if (refs.trim() === "") wrong.push(`${what} names ${commit}, which no ref leads to`);
    }
  }
  return wrong;
}

/** `git fsck`, in its own words; nothing: it is sound. */
export function fsck(site: Site, allowed?: RegExp): string[] {
  const { status, stdout, stderr } = spawnSync(
    "git",
    ["fsck", "--full", "--strict", "--no-dangling", "--no-progress"],
    { cwd: site.repo, env: site.env, encoding: "utf8" },
  );
  const lines = `${stderr}${stdout}`.split("\n").filter((line) => line !== "");
  const said = lines.filter((line) => !allowed?.test(line));
  if (said.length === 0 && (status === 0 || lines.length > 0)) return [];
  return [`git fsck (${status}): ${said.join(" / ").slice(0, 300)}`];
}

// ── the end ────────────────────────────────────────────────────────────────────────────────────

/** What a run comes to, without what differs between any two runs. Texts, to be compared. */
export interface End {
  readonly tree: string;
  readonly index: string;
  readonly commits: string;
  readonly records: string;
}

/** What must not be, whatever the run was. */
export interface Judged {
  readonly end: End;
  readonly doubled: number;
  readonly wrong: string[];
}

export async function judgeEnd(
  program: string,
  site: Site,
  template: Template,
  last: Ended,
): Promise<Judged> {
  const wrong: string[] = [];
  const { scenario } = template;
  if (last.code !== 0) wrong.push(`the last run: ${how(last)}`);
  if (scenario.mode === "message-only") wrong.push(...(await runCommitsScript(site)));
  const commits = commitsSince(site, template.base);
  const told = commits.flatMap(({ phases }) => phases);
  const doubled = told.length - new Set(told).size;
  for (const phase of scenario.phases) {
    const times = told.filter((each) => each === phase).length;
    if (times !== 1) wrong.push(`phase ${phase} is committed ${times} times`);
  }
  wrong.push(...fsck(site), ...leftovers(site, runIdIn(commits)));
  const log = await readLog(program, site);
  if (typeof log === "string") wrong.push(log);
  else wrong.push(...phantoms(site, log), ...usedTwice(log));
  return {
    doubled,
    wrong,
    end: {
      tree: filesIn(site.repo),
      index: `${git(site, "ls-files", "--stage")}${git(site, "status", "--porcelain=v1", "--untracked-files=all", "--", ":!.autobuild")}`,
      commits: commitsText(site, scenario, commits),
      records: recordsIn(site, scenario),
    },
  };
}

/** In which of its parts an end is another than it should be. */
export const differences = (got: End, wanted: End): string[] =>
  (Object.keys(wanted) as (keyof End)[])
    .filter((part) => got[part] !== wanted[part])
    .map(
      (part) =>
        `the ${part} ${part === "tree" || part === "index" ? "differs" : "differ"}: ${firstDifference(got[part], wanted[part])}`,
    );

function firstDifference(got: string, wanted: string): string {
  let at = 0;
  while (at < got.length && got[at] === wanted[at]) at++;
  const around = (text: string): string =>
    JSON.stringify(text.slice(Math.max(0, at - 40), at + 40));
  return `${around(got)} instead of ${around(wanted)}`;
}

async function runCommitsScript(site: Site): Promise<string[]> {
  const script = path.join(site.repo, ".autobuild", "commits.sh");
  if (!fs.existsSync(script)) return ["there is no commits.sh"];
  for (const time of ["first", "second"]) {
    const { status, stdout, stderr } = spawnSync("sh", [script], {
      cwd: site.repo,
      env: site.env,
      encoding: "utf8",
    });
    // The second time it has nothing to do.
    if (status !== 0) return [`commits.sh, the ${time} time: ${stderr}${stdout}`.slice(0, 400)];
  }
  return [];
}

interface Commit {
  readonly sha: string;
  readonly tree: string;
  readonly message: string;
  readonly phases: readonly string[];
}

function commitsSince(site: Site, base: string): Commit[] {
  const told = git(site, "log", "--reverse", "--format=%H%x00%T%x00%B%x01", `${base}..HEAD`);
  return told
    .split("\x01\n")
    .filter((entry) => entry.trim() !== "")
    .map((entry) => {
      const [sha = "", tree = "", message = ""] = entry.split("\0");
      const phases = [...message.matchAll(/^Autobuild-Phase: (.*)$/gm)].map(([, id]) => id ?? "");
      return { sha, tree, message, phases };
    });
}

const runIdIn = (commits: readonly Commit[]): string | undefined =>
  commits.flatMap(({ message }) => /^Autobuild-Run: (.*)$/m.exec(message)?.[1] ?? [])[0];

/** Phases at once may land in another order: then what each has changed has to be the same. */
function commitsText(site: Site, { jobs }: Scenario, commits: readonly Commit[]): string {
  if (jobs === 1) {
    return commits.map(({ tree, message }) => `${tree}\n${withoutNames(message)}`).join("\n");
  }
  return commits
    .map(({ sha, message }) => {
      const patch = git(site, "diff-tree", "-p", "-U0", "--no-commit-id", "--no-renames", sha);
      return `${withoutNames(message)}\n${patch.replace(/^index .*$/gm, "")}`;
    })
    .sort()
    .join("\n");
}

/** Run ids, uuids, times, hashes: all that is different every time. */
const withoutNames = (text: string): string =>
  text
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "<uuid>")
    .replace(/\br[0-9a-f]{10}\b/g, "<run>")
    .replace(/Autobuild-Evidence: [0-9a-f]+/g, "Autobuild-Evidence: <sha>")
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>")
    .replace(/"duration_seconds": [\d.]+/g, '"duration_seconds": <time>')
    // Of two that are done at once, the one that lands second has the other's tests too.
    .replace(/"output_summary": "\d+ tests? passed/g, '"output_summary": "<count> passed')
    .replace(/"tests_passed": \d+/g, '"tests_passed": <count>');

function recordsIn(site: Site, { jobs }: Scenario): string {
  const folder = path.join(site.repo, ".autobuild");
  const phases = namesIn(path.join(folder, "phases")).map((name) => `phases/${name}`);
  const script = jobs === 1 && fs.existsSync(path.join(folder, "commits.sh")) ? ["commits.sh"] : [];
  return ["config.json", ...phases.sort(), ...script]
    .map((name) => {
      const text = withoutNames(fs.readFileSync(path.join(folder, name), "utf8"));
      const shown = name.endsWith(".json") ? text.replace(/"[0-9a-f]{40}"/g, '"<sha>"') : text;
      return `${name}:\n${shown}`;
    })
    .join("\n");
}

/** What people see, as one text: every file outside of .git, with its mode. */
function filesIn(root: string): string {
  return fs
    .readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, full: path.join(entry.parentPath, entry.name) }))
    .filter(({ entry }) => !entry.isDirectory())
    .map(({ full }) => ({ full, file: path.relative(root, full) }))
    .filter(({ file }) => !/^\.(?:git|autobuild)\//.test(file))
    .sort((one, other) => (one.file < other.file ? -1 : 1))
    .map(
      ({ full, file }) =>
        `${file} ${fs.statSync(full).mode.toString(8)}:\n${fs.readFileSync(full, "utf8")}`,
    )
    .join("\n");
}

// ── what must be gone ──────────────────────────────────────────────────────────────────────────

const evidence = "refs/autobuild/evidence/";

function leftovers(site: Site, run: string | undefined): string[] {
  const wrong: string[] = [];
  const left = (what: string, names: readonly string[]): void => {
    if (names.length > 0) wrong.push(`${what}: ${names.slice(0, 5).join(", ")}`);
  };
  const trees = git(site, "worktree", "list", "--porcelain").match(/^worktree .*$/gm) ?? [];
  left("work trees are left", trees.slice(1));
  const refs = git(site, "for-each-ref", "--format=%(refname)").split("\n");
  left(
    "branches are left",
    refs.filter((ref) => ref.startsWith("refs/heads/autobuild/")),
  );
  left(
    "refs of another run are left",
    refs.filter(
      (ref) =>
        ref.startsWith("refs/autobuild/") &&
        !ref.startsWith(`refs/autobuild/${run}/`) &&
        !ref.startsWith(evidence),
    ),
  );
  // Each receipt is of a commit that is there, and each commit's receipt can be read.
  const receipts = refs
    .filter((ref) => ref.startsWith(evidence))
    .map((ref) => ref.slice(evidence.length));
  const named = new Set(
    [
      ...git(site, "log", "--format=%B", `refs/autobuild/${run}/landed`).matchAll(
        /^Autobuild-Evidence: (.*)$/gm,
      ),
    ].map(([, id]) => id ?? ""),
  );
  left(
    "receipts of no commit are left",
    receipts.filter((id) => !named.has(id)),
  );
  left(
    "receipts are missing",
    [...named].filter((id) => !receipts.includes(id)),
  );
  const all = fs.readdirSync(site.repo, { recursive: true, encoding: "utf8" });
  left(
    "locks are left",
    all.filter((file) => file.startsWith(".git/") && file.endsWith(".lock")),
  );
  left(
    "temporary files are left",
    all.filter((file) => path.basename(file).startsWith(".autodev-tmp-")),
  );
  left(
    "files of ours are left in .git",
    namesIn(path.join(site.repo, ".git")).filter((name) => name.startsWith("autodev-")),
  );
  left(".autodev/var is not empty", namesIn(path.join(site.repo, ".autodev", "var")));
  left(
    "the scratch folder is not empty",
    namesIn(path.join(site.repo, ".git", "autodev", "scratch")),
  );
  left("the cache is not empty", filesBelow(site.env["XDG_CACHE_HOME"] ?? ""));
  if (run !== undefined) left("processes are left", processesOf(run));
  return wrong;
}

function filesBelow(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .flatMap((entry) =>
      entry.isDirectory() ? [] : [path.relative(folder, path.join(entry.parentPath, entry.name))],
    );
}

/** Alive, and with the run's marker in its environment. */
const processesOf = (run: string): string[] => processesWith(`\0AUTODEV_RUN_ID=${run}\0`);

const processesWith = (words: string): string[] =>
  namesIn("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return `\0${fs.readFileSync(`/proc/${name}/environ`, "utf8")}\0`.includes(words);
    } catch {
      return false;
    }
  });

/** Until nobody is left of what was started at a site; each of them has its home there. */
export async function deserted({ env }: Site): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (processesWith(`\0HOME=${env["HOME"]}\0`).length === 0) return;
    await sleep(20);
  }
  throw new Error(`somebody still runs with ${env["HOME"]}`);
}

/** The number of an attempt is never used again, nothing is published or ended twice. */
function usedTwice(log: readonly Logged[]): string[] {
  const seen = new Set<string>();
  const wrong: string[] = [];
  for (const { type, phase, attempt } of log) {
    if (!["run-started", "attempt-started", "phase-published", "run-published"].includes(type))
      continue;
    const what = [type, phase, attempt].filter((word) => word !== undefined).join(" ");
    if (seen.has(what)) wrong.push(`the journal has twice: ${what}`);
    seen.add(what);
  }
  return wrong;
}

export const namesIn = (folder: string): string[] => {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
};

/** Whether a failure is the one that a planted bug has to bring about. */
export const isIt = (failure: string, seen: RegExp | undefined): boolean =>
  seen === undefined || seen.test(failure);

// ── waiting ────────────────────────────────────────────────────────────────────────────────────

/** Until it holds or the build is over. */
export async function until(build: Build, holds: () => boolean, everyMs = 3): Promise<void> {
  while (!build.isOver() && !holds()) await sleep(everyMs);
}

// ── plans ──────────────────────────────────────────────────────────────────────────────────────

export interface PlannedPhase {
  readonly id: string;
  readonly name: string;
  readonly needs: readonly string[];
  readonly beside?: string;
  readonly body: string;
}

const fence = "```";

export const creates = (file: string, text: string): string =>
  `##### File: \`${file}\` (CREATE)\n${fence}text\n${text}${fence}`;
export const deletes = (file: string): string => `##### File: \`${file}\` (DELETE)`;
export const patches = (file: string, diff: string): string =>
  `##### File: \`${file}\` (MODIFY)\n${fence}diff\n${diff}${fence}`;
export const runs = (script: string): string => `${fence}sh\n${script}\n${fence}`;

export function planText(title: string, phases: readonly PlannedPhase[]): string {
  const rows = phases.map(
    ({ id, name, needs, beside }) =>
      `| ${id} | ${name} | ${needs.join(", ") || "-"} | ${beside ?? "-"} | 1 | ⬜ |`,
  );
  const sections = phases.map(
    ({ id, name, body }) => `### Phase ${id}: ${name}

#### Tasks

- [ ] Do what ${name} is about
- [ ] Look at it again

${body}

#### Definition of Done

- [ ] ${name} is there
`,
  );
  return `# ${title}

| Phase | Name | Depends On | Parallel With | Estimate | Status |
|---|---|---|---|---|---|
${rows.join("\n")}

${sections.join("\n")}`;
}

/**
 * Fails until the journal knows that it has failed: the same in every run, however often it was
 * killed in between, as memory anywhere else would not be.
 */
const failsOnce = (phase: string): string =>
  `grep -rq '"type":"attempt-failed","phase":"${phase}"' ../../../.git/autodev/journal || { echo "not yet"; exit 1; }`;

const sixPhases: readonly PlannedPhase[] = [
  { id: "1", name: "Base", needs: [], body: creates("src/base.txt", "one\n") },
  {
    id: "2A",
    name: "Left",
    needs: ["1"],
    beside: "2B",
    body: `${creates("src/left.txt", "left\n")}\n${creates("döcs/a file – ünïcode.txt", "ñ\n")}`,
  },
  { id: "2B", name: "Right", needs: ["1"], beside: "2A", body: deletes("old/legacy.txt") },
  {
    id: "3",
    name: "List",
    needs: ["2A", "2B"],
    body: patches("list.txt", "@@ -1,3 +1,4 @@\n alpha\n+alpha and a half\n beta\n gamma\n"),
  },
  {
    id: "4",
    name: "Generate",
    needs: ["3"],
    beside: "5",
    body: runs("made=gen\nmkdir -p $made\nls src > $made/all"),
  },
  {
    id: "5",
    name: "Second attempt",
    needs: ["3"],
    beside: "4",
    body: `${creates("src/base.txt", "one\ntwo\n")}\n${runs(failsOnce("5"))}`,
  },
];

/** What the run builds on passes: only a phase can be wrong. */
const afterwards = '[ -z "$AUTODEV_PHASE" ] ||';

const sixFiles: Readonly<Record<string, string>> = {
  [planFile]: planText("Six phases", sixPhases),
  "old/legacy.txt": "nobody needs it\n",
  "list.txt": "alpha\nbeta\ngamma\n",
  ".autodev/config.yaml": `gates:\n  test: '${afterwards} test -d src'\n  lint: "! grep -rq BAD src"\n`,
};

/** Gates that name what a phase makes: what it takes to trust them changes under way. */
const namingGates = `gates:\n  test: '${afterwards} test -f src/base.txt'\n  lint: "! grep -rq BAD src"\n`;

const idsOf = (phases: readonly PlannedPhase[]): string[] =>
  phases.map(({ id }) => id.toLowerCase());

/** The same plan in all three modes. */
export const six = (
  mode: Scenario["mode"],
  options: { dirty: boolean; naming?: boolean },
): Scenario => ({
  name: mode,
  mode,
  jobs: 1,
  files: options.naming ? { ...sixFiles, ".autodev/config.yaml": namingGates } : sixFiles,
  dirty: options.dirty,
  phases: idsOf(sixPhases),
});

/**
 * The same phases by a program of the project's own, two at once. It breaks a gate until its brief
 * tells it so, and leaves a process behind every time.
 */
export const byAgent: Scenario = {
  name: "agent",
  mode: "auto",
  jobs: 2,
  agent: "own",
  files: {
    ...sixFiles,
    ".autodev/config.yaml": `${sixFiles[".autodev/config.yaml"]}agents:\n  own:\n    command: "./agent.sh"\n`,
    "agent.sh": `#!/bin/sh
sleep 300 >/dev/null 2>&1 &
text=txt
put() { mkdir -p "$1" && printf '%s\\n' "$3" >"$1/$2.$text"; }
case $AUTODEV_PHASE in
  1) put src base one ;;
  2a) put src left left && put döcs "a file – ünïcode" ñ ;;
  2b) rm -r old ;;
  3) put . list other ;;
  4) put gen all "$(ls src)" ;;
  5) if grep -q '^## .*went wrong' "$AUTODEV_BRIEF"; then put src base good; else put src base BAD; fi ;;
esac
printf '{"phase_id":"%s","status":"complete","tasks":{"total":2,"completed":2},"commit_message":"feat: phase %s"}' \
  "$AUTODEV_PHASE" "$AUTODEV_PHASE" >"$AUTODEV_RESULT"
`,
  },
  dirty: true,
  phases: idsOf(sixPhases),
};

const twoPhases: readonly PlannedPhase[] = [
  { id: "1", name: "First", needs: [], body: creates("src/one.txt", "one\n") },
  {
    id: "2",
    name: "Second",
    needs: ["1"],
    body: `${patches("src/one.txt", "@@ -1,1 +1,2 @@\n one\n+two\n")}\n${deletes("old.txt")}`,
  },
];

export const two = (mode: Scenario["mode"]): Scenario => ({
  name: `two-${mode}`,
  mode,
  jobs: 1,
  files: {
    [planFile]: planText("Two phases", twoPhases),
    "old.txt": "old\n",
    ".autodev/config.yaml": `gates:\n  test: '${afterwards} test -d src'\n`,
  },
  dirty: false,
  phases: idsOf(twoPhases),
});

const moduleOf = (name: string): string =>
  `"use strict";\n\nexports.${name} = (list) => list.map((each) => \`${name} of \${each}\`);\n`;
const testOf = (name: string): string => `"use strict";

const assert = require("node:assert/strict");
const test = require("node:test");
const { ${name} } = require("../lib/${name}.js");

test("${name} is said of each", () => {
  assert.deepEqual(${name}(["a", "b"]), ["${name} of a", "${name} of b"]);
});
`;

const wordsOfProject = ["first", "second", "third", "sum", "mean", "most", "least", "span", "rest"];

const tenPhases: readonly PlannedPhase[] = [
  ...wordsOfProject.map((name, index) => ({
    id: String(index + 1),
    name: `Make ${name}`,
    // In pairs: 1 and 2, then 3 and 4 …
    needs: index < 2 ? [] : [String(index % 2 === 0 ? index : index - 1)],
    body: `${creates(`lib/${name}.js`, moduleOf(name))}\n${creates(`test/${name}.test.js`, testOf(name))}`,
  })),
  {
    id: "10",
    name: "Put together",
    needs: ["8", "9"],
    body: creates(
      "index.js",
      wordsOfProject
        .map((name) => `Object.assign(exports, require("./lib/${name}.js"));\n`)
        .join(""),
    ),
  },
];

/** A project as people have them: modules, tests, and gates that take their time. */
export const ten: Scenario = {
  name: "project",
  mode: "auto",
  jobs: 2,
  files: {
    [planFile]: planText("Ten modules", tenPhases),
    "package.json": `${JSON.stringify({ name: "words", version: "1.0.0", scripts: { test: "node --test test/" } }, null, 2)}\n`,
    "test/project.test.js": `"use strict";\n\nrequire("node:test")("it begins", () => {});\n`,
    "README.md": "# Words\n",
  },
  dirty: false,
  phases: idsOf(tenPhases),
};
