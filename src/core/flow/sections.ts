/**
 * The optional sections of a state file: bullets, tables and a handful of keys. Reading never
 * refuses (a section is history, not position); writing keeps every line that still holds.
 */
import type { CompletedStep, LastSession, RetryRow } from "./state.ts";
import {
  oneLine,
  type SectionName,
  type StateFile,
  sectionNames,
  spliceLines,
} from "./state-file.ts";

export const keyDecisionsIn = (file: StateFile): string[] => bulletsIn(file, "key decisions");

export const blockersIn = (file: StateFile): string[] => bulletsIn(file, "blockers");

export const completedStepsIn = (file: StateFile): CompletedStep[] =>
  rowsIn(file, "completed steps").map(({ cells }) => {
    // An older variant of generation 1 has a SubStep column more: outcome is the last one.
    const [step = "", name = ""] = cells;
    return {
      step,
      name,
      completed: cells[cells.length - 2] ?? "",
      outcome: cells[cells.length - 1] ?? "",
    };
  });

export const retryLogIn = (file: StateFile): RetryRow[] =>
  rowsIn(file, "retry log").map(({ cells }) => ({
    attempt: Number(cells[0]) || 0,
    step: cells[1] ?? "",
    name: cells[2] ?? "",
    subStep: cells[3] ?? "",
    reason: cells[4] ?? "",
    at: cells[5] ?? "",
  }));

export function lastSessionIn(file: StateFile): LastSession | undefined {
  const keys = new Map<string, string>();
  for (const { text } of linesIn(file, "last session")) {
    const match = /^[ \t]*(?:[-*+][ \t]+)?(date|ended_at|reason|notes)[ \t]*:[ \t]*/i.exec(text);
    if (match) keys.set((match[1] as string).toLowerCase(), text.slice(match[0].length).trim());
  }
  if (keys.size === 0) return undefined;
  return {
    date: keys.get("date") ?? "",
    endedAt: keys.get("ended_at") ?? "",
    reason: keys.get("reason") ?? "",
    notes: keys.get("notes") ?? "",
  };
}

/** Lines that no longer hold go, new ones are added at the end, all others stay as they are. */
export function setBullets(
  file: StateFile,
  section: SectionName,
  heading: string,
  items: readonly string[],
): StateFile {
  const present = bulletsIn(file, section);
  if (sameList(present, items)) return file;
  const wanted = new Set(items);
  const known = new Set(present);
  const kept = dropLines(file, section, (text) => {
    const item = bulletOf(text);
    return item !== undefined && (isNone(item) || !wanted.has(item));
  });
  const added = items.filter((item) => !known.has(item)).map((item) => `- ${oneLine(item)}`);
  return addLines(kept, section, heading, added);
}

/** Like `setBullets`, for tables: rows are the same when `same` columns of them are. */
export function setRows(
  file: StateFile,
  section: SectionName,
  table: { heading: string; columns: readonly string[]; same: readonly number[] },
  rows: readonly (readonly string[])[],
): StateFile {
  const keyOf = (cells: readonly string[]): string =>
    JSON.stringify(table.same.map((column) => oneLine(cells[column] ?? "")));
  const present = new Set(rowsIn(file, section).map(({ cells }) => keyOf(cells)));
  const wanted = new Set(rows.map(keyOf));
  const kept = dropLines(file, section, (text) => {
    const cells = cellsIn(text);
    return cells !== undefined && !isRule(cells) && !isHeader(cells) && !wanted.has(keyOf(cells));
  });
  const added = rows.filter((row) => !present.has(keyOf(row))).map(rowText);
  const header = kept.sections.has(section) ? [] : headerOf(table.columns);
  return addLines(kept, section, table.heading, added.length > 0 ? [...header, ...added] : []);
}

/** Below the rows that are there, whatever they are; a table is never shortened here. */
export function addRows(
  file: StateFile,
  section: SectionName,
  table: { heading: string; columns: readonly string[] },
  rows: readonly (readonly string[])[],
): StateFile {
  const header = file.sections.has(section) ? [] : headerOf(table.columns);
  return addLines(file, section, table.heading, [...header, ...rows.map(rowText)]);
}

const headerOf = (columns: readonly string[]): string[] => [
  `| ${columns.join(" | ")} |`,
  `|${columns.map(() => "---").join("|")}|`,
];

export function setLastSession(file: StateFile, session: LastSession | undefined): StateFile {
  if (!session) return file;
  const now = lastSessionIn(file);
  const wanted: [string, string, string][] = [
    ["date", session.date, now?.date ?? ""],
    ["ended_at", session.endedAt, now?.endedAt ?? ""],
    ["reason", session.reason, now?.reason ?? ""],
    ["notes", session.notes, now?.notes ?? ""],
  ];
  let next = file;
  const missing: string[] = [];
  for (const [key, value, written] of wanted) {
    const at = keyLine(next, key);
    if (at < 0) missing.push(`${key}: ${oneLine(value)}`);
    else if (written !== oneLine(value))
      next = spliceLines(next, at, 1, [`${key}: ${oneLine(value)}`]);
  }
  return addLines(next, "last session", "Last Session", missing);
}

/** Rewrites the step column of a table, row by row, and nothing else. */
export function renumberRows(
  file: StateFile,
  section: SectionName,
  column: number,
  renumber: (step: string, name: string) => string | undefined,
): StateFile {
  let next = file;
  for (const { at, text, cells } of rowsIn(file, section)) {
    const step = renumber(cells[column] ?? "", cells[column + 1] ?? "");
    if (step === undefined || step === cells[column]) continue;
    const parts = text.split("|");
    const raw = parts[column + 1] ?? "";
    parts[column + 1] = raw.trim() === "" ? ` ${step} ` : raw.replace(raw.trim(), () => step);
    next = spliceLines(next, at, 1, [parts.join("|")]);
  }
  return next;
}

// ── lines, bullets, rows ───────────────────────────────────────────────────────────────────────

function linesIn(file: StateFile, section: SectionName): { at: number; text: string }[] {
  const range = file.sections.get(section);
  if (!range) return [];
  return file.lines
    .slice(range.start, range.end)
    .map((line, index) => ({ at: range.start + index, text: line.text }));
}

const bulletOf = (text: string): string | undefined => {
  const match = /^[ \t]{0,3}[-*+][ \t]+/.exec(text);
  return match ? text.slice(match[0].length).trim() : undefined;
};

const isNone = (item: string): boolean => /^\[?none\]?\.?$/i.test(item);

const bulletsIn = (file: StateFile, section: SectionName): string[] =>
  linesIn(file, section).flatMap(({ text }) => {
    const item = bulletOf(text);
    return item === undefined || item === "" || isNone(item) ? [] : [item];
  });

function cellsIn(text: string): string[] | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith("|")) return undefined;
  const inside = trimmed.slice(1, trimmed.endsWith("|") && trimmed.length > 1 ? -1 : undefined);
  return inside.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

const rowText = (row: readonly string[]): string =>
  `| ${row.map((cell) => oneLine(cell).replaceAll("|", "\\|")).join(" | ")} |`;

const isRule = (cells: readonly string[]): boolean => cells.every((cell) => /^:?-+:?$/.test(cell));
const isHeader = (cells: readonly string[]): boolean =>
  /^(step|attempt)$/i.test(cells[0] ?? "") || cells.every((cell) => cell === "...");

const rowsIn = (
  file: StateFile,
  section: SectionName,
): { at: number; text: string; cells: string[] }[] =>
  linesIn(file, section).flatMap(({ at, text }) => {
    const cells = cellsIn(text);
    return !cells || isRule(cells) || isHeader(cells) ? [] : [{ at, text, cells }];
  });

const keyLine = (file: StateFile, key: string): number =>
  linesIn(file, "last session").find(({ text }) =>
    new RegExp(`^[ \\t]*(?:[-*+][ \\t]+)?${key}[ \\t]*:`, "i").test(text),
  )?.at ?? -1;

function dropLines(
  file: StateFile,
  section: SectionName,
  gone: (text: string) => boolean,
): StateFile {
  let next = file;
  for (const { at, text } of linesIn(file, section).reverse()) {
    if (gone(text)) next = spliceLines(next, at, 1, []);
  }
  return next;
}

/**
 * Into the section, after its last filled line. A section that is not there is made where it
 * belongs: before the first of those that come after it, or at the end.
 */
function addLines(
  file: StateFile,
  section: SectionName,
  heading: string,
  texts: readonly string[],
): StateFile {
  if (texts.length === 0) return file;
  const range = file.sections.get(section);
  if (!range) {
    const later = sectionNames
      .slice(sectionNames.indexOf(section) + 1)
      .flatMap((name) => file.sections.get(name)?.heading ?? []);
    const at = later.length > 0 ? Math.min(...later) : file.lines.length;
    const above = file.lines[at - 1];
    const gap = above && above.text.trim() !== "" ? [""] : [];
    const end = at < file.lines.length ? [""] : [];
    return spliceLines(file, at, 0, [...gap, `## ${heading}`, ...texts, ...end]);
  }
  let at = range.end;
  while (at > range.start && (file.lines[at - 1]?.text.trim() ?? "") === "") at--;
  return spliceLines(file, at, 0, texts);
}

const sameList = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((item, at) => item === b[at]);
