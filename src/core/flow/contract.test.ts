import { describe, expect, it } from "vitest";
import {
  existing,
  reportsUnmet,
  sentenceOf,
  textsOf,
  unmetBy,
  writtenBetween,
} from "./contract.ts";
import { type Artifact, SkillHead } from "./skill.ts";
import { verdictIn } from "./tasks.ts";

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
      [{ path: "a.md", message: "a.md cannot be read as text: it has to be UTF-8" }],
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
      "there is no file like 03_implementation/implementation_report_*_cycle3.md; there is 03_implementation/implementation_report_login_cycle2.md",
    ]);
    expect(unmet({ path: "r_{cycle}.md" }, {}, { cycle: 3 })).toEqual(["r_3.md is missing"]);
  });

  it("is a date, and not one from before", () => {
    const path = "06_metrics/retro_{date}.md";
    const files = { "06_metrics/retro_2026-03-01.md": "x" };
    expect(unmet({ path }, files)).toEqual([]);
    expect(unmet({ path }, files, { cycle: 1, date: "2026-03-01T08:00:00Z" })).toEqual([]);
    expect(unmet({ path }, files, { cycle: 1, date: "2026-03-02" })).toEqual([
      "there is no file like 06_metrics/retro_<YYYY-MM-DD>.md, of 2026-03-02 or later; there is 06_metrics/retro_2026-03-01.md",
    ]);
    const others = "today 12026-03-011 2026-02-30 2025-02-29 2026-13-01 2026-00-10 2026-01-00";
    for (const other of others.split(" "))
      expect(unmet({ path }, { [`06_metrics/retro_${other}.md`]: "x" })).toEqual([
        `there is no file like 06_metrics/retro_<YYYY-MM-DD>.md; there is 06_metrics/retro_${other}.md`,
      ]);
    expect(unmet({ path }, { "06_metrics/retro_2024-02-29.md": "x" })).toEqual([]);
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
    ["with a comment behind it", "## Risks <!-- of all kinds -->\nFire.\n"],
    ["after a comment's mark that is code", "`<!--` begins a comment\n## Risks\nFire.\n"],
  ])("are there: %s", (_, text) => {
    expect(inFile(risks, text)).toEqual([]);
  });

  const held = "this line stands in a code fence, a comment or the front matter";
  const bare = "this line is no heading: one begins with #, up to six of them, and a space";

  it.each([
    ["in a fence", "x\n```\n## Risks\nFire.\n```\n", `3: a.md has no section "Risks": ${held}`],
    [
      "in a fence of tildes that never ends",
      "x\n~~~\n## Risks\n",
      `3: a.md has no section "Risks": ${held}`,
    ],
    ["in a comment", "<!--\n## Risks\n-->\nx\n", `2: a.md has no section "Risks": ${held}`],
    [
      "in a comment that begins in a line",
      "x <!-- y\n## Risks\n-->\n",
      `2: a.md has no section "Risks": ${held}`,
    ],
    ["in a front matter", "---\n# Risks\n---\nFire.\n", `2: a.md has no section "Risks": ${held}`],
    ["as a tag", "#Risks\nFire.\n", `1: a.md has no section "Risks": ${bare}`],
    ["in seven levels", "####### Risks\nFire.\n", `1: a.md has no section "Risks": ${bare}`],
    ["in bold", "**Risks**\n\nFire.\n", `1: a.md has no section "Risks": ${bare}`],
    [
      "under almost its name",
      "# A\n## Risk\nFire.\n",
      '2: a.md has no section "Risks": this one is called "## Risk"',
    ],
    ["as a word", "Risks are everywhere.\n", 'a.md has no section "Risks"'],
    ["as part of another", "## Risks of fire\nFire.\n", 'a.md has no section "Risks"'],
  ])("are not there: %s", (_, text, told) => {
    expect(inFile(risks, text)).toEqual([told]);
  });

  it.each([
    ["nothing", "# A\n## Risks\n"],
    ["the next of the same level", "# A\n## Risks\n\n## B\nText.\n"],
    ["the next of a higher level", "# A\n## Risks\n# B\nText.\n"],
    ["headings and no text", "# A\n## Risks\n### Likely\n### Unlikely\n## B\nText\n"],
    ["a comment", "# A\n## Risks\n<!-- what could\ngo wrong -->\n"],
    ["words for nothing", "# A\n## Risks\n- **TBD**\n\n...\n\n[…]\n\n---\n???\n"],
    ["a promise", "# A\n## Risks\n- [ ] TODO: ask the operator\n"],
    ["a blank", "# A\n## Risks\n[describe what can go wrong]\n\n<risk>\n\n{risks}\n"],
    ["words that fill", "# A\n## Risks\nLorem ipsum dolor sit amet.\n"],
    ["a table without a row", "# A\n## Risks\n| A | B |\n|---|---|\n|   |   |\n"],
    ["a fence without a line", "# A\n## Risks\n```\n```\n"],
    ["an underlined heading", "# A\n## Risks\n\nB\n---\nText.\n"],
  ])("are empty: below it is %s", (_, text) => {
    expect(inFile(risks, text)).toEqual(['2: a.md has no text in its section "Risks"']);
  });
});

describe("what is no blank", () => {
  it.each(["[AZ-12]", "[none]", "[a, b]", "[it](a.md)", "[[a]]", "todo lists", "<https://a.b>"])(
    "%s",
    (value) => {
      expect(inFile({ fields: ["Epic"] }, `**Epic**: ${value}\n`)).toEqual([]);
    },
  );
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
  });

  it("are in a line that is no table's head", () => {
    const none = "a.md has no table with the columns Task, Name, Epic, in this order";
    const head = "| Task | Name | Epic |";
    expect(inFile(columns, `x\n\`\`\`\n${table(head, "| 1 | a | E |")}\n\`\`\``)).toEqual([
      `3: ${none}: this line stands in a code fence, a comment or the front matter`,
    ]);
    for (const rest of ["| 1 | a | E |", "|---|---|\n| 1 | a | E |"])
      expect(inFile(columns, `${head}\n${rest}`)).toEqual([
        `1: ${none}: this line has no |---| for each of its columns below it`,
      ]);
  });

  it("are not in this order; the table is named that was meant", () => {
    const other = table("| A | B |", "| 1 | 2 |");
    expect(
      inFile(columns, `${other}\n\n${table("| Task | Epic | Name |", "| 1 | E | a |")}`),
    ).toEqual([
      "5: a.md has a table with its columns in another order: it has Task, Epic, Name, and has to have Task, Name, Epic, in this order",
    ]);
    expect(
      inFile(columns, `${other}\n\n${table("| Id | Name | Epic |", "| 1 | a | E |")}`),
    ).toEqual([
      "5: a.md has a table without the column Task: it has Id, Name, Epic, and has to have Task, Name, Epic, in this order",
    ]);
  });

  it("have no row", () => {
    const none = "3: a.md has no row in its table Task, Name, Epic";
    for (const rows of [[], ["|  |  |  |"], ["", "| 1 | a | E |"], ["# Next"]])
      expect(inFile(columns, `# T\n\n${table("| Task | Name | Epic |", ...rows)}`)).toEqual([none]);
  });
});

describe("rows", () => {
  const columns = { columns: ["Id", "Risk"] };
  const rows = (...all: string[]): string[] =>
    inFile(columns, ["| Id | Risk | Note |", "|---|---|---|", ...all].join("\n"));

  it.each([
    ["as short as they are", "| K1 | Fire"],
    ["with a dash for their id", "| – | none was found | |"],
    ["with a stroke in a cell", "| K1 | a \\| b | c |"],
    ["without what nobody asks for", "| K1 | Fire | |"],
  ])("are right: %s", (_, row) => {
    expect(rows(row)).toEqual([]);
  });

  it.each([
    ["nothing in the first column", "| | Fire | x |", "a row with nothing under Id"],
    ["a word for nothing there", "| TBD | Fire | x |", "a row with nothing under Id"],
    ["nothing else", "| K1 | … | x |", 'a row with nothing but its Id, "K1"'],
    [
      "more cells than columns",
      "| K1 | a | b | c |",
      "a row of 4 cells in a table of 3 columns: a stroke within a cell is written \\|",
    ],
  ])("have %s", (_, row, told) => {
    expect(rows("| K0 | Flood | |", row)).toEqual([`4: a.md has ${told}`]);
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
    const none = 'a.md has no line "**Complexity**: …"';
    expect(inFile(fields, "**Task**: 03 **Complexity**")).toEqual([none]);
    expect(inFile(fields, "**Task**: 03\nComplexity: 3")).toEqual([
      `2: ${none}: this line is not like it`,
    ]);
    expect(inFile(fields, "**Task**: 03\n```\n**Complexity**: 3\n```")).toEqual([
      `3: ${none}: this line stands in a code fence, a comment or the front matter`,
    ]);
  });
});

describe("what some line says", () => {
  it("is an expression about a line, without regard to case", () => {
    const says = "^\\*\\*Complexity\\*\\*: *[1-5]\\b";
    expect(inFile({ says }, "x\r\n**complexity**: 5\r\n")).toEqual([]);
    expect(inFile({ says }, "# A\n")).toEqual([`a.md has no line like /${says}/`]);
    expect(inFile({ says: "^a$" }, "a\r\nb")).toEqual([]);
    expect(inFile({ says: "a.b" }, "a\nb")).toHaveLength(1);
  });
});

describe("a line that is like a field", () => {
  const says = "^\\*\\*Verdict\\*\\*: *(PASS|FAIL)$";
  const like = `/${says}/`;

  it.each([
    [
      "another word",
      "**Verdict**: MAYBE",
      `1: a.md says "**Verdict**: MAYBE", and the line has to be`,
    ],
    ["no word", "**Verdict**:", `1: a.md says "**Verdict**:", and the line has to be`],
    [
      "other marks",
      "x\n- **Verdict:** PASS",
      '2: a.md says "- **Verdict:** PASS", and the line has to be',
    ],
  ])("has %s", (_, text, told) => {
    expect(inFile({ says }, text)).toEqual([`${told} like ${like}`]);
  });

  it("is hidden", () => {
    expect(inFile({ says }, "x\n<!-- **Verdict**: PASS -->\n")).toEqual([
      `2: a.md has no line like ${like}: this line stands in a code fence, a comment or the front matter`,
    ]);
  });

  it("is said once, or in the same words", () => {
    expect(inFile({ says }, "**Verdict**: PASS\n\n**Verdict**: pass\n")).toEqual([]);
    for (const other of ["FAIL", "MAYBE"])
      expect(inFile({ says }, `**Verdict**: PASS\n\n**Verdict**: ${other}\n`)).toEqual([
        `3: a.md says "**Verdict**: ${other}", and line 1 says "**Verdict**: PASS": it is said once, like ${like}`,
      ]);
  });

  it("may be one of many where it is no field", () => {
    expect(inFile({ says: "^- " }, "- a\n- b\n")).toEqual([]);
  });

  it("is told once, also where it is a field that is promised", () => {
    expect(inFile({ says, fields: ["Verdict"] }, "**Verdict**: …\nx\n")).toHaveLength(1);
  });
});

describe("a verdict", () => {
  it.each([
    ["FAIL", "FAIL"],
    ["fail", "FAIL"],
    ["PASS_WITH_WARNINGS", "PASS_WITH_WARNINGS"],
    ["PASSED", undefined],
  ])("%s is read as its contract reads it", (word, verdict) => {
    const text = `x\n\`\`\`\n**Verdict**: PASS\n\`\`\`\n<!-- **Verdict**: PASS -->\n**Verdict**: ${word}\n`;
    expect(verdictIn(text)).toBe(verdict);
  });
});

describe("a file as a whole", () => {
  const asked = { sections: ["Risks"], columns: ["A"], says: "^Q$" };

  it("has nothing in it", () => {
    const told = ["a.md has nothing in it but comments or words like TBD"];
    for (const text of ["<!-- later -->\n", "---\ntitle: Risks\n---\n", "TBD\n\n- …\n"]) {
      expect(inFile({}, text)).toEqual(told);
      expect(inFile(asked, text)).toEqual(told);
    }
  });

  it("has headings and no text", () => {
    expect(inFile({}, "# Flows\n\n## First\n\nTBD\n")).toEqual(["a.md has headings and no text"]);
    expect(inFile({}, "# Flows\n\nA parcel comes.\n")).toEqual([]);
  });

  it("is a fence from end to end", () => {
    const text = "```md\n# Risks\nFire.\n```\n";
    expect(inFile(asked, text)).toEqual([
      "1: a.md is a code fence and nothing else: what it says has to stand outside of it",
    ]);
    expect(inFile({}, text)).toEqual([]);
  });

  it("has the marks of a conflict, unless it shows how those look", () => {
    const marks = "<<<<<<< HEAD\nFire.\n=======\nFlood.\n>>>>>>> other\n";
    expect(inFile({ sections: ["Risks"] }, `# Risks\n${marks}`)).toEqual([
      "2: a.md has the marks of a merge conflict",
    ]);
    expect(inFile({ sections: ["Risks"] }, `# Risks\n\`\`\`\n${marks}\`\`\`\n`)).toEqual([]);
  });

  it("is told with its line", () => {
    expect(sentenceOf({ path: "a.md", message: "a.md is empty" })).toBe("a.md is empty");
    expect(sentenceOf({ path: "a.md", line: 3, message: "a.md has no row" })).toBe(
      "a.md:3 has no row",
    );
  });

  it("is told once, whoever promises it", () => {
    const twice = [artifact({ path: "*.md" }), artifact({ path: "a.md" })];
    expect(unmetBy(twice, factsOf({ "a.md": "" }), { cycle: 1 })).toHaveLength(1);
  });
});

describe("a file that is missing", () => {
  it.each([
    ["with another stroke", "tests/traceability-matrix.md", "tests/traceability_matrix.md"],
    ["with another ending", "_repo-config.yaml", "_repo-config.yml"],
    ["in another folder", "01_solution/tech_stack.md", "00_research/tech_stack.md"],
    ["in another folder, as one of many", "03/batch_*_report.md", "batch_02_report.md"],
    ["with a letter too many", "04_deploy/release_{date}.md", "04_deploy/releases_2026-03-10.md"],
  ])("is there %s", (_, path, there) => {
    expect(unmet({ path }, { [there]: "x" })).toEqual([
      expect.stringMatching(`; there is ${there}$`),
    ]);
  });

  it("is not what somebody else promises, and not anything", () => {
    const files = factsOf({ "a/risks.md": "x", "b/c.md": "x" });
    const both = [artifact({ path: "a/risk.md" }), artifact({ path: "a/risks.md" })];
    expect(unmetBy(both, files, { cycle: 1 }).map(sentenceOf)).toEqual(["a/risk.md is missing"]);
    expect(unmetBy([artifact({ path: "t/*.md" })], files, { cycle: 1 }).map(sentenceOf)).toEqual([
      "there is no file like t/*.md",
    ]);
  });
});

describe("a skill that writes nothing", () => {
  const before = new Map([
    ["a.md", "1"],
    ["b.md", "2"],
    ["c.md", "3"],
  ]);

  it("has left everything as it was", () => {
    expect(writtenBetween(before, new Map(before))).toEqual([]);
  });

  it("has written all the same", () => {
    const after = new Map([
      ["a.md", "1"],
      ["b.md", "5"],
      ["d.md", "4"],
    ]);
    expect(writtenBetween(before, after).map(sentenceOf)).toEqual([
      "b.md was changed, and this skill writes nothing",
      "c.md was removed, and this skill writes nothing",
      "d.md was added, and this skill writes nothing",
    ]);
  });
});

describe("words that are reported", () => {
  it("are known, or none are", () => {
    expect(reportsUnmet(["drift"], ["drift", "drift"])).toEqual([]);
    expect(reportsUnmet(undefined, ["anything"])).toEqual([]);
    expect(reportsUnmet(["drift", "calm"], ["drifts", "drift"])).toEqual([
      'its result reports "drifts", and may report only drift, calm or nothing',
    ]);
    expect(reportsUnmet([], ["drift"])).toEqual([
      'its result reports "drift", and may report nothing',
    ]);
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

  it("are not by what is in a comment or a fence", () => {
    expect(named("AZ-12 <!-- 03 -->\n```\n03\n```\n")).toEqual([
      "t/_table.md does not name 03_cache.md",
    ]);
  });

  it("have a row of their own, where a column is named", () => {
    const listed = { ...table, columns: ["Task", "Dependencies"], in: "Task" };
    const text = "03\n\n| Task | Dependencies |\n|---|---|\n| AZ-12 | 03_cache |\n";
    expect(unmet(listed, { ...files, "t/_table.md": text })).toEqual([
      "t/_table.md does not name 03_cache.md under Task",
    ]);
    expect(unmet(listed, { ...files, "t/_table.md": `${text}| 03_cache | – |\n` })).toEqual([]);
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
    expect(textsOf(artifacts, docs, { cycle: 1 })).toEqual([
      "a.md",
      "r_2026-01-01.md",
      "t/1.md",
      "t/2.md",
    ]);
    expect(textsOf(artifacts, docs, { cycle: 1, date: "2026-02-01" })).toEqual([
      "a.md",
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
        factsOf({ "a.md": `x\n\n${text}`, "b.md": "x" }),
        { cycle: 1 },
      );
      expect(unmet).toHaveLength(5);
    },
    4000,
  );
});

describe("what is to stay short", () => {
  const lessons = (count: number): string =>
    `# Lessons\n\n${Array.from({ length: count }, (_, at) => `- lesson ${at}`).join("\n")}\n`;
  const unmet = (count: number): string[] => {
    const text = lessons(count);
    const facts = {
      docs: new Map([["LESSONS.md", text.length]]),
      texts: new Map([["LESSONS.md", text]]),
    };
    const promise = artifact({ path: "LESSONS.md", says: "^- ", most: 15 });
    return unmetBy([promise], facts, { cycle: 1 }).map(sentenceOf);
  };

  it("has as many lines as it may, and no more", () => {
    expect(unmet(15)).toEqual([]);
    expect(unmet(17)).toEqual(["LESSONS.md:18 has 17 lines like /^- /, and at most 15 are kept"]);
  });
});
