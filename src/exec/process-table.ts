/** Who lives on this machine, who descends from whom, and how they are ended. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { idName } from "./enclosure.ts";

export interface Living {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** 0 where the system does not say. */
  readonly session: number;
  /** In ticks since the machine's start; 0 where the system does not say. */
  readonly started: number;
  /** NAME=value, with a NUL before and after each; empty when it is not ours to read. */
  environment(): string;
}

export const carries = (each: Living, variable: string): boolean =>
  each.environment().includes(`\0${variable}\0`);

export const carriesId = (each: Living, id: string): boolean => carries(each, `${idName}=${id}`);

export const processTable = (): Living[] =>
  process.platform === "linux"
    ? listed("/proc").flatMap((name) => (/^\d/.test(name) ? fromProc(Number(name)) : []))
    : fromPs();

function fromProc(pid: number): Living[] {
  const stat = textAt(`/proc/${pid}/stat`);
  // The name of the program stands in parentheses and may contain anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group, session] = fields;
  if (state === undefined || parent === undefined || state === "Z" || state === "X") return [];
  return [
    {
      pid,
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      started: Number(fields[19]),
      environment: () => `\0${textAt(`/proc/${pid}/environ`)}\0`,
    },
  ];
}

/** macOS: `-E` puts the environment behind the command, for processes of the same user. */
function fromPs(): Living[] {
  const { stdout } = spawnSync("/bin/ps", ["-axEww", "-o", "pid=,ppid=,pgid=,stat=,command="], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return (stdout ?? "").split("\n").flatMap((row) => {
    const [, pid, parent, group, state, rest] =
      /^ *(\d+) +(\d+) +(\d+) +(\S+) (.*)$/.exec(row) ?? [];
    if (rest === undefined || state?.startsWith("Z")) return [];
    const environment = `\0${rest.replaceAll(" ", "\0")}\0`;
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        session: 0,
        started: 0,
        environment: () => environment,
      },
    ];
  });
}

/** Somebody lives who has that number. */
export const isGiven = (pid: number | undefined): boolean =>
  pid !== undefined && isAlive({ pid, started: 0 });

let ownStart: number | undefined;

/** What we started is younger than we are; most of a machine's processes are older. */
export function ourStart(): number {
  ownStart ??= process.platform === "linux" ? (fromProc(process.pid)[0]?.started ?? 0) : 0;
  return ownStart;
}

/** What we are called in the names of files: no other process of this machine ever is. */
export const ourName = (): string => `${process.pid}t${ourStart()}`;

/** Whether whoever is called so lives; where only a number is left of him: whoever has it now. */
export function isNameAlive(name: string): boolean {
  const [, pid, started] = /^(\d+)(?:t(\d+))?$/.exec(name) ?? [];
  return Number(pid ?? 0) > 0 && isAlive({ pid: Number(pid), started: Number(started ?? 0) });
}

/** Whether that very process lives: a number is given to others in time. */
export function isAlive({ pid, started }: Pick<Living, "pid" | "started">): boolean {
  if (process.platform === "linux") {
    const [found] = fromProc(pid);
    if (found) return started === 0 || found.started === started;
  }
  try {
    process.kill(pid, 0);
    // There, and not in the table: it has ended, and nobody has noticed yet.
    return process.platform !== "linux";
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/**
 * Those, their children and children's children, the elders first: a shell that lives on would say
 * that its child was killed. Never ourselves or those that we descend from.
 */
export function withDescendants(
  table: readonly Living[],
  isOne: (each: Living) => boolean,
): Living[] {
  const byPid = new Map(table.map((each) => [each.pid, each]));
  const spared = new Set<number>();
  for (let pid = process.pid; pid > 0 && !spared.has(pid); pid = byPid.get(pid)?.parent ?? 0) {
    spared.add(pid);
  }
  const children = new Map<number, Living[]>();
  for (const each of table) {
    const siblings = children.get(each.parent);
    if (siblings) siblings.push(each);
    else children.set(each.parent, [each]);
  }
  const taken = new Set<Living>();
  for (const each of table) if (!spared.has(each.pid) && isOne(each)) taken.add(each);
  // A set is walked up to its end, wherever that is by then.
  for (const each of taken) for (const child of children.get(each.pid) ?? []) taken.add(child);
  return [...taken];
}

/**
 * One look is not enough: a process may fork between our look and its death. Gives up after a few
 * seconds on those that cannot be killed (another user's, stuck in the kernel).
 */
export async function killUntilGone(isOne: (each: Living) => boolean): Promise<number> {
  const killed = new Set<number>();
  for (let pause = 1; pause < 2000; pause *= 2) {
    const left = withDescendants(processTable(), isOne);
    if (left.length === 0) break;
    for (const { pid } of left) {
      kill(pid, "SIGKILL");
      killed.add(pid);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, pause);
    });
  }
  return killed.size;
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  // 0 and below mean whole groups, and 1 is nobody's to kill.
  if (!(pid > 1)) return;
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already, or not ours to kill.
  }
}

export function listed(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}

export function linkAt(file: string): string {
  try {
    return fs.readlinkSync(file);
  } catch {
    return "";
  }
}

function textAt(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
