/** All processes of one command, behind one wall: what both kinds of wall have in common. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import * as os from "node:os";
import type { Readable } from "node:stream";
import type { Ended } from "../exec.ts";

/** All processes of one command, behind one wall. */
export interface Enclosure {
  readonly child: ChildProcess;
  /** The command's own. For `child`, its stderr is 4: on 2, those around the command tell us. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** SIGTERM to all of them. */
  askToStop(): void;
  kill(): void;
  /** Called when `child` has ended: nothing is left then, and the command's end is known. */
  empty(code: number | null, signal: string | null): Promise<HowItEnded>;
}

export type HowItEnded = Pick<Ended, "code" | "signal" | "notStarted" | "left">;

export interface Start {
  readonly id: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly input: string | typeof openInput | undefined;
}

/** Somebody will talk to it. */
export const openInput: unique symbol = Symbol("open");

/** POSIX systems have one; taken from PATH it could be somebody else's. */
export const shell = "/bin/sh";

/**
 * A run has many commands under way with one marker, and a run that is resumed has the same marker
 * again: to end one command, or what one dead process of ours has left, takes a name of its own.
 */
export const idName = "AUTODEV_EXEC_ID";
export const usInAllIds = randomUUID();
let idsGiven = 0;
export const nextId = (): string => `${usInAllIds}.${++idsGiven}`;

/** Rejects when it cannot be started. */
export async function spawned(
  argv: readonly string[],
  { cwd, env, input }: Omit<Start, "command" | "id">,
  third: number | "pipe",
): Promise<ChildProcess> {
  const [program = "", ...args] = argv;
  const child = spawn(program, args, {
    cwd,
    env,
    // A session of its own: a terminal's Ctrl-C reaches us alone.
    detached: true,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe", third, "pipe"],
  });
  await once(child, "spawn");
  // From now on only said of signals that could not be sent.
  child.on("error", () => {});
  // A program that does not read all of its input is within its rights.
  child.stdin?.on("error", () => {});
  if (input !== openInput) child.stdin?.end(input);
  return child;
}

/**
 * A shell between us and the command tells a death by signal as 128 + its number; so does the
 * command's own shell. 129 is left as it is: git says it for wrong usage, and hardly anybody dies
 * of a hang-up here, where there is no terminal.
 */
export function unshelled(code: number | null, signal: string | null): HowItEnded {
  if (code === null || code <= 129 || code > 128 + 31) return { code, signal };
  const name = Object.entries(os.constants.signals).find(
    ([, number]) => number === code - 128,
  )?.[0];
  return name === undefined ? { code, signal } : { code: null, signal: name };
}
