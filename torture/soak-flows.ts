/**
 * A session in which somebody of the team goes on with the flow: what happened to its file, people's
 * answers and the moves before it are the program's own; skills are done by puppets, whose documents
 * lie where the real ones would.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { askOnce } from "../src/activities/ask.ts";
import { type Held, hold } from "../src/activities/hold.ts";
import { type Ask, openFlow } from "../src/activities/open-flow.ts";
import { survey } from "../src/activities/survey.ts";
import type { Event } from "../src/core/event.ts";
import { type Result, succeed } from "../src/core/failure.ts";
import { builtInFlows, flowNamed } from "../src/core/flow/flows/index.ts";
import { afterSkill, type SkillEnd } from "../src/core/flow/judge.ts";
import type { SkillWork } from "../src/core/flow/next-move.ts";
import { type Performable, runFlow } from "../src/core/flow/run-flow.ts";
import { noTaskFacts } from "../src/core/flow/tasks.ts";
import type { Random } from "./rig.ts";
import { nextMorning, type SoakWorld } from "./soak-world.ts";

export async function flowSession(
  world: SoakWorld,
  { random, ask, stopAfter }: { random: Random; ask: Ask; stopAfter?: number },
): Promise<void> {
  const { project } = world;
  const { flows = builtInFlows } = project;
  const opened = await hold(project, "autodev");
  if (!opened.ok) throw new Error(`a flow does not begin: ${opened.failure.message}`);
  const held = opened.value;
  const ready = await openFlow(project, held, { ask, by: "team" });
  if (ready.ok) {
    const begun = held.head.seq;
    const until = world.transitions + (stopAfter ?? Infinity);
    const isStuck = world.transitions + 2000;
    await runFlow({
      look: async () => {
        if (world.transitions > isStuck) throw new Error("a flow does not come to rest");
        const skill = { phases: [], lacks: [], there: [] };
        const seen = survey(project.root, flows);
        const facts = { flows, survey: seen, skill, tasks: noTaskFacts, ahead: [] };
        return succeed({ state: held.state, facts });
      },
      limits: () => ({
        begun,
        now: world.iso,
        throughBoundaries: false,
        commits: true,
        waits: false,
        stopping: world.transitions >= until,
      }),
      hash: project.world.hash,
      perform: (move) => perform(world, held, ask, move),
      async record(events) {
        world.pass(random, 1, 40);
        return held.record(...events);
      },
    });
  } else if (ready.failure.code !== "decision-required") {
    throw new Error(`a flow does not open: ${ready.failure.message}`);
  }
  const released = await held.release();
  if (!released.ok) throw new Error(released.failure.message);
}

async function perform(
  world: SoakWorld,
  held: Held,
  ask: Ask,
  move: Performable,
): Promise<Result<readonly Event[]>> {
  switch (move.is) {
    case "ask": {
      const answered = await askOnce(
        { project: world.project, held, ask, by: "team" },
        move.question,
      );
      return answered.ok ? succeed([]) : answered;
    }
    case "mark-skipped":
      return succeed([{ type: "step-skipped", reason: move.reason }]);
    case "commit": {
      const { step, since } = move.what;
      return succeed([{ type: "step-committed", step, commit: `c${since}` }]);
    }
    case "roll-back": {
      const { step, name } = move.step;
      return succeed([{ type: "step-reopened", step, name, how: "rollback" }]);
    }
    case "run-skill":
      return skill(world, held, move.work);
    default:
      throw new Error(`nobody in this world does ${move.is}`);
  }
}

async function skill(
  world: SoakWorld,
  held: Held,
  { step, skill: name, session }: SkillWork,
): Promise<Result<readonly Event[]>> {
  const begun = await held.record({
    type: "skill-started",
    session,
    step: step.step,
    skill: name,
    agent: "puppet",
  });
  if (!begun.ok) return begun;
  world.log({ is: "skill", session });
  const { flow } = held.state;
  const definition = flowNamed(flow?.flow ?? "");
  if (!flow || !definition) throw new Error("an agent is at work in no flow");
  const fate = world.fate("skill", session);
  world.pass(fate, 60, 2400);
  for (let phase = flow.subStep.phase + 1; fate.chance(0.6); phase++) {
    const subStep = { phase, name: `part-${phase}`, detail: "" };
    const told = await held.record({ type: "sub-step-reported", subStep });
    if (!told.ok) return told;
  }
  const cursed = world.fate("step", flow.cycle, step.step).chance(0.06);
  const end = endOf(fate, cursed, session, nextMorning(world.now));
  const { cycle } = flow;
  if (end.is === "done") leaveDocuments(world, step.step, cycle);
  return succeed(
    afterSkill(held.state, {
      flow: definition,
      step,
      session,
      end,
      unmet: [],
      strayed: [],
      survey: survey(world.project.root, builtInFlows),
      usualWait: new Date(nextMorning(world.now)).toISOString(),
    }),
  );
}

/** Most of them do it; on a step with a curse on it, hardly any. */
function endOf(fate: Random, cursed: boolean, session: number, morning: number): SkillEnd {
  const what = fate.fraction();
  if (what < (cursed ? 0.9 : 0.1)) return { is: "failed", reason: "it broke" };
  if (what < 0.92) return { is: "done", outcome: "done", reports: [] };
  if (what < 0.94) return { is: "context", reason: "too long" };
  if (what < 0.95) return { is: "unable", reason: "it is not logged in" };
  if (what < 0.97)
    return { is: "limited", reason: "too much", until: new Date(morning).toISOString() };
  return {
    is: "asked",
    asks: {
      question: `which one, in session ${session}?`,
      options: ["this", "that"],
      recommendation: "A",
      reason: "it is first",
    },
  };
}

// ── documents ──────────────────────────────────────────────────────────────────────────────────

/** What proves each step of a project that has code, as the specification tells it. */
const leaves: Readonly<Record<string, (cycle: number, date: string) => readonly string[]>> = {
  1: () => ["02_document/FINAL_report.md"],
  2: () => ["02_document/architecture_compliance_baseline.md"],
  3: () => ["02_document/tests/traceability-matrix.md"],
  4: () => ["04_refactoring/01-testability-refactoring/testability_assessment.md"],
  5: () => ["02_tasks/todo/02_test_infrastructure.md"],
  6: () => ["03_implementation/implementation_report_tests.md"],
  9: () => ["02_task_plans/feature.md", "02_tasks/todo/10_feature.md"],
  10: (cycle) => [`03_implementation/implementation_report_feature_cycle${cycle}.md`],
  13: (cycle) => [`02_document/ripple_log_cycle${cycle}.md`],
  17: (_, date) => [`06_metrics/retro_${date}.md`],
};

function leaveDocuments(world: SoakWorld, step: string, cycle: number): void {
  const docs = path.join(world.project.root, "_docs");
  for (const name of leaves[step]?.(cycle, world.iso.slice(0, 10)) ?? []) {
    const file = path.join(docs, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, "# A document\n\nThe code is testable as it is.\n");
  }
  if (step !== "6" && step !== "10") return;
  const [todo, finished] = ["todo", "done"].map((name) => path.join(docs, "02_tasks", name));
  if (todo === undefined || finished === undefined || !fs.existsSync(todo)) return;
  fs.mkdirSync(finished, { recursive: true });
  for (const name of fs.readdirSync(todo))
    fs.renameSync(path.join(todo, name), path.join(finished, name));
}
