/** C and C++: GoogleTest, Catch2, doctest, Boost.Test, cmocka, plain `assert`. */
import { parser } from "@lezer/cpp";
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
  textAt,
} from "./chain.ts";
import { type Check, judged, readCondition, readNamed, whole } from "./checks.ts";
import { assemble, type Block, type FoundFunction, type Skip } from "./outline.ts";
import { render } from "./render.ts";
import { type Code, type Range, tokensOfTree } from "./tokens.ts";

export function read(raw: string): TestCode | undefined {
  const text = withoutDisabled(raw);
  const code = tokensOfTree(parser.parse(text), text, {
    leaveOut: (name) => name === "PreprocDirective",
  });
  if (code.errors > 2 + code.tokens.length / 5) return undefined;
  const tests: Block[] = [];
  const functions: FoundFunction[] = [];
  const checks: Check[] = [...failures(code, isFailure)];
  const skips: Skip[] = [];
  const ends: number[] = [];
  for (let at = 0; at < code.tokens.length; at++) {
    if (code.tokens[at]?.kind !== "word") continue;
    if (textAt(code, at) === "return") ends.push(at);
    const test = testAt(code, at);
    if (test) tests.push(test);
    else {
      const found = functionAt(code, at);
      if (found && /^test_|_test$|^Test[A-Z_]/.test(found.name))
        tests.push({ title: found.name, whole: found.whole, body: found.body });
      else if (found) functions.push(found);
    }
    if (
      /^(?:GTEST_SKIP|SKIP|TEST_IGNORE|TEST_IGNORE_MESSAGE|skip)$/.test(textAt(code, at)) &&
      textAt(code, at + 1) === "("
    )
      skips.push({ at });
    else if (beginsChain(code, at)) checks.push(...checksAt(code, chainAt(code, at)));
  }
  const outline = {
    suites: [],
    tests,
    functions,
    checks,
    skips,
    ends,
    dead: deadBranches(code),
    tries: tries(code),
    muted: mutedMacros(text),
  };
  return assemble(code, outline, { constantsOnly: true });
}

/** Assertions that the preprocessor makes nothing of. */
const mutedMacros = (text: string): string[] =>
  [
    ...text.matchAll(
      /^[ \t]*#[ \t]*define[ \t]+((?:EXPECT|ASSERT|CHECK|REQUIRE)\w*|assert)\b([^\n]*)/gm,
    ),
  ]
    .filter(([, , body = ""]) => !/EXPECT|ASSERT|CHECK|REQUIRE|assert|abort|throw|fail/i.test(body))
    .map(([, name = ""]) => name);

/** `#if 0 … #endif` is a comment, whatever stands in it. */
function withoutDisabled(text: string): string {
  if (!/^[ \t]*#[ \t]*if[ \t]+(?:0|false)\b/m.test(text)) return text;
  let depth = 0;
  let off = 0;
  return text
    .split("\n")
    .map((line) => {
      const word = /^[ \t]*#[ \t]*(if|ifdef|ifndef|else|elif|endif)\b[ \t]*(\S*)/.exec(line);
      if (word?.[1]?.startsWith("if")) {
        depth++;
        if (off === 0 && word[1] === "if" && /^(?:0|false)$/.test(word[2] ?? "")) off = depth;
      } else if (word && off === depth && word[1] !== "if") off = 0;
      if (word?.[1] === "endif") depth = Math.max(0, depth - 1);
      return off > 0 ? "" : line;
    })
    .join("\n");
}

const named = /^(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|FRIEND_TEST)$/;
const titled =
  /^(?:TEST_CASE|SCENARIO|SECTION|SUBCASE|TEST_CASE_METHOD|TEST_CASE_FIXTURE|GIVEN|WHEN|THEN|BOOST_AUTO_TEST_CASE|BOOST_FIXTURE_TEST_CASE|TEMPLATE_TEST_CASE|CTEST|UTEST)$/;

function testAt(code: Code, at: number): Block | undefined {
  const macro = textAt(code, at);
  if ((!named.test(macro) && !titled.test(macro)) || textAt(code, at + 1) !== "(") return undefined;
  let brace = after(code, at + 1);
  // Boost's decorators: `* boost::unit_test::disabled()`.
  const decorators = brace;
  for (let steps = 0; steps < 30 && /^[*:.()]|^\w|^::/.test(textAt(code, brace)); steps++) {
    brace = textAt(code, brace) === "(" ? after(code, brace) : brace + 1;
  }
  if (textAt(code, brace) !== "{") return undefined;
  const args = argumentsAt(code, at + 1).map((each) =>
    render(code, each).join(" ").replace(/^"|"$/g, ""),
  );
  const title = (
    named.test(macro) ? args.slice(0, 2) : args.slice(/_METHOD$|_FIXTURE$/.test(macro) ? 1 : 0)
  )
    .slice(0, named.test(macro) ? 2 : 1)
    .join(" › ");
  const said = render(code, { from: decorators, to: brace }).join(" ");
  return {
    title: title.replace(/\bDISABLED_/g, ""),
    whole: { from: at, to: after(code, brace) },
    body: inside(code, brace),
    skipped:
      /\bDISABLED_/.test(title) ||
      /\bdisabled \(|skip \( (?:true)? ?\)|should_fail/.test(said) ||
      args.slice(1).some((each) => /\[\.|\[!(?:shouldfail|mayfail)/.test(each)),
  };
}

function functionAt(code: Code, at: number): FoundFunction | undefined {
  if (
    textAt(code, at + 1) !== "(" ||
    /^(?:if|for|while|switch|catch|return|sizeof)$/.test(textAt(code, at))
  )
    return undefined;
  const before = code.tokens[at - 1];
  const isTyped =
    before &&
    (before.kind === "word"
      ? !/^(?:return|else|new|throw|case)$/.test(before.text)
      : /^(?:[>*&]|::)$/.test(before.text));
  const brace = after(code, at + 1);
  if (!isTyped || textAt(code, brace) !== "{") return undefined;
  const parameters = argumentsAt(code, at + 1).map(({ to }) => textAt(code, to - 1));
  return {
    name: textAt(code, at),
    parameters,
    whole: { from: at, to: after(code, brace) },
    body: inside(code, brace),
  };
}

const isFailure = (code: Code, at: number): boolean =>
  /^(?:FAIL|ADD_FAILURE|BOOST_FAIL|BOOST_ERROR|abort|exit|TEST_FAIL)$/.test(textAt(code, at)) &&
  textAt(code, at + 1) === "(";

const rules = { typed: true, expectedFirst: false };

function checksAt(code: Code, chain: Chain): Check[] {
  const { segments, from, to } = chain;
  const last = segments.at(-1);
  if (segments.length > 2 || last?.args === undefined) return [];
  const { name } = last;
  const range = { from, to };
  const args = argumentsAt(code, last.args);
  const [first] = args;
  if (!first) return [];
  const condition = (negate: boolean): Check[] =>
    readCondition(code, first, range, { negate, typed: true });
  if (
    /^(?:assert|static_assert|REQUIRE|CHECK|REQUIRE_MESSAGE|CHECK_MESSAGE|WARN|BOOST_TEST|BOOST_CHECK|BOOST_REQUIRE|BOOST_ASSERT|TEST_ASSERT|ck_assert|assert_true)$/.test(
      name,
    )
  )
    return condition(false);
  if (/^(?:REQUIRE_FALSE|CHECK_FALSE|assert_false)$/.test(name)) return condition(true);
  if (name.endsWith("_THAT")) return thatCheck(code, range, args);
  const isMacro =
    /^(?:EXPECT|ASSERT|REQUIRE|CHECK|BOOST_CHECK|BOOST_REQUIRE|TEST_ASSERT|ck_assert|CU_ASSERT|munit_assert|assert)_\w+$/.test(
      name,
    );
  if (!isMacro && !(/^(?:check|verify|expect)_/.test(name) && beginsStatement(code, from)))
    return [];
  const plain = name
    .replace(/^(?:BOOST_|TEST_|ck_|CU_|munit_)/, "")
    .replace(/_INT|_STRING|_int|_string|_ptr|_memory/, "")
    .replace(/_THROWS(?:_AS|_WITH|_MATCHES)?$|_THROW$/, "_THROWS")
    .replace("_NOTHROW", "_NO_THROW")
    .replace("_NO_THROWS", "_NO_THROW");
  return readNamed(code, range, { name: plain, args }, rules).map((check) => ({
    ...check,
    callee: name,
  }));
}

/** gmock's `EXPECT_THAT(actual, Eq(5))`. */
function thatCheck(code: Code, range: Range, [actual, matcher]: readonly Range[]): Check[] {
  if (!actual || !matcher) return [];
  const chain =
    code.tokens[matcher.from]?.kind === "word" ? chainAt(code, matcher.from) : undefined;
  const last = chain?.segments.at(-1);
  const args = argumentsAt(code, last?.args);
  return [
    judged(
      range,
      actual,
      {
        name: last?.name ?? "eq",
        args: last?.args === undefined ? [matcher] : args.length > 0 ? [whole(args)] : [],
      },
      code,
    ),
  ];
}
