/**
 * One writer at a time, whatever happens to it. Two parts:
 *
 *   races   four contenders for one repository, while the holder of the moment is killed or
 *           stopped and waiters are stopped. Holds never overlap, epochs only grow, a killed
 *           holder is followed within two seconds, and whoever is refused is told by whom.
 *   fences  what if locks do not work at all: a writer is stopped at each of its writes, another
 *           one with a forged lock takes over, then the first goes on. It must not be
 *           acknowledged anything any more, and the history must stay sound.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
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
  type Outcome,
  type Plant,
  type Random,
  type Row,
  randomFrom,
  run,
  sleep,
  whenEnding,
} from "./rig.ts";

export const lockRaces: Row = {
  name: "lock-races",
  promise: "one writer at a time, and a writer that was overtaken never writes again",
  budgetSeconds: { ci: 40, full: 150 },
  run: (context) => race(context),
};

const racesByTier = { ci: 25, full: 100 };
const contendersInRace = 4;
const blowsInRace = 6;
const longestTakeoverMs = 2000;

export interface RaceOptions {
  readonly plant?: Plant;
  readonly races?: number;
}

export async function race(context: Context, options: RaceOptions = {}): Promise<Outcome> {
  const scratch = freshFolder(context.scratch, "races");
  const template = path.join(scratch, "template");
  await makeRepository(template);
  const program = await bundle(
    "torture/lock-contender.ts",
    options.plant && { plant: options.plant },
  );
  const ring: Ring = { context, options, scratch, template, program };

  const failures: string[] = [];
  const fences = await allFences(ring, failures);
  const races = await allRaces(ring, failures);
  return judged({ ...races, ...fences }, failures);
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
  const overlaps = { races: 0 };
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
    if (problems.some((problem) => problem.includes("overlap"))) overlaps.races++;
    if (problems.length > 0) {
      failures.push(
        `${name}: ${problems.join("; ")}; to see it again: ${again(context, lockRaces.name, name)}`,
      );
    }
  }
  return {
    races: done,
    overlaps: overlaps.races,
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

async function strike(crowd: Crowd, random: Random): Promise<Blow> {
  const holder = await crowd.holderNow();
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
  const problems: string[] = [];
  const holds = everyone.flatMap(holdsOf).sort((a, b) => a.from - b.from);
  const figures: RaceFigures = {
    holds: holds.length,
    kills: 0,
    stops: 0,
    refusals: 0,
    takeoverMs: 0,
  };

  for (const [at, hold] of holds.entries()) {
    const before = holds[at - 1];
    if (!before) continue;
    if (holds.slice(0, at).some((earlier) => earlier.to > hold.from)) {
      problems.push(`holds overlap: ${show(before)} and ${show(hold)}`);
    }
    if (hold.epoch <= before.epoch) {
      problems.push(`epoch ${hold.epoch} came after epoch ${before.epoch}`);
    }
  }

  const heldAt = (pid: number, moment: number): Hold | undefined =>
    holds.find((hold) => hold.pid === pid && hold.from <= moment && moment <= hold.to);
  for (const blow of blows) {
    if (blow.is === "killed" && heldAt(blow.pid, blow.at)) {
      figures.kills++;
      const next = holds.find((hold) => hold.from > blow.at);
      if (next) figures.takeoverMs = Math.max(figures.takeoverMs, (next.from - blow.at) / 1e6);
    }
    if (blow.is === "stopped" && heldAt(blow.pid, blow.from)) {
      figures.stops++;
      const intruder = holds.find(
        (hold) => hold.pid !== blow.pid && blow.from < hold.from && hold.from < blow.to,
      );
      if (intruder)
        problems.push(`${show(intruder)} began while its holder ${blow.pid} was stopped`);
    }
  }

  for (const { seen, pid } of everyone) {
    for (const entry of seen) {
      if (entry.is === "not-acked")
        problems.push(`${pid} held, but could not append: ${entry.code}`);
      if (entry.is !== "refused") continue;
      if (entry.code !== "locked") {
        problems.push(`${pid} was refused by ${entry.code}: ${entry.message}`);
        continue;
      }
      // Only a refusal that lies wholly within one hold has one right message.
      const during = holds.find((hold) => hold.from < entry.asked && entry.at < hold.to);
      if (!during) continue;
      figures.refusals++;
      if (!entry.message.includes(`process ${during.pid} `)) {
        problems.push(`the refusal does not name ${during.pid}: ${entry.message}`);
      }
      const stopped = blows.some(
        (blow) =>
          blow.is === "stopped" &&
          blow.pid === during.pid &&
          blow.from < entry.asked &&
          entry.at < blow.to,
      );
      if (stopped && !entry.message.includes("which is stopped")) {
        problems.push(`the refusal does not say that its holder is stopped: ${entry.message}`);
      }
    }
  }
  return { figures, problems: [...new Set(problems)].slice(0, 5) };
}

const show = ({ pid, epoch, from, to }: Hold): string =>
  `${pid} in epoch ${epoch} (${Math.round(from / 1e3)} to ${Math.round(to / 1e3)} µs)`;

// ── contenders ─────────────────────────────────────────────────────────────────────────────────

interface Contender {
  readonly pid: number;
  readonly process: ChildProcessWithoutNullStreams;
  readonly ended: Promise<void>;
  /** All that it has written down so far. */
  readonly seen: readonly Seen[];
  killedAt: number | undefined;
}

interface Crowd {
  join(): void;
  everyone(): readonly Contender[];
  /** Waits for somebody who holds the lock, as far as one can tell from outside. */
  holderNow(): Promise<Contender>;
  someoneBut(other: Contender, random: Random): Contender;
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
      for (;;) {
        const last = alive().find(({ seen }) => {
          const turn = seen.filter(({ is }) => is === "held" || is === "releasing").at(-1);
          return turn?.is === "held";
        });
        if (last) return last;
        await sleep(1);
      }
    },
    someoneBut(other, random) {
      const others = alive().filter((contender) => contender !== other);
      return others[random.below(others.length)] ?? other;
    },
    async nextHold(moment, withinMs) {
      const deadline = monotonicNow() + withinMs * 1e6;
      for (;;) {
        const found = contenders.some(({ seen }) =>
          seen.some((entry) => entry.is === "held" && entry.at > moment && entry.at < deadline),
        );
        if (found) return true;
        if (monotonicNow() > deadline) return false;
        await sleep(2);
      }
    },
    async disband() {
      fs.writeFileSync(stopFile, "");
      for (const { process: child } of alive()) child.kill("SIGCONT");
      const all = Promise.all(contenders.map(({ ended }) => ended)).then(() => true);
      const inTime = await Promise.race([all, sleep(10_000).then(() => false)]);
      return inTime ? [] : ["a contender hangs"];
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
  const child = spawn(process.execPath, [program, ...args], { env: { ...process.env, ...env } });
  child.stdin.on("error", () => {});
  child.stderr.pipe(process.stderr);
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
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

async function untilStopped(pid: number): Promise<"stopped" | "ended"> {
  for (;;) {
    const state = stateOf(pid);
    if (state === "T") return "stopped";
    if (state === undefined || state === "Z") return "ended";
    await sleep(1);
  }
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

// ── fences ─────────────────────────────────────────────────────────────────────────────────────

/** Where the first writer stands still while the other one takes over. */
interface Pause {
  readonly number: number;
  readonly side: "before" | "after";
}

async function allFences(ring: Ring, failures: string[]): Promise<Outcome["figures"]> {
  const shim = await compileNative("inject");
  const cases: { name: string; repository: string; pause?: Pause }[] = [];
  for (const kind of ["empty", "begun"] as const) {
    const repository = await fenceTemplate(ring, kind);
    cases.push({ name: `fence-${kind}`, repository });
    if (shim === undefined) continue;
    const writes = await countWrites(ring, shim, repository);
    for (let number = 1; number <= writes; number++) {
      // After one write is nearly before the next: the short tier takes the other side at the end.
      const both = ring.context.tier === "full" || number === writes;
      for (const side of both ? (["before", "after"] as const) : (["before"] as const)) {
        cases.push({
          name: `fence-${kind}-${number}-${side}`,
          repository,
          pause: { number, side },
        });
      }
    }
  }
  let done = 0;
  let refused = 0;
  let broken = 0;
  await inParallel(cases, async ({ name, repository, pause }) => {
    if (!wanted(ring, name, failures)) return;
    const fence = await oneFence(ring, name, repository, shim, pause);
    done++;
    refused += fence.refused;
    if (fence.problems.length === 0) return;
    broken++;
    const repeat = again(ring.context, lockRaces.name, name);
    failures.push(`${name}: ${fence.problems.join("; ")}; to see it again: ${repeat}`);
  });
  return { fences: done, "late writes refused": refused, "fences broken": broken };
}

/** Without any history, or with a little: a first segment begins differently from a later one. */
async function fenceTemplate(ring: Ring, kind: "empty" | "begun"): Promise<string> {
  const repository = path.join(ring.scratch, `fence-${kind}`);
  fs.cpSync(ring.template, repository, { recursive: true });
  if (kind === "begun") await writeAlone(ring, repository, "before");
  return repository;
}

async function writeAlone(
  ring: Ring,
  repository: string,
  name: string,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const log = path.join(ring.scratch, `${path.basename(repository)}-${name}.log`);
  const argv = [process.execPath, ring.program, "write", repository, log, name];
  const ran = await run(argv, { input: "append\nappend\n", env });
  if (ran.code !== 0) throw new Error(`a writer alone does not come to its end: ${ending(ran)}`);
}

async function countWrites(ring: Ring, shim: string, template: string): Promise<number> {
  const repository = freshFolder(ring.scratch, "counted");
  fs.cpSync(template, repository, { recursive: true });
  const log = path.join(ring.scratch, `${path.basename(repository)}.writes`);
  await writeAlone(ring, repository, "alone", {
    LD_PRELOAD: shim,
    FI_ROOT: repository,
    FI_LOG: log,
  });
  return fs.readFileSync(log, "utf8").split("\n").length - 1;
}

async function oneFence(
  ring: Ring,
  name: string,
  template: string,
  shim: string | undefined,
  pause: Pause | undefined,
): Promise<{ problems: string[]; refused: number }> {
  const folder = path.join(ring.scratch, `${name}-case`);
  const repository = path.join(folder, "repository");
  fs.cpSync(template, repository, { recursive: true });
  const begin = (
    who: string,
    forged: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Contender => {
    const log = path.join(folder, `${who}.log`);
    return start(ring.program, ["write", repository, log, who, ...forged], log, env);
  };
  const writers: Contender[] = [];
  const forget = whenEnding(() => {
    for (const { process: child } of writers) child.kill("SIGKILL");
  });
  try {
    const first = begin("first", [], {
      ...(shim !== undefined &&
        pause && {
          LD_PRELOAD: shim,
          FI_ROOT: repository,
          FI_AT: String(pause.number),
          FI_MODE: `stop-${pause.side}`,
        }),
    });
    writers.push(first);
    first.process.stdin.write("append\n");
    if (pause) {
      first.process.stdin.write("append\n");
      if ((await untilStopped(first.pid)) === "ended")
        return { problems: ["it never stopped"], refused: 0 };
    } else {
      await said(first, "acked", 1);
    }
    const before = first.seen.length;

    const second = begin("second", ["--forged"]);
    writers.push(second);
    second.process.stdin.write("append\nappend\n");
    await said(second, "acked", 2);

    first.process.kill("SIGCONT");
    first.process.stdin.end("append\n");
    await first.ended;
    second.process.stdin.end("append\n");
    await second.ended;

    const problems = judgeFence(first, before, second);
    problems.push(...missingFrom(await tellHistory(ring.program, repository), writers));
    const refused = writers.flatMap(({ seen }) => seen).filter(({ is }) => is === "not-acked");
    return { problems, refused: refused.length };
  } finally {
    for (const { process: child } of writers) child.kill("SIGKILL");
    forget();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Until it has written that down so often, or has ended. */
async function said(writer: Contender, is: Seen["is"], times: number): Promise<void> {
  let over = false;
  void writer.ended.then(() => {
    over = true;
  });
  while (!over && writer.seen.filter((entry) => entry.is === is).length < times) await sleep(2);
}

/** Of two that both believe to hold the store, the one with the older epoch is refused. */
function judgeFence(first: Contender, before: number, second: Contender): string[] {
  const epochOf = ({ seen }: Contender): number | undefined => {
    const held = seen.find((entry) => entry.is === "held");
    return held?.is === "held" ? held.epoch : undefined;
  };
  const acksOf = (seen: readonly Seen[]): Seen[] => seen.filter(({ is }) => is === "acked");
  const [firstEpoch, secondEpoch] = [epochOf(first), epochOf(second)];
  const problems: string[] = [];
  if (secondEpoch === undefined || acksOf(second.seen).length < 2) {
    problems.push(`the second writer got nowhere: ${JSON.stringify(second.seen)}`);
  } else if (firstEpoch === undefined) {
    problems.push(`the first writer never got its session: ${JSON.stringify(first.seen)}`);
  } else if (firstEpoch < secondEpoch) {
    const late = first.seen.slice(before);
    if (acksOf(late).length > 0) {
      problems.push(`overtaken, and still acknowledged: ${JSON.stringify(acksOf(late))}`);
    }
    if (!late.some((entry) => entry.is === "not-acked" && entry.code === "journal-fenced")) {
      problems.push(`overtaken, and not told so: ${JSON.stringify(late)}`);
    }
  } else if (firstEpoch === secondEpoch) {
    problems.push(`both have epoch ${firstEpoch}`);
  }
  return problems;
}
