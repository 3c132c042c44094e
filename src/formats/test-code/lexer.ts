/** Splits text into tokens for languages that we have no grammar of. Linear in the text. */
import { type Code, TokenList } from "./tokens.ts";

export interface LexerRules {
  /** The end of what begins at `at`, if that is a string or a comment of the language. */
  readonly special: (text: string, at: number) => Special | undefined;
  /** What a name is made of. */
  readonly word: RegExp;
}

export interface Special {
  readonly end: number;
  readonly is: "string" | "comment" | "word";
  /** It was not closed. */
  readonly broken?: boolean;
}

const space = /\s+/y;
const number = /\d(?:[eE][-+]?\d|[\w]|\.(?=\d))*/y;
const mark =
  /===|!==|<=>|\*\*=|<<=|>>=|&&=|\|\|=|\?\?=|\.\.\.|\?\.|\?:|::|->|=>|==|!=|<=|>=|&&|\|\||\+\+|--|[-+*/%&|^]=|=~|!~|&\.|\.\.|!!|[^\s\w]/uy;

export function tokensOf(text: string, rules: LexerRules): Code {
  const list = new TokenList(text);
  let errors = 0;
  const match = (pattern: RegExp, at: number): number => {
    pattern.lastIndex = at;
    return pattern.test(text) ? pattern.lastIndex : 0;
  };
  for (let at = 0; at < text.length; ) {
    const blank = match(space, at);
    if (blank > 0) {
      at = blank;
      continue;
    }
    const special = rules.special(text, at);
    if (special) {
      if (special.broken) errors++;
      const end = Math.max(at + 1, special.end);
      if (special.is === "comment") list.addComment(at, end);
      else list.add(at, end, special.is);
      at = end;
      continue;
    }
    const end = match(rules.word, at) || match(number, at) || match(mark, at) || at + 1;
    list.add(at, end);
    at = end;
  }
  return list.finish(errors);
}

/** A string in which `\` escapes, and in which code may stand between `open` and a brace. */
export function quoted(text: string, from: number, quote: string, code = ""): Special {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text.startsWith(quote, at)) return { end: at + quote.length, is: "string" };
    else if (code !== "" && text.startsWith(code, at)) at = behindBrace(text, at + code.length) - 1;
    else if (text[at] === "\n" && quote.length === 1 && code === "")
      return { end: at, is: "string", broken: true };
  }
  return { end: text.length, is: "string", broken: true };
}

/** Behind the brace that closes code in a string; strings in it are passed over. */
function behindBrace(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === "{") depth++;
    else if (char === "}" && --depth === 0) return at + 1;
    else if (char === '"') at = simpleEnd(text, at + 1);
    else if (char === "\n" && depth > 20) return at;
  }
  return text.length;
}

function simpleEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"' || text[at] === "\n") return at;
  }
  return text.length;
}

/** `// …` and block comments, which some languages nest. */
export function slashComment(text: string, at: number, nests: boolean): Special | undefined {
  if (text[at] !== "/") return undefined;
  if (text[at + 1] === "/") return lineComment(text, at);
  if (text[at + 1] !== "*") return undefined;
  if (!nests) {
    const end = text.indexOf("*/", at + 2);
    return end < 0
      ? { end: text.length, is: "comment", broken: true }
      : { end: end + 2, is: "comment" };
  }
  let depth = 0;
  for (let each = at; each < text.length; each++) {
    if (text.startsWith("/*", each)) {
      depth++;
      each++;
    } else if (text.startsWith("*/", each)) {
      each++;
      if (--depth === 0) return { end: each + 1, is: "comment" };
    }
  }
  return { end: text.length, is: "comment", broken: true };
}

export function lineComment(text: string, at: number): Special {
  const end = text.indexOf("\n", at);
  return { end: end < 0 ? text.length : end, is: "comment" };
}
