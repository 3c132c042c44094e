/** What a command prints: lines, masked, bounded; memory stays flat however much it is. */
import type { Readable } from "node:stream";
import type { Ended, ExecOptions } from "../exec.ts";
import { maskLines } from "../safe-text.ts";
import type { Enclosure } from "./enclosure.ts";
import { closing, cutLine, lineLimit, quiet } from "./streams.ts";

interface Output {
  /** When all has been read; or, if somebody else holds the pipes open, when nothing more comes. */
  drained(): Promise<void>;
  taken(): Pick<Ended, "tail" | "lines" | "bytes">;
  bytes(): number;
}

export function outputOf(
  { stdout, stderr }: Enclosure,
  { onLine, tailLines = 200, lineBytes = lineLimit }: ExecOptions,
  secrets: readonly string[],
): Output {
  let tail: string[] = [];
  let lines = 0;
  let bytes = 0;
  const keep = (line: string): void => {
    lines++;
    tail.push(line.length > lineLimit ? cutLine(line) : line);
    // Cut now and then: to shift at every line would move all of it every time.
    if (tail.length > 2 * tailLines + 64) tail = lastOf(tail, tailLines);
  };
  const listenTo = async (stream: Readable, name: "out" | "err"): Promise<void> => {
    const reader = lineReader(secrets, lineBytes, (line) => {
      keep(line);
      onLine?.(line, name);
    });
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      reader.read(chunk);
    });
    await closing(stream);
    reader.end();
  };
  const closed = Promise.all([listenTo(stdout, "out"), listenTo(stderr, "err")]);
  return {
    async drained() {
      await Promise.race([closed, quiet(() => bytes)]);
      // What somebody else still has to say is not this command's; the ends of lines are.
      stdout.destroy();
      stderr.destroy();
      await closed;
    },
    taken: () => ({ tail: lastOf(tail, tailLines), lines, bytes }),
    bytes: () => bytes,
  };
}

const lastOf = (lines: string[], count: number): string[] =>
  lines.slice(Math.max(0, lines.length - count));

/**
 * Splits at line feeds, which are never part of another character in UTF-8, and decodes whole lines
 * only. A line over several chunks is gathered in one buffer of a fixed size.
 */
function lineReader(
  secrets: readonly string[],
  most: number,
  take: (line: string) => void,
): { read(chunk: Buffer): void; end(): void } {
  const mask = maskLines(secrets);
  // The longest secret, and more: what is cut off may begin within what is kept.
  const margin = secrets.reduce((longest, { length }) => Math.max(longest, length), 4096);
  const held = Buffer.allocUnsafe(most + margin);
  let filled = 0;
  let overflown = false;

  const hold = (chunk: Buffer, from: number, to: number): void => {
    const copied = chunk.copy(held, filled, from, Math.min(to, from + held.length - filled));
    filled += copied;
    if (copied < to - from) overflown = true;
  };
  const finish = (text: string): void => {
    const line = mask(text.endsWith("\r") ? text.slice(0, -1) : text);
    const safe = overflown ? line.slice(0, Math.max(0, line.length - margin)) : line;
    take(overflown || safe.length > most ? `${whole(safe.slice(0, most))} … [cut]` : safe);
  };
  const finishHeld = (): void => {
    finish(held.toString("utf8", 0, filled));
    filled = 0;
    overflown = false;
  };
  return {
    read(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
        if (filled === 0 && at - from <= held.length) {
          finish(chunk.toString("utf8", from, at));
        } else {
          hold(chunk, from, at);
          finishHeld();
        }
        from = at + 1;
      }
      if (from < chunk.length) hold(chunk, from, chunk.length);
    },
    end() {
      if (filled > 0) finishHeld();
    },
  };
}

/** Without the first half of a character that the cut went through. */
const whole = (text: string): string => text.replace(/[\ud800-\udbff]$/, "");
