/** The one place where a Failure becomes words and an exit code. */
import type { failureTable } from "../../core/errors/failures.ts";
import type { Failure, FailureCode } from "../../core/failure.ts";
import { shown } from "../../project.ts";
import { printError, printJson, printJsonLine } from "../output.ts";

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

type ExitOf<Code extends FailureCode> = (typeof failureTable)[Code]["exit"];

/** As the catalogue has it (else this does not compile); written out, since its texts take time to load. */
const codeFor: { [Code in FailureCode as ExitOf<Code> extends 1 ? never : Code]: ExitOf<Code> } = {
  usage: exitCodes.usage,
  "not-found": exitCodes.usage,
  "no-repository": exitCodes.usage,
  "decision-required": exitCodes.decision,
  locked: exitCodes.blocked,
  "journal-fenced": exitCodes.blocked,
  interrupted: exitCodes.interrupted,
  "no-agent": exitCodes.usage,
  "no-sandbox": exitCodes.usage,
  "no-commits": exitCodes.usage,
  "busy-repository": exitCodes.blocked,
  untrusted: exitCodes.decision,
  "run-halted": exitCodes.blocked,
  "lease-lost": exitCodes.blocked,
  "tracker-unavailable": exitCodes.blocked,
  "database-schema": exitCodes.blocked,
  "engine-missing": exitCodes.usage,
  "no-remote": exitCodes.usage,
  "no-worker": exitCodes.blocked,
};

/** Only where there is no way out of its own, and more to say than the message does. */
const catalogued = (code: FailureCode): string =>
  code === "usage" || code === "interrupted" ? "" : `autodev help ${code}`;

export function reportFailure(failure: Failure, json: boolean, { oneLine = false } = {}): number {
  if (json) {
    const { code, message, file, line, hint, details } = failure;
    const error = { code, message, file, line, hint, details };
    (oneLine ? printJsonLine : printJson)({ version: 1, error });
  } else {
    for (const line of failure.details ?? []) printError(shown(line));
    printError(`autodev: ${shown(failure.message)}`);
    const hint = failure.hint ?? catalogued(failure.code);
    if (hint) printError(`  → ${shown(hint)}`);
  }
  return (codeFor as Partial<Record<FailureCode, number>>)[failure.code] ?? exitCodes.failure;
}
