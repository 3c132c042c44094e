/** Every finding that a verification can have: what it fails with, and what it means. */
import type { Finding } from "../finding.ts";
import type { ErrorType } from "../plan/phase-error.ts";

/** Worst first: the first that is found gives a failed attempt its kind. `null`: only ever a note. */
export const findingTable = [
  [
    "gate-changed",
    "gate_changed",
    "something that defines the gates differs, and the phase does not declare it",
  ],
  [
    "tool-changed",
    "gate_changed",
    "a program that the gates use is not the one that it was when the run began",
  ],
  [
    "hook-planted",
    "gate_changed",
    "git's hooks or its configuration differ from what was approved",
  ],
  [
    "history-rewritten",
    "verification_mismatch",
    "commits, branches or tags that were there are gone or moved",
  ],
  ["state-touched", "verification_mismatch", "files of autodev's own were written by the agent"],
  ["test-deleted", "tests_weakened", "a test is gone, and the plan does not say so"],
  ["test-skipped", "tests_weakened", "a test that ran before is skipped"],
  ["test-focused", "tests_weakened", "only one test would run, so all others are skipped"],
  ["test-emptied", "tests_weakened", "a test that checked something checks nothing"],
  ["assertions-gone", "tests_weakened", "a test checks less than before"],
  [
    "test-weakened",
    "tests_weakened",
    "an assertion that compared a value only asks whether there is one",
  ],
  [
    "expectation-changed",
    "tests_weakened",
    "an existing test expects something else, and the plan does not say so",
  ],
  ["constant-test", "tests_weakened", "a new test that cannot fail"],
  [
    "snapshot-changed",
    "tests_weakened",
    "recorded output was replaced, and the plan does not say so",
  ],
  [
    "tests-unreadable",
    "tests_weakened",
    "a test file that could be read before cannot be read any more",
  ],
  [
    "tests-do-not-bite",
    "tests_weakened",
    "without the phase's code its new tests pass just the same",
  ],
  ["no-tests-run", "tests_weakened", "the gate ended well without running a single test"],
  ["fewer-tests", "tests_weakened", "fewer tests passed than before the phase"],
  ["claimed-pass", "verification_mismatch", "a gate is claimed to pass and fails"],
  ["gate-failed", "gate", "a gate fails on the tree that would be committed"],
  ["file-missing", "verification_mismatch", "a file that is claimed is not there"],
  ["file-unchanged", "verification_mismatch", "a file that is claimed to be changed is as it was"],
  [
    "file-ignored",
    "verification_mismatch",
    "a file that is claimed is ignored by git: it would not be committed",
  ],
  [
    "undeclared-file",
    "verification_mismatch",
    "a file outside the phase was changed without a word",
  ],
  ["nothing-changed", "task_incomplete", "the phase asks for work and nothing was changed"],
  [
    "declared-missing",
    "task_incomplete",
    "a file that the phase declares was not created, changed or deleted",
  ],
  ["done-unmet", "task_incomplete", "the definition of done names a file that is not there"],
  ["tasks-open", "task_incomplete", "the agent itself says that tasks are open"],
  ["conflict-markers", "task_incomplete", "marks of a merge conflict are left in a file"],
  [
    "nested-repository",
    "task_incomplete",
    "a git repository inside: what is in it cannot be committed",
  ],
  ["leads-outside", "task_incomplete", "a link that leads out of the repository"],
  ["claimed-fail", null, "a gate is claimed to fail and passes"],
  ["extra-file", null, "a file outside the phase's declared ones, with a word or harmless"],
  ["known-failures", null, "tests that failed before the run still fail, as was accepted"],
  ["gate-introduced", null, "a gate that the project did not have"],
  ["plan-edited", null, "the agent edited the plan; its edits are claims and were left out"],
  ["process-left", null, "the agent left processes running; they were ended"],
] as const satisfies readonly (readonly [string, ErrorType | "gate" | null, string])[];

export type FindingCode = (typeof findingTable)[number][0];

export interface VerificationFinding extends Finding {
  readonly code: FindingCode;
  readonly level: "note" | "error";
  /** Of a gate: what kind of failure it is. */
  readonly gateError?: ErrorType;
}

export const failure = (
  code: FindingCode,
  message: string,
  place: { readonly file?: string; readonly line?: number } = {},
): VerificationFinding => ({ code, level: "error", message, ...place });

export const note = (
  code: FindingCode,
  message: string,
  place: { readonly file?: string; readonly line?: number } = {},
): VerificationFinding => ({ code, level: "note", message, ...place });

/** `file:line: sentence [code]`, as an agent or a person reads it. */
export function findingLine({ code, message, file, line }: Finding): string {
  const place = file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`}: `;
  return `${place}${message} [${code}]`;
}
