/**
 * What the tests of `autodev build` stand on: a repository with a plan, an agent that is a shell
 * script outside of it, and a look at everything that a run may have left behind.
 */
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { expect } from "vitest";
import {
  autodevIn,
  binary,
  eventually,
  makeFolder,
  makeRepo,
  plainEnvironment,
  type Ran,
  type Repo,
  repoAt,
} from "./rig.ts";

export interface PhaseText {
  readonly id: string;
  /** What it waits for. */
  readonly after?: string;
  /** What `apply` makes; without any, the phase needs an agent that thinks. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Files go into fences of five, so that they may hold fences themselves. */
export const planText = (phases: readonly PhaseText[]): string =>
  [
    "# A feature",
    "",
    "| Phase | Name | Depends On | Parallel With | Estimate | Status |",
    "|---|---|---|---|---|---|",
    ...phases.map(({ id, after = "-" }) => `| ${id} | Part ${id} | ${after} | - | 1 | ⬜ |`),
    ...phases.flatMap(({ id, files = {} }) => [
      "",
      `### Phase ${id}: Part ${id}`,
      "#### Tasks",
      `- [ ] Do part ${id}`,
      ...Object.entries(files).flatMap(([file, text]) => [
        `##### File: \`${file}\` (CREATE)`,
        "`````text",
        text.replace(/\n$/, ""),
        "`````",
      ]),
      "#### Definition of Done",
      `- [ ] part ${id} is there`,
    ]),
    "",
  ].join("\n");

export interface Built {
  readonly ran: Ran;
  readonly status: string;
  readonly phases: readonly {
    readonly id: string;
    readonly status: string;
    readonly attempts: number;
    readonly commit: string | null;
    readonly error: { readonly type: string; readonly message: string } | null;
  }[];
  readonly notices: readonly string[];
}

export interface PlanProject extends Repo {
  readonly env: Readonly<Record<string, string>>;
  readonly home: string;
  /** One command, quoting and all, in the repository. */
  sh(script: string): string;
  /** Everything is committed. */
  commit(message?: string): string;
  /** `autodev build`, with trust in whatever it asks trust for; it has to come to its summary. */
  build(...args: string[]): Promise<Built>;
  /** A build that is killed with its whole group when its agent has made the file $KILL_ME. */
  killedBuild(...args: string[]): Promise<void>;
  /** The same, whatever it says. */
  tryBuild(...args: string[]): Promise<Ran>;
}

export const planFile = "docs/feature-plan.md";

interface Shape {
  readonly phases?: readonly PhaseText[];
  /** A `case` of a shell script for each phase id; its work tree is the current folder. */
  readonly agent?: Readonly<Record<string, string>>;
  readonly gate?: string;
  readonly name?: string;
  readonly root?: string;
  readonly plan?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Nothing of it is committed yet, but for the first commit of every repository. */
export function makePlanProject(shape: Shape = {}): PlanProject {
  const repo = shape.root === undefined ? makeRepo({}, shape.name) : repoAt(shape.root);
  const { phases, agent, gate = "true" } = shape;
  const agents = agent
    ? `agents: { mine: { command: 'sh "$PLAN_AGENT"', confined: false } }\n`
    : "";
  repo.write(".autodev/config.yaml", `gates: { test: ${JSON.stringify(gate)} }\n${agents}`);
  if (phases) repo.write(shape.plan ?? planFile, planText(phases));
  return projectAt(repo.root, {
    ...shape.env,
    ...(agent && { PLAN_AGENT: agentScript(agent) }),
  });
}

function agentScript(cases: Readonly<Record<string, string>>): string {
  const file = path.join(makeFolder("agent"), "agent.sh");
  const arms = Object.entries(cases).map(([id, script]) => `${id})\n${script}\n;;`);
  const result = `{"phase_id":"%s","status":"complete","tasks":{"total":1,"completed":1},"commit_message":"feat: part %s"}`;
  fs.writeFileSync(
    file,
    `set -e
case "$AUTODEV_PHASE" in
${arms.join("\n")}
esac
printf '${result}' "$AUTODEV_PHASE" "$AUTODEV_PHASE" > "$AUTODEV_RESULT"
`,
  );
  return file;
}

export function projectAt(root: string, more: Readonly<Record<string, string>> = {}): PlanProject {
  const home = makeFolder("home");
  const env = { HOME: home, ...more };
  const sh = (script: string): string => {
    const { status, stdout, stderr } = spawnSync("sh", ["-ec", script], {
      cwd: root,
      env: { ...plainEnvironment, ...env },
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`${script}: ${stderr}${stdout}`);
    return stdout;
  };
  const autodev = (args: readonly string[]): Promise<Ran> =>
    inTurn(() => autodevIn({ cwd: root, env, timeout: 100_000 }, "build", ...args));
  const project: PlanProject = {
    ...repoAt(root),
    env,
    home,
    sh,
    git: (...args) => sh(`git ${args.map((arg) => `'${arg.replaceAll("'", `'\\''`)}'`).join(" ")}`),
    commit(message = "work") {
      sh(`git add --all && git commit --quiet --message='${message}'`);
      return sh("git rev-parse HEAD").trim();
    },
    async tryBuild(...args) {
      const plain = [...args, ...(args.includes("--json") ? [] : ["--json"])];
      // What was trusted in another test is likely to be what is asked for here.
      const like = `${args.includes("--agent=mine")} ${project.read(".autodev/config.yaml")}`;
      const first = await autodev([...plain, ...(trusted.get(like) ?? [])]);
      const trust = trustIn(first);
      if (trust === undefined) return first;
      trusted.set(like, trust);
      return autodev([...plain, ...trust]);
    },
    async killedBuild(...args) {
      const trust = trustIn(await autodev([...args, "--json"])) ?? [];
      const barrier = path.join(home, "kill-me");
      await inTurn(async () => {
        const child = spawn(process.execPath, [binary(), "build", ...args, ...trust], {
          cwd: root,
          env: { ...plainEnvironment, ...env, KILL_ME: barrier },
          stdio: "ignore",
          detached: true,
        });
        const ended = new Promise<string | null>((resolve) => {
          child.once("close", (code, signal) => resolve(signal ?? `exit ${code}`));
        });
        await eventually("the agent wants it killed", () => fs.existsSync(barrier), 60_000);
        process.kill(-(child.pid as number), "SIGKILL");
        expect(await ended).toBe("SIGKILL");
      });
    },
    async build(...args) {
      const ran = await project.tryBuild(...args);
      // A line for each event; the last one sums up.
      const last = ran.out.trimEnd().split("\n").at(-1) ?? "";
      if (!last.includes('"type":"summary"'))
        throw new Error(`no summary (${ran.code}): ${ran.all}`);
      return { ran, ...(JSON.parse(last) as Omit<Built, "ran">) };
    },
  };
  return project;
}

/** What to add, if that is what it wants. */
const trustIn = (ran: Ran): string[] | undefined =>
  /--trust-sha256 [0-9a-f]+/.exec(ran.all)?.[0].split(" ");

const trusted = new Map<string, string[]>();

/** Two at a time: the machine has no more to give, and the tests wait for each other here. */
const waiting: (() => void)[] = [];
let free = 2;
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (free > 0) free--;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else free++;
  }
}

// ── afterwards ─────────────────────────────────────────────────────────────────────────────────

/** Complete, exit code 0, every phase with a commit. */
export function expectComplete(built: Built): void {
  expect(built, built.ran.all).toMatchObject({ status: "complete", ran: { code: 0 } });
  for (const phase of built.phases) {
    expect(phase, built.ran.all).toMatchObject({ status: "complete", error: null });
    expect(phase.commit).toMatch(/^[0-9a-f]{40,64}$/);
  }
}

/** What `git status` says, our own folder aside where nobody tracks it. */
export const statusOf = (project: PlanProject): string[] =>
  project
    .sh("git -c core.quotePath=false status --porcelain=v1 -z --untracked-files=all --no-renames")
    .split("\0")
    .filter((line) => line !== "" && !line.startsWith("?? .autobuild/"));

/** The objects are whole, and nothing of the run's is left but its history and its own ref. */
export function expectSound(
  project: PlanProject,
  expected: {
    readonly status?: readonly string[];
    readonly worktrees?: number;
    /** Attempts that came to nothing: what they had made is kept under a ref. */
    readonly kept?: readonly string[];
  } = {},
): void {
  expect(statusOf(project)).toEqual(expected.status ?? []);
  expect(project.sh("git fsck --strict --no-dangling --no-progress 2>&1")).toBe("");
  const worktrees = project.sh("git worktree list --porcelain").match(/^worktree /gm) ?? [];
  expect(worktrees).toHaveLength(expected.worktrees ?? 1);
  expect(project.exists(".autodev/var"), ".autodev/var is left").toBe(false);
  const refs = project.sh("git for-each-ref --format='%(refname)'").split("\n");
  expect(refs.filter((ref) => ref.startsWith("refs/heads/autobuild"))).toEqual([]);
  const kept = refs.filter((ref) => /^refs\/autobuild\/.*\/attempts\//.test(ref));
  expect(kept.map((ref) => path.basename(ref))).toEqual(expected.kept ?? []);
  const common = path.resolve(project.root, project.sh("git rev-parse --git-common-dir").trimEnd());
  const names = fs.readdirSync(common, { recursive: true, encoding: "utf8" });
  expect(names.filter((name) => name.endsWith(".lock") || name.includes("autodev-tmp"))).toEqual(
    [],
  );
  expect(names.filter((name) => name.startsWith("autodev/scratch/"))).toEqual([]);
  const cached = path.join(project.home, ".cache");
  const checkouts = fs.existsSync(cached)
    ? fs.readdirSync(cached, { recursive: true, encoding: "utf8" })
    : [];
  expect(checkouts.filter((name) => name.includes("-check-"))).toEqual([]);
  expect(project.sh("git stash list")).toBe("");
}

/** Subjects of the commits since a commit, oldest first. */
export const subjectsSince = (project: PlanProject, commit: string, tip = "HEAD"): string[] =>
  project.sh(`git log --reverse --format=%s ${commit}..${tip}`).split("\n").filter(Boolean);

/** Paths and kinds that a commit changed, renames aside: "A\ta.txt". */
export const changesIn = (project: PlanProject, commit: string): string[] =>
  project
    .sh(`git diff-tree -r -z --no-commit-id --name-status --no-renames ${commit}`)
    .split("\0")
    .filter(Boolean)
    .reduce<string[]>(
      (all, word, at) => (at % 2 ? [...all.slice(0, -1), `${all.at(-1)} ${word}`] : [...all, word]),
      [],
    )
    .sort();
