/**
 * kill -9 at every write. The canonical run is counted once, write by write; then it is killed
 * before, after and in the middle of each of them, in a fresh repository each time. What was
 * acknowledged must be there, everything must be readable, and the run must come to the same
 * end as if nothing had happened.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { temporaryMark } from "../src/stores/file/disk.ts";
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
  type Ran,
  type Row,
  randomFrom,
  repositoryRoot,
  run,
  skipped,
} from "./rig.ts";

export const killSweep: Row = {
  name: "kill-sweep",
  promise: "what was acknowledged survives kill -9 at every write, and the run goes on to its end",
  budgetSeconds: { ci: 14, full: 350 },
  run: (context) => sweep(context),
};

/** What fits into the budget of the ci tier on two cores. */
const runsInCi = 20;

export interface SweepOptions {
  readonly plant?: Plant;
  /** At most so many runs; every write at least once comes first. */
  readonly limit?: number;
  readonly program?: string;
}

export async function sweep(context: Context, options: SweepOptions = {}): Promise<Outcome> {
  const shim = await compileNative("inject");
  if (shim === undefined) return skipped(noCompiler);
  const canonical = await canonicalProgram(options);
  const scratch = freshFolder(context.scratch, "sweep");
  const template = path.join(scratch, "template");
  await makeRepository(template);
  const sweeper: Sweeper = { scratch, shim, canonical, template, planted: options.plant };

  const undisturbed = await countWrites(sweeper);
  if (typeof undisturbed === "string") return judged({}, [undisturbed]);
  const all = everyFault(undisturbed.writes);
  const chosen = choose(all, undisturbed.writes.length, context, options.limit);
  context.note(
    `${undisturbed.writes.length} writes, ${chosen.length} of ${all.length} ways to be killed`,
  );

  const tally = newTally();
  let runs = 0;
  await inParallel(chosen, async (fault) => {
    // A planted bug is found once.
    if (options.plant && tally.failures.length > 0) return;
    runs++;
    const breaches = await killOnce(sweeper, undisturbed, fault);
    const repeat = again(context, killSweep.name, nameOf(fault));
    count(tally, `killed ${describe(fault)}`, breaches, repeat);
  });
  return judged(
    {
      ops: undisturbed.writes.length,
      runs: `${runs} of ${all.length}`,
      ...tally.figures,
    },
    tally.failures,
  );
}

// ── the canonical run ──────────────────────────────────────────────────────────────────────────

export const transitionsInAll = 12;

export const canonicalProgram = ({ plant, program }: SweepOptions): Promise<string> =>
  bundle(program ?? "torture/canonical-run.ts", plant && { plant });

export interface Verified {
  readonly transitions: number;
  /** Recorded more often than the run has them. */
  readonly doubled: number;
  readonly problems: readonly string[];
  readonly position: string;
}

/** What the store holds; a string says why that cannot even be asked. */
export async function verify(
  canonical: string,
  repository: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Verified | string> {
  const ran = await run([process.execPath, canonical, repository, "--verify"], { env });
  if (ran.code !== 0) return `--verify: ${ending(ran)}`;
  try {
    return JSON.parse(ran.stdout) as Verified;
  } catch {
    return `--verify prints ${JSON.stringify(ran.stdout)}`;
  }
}

export const highestAck = (stdout: string): number =>
  Math.max(0, ...[...stdout.matchAll(/^ack (\d+)\n/gm)].map((match) => Number(match[1])));

/** Goes on to the end; where that is another than without the fault. */
export async function finish(
  canonical: string,
  repository: string,
  undisturbed: Undisturbed,
): Promise<Breach[]> {
  const wrong = (...whats: string[]): Breach[] =>
    whats.map((what) => ({ kind: "not finished", what }));
  const ran = await run([process.execPath, canonical, repository]);
  if (ran.code !== 0) return wrong(`the run cannot be continued: ${ending(ran)}`);
  const now = await verify(canonical, repository);
  return typeof now === "string" ? wrong(now) : wrong(...otherEnd(now, repository, undisturbed));
}

/** In what an end is another than without the fault. */
export function otherEnd(now: Verified, repository: string, undisturbed: End): string[] {
  const whats = [...now.problems];
  if (now.transitions !== transitionsInAll) {
    whats.push(`it ended with ${now.transitions} of ${transitionsInAll} transitions`);
  }
  if (now.position !== undisturbed.position) {
    whats.push(`it ended elsewhere: ${firstDifference(now.position, undisturbed.position)}`);
  }
  const files = shownFiles(repository);
  if (files !== undisturbed.files) {
    whats.push(`the files differ: ${firstDifference(files, undisturbed.files)}`);
  }
  const left = temporaryFilesIn(repository);
  if (left.length > 0) whats.push(`temporary files are left: ${left.join(", ")}`);
  return whats;
}

/** What people see, as one text: every file outside of .git. */
function shownFiles(repository: string): string {
  const files = fs
    .readdirSync(repository, { recursive: true, encoding: "utf8" })
    .filter((file) => !file.startsWith(".git/") && !path.basename(file).includes(temporaryMark))
    .filter((file) => fs.statSync(path.join(repository, file)).isFile())
    .sort();
  return files
    .map((file) => `${file}:\n${fs.readFileSync(path.join(repository, file), "utf8")}`)
    .join("\n");
}

function temporaryFilesIn(repository: string): string[] {
  return fs
    .readdirSync(repository, { recursive: true, encoding: "utf8" })
    .filter((file) => path.basename(file).includes(temporaryMark));
}

function firstDifference(got: string, wanted: string): string {
  let at = 0;
  while (at < got.length && got[at] === wanted[at]) at++;
  const around = (text: string): string =>
    JSON.stringify(text.slice(Math.max(0, at - 20), at + 40));
  return `${around(got)} instead of ${around(wanted)}`;
}

// ── what went wrong ────────────────────────────────────────────────────────────────────────────

export interface Breach {
  readonly kind: "lost" | "doubled" | "corrupt" | "not finished";
  readonly what: string;
}

export interface Tally {
  readonly figures: Record<Breach["kind"], number>;
  readonly failures: string[];
}

export const newTally = (): Tally => ({
  figures: { lost: 0, doubled: 0, corrupt: 0, "not finished": 0 },
  failures: [],
});

/** A case counts once for each kind of breach, and is told in one line. */
export function count(tally: Tally, fault: string, breaches: readonly Breach[], repeat: string) {
  if (breaches.length === 0) return;
  for (const kind of new Set(breaches.map((breach) => breach.kind))) tally.figures[kind]++;
  const what = breaches.map((breach) => `${breach.kind}: ${breach.what}`).join("; ");
  tally.failures.push(`${fault}: ${what}; to see it again: ${repeat}`);
}

/** What is not as it was acknowledged. */
export function compare(found: Verified | string, acked: number): Breach[] {
  if (typeof found === "string") return [{ kind: "corrupt", what: found }];
  const breaches: Breach[] = found.problems.map((what) => ({ kind: "corrupt", what }));
  if (found.transitions < acked) {
    breaches.push({ kind: "lost", what: `${acked} acknowledged, ${found.transitions} found` });
  }
  if (found.doubled > 0) {
    breaches.push({ kind: "doubled", what: `${found.doubled} recorded more than once` });
  }
  return breaches;
}

// ── the sweep ──────────────────────────────────────────────────────────────────────────────────

interface Sweeper {
  readonly scratch: string;
  readonly shim: string;
  readonly canonical: string;
  readonly template: string;
  readonly planted: Plant | undefined;
}

interface Write {
  readonly number: number;
  readonly call: string;
  readonly where: string;
}

export interface End {
  readonly position: string;
  /** What people see at the end. */
  readonly files: string;
}

export interface Undisturbed extends End {
  readonly writes: readonly Write[];
}

type Mode = "before" | "after" | "half" | "one";

interface Fault {
  readonly write: Write;
  readonly mode: Mode;
}

const nameOf = ({ write, mode }: Fault): string => `${write.number}-${mode}`;

const describe = ({ write, mode }: Fault): string => {
  const when = { before: "before", after: "after", half: "half way through", one: "one byte into" }[
    mode
  ];
  return `${when} write ${write.number} (${write.call} ${write.where})`;
};

/** The program under the shim, with the writes that it makes under `repository`. */
export function runInjected(
  shim: string,
  canonical: string,
  repository: string,
  orders: { log?: string; at?: number; mode?: string },
): Promise<Ran> {
  return run([process.execPath, canonical, repository], {
    env: {
      LD_PRELOAD: shim,
      FI_ROOT: repository,
      ...(orders.log !== undefined && { FI_LOG: orders.log }),
      ...(orders.at !== undefined && { FI_AT: String(orders.at) }),
      ...(orders.mode !== undefined && { FI_MODE: orders.mode }),
    },
  });
}

function readWrites(log: string, repository: string): Write[] {
  const lines = fs.readFileSync(log, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const [number, call = "", where = ""] = line.split("\t");
    const file = where
      .replaceAll(`${repository}/`, "")
      .replace(/(\.autodev-tmp-)[0-9a-f-]{36}/, "$1…");
    return { number: Number(number), call, where: file };
  });
}

async function countWrites({
  scratch,
  shim,
  canonical,
  template,
}: Sweeper): Promise<Undisturbed | string> {
  const repository = path.join(scratch, "undisturbed");
  fs.cpSync(template, repository, { recursive: true });
  return runUndisturbed(shim, canonical, repository, path.join(scratch, "undisturbed.log"));
}

/** The run without any fault; a string says why it is not one. */
export async function runUndisturbed(
  shim: string,
  canonical: string,
  repository: string,
  log: string,
): Promise<Undisturbed | string> {
  const ran = await runInjected(shim, canonical, repository, { log });
  const end = await undisturbedBy(ran, canonical, repository);
  return typeof end === "string" ? end : { ...end, writes: readWrites(log, repository) };
}

/** What a run without any fault has come to; a string says why it is none. */
export async function undisturbedBy(
  ran: Ran,
  canonical: string,
  repository: string,
): Promise<End | string> {
  if (ran.code !== 0 || highestAck(ran.stdout) !== transitionsInAll) {
    return `the undisturbed run does not come to its end: ${ending(ran)}`;
  }
  const end = await verify(canonical, repository);
  if (typeof end === "string") return end;
  if (end.problems.length > 0 || end.transitions !== transitionsInAll) {
    return `the undisturbed run is not sound: ${JSON.stringify(end)}`;
  }
  return { position: end.position, files: shownFiles(repository) };
}

const writesBytes = new Set(["write", "pwrite", "writev", "pwritev"]);

const modesFor = ({ call }: Write): Mode[] =>
  writesBytes.has(call) ? ["before", "after", "half", "one"] : ["before", "after"];

const everyFault = (writes: readonly Write[]): Fault[] =>
  writes.flatMap((write) => modesFor(write).map((mode) => ({ write, mode })));

/** Every write once, its mode turning with the seed; then the others, as far as they fit. */
function choose(
  all: readonly Fault[],
  writes: number,
  { tier, seed, onlyCase }: Context,
  limit: number | undefined,
): Fault[] {
  if (onlyCase !== undefined) {
    const single = all.filter((fault) => nameOf(fault) === onlyCase);
    if (single.length === 0) throw new Error(`there is no case ${onlyCase}`);
    return single;
  }
  if (tier === "full" && limit === undefined) return [...all];
  const random = randomFrom(seed);
  const first: Fault[] = [];
  for (let number = 1; number <= writes; number++) {
    const faults = all.filter(({ write }) => write.number === number);
    first.push(faults[(number + seed) % faults.length] as Fault);
  }
  const others = random.shuffled(all.filter((fault) => !first.includes(fault)));
  return [...random.shuffled(first), ...others].slice(0, limit ?? runsInCi);
}

async function killOnce(
  { scratch, shim, canonical, template, planted }: Sweeper,
  undisturbed: Undisturbed,
  fault: Fault,
): Promise<Breach[]> {
  const repository = path.join(scratch, nameOf(fault));
  fs.cpSync(template, repository, { recursive: true });
  try {
    const { number } = fault.write;
    const killed = await runInjected(shim, canonical, repository, { at: number, mode: fault.mode });
    if (killed.signal !== "SIGKILL") {
      // Without this, a run that takes another course would quietly test nothing.
      return [{ kind: "not finished", what: `it was never killed: ${ending(killed)}` }];
    }
    const acked = highestAck(killed.stdout);
    const breaches = compare(await verify(canonical, repository), acked);
    // The shipped program is built without the bug.
    const wrongStatus = planted ? undefined : await askStatus(repository);
    if (wrongStatus !== undefined) breaches.push({ kind: "corrupt", what: wrongStatus });
    const unfinished = await finish(canonical, repository, undisturbed);
    return [...breaches, ...unfinished];
  } finally {
    fs.rmSync(repository, { recursive: true, force: true });
  }
}

/** `autodev status --json` by the shipped program, where it has been built. */
async function askStatus(repository: string): Promise<string | undefined> {
  const program = path.join(repositoryRoot(), "dist", "cli", "main.cjs");
  if (!fs.existsSync(program)) return undefined;
  const ran = await run([process.execPath, program, "status", "--json"], { cwd: repository });
  if (ran.code !== 0) return `status --json: ${ending(ran)}`;
  try {
    JSON.parse(ran.stdout);
    return undefined;
  } catch {
    return `status --json prints no JSON: ${ran.stdout.slice(0, 80)}`;
  }
}
