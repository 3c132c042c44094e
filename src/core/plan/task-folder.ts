/**
 * In a folder of tasks the folder is the status: what has landed lies in `done/`. So a task's file is
 * moved by the very commit that carries out the task, and by nothing else.
 */
import type { PlanRun } from "./progress.ts";

const open = /(^|\/)(?:todo|in_progress)\/([^/]+\.md)$/u;
const over = /(^|\/)done\/([^/]+\.md)$/u;

/** Where a file of a plan lies once its phase has landed; the same place, in most formats. */
export const placeWhenDone = (format: string, file: string): string =>
  format === "tasks" ? file.replace(open, "$1done/$2") : file;

/** One of the plan's own files, wherever it lies by now. */
export function isPlanFile(
  { format, planFiles }: Pick<PlanRun, "format" | "planFiles">,
  file: string,
): boolean {
  if (planFiles[file] !== undefined) return true;
  if (format !== "tasks" || !over.test(file)) return false;
  return ["todo", "in_progress"].some(
    (folder) => planFiles[file.replace(over, `$1${folder}/$2`)] !== undefined,
  );
}

/** A file of such a folder, from whichever place it came. */
export const isInTaskFolder = (folder: string, file: string): boolean =>
  file.startsWith(`${folder}/`) &&
  /^(?:(?:todo|in_progress|done)\/[^/]+|_dependencies_table)\.md$/u.test(
    file.slice(folder.length + 1),
  );
