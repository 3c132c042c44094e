import { describe, expect, it } from "vitest";
import { failureLines } from "./failure-lines.ts";
import type { GateOutcome } from "./run-event.ts";

const red = (failures?: string[]): GateOutcome => ({
  name: "test",
  command: "npm test",
  passed: false,
  summary: "ended with 1",
  ...(failures && { failures }),
});
const error = { type: "test_failure", message: "test failed: `npm test` ended with 1" } as const;

describe("the first lines of a failure", () => {
  it("are the tests that failed, with their places", () => {
    const gates = [
      red(["test/a.test.js:12 refuses a wrong password", "test/b.test.js:3 logs out"]),
    ];
    const details = "npm error code 1\nnpm error a complete log of this run";
    expect(failureLines({ error: { ...error, details }, gates })).toEqual([
      "test/a.test.js:12 refuses a wrong password",
      "test/b.test.js:3 logs out",
    ]);
  });

  it("are few: the others are counted", () => {
    const failures = Array.from({ length: 40 }, (_, at) => `test/a.test.js:${at} case ${at}`);
    const lines = failureLines({ error, gates: [red(failures)] });
    expect(lines).toHaveLength(5);
    expect(lines.at(-1)).toBe("… and 36 more");
  });

  it("are findings with their place", () => {
    const findings = [
      {
        code: "test-skipped" as const,
        level: "error" as const,
        message: "“logs in” is skipped",
        file: "test/login.test.ts",
        line: 14,
      },
      { code: "extra-file" as const, level: "note" as const, message: "a note" },
    ];
    const found = { type: "tests_weakened", message: "“logs in” is skipped" } as const;
    expect(failureLines({ error: found, findings })).toEqual([
      "test/login.test.ts:14: “logs in” is skipped [test-skipped]",
    ]);
  });

  it("do not say the message again", () => {
    const findings = [
      { code: "gate-failed" as const, level: "error" as const, message: error.message },
    ];
    expect(failureLines({ error, findings, gates: [red()] })).toEqual([]);
  });

  it("are what was printed about the error, not how it ended", () => {
    const details = [
      "> build",
      "compiling 14 files",
      "src/app.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.",
      "    at Object.<anonymous> (node:internal/modules/cjs/loader:1105:14)",
      "npm error Lifecycle script `build` failed with error:",
      "npm error code 2",
    ].join("\n");
    expect(failureLines({ error: { ...error, details } })).toEqual([
      "src/app.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.",
    ]);
  });

  it("are the last words where nothing speaks of an error", () => {
    const details = "one\ntwo\n\nthree\n";
    expect(failureLines({ error: { ...error, details } })).toEqual(["two", "three"]);
    expect(failureLines({ error })).toEqual([]);
  });
});
