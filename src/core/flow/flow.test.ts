import { describe, expect, it } from "vitest";
import { globOf, holds, type Probe, type Survey } from "./flow.ts";

describe("a pattern of paths", () => {
  const table: [string, string, boolean][] = [
    ["a.md", "a.md", true],
    ["a.md", "aXmd", false],
    ["*.md", "a.md", true],
    ["*.md", "b/a.md", false],
    ["*/a.md", "b/a.md", true],
    ["*/a.md", "b/c/a.md", false],
    ["r_*_cycle{cycle}.md", "r_login_cycle3.md", true],
    ["r_*_cycle{cycle}.md", "r_login_cycle4.md", false],
    ["*a*b*c", "xaybzc", true],
    ["*a*b*c", "aabbcc", true],
    ["*a*b*c", "bac", false],
    ["*ab*ab", "ab", false],
    ["*ab*ab", "abab", true],
    ["a*a", "a", false],
    ["a**b", "ab", true],
    ["*", "", true],
    ["x/*1*1/y*", "x/101/y", true],
    ["d(1)/[x]+.md", "d(1)/[x]+.md", true],
  ];
  it.each(table)("%s and %s: %s", (glob, path, fits) => {
    expect(globOf(glob, { cycle: 3 }).test(path)).toBe(fits);
  });

  it("takes no longer than the path is long, whatever it looks like", () => {
    const name = "a".repeat(250);
    const [segment, began] = [`${"*a".repeat(100)}*b`, performance.now()];
    expect(globOf([segment, segment].join("/"), { cycle: 1 }).test(`${name}/${name}`)).toBe(false);
    expect(globOf("*a*/*a*/*a*/*a*/*a*/b", { cycle: 1 }).test(`${name}/`.repeat(5))).toBe(false);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});

describe("a probe", () => {
  const survey: Survey = {
    docs: new Map([
      ["empty.md", 0],
      ["full.md", 5],
      ["folder/.keep", 0],
      ["notes/retro_2026-03-05.md", 9],
    ]),
    texts: new Map([["full.md", "one\nSkipped: two\n"]]),
    hasSource: false,
    members: 0,
  };
  const table: [Probe, boolean][] = [
    [{ exists: "empty.md" }, true],
    [{ filled: "empty.md" }, false],
    [{ filled: "*.md" }, true],
    [{ folder: "folder" }, false],
    [{ folder: "notes" }, true],
    [{ file: "*.md", says: "^skipped:" }, true],
    [{ file: "*.md", says: "^two" }, false],
    [{ dated: "notes/retro_*.md" }, true],
    [{ dated: "full.md" }, false],
    [{ reported: "drift" }, true],
    [{ reported: "other" }, false],
    [{ no: { exists: "empty.md" } }, false],
    [{ all: [{ exists: "empty.md" }, { exists: "none.md" }] }, false],
    [{ any: [{ exists: "empty.md" }, { exists: "none.md" }] }, true],
  ];
  it.each(table)("%j: %s", (probe, wanted) => {
    const time = { cycle: 1, since: "2026-03-01T00:00:00Z", reported: ["drift"] };
    expect(holds(probe, survey, time)).toBe(wanted);
  });
});
