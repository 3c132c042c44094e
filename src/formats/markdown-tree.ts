/**
 * A Markdown document as a tree of what it says, for whoever draws it. Nothing of it is markup: HTML
 * is text, a link leads to the web or to another artifact, or nowhere.
 */
import type { SyntaxNode } from "@lezer/common";
import type { MarkdownNode } from "../core/board/wire.ts";
import { isDone, readable, tooTangled } from "./document.ts";
import { littleWork, parseMarkdown } from "./parse-markdown.ts";

type Nodes = readonly MarkdownNode[];

interface Reading {
  readonly text: string;
  /** The folder that relative links begin at; "": the repository's root. */
  readonly folder: string;
  /** Where `[label]: url` leads. */
  readonly references: ReadonlyMap<string, string>;
}

/** Deeper than anybody writes: what is below is told as it stands. */
const deepest = 60;

/** More than anybody reads, or a page draws in a moment. */
const [mostBlocks, mostColumns, longestTarget] = [30_000, 200, 4096];

/** `file`: where it lies, from the repository's root; absent: links are from the root. */
export function markdownTree(source: string, file = ""): Nodes {
  const text = source.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  try {
    return treeOf(text, file);
  } catch (error) {
    // Nested as nobody nests: it is told as it stands.
    if (error instanceof RangeError) return [{ t: "pre", lang: "", v: text }];
    throw error;
  }
}

function treeOf(text: string, file: string): Nodes {
  const [, front, body = text] =
    /^---[ \t]*\n(?:([\s\S]*?)\n)?(?:---|\.\.\.)[ \t]*(?:\n([\s\S]*))?$/.exec(
      firstIsRule(text) ? text : "",
    ) ?? [undefined, undefined, text];
  const { copy } = readable(body);
  const read = withoutFences(copy);
  if (tooTangled(read) || isLong(read)) return [{ t: "pre", lang: "", v: text }];
  const top = parseMarkdown(copy, littleWork).topNode;
  const folder = file.includes("/") ? file.slice(0, file.lastIndexOf("/")) : "";
  const reading = { text: copy, folder, references: referencesIn(top, copy) };
  const head: Nodes = front === undefined ? [] : [{ t: "pre", lang: "yaml", v: front }];
  return [...head, ...blocksIn(reading, top, 0)];
}

/** What stands in a fence takes the parser no time; where HTML may hold one, it may be none. */
function withoutFences(copy: string): string {
  if (/^ {0,3}</m.test(copy)) return copy;
  let open: string | undefined;
  const lines = copy.split("\n").map((line) => {
    const [, sign] = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line) ?? [];
    if (open === undefined) {
      open = sign;
      return line;
    }
    if (sign?.startsWith(open) && line.trim() === sign) open = undefined;
    return "";
  });
  return lines.join("\n");
}

/** By what may begin a block: each line does, and each mark before its first word. */
function isLong(copy: string): boolean {
  let blocks = 0;
  for (const line of copy.split("\n")) {
    if (line.trim() === "") continue;
    const [front = ""] = /^(?:[ \t]|[>*+-]|\d{1,9}[.)])*/.exec(line) ?? [];
    blocks += 1 + (front.match(/>|[*+.)-][ \t]/g)?.length ?? 0);
  }
  return blocks > mostBlocks;
}

const firstIsRule = (text: string): boolean => text.startsWith("---");

function referencesIn(top: SyntaxNode, text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  top.cursor().iterate(({ name, node }) => {
    if (name !== "LinkReference") return name === "Document" || isContainer.test(name);
    const [label, url] = [node.getChild("LinkLabel"), node.getChild("URL")];
    const key = label && labelOf(text.slice(label.from, label.to));
    // The first one counts.
    if (key && url && !found.has(key)) found.set(key, text.slice(url.from, url.to));
    return false;
  });
  return found;
}

const isContainer = /^(?:Blockquote|BulletList|OrderedList|ListItem)$/;

const labelOf = (label: string): string =>
  label
    .replace(/^\[|\]$/g, "")
    .trim()
    .replace(/\s+/g, " ")
    .toLowerCase();

// ── blocks ─────────────────────────────────────────────────────────────────────────────────────

function blocksIn(reading: Reading, parent: SyntaxNode, depth: number): MarkdownNode[] {
  const blocks: MarkdownNode[] = [];
  for (let node = parent.firstChild; node; node = node.nextSibling) {
    const block = blockOf(reading, node, depth);
    if (block) blocks.push(block);
  }
  return blocks;
}

function blockOf(reading: Reading, node: SyntaxNode, depth: number): MarkdownNode | undefined {
  const { name } = node;
  const raw = (): string => reading.text.slice(node.from, node.to);
  if (depth > deepest) return { t: "p", c: [{ t: "text", v: raw() }] };
  const level = /^(?:ATX|Setext)Heading([1-6])$/.exec(name)?.[1];
  if (level !== undefined)
    return { t: "h", level: Number(level), c: trimmed(inlineIn(reading, node, depth)) };
  switch (name) {
    case "Paragraph":
      return { t: "p", c: inlineIn(reading, node, depth) };
    case "Task":
      return taskOf(reading, node, depth);
    case "Blockquote":
      return { t: "quote", c: blocksIn(reading, node, depth + 1) };
    case "BulletList":
      return { t: "ul", c: itemsIn(reading, node, depth) };
    case "OrderedList":
      return { t: "ol", start: startOf(reading, node), c: itemsIn(reading, node, depth) };
    case "FencedCode":
    case "CodeBlock":
      return { t: "pre", lang: languageOf(reading, node), v: codeIn(reading, node) };
    case "Table":
      return isWide(node)
        ? { t: "pre", lang: "", v: raw() }
        : { t: "table", c: rowsIn(reading, node, depth) };
    case "HorizontalRule":
      return { t: "rule" };
    case "HTMLBlock":
    case "ProcessingInstructionBlock":
      return { t: "p", c: [{ t: "text", v: raw() }] };
    default:
      // Marks, comments, and references, which say something only where they are used.
      return undefined;
  }
}

function itemsIn(reading: Reading, list: SyntaxNode, depth: number): MarkdownNode[] {
  return list.getChildren("ListItem").map((item) => {
    const blocks = blocksIn(reading, item, depth + 1);
    const paragraphs = blocks.filter(({ t }) => t === "p");
    const [first] = blocks;
    // A line by itself is no paragraph: lists would be as loose as a letter.
    const isTight = paragraphs.length === 1 && first?.t === "p";
    return { t: "li", c: isTight && "c" in first ? [...first.c, ...blocks.slice(1)] : blocks };
  });
}

function taskOf(reading: Reading, node: SyntaxNode, depth: number): MarkdownNode {
  const marker = node.getChild("TaskMarker");
  const mark = marker ? reading.text.slice(marker.from + 1, marker.to - 1) : " ";
  return { t: "task", done: isDone(mark), c: trimmed(inlineIn(reading, node, depth)) };
}

function startOf({ text }: Reading, list: SyntaxNode): number {
  const mark = list.getChild("ListItem")?.getChild("ListMark");
  return mark ? Number.parseInt(text.slice(mark.from, mark.to), 10) || 0 : 1;
}

function languageOf({ text }: Reading, node: SyntaxNode): string {
  const info = node.getChild("CodeInfo");
  return info ? (text.slice(info.from, info.to).trim().split(/\s/)[0] ?? "").slice(0, 40) : "";
}

/** In a quote or an item it comes in pieces, a line each. */
const codeIn = ({ text }: Reading, node: SyntaxNode): string =>
  node
    .getChildren("CodeText")
    .map(({ from, to }) => text.slice(from, to))
    .join("");

const isWide = (table: SyntaxNode): boolean =>
  (table.getChild("TableHeader")?.getChildren("TableDelimiter").length ?? 0) > mostColumns;

function rowsIn(reading: Reading, table: SyntaxNode, depth: number): MarkdownNode[] {
  const rows: MarkdownNode[] = [];
  for (let row = table.firstChild; row; row = row.nextSibling) {
    const t = row.name === "TableHeader" ? "th" : row.name === "TableRow" ? "td" : undefined;
    if (t === undefined) continue;
    const cells = cellsIn(reading, row, depth).map((c): MarkdownNode => ({ t, c }));
    rows.push({ t: "tr", c: cells });
  }
  return rows;
}

/** An empty cell is no node: what stands between two bars is one all the same. */
function cellsIn(reading: Reading, row: SyntaxNode, depth: number): Nodes[] {
  const cells: Nodes[] = [];
  let open: Nodes | undefined;
  for (let child = row.firstChild; child; child = child.nextSibling) {
    if (child.name === "TableCell") open = trimmed(inlineIn(reading, child, depth + 1));
    if (child.name !== "TableDelimiter" || child.from === row.from) continue;
    cells.push(open ?? []);
    open = undefined;
  }
  return open ? [...cells, open] : cells;
}

// ── within a line ──────────────────────────────────────────────────────────────────────────────

const inlineKinds = { StrongEmphasis: "strong", Emphasis: "em", Strikethrough: "strike" } as const;

/** `from`, `to`: of that part of it only. */
function inlineIn(
  reading: Reading,
  parent: SyntaxNode,
  depth: number,
  from = parent.from,
  to = parent.to,
): MarkdownNode[] {
  const { text } = reading;
  const nodes: MarkdownNode[] = [];
  let at = from;
  for (let node = parent.firstChild; node; node = node.nextSibling) {
    if (node.from < from || node.to > to) continue;
    addText(nodes, text.slice(at, node.from));
    for (const each of inlineOf(reading, node, depth + 1)) add(nodes, each);
    at = node.to;
    // What a quote begins each line with, and the space after it.
    if (node.name === "QuoteMark" && text[at] === " ") at++;
  }
  addText(nodes, text.slice(at, to));
  return nodes;
}

function inlineOf(reading: Reading, node: SyntaxNode, depth: number): Nodes {
  const raw = reading.text.slice(node.from, node.to);
  if (depth > deepest) return [{ t: "text", v: raw }];
  switch (node.name) {
    case "StrongEmphasis":
    case "Emphasis":
    case "Strikethrough":
      return [{ t: inlineKinds[node.name], c: inlineIn(reading, node, depth) }];
    case "InlineCode":
      return [{ t: "code", v: codeOf(raw) }];
    case "Link":
    case "Image":
      return linkOf(reading, node, depth);
    case "Autolink":
    case "URL":
      return [
        linkTo(reading, raw.replace(/^<|>$/g, ""), [{ t: "text", v: raw.replace(/^<|>$/g, "") }]),
      ];
    case "Entity":
      return [{ t: "text", v: entity(raw) }];
    case "Escape":
      return [{ t: "text", v: raw.slice(1) }];
    case "HTMLTag":
    case "ProcessingInstruction":
      return [{ t: "text", v: raw }];
    default:
      // Marks, and comments.
      return [];
  }
}

function codeOf(raw: string): string {
  const [, inside = raw] = /^(?:`+)([\s\S]*?)`+$/.exec(raw) ?? [];
  const line = inside.replaceAll("\n", " ");
  const isPadded = line.startsWith(" ") && line.endsWith(" ") && line.trim() !== "";
  return isPadded ? line.slice(1, -1) : line;
}

/** Its words as a link; a picture as a link to it; what leads nowhere as the words alone. */
function linkOf(reading: Reading, node: SyntaxNode, depth: number): Nodes {
  const { text, references } = reading;
  const marks = node.getChildren("LinkMark");
  const [open, close] = [marks[0], marks[1]];
  if (!open || !close) return [{ t: "text", v: text.slice(node.from, node.to) }];
  const words = inlineIn(reading, node, depth, open.to, close.from);
  const url = node.getChild("URL");
  const label = node.getChild("LinkLabel");
  const named = label && text.slice(label.from + 1, label.to - 1).trim();
  const target = url
    ? text.slice(url.from, url.to).replace(/^<|>$/g, "")
    : references.get(labelOf(named || text.slice(open.to, close.from)));
  if (target !== undefined) return [linkTo(reading, target, words)];
  // Brackets that nobody has meant for a link.
  return [{ t: "text", v: "[" }, ...words, { t: "text", v: text.slice(close.from, node.to) }];
}

function linkTo({ folder }: Reading, written: string, c: Nodes): MarkdownNode {
  if (written.length > longestTarget) return { t: "a", c };
  const target = written
    .replace(/\\([!-/:-@[-`{-~])/g, "$1")
    .replace(/&[#\w]{1,32};/g, entity)
    // A browser would pass over these, and see another scheme than we do.
    .replace(/[\u0000-\u0020\u007f-\u009f]/g, "");
  if (/^(?:https?:\/\/[^/]|mailto:[^/])/i.test(target)) return { t: "a", href: target, c };
  if (/^[^@\s/:]+@[^@\s/:]+\.[^@\s/:]+$/.test(target))
    return { t: "a", href: `mailto:${target}`, c };
  if (/^www\.[^/]/i.test(target)) return { t: "a", href: `http://${target}`, c };
  const artifact = artifactAt(folder, target);
  return artifact === undefined ? { t: "a", c } : { t: "a", artifact, c };
}

/** Another document below `_docs/`; undefined: it is anything else. */
function artifactAt(folder: string, target: string): string | undefined {
  const [written = ""] = target.split(/[?#]/);
  if (!/\.md$/i.test(written) || /^[a-z][\w+.-]*:|^\/|\\/i.test(written)) return undefined;
  const parts: string[] = folder === "" ? [] : folder.split("/");
  for (const part of decoded(written).split("/")) {
    if (part === "..") {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== "." && part !== "") parts.push(part);
  }
  return parts[0] === "_docs" && parts.length > 1 ? parts.join("/") : undefined;
}

function decoded(written: string): string {
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
}

const named: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  rarr: "→",
  larr: "←",
  times: "×",
};

function entity(raw: string): string {
  const [, hex, decimal, name] = /^&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w+));$/i.exec(raw) ?? [];
  if (name !== undefined) return Object.hasOwn(named, name) ? (named[name] ?? raw) : raw;
  if (hex === undefined && decimal === undefined) return raw;
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  const isText = code >= 32 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) && code !== 127;
  return isText ? String.fromCodePoint(code) : "\ufffd";
}

/** Two spaces, or a backslash, at a line's end are a break; looked for at its end alone. */
function addText(nodes: MarkdownNode[], text: string): void {
  if (text === "") return;
  const lines = text.split("\n");
  let waiting = "";
  for (const [at, line] of lines.entries()) {
    if (at === lines.length - 1) waiting += line;
    else if (line.endsWith("  ") || line.endsWith("\\")) {
      const words = waiting + (line.endsWith("\\") ? line.slice(0, -1) : line.trimEnd());
      add(nodes, { t: "text", v: words });
      nodes.push({ t: "break" });
      waiting = "";
    } else waiting += `${line}\n`;
  }
  add(nodes, { t: "text", v: waiting });
}

function add(nodes: MarkdownNode[], node: MarkdownNode): void {
  const last = nodes.at(-1);
  if (node.t !== "text") nodes.push(node);
  else if (last?.t === "text") nodes[nodes.length - 1] = { t: "text", v: last.v + node.v };
  else if (node.v !== "") nodes.push(node);
}

/** Without the spaces that stand between a mark and the words. */
function trimmed(nodes: MarkdownNode[]): Nodes {
  const [first, last] = [nodes[0], nodes.at(-1)];
  if (first?.t === "text") nodes[0] = { t: "text", v: first.v.trimStart() };
  const end = nodes.at(-1);
  if (last?.t === "text" && end?.t === "text")
    nodes[nodes.length - 1] = { t: "text", v: end.v.trimEnd() };
  return nodes.filter((node) => node.t !== "text" || node.v !== "");
}
