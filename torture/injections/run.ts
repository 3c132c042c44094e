/**
 * A plan run without disk, git or processes, and with everything else: the plan is a document that
 * the real reader reads, the driver and the fold are the real ones, so are the brief, the adapters
 * of the agents (behind them play puppets), what follows from an agent's end, the reader of test
 * reports, the judgement of gates, the look into files and tests, the checks, the commit message,
 * the ticks in the plan, and the files that people read, which are read back when it goes on.
 *
 * What is compared is everything that was decided, in its order; words that nobody decides by are
 * left out of it (`decided`).
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { afterWork, claimOf } from "../../src/activities/attempt-phase.ts";
import { fileFacts } from "../../src/activities/gather-facts.ts";
import { keepingSecrets } from "../../src/activities/keep-secrets.ts";
import { gateOutcome } from "../../src/activities/run-gates.ts";
import type { RecordedEvent } from "../../src/core/event.ts";
import { trailersOf } from "../../src/core/evidence.ts";
import { type Result, succeed } from "../../src/core/failure.ts";
import { writeBrief } from "../../src/core/plan/brief.ts";
import { compareRunFiles } from "../../src/core/plan/compare-run-files.ts";
import type { CompiledPlan } from "../../src/core/plan/compile.ts";
import { applyEdits, type Edit, phaseNamed, planEdits } from "../../src/core/plan/edits.ts";
import type { Move } from "../../src/core/plan/next-moves.ts";
import { commitMessage } from "../../src/core/plan/phase-commit.ts";
import { renderPhaseFile } from "../../src/core/plan/phase-file.ts";
import { blockers, evolveRun, type PlanRun, phaseOf } from "../../src/core/plan/progress.ts";
import { type AgentResult, resultSchema } from "../../src/core/plan/result.ts";
import type { GateOutcome, RunEvent } from "../../src/core/plan/run-event.ts";
import { planChanges, runPhases } from "../../src/core/plan/run-phases.ts";
import { type Performed, runPlan } from "../../src/core/plan/run-plan.ts";
import { createReportReader } from "../../src/core/runners/read-report.ts";
import { errorFrom, verify } from "../../src/core/verification.ts";
import type { Ended } from "../../src/exec.ts";
import { readPlan } from "../../src/formats/read-plan.ts";
import { type Act, type PuppetEnd, type PuppetName, puppet } from "./puppets.ts";

/** Somebody's words, for every place where they can stand. */
export interface RunWords {
  readonly planTitle: string;
  readonly planProse: string;
  readonly phaseTitle: string;
  readonly task: string;
  readonly done: string;
  readonly planCode: string;
  readonly document: string;
  readonly code: string;
  readonly testName: string;
  readonly gateOutput: string;
  readonly agentWords: Readonly<Record<PuppetName, string>>;
  readonly stderr: string;
  readonly result: string;
  /** In commits of people, before the run. */
  readonly history: string;
}

export interface Played {
  /** All that was decided, a line each. */
  readonly log: readonly string[];
  /** All that was read, told and kept, as it was. */
  readonly seen: string;
}

/** What each phase's attempts do, in their order. */
const script: Readonly<Record<string, readonly (readonly [PuppetName, PuppetEnd | "red"])[]>> = {
  "1": [["claude", "done"]],
  "2": [
    ["codex", "red"],
    ["codex", "done"],
  ],
  "3": [
    ["gemini", "limited"],
    ["gemini", "done"],
  ],
  "4": [
    ["script", "says-failed"],
    ["script", "limited"],
    ["script", "done"],
  ],
  "5": [
    ["claude", "says-failed"],
    ["codex", "limited"],
    ["claude", "red"],
  ],
  "6": [["script", "done"]],
  "7": [
    ["claude", "limited"],
    ["codex", "says-failed"],
    ["gemini", "says-failed"],
  ],
};
const needs: Readonly<Record<string, string>> = { "2": "1", "4": "2", "6": "5", "7": "3" };
const ids = Object.keys(script);

const planFile = "docs/plan.md";
const runId = "r0123456789";
const gates = [
  { name: "test", command: "npm test" },
  { name: "lint", command: "npm run lint" },
];

export async function playRun(words: RunWords, scratch: string): Promise<Played> {
  const run = new RunPlay(words, scratch);
  await run.play();
  return { log: run.log, seen: run.seen.join("\n") };
}

class RunPlay {
  readonly log: string[] = [];
  readonly seen: string[] = [];
  private readonly words: RunWords;
  private readonly scratch: string;
  private now = Date.UTC(2026, 0, 1);
  private seq = 0;
  private run: PlanRun | undefined;
  private text: string;
  private plan: CompiledPlan;
  /** What each commit holds. */
  private readonly trees = new Map<string, ReadonlyMap<string, string>>();
  private readonly turns = new Map<string, number>();
  private ticks: Edit[] = [];

  constructor(words: RunWords, scratch: string) {
    this.words = words;
    this.scratch = scratch;
    this.text = planText(words);
    this.plan = this.read();
    this.trees.set("c0", baseTree(words));
  }

  async play(): Promise<void> {
    this.decided("plan", shapeOf(this.plan));
    const before = `feat: before\n\n${this.words.history}\n\nWhat people did.`;
    this.seen.push(before);
    this.decided("history", trailersOf(before));
    // A plan with errors is not run.
    if (this.plan.errors.length > 0) return;
    this.record([this.started()]);
    for (let session = 1; session < mostSessions; session++) {
      const how = await this.session();
      this.decided("session", how);
      if (how !== "parked") break;
      this.goOn();
    }
    this.readTicked();
  }

  private read(): CompiledPlan {
    const read = readPlan([{ file: planFile, text: this.text }]);
    if (!read.ok) throw new Error(`the plan cannot be read: ${read.failure.message}`);
    this.seen.push(this.text);
    return read.value;
  }

  private started(): RunEvent {
    return {
      type: "run-started",
      plan: planFile,
      format: this.plan.plan.format,
      title: oneLine(this.words.planTitle),
      mode: "auto",
      target: "refs/heads/main",
      targetAt: "c0",
      base: "c0",
      agent: "claude",
      maxAttempts: 2,
      stack: {
        language: null,
        framework: null,
        package_manager: null,
        test_framework: null,
        linter: null,
        formatter: null,
      },
      gates,
      phases: runPhases(this.plan, (text) => text),
      planFiles: { [planFile]: "b0" },
    };
  }

  private async session(): Promise<string> {
    const { run } = this;
    if (!run) throw new Error("there is no run");
    const outcome = await runPlan(run, {
      limits: () => ({ jobs: 1, now: this.iso(), review: false, wait: false, stopping: false }),
      perform: (move, at) => this.perform(move, at),
      record: async (events) => this.record(events),
      callOff: () => {},
    });
    if (outcome.refused) throw new Error(outcome.refused.message);
    return outcome.run.ended ?? "asking";
  }

  /** Hours later, by somebody who finds the files and the plan as they were left. */
  private goOn(): void {
    const { run } = this;
    if (!run) return;
    const rendered = new Map(
      run.phases.map(({ id }) => [id, renderPhaseFile(run, id, blockers(run))] as const),
    );
    this.seen.push(...rendered.values());
    const found = compareRunFiles({
      phases: run.order,
      texts: rendered,
      fileOf: (id) => `phase-${id}.json`,
      // As after a crash: nobody knows that these are ours, and so they are read.
      rendered: () => undefined,
      wasRendered: () => false,
    });
    this.decided(
      "files",
      found.ok ? found.value.edited.map(({ id, says }) => [id, says.status]) : found.failure.code,
    );
    this.plan = this.read();
    this.decided(
      "reread",
      planChanges(
        run,
        runPhases(this.plan, (text) => text),
      ).length,
    );
    this.now += 6 * 3600_000;
    this.record([{ type: "run-resumed" }]);
  }

  private record(events: readonly RunEvent[]): Result<PlanRun> {
    if (this.seq > mostEvents) throw new Error("it does not come to an end");
    for (const event of events) {
      this.now += 1000;
      const recorded = { ...event, seq: ++this.seq, at: this.iso(), run: runId } as RecordedEvent;
      this.run = evolveRun(this.run, recorded);
      this.seen.push(JSON.stringify(event));
      this.decided(event.type, maskedEvent(event));
    }
    if (!this.run) throw new Error("the run has not begun");
    return succeed(this.run);
  }

  private decided(what: string, how: unknown): void {
    this.log.push(`${what} ${JSON.stringify(how)}`);
  }

  private iso(): string {
    return new Date(this.now).toISOString();
  }

  // ── moves ────────────────────────────────────────────────────────────────────────────────────

  private async perform(move: Move, run: PlanRun): Promise<Performed> {
    switch (move.do) {
      case "baseline": {
        const outcomes = this.gatesOn(run.tip, false, "");
        return done({ type: "baseline-taken", commit: run.tip, gates: outcomes });
      }
      case "begin": {
        const { phase, attempt, slot } = move;
        const [agent] = this.turn(phase);
        const uuid = `${phase}-${attempt}`;
        return done({
          type: "attempt-started",
          phase,
          attempt,
          slot,
          uuid,
          base: run.tip,
          agent,
        });
      }
      case "work":
        return this.work(move.phase, run);
      case "verify":
        return this.verify(move.phase, run);
      case "land": {
        const state = phaseOf(run, move.phase)?.state;
        if (state?.is !== "verified") throw new Error(`phase ${move.phase} is not verified`);
        const { attempt, check } = state;
        this.tick(move.phase);
        return done({ type: "phase-landed", phase: move.phase, attempt, commit: check.commit });
      }
      case "publish": {
        const { commit = null } = run.landed[run.published] ?? {};
        return done({ type: "phase-published", phase: move.phase, commit, kept: [] });
      }
      default:
        throw new Error(`nobody has given a reason to ${move.do}`);
    }
  }

  private turn(phase: string): readonly [PuppetName, PuppetEnd | "red"] {
    const turns = script[phase] ?? [["script", "done"] as const];
    const at = Math.min(this.turns.get(phase) ?? 0, turns.length - 1);
    return turns[at] as (typeof turns)[number];
  }

  private async work(phase: string, run: PlanRun): Promise<Performed> {
    const state = phaseOf(run, phase);
    const planned = phaseNamed(this.plan.plan, phase);
    if (state?.state.is !== "working" || !planned) throw new Error(`phase ${phase} is not begun`);
    const { attempt } = state.state;
    const [name, end] = this.turn(phase);
    this.turns.set(phase, (this.turns.get(phase) ?? 0) + 1);
    const brief = writeBrief({
      phase: planned,
      attempt,
      gates,
      mayTouch: planned.files.map((file) => file.path),
      siblings: [],
      errors: state.errors.slice(-3),
      notes: state.notes ?? [],
      planFile,
      resultSchema: resultSchema(),
    });
    this.seen.push(brief.text);
    const act: Act = {
      name,
      end: end === "red" ? "done" : end,
      result: this.resultOf(phase, end, planned.tasks.length),
      words: this.words.agentWords[name],
      stderr: this.words.stderr,
      reason: this.words.result,
    };
    const session: string[] = [];
    let tokens = 0;
    const signal = new AbortController().signal;
    const outcome = await keepingSecrets(puppet(act, this.iso())).run(brief, {
      cwd: this.scratch,
      scratch: path.join(this.scratch, "attempt"),
      env: {},
      timeoutMs: 60_000,
      signal,
      killNow: signal,
      marker: runId,
      emit: (event) => {
        this.seen.push(JSON.stringify(event));
        if (event.type === "session") session.push(event.id);
        if (event.type === "usage") tokens += event.tokens;
      },
    });
    // Both are on record, in a real run: what an agent's words cannot do is open one or spend.
    this.decided("heard", [session, tokens, outcome.is]);
    const follows = afterWork(
      { phase, attempt, agent: name, outcome },
      { now: this.now, parks: state.parks ?? 0, takenUp: true },
    );
    if (follows.is === "over") return done(follows.event);
    const commit = `c${phase}-${attempt}`;
    this.trees.set(commit, this.leftBy(phase, run.tip, end === "red"));
    return done({
      type: "attempt-delivered",
      phase,
      attempt,
      commit,
      claim: claimOf(follows.result),
      ...(follows.model !== undefined && { model: follows.model }),
    });
  }

  private resultOf(phase: string, end: PuppetEnd | "red", tasks: number): AgentResult {
    const isFailed = end === "says-failed";
    return {
      phase_id: phase,
      status: isFailed ? "failed" : "complete",
      tasks: { total: tasks, completed: isFailed ? 0 : tasks },
      gates: { test: true },
      commit_message: `feat: part ${phase}\n\n${this.words.result}`,
      files: { created: isFailed ? [] : [`src/p${phase}.js`], modified: [], deleted: [] },
      plan_updated: false,
      error: isFailed
        ? { type: "task_incomplete", message: this.words.result, details: this.words.result }
        : null,
    };
  }

  private leftBy(phase: string, onto: string, isRed: boolean): ReadonlyMap<string, string> {
    const tree = new Map(this.trees.get(onto));
    tree.set(`src/p${phase}.js`, sourceText(phase, this.words.code, isRed));
    tree.set(`test/p${phase}.test.js`, testText(phase, this.words.testName));
    tree.set("README.md", `# Shop\n\n${this.words.document}\n\nPhase ${phase} is in it.\n`);
    return tree;
  }

  private async verify(phase: string, run: PlanRun): Promise<Performed> {
    const state = phaseOf(run, phase)?.state;
    const planned = phaseNamed(this.plan.plan, phase);
    const asked = run.order.find(({ id }) => id === phase);
    if (state?.is !== "delivered" || !planned || !asked) throw new Error(`nothing is delivered`);
    const { attempt, claim, commit, uuid } = state;
    const [before, after] = [this.trees.get(run.tip) ?? new Map(), this.trees.get(commit)];
    const changes = changesBetween(before, after ?? new Map());
    const files = await fileFacts(changes.list, changes.texts);
    this.seen.push(...changes.texts.values());
    const isRed = /broken/.test(after?.get(`src/p${phase}.js`) ?? "");
    const outcomes = this.gatesOn(commit, isRed, phase);
    const findings = verify({
      ...files,
      phase: planned,
      claim,
      traces: {},
      there: new Set(after?.keys()),
      others: new Map(),
      surface: [],
      toolsChanged: [],
      hooksChanged: [],
      gates: outcomes,
      countsBefore: run.counts,
    });
    const told = findings.map(({ code, level, message }) => ({ code, level, message }));
    const error = errorFrom(findings, "");
    if (error)
      return done({
        type: "attempt-failed",
        phase,
        attempt,
        error: { ...error },
        gates: outcomes,
        findings: told,
        claim,
      });
    const message = commitMessage(claim.message, asked, {
      run: runId,
      attempt: uuid,
      evidence: "e".repeat(40),
    });
    this.decided("trailers", trailersOf(message));
    const paths = (is: "created" | "modified"): string[] =>
      files.changes.filter(({ change }) => change === is).map((each) => each.path);
    return done({
      type: "phase-verified",
      phase,
      attempt,
      onto: run.tip,
      commit,
      message,
      created: paths("created"),
      modified: paths("modified"),
      deleted: [],
      gates: outcomes,
      findings: told,
      tasksChecked: planned.tasks.length,
      doneChecked: planned.definitionOfDone.length,
      statusUpdated: true,
    });
  }

  /** The words of a runner, with the names of tests in them, and words around them. */
  private gatesOn(commit: string, isRed: boolean, phase: string): GateOutcome[] {
    const tests = [...(this.trees.get(commit)?.keys() ?? [])].filter((file) =>
      file.startsWith("test/"),
    );
    const points = tests.flatMap((file) => [
      `# Subtest: ${oneLine(`${this.words.testName} ${file}`)}`,
      `${isRed && file.includes(`p${phase}.`) ? "not ok" : "ok"} ${tests.indexOf(file) + 1} - ${tapName(`${this.words.testName} ${file}`)}`,
    ]);
    const failed = isRed ? 1 : 0;
    const counts = [
      `1..${tests.length}`,
      `# tests ${tests.length}`,
      `# pass ${tests.length - failed}`,
      `# fail ${failed}`,
      "# skipped 0",
    ];
    const printed = {
      test: ["TAP version 13", ...points, ...counts],
      lint: this.words.gateOutput.split("\n"),
    };
    return gates.map(({ name, command }) => {
      const lines = printed[name === "test" ? "test" : "lint"];
      const reader = createReportReader("/srv/tree");
      for (const line of lines) reader.line(line);
      this.seen.push(...lines);
      const ended: Ended = {
        code: name === "test" && isRed ? 1 : 0,
        signal: null,
        timedOut: false,
        aborted: false,
        tail: lines,
        lines: lines.length,
        bytes: 0,
      };
      return gateOutcome({ name, command }, ended, reader.report(), [], false);
    });
  }

  /** In the plan as it was read; what is ticked is read again by whoever goes on. */
  private tick(phase: string): void {
    const edits = planEdits(
      this.plan.plan,
      [{ phase, boxes: "tick", status: "complete" }],
      ({ from, to }) => this.text.slice(from, to),
    );
    if (!edits.ok) throw new Error(edits.failure.message);
    this.decided("ticks", [phase, edits.value.length]);
    this.ticks.push(...edits.value);
  }

  private readTicked(): void {
    this.text = applyEdits(this.text, this.ticks);
    this.ticks = [];
    this.plan = this.read();
    this.decided("plan", shapeOf(this.plan));
  }
}

const mostSessions = 12;
const mostEvents = 400;

const done = (...events: RunEvent[]): Performed => ({ is: "done", events });

// ── documents ──────────────────────────────────────────────────────────────────────────────────

/** Where a line break would begin something else. */
export const oneLine = (text: string): string => text.replace(/[\r\n\u2028\u2029]+/g, " ");

/** TAP has a mark for what follows a name; whoever prints names escapes it. */
const tapName = (name: string): string => oneLine(name).replace(/([\\#])/g, "\\$1");

function planText(words: RunWords): string {
  const cell = (text: string): string => oneLine(text).replaceAll("|", "\\|");
  const title = (id: string): string => `Part ${id}, ${oneLine(words.phaseTitle)}, as it is called`;
  return [
    `# Shop, ${oneLine(words.planTitle)}, and more`,
    "",
    `What people say: ${oneLine(words.planProse)} That is all.`,
    "",
    "| Phase | Name | Depends On | Parallel With | Estimate | Status |",
    "|---|---|---|---|---|---|",
    ...ids.map((id) => `| ${id} | ${cell(title(id))} | ${needs[id] ?? "-"} | - | 2 | ⬜ |`),
    "",
    ...ids.flatMap((id) => [
      `### Phase ${id}: ${title(id)}`,
      "",
      `It is said of it: ${oneLine(words.planProse)} That is all.`,
      "",
      "#### Tasks",
      "",
      `- [ ] Write the part, ${oneLine(words.task)}, and no more`,
      "- [ ] Test it",
      "",
      ...[`src/p${id}.js`, `test/p${id}.test.js`].flatMap((file) => [
        `##### File: \`${file}\` (CREATE)`,
        "",
        "``````js",
        words.planCode,
        "``````",
        "",
      ]),
      "##### File: `README.md` (MODIFY)",
      "",
      "What it is.",
      "",
      "#### Definition of Done",
      "",
      `- [ ] It works, ${oneLine(words.done)}, and is tested`,
      "",
    ]),
  ].join("\n");
}

/** What core goes by; that something in it looks dangerous is told to people, and nothing more. */
const shapeOf = ({ plan, batches, errors, warnings }: CompiledPlan): unknown => ({
  format: plan.format,
  phases: plan.phases.map(
    ({ id, dependsOn, status, tasks, definitionOfDone, files, estimate }) => ({
      id,
      dependsOn,
      status,
      estimate,
      tasks: tasks.map(({ done: isDone, optional }) => [isDone, optional]),
      done: definitionOfDone.map(({ done: isDone, optional }) => [isDone, optional]),
      files: files.map(({ path: file, change }) => [file, change]),
    }),
  ),
  batches,
  errors: errors.map(({ code }) => code),
  warnings: warnings.map(({ code }) => code).filter((code) => !aboutWords.has(code)),
});

/** Warnings that say what a text looks like to people; nothing follows from them. */
const aboutWords = new Set(["destructive", "placeholder"]);

const sourceText = (phase: string, words: string, isRed: boolean): string =>
  [
    ...words.split(/\r\n|[\r\n\u2028\u2029]/).map((line) => `// ${line}`),
    `export const part${phase} = ${isRed ? '"broken"' : phase};`,
    "",
  ].join("\n");

const testText = (phase: string, words: string): string =>
  [
    'import assert from "node:assert";',
    'import { test } from "node:test";',
    `import { part${phase} } from "../src/p${phase}.js";`,
    "",
    `test(${JSON.stringify(`${words} p${phase}`)}, () => {`,
    `  assert.equal(part${phase}, ${phase});`,
    "});",
    "",
  ].join("\n");

const baseTree = (words: RunWords): Map<string, string> =>
  new Map([
    ["README.md", `# Shop\n\n${words.document}\n`],
    ["package.json", '{ "name": "shop" }\n'],
    ["test/p0.test.js", testText("0", words.testName)],
  ]);

function changesBetween(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): {
  readonly list: Parameters<typeof fileFacts>[0];
  readonly texts: Map<string, string>;
} {
  const texts = new Map<string, string>();
  const entry = (text: string | undefined): { mode: string; blob: string } | null => {
    if (text === undefined) return null;
    const blob = `b${texts.size}`;
    texts.set(blob, text);
    return { mode: "100644", blob };
  };
  const list = [...after]
    .filter(([file, text]) => before.get(file) !== text)
    .map(([file, text]) => ({ path: file, old: entry(before.get(file)), now: entry(text) }));
  return { list, texts };
}

// ── what was decided ───────────────────────────────────────────────────────────────────────────

/** Words for people: nothing follows from them. Everything else of an event is compared. */
const free: ReadonlySet<string> = new Set([
  "message",
  "details",
  "reason",
  "summary",
  "failures",
  "title",
  "asks",
  "hint",
]);

const maskedEvent = (event: RunEvent): unknown =>
  JSON.parse(
    JSON.stringify(event, function (this: unknown, key, value: unknown) {
      if (free.has(key)) return typeof value === "string" ? "…" : ["…"];
      // A gate's name is structure, a phase's is a title.
      const isTitle = key === "name" && typeof this === "object" && this !== null && "asks" in this;
      return isTitle ? "…" : value;
    }),
  );

/** Emptied before each run: nothing of one reaches another. */
export const emptied = (folder: string): string => {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  return folder;
};
