import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandTable, exitCodeTable } from "../../cli/table.ts";
import { catalogue, explanationsOf, suggestionsFor } from "./catalogue.ts";
import { decisionKinds } from "./decisions.ts";
import { doctorFindings } from "./doctor.ts";
import { failureTable } from "./failures.ts";

const src = join(import.meta.dirname, "../..");

const sources = new Map(
  readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !/\.test\.ts$|^core\/errors\/|^testing\//.test(name))
    .map((name) => [name, readFileSync(join(src, name), "utf8")]),
);

const found = (pattern: RegExp, where = /./): string[] =>
  [...sources]
    .filter(([name]) => where.test(name))
    .flatMap(([, text]) => [...text.matchAll(pattern)].map((match) => match[1] as string));

const sorted = (codes: Iterable<string>): string[] => [...new Set(codes)].sort();

describe("the catalogue and the sources", () => {
  it("know the same failures: whatever is raised has a row, whatever has a row is raised", () => {
    const raised = [
      ...found(/\bfail\(\s*(?:\w+ \? )?"([a-z-]+)"/g),
      ...found(/\bfail\(\s*\w+ \? "[a-z-]+" : "([a-z-]+)"/g),
      // Made without `fail`: with a message beside it.
      ...found(/\bcode: "([a-z-]+)",\s+message[,:]/g, /^(?:cli|activities)\/(?!examine)/),
    ];
    expect(sorted(raised)).toEqual(sorted(Object.keys(failureTable)));
  });

  it("know the same findings of the doctor", () => {
    const doctors =
      /^(?:activities\/(?:examine|find-sandbox)|stores\/file|stores\/file\/repair)\.ts$/;
    const told = [
      ...found(/\bcode: "([a-z-]+)"/g, doctors),
      ...found(/\bcode: \w+ \? "([a-z-]+)"/g, doctors),
      ...found(/\bcode: \w+ \? "[a-z-]+" : "([a-z-]+)"/g, doctors),
      ...found(/^ {2}"?[a-z-]+"?: "(journal-[a-z-]+)"/gm, doctors),
    ];
    // Only ever well, or as a note that explains itself.
    const well = ["position", "journal", "stack", "setup", "gate"];
    const others = [...well, ...Object.keys(failureTable)];
    expect(sorted(told.filter((code) => !others.includes(code)))).toEqual(
      sorted(Object.keys(doctorFindings)),
    );
  });

  it("know the same decisions", () => {
    const asked = found(/\bkind: "([a-z-]+)",\s+(?:subject|state)/g);
    expect(sorted(asked)).toEqual(sorted(Object.keys(decisionKinds)));
  });
});

describe("an explanation", () => {
  it("has a sentence, a cause and a way out", () => {
    for (const { code, what, causes, wayOut } of catalogue) {
      for (const text of [what, ...causes, ...wayOut]) {
        expect(text, code).toMatch(/^\S.{5,}[^.\s]$/);
        expect(text.split("`").length % 2, `${code}: ${text}`).toBe(1);
      }
      expect(causes.length, code).toBeGreaterThan(0);
      expect(wayOut.length, code).toBeGreaterThan(0);
    }
  });

  it("leads to an exit code that there is", () => {
    const codes = exitCodeTable.map(([code]) => code);
    for (const { code, exit } of catalogue) if (exit !== null) expect(codes, code).toContain(exit);
  });

  it("names no command and no option that there is not", () => {
    const texts = catalogue.flatMap(({ causes, wayOut }) => [...causes, ...wayOut]);
    const quoted = texts.flatMap((text) =>
      [...text.matchAll(/`([^`]+)`/g)].map(([, each]) => each),
    );
    const calls = quoted.filter((each): each is string => each?.startsWith("autodev ") === true);
    expect(calls.length).toBeGreaterThan(30);
    for (const call of calls) {
      const words = call.split(" ").slice(1);
      if (words[0] === "help") continue;
      const row = commandTable.find(({ name }) => call.startsWith(`autodev ${name}`));
      expect(row, call).toBeDefined();
      const known = (row?.options ?? []).map(({ flags }) => /--[\w-]+/.exec(flags)?.[0]);
      for (const word of words.filter((each) => each.startsWith("--"))) {
        expect(known, call).toContain(word.replace(/=.*/, ""));
      }
    }
    const options = new Set(
      commandTable.flatMap((row) =>
        (row.options ?? []).map(({ flags }) => /--[\w-]+/.exec(flags)?.[0]),
      ),
    );
    for (const each of quoted) {
      const [, option] = /^(--[\w-]+)/.exec(each ?? "") ?? [];
      if (option !== undefined) expect([...options], each).toContain(option);
    }
  });
});

describe("a code is found", () => {
  it.each([
    ["untrusted", ["failure untrusted"]],
    ["UNTRUSTED", ["failure untrusted"]],
    ["Test_Failure", ["phase test_failure"]],
    ["test-failure", ["phase test_failure"]],
    ["plan_invalid", ["phase plan_invalid", "failure plan-invalid"]],
    ["plan-invalid", ["failure plan-invalid", "phase plan_invalid"]],
    ["interrupted", ["failure interrupted", "decision interrupted", "phase interrupted"]],
    ["nothing-like-it", []],
  ])("%s", (code, wanted) => {
    expect(explanationsOf(code).map((each) => `${each.group} ${each.code}`)).toEqual(wanted);
  });

  it.each([
    ["unturst", "untrusted"],
    ["no-agnet", "no-agent"],
    ["jounral-damaged", "journal-damaged"],
    ["stauts", "status"],
    ["baseline", "red-baseline"],
    ["conflict", "state-file-conflict"],
  ])("near %s: %s", (typed, wanted) => {
    expect(suggestionsFor(typed, ["status", "plan check"])).toContain(wanted);
  });

  it("and nothing is near what is far", () => {
    expect(suggestionsFor("xyzzy plugh", [])).toEqual([]);
    expect(suggestionsFor("", [])).toEqual([]);
  });
});
