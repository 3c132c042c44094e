/**
 * kill -9 at a hundred moments of a project's way from an empty folder to its release and to the first
 * feature behind it: early, in the middle of a skill, between two steps, with the agent or without
 * it. Each life goes on where the one before was; in the end there is what a way without a kill leaves,
 * and nothing was asked twice.
 */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import {
  type Context,
  ending,
  judged,
  makeRepository,
  type Outcome,
  type Ran,
  type Random,
  type Row,
  randomFrom,
  repositoryRoot,
  run,
  shippedProgram,
  skipped,
} from "./rig.ts";
import { git, type Site, siteAt } from "./run-rig.ts";

const kills = 100;
/** A life of ours is cut short somewhere between its start and the end of its third step or so. */
const [shortest, longest] = [60, 1800];

export const flowKills: Row = {
  name: "flow-kills",
  promise: "a flow that is killed again and again ends as one that nothing disturbs",
  budgetSeconds: { ci: 1, full: 900 },
  async run(context) {
    if (context.tier === "ci") return skipped("with 20 kills it is a test: test/flow.test.ts");
    return killFlows(context);
  },
};

async function killFlows(context: Context): Promise<Outcome> {
  const program = await shippedProgram(context.scratch);
  const calm = await makeProject(program, path.join(context.scratch, "calm"));
  const undisturbed = await liveAndDie(calm, randomFrom(context.seed), 0);
  if (undisturbed.wrong.length > 0) return judged({}, undisturbed.wrong);
  const wanted = await endOf(calm);
  const figures = { kills: 0, lives: 0, ways: 0, sessions: 0, questions: wanted.questions.length };
  const failures: string[] = [];
  while (figures.kills < kills && failures.length === 0) {
    const way = ++figures.ways;
    const project = await makeProject(program, path.join(context.scratch, `way-${way}`));
    const random = randomFrom(context.seed, way);
    const lived = await liveAndDie(project, random, kills - figures.kills);
    figures.kills += lived.killed;
    figures.lives += lived.lives;
    const end = await endOf(project);
    figures.sessions += end.sessions;
    for (const wrong of [...lived.wrong, ...differences(end, wanted)]) {
      failures.push(`way ${way} of seed ${context.seed}, ${lived.killed} kills: ${wrong}`);
    }
    context.note(`way ${way}: ${lived.killed} kills in ${lived.lives} lives`);
  }
  return judged(figures, failures);
}

// ── a project ──────────────────────────────────────────────────────────────────────────────────

interface Project {
  readonly site: Site;
  autodev(...args: readonly string[]): Promise<Ran>;
  /** To the end, unless it is killed after so many milliseconds; `group`: with all that it started. */
  live(killed?: { readonly afterMs: number; readonly group: boolean }): Promise<Ran>;
}

/** The agent without a model that the tests of flows have, a little slower: there is more to hit. */
async function makeProject(program: string, folder: string): Promise<Project> {
  const root = repositoryRoot();
  const site = siteAt(folder);
  await makeRepository(site.repo);
  const memory = path.join(folder, "memory");
  for (const each of [memory, site.env["HOME"] as string]) fs.mkdirSync(each, { recursive: true });
  const agent = path.join(root, "test", "flow", "agent.mjs");
  fs.mkdirSync(path.join(site.repo, ".autodev"));
  const settings = { agents: { mine: { command: `node '${agent}'` } } };
  fs.writeFileSync(path.join(site.repo, ".autodev/config.yaml"), `${JSON.stringify(settings)}\n`);
  git(site, "add", "--all");
  git(site, "commit", "--quiet", "--message=settings");
  const slow = Object.fromEntries(Array.from({ length: 11 }, (_, at) => [at + 1, { slow: 40 }]));
  const env = {
    ...site.env,
    FLOW_AGENT_SKILLS: path.join(root, "skills"),
    FLOW_AGENT_MEMORY: memory,
    FLOW_AGENT_DO: JSON.stringify(slow),
  };
  const autodev = (...args: readonly string[]): Promise<Ran> =>
    run([process.execPath, program, ...args], { cwd: site.repo, env, timeoutMs: 300_000 });
  const asked = await autodev("--no-input");
  const trust = /--trust-sha256 ([0-9a-f]{64})/.exec(asked.stdout + asked.stderr)?.[1];
  if (trust === undefined) throw new Error(`nothing is to be trusted: ${ending(asked)}`);
  const words = ["--no-input", "--trust-sha256", trust, "--decide", "recommended"];
  const command = [program, ...words];
  return {
    site,
    autodev,
    live(killed) {
      if (!killed) return autodev(...command.slice(1));
      return new Promise((resolve) => {
        const child = spawn(process.execPath, command, {
          cwd: site.repo,
          env,
          stdio: ["ignore", "ignore", "pipe"],
          detached: true,
        });
        let stderr = "";
        child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
        const { afterMs, group } = killed;
        const timer = setTimeout(() => {
          if (group && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
          else child.kill("SIGKILL");
        }, afterMs);
        child.on("exit", (code, signal) => {
          clearTimeout(timer);
          resolve({ code, signal, stdout: "", stderr, timedOut: false, missing: false });
        });
      });
    },
  };
}

// ── lives ──────────────────────────────────────────────────────────────────────────────────────

/** So many lives that none of them can have failed to come further. */
const mostLives = 400;

async function liveAndDie(
  project: Project,
  random: Random,
  most: number,
): Promise<{ killed: number; lives: number; wrong: string[] }> {
  let [killed, isMortal] = [0, true];
  for (let lives = 1; lives <= mostLives; lives++) {
    const death = { afterMs: random.between(shortest, longest), group: random.chance(0.5) };
    const ran = await project.live(killed < most && isMortal ? death : undefined);
    if (ran.signal === "SIGKILL") killed++;
    else if (ran.code !== 0) return { killed, lives, wrong: [`life ${lives}: ${ending(ran)}`] };
    const status = await project.autodev("status", "--json");
    if (status.code !== 0) {
      return { killed, lives, wrong: [`status after life ${lives}: ${ending(status)}`] };
    }
    const { flow, step } = JSON.parse(status.stdout) as { flow: string; step: string };
    // Killed at the very end, the next life would begin another feature.
    isMortal = flow === "greenfield" && step !== "done";
    const isOver = flow === "existing-code" && step === "10" && ran.code === 0;
    if (isOver) return { killed, lives, wrong: [] };
  }
  return { killed, lives: mostLives, wrong: ["it does not come to its end"] };
}

// ── what is left ───────────────────────────────────────────────────────────────────────────────

interface End {
  /** Documents with their bytes, as git has them. */
  readonly documents: readonly string[];
  readonly commits: readonly string[];
  readonly questions: readonly string[];
  readonly askedTwice: readonly string[];
  readonly uncommitted: readonly string[];
  readonly sessions: number;
}

async function endOf({ site, autodev }: Project): Promise<End> {
  const lines = (text: string): string[] => text.split("\n").filter(Boolean);
  const log = await autodev("log", "--json");
  const events = lines(log.stdout).map(
    (line) => JSON.parse(line) as { type: string; decision?: { id: string; question: string } },
  );
  const asked = events.flatMap(({ type, decision }) =>
    type === "decision-asked" && decision ? [decision] : [],
  );
  const ids = asked.map(({ id }) => id);
  return {
    documents: lines(git(site, "ls-tree", "-r", "HEAD", "_docs"))
      .filter((line) => !line.endsWith("_autodev_state.md"))
      .map((line) => line.replace(/\d{4}-\d{2}-\d{2}/, "<day>")),
    commits: lines(git(site, "log", "--reverse", "--format=%s")),
    questions: asked.map(({ question }) => question),
    askedTwice: ids.filter((id, at) => ids.indexOf(id) !== at),
    uncommitted: lines(git(site, "status", "--porcelain")),
    sessions: events.filter(({ type }) => type === "skill-started").length,
  };
}

/** However many sessions it took. */
function differences(end: End, wanted: End): string[] {
  const compared = ["documents", "commits", "questions", "askedTwice", "uncommitted"] as const;
  return compared.flatMap((what) => {
    const [is, should] = [end[what], wanted[what]];
    if (is.join("\n") === should.join("\n")) return [];
    const [more, less] = [
      is.filter((each) => !should.includes(each)),
      should.filter((each) => !is.includes(each)),
    ];
    return [
      `${what}: besides ${more.join(", ")}; without ${less.join(", ")} (or in another order)`,
    ];
  });
}
