/**
 * Clocks that are wrong, and clocks that are set while somebody looks at them: two hours back, ten
 * years on, 1970, ten times as fast, the hour of a change to summer time, and another time every
 * 50 ms. Real programs under libfaketime: a plan whose agent is sent away for a few seconds, and a
 * flow with sessions and decisions. What counts is the order of the journal; what is waited for
 * takes as long as it was meant to; and the end is that of a run under a good clock.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import {
  differences as differencesOfFlows,
  endOf,
  liveAndDie,
  makeProject,
  type Story,
} from "./flow-kills.ts";
import {
  again,
  bundle,
  type Context,
  inParallel,
  judged,
  type Outcome,
  type Plant,
  type Random,
  type Row,
  randomFrom,
  run,
  shippedProgram,
  skipped,
  sleep,
} from "./rig.ts";
import {
  type Build,
  buildProgram,
  copyOf,
  differences,
  type End,
  how,
  judgeEnd,
  makeTemplate,
  namesIn,
  planFile,
  planText,
  readLog,
  type Scenario,
  type Site,
  startBuild,
  type Template,
} from "./run-rig.ts";

export const clockJumps: Row = {
  name: "clock-jumps",
  promise:
    "a clock that is wrong or is set changes nothing: order is by sequence, and what is waited for takes as long as it was meant to",
  budgetSeconds: { ci: 14, full: 900 },
  run: (context) => jumpClocks(context),
};

const runsByTier = { ci: 3, full: 100 };
/** They wait more than they work. */
const width = 4;

export interface ClockOptions {
  readonly plant?: Plant;
  readonly runs?: number;
  readonly way?: Way;
  /** What a planted bug is told by; other failures are not it. */
  readonly seen?: RegExp;
}

export async function jumpClocks(context: Context, options: ClockOptions = {}): Promise<Outcome> {
  const library = await libraryOf();
  if (library === undefined) return skipped("faketime is not on this machine");
  const blind = await blindTo(context, library);
  if (blind !== undefined) return judged({}, [blind]);
  const cases = chooseCases(context, options);
  const bench = await makeBench(context, options, library, new Set(cases.map(({ way }) => way)));
  if (typeof bench === "string") return judged({}, [bench]);
  const figures: Figures = {
    runs: 0,
    plans: 0,
    flows: 0,
    "clocks set": 0,
    parks: 0,
    decisions: 0,
    "early or late": 0,
    "out of order": 0,
    "impossible durations": 0,
    "other ends": 0,
  };
  const failures: string[] = [];
  await inParallel(
    cases,
    async (each) => {
      // A planted bug is found once.
      if (options.plant && failures.some((failure) => options.seen?.test(failure) ?? true)) return;
      figures.runs++;
      const breaches = await (each.way === "plan" ? runPlan : runFlow)(bench, each, figures);
      for (const kind of new Set(breaches.map((breach) => breach.kind))) figures[kind]++;
      if (breaches.length === 0) return;
      const what = breaches.map((breach) => `${breach.kind}: ${breach.what}`).join("; ");
      failures.push(
        `a ${each.way} with its clock ${each.clock.name}: ${what}; to see it again: ${again(context, clockJumps.name, nameOf(each))}`,
      );
    },
    width,
  );
  return judged(figures, failures);
}

interface Breach {
  readonly kind: "early or late" | "out of order" | "impossible durations" | "other ends";
  readonly what: string;
}

type Figures = Record<
  Breach["kind"] | "runs" | "plans" | "flows" | "clocks set" | "parks" | "decisions",
  number
>;

// ── clocks ─────────────────────────────────────────────────────────────────────────────────────

type Way = "plan" | "flow";

interface Clock {
  readonly name: string;
  /** As libfaketime writes it: what a program begins with. */
  readonly begins: string;
  /** What it is set to later: once, in the middle of it, or again and again. */
  readonly set?: { readonly to: readonly string[]; readonly everyMs?: number };
  readonly zone?: string;
  /** How the journal of such a run begins to tell the time; absent: as here. */
  readonly at?: RegExp;
}

const year = 365 * 24 * 3600;
const sameTime = "+0";

const clocks: readonly Clock[] = [
  { name: "two-hours-back", begins: sameTime, set: { to: ["-7200"] } },
  { name: "ten-years-on", begins: sameTime, set: { to: [`+${10 * year}`] } },
  { name: "in-1970", begins: "@1970-01-02 00:00:00", zone: "UTC", at: /^1970-01-0/ },
  { name: "ten-times-as-fast", begins: "+0 x10" },
  {
    name: "at-summer-time",
    begins: "@2026-03-29 01:59:58",
    zone: "Europe/Berlin",
    at: /^2026-03-29T0[01]:/,
  },
  {
    name: "at-winter-time",
    begins: "@2026-10-25 02:59:58",
    zone: "Europe/Berlin",
    at: /^2026-10-25T0[0-2]:/,
  },
  {
    name: "set-every-50-ms",
    begins: sameTime,
    set: {
      to: ["-7200", `+${10 * year}`, "-90", sameTime, "+86400", `-${20 * year}`],
      everyMs: 50,
    },
  },
];

interface Case {
  readonly number: number;
  readonly way: Way;
  readonly clock: Clock;
}

const nameOf = ({ way, clock, number }: Case): string => `${way}-${clock.name}-${number}`;

/** One in four is a flow, and every clock has both before any has one twice. */
function chooseCases({ tier, seed, onlyCase }: Context, options: ClockOptions): Case[] {
  const runs = options.runs ?? runsByTier[tier];
  const cases = Array.from({ length: runs }, (_, index): Case => {
    const turn = index + seed - 1;
    const way = options.way ?? (turn % 4 === 3 ? "flow" : "plan");
    // Of those that are set while it runs, a small number of runs has at least one.
    const clock = clocks[(turn * 6) % clocks.length] as Clock;
    return { number: index + 1, way, clock };
  });
  return onlyCase === undefined ? cases : cases.filter((each) => nameOf(each) === onlyCase);
}

/** The library for programs with threads, from the program that comes with it. */
async function libraryOf(): Promise<string | undefined> {
  const asked = await run(["faketime", "-m", "-f", sameTime, "printenv", "LD_PRELOAD"]);
  // It names it as the loader does ("$LIB"), so it cannot be looked for: that it works is shown next.
  return asked.code === 0 ? asked.stdout.trim().split(":").at(-1) : undefined;
}

/** What a program is started with that has such a clock; `file` is what sets it. */
function underClock(
  library: string,
  { begins, zone }: Clock,
  file: string,
): Record<string, string> {
  fs.writeFileSync(file, `${begins}\n`);
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    // As on a real machine: what nobody can set stays, and so do the times of files.
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    NO_FAKE_STAT: "1",
    ...(zone !== undefined && { TZ: zone }),
  };
}

const setClock = (file: string, to: string): void => {
  fs.writeFileSync(`${file}.new`, `${to}\n`);
  fs.renameSync(`${file}.new`, file);
};

/** Sets it as it is said, until it is stopped; says how often that was. */
function keepSetting(
  { set }: Clock,
  file: string,
  random: Random,
  moment: Promise<void>,
): { stop(): number } {
  let [times, over] = [0, false];
  if (set === undefined) return { stop: () => 0 };
  const next = (): void => {
    setClock(file, set.to[random.below(set.to.length)] as string);
    times++;
  };
  const timer = set.everyMs === undefined ? undefined : setInterval(next, set.everyMs);
  if (timer === undefined) void moment.then(() => over || next());
  return {
    stop() {
      over = true;
      clearInterval(timer);
      return times;
    },
  };
}

/** Proof that a program of ours sees such clocks: it is asked for the time; a string: it does not. */
async function blindTo({ scratch }: Context, library: string): Promise<string | undefined> {
  const file = path.join(scratch, "probe");
  const told = `console.log(JSON.stringify([Date.now(), performance.now()]))`;
  for (const clock of clocks.filter(({ set, begins }) => set || begins.startsWith("@"))) {
    const env = underClock(library, clock, file);
    if (clock.set) setClock(file, clock.set.to[0] as string);
    const asked = await run([process.execPath, "-e", told], { env });
    const [time = Date.now(), running = 0] = JSON.parse(asked.stdout || "[]") as number[];
    if (Math.abs(time - Date.now()) < 3_600_000)
      return `${clock.name} is not seen: ${asked.stderr}`;
    if (running > 60_000) return `${clock.name} sets the clock that nobody can set`;
  }
  return undefined;
}

// ── what is run ────────────────────────────────────────────────────────────────────────────────

interface Bench {
  readonly context: Context;
  readonly library: string;
  readonly plan?: { readonly program: string; readonly template: Template; readonly end: End };
  readonly flow?: { readonly program: string; readonly end: Awaited<ReturnType<typeof endOf>> };
}

async function makeBench(
  context: Context,
  options: ClockOptions,
  library: string,
  ways: ReadonlySet<Way>,
): Promise<Bench | string> {
  const bench: Bench = { context, library };
  const plan = ways.has("plan") ? await makePlan(context, options) : undefined;
  if (typeof plan === "string") return plan;
  const flow = ways.has("flow") ? await makeFlow(context, options) : undefined;
  if (typeof flow === "string") return flow;
  return { ...bench, ...(plan && { plan }), ...(flow && { flow }) };
}

// ── a plan that waits ──────────────────────────────────────────────────────────────────────────

const parkSeconds = 3;
/** How late a machine with much to do may be. */
const patienceMs = 15_000;
/** We look at the journal every so often, and so does a park at the clock. */
const blinkMs = 300;

/**
 * Sent away once, until a moment by the clock of whoever sent it: the journal's last time and a few
 * seconds. (Its own clock is as wrong as any.)
 */
const agentText = `#!/bin/sh
journal=../../../.git/autodev/journal
say() { printf '{"phase_id":"%s","tasks":{"total":2,"completed":2},%s}' "$AUTODEV_PHASE" "$1" >"$AUTODEV_RESULT"; }
if [ "$AUTODEV_PHASE" = 1 ] && ! grep -rq '"type":"attempt-parked"' $journal; then
  last=$(cat $journal/*/*.log | grep -o '"at":"[^"]*"' | tail -n 1 | cut -d '"' -f 4)
  until=$(node -p 'new Date(Date.parse(process.argv[1]) + ${parkSeconds * 1000}).toISOString()' "$last")
  say "\\"status\\":\\"limited\\",\\"until\\":\\"$until\\""
  exit
fi
text=txt
mkdir -p src && printf 'phase %s\\n' "$AUTODEV_PHASE" >"src/phase-$AUTODEV_PHASE.$text"
say "\\"status\\":\\"complete\\",\\"commit_message\\":\\"feat: phase $AUTODEV_PHASE\\""
`;

const parked: Scenario = {
  name: "parked",
  mode: "auto",
  jobs: 1,
  agent: "own",
  files: {
    [planFile]: planText("Two phases", [
      { id: "1", name: "First", needs: [], body: "It makes `src/phase-1.txt`." },
      { id: "2", name: "Second", needs: ["1"], body: "It makes `src/phase-2.txt`." },
    ]),
    ".autodev/config.yaml": `gates:\n  test: '[ -z "$AUTODEV_PHASE" ] || test -d src'\nagents:\n  own:\n    command: "./agent.sh"\n`,
    "agent.sh": agentText,
  },
  dirty: false,
  phases: ["1", "2"],
};

async function makePlan(
  { scratch }: Context,
  { plant }: ClockOptions,
): Promise<Bench["plan"] | string> {
  const program = await buildProgram(plant);
  const template = await makeTemplate(program, path.join(scratch, "plan-template"), parked);
  const site = copyOf(template, path.join(scratch, "plan-undisturbed"));
  const ended = await startBuild(program, site, template).ended;
  const { end, wrong } = await judgeEnd(program, site, template, ended);
  if (wrong.length > 0) return `a plan, undisturbed: ${wrong.join("; ")}`;
  return { program, template, end };
}

async function runPlan(bench: Bench, each: Case, figures: Figures): Promise<Breach[]> {
  const { context, library, plan } = bench;
  if (!plan) return [];
  const { program, template } = plan;
  const site = copyOf(template, path.join(context.scratch, nameOf(each)));
  try {
    const random = randomFrom(context.seed, each.number);
    const file = path.join(site.folder, "clock");
    const build = startBuild(program, site, template, underClock(library, each.clock, file));
    const watched = watchPark(site, build);
    const setting = keepSetting(each.clock, file, random, watched.parked);
    const ended = await build.ended;
    const took = build.elapsedMs();
    const set = setting.stop();
    figures.plans++;
    figures["clocks set"] += set;
    if (ended.code !== 0) {
      return [{ kind: ended.timedOut ? "early or late" : "other ends", what: how(ended) }];
    }
    const { end, wrong } = await judgeEnd(program, site, template, ended);
    const others = [...wrong, ...differences(end, plan.end)];
    if (each.clock.set && set === 0) others.push("its clock was never set");
    const log = (await readLog(program, site)) as readonly Logged[] | string;
    if (typeof log === "string") return [{ kind: "other ends", what: log }];
    const park = await watched.park;
    if (park) figures.parks++;
    else others.push(`nobody was parked: ${how(ended)}`);
    return [
      ...others.map((what): Breach => ({ kind: "other ends", what })),
      ...(park ? judgePark(log, park) : []),
      ...judgeOrder(log, { oneSession: true, at: each.clock.at }),
      ...impossible(`${textsOf(site)}\n${ended.out}\n${ended.err}`, took),
    ];
  } finally {
    fs.rmSync(site.folder, { recursive: true, force: true });
  }
}

interface Logged {
  readonly type: string;
  readonly seq: number;
  readonly at: string;
  readonly until?: string;
}

/** By our own clock, which nobody sets: when it was sent away, and when it was begun again. */
function watchPark(
  site: Site,
  build: Build,
): { readonly parked: Promise<void>; readonly park: Promise<number | undefined> } {
  const seen = async (type: string, times: number): Promise<number | undefined> => {
    for (;;) {
      const over = build.isOver();
      if (timesIn(site, `"type":"${type}"`) >= times) return performance.now();
      if (over) return undefined;
      await sleep(10);
    }
  };
  const parked = seen("attempt-parked", 1);
  const begunAgain = parked.then((at) =>
    at === undefined ? undefined : seen("attempt-started", 2),
  );
  return {
    parked: parked.then(() => {}),
    park: Promise.all([parked, begunAgain]).then(([from, to]) =>
      from === undefined || to === undefined ? undefined : to - from,
    ),
  };
}

function timesIn({ repo }: Site, text: string): number {
  const folder = path.join(repo, ".git", "autodev", "journal");
  return namesIn(folder)
    .flatMap((group) => namesIn(path.join(folder, group)).map((name) => path.join(group, name)))
    .reduce(
      (sum, name) => sum + fs.readFileSync(path.join(folder, name), "utf8").split(text).length - 1,
      0,
    );
}

function judgePark(log: readonly Logged[], tookMs: number): Breach[] {
  const sentAway = log.find(({ type }) => type === "attempt-parked");
  const meant = Date.parse(sentAway?.until ?? "") - Date.parse(sentAway?.at ?? "");
  const off = tookMs < meant - blinkMs ? "early" : tookMs > meant + patienceMs ? "late" : undefined;
  if (off === undefined && meant <= parkSeconds * 1000) return [];
  const what = `a park of ${meant} ms took ${Math.round(tookMs)} ms`;
  return [{ kind: "early or late", what }];
}

/** What people read of it. */
const textsOf = ({ repo }: Site): string => {
  const folder = path.join(repo, ".autobuild");
  return fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => path.join(folder, name))
    .filter((file) => fs.statSync(file).isFile())
    .map((file) => fs.readFileSync(file, "utf8"))
    .join("\n");
};

// ── a flow that asks ───────────────────────────────────────────────────────────────────────────

/** Two steps; the first takes its time, so that a clock can be set under it, and asks a question. */
const story: Story = {
  name: "clock",
  prepare: () => {},
  acts: { 1: { slow: 700 } },
  isMortal: () => false,
  isOver: ({ step }) => Number(step) >= 3,
};

async function makeFlow(
  { scratch }: Context,
  { plant }: ClockOptions,
): Promise<Bench["flow"] | string> {
  const program = await flowProgram(scratch, plant);
  const calm = await makeProject(program, path.join(scratch, "flow-undisturbed"), story);
  const { wrong } = await liveAndDie(calm, story, randomFrom(1), 0);
  if (wrong.length > 0) return `a flow, undisturbed: ${wrong.join("; ")}`;
  return { program, end: await endOf(calm, story) };
}

/** The shipped one; with a bug, its command that follows a flow is made anew. */
async function flowProgram(scratch: string, plant: Plant | undefined): Promise<string> {
  const program = await shippedProgram(scratch);
  if (!plant) return program;
  const folder = path.join(path.dirname(program), "..", "planted");
  fs.cpSync(path.dirname(program), folder, { recursive: true });
  await bundle("src/cli/commands/start.ts", { out: path.join(folder, "start.cjs"), plant });
  return path.join(folder, "main.cjs");
}

async function runFlow(bench: Bench, each: Case, figures: Figures): Promise<Breach[]> {
  const { context, library, flow } = bench;
  if (!flow) return [];
  const folder = path.join(context.scratch, nameOf(each));
  fs.mkdirSync(folder, { recursive: true });
  try {
    const random = randomFrom(context.seed, each.number);
    const file = path.join(folder, "clock");
    const env = underClock(library, each.clock, file);
    const project = await makeProject(flow.program, folder, story, env);
    const began = performance.now();
    const setting = keepSetting(each.clock, file, random, begunIn(project.site));
    const { wrong } = await liveAndDie(project, story, random, 0);
    const took = performance.now() - began;
    const set = setting.stop();
    figures.flows++;
    figures["clocks set"] += set;
    const others = [...wrong];
    if (each.clock.set && set === 0) others.push("its clock was never set");
    if (wrong.length === 0) {
      others.push(...differencesOfFlows(await endOf(project, story), flow.end));
    }
    const told = await project.autodev("log", "--json");
    const log = told.stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Logged);
    figures.decisions += log.filter(({ type }) => type === "decision-answered").length;
    const status = await project.autodev("status");
    return [
      ...others.map((what): Breach => ({ kind: "other ends", what })),
      ...judgeOrder(log, { oneSession: false, at: each.clock.at }),
      ...impossible(`${status.stdout}${status.stderr}`, took),
    ];
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Somebody is at work: the moment at which a clock that is set does the most harm. */
async function begunIn(site: Site): Promise<void> {
  for (let tries = 0; tries < 3000; tries++) {
    if (timesIn(site, '"type":"skill-started"') > 0) return;
    await sleep(10);
  }
}

// ── time ───────────────────────────────────────────────────────────────────────────────────────

/** Order is by sequence; and what one session tells never goes backwards. */
function judgeOrder(
  log: readonly Logged[],
  { oneSession, at }: { oneSession: boolean; at: RegExp | undefined },
): Breach[] {
  const wrong: string[] = [];
  for (const [index, { seq, at: time }] of log.entries()) {
    const before = log[index - 1];
    if (before === undefined) continue;
    if (seq !== before.seq + 1) wrong.push(`${before.seq} is followed by ${seq}`);
    if (oneSession && time < before.at) wrong.push(`${seq} is told at ${time}, after ${before.at}`);
  }
  const first = log[0]?.at ?? "";
  // Without this, a program that never saw the clock would quietly pass.
  if (at && !at.test(first)) wrong.push(`it began at ${first}, by another clock`);
  return wrong.slice(0, 3).map((what) => ({ kind: "out of order", what }));
}

/** Less than nothing, or longer than the whole run took. */
function impossible(text: string, tookMs: number): Breach[] {
  const longest = tookMs / 1000 + 2;
  const told = [...text.matchAll(/"(?:duration_seconds|seconds)":\s*(-?[\d.e+]+)/g)].map(
    ([words, seconds]) => ({ words, seconds: Number(seconds) }),
  );
  const inMs = [...text.matchAll(/"(?:ms|milliseconds|duration_ms)":\s*(-?[\d.e+]+)/g)].map(
    ([words, ms]) => ({ words, seconds: Number(ms) / 1000 }),
  );
  const wrong = [...told, ...inMs]
    .filter(({ seconds }) => !(seconds >= 0 && seconds <= longest))
    .map(({ words }) => words);
  const negative = [...text.matchAll(/(?<![\w.:-])-\d+(?:\.\d+)? ?(?:ms|s|min|h|d)\b/g)];
  return [...wrong, ...negative.map(([words]) => words)]
    .slice(0, 3)
    .map((what) => ({ kind: "impossible durations", what: `${what} in ${Math.round(tookMs)} ms` }));
}
