/**
 * A plan that two agents of somebody's fetch and report, beside a terminal that runs it too: each is
 * killed at random moments, comes late, lies, or comes back. In the end every phase is one verified
 * commit, nothing is left lying about, and no phase was ever with two at once.
 */
import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import {
  again,
  type Context,
  judged,
  type Outcome,
  type Random,
  type Row,
  randomFrom,
  run,
  shippedProgram,
  sleep,
} from "./rig.ts";
import { fsck, git, planFile, planText, type Site, siteAt } from "./run-rig.ts";

export const pullKills: Row = {
  name: "pull-kills",
  promise: "work that is fetched is done once, whoever dies, comes late or lies",
  budgetSeconds: { ci: 7, full: 500 },
  run: (context) => playAll(context),
};

const stories = { ci: 1, full: 40 };
/** Long enough to be kept by whoever works, short enough to lapse under whoever sleeps. */
const leaseMinutes = 0.04;

const phases = [
  { id: "1", name: "Base", needs: [] },
  { id: "2A", name: "Left", needs: ["1"], beside: "2B" },
  { id: "2B", name: "Right", needs: ["1"], beside: "2A" },
  { id: "3", name: "Both", needs: ["2A", "2B"] },
];

async function playAll(context: Context): Promise<Outcome> {
  const program = await shippedProgram(context.scratch);
  const figures = {
    stories: 0,
    given: 0,
    kills: 0,
    late: 0,
    lies: 0,
    "taken over": 0,
    breaches: 0,
  };
  const failures: string[] = [];
  const chosen =
    context.onlyCase === undefined
      ? Array.from({ length: stories[context.tier] }, (_, at) => at)
      : [Number(context.onlyCase)];
  for (const story of chosen) {
    const told = await play(
      program,
      path.join(context.scratch, `story-${story}`),
      context.seed,
      story,
    );
    figures.stories++;
    for (const key of ["given", "kills", "late", "lies", "taken over"] as const)
      figures[key] += told.figures[key];
    figures.breaches += told.wrong.length;
    for (const wrong of told.wrong)
      failures.push(`${wrong}; to see it again: ${again(context, pullKills.name, String(story))}`);
  }
  return judged(figures, failures);
}

interface Told {
  readonly figures: {
    given: number;
    kills: number;
    late: number;
    lies: number;
    "taken over": number;
  };
  readonly wrong: string[];
}

async function play(program: string, folder: string, seed: number, story: number): Promise<Told> {
  const site = await makeSite(program, folder);
  const figures = { given: 0, kills: 0, late: 0, lies: 0, "taken over": 0 };
  const until = Date.now() + 25_000;
  const isOver = (): boolean => Date.now() > until || landed(site).size === phases.length;
  /** Processes that were killed: their leases are free at once. */
  const dead = new Set<number>();
  const actors = [0, 1].map((actor) =>
    host(program, site, randomFrom(seed, story, actor), { isOver, figures, dead }),
  );
  await Promise.all([...actors, terminal(program, site, randomFrom(seed, story, 9), isOver)]);
  const wrong: string[] = [];
  // Whatever they left undone, a person's own command brings to its end.
  for (let tries = 0; tries < 8; tries++) {
    const ended = await run(buildArgs(program, site), {
      cwd: site.repo,
      env: site.env,
      timeoutMs: 60_000,
    });
    if (ended.code === 0) break;
    if (tries === 7) wrong.push(`it does not end: exit ${ended.code} ${ended.stderr.slice(-400)}`);
    await sleep(400);
  }
  return { figures, wrong: [...wrong, ...(await judge(program, site, figures, dead))] };
}

// ── the project ────────────────────────────────────────────────────────────────────────────────

interface PullSite extends Site {
  readonly trust: string;
}

const agent = `#!/bin/sh
mkdir -p src && echo "part" > "src/$AUTODEV_PHASE.txt"
printf '{"phase_id":"%s","status":"complete","tasks":{"total":2,"completed":2},"commit_message":"feat: phase %s"}' \\
  "$AUTODEV_PHASE" "$AUTODEV_PHASE" >"$AUTODEV_RESULT"
`;

async function makeSite(program: string, folder: string): Promise<PullSite> {
  const site = siteAt(folder);
  for (const each of ["repo/docs", "repo/.autodev", "home", "config", "cache"])
    fs.mkdirSync(path.join(folder, each), { recursive: true });
  const write = (file: string, text: string, mode = 0o644): void =>
    fs.writeFileSync(path.join(site.repo, file), text, { mode });
  const plan = phases.map((phase) => ({
    ...phase,
    body: `It leaves src/${phase.id.toLowerCase()}.txt.`,
  }));
  write(planFile, planText("Four phases", plan));
  write("agent.sh", agent, 0o755);
  write(
    ".autodev/config.yaml",
    `gates:\n  test: '[ -z "$AUTODEV_PHASE" ] || grep -q part "src/$AUTODEV_PHASE.txt"'\nagents:\n  own:\n    command: ./agent.sh\nbuild:\n  attempts: 20\n  lease_minutes: ${leaseMinutes}\n`,
  );
  git(site, "init", "--quiet", "--initial-branch=main", "--template=");
  git(site, "add", "--all");
  git(site, "commit", "--quiet", "--message=first");
  const trust = [process.execPath, program, "trust", planFile, "--agent", "own"];
  const asked = await run(trust, { cwd: site.repo, env: site.env });
  const [, hash = ""] = /--sha256 ([0-9a-f]{64})/.exec(asked.stdout + asked.stderr) ?? [];
  const granted = await run([...trust, "--sha256", hash], { cwd: site.repo, env: site.env });
  if (granted.code !== 0) throw new Error(`nothing was approved: ${granted.stderr}`);
  return { ...site, trust: hash };
}

const buildArgs = (program: string, { trust }: PullSite): [string, ...string[]] => [
  process.execPath,
  program,
  "build",
  planFile,
  "--commit=auto",
  "--agent",
  "own",
  "--no-input",
  "--no-live",
  "--trust-sha256",
  trust,
];

const landed = (site: Site): Set<string> =>
  new Set(
    git(site, "log", "--format=%(trailers:key=Autobuild-Phase,valueonly)", "main")
      .split("\n")
      .filter(Boolean),
  );

// ── who works ──────────────────────────────────────────────────────────────────────────────────

interface Stage {
  isOver(): boolean;
  readonly figures: Told["figures"];
  readonly dead: Set<number>;
}

async function host(
  program: string,
  site: PullSite,
  random: Random,
  { isOver, figures, dead }: Stage,
): Promise<void> {
  while (!isOver()) {
    const server = open(program, site);
    const kill = (): void => {
      figures.kills++;
      if (server.pid !== undefined) dead.add(server.pid);
      server.kill("SIGKILL");
    };
    /** Undefined: it was killed under the call. */
    const call = async (
      name: string,
      args: object,
      mortal: number,
    ): Promise<string | undefined> => {
      const timer = random.chance(mortal) ? setTimeout(kill, random.between(0, 900)) : undefined;
      const answer = await server.call(name, args);
      clearTimeout(timer);
      return answer;
    };
    for (let alive = true; alive && !isOver(); ) {
      const given = await call("next", { plan: planFile, commit: "auto" }, 0.25);
      const [, lease] = /^lease: (\S+)$/m.exec(given ?? "") ?? [];
      const [, folder = ""] = /^folder: (.+)$/m.exec(given ?? "") ?? [];
      if (given === undefined) alive = false;
      else if (lease === undefined) await sleep(random.between(50, 300));
      else {
        figures.given++;
        const lies = random.chance(0.15);
        if (lies) figures.lies++;
        else work(folder, lease.split("/")[1] ?? "");
        if (random.chance(0.15)) {
          figures.late++;
          await sleep(leaseMinutes * 60_000 + random.between(100, 600));
        }
        const done = { lease, status: "complete", commit_message: `feat: ${lease.split("/")[1]}` };
        if ((await call("report", done, 0.35)) === undefined) alive = false;
      }
    }
    server.close();
    await server.ended;
  }
}

function work(folder: string, phase: string): void {
  try {
    fs.mkdirSync(path.join(folder, "src"), { recursive: true });
    fs.writeFileSync(path.join(folder, "src", `${phase}.txt`), "part\n");
  } catch {
    // It was taken back meanwhile, and is somebody else's now.
  }
}

/** Whoever types `autodev build` now and then, and sometimes regrets it. */
async function terminal(
  program: string,
  site: PullSite,
  random: Random,
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    await sleep(random.between(300, 2500));
    if (isOver()) return;
    const [command, ...args] = [...buildArgs(program, site), "--no-wait"];
    const child = spawn(command, args, { cwd: site.repo, env: site.env, stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    const timer = setTimeout(
      () => child.kill(random.chance(0.5) ? "SIGKILL" : "SIGINT"),
      random.between(200, 2500),
    );
    await ended;
    clearTimeout(timer);
  }
}

// ── a client of few words ──────────────────────────────────────────────────────────────────────

interface Server {
  readonly pid: number | undefined;
  readonly ended: Promise<unknown>;
  call(name: string, args: object): Promise<string | undefined>;
  kill(signal: NodeJS.Signals): void;
  close(): void;
}

function open(program: string, site: Site): Server {
  const child: ChildProcess = spawn(process.execPath, [program, "mcp"], {
    cwd: site.repo,
    env: site.env,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const waiting = new Map<number, (text: string | undefined) => void>();
  let [rest, id] = ["", 0];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const said = JSON.parse(line) as {
        id?: number;
        result?: { content?: { text: string }[] };
        error?: { message: string };
      };
      const texts = said.result?.content?.map((part) => part.text).join("\n");
      waiting.get(said.id ?? -1)?.(texts ?? said.error?.message ?? "");
      waiting.delete(said.id ?? -1);
    }
  });
  child.stdin?.on("error", () => {});
  const ended = new Promise((resolve) =>
    child.once("close", () => {
      for (const answer of waiting.values()) answer(undefined);
      waiting.clear();
      resolve(undefined);
    }),
  );
  const send = (message: object): void => {
    child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  };
  const ask = (method: string, params: object): Promise<string | undefined> =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve(undefined);
      waiting.set(++id, resolve);
      send({ id, method, params });
    });
  const clientInfo = { name: "torture", version: "1" };
  const ready = ask("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo,
  }).then(() => send({ method: "notifications/initialized" }));
  return {
    pid: child.pid,
    ended,
    async call(name, args) {
      await ready;
      return ask("tools/call", { name, arguments: args });
    },
    kill: (signal) => child.kill(signal),
    close: () => child.stdin?.end(),
  };
}

// ── what has to be true in the end ─────────────────────────────────────────────────────────────

interface Recorded {
  readonly type: string;
  readonly at: string;
  readonly phase?: string;
  readonly attempt?: number;
  readonly lease?: { readonly until: string; readonly holder: string; readonly pid: number };
}

async function judge(
  program: string,
  site: PullSite,
  figures: Told["figures"],
  dead: ReadonlySet<number>,
): Promise<string[]> {
  const wrong: string[] = [];
  const commits = git(site, "log", "--format=%(trailers:key=Autobuild-Phase,valueonly)", "main")
    .split("\n")
    .filter(Boolean);
  const wanted = phases.map(({ id }) => id.toLowerCase());
  if (commits.toSorted().join() !== wanted.toSorted().join())
    wrong.push(`the commits are of ${commits.join(", ")}`);
  for (const phase of wanted) {
    const text = git(site, "show", `main:src/${phase}.txt`);
    if (text !== "part\n") wrong.push(`src/${phase}.txt is ${JSON.stringify(text)}`);
  }
  const left = [path.join(site.repo, ".autodev", "var")].filter((each) => fs.existsSync(each));
  if (left.length > 0) wrong.push(`left behind: ${fs.readdirSync(left[0] ?? "").join(", ")}`);
  const branches = git(site, "for-each-ref", "--format=%(refname)", "refs/heads").trim();
  if (branches !== "refs/heads/main") wrong.push(`branches: ${branches}`);
  wrong.push(...fsck(site));
  const log = await run([process.execPath, program, "log", "--json"], {
    cwd: site.repo,
    env: site.env,
  });
  const events = log.stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Recorded);
  wrong.push(...sharedLeases(events, figures, dead));
  const audit = await run([process.execPath, program, "audit", "main~4..main", "--no-gates"], {
    cwd: site.repo,
    env: site.env,
  });
  if (audit.code !== 0) wrong.push(`the audit says ${audit.code}: ${audit.stdout.slice(-300)}`);
  return wrong;
}

/** Nobody was given what somebody else still had, and was alive to have. */
function sharedLeases(
  events: readonly Recorded[],
  figures: Told["figures"],
  dead: ReadonlySet<number>,
): string[] {
  const holding = new Map<string, NonNullable<Recorded["lease"]>>();
  const wrong: string[] = [];
  for (const { type, at, phase = "", lease } of events) {
    if (type === "attempt-leased" && lease) {
      const before = holding.get(phase);
      if (before && before.holder !== lease.holder) {
        figures["taken over"]++;
        if (before.until > at && !dead.has(before.pid))
          wrong.push(`phase ${phase} was with ${before.pid} and with ${lease.pid} at ${at}`);
      }
      holding.set(phase, lease);
    } else if (type === "attempt-delivered" || type === "attempt-failed") holding.delete(phase);
    else if (type === "attempt-started") {
      const before = holding.get(phase);
      if (before && before.until > at && !dead.has(before.pid))
        wrong.push(`phase ${phase} was begun anew at ${at} while ${before.pid} had it`);
    }
  }
  return wrong;
}
