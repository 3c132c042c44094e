import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  type DocsRepo,
  docsRepo,
  expectSound,
  killedEverywhere,
  must,
  unbornRepo,
} from "../../test/docs-rig.ts";
import { makeFolder, pictureOf } from "../../test/rig.ts";
import type { Git } from "../git/call.ts";
import { rollBackStep, type StepRolledBack, whatRollsBack } from "./roll-back-step.ts";

const globs = [/^01_solution\/[^/]*$/u, /^_.*$/u];
const rescueRef = "refs/autodev/rescue/back-1";
const solution = "_docs/01_solution/solution.md";
const second = "_docs/01_solution/second.md";
const third = "_docs/01_solution/third.md";

/** The completion of a step, and what became of it since. */
function repoWithStep(): DocsRepo & { readonly done: string } {
  const repo = docsRepo({
    [solution]: "as completed\n",
    [second]: "as completed, too\n",
    "_docs/_autodev_state.md": "state then\n",
    "_docs/02_plan/plan.md": "plan then\n",
    "src/a.ts": "a\n",
  });
  const done = repo.git("rev-parse", "HEAD").trim();
  repo.write(solution, "changed later\n");
  repo.write(third, "made later\n");
  repo.write("_docs/_autodev_state.md", "state later\n");
  repo.write("_docs/02_plan/plan.md", "plan later\n");
  fs.rmSync(repo.at(second));
  repo.git("add", "--all");
  repo.git("commit", "--quiet", "--message=later");
  return { ...repo, done };
}

const back = (git: Git, commit: string, world?: string) =>
  rollBackStep(git, {
    id: "back-1",
    commit,
    globs,
    rescueRef,
    message: "docs: roll back solution\n\nAutodev-Rollback: 2\n",
    at: "2026-03-01T10:00:00.000Z",
    ...(world !== undefined && { world }),
  });

const look = async (repo: DocsRepo, commit: string) => {
  const what = must(await whatRollsBack(repo.engine, { commit, globs }));
  if (what.is !== "changes") throw new Error(what.why);
  return what;
};

const rescued = (done: StepRolledBack): string | undefined =>
  done.is === "rolled-back" ? done.rescued : JSON.stringify(done);

describe("a step that is rolled back", () => {
  it("says first what would change, and changes nothing by that", async () => {
    const repo = repoWithStep();
    repo.write(solution, "and not even committed\n");
    const before = pictureOf(repo.root);
    expect((await look(repo, repo.done)).changes).toEqual([
      { path: second, how: "brought back" },
      { path: solution, how: "restored" },
      { path: third, how: "removed" },
    ]);
    expect(pictureOf(repo.root)).toEqual(before);
  });

  it("has its files as they were, by a commit of ours; all others stay as they are", async () => {
    const repo = repoWithStep();
    repo.write("src/a.ts", "staged\n");
    repo.git("add", "src/a.ts");
    repo.write("untracked.txt", "mine\n");
    const done = must(await back(repo.engine, repo.done));
    expect(done).toEqual({ is: "rolled-back", commit: repo.git("rev-parse", "HEAD").trim() });
    expect(repo.read(solution)).toBe("as completed\n");
    expect(repo.read(second)).toBe("as completed, too\n");
    expect(repo.exists(third)).toBe(false);
    expect(repo.read("_docs/_autodev_state.md")).toBe("state later\n");
    expect(repo.read("_docs/02_plan/plan.md")).toBe("plan later\n");
    expect(repo.changed()).toEqual([second, solution, third]);
    expect(repo.dirty()).toEqual(["M  src/a.ts", "?? untracked.txt"]);
    expect(repo.git("for-each-ref", "refs/autodev")).toBe("");
    expect(repo.git("log", "-1", "--format=%(trailers)").trim()).toBe(
      "Autodev-Rollback: 2\nAutodev-Step-Id: back-1",
    );
    expectSound(repo);
  });

  it("keeps every byte that would be lost: changed, staged, untracked, in other line ends", async () => {
    const repo = repoWithStep();
    repo.git("config", "core.autocrlf", "true");
    repo.write(solution, "staged only\n");
    repo.git("add", solution);
    repo.write(solution, "in the tree\r\nand more\r\n");
    repo.write("_docs/01_solution/untracked.md", "nobody has this\n");
    const done = must(await back(repo.engine, repo.done));
    expect(rescued(done)).toBe(rescueRef);
    expect(repo.git("cat-file", "blob", `${rescueRef}:${solution}`)).toBe(
      "in the tree\r\nand more\r\n",
    );
    expect(repo.git("cat-file", "blob", `${rescueRef}:_docs/01_solution/untracked.md`)).toBe(
      "nobody has this\n",
    );
    expect(repo.git("cat-file", "blob", `${rescueRef}^:${solution}`)).toBe("staged only\n");
    expect(repo.git("rev-parse", `${rescueRef}^^`)).toBe(repo.git("rev-parse", "HEAD^"));
    expect(repo.exists("_docs/01_solution/untracked.md")).toBe(false);
    expect(repo.read(solution)).toBe("as completed\r\n");
    expect(repo.dirty()).toEqual([]);
    expectSound(repo);
  });

  it("is rolled back once", async () => {
    const repo = repoWithStep();
    repo.write(solution, "mine\n");
    const first = must(await back(repo.engine, repo.done));
    repo.write(solution, "written afterwards\n");
    expect(must(await back(repo.engine, repo.done))).toEqual(first);
    expect(repo.read(solution)).toBe("written afterwards\n");
    expect(repo.commits()).toBe(4);
  });

  it("is nothing where all is as it was", async () => {
    const repo = docsRepo({ [solution]: "as completed\n" });
    const done = repo.git("rev-parse", "HEAD").trim();
    expect((await look(repo, done)).changes).toEqual([]);
    expect(must(await back(repo.engine, done))).toEqual({ is: "nothing" });
    expect(repo.commits()).toBe(2);
    expect(repo.git("for-each-ref", "refs/autodev")).toBe("");
  });

  it("says so in a commit even if only uncommitted work is taken back", async () => {
    const repo = docsRepo({ [solution]: "as completed\n" });
    const done = repo.git("rev-parse", "HEAD").trim();
    repo.write(solution, "mine\n");
    repo.git("add", solution);
    expect(rescued(must(await back(repo.engine, done)))).toBe(rescueRef);
    expect(repo.changed()).toEqual([]);
    expect(repo.commits()).toBe(3);
    expect(repo.dirty()).toEqual([]);
    expect(repo.git("show", `${rescueRef}:${solution}`)).toBe("mine\n");
  });

  it("is only what somebody was asked about", async () => {
    const repo = repoWithStep();
    const { world } = await look(repo, repo.done);
    repo.write(third, "changed since\n");
    expect(must(await back(repo.engine, repo.done, world))).toMatchObject({
      is: "not-now",
      why: /not what they were/,
    });
    expect(repo.read(solution)).toBe("changed later\n");
    const anew = await look(repo, repo.done);
    expect(rescued(must(await back(repo.engine, repo.done, anew.world)))).toBe(rescueRef);
  });

  it("brings links, modes and odd names back", async () => {
    const repo = docsRepo({ "_docs/01_solution/line\nbreak é.md": "odd\n" });
    repo.write("_docs/01_solution/run.sh", "#!/bin/sh\n");
    fs.chmodSync(repo.at("_docs/01_solution/run.sh"), 0o755);
    fs.symlinkSync("../../README.md", repo.at("_docs/01_solution/link"));
    repo.git("add", "--all");
    repo.git("commit", "--quiet", "--message=odd");
    const done = repo.git("rev-parse", "HEAD").trim();
    fs.rmSync(repo.at("_docs"), { recursive: true });
    // A file in the place of the link's name, a link in the place of a file's.
    repo.write("_docs/01_solution/link", "a file\n");
    fs.symlinkSync("/etc/passwd", repo.at("_docs/01_solution/run.sh"));
    expect(rescued(must(await back(repo.engine, done)))).toBe(rescueRef);
    expect(fs.readlinkSync(repo.at("_docs/01_solution/link"))).toBe("../../README.md");
    expect(fs.lstatSync(repo.at("_docs/01_solution/run.sh")).mode & 0o111).toBe(0o111);
    expect(repo.read("_docs/01_solution/line\nbreak é.md")).toBe("odd\n");
    expect(repo.git("cat-file", "blob", `${rescueRef}:_docs/01_solution/run.sh`)).toBe(
      "/etc/passwd",
    );
    expect(repo.dirty()).toEqual([]);
  });

  it("never writes through a link, nor over a folder with other files in it", async () => {
    const repo = repoWithStep();
    const elsewhere = makeFolder("elsewhere");
    fs.writeFileSync(path.join(elsewhere, "solution.md"), "somebody's\n");
    fs.rmSync(repo.at("_docs/01_solution"), { recursive: true });
    fs.symlinkSync(elsewhere, repo.at("_docs/01_solution"));
    expect(must(await back(repo.engine, repo.done))).toMatchObject({
      is: "not-now",
      why: "_docs/01_solution is in the way of _docs/01_solution/second.md: it is no folder",
    });
    expect(fs.readdirSync(elsewhere)).toEqual(["solution.md"]);
    fs.rmSync(repo.at("_docs/01_solution"));
    repo.write(`${solution}/deep/private.md`, "in the way\n");
    expect(must(await back(repo.engine, repo.done))).toMatchObject({
      is: "not-now",
      why: `${solution} is a folder in which there are other files`,
    });
    expect(repo.read(`${solution}/deep/private.md`)).toBe("in the way\n");
    expectSound(repo);
  });

  it("does not touch what git ignores, unless it was part of the step: then it is kept", async () => {
    const repo = docsRepo({ "_docs/01_solution/notes.log": "as completed\n" });
    const done = repo.git("rev-parse", "HEAD").trim();
    repo.git("rm", "--quiet", "_docs/01_solution/notes.log");
    repo.write(".gitignore", "*.log\n");
    repo.git("add", ".gitignore");
    repo.git("commit", "--quiet", "--message=ignored");
    repo.write("_docs/01_solution/notes.log", "mine, ignored\n");
    repo.write("_docs/01_solution/other.log", "ignored\n");
    expect(rescued(must(await back(repo.engine, done)))).toBe(rescueRef);
    expect(repo.read("_docs/01_solution/notes.log")).toBe("as completed\n");
    expect(repo.read("_docs/01_solution/other.log")).toBe("ignored\n");
    expect(repo.git("show", `${rescueRef}:_docs/01_solution/notes.log`)).toBe("mine, ignored\n");
  });

  it("keeps what somebody saves in the very moment, and what a killed life left is swept", async () => {
    const repo = repoWithStep();
    repo.write("_docs/01_solution/.autodev-tmp-1-back-1", "half a fi");
    repo.write(`.git/${rescueRef}.lock`, "");
    let saved = false;
    const around = (inner: Git): Git => ({
      ...inner,
      call(call) {
        if (!saved && call.args[1] === "--filters") {
          saved = true;
          repo.write(solution, "saved just now\n");
        }
        return inner.call(call);
      },
      at: (place, env) => around(inner.at(place, env)),
    });
    expect(rescued(must(await back(around(repo.engine), repo.done)))).toBe(rescueRef);
    expect(repo.git("show", `${rescueRef}:${solution}`)).toBe("saved just now\n");
    expect(repo.read(solution)).toBe("as completed\n");
    expect(repo.dirty()).toEqual([]);
    expectSound(repo);
  });

  it("waits while git is busy, and does nothing meanwhile", async () => {
    const repo = repoWithStep();
    repo.git("checkout", "--quiet", "--detach");
    expect(must(await back(repo.engine, repo.done)).is).toBe("not-now");
    expect(must(await whatRollsBack(repo.engine, { commit: repo.done, globs })).is).toBe("not-now");
    expect(repo.read(solution)).toBe("changed later\n");
    expect(repo.git("for-each-ref", "refs/autodev")).toBe("");
  });

  it("works with SHA-256 names too", async () => {
    const repo = unbornRepo("--object-format=sha256");
    repo.write(solution, "as completed\n");
    repo.git("add", "--all");
    repo.git("commit", "--quiet", "--message=done");
    const done = repo.git("rev-parse", "HEAD").trim();
    repo.write(solution, "later\n");
    expect(rescued(must(await back(repo.engine, done)))).toBe(rescueRef);
    expect(repo.read(solution)).toBe("as completed\n");
    expectSound(repo);
  });
});

describe("killed at any moment while it is rolled back, and asked again", () => {
  it("it ends the same, with one commit and everything kept", async () => {
    const made = repoWithStep();
    made.write("src/a.ts", "staged\n");
    made.write(solution, "staged only\n");
    made.git("add", "--all");
    made.write(solution, "in the tree\n");
    made.write("_docs/01_solution/untracked.md", "nobody has this\n");
    // As the person saw it who was asked, before anything was done.
    const { world } = await look(made, made.done);
    const deaths = await killedEverywhere(
      made,
      (git) => back(git, made.done, world),
      (repo, done) => {
        expect(rescued(done)).toBe(rescueRef);
        expect(repo.commits()).toBe(4);
        expect(repo.changed()).toEqual([second, solution, third]);
        expect(repo.dirty()).toEqual(["M  src/a.ts"]);
        const kept = repo.git("log", "-p", "--format=", `HEAD^..${rescueRef}`);
        for (const bytes of ["+staged only", "+in the tree", "+nobody has this"])
          expect(kept).toContain(bytes);
        expect(fs.readdirSync(repo.at("_docs/01_solution")).sort()).toEqual([
          "second.md",
          "solution.md",
        ]);
        expectSound(repo);
      },
    );
    expect(deaths).toBeGreaterThan(10);
  }, 240_000);
});
