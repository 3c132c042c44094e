/** `docs/track-record.yaml` is held to its word: what is said to notice a fault is there, and is run. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import { sourcesIn } from "../scripts/guarantees.ts";
import { type Fault, faultsFile, guardOf, readFaults } from "../scripts/track-record.ts";
import type { TestCase } from "../src/core/test-code.ts";
import { readTestCode } from "../src/formats/test-code.ts";
import { packageRoot } from "./document.ts";

const faults = readFaults(fs.readFileSync(path.join(packageRoot, faultsFile), "utf8"));

/** The table itself cannot be imported by a thread of the tests: its workers would begin. */
const sourceOf = sourcesIn(path.join(packageRoot, "torture"));

const read = new Map<string, readonly TestCase[]>();
async function testsIn(file: string): Promise<readonly TestCase[]> {
  const full = path.join(packageRoot, file);
  const known = read.get(file);
  if (known || !fs.existsSync(full)) return known ?? [];
  const tests = (await readTestCode(file, fs.readFileSync(full, "utf8")))?.tests ?? [];
  read.set(file, tests);
  return tests;
}

/** Why nothing would notice it; undefined: something would. */
async function unguarded(fault: Fault): Promise<string | undefined> {
  const guard = guardOf(fault);
  if ("row" in guard) {
    try {
      sourceOf(guard.row);
      return undefined;
    } catch (error) {
      return String(error);
    }
  }
  const { file, title } = guard;
  const found = (await testsIn(file)).filter(
    ({ name, rows: table }) =>
      name.split(" › ").at(-1) === title || table.some((each) => each.includes(`"${title}"`)),
  );
  if (found.length === 0) return `${file} has no test "${title}"`;
  return found.every(({ skipped }) => skipped) ? `${file}: "${title}" is not run` : undefined;
}

/** Of the whole history; where there is only a part of it, nothing can be said. */
const subjects = ((): ReadonlySet<string> => {
  const git = (...args: string[]): string =>
    spawnSync("git", args, { cwd: packageRoot, encoding: "utf8" }).stdout.trim();
  if (git("rev-parse", "--is-shallow-repository") !== "false") return new Set();
  return new Set(git("log", "--format=%s").split("\n"));
})();

describe("the track record", () => {
  it("names for every fault a test that is there and is run", async () => {
    const open = await Promise.all(faults.map(unguarded));
    expect(open.filter((why) => why !== undefined)).toEqual([]);
  });

  it.skipIf(subjects.size === 0)("names commits that are there", () => {
    expect(faults.filter(({ commit }) => !subjects.has(commit)).map(({ what }) => what)).toEqual(
      [],
    );
  });

  it("has no fault twice", () => {
    const said = faults.map(({ what }) => what);
    expect(said.filter((what, at) => said.indexOf(what) !== at)).toEqual([]);
    expect(said.length).toBeGreaterThanOrEqual(40);
  });

  it.each([
    ["a file that is gone", "test/no-such.test.ts › it is there"],
    ["a test that was renamed", "test/seeds.test.ts › is about none of them"],
    ["a row that is gone", "torture › no-such-row"],
  ])("would tell of %s", async (_, guard) => {
    expect(
      await unguarded({ what: "something was wrong", commit: "fix: it", guard }),
    ).toBeDefined();
  });
});
