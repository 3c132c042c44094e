import { createHash } from "node:crypto";
import { parse } from "jsonc-parser";
import { describe, expect, it } from "vitest";
import type { HostName } from "../core/host/hosts.ts";
import type { Intent, Outcome } from "../core/host/outcome.ts";
import { type AutobuildChoice, type Wanted, wantedFiles } from "../core/host/wanted.ts";
import { applyEdits } from "../core/plan/edits.ts";
import { readToml } from "../core/toml.ts";
import { planHostFile } from "./host-file.ts";

const hash = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

const wantedIn = (file: string, choice: AutobuildChoice = "ignore"): Wanted => {
  const all: HostName[] = ["claude", "codex", "cursor", "gemini", "opencode", "copilot"];
  const found = wantedFiles(all, choice).find((each) => each.file === file);
  if (!found) throw new Error(`nobody wants ${file}`);
  return found;
};

function outcomeOf(wanted: Wanted, text: string | undefined, how: Partial<Intent> = {}): Outcome {
  const { file } = wanted;
  const planned = planHostFile(wanted, { file, text, missing: 0 }, { do: "put", hash, ...how });
  if (!planned.ok) throw new Error(planned.failure.message);
  return planned.value;
}

/** The text afterwards; undefined: no file. */
function after(wanted: Wanted, text: string | undefined, how: Partial<Intent> = {}) {
  const outcome = outcomeOf(wanted, text, how);
  if (outcome.is === "create") return outcome.text;
  if (outcome.is === "edit") return applyEdits(text ?? "", outcome.edits);
  if (outcome.is === "remove") return undefined;
  return outcome.is === "left" ? `left: ${outcome.why}` : text;
}

/** Put twice is put once; taken away again it is what it was. */
function expectRoundTrip(wanted: Wanted, text: string | undefined): string {
  const put = after(wanted, text);
  expect(put).toBeDefined();
  expect(outcomeOf(wanted, put), put).toEqual({ is: "same" });
  expect(after(wanted, put, { do: "take" }), put).toBe(text);
  return put ?? "";
}

const failureOf = (wanted: Wanted, text: string): { message: string; line?: number } => {
  const planned = planHostFile(
    wanted,
    { file: wanted.file, text, missing: 0 },
    { do: "put", hash },
  );
  if (planned.ok) throw new Error(`it was read: ${JSON.stringify(planned.value)}`);
  return planned.failure;
};

/** The same numbers each time: a failure can be had again. */
function dice(seed: number): (sides: number) => number {
  let state = seed * 2654435761 + 1;
  return (sides) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return (state >>> 8) % sides;
  };
}

const pick = <T>(roll: (sides: number) => number, list: readonly T[]): T =>
  list[roll(list.length)] as T;

// ── JSON ───────────────────────────────────────────────────────────────────────────────────────

const mcp = wantedIn(".mcp.json");
const ours = { command: "autodev", args: ["mcp"] };

describe("an entry in JSON", () => {
  it.each([
    ["{}", '{"mcpServers": { "autodev": { "command": "autodev", "args": ["mcp"] } }}'],
    ["{\n}\n", '{\n  "mcpServers": { "autodev": { "command": "autodev", "args": ["mcp"] } }\n}\n'],
    ['{"a":1}', '{"a":1,"mcpServers":{ "autodev":{"command":"autodev","args":["mcp"]} }}'],
    [
      '{\n  "mcpServers": {\n    "x": { "command": "x" } // mine\n  }\n}',
      '{\n  "mcpServers": {\n    "x": { "command": "x" }, // mine\n    "autodev": { "command": "autodev", "args": ["mcp"] }\n  }\n}',
    ],
    [
      '{\r\n\t"mcpServers": {\r\n\t\t"x": {},\r\n\t},\r\n}',
      '{\r\n\t"mcpServers": {\r\n\t\t"x": {},\r\n\t\t"autodev": { "command": "autodev", "args": ["mcp"] },\r\n\t},\r\n}',
    ],
  ])("goes into %j", (text, wanted) => {
    expect(expectRoundTrip(mcp, text)).toBe(wanted);
  });

  it.each([
    undefined,
    "",
    "\n",
    "\uFEFF",
    "  \n\n",
    "{ }",
    "{\n\n}",
    "\uFEFF{}",
    '{"mcpServers":{}}',
    '{"mcpServers": { }}',
    '{"mcpServers": {\n}}',
    '{\n  "mcpServers": {\n  }\n}\n',
    "{ // nothing yet\n}",
    "// first\n{ /* a */ /* b */ }\n// last",
    '{"a": 1 /* c */, // d  \n}',
    '{"mcpServers": { "x": {} /* c */ /* e */ }}',
    '{\n  "mcpServers": { "x": 1, "y": 2 },\n  "z": [1,\n2]}',
  ])("leaves no trace in %j", (text) => {
    const put = expectRoundTrip(mcp, text);
    expect(parse(put.replace("\uFEFF", ""))).toMatchObject({ mcpServers: { autodev: ours } });
  });

  it("stays when somebody else adds another behind it, and then goes alone", () => {
    const put = after(mcp, '{ "mcpServers": { "x": {} } }') ?? "";
    const grown = put.replace('["mcp"] }', '["mcp"] }, "y": {}');
    expect(after(mcp, grown, { do: "take" })).toBe('{ "mcpServers": { "x": {}, "y": {} } }');
  });

  it("that starts the same in other words is good as it is", () => {
    const theirs = '{"mcpServers":{"autodev":{"type":"stdio","args":["mcp"],"command":"autodev"}}}';
    expect(outcomeOf(mcp, theirs)).toEqual({ is: "same" });
    expect(outcomeOf(mcp, theirs, { do: "take" })).toMatchObject({ is: "left", line: 1 });
  });

  it("of somebody else is left, and replaced only when a person says so", () => {
    const theirs = '{\n  "mcpServers": {\n    "autodev": { "command": "mine" }\n  }\n}';
    expect(outcomeOf(mcp, theirs)).toMatchObject({ is: "left", line: 3 });
    expect(after(mcp, theirs, { replace: true })).toBe(
      '{\n  "mcpServers": {\n    "autodev": { "command": "autodev", "args": ["mcp"] }\n  }\n}',
    );
  });

  it.each([
    ['{\n  "a": 1,\n  "b" 2\n}', 3, "no JSON"],
    ['{\n"mcpServers": []}', 2, "an object"],
    ["[]", 1, "an object"],
    ['{"mcpServers": {},\n"mcpServers": {}}', 2, "second time"],
    ['{"a": 1}\n}', 2, "no JSON"],
    ["// only this", 1, "no JSON"],
    ['{\n<<<<<<< HEAD\n"a": 1\n=======\n"a": 2\n>>>>>>> b\n}', 2, "conflict markers"],
  ])("is not put into %j", (text, line, reason) => {
    expect(failureOf(mcp, text)).toMatchObject({ line, message: expect.stringContaining(reason) });
  });

  it("is not put into what is nested deeper than anything that people write", () => {
    expect(failureOf(mcp, "[".repeat(200_000))).toMatchObject({ line: 1 });
  });

  it("takes no longer than a file is long", () => {
    const long = " ".repeat(300_000);
    const marks = "<<<<<<< HEAD\n".repeat(20_000);
    expectRoundTrip(mcp, `{"a": 1,${long}"b": 2, "c": 3${long}}`);
    expectRoundTrip(wantedIn("AGENTS.md"), marks);
    outcomeOf(wantedIn(".codex/config.toml"), `${long}\nmcp_servers.autodev.command = "x"\n`);
  });

  it("leaves no trace in thousands of files, whatever they look like", () => {
    for (let seed = 0; seed < 3000; seed++) {
      const roll = dice(seed);
      for (const file of [".mcp.json", "opencode.json"]) {
        const wanted = wantedIn(file);
        const text = strangeJson(roll, file === ".mcp.json" ? "mcpServers" : "mcp");
        const put = expectRoundTrip(wanted, text);
        const [before, now] = [text, put].map((each) => parse(each.replace(/^\uFEFF/, "")));
        const { autodev: _, ...others } = now.mcpServers ?? now.mcp;
        expect({ ...now, mcpServers: undefined, mcp: undefined }).toEqual({
          ...before,
          mcpServers: undefined,
          mcp: undefined,
        });
        expect(others).toEqual(before.mcpServers ?? before.mcp ?? {});
        // What is left of ours are whole pieces: everything of theirs is still there, in order.
        expect(isSubsequence(text, put)).toBe(true);
      }
    }
  });
});

function isSubsequence(part: string, whole: string): boolean {
  let at = 0;
  for (let each = 0; each < whole.length; each++) if (whole[each] === part[at]) at++;
  return at === part.length;
}

function strangeJson(roll: (sides: number) => number, key: string): string {
  const end = pick(roll, ["\n", "\r\n"]);
  const gaps = [
    ["", " ", "  ", "\t"],
    ["", " ", end, `${end}  `, `${end}\t\t`, `${end}${end}`],
    [" ", end, `/* c */`, ` // d  ${end}`, `${end}  // "autodev": {}${end}`, "/**/ /*}*/"],
  ][roll(3)] as string[];
  const gap = (): string => pick(roll, gaps);
  const value = (depth: number): string => {
    const kind = depth > 3 ? 0 : roll(4);
    if (kind === 1) return object(depth + 1, []);
    if (kind === 2) return `[${gap()}${roll(2) ? `1${gap()}` : ""}]`;
    return pick(roll, ["1", '"}"', '"// no"', "null", '"\\"autodev\\": {"', "true", '"é😀"']);
  };
  const object = (depth: number, fixed: string[]): string => {
    const keys = Array.from({ length: roll(3) }, (_, at) => `"k${at}"`);
    const members = [
      ...keys.map((each) => `${gap()}${each}${gap()}:${gap()}${value(depth)}${gap()}`),
      ...fixed,
    ];
    const trailing = members.length > 0 && roll(4) === 0 ? "," : "";
    return `{${members.join(",")}${trailing}${gap()}}`;
  };
  const holder = roll(3) === 0 ? [] : [`${gap()}"${key}"${gap()}:${gap()}${object(2, [])}${gap()}`];
  return `${roll(5) === 0 ? "\uFEFF" : ""}${gap()}${object(0, holder)}${gap()}`;
}

// ── TOML ───────────────────────────────────────────────────────────────────────────────────────

const codex = wantedIn(".codex/config.toml");

describe("an entry in TOML", () => {
  it("is a table at the end, between marks", () => {
    expect(expectRoundTrip(codex, 'model = "x" # mine\n')).toMatch(
      /^model = "x" # mine\n\n# autodev:start 1 [0-9a-f]{8}\n\[mcp_servers\.autodev\]\ncommand = "autodev"\nargs = \["mcp"\]\n# autodev:end\n$/,
    );
  });

  it.each([
    undefined,
    "",
    "\n",
    "\uFEFF",
    "a = 1",
    "a = 1\r\nb = 2",
    'text = """\n[mcp_servers.autodev]\ncommand = "x"\n"""',
    "text = '''\n# autodev:end\n'''\n",
    '[mcp_servers]\nx = { command = "x" }\n',
    'mcp_servers.x.command = "x"\n',
    '# [mcp_servers.autodev]\n[mcp_servers."autodev2"]\ncommand = "x"',
  ])("leaves no trace in %j", (text) => {
    const put = expectRoundTrip(codex, text);
    expect(readToml(put)).toMatchObject({ mcp_servers: { autodev: ours } });
  });

  it.each([
    ['[mcp_servers.autodev]\ncommand = "mine"\n', 1],
    ['a = 1\n[mcp_servers."autodev"]\ncommand = "mine"\n', 2],
    ['\nmcp_servers.autodev = { command = "mine" }\n', 2],
    ['\nmcp_servers.autodev.command = "mine"\n', 2],
    ['[mcp_servers]\nx = {}\nautodev = { command = "mine" }\n', 3],
    ['mcp_servers = { autodev = { command = "mine" } }', 1],
    ['\nmcp_servers = { x = { command = "x" } }', 2],
  ])("is not put beside %j", (text, line) => {
    expect(outcomeOf(codex, text)).toMatchObject({ is: "left", line });
    expect(outcomeOf(codex, text, { do: "take" })).toEqual({ is: "same" });
  });

  it("that starts the same in other words is good as it is, and stays", () => {
    const theirs = '[mcp_servers]\nautodev = { command = "autodev", args = [ "mcp", ] }\n';
    expect(outcomeOf(codex, theirs)).toEqual({ is: "same" });
    expect(outcomeOf(codex, theirs, { do: "take" })).toEqual({ is: "same" });
  });

  it("is not put into what is no TOML", () => {
    expect(failureOf(codex, "a = 1\nb =\n")).toMatchObject({ line: 2 });
  });

  it("leaves no trace in a thousand files, whatever they look like", () => {
    for (let seed = 0; seed < 1000; seed++) {
      const roll = dice(seed);
      const text = strangeLines(roll, [
        "a = 1",
        "# a comment [mcp_servers.autodev]",
        "",
        "  [mcp_servers.x]  # here",
        "[[list]]",
        "'odd key' = 'x'",
        'text = """\r\n[mcp_servers.autodev]\n"""',
      ]);
      if (readToml(text) === undefined) continue;
      const put = expectRoundTrip(codex, text);
      const { mcp_servers: servers, ...rest } = readToml(put) as Record<string, object>;
      const { autodev, ...others } = servers as Record<string, object>;
      expect(autodev).toEqual(ours);
      expect({ ...rest, mcp_servers: others }).toEqual({ mcp_servers: {}, ...readToml(text) });
      expect(put.startsWith(text)).toBe(true);
    }
  });
});

function strangeLines(roll: (sides: number) => number, lines: readonly string[]): string {
  const ends = pick(roll, [["\n"], ["\r\n"], ["\n", "\r\n"]]);
  const text = Array.from({ length: roll(6) }, () => pick(roll, lines) + pick(roll, ends)).join("");
  const last = pick(roll, ["", "", "# no end", "\r", "  ", "\n\n"]);
  return `${roll(6) === 0 ? "\uFEFF" : ""}${text}${last}`;
}

// ── blocks ─────────────────────────────────────────────────────────────────────────────────────

describe("a block in a document", () => {
  const agents = wantedIn("AGENTS.md");
  const imported = wantedIn("CLAUDE.md");
  const ignored = wantedIn(".gitignore");

  it("is at most 15 lines", () => {
    expect(after(agents, undefined)?.trimEnd().split("\n").length).toBeLessThanOrEqual(15);
  });

  it("leaves no trace in a thousand files, whatever they look like", () => {
    const lines = ["# A", "", "text", "```", "<!-- autodev:start -->", "- [ ] x  ", "dist/", "!a"];
    for (let seed = 0; seed < 1000; seed++) {
      const roll = dice(seed);
      const text = roll(20) === 0 ? undefined : strangeLines(roll, lines);
      for (const wanted of [agents, imported, ignored, wantedIn(".gitignore", "track")]) {
        expect(expectRoundTrip(wanted, text).startsWith(text ?? "")).toBe(true);
      }
    }
  });

  it("is not needed where the file says so by itself", () => {
    for (const text of ["@AGENTS.md\n", "See @./AGENTS.md for more", "# A\r\n@AGENTS.md\r\n"]) {
      expect(outcomeOf(imported, text)).toEqual({ is: "same" });
    }
    expect(outcomeOf(imported, "mail@AGENTS.md\n").is).toBe("edit");
    for (const text of [".autobuild\n", "a\n/.autobuild/\n", ".autobuild/**\r\n"]) {
      expect(outcomeOf(ignored, text)).toEqual({ is: "same" });
    }
  });

  it("does not contradict what the file says by itself", () => {
    const outcome = outcomeOf(wantedIn(".gitignore", "track"), "dist/\n.autobuild/\n");
    expect(outcome).toMatchObject({ is: "left", line: 2 });
  });

  it("of an earlier choice is replaced", () => {
    const track = wantedIn(".gitignore", "track");
    const put = after(ignored, "dist/\n") ?? "";
    expect(after(track, put)).toBe(after(track, "dist/\n"));
  });

  it("that somebody changed is left, and replaced only when a person says so", () => {
    const put = after(agents, "# A\n") ?? "";
    const theirs = put.replace("Never answer", "Always answer");
    expect(outcomeOf(agents, theirs)).toMatchObject({ is: "left", line: 3 });
    expect(outcomeOf(agents, theirs, { do: "take" })).toMatchObject({ is: "left", line: 3 });
    expect(after(agents, theirs, { replace: true })).toBe(put);
  });

  it("goes although a checkout has turned all ends of lines, and more was written behind it", () => {
    const turned = (after(agents, "# A\n") ?? "").replaceAll("\n", "\r\n");
    expect(outcomeOf(agents, turned)).toEqual({ is: "same" });
    expect(after(agents, `${turned}\r\nMore\r\n`, { do: "take" })).toBe("# A\r\n\r\nMore\r\n");
  });

  it("with a mark too few or too many is a failure with its line", () => {
    const put = after(agents, "# A\n") ?? "";
    expect(failureOf(agents, put.replace("<!-- autodev:end -->", ""))).toMatchObject({ line: 3 });
    expect(failureOf(agents, put + put)).toMatchObject({
      message: expect.stringContaining("second"),
    });
  });
});

// ── whole files ────────────────────────────────────────────────────────────────────────────────

describe("a file of our own", () => {
  const skill = wantedIn(".claude/skills/autodev/SKILL.md");

  it.each([".claude/skills/autodev/SKILL.md", ".cursor/commands/autobuild.md"])(
    "is put and taken away: %s",
    (file) => void expectRoundTrip(wantedIn(file), undefined),
  );

  it("goes although a checkout has turned its ends of lines", () => {
    const turned = (after(skill, undefined) ?? "").replaceAll("\n", "\r\n");
    expect(outcomeOf(skill, turned)).toEqual({ is: "same" });
    expect(outcomeOf(skill, turned, { do: "take" })).toMatchObject({ is: "remove" });
  });

  it("of an earlier release is renewed, and keeps the number of its folders", () => {
    const earlier = { ...skill, body: "Old words.\n" } as Wanted;
    const planned = planHostFile(
      earlier,
      { file: skill.file, text: undefined, missing: 3 },
      { do: "put", hash },
    );
    if (!planned.ok || planned.value.is !== "create") throw new Error("it was not made");
    const renewed = after(skill, planned.value.text) ?? "";
    expect(renewed).toContain("Go on with this project's flow");
    expect(renewed).toMatch(/ 3 -->\n$/);
    const gone = outcomeOf(skill, planned.value.text, { do: "take" });
    expect(gone).toEqual({ is: "remove", made: 3 });
  });

  it("that somebody changed, or that was there before us, is left", () => {
    const changed = (after(skill, undefined) ?? "").replace("Call", "Never call");
    expect(outcomeOf(skill, changed)).toMatchObject({ is: "left" });
    expect(outcomeOf(skill, changed, { do: "take" })).toMatchObject({ is: "left" });
    expect(outcomeOf(skill, "Mine\n")).toMatchObject({ is: "left" });
    expect(outcomeOf(skill, "Mine\n", { do: "take" })).toEqual({ is: "same" });
  });

  it("of Gemini is TOML that says the same", () => {
    const text = after(wantedIn(".gemini/commands/autobuild.toml"), undefined) ?? "";
    expect(readToml(text)).toMatchObject({ prompt: expect.stringContaining("plan_check") });
  });
});
