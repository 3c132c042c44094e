/**
 * When a flow has to do with a tracker: before a step that leaves items there, somebody has to be logged
 * in; when it is complete, they are created, before its commit. What could not be done then is tried
 * again at the next start.
 */
import type { Question } from "../decision.ts";
import type { Event } from "../event.ts";
import { deferredIn, nothingTracked, type Tracking } from "../tracker/ledger.ts";
import { toolsChanged, trackerRefused, whichTracker } from "../tracker/questions.ts";
import { chooseTracker, type FoundTracker, type TrackerSettings } from "../tracker/servers.ts";
import type { Uncommitted } from "./course.ts";
import { type Flow, stepIn } from "./flow.ts";
import { flowNamed } from "./flows/index.ts";
import type { FlowMove } from "./next-move.ts";
import type { FlowState } from "./state.ts";

/** Which there are, and what people have settled. */
export interface TrackerFacts {
  readonly found: readonly FoundTracker[];
  readonly settings: TrackerSettings;
}

export interface TrackerPlace {
  readonly state: FlowState;
  readonly tracking: Tracking | undefined;
  /** Absent: nobody has looked, and nothing is done. */
  readonly facts: TrackerFacts | undefined;
  /** The last event before this invocation. */
  readonly begun: number;
  readonly decided: (question: Question) => string | undefined;
}

export type Ready =
  | { readonly is: "not-yet"; readonly move: FlowMove }
  | { readonly is: "open"; readonly tracker: FoundTracker }
  | { readonly is: "local" };

const record = (...events: readonly Event[]): Ready => ({
  is: "not-yet",
  move: { is: "record", events },
});
const ask = (question: Question): Ready => ({ is: "not-yet", move: { is: "ask", question } });

/** Chosen, connected to and looked at in this invocation; or what has to happen first. */
export function trackerReady(at: TrackerPlace, facts: TrackerFacts): Ready {
  const { state, tracking = nothingTracked, decided } = at;
  const { server } = tracking;
  const choice = chooseTracker(facts.found, facts.settings, { tracker: state.tracker, server });
  switch (choice.is) {
    case "local":
      if (state.tracker === "local") return { is: "local" };
      return record({ type: "tracker-chosen", tracker: "local", why: choice.why });
    case "missing": {
      const { wanted } = choice;
      if (tracking.refused) return afterRefusal(at, wanted, undefined);
      const why = `no MCP server of that name or kind is configured`;
      const refused = { how: "unreachable" as const, why };
      return record({ type: "tracker-refused", tracker: wanted, server: wanted, ...refused });
    }
    case "ask": {
      const question = whichTracker(choice.among);
      const answer = decided(question);
      if (answer === undefined) return ask(question);
      const chosen = choice.among.slice(0, 3)["ABC".indexOf(answer)];
      return record(
        chosen
          ? chosenAs(chosen, "a person chose it")
          : { type: "tracker-chosen", tracker: "local", why: "a person said so" },
      );
    }
    case "chosen": {
      const { tracker, why } = choice;
      if (state.tracker !== tracker.kind || server !== tracker.name) {
        return record(chosenAs(tracker, why));
      }
      if (tracking.refused) return afterRefusal(at, tracker.name, tracker);
      if ((tracking.openedAt ?? 0) <= at.begun) {
        return { is: "not-yet", move: { is: "open-tracker", tracker } };
      }
      return { is: "open", tracker };
    }
  }
}

export const chosenAs = ({ kind, name }: FoundTracker, why: string): Event => ({
  type: "tracker-chosen",
  tracker: kind,
  server: name,
  why,
});

/** A) once more B) without it C) not now. */
function afterRefusal(
  { tracking, decided, begun }: TrackerPlace,
  server: string,
  tracker: FoundTracker | undefined,
): Ready {
  const refused = tracking?.refused;
  if (!refused) throw new Error("nothing was refused");
  const question = (refused.how === "tools" ? toolsChanged : trackerRefused)(server, refused);
  switch (decided(question)) {
    case undefined:
      return ask(question);
    case "A": {
      if (!tracker) {
        const { how, why } = { how: "unreachable" as const, why: refused.why };
        return record({ type: "tracker-refused", tracker: server, server, how, why });
      }
      const { tools } = refused;
      const accept = tools === undefined ? {} : { accept: tools };
      return { is: "not-yet", move: { is: "open-tracker", tracker, ...accept } };
    }
    case "B":
      // With its name: nobody who said so is asked again by what the settings say.
      return record({ type: "tracker-chosen", tracker: "local", server, why: "a person said so" });
    default:
      // Whoever starts again has looked.
      if (tracker && refused.at <= begun) {
        return { is: "not-yet", move: { is: "open-tracker", tracker } };
      }
      return record({ type: "step-aborted", reason: "the tracker is looked at first" });
  }
}

/** Before the commit of a step whose items are to be in the tracker; or what an earlier start left. */
export function trackingDue(
  at: TrackerPlace,
  uncommitted: Uncommitted | undefined,
  flows: readonly Flow[],
): FlowMove | undefined {
  const { facts, tracking = nothingTracked, begun } = at;
  if (!facts) return undefined;
  const { trackedAt = 0 } = tracking;
  const completed = uncommitted?.what === "complete" ? uncommitted : undefined;
  const step = completed && stepOf(completed, flows);
  if (completed && step?.tracker && trackedAt < completed.since) {
    const ready = trackerReady(at, facts);
    if (ready.is === "not-yet") return ready.move;
    return { is: "track", step: step.step, ...(ready.is === "open" && { tracker: ready.tracker }) };
  }
  const left = deferredIn(tracking).some(({ deferred }) => (deferred?.at ?? 0) <= begun);
  if (!left || trackedAt > begun || tracking.refused) return undefined;
  // A run knows its tasks by the names of their files.
  if (at.state.status === "in_progress" && stepOf(at.state, flows)?.runs) return undefined;
  const ready = trackerReady(at, facts);
  if (ready.is === "open") return { is: "track", step: at.state.step, tracker: ready.tracker };
  return ready.is === "not-yet" && ready.move.is === "open-tracker" ? ready.move : undefined;
}

/** Whether anything of all this could come up: looking for trackers costs a few files. */
export function concernsTracker(
  state: FlowState,
  tracking: Tracking | undefined,
  uncommitted: Uncommitted | undefined,
  flows: readonly Flow[],
): boolean {
  const present = stepOf(state, flows);
  const completed = uncommitted && stepOf(uncommitted, flows);
  return (
    present?.tracker !== undefined ||
    completed?.tracker !== undefined ||
    deferredIn(tracking ?? nothingTracked).length > 0
  );
}

function stepOf(
  { flow, step }: { readonly flow: string; readonly step: string },
  flows: readonly Flow[],
): ReturnType<typeof stepIn> {
  const found = flowNamed(flow, flows);
  return found && stepIn(found, step);
}
