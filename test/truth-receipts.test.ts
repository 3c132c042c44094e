/** Every landing leaves a receipt, and whoever doubts it can check it again from the commit alone. */
import { execFileSync, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { expectSchema, hashIn } from "./build-rig.ts";
import { expectComplete, projectAt } from "./plan-project.ts";
import { autodevIn, binary, eventually, makeFolder, plainEnvironment } from "./rig.ts";
import {
  answer,
  audit,
  auto,
  byAgent,
  evidenceOf,
  freshClone,
  makeTested,
  type PlanProject,
  phaseIn,
  planFile,
  testsOf,
  trailer,
  tryAudit,
  wrongWith,
} from "./truth-rig.ts";

const twoPhases = {
  phases: [
    { id: "1", files: { "a.txt": "a" } },
    { id: "2", after: "1", files: { "b.test.js": testsOf("borrows") } },
  ],
  files: { "a.test.js": testsOf("adds", "carries") },
} as const;

let built: PlanProject;
beforeAll(async () => {
  built = makeTested(twoPhases);
  expectComplete(await built.build(...auto));
}, 60_000);

/** The same repository, evidence and all, for a test of its own. */
function copy(): PlanProject {
  const root = path.join(makeFolder("copy"), "project");
  fs.cpSync(built.root, root, { recursive: true, preserveTimestamps: true });
  return projectAt(root);
}

describe("a receipt", () => {
  it("is named by the commit and by the phase file, and names the one before", () => {
    const [first, second] = [evidenceOf(built, "HEAD^"), evidenceOf(built, "HEAD")];
    expect(trailer(built, "HEAD", "Phase")).toEqual(["2"]);
    expect(trailer(built, "HEAD", "Run")).toEqual([second.run]);
    const [id = ""] = trailer(built, "HEAD", "Evidence");
    expect(phaseIn(built, "2").verification).toMatchObject({ evidence: id });
    expect(built.git("rev-parse", `refs/autobuild/evidence/${id}`).trim()).toBe(id);
    expect(second.tree).toBe(built.git("rev-parse", "HEAD^{tree}").trim());
    expect(second.onto).toBe(built.git("rev-parse", "HEAD^").trim());
    expect(first.previous).toBeNull();
    expect(second.previous).toBe(trailer(built, "HEAD^", "Evidence")[0]);
  });

  it("holds for one commit, for a range, and in a shape that is published", async () => {
    const range = await audit(built, "HEAD~2..HEAD");
    expect(range.ran.code, range.ran.all).toBe(0);
    expectSchema(JSON.parse(range.ran.out), "audit");
    expect(range.commits.map(({ phases }) => phases)).toEqual([["1"], ["2"]]);
    expect(range.commits.flatMap(({ findings = [] }) => findings)).toEqual([]);
    expect(range.commits[1]?.gates?.find(({ name }) => name === "test")?.passed).toBe(true);
    const spoken = await tryAudit(built, "HEAD~3..HEAD");
    expect(spoken.out).toContain("no run made it");
    expect(spoken.out).toContain("2 of 2 commits hold");
  });

  it("holds in a fresh clone, which is told where the evidence is to be had", async () => {
    const clone = freshClone(built);
    const without = await audit(clone, "HEAD");
    expect(without.ran.code, without.ran.all).toBe(0);
    const [told] = without.commits[0]?.findings ?? [];
    expect(told?.code).toBe("evidence-absent");
    const fetch = /git fetch .*'$/.exec(told?.message ?? "")?.[0] ?? "false";
    execFileSync("sh", ["-c", fetch], { cwd: clone.root, stdio: "ignore" });
    const fetched = await audit(clone, "HEAD");
    expect(fetched.commits[0]?.findings).toEqual([]);
  });

  it("without evidence and without gates is nothing to rely on", async () => {
    const { ran, holds } = await audit(freshClone(built), "HEAD", "--no-gates");
    expect(holds).toBe(false);
    expect(ran.code).toBe(1);
  });

  it("is found in a shallow clone too", async () => {
    const shallow = freshClone(built, "--depth=1");
    const { ran } = await audit(shallow, "HEAD");
    expect(ran.code, ran.all).not.toBe(70);
    expect(ran.code, ran.all).toBeLessThanOrEqual(1);
  });

  it("asks for trust before anything is run, and --no-gates runs nothing", async () => {
    const first = await built.autodev("audit", "HEAD");
    expect(first.code).toBe(3);
    expect(first.err).toMatch(/--trust-sha256 [0-9a-f]{64}/);
    expect((await audit(built, "HEAD", "--no-gates")).ran.code).toBe(0);
  });
});

describe("what was tampered with does not hold", () => {
  const cases: Readonly<Record<string, readonly [script: string, code: string]>> = {
    "a tree that was amended under the same message": [
      "echo more > a.txt; git commit -qa --amend --no-edit",
      "tree-differs",
    ],
    "the evidence of another phase": [
      `message=$(git log -1 --format=%B | sed "s/^Autobuild-Evidence: .*/Autobuild-Evidence: $(git log -1 --format='%(trailers:key=Autobuild-Evidence,valueonly)' HEAD^)/")
       git commit -q --amend -m "$message"`,
      "evidence-of-another",
    ],
    "another phase's name": [
      `git commit -q --amend -m "$(git log -1 --format=%B | sed 's/^Autobuild-Phase: 2/Autobuild-Phase: 1/')"`,
      "evidence-of-another",
    ],
    "another attempt's name": [
      `git commit -q --amend -m "$(git log -1 --format=%B | sed 's/^Autobuild-Attempt: ./Autobuild-Attempt: z/')"`,
      "evidence-of-another",
    ],
    "a blob that is no evidence": [
      `git commit -q --amend -m "$(git log -1 --format=%B | sed "s/^Autobuild-Evidence: .*/Autobuild-Evidence: $(git rev-parse HEAD:a.txt)/")"`,
      "evidence-unreadable",
    ],
    "trailers copied onto other work": [
      `message=$(git log -1 --format=%B); echo evil > evil.js; git add -A; git commit -qm "$message"`,
      "tree-differs",
    ],
    "a commit whose tests were weakened, with evidence made to fit": [
      `sed -i 's/test("carries"/test.skip("carries"/' a.test.js; git add -A
       tree=$(git write-tree); old=$(git log -1 --format='%(trailers:key=Autobuild-Evidence,valueonly)')
       forged=$(git cat-file blob $old | sed "s/\\"tree\\": \\"[0-9a-f]*/\\"tree\\": \\"$tree/; s/\\"onto\\": \\"[0-9a-f]*/\\"onto\\": \\"$(git rev-parse HEAD)/" | git hash-object -w --stdin)
       git commit -qm "$(git log -1 --format=%B | sed "s/$old/$forged/")"`,
      "test-skipped",
    ],
    "a commit that breaks everything, with evidence that knows of no gate": [
      `sed -i 's/a + b/a - b/' sum.js; git add -A
       tree=$(git write-tree); old=$(git log -1 --format='%(trailers:key=Autobuild-Evidence,valueonly)')
       forged=$(git cat-file blob $old | node -e '
         const evidence = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
         console.log(JSON.stringify({ ...evidence, tree: process.argv[1], onto: process.argv[2], gates: [], receipts: [] }));
       ' $tree $(git rev-parse HEAD) | git hash-object -w --stdin)
       git commit -qm "$(git log -1 --format=%B | sed "s/$old/$forged/")"`,
      "gate-failed",
    ],
    "the same, under the name of a phase that the plan does not have": [
      `sed -i 's/test("carries"/test.skip("carries"/' a.test.js; git add -A
       git commit -qm "feat: nine

Autobuild-Run: $(git log -1 --format='%(trailers:key=Autobuild-Run,valueonly)')
Autobuild-Phase: 9"`,
      "test-skipped",
    ],
    "the same, as if two phases had been put together": [
      `sed -i 's/test("carries"/test.skip("carries"/' a.test.js; git add -A
       git commit -qm "feat: both

Autobuild-Run: $(git log -1 --format='%(trailers:key=Autobuild-Run,valueonly)')
Autobuild-Phase: 1
Autobuild-Phase: 2"`,
      "test-skipped",
    ],
  };
  for (const [name, [script, code]] of Object.entries(cases)) {
    it.concurrent(name, async () => {
      const project = copy();
      project.sh(script);
      const gates = code === "gate-failed" ? [] : ["--no-gates"];
      const audited = await audit(project, "HEAD", ...gates);
      expect(audited.ran.code, audited.ran.all).toBe(1);
      expect(wrongWith(audited)).toContain(code);
    });
  }
});

describe("what only looks odd", () => {
  it("holds for a run with failures that were accepted and a gate that was dropped", async () => {
    const project = makeTested({
      config: 'gates: { lint: "exit 1", test: "node --test" }\n',
      files: { "a.test.js": testsOf("adds", "fails to carry") },
    });
    for (const letter of ["B", "C"]) {
      await project.build(...auto);
      await answer(project, letter);
    }
    expectComplete(await project.build(...auto));
    const audited = await audit(project, "HEAD");
    expect(audited.ran.code, audited.ran.all).toBe(0);
    expect(audited.commits[0]?.gates?.find(({ name }) => name === "lint")?.passed).toBeNull();
  });

  it("holds for a phase that brought the first gate along", async () => {
    const manifest = JSON.stringify({
      name: "p",
      version: "1.0.0",
      scripts: { test: "node --test" },
    });
    const project = makeTested({
      phases: [{ id: "1" }],
      config: "",
      agent: {
        "1": `printf '%s' '${manifest}' > package.json; cat > a.test.js <<'END'\n${testsOf("adds")}END`,
      },
    });
    expectComplete(await project.build(...byAgent, "--decide=recommended"));
    const audited = await audit(project, "HEAD");
    expect(audited.ran.code, audited.ran.all).toBe(0);
    expect(audited.commits[0]?.gates?.find(({ name }) => name === "test")?.passed).toBe(true);
  });

  it("is checked without a further question where the run itself was trusted", async () => {
    const project = makeTested({
      phases: [{ id: "1" }],
      files: { "a.test.js": testsOf("adds") },
      agent: { "1": "echo part > part.js" },
    });
    const around = { cwd: project.root, env: project.env };
    const autodev = (...args: string[]) => autodevIn(around, ...args);
    const asked = await autodev("trust", planFile, "--json");
    const { sha256 } = JSON.parse(asked.out) as { sha256: string };
    expect((await autodev("trust", planFile, `--sha256=${sha256}`)).code).toBe(0);
    const ran = await autodev("build", planFile, "--commit=auto", "--agent=mine");
    expect(ran.code, ran.all).toBe(0);
    const audited = await autodev("audit", "HEAD");
    expect(audited.code, audited.all).toBe(0);
    // Another gate is another question.
    project.write(".autodev/config.yaml", 'gates: { test: "node --test ." }\n');
    project.commit();
    expect((await autodev("audit", "HEAD~1")).code).toBe(0);
    expect((await autodev("trust", planFile, "--json")).out).toContain('"trusted": false');
  });

  it("a rebased commit is told to lie elsewhere, and not to hold what was checked", async () => {
    const project = copy();
    project.sh(
      "git checkout -q -b side HEAD~2; echo s > s.txt; git add -A; git commit -qm side; git cherry-pick master~1 >/dev/null 2>&1 || git cherry-pick main~1",
    );
    const audited = await audit(project, "HEAD", "--no-gates");
    expect(audited.ran.code, audited.ran.all).toBe(1);
    expect(wrongWith(audited)).toEqual(["tree-differs"]);
  });

  it("a merge and people's own commits are nobody's receipts", async () => {
    const project = copy();
    project.sh(
      "git checkout -q -b side HEAD^; echo s > s.txt; git add -A; git commit -qm side; git checkout -q -; git merge -q --no-edit side",
    );
    const audited = await audit(project, "HEAD");
    expect(audited.ran.code, audited.ran.all).toBe(0);
    expect(audited.commits).toMatchObject([{ ours: false }]);
    const range = await audit(project, "HEAD~3..HEAD", "--no-gates");
    expect(range.commits.filter(({ ours }) => !ours)).toHaveLength(2);
  });
});

describe("the other ways to commit", () => {
  it("one squash for all phases names all of them, and holds", async () => {
    const project = makeTested(twoPhases);
    const single = await project.build(planFile, "--commit=single");
    expect(single.ran.code, single.ran.all).toBe(0);
    expect(trailer(project, "HEAD", "Phase")).toEqual(["1", "2"]);
    expect(trailer(project, "HEAD", "Evidence")).toHaveLength(2);
    const audited = await audit(project, "HEAD");
    expect(audited.ran.code, audited.ran.all).toBe(0);
    expect(audited.commits[0]?.findings).toEqual([]);
    project.sh("echo more > a.txt; git commit -qa --amend --no-edit");
    expect(wrongWith(await audit(project, "HEAD", "--no-gates"))).toContain("tree-differs");
  });

  it("commits.sh makes commits that hold", async () => {
    const project = makeTested(twoPhases);
    const messages = await project.build(planFile, "--commit=message-only");
    expect(messages.ran.code, messages.ran.all).toBe(0);
    project.sh("sh .autobuild/commits.sh >/dev/null");
    expect(trailer(project, "HEAD", "Phase")).toEqual(["2"]);
    const audited = await audit(project, "HEAD~2..HEAD");
    expect(audited.ran.code, audited.ran.all).toBe(0);
    expect(audited.holds).toBe(true);
  });
});

describe("what is no commit", () => {
  it("is said to be none", async () => {
    const words = [
      "-x",
      "--all",
      "docs",
      "",
      "HEAD^{tree}",
      "HEAD:a.txt",
      "nobody..HEAD",
      "HEAD..HEAD",
      "a\nb",
    ];
    const ran = await Promise.all(words.map((each) => built.autodev("audit", "--", each)));
    expect(ran.map(({ code }, at) => [words[at], code])).toEqual(words.map((each) => [each, 2]));
    for (const { err } of ran) expect(err).toMatch(/no commit/);
  });

  it("is not a tag", async () => {
    const project = copy();
    project.git("tag", "--annotate", "--message=v1", "v1");
    const audited = await audit(project, "v1", "--no-gates");
    expect(audited.ran.code).toBe(0);
    expect(audited.commits[0]?.commit).toBe(project.git("rev-parse", "HEAD").trim());
  });
});

describe("the gates, run again", () => {
  const gate =
    '[ ! -e "$HOME/slow" ] || { touch "$HOME/began"; sleep 60; }; sleep 0.3; test -e sum.js && test ! -e "$HOME/broken"';
  const cache = makeFolder("cache");
  let project: PlanProject;
  beforeAll(async () => {
    project = makeTested({
      config: `gates: { test: '${gate}' }\n`,
      env: { XDG_CACHE_HOME: cache },
    });
    expectComplete(await project.build(...auto));
  }, 60_000);
  const make = (name: string): void => fs.writeFileSync(path.join(project.home, name), "");
  const remove = (name: string): void => fs.rmSync(path.join(project.home, name));

  it("do not disturb those of another audit", async () => {
    const audits = await Promise.all([1, 2, 3].map(() => audit(project, "HEAD")));
    for (const { ran } of audits) expect(ran.code, ran.all).toBe(0);
  });

  it("tell if one fails now", async () => {
    make("broken");
    const audited = await audit(project, "HEAD");
    expect(audited.ran.code).toBe(1);
    expect(wrongWith(audited)).toEqual(["gate-failed"]);
    remove("broken");
  });

  it("can be interrupted, and leave nothing behind", async () => {
    const untrusted = await autodevIn({ cwd: project.root, env: project.env }, "audit", "HEAD");
    make("slow");
    const child = spawn(
      process.execPath,
      [binary(), "audit", "HEAD", "--trust-sha256", hashIn(untrusted) ?? ""],
      { cwd: project.root, env: { ...plainEnvironment, ...project.env }, stdio: "ignore" },
    );
    const ended = new Promise((resolve) => child.once("close", resolve));
    await eventually(
      "the gate runs",
      () => fs.existsSync(path.join(project.home, "began")),
      20_000,
    );
    child.kill("SIGINT");
    expect(await ended).toBe(130);
    expect(fs.readdirSync(path.join(cache, "autodev/checks"))).toEqual([]);
  });
});
