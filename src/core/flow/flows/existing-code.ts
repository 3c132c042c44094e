import type { Flow } from "../flow.ts";

/** As a task's header says whose it is. */
const blackboxTests = "^\\*\\*(?:Component|Epic)\\*\\*:.*\\bBlackbox Tests\\b";

/** Steps 1–8 once, to know the code and to make it testable; 9–17 for each feature, in cycles. */
export const existingCode: Flow = {
  name: "existing-code",
  about: "code that is there: known and made testable once, then feature by feature",
  stretches: [
    ["1", "8"],
    ["9", "17"],
  ],
  steps: [
    {
      step: "1",
      name: "Document",
      skill: "document",
      progress: "02_document/state.json",
      done: { exists: "02_document/FINAL_report.md" },
    },
    {
      step: "2",
      name: "Architecture Baseline Scan",
      skill: "code-review",
      mode: "baseline",
      done: { exists: "02_document/architecture_compliance_baseline.md" },
    },
    {
      step: "3",
      name: "Test Spec",
      skill: "test-spec",
      done: { exists: "02_document/tests/traceability-matrix.md" },
    },
    {
      step: "4",
      name: "Code Testability Revision",
      skill: "refactor",
      mode: "guided",
      applies: {
        yes: {
          file: "02_document/architecture_compliance_baseline.md",
          says: "\\bnot testable\\b|\\buntestable\\b|\\bhard to test\\b",
        },
        no: {
          file: "02_document/architecture_compliance_baseline.md",
          says: "\\btestable as it is\\b",
        },
        question: "does the code have to change before it can be tested?",
      },
      done: {
        any: [
          { exists: "04_refactoring/01-testability-refactoring/testability_assessment.md" },
          { exists: "04_refactoring/01-testability-refactoring/FINAL_report.md" },
        ],
      },
    },
    {
      step: "5",
      name: "Decompose Tests",
      skill: "decompose",
      mode: "tests-only",
      tracker: ["test-infrastructure-bootstrap", "blackbox-test-tasks"],
      done: {
        any: [
          { exists: "02_tasks/todo/*_test_infrastructure.md" },
          { exists: "02_tasks/done/*_test_infrastructure.md" },
          { file: "02_tasks/todo/*.md", says: blackboxTests },
          { file: "02_tasks/done/*.md", says: blackboxTests },
        ],
      },
      then: {
        boundary: {
          title: "Decompose Tests complete",
          next: "test implementation",
          notes: "Decompose Tests complete, implementation ready",
        },
      },
    },
    {
      step: "6",
      name: "Implement Tests",
      skill: "implement",
      mode: "tests",
      runs: {
        tasks: "02_tasks",
        review: "code-review",
        report: "03_implementation/implementation_report_tests.md",
      },
      done: { exists: "03_implementation/implementation_report_tests.md" },
    },
    { step: "7", name: "Run Tests", skill: "test-run" },
    { step: "8", name: "Refactor", skill: "refactor", optional: true },
    {
      step: "9",
      name: "New Task",
      skill: "new-task",
      tracker: ["ticket"],
      done: {
        all: [
          { folder: "02_task_plans" },
          {
            any: [
              { exists: "02_tasks/todo/*.md" },
              { exists: "03_implementation/implementation_report_*_cycle{cycle}.md" },
            ],
          },
        ],
      },
      leaves: { folder: "02_task_plans" },
      then: {
        boundary: {
          title: "New Task complete",
          next: "implementation",
          notes: "New Task complete, implementation ready",
        },
      },
    },
    {
      step: "10",
      name: "Implement",
      skill: "implement",
      mode: "cycle",
      runs: {
        tasks: "02_tasks",
        review: "code-review",
        report: "03_implementation/implementation_report_{slug}_cycle{cycle}.md",
      },
      done: { exists: "03_implementation/implementation_report_*_cycle{cycle}.md" },
    },
    { step: "11", name: "Run Tests", skill: "test-run" },
    { step: "12", name: "Test-Spec Sync", skill: "test-spec", mode: "cycle-update" },
    {
      step: "13",
      name: "Update Docs",
      skill: "document",
      mode: "task",
      done: { exists: "02_document/ripple_log_cycle{cycle}.md" },
    },
    { step: "14", name: "Security Audit", skill: "security", optional: true },
    { step: "15", name: "Performance Test", skill: "test-run", mode: "perf", optional: true },
    { step: "16", name: "Deploy", skill: "deploy" },
    {
      step: "17",
      name: "Retrospective",
      skill: "retrospective",
      mode: "cycle-end",
      done: { dated: "06_metrics/retro_*.md" },
      then: { step: "9", cycle: "next" },
    },
  ],
};
