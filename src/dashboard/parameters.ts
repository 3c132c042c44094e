/** What was asked for, checked before anything is done with it: each value by the form it must have. */
import { fail, type Result, succeed } from "../core/failure.ts";

export const forms = {
  /** A key of a project: compared with those that there are. */
  key: /^[^\u0000-\u001f]{1,500}$/,
  run: /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/,
  phase: /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
  count: /^\d{1,9}$/,
  seq: /^\d{1,15}$/,
  moment: /^[\d:TZ.+-]{1,40}$/,
  offset: /^-?\d{1,15}$/,
  commit: /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/,
  path: /^_docs\/[^\u0000-\u001f\\]{1,1000}$/,
  nonce: /^[\w-]{16,100}$/,
  decision: /^d-[0-9a-f]{12}$/,
  letter: /^[A-Za-z]$/,
  ticket: /^[\w-]{16,100}$/,
} as const;

export type Form = keyof typeof forms;

/** Undefined: it was not said. */
export function optional(
  query: URLSearchParams,
  name: string,
  form: Form,
): Result<string | undefined> {
  const values = query.getAll(name);
  const [value] = values;
  if (value === undefined) return succeed(undefined);
  return values.length === 1 && fits(value, form) ? succeed(value) : misshapen(name);
}

export function required(query: URLSearchParams, name: string, form: Form): Result<string> {
  const given = optional(query, name, form);
  if (!given.ok) return given;
  return given.value === undefined ? misshapen(name) : succeed(given.value);
}

export const fits = (value: unknown, form: Form): value is string =>
  typeof value === "string" && forms[form].test(value);

/** What was sent is not repeated: it could be anything. */
export const misshapen = (name: string): ReturnType<typeof fail> =>
  fail("usage", `"${name}" is missing, or is not what it should be`);
