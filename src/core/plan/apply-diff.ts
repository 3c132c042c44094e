/**
 * Applies a unified diff as people and models write them into plans: line numbers that are off, or
 * none at all, no file names, no `@@`, blank lines without their leading space. What may not be off
 * is the context: lines that are kept or removed have to be there, together and in order.
 *
 * 1. Bytes that the diff does not speak of stay as they are, line ends included.
 * 2. A hunk goes where its lines fit, nearest to where it says; without a number, only if that is
 *    one place. Nothing is ever placed by guess.
 * 3. All hunks or none.
 */

export type Patched =
  | { readonly is: "applied"; readonly text: string }
  /** It does not fit, because what it would make is already there. */
  | { readonly is: "already" }
  | { readonly is: "misfit"; readonly reason: string };

/** Whether a code block is a diff: by its label, else by how it begins. */
export const isDiff = (info: string, text: string): boolean =>
  /^\{?\.?(?:diff|patch|udiff)\b/i.test(info.trim()) ||
  /^\s*(?:--- \S.*\r?\n\+\+\+ \S|@@(?:[ \t\r\n]|$)|diff --git )/.test(text);

/** `path`: whose part to take of a diff that speaks of several files. */
export function applyDiff(original: string, diff: string, path?: string): Patched {
  const parsed = parse(diff, path);
  if (typeof parsed === "string") return { is: "misfit", reason: parsed };
  if (parsed.isNew && original !== "") {
    return { is: "misfit", reason: "it makes a new file, and there is one" };
  }
  const lines = linesOf(original);
  const applied = applyHunks(lines, parsed);
  if (typeof applied !== "string") return { is: "applied", text: applied.text };
  const back = parsed.hunks.map(reversed);
  const isBack =
    back.every(isTelling) && typeof applyHunks(lines, { ...parsed, hunks: back }) !== "string";
  return isBack ? { is: "already" } : { is: "misfit", reason: applied };
}

/** What a hunk has made can be told from a file that never had what it removes. */
const isTelling = ({ lines }: Hunk): boolean =>
  lines.some(({ sign }) => sign === "-") ||
  (lines.length > 2 && lines[0]?.sign === " " && lines.at(-1)?.sign === " ");

/** Each hunk that is not where it says looks at every line; this many looks are a second or two. */
const mostLooks = 20_000_000;

interface Line {
  readonly text: string;
  /** "\n", "\r\n", or nothing at the end of the file. */
  readonly end: string;
}

interface HunkLine extends Line {
  readonly sign: " " | "+" | "-";
}

interface Hunk {
  /** For messages: which one, its header, its line in the diff. */
  readonly name: string;
  /** Lines before it in the old file, and in the new one; undefined: it does not say. */
  readonly before?: number;
  readonly beforeInNew?: number;
  /** A line that stands somewhere above it, after the `@@`. */
  readonly below: string;
  readonly lines: readonly HunkLine[];
}

interface Diff {
  readonly hunks: readonly Hunk[];
  readonly isNew: boolean;
  /** Its line ends are those of the file: git shows the CR of each line. */
  readonly showsReturns: boolean;
}

const isOld = ({ sign }: HunkLine): boolean => sign !== "+";

const linesOf = (text: string): Line[] =>
  text === ""
    ? []
    : text.split(/(?<=\n)/).map((line) => {
        const end = /\r?\n$/.exec(line)?.[0] ?? "";
        return { text: line.slice(0, line.length - end.length), end };
      });

// ── Placing ─────────────────────────────────────────────────────────────────────────────────

function applyHunks(original: readonly Line[], diff: Diff): { text: string } | string {
  const result: Line[] = [];
  let at = 0;
  let drift = 0;
  let looks = 0;
  for (const hunk of diff.hunks) {
    const stated = statedPlace(hunk, original, at, drift);
    if (stated === undefined) looks += original.length;
    if (looks > mostLooks) return `${hunk.name} is one too many that is not where it says`;
    const place = stated ?? searchedPlace(hunk, original, at, drift);
    if (typeof place === "string") return `${hunk.name} ${place}`;
    const after = place + hunk.lines.filter(isOld).length;
    if (hunk.before !== undefined) drift = place - hunk.before;
    // One by one: a spread of a long file is more arguments than a call may have.
    for (; at < place; at++) result.push(original[at] as Line);
    for (const line of hunk.lines) {
      if (line.sign === "+") {
        const end =
          line.end === "" || diff.showsReturns
            ? line.end
            : (endAround(original, at, place, after) ?? endAround(original, at) ?? "\n");
        result.push({ text: line.text, end });
      } else {
        if (line.sign === " ") result.push(original[at] as Line);
        at++;
      }
    }
  }
  for (; at < original.length; at++) result.push(original[at] as Line);
  const last = result.length - 1;
  const text = result.map((line, index) =>
    // What was the last line of a file without a final line end is not the last any more.
    line.end === "" && index < last
      ? line.text + (endAround(original, original.length) ?? "\n")
      : line.text + line.end,
  );
  return { text: text.join("") };
}

/** How lines end there: as the one before does, else the one after. */
function endAround(
  lines: readonly Line[],
  at: number,
  from = 0,
  to = lines.length,
): string | undefined {
  const near = [at - 1, at, at - 2].filter((index) => index >= from && index < to);
  return near.map((index) => lines[index]?.end).find((end) => end !== undefined && end !== "");
}

/** Where it says that it begins, if its lines are there. */
function statedPlace(
  { before, lines }: Hunk,
  original: readonly Line[],
  from: number,
  drift: number,
): number | undefined {
  if (before === undefined || before + drift < from) return undefined;
  const place = before + drift;
  const old = lines.filter(isOld);
  const isThere = old.every((line, at) => line.text === original[place + at]?.text);
  return isThere && place <= original.length ? place : undefined;
}

/** Where its lines are, or why there is no such place. */
function searchedPlace(
  hunk: Hunk,
  original: readonly Line[],
  from: number,
  drift: number,
): number | string {
  const old = hunk.lines.filter(isOld);
  if (old.length === 0) {
    if (hunk.before !== undefined) {
      return `adds after line ${hunk.before}, and there are ${original.length} lines`;
    }
    return original.length === 0 ? 0 : "does not say where its lines go: add context";
  }
  for (const same of [exactly, butForSpace]) {
    const places = placesOf(old, original, from, same);
    const [first, second] = places;
    if (first === undefined) continue;
    if (hunk.before !== undefined) return nearest(places, hunk.before + drift);
    const anchor = lineWith(hunk.below, original, from);
    const below = anchor === undefined ? undefined : places.find((place) => place >= anchor);
    if (below !== undefined || second === undefined) return below ?? first;
    return `fits on line ${first + 1} and on line ${second + 1}: add line numbers or context`;
  }
  return misfit(old, original, from);
}

const exactly = (a: Line, b: Line): boolean => a.text === b.text;
/** Editors take away spaces at the end of a line, also of a plan's lines. */
const butForSpace = (a: Line, b: Line): boolean => a.text.trimEnd() === b.text.trimEnd();

const nearest = (places: readonly number[], wanted: number): number =>
  places.reduce((best, place) =>
    Math.abs(place - wanted) < Math.abs(best - wanted) ? place : best,
  );

/** Knuth, Morris and Pratt: a file of equal lines must not take the square of its length. */
function placesOf(
  old: readonly Line[],
  lines: readonly Line[],
  from: number,
  same: (a: Line, b: Line) => boolean,
): number[] {
  const isSame = (a: Line | undefined, b: Line | undefined): boolean =>
    a !== undefined && b !== undefined && same(a, b);
  const shorter = [0];
  for (let at = 1, length = 0; at < old.length; at++) {
    while (length > 0 && !isSame(old[at], old[length])) length = shorter[length - 1] ?? 0;
    if (isSame(old[at], old[length])) length++;
    shorter.push(length);
  }
  const places: number[] = [];
  for (let at = from, length = 0; at < lines.length; at++) {
    while (length > 0 && !isSame(lines[at], old[length])) length = shorter[length - 1] ?? 0;
    if (isSame(lines[at], old[length])) length++;
    if (length === old.length) places.push(at - length + 1);
  }
  return places;
}

function lineWith(text: string, lines: readonly Line[], from: number): number | undefined {
  if (text === "") return undefined;
  const at = lines.findIndex((line, index) => index >= from && line.text.includes(text));
  return at < 0 ? undefined : at;
}

function misfit(old: readonly HunkLine[], original: readonly Line[], from: number): string {
  const there = new Set(original.slice(from).map((line) => line.text.trimEnd()));
  const absent = old.find((line) => !there.has(line.text.trimEnd()));
  const where = from === 0 ? "in the file" : `after line ${from} of the file`;
  return absent
    ? `does not fit: there is no line ${JSON.stringify(absent.text.slice(0, 120))} ${where}`
    : `does not fit: its lines are there, but not one after the other ${where}`;
}

const reversed = (hunk: Hunk): Hunk => ({
  ...hunk,
  ...(hunk.beforeInNew === undefined ? {} : { before: hunk.beforeInNew }),
  lines: hunk.lines.map((line) =>
    line.sign === " " ? line : { ...line, sign: line.sign === "+" ? "-" : "+" },
  ),
});

// ── Reading ─────────────────────────────────────────────────────────────────────────────────

interface Part {
  readonly names: readonly string[];
  readonly hunks: Hunk[];
}

const header = /^@@+ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
const preamble =
  /^(?:diff |index |new file|deleted file|old mode|new mode|(?:dis)?similarity |rename |copy |Index: |={5,}|\*\*\* |$)/;

/** The hunks that are meant for the file, or why they cannot be read. */
function parse(diff: string, path: string | undefined): Diff | string {
  const all = diff.split("\n");
  while (all.at(-1)?.trim() === "" && all.at(-1) !== " ") all.pop();
  const heads = all.filter((line) => /^(?:@@|--- |\+\+\+ )/.test(line));
  // A diff that went through a document with CRLF has them everywhere, also where git has none.
  const isCarried = (heads.length > 0 ? heads : all).every((line) => line.endsWith("\r"));
  const lines = isCarried ? all.map((line) => line.replace(/\r$/, "")) : all;
  const parts: Part[] = [];
  let isNew = false;
  let count = 0;
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    if (startsPart(lines, at)) {
      const names = [line, lines[at + 1] ?? ""].map(nameIn);
      isNew ||= names[0] === "/dev/null";
      parts.push({ names, hunks: [] });
      at += 2;
      continue;
    }
    const hasHead = line.startsWith("@@");
    if (!hasHead && preamble.test(line)) {
      at++;
      continue;
    }
    if (/^(?:GIT binary patch|Binary files )/.test(line)) return "it is a diff of a binary file";
    if (!hasHead && !/^[ +\\-]/.test(line)) return stray(line, at);
    const numbers = header.exec(line);
    const start = hasHead ? at + 1 : at;
    const end = (numbers && endByCount(lines, start, numbers)) ?? endByMarks(lines, start);
    const body = bodyOf(lines, start, end);
    if (typeof body === "string") return body;
    const title = hasHead ? `${line.trim()}, line ${at + 1} of the diff` : `line ${at + 1}`;
    if (parts.length === 0) parts.push({ names: [], hunks: [] });
    parts.at(-1)?.hunks.push({
      name: `hunk ${++count} (${title})`,
      ...(numbers ? numbersOf(numbers) : {}),
      below: numbers ? "" : anchorIn(line, hasHead),
      lines: body,
    });
    at = end;
  }
  const part = partFor(parts, path);
  if (typeof part === "string") return part;
  if (!part.hunks.some((hunk) => hunk.lines.some(({ sign }) => sign !== " "))) {
    return "it changes nothing: no line begins with + or -";
  }
  const showsReturns = !isCarried && all.some((line) => line.endsWith("\r"));
  return { hunks: part.hunks, isNew: isNew && parts.length === 1, showsReturns };
}

const startsPart = (lines: readonly string[], at: number): boolean =>
  /^--- \S/.test(lines[at] ?? "") && /^\+\+\+ \S/.test(lines[at + 1] ?? "");

const nameIn = (line: string): string => line.slice(4).split("\t")[0]?.trim() ?? "";

const stray = (line: string, at: number): string =>
  `line ${at + 1} of the diff begins with neither a space, + nor -: ${JSON.stringify(line.slice(0, 120))}`;

/** `@@ -3,0 +4,2 @@` adds after line 3; with old lines, the first of them is the number's. */
function numbersOf(numbers: RegExpExecArray): { before: number; beforeInNew: number } {
  const before = (start: string | undefined, count: string | undefined): number =>
    Math.max(0, Number(start) - (count === "0" ? 0 : 1));
  return { before: before(numbers[1], numbers[2]), beforeInNew: before(numbers[3], numbers[4]) };
}

/** `@@ function f() @@` and `@@ class A` name a line above; `@@ ... @@` names none. */
function anchorIn(line: string, hasHead: boolean): string {
  if (!hasHead) return "";
  const text = line.replace(/^@@+|@@+\s*$/g, "").trim();
  return /[\p{L}\p{N}]/u.test(text) && !/^[-+\d, ]+$/.test(text) ? text : "";
}

/** Where the hunk ends by the numbers of its head; undefined: they are not right. */
function endByCount(
  lines: readonly string[],
  start: number,
  numbers: RegExpExecArray,
): number | undefined {
  let old = Number(numbers[2] ?? 1);
  let made = Number(numbers[4] ?? 1);
  let at = start;
  for (; old > 0 || made > 0; at++) {
    const line = lines[at];
    // Trailing blank lines of a block are lost easily; as context they say nothing.
    if (line === undefined || line.startsWith("@@")) return undefined;
    const sign = line === "" || line === "\r" ? " " : line[0];
    if (sign === "\\") continue;
    if (sign !== " " && sign !== "+" && sign !== "-") return undefined;
    if (sign !== "+") old--;
    if (sign !== "-") made--;
    if (old < 0 || made < 0) return undefined;
  }
  if (lines[at]?.startsWith("\\")) at++;
  let next = at;
  while (lines[next]?.trim() === "") next++;
  const line = lines[next];
  const isEnd = line === undefined || /^(?:@@|diff |Index: )/.test(line) || startsPart(lines, next);
  return isEnd ? at : undefined;
}

function endByMarks(lines: readonly string[], start: number): number {
  let at = start;
  while (at < lines.length) {
    if (/^(?:@@|diff --git |Index: )/.test(lines[at] ?? "")) break;
    if (startsPart(lines, at) && lines[at + 2]?.startsWith("@@")) break;
    at++;
  }
  return at;
}

function bodyOf(lines: readonly string[], start: number, end: number): HunkLine[] | string {
  const body: HunkLine[] = [];
  let blank = 0;
  for (let at = start; at < end; at++) {
    const line = lines[at] ?? "";
    if (line.startsWith("\\")) {
      const last = body.pop();
      if (last) body.push({ ...last, end: "" });
      continue;
    }
    const sign = line[0];
    const isBlank = line.trim() === "" && sign !== " ";
    blank = isBlank ? blank + 1 : 0;
    if (!isBlank && sign !== " " && sign !== "+" && sign !== "-") return stray(line, at);
    const text = isBlank ? "" : line.slice(1);
    const returns = text.endsWith("\r");
    body.push({
      sign: isBlank ? " " : (sign as HunkLine["sign"]),
      text: returns ? text.slice(0, -1) : text,
      end: returns ? "\r\n" : "\n",
    });
  }
  // Blank lines between two hunks belong to the page, not to the file.
  return body.slice(0, body.length - blank);
}

function partFor(parts: readonly Part[], path: string | undefined): Part | string {
  const [first] = parts;
  if (!first || parts.every(({ hunks }) => hunks.length === 0)) return "it holds no hunk";
  const named = new Set(parts.flatMap(({ names }) => names.slice(1).map(withoutPrefix)));
  if (parts.length === 1 || named.size <= 1) {
    return { names: first.names, hunks: parts.flatMap(({ hunks }) => hunks) };
  }
  const wanted = parts.filter(({ names }) =>
    names.some((name) => path !== undefined && withoutPrefix(name) === withoutPrefix(path)),
  );
  if (wanted.length === 0) return `it speaks of ${[...named].join(", ")} and not of ${path ?? "?"}`;
  return {
    names: wanted[0]?.names ?? [],
    hunks: wanted.flatMap(({ hunks }) => hunks),
  };
}

const withoutPrefix = (name: string): string =>
  name.replace(/^"|"$/g, "").replace(/^(?:[ab]|\.)\//, "");
