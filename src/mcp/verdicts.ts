/** What a model is told of how it went, and what to do next. */
import type { Event } from "../core/event.ts";
import { restWords } from "../core/flow/describe.ts";
import type { Rest } from "../core/flow/next-move.ts";
import type { FlowState } from "../core/flow/state.ts";
import type { LeaseName } from "../core/lease.ts";
import { type PlanRun, phaseOf } from "../core/plan/progress.ts";
import type { Built, Reported } from "../project.ts";
import { type Answer, failed, refusedWith, told } from "./answer.ts";

/** How the session ended that was reported. */
export interface Judged {
  session?: Extract<Event, { type: "skill-ended" }>;
}

/** How a run stands that has nothing for whoever asks. */
export function tellRun({ run, asking, said }: Built): Answer {
  const [question] = asking;
  if (question) return failed(question);
  const complete = run.phases.filter(({ state }) => ["landed", "skipped"].includes(state.is));
  const far = `${complete.length} of ${run.phases.length} phases of ${run.plan} complete`;
  switch (run.ended) {
    case "complete":
      return told(`${far}: there is nothing left to do.`, ...said);
    case "halted":
      return refusedWith(`${far}, and none can begin:`, ...failuresOf(run), ...said, retryHint);
    case "parked":
      return told(`${far}; nothing can begin before ${run.parkedUntil}:`, ...elsewhere(run));
    default:
      return told(`${far}; ${run.ended ?? "under way"}.`, ...said);
  }
}

const retryHint =
  'Ask the person what to do: `autodev retry <phase> --note "…"` at a terminal has one tried again.';

const failuresOf = (run: PlanRun): string[] =>
  run.phases.flatMap(({ id, state }) =>
    state.is === "failed" ? [`phase ${id}: ${state.error.type}: ${state.error.message}`] : [],
  );

const elsewhere = (run: PlanRun): string[] =>
  run.phases.flatMap(({ id, state }) =>
    state.is === "working" && state.lease
      ? [`phase ${id} is with ${state.lease.by} until ${state.lease.until}`]
      : [],
  );

export function tellReport(reported: Reported, name: LeaseName, judged: Judged): Answer {
  if (reported.of === "phase" && name.of === "phase") {
    const [question] = reported.built.asking;
    const answer = tellPhase(reported.built.run, name.phase, name.attempt);
    return question ? joined(answer, failed(question)) : answer;
  }
  if (reported.of !== "step") throw new Error("a report of something else");
  const { outcome, state } = reported;
  const { flow } = state;
  const { session } = judged;
  const asks = outcome.is === "asking" ? failed(outcome.failure) : undefined;
  if (outcome.is === "refused") return failed(outcome.failure);
  const here = `Now: ${flow?.flow}, step ${flow?.step} ${flow?.name} (${flow?.status.replaceAll("_", " ")}).`;
  if (!session) {
    const kept = refusedWith(
      "It is on record, and was not looked at yet.",
      here,
      "Call next to go on.",
    );
    return asks ? joined(kept, asks) : kept;
  }
  if (session.how === "asked")
    return asks ?? told("Your question is on record.", here, "Call next: it gives the question.");
  if (session.how !== "done") {
    const again = refusedWith(
      `Not accepted: ${session.reason ?? session.how}`,
      `${here} Retries: ${flow?.retryCount} of 3.`,
      "Call next: it gives the same step again, with what was wrong.",
    );
    return asks ? joined(again, asks) : again;
  }
  const done = told(
    "Accepted: what the step promises is there.",
    here,
    ...(outcome.is === "rested" && flow ? afterwards(outcome.rest, flow) : []),
  );
  return asks ? joined(done, asks) : done;
}

/** Where a session comes to its end, the one who works has to say so. */
export function afterwards(rest: Rest, flow: FlowState): string[] {
  const [, why] = restWords(rest, flow);
  switch (rest.is) {
    case "done":
      return ["That was the last step: the flow is done. Tell the person, and stop here."];
    case "boundary":
    case "round": {
      const next = rest.next ? `step ${rest.next.step} ${rest.next.name}` : "the next round";
      return [
        `The session ends here: ${why}.`,
        `Tell the person that ${next} comes next, best in a fresh conversation; calling next goes on there.`,
      ];
    }
    default:
      return ["Call next to go on."];
  }
}

const joined = (one: Answer, other: Answer): Answer => ({
  ...one,
  content: [...one.content, ...other.content],
});

export function tellPhase(run: PlanRun, id: string, attempt: number): Answer {
  const phase = phaseOf(run, id);
  const { written = id } = run.order.find((each) => each.id === id) ?? {};
  const landed = run.landed.find((each) => each.phase === id);
  const gates = (phase?.gates ?? []).map(
    ({ name, passed, summary }) =>
      `- ${name}: ${passed === null ? "skipped" : passed ? "passed" : "FAILED"}${summary ? `, ${summary}` : ""}`,
  );
  if (landed && phase?.state.is === "landed") {
    const left = run.phases.filter(({ state }) => !["landed", "skipped"].includes(state.is)).length;
    return told(
      `Verified: phase ${written} has landed as ${landed.commit.slice(0, 10)}.`,
      ...gates,
      left > 0
        ? `${left} of ${run.phases.length} phases are left: call next.`
        : "That was the last phase: call next once more.",
    );
  }
  if (!phase) {
    return refusedWith(
      `lease-lost: phase ${written} is not in ${run.plan} any more, and nothing of it is taken.`,
      "Your files stay in their folder until the run is over; then they are kept under a ref. Call next.",
    );
  }
  const error = phase.errors.findLast((each) => each.attempt === attempt);
  if (!error && phase.state.is === "pending") {
    return refusedWith(
      `Not taken: phase ${written} was given back, because the plan asks for something else now.`,
      `What you did is kept below refs/autobuild/${run.id}/interrupted/. Call next for the phase as it is now.`,
    );
  }
  if (!error) {
    return told(
      `Phase ${written} is on record as reported; it is not verified yet (${phase?.state.is ?? "gone"}).`,
      ...gates,
      "Call next: it goes on with that first.",
    );
  }
  const isOver = phase?.state.is === "failed";
  return refusedWith(
    `Not accepted: phase ${written} failed its verification: ${error.type}: ${error.message}`,
    error.details,
    ...gates,
    isOver
      ? `That was the last attempt it had. ${retryHint}`
      : "Call next: it gives the phase again, in a fresh checkout, with what was wrong.",
  );
}
