/**
 * Every document in `test/plans`, through the binary: what `plan check --json` must say of it is
 * in the `expected.json` beside it. The documents were written before the readers.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import { autodevIn } from "./rig.ts";

const root = path.join(import.meta.dirname, "plans");

interface Expected {
  readonly open: string;
  readonly quirk: string;
  readonly exit: number;
  readonly expect: {
    readonly format?: string;
    readonly phases?: readonly Record<string, unknown>[];
    readonly boxes?: Record<string, number>;
    readonly errors?: readonly string[];
    readonly warnings?: readonly string[];
  };
}

const foldersIn = (folder: string): string[] =>
  fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);

describe.each(foldersIn(root))("%s", (format) => {
  it.each(foldersIn(path.join(root, format)))("%s", async (name) => {
    const folder = path.join(root, format, name);
    const expected = JSON.parse(
      fs.readFileSync(path.join(folder, "expected.json"), "utf8"),
    ) as Expected;
    const { code, out } = await autodevIn(
      { cwd: folder },
      "plan",
      "check",
      expected.open,
      "--json",
    );
    const said = JSON.parse(out);
    const wanted = expected.expect;
    if (said.error) {
      expect(wanted.errors, `${expected.quirk}: ${said.error.message}`).toContain(said.error.code);
      expect(code).toBe(expected.exit);
      return;
    }
    if (wanted.phases) {
      expect(said.phases.map(pick(wanted.phases)), expected.quirk).toEqual(wanted.phases);
    }
    const { errors = [], warnings = [], phases: _, ...rest } = wanted;
    expect(said).toMatchObject(rest);
    expect(codes(said.errors)).toEqual(expect.arrayContaining([...errors]));
    expect(codes(said.warnings)).toEqual(expect.arrayContaining([...warnings]));
    expect({ code, errors: said.errors }).toMatchObject({ code: expected.exit });
  });
});

const codes = (findings: readonly { code: string }[]): string[] => findings.map(({ code }) => code);

/** Only what the expectation speaks of, in its order. */
const pick =
  (wanted: readonly Record<string, unknown>[]) =>
  (phase: Record<string, unknown>, index: number): Record<string, unknown> =>
    Object.fromEntries(Object.keys(wanted[index] ?? phase).map((key) => [key, phase[key]]));
