/**
 * Lines of programs that speak JSON, read without believing any of it: what is not there, or is of
 * another type than it should be, is undefined.
 */

export type Fields = Readonly<Record<string, unknown>>;

/** The object of a line that is one; half of one, a list or a word is nothing. */
export function fieldsIn(line: string): Fields | undefined {
  if (!line.trimStart().startsWith("{")) return undefined;
  try {
    return fieldsOf(JSON.parse(line));
  } catch {
    return undefined;
  }
}

export const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : undefined;

export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;

/** A name that can stand among arguments: it will not be taken for an option. */
export const idOf = (value: unknown): string | undefined =>
  typeof value === "string" && /^[A-Za-z0-9][\w.:-]{0,127}$/.test(value) ? value : undefined;

/** An amount: never below nothing, never endless. */
export const amountOf = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;

/** The objects of a list; nobody means more than `mostInList` of them. */
export const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value)
    ? value.slice(0, mostInList).flatMap((each: unknown): Fields[] => {
        const fields = fieldsOf(each);
        return fields ? [fields] : [];
      })
    : [];

const mostInList = 1000;

/** JSON.parse reads what is nested without end; JSON.stringify would fall over it. */
export function isShallow(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth < mostDepth; depth++) {
    level = level.flatMap((each) =>
      typeof each === "object" && each !== null ? Object.values(each) : [],
    );
    if (level.length === 0) return true;
  }
  return false;
}

const mostDepth = 100;

/** What a tool is at, in a few words: one line of what it was given. */
export function inBrief(text: string | undefined): string {
  const line = (text ?? "").trim().split("\n", 1)[0] ?? "";
  return line.length > mostInBrief ? `${line.slice(0, mostInBrief - 1)}…` : line;
}

const mostInBrief = 200;

/** Without the folder that everybody knows; `folder` is absolute. */
export const pathIn = (folder: string | undefined, file: string): string =>
  folder !== undefined && file.startsWith(`${folder}/`) ? file.slice(folder.length + 1) : file;
