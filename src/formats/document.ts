/**
 * A Markdown document as a flat list of blocks with exact offsets, so that readers can be short
 * and edits surgical. The parser is Lezer's; what it leaves out is done here, on a copy of the
 * same length, so that every offset is one of the file's own text:
 *
 * 1. A byte order mark and front matter are cut off before parsing.
 * 2. A lone CR ends a line, as it does in Markdown.
 * 3. Fences inside a Markdown fence nest, as their authors mean them to.
 */
import type { SyntaxNodeRef, Tree } from "@lezer/common";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Item, Place } from "../core/plan/plan.ts";
import { parseInPieces } from "./parse-markdown.ts";
import { placesIn, type Range, type Source } from "./places.ts";

export type { Range, Source } from "./places.ts";

export interface Heading extends Range {
  readonly kind: "heading";
  readonly level: number;
  readonly content: Range;
  readonly depth: number;
}

export interface ListItem extends Range {
  readonly kind: "item";
  /** 0: not inside another item. */
  readonly depth: number;
  readonly ordered: boolean;
  /** The first paragraph, after the box. */
  readonly lead: Range;
  /** The one character between the brackets. */
  readonly box?: Range;
  readonly optional?: true;
}

export interface Paragraph extends Range {
  readonly kind: "paragraph";
  readonly depth: number;
}

export interface Cell extends Range {}

export interface Table extends Range {
  readonly kind: "table";
  readonly depth: number;
  readonly header: readonly Cell[];
  readonly rows: readonly (Range & { readonly cells: readonly Cell[] })[];
}

export interface Fence extends Range {
  readonly kind: "fence";
  readonly depth: number;
  readonly info: string;
  readonly content: Range;
}

export interface Comment extends Range {
  readonly kind: "comment";
  readonly depth: number;
}

export type Block = Heading | ListItem | Paragraph | Table | Fence | Comment;

export interface Line extends Range {
  /** Without markup. */
  readonly text: string;
  /** Begins with bold text: what that says. */
  readonly bold?: string;
}

export interface Document {
  readonly file: string;
  readonly text: string;
  /** The YAML between the dashes at the top. */
  readonly frontMatter?: Range;
  readonly blocks: readonly Block[];
  /** Where a reader would be misled by what is written: an unclosed fence. */
  readonly doubts: readonly { readonly message: string; readonly at: number }[];
  place(range: Range): Place;
  /** The text of a range without its markup, on one line. */
  plain(range: Range): string;
  /** The same, line by line. */
  lines(range: Range): readonly Line[];
  raw(range: Range): string;
  isStruck(range: Range): boolean;
}

const deepest = 100;
const mostMarks = 5000;

export function parseDocument({ file, text }: Source): Result<Document> {
  const body = text.startsWith("\uFEFF") ? 1 : 0;
  const front =
    /^---[ \t]*(?:\r\n|\r|\n)(?:([\s\S]*?)(?:\r\n|\r|\n))?(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|$)/.exec(
      text.slice(body),
    );
  const base = body + (front?.[0].length ?? 0);
  const { copy, doubts } = readable(text.slice(base));
  const place = placesIn({ file, text });
  const tangle = tooTangled(copy);
  if (tangle) {
    const { line } = place({ from: base + tangle.at, to: base + tangle.at });
    return fail("plan-unreadable", `${file}:${line}: ${tangle.what}`, {
      file,
      line,
      hint: "split the document, or flatten that part of it",
    });
  }
  const walked = walkAll(copy, base);
  // A heading is asked for again by everybody who has to know where it ends.
  const plains = new Map<Range, string>();
  const frontAt = front?.[1] === undefined ? undefined : body + front[0].indexOf(front[1], 3);
  return succeed({
    file,
    text,
    ...(frontAt === undefined || front?.[1] === undefined
      ? {}
      : { frontMatter: { from: frontAt, to: frontAt + front[1].length } }),
    blocks: walked.blocks,
    doubts: doubts.map(({ message, at }) => ({ message, at: at + base })),
    place,
    raw: ({ from, to }) => text.slice(from, to),
    plain: (range) => {
      const known = plains.get(range) ?? inOneLine(plainText(text, walked, range));
      plains.set(range, known);
      return known;
    },
    lines: (range) => linesOf(text, walked, range),
    isStruck: (range) => isInside(walked.struck, range),
  });
}

/** A box as the item that it is. */
export function itemOf(document: Document, item: ListItem): Item {
  const first = { from: item.lead.from, to: item.lead.to };
  const mark = item.box && document.raw(item.box);
  return {
    text: document.plain(first),
    done: mark === undefined ? document.isStruck(first) : isDone(mark),
    place: document.place({ from: item.from, to: item.lead.to }),
    ...(item.box ? { box: document.place(item.box) } : {}),
    ...(item.optional ? { optional: true as const } : {}),
  };
}

export const isDone = (mark: string): boolean => /[xXvV✓✔✅☑]/u.test(mark);

const fenceLine = /^((?:[ \t]*(?:>|[-*+]|\d{1,9}[.)]))*[ \t]*)(`{3,}|~{3,})[ \t]*([^`\r\n]*)$/;

/** The copy that is parsed: as long as the original, line ends and nested fences made plain. */
export function readable(body: string): {
  copy: string;
  doubts: { message: string; at: number }[];
} {
  const copy = body
    .replace(/\r(?!\n)/g, "\n")
    .replace(/\r\n/g, " \n")
    .replace(/^[ \t>|:-]*[ \t]$/gm, withoutTrailingSpace);
  if (!/^[^\n]*(?:```|~~~)/m.test(copy)) return { copy, doubts: [] };
  const doubts: { message: string; at: number }[] = [];
  const lines = copy.split("\n");
  const changed = new Map<number, string>();
  let open:
    | { sign: string; nests: boolean; depth: number; inner: number[]; line: number; at: number }
    | undefined;
  let suspicious: number | undefined;
  let at = 0;
  const ends: number[] = [];
  for (const [index, line] of lines.entries()) {
    ends.push(at);
    at += line.length + 1;
    const match = line.includes("```") || line.includes("~~~") ? fenceLine.exec(line) : null;
    if (!match) continue;
    const [, , sign = "", info = ""] = match;
    if (!open) {
      const nests = /^(?:markdown|md|mdx)\b/i.test(info.trim()) && nestsWell(lines, index, sign);
      open = { sign, nests, depth: 0, inner: [], line: index, at: ends[index] ?? 0 };
      suspicious = undefined;
      continue;
    }
    if (sign[0] !== open.sign[0]) continue;
    if (info.trim() !== "") {
      if (open.nests) {
        open.depth++;
        open.inner.push(index);
      } else if (sign.length >= open.sign.length) suspicious ??= index;
      continue;
    }
    if (open.depth > 0) {
      open.depth--;
      open.inner.push(index);
      continue;
    }
    if (sign.length < open.sign.length) continue;
    for (const inner of open.inner) {
      changed.set(inner, (lines[inner] ?? "").replace(/[`~]/g, "'"));
    }
    if (suspicious !== undefined) doubts.push(unclosed(open, suspicious));
    open = undefined;
  }
  if (open) {
    doubts.push({
      message: `the code fence that begins here is never closed: everything after it is code`,
      at: open.at,
    });
  }
  if (changed.size === 0) return { copy, doubts };
  return { copy: lines.map((line, index) => changed.get(index) ?? line).join("\n"), doubts };
}

/** Lezer takes a row of dashes for a table's only if nothing follows its last bar. */
function withoutTrailingSpace(line: string): string {
  const row = line.trimEnd();
  if (!row.includes("|") || !row.includes("-")) return line;
  return row.replace("-", "-".repeat(1 + line.length - row.length));
}

const unclosed = (
  open: { line: number; at: number },
  other: number,
): { message: string; at: number } => ({
  message: `a code fence begins here and another one ${other - open.line} lines below it, inside the first: is the first one not closed?`,
  at: open.at,
});

/** Fences inside this one pair up, and it is closed after them. */
function nestsWell(lines: readonly string[], from: number, sign: string): boolean {
  let depth = 0;
  let inner = false;
  for (let index = from + 1; index < lines.length; index++) {
    const match = fenceLine.exec(lines[index] ?? "");
    if (!match || match[2]?.[0] !== sign[0]) continue;
    if ((match[3] ?? "").trim() !== "") {
      depth++;
      inner = true;
    } else if (depth > 0) depth--;
    else return inner;
  }
  return false;
}

/** What would keep the parser busy for minutes is no plan. */
export function tooTangled(copy: string): { what: string; at: number } | undefined {
  let at = 0;
  let marks = 0;
  let paragraph = 0;
  for (const line of copy.split("\n")) {
    const indent = /^[ \t]*/.exec(line)?.[0].length ?? 0;
    const rest = line.slice(indent);
    const startsBlock = /^(?:[-*+]|\d{1,9}[.)])[ \t]|^[|#]|^$/.test(rest);
    if (startsBlock) {
      marks = 0;
      paragraph = rest === "" ? at + line.length + 1 : at;
    }
    const front = /^(?:[ \t]|[>*+-]|\d{1,9}[.)])*/.exec(line)?.[0] ?? "";
    const quotes = front.split(">").length - 1;
    const items = front.match(/[*+.)-][ \t]/g)?.length ?? 0;
    // A level takes two columns at least.
    const isDeep = quotes > deepest || items > deepest || (startsBlock && indent > deepest * 2);
    if (isDeep && rest !== "") return { what: `nested more than ${deepest} levels deep`, at };
    marks += line.match(/[*_~`[<]+/g)?.length ?? 0;
    if (marks > mostMarks) {
      return {
        what: `one paragraph with more than ${mostMarks} emphasis or link marks`,
        at: paragraph,
      };
    }
    at += line.length + 1;
  }
  return undefined;
}

interface Walked {
  readonly blocks: Block[];
  /** Markup that is not text, in order. */
  readonly hidden: Range[];
  readonly bold: Range[];
  readonly struck: Range[];
}

/** Marks that stand for a box although GFM knows only three of them. */
const looseBox = /^\[([^\s\]\p{L}\p{N}]|[vV])\](?=\s|$)|^\[([ xX~-])\]\*(?=\s|$)|^\[[ xX]\](?=\n)/u;

/** `size`: of the pieces in which it is read; whatever it is, the same is found. */
export function walkAll(copy: string, base: number, size?: number): Walked {
  const walked: Walked = { blocks: [], hidden: [], bold: [], struck: [] };
  for (const { tree, text, from } of parseInPieces(copy, size))
    walk(tree, text, base + from, walked);
  walked.hidden.sort((a, b) => a.from - b.from);
  return walked;
}

function walk(tree: Tree, copy: string, base: number, walked: Walked): void {
  const { blocks, hidden, bold, struck } = walked;
  const at = (from: number, to: number): Range => ({ from: from + base, to: to + base });
  /** Items whose first paragraph has not come yet. */
  const items: { from: number; to: number; ordered: boolean; open: boolean; depth: number }[] = [];
  const lists: boolean[] = [];
  const emitItem = (lead: Range, extra: Partial<ListItem>): void => {
    const item = items.at(-1);
    if (!item) return;
    item.open = false;
    const { from, to, ordered, depth } = item;
    blocks.push({ kind: "item", ...at(from, to), depth, ordered, lead, ...extra } as ListItem);
  };
  const enter = (node: SyntaxNodeRef): boolean | undefined => {
    const { name, from, to } = node;
    const depth = items.length;
    // An item without a first paragraph (a fence, a table, a nested list) is an item all the same.
    const item = items.at(-1);
    if (item?.open && leafless.has(name)) emitItem(at(from, from), {});
    switch (name) {
      case "BulletList":
      case "OrderedList":
        lists.push(name === "OrderedList");
        return undefined;
      case "ListItem":
        items.push({ from, to, ordered: lists.at(-1) === true, open: true, depth });
        return undefined;
      case "Task":
      case "Paragraph": {
        if (!item?.open) {
          blocks.push({ kind: "paragraph", ...at(from, to), depth });
          return undefined;
        }
        const text = copy.slice(from, to);
        // Without a text it is no box, on GitHub neither.
        if (name === "Task" && text.slice(3).trim() !== "") {
          emitItem(at(from + 3 + leadingSpace(text.slice(3)), to), { box: at(from + 1, from + 2) });
          return undefined;
        }
        const loose = looseBox.exec(text);
        if (loose && text.slice(loose[0].length).trim() !== "") {
          const optional = loose[0].endsWith("*") && loose[1] === undefined;
          const mark = at(from + 1, from + loose[0].lastIndexOf("]"));
          const start = loose[0].length + leadingSpace(text.slice(loose[0].length));
          emitItem(at(from + start, to), { box: mark, ...(optional ? { optional } : {}) });
        } else emitItem(at(from, to), {});
        return undefined;
      }
      case "ATXHeading1":
      case "ATXHeading2":
      case "ATXHeading3":
      case "ATXHeading4":
      case "ATXHeading5":
      case "ATXHeading6":
      case "SetextHeading1":
      case "SetextHeading2":
        blocks.push({
          kind: "heading",
          ...at(from, to),
          level: Number(name.at(-1)),
          content: at(from, to),
          depth,
        });
        return undefined;
      case "Table":
        blocks.push({ kind: "table", ...at(from, to), depth, ...readTable(node, copy, base) });
        return undefined;
      case "FencedCode":
      case "CodeBlock": {
        blocks.push({
          kind: "fence",
          ...at(from, to),
          depth,
          ...readFence(copy, from, to, base, name),
        });
        return false;
      }
      case "HTMLBlock":
      case "CommentBlock":
      case "ProcessingInstructionBlock":
        blocks.push({ kind: "comment", ...at(from, to), depth });
        return false;
      case "StrongEmphasis":
        bold.push(at(from, to));
        return undefined;
      case "Strikethrough":
        struck.push(at(from, to));
        return undefined;
      case "Escape":
        hidden.push(at(from, from + 1));
        return false;
      case "Link":
        // A pair of brackets that leads nowhere is text: [Name], [~].
        if (isBare(node)) return false;
        return undefined;
      case "LinkReference":
        return false;
      default:
        if (markup.has(name)) hidden.push(at(from, to));
        else if (name === "URL" && (parentIs(node, "Link") || parentIs(node, "Image"))) {
          hidden.push(at(from, to));
        }
        return undefined;
    }
  };
  tree.iterate({
    enter: (node) => enter(node) !== false,
    leave: ({ name }) => {
      if (name === "ListItem") {
        const item = items.at(-1);
        if (item?.open) emitItem(at(item.to, item.to), {});
        items.pop();
      } else if (name === "BulletList" || name === "OrderedList") lists.pop();
    },
  });
}

const markup = new Set(
  `EmphasisMark CodeMark LinkMark LinkTitle LinkLabel QuoteMark HTMLTag StrikethroughMark
  HeaderMark Comment TaskMarker`.split(/\s+/),
);

const leafless = new Set(
  `BulletList OrderedList FencedCode CodeBlock Table HTMLBlock Blockquote CommentBlock ATXHeading1
  ATXHeading2 ATXHeading3 ATXHeading4 ATXHeading5 ATXHeading6 SetextHeading1 SetextHeading2
  HorizontalRule`.split(/\s+/),
);

const leadingSpace = (text: string): number => /^[ \t]*/.exec(text)?.[0].length ?? 0;

const parentIs = (node: SyntaxNodeRef, name: string): boolean => node.node.parent?.name === name;

function isBare(node: SyntaxNodeRef): boolean {
  for (let child = node.node.firstChild; child; child = child.nextSibling) {
    if (child.name === "URL" || child.name === "LinkLabel") return false;
  }
  return true;
}

function readTable(
  node: SyntaxNodeRef,
  copy: string,
  base: number,
): { header: Cell[]; rows: (Range & { cells: Cell[] })[] } {
  let header: Cell[] = [];
  const rows: (Range & { cells: Cell[] })[] = [];
  for (let row = node.node.firstChild; row; row = row.nextSibling) {
    if (row.name !== "TableHeader" && row.name !== "TableRow") continue;
    const bars: number[] = [];
    for (let child = row.firstChild; child; child = child.nextSibling) {
      if (child.name === "TableDelimiter") bars.push(child.from);
    }
    const cells: Cell[] = [];
    const first = bars[0] === row.from ? 1 : 0;
    let start = first === 1 ? row.from + 1 : row.from;
    for (const bar of bars.slice(first)) {
      cells.push(cellBetween(copy, start, bar, base));
      start = bar + 1;
    }
    // What follows the last bar is a cell only if something stands there.
    if (copy.slice(start, row.to).trim() !== "" || cells.length === 0) {
      cells.push(cellBetween(copy, start, row.to, base));
    }
    if (row.name === "TableHeader") header = cells;
    else rows.push({ from: row.from + base, to: row.to + base, cells });
  }
  return { header, rows };
}

/** The cell's content without the spaces around it; of an empty cell, the place for one. */
function cellBetween(copy: string, start: number, end: number, base: number): Cell {
  const text = copy.slice(start, end);
  const trimmed = text.trim();
  if (trimmed === "") {
    const at = start + Math.min(1, text.length) + base;
    return { from: at, to: at };
  }
  const from = start + text.indexOf(trimmed) + base;
  return { from, to: from + trimmed.length };
}

function readFence(
  copy: string,
  from: number,
  to: number,
  base: number,
  name: string,
): { info: string; content: Range } {
  if (name === "CodeBlock") return { info: "", content: { from: from + base, to: to + base } };
  const first = copy.slice(from, to).indexOf("\n");
  const opening = first < 0 ? copy.slice(from, to) : copy.slice(from, from + first);
  const info = opening.replace(/^[`~]+/, "").trim();
  const start = first < 0 ? to : from + first + 1;
  const closing = /\n[ \t>]*(?:`{3,}|~{3,})[ \t]*$/.exec(copy.slice(from, to));
  const end = closing ? Math.max(start, from + closing.index + 1) : to;
  return { info, content: { from: start + base, to: end + base } };
}

function plainText(text: string, { hidden }: Walked, { from, to }: Range): string {
  let result = "";
  let at = from;
  for (let index = firstFrom(hidden, from); index < hidden.length; index++) {
    const range = hidden[index];
    if (!range || range.from >= to) break;
    if (range.from > at) result += text.slice(at, range.from);
    at = Math.max(at, Math.min(range.to, to));
  }
  return result + text.slice(at, to);
}

/** Mostly it is, and nothing has to be made anew. */
const inOneLine = (text: string): string =>
  (/\s{2}|[^\S ]/.test(text) ? text.replace(/\s+/g, " ") : text).trim();

/** All of it, give or take a mark before or after. */
function isInside(ranges: readonly Range[], { from, to }: Range): boolean {
  const before = ranges[firstFrom(ranges, from + 1) - 1];
  const after = ranges[firstFrom(ranges, from + 1)];
  return [before, after].some((each) => each && each.from <= from + 4 && each.to >= to - 1);
}

function firstFrom(ranges: readonly Range[], at: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.from ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function linesOf(text: string, walked: Walked, { from, to }: Range): Line[] {
  const lines: Line[] = [];
  let start = from;
  for (const match of [...text.slice(from, to).matchAll(/\r\n|\r|\n/g), undefined]) {
    const end = match ? from + match.index : to;
    const plain = inOneLine(plainText(text, walked, { from: start, to: end }));
    const strong = walked.bold[firstFrom(walked.bold, start)];
    const lead = strong && strong.from < end ? text.slice(start, strong.from) : undefined;
    const isBold = lead !== undefined && /^[\s>\p{Extended_Pictographic}\uFE0F]*$/u.test(lead);
    const inside =
      isBold && strong
        ? plainText(text, walked, { from: strong.from, to: Math.min(strong.to, end) })
        : undefined;
    lines.push({
      from: start,
      to: end,
      text: plain,
      ...(inside === undefined ? {} : { bold: inOneLine(inside) }),
    });
    if (match) start = end + match[0].length;
  }
  return lines;
}
