import { describe, expect, it } from "vitest";
import { type Course, newCourse } from "./course.ts";
import { crossCheck } from "./cross-check.ts";
import type { Survey } from "./flow.ts";
import { existingCode } from "./flows/existing-code.ts";
import { greenfield } from "./flows/greenfield.ts";
import { awaitingInvocation, type FlowState, flowStateAt } from "./state.ts";

const problem = [
  "00_problem/problem.md",
  "00_problem/restrictions.md",
  "00_problem/acceptance_criteria.md",
  "00_problem/input_data/a.csv",
];
const draft = "01_solution/solution_draft01.md";
const plan = "02_document/architecture.md";

const survey = (...paths: readonly string[]): Survey => ({
  docs: new Map(paths.map((path) => [path, 1])),
  texts: new Map(),
  hasSource: true,
  members: 0,
});

const at = (step: string, more: Partial<FlowState> = {}): FlowState => ({
  ...flowStateAt({
    flow: "greenfield",
    step,
    name: "",
    status: "not_started",
    subStep: awaitingInvocation,
    retryCount: 0,
    cycle: 1,
  }),
  ...more,
});

const checked = (
  state: FlowState,
  seen: Survey,
  course: Partial<Course> = {},
): ReturnType<typeof crossCheck> =>
  crossCheck(
    state.flow === "greenfield" ? greenfield : existingCode,
    state,
    { ...newCourse(state.flow), ...course },
    seen,
  );

describe("what the folders say to a state", () => {
  it("nothing, where a person has chosen this step among those that fit", () => {
    const seen = survey(...problem, draft, plan);
    expect(checked(at("2"), seen)).toMatchObject({ is: "elsewhere" });
    expect(checked(at("2"), seen, { chosen: "2" })).toEqual({ is: "agrees" });
  });

  it("that a step is not complete whose artifacts are not there", () => {
    const complete = at("3", { status: "completed" });
    expect(checked(complete, survey(...problem, draft))).toMatchObject({
      is: "elsewhere",
      to: { step: { step: "3" }, cycle: 1 },
    });
    expect(checked(complete, survey(...problem, draft, plan))).toEqual({ is: "agrees" });
  });

  it("that a new cycle begins behind the last step, with its documents known as the old one's", () => {
    const retro = "06_metrics/retro_2026-01-02.md";
    const seen = survey(
      "02_task_plans/a.md",
      "03_implementation/implementation_report_a_cycle1.md",
      "02_document/ripple_log_cycle1.md",
      retro,
    );
    const state = at("16", { flow: "existing-code" });
    expect(checked(state, seen, { since: "2026-01-01T00:00:00Z" })).toMatchObject({
      is: "elsewhere",
      to: { step: { step: "9" }, cycle: 2, seen: [retro] },
    });
  });
});
