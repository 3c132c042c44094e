/**
 * What was said in an attempt, as somebody reads it: lines that belong together are one block, a
 * tool that began and ended is one row, and of a long day only the last part is kept.
 */
import type { Said } from "../../src/core/board/wire.ts";

type Plain = Exclude<Said, { readonly is: "line" }>;

export type Part = { readonly key: number } & (
  | Plain
  | { readonly is: "lines"; readonly lines: readonly string[] }
);

export interface Conversation {
  readonly parts: readonly Part[];
  /** Of the next part. */
  readonly next: number;
  /** What came before is not shown. */
  readonly isCut: boolean;
}

export const mostParts = 3000;
/** A block that grows without end would be drawn anew with each line. */
const mostLines = 100;

export const nothingSaid: Conversation = { parts: [], next: 0, isCut: false };

export function heard(before: Conversation, said: readonly Said[]): Conversation {
  if (said.length === 0) return before;
  const parts = [...before.parts];
  let { next } = before;
  for (const each of said) {
    const last = parts.at(-1);
    if (each.is === "line") {
      if (last?.is === "lines" && last.lines.length < mostLines) {
        parts[parts.length - 1] = { ...last, lines: [...last.lines, each.text] };
      } else parts.push({ key: next++, is: "lines", lines: [each.text] });
      continue;
    }
    if (each.is === "tool" && each.state !== "started") {
      const begun = parts.findLastIndex(
        (part) =>
          part.is === "tool" &&
          part.state === "started" &&
          part.name === each.name &&
          (each.what === "" || part.what === each.what),
      );
      const part = parts[begun];
      if (part?.is === "tool") {
        parts[begun] = { ...part, state: each.state };
        continue;
      }
    }
    // A plan that is told anew takes the place of the one right before it.
    if (each.is === "plan" && last?.is === "plan")
      parts[parts.length - 1] = { key: last.key, ...each };
    else parts.push({ key: next++, ...each });
  }
  const over = parts.length - mostParts;
  return {
    parts: over > 0 ? parts.slice(over) : parts,
    next,
    isCut: before.isCut || over > 0,
  };
}
