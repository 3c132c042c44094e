import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPlan } from "../../formats/read-plan.ts";
import { readWrittenSkill } from "../../formats/skill.ts";
import type { Finding } from "../finding.ts";
import type { Flow, Step } from "./flow.ts";
import { builtInFlows } from "./flows/index.ts";
import { fencesOf } from "./outline.ts";
import { type LintedSkill, lintSkills } from "./skill-lint.ts";

const folder = join(import.meta.dirname, "../../../skills");

const texts = new Map(
  readdirSync(folder).map((name) => [name, readFileSync(join(folder, name, "SKILL.md"), "utf8")]),
);

function linted(name: string, text: string, beside: readonly string[] = []): LintedSkill {
  const read = readWrittenSkill(text, `skills/${name}/SKILL.md`);
  if (!read.ok) throw new Error(read.failure.message);
  return { ...read.value, beside };
}

const errorsIn = (findings: readonly Finding[]): string[] =>
  findings
    .filter(({ level }) => level !== "note")
    .map(({ code, message }) => `${code}: ${message}`);

describe("our own skills", () => {
  const builtIn = [...texts].map(([name, text]) => linted(name, text));

  it("fit our flows", () => {
    expect(errorsIn(lintSkills(builtInFlows, builtIn))).toEqual([]);
  });

  it("leave nothing to the step that a contract could say", () => {
    const notes = lintSkills(builtInFlows, builtIn).filter(({ level }) => level === "note");
    expect(notes).toEqual([]);
  });

  it.each<[name: string, phases: number, modes?: Record<string, number>]>([
    ["problem", 4],
    ["research", 4, { a: 4, b: 9 }],
    ["plan", 7],
    ["ui-design", 9],
    ["test-spec", 4, { "cycle-update": 3 }],
    ["decompose", 4, { "tests-only": 3 }],
    ["implement", 9, { mend: 4, tests: 9, cycle: 9 }],
    ["code-review", 7, { baseline: 7 }],
    ["test-run", 4, { perf: 5 }],
    ["refactor", 8, { guided: 6 }],
    ["document", 8, { task: 6 }],
    ["new-task", 8],
    ["security", 5],
    ["deploy", 7],
    ["retrospective", 4, { "cycle-end": 4 }],
    ["monorepo-discover", 10],
    ["monorepo-status", 5],
    ["monorepo-document", 7],
    ["monorepo-cicd", 7],
    ["monorepo-onboard", 5],
  ])("%s has %i phases", (name, phases, modes = {}) => {
    const head = builtIn.find((each) => each.head.name === name)?.head;
    expect(head?.phases).toHaveLength(phases);
    const counted = Object.entries(head?.modes ?? {}).map(([mode, way]) => [
      mode,
      (way.phases ?? head?.phases)?.length,
    ]);
    expect(Object.fromEntries(counted)).toEqual(modes);
  });

  it("are those and no others", () => {
    expect(texts.size).toBe(20);
  });

  it.each([
    ["decompose", "tasks", 1],
    ["new-task", "tasks", 1],
    ["refactor", "superplan", 2],
  ])("show in %s what the plan engine can run", (name, format, phases) => {
    const sources = fencesOf(texts.get(name) ?? "").fences.flatMap(({ info, text }) => {
      const [, file] = info.split(" ");
      return file && /02_tasks\/todo|plan\.md$/.test(file) ? [{ file, text: `${text}\n` }] : [];
    });
    const read = readPlan(sources);
    expect(read).toMatchObject({ ok: true, value: { plan: { format } } });
    if (!read.ok) return;
    expect(read.value.plan.phases).toHaveLength(phases);
    for (const phase of read.value.plan.phases) {
      expect(phase.tasks.length, phase.name).toBeGreaterThan(0);
      expect(phase.definitionOfDone.length, phase.name).toBeGreaterThan(0);
      expect(phase.files.length, phase.name).toBeGreaterThan(0);
      expect(phase.estimate, phase.name).toBeLessThanOrEqual(5);
    }
  });
});

describe("a fault is found", () => {
  const tea = `---
name: tea
description: Makes tea.
phases:
  - name: boil
    reads: [water.md]
  - name: pour
needs: [water.md]
produces:
  - path: tea/*.md
    sections: [Leaves]
  - path: cup_{date}.md
  - path: pot_cycle{cycle}.md
  - path: milk.md
    optional: true
gates:
  - name: sugar
    after: pour
    question: "How much for {guest}?"
    options: [none, some]
    recommendation: A
    reason: tea is good
modes:
  iced: {}
---
# Tea

## 1 boil
See [the kettle](kettle.md), [the web](https://example.org), [above](#tea) and \`[not](this.md)\`.

\`\`\`md tea/green.md
## Leaves
Sencha.
\`\`\`

## 2 pour
\`{guest}\` is who has come.
`;
  const water =
    "---\nname: water\ndescription: x\nphases: [{ name: draw }]\nproduces: [{ path: water.md }]\n---\n## draw\n";

  const steps = (...more: Partial<Step>[]): Step[] => [
    { step: "1", name: "Water", skill: "water", done: { exists: "water.md" } },
    ...more.map((step, at) => ({ step: String(at + 2), name: "Tea", skill: "tea", ...step })),
  ];
  const flow = (...more: Partial<Step>[]): Flow => ({
    name: "f",
    about: "x",
    steps: steps(...more),
  });

  const lint = (flows: readonly Flow[], text = tea, others = [linted("water", water)]): string[] =>
    errorsIn(lintSkills(flows, [...others, linted("tea", text, ["kettle.md"])]));

  it("not where there is none", () => {
    expect(lint([flow({ mode: "iced", tracker: ["pour"] })])).toEqual([]);
  });

  it.each<[string, Step["done"]]>([
    ["a file", { exists: "tea/*.md" }],
    ["a folder", { folder: "tea" }],
    ["a date", { dated: "cup_*.md" }],
    ["a cycle", { filled: "pot_cycle{cycle}.md" }],
    ["all of it", { all: [{ exists: "tea/x*.md" }, { no: { exists: "coffee.md" } }] }],
    ["one of several", { any: [{ exists: "coffee.md" }, { folder: "tea" }] }],
  ])("nor in a step that is proved by %s", (_, done) => {
    expect(lint([flow(done ? { done } : {})])).toEqual([]);
  });

  it.each<[string, Step["done"]]>([
    ["another file", { exists: "coffee.md" }],
    ["what is optional", { exists: "milk.md" }],
    ["what must not be there", { no: { folder: "tea" } }],
    ["what a text says", { file: "tea/*.md", says: "hot" }],
    ["one of two", { all: [{ folder: "tea" }, { folder: "coffee" }] }],
  ])("in a step that is proved by %s", (_, done) => {
    const found = lint([flow(done ? { done } : {})]);
    expect(found).toEqual([
      expect.stringMatching(/^step-unproved: f, step 2 Tea, done: tea does not/),
    ]);
  });

  it("in what a step leaves, too", () => {
    expect(lint([flow({ done: { folder: "tea" }, leaves: { exists: "x.md" } })])).toHaveLength(1);
    expect(lint([flow({ done: { folder: "tea" }, finished: { exists: "x.md" } })])).toHaveLength(1);
  });

  it("in a step without its skill, its mode or its sub-step", () => {
    expect(lint([flow({ skill: "coffee" })])).toEqual([
      "step-without-skill: f, step 2 Tea: there is no skill coffee",
    ]);
    expect(lint([flow({ mode: "hot" })])).toEqual([
      "mode-missing: f, step 2 Tea: tea has no mode hot",
    ]);
    expect(lint([flow({ tracker: ["stir"] })])).toEqual([
      "sub-step-unknown: f, step 2 Tea: stir is no phase of tea: boil, pour",
    ]);
  });

  it("not in a skill of another system, which promises nothing", () => {
    const foreign = linted("tea", "Just do it: [x](gone.md)\n");
    const given = [linted("water", water), foreign];
    expect(errorsIn(lintSkills([flow({ done: { exists: "coffee.md" } })], given))).toEqual([]);
  });

  it("in a need that nobody meets before, or only somebody who may be left out", () => {
    const [first, ...rest] = flow({}).steps;
    const late: Flow = { ...flow(), steps: [...rest, ...(first ? [first] : [])] };
    const unmet = "need-unmet: f, step 2 Tea, from the beginning: tea needs water.md, and";
    expect(lint([late])).toEqual([`${unmet} no earlier step leaves it`]);
    const optional = { ...flow(), steps: [{ ...steps()[0], optional: true } as Step, ...rest] };
    expect(lint([optional])).toEqual([`${unmet} only a step that may be left out leaves it`]);
  });

  it("in a need, however a project came into the flow", () => {
    const before = (skill: string): Flow => ({
      name: "g",
      about: "x",
      onward: { flow: "f", step: "2" },
      steps: [{ step: "1", name: "Before", skill }],
    });
    expect(lint([flow({}), before("water")])).toEqual([]);
    const milk = linted(
      "milk",
      "---\nname: milk\ndescription: x\nphases: [{ name: draw }]\n---\n## draw\n",
    );
    expect(lint([flow({}), before("milk")], tea, [linted("water", water), milk])).toEqual([
      "need-unmet: f, step 2 Tea, after g: tea needs water.md, and no earlier step leaves it",
    ]);
  });

  it.each([
    [
      "a phase reads what nobody writes",
      ["reads: [water.md]", "reads: [ink.md]"],
      /^read-unwritten: phase boil reads ink\.md/,
    ],
    ["a phase is not explained", ["## 2 pour", "## 2 pours"], /^phase-unexplained: .* pour$/],
    [
      "a gate's blank is not explained",
      ["`{guest}`", "He"],
      /^blank-unexplained: a gate has \{guest\}/,
    ],
    ["a link is dead", ["(kettle.md)", "(pot.md#lid)"], /^link-dead: it links to pot\.md/],
    [
      "an example breaks the contract",
      ["Sencha.\n", ""],
      /^example-unmet: its own example: tea\/green\.md has no text in its section "Leaves"/,
    ],
    [
      "an example is of nothing",
      ["tea/green.md", "coffee.md"],
      /^example-of-nothing: the example coffee\.md/,
    ],
    [
      "it is too long",
      ["## 2 pour", `${"x\n".repeat(400)}## 2 pour`],
      /^skill-too-long: it has 43\d lines/,
    ],
  ] as const)("where %s", (_, [from, to], words) => {
    expect(lint([flow({})], tea.replace(from, to))).toEqual([expect.stringMatching(words)]);
  });

  it("with its line", () => {
    const broken = tea.replace("Sencha.\n", "").replace("(kettle.md)", "(pot.md)");
    const findings = lintSkills([], [linted("water", water), linted("tea", broken)]);
    const lines = broken.split("\n");
    expect(findings.map(({ line = 0 }) => lines[line - 1])).toEqual([
      expect.stringContaining("(pot.md)"),
      "## Leaves",
    ]);
  });

  it("where two skills have one name", () => {
    expect(lint([], tea, [linted("tea", tea, ["kettle.md"]), linted("water", water)])).toEqual([
      "skill-twice: tea is also what skills/tea/SKILL.md is called",
    ]);
  });
});
