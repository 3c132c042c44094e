import { describe, expect, it } from "vitest";
import { readPlan } from "./read-plan.ts";

const task = (header: Readonly<Record<string, string>>): string =>
  `# A task\n\n${Object.entries(header)
    .map(([field, value]) => `**${field}**: ${value}`)
    .join("\n")}\n\n## Tasks\n- [ ] Do it\n\n## Acceptance criteria\n- [ ] It is done\n`;
const tableOf = (...rows: string[]): string =>
  ["| Task | Name | Complexity | Dependencies | Epic |", "|---|---|---|---|---|", ...rows, ""].join(
    "\n",
  );

function waitsFor(files: Readonly<Record<string, string>>): Record<string, readonly string[]> {
  const sources = Object.entries(files).map(([file, text]) => ({ file, text }));
  const plan = readPlan(sources, "tasks");
  if (!plan.ok) throw new Error(plan.failure.message);
  expect(plan.value.errors).toEqual([]);
  return Object.fromEntries(plan.value.plan.phases.map(({ id, dependsOn }) => [id, dependsOn]));
}

describe("a task that a tracker has given an id", () => {
  const renamed = task({ Task: "AZ-12_schema", Alias: "01_schema", Name: "Schema" });

  it.each(["01", "01_schema", "AZ-12", "AZ-12_schema"])(
    "is meant by whoever mentions %s",
    (name) => {
      expect(
        waitsFor({
          "todo/AZ-12_schema.md": renamed,
          "todo/02_api.md": task({ Task: "02_api", Name: "API", Dependencies: name }),
        }),
      ).toEqual({ az12: [], "02": ["az12"] });
    },
  );

  it("is meant by its old name in the table, as a row and as a dependency", () => {
    expect(
      waitsFor({
        "done/AZ-12_schema.md": renamed,
        "todo/AZ-13_api.md": task({ Task: "AZ-13_api", Alias: "02_api", Name: "API" }),
        "_dependencies_table.md": tableOf(
          "| 01_schema | Schema | 2 | – | E1 |",
          "| 02_api | API | 2 | 01_schema | E1 |",
        ),
      }),
    ).toEqual({ az12: [], az13: ["az12"] });
  });

  it("gives way to a task that is called so today, but not by its whole name", () => {
    expect(
      waitsFor({
        "todo/AZ-12_schema.md": renamed,
        "todo/01_import.md": task({ Task: "01_import", Name: "Import" }),
        "todo/02_api.md": task({ Task: "02_api", Name: "API", Dependencies: "01" }),
        "todo/03_ui.md": task({ Task: "03_ui", Name: "UI", Dependencies: "01_schema" }),
      }),
    ).toEqual({ "01": [], "02": ["01"], "03": ["az12"], az12: [] });
  });

  it("has its old number for itself alone, or nobody is meant by it", () => {
    const files = {
      "todo/AZ-12_schema.md": renamed,
      "todo/AZ-20_import.md": task({ Task: "AZ-20_import", Alias: "01_import", Name: "Import" }),
      "todo/02_api.md": task({ Task: "02_api", Name: "API", Dependencies: "01" }),
    };
    const sources = Object.entries(files).map(([file, text]) => ({ file, text }));
    const plan = readPlan(sources, "tasks");
    expect(plan.ok && plan.value.plan.phases.find(({ id }) => id === "02")?.dependsOn).toEqual([]);
  });
});
