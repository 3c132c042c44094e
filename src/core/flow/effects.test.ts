import { expect, it } from "vitest";
import { newCourse } from "./course.ts";
import { effectsOf } from "./effects.ts";
import { stepIn } from "./flow.ts";
import { existingCode } from "./flows/existing-code.ts";
import { whetherToSkip } from "./questions.ts";
import { awaitingInvocation, type FlowState, flowStateAt } from "./state.ts";

const implementIn = (cycle: number): FlowState =>
  flowStateAt({
    flow: "existing-code",
    step: "10",
    name: "Implement",
    status: "not_started",
    subStep: awaitingInvocation,
    retryCount: 0,
    cycle,
  });

it("an answer is about the cycle in which it was asked", () => {
  const step = stepIn(existingCode, "10");
  if (!step) throw new Error("there is no step 10");
  const question = whetherToSkip(step, [], implementIn(1), newCourse("existing-code"));
  const inCycle = (cycle: number): string[] =>
    effectsOf({ flow: implementIn(cycle), decisions: {} }, question, "A").map(({ type }) => type);
  expect(inCycle(1)).toEqual(["step-skipped"]);
  expect(inCycle(2)).toEqual([]);
});
