/**
 * Who is let in by the dashboard, written down a second time: from what is promised and not from how
 * it is done. A request is a handful of claims (by which name, from which page, of which site, by
 * what method, for what, with which word); this says which of them are welcome, how each looks in
 * bytes, and what is wrong with an answer. Below that: requests that are none.
 */
import { headerIn, type RawAnswer } from "./http-talk.ts";
import type { Random } from "./rig.ts";

export interface Knock {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly site: string | undefined;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** What stands in `Authorization`. */
  readonly shows: string | undefined;
  /** Of what is posted. */
  readonly type: string | undefined;
}

export interface OwnHouse {
  readonly port: number;
  readonly token: string;
}

export const hostsOf = ({ port }: OwnHouse): [string, string, string] => [
  `127.0.0.1:${port}`,
  `localhost:${port}`,
  `[::1]:${port}`,
];

const pages = ["/", "/index.html", "/fleet"];
const posted = [
  "/api/decide",
  "/api/enter",
  "/api/fleet/decide",
  "/api/fleet/pause",
  "/api/ticket",
];
/** Whoever asks there has something else to show. */
const withoutToken = ["/api/enter", "/api/proof"];

export const pathOf = (target: string): string => target.split("?", 1)[0] ?? "";

export function isWelcome(knock: Knock, own: OwnHouse): boolean {
  const { host, origin, site, method, target, shows, type } = knock;
  const path = pathOf(target);
  if (host === undefined || !hostsOf(own).includes(host)) return false;
  if (origin !== undefined && origin !== `http://${host}`) return false;
  const isArrival = pages.includes(path) && method === "GET";
  if (site !== undefined && site !== "same-origin" && !(site === "none" && isArrival)) return false;
  if (!path.startsWith("/api/")) return method === "GET" || method === "HEAD";
  const isShown = shows !== undefined && /^Bearer /i.test(shows) && shows.slice(7) === own.token;
  if (!withoutToken.includes(path) && !isShown) return false;
  if (!posted.includes(path)) return method === "GET";
  const isJson = /^application\/json(?:; charset=utf-8)?$/.test(type ?? "");
  return method === "POST" && origin !== undefined && isJson;
}

/** Only what is welcome can change anything, so what is not names the question that is really open. */
export function requestOf(knock: Knock, own: OwnHouse, open: string): string {
  const { host, origin, site, method, target, shows, type } = knock;
  const id = isWelcome(knock, own) ? "d-000000000000" : open;
  const wish = { p: ".", id, key: "A", run: "r", paused: true, ticket: "a-word-of-nobodys" };
  const body = ["POST", "PUT", "PATCH"].includes(method) ? JSON.stringify(wish) : "";
  const header = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`${name}: ${value}`];
  return [
    `${method} ${target} HTTP/1.1`,
    ...header("Host", host),
    ...header("Origin", origin),
    ...header("Sec-Fetch-Site", site),
    ...header("Authorization", shows),
    ...header("Content-Type", type),
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
}

// ── what is wrong with an answer ───────────────────────────────────────────────────────────────

const refusals = new Set([
  "foreign-host",
  "foreign-origin",
  "foreign-site",
  "too-large",
  "bad-request",
  "method",
  "unauthorized",
  "not-json",
]);

export function wrongIn(knock: Knock, answer: RawAnswer | undefined, own: OwnHouse): string[] {
  if (!answer) return ["there is no answer"];
  const { status, head, body } = answer;
  // Without a name it is no request of HTTP's: Node itself says so, without a word.
  if (knock.host === undefined)
    return status === 400 && body === "" && !/^access-control/im.test(head) ? [] : [`${status}`];
  const welcome = isWelcome(knock, own);
  const isLetIn = isAdmitted(knock, answer);
  return [
    ...unsafeIn(answer),
    ...(welcome === isLetIn ? [] : [`${welcome ? "refused" : "let in"}: ${status}`]),
    ...(welcome ? [] : tellsIn(answer)),
    ...(body.includes(own.token) ? ["it tells the token"] : []),
  ];
}

function isAdmitted({ method }: Knock, { status, body }: RawAnswer): boolean {
  if (method === "HEAD") return [200, 404, 503].includes(status);
  if (![400, 401, 403, 405, 413, 415].includes(status)) return true;
  return !refusals.has(codeIn(body) ?? "");
}

export function codeIn(body: string): string | undefined {
  try {
    return (JSON.parse(body) as { error?: { code?: string } }).error?.code;
  } catch {
    return undefined;
  }
}

/** What no answer may lack, and what none may have, whoever asked. */
export function unsafeIn(answer: RawAnswer): string[] {
  const policy = headerIn(answer, "content-security-policy") ?? "";
  return [
    ...(/^access-control/im.test(answer.head) ? ["it lets other origins in"] : []),
    ...(/^set-cookie/im.test(answer.head) ? ["it sets a cookie"] : []),
    ...(answer.status === 101 ? ["it changes the protocol"] : []),
    ...(policy.startsWith("default-src 'none'") && !/unsafe|\*/.test(policy) ? [] : ["no policy"]),
    ...(headerIn(answer, "x-content-type-options") === "nosniff" ? [] : ["its type is guessed at"]),
  ];
}

const mostWords = 400;

/** Whoever is refused is told why, in a few words, and nothing else. */
const tellsIn = ({ body }: RawAnswer): string[] =>
  body.length > mostWords || /"(?:board|decisions|projects|events|proof)"/.test(body)
    ? ["it tells a stranger something"]
    : [];

// ── all that can be claimed ────────────────────────────────────────────────────────────────────

export const targets = [
  "/",
  "/index.html",
  "/fleet",
  "/app.js",
  "/app.css",
  "/nothing.js",
  "/api/projects",
  "/api/board?p=.",
  "/api/events?p=.&after=0&to=2",
  "/api/transcript?run=r&phase=1",
  "/api/brief?run=r&phase=1",
  "/api/diff?run=r&phase=1",
  "/api/artifacts?p=.",
  "/api/artifact?path=_docs/nothing.md",
  "/api/stream?p=.&after=0",
  "/api/proof?nonce=0123456789abcdef",
  "/api/nothing",
  "/api/fleet",
  ...posted,
];

const methods = ["GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE"];
const sites = [undefined, "same-origin", "none", "same-site", "cross-site", "", "Same-Origin"];
const types = [
  "application/json",
  "application/json; charset=utf-8",
  undefined,
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "text/plain; application/json",
];

const namesOf = (own: OwnHouse): (string | undefined)[] => {
  const { port } = own;
  return [
    ...hostsOf(own),
    undefined,
    "",
    "127.0.0.1",
    "localhost",
    `127.0.0.1:${port + 1}`,
    `localhost:0${port}`,
    `localhost.:${port}`,
    `127.0.0.1.:${port}`,
    `LOCALHOST:${port}`,
    `0.0.0.0:${port}`,
    `[::]:${port}`,
    `[::ffff:127.0.0.1]:${port}`,
    `[0:0:0:0:0:0:0:1]:${port}`,
    `127.1:${port}`,
    `2130706433:${port}`,
    `0x7f.1:${port}`,
    `evil.example:${port}`,
    `localhost.evil.example:${port}`,
    `127.0.0.1:${port}.evil.example`,
    `evil.example@127.0.0.1:${port}`,
    `127.0.0.1:${port}, evil.example`,
    `127.0.0.1:${port}/`,
  ];
};

const originsOf = (own: OwnHouse): (string | undefined)[] => {
  const { port } = own;
  return [
    undefined,
    ...hostsOf(own).map((host) => `http://${host}`),
    "null",
    "",
    "file://",
    "http://evil.example",
    "chrome-extension://abcdefgh",
    "http://127.0.0.1",
    `https://127.0.0.1:${port}`,
    `http://127.0.0.1:${port + 1}`,
    `http://127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}.evil.example`,
    `http://localhost.:${port}`,
    `http://0.0.0.0:${port}`,
    `HTTP://127.0.0.1:${port}`,
    `http://127.0.0.1:${port} http://evil.example`,
  ];
};

const wordsOf = ({ token }: OwnHouse): (string | undefined)[] => [
  `Bearer ${token}`,
  `bearer ${token}`,
  undefined,
  "",
  "Bearer ",
  `Bearer ${"x".repeat(token.length)}`,
  `Bearer ${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`,
  `Bearer ${token}x`,
  `Bearer ${token.slice(1)}`,
  `Bearer ${token.toUpperCase()}x`,
  `Basic ${token}`,
  token,
  `Bearer ${token} ${token}`,
];

/** As our own page would ask for it. */
export function ownKnock(target: string, own: OwnHouse): Knock {
  const [host] = hostsOf(own);
  const method = posted.includes(pathOf(target)) ? "POST" : "GET";
  return {
    host,
    origin: method === "POST" ? `http://${host}` : undefined,
    site: "same-origin",
    method,
    target,
    shows: `Bearer ${own.token}`,
    type: "application/json",
  };
}

/** One claim after the other made otherwise, of everything that our page asks for. */
export function oneStepAway(own: OwnHouse): Knock[] {
  const all = targets.flatMap((target) => {
    const right = ownKnock(target, own);
    return claims(own).flatMap((others) => others.map((each): Knock => ({ ...right, ...each })));
  });
  return [...new Map(all.map((knock) => [JSON.stringify(Object.entries(knock)), knock])).values()];
}

/** Several claims at once; a token in the address counts for nothing. */
export function severalStepsAway(own: OwnHouse, random: Random): Knock {
  const oneOf = <T>(items: readonly T[]): T => items[random.below(items.length)] as T;
  let knock = ownKnock(oneOf(targets), own);
  const others = random.shuffled(claims(own)).slice(0, random.between(1, 5));
  for (const each of others) knock = { ...knock, ...oneOf(each) };
  if (!random.chance(0.05)) return knock;
  const { target } = knock;
  return { ...knock, target: `${target}${target.includes("?") ? "&" : "?"}token=${own.token}` };
}

const claims = (own: OwnHouse): Partial<Knock>[][] => [
  namesOf(own).map((host) => ({ host })),
  originsOf(own).map((origin) => ({ origin })),
  sites.map((site) => ({ site })),
  methods.map((method) => ({ method })),
  wordsOf(own).map((shows) => ({ shows })),
  types.map((type) => ({ type })),
];

// ── what is no request ─────────────────────────────────────────────────────────────────────────

export interface Shape {
  readonly name: string;
  readonly bytes: string;
}

/** None of them may end it, or be answered with more than a few words. */
export function misshapen(own: OwnHouse): Shape[] {
  const [name] = hostsOf(own);
  const host = `Host: ${name}`;
  const auth = `Authorization: Bearer ${own.token}`;
  const json = `Origin: http://${name}\r\nContent-Type: application/json`;
  const get = (target: string, ...headers: string[]): string =>
    `GET ${target} HTTP/1.1\r\n${[host, auth, ...headers].join("\r\n")}\r\n\r\n`;
  const post = (headers: string, body = ""): string =>
    `POST /api/decide HTTP/1.1\r\n${host}\r\n${auth}\r\n${json}\r\n${headers}\r\n\r\n${body}`;
  const shapes: Record<string, string> = {
    "zero-bytes": "\r\n\r\n\0\0\0\r\n\r\n",
    "one-word": "GET\r\n\r\n",
    "another-version": "GET / HTTP/9.9\r\n\r\n",
    "two-lines-of-nothing": "\r\n\r\n\r\n\r\n",
    "no-http": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "http-2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "absolute-form-elsewhere": get("http://evil.example/"),
    "absolute-form-here": get(`http://${name}/api/projects`),
    "two-slashes": get("//evil.example/api/board"),
    backslash: get("/\\evil.example/api/board"),
    fragment: get("/api/projects#x"),
    "two-names": get("/api/board", host),
    "two-names-of-others": get("/api/board", "Host: evil.example"),
    "two-origins": get("/api/board", `Origin: http://${name}`, "Origin: http://evil.example"),
    "two-sites": get("/api/board", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"),
    "two-tokens": get("/api/board", "Authorization: Bearer x"),
    "long-target": `GET /${"x".repeat(20_000)} HTTP/1.1\r\n${host}\r\n\r\n`,
    "long-header": `GET / HTTP/1.1\r\n${host}\r\nX: ${"x".repeat(40_000)}\r\n\r\n`,
    "many-headers": `GET / HTTP/1.1\r\n${host}\r\n${"X: y\r\n".repeat(9000)}\r\n`,
    "folded-header": `GET /api/board HTTP/1.1\r\n${host}\r\n x\r\n${auth}\r\n\r\n`,
    "space-before-colon": `GET /api/board HTTP/1.1\r\nHost : ${name}\r\n${auth}\r\n\r\n`,
    "zero-in-a-header": get("/api/board", "X: a\0b"),
    "lines-without-returns": `GET /api/board HTTP/1.1\n${host}\n${auth}\n\n`,
    "too-much-announced": post("Content-Length: 99999999"),
    "less-than-nothing": post("Content-Length: -1"),
    "a-signed-length": post("Content-Length: +2", "{}"),
    "a-hex-length": post("Content-Length: 0x2", "{}"),
    "two-lengths": post("Content-Length: 1\r\nContent-Length: 2", "xx"),
    "length-and-chunks": post("Transfer-Encoding: chunked\r\nContent-Length: 4", "0\r\n\r\n"),
    "no-chunk": post("Transfer-Encoding: chunked", "zz\r\n"),
    "too-many-chunks": post(
      "Transfer-Encoding: chunked",
      `${"ffff\r\n".concat("x".repeat(0xffff), "\r\n").repeat(3)}0\r\n\r\n`,
    ),
    connect: `CONNECT evil.example:443 HTTP/1.1\r\n${host}\r\n\r\n`,
    "options-of-all": `OPTIONS * HTTP/1.1\r\n${host}\r\n\r\n`,
    "a-stream-from-nowhere": get(
      "/api/stream",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Last-Event-ID: x",
    ),
    "socket-of-another-page": get(
      "/api/stream",
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      "Origin: http://evil.example",
    ),
    "socket-without-a-token": `GET /api/stream HTTP/1.1\r\n${host}\r\nOrigin: http://${name}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    "http-2-by-upgrade": `GET /api/stream HTTP/1.1\r\n${host}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
  };
  const bodies = ["", "{", "[]", "null", '"x"', "{}", '{"p":{}}', '{"__proto__":{"p":"."}}'];
  return [
    ...Object.entries(shapes).map(([shape, bytes]) => ({ name: shape, bytes })),
    ...bodies.map((body, at) => ({
      name: `body-${at}`,
      bytes: post(`Content-Length: ${body.length}`, body),
    })),
  ];
}

/**
 * A request that is welcome, hidden where a reader that is generous would find one: in the body of
 * another, or behind what does not end it. Found, it answers the question that is open.
 */
export function smuggled(own: OwnHouse, open: string): Shape[] {
  const [name] = hostsOf(own);
  const wish = JSON.stringify({ p: ".", id: open, key: "A" });
  const hidden = [
    "POST /api/decide HTTP/1.1",
    `Host: ${name}`,
    `Origin: http://${name}`,
    `Authorization: Bearer ${own.token}`,
    "Content-Type: application/json",
    `Content-Length: ${wish.length}`,
    "",
    wish,
  ].join("\r\n");
  const length = `Content-Length: ${hidden.length}`;
  const around = (first: string, host: string, ...headers: string[]): string =>
    `${first} HTTP/1.1\r\nHost: ${host}\r\n${headers.join("\r\n")}\r\n\r\n`;
  const evil = "evil.example";
  const chunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
  const shapes: Record<string, string> = {
    "in-a-refused-body": around("POST /api/decide", evil, length) + hidden,
    "in-the-body-of-a-get": around("GET /", name, length) + hidden,
    "in-the-body-of-a-head": around("HEAD /", name, length) + hidden,
    "in-a-put": around("PUT /", name, length) + hidden,
    "in-a-chunk": around("POST /api/decide", evil, "Transfer-Encoding: chunked") + chunk,
    "in-a-chunk-of-a-get": around("GET /", name, "Transfer-Encoding: chunked") + chunk,
    "behind-length-and-chunks":
      around("POST /api/decide", evil, length, "Transfer-Encoding: chunked") + `0\r\n\r\n${hidden}`,
    "behind-chunks-and-length":
      around("POST /api/decide", evil, "Transfer-Encoding: chunked", "Content-Length: 5") +
      `0\r\n\r\n${hidden}`,
    "behind-two-lengths": around("POST /api/decide", evil, "Content-Length: 0", length) + hidden,
    "behind-a-list-of-lengths":
      around("POST /api/decide", evil, `Content-Length: 0, ${hidden.length}`) + hidden,
    "behind-unknown-chunks":
      around("POST /api/decide", evil, "Transfer-Encoding: xchunked", length) + hidden,
    "behind-two-encodings":
      around("POST /api/decide", evil, "Transfer-Encoding: chunked, identity") +
      `0\r\n\r\n${hidden}`,
    "behind-a-space-before-a-colon":
      around("POST /api/decide", evil, "Transfer-Encoding : chunked", length) + hidden,
    "behind-a-folded-length":
      around("POST /api/decide", evil, "Content-Length:", ` ${hidden.length}`) + hidden,
    "behind-a-long-chunk":
      around("POST /api/decide", evil, "Transfer-Encoding: chunked") +
      `fffffffffffffffff\r\n\r\n0\r\n\r\n${hidden}`,
    "behind-a-chunk-without-returns":
      around("POST /api/decide", evil, "Transfer-Encoding: chunked") + `0\n\n${hidden}`,
    "in-an-extension":
      around("POST /api/decide", evil, "Transfer-Encoding: chunked") +
      `1;x=\n${hidden}\r\nx\r\n0\r\n\r\n`,
    "in-a-header": around("GET /", evil, `X: y\n\n${hidden}`),
    "in-the-target": `GET /\n${hidden} HTTP/1.1\r\nHost: ${evil}\r\n\r\n`,
    "behind-an-upgrade":
      around("GET /api/stream", evil, "Connection: Upgrade", "Upgrade: websocket", length) + hidden,
    "behind-a-connect": `CONNECT ${evil}:443 HTTP/1.1\r\nHost: ${evil}\r\n\r\n${hidden}`,
    "awaiting-leave": around("POST /api/decide", evil, "Expect: 100-continue", length) + hidden,
  };
  return Object.entries(shapes).map(([shape, bytes]) => ({ name: shape, bytes }));
}
