/**
 * Lezer's parser for GitHub's Markdown. For marks in a line it looks through what is around them, again
 * for each of them, so that a paragraph of nothing else would keep it busy for minutes. Whoever only
 * shows a document bounds that: what is too tangled is plain text then, and all else is read as always.
 * A plan is read whole or refused (`tooTangled`): half a plan is a wrong one.
 */
import type { Tree } from "@lezer/common";
import { GFM, type InlineContext, parser } from "@lezer/markdown";

/** About a tenth of a second; what people write needs a hundredth of it. */
export const littleWork = 40e6;
/** Whatever makes the parser look elsewhere in the same paragraph. */
const marks = /[*_~`[\]()<!@]|www\.|https?:|mailto:|xmpp:/gi;

let left = Number.POSITIVE_INFINITY;

/** Asked first, at the beginning of each paragraph, heading and cell. */
function passTangle(cx: InlineContext, _next: number, at: number): number {
  if (at !== cx.offset) return -1;
  const { text } = cx;
  const cost = (text.match(marks)?.length ?? 0) * text.length;
  if (cost > left) return cx.end;
  left -= cost;
  return -1;
}

/** Hard breaks mean nothing here, and looking for them costs the square of the spaces in a line. */
const markdown = parser.configure([
  GFM,
  {
    remove: ["HardBreak"],
    parseInline: [{ name: "Tangle", parse: passTangle, before: "Escape" }],
  },
]);

export function parseMarkdown(text: string, mostWork = Number.POSITIVE_INFINITY): Tree {
  left = mostWork;
  return markdown.parse(text);
}
