/**
 * People leave things lying about: half-staged changes, files that git does not know, stashes, a
 * merge half-way. Then they start a run, go on working under it, kill it, start it again, answer
 * its questions one way or the other. Nothing of theirs is ever lost.
 */
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import {
  again,
  bundle,
  type Context,
  freshFolder,
  inParallel,
  judged,
  type Outcome,
  type Plant,
  type Random,
  type Row,
  randomFrom,
  sleep,
  whenEnding,
} from "./rig.ts";
import { git, type Site, siteAt } from "./run-rig.ts";
import { losses, type Picture, pictureOf, unchanged } from "./user-oracle.ts";
import {
  type Act,
  agentScript,
  drawActs,
  gateScript,
  gitInTheMiddle,
  type Lying,
  layAbout,
  makeProject,
  planFile,
} from "./user-states.ts";

export const userBytes: Row = {
  name: "user-bytes",
  promise: "nothing of the user's is ever lost: files, index, stash, refs",
  budgetSeconds: { ci: 9, full: 800 },
  run: (context) => disturb(context, { runs: runs[context.tier], traced: traced[context.tier] }),
};

const runs = { ci: 4, full: 200 };
/** Of those, so many are watched by strace. */
const traced = { ci: 1, full: 20 };

export interface Disturbance {
  readonly runs: number;
  readonly traced?: number;
  readonly plant?: Plant;
  /** What a planted bug is told by: then it is found, and that is enough. */
  readonly seen?: RegExp;
}

interface Ground {
  readonly program: string;
  readonly template: string;
  readonly trust: string;
}

interface Figures {
  runs: number;
  sessions: number;
  killed: number;
  answered: number;
  acts: number;
  refused: number;
  complete: number;
  /** As somebody decided, or because a phase failed. */
  halted: number;
  rescued: number;
  traced: number;
  execs: number;
}

export async function disturb(context: Context, options: Disturbance): Promise<Outcome> {
  const ground = await makeGround(context.scratch, options.plant);
  const failures: string[] = [];
  const figures: Figures = {
    runs: 0,
    sessions: 0,
    killed: 0,
    answered: 0,
    acts: 0,
    refused: 0,
    complete: 0,
    halted: 0,
    rescued: 0,
    traced: 0,
    execs: 0,
  };
  const cases = Array.from({ length: options.runs }, (_, at) => at);
  const only = context.onlyCase === undefined ? cases : [Number(context.onlyCase)];
  await inParallel(only, async (number) => {
    const { seen } = options;
    if (seen ? failures.some((each) => seen.test(each)) : failures.length >= 10) return;
    const folder = freshFolder(context.scratch, `user-${number}`);
    try {
      const one = new Case(ground, folder, randomFrom(context.seed, number), figures);
      const watched = number % Math.ceil(options.runs / (options.traced || 1)) === 0;
      const wrong = await one.run(watched && options.traced !== undefined);
      figures.runs++;
      if (figures.runs % 50 === 0) context.note(`${figures.runs} runs, ${failures.length} losses`);
      for (const what of wrong.slice(0, 3)) {
        const repeat = again(context, userBytes.name, String(number));
        failures.push(`${what} [${one.story()}]; ${repeat}`);
        context.note(`${number}: ${what}`);
      }
    } finally {
      if (process.env["TORTURE_KEEP"] === undefined)
        fs.rmSync(folder, { recursive: true, force: true });
    }
  });
  return judged({ ...figures }, failures);
}

async function makeGround(scratch: string, plant: Plant | undefined): Promise<Ground> {
  const program = await bundle("torture/user-entry.ts", plant && { plant });
  const template = freshFolder(scratch, "user-template");
  const site = siteAt(template);
  makeProject(site);
  writeScripts(template);
  const asked = freshFolder(scratch, "user-asked");
  fs.cpSync(template, asked, { recursive: true });
  const { all } = await start(program, siteAt(asked), ["build", planFile, "--commit=auto"]).ended;
  const trust = /--trust-sha256 ([0-9a-f]{64})/.exec(all)?.[1];
  if (trust === undefined) throw new Error(`no hash was asked for: ${all}`);
  return { program, template, trust };
}

function writeScripts(folder: string): void {
  fs.mkdirSync(path.join(folder, "acts"), { recursive: true });
  fs.writeFileSync(path.join(folder, "agent.sh"), agentScript);
  fs.writeFileSync(path.join(folder, "gate.sh"), gateScript);
  fs.mkdirSync(path.join(folder, "bin"), { recursive: true });
  fs.writeFileSync(path.join(folder, "bin", "git"), gitInTheMiddle, { mode: 0o755 });
}

// ── one run ────────────────────────────────────────────────────────────────────────────────────

/** Questions are answered this often; then the run may wait for ever. */
const mostSessions = 9;

class Case {
  readonly site: Site;
  private lying: Lying = { what: [], conflicted: false };
  private acts: Act[] = [];
  private readonly mode: string;
  private readonly recommended: boolean;
  private killsLeft: number;
  private committedAll = false;
  private readonly done: string[] = [];

  private readonly ground: Ground;
  private readonly folder: string;
  private readonly draw: Random;
  private readonly figures: Figures;

  constructor(ground: Ground, folder: string, draw: Random, figures: Figures) {
    this.ground = ground;
    this.folder = folder;
    this.draw = draw;
    this.figures = figures;
    fs.cpSync(ground.template, folder, { recursive: true, preserveTimestamps: true });
    this.site = siteAt(folder);
    this.mode = ["auto", "message-only", "single"][draw.below(3)] as string;
    this.recommended = draw.chance(0.5);
    this.killsLeft = draw.chance(0.5) ? draw.between(1, 2) : 0;
  }

  story(): string {
    const acts = this.acts.map(({ name, script }) => `${name}: ${script.slice(0, 60)}`);
    return [this.mode, ...this.lying.what, ...acts, ...this.done].join("; ");
  }

  async run(watched: boolean): Promise<string[]> {
    const { site, draw } = this;
    this.lying = layAbout(site, draw, !watched);
    const actsFolder = path.join(this.folder, "acts");
    // Whoever is watched does nothing himself: every call is ours.
    this.acts = watched ? [] : drawActs(draw, this.folder);
    for (const { name, script } of this.acts) fs.writeFileSync(path.join(actsFolder, name), script);
    const before = pictureOf(site);
    if (this.lying.busy !== undefined) return this.expectRefusal(before);
    const trace = watched ? path.join(this.folder, "trace") : undefined;
    const wrong = await this.sessions(trace);
    this.figures.acts += this.acts.filter(({ name }) => this.isDone(name)).length;
    const course = {
      mode: this.mode,
      acts: this.inOrder(this.acts.filter(({ name }) => this.isDone(name))),
      halfDone: this.acts.filter(({ name }) => !this.isDone(name) && this.hasBegun(name)),
      committedAll: this.committedAll,
    };
    wrong.push(...losses(site, before, course), ...fsck(site));
    if (trace !== undefined) wrong.push(...this.judgeTrace(trace));
    if (fs.existsSync(path.join(site.repo, ".git", "autodev", "rescue"))) this.figures.rescued++;
    return wrong;
  }

  private async expectRefusal(before: Picture): Promise<string[]> {
    const ended = await this.build();
    this.figures.refused++;
    const wrong = unchanged(before, pictureOf(this.site));
    if (ended.code === 0) wrong.push(`it went on in the middle of a ${this.lying.busy}`);
    return wrong;
  }

  /** Until the run is over, or nobody has an answer that takes it further. */
  private async sessions(trace: string | undefined): Promise<string[]> {
    for (let session = 0; session < mostSessions; session++) {
      const kills = this.killsLeft > 0;
      const ended = await this.build(trace, kills ? this.draw.between(150, 2500) : undefined);
      if (ended.signal === "SIGKILL" && !ended.timedOut) {
        this.figures.killed++;
        this.killsLeft--;
        this.done.push("killed");
        this.actBetween();
        continue;
      }
      this.killsLeft = Math.max(0, this.killsLeft - 1);
      this.done.push(`exit ${ended.code}`);
      if (ended.timedOut) return [`it did not end: ${ended.all.slice(-300)}`];
      if (ended.code === 70 || ended.code === null)
        return [`a bug of ours: ${ended.all.slice(-400)}`];
      const isPeoples = ended.code === 4 || /busy-repository/.test(ended.all);
      if (ended.code !== 0 && ended.code !== 3 && !isPeoples) {
        return [`nobody asked for exit ${ended.code}: ${messageIn(ended.all)}`];
      }
      if (ended.code === 0) {
        this.figures.complete++;
        return this.leftovers();
      }
      if (ended.code !== 3) {
        this.figures.halted++;
        return [];
      }
      const asked = [...new Set(ended.all.match(/\bd-[0-9a-f]{12}\b/g) ?? [])];
      if (asked.length === 0) {
        this.figures.halted++;
        return [];
      }
      for (const id of asked) await this.answer(id, ended.all);
      if (this.draw.chance(0.2)) this.actBetween();
    }
    return [`it asks and asks: ${this.done.join(", ")}`];
  }

  private leftovers(): string[] {
    const { repo } = this.site;
    const wrong: string[] = [];
    if (fs.existsSync(path.join(repo, ".autodev", "var"))) wrong.push(".autodev/var is left");
    const refs = git(this.site, "for-each-ref", "--format=%(refname)", "refs/heads/autobuild");
    // A branch of the run's name is what somebody has chosen; a branch below it is an attempt's.
    if (/^refs\/heads\/autobuild\/[^/\n]+\//m.test(refs)) wrong.push(`left: ${refs.trim()}`);
    return wrong;
  }

  private async answer(id: string, said: string): Promise<void> {
    const letter = "ABC"[this.draw.below(3)] as string;
    const { program } = this.ground;
    const decided = await start(program, this.site, ["decide", id, letter]).ended;
    if (decided.code !== 0) await start(program, this.site, ["decide", id, "A"]).ended;
    this.figures.answered++;
    this.done.push(`${id} ${letter}`);
    if (letter === "B" && said.includes("changes that are not committed")) this.committedAll = true;
  }

  private build(trace?: string, killAfter?: number): Promise<Ended> {
    this.figures.sessions++;
    const { program, trust } = this.ground;
    const args = ["build", planFile, `--commit=${this.mode}`, `--trust-sha256=${trust}`];
    if (this.recommended) args.push("--decide=recommended");
    const running = start(program, this.site, args, trace);
    if (killAfter !== undefined) {
      void sleep(killAfter).then(() => running.kill());
    }
    return running.ended;
  }

  /** The user himself, while nobody runs. */
  private actBetween(): void {
    const act = path.join(this.folder, "acts", "between");
    if (!fs.existsSync(act)) return;
    fs.renameSync(act, `${act}.begun`);
    const { status } = spawnSync("sh", [`${act}.begun`], {
      cwd: this.site.repo,
      env: { ...this.site.env },
    });
    if (status === 0) fs.writeFileSync(`${act}.done`, "");
    this.done.push("between");
  }

  private readonly isDone = (name: string): boolean =>
    fs.existsSync(path.join(this.folder, "acts", `${name}.done`));
  private readonly hasBegun = (name: string): boolean =>
    fs.existsSync(path.join(this.folder, "acts", `${name}.begun`));

  private inOrder(acts: readonly Act[]): Act[] {
    const at = ({ name }: Act): number =>
      fs.statSync(path.join(this.folder, "acts", `${name}.done`)).mtimeMs;
    return [...acts].sort((a, b) => at(a) - at(b));
  }

  /** No call of ours that throws away what is in the user's tree. */
  private judgeTrace(trace: string): string[] {
    if (!fs.existsSync(trace)) return [];
    this.figures.traced++;
    const wrong: string[] = [];
    for (const line of fs.readFileSync(trace, "latin1").split("\n")) {
      const [, argv, env = ""] = /execve\("[^"]*", \[(.*?)\], \[(.*)\]\) = 0/.exec(line) ?? [];
      if (argv === undefined) continue;
      const words = [...argv.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1] ?? "");
      if (path.basename(words[0] ?? "") !== "git") continue;
      this.figures.execs++;
      const tree = /"GIT_WORK_TREE=((?:[^"\\]|\\.)*)"/.exec(env)?.[1];
      const command =
        words.slice(1).filter((word, at, rest) => word !== "-c" && rest[at - 1] !== "-c")[0] ?? "";
      const harsh = [
        "reset",
        "clean",
        "stash",
        "checkout",
        "restore",
        "switch",
        "rm",
        "gc",
        "prune",
      ];
      if (harsh.includes(command) && (tree === undefined || tree === this.site.repo)) {
        wrong.push(`git ${command} on the user's tree: ${words.join(" ").slice(-200)}`);
      }
    }
    if (this.figures.execs === 0) wrong.push("the trace shows no call of git: nothing was watched");
    return wrong;
  }
}

const messageIn = (said: string): string =>
  /"message": ?"((?:[^"\\]|\\.)*)"/.exec(said)?.[1] ?? said.slice(-300);

function fsck(site: Site): string[] {
  const { status, stdout, stderr } = spawnSync(
    "git",
    ["fsck", "--strict", "--no-dangling", "--no-progress"],
    {
      cwd: site.repo,
      env: { ...site.env },
      encoding: "utf8",
    },
  );
  return status === 0 ? [] : [`git fsck: ${stderr}${stdout}`.slice(0, 300)];
}

// ── processes ──────────────────────────────────────────────────────────────────────────────────

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly all: string;
  readonly timedOut: boolean;
}

let strace: boolean | undefined;
const hasStrace = (): boolean => {
  strace ??=
    spawnSync("strace", ["-f", "-e", "trace=execve", "-o", "/dev/null", "true"]).status === 0;
  return strace;
};

function start(
  program: string,
  site: Site,
  args: readonly string[],
  trace?: string,
): { ended: Promise<Ended>; kill(): void } {
  const watch =
    trace !== undefined && hasStrace()
      ? ["strace", "-f", "-v", "-A", "-s", "65536", "-e", "trace=execve", "-o", trace]
      : [];
  const isMeddledWith = fs.existsSync(path.join(site.folder, "acts", "git-checkout-index"));
  const middle = isMeddledWith ? `${path.join(site.folder, "bin")}:` : "";
  const [first = "", ...rest] = [...watch, process.execPath, program, ...args];
  const child = spawn(first, rest, {
    cwd: site.repo,
    env: { ...site.env, TORTURE: site.folder, PATH: `${middle}${site.env["PATH"]}` },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let over = false;
  let timedOut = false;
  let all = "";
  const kill = (): void => {
    if (over || child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has just ended.
    }
  };
  const forget = whenEnding(kill);
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, 90_000);
  child.stdout.setEncoding("utf8").on("data", (text: string) => (all += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (all += text));
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    const end = (code: number | null, signal: NodeJS.Signals | null): void => {
      over = true;
      clearTimeout(timer);
      forget();
      resolve({ code, signal, all, timedOut });
    };
    // What it started may hold its pipes for a moment longer.
    child.once("exit", (code, signal) => signal !== null && end(code, signal));
    child.once("close", end);
  });
  return { ended, kill };
}
