import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type GitHubServer, startGitHub } from "../test/github-server.ts";
import { ownText } from "./core/pull-request.ts";
import { defaultBranch, ensurePullRequest } from "./github.ts";

let server: GitHubServer;
beforeEach(async () => {
  server = await startGitHub();
  server.tip = () => "c1";
});
afterEach(() => server.close());

const token = "ghs_0123456789abcdefghijklmnop";
const place = () => ({ api: server.api, repository: "o/r", token });
const quick = { callMs: 2000, pauses: [1, 1, 1], limitMs: 3000 };
const wanted = {
  branch: "autodev/x",
  into: "main",
  commit: "c1",
  title: "A feature",
  text: "ours",
};
const ensure = (more = {}) => ensurePullRequest(place(), { ...wanted, ...more }, quick);
const made = (): number => server.calls.filter(({ what }) => what.startsWith("POST")).length;

describe("a pull request", () => {
  it("is made once, and found from then on", async () => {
    expect(await ensure()).toMatchObject({ ok: true, value: { number: 1, is: "created" } });
    expect(await ensure()).toMatchObject({ ok: true, value: { number: 1, is: "unchanged" } });
    expect(server.pulls).toHaveLength(1);
    expect(made()).toBe(1);
    expect(new Set(server.calls.map(({ authorization }) => authorization))).toEqual(
      new Set([`Bearer ${token}`]),
    );
  });

  it("has our text brought up to date, and no other", async () => {
    await ensure();
    const [pull] = server.pulls;
    if (pull) pull.body = `Mine.\r\n\r\n${pull.body}`;
    expect(await ensure({ text: "newer" })).toMatchObject({ value: { is: "updated" } });
    expect(pull?.body).toBe(`Mine.\n\n${ownText("newer")}`);
    if (pull) pull.body = "All mine.";
    expect(await ensure({ text: "newest" })).toMatchObject({ value: { is: "unchanged" } });
  });

  it("that people closed as it is stays closed; with something new in it, there is another", async () => {
    await ensure();
    const [pull] = server.pulls;
    if (pull) Object.assign(pull, { state: "closed" });
    expect(await ensure()).toMatchObject({ value: { number: 1, is: "closed" } });
    expect(await ensure({ commit: "c2" })).toMatchObject({ value: { number: 2, is: "created" } });
  });

  it("into another branch is another", async () => {
    await ensure();
    if (server.pulls[0]) server.pulls[0].state = "closed";
    expect(await ensure({ into: "next" })).toMatchObject({ value: { number: 2, is: "created" } });
  });

  it.each([
    ["the answer to its making is lost", "POST", "lost"],
    ["the call to make it is cut", "POST", "cut"],
    ["looking for it is cut", "GET", "cut"],
    ["making it is a failure of theirs", "POST", { status: 502 }],
    ["looking is one", "GET", { status: 500 }],
    ["a limit says when", "POST", { status: 403, headers: { "retry-after": "1" } }],
    ["too much was asked", "GET", { status: 429 }],
  ] as const)("is one when %s", async (_, method, fault) => {
    server.faults.push({ method, fault });
    expect(await ensure()).toMatchObject({ ok: true, value: { number: 1 } });
    expect(server.pulls).toHaveLength(1);
  });

  it("that somebody else made in the same moment is taken", async () => {
    await ensure();
    server.faults.push({ method: "GET", fault: "hidden" });
    expect(await ensure()).toMatchObject({ ok: true, value: { number: 1, is: "unchanged" } });
    expect(server.pulls).toHaveLength(1);
  });

  it("that was made and lost, and is not listed for a while, is still one", async () => {
    server.faults.push({ method: "POST", fault: "lost" });
    server.faults.push({ method: "GET", fault: "hidden" }, { method: "GET", fault: "hidden" });
    expect(await ensure()).toMatchObject({ ok: true, value: { number: 1 } });
    expect(server.pulls).toHaveLength(1);
  });

  it.each([
    [
      "without permission",
      { status: 403, message: "Resource not accessible" },
      /pull-requests: write/,
    ],
    ["with a bad token", { status: 401, message: "Bad credentials" }, /not valid/],
    ["for longer than one waits", { status: 403, headers: { "retry-after": "600" } }, /in 10 min/],
    ["for what it is", { status: 422, message: "No commits between main and x" }, /by hand/],
  ])("is refused %s at once, with a way out", async (_, fault, hint) => {
    server.faults.push({ method: "POST", fault });
    const refused = await ensure();
    expect(refused).toMatchObject({ ok: false, failure: { code: "pull-request" } });
    expect(refused).toHaveProperty("failure.hint", expect.stringMatching(hint));
    expect(made()).toBe(1);
  });

  it("is given up after a few tries, and no message has the token", async () => {
    const fault = { status: 500, message: `you sent ${token}` };
    for (let at = 0; at < 9; at++) server.faults.push({ method: "POST", fault });
    const refused = await ensure();
    expect(made()).toBe(quick.pauses.length + 1);
    expect(refused).toMatchObject({ ok: false });
    expect(JSON.stringify(refused)).not.toContain(token);
  });

  it("cannot be had where nobody answers", async () => {
    await server.close();
    const refused = await ensure();
    expect(refused).toMatchObject({ ok: false, failure: { code: "pull-request" } });
  });

  it("goes into the default branch of what answers as GitHub does", async () => {
    expect(await defaultBranch(place(), quick)).toEqual({ ok: true, value: "main" });
    expect(await defaultBranch({ ...place(), repository: "o/other" }, quick)).toMatchObject({
      ok: false,
    });
  });
});
