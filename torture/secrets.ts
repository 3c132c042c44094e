/**
 * No secret in anything that is kept or shown. Canaries of every kind are given to the shipped program:
 * as variables that are named like secrets, in alphabets that passwords are made of, or known by
 * nothing but the shape of a token. Agents, gates and a tracker's server, which are programs of
 * ours, tell them in every way that there is: plain and in base64, hex, addresses, JSON and HTML; in
 * the quotes of shells, coloured, folded, cut in two at every place with a pause between; on stderr,
 * in command lines, dumps of the environment, stack traces; in claims and commit messages, events
 * of agents, messages that come in chunks, names of tests, questions, positions, refusals; across the
 * place where a text is cut. Then all of it is searched: every file that was written, every object
 * of git, what each command prints, what the dashboard answers and streams.
 *
 * Each canary is first found, by the same search, in what was said in each way; and what was said is
 * told apart by a tag that has to arrive: what nobody said, or nobody heard, proves nothing.
 *
 * Not looked for, since nobody promises it: an unknown value without its shape (its base64, say);
 * less than half of a secret that is folded; what an agent writes into its work and git keeps
 * of that, which is people's own code (what is shown of it is looked for); what a person writes into a
 * plan, a setting or a command line himself, which is his to repeat.
 */
import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as http from "node:http";
import * as path from "node:path";
import {
  again,
  bundle,
  type Context,
  ending,
  freshFolder,
  inParallel,
  judged,
  type Outcome,
  type Plant,
  type Ran,
  type Row,
  run,
  shippedProgram,
  sleep,
  whenEnding,
} from "./rig.ts";
import { git, planFile, type Site, siteAt } from "./run-rig.ts";
import { type Canary, canariesOf, kindsOfCanaries } from "./secrets/canaries.ts";
import type { Told } from "./secrets/emitter.ts";
import { type Search, searchFor } from "./secrets/search.ts";
import { formsFor } from "./secrets/ways.ts";

const planted = { ci: kindsOfCanaries, full: 300 };
/** A secret in pieces is cut at so many places. */
const cuts = { ci: 6, full: 1000 };
/** Of each canary, at least; far more are tried. */
const leastWays = 12;
const leastEncodings = 12;

export const secrets: Row = {
  name: "secrets",
  promise: "no secret is in any log, transcript, page or state file, however it is told",
  budgetSeconds: { ci: 16, full: 350 },
  run: (context) => tellSecrets(context),
};

export interface TellOptions {
  /** In these of the program's bundles; then one stage is enough. */
  readonly plant?: Plant & { readonly bundles: readonly string[] };
  /** Of what is found, only this is told. */
  readonly seen?: RegExp;
}

export async function tellSecrets(
  context: Context,
  { plant, seen }: TellOptions = {},
): Promise<Outcome> {
  const { scratch, onlyCase } = context;
  const tier = plant ? "ci" : context.tier;
  const lab: Lab = {
    context,
    canaries: planted[tier],
    cuts: cuts[tier],
    program: await programWith(context, plant),
    emitter: await bundle("torture/secrets/emitter.ts", { out: path.join(scratch, "emitter.cjs") }),
    trust: new Map(),
  };
  const stages = Array.from(
    { length: Math.ceil(planted[tier] / kindsOfCanaries) },
    (_, at) => at + 1,
  ).filter((stage) => onlyCase === undefined || onlyCase === `stage-${stage}`);
  if (stages.length === 0) throw new Error(`there is no case ${onlyCase}`);
  const found: Found[] = [];
  await inParallel(stages, async (stage, at) => {
    found[at] = await perform(lab, stage);
  });
  return outcomeOf(context, found, seen);
}

interface Lab {
  readonly context: Context;
  readonly canaries: number;
  /** At so many places a secret is cut in two. */
  readonly cuts: number;
  readonly program: string;
  readonly emitter: string;
  /** By what is started: the hash of what is run, which no canary is a part of. */
  readonly trust: Map<string, string>;
}

async function programWith({ scratch }: Context, plant: TellOptions["plant"]): Promise<string> {
  const program = await shippedProgram(freshFolder(scratch, "program"));
  if (!plant) return program;
  const copy = freshFolder(scratch, "planted");
  for (const part of ["cli", "web", "skills"])
    fs.cpSync(path.join(program, "..", "..", part), path.join(copy, part), { recursive: true });
  for (const name of plant.bundles) {
    const door = name === "dashboard" ? "dashboard/main" : `cli/commands/${name}`;
    const out = path.join(copy, "cli", `${name}.cjs`);
    await bundle(`src/${door}.ts`, { out, plant, beside: true });
  }
  return path.join(copy, "cli", path.basename(program));
}

// ── a stage ────────────────────────────────────────────────────────────────────────────────────

interface Found {
  readonly stage: number;
  readonly canaries: number;
  readonly ways: ReadonlySet<string>;
  /** Of the canary that was told in the fewest. */
  readonly encodings: number;
  readonly said: number;
  readonly searched: number;
  readonly bytes: number;
  readonly hits: readonly {
    readonly canary: Canary;
    readonly place: string;
    readonly around: string;
  }[];
  readonly wrong: readonly string[];
}

interface Stage extends Site {
  /** The canaries, and what was said of them: not searched. */
  readonly told: string;
  readonly canaries: readonly Canary[];
}

/** Something that was written or said by us, and where. */
interface Kept {
  readonly place: string;
  readonly text: string;
}

async function perform(lab: Lab, number: number): Promise<Found> {
  const from = (number - 1) * kindsOfCanaries;
  const to = Math.min(from + kindsOfCanaries, lab.canaries);
  const stage = setUp(lab, number, canariesOf(lab.context.seed, from, to));
  try {
    const kept = [...(await inARun(lab, stage)), ...(await inAFlow(lab, stage))];
    kept.push(...filesBelow(stage), ...objectsOf(stage, "repo"), ...objectsOf(stage, "flow"));
    return judge(number, stage, kept);
  } finally {
    fs.rmSync(stage.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function setUp(
  { context, emitter, cuts: places }: Lab,
  number: number,
  canaries: readonly Canary[],
): Stage {
  const folder = freshFolder(context.scratch, `stage-${number}`);
  const site = siteAt(folder);
  const told = path.join(folder, "told");
  const write = (file: string, text: string, mode = 0o644): void => {
    const full = path.join(folder, file);
    fs.mkdirSync(path.dirname(full), { recursive: true });
    fs.writeFileSync(full, text, { mode });
  };
  for (const name of ["told/said", "told/works", "cache", "repo", "flow"])
    fs.mkdirSync(path.join(folder, name), { recursive: true });
  write("told/canaries.json", JSON.stringify(toldOf(canaries, places)));
  const part = (name: string): string => `"${process.execPath}" "$EMITTER" ${name}`;
  write("bin/claude", `#!/bin/sh\nexec ${part("claude")} "$@"\n`, 0o755);
  write("config/autodev/config.yaml", JSON.stringify({ notify: { command: part("notice") } }));
  const server = { command: process.execPath, args: [emitter, "tracker"] };
  write("home/.cursor/mcp.json", JSON.stringify({ mcpServers: { "user-Jira-MCP": server } }));
  const settings = {
    gates: { test: part("gate") },
    agent: "mine",
    agents: { mine: { command: part("agent") }, acp: { use: "acp", command: part("acp") } },
    routes: [
      { phase: "1", agent: "claude" },
      { phase: "2", agent: "acp" },
    ],
    tracker: { project: "AZ" },
  };
  for (const repo of ["repo", "flow"]) {
    write(`${repo}/.autodev/config.yaml`, JSON.stringify(settings));
    write(`${repo}/README.md`, "# A shop\n");
  }
  write(`repo/${planFile}`, planText);
  const env: Record<string, string> = {
    ...site.env,
    PATH: `${path.join(folder, "bin")}:${site.env["PATH"]}`,
    CANARIES: told,
    EMITTER: emitter,
  };
  // The notices are a way, too.
  delete env["AUTODEV_NO_NOTIFY"];
  for (const { variable, value } of canaries) if (variable !== undefined) env[variable] = value;
  const stage = { ...site, env, told, canaries };
  for (const repo of [stage.repo, path.join(folder, "flow")]) {
    const at = { ...stage, repo };
    git(at, "init", "--quiet", "--initial-branch=main", "--template=");
    git(at, "add", "--all");
    git(at, "commit", "--quiet", "--message=first");
  }
  return stage;
}

const toldOf = (canaries: readonly Canary[], places: number): Told => ({
  cuts: places,
  canaries: canaries.map((canary) => ({
    ...canary,
    forms: Object.fromEntries(formsFor(canary).map(({ name, of }) => [name, of(canary.value)])),
  })),
});

const phases = ["1", "2", "3", "4"];
const planText = [
  "# A shop",
  "",
  "| Phase | Name | Depends On | Parallel With | Estimate | Status |",
  "|---|---|---|---|---|---|",
  ...phases.map((id) => `| ${id} | Part ${id} | - | - | 2 | ⬜ |`),
  "",
  ...phases.flatMap((id) => [
    `### Phase ${id}: Part ${id}`,
    "",
    "#### Tasks",
    "",
    `- [ ] Make part ${id}`,
    "",
    "#### Definition of Done",
    "",
    `- [ ] Part ${id} is there`,
    "",
  ]),
].join("\n");

// ── what is done there ─────────────────────────────────────────────────────────────────────────

type Call = (...args: readonly string[]) => Promise<Ran>;

/** What each command prints is kept, whatever it is. */
function calling({ program }: Lab, stage: Stage, repo: string, kept: Kept[]): Call {
  return async (...args) => {
    const ran = await run(
      ["env", "-i", ...assigned(stage.env), process.execPath, program, ...args],
      {
        cwd: repo,
        timeoutMs: 180_000,
      },
    );
    const name = `autodev ${args.filter((each) => !each.startsWith("--trust")).join(" ")}`;
    kept.push({ place: `${name}, stdout`, text: ran.stdout });
    kept.push({ place: `${name}, stderr`, text: ran.stderr });
    return ran;
  };
}

const assigned = (env: Readonly<Record<string, string>>): string[] =>
  Object.entries(env).map(([name, value]) => `${name}=${value}`);

/** What the repository wants to run is the same at every stage: it is asked for once. */
async function trusting({ trust }: Lab, what: string, call: Call, args: readonly string[]) {
  const known = trust.get(what);
  if (known !== undefined) return `--trust-sha256=${known}`;
  const asked = await call(...args, `--trust-sha256=${"0".repeat(64)}`);
  const hash = /\b(?!0{64})[0-9a-f]{64}\b/.exec(asked.stdout + asked.stderr)?.[0];
  if (hash === undefined) throw new Error(`no hash was asked for: ${ending(asked)}`);
  trust.set(what, hash);
  return `--trust-sha256=${hash}`;
}

async function inARun(lab: Lab, stage: Stage): Promise<Kept[]> {
  const kept: Kept[] = [];
  const call = calling(lab, stage, stage.repo, kept);
  const first = ["build", planFile, "--commit=auto", "--jobs=1", "--no-input"];
  const trusted = await trusting(lab, "build", call, first);
  const served = await serve(lab, stage, stage.repo);
  try {
    const built = await call(...first, trusted, "--json");
    // Once more, for people's own eyes.
    const rest = await call(...first, trusted);
    if (built.code !== 4)
      throw new Error(
        `phases 1 to 3 are to land, and 4 to fail: ${ending(built)}; ${ending(rest)}`,
      );
    const words = [
      "status",
      "status --json",
      "log",
      "log --json",
      ...phases.flatMap((id) => [`log ${id}`, `log ${id} --raw`, `log ${id} --attempts`]),
      "log 3 --attempt 1",
      "log 3 --json",
      "diff 3 --attempt 1",
      "diff 4",
      "decisions --json",
      "doctor --report",
      "audit HEAD~3..HEAD",
      "next",
    ];
    await inParallel(words, async (word) => {
      await call(...word.split(" "));
    });
    kept.push(...(await asked(served, kept)));
  } finally {
    kept.push({ place: "the dashboard's stream", text: served.heard() });
    kept.push({ place: "autodev ui", text: await served.end() });
  }
  return kept;
}

/** A skill that says where it is and asks; a tracker that lets nobody in. */
async function inAFlow(lab: Lab, stage: Stage): Promise<Kept[]> {
  const kept: Kept[] = [];
  const repo = path.join(stage.folder, "flow");
  const call = calling(lab, stage, repo, kept);
  const trusted = await trusting(lab, "flow", call, ["--no-input"]);
  const first = await call("--no-input", trusted, "--json");
  const [open] = JSON.parse((await call("decisions", "--json")).stdout) as { id: string }[];
  if (first.code !== 3 || !open) throw new Error(`the skill is to ask: ${ending(first)}`);
  await call("decide", open.id, "A");
  await call("--no-input", trusted);
  for (const word of ["tracker sync --no-input", "tracker sync --no-input --json"])
    await call(...word.split(" "));
  await inParallel(["tracker", "status", "decisions", "log", "log --json"], async (word) => {
    await call(...word.split(" "));
  });
  const served = await serve(lab, stage, repo);
  try {
    kept.push(...(await asked(served, kept)));
  } finally {
    kept.push({ place: "the stream of the flow's dashboard", text: served.heard() });
    kept.push({ place: "autodev ui of the flow", text: await served.end() });
  }
  return kept;
}

// ── the dashboard ──────────────────────────────────────────────────────────────────────────────

interface Served {
  readonly port: number;
  readonly token: string;
  /** All that was streamed since it was opened. */
  heard(): string;
  /** With what it has printed. */
  end(): Promise<string>;
}

async function serve({ program }: Lab, stage: Stage, repo: string): Promise<Served> {
  const child: ChildProcess = spawn(process.execPath, [program, "ui", "--json"], {
    cwd: repo,
    env: { ...stage.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const forget = whenEnding(() => child.kill("SIGKILL"));
  let said = "";
  const isOver = { is: false };
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => {
      isOver.is = true;
      resolve();
    });
  });
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => (said += text));
  while (!said.includes("\n") && !isOver.is) await sleep(20);
  if (!said.startsWith('{"version":1,"url"')) throw new Error(`no address, but ${said}`);
  const { url, port } = JSON.parse(said) as { url: string; port: number };
  const token = url.split("#token=")[1] ?? "";
  let heard = "";
  const request = http.get(
    { ...own(port, token), path: "/api/stream?p=.&after=0", agent: false },
    (response) => {
      response.setEncoding("utf8").on("data", (text: string) => (heard += text));
      response.on("error", () => {});
    },
  );
  request.on("error", () => {});
  return {
    port,
    token,
    heard: () => heard,
    async end() {
      request.destroy();
      child.kill("SIGTERM");
      await ended;
      forget();
      return said.replaceAll(token, "");
    },
  };
}

const own = (port: number, token: string) => ({
  host: "127.0.0.1",
  port,
  headers: { authorization: `Bearer ${token}`, host: `127.0.0.1:${port}` },
});

interface LoggedAttempt {
  readonly type?: string;
  readonly run?: string;
  readonly phase?: string;
  readonly step?: string;
  readonly attempt?: number;
  readonly session?: number;
}

/** As the page asks, for all that there is. */
async function asked({ port, token }: Served, kept: readonly Kept[]): Promise<Kept[]> {
  const log = kept.find(({ place }) => place.startsWith("autodev log --json"))?.text ?? "";
  const events = log
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as LoggedAttempt);
  const attempts = events.flatMap(({ type, run: id, phase, attempt, step, session }) =>
    type === "attempt-started"
      ? [`p=.&run=${id}&phase=${phase}&attempt=${attempt}`]
      : type === "skill-started"
        ? [`p=.&run=flow&phase=${step}&attempt=${session}`]
        : [],
  );
  const targets = [
    "board?p=.",
    `events?p=.&after=0&to=${events.length + 10}`,
    "projects",
    "artifacts?p=.",
    "artifact?p=.&path=_docs/_autodev_state.md",
    "artifact?p=.&path=_docs/00_problem/restrictions.md",
    ...attempts.flatMap((which) => [
      `transcript?${which}`,
      `transcript?${which}&from=300000`,
      `brief?${which}`,
      `diff?${which}`,
    ]),
  ];
  const answers: Kept[] = [];
  await inParallel(targets, async (target) => {
    const text = await new Promise<string>((resolve, reject) => {
      const options = { ...own(port, token), path: `/api/${target}`, agent: false };
      const request = http.get(options, (response) => {
        let body = "";
        response.setEncoding("utf8").on("data", (part: string) => (body += part));
        response.on("end", () => resolve(body)).on("error", reject);
      });
      request.on("error", reject);
    });
    answers.push({ place: `/api/${target}`, text });
  });
  return answers;
}

// ── what lies there ────────────────────────────────────────────────────────────────────────────

/** Every file but git's objects, which are packed, and what this row has put there itself. */
function filesBelow({ folder, told }: Stage): Kept[] {
  const works = new Set(worksIn(told));
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => !file.startsWith(`${told}${path.sep}`) && !/\/\.git\/objects\//.test(file))
    .map((file) => ({
      place: path.relative(folder, file),
      text: fs.readFileSync(file, "utf8"),
    }))
    .filter(({ text }) => !works.has(text));
}

/** What agents have made, which is not ours to change. */
const worksIn = (told: string): string[] =>
  fs
    .readdirSync(path.join(told, "works"))
    .map((name) => fs.readFileSync(path.join(told, "works", name), "utf8"));

/** Commits, trees, tags, and blobs: evidence among them, whether a ref leads there or not. */
function objectsOf(stage: Stage, repo: "repo" | "flow"): Kept[] {
  const at = { ...stage, repo: path.join(stage.folder, repo) };
  const works = new Set(worksIn(stage.told));
  return git(at, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split(" "))
    .map(([name = "", type = ""]) => ({
      place: `git's ${type} ${name.slice(0, 10)} of ${repo}`,
      text: git(at, "cat-file", ...(type === "tree" ? ["-p"] : [type]), name),
    }))
    .filter(({ text }) => !works.has(text));
}

/** What only its owner may read: the journal, the transcripts, all that we remember. */
function openToOthers({ folder }: Stage): string[] {
  return ["repo", "flow"].flatMap((repo) => {
    const memory = path.join(folder, repo, ".git", "autodev");
    return fs
      .readdirSync(memory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter((file) => /\/(?:journal|transcripts)\//.test(file))
      .filter((file) => (fs.statSync(file).mode & 0o077) !== 0)
      .map((file) => `others may read ${path.relative(folder, file)}`);
  });
}

// ── the verdict ────────────────────────────────────────────────────────────────────────────────

function judge(number: number, stage: Stage, kept: readonly Kept[]): Found {
  const { canaries, told } = stage;
  const search = searchFor(canaries);
  const wrong = openToOthers(stage);
  const said = saidIn(told, search, wrong);
  const arrived = new Set(kept.flatMap(({ text }) => tagsIn(text)));
  for (const tag of said) if (!arrived.has(tag)) wrong.push(`${tag} was said and never arrived`);
  for (const place of places)
    if (![...said].some((tag) => tag.startsWith(`${place}-`)))
      wrong.push(`nothing is told: ${place}`);
  const encodings = canaries.map(({ number }) => {
    const ways = [...said].filter((tag) => tag.endsWith(`-${number}`));
    if (ways.length < leastWays)
      wrong.push(`canary ${number} was told in ${ways.length} ways only`);
    const forms = new Set(ways.map((tag) => tag.split("-")[1]));
    if (forms.size < leastEncodings)
      wrong.push(`canary ${number} was told in ${forms.size} encodings only`);
    return forms.size;
  });
  const named = new Map(canaries.map((canary) => [canary.number, canary]));
  const hits = kept.flatMap(({ place, text }) =>
    search(text).map(({ canary, around }) => ({
      canary: named.get(canary) as Canary,
      place,
      around: around.replace(/[\r\n]+/g, " "),
    })),
  );
  return {
    stage: number,
    canaries: canaries.length,
    ways: new Set([...said].map((tag) => tag.replace(/-\d+$/, ""))),
    encodings: Math.min(...encodings),
    said: said.size,
    searched: kept.length,
    bytes: kept.reduce((sum, { text }) => sum + text.length, 0),
    hits,
    wrong,
  };
}

/** Where something has to be told: what an agent says and hands in, a gate, a skill, a tracker. */
const places = [
  ..."out err message file failed details thrown".split(" "),
  ..."text thought tool beside result claim chunks call handed".split(" "),
  ..."gate gateerr test".split(" "),
  ..."detail session document asked option reason retried tracker".split(" "),
];

/** In `way-<place>-<form>-<number>. `, however a line is quoted. */
const tagsIn = (text: string): string[] =>
  [...text.matchAll(/way-([a-z]+-[a-z0-9]+-\d+)\. /g)].map(([, tag = ""]) => tag);

/** What was really said; each canary has to be found in what was said of it, in each way. */
function saidIn(told: string, search: Search, wrong: string[]): Set<string> {
  const all = new Set<string>();
  for (const name of fs.readdirSync(path.join(told, "said"))) {
    const text = fs.readFileSync(path.join(told, "said", name), "utf8");
    const byCanary = new Map<string, string>();
    for (const part of text.split(/^(?=way-)/m)) {
      const [tag] = tagsIn(part);
      if (tag !== undefined) byCanary.set(tag, part);
    }
    for (const [tag, part] of byCanary) {
      all.add(tag);
      const number = Number(tag.split("-").at(-1));
      if (!search(part).some(({ canary }) => canary === number))
        wrong.push(`${tag} is not found where it was said: the search is blind`);
    }
  }
  return all;
}

function outcomeOf(context: Context, all: readonly Found[], seen = /^/): Outcome {
  const sum = (of: (found: Found) => number): number =>
    all.reduce((total, found) => total + of(found), 0);
  const failures = all.flatMap(({ stage, hits, wrong }) => {
    const told = again(context, secrets.name, `stage-${stage}`);
    const ofHits = new Map<string, string>();
    for (const { canary, place, around } of hits) {
      const name = `canary ${canary.number} (${canary.kind}) is in ${place}`;
      ofHits.set(`${canary.kind}${place}`, `${name}: …${around}…; ${told}`);
    }
    // Whoever tells one tells hundreds.
    const few = (lines: readonly string[]): string[] =>
      lines.filter((line) => seen.test(line)).slice(0, 20);
    return [...few([...ofHits.values()]), ...few(wrong.map((each) => `${each}; ${told}`))];
  });
  return judged(
    {
      canaries: sum(({ canaries }) => canaries),
      ways: new Set(all.flatMap(({ ways }) => [...ways])).size,
      "encodings of each, at least": Math.min(...all.map(({ encodings }) => encodings)),
      "times told": sum(({ said }) => said),
      "texts searched": sum(({ searched }) => searched),
      "MB searched": Math.round(sum(({ bytes }) => bytes) / 1e5) / 10,
      found: sum(({ hits }) => hits.length),
    },
    failures,
  );
}
