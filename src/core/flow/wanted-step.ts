/** Which step people mean when they act on a flow, and whether that can be done to it from here. */
import { fail, type Result, succeed } from "../failure.ts";
import { nearest } from "../nearest.ts";
import { type Flow, type Step, stepIn } from "./flow.ts";
import type { FlowState } from "./state.ts";

export type FlowAct = "skip" | "back" | "rollback";

/** By number or name; without one, the present step is meant. */
export function wantedStep(
  act: FlowAct,
  wanted: string | undefined,
  state: Pick<FlowState, "step" | "name">,
  flow: Flow,
): Result<Step> {
  const asked = wanted ?? state.step;
  const step =
    stepIn(flow, asked) ??
    flow.steps.find(({ name }) => name.toLowerCase() === asked.toLowerCase());
  if (!step) {
    const near = nearest(
      asked,
      flow.steps.map(({ name }) => name),
    );
    return fail("not-found", `${flow.name} has no step "${asked}"`, {
      hint:
        near.length > 0 ? `did you mean ${near.join(" or ")}?` : `autodev flow graph ${flow.name}`,
    });
  }
  const at = (number: string): number =>
    number === "done" ? flow.steps.length : flow.steps.findIndex((each) => each.step === number);
  if (act === "skip" && step.step !== state.step) {
    return fail("usage", `only the present step can be skipped: ${state.step} ${state.name}`, {
      hint: "autodev status shows where the flow is",
    });
  }
  if (act !== "skip" && at(step.step) > at(state.step)) {
    const what = `step ${step.step} ${step.name} lies ahead: there is nothing to go back to`;
    return fail("usage", what, { hint: "autodev goes on; autodev skip leaves a step out" });
  }
  return succeed(step);
}
