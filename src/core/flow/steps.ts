import type { Flow } from "./flow.ts";
import { builtInFlows, flowNamed } from "./flows/index.ts";
import type { FlowState } from "./state.ts";

export interface StepStatus {
  readonly step: string;
  readonly name: string;
  readonly status: string;
  readonly optional: boolean;
}

/** Every step of the flow as it stands now; empty for one that is not in `flows`. */
export function stepsOf(state: FlowState, flows: readonly Flow[] = builtInFlows): StepStatus[] {
  const steps = flowNamed(state.flow, flows)?.steps ?? [];
  const current = steps.findIndex((step) => step.step === state.step);
  return steps.map((step, at) => {
    const before = state.step === "done" || (current >= 0 && at < current);
    const status =
      at === current
        ? state.status
        : state.skipped.includes(step.step)
          ? "skipped"
          : before
            ? "completed"
            : "not_started";
    return { step: step.step, name: step.name, status, optional: step.optional === true };
  });
}
