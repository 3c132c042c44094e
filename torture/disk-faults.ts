/**
 * A disk that refuses: full, broken, read-only, over its quota, or a process with too many files.
 * The canonical run is counted once, call by call (every write, and every open); then each of them
 * fails in each of these ways, just once or until the disk is good again. What was there stays and
 * can be read, what was acknowledged is kept, people are told which file and why, and when there
 * is room again the run ends like one that nothing disturbed.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import {
  canonicalProgram,
  type End,
  highestAck,
  otherEnd,
  undisturbedBy,
  type Verified,
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
  type Ran,
  type Row,
  randomFrom,
  run,
  skipped,
} from "./rig.ts";

export const diskFaults: Row = {
  name: "disk-faults",
  promise:
    "a disk that refuses costs nothing: the old state stays, people are told which file and why, and it goes on when there is room",
  budgetSeconds: { ci: 6, full: 600 },
  run: (context) => refuseAll(context),
};

/** What fits into the budget of the ci tier on two cores, besides the builds. */
const runsInCi = 12;

export interface DiskFaultOptions {
  readonly plant?: Plant;
  /** At most so many runs of the store. */
  readonly limit?: number;
  /** What a planted bug is told by; other failures are not it. */
  readonly seen?: RegExp;
}

export async function refuseAll(
  context: Context,
  options: DiskFaultOptions = {},
): Promise<Outcome> {
  const shim = await compileNative("inject");
  if (shim === undefined) return skipped(noCompiler);
  const scratch = freshFolder(context.scratch, "faults");
  const figures = newFigures();
  const failures: string[] = [];
  const tell = (fault: string, caseName: string, breaches: readonly Breach[]): void => {
    for (const kind of new Set(breaches.map((breach) => breach.kind))) figures[kind]++;
    if (breaches.length === 0) return;
    const what = breaches.map((breach) => `${breach.kind}: ${breach.what}`).join("; ");
    failures.push(
      `${fault}: ${what}; to see it again: ${again(context, diskFaults.name, caseName)}`,
    );
  };

  const refused = await faultStore(context, options, { scratch, shim, figures, tell });
  if (refused !== undefined) return judged({}, [refused]);
  return judged(figures, failures);
}

// ── what is counted ────────────────────────────────────────────────────────────────────────────

export interface Breach {
  readonly kind: "lost" | "doubled" | "unexplained messages" | "never refused" | "other ends";
  readonly what: string;
}

export type Figures = Record<
  Breach["kind"] | "calls" | "runs" | "refusals" | "stopped" | "borne",
  number
>;

const newFigures = (): Figures => ({
  calls: 0,
  runs: 0,
  refusals: 0,
  stopped: 0,
  borne: 0,
  lost: 0,
  doubled: 0,
  "unexplained messages": 0,
  "never refused": 0,
  "other ends": 0,
});

/** What both halves of the row share: where, by what, and to whom it is told. */
export interface Bench {
  readonly scratch: string;
  readonly shim: string;
  readonly figures: Figures;
  tell(fault: string, caseName: string, breaches: readonly Breach[]): void;
}

// ── faults ─────────────────────────────────────────────────────────────────────────────────────

export const errors = ["enospc", "eio", "erofs", "emfile", "edquot"] as const;
export type DiskError = (typeof errors)[number];

/** Only that call; that one and all later ones; or half of its bytes first, as a disk fills up. */
export const kinds = ["passing", "lasting", "torn"] as const;
export type Kind = (typeof kinds)[number];

export interface Call {
  readonly number: number;
  /** The system's; `look` is an open that only reads. */
  readonly call: string;
  readonly where: string;
}

export interface Fault {
  readonly call: Call;
  readonly error: DiskError;
  readonly kind: Kind;
}

export const nameOf = ({ call, error, kind }: Fault): string => `${call.number}-${error}-${kind}`;

export const describe = ({ call, error, kind }: Fault): string => {
  const how = { passing: "once", lasting: "from then on", torn: "from its middle on" }[kind];
  return `${error.toUpperCase()} ${how} at call ${call.number} (${call.call} ${call.where})`;
};

const writesBytes = new Set(["write", "pwrite"]);
const isAboutRoom = (error: DiskError): boolean => error === "enospc" || error === "edquot";
/** Whoever only reads needs no room. */
const canStopReading = (error: DiskError): boolean => error === "eio" || error === "emfile";

export const everyFault = (calls: readonly Call[]): Fault[] =>
  calls.flatMap((call) =>
    errors
      .filter((error) => call.call !== "look" || canStopReading(error))
      .flatMap((error) =>
        kinds
          .filter((kind) => kind !== "torn" || (isAboutRoom(error) && writesBytes.has(call.call)))
          .map((kind) => ({ call, error, kind })),
      ),
  );

/** What the shim is told. */
export const orders = (
  shim: string,
  root: string,
  log: string,
  fault?: Pick<Fault, "error" | "kind"> & { readonly at: number },
): Record<string, string> => ({
  LD_PRELOAD: shim,
  FI_ROOT: root,
  FI_LOG: log,
  FI_OPENS: "1",
  FI_SAID: "1",
  ...(fault && {
    FI_AT: String(fault.at),
    FI_MODE: fault.error,
    ...(fault.kind !== "passing" && { FI_LASTING: "1" }),
    ...(fault.kind === "torn" && { FI_SHORT: "1" }),
  }),
});

/** What the shim has written down, in order. */
export interface Told extends Call {
  readonly refused: boolean;
  readonly file: string;
}

export function readTold(log: string, root: string): Told[] {
  const lines = fs.readFileSync(log, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const [number, call = "", file = "", failed] = line.split("\t");
    const where = file
      .replaceAll(`${root}/`, "")
      .replace(/(\.autodev-tmp-)\d*-?[0-9a-f-]{36}/, "$1…");
    return { number: Number(number), call, file, where, refused: failed !== undefined };
  });
}

// ── messages ───────────────────────────────────────────────────────────────────────────────────

/**
 * A message that explains names the system's word for it and the file, or a folder above it that
 * is ours; and it is a sentence, not the inside of a program.
 */
export function unexplained(
  message: string,
  refusals: readonly Told[],
  root: string,
  error: DiskError,
): string | undefined {
  if (/\n\s+at /.test(message)) return `a stack trace: ${message.slice(0, 200)}`;
  if (!message.includes(`(${error.toUpperCase()})`)) {
    return `it does not say ${error.toUpperCase()}: ${message.slice(0, 200)}`;
  }
  const names = refusals
    .flatMap(({ file }) => file.split(" -> "))
    .flatMap((file) => [file, ...above(path.relative(root, file))]);
  if (names.some((name) => message.includes(name))) return undefined;
  return `it names no file of ${[...new Set(refusals.map(({ where }) => where))].join(", ")}: ${message.slice(0, 200)}`;
}

/** The file and the folders above it, as far as `.git` or the root's own. */
function above(file: string): string[] {
  const parts = file.split(path.sep).filter((part) => part !== "");
  return parts
    .map((_, index) => parts.slice(0, parts.length - index).join("/"))
    .filter((name) => name !== ".git" && name !== "repo");
}

// ── the store ──────────────────────────────────────────────────────────────────────────────────

interface Subject extends Bench {
  readonly canonical: string;
  readonly template: string;
  readonly undisturbed: End;
}

async function faultStore(
  context: Context,
  options: DiskFaultOptions,
  bench: Bench,
): Promise<string | undefined> {
  const { scratch, shim, figures } = bench;
  const canonical = await canonicalProgram(options);
  const template = path.join(scratch, "template");
  await makeRepository(template);
  const repository = path.join(scratch, "undisturbed");
  fs.cpSync(template, repository, { recursive: true });
  const log = `${repository}.log`;
  const ran = await run([process.execPath, canonical, repository], {
    env: orders(shim, repository, log),
  });
  const undisturbed = await undisturbedBy(ran, canonical, repository);
  if (typeof undisturbed === "string") return undisturbed;
  const calls = readTold(log, repository).filter(({ call }) => call !== "said");
  const all = everyFault(calls);
  const chosen = choose(all, context, options.limit);
  figures.calls = calls.length;
  context.note(`${calls.length} calls of the store, ${chosen.length} of ${all.length} refusals`);

  const subject: Subject = { ...bench, canonical, template, undisturbed };
  let found = false;
  await inParallel(chosen, async (fault) => {
    // A planted bug is found once.
    if (options.plant && found) return;
    figures.runs++;
    const breaches = await refuseOnce(subject, fault);
    if (breaches.some(({ what }) => options.seen?.test(what) ?? true)) found = true;
    bench.tell(describe(fault), nameOf(fault), breaches);
  });
  return undefined;
}

/**
 * In the full tier all of them. Else by turns of what a call does and where, so that each kind of
 * call, each error and each way comes before any comes twice.
 */
function choose(
  all: readonly Fault[],
  { tier, seed, onlyCase }: Context,
  limit: number | undefined,
): Fault[] {
  if (onlyCase !== undefined) return all.filter((fault) => nameOf(fault) === onlyCase);
  if (tier === "full" && limit === undefined) return [...all];
  const random = randomFrom(seed, 12);
  const strata = new Map<string, Fault[]>();
  for (const fault of random.shuffled(all)) {
    const stratum = `${fault.call.call} ${placeOf(fault.call.where)}`;
    strata.set(stratum, [...(strata.get(stratum) ?? []), fault]);
  }
  const chosen: Fault[] = [];
  const timesOf = (part: "error" | "kind", fault: Fault): number =>
    chosen.filter((each) => each[part] === fault[part]).length;
  const most = Math.min(limit ?? runsInCi, all.length);
  for (const order = random.shuffled([...strata.values()]); chosen.length < most; ) {
    for (const stratum of order) {
      if (chosen.length === most || stratum.length === 0) continue;
      const rarest = stratum.reduce((one, other) =>
        timesOf("error", other) + timesOf("kind", other) <
        timesOf("error", one) + timesOf("kind", one)
          ? other
          : one,
      );
      stratum.splice(stratum.indexOf(rarest), 1);
      chosen.push(rarest);
    }
  }
  return chosen;
}

/** Which part of the store it is about. */
const placeOf = (where: string): string =>
  /(journal|answers|snapshot|lock|_docs)/.exec(where)?.[1] ?? "folder";

async function refuseOnce(subject: Subject, fault: Fault): Promise<Breach[]> {
  const { scratch, shim, canonical, template, figures } = subject;
  const repository = path.join(scratch, nameOf(fault));
  const log = `${repository}.log`;
  fs.cpSync(template, repository, { recursive: true });
  try {
    const ran = await run([process.execPath, canonical, repository], {
      env: orders(shim, repository, log, { ...fault, at: fault.call.number }),
    });
    const told = readTold(log, repository);
    const refusals = told.filter(({ refused }) => refused);
    figures.refusals += refusals.length;
    figures[ran.code === 0 ? "borne" : "stopped"]++;
    return [
      ...judgeStop(ran, told, repository, fault),
      ...(await judgeReading(subject, repository, ran, fault)),
      ...(await judgeMended(subject, repository, highestAck(ran.stdout))),
    ];
  } finally {
    fs.rmSync(repository, { recursive: true, force: true });
    fs.rmSync(log, { force: true });
  }
}

/** How the run took it: it has stopped and says why, or it did not need that call. */
function judgeStop(
  ran: Ran,
  told: readonly Told[],
  repository: string,
  { error }: Fault,
): Breach[] {
  const at = told.findIndex(({ refused }) => refused);
  // Without this, a run that takes another course would quietly test nothing.
  if (at < 0) return [{ kind: "never refused", what: ending(ran) }];
  const refusals = told.filter(({ refused }) => refused);
  const breaches: Breach[] = [];
  if (ran.code === 0) {
    // What the journal could not keep was never acknowledged: then the run cannot have gone on.
    const believed = refusals.find(
      ({ call, where }) => call.endsWith("sync") && where.endsWith(".log"),
    );
    if (believed) {
      breaches.push({
        kind: "lost",
        what: `${believed.call} of ${believed.where} was not believed`,
      });
    }
    return breaches;
  }
  if (ran.code !== 1) breaches.push({ kind: "unexplained messages", what: ending(ran) });
  const why = unexplained(ran.stderr, refusals, repository, error);
  if (why !== undefined) breaches.push({ kind: "unexplained messages", what: why });
  return breaches;
}

/** Others can look at it meanwhile: that takes no room. */
async function judgeReading(
  { shim, canonical }: Subject,
  repository: string,
  ran: Ran,
  { error, kind }: Fault,
): Promise<Breach[]> {
  if (kind !== "lasting" || canStopReading(error)) return [];
  const env = orders(shim, repository, `${repository}.log`, { error, kind, at: 1 });
  const found = await verify(canonical, repository, env);
  return lostIn(found, highestAck(ran.stdout), "while it lasts");
}

function lostIn(found: Verified | string, acked: number, when: string): Breach[] {
  if (typeof found === "string") return [{ kind: "lost", what: `${when}, ${found}` }];
  const breaches = found.problems.map(
    (what): Breach => ({ kind: "lost", what: `${when}, ${what}` }),
  );
  if (found.transitions < acked) {
    const what = `${when}, ${acked} acknowledged, ${found.transitions} found`;
    breaches.push({ kind: "lost", what });
  }
  return breaches;
}

/** The disk is good again: what is there, and where the same run comes to. */
async function judgeMended(
  { canonical, undisturbed }: Subject,
  repository: string,
  acked: number,
): Promise<Breach[]> {
  const ran = await run([process.execPath, canonical, repository, "--mend"]);
  if (ran.code !== 0) return [{ kind: "other ends", what: `it does not go on: ${ending(ran)}` }];
  const { found, refused, end } = JSON.parse(ran.stdout) as {
    found: Verified;
    refused?: string;
    end: Verified;
  };
  const breaches = lostIn(found, acked, "afterwards");
  if (end.doubled > 0) breaches.push({ kind: "doubled", what: `${end.doubled} transitions` });
  const whats = refused === undefined ? [] : [`it does not go on: ${refused}`];
  whats.push(...otherEnd(end, repository, undisturbed));
  return [...breaches, ...whats.map((what): Breach => ({ kind: "other ends", what }))];
}
