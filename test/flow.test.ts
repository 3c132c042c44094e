/** Flows through the real door: the built binary, real git, an agent that leaves real artifacts. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type FlowProject,
  jsonLines,
  liveAndDie,
  madeBy,
  makeFlowProject,
  outcomeOf,
  questionsOf,
} from "./flow-rig.ts";
import { makeRepo, present, stateText } from "./rig.ts";

const patience = 300_000;

async function wholeFlow(project: FlowProject): Promise<void> {
  const first = await project.flow("--decide", "recommended", "--json");
  expect(first.code, first.all).toBe(0);
  expect(outcomeOf(first)).toBe("boundary");
  const rest = await project.flow("--decide", "recommended", "--through-boundaries", "--json");
  expect(rest.code, rest.all).toBe(0);
  expect(outcomeOf(rest)).toBe("done");
  const told = jsonLines(rest).slice(0, -1);
  expect(told.map(({ seq }) => seq)).toEqual(told.map((_, at) => Number(told[0]?.["seq"]) + at));
  expect(told.map(({ type }) => type)).toEqual(
    expect.arrayContaining(["skill-started", "step-committed"]),
  );
}

describe("a greenfield project", () => {
  it(
    "goes from an empty folder to done, rests at its boundary, and enters existing-code next",
    async () => {
      const project = await makeFlowProject();
      await wholeFlow(project);
      expect(await project.status()).toMatchObject({ flow: "greenfield", step: "done" });
      const { commits, files } = madeBy(project);
      expect(commits.slice(2)).toEqual([
        "docs: step 1 Problem complete",
        "docs: step 2 Research complete",
        "docs: step 2 Research complete",
        "docs: step 3 Plan complete",
        "docs: step 4 UI Design complete",
        "docs: step 5 Decompose complete",
        "feat: task 01",
        "feat: task 02",
        "feat: task 03",
        "docs: step 6 Implement complete",
        "docs: step 7 Run Tests complete",
        "docs: step 8 Security Audit complete",
        "docs: step 9 Performance Test complete",
        "docs: step 10 Deploy complete",
        "docs: step 11 Retrospective complete",
      ]);
      expect(files).toContain("_docs/01_solution/solution.md");
      expect(files).not.toContain("_docs/02_tasks/todo/01_first.md");
      const onward = await project.flow("--decide", "recommended", "--json");
      expect(onward.code, onward.all).toBe(0);
      expect(outcomeOf(onward)).toBe("boundary");
      expect(await project.status()).toMatchObject({
        flow: "existing-code",
        step: "10",
        name: "Implement",
        cycle: 1,
        status: "not_started",
      });
      expect(
        (await project.status()).steps.slice(0, 8).every((each) => each.status === "skipped"),
      ).toBe(true);
      expect(project.git("status", "--porcelain", "--", ".", ":!.autobuild")).toBe("");
    },
    patience,
  );

  it(
    "killed at any moment it comes to the same end, and asks nothing twice",
    async () => {
      const decided = ["--decide", "recommended"];
      const calm = await makeFlowProject();
      for (const rest of ["boundary", "done", "boundary"]) {
        const ran = await calm.flow(...decided, "--json");
        expect(outcomeOf(ran), ran.all).toBe(rest);
      }
      const wild = await makeFlowProject();
      const kills = await liveAndDie(wild, decided, {
        kills: 20,
        spares: ({ flow, step }) => flow !== "greenfield" || step === "done",
        // Behind its end, where the next flow rests for the first time.
        async isOver() {
          const { flow, step } = await wild.status();
          return flow === "existing-code" && step === "10";
        },
      });
      expect(kills).toBeGreaterThanOrEqual(5);
      expect(madeBy(wild)).toEqual(madeBy(calm));
      expect(await questionsOf(wild)).toEqual(await questionsOf(calm));
    },
    patience,
  );
});

describe("a skill that fails", () => {
  it(
    "is tried four times, then asked about; the answer is carried out by the next autodev",
    async () => {
      const project = await makeFlowProject();
      project.behave({ 1: { fail: 4, reason: "the data is not there" } });
      const ran = await project.flow();
      expect(ran.code, ran.all).toBe(3);
      expect(ran.err).toContain("SKILL FAILED: problem — 3 consecutive failures");
      expect(ran.err).toContain("Last failure reason: the data is not there");
      const status = await project.status();
      expect(status).toMatchObject({ step: "1", status: "failed", retryCount: 3 });
      expect(status.blockers.join()).toBe(
        "problem failed 3 consecutive times at sub_step 0. Last failure: the data is not there. Auto-retry exhausted.",
      );
      expect(project.read(present).match(/\| \d \| 1 \| Problem \|/g)).toHaveLength(3);
      // Never silently: the same question, and nothing was started.
      const again = await project.flow();
      expect(again.code).toBe(3);
      expect((await project.events()).filter(({ type }) => type === "skill-started")).toHaveLength(
        4,
      );
      const [open] = (await project.status()).decisions;
      expect((await project.autodev("decide", open?.id ?? "", "A")).code).toBe(0);
      const after = await project.flow();
      expect(after.code, after.all).toBe(3);
      expect(await project.status()).toMatchObject({ step: "2", blockers: [], retryCount: 0 });
    },
    patience,
  );

  it(
    "because what it found is broken is begun anew, from its first sub-step",
    async () => {
      const project = await makeFlowProject();
      project.behave({ 1: { corrupt: "acceptance-criteria" } });
      await project.flow();
      const events = await project.events();
      const first = events.slice(
        0,
        events.findIndex(({ type }) => type === "step-completed"),
      );
      const phases = first.flatMap(({ type, subStep }) =>
        type === "sub-step-reported" ? [(subStep as { phase: number }).phase] : [],
      );
      expect(phases).toEqual([1, 2, 3, 0, 1, 2, 3, 4]);
      expect(first.filter(({ type }) => type === "step-retried")).toMatchObject([
        { reason: expect.stringContaining("what was there is broken") },
      ]);
    },
    patience,
  );

  it(
    "says done without its artifacts is a failure, and so is what it does outside of _docs/",
    async () => {
      const project = await makeFlowProject();
      project.behave({ 1: { without: "00_problem/restrictions.md" } });
      const ran = await project.flow();
      expect(ran.code, ran.all).toBe(3);
      expect(ran.err).toContain("it says that it is done, but");
      expect(ran.err).toContain("00_problem/restrictions.md");
      expect(project.exists("stray.txt")).toBe(false);
    },
    patience,
  );

  it.each<[what: string, leaves: Record<string, string>, told: string]>([
    [
      "no text",
      { "00_problem/problem.md": "# Caf\u00e9\n" },
      "00_problem/problem.md cannot be read as text: it has to be UTF-8",
    ],
    [
      "a section without text",
      {
        "00_problem/problem.md":
          "# P\n\n## Problem\nTBD\n\n## Who has it\nx\n\n## Outcome\nx\n\n## Out of scope\nx\n",
      },
      '00_problem/problem.md:3 has no text in its section "Problem"',
    ],
  ])(
    "leaves %s is told the file, the line and what is wrong",
    async (_, leaves, told) => {
      const project = await makeFlowProject();
      project.behave({ 1: { leaves } });
      const ran = await project.flow();
      expect(ran.code, ran.all).toBe(3);
      expect(ran.err).toContain(`it says that it is done, but ${told}`);
    },
    patience,
  );

  it.each<[what: string, acts: object, told: string]>([
    [
      "leaves a file",
      { leaves: { "_sync/status.md": "x\n" } },
      "_sync/status.md was added, and this skill writes nothing",
    ],
    [
      "changes a file",
      { leaves: { "_repo-config.yaml": "confirmed_by_user: true\n#\n" } },
      "_repo-config.yaml was changed, and this skill writes nothing",
    ],
    [
      "reports another word",
      { reports: ["drift"] },
      'its result reports "drift", and may report only document-drift, cicd-drift or nothing',
    ],
  ])(
    "is to write nothing, and %s",
    async (_, acts, told) => {
      const project = await makeFlowProject({
        "_docs/_repo-config.yaml": "confirmed_by_user: true\n",
      });
      project.behave({ 3: acts });
      const ran = await project.flow("--decide", "recommended");
      expect(ran.code, ran.all).toBe(3);
      expect(ran.err).toContain(`it says that it is done, but ${told}`);
    },
    patience,
  );

  it(
    "three times in a row opens the breaker: no recommendation closes it",
    async () => {
      const project = await makeFlowProject();
      project.behave({ 1: { fail: 1000 } });
      const ran = await project.flow("--decide", "recommended");
      expect(ran.code, ran.all).toBe(3);
      expect((await project.events()).filter(({ type }) => type === "skill-started")).toHaveLength(
        12,
      );
      expect((await project.status()).blockers.join()).toContain("has failed 3 times in a row");
      project.behave({});
      const retried = await project.flow("retry");
      expect(retried.code).not.toBe(1);
    },
    patience,
  );
});

describe("people", () => {
  it(
    "are asked by a skill, and it goes on with their answer",
    async () => {
      const project = await makeFlowProject();
      project.behave({ 1: { ask: "acceptance-criteria" } });
      const ran = await project.flow();
      expect(ran.code, ran.all).toBe(3);
      expect(ran.err).toContain("problem asks about acceptance-criteria");
      expect(await project.status()).toMatchObject({
        status: "in_progress",
        subStep: { phase: 3 },
      });
      const [open] = (await project.status()).decisions;
      expect((await project.autodev("decide", open?.id ?? "", "A")).code).toBe(0);
      await project.flow();
      expect(project.git("log", "--format=%B")).toContain("what problem makes (A)");
    },
    patience,
  );

  it(
    "skip, go back and roll back; what would be lost is kept",
    async () => {
      const project = await makeFlowProject();
      await project.flow("--decide", "recommended");
      expect(await project.status()).toMatchObject({ step: "6", status: "not_started" });
      const refused = await project.autodev("skip", "--no-input");
      expect(refused.code).toBe(3);
      expect(refused.err).toContain("skip step 6 Implement?");
      const skipped = await project.autodev("skip", "6", "--yes", "--json");
      expect(JSON.parse(skipped.out)).toMatchObject({ act: "skip", done: true });
      const architecture = "_docs/02_document/architecture.md";
      const before = project.read(architecture);
      project.write(architecture, "# Mine\n");
      const rolled = await project.autodev("rollback", "Plan", "--yes");
      expect(rolled.code, rolled.all).toBe(0);
      const ran = await project.flow("--decide", "recommended");
      expect(ran.code, ran.all).toBe(0);
      expect(project.read(architecture)).toBe(before);
      const refs = project.git("for-each-ref", "--format=%(refname)", "refs/autodev/rescue");
      const [rescue = ""] = refs.split("\n");
      expect(project.git("show", `${rescue}:${architecture}`)).toContain("# Mine");
      const back = await project.autodev("back", "2", "--yes");
      expect(back.code, back.all).toBe(0);
      expect(await project.status()).toMatchObject({ step: "2", status: "not_started" });
      const next = await project.autodev("next", "--json");
      expect(JSON.parse(next.out)).toMatchObject({ step: "2" });
    },
    patience,
  );

  it(
    "delete the state file, or the journal too: the same place, or a question",
    async () => {
      const project = await makeFlowProject();
      await project.flow("--decide", "recommended");
      rmSync(project.stateFile);
      expect(await project.status()).toMatchObject({ step: "6", source: "rebuilt" });
      rmSync(join(project.root, ".git/autodev"), { recursive: true });
      expect(await project.status()).toMatchObject({ step: "6", source: "scan" });
      expect(existsSync(project.stateFile)).toBe(false);
      expect((await project.autodev()).code).toBe(0);
      expect(readFileSync(project.stateFile, "utf8")).toMatch(/^step: 6$/m);
    },
    patience,
  );

  it("say which step it is, where neither the state file nor the folders do", async () => {
    const repo = makeRepo({
      [present]: stateText("flow: greenfield\nstep: 7\nname: Run Tests\nstatus: in_progress\n"),
    });
    for (const file of ["restrictions", "acceptance_criteria", "input_data/one"]) {
      repo.write(`_docs/00_problem/${file}.md`, "# There\n");
    }
    repo.write("_docs/01_solution/solution_draft01.md", "# A draft\n");
    repo.write(present, repo.read(present).replace("step: 7", "step: 99"));
    const ran = await repo.autodev("--no-input");
    expect(ran.code, ran.all).toBe(3);
    expect(ran.err).toContain("neither the state file nor the folders say which step it is");
    expect(ran.err).toContain("A) Step 7 Run Tests");
    const [open] = (await repo.status()).decisions;
    expect((await repo.autodev("decide", open?.id ?? "", "B")).code).toBe(0);
    expect((await repo.autodev()).code).toBe(0);
    expect(await repo.status()).toMatchObject({ step: "8", status: "not_started" });
  });

  it("can want the same twice; what lapsed is not open any more", async () => {
    const repo = makeRepo({
      [present]: stateText("flow: greenfield\nstep: 1\nname: Problem\nstatus: not_started\n"),
    });
    expect((await repo.autodev("skip", "--no-input")).code).toBe(3);
    const [open] = (await repo.status()).decisions;
    expect((await repo.autodev("decide", open?.id ?? "", "B")).code).toBe(0);
    expect((await repo.autodev("skip", "--no-input")).code).toBe(3);
    expect((await repo.status()).decisions).toHaveLength(1);
    repo.write(
      present,
      repo.read(present).replace("step: 1", "step: 2").replace("Problem", "Research"),
    );
    repo.write("_docs/00_problem/problem.md", "# There\n");
    expect((await repo.autodev()).code).toBe(0);
    expect((await repo.status()).decisions).toEqual([]);
  });
});
