import { describe, expect, it } from "vitest";
import { isPlanFile, placeWhenDone } from "./task-folder.ts";

describe("a task that has landed", () => {
  it("lies in done/", () => {
    expect(placeWhenDone("tasks", "_docs/02_tasks/todo/03_outbox.md")).toBe(
      "_docs/02_tasks/done/03_outbox.md",
    );
    expect(placeWhenDone("tasks", "in_progress/AZ-12_x.md")).toBe("done/AZ-12_x.md");
  });
  it("is not moved out of any other folder", () => {
    for (const file of [
      "_docs/02_tasks/_dependencies_table.md",
      "_docs/02_tasks/done/01_a.md",
      "_docs/02_tasks/todo/deeper/01_a.md",
      "mytodo/01_a.md",
    ])
      expect(placeWhenDone("tasks", file)).toBe(file);
  });
  it("stays where it is in every other format", () => {
    expect(placeWhenDone("superplan", "docs/todo/plan.md")).toBe("docs/todo/plan.md");
  });
});

describe("the plan's own files", () => {
  const run = { format: "tasks", planFiles: { "t/todo/01_a.md": "b1", "t/_table.md": "b2" } };
  it("are known in both places", () => {
    for (const file of ["t/todo/01_a.md", "t/done/01_a.md", "t/_table.md"])
      expect(isPlanFile(run, file)).toBe(true);
  });
  it("are not mistaken for others", () => {
    for (const file of ["t/done/02_b.md", "other/done/01_a.md", "t/done/_table.md"])
      expect(isPlanFile(run, file)).toBe(false);
    expect(isPlanFile({ ...run, format: "superplan" }, "t/done/01_a.md")).toBe(false);
  });
});
