import type { Flow } from "../flow.ts";

/** Steps 1–8 once, to know the code and to make it testable; 9–17 for each feature, in cycles. */
export const existingCode: Flow = {
  name: "existing-code",
  boundaryAfter: ["5", "9"],
  steps: [
    {
      step: "1",
      name: "Document",
      skill: "document",
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
      conditional: true,
      done: { folderHolds: "04_refactoring/01-testability-refactoring" },
    },
    {
      step: "5",
      name: "Decompose Tests",
      skill: "decompose",
      mode: "tests-only",
      done: {
        any: [
          { exists: "02_tasks/todo/*_test_infrastructure.md" },
          { exists: "02_tasks/done/*_test_infrastructure.md" },
        ],
      },
    },
    {
      step: "6",
      name: "Implement Tests",
      skill: "implement",
      done: { exists: "03_implementation/implementation_report_tests.md" },
    },
    { step: "7", name: "Run Tests", skill: "test-run" },
    { step: "8", name: "Refactor", skill: "refactor", optional: true },
    { step: "9", name: "New Task", skill: "new-task", done: { folderHolds: "02_task_plans" } },
    {
      step: "10",
      name: "Implement",
      skill: "implement",
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
    { step: "17", name: "Retrospective", skill: "retrospective", mode: "cycle-end" },
  ],
};
