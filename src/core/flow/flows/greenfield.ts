import type { Flow } from "../flow.ts";

/** Words that a plan has only where people will look at something. */
const speaksOf =
  "\\b(?:user interface|web page|dashboard|front-?end|single-page app|mobile app|desktop app|GUI|screens?|mock-?ups?|wireframes?)\\b";

/** From a problem statement to a deployed release. */
export const greenfield: Flow = {
  name: "greenfield",
  about: "from a problem statement to a deployed release",
  onward: { flow: "existing-code", step: "9" },
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
          { folder: "00_problem/input_data" },
        ],
      },
      // Data is often too large for git: a clone that lacks it is no reason to begin again.
      leaves: { filled: "00_problem/problem.md" },
    },
    {
      step: "2",
      name: "Research",
      skill: "research",
      done: { exists: "01_solution/solution_draft*.md" },
      leaves: { exists: "01_solution/solution*.md" },
      asks: "research-round",
    },
    {
      step: "3",
      name: "Plan",
      skill: "plan",
      tracker: ["epics"],
      done: { exists: "02_document/architecture.md" },
      finished: { exists: "02_document/FINAL_report.md" },
    },
    {
      step: "4",
      name: "UI Design",
      skill: "ui-design",
      applies: {
        yes: {
          any: [
            { file: "02_document/architecture.md", says: speaksOf },
            { file: "02_document/FINAL_report.md", says: speaksOf },
            { file: "02_document/components/*.md", says: speaksOf },
            { file: "02_document/components/*/*.md", says: speaksOf },
          ],
        },
        no: {
          file: "02_document/architecture.md",
          says: "\\b(?:no|without(?: a| any)?) (?:graphical )?(?:user interface|ui|gui|front-?end)\\b",
        },
        question: "does the project have a user interface?",
        marker: "02_document/ui_mockups/.autodev-step4-marker",
      },
      done: {
        any: [
          { folder: "02_document/ui_mockups" },
          { file: "02_document/ui_mockups/.autodev-step4-marker", says: "^skipped:" },
        ],
      },
    },
    {
      step: "5",
      name: "Decompose",
      skill: "decompose",
      tracker: ["bootstrap-structure", "task-decomposition", "blackbox-test-tasks"],
      done: {
        all: [
          { any: [{ exists: "02_tasks/todo/*.md" }, { exists: "02_tasks/done/*.md" }] },
          { exists: "02_tasks/_dependencies_table.md" },
        ],
      },
      then: {
        boundary: {
          title: "Decompose complete",
          next: "implementation",
          notes: "Decompose complete, implementation ready",
        },
      },
    },
    {
      step: "6",
      name: "Implement",
      skill: "implement",
      runs: {
        tasks: "02_tasks",
        review: "code-review",
        report: "03_implementation/implementation_report_{slug}.md",
      },
      done: {
        all: [
          { no: { exists: "02_tasks/todo/*.md" } },
          { exists: "03_implementation/implementation_report_*.md" },
        ],
      },
      leaves: { exists: "03_implementation/implementation_report_*.md" },
    },
    { step: "7", name: "Run Tests", skill: "test-run" },
    { step: "8", name: "Security Audit", skill: "security", optional: true },
    { step: "9", name: "Performance Test", skill: "test-run", mode: "perf", optional: true },
    { step: "10", name: "Deploy", skill: "deploy" },
    {
      step: "11",
      name: "Retrospective",
      skill: "retrospective",
      mode: "cycle-end",
      then: { step: "done" },
    },
  ],
};
