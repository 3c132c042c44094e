/** Tokens as text that stays the same when a formatter or a careful hand has been over them. */
import { partsOf, statementEnd, step, textAt } from "./chain.ts";
import type { Code, Range, Token } from "./tokens.ts";

/** What stands behind the names of a test: a value to put in their place, or only that they are local. */
export interface Names {
  readonly values: ReadonlyMap<string, Range | null>;
  /** Those of the file, which the ones of the test hide. */
  readonly outer?: ReadonlyMap<string, Range | null>;
  /** The arguments of a function that is read as part of its caller. */
  readonly parameters?: ReadonlyMap<string, readonly string[]>;
}

const mostTokens = 400;

export function render(code: Code, range: Range, names?: Names): readonly string[] {
  const out: string[] = [];
  renderInto(out, code, range, names, 0);
  return out;
}

function renderInto(
  out: string[],
  code: Code,
  { from, to }: Range,
  names: Names | undefined,
  depth: number,
): void {
  const dropped = new Set<number>();
  for (let at = from; at < to; at++) {
    if (names && out.length > mostTokens) return;
    const token = code.tokens[at] as Token;
    if (dropped.has(at) || isLayout(code, at, to)) continue;
    if (isSpareBracket(code, at, to)) {
      dropped.add(code.pair[at] as number);
      continue;
    }
    if (token.kind === "string" && isKey(code, at)) {
      out.push(token.text.slice(1, -1));
      continue;
    }
    if (token.kind !== "word" || !names) {
      out.push(token.text);
      continue;
    }
    const isOwn = !/^(?:\.|\?\.|->|::|\?->)$/.test(textAt(code, at - 1)) && !isLabel(code, at);
    const argument = isOwn ? names.parameters?.get(token.text) : undefined;
    const value =
      isOwn && !argument
        ? (names.values.get(token.text) ?? valueOutside(names, token.text))
        : undefined;
    if (argument) out.push(...argument);
    else if (value === null || (value && (depth > 3 || (at >= value.from && at < value.to)))) {
      out.push(`‹${token.text}›`);
    } else if (value) renderInto(out, code, value, names, depth + 1);
    else out.push(constants[token.text] ?? token.text);
  }
}

const valueOutside = (names: Names, name: string): Range | null | undefined =>
  names.values.has(name) ? null : names.outer?.get(name);

const constants: Readonly<Record<string, string>> = {
  True: "true",
  False: "false",
  None: "null",
  nil: "null",
  NULL: "null",
  nullptr: "null",
};

function isLayout(code: Code, at: number, to: number): boolean {
  const { text, kind } = code.tokens[at] as Token;
  if (kind === "string") return false;
  if (text === ";" || text === "await" || text === "async" || text === "\\") return true;
  return text === "," && (at + 1 >= to || /^[)\]}]$/.test(textAt(code, at + 1)));
}

/** Brackets around the whole of a value, or around the one parameter of an arrow function. */
function isSpareBracket(code: Code, at: number, to: number): boolean {
  if (textAt(code, at) !== "(") return false;
  const close = code.pair[at] as number;
  if (close >= to || close === at + 1) return false;
  // One name, and no call: what is left of a cast.
  const isCall = at > 0 && /[\p{L}\p{N}_)\]>!?]$/u.test(textAt(code, at - 1));
  if (close === at + 2 && textAt(code, close + 1) === "." && !isCall) return true;
  if (textAt(code, close + 1) === "=>") return close === at + 2;
  const before = textAt(code, at - 1);
  if (!/^(?:return|=>|=|:=|\(|,|assert|==|===|!=|!==)$/.test(before)) return false;
  const next = code.tokens[close + 1];
  const isEnd = close + 1 >= to || !next || /^[;,)\]}]$/.test(next.text) || next.first;
  return (
    isEnd &&
    partsOf(code, { from: at + 1, to: close }, ",").length === 1 &&
    textAt(code, close - 1) !== ","
  );
}

/** A quoted name of a property, where the quotes are a matter of taste. */
const isKey = (code: Code, at: number): boolean =>
  code.quotedKeys === true &&
  textAt(code, at + 1) === ":" &&
  /^[{,]$/.test(textAt(code, at - 1)) &&
  /^"[A-Za-z_$][\w$]*"$/.test(textAt(code, at));

const isLabel = (code: Code, at: number): boolean =>
  textAt(code, at + 1) === ":" && /^[{,]$/.test(textAt(code, at - 1));

const literal =
  /^(?:[rbu]*#*"[\s\S]*|'[\s\S]*|-?\d.*|true|false|null|undefined|nan|NaN|Infinity|empty|[-+,:[\]{}()]|=>)$/;

/** Only values that are written out; a part of one is looked up, and so may be missing. */
export const isLiteral = (texts: readonly string[]): boolean =>
  texts.length > 0 &&
  texts.every((text, index) => {
    const isLookup = /^[[(]$/.test(text) && /^[)\]}"]|"$/.test(texts[index - 1] ?? "");
    const isName = /^\w+$/.test(text) && /^(?::|=>)$/.test(texts[index + 1] ?? "");
    return !isLookup && (literal.test(text) || isName);
  });

export interface NameRules {
  /** Only what is declared constant stays what it was set to: others may be changed by a call. */
  readonly constantsOnly: boolean;
}

const mostValue = 60;

/** The local names of a block, with the values of those that are set once. */
export function namesIn(
  code: Code,
  { from, to }: Range,
  rules: NameRules,
): Map<string, Range | null> {
  const values = new Map<string, Range | null>();
  const bind = (name: string, value: Range | null): void => {
    values.set(name, values.has(name) ? null : value);
  };
  const { tokens } = code;
  for (let at = from; at < to; at++) {
    const token = tokens[at] as Token;
    if (token.kind === "word") {
      const next = textAt(code, at + 1);
      if (
        /^(?:[-+*/|&%]=|\+\+|--|<<=|\|\|=|\?\?=)$/.test(next) ||
        /^(?:\+\+|--)$/.test(textAt(code, at - 1))
      )
        values.set(token.text, null);
      else if (next === "=" || next === ":=") bindAssigned(code, at, rules, bind);
      else if (next === ":" && /^(?:let|val|var|const|mut)$/.test(textAt(code, at - 1)))
        bindTyped(code, at, bind);
      else if (
        /^(?:&|ref|out|mut|nonlocal|global)$/.test(textAt(code, at - 1)) &&
        textAt(code, at - 2) !== "&"
      ) {
        if (textAt(code, at - 1) !== "&" || !isWordOrClose(tokens[at - 2]))
          values.set(token.text, null);
      } else if (/^(?:for|as)$/.test(token.text)) bindLoop(code, at + 1, bind);
      else if (/^(?:const|let|var|val)$/.test(token.text) && /^[{[(]$/.test(next))
        bindAll(code, at + 1, bind);
    } else if (token.text === "=>" && textAt(code, at - 1) === ")")
      bindAll(code, code.pair[at - 1] as number, bind);
    else if (token.text === "=>" && tokens[at - 1]?.kind === "word")
      bind(textAt(code, at - 1), null);
  }
  return values;
}

const isWordOrClose = (token: Token | undefined): boolean =>
  token !== undefined && (token.kind !== "mark" || /^[)\]]$/.test(token.text));

type Bind = (name: string, value: Range | null) => void;

function bindAssigned(code: Code, at: number, rules: NameRules, bind: Bind): void {
  const name = textAt(code, at);
  const before = textAt(code, at - 1);
  if (/^(?:\.|->|::|\?\.)$/.test(before)) return;
  const around = code.parent[at] ?? -1;
  // A default or a named argument.
  if (around >= 0 && textAt(code, around) === "(") return;
  if (before === ",") {
    for (let each = at; each > 0 && code.tokens[each]?.kind === "word"; each -= 2) {
      bind(textAt(code, each), null);
      if (textAt(code, each - 1) !== ",") return;
    }
    return;
  }
  const end = statementEnd(code, at + 2);
  const value = partsOf(code, { from: at + 2, to: Math.min(end, at + 2 + mostValue + 1) }, ",");
  const [first] = value;
  const isShort = first !== undefined && end - at - 2 <= mostValue;
  const isFixed =
    !rules.constantsOnly ||
    /^(?:const|constexpr|final)$/.test(textAt(code, at - 2)) ||
    /^(?:const|constexpr|final)$/.test(textAt(code, at - 3));
  bind(
    name,
    isShort && isFixed && before !== "mut" && first && isValue(code, first) ? first : null,
  );
}

/** `let x: Type = value`. */
function bindTyped(code: Code, at: number, bind: Bind): void {
  const end = statementEnd(code, at + 2);
  for (let each = at + 2; each < end; each = step(code, each)) {
    if (textAt(code, each) !== "=") continue;
    const value = { from: each + 1, to: end };
    bind(
      textAt(code, at),
      textAt(code, at - 1) !== "mut" && end - each <= mostValue && isValue(code, value)
        ? value
        : null,
    );
    return;
  }
  bind(textAt(code, at), null);
}

/** Something that a name can be replaced by: no function, nothing that is filled later. */
function isValue(code: Code, { from, to }: Range): boolean {
  if (/^(?:new|function|lambda|fn|func|class|async|def)$/.test(textAt(code, from))) return false;
  for (let at = from; at < to; at++) {
    const { text, kind } = code.tokens[at] as Token;
    if (kind !== "string" && /^(?:=>|function|fn|spy|mock|Mock|MagicMock|lambda|stub)$/.test(text))
      return false;
  }
  if (!/^[[{]$/.test(textAt(code, from))) return true;
  // A list that is written out may be filled later, but only an empty one is likely to be.
  return to - from > 2;
}

function bindLoop(code: Code, from: number, bind: Bind): void {
  const open = textAt(code, from) === "(" ? from + 1 : from;
  for (let at = open, steps = 0; steps < 12; at++, steps++) {
    const { text, kind } = code.tokens[at] ?? { text: "", kind: "mark" };
    if (/^(?:in|of|range|:=|=|:|;)$/.test(text) || text === "") return;
    if (kind === "word" && !/^(?:const|let|var|val|final|auto|int)$/.test(text)) bind(text, null);
  }
}

function bindAll(code: Code, open: number, bind: Bind): void {
  const close = Math.min(code.pair[open] ?? open, open + 100);
  for (let at = open + 1; at < close; at++) {
    if (code.tokens[at]?.kind === "word" && textAt(code, at + 1) !== ":")
      bind(textAt(code, at), null);
  }
}
