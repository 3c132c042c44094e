import type { RecordedEvent } from "../event.ts";
import { awaitingInvocation, type FlowState, flowStateAt, mostRetries } from "./state.ts";
import { oneLine } from "./state-file.ts";

/** A flow's own events; anything else leaves it as it is. */
export function evolveFlow(
  flow: FlowState | undefined,
  event: RecordedEvent,
): FlowState | undefined {
  if (event.type === "state-file-adopted") return event.state;
  if (event.type === "step-entered") {
    const { flow: name, step, cycle, skips = [] } = event;
    const base = flow ?? flowStateAt({ ...unset, flow: name, step, name: event.name, cycle });
    // Numbers of another flow, or of the cycle before, say nothing here.
    const isSame = base.flow === name && base.cycle === cycle;
    return {
      ...base,
      skipped: [...(isSame ? base.skipped : []), ...skips],
      flow: name,
      step,
      name: event.name,
      status: step === "done" ? "completed" : "not_started",
      subStep: awaitingInvocation,
      retryCount: 0,
      retryLog: [],
      cycle,
    };
  }
  if (!flow) return flow;
  switch (event.type) {
    case "step-started":
      return {
        ...flow,
        step: event.step,
        name: event.name,
        status: "in_progress",
        subStep: awaitingInvocation,
        retryCount: 0,
        cycle: event.cycle ?? flow.cycle,
      };
    case "sub-step-reported":
      return { ...flow, status: "in_progress", subStep: event.subStep };
    case "sub-step-skipped":
      return { ...flow, subStep: event.next };
    case "steps-excused":
      return { ...flow, skipped: [...new Set([...flow.skipped, ...event.steps])] };
    case "step-reopened":
      return reopened(flow, event);
    case "step-retried":
      return {
        ...flow,
        retryCount: Math.min(flow.retryCount + 1, mostRetries),
        retryLog: [
          ...flow.retryLog,
          {
            attempt: flow.retryLog.length + 1,
            step: flow.step,
            name: flow.name,
            subStep: `${flow.subStep.phase} ${flow.subStep.name}`,
            reason: event.reason,
            at: event.at,
          },
        ],
      };
    case "step-failed":
      return { ...flow, status: "failed", blockers: [...flow.blockers, oneLine(event.blocker)] };
    case "step-completed":
      return {
        ...flow,
        status: "completed",
        retryCount: 0,
        retryLog: [],
        completed: [
          ...flow.completed.filter((row) => row.step !== flow.step || row.name !== flow.name),
          {
            step: flow.step,
            name: flow.name,
            completed: event.at.slice(0, 10),
            outcome: event.outcome,
          },
        ],
      };
    case "step-skipped":
      return {
        ...flow,
        status: "skipped",
        retryCount: 0,
        retryLog: [],
        skipped: [...flow.skipped.filter((step) => step !== flow.step), flow.step],
      };
    case "status-set":
      return { ...flow, status: event.status };
    case "session-ended":
      return {
        ...flow,
        lastSession: {
          date: event.at.slice(0, 10),
          endedAt: `Step ${flow.step} ${flow.name} — SubStep ${flow.subStep.phase} ${flow.subStep.name}`,
          reason: event.reason,
          notes: event.notes,
        },
      };
    case "blocker-raised":
      return { ...flow, blockers: [...flow.blockers, oneLine(event.text)] };
    case "blocker-cleared":
      return { ...flow, blockers: flow.blockers.filter((text) => text !== oneLine(event.text)) };
    case "tracker-chosen":
      return { ...flow, tracker: event.tracker };
    default:
      return flow;
  }
}

/** Tried anew, it goes on where it was; done once more, it begins at the beginning. */
function reopened(
  flow: FlowState,
  { step, name, how }: Extract<RecordedEvent, { type: "step-reopened" }>,
): FlowState {
  return {
    ...flow,
    step,
    name,
    status: how === "retry" || how === "rollback" ? "in_progress" : "not_started",
    subStep: how === "retry" ? flow.subStep : awaitingInvocation,
    retryCount: 0,
    retryLog: [],
    skipped: flow.skipped.filter((each) => each !== step),
    completed: flow.completed.filter((row) => row.step !== step || row.name !== name),
  };
}

const unset = { status: "not_started", subStep: awaitingInvocation, retryCount: 0 };
