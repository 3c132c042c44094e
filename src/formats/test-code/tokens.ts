/**
 * Source code as a row of tokens with their brackets paired: what all languages have in common.
 * Comments and layout are gone; a string is one token, whatever stands in it.
 */
import type { Tree } from "@lezer/common";

export interface Token {
  /** As written; a string in double quotes, a number without separators. */
  readonly text: string;
  readonly kind: "word" | "string" | "number" | "mark";
  readonly line: number;
  readonly column: number;
  /** Nothing stands before it on its line. */
  readonly first: boolean;
}

export interface Code {
  readonly tokens: readonly Token[];
  /** Of each bracket the index of its partner; of one that is never closed, the end. */
  readonly pair: Int32Array;
  /** Of each token the bracket around it; -1: none. */
  readonly parent: Int32Array;
  readonly comments: readonly Comment[];
  /** `{ "a": 1 }` and `{ a: 1 }` are the same. */
  readonly quotedKeys?: boolean;
  /** How many places the parser could make nothing of. */
  readonly errors: number;
}

/** Some languages put instructions for their tools into comments. */
export interface Comment {
  readonly text: string;
  readonly line: number;
  /** The index of the token after it. */
  readonly before: number;
}

/** Tokens from index `from` up to, not including, `to`. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** How a string, and what a parser calls otherwise, becomes one token. */
const whole = /String|Char|Rune|RegExp|TextBlock|Heredoc|JSXText|JSXAttributeValue|SystemLib/;

export interface TreeRules {
  /** Nodes that say nothing of what the program does, such as types. */
  readonly leaveOut?: (name: string) => boolean;
}

export function tokensOfTree(tree: Tree, text: string, rules: TreeRules = {}): Code {
  const list = new TokenList(text);
  let errors = 0;
  let end = 0;
  const cursor = tree.cursor();
  const gap = (to: number): void => {
    if (to > end) list.addRaw(end, to);
  };
  walk: for (;;) {
    const { name, from, to } = cursor;
    if (cursor.type.isError) errors++;
    const isComment = name.endsWith("Comment");
    const isLeftOut = isComment || rules.leaveOut?.(name) === true;
    const isWhole = !isLeftOut && whole.test(name) && !/^(?:Concatenated|Continued)/.test(name);
    if (!isLeftOut && !isWhole && cursor.firstChild()) continue;
    if (from >= end) {
      gap(from);
      if (isWhole) list.add(from, to, "string");
      else if (isComment) list.addComment(from, to);
      else if (!isLeftOut && to > from) list.add(from, to);
      end = Math.max(end, to);
    }
    while (!cursor.nextSibling()) if (!cursor.parent()) break walk;
  }
  gap(text.length);
  return list.finish(errors);
}

/** Instructions are short; a licence is not. */
const mostComment = 400;

/** Collects tokens in the order of the text. */
export class TokenList {
  readonly tokens: Token[] = [];
  private readonly comments: Comment[] = [];
  private line = 1;
  private lineStart = 0;
  private seen = 0;
  private lastLine = 0;

  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  add(from: number, to: number, kind?: Token["kind"]): void {
    this.moveTo(from);
    const raw = this.text.slice(from, to).trim();
    const fused = kind === undefined && /^(#)(\[)$/.exec(raw);
    if (fused) {
      this.add(from, from + 1);
      this.add(from + 1, to);
      return;
    }
    const its = kind ?? kindOf(raw);
    this.tokens.push({
      text: its === "string" ? canonicalString(raw) : its === "number" ? canonicalNumber(raw) : raw,
      kind: its,
      line: this.line,
      column: from - this.lineStart,
      first: this.line !== this.lastLine,
    });
    this.moveTo(to);
    this.lastLine = this.line;
  }

  addComment(from: number, to: number): void {
    this.moveTo(from);
    const text = this.text.slice(from, Math.min(to, from + mostComment));
    this.comments.push({ text, line: this.line, before: this.tokens.length });
  }

  /** Text that the parser left without a node. */
  addRaw(from: number, to: number): void {
    const pieces = /[\p{L}\p{N}_$]+|[^\s\p{L}\p{N}_$]/gu;
    pieces.lastIndex = from;
    for (let match = pieces.exec(this.text); match; match = pieces.exec(this.text)) {
      if (match.index >= to) return;
      this.add(match.index, Math.min(to, match.index + match[0].length));
    }
  }

  finish(errors: number): Code {
    return codeOf(this.tokens, this.comments, errors);
  }

  private moveTo(offset: number): void {
    for (
      let next = this.text.indexOf("\n", this.seen);
      next >= 0 && next < offset;
      next = this.text.indexOf("\n", this.seen)
    ) {
      this.line++;
      this.lineStart = next + 1;
      this.seen = next + 1;
    }
    this.seen = Math.max(this.seen, offset);
  }
}

export const codeOf = (
  tokens: readonly Token[],
  comments: readonly Comment[],
  errors: number,
): Code => ({ tokens, ...pairs(tokens), comments, errors });

const kindOf = (raw: string): Token["kind"] =>
  /^[\p{L}_$@]/u.test(raw) ? "word" : /^\.?\d/.test(raw) ? "number" : "mark";

/** The same text in other quotation marks is the same string. */
function canonicalString(raw: string): string {
  const parts = /^([a-zA-Z@$]*#*)("""|'''|["'`])([\s\S]*)\2#*$/.exec(raw);
  if (!parts) return raw;
  const [, prefix = "", quote = "", inner = ""] = parts;
  if (quote === "`" && inner.includes("${")) return raw;
  const bare = prefix.toLowerCase().replace(/[ub]/g, (each) => (each === "u" ? "" : each));
  return `${bare}"${inner.replace(/\\(["'`])/g, "$1").replaceAll("\r\n", "\n")}"`;
}

const canonicalNumber = (raw: string): string =>
  raw
    .toLowerCase()
    .replace(/(?<=[\da-f])[_'](?=[\da-f])/g, "")
    .replace(/^\./, "0.")
    .replace(/^(\d+)\.0*(?=$|[fd]$)/, "$1");

const closers: Readonly<Record<string, string>> = { ")": "(", "]": "[", "}": "{" };

function pairs(tokens: readonly Token[]): { pair: Int32Array; parent: Int32Array } {
  const pair = new Int32Array(tokens.length).fill(-1);
  const parent = new Int32Array(tokens.length).fill(-1);
  const open: number[] = [];
  const waiting: Record<string, number> = { "(": 0, "[": 0, "{": 0 };
  tokens.forEach(({ text, kind }, index) => {
    const opener = kind === "mark" ? closers[text] : undefined;
    if (opener !== undefined && (waiting[opener] ?? 0) > 0) {
      // What was opened inside and never closed ends here too.
      for (;;) {
        const last = open.pop() as number;
        const mark = (tokens[last] as Token).text;
        waiting[mark] = (waiting[mark] ?? 1) - 1;
        pair[last] = index;
        if (mark === opener) {
          pair[index] = last;
          break;
        }
      }
    }
    parent[index] = open.at(-1) ?? -1;
    if (kind === "mark" && (text === "(" || text === "[" || text === "{")) {
      open.push(index);
      waiting[text] = (waiting[text] ?? 0) + 1;
    }
  });
  for (const each of open) pair[each] = tokens.length;
  return { pair, parent };
}
