/**
 * `docs/seeds.md` says by which test each rule of the original documents is kept. The page is held to
 * it: every row leads to a test that is there and is run, ids are whole, and no row is lost.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import type { TestCase } from "../src/core/test-code.ts";
import { readTestCode } from "../src/formats/test-code.ts";
import { packageRoot } from "./document.ts";

/** A file's text; undefined: there is none. */
type Files = (file: string) => string | undefined;

interface Row {
  readonly line: number;
  readonly id: string;
  readonly rule: string;
  readonly ours: string;
  readonly test: string;
}

interface Chapter {
  /** As its heading begins: `000`. */
  readonly name: string;
  /** As it says above its table. */
  readonly rules: number | undefined;
  readonly rows: readonly Row[];
}

function chaptersOf(page: string): Chapter[] {
  const chapters: { name: string; rules: number | undefined; rows: Row[] }[] = [];
  for (const [at, text] of page.split("\n").entries()) {
    const heading = /^## (\d{3})\b/.exec(text)?.[1];
    if (heading !== undefined) chapters.push({ name: heading, rules: undefined, rows: [] });
    const chapter = chapters.at(-1);
    if (!chapter) continue;
    const rules = /^(\d+) rules\.$/.exec(text)?.[1];
    if (rules !== undefined) chapter.rules = Number(rules);
    if (!text.startsWith("|")) continue;
    const [id = "", rule = "", ours = "", test = "", ...more] = cellsOf(text);
    if (id === "id" || /^-+$/.test(id)) continue;
    // A cell too many is a stroke that was meant as text.
    chapter.rows.push({ line: at + 1, id, rule, ours, test: [test, ...more].join(" | ") });
  }
  return chapters;
}

const cellsOf = (row: string): string[] =>
  row
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

/** Everything that is wrong with a page, a sentence each. */
async function faultsOf(page: string, files: Files): Promise<string[]> {
  const chapters = chaptersOf(page);
  const faults: string[] = chapters.length === 0 ? ["there is no chapter"] : [];
  for (const { name, rules, rows } of chapters) {
    if (rules !== rows.length)
      faults.push(
        `${name}: it says ${rules ?? "not how many"} rules, and there are ${rows.length}`,
      );
    for (const [at, row] of rows.entries()) {
      const expected = `${name}-${String(at + 1).padStart(2, "0")}`;
      if (row.id !== expected)
        faults.push(`line ${row.line}: ${row.id} stands where ${expected} should`);
      if (row.rule === "") faults.push(`${row.id}: it says no rule`);
      faults.push(...(await testFaults(row, files)));
    }
  }
  return faults;
}

async function testFaults({ id, test }: Row, files: Files): Promise<string[]> {
  if (/^not yet: \S/.test(test)) return [];
  const [, file, name] = /^`([^`]+)` › (.+)$/.exec(test) ?? [];
  if (file === undefined || name === undefined) return [`${id}: it names no test`];
  const text = files(file);
  if (text === undefined) return [`${id}: there is no ${file}`];
  const tests = await testsIn(file, text);
  const exact = tests.filter((each) => each.name === name);
  const found = exact.length > 0 ? exact : tests.filter((each) => isRowOf(each, name, text));
  if (found.length === 0) return [`${id}: ${file} has no test "${name}"`];
  return found.every(({ skipped }) => skipped) ? [`${id}: "${name}" is not run`] : [];
}

const read = new Map<string, readonly TestCase[]>();
async function testsIn(file: string, text: string): Promise<readonly TestCase[]> {
  const known = read.get(text) ?? (await readTestCode(file, text))?.tests ?? [];
  read.set(text, known);
  return known;
}

/** What a row of a table fills in: `%s`, `$key`, `${value}`. */
const holes = /%[sdifjo]|\$\{[^}]*\}|\$\w+/g;

/** Not as it stands in the code, but as a row of its table makes it. */
function isRowOf({ name: written, rows }: TestCase, name: string, text: string): boolean {
  // A title that is nothing but a variable.
  const title = rows.length > 0 ? written.replace(/(^| › )[a-z]\w*$/, "$1%s") : written;
  if (title.search(holes) < 0) return false;
  const pattern = title
    .split(holes)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join("(.+?)");
  const table = rows.length > 0 ? rows.join("\n") : text;
  const filled = new RegExp(`^${pattern}$`, "u").exec(name)?.slice(1);
  return filled?.every((part) => standsIn(table, part)) === true;
}

/** As a value of its own, so that a row which is gone is missed. */
function standsIn(text: string, value: string): boolean {
  const plain = value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const alone = /^[\w.]+$/.test(value) ? `(?<![\\w.])${plain}(?![\\w.])` : `["'\`]${plain}["'\`]`;
  return new RegExp(alone, "u").test(text);
}

const inRepository: Files = (file) => {
  const full = path.join(packageRoot, file);
  return fs.existsSync(full) ? fs.readFileSync(full, "utf8") : undefined;
};
const page = fs.readFileSync(path.join(packageRoot, "docs/seeds.md"), "utf8");

describe("the page of the original documents", () => {
  it("leads from every rule to a test that is there and is run", async () => {
    expect(await faultsOf(page, inRepository)).toEqual([]);
  });

  it("is about all four of them, and has no rule twice", () => {
    const chapters = chaptersOf(page);
    expect(chapters.map(({ name }) => name)).toEqual(["000", "001", "002", "003"]);
    for (const { rows } of chapters) {
      const rules = rows.map(({ rule }) => rule);
      expect(rules.filter((rule, at) => rules.indexOf(rule) !== at)).toEqual([]);
    }
  });

  it("puts off only what is not built: the tracker, agents that ask us, and what an agent's words are worth", () => {
    const open = chaptersOf(page).flatMap(({ rows }) =>
      rows.filter(({ test }) => test.startsWith("not yet:")).map(({ test }) => test),
    );
    for (const why of open)
      expect(why).toMatch(/^not yet: (?:the tracker|agents that ask us|an agent's words)/);
  });
});

describe("a page is found out", () => {
  const code = `
    describe("a step", () => {
      it("is done", () => expect(1).toBe(1));
      it.skip("is skipped", () => expect(1).toBe(1));
      it.each([["early", 1], ["too late", 2]])("comes %s: %s", (when) => expect(when).toBe(when));
      const cases = [["a name", "x"]];
      for (const [what, text] of cases) { it(what, () => expect(text).toBe("x")); }
    });
    it("stands alone", () => expect(1).toBe(1));
  `;
  const files: Files = (file) => (file === "a.test.ts" ? code : undefined);
  const pageOf = (rules: number | string, ...rows: readonly string[]): string =>
    `# Seeds\n\n## 000 First\n\n${rules} rules.\n\n| id | rule | ours | test |\n|---|---|---|---|\n${rows.join("\n")}\n`;
  const row = (id: string, test: string): string => `| ${id} | a rule | | ${test} |`;
  const good = row("000-01", "`a.test.ts` › a step › is done");

  it.each([
    ["by its name", "a step › is done"],
    ["without a suite", "stands alone"],
    ["as it stands in the code", "a step › comes %s: %s"],
    ["as a row of its table", "a step › comes too late: 2"],
    ["as a row that is its whole title", "a step › a name"],
  ])("not where a test is found %s", async (_, name) => {
    expect(await faultsOf(pageOf(1, row("000-01", `\`a.test.ts\` › ${name}`)), files)).toEqual([]);
  });

  it("not where a rule is put off with a reason", async () => {
    expect(await faultsOf(pageOf(1, row("000-01", "not yet: the tracker")), files)).toEqual([]);
  });

  it.each([
    ["a test that is not there", "a step › is gone", 'has no test "a step › is gone"'],
    ["a test under another suite", "another › is done", 'has no test "another › is done"'],
    ["half of a name", "is done", 'has no test "is done"'],
    ["a row that its table has not", "a step › comes too soon: 2", "has no test"],
    ["a title that its table has not", "a step › a number", "has no test"],
    ["a test that is skipped", "a step › is skipped", "is not run"],
  ])("by %s", async (_, name, fault) => {
    const faults = await faultsOf(pageOf(1, row("000-01", `\`a.test.ts\` › ${name}`)), files);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(fault);
  });

  it.each([
    [
      "a file that is not there",
      pageOf(1, row("000-01", "`b.test.ts` › x")),
      "there is no b.test.ts",
    ],
    ["a row without a test", pageOf(1, row("000-01", "")), "000-01: it names no test"],
    [
      "a rule that is put off without a reason",
      pageOf(1, row("000-01", "not yet")),
      "it names no test",
    ],
    ["an id that is there twice", pageOf(2, good, good), "000-01 stands where 000-02 should"],
    [
      "an id that is left out",
      pageOf(2, good, good.replace("01", "03")),
      "000-03 stands where 000-02",
    ],
    ["a count that is wrong", pageOf(2, good), "it says 2 rules, and there are 1"],
    ["a count that is not there", pageOf("some", good), "not how many"],
    ["a row that says no rule", pageOf(1, good.replace("a rule", "")), "it says no rule"],
    ["no chapter at all", "# Seeds\n", "there is no chapter"],
  ])("by %s", async (_, text, fault) => {
    const faults = await faultsOf(text, files);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(fault);
  });
});
