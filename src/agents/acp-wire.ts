/** JSON-RPC as ACP has it: one message a line. Whatever comes is data of unknown shape. */
import { type Fields, fieldsIn, fieldsOf as objectOf, textOf } from "./json-line.ts";

export type MessageId = string | number | null;

export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export type WireMessage =
  | {
      readonly is: "request";
      readonly id: MessageId;
      readonly method: string;
      readonly params: Fields;
    }
  | { readonly is: "notification"; readonly method: string; readonly params: Fields }
  | { readonly is: "answer"; readonly id: MessageId; readonly result: Fields }
  | { readonly is: "error"; readonly id: MessageId; readonly error: WireError };

/** Undefined for a banner, a log line, half a line: many print more than their protocol. */
export function readMessage(line: string): WireMessage | undefined {
  const message = fieldsIn(line);
  if (!message) return undefined;
  const { id, method, params, result, error } = message;
  if (typeof method === "string") {
    return isId(id)
      ? { is: "request", id, method, params: fieldsOf(params) }
      : { is: "notification", method, params: fieldsOf(params) };
  }
  if (!isId(id)) return undefined;
  if (error === undefined || error === null) return { is: "answer", id, result: fieldsOf(result) };
  const { code, message: said, data } = fieldsOf(error);
  return {
    is: "error",
    id,
    error: {
      code: typeof code === "number" ? code : 0,
      message: typeof said === "string" ? said : "",
      data,
    },
  };
}

const isId = (value: unknown): value is MessageId =>
  typeof value === "string" || typeof value === "number" || value === null;

export const request = (id: number, method: string, params: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

export const notification = (method: string, params: object): string =>
  JSON.stringify({ jsonrpc: "2.0", method, params });

export const answer = (id: MessageId, result: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id, result });

export const notKnown = (id: MessageId, method: string): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    error: { code: -32601, message: `${method.slice(0, 80)} is not known here` },
  });

// ── Looking into data of unknown shape ──────────────────────────────────────────────────────

/** Of what is no object, nothing: its fields are all undefined. */
export const fieldsOf = (value: unknown): Fields => objectOf(value) ?? none;

const none: Fields = Object.freeze({});

/** A text with something in it. */
export const wordsOf = (value: unknown): string | undefined => textOf(value) || undefined;

export const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;
