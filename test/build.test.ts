/** `autodev build` from outside: the whole story of a run, and every option of the command. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import {
  arrived,
  build,
  decide,
  executionLog,
  expectComplete,
  expectSchema,
  expectTidy,
  hashIn,
  makeBuildRepo,
  makeMailbox,
  makeToken,
  onePhase,
  openDecision,
  phaseFile,
  plan,
  planOf,
  spelled,
  startBuild,
  startTrusted,
  subjects,
  survivors,
  trustHash,
  twoPhases,
  vaguePhase,
  working,
} from "./build-rig.ts";
import {
  atTerminal,
  binary,
  errorOf,
  expectNoCrash,
  jsonOf,
  makeFolder,
  pictureOf,
  type Ran,
  type Repo,
  run,
} from "./rig.ts";

/** A busy machine is no reason to fail. */
const patience = 120_000;

// ── the whole story ────────────────────────────────────────────────────────────────────────────

const story = ["0", "1", "2A", "2B", "2C", "3"];
const needs: Record<string, string[]> = {
  "0": [],
  "1": ["0"],
  "2A": ["1"],
  "2B": ["1"],
  "2C": ["1"],
  "3": ["2A", "2B", "2C"],
};
const names: Record<string, string> = {
  "0": "Bootstrap",
  "1": "Setup",
  "2A": "Backend API",
  "2B": "Login form",
  "2C": "Edge cases",
  "3": "Integration",
};
const batch = ["2A", "2B", "2C"];

const storyPlan = (textOf2A: string, vague = false): string =>
  planOf(
    story.map((id) => ({
      id,
      name: names[id] as string,
      needs: needs[id] as string[],
      parallel: batch.includes(id) ? batch.filter((other) => other !== id) : [],
      ...(vague ? {} : { files: { [`src/${id}.txt`]: id === "2A" ? textOf2A : `part ${id}` } }),
    })),
  );

const noBroken = "! grep -rqs BROKEN src";

/** What is different every time, told by its kind. */
const normalised = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replace(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/g, '"<time>"')
      .replace(/"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}"/g, '"<uuid>"')
      .replace(/"[0-9a-f]{40}"/g, '"<sha>"')
      .replace(/"duration_seconds":\d+/g, '"duration_seconds":0')
      .replace(/(Autobuild-Run: )r[0-9a-f]+/g, "$1<run>")
      .replace(/(Autobuild-Attempt: )[0-9a-f-]+/g, "$1<uuid>"),
  ) as unknown;

const skippedGate = {
  passed: null,
  skipped: true,
  command: null,
  output_summary: "skipped: the top folder names no command for it",
};
const otherGates = { lint: skippedGate, format: skippedGate, typecheck: skippedGate };
const gateCommand = 'eval "$TEST_GATE"';

function expectHalted(repo: Repo, mode: string): void {
  expectSchema(JSON.parse(repo.read(".autobuild/config.json")), "autobuild-config");
  for (const id of story) expectSchema(phaseFile(repo, id.toLowerCase()), "autobuild-phase");
  expect(normalised(JSON.parse(repo.read(".autobuild/config.json")))).toEqual({
    version: "1.0.0",
    plan_path: plan,
    commit_mode: mode,
    started_at: "<time>",
    last_updated: "<time>",
    stack: {
      language: null,
      framework: null,
      package_manager: null,
      test_framework: null,
      linter: null,
      formatter: null,
    },
    commands: { test: gateCommand },
    phases: { total: 6, completed: 4, failed: 1, pending: 1 },
    skipped_gates: Object.fromEntries(
      Object.keys(otherGates).map((name) => [name, "the top folder names no command for it"]),
    ),
  });
  const reason = `test failed: \`${gateCommand}\` ended with 1`;
  expect(normalised(phaseFile(repo, "2a"))).toEqual({
    phase_id: "2a",
    phase_name: "Backend API",
    status: "failed",
    attempt: 2,
    max_attempts: 2,
    timestamps: { started: "<time>", failed: "<time>", duration_seconds: 0 },
    dependencies: { depends_on: ["1"], parallel_with: ["2b", "2c"], blocks: ["3"] },
    execution: {
      subagent_id: "<uuid>",
      subagent_model: null,
      tasks_total: 1,
      tasks_completed: 1,
    },
    quality_gates: {
      ...otherGates,
      test: {
        passed: false,
        command: gateCommand,
        output_summary: "ended with 1",
      },
    },
    verification: {
      subagent_claimed: "complete",
      fresh_verification: "failed",
      verified_at: "<time>",
      findings: [{ code: "gate-failed", level: "error", message: reason }],
    },
    commit: null,
    plan_updates: null,
    error: {
      type: "test_failure",
      message: reason,
      details: null,
      attempt_1_error: reason,
      attempt_2_error: reason,
    },
  });
  expect(phaseFile(repo, "3")).toEqual({
    phase_id: "3",
    phase_name: "Integration",
    status: "blocked",
    attempt: 0,
    max_attempts: 2,
    timestamps: {},
    dependencies: { depends_on: ["2a", "2b", "2c"], parallel_with: [], blocks: [] },
    execution: null,
    quality_gates: null,
    verification: null,
    commit: null,
    plan_updates: null,
    error: {
      type: "blocked",
      message: "waits for phase 2A (Backend API), which failed",
      blocking_phase: "2a",
    },
  });
  const committed = mode === "auto";
  expect(normalised(phaseFile(repo, "2b"))).toMatchObject({
    status: "complete",
    attempt: 1,
    timestamps: { started: "<time>", completed: "<time>", duration_seconds: 0 },
    quality_gates: { ...otherGates, test: { passed: true, command: gateCommand } },
    verification: { subagent_claimed: "complete", fresh_verification: "passed" },
    commit: {
      type: "feat",
      files_created: [expect.stringMatching(/^src\/2b\.txt$/i)],
      files_modified: [],
      files_deleted: [],
      committed,
      commit_sha: committed ? "<sha>" : null,
    },
    plan_updates: { tasks_checked: 1, dod_checked: 1, status_updated: true },
    error: null,
  });
}

/** As it goes when one phase is done after another; the commits are told apart from it. */
const haltedLog = `AUTOBUILD STARTED
Plan: ${plan}
Commit mode: MODE
Stack detected: none
Phases identified: 6
Execution order: [0] -> [1] -> [2a,2b,2c] -> [3]

PHASE 0 STARTED
PHASE 0 COMPLETE - MESSAGE

PHASE 1 STARTED
PHASE 1 COMPLETE - MESSAGE

PARALLEL BATCH STARTED: 2a, 2b, 2c
PHASE 2A FAILED - tests failing (attempt 1)
PHASE 2A RETRY STARTED
PHASE 2A FAILED - tests failing (attempt 2)
PHASE 3 BLOCKED by 2A
PHASE 2B COMPLETE - MESSAGE
PHASE 2C COMPLETE - MESSAGE
PARALLEL BATCH FAILED: 2a failed, 2b+2c complete

AUTOBUILD HALTED
Completed: 4 phases
Failed: 1 phase (2a)
Remaining: 1 phase (3)
`;
const resumedLog = `
RESUMED
PHASE 2A STARTED
PHASE 2A COMPLETE - MESSAGE
PARALLEL BATCH COMPLETE: 2a, 2b, 2c

PHASE 3 STARTED
PHASE 3 COMPLETE - MESSAGE

AUTOBUILD COMPLETE
Completed: 6 phases
`;

const logOf = (repo: Repo): string =>
  executionLog(repo)
    .replace(/^(PHASE \S+ COMPLETE - )(?:feat|chore).*$/gm, "$1MESSAGE")
    .replace(/^Committed: .*\n/gm, "");

const committedIn = (repo: Repo): string[] =>
  [...executionLog(repo).matchAll(/^Committed: (\w{7})$/gm)].map(([, sha]) => sha as string);

/** The trees along the landed ref, newest first, down to what the run began with. */
const treesOf = (repo: Repo, ref: string, count: number): string[] =>
  repo.git("log", "--first-parent", `--max-count=${count}`, "--format=%T", ref).trim().split("\n");

const landedRef = (repo: Repo): string =>
  repo.git("for-each-ref", "--format=%(refname)", "refs/autobuild/*/landed").trim();

describe("six phases, one of which fails twice:", { timeout: patience }, () => {
  for (const agent of ["apply", "mine"]) {
    for (const mode of ["auto", "message-only", "single"]) {
      it(`${agent}, --commit=${mode}: halts, says so everywhere, and completes when it is mended`, async () => {
        const vague = agent === "mine";
        const repo = makeBuildRepo(storyPlan("BROKEN", vague));
        const writes = (text: string): string =>
          `mkdir -p src; case $AUTODEV_PHASE in 2a) echo ${text};; *) echo part;; esac > src/$AUTODEV_PHASE.txt; finish`;
        const around = vague ? { agent: writes("BROKEN") } : {};
        const args = [`--commit=${mode}`, "--jobs=1"];
        const base = repo.git("rev-parse", "HEAD").trim();
        const index = repo.git("ls-files", "--stage");

        const halted = await build(repo, args, { ...around, gate: noBroken });
        expectNoCrash(halted);
        expect(halted.code, halted.all).toBe(4);
        const complete = ["0 ", "1 ", "2B", "2C"].map((id) =>
          expect.stringMatching(new RegExp(`^✓ ${id} \\S.*  [0-9a-f]{7}  \\d+ s$`)),
        );
        const commits = /[0-9a-f]{9}\.\.[0-9a-f]{9}$/.source;
        expect(halted.out.trimEnd().split("\n")).toEqual([
          ...complete,
          `✗ 2A Backend API: test failed: \`${gateCommand}\` ended with 1`,
          "    .autobuild/logs/phase-2a.log",
          "• 3 Integration: waits for 2A",
          expect.stringMatching(/^4 of 6 phases complete, \d+ s; halted: nothing else can run$/),
          ...(mode === "single" ? [expect.stringMatching(/^4 landed, not published: /)] : []),
          ...(mode === "message-only" ? ["sh .autobuild/commits.sh commits them"] : []),
          "  → see why: autodev log 2A, autodev diff 2A, autodev shell 2A",
          '  → try it again with a word: autodev retry 2A --note "…"',
          expect.stringMatching(new RegExp(`^  → look at it: git log --oneline ${commits}`)),
          expect.stringMatching(new RegExp(`^  → check it again: autodev audit ${commits}`)),
          `  → mend what is named above, then: autodev build ${plan}`,
        ]);
        expectHalted(repo, mode);
        expect(logOf(repo)).toBe(haltedLog.replace("MODE", mode));
        expect(subjects(repo)).toHaveLength(mode === "auto" ? 6 : 2);
        if (mode !== "auto") expect(repo.git("ls-files", "--stage")).toBe(index);
        expect(repo.exists("src/3.txt")).toBe(false);
        expect(/\| 2B .*\| (.*) \|/.exec(repo.read(plan))?.[1]).toBe(
          mode === "single" ? "⬜" : "✅",
        );
        expect(/\| 2A .*\| (.*) \|/.exec(repo.read(plan))?.[1]).toBe("⬜");

        // Mended where it was wrong: in the plan, or in what the agent does.
        if (!vague) repo.write(plan, repo.read(plan).replace("BROKEN", "sound"));
        const mended = vague ? { agent: writes("sound") } : {};
        const finished = await build(repo, ["--jobs=1", `--commit=${mode}`], {
          ...mended,
          gate: noBroken,
        });
        expectComplete(finished);
        expect(finished.out).toContain("6 of 6 phases complete");
        const changed = `\nPLAN CHANGED\nChanged: phase 2A asks for something else now\nPhases identified: 6\nExecution order: [0] -> [1] -> [2a,2b,2c] -> [3]\n`;
        expect(logOf(repo)).toBe(
          `${haltedLog.replace("MODE", mode)}${vague ? "" : changed}${resumedLog}`,
        );
        expect(phaseFile(repo, "2a")).toMatchObject({
          status: "complete",
          attempt: 1,
          error: null,
        });
        expect(phaseFile(repo, "3")).toMatchObject({ status: "complete", attempt: 1, error: null });
        expect(repo.read(".autobuild/config.json")).toContain('"completed": 6');
        expect(repo.read(`src/2${vague ? "a" : "A"}.txt`)).toBe("sound\n");
        // Every box of every phase is ticked, once.
        expect(repo.read(plan)).not.toMatch(/⬜|\[ \]/);

        const landed = landedRef(repo);
        if (mode === "message-only") {
          expect(repo.git("rev-parse", "HEAD").trim()).toBe(base);
          expect(repo.git("ls-files", "--stage")).toBe(index);
          expect(phaseFile(repo, "2a").commit).toMatchObject({
            committed: false,
            commit_sha: null,
          });
          expect(await runScript(repo)).toContain("Committing Phase 2A: Backend API");
          expect(treesOf(repo, "HEAD", 6)).toEqual(treesOf(repo, landed, 6));
          // Twice is once.
          expect(await runScript(repo)).toContain("Already committed: Phase 2A: Backend API");
        }
        const count = mode === "single" ? 1 : 6;
        expect(repo.git("rev-list", "--count", `${base}..HEAD`).trim()).toBe(String(count));
        expect(treesOf(repo, "HEAD", 1)).toEqual(treesOf(repo, landed, 1));
        const shas = repo.git("log", "--reverse", "--format=%h", "--abbrev=7", `${base}..HEAD`);
        if (mode !== "message-only") {
          expect(committedIn(repo)).toEqual(shas.trim().split("\n"));
          expect(phaseFile(repo, "2a").commit).toMatchObject({ committed: true });
        }
        if (mode === "single") {
          const [sha] = repo.git("rev-parse", "HEAD").split("\n");
          for (const id of story) {
            expect(phaseFile(repo, id.toLowerCase()).commit?.commit_sha).toBe(sha);
          }
        }
        expectTidy(repo);

        // All complete: the summary, and nothing else.
        const before = repo.read(".autobuild/logs/execution.log");
        const again = await build(repo, [`--commit=${mode}`], { gate: "false" });
        expectComplete(again);
        expect(again.out).toContain("6 of 6 phases complete");
        expect(repo.read(".autobuild/logs/execution.log")).toBe(before);
      });
    }
  }
});

async function runScript(repo: Repo): Promise<string> {
  const ran = await run("sh", [".autobuild/commits.sh"], { cwd: repo.root });
  expect(ran.code, ran.all).toBe(0);
  expect(ran.out).toContain("All commits complete!");
  return ran.out;
}

// ── options ────────────────────────────────────────────────────────────────────────────────────

const messageOnly = "--commit=message-only";

/** The last line of `--json`. */
interface Output {
  readonly run: string;
  readonly status: string;
  readonly phases: readonly {
    readonly id: string;
    readonly status: string;
    readonly attempts: number;
    readonly commit: string | null;
  }[];
  readonly notices: readonly string[];
}

const linesOf = (ran: Ran): Record<string, unknown>[] =>
  ran.out
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Every line before it is an event, in order. */
function outputOf(ran: Ran, code: number): Output {
  expectNoCrash(ran);
  expect(ran.code, ran.all).toBe(code);
  const lines = linesOf(ran);
  const summary = lines.pop();
  expectSchema(summary, "build");
  for (const line of lines) {
    expect(line).toMatchObject({ version: 1, run: expect.any(String), at: expect.any(String) });
  }
  const numbers = lines.map(({ seq }) => seq as number);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  return summary as unknown as Output;
}

const statusesOf = ({ phases }: Output): string =>
  phases.map(({ id, status }) => `${id} ${status}`).join(", ");

describe("what is built, and where to:", { timeout: patience }, () => {
  it("--dry-run shows stack, commands, batches and points, and touches nothing", async () => {
    const repo = makeBuildRepo(storyPlan("BROKEN"));
    const before = pictureOf(repo.root);
    const ran = await startBuild(repo, ["--dry-run"]).ended;
    expectComplete(ran);
    expect(ran.out).toContain(`test       ${gateCommand}`);
    expect(ran.out).toContain("Batch 3\n  2A Backend API (1 task, 2 points)");
    expect(ran.out).toContain("Nothing was run and nothing was changed.");
    const json = await startBuild(repo, ["--dry-run", "--json"]).ended;
    expect(jsonOf<{ batches: { id: string }[][] }>(json).batches).toHaveLength(4);
    expect(pictureOf(repo.root)).toEqual(before);
  });

  it("--only does the phases that were named; what they wait for has to be done or named", async () => {
    const repo = makeBuildRepo(planOf([spelled("1"), spelled("2", ["1"]), spelled("3", ["2"])]));
    const early = await build(repo, ["--only", "2"]);
    expect(early.code, early.all).toBe(2);
    expect(early.err).toContain("phase 2 waits for 1, which is not complete");
    expect(subjects(repo)).toHaveLength(2);
    const some = outputOf(await build(repo, ["--only", "1", "2", "--json"]), 0);
    expect(statusesOf(some)).toBe("1 complete, 2 complete, 3 pending");
    expect(some.status).toBe("stopped");
    const last = outputOf(await build(repo, ["--only", "3", "--json"]), 0);
    expect(last.status).toBe("complete");
    expect(subjects(repo)).toHaveLength(5);
    expectTidy(repo);
  });

  it("--from does a phase and all that come after it", async () => {
    const repo = makeBuildRepo(twoPhases);
    expectComplete(await build(repo, ["--only", "1"]));
    expectComplete(await build(repo, ["--from", "2"]));
    expect(subjects(repo)).toHaveLength(4);
    expect(phaseFile(repo, "2").status).toBe("complete");
  });

  it("--jobs 2: two agents are at work at the same time, each with a slot of its own", async () => {
    const repo = makeBuildRepo(planOf([{ id: "1" }, { id: "2" }]));
    const mailbox = makeMailbox();
    // Each waits until it has seen the other.
    const agent = `echo "$AUTODEV_SLOT $AUTODEV_PORT_BASE" > "$MAILBOX/$AUTODEV_PHASE"
      until [ -e "$MAILBOX/1" ] && [ -e "$MAILBOX/2" ]; do sleep 0.05; done
      ${working}`;
    const ran = await build(repo, ["--jobs=2"], { agent, env: { MAILBOX: mailbox } });
    expectComplete(ran);
    const slots = ["1", "2"].map((id) => fs.readFileSync(path.join(mailbox, id), "utf8"));
    expect(slots.sort()).toEqual(["0 20000\n", "1 20100\n"]);
    expectTidy(repo);
  });

  it("--branch makes a new branch, and leaves the one that is checked out alone", async () => {
    const repo = makeBuildRepo();
    const before = repo.git("rev-parse", "HEAD");
    expectComplete(await build(repo, ["--branch", "feature/x"]));
    expect(repo.git("rev-parse", "HEAD")).toBe(before);
    expect(repo.git("rev-parse", "feature/x^")).toBe(before);
    expect(repo.exists("src/1.txt")).toBe(false);
    expect(repo.git("show", "feature/x:src/1.txt")).toBe("part 1\n");
    expectTidy(repo);
  });

  it("--branch builds on a branch that is there, as it is", async () => {
    const repo = makeBuildRepo();
    repo.git("checkout", "--quiet", "-b", "other");
    repo.write("theirs.txt", "theirs\n");
    repo.git("add", "--all");
    repo.git("commit", "--quiet", "--message=theirs");
    repo.git("checkout", "--quiet", "main");
    expectComplete(await build(repo, ["--branch", "other"]));
    expect(subjects(repo, "other").slice(1)).toEqual(["theirs", "plan", "first"]);
    expect(repo.git("show", "other:theirs.txt")).toBe("theirs\n");
    expect(subjects(repo)).toEqual(["plan", "first"]);
    expectTidy(repo);
  });

  it("--branch may name the branch that is checked out here, but none that is elsewhere", async () => {
    const repo = makeBuildRepo();
    const elsewhere = makeFolder("elsewhere");
    repo.git("worktree", "add", "--quiet", "-b", "taken", elsewhere);
    const refused = await build(repo, ["--branch", "taken"]);
    expect(refused.code, refused.all).toBe(2);
    expect(refused.err).toContain(`taken is checked out in ${elsewhere}`);
    expect(subjects(repo, "taken")).toEqual(["plan", "first"]);
    const wrong = await build(repo, ["--branch", "-x..y"]);
    expect(wrong.code, wrong.all).toBe(2);
    expect(wrong.err).toContain('"-x..y" cannot be the name of a branch');
    expectComplete(await build(repo, ["--branch", "main"]));
    expect(subjects(repo)).toHaveLength(3);
    expect(repo.read("src/1.txt")).toBe("part 1\n");
  });

  it("--branch and message-only exclude each other", async () => {
    const repo = makeBuildRepo();
    const ran = await build(repo, [messageOnly, "--branch", "x"]);
    expect(ran.code, ran.all).toBe(2);
    expect(ran.err).toContain("--branch needs a mode that commits");
  });

  it("a detached HEAD moves along", async () => {
    const repo = makeBuildRepo();
    repo.git("checkout", "--quiet", "--detach");
    expectComplete(await build(repo));
    expect(subjects(repo)).toHaveLength(3);
    expect(subjects(repo, "main")).toEqual(["plan", "first"]);
    expectTidy(repo);
  });

  it("runs in a linked work tree, and from a folder below the top", async () => {
    const repo = makeBuildRepo();
    const linked = path.join(makeFolder("linked"), "tree");
    repo.git("worktree", "add", "--quiet", "-b", "side", linked);
    const ran = await build(repo, [], {
      cwd: path.join(linked, "docs"),
      plan: "feature-plan.md",
    });
    expectComplete(ran);
    expect(subjects(repo, "side")).toHaveLength(3);
    expect(fs.readFileSync(path.join(linked, "src/1.txt"), "utf8")).toBe("part 1\n");
    expect(repo.exists("src/1.txt")).toBe(false);
  });

  for (const mode of ["auto", "message-only", "single"]) {
    it(`--review, ${mode}: nothing is published before somebody has said so`, async () => {
      const repo = makeBuildRepo(twoPhases);
      const args = [`--commit=${mode}`, "--review"];
      const asked = await build(repo, args);
      expect(asked.code, asked.all).toBe(3);
      expect(asked.err).toContain("2 verified phases wait for review (1, 2)");
      const { id } = await openDecision(repo);
      expect(asked.err).toContain(`autodev decide ${id}`);
      expect(subjects(repo)).toEqual(["plan", "first"]);
      expect(repo.exists("src/1.txt")).toBe(false);
      expect(repo.read(plan)).toBe(twoPhases);
      // Asked again, not a second question.
      expect((await build(repo, args)).code).toBe(3);
      await decide(repo, "A");
      expectComplete(await build(repo, args));
      expect(subjects(repo)).toHaveLength({ auto: 4, single: 3 }[mode] ?? 2);
      expect(repo.read("src/2.txt")).toBe("part 2\n");
    });
  }

  it("--review, answered with no: it stays where it is, and that is said", async () => {
    const repo = makeBuildRepo();
    expect((await build(repo, ["--review"])).code).toBe(3);
    await decide(repo, "B");
    const ran = await build(repo, ["--review"]);
    expectNoCrash(ran);
    expect(ran.code, ran.all).toBe(4);
    expect(ran.all).toContain("unpublished, as you decided: 1");
    expect(ran.all).toContain("refs/autobuild/");
    expect(subjects(repo)).toEqual(["plan", "first"]);
    expect(subjects(repo, landedRef(repo))).toHaveLength(3);
  });
});

describe("which run:", { timeout: patience }, () => {
  it("--fresh keeps the old .autobuild and the commits, and begins anew", async () => {
    const repo = makeBuildRepo();
    expectComplete(await build(repo));
    const old = pictureOf(repo.at(".autobuild"));
    const ran = await build(repo, ["--fresh", "--json"]);
    expectNoCrash(ran);
    const kept = repo.at(".git/autodev/rescue");
    const [folder = ""] = fs.readdirSync(kept).filter((name) => name.startsWith("autobuild-"));
    expect(pictureOf(path.join(kept, folder))).toEqual(old);
    const { notices, run: id } = outputOf(ran, 0);
    expect(notices.join()).toContain(folder);
    expect(subjects(repo)[1]).toBe("feat: part 1");
    expect(((await repo.status()) as unknown as { runs: { run: string }[] }).runs).toMatchObject([
      { run: id, plan, status: "complete" },
    ]);
    expectTidy(repo);
  });

  it("--resume without a run is an error, and so is --resume with --fresh", async () => {
    const repo = makeBuildRepo();
    const ran = await build(repo, ["--resume"]);
    expect(ran.code, ran.all).toBe(2);
    expect(ran.err).toContain(`there is no run of ${plan} to resume`);
    const both = await build(repo, ["--resume", "--fresh"]);
    expect(both.code, both.all).toBe(2);
    expect(both.err).toContain("exclude each other");
    expect(repo.exists(".autobuild")).toBe(false);
  });

  it("another plan is not begun while a run is not finished", async () => {
    const repo = makeBuildRepo(onePhase, { "docs/other-plan.md": onePhase });
    expect((await build(repo, [], { gate: "false" })).code).toBe(4);
    const other = await build(repo, [], { plan: "docs/other-plan.md" });
    expect(other.code, other.all).toBe(2);
    expect(other.err).toContain(`a run of ${plan} is not finished`);
    expectComplete(await build(repo, ["--fresh"], { plan: "docs/other-plan.md" }));
  });

  it("without a mode the three are explained; the settings may choose one", async () => {
    const repo = makeBuildRepo();
    const ran = await repo.autodev("build", plan);
    expect(ran.code, ran.all).toBe(2);
    for (const mode of ["auto", "message-only", "single"]) {
      expect(ran.err).toMatch(new RegExp(`^ +--commit=${mode} +\\w+`, "m"));
    }
    expect(ran.err).toMatch(/message-only.*recommended/);
    expect(repo.exists(".autobuild")).toBe(false);
    const error = errorOf(await repo.autodev("build", plan, "--json"));
    expect(error).toMatchObject({ code: "usage", message: "no commit mode was chosen" });
    const set = makeBuildRepo(onePhase, {
      ".autodev/config.yaml": "build: { commit: single, attempts: 3 }\n",
    });
    expectComplete(await set.autodev("build", plan, "--decide=recommended"));
    expect(set.read(".autobuild/config.json")).toContain('"commit_mode": "single"');
    expect(phaseFile(set, "1").max_attempts).toBe(3);
  });

  it("the mode cannot change half-way", async () => {
    const repo = makeBuildRepo();
    expect((await build(repo, [], { gate: "false" })).code).toBe(4);
    const ran = await build(repo, ["--commit=single"]);
    expect(ran.code, ran.all).toBe(2);
    expect(ran.err).toContain("the run commits as auto");
    expect(ran.err).toContain("--fresh");
    // Named by nobody, it is the run's own.
    const [, hash = ""] = /([0-9a-f]{64})/.exec((await repo.autodev("build", plan)).err) ?? [];
    const resumed = await repo.with({ TEST_GATE: "true" }, "build", plan, "--trust-sha256", hash);
    expectComplete(resumed);
  });

  it("without a plan, and with nonsense for numbers: usage", async () => {
    const repo = makeBuildRepo();
    const none = await repo.autodev("build", "--commit=auto");
    expect(none.code, none.all).toBe(2);
    expect(none.err).toContain("no plan was named");
    for (const args of [
      ["--jobs=0"],
      ["--attempts=0"],
      ["--jobs=many"],
      ["--attempt-minutes=soon"],
      ["--commit=sometimes"],
      ["--nonsense"],
    ]) {
      const ran = await startBuild(repo, args).ended;
      expectNoCrash(ran);
      expect(ran.code, ran.all).toBe(2);
      expect(ran.err, args.join()).toContain((args[0] ?? "").split("=")[0]);
    }
  });

  it("autobuild is autodev build", async () => {
    const repo = makeBuildRepo();
    const autobuild = path.join(path.dirname(binary()), "autobuild.cjs");
    const ran = await build(repo, [], { program: [autobuild] });
    expectComplete(ran);
    expect(subjects(repo)).toHaveLength(3);
    const version = await run(process.execPath, [autobuild, "--version"], { cwd: repo.root });
    expect(version).toMatchObject({ code: 0, err: "" });
    expect(version.out).toMatch(/^\d+\.\d+/);
  });
});

describe("what is told:", { timeout: patience }, () => {
  it("--json has the shape of the schema, and log and status know the run", async () => {
    const repo = makeBuildRepo(twoPhases);
    const ran = await build(repo, ["--json"], { gate: "! test -e src/2.txt" });
    const halted = outputOf(ran, 4);
    expect(halted).toEqual({
      version: 1,
      type: "summary",
      run: expect.stringMatching(/^r[0-9a-f]{10}$/),
      plan,
      status: "halted",
      mode: "auto",
      phases: [
        {
          id: "1",
          name: "Part 1",
          status: "complete",
          attempts: 1,
          commit: repo.git("rev-parse", "HEAD").trim(),
          error: null,
          blockedBy: null,
        },
        {
          id: "2",
          name: "Part 2",
          status: "failed",
          attempts: 2,
          commit: null,
          error: { type: "test_failure", message: expect.stringContaining("test failed") },
          blockedBy: null,
        },
      ],
      landed: repo.git("rev-parse", "HEAD").trim(),
      usage: {},
      asking: [],
      notices: [],
    });
    const status = (await repo.status()) as unknown as { runs: unknown[] };
    expect(status.runs).toEqual([{ run: halted.run, plan, status: "halted" }]);
    const events = await repo.events();
    const own = events.filter(({ run: id }) => id === halted.run).map(({ type }) => type);
    expect(own[0]).toBe("run-started");
    expect(own.at(-1)).toBe("run-ended");
    expect(own.filter((type) => type === "attempt-started")).toHaveLength(3);
    expect(own.filter((type) => type === "phase-published")).toHaveLength(1);
    for (const line of linesOf(ran).slice(0, -1)) expectSchema(line, "event");
    // What was printed is what is on record.
    expect(linesOf(ran).slice(0, -1)).toEqual(events.filter(({ run: id }) => id === halted.run));
    const said = await repo.autodev("log");
    expect(said.code, said.all).toBe(0);
    expect(said.out).not.toContain("undefined");
    expect(said.out.trim().split("\n").length).toBe(events.length);
    expect(said.out).toMatch(/phase 1/i);
  });

  it("--attempts 1 gives up at the first failure; a new session begins a new series", async () => {
    const repo = makeBuildRepo();
    expect((await build(repo, ["--attempts=1"], { gate: "false" })).code).toBe(4);
    expect(phaseFile(repo, "1")).toMatchObject({ status: "failed", attempt: 1, max_attempts: 1 });
    expect((await build(repo, [], { gate: "false" })).code).toBe(4);
    expect(phaseFile(repo, "1")).toMatchObject({ status: "failed", attempt: 1 });
    const done = outputOf(await build(repo, ["--json"]), 0);
    expect(done.phases).toMatchObject([{ status: "complete", attempts: 3 }]);
    expect(executionLog(repo).match(/^RESUMED$/gm)).toHaveLength(2);
  });

  it("the second attempt is told what went wrong with the first", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const mailbox = makeMailbox();
    const agent = `cat > "$MAILBOX/brief-$AUTODEV_ATTEMPT"; ${working}`;
    const gate = 'echo "the flux is low"; test -e "$MAILBOX/brief-2"';
    expectComplete(await build(repo, [], { agent, gate, env: { MAILBOX: mailbox } }));
    const [first, second] = [1, 2].map((attempt) =>
      fs.readFileSync(path.join(mailbox, `brief-${attempt}`), "utf8"),
    );
    expect(first).toContain("Make part 1");
    expect(first).not.toContain("the flux is low");
    expect(second).toContain("the flux is low");
  });

  it("--attempt-minutes and --gate-minutes end what hangs, with everything that it started", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const token = makeToken();
    const env = { TEST_TOKEN: token };
    const hang = "sleep 1000 & setsid sleep 1000 & sleep 1000";
    const agentHung = await build(repo, ["--attempts=1", "--attempt-minutes=0.02"], {
      agent: hang,
      env,
    });
    expect(agentHung.code, agentHung.all).toBe(4);
    expect(phaseFile(repo, "1").error).toMatchObject({ type: "timeout" });
    expect(survivors(token)).toEqual([]);
    const gateHung = await build(repo, ["--gate-minutes=0.02"], {
      agent: working,
      gate: hang,
      env,
    });
    expect(gateHung.code, gateHung.all).toBe(4);
    expect(phaseFile(repo, "1").error).toMatchObject({
      type: "timeout",
      message: expect.stringContaining("took too long and was stopped"),
    });
    expect(survivors(token)).toEqual([]);
    expectComplete(await build(repo, [], { agent: working }));
    expectTidy(repo);
  });

  it("a usage limit parks the phase: others go on, --no-wait ends with 5, and later it is resumed", async () => {
    const repo = makeBuildRepo(planOf([{ id: "1" }, { id: "2" }]));
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const agent = `if [ $AUTODEV_PHASE = 1 ]; then
        printf '{"phase_id":"1","status":"limited","until":"${until}"}' > "$AUTODEV_RESULT"; exit
      fi; ${working}`;
    const parked = outputOf(await build(repo, ["--no-wait", "--json"], { agent }), 5);
    expect(parked).toMatchObject({ status: "parked", until });
    expect(statusesOf(parked)).toBe("1 pending, 2 complete");
    expect(executionLog(repo)).toContain(`\nPARKED until ${until.replace(/\.\d+/, "")}\n`);
    // It is still so.
    expect((await build(repo, ["--no-wait"], { agent: working })).code).toBe(5);
    // Nobody has to wait for a limit that is over: here, one that ended in a moment.
    const soon = new Date(Date.now() + 1500).toISOString();
    const other = makeBuildRepo(vaguePhase);
    const briefly = agent
      .replace(until, soon)
      .replace("[ $AUTODEV_PHASE = 1 ]", "[ $AUTODEV_ATTEMPT = 1 ]");
    const waited = await build(other, [], { agent: briefly });
    expectComplete(waited);
    expect(waited.err).toContain("parked until");
    // Waiting is not an attempt.
    expect(phaseFile(other, "1")).toMatchObject({ status: "complete", attempt: 1 });
  });
});

// ── interrupts ─────────────────────────────────────────────────────────────────────────────────

/** Says that it has begun, and goes when it is asked to. */
const patientAgent = `trap 'echo seen > "$MAILBOX/term"; exit 1' TERM
  touch "$MAILBOX/began"; mkdir -p src; echo half > src/half.txt
  while :; do sleep 0.1; done`;
/** Counts tenths of a second from the moment when it is asked to stop, and does not stop. */
const stubborn = `trap 'asked=1' TERM
  touch "$MAILBOX/began"
  while :; do sleep 0.1; [ -z "$asked" ] || echo tick >> "$MAILBOX/ticks"; done`;

async function hold(repo: Repo, agent: string, args: readonly string[] = []) {
  const [mailbox, token] = [makeMailbox(), makeToken()];
  const env = { MAILBOX: mailbox, TEST_TOKEN: token };
  const under = await startTrusted(repo, args, { agent, env });
  await arrived(mailbox, "began");
  return { ...under, mailbox, token, env };
}

describe("interrupted:", { timeout: patience }, () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    it(`${signal}: the agent is asked to stop, the state says where, and it goes on later`, async () => {
      const repo = makeBuildRepo(vaguePhase);
      const under = await hold(repo, patientAgent);
      under.kill(signal);
      const ran = await under.ended;
      expectNoCrash(ran);
      expect(ran.code, ran.all).toBe(130);
      expect(ran.all).toContain("interrupted");
      expect(fs.existsSync(path.join(under.mailbox, "term")), "TERM was seen").toBe(true);
      expect(survivors(under.token)).toEqual([]);
      expect(phaseFile(repo, "1").status).toBe("pending");
      expect(executionLog(repo)).toMatch(/PHASE 1 INTERRUPTED - .*\n\nINTERRUPTED\n$/);
      expect(subjects(repo)).toEqual(["plan", "first"]);
      expectTidy(repo);
      const done = outputOf(await build(repo, ["--json"], { agent: working }), 0);
      // A new number; not charged.
      expect(done.phases).toMatchObject([{ status: "complete", attempts: 2 }]);
      expect(phaseFile(repo, "1").attempt).toBe(1);
      expect(repo.exists("src/half.txt")).toBe(false);
      expectTidy(repo);
    });
  }

  it("a second time: at once, however stubborn the agent is", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const under = await hold(repo, stubborn);
    under.kill("SIGINT");
    await arrived(under.mailbox, "ticks");
    under.kill("SIGINT");
    const ran = await under.ended;
    expectNoCrash(ran);
    expect(ran.code, ran.all).toBe(130);
    expect(survivors(under.token)).toEqual([]);
    // Asked once, it would have had five seconds: fifty of them.
    const ticks = fs.readFileSync(path.join(under.mailbox, "ticks"), "utf8").length / 5;
    expect(ticks).toBeLessThan(30);
    expectComplete(await build(repo, [], { agent: working }));
    expectTidy(repo);
  });

  it("while a gate runs: what was delivered is checked by the next session, by no agent again", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const mailbox = makeMailbox();
    const token = makeToken();
    const env = { MAILBOX: mailbox, TEST_TOKEN: token };
    const agent = `echo x >> "$MAILBOX/agents"; ${working}`;
    const gate = 'touch "$MAILBOX/began"; sleep 1000';
    const under = await startTrusted(repo, [], { agent, gate, env });
    await arrived(mailbox, "began");
    under.kill("SIGINT");
    expect((await under.ended).code).toBe(130);
    expect(survivors(token)).toEqual([]);
    expect(phaseFile(repo, "1").status).toBe("running");
    expectComplete(await build(repo, [], { agent, env }));
    expect(fs.readFileSync(path.join(mailbox, "agents"), "utf8")).toBe("x\n");
    expectTidy(repo);
  });

  it("at a terminal: one key trusts, Ctrl-C stops, and the next time nothing is asked", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const mailbox = makeMailbox();
    const token = makeToken();
    const env = { MAILBOX: mailbox, TEST_TOKEN: token, TEST_GATE: "true" };
    const args = ["build", plan, "--commit=auto"];
    const terminal = atTerminal(repo.root, args, { ...env, TEST_AGENT: patientAgent });
    await terminal.until(/A\/B\? $/);
    expect(terminal.shown()).toContain("gate test: eval");
    expect(terminal.shown()).toContain("agent mine: eval");
    terminal.type("a");
    await arrived(mailbox, "began");
    terminal.type("\u0003");
    expect(await terminal.ended).toMatchObject({ code: 130 });
    expect(fs.existsSync(path.join(mailbox, "term")), "TERM was seen").toBe(true);
    expect(survivors(token)).toEqual([]);
    const again = await startBuild(repo, [], { agent: working }).ended;
    expectComplete(again);
    expectTidy(repo);
  });

  it("at a terminal: not trusted is not run", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const terminal = atTerminal(repo.root, ["build", plan, "--commit=auto"]);
    await terminal.until(/A\/B\? $/);
    terminal.type("b");
    expect(await terminal.ended).toMatchObject({ code: 3 });
    expect(terminal.shown()).toContain("nothing was run");
    expect(repo.exists(".autobuild")).toBe(false);
  });
});

// ── people mend it ─────────────────────────────────────────────────────────────────────────────

describe("people mend it with a commit:", { timeout: patience }, () => {
  const agent = `[ $AUTODEV_PHASE != 2 ] || [ -e mended ] || exit 1; ${working}`;

  it("the run that had halted goes on from there, and what had landed stays", async () => {
    const repo = makeBuildRepo(planOf([{ id: "1" }, { id: "2", needs: ["1"] }]));
    const halted = await build(repo, [], { agent });
    expect(halted.code, halted.all).toBe(4);
    repo.write("mended", "");
    repo.git("add", "mended");
    repo.git("commit", "--quiet", "--message=mended");
    const ran = await build(repo, [], { agent });
    expectComplete(ran);
    expect(ran.err).toContain("the run goes on from there");
    expect(subjects(repo)).toEqual(["feat: part 2", "mended", "feat: part 1", "plan", "first"]);
    expectTidy(repo);
  });

  it("what they changed of what is run has to be trusted, by the hash that is told", async () => {
    const settings = "agents: { mine: { command: sh agent.sh } }\ngates: { test: 'true' }\n";
    const files = { ".autodev/config.yaml": settings, "agent.sh": "exit 1\n" };
    const repo = makeBuildRepo(vaguePhase, files);
    expect((await build(repo)).code).toBe(4);
    const result = `printf '{"phase_id":"1","status":"complete","tasks":{"total":1,"completed":1},"commit_message":"feat: one"}'`;
    repo.write("agent.sh", `echo one > one.txt; ${result} > "$AUTODEV_RESULT"\n`);
    repo.git("commit", "--quiet", "--all", "--message=agent");
    const refused = await repo.autodev("build", plan);
    expect(refused.code, refused.all).toBe(3);
    const hash = hashIn(refused) ?? "";
    expect((await repo.autodev("trust", plan, "--sha256", hash)).code).toBe(0);
    expectComplete(await repo.autodev("build", plan));
    expect(subjects(repo)).toEqual(["feat: one", "agent", "plan", "first"]);
  });
});

// ── a plan that changes ────────────────────────────────────────────────────────────────────────

describe("the plan changes under the run:", { timeout: patience }, () => {
  it("between two sessions: added, removed, renamed, reworded, each told in a line", async () => {
    const phases = [
      spelled("1"),
      spelled("2", ["1"]),
      spelled("3", ["2"]),
      { ...spelled("4", ["1"]), name: "Old name" },
    ];
    const repo = makeBuildRepo(planOf(phases));
    expect((await build(repo, [], { gate: "! test -e src/2.txt" })).code).toBe(4);
    const changed = planOf([
      spelled("1", [], "something else"),
      spelled("2", ["1"], "something else too"),
      { ...spelled("4", ["1"]), name: "New name" },
      spelled("5", ["2"]),
    ]);
    repo.write(plan, changed);
    const ran = await build(repo);
    expectComplete(ran);
    const told = [
      "phase 1 asks for something else now, but is complete: it stays so",
      "phase 2 asks for something else now",
      "phase 4 was renamed: “Old name” is “New name” now",
      "phase 5 was added: it will be run",
      "phase 3 was removed: it will not be run",
    ];
    const log = executionLog(repo);
    for (const line of told) {
      expect(log).toContain(`Changed: ${line}\n`);
      expect(ran.err, "told to whoever is there").toContain(line);
    }
    expect(repo.read("src/1.txt")).toBe("part 1\n");
    expect(repo.read("src/2.txt")).toBe("something else too\n");
    expect(repo.read("src/5.txt")).toBe("part 5\n");
    expect(repo.exists("src/3.txt")).toBe(false);
    expect(repo.read(".autobuild/config.json")).toContain('"total": 4');
    // Nobody has changed it since it was read again.
    expect(ran.err).not.toContain("was changed meanwhile");
    expect(repo.git("diff", "HEAD", "--", plan)).toBe("");
    expectTidy(repo);
  });

  it("while a phase is at work: the run goes on with what it read, the change stays and is taken up later", async () => {
    const repo = makeBuildRepo(planOf([{ id: "1" }]));
    const added = planOf([{ id: "1" }, { id: "2", needs: ["1"] }]);
    const mailbox = makeMailbox();
    fs.writeFileSync(path.join(mailbox, "plan"), added);
    const env = { MAILBOX: mailbox, USERS: repo.at(plan) };
    const ran = await build(repo, [], { agent: `cp "$MAILBOX/plan" "$USERS"; ${working}`, env });
    expectComplete(ran);
    expect(ran.err).toContain(`${plan} was changed meanwhile`);
    expect(repo.read(plan)).toContain("### Phase 2: Part 2");
    expect(repo.read(plan)).toMatch(/\| 1 .*\| ✅ \|/);
    expect(repo.read(plan)).toContain("- [x] Make part 1");
    expect(subjects(repo)).toHaveLength(3);
    const next = await build(repo, [], { agent: working });
    expectComplete(next);
    expect(next.err).toContain("phase 2 was added: it will be run");
    expect(phaseFile(repo, "2").status).toBe("complete");
    expect(repo.read(plan)).not.toMatch(/⬜|\[ \]/);
    expectTidy(repo);
  });

  it("deleted while a phase is at work: it stays deleted, the commits have it, nothing fails", async () => {
    const repo = makeBuildRepo(planOf([{ id: "1" }, { id: "2", needs: ["1"] }]));
    const agent = `rm -f "$USERS"; ${working}`;
    const ran = await build(repo, [], { agent, env: { USERS: repo.at(plan) } });
    expectComplete(ran);
    expect(ran.err).toContain(`${plan} is gone`);
    expect(repo.exists(plan)).toBe(false);
    expect(repo.git("show", `HEAD:${plan}`)).not.toMatch(/⬜|\[ \]/);
    expectTidy(repo, [` D ${plan}`]);
    const missing = await build(repo, [], { agent: working });
    expectNoCrash(missing);
    expect(missing.code, missing.all).toBe(2);
    expect(missing.err).toContain(plan);
    repo.git("checkout", "--", plan);
    expectComplete(await build(repo, [], { agent: working }));
  });

  it("an agent's own ticks and edits of the plan are thrown away", async () => {
    const repo = makeBuildRepo(planOf([{ id: "1" }, { id: "2", needs: ["1"] }]));
    const agent = `sed -i 's/\\[ \\]/[x]/; s/⬜/✅/; s/Part 2/Nothing/' ${plan}; ${working}`;
    const ran = await build(repo, ["--only", "1"], { agent });
    expectComplete(ran);
    expect(repo.read(plan)).toMatch(/\| 2 \| Part 2 .*\| ⬜ \|/);
    expect(repo.read(plan)).toContain("- [ ] Make part 2");
    expect(repo.read(plan)).toContain("- [x] Make part 1");
    expect(repo.git("show", "--format=", "--name-only", "HEAD").trim().split("\n")).toEqual([
      plan,
      "src/1.txt",
    ]);
    expect(phaseFile(repo, "2").status).toBe("pending");
    expectTidy(repo);
  });
});

// ── trust ──────────────────────────────────────────────────────────────────────────────────────

describe("nothing is run before it is trusted:", { timeout: patience }, () => {
  const touching = { agent: 'touch "$MAILBOX/agent"; exit 1', gate: 'touch "$MAILBOX/gate"' };

  it("exit 3, the commands and their hash are shown, and no recommendation grants it", async () => {
    const repo = makeBuildRepo(vaguePhase);
    const mailbox = makeMailbox();
    for (const args of [[], ["--decide", "recommended"], ["--trust-sha256", "0".repeat(64)]]) {
      const ran = await startBuild(repo, args, { ...touching, env: { MAILBOX: mailbox } }).ended;
      expectNoCrash(ran);
      expect(ran.code, ran.all).toBe(3);
      expect(ran.err).toContain(`+ gate test: ${gateCommand}`);
      expect(ran.err).toContain('+ agent mine: eval "$TEST_AGENT"');
      expect(hashIn(ran)).toBeDefined();
      expect(ran.err).toContain(`or autodev trust ${plan} at a terminal\n`);
    }
    const told = await repo.autodev("trust", plan);
    expect(told).toMatchObject({ code: 3, err: "" });
    const [, typed = ""] = /→ read them; then: autodev (.*)\n$/.exec(told.out) ?? [];
    expect((await repo.autodev(...typed.split(" "))).code).toBe(0);
    await repo.autodev("trust", plan, "--revoke");
    expect(fs.readdirSync(mailbox)).toEqual([]);
    expect(repo.exists(".autobuild")).toBe(false);
    expect(repo.git("for-each-ref", "refs/autobuild")).toBe("");
    expect(await repo.decisions()).toEqual([]);
  });

  it("one byte of a command, or of the script that it names, asks again", async () => {
    const repo = makeBuildRepo(onePhase, {
      ".autodev/config.yaml": "gates: { test: sh tools/check.sh }\n",
      "tools/check.sh": 'touch "$MAILBOX/gate"\n',
    });
    const first = await trustHash(repo);
    const commit = (file: string, text: string): void => {
      repo.write(file, text);
      repo.git("commit", "--quiet", "--all", `--message=${file}`);
    };
    commit("tools/check.sh", 'touch  "$MAILBOX/gate"\n');
    const second = await trustHash(repo);
    commit(".autodev/config.yaml", "gates: { test: sh  tools/check.sh }\n");
    const third = await trustHash(repo);
    expect(new Set([first, second, third]).size).toBe(3);
    const mailbox = makeMailbox();
    const old = await startBuild(repo, ["--trust-sha256", second], { env: { MAILBOX: mailbox } })
      .ended;
    expect(old.code, old.all).toBe(3);
    expect(fs.readdirSync(mailbox)).toEqual([]);
    const right = await startBuild(repo, ["--trust-sha256", third], { env: { MAILBOX: mailbox } })
      .ended;
    expectComplete(right);
    expect(fs.readdirSync(mailbox)).toEqual(["gate"]);
  });

  it("what a verified phase changes about the gates stops neither the run nor the next", async () => {
    const script = (words: string): string =>
      `${JSON.stringify({ name: "x", scripts: { test: `sh check.sh ${words}` } })}\n`;
    const repo = makeBuildRepo(
      planOf([
        { id: "1", files: { "package.json": script("twice"), "check.sh": "exit 0\n# new\n" } },
        spelled("2", ["1"]),
      ]),
      {
        ".autodev/config.yaml": "build: { commit: auto }\n",
        "package.json": script("once"),
        "check.sh": "exit 0\n",
      },
    );
    const terminal = atTerminal(repo.root, ["build", plan, "--only", "1"]);
    await terminal.until(/A\/B\? $/);
    expect(terminal.shown()).toContain("gate test: npm run test");
    terminal.type("A");
    expect(await terminal.ended, terminal.shown()).toMatchObject({ code: 0 });
    expect(repo.read("package.json")).toBe(script("twice"));
    // Another session, nobody at a terminal.
    const next = await repo.autodev("build", plan);
    expectComplete(next);
    expect(phaseFile(repo, "2").status).toBe("complete");
    // What somebody else changes is another matter.
    repo.write("package.json", script("thrice"));
    repo.git("commit", "--quiet", "--all", "--message=theirs");
    const asked = await repo.autodev("build", plan, "--fresh");
    expect(asked.code, asked.all).toBe(3);
    expect(asked.err).toContain("thrice");
  });
});

// ── a dirty tree ───────────────────────────────────────────────────────────────────────────────

describe("a tree with changes that are not committed is asked about:", {
  timeout: patience,
}, () => {
  async function makeDirty(mode = "auto"): Promise<Repo> {
    const repo = makeBuildRepo();
    repo.write("README.md", "# Mine\n");
    repo.write("new.txt", "new\n");
    repo.write("staged.txt", "staged\n");
    repo.git("add", "staged.txt");
    const ran = await build(repo, [`--commit=${mode}`]);
    expectNoCrash(ran);
    expect(ran.code, ran.all).toBe(3);
    expect(ran.err).toContain("README.md");
    expect(subjects(repo)).toEqual(["plan", "first"]);
    expect(repo.exists("src")).toBe(false);
    return repo;
  }

  it("A: a snapshot of it is the base, and lies below the first phase", async () => {
    const repo = await makeDirty();
    await decide(repo, "A");
    expectComplete(await build(repo, [], { gate: "grep -q Mine README.md && test -e new.txt" }));
    expect(subjects(repo)).toHaveLength(4);
    expect(repo.git("show", "HEAD^:staged.txt")).toBe("staged\n");
    expect(repo.read("new.txt")).toBe("new\n");
    expectTidy(repo);
  });

  it("A, message-only: the changes stay what they are; nothing published counts as dirty later", async () => {
    const repo = makeBuildRepo(twoPhases);
    repo.write("README.md", "# Mine\n");
    expect((await build(repo, [messageOnly])).code).toBe(3);
    await decide(repo, "A");
    const gate = "grep -q Mine README.md && ! test -e src/2.txt";
    expect((await build(repo, [messageOnly], { gate })).code).toBe(4);
    expect(repo.read("src/1.txt")).toBe("part 1\n");
    expectComplete(await build(repo, [messageOnly]));
    expect(repo.read("README.md")).toBe("# Mine\n");
    await runScript(repo);
    expectTidy(repo, [" M README.md"]);
    expect(subjects(repo)).toHaveLength(4);
  });

  it("B: it is committed first", async () => {
    const repo = await makeDirty();
    await decide(repo, "B");
    expectComplete(await build(repo));
    expect(subjects(repo).slice(1)).toEqual([
      "chore: work in progress before the run",
      "plan",
      "first",
    ]);
    expect(repo.git("show", "HEAD^:new.txt")).toBe("new\n");
    expectTidy(repo);
  });

  it("C: it stops, and nothing has changed", async () => {
    const repo = await makeDirty(messageOnly.slice("--commit=".length));
    const before = repo.git("status", "--porcelain");
    await decide(repo, "C");
    const ran = await build(repo, [messageOnly]);
    expect(ran.code, ran.all).toBe(4);
    expect(ran.err).toContain("commit or stash");
    expect(repo.git("status", "--porcelain")).toBe(before);
    repo.git("stash", "--quiet", "--include-untracked");
    expectComplete(await build(repo, [messageOnly]));
  });

  it("a plan that is not committed is no reason to ask, and becomes part of the first commit", async () => {
    const repo = makeBuildRepo("# Nothing yet\n");
    repo.write(plan, onePhase);
    expectComplete(await build(repo));
    expect(repo.git("show", `HEAD:${plan}`)).toContain("[x] Make part 1");
    expectTidy(repo);
  });
});
