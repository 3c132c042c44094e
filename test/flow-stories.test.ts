/**
 * The other two flows through the real door: code that nobody has described, to the end of a cycle
 * and into the second; a suite of repositories, round and round. They are killed on the way, and
 * lose their state file and their memory.
 */
import { renameSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  type FlowProject,
  liveAndDie,
  madeBy,
  makeFlowProject,
  outcomeOf,
  questionsOf,
} from "./flow-rig.ts";
import { gitIn, makeFolder, memoryOf, present, type Repo, type Status } from "./rig.ts";

const patience = 300_000;

const placeOf = ({ flow, step, status, cycle, subStep }: Status): object => ({
  flow,
  step,
  status,
  cycle,
  subStep,
});

/** The state file goes, and the journal has the place; that goes too, and the folders say this. */
async function withoutMemory(project: FlowProject): Promise<Status> {
  const before = await project.status();
  rmSync(project.stateFile, { force: true });
  const rebuilt = await project.status();
  expect(rebuilt.source).toBe("rebuilt");
  expect(placeOf(rebuilt)).toEqual(placeOf(before));
  const [memory, hidden] = [memoryOf(project), `${memoryOf(project)}-hidden`];
  renameSync(memory, hidden);
  const scanned = await project.status();
  expect(scanned.source).toBe("scan");
  renameSync(hidden, memory);
  return scanned;
}

const code = {
  "package.json":
    '{ "name": "small", "private": true, "type": "module", "scripts": { "test": "node --test" } }\n',
  "src/sum.js": "export const sum = (a, b) => a + b;\n",
  "test/sum.test.js": [
    'import assert from "node:assert";',
    'import test from "node:test";',
    'import { sum } from "../src/sum.js";',
    'test("sums", () => assert.equal(sum(1, 2), 3));',
    "",
  ].join("\n"),
  "src/main.js": 'import { sum } from "./sum.js";\nconsole.log(sum(1, 2));\n',
};

/** Each cut of the work makes three, numbered on. */
function tasksFrom(number: number): string[] {
  return [0, 1, 2].map((more) => `feat: task ${String(number + more).padStart(2, "0")}`);
}

const onceKnown = [
  "docs: step 1 Document complete",
  "docs: step 2 Architecture Baseline Scan complete",
  "docs: step 3 Test Spec complete",
  "docs: step 5 Decompose Tests complete",
  ...tasksFrom(1),
  "docs: step 6 Implement Tests complete",
];
const testedAndTidied = ["docs: step 7 Run Tests complete", "docs: step 8 Refactor complete"];
const aFeature = [
  "docs: step 9 New Task complete",
  ...tasksFrom(4),
  "docs: step 10 Implement complete",
  "docs: step 11 Run Tests complete",
  "docs: step 12 Test-Spec Sync complete",
  "docs: step 13 Update Docs complete",
  "docs: step 14 Security Audit complete",
  "docs: step 15 Performance Test complete",
  "docs: step 16 Deploy complete",
  "docs: step 17 Retrospective complete",
];

/** Where the folders have it, or between which places. */
const toldBy = ({ flow, step, cycle, corrections }: Status): string =>
  /which step comes next: (.*)/.exec(corrections.join())?.[1] ?? `${flow} ${cycle}.${step}`;

/** What is left of a place when nothing but the folders is; by cycle and step. */
const byFolders: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["1.1", "1.2", "1.3", "1.5", "1.6", "1.10", "2.10"].map((at) => [at, `existing-code ${at}`]),
  ),
  "1.7": "7 Run Tests, 8 Refactor, 9 New Task",
  "1.8": "7 Run Tests, 8 Refactor, 9 New Task",
  "1.9": "7 Run Tests, 8 Refactor, 9 New Task",
  "1.11": "11 Run Tests, 12 Test-Spec Sync, 13 Update Docs",
  "1.12": "11 Run Tests, 12 Test-Spec Sync, 13 Update Docs",
  "1.13": "11 Run Tests, 12 Test-Spec Sync, 13 Update Docs",
  "1.14": "14 Security Audit, 15 Performance Test, 16 Deploy, 17 Retrospective",
  "1.15": "14 Security Audit, 15 Performance Test, 16 Deploy, 17 Retrospective",
  "1.16": "14 Security Audit, 15 Performance Test, 16 Deploy, 17 Retrospective",
  "1.17": "14 Security Audit, 15 Performance Test, 16 Deploy, 17 Retrospective",
  "2.9": "14 Security Audit, 15 Performance Test, 16 Deploy, 17 Retrospective, 9 New Task",
};

describe.concurrent("code that nobody has described", () => {
  it(
    "is described, made testable, and goes through a cycle into the second, killed on the way",
    async () => {
      const project = await makeFlowProject(code);
      expect((await project.autodev()).code).toBe(0);
      const lost = new Map<string, string>();
      const kills = await liveAndDie(project, ["--decide", "recommended"], {
        kills: 7,
        spares: ({ cycle }) => cycle > 1,
        async isOver() {
          const { step, cycle, status } = await project.status();
          const scanned = await withoutMemory(project);
          // Half-done work looks like either of two steps.
          if (status === "not_started") lost.set(`${cycle}.${step}`, toldBy(scanned));
          return cycle === 2 && step === "10" && status === "not_started";
        },
      });
      expect(kills).toBeGreaterThanOrEqual(5);
      expect(Object.fromEntries(lost)).toEqual(
        Object.fromEntries([...lost.keys()].map((at) => [at, byFolders[at]])),
      );
      const { commits, files } = madeBy(project);
      expect(commits.slice(2)).toEqual([
        ...onceKnown,
        ...testedAndTidied,
        ...aFeature,
        "docs: step 9 New Task complete",
      ]);
      for (const file of [
        "02_document/state.json",
        "02_document/tests/changes_cycle1.md",
        "02_document/ripple_log_cycle1.md",
        "02_task_plans/cycle1_first.md",
        "02_task_plans/cycle2_first.md",
        "02_tasks/done/01_first_test_infrastructure.md",
        "02_tasks/todo/07_first.md",
        "03_implementation/implementation_report_tests.md",
        "03_implementation/implementation_report_first_cycle1.md",
        "03_implementation/batch_04_report.md",
        "03_implementation/reviews/batch_02.md",
        "03_implementation/reviews/batch_04.md",
        "06_metrics/retro_<day>.md",
      ]) {
        expect(files).toContain(`_docs/${file}`);
      }
      expect(await questionsOf(project)).toEqual([
        "step 8 Refactor is optional — do it?",
        "step 14 Security Audit is optional — do it?",
        "step 15 Performance Test is optional — do it?",
      ]);
      expect((await project.status()).decisions).toEqual([]);
      expect((await project.autodev()).code).toBe(0);
      expect(project.git("status", "--porcelain", "--", ".", ":!.autobuild")).toBe("");
      await describedAlready(documentsAfter(project, "step 6 Implement Tests complete"));
    },
    patience,
  );
});

/** All that lay below `_docs/` when a step was committed, but for the place. */
function documentsAfter(project: FlowProject, subject: string): Record<string, string> {
  const commit = project.git("log", "--format=%H", `--grep=${subject}`).trim();
  const files = project.git("ls-tree", "-r", "--name-only", commit, "_docs").trim().split("\n");
  return Object.fromEntries(
    files
      .filter((file) => file !== present)
      .map((file) => [file, project.git("show", `${commit}:${file}`)]),
  );
}

/** The same code with all of its documents: what they leave open is asked, and no more is done. */
async function describedAlready(documents: Readonly<Record<string, string>>): Promise<void> {
  const project = await makeFlowProject({ ...code, ...documents });
  expect(toldBy(await project.status())).toBe(byFolders["1.7"]);
  expect((await project.flow()).code).toBe(3);
  const [open] = await project.decisions();
  expect((await project.autodev("decide", open?.id ?? "", "C")).code).toBe(0);
  await liveAndDie(project, ["--decide", "recommended"], {
    kills: 2,
    spares: ({ step }) => Number(step) > 11,
    isOver: async () => (await project.status()).cycle === 2,
  });
  expect(madeBy(project).commits.slice(2)).toEqual(aFeature);
  expect(await questionsOf(project)).toEqual([
    "the folders cannot tell which step comes next — where does the work go on?",
    "step 14 Security Audit is optional — do it?",
    "step 15 Performance Test is optional — do it?",
  ]);
}

/** Three repositories that know nothing of each other, two of them linked, one a member of a workspace. */
function makeSuite(repo: Repo): void {
  for (const name of ["api", "web"]) {
    const member = makeFolder(name);
    const git = gitIn(member);
    git("init", "--quiet", "--initial-branch=main", "--template=");
    git("commit", "--quiet", "--allow-empty", `--message=${name}`);
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", member, name);
  }
  repo.write("package.json", '{ "private": true, "workspaces": ["tools/*"] }\n');
  repo.write("tools/lint/package.json", '{ "name": "lint" }\n');
}

describe.concurrent("a repository of repositories", () => {
  it(
    "is discovered, confirmed by a person, and kept in step round by round, killed on the way",
    async () => {
      const project = await makeFlowProject({}, makeSuite);
      project.behave({ 3: { reports: ["document-drift: web"] } });
      const { flow, step } = await project.status();
      expect({ flow, step }).toEqual({ flow: "meta-repo", step: "1" });
      const decided = ["--decide", "recommended"];
      // Nothing but a person confirms it: whatever is recommended, here it rests.
      const asked = await liveAndDie(project, decided, {
        kills: 2,
        spares: () => false,
        isOver: async () => (await project.status()).decisions.length > 0,
        ends: [0, 3],
      });
      expect(await withoutMemory(project)).toMatchObject({ flow, step: "2", corrections: [] });
      const [open] = (await project.status()).decisions;
      expect((await project.autodev("decide", open?.id ?? "", "A")).code).toBe(0);
      const rounds = await liveAndDie(project, decided, {
        kills: 3,
        spares: ({ step }) => Number(step) > 3,
        isOver: async () => (await project.status()).step === "6",
      });
      expect(asked + rounds).toBeGreaterThanOrEqual(3);
      expect(await withoutMemory(project)).toMatchObject({
        step: "3",
        corrections: [
          "the folders cannot tell which step comes next: 3 Status, 4 Document Sync, 5 CICD Sync, 6 Loop",
        ],
      });
      const [, , web] = (await project.status()).components ?? [];
      expect(web).toMatchObject({ name: "web", path: "web", checkedOut: true, commits: 0 });
      // The next round, in which CI has drifted instead.
      project.behave({ 3: { reports: ["cicd-drift"] } });
      const again = await project.flow(...decided, "--json");
      expect(again.code, again.all).toBe(0);
      expect(outcomeOf(again)).toBe("round");
      expect(project.read("_docs/_repo-config.yaml")).toMatch(/^confirmed_by_user: true$/m);
      expect(madeBy(project)).toMatchObject({
        files: [
          "_docs/_repo-config.yaml",
          "_docs/_sync/cicd_<day>.md",
          "_docs/_sync/documents_<day>.md",
        ],
        commits: [
          "first",
          "settings",
          "docs: step 1 Discover complete",
          "docs: step 2 Config Review complete",
          "docs: step 3 Status complete",
          "docs: step 4 Document Sync complete",
          "docs: step 3 Status complete",
          "docs: step 5 CICD Sync complete",
        ],
      });
      expect(await questionsOf(project)).toEqual([
        "Config review — is `_docs/_repo-config.yaml` right?",
      ]);
      expect(project.git("submodule", "status").match(/^ [0-9a-f]{40} /gm)).toHaveLength(2);
      expect(project.git("status", "--porcelain", "--", ".", ":!.autobuild")).toBe("");
    },
    patience,
  );
});
