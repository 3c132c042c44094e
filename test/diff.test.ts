/** `autodev diff PHASE`, through the built binary. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  arrived,
  build,
  expectComplete,
  expectSchema,
  expectTidy,
  makeBuildRepo,
  makeMailbox,
  onePhase,
  planOf,
  spelled,
  startTrusted,
  vaguePhase,
} from "./build-rig.ts";
import {
  atTerminal,
  autodevIn,
  errorOf,
  expectNoCrash,
  jsonOf,
  makeFolder,
  pictureOf,
  type Repo,
} from "./rig.ts";

const mine = ["--agent=mine"];
const once = [...mine, "--attempts=1"];

interface Diff {
  readonly attempt: number;
  readonly how: string;
  readonly commit: string | null;
  readonly base: string | null;
  readonly files: readonly {
    readonly path: string;
    readonly change: string;
    readonly from?: string;
    readonly added: number | null;
    readonly deleted: number | null;
  }[];
}

async function diffOf(repo: Repo, ...args: string[]): Promise<Diff> {
  const diff = jsonOf<Diff>(await repo.autodev("diff", ...args, "--json"));
  expectSchema(diff, "diff");
  return diff;
}

/** Each attempt writes another text; no gate likes any. */
const failing =
  'mkdir -p src; echo "try $AUTODEV_ATTEMPT" > src/1.txt; echo more > "src/only-$AUTODEV_ATTEMPT.txt"; finish';

describe.concurrent("autodev diff", { timeout: 180_000 }, () => {
  it("of a landed phase is its commit, as git would show it", async () => {
    const repo = makeBuildRepo(onePhase);
    expectComplete(await build(repo));
    const ran = await repo.autodev("diff", "1");
    expect(ran.code, ran.all).toBe(0);
    expect(ran.out).toBe(repo.git("diff-tree", "-p", "-M", "HEAD^", "HEAD"));
    expect(ran.err).toMatch(/^phase 1, attempt 1, landed: git diff [0-9a-f]{10}\^ [0-9a-f]{10}\n$/);
    const { commit, files, how } = await diffOf(repo, "1");
    expect({ commit, how }).toEqual({
      commit: repo.git("rev-parse", "HEAD").trim(),
      how: "landed",
    });
    expect(files).toContainEqual({ path: "src/1.txt", change: "create", added: 1, deleted: 0 });
  });

  it("of a failed phase is its last attempt; another one with --attempt", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const ran = await build(repo, mine, { agent: failing, gate: "false" });
    expect(ran.code, ran.all).toBe(4);
    const last = await repo.autodev("diff", "1");
    expect(last.out).toContain("+try 2\n");
    expect(last.out).not.toContain("only-1.txt");
    const first = await repo.autodev("diff", "1", "--attempt", "1");
    expect(first.out).toContain("+try 1\n");
    // What the line above it says is true: those are the bytes as they are.
    const [, from = "", to = ""] = /git diff (\S+) (\S+)/.exec(first.err) ?? [];
    expect(repo.git("diff", "--no-color", from, to)).toContain("+try 1\n");
    expect(await diffOf(repo, "1")).toMatchObject({ attempt: 2, how: "failed" });
    const stat = await repo.autodev("diff", "1", "--stat");
    expect(stat.out).toMatch(/create {2}src\/1\.txt +\+1 -0\n/);
    expect(stat.out).toMatch(/2 files, \+2 -0\n$/);
    const none = await repo.autodev("diff", "1", "--attempt", "9", "--json");
    expect(none.code).toBe(2);
    expect(errorOf(none).hint).toContain("it has had 1, 2");
  });

  it("tells renames, deletions, modes, links, empty files and what is no text", async () => {
    const text = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join("");
    const repo = makeBuildRepo(vaguePhase, {
      "old.txt": text,
      "gone.txt": "a\nb\n",
      "tool.sh": "",
    });
    const agent = `git mv old.txt new.txt; rm gone.txt; chmod +x tool.sh; printf 'a\\0b' > data.bin; ln -s new.txt link; : > empty; finish`;
    expectComplete(await build(repo, mine, { agent }));
    const { files } = await diffOf(repo, "1");
    expect(files.filter(({ path: file }) => !file.startsWith("docs/"))).toEqual([
      { path: "data.bin", change: "create", added: null, deleted: null },
      { path: "empty", change: "create", added: 0, deleted: 0 },
      { path: "gone.txt", change: "delete", added: 0, deleted: 2 },
      { path: "link", change: "create", added: 1, deleted: 0 },
      { path: "new.txt", change: "rename", from: "old.txt", added: 0, deleted: 0 },
      { path: "tool.sh", change: "modify", added: 0, deleted: 0 },
    ]);
  });

  it("never lets names or contents drive a terminal, and keeps indentation and line ends apart", async () => {
    const repo = makeBuildRepo(vaguePhase, { "crlf.txt": "same\n" });
    const agent = `printf '\\tindented \\033]0;owned\\007\\033[2J\\302\\233red\\342\\200\\256x\\n' > "$(printf 'na\\033[31mme\\342\\200\\256\\n.txt')"; printf 'same\\r\\n' > crlf.txt; finish`;
    expectComplete(await build(repo, mine, { agent }));
    for (const args of [["1"], ["1", "--stat"], ["1", "--json"]]) {
      const ran = await repo.autodev("diff", ...args);
      expect(ran.code, ran.all).toBe(0);
      expect(ran.all, args.join(" ")).not.toMatch(/[\u001b\u0007\u009b\u202e]|owned/);
    }
    const ran = await repo.autodev("diff", "1");
    expect(ran.out).toContain("+\tindented ");
    expect(ran.out).toContain("-same\n+same^M\n");
  });

  it("is coloured by us at a terminal, and not without one, with NO_COLOR or with --no-color", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const agent = "printf -- '-- a/src\\n@@ x\\n\\033[41mred\\033[0m\\n' > a.txt; finish";
    expectComplete(await build(repo, mine, { agent }));
    const plain = (await repo.autodev("diff", "1")).out;
    expect(plain).not.toContain("\u001b");
    const seen = async (args: readonly string[], env = {}): Promise<string> => {
      const terminal = atTerminal(repo.root, ["diff", "1", ...args], env);
      expect((await terminal.ended).code).toBe(0);
      return terminal.shown();
    };
    const coloured = await seen([]);
    expect(coloured).toContain("\u001b[32m+-- a/src\u001b[39m");
    expect(coloured).not.toContain("\u001b[41m");
    expect(await seen(["--no-color"])).not.toContain("\u001b[3");
    expect(await seen([], { NO_COLOR: "1" })).not.toContain("\u001b[3");
  });

  it("runs nothing that the repository configures: no external diff, no text conversion, no pager", async () => {
    const repo = makeBuildRepo(onePhase, { ".gitattributes": "*.txt diff=evil\n" });
    const canary = path.join(makeFolder("canary"), "sang");
    for (const [key, value] of [
      ["diff.external", `touch ${canary}`],
      ["diff.evil.command", `touch ${canary}`],
      ["diff.evil.textconv", `touch ${canary}; cat`],
      ["core.pager", `touch ${canary}; cat`],
      ["pager.diff-tree", `touch ${canary}; cat`],
      ["core.fsmonitor", `touch ${canary}`],
      ["filter.evil.clean", `touch ${canary}; cat`],
    ] as const)
      repo.git("config", key, value);
    expectComplete(await build(repo));
    const ran = await repo.autodev("diff", "1");
    expect(ran.out).toContain("+part 1\n");
    const terminal = atTerminal(repo.root, ["diff", "1"]);
    await terminal.ended;
    expect(fs.existsSync(canary)).toBe(false);
  });

  it("of a phase under way in another process is its work tree, and touches nothing there", async () => {
    const repo = makeBuildRepo(vaguePhase, { "old.txt": "old\n" });
    const mailbox = makeMailbox();
    const agent = `echo new > new.txt; rm old.txt; echo staged > staged.txt; git add staged.txt; touch "$MAILBOX/begun"; while [ ! -e "$MAILBOX/go" ]; do sleep 0.05; done; finish`;
    const underway = await startTrusted(repo, mine, { agent, env: { MAILBOX: mailbox } });
    await arrived(mailbox, "begun");
    const [tree = ""] = fs
      .readdirSync(repo.at(".autodev/var"))
      .filter((name) => name.startsWith("r"));
    const objects = pictureOf(repo.at(".git/objects"));
    const admin = pictureOf(repo.at(`.git/worktrees/${tree}`));
    const files = pictureOf(repo.at(`.autodev/var/${tree}`));
    const ran = await repo.autodev("diff", "1");
    expect(ran.code, ran.all).toBe(0);
    expect(ran.err).toContain("is under way");
    expect(ran.out).toContain("+++ b/new.txt");
    expect(ran.out).toContain("+++ b/staged.txt");
    expect(ran.out).toContain("--- a/old.txt");
    expect(await diffOf(repo, "1")).toMatchObject({ how: "working", commit: null });
    expect(pictureOf(repo.at(`.autodev/var/${tree}`))).toEqual(files);
    expect(pictureOf(repo.at(`.git/worktrees/${tree}`))).toEqual(admin);
    expect(pictureOf(repo.at(".git/objects"))).toEqual(objects);
    fs.writeFileSync(path.join(mailbox, "go"), "");
    expectComplete(await underway.ended);
    expectTidy(repo);
  });

  it("of what was interrupted half-way is what was kept of it", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const mailbox = makeMailbox();
    const agent = 'echo half > half.txt; touch "$MAILBOX/begun"; sleep 60';
    const underway = await startTrusted(repo, mine, { agent, env: { MAILBOX: mailbox } });
    await arrived(mailbox, "begun");
    underway.kill("SIGKILL");
    await underway.ended;
    // Nobody has put it away yet: it lies where it was.
    expect((await repo.autodev("diff", "1")).out).toContain("+half\n");
    const again = await build(repo, once, { agent: "exit 1" });
    expect(again.code).toBe(4);
    const kept = await repo.autodev("diff", "1", "--attempt", "1");
    expect(kept.code, kept.all).toBe(0);
    expect(kept.out).toContain("+half\n");
    expect(kept.err).toContain("interrupted");
  });

  it("works from a subfolder and from a linked work tree, and for large content", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const agent = `mkdir -p src; yes ${"z".repeat(99)} | head -c 20000000 > src/big.txt; finish`;
    expectComplete(await build(repo, mine, { agent }));
    const linked = path.join(makeFolder("tree"), "linked");
    repo.git("worktree", "add", "--quiet", "--detach", linked);
    const whole = await autodevIn({ cwd: repo.at("src") }, "diff", "1");
    expect(whole.code).toBe(0);
    expect(whole.out.length).toBeGreaterThan(20_000_000);
    const stat = await autodevIn({ cwd: linked }, "diff", "1", "--stat");
    expect(stat.out).toMatch(/src\/big\.txt +\+200000 -0/);
  });

  it("says clearly when there is nothing to show", async () => {
    const repo = makeBuildRepo(planOf([spelled("1"), spelled("2", ["1"])]));
    const none = await repo.autodev("diff", "1", "--json");
    expect(none.code).toBe(2);
    expect(errorOf(none).code).toBe("not-found");
    expectComplete(await build(repo, ["--only", "1"]));
    const pending = await repo.autodev("diff", "2", "--json");
    expect(errorOf(pending).message).toBe("phase 2 has had no attempt yet");
    const unknown = await repo.autodev("diff", "7", "--json");
    expect(errorOf(unknown)).toMatchObject({ code: "no-such-phase", hint: "it has 1, 2" });
    const outside = await autodevIn({ cwd: makeFolder("nowhere") }, "diff", "1");
    expect(outside.code).toBe(2);
    for (const ran of [await repo.autodev("diff"), await repo.autodev("diff", "1", "--what")]) {
      expect(ran.code).toBe(2);
      expectNoCrash(ran);
    }
  });

  it("of an attempt that changed nothing says so", async () => {
    const repo = makeBuildRepo(vaguePhase);
    expect((await build(repo, once, { agent: "exit 1" })).code).toBe(4);
    const ran = await repo.autodev("diff", "1");
    expect(ran).toMatchObject({ code: 0, out: "" });
    expect(ran.err).toContain("It has changed nothing.");
  });
});
