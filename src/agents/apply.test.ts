import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import type { Agent, AgentEvent, AgentOutcome, AgentRun, Brief } from "../agent.ts";
import type { DeclaredFile, Item, Phase, Place } from "../core/plan/plan.ts";
import { exec, mintTrusted } from "../exec.ts";
import { readPlan } from "../formats/read-plan.ts";
import { agentContract } from "../testing/agent-contract.ts";
import { createApplyAgent } from "./apply.ts";

const place = (line: number): Place => ({ file: "plan.md", line, column: 1, from: 0, to: 1 });
const file = (
  name: string,
  change: DeclaredFile["change"],
  ...blocks: (string | { info: string; text: string })[]
): DeclaredFile => ({
  path: name,
  change,
  blocks: blocks.map((block) => (typeof block === "string" ? { info: "", text: block } : block)),
  place: place(7),
});
const diff = (text: string): { info: string; text: string } => ({ info: "diff", text });
const phaseOf = (
  files: readonly DeclaredFile[],
  commands: readonly string[] = [],
  more: Partial<Phase> = {},
): Phase => ({
  id: "2a",
  written: "2A",
  name: "The work",
  dependsOn: [],
  parallelWith: [],
  status: "pending",
  statuses: [],
  tasks: [{ text: "One", done: false, place: place(5) } satisfies Item],
  definitionOfDone: [],
  checkpoints: [],
  files,
  commands: commands.map((text, index) => ({ text, place: place(20 + index) })),
  place: place(3),
  text: "",
  hasWork: true,
  ...more,
});
const brief: Brief = { phase: "2a", name: "The work", text: "", tasks: 1, attempt: 1 };

const agentFor = (phase: Phase, isTrusted: (text: string) => boolean = () => true): Agent =>
  createApplyAgent({
    phase: (id) => (id === phase.id ? phase : undefined),
    shell: (text) => (isTrusted(text) ? mintTrusted(`set -e\n${text}`) : undefined),
    exec,
  });

agentContract(
  "the apply agent",
  (work) => ({
    brief,
    agent: agentFor(
      {
        work: phaseOf([file("made.txt", "create", "made")]),
        fail: phaseOf([file("made.txt", "modify", diff("@@\n-a\n+b\n"))]),
        endless: phaseOf([], ["echo going; while :; do sleep 0.2; done"]),
      }[work],
    ),
  }),
  { describe, it, expect },
);

class Tree {
  readonly base = fs.mkdtempSync(path.join(os.tmpdir(), "autodev-apply-"));
  readonly root = path.join(this.base, "tree");
  readonly events: AgentEvent[] = [];
  constructor(files: Record<string, string> = {}) {
    fs.mkdirSync(this.root);
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }
  at(name: string): string {
    return path.join(this.root, name);
  }
  write(name: string, text: string | Buffer): void {
    fs.mkdirSync(path.dirname(this.at(name)), { recursive: true });
    fs.writeFileSync(this.at(name), text);
  }
  read(name: string): string | undefined {
    return fs.existsSync(this.at(name)) ? fs.readFileSync(this.at(name), "utf8") : undefined;
  }
  mode(name: string): number {
    return fs.statSync(this.at(name)).mode & 0o777;
  }
  all(): string[] {
    return fs.readdirSync(this.root, { recursive: true, encoding: "utf8" }).sort();
  }
  run(agent: Agent, more: Partial<AgentRun> = {}): Promise<AgentOutcome> {
    return agent.run(brief, {
      cwd: this.root,
      scratch: path.join(this.base, "scratch"),
      env: { AUTODEV_SLOT: "4" },
      timeoutMs: 30_000,
      signal: new AbortController().signal,
      killNow: new AbortController().signal,
      marker: "apply-test",
      emit: (event) => this.events.push(event),
      ...more,
    });
  }
  apply(files: readonly DeclaredFile[], commands: readonly string[] = []): Promise<AgentOutcome> {
    return this.run(agentFor(phaseOf(files, commands)));
  }
}

const filesOf = (outcome: AgentOutcome): unknown =>
  outcome.is === "done" ? outcome.result.files : outcome;
const messageOf = (outcome: AgentOutcome): string =>
  outcome.is === "failed" ? `${outcome.error.type}: ${outcome.error.message}` : outcome.is;

describe("files that a phase spells out", () => {
  it("are created, modified and deleted", async () => {
    const tree = new Tree({ "src/b.ts": "one\ntwo\n", "src/c.ts": "old\n", "src/d.ts": "gone\n" });
    const outcome = await tree.apply([
      file("src/new/a.ts", "create", "export const a = 1;"),
      file("src/b.ts", "modify", "a remark", diff("@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n")),
      file("./src/c.ts", "modify", "new\n"),
      file("src\\d.ts", "delete"),
      file("src/e.ts", "touch", "touched\n"),
    ]);
    expect(filesOf(outcome)).toEqual({
      created: ["src/new/a.ts", "src/e.ts"],
      modified: ["src/b.ts", "src/c.ts"],
      deleted: ["src/d.ts"],
    });
    expect(tree.read("src/new/a.ts")).toBe("export const a = 1;\n");
    expect(tree.read("src/b.ts")).toBe("one\nTWO\n");
    expect(tree.read("src/c.ts")).toBe("new\n");
    expect(tree.read("src/d.ts")).toBe(undefined);
    expect(tree.read("src/e.ts")).toBe("touched\n");
    expect(tree.events.filter(({ type }) => type === "file")).toEqual([
      { type: "file", path: "src/new/a.ts", change: "create" },
      { type: "file", path: "src/b.ts", change: "modify" },
      { type: "file", path: "src/c.ts", change: "modify" },
      { type: "file", path: "src/d.ts", change: "delete" },
      { type: "file", path: "src/e.ts", change: "create" },
    ]);
    expect(tree.all().filter((name) => name.includes("tmp"))).toEqual([]);
  });

  it("that are right already stay untouched and are not claimed", async () => {
    const tree = new Tree({ "a.ts": "1\n" });
    const before = fs.statSync(tree.at("a.ts")).ino;
    expect(filesOf(await tree.apply([file("a.ts", "create", "1\n")]))).toEqual({
      created: [],
      modified: [],
      deleted: [],
    });
    expect(fs.statSync(tree.at("a.ts")).ino).toBe(before);
  });

  it("that are there with other content are replaced, and that is said", async () => {
    const tree = new Tree({ "a.ts": "other\n" });
    expect(filesOf(await tree.apply([file("a.ts", "create", "1\n")]))).toMatchObject({
      modified: ["a.ts"],
    });
    expect(tree.read("a.ts")).toBe("1\n");
    expect(tree.events[0]).toMatchObject({ type: "text", text: expect.stringMatching(/replaced/) });
  });

  it("that are created by a diff hold what the diff adds, whatever was there", async () => {
    const made = diff("@@ -0,0 +1,2 @@\n+a\n+b\n");
    for (const tree of [
      new Tree(),
      new Tree({ "a.txt": "old\n" }),
      new Tree({ "a.txt": "a\nb\n" }),
    ]) {
      expect((await tree.apply([file("a.txt", "create", made)])).is).toBe("done");
      expect(tree.read("a.txt")).toBe("a\nb\n");
    }
  });

  it("that are only named are changed by a diff, or made by one", async () => {
    const tree = new Tree({ "a.txt": "a\nb\n" });
    expect((await tree.apply([file("a.txt", "touch", diff("@@\n a\n-b\n+c\n"))])).is).toBe("done");
    expect(tree.read("a.txt")).toBe("a\nc\n");
    expect(messageOf(await tree.apply([file("a.txt", "touch", diff("@@\n+x\n"))]))).toMatch(
      /^plan_invalid: the diff of a\.txt \(plan\.md:7\) does not apply: hunk 1/,
    );
    expect((await tree.apply([file("b.txt", "touch", diff("@@\n+x\n"))])).is).toBe("done");
    expect(tree.read("b.txt")).toBe("x\n");
  });

  it("may be listed first and written out later", async () => {
    const tree = new Tree();
    const outcome = await tree.apply([
      file("a.ts", "create"),
      file("./a.ts", "touch", "1\n"),
      file("a.ts", "modify", diff("@@\n-1\n+2\n")),
    ]);
    expect(filesOf(outcome)).toEqual({ created: ["a.ts"], modified: [], deleted: [] });
    expect(tree.read("a.ts")).toBe("2\n");
  });

  it("keep the ends of lines that they had", async () => {
    const tree = new Tree({ "a.txt": "one\r\ntwo\r\n", "b.txt": "old\r\n" });
    await tree.apply([
      file("a.txt", "modify", diff("@@\n one\n+more\n two\n")),
      file("b.txt", "modify", "new\nlines\n"),
      file("c.txt", "create", "from\r\nwindows\r\n"),
    ]);
    expect(tree.read("a.txt")).toBe("one\r\nmore\r\ntwo\r\n");
    expect(tree.read("b.txt")).toBe("new\r\nlines\r\n");
    expect(tree.read("c.txt")).toBe("from\nwindows\n");
  });

  it("keep their mode; scripts can be run", async () => {
    const tree = new Tree({ "a.txt": "a\n", "b.txt": "b\n" });
    fs.chmodSync(tree.at("a.txt"), 0o600);
    await tree.apply([
      file("a.txt", "modify", "A\n"),
      file("run", "create", "#!/bin/sh\n"),
      file("plain.txt", "create", "a\n"),
    ]);
    expect(tree.mode("a.txt")).toBe(0o600);
    expect(tree.mode("run")).toBe(0o755);
    expect(tree.mode("plain.txt") & 0o111).toBe(0);
  });

  it("are not written into what a hard link shares with others", async () => {
    const tree = new Tree({ "a.txt": "shared\n" });
    const cache = path.join(tree.base, "cache.txt");
    fs.linkSync(tree.at("a.txt"), cache);
    await tree.apply([file("a.txt", "modify", "mine\n")]);
    expect(fs.readFileSync(cache, "utf8")).toBe("shared\n");
    expect(tree.read("a.txt")).toBe("mine\n");
  });

  it("may be empty", async () => {
    const tree = new Tree();
    await tree.apply([file("pkg/__init__.py", "create", "")]);
    expect(tree.read("pkg/__init__.py")).toBe("");
  });

  it("keep a byte order mark through a diff", async () => {
    const tree = new Tree({ "a.txt": "\uFEFFone\ntwo\n" });
    await tree.apply([file("a.txt", "modify", diff("@@\n-two\n+TWO\n"))]);
    expect(tree.read("a.txt")).toBe("\uFEFFone\nTWO\n");
  });

  it("of a diff that was applied before are right already", async () => {
    const tree = new Tree({ "a.txt": "one\nTWO\nthree\n" });
    const change = diff("@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n");
    expect((await tree.apply([file("a.txt", "modify", change)])).is).toBe("done");
    expect(tree.read("a.txt")).toBe("one\nTWO\nthree\n");
  });
});

describe("a phase is refused, and nothing of it is done,", () => {
  const good = file("good.txt", "create", "good\n");

  it.each<[string, DeclaredFile[], RegExp]>([
    ["when it spells out nothing", [], /phase 2A \(plan\.md:3\) spells out no file and no command/],
    [
      "when a file has no content",
      [good, file("src/a.ts", "create")],
      /src\/a\.ts \(plan\.md:7\) is to be created, and what it holds/,
    ],
    ["when a change is not said", [good, file("a.ts", "modify")], /is to be modified, and what/],
    ["when a file is only named", [good, file("a.ts", "touch")], /is to be written, and what/],
    [
      "when which block is meant is a guess",
      [good, file("a.ts", "modify", "a", "b")],
      /none of the 2 blocks below it is a diff/,
    ],
    ["when a path is absolute", [good, file("/etc/x", "create", "x")], /not relative/],
    ["when a path is somebody's home", [good, file("~/x", "create", "x")], /not relative/],
    ["when a path is a drive's", [good, file("C:\\x", "create", "x")], /not relative/],
    ["when a path leads out", [good, file("src/../../x", "create", "x")], /leads out/],
    [
      "when a path leads out by Windows' ways",
      [good, file("src\\..\\..\\x", "create", "x")],
      /leads out/,
    ],
    [
      "when a path is git's",
      [good, file(".git/hooks/pre-commit", "create", "x")],
      /belongs to git/,
    ],
    ["when a path is git's file", [good, file(".git", "create", "x")], /belongs to git/],
    [
      "when a path is a submodule's git",
      [good, file("a/.GIT/config", "create", "x")],
      /belongs to git/,
    ],
    [
      "when a path is git's in disguise",
      [good, file("a/.g\u200cit/config", "create", "x")],
      /belongs to git/,
    ],
    [
      "when a path is git's short name",
      [good, file("GIT~1/config", "create", "x")],
      /belongs to git/,
    ],
    [
      "when a path is git's with dots",
      [good, file(".git. ./config", "create", "x")],
      /belongs to git/,
    ],
    [
      "when a path is ours",
      [good, file(".autobuild/config.json", "create", "x")],
      /belongs to autodev/,
    ],
    ["when a path is ours too", [good, file("./.AutoDev/x", "delete")], /belongs to autodev/],
    ["when a path is a folder", [good, file("src/", "create", "x")], /is a folder/],
    ["when a path is no path", [good, file("a\u0000b", "create", "x")], /control characters/],
  ])("%s", async (_, files, message) => {
    const tree = new Tree();
    const outcome = await tree.apply(files);
    expect(messageOf(outcome)).toMatch(message);
    expect(messageOf(outcome)).toMatch(/^plan_invalid: /);
    expect(tree.all()).toEqual([]);
    expect(fs.readdirSync(tree.base)).toEqual(["tree"]);
  });

  it("with everything that is missing named at once", async () => {
    const outcome = await new Tree().apply([
      file("a.ts", "create"),
      file("b.ts", "modify"),
      file(".git/x", "delete"),
    ]);
    expect(messageOf(outcome)).toMatch(/3 things of phase 2A cannot be done.*a\.ts \(plan\.md:7\)/);
    const details = outcome.is === "failed" ? outcome.error.details : "";
    expect(details?.split("\n").length).toBe(3);
  });

  it("when a command is not trusted", async () => {
    const tree = new Tree();
    const phase = phaseOf([good], ["# build\nnpm ci\nnpm test", "true"]);
    const outcome = await tree.run(agentFor(phase, (text) => text === "true"));
    expect(messageOf(outcome)).toBe("plan_invalid: `npm ci …` (plan.md:20) is not trusted");
    expect(tree.all()).toEqual([]);
  });

  it("when it is not in the plan", async () => {
    const outcome = await new Tree().run(agentFor(phaseOf([good], [], { id: "9" })));
    expect(messageOf(outcome)).toBe("plan_invalid: the plan has no phase 2a");
  });
});

describe("a phase fails where the tree is not as it thinks", () => {
  it.each<[string, DeclaredFile, RegExp]>([
    ["to delete what is not there", file("no.ts", "delete"), /is to be deleted, and is not there/],
    ["to replace what is not there", file("no.ts", "modify", "x"), /is to be modified, and is not/],
    [
      "to patch what is not there",
      file("no.ts", "modify", diff("@@\n-a\n+b\n")),
      /and is not there/,
    ],
    [
      "to patch what is otherwise",
      file("a.txt", "modify", diff("@@\n-x\n+b\n")),
      /hunk 1 .*there is no line "x"/,
    ],
    [
      "to patch what is no text",
      file("b.bin", "modify", diff("@@\n-x\n+b\n")),
      /not text in UTF-8/,
    ],
    ["to write a folder", file("folder", "create", "x"), /is a folder/],
    ["to delete a folder", file("folder", "delete"), /is a folder/],
    [
      "to write below a file",
      file("a.txt/b/c.ts", "create", "x"),
      /is below a\.txt, which is a file/,
    ],
    [
      "to write under a name that is too long",
      file(`${"n".repeat(300)}.ts`, "create", "x"),
      /ENAMETOOLONG/,
    ],
  ])("%s", async (_, each, message) => {
    const tree = new Tree({ "a.txt": "a\n", "folder/c.txt": "c\n" });
    tree.write("b.bin", Buffer.from([0x78, 0xff, 0xfe, 0x0a]));
    const before = tree.all();
    const outcome = await tree.apply([each]);
    expect(messageOf(outcome)).toMatch(message);
    expect(messageOf(outcome)).toMatch(/^plan_invalid: /);
    expect(tree.all()).toEqual(before);
  });

  it.runIf(process.getuid?.() !== 0)("for what a disk does, the agent is to blame", async () => {
    const tree = new Tree();
    fs.chmodSync(tree.root, 0o500);
    expect(messageOf(await tree.apply([file("a.ts", "create", "x")]))).toMatch(
      /^agent_crash: .*EACCES/,
    );
  });
});

describe("links", () => {
  const linked = (to: (tree: Tree) => string, name = "link"): Tree => {
    const tree = new Tree({ "real/a.txt": "a\n", ".git": "gitdir: elsewhere\n" });
    fs.mkdirSync(path.join(tree.base, "outside"));
    fs.writeFileSync(path.join(tree.base, "outside", "b.txt"), "b\n");
    fs.symlinkSync(to(tree), tree.at(name));
    return tree;
  };
  const outside = (tree: Tree): string[] =>
    fs
      .readdirSync(path.join(tree.base, "outside"))
      .map((name) => `${name}: ${fs.readFileSync(path.join(tree.base, "outside", name), "utf8")}`);

  it.each<[string, (tree: Tree) => string, DeclaredFile, RegExp]>([
    [
      "a folder outside",
      () => "../outside",
      file("link/b.txt", "create", "x"),
      /out of the repository by a link/,
    ],
    ["a folder outside, to delete", () => "../outside", file("link/b.txt", "delete"), /out of the/],
    [
      "a folder outside, by its full name",
      (tree) => path.join(tree.base, "outside"),
      file("link/new/c.txt", "create", "x"),
      /out of the/,
    ],
    ["a file outside", () => "../outside/b.txt", file("link", "create", "x"), /out of the/],
    [
      "a file outside, to patch",
      () => "../outside/b.txt",
      file("link", "modify", diff("@@\n-b\n+c\n")),
      /out of/,
    ],
    [
      "a file outside that is not there yet",
      () => "../outside/c.txt",
      file("link", "create", "x"),
      /leads nowhere/,
    ],
    [
      "a folder that is not there",
      () => "../outside/none",
      file("link/c.txt", "create", "x"),
      /leads nowhere/,
    ],
    ["git", () => ".git", file("link", "create", "x"), /belongs to git, by a link/],
    ["itself", () => "link", file("link", "create", "x"), /leads nowhere/],
  ])("to %s are not followed", async (_, to, each, message) => {
    const tree = linked(to);
    expect(messageOf(await tree.apply([each]))).toMatch(message);
    expect(outside(tree)).toEqual(["b.txt: b\n"]);
    expect(tree.read(".git")).toBe("gitdir: elsewhere\n");
  });

  it("that stay inside are followed", async () => {
    const tree = linked(() => "real");
    expect((await tree.apply([file("link/a.txt", "modify", "A\n")])).is).toBe("done");
    expect(tree.read("real/a.txt")).toBe("A\n");
    const single = linked(() => "real/a.txt");
    expect((await single.apply([file("link", "modify", "A\n")])).is).toBe("done");
    expect(single.read("real/a.txt")).toBe("A\n");
    expect(fs.lstatSync(single.at("link")).isSymbolicLink()).toBe(true);
  });

  it("that are to be deleted go themselves", async () => {
    const tree = linked(() => "../outside/b.txt");
    expect((await tree.apply([file("link", "delete")])).is).toBe("done");
    expect(outside(tree)).toEqual(["b.txt: b\n"]);
    expect(fs.existsSync(tree.at("link"))).toBe(false);
  });

  it("on the way to the tree itself do not matter", async () => {
    const tree = new Tree();
    const other = path.join(tree.base, "other");
    fs.symlinkSync(tree.root, other);
    const agent = agentFor(phaseOf([file("a.txt", "create", "a")]));
    expect((await tree.run(agent, { cwd: other })).is).toBe("done");
    expect(tree.read("a.txt")).toBe("a\n");
  });
});

describe("commands that a phase spells out", () => {
  it("run in order, after the files, in the tree, with the run's environment", async () => {
    const tree = new Tree();
    const outcome = await tree.apply(
      [file("a.txt", "create", "a")],
      ["cat a.txt > b.txt", 'echo "$AUTODEV_SLOT" >> b.txt; echo said'],
    );
    expect(outcome.is).toBe("done");
    expect(tree.read("b.txt")).toBe("a\n4\n");
    expect(tree.events).toContainEqual({ type: "text", text: "said" });
    expect(tree.events.filter(({ type }) => type === "command")).toEqual([
      { type: "command", command: "cat a.txt > b.txt", passed: true },
      { type: "command", command: 'echo "$AUTODEV_SLOT" >> b.txt; echo said', passed: true },
    ]);
  });

  it("that fail end the phase", async () => {
    const tree = new Tree();
    const outcome = await tree.apply([], ["echo why >&2\nfalse\ntouch no", "touch neither"]);
    expect(outcome).toEqual({
      is: "failed",
      error: { type: "agent_crash", message: "`echo why >&2 …` ended with 1", details: "why" },
    });
    expect(tree.all()).toEqual([]);
    expect(tree.events.at(-1)).toMatchObject({ type: "command", passed: false });
  });

  it("share the time of the phase", async () => {
    const tree = new Tree();
    const agent = agentFor(phaseOf([], ["sleep 0.5", "sleep 20"]));
    const began = performance.now();
    const outcome = await tree.run(agent, { timeoutMs: 1500 });
    expect(messageOf(outcome)).toBe("timeout: `sleep 20` did not end in time");
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it("do not begin after a stop", async () => {
    const tree = new Tree();
    const stop = new AbortController();
    const agent = agentFor(
      phaseOf([file("a", "create", "a"), file("b", "create", "b")], ["touch c"]),
    );
    const emit = ({ type }: AgentEvent): void => (type === "file" ? stop.abort() : undefined);
    expect(await tree.run(agent, { signal: stop.signal, emit })).toEqual({ is: "stopped" });
    expect(tree.all()).toEqual(["a"]);
  });
});

describe("the result", () => {
  it("has a message made from the phase", async () => {
    const tree = new Tree();
    const phase = phaseOf([file("src/api/a.ts", "create", "1")], [], { name: "Backend API" });
    const outcome = await tree.run(agentFor(phase));
    expect(outcome).toEqual({
      is: "done",
      result: {
        phase_id: "2a",
        status: "complete",
        tasks: { total: 1, completed: 1 },
        gates: {},
        commit_message: "feat(api): backend API\n\n- One",
        files: { created: ["src/api/a.ts"], modified: [], deleted: [] },
        plan_updated: false,
        error: null,
      },
    });
  });
});

describe("a plan as people write it", () => {
  it("is performed from its text", async () => {
    const text = `# Plan

### Phase 2A: Backend API

- [ ] Write the module

##### File: \`src/api.ts\` (CREATE)

\`\`\`ts
export const api = "\${HOME} \`$(touch pwned)\`";
\`\`\`

##### File: \`src/index.ts\` (MODIFY)

\`\`\`diff
@@
 import "./a.ts";
+import "./api.ts";
\`\`\`

Then run it:

\`\`\`bash
cat src/api.ts > copy.txt
\`\`\`

##### File: \`scripts/go.sh\` (CREATE)

- with this content:

  \`\`\`sh
  #!/bin/sh
  echo go
  \`\`\`

##### File: \`old.ts\` (DELETE)

#### Definition of Done

- [ ] All tests pass
`;
    const read = readPlan([{ file: "docs/a-plan.md", text }]);
    const phase = read.ok ? read.value.plan.phases[0] : undefined;
    if (!phase) throw new Error("no phase");
    const tree = new Tree({ "src/index.ts": 'import "./a.ts";\n', "old.ts": "" });
    expect(filesOf(await tree.run(agentFor(phase)))).toEqual({
      created: ["src/api.ts", "scripts/go.sh"],
      modified: ["src/index.ts"],
      deleted: ["old.ts"],
    });
    expect(tree.read("src/index.ts")).toBe('import "./a.ts";\nimport "./api.ts";\n');
    expect(tree.read("copy.txt")).toBe('export const api = "${HOME} `$(touch pwned)`";\n');
    expect(tree.read("scripts/go.sh")).toBe("#!/bin/sh\necho go\n");
    expect(tree.mode("scripts/go.sh")).toBe(0o755);
  });
});
