/**
 * Lines of ours at the end of somebody's document, between two marks:
 *
 *     <!-- autodev:start 1 5f3a09c1 -->
 *     …
 *     <!-- autodev:end -->
 *
 *  1. The first mark has the hash of what is between them: by it we know that nobody has changed it.
 *     Where folders were made for the file, their number follows.
 *  2. Whatever stood there can be told from the text alone. An empty line goes before the block. A
 *     document that ended without a line end still does; one that was empty has nothing but the
 *     block, without a line end; one that was not there has the block and a line end.
 */
import { fail, type Result, succeed } from "../failure.ts";
import {
  type Found,
  type Intent,
  lineAt,
  lineEndOf,
  type Outcome,
  type PlanFile,
  plainEnds,
  same,
} from "./outcome.ts";
import type { BlockWanted, CommentSign } from "./wanted.ts";

export const planBlock: PlanFile<BlockWanted> = (wanted, found, intent) => {
  const { file, text } = found;
  const block = text === undefined ? succeed(undefined) : findBlock(text, wanted.comment, file);
  if (!block.ok) return block;
  const outcome =
    intent.do === "take"
      ? take(found, block.value, intent)
      : put(wanted, found, block.value, intent);
  return succeed(outcome);
};

export interface Block {
  readonly from: number;
  readonly to: number;
  readonly line: number;
  readonly hash: string;
  readonly made: number;
  readonly body: string;
  readonly lineEnd: string;
}

function put(
  wanted: BlockWanted,
  found: Found,
  block: Block | undefined,
  { hash, replace }: Intent,
): Outcome {
  const { file, text } = found;
  const { body, unless, against } = wanted;
  if (text === undefined) {
    return { is: "create", text: `${written(wanted, hash, "\n", found.missing)}\n` };
  }
  const others = block ? text.slice(0, block.from) + text.slice(block.to) : text;
  const opposite = against?.line.exec(others);
  if (against && opposite) {
    const { index } = opposite;
    const line = lineAt(text, block && index >= block.from ? index + block.to - block.from : index);
    return { is: "left", line, why: against.why, hint: `remove line ${line} of ${file}` };
  }
  if (block) {
    if (plainEnds(block.body) === body && block.hash === hash(body)) return same;
    if (!isOurs(block, hash) && !replace) return changed(file, block);
    const ours = written(wanted, hash, block.lineEnd, block.made);
    return { is: "edit", edits: [{ file, from: block.from, to: block.to, text: ours }] };
  }
  if (unless?.test(text)) return same;
  const end = lineEndOf(text);
  const ours = written(wanted, hash, end, 0);
  const isEmpty = text === "" || text === "\uFEFF";
  const added = isEmpty
    ? ours
    : text.endsWith("\n")
      ? `${end}${ours}${end}`
      : `${end}${end}${ours}`;
  return { is: "edit", edits: [{ file, from: text.length, to: text.length, text: added }] };
}

function take({ file, text = "" }: Found, block: Block | undefined, { hash }: Intent): Outcome {
  if (!block) return same;
  if (!isOurs(block, hash)) return changed(file, block);
  const { lineEnd } = block;
  const [before, after] = [text.slice(0, block.from), text.slice(block.to)];
  if (before === "" && after === lineEnd) return { is: "remove", made: block.made };
  const isEnded = after.startsWith(lineEnd);
  const gap = lineEnd.repeat(isEnded ? 1 : 2);
  const from = before.endsWith(gap) ? block.from - gap.length : block.from;
  const to = isEnded ? block.to + lineEnd.length : block.to;
  return { is: "edit", edits: [{ file, from, to, text: "" }] };
}

const isOurs = ({ hash: marked, body }: Block, hash: Intent["hash"]): boolean =>
  marked === hash(plainEnds(body));

const changed = (file: string, { line }: Block): Outcome => ({
  is: "left",
  line,
  why: "somebody has changed what is between our marks",
  hint: `remove ${file} from line ${line} to autodev:end yourself, if nobody needs it`,
});

const version = 1;

function written(
  { body, comment }: BlockWanted,
  hash: Intent["hash"],
  lineEnd: string,
  made: number,
): string {
  const mark = `autodev:start ${version} ${hash(body)}${made > 0 ? ` ${made}` : ""}`;
  const lines = `${commented(comment, mark)}\n${body}${commented(comment, "autodev:end")}`;
  return lines.replaceAll("\n", lineEnd);
}

export const commented = (comment: CommentSign, text: string): string =>
  comment === "#" ? `# ${text}` : `<!-- ${text} -->`;

/** Undefined: there is none. */
export function findBlock(
  text: string,
  comment: CommentSign,
  file: string,
): Result<Block | undefined> {
  const [open, close] = comment === "#" ? ["# ", ""] : ["<!-- ", " -->"];
  const starts = [
    ...text.matchAll(
      new RegExp(
        `^\\uFEFF?(${open}autodev:start \\d+ ([0-9a-f]+)(?: (\\d))?${close})(\\r?\\n)`,
        "gmu",
      ),
    ),
  ];
  const [first, second] = starts;
  if (!first) return succeed(undefined);
  const [whole, mark = "", hash = "", made = "0", lineEnd = "\n"] = first;
  const broken = (at: number, what: string): ReturnType<typeof fail> => {
    const line = lineAt(text, at);
    return fail("host-file-invalid", `${file}:${line}: ${what}`, {
      file,
      line,
      hint: "remove what is left of the block, with its marks; then run the same command again",
    });
  };
  if (second) return broken(second.index, "a second autodev:start, and there may be one");
  const from = first.index + whole.indexOf(mark);
  const start = first.index + whole.length;
  const end = new RegExp(`^${open}autodev:end${close}(?=\\r?\\n|$(?![^]))`, "gmu");
  end.lastIndex = start;
  const ended = end.exec(text);
  if (!ended) return broken(from, "autodev:start has no autodev:end");
  return succeed({
    from,
    to: ended.index + ended[0].length,
    line: lineAt(text, from),
    hash,
    made: Number(made),
    body: text.slice(start, ended.index),
    lineEnd,
  });
}
