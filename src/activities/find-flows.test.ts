import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { builtInFlows } from "../core/flow/flows/index.ts";
import { examineFlowFiles, examineFlows, findFlows } from "./find-flows.ts";

const scratch = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "autodev-flows-"));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

let count = 0;
function projectWith(files: Readonly<Record<string, string | Buffer>>): string {
  const root = path.join(scratch, `${count++}`);
  fs.mkdirSync(root);
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(root, ".autodev/flows", name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content);
  }
  return root;
}

/** One step a line, from line 4 on. */
const flowOf = (name: string, ...steps: readonly string[]): string =>
  `name: ${name}\nabout: a flow of our own\nsteps:\n${steps.map((step) => `  - { ${step} }\n`).join("")}`;
const one = "step: 1, name: One, skill: one";

const namesOf = (root: string): string[] => {
  const found = findFlows(root);
  if (!found.ok) throw new Error(found.failure.message);
  return found.value.map(({ flow, from }) => `${flow.name}: ${from}`);
};
const ours = builtInFlows.map(({ name }) => `${name}: built-in`);

describe("the flows of a project", () => {
  it("are ours where it has none", () => {
    expect(namesOf(projectWith({}))).toEqual(ours);
    expect(namesOf(projectWith({ "notes.md": "no flow" }))).toEqual(ours);
  });

  it("are ours and its own, by name; what the file is called does not matter", () => {
    const root = projectWith({
      "b.yaml": flowOf("zeta", one),
      "a.yml": flowOf("alpha", one),
      "notes.md": "no flow",
      ".draft.yaml": "no: flow",
    });
    const own = ["alpha: .autodev/flows/a.yml", "zeta: .autodev/flows/b.yaml"];
    expect(namesOf(root)).toEqual([...ours, ...own]);
  });

  it("are its own instead of ours of the same name", () => {
    const root = projectWith({ "green.yaml": flowOf("greenfield", one) });
    const [, ...rest] = ours;
    expect(namesOf(root)).toEqual(["greenfield: .autodev/flows/green.yaml", ...rest]);
  });

  it("cannot have two of one name: both files are named", () => {
    const root = projectWith({ "a.yaml": flowOf("mine", one), "b.yaml": flowOf("mine", one) });
    expect(findFlows(root)).toMatchObject({
      ok: false,
      failure: { code: "flow-twice", file: ".autodev/flows/b.yaml", line: 1 },
    });
    const [finding] = examineFlows(root).findings;
    expect(finding?.message).toContain(".autodev/flows/a.yaml");
    expect(finding?.hint).toMatch(/a\.yaml and .*b\.yaml/);
  });
});

describe("what a schema cannot say is told with its line:", () => {
  const two = "step: 2, name: Two, skill: two";
  const table: [string, readonly string[], { line: number; field: string; says: RegExp }][] = [
    [
      "a number twice",
      [one, one],
      { line: 5, field: "steps[1].step", says: /of its own.*a second 1/ },
    ],
    [
      "a step that nobody does",
      ["step: 1, name: One"],
      { line: 4, field: "steps[0].name", says: /one of skill.*none/ },
    ],
    [
      "a step that two do",
      [`${one}, rests: true`],
      { line: 4, field: "steps[0].rests", says: /skill and rests/ },
    ],
    [
      "a mode of nobody",
      ["step: 1, name: One, rests: true, mode: fast"],
      { line: 4, field: "steps[0].mode", says: /no skill/ },
    ],
    [
      "finished without done",
      [`${one}, finished: { exists: a }`],
      { line: 4, field: "steps[0].finished", says: /no done/ },
    ],
    [
      "leaves without done",
      [`${one}, leaves: { exists: a }`],
      { line: 4, field: "steps[0].leaves", says: /no done/ },
    ],
    [
      "a step that leads nowhere",
      [one, `${two}, then: { step: 9 }`],
      { line: 5, field: "steps[1].then.step", says: /one of 1, 2 or done, found 9/ },
    ],
    [
      "a round without an end",
      [one, two, "step: 3, name: Three, skill: x, then: { step: 2 }"],
      { line: 6, field: "steps[2].then", says: /2 → 3 → 2, for ever/ },
    ],
    [
      "a step that nobody comes to",
      [`${one}, then: { step: 3 }`, two, "step: 3, name: Three, skill: x"],
      { line: 5, field: "steps[1].step", says: /nothing that leads to 2/ },
    ],
  ];
  it.each(table)("%s", (_, steps, { line, field, says }) => {
    const file = ".autodev/flows/mine.yaml";
    const { findings } = examineFlows(projectWith({ "mine.yaml": flowOf("mine", ...steps) }));
    expect(findings).toMatchObject([{ code: "flow-invalid", file, line, field }]);
    expect(findings[0]?.message).toMatch(says);
    expect(findings[0]?.hint).toMatch(/\w+ \w+/);
  });

  it.each([
    ["a stretch of steps that are not there", "stretches: [[1, 9]]", "stretches[0]", /two of 1/],
    ["a stretch that goes back", "stretches: [[2, 1]]", "stretches[0]", /earlier one first/],
    ["an onward flow that is not there", "onward: { flow: x, step: 1 }", "onward.flow", /found x/],
    [
      "an onward step that is not there",
      "onward: { flow: greenfield, step: 99 }",
      "onward.step",
      /a step of greenfield: 1, 2/,
    ],
  ])("%s", (_, line, field, says) => {
    const text = `${flowOf("mine", one, two)}${line}\n`;
    const { findings } = examineFlows(projectWith({ "mine.yaml": text }));
    expect(findings).toMatchObject([{ line: 6, field }]);
    expect(findings[0]?.message).toMatch(says);
  });

  it("a flow that leaves out where one of ours goes on", () => {
    const root = projectWith({ "code.yaml": flowOf("existing-code", one) });
    const { findings, flows } = examineFlows(root);
    expect(findings).toMatchObject([{ line: 3, field: "steps" }]);
    expect(findings[0]?.message).toMatch(/a step 9, at which greenfield goes on/);
    expect(flows.map(({ flow }) => flow.name)).not.toContain("existing-code");
  });

  it("nothing of ours", () => {
    expect(examineFlows(projectWith({})).findings).toEqual([]);
  });

  it("nothing, where a round has a rest, a boundary or a new cycle", () => {
    const boundary = "{ title: a, next: b, notes: c }";
    const root = projectWith({
      "rest.yaml": flowOf("rest", one, "step: 2, name: Two, rests: true, then: { step: 1 }"),
      "boundary.yaml": flowOf("boundary", `${one}, then: { step: 1, boundary: ${boundary} }`),
      "cycle.yaml": flowOf("cycle", `${one}, then: { step: 1, cycle: next }`),
      "said.yaml": flowOf("said", `${one}, rests: false`),
    });
    expect(examineFlows(root).findings).toEqual([]);
  });

  it("all of it, with the others still there", () => {
    const root = projectWith({
      "bad.yaml": flowOf("bad", one, one, "step: 3, name: Three"),
      "good.yaml": flowOf("good", one),
      "worse.yaml": "name: worse\n",
    });
    const { findings, flows, files } = examineFlows(root);
    expect(files).toHaveLength(3);
    expect(findings.length).toBeGreaterThan(3);
    expect(flows.map(({ flow }) => flow.name)).toEqual([
      ...builtInFlows.map(({ name }) => name),
      "good",
    ]);
    const found = findFlows(root);
    expect(found).toMatchObject({ ok: false, failure: { code: "flow-invalid" } });
    if (!found.ok) expect(found.failure.hint).toMatch(/autodev flow check shows \d+ more/);
  });
});

describe("what is in the folder and is no flow's file is refused:", () => {
  const refused = (root: string): string => {
    const { findings } = examineFlows(root);
    expect(findings).toMatchObject([{ code: "flow-unreadable" }]);
    expect(findings[0]?.hint).toMatch(/\w+ \w+/);
    return findings[0]?.message ?? "";
  };

  it("10 MB", () => {
    expect(refused(projectWith({ "a.yaml": Buffer.alloc(10_000_000, "a: b\n") }))).toMatch(/KB/);
  });

  it("other bytes than UTF-8", () => {
    expect(refused(projectWith({ "a.yaml": Buffer.from([0x61, 0xff, 0x0a]) }))).toMatch(/UTF-8/);
    expect(refused(projectWith({ "a.yaml": "a\u0000b" }))).toMatch(/UTF-8/);
  });

  it("a folder, a pipe", () => {
    const root = projectWith({ "a.yaml/x": "" });
    expect(refused(root)).toMatch(/something else/);
    const other = projectWith({ "x.txt": "" });
    spawnSync("mkfifo", [path.join(other, ".autodev/flows/a.yaml")]);
    expect(refused(other)).toMatch(/something else/);
  });

  it("a link that leads out of the repository, or nowhere; not one that stays in it", () => {
    const outside = path.join(scratch, "outside.yaml");
    fs.writeFileSync(outside, flowOf("outside", one));
    const root = projectWith({ "x.txt": "" });
    const link = path.join(root, ".autodev/flows/a.yaml");
    fs.symlinkSync(outside, link);
    expect(refused(root)).toMatch(/leads out/);
    fs.rmSync(link);
    fs.symlinkSync("nowhere.yaml", link);
    expect(refused(root)).toMatch(/ENOENT/);
    fs.rmSync(link);
    fs.writeFileSync(path.join(root, "real.yaml"), flowOf("inside", one));
    fs.symlinkSync("../../real.yaml", link);
    expect(namesOf(root)).toContain("inside: .autodev/flows/a.yaml");
  });

  it("a folder of flows that is elsewhere", () => {
    const elsewhere = projectWith({ "a.yaml": flowOf("outside", one) });
    const root = projectWith({});
    fs.mkdirSync(path.join(root, ".autodev"));
    fs.symlinkSync(path.join(elsewhere, ".autodev/flows"), path.join(root, ".autodev/flows"));
    expect(refused(root)).toMatch(/leads out/);
  });

  it("more than anybody follows", () => {
    const many = Array.from({ length: 101 }, (_, at) => [`${at}.yaml`, "x"] as const);
    expect(refused(projectWith(Object.fromEntries(many)))).toMatch(/at most 100/);
  });
});

describe("files that somebody names", () => {
  it("are seen beside the project's own, wherever they lie", () => {
    const root = projectWith({ "mine.yaml": flowOf("mine", one) });
    const draft = `${flowOf("draft", one)}onward: { flow: mine, step: 1 }\n`;
    fs.writeFileSync(path.join(root, "draft.yaml"), draft);
    fs.writeFileSync(path.join(root, "again.yaml"), flowOf("mine", one, one));
    const good = examineFlowFiles(root, root, ["draft.yaml", ".autodev/flows/mine.yaml"]);
    expect(good).toMatchObject({
      ok: true,
      value: { findings: [], files: ["draft.yaml", ".autodev/flows/mine.yaml"] },
    });
    const bad = examineFlowFiles(root, root, ["again.yaml"]);
    expect(bad).toMatchObject({ ok: true, value: { findings: [{ file: "again.yaml", line: 5 }] } });
  });

  it("have to be there", () => {
    const root = projectWith({});
    expect(examineFlowFiles(root, root, ["none.yaml"])).toMatchObject({
      ok: false,
      failure: { code: "not-found", file: "none.yaml" },
    });
  });
});
