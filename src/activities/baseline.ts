/**
 * Before anybody works, the gates are run on what the run builds on: what fails there is nobody's
 * fault later, and what nobody checks is not called verified. Both are for people to decide.
 */
import type { Question } from "../core/decision.ts";
import type { Failure, Result } from "../core/failure.ts";
import { gatesOf, type PlanRun } from "../core/plan/progress.ts";
import type { GateOutcome, RunEvent } from "../core/plan/run-event.ts";
import type { Performed } from "../core/plan/run-plan.ts";
import { askOnce } from "./ask.ts";
import { goOnFrom, movedMeanwhile } from "./follow-target.ts";
import { withSetup } from "./introduced-gates.ts";
import { type GateRun, runGates } from "./run-gates.ts";
import { type RunSite, refused } from "./run-site.ts";

type Taken = Omit<Extract<RunEvent, { type: "baseline-taken" }>, "type">;

/** Long work that asks nobody: it can be done on another machine. */
export const baselineGates = (site: RunSite, run: PlanRun, slot = 0): Promise<Result<GateRun>> =>
  runGates(withSetup(site, run), run, { slot, commit: run.tip, gates: gatesOf(run) });

export async function takeBaseline(
  site: RunSite,
  run: PlanRun,
  gatesRun: typeof baselineGates = baselineGates,
): Promise<Performed> {
  const moved = await movedMeanwhile(site.git, run);
  if (moved !== undefined) {
    const gone = await goOnFrom(site, run, moved);
    return gone.ok ? { is: "done", events: [gone.value] } : asking(gone.failure);
  }
  const ran = await gatesRun(site, run);
  if (!ran.ok) return refused(ran);
  if (ran.value.stopped) return { is: "done", events: [] };
  const gates = [...ran.value.outcomes];
  const taken = { commit: run.tip, gates };
  if (gates.every(({ passed }) => passed === null)) return unverified(site, taken);
  const red = gates.filter(({ passed }) => passed === false);
  if (red.length === 0) return done(taken);
  return redGates(site, run, taken, red, ran.value.output);
}

const done = (taken: Taken): Performed => ({
  is: "done",
  events: [{ type: "baseline-taken", ...taken }],
});

/** Nothing checks the work: that may be right for a beginning, but it has to be said. */
async function unverified(site: RunSite, taken: Taken): Promise<Performed> {
  const chosen = await askOnce(site, {
    kind: "no-gates",
    subject: site.project.known ?? site.project.root,
    cycle: 1,
    cause: "no gate runs",
    question: "no gate runs here: nothing would check what the agents do",
    options: [
      { key: "A", text: "Go on; what is complete is shown as unverified everywhere" },
      {
        key: "B",
        text: "Stop, and name a gate first",
        notes: ["in .autodev/config.yaml: gates: { test: <command> }"],
      },
    ],
    recommendation: "A",
    reason: "a phase may bring the first gate, and nothing is called verified before",
    blocks: "the run",
  });
  if (!chosen.ok) return asking(chosen.failure);
  if (chosen.value === "A") return done({ ...taken, unverified: true });
  return stopped("no gate runs here", "name one in .autodev/config.yaml: gates: { test: … }");
}

/** One question a gate: each may have its own answer. */
async function redGates(
  site: RunSite,
  run: PlanRun,
  taken: Taken,
  red: readonly GateOutcome[],
  output: string,
): Promise<Performed> {
  const accepted: Record<string, string[]> = {};
  const dropped: string[] = [];
  for (const gate of red) {
    const chosen = await askOnce(site, questionOf(run, gate, output));
    if (!chosen.ok) return asking(chosen.failure);
    if (chosen.value === "B") dropped.push(gate.name);
    else if (chosen.value === "C") accepted[gate.name] = [...(gate.failures ?? [])];
    else {
      return stopped(
        `${gate.name} fails before anybody has worked: ${gate.summary}`,
        `mend it (${gate.command ?? ""}), commit, and run the same command again; --fresh asks again`,
      );
    }
  }
  const left = run.gates.filter(({ name, command }) => command !== null && !dropped.includes(name));
  return done({
    ...taken,
    ...(Object.keys(accepted).length > 0 && { accepted }),
    ...(dropped.length > 0 && { dropped }),
    ...(left.length === 0 && { unverified: true as const }),
  });
}

function questionOf(run: PlanRun, gate: GateOutcome, output: string): Question {
  const { name, command, summary, failures = [], tests } = gate;
  const some = failures.slice(0, 5);
  // Only what is named can be told apart from what a phase breaks.
  const named = tests !== undefined && failures.length > 0 && tests.failed === failures.length;
  return {
    kind: "red-baseline",
    subject: `${run.id} ${name}`,
    cycle: 1,
    // What people answer covers what they were shown, and nothing that fails later.
    cause: [run.tip, command ?? "", ...failures].join("\n"),
    question: `${name} fails before anybody has worked: \`${command ?? ""}\` ${summary}`,
    options: [
      { key: "A", text: "Stop; nothing is changed", notes: output.split("\n").slice(-5) },
      { key: "B", text: `Drop ${name} for this run; it is shown as skipped` },
      ...(named
        ? [
            {
              key: "C",
              text: `Accept ${failures.length === 1 ? "this failure" : `these ${failures.length} failures`}; a phase that adds another fails`,
              notes: [...some, ...(failures.length > some.length ? ["…"] : [])],
            },
          ]
        : []),
    ],
    recommendation: "A",
    reason: "what is built on a broken base cannot be told from what broke it",
    blocks: "the run",
  };
}

const asking = (failure: Failure): Performed =>
  failure.code === "decision-required" || failure.code === "untrusted"
    ? { is: "asking", failure }
    : { is: "refused", failure };

/** As people decided: nothing was begun, and nothing is wrong with the machine. */
const stopped = (message: string, hint: string): Performed => ({
  is: "asking",
  failure: { code: "run-halted", message, hint },
});
