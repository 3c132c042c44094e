/** The one place where a Failure becomes words and an exit code. */
import type { Failure, FailureCode } from "../../core/failure.ts";
import { shown } from "../../project.ts";
import { print, printError } from "../output.ts";

export const exitCodes = {
  finished: 0,
  failure: 1,
  usage: 2,
  decision: 3,
  blocked: 4,
  parked: 5,
  bug: 70,
  interrupted: 130,
} as const;

const codeFor: Partial<Record<FailureCode, number>> = {
  usage: exitCodes.usage,
  "not-found": exitCodes.usage,
  "no-repository": exitCodes.usage,
  "decision-required": exitCodes.decision,
  locked: exitCodes.blocked,
  "journal-fenced": exitCodes.blocked,
  interrupted: exitCodes.interrupted,
  "no-agent": exitCodes.usage,
  "no-commits": exitCodes.usage,
  "busy-repository": exitCodes.blocked,
  untrusted: exitCodes.decision,
  "run-halted": exitCodes.blocked,
  "run-parked": exitCodes.parked,
};

export function reportFailure(failure: Failure, json: boolean, { oneLine = false } = {}): number {
  if (json) {
    const { code, message, file, line, hint, details } = failure;
    const error = { code, message, file, line, hint, details };
    print(JSON.stringify({ version: 1, error }, null, oneLine ? 0 : 2));
  } else {
    for (const line of failure.details ?? []) printError(shown(line));
    printError(`autodev: ${shown(failure.message)}`);
    if (failure.hint) printError(`  → ${shown(failure.hint)}`);
  }
  return codeFor[failure.code] ?? exitCodes.failure;
}
