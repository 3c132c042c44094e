import type { Flow } from "../flow.ts";

/** From a problem statement to a deployed release. */
export const greenfield: Flow = {
  name: "greenfield",
  boundaryAfter: ["5"],
  steps: [
    {
      step: "1",
      name: "Problem",
      skill: "problem",
      done: {
        all: [
          { filled: "00_problem/problem.md" },
          { filled: "00_problem/restrictions.md" },
          { filled: "00_problem/acceptance_criteria.md" },
          { folderHolds: "00_problem/input_data" },
        ],
      },
    },
    {
      step: "2",
      name: "Research",
      skill: "research",
      done: { exists: "01_solution/solution_draft*.md" },
    },
    { step: "3", name: "Plan", skill: "plan", done: { exists: "02_document/architecture.md" } },
    {
      step: "4",
      name: "UI Design",
      skill: "ui-design",
      conditional: true,
      done: { folderHolds: "02_document/ui_mockups" },
    },
    {
      step: "5",
      name: "Decompose",
      skill: "decompose",
      done: {
        all: [
          { any: [{ exists: "02_tasks/todo/*.md" }, { exists: "02_tasks/done/*.md" }] },
          { exists: "02_tasks/_dependencies_table.md" },
        ],
      },
    },
    {
      step: "6",
      name: "Implement",
      skill: "implement",
      done: {
        all: [
          { no: { exists: "02_tasks/todo/*.md" } },
          { exists: "03_implementation/implementation_report_*.md" },
        ],
      },
    },
    { step: "7", name: "Run Tests", skill: "test-run" },
    { step: "8", name: "Security Audit", skill: "security", optional: true },
    { step: "9", name: "Performance Test", skill: "test-run", mode: "perf", optional: true },
    { step: "10", name: "Deploy", skill: "deploy" },
    { step: "11", name: "Retrospective", skill: "retrospective", mode: "cycle-end" },
  ],
};
