/** PHP: PHPUnit and Pest. */
import { parser } from "@lezer/php";
import type { TestCode } from "../../core/test-code.ts";
import { deadBranches, failures, tries } from "./braces.ts";
import {
  after,
  argumentsAt,
  beginsChain,
  beginsStatement,
  type Chain,
  chainAt,
  inside,
  partsOf,
  statementEnd,
  step,
  textAt,
} from "./chain.ts";
import { type Check, readFluent, readNamed, whole } from "./checks.ts";
import { type Declared, declarationsIn } from "./methods.ts";
import { assemble, type Block, type FoundFunction, type Skip } from "./outline.ts";
import { type Code, type Range, tokensOfTree } from "./tokens.ts";

export function read(text: string): TestCode | undefined {
  const code = tokensOfTree(parser.parse(text), text);
  if (code.errors > 2 + code.tokens.length / 10) return undefined;
  const suites: Block[] = [];
  const tests: Block[] = [];
  const functions: FoundFunction[] = [];
  for (const each of declarationsIn(code)) {
    if (each.is === "class") suites.push({ title: each.name, whole: each.whole, body: each.body });
    else if (isTest(code, each)) tests.push(blockOf(code, each));
    else functions.push(each);
  }
  const checks: Check[] = [
    ...failures(code, (all, at) => textAt(all, at) === "fail" && textAt(all, at + 1) === "("),
  ];
  const skips: Skip[] = [];
  const ends: number[] = [];
  for (let at = 0; at < code.tokens.length; at++) {
    if (textAt(code, at) === "return") ends.push(at);
    if (!beginsChain(code, at)) continue;
    const chain = chainAt(code, at);
    const pest = pestAt(code, chain);
    if (pest) (pest.isSuite ? suites : tests).push(pest.block);
    else if (
      /^markTest(?:Skipped|Incomplete)$|^markAsRisky$/.test(chain.segments.at(-1)?.name ?? "")
    )
      skips.push({ at });
    else checks.push(...checksAt(code, chain));
  }
  const outline = {
    suites,
    tests,
    functions,
    checks,
    skips,
    ends,
    dead: deadBranches(code),
    tries: tries(code),
  };
  return assemble(code, outline, { constantsOnly: true });
}

const isTest = (code: Code, { name, annotations, whole: all, words }: Declared): boolean =>
  words.includes("function") &&
  (/^test/i.test(name) ||
    annotations.some((each) => each.name === "Test") ||
    commentOf(code, all).includes("@test"));

/** The comment right above a method. */
const commentOf = (code: Code, { from }: Range): string =>
  code.comments.findLast(({ before }) => before === from)?.text ?? "";

function blockOf(code: Code, { name, annotations, whole: all, body }: Declared): Block {
  const rows = annotations
    .filter((each) => each.name === "TestWith")
    .map(({ args }) => whole(args));
  const conditional =
    annotations.some((each) => each.name.startsWith("Requires")) ||
    commentOf(code, all).includes("@requires");
  return { title: name, whole: all, body, conditional, ...(rows.length > 0 && { rows }) };
}

/** `it("adds", function () { … })->skip()`. */
function pestAt(
  code: Code,
  { segments, from, to }: Chain,
): { isSuite: boolean; block: Block } | undefined {
  const [root, ...rest] = segments;
  if (!/^(?:it|test|describe|todo|arch)$/.test(root?.name ?? "") || root?.args === undefined)
    return undefined;
  const [title, fn] = argumentsAt(code, root.args);
  if (!title || code.tokens[title.from]?.kind !== "string") return undefined;
  const names = rest.map(({ name }) => name);
  const table = rest.find(({ name }) => name === "with");
  const [list] = argumentsAt(code, table?.args);
  const rows =
    list && textAt(code, list.from) === "["
      ? partsOf(code, inside(code, list.from), ",")
      : undefined;
  const skip = rest.find(({ name }) => name === "skip");
  const [condition] = argumentsAt(code, skip?.args);
  const isConditional =
    condition !== undefined &&
    code.tokens[condition.from]?.kind !== "string" &&
    textAt(code, condition.from) !== "true";
  const body = fn ? functionBody(code, fn) : undefined;
  return {
    isSuite: root.name === "describe",
    block: {
      title: textAt(code, title.from).slice(1, -1),
      whole: { from, to },
      body: body ?? { from: title.to, to: fn ? fn.to : title.to },
      skipped:
        !fn ||
        (skip !== undefined && !isConditional) ||
        names.includes("todo") ||
        names.includes("fails"),
      conditional: isConditional || names.some((name) => /^(?:skipOn|onlyOn)/.test(name)),
      focused: names.includes("only"),
      ...(rows && { rows }),
    },
  };
}

function functionBody(code: Code, { from, to }: Range): Range | undefined {
  for (let at = from; at < to; at = step(code, at)) {
    if (textAt(code, at) === "{") return inside(code, at);
    if (textAt(code, at) === "=>") return { from: at + 1, to };
  }
  return undefined;
}

const rules = { typed: true, expectedFirst: true };

function checksAt(code: Code, chain: Chain): Check[] {
  const { segments, from, to } = chain;
  const range = { from, to };
  const root = segments[0]?.name ?? "";
  if (root === "expect" && segments[0]?.args !== undefined) return readFluent(code, chain, 0);
  const at = segments.findIndex(
    ({ name, args }) =>
      args !== undefined &&
      /^(?:assert|expectException|expect[A-Z]|check[A-Z]|verify[A-Z])/.test(name),
  );
  const call = segments[at];
  if (!call || at > 2) return [];
  const args = argumentsAt(code, call.args);
  if (call.name.startsWith("expectException")) {
    const end = statementEnd(code, to);
    const block = code.parent[from] ?? -1;
    const actual = { from: end, to: block < 0 ? end : Math.max(end, after(code, block) - 1) };
    return [
      { range, strength: "exact", partial: false, negated: false, actual, expected: whole(args) },
    ];
  }
  const isOwn = /^(?:\$this|self|static)$/.test(root) || at === 0;
  if (!call.name.startsWith("assert") && !(isOwn && beginsStatement(code, from))) return [];
  if (at > 0 && !isOwn && !/^(?:Assert|\w*Assert)$/.test(root)) {
    // `$response->assertStatus(200)`.
    const actual = { from, to: Math.max(from + 1, (call.args ?? from) - 2) };
    return segments.slice(at).flatMap(({ name, args: open }): Check[] =>
      open === undefined || !name.startsWith("assert")
        ? []
        : [
            {
              range,
              strength: "exact",
              partial: false,
              negated: false,
              actual,
              expected: argumentsAt(code, open).length > 0 ? whole(argumentsAt(code, open)) : name,
            },
          ],
    );
  }
  const name = call.name;
  const ordered =
    /^assert(?:InstanceOf|Count|Contains|StringContains\w*|ArrayHasKey|MatchesRegularExpression|GreaterThan\w*|LessThan\w*)$/.test(
      name,
    )
      ? [args[1], args[0]].filter((each) => each !== undefined)
      : args;
  return readNamed(
    code,
    range,
    { name: name === "assert" ? "assertTrue" : name, args: ordered },
    rules,
  ).map((check) => (isOwn ? { ...check, callee: name } : check));
}
