/**
 * The server: on loopback alone, bounded in everything that somebody could make it wait for or keep.
 * Each request is judged by `guard` before it is looked at; each answer says what a page may do with
 * it. Whatever goes wrong with one of them, the others go on.
 */
import * as http from "node:http";
import type { AddressInfo } from "node:net";
import type { ErrorAnswer } from "../core/board/wire.ts";
import type { Failure, FailureCode } from "../core/failure.ts";
import { guard, mostBody, type Refusal } from "./guard.ts";
import { isBuilt, pageFile, pageFolder, withFleet } from "./page.ts";
import { optional } from "./parameters.ts";
import { type House, placeOf, routes } from "./routes.ts";

export interface Listening {
  readonly port: number;
  close(): Promise<void>;
}

const mostConnections = 200;
const mostStreams = 100;
const lastWordMs = 1000;
const silentMs = 120_000;

/** Nothing inline, nothing from elsewhere, framed by nobody, opened by nobody who could reach in. */
const safety: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "x-frame-options": "DENY",
};

/** Rejects with the system's word for it when that port cannot be had; 0: any. */
export async function listen(
  house: House,
  port: number,
  { folder = pageFolder }: { readonly folder?: string } = {},
): Promise<Listening> {
  const server = http.createServer({
    maxHeaderSize: 16 * 1024,
    headersTimeout: 5000,
    requestTimeout: 10_000,
    keepAliveTimeout: 30_000,
    connectionsCheckingInterval: 1000,
  });
  server.maxConnections = mostConnections;
  // Also of one who does not take what he has asked for; a stream is never silent for that long.
  server.timeout = silentMs;
  // As many as fit: one that was left out could be the one that tells.
  server.maxHeadersCount = 0;
  let streams = 0;
  const openStream = (response: http.ServerResponse): boolean => {
    if (streams >= mostStreams) return false;
    streams++;
    response.once("close", () => streams--);
    return true;
  };
  server.on("request", (request, response) => {
    for (const [name, value] of Object.entries(safety)) response.setHeader(name, value);
    // Whoever goes away in the middle of an answer is no trouble of ours.
    for (const each of [request, response]) each.on("error", () => {});
    const own = { house, port: (server.address() as AddressInfo).port, folder, openStream };
    answer(own, request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else
        refuse(response, { status: 500, code: "bug", message: "a bug of ours; nothing was lost" });
    });
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
    const isSlow = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    const head = Object.entries(safety).map(([name, value]) => `${name}: ${value}\r\n`);
    const status = isSlow ? "408 Request Timeout" : "400 Bad Request";
    const words = `HTTP/1.1 ${status}\r\n${head.join("")}content-length: 0\r\nconnection: close\r\n\r\n`;
    socket.end(words);
    // Whoever neither reads nor hangs up would keep his place from somebody else.
    setTimeout(() => socket.destroy(), lastWordMs).unref();
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  server.on("error", () => {});
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Own {
  readonly house: House;
  readonly port: number;
  readonly folder: string;
  /** False: there are enough of them. */
  openStream(response: http.ServerResponse): boolean;
}

async function answer(
  own: Own,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const { house } = own;
  const { method = "", url: target = "", rawHeaders: headers } = request;
  const verdict = guard({ method, target, headers }, { port: own.port, token: house.token });
  if (verdict.is === "refused") return refuse(response, verdict);
  const { path } = verdict;
  if (verdict.is === "page") return showFile(own, path, method, response);
  const query = new URLSearchParams(verdict.query);
  if (path === "/api/stream") return stream(own, query, request, response);
  const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
  if (!route) return refuse(response, notThere(path));
  const sent = method === "POST" ? await bodyOf(request) : nothingSent;
  if (sent.is === "refused") return refuse(response, sent);
  const result = await route(house, { query, body: sent.value });
  if (result.ok) return send(response, 200, result.value);
  refuse(response, { ...toldOf(result.failure), status: statusOf(result.failure.code) });
}

function showFile(
  { folder, house }: Own,
  path: string,
  method: string,
  response: http.ServerResponse,
): void {
  const found = pageFile(path, folder);
  if (found) {
    const file = house.fleet ? withFleet(found) : found;
    response.writeHead(200, {
      "content-type": file.type,
      "content-length": file.bytes.length,
      "cache-control": "no-cache",
    });
    return void response.end(method === "HEAD" ? undefined : file.bytes);
  }
  if (isBuilt(folder)) return refuse(response, notThere(path));
  const message = "the page was not built into this copy of autodev";
  refuse(response, { status: 503, code: "no-page", message, hint: "npm run build" });
}

async function stream(
  { house, openStream }: Own,
  query: URLSearchParams,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  const place = placeOf(house, query);
  if (!place.ok) return refuse(response, { ...toldOf(place.failure), status: 404 });
  const after = optional(query, "after", "seq");
  const seen = request.headers["last-event-id"];
  const isNumber = typeof seen === "string" && /^\d{1,15}$/.test(seen);
  const moment = optional(query, "at", "moment");
  if (!after.ok || !moment.ok || (seen !== undefined && !isNumber))
    return refuse(response, { status: 400, code: "usage", message: '"after" is no number' });
  if (!openStream(response)) {
    const message = `${mostStreams} pages are listening already`;
    return refuse(response, { status: 503, code: "too-many", message });
  }
  // Bytes that wait in a socket for their turn are bytes that nobody sees.
  response.socket?.setNoDelay(true);
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
  });
  response.flushHeaders();
  const seq = Number(isNumber ? seen : (after.value ?? 0));
  const from = { seq, ...(moment.value !== undefined && { at: moment.value }) };
  await place.value.channel.join(response, from, house.places.seen());
}

// ── what is sent and said ──────────────────────────────────────────────────────────────────────

interface Sent {
  readonly is: "read";
  readonly value: Readonly<Record<string, unknown>>;
}

const nothingSent: Sent = { is: "read", value: {} };

async function bodyOf(request: http.IncomingMessage): Promise<Sent | Refusal> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > mostBody) return tooLarge;
    parts.push(part);
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(parts).toString("utf8"));
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return { is: "read", value: { ...value } };
  } catch {
    // Told below.
  }
  const message = "what was sent is no JSON object";
  return { is: "refused", status: 400, code: "not-json", message };
}

const tooLarge: Refusal = {
  is: "refused",
  status: 413,
  code: "too-large",
  message: `at most ${mostBody} bytes are read`,
};

function send(response: http.ServerResponse, status: number, value: object): void {
  const bytes = Buffer.from(JSON.stringify(value));
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": bytes.length,
    "cache-control": "no-store",
  });
  response.end(bytes);
}

function refuse(
  response: http.ServerResponse,
  { status, code, message, hint }: Omit<Refusal, "is">,
): void {
  // What else may come on this connection was not looked at.
  if (status === 413 || status === 400) response.setHeader("connection", "close");
  const error = { code, message, ...(hint !== undefined && { hint }) };
  send(response, status, { version: 1, error } satisfies ErrorAnswer);
}

const notThere = (path: string): Omit<Refusal, "is"> => ({
  status: 404,
  code: "not-found",
  message: path.startsWith("/api") ? "there is no such question" : "there is no such file",
});

const toldOf = ({ code, message, hint }: Failure): Omit<Refusal, "is" | "status"> => ({
  code,
  message,
  ...(hint !== undefined && { hint }),
});

function statusOf(code: FailureCode): number {
  switch (code) {
    case "usage":
      return 400;
    case "untrusted":
      return 403;
    case "not-found":
    case "no-such-phase":
    case "no-repository":
      return 404;
    case "decision-taken":
    case "locked":
      return 409;
    default:
      return 503;
  }
}
