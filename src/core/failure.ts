/**
 * Every expected way to fail, as a value. Code throws only for bugs of ours;
 * everything a user, a disk or another process can cause travels as a Failure
 * and is turned into words and an exit code in one place (cli/render/failure).
 */
import type { failureTable } from "./errors/failures.ts";

/** Each has a row with its causes and its way out; the texts are loaded only to be shown. */
export type FailureCode = keyof typeof failureTable;

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
