/** Streams that may be held open by somebody who will never say more. */
import type { Readable } from "node:stream";

/** What is longer is cut: nobody reads it, and nobody is to pay for it. */
export const lineLimit = 8 * 1024;

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
