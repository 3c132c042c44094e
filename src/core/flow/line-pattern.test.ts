import { describe, expect, it } from "vitest";
import { builtInFlows } from "./flows/index.ts";
import { linePattern, patternFault } from "./line-pattern.ts";

const native = (source: string, text: string): boolean => new RegExp(source, "imu").test(text);

/** The same numbers each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("a line pattern finds what RegExp finds", () => {
  const texts = [
    "",
    "skipped: no user interface\n",
    "**Component**: Blackbox Tests\r\n**Epic**: none",
    "confirmed_by_user: true\nother: 1",
    "  confirmed_by_user:\ttrue  ",
    "Ärger über 3 Größen, straße, 日本語 🙂",
    "a front-end, a frontend and FRONT-END",
    "aaa\nbbb\n\nccc",
    "K is the Kelvin sign, ſ a long s",
    "path/to/file.md [x] (y) {z} $5 ^6 | \\",
  ];
  it.each([
    "^skipped:",
    "^\\*\\*(?:Component|Epic)\\*\\*:.*\\bBlackbox Tests\\b",
    "^confirmed_by_user:[ \\t]*true[ \\t]*\\r?$",
    "front-?end|web page",
    "\\bfront-?end\\b",
    "^$",
    "",
    "a{2}b|a{3}$",
    "b{2,}\\n\\nc{1,2}",
    "[^a-z\\s]{3,5}?",
    "(?:gr|str)(?:ö|a)ß(?:en|e)",
    "\\p{Script=Han}+\\s",
    "\\u{1F642}|\\ud83d\\ude42$",
    "\\x5bx\\x5d",
    "[\\]x\\[]+",
    "k is|\\w{3} s$",
    "\\Bront",
    "\\d+ gr",
    "(a|b|)+c",
    "((a*)*)*$",
    ".",
    "\\$5 \\^6 \\| \\\\$",
    "[\\s\\S]z",
  ])("%s", (source) => {
    expect(patternFault(source)).toBeUndefined();
    const pattern = linePattern(source);
    for (const text of texts) expect(pattern.test(text), text).toBe(native(source, text));
  });

  it("whatever is made of its parts", () => {
    const next = numbers(83);
    const one = (from: readonly string[]): string => from[next(from.length)] as string;
    const make = (depth: number): string => {
      const part = depth > 0 && next(3) === 0 ? `(?:${make(depth - 1)})` : one(atoms);
      const more = next(2) === 0 ? "" : make(depth);
      return `${part}${/^[\^$]$|^\\b$/i.test(part) ? "" : one(signs)}${one(["", "", "|"])}${more}`;
    };
    const atoms = ["a", "b", ".", "[ab]", "[^a]", "\\w", "\\s", "^", "$", "\\b", "\\B", "\\n"];
    const signs = ["", "", "", "*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"];
    for (let round = 0; round < 3000; round++) {
      const source = make(2);
      if (patternFault(source) !== undefined) continue;
      const text = Array.from({ length: next(9) }, () => one(["a", "b", "A", " ", "\n"])).join("");
      expect(linePattern(source).test(text), `${source} in ${JSON.stringify(text)}`).toBe(
        native(source, text),
      );
    }
  });
});

describe("a line pattern takes no longer than the text is long", () => {
  const long = "a".repeat(100_000);
  const next = numbers(14);
  const mixed = Array.from({ length: 100_000 }, () => "ax"[next(2)]).join("");
  it.each([
    ["(?:a+)+$", `${long}!`],
    ["^(?:a|a|aa)*b", long],
    ["(?:a*)*(?:a*)*(?:a*)*c", long],
    [".*.*.*.*.*.*=", long],
    ["(?:.{0,10}a){12}b", mixed],
    ["a.{250}b", mixed],
    [`${"a?".repeat(90)}${"a".repeat(90)}b`, long],
  ])("%s", (source, text) => {
    expect(patternFault(source)).toBeUndefined();
    const began = performance.now();
    expect(linePattern(source).test(text)).toBe(false);
    // It takes tenths of a second; RegExp would take years for most of these.
    expect(performance.now() - began).toBeLessThan(20_000);
  });
});

describe("what is not understood is told", () => {
  it.each([
    ["(", /unterminated group/],
    ["[a", /unterminated/],
    ["a{2,1}", /out of order/],
    ["*", /nothing to repeat/],
    ["(?=a)b", /only \(\?:/],
    ["(?<!a)b", /only \(\?:/],
    ["(?<name>a)", /only \(\?:/],
    ["(a)\\1", /references back/],
    ["a{1000}", /too large/],
    ["(?:(?:a{20}){20}){20}", /too large/],
    ["a{9007199254740993}", /too large/],
    ["(?:a{0,400}){0,400}", /too large/],
    [`${"(?:".repeat(40)}${"){300}".repeat(40)}`, /too large/],
    [`${"(?:".repeat(40)}${"){0,2}".repeat(40)}`, /too large/],
    [`${"(?:".repeat(60)}${"){2}".repeat(60)}`, /too large/],
  ])("%s", (source, why) => {
    expect(patternFault(source)).toMatch(why);
    expect(() => linePattern(source)).toThrow(why);
  });

  it("and none of it is in our own flows", () => {
    const sources = [...JSON.stringify(builtInFlows).matchAll(/"says":("(?:\\.|[^"\\])*")/g)].map(
      ([, text = '""']) => JSON.parse(text) as string,
    );
    expect(sources.length).toBeGreaterThan(8);
    expect(sources.filter((source) => patternFault(source) !== undefined)).toEqual([]);
  });
});
