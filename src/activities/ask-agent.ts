/** What only people can put right about an agent: a login, an installation, what it may use up. */
import { decisionId, type Question } from "../core/decision.ts";
import { fail } from "../core/failure.ts";
import type { Move } from "../core/plan/next-moves.ts";
import { type PlanRun, phaseOf } from "../core/plan/progress.ts";
import type { RunEvent } from "../core/plan/run-event.ts";
import type { Performed } from "../core/plan/run-plan.ts";
import { askOnce } from "./ask.ts";
import type { Held } from "./hold.ts";
import type { RunSite } from "./run-site.ts";

export async function askAboutAgent(
  site: RunSite,
  phase: string,
  run: PlanRun,
): Promise<Performed> {
  const { state, attempts = 1 } = phaseOf(run, phase) ?? {};
  const unable = state?.is === "pending" ? state.unable : undefined;
  if (!unable) throw new Error(`nothing keeps phase ${phase} from its agent`);
  const { agent, message, hint, kind } = unable;
  return decided(
    await askOnce(site, {
      ...occasionOf(run, phase),
      question: `${agent} cannot work on phase ${phase}: ${message}`,
      options: [
        { key: "A", text: `Try again (${hint})` },
        { key: "B", text: "Give the phase up; whatever does not wait for it goes on" },
      ],
      recommendation: "A",
      reason: "nothing is lost: it begins where it was",
      // To try again without anybody having logged in is to try for ever.
      destructive: true,
      blocks: `phase ${phase}`,
    }),
    {
      A: { type: "phase-released", phase, reason: `${agent} is to try again` },
      B: {
        type: "attempt-failed",
        phase,
        attempt: attempts,
        error: { type: "interrupted", kind, message: `given up: ${message}` },
      },
    },
  );
}

const occasionOf = (
  run: PlanRun,
  phase: string,
): Pick<Question, "kind" | "subject" | "cycle" | "cause"> => ({
  kind: "agent-unable",
  subject: `${run.id} ${phase}`,
  cycle: 1,
  cause: `attempt ${phaseOf(run, phase)?.attempts ?? 1}`,
});

/** Whoever comes back without an answer means "try again": they may have logged in meanwhile. */
export function releasedByReturn(
  { decisions }: Held["state"],
  run: PlanRun,
  hash: (text: string) => string,
): { readonly events: RunEvent[]; readonly withdrawn: readonly string[] } {
  const waiting = run.phases
    .filter(({ state }) => state.is === "pending" && state.unable !== undefined)
    .map(({ id }) => ({ phase: id, decision: decisionId(occasionOf(run, id), hash) }))
    .filter(({ decision }) => decisions[decision]?.answer === undefined);
  return {
    events: waiting.map(({ phase }) => ({
      type: "phase-released",
      phase,
      reason: "somebody has come back",
    })),
    withdrawn: waiting.map(({ decision }) => decision).filter((id) => decisions[id] !== undefined),
  };
}

export async function askAboutBudget(
  site: RunSite,
  { phase, over }: Extract<Move, { do: "ask-budget" }>,
  run: PlanRun,
): Promise<Performed> {
  const progress = phase === undefined ? undefined : phaseOf(run, phase);
  const raised = (phase === undefined ? run.raised : progress?.raised) ?? 0;
  const who = phase === undefined ? "the run" : `phase ${phase}`;
  const answer = await askOnce(site, {
    kind: "budget",
    subject: `${run.id} ${phase ?? ""}`,
    cycle: raised + 1,
    // Given up and taken up again by somebody, it is asked anew.
    cause: progress ? `budget, ${progress.errors.length} failures before` : "budget",
    question: `${who} has used up what it may: ${over}`,
    options: [
      { key: "A", text: "Let it use as much again" },
      {
        key: "B",
        text: phase === undefined ? "Stop here" : "Give the phase up; the others go on",
      },
    ],
    recommendation: "B",
    reason: "look at what it does first: autodev log, autodev diff",
    blocks: who,
  });
  if (phase !== undefined) {
    return decided(answer, {
      A: { type: "budget-raised", phase },
      B: {
        type: "attempt-failed",
        phase,
        attempt: progress?.attempts ?? 1,
        error: { type: "interrupted", kind: "budget", message: `given up: ${over}` },
      },
    });
  }
  if (answer.ok && answer.value === "B") {
    const { failure } = fail("run-halted", `the run has used up what it may: ${over}`, {
      hint: "raise budget.run in .autodev/config.yaml, then run the same command again",
    });
    return { is: "asking", failure };
  }
  return decided(answer, { A: { type: "run-budget-raised" }, B: { type: "run-budget-raised" } });
}

function decided(
  answer: Awaited<ReturnType<typeof askOnce>>,
  brings: { readonly A: RunEvent; readonly B: RunEvent },
): Performed {
  if (answer.ok) return { is: "done", events: [answer.value === "A" ? brings.A : brings.B] };
  const { failure } = answer;
  return failure.code === "decision-required"
    ? { is: "asking", failure }
    : { is: "refused", failure };
}
