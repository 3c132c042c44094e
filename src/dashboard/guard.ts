/**
 * Who is let in. Every program and every page on this machine can reach a port of ours, so each
 * request has to show that it comes from our own page, or from somebody who has the token.
 *
 *  1. A name that somebody else's DNS points here is not our name: `Host` is one of three, with the port.
 *  2. A page of somebody else's is told apart by `Origin` and `Sec-Fetch-Site`, whatever it asks for.
 *  3. What holds anything needs the token. The page's own files hold nothing.
 *  4. Only POST changes anything, from our own page alone, and as JSON, which no form can send.
 */
import { createHash, timingSafeEqual } from "node:crypto";

export interface Knock {
  readonly method: string;
  /** As it was sent: path and query. */
  readonly target: string;
  /** As they were sent: name, value, name, value; a name may come twice. */
  readonly headers: readonly string[];
}

export interface House {
  readonly port: number;
  readonly token: string;
}

export type Verdict =
  | { readonly is: "page" | "api"; readonly path: string; readonly query: string }
  | Refusal;

export interface Refusal {
  readonly is: "refused";
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}

export const mostBody = 64 * 1024;

export function guard(knock: Knock, house: House): Verdict {
  const told = headersOf(knock.headers);
  return (
    foreignHost(told, house) ??
    foreignOrigin(told) ??
    foreignSite(told, knock) ??
    tooMuch(told) ??
    admitted(knock, told, house)
  );
}

function admitted({ method, target }: Knock, told: Told, { token }: House): Verdict {
  const [, path, query = ""] = /^(\/(?!\/)[!-"$->@-~]*)(?:\?([!-~]*))?$/.exec(target) ?? [];
  if (path === undefined) return refuse(400, "bad-request", "this is no address of ours");
  if (path !== "/api" && !path.startsWith("/api/")) {
    if (method !== "GET" && method !== "HEAD") return wrongMethod(method, "GET, HEAD");
    return { is: "page", path, query };
  }
  const wanted = posted.has(path) ? "POST" : "GET";
  if (method !== wanted) return wrongMethod(method, wanted);
  if (!open.has(path) && !isToken(told, token)) {
    return refuse(401, "unauthorized", "the token is missing, or is not this server's", {
      hint: "open the address that `autodev ui` prints",
    });
  }
  if (wanted === "POST") {
    if (one(told, "origin") === undefined)
      return refuse(
        403,
        "foreign-origin",
        "only our own page changes anything: there is no Origin",
      );
    const type = one(told, "content-type") ?? "";
    if (!/^application\/json(?:\s*;\s*charset=utf-8)?$/i.test(type))
      return refuse(415, "not-json", "what is sent has to be application/json");
  }
  return { is: "api", path, query };
}

const posted = new Set([
  "/api/decide",
  "/api/enter",
  "/api/fleet/decide",
  "/api/fleet/pause",
  "/api/ticket",
]);

/** Whoever asks has something else to show, or nothing to learn. */
const open = new Set(["/api/enter", "/api/proof"]);

// ── where it comes from ────────────────────────────────────────────────────────────────────────

function foreignHost(told: Told, house: House): Refusal | undefined {
  const host = one(told, "host");
  return host !== undefined && hostsOf(house).includes(host)
    ? undefined
    : refuse(403, "foreign-host", "this server answers to 127.0.0.1 and localhost alone");
}

const hostsOf = ({ port }: House): string[] => [
  `127.0.0.1:${port}`,
  `localhost:${port}`,
  `[::1]:${port}`,
];

function foreignOrigin(told: Told): Refusal | undefined {
  if (!told.has("origin") || one(told, "origin") === `http://${one(told, "host")}`)
    return undefined;
  return refuse(403, "foreign-origin", "another page asks for this");
}

/** Typed or clicked outside of any page, one may come to a page; not to anything in it. */
function foreignSite(told: Told, { method, target }: Knock): Refusal | undefined {
  if (!told.has("sec-fetch-site")) return undefined;
  const site = one(told, "sec-fetch-site");
  const isArrival = method === "GET" && /^\/(?:index\.html|fleet)?(?:\?|$)/.test(target);
  if (site === "same-origin" || (site === "none" && isArrival)) return undefined;
  return refuse(403, "foreign-site", "another site asks for this");
}

function tooMuch(told: Told): Refusal | undefined {
  const length = one(told, "content-length");
  if (length === undefined || (/^\d{1,9}$/.test(length) && Number(length) <= mostBody))
    return undefined;
  return refuse(413, "too-large", `at most ${mostBody} bytes are read`);
}

// ── what it shows ──────────────────────────────────────────────────────────────────────────────

function isToken(told: Told, token: string): boolean {
  const [, given = ""] = /^Bearer ([\w-]{1,200})$/i.exec(one(told, "authorization") ?? "") ?? [];
  return isSame(given, token);
}

/** In the same time, however much of it is right. */
export function isSame(given: string, wanted: string): boolean {
  const [a, b] = [given, wanted].map((text) => createHash("sha256").update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

type Told = ReadonlyMap<string, readonly string[]>;

function headersOf(raw: readonly string[]): Told {
  const told = new Map<string, string[]>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    told.set(name, [...(told.get(name) ?? []), raw[at + 1] ?? ""]);
  }
  return told;
}

/** Undefined: it was not said, or more than once, which is as good as nothing. */
function one(told: Told, name: string): string | undefined {
  const values = told.get(name);
  return values?.length === 1 ? values[0] : undefined;
}

const wrongMethod = (method: string, wanted: string): Refusal =>
  refuse(405, "method", `${method} is not for this address: ${wanted}`);

const refuse = (
  status: number,
  code: string,
  message: string,
  rest: { readonly hint?: string } = {},
): Refusal => ({ is: "refused", status, code, message, ...rest });
