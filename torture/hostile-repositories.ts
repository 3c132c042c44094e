/**
 * Repositories that came as a folder, made to harm whoever looks at them. Every command is run in
 * each of them, untrusted, while every program that is started and every connection is recorded;
 * then the run is approved, and only what was approved may run.
 *
 * Nothing may be started but our own few programs, nothing with a word of the repository's; no
 * canary may be there; nothing around the repository may have changed. That the lures are good is
 * shown first: plain git, used as anybody uses it, takes them.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { findPostgres, type Postgres, startPostgres } from "../scripts/postgres.mjs";
import { commandTable } from "../src/cli/table.ts";
import { knownAgents } from "../src/core/agent/known.ts";
import { plan, type Site, type Vector, vectors } from "./hostile-vectors.ts";
import {
  again,
  type Context,
  cores,
  ending,
  freshFolder,
  inParallel,
  judged,
  type Outcome,
  type Ran,
  type Row,
  randomFrom,
  repositoryRoot,
  run,
  shippedProgram,
  skipped,
} from "./rig.ts";

export const hostileRepositories: Row = {
  name: "hostile-repositories",
  promise: "nothing of a repository runs before it is trusted, and nothing around it is touched",
  budgetSeconds: { ci: 30, full: 1300 },
  run: attack,
};

// ── the commands ───────────────────────────────────────────────────────────────────────────────

const planFile = "docs/p-plan.md";
const recommended = ["--decide", "recommended"];
const trustedBuild = ["build", planFile, "--commit=auto", ...recommended];
const fleetBuild = [...trustedBuild, "--engine=postgres", "--detach", "--fresh"];

/** For every row of the command table; a command that is new there has to be put here. */
const commands: Readonly<Record<string, readonly (readonly string[])[]>> = {
  start: [[], recommended, ["continue", "--json"]],
  status: [["status"], ["status", "--json"]],
  next: [["next"], ["next", "--json"]],
  skip: [["skip", "--yes", ...recommended]],
  back: [["back", "1", "--yes", ...recommended]],
  rollback: [["rollback", "1", "--yes", ...recommended]],
  "flow list": [["flow", "list"]],
  "flow check": [["flow", "check", "--json"]],
  "skills list": [["skills", "list", "--json"]],
  "skills show": [["skills", "show", "problem"]],
  "skills check": [["skills", "check"]],
  "skills eject": [["skills", "eject", "problem"]],
  "flow graph": [["flow", "graph"]],
  "plan check": [["plan", "check", planFile, "--json"]],
  "plan graph": [["plan", "graph", planFile, "--as", "svg", "-o", "graph.svg"]],
  "plan tick": [["plan", "tick", planFile, "1"]],
  "plan import": [["plan", "import", planFile, "-o", "imported.md"]],
  "plan new": [["plan", "new", "docs/new-plan.md"]],
  build: [
    ["build", planFile, "--dry-run"],
    ["build", planFile, "--dry-run", "--fresh", "--agent", "mine"],
    ["build", planFile, "--commit=auto"],
    ...["auto", "message-only", "single"].map((mode) => [
      "build",
      planFile,
      `--commit=${mode}`,
      ...recommended,
    ]),
    ["build", planFile, "--commit=auto", "--resume", ...recommended],
    ["build", planFile, "--commit=auto", "--fresh", ...recommended],
    ["build", planFile, "--commit=auto", "--review", "--branch", "other", ...recommended],
    ["build", planFile, "--commit=auto", "--agent", "mine", "--jobs", "1", ...recommended],
    ["build", planFile, "--commit=auto", "--agent", "claude", "--sandbox=off", ...recommended],
    ["build", planFile, "--commit=auto", "--detach", ...recommended],
    fleetBuild,
  ],
  attach: [
    ["attach", "--no-input"],
    ["attach", "--json"],
  ],
  stop: [["stop"], ["stop", "--after-phase", "--json"]],
  retry: [["retry", "1", "--note", "$(touch here)", ...recommended]],
  example: [
    ["example", "--list"],
    ["example", "python", "made", "--no-run", "--no-input"],
  ],
  decisions: [["decisions", "--all"]],
  decide: [["decide", "d-000000000000", "A"]],
  migrate: [
    ["migrate", "--dry-run"],
    ["migrate", ...recommended],
    ["migrate", "--to", "2", ...recommended],
  ],
  log: [["log"], ["log", "--json"], ["log", "1"], ["log", "1", "--attempts", "--json"]],
  clean: [
    ["clean", "--dry-run"],
    ["clean", "--keep-days", "0", "--rescue", "--force-shells", "--yes"],
  ],
  diff: [
    ["diff", "1"],
    ["diff", "1", "--stat"],
    ["diff", "1", "--json"],
  ],
  doctor: [
    ["doctor"],
    ["doctor", "--fix"],
    ["doctor", "--fix", "--take", "ours"],
    ["doctor", "--report"],
  ],
  agents: [["agents"], ["agents", "--all", "--json"]],
  "agents test": [
    ["agents", "test", "apply", "--json"],
    ["agents", "test", "claude"],
    ["agents", "test", "mine"],
    ["agents", "test", "mine", "--trust-sha256", "0".repeat(64)],
  ],
  audit: [
    ["audit", "HEAD"],
    ["audit", "HEAD", "--no-gates", "--json"],
  ],
  shell: [
    ["shell", "1"],
    ["shell", "1", "--json"],
    ["shell", "1", "--", "git", "--version"],
  ],
  trust: [
    ["trust", planFile],
    ["trust", planFile, "--agent", "mine", "--json"],
    ["trust", planFile, "--sha256", "0".repeat(64)],
    ["trust", planFile, "--revoke"],
  ],
  mcp: [["mcp"]],
  ui: [["ui", "--until-input-ends", "--no-open"]],
  init: [
    ["init", "--yes", "--hosts", "claude,codex,gemini,cursor,opencode", "--dry-run"],
    ["init", "--yes", "--hosts", "claude,codex,gemini,cursor,opencode"],
    ["init", "--remove", "--yes"],
  ],
  tracker: [["tracker"], ["tracker", "--json"]],
  "tracker sync": [["tracker", "sync"]],
  "tracker tools": [["tracker", "tools", "--json"]],
  fleet: [["fleet"], ["fleet", "--json"]],
  "fleet pause": [["fleet", "pause"]],
  "fleet resume": [["fleet", "resume"]],
  "fleet limit": [["fleet", "limit", "mine", "--at-once", "1"]],
  "fleet log": [["fleet", "log", "r0123456789", "1"]],
  worker: [["worker"]],
  "engine migrate": [["engine", "migrate", "--json"]],
};

const beside: readonly (readonly string[])[] = [
  ["completion", "bash"],
  ["help"],
  ["help", "build"],
  ["--version"],
];

/** What an agent inside of it would ask; whoever only opens it and goes would see nothing. */
const asked = [
  {
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "somebody", version: "1" },
    },
  },
  ...(
    [
      ["status", {}],
      ["plan_check", { plan: planFile }],
      ["decisions", {}],
      ["decide", { id: "d-000000000000", answer: "A" }],
      ["build_start", { plan: planFile, commit: "auto" }],
      ["build_status", {}],
      ["next", { plan: planFile }],
      ["next", {}],
      ["log", { phase: "1" }],
      ["build_stop", {}],
    ] as const
  ).map(([name, args]) => ({ method: "tools/call", params: { name, arguments: args } })),
  ...["state", "plan", "brief", "transcript/1"].map((name) => ({
    method: "resources/read",
    params: { uri: `autodev://${name}` },
  })),
].map((request, at) => ({ jsonrpc: "2.0", id: at + 1, ...request }));

const [hello, ...questions] = asked.map((request) => `${JSON.stringify(request)}\n`);
const conversation = [
  hello,
  '{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
  ...questions,
].join("");

/** Who asks a fleet is given a database; a worker would stay there for ever. */
const asksFleet = (args: readonly string[]): boolean =>
  args.includes("--engine=postgres") || args[0] === "fleet" || args[0] === "engine";

/** Those that do most with git: they come first where there is no time for all. */
const searching = new Set(
  [
    [],
    ["build", planFile, "--dry-run"],
    ["build", planFile, "--commit=auto", ...recommended],
    ["migrate", ...recommended],
    ["doctor", "--fix"],
  ].map((args) => args.join(" ")),
);

function everyCommand(): (readonly string[])[] {
  const missing = commandTable.filter(({ name }) => commands[name] === undefined);
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(", ");
    throw new Error(`how is it called in a hostile repository: ${names}?`);
  }
  return [...commandTable.flatMap(({ name }) => commands[name] ?? []), ...beside];
}

/** Every command once: of the ways in which it is called, which one turns from repository to repository. */
const oneOfEach = (turn: number): (readonly string[])[] => [
  ...commandTable.flatMap(({ name }) => {
    const ways = commands[name] ?? [];
    return ways.slice(turn % ways.length, (turn % ways.length) + 1);
  }),
  ...beside,
];

// ── the repositories ───────────────────────────────────────────────────────────────────────────

/** One repository: its vectors, all of which may be at work in it. */
interface Hostile {
  readonly name: string;
  readonly vectors: readonly Vector[];
}

const alone = (vector: Vector): Hostile => ({ name: vector.name, vectors: [vector] });

function grouped(): Hostile[] {
  const names = new Set(vectors.flatMap(({ group }) => group ?? []));
  return [
    ...[...names].map((group) => ({
      name: `all ${group}`,
      vectors: vectors.filter((vector) => vector.group === group),
    })),
    ...vectors.filter(({ group }) => group === undefined).map(alone),
  ];
}

/** A place of its own for each of those who work at the same time. */
interface Lane {
  readonly folder: string;
  /** For those who ask a fleet; empty where there is no PostgreSQL. */
  readonly database: Readonly<Record<string, string>>;
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** An ordinary repository, and the same with a run that is half-way. */
  readonly plain: string;
  readonly halfWay: string;
  readonly approvals: string;
  /** Something around the repository is no longer as it was made. */
  spoilt: boolean;
}

/** It names no file: the same words are the same surface everywhere. */
const approved = "exit 0";

/** An agent that obeys the repository it works in, as those do that people have. */
function makePuppet(scratch: string): string {
  const file = path.join(freshFolder(scratch, "agents"), "claude");
  const obeys = `cat .claude/settings.json .mcp.json | grep -o "touch '[^']*'" | sh`;
  const script = `[ ! -e .mcp.json ] || { ${obeys}; } 2>/dev/null`;
  fs.writeFileSync(file, `#!/bin/sh\n${script}\nexit 1\n`, { mode: 0o755 });
  return file;
}

interface Ground {
  readonly scratch: string;
  readonly program: string;
  readonly puppet: string;
  readonly database: Lane["database"];
}

async function openLane({ scratch, program, puppet, database }: Ground): Promise<Lane> {
  const folder = freshFolder(scratch, "lane");
  const home = path.join(folder, "home");
  const temporary = path.join(folder, "tmp");
  for (const each of [home, temporary]) fs.mkdirSync(each);
  fs.writeFileSync(
    path.join(home, ".gitconfig"),
    "[user]\n\tname = Somebody\n\temail = somebody@example.invalid\n[init]\n\tdefaultBranch = main\n",
  );
  const env = {
    // Without the folders that npm puts in front of it.
    PATH: `${path.dirname(puppet)}:${(process.env["PATH"] ?? "/usr/bin:/bin").replaceAll(/[^:]*node_modules[^:]*:/g, "")}`,
    HOME: home,
    XDG_CONFIG_HOME: path.join(home, ".config"),
    XDG_CACHE_HOME: path.join(home, ".cache"),
    TMPDIR: temporary,
    LANG: "C.UTF-8",
    AUTODEV_NO_NOTIFY: "1",
    AUTODEV_NO_INPUT: "1",
    GIT_CONFIG_NOSYSTEM: "1",
  };
  const lane: Lane = {
    folder,
    program,
    env,
    database,
    plain: path.join(folder, "plain"),
    halfWay: path.join(folder, "half-way"),
    approvals: path.join(folder, "approvals"),
    spoilt: true,
  };
  makePlain(lane);
  await makeHalfWay(lane);
  await trustNeighbour(lane);
  return lane;
}

function git(lane: Lane, cwd: string, ...args: string[]): string {
  const settings = ["-c", "core.hooksPath=/dev/null", "-c", "advice.addEmbeddedRepo=false"];
  const { status, stdout, stderr } = spawnSync("git", [...settings, ...args], {
    cwd,
    env: lane.env,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  return stdout;
}

function makePlain(lane: Lane): void {
  const root = lane.plain;
  const files: Record<string, string> = {
    "README.md": "# A project\n",
    "package.json": '{ "name": "x" }\n',
    [planFile]: plan([
      ["first.txt", "1"],
      ["second.txt", "2"],
      ["third.txt", "3"],
    ]),
    ".autodev/config.yaml": `gates: { test: "${approved}" }\nagents: { mine: { command: "true" } }\nagent: apply\n`,
    "_docs/_autopilot_state.md":
      "# Autopilot State\n\n## Current Step\nstep: 2\nname: Plan\nstatus: in_progress\nsub_step: 4 — Review\nretry_count: 0\n",
  };
  for (const [file, text] of Object.entries(files)) writeAt(root, file, text);
  git(lane, lane.folder, "init", "--quiet", "--template=", root);
  git(lane, root, "add", "-A");
  git(lane, root, "commit", "--quiet", "-m", "first");
  for (const [branch, file] of [
    ["other", "README.md"],
    ["mergeable", "apart.md"],
  ] as const) {
    git(lane, root, "checkout", "--quiet", "-b", branch);
    writeAt(root, file, `# By ${branch}\n`);
    git(lane, root, "add", "-A");
    git(lane, root, "commit", "--quiet", "-m", branch);
    git(lane, root, "checkout", "--quiet", "main");
  }
  writeAt(root, "README.md", "# A project\n\nof mine\n");
  git(lane, root, "commit", "--quiet", "-am", "second");
  const remote = path.join(lane.folder, "origin.git");
  git(lane, lane.folder, "clone", "--quiet", "--bare", "--template=", root, remote);
  git(lane, root, "remote", "add", "origin", remote);
}

async function makeHalfWay(lane: Lane): Promise<void> {
  const root = lane.halfWay;
  fs.cpSync(lane.plain, root, { recursive: true });
  const wanted = ["build", planFile, "--commit=auto", "--only", "1"];
  const asked = await autodev(lane, root, wanted);
  const made = await autodev(lane, root, [...wanted, "--trust-sha256", hashIn(asked)]);
  if (!fs.existsSync(path.join(root, "first.txt")))
    throw new Error(`no run can be made to tamper with: ${ending(made)}`);
}

const hashIn = ({ stdout, stderr }: Ran): string =>
  /--trust-sha256 ([0-9a-f]{64})/.exec(stdout + stderr)?.[1] ?? "0".repeat(64);

const autodev = (lane: Lane, cwd: string, args: readonly string[]): Promise<Ran> =>
  run(["env", "-i", ...environment(lane, args), process.execPath, lane.program, ...args], { cwd });

const environment = ({ env, database }: Lane, args: readonly string[]): string[] =>
  assigned({ ...env, ...(asksFleet(args) && database) });

const assigned = (env: Readonly<Record<string, string>>): string[] =>
  Object.entries(env).map(([name, value]) => `${name}=${value}`);

function writeAt(root: string, file: string, text: string, mode?: number): void {
  const full = path.join(root, file);
  fs.mkdirSync(path.dirname(full), { recursive: true });
  fs.writeFileSync(full, text);
  if (mode !== undefined) fs.chmodSync(full, mode);
}

/** A fresh one, with everything around it; the ones before are gone. */
interface Scene {
  readonly lane: Lane;
  readonly root: string;
  readonly outside: string;
  readonly canaries: string;
  readonly site: Site;
  /** Names of all lures that were laid. */
  readonly lures: readonly string[];
}

function layOut(lane: Lane, hostile: Hostile): Scene {
  const at = (name: string): string => path.join(lane.folder, name);
  const scene = { root: at("repo"), outside: at("outside"), canaries: at("canaries") };
  for (const name of ["repo", "canaries", "fresh", "pusher", "tree", "away"])
    fs.rmSync(at(name), { recursive: true, force: true });
  fs.mkdirSync(scene.canaries);
  fs.rmSync(path.join(scene.outside, "linked"), { recursive: true, force: true });
  if (lane.spoilt) makeOutside(lane, scene.outside);
  lane.spoilt = false;
  const template = hostile.vectors.some(({ memory }) => memory) ? lane.halfWay : lane.plain;
  fs.cpSync(template, scene.root, { recursive: true });
  const lures: string[] = [];
  let settings = "";
  const lure = (name: string): string => {
    lures.push(name);
    return `touch '${path.join(scene.canaries, fileName(name))}'; true`;
  };
  const site: Site = {
    root: scene.root,
    outside: scene.outside,
    lure,
    program(name) {
      const file = path.join("lures", fileName(name));
      writeAt(scene.root, file, `#!/bin/sh\n${lure(name)}\n`, 0o755);
      return path.join(scene.root, file);
    },
    write: (file, text, mode) => writeAt(scene.root, file, text, mode),
    config(text) {
      settings += text;
    },
    git: (...args) => git(lane, scene.root, ...args),
  };
  for (const vector of hostile.vectors) vector.plant(site);
  if (settings !== "") fs.appendFileSync(path.join(scene.root, ".git", "config"), settings);
  // Something that is not committed: what is dirty is read, hashed and asked about.
  fs.appendFileSync(path.join(scene.root, "README.md"), "changed\n");
  for (const name of fs.readdirSync(scene.canaries)) fs.rmSync(path.join(scene.canaries, name));
  return { ...scene, lane, site, lures };
}

const fileName = (name: string): string => name.replaceAll(/[^A-Za-z0-9._=-]/g, "-");

/** A neighbour whose very same commands are approved, and some treasure. */
function makeOutside(lane: Lane, outside: string): void {
  const config = lane.env["XDG_CONFIG_HOME"] ?? "";
  for (const folder of [config, lane.env["XDG_CACHE_HOME"] ?? "", outside])
    fs.rmSync(folder, { recursive: true, force: true });
  fs.cpSync(lane.plain, path.join(outside, "neighbour"), { recursive: true });
  writeAt(outside, "gold", "gold\n");
  writeAt(outside, "precious-data/deeds", "mine\n");
  writeAt(outside, "precious-1-1/deeds", "mine\n");
  if (fs.existsSync(lane.approvals)) fs.cpSync(lane.approvals, config, { recursive: true });
}

/** Asked for and given as a person would; were it no good, nobody could be shown to steal it. */
async function trustNeighbour(lane: Lane): Promise<void> {
  const outside = path.join(lane.folder, "outside");
  makeOutside(lane, outside);
  const root = path.join(outside, "neighbour");
  const hash = hashIn(await autodev(lane, root, ["build", planFile, "--commit=auto"]));
  await autodev(lane, root, ["trust", planFile, "--sha256", hash]);
  const ran = await autodev(lane, root, ["build", planFile, "--commit=auto"]);
  if (ran.code !== 0)
    throw new Error(`the neighbour, who is trusted, cannot build: ${ending(ran)}`);
  fs.cpSync(lane.env["XDG_CONFIG_HOME"] ?? "", lane.approvals, { recursive: true });
}

// ── what must not have happened ────────────────────────────────────────────────────────────────

const taken = ({ canaries }: Scene): string[] => fs.readdirSync(canaries).sort();

/** Everything around the repository, but for what is ours to write. */
function surroundings({ lane, outside }: Scene, trusted: boolean): Map<string, string> {
  const picture = new Map<string, string>();
  const config = path.join(lane.env["XDG_CONFIG_HOME"] ?? "", "autodev");
  const cache = path.join(lane.env["HOME"] ?? "", ".cache", "autodev");
  const ours = new Set([cache, path.join(config, "ui")]);
  if (trusted) ours.add(path.join(config, "trust"));
  const walk = (folder: string): void => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      const full = path.join(folder, entry.name);
      if (ours.has(full)) continue;
      const name = path.relative(lane.folder, full);
      const mode = (fs.lstatSync(full).mode & 0o7777).toString(8);
      if (entry.isDirectory()) {
        picture.set(name, `folder ${mode}`);
        walk(full);
      } else if (entry.isFile()) picture.set(name, `${mode} ${fs.readFileSync(full, "latin1")}`);
      else picture.set(name, entry.isSymbolicLink() ? fs.readlinkSync(full) : "other");
    }
  };
  walk(outside);
  walk(lane.env["HOME"] ?? "");
  for (const name of fs.readdirSync(lane.folder)) picture.set(`./${name}`, "");
  return picture;
}

function differences(before: Map<string, string>, after: Map<string, string>): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names]
    .filter((name) => before.get(name) !== after.get(name) && !/(?:^|\/)\.cache$/.test(name))
    .map((name) => {
      if (!before.has(name)) return `${name} is new`;
      return after.has(name) ? `${name} was changed` : `${name} is gone`;
    });
}

interface Call {
  readonly program: string;
  readonly args: string;
  readonly succeeded: boolean;
}

/** As strace tells them; a call that another interrupts is told in two lines. */
function readTrace(text: string): { started: Call[]; connected: string[] } {
  const started: Call[] = [];
  const connected: string[] = [];
  const open = new Map<string, Call>();
  for (const line of text.split("\n")) {
    const [, pid = "", call, rest = ""] = /^(\d+) +(execve|connect)\((.*)$/.exec(line) ?? [];
    const [, resumedBy = "", result] =
      /^(\d+) +<\.\.\. execve resumed>.*= (-?\d+|\?)/.exec(line) ?? [];
    if (call === "connect" && !/sa_family=AF_(?:UNIX|LOCAL)\b/.test(rest)) connected.push(rest);
    if (call === "execve") {
      const [, program = "", args = ""] = /^"((?:[^"\\]|\\.)*)", (.*)$/.exec(rest) ?? [];
      const made = { program, args, succeeded: rest.endsWith(" = 0") };
      if (rest.endsWith("<unfinished ...>")) open.set(pid, made);
      else started.push(made);
    }
    const waiting = open.get(resumedBy);
    if (waiting) {
      started.push({ ...waiting, succeeded: result === "0" });
      open.delete(resumedBy);
    }
  }
  // Killed within the call: whether it came about is not told, so it counts.
  for (const call of open.values()) started.push({ ...call, succeeded: true });
  return { started, connected };
}

interface Allowed {
  readonly programs: ReadonlySet<string>;
  readonly gitFolder: string;
  readonly shell: string;
  readonly puppet: string;
}

function allowedHere(puppet: string): Allowed {
  const real = (name: string): string[] => {
    const found = spawnSync("sh", ["-c", 'command -v "$0"', name], { encoding: "utf8" });
    const file = found.stdout.trim();
    return file === "" ? [] : [file, fs.realpathSync(file)];
  };
  const { stdout } = spawnSync("git", ["--exec-path"], { encoding: "utf8" });
  return {
    programs: new Set([
      ...["git", "flock", "notify-send"].flatMap(real),
      // What this machine can confine by is tried, on nothing.
      ...["setpriv", "unshare", "mount", "umount", "ip", "bwrap"].flatMap(real),
      puppet,
      // The user's own, where there are any: they are asked for their version.
      ...knownAgents.map(({ program }) => program).flatMap(real),
      process.execPath,
      fs.realpathSync(process.execPath),
    ]),
    gitFolder: `${stdout.trim()}/`,
    shell: "/bin/sh",
    puppet,
  };
}

function foreign(trace: string, scene: Scene, allowed: Allowed, trusted: boolean): string[] {
  const { started, connected } = readTrace(trace);
  if (started.length === 0) throw new Error("strace has recorded nothing");
  const marks = [scene.canaries];
  const wrong = started.filter(({ program, args, succeeded }) => {
    if (marks.some((mark) => args.includes(mark) || program.includes(mark))) return true;
    if (!succeeded) return false;
    if (!path.isAbsolute(program) || program.startsWith(`${scene.lane.folder}/`)) return true;
    if (allowed.programs.has(program) || program.startsWith(allowed.gitFolder)) return false;
    return program !== allowed.shell || !(trusted || isTrial(args, allowed.puppet));
  });
  return [
    ...wrong.map(({ program, args }) => `started ${program} ${args.slice(0, 160)}`),
    ...connected
      .filter((where) => !isOwnDatabase(where, scene.lane))
      .map((where) => `connected to ${where.slice(0, 80)}`),
  ];
}

/** The user's own, of which the repository has no word to say. */
const isOwnDatabase = (where: string, { database }: Lane): boolean =>
  where.includes(`sin_port=htons(${database["PORT"]}), sin_addr=inet_addr("127.0.0.1")`);

const ourFirst = String.raw`["/bin/sh", "-c", "\n[ $$ = 1 ] || exit 125\n`;

/** Our own shell, before the user's own program, or finding out what this machine lets us do; whole, as strace writes it. */
const isTrial = (args: string, puppet: string): boolean =>
  (args.startsWith(ourFirst) && args.includes(` "autodev", `) && args.includes(`"${puppet}", `)) ||
  [
    /^\["\/bin\/sh", "-c", "exit 7"\]/,
    /^\["\/bin\/sh", "-c", "test -e \/proc\/sys\/kernel\/ostype && test ! -e \/proc\/sys\/fs"\]/,
    /^\["\/bin\/sh", "-c", "up=1\\nwhile read -r line; [^"]*exit \$up"\]/,
    /^\["\/bin\/sh", "-c", "\\n\[ \$\$ = 1 \] \|\| exit 125\\n.*"autodev",.* "\/bin\/sh", "-c", "(?:exit 7|test -e|up=1)/,
  ].some((trial) => trial.test(args));

// ── one case ───────────────────────────────────────────────────────────────────────────────────

interface Case {
  readonly hostile: Hostile;
  readonly args: readonly string[];
  /** Approved by its hash first. */
  readonly trusted?: true;
}

const nameOf = ({ hostile, args, trusted }: Case): string =>
  [hostile.name, trusted ? "trusted" : "untrusted", args.join(" ")].join(" / ");

interface Seen {
  readonly breaches: string[];
  readonly ran: Ran;
}

/** In the user's own folder: whoever came after them would not be the first one there. */
const keepsOfItsOwn: ReadonlySet<string> = new Set(["example", "ui"]);

async function observe(scene: Scene, each: Case, allowed: Allowed): Promise<Seen> {
  const { lane, root } = scene;
  const cwd = path.join(root, each.hostile.vectors[0]?.cwd ?? "");
  const trusted = each.trusted === true;
  let { args } = each;
  if (trusted) {
    const asked = await autodev(lane, cwd, args);
    for (const name of taken(scene)) fs.rmSync(path.join(scene.canaries, name));
    args = [...args, "--trust-sha256", hashIn(asked)];
    for (const vector of each.hostile.vectors) vector.later?.(scene.site);
  }
  const before = surroundings(scene, trusted);
  const trace = path.join(lane.folder, "tmp", "trace");
  const strace = `strace -f -qq --seccomp-bpf -s 60000 -e trace=execve,connect -e signal=none`;
  const traced = [...strace.split(" "), "-o", trace, process.execPath, lane.program];
  const talks = args[0] === "mcp";
  const ran = await run(["env", "-i", ...environment(lane, args), ...traced, ...args], {
    cwd,
    timeoutMs: 60_000,
    // The last answer is the last word.
    ...(talks && { input: conversation, inputEnds: `"id":${asked.length}` }),
  });
  if (talks && !ran.stdout.includes(`"id":${asked.length}`))
    throw new Error(`${nameOf(each)} has not answered: ${ending(ran)}`);
  const breaches = [
    ...taken(scene).map((name) => `took the lure ${name}`),
    ...foreign(fs.readFileSync(trace, "utf8"), scene, allowed, trusted),
    ...differences(before, surroundings(scene, trusted)).filter(
      // An example is our own, made a moment ago: what it runs is known, and written down.
      (each) => args[0] !== "example" || !/\/trust\/\w+\.json is new$/.test(each),
    ),
  ];
  lane.spoilt = trusted || breaches.length > 0 || keepsOfItsOwn.has(args[0] ?? "");
  if (ran.timedOut) breaches.push("did not come to an end");
  if (ran.code === 70 || ran.signal !== null) breaches.push(`broke: ${ending(ran)}`);
  return { breaches: [...new Set(breaches)], ran };
}

// ── are the lures good? ────────────────────────────────────────────────────────────────────────

interface Proof {
  readonly laid: number;
  readonly taken: number;
  readonly never: string[];
}

/** Plain git and plain shells, in each repository by itself: who takes what. */
async function prove(lanes: readonly Lane[]): Promise<Proof> {
  let laid = 0;
  let fired = 0;
  const never: string[] = [];
  const free = [...lanes];
  const provoked = vectors.filter(({ provoke }) => provoke !== undefined);
  await inParallel(provoked, async (vector) => {
    const lane = free.pop() as Lane;
    try {
      const scene = layOut(lane, alone(vector));
      lane.spoilt = true;
      for (const line of vector.provoke ?? []) {
        await run(["env", "-i", ...assigned(lane.env), "setsid", "sh", "-c", line], {
          cwd: scene.root,
          timeoutMs: 10_000,
        });
      }
      const found = new Set(taken(scene));
      for (const name of new Set(scene.lures.map(fileName))) {
        laid++;
        if (found.has(name)) fired++;
        else never.push(name);
      }
    } finally {
      free.push(lane);
    }
  });
  return { laid, taken: fired, never };
}

// ── the row ────────────────────────────────────────────────────────────────────────────────────

async function attack(context: Context): Promise<Outcome> {
  const strace = await run(["strace", "--seccomp-bpf", "-f", "-qq", "-o", "/dev/null", "true"]);
  if (strace.missing) return skipped("strace is not on this machine");
  if (strace.code !== 0) return skipped(`strace cannot be used here: ${ending(strace)}`);
  const postgres = findPostgres() === undefined ? undefined : await startPostgres({ fast: true });
  try {
    return await attackAll(context, postgres);
  } finally {
    await postgres?.remove();
  }
}

async function attackAll(context: Context, postgres: Postgres | undefined): Promise<Outcome> {
  const { scratch } = context;
  const program = await shippedProgram(scratch);
  const puppet = makePuppet(scratch);
  const allowed = allowedHere(puppet);
  const lanes: Lane[] = [];
  for (let n = 0; n < cores; n++) {
    const database = postgres ? await makeDatabase(postgres, program, `lane${n}`) : {};
    lanes.push(await openLane({ scratch, program, puppet, database }));
  }
  const failures: string[] = [];
  const all = everyCommand();
  const cases = chooseCases(context, all);
  const proof = context.onlyCase === undefined ? await prove(lanes) : undefined;
  if (proof)
    context.note(
      `${proof.taken} of ${proof.laid} lures are taken by plain git and shells; never: ${proof.never.join(", ")}`,
    );
  const figures = { cases: 0, breached: 0, completed: 0, trusted: 0 };
  const breachesOf = { lures: new Set<string>(), started: 0, connected: 0 };
  const free = [...lanes];
  await inParallel(cases, async (each) => {
    const lane = free.pop() as Lane;
    try {
      const scene = layOut(lane, each.hostile);
      const { breaches, ran } = await observe(scene, each, allowed);
      figures.cases++;
      if (each.trusted) {
        figures.trusted++;
        if (ran.code === 0) figures.completed++;
        else if (context.onlyCase !== undefined) context.note(ending(ran));
      }
      if (breaches.length === 0) return;
      figures.breached++;
      for (const breach of breaches) {
        const lure = /^took the lure (.*)$/.exec(breach)?.[1];
        if (lure !== undefined) breachesOf.lures.add(lure);
        if (breach.startsWith("started ")) breachesOf.started++;
        if (breach.startsWith("connected to ")) breachesOf.connected++;
      }
      const told = breaches.slice(0, 4).join("; ") + (breaches.length > 4 ? "; …" : "");
      failures.push(
        `${nameOf(each)}: ${told}; to see it again: ${again(context, "hostile-repositories", `'${nameOf(each)}'`)}`,
      );
    } finally {
      free.push(lane);
    }
  });
  // What is approved has to run, or nothing is shown about what must not.
  if (context.onlyCase === undefined && figures.completed === 0)
    failures.push(`none of ${figures.trusted} trusted runs came to its end`);
  if (proof && proof.taken < proof.laid / 2)
    failures.push(
      `only ${proof.taken} of ${proof.laid} lures are any good here: this row shows little`,
    );
  return judged(
    {
      vectors: vectors.length,
      commands: commandTable.length,
      "ways to call them": all.length,
      cases: figures.cases,
      "with a breach": figures.breached,
      "trusted runs completed": `${figures.completed}/${figures.trusted}`,
      ...(proof && { "lures taken by plain git": `${proof.taken}/${proof.laid}` }),
      "lures taken by us": breachesOf.lures.size,
      "foreign processes": breachesOf.started,
      connections: breachesOf.connected,
    },
    failures.sort(),
  );
}

async function makeDatabase(
  postgres: Postgres,
  program: string,
  name: string,
): Promise<Lane["database"]> {
  const database = {
    AUTODEV_DATABASE_URL: await postgres.createDatabase(name),
    // The packages that a fleet needs are beside us, not beside a copy of the program.
    NODE_PATH: path.join(repositoryRoot(), "node_modules"),
    PORT: String(postgres.port),
  };
  const own = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", ...database };
  const command = [process.execPath, program, "engine", "migrate"];
  const ran = await run(["env", "-i", ...assigned(own), ...command]);
  if (ran.code !== 0) throw new Error(`no tables: ${ending(ran)}`);
  return database;
}

function chooseCases(context: Context, all: readonly (readonly string[])[]): Case[] {
  const isFull = context.tier === "full" || context.onlyCase !== undefined;
  const hostiles = isFull
    ? [...grouped(), ...vectors.filter(({ group }) => group).map(alone)]
    : // There is time for every other one.
      grouped().filter((_, at) => at % 2 === context.seed % 2);
  const untrusted = hostiles.flatMap((hostile) => all.map((args): Case => ({ hostile, args })));
  const eachName = hostiles.flatMap((hostile, at) => {
    const { group } = hostile.vectors[0] ?? {};
    // Whoever was in a group has met all of them there: once more by himself, where most is done with git.
    const isAgain = hostile.vectors.length === 1 && group !== undefined;
    const chosen = isAgain ? all.filter((args) => searching.has(args.join(" "))) : oneOfEach(at);
    return chosen.map((args): Case => ({ hostile, args }));
  });
  const trusted = hostiles
    .map((hostile) => ({
      ...hostile,
      vectors: hostile.vectors.filter(
        ({ approvable, untrustedOnly }) => !approvable && !untrustedOnly,
      ),
    }))
    .filter((hostile) => hostile.vectors.length > 0)
    .flatMap((hostile) =>
      [trustedBuild, fleetBuild].map((args): Case => ({ hostile, args, trusted: true })),
    );
  const every = [...untrusted, ...trusted];
  if (context.onlyCase !== undefined) {
    const wanted = context.onlyCase.replaceAll("'", "");
    const single = every.filter((each) => nameOf(each).startsWith(wanted));
    if (single.length === 0) throw new Error(`there is no case ${wanted}`);
    return single;
  }
  if (context.tier === "full") return [...eachName, ...trusted];
  // Every repository meets the command that does most; of the rest, as much as fits.
  const random = randomFrom(context.seed);
  const [first, others] = [new Set<Case>(), random.shuffled(every)];
  for (const hostile of hostiles) {
    const own = others.filter((each) => each.hostile === hostile && searching.has(wordsOf(each)));
    for (const each of own.filter((one) => wordsOf(one) === trustedBuild.join(" ")))
      first.add(each);
  }
  for (const each of others.filter(({ trusted: approval }) => approval).slice(0, trustedInCi))
    first.add(each);
  for (const each of others.filter((one) => searching.has(wordsOf(one)))) {
    if (first.size < casesInCi * 0.8) first.add(each);
  }
  for (const each of others) if (first.size < casesInCi && !each.trusted) first.add(each);
  return [...first];
}

const wordsOf = ({ args }: Case): string => args.join(" ");

/** What fits into the budget of the ci tier on two cores. */
const casesInCi = 45;
const trustedInCi = 6;
