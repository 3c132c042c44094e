/**
 * Whether a phase is what it is said to be: facts in, findings out. Nothing here looks anything up;
 * one activity gathers the facts, these checks judge them, each by its name.
 *
 * 1. An agent's word counts only against it, or as the reason for something unusual.
 * 2. What a check cannot know it does not guess: no fact, no finding.
 * 3. Skipped is not passed, and no tests are not passed tests.
 */
import type { Finding } from "./finding.ts";
import type { ErrorType, PhaseError } from "./plan/phase-error.ts";
import { claimedFiles, claimedStatus } from "./verification/claims.ts";
import { declaredFiles, definitionOfDone, somethingChanged } from "./verification/declared.ts";
import type { Facts } from "./verification/facts.ts";
import {
  type FindingCode,
  findingLine,
  findingTable,
  type VerificationFinding,
} from "./verification/finding-table.ts";
import { gateResults, testCounts } from "./verification/gates.ts";
import { gateSurface, tools } from "./verification/surface.ts";
import { snapshots, testCode } from "./verification/tests.ts";
import {
  history,
  leftovers,
  planUntouched,
  processes,
  stateUntouched,
} from "./verification/traces.ts";

export type Check = (facts: Facts) => readonly VerificationFinding[];

/** In the order in which a reader wants to hear of them: what makes the rest worthless comes first. */
export const checks: Readonly<Record<string, Check>> = {
  gateSurface,
  tools,
  history,
  stateUntouched,
  testCode,
  snapshots,
  testCounts,
  gateResults,
  claimedFiles,
  somethingChanged,
  declaredFiles,
  definitionOfDone,
  claimedStatus,
  leftovers,
  planUntouched,
  processes,
};

export const verify = (facts: Facts): VerificationFinding[] =>
  Object.values(checks).flatMap((check) => [...check(facts)]);

export const isFailure = ({ level }: Finding): boolean => level === "error";

/** What the phase failed with; undefined: nothing that is found keeps it from landing. */
export function errorFrom(
  findings: readonly VerificationFinding[],
  output = "",
): PhaseError | undefined {
  const failures = findings.filter(isFailure);
  const [worst] = [...failures].sort((a, b) => weight(a) - weight(b));
  if (!worst) return undefined;
  const others = failures.length - 1;
  const more = others === 0 ? "" : ` (and ${others} more ${others === 1 ? "finding" : "findings"})`;
  const listed = others === 0 && worst.file === undefined ? [] : failures.map(findingLine);
  const details = [...listed, ...(output.trim() === "" ? [] : [output])].join("\n");
  return {
    type: typeOf(worst),
    message: `${worst.message}${more}`,
    ...(details === "" ? {} : { details }),
  };
}

const rank = new Map<string, number>(findingTable.map(([code], index) => [code, index]));
const weight = ({ code }: Finding): number => rank.get(code) ?? findingTable.length;

const types = new Map<FindingCode, ErrorType | "gate" | null>(
  findingTable.map(([code, type]) => [code, type]),
);

function typeOf({ code, gateError }: VerificationFinding): ErrorType {
  const type = types.get(code) ?? "verification_mismatch";
  return type === "gate" ? (gateError ?? "gate_failure") : type;
}
