/** A project whose flow is done by an agent without a model (test/flow/agent.mjs). */
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import {
  binary,
  makeFolder,
  makeRepo,
  plainEnvironment,
  present,
  type Ran,
  type Repo,
  run,
  type Status,
  sleep,
} from "./rig.ts";

export interface FlowProject extends Repo {
  /** `autodev` with the agent at work; what the repository tells it is trusted. */
  flow(...args: readonly string[]): Promise<Ran>;
  /** How the agent behaves from now on, by step. */
  behave(acts: Readonly<Record<string, object>>): void;
  readonly environment: Record<string, string>;
  readonly command: readonly string[];
}

const agent = join(import.meta.dirname, "flow", "agent.mjs");
const skills = join(import.meta.dirname, "..", "skills");
const settings = `${JSON.stringify({
  agents: { mine: { command: `node '${agent}'` } },
  gates: { check: "node --version" },
})}\n`;

/** `prepare`: what is to be there before the agent's settings are committed. */
export async function makeFlowProject(
  files: Readonly<Record<string, string>> = {},
  prepare: (repo: Repo) => void = () => {},
): Promise<FlowProject> {
  const repo = makeRepo({ ".autodev/config.yaml": settings, ...files });
  prepare(repo);
  repo.git("add", ".");
  repo.git("commit", "--quiet", "--message=settings");
  const memory = makeFolder("memory");
  mkdirSync(memory, { recursive: true });
  const environment: Record<string, string> = {
    FLOW_AGENT_SKILLS: skills,
    FLOW_AGENT_MEMORY: memory,
  };
  const command = [binary(), "--no-input", "--trust-sha256", await hashesToTrust(files)];
  return {
    ...repo,
    environment,
    command,
    flow: (...args) =>
      run(process.execPath, [...command, ...args], {
        cwd: repo.root,
        env: environment,
        timeout: 120_000,
      }),
    behave(acts) {
      environment["FLOW_AGENT_DO"] = JSON.stringify(acts);
    },
  };
}

/** One for all with the same files: they tell to run the same, the flow and the tasks. */
const trusted = new Map<string, Promise<string>>();

function hashesToTrust(files: Readonly<Record<string, string>>): Promise<string> {
  // Documents are nobody's command, and would have it begin elsewhere.
  const code = Object.entries(files).filter(([name]) => !name.startsWith("_docs/"));
  const key = JSON.stringify(code);
  const known = trusted.get(key) ?? askForHashes(Object.fromEntries(code));
  trusted.set(key, known);
  return known;
}

async function askForHashes(files: Readonly<Record<string, string>>): Promise<string> {
  const task = "# A task\n\n## Tasks\n- [ ] Do it\n\n## Acceptance criteria\n- [ ] It is done\n";
  const { root: cwd, git } = makeRepo({
    ".autodev/config.yaml": settings,
    ...files,
    "_docs/02_tasks/todo/01_task.md": task,
  });
  git("add", ".");
  git("commit", "--quiet", "--message=a task");
  const hashes: string[] = [];
  for (const args of [[], ["build", "_docs/02_tasks", "--commit=auto"]]) {
    const asked = await run(process.execPath, [binary(), ...args, "--no-input"], { cwd });
    const [, hash] = /--trust-sha256 ([0-9a-f]{64})/.exec(asked.all) ?? [];
    if (hash === undefined) throw new Error(`nothing is to be trusted: ${asked.all}`);
    hashes.push(hash);
  }
  return hashes.join(",");
}

// ── what came of it ────────────────────────────────────────────────────────────────────────────

/** How `autodev --json` has ended: on what it rests. */
/** One JSON object a line: what was recorded, and last where it stands. */
export const jsonLines = (ran: Ran): readonly Record<string, unknown>[] =>
  ran.out
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

export const outcomeOf = (ran: Ran): string => {
  const last = jsonLines(ran).at(-1) as { outcome?: { is: string } } | undefined;
  return last?.outcome?.is ?? ran.out;
};

/** Artifacts and commits, without what is different each time: which of two tasks is ready first. */
export function madeBy(project: FlowProject): { files: string[]; commits: string[] } {
  const lines = (text: string): string[] => text.split("\n").filter(Boolean);
  return {
    files: lines(project.git("ls-files", "_docs"))
      .filter((file) => file !== present)
      .map((file) => file.replace(/\d{4}-\d{2}-\d{2}/, "<day>")),
    commits: inOrder(lines(project.git("log", "--reverse", "--format=%s"))),
  };
}

/** Of commits of tasks that follow each other, those that could land in either order. */
function inOrder(commits: readonly string[]): string[] {
  const isTask = (subject: string): boolean => subject.startsWith("feat: task ");
  const sorted: string[] = [];
  for (const subject of commits) {
    let at = sorted.length;
    if (isTask(subject))
      while (at > 0 && isTask(sorted[at - 1] ?? "") && (sorted[at - 1] ?? "") > subject) at--;
    sorted.splice(at, 0, subject);
  }
  return sorted;
}

/** Every question that was asked, in order; none of them was asked a second time. */
export async function questionsOf(project: FlowProject): Promise<string[]> {
  const asked = (await project.events())
    .filter(({ type }) => type === "decision-asked")
    .map((event) => event["decision"] as { id: string; question: string });
  expect(new Set(asked.map(({ id }) => id)).size).toBe(asked.length);
  return asked.map(({ question }) => question);
}

// ── lives that are cut short ───────────────────────────────────────────────────────────────────

interface Lives {
  /** The first so many are killed, if they live long enough. */
  readonly kills: number;
  /** After each of them, killed or not. */
  readonly isOver: () => Promise<boolean>;
  /** So near to the end that a kill could leave it behind: the next life would begin another story. */
  readonly spares: (status: Status) => boolean;
  /** Ends that are no failure besides 0: a question that a person has to answer. */
  readonly ends?: readonly number[];
}

/** One `autodev` after the other until it is over, killed at another moment each; how many were. */
export async function liveAndDie(
  { command, root, environment, status }: FlowProject,
  args: readonly string[],
  { kills, isOver, spares, ends = [0] }: Lives,
): Promise<number> {
  let killed = 0;
  for (let life = 0; life < kills * 3 + 10; life++) {
    const spared = spares(await status());
    const child = spawn(process.execPath, [...command, ...args], {
      cwd: root,
      env: { ...plainEnvironment, ...environment },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    // Spread over what a life does: early, in the middle of a skill, between two steps.
    const doomed =
      killed < kills && !spared
        ? sleep(150 + ((life * 137) % 1100)).then(() => child.kill("SIGKILL"))
        : undefined;
    const code = await ended;
    await doomed;
    if (code === null) killed++;
    else if (!ends.includes(code)) throw new Error(`life ${life} ended with ${code}: ${said}`);
    // Who was killed may have left something to be done, if only a commit.
    if ((await isOver()) && code !== null) return killed;
  }
  throw new Error("it does not come to its end");
}
