/**
 * What becomes of our files when items have ids: the header and the table say so, and a task's file is
 * called by its id. A plan of writes and renames, made from what lies there now: carried out half, it
 * is made anew from the rest and comes to the same end.
 *
 * A task keeps its first name as `**Alias**`, for life: whoever mentions that still means this task.
 */
import {
  type Documents,
  epicColumns,
  epicsFile,
  headerLine,
  headerValue,
  tableFile,
  tableIn,
  taskFile,
  withCell,
} from "./items.ts";

export interface Ids {
  /** By what our files call them. */
  readonly epics: ReadonlyMap<string, string>;
  readonly tasks: ReadonlyMap<string, string>;
}

export interface FileChanges {
  /** In this order, before anything is renamed. */
  readonly writes: readonly { readonly file: string; readonly text: string }[];
  readonly renames: readonly { readonly from: string; readonly to: string }[];
}

export function renamePlan(documents: Documents, { epics, tasks }: Ids): FileChanges {
  const names = new Map<string, string>();
  const renames: { from: string; to: string }[] = [];
  for (const [file, text] of documents) {
    const [, folder = "", name = ""] = taskFile.exec(file) ?? [];
    if (name === "") continue;
    const alias = headerValue(text, "Alias") ?? name;
    const id = tasks.get(alias);
    if (id === undefined) continue;
    const named = nameWith(id, alias);
    names.set(alias, named);
    if (named !== name) renames.push({ from: file, to: `02_tasks/${folder}/${named}.md` });
  }
  const writes: { file: string; text: string }[] = [];
  for (const [file, text] of documents) {
    const changed =
      file === epicsFile
        ? epicsText(text, epics)
        : file === tableFile
          ? tableText(text, names, epics)
          : taskFile.test(file)
            ? taskText(file, text, { names, epics, tasks })
            : text;
    if (changed !== text) writes.push({ file, text: changed });
  }
  return { writes, renames };
}

/** `01_initial_structure` becomes `AZ-12_initial_structure`. */
const nameWith = (id: string, name: string): string =>
  `${id}_${name.replace(/^(?:[A-Za-z][A-Za-z0-9]*-\d+|\d+)_/u, "")}`;

interface Named extends Ids {
  readonly names: ReadonlyMap<string, string>;
}

function taskText(file: string, text: string, { names, epics, tasks }: Named): string {
  const [, , name = ""] = taskFile.exec(file) ?? [];
  const alias = headerValue(text, "Alias") ?? name;
  const id = tasks.get(alias);
  const epic = epics.get(headerValue(text, "Epic") ?? "");
  let changed = text;
  const set = (field: string, value: string | undefined): void => {
    if (value === undefined) return;
    changed = changed.replace(headerLine(field), (_, before: string) => `${before}${value}`);
  };
  if (id !== undefined) {
    if (headerValue(text, "Alias") === undefined) {
      changed = changed.replace(headerLine("Task"), (line) => `${line}\n**Alias**: ${alias}`);
    }
    set("Task", names.get(alias));
    set("Tracker", id);
  }
  set("Epic", epic);
  const waits = headerValue(changed, "Dependencies");
  if (waits !== undefined) set("Dependencies", withNames(waits, names));
  return changed;
}

/** Each mention of an old name, whole; a number alone only where it stands for one task. */
function withNames(text: string, names: ReadonlyMap<string, string>): string {
  const short = new Map<string, string | undefined>();
  for (const [alias, name] of names) {
    const [number] = /^\d+(?=_)/.exec(alias) ?? [];
    if (number !== undefined) short.set(number, short.has(number) ? undefined : name);
  }
  return text.replace(/[\p{L}\p{N}_-]+/gu, (word) => names.get(word) ?? short.get(word) ?? word);
}

function tableText(
  text: string,
  names: ReadonlyMap<string, string>,
  epics: ReadonlyMap<string, string>,
): string {
  const { at, rows } = tableIn(text, ["Task", "Dependencies", "Epic"]);
  const [taskAt = -1, waitsAt = -1, epicAt = -1] = at;
  return changedLines(text, rows, (line, cells) => {
    const [task, waits, epic] = [taskAt, waitsAt, epicAt].map((index) => cells[index] ?? "");
    const named = withCell(line, taskAt, withNames(task ?? "", names));
    const waiting = withCell(named, waitsAt, withNames(waits ?? "", names));
    return withCell(waiting, epicAt, epics.get(epic ?? "") ?? epic ?? "");
  });
}

function epicsText(text: string, epics: ReadonlyMap<string, string>): string {
  const { at, rows } = tableIn(text, epicColumns);
  const [idAt = -1, , , trackerAt = -1] = at;
  return changedLines(text, rows, (line, cells) => {
    const id = epics.get(cells[idAt] ?? "");
    return id === undefined ? line : withCell(line, trackerAt, id);
  });
}

function changedLines(
  text: string,
  rows: readonly { readonly line: number; readonly cells: readonly string[] }[],
  change: (line: string, cells: readonly string[]) => string,
): string {
  const lines = text.split("\n");
  for (const { line, cells } of rows) lines[line] = change(lines[line] ?? "", cells);
  return lines.join("\n");
}

/** What was left to do, for people and for whoever starts next; empty: nothing is. */
export function leftoverText(
  left: readonly { readonly kind: string; readonly of: string; readonly why: string }[],
): string {
  if (left.length === 0) return "";
  return [
    "# Tracker: left to do",
    "",
    "The next `autodev` tries again; `autodev tracker sync` does it now.",
    "",
    "| What | Name | Why |",
    "|---|---|---|",
    ...left.map(
      ({ kind, of, why }) =>
        `| ${kind} | ${of} | ${why.replace(/\s+/g, " ").replaceAll("|", "\\|").slice(0, 300)} |`,
    ),
    "",
  ].join("\n");
}

export const leftoverFile = "_process_leftovers/tracker.md";
