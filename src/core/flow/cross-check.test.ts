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

  it("of a stretch that lies before where the flow was entered all there is to say", () => {
    const here = at("1", { flow: "existing-code" });
    const seen = survey("02_document/FINAL_report.md");
    expect(checked(here, seen, { entry: "9" })).toMatchObject({
      is: "elsewhere",
      to: { step: { step: "2" } },
    });
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

  it("that a plan which is there is behind us, whatever the state says of an earlier step", () => {
    const seen = survey(...problem, draft, plan);
    expect(checked(at("2", { status: "in_progress" }), seen)).toMatchObject({
      is: "elsewhere",
      to: { step: { step: "4" } },
      line: "what step 3 Plan leaves is there, but the state says step 2 Research: the flow goes on at 4 UI Design",
    });
  });

  it("that a plan under way is complete with its final report, not with its first document", () => {
    const [part, whole] = [
      survey(...problem, draft, plan),
      survey(...problem, draft, plan, "02_document/FINAL_report.md"),
    ];
    const working = at("3", { status: "in_progress" });
    expect(checked(working, part)).toEqual({ is: "agrees" });
    expect(checked(working, whole)).toMatchObject({ is: "elsewhere", to: { step: { step: "4" } } });
    expect(checked(at("3"), part)).toMatchObject({ is: "elsewhere", to: { step: { step: "4" } } });
  });

  it("that the flow goes back where an earlier step's artifacts are missing", () => {
    expect(checked(at("3"), survey(...problem))).toMatchObject({
      is: "elsewhere",
      to: { step: { step: "2" } },
    });
  });

  it("nothing about what a later step has used up, or somebody has skipped", () => {
    const used = survey("00_problem/problem.md", "01_solution/solution.md", plan);
    expect(checked(at("4"), used)).toEqual({ is: "agrees" });
    expect(checked(at("3", { skipped: ["1", "2"] }), survey())).toEqual({ is: "agrees" });
  });

  it("that nobody knows, where a person has put the flow past what is missing", () => {
    expect(checked(at("3"), survey(...problem), { placed: true })).toMatchObject({
      is: "doubtful",
      places: [{ step: "2" }, { step: "3" }],
    });
  });

  it("nothing, where a step was opened again and not completed since", () => {
    const seen = survey(...problem, draft, plan);
    expect(checked(at("2"), seen, { reopened: ["2"] })).toEqual({ is: "agrees" });
  });
});

describe("a skill that keeps its own place", () => {
  const own = (text: string): Survey => ({
    ...survey(),
    texts: new Map([["02_document/state.json", text]]),
  });
  const working = at("1", {
    flow: "existing-code",
    name: "Document",
    status: "in_progress",
    subStep: { phase: 2, name: "module-notes", detail: "" },
  });

  it("is right about it, and a line says so", () => {
    expect(checked(working, own('{ "phase": 4, "name": "verification" }'))).toEqual({
      is: "further",
      subStep: { phase: 4, name: "verification", detail: "" },
      line: "_docs/02_document/state.json says sub-step 4 verification, but the state says 2 module-notes: the skill's own file is right",
    });
  });

  it.each([
    ["agrees", '{ "phase": 2, "name": "module-notes" }'],
    ["is half a file", '{ "phase": 4, "na'],
    ["has no whole number", '{ "phase": 4.5, "name": "verification" }'],
  ])("says nothing where it %s", (_, text) => {
    expect(checked(working, own(text))).toEqual({ is: "agrees" });
  });
});
