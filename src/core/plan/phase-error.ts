import type { TroubleKind } from "../agent/trouble.ts";

/** Every way in which a phase can fail, and whether trying again can help. No schema: the fold uses it. */
export const errorTypes = [
  "test_failure",
  "lint_error",
  "typecheck_error",
  "format_error",
  "gate_failure",
  "task_incomplete",
  "verification_mismatch",
  "gate_changed",
  "tests_weakened",
  "timeout",
  "parse_error",
  "agent_crash",
  "dependency_missing",
  "circular_dependency",
  "file_conflict",
  "plan_invalid",
  "interrupted",
  "blocked",
] as const;
export type ErrorType = (typeof errorTypes)[number];

/** A second attempt cannot mend these: something outside the phase has to change first. */
const lasting: ReadonlySet<ErrorType> = new Set([
  "dependency_missing",
  "circular_dependency",
  "file_conflict",
  "plan_invalid",
  "interrupted",
  "blocked",
]);
export const isRetryable = (type: ErrorType): boolean => !lasting.has(type);

export interface PhaseError {
  readonly type: ErrorType;
  readonly message: string;
  readonly details?: string;
  /** Of an agent that failed: what exactly was the matter with it. */
  readonly kind?: TroubleKind;
}
