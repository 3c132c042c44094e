import { describe, expect, it } from "vitest";
import { guard, type Knock, mostBody, type Verdict } from "./guard.ts";

const token = "A".repeat(43);
const house = { port: 4711, token };
const host = "127.0.0.1:4711";
const bearer = `Bearer ${token}`;

const asked = (
  method: string,
  target: string,
  headers: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): Verdict =>
  guard({ method, target, headers: [...Object.entries(headers).flat(), ...more] }, house);

const statusOf = (verdict: Verdict): number => (verdict.is === "refused" ? verdict.status : 200);

const api = { Host: host, Authorization: bearer };
const posting = { ...api, Origin: `http://${host}`, "Content-Type": "application/json" };

describe("the guard lets in", () => {
  it.each<[string, Knock["method"], string, Record<string, string>]>([
    ["whoever opens the page", "GET", "/", { Host: host, "Sec-Fetch-Site": "none" }],
    ["the page by its other name", "GET", "/index.html?x=1", { Host: "localhost:4711" }],
    ["whoever opens the fleet's page", "GET", "/fleet", { Host: host, "Sec-Fetch-Site": "none" }],
    ["the page's files", "GET", "/app.js", { Host: host, "Sec-Fetch-Site": "same-origin" }],
    ["a look at the page's head", "HEAD", "/app.css", { Host: "[::1]:4711" }],
    [
      "our page with the token",
      "GET",
      "/api/board?p=.",
      { ...api, "Sec-Fetch-Site": "same-origin" },
    ],
    ["a program with the token", "GET", "/api/board?p=.&at=7", api],
    ["an answer from our page", "POST", "/api/decide", posting],
    ["an answer for a fleet", "POST", "/api/fleet/decide", posting],
    [
      "an answer in UTF-8",
      "POST",
      "/api/decide",
      { ...posting, "Content-Type": "application/json; charset=utf-8" },
    ],
    ["whoever has a ticket", "POST", "/api/enter", without(posting, "Authorization")],
    ["whoever wants a proof", "GET", "/api/proof?nonce=x", { Host: host }],
  ])("%s", (_, method, target, headers) => {
    expect(asked(method, target, headers).is).not.toBe("refused");
  });

  it("tells path and query apart", () => {
    expect(asked("GET", "/api/board?p=a%2Fb&at=1", api)).toEqual({
      is: "api",
      path: "/api/board",
      query: "p=a%2Fb&at=1",
    });
  });
});

describe("the guard turns away", () => {
  it.each([
    "127.0.0.1",
    "127.0.0.1:4712",
    "localhost",
    "localhost.:4711",
    "localhost:4711.",
    "LOCALHOST:4711",
    "0.0.0.0:4711",
    "evil.example:4711",
    "127.0.0.1:4711.evil.example",
    "evil.example@127.0.0.1:4711",
    "127.1:4711",
    "[::1]",
    "::1:4711",
    "",
  ])("the name %j", (name) => {
    expect(statusOf(asked("GET", "/", { ...api, Host: name }))).toBe(403);
    expect(statusOf(asked("GET", "/api/board", { ...api, Host: name }))).toBe(403);
  });

  it("no name, and two of them", () => {
    expect(statusOf(asked("GET", "/", {}))).toBe(403);
    expect(statusOf(asked("GET", "/", { Host: host }, ["host", host]))).toBe(403);
  });

  it.each([
    "null",
    "",
    "http://evil.example",
    "https://127.0.0.1:4711",
    "http://127.0.0.1",
    "http://127.0.0.1:4712",
    "http://localhost:4711",
    "http://127.0.0.1:4711/",
    "http://127.0.0.1:4711.evil.example",
  ])("the origin %j, even of the page", (origin) => {
    expect(statusOf(asked("GET", "/", { ...api, Origin: origin }))).toBe(403);
    expect(statusOf(asked("POST", "/api/decide", { ...posting, Origin: origin }))).toBe(403);
  });

  it("two origins", () => {
    expect(statusOf(asked("POST", "/api/decide", posting, ["origin", `http://${host}`]))).toBe(403);
  });

  it.each(["cross-site", "same-site", "", "Same-Origin"])("a request from a %j site", (site) => {
    expect(statusOf(asked("GET", "/", { ...api, "Sec-Fetch-Site": site }))).toBe(403);
  });

  it("an address typed by hand that is not the page's", () => {
    const typed = { ...api, "Sec-Fetch-Site": "none" };
    expect(statusOf(asked("GET", "/app.js", typed))).toBe(403);
    expect(statusOf(asked("GET", "/api/board", typed))).toBe(403);
    expect(statusOf(asked("HEAD", "/", typed))).toBe(403);
  });

  it.each([
    ["none", {}],
    ["another", { Authorization: `Bearer ${"B".repeat(43)}` }],
    ["its beginning", { Authorization: `Bearer ${token.slice(0, 42)}` }],
    ["more than it", { Authorization: `Bearer ${token}A` }],
    ["an empty one", { Authorization: "Bearer " }],
    ["one as a password", { Authorization: `Basic ${token}` }],
    ["one without a word before it", { Authorization: token }],
  ])("a token that is %s", (_, headers) => {
    const told = { Host: host, ...headers };
    expect(statusOf(asked("GET", "/api/board", told))).toBe(401);
    expect(statusOf(asked("GET", "/api/nothing", told))).toBe(401);
    expect(statusOf(asked("GET", `/api/board?token=${token}`, told))).toBe(401);
    const cookie = { ...told, Cookie: `token=${token}` };
    expect(statusOf(asked("GET", "/api/board", cookie))).toBe(401);
  });

  it("two tokens, of which one is right", () => {
    expect(statusOf(asked("GET", "/api/board", api, ["authorization", "Bearer x"]))).toBe(401);
  });

  it.each(["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "POST", "get", "PROPFIND"])(
    "%s",
    (method) => {
      expect(statusOf(asked(method, "/", posting))).toBe(405);
      expect(statusOf(asked(method, "/api/board", posting))).toBe(405);
      if (method !== "POST") expect(statusOf(asked(method, "/api/decide", posting))).toBe(405);
    },
  );

  it("a change asked for by GET", () => {
    expect(statusOf(asked("GET", "/api/decide?id=d-1&key=A", posting))).toBe(405);
    expect(statusOf(asked("GET", "/api/enter?ticket=x", posting))).toBe(405);
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json"])(
    "a change sent as %j, as forms can",
    (type) => {
      expect(statusOf(asked("POST", "/api/decide", { ...posting, "Content-Type": type }))).toBe(
        415,
      );
    },
  );

  it("a change without an origin", () => {
    expect(statusOf(asked("POST", "/api/decide", without(posting, "Origin")))).toBe(403);
    expect(statusOf(asked("POST", "/api/enter", without(posting, "Origin")))).toBe(403);
  });

  it.each([String(mostBody + 1), "-1", "1e3", "0x10", "99999999999", "a"])(
    "a body of %s bytes",
    (length) => {
      const told = { ...posting, "Content-Length": length };
      expect(statusOf(asked("POST", "/api/decide", told))).toBe(413);
    },
  );

  it.each([
    "//evil.example/",
    "http://127.0.0.1:4711/",
    "*",
    "",
    "api/board",
    "/a b",
    "/#x",
    "/\u0000",
  ])("the address %j", (target) => {
    expect(statusOf(asked("GET", target, api))).toBe(400);
  });
});

it("says what is wrong without repeating what was sent", () => {
  const verdicts = [
    asked("GET", "/<script>", { Host: "<script>" }),
    asked("GET", "/api/<script>", { Host: host }),
    asked("POST", "/api/decide", { ...posting, Origin: "<script>" }),
  ];
  for (const verdict of verdicts) expect(JSON.stringify(verdict)).not.toContain("<script>");
});

function without(headers: Record<string, string>, name: string): Record<string, string> {
  const { [name]: _, ...rest } = headers;
  return rest;
}
