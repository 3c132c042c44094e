/** `autodev shell PHASE`, through the built binary: at a terminal and without one. */
import { spawn } from "node:child_process";
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
  startTrusted,
  vaguePhase,
} from "./build-rig.ts";
import {
  asNobody,
  atTerminal,
  autodevIn,
  binary,
  errorOf,
  eventually,
  giveToNobody,
  jsonOf,
  makeFolder,
  plainEnvironment,
  type Repo,
} from "./rig.ts";

const mine = ["--agent=mine"];
const failing =
  'mkdir -p src; echo "try $AUTODEV_ATTEMPT" > src/1.txt; echo ignored.txt > .gitignore; finish';

/** Phase 1 has failed twice. */
async function failedRepo(): Promise<Repo> {
  const repo = makeBuildRepo(vaguePhase);
  const ran = await build(repo, mine, { agent: failing, gate: 'echo "gate says no"; false' });
  expect(ran.code, ran.all).toBe(4);
  return repo;
}

interface Shell {
  readonly path: string;
  readonly phase: string;
  readonly attempt: number;
  readonly commit: string;
}

const tree = (repo: Repo, name: string): string => repo.at(`.autodev/var/${name}`);
const inShell = (repo: Repo, ...command: string[]) => repo.autodev("shell", "1", "--", ...command);

/** A git that stops after one of its commands, so that whoever called it can be killed there. */
function stoppingGit(after: string, mailbox: string): Record<string, string> {
  const folder = makeFolder("slow-git");
  const real = plainEnvironment["PATH"]
    ?.split(":")
    .map((each) => path.join(each, "git"))
    .find((each) => fs.existsSync(each));
  fs.writeFileSync(
    path.join(folder, "git"),
    `#!/bin/sh
case "$*" in
*"${after}"*) "${real}" "$@"; code=$?; touch "${mailbox}/there"; sleep 20; exit $code;;
*) exec "${real}" "$@";;
esac
`,
    { mode: 0o755 },
  );
  return { ...plainEnvironment, PATH: `${folder}:${plainEnvironment["PATH"]}` };
}

/** Killed when git has done that, and before we hear of it. */
async function killedAfter(repo: Repo, after: string, ...args: string[]): Promise<void> {
  const mailbox = makeMailbox();
  const child = spawn(process.execPath, [binary(), ...args], {
    cwd: repo.root,
    env: stoppingGit(after, mailbox),
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  await arrived(mailbox, "there");
  child.kill("SIGKILL");
  await ended;
}

describe.concurrent("autodev shell", { timeout: 180_000 }, () => {
  it("runs a command where the failed attempt left its work, and its exit code is ours", async () => {
    const repo = await failedRepo();
    const ran = await inShell(repo, "sh", "-c", "pwd; cat src/1.txt; echo $AUTODEV_PHASE; exit 7");
    expect(ran.code, ran.all).toBe(7);
    expect(ran.out).toBe(`${tree(repo, "shell-1-2")}\ntry 2\n1\n`);
    // Nothing was changed: nothing stays.
    expect(ran.err).toBe("");
    expectTidy(repo);
    const first = await repo.autodev("shell", "1", "--attempt", "1", "--", "cat", "src/1.txt");
    expect(first).toMatchObject({ code: 0, out: "try 1\n" });
    const killed = await inShell(repo, "sh", "-c", "kill -TERM $$");
    expect(killed.code).toBe(143);
    expectTidy(repo);
  });

  it("of a landed phase is its commit, on no branch", async () => {
    const repo = makeBuildRepo(onePhase);
    expectComplete(await build(repo));
    const ran = await inShell(repo, "git", "log", "-1", "--format=%H %D");
    expect(ran.out).toBe(
      `${repo.git("rev-parse", "HEAD").trim()} HEAD, ${repo.git("branch", "--show-current")}`,
    );
    expect((await inShell(repo, "git", "symbolic-ref", "-q", "HEAD")).code).toBe(1);
    expectTidy(repo);
  });

  it("at a terminal is the user's shell, with a word of introduction; unchanged, it is gone", async () => {
    const repo = await failedRepo();
    const terminal = atTerminal(repo.root, ["shell", "1"], { SHELL: "/bin/sh", PS1: "> " });
    await terminal.until("attempt 2 failed: test_failure: ");
    await terminal.until("gate test: ");
    await terminal.until('autodev retry 1 --note "…"');
    terminal.type("cat src/1.txt\n");
    await terminal.until("try 2");
    // Ctrl-C is for the shell and what runs in it, not for us. One process says that it is there and
    // sleeps: between two of its commands a shell takes the key for itself, and the second runs on.
    terminal.type("sh -c 'echo asleep: $((20 + 3)); exec sleep 50'\n");
    await terminal.until("asleep: 23");
    terminal.type("\u0003");
    await terminal.until(/\^C[^>]*> $/);
    terminal.type("echo still $((40 + 2))\n");
    await terminal.until("still 42");
    terminal.type("exit 5\n");
    expect((await terminal.ended).code).toBe(0);
    expectTidy(repo);
  });

  it("keeps what was changed, says where and what to do, and comes back to it", async () => {
    const repo = await failedRepo();
    const ran = await inShell(
      repo,
      "sh",
      "-c",
      "echo mended > src/1.txt; echo built > ignored.txt",
    );
    expect(ran.code).toBe(0);
    expect(ran.err).toContain(".autodev/var/shell-1-2 is kept, with your changes");
    expect(ran.err).toContain("git -C .autodev/var/shell-1-2 diff");
    expect((await inShell(repo, "cat", "src/1.txt", "ignored.txt")).out).toBe("mended\nbuilt\n");
    // A run does not sweep it, whatever comes of it.
    expectComplete(await build(repo, mine));
    expect(fs.readFileSync(path.join(tree(repo, "shell-1-2"), "src/1.txt"), "utf8")).toBe(
      "mended\n",
    );
    // Undone, there is nothing left to keep; what git ignores can be had again.
    const shell = jsonOf<Shell>(await repo.autodev("shell", "1", "--attempt", "2", "--json"));
    const undone = await repo.autodev(
      "shell",
      "1",
      "--attempt",
      "2",
      "--",
      "git",
      "checkout",
      "--",
      ".",
    );
    expect(undone.code, undone.all).toBe(0);
    expect(fs.existsSync(shell.path)).toBe(false);
    expectTidy(repo);
  });

  it.each([
    ["a new file", "echo x > new.txt"],
    ["a file that is gone", "rm src/1.txt"],
    ["a mode", "chmod +x src/1.txt"],
    ["a commit", "git commit --quiet --allow-empty --message=mine"],
    ["what is only staged", "echo x > new.txt; git add new.txt; rm new.txt"],
    [
      "what the index is told not to look at",
      "git update-index --assume-unchanged src/1.txt; echo x > src/1.txt",
    ],
    ["a file with a hostile name", "echo x > \"$(printf 'a\\033[2J\\nb')\""],
  ])("keeps %s", async (_, script) => {
    const repo = await failedRepo();
    const ran = await inShell(repo, "sh", "-c", script);
    expect(ran.code, ran.all).toBe(0);
    expect(ran.err).toContain("is kept, with your changes");
    expect(fs.existsSync(tree(repo, "shell-1-2"))).toBe(true);
  });

  it("as JSON makes the tree, says where it is and starts nothing", async () => {
    const repo = await failedRepo();
    const canary = path.join(makeFolder("canary"), "sang");
    const env = { SHELL: `touch ${canary}` };
    const shell = jsonOf<Shell>(
      await repo.with(env, "shell", "1", "--json", "--", "touch", canary),
    );
    expectSchema(shell, "shell");
    expect(shell).toMatchObject({ path: tree(repo, "shell-1-2"), phase: "1", attempt: 2 });
    expect(fs.readFileSync(path.join(shell.path, "src/1.txt"), "utf8")).toBe("try 2\n");
    expect(repo.git("-C", shell.path, "rev-parse", "HEAD").trim()).toBe(shell.commit);
    expect(fs.existsSync(canary)).toBe(false);
    expect(repo.git("status", "--porcelain")).not.toContain(".autodev");
  });

  it("without a terminal and without a command names the way out, and makes nothing", async () => {
    const repo = await failedRepo();
    const ran = await repo.autodev("shell", "1");
    expect(ran.code).toBe(2);
    expect(ran.err).toContain("autodev shell 1 -- npm test");
    expectTidy(repo);
  });

  it("names what there is when it is asked for something else", async () => {
    const repo = await failedRepo();
    const attempt = await repo.autodev("shell", "1", "--attempt", "8", "--json");
    expect(attempt.code).toBe(2);
    expect(errorOf(attempt).hint).toContain("it has had 1, 2");
    expect(errorOf(await repo.autodev("shell", "x", "--json")).hint).toBe("it has 1");
    const missing = await inShell(repo, "there-is-no-such-program");
    expect(missing.code).toBe(2);
    expect(missing.err).toContain("could not be started");
    expectTidy(repo);
    const nowhere = await autodevIn({ cwd: makeFolder("nowhere") }, "shell", "1", "--", "true");
    expect(nowhere.code).toBe(2);
    const never = await makeBuildRepo(vaguePhase).autodev("shell", "1", "--json");
    expect(errorOf(never).message).toContain("no plan was run");
  });

  it("runs nothing of the repository's", async () => {
    const repo = await failedRepo();
    const canary = path.join(makeFolder("canary"), "sang");
    fs.mkdirSync(repo.at(".git/hooks"), { recursive: true });
    fs.writeFileSync(repo.at(".git/hooks/post-checkout"), `#!/bin/sh\ntouch ${canary}\n`, {
      mode: 0o755,
    });
    repo.git("config", "filter.evil.smudge", `touch ${canary}; cat`);
    repo.git("config", "core.fsmonitor", `touch ${canary}`);
    fs.mkdirSync(repo.at(".git/info"), { recursive: true });
    fs.writeFileSync(repo.at(".git/info/attributes"), "* filter=evil\n");
    expect((await inShell(repo, "cat", "src/1.txt")).out).toBe("try 2\n");
    expect(fs.existsSync(canary)).toBe(false);
  });

  it("works while a run is under way, from a subfolder and a linked work tree", async () => {
    const repo = await failedRepo();
    const mailbox = makeMailbox();
    const agent = `touch "$MAILBOX/begun"; while [ ! -e "$MAILBOX/go" ]; do sleep 0.05; done; mkdir -p src; echo good > src/1.txt; finish`;
    const underway = await startTrusted(repo, mine, { agent, env: { MAILBOX: mailbox } });
    await arrived(mailbox, "begun");
    // The third attempt has left nothing yet: this is the second.
    expect((await inShell(repo, "cat", "src/1.txt")).out).toBe("try 2\n");
    const third = await repo.autodev("shell", "1", "--attempt", "3", "--json");
    expect(errorOf(third)).toMatchObject({
      code: "not-found",
      hint: expect.stringContaining("autodev diff 1") as string,
    });
    await repo.autodev("shell", "1", "--json");
    fs.writeFileSync(path.join(mailbox, "go"), "");
    expectComplete(await underway.ended);
    expect(fs.existsSync(tree(repo, "shell-1-2"))).toBe(true);
    const linked = path.join(makeFolder("tree"), "linked");
    repo.git("worktree", "add", "--quiet", "--detach", linked);
    // The same name in two work trees: git files the second under another.
    const args = ["shell", "1", "--attempt", "2", "--", "sh", "-c", "pwd; cat src/1.txt"];
    const there = await autodevIn({ cwd: path.join(linked, "docs") }, ...args);
    expect(there.out).toBe(`${linked}/.autodev/var/shell-1-2\ntry 2\n`);
    expect(fs.existsSync(path.join(linked, ".autodev/var"))).toBe(false);
    expect((await repo.autodev(...args)).out).toBe(`${tree(repo, "shell-1-2")}\ntry 2\n`);
    repo.git("worktree", "remove", "--force", linked);
    expectTidy(repo);
  });

  it("that is entered by two stays until the last has left", async () => {
    const repo = await failedRepo();
    const mailbox = makeMailbox();
    const waits = `touch "${mailbox}/in"; while [ ! -e "${mailbox}/go" ]; do sleep 0.05; done`;
    const first = inShell(repo, "sh", "-c", waits);
    await arrived(mailbox, "in");
    const second = await inShell(repo, "true");
    expect(second.err).toContain("somebody else is in it");
    expect(fs.existsSync(tree(repo, "shell-1-2"))).toBe(true);
    fs.writeFileSync(path.join(mailbox, "go"), "");
    expect((await first).code).toBe(0);
    expectTidy(repo);
  });

  it("killed while it is open loses nothing; killed half-way in or out, it begins anew", async () => {
    const repo = await failedRepo();
    const mailbox = makeMailbox();
    const child = spawn(
      process.execPath,
      [
        binary(),
        "shell",
        "1",
        "--",
        "sh",
        "-c",
        `echo mine > mine.txt; touch ${mailbox}/in; sleep 20`,
      ],
      { cwd: repo.root, env: plainEnvironment, stdio: "ignore" },
    );
    await arrived(mailbox, "in");
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    expect((await inShell(repo, "cat", "mine.txt")).out).toBe("mine\n");
    expect((await inShell(repo, "rm", "mine.txt")).code).toBe(0);
    expectTidy(repo);

    await killedAfter(repo, "worktree add", "shell", "1", "--", "true");
    fs.rmSync(path.join(tree(repo, "shell-1-2"), "src/1.txt"));
    expect((await inShell(repo, "cat", "src/1.txt")).out).toBe("try 2\n");
    expectTidy(repo);

    // Out: half of the files are gone, and that must not look like somebody's change.
    const shell = jsonOf<Shell>(await repo.autodev("shell", "1", "--json"));
    const admin = repo.git("-C", shell.path, "rev-parse", "--absolute-git-dir").trim();
    fs.rmSync(path.join(admin, "autodev-shell.json"));
    fs.rmSync(path.join(shell.path, "src"), { recursive: true });
    fs.rmSync(path.join(shell.path, ".git"));
    expect((await inShell(repo, "cat", "src/1.txt")).out).toBe("try 2\n");
    await eventually("tidy", () => !fs.existsSync(tree(repo, "shell-1-2")));
    expectTidy(repo);
  });

  it("never takes a folder of somebody's, nor changes to what an earlier run left", async () => {
    const repo = await failedRepo();
    fs.mkdirSync(tree(repo, "shell-1-2"), { recursive: true });
    fs.writeFileSync(path.join(tree(repo, "shell-1-2"), "precious"), "mine");
    const ran = await repo.autodev("shell", "1", "--json");
    expect(errorOf(ran)).toMatchObject({ code: "disk" });
    expect(fs.readFileSync(path.join(tree(repo, "shell-1-2"), "precious"), "utf8")).toBe("mine");
    fs.rmSync(repo.at(".autodev/var"), { recursive: true });
    const elsewhere = makeFolder("elsewhere");
    fs.symlinkSync(elsewhere, repo.at(".autodev/var"));
    expect(errorOf(await repo.autodev("shell", "1", "--json")).message).toContain("is a link");
    expect(fs.readdirSync(elsewhere)).toEqual([]);
    fs.rmSync(repo.at(".autodev/var"));

    await inShell(repo, "sh", "-c", "echo mine > src/1.txt");
    const fresh = await build(repo, [...mine, "--fresh"], { agent: failing, gate: "false" });
    expect(fresh.code, fresh.all).toBe(4);
    const busy = await repo.autodev("shell", "1", "--json");
    expect(busy.code).toBe(4);
    expect(errorOf(busy).hint).toContain("git worktree remove --force");
    expect(fs.readFileSync(path.join(tree(repo, "shell-1-2"), "src/1.txt"), "utf8")).toBe("mine\n");
  });

  it("in a folder that cannot be written says so", async () => {
    const repo = await failedRepo();
    fs.mkdirSync(repo.at(".autodev/var"));
    fs.writeFileSync(repo.at(".autodev/var/.gitignore"), "*\n");
    giveToNobody(repo.root);
    fs.chmodSync(repo.at(".autodev/var"), 0o500);
    const ran = await asNobody(repo.root, "shell", "1", "--json");
    expect(ran.code).toBe(1);
    expect(errorOf(ran).message).toContain("Permission denied");
  });
});
