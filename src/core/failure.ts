/**
 * Every expected way to fail, as a value. Code throws only for bugs of ours;
 * everything a user, a disk or another process can cause travels as a Failure
 * and is turned into words and an exit code in one place (cli/render/failure).
 */
export type FailureCode =
  // what the user gave us
  | "usage"
  | "not-found"
  | "no-repository"
  // the state file
  | "state-file-unreadable"
  | "state-file-binary"
  | "state-file-encoding"
  | "state-file-too-large"
  | "state-file-outside"
  | "state-file-not-a-file"
  | "state-file-conflict"
  | "state-file-duplicate"
  | "state-file-no-position"
  | "no-such-column"
  // plans
  | "plan-unreadable"
  | "plan-encoding"
  | "plan-too-large"
  | "plan-wrong-shape"
  | "plan-changed"
  | "no-such-phase"
  | "plan-invalid"
  // runs
  | "no-commits"
  | "busy-repository"
  | "git"
  | "git-died"
  | "git-too-old"
  | "untrusted"
  | "no-agent"
  | "run-file-invalid"
  | "run-halted"
  | "run-parked"
  // the journal
  | "journal-damaged"
  | "journal-newer"
  | "journal-moved-on"
  | "journal-fenced"
  // the machine
  | "locked"
  | "lock-unavailable"
  | "disk"
  // people
  | "decision-required"
  | "decision-taken"
  | "interrupted";

export interface Failure {
  readonly code: FailureCode;
  /** One sentence: what happened, where, why. */
  readonly message: string;
  /** The way out: a command or an act, never a shrug. */
  readonly hint?: string;
  readonly file?: string;
  readonly line?: number;
  /** Further lines for people (both sides of a conflict, the holder of a lock …). */
  readonly details?: readonly string[];
}

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

export const succeed = <T>(value: T): Result<T> => ({ ok: true, value });

export const fail = (
  code: FailureCode,
  message: string,
  rest: Omit<Failure, "code" | "message"> = {},
): { readonly ok: false; readonly failure: Failure } => ({
  ok: false,
  failure: { code, message, ...rest },
});
