/** The table that lists the phases: which one it is, what its columns mean, what its rows say. */
import type { Said } from "../core/plan/plan.ts";
import { isNone } from "../core/plan/references.ts";
import { readStatus } from "../core/plan/status.ts";
import { type Field, fieldsOf, phaseWord } from "../core/plan/words.ts";
import { boxesIn, type Candidate, keyOf, nameKey, nesting } from "./candidates.ts";
import type { Cell, Document, Range, Table } from "./document.ts";
import { cleanName, readPhaseName, withoutMarks } from "./phase-heading.ts";

export interface Row {
  readonly document: Document;
  readonly table: Table;
  readonly range: Range;
  readonly written: string;
  readonly id: string;
  readonly name: string;
  readonly said: Partial<
    Record<"dependsOn" | "parallelWith" | "estimate" | "status" | "blocks", Said>
  >;
  readonly struck: boolean;
  /** The name is only a description, or a note in brackets: a section knows better. */
  readonly nickname: boolean;
  readonly note?: string;
}

const excluded =
  /risk|mitigation|impact|likelihood|probability|severity|decision|question|assumption|rationale|symptom|rollback|lesson|风险|リスク|риск|riesgo|risiko/iu;

const strongHead = new RegExp(
  `^(?:${phaseWord.source}|stage|milestone|sprint|iteration|wave|session|cycle|work ?unit|wu|work ?package|wp|里程碑|マイルストーン|meilenstein|hito|marco|jalon|веха|спринт)s?(?![\\p{L}])`,
  "iu",
);

interface Columns {
  readonly id: number;
  readonly name?: number;
  /** The name's column says "Name", not "Goal" or "Description". */
  readonly named: boolean;
  readonly fields: Partial<
    Record<"dependsOn" | "parallelWith" | "estimate" | "status" | "blocks", number>
  >;
  readonly width: number;
}

export function overviewRows(
  documents: readonly Document[],
  candidates: readonly Candidate[],
): Row[] {
  const tables = documents.flatMap((document) =>
    document.blocks.flatMap((block, index) =>
      block.kind === "table" ? [{ document, table: block, index }] : [],
    ),
  );
  const inPhase = insidePhases(candidates);
  const judged = tables.flatMap(({ document, table, index }) => {
    if (inPhase(document, index)) return [];
    const columns = columnsOf(document, table);
    const rows = columns && rowsOf(document, table, columns);
    return columns && rows && rows.length > 0
      ? [
          {
            document,
            table,
            columns,
            rows,
            rank: rankOf(document, table, columns, rows, candidates),
          },
        ]
      : [];
  });
  const best = Math.max(0, ...judged.map(({ rank }) => rank));
  if (best === 0) return [];
  const main = judged.find(({ rank }) => rank === best);
  if (!main) return [];
  const known = new Set(main.rows.map(({ id }) => id));
  const rows = [...main.rows];
  for (const other of judged) {
    if (other === main || other.rank === 0) continue;
    // The same table in parts, or a second one about the same phases.
    const alike = sameHeads(main.document, main.table, other.document, other.table);
    const shared = other.rows.filter(({ id }) => known.has(id)).length;
    if (alike || shared === other.rows.length) rows.push(...other.rows);
    else if (shared > 0) rows.push(...other.rows.filter(({ id }) => known.has(id)));
  }
  return rows;
}

/** A table inside a phase lists its tasks. */
function insidePhases(
  candidates: readonly Candidate[],
): (document: Document, index: number) => boolean {
  const phases = candidates.filter(
    (each) =>
      each.title.kind !== "" &&
      each.title.strong &&
      !each.title.several &&
      each.heading.level > 1 &&
      (phaseWord.test(each.title.kind) || boxesIn(each) > 0),
  );
  const { isHeld } = nesting(phases);
  const [any] = phases;
  return (document, index) => any !== undefined && isHeld({ ...any, document, index });
}

const sameHeads = (a: Document, one: Table, b: Document, two: Table): boolean =>
  one.header.map((cell) => a.plain(cell)).join("|") ===
  two.header.map((cell) => b.plain(cell)).join("|");

/** How sure we are that a table lists the phases: 0 not at all, 4 it says who waits for whom. */
function rankOf(
  document: Document,
  table: Table,
  columns: Columns,
  rows: readonly Row[],
  candidates: readonly Candidate[],
): number {
  const heads = table.header.map((cell) => document.plain(cell));
  const strong = strongHead.test(heads[columns.id]?.replace(/[*_`#]/g, "").trim() ?? "");
  const depends = columns.fields.dependsOn !== undefined;
  const sections = candidates.filter(({ title }) => title.kind !== "" && title.strong);
  const ids = new Set(sections.map(({ id }) => id));
  const sectionNames = new Set(sections.map(({ title }) => nameKey(title.name)));
  const allNames = new Set(candidates.map(({ title }) => nameKey(title.name)));
  const isNamed = ({ name }: Row, names: ReadonlySet<string>): boolean =>
    nameKey(name) !== "" && names.has(nameKey(name));
  const matching = rows.filter(
    (row) => (row.id !== "" && ids.has(row.id)) || isNamed(row, sectionNames),
  );
  const half = matching.length * 2 >= rows.length && matching.length > 0;
  const named = rows.filter((row) => isNamed(row, allNames));
  if (heads.some((head) => excluded.test(head)) && !depends) return 0;
  const withIds = rows.filter(({ written }) => written !== "");
  if (withIds.length * 2 < rows.length && !half) return 0;
  if (strong && depends) return 4;
  if (depends && (half || sections.length === 0)) return 3;
  if (strong && columns.fields.status !== undefined && (half || sections.length === 0)) return 2;
  if (
    strong &&
    half &&
    (columns.name !== undefined ||
      columns.fields.estimate !== undefined ||
      columns.fields.parallelWith !== undefined)
  )
    return 1;
  if (columns.fields.status !== undefined && named.length * 2 >= rows.length && half) return 1;
  if (
    strong &&
    sections.length === 0 &&
    (columns.named ||
      columns.fields.estimate !== undefined ||
      columns.fields.parallelWith !== undefined)
  )
    return 1;
  return 0;
}

function columnsOf(document: Document, table: Table): Columns | undefined {
  const heads = table.header.map((cell) => document.plain(cell));
  const taken = new Set<number>();
  const take = (field: Field): number | undefined => {
    const at = heads.findIndex(
      (head, index) => !taken.has(index) && fieldsOf(head).includes(field),
    );
    if (at < 0) return undefined;
    taken.add(at);
    return at;
  };
  const fields: Columns["fields"] = {};
  for (const field of ["dependsOn", "parallelWith", "blocks", "estimate", "status"] as const) {
    const at = take(field);
    if (at !== undefined) fields[field] = at;
  }
  const names = heads.flatMap((head, index) =>
    !taken.has(index) && fieldsOf(head).includes("name") ? [index] : [],
  );
  const marked = heads.flatMap((head, index) =>
    !taken.has(index) && fieldsOf(head).includes("id") ? [index] : [],
  );
  // Under a head that we do not know the first column may still hold the ids.
  const candidates =
    marked.length > 0
      ? marked
      : fields.dependsOn === undefined
        ? []
        : [0].filter((index) => !taken.has(index));
  const scored = candidates.map((index) => ({
    index,
    score: idScore(document, table, index, heads[index] ?? "", fields.dependsOn),
  }));
  const [best] = scored.sort((a, b) => b.score - a.score || a.index - b.index);
  if (!best || best.score <= 0) return undefined;
  const title = names.find((index) => index !== best.index && isTitleHead(heads[index] ?? ""));
  // "| # | Phase | …": the number is the id, the phase is the name.
  const beside = candidates.find(
    (index) => index !== best.index && phaseWord.test(heads[index] ?? "") && index > best.index,
  );
  const name = title ?? beside ?? names.find((index) => index !== best.index);
  const named = title !== undefined || (beside !== undefined && name === beside);
  return {
    id: best.index,
    ...(name === undefined ? {} : { name }),
    named,
    fields,
    width: heads.length,
  };
}

const isTitleHead = (head: string): boolean =>
  /^(?:(?:phase )?name|title|phase|titel|título|titulo|titre|nom|nome|nombre|название|назва|名称|标题|名前|タイトル|이름|bezeichnung|content|内容|thema|what|work)$/iu.test(
    head.trim(),
  );

/** Ids are short, differ from each other, and are what the dependencies speak of. */
function idScore(
  document: Document,
  table: Table,
  column: number,
  head: string,
  depends: number | undefined,
): number {
  const texts = table.rows
    .flatMap((row) => (row.cells[column] ? [document.plain(row.cells[column])] : []))
    .filter((text) => text !== "");
  const ids = texts.map((text) => keyOf(readPhaseName(text)?.written || text));
  if (ids.length === 0) return 0;
  const unique = new Set(ids).size / ids.length;
  // A column in which ids repeat says what a row belongs to, not what it is.
  if (unique < 0.6) return 0;
  const short = ids.filter((id) => id.length <= 12).length / ids.length;
  const known = new Set(ids);
  const wanted =
    depends === undefined
      ? []
      : table.rows.flatMap((row) =>
          row.cells[depends]
            ? (document.plain(row.cells[depends]).match(/[\p{L}\d][\p{L}\d.-]*/gu) ?? [])
            : [],
        );
  const met = wanted.filter((token) => known.has(keyOf(token))).length;
  return (
    unique +
    short +
    (met > 0 ? 1 : 0) +
    Math.min(1, met / Math.max(1, wanted.length)) +
    (strongHead.test(head) ? 0.75 : 0.25)
  );
}

function rowsOf(document: Document, table: Table, columns: Columns): Row[] {
  return table.rows.flatMap((range) => {
    const { cells, note } = aligned(document, range.cells, columns);
    const text = (at: number | undefined): string =>
      at === undefined || !cells[at] ? "" : document.plain(cells[at] as Cell);
    const shown = range.cells.filter((cell) => document.plain(cell) !== "");
    if (shown.length === 0 || (shown.length === 1 && columns.width > 2)) return [];
    const idText = text(columns.id);
    if (
      /^\W*(?:total|sum|合计|合計|итого|gesamt|всего|…|\.\.\.)/iu.test(idText || text(columns.name))
    )
      return [];
    const { written, name, nickname } = rowName(idText, text(columns.name), columns.named);
    if (written === "" && name === "") return [];
    const said: Row["said"] = {};
    for (const [field, at] of Object.entries(columns.fields) as [keyof Row["said"], number][]) {
      const cell = cells[at];
      if (cell)
        said[field] = {
          text: field === "status" ? document.raw(cell) : cellText(document, cell),
          place: document.place(cell),
          where: "table",
        };
    }
    const idCell = cells[columns.id];
    const nameCell = columns.name === undefined ? undefined : cells[columns.name];
    const struck = [idCell, nameCell].some(
      (cell) => cell && cell.to > cell.from && document.isStruck(cell),
    );
    return [
      {
        document,
        table,
        range,
        written,
        id: keyOf(written),
        name,
        said,
        struck,
        nickname,
        ...(note ? { note } : {}),
      },
    ];
  });
}

/** Line breaks in a cell separate, too. */
const cellText = (document: Document, cell: Cell): string =>
  /<br/i.test(document.raw(cell))
    ? document
        .raw(cell)
        .replace(/<br\s*\/?>/gi, ", ")
        .replace(/[*_`]/g, "")
    : document.plain(cell);

/** Rows with a cell too many or too few: the ends are where they are, the middle has moved. */
function aligned(
  document: Document,
  cells: readonly Cell[],
  columns: Columns,
): { cells: readonly (Cell | undefined)[]; note?: string } {
  const trailing = cells.at(-1);
  const full =
    cells.length === columns.width + 1 && trailing && trailing.from === trailing.to
      ? cells.slice(0, -1)
      : cells;
  if (full.length === columns.width) return { cells: full };
  const note = `this row has ${full.length} cells under ${columns.width} columns`;
  const missing = columns.width - full.length;
  const statusAt = columns.fields.status;
  if (missing < 0 && columns.name !== undefined) {
    // A bar inside the name: what follows the name counts from the right.
    const moved = Array.from({ length: columns.width }, (_, at) =>
      at <= (columns.name ?? 0) ? full[at] : full[at - missing],
    );
    return { cells: moved, note };
  }
  if (missing > 0 && statusAt === columns.width - 1) {
    const last = full.at(-1);
    const status = last && readStatus(document.plain(last));
    if (last && status && status !== "unknown") {
      const moved: (Cell | undefined)[] = full.slice(0, -1);
      while (moved.length < statusAt) moved.push(undefined);
      return { cells: [...moved, last], note };
    }
  }
  return { cells: full, note };
}

function rowName(
  idText: string,
  nameText: string,
  named: boolean,
): { written: string; name: string; nickname: boolean } {
  const title = readPhaseName(idText);
  const clean = withoutMarks(idText.replace(/~~/g, ""));
  const told = cleanName(nameText);
  if (title && !title.several) {
    const own = title.name.replace(/^\((.*)\)$/u, "$1");
    if (told !== "" && (named || own === ""))
      return { written: title.written, name: told, nickname: !named };
    return { written: title.written, name: own, nickname: own !== title.name };
  }
  if (isNone(clean)) return { written: "", name: told, nickname: false };
  const lettered = /^([A-Za-z])[.)]\s+(.+)$/u.exec(clean);
  if (lettered)
    return { written: lettered[1] ?? "", name: cleanName(lettered[2] ?? ""), nickname: false };
  // A short token is an id, a phrase is a name.
  const token = /^#?[\p{L}\p{N}][\p{L}\p{N}._/-]{0,47}$/u.test(clean);
  if (token) {
    const written = clean.replace(/^#/, "");
    const slug = /^(\d+[A-Za-z]?)[-_](\p{L}.*)$/u.exec(written);
    if (slug)
      return {
        written: slug[1] ?? "",
        name: told || (slug[2] ?? "").replace(/[-_]/g, " "),
        nickname: !named,
      };
    const isNumber = /^\d+(?:\.\d+)*[A-Za-z]?$/u.test(written);
    return { written, name: told || (isNumber ? "" : written), nickname: !named };
  }
  return told !== "" && named
    ? { written: clean, name: told, nickname: false }
    : { written: "", name: cleanName(clean), nickname: false };
}
