/**
 * Who has written a file, by a name that nobody else on this machine ever has: its process's number and
 * the tick at which that began (`1234t56789`). A number alone is given to others in time.
 */
import * as fs from "node:fs";
import { codeOf } from "./disk.ts";

export interface ProcessLook {
  /** As the kernel has it: "R", "S", "T" … */
  readonly state: string;
  /** In ticks since the machine's start. */
  readonly started: number;
}

/** Undefined: there is no such process, or the system does not say. */
export function lookAtProcess(pid: number): ProcessLook | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program stands in parentheses and may contain anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", started: Number(fields[19]) };
  } catch {
    return undefined;
  }
}

let own: string | undefined;

/** Where the system does not say when we began, the number has to do. */
export function writerName(): string {
  own ??= `${process.pid}t${lookAtProcess(process.pid)?.started ?? 0}`;
  return own;
}

/** It has ended, and nobody has noticed yet. */
const isOver = ({ state }: ProcessLook): boolean => state === "Z" || state === "X";

/** Whether that very process is still there; where that cannot be told, it is. */
export function isThere(pid: number, started: number): boolean {
  if (pid <= 1) return false;
  const found = lookAtProcess(pid);
  if (found && (isOver(found) || (started > 0 && found.started !== started))) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
