/**
 * One writer at a time, whatever happens to it. Three parts:
 *
 *   races   four contenders for one repository, while the holder of the moment is killed or
 *           stopped and waiters are stopped. Holds never overlap, epochs only grow, a killed
 *           holder is followed within two seconds, and whoever is refused is told by whom.
 *   fences  what if locks do not work at all: a writer is stopped at each of its writes, another
 *           one with a forged lock takes over, then the first goes on. It must not be
 *           acknowledged anything any more, and the history must stay sound.
 *   answers somebody who answers a decision without holding anything is stopped at each write,
 *           while others take the store and answer differently. One answer stands for all.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import type { Writable } from "node:stream";
import { monotonicNow, type Seen, type Told } from "./lock-contender.ts";
import {
  again,
  bundle,
  type Context,
  compileNative,
  ending,
  freshFolder,
  inParallel,
  judged,
  makeRepository,
  noCompiler,
  type Outcome,
  type Plant,
  type Random,
  type Row,
  randomFrom,
  run,
  skipped,
  sleep,
  whenEnding,
} from "./rig.ts";

export const lockRaces: Row = {
  name: "lock-races",
  promise: "one writer at a time, and a writer that was overtaken never writes again",
  budgetSeconds: { ci: 33, full: 1200 },
  run: (context) => race(context),
};

const racesByTier = { ci: 4, full: 1000 };
const contendersInRace = 4;
const blowsInRace = 6;
const longestTakeoverMs = 2000;

export interface RaceOptions {
  readonly plant?: Plant;
  readonly races?: number;
  /** False: no fences and no answers, only races. */
  readonly pauses?: boolean;
}

export async function race(context: Context, options: RaceOptions = {}): Promise<Outcome> {
  const shim = await compileNative("inject");
  if (shim === undefined) return skipped(noCompiler);
  const scratch = freshFolder(context.scratch, "races");
  const template = path.join(scratch, "template");
  await makeRepository(template);
  const program = await bundle(
    "torture/lock-contender.ts",
    options.plant && { plant: options.plant },
  );
  const ring: Ring = { context, options, scratch, template, program };

  const failures: string[] = [];
  const pauses = options.pauses === false ? {} : await allPauses(ring, shim, failures);
  const races = await allRaces(ring, failures);
  return judged({ ...races, ...pauses }, failures);
}

interface Ring {
  readonly context: Context;
  readonly options: RaceOptions;
  readonly scratch: string;
  readonly template: string;
  readonly program: string;
}

/** Whether a case is to be run at all: not past the first failure of a planted bug. */
const wanted = ({ context, options }: Ring, name: string, failures: readonly string[]): boolean =>
  (context.onlyCase === undefined || context.onlyCase === name) &&
  !(options.plant && failures.length > 0);

// ── races ──────────────────────────────────────────────────────────────────────────────────────

interface RaceFigures {
  holds: number;
  kills: number;
  stops: number;
  refusals: number;
  takeoverMs: number;
}

async function allRaces(ring: Ring, failures: string[]): Promise<Outcome["figures"]> {
  const { context, options } = ring;
  const total: RaceFigures = { holds: 0, kills: 0, stops: 0, refusals: 0, takeoverMs: 0 };
  let overlaps = 0;
  const races = options.races ?? racesByTier[context.tier];
  let done = 0;
  for (let number = 1; number <= races; number++) {
    const name = `race-${number}`;
    if (!wanted(ring, name, failures)) continue;
    done++;
    const { figures, problems } = await oneRace(ring, name, randomFrom(context.seed, number));
    total.holds += figures.holds;
    total.kills += figures.kills;
    total.stops += figures.stops;
    total.refusals += figures.refusals;
    total.takeoverMs = Math.max(total.takeoverMs, figures.takeoverMs);
    if (problems.some((problem) => problem.includes("overlap"))) overlaps++;
    if (problems.length > 0) {
      failures.push(
        `${name}: ${problems.join("; ")}; to see it again: ${again(context, lockRaces.name, name)}`,
      );
    }
  }
  return {
    races: done,
    overlaps,
    holds: total.holds,
    "holders killed": total.kills,
    "holders stopped": total.stops,
    "refusals checked": total.refusals,
    "longest takeover": `${Math.round(total.takeoverMs)} ms`,
  };
}

async function oneRace(
  ring: Ring,
  name: string,
  random: Random,
): Promise<{ figures: RaceFigures; problems: string[] }> {
  const folder = path.join(ring.scratch, name);
  const repository = path.join(folder, "repository");
  fs.cpSync(ring.template, repository, { recursive: true });
  const crowd = createCrowd(ring.program, repository, folder, random);
  const problems: string[] = [];
  const blows: Blow[] = [];
  try {
    for (let at = 0; at < contendersInRace; at++) crowd.join();
    if (!(await crowd.nextHold(0, 10_000))) problems.push("nobody ever got the lock");
    for (let blow = 0; blow < blowsInRace && problems.length === 0; blow++) {
      await sleep(random.between(2, 30));
      const struck = await strike(crowd, random);
      if (struck === undefined) {
        problems.push(`nobody holds the lock any more; at last: ${crowd.lastWords()}`);
        break;
      }
      blows.push(struck);
      if (struck.is === "killed") {
        crowd.join();
        if (!(await crowd.nextHold(struck.at, longestTakeoverMs))) {
          problems.push(`nobody followed within ${longestTakeoverMs} ms on a killed contender`);
        }
      }
    }
    problems.push(...(await crowd.disband()));
    const told = await tellHistory(ring.program, repository);
    const judgement = judgeRace(crowd.everyone(), blows);
    problems.push(...judgement.problems, ...missingFrom(told, crowd.everyone()));
    return { figures: judgement.figures, problems };
  } finally {
    crowd.killAll();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** What was done to a contender; moments on the clock that they all share. */
type Blow =
  | { readonly is: "killed"; readonly pid: number; readonly at: number }
  /** It stood still for certain from `from` to `to`. */
  | { readonly is: "stopped"; readonly pid: number; readonly from: number; readonly to: number };

/** Undefined: there was nobody to strike. */
async function strike(crowd: Crowd, random: Random): Promise<Blow | undefined> {
  const holder = await crowd.holderNow();
  if (!holder) return undefined;
  const pick = random.fraction();
  const victim = pick < 0.75 ? holder : crowd.someoneBut(holder, random);
  const kill = (): Blow => {
    // Noted first: it held the lock at least until here.
    const at = monotonicNow();
    victim.process.kill("SIGKILL");
    victim.killedAt = at;
    return { is: "killed", pid: victim.pid, at };
  };
  if (pick < 0.4) return kill();
  victim.process.kill("SIGSTOP");
  await untilStopped(victim.pid);
  const from = monotonicNow();
  await sleep(random.between(20, 80));
  if (random.chance(0.2)) return kill();
  const to = monotonicNow();
  victim.process.kill("SIGCONT");
  return { is: "stopped", pid: victim.pid, from, to };
}

interface Hold {
  readonly pid: number;
  readonly epoch: number;
  readonly from: number;
  readonly to: number;
}

/**
 * A hold is known from after it was got until before it was let go (or its holder was killed):
 * a part of the real one. So parts that overlap are holds that overlap.
 */
function holdsOf({ pid, seen, killedAt }: Contender): Hold[] {
  const holds: Hold[] = [];
  for (const [at, entry] of seen.entries()) {
    if (entry.is !== "held") continue;
    const end = seen.slice(at + 1).find((later) => later.is === "releasing");
    const to = end?.is === "releasing" ? end.at : (killedAt ?? entry.at);
    holds.push({ pid, epoch: entry.epoch, from: entry.at, to: Math.max(entry.at, to) });
  }
  return holds;
}

function judgeRace(
  everyone: readonly Contender[],
  blows: readonly Blow[],
): { figures: RaceFigures; problems: string[] } {
  const holds = everyone.flatMap(holdsOf).sort((a, b) => a.from - b.from);
  const refusals = judgeRefusals(everyone, holds, blows);
  const struck = judgeBlows(holds, blows);
  const problems = [...judgeOrder(holds), ...struck.problems, ...refusals.problems];
  for (const { pid, seen } of everyone) {
    for (const entry of seen) {
      if (entry.is !== "not-acked") continue;
      problems.push(`${pid} held, but could not append: ${entry.code}`);
    }
  }
  return {
    figures: { holds: holds.length, refusals: refusals.checked, ...struck.figures },
    problems: [...new Set(problems)].slice(0, 5),
  };
}

/** One after the other, in the order of their epochs. */
function judgeOrder(holds: readonly Hold[]): string[] {
  const problems: string[] = [];
  for (const [at, hold] of holds.entries()) {
    const earlier = holds.slice(0, at);
    const overlapping = earlier.find(({ to }) => to > hold.from);
    if (overlapping) problems.push(`holds overlap: ${show(overlapping)} and ${show(hold)}`);
    const before = earlier.at(-1);
    if (before && hold.epoch <= before.epoch) {
      problems.push(`epoch ${hold.epoch} came after epoch ${before.epoch}`);
    }
  }
  return problems;
}

/** A killed holder is followed; a stopped one is not. */
function judgeBlows(
  holds: readonly Hold[],
  blows: readonly Blow[],
): { figures: Pick<RaceFigures, "kills" | "stops" | "takeoverMs">; problems: string[] } {
  const figures = { kills: 0, stops: 0, takeoverMs: 0 };
  const problems: string[] = [];
  const held = (pid: number, moment: number): boolean =>
    holds.some((hold) => hold.pid === pid && hold.from <= moment && moment <= hold.to);
  for (const blow of blows) {
    if (!held(blow.pid, blow.is === "killed" ? blow.at : blow.from)) continue;
    if (blow.is === "killed") {
      figures.kills++;
      const next = holds.find((hold) => hold.from > blow.at);
      if (next) figures.takeoverMs = Math.max(figures.takeoverMs, (next.from - blow.at) / 1e6);
    } else {
      figures.stops++;
      const intruder = holds.find(
        ({ pid, from }) => pid !== blow.pid && blow.from < from && from < blow.to,
      );
      if (intruder) problems.push(`${show(intruder)} began while ${blow.pid} held and was stopped`);
    }
  }
  return { figures, problems };
}

/** Whoever is refused is told who holds it, and whether that one is stopped. */
function judgeRefusals(
  everyone: readonly Contender[],
  holds: readonly Hold[],
  blows: readonly Blow[],
): { checked: number; problems: string[] } {
  let checked = 0;
  const problems: string[] = [];
  for (const { pid, seen } of everyone) {
    for (const entry of seen) {
      if (entry.is !== "refused") continue;
      const { asked, at, code, message } = entry;
      if (code !== "locked") problems.push(`${pid} was refused by ${code}: ${message}`);
      // Only a refusal that lies wholly within one hold has one right message.
      const during = holds.find((hold) => hold.from < asked && at < hold.to);
      if (code !== "locked" || !during) continue;
      checked++;
      if (!message.includes(`process ${during.pid} `)) {
        problems.push(`the refusal does not name ${during.pid}: ${message}`);
      }
      const stopped = blows.some(
        (blow) =>
          blow.is === "stopped" && blow.pid === during.pid && blow.from < asked && at < blow.to,
      );
      if (stopped && !message.includes("which is stopped")) {
        problems.push(`the refusal does not say that its holder is stopped: ${message}`);
      }
    }
  }
  return { checked, problems };
}

const show = ({ pid, epoch, from, to }: Hold): string =>
  `${pid} in epoch ${epoch} (${Math.round(from / 1e3)} to ${Math.round(to / 1e3)} µs)`;

// ── contenders ─────────────────────────────────────────────────────────────────────────────────

interface Contender {
  readonly pid: number;
  readonly process: ChildProcessByStdio<Writable, null, null>;
  /** With its exit code; null: it was killed. */
  readonly ended: Promise<number | null>;
  /** All that it has written down so far. */
  readonly seen: readonly Seen[];
  killedAt: number | undefined;
}

interface Crowd {
  join(): void;
  everyone(): readonly Contender[];
  /** Waits for somebody who holds the lock, as far as one can tell from outside. */
  holderNow(): Promise<Contender | undefined>;
  someoneBut(other: Contender, random: Random): Contender;
  lastWords(): string;
  /** Whether somebody began to hold after `moment`, within so many milliseconds of now. */
  nextHold(moment: number, withinMs: number): Promise<boolean>;
  /** Lets all come to their end; what is wrong with that. */
  disband(): Promise<string[]>;
  killAll(): void;
}

function createCrowd(program: string, repository: string, folder: string, random: Random): Crowd {
  const contenders: Contender[] = [];
  const stopFile = path.join(folder, "stop");
  const alive = (): Contender[] => contenders.filter(({ killedAt }) => killedAt === undefined);
  const killAll = (): void => {
    for (const { process: child } of contenders) child.kill("SIGKILL");
  };
  const forget = whenEnding(killAll);
  return {
    everyone: () => contenders,
    killAll() {
      killAll();
      forget();
    },
    join() {
      const seed = random.below(1_000_000);
      const log = path.join(folder, `${contenders.length}.log`);
      contenders.push(start(program, ["contend", repository, log, String(seed), stopFile], log));
    },
    async holderNow() {
      const holds = ({ seen }: Contender): boolean =>
        seen.findLast(({ is }) => is === "held" || is === "releasing")?.is === "held";
      // Remembered as found: a moment later it may have let go.
      let holder: Contender | undefined;
      await until(
        () => {
          holder = alive().find(holds);
          return holder !== undefined;
        },
        patienceMs,
        1,
      );
      return holder;
    },
    lastWords: () =>
      alive()
        .map(({ pid, seen }) => `${pid} (${stateOf(pid)}) ${JSON.stringify(seen.at(-1))}`)
        .join(", "),
    someoneBut(other, random) {
      const others = alive().filter((contender) => contender !== other);
      return others[random.below(others.length)] ?? other;
    },
    async nextHold(moment, withinMs) {
      const deadline = monotonicNow() + withinMs * 1e6;
      const inTime = (entry: Seen): boolean =>
        entry.is === "held" && entry.at > moment && entry.at < deadline;
      return until(() => contenders.some(({ seen }) => seen.some(inTime)), withinMs);
    },
    async disband() {
      fs.writeFileSync(stopFile, "");
      for (const { process: child } of alive()) child.kill("SIGCONT");
      const problems: string[] = [];
      let left = alive().length;
      for (const { pid, ended } of alive()) {
        void ended.then((code) => {
          left--;
          if (code !== 0) problems.push(`contender ${pid} ended by itself with ${code}`);
        });
      }
      const inTime = await until(() => left === 0);
      return inTime ? problems : [...problems, "a contender hangs"];
    },
  };
}

/** `seen` is read from the log when it is looked at, as far as whole lines go. */
function start(
  program: string,
  args: readonly string[],
  log: string,
  env: Readonly<Record<string, string>> = {},
): Contender {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, ...env },
    stdio: ["pipe", "ignore", "inherit"],
  });
  child.stdin.on("error", () => {});
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const lines = createTail(log);
  return {
    pid: child.pid ?? 0,
    process: child,
    ended,
    killedAt: undefined,
    get seen() {
      return lines();
    },
  };
}

function createTail(log: string): () => readonly Seen[] {
  const seen: Seen[] = [];
  let offset = 0;
  let rest = "";
  return () => {
    if (!fs.existsSync(log)) return seen;
    const fd = fs.openSync(log, "r");
    try {
      const bytes = Buffer.alloc(fs.fstatSync(fd).size - offset);
      offset += fs.readSync(fd, bytes, 0, bytes.length, offset);
      rest += bytes.toString();
    } finally {
      fs.closeSync(fd);
    }
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) seen.push(JSON.parse(line) as Seen);
    return seen;
  };
}

const patienceMs = 10_000;

/** Whether it came to be so in time. */
async function until(so: () => boolean, withinMs = patienceMs, everyMs = 2): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!so()) {
    if (performance.now() > deadline) return false;
    await sleep(everyMs);
  }
  return true;
}

/** False: it did not, and will not. */
async function untilStopped(pid: number): Promise<boolean> {
  await until(() => ["T", "Z", undefined].includes(stateOf(pid)), patienceMs, 1);
  return stateOf(pid) === "T";
}

function stateOf(pid: number): string | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3);
  } catch {
    return undefined;
  }
}

async function tellHistory(program: string, repository: string): Promise<Told> {
  const ran = await run([process.execPath, program, "history", repository]);
  if (ran.code !== 0) return { texts: [], problem: `the history cannot be read: ${ending(ran)}` };
  return JSON.parse(ran.stdout) as Told;
}

/** What was acknowledged is in the history, once. */
function missingFrom({ texts, problem }: Told, everyone: readonly Contender[]): string[] {
  if (problem !== undefined) return [`the history is not sound: ${problem}`];
  const problems: string[] = [];
  for (const { seen } of everyone) {
    for (const entry of seen) {
      if (entry.is !== "acked") continue;
      const times = texts.filter((text) => text === entry.text).length;
      if (times !== 1)
        problems.push(`acknowledged, but in the history ${times} times: ${entry.text}`);
    }
  }
  return problems;
}

// ── pauses: fences and answers ─────────────────────────────────────────────────────────────────

/** Where somebody stands still while others go on. */
interface Pause {
  readonly number: number;
  readonly side: "before" | "after";
}

interface PauseCase {
  readonly name: string;
  readonly template: string;
  readonly pause?: Pause;
  readonly play: (stage: Stage) => Promise<{ problems: string[]; refused: number }>;
}

async function allPauses(
  ring: Ring,
  shim: string,
  failures: string[],
): Promise<Outcome["figures"]> {
  const empty = await templateWith(ring, "empty", 0);
  const begun = await templateWith(ring, "begun", 2);
  const pausesIn = async (template: string, args: readonly string[]): Promise<Pause[]> =>
    everyPause(ring, await countWrites(ring, shim, template, args));

  const cases: PauseCase[] = [];
  for (const [kind, template] of [
    // A first segment begins differently from a later one.
    ["empty", empty],
    ["begun", begun],
  ] as const) {
    cases.push({ name: `fence-${kind}`, template, play: playFence });
    for (const pause of await pausesIn(template, ["write", "alone"])) {
      cases.push({ name: `fence-${kind}-${nameOf(pause)}`, template, pause, play: playFence });
    }
  }
  for (const pause of await pausesIn(empty, ["answer", "A"])) {
    cases.push({ name: `answer-${nameOf(pause)}`, template: empty, pause, play: playAnswers });
  }

  const done = { fence: 0, answer: 0, refused: 0, broken: 0 };
  await inParallel(cases, async ({ name, template, pause, play }) => {
    if (!wanted(ring, name, failures)) return;
    const stage = createStage(ring, name, template, shim, pause);
    try {
      const { problems, refused } = await play(stage);
      done[play === playFence ? "fence" : "answer"]++;
      done.refused += refused;
      if (problems.length === 0) return;
      done.broken++;
      const repeat = again(ring.context, lockRaces.name, name);
      failures.push(`${name}: ${problems.join("; ")}; to see it again: ${repeat}`);
    } finally {
      stage.clear();
    }
  });
  return {
    fences: done.fence,
    "late writes refused": done.refused,
    answers: done.answer,
    broken: done.broken,
  };
}

const nameOf = ({ number, side }: Pause): string => `${number}-${side}`;

function everyPause({ context }: Ring, writes: number): Pause[] {
  const pauses: Pause[] = [];
  for (let number = 1; number <= writes; number++) {
    pauses.push({ number, side: "before" });
    // After one write is nearly before the next: the short tier needs it only at the end.
    if (context.tier === "full" || number === writes) pauses.push({ number, side: "after" });
  }
  return pauses;
}

async function templateWith(ring: Ring, name: string, transitions: number): Promise<string> {
  const repository = path.join(ring.scratch, `template-${name}`);
  fs.cpSync(ring.template, repository, { recursive: true });
  const log = path.join(ring.scratch, `${name}.log`);
  if (transitions > 0) {
    const argv = [process.execPath, ring.program, "write", repository, log, "before"];
    const ran = await run(argv, { input: "append\n".repeat(transitions) });
    if (ran.code !== 0) throw new Error(`no history can be begun: ${ending(ran)}`);
  }
  return repository;
}

async function countWrites(
  ring: Ring,
  shim: string,
  template: string,
  [mode = "", ...args]: readonly string[],
): Promise<number> {
  const folder = freshFolder(ring.scratch, "counted");
  const repository = path.join(folder, "repository");
  fs.cpSync(template, repository, { recursive: true });
  const writes = path.join(folder, "writes");
  const log = path.join(folder, "log");
  const ran = await run([process.execPath, ring.program, mode, repository, log, ...args], {
    input: "append\nappend\n",
    env: { LD_PRELOAD: shim, FI_ROOT: repository, FI_LOG: writes },
  });
  if (ran.code !== 0) throw new Error(`${mode} alone does not come to its end: ${ending(ran)}`);
  return fs.readFileSync(writes, "utf8").split("\n").length - 1;
}

/** One repository and those who act in it. */
interface Stage {
  readonly pause: Pause | undefined;
  /** `paused`: by the shim, at the write where this case wants it. */
  enter(who: string, argv: readonly string[], paused?: "paused"): Contender;
  everyone(): readonly Contender[];
  told(): Promise<Told>;
  journalBytes(): number;
  clear(): void;
}

function createStage(
  ring: Ring,
  name: string,
  template: string,
  shim: string | undefined,
  pause: Pause | undefined,
): Stage {
  const folder = path.join(ring.scratch, name);
  const repository = path.join(folder, "repository");
  fs.cpSync(template, repository, { recursive: true });
  const actors: Contender[] = [];
  const killAll = (): void => {
    for (const { process: child } of actors) child.kill("SIGKILL");
  };
  const forget = whenEnding(killAll);
  return {
    pause,
    everyone: () => actors,
    told: () => tellHistory(ring.program, repository),
    journalBytes: () => bytesIn(path.join(repository, ".git", "autodev", "journal")),
    enter(who, [mode = "", ...args], paused) {
      const log = path.join(folder, `${who}.log`);
      const orders = paused &&
        shim !== undefined &&
        pause && {
          LD_PRELOAD: shim,
          FI_ROOT: repository,
          FI_AT: String(pause.number),
          FI_MODE: `stop-${pause.side}`,
        };
      const actor = start(ring.program, [mode, repository, log, ...args], log, orders || {});
      actors.push(actor);
      return actor;
    },
    clear() {
      killAll();
      forget();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

const bytesIn = (folder: string): number =>
  fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => fs.statSync(path.join(folder, file)))
    .reduce((bytes, stat) => bytes + (stat.isFile() ? stat.size : 0), 0);

async function playFence(stage: Stage): Promise<{ problems: string[]; refused: number }> {
  const acksOf = (seen: readonly Seen[]): Seen[] => seen.filter(({ is }) => is === "acked");
  const first = stage.enter("first", ["write", "first"], "paused");
  first.process.stdin.write("append\n");
  if (stage.pause) {
    first.process.stdin.write("append\n");
    if (!(await untilStopped(first.pid))) return { problems: ["it never stopped"], refused: 0 };
  } else {
    await until(() => acksOf(first.seen).length === 1);
  }
  const before = first.seen.length;

  const second = stage.enter("second", ["write", "second", "--forged"]);
  second.process.stdin.write("append\nappend\n");
  await until(() => second.seen.length === 3 || stateOf(second.pid) === undefined);

  const bytes = stage.journalBytes();
  first.process.kill("SIGCONT");
  first.process.stdin.end("append\n");
  await first.ended;
  const problems: string[] = [];
  // Paused in the middle of a write, it may still end that one; otherwise it sees the newer epoch.
  if (!stage.pause && stage.journalBytes() !== bytes) problems.push("overtaken, it still wrote");
  second.process.stdin.end("append\n");
  await second.ended;

  problems.push(...judgeFence(first.seen, first.seen.slice(before), second.seen));
  problems.push(...missingFrom(await stage.told(), stage.everyone()));
  const all = [...first.seen, ...second.seen];
  return { problems, refused: all.filter(({ is }) => is === "not-acked").length };
}

/** Of two that both believe to hold the store, the one with the older epoch is refused. */
function judgeFence(
  first: readonly Seen[],
  firstLate: readonly Seen[],
  second: readonly Seen[],
): string[] {
  const epochOf = (seen: readonly Seen[]): number | undefined =>
    seen.flatMap((entry) => (entry.is === "held" ? [entry.epoch] : []))[0];
  const acked = (seen: readonly Seen[]): string[] =>
    seen.flatMap((entry) => (entry.is === "acked" ? [entry.text] : []));
  const fenced = (seen: readonly Seen[]): boolean =>
    seen.some((entry) => entry.is === "not-acked" && entry.code === "journal-fenced");

  const [firstEpoch, secondEpoch] = [epochOf(first), epochOf(second)];
  if (secondEpoch === undefined || acked(second).length < 2) {
    return [`the second writer got nowhere: ${JSON.stringify(second)}`];
  }
  // Overtaken while it was opening, it may as well be told so at once.
  if (firstEpoch === undefined) {
    const told = first.some((entry) => entry.is === "refused" && entry.code === "journal-fenced");
    return told ? [] : [`the first writer never got its session: ${JSON.stringify(first)}`];
  }
  if (firstEpoch === secondEpoch) return [`both have epoch ${firstEpoch}`];
  const [overtaken, late] = firstEpoch < secondEpoch ? ["first", firstLate] : ["second", second];
  const problems: string[] = [];
  if (overtaken === "first" && acked(late).length > 0) {
    problems.push(`overtaken, and still acknowledged: ${acked(late).join(", ")}`);
  }
  if (!fenced(late)) {
    problems.push(`the ${overtaken} writer was overtaken and not told so: ${JSON.stringify(late)}`);
  }
  return problems;
}

async function playAnswers(stage: Stage): Promise<{ problems: string[]; refused: number }> {
  const slow = stage.enter("slow", ["answer", "A"], "paused");
  if (!(await untilStopped(slow.pid))) return { problems: ["it never stopped"], refused: 0 };
  const quick = stage.enter("quick", ["answer", "B", "--hold-first"]);
  await quick.ended;
  slow.process.kill("SIGCONT");
  await slow.ended;

  const stands = (await stage.told()).answer;
  const problems: string[] = [];
  for (const { seen } of stage.everyone()) {
    const answered = seen.find(({ is }) => is === "answered");
    if (answered?.is !== "answered") {
      problems.push(`an answer was refused: ${JSON.stringify(seen)}`);
    } else if (answered.stands !== stands) {
      problems.push(`told that ${answered.stands} stands, but it is ${stands}`);
    }
  }
  return { problems, refused: 0 };
}
