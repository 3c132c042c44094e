/** The user's own commit hooks, as a gate of every phase: what git would have run, where it would. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  build,
  config,
  expectComplete,
  expectTidy,
  hashIn,
  makeBuildRepo,
  makeMailbox,
  onePhase,
  phaseFile,
  plan,
  planOf,
  startBuild,
  subjects,
  twoPhases,
} from "./build-rig.ts";
import { expectNoCrash, makeFolder, type Ran, type Repo } from "./rig.ts";

/** Written as git wants them; `.git/hooks` unless another folder is named. */
function hook(repo: Repo, name: string, script: string, folder = repo.at(".git/hooks")): void {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

const commitAll = (repo: Repo): void => {
  repo.git("add", "--all");
  repo.git("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message=hooks");
};

const gates = (repo: Repo): Record<string, { passed: boolean | null; output_summary: string }> =>
  phaseFile(repo, "1")["quality_gates"] as ReturnType<typeof gates>;

const messageOf = (repo: Repo): string => repo.git("log", "-1", "--format=%B").trimEnd();

/** The one phase failed, because of the hooks; nothing of it is on the branch. */
function expectRefused(repo: Repo, ran: Ran, said: string | RegExp): void {
  expectNoCrash(ran);
  expect(ran.code, ran.all).toBe(4);
  expect(phaseFile(repo, "1").error).toMatchObject({
    message: expect.stringMatching(/^hooks failed: /) as string,
  });
  expect(gates(repo)["hooks"]).toMatchObject({ passed: false });
  expect(JSON.stringify(phaseFile(repo, "1"))).toMatch(said);
  expect(subjects(repo)).not.toContain("feat: part 1");
  expectTidy(repo);
}

const once = ["--attempts=1"];

describe.concurrent("commit hooks:", { timeout: 180_000 }, () => {
  it("a commit without hooks has no such gate", async () => {
    const repo = makeBuildRepo();
    hook(repo, "post-commit", "exit 1");
    hook(repo, "pre-commit.sample", "exit 1");
    fs.writeFileSync(repo.at(".git/hooks/pre-commit"), "exit 1\n", { mode: 0o644 });
    fs.symlinkSync("commit-msg", repo.at(".git/hooks/commit-msg"));
    expectComplete(await build(repo));
    expect(Object.keys(gates(repo))).toContain("test");
    expect(Object.keys(gates(repo))).not.toContain("hooks");
  });

  it("a hook finds a commit that is about to be made", async () => {
    const repo = makeBuildRepo(twoPhases);
    const mailbox = makeMailbox();
    const word = `{ echo "$0 $*"; git rev-parse HEAD; git symbolic-ref HEAD
    git diff --cached --name-only; git diff-files --name-only; git status --porcelain
    echo "$GIT_INDEX_FILE $GIT_AUTHOR_NAME"; [ -z "$1" ] || cat "$1"; } >> "$MAILBOX/$AUTODEV_PHASE"`;
    for (const name of ["pre-commit", "prepare-commit-msg", "commit-msg"]) hook(repo, name, word);
    for (const name of ["post-commit", "reference-transaction", "post-index-change"]) {
      hook(repo, name, 'touch "$MAILBOX/never"');
    }
    const before = repo.git("rev-parse", "HEAD").trim();
    expectComplete(await build(repo, [], { env: { MAILBOX: mailbox } }));
    expect(fs.readdirSync(mailbox).sort()).toEqual(["1", "2"]);
    const told = fs.readFileSync(path.join(mailbox, "1"), "utf8");
    const about = `${before}
refs/heads/main
${plan}
src/1.txt
M  ${plan}
A  src/1.txt
.git/index Tester
`;
    const [, run] = /^Autobuild-Run: (\S+)$/m.exec(told) ?? [];
    const [, attempt] = /^Autobuild-Attempt: (\S+)$/m.exec(told) ?? [];
    const message = `feat: part 1

- Make part 1

Autobuild-Run: ${run}
Autobuild-Phase: 1
Autobuild-Attempt: ${attempt}
`;
    expect(told).toBe(
      `.git/hooks/pre-commit \n${about}` +
        `.git/hooks/prepare-commit-msg .git/COMMIT_EDITMSG message\n${about}${message}` +
        `.git/hooks/commit-msg .git/COMMIT_EDITMSG\n${about}${message}`,
    );
    const [first] = repo.git("log", "--format=%H", "--skip=1", "-1").split("\n");
    expect(fs.readFileSync(path.join(mailbox, "2"), "utf8").split("\n")[1]).toBe(first);
    expect(gates(repo)["hooks"]).toMatchObject({
      passed: true,
      output_summary: "pre-commit, prepare-commit-msg, commit-msg passed",
    });
    fs.rmSync(repo.at(".git/hooks"), { recursive: true });
    expectTidy(repo);
  });

  it("a hook that refuses fails the phase with its own words", async () => {
    const repo = makeBuildRepo();
    hook(repo, "pre-commit", "echo 'a secret is in src/1.txt' >&2; exit 3");
    const ran = await build(repo, once);
    expectRefused(repo, ran, /pre-commit ended with 3: a secret is in src\/1\.txt/);
    expect(phaseFile(repo, "1").error).toMatchObject({
      type: "gate_failure",
      details: "a secret is in src/1.txt",
    });
  });

  it("a hook that refuses the message fails the phase", async () => {
    const repo = makeBuildRepo();
    hook(repo, "commit-msg", 'grep -q "^JIRA-" "$1" || { echo "no ticket"; exit 1; }');
    expectRefused(repo, await build(repo, once), /commit-msg ended with 1: no ticket/);
  });

  it("what a hook makes of the files is what the gates see and what lands", async () => {
    const repo = makeBuildRepo();
    const tidy =
      'for f in $(git diff --cached --name-only -- src); do tr a-z A-Z < "$f" > t; mv t "$f"; git add "$f"; done';
    hook(
      repo,
      "pre-commit",
      `${tidy}; echo made > src/made.txt; git add src/made.txt; echo x > left`,
    );
    expectComplete(
      await build(repo, [], { gate: 'grep -qx "PART 1" src/1.txt && [ -e src/made.txt ]' }),
    );
    expect(repo.git("show", "HEAD:src/1.txt")).toBe("PART 1\n");
    expect(repo.read("src/1.txt")).toBe("PART 1\n");
    expect(repo.read("src/made.txt")).toBe("made\n");
    expect(repo.git("ls-tree", "-r", "--name-only", "HEAD")).not.toContain("left");
    expect(phaseFile(repo, "1").commit?.files_created).toEqual(["src/1.txt", "src/made.txt"]);
    expect(gates(repo)["hooks"]?.output_summary).toContain("they changed the tree");
    expectTidy(repo);
    const audited = await repo.autodev("audit", "HEAD", "--no-gates");
    expect(audited.code, audited.all).toBe(0);
  });

  it("a gate that fails on what a hook made of the files fails the phase", async () => {
    const repo = makeBuildRepo();
    hook(
      repo,
      "pre-commit",
      "echo BROKEN >> src/1.txt; sort -u src/1.txt -o src/1.txt; git add src",
    );
    const ran = await build(repo, once, { gate: "! grep -rq BROKEN src" });
    expect(ran.code, ran.all).toBe(4);
    expect(phaseFile(repo, "1").error?.type).toBe("test_failure");
    expect(gates(repo)["hooks"]).toMatchObject({ passed: true });
  });

  it("a hook that removes a file, and makes a folder of another, is followed", async () => {
    const repo = makeBuildRepo(
      planOf([{ id: "1", files: { "src/1.txt": "one", "src/2": "two", "src/3.txt": "three" } }]),
    );
    hook(
      repo,
      "pre-commit",
      "[ -f src/2 ] || exit 0; git rm -q -f src/3.txt src/2; mkdir -p src/2; echo x > src/2/a; git add src",
    );
    const ran = await build(repo, once);
    expectNoCrash(ran);
    // The plan names both files: what the hook left is judged like what an agent leaves.
    expect(ran.code, ran.all).toBe(4);
    expect(JSON.stringify(phaseFile(repo, "1")["verification"])).toContain("src/3.txt");
    expect(gates(repo)["hooks"]).toMatchObject({ passed: true });
  });

  it("hooks that change the tree each time they see it do not settle", async () => {
    const repo = makeBuildRepo();
    hook(repo, "pre-commit", "echo more >> src/1.txt; git add src/1.txt");
    expectRefused(repo, await build(repo, once), /do not settle: they changed the tree/);
  });

  it("what a hook makes of the plan does not count", async () => {
    const repo = makeBuildRepo();
    hook(repo, "pre-commit", `echo "<!-- formatted -->" >> ${plan}; git add ${plan}`);
    expectComplete(await build(repo));
    expect(repo.read(plan)).not.toContain("formatted");
    expect(repo.read(plan)).toContain("- [x] Make part 1");
    expect(repo.git("show", `HEAD:${plan}`)).toBe(repo.read(plan));
    expectTidy(repo);
  });

  it("the message is the one that the hooks leave, and our trailers stay", async () => {
    const repo = makeBuildRepo();
    hook(repo, "prepare-commit-msg", 'sed -i "1s/^/[$(git symbolic-ref --short HEAD)] /" "$1"');
    hook(repo, "commit-msg", 'sed -i /^Autobuild-Run/d "$1"; echo "Change-Id: I123" >> "$1"');
    expectComplete(await build(repo));
    expect(messageOf(repo)).toMatch(
      /^\[main\] feat: part 1\n\n- Make part 1\n\nChange-Id: I123\nAutobuild-Run: \S+\nAutobuild-Phase: 1\nAutobuild-Attempt: \S+\nAutobuild-Evidence: \S+$/,
    );
    const audited = await repo.autodev("audit", "HEAD", "--no-gates");
    expect(audited.code, audited.all).toBe(0);
  });

  it("a message that a hook empties fails the phase", async () => {
    const repo = makeBuildRepo();
    hook(repo, "commit-msg", ': > "$1"');
    expectRefused(repo, await build(repo, once), /left no message/);
  });

  it("hooks of the tree are run where it has them, and who changes them in passing is found out", async () => {
    const repo = makeBuildRepo(planOf([{ id: "1" }, { id: "2", needs: ["1"] }]));
    hook(
      repo,
      "pre-commit",
      'echo "$AUTODEV_PHASE $0" >> "$MAILBOX/ran"',
      repo.at("tools/my hooks"),
    );
    commitAll(repo);
    repo.git("config", "core.hooksPath", "tools/my hooks");
    const mailbox = makeMailbox();
    const agent = `mkdir -p src; echo $AUTODEV_PHASE > src/$AUTODEV_PHASE.txt; finish
    [ $AUTODEV_PHASE = 1 ] || rm "tools/my hooks/pre-commit"`;
    const ran = await build(repo, once, { agent, env: { MAILBOX: mailbox } });
    expectNoCrash(ran);
    expect(ran.code, ran.all).toBe(4);
    expect(gates(repo)["hooks"]).toMatchObject({ passed: true });
    expect(phaseFile(repo, "2").error).toMatchObject({
      type: "gate_changed",
      message: expect.stringContaining("tools/my hooks/pre-commit") as string,
    });
    expect(fs.readFileSync(path.join(mailbox, "ran"), "utf8")).toBe(
      "1 tools/my hooks/pre-commit\n",
    );
  });

  it("hooks in a folder that ignores itself are brought along, with what they need", async () => {
    const repo = makeBuildRepo();
    repo.write(".husky/pre-commit", 'echo "$0 $PWD" >> "$MAILBOX/ran"\n');
    commitAll(repo);
    const stub = '. "$(dirname "$0")/h"';
    for (const name of ["pre-commit", "commit-msg", "pre-push"]) {
      hook(repo, name, stub, repo.at(".husky/_"));
    }
    repo.write(".husky/_/.gitignore", "*\n");
    repo.write(
      ".husky/_/h",
      's=$(dirname "$(dirname "$0")")/$(basename "$0"); [ ! -f "$s" ] && exit 0; sh -e "$s" "$@"\n',
    );
    repo.git("config", "core.hooksPath", ".husky/_");
    const mailbox = makeMailbox();
    expectComplete(await build(repo, [], { env: { MAILBOX: mailbox } }));
    const told = fs.readFileSync(path.join(mailbox, "ran"), "utf8");
    expect(told).toMatch(/^\.husky\/pre-commit \/.*\n$/);
    expect(told).not.toContain(repo.root);
    expect(gates(repo)["hooks"]?.output_summary).toBe("pre-commit, commit-msg passed");
    expectTidy(repo);
  });

  it("hooks in a folder elsewhere, of the user's own configuration, run with what lies beside them", async () => {
    const repo = makeBuildRepo();
    const folder = makeFolder("my hooks");
    hook(repo, "pre-commit", '. "$(dirname "$0")/lib/words"; say', folder);
    fs.mkdirSync(path.join(folder, "lib"));
    fs.writeFileSync(path.join(folder, "lib/words"), "say() { echo 'not today'; exit 1; }\n");
    const global = path.join(makeFolder("global"), "config");
    fs.writeFileSync(global, `[core]\n\thooksPath = "${folder}"\n`);
    const env = { GIT_CONFIG_GLOBAL: global };
    expectRefused(repo, await build(repo, once, { env }), /not today/);
  });

  it("hooks find what the set-up command installs, and the index knows the files as they see them", async () => {
    const packages = {
      "": { name: "whole", workspaces: ["packages/*"] },
      "node_modules/dep": { resolved: "packages/dep", link: true },
      "packages/dep": { version: "1.0.0" },
    };
    const repo = makeBuildRepo(twoPhases, {
      "package.json": JSON.stringify(packages[""]),
      "package-lock.json": JSON.stringify({
        name: "whole",
        lockfileVersion: 3,
        requires: true,
        packages,
      }),
      "packages/dep/package.json": JSON.stringify({ name: "dep", version: "1.0.0" }),
      ".gitignore": "node_modules\n",
    });
    const mailbox = makeMailbox();
    hook(
      repo,
      "pre-commit",
      `{ git diff-files --name-only; ls node_modules; } >> "$MAILBOX/$AUTODEV_PHASE"
    for f in src/*; do sort -r "$f" -o "$f"; echo "checked" >> "$f"; sort -u "$f" -o "$f"; done; git add src`,
    );
    expectComplete(await build(repo, [], { env: { MAILBOX: mailbox } }));
    for (const phase of ["1", "2"]) {
      expect(fs.readFileSync(path.join(mailbox, phase), "utf8")).toBe("dep\ndep\n");
      expect(repo.read(`src/${phase}.txt`)).toBe(`checked\npart ${phase}\n`);
    }
    expectTidy(repo);
  });

  it("hooks that nobody has approved are not run, nor are they when they change", async () => {
    const repo = makeBuildRepo();
    const mailbox = makeMailbox();
    const env = { MAILBOX: mailbox };
    hook(repo, "pre-commit", 'touch "$MAILBOX/first"');
    const asked = await startBuild(repo, [], { env }).ended;
    expect(asked.code, asked.all).toBe(3);
    expect(asked.all).toContain('touch "$MAILBOX/first"');
    const hash = hashIn(asked) ?? "";
    hook(repo, "pre-commit", 'touch "$MAILBOX/second"');
    const again = await startBuild(repo, ["--trust-sha256", hash], { env }).ended;
    expect(again.code, again.all).toBe(3);
    expect(fs.readdirSync(mailbox)).toEqual([]);
  });

  it("without a single other command the hooks have to be approved, and are run", async () => {
    const repo = makeBuildRepo(onePhase, { ".autodev/config.yaml": "{}\n" });
    hook(repo, "pre-commit", "echo no; exit 1");
    const asked = await startBuild(repo, once).ended;
    expect(asked.code, asked.all).toBe(3);
    expect(hashIn(asked), asked.all).toMatch(/^[0-9a-f]{64}$/);
    const ran = await build(repo, [...once, "--decide", "recommended"]);
    expectRefused(repo, ran, /pre-commit ended with 1: no/);
  });

  it("where the user makes the commits, the message is left for his own git to change", async () => {
    const repo = makeBuildRepo();
    hook(
      repo,
      "pre-commit",
      'for f in src/*; do tr a-z A-Z < "$f" > t; mv t "$f"; git add "$f"; done',
    );
    hook(repo, "commit-msg", 'sed -i "1s/^/[$(git symbolic-ref --short HEAD)] /" "$1"');
    expectComplete(await build(repo, ["--commit=message-only"]));
    expect(repo.read("src/1.txt")).toBe("PART 1\n");
    expect(phaseFile(repo, "1").commit?.message).toMatch(/^feat: part 1\n/);
  });

  it("hooks that change while an agent works are not run as they became", async () => {
    const repo = makeBuildRepo(planOf([{ id: "1" }]));
    const mailbox = makeMailbox();
    hook(repo, "pre-commit", 'touch "$MAILBOX/approved"');
    const agent = `h=$(git rev-parse --path-format=absolute --git-common-dir)/hooks/pre-commit
    echo 'touch "$MAILBOX/planted"' >> "$h"; mkdir src; echo 1 > src/1.txt; finish`;
    const ran = await build(repo, once, { agent, env: { MAILBOX: mailbox } });
    expect(ran.code, ran.all).toBe(4);
    expect(phaseFile(repo, "1").error?.type).toBe("gate_changed");
    expect(fs.readdirSync(mailbox)).toEqual(["approved"]);
  });

  it("gates: { hooks: false } drops them", async () => {
    const settings = config.replace("gates:\n", "gates:\n  hooks: false\n");
    const repo = makeBuildRepo(onePhase, { ".autodev/config.yaml": settings });
    hook(repo, "pre-commit", "exit 1");
    expectComplete(await build(repo));
    expect(gates(repo)["hooks"]).toMatchObject({ passed: null });
  });

  it("a hook that hangs is a timeout", async () => {
    const repo = makeBuildRepo();
    hook(repo, "pre-commit", "sleep 600");
    const ran = await build(repo, [...once, "--gate-minutes=0.02"]);
    expectRefused(repo, ran, /pre-commit took too long and was stopped/);
    expect(phaseFile(repo, "1").error?.type).toBe("timeout");
  });

  for (const [what, script] of [
    ["takes the repository away", "rm -rf .git"],
    ["puts the user's repository in its place", 'rm -rf .git; ln -s "$USERS" .git'],
    ["puts the user's index in its place", 'rm .git/index; ln -s "$USERS/index" .git/index'],
    ["spoils the index", "echo no index > .git/index"],
    [
      "stages an object that is not there",
      `git update-index --add --cacheinfo 100644,${"1".repeat(40)},x`,
    ],
  ] as const) {
    it(`a hook that ${what} fails the phase, and the user's repository stays as it was`, async () => {
      const repo = makeBuildRepo();
      hook(repo, "pre-commit", script);
      const index = repo.bytes(".git/index");
      const ran = await build(repo, once, { env: { USERS: repo.at(".git") } });
      expectRefused(repo, ran, /the hooks left (?:no message|an index)/);
      expect(repo.bytes(".git/index").equals(index)).toBe(true);
    });
  }

  it("a tree that has a link where hooks are brought to gets nothing written through it", async () => {
    const repo = makeBuildRepo(planOf([{ id: "1" }]));
    hook(repo, "pre-commit", "true", repo.at("tools/_"));
    repo.write("tools/_/.gitignore", "*\n");
    repo.write("tools/kept", "kept\n");
    commitAll(repo);
    repo.git("config", "core.hooksPath", "tools/_");
    const outside = makeFolder("outside");
    const agent = 'rm -r tools; ln -s "$OUTSIDE" tools; mkdir src; echo 1 > src/1.txt; finish';
    const ran = await build(repo, once, { agent, env: { OUTSIDE: outside } });
    expect(ran.code, ran.all).toBe(4);
    expect(fs.readdirSync(outside)).toEqual([]);
    expect(gates(repo)["hooks"]).toMatchObject({ passed: false });
  });
});
