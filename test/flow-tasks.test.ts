/**
 * The step that changes code, through the real door: its tasks are a plan run under the flow, each a
 * verified commit that moves its file to `done/`; reports and review follow from that. What fails is
 * looked at, put right and run again, and nothing is called done before it is.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type FlowProject, makeFlowProject, outcomeOf } from "./flow-rig.ts";
import { memoryOf, type Ran, sleep } from "./rig.ts";

const patience = 300_000;
const decided = ["--decide", "recommended"];

/** To the boundary before the tasks are run; nobody looks at the steps before it here. */
async function withTasks(files: Readonly<Record<string, string>> = {}): Promise<FlowProject> {
  const project = await makeFlowProject(files);
  const ran = await project.flow(...decided, "--json");
  expect(outcomeOf(ran), ran.all).toBe("boundary");
  return project;
}

const docs = ({ root }: FlowProject, file: string): string => join(root, "_docs", file);
const textOf = (project: FlowProject, file: string): string =>
  readFileSync(docs(project, file), "utf8");

/** Of a report's table, the first cells of each row. */
const rowsOf = (text: string): string[] =>
  text
    .split("\n")
    .filter((line) => /^\| \d/.test(line))
    .map((line) => line.split("|").slice(1, 3).join("").replace(/ +/g, " ").trim());

/** The flow is past the step, and nothing of ours is left to commit. */
async function isPast(project: FlowProject, ran: Ran): Promise<void> {
  expect(ran.code, ran.all).toBe(0);
  expect(outcomeOf(ran), ran.all).toBe("done");
  expect(project.git("status", "--porcelain", "--", ".", ":!.autobuild")).toBe("");
  const step = (await project.status()).steps.find((each) => each.step === "6");
  expect(step?.status).toBe("completed");
}

async function untilAtWork(project: FlowProject): Promise<void> {
  const isAtWork = async (): Promise<boolean> =>
    (await project.events()).some(({ type }) => type === "attempt-started");
  for (let times = 0; times < 300 && !(await isAtWork()); times++) await sleep(100);
}

const sessionsOf = async (project: FlowProject): Promise<string[]> =>
  (await project.events())
    .filter(({ type, step }) => type === "skill-started" && step === "6")
    .map(({ skill, mode, part }) => [skill, mode, part].filter(Boolean).join(" "));

describe.concurrent("the tasks of a step", () => {
  it(
    "are a run of their own under the flow's, and its commits move them to done/",
    async () => {
      const project = await withTasks();
      await isPast(project, await project.flow(...decided, "--json"));
      const [started] = (await project.events()).filter(({ type }) => type === "run-started");
      expect(started).toMatchObject({ plan: "_docs/02_tasks", under: "greenfield 6 cycle 1" });
      expect(started?.["run"]).toMatch(/^r[0-9a-f]{10}$/);
      const moved = project.git("log", "--format=", "--name-status", "-M50%", "--grep=^feat: task");
      expect(moved.split("\n").filter((line) => line.startsWith("R")).length).toBe(3);
      expect(rowsOf(textOf(project, "03_implementation/batch_01_report.md"))).toEqual([
        "01_first landed",
      ]);
      expect(rowsOf(textOf(project, "03_implementation/batch_02_report.md"))).toEqual([
        "02_second landed",
        "03_third landed",
      ]);
      expect(textOf(project, "03_implementation/implementation_report_first.md")).toContain(
        "3 of 3 tasks landed in 2 batches",
      );
      expect(await sessionsOf(project)).toEqual(["code-review review"]);
      const commits = project.git("log", "--format=%H", "--grep=^feat: task").trim().split("\n");
      for (const commit of commits) {
        const asked = await project.autodev("audit", commit);
        const [, hash = ""] = /--trust-sha256 ([0-9a-f]{64})/.exec(asked.all) ?? [];
        const audit = await project.autodev("audit", commit, "--trust-sha256", hash);
        expect(audit.code, audit.all).toBe(0);
      }
    },
    patience,
  );

  it(
    "that fail are put right and run again, and the reports tell of both",
    async () => {
      const project = await withTasks();
      project.behave({ "task 02": { fail: 2 } });
      await isPast(project, await project.flow(...decided, "--json"));
      expect(rowsOf(textOf(project, "03_implementation/batch_02_report.md"))).toEqual([
        "02_second failed",
        "03_third landed",
      ]);
      const third = textOf(project, "03_implementation/batch_03_report.md");
      expect(rowsOf(third)).toEqual(["02_second landed"]);
      expect(third).toContain("attempt 2: phase 02 asks for work, and no file was changed");
      expect(await sessionsOf(project)).toEqual(["implement mend mend", "code-review review"]);
    },
    patience,
  );

  it(
    "that go on failing are people's to look at; a retry runs what is left",
    async () => {
      const project = await withTasks();
      project.behave({ "task 02": { fail: 1000 } });
      const ran = await project.flow();
      expect(ran.code, ran.all).toBe(3);
      expect(ran.all).toContain("SKILL FAILED: implement — 3 consecutive failures");
      expect(ran.all).toContain("a task failed (02: phase 02 asks for work");
      const [open] = (await project.status()).decisions;
      expect((await project.autodev("decide", open?.id ?? "", "A")).code).toBe(0);
      project.behave({});
      await isPast(project, await project.flow(...decided, "--json"));
      const landed = project.git("log", "--format=%s", "--grep=^feat: task").trim().split("\n");
      expect(landed.sort()).toEqual(["feat: task 01", "feat: task 02", "feat: task 03"]);
    },
    patience,
  );

  it(
    "are not reported before a review lets them pass: what it found becomes tasks",
    async () => {
      const project = await withTasks();
      project.behave({ 6: { verdict: "FAIL" } });
      await isPast(project, await project.flow(...decided, "--json"));
      expect(textOf(project, "03_implementation/reviews/batch_02.md")).toContain("FAIL");
      expect(textOf(project, "03_implementation/reviews/batch_04.md")).toContain("PASS");
      expect(existsSync(docs(project, "02_tasks/done/04_first.md"))).toBe(true);
      expect(await sessionsOf(project)).toEqual([
        "code-review review",
        "implement mend mend",
        "code-review review",
      ]);
      const report = textOf(project, "03_implementation/implementation_report_first.md");
      expect(report).toContain("6 of 6 tasks landed in 4 batches");
      expect(report).toContain("batch_02.md (FAIL)");
    },
    patience,
  );

  it(
    "that cannot be run are put right first",
    async () => {
      const project = await withTasks();
      const table = docs(project, "02_tasks/_dependencies_table.md");
      writeFileSync(table, readFileSync(table, "utf8").replaceAll("01_first |", "77_nothing |"));
      project.git("commit", "--all", "--quiet", "--message=a table that nobody can follow");
      await isPast(project, await project.flow(...decided, "--json"));
      expect(await sessionsOf(project)).toEqual(["implement mend mend", "code-review review"]);
    },
    patience,
  );

  it(
    "are found where they lie when all memory is gone, and batches are counted on",
    async () => {
      const project = await withTasks();
      project.behave({ "task 02": { fail: 1000 } });
      expect((await project.flow()).code).toBe(3);
      rmSync(memoryOf(project), { recursive: true });
      rmSync(project.stateFile, { force: true });
      project.behave({});
      expect(await project.status()).toMatchObject({ step: "6", source: "scan" });
      const ran = await project.flow();
      expect(ran.code, ran.all).toBe(3);
      expect(ran.all).toContain("step 6 Implement has artifacts already");
      for (let times = 0; times < 8; times++) {
        const next = await project.flow("--json");
        if (next.code === 0 && outcomeOf(next) === "done") break;
        const [open] = (await project.status()).decisions;
        if (open) await project.autodev("decide", open.id, open.recommendation);
      }
      expect(await project.status()).toMatchObject({ step: "done" });
      const last = textOf(project, "03_implementation/batch_06_report.md");
      expect(rowsOf(last)).toEqual(["02_second landed"]);
      const landed = project.git("log", "--format=%s", "--grep=^feat: task").trim().split("\n");
      expect(landed.sort()).toEqual(["feat: task 01", "feat: task 02", "feat: task 03"]);
    },
    patience,
  );

  it(
    "that a person writes into meanwhile keep what was written, and lie in done/ all the same",
    async () => {
      const project = await withTasks();
      project.behave({ "task 01": { slow: 2000 } });
      const running = project.flow(...decided, "--json");
      await untilAtWork(project);
      const task = docs(project, "02_tasks/todo/01_first.md");
      writeFileSync(task, `${readFileSync(task, "utf8")}\nA note of mine.\n`);
      const ran = await running;
      expect(outcomeOf(ran), ran.all).toBe("done");
      expect(existsSync(task)).toBe(false);
      const moved = textOf(project, "02_tasks/done/01_first.md");
      expect(moved).toContain("A note of mine.");
      expect(moved).not.toContain("- [ ]");
    },
    patience,
  );

  it(
    "are stopped from elsewhere, and go on where they were",
    async () => {
      const project = await withTasks();
      project.behave({ "task 01": { slow: 20_000 } });
      const running = project.flow("--json");
      await untilAtWork(project);
      expect((await project.autodev("stop")).code).toBe(0);
      const ran = await running;
      expect(ran.code, ran.all).toBe(130);
      expect(outcomeOf(ran)).toBe("stopped");
      project.behave({});
      await isPast(project, await project.flow(...decided, "--json"));
    },
    patience,
  );

  it(
    "do not begin on changes that nobody has committed without a word, and keep them",
    async () => {
      const project = await withTasks({ "notes.txt": "as committed\n" });
      writeFileSync(join(project.root, "notes.txt"), "mine, half done\n");
      const ran = await project.flow();
      expect(ran.code, ran.all).toBe(3);
      expect(ran.all).toContain("the tree has changes that are not committed (notes.txt)");
      const [open] = (await project.status()).decisions;
      expect((await project.autodev("decide", open?.id ?? "", "A")).code).toBe(0);
      const next = await project.flow(...decided, "--json");
      expect(outcomeOf(next), next.all).toBe("done");
      expect(readFileSync(join(project.root, "notes.txt"), "utf8")).toBe("mine, half done\n");
    },
    patience,
  );

  it(
    "change no branch where a flow commits nothing",
    async () => {
      const project = await makeFlowProject({
        ".autodev/config.yaml": `${readFileSync(
          join((await makeFlowProject()).root, ".autodev/config.yaml"),
          "utf8",
        )
          .trim()
          .slice(0, -1)},"flow":{"commit":"none"}}\n`,
      });
      const before = project.git("rev-parse", "HEAD");
      for (let times = 0; times < 4; times++) {
        const ran = await project.flow(...decided, "--json");
        expect([0, 3], ran.all).toContain(ran.code);
        if (outcomeOf(ran) === "done") break;
      }
      expect(await project.status()).toMatchObject({ step: "done" });
      expect(project.git("rev-parse", "HEAD")).toBe(before);
      expect(existsSync(docs(project, "02_tasks/done/03_third.md"))).toBe(true);
      expect(existsSync(docs(project, "02_tasks/todo/03_third.md"))).toBe(false);
      expect(existsSync(join(project.root, "src/part3.js"))).toBe(true);
    },
    patience,
  );
});
