/**
 * What a Markdown document is made of, as far as a contract asks: headings and whether there is
 * text below them, tables, and lines such as `**Task**: 03`. Line by line, in one pass: an artifact
 * is judged after every attempt, whatever its size.
 *
 * 1. What stands in a code fence or a comment is no heading, no table and no field. A fence is text
 *    all the same: a picture may be all that a section needs. A comment is not.
 * 2. "TBD" is not text and not a value: it says that there is none. Nor is `[Name]`, which somebody
 *    was to replace.
 */

export interface Outline {
  readonly headings: readonly Heading[];
  readonly tables: readonly Table[];
  readonly fields: readonly Field[];
  /** Something is said, below a heading or before the first. */
  readonly hasText: boolean;
  /** Its lines; what is in a fence, a comment or the front matter is left out of them. */
  readonly prose: readonly string[];
}

/** `line`s begin with 1. */
export interface Heading {
  readonly level: number;
  /** Without marks and numbers, in lower case: as `plainHeading` makes it. */
  readonly text: string;
  readonly line: number;
  /** Before the next heading of the same level or above. */
  readonly hasText: boolean;
}

export interface Table {
  /** As `plainWords` makes them. */
  readonly columns: readonly string[];
  /** As they are written. */
  readonly head: readonly string[];
  readonly line: number;
  /** Those in which something stands. */
  readonly rows: readonly Row[];
}

export interface Row {
  readonly cells: readonly string[];
  readonly line: number;
}

export interface Field {
  readonly name: string;
  /** Empty: there is nothing, or a word that says so. */
  readonly value: string;
  readonly line: number;
}

export function outlineOf(document: string): Outline {
  const { prose, fenced } = partsOf(linesOf(document));
  const headings: { -readonly [Key in keyof Heading]: Heading[Key] }[] = [];
  const tables: Table[] = [];
  const fields: Field[] = [];
  let hasText = false;
  /** The heading that we are below, with those above it: six at the most. */
  let above: typeof headings = [];
  const begin = (level: number, text: string, line: number): void => {
    const heading = { level, text: plainHeading(text), line, hasText: false };
    above = [...above.filter((each) => each.level < level), heading];
    headings.push(heading);
  };
  const says = (text: string): void => {
    if (isNothing(text)) return;
    hasText = true;
    for (const heading of above) heading.hasText = true;
  };

  for (let at = 0; at < prose.length; at++) {
    const line = prose[at] ?? "";
    const text = line.trim();
    if (text === "") {
      says(fenced.get(at) ?? "");
      continue;
    }
    const title = titleIn(line);
    if (title) {
      begin(title.level, title.text, at + 1);
      continue;
    }
    const head = cellsOf(text);
    const next = prose[at + 1] ?? "";
    if (text.includes("|") && isDelimiter(next, head.length)) {
      const from = at;
      const rows: Row[] = [];
      for (at += 2; at < prose.length && isRow(prose[at] ?? ""); at++) {
        const cells = cellsOf((prose[at] ?? "").trim());
        if (cells.some((cell) => !isNothing(cell))) rows.push({ cells, line: at + 1 });
      }
      at--;
      tables.push({ columns: head.map(plainWords), head, line: from + 1, rows });
      if (rows.length > 0) says("rows");
      continue;
    }
    const field = fieldIn(text);
    if (field) fields.push({ ...field, line: at + 1 });
    const under = /^ {0,3}(=+|-+)[ \t]*$/.exec(next)?.[1];
    const isAlone = (prose[at - 1] ?? "").trim() === "";
    if (under !== undefined && isAlone && !field && /^[\p{L}\p{N}*_`[]/u.test(text)) {
      begin(under.startsWith("=") ? 1 : 2, text, at + 1);
      at++;
      continue;
    }
    says(field ? field.value : text);
  }
  return { headings, tables, fields, hasText, prose };
}

/** What counts as written, line by line, and by its index what stands in fences. */
function partsOf(lines: readonly string[]): { prose: string[]; fenced: Map<number, string> } {
  const first = afterFrontMatter(lines);
  const fenced = new Map<number, string>();
  let fence: Fence | undefined;
  let inComment = false;
  const prose = lines.map((line, at) => {
    if (at < first) return "";
    if (fence) {
      if (closes(fence, line)) fence = undefined;
      else fenced.set(at, line);
      return "";
    }
    const left = uncommented(line, inComment);
    inComment = left.inComment;
    fence = fenceIn(left.text.trim());
    return fence ? "" : left.text;
  });
  return { prose, fenced };
}

/** The lines of a text without what is in comments, where nothing else hides anything. */
export function uncommentedLines(lines: readonly string[]): string[] {
  let inComment = false;
  return lines.map((line) => {
    const left = uncommented(line, inComment);
    inComment = left.inComment;
    return left.text;
  });
}

/** What of a line is in no comment, and whether one is open at its end. In ticks, none begins. */
function uncommented(line: string, open: boolean): { text: string; inComment: boolean } {
  let [text, rest, inComment, inTicks] = ["", line, open, false];
  for (;;) {
    const mark = inComment ? "-->" : "<!--";
    const at = rest.indexOf(mark);
    const before = at < 0 ? rest : rest.slice(0, at);
    if (!inComment) {
      text += before;
      for (const letter of before) if (letter === "`") inTicks = !inTicks;
    }
    if (at < 0) return { text, inComment };
    rest = rest.slice(at + mark.length);
    if (inTicks) text += mark;
    else inComment = !inComment;
  }
}

/** Without their ends, and without the mark that some editors put first. */
export const linesOf = (document: string): string[] =>
  document
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((line) => line.replace(/\r$/, ""));

export interface Fenced {
  /** What stands behind the marks: ```` ```md path/of/it.md ````. */
  readonly info: string;
  readonly text: string;
  /** Of the first line within. */
  readonly line: number;
}

/** What stands in fences, and the lines of the document with those left empty. */
export function fencesOf(document: string): { fences: Fenced[]; prose: string[] } {
  const fences: Fenced[] = [];
  let open: { fence: Fence; info: string; from: number; lines: string[] } | undefined;
  const close = (): void => {
    if (open) fences.push({ info: open.info, text: open.lines.join("\n"), line: open.from + 1 });
    open = undefined;
  };
  const prose = document.split("\n").map((line, at) => {
    const text = line.trim();
    if (open) {
      if (closes(open.fence, line)) close();
      else open.lines.push(line);
      return "";
    }
    const fence = fenceIn(text);
    if (!fence) return line;
    open = { fence, info: text.slice(fence.length).trim(), from: at + 1, lines: [] };
    return "";
  });
  close();
  return { fences, prose };
}

/** Without emphasis, ticks, links, numbers before it or a colon after it; case does not matter. */
export const plainHeading = (text: string): string =>
  plainWords(text)
    .replace(/^[^\p{L}\p{N}]+/u, "")
    .replace(/^(?:\d+(?:\.\d+)*[.):]?|[a-z][.)])\s+/u, "")
    .replace(/:$/, "")
    .trim();

export const plainWords = (text: string): string =>
  text
    .replace(/[*_`]/g, "")
    .replace(/\[([^\][]*)\]\([^()]*\)/g, "$1")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase();

/** A rule, one of the words for "not yet", or a blank that somebody else was to fill in. */
export function isNothing(text: string): boolean {
  const words = text.replace(/[\s*_`>#.…?[\](){}<>-]/g, "").toLowerCase();
  return (
    words === "" || notYet.has(words) || isBlank(text.replace(/^(?:[-*+>][ \t]+)+/, "").trim())
  );
}

const notYet = new Set(
  "tbd todo tba fixme xxx wip placeholder tobedone tobedecided tobedetermined tobewritten comingsoon".split(
    " ",
  ),
);

/** `TODO: who pays`, `[Name]`, `<description>`, `{summary}`; not `[AZ-12]`, `[a, b]` or a link. */
const isBlank = (text: string): boolean =>
  /^(?:TBD|TODO|TBA|FIXME|XXX)\b|^[Ll]orem ipsum\b/.test(
    text.replace(/^(?:\[ \][ \t]*)?[*_`]*/, ""),
  ) ||
  (text.length <= longestBlank &&
    /^[*_`]*(?:\[[\p{L}' -]+\]|<[\p{L}' -]+>|\{[\p{L}' -]+\})[*_`.:]*$/u.test(text) &&
    !/^\W*none\W*$/i.test(text));

const longestBlank = 120;

/** A dash is a value: that something depends on nothing has to be said somehow. */
export const isDash = (text: string): boolean => /^[—–-]+$/.test(text.trim());

// ── one line ───────────────────────────────────────────────────────────────────────────────────

/** The first line below a front matter, where there is one. */
function afterFrontMatter(lines: readonly string[]): number {
  if ((lines[0] ?? "").trimEnd() !== "---") return 0;
  const end = lines.findIndex((line, at) => at > 0 && /^(?:---|\.\.\.)[ \t]*$/.test(line));
  return end < 0 ? 0 : end + 1;
}

interface Fence {
  readonly mark: string;
  readonly length: number;
}

/** However far it is indented: in a list, that is where it belongs. */
function fenceIn(text: string): Fence | undefined {
  const [run] = /^(?:`{3,}|~{3,})/.exec(text) ?? [];
  if (run === undefined) return undefined;
  const mark = run.charAt(0);
  // Ticks that close on the same line are code in a sentence.
  return mark === "`" && text.includes("`", run.length) ? undefined : { mark, length: run.length };
}

function closes({ mark, length }: Fence, line: string): boolean {
  const text = line.trim();
  return text.length >= length && text.startsWith(mark) && text.replaceAll(mark, "") === "";
}

function titleIn(line: string): { level: number; text: string } | undefined {
  const [all, marks] = /^ {0,3}(#{1,6})(?=[ \t]|$)/.exec(line) ?? [];
  if (all === undefined || marks === undefined) return undefined;
  const text = line.slice(all.length).trim();
  let end = text.length;
  while (text[end - 1] === "#") end--;
  const closed = end === 0 || /[ \t]/.test(text[end - 1] ?? "");
  return { level: marks.length, text: closed ? text.slice(0, end).trim() : text };
}

/** `**Task**: 03`, `**Task:** 03`, also in a list or a quotation. */
function fieldIn(text: string): Omit<Field, "line"> | undefined {
  const bare = text.replace(/^(?:[-*+>] ?)+(?=\*\*)/, "");
  if (!bare.startsWith("**")) return undefined;
  const end = bare.indexOf("**", 2);
  if (end < 3) return undefined;
  const name = bare.slice(2, end).trim();
  const rest = bare.slice(end + 2).trimStart();
  const inside = /[:：]$/.test(name);
  if (!inside && !/^[:：]/.test(rest)) return undefined;
  const value = (inside ? rest : rest.slice(1)).trim();
  return {
    name: plainWords(inside ? name.slice(0, -1) : name),
    value: isNothing(value) && !isDash(value) ? "" : value,
  };
}

const isRow = (line: string): boolean =>
  line.trim() !== "" && !titleIn(line) && !/^\s*>/.test(line);

/** `|---|:-:|`, with as many cells as the header has. */
function isDelimiter(line: string, columns: number): boolean {
  const text = line.trim();
  if (!/^[|:\- \t]+$/.test(text) || !text.includes("-")) return false;
  const cells = cellsOf(text);
  return cells.length === columns && cells.every((cell) => /^:?-+:?$/.test(cell));
}

/** A stroke after a backslash is part of the cell. */
export function cellsOf(text: string): string[] {
  const cells: string[] = [];
  let from = text.startsWith("|") ? 1 : 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === "|") {
      cells.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  if (from < text.length) cells.push(text.slice(from).trim());
  return cells;
}
