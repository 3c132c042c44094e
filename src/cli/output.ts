/**
 * Standard output carries data, standard error everything else. Written synchronously and without
 * `process.stdout`, whose set-up alone would cost more than all of `status`.
 */
import * as fs from "node:fs";

export function print(text: string): void {
  write(1, `${text}\n`);
}

export function printError(text: string): void {
  write(2, `${text}\n`);
}

/** As it is, without a line break: for what moves about on a terminal. */
export function writeError(text: string): void {
  write(2, text);
}

export const printJson = (value: unknown): void => print(jsonOf(value));

export const printJsonLine = (value: unknown): void => print(jsonOf(value, 0));

/** Still the same JSON: what a terminal would obey is written as an escape. */
export const jsonOf = (value: unknown, indent = 2): string =>
  JSON.stringify(value, null, indent).replace(obeyed, escaped);

const obeyed = /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const escaped = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

const gone = new Set<1 | 2>();

/** Whoever read our output has gone away: what is left to say is not said, the rest is done. */
export const isOutputGone = (): boolean => gone.has(1);

function write(fd: 1 | 2, text: string): void {
  if (gone.has(fd)) return;
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(fs.writeSync(fd, bytes));
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : "";
      // A pipe that is full for the moment; a reader that has gone away.
      if (code === "EAGAIN") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      // … or a terminal that was closed while it still shows how things go.
      else if (code === "EPIPE" || (code === "EIO" && fd === 2)) {
        gone.add(fd);
        return;
      } else cannotPrint(fd, String(code) || String(error));
    }
  }
}

/** A full disk behind a redirection, say: nothing of ours is at risk, but it was not said. */
function cannotPrint(fd: 1 | 2, reason: string): never {
  if (fd === 1) printError(`autodev: the output cannot be written (${reason})`);
  process.exit(1);
}

/** Only a character device can be a terminal: most callers are spared the tty module. */
export function isTerminal(fd: 0 | 1 | 2): boolean {
  try {
    const device = fs.fstatSync(fd);
    if (!device.isCharacterDevice()) return false;
    const known = process.platform === "linux" ? linuxTerminal(device.rdev) : undefined;
    return known ?? process.getBuiltinModule("node:tty").isatty(fd);
  } catch {
    return false;
  }
}

/** By the device's number, which spares a real terminal the tty module too; undefined: ask it. */
function linuxTerminal(device: number): boolean | undefined {
  const major = (device >> 8) & 0xfff;
  if (major === 1) return false;
  return major >= 136 && major <= 143 ? true : undefined;
}
