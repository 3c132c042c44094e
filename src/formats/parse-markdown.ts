/**
 * Lezer's parser for GitHub's Markdown, bounded: for marks in a line it looks through what is around
 * them, again for each of them, so that a paragraph of nothing else would keep it busy for minutes. Such
 * a paragraph is taken for plain text; whatever else there is in the document is read as always.
 */
import type { Tree } from "@lezer/common";
import { GFM, type InlineContext, parser } from "@lezer/markdown";

/** About a tenth of a second; what people write needs a hundredth of it. */
const mostWork = 40e6;
/** Whatever makes the parser look elsewhere in the same paragraph. */
const marks = /[*_~`[\]()<!@]|www\.|https?:|mailto:|xmpp:/gi;

let work = 0;

/** Asked first, at the beginning of each paragraph, heading and cell. */
function passTangle(cx: InlineContext, _next: number, at: number): number {
  if (at !== cx.offset) return -1;
  const { text } = cx;
  const cost = (text.match(marks)?.length ?? 0) * text.length;
  if (work + cost > mostWork) return cx.end;
  work += cost;
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

export function parseMarkdown(text: string): Tree {
  work = 0;
  return markdown.parse(text);
}
