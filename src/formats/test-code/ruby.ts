/** Ruby: RSpec and minitest. Its blocks are read as if they were written in braces. */
import type { TestCode } from "../../core/test-code.ts";
import { deadBranches } from "./braces.ts";
import {
  after,
  argumentsAt,
  beginsStatement as beginsPlainly,
  chainAt,
  inside,
  isUnderCondition,
  partsOf,
  statementEnd,
  step,
  textAt,
  unwrapped,
} from "./chain.ts";
import { type Check, judged, readNamed, whole } from "./checks.ts";
import { lineComment, quoted, type Special, tokensOf } from "./lexer.ts";
import { assemble, type Block, type FoundFunction, type Skip } from "./outline.ts";
import { render } from "./render.ts";
import { type Code, codeOf, type Range, type Token } from "./tokens.ts";

export function read(text: string): TestCode | undefined {
  const raw = tokensOf(withoutHeredocs(text), {
    word: /[@$]*[\p{L}_][\p{L}\p{N}_]*(?:[?!](?!=))?/uy,
    special,
  });
  if (raw.errors > 2) return undefined;
  const code = codeOf(braced(raw.tokens), raw.comments, raw.errors);
  const suites: Block[] = [];
  const tests: Block[] = [];
  const functions: FoundFunction[] = [];
  const checks: Check[] = [];
  const skips: Skip[] = [];
  const ends: number[] = [];
  const tries: { body: Range; rescue: Range }[] = [];
  for (let at = 0; at < code.tokens.length; at++) {
    const { kind, text: word } = code.tokens[at] as Token;
    if (kind !== "word") continue;
    if (word === "return") ends.push(at);
    else if (/^(?:class|module)$/.test(word) && textAt(code, at + 1) === "{")
      suites.push(classAt(code, at));
    else if (word === "def") {
      const found = methodAt(code, at);
      if (found.name.startsWith("test_"))
        tests.push({ title: found.name, whole: found.whole, body: found.body });
      else functions.push(found);
    } else if (word === "rescue") tries.push(...rescueAt(code, at));
    else if (exampleNames.test(word)) {
      const block = blockAt(code, at);
      if (block) tests.push(block);
      else if (/^(?:skip|pending)$/.test(word) && beginsStatement(code, at)) {
        const end = statementEnd(code, at);
        const isConditional = code.tokens
          .slice(at, end)
          .some(({ text: each }) => /^(?:if|unless)$/.test(each));
        skips.push({ at, ...(isConditional && { conditional: true }) });
      }
    } else if (suiteNames.test(word)) {
      const block = blockAt(code, at);
      if (block) suites.push(block);
    } else if (/^(?:before|after|around|setup|teardown)$/.test(word) && beginsStatement(code, at)) {
      const { block } = callAt(code, at);
      if (block !== undefined)
        functions.push({
          name: word,
          parameters: [],
          whole: { from: at, to: after(code, block) },
          body: inside(code, block),
        });
    } else checks.push(...checksAt(code, at));
  }
  const outline = {
    suites,
    tests,
    functions,
    checks,
    skips,
    ends,
    dead: deadBranches(code),
    tries,
  };
  return assemble(code, outline, { constantsOnly: false, isTopLevel, bareCalls: true });
}

/** Also behind the names of a block. */
const beginsStatement = (code: Code, at: number): boolean =>
  beginsPlainly(code, at) || (textAt(code, at - 1) === "|" && code.tokens[at]?.first === true);

/** The text of a heredoc becomes a string where it is named; its lines stay, empty. */
function withoutHeredocs(text: string): string {
  if (!/<<[~-]?["'`]?[A-Za-z_]/.test(text)) return text;
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const found = /<<[~-]?(["'`]?)([A-Z_][A-Za-z0-9_]*)\1/.exec(lines[at] ?? "");
    if (!found || /^\s*#/.test(lines[at] ?? "")) continue;
    const end = lines.findIndex((line, index) => index > at && line.trim() === found[2]);
    if (end < 0) continue;
    const body = lines.slice(at + 1, end).map((line) => line.trim());
    lines[at] = (lines[at] ?? "").replace(found[0], () => JSON.stringify(body.join("\n")));
    lines.fill("", at + 1, end + 1);
    at = end;
  }
  return lines.join("\n");
}

const brackets: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}", "<": ">" };

function special(text: string, at: number): Special | undefined {
  const char = text[at] ?? "";
  if (char === "#") return lineComment(text, at);
  if (char === "=" && text.startsWith("=begin", at) && (at === 0 || text[at - 1] === "\n")) {
    const end = text.indexOf("\n=end", at);
    return end < 0
      ? { end: text.length, is: "comment", broken: true }
      : { end: end + 5, is: "comment" };
  }
  if (char === "_" && text.startsWith("__END__", at) && (at === 0 || text[at - 1] === "\n"))
    return { end: text.length, is: "comment" };
  if (char === '"' || char === "`") return quoted(text, at + 1, char, "#{");
  if (char === "'") return quoted(text, at + 1, "'", "\n\n\n");
  if (char === ":" && text[at + 1] === '"') return quoted(text, at + 2, '"', "#{");
  if (
    char === ":" &&
    text[at - 1] !== ":" &&
    /[\p{L}_]/u.test(text[at + 1] ?? "") &&
    !/[\w)\]]/.test(text[at - 1] ?? "")
  ) {
    const name = /:[\p{L}_][\p{L}\p{N}_]*[?!]?/uy;
    name.lastIndex = at;
    name.test(text);
    return { end: name.lastIndex, is: "string" };
  }
  if (char === "%" && isValue(text, at)) {
    const open = /%[wWiIqQr]?([^\w\s=])/y;
    open.lastIndex = at;
    const found = open.exec(text);
    if (found) return balanced(text, at + found[0].length, found[1] ?? "");
  }
  if (char === "/" && isValue(text, at)) {
    const regex = quoted(text, at + 1, "/");
    return regex.broken ? undefined : regex;
  }
  return undefined;
}

/** Whether a value can begin here, so that `/` and `%` are no operators. */
function isValue(text: string, at: number): boolean {
  const before = /(\w*)([^\w\s]?)([ \t]*)$/.exec(text.slice(Math.max(0, at - 40), at));
  const [, word = "", sign = "", blank = ""] = before ?? [];
  if (sign !== "") return !/[)\]}"'?!]/.test(sign);
  if (word === "") return true;
  if (/^(?:return|if|unless|and|or|not|when|in|then|while|until|puts|elsif)$/.test(word))
    return true;
  return blank !== "" && !/[\s=]/.test(text[at + 1] ?? " ");
}

function balanced(text: string, from: number, open: string): Special {
  const close = brackets[open] ?? open;
  let depth = 1;
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === close && --depth === 0) return { end: at + 1, is: "string" };
    else if (text[at] === open && close !== open) depth++;
  }
  return { end: text.length, is: "string", broken: true };
}

/** `do … end` and `def … end` in braces: the brace stands right behind the word that opens. */
function braced(tokens: readonly Token[]): Token[] {
  const out: Token[] = [];
  let loopLine = 0;
  tokens.forEach((token, at) => {
    const { text, kind, line, first } = token;
    const before = tokens[at - 1];
    const isName =
      kind !== "word" ||
      /^(?:\.|&\.|::|def)$/.test(before?.text ?? "") ||
      (tokens[at + 1]?.text === ":" && text !== "else");
    const brace = (mark: string): Token => ({ ...token, text: mark, kind: "mark" });
    if (isName) out.push(token);
    else if (text === "end") out.push(brace("}"));
    else if (text === "do") {
      if (loopLine !== line) out.push(brace("{"));
    } else if (text === "def") {
      out.push(token);
      if (!isEndless(tokens, at)) out.push({ ...brace("{"), first: false });
    } else if (/^(?:class|module|begin|case)$/.test(text))
      out.push(token, { ...brace("{"), first: false });
    else if (/^(?:if|unless|while|until|for)$/.test(text)) {
      const isStatement =
        first ||
        !before ||
        (before.kind === "mark" && !/^[)\]}]$/.test(before.text)) ||
        /^(?:then|else|do|return|and|or|not)$/.test(before.text);
      out.push(token);
      if (isStatement) out.push({ ...brace("{"), first: false });
      if (isStatement && /^(?:while|until|for)$/.test(text)) loopLine = line;
    } else out.push(token);
  });
  return out;
}

/** `def name(a) = value`. */
function isEndless(tokens: readonly Token[], at: number): boolean {
  const line = tokens[at]?.line;
  let depth = 0;
  for (let each = at + 2; each < tokens.length && tokens[each]?.line === line; each++) {
    const text = tokens[each]?.text;
    if (text === "(") depth++;
    else if (text === ")") depth--;
    else if (text === "=" && depth === 0) return tokens[each - 1]?.text === ")" || each === at + 2;
  }
  return false;
}

const exampleNames =
  /^[xf]?(?:it|specify|example|scenario|test|its)$|^(?:skip|pending|it_behaves_like|include_examples|it_should_behave_like|should)$/;
const suiteNames =
  /^[xf]?(?:describe|context|feature)$|^(?:shared_examples|shared_examples_for|shared_context)$/;

interface Call {
  readonly args: readonly Range[];
  readonly block?: number;
  readonly end: number;
}

/** A call with or without brackets, with or without a block. */
function callAt(code: Code, at: number): Call {
  const hasBrackets = textAt(code, at + 1) === "(" && !code.tokens[at + 1]?.first;
  const from = hasBrackets ? after(code, at + 1) : at + 1;
  const end =
    code.tokens[from]?.first && textAt(code, from) !== "." ? from : statementEnd(code, from);
  let block: number | undefined;
  for (let each = from; each < end && block === undefined; each = step(code, each))
    if (textAt(code, each) === "{") block = each;
  const args = hasBrackets
    ? argumentsAt(code, at + 1)
    : partsOf(code, { from, to: block ?? end }, ",");
  return { args, end, ...(block !== undefined && { block }) };
}

function blockAt(code: Code, at: number): Block | undefined {
  const word = textAt(code, at);
  const before = textAt(code, at - 1);
  if (before === "." && textAt(code, at - 2) !== "RSpec") return undefined;
  if (before !== "." && !beginsStatement(code, at)) return undefined;
  const { args, block, end } = callAt(code, at);
  const isShared = /behave|include_examples/.test(word);
  if (
    (/^(?:skip|pending|test|should|example|specify|its)$/.test(word) && block === undefined) ||
    (!isShared && args.length === 0 && block === undefined)
  )
    return undefined;
  const [title, ...options] = args;
  const said = options.map((each) => render(code, each).join(" "));
  const name = title ? render(code, title).join(" ").replace(/^"|"$/g, "") : word;
  const range = { from: at, to: block === undefined ? end : after(code, block) };
  const isOff = said.some((each) =>
    /^:(?:skip|pending|broken)$|^(?:skip|pending) : (?!false)/.test(each),
  );
  const check: Check = {
    range,
    strength: "exact",
    partial: false,
    negated: false,
    actual: range,
    expected: "shared",
  };
  return {
    title: name,
    whole: range,
    body: block === undefined ? { from: range.to, to: range.to } : inside(code, block),
    skipped: /^x|^skip$|^pending$/.test(word) || isOff || (block === undefined && !isShared),
    focused:
      /^f(?:it|describe|context|example|specify)/.test(word) ||
      said.some((each) => /^:focus$|^focus : true/.test(each)),
    ...(isShared && { checks: [check] }),
  };
}

function classAt(code: Code, at: number): Block {
  return {
    title: textAt(code, at + 2),
    whole: { from: at, to: after(code, at + 1) },
    body: inside(code, at + 1),
  };
}

function methodAt(code: Code, at: number): FoundFunction {
  const isBlock = textAt(code, at + 1) === "{";
  let name = at + (isBlock ? 2 : 1);
  if (textAt(code, name + 1) === ".") name += 2;
  const open = name + 1;
  const body = isBlock
    ? { from: textAt(code, open) === "(" ? after(code, open) : open, to: inside(code, at + 1).to }
    : { from: open, to: statementEnd(code, open) };
  const parameters =
    textAt(code, open) === "(" ? argumentsAt(code, open).map(({ from }) => textAt(code, from)) : [];
  return {
    name: textAt(code, name),
    parameters,
    whole: { from: at, to: isBlock ? after(code, at + 1) : body.to },
    body,
  };
}

/** `begin … rescue … end`: what stands before is tried, what stands behind rescues. */
function rescueAt(code: Code, at: number): { body: Range; rescue: Range }[] {
  const open = code.parent[at] ?? -1;
  if (open < 0 || textAt(code, open) !== "{") return [];
  return [
    { body: { from: open + 1, to: at }, rescue: { from: at + 1, to: code.pair[open] ?? at } },
  ];
}

const isTopLevel = (code: Code, at: number, body: Range): boolean => {
  if (code.parent[at] !== code.parent[body.from] || isUnderCondition(code, at)) return false;
  const end = statementEnd(code, at + 1);
  for (let each = at; each < end; each = step(code, each))
    if (/^(?:if|unless)$/.test(textAt(code, each))) return false;
  return true;
};

const rules = { typed: false, expectedFirst: true };

function checksAt(code: Code, at: number): Check[] {
  const word = textAt(code, at);
  const before = textAt(code, at - 1);
  if (/^(?:expect|is_expected|expect_any_instance_of)$/.test(word) && before !== ".")
    return expectAt(code, at);
  if (/^should(?:_not)?$/.test(word) && before === ".") return shouldAt(code, at, word);
  if (/^(?:must|wont)_\w+$/.test(word) && before === ".") return mustAt(code, at, word);
  const isAssert = /^(?:assert|refute)(?:_\w+)?[?!]?$/.test(word);
  if (
    (!isAssert && !/^(?:expect|check|verify)_\w+$/.test(word)) ||
    before === "." ||
    !beginsStatement(code, at)
  )
    return [];
  const { args, block, end } = callAt(code, at);
  const range = { from: at, to: end };
  if (
    /^assert_(?:raises?|throws|raise_with_message|difference|changes|no_difference)$/.test(word) &&
    block !== undefined
  ) {
    const base = { range, partial: false, negated: false, actual: inside(code, block) };
    return [
      args.length > 0
        ? { ...base, strength: "exact", expected: whole(args) }
        : { ...base, strength: "loose", expected: "throws" },
    ];
  }
  if (block !== undefined && args.length === 0)
    return [
      {
        range,
        strength: "loose",
        partial: false,
        negated: false,
        actual: inside(code, block),
        expected: "truthy",
      },
    ];
  const name =
    word === "assert"
      ? "assert_truthy"
      : word === "refute"
        ? "assert_falsy"
        : word === "assert_predicate"
          ? "assert_part"
          : word;
  return readNamed(code, range, { name, args }, rules).map((check) => ({ ...check, callee: word }));
}

/** `expect(actual).to matcher`, `expect { … }.to matcher`. */
function expectAt(code: Code, at: number): Check[] {
  const open = at + 1;
  const isGroup = /^[({]$/.test(textAt(code, open));
  const link = isGroup ? after(code, open) : open;
  if (textAt(code, link) !== "." || !/^(?:to|not_to|to_not)$/.test(textAt(code, link + 1)))
    return [];
  const actual = isGroup ? unwrapped(code, inside(code, open)) : { from: at, to: at + 1 };
  return [
    matched(code, { from: at, to: statementEnd(code, link + 2) }, actual, {
      from: link + 2,
      negated: textAt(code, link + 1) !== "to",
    }),
  ];
}

function matched(
  code: Code,
  range: Range,
  actual: Range,
  { from, negated }: { from: number; negated: boolean },
): Check {
  const matcher = unwrapped(code, { from, to: range.to });
  const chain = chainAt(code, matcher.from);
  const [first, second] = chain.segments;
  const given =
    first?.args === undefined
      ? partsOf(code, { from: chain.to, to: matcher.to }, ",")
      : argumentsAt(code, first.args);
  const isNear = first?.name === "be_within" && second?.name === "of";
  const args =
    second?.name === "with"
      ? argumentsAt(code, second.args)
      : isNear
        ? [...argumentsAt(code, second.args), ...given]
        : given;
  const plain = (first?.name ?? "")
    .replace(/^be_an?$/, "kind")
    .replace(/^be_within$/, "close_to")
    .replace(/^have_received$/, second?.name === "with" ? "called_with" : "called")
    .replace(/^(?:match_array|contain_exactly)$/, "equal");
  const isOrder = /^(?:be|eq)$/.test(plain) && /^(?:[<>]=?|==)$/.test(textAt(code, chain.to));
  return judged(
    range,
    actual,
    {
      name: `${negated ? "not_" : ""}${isOrder && textAt(code, chain.to) !== "==" ? "part" : plain}`,
      args: args.filter(({ from: start, to }) => to > start && textAt(code, start) !== "{"),
    },
    code,
  );
}

function shouldAt(code: Code, at: number, word: string): Check[] {
  const from = statementStart(code, at);
  const range = { from, to: statementEnd(code, at + 1) };
  return [matched(code, range, { from, to: at - 1 }, { from: at + 1, negated: word !== "should" })];
}

function mustAt(code: Code, at: number, word: string): Check[] {
  const from = statementStart(code, at);
  const { args, end } = callAt(code, at);
  const start =
    textAt(code, from) === "_" || textAt(code, from) === "value"
      ? inside(code, from + 1)
      : { from, to: at - 1 };
  return [judged({ from, to: end }, unwrapped(code, start), { name: word, args }, code)];
}

function statementStart(code: Code, at: number): number {
  let from = at;
  while (from > 0 && !code.tokens[from]?.first && !/^[{;|]$/.test(textAt(code, from - 1))) from--;
  return from;
}
