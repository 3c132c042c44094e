/** Classes and methods with what is declared above them: Java, Kotlin, C#, PHP. */
import { after, argumentsAt, inside, statementEnd, textAt } from "./chain.ts";
import type { Code, Range } from "./tokens.ts";

/** `@Name(args)` or `[Name(args)]`. */
export interface Annotation {
  readonly name: string;
  readonly args: readonly Range[];
  readonly range: Range;
}

export interface Declared {
  readonly is: "class" | "method";
  readonly name: string;
  readonly at: number;
  readonly annotations: readonly Annotation[];
  /** The words before the name, without the annotations. */
  readonly words: readonly string[];
  /** From the name to the body: parameters, base classes. */
  readonly header: Range;
  readonly parameters: readonly string[];
  readonly whole: Range;
  readonly body: Range;
}

const statements = new Set(
  "if for foreach while switch catch when try using lock synchronized do else return new throw await fixed sizeof typeof nameof match fn array isset unset empty list assert".split(
    " ",
  ),
);

export function declarationsIn(code: Code): Declared[] {
  const found: Declared[] = [];
  for (let at = 0; at < code.tokens.length; at++) {
    if (code.tokens[at]?.kind !== "word") continue;
    const declared = classAt(code, at) ?? methodAt(code, at);
    if (declared) found.push(declared);
  }
  return found;
}

function classAt(code: Code, at: number): Declared | undefined {
  if (
    !/^(?:class|record|object|trait|struct|interface|namespace)$/.test(textAt(code, at)) ||
    textAt(code, at - 1) === "::" ||
    textAt(code, at - 1) === "."
  )
    return undefined;
  if (code.tokens[at + 1]?.kind !== "word") return undefined;
  let brace = at + 2;
  for (
    let steps = 0;
    steps < 80 && !/^[{;}]$/.test(textAt(code, brace)) && brace < code.tokens.length;
    steps++
  ) {
    brace =
      textAt(code, brace) === "(" || textAt(code, brace) === "[" ? after(code, brace) : brace + 1;
  }
  if (textAt(code, brace) !== "{") return undefined;
  const above = aboveOf(code, at);
  return {
    is: "class",
    name: textAt(code, at + 1),
    at,
    ...above,
    header: { from: at + 2, to: brace },
    parameters: [],
    whole: { from: above.from, to: after(code, brace) },
    body: inside(code, brace),
  };
}

function methodAt(code: Code, at: number): Declared | undefined {
  const name = textAt(code, at);
  let open = at + 1;
  if (textAt(code, open) === "<") open = behindAngles(code, open);
  if (textAt(code, open) !== "(" || statements.has(name)) return undefined;
  const before = code.tokens[at - 1];
  const isTyped =
    before &&
    (before.kind === "word"
      ? !/^(?:return|new|throw|await|else|in|is|as|and|or|echo|yield|case)$/.test(before.text)
      : /^(?:[>\]?*&]|\?)$/.test(before.text));
  if (!isTyped) return undefined;
  const close = after(code, open);
  const brace = bodyAfter(code, close);
  if (brace === undefined) return undefined;
  const isBlock = textAt(code, brace) === "{";
  const end = isBlock ? after(code, brace) : statementEnd(code, brace + 1);
  const above = aboveOf(code, at);
  return {
    is: "method",
    name: name.replace(/^`|`$/g, ""),
    at,
    ...above,
    header: { from: open, to: brace },
    parameters: argumentsAt(code, open).map((each) => parameterName(code, each)),
    whole: { from: above.from, to: end },
    body: isBlock ? inside(code, brace) : { from: brace + 1, to: end },
  };
}

function behindAngles(code: Code, from: number): number {
  for (let at = from, depth = 0; at < from + 30; at++) {
    if (textAt(code, at) === "<") depth++;
    else if (textAt(code, at) === ">" && --depth === 0) return at + 1;
  }
  return from;
}

/** The brace, `=` or `=>` of a method's body: behind its types and what it throws. */
function bodyAfter(code: Code, close: number): number | undefined {
  for (let at = close, steps = 0; steps < 40; steps++) {
    const { text, kind } = code.tokens[at] ?? { text: "", kind: "mark" };
    if (text === "{" || ((text === "=" || text === "=>") && at > close - 1)) return at;
    if (kind !== "word" && !/^(?:[:<>,.?[\]&|]|::|@)$/.test(text)) return undefined;
    if (
      kind === "word" &&
      at === close &&
      !/^(?:throws|where|const|override|noexcept|final)$/.test(text)
    )
      return undefined;
    at++;
  }
  return undefined;
}

/** `int a`, `a: Int`, `$a = 1`. */
function parameterName(code: Code, { from, to }: Range): string {
  let end = from;
  while (end < to && !/^[:=]$/.test(textAt(code, end))) end++;
  return textAt(code, end - 1);
}

/** What stands before a declaration, back to the end of the one before it. */
function aboveOf(
  code: Code,
  at: number,
): { annotations: Annotation[]; words: string[]; from: number } {
  let from = at;
  for (let steps = 0; steps < 120 && from > 0; steps++) {
    const text = textAt(code, from - 1);
    if (code.tokens[from - 1]?.kind !== "string" && /^[;{}]$/.test(text)) break;
    const open =
      /^[)\]]$/.test(text) && code.tokens[from - 1]?.kind === "mark"
        ? (code.pair[from - 1] ?? -1)
        : -1;
    from = open >= 0 ? open : from - 1;
  }
  const annotations: Annotation[] = [];
  const words: string[] = [];
  for (let each = from; each < at; each++) {
    const text = textAt(code, each);
    if (text === "@" || /^@\w/.test(text)) {
      const name = text === "@" ? each + 1 : each;
      const annotation = annotationAt(code, name);
      annotations.push(annotation);
      each = annotation.range.to - 1;
    } else if (text === "[") {
      const end = code.pair[each] ?? each;
      for (let one = each + 1; one < end; one++) {
        if (code.tokens[one]?.kind !== "word") continue;
        const annotation = annotationAt(code, one);
        annotations.push(annotation);
        one = annotation.range.to;
      }
      each = end;
    } else if (code.tokens[each]?.kind === "word") words.push(text);
  }
  return { annotations, words, from };
}

function annotationAt(code: Code, from: number): Annotation {
  let at = from;
  while (/^(?:\.|::|\\)$/.test(textAt(code, at + 1))) at += 2;
  const name = textAt(code, at).replace(/^@/, "");
  const open = textAt(code, at + 1) === "(" ? at + 1 : undefined;
  const range = { from, to: open === undefined ? at + 1 : after(code, open) };
  return { name, args: argumentsAt(code, open), range };
}
