import { describe, expect, it } from "vitest";
import { corpusClock, quiet, troubles } from "./trouble.corpus.ts";
import { troubleAsAnswer, troubleIn } from "./trouble.ts";

/**
 * How many ways a backtracking engine can take through a pattern from one place, at the most. A
 * bound by the pattern's shape and not by a clock: a text, however long and however mean, costs no
 * more than this for each of its places.
 */
function ways(source: string): number {
  let at = 0;
  const alternatives = (): number => {
    let all = sequence();
    while (source[at] === "|") {
      at++;
      all += sequence();
    }
    return all;
  };
  const sequence = (): number => {
    let all = 1;
    while (at < source.length && source[at] !== "|" && source[at] !== ")") all *= repeated();
    return all;
  };
  const repeated = (): number => {
    const once = atom();
    const rest = source.slice(at);
    if (/^[*+]/.test(rest) || /^\{\d+,\}/.test(rest)) return Number.POSITIVE_INFINITY;
    const range = /^\{(\d+)(?:,(\d+))?\}\??/.exec(rest);
    if (range) {
      at += range[0].length;
      const [least, most] = [Number(range[1]), Number(range[2] ?? range[1])];
      if (once > 1 && most > 1) return Number.POSITIVE_INFINITY;
      return most - least + 1;
    }
    if (rest.startsWith("?")) {
      at += 1;
      return once + 1;
    }
    return once;
  };
  const atom = (): number => {
    const char = source[at++];
    if (char === "\\") {
      at += source[at] === "u" ? 5 : 1;
      return 1;
    }
    if (char === "[") {
      while (source[at] !== "]") at += source[at] === "\\" ? 2 : 1;
      at++;
      return 1;
    }
    if (char !== "(") return 1;
    at += /^\?(?:[:=!]|<[=!])/.exec(source.slice(at))?.[0].length ?? 0;
    const inside = alternatives();
    at++;
    return inside;
  };
  const all = alternatives();
  if (at !== source.length) throw new Error(`not understood at ${at}: ${source}`);
  return all;
}

/** Every pattern that is asked while this is done, with how many characters it was asked about. */
function asked(work: () => void): Map<string, number> {
  const seen = new Map<string, number>();
  const { exec } = RegExp.prototype;
  // All other ways to ask a pattern go through this one; it is put back before anybody else runs.
  const shared: object = RegExp.prototype;
  const put = (value: typeof exec): void => {
    Object.defineProperty(shared, "exec", { value, writable: true, configurable: true });
  };
  put(function (this: RegExp, text: string) {
    seen.set(this.source, (seen.get(this.source) ?? 0) + text.length + 1);
    return exec.call(this, text);
  });
  try {
    work();
  } finally {
    put(exec);
  }
  return seen;
}

describe("the patterns", () => {
  const all = asked(() => {
    for (const row of [...troubles, ...quiet]) {
      troubleIn(row, corpusClock);
      troubleAsAnswer(row.text, corpusClock);
    }
  });

  it("are all known here", () => {
    expect(all.size).toBeGreaterThan(70);
  });

  it.each([...all.keys()])("have a bound for every place of a text: %s", (source) => {
    expect(ways(source)).toBeLessThan(200_000);
  });

  it("are asked no more of a megabyte than of a hundred kilobytes", () => {
    for (const piece of ["Error: {\n", "You've hit your limit · resets ", "a\n"]) {
      const [less, more] = [100_000, 1_000_000].map((size) => {
        const text = piece.repeat(size / 100_000).repeat(Math.ceil(100_000 / piece.length));
        const times = asked(() => {
          troubleIn({ text }, corpusClock);
          troubleAsAnswer(text, corpusClock);
        });
        return [...times.values()].reduce((a, b) => a + b, 0);
      });
      expect(more, piece).toBeLessThanOrEqual((less ?? 0) * 1.1);
    }
  });

  it.each([
    ["a+", Number.POSITIVE_INFINITY],
    ["(?:a{1,3}b?){2,4}", Number.POSITIVE_INFINITY],
    ["a{2,}", Number.POSITIVE_INFINITY],
    ["a{0,3}(?:b|c)?d", 12],
    ["[a+*]{1,2}\\+", 2],
  ])("are counted rightly: %s", (source, expected) => {
    expect(ways(source)).toBe(expected);
  });
});
