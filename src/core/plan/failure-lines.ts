/**
 * The first lines that help somebody to mend a failure: the tests that failed, with their places,
 * and what was found. Only where neither is known, what was printed is searched for the line
 * that says what went wrong; how it ended is seldom the reason.
 */
import { findingLine } from "../verification/finding-table.ts";
import type { PhaseError } from "./phase-error.ts";
import type { PhaseProgress } from "./progress.ts";

export function failureLines(
  {
    error,
    gates = [],
    findings = [],
  }: Pick<PhaseProgress, "gates" | "findings"> & {
    readonly error: PhaseError;
  },
  most = 5,
): string[] {
  const tests = gates
    .filter(({ passed }) => passed === false)
    .flatMap(({ failures = [] }) => failures.map(stripped));
  const found = findings
    // The message is about the first of them; what has a place is worth a line all the same.
    .filter(
      ({ level, message, file }) =>
        level === "error" && (file !== undefined || !error.message.startsWith(message)),
    )
    .filter(({ code }) => code !== "gate-failed" || tests.length === 0)
    .map((finding) => findingLine(finding));
  const named = [...new Set([...tests, ...found])].filter((line) => line !== error.message);
  if (named.length > most) {
    const kept = most - 1;
    return [...named.slice(0, kept), `… and ${named.length - kept} more`];
  }
  return named.length > 0 ? named : telling(error, Math.min(most, 3));
}

const stripped = (line: string): string => line.trim();

/** Of what was printed: from the first line that names an error on, or else how it ended. */
function telling({ details = "", message }: PhaseError, most: number): string[] {
  const lines = details
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== "" && line.trim() !== message && !noise.test(line));
  const first = lines.findIndex((line) => speaks.test(line));
  return (first === -1 ? lines.slice(-2) : lines.slice(first, first + most)).map((line) =>
    line.slice(0, 400),
  );
}

const speaks =
  /\b(?:error|errors|exception|traceback|panic(?:ked)?|fatal|cannot|undefined|refused|denied|assert\w*|expected|not ok|failed|no such)\b|^\s*(?:FAIL|E\s|✗|✖|×|✘)|\w(?:Error|Exception)\b/i;
/** What package managers and stacks add to every failure. */
const noise =
  /^\s*(?:npm (?:ERR!|error|warn|notice)|at .*\(?(?:node:|internal\/)|error Command failed|info Visit|Node\.js v\d|make: \*\*\*|> )/i;
