/** What languages with braces have in common: branches that never run, failures that are caught. */
import { after, inside, statementEnd, step, textAt } from "./chain.ts";
import { type Check, readCondition } from "./checks.ts";
import { branchAt } from "./reach.ts";
import type { Code, Range } from "./tokens.ts";

const never = /^(?:false|0|!true|!1|nil|null)$/;
const always = /^(?:true|1|!false|!0)$/;

/** `if (false) { … }`, and the `else` of `if (true)`. */
export function deadBranches(code: Code): Range[] {
  const dead: Range[] = [];
  for (let at = 0; at < code.tokens.length; at++) {
    const text = textAt(code, at);
    if ((text !== "if" && text !== "while") || code.tokens[at]?.kind !== "word") continue;
    const isBracketed = textAt(code, at + 1) === "(";
    const brace = isBracketed ? after(code, at + 1) : openBrace(code, at + 1);
    const said = conditionText(
      code,
      isBracketed ? inside(code, at + 1) : { from: at + 1, to: brace },
    );
    if (!never.test(said) && !always.test(said)) continue;
    const branch = branchAt(code, brace);
    if (never.test(said)) dead.push(branch);
    else if (text === "if" && textAt(code, branch.to) === "else")
      dead.push(branchAt(code, branch.to + 1));
  }
  return dead;
}

function conditionText(code: Code, { from, to }: Range): string {
  if (to - from > 2) return "";
  return code.tokens
    .slice(from, to)
    .map(({ text }) => text.toLowerCase())
    .join("");
}

function openBrace(code: Code, from: number): number {
  for (
    let at = from, steps = 0;
    at < code.tokens.length && steps < 100;
    at = step(code, at), steps++
  ) {
    if (textAt(code, at) === "{") return at;
  }
  return from;
}

export function tries(code: Code): { body: Range; rescue: Range }[] {
  const found: { body: Range; rescue: Range }[] = [];
  for (let at = 0; at < code.tokens.length; at++) {
    if (textAt(code, at) !== "try" || textAt(code, at + 1) !== "{") continue;
    const end = after(code, at + 1);
    if (!/^(?:catch|rescue)$/.test(textAt(code, end))) continue;
    const brace = textAt(code, end + 1) === "(" ? after(code, end + 1) : end + 1;
    if (textAt(code, brace) !== "{") continue;
    found.push({ body: inside(code, at + 1), rescue: inside(code, brace) });
  }
  return found;
}

/** Whether a call at this token makes the test fail. */
export type IsFailure = (code: Code, at: number) => boolean;

const throwing: IsFailure = (code, at) =>
  textAt(code, at) === "throw" ||
  (textAt(code, at) === "fail" && textAt(code, at + 1) === "(") ||
  (/^(?:unreachable)$/.test(textAt(code, at)) && textAt(code, at + 1) === "(");

/** `if (a !== b) throw …` asserts that a is b. */
export function failures(
  code: Code,
  isFailure: IsFailure = throwing,
  hasInitialisers = false,
): Check[] {
  const checks: Check[] = [];
  const seen = new Set<number>();
  for (let at = 0; at < code.tokens.length; at++) {
    if (code.tokens[at]?.kind !== "word" || !isFailure(code, at)) continue;
    const condition = conditionAround(code, at, hasInitialisers);
    if (!condition) {
      // Reaching this place is the failure.
      if (textAt(code, at) !== "throw") checks.push(unconditional(code, at));
      continue;
    }
    if (seen.has(condition.from)) continue;
    seen.add(condition.from);
    const range = { from: condition.from, to: condition.to };
    checks.push(...readCondition(code, condition, range, { negate: true, typed: false }));
  }
  return checks;
}

function unconditional(code: Code, at: number): Check {
  const range = { from: at, to: statementEnd(code, at) };
  return { range, strength: "exact", partial: true, negated: false, expected: "not reached" };
}

/** The condition of the `if` whose branch holds this token. */
function conditionAround(code: Code, at: number, hasInitialisers: boolean): Range | undefined {
  let start = at;
  while (/^(?:\.|->|::)$/.test(textAt(code, start - 1))) start -= 2;
  if (textAt(code, start - 1) === ")" && textAt(code, (code.pair[start - 1] ?? 0) - 1) === "if") {
    return inside(code, code.pair[start - 1] as number);
  }
  const brace = code.parent[at] ?? -1;
  if (brace < 0 || textAt(code, brace) !== "{") return undefined;
  if (textAt(code, brace - 1) === ")") {
    const open = code.pair[brace - 1] ?? 0;
    if (textAt(code, open - 1) === "if") return inside(code, open);
  }
  // Go and Rust write no brackets: back to the word, over whatever is bracketed.
  for (let back = brace - 1, steps = 0; back > 0 && steps < 60; back--, steps++) {
    const text = textAt(code, back);
    if (/^[)\]}]$/.test(text) && (code.pair[back] ?? -1) >= 0) {
      back = code.pair[back] as number;
      continue;
    }
    if (text === "if") {
      let from = back + 1;
      for (let each = from; each < brace; each = step(code, each))
        if (textAt(code, each) === ";") from = each + 1;
      return { from, to: brace };
    }
    if (/^[{}]$|^else$|=>/.test(text) || (text === ";" && !hasInitialisers)) return undefined;
  }
  return undefined;
}
