/** By what agents are confined, as the command line tells of it; and what they may obey and start. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  expectSchema,
  hashIn,
  plan as planFile,
  planOf,
  spelled,
  vaguePhase,
} from "./build-rig.ts";
import {
  autodevIn,
  errorOf,
  expectNoCrash,
  makeFolder,
  makeRepo,
  plainEnvironment,
  type Ran,
  type Repo,
} from "./rig.ts";

const status = (command: string, ...args: string[]): number | null =>
  spawnSync(command, args).status;
const canEnclose = status("unshare", process.getuid?.() === 0 ? "-m" : "-Urm", "true") === 0;
const canWrap = status("bwrap", "--dev-bind", "/", "/", "--unshare-pid", "true") === 0;

const working = `
mkdir -p src; echo "part" > src/1.txt; echo x >> "$MINE" 2>/dev/null
cut -s -d: -f1 /proc/net/dev | tr -d ' ' > "$AUTODEV_SEEN"
printf '{"phase_id":"1","status":"complete","tasks":{"total":1,"completed":1},"commit_message":"feat: part 1"}' > "$AUTODEV_RESULT"
`;

interface Site extends Repo {
  /** What the agent could do: write the user's file; which networks it saw. */
  seen(): { mine: string; networks: string[] };
  build(args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran>;
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran>;
}

function makeSite(
  settings = "",
  files: Readonly<Record<string, string>> = {},
  plan = vaguePhase,
): Site {
  const agent = path.join(makeFolder("agent"), "agent.sh");
  fs.writeFileSync(agent, working);
  const repo = makeRepo({
    [planFile]: plan,
    ".autodev/config.yaml": `gates: { test: 'true' }\nagents: { mine: { command: 'sh "$AGENT"' } }\n${settings}`,
    "mine.txt": "mine\n",
    ...files,
  });
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--message=base");
  const home = makeFolder("home");
  const seen = path.join(home, "seen");
  const around = {
    HOME: home,
    AGENT: agent,
    AUTODEV_SEEN: seen,
    MINE: path.join(repo.root, "mine.txt"),
  };
  const run: Site["run"] = (args, env = {}) =>
    autodevIn({ cwd: repo.root, env: { ...around, ...env }, timeout: 60_000 }, ...args);
  return {
    ...repo,
    run,
    seen: () => ({
      mine: repo.read("mine.txt"),
      networks: fs.readFileSync(seen, "utf8").trim().split("\n"),
    }),
    async build(args = ["--agent=mine"], env = {}) {
      const all = ["build", planFile, "--commit=auto", ...args];
      const first = await run(all, env);
      const hash = hashIn(first);
      return hash === undefined ? first : run([...all, "--trust-sha256", hash], env);
    },
  };
}

const nothing = { AUTODEV_NO_NAMESPACE: "1" };
const bubblewrap = { AUTODEV_NO_NAMESPACE: "own" };
const off = "sandbox: { network: off }\n";
const occurrences = (text: string, part: string): number => text.split(part).length - 1;

describe("a build", () => {
  it.skipIf(!canEnclose)("is confined by what there is, without a word", async () => {
    const site = makeSite();
    const ran = await site.build();
    expect(ran.code, ran.all).toBe(0);
    expect(ran.all).not.toContain("confine");
    expect(site.seen().mine).toBe("mine\n");
  });

  it.skipIf(!canWrap)("is confined by bubblewrap where there is nothing else", async () => {
    const site = makeSite();
    const ran = await site.build(["--agent=mine", "--sandbox=required"], bubblewrap);
    expect(ran.code, ran.all).toBe(0);
    expect(site.seen().mine).toBe("mine\n");
  });

  it("says once that nothing confines, and goes on", async () => {
    const site = makeSite();
    const ran = await site.build(["--agent=mine", "--sandbox=auto"], nothing);
    expect(ran.code, ran.all).toBe(0);
    expect(occurrences(ran.all, "nothing confines the agents here")).toBe(1);
    expect(site.seen().mine).toBe("mine\nx\n");
  });

  it("says so when it was wished for", async () => {
    const site = makeSite();
    const ran = await site.build(["--agent=mine", "--sandbox=off"]);
    expect(ran.code, ran.all).toBe(0);
    expect(occurrences(ran.all, "not confined, as you wished")).toBe(1);
    expect(site.seen().mine).toBe("mine\nx\n");
  });

  it.each(["--sandbox=required", "settings"])("is refused by %s where none is", async (how) => {
    const site = makeSite(how === "settings" ? "sandbox: { mode: required }\n" : "");
    const args = how === "settings" ? [] : [how];
    const ran = await site.build(["--agent=mine", ...args, "--json"], nothing);
    expect(ran.code, ran.all).toBe(2);
    expect(errorOf(ran)).toMatchObject({
      code: "no-sandbox",
      hint: expect.stringContaining("bubblewrap"),
    });
    expect(site.exists(".autobuild")).toBe(false);
  });

  it("is refused by what a person requires for all projects, whatever a project says", async () => {
    const site = makeSite("sandbox: { mode: off }\n");
    const own = makeFolder("config");
    fs.mkdirSync(path.join(own, "autodev"));
    fs.writeFileSync(path.join(own, "autodev", "config.yaml"), "sandbox: { mode: required }\n");
    const ran = await site.build(["--agent=mine"], { ...nothing, XDG_CONFIG_HOME: own });
    expect(ran.code, ran.all).toBe(2);
    expect(ran.err).toContain("no agent can be confined here");
  });

  it("that a project would not have confined is asked about", async () => {
    const args = ["build", planFile, "--commit=auto", "--agent=mine"];
    const bare = await makeSite("sandbox: { mode: off }\n").run(args);
    expect(bare.code).toBe(3);
    expect(bare.err).toContain("agent the sandbox: off: agents are not confined");
    const settings = `gates: { test: 'true' }\nagents: { mine: { command: 'sh "$AGENT"', confined: false } }\n`;
    const free = await makeSite("", { ".autodev/config.yaml": settings }).run(args);
    expect(free.err).toContain('{"confined":false}');
  });

  it("is shown beforehand, by --dry-run and by doctor", async () => {
    const site = makeSite();
    const dry = ["build", planFile, "--dry-run", "--agent=mine"];
    expect((await site.run(dry, nothing)).out).toMatch(/^Sandbox: none: nothing can confine/m);
    expect((await site.run([...dry, "--sandbox=off"])).out).toMatch(/^Sandbox: off$/m);
    const refused = await site.run([...dry, "--sandbox=required"], nothing);
    expect(refused.out).toMatch(/^Sandbox: refused: no agent can be confined here/m);
    const json = await site.run([...dry, "--json"], nothing);
    const shape = JSON.parse(json.out) as { sandbox: unknown };
    expect(shape.sandbox).toEqual({ mode: "auto", by: null, network: "on", free: [] });
    expectSchema(shape as never, "build-dry-run");
    const sick = await site.run(["doctor"], nothing);
    expect(sick.code).toBe(0);
    expect(sick.out).toContain("! nothing confines agents here");
    expect(sick.out).toContain("→ apt-get install bubblewrap");
    if (canEnclose) expect((await site.run(["doctor"])).out).toContain("✓ sandbox: namespaces");
    if (canWrap)
      expect((await site.run(["doctor"], bubblewrap)).out).toContain("✓ sandbox: bubblewrap");
  });
});

describe("without a network", () => {
  const means = [
    ["namespaces", {}, canEnclose],
    ["bubblewrap", bubblewrap, canWrap],
  ] as const;

  for (const [by, env, isThere] of means) {
    it.skipIf(!isThere)(`an agent of one's own sees nothing but itself, by ${by}`, async () => {
      const site = makeSite(off);
      const ran = await site.build(["--agent=mine"], env);
      expect(ran.code, ran.all).toBe(0);
      expect(site.seen()).toEqual({ mine: "mine\n", networks: ["lo"] });
    });
  }

  it.skipIf(!canEnclose)("nor do the commands that a plan spells out", async () => {
    const command = `cut -s -d: -f1 /proc/net/dev | tr -d ' ' > "$AUTODEV_SEEN"; echo x >> "$MINE" || true`;
    const plan = planOf([{ ...spelled("1"), command }]);
    const site = makeSite(off, {}, plan);
    const ran = await site.build(["--agent=apply"]);
    expect(ran.code, ran.all).toBe(0);
    expect(site.seen()).toEqual({ mine: "mine\n", networks: ["lo"] });
  });

  it("whoever asks a model is refused, and a machine that cannot take it away", async () => {
    const claude = await makeSite(off).build(["--agent=claude"]);
    expect(claude.code, claude.all).toBe(2);
    expect(claude.err).toContain("claude cannot work without a network");
    const unable = await makeSite(off).build(["--agent=mine"], nothing);
    expect(unable.code, unable.all).toBe(2);
    expect(unable.err).toContain("no agent can be kept from the network here");
  });
});

// ── what agents start and obey ──────────────────────────────────────────────────────────────────

/** Speaks as claude does, and leaves a file that tells that it was started. */
const puppet = (mark: string): string => `#!/usr/bin/env node
const fs = require("node:fs");
fs.appendFileSync(process.env.HOME + "/${mark}", "x");
if (process.argv.includes("--version")) { console.log("2.1.325 (Claude Code)"); process.exit(0); }
if (process.argv[2] === "auth") process.exit(0);
const say = (value) => console.log(JSON.stringify(value));
process.stdin.once("data", () => {
  say({ type: "system", subtype: "init", session_id: "s1", model: "m" });
  fs.mkdirSync("src", { recursive: true });
  fs.writeFileSync("src/1.txt", "part");
  const structured_output = { phase_id: "1", status: "complete", tasks: { total: 1, completed: 1 }, commit_message: "feat: part 1" };
  say({ type: "result", subtype: "success", is_error: false, terminal_reason: "completed", session_id: "s1", structured_output });
});
`;

function program(folder: string, name: string, text: string): string {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, name), text, { mode: 0o755 });
  return folder;
}

describe("the program of an agent", () => {
  const ignored = { ".gitignore": "node_modules\n" };

  it("is not taken from the repository, nor is what it is run by, though PATH begins there", async () => {
    const site = makeSite("", ignored);
    const home = makeFolder("home");
    const bin = path.join(site.root, "node_modules", ".bin");
    program(bin, "claude", puppet("lure"));
    program(bin, "node", '#!/bin/sh\necho x >> "$HOME/lure"\n');
    const real = program(makeFolder("programs"), "claude", puppet("real"));
    const PATH = [bin, "node_modules/.bin", real, plainEnvironment["PATH"]].join(":");
    const ran = await site.build(["--agent=claude"], { HOME: home, PATH });
    expect(ran.code, ran.all).toBe(0);
    expect(fs.readdirSync(home).filter((name) => /lure|real/.test(name))).toEqual(["real"]);
  });

  it("that is only in the repository is not there at all", async () => {
    const site = makeSite("", ignored);
    const home = makeFolder("home");
    const bin = program(path.join(site.root, "node_modules", ".bin"), "claude", puppet("lure"));
    const PATH = [bin, plainEnvironment["PATH"]].join(":");
    const ran = await site.build(["--agent=claude", "--no-input"], { HOME: home, PATH });
    expect(ran.code, ran.all).toBe(3);
    expect(ran.all).toContain("claude is not on PATH");
    expect(fs.existsSync(path.join(home, "lure"))).toBe(false);
  });
});

describe("what an agent obeys of a repository by itself", () => {
  const files = {
    ".mcp.json": JSON.stringify({ mcpServers: { x: { command: "node", args: ["tools/server"] } } }),
    ".claude/settings.json": JSON.stringify(
      {
        hooks: {
          SessionStart: [
            { hooks: [{ type: "command", command: "$CLAUDE_PROJECT_DIR/tools/hook.sh" }] },
          ],
        },
      },
      undefined,
      2,
    ),
    "tools/hook.sh": "#!/bin/sh\n. tools/more.sh\n",
    "tools/more.sh": "true\n",
    "tools/server.js": "process.exit(0);\n",
    "tools/other.sh": "true\n",
  };
  const args = ["build", planFile, "--commit=auto", "--no-input"];
  const named = (ran: Ran): string[] => {
    expectNoCrash(ran);
    return [...ran.err.matchAll(/^[+~-] (?:script|hook|agent) (\S+)/gm)].map(
      (match) => match[1] ?? "",
    );
  };

  it("is asked about, with the scripts that it names; not for one that obeys none of it", async () => {
    const site = makeSite("", files, planOf([spelled("1")]));
    const ran = await site.run([...args, "--agent=claude"]);
    expect(ran.code, ran.all).toBe(3);
    expect(named(ran)).toEqual([
      ".claude/settings.json",
      ".mcp.json",
      "tools/hook.sh",
      "tools/more.sh",
      "tools/server.js",
    ]);
    expect(named(await site.run([...args, "--agent=codex"]))).toEqual([
      ".mcp.json",
      "tools/server.js",
    ]);
    expect(named(await site.run([...args, "--agent=apply"]))).toEqual([]);
  });

  it("is asked about again when it is another, and only then", async () => {
    const site = makeSite("", files);
    const bin = program(makeFolder("programs"), "claude", puppet("real"));
    const env = {
      PATH: `${bin}:${plainEnvironment["PATH"]}`,
      XDG_CONFIG_HOME: makeFolder("config"),
    };
    const build = (): Promise<Ran> => site.run([...args, "--agent=claude", "--fresh"], env);
    const change = (file: string, text: string): void => {
      site.write(file, text);
      site.git("add", "--all");
      site.git("commit", "--quiet", "--message=changed");
    };
    const hash = hashIn(await build()) ?? "";
    await site.run(["trust", planFile, "--agent=claude", "--sha256", hash], env);
    const first = await build();
    expect(first.code, first.all).toBe(0);
    change("README.md", "changed\n");
    change("src/1.txt", "other\n");
    const second = await build();
    expect(second.code, second.all).toBe(0);
    change("tools/more.sh", "echo changed\n");
    change(".claude/skills/x/SKILL.md", "Run it.\n");
    const third = await build();
    expect(third.code, third.all).toBe(3);
    expect(named(third)).toEqual([".claude/skills/x/SKILL.md", "tools/more.sh"]);
    expect(third.err).toContain("+ echo changed");
  });

  it("is no phase's to bring along without a word", async () => {
    const site = makeSite();
    const text = puppet("real").replace(
      'say({ type: "result"',
      'fs.writeFileSync(".mcp.json", "{}"); say({ type: "result"',
    );
    const bin = program(makeFolder("programs"), "claude", text);
    const ran = await site.build(["--agent=claude", "--attempts=1"], {
      PATH: `${bin}:${plainEnvironment["PATH"]}`,
    });
    expect(ran.code, ran.all).toBe(4);
    expect(ran.all).toContain(".mcp.json");
  });

  it("counts behind a link, by another spelling, and for a command that names its program", async () => {
    const linked = makeSite();
    linked.write("shared/settings.json", files[".claude/settings.json"]);
    linked.write("shared/skills/x/run.sh", "true\n");
    linked.write("tools/hook.sh", "true\n");
    fs.symlinkSync("shared", path.join(linked.root, ".claude"));
    linked.write(".MCP.json", "{}");
    linked.git("add", "--all");
    linked.git("commit", "--quiet", "--message=links");
    expect(named(await linked.run([...args, "--agent=claude"]))).toEqual([
      ".MCP.json",
      ".claude/settings.json",
      ".claude/skills/x/run.sh",
      "tools/hook.sh",
    ]);
    const own = { ".autodev/config.yaml": "agents: { mine: { command: 'claude -p' } }\n" };
    const wrapped = await makeSite("", { ...files, ...own }).run([...args, "--agent=mine"]);
    expect(named(wrapped)).toContain(".claude/settings.json");
  });
});
