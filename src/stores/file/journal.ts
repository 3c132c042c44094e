/**
 * The journal: an append-only history in segments, one segment for each session that ever wrote.
 *
 * Invariants
 *  1. A segment is created exclusively, under the number of its epoch, and written by the one
 *     session that created it. So an overtaken writer can only ever touch its own, older segment.
 *  2. A writer first claims its segment and only then reads where history ends. After each
 *     append, an older writer looks whether a newer segment exists before it acknowledges. Either
 *     the newer one has read that append, or it is never acknowledged: no clock, no lease.
 *  3. A segment begins with a copy of the transition before it. So what the new session builds
 *     on is durable in its own file, even where the older file was never synced.
 *  4. Nothing is cut off or rewritten, ever: a torn end simply stays in its closed segment.
 *     After an error on append, the segment is left and the next append claims a new one.
 *  5. A transition is acknowledged after one write and one sync.
 */
import * as path from "node:path";
import { type Failure, fail, type Result, succeed } from "../../core/failure.ts";
import {
  type Head,
  type StoredTransition,
  type Tail as StoreTail,
  since,
  type Transition,
} from "../../store.ts";
import { type AppendFile, codeOf, type Disk, reasonFor } from "./disk.ts";
import {
  claimedSeq,
  claimsHash,
  decodeRecords,
  encodeRecord,
  genesis,
  type Hash,
  type RecordLine,
  type Tail,
} from "./record.ts";

export interface Place {
  readonly disk: Disk;
  /** `<git common dir>/autodev` */
  readonly folder: string;
  /** What people are shown instead of `folder`. */
  readonly shown: string;
  readonly sha256: Hash;
}

export const emptyHead: Head = { seq: 0, hash: genesis };

const perFolder = 1000;
const largestSegment = 8 * 1024 * 1024;

export const journalFolder = (place: Place): string => path.join(place.folder, "journal");

export const segmentFile = (place: Place, epoch: number): string =>
  path.join(
    journalFolder(place),
    String(Math.floor(epoch / perFolder)).padStart(4, "0"),
    `${String(epoch).padStart(8, "0")}.log`,
  );

export const shownSegment = (place: Place, epoch: number): string =>
  path.join(place.shown, path.relative(place.folder, segmentFile(place, epoch)));

const numbered = (names: readonly string[], pattern: RegExp): number[] =>
  names
    .flatMap((name) => {
      const match = pattern.exec(name);
      return match ? [Number(match[1])] : [];
    })
    .sort((a, b) => a - b);

const groups = (place: Place): number[] =>
  numbered(place.disk.list(journalFolder(place)), /^(\d{4,})$/);

const epochsIn = (place: Place, group: number): number[] =>
  numbered(place.disk.list(path.dirname(segmentFile(place, group * perFolder))), /^(\d{8,})\.log$/);

export const allEpochs = (place: Place): number[] =>
  groups(place).flatMap((group) => epochsIn(place, group));

/** Looks at the last folder only: a year of sessions costs no more than a week. */
const latestEpoch = (place: Place): number => {
  for (const group of groups(place).reverse()) {
    const last = epochsIn(place, group).at(-1);
    if (last !== undefined) return last;
  }
  return 0;
};

/** Where the newest segments are. */
export const newestFolder = (place: Place): string =>
  path.dirname(segmentFile(place, latestEpoch(place)));

// ── reading ────────────────────────────────────────────────────────────────────────────────────

/** Where a line stands, so that the next reader can begin there. */
export interface Mark {
  readonly head: Head;
  readonly segment: number;
  readonly start: number;
  readonly end: number;
}

interface Link extends RecordLine {
  readonly segment: number;
}

export interface History {
  readonly head: Head;
  readonly mark: Mark | undefined;
  readonly transitions: readonly StoredTransition[];
  /** Written by a session that had been overtaken; never acknowledged, kept where they are. */
  readonly late: readonly { readonly segment: number; readonly seq: number }[];
  /** Unfinished appends, kept where they are. */
  readonly torn: readonly {
    readonly segment: number;
    readonly at: number;
    readonly bytes: number;
  }[];
}

export interface Damage {
  readonly kind: "flipped" | "missing" | "two-epochs" | "newer";
  readonly segment: number;
  readonly at: number;
  readonly reason: string;
}

export type Walk = { readonly links: readonly Link[]; readonly damage?: Damage } & Pick<
  History,
  "late" | "torn"
>;

export function readWhole(place: Place): Result<History> {
  const walk = walkSegments(
    place,
    allEpochs(place).map((epoch) => ({ epoch, from: 0 })),
  );
  if (walk.damage) return { ok: false, failure: damageFailure(place, walk.damage) };
  return succeed(historyOf(walk, walk.links));
}

/**
 * How the journal stands to a mark: it ends there, it goes on, or it does not hold it any more.
 * One look at one line: nothing is computed and nothing else is read.
 */
export function standsTo(place: Place, mark: Mark): "ends" | "goes-on" | "lost" {
  const bytes = place.disk.readFrom(segmentFile(place, mark.segment), mark.start);
  const length = mark.end - mark.start;
  if (!bytes || bytes.length < length) return "lost";
  const line = bytes.toString("latin1", 0, Math.min(bytes.length, 220));
  if (!claimsHash(line, mark.head.hash)) return "lost";
  const latest = latestEpoch(place);
  if (latest < mark.segment) return "lost";
  return bytes.length === length && latest === mark.segment ? "ends" : "goes-on";
}

/** What came after `mark`; undefined: the journal does not hold that mark any more. */
export function readAfter(place: Place, mark: Mark): Result<History> | undefined {
  const stands = standsTo(place, mark);
  if (stands === "lost") return undefined;
  if (stands === "ends") {
    return succeed({ head: mark.head, mark, transitions: [], late: [], torn: [] });
  }
  const latest = latestEpoch(place);
  const later: { epoch: number; from: number }[] = [{ epoch: mark.segment, from: mark.start }];
  for (let epoch = mark.segment + 1; epoch <= latest; epoch++) later.push({ epoch, from: 0 });
  const walk = walkSegments(place, later, { fromMark: true });
  if (walk.damage) return { ok: false, failure: damageFailure(place, walk.damage) };
  if (walk.links[0]?.hash !== mark.head.hash) return undefined;
  return succeed(historyOf(walk, walk.links.slice(1)));
}

/**
 * From the transition on that this event is part of: back to the segment that begins no later, which
 * is as far as anybody has to read. Undefined: that part alone does not make sense.
 */
export function readSince(place: Place, event: number): History | undefined {
  const epochs = allEpochs(place);
  let first = epochs.length - 1;
  while (first > 0 && !(beginningOf(place, epochs[first] as number) <= event)) first--;
  const segments = epochs.slice(Math.max(0, first)).map((epoch) => ({ epoch, from: 0 }));
  const walk = walkSegments(place, segments, { fromMark: first > 0 });
  if (walk.damage || walk.links.length === 0) return undefined;
  const history = historyOf(walk, walk.links);
  return { ...history, transitions: since(history.transitions, event) };
}

/** The event that a segment begins with; NaN: its writer never wrote. */
function beginningOf(place: Place, epoch: number): number {
  const bytes = place.disk.read(segmentFile(place, epoch));
  return claimedSeq(bytes?.toString("latin1", 0, 220) ?? "");
}

/** Reads on from where it was; from the beginning, where the journal has become another. */
export function openTail(place: Place): StoreTail {
  let mark: Mark | undefined;
  return {
    next() {
      const after = mark && readAfter(place, mark);
      const read = after?.ok ? after : readWhole(place);
      if (!read.ok) return read;
      const anew = mark !== undefined && !after?.ok;
      mark = read.value.mark;
      return succeed({ transitions: read.value.transitions, anew });
    },
  };
}

/** Joins segments into one chain, oldest first, and tells where it breaks, if it does. */
export function walkSegments(
  place: Place,
  segments: readonly { epoch: number; from: number }[],
  { fromMark = false } = {},
): Walk {
  const links: Link[] = [];
  const late: { segment: number; seq: number }[] = [];
  const torn: { segment: number; at: number; bytes: number }[] = [];
  let unexplained: Damage | undefined;
  const broken = (damage: Damage): Walk => ({ links, late, torn, damage });

  for (const [index, { epoch, from }] of segments.entries()) {
    const bytes = place.disk.read(segmentFile(place, epoch));
    if (!bytes) return broken(gap(epoch, 0, `the segment ${shownSegment(place, epoch)} is gone`));
    const { records, tail } = decodeRecords(bytes, from, place.sha256);
    const [first] = records;
    if (first) {
      const joint = index === 0 && fromMark ? "end" : joinOf(links, first);
      if (joint === undefined) {
        const last = links.at(-1);
        const expected = last ? last.seq + last.events : 1;
        const reason =
          first.seq > expected
            ? `transitions ${expected} to ${first.seq - 1} are missing before it`
            : "it does not follow from what stands before it";
        return broken(unexplained ?? gap(epoch, first.start, reason));
      }
      if (joint !== "end") {
        const dropped = links.splice(joint + 1);
        const writers = new Set(dropped.map(({ segment }) => segment));
        if (writers.size < dropped.length) {
          return broken(
            gap(epoch, first.start, "more than an overtaken writer can leave stands before it"),
          );
        }
        for (const { segment, seq } of dropped) late.push({ segment, seq });
        // The copy takes the original's place: it is the one that is known to be durable.
        if (joint >= 0) links.pop();
      }
      unexplained = undefined;
      for (const [at, record] of records.entries()) {
        const last = links.at(-1);
        if (
          at > 0 &&
          last &&
          (record.seq !== last.seq + last.events || record.prev !== last.hash)
        ) {
          return broken(
            gap(epoch, record.start, `transition ${last.seq + last.events} is missing before it`),
          );
        }
        if (record.epoch > epoch || (at > 0 && record.epoch !== epoch)) {
          return broken({
            kind: "two-epochs",
            segment: epoch,
            at: record.start,
            reason: `it was written in epoch ${record.epoch}, its segment belongs to epoch ${epoch}`,
          });
        }
        links.push({ ...record, segment: epoch });
      }
    }
    if (tail.is === "newer") return broken(newer(epoch, tail));
    if (tail.is === "torn") torn.push({ segment: epoch, at: tail.at, bytes: tail.bytes });
    if (tail.is === "damaged") {
      unexplained ??= { kind: "flipped", segment: epoch, at: tail.at, reason: tail.reason };
    }
  }
  return unexplained ? broken(unexplained) : { links, late, torn };
}

/**
 * At the end of the chain, or in the place of the link that it is a copy of (-1: a history that
 * was still empty when its writer looked), or nowhere.
 */
function joinOf(links: readonly Link[], first: RecordLine): "end" | number | undefined {
  const last = links.at(-1);
  if (!last) return first.seq === 1 && first.prev === genesis ? "end" : undefined;
  if (first.seq === 1 && first.hash !== links[0]?.hash) return -1;
  if (first.seq === last.seq + last.events && first.prev === last.hash) return "end";
  for (let at = links.length - 1; at >= 0; at--) {
    const link = links[at] as Link;
    if (link.hash === first.hash) return at;
    if (link.seq < first.seq) return undefined;
  }
  return undefined;
}

const gap = (segment: number, at: number, reason: string): Damage => ({
  kind: "missing",
  segment,
  at,
  reason,
});

const newer = (segment: number, tail: Extract<Tail, { is: "newer" }>): Damage => ({
  kind: "newer",
  segment,
  at: tail.at,
  reason: `it has format ${tail.format}, this autodev reads format 1`,
});

const historyOf = (walk: Walk, links: readonly Link[]): History => {
  const last = walk.links.at(-1);
  return {
    head: last ? headOf(last) : emptyHead,
    mark: last && markOf(last),
    transitions: links.map(transitionOf),
    late: walk.late,
    torn: walk.torn,
  };
};

const headOf = (record: RecordLine): Head => ({
  seq: record.seq + record.events - 1,
  hash: record.hash,
});

const markOf = (link: Link): Mark => ({
  head: headOf(link),
  segment: link.segment,
  start: link.start,
  end: link.end,
});

export const transitionOf = (record: RecordLine): StoredTransition => ({
  ...(JSON.parse(record.payload) as Transition),
  seq: record.seq,
  epoch: record.epoch,
});

export function damageFailure(place: Place, damage: Damage): Failure {
  const file = shownSegment(place, damage.segment);
  const line = lineAt(place.disk.read(segmentFile(place, damage.segment)), damage.at);
  const where = `${file}:${line}`;
  if (damage.kind === "newer") {
    const { failure } = fail(
      "journal-newer",
      `${where} was written by a newer autodev: ${damage.reason}`,
      { file, line, hint: "npm install --global autodev@latest" },
    );
    return failure;
  }
  const { failure } = fail("journal-damaged", `${where} cannot be relied on: ${damage.reason}`, {
    file,
    line,
    hint: "autodev doctor --fix keeps the damaged journal aside and goes on with all that can be read",
  });
  return failure;
}

function lineAt(bytes: Buffer | undefined, offset: number): number {
  let line = 1;
  for (
    let at = bytes?.indexOf(10) ?? -1;
    at >= 0 && at < offset;
    at = bytes?.indexOf(10, at + 1) ?? -1
  ) {
    line++;
  }
  return line;
}

// ── writing ────────────────────────────────────────────────────────────────────────────────────

export interface Writer {
  readonly epoch: number;
  readonly mark: Mark | undefined;
  append(expectedSeq: number, transition: Transition): Promise<Result<Head>>;
  close(): Promise<void>;
}

/**
 * Claims the next epoch, then reads where history ends (invariant 2) and starts the segment
 * with its last transition (invariant 3). The caller holds the lock; this is safe without it.
 */
export async function openWriter(
  place: Place,
  readHistory: () => Result<History>,
): Promise<Result<Writer>> {
  const found = readHistory();
  if (!found.ok) return found;
  try {
    const { claimed, history } = await claimNext(place, readHistory);
    if (!history.ok) {
      await claimed.file.close();
      return history;
    }
    const last = history.value.mark;
    const line = last && lineBytes(place, last);
    if (line) {
      await claimed.file.append(line);
      await claimed.file.sync();
    }
    return succeed(writer(place, claimed, history.value.mark, line));
  } catch (error) {
    return diskFailure(place, error);
  }
}

/** A claim that was overtaken before it had read history is worth nothing: the next one, then. */
async function claimNext(
  place: Place,
  readHistory: () => Result<History>,
): Promise<{ claimed: Claim; history: Result<History> }> {
  for (let epoch = latestEpoch(place) + 1; ; epoch++) {
    const claimed = await claimEpoch(place, epoch);
    if (!claimed) continue;
    const history = readHistory();
    if (!history.ok || !overtaken(place, epoch)) return { claimed, history };
    await claimed.file.close();
  }
}

interface Claim {
  readonly epoch: number;
  readonly file: AppendFile;
  bytes: number;
}

/** Undefined: somebody else has that epoch. */
async function claimEpoch(place: Place, epoch: number): Promise<Claim | undefined> {
  const file = segmentFile(place, epoch);
  const folder = path.dirname(file);
  await place.disk.makeFolder(folder);
  // A folder that a power cut forgets takes its files with it: sync up to git's own, each time,
  // since whoever made them may not have lived to do so.
  for (const parent of [journalFolder(place), place.folder, path.dirname(place.folder)]) {
    await place.disk.syncFolder(parent);
  }
  try {
    await place.disk.create(file, Buffer.alloc(0));
  } catch (error) {
    if (codeOf(error) === "EEXIST") return undefined;
    throw error;
  }
  await place.disk.syncFolder(folder);
  return { epoch, file: await place.disk.openForAppend(file), bytes: 0 };
}

function lineBytes(place: Place, mark: Mark): Buffer {
  const bytes = place.disk.readFrom(segmentFile(place, mark.segment), mark.start);
  const line = Buffer.from(bytes?.subarray(0, mark.end - mark.start) ?? []);
  // The one thing a torn write may have cost a whole line is its line break.
  return line.at(-1) === 10 ? line : Buffer.concat([line, Buffer.from("\n")]);
}

function writer(
  place: Place,
  firstClaim: Claim,
  found: Mark | undefined,
  foundLine: Buffer | undefined,
): Writer {
  let claim = firstClaim;
  let lastLine = foundLine;
  claim.bytes = foundLine?.length ?? 0;
  let mark: Mark | undefined = found && {
    ...found,
    segment: claim.epoch,
    start: 0,
    end: claim.bytes,
  };
  let suspect = false;
  let fenced = false;

  /**
   * A fresh file after an error or at full length: the same session, the very next epoch.
   * Had anybody else taken that one, we would have been overtaken.
   */
  const moveOn = async (): Promise<boolean> => {
    const next = await claimEpoch(place, claim.epoch + 1);
    if (!next) return false;
    await claim.file.close();
    if (lastLine) {
      await next.file.append(lastLine);
      await next.file.sync();
      next.bytes = lastLine.length;
      if (mark) mark = { ...mark, segment: next.epoch, start: 0, end: lastLine.length };
    }
    claim = next;
    suspect = false;
    return true;
  };

  const appendNow = async (expectedSeq: number, transition: Transition): Promise<Result<Head>> => {
    const head = mark?.head ?? emptyHead;
    if (fenced) return fencedFailure(place, claim.epoch);
    if (expectedSeq !== head.seq) {
      return fail(
        "journal-moved-on",
        `the history is at ${head.seq}, not at ${expectedSeq}: what was decided on is no longer so`,
      );
    }
    try {
      const full = suspect || claim.bytes > largestSegment;
      if (hasSuccessor(place, claim.epoch) || (full && !(await moveOn()))) {
        fenced = true;
        return fencedFailure(place, claim.epoch);
      }
      const seq = head.seq + 1;
      const { line, hash } = encodeRecord(
        {
          seq,
          events: transition.events.length,
          epoch: claim.epoch,
          prev: head.hash,
          payload: JSON.stringify(transition),
        },
        place.sha256,
      );
      const bytes = Buffer.from(line);
      suspect = true;
      await claim.file.append(bytes);
      await claim.file.sync();
      if (overtaken(place, claim.epoch)) {
        fenced = true;
        return fencedFailure(place, claim.epoch);
      }
      suspect = false;
      const start = claim.bytes;
      claim.bytes += bytes.length;
      lastLine = bytes;
      mark = {
        head: { seq: head.seq + transition.events.length, hash },
        segment: claim.epoch,
        start,
        end: claim.bytes,
      };
      return succeed(mark.head);
    } catch (error) {
      return diskFailure(place, error);
    }
  };

  let last: Promise<unknown> = Promise.resolve();
  return {
    get epoch() {
      return claim.epoch;
    },
    get mark() {
      return mark;
    },
    append(expectedSeq, transition) {
      const turn = last.then(() => appendNow(expectedSeq, transition));
      last = turn.catch(() => {});
      return turn;
    },
    async close() {
      await last;
      await claim.file.close();
    },
  };
}

const hasSuccessor = (place: Place, epoch: number): boolean =>
  place.disk.exists(segmentFile(place, epoch + 1));

/** Somebody claimed a later epoch, or took our segment away under us. */
const overtaken = (place: Place, epoch: number): boolean =>
  hasSuccessor(place, epoch) || !place.disk.exists(segmentFile(place, epoch));

const fencedFailure = (place: Place, epoch: number): ReturnType<typeof fail> =>
  fail(
    "journal-fenced",
    `another autodev has taken over this repository (epoch ${epoch} is no longer the latest); nothing more is written here`,
    { file: shownSegment(place, epoch + 1), hint: "autodev status shows where it stands now" },
  );

export function diskFailure(place: Place, error: unknown): ReturnType<typeof fail> {
  const code = codeOf(error);
  if (!code) throw error;
  const at = error instanceof Error && "path" in error ? String(error.path) : place.folder;
  return fail("disk", `${at} cannot be written: ${reasonFor(code)} (${code})`, {
    file: at,
    hint: "nothing was lost: make room or mend the permissions, then run the same command again",
  });
}
