import { describe, expect, it } from "vitest";
import { epicFor, itemsIn } from "./items.ts";
import { type FileChanges, leftoverText, renamePlan } from "./rename.ts";

const task = (id: string, waits: string): string =>
  [
    `# ${id}`,
    "",
    `**Task**: ${id}`,
    `**Name**: The ${id}`,
    "**Description**: It does its part.",
    "**Complexity**: 3 points",
    `**Dependencies**: ${waits}`,
    "**Component**: 01_core",
    "**Tracker**: pending",
    "**Epic**: E1",
    "",
    "## Tasks",
    "- [ ] as 01_first does",
    "",
  ].join("\n");

const documents = new Map([
  [
    "02_document/epics.md",
    "| Epic | Name | Component | Points | Tracker |\n|---|---|---|---|---|\n| E1 | Core | 01_core | 3 | pending |\n| E2 | Tests | – | 3 | AZ-9 |\n",
  ],
  ["02_tasks/todo/01_first.md", task("01_first", "None")],
  ["02_tasks/todo/02_second.md", task("02_second", "01_first, 03")],
  ["02_tasks/done/03_third.md", task("03_third", "01")],
  [
    "02_tasks/_dependencies_table.md",
    "| Task | Name | Complexity | Dependencies | Epic |\n|---|---|---|---|---|\n| 01_first | First | 3 | – | E1 |\n| 02_second.md | Second | 3 | 01_first, 03_third | E1 |\n",
  ],
]);
const ids = {
  epics: new Map([["E1", "AZ-10"]]),
  tasks: new Map([
    ["01_first", "AZ-11"],
    ["02_second", "AZ-12"],
    ["03_third", "AZ-13"],
  ]),
};

/** Carried out as far as the first so many steps. */
function carriedOut(before: ReadonlyMap<string, string>, changes: FileChanges, steps = Infinity) {
  const after = new Map(before);
  let left = steps;
  for (const { file, text } of changes.writes) if (left-- > 0) after.set(file, text);
  for (const { from, to } of changes.renames) {
    if (left-- <= 0) break;
    after.set(to, after.get(from) ?? "");
    after.delete(from);
  }
  return after;
}
const sorted = (files: ReadonlyMap<string, string>) =>
  [...files].sort(([a], [b]) => (a < b ? -1 : 1));

describe("files of items that have ids", () => {
  const changes = renamePlan(documents, ids);
  const after = carriedOut(documents, changes);

  it("are called by them, and keep their first name as an alias", () => {
    expect(changes.renames.map(({ to }) => to)).toEqual([
      "02_tasks/todo/AZ-11_first.md",
      "02_tasks/todo/AZ-12_second.md",
      "02_tasks/done/AZ-13_third.md",
    ]);
    const second = after.get("02_tasks/todo/AZ-12_second.md") ?? "";
    expect(second).toContain("**Task**: AZ-12_second\n**Alias**: 02_second\n");
    expect(second).toContain("**Dependencies**: AZ-11_first, AZ-13_third\n");
    expect(second).toContain("**Tracker**: AZ-12\n**Epic**: AZ-10\n");
    // What people wrote stays as they wrote it.
    expect(second).toContain("- [ ] as 01_first does");
  });

  it("are called so in the tables too, and nothing else of a line changes", () => {
    const table = after.get("02_tasks/_dependencies_table.md") ?? "";
    expect(table).toContain("| AZ-11_first | First | 3 | – | AZ-10 |");
    expect(table).toContain("| AZ-12_second.md | Second | 3 | AZ-11_first, AZ-13_third | AZ-10 |");
    expect(after.get("02_document/epics.md")).toContain("| E1 | Core | 01_core | 3 | AZ-10 |");
  });

  it("come to the same end from wherever it was left", () => {
    const all = changes.writes.length + changes.renames.length;
    for (let steps = 0; steps <= all; steps++) {
      const half = carriedOut(documents, changes, steps);
      const again = carriedOut(half, renamePlan(half, ids));
      expect(sorted(again)).toEqual(sorted(after));
    }
    expect(renamePlan(after, ids)).toEqual({ writes: [], renames: [] });
  });
});

describe("what belongs in a tracker", () => {
  const items = itemsIn(documents);

  it("is each epic of the table and each task, with what their files say", () => {
    expect(items.map(({ kind, of, id }) => [kind, of, id])).toEqual([
      ["epic", "E1", undefined],
      ["epic", "E2", "AZ-9"],
      ["task", "01_first", undefined],
      ["task", "02_second", undefined],
      ["task", "03_third", undefined],
    ]);
    expect(items[2]).toMatchObject({ title: "The 01_first", epic: "E1" });
    expect(items[2]?.body).toBe("It does its part.\n\nComponent: 01_core\nComplexity: 3 points");
  });

  it("goes below the epic that a task means, by whatever name; one that no table has is made", () => {
    for (const name of ["E1", "Core", "core", "01_core"])
      expect(epicFor(name, items).of).toBe("E1");
    expect(epicFor("AZ-9", items).of).toBe("E2");
    expect(epicFor("Orders", items)).toMatchObject({ of: "Orders", title: "Orders" });
  });

  it("and could not be created now is a row that nobody's words can break out of", () => {
    expect(leftoverText([])).toBe("");
    const why = "a | b\n# not a heading";
    expect(leftoverText([{ kind: "task", of: "01_x", why }])).toContain(
      "| task | 01_x | a \\| b # not a heading |",
    );
  });
});
