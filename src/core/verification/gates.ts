/** What the gates said on exactly the tree that would be committed. */
import type { ErrorType } from "../plan/phase-error.ts";
import type { GateOutcome, TestCounts } from "../plan/run-event.ts";
import type { Facts } from "./facts.ts";
import { failure, note, type VerificationFinding } from "./finding-table.ts";
import { asksToRemoveTests } from "./plan-words.ts";

export function gateResults({ gates, claim }: Facts): VerificationFinding[] {
  return gates.flatMap((gate): VerificationFinding[] => {
    const { name, command, passed, summary, known = [] } = gate;
    if (passed === true && known.length > 0) {
      return [
        note(
          "known-failures",
          `${name}: ${known.length} ${known.length === 1 ? "test fails" : "tests fail"} as before the run`,
        ),
      ];
    }
    if (passed !== false) return [];
    const claimed = claim.gates?.[name] === true;
    const gateError: ErrorType = gate.timedOut ? "timeout" : (errorOf[name] ?? "gate_failure");
    const what = `\`${command ?? name}\` ${summary}`;
    return [
      ...(claimed ? [failure("claimed-pass", `${name} is claimed to pass, and it fails`)] : []),
      { ...failure("gate-failed", `${name} failed: ${what}`, placeOf(gate.failures)), gateError },
    ];
  });
}

const errorOf: Readonly<Record<string, ErrorType>> = {
  test: "test_failure",
  lint: "lint_error",
  typecheck: "typecheck_error",
  format: "format_error",
};

/** `src/a.test.ts:12 adds`: the first failure tells where to begin. */
function placeOf(failures: readonly string[] = []): { file?: string; line?: number } {
  const [, file, line] = /^(\S+):(\d+) /.exec(failures[0] ?? "") ?? [];
  return file === undefined ? {} : { file, line: Number(line) };
}

/** "0 tests" is not passed, and what ran before has to run still, beside what was added. */
export const testCounts: (facts: Facts) => VerificationFinding[] = (facts) => [
  ...facts.gates.flatMap((gate) => countsOfGate(gate, facts)),
  ...addedTests(facts),
  ...forgedReports(facts),
];

function countsOfGate(
  { name, passed, tests }: GateOutcome,
  { countsBefore, testsAdded, phase }: Facts,
): VerificationFinding[] {
  if (passed !== true) return [];
  const before = countsBefore[name];
  if (tests && ran(tests) === 0) {
    const skipped = tests.skipped > 0 ? `: ${tests.skipped} were skipped` : "";
    return [failure("no-tests-run", `${name} ended well without running a single test${skipped}`)];
  }
  if (!before || ran(before) === 0) return [];
  if (!tests) {
    return [
      failure(
        "no-tests-run",
        `${name} ended well and told of no test; before, it ran ${ran(before)}`,
      ),
    ];
  }
  if (tests.passed >= before.passed + Math.min(0, testsAdded) || asksToRemoveTests(phase.text))
    return [];
  const skipped =
    tests.skipped > before.skipped
      ? `, and ${tests.skipped - before.skipped} more are skipped`
      : "";
  return [
    failure(
      "fewer-tests",
      `${name}: ${tests.passed} tests pass where ${before.passed} did${skipped}`,
    ),
  ];
}

/** Tests that were added have to run somewhere, beside those that ran before. */
function addedTests({ gates, countsBefore, testsAdded, phase }: Facts): VerificationFinding[] {
  const counting = gates.filter(
    ({ name, passed, tests }) =>
      passed && tests && countsEach.has(tests.runner) && countsBefore[name],
  );
  if (testsAdded <= 0 || counting.length === 0 || asksToRemoveTests(phase.text)) return [];
  const sum = (counts: readonly (TestCounts | undefined)[]): number =>
    counts.reduce((total, each) => total + (each?.passed ?? 0), 0);
  const before = sum(counting.map(({ name }) => countsBefore[name]));
  const now = sum(counting.map(({ tests }) => tests));
  if (now >= before + testsAdded) return [];
  return [
    failure(
      "fewer-tests",
      `${testsAdded} tests were added to the ${before} that passed, and ${now} pass`,
    ),
  ];
}

/** Code that prints a runner's last words makes the gate's word worth nothing. */
function forgedReports({ changes }: Facts): VerificationFinding[] {
  return changes.flatMap(({ path: file, forged: line }) =>
    line === undefined
      ? []
      : [
          failure(
            "no-tests-run",
            "it can print what a test runner says at its end: no gate could be believed",
            { file, line },
          ),
        ],
  );
}

const ran = ({ passed, failed }: TestCounts): number => passed + failed;

/** Others count packages or files, or do not count at all without being asked. */
const countsEach: ReadonlySet<string> = new Set(
  "jest,vitest,mocha,node:test,ava,pytest,unittest,cargo test,rspec,minitest,phpunit,surefire,junit,dotnet test".split(
    ",",
  ),
);
