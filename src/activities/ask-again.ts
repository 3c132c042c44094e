/** A phase that keeps killing whoever runs it is a person's to judge. */
import { mostInterruptions } from "../core/plan/next-moves.ts";
import { type PlanRun, phaseOf } from "../core/plan/progress.ts";
import type { Performed } from "../core/plan/run-plan.ts";
import { askOnce } from "./ask.ts";
import type { RunSite } from "./run-site.ts";

export async function askAgain(site: RunSite, phase: string, run: PlanRun): Promise<Performed> {
  const attempt = phaseOf(run, phase)?.attempts ?? 1;
  const chosen = await askOnce(site, {
    kind: "interrupted",
    subject: `${run.id} ${phase}`,
    cycle: 1,
    cause: `attempt ${attempt}`,
    question: `phase ${phase} was interrupted ${mostInterruptions} times in a row: autodev itself died each time`,
    options: [
      { key: "A", text: "Try again" },
      { key: "B", text: "Give the phase up; whatever does not wait for it goes on" },
    ],
    recommendation: "B",
    reason: "something about it seems to kill whoever runs it",
    blocks: `phase ${phase}`,
  });
  if (!chosen.ok) {
    const { failure } = chosen;
    return failure.code === "decision-required"
      ? { is: "asking", failure }
      : { is: "refused", failure };
  }
  if (chosen.value === "A") {
    return {
      is: "done",
      events: [{ type: "phase-reset", phase, reason: "tried again by decision" }],
    };
  }
  const message = `given up after ${mostInterruptions} interrupted attempts`;
  return {
    is: "done",
    events: [{ type: "attempt-failed", phase, attempt, error: { type: "interrupted", message } }],
  };
}
