/**
 * node decide.cjs plan.md: a whole run of a plan in which everything goes well at once, as the real
 * driver and the real fold have it, from the file to a line for each phase in the order in which they
 * begin. Bundled by itself, so that nothing else is loaded with it.
 */
import * as fs from "node:fs";
import type { RecordedEvent } from "../src/core/event.ts";
import { succeed } from "../src/core/failure.ts";
import type { Limits, Move } from "../src/core/plan/next-moves.ts";
import { evolveRun, type PlanRun, phaseOf } from "../src/core/plan/progress.ts";
import type { RunEvent } from "../src/core/plan/run-event.ts";
import { type Performed, runPlan } from "../src/core/plan/run-plan.ts";
import { readPlan } from "../src/formats/read-plan.ts";

async function decide(file: string): Promise<void> {
  const read = readPlan([{ file, text: fs.readFileSync(file, "utf8") }]);
  if (!read.ok) throw new Error(read.failure.message);
  const base = "base";
  const at = new Date(0).toISOString();
  const order: string[] = [];
  let seq = 0;
  let run: PlanRun | undefined;
  const record = (events: readonly RunEvent[]): PlanRun => {
    for (const event of events) {
      const recorded = { ...event, seq: ++seq, at, run: "r0000be9c44" } as RecordedEvent;
      if (recorded.type === "attempt-started") order.push(recorded.phase);
      run = evolveRun(run, recorded);
    }
    if (!run) throw new Error("there is no run");
    return run;
  };
  const phases = read.value.plan.phases.map(({ id, written, name, dependsOn }) => ({
    id,
    written,
    name,
    dependsOn: [...dependsOn],
    parallelWith: [],
    tasks: 1,
    asks: "",
  }));
  const begun = record([
    {
      type: "run-started",
      plan: file,
      format: "superplan",
      title: "Order",
      mode: "auto",
      target: "refs/heads/main",
      base,
      targetAt: base,
      agent: "nobody",
      maxAttempts: 3,
      stack: {
        language: null,
        framework: null,
        package_manager: null,
        test_framework: null,
        linter: null,
        formatter: null,
      },
      gates: [],
      phases,
      planFiles: {},
    },
  ]);
  const limits: Limits = { jobs: 2, now: at, review: false, wait: false, stopping: false };
  const outcome = await runPlan(begun, {
    limits: () => limits,
    perform: async (move, known): Promise<Performed> => ({
      is: "done",
      events: [eventOf(move, known)],
    }),
    record: async (events) => succeed(record(events)),
    callOff: () => {},
  });
  if (outcome.run.ended !== "complete") throw new Error(`it ended: ${outcome.run.ended}`);
  console.log(order.map((phase) => `true p${phase}`).join("\n"));
}

/** What came of a move that went well; a commit is called by its phase. */
function eventOf(move: Move, run: PlanRun): RunEvent {
  if (move.do === "baseline") return { type: "baseline-taken", commit: run.tip, gates: [] };
  if (!("phase" in move) || move.phase === undefined) throw new Error(`nobody does ${move.do}`);
  const { phase } = move;
  const commit = `commit of ${phase}`;
  switch (move.do) {
    case "begin": {
      const { attempt, slot } = move;
      return { type: "attempt-started", phase, attempt, slot, uuid: phase, base: run.tip };
    }
    case "work": {
      const claim = { status: "complete", tasksTotal: 1, tasksCompleted: 1, message: "x" } as const;
      return { type: "attempt-delivered", phase, attempt: 1, commit, claim };
    }
    case "verify":
    case "land": {
      const state = phaseOf(run, phase)?.state;
      if (move.do === "land" && state?.is === "verified" && state.check.onto === run.tip)
        return { type: "phase-landed", phase, attempt: 1, commit };
      const none = { created: [], modified: [], deleted: [], gates: [] };
      const told = { message: "x", tasksChecked: 1, doneChecked: 0, statusUpdated: true };
      return { type: "phase-verified", phase, attempt: 1, onto: run.tip, commit, ...none, ...told };
    }
    case "publish":
      return { type: "phase-published", phase, commit, kept: [] };
    default:
      throw new Error(`nobody does ${move.do}`);
  }
}

void decide(process.argv[2] ?? "");
