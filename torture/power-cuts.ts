/**
 * Power cuts on real file systems: the canonical run on a loop-mounted ext4 and xfs, cut by the
 * shutdown ioctl, after which nothing reaches the disk any more. Then the file system is mounted
 * again, as after a power failure, and what was acknowledged before the cut must be there.
 *
 * One volume serves all cuts of a file system, with a fresh repository each: a cut costs two
 * mounts and four short programs. Needs root, loop devices and the mkfs of the file system.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import {
  type Breach,
  canonicalProgram,
  compare,
  count,
  finish,
  highestAck,
  newTally,
  runInjected,
  runUndisturbed,
  type Tally,
  transitionsInAll,
  type Undisturbed,
  verify,
} from "./kill-sweep.ts";
import {
  again,
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

export const powerCuts: Row = {
  name: "power-cuts",
  promise: "what was acknowledged survives a power cut on ext4 and on xfs",
  budgetSeconds: { ci: 5, full: 1300 },
  run: (context) => cutPower(context),
};

const cutsByTier = { ci: 3, full: 1000 };

export const fileSystems: readonly FileSystem[] = [
  { name: "ext4", megabytes: 64, mkfs: ["mkfs.ext4", "-q", "-F"] },
  { name: "xfs", megabytes: 320, mkfs: ["mkfs.xfs", "-q", "-f"] },
];

export interface FileSystem {
  readonly name: string;
  readonly megabytes: number;
  readonly mkfs: readonly [string, ...string[]];
}

export interface PowerCutOptions {
  readonly plant?: Plant;
  /** On each file system. */
  readonly cuts?: number;
  readonly program?: string;
}

export async function cutPower(context: Context, options: PowerCutOptions = {}): Promise<Outcome> {
  const [shim, godown] = await Promise.all([compileNative("inject"), compileNative("godown")]);
  if (shim === undefined || godown === undefined) return skipped(noCompiler);
  const scratch = freshFolder(context.scratch, "power");
  const template = path.join(scratch, "template");
  await makeRepository(template);
  const canonical = await canonicalProgram(options);
  const bench: Bench = { context, options, scratch, template, shim, godown, canonical };

  const tally = newTally();
  const cuts: Record<string, number | string> = {};
  const reasons: string[] = [];
  let inFlight = 0;
  await inParallel(fileSystems, async (fileSystem) => {
    const reason = await whyNot(fileSystem);
    if (reason !== undefined) {
      reasons.push(reason);
      if (context.tier === "full") tally.failures.push(`${fileSystem.name}: ${reason}`);
      cuts[`${fileSystem.name} cuts`] = `skipped (${reason})`;
      return;
    }
    const series = await cutSeries(bench, fileSystem, tally);
    cuts[`${fileSystem.name} cuts`] = series.cuts;
    inFlight += series.inFlight;
  });
  if (reasons.length === fileSystems.length) return skipped([...new Set(reasons)].join("; "));
  return judged({ ...cuts, "in flight": inFlight, ...tally.figures }, tally.failures);
}

// ── one file system ────────────────────────────────────────────────────────────────────────────

interface Bench {
  readonly context: Context;
  readonly options: PowerCutOptions;
  readonly scratch: string;
  readonly template: string;
  readonly shim: string;
  readonly godown: string;
  readonly canonical: string;
}

async function cutSeries(
  bench: Bench,
  fileSystem: FileSystem,
  tally: Tally,
): Promise<{ cuts: number; inFlight: number }> {
  const { context, options } = bench;
  const volume = await createVolume(bench.scratch, fileSystem);
  const done = { cuts: 0, inFlight: 0 };
  try {
    const undisturbed = await measure(bench, volume);
    if (typeof undisturbed === "string") {
      tally.failures.push(`${fileSystem.name}: ${undisturbed}`);
      return done;
    }
    const cuts = options.cuts ?? cutsByTier[context.tier];
    for (let number = 1; number <= cuts; number++) {
      const name = `${fileSystem.name}-${number}`;
      if (context.onlyCase !== undefined && context.onlyCase !== name) continue;
      // A planted bug is found once.
      if (options.plant && tally.failures.length > 0) break;
      const random = randomFrom(context.seed, number, fileSystem.megabytes);
      const moment = randomMoment(random, undisturbed, number);
      const { breaches, inFlight } = await cutOnce(bench, volume, undisturbed, moment, name);
      done.cuts++;
      if (inFlight) done.inFlight++;
      const fault = `power cut on ${fileSystem.name} ${describe(moment, undisturbed)}`;
      count(tally, fault, breaches, again(context, powerCuts.name, name));
    }
  } finally {
    await volume.discard();
  }
  return done;
}

interface Measured extends Undisturbed {
  readonly firstAckMs: number;
  readonly lastAckMs: number;
}

/** The run without a cut: how many writes, how long. */
async function measure(bench: Bench, volume: Volume): Promise<Measured | string> {
  const counted = freshRepository(bench, volume, "counted");
  const log = path.join(bench.scratch, `${volume.name}.log`);
  const undisturbed = await runUndisturbed(bench.shim, bench.canonical, counted, log);
  if (typeof undisturbed === "string") return undisturbed;
  const timed = startCanonical(bench.canonical, freshRepository(bench, volume, "timed"));
  const times: number[] = [];
  timed.onAck(() => times.push(timed.elapsedMs()));
  await timed.ended;
  return { ...undisturbed, firstAckMs: times[0] ?? 0, lastAckMs: times.at(-1) ?? 0 };
}

/** When the power goes: at a write exactly, upon an acknowledgement, or just so. */
type Moment =
  | { readonly is: "at-write"; readonly number: number; readonly side: "before" | "after" }
  | { readonly is: "upon-ack"; readonly ack: number }
  | { readonly is: "after-ms"; readonly ms: number };

function randomMoment(random: Random, undisturbed: Measured, number: number): Moment {
  switch (number % 3) {
    case 0:
      return { is: "upon-ack", ack: random.between(1, transitionsInAll) };
    case 1: {
      const side = random.chance(0.5) ? "before" : "after";
      return { is: "at-write", number: random.between(1, undisturbed.writes.length), side };
    }
    default: {
      const { firstAckMs, lastAckMs } = undisturbed;
      return { is: "after-ms", ms: random.between(Math.max(0, firstAckMs - 20), lastAckMs + 20) };
    }
  }
}

function describe(moment: Moment, { writes }: Undisturbed): string {
  switch (moment.is) {
    case "upon-ack":
      return `upon acknowledgement ${moment.ack}`;
    case "after-ms":
      return `${Math.round(moment.ms)} ms after the start`;
    case "at-write": {
      const write = writes[moment.number - 1];
      return `${moment.side} write ${moment.number} (${write?.call} ${write?.where})`;
    }
  }
}

// ── one cut ────────────────────────────────────────────────────────────────────────────────────

async function cutOnce(
  bench: Bench,
  volume: Volume,
  undisturbed: Undisturbed,
  moment: Moment,
  name: string,
): Promise<{ breaches: Breach[]; inFlight: boolean }> {
  const repository = freshRepository(bench, volume, name);
  const acked =
    moment.is === "at-write"
      ? await cutFromInside(bench, repository, moment)
      : await cutFromOutside(bench, volume, repository, moment);
  await volume.mountAgain();
  const found = await verify(bench.canonical, repository);
  const breaches = compare(found, acked);
  const unfinished = await finish(bench.canonical, repository, undisturbed);
  const checked = await run(["git", "-C", repository, "fsck", "--strict", "--no-dangling"]);
  if (checked.code !== 0) breaches.push({ kind: "corrupt", what: `git fsck: ${ending(checked)}` });
  const transitions = typeof found === "string" ? 0 : found.transitions;
  fs.rmSync(repository, { recursive: true, force: true });
  return {
    breaches: [...breaches, ...unfinished],
    inFlight: transitions > 0 && transitions < transitionsInAll,
  };
}

/** On the disk for certain, so that whatever is missing later is the program's loss. */
function freshRepository(bench: Bench, volume: Volume, name: string): string {
  const repository = path.join(volume.mountPoint, name);
  fs.cpSync(bench.template, repository, { recursive: true });
  must("sync", "-f", volume.mountPoint);
  return repository;
}

/** By the shim, within the program: whatever was acknowledged was so before the cut. */
async function cutFromInside(
  { shim, canonical }: Bench,
  repository: string,
  { number, side }: Extract<Moment, { is: "at-write" }>,
): Promise<number> {
  const ran = await runInjected(shim, canonical, repository, { at: number, mode: `cut-${side}` });
  if (ran.signal !== "SIGKILL") throw new Error(`the power was not cut: ${ending(ran)}`);
  return highestAck(ran.stdout);
}

/** By another process: only what had been read by then counts as acknowledged. */
async function cutFromOutside(
  { godown, canonical }: Bench,
  volume: Volume,
  repository: string,
  moment: Exclude<Moment, { is: "at-write" }>,
): Promise<number> {
  const power = await readyToCut(godown, volume.mountPoint);
  const program = startCanonical(canonical, repository);
  let acked = 0;
  const time = new Promise<void>((resolve) => {
    program.onAck((ack) => {
      acked = ack;
      if (moment.is === "upon-ack" && ack >= moment.ack) resolve();
    });
    if (moment.is === "after-ms") setTimeout(resolve, moment.ms);
    void program.ended.then(resolve);
  });
  await time;
  const ackedBefore = acked;
  await power.cut();
  program.kill();
  await program.ended;
  return ackedBefore;
}

/** A helper that has everything open and waits for one byte. */
export async function readyToCut(
  godown: string,
  mountPoint: string,
): Promise<{ cut(): Promise<void> }> {
  const helper = spawn(godown, [mountPoint], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => helper.on("close", () => resolve()));
  let said = "";
  const ready = new Promise<void>((resolve) => {
    helper.stdout.on("data", (text: Buffer) => {
      said += text.toString();
      if (said.includes("ready")) resolve();
    });
  });
  await Promise.race([ready, ended]);
  return {
    async cut() {
      helper.stdin.end("\n");
      await ended;
      if (!said.includes("down")) throw new Error(`the power of ${mountPoint} was not cut`);
    },
  };
}

interface Running {
  onAck(heard: (ack: number) => void): void;
  elapsedMs(): number;
  kill(): void;
  readonly ended: Promise<void>;
}

function startCanonical(canonical: string, repository: string): Running {
  const began = performance.now();
  const program: ChildProcess = spawn(process.execPath, [canonical, repository], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const forget = whenEnding(() => program.kill("SIGKILL"));
  const ended = new Promise<void>((resolve) => {
    program.on("close", () => {
      forget();
      resolve();
    });
  });
  return {
    ended,
    elapsedMs: () => performance.now() - began,
    kill: () => program.kill("SIGKILL"),
    onAck(heard) {
      let said = "";
      program.stdout?.on("data", (text: Buffer) => {
        said += text.toString();
        heard(highestAck(said));
      });
    },
  };
}

// ── the volume ─────────────────────────────────────────────────────────────────────────────────

export interface Volume {
  readonly name: string;
  readonly mountPoint: string;
  mountAgain(): Promise<void>;
  discard(): Promise<void>;
}

export async function whyNot({ name, mkfs }: FileSystem): Promise<string | undefined> {
  if (process.platform !== "linux") return "power is cut on Linux only";
  if (process.getuid?.() !== 0) return "mounting needs root";
  if (!fs.existsSync("/dev/loop-control")) return "there are no loop devices";
  for (const tool of [mkfs[0], "losetup", "mount", "umount"]) {
    if ((await run([tool, "--version"])).missing) return `${tool} is not on this machine`;
  }
  const known = (): boolean =>
    new RegExp(`\\t${name}$`, "m").test(fs.readFileSync("/proc/filesystems", "utf8"));
  if (!known()) await run(["modprobe", name]);
  return known() ? undefined : `this kernel has no ${name}`;
}

/** An image of our own on a loop device that we attach, and nothing else. */
export async function createVolume(
  scratch: string,
  { name, megabytes, mkfs }: FileSystem,
): Promise<Volume> {
  const image = path.join(scratch, `${name}.img`);
  const place = path.join(scratch, name);
  const mountPoint = path.join(place, "volume");
  fs.mkdirSync(mountPoint, { recursive: true });
  fs.writeFileSync(image, "");
  fs.truncateSync(image, megabytes * 1024 * 1024);
  must(...mkfs, image);
  const device = must("losetup", "--find", "--show", image).trim();
  const release = (): void => {
    // Programs that still run there were ended first; whatever else holds it, let go at last.
    spawnSync("umount", ["--lazy", "--recursive", place], { stdio: "ignore" });
    spawnSync("losetup", ["--detach", device], { stdio: "ignore" });
  };
  const forget = whenEnding(release);
  try {
    // Agents that other rows confine take a copy of every mount with them: of a shared one ours is
    // gone from theirs as well.
    must("mount", "--bind", "--make-shared", place, place);
    must("mount", "-t", name, device, mountPoint);
  } catch (error) {
    forget();
    release();
    throw error;
  }
  return {
    name,
    mountPoint,
    async mountAgain() {
      for (let tries = 0; tries < 100; tries++) {
        await unmount(mountPoint);
        await letGo(device);
        must("mount", "-t", name, device, mountPoint);
        if (hasPower(mountPoint)) return;
        // A mount namespace whose last process is gone goes a moment later than that.
        await sleep(50);
      }
      throw new Error(`${device} stays without power: somebody still has it mounted`);
    },
    async discard() {
      await unmount(mountPoint);
      await unmount(place);
      must("losetup", "--detach", device);
      forget();
    },
  };
}

/** A helper of the killed program may hold it for a moment longer. */
async function unmount(mountPoint: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const { status, stderr } = spawnSync("umount", [mountPoint], { encoding: "utf8" });
    if (status === 0) return;
    if (tries === 200 || !/busy/.test(stderr)) throw new Error(`umount: ${stderr.trim()}`);
    await sleep(10);
  }
}

/**
 * Anybody who made a mount namespace meanwhile has the old mount in it, and as long as he has it,
 * mounting again gives back the file system whose power was cut.
 */
async function letGo(device: string): Promise<void> {
  const holds = (pid: string): boolean => {
    try {
      return fs.readFileSync(`/proc/${pid}/mountinfo`, "utf8").includes(` ${device} `);
    } catch {
      return false;
    }
  };
  // An agent that was confined meanwhile may be at work for a while.
  for (let tries = 0; tries < 9000; tries++) {
    if (!fs.readdirSync("/proc").some((name) => /^\d+$/.test(name) && holds(name))) return;
    await sleep(20);
  }
  throw new Error(`somebody still has ${device} mounted`);
}

/** What was mounted is a file system that works, and not the one whose power was cut. */
function hasPower(mountPoint: string): boolean {
  const probe = path.join(mountPoint, ".probe");
  try {
    fs.writeFileSync(probe, "");
    fs.rmSync(probe);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EIO") return false;
    throw error;
  }
}

export function must(...argv: readonly string[]): string {
  const [program = "", ...args] = argv;
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${argv.join(" ")}: ${error?.message ?? stderr.trim()}`);
  return stdout;
}
