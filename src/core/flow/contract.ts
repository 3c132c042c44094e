/**
 * Whether what a skill promises is there: facts in, a sentence for everything that is missing out.
 * An agent that said "done" reads these sentences and nothing else, so each names the file, the
 * line where there is one, and what has to stand there.
 *
 * 1. Every file that matches has to be as the contract says, not just one of them: forty tasks
 *    with a header do not make up for the one without.
 * 2. An empty file is no artifact, and a file that cannot be looked into proves nothing.
 * 3. Names that begin with a dot are marks and keep folders in git; a `*` does not mean them.
 */
import { patternOf } from "./glob.ts";
import { linesOf, type Outline, outlineOf, plainHeading, plainWords } from "./outline.ts";
import type { Artifact } from "./skill.ts";

export interface Unmet {
  /** Below `_docs/`; a pattern, where no file matches. */
  readonly path: string;
  readonly line?: number;
  /** A sentence, without its full stop. */
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
  const outlines = new Map<string, Outline>();
  const outlined = (path: string, text: string): Outline => {
    const outline = outlines.get(path) ?? outlineOf(text);
    outlines.set(path, outline);
    return outline;
  };
  return artifacts.flatMap((artifact) => {
    const paths = matching(artifact.path, facts.docs, time);
    return [
      ...tooFew(artifact, paths.length, time),
      ...paths.flatMap((path): Unmet[] => {
        const text = facts.texts.get(path);
        if (facts.docs.get(path) === 0 || text?.trim() === "")
          return [{ path, message: `${path} is empty` }];
        if (!isLookedInto(artifact)) return [];
        if (text === undefined) return [{ path, message: `${path} cannot be read as text` }];
        const named =
          artifact.mentions === undefined ? [] : matching(artifact.mentions, facts.docs, time);
        return [
          ...fieldsUnmet(artifact, path, () => outlined(path, text)),
          ...sectionsUnmet(artifact, path, () => outlined(path, text)),
          ...columnsUnmet(artifact, path, () => outlined(path, text)),
          ...lineUnmet(artifact, path, text),
          ...mentionsUnmet(named, path, text),
        ];
      }),
    ];
  });
}

/** The files whose texts `unmetBy` has to be given. */
export function textsOf(artifacts: readonly Artifact[], docs: Docs, time: ContractTime): string[] {
  const lookedInto = new Set(existing(artifacts.filter(isLookedInto), docs, time));
  return existing(artifacts, docs, time).filter(
    (path) => lookedInto.has(path) || (docs.get(path) ?? 0) <= mostBlank,
  );
}

/** So few bytes may be nothing but the end of a line. */
const mostBlank = 16;

/** The files that are there already, of those that are promised. */
export const existing = (
  artifacts: readonly Artifact[],
  docs: Docs,
  time: ContractTime,
): string[] => [...new Set(artifacts.flatMap(({ path }) => matching(path, docs, time)))].sort();

/** What has to be there and nothing more: as a skill names what it needs. */
export const artifactAt = (path: string): Artifact => ({
  path,
  least: 1,
  optional: false,
  sections: [],
  columns: [],
  fields: [],
});

const isLookedInto = ({ sections, columns, fields, says, mentions }: Artifact): boolean =>
  sections.length + columns.length + fields.length > 0 ||
  says !== undefined ||
  mentions !== undefined;

// ── which files ────────────────────────────────────────────────────────────────────────────────

/** Stands for `{date}` while the rest of a pattern is made plain; in no path. */
const dateMark = "\u0000";

function matching(pattern: string, docs: Docs, time: ContractTime): string[] {
  const plain = pattern.replaceAll("{cycle}", String(time.cycle));
  if (!isPattern(plain)) return docs.has(plain) ? [plain] : [];
  const { source } = patternOf(plain.replaceAll("{date}", dateMark));
  const glob = new RegExp(source.replaceAll(dateMark, "(\\d{4}-\\d{2}-\\d{2})"), "u");
  const earliest = time.date?.slice(0, 10) ?? "";
  const hidden = isHidden(plain);
  const paths: string[] = [];
  for (const path of docs.keys()) {
    const match = isHidden(path) === hidden ? glob.exec(path) : null;
    if (match?.slice(1).every((date) => date >= earliest)) paths.push(path);
  }
  return paths.sort();
}

const isPattern = (path: string): boolean => /\*|\{date\}/.test(path);

const isHidden = (path: string): boolean => path.charAt(path.lastIndexOf("/") + 1) === ".";

function tooFew({ path, least, optional }: Artifact, there: number, time: ContractTime): Unmet[] {
  if (there >= least || (optional && there === 0)) return [];
  const shown = path.replaceAll("{cycle}", String(time.cycle)).replaceAll("{date}", "<YYYY-MM-DD>");
  const dated =
    path.includes("{date}") && time.date !== undefined
      ? `, of ${time.date.slice(0, 10)} or later`
      : "";
  const message =
    least > 1
      ? `there ${there === 1 ? "is 1 file" : `are ${there} files`} like ${shown}${dated}, and ${least} are needed`
      : isPattern(path)
        ? `there is no file like ${shown}${dated}`
        : `${shown} is missing`;
  return [{ path: shown, message }];
}

// ── what stands in them ────────────────────────────────────────────────────────────────────────

function fieldsUnmet({ fields }: Artifact, path: string, outline: () => Outline): Unmet[] {
  return fields.flatMap((name): Unmet[] => {
    const found = outline().fields.filter((field) => field.name === plainWords(name));
    if (found.some(({ value }) => value !== "")) return [];
    const [first] = found;
    return first
      ? [{ path, line: first.line, message: `${path} has no value for **${name}**` }]
      : [{ path, message: `${path} has no line "**${name}**: …"` }];
  });
}

function sectionsUnmet({ sections }: Artifact, path: string, outline: () => Outline): Unmet[] {
  return sections.flatMap((name): Unmet[] => {
    const found = outline().headings.filter(({ text }) => text === plainHeading(name));
    if (found.some(({ hasText }) => hasText)) return [];
    const [first] = found;
    return first
      ? [{ path, line: first.line, message: `${path} has no text in its section "${name}"` }]
      : [{ path, message: `${path} has no section "${name}"` }];
  });
}

function columnsUnmet({ columns }: Artifact, path: string, outline: () => Outline): Unmet[] {
  if (columns.length === 0) return [];
  const wanted = columns.map(plainWords);
  const lacking = outline().tables.map((table) => ({
    table,
    lacks: lackingIn(table.columns, wanted),
  }));
  const fitting = lacking.filter(({ lacks }) => lacks === undefined);
  if (fitting.some(({ table }) => table.rows > 0)) return [];
  const list = columns.join(", ");
  const [whole] = fitting;
  if (whole) {
    const { line } = whole.table;
    return [{ path, line, message: `${path} has no row in its table ${list}` }];
  }
  // The table that was meant is the one that has most of it.
  const [near] = lacking.sort((a, b) => (b.lacks ?? 0) - (a.lacks ?? 0));
  if (near?.lacks === undefined || near.lacks === 0)
    return [{ path, message: `${path} has no table with the columns ${list}, in this order` }];
  const { line } = near.table;
  const message = `${path} has a table without the column ${columns[near.lacks] ?? ""} in its place: ${list}, in this order`;
  return [{ path, line, message }];
}

/** Undefined: nothing. Else how many of them are there before the first that is not. */
function lackingIn(columns: readonly string[], wanted: readonly string[]): number | undefined {
  let next = 0;
  for (const column of columns) if (column === wanted[next]) next++;
  return next === wanted.length ? undefined : next;
}

/** An expression of a stranger's is asked about a bounded line, never about a whole document. */
const longestLine = 4096;

function lineUnmet({ says }: Artifact, path: string, text: string): Unmet[] {
  if (says === undefined) return [];
  const expression = new RegExp(says, "i");
  const isSaid = linesOf(text).some((line) => expression.test(line.slice(0, longestLine)));
  return isSaid ? [] : [{ path, message: `${path} has no line like /${says}/` }];
}

function mentionsUnmet(named: readonly string[], path: string, text: string): Unmet[] {
  if (named.length === 0) return [];
  const words = new Set(text.toLowerCase().match(/[\p{L}\p{N}_](?:[.-]*[\p{L}\p{N}_])*/gu));
  return named.flatMap((each): Unmet[] => {
    if (each === path) return [];
    const name = each.slice(each.lastIndexOf("/") + 1);
    const base = name.replace(/\.md$/i, "");
    const ways = [name, base, ...idIn(base)].map((way) => way.toLowerCase());
    if (ways.some((way) => words.has(way))) return [];
    // A name of several words is no word; there are few of those.
    if (/[^\p{L}\p{N}_.-]/u.test(base) && text.includes(base)) return [];
    return [{ path, message: `${path} does not name ${name}` }];
  });
}

/** Of `03_cache` and `AZ-12_cache`: 03, AZ-12. */
const idIn = (base: string): string[] =>
  /^(?:[A-Za-z][A-Za-z0-9]*-\d+|\d+)(?=_|$)/.exec(base)?.slice(0, 1) ?? [];
