/** Streams that may be held open by somebody who will never say more. */
import type { Readable } from "node:stream";

/** What is longer is cut: nobody reads it, and nobody is to pay for it. */
export const lineLimit = 8 * 1024;

/**
 * At most so long, and with nothing of what it was cut from: a slice holds on to all of it, and a
 * hundred slices of long lines are a lot of memory for little text.
 */
export function cutLine(line: string, most = lineLimit): string {
  const isCut = line.length > most;
  const text = Buffer.from(isCut ? line.slice(0, most) : line).toString();
  // Without what has become of half a character that the cut went through.
  return isCut ? `${text.replace(/\ufffd$/, "")} … [cut]` : text;
}

export const closing = (stream: Readable): Promise<void> =>
  new Promise((resolve) => {
    stream.on("error", () => {});
    stream.once("close", resolve);
  });

/** Resolves when a count has stood still for a while, though everything waiting was read. */
export async function quiet(count: () => number): Promise<void> {
  for (let before = -1, rounds = 0; before !== count() && rounds < 20; rounds++) {
    before = count();
    await new Promise((resolve) => {
      // A timer comes before what is waiting in the pipes when we were busy; an immediate after it.
      setTimeout(() => setImmediate(resolve), 100);
    });
  }
}

interface Words {
  until(pattern: RegExp): Promise<void>;
  /** As soon as the stream has ended, or nobody says more. */
  all(): Promise<string>;
}

export function wordsOf(stream: Readable): Words {
  let words = "";
  stream.on("data", (chunk: Buffer) => {
    if (words.length < lineLimit) words += chunk.toString();
  });
  const closed = closing(stream);
  return {
    until: (pattern) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!pattern.test(words)) return;
          stream.off("data", look);
          resolve();
        };
        stream.on("data", look);
        look();
      }),
    async all() {
      await Promise.race([closed, quiet(() => words.length)]);
      return words;
    },
  };
}
