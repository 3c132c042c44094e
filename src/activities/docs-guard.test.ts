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
import { makeFolder, pictureOf, repoAt } from "../../test/rig.ts";
import { forgetMark, type Stray, strayed, type TreeMark, watchTree } from "./docs-guard.ts";
import { putBack } from "./put-back.ts";

const at = "2026-03-01T10:00:00.000Z";
const id = "flow-8f3a-step-3";
const rescue = `refs/autodev/rescue/${id}`;

const watch = async (repo: DocsRepo): Promise<TreeMark> =>
  must(await watchTree(repo.engine, { id, at }));

const told = async (repo: DocsRepo, mark: TreeMark): Promise<string[]> =>
  must(await strayed(repo.engine, mark)).map(asLine);
const asLine = ({ what, how, path: file }: Stray): string => `${what} ${how} ${file}`;

const back = async (repo: DocsRepo, mark: TreeMark) =>
  must(await putBack(repo.engine, mark, must(await strayed(repo.engine, mark)), { at }));

/** Files, index, refs and git's own: as a person would find them; stats and logs aside. */
const everything = (repo: DocsRepo) => ({
  files: Object.fromEntries(
    Object.entries(pictureOf(repo.root)).filter(([file]) => !file.startsWith(".git/")),
  ),
  hooks: fs.existsSync(repo.at(".git/hooks")) ? pictureOf(repo.at(".git/hooks")) : {},
  config: repo.read(".git/config"),
  index: repo.git("ls-files", "-s", "-v"),
  refs: repo.git("for-each-ref", "refs/heads", "refs/tags"),
  head: repo.read(".git/HEAD"),
});

const usual = (): DocsRepo => {
  const repo = docsRepo({
    ".gitignore": "node_modules/\n*.log\n",
    "src/a.ts": "a\n",
    "src/b.ts": "b\n",
    "src/run.sh": "#!/bin/sh\n",
    "_docs/problem.md": "problem\n",
    "_docs/_autodev_state.md": "state\n",
  });
  repo.write("node_modules/x/index.js", "x\n");
  repo.write("src/a.ts", "the user's own, not committed\n");
  repo.write("notes.txt", "untracked\n");
  repo.write("src/b.ts", "staged\n");
  repo.git("add", "src/b.ts");
  repo.write(".git/hooks/pre-commit", "#!/bin/sh\n");
  return repo;
};

describe("a tree that is watched", () => {
  it("has strayed nowhere when only documents were written, and ignored files", async () => {
    const repo = usual();
    const before = everything(repo);
    const mark = await watch(repo);
    expect(everything(repo)).toEqual(before);
    repo.write("_docs/problem.md", "rewritten\n");
    repo.write("_docs/01_solution/solution.md", "new\n");
    repo.write("node_modules/y/index.js", "y\n");
    repo.write("debug.log", "ignored\n");
    repo.write(".autodev/var/attempt/x", "the engine's\n");
    repo.git("add", "_docs");
    // Touched is not changed.
    fs.utimesSync(repo.at("src/run.sh"), new Date(), new Date());
    repo.write("src/a.ts", "the user's own, not committed\n");
    repo.git("status");
    expect(await told(repo, mark)).toEqual([]);
    must(await forgetMark(repo.engine, mark));
    expect(repo.git("for-each-ref", "refs/autodev")).toBe("");
    expectSound(repo);
  });

  it("tells every file that was changed, added, removed or given another mode", async () => {
    const repo = usual();
    const mark = await watch(repo);
    const [was, size] = [fs.statSync(repo.at("notes.txt")), "untracked\n".length];
    repo.write("notes.txt", "UNTRACKED\n");
    fs.utimesSync(repo.at("notes.txt"), was.atime, was.mtime);
    expect(fs.statSync(repo.at("notes.txt")).size).toBe(size);
    repo.write("src/a.ts", "the agent's\n");
    fs.rmSync(repo.at("README.md"));
    fs.chmodSync(repo.at("src/run.sh"), 0o755);
    repo.write("odd\nname é.ts", "new\n");
    fs.symlinkSync("/etc/passwd", repo.at("src/link"));
    expect(await told(repo, mark)).toEqual([
      "file removed README.md",
      "file changed notes.txt",
      "file added odd\nname é.ts",
      "file changed src/a.ts",
      "file added src/link",
      "file changed src/run.sh",
    ]);
  });

  it("tells what became of HEAD, branches, the index, hooks, configuration and state files", async () => {
    const repo = usual();
    repo.git("branch", "side");
    repo.git("tag", "v1");
    const mark = await watch(repo);
    repo.git("branch", "--delete", "side");
    repo.git("switch", "--quiet", "--create", "agent");
    repo.git("commit", "--quiet", "--allow-empty", "--only", "--message=agent");
    repo.git("tag", "--force", "v1");
    repo.git("tag", "fetched");
    repo.git("reset", "--quiet", "--", "src/b.ts");
    repo.git("update-index", "--assume-unchanged", "src/run.sh");
    repo.git("config", "core.fsmonitor", "./evil");
    repo.write(".git/hooks/post-checkout", "#!/bin/sh\n");
    fs.rmSync(repo.at(".git/hooks/pre-commit"));
    repo.write(".git/info/exclude", "evil/\n");
    repo.write("_docs/_autodev_state.md", "status: completed\n");
    expect(await told(repo, mark)).toEqual([
      "head changed HEAD",
      "ref added refs/heads/agent",
      "ref removed refs/heads/side",
      "ref changed refs/tags/v1",
      "index changed src/b.ts",
      "index changed src/run.sh",
      "git changed config",
      "git added hooks/post-checkout",
      "git removed hooks/pre-commit",
      "git added info/exclude",
      "state changed _docs/_autodev_state.md",
    ]);
  });

  it("sees behind what git was told not to look at", async () => {
    const repo = docsRepo({ "hidden.ts": "a\n", "skipped.ts": "a\n", "far/out.ts": "a\n" });
    repo.git("update-index", "--assume-unchanged", "hidden.ts");
    repo.git("update-index", "--skip-worktree", "skipped.ts");
    const mark = await watch(repo);
    repo.write("hidden.ts", "b\n");
    repo.write("skipped.ts", "b\n");
    expect(await told(repo, mark)).toEqual(["file changed hidden.ts", "file changed skipped.ts"]);
    await back(repo, mark);
    expect(repo.read("hidden.ts") + repo.read("skipped.ts")).toBe("a\na\n");
    for (const index of ["--no-sparse-index", "--sparse-index"]) {
      const sparse = docsRepo({ "in/a.ts": "a\n", "out/b.ts": "b\n" });
      sparse.git("sparse-checkout", "set", "--cone", index, "in");
      const seen = await watch(sparse);
      expect(await told(sparse, seen)).toEqual([]);
      sparse.write("out/c.ts", "c\n");
      sparse.write("in/a.ts", "b\n");
      expect(await told(sparse, seen)).toEqual(["file changed in/a.ts", "file added out/c.ts"]);
      await back(sparse, seen);
      expect(sparse.dirty()).toEqual([]);
      expect(sparse.exists("out")).toBe(false);
    }
  });

  it("is the one from before the agent, however often it is marked", async () => {
    const repo = usual();
    const first = await watch(repo);
    repo.write("src/a.ts", "the agent's\n");
    expect(await watch(repo)).toEqual(first);
    expect(await told(repo, await watch(repo))).toEqual(["file changed src/a.ts"]);
    fs.appendFileSync(path.join(first.folder, "index"), "x");
    expect(await strayed(repo.engine, first)).toMatchObject({ ok: false });
  });

  it("takes nothing for new that was there and ignored before", async () => {
    const repo = usual();
    const mark = await watch(repo);
    repo.write(".gitignore", "");
    repo.write("fresh.txt", "new\n");
    expect(await told(repo, mark)).toEqual(["file changed .gitignore", "file added fresh.txt"]);
    await back(repo, mark);
    expect(repo.read("node_modules/x/index.js")).toBe("x\n");
    expect(repo.exists("fresh.txt")).toBe(false);
  });

  it("leaves submodules and other repositories to themselves", async () => {
    const inner = docsRepo({ "x.ts": "x\n" });
    const repo = docsRepo();
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.root, "sub");
    repo.git("commit", "--quiet", "--message=sub");
    repo.git("init", "--quiet", "own");
    repo.write("own/x.ts", "x\n");
    const mark = await watch(repo);
    repo.write("sub/x.ts", "dirty\n");
    repo.write("own/x.ts", "changed\n");
    expect(await told(repo, mark)).toEqual([]);
    const sub = asDocsRepo(repoAt(repo.at("sub")));
    sub.git("commit", "--quiet", "--all", "--message=moved");
    repo.git("init", "--quiet", "another");
    sub.write("../another/y.ts", "y\n");
    expect(await told(repo, mark)).toEqual(["file added another/", "file changed sub"]);
    const done = await back(repo, mark);
    expect(done.left.map(({ path: file }) => file)).toEqual(["another/", "sub"]);
    expect(repo.read("another/y.ts")).toBe("y\n");
  });

  it("works without a commit, in SHA-256, and in a linked work tree", async () => {
    const unborn = unbornRepo("--object-format=sha256");
    unborn.write("a.ts", "a\n");
    const mark = await watch(unborn);
    unborn.write("a.ts", "b\n");
    unborn.git("add", ".");
    unborn.git("commit", "--quiet", "--message=agent");
    expect(await told(unborn, mark)).toEqual([
      "ref added refs/heads/main",
      "index added a.ts",
      "file changed a.ts",
    ]);
    await back(unborn, mark);
    expect(unborn.dirty()).toEqual(["?? a.ts"]);
    expect(unborn.read("a.ts")).toBe("a\n");

    const repo = docsRepo({ "a.ts": "a\n" });
    const folder = path.join(makeFolder("linked"), "tree");
    repo.git("worktree", "add", "--quiet", "-b", "side", folder);
    const linked = asDocsRepo(repoAt(folder));
    const seen = await watch(linked);
    linked.write("a.ts", "b\n");
    linked.git("add", "a.ts");
    linked.git("config", "--local", "x.y", "z");
    expect(await told(linked, seen)).toEqual([
      "index changed a.ts",
      "git changed config",
      "file changed a.ts",
    ]);
    await back(linked, seen);
    expect(linked.dirty()).toEqual([]);
    expectSound(linked);
  });
});

describe("what strayed", () => {
  const meddle = (repo: DocsRepo): void => {
    repo.write("src/a.ts", "the agent's\n");
    repo.write("notes.txt", "the agent's notes\n");
    fs.rmSync(repo.at("src/b.ts"));
    fs.chmodSync(repo.at("src/run.sh"), 0o755);
    // A file where a folder was, a link where a file was.
    repo.write("new/folder/file.ts", "new\n");
    fs.rmSync(repo.at("README.md"));
    fs.symlinkSync("/etc/passwd", repo.at("README.md"));
    repo.write("_docs/_autodev_state.md", "status: completed\n");
    repo.git("add", "--all");
    repo.git("commit", "--quiet", "--message=the agent's");
    repo.git("config", "core.pager", "./evil");
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\nevil\n");
    repo.write("_docs/problem.md", "rewritten\n");
  };

  it("is put back, bytes, modes, index, branch, hooks and all; the agent's version is kept", async () => {
    const repo = usual();
    const before = everything(repo);
    const mark = await watch(repo);
    meddle(repo);
    const agents = repo.git("rev-parse", "HEAD").trim();
    const done = await back(repo, mark);
    expect(done.left).toEqual([]);
    expect(done.rescued).toBe(rescue);
    expect(await told(repo, mark)).toEqual([]);
    const { files, index, ...rest } = everything(repo);
    const { files: filesThen, index: indexThen, ...restThen } = before;
    expect(rest).toEqual(restThen);
    // The documents are the agent's, and so is what it staged of them.
    const docs = /_docs\/problem\.md/;
    const isOther = ([file]: [string, string]): boolean => !docs.test(file);
    expect(Object.entries(files).filter(isOther)).toEqual(
      Object.entries(filesThen).filter(isOther),
    );
    expect(index.split("\n").filter((line) => !/_docs\//.test(line))).toEqual(
      indexThen.split("\n").filter((line) => !/_docs\//.test(line)),
    );
    expect(repo.read("_docs/problem.md")).toBe("rewritten\n");
    expect(repo.git("show", `${rescue}:src/a.ts`)).toBe("the agent's\n");
    expect(repo.git("show", `${rescue}:new/folder/file.ts`)).toBe("new\n");
    expect(repo.git("show", `${rescue}:_docs/_autodev_state.md`)).toBe("status: completed\n");
    expect(repo.git("show", `${rescue}:autodev-kept/git/hooks/pre-commit`)).toContain("evil");
    expect(repo.git("merge-base", agents, rescue).trim()).toBe(agents);
    must(await forgetMark(repo.engine, mark));
    expectSound(repo);
  });

  it("is put back even if nothing but the mark has its bytes any more", async () => {
    const repo = usual();
    repo.git("config", "core.autocrlf", "true");
    repo.write("mixed.txt", "one\r\ntwo\nthree\r\n");
    const mark = await watch(repo);
    fs.rmSync(repo.at("notes.txt"));
    repo.write("mixed.txt", "gone\n");
    repo.git("reset", "--quiet", "--hard");
    repo.git("reflog", "expire", "--expire=now", "--all");
    repo.git("gc", "--quiet", "--prune=now");
    const done = await back(repo, mark);
    expect(done.left).toEqual([]);
    expect(repo.read("notes.txt")).toBe("untracked\n");
    expect(repo.read("mixed.txt")).toBe("one\r\ntwo\nthree\r\n");
    expect(repo.read("src/a.ts")).toBe("the user's own, not committed\n");
    expect(repo.read("src/b.ts")).toBe("staged\n");
    expect(repo.git("show", ":src/b.ts")).toBe("staged\n");
  });

  it("is put back only where somebody wants it", async () => {
    const repo = usual();
    const mark = await watch(repo);
    repo.write("src/a.ts", "the agent's\n");
    repo.write("notes.txt", "the user's, meanwhile\n");
    const strays = must(await strayed(repo.engine, mark));
    const chosen = strays.filter(({ path: file }) => file === "src/a.ts");
    must(await putBack(repo.engine, mark, chosen, { at }));
    expect(repo.read("src/a.ts")).toBe("the user's own, not committed\n");
    expect(repo.read("notes.txt")).toBe("the user's, meanwhile\n");
  });

  it("stays as it is, and is told, where it was too large to be kept", async () => {
    const repo = usual();
    const large = Buffer.alloc(10 * 1024 * 1024 + 1, "a");
    repo.write("large.bin", large);
    const mark = await watch(repo);
    expect(Object.keys(mark.watchedOnly)).toEqual(["large.bin"]);
    expect(await told(repo, mark)).toEqual([]);
    repo.write("large.bin", "the agent's\n");
    const done = await back(repo, mark);
    expect(done.left).toMatchObject([{ path: "large.bin", why: /too large/ }]);
    expect(repo.read("large.bin")).toBe("the agent's\n");
    expect(repo.git("show", `${rescue}:large.bin`)).toBe("the agent's\n");
  });

  it("is never written through a link: the link goes, what it leads to stays", async () => {
    const repo = usual();
    const mark = await watch(repo);
    const elsewhere = makeFolder("elsewhere");
    fs.writeFileSync(path.join(elsewhere, "a.ts"), "somebody's\n");
    fs.rmSync(repo.at("src"), { recursive: true });
    fs.symlinkSync(elsewhere, repo.at("src"));
    const done = await back(repo, mark);
    expect(done.left).toEqual([]);
    expect(fs.lstatSync(repo.at("src")).isDirectory()).toBe(true);
    expect(repo.read("src/a.ts")).toBe("the user's own, not committed\n");
    expect(fs.readFileSync(path.join(elsewhere, "a.ts"), "utf8")).toBe("somebody's\n");
    expect(fs.readdirSync(elsewhere)).toEqual(["a.ts"]);
  });

  it("may be whole folders: a file in the place of _docs, a link in the place of the hooks", async () => {
    const repo = usual();
    const mark = await watch(repo);
    fs.rmSync(repo.at("_docs"), { recursive: true });
    repo.write("_docs", "no folder\n");
    fs.rmSync(repo.at(".git/hooks"), { recursive: true });
    const elsewhere = makeFolder("elsewhere");
    fs.symlinkSync(elsewhere, repo.at(".git/hooks"));
    expect(await told(repo, mark)).toEqual([
      "git added hooks",
      "git removed hooks/pre-commit",
      "state removed _docs/_autodev_state.md",
    ]);
    const done = await back(repo, mark);
    expect(done.left).toMatchObject([{ path: "_docs/_autodev_state.md", why: /in its way/ }]);
    expect(repo.read(".git/hooks/pre-commit")).toBe("#!/bin/sh\n");
    expect(fs.readdirSync(elsewhere)).toEqual([]);
    expect(repo.read("_docs")).toBe("no folder\n");
  });

  it("ends the same wherever we are killed while it is put back", async () => {
    const original = usual();
    const before = everything(original);
    const noted = await watch(original);
    meddle(original);
    // Decided once, by whoever saw all of it.
    const strays = must(await strayed(original.engine, noted));
    const here = (repo: DocsRepo): TreeMark => ({
      ...noted,
      folder: noted.folder.replace(original.root, repo.root),
    });
    const deaths = await killedEverywhere(
      original,
      (git, repo) => putBack(git, here(repo), strays, { at }),
      async (repo, done) => {
        expect(done.left).toEqual([]);
        expect(done.rescued).toBe(rescue);
        expect(everything(repo).refs).toBe(before.refs);
        expect(everything(repo).hooks).toEqual(before.hooks);
        expect(repo.read("src/a.ts")).toBe("the user's own, not committed\n");
        expect(repo.exists("new")).toBe(false);
        expect(repo.git("log", "-m", "-p", "--format=", rescue)).toContain("+the agent's notes");
        must(await forgetMark(repo.engine, here(repo)));
        expectSound(repo);
      },
    );
    expect(deaths).toBeGreaterThan(10);
  }, 240_000);
});
