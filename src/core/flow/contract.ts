/**
 * Whether what a skill promises is there: facts in, a sentence for everything that is missing out.
 * An agent that said "done" reads these sentences and nothing else, so each names the file, the
 * line where there is one, what has to stand there, and what was found instead.
 *
 * 1. Every file that matches has to be as the contract says, not just one of them: forty tasks
 *    with a header do not make up for the one without.
 * 2. An empty file is no artifact, and a file that cannot be looked into proves nothing.
 * 3. Names that begin with a dot are marks and keep folders in git; a `*` does not mean them.
 * 4. What is in a code fence or a comment of a document is not said by it.
 * 5. One thing that is wrong is one sentence: a document that is a single fence has no section, no
 *    table and no verdict, and is told only that.
 */
import { nearest } from "../nearest.ts";
import { patternOf } from "./glob.ts";
import {
  cellsOf,
  isDash,
  isNothing,
  linesOf,
  type Outline,
  outlineOf,
  plainHeading,
  plainWords,
  type Table,
  uncommentedLines,
} from "./outline.ts";
import type { Artifact } from "./skill.ts";

export interface Unmet {
  /** Below `_docs/`; a pattern, where no file matches. */
  readonly path: string;
  readonly line?: number;
  /** A sentence, without its full stop; it begins with the path where there is a line. */
  readonly message: string;
}

/** In which a contract has to be kept. */
export interface ContractTime {
  readonly cycle: number;
  /** The earliest day that a `{date}` may be: when the step began. Absent: any day. */
  readonly date?: string;
}

/** Paths below `_docs/`, with their sizes. */
export type Docs = ReadonlyMap<string, number>;

export function unmetBy(
  artifacts: readonly Artifact[],
  facts: { readonly docs: Docs; readonly texts: ReadonlyMap<string, string> },
  time: ContractTime,
): Unmet[] {
  const { docs, texts } = facts;
  const outlines = new Map<string, Outline>();
  const outlined = (path: string, text: string): Outline => {
    const outline = outlines.get(path) ?? outlineOf(text);
    outlines.set(path, outline);
    return outline;
  };
  const found = artifacts.flatMap((artifact) => {
    const paths = matching(artifact.path, docs, time);
    const named = artifact.mentions === undefined ? [] : matching(artifact.mentions, docs, time);
    return [
      ...tooFew(artifact, paths.length, { artifacts, docs, time }),
      ...paths.flatMap((path): Unmet[] => {
        const text = texts.get(path);
        if (docs.get(path) === 0 || text?.trim() === "")
          return [{ path, message: `${path} is empty` }];
        if (!isLookedInto(artifact, path)) return [];
        if (text === undefined || text.includes("\0"))
          return [{ path, message: `${path} cannot be read as text: it has to be UTF-8` }];
        const paper: Paper = { path, text, outline: () => outlined(path, text) };
        const whole = wholeUnmet(artifact, paper);
        return whole ? [whole] : partsUnmet(artifact, paper, named);
      }),
    ];
  });
  // Two patterns may mean the same file, and find the same wrong with it.
  return [...new Map(found.map((each) => [sentenceOf(each), each])).values()];
}

/** As it is told to whoever has to mend it: with the line. */
export const sentenceOf = ({ path, line, message }: Unmet): string =>
  line === undefined ? message : `${path}:${line}${message.slice(path.length)}`;

/** The files whose texts `unmetBy` has to be given. */
export const textsOf = (artifacts: readonly Artifact[], docs: Docs, time: ContractTime): string[] =>
  sorted(
    artifacts.flatMap((artifact) =>
      matching(artifact.path, docs, time).filter(
        (path) => isLookedInto(artifact, path) || (docs.get(path) ?? 0) <= mostBlank,
      ),
    ),
  );

/** So few bytes may be nothing but the end of a line. */
const mostBlank = 16;

/** The files that are there already, of those that are promised. */
export const existing = (
  artifacts: readonly Artifact[],
  docs: Docs,
  time: ContractTime,
): string[] => sorted(artifacts.flatMap(({ path }) => matching(path, docs, time)));

const sorted = (paths: readonly string[]): string[] => [...new Set(paths)].sort();

/** What has to be there and nothing more: as a skill names what it needs. */
export const artifactAt = (path: string): Artifact => ({
  path,
  least: 1,
  optional: false,
  sections: [],
  columns: [],
  fields: [],
});

/** A document has to say something, even where nothing else is asked of it. */
const isLookedInto = (artifact: Artifact, path: string): boolean =>
  isDocument(path) || isAsked(artifact);

const isAsked = ({ sections, columns, fields, says, mentions }: Artifact): boolean =>
  sections.length + columns.length + fields.length > 0 ||
  says !== undefined ||
  mentions !== undefined;

const isDocument = (path: string): boolean => /\.md$/i.test(path);

// ── a skill that leaves nothing ────────────────────────────────────────────────────────────────

/** By path, what tells one content from another; below `_docs/`. */
export type Marks = ReadonlyMap<string, string>;

/** What a skill that writes nothing has written all the same. */
export function writtenBetween(before: Marks, after: Marks): Unmet[] {
  const how = (path: string): string | undefined => {
    if (!after.has(path)) return "was removed";
    if (!before.has(path)) return "was added";
    return before.get(path) === after.get(path) ? undefined : "was changed";
  };
  return sorted([...before.keys(), ...after.keys()]).flatMap((path) => {
    const what = how(path);
    return what === undefined
      ? []
      : [{ path, message: `${path} ${what}, and this skill writes nothing` }];
  });
}

/** Words that nobody waits for; undefined: any will do. */
export const reportsUnmet = (
  known: readonly string[] | undefined,
  reports: readonly string[],
): string[] =>
  [...new Set(reports)]
    .filter((word) => known !== undefined && !known.includes(word.split(":")[0] ?? ""))
    .map((word) => `its result reports ${quoted(word)}, and may report ${anyOf(known ?? [])}`);

const anyOf = (words: readonly string[]): string =>
  words.length === 0 ? "nothing" : `only ${words.join(", ")} or nothing`;

// ── which files ────────────────────────────────────────────────────────────────────────────────

/** Stands for `{date}` while the rest of a pattern is made plain; in no path. */
const dateMark = "\u0000";

function matching(pattern: string, docs: Docs, time: ContractTime): string[] {
  const named = inCycle(pattern, time);
  if (!isPattern(named)) return docs.has(named) ? [named] : [];
  const { source } = patternOf(named.replaceAll("{date}", dateMark));
  const glob = new RegExp(source.replaceAll(dateMark, "\\d{4}-\\d{2}-\\d{2}"), "u");
  const earliest = time.date?.slice(0, 10) ?? "";
  const hidden = isHidden(named);
  const isInTime = (path: string): boolean =>
    !named.includes("{date}") ||
    (path.match(/\d{4}-\d{2}-\d{2}/g) ?? []).some((date) => date >= earliest && isDay(date));
  return [...docs.keys()]
    .filter((path) => isHidden(path) === hidden && glob.test(path) && isInTime(path))
    .sort();
}

const inCycle = (pattern: string, { cycle }: ContractTime): string =>
  pattern.replaceAll("{cycle}", String(cycle));

function isDay(date: string): boolean {
  const [year = 0, month = 0, day = 0] = date.split("-").map(Number);
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day > 0 && day <= (days[month - 1] ?? 0);
}

const isPattern = (path: string): boolean => /\*|\{date\}/.test(path);

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);
const stemOf = (path: string): string => nameOf(path).replace(/\.[^.]*$/, "");

const isHidden = (path: string): boolean => nameOf(path).startsWith(".");

interface Promised {
  readonly artifacts: readonly Artifact[];
  readonly docs: Docs;
  readonly time: ContractTime;
}

function tooFew(
  { path: promised, least, optional }: Artifact,
  there: number,
  all: Promised,
): Unmet[] {
  if (there >= least || (optional && there === 0)) return [];
  const named = inCycle(promised, all.time);
  const path = named.replaceAll("{date}", "<YYYY-MM-DD>");
  const { date } = all.time;
  const since =
    promised.includes("{date}") && date !== undefined ? `, of ${date.slice(0, 10)} or later` : "";
  const meant = there === 0 ? insteadOf(promised, all) : undefined;
  const instead = meant === undefined ? "" : `; there is ${meant}`;
  const message =
    least > 1
      ? `there ${there === 1 ? "is 1 file" : `are ${there} files`} like ${path}${since}, and ${least} are needed`
      : isPattern(promised)
        ? `there is no file like ${path}${since}`
        : `${path} is missing`;
  return [{ path, message: message + instead }];
}

/** What was probably meant to be it: of another time, under almost its name, or elsewhere. */
function insteadOf(wanted: string, { artifacts, docs, time }: Promised): string | undefined {
  const promised = new Set(existing(artifacts, docs, time));
  const others = [...docs.keys()].filter((path) => !promised.has(path) && !isHidden(path));
  const anyTime = wanted.replace(/\{(?:date|cycle)\}/g, "*");
  const glob = patternOf(anyTime);
  const dated = others.find((path) => glob.test(path));
  if (dated !== undefined) return dated;
  const beside = others.filter((path) => folderOf(path) === folderOf(wanted));
  const wordsOf = (path: string): string =>
    stemOf(path).replace(/\{\w+\}|\d{4}-\d{2}-\d{2}|\*/g, "");
  const [near] = nearest(wordsOf(wanted), beside.map(wordsOf));
  const name = patternOf(nameOf(anyTime).toLowerCase());
  return (
    beside.find((path) => wordsOf(path) === near) ??
    // `*.md` is the name of everything.
    (/[a-z]{3}/i.test(wordsOf(wanted))
      ? others.find((path) => name.test(nameOf(path).toLowerCase()))
      : undefined)
  );
}

// ── a file as a whole ──────────────────────────────────────────────────────────────────────────

/** A file that is looked into. */
interface Paper {
  readonly path: string;
  readonly text: string;
  readonly outline: () => Outline;
}

/** What it says: of a document without fences and comments, of a page without comments. */
function spokenIn({ path, text, outline }: Paper): readonly string[] {
  if (isDocument(path)) return outline().prose;
  return /\.html?$/i.test(path) ? uncommentedLines(linesOf(text)) : linesOf(text);
}

function wholeUnmet(artifact: Artifact, paper: Paper): Unmet | undefined {
  const { path } = paper;
  const marked = conflictIn(spokenIn(paper));
  if (marked !== undefined)
    return { path, line: marked, message: `${path} has the marks of a merge conflict` };
  if (!isDocument(path)) return undefined;
  const { headings, tables, fields, hasText, prose } = paper.outline();
  if (headings.length + tables.length + fields.length === 0) {
    if (!hasText)
      return { path, message: `${path} has nothing in it but comments or words like TBD` };
    if (isAsked(artifact) && prose.every((line) => line.trim() === "")) {
      const message = `${path} is a code fence and nothing else: what it says has to stand outside of it`;
      return { path, line: 1, message };
    }
  }
  return hasText || isAsked(artifact)
    ? undefined
    : { path, message: `${path} has headings and no text` };
}

/** The line of the first mark, where both ends of a conflict are. */
function conflictIn(lines: readonly string[]): number | undefined {
  const from = lines.findIndex((line) => line.startsWith("<<<<<<< "));
  return from >= 0 && lines.some((line, at) => at > from && line.startsWith(">>>>>>> "))
    ? from + 1
    : undefined;
}

const partsUnmet = (artifact: Artifact, paper: Paper, named: readonly string[]): Unmet[] => [
  ...fieldsUnmet(artifact, paper),
  ...sectionsUnmet(artifact, paper),
  ...columnsUnmet(artifact, paper),
  ...lineUnmet(artifact, paper),
  ...mentionsUnmet(artifact, paper, named),
];

const longestQuote = 80;
const quoted = (text: string): string => {
  const short = text.trim();
  return `"${short.length > longestQuote ? `${short.slice(0, longestQuote)}…` : short}"`;
};

// ── fields and sections ────────────────────────────────────────────────────────────────────────

function fieldsUnmet({ fields, says }: Artifact, paper: Paper): Unmet[] {
  const { path, text, outline } = paper;
  return fields.flatMap((name): Unmet[] => {
    const words = plainWords(name);
    const found = outline().fields.filter((field) => field.name === words);
    if (found.some(({ value }) => value !== "")) return [];
    // Of the same line there is more to say.
    if (says !== undefined && plainWords(beginningOf(says)) === `${words}:`) return [];
    const [first] = found;
    if (first) return [{ path, line: first.line, message: `${path} has no value for **${name}**` }];
    const lacks = `${path} has no line "**${name}**: …"`;
    const at = linesOf(text).findIndex((line) => plainHeading(head(line)).startsWith(`${words}:`));
    return [at < 0 ? { path, message: lacks } : elsewhere(paper, at, lacks, "is not like it")];
  });
}

/** No heading and no field is longer. */
const head = (line: string): string => line.slice(0, 200);

/** Something that would do, were it not where or how it is. */
function elsewhere({ path, outline }: Paper, at: number, lacks: string, why: string): Unmet {
  const isHeld = (outline().prose[at] ?? "").trim() === "";
  const where = isHeld ? "stands in a code fence, a comment or the front matter" : why;
  return { path, line: at + 1, message: `${lacks}: this line ${where}` };
}

function sectionsUnmet({ sections }: Artifact, paper: Paper): Unmet[] {
  const { path, text, outline } = paper;
  const wanted = new Set(sections.map(plainHeading));
  return sections.flatMap((name): Unmet[] => {
    const { headings, prose } = outline();
    const found = headings.filter((heading) => heading.text === plainHeading(name));
    if (found.some(({ hasText }) => hasText)) return [];
    const [first] = found;
    if (first)
      return [{ path, line: first.line, message: `${path} has no text in its section "${name}"` }];
    const lacks = `${path} has no section "${name}"`;
    const at = linesOf(text).findIndex((line) => plainHeading(head(line)) === plainHeading(name));
    if (at >= 0)
      return [
        elsewhere(
          paper,
          at,
          lacks,
          "is no heading: one begins with #, up to six of them, and a space",
        ),
      ];
    const others = headings.filter((heading) => !wanted.has(heading.text));
    const [near] = nearest(
      plainHeading(name),
      others.map((heading) => head(heading.text)),
    );
    const meant = others.find((heading) => head(heading.text) === near);
    if (!meant) return [{ path, message: lacks }];
    const message = `${lacks}: this one is called ${quoted(prose[meant.line - 1] ?? "")}`;
    return [{ path, line: meant.line, message }];
  });
}

// ── tables ─────────────────────────────────────────────────────────────────────────────────────

function columnsUnmet({ columns }: Artifact, paper: Paper): Unmet[] {
  if (columns.length === 0) return [];
  const { path, outline } = paper;
  const list = columns.join(", ");
  const fitting = tablesWith(columns, outline());
  if (fitting.some(({ rows }) => rows.length > 0))
    return fitting.flatMap((table) => rowsUnmet(columns, table, path));
  const [whole] = fitting;
  if (whole)
    return [{ path, line: whole.line, message: `${path} has no row in its table ${list}` }];
  return [tableMeant(columns, outline(), path) ?? tableHidden(columns, paper)];
}

const tablesWith = (columns: readonly string[], { tables }: Outline): Table[] =>
  tables.filter((table) => hasInOrder(table.columns, columns.map(plainWords)));

function hasInOrder(columns: readonly string[], wanted: readonly string[]): boolean {
  let next = 0;
  for (const column of columns) if (column === wanted[next]) next++;
  return next === wanted.length;
}

/** The first column says what a row is about; the others say something about it. */
function rowsUnmet(columns: readonly string[], table: Table, path: string): Unmet[] {
  const [key, ...others] = columns.map((name) => table.columns.indexOf(plainWords(name)));
  const [first = ""] = columns;
  return table.rows.flatMap(({ cells, line }): Unmet[] => {
    const says = (at = 0): boolean => !isNothing(cells[at] ?? "") || isDash(cells[at] ?? "");
    const wrong = (what: string): Unmet[] => [{ path, line, message: `${path} has ${what}` }];
    if (cells.length > table.columns.length)
      return wrong(
        `a row of ${cells.length} cells in a table of ${table.columns.length} columns: a stroke within a cell is written \\|`,
      );
    if (!says(key)) return wrong(`a row with nothing under ${first}`);
    if (others.length > 0 && !others.some(says))
      return wrong(`a row with nothing but its ${first}, ${quoted(cells[key ?? 0] ?? "")}`);
    return [];
  });
}

/** The table that was meant is the one that has most of it. */
function tableMeant(
  columns: readonly string[],
  { tables }: Outline,
  path: string,
): Unmet | undefined {
  const lacksOf = (table: Table): string[] =>
    columns.filter((name) => !table.columns.includes(plainWords(name)));
  const [near] = tables
    .map((table) => ({ table, lacks: lacksOf(table) }))
    .sort((a, b) => a.lacks.length - b.lacks.length);
  if (!near || near.lacks.length * 2 > columns.length) return undefined;
  const { table, lacks } = near;
  const what =
    lacks.length === 0
      ? "a table with its columns in another order"
      : `a table without the column${lacks.length > 1 ? "s" : ""} ${lacks.join(", ")}`;
  const message = `${path} has ${what}: it has ${table.head.join(", ").slice(0, 200)}, and has to have ${columns.join(", ")}, in this order`;
  return { path, line: table.line, message };
}

/** Longer, and it is no table's head. */
const longestHead = 2000;

/** Where the columns stand in a line, it is said why that is no table. */
function tableHidden(columns: readonly string[], paper: Paper): Unmet {
  const lacks = `${paper.path} has no table with the columns ${columns.join(", ")}, in this order`;
  const wanted = columns.map(plainWords);
  const at = linesOf(paper.text).findIndex(
    (line) =>
      line.includes("|") &&
      line.length <= longestHead &&
      hasInOrder(cellsOf(line.trim()).map(plainWords), wanted),
  );
  return at < 0
    ? { path: paper.path, message: lacks }
    : elsewhere(paper, at, lacks, "has no |---| for each of its columns below it");
}

// ── a line ─────────────────────────────────────────────────────────────────────────────────────

/** An expression of a stranger's is asked about a bounded line, never about a whole document. */
const longestLine = 4096;

/** What begins like a field (`**Verdict**: …`) is said once: two that differ say nothing. */
function lineUnmet({ says, most }: Artifact, paper: Paper): Unmet[] {
  if (says === undefined) return [];
  const { path, text } = paper;
  const expression = new RegExp(says, "i");
  const beginning = beginningOf(says);
  const spoken = spokenIn(paper).map((line) => line.slice(0, longestLine));
  const first = spoken.findIndex((line) => expression.test(line));
  const like = `/${says}/`;
  const all =
    most === undefined ? [] : spoken.flatMap((line, at) => (expression.test(line) ? [at] : []));
  if (most !== undefined && all.length > most) {
    const message = `${path} has ${all.length} lines like ${like}, and at most ${most} are kept`;
    return [{ path, line: (all[most] ?? 0) + 1, message }];
  }
  if (first >= 0) {
    const said = plainWords(spoken[first] ?? "");
    const other = spoken.findIndex(
      (line) =>
        beginning !== "" &&
        line.toLowerCase().startsWith(beginning.toLowerCase()) &&
        plainWords(line) !== said,
    );
    if (other < 0) return [];
    const message = `${path} says ${quoted(spoken[other] ?? "")}, and line ${first + 1} says ${quoted(spoken[first] ?? "")}: it is said once, like ${like}`;
    return [{ path, line: other + 1, message }];
  }
  const lacks = `${path} has no line like ${like}`;
  if (beginning === "") return [{ path, message: lacks }];
  const words = plainWords(beginning);
  const isNear = (line: string): boolean => plainWords(head(line)).includes(words);
  const near = spoken.findIndex(isNear);
  if (near >= 0) {
    const message = `${path} says ${quoted(spoken[near] ?? "")}, and the line has to be like ${like}`;
    return [{ path, line: near + 1, message }];
  }
  const hidden = isDocument(path) ? linesOf(text).findIndex(isNear) : -1;
  return [hidden < 0 ? { path, message: lacks } : elsewhere(paper, hidden, lacks, "is not")];
}

/** Of an expression about a field, what its line begins with: `**Verdict**:`. Else empty. */
function beginningOf(says: string): string {
  const [, literal = ""] = /^\^((?:\\[^a-z0-9]|[^\\.[\](){}*+?|^$])*)/i.exec(says) ?? [];
  const colon = literal.lastIndexOf(":");
  return colon < 0 ? "" : literal.slice(0, colon + 1).replace(/\\(.)/g, "$1");
}

// ── other files ────────────────────────────────────────────────────────────────────────────────

function mentionsUnmet(
  { columns, in: column }: Artifact,
  paper: Paper,
  named: readonly string[],
): Unmet[] {
  const { path, outline } = paper;
  if (named.length === 0) return [];
  const text =
    column === undefined
      ? spokenIn(paper).join("\n")
      : cellsUnder(column, tablesWith(columns, outline())).join("\n");
  const where = column === undefined ? "" : ` under ${column}`;
  const words = new Set(text.toLowerCase().match(/[\p{L}\p{N}_](?:[.-]*[\p{L}\p{N}_])*/gu));
  return named.flatMap((each): Unmet[] => {
    if (each === path) return [];
    const name = nameOf(each);
    const base = name.replace(/\.md$/i, "");
    const ways = [name, base, ...idIn(base)].map((way) => way.toLowerCase());
    if (ways.some((way) => words.has(way))) return [];
    // A name of several words is no word; there are few of those.
    if (/[^\p{L}\p{N}_.-]/u.test(base) && text.includes(base)) return [];
    return [{ path, message: `${path} does not name ${name}${where}` }];
  });
}

const cellsUnder = (column: string, tables: readonly Table[]): string[] =>
  tables.flatMap(({ columns, rows }) => {
    const at = columns.indexOf(plainWords(column));
    return rows.map(({ cells }) => cells[at] ?? "");
  });

/** Of `03_cache` and `AZ-12_cache`: 03, AZ-12. */
const idIn = (base: string): string[] =>
  /^(?:[A-Za-z][A-Za-z0-9]*-\d+|\d+)(?=_|$)/.exec(base)?.slice(0, 1) ?? [];
