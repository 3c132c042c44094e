/**
 * What a test never gets to: assertions under a condition, in a loop over nothing, in a function
 * that nobody calls, or made by a function that was replaced.
 */
import {
  after,
  argumentsAt,
  beginsStatement,
  chainAt,
  inside,
  partsOf,
  statementEnd,
  step,
  textAt,
} from "./chain.ts";
import type { Check } from "./checks.ts";
import type { Code, Range, Token } from "./tokens.ts";

/** A branch: what stands in it is done only under its condition. */
export interface Guard {
  readonly range: Range;
  readonly condition: Range;
  /** What is done otherwise. */
  readonly otherwise: readonly Range[];
  /** It ends the test or its turn, so that what comes behind it is done under the opposite. */
  readonly behind?: Range;
}

interface Branch {
  readonly range: Range;
  readonly condition: Range;
}

const mostBranches = 40;

/** From the branches of one `if`, the last of which may be its `else`. */
export function guardsOf(branches: readonly Branch[], follows?: Range): Guard[] {
  return branches.slice(0, mostBranches).map((branch) => ({
    ...branch,
    otherwise: [
      ...branches
        .slice(0, mostBranches)
        .flatMap(({ range }) => (range === branch.range ? [] : [range])),
      ...(follows ? [follows] : []),
    ],
    ...(follows && branches.length === 1 && { behind: follows }),
  }));
}

/** The branches of every `if` in a language with braces. */
export function guardsIn(code: Code): Guard[] {
  const guards: Guard[] = [];
  for (let at = 0; at < code.tokens.length; at++) {
    if (code.tokens[at]?.kind !== "word") continue;
    const word = textAt(code, at);
    if ((word !== "if" && word !== "unless") || /^(?:else|\.)$/.test(textAt(code, at - 1)))
      continue;
    const isWrapped = textAt(code, at + 1) === "{" && !code.tokens[at + 1]?.first;
    const branches = isWrapped ? branchesWithin(code, at + 1) : branchesFrom(code, at);
    const last = branches.at(-1);
    if (!last) continue;
    const end = isWrapped ? after(code, at + 1) : last.range.to;
    guards.push(
      ...guardsOf(branches, leaves(code, last.range) ? restOfBlock(code, at, end) : undefined),
    );
  }
  return guards;
}

/** Ruby's, which are read as one block: `if { condition … elsif … else … }`. */
function branchesWithin(code: Code, open: number): Branch[] {
  const { from, to } = inside(code, open);
  const branches: Branch[] = [];
  let start = from;
  const close = (end: number): void => {
    let body = start;
    while (
      body < end &&
      (body === start || !code.tokens[body]?.first) &&
      textAt(code, body) !== "then"
    )
      body = step(code, body);
    branches.push({ condition: { from: start, to: body }, range: { from: body, to: end } });
  };
  for (let at = from; at < to; at = step(code, at)) {
    if (code.tokens[at]?.kind !== "word" || !/^(?:elsif|else)$/.test(textAt(code, at))) continue;
    close(at);
    start = textAt(code, at) === "else" ? at : at + 1;
  }
  close(to);
  return branches;
}

function branchesFrom(code: Code, first: number): Branch[] {
  const branches: Branch[] = [];
  for (let at = first; branches.length < mostBranches; ) {
    const isBracketed =
      textAt(code, at + 1) === "(" &&
      !/^(?:&&|\|\||[=!]=|[<>]=?|\.)$/.test(textAt(code, after(code, at + 1)));
    const start = isBracketed ? after(code, at + 1) : braceFrom(code, at + 1);
    if (start === undefined) break;
    const condition = isBracketed ? inside(code, at + 1) : { from: at + 1, to: start };
    const range = branchAt(code, start);
    branches.push({ condition, range });
    const next = textAt(code, range.to) === ";" ? range.to + 1 : range.to;
    if (textAt(code, next) !== "else") break;
    if (textAt(code, next + 1) === "if") {
      at = next + 1;
      continue;
    }
    // Nothing that is asserted says that the opposite of a condition holds.
    branches.push({ condition: { from: next, to: next }, range: branchAt(code, next + 1) });
    break;
  }
  return branches;
}

function braceFrom(code: Code, from: number): number | undefined {
  for (
    let at = from, steps = 0;
    at < code.tokens.length && steps < 100;
    at = step(code, at), steps++
  )
    if (textAt(code, at) === "{") return at;
  return undefined;
}

export function branchAt(code: Code, at: number): Range {
  if (textAt(code, at) === "{") return { from: at, to: after(code, at) };
  const end = statementEnd(code, at);
  return { from: at, to: textAt(code, end) === ";" ? end + 1 : end };
}

/** It ends with `return` or the like, so that what comes behind it is its `else`. */
export function leaves(code: Code, { from, to }: Range): boolean {
  for (let at = to - 1; at >= from && at > to - 40; at--)
    if (/^(?:return|continue|break|next)$/.test(textAt(code, at))) return true;
  return false;
}

function restOfBlock(code: Code, at: number, from: number): Range {
  const around = code.parent[at] ?? -1;
  const to =
    around < 0 ? code.tokens.length : Math.min(code.pair[around] ?? from, code.tokens.length);
  return { from, to: Math.max(from, to) };
}

/** Where a single check stands behind `&&`, or `?` without another one. */
export function isBehindCondition(
  code: Code,
  { from, to }: Range,
  isCheck: (at: number) => boolean,
): boolean {
  const start = textAt(code, from - 1) === "await" ? from - 1 : from;
  const before = code.tokens[start - 1];
  if (before?.kind !== "string" && /^(?:&&|and|\|\||or)$/.test(before?.text ?? "")) return true;
  if (before?.text !== "?" || textAt(code, to) !== ":") return false;
  return !isCheck(textAt(code, to + 1) === "await" ? to + 2 : to + 1);
}

/** Ruby's `check if condition`. */
export function hasConditionBehind(code: Code, { from, to }: Range): boolean {
  for (let at = from + 1; at < to; at = step(code, at)) {
    const token = code.tokens[at] as Token;
    if (token.kind === "word" && !token.first && /^(?:if|unless)$/.test(token.text)) return true;
  }
  return false;
}

// ── loops ───────────────────────────────────────────────────────────────────────────────────────

const nothing = new RegExp(
  `^(?:${[
    "\\[\\]",
    "\\{\\}",
    "\\(\\)",
    '""',
    "(?:array|list|tuple|set|dict|frozenset)\\(\\)",
    "(?:\\w+(?:\\.|::))*(?:of|emptyList|emptySet|emptyMap|emptyArray|emptySequence|listOf|setOf|arrayOf|mapOf|empty|Empty)(?:<.*>)?\\(\\)",
    "x?range\\(0\\)",
    "0\\.\\.\\.?<?0",
    "0until0",
    "vec!\\[\\]",
    "new\\w+\\[0\\]",
    "new\\w+\\[\\]\\{\\}",
    "(?:new)?Array\\(0?\\)",
    "Array\\.from\\(\\{length:0\\}\\)",
    "(?:std::)?\\w+<.*>\\{\\}",
    "\\[\\d*\\]\\*?[\\w.]+\\{\\}",
    "new(?:Set|Map|List|ArrayList|HashSet)(?:<.*>)?\\((?:\\[\\])?\\)",
    "Object\\.\\w+\\(\\{\\}\\)",
    "\\[\\]\\.\\w+\\(\\)",
    "[^()]*\\.slice\\(0,0\\)",
    "[^()]*\\.take\\(0\\)",
    "[^()]*\\[:0\\]",
  ].join("|")})$`,
);

const mostHeader = 40;

const joined = (code: Code, { from, to }: Range): string =>
  to - from > mostHeader
    ? ""
    : code.tokens
        .slice(from, to)
        .map(({ text }) => text)
        .join("");

/** A list that is written out empty, or a name that is only ever that. */
export function isNothing(
  code: Code,
  range: Range,
  mentions: ReadonlyMap<string, number>,
): boolean {
  const { from, to } = range;
  if (nothing.test(joined(code, range))) return true;
  if (
    to !== from + 1 ||
    code.tokens[from]?.kind !== "word" ||
    mentions.get(textAt(code, from)) !== 2
  )
    return false;
  for (let at = from - 2; at >= 0 && at > from - 2000; at--) {
    if (textAt(code, at) !== textAt(code, from)) continue;
    if (!/^:?=$/.test(textAt(code, at + 1))) return false;
    return nothing.test(joined(code, { from: at + 2, to: statementEnd(code, at + 2) }));
  }
  return false;
}

export function mentionsIn(code: Code): Map<string, number> {
  const mentions = new Map<string, number>();
  for (const { kind, text } of code.tokens)
    if (kind === "word") mentions.set(text, (mentions.get(text) ?? 0) + 1);
  return mentions;
}

/** The bodies of loops that never turn, where blocks stand in braces. */
export function emptyLoops(code: Code): Range[] {
  const mentions = mentionsIn(code);
  const dead: Range[] = [];
  for (let at = 0; at < code.tokens.length; at++) {
    const { kind, text } = code.tokens[at] as Token;
    if (
      kind === "word" &&
      /^for(?:each)?$/.test(text) &&
      !/^(?:\.|->|::)$/.test(textAt(code, at - 1))
    ) {
      const loop = loopAt(code, at, mentions);
      if (loop) dead.push(loop);
    } else if (
      kind === "word" &&
      /^(?:forEach|each|map|each_with_index|for_each|ForEach)$/.test(text)
    ) {
      const calls = calledOnNothing(code, at, mentions);
      if (calls) dead.push(calls);
    }
  }
  return dead;
}

function loopAt(code: Code, at: number, mentions: ReadonlyMap<string, number>): Range | undefined {
  const open = textAt(code, at + 1) === "await" ? at + 2 : at + 1;
  const isBracketed = textAt(code, open) === "(";
  const body = isBracketed ? after(code, open) : lastBraceOfHeader(code, at);
  if (body === undefined || textAt(code, open) === "{") return undefined;
  const header = isBracketed ? inside(code, open) : { from: at + 1, to: body };
  const parts = partsOf(code, header, ";");
  if (parts.length === 3 && /^(?:false|\w+<0)$/.test(joined(code, parts[1] as Range)))
    return branchAt(code, body);
  let from = header.from;
  let to = header.to;
  for (let each = header.from; each < header.to; each = step(code, each)) {
    const { kind, text } = code.tokens[each] as Token;
    if (kind === "string") continue;
    if (/^(?:of|in|range)$/.test(text) || (text === ":" && isBracketed)) from = each + 1;
    // PHP: the list stands first.
    if (text === "as" && /^foreach$/.test(textAt(code, at))) to = each;
  }
  if (from === header.from && to === header.to) return undefined;
  return isNothing(code, { from, to }, mentions) ? branchAt(code, body) : undefined;
}

/** Go and Rust: the braces of the list come before those of the body. */
function lastBraceOfHeader(code: Code, at: number): number | undefined {
  const first = braceFrom(code, at + 1);
  if (first === undefined) return undefined;
  const second = after(code, first);
  return textAt(code, second) === "{" && !code.tokens[second]?.first ? second : first;
}

/** `[].forEach(…)`, with or without a block behind it. */
function calledOnNothing(
  code: Code,
  at: number,
  mentions: ReadonlyMap<string, number>,
): Range | undefined {
  if (textAt(code, at - 1) !== ".") return undefined;
  const close = at - 2;
  const from = textAt(code, close) === "]" ? (code.pair[close] ?? close) : close;
  const before = code.tokens[from - 1];
  const isLookup =
    before && (before.kind !== "mark" || /^[)\]]$/.test(before.text)) && !code.tokens[from]?.first;
  if (textAt(code, close) === "]" && isLookup && !/^(?:return|await)$/.test(before.text))
    return undefined;
  if (!isNothing(code, { from, to: close + 1 }, mentions)) return undefined;
  return { from: at + 1, to: statementEnd(code, at + 1) };
}

// ── functions ───────────────────────────────────────────────────────────────────────────────────

/** Whether a name is used where it stands, not only mentioned so that it counts as used. */
export function isUse(code: Code, at: number, bareCalls: boolean): boolean {
  const [before, next] = [textAt(code, at - 1), code.tokens[at + 1]];
  if (next?.text === "(" && !next.first) return true;
  if (/^(?:void|typeof)$/.test(before)) return false;
  if (before === ")" && textAt(code, at - 2) === "void") return false;
  if (/^:?=$/.test(before)) return !textAt(code, at - 2).startsWith("_");
  const around = code.parent[at] ?? -1;
  const isInValue = around >= 0 && /^(?:[([,=:?]|return)$/.test(textAt(code, around - 1));
  const isAlone =
    !isInValue && beginsStatement(code, at) && (!next || next.first || /^[;}]$/.test(next.text));
  return bareCalls || !isAlone;
}

/** Functions without a name of their own that are kept in a variable, and that is all. */
export function idleLambdas(
  code: Code,
  { bareCalls, bracedLambdas }: { bareCalls: boolean; bracedLambdas: boolean },
): Range[] {
  const idle: Range[] = [];
  for (let at = 1; at < code.tokens.length; at++) {
    const { text, kind } = code.tokens[at] as Token;
    if (kind === "string") continue;
    if (text === "=>") {
      const alone = standsAlone(code, at);
      if (alone) idle.push(alone);
    }
    if (!/^:?=$/.test(text) || code.tokens[at - 1]?.kind !== "word") continue;
    if (/^(?:\.|->|::)$/.test(textAt(code, at - 2)) || !isLambda(code, at + 1, bracedLambdas))
      continue;
    const range = { from: at + 1, to: statementEnd(code, at + 1) };
    if (!isNamedIn(code, textAt(code, at - 1), restOfBlock(code, at, range.to), bareCalls))
      idle.push(range);
  }
  return idle;
}

const mostSought = 20_000;

function isNamedIn(code: Code, name: string, { from, to }: Range, bareCalls: boolean): boolean {
  const end = Math.min(to, from + mostSought);
  for (let at = from; at < end; at++) {
    const { text, kind } = code.tokens[at] as Token;
    if (kind === "string" ? text.includes(name) : text === name && isUse(code, at, bareCalls))
      return true;
  }
  return end < to;
}

function isLambda(code: Code, from: number, bracedLambdas: boolean): boolean {
  const word = textAt(code, from);
  if (/^(?:func|function|fn|lambda|proc|delegate|->|\|\|?|move)$/.test(word)) return true;
  if (word === "async" || word === "static") return isLambda(code, from + 1, bracedLambdas);
  if (word === "{") return bracedLambdas;
  const end = /^[([]$/.test(word) ? after(code, from) : from + 1;
  if (word === "[") {
    const behind = textAt(code, end) === "(" ? after(code, end) : end;
    return behind > end
      ? /^(?:\{|mutable|->|noexcept)$/.test(textAt(code, behind))
      : textAt(code, end) === "{";
  }
  const isArrow =
    /^(?:->|=>)$/.test(textAt(code, end)) ||
    (textAt(code, end) === "-" && textAt(code, end + 1) === ">");
  return isArrow && (word === "(" || code.tokens[from]?.kind === "word");
}

/** `() => { … };` and `void (() => { … });`. */
function standsAlone(code: Code, arrow: number): Range | undefined {
  let from = textAt(code, arrow - 1) === ")" ? (code.pair[arrow - 1] ?? arrow) : arrow - 1;
  let to = textAt(code, arrow + 1) === "{" ? after(code, arrow + 1) : statementEnd(code, arrow + 1);
  if (textAt(code, from - 1) === "async") from--;
  while (
    textAt(code, from - 1) === "(" &&
    code.pair[from - 1] === to &&
    code.tokens[from - 2]?.kind !== "word"
  ) {
    from--;
    to++;
  }
  const isVoid =
    textAt(code, from - 1) === "void" ||
    (textAt(code, from - 1) === "(" &&
      code.pair[from - 1] === to &&
      textAt(code, from - 2) === "void");
  if (isVoid) return textAt(code, to) === "(" ? undefined : { from, to };
  const before = textAt(code, from - 1);
  const begins = before === ";" || (before === "{" && /^(?:\)|=>)$/.test(textAt(code, from - 2)));
  return begins && /^[;}]$/.test(textAt(code, to)) ? { from, to } : undefined;
}

// ── replaced assertions ─────────────────────────────────────────────────────────────────────────

const roots = /^(?:assert|expect|Assert|chai)$/;
const assertionName = /^(?:assert|expect|refute)\w*$/i;
const replacing =
  /^(?:setattr|object|patch|method|spyOn|stub|replace|replaceMethod|defineProperty|set|mock|doMock|unstable_mockModule|module|fake)$/;
const modules = /^"(?:node:)?assert(?:\/strict)?"$|^"(?:chai|expect|@jest\/globals|vitest)"$/;
/** What a replacement still says if it fails, or that it hands on. */
const speaks =
  /^(?:throw|raise|fail\w*|panic|abort|require|import|original\w*|actual\w*|apply|\w*[aA]ssert\w*|\w*[eE]xpect\w*|chai|jest|vi)$/;

/** Says of an assertion whether the function that makes it was replaced by one that does nothing. */
export function mutedIn(code: Code, also: readonly string[] = []): (check: Check) => boolean {
  const muted = new Set<string>(also);
  for (let at = 0; at < code.tokens.length; at++) {
    const { text, kind } = code.tokens[at] as Token;
    if (text === "=" && kind === "mark") addReplaced(code, at, muted);
    else if (kind === "word" && text === "macro_rules" && textAt(code, at + 1) === "!") {
      const open = at + 3;
      if (assertionName.test(textAt(code, at + 2)) && !isSpeaking(code, inside(code, open)))
        muted.add(textAt(code, at + 2));
    } else if (kind === "word" && textAt(code, at + 1) === "(" && replacing.test(text))
      addPatched(code, at + 1, muted);
    else if (text === "assign" && textAt(code, at + 1) === "(" && textAt(code, at - 2) === "Object")
      addAssigned(code, at + 1, muted);
  }
  if (muted.size === 0) return () => false;
  return ({ range }) => {
    const names = chainAt(code, range.from).segments.map(({ name }) => name);
    return names.some(
      (name, index) => muted.has(name) || muted.has(`${names[index - 1] ?? ""}.${name}`),
    );
  };
}

function isSpeaking(code: Code, { from, to }: Range): boolean {
  for (let at = from; at < to; at++) {
    const { text, kind } = code.tokens[at] as Token;
    if (kind === "word" && speaks.test(text)) return true;
  }
  return false;
}

/** `assert.equal = …`, `expect = …`, `self.assertEqual = …`. */
function addReplaced(code: Code, at: number, muted: Set<string>): void {
  const name = textAt(code, at - 1);
  if (code.tokens[at - 1]?.kind !== "word") return;
  const isLinked = /^(?:\.|->|::)$/.test(textAt(code, at - 2));
  const owner = isLinked ? textAt(code, at - 3) : "";
  const range = { from: at + 1, to: statementEnd(code, at + 1) };
  const isOwn = roots.test(owner);
  if (!isOwn && !(isLinked ? assertionName.test(name) : roots.test(name))) return;
  const isWritten = code.tokens
    .slice(range.from, range.to)
    .some(({ text }) => /^(?:=>|function|lambda|\{)$/.test(text));
  if (isSpeaking(code, range) || (!isOwn && !isWritten)) return;
  muted.add(isOwn ? `${owner}.${name}` : name);
}

/** `setattr(TestCase, "assertEqual", …)`, `mock.method(assert, "equal", …)`, `vi.mock("node:assert")`. */
function addPatched(code: Code, open: number, muted: Set<string>): void {
  const args = argumentsAt(code, open);
  const [first, second] = args;
  if (!first) return;
  const said = textAt(code, first.from);
  const behind = { from: (second ?? first).to, to: inside(code, open).to };
  if (modules.test(said)) {
    if (isSpeaking(code, behind)) return;
    for (const name of ["assert", "expect"]) muted.add(name);
    return;
  }
  const path = /^"(?:[\w.]+\.)?TestCase\.(\w+)"$/.exec(said)?.[1];
  if (path && assertionName.test(path)) muted.add(path);
  const name = second && /^"(\w+)"$/.exec(textAt(code, second.from))?.[1];
  if (!name || isSpeaking(code, behind)) return;
  const owner = textAt(code, first.to - 1);
  if (roots.test(owner)) muted.add(`${owner}.${name}`);
  else if (
    assertionName.test(name) &&
    /^(?:self|cls|globalThis|global|window|\w*Test\w*)$/.test(owner)
  )
    muted.add(name);
}

function addAssigned(code: Code, open: number, muted: Set<string>): void {
  const [first, second] = argumentsAt(code, open);
  if (!first || !second || textAt(code, second.from) !== "{" || isSpeaking(code, second)) return;
  const owner = textAt(code, first.to - 1);
  if (!roots.test(owner)) return;
  for (const { from } of partsOf(code, inside(code, second.from), ","))
    muted.add(`${owner}.${textAt(code, from)}`);
}
