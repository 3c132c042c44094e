/** All of it in one list, found by code: what `autodev help <code>` and the reference are made of. */
import { nearest, plain } from "../nearest.ts";
import { isRetryable } from "../plan/phase-error.ts";
import { planFindingTable } from "../plan/plan.ts";
import { findingTable } from "../verification/finding-table.ts";
import { decisionKinds } from "./decisions.ts";
import { doctorFindings } from "./doctor.ts";
import type { ExitCode, Trouble } from "./explained.ts";
import { failureTable } from "./failures.ts";
import { phaseErrors } from "./phases.ts";
import { planRemedies } from "./plans.ts";
import { verificationRemedies } from "./verification.ts";

/** Where a code is met, in the order of the reference. */
export const troubleGroups = {
  failure: "a command ends with it",
  decision: "people are asked",
  phase: "a phase fails with it",
  verification: "found when a phase is verified, or by autodev audit",
  plan: "found by autodev plan check",
  doctor: "found by autodev doctor",
} as const;
export type TroubleGroup = keyof typeof troubleGroups;

export interface Explained extends Trouble {
  readonly code: string;
  readonly group: TroubleGroup;
  /** Null: by itself it ends nothing. */
  readonly exit: ExitCode | null;
  /** When that is not all there is to say about it. */
  readonly remark?: string;
}

export const catalogue: readonly Explained[] = [
  ...Object.entries(failureTable).map(
    ([code, row]): Explained => ({ code, group: "failure", ...row }),
  ),
  ...Object.entries(decisionKinds).map(
    ([code, row]): Explained => ({
      code,
      group: "decision",
      ...row,
      exit: 3,
      remark: "where nobody is there to answer",
    }),
  ),
  ...Object.entries(phaseErrors).map(
    ([code, row]): Explained => ({
      code,
      group: "phase",
      ...row,
      exit: 4,
      remark: isRetryable(code as keyof typeof phaseErrors)
        ? "once its attempts are used up and nothing else can run"
        : "once nothing else can run; it is not tried again by itself",
    }),
  ),
  ...findingTable.map(
    ([code, type, what]): Explained => ({
      code,
      group: "verification",
      what,
      ...verificationRemedies[code],
      ...(type === null
        ? { exit: null }
        : { exit: 4, remark: "if the phase fails with it for good; 1 from `autodev audit`" }),
    }),
  ),
  ...planFindingTable.map(
    ([code, level, what]): Explained => ({
      code,
      group: "plan",
      what,
      ...planRemedies[code],
      ...(level === "error" ? { exit: 1 } : { exit: null, remark: "a warning; 1 with `--strict`" }),
    }),
  ),
  ...Object.entries(doctorFindings).map(
    ([code, { level, ...row }]): Explained => ({
      code,
      group: "doctor",
      ...row,
      exit: level === "error" ? 1 : null,
    }),
  ),
];

/** In any spelling of case, `-` and `_`; several where a code is met in several places. */
export function explanationsOf(code: string): readonly Explained[] {
  const wanted = plain(code);
  const found = catalogue.filter((each) => plain(each.code) === wanted);
  const exactly = found.filter((each) => each.code === code.toLowerCase());
  return [...exactly, ...found.filter((each) => !exactly.includes(each))];
}

/** The nearest, best first, among codes and other topics; none where nothing is near. */
export function suggestionsFor(topic: string, others: readonly string[]): readonly string[] {
  const wanted = plain(topic);
  const codes = [...new Set([...others, ...catalogue.map((each) => each.code)])];
  const holding = codes.filter((each) => wanted.length > 3 && plain(each).includes(wanted));
  return [...new Set([...nearest(topic, codes), ...holding])].slice(0, 4);
}
