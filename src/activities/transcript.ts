/**
 * Everything that an attempt's agent and gates printed: one file for each attempt, in our memory,
 * where no confined agent can write and no commit takes it from.
 *
 *  1. It is no truth: nothing is decided by it, nothing is synced, and a disk that cannot take it
 *     is no reason to stop. It never takes the last room of a disk, which the journal needs.
 *  2. Written as it comes, at least every half second; what waits to be written is bounded.
 *  3. Masked by `exec`, but otherwise raw: whoever shows it removes what a terminal would obey.
 *  4. An agent that prints without end is cut off at a size; how it ended is kept all the same.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { RunFolders, RunSite } from "./run-site.ts";

export interface Transcript {
  add(line: string): void;
  /** Everything is written that can be. */
  end(): void;
}

export const transcriptFile = (
  { transcripts }: Pick<RunFolders, "transcripts">,
  run: string,
  phase: string,
  attempt: number,
): string => path.join(transcripts, run, `${phase}-${attempt}.log`);

/** A line of ours among theirs. */
export const transcriptMark = "──";

/** A line of theirs: what begins like one of ours is set off, so that nobody speaks in our name. */
export const theirs = (line: string): string =>
  line.startsWith(transcriptMark) ? ` ${line}` : line;

/** Of this attempt, from where it stands. */
export const transcriptOf = (
  { folders, id }: RunSite,
  phase: string,
  attempt: number,
): Transcript => openTranscript(transcriptFile(folders, id, phase, attempt));

export interface TranscriptLimits {
  readonly mostBytes: number;
  /** Lines from the end that are kept beyond that, as far as they are not more than `lastBytes`. */
  readonly lastLines: number;
  readonly lastBytes: number;
  /** How much of the disk is left to others. */
  readonly spareBytes: number;
}

const usual: TranscriptLimits = {
  mostBytes: 20 * 1024 ** 2,
  lastLines: 200,
  lastBytes: 1024 ** 2,
  spareBytes: 32 * 1024 ** 2,
};

const flushBytes = 64 * 1024;
const flushMs = 500;

export function openTranscript(file: string, limits = usual): Transcript {
  const { mostBytes, lastLines, lastBytes, spareBytes } = limits;
  let taken = sizeOf(file);
  let fd: number | undefined;
  let waiting: string[] = [];
  let waitingBytes = 0;
  let isFull = false;
  let last: string[] = [];
  let heldBytes = 0;
  /** Lines that no disk took. */
  let lost = 0;
  /** The file may end in the middle of a line. */
  let isTorn = taken > 0;
  let timer: NodeJS.Timeout | undefined;

  const write = (lines: readonly string[]): void => {
    try {
      if (lines.length === 0) return;
      fd ??= openFile(file);
      if (roomAt(file) < spareBytes) throw new Error("the rest of the disk is for others");
      const missed = lost > 0 ? [`${transcriptMark} ${lost} lines could not be written`] : [];
      const bytes = Buffer.from(`${[...(isTorn ? [""] : []), ...missed, ...lines].join("\n")}\n`);
      isTorn = true;
      for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at);
      isTorn = false;
      lost = 0;
    } catch {
      // Full, read-only, closed to us: the run goes on without it.
      lost += lines.length;
    }
  };
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    write(waiting);
    waiting = [];
    waitingBytes = 0;
  };
  const put = (line: string, bytes: number): void => {
    waiting.push(line);
    waitingBytes += bytes;
    taken += bytes;
    if (waitingBytes >= flushBytes) flush();
    else timer ??= setTimeout(flush, flushMs).unref();
  };
  isTorn &&= !endsWithLine(file, taken);
  return {
    add(line) {
      const bytes = Buffer.byteLength(line) + 1;
      if (!isFull && taken + bytes <= mostBytes) return put(line, bytes);
      if (!isFull) put(leftOut(limits), 0);
      isFull = true;
      last.push(line);
      heldBytes += bytes;
      // Cut now and then: to shift at every line would move all of it every time.
      if (last.length <= 2 * lastLines && heldBytes <= 2 * lastBytes) return;
      last = lastOf(last, limits);
      heldBytes = last.reduce((sum, each) => sum + Buffer.byteLength(each) + 1, 0);
    },
    end() {
      flush();
      write(lastOf(last, limits));
      last = [];
      heldBytes = 0;
      try {
        if (fd !== undefined) fs.closeSync(fd);
      } catch {
        // A network's disk says only now that it is full.
      }
      fd = undefined;
    },
  };
}

/** The very last one always: it is how an agent ended. */
function lastOf(lines: readonly string[], { lastLines, lastBytes }: TranscriptLimits): string[] {
  let from = lines.length - 1;
  let bytes = Buffer.byteLength(lines[from] ?? "");
  while (from > 0 && lines.length - from < lastLines) {
    bytes += Buffer.byteLength(lines[from - 1] ?? "") + 1;
    if (bytes > lastBytes) break;
    from--;
  }
  return lines.slice(Math.max(0, from));
}

const leftOut = ({ mostBytes, lastLines }: TranscriptLimits): string =>
  `${transcriptMark} the rest is left out, but for its last ${lastLines} lines: a transcript holds ${Math.round(mostBytes / 1024 ** 2)} MB`;

function openFile(file: string): number {
  const folder = path.dirname(file);
  fs.mkdirSync(folder, { recursive: true });
  // A link would have us write into somebody's folder.
  for (const each of [path.dirname(folder), folder]) {
    if (!fs.lstatSync(each).isDirectory()) throw new Error(`${each} is a link`);
  }
  const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  // On Windows the last two are undefined, which adds nothing.
  return fs.openSync(file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o600);
}

function sizeOf(file: string): number {
  try {
    const stat = fs.lstatSync(file);
    return stat.isFile() ? stat.size : 0;
  } catch {
    return 0;
  }
}

/** A session that was killed may have left half a line. */
function endsWithLine(file: string, size: number): boolean {
  try {
    const fd = fs.openSync(file, "r");
    const byte = Buffer.alloc(1);
    fs.readSync(fd, byte, 0, 1, size - 1);
    fs.closeSync(fd);
    return byte[0] === 10;
  } catch {
    return false;
  }
}

function roomAt(file: string): number {
  const { bavail, bsize } = fs.statfsSync(path.dirname(file));
  return bavail * bsize;
}

// ── read again ─────────────────────────────────────────────────────────────────────────────────

/**
 * Line by line from `from` to the present end; returns where the last whole line ends, to go on from
 * there (`rest`: nobody goes on, half a line counts too; `most`: not many more bytes than these).
 * Undefined: there is none that can be read.
 */
export function readTranscript(
  file: string,
  from: number,
  each: (line: string) => void,
  { rest = false, most = Number.POSITIVE_INFINITY } = {},
): number | undefined {
  let fd: number;
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    fd = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    if (!fs.fstatSync(fd).isFile()) return undefined;
    const chunk = Buffer.alloc(flushBytes);
    let held = Buffer.alloc(0);
    let at = from;
    for (;;) {
      const read = fs.readSync(fd, chunk, 0, chunk.length, at + held.length);
      const bytes = Buffer.concat([held, chunk.subarray(0, read)]);
      const whole = bytes.lastIndexOf(10) + 1;
      // Nobody writes lines of such length; whoever has put one there is shown it in pieces.
      const end = whole === 0 && bytes.length >= longestLine ? bytes.length : whole;
      if (end > 0) for (const line of linesIn(bytes.subarray(0, end))) each(line);
      held = Buffer.from(bytes.subarray(end));
      at += end;
      if (at - from >= most) return at;
      if (read > 0) continue;
      if (rest && held.length > 0) each(held.toString("utf8"));
      return at;
    }
  } catch {
    return undefined;
  } finally {
    fs.closeSync(fd);
  }
}

/** What its agent was told, where that stands in it, and where it ends. */
export function briefIn(
  file: string,
): { readonly heading: string; readonly text?: string; readonly end: number } | undefined {
  let heading: string | undefined;
  const lines: string[] = [];
  let [end, over] = [0, false];
  readTranscript(
    file,
    0,
    (line) => {
      if (heading === undefined) heading = line;
      else if (over || !isOfBrief(heading, line)) over = true;
      else lines.push(line);
      if (!over) end += Buffer.byteLength(line) + 1;
    },
    { most: mostBrief },
  );
  if (heading === undefined) return undefined;
  const text = lines.map((line) => (isSpoken(heading ?? "") ? line.slice(2) : line)).join("\n");
  return { heading, end, ...(lines.length > 0 && { text }) };
}

const mostBrief = 1024 ** 2;

/** Set off with a mark for whom we have started; alone, up to our next line, for whoever came for it. */
const isOfBrief = (heading: string, line: string): boolean =>
  isSpoken(heading)
    ? line.startsWith("> ")
    : isFetched(heading) && !line.startsWith(transcriptMark);

const isSpoken = (heading: string): boolean =>
  /^── attempt \d+ at phase \S+, by \S+ speaking \w+$/.test(heading);
const isFetched = (heading: string): boolean =>
  /^── attempt \d+ at phase \S+, fetched by /.test(heading);

/** An agent's line can hold a whole file (`spoken.ts`). */
const longestLine = 8 * 1024 ** 2;

const linesIn = (bytes: Buffer): string[] => bytes.toString("utf8").replace(/\n$/, "").split("\n");
