/**
 * Every legal state that a power cut can leave behind. The canonical run is recorded on a
 * simulated disk; then, for each moment of it, what was not yet synced is there or not, in any
 * combination, and data is whole, cut, zeroed or absent. The real recovery must cope with all.
 *
 * The model is harsher than any file system in use: folder changes may reach the disk in any
 * order, and syncing a new file does not keep its name.
 */
import { dirname } from "node:path";
import type { Project } from "../src/project.ts";
import type { AppendFile, Disk } from "../src/stores/file/disk.ts";
import { createFileStore, sha256 } from "../src/stores/file.ts";
import { perform, transitions, verify } from "./canonical-run.ts";
import {
  again,
  type Context,
  judged,
  type Outcome,
  type Random,
  type Row,
  randomFrom,
} from "./rig.ts";

const wanted = { ci: 10_000, full: 1_000_000 };

export const crashStates: Row = {
  name: "crash-states",
  promise: "whatever a power cut leaves of unsynced writes, no acknowledged transition is lost",
  budgetSeconds: { ci: 12, full: 1500 },
  run: (context) => enumerate(context, wanted[context.tier]),
};

/** The parts under test, replaceable by a build with a planted bug. */
export interface Subject {
  readonly createFileStore: typeof createFileStore;
  readonly perform: typeof perform;
  readonly verify: typeof verify;
}

export async function enumerate(
  context: Context,
  count: number,
  subject: Subject = { createFileStore, perform, verify },
): Promise<Outcome> {
  const tape = await recordTape(subject);
  const seen = new Set<string>();
  const failures: string[] = [];
  const figures = { operations: tape.operations.length, states: 0, resumed: 0, bad: 0 };

  const examine = async (
    moment: number,
    choices: readonly Choice[],
    name = String(moment),
  ): Promise<void> => {
    const tree = treeAfter(tape, moment, choices);
    const key = fingerprintOf(tree);
    if (seen.has(key)) return;
    seen.add(key);
    figures.states++;
    const acknowledged = tape.acknowledged.filter((at) => at <= moment).length;
    // Resuming costs more than looking: every twentieth state is carried to the end.
    const problem = await judge(subject, tree, acknowledged, figures.states % 20 === 0);
    if (figures.states % 20 === 0) figures.resumed++;
    if (!problem) return;
    figures.bad++;
    const last = tape.operations[moment - 1]?.is ?? "the start";
    failures.push(
      `power cut after operation ${moment} (${last}): ${problem}; ${again(context, "crash-states", name)}`,
    );
  };

  // All of them in the full tier; else every sixth, which sixth turns with the seed.
  const share = context.tier === "full" || count !== wanted.ci ? 1 : 6;
  for (let moment = 0; moment <= tape.operations.length && figures.bad < 5; moment++) {
    if (context.onlyCase !== undefined && context.onlyCase !== String(moment)) continue;
    for (const [index, choices] of [...smallChoices(tape, moment)].entries()) {
      if ((index + context.seed) % share === 0) await examine(moment, choices);
    }
  }
  // The moments with the most in the air: of others there are few states, and all of these were seen by
  // now. Each state is from numbers of its own, so that it can be drawn alone.
  const moments = tape.operations.map((_, at) => at + 1);
  const written = (moment: number): number =>
    pendingAt(tape, moment).filter(({ bytes }) => bytes > 0).length;
  const most = Math.max(...moments.map(written));
  const deep = moments.filter((moment) => written(moment) * 2 > most);
  const examineDrawn = async (number: number): Promise<void> => {
    const draw = randomFrom(context.seed, number);
    const moment = deep[draw.below(deep.length)] ?? 0;
    await examine(moment, randomChoices(tape, moment, draw), `drawn-${number}`);
  };
  if (context.onlyCase !== undefined) {
    const [, drawn] = /^drawn-(\d+)$/.exec(context.onlyCase) ?? [];
    if (drawn !== undefined) await examineDrawn(Number(drawn));
    return judged(figures, failures);
  }
  // What is left of the number is drawn at random.
  for (let tries = 0; figures.states < count && tries < count * 8 && figures.bad < 5; tries++) {
    await examineDrawn(tries);
  }
  if (figures.bad === 0 && figures.states < count) {
    failures.push(`only ${figures.states} distinct states were found, ${count} were wanted`);
  }
  return judged(figures, failures);
}

// ── the tape ───────────────────────────────────────────────────────────────────────────────────

type Operation =
  | { is: "folder"; path: string }
  | { is: "name"; path: string; inode: number }
  | { is: "rename"; from: string; to: string }
  | { is: "link"; from: string; to: string }
  | { is: "remove"; path: string }
  | { is: "data"; inode: number; bytes: Buffer }
  | { is: "sync-file"; inode: number }
  | { is: "sync-folder"; path: string };

interface Tape {
  readonly operations: readonly Operation[];
  /** After how many operations each transition was acknowledged. */
  readonly acknowledged: readonly number[];
}

async function recordTape(subject: Subject): Promise<Tape> {
  const disk = simulatedDisk(emptyTree());
  const acknowledged: number[] = [];
  const project = projectOn(disk.disk, subject);
  const performed = await subject.perform(project, () => acknowledged.push(disk.log.length));
  if (!performed.ok) throw new Error(`the canonical run failed: ${performed.failure.message}`);
  return { operations: disk.log, acknowledged };
}

async function judge(
  subject: Subject,
  tree: Tree,
  acknowledged: number,
  resume: boolean,
): Promise<string | undefined> {
  try {
    const { disk } = simulatedDisk(tree);
    const project = projectOn(disk, subject);
    const found = subject.verify(project);
    if (found.problems.length > 0) return found.problems.join("; ");
    if (found.transitions < acknowledged) {
      return `${acknowledged} transitions were acknowledged, ${found.transitions} are left`;
    }
    if (!resume) return undefined;
    const performed = await subject.perform(project, () => {});
    if (!performed.ok) return `does not go on: ${performed.failure.message}`;
    const end = subject.verify(project);
    if (end.transitions !== transitions.length) return `ends at ${end.transitions}`;
    return end.problems[0];
  } catch (error) {
    return `crashed: ${error instanceof Error ? error.stack : String(error)}`;
  }
}

function projectOn(disk: Disk, subject: Subject): Project {
  const root = "/sim";
  const at = "2026-01-01T00:00:00.000Z";
  let names = 0;
  return {
    root,
    repository: { root, gitDir: `${root}/.git`, commonDir: `${root}/.git` },
    store: subject.createFileStore({
      folder: `${root}/.git/autodev`,
      root,
      disk,
      lock: () => ({ ok: true, value: { release: () => {} } }),
      // As if by a process that is gone.
      unique: () => `0-${++names}`,
    }),
    world: {
      now: () => at,
      hash: sha256,
      uuid: () => "00000000-0000-4000-8000-000000000000",
      showEvery: 0,
      holder: (command) => ({ pid: 1, host: "sim", since: at, command }),
    },
  };
}

// ── which states are legal ─────────────────────────────────────────────────────────────────────

/** How much of an unsynced operation reached the disk: so many bytes, the rest absent or zeros. */
interface Choice {
  readonly keep: number;
  readonly zeros: boolean;
}
const whole: Choice = { keep: Number.POSITIVE_INFINITY, zeros: false };
const absent: Choice = { keep: -1, zeros: false };

interface Pending {
  readonly at: number;
  /** How many bytes it wrote; 0 for a change of names. */
  readonly bytes: number;
}

const pendingOf = new WeakMap<Tape, Map<number, Pending[]>>();

/** What no sync has covered by then. */
function pendingAt(tape: Tape, moment: number): Pending[] {
  const known = pendingOf.get(tape) ?? new Map<number, Pending[]>();
  pendingOf.set(tape, known);
  const pending = known.get(moment) ?? findPending(tape, moment);
  known.set(moment, pending);
  return pending;
}

function findPending(tape: Tape, moment: number): Pending[] {
  const pending: Pending[] = [];
  const syncedFiles = new Set<number>();
  const syncedFolders = new Set<string>();
  for (let at = moment - 1; at >= 0; at--) {
    const operation = tape.operations[at] as Operation;
    if (operation.is === "sync-file") syncedFiles.add(operation.inode);
    else if (operation.is === "sync-folder") syncedFolders.add(operation.path);
    else if (operation.is === "data") {
      if (!syncedFiles.has(operation.inode)) pending.push({ at, bytes: operation.bytes.length });
    } else if (!syncedFolders.has(folderOf(operation))) pending.push({ at, bytes: 0 });
  }
  return pending.reverse();
}

const folderOf = (
  operation: Exclude<Operation, { is: "data" | "sync-file" | "sync-folder" }>,
): string => dirname("to" in operation ? operation.to : operation.path);

const choicesFor = ({ bytes }: Pending): readonly Choice[] =>
  bytes === 0
    ? [whole, absent]
    : [whole, absent, { keep: 0, zeros: true }, { keep: bytes >> 1, zeros: false }];

/** All combinations of the newest few, with the older ones all there or all absent. */
function* smallChoices(tape: Tape, moment: number): Generator<Choice[]> {
  const pending = pendingAt(tape, moment);
  const newest = pending.slice(-5);
  for (const older of [whole, absent]) {
    const base = pending.slice(0, -5).map(() => older);
    yield* combinations(newest, base);
    yield* everyCut(newest, base);
    if (pending.length <= 5) return;
  }
}

function* combinations(pending: readonly Pending[], done: Choice[]): Generator<Choice[]> {
  const [next, ...rest] = pending;
  if (!next) {
    yield done;
    return;
  }
  for (const choice of choicesFor(next)) yield* combinations(rest, [...done, choice]);
}

/** The newest write, cut after each of its bytes, with and without zeros up to its length. */
function* everyCut(pending: readonly Pending[], done: Choice[]): Generator<Choice[]> {
  const last = pending.findLastIndex(({ bytes }) => bytes > 0);
  for (let keep = 0; keep < (pending[last]?.bytes ?? 0); keep++) {
    for (const zeros of [true, false]) {
      yield [...done, ...pending.map((_, at) => (at === last ? { keep, zeros } : whole))];
    }
  }
}

/** How likely a change of names, and a write, is to have arrived whole. */
const harsh = { names: 0.4, writes: 0.4 };
const torn = { names: 0.95, writes: 0.1 };
const mixed = { names: 0.85, writes: 0.25 };
const weathers = [harsh, torn, torn, mixed];

/** Where most names are lost little is left to differ in: so most states lose few of them, and tear what was written. */
function randomChoices(tape: Tape, moment: number, draw: Random): Choice[] {
  const { names, writes } = weathers[draw.below(weathers.length)] ?? harsh;
  return pendingAt(tape, moment).map(({ bytes }) => {
    if (bytes === 0) return draw.chance(names) ? whole : absent;
    if (draw.chance(writes)) return whole;
    if (draw.chance(0.1)) return absent;
    return { keep: draw.below(bytes), zeros: draw.chance(0.5) };
  });
}

function treeAfter(tape: Tape, moment: number, choices: readonly Choice[]): Tree {
  const pending = pendingAt(tape, moment);
  const chosen = new Map(pending.map(({ at }, index) => [at, choices[index] ?? whole]));
  const tree = emptyTree();
  for (let at = 0; at < moment; at++) {
    const operation = tape.operations[at] as Operation;
    const choice = chosen.get(at) ?? whole;
    if (choice === absent) continue;
    apply(tree, operation, choice);
  }
  return tree;
}

// ── the simulated disk ─────────────────────────────────────────────────────────────────────────

interface Tree {
  readonly folders: Set<string>;
  readonly names: Map<string, number>;
  readonly data: Map<number, Buffer>;
}

const emptyTree = (): Tree => ({
  folders: new Set(["/", "/sim", "/sim/.git"]),
  names: new Map(),
  data: new Map(),
});

function apply(tree: Tree, operation: Operation, choice: Choice): void {
  switch (operation.is) {
    case "folder":
      tree.folders.add(operation.path);
      break;
    case "name":
      tree.names.set(operation.path, operation.inode);
      break;
    case "rename":
    case "link": {
      const inode = tree.names.get(operation.from);
      if (inode === undefined) break;
      tree.names.set(operation.to, inode);
      if (operation.is === "rename") tree.names.delete(operation.from);
      break;
    }
    case "remove":
      tree.names.delete(operation.path);
      break;
    case "data": {
      const before = tree.data.get(operation.inode) ?? Buffer.alloc(0);
      tree.data.set(operation.inode, Buffer.concat([before, part(operation.bytes, choice)]));
      break;
    }
    case "sync-file":
    case "sync-folder":
      break;
  }
}

function part(bytes: Buffer, { keep, zeros }: Choice): Buffer {
  if (keep >= bytes.length) return bytes;
  // A small file is written by whole sectors: it is cut there or zeroed, never within a word.
  const kept = isProjection(bytes) ? keep & ~511 : keep;
  const rest = Buffer.alloc(zeros ? bytes.length - kept : 0);
  return Buffer.concat([bytes.subarray(0, kept), rest]);
}

const isProjection = (bytes: Buffer): boolean => bytes.toString("utf8", 0, 2) === "# ";

const fingerprintOf = (tree: Tree): string => {
  const files = [...visible(tree)].map(([path, inode]) => {
    const bytes = tree.data.get(inode);
    return `${path}\0${bytes?.toString("latin1") ?? ""}`;
  });
  return sha256(`${[...tree.folders].sort().join("\n")}\n\n${files.sort().join("\n")}`);
};

/** A name counts only while every folder above it does. */
function visible(tree: Tree): Map<string, number> {
  const reachable = (folder: string): boolean =>
    folder === "/" || (tree.folders.has(folder) && reachable(dirname(folder)));
  return new Map([...tree.names].filter(([path]) => reachable(dirname(path))));
}

function simulatedDisk(start: Tree): { disk: Disk; log: Operation[] } {
  const tree: Tree = {
    folders: new Set([...start.folders].filter((path) => visibleFolder(start, path))),
    names: visible(start),
    data: new Map(start.data),
  };
  let inodes = Math.max(0, ...tree.data.keys(), ...tree.names.values());
  const log: Operation[] = [];
  const act = (operation: Operation): void => {
    apply(tree, operation, whole);
    log.push(operation);
  };
  const inodeAt = (file: string): number => {
    const inode = tree.names.get(file);
    if (inode === undefined) throw Object.assign(new Error(`no ${file}`), { code: "ENOENT" });
    return inode;
  };
  const read = (file: string): Buffer | undefined => {
    const inode = tree.names.get(file);
    return inode === undefined ? undefined : (tree.data.get(inode) ?? Buffer.alloc(0));
  };
  const disk: Disk = {
    read,
    readFrom: (file, offset) => read(file)?.subarray(offset),
    exists: (path) => tree.names.has(path) || tree.folders.has(path),
    kind: (path) => (tree.folders.has(path) ? "folder" : tree.names.has(path) ? "file" : undefined),
    realPath: (path) => (tree.folders.has(path) || tree.names.has(path) ? path : undefined),
    refusesWrites: () => "",
    size: (file) => read(file)?.length ?? 0,
    mode: (file) => (tree.names.has(file) ? 0o644 : undefined),
    list: (folder) =>
      [...tree.names.keys(), ...tree.folders]
        .filter((path) => path !== folder && dirname(path) === folder)
        .map((path) => path.slice(folder.length + 1)),
    async makeFolder(folder) {
      if (tree.folders.has(folder)) return;
      await disk.makeFolder(dirname(folder));
      act({ is: "folder", path: folder });
    },
    async create(file, bytes) {
      if (tree.names.has(file))
        throw Object.assign(new Error(`${file} exists`), { code: "EEXIST" });
      const inode = ++inodes;
      act({ is: "name", path: file, inode });
      if (bytes.length > 0) act({ is: "data", inode, bytes });
    },
    async syncFile(file) {
      act({ is: "sync-file", inode: inodeAt(file) });
    },
    async openForAppend(file): Promise<AppendFile> {
      const inode = inodeAt(file);
      return {
        append: async (bytes) => act({ is: "data", inode, bytes }),
        sync: async () => act({ is: "sync-file", inode }),
        close: async () => {},
      };
    },
    async rename(from, to) {
      inodeAt(from);
      act({ is: "rename", from, to });
    },
    async link(from, to) {
      if (tree.names.has(to)) return false;
      act({ is: "link", from, to });
      return true;
    },
    async remove(file) {
      inodeAt(file);
      act({ is: "remove", path: file });
    },
    async removeFolder() {
      throw new Error("the canonical run removes no folder");
    },
    async syncFolder(folder) {
      act({ is: "sync-folder", path: folder });
    },
  };
  return { disk, log };
}

const visibleFolder = (tree: Tree, path: string): boolean =>
  path === "/" || (tree.folders.has(path) && visibleFolder(tree, dirname(path)));
