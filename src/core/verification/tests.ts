/** Tests as code: what they check must not become less, unless the plan says so. */
import type { TestChange } from "../compare-tests.ts";
import type { Phase } from "../plan/plan.ts";
import type { Facts } from "./facts.ts";
import { failure, type VerificationFinding } from "./finding-table.ts";
import { covers, mentions } from "./paths.ts";
import { asksFor } from "./plan-words.ts";

export const testCode = ({ phase, tests, unreadable }: Facts): VerificationFinding[] => [
  ...tests
    .filter((change) => !isAskedFor(phase, change))
    .map(({ kind, message, file, line }) => failure(kind, message, { file, line })),
  ...unreadable.map((file) =>
    failure("tests-unreadable", `${file} could be read as tests before, and cannot be now`, {
      file,
    }),
  ),
];

/**
 * The plan says so: it deletes the file, or it speaks of what happens together with the very test,
 * its file, tests as such, or what the test is about.
 */
function isAskedFor(phase: Phase, { kind, test, file, message }: TestChange): boolean {
  const declared = phase.files.filter(({ path }) => covers(path, file));
  if (kind === "test-deleted" && declared.some(({ change }) => change === "delete")) return true;
  return asksFor(
    kind,
    phase.text,
    (sentence) =>
      speaksOfTest(sentence, test) ||
      mentions(sentence, file) ||
      (kind === "expectation-changed" && sharesAName(sentence, `${test} ${message}`)),
  );
}

/** A name in code marks that is also in the test: what the sentence is about, the test is about. */
const sharesAName = (sentence: string, told: string): boolean =>
  [...sentence.matchAll(/`([^`]+)`/g)]
    .flatMap((match) => (match[1] ?? "").match(/[A-Za-z_]\w{3,}/g) ?? [])
    .some((name) => new RegExp(`\\b${name}\\b`).test(told));

const speaksOfTest = (sentence: string, test: string): boolean => {
  const last = test.split(" › ").at(-1) ?? test;
  return last.length > 3 && sentence.toLowerCase().includes(last.toLowerCase());
};

/** Recorded output is an expectation like any other. */
export function snapshots({ phase, changes }: Facts): VerificationFinding[] {
  if (asksFor("snapshot-changed", phase.text)) return [];
  return changes
    .filter(({ kind, change: is }) => kind === "snapshot" && is !== "created")
    .filter(({ path }) => !phase.files.some((declared) => covers(declared.path, path)))
    .map(({ path, change: is }) =>
      failure(
        "snapshot-changed",
        `${path} holds recorded output and was ${is}; the plan does not say so`,
        { file: path },
      ),
    );
}
