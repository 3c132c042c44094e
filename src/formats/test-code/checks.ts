/** Reads one assertion: what it looks at, what it compares that with, how much it says. */
import {
  argumentsAt,
  type Chain,
  chainAt,
  partsOf,
  type Segment,
  step,
  textAt,
  unwrapped,
} from "./chain.ts";
import { type Meaning, readName } from "./meaning.ts";
import type { Code, Range } from "./tokens.ts";

export interface Check {
  /** Where it stands, as tokens. */
  readonly range: Range;
  readonly strength: "exact" | "loose";
  readonly partial: boolean;
  readonly actual?: Range;
  /** Tokens, or a word for what is expected without a value. */
  readonly expected?: Range | string;
  /** The opposite of what is expected: `not.toBe(5)`. */
  readonly negated: boolean;
  /** Which side is the expected one is only known from which is a literal. */
  readonly sides?: "unknown";
  /** The function that is called for it, if that may be one of this file. */
  readonly callee?: string;
  /** Nothing can make it fail. */
  readonly idle?: boolean;
}

export interface CheckRules {
  /** A condition can only be a boolean, so that `assertTrue(x)` compares with true. */
  readonly typed: boolean;
  /** `assertEquals(expected, actual)`. */
  readonly expectedFirst: boolean;
}

const exact = (range: Range, more: Partial<Check>): Check => ({
  range,
  strength: "exact",
  partial: false,
  negated: false,
  ...more,
});

/** What a matcher of that name says of `actual`; `args` are those of the matcher. */
export function judged(
  range: Range,
  actual: Range | undefined,
  { name, args }: { name: string; args: readonly Range[] },
  code: Code,
): Check {
  const { meaning, negated } = readName(name);
  const [first] = args;
  const base = { ...(actual && { actual }), negated };
  const loose = (expected: string): Check =>
    exact(range, { ...base, strength: "loose", expected, negated: false });
  switch (meaning) {
    case "present":
      return first && actual
        ? exact(range, { ...base, partial: true, expected: first })
        : loose(negated ? "null" : "present");
    case "null":
      return negated ? loose("present") : exact(range, { ...base, expected: "null" });
    case "truthy":
      return loose(negated ? "falsy" : "truthy");
    case "falsy":
      return loose(negated ? "truthy" : "falsy");
    case "true":
    case "false":
      return exact(range, {
        ...base,
        expected: (meaning === "true") !== negated ? "true" : "false",
        negated: false,
      });
    case "kind":
      return loose("kind");
    case "called":
      if (/once/i.test(name)) return exact(range, { ...base, expected: "1" });
      return first
        ? exact(range, { ...base, expected: whole(args) })
        : loose(negated ? "uncalled" : "called");
    case "throws":
      if (negated) return loose("quiet");
      return first ? exact(range, { ...base, expected: whole(args) }) : loose("throws");
    case "empty":
      return exact(range, { ...base, expected: "empty", partial: negated });
    case "snapshot":
      return exact(range, { ...base, expected: first ? whole(args) : "snapshot" });
    case "equal":
      if (!first) return exact(range, { ...base, expected: "same", partial: true });
      if (isAnything(code, first)) return loose("present");
      if (isWide(code, { name, args: args.slice(1), value: first }))
        return exact(range, { ...base, partial: true, expected: roughly(code, first) });
      return exact(range, {
        ...base,
        expected: /with$/i.test(name) ? whole(args) : first,
        partial: negated,
      });
    case "part":
      return exact(range, {
        ...base,
        partial: true,
        expected: first ? whole(args) : name.toLowerCase(),
      });
  }
}

/** `expect.anything()`, `expect.any(String)`, `ANY`. */
const isAnything = (code: Code, { from, to }: Range): boolean => {
  const text = [textAt(code, from), textAt(code, from + 1), textAt(code, from + 2)].join("");
  return /^(?:expect\.any|mock\.ANY)/.test(text) || (to === from + 1 && text.startsWith("ANY"));
};

export const whole = (args: readonly Range[]): Range => ({
  from: args[0]?.from ?? 0,
  to: args.at(-1)?.to ?? 0,
});

/** Names in a fluent chain that look at something else instead of comparing. */
const passing =
  /^(?:as|describedAs|extracting\w*|using\w*|filteredOn\w*|first|last|element|singleElement|withFailMessage|overridingErrorMessage|because|resolves|rejects|eventually|soft|poll|each|sequence|withContext|ignoring\w*|returns|satisfies|asInstanceOf|And|Which|Subject|message)$/;

/** `expect(actual).a.b(c).d(e)`: each call after the root is a check of its own. */
export function readFluent(code: Code, chain: Chain, root: number): Check[] {
  const actualArgs = argumentsAt(code, chain.segments[root]?.args);
  const actual = actualArgs[0] && unwrapped(code, actualArgs[0]);
  return fluentChecks(code, chain, root, actual);
}

export function fluentChecks(
  code: Code,
  chain: Chain,
  root: number,
  actual: Range | undefined,
): Check[] {
  const checks: Check[] = [];
  let names: string[] = [];
  let wasCalled = false;
  const range = { from: chain.from, to: chain.to };
  for (const { name, args } of chain.segments.slice(root + 1)) {
    if (passing.test(name)) continue;
    if (args !== undefined && /^an?$/.test(name)) names.push("kind");
    if (name !== "") names.push(name);
    if (args === undefined) continue;
    wasCalled = true;
    const list = argumentsAt(code, args).map((each) => unwrapped(code, each));
    checks.push(
      ...trueOfCondition(
        code,
        range,
        judged(range, actual, { name: names.join("_"), args: list }, code),
      ),
    );
    names = [];
  }
  // Without a call only words such as chai's `to.be.true` check anything; `toBe` does not.
  const rest = names.join("_");
  if (rest !== "" && !names.some((name) => /^to[A-Z]/.test(name))) {
    const { known, meaning } = readName(rest);
    const says = known && meaning !== "equal" && meaning !== "part" && meaning !== "kind";
    if (says)
      checks.push(
        ...trueOfCondition(code, range, judged(range, actual, { name: rest, args: [] }, code)),
      );
  }
  return checks.length > 0 || wasCalled ? checks : [];
}

/** `expect(a === b).toBe(true)` compares a with b. */
function trueOfCondition(code: Code, range: Range, check: Check): Check[] {
  const { actual, expected } = check;
  if (!actual) return [check];
  const said = typeof expected === "string" ? expected : expected && textOf(code, expected);
  const holds = said === "true" || said === "truthy";
  const fails = said === "false" || said === "falsy";
  if (check.negated || (!holds && !fails) || !isComparison(code, actual)) return [check];
  return readCondition(code, actual, range, { negate: fails, typed: true });
}

const textOf = (code: Code, { from, to }: Range): string =>
  to === from + 1 ? textAt(code, from).toLowerCase() : "";

/** `assertEquals(a, b)`, `assert.deepEqual(a, b)`: the name says how, the arguments what. */
export function readNamed(
  code: Code,
  range: Range,
  { name, args }: { name: string; args: readonly Range[] },
  rules: CheckRules,
): Check[] {
  const { meaning, negated } = readName(name);
  const list = withoutMessage(code, args, meaning).map((each) => unwrapped(code, each));
  const [first, second] = list;
  if (!first) return [exact(range, { expected: name.toLowerCase(), partial: true })];
  switch (meaning) {
    case "true":
    case "truthy":
      return readCondition(code, first, range, {
        negate: negated,
        typed: rules.typed || meaning === "true",
      });
    case "false":
    case "falsy":
      return readCondition(code, first, range, {
        negate: !negated,
        typed: rules.typed || meaning === "false",
      });
    case "equal":
      if (!second)
        return [exact(range, { actual: first, expected: name.toLowerCase(), partial: true })];
      if (isAnything(code, first) || isAnything(code, second))
        return [judged(range, first, { name: "toBeDefined", args: [] }, code)];
      if (!negated && isWide(code, { name, args: list.slice(2), value: second })) {
        const [actual, expected] = rules.expectedFirst ? [second, first] : [first, second];
        return [exact(range, { actual, expected: roughly(code, expected), partial: true })];
      }
      return [
        exact(range, {
          actual: rules.expectedFirst ? second : first,
          expected: rules.expectedFirst ? first : second,
          negated,
          partial: negated,
          sides: "unknown",
        }),
      ];
    case "part": {
      if (!second)
        return [
          exact(range, { actual: first, expected: name.toLowerCase(), partial: true, negated }),
        ];
      const rest = whole(list.slice(1));
      return [
        exact(range, { actual: first, expected: rest, partial: true, negated, sides: "unknown" }),
      ];
    }
    case "throws": {
      if (negated) return [exact(range, { actual: first, strength: "loose", expected: "quiet" })];
      if (!second) return [exact(range, { actual: first, strength: "loose", expected: "throws" })];
      return [exact(range, { actual: first, expected: whole(list.slice(1)), sides: "unknown" })];
    }
    case "kind":
    case "snapshot":
    case "null":
    case "present":
    case "called":
    case "empty":
      return [judged(range, first, { name, args: list.slice(1) }, code)].map((check) =>
        meaning === "present"
          ? {
              ...check,
              strength: "loose" as const,
              partial: false,
              expected: negated ? "null" : "present",
            }
          : check,
      );
  }
}

interface Nearness {
  readonly name: string;
  /** What says how near is near enough. */
  readonly args: readonly Range[];
  readonly value: Range;
}

/** Whether a comparison of numbers is so rough that a wrong one would do as well. */
function isWide(code: Code, { name, args, value }: Nearness): boolean {
  const how = args.find(
    ({ to }) => code.tokens[to - 1]?.kind === "number" || /^[)\]]$/.test(textAt(code, to - 1)),
  );
  if (!how) return false;
  let at = how.to - 1;
  while (at > how.from && code.tokens[at]?.kind !== "number") at--;
  if (code.tokens[at]?.kind !== "number") return false;
  const isNegative = textAt(code, at - 1) === "-";
  const number = Number.parseFloat(textAt(code, at)) * (isNegative ? -1 : 1);
  const isPlaces = /^toBeCloseTo$/.test(name) || textAt(code, how.from) === "places";
  if (isPlaces) return number <= 0;
  return isFar(code, number, value);
}

function isFar(code: Code, distance: number, value: Range): boolean {
  const wanted = Number.parseFloat(textAt(code, value.to - 1));
  return Number.isNaN(wanted) || Number.isInteger(wanted)
    ? distance >= 0.5
    : distance > 0.01 * Math.max(1, Math.abs(wanted));
}

const roughly = (code: Code, { to }: Range): string => `roughly ${textAt(code, to - 1)}`;

const unary: ReadonlySet<Meaning> = new Set([
  "true",
  "false",
  "truthy",
  "falsy",
  "null",
  "present",
  "empty",
]);

/** JUnit 4 has its message first, others have it last. */
function withoutMessage(code: Code, args: readonly Range[], meaning: Meaning): readonly Range[] {
  const isText = (range: Range | undefined): boolean =>
    range !== undefined &&
    range.to === range.from + 1 &&
    code.tokens[range.from]?.kind === "string";
  if (unary.has(meaning))
    return args.length === 2 && isText(args[0]) && !isText(args[1])
      ? args.slice(1)
      : args.slice(0, 1);
  if (meaning !== "equal" || args.length < 3) return args;
  const isNumber = code.tokens[args[2]?.from ?? -1]?.kind === "number";
  return isText(args[0]) && !isText(args[2]) && !isNumber ? args.slice(1) : args;
}

const equalities = new Set(["==", "===", "!=", "!==", "is", "equals", "<=>", "eq", "ne"]);
const orders = new Set([
  "<",
  ">",
  "<=",
  ">=",
  "in",
  "=~",
  "!~",
  "instanceof",
  "!in",
  "!is",
  "matches",
]);

export function isComparison(code: Code, range: Range): boolean {
  const { from, to } = unwrapped(code, range);
  for (let at = from; at < to; at = step(code, at)) {
    const token = code.tokens[at];
    if (token && token.kind !== "string" && (equalities.has(token.text) || orders.has(token.text)))
      return at > from;
  }
  return false;
}

export interface ConditionRules {
  /** It has to be false. */
  readonly negate: boolean;
  readonly typed: boolean;
}

/** A condition that has to hold: each part of a conjunction is a check of its own. */
export function readCondition(
  code: Code,
  where: Range,
  range: Range,
  rules: ConditionRules,
): Check[] {
  let { negate } = rules;
  let condition = unwrapped(code, where);
  while (
    /^(?:!|not)$/.test(textAt(code, condition.from)) &&
    code.tokens[condition.from]?.kind !== "string"
  ) {
    const rest = unwrapped(code, { from: condition.from + 1, to: condition.to });
    // `!a == b` negates the whole only where it stands before a bracket or in words.
    if (
      topLevel(code, rest, (text) => joins.has(text) || ors.has(text)) !== -1 &&
      rest.from === condition.from + 1
    )
      break;
    if (
      textAt(code, condition.from) === "!" &&
      isComparison(code, rest) &&
      rest.from === condition.from + 1
    )
      break;
    negate = !negate;
    condition = rest;
  }
  const and = negate ? ors : joins;
  const parts = partsOf(code, condition, ...and);
  if (parts.length > 1 && parts.length < 50) {
    return parts.flatMap((part) => readCondition(code, part, range, { ...rules, negate }));
  }
  const either = partsOf(code, condition, ...(negate ? joins : ors));
  if (either.length > 1) {
    const idle = either.some((part) => isTrue(textOf(code, unwrapped(code, part)), !negate));
    return [
      exact(range, {
        actual: condition,
        expected: negate ? "false" : "true",
        partial: true,
        ...(idle && { idle }),
      }),
    ];
  }
  return [comparison(code, condition, range, { ...rules, negate })];
}

const joins = new Set(["&&", "and"]);
const ors = new Set(["||", "or"]);

const isTrue = (text: string, wanted: boolean): boolean =>
  wanted ? text === "true" || text === "1" : text === "false" || text === "0";

function topLevel(code: Code, { from, to }: Range, is: (text: string) => boolean): number {
  for (let at = from; at < to; at = step(code, at)) {
    if (code.tokens[at]?.kind !== "string" && is(textAt(code, at))) return at;
  }
  return -1;
}

function comparison(
  code: Code,
  condition: Range,
  range: Range,
  { negate, typed }: ConditionRules,
): Check {
  let at = topLevel(code, condition, (text) => equalities.has(text));
  if (at <= condition.from) at = topLevel(code, condition, (text) => orders.has(text));
  if (at <= condition.from || at >= condition.to - 1)
    return bare(code, condition, range, { negate, typed });
  const operator = textAt(code, at);
  const isNot = textAt(code, at + 1) === "not" && operator === "is";
  const wasNot = textAt(code, at - 1) === "not" && operator === "in";
  const actual = unwrapped(code, { from: condition.from, to: wasNot ? at - 1 : at });
  const expected = unwrapped(code, { from: isNot ? at + 2 : at + 1, to: condition.to });
  if (/instanceof|^!?is$/.test(operator) && operator !== "is") {
    return exact(range, { actual, strength: "loose", expected: "kind" });
  }
  // In `"a" in text` the text is looked at, in `x in (1, 2)` the x: whichever is no literal.
  if (operator === "in") {
    const negated = negate !== wasNot;
    return exact(range, { actual, expected, partial: true, negated, sides: "unknown" });
  }
  if (orders.has(operator)) {
    const near = negate ? undefined : distanceCheck(code, { condition, at, range });
    if (near) return near;
    return exact(range, {
      actual,
      expected: { from: at, to: condition.to },
      partial: true,
      negated: negate !== wasNot,
    });
  }
  const differs = (/^(?:!==?|ne)$/.test(operator) || isNot) !== negate;
  const sides = [actual, expected].map((side) => textOf(code, side));
  if (sides.some((side) => /^(?:null|none|nil|undefined|nullptr)$/.test(side))) {
    const looked = /^(?:null|none|nil|undefined|nullptr)$/.test(sides[0] ?? "") ? expected : actual;
    return differs
      ? exact(range, { actual: looked, strength: "loose", expected: "present" })
      : exact(range, { actual: looked, expected: "null" });
  }
  if (textAt(code, actual.from) === "typeof" || /^type$/.test(textAt(code, actual.from))) {
    return exact(range, { actual, strength: "loose", expected: "kind" });
  }
  return exact(range, { actual, expected, negated: differs, partial: differs, sides: "unknown" });
}

/** `abs(a - b) < c` compares a with b. */
function distanceCheck(
  code: Code,
  { condition, at, range }: { condition: Range; at: number; range: Range },
): Check | undefined {
  if (!/^<=?$/.test(textAt(code, at)) || code.tokens[at + 1]?.kind !== "number") return undefined;
  const isMethod = textAt(code, at - 3) === "abs" && textAt(code, condition.from) === "(";
  const open = isMethod ? condition.from : (code.pair[at - 1] ?? -1);
  if (!isMethod && !/^f?abs$/i.test(textAt(code, open - 1))) return undefined;
  const parts = partsOf(code, { from: open + 1, to: code.pair[open] ?? open + 1 }, "-");
  const [actual, expected] = parts.map((each) => unwrapped(code, each));
  if (parts.length !== 2 || !actual || !expected || actual.to <= actual.from) return undefined;
  const distance = Number.parseFloat(textAt(code, at + 1));
  const [left, right] =
    code.tokens[actual.from]?.kind === "number" ? [expected, actual] : [actual, expected];
  return isFar(code, distance, right)
    ? exact(range, { actual: left, expected: roughly(code, right), partial: true })
    : exact(range, { actual: left, expected: right });
}

const presences =
  /^(?:is_?(?:some|ok|none|err|present|null|defined|error|instance|array|function|object)(?:_?or_?null)?|isinstance|hasattr|callable|has_value|IsNullOrEmpty|isNull|respond_to|nonNull|is_a|kind_of|instance_of|any|present)[?]?$/i;
const predicates =
  /^(?:is|has|starts?_?with|ends?_?with|includes?|contains?|match|matches|test|every|some|all|equals?|DeepEqual|Equal|exists?|can|should|valid|was|are|eq|does|did|will|issubset|isdisjoint|allclose|array_equal|approx_eq)(?:$|_|[A-Z?]|with)/;

/** A value that has to be true by itself. */
function bare(
  code: Code,
  condition: Range,
  range: Range,
  { negate, typed }: ConditionRules,
): Check {
  const start = /^(?:new|&|\*)$/.test(textAt(code, condition.from))
    ? condition.from + 1
    : condition.from;
  const chain: Chain | undefined =
    code.tokens[start]?.kind === "word" ? chainAt(code, start) : undefined;
  const isAll = chain !== undefined && chain.to >= condition.to;
  const last: Segment | undefined = isAll ? chain.segments.at(-1) : undefined;
  const name = last?.name ?? "";
  if (/^matches$/.test(name) && textAt(code, start + 1) === "!") {
    const [actual, expected] = argumentsAt(code, last?.args);
    if (actual && expected)
      return exact(range, { actual, expected, negated: negate, partial: negate });
  }
  if (presences.test(name))
    return exact(range, {
      actual: condition,
      strength: "loose",
      expected: negate ? "falsy" : "present",
    });
  const args = argumentsAt(code, last?.args);
  if (/^(?:DeepEqual|Equal|equals?|eq|array_equal|isEqual)$/.test(name) && args.length > 0) {
    const [first, second] = args as [Range, Range?];
    const receiver = { from: condition.from, to: lastLink(code, chain, condition) };
    return exact(
      range,
      second
        ? { actual: first, expected: second, negated: negate, partial: negate, sides: "unknown" }
        : { actual: receiver, expected: first, negated: negate, partial: negate, sides: "unknown" },
    );
  }
  if (typed || (last?.args !== undefined && predicates.test(name))) {
    return exact(range, {
      actual: condition,
      expected: negate ? "false" : "true",
      partial: !typed,
    });
  }
  return exact(range, {
    actual: condition,
    strength: "loose",
    expected: negate ? "falsy" : "truthy",
  });
}

/** Where the last name of a chain is linked to what stands before it. */
function lastLink(code: Code, chain: Chain | undefined, { from, to }: Range): number {
  const open = chain?.segments.at(-1)?.args ?? to;
  return Math.max(from + 1, Math.min(open - 2, code.tokens.length));
}
