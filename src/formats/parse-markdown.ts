/**
 * Lezer's parser for GitHub's Markdown. For marks in a line it looks through what is around them, again
 * for each of them, so that a paragraph of nothing else would keep it busy for minutes. Whoever only
 * shows a document bounds that: what is too tangled is plain text then, and all else is read as always.
 * A plan is read whole or refused (`tooTangled`): half a plan is a wrong one.
 */
import type { SyntaxNode, Tree } from "@lezer/common";
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

export interface Piece {
  readonly tree: Tree;
  /** What it was made of. */
  readonly text: string;
  /** Where that begins in the whole. */
  readonly from: number;
}

/** Of so many characters, or a few more, up to the next heading. */
const pieceSize = 64 * 1024;
const heading = /^#{1,6}(?:[ \t]|$)/gm;

/**
 * The same as one tree after the other: that of a whole document takes fifty times the room of its
 * text. A heading at the beginning of a line ends whatever is open before it, but for a fence and HTML.
 */
export function* parseInPieces(text: string, size = pieceSize): Generator<Piece> {
  let from = 0;
  let wanted = size;
  while (from < text.length) {
    heading.lastIndex = from + Math.max(wanted, 1);
    const to = heading.exec(text)?.index;
    const piece = text.slice(from, to === undefined ? undefined : to - 1);
    const tree = parseMarkdown(piece);
    // Twice as much, so that whatever is never closed is not read again and again.
    if (to !== undefined && mayBeOpen(tree.topNode.lastChild)) wanted = 2 * piece.length;
    else {
      yield { tree, text: piece, from };
      from = to ?? text.length;
      wanted = size;
    }
  }
}

function mayBeOpen(block: SyntaxNode | null): boolean {
  if (block === null) return false;
  if (block.name === "FencedCode") return block.getChildren("CodeMark").length < 2;
  return /^(?:HTML|Comment|ProcessingInstruction)Block$/.test(block.name);
}
