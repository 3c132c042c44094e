/**
 * A few lines at the end of a terminal that change in place, and above them lines that stay.
 *
 *  1. The cursor rests, hidden, on the first of the changing lines. Whatever a terminal does with
 *     long lines when it is resized, it keeps the cursor with its text: so clearing from there on
 *     takes away all of the old frame and nothing else.
 *  2. A frame is one write, and only what differs; no difference, no write.
 *  3. Keys are read and not echoed, since an echoed line break would move the frame. Those that are
 *     signals are sent as signals.
 *  4. On every way out (end, question, Ctrl-Z, exit, crash) the cursor and the keys are given back.
 */
import * as fs from "node:fs";
import { printError, writeError } from "./output.ts";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface LiveTerminal {
  /** Something is different: it is drawn soon. */
  changed(): void;
  /** Lines that stay. */
  say(lines: readonly string[]): void;
  /** The terminal is somebody else's meanwhile; what is said is said afterwards. */
  suspend<T>(during: () => Promise<T>): Promise<T>;
  close(): void;
}

const escape = "\u001b[";
const hideCursor = `${escape}?25l`;
const showCursor = `${escape}?25h`;
/** Terminals that know it show a frame whole; others ignore it. */
const together = (text: string): string => `${escape}?2026h${text}${escape}?2026l`;
/** Should a terminal count columns otherwise than we do, a line is cut and not wrapped. */
const unwrapped = (text: string): string => `${escape}?7l${text}${escape}?7h`;
const toFirst = "\r";
const clearBelow = `${escape}J`;
const clearRest = `${escape}K`;
/**
 * From the first line on. Not in one go: in the first row of the screen that would clear all of it,
 * and some terminals keep what is cleared so, which would fill the past with frames.
 */
const clearFrame = `${toFirst}${clearRest}\u001b7${escape}B${toFirst}${clearBelow}\u001b8`;

/** From one frame to another, beginning and ending at the start of the first line. */
export function redraw(before: readonly string[], after: readonly string[]): string {
  let out = "";
  let at = 0;
  const go = (row: number): void => {
    const last = Math.max(0, before.length - 1);
    if (row > at) {
      const within = Math.min(row, Math.max(at, last)) - at;
      if (within > 0) out += `${escape}${within}B`;
      // Further down there may be no row yet: a line break makes one.
      out += "\r\n".repeat(row - at - within);
    }
    at = row;
  };
  for (const [row, line] of after.entries()) {
    if (line === before[row] && row < before.length) continue;
    go(row);
    out += `${toFirst}${line}${clearRest}`;
  }
  if (after.length < before.length) {
    go(after.length);
    out += `${toFirst}${clearBelow}`;
  }
  if (out === "") return "";
  return `${out}${at > 0 ? `${escape}${at}A` : ""}${toFirst}`;
}

/** At most so often: a frame more would not be seen. */
const frameMs = 100;
const tickMs = 1000;

export function openLiveTerminal(frame: (size: Size) => readonly string[]): LiveTerminal {
  const { stdin, stderr } = process;
  let drawn: readonly string[] = [];
  /** Ours at the moment, to draw on. */
  let ours = false;
  let asked = 0;
  let closed = false;
  let anew = false;
  let nextFrame = 0;
  let timer: NodeJS.Timeout | undefined;
  let held: string[] = [];

  const size = (): Size => ({ columns: stderr.columns || 80, rows: stderr.rows || 24 });

  const draw = (above: readonly string[] = []): void => {
    clearTimeout(timer);
    timer = undefined;
    if (!ours) return;
    const began = performance.now();
    const next = frame(size());
    const whole = anew || above.length > 0;
    const text = whole
      ? `${clearFrame}${above.map((line) => `${line}\r\n`).join("")}${unwrapped(redraw([], next))}`
      : redraw(drawn, next);
    drawn = next;
    anew = false;
    if (text !== "") writeError(together(whole ? text : unwrapped(text)));
    // However large the plan is, drawing it takes a small share of the time.
    const ended = performance.now();
    nextFrame = ended + Math.max(frameMs, (ended - began) * 10);
  };

  const soon = (): void => {
    if (timer !== undefined || !ours) return;
    timer = setTimeout(draw, Math.max(0, nextFrame - performance.now()));
    timer.unref();
  };

  const onKeys = (bytes: Buffer): void => {
    for (const byte of bytes) {
      const signal = signalKeys.get(byte);
      if (signal !== undefined) process.kill(process.pid, signal);
      else if (byte === redrawKey) onResize();
    }
  };
  const onResize = (): void => {
    anew = true;
    soon();
  };
  const readsKeys = stdin.isTTY;

  const take = (): void => {
    if (ours || closed || asked > 0 || !inForeground()) return;
    ours = true;
    if (readsKeys) {
      stdin.setRawMode(true);
      stdin.on("data", onKeys).resume();
      stdin.unref();
    }
    writeError(hideCursor);
    drawn = [];
    draw(held);
    held = [];
  };

  const giveBack = (): void => {
    if (!ours) return;
    ours = false;
    clearTimeout(timer);
    timer = undefined;
    drawn = [];
    writeError(together(`${clearFrame}${showCursor}`));
    if (!readsKeys) return;
    stdin.off("data", onKeys).pause();
    // Whoever reads next waits for what is typed.
    stdin.ref();
    stdin.setRawMode(false);
  };

  const onStop = (): void => {
    giveBack();
    process.kill(process.pid, "SIGSTOP");
  };
  const onQuit = (): void => {
    close();
    process.kill(process.pid, "SIGQUIT");
  };
  const nothing = (): void => {};

  const close = (): void => {
    if (closed) return;
    giveBack();
    closed = true;
    clearInterval(tick);
    for (const line of held) printError(line);
    held = [];
    process.off("exit", close).off("SIGTSTP", onStop).off("SIGCONT", take).off("SIGQUIT", onQuit);
    stderr.off("resize", onResize);
    stdin.off("error", nothing);
  };

  process.on("exit", close).on("SIGTSTP", onStop).on("SIGCONT", take).on("SIGQUIT", onQuit);
  stderr.on("resize", onResize);
  // A terminal that goes away is told by SIGHUP.
  if (readsKeys) stdin.on("error", nothing);
  const tick = setInterval(() => {
    // A shell does not tell whoever it takes back to the foreground; elsewhere it costs too much.
    if (!ours && process.platform === "linux") take();
    else draw();
  }, tickMs);
  tick.unref();
  take();

  return {
    changed: soon,
    say(lines) {
      if (lines.length === 0) return;
      if (ours) draw(lines);
      else if (asked > 0) held.push(...lines);
      else for (const line of lines) printError(line);
    },
    async suspend(during) {
      asked++;
      giveBack();
      try {
        return await during();
      } finally {
        asked--;
        take();
        if (!ours && asked === 0) {
          for (const line of held) printError(line);
          held = [];
        }
      }
    },
    close,
  };
}

const signalKeys: ReadonlyMap<number, NodeJS.Signals> = new Map([
  [0x03, "SIGINT"],
  [0x1a, "SIGTSTP"],
  [0x1c, "SIGQUIT"],
]);
const redrawKey = 0x0c;

/** In the background, whoever sets the keys of a terminal is stopped, and frames disturb others. */
export function inForeground(): boolean {
  try {
    if (process.platform === "win32") return true;
    if (process.platform === "linux") {
      const stat = fs.readFileSync("/proc/self/stat", "utf8");
      const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return group === foreground;
    }
    const { execFileSync } = process.getBuiltinModule("node:child_process");
    const told = execFileSync("ps", ["-o", "pgid=,tpgid=", "-p", String(process.pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [group, foreground] = told.trim().split(/\s+/);
    return group === foreground;
  } catch {
    return true;
  }
}
