/** `autodev init` from outside: into repositories that have all of those files, and gone again. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  asNobody,
  atTerminal,
  binary,
  errorOf,
  expectNoCrash,
  jsonOf,
  makeFolder,
  makeRepo,
  pictureOf,
  prompt,
  type Repo,
  repoAt,
  run,
  smallDisk,
} from "./rig.ts";

const all = "claude,codex,cursor,gemini,opencode,copilot";
const yes = ["init", "--yes", "--hosts", all];

interface InitOutput {
  readonly hosts: readonly string[];
  readonly autobuild: string | null;
  readonly files: readonly {
    readonly file: string;
    readonly change: "create" | "edit" | "remove" | "same" | "left";
    readonly line: number | null;
    readonly removed: readonly string[];
    readonly added: readonly string[];
  }[];
}

/** Every file that init adds something to, as people have them. */
const lived: Readonly<Record<string, string>> = {
  "AGENTS.md": "# For agents\r\n\r\n- Run `npm test`.\r\n<!-- mine -->\r\n",
  "CLAUDE.md": "# Claude\n\nSee the README, and mail@AGENTS.md.",
  "GEMINI.md": "\uFEFF# Gemini\n\n\n",
  ".mcp.json":
    '{\n\t"mcpServers" : {\n\t\t"github":{"command":"gh-mcp","args":[ "serve" ]} ,\n\t\t"db": {\n\t\t\t"command": "db"\n\t\t}\n\t}\n}',
  ".cursor/mcp.json": '{"mcpServers":{"x":{"url":"https://x.invalid/mcp"}}}',
  ".gemini/settings.json":
    '// mine\n{\n    "theme": "dark", /* nice */\n    "mcpServers": {\n        // none yet\n    },\n}\n',
  "opencode.jsonc":
    '{\r\n  "$schema": "https://opencode.ai/config.json",\r\n  // servers\r\n  "mcp": {\r\n    "y": { "type": "local", "command": ["y"] }, // why\r\n  }\r\n}\r\n',
  ".codex/config.toml":
    'model = "gpt-5.5" # mine\n\n[mcp_servers.z]\ncommand = "z"\ndoc = """\n[mcp_servers.autodev]\n"""',
  ".gitignore": "dist/\n!dist/keep\n# the end",
  ".claude/skills/mine/SKILL.md": "---\nname: mine\n---\nMine.\n",
};

const livedIn = (): Repo => {
  const repo = makeRepo(lived);
  fs.chmodSync(repo.at(".mcp.json"), 0o640);
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--message=all of it");
  return repo;
};

const picture = (repo: Repo): Record<string, string> =>
  Object.fromEntries(
    Object.entries(pictureOf(repo.root)).filter(([file]) => !/^\.git(?:\/|$)/.test(file)),
  );

const ends = async (code: number, ran: ReturnType<Repo["autodev"]>) => {
  const done = await ran;
  expectNoCrash(done);
  expect(done.code, done.all).toBe(code);
  return done;
};

describe("autodev init", () => {
  it("changes only our lines of files with comments, odd formatting and other servers", async () => {
    const repo = livedIn();
    await ends(0, repo.autodev(...yes));
    // Of every file that was there: no line has gone, but those that a comma was added to.
    const differences = repo
      .git("-c", "core.autocrlf=false", "diff", "--unified=0", "--no-color")
      .split("\n")
      .filter((line) => /^-(?!-- )/.test(line));
    expect(differences).toEqual([
      // It had no line end, which is before ours now, and so the others that are no JSON.
      '-"""',
      '-{"mcpServers":{"x":{"url":"https://x.invalid/mcp"}}}',
      "-# the end",
      "-\t\t}",
      "-See the README, and mail@AGENTS.md.",
    ]);
    for (const [file, text] of Object.entries(lived)) {
      const now = repo.read(file);
      if (!file.endsWith(".json"))
        expect(now.startsWith(text) || file.endsWith(".jsonc")).toBe(true);
    }
    expect(repo.read(".mcp.json")).toContain(
      '\t\t},\n\t\t"autodev": { "command": "autodev", "args": ["mcp"] }\n\t}\n}',
    );
    expect(repo.read(".gemini/settings.json")).toContain(
      '// none yet\n        "autodev": { "command": "autodev", "args": ["mcp"] }\n    },\n}\n',
    );
    expect(repo.read("opencode.jsonc")).toContain(
      ' // why\r\n    "autodev": { "type": "local", "command": ["autodev", "mcp"], "enabled": true },\r\n  }',
    );
    expect(fs.statSync(repo.at(".mcp.json")).mode & 0o777).toBe(0o640);
    expect(repo.exists("opencode.json")).toBe(false);
  });

  it("changes nothing the second time, and --remove gives every byte and folder back", async () => {
    const repo = livedIn();
    const before = picture(repo);
    await ends(0, repo.autodev(...yes));
    const once = picture(repo);
    expect(once).not.toEqual(before);
    const again = await ends(0, repo.autodev(...yes));
    expect(again.out).toContain("nothing was changed");
    expect(picture(repo)).toEqual(once);
    await ends(0, repo.autodev("init", "--remove"));
    expect(picture(repo)).toEqual(before);
    expect((await ends(0, repo.autodev("init", "--remove"))).out).toContain("Nothing of init");
  });

  it("leaves an empty repository empty, and folders that were there", async () => {
    const repo = makeRepo({});
    fs.mkdirSync(repo.at(".cursor/commands"), { recursive: true });
    const before = picture(repo);
    await ends(0, repo.autodev(...yes));
    await ends(0, repo.autodev("init", "--remove"));
    expect(picture(repo)).toEqual(before);
  });

  it("keeps both choices for .autobuild/, and changes its mind", async () => {
    const repo = makeRepo({});
    const isIgnored = async (file: string): Promise<boolean> =>
      (await run("git", ["check-ignore", "-q", file], { cwd: repo.root })).code === 0;
    await ends(0, repo.autodev("init", "--hosts", "codex", "--autobuild=track"));
    expect(await isIgnored(".autobuild/config.json")).toBe(false);
    expect(await isIgnored(".autobuild/logs/execution.log")).toBe(true);
    // What was chosen stays chosen.
    const kept = jsonOf<InitOutput>(await repo.autodev(...yes, "--json"));
    expect(kept.autobuild).toBe("track");
    await ends(0, repo.autodev("init", "--hosts", "codex", "--autobuild=ignore"));
    expect(await isIgnored(".autobuild/config.json")).toBe(true);
  });

  it("does with --remove --hosts what only those hosts have", async () => {
    const repo = makeRepo({});
    await ends(0, repo.autodev(...yes));
    await ends(0, repo.autodev("init", "--remove", "--hosts", "gemini,codex"));
    expect([".gemini", ".codex", "GEMINI.md"].filter((file) => repo.exists(file))).toEqual([]);
    // Copilot reads these as well.
    expect(repo.exists(".agents/skills/autodev/SKILL.md")).toBe(true);
    expect(repo.read("AGENTS.md")).toContain("autodev:start");
  });

  it("shows with --dry-run every line, and writes nothing", async () => {
    const repo = livedIn();
    const before = picture(repo);
    const { out } = await ends(0, repo.autodev("init", "--dry-run", "--hosts", all));
    expect(out).toContain('~ .mcp.json\n    - }\n    + },\n    + "autodev": {');
    expect(out).toContain("+ .agents/skills/autobuild/SKILL.md\n    +---\n");
    expect(out).toContain("Nothing was changed (--dry-run).");
    expect(picture(repo)).toEqual(before);
  });

  it("says with --json what became of each file", async () => {
    const repo = livedIn();
    const { files, hosts, autobuild } = jsonOf<InitOutput>(
      await repo.with({ PATH: pathWithAutodev() }, ...yes, "--json").then((ran) => ({
        ...ran,
        err: "",
      })),
    );
    expect([hosts.join(), autobuild]).toEqual([all, "ignore"]);
    expect(files).toContainEqual(
      expect.objectContaining({ file: "CLAUDE.md", change: "edit", line: null }),
    );
    expect(files.find(({ file }) => file === ".cursor/commands/autodev.md")?.change).toBe("create");
  });

  it("finds hosts by their files and by programs on PATH, and runs neither", async () => {
    const repo = makeRepo({ ".cursor/rules/x.mdc": "", "opencode.json": "{}" });
    const programs = makeFolder("programs");
    const ran = path.join(programs, "ran");
    const script = `#!/bin/sh\necho ran >> "${ran}"\n`;
    fs.writeFileSync(path.join(programs, "codex"), script, { mode: 0o755 });
    // In the repository itself nothing counts as a program.
    repo.write("bin/gemini", script);
    fs.chmodSync(repo.at("bin/gemini"), 0o755);
    const env = { PATH: `${repo.at("bin")}:${programs}:/usr/bin:/bin` };
    const done = await repo.with(env, "init", "--dry-run", "--json");
    expect((JSON.parse(done.out) as InitOutput).hosts).toEqual(["codex", "cursor", "opencode"]);
    expect(fs.existsSync(ran)).toBe(false);
  });

  it("takes away what it wrote although files that it never touched are broken", async () => {
    const repo = makeRepo({ ".gemini/settings.json": "{ broken" });
    fs.symlinkSync(makeFolder("dotfiles"), repo.at(".cursor"));
    const before = picture(repo);
    await ends(0, repo.autodev("init", "--yes", "--hosts", "claude,codex"));
    await ends(0, repo.autodev("init", "--remove"));
    expect(picture(repo)).toEqual(before);
  });

  it("says that a build will ask for trust, and that nothing is on PATH", async () => {
    const repo = makeRepo({});
    const { err } = await ends(0, repo.autodev(...yes));
    expect(err).toContain("asks for your trust again");
    expect(err).toContain("There is no autodev on PATH");
    expect((await repo.with({ PATH: pathWithAutodev() }, ...yes)).err).toBe("");
  });
});

/** A folder with a program of that name, before everything else. */
function pathWithAutodev(): string {
  const folder = makeFolder("bin");
  fs.writeFileSync(path.join(folder, "autodev"), "#!/bin/sh\n", { mode: 0o755 });
  return `${folder}:/usr/bin:/bin`;
}

// ── what is somebody else's ────────────────────────────────────────────────────────────────────

describe("what differs from ours", () => {
  const theirs = {
    ".mcp.json": '{\n  "mcpServers": {\n    "autodev": { "command": "mine" }\n  }\n}\n',
    ".claude/skills/autodev/SKILL.md": "---\nname: autodev\n---\nMine.\n",
  };

  it("is left and named with --yes, and the exit code says so", async () => {
    const repo = makeRepo(theirs);
    const { out } = await ends(4, repo.autodev("init", "--yes", "--hosts", "claude"));
    expect(out).toContain("! .mcp.json:3: there is another mcpServers.autodev; it is left");
    expect(out).toContain("! .claude/skills/autodev/SKILL.md:1: ");
    expect(repo.exists(".claude/skills/autobuild/SKILL.md")).toBe(true);
    for (const [file, text] of Object.entries(theirs)) expect(repo.read(file)).toBe(text);
    await ends(0, repo.autodev("init", "--remove", "--dry-run"));
  });

  it("is asked about at a terminal, and replaced when a person says so", async () => {
    const repo = makeRepo(theirs);
    const terminal = atTerminal(repo.root, ["init", "--hosts", "claude", "--autobuild=ignore"]);
    await terminal.until(prompt);
    expect(terminal.shown()).toContain(".mcp.json:3: there is another mcpServers.autodev");
    terminal.type("b");
    expect((await terminal.ended).code).toBe(0);
    expect(repo.read(".mcp.json")).toContain(
      '"autodev": { "command": "autodev", "args": ["mcp"] }',
    );
    expect(repo.read(".claude/skills/autodev/SKILL.md")).toContain("Call `next`");
  });

  it("of ours that somebody changed stays when the rest is removed", async () => {
    const repo = makeRepo({});
    await ends(0, repo.autodev("init", "--yes", "--hosts", "claude"));
    const skill = ".claude/skills/autobuild/SKILL.md";
    repo.write(skill, repo.read(skill).replace("Carry out", "Do"));
    const { out } = await ends(4, repo.autodev("init", "--remove"));
    expect(out).toContain(`! ${skill}:1: somebody has changed this file of ours; it is left`);
    const left = Object.keys(picture(repo)).filter((file) => file.endsWith(".md"));
    expect(left).toEqual([skill, "README.md"]);
  });
});

// ── people ─────────────────────────────────────────────────────────────────────────────────────

describe("without --yes", () => {
  it("asks at a terminal: which hosts, and whether .autobuild/ goes into git", async () => {
    const repo = makeRepo({ "CLAUDE.md": "# C\n" });
    const terminal = atTerminal(repo.root, ["init"], { PATH: "/usr/bin:/bin" });
    await terminal.until(prompt);
    expect(terminal.shown()).toContain("Claude Code (CLAUDE.md)");
    terminal.type("a");
    await terminal.until(/\.autobuild\/ — shall it go into git\?[^]*\? $/);
    terminal.type("b");
    expect((await terminal.ended).code, terminal.shown()).toBe(0);
    expect(repo.read(".gitignore")).toContain(".autobuild/logs/");
    expect(repo.exists(".claude/skills/autodev/SKILL.md")).toBe(true);
    expect(repo.exists(".codex")).toBe(false);
  });

  it("stops when it is told to, and writes nothing", async () => {
    const repo = makeRepo({});
    const before = picture(repo);
    const terminal = atTerminal(repo.root, ["init", "--hosts", "claude"]);
    await terminal.until(prompt);
    terminal.type("c");
    expect((await terminal.ended).code).toBe(130);
    expect(picture(repo)).toEqual(before);
  });

  it("says without a terminal what it would do and what to type, and writes nothing", async () => {
    const repo = makeRepo({ "CLAUDE.md": "# C\n" });
    const before = picture(repo);
    const { err } = await ends(2, repo.with({ PATH: "/usr/bin:/bin" }, "init"));
    expect(err).toContain("+ .mcp.json");
    expect(err).toContain("autodev init --yes --hosts claude --autobuild=ignore");
    expect(picture(repo)).toEqual(before);
  });

  it("needs no terminal where nothing is left to ask", async () => {
    const repo = makeRepo({});
    await ends(0, repo.autodev("init", "--hosts", "codex", "--autobuild=ignore"));
    expect(repo.exists(".codex/config.toml")).toBe(true);
  });
});

// ── bad input ──────────────────────────────────────────────────────────────────────────────────

describe("what cannot be read or written", () => {
  const spoilt: readonly [string, (repo: Repo) => void, string, number?][] = [
    [
      "broken JSON",
      (repo) => repo.write(".cursor/mcp.json", '{\n "a": 1\n "b": 2\n}'),
      ".cursor/mcp.json",
      3,
    ],
    [
      "broken TOML",
      (repo) => repo.write(".codex/config.toml", "a = 1\nb = \n"),
      ".codex/config.toml",
      2,
    ],
    [
      "conflict markers",
      (repo) => repo.write("AGENTS.md", "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n"),
      "AGENTS.md",
      2,
    ],
    [
      "other encodings",
      (repo) => repo.write("GEMINI.md", Buffer.from("a\n\xff\xfe\n", "latin1")),
      "GEMINI.md",
      2,
    ],
    [
      "a link out of the repository",
      (repo) => fs.symlinkSync(path.join(makeFolder("outside"), "AGENTS.md"), repo.at("AGENTS.md")),
      "AGENTS.md",
    ],
    [
      "a folder that is such a link",
      (repo) => fs.symlinkSync(makeFolder("outside"), repo.at(".claude")),
      ".claude/skills/autodev/SKILL.md",
    ],
    ["a folder in its place", (repo) => fs.mkdirSync(repo.at(".mcp.json")), ".mcp.json"],
    ["a file where a folder has to be", (repo) => repo.write(".cursor", "x"), ".cursor/mcp.json"],
    [
      "a folder that is a link to nowhere",
      (repo) => fs.symlinkSync("nothing", repo.at(".opencode")),
      ".opencode/command/autodev.md",
    ],
    ["a link to nowhere", (repo) => fs.symlinkSync("nothing", repo.at("CLAUDE.md")), "CLAUDE.md"],
  ];

  it.each(spoilt)("is told, and nothing is written anywhere: %s", async (_, spoil, file, line) => {
    const repo = makeRepo({});
    spoil(repo);
    const before = picture(repo);
    const failed = await ends(1, repo.autodev(...yes, "--json"));
    const error = errorOf(failed);
    expect(error).toMatchObject({ file, ...(line !== undefined && { line }) });
    expect(error.hint).toBeTruthy();
    expect(picture(repo)).toEqual(before);
  });

  it("is told before anything is written: a file, or a folder, that is read-only", async () => {
    for (const file of ["AGENTS.md", ".cursor"]) {
      const repo = makeRepo({ "AGENTS.md": "# A\n", ".cursor/rules/x.mdc": "" });
      await run("chmod", ["-R", "a+rwX", repo.root], { cwd: "/" });
      await run("chmod", ["a-w", repo.at(file)], { cwd: "/" });
      const before = picture(repo);
      const failed = await asNobody(repo.root, ...yes, "--json");
      expect(errorOf(failed)).toMatchObject({ code: "disk" });
      expect(picture(repo)).toEqual(before);
    }
  });

  it("puts everything back where the disk fills up on the way", async ({ skip }) => {
    const disk = await smallDisk(2);
    if (typeof disk === "string") return skip(disk);
    try {
      const root = path.join(disk.folder, "project");
      await disk.run("cp", "-a", livedIn().root, root);
      const seen = repoAt(path.join(disk.seen, "project"));
      const before = picture(seen);
      const filler = path.join(disk.folder, "filler");
      await disk.run("sh", "-c", `cat /dev/zero > ${filler}; truncate -s -40K ${filler}`);
      const failed = await disk.autodev(root, ...yes, "--json");
      expect(errorOf(failed).message).toContain("ENOSPC");
      expect(picture(seen)).toEqual(before);
      await disk.run("rm", filler);
      expect((await disk.autodev(root, ...yes)).code).toBe(0);
    } finally {
      disk.end();
    }
  });

  it("is told: hosts that there are not, and a folder that is no repository", async () => {
    const repo = makeRepo({});
    const strange = errorOf(
      await ends(2, repo.autodev("init", "--yes", "--hosts", "claud", "--json")),
    );
    expect(strange).toMatchObject({ code: "usage", hint: "did you mean claude?" });
    const nobody = await ends(2, repo.with({ PATH: "/usr/bin:/bin" }, "init", "--yes"));
    expect(nobody.err).toContain("no host was found");
    const folder = makeFolder("no-repository");
    const { code, err } = await run(process.execPath, [binary(), ...yes], { cwd: folder });
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("git init") });
    expect(fs.readdirSync(folder)).toEqual([]);
  });
});

// ── links, and others at the same time ─────────────────────────────────────────────────────────

describe("files that are the same", () => {
  it("are written once: CLAUDE.md that is a link to AGENTS.md, skills that are a link to others", async () => {
    const repo = makeRepo({ "AGENTS.md": "# A\n", ".agents/skills/x/SKILL.md": "x\n" });
    fs.symlinkSync("AGENTS.md", repo.at("CLAUDE.md"));
    fs.mkdirSync(repo.at(".claude"));
    fs.symlinkSync("../.agents/skills", repo.at(".claude/skills"));
    const before = picture(repo);
    await ends(0, repo.autodev(...yes));
    expect(fs.readlinkSync(repo.at("CLAUDE.md"))).toBe("AGENTS.md");
    expect(repo.read("AGENTS.md")).not.toContain("@AGENTS.md");
    await ends(0, repo.autodev(...yes));
    await ends(0, repo.autodev("init", "--remove"));
    expect(picture(repo)).toEqual(before);
  });
});

describe("one that is killed", () => {
  it("is finished by the same command again, and leaves nothing", async () => {
    const finished = livedIn();
    const began = Date.now();
    await ends(0, finished.autodev(...yes));
    const whole = Date.now() - began;
    const files = (repo: Repo): [string, string][] =>
      Object.entries(picture(repo)).filter(([, what]) => !what.startsWith("folder"));
    let halfway = 0;
    // On a busy machine it may take another time than the first one: tried until it was hit.
    for (let part = 5; part <= 20 || (halfway === 0 && part < 100); part += 3) {
      const repo = livedIn();
      const before = files(repo);
      await run(process.execPath, [binary(), ...yes], {
        cwd: repo.root,
        timeout: (whole * (5 + ((part - 5) % 18))) / 20,
      });
      const now = files(repo).length;
      if (now > before.length && now < files(finished).length) halfway++;
      await ends(0, repo.autodev(...yes));
      // How many folders were made for a file is what a second life cannot know.
      expect(files(repo).map(([file]) => file)).toEqual(files(finished).map(([file]) => file));
      await ends(0, repo.autodev("init", "--remove"));
      expect(files(repo)).toEqual(before);
    }
    expect(halfway).toBeGreaterThan(0);
  }, 180_000);
});

it("one that was killed with a file in its place is tidied up after, though nothing is to be written", async () => {
  const repo = livedIn();
  await ends(0, repo.autodev(...yes));
  const whole = picture(repo);
  repo.write(".claude/skills/autodev/.autodev-tmp-1-1-SKILL.md", "half");
  await ends(0, repo.autodev(...yes));
  expect(picture(repo)).toEqual(whole);
});

describe("two at once", () => {
  it("write what one would have", async () => {
    const [alone, both] = [livedIn(), livedIn()];
    await ends(0, alone.autodev(...yes));
    await Promise.all(Array.from({ length: 4 }, () => ends(0, both.autodev(...yes))));
    expect(picture(both)).toEqual(picture(alone));
    await Promise.all(["--remove", "--remove"].map((flag) => ends(0, both.autodev("init", flag))));
    expect(picture(both)).toEqual(picture(livedIn()));
  });
});
