/**
 * What of a project's documents belongs in a tracker: epics by their table, tasks by their files. Texts
 * in, items out; paths are relative to `_docs/`.
 */
export interface Wanted {
  readonly kind: "epic" | "task";
  /** As our own files call it: `E2`, `03_outbox`. */
  readonly of: string;
  readonly title: string;
  readonly body: string;
  /** Of a task: what its file says. */
  readonly epic?: string;
  /** Undefined: pending. */
  readonly id?: string;
  readonly file: string;
}

export type Documents = ReadonlyMap<string, string>;

export const epicsFile = "02_document/epics.md";
export const tableFile = "02_tasks/_dependencies_table.md";
export const taskFile = /^02_tasks\/(todo|done)\/([^/]+)\.md$/u;

/** Epics first: a task is linked to one. */
export const itemsIn = (documents: Documents): Wanted[] => [
  ...epicsIn(documents.get(epicsFile) ?? ""),
  ...[...documents].flatMap(([file, text]) => {
    const [, , name] = taskFile.exec(file) ?? [];
    return name === undefined ? [] : [taskIn(file, name, text)];
  }),
];

/** `**Tracker**: AZ-12`: the value of a header's line. */
export const headerValue = (text: string, field: string): string | undefined =>
  headerLine(field).exec(text)?.[2]?.trim();

/** The line, as [all, up to the value, the value]. */
export const headerLine = (field: string): RegExp =>
  new RegExp(`^(\\*\\*${field}\\*\\*:[ \\t]*)(.*?)[ \\t]*\\r?$`, "imu");

const isPending = (value: string | undefined): boolean =>
  value === undefined || /^(?:pending|none|n\/a|tbd|[–—-]?)$/iu.test(value.replace(/[`*_]/g, ""));

function taskIn(file: string, name: string, text: string): Wanted {
  const [tracker, epic] = ["Tracker", "Epic"].map((field) => headerValue(text, field));
  const facts = ["Component", "Complexity", "Dependencies"].flatMap((field) => {
    const value = headerValue(text, field);
    return isPending(value) ? [] : [`${field}: ${value}`];
  });
  return {
    kind: "task",
    // Its first id, for life.
    of: headerValue(text, "Alias") ?? name,
    title: headerValue(text, "Name") || name,
    body: [headerValue(text, "Description") ?? "", "", ...facts].join("\n").trim(),
    ...(!isPending(epic) && { epic: epic ?? "" }),
    ...(!isPending(tracker) && { id: tracker ?? "" }),
    file,
  };
}

// ── the table of epics ─────────────────────────────────────────────────────────────────────────

export interface TableRow {
  readonly line: number;
  readonly cells: readonly string[];
}

/** Rows of the first table with these columns, in this order of ours; -1: it has no such column. */
export function tableIn(
  text: string,
  columns: readonly string[],
): { readonly at: readonly number[]; readonly rows: readonly TableRow[] } {
  const lines = text.split("\n");
  const head = lines.findIndex((line) => columns.every((name) => cellsOf(line).includes(name)));
  if (head < 0) return { at: columns.map(() => -1), rows: [] };
  const heads = cellsOf(lines[head] ?? "");
  const rows: TableRow[] = [];
  for (let line = head + 2; lines[line]?.trimStart().startsWith("|"); line++) {
    rows.push({ line, cells: cellsOf(lines[line] ?? "") });
  }
  return { at: columns.map((name) => heads.indexOf(name)), rows };
}

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());

/** One cell gets another text, and no other byte of the line changes. */
export function withCell(line: string, at: number, value: string): string {
  const parts = line.split(/(?<!\\)\|/);
  const index = at + (line.trimStart().startsWith("|") ? 1 : 0);
  if (parts[index] === undefined) return line;
  parts[index] = parts[index].replace(/^(\s*).*?(\s*)$/su, (_, before: string, after: string) =>
    [before, value, after].join(""),
  );
  return parts.join("|");
}

export const epicColumns = ["Epic", "Name", "Component", "Tracker"] as const;

function epicsIn(text: string): Wanted[] {
  const { at, rows } = tableIn(text, epicColumns);
  const [idAt = -1, nameAt = -1, componentAt = -1, trackerAt = -1] = at;
  return rows.flatMap(({ cells }): Wanted[] => {
    const [of, name, component, id] = [idAt, nameAt, componentAt, trackerAt].map(
      (index) => cells[index] ?? "",
    );
    if (!of) return [];
    return [
      {
        kind: "epic",
        of,
        title: name || of,
        body: isPending(component) ? "" : `Component: ${component}`,
        ...(!isPending(id) && { id: id ?? "" }),
        file: epicsFile,
      },
    ];
  });
}

/** The epic that a task means: by its id, its name or its component; what no table has is one too. */
export function epicFor(named: string, items: readonly Wanted[]): Wanted {
  const wanted = named.toLowerCase();
  const known = items.filter(({ kind }) => kind === "epic");
  return (
    known.find(({ of, title, id }) =>
      [of, title, id ?? ""].some((each) => each.toLowerCase() === wanted),
    ) ??
    known.find(({ body }) => body.toLowerCase() === `component: ${wanted}`) ?? {
      kind: "epic",
      of: named,
      title: named,
      body: "",
      file: epicsFile,
    }
  );
}
