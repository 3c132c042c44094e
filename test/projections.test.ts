/** The state file as a projection of the journal: stale, edited by hand, brought by git, or gone. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  autodevIn,
  former,
  generation1,
  generation3,
  gitIn,
  jsonOf,
  makeFolder,
  makeRepo,
  makeRepoWithHistory,
  memoryOf,
  pictureOf,
  present,
  type Repo,
  repoAt,
  type Status,
  stateText,
} from "./rig.ts";

const at = (phase: number): string => generation3.replace("phase: 7", `phase: ${phase}`);

/** A repository whose state file we know, committed. */
async function makeKnown(text = generation3): Promise<Repo> {
  const repo = makeRepo({ [present]: text });
  expect((await repo.autodev()).code).toBe(0);
  repo.git("add", ".");
  repo.git("commit", "-qm", "state");
  return repo;
}

const lastAdoption = async (repo: Repo): Promise<Record<string, unknown> | undefined> =>
  (await repo.events()).filter((event) => event.type === "state-file-adopted").at(-1);

describe.concurrent("a first look", () => {
  it("at a repository with nothing makes nothing; autodev makes the file", async () => {
    const repo = makeRepo();
    const before = pictureOf(repo.root);
    expect(await repo.status()).toMatchObject({
      source: "scan",
      flow: "greenfield",
      step: "1",
      name: "Problem",
      status: "not_started",
      generation: 3,
    });
    for (const command of [
      ["status"],
      ["decisions"],
      ["log"],
      ["doctor"],
      ["migrate", "--dry-run"],
    ]) {
      await repo.autodev(...command);
    }
    expect(pictureOf(repo.root)).toEqual(before);
    expect((await repo.autodev()).code).toBe(0);
    expect(repo.read(present)).toBe(
      stateText(`flow: greenfield
step: 1
name: Problem
status: not_started
sub_step:
  phase: 0
  name: awaiting-invocation
  detail: ""
retry_count: 0
cycle: 1`),
    );
    expect(await repo.status()).toMatchObject({ source: "state", step: "1", corrections: [] });
    expect(await lastAdoption(repo)).toMatchObject({ why: "created" });
  });

  it("at source code without _docs is existing-code", async () => {
    const repo = makeRepo({ "package.json": "{}", "src/x.ts": "" });
    expect(await repo.status()).toMatchObject({
      source: "scan",
      flow: "existing-code",
      step: "1",
      name: "Document",
    });
  });

  it("at artifacts without a state file finds the step by its folders", async () => {
    const repo = makeRepo({
      "_docs/00_problem/problem.md": "x",
      "_docs/00_problem/restrictions.md": "x",
      "_docs/00_problem/acceptance_criteria.md": "x",
      "_docs/00_problem/input_data/a.csv": "x",
    });
    expect(await repo.status()).toMatchObject({
      source: "scan",
      flow: "greenfield",
      step: "2",
      name: "Research",
    });
    expect((await repo.autodev()).code).toBe(0);
    expect(repo.read(present)).toContain("step: 2\nname: Research\n");
  });

  it("at a file without a journal imports it, byte for byte", async () => {
    const text = `${generation3}\n## My Own\nx: y\n`;
    const repo = makeRepo({ [present]: text });
    expect(await repo.status()).toMatchObject({ source: "state", step: "10", corrections: [] });
    expect((await repo.autodev()).code).toBe(0);
    expect(repo.read(present)).toBe(text);
    expect(await repo.events()).toMatchObject([{ type: "state-file-adopted", why: "imported" }]);
  });

  it("in a fresh clone imports what came with it", async () => {
    const repo = await makeKnown();
    const copy = repoAt(makeFolder("clone"));
    gitIn(path.dirname(copy.root))("clone", "-q", repo.root, copy.root);
    expect(await copy.status()).toMatchObject({ source: "state", step: "10", corrections: [] });
    expect((await copy.autodev()).code).toBe(0);
    expect(copy.git("status", "--porcelain")).toBe("");
  });

  it("a second autodev changes nothing that git can see", async () => {
    const repo = await makeKnown();
    for (let times = 0; times < 2; times++) expect((await repo.autodev()).code).toBe(0);
    expect(repo.git("status", "--porcelain")).toBe("");
    expect(await repo.events()).toHaveLength(1);
  });
});

describe.concurrent("a hand edit", () => {
  it("is taken over, named in the corrections and in the log, and stays as it is written", async () => {
    const repo = await makeKnown();
    // HEAD has moved with the commit; let the journal know it, so that this is a hand's work.
    repo.write(present, at(8));
    expect((await repo.autodev()).code).toBe(0);
    repo.write(present, at(9));
    const status = await repo.status();
    expect(status).toMatchObject({ source: "state", subStep: { phase: 9 } });
    expect(status.corrections.join()).toMatch(/_docs\/_autodev_state\.md.*edited by hand/);
    const ran = await repo.autodev();
    expect(ran.code).toBe(0);
    expect(repo.read(present)).toBe(at(9));
    expect(await lastAdoption(repo)).toMatchObject({ why: "hand-edit", path: present });
    expect((await repo.autodev("log")).out).toMatch(
      /_docs\/_autodev_state\.md edited by hand and taken over.*step 10/,
    );
    expect(await repo.status()).toMatchObject({ subStep: { phase: 9 }, corrections: [] });
  });

  it("is said by the autodev that takes it over", async () => {
    const repo = makeRepo({ [present]: generation3 });
    expect((await repo.autodev()).code).toBe(0);
    repo.write(present, at(9));
    const ran = await repo.autodev();
    expect(ran.all).toMatch(/edited by hand/);
  });

  it("of a key that is not ours is kept", async () => {
    const repo = await makeKnown();
    const text = generation3.replace("status:", "mood: fine\nstatus:").concat("\n## Notes\nmine\n");
    repo.write(present, text);
    expect((await repo.autodev()).code).toBe(0);
    expect(repo.read(present)).toBe(text);
  });

  it("to a step that is not there: the folders decide, and the edit is named", async () => {
    const repo = makeRepo({ [present]: generation3 });
    expect((await repo.autodev()).code).toBe(0);
    repo.write(present, generation3.replace("step: 10", "step: 99"));
    const status = await repo.status();
    expect(status.source).toBe("scan");
    expect(status.corrections.join("\n")).toMatch(/edited by hand[^]*_autodev_state\.md:5 step 99/);
  });

  it("that breaks the file stops with its line, and the journal keeps the position", async () => {
    const repo = makeRepo({ [present]: generation3 });
    expect((await repo.autodev()).code).toBe(0);
    repo.write(present, `${generation3}\n## Current Step\nstep: 11\n`);
    for (const command of [["status"], []]) {
      const ran = await repo.autodev(...command);
      expect(ran.code).toBe(1);
      expect(ran.err).toContain("_docs/_autodev_state.md:15");
    }
    repo.write(present, generation3);
    expect(await repo.status()).toMatchObject({ step: "10", corrections: [] });
  });

  it("of the retry count past three is read as three", async () => {
    const repo = makeRepo({ [present]: generation3 });
    expect((await repo.autodev()).code).toBe(0);
    repo.write(present, generation3.replace("retry_count: 0", "retry_count: 7"));
    const status = await repo.status();
    expect(status.retryCount).toBe(3);
    expect(status.corrections.join()).toContain("_docs/_autodev_state.md:12");
  });
});

describe.concurrent("a file that is behind the journal", () => {
  it("deleted: rebuilt from the journal; status says so and makes nothing, autodev writes it", async () => {
    const repo = await makeRepoWithHistory();
    const text = repo.read(present);
    fs.rmSync(repo.stateFile);
    const status = await repo.status();
    expect(status).toMatchObject({ source: "rebuilt", step: "3", subStep: { phase: 4 } });
    expect(status.corrections.join()).toContain(present);
    expect(repo.exists(present)).toBe(false);
    expect((await repo.autodev()).code).toBe(0);
    expect(repo.read(present)).toBe(text);
    expect(await repo.status()).toMatchObject({ source: "state", corrections: [] });
  });

  it("deleted with its folder: rebuilt, but nothing is left of the steps before it", async () => {
    const repo = await makeRepoWithHistory();
    fs.rmSync(repo.at("_docs"), { recursive: true });
    const status = await repo.status();
    expect(status).toMatchObject({ source: "rebuilt", step: "1", status: "not_started" });
    expect(status.corrections.join()).toContain("the flow goes back to 1 Problem");
    expect((await repo.autodev()).code).toBe(0);
    expect(repo.read(present)).toMatch(/^step: 1$/m);
  });

  for (const empty of ["", "\n\n", "\uFEFF"]) {
    it(`emptied to ${JSON.stringify(empty)}: rendered anew`, async () => {
      const repo = await makeRepoWithHistory();
      const text = repo.read(present);
      repo.write(present, empty);
      const status = await repo.status();
      expect(status).toMatchObject({ step: "3", subStep: { phase: 4 } });
      expect(status.corrections.join()).toMatch(/empty/);
      expect(repo.read(present)).toBe(empty);
      expect((await repo.autodev()).code).toBe(0);
      expect(repo.read(present)).toBe(text);
    });
  }

  it("with the bytes of an earlier rendering is stale: the journal has it, it is rendered anew", async () => {
    const repo = makeRepo({ [present]: generation3.replace("in_progress", "paused") });
    expect((await repo.autodev()).code).toBe(3);
    const early = repo.read(present);
    const [decision] = (await repo.status()).decisions;
    expect((await repo.autodev("decide", decision?.id ?? "", "A")).code).toBe(0);
    expect((await repo.autodev()).code).toBe(0);
    const newest = repo.read(present);
    expect(newest).not.toBe(early);
    repo.write(present, early);
    const status = await repo.status();
    expect(status).toMatchObject({ status: "in_progress", source: "state" });
    expect(status.corrections.join()).toMatch(/older than the journal/);
    expect(repo.read(present)).toBe(early);
    const events = (await repo.events()).length;
    expect((await repo.autodev()).code).toBe(0);
    expect(repo.read(present)).toBe(newest);
    expect((await repo.events()).length).toBe(events);
  });

  it("with no journal and no file: the folders decide", async () => {
    const repo = await makeRepoWithHistory();
    fs.rmSync(repo.stateFile);
    fs.rmSync(memoryOf(repo), { recursive: true });
    expect(await repo.status()).toMatchObject({ source: "scan", step: "1" });
  });
});

describe.concurrent("git", () => {
  it("clean -fdx keeps the journal", async () => {
    const repo = await makeRepoWithHistory();
    repo.git("add", "_docs/00_problem", "_docs/01_solution");
    repo.git("commit", "--quiet", "--message=documents");
    repo.git("clean", "-fdxq");
    expect(repo.exists(present)).toBe(false);
    expect(await repo.status()).toMatchObject({ source: "rebuilt", step: "3" });
    expect((await repo.autodev()).code).toBe(0);
    expect(repo.exists(present)).toBe(true);
  });

  it("never sees our memory", async () => {
    const repo = await makeRepoWithHistory();
    expect(repo.git("status", "--porcelain", "--ignored", "-uall")).not.toContain("autodev/");
    repo.git("add", "-A");
    expect(repo.git("ls-files")).not.toMatch(/journal|lock|answers/);
  });

  it("checkout that brings another position: it came with git, and is taken over", async () => {
    const repo = await makeKnown();
    repo.git("checkout", "-qb", "other");
    repo.write(present, at(9));
    repo.git("commit", "-qam", "further");
    repo.git("checkout", "-q", "main");
    expect((await repo.autodev()).code).toBe(0);
    repo.git("checkout", "-q", "other");
    const status = await repo.status();
    expect(status).toMatchObject({ source: "state", subStep: { phase: 9 } });
    expect(status.corrections.join()).toMatch(/came with git/);
    expect((await repo.autodev()).code).toBe(0);
    expect(repo.git("status", "--porcelain")).toBe("");
    expect(await lastAdoption(repo)).toMatchObject({ why: "came-with-git" });
    expect((await repo.autodev("log")).out).toContain("replaced by git and taken over");
  });

  it("pull that brings another position: the same", async () => {
    const origin = await makeKnown();
    const copy = repoAt(makeFolder("clone"));
    gitIn(path.dirname(copy.root))("clone", "-q", origin.root, copy.root);
    expect((await copy.autodev()).code).toBe(0);
    origin.write(present, at(8));
    origin.git("commit", "-qam", "further");
    copy.git("pull", "-q");
    expect(await copy.status()).toMatchObject({ subStep: { phase: 8 } });
    expect((await copy.autodev()).code).toBe(0);
    expect(await lastAdoption(copy)).toMatchObject({ why: "came-with-git" });
    expect(copy.git("status", "--porcelain")).toBe("");
  });

  it("merge that brings another position: the same", async () => {
    const repo = await makeKnown();
    repo.git("checkout", "-qb", "other");
    repo.write(present, at(8));
    repo.git("commit", "-qam", "further");
    repo.git("checkout", "-q", "main");
    repo.git("commit", "-q", "--allow-empty", "-m", "ours");
    expect((await repo.autodev()).code).toBe(0);
    repo.git("merge", "-q", "--no-edit", "other");
    expect(await repo.status()).toMatchObject({ subStep: { phase: 8 } });
    expect((await repo.autodev()).code).toBe(0);
    expect(await lastAdoption(repo)).toMatchObject({ why: "came-with-git" });
  });

  it("checkout of another branch with the same bytes changes nothing", async () => {
    const repo = await makeKnown();
    repo.git("checkout", "-qb", "other");
    expect(await repo.status()).toMatchObject({ step: "10", corrections: [] });
    expect((await repo.autodev()).code).toBe(0);
    expect(await repo.events()).toHaveLength(1);
  });

  it("checkout of packed refs, detached, and back: the same", async () => {
    const repo = await makeKnown();
    repo.git("tag", "v1");
    repo.write(present, at(8));
    repo.git("commit", "-qam", "further");
    expect((await repo.autodev()).code).toBe(0);
    repo.git("pack-refs", "--all");
    expect(await repo.status()).toMatchObject({ subStep: { phase: 8 }, corrections: [] });
    repo.git("checkout", "-q", "--detach", "v1");
    // These bytes we have rendered (adopted) before: the journal is newer.
    expect((await repo.status()).source).toBe("state");
    expect((await repo.autodev()).code).toBe(0);
  });

  it("in a linked worktree: one journal for both, found from either", async () => {
    const repo = await makeRepoWithHistory();
    repo.git("add", "-A");
    repo.git("commit", "-qm", "state");
    const linked = repoAt(path.join(makeFolder("linked"), "tree"));
    repo.git("worktree", "add", "-q", "-b", "feature", linked.root);
    expect(await linked.status()).toMatchObject({
      root: linked.root,
      step: "3",
      source: "state",
      corrections: [],
    });
    expect(await linked.events()).toEqual(await repo.events());
    expect(await linked.decisions()).toEqual(await repo.decisions());
    expect((await linked.autodev()).code).toBe(0);
    expect(fs.existsSync(path.join(repo.root, ".git/worktrees/tree/autodev"))).toBe(false);
    expect((await linked.autodev("doctor")).code).toBe(0);
  });

  it("in a submodule: its own journal, in the submodule's git folder", async () => {
    const inner = await makeKnown();
    const outer = makeRepo();
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.root, "inner");
    const cwd = outer.at("inner");
    expect((await autodevIn({ cwd })).code).toBe(0);
    const status = jsonOf<Status>(await autodevIn({ cwd }, "status", "--json"));
    expect(status).toMatchObject({ root: cwd, step: "10" });
    expect(fs.existsSync(outer.at(".git/modules/inner/autodev/journal"))).toBe(true);
    expect(fs.existsSync(outer.at(".git/autodev"))).toBe(false);
  });

  it("in a folder with an absolute gitdir elsewhere: the journal is there", async () => {
    const root = makeFolder("separate");
    const gitDir = path.join(makeFolder("gitdir"), "store.git");
    gitIn(root)("init", "-q", `--separate-git-dir=${gitDir}`);
    const repo = repoAt(root);
    repo.write(present, generation3);
    expect((await repo.autodev()).code).toBe(0);
    expect(fs.existsSync(path.join(gitDir, "autodev/journal"))).toBe(true);
  });
});

describe.concurrent("writing keeps what it does not own", () => {
  const odd = `\uFEFF# My Project's State\r
\r
Do not touch.\r
## Current Step\r
- Flow: existing-code\r
- Step:   10\r
- Name: Implement\r
- owner: me\r
- Status: paused\r
- sub_step:\r
    - phase: 7\r
    - name: batch-loop\r
    - detail: batch 2\r
- retry_count: 0\r
- cycle: 3\r
\r
## Step ↔ SubStep Reference\r
step: 99\r
\r
## Last Session\r
date: 2026-01-01\r
ended_at: Step 10 Implement — SubStep 7 batch-loop\r
reason: user paused\r
notes: none`;

  it("one field changes its own line and nothing else, in the file's own line ending", async () => {
    const repo = makeRepo({ [present]: odd });
    expect(await repo.status()).toMatchObject({
      flow: "existing-code",
      step: "10",
      status: "paused",
      subStep: { phase: 7, detail: "batch 2" },
    });
    const ran = await repo.autodev("--decide", "recommended");
    expect(ran.code, ran.all).toBe(0);
    const text = repo.read(present);
    expect(text).toContain("- Status: in_progress\r\n");
    const back = text.replace("Status: in_progress", "Status: paused");
    // The new section stands where it belongs, before the last session; all else is as it was.
    const added = /## Key Decisions\r\n- .+\r\n\r\n(?=## Last Session)/;
    expect(back).toMatch(added);
    expect(back.replace(added, "")).toBe(odd);
    expect(text).not.toMatch(/[^\r]\n/);
  });

  it("a file kept in generation 1 stays one that the old skills can read", async () => {
    const repo = makeRepo({ [former]: generation1.replace("in_progress", "paused") });
    expect((await repo.autodev()).code).toBe(3);
    const [migrate] = (await repo.status()).decisions;
    expect((await repo.autodev("decide", migrate?.id ?? "", "B")).code).toBe(0);
    expect((await repo.autodev("--decide", "recommended")).code).toBe(0);
    const text = repo.read(former);
    expect(text.startsWith(generation1)).toBe(true);
    expect(text).not.toMatch(/^(flow|cycle):/m);
    expect(await repo.status()).toMatchObject({ generation: 1, step: "3", status: "in_progress" });
  });

  it("the file stays under 30 lines, however much is decided", async () => {
    const repo = makeRepo({ [present]: generation3 });
    expect((await repo.autodev()).code).toBe(0);
    for (let times = 0; times < 4; times++) {
      repo.write(present, repo.read(present).replace("status: in_progress", `status: odd${times}`));
      expect((await repo.autodev("--decide", "recommended")).code).toBe(0);
    }
    const lines = repo.read(present).trimEnd().split("\n");
    expect(lines.length).toBeLessThan(30);
    expect(repo.read(present)).toContain("## Key Decisions");
  });
});
