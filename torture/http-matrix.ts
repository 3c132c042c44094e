/**
 * The dashboard's server, asked by everybody who can reach a port of this machine: pages of others,
 * names that point here, forms, sockets, requests within requests, things that are no request at
 * all. The server is the shipped program's, in a repository with a question that is really open, so
 * that whoever got through would have answered it; and its history and documents hold texts that a
 * browser must never take for markup.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as http from "node:http";
import * as path from "node:path";
import type { Event } from "../src/core/event.ts";
import { createFileStore } from "../src/stores/file.ts";
import {
  codeIn,
  isWelcome,
  type Knock,
  misshapen,
  type OwnHouse,
  oneStepAway,
  ownKnock,
  pathOf,
  requestOf,
  type Shape,
  severalStepsAway,
  smuggled,
  unsafeIn,
  wrongIn,
} from "./http-requests.ts";
import { headerIn, type RawAnswer, talk } from "./http-talk.ts";
import {
  again,
  bundle,
  type Context,
  ending,
  freshFolder,
  inParallel,
  judged,
  makeRepository,
  type Outcome,
  type Plant,
  type Row,
  randomFrom,
  run,
  shippedProgram,
  sleep,
  whenEnding,
} from "./rig.ts";
import { git, type Site, siteAt } from "./run-rig.ts";
import { xssStrings } from "./xss-strings.ts";

/** Beside every request that makes one claim otherwise: so many that make several. */
const several = { ci: 150, full: 19_000 };
/** Of the texts, so many are also looked at as documents, each by itself. */
const documents = { ci: 40, full: Number.POSITIVE_INFINITY };

export const httpMatrix: Row = {
  name: "http-matrix",
  promise: "nobody but our own page is let in, told or obeyed by the dashboard, however he asks",
  budgetSeconds: { ci: 12, full: 60 },
  run: (context) => knockEverywhere(context),
};

export interface KnockOptions {
  readonly plant?: Plant;
}

export async function knockEverywhere(
  given: Context,
  { plant }: KnockOptions = {},
): Promise<Outcome> {
  // A planted bug shows in the short form, or in none.
  const context: Context = plant ? { ...given, tier: "ci" } : given;
  const program = await programWith(context, plant);
  const project = await makeProject(context, program);
  const served = await serve(program, project.site);
  const trial: Trial = { context, served, project, failures: [] };
  try {
    const before = pictureOf(project.site.folder);
    const knocks = await allKnocks(trial);
    const shapes = await allShapes(trial);
    const texts = await allTexts(trial);
    const rest = await afterwards(trial, before);
    return judged({ ...knocks, ...shapes, ...texts, ...rest }, trial.failures);
  } finally {
    await served.end();
  }
}

interface Trial {
  readonly context: Context;
  readonly served: Served;
  readonly project: AskedProject;
  readonly failures: string[];
}

const isWanted = ({ context: { onlyCase } }: Trial, name: string): boolean =>
  onlyCase === undefined || onlyCase === name;

function failed({ context, failures }: Trial, name: string, what: string): void {
  // A server that is open to one is open to thousands.
  if (failures.length < 20)
    failures.push(`${name}: ${what}; ${again(context, httpMatrix.name, name)}`);
}

/** So many talk to it at once. */
const lanes = 16;

// ── who knocks ─────────────────────────────────────────────────────────────────────────────────

interface NamedKnock {
  readonly name: string;
  readonly knock: Knock;
}

async function allKnocks(trial: Trial): Promise<Outcome["figures"]> {
  const { context, served, project } = trial;
  const { tier, seed } = context;
  const random = randomFrom(seed, 25);
  const knocks = [
    ...oneStepAway(served),
    ...Array.from({ length: several[tier] }, () => severalStepsAway(served, random)),
  ]
    .map((knock, at): NamedKnock => ({ name: `knock-${at + 1}`, knock }))
    .filter(({ name }) => isWanted(trial, name));
  const bytesOf = ({ knock }: NamedKnock): string => requestOf(knock, served, project.open);
  const figures = { requests: 0, "of them welcome": 0, "streams begun": 0 };
  const judge = ({ name, knock }: NamedKnock, answer: RawAnswer | undefined): void => {
    figures.requests++;
    if (isWelcome(knock, served)) figures["of them welcome"]++;
    if (answer && headerIn(answer, "content-type")?.startsWith("text/event-stream"))
      figures["streams begun"]++;
    const wrong = wrongIn(knock, answer, served);
    if (wrong.length > 0) failed(trial, name, `${wrong.join(", ")}: ${JSON.stringify(knock)}`);
  };
  // Those end the connection, or what is said on it: each has one of its own.
  const [alone, together] = partition(knocks, ({ knock }) => isAlone(knock, served));
  const parts = Array.from({ length: lanes }, (_, lane) =>
    together.filter((_each, at) => at % lanes === lane),
  );
  await inParallel(
    parts,
    async (part) => {
      const answers = await talk(served.port, part.map(bytesOf));
      for (const [at, each] of part.entries()) judge(each, answers[at]);
    },
    lanes,
  );
  await inParallel(
    alone,
    async (each) => judge(each, (await talk(served.port, [bytesOf(each)]))[0]),
    lanes,
  );
  return figures;
}

const isAlone = (knock: Knock, own: OwnHouse): boolean =>
  knock.host === undefined || (pathOf(knock.target) === "/api/stream" && isWelcome(knock, own));

function partition<T>(items: readonly T[], is: (item: T) => boolean): [T[], T[]] {
  return [items.filter(is), items.filter((item) => !is(item))];
}

// ── what is no request, and requests within requests ───────────────────────────────────────────

async function allShapes(trial: Trial): Promise<Outcome["figures"]> {
  const { served, project } = trial;
  const chosen = (shapes: readonly Shape[]): Shape[] =>
    shapes.filter(({ name }) => isWanted(trial, name));
  const [bad, hidden] = [misshapen(served), smuggled(served, project.open)].map(chosen);
  const figures = { misshapen: 0, smuggled: 0, "hung up on": 0 };
  await inParallel(
    bad ?? [],
    async ({ name, bytes }) => {
      const [answer] = await talk(served.port, [bytes], { patience: 3000 });
      figures.misshapen++;
      if (!answer) figures["hung up on"]++;
      else for (const what of refusedWrongly(answer)) failed(trial, name, what);
    },
    lanes,
  );
  await inParallel(
    hidden ?? [],
    async ({ name, bytes }) => {
      // As if two were asked for: the second would be the one inside.
      const answers = await talk(served.port, [bytes, ""], { patience: 400 });
      figures.smuggled++;
      if (answers.length === 0) figures["hung up on"]++;
      // That he may go on is said before there is anything to look at.
      for (const answer of answers.filter(({ status }) => status !== 100))
        for (const what of unsafeIn(answer)) failed(trial, name, `${what} (${answer.status})`);
      if (answers.some(({ body }) => body.includes('"recorded"')))
        failed(trial, name, "what was hidden in it was obeyed");
    },
    lanes,
  );
  return figures;
}

const refusedWrongly = (answer: RawAnswer): string[] => [
  ...unsafeIn(answer),
  ...([400, 401, 403, 404, 405, 413, 431, 501].includes(answer.status)
    ? []
    : [`it is answered with ${answer.status}`]),
  ...(answer.body.length < 400 ? [] : ["it is answered at length"]),
];

// ── texts that would be markup ─────────────────────────────────────────────────────────────────

async function allTexts(trial: Trial): Promise<Outcome["figures"]> {
  const { context, served } = trial;
  const texts = xssStrings
    .map((text, at) => ({ name: `text-${at}`, text }))
    .filter(({ name }) => isWanted(trial, name));
  const told = await ask(trial, "/api/events?p=.&after=0&to=100000");
  const heard = await hear(served);
  const names = await ask(trial, "/api/artifacts?p=.");
  const page = (await ask(trial, "/"))?.body ?? "";
  if (/"type":"forged"/.test(told?.body ?? "") || heard.forged)
    failed(trial, "text-0", "a text is told as an event");
  const figures = { texts: texts.length, "told as events": 0, "in the stream": 0, documents: 0 };
  const [inEvents, inStream] = [stringsIn(told?.body), new Set(heard.texts)];
  const inNames = stringsIn(names?.body);
  await inParallel(
    texts,
    async ({ name, text }, at) => {
      if (inEvents.has(text)) figures["told as events"]++;
      else failed(trial, name, "it is not told as it stands on record");
      if (inStream.has(text)) figures["in the stream"]++;
      else failed(trial, name, "it is not told in the stream");
      if (page.includes(text)) failed(trial, name, "it is in the page");
      const fileName = asName(text);
      if (fileName !== undefined && !inNames.has(`_docs/xss/${fileName}`))
        failed(trial, name, "a document of that name is not listed");
      await reflected(trial, name, text);
      if (at >= documents[context.tier] && context.onlyCase === undefined) return;
      const number = name.slice("text-".length);
      const document = await ask(trial, `/api/artifact?path=_docs/xss/${number}.md`);
      if (document?.status !== 200) failed(trial, name, "its document is not shown");
      else {
        figures.documents++;
        for (const link of linksIn(JSON.parse(document.body)))
          if (!/^(?:https?:|mailto:)/i.test(link)) failed(trial, name, `a link leads to ${link}`);
      }
    },
    lanes,
  );
  return figures;
}

/** What is asked for is never repeated. */
async function reflected(trial: Trial, name: string, text: string): Promise<void> {
  const encoded = encodeURIComponent(text.slice(0, 1500));
  for (const target of [`/${encoded}`, `/api/board?p=${encoded}`]) {
    const answer = await ask(trial, target);
    const mark = text.slice(0, text.indexOf(":"));
    if (answer && answer.status < 400) failed(trial, name, `${target} is answered`);
    if (answer?.body.includes(`${mark}:`)) failed(trial, name, `${target} repeats it`);
  }
}

/** As our page asks; what comes back has to be JSON, or one of the page's files. */
async function ask(trial: Trial, target: string): Promise<RawAnswer | undefined> {
  const { served } = trial;
  const [answer] = await talk(served.port, [requestOf(ownKnock(target, served), served, "")]);
  if (!answer) failed(trial, "text-0", `${target.slice(0, 60)} is not answered`);
  else {
    for (const what of unsafeIn(answer)) failed(trial, "text-0", `${target.slice(0, 60)}: ${what}`);
    const type = headerIn(answer, "content-type") ?? "none";
    const right = target === "/" ? /^text\/html|^application\/json/ : /^application\/json;/;
    if (!right.test(type)) failed(trial, "text-0", `${target.slice(0, 60)} is of type ${type}`);
  }
  return answer;
}

function stringsIn(body: string | undefined): Set<string> {
  const found = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value === "string") found.add(value);
    else if (typeof value === "object" && value !== null) Object.values(value).forEach(walk);
  };
  walk(body === undefined ? undefined : JSON.parse(body));
  return found;
}

/** Wherever a page would go by what it was told. */
function linksIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    ["href", "src"].includes(key) && typeof each === "string" ? [each] : linksIn(each),
  );
}

interface HeardTexts {
  readonly texts: Iterable<string>;
  readonly forged: boolean;
}

/** Everything from the beginning, as a page hears it. */
function hear({ port, token }: OwnHouse): Promise<HeardTexts> {
  return new Promise((resolve, reject) => {
    const texts = new Set<string>();
    let [waiting, forged] = ["", false];
    const headers = { authorization: `Bearer ${token}`, host: `127.0.0.1:${port}` };
    const options = { host: "127.0.0.1", port, path: "/api/stream?p=.&after=0", headers };
    const request = http.get({ ...options, agent: false }, (response) => {
      const done = (): void => {
        request.destroy();
        resolve({ texts, forged });
      };
      setTimeout(done, 10_000).unref();
      response.setEncoding("utf8").on("data", (part: string) => {
        const frames = (waiting + part).split("\n\n");
        waiting = frames.pop() ?? "";
        for (const frame of frames) {
          const [, event = "", data = ""] =
            /^(?:id: \d+\n)?event: (\w+)\ndata: ([^\n]*)$/.exec(frame) ?? [];
          if (event === "") forged = true;
          else for (const text of stringsIn(data)) texts.add(text);
          if (texts.has("forged")) forged = true;
        }
        if (xssStrings.every((text) => texts.has(text))) done();
      });
      response.on("error", () => {});
    });
    request.on("error", reject);
  });
}

// ── what is left of it ─────────────────────────────────────────────────────────────────────────

/** Memory may move; it may not grow with what was asked. */
const mostGrowth = 96 * 1024;

async function afterwards(
  trial: Trial,
  before: Readonly<Record<string, string>>,
): Promise<Outcome["figures"]> {
  const { served, project, context } = trial;
  const changed = differing(before, pictureOf(project.site.folder));
  if (changed.length > 0)
    failed(trial, "disk", `something has changed: ${changed.slice(0, 5).join(", ")}`);
  if (served.child.exitCode !== null) failed(trial, "alive", "the server has ended");
  const strangers = listenersOf(served.port).filter((address) => address !== "0100007F");
  if (strangers.length > 0) failed(trial, "alive", `it listens at ${strangers.join(", ")}`);
  const open = await fewestDescriptors(served);
  if (open > served.descriptors)
    failed(trial, "alive", `${open} files are open, at first ${served.descriptors}`);
  const memory = memoryOf(served);
  if (memory - served.memory > mostGrowth)
    failed(trial, "memory", `from ${served.memory} kB to ${memory} kB`);
  // Everything above was worth asking only if the question could have been answered all the time.
  if (context.onlyCase === undefined || context.onlyCase === "obeyed") await obeyed(trial);
  return { "kB at first": served.memory, "kB at last": memory, "open files": open };
}

async function obeyed(trial: Trial): Promise<void> {
  const { served, project } = trial;
  const wish = JSON.stringify({ p: ".", id: project.open, key: "A" });
  const own = requestOf(ownKnock("/api/decide", served), served, "").split("\r\n\r\n", 1)[0] ?? "";
  const head = own.replace(/Content-Length: \d+/, `Content-Length: ${wish.length}`);
  const [answer] = await talk(served.port, [`${head}\r\n\r\n${wish}`]);
  if (answer?.status !== 200 || codeIn(answer.body) !== undefined)
    failed(trial, "obeyed", `our own page is not obeyed: ${answer?.status} ${answer?.body}`);
}

const differing = (
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (file) => before[file] !== after[file],
  );

/** Every file below it, by what it holds. */
function pictureOf(folder: string): Record<string, string> {
  const picture: Record<string, string> = {};
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    picture[path.relative(folder, file)] = entry.isFile()
      ? createHash("sha256").update(fs.readFileSync(file)).digest("hex")
      : "no file";
  }
  return picture;
}

// ── the server ─────────────────────────────────────────────────────────────────────────────────

interface Served extends OwnHouse {
  readonly child: ChildProcess;
  /** Before anybody knocked, in kB. */
  readonly memory: number;
  readonly descriptors: number;
  end(): Promise<void>;
}

async function programWith({ scratch }: Context, plant: Plant | undefined): Promise<string> {
  const program = await shippedProgram(freshFolder(scratch, "program"));
  if (!plant) return program;
  const copy = freshFolder(scratch, "planted");
  for (const part of ["cli", "web", "skills"])
    fs.cpSync(path.join(program, "..", "..", part), path.join(copy, part), { recursive: true });
  const out = path.join(copy, "cli", "dashboard.cjs");
  await bundle("src/dashboard/main.ts", { out, plant, beside: true });
  return path.join(copy, "cli", path.basename(program));
}

async function serve(program: string, { repo, env }: Site): Promise<Served> {
  const child = spawn(process.execPath, [program, "ui", "--json"], {
    cwd: repo,
    env: { ...env, NODE_OPTIONS: "--max-old-space-size=192" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const forget = whenEnding(() => child.kill("SIGKILL"));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const said = await new Promise<string>((resolve) => {
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      if (out.includes("\n")) resolve(out);
    });
    let err = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    void ended.then(() => resolve(out + err));
  });
  if (!said.startsWith('{"version":1,"url"')) throw new Error(`no address, but ${said}`);
  const { url, port } = JSON.parse(said) as { url: string; port: number };
  const own = { port, token: url.split("#token=")[1] ?? "", child };
  // What is read and compiled once counts for nobody.
  for (const target of ["/", "/api/board?p=.", "/api/events?p=.&after=0&to=100000"])
    await talk(port, [requestOf(ownKnock(target, own), own, "")]);
  await hear(own);
  return {
    ...own,
    memory: memoryOf(own),
    descriptors: await fewestDescriptors(own),
    async end() {
      child.kill("SIGKILL");
      await ended;
      forget();
    },
  };
}

const procOf = ({ child }: Pick<Served, "child">, name: string): string =>
  path.join("/proc", String(child.pid), name);

const memoryOf = (served: Pick<Served, "child">): number =>
  Number(/^VmRSS:\s*(\d+) kB$/m.exec(fs.readFileSync(procOf(served, "status"), "utf8"))?.[1]);

/** Connections that were let go take a moment. */
async function fewestDescriptors(served: Pick<Served, "child">): Promise<number> {
  let fewest = Number.POSITIVE_INFINITY;
  for (let times = 0; times < 15; times++) {
    fewest = Math.min(fewest, fs.readdirSync(procOf(served, "fd")).length);
    await sleep(100);
  }
  return fewest;
}

/** The addresses, as the kernel writes them, at which somebody listens on this port. */
function listenersOf(port: number): string[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  return ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
    (fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "").split("\n").flatMap((line) => {
      const [, address, at, listening] =
        /^\s*\d+: ([0-9A-F]+):([0-9A-F]{4}) \S+ ([0-9A-F]{2}) /.exec(line) ?? [];
      return address !== undefined && at === wanted && listening === "0A" ? [address] : [];
    }),
  );
}

// ── a project with a question, and with texts that would be markup ─────────────────────────────

interface AskedProject {
  readonly site: Site;
  /** The question that is open. */
  readonly open: string;
}

async function makeProject({ scratch }: Context, program: string): Promise<AskedProject> {
  const site = siteAt(freshFolder(scratch, "project"));
  await makeRepository(site.repo);
  const write = (file: string, text: string): void => {
    fs.mkdirSync(path.dirname(path.join(site.repo, file)), { recursive: true });
    fs.writeFileSync(path.join(site.repo, file), text);
  };
  write("_docs/_autodev_state.md", paused);
  write("_docs/00_problem/problem.md", "# What is wanted\n");
  for (const [at, text] of xssStrings.entries()) {
    // With a byte that no text has it would not be shown as one.
    write(`_docs/xss/${at}.md`, text.replaceAll("\0", "\ufffd"));
    const name = asName(text);
    if (name !== undefined) write(`_docs/xss/${name}`, "Words.\n");
  }
  const asked = await run([process.execPath, program], { cwd: site.repo, env: site.env });
  if (asked.code !== 3) throw new Error(`no question was asked: ${ending(asked)}`);
  const listed = await run([process.execPath, program, "decisions", "--json"], {
    cwd: site.repo,
    env: site.env,
  });
  const open = (JSON.parse(listed.stdout) as { id: string }[])[0]?.id ?? "";
  await recordTexts(site);
  git(site, "status", "--short");
  return { site, open };
}

const paused = `# Autodev State

## Current Step
flow: greenfield
step: 1
name: Problem
status: paused
sub_step:
  phase: 1
  name: questions
  detail: ""
retry_count: 0
cycle: 1
`;

/** As what people were asked, and are asked no more. */
async function recordTexts({ repo }: Site): Promise<void> {
  const store = createFileStore({ folder: path.join(repo, ".git", "autodev"), root: repo });
  const at = new Date().toISOString();
  const opened = await store.open({ pid: process.pid, host: "here", since: at, command: "texts" });
  if (!opened.ok) throw new Error(opened.failure.message);
  const session = opened.value;
  for (let first = 0; first < xssStrings.length; first += 50) {
    const events = xssStrings
      .slice(first, first + 50)
      .flatMap((text, place) => askedAndWithdrawn(text, first + place, at));
    const appended = await session.append(session.head.seq, { at, run: "flow", events });
    if (!appended.ok) throw new Error(appended.failure.message);
  }
  await session.release();
}

function askedAndWithdrawn(text: string, number: number, askedAt: string): Event[] {
  const id = `d-${number.toString(16).padStart(12, "f")}`;
  const decision = {
    id,
    kind: "agent-asks",
    subject: text,
    cycle: 1,
    cause: text,
    question: text,
    options: [
      { key: "A", text },
      { key: "B", text: "no" },
    ],
    recommendation: "A",
    reason: text,
    blocks: text,
    askedAt,
  };
  return [
    { type: "decision-asked", decision },
    { type: "decision-withdrawn", id, reason: text },
  ];
}

/** Undefined: no file can be called so, or git would not have it. */
function asName(text: string): string | undefined {
  const name = text.replaceAll("/", "_");
  // oxlint-disable-next-line no-control-regex -- those are what a name may not hold
  const isName = !/[\u0000-\u001f\\]/.test(name) && Buffer.byteLength(name) < 200;
  return isName ? `${name}.md` : undefined;
}
