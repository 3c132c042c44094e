/**
 * The state says where we are, the folders say what is there. Where they disagree the folders are
 * right, with four exceptions: what a person has done is never undone by a file; what was opened
 * again is not closed by what lies there from before; what lies before the part of the flow that a
 * project is in is history; and nothing is missing that a later step has used up.
 */
import { type Course, numberOf } from "./course.ts";
import {
  afterStep,
  datedIn,
  type Flow,
  holds,
  type Step,
  type Survey,
  stretchOf,
  type Time,
} from "./flow.ts";
import { isOwed } from "./locate.ts";
import { awaitingInvocation, type FlowState, type SubStep } from "./state.ts";

export type Check =
  | { readonly is: "agrees" }
  /** The flow is there in truth. */
  | { readonly is: "elsewhere"; readonly to: Onward; readonly line: string }
  /** The skill's own file knows better how far it has come. */
  | { readonly is: "further"; readonly subStep: SubStep; readonly line: string }
  /** Several places fit; only a person knows. `owed`: whose artifacts are not there. */
  | {
      readonly is: "doubtful";
      readonly places: readonly Step[];
      /** The last of them, where it is behind a step that is proven. */
      readonly onward?: Onward;
      readonly owed: readonly Step[];
      readonly line: string;
    };

export interface Onward {
  /** Undefined: the flow's end. */
  readonly step: Step | undefined;
  readonly cycle: number;
  /** Of a new cycle: what has a date in its name already. */
  readonly seen?: readonly string[];
}

export const timeOf = ({ cycle }: FlowState, course: Course | undefined): Time => ({
  cycle,
  ...(course?.since !== undefined && { since: course.since }),
  ...(course?.seen && { seen: course.seen }),
  ...(course && { reported: Object.values(course.reports).flat() }),
});

const agrees: Check = { is: "agrees" };

export function crossCheck(
  flow: Flow,
  state: FlowState,
  course: Course | undefined,
  survey: Survey,
): Check {
  const stretch = stretchOf(flow, state.step);
  const from = stretch.findIndex(({ step }) => step === course?.entry);
  const steps = stretch.slice(Math.max(from, 0));
  const at = steps.findIndex(({ step }) => step === state.step);
  const here = steps[at];
  if (!here) return agrees;
  const time = timeOf(state, course);
  const isMet = ({ done, leaves, step }: Step, past: boolean): boolean => {
    const probe = past ? (leaves ?? done) : done;
    return state.skipped.includes(step) || (probe !== undefined && holds(probe, survey, time));
  };
  const proves = (step: Step, index: number): boolean => {
    if (step.done === undefined || !holds(step.done, survey, time)) return false;
    return index > at || isProvenHere(step, state, course, survey, time);
  };
  const isWanted = isRedone(here, course) || course?.chosen === here.step;
  const proven = isWanted
    ? -1
    : steps.findLastIndex((step, index) => index >= at && proves(step, index));
  // What is called complete has to be there as well.
  const past = state.status === "completed" ? at + 1 : at;
  const owed = steps.filter(
    (step, index) => index < Math.max(past, proven) && isOwed(step) && !isMet(step, index < past),
  );
  const [first] = owed;
  const missing = first && steps.indexOf(first) < past ? first : undefined;
  const ahead = proven < 0 ? undefined : (steps[proven] as Step);
  const onward = ahead && behind(flow, ahead, state, survey);

  if (!ahead && !missing) return ownProgress(here, state, survey) ?? agrees;
  const said = `the state says step ${here.step} ${here.name}`;
  if (ahead && !first) {
    const to = onward ?? { step: undefined, cycle: state.cycle };
    const line = `what step ${ahead.step} ${ahead.name} leaves is there, but ${said}: ${to.step ? `the flow goes on at ${to.step.step} ${to.step.name}` : "the flow is done"}`;
    return { is: "elsewhere", to, line };
  }
  const lacks = first && `what step ${first.step} ${first.name} leaves is not there`;
  if (missing && !ahead && !course?.placed) {
    const line = `${lacks}, but ${said}: the flow goes back to ${missing.step} ${missing.name}`;
    return { is: "elsewhere", to: { step: missing, cycle: state.cycle }, line };
  }
  const places = [...new Set([first, here, onward?.step])].filter((step) => step !== undefined);
  if (places.length < 2) return agrees;
  return {
    is: "doubtful",
    places,
    ...(onward && { onward }),
    owed,
    line: `${lacks}, but ${ahead ? `what step ${ahead.step} ${ahead.name} leaves is` : said}`,
  };
}

/** A skill that keeps its own place is the authority on it, while its step is under way. */
function ownProgress(
  { progress }: Step,
  { status, subStep }: FlowState,
  { texts }: Survey,
): Check | undefined {
  const text = progress === undefined ? undefined : texts.get(progress);
  if (text === undefined || status !== "in_progress") return undefined;
  const own = subStepIn(text);
  if (!own || (own.phase === subStep.phase && own.name === subStep.name)) return undefined;
  return {
    is: "further",
    subStep: own,
    line: `_docs/${progress} says sub-step ${own.phase} ${own.name}, but the state says ${subStep.phase} ${subStep.name}: the skill's own file is right`,
  };
}

function subStepIn(text: string): SubStep | undefined {
  try {
    const { phase, name }: { phase?: unknown; name?: unknown } = Object(JSON.parse(text));
    const isWhole = typeof phase === "number" && Number.isInteger(phase) && phase > 0;
    return isWhole && typeof name === "string" && /^[a-z0-9-]{1,80}$/.test(name)
      ? { phase, name, detail: "" }
      : undefined;
  } catch {
    // Half a file, or somebody else's: it says nothing.
    return undefined;
  }
}

function behind(flow: Flow, step: Step, state: FlowState, survey: Survey): Onward {
  const next = afterStep(flow, step.step);
  if (next?.cycle !== "next") return { step: next?.step, cycle: state.cycle };
  const seen = datedIn(flow, survey, state);
  return { step: next.step, cycle: state.cycle + 1, seen };
}

/** On the way back to where the flow was: what lies there is from before. */
export const isRedone = ({ step }: Step, course: Course | undefined): boolean =>
  course?.reopened.includes(step) === true ||
  (course?.redoneUntil !== undefined && numberOf(step) < numberOf(course.redoneUntil));

/** Under way, a step is not done by its first file; only a proof of its end ends it from outside. */
function isProvenHere(
  { finished }: Step,
  { status }: FlowState,
  course: Course | undefined,
  survey: Survey,
  time: Time,
): boolean {
  if (status === "not_started") return true;
  if (status !== "in_progress" || course?.session !== undefined) return false;
  return finished !== undefined && holds(finished, survey, time);
}

/** Where the flow goes on, by what the folders say to it. */
export function placeAfter(state: FlowState, check: Check | undefined): FlowState {
  if (check?.is === "further") return { ...state, subStep: check.subStep };
  if (check?.is !== "elsewhere") return state;
  const { step, cycle } = check.to;
  return {
    ...state,
    step: step?.step ?? "done",
    name: step?.name ?? "Done",
    status: step ? "not_started" : "completed",
    subStep: awaitingInvocation,
    retryCount: 0,
    cycle,
  };
}
