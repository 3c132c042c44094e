/**
 * `autodev flow list|check|graph` through the real binary: flows of ours and of the project, each
 * kind of fault with its line, and what a hostile repository may have in `.autodev/flows`.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { expectSchema } from "./build-rig.ts";
import {
  asNobody,
  autodevIn,
  errorOf,
  expectNoCrash,
  giveToNobody,
  jsonOf,
  makeFolder,
  makeRepo,
  pictureOf,
  type Repo,
} from "./rig.ts";

const own = ".autodev/flows/mine.yaml";

interface FindingView {
  readonly code: string;
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly field: string;
  readonly expected: string;
  readonly found: string;
  readonly hint: string;
}

interface StepView {
  readonly step: string;
  readonly skill: string | null;
  readonly optional: boolean;
  readonly condition: string | null;
  readonly proof: string | null;
  readonly next: string;
  readonly cycle: string;
  readonly boundary: { readonly next: string } | null;
}

interface FlowView {
  readonly name: string;
  readonly from: string;
  readonly steps: readonly StepView[];
}

/** One step a line, from line 4 on. */
const flowOf = (...steps: readonly string[]): string =>
  `name: mine\nabout: a flow of our own\nsteps:\n${steps.map((step) => `  - { ${step} }\n`).join("")}`;
const one = "step: 1, name: One, skill: one";
const two = "step: 2, name: Two, skill: two";

const withFlow = (text: string | Buffer): Repo => {
  const repo = makeRepo({});
  repo.write(own, text);
  return repo;
};

const check = async (repo: Repo, code: number, ...files: string[]): Promise<FindingView[]> => {
  const value = jsonOf<{ errors: FindingView[] }>(
    await repo.autodev("flow", "check", ...files, "--json"),
    code,
  );
  expectSchema(value, "flow-check");
  return value.errors;
};

const list = async (
  repo: Repo,
  code = 0,
): Promise<{ name: string; from: string; replaces: boolean; steps: number }[]> => {
  const value = jsonOf<{
    flows: { name: string; from: string; replaces: boolean; steps: number }[];
  }>(await repo.autodev("flow", "list", "--json"), code);
  expectSchema(value, "flow-list");
  return value.flows;
};

const graph = async (repo: Repo, ...args: string[]): Promise<readonly FlowView[]> => {
  const value = jsonOf<{ flows: FlowView[] }>(
    await repo.autodev("flow", "graph", ...args, "--json"),
  );
  expectSchema(value, "flow-graph");
  return value.flows;
};

const widest = (text: string): number =>
  Math.max(...text.split("\n").map((line) => Array.from(line).length));

// ── good flows ─────────────────────────────────────────────────────────────────────────────────

describe.concurrent("the flows that there are", () => {
  it("are ours where a project has none, also outside a repository", async () => {
    for (const cwd of [makeRepo({}).root, makeFolder("nowhere")]) {
      const ran = await autodevIn({ cwd }, "flow", "list");
      expect(ran).toMatchObject({ code: 0, err: "" });
      expect(ran.out).toMatch(/^greenfield +11 steps +built-in$/m);
      expect(ran.out).toMatch(/^existing-code +17 steps +built-in$/m);
      expect(ran.out).toMatch(/^meta-repo +6 steps +built-in$/m);
      expect((await autodevIn({ cwd }, "flow", "check")).code).toBe(0);
    }
  });

  it("show their steps in the status, a project's own too", async () => {
    const repo = withFlow(flowOf(one, two));
    repo.write(
      "_docs/_autodev_state.md",
      "# Autodev State\n\n## Current Step\nflow: mine\nstep: 2\nname: Two\nstatus: in_progress\n",
    );
    const told = jsonOf<{ steps: unknown[] }>(await repo.autodev("status", "--json"));
    expect(told.steps).toMatchObject([
      { step: "1", name: "One", status: "completed" },
      { step: "2", name: "Two", status: "in_progress" },
    ]);
    expect((await repo.autodev("status")).out).toMatch(/✓ 1 One\n ▶ 2 Two/);
    repo.write(own, "name: [");
    expect((await repo.autodev("status")).out).toContain("▶ 2 Two");
  });

  it("are the project's own too, from anywhere within it", async () => {
    const repo = withFlow(flowOf(one, two));
    repo.write("src/deep/x.ts", "");
    expect(await list(repo)).toMatchObject([
      { name: "greenfield", from: "built-in", replaces: false },
      { name: "existing-code" },
      { name: "meta-repo" },
      { name: "mine", from: own, replaces: false, steps: 2 },
    ]);
    const deep = await autodevIn({ cwd: repo.at("src/deep") }, "flow", "list");
    expect(deep.out).toContain(`mine             2 steps  ${own}`);
    expect(await check(repo, 0)).toEqual([]);
  });

  it("are the project's own instead of ours", async () => {
    const repo = withFlow(flowOf(one).replace("mine", "meta-repo"));
    expect(await list(repo)).toMatchObject([
      {},
      {},
      { name: "meta-repo", from: own, replaces: true, steps: 1 },
    ]);
    const said = await repo.autodev("flow", "list");
    expect(said.out).toMatch(/meta-repo +1 step +\S+mine\.yaml, instead of the built-in one/);
    expect(await graph(repo, "meta-repo")).toMatchObject([
      { from: own, steps: [{ skill: "one" }] },
    ]);
  });

  it("are looked at, and nothing is changed", async () => {
    const repo = withFlow(flowOf(one));
    const before = pictureOf(repo.root);
    for (const name of ["list", "check", "graph"]) await repo.autodev("flow", name);
    expect(pictureOf(repo.root)).toEqual(before);
  });
});

describe.concurrent("flow graph", () => {
  it("shows steps, doers, proofs, marks, boundaries and loops within 80 columns", async () => {
    const repo = makeRepo({});
    const { out, code } = await repo.autodev("flow", "graph");
    expect(code).toBe(0);
    expect(widest(out)).toBeLessThanOrEqual(80);
    expect(out).toMatch(/^ 9 {2}Performance Test \(optional\) +test-run, perf$/m);
    expect(out).toMatch(/^ 4 {2}UI Design \(conditional\) +ui-design$/m);
    expect(out).toMatch(/^ {4}if +does the project have a user interface\?$/m);
    expect(out).toMatch(/^ {4}proof +01_solution\/solution_draft\*\.md$/m);
    expect(out).toMatch(/^── boundary: Decompose complete, next: implementation ─+$/m);
    expect(out).toMatch(/^ {4}↺ +9, New Task, in a new cycle$/m);
    expect(out).toContain("After its end: existing-code, from step 9 on.");
  });

  it("stays within 80 columns whatever a flow is made of", async () => {
    const long = "x".repeat(190);
    const repo = withFlow(
      `name: ${"m".repeat(64)}\nabout: ${"word ".repeat(39)}\nsteps:\n` +
        `  - { step: 1234.5678, name: ${long}, skill: ${"s".repeat(64)}, mode: ${"o".repeat(64)},\n` +
        `      done: { all: [{ exists: ${long} }, { file: 監査ログ監査ログ監査ログ, says: "${long}" }] },\n` +
        `      then: { boundary: { title: ${long}, next: ${long}, notes: n } } }\n`,
    );
    const { out, code } = await repo.autodev("flow", "graph", "m".repeat(64));
    expect(code).toBe(0);
    expect(widest(out)).toBeLessThanOrEqual(80);
  });

  it("as JSON says what follows what", async () => {
    const [flow] = await graph(makeRepo({}), "existing-code");
    const step = (number: string): StepView | undefined =>
      flow?.steps.find((each) => each.step === number);
    expect(step("5")).toMatchObject({ next: "6", boundary: { next: "test implementation" } });
    expect(step("17")).toMatchObject({ next: "9", cycle: "next", boundary: null });
    expect(step("8")).toMatchObject({ optional: true, proof: null });
    expect(step("4")?.condition).toMatch(/tested\?$/);
    expect(await graph(makeRepo({}))).toHaveLength(3);
  });

  it("as Mermaid and as SVG, of one flow", async () => {
    const repo = makeRepo({});
    const chart = (await repo.autodev("flow", "graph", "existing-code", "--as", "mermaid")).out;
    expect(chart).toMatch(/^flowchart TD\n/);
    expect(chart).toContain('n8 -->|"boundary: implementation"| n9');
    expect(chart).toContain('n16 -->|"a new cycle"| n8');
    const drawn = await repo.autodev("flow", "graph", "meta-repo", "--as", "svg", "-o", "flow.svg");
    expect(drawn).toMatchObject({ code: 0, out: "", err: "flow.svg is written.\n" });
    const svg = repo.read("flow.svg");
    expect(svg).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
    expect(svg.match(/<g class="phase/g)).toHaveLength(6);
    expect(svg.match(/<path class="edge/g)).toHaveLength(6);
    const several = await repo.autodev("flow", "graph", "--as", "svg");
    expect(several).toMatchObject({ code: 2, out: "" });
    expect(several.err).toMatch(/name it: autodev flow graph/);
  });

  it("of one that is not there suggests another", async () => {
    const repo = makeRepo({});
    const ran = await repo.autodev("flow", "graph", "grenfield", "--json");
    expect(ran.code).toBe(2);
    expect(errorOf(ran)).toMatchObject({
      code: "not-found",
      hint: "autodev flow graph greenfield",
    });
    const broken = withFlow("name: mine\n");
    const none = errorOf(await broken.autodev("flow", "graph", "mine", "--json"));
    expect(none.hint).toMatch(/autodev flow check/);
  });
});

// ── faults ─────────────────────────────────────────────────────────────────────────────────────

describe.concurrent("flow check tells with its line", () => {
  const table: [string, string, { line: number; field: string; says: RegExp }][] = [
    ["what is no YAML", flowOf(one, "step: [2"), { line: 5, field: "", says: /expected YAML/ }],
    [
      "a misspelt key",
      flowOf(one, `${two}, skil: x`),
      { line: 5, field: "steps[1].skil", says: /expected skill, found skil/ },
    ],
    [
      "a missing key",
      flowOf(one, "step: 2, skill: two"),
      { line: 5, field: "steps[1].name", says: /found nothing/ },
    ],
    [
      "a value of the wrong kind",
      flowOf(`${one}, optional: 7`),
      { line: 4, field: "steps[0].optional", says: /expected true or false, found "7"/ },
    ],
    [
      "a path that leads out",
      flowOf(`${one}, done: { exists: ../../etc/passwd }`),
      { line: 4, field: "steps[0].done.exists", says: /below _docs/ },
    ],
    [
      "an invalid regular expression",
      flowOf(`${one}, done: { file: a.md, says: '[' }`),
      { line: 4, field: "steps[0].done.says", says: /regular expression \(/ },
    ],
    [
      "a number twice",
      flowOf(one, two, one),
      { line: 6, field: "steps[2].step", says: /a second 1/ },
    ],
    [
      "a step that leads nowhere",
      flowOf(one, `${two}, then: { step: 7 }`),
      { line: 5, field: "steps[1].then.step", says: /one of 1, 2 or done, found 7/ },
    ],
    [
      "a round without an end",
      flowOf(one, `${two}, then: { step: 1 }`),
      { line: 5, field: "steps[1].then", says: /1 → 2 → 1, for ever/ },
    ],
    [
      "a step that nobody comes to",
      flowOf(`${one}, then: { step: done }`, two),
      { line: 5, field: "steps[1].step", says: /nothing that leads to 2/ },
    ],
    [
      "a flow to go on in that is not there",
      `${flowOf(one)}onward: { flow: nowhere, step: 1 }\n`,
      { line: 5, field: "onward.flow", says: /found nowhere/ },
    ],
  ];
  it.each(table)("%s", async (_, text, { line, field, says }) => {
    const repo = withFlow(text);
    const errors = await check(repo, 1);
    expect(errors).toMatchObject([{ code: "flow-invalid", file: own, line, field }]);
    const [error] = errors as [FindingView];
    expect(error.message).toMatch(says);
    expect(error.hint).toMatch(/\w+ \w+/);
    const said = await repo.autodev("flow", "check");
    expectNoCrash(said);
    expect(said.code).toBe(1);
    for (const part of [`${own}:${line}`, error.message, error.hint, "1 flow, 1 error"])
      expect(said.out).toContain(part);
    expect(await list(repo, 1)).toHaveLength(3);
  });

  it("two files of one name, both of them", async () => {
    const repo = withFlow(flowOf(one));
    repo.write(".autodev/flows/other.yml", flowOf(two));
    const [error] = await check(repo, 1);
    expect(error).toMatchObject({ code: "flow-twice", file: ".autodev/flows/other.yml", line: 1 });
    expect(error?.message).toContain(own);
    expect((await repo.autodev("help", "flow-twice")).code).toBe(0);
  });

  it("everything, of all files or of those that are named", async () => {
    const repo = withFlow(flowOf(one, one, "step: 3"));
    repo.write(".autodev/flows/good.yaml", flowOf(one).replace("mine", "good"));
    repo.write("draft.yaml", "name: draft\nabout: x\nsteps: 3\n");
    expect((await check(repo, 1)).every(({ file }) => file === own)).toBe(true);
    expect(await check(repo, 0, ".autodev/flows/good.yaml")).toEqual([]);
    expect(await check(repo, 1, "draft.yaml", ".autodev/flows/good.yaml")).toMatchObject([
      { file: "draft.yaml", line: 3, field: "steps" },
    ]);
    const none = await repo.autodev("flow", "check", "none.yaml", "--json");
    expect(none.code).toBe(2);
    expect(errorOf(none)).toMatchObject({ code: "not-found", file: "none.yaml" });
  });
});

// ── hostile ones ───────────────────────────────────────────────────────────────────────────────

describe.concurrent("a hostile repository's flow is refused at once:", () => {
  const bomb = `a0: &a0 x\n${Array.from(
    { length: 12 },
    (_, at) => `a${at + 1}: &a${at + 1} [${Array(10).fill(`*a${at}`).join(", ")}]\n`,
  ).join("")}`;
  const table: [string, string | Buffer, string][] = [
    ["10 MB", Buffer.alloc(10_000_000, "- x\n"), "flow-unreadable"],
    ["a billion laughs", bomb, "flow-invalid"],
    ["a value that holds itself", flowOf(`${one}, done: &me { no: *me }`), "flow-invalid"],
    ["100,000 brackets", "[".repeat(100_000), "flow-invalid"],
    ["a zero byte", `${flowOf(one)}\u0000`, "flow-unreadable"],
    ["what is not UTF-8", Buffer.from([0xff, 0xfe, 0x61]), "flow-unreadable"],
    ["a key of everybody's", `__proto__: { name: x }\n${flowOf(one)}`, "flow-invalid"],
    [
      "a pattern that repeats itself",
      flowOf(`${one}, done: { file: a, says: '(a)\\1' }`),
      "flow-invalid",
    ],
    ["what a terminal would obey", flowOf(`${one}, "\\e]0;owned\\a": "\\e[31m"`), "flow-invalid"],
  ];
  it.each(table)("%s", async (_, content, code) => {
    const repo = withFlow(content);
    const began = Date.now();
    const errors = await check(repo, 1);
    expect(Date.now() - began).toBeLessThan(15_000);
    expect(errors[0]).toMatchObject({ code, file: own });
    expect(errors[0]?.line).toBeGreaterThan(0);
    for (const name of ["list", "check", "graph"]) {
      const said = await repo.autodev("flow", name);
      expectNoCrash(said);
      // oxlint-disable-next-line no-control-regex -- that is what is looked for
      expect(said.all).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
    }
  });

  it("a link that leads out of the repository: nothing of it is shown", async () => {
    const secret = path.join(makeFolder("elsewhere"), "secret.yaml");
    fs.writeFileSync(secret, flowOf(one).replace("mine", "secret"));
    const repo = makeRepo({});
    fs.mkdirSync(repo.at(".autodev/flows"), { recursive: true });
    fs.symlinkSync(secret, repo.at(own));
    const [error] = await check(repo, 1);
    expect(error).toMatchObject({ code: "flow-unreadable", file: own });
    expect(error?.message).toMatch(/leads out/);
    expect((await repo.autodev("flow", "list")).all).not.toContain("secret");
  });

  it("one that may not be read", async () => {
    const repo = withFlow(flowOf(one));
    giveToNobody(repo.root);
    fs.chmodSync(repo.at(own), 0);
    const ran = await asNobody(repo.root, "flow", "check");
    expect(ran.code, ran.all).toBe(1);
    expect(ran.out).toMatch(/EACCES/);
  });

  it("and a pattern that would take for ever is followed in no time", async () => {
    const repo = withFlow(flowOf(`${one}, done: { file: a.md, says: '^(?:a+)+$|(?:a|a)*b' }`));
    repo.write("_docs/a.md", `${"a".repeat(100_000)}!`);
    expect(await check(repo, 0)).toEqual([]);
    expect((await repo.autodev("status")).code).toBe(0);
  });
});

it("the guide's example is a flow of the schema that editors use", () => {
  const guide = fs.readFileSync(
    path.join(import.meta.dirname, "../docs/guides/your-own-flow.md"),
    "utf8",
  );
  const text = /<<'END'\n([\s\S]*?)\nEND\n/.exec(guide)?.[1] ?? "";
  expectSchema(parse(text), "flow");
});
