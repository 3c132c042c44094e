import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { builtInFlows } from "../core/flow/flows/index.ts";
import { parseFlow, readFlow } from "./flow-file.ts";

const file = ".autodev/flows/mine.yaml";

/** Line 1 is its name, line 4 its first step. */
const flowOf = (...lines: readonly string[]): string =>
  ["name: mine", "about: a flow of our own", "steps:", ...lines, ""].join("\n");

const first = "  - { step: 1, name: One, skill: one }";

describe("a flow is read from YAML", () => {
  it.each(builtInFlows.map((flow) => [flow.name, flow] as const))("as %s says it", (_, flow) => {
    expect(readFlow(stringify(flow), file)).toEqual({ ok: true, value: flow });
  });

  it("with numbers as they are written", () => {
    const read = readFlow(
      flowOf("  - { step: 3, name: A, skill: a }", "  - { step: 3.10, name: B, skill: b }"),
      file,
    );
    expect(read).toMatchObject({ ok: true, value: { steps: [{ step: "3" }, { step: "3.10" }] } });
  });

  it("with an alias for what is said twice", () => {
    const text = flowOf(
      "  - { step: 1, name: One, skill: one, done: &report { exists: report.md } }",
      "  - { step: 2, name: Two, skill: two, done: { no: *report } }",
    );
    const steps = [{}, { done: { no: { exists: "report.md" } } }];
    expect(readFlow(text, file)).toMatchObject({ ok: true, value: { steps } });
  });
});

interface Wanted {
  readonly line: number;
  readonly field: string;
  readonly expected: RegExp;
  readonly found: RegExp;
  readonly hint: RegExp;
}

describe("what is wrong is told with its line:", () => {
  const step = (...lines: readonly string[]): string =>
    flowOf(first, "  - step: 2", "    name: Two", "    skill: two", ...lines);
  const table: [string, string, Wanted][] = [
    [
      "no YAML",
      flowOf(first, "  - { step: 2"),
      { line: 5, field: "", expected: /YAML/, found: /must|expected|flow map/i, hint: /mend/ },
    ],
    [
      "a colon that should be quoted",
      step("    done: { file: a.md, says: x: y }"),
      { line: 8, field: "", expected: /YAML/, found: /./, hint: /quotes/ },
    ],
    [
      "an empty file",
      "",
      { line: 1, field: "", expected: /a flow: name/, found: /nothing/, hint: /write/ },
    ],
    [
      "a list",
      "- a\n- b\n",
      { line: 1, field: "", expected: /a flow: name/, found: /a list/, hint: /write/ },
    ],
    [
      "a missing key",
      "name: mine\nsteps:\n  - { step: 1, name: One, skill: one }\n",
      { line: 1, field: "about", expected: /a text/, found: /nothing/, hint: /add about/ },
    ],
    [
      "a missing key of a step",
      flowOf(first, "  - step: 2", "    skill: two"),
      { line: 5, field: "steps[1].name", expected: /a text/, found: /nothing/, hint: /add name/ },
    ],
    [
      "a key that is nearly one",
      step("    optoinal: true"),
      {
        line: 8,
        field: "steps[1].optoinal",
        expected: /^optional$/,
        found: /^optoinal$/,
        hint: /write optional instead/,
      },
    ],
    [
      "a key that is none",
      step("    colour: red"),
      {
        line: 8,
        field: "steps[1].colour",
        expected: /one of step/,
        found: /colour/,
        hint: /remove/,
      },
    ],
    [
      "a key twice",
      step("    skill: other"),
      { line: 8, field: "", expected: /once/, found: /a second skill/, hint: /remove/ },
    ],
    [
      "a name that is none",
      step("    mode: Full Speed"),
      {
        line: 8,
        field: "steps[1].mode",
        expected: /lower-case/,
        found: /"Full Speed"/,
        hint: /for mode/,
      },
    ],
    [
      "a value of another kind",
      step("    optional: perhaps"),
      {
        line: 8,
        field: "steps[1].optional",
        expected: /true or false/,
        found: /"perhaps"/,
        hint: /for optional/,
      },
    ],
    [
      "no steps",
      "name: mine\nabout: x\nsteps: []\n",
      {
        line: 3,
        field: "steps",
        expected: /at least one step/,
        found: /an empty list/,
        hint: /for steps/,
      },
    ],
    [
      "a step's number that is none",
      flowOf("  - { step: one, name: One, skill: one }"),
      { line: 4, field: "steps[0].step", expected: /a number/, found: /"one"/, hint: /for step/ },
    ],
    [
      "a path that leads out",
      step("    done:", "      all:", "        - exists: a.md", "        - exists: ../secret"),
      {
        line: 11,
        field: "steps[1].done.all[1].exists",
        expected: /below _docs/,
        found: /secret/,
        hint: /for exists/,
      },
    ],
    [
      "a path with a slash at its end",
      step("    done: { folder: 02_tasks/ }"),
      {
        line: 8,
        field: "steps[1].done.folder",
        expected: /below _docs/,
        found: /02_tasks/,
        hint: /for folder/,
      },
    ],
    [
      "a folder with a star",
      step("    done: { folder: 02_*/x }"),
      {
        line: 8,
        field: "steps[1].done.folder",
        expected: /one folder/,
        found: /02_/,
        hint: /for folder/,
      },
    ],
    [
      "a probe that is nearly one",
      step("    done: { exist: a.md }"),
      {
        line: 8,
        field: "steps[1].done.exist",
        expected: /^exists$/,
        found: /^exist$/,
        hint: /write exists instead of exist/,
      },
    ],
    [
      "two probes in one",
      step("    done: { exists: a.md, folder: b }"),
      {
        line: 8,
        field: "steps[1].done.exists",
        expected: /one of/,
        found: /exists and folder/,
        hint: /all or any/,
      },
    ],
    [
      "a probe that is a text",
      step("    done: a.md"),
      {
        line: 8,
        field: "steps[1].done",
        expected: /one of filled/,
        found: /"a.md"/,
        hint: /exists: /,
      },
    ],
    [
      "a file without what it says",
      step("    done: { file: a.md }"),
      {
        line: 8,
        field: "steps[1].done.says",
        expected: /regular expression/,
        found: /nothing/,
        hint: /add says/,
      },
    ],
    [
      "an expression that is none",
      step("    done: { file: a.md, says: '(' }"),
      {
        line: 8,
        field: "steps[1].done.says",
        expected: /unterminated group/,
        found: /"\("/,
        hint: /for says/,
      },
    ],
    [
      "an expression that looks ahead",
      step("    done: { any: [{ file: a.md, says: '(?=a)b' }] }"),
      {
        line: 8,
        field: "steps[1].done.any[0].says",
        expected: /only \(\?:/,
        found: /\(\?=a\)b/,
        hint: /for says/,
      },
    ],
    [
      "a chain to nowhere that can be named",
      step("    then: { step: last }"),
      {
        line: 8,
        field: "steps[1].then.step",
        expected: /or done/,
        found: /"last"/,
        hint: /for step/,
      },
    ],
    [
      "a boundary without its notes",
      step("    then:", "      boundary: { title: a, next: b }"),
      {
        line: 9,
        field: "steps[1].then.boundary.notes",
        expected: /a text/,
        found: /nothing/,
        hint: /add notes/,
      },
    ],
    [
      "a key that would be everybody's",
      step("    __proto__: { optional: true }"),
      { line: 8, field: "steps[1].__proto__", expected: /one of/, found: /proto/, hint: /remove/ },
    ],
  ];
  it.each(table)("%s", (_, text, wanted) => {
    const { flow, findings } = parseFlow(text, file);
    expect(flow).toBeUndefined();
    expect(findings).toHaveLength(1);
    const [found] = findings;
    expect(found).toMatchObject({ code: "flow-invalid", file });
    expect({ line: found?.line, field: found?.field }).toEqual({
      line: wanted.line,
      field: wanted.field,
    });
    for (const key of ["expected", "found", "hint"] as const)
      expect(found?.[key]).toMatch(wanted[key]);
    const read = readFlow(text, file);
    expect(read).toMatchObject({ ok: false, failure: { file, line: wanted.line } });
    if (!read.ok) expect(read.failure.message).toContain(`${file}:${wanted.line}: `);
  });

  it("all of it at once", () => {
    const text = step("    mode: A", "    colour: red", "    done: { exists: /a }");
    expect(parseFlow(text, file).findings.map(({ line }) => line)).toEqual([8, 9, 10]);
  });
});

describe("what YAML can hide is refused at once:", () => {
  const bomb = [
    "name: mine",
    "about: &a [x, x, x, x, x, x, x, x, x]",
    ..."bcdefghi".split("").map((name, at) => {
      const before = "abcdefgh"[at] ?? "";
      return `${name}: &${name} [${Array(9).fill(`*${before}`).join(", ")}]`;
    }),
  ].join("\n");
  const table: [string, string][] = [
    ["a billion laughs", bomb],
    ["an alias within itself", flowOf(first, "  - &me { step: 2, name: B, done: { no: *me } }")],
    [
      "a list of itselfs",
      flowOf("  - { step: 1, name: A, skill: a, done: { all: &l [*l, *l, *l, *l] } }"),
    ],
    [
      "a chain of aliases",
      flowOf(
        "  - { step: 1, name: A, skill: a, done: &p0 { exists: a } }",
        ...Array.from(
          { length: 90 },
          (_, at) =>
            `  - { step: ${at + 2}, name: A, skill: a, done: &p${at + 1} { no: *p${at} } }`,
        ),
      ),
    ],
    ["20,000 aliases", flowOf(`  - &s { step: 1, name: A, skill: a }${"\n  - *s".repeat(20_000)}`)],
    ["100,000 brackets", "[".repeat(100_000)],
    ["3,000 pairs of brackets", "[".repeat(3000) + "]".repeat(3000)],
    [
      "3,000 probes in each other",
      flowOf(
        `  - { step: 1, name: A, skill: a, done: ${"{ no: ".repeat(3000)}a${" }".repeat(3000)} }`,
      ),
    ],
    ["15,000 steps that are none", flowOf(...Array<string>(15_000).fill("  - x"))],
    [
      "6,000 keys that are none",
      flowOf(first, ...Array.from({ length: 6000 }, (_, at) => `    k${at}: x`)).replace(
        "{ step: 1, name: One, skill: one }",
        "step: 1",
      ),
    ],
    ["40,000 keys", Array.from({ length: 40_000 }, (_, at) => `${at}:\n`).join("")],
    ["a key of 100 KB", `${"k".repeat(100_000)}: x\n${flowOf(first)}`],
    ["60,000 steps", flowOf(...Array<string>(60_000).fill("  - x"))],
  ];
  it.each(table)("%s", (_, text) => {
    const began = performance.now();
    const { flow, findings } = parseFlow(text, file);
    expect(flow).toBeUndefined();
    expect(findings.length).toBeGreaterThan(0);
    expect(findings.length).toBeLessThanOrEqual(50);
    expect(findings[0]?.line).toBeGreaterThan(0);
    expect(findings[0]?.message.length).toBeLessThan(1000);
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
