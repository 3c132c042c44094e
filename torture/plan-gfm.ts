/**
 * Which boxes there are, by our reader and by micromark. Where the two differ, the difference has
 * to be one of those below. Each is proved, not guessed: its cause is taken out of the text (no
 * offset moves), and the two must agree from then on.
 */
import { readable, walkAll } from "../src/formats/document.ts";
import { boxesIn, gfmBoxes, type Problem } from "./plan-oracle.ts";

interface Reason {
  readonly name: string;
  /** The same text, as long as before, without the cause. */
  without(text: string): string;
}

const blank = (text: string): string => text.replace(/[^\r\n]/g, " ");
const lineEnd = String.raw`(?:\r\n|\n|\r)`;

const reasons: readonly Reason[] = [
  {
    // To Lezer it is a space, to CommonMark a letter.
    name: "a byte order mark inside the text",
    without: (text) => text.slice(0, 1) + text.slice(1).replaceAll("\uFEFF", "x"),
  },
  {
    // Ours: the YAML at the top is no Markdown.
    name: "front matter",
    without: (text) =>
      text.replace(
        /^(\uFEFF?)(---[ \t]*(?:\r\n|\r|\n)(?:[\s\S]*?(?:\r\n|\r|\n))??(?:---|\.\.\.)[ \t]*)(?=\r|\n|$)/u,
        (_, mark: string, front: string) => mark + blank(front),
      ),
  },
  {
    // Ours: fences inside a Markdown fence nest, as their authors mean them to.
    name: "fences nested in a Markdown fence",
    without: (text) =>
      text.replace(
        /([`~]{3,}[ \t]*)(?:markdown|mdx?)\b/giu,
        (found, signs: string) => signs + "x".repeat(found.length - signs.length),
      ),
  },
  {
    // GFM: a note is a container, and what stands in it is read. Lezer knows no notes.
    name: "inside or after a footnote",
    without: (text) => text.replace(/\[\^([^\]\r\n]*)\]:/gu, "(^$1) "),
  },
  {
    // Ours: a box that nobody has labelled yet is a box; GFM wants a text.
    name: "a box without a text",
    without: (text) => text.replace(/\[([ xX])\](?=[ \t]*(?:[\r\n]|$))/gu, "($1]"),
  },
  {
    // micromark takes a tab or a line break for the space between the brackets, as GitHub does.
    name: "a tab or a line break in the box",
    without: (text) => text.replace(/\[([\t\r\n]|\r\n)\]/gu, "($1]"),
  },
  {
    // Lezer: only "1." ends a paragraph or a table, even one of another container.
    name: "a number other than 1 right after a paragraph or table",
    without: (text) =>
      text.replace(
        new RegExp(
          String.raw`(?<=[^ \t\r\n][^\r\n]*${lineEnd}[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*)(\d{1,9}[.)])(?=[ \t])`,
          "gu",
        ),
        (number) => `-${" ".repeat(number.length - 1)}`,
      ),
  },
  {
    // Lezer: an empty item does not end a table, and one whose text begins on the next line takes
    // another indentation for its own.
    name: "an item that begins with an empty line",
    without: (text) =>
      text.replace(
        new RegExp(
          String.raw`(?<=(?:^|[\r\n])[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*)(?:[-*+]|\d{1,9}[.)])(?=[ \t]*(?:${lineEnd}|$))`,
          "gu",
        ),
        (marker) => "x".repeat(marker.length),
      ),
  },
  {
    // Lezer: behind a tab it takes the item's text to be further right than it is.
    name: "a tab after a list marker",
    without: (text) => text.replace(/(?<=(?:[-*+]|\d[.)]) *)\t/gu, " "),
  },
  {
    // Lezer: a table may begin on a line that only lazily belongs to the item or quote above it.
    name: "a table right after a paragraph",
    without: (text) =>
      text.replace(
        new RegExp(
          String.raw`(?<=[^\s][^\r\n]*${lineEnd}[^\r\n]+${lineEnd})[ \t>|:-]+(?=${lineEnd})`,
          "gu",
        ),
        (row) => row.replaceAll("|", "x"),
      ),
  },
  {
    // Lezer: the same with a tag on a line of its own.
    name: "a tag right after a paragraph",
    without: (text) =>
      text.replace(new RegExp(String.raw`(?<=[^\s][^\r\n]*${lineEnd}[ \t>]*)<`, "gu"), "("),
  },
  {
    // Lezer: a quote goes on behind any indentation; after four columns it should be code.
    name: "a quote mark behind four columns",
    without: (text) => text.replace(/(?<=(?:^|[\r\n])(?: {4}| {0,3}\t)[ \t]*)>/gu, "x"),
  },
];

export interface Comparison {
  readonly agreed: number;
  /** One for each difference. */
  readonly reasons: readonly string[];
  readonly problem?: Problem;
}

type Side = { from: number; said: string };

/** Offsets at which one of the two has a box that the other has not, or not in the same state. */
function differences(text: string): {
  agreed: number;
  extra: number;
  differing: Map<number, Side>;
} {
  const ours = boxesIn({ file: "plan.md", text });
  const theirs = new Map(gfmBoxes(text).map(({ from, done }) => [from, done]));
  const differing = new Map<number, Side>();
  let agreed = 0;
  let extra = 0;
  for (const { from, mark, done, optional } of ours) {
    const other = theirs.get(from);
    theirs.delete(from);
    if (other === done) agreed++;
    else if (other !== undefined)
      differing.set(from, {
        from,
        said: `[${mark}] at ${from}: they say ${other ? "ticked" : "open"}`,
      });
    else if (optional || !/^[ xX]$/u.test(mark)) extra++;
    else differing.set(from, { from, said: `[${mark}] at ${from} is no box to them` });
  }
  for (const [from] of theirs)
    differing.set(from, { from, said: `[${text[from]}] at ${from} is no box to us` });
  return { agreed, extra, differing };
}

export function compareBoxes(text: string): Comparison {
  const { agreed, extra, differing } = differences(text);
  const found = Array.from({ length: extra }, () => "a mark of ours: [~] [-] [✓] [ ]* …");
  let left = [...differing.values()];
  let without = text;
  for (const reason of reasons) {
    if (left.length === 0) break;
    const next = reason.without(without);
    if (next === without) continue;
    if (next.length !== text.length)
      throw new Error(`${reason.name}: the text must stay as long as it is`);
    without = next;
    const still = differences(without).differing;
    const explained = left.filter(({ from }) => !still.has(from));
    found.push(...explained.map(() => reason.name));
    left = left.filter(({ from }) => still.has(from));
  }
  const [first] = left;
  return {
    agreed,
    reasons: found,
    ...(first ? { problem: { kind: "the other parser disagrees", said: first.said } } : {}),
  };
}

/** Line ends do not decide what is a box. */
export function compareLineEnds(text: string): Problem | undefined {
  const body = text.replace(/\r\n?/gu, "\n");
  const seen = (end: string): string =>
    boxesIn({ file: "plan.md", text: body.replaceAll("\n", end) })
      .map(
        ({ from, mark }) =>
          `[${mark}] in line ${body.replaceAll("\n", end).slice(0, from).split(end).length}`,
      )
      .join(", ");
  const plain = seen("\n");
  const other = ["\r\n", "\r"].find((end) => seen(end) !== plain);
  if (other === undefined) return undefined;
  return {
    kind: "boxes depend on the line ends",
    said: `LF: ${plain || "none"}; ${JSON.stringify(other)}: ${seen(other) || "none"}`,
  };
}

/** Nor do the pieces in which it is read: each section by itself, and all of it at once. */
export function compareInPieces(text: string): Problem | undefined {
  const { copy } = readable(text);
  const seen = (size: number): string[] =>
    Object.entries<readonly object[]>({ ...walkAll(copy, 0, size) }).flatMap(([kind, found]) =>
      found.map((each) => `${kind} ${JSON.stringify(each)}`),
    );
  const [pieces, whole] = [seen(1), seen(Number.POSITIVE_INFINITY)];
  const at = whole.findIndex((each, index) => each !== pieces[index]);
  if (at < 0 && pieces.length === whole.length) return undefined;
  const of = Math.max(at, 0);
  return {
    kind: "a document is read otherwise in pieces",
    said: `whole: ${whole[of] ?? "nothing"}; in pieces: ${pieces[of] ?? "nothing"}`,
  };
}
