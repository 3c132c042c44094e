/**
 * What an error of ACP's says went wrong. The protocol names one: nobody is logged in. All else is up to the agent: a status of its model's service here or there, a kind,
 * headers, or only a text, which `troubleIn` reads.
 */
import type { TroubleKind } from "../core/agent/trouble.ts";
import { fieldsOf, type WireError, wordsOf } from "./acp-wire.ts";
import type { Ending } from "./dialect.ts";
import type { Fields } from "./json-line.ts";

type EndingTrouble = NonNullable<Ending["trouble"]>;

const authRequired = -32000;

export function troubleFrom({ code, message, data }: WireError): EndingTrouble {
  const details = fieldsOf(data);
  const inner = fieldsOf(details.error);
  const texts = [message, data, details.details, details.message, details.error, inner.message];
  const status =
    statusIn([code, ...statusFields(details), ...statusFields(inner)]) ?? statusBefore(texts);
  // The name of -32603 says nothing: taken for more, all would be the fault of a server.
  const text = textFrom(texts).replace(/^internal error(?:$|: )/i, (name) =>
    name.endsWith(" ") ? "Error: " : "",
  );
  const kind = kindNamed(details) ?? kindNamed(inner) ?? kindOfCode(code, text, status);
  return {
    text: text === "" ? `error ${code}` : text,
    ...(status !== undefined && { status }),
    ...(kind !== undefined && { kind }),
    fields: { ...scalarsIn(details), ...headersIn(details), ...headersIn(inner) },
  };
}

/**
 * An error on the way into a session that was there before. Each agent has another one for a session
 * that it does not know; but one that says who must act, or that a service is down, is what it says.
 */
export function troubleOfSession(error: WireError): EndingTrouble {
  const trouble = troubleFrom(error);
  const isOfService = trouble.status !== undefined && trouble.status !== 404;
  if (trouble.kind !== undefined || isOfService) return trouble;
  return { ...trouble, kind: "session_not_found" };
}

function kindOfCode(
  code: number,
  text: string,
  status: number | undefined,
): TroubleKind | undefined {
  // Some use this number for anything: then it is the words that count.
  if (code !== authRequired || status !== undefined) return undefined;
  return text === "" || /\bauth|log.?in|sign.?in|credential|api.?key/i.test(text)
    ? "auth"
    : undefined;
}

const kinds: Readonly<Record<string, TroubleKind>> = {
  authentication: "auth",
  authentication_failed: "auth",
  auth_required: "auth",
  rate_limit: "rate_limit",
  usage_limit: "usage_limit",
  overloaded: "overloaded",
  server_error: "server",
  context_length_exceeded: "context",
};

function kindNamed({ errorKind, errorType }: Fields): TroubleKind | undefined {
  const name = wordsOf(errorKind) ?? wordsOf(errorType) ?? "";
  return Object.hasOwn(kinds, name) ? kinds[name] : undefined;
}

const statusFields = ({ status, statusCode, httpStatus, code }: Fields): readonly unknown[] => [
  status,
  statusCode,
  httpStatus,
  code,
];

const statusIn = (values: readonly unknown[]): number | undefined =>
  values.find(
    (each): each is number =>
      typeof each === "number" && Number.isInteger(each) && each >= 400 && each < 600,
  );

/** As a library that many use writes its errors: the status, then what the service said. */
function statusBefore(texts: readonly unknown[]): number | undefined {
  for (const text of texts) {
    const found = /^([45]\d\d) \S/.exec(wordsOf(text) ?? "");
    if (found) return Number(found[1]);
  }
  return undefined;
}

/** Each part once: many say the same in two places. */
function textFrom(parts: readonly unknown[]): string {
  let text = "";
  for (const part of parts) {
    const more = wordsOf(part)?.trim() ?? "";
    if (more !== "" && !text.includes(more)) text = text === "" ? more : `${text}: ${more}`;
  }
  return text.slice(0, mostText);
}

const mostText = 4000;

const headersIn = ({ headers, responseHeaders }: Fields): Record<string, string | number> => ({
  ...scalarsIn(fieldsOf(headers)),
  ...scalarsIn(fieldsOf(responseHeaders)),
});

/** No name of theirs is ever looked up in an object with a prototype. */
const scalarsIn = (fields: Fields): Record<string, string | number> =>
  Object.fromEntries(
    Object.entries(fields)
      .filter((entry): entry is [string, string | number] =>
        ["string", "number"].includes(typeof entry[1]),
      )
      .filter(([name]) => name !== "__proto__")
      .slice(0, 100)
      .map(([name, value]) => [name.toLowerCase(), value]),
  );
