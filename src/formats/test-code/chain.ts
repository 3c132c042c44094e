/** The small grammar that all languages share: names, calls, arguments, where a statement ends. */
import type { Code, Range, Token } from "./tokens.ts";

export interface Segment {
  readonly name: string;
  /** The index of the bracket that opens its arguments. */
  readonly args?: number;
  /** The index of a string that is its argument without a bracket. */
  readonly tag?: number;
}

/** Names linked by dots and calls: `expect(a).not.toBe(b)` has three segments. */
export interface Chain {
  readonly from: number;
  readonly to: number;
  readonly segments: readonly Segment[];
}

const links = new Set([".", "?.", "->", "?->", "::", "&."]);

export const textAt = (code: Code, index: number): string => code.tokens[index]?.text ?? "";

export const isWord = (token: Token | undefined): boolean => token?.kind === "word";

/** Behind the bracket that closes the one at `open`. */
export const after = (code: Code, open: number): number =>
  Math.min((code.pair[open] ?? open) + 1, code.tokens.length);

export const inside = (code: Code, open: number): Range => ({
  from: open + 1,
  to: Math.max(open + 1, code.pair[open] ?? open + 1),
});

/** Whether a chain can begin at this token: a name that nothing is linked to from the left. */
export const beginsChain = (code: Code, index: number): boolean =>
  isWord(code.tokens[index]) && !links.has(textAt(code, index - 1));

export function chainAt(code: Code, from: number): Chain {
  const { tokens } = code;
  const segments: Segment[] = [];
  let at = from;
  while (at < tokens.length) {
    const name = textAt(code, at++);
    if (textAt(code, at) === "!" && isOpener(textAt(code, at + 1))) at++;
    at = behindTypes(code, at);
    if (tokens[at]?.kind === "string" && !tokens[at]?.first && textAt(code, at).startsWith("`")) {
      segments.push({ name, tag: at++ });
    } else if (isCall(code, at)) {
      segments.push({ name, args: at });
      at = after(code, at);
    } else segments.push({ name });
    for (;;) {
      if (textAt(code, at) === "[" && !tokens[at]?.first) at = after(code, at);
      else if (textAt(code, at) === "(" && !tokens[at]?.first) {
        segments.push({ name: "", args: at });
        at = after(code, at);
      } else if (textAt(code, at) === "?" && links.has(textAt(code, at + 1))) at++;
      else if (/^!!?$/.test(textAt(code, at)) && links.has(textAt(code, at + 1))) at++;
      else break;
    }
    if (!links.has(textAt(code, at)) || !isWord(tokens[at + 1])) break;
    at++;
  }
  return { from, to: at, segments };
}

const isOpener = (text: string): boolean => text === "(" || text === "[" || text === "{";

/** A macro's arguments may stand in any bracket; a call's stand in round ones. */
const isCall = (code: Code, at: number): boolean =>
  textAt(code, at) === "(" ? true : textAt(code, at - 1) === "!" && isOpener(textAt(code, at));

/** Behind `<A, B>` and `::<A>` if a call follows it. */
function behindTypes(code: Code, at: number): number {
  let next = textAt(code, at) === "::" && textAt(code, at + 1) === "<" ? at + 1 : at;
  if (textAt(code, next) !== "<") return at;
  let depth = 0;
  for (let steps = 0; steps < 40; steps++, next++) {
    const text = textAt(code, next);
    if (text === "<") depth++;
    else if (/^>+$/.test(text)) {
      depth -= text.length;
      if (depth <= 0) return textAt(code, next + 1) === "(" ? next + 1 : at;
    } else if (!isWord(code.tokens[next]) && !/^(?:[.,?*&[\]]|::)$/.test(text)) return at;
  }
  return at;
}

/** The arguments in a bracket, without a comma at their end. */
export function argumentsAt(code: Code, open: number | undefined): Range[] {
  return open === undefined ? [] : partsOf(code, inside(code, open), ",");
}

/** A range split at a mark that stands in no bracket of its own. */
export function partsOf(code: Code, { from, to }: Range, ...marks: readonly string[]): Range[] {
  const parts: Range[] = [];
  let start = from;
  for (let at = from; at < to; at = step(code, at)) {
    if (!marks.includes(textAt(code, at)) || code.tokens[at]?.kind === "string") continue;
    parts.push({ from: start, to: at });
    start = at + 1;
  }
  if (start < to) parts.push({ from: start, to });
  return parts;
}

/** The next token at the same depth. */
export const step = (code: Code, at: number): number =>
  isOpener(textAt(code, at)) && code.tokens[at]?.kind === "mark" ? after(code, at) : at + 1;

/** Where the statement around `from` ends: a semicolon, a bracket, or a line that begins anew. */
export function statementEnd(code: Code, from: number): number {
  const { tokens } = code;
  for (let at = from; at < tokens.length; at = step(code, at)) {
    const token = tokens[at] as Token;
    if (token.kind === "mark" && /^[;)\]}]$/.test(token.text)) return at;
    if (at > from && token.first && !continues(token) && !awaits(code, at - 1)) return at;
  }
  return tokens.length;
}

const continues = ({ kind, text }: Token): boolean =>
  (kind === "mark" && !/^(?:[@#~{[(]|!|\+\+|--)$/.test(text)) ||
  /^(?:instanceof|in|as)$/.test(text);

const awaits = (code: Code, at: number): boolean => {
  const token = code.tokens[at] as Token;
  return token.kind === "mark" ? !/^(?:[)\]};]|\+\+|--|!|\?)$/.test(token.text) : false;
};

/** Strips brackets that only surround. */
export function unwrapped(code: Code, range: Range): Range {
  let { from, to } = range;
  while (from < to && /^(?:await|&)$/.test(textAt(code, from))) from++;
  while (textAt(code, from) === "(" && code.pair[from] === to - 1 && to - from > 2) {
    if (partsOf(code, { from: from + 1, to: to - 1 }, ",").length > 1) break;
    from++;
    to--;
    while (from < to && textAt(code, from) === "await") from++;
  }
  return { from, to };
}

/** Whether the token begins a statement, so that what it calls is called for its effect. */
export function beginsStatement(code: Code, at: number): boolean {
  const before = code.tokens[at - 1];
  if (!before || /^(?:[;{}]|=>|await|else|do|then|:)$/.test(before.text)) return true;
  const token = code.tokens[at] as Token;
  if (token.first && !awaits(code, at - 1)) return true;
  return before.text === ")" && isUnderCondition(code, at);
}

/** `if (…) here`, without braces. */
export function isUnderCondition(code: Code, at: number): boolean {
  const before = textAt(code, at - 1);
  if (before === "else") return true;
  if (before !== ")") return false;
  const open = code.pair[at - 1] ?? -1;
  return /^(?:if|for|while|foreach|switch|unless)$/.test(textAt(code, open - 1));
}
