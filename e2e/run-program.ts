/**
 * Starts a program, gives each line that it prints to whoever drives it, and leaves nothing of it
 * behind: agents start tools in sessions of their own, so what is left is found by a mark in the
 * environment that every descendant has.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

export interface Line {
  readonly stream: "out" | "err";
  readonly text: string;
}

export interface Run {
  readonly lines: readonly Line[];
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Processes that were still there after it had ended. */
  readonly left: number;
  readonly ms: number;
}

/** What a driver can do to the program. */
export interface Reins {
  readonly pid: number;
  send(line: string): void;
  endInput(): void;
  kill(signal: NodeJS.Signals): void;
}

export interface Start {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  begin?(reins: Reins): void;
  onLine?(line: Line, reins: Reins): void;
}

const mark = "AUTODEV_E2E_RUN";

export async function runProgram(start: Start): Promise<Run> {
  const began = Date.now();
  const id = randomUUID();
  const child = spawn(start.program, start.args, {
    cwd: start.cwd,
    env: { ...start.env, [mark]: id },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  // A program that does not read its input is no failure of ours.
  child.stdin.on("error", () => {});
  const reins: Reins = {
    pid: child.pid ?? 0,
    send: (line) => void child.stdin.write(`${line}\n`),
    endInput: () => void child.stdin.end(),
    kill: (signal) => void child.kill(signal),
  };
  const lines: Line[] = [];
  const listen = (stream: Line["stream"]): void => {
    const input = stream === "out" ? child.stdout : child.stderr;
    createInterface({ input }).on("line", (text) => {
      const line = { stream, text };
      lines.push(line);
      start.onLine?.(line, reins);
    });
  };
  listen("out");
  listen("err");
  if (start.begin) start.begin(reins);
  else reins.endInput();
  const late = setTimeout(() => child.kill("SIGKILL"), start.timeoutMs);
  const [exit, signal] = await ended(child);
  clearTimeout(late);
  // What it printed last may still be in the pipe; a tool that outlives it may hold the pipe open.
  await new Promise((resolve) => setTimeout(resolve, 200));
  return { lines, exit, signal, left: endMarked(id), ms: Date.now() - began };
}

const ended = (child: ChildProcess) =>
  new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (exit, signal) => resolve([exit, signal]));
  });

function endMarked(id: string): number {
  let ended = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, "utf8").includes(`${mark}=${id}`)) continue;
      process.kill(Number(pid), "SIGKILL");
      ended++;
    } catch {
      // Gone already, or not ours.
    }
  }
  return ended;
}
