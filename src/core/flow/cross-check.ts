/**
 * The state says where we are, the folders say what is there. Where they disagree the folders are
 * right, with four exceptions: what a person has done is never undone by a file; what was opened
 * again is not closed by what lies there from before; what lies before the part of the flow that a
 * project is in is history; and nothing is missing that a later step has used up.
 */
import type { Course } from "./course.ts";
import {
  afterStep,
  type Flow,
  holds,
  type Step,
  type Survey,
  stretchOf,
  type Time,
} from "./flow.ts";
import { isOwed } from "./locate.ts";
import type { FlowState } from "./state.ts";

export type Check =
  | { readonly is: "agrees" }
  /** The flow is at `to` in truth; undefined: at its end. */
  | { readonly is: "elsewhere"; readonly to: Step | undefined; readonly line: string }
  /** Several places fit; only a person knows. */
  | { readonly is: "doubtful"; readonly places: readonly Step[]; readonly line: string };

export const timeOf = ({ cycle }: FlowState, course: Course | undefined): Time => ({
  cycle,
  ...(course?.since !== undefined && { since: course.since }),
  ...(course && { reported: course.reports }),
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
  // Not the end of what is proven in this part: that is what a new cycle would begin with.
  const proven =
    course?.reopened.includes(here.step) === true
      ? -1
      : steps.findLastIndex((step, index) => index >= at && proves(step, index));
  const missing = steps.find((step, index) => index < at && isOwed(step) && !isMet(step, true));
  const gap = steps.find(
    (step, index) => index >= at && index < proven && isOwed(step) && !isMet(step, false),
  );
  const ahead = proven < 0 ? undefined : (steps[proven] as Step);
  const onward = ahead && afterStep(flow, ahead.step)?.step;

  if (!ahead && !missing) return agrees;
  const said = `the state says step ${here.step} ${here.name}`;
  if (ahead && !missing && !gap) {
    const line = `what step ${ahead.step} ${ahead.name} leaves is there, but ${said}: ${onward ? `the flow goes on at ${onward.step} ${onward.name}` : "the flow is done"}`;
    return { is: "elsewhere", to: onward, line };
  }
  const owed = missing ?? gap;
  const lacks = owed && `what step ${owed.step} ${owed.name} leaves is not there`;
  if (missing && !ahead && !course?.placed) {
    const line = `${lacks}, but ${said}: the flow goes back to ${missing.step} ${missing.name}`;
    return { is: "elsewhere", to: missing, line };
  }
  const places = [owed, here, onward].filter((step) => step !== undefined);
  return {
    is: "doubtful",
    places: places.filter((step, index) => places.indexOf(step) === index),
    line: `${lacks}, but ${ahead ? `what step ${ahead.step} ${ahead.name} leaves is` : said}`,
  };
}

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
