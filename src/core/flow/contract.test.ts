import { describe, expect, it } from "vitest";
import { existing, textsOf, unmetBy } from "./contract.ts";
import { type Artifact, SkillHead } from "./skill.ts";

/** As it comes out of a front matter. */
function artifact(given: { path: string } & Partial<Artifact>): Artifact {
  const [read] = SkillHead.parse({ name: "x", description: "x", produces: [given] }).produces;
  if (!read) throw new Error("no artifact");
  return read;
}

const factsOf = (files: Readonly<Record<string, string>>) => ({
  docs: new Map(Object.entries(files).map(([path, text]) => [path, text.length])),
  texts: new Map(Object.entries(files)),
});

const unmet = (
  given: { path: string } & Partial<Artifact>,
  files: Readonly<Record<string, string>>,
  time: { cycle: number; date?: string } = { cycle: 1 },
): string[] =>
  unmetBy([artifact(given)], factsOf(files), time).map(({ message, line }) =>
    line === undefined ? message : `${line}: ${message}`,
  );

const inFile = (given: Partial<Artifact>, text: string): string[] =>
  unmet({ path: "a.md", ...given }, { "a.md": text });

describe("a file that is promised", () => {
  it("is there", () => {
    expect(
      unmet({ path: "02_document/architecture.md" }, { "02_document/architecture.md": "x" }),
    ).toEqual([]);
  });

  it("is missing", () => {
    expect(
      unmetBy([artifact({ path: "a/b.md" })], factsOf({ "a/c.md": "x" }), { cycle: 1 }),
    ).toEqual([{ path: "a/b.md", message: "a/b.md is missing" }]);
    expect(unmet({ path: "a/*.md" }, { "a/b/c.md": "x", "b.md": "x" })).toEqual([
      "there is no file like a/*.md",
    ]);
  });

  it("is empty, or as good as empty", () => {
    expect(unmet({ path: "a.md" }, { "a.md": "" })).toEqual(["a.md is empty"]);
    expect(unmet({ path: "*.md" }, { "a.md": " \r\n\t\n", "b.md": "x" })).toEqual([
      "a.md is empty",
    ]);
  });

  it("is looked at where it could be nothing but the end of a line, whatever it is", () => {
    const docs = new Map([
      ["in/blank.csv", 1],
      ["in/full.csv", 5000],
    ]);
    expect(textsOf([artifact({ path: "in/*" })], docs, { cycle: 1 })).toEqual(["in/blank.csv"]);
  });

  it("need not be text, where nothing is asked of it", () => {
    const docs = new Map([["in/photo.png", 5000]]);
    const artifacts = [artifact({ path: "in/*" })];
    expect(textsOf(artifacts, docs, { cycle: 1 })).toEqual([]);
    expect(unmetBy(artifacts, { docs, texts: new Map() }, { cycle: 1 })).toEqual([]);
  });

  it("proves nothing, where something is asked of it and nobody could look into it", () => {
    const facts = { docs: new Map([["a.md", 5]]), texts: new Map<string, string>() };
    expect(unmetBy([artifact({ path: "a.md", sections: ["Risks"] })], facts, { cycle: 1 })).toEqual(
      [{ path: "a.md", message: "a.md cannot be read as text" }],
    );
  });

  it("is one of several", () => {
    const files = { "t/1.md": "x", "t/2.md": "x" };
    expect(unmet({ path: "t/*.md", least: 2 }, files)).toEqual([]);
    expect(unmet({ path: "t/*.md", least: 3 }, files)).toEqual([
      "there are 2 files like t/*.md, and 3 are needed",
    ]);
    expect(unmet({ path: "t/1*.md", least: 3 }, files)).toEqual([
      "there is 1 file like t/1*.md, and 3 are needed",
    ]);
  });

  it("may be absent if it is optional; if it is there, the rest holds", () => {
    const optional = { path: "t/*.md", optional: true, least: 2, sections: ["Risks"] };
    expect(unmet(optional, {})).toEqual([]);
    expect(unmet(optional, { "t/1.md": "# Risks\n" })).toEqual([
      "there is 1 file like t/*.md, and 2 are needed",
      '1: t/1.md has no text in its section "Risks"',
    ]);
  });

  it("has to be right in each that matches", () => {
    expect(
      unmet({ path: "t/*.md", fields: ["Task"] }, { "t/1.md": "**Task**: 1", "t/2.md": "two" }),
    ).toEqual(['t/2.md has no line "**Task**: …"']);
  });

  it("is no file whose name begins with a dot, unless that is what is promised", () => {
    expect(unmet({ path: "in/*" }, { "in/.gitkeep": "" })).toEqual(["there is no file like in/*"]);
    expect(unmet({ path: "in/.m*" }, { "in/.marker": "x" })).toEqual([]);
    expect(unmet({ path: "in/.marker" }, { "in/.marker": "x" })).toEqual([]);
  });

  it("is not found by what would be an expression", () => {
    expect(unmet({ path: "a.md" }, { aXmd: "x" })).toEqual(["a.md is missing"]);
    expect(unmet({ path: "(a|b)+*.md" }, { "(a|b)+1.md": "x" })).toEqual([]);
  });
});

describe("the time in a path", () => {
  it("is the cycle", () => {
    const path = "03_implementation/implementation_report_*_cycle{cycle}.md";
    const files = { "03_implementation/implementation_report_login_cycle2.md": "x" };
    expect(unmet({ path }, files, { cycle: 2 })).toEqual([]);
    expect(unmet({ path }, files, { cycle: 3 })).toEqual([
      "there is no file like 03_implementation/implementation_report_*_cycle3.md",
    ]);
    expect(unmet({ path: "r_{cycle}.md" }, {}, { cycle: 3 })).toEqual(["r_3.md is missing"]);
  });

  it("is a date, and not one from before", () => {
    const path = "06_metrics/retro_{date}.md";
    const files = { "06_metrics/retro_2026-03-01.md": "x" };
    expect(unmet({ path }, files)).toEqual([]);
    expect(unmet({ path }, files, { cycle: 1, date: "2026-03-01T08:00:00Z" })).toEqual([]);
    expect(unmet({ path }, files, { cycle: 1, date: "2026-03-02" })).toEqual([
      "there is no file like 06_metrics/retro_<YYYY-MM-DD>.md, of 2026-03-02 or later",
    ]);
    expect(unmet({ path }, { "06_metrics/retro_today.md": "x" })).toHaveLength(1);
    expect(unmet({ path }, { "06_metrics/retro_12026-03-011.md": "x" })).toHaveLength(1);
  });
});

describe("sections", () => {
  const risks = { sections: ["Risks"] };

  it.each([
    ["at any level", "# A\n#### Risks\nFire.\n"],
    ["with numbers, marks and another case", "# A\n\n## 3.1 **RISKS**: ##\n\nFire.\n"],
    ["underlined", "A\n=\n\nRisks\n-----\nFire.\n"],
    ["with text in a part of it", "## Risks\n### Likely\nFire.\n"],
    ["with a picture and no words", "## Risks\n```mermaid\ngraph LR\n```\n"],
    ["with a table", "## Risks\n| A | B |\n|---|---|\n| 1 | 2 |\n"],
    ["twice, with text in one", "## Risks\n## Risks\nFire.\n"],
    ["with Windows' line ends", "## Risks\r\n\r\nFire.\r\n"],
    ["behind a BOM", "\uFEFF## Risks\nFire.\n"],
    ["below a front matter", "---\nrisks: none\n---\n## Risks\nFire.\n"],
    ["after ticks that are code in a line", "```not a fence``` at all\n## Risks\nFire.\n"],
    ["after a fence within a fence", "````md\n```\n## No\n````\n## Risks\nFire.\n"],
    ["as a link", "## [Risks](risks.md)\nFire.\n"],
  ])("are there: %s", (_, text) => {
    expect(inFile(risks, text)).toEqual([]);
  });

  it.each([
    ["in a fence", "```\n## Risks\nFire.\n```\n"],
    ["in a fence of tildes that never ends", "~~~\n## Risks\nFire.\n"],
    ["in a comment", "<!--\n## Risks\nFire.\n-->\nx\n"],
    ["as a word", "Risks are everywhere.\n"],
    ["as a tag", "#Risks\nFire.\n"],
    ["as part of another", "## Risks of fire\nFire.\n"],
    ["in seven levels", "####### Risks\nFire.\n"],
    ["in a front matter", "---\n# Risks\n---\nFire.\n"],
  ])("are not there: %s", (_, text) => {
    expect(inFile(risks, text)).toEqual(['a.md has no section "Risks"']);
  });

  it.each([
    ["nothing", "# A\n## Risks\n"],
    ["the next of the same level", "# A\n## Risks\n\n## B\nText.\n"],
    ["the next of a higher level", "# A\n## Risks\n# B\nText.\n"],
    ["headings and no text", "# A\n## Risks\n### Likely\n### Unlikely\n## B\nText\n"],
    ["a comment", "# A\n## Risks\n<!-- what could\ngo wrong -->\n"],
    ["words for nothing", "# A\n## Risks\n- **TBD**\n\n...\n\n[…]\n\n---\n"],
    ["a table without a row", "# A\n## Risks\n| A | B |\n|---|---|\n|   |   |\n"],
    ["a fence without a line", "# A\n## Risks\n```\n```\n"],
    ["an underlined heading", "# A\n## Risks\n\nB\n---\nText.\n"],
  ])("are empty: below it is %s", (_, text) => {
    expect(inFile(risks, text)).toEqual(['2: a.md has no text in its section "Risks"']);
  });
});

describe("columns", () => {
  const columns = { columns: ["Task", "Name", "Epic"] };
  const table = (header: string, ...rows: string[]): string =>
    [header, header.replace(/[^|]+/g, "---"), ...rows].join("\n");

  it.each([
    ["alone", table("| Task | Name | Epic |", "| 1 | a | E |")],
    [
      "with others between",
      table("| Task | Points | Name | Epic | Note |", "| 1 | 2 | a | E |  |"),
    ],
    ["without strokes at the ends", table("Task | Name | Epic", "1 | a | E")],
    ["in another case, with marks", table("| **task** | `NAME` | Epic |", "| 1 | a | E |")],
    [
      "after another table",
      `${table("| A | B |", "| 1 | 2 |")}\n\n${table("| Task | Name | Epic |", "| 1 | a | E |")}`,
    ],
    ["with a stroke in a cell", table("| Task | Name | Epic |", "| 1 | a \\| b | E |")],
    ["with alignment", "| Task | Name | Epic |\n|:--|:-:|--:|\n| 1 | a | E |"],
    ["in a list", "- x\n\n  | Task | Name | Epic |\n  |---|---|---|\n  | 1 | a | E |"],
  ])("are there: %s", (_, text) => {
    expect(inFile(columns, `# Tasks\n\n${text}\n`)).toEqual([]);
  });

  it("are nowhere", () => {
    const none = "a.md has no table with the columns Task, Name, Epic, in this order";
    expect(inFile(columns, "# Tasks\n")).toEqual([none]);
    expect(inFile(columns, table("| A | B |", "| 1 | 2 |"))).toEqual([none]);
    expect(
      inFile(columns, `\`\`\`\n${table("| Task | Name | Epic |", "| 1 | a | E |")}\n\`\`\``),
    ).toEqual([none]);
    expect(inFile(columns, "| Task | Name | Epic |\n| 1 | a | E |")).toEqual([none]);
    expect(inFile(columns, "| Task | Name | Epic |\n|---|---|\n| 1 | a | E |")).toEqual([none]);
  });

  it("are not in this order; the table is named that was meant", () => {
    expect(
      inFile(
        columns,
        `${table("| A | B |", "| 1 | 2 |")}\n\n${table("| Task | Epic | Name |", "| 1 | E | a |")}`,
      ),
    ).toEqual([
      "5: a.md has a table without the column Epic in its place: Task, Name, Epic, in this order",
    ]);
  });

  it("have no row", () => {
    const none = "3: a.md has no row in its table Task, Name, Epic";
    for (const rows of [[], ["|  |  |  |"], ["", "| 1 | a | E |"], ["# Next"]])
      expect(inFile(columns, `# T\n\n${table("| Task | Name | Epic |", ...rows)}`)).toEqual([none]);
  });
});

describe("fields", () => {
  const fields = { fields: ["Task", "Complexity"] };

  it.each([
    ["with the colon outside", "**Task**: 03\n**Complexity**: 3 points\n"],
    ["with the colon inside", "**Task:** 03\n\n**Complexity:** 3\n"],
    ["in a list or a quotation", "- **Task**: 03\n> **Complexity**: 3\n"],
    ["in another case", "**TASK**: 03\n**complexity** : 3\n"],
    ["above a rule", "**Task**: 03\n**Complexity**: 3\n---\ntext\n"],
    ["as a dash, which is a word too", "**Task**: 03\n**Complexity**: —\n"],
  ])("are there: %s", (_, text) => {
    expect(inFile(fields, text)).toEqual([]);
  });

  it("have no value, or a word for none", () => {
    for (const value of ["", "   ", "TBD", "…", "[...]", "todo"])
      expect(inFile(fields, `# T\n**Task**: 03\n**Complexity**: ${value}\n`)).toEqual([
        "3: a.md has no value for **Complexity**",
      ]);
  });

  it("are not there", () => {
    for (const text of [
      "**Task**: 03\nComplexity: 3",
      "**Task**: 03\n```\n**Complexity**: 3\n```",
      "**Task**: 03 **Complexity**",
    ])
      expect(inFile(fields, text)).toEqual(['a.md has no line "**Complexity**: …"']);
  });
});

describe("what some line says", () => {
  it("is an expression about a line, without regard to case", () => {
    const says = "^\\*\\*Complexity\\*\\*: *[1-5]\\b";
    expect(inFile({ says }, "x\r\n**complexity**: 5\r\n")).toEqual([]);
    expect(inFile({ says }, "**Complexity**: 8\n")).toEqual([`a.md has no line like /${says}/`]);
    expect(inFile({ says: "^a$" }, "a\r\nb")).toEqual([]);
    expect(inFile({ says: "a.b" }, "a\nb")).toHaveLength(1);
  });
});

describe("files that have to be named", () => {
  const table = { path: "t/_table.md", mentions: "t/todo/*.md" };
  const files = { "t/todo/03_cache.md": "x", "t/todo/AZ-12_login.md": "x" };
  const named = (text: string): string[] => unmet(table, { ...files, "t/_table.md": text });

  it.each([
    ["by their names", "todo/03_cache.md and [it](todo/AZ-12_login.md)."],
    ["without .md", "`03_cache`, AZ-12_login."],
    ["by their ids", "| 03 | AZ-12 |"],
    ["in another case", "03, az-12"],
  ])("are: %s", (_, text) => {
    expect(named(text)).toEqual([]);
  });

  it.each([
    ["a longer id", "AZ-123, 03", "AZ-12_login.md"],
    ["a part of a date", "2026-03-01, AZ-12_login", "03_cache.md"],
    ["a part of a name", "03_cached.md, AZ-12", "03_cache.md"],
    ["a number that is written otherwise", "3, AZ-12", "03_cache.md"],
  ])("are not by %s", (_, text, missing) => {
    expect(named(text)).toEqual([`t/_table.md does not name ${missing}`]);
  });

  it("may have names of several words", () => {
    const spaced = { "t/todo/my task.md": "x" };
    expect(unmet(table, { ...spaced, "t/_table.md": "see my task here" })).toEqual([]);
    expect(unmet(table, { ...spaced, "t/_table.md": "see task here" })).toEqual([
      "t/_table.md does not name my task.md",
    ]);
  });

  it("need not name themselves", () => {
    expect(unmet({ path: "t/1.md", mentions: "t/*.md" }, { "t/1.md": "x" })).toEqual([]);
  });
});

describe("which files", () => {
  const docs = new Map([
    ["a.md", 100],
    ["t/1.md", 1],
    ["t/2.md", 0],
    ["r_2026-01-01.md", 1],
  ]);
  const artifacts = [
    artifact({ path: "a.md" }),
    artifact({ path: "t/*.md", fields: ["Task"] }),
    artifact({ path: "t/1.md", sections: ["Risks"] }),
    artifact({ path: "r_{date}.md", optional: true, says: "x" }),
    artifact({ path: "gone.md", mentions: "a.md" }),
  ];

  it("have to be looked into", () => {
    expect(textsOf(artifacts, docs, { cycle: 1 })).toEqual(["r_2026-01-01.md", "t/1.md", "t/2.md"]);
    expect(textsOf(artifacts, docs, { cycle: 1, date: "2026-02-01" })).toEqual([
      "t/1.md",
      "t/2.md",
    ]);
  });

  it("are there already", () => {
    expect(existing(artifacts, docs, { cycle: 1 })).toEqual([
      "a.md",
      "r_2026-01-01.md",
      "t/1.md",
      "t/2.md",
    ]);
  });
});

describe("a document that is made to be slow", () => {
  const long = 400_000;
  it.each([
    ["marks of headings", `# ${"#".repeat(long)}x`],
    ["spaces", `## Risks${" ".repeat(long)}x`],
    ["brackets", "[x](".repeat(long / 4)],
    ["open brackets", "[".repeat(long)],
    ["strokes", `${"|".repeat(long)}\n${"|-".repeat(long / 2)}`],
    ["dots", `a${".".repeat(long)}!`],
    ["dashes and dots", "a.-".repeat(long / 3)],
    ["list marks", `${"- ".repeat(long / 2)}x`],
    ["stars", `${"*".repeat(long)}x`],
    ["open comments", "<!--\n".repeat(long / 5)],
    ["fences", "```\n".repeat(long / 4)],
    ["headings", "# a\n".repeat(long / 4)],
    ["tables", "|a|\n|-|\n".repeat(long / 8)],
    ["fields", "**a**: \n".repeat(long / 8)],
  ])(
    "is not: %s",
    (_, text) => {
      const wanted = {
        sections: ["Q"],
        columns: ["Q"],
        fields: ["Q"],
        says: "^Q$",
        mentions: "b.md",
      };
      const unmet = unmetBy(
        [artifact({ path: "a.md", ...wanted })],
        factsOf({ "a.md": text, "b.md": "x" }),
        { cycle: 1 },
      );
      expect(unmet).toHaveLength(5);
    },
    4000,
  );
});
