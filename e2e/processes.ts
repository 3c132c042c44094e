/** Who is at work in a place, as the kernel knows it: by what stands in /proc. */
import { readdirSync, readFileSync } from "node:fs";
import type { Place } from "./place.ts";

export interface Process {
  readonly pid: number;
  readonly parent: number;
  /** With the pid: no other process ever has both. */
  readonly began: string;
  readonly command: string;
}

/** Those whose environment names the place, and all that descend from them. */
export function processesOf({ home, tree, tmp }: Place): readonly Process[] {
  const all = everyProcess();
  const family = new Set(
    all
      .filter(({ pid }) => pid !== process.pid)
      .filter(({ pid }) =>
        [home, tree, tmp].some((folder) => read(pid, "environ").includes(folder)),
      )
      .map(({ pid }) => pid),
  );
  for (let before = -1; before !== family.size; ) {
    before = family.size;
    for (const { pid, parent } of all) if (family.has(parent)) family.add(pid);
  }
  return all.filter(({ pid }) => family.has(pid));
}

/** Of these, those that are still there. */
export function stillThere(processes: readonly Process[]): readonly Process[] {
  const now = new Map(everyProcess().map(({ pid, began }) => [pid, began]));
  return processes.filter(({ pid, began }) => now.get(pid) === began);
}

/** Without those that are dead and only not waited for. */
function everyProcess(): readonly Process[] {
  return readdirSync("/proc").flatMap((name): Process[] => {
    if (!/^\d+$/.test(name)) return [];
    const pid = Number(name);
    const stat = read(pid, "stat");
    // The name before it may hold anything, parentheses too.
    const [state = "Z", parent = "0", ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return [];
    const command = read(pid, "cmdline").replaceAll("\0", " ").trim();
    return [{ pid, parent: Number(parent), began: rest[17] ?? "", command }];
  });
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    // Gone already, or not ours to look at.
    return "";
  }
}
