/**
 * Our own task folder: `todo/` and `done/` hold a file for each task, `_dependencies_table.md`
 * says how they depend on each other. The folder that a file lies in is its status.
 */
import { type Result, succeed } from "../core/failure.ts";
import type { PlanDraft } from "../core/plan/draft.ts";
import { normaliseId } from "../core/plan/ids.ts";
import type { Said } from "../core/plan/plan.ts";
import { means } from "../core/plan/words.ts";
import { type Card, cardsDraft, sectionOf } from "./card.ts";
import type { Document, Table } from "./document.ts";
import type { Format } from "./format.ts";
import { cleanName } from "./phase-heading.ts";

const tableFile = /(?:^|\/)_dependencies_table\.md$/u;
const taskFile = /(?:^|\/)(todo|done|backlog|in_progress)\/([^/]+)\.md$/u;

export const tasks: Format = {
  name: "tasks",
  detect({ sources }) {
    const files = sources.filter(({ file }) => taskFile.test(file));
    const table = sources.some(({ file }) => tableFile.test(file));
    if (!table && files.length === 0) return undefined;
    return `a task folder with ${files.length} ${files.length === 1 ? "task" : "tasks"}${table ? " and its dependencies table" : ""}`;
  },
  read(input): Result<PlanDraft> {
    const parsed = input.documents();
    if (!parsed.ok) return parsed;
    const table = parsed.value.find(({ file }) => tableFile.test(file));
    const files = parsed.value.filter(({ file }) => taskFile.test(file));
    const now = firstNames(files);
    const rows = table ? rowsOf(table, now) : [];
    const cards = files.map((document) => cardOf(document, rows, now));
    const order = new Map(rows.map((row, index) => [row.id, index]));
    cards.sort(
      (a, b) =>
        (order.get(idOf(a.written)) ?? rows.length) - (order.get(idOf(b.written)) ?? rows.length) ||
        a.document.file.localeCompare(b.document.file, "en", { numeric: true }),
    );
    const draft = cardsDraft("tasks", parsed.value, cards);
    const known = new Set(cards.map((card) => idOf(card.written)));
    const rowOnly = rows.filter((row) => !known.has(row.id) && row.said !== undefined);
    return succeed({
      ...draft,
      hasTable: rows.length > 0,
      phases: [
        ...draft.phases.map((phase) => {
          const row = rows.find(({ id }) => id === idOf(phase.written));
          return row ? { ...phase, row: row.place } : phase;
        }),
        ...rowOnly.map((row) => ({
          ...emptyPhase,
          written: row.written,
          name: row.name,
          place: row.place,
          row: row.place,
          dependsOn: row.said ? [row.said] : [],
          estimate: row.estimate ? [row.estimate] : [],
        })),
      ],
    });
  },
};

const emptyPhase = {
  blocks: [],
  parallelWith: [],
  status: [],
  tasks: [],
  definitionOfDone: [],
  checkpoints: [],
  files: [],
  commands: [],
  text: "",
  hasWork: false,
};

/** "01_setup" and "AZ-12_schema" are 01 and AZ-12. */
const shortId = (written: string): string =>
  /^(?:[A-Za-z][A-Za-z0-9]*-\d+|\d+)(?=_|$)/u.exec(written)?.[0] ?? written;
const idOf = (written: string): string => normaliseId(shortId(written));

/** A mention as it is written, and by which id it is meant. */
type Meant = (written: string) => string;

/**
 * A task that a tracker has given an id keeps its first name (`**Alias**`, or what `**Task**` says):
 * whoever mentions that means this task. A number that two have had stands for neither; a task that
 * is called so today goes before one that was.
 */
function firstNames(files: readonly Document[]): Meant {
  const today = new Set<string>();
  const bases = new Set<string>();
  const names = new Map<string, string>();
  const numbers = new Map<string, Set<string>>();
  for (const document of files) {
    const base = taskFile.exec(document.file)?.[2] ?? "";
    today.add(idOf(base));
    bases.add(base);
    const fields = fieldsOf(document);
    for (const name of ["alias", "task"].flatMap((key) => fields.get(key)?.text ?? [])) {
      if (idOf(name) === idOf(base)) continue;
      names.set(name, shortId(base));
      numbers.set(shortId(name), (numbers.get(shortId(name)) ?? new Set()).add(shortId(base)));
    }
  }
  return (written) => {
    const number = shortId(written);
    const [only, ...others] = numbers.get(number) ?? [];
    const meant = others.length === 0 && !today.has(idOf(number)) ? only : undefined;
    return (bases.has(written) ? undefined : names.get(written)) ?? meant ?? number;
  };
}

interface Row {
  readonly id: string;
  readonly written: string;
  readonly name: string;
  readonly place: Said["place"];
  readonly said?: Said;
  readonly estimate?: Said;
}

function rowsOf(document: Document, meant: Meant): Row[] {
  const tables = document.blocks.filter((block): block is Table => block.kind === "table");
  return tables.flatMap((table) => {
    const heads = table.header.map((cell) => document.plain(cell));
    const at = (field: Parameters<typeof means>[1]): number =>
      heads.findIndex((head) => means(head, field));
    const [idAt, nameAt, dependsAt, estimateAt] = [
      at("id"),
      at("name"),
      at("dependsOn"),
      at("estimate"),
    ];
    if (idAt < 0 || dependsAt < 0) return [];
    return table.rows.flatMap((row): Row[] => {
      const text = (index: number): string =>
        row.cells[index] ? document.plain(row.cells[index]) : "";
      const said = (index: number): Said | undefined => {
        const cell = row.cells[index];
        return cell
          ? { text: withShortIds(text(index), meant), place: document.place(cell), where: "table" }
          : undefined;
      };
      const written = text(idAt).replace(/\.md$/u, "");
      if (written === "") return [];
      const [dependsOn, estimate] = [
        said(dependsAt),
        estimateAt < 0 ? undefined : said(estimateAt),
      ];
      return [
        {
          id: idOf(meant(written)),
          written: meant(written),
          name: text(nameAt) || written,
          place: document.place(row),
          ...(dependsOn ? { said: dependsOn } : {}),
          ...(estimate ? { estimate } : {}),
        },
      ];
    });
  });
}

/** Notes in brackets and the names behind the ids say nothing about the order. */
const withShortIds = (text: string, meant: Meant): string =>
  text
    .replace(/\([^()]*\)/gu, "")
    .split(/[,;]\s*/u)
    .map((each) => meant(each.trim()))
    .join(", ");

function cardOf(document: Document, rows: readonly Row[], meant: Meant): Card {
  const [, folder = "", base = ""] = taskFile.exec(document.file) ?? [];
  const written = shortId(base);
  const row = rows.find(({ id }) => id === idOf(written));
  const section = sectionOf(document);
  const fields = fieldsOf(document);
  const own = fields.get("dependencies");
  const complexity = fields.get("complexity");
  const heading = document.blocks.find((block) => block.kind === "heading");
  const status: Said = {
    text: folder === "done" ? "complete" : folder === "in_progress" ? "in progress" : "pending",
    place: document.place({ from: 0, to: 0 }),
    where: "folder",
    fixed: true,
  };
  const listed = own
    ? [
        {
          ...own,
          text: withShortIds(own.text.split(/\.\s/u)[0] ?? "", meant),
          loose: true as const,
        },
      ]
    : [];
  return {
    document,
    written,
    name:
      fields.get("name")?.text ||
      (heading?.kind === "heading" ? cleanName(document.plain(heading.content)) : base),
    aliases: [base, ...["alias", "task"].flatMap((key) => fields.get(key)?.text ?? [])],
    dependsOn: [...(row?.said ? [row.said] : []), ...listed],
    status: [status],
    estimate: [...(row?.estimate ? [row.estimate] : []), ...(complexity ? [complexity] : [])],
    tasks: section.tasks,
    definitionOfDone: section.definitionOfDone,
    section,
  };
}

/** `**Complexity**: 3 points` */
function fieldsOf(document: Document): Map<string, Said> {
  const fields = new Map<string, Said>();
  for (const block of document.blocks) {
    if (block.kind !== "paragraph") continue;
    for (const line of document.lines(block)) {
      const match = /^([\p{L} ]{2,24})\s*[:：]\s*(.+)$/u.exec(line.text);
      const key = match?.[1]?.toLowerCase().trim();
      if (match?.[2] && key && !fields.has(key))
        fields.set(key, { text: match[2], place: document.place(line), where: "section" });
    }
  }
  return fields;
}
