/**
 * kill -9 at fifty moments of each of three ways: from an empty folder to a release and to the first
 * feature behind it; through two cycles of a small codebase, with real tests; through a round over
 * a suite of three repositories. Early, in the middle of a skill or of a task, between two steps, with
 * the agent or without it. Each life goes on where the one before was; in the end there is what a way
 * without a kill leaves, and nothing was asked twice.
 */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import {
  again,
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

/** Of each story. */
const kills = 50;
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
  const figures = { kills: 0, lives: 0, ways: 0, sessions: 0, questions: 0, tasks: 0 };
  const failures: string[] = [];
  // A case is a way of a story: `greenfield-3`.
  const [, onlyStory, onlyWay] = /^(.+)-(\d+)$/u.exec(context.onlyCase ?? "") ?? [];
  const chosen = stories.filter(({ name }) => (onlyStory ?? name) === name);
  if (chosen.length === 0 || (context.onlyCase !== undefined && onlyStory === undefined))
    throw new Error(`there is no case ${context.onlyCase}`);
  for (const story of chosen) {
    const make = (name: string): Promise<Project> =>
      makeProject(program, path.join(context.scratch, `${story.name}-${name}`), story);
    const calm = await make("calm");
    const undisturbed = await liveAndDie(calm, story, randomFrom(context.seed), 0);
    const wanted = await endOf(calm, story);
    failures.push(...undisturbed.wrong.map((wrong) => `${story.name}, undisturbed: ${wrong}`));
    figures.questions += wanted.questions.length;
    figures.tasks += wanted.commits.filter((subject) => subject.startsWith("feat: task")).length;
    const [first, last] = onlyWay === undefined ? [1, kills] : [Number(onlyWay), Number(onlyWay)];
    for (
      let [killed, way] = [0, first];
      killed < kills && way <= last && failures.length === 0;
      way++
    ) {
      const project = await make(`way-${way}`);
      const random = randomFrom(context.seed, way);
      const lived = await liveAndDie(project, story, random, kills - killed);
      killed += lived.killed;
      figures.kills += lived.killed;
      figures.lives += lived.lives;
      figures.ways++;
      const end = await endOf(project, story);
      figures.sessions += end.sessions;
      for (const wrong of [...lived.wrong, ...differences(end, wanted)])
        failures.push(
          `${story.name}, way ${way}: ${wrong}; to see it again: ${again(context, flowKills.name, `${story.name}-${way}`)}`,
        );
      context.note(`${story.name}, way ${way}: ${lived.killed} kills in ${lived.lives} lives`);
    }
  }
  return judged(figures, failures);
}

// ── stories ────────────────────────────────────────────────────────────────────────────────────

interface Place {
  readonly flow: string;
  readonly step: string;
  readonly cycle: number;
  readonly decisions: readonly { readonly id: string }[];
}

export interface Story {
  readonly name: string;
  /** What is in the repository before. */
  prepare(site: Site): void;
  /** What the agent says and does besides, by step. */
  readonly acts: Readonly<Record<string, object>>;
  /** Killed at the very end, the next life would begin another story. */
  isMortal(place: Place): boolean;
  isOver(place: Place): boolean;
  /** Killed when it has come round, the next life goes round once more: the same, again. */
  readonly rounds?: true;
}

const write = ({ repo }: Site, files: Readonly<Record<string, string>>): void => {
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.join(repo, path.dirname(name)), { recursive: true });
    fs.writeFileSync(path.join(repo, name), text);
  }
};

const stories: readonly Story[] = [
  {
    name: "greenfield",
    prepare: () => {},
    acts: {},
    isMortal: ({ flow, step }) => flow === "greenfield" && step !== "done",
    isOver: ({ flow, step }) => flow === "existing-code" && step === "10",
  },
  {
    name: "existing-code",
    prepare: (site) =>
      write(site, {
        "package.json": `${JSON.stringify({ name: "small", private: true, type: "module", scripts: { test: "node --test" } })}\n`,
        "src/sum.js": "export const sum = (a, b) => a + b;\n",
        "test/sum.test.js":
          'import assert from "node:assert";\nimport test from "node:test";\nimport { sum } from "../src/sum.js";\ntest("sums", () => assert.equal(sum(1, 2), 3));\n',
      }),
    acts: {},
    isMortal: ({ step, cycle }) => cycle < 2 || Number(step) < 17,
    isOver: ({ cycle }) => cycle === 3,
  },
  {
    name: "meta-repo",
    prepare(site) {
      for (const name of ["api", "web"]) {
        const member = path.join(path.dirname(site.repo), `member-${name}`);
        fs.mkdirSync(member, { recursive: true });
        git({ ...site, repo: member }, "init", "--quiet", "--initial-branch=main", "--template=");
        git({ ...site, repo: member }, "commit", "--quiet", "--allow-empty", `--message=${name}`);
        git(site, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", member, name);
      }
      write(site, {
        "package.json": '{ "private": true, "workspaces": ["tools/*"] }\n',
        "tools/lint/package.json": '{ "name": "lint" }\n',
      });
    },
    acts: { 3: { reports: ["document-drift: web", "cicd-drift: api"] } },
    isMortal: ({ step }) => Number(step) < 6,
    isOver: ({ step }) => step === "6",
    rounds: true,
  },
];

// ── a project ──────────────────────────────────────────────────────────────────────────────────

interface Project {
  readonly site: Site;
  autodev(...args: readonly string[]): Promise<Ran>;
  /** To the end, unless it is killed after so many milliseconds; `group`: with all that it started. */
  live(killed?: { readonly afterMs: number; readonly group: boolean }): Promise<Ran>;
}

/** The agent without a model that the tests of flows have, a little slower: there is more to hit. */
export async function makeProject(
  program: string,
  folder: string,
  story: Story,
  more: Readonly<Record<string, string>> = {},
): Promise<Project> {
  const root = repositoryRoot();
  const site = siteAt(folder);
  await makeRepository(site.repo);
  const memory = path.join(folder, "memory");
  for (const each of [memory, site.env["HOME"] as string]) fs.mkdirSync(each, { recursive: true });
  const agent = path.join(root, "test", "flow", "agent.mjs");
  fs.mkdirSync(path.join(site.repo, ".autodev"));
  const settings = {
    agents: { mine: { command: `node '${agent}'` } },
    gates: { check: "node --version" },
  };
  fs.writeFileSync(path.join(site.repo, ".autodev/config.yaml"), `${JSON.stringify(settings)}\n`);
  story.prepare(site);
  git(site, "add", "--all");
  git(site, "commit", "--quiet", "--message=settings");
  const steps = Array.from({ length: 17 }, (_, at) => String(at + 1));
  const tasks = Array.from({ length: 9 }, (_, at) => `task 0${at + 1}`);
  const slow = Object.fromEntries(
    [...steps, ...tasks].map((each) => [each, { slow: 40, ...story.acts[each] }]),
  );
  const env = {
    ...site.env,
    FLOW_AGENT_SKILLS: path.join(root, "skills"),
    FLOW_AGENT_MEMORY: memory,
    FLOW_AGENT_DO: JSON.stringify(slow),
    ...more,
  };
  const autodevIn = (cwd: string, args: readonly string[]): Promise<Ran> =>
    run([process.execPath, program, ...args], { cwd, env, timeoutMs: 300_000 });
  const autodev = (...args: readonly string[]): Promise<Ran> => autodevIn(site.repo, args);
  const trust = await hashesToTrust(site, autodevIn);
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

/** Of the flow, and of the tasks that it will run: asked for in a copy that has some already. */
async function hashesToTrust(
  site: Site,
  autodevIn: (cwd: string, args: readonly string[]) => Promise<Ran>,
): Promise<string> {
  const copy: Site = { ...site, repo: `${site.repo}-copy` };
  fs.cpSync(site.repo, copy.repo, { recursive: true });
  const task = "# A task\n\n## Tasks\n- [ ] Do it\n\n## Acceptance criteria\n- [ ] It is done\n";
  write(copy, { "_docs/02_tasks/todo/01_task.md": task });
  git(copy, "add", "--all");
  git(copy, "commit", "--quiet", "--message=a task");
  const hashes: string[] = [];
  for (const args of [
    ["--flow", "greenfield"],
    ["build", "_docs/02_tasks", "--commit=auto"],
  ]) {
    const asked = await autodevIn(copy.repo, [...args, "--no-input"]);
    const hash = /--trust-sha256 ([0-9a-f]{64})/.exec(asked.stdout + asked.stderr)?.[1];
    if (hash === undefined) throw new Error(`nothing is to be trusted: ${ending(asked)}`);
    hashes.push(hash);
  }
  return hashes.join(",");
}

// ── lives ──────────────────────────────────────────────────────────────────────────────────────

/** So many lives that none of them can have failed to come further. */
const mostLives = 400;

export async function liveAndDie(
  project: Project,
  story: Story,
  random: Random,
  most: number,
): Promise<{ killed: number; lives: number; wrong: string[] }> {
  let [killed, isMortal, here, deathsHere] = [0, true, "", 0];
  for (let lives = 1; lives <= mostLives; lives++) {
    // Who dies again and again at the same thing is asked about it, rightly: each life there is longer.
    const afterMs = random.between(shortest, longest * (1 + deathsHere));
    const death = { afterMs, group: random.chance(0.5) };
    const ran = await project.live(killed < most && isMortal ? death : undefined);
    if (ran.signal === "SIGKILL") killed++;
    else if (ran.code !== 0 && ran.code !== 3)
      return { killed, lives, wrong: [`life ${lives}: ${ending(ran)}`] };
    const status = await project.autodev("status", "--json");
    if (status.code !== 0) {
      return { killed, lives, wrong: [`status after life ${lives}: ${ending(status)}`] };
    }
    const place = JSON.parse(status.stdout) as Place;
    const now = `${place.flow} ${place.cycle} ${place.step}`;
    deathsHere = now === here ? deathsHere + 1 : 0;
    here = now;
    isMortal = story.isMortal(place);
    if (story.isOver(place) && ran.code === 0) return { killed, lives, wrong: [] };
    // What only a person may say.
    const [open] = ran.code === 3 ? place.decisions : [];
    if (open) await project.autodev("decide", open.id, "A");
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

export async function endOf({ site, autodev }: Project, { rounds }: Story): Promise<End> {
  const lines = (text: string): string[] => text.split("\n").filter(Boolean);
  const log = await autodev("log", "--json");
  const events = lines(log.stdout).map(
    (line) => JSON.parse(line) as { type: string; decision?: { id: string; question: string } },
  );
  const asked = events.flatMap(({ type, decision }) =>
    type === "decision-asked" && decision ? [decision] : [],
  );
  const ids = asked.map(({ id }) => id);
  const commits = lines(git(site, "log", "--reverse", "--format=%s")).sort();
  return {
    documents: lines(git(site, "ls-tree", "-r", "HEAD", "_docs"))
      .filter((line) => !line.endsWith("_autodev_state.md"))
      .map((line) => withReport(site, line))
      .map((line) => line.replace(/\d{4}-\d{2}-\d{2}/, "<day>")),
    // Of two tasks that are ready together either may be the first.
    commits: rounds ? [...new Set(commits)] : commits,
    questions: asked.map(({ question }) => question),
    askedTwice: ids.filter((id, at) => ids.indexOf(id) !== at),
    uncommitted: lines(git(site, "status", "--porcelain", "--", ".", ":!.autobuild")),
    sessions: events.filter(({ type }) => type === "skill-started").length,
  };
}

/** A report names commits and attempts, which are others each time: the rest of it is compared. */
function withReport(site: Site, line: string): string {
  const [, file] =
    /\t(_docs\/03_implementation\/(?:batch_\d+|implementation)_report.*)$/.exec(line) ?? [];
  if (file === undefined) return line;
  const text = git(site, "show", `HEAD:${file}`)
    .replace(/\| [0-9a-f]{9} \|/g, "| <commit> |")
    .replace(/\| \d+ \|$/gm, "| <attempts> |")
    .replace(/\d+ attempts?/g, "<attempts>");
  return `${file} ${JSON.stringify(text)}`;
}

/** However many sessions it took. */
export function differences(end: End, wanted: End): string[] {
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
