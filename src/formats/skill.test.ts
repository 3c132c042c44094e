import { describe, expect, it } from "vitest";
import { readSkill, readWrittenSkill } from "./skill.ts";

const file = ".autodev/skills/brew/SKILL.md";

const ours = `---
name: brew
description: Makes tea.
license: MIT
phases:
  - name: boil
    reads: [00_problem/problem.md]
  - name: pour
    break: true
needs: [00_problem/problem.md]
produces:
  - path: 01_solution/tea*.md
    sections: [Leaves]
gates:
  - name: sugar
    after: boil
    question: "How much sugar for {guest}?"
    options: [none, some]
    recommendation: A
    reason: tea is good as it is
modes:
  green:
    phases:
      - name: cool-down
    gates: []
---
# Tea

Boil, then pour.
`;

const failureOf = (text: string, at = file) => {
  const read = readSkill(text, at);
  if (read.ok) throw new Error(`it was read: ${JSON.stringify(read.value)}`);
  return read.failure;
};

describe("a skill of ours", () => {
  it("has phases, artifacts and gates, and its instructions without the front matter", () => {
    const read = readSkill(ours, file);
    expect(read).toMatchObject({
      ok: true,
      value: {
        name: "brew",
        description: "Makes tea.",
        file,
        text: "# Tea\n\nBoil, then pour.\n",
        own: true,
        phases: [
          { name: "boil", reads: ["00_problem/problem.md"], break: false },
          { name: "pour", reads: [], break: true },
        ],
        needs: ["00_problem/problem.md"],
        produces: [{ path: "01_solution/tea*.md", least: 1, sections: ["Leaves"] }],
        gates: [{ name: "sugar", after: "boil", recommendation: "A" }],
      },
    });
  });

  it("is done in a mode as the mode says, and as the skill says where it does not", () => {
    const read = readSkill(ours, file, "green");
    expect(read).toMatchObject({
      ok: true,
      value: {
        phases: [{ name: "cool-down" }],
        produces: [{ path: "01_solution/tea*.md" }],
        gates: [],
      },
    });
  });

  it("is done as usual in a mode that it does not know", () => {
    expect(readSkill(ours, file, "constructor")).toMatchObject({
      ok: true,
      value: { own: true, phases: [{ name: "boil" }, { name: "pour" }] },
    });
  });

  it.each([
    ["a BOM", `\uFEFF${ours}`],
    ["Windows' line ends", ours.replaceAll("\n", "\r\n")],
    ["an empty line before it", `\n${ours}`],
    ["dots at its end", ours.replace("---\n# Tea", "...\n# Tea")],
  ])("is read with %s", (_, text) => {
    const read = readSkill(text, file);
    expect(read).toMatchObject({ ok: true, value: { own: true } });
    expect(read.ok && read.value.text).toMatch(/^# Tea/);
  });

  it("keeps what the standard has besides, and knows how long it is", () => {
    const read = readWrittenSkill(ours, file);
    expect(read).toMatchObject({ ok: true, value: { head: { license: "MIT" }, lines: 29 } });
  });
});

describe("a skill of another system", () => {
  const foreign = { own: false, phases: [], needs: [], produces: [], gates: [] };

  it("has a name and a description, and promises nothing", () => {
    const text = "---\nname: other\ndescription: Does it.\nallowed-tools: Read\n---\nDo it.\n";
    expect(readSkill(text, file)).toEqual({
      ok: true,
      value: { ...foreign, name: "brew", description: "Does it.", file, text: "Do it.\n" },
    });
  });

  it("needs no front matter at all", () => {
    expect(readSkill("# Just do it\n", file)).toMatchObject({
      ok: true,
      value: { ...foreign, name: "brew", description: "the skill brew", text: "# Just do it\n" },
    });
  });

  it.each([
    [
      "is no YAML",
      "description: Use this: when it rains\nname: Brew It!",
      "Use this: when it rains",
    ],
    ["is a list", "- a\n- b", "the skill brew"],
    ["is empty", "", "the skill brew"],
    ["is a word", "brew", "the skill brew"],
    [
      "has keys of ours that mean something else",
      "needs: water\ngates: 3\nproduces: tea",
      "the skill brew",
    ],
    [
      "has a long description",
      `description: ${"tea ".repeat(999)}`,
      "tea ".repeat(256).slice(0, 1024),
    ],
  ])("works although its front matter %s", (_, front, description) => {
    expect(readSkill(`---\n${front}\n---\nDo it.\n`, file)).toMatchObject({
      ok: true,
      value: { ...foreign, description, text: "Do it.\n" },
    });
  });

  it("may begin with a rule", () => {
    const text = "---\n\nDo it.\n";
    expect(readSkill(text, file)).toMatchObject({ ok: true, value: { ...foreign, text } });
  });
});

describe("what is wrong is told with its line", () => {
  it.each([
    ["YAML", ["name: brew", "name: [brew"], 3, /not YAML/],
    [
      "a key",
      ["break: true", "brek: true"],
      9,
      /phases\.1\.brek is not known here: did you mean break\?/,
    ],
    ["a missing description", ["description: Makes tea.\n", ""], 2, /description is missing/],
    ["a name that is no name", ["name: boil", "name: Boil It"], 6, /phases\.0\.name .*kebab-case/],
    ["a name that is not its folder's", ["name: brew", "name: stew"], 2, /has to be brew/],
    ["a phase twice", ["name: pour", "name: boil"], 8, /phase 1 is called boil/],
    ["a reserved phase", ["name: pour", "name: awaiting-invocation"], 8, /before any phase/],
    ["a gate after nothing", ["after: boil", "after: tea"], 16, /tea is no phase: boil, pour/],
    ["an option that is not there", ["recommendation: A", "recommendation: C"], 19, /one of A, B/],
    [
      "a path that leads out",
      ["needs: [00_problem", "needs: [../problem"],
      10,
      /relative to _docs/,
    ],
    ["a path from the root", ["path: 01_solution", "path: /01_solution"], 12, /stays below/],
    [
      "a path with _docs/",
      ["path: 01_solution", "path: _docs/01_solution"],
      12,
      /relative to _docs/,
    ],
    ["an expression", ["sections: [Leaves]", 'says: "(tea"'], 13, /no regular expression/],
    ["a column that is none", ["sections: [Leaves]", "in: Task"], 13, /in is one of its columns/],
    ["no phases at all", [/phases:\n.*\n.*\n.*\n.*break: true\n/, ""], 7, /produces and no phases/],
    [
      "phases that are none",
      [/phases:\n.*\n.*\n.*\n.*break: true\n/, "phases: 4\n"],
      5,
      /expected array/,
    ],
    [
      "a mode without the phases of the skill's gates",
      ["    gates: []\n", ""],
      23,
      /boil is no phase: cool-down/,
    ],
  ] as const)("%s", (_, [from, to], line, words) => {
    const failure = failureOf(ours.replace(from, to));
    expect(failure).toMatchObject({ code: "skill-invalid", file });
    expect(failure.message).toMatch(words);
    expect(failure.message).toContain(`${file}:${failure.line} cannot be used: `);
    expect(failure.line).toBe(line);
    expect(failure.hint).toContain(`mend line ${line} of ${file}`);
  });

  it("as a front matter without an end", () => {
    const failure = failureOf(ours.replace("---\n# Tea", "# Tea"));
    expect(failure).toMatchObject({ line: 1 });
    expect(failure.message).toContain("has no end");
  });

  it("all of it at once", () => {
    const text = ours.replace("after: boil", "after: tea").replace("name: brew", "name: stew");
    expect(failureOf(text).details).toEqual([
      expect.stringMatching(/SKILL\.md:16: gates\.0\.after/),
    ]);
  });

  it("and an alias that grows beyond measure is refused", () => {
    const bomb = ["a: &a [x,x,x,x,x,x,x,x,x]", "b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]"];
    bomb.push("c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]", "d: [*c,*c,*c,*c,*c,*c,*c,*c,*c]");
    expect(failureOf(`---\nphases: [{ name: a }]\n${bomb.join("\n")}\n---\n`).message).toMatch(
      /alias/,
    );
  });
});
