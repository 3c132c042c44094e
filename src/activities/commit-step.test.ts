import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  asDocsRepo,
  type DocsRepo,
  docsRepo,
  expectSound,
  killedEverywhere,
  must,
  unbornRepo,
} from "../../test/docs-rig.ts";
import { makeFolder, repoAt } from "../../test/rig.ts";
import type { Git } from "../git/call.ts";
import { commitStep, type StepCommit, type StepToCommit } from "./commit-step.ts";

const step = {
  id: "flow-8f3a-000123",
  message: "docs: problem statement\n\nAutodev-Flow: greenfield\nAutodev-Step: 1\n",
  at: "2026-03-01T10:00:00.000Z",
};

const commit = async (repo: DocsRepo, more: Partial<StepToCommit> = {}): Promise<StepCommit> =>
  must(await commitStep(repo.engine, { ...step, ...more }));

async function committed(repo: DocsRepo, more: Partial<StepToCommit> = {}): Promise<string> {
  const done = await commit(repo, more);
  if (done.is !== "committed") throw new Error(JSON.stringify(done));
  expectSound(repo);
  return done.commit;
}

const whyNot = async (repo: DocsRepo): Promise<string> => {
  const before = repo.git("for-each-ref");
  const done = await commit(repo);
  expect(repo.git("for-each-ref")).toBe(before);
  expectSound(repo);
  return done.is === "not-now" ? done.why : JSON.stringify(done);
};

const problem = "_docs/00_problem/problem.md";

describe("a step's commit", () => {
  it("holds what was added, changed and deleted below _docs/, and nothing else", async () => {
    const repo = docsRepo({ [problem]: "old\n", "_docs/gone.md": "gone\n", "src/a.ts": "a\n" });
    repo.write(problem, "new\n");
    repo.write("_docs/01_solution/solution.md", "added\n");
    repo.write("_docs/_autodev_state.md", "# Autodev State\n");
    fs.rmSync(repo.at("_docs/gone.md"));
    repo.write("src/a.ts", "changed\n");
    repo.write("untracked.txt", "mine\n");
    const sha = await committed(repo);
    expect(sha).toBe(repo.git("rev-parse", "main").trim());
    expect(repo.changed()).toEqual([
      problem,
      "_docs/01_solution/solution.md",
      "_docs/_autodev_state.md",
      "_docs/gone.md",
    ]);
    expect(repo.dirty()).toEqual([" M src/a.ts", "?? untracked.txt"]);
    expect(repo.git("show", `HEAD:${problem}`)).toBe("new\n");
  });

  it("bears the id beside the trailers of its message", async () => {
    const repo = docsRepo();
    repo.write(problem, "text\n");
    repo.git("config", "user.name", "A. User");
    repo.git("config", "user.email", "user@example.invalid");
    await committed(repo);
    expect(repo.git("log", "-1", "--format=%(trailers)").trim().split("\n")).toEqual([
      "Autodev-Flow: greenfield",
      "Autodev-Step: 1",
      "Autodev-Step-Id: flow-8f3a-000123",
    ]);
    expect(repo.git("log", "-1", "--format=%aI %an").trim()).toMatch(/^2026-03-01T10:00:00/);
  });

  it("takes a subject that looks like a trailer for a subject", async () => {
    const repo = docsRepo();
    repo.write(problem, "text\n");
    await committed(repo, { message: "docs: problem" });
    expect(repo.git("log", "-1", "--format=%B").trim()).toBe(
      "docs: problem\n\nAutodev-Step-Id: flow-8f3a-000123",
    );
  });

  it("is made once: the same id is the same commit, whatever has changed since", async () => {
    const repo = docsRepo();
    repo.write(problem, "text\n");
    const sha = await committed(repo);
    repo.write(problem, "later\n");
    repo.git("commit", "--allow-empty", "--quiet", "--message=user's own");
    expect(await committed(repo)).toBe(sha);
    expect(repo.dirty()).toEqual([` M ${problem}`]);
    expect(await committed(repo, { id: "flow-8f3a-000124" })).not.toBe(sha);
  });

  it("is not mistaken for one whose message only speaks of the id", async () => {
    const repo = docsRepo();
    const quoting = `about it\n\nAutodev-Step-Id: ${step.id}\n\nis what it said`;
    repo.git("commit", "--allow-empty", "--quiet", `--message=${quoting}`);
    repo.write(problem, "text\n");
    await committed(repo);
    expect(repo.changed()).toEqual([problem]);
  });

  it("cannot be given another step's id by whoever wrote the message", async () => {
    const repo = docsRepo();
    repo.write(problem, "text\n");
    await committed(repo, { message: "docs: x\n\nAutodev-Step-Id: flow-8f3a-000999\nFixes: 1\n" });
    expect(repo.git("log", "-1", "--format=%(trailers)").trim()).toBe(
      "Fixes: 1\nAutodev-Step-Id: flow-8f3a-000123",
    );
  });

  it("is not made twice because the history cannot be read", async () => {
    const repo = docsRepo();
    repo.write(problem, "text\n");
    await committed(repo);
    const parent = repo.git("rev-parse", "HEAD^").trim();
    fs.rmSync(repo.at(`.git/objects/${parent.slice(0, 2)}/${parent.slice(2)}`));
    repo.write(problem, "more\n");
    expect(await commitStep(repo.engine, { ...step, id: "next" })).toMatchObject({ ok: false });
  });

  it("is nothing where nothing differs", async () => {
    const repo = docsRepo({ [problem]: "text\n" });
    repo.write("src/a.ts", "a\n");
    expect(await commit(repo)).toEqual({ is: "nothing" });
    expect(repo.commits()).toBe(2);
    expectSound(repo);
  });

  it("can be kept to some paths", async () => {
    const repo = docsRepo();
    for (const file of [problem, "_docs/00_problem2/x.md", "_docs/y.md"]) repo.write(file, "x\n");
    await committed(repo, { paths: ["_docs/00_problem", "_docs/y.md"] });
    expect(repo.changed()).toEqual([problem, "_docs/y.md"]);
    await expect(commit(repo, { paths: ["src"] })).rejects.toThrow("not below");
  });

  it("is the first commit of a repository that had none", async () => {
    for (const options of [[], ["--object-format=sha256"]]) {
      const repo = unbornRepo(...options);
      repo.write(problem, "text\n");
      repo.write("src/a.ts", "a\n");
      repo.git("add", "src/a.ts");
      const sha = await committed(repo);
      expect(repo.git("rev-parse", "refs/heads/main").trim()).toBe(sha);
      expect(repo.files()).toEqual([problem]);
      expect(repo.dirty()).toEqual(["A  src/a.ts"]);
      expect(repo.commits()).toBe(1);
      repo.write(problem, "more\n");
      await committed(repo, { id: "second" });
      expect(repo.dirty()).toEqual(["A  src/a.ts"]);
    }
  });
});

describe("what the user has staged", () => {
  it("elsewhere stays staged and out of the commit", async () => {
    const repo = docsRepo({ "src/a.ts": "a\n", "src/b.ts": "b\n" });
    repo.write("src/a.ts", "staged\n");
    repo.write("src/new.ts", "new\n");
    repo.git("add", "src");
    repo.git("rm", "--quiet", "src/b.ts");
    repo.write("src/a.ts", "and more\n");
    const before = repo.git("ls-files", "--stage");
    repo.write(problem, "text\n");
    await committed(repo);
    expect(repo.changed()).toEqual([problem]);
    expect(repo.dirty()).toEqual(["MM src/a.ts", "D  src/b.ts", "A  src/new.ts"]);
    const line = `100644 ${repo.git("hash-object", problem).trim()} 0\t${problem}\n`;
    expect(repo.git("ls-files", "--stage").replace(line, "")).toBe(before);
  });

  it("below _docs/ is treated like its working copy", async () => {
    const repo = docsRepo({ [problem]: "old\n", "_docs/kept.md": "kept\n" });
    repo.write(problem, "half\n");
    repo.write("_docs/staged-then-gone.md", "x\n");
    repo.git("add", "_docs");
    fs.rmSync(repo.at("_docs/staged-then-gone.md"));
    repo.write(problem, "whole\n");
    repo.write("_docs/intended.md", "intended\n");
    repo.write("_docs/empty.md", "");
    repo.git("add", "--intent-to-add", "_docs/intended.md", "_docs/empty.md");
    repo.git("rm", "--quiet", "--cached", "_docs/kept.md");
    await committed(repo);
    expect(repo.changed()).toEqual([problem, "_docs/empty.md", "_docs/intended.md"]);
    expect(repo.git("show", `HEAD:${problem}`)).toBe("whole\n");
    expect(repo.git("show", "HEAD:_docs/kept.md")).toBe("kept\n");
    // Not in the commit, so not followed either: it is still his to take back.
    expect(repo.dirty()).toEqual([
      "D  _docs/kept.md",
      "AD _docs/staged-then-gone.md",
      "?? _docs/kept.md",
    ]);
  });

  it("with force counts, ignored or not; what git ignores does not", async () => {
    const repo = docsRepo({ ".gitignore": "*.log\n/_docs/secret/\n" });
    repo.write("_docs/a.log", "ignored\n");
    repo.write("_docs/secret/x.md", "ignored\n");
    repo.write("_docs/forced.log", "forced\n");
    repo.git("add", "--force", "_docs/forced.log");
    repo.write(problem, "text\n");
    await committed(repo);
    expect(repo.changed()).toEqual([problem, "_docs/forced.log"]);
    expect(repo.exists("_docs/a.log")).toBe(true);
  });

  it("and told git not to look at is not looked at", async () => {
    const repo = docsRepo({ "_docs/local.md": "a\n", "_docs/own.md": "a\n", [problem]: "a\n" });
    repo.git("update-index", "--assume-unchanged", "_docs/local.md");
    repo.git("update-index", "--skip-worktree", "_docs/own.md");
    for (const file of ["_docs/local.md", "_docs/own.md", problem]) repo.write(file, "b\n");
    await committed(repo);
    expect(repo.changed()).toEqual([problem]);
    expect(repo.git("ls-files", "-v", "_docs")).toBe(
      `H ${problem}\nh _docs/local.md\nS _docs/own.md\n`,
    );
  });
});

describe("a step waits", () => {
  const repoWithBranches = (): DocsRepo => {
    const repo = docsRepo({ "a.txt": "base\n", [problem]: "base\n" });
    repo.git("switch", "--quiet", "--create", "other");
    repo.write("a.txt", "other\n");
    repo.write(problem, "other\n");
    repo.git("commit", "--quiet", "--all", "--message=other");
    repo.git("switch", "--quiet", "main");
    repo.write("a.txt", "main\n");
    repo.git("commit", "--quiet", "--all", "--message=main");
    return repo;
  };
  const tolerated = (repo: DocsRepo, ...args: string[]): void => {
    try {
      repo.git(...args);
    } catch {
      // A conflict: that is what it is for.
    }
  };

  it("on a detached HEAD", async () => {
    const repo = docsRepo();
    repo.git("checkout", "--quiet", "--detach");
    repo.write(problem, "text\n");
    expect(await whyNot(repo)).toMatch(/detached/);
  });

  it.each([
    ["merge", /a merge is under way/],
    ["cherry-pick", /a cherry-pick is under way/],
  ])("during a %s", async (command, why) => {
    const repo = repoWithBranches();
    tolerated(repo, command, "other");
    expect(await whyNot(repo)).toMatch(why);
  });

  it("during a rebase, a revert, a bisect, and between two picks", async () => {
    const repo = repoWithBranches();
    tolerated(repo, "rebase", "other");
    expect(await whyNot(repo)).toMatch(/detached|rebase/);
    repo.git("rebase", "--abort");
    tolerated(repo, "revert", "--no-commit", "HEAD~1");
    expect(await whyNot(repo)).toMatch(/a revert is under way/);
    repo.git("reset", "--quiet", "--hard");
    repo.git("bisect", "start");
    expect(await whyNot(repo)).toMatch(/a bisect is under way/);
    repo.git("bisect", "reset");
    fs.mkdirSync(repo.at(".git/sequencer"));
    expect(await whyNot(repo)).toMatch(/cherry-pick or revert is under way/);
  });

  it("for a conflict below _docs/ that nobody has resolved, and for no other", async () => {
    const repo = repoWithBranches();
    repo.write(problem, "mine\n");
    repo.git("stash", "--quiet");
    repo.write(problem, "committed\n");
    repo.git("commit", "--quiet", "--all", "--message=committed");
    tolerated(repo, "stash", "pop");
    expect(await whyNot(repo)).toMatch(`${problem} has a conflict`);
    repo.git("checkout", "--quiet", "--theirs", problem);
    repo.git("reset", "--quiet", "--", problem);
    repo.write("a.txt", "stashed\n");
    repo.git("stash", "--quiet", "--", "a.txt");
    repo.write("a.txt", "committed\n");
    repo.git("commit", "--quiet", "--message=committed", "--", "a.txt");
    tolerated(repo, "stash", "pop");
    await committed(repo);
    expect(repo.changed()).toEqual([problem]);
    expect(repo.dirty()).toEqual(["UU a.txt"]);
  });

  it("for a _docs that is a link, or a repository of its own", async () => {
    const repo = docsRepo();
    const elsewhere = makeFolder("elsewhere");
    fs.writeFileSync(path.join(elsewhere, "private.md"), "private\n");
    fs.symlinkSync(elsewhere, repo.at("_docs"));
    expect(await whyNot(repo)).toMatch("_docs is a link");
    fs.rmSync(repo.at("_docs"));
    fs.mkdirSync(repo.at("_docs"));
    repo.git("init", "--quiet", "_docs");
    expect(await whyNot(repo)).toMatch("a repository of its own");
  });

  it("for whoever holds the index, and for no longer than it is told to", async () => {
    const repo = docsRepo();
    repo.write(problem, "text\n");
    repo.write(".git/index.lock", "");
    const signal = AbortSignal.timeout(500);
    expect(await commit(repo, { signal })).toMatchObject({ is: "not-now", why: /another git/ });
    expect(repo.commits()).toBe(1);
    fs.rmSync(repo.at(".git/index.lock"));
    await committed(repo);
  });

  it("for hooks that refuse it; git itself runs none", async () => {
    const repo = docsRepo();
    for (const hook of ["pre-commit", "commit-msg", "post-commit", "reference-transaction"]) {
      repo.write(
        `.git/hooks/${hook}`,
        `#!/bin/sh\ntouch "$(git rev-parse --git-dir)/ran"\nexit 1\n`,
      );
      fs.chmodSync(repo.at(`.git/hooks/${hook}`), 0o755);
    }
    repo.write(problem, "text\n");
    const refused = await commit(repo, {
      hooks: async ({ onto }) => {
        expect(onto).toBe(repo.git("rev-parse", "HEAD").trim());
        return { ok: true, value: { is: "refused", why: "pre-commit says no" } };
      },
    });
    expect(refused).toEqual({ is: "not-now", why: "pre-commit says no" });
    expect(repo.commits()).toBe(1);
    await committed(repo, {
      hooks: async ({ message }) => ({
        ok: true,
        value: { is: "passed", message: message.replace("docs:", "docs(JIRA-1):") },
      }),
    });
    expect(repo.git("log", "-1", "--format=%s").trim()).toBe("docs(JIRA-1): problem statement");
    expect(repo.exists(".git/ran")).toBe(false);
  });
});

describe("whatever is below _docs/", () => {
  it("is taken by its name, byte by byte", async () => {
    const repo = docsRepo();
    const names = [
      " leading and trailing ",
      "-rf",
      ":(exclude)x",
      "*.md",
      "README.md",
      "readme.md",
      "line\nbreak.md",
      'quote".md',
      "back\\slash.md",
      "tab\t.md",
      "é.md",
      "e\u0301.md",
      "日本語/計画.md",
    ].map((name) => `_docs/${name}`);
    for (const name of names) repo.write(name, `${name}\n`);
    fs.chmodSync(repo.at("_docs/-rf"), 0o755);
    await committed(repo);
    expect(repo.changed().sort()).toEqual([...names].sort());
    expect(repo.dirty()).toEqual([]);
    for (const name of names) fs.rmSync(repo.at(name));
    await committed(repo, { id: "gone" });
    expect(repo.files()).toEqual(["README.md"]);
    expect(repo.dirty()).toEqual([]);
  });

  it("is never read through a link", async () => {
    const repo = docsRepo({ "_docs/folder/inside.md": "inside\n" });
    const elsewhere = makeFolder("elsewhere");
    fs.writeFileSync(path.join(elsewhere, "inside.md"), "private\n");
    fs.rmSync(repo.at("_docs/folder"), { recursive: true });
    fs.symlinkSync(elsewhere, repo.at("_docs/folder"));
    fs.symlinkSync(path.join(elsewhere, "inside.md"), repo.at("_docs/link.md"));
    await committed(repo);
    expect(repo.git("ls-tree", "-r", "HEAD", "_docs/").replace(/ blob \S+/g, "")).toBe(
      "120000\t_docs/folder\n120000\t_docs/link.md\n",
    );
    expect(repo.git("cat-file", "blob", "HEAD:_docs/folder")).toBe(elsewhere);
    expect(repo.dirty()).toEqual([]);
  });

  it("may be a file where a folder was, and a folder where a file was", async () => {
    const repo = docsRepo({ "_docs/a": "file\n", "_docs/b/c": "file\n" });
    fs.rmSync(repo.at("_docs/a"));
    fs.rmSync(repo.at("_docs/b"), { recursive: true });
    repo.write("_docs/a/x", "x\n");
    repo.write("_docs/b", "b\n");
    await committed(repo);
    expect(repo.files()).toEqual(["README.md", "_docs/a/x", "_docs/b"]);
    expect(repo.dirty()).toEqual([]);
  });

  it("leaves submodules alone, below _docs/ and beside it", async () => {
    const inner = docsRepo({ "x.md": "x\n" });
    const repo = docsRepo();
    for (const name of ["_docs/sub", "beside"]) {
      repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.root, name);
    }
    repo.git("commit", "--quiet", "--message=submodules");
    for (const name of ["_docs/sub", "beside"]) {
      const sub = asDocsRepo(repoAt(repo.at(name)));
      sub.write("x.md", "moved\n");
      sub.git("commit", "--quiet", "--all", "--message=moved");
      sub.write("x.md", "dirty\n");
    }
    // Nobody has registered this one; another is staged and not yet committed.
    repo.git("init", "--quiet", "_docs/own");
    repo.write("_docs/own/file.md", "own\n");
    asDocsRepo(repoAt(repo.at("_docs/own"))).git("add", ".");
    asDocsRepo(repoAt(repo.at("_docs/own"))).git("commit", "--quiet", "--message=own");
    const add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"];
    repo.git(...add, inner.root, "_docs/staged");
    repo.write(problem, "text\n");
    await committed(repo);
    expect(repo.changed()).toEqual([problem]);
    expect(repo.dirty()).toEqual([
      "M  .gitmodules",
      "A  _docs/staged",
      " M _docs/sub",
      " M beside",
      "?? _docs/own/",
    ]);
  });

  it("is stored as the attributes have it: line ends too", async () => {
    const repo = docsRepo({ [problem]: "one\ntwo\n" });
    repo.git("config", "core.autocrlf", "true");
    repo.write(problem, "one\r\ntwo\r\n");
    expect(await commit(repo)).toEqual({ is: "nothing" });
    repo.write(problem, "one\r\ntwo\r\nthree\r\n");
    await committed(repo);
    expect(repo.git("cat-file", "blob", `HEAD:${problem}`)).toBe("one\ntwo\nthree\n");
    expect(repo.read(problem)).toBe("one\r\ntwo\r\nthree\r\n");
    expect(repo.dirty()).toEqual([]);
  });

  it("is not missing where a sparse checkout leaves it out", async () => {
    for (const index of ["--no-sparse-index", "--sparse-index"]) {
      const repo = docsRepo({ "_docs/in/a.md": "a\n", "_docs/out/b.md": "b\n", "far/c.md": "c\n" });
      repo.git("sparse-checkout", "set", "--cone", index, "_docs/in");
      expect(repo.exists("_docs/out/b.md")).toBe(false);
      repo.write("_docs/in/a.md", "changed\n");
      repo.write("_docs/out/new.md", "new\n");
      await committed(repo);
      expect(repo.changed()).toEqual(["_docs/in/a.md", "_docs/out/new.md"]);
      expect(repo.git("show", "HEAD:_docs/out/b.md")).toBe("b\n");
      expect(repo.dirty()).toEqual([]);
      expect(repo.git("ls-files", "-t", "_docs/out/b.md")).toBe("S _docs/out/b.md\n");
    }
  });

  it("of a linked work tree goes to that work tree's branch", async () => {
    const repo = docsRepo({ [problem]: "text\n" });
    const folder = path.join(makeFolder("linked"), "tree");
    repo.git("worktree", "add", "--quiet", "-b", "side", folder);
    const linked = asDocsRepo(repoAt(folder));
    linked.write(problem, "linked\n");
    repo.write(problem, "main\n");
    const sha = await committed(linked);
    expect(repo.git("rev-parse", "side").trim()).toBe(sha);
    expect(repo.dirty()).toEqual([` M ${problem}`]);
    expect(linked.dirty()).toEqual([]);
  });
});

describe("somebody else", () => {
  /** Does something of the user's just before git is asked for something, as a rule the last thing. */
  const meddled = (git: Git, meddle: () => void, before = "update-ref"): Git => {
    let done = false;
    const around = (inner: Git): Git => ({
      ...inner,
      call(call) {
        if (call.args[0] === before && !done) {
          done = true;
          meddle();
        }
        return inner.call(call);
      },
      at: (place, env) => around(inner.at(place, env)),
    });
    return around(git);
  };

  it("who commits in between loses nothing, and the step goes on top", async () => {
    const repo = docsRepo({ "a.txt": "a\n" });
    repo.write(problem, "text\n");
    let theirs = "";
    const git = meddled(repo.engine, () => {
      theirs = repo.git("commit-tree", "-p", "HEAD", "-m", "theirs", "HEAD^{tree}").trim();
      repo.git("update-ref", "HEAD", theirs);
    });
    const done = must(await commitStep(git, step));
    expect(done.is).toBe("committed");
    expect(repo.git("rev-parse", "HEAD^").trim()).toBe(theirs);
    expect(repo.changed()).toEqual([problem]);
    expect(repo.dirty()).toEqual([]);
    expectSound(repo);
  });

  it("who writes and stages in between has his last word committed", async () => {
    const repo = docsRepo({ [problem]: "old\n" });
    repo.write(problem, "seen\n");
    const meddle = (): void => {
      repo.write(problem, "staged just now\n");
      repo.git("add", problem);
    };
    must(await commitStep(meddled(repo.engine, meddle, "var"), step));
    expect(repo.git("show", `HEAD:${problem}`)).toBe("staged just now\n");
    expect(repo.dirty()).toEqual([]);
    expect(repo.commits()).toBe(3);
  });

  it("who switches branches in between gets no commit on the branch that he has left", async () => {
    const repo = docsRepo();
    repo.git("branch", "other", "HEAD");
    repo.git("commit", "--allow-empty", "--quiet", "--message=ahead");
    repo.write(problem, "text\n");
    const main = repo.git("rev-parse", "main");
    const git = meddled(repo.engine, () => repo.git("symbolic-ref", "HEAD", "refs/heads/other"));
    const done = must(await commitStep(git, step));
    expect(done.is).toBe("committed");
    expect(repo.git("rev-parse", "main")).toBe(main);
    expect(repo.changed("other")).toEqual([problem]);
    expectSound(repo);
  });
});

describe("killed at any moment and asked again", () => {
  const busy = (): DocsRepo => {
    const repo = docsRepo({ [problem]: "old\n", "_docs/gone.md": "gone\n", "src/a.ts": "a\n" });
    repo.write("src/a.ts", "staged\n");
    repo.write(problem, "half\n");
    repo.git("add", "--all");
    repo.write("src/a.ts", "more\n");
    repo.write(problem, "whole\n");
    repo.write("_docs/new.md", "new\n");
    fs.rmSync(repo.at("_docs/gone.md"));
    return repo;
  };

  it("it leaves one commit, and the user's files and index as they were", async () => {
    const deaths = await killedEverywhere(
      busy(),
      (git) => commitStep(git, step),
      (repo, done) => {
        expect(done).toEqual({ is: "committed", commit: repo.git("rev-parse", "HEAD").trim() });
        expect(repo.commits()).toBe(3);
        expect(repo.changed()).toEqual([problem, "_docs/gone.md", "_docs/new.md"]);
        expect(repo.git("show", `HEAD:${problem}`)).toBe("whole\n");
        expect(repo.dirty()).toEqual(["MM src/a.ts"]);
        expect(repo.git("show", ":src/a.ts")).toBe("staged\n");
        expectSound(repo);
      },
    );
    expect(deaths).toBeGreaterThan(8);
  }, 240_000);

  it("so does the first commit of all", async () => {
    const unborn = unbornRepo();
    unborn.write(problem, "text\n");
    await killedEverywhere(
      unborn,
      (git) => commitStep(git, step),
      (repo, done) => {
        expect(done.is).toBe("committed");
        expect(repo.commits()).toBe(1);
        expect(repo.dirty()).toEqual([]);
        expectSound(repo);
      },
    );
  }, 240_000);

  it("locks of a git that died with the machine do not keep it from going on", async () => {
    const repo = docsRepo();
    repo.write(problem, "text\n");
    for (const lock of ["HEAD.lock", "refs/heads/main.lock"]) repo.write(`.git/${lock}`, "");
    await committed(repo);
  });

  it("what it had locked is free again even if nothing is left to commit", async () => {
    const repo = docsRepo();
    repo.write(".git/index.lock", `autodev ${step.id}\n`);
    repo.write(`.git/autodev-index-${step.id}`, "half a copy");
    expect(await commit(repo)).toEqual({ is: "nothing" });
    expectSound(repo);
  });
});
