import { describe, expect, it } from "vitest";
import type { Survey } from "./flow.ts";
import { flowsThatFit, scanPosition } from "./locate.ts";

const seen = (paths: readonly string[] | undefined, more: Partial<Survey> = {}): Survey => ({
  docs: paths && new Map(paths.map((path) => [path, 1])),
  texts: new Map(),
  hasSource: false,
  members: 0,
  ...more,
});

describe("the flow of a project without a state file", () => {
  const table: [what: string, survey: Survey, flows: string[]][] = [
    ["an empty folder", seen(undefined), ["greenfield"]],
    ["source code without _docs/", seen(undefined, { hasSource: true }), ["existing-code"]],
    ["a problem statement", seen(["00_problem/problem.md"]), ["greenfield"]],
    ["documents without a problem", seen(["02_document/a.md"]), ["existing-code"]],
    ["a config of repositories", seen(["_repo-config.yaml"]), ["meta-repo"]],
    ["two members and no source of its own", seen(undefined, { members: 2 }), ["meta-repo"]],
    ["two members and source", seen(undefined, { members: 2, hasSource: true }), ["existing-code"]],
    [
      "a config of repositories and a problem: meta-repo comes first, and a person has to say",
      seen(["_repo-config.yaml", "00_problem/problem.md"]),
      ["meta-repo", "greenfield"],
    ],
  ];
  it.each(table)("%s", (_, survey, flows) => {
    expect(flowsThatFit(survey)).toEqual(flows);
  });
});

describe("the step of a project without a state file", () => {
  const problem = [
    "problem.md",
    "restrictions.md",
    "acceptance_criteria.md",
    "input_data/a.csv",
  ].map((name) => `00_problem/${name}`);
  const draft = "01_solution/solution_draft01.md";

  it("is the first whose proof is missing", () => {
    expect(scanPosition("greenfield", seen([])).position).toMatchObject({
      step: "1",
      name: "Problem",
    });
    expect(scanPosition("greenfield", seen(problem)).position).toMatchObject({ step: "2" });
    expect(scanPosition("greenfield", seen([...problem, draft])).position).toMatchObject({
      step: "3",
      status: "not_started",
    });
  });

  it("is asked about where several fit", () => {
    const built = [
      "02_document/architecture.md",
      "02_document/ui_mockups/a.html",
      "02_tasks/done/01_a.md",
    ];
    const found = scanPosition(
      "greenfield",
      seen([
        ...problem,
        draft,
        ...built,
        "02_tasks/_dependencies_table.md",
        "03_implementation/implementation_report_a.md",
      ]),
    );
    expect(found.candidates?.map(({ step }) => step)).toEqual(["7", "8", "9", "10", "11"]);
    expect(found.doubt).toMatch(/^the folders cannot tell which step comes next: 7 Run Tests, /);
  });
});
