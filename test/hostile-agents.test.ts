/**
 * An agent that prints whatever it likes, through the built binary: escape sequences, endless lines,
 * bytes that are no text, half of JSON, secrets in every form. Its work lands all the same; nothing
 * of that reaches a terminal, a log or a commit, and memory does not grow with how much there was.
 * AUTODEV_HOSTILE_MB: how much that is, 100 by default.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  expectComplete,
  expectTidy,
  hashIn,
  planOf,
  startBuild,
  type Underway,
} from "./build-rig.ts";
import { expectNoCrash, makeFolder, makeRepo, type Ran, type Repo } from "./rig.ts";

const patience = 300_000;
const megabytes = Number(process.env["AUTODEV_HOSTILE_MB"] ?? 100);

/** Put together here, so that nobody's scanner takes this file for a leak; the slash is for JSON. */
const secret = ["Zq7/hush", "hush+hush", "0123456789"].join("-");
const numbered = secret
  .split("")
  .map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`)
  .join("");
const slashed = secret.replaceAll("/", "\\/");

/** Stands for Claude Code: says and does what follows, whatever it is told. */
const program = `#!${process.execPath}
const fs = require("node:fs");
const put = (fd, bytes) => { for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at); };
const line = (fd, text) => put(fd, Buffer.from(text + "\\n"));
const out = (value) => line(1, typeof value === "string" ? value : JSON.stringify(value));
const message = (...content) => ({ type: "assistant", message: { id: "m", content } });
const text = (words) => message({ type: "text", text: words });
if (process.argv.includes("--version")) { out("2.1.325 (Claude Code)"); process.exit(0); }
if (process.argv[2] === "auth") { out({ loggedIn: true }); process.exit(0); }

const secret = process.env.HUSH_API_KEY;
const [slashed, numbered] = [process.env.SLASHED, process.env.NUMBERED];
const escapes = "\\u001b[31mred\\u001b]52;c;cHduZWQ=\\u0007\\u001b]0;pwned\\u001b\\\\\\u009b2J\\u202e\\u200b\\r";
const MB = 1024 ** 2;
const most = Number(process.env.MEGABYTES) * MB;

out({ type: "system", subtype: "init", session_id: "s-1", model: "m\\u001b[1m" });
// As bytes, and as JSON that holds them.
for (const fd of [1, 2]) {
  line(fd, "plain " + escapes + secret);
  put(fd, Buffer.concat([Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0x00]), Buffer.from(" no text\\n")]));
  line(fd, "one\\u2028two\\u2029three " + secret);
  line(fd, '{"type":"assistant","message":{"content":[{"type":"text","te');
  line(fd, '{"type":"assistant","mess' + secret);
}
out(text("told " + escapes + secret + "\\u2028second\\u2029third"));
// In forms that are another text until somebody reads the JSON.
out('{"type":"assistant","message":{"id":"n","content":[{"type":"text","text":"slashed ' + slashed + '"}]}}');
out('{"type":"assistant","message":{"id":"o","content":[{"type":"text","text":"numbered ' + numbered + '"}]}}');
out(message({ type: "tool_use", id: "t", name: "Bash" + escapes, input: { command: "echo " + secret + escapes } }));
line(2, "said beside: " + slashed + " " + numbered);

// One line without an end; wherever it is cut, a secret lies across the cut.
put(1, Buffer.from('{"type":"assistant","message":{"content":[{"type":"text","text":"'));
const piece = Buffer.from((secret + "x".repeat(97)).repeat(8000));
for (let said = 0; said < most; said += piece.length) put(1, piece);
line(1, "");

// Long lines of every kind, of which each would be kept by somebody who keeps lines.
const long = "y".repeat(3 * MB);
const kinds = [
  () => out(text(long + "\\nshort after long")),
  () => line(2, long),
  () => out(long),
  () => out(message({ type: "tool_use", id: "u" + Math.random(), name: "Bash", input: { command: long } })),
];
for (let said = 0, turn = 0; said < most; said += long.length, turn++) kinds[turn % kinds.length]();

fs.mkdirSync("src", { recursive: true });
fs.writeFileSync("src/1.txt", "part 1\\n");
out({
  type: "result", subtype: "success", is_error: false, result: "done " + escapes + secret,
  structured_output: {
    phase_id: "1", status: "complete", tasks: { total: 1, completed: 1 },
    commit_message: "feat: part 1 " + escapes + secret,
    files: { created: ["src/1.txt"], modified: [], deleted: [] },
  },
});
const rest = Buffer.alloc(65536);
while (fs.readSync(0, rest) > 0);
`;

interface Built {
  readonly repo: Repo;
  readonly ran: Ran;
  readonly peak: number;
}

async function builtBy(amount: number): Promise<Built> {
  const programs = makeFolder("hostile");
  fs.writeFileSync(path.join(programs, "claude"), program, { mode: 0o755 });
  const repo = makeRepo({
    "docs/feature-plan.md": planOf([{ id: "1" }]),
    ".autodev/config.yaml": "agent: claude\ngates:\n  test: test -d docs\n",
  });
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--message=plan");
  const env = {
    PATH: `${programs}${path.delimiter}${process.env["PATH"]}`,
    HUSH_API_KEY: secret,
    SLASHED: slashed,
    NUMBERED: numbered,
    MEGABYTES: `${amount}`,
  };
  const start = (...args: string[]): Underway => startBuild(repo, args, { env, timeout: patience });
  const hash = hashIn(await start().ended) ?? expect.fail("nothing has to be trusted");
  const underway = start("--trust-sha256", hash);
  const ran = await underway.ended;
  return { repo, ran, peak: underway.peak() };
}

/** All that we have written below a folder. */
const filesBelow = (folder: string): [string, string][] =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => path.join(each.parentPath, each.name))
    .map((file) => [file, fs.readFileSync(file, "latin1")]);

/** In no form; said without the text itself, which may be megabytes. */
function expectNoSecret(text: string, where: string): void {
  for (const form of [secret, slashed, numbered]) {
    const at = text.indexOf(form);
    expect(at === -1 ? "" : text.slice(Math.max(0, at - 80), at + 120), where).toBe("");
  }
}

/** Escapes, bells, C1: nothing that a terminal obeys, and no other way to end a line. */
function expectHarmless(text: string, where: string): void {
  const found = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202e]/.exec(text);
  const at = found?.index ?? -1;
  expect(at === -1 ? "" : JSON.stringify(text.slice(Math.max(0, at - 80), at + 40)), where).toBe(
    "",
  );
  expectNoSecret(text, where);
}

describe("an agent that prints whatever it likes", { timeout: patience }, () => {
  it("is heard, and nothing of it gets out", async () => {
    const { repo, ran, peak } = await builtBy(megabytes);
    expectComplete(ran);
    expect(repo.git("show", "HEAD:src/1.txt")).toBe("part 1\n");
    expectHarmless(ran.all, "build");

    for (const args of [["1"], ["1", "--raw"], ["1", "--json"], ["--json"], []]) {
      const log = await repo.autodev("log", ...args);
      expectNoCrash(log);
      expect(log.code).toBe(0);
      expectHarmless(log.all, `log ${args.join(" ")}`);
    }
    const words = await repo.autodev("log", "1");
    expect(words.out).toContain("slashed [masked]");
    expect(words.out).toContain("numbered [masked]");
    expect(words.out).toContain("short after long");

    const logs = filesBelow(repo.at(".autobuild"));
    expect(logs.length).toBeGreaterThan(0);
    for (const [file, text] of logs) {
      expectHarmless(Buffer.from(text, "latin1").toString("utf8"), file);
    }
    // Raw but for secrets: the transcript among them, and the journal.
    const memory = filesBelow(repo.at(".git"));
    expect(memory.some(([file]) => file.endsWith("1-1.log"))).toBe(true);
    for (const [file, text] of memory) expectNoSecret(text, file);
    for (const [file, text] of memory) expect(text.length, file).toBeLessThan(32 * 1024 ** 2);
    expectHarmless(repo.git("log", "--all", "--format=%B"), "commits");
    expectTidy(repo);

    // Ten times as much takes no more memory.
    const little = await builtBy(megabytes / 10);
    expectComplete(little.ran);
    expect(peak / little.peak, `${peak} MB, ${little.peak} MB`).toBeLessThan(1.5);
  });
});
