/**
 * The team of a soak: one process that lives through all of it, as a dashboard or a run that waits
 * does, and others that are killed every night. Days are like those of people: plans and the flow by
 * turns, answers that come minutes or days later, files edited by hand, a weekend, a clock that
 * somebody sets wrong, and a broom at the end of each week.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { answerDecision } from "../src/activities/answer-decision.ts";
import { look, readState } from "../src/activities/hold.ts";
import type { Ask } from "../src/activities/open-flow.ts";
import type { Decision } from "../src/core/decision.ts";
import { currentRun, openDecisions } from "../src/core/evolve.ts";
import { succeed } from "../src/core/failure.ts";
import { openFeed } from "../src/dashboard/feed.ts";
import { cleanProject } from "../src/project/care.ts";
import { type Random, randomFrom, sleep } from "./rig.ts";
import { buildSession } from "./soak-builds.ts";
import { flowSession } from "./soak-flows.ts";
import { type Death, lastWord, type Order, type Read, SoakWorld } from "./soak-world.ts";

export interface Life extends Order {
  readonly weeks: number;
  /** Sessions of a working day. */
  readonly sessions: number;
}

/** How things stand at the end of a week, with nobody at work. */
export interface Week {
  readonly transitions: number;
  readonly sessions: number;
  readonly deaths: number;
  /** After the garbage is collected. */
  readonly heap: number;
  /** Of all that a dashboard shows, past runs too, as a page gets it: memory is in proportion to that. */
  readonly shown: number;
  readonly descriptors: number;
  readonly children: number;
  readonly listeners: number;
  /** Timers, watchers, pipes. */
  readonly resources: number;
  readonly temporary: readonly string[];
  readonly inbox: number;
  readonly segments: number;
  readonly largestSegment: number;
  readonly journal: number;
  readonly snapshot: number;
  /** Transcripts and files of runs that were set aside, older than what cleaning leaves. */
  readonly stale: readonly string[];
  /** Decisions ever asked, and runs ever begun. */
  readonly decided: number;
  readonly runs: number;
  /** What a look takes that knows nothing yet, and how many transitions it folds. */
  readonly cold: Read;
  readonly folded: number;
  /** The most that had to be folded on the morning after a death. */
  readonly foldedAfterDeath: number;
  /** What a build read before it went on, one of the cheapest quarter. */
  readonly opening: Read;
  readonly told: Told;
}

/** What the program says of itself, to be compared with what the journal says. */
export interface Told {
  readonly seq: number;
  readonly place: string;
  readonly run: string;
  readonly phases: Readonly<Record<string, string>>;
  readonly open: readonly string[];
  readonly answered: Readonly<Record<string, string>>;
  /** By the dashboard, which has been open since the first day. */
  readonly board: number;
}

const hour = 3_600_000;

/** Somebody who works through the night, and does not live to see the morning. */
async function night(order: Order & { readonly death: Death; readonly at: number }): Promise<void> {
  const world = new SoakWorld(order, order.death);
  const random = randomFrom(order.seed, order.at, 3);
  const holder = world.project.world.holder("autodev build docs/plan.md");
  world.afterEach = async () => {
    // Said to one who dies: it must reach nobody else.
    if (random.chance(0.05))
      await world.elsewhere.send(holder, {
        say: "retry",
        phase: "P0",
        by: "somebody",
        at: world.iso,
      });
  };
  for (let session = 0; session < 8; session++) {
    const orders = { random, ask: nobody };
    await (random.chance(0.75) ? buildSession(world, orders) : flowSession(world, orders));
    world.now += hour;
    await answerAll(world);
  }
  world.log({ is: "rested", now: world.now });
}

const nobody: Ask = async () => succeed(undefined);

// ── six weeks ──────────────────────────────────────────────────────────────────────────────────

async function live(life: Life): Promise<Week[]> {
  const world = new SoakWorld(life);
  const feed = openFeed(world.project);
  const weeks: Week[] = [];
  const tally = { sessions: 0, deaths: 0, foldedAfterDeath: 0 };
  let older: string | undefined;

  for (let day = 0; day < life.weeks * 7; day++) {
    const random = randomFrom(life.seed, day, 1);
    const isWeekend = day % 7 >= 5;
    world.now = Math.max(world.now, dawn(life.now, day));
    // On the first working day after the clocks were changed somebody changes his once more.
    const isWrong =
      new Date(world.now - 24 * hour).getTimezoneOffset() !==
      new Date(world.now - 48 * hour).getTimezoneOffset();
    world.afterEach = async () => {
      if (random.chance(0.05)) feed.look();
      if (random.chance(0.01)) await answerAll(world);
    };
    for (let session = 0; session < (isWeekend ? 1 : life.sessions); session++) {
      if (isWrong && session === 1) world.now -= hour;
      await answerAll(world);
      if (random.chance(0.1)) older = editByHand(world, random, older);
      const stopAfter = random.chance(0.2) ? random.between(1, 60) : Infinity;
      const orders = { random, stopAfter, ask: atTheTerminal(world, random) };
      await (random.chance(0.75) ? buildSession(world, orders) : flowSession(world, orders));
      tally.sessions++;
      world.pass(random, 60, 1800);
    }
    if (isWrong) world.now += hour;
    world.afterEach = async () => {};
    const died = dieAtNight(life, world, day, random);
    if (died) {
      tally.deaths++;
      const reading = new SoakWorld({ ...life, now: world.now }).project.store.read();
      if (!reading.ok) throw new Error(reading.failure.message);
      tally.foldedAfterDeath = Math.max(tally.foldedAfterDeath, reading.value.after.length);
    }
    if (day % 7 < 6) continue;
    await buildSession(world, { random, ask: nobody });
    tally.sessions++;
    await sweep(world);
    feed.look();
    await quiet();
    weeks.push(
      measure(life, world, {
        ...tally,
        board: feed.board.seq,
        shown: JSON.stringify(feed.board).length,
      }),
    );
    tally.foldedAfterDeath = 0;
    world.openings = [];
  }
  return weeks;
}

/** Half past seven where the team lives, whatever its clocks are set to that week. */
function dawn(began: number, day: number): number {
  const at = new Date(began);
  at.setDate(at.getDate() + day);
  at.setHours(7, 30, 0, 0);
  return at.getTime();
}

const ways: readonly Death["how"][] = ["before", "torn", "after", "renaming"];

/** Another process, killed with -9 wherever it is; true: it did not come to an end by itself. */
function dieAtNight(life: Life, world: SoakWorld, day: number, random: Random): boolean {
  const death: Death = {
    how: ways[random.below(ways.length)] ?? "after",
    at: random.between(1, 90),
  };
  const { root, log, seed } = life;
  const order = { root, log, seed, now: world.now + hour, death, at: day };
  const { signal, status, stderr } = spawnSync(
    process.execPath,
    [process.argv[1] ?? "", "night", JSON.stringify(order)],
    { encoding: "utf8" },
  );
  if (signal !== "SIGKILL" && status !== 0) throw new Error(`the night ends badly: ${stderr}`);
  const last = lastWord(log);
  if (last?.is !== "died" && last?.is !== "rested") throw new Error("the night has left no word");
  world.now = last.now;
  return last.is === "died";
}

// ── people ─────────────────────────────────────────────────────────────────────────────────────

/** Whoever sits there answers some of it at once. */
const atTheTerminal =
  (world: SoakWorld, random: Random): Ask =>
  async (decision) =>
    succeed(random.chance(0.2) ? choice(world, decision) : undefined);

const choice = (
  world: SoakWorld,
  { id, options, recommendation }: Pick<Decision, "id" | "options" | "recommendation">,
): string => {
  const fate = world.fate("answer", id);
  if (fate.chance(0.5)) return recommendation;
  return options[fate.below(options.length)]?.key ?? recommendation;
};

/** What has been open for long enough: some within minutes, some after a long weekend. */
async function answerAll(world: SoakWorld): Promise<void> {
  const state = readState(world.project);
  if (!state.ok) throw new Error(state.failure.message);
  for (const decision of openDecisions(state.value)) {
    const fate = world.fate("patience", decision.id);
    const patience = fate.chance(0.75) ? fate.between(1, 60) : fate.between(60, 3 * 24 * 60);
    if (world.now < Date.parse(decision.askedAt) + patience * 60_000) continue;
    const key = choice(world, decision);
    const [by, at] = [fate.chance(0.5) ? "ada" : "grace", world.iso];
    if (fate.chance(0.5)) {
      const answered = await answerDecision(world.project, decision.id, {
        key,
        by,
        command: "autodev decide",
      });
      if (!answered.ok && answered.failure.code !== "decision-taken")
        throw new Error(answered.failure.message);
    } else {
      const stands = await world.elsewhere.answer(decision.id, { key, by, at });
      if (!stands.ok) throw new Error(stands.failure.message);
    }
    // Somebody else had another opinion, too late.
    if (!fate.chance(0.3)) continue;
    const second = await world.elsewhere.answer(decision.id, { key: "D", by: "late", at });
    if (second.ok && second.value.by === "late")
      throw new Error(`the second answer to ${decision.id} stands`);
  }
}

/** A line of their own, an older file put back, or no file at all. */
function editByHand(
  world: SoakWorld,
  random: Random,
  older: string | undefined,
): string | undefined {
  const file = path.join(world.project.root, "_docs", "_autodev_state.md");
  if (!fs.existsSync(file)) return older;
  const text = fs.readFileSync(file, "utf8");
  const way = random.below(3);
  if (way === 0) fs.rmSync(file);
  else if (way === 1 && older !== undefined) fs.writeFileSync(file, older);
  else {
    const lines = text.split("\n").filter((line) => !line.startsWith("by-hand:"));
    const after = lines.findIndex((line) => line.startsWith("cycle:"));
    lines.splice(after + 1, 0, `by-hand: ${random.below(1e6)}`);
    fs.writeFileSync(file, lines.join("\n"));
  }
  return text;
}

const keptDays = 7;

/** What is a week old goes. */
async function sweep(world: SoakWorld): Promise<void> {
  const { root, world: own } = world.project;
  const confirm = async () => succeed(undefined);
  const cleaned = await cleanProject(root, { dryRun: false, days: keptDays, confirm }, own);
  if (!cleaned.ok) throw new Error(cleaned.failure.message);
  const [failed] = cleaned.value.failed;
  if (failed) throw new Error(`${failed.thing.name} stays: ${failed.message}`);
}

// ── how things stand ───────────────────────────────────────────────────────────────────────────

function measure(
  life: Life,
  world: SoakWorld,
  tally: Pick<Week, "sessions" | "deaths" | "foldedAfterDeath" | "shown"> & { board: number },
): Week {
  const { root, repository } = world.project;
  const memory = path.join(repository?.commonDir ?? root, "autodev");
  const stranger = new SoakWorld({ ...life, now: world.now });
  const seen = look(stranger.project);
  if (!seen.ok) throw new Error(seen.failure.message);
  const cold = { ...stranger.read };
  const reading = stranger.project.store.read();
  if (!reading.ok) throw new Error(reading.failure.message);
  const { state, head } = seen.value;
  const decisions = Object.values(state.decisions);
  const run = currentRun(state);
  const place = state.flow;
  const segments = filesUnder(path.join(memory, "journal"));
  const { openings } = world;
  // A run that waits for days has a long past, and no build of it is cheap: the cheapest quarter tells.
  const quarter = (of: keyof Read): number =>
    openings.map((each) => each[of]).sort((a, b) => a - b)[openings.length >> 2] ?? 0;
  const told: Told = {
    seq: head.seq,
    place: place
      ? `${place.flow} ${place.step} ${place.status} ${place.retryCount}/3 cycle ${place.cycle}`
      : "nowhere",
    run: run?.id ?? "none",
    phases: Object.fromEntries(
      (run?.phases ?? []).map(({ id, state: { is }, attempts, charged }) => [
        id,
        `${is} ${attempts} ${charged}`,
      ]),
    ),
    open: openDecisions(state)
      .map(({ id }) => id)
      .sort(),
    answered: Object.fromEntries(
      decisions.flatMap(({ id, answer }) => (answer ? [[id, answer.key]] : [])),
    ),
    board: tally.board,
  };
  return {
    transitions: fs.readFileSync(life.log, "utf8").split('"is":"acked"').length - 1,
    sessions: tally.sessions,
    deaths: tally.deaths,
    heap: heapInUse(),
    shown: tally.shown,
    descriptors: fs.readdirSync("/proc/self/fd").length,
    children: fs
      .readFileSync(`/proc/self/task/${process.pid}/children`, "utf8")
      .split(" ")
      .filter(Boolean).length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
    resources: process.getActiveResourcesInfo().length,
    temporary: filesUnder(root).flatMap(({ file }) =>
      path.basename(file).startsWith(".autodev-tmp-") ? [path.relative(root, file)] : [],
    ),
    inbox: filesUnder(path.join(memory, "inbox")).length,
    segments: segments.length,
    largestSegment: Math.max(0, ...segments.map(({ bytes }) => bytes)),
    journal: sum(segments),
    snapshot: fs.statSync(path.join(memory, "snapshot")).size,
    stale: staleIn(memory, world, run?.id),
    decided: decisions.length,
    runs: Object.keys(state.runs ?? {}).length,
    cold,
    folded: reading.value.after.length,
    foldedAfterDeath: tally.foldedAfterDeath,
    opening: {
      snapshot: quarter("snapshot"),
      journal: quarter("journal"),
      answers: quarter("answers"),
      other: quarter("other"),
      files: quarter("files"),
    },
    told,
  };
}

/** What ends by itself has ended. */
async function quiet(): Promise<void> {
  for (let looks = 0; looks < 40; looks++) {
    await sleep(25);
    // Our own pause is a timer too, and is over by now.
    if (process.getActiveResourcesInfo().every((name) => name === "PipeWrap")) return;
  }
}

/** By the clock of this world; what the current run has printed stays. */
function staleIn(memory: string, world: SoakWorld, current: string | undefined): string[] {
  const [transcripts, rescue] = ["transcripts", "rescue"].map((name) => path.join(memory, name));
  const before = world.now - (keptDays + 1) * 24 * hour;
  const printed = filesUnder(transcripts ?? "")
    .map(({ file }) => path.relative(memory, file))
    .filter((file) => file.split(path.sep)[1] !== current)
    .filter((file) => fs.statSync(path.join(memory, file)).mtimeMs < before);
  const stamp = new Date(before).toISOString().replace(/[^0-9A-Za-z]/g, "");
  const aside = fs
    .readdirSync(rescue ?? "")
    .filter((name) => name.startsWith("autobuild-") && name < `autobuild-${stamp}`);
  return [...printed, ...aside];
}

const sum = (files: readonly { readonly bytes: number }[]): number =>
  files.reduce((total, { bytes }) => total + bytes, 0);

function filesUnder(folder: string): { file: string; bytes: number }[] {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => ({ file, bytes: fs.statSync(file).size }));
}

/** Twice: what the first round finalises, the second one frees. */
function heapInUse(): number {
  const { gc } = globalThis as { gc?: () => void };
  if (!gc) throw new Error("run with --expose-gc");
  for (let round = 0; round < 4; round++) gc();
  return process.memoryUsage().heapUsed;
}

const [, , part, text = "{}"] = process.argv;
if (part === "night") void night(JSON.parse(text) as Parameters<typeof night>[0]);
if (part === "live") {
  void live(JSON.parse(text) as Life).then((weeks) => console.log(JSON.stringify(weeks)));
}
