/**
 * `autodev plan check|graph|tick|import|new` against what people, disks and other programs do to
 * plans: a clear sentence with path, line and way out, the right exit code, and not one byte
 * changed that was not asked for.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import {
  asNobody,
  atTerminal,
  autodevIn,
  errorOf,
  expectNoCrash,
  giveToNobody,
  jsonOf,
  makeFolder,
  pictureOf,
  type Ran,
  type Repo,
  repoAt,
  sleep,
} from "./rig.ts";

/** Several runs of the binary in each, beside each other: what a busy machine takes for it. */
const generous = 120_000;
const testFolder = path.dirname(fileURLToPath(import.meta.url));
const isRoot = process.getuid?.() === 0;

interface PhaseView {
  readonly id: string;
  readonly written: string;
  readonly name: string;
  readonly dependsOn: readonly string[];
  readonly status: string;
  readonly tasks: { readonly total: number; readonly done: number };
  readonly definitionOfDone: { readonly total: number; readonly done: number };
}

interface Finding {
  readonly code: string;
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly hint: string;
}

interface CheckView {
  readonly version: number;
  readonly format: string;
  readonly phases: readonly PhaseView[];
  readonly batches: readonly (readonly string[])[];
  readonly criticalPath: readonly string[];
  readonly errors: readonly Finding[];
  readonly warnings: readonly Finding[];
}

/** A folder that is no repository: plans need none. */
function folderWith(files: Readonly<Record<string, string | Buffer>> = {}): Repo {
  const folder = repoAt(makeFolder("plans"));
  for (const [file, content] of Object.entries(files)) folder.write(file, content);
  return folder;
}

/** Slower than the rig's: some of these documents are large. */
const patiently = (folder: Repo, ...args: string[]): Promise<Ran> =>
  autodevIn({ cwd: folder.root, timeout: 50_000 }, ...args);

const check = async (folder: Repo, file: string, code = 0): Promise<CheckView> =>
  jsonOf<CheckView>(await patiently(folder, "plan", "check", file, "--json"), code);

interface RowOf {
  readonly id: string;
  readonly name?: string;
  readonly depends?: string;
  readonly status?: string;
}

const tableOf = (rows: readonly RowOf[]): string =>
  [
    "| Phase | Name | Depends On | Status |",
    "|-------|------|------------|--------|",
    ...rows.map(
      ({ id, name = `Work ${id}`, depends = "-", status = "⬜" }) =>
        `| ${id} | ${name} | ${depends} | ${status} |`,
    ),
    "",
  ].join("\n");

const sectionOf = (id: string, name = `Work ${id}`): string =>
  `### Phase ${id}: ${name}\n\n- [ ] Write it, with tests\n`;

/** Row on line 5 and so on; sections after them. */
const planOf = (...rows: readonly RowOf[]): string =>
  `# Plan\n\n${tableOf(rows)}\n${rows.map(({ id, name }) => sectionOf(id, name)).join("\n")}`;

// ── what is wrong with a plan ──────────────────────────────────────────────────────────────────

describe.concurrent("plan check names what is wrong, where, and the way out:", () => {
  const table: [string, string, { code: string; line: number; says: RegExp }][] = [
    [
      "a cycle",
      planOf({ id: "1" }, { id: "2A", depends: "3" }, { id: "3", depends: "2A" }),
      { code: "cycle", line: 6, says: /2A -> 3 -> 2A.*6.*7/ },
    ],
    [
      "a dependency that is not there",
      planOf({ id: "1" }, { id: "2", depends: "1, 7" }),
      { code: "unknown-dependency", line: 6, says: /\b2\b.*\b7\b/ },
    ],
    [
      "a phase that waits for itself",
      planOf({ id: "1" }, { id: "2", depends: "2" }),
      { code: "self-dependency", line: 6, says: /\b2\b.*itself/ },
    ],
    [
      "an id that is there twice",
      planOf({ id: "1" }, { id: "2", name: "One" }, { id: "2", name: "Other" }),
      { code: "duplicate-id", line: 17, says: /\b2\b.*twice/ },
    ],
    [
      "ids that become the same",
      planOf({ id: "2A", name: "One" }, { id: "2-A", name: "Other" }),
      { code: "colliding-ids", line: 12, says: /2A \(line 8\).*2-A \(line 12\).*\b2a\b/ },
    ],
    [
      "a row without a section",
      `# Plan\n\n${tableOf([{ id: "1" }, { id: "2" }])}\n${sectionOf("1")}`,
      { code: "phase-without-section", line: 6, says: /\b2\b.*section/ },
    ],
    [
      "a section without a row",
      `# Plan\n\n${tableOf([{ id: "1" }])}\n${sectionOf("1")}\n${sectionOf("2")}`,
      { code: "section-without-row", line: 11, says: /\b2\b.*table/ },
    ],
    [
      "no phases",
      "# Shopping\n\nMilk, and bread.\n",
      { code: "no-phases", line: 1, says: /no phases/ },
    ],
  ];
  for (const [what, text, wanted] of table) {
    it(what, async () => {
      const folder = folderWith({ "plan.md": text });
      const before = pictureOf(folder.root);
      const { errors } = await check(folder, "plan.md", 1);
      expect(errors.map(({ code }) => code)).toContain(wanted.code);
      const found = errors.find(({ code }) => code === wanted.code) as Finding;
      expect(found).toMatchObject({ file: "plan.md", line: wanted.line });
      expect(found.message).toMatch(wanted.says);
      expect(found.hint).toMatch(/\w+ \w+/);
      const said = await folder.autodev("plan", "check", "plan.md");
      expectNoCrash(said);
      expect(said.code).toBe(1);
      for (const part of [`plan.md:${wanted.line}`, found.message, found.hint]) {
        expect(said.all).toContain(part);
      }
      expect(pictureOf(folder.root)).toEqual(before);
    });
  }

  it("a fence that is never closed, as a warning that blocks only a strict check", async () => {
    const folder = folderWith({
      "plan.md": `${planOf({ id: "1" })}\n\`\`\`js\nnever closed\n\n${sectionOf("2")}`,
    });
    const { warnings, errors } = await check(folder, "plan.md");
    expect(errors).toEqual([]);
    expect(warnings).toMatchObject([{ line: 11, file: "plan.md" }]);
    expect(warnings[0]?.message).toMatch(/never closed/);
    expect((await folder.autodev("plan", "check", "plan.md", "--strict")).code).toBe(1);
  });

  it("a fence that hides all phases: there are none, and the fence is named", async () => {
    const folder = folderWith({ "plan.md": `\`\`\`\n${planOf({ id: "1" })}` });
    const { errors, warnings } = await check(folder, "plan.md", 1);
    expect(errors).toMatchObject([{ code: "no-phases" }]);
    expect(warnings.some(({ line, message }) => line === 1 && /fence/.test(message))).toBe(true);
  });
});

// ── what cannot be read ────────────────────────────────────────────────────────────────────────

interface Refusal {
  readonly exit?: number;
  readonly code?: string | RegExp;
  readonly file?: string;
  readonly line?: number;
  readonly says?: RegExp;
  readonly hint?: RegExp;
  readonly by?: (cwd: string, ...args: string[]) => Promise<Ran>;
}

/** In words and as JSON the same: path, line, reason and way out; and nothing changes. */
async function expectRefused(
  folder: Repo,
  args: readonly string[],
  { exit = 1, code = /./, file, line, says = /./, hint, by }: Refusal,
): Promise<void> {
  const runs = by ?? ((cwd, ...rest) => autodevIn({ cwd, timeout: 50_000 }, ...rest));
  const before = pictureOf(folder.root);
  const said = await runs(folder.root, "plan", ...args);
  expectNoCrash(said);
  expect(said.code, said.all).toBe(exit);
  expect(said.out).toBe("");
  const json = await runs(folder.root, "plan", ...args, "--json");
  expect(json.code, json.all).toBe(exit);
  expect(json.err).toBe("");
  const error = errorOf(json);
  expect(error.code).toMatch(code);
  expect(error.message).toMatch(says);
  expect(said.err).toContain(error.message);
  if (file !== undefined) {
    expect(error.file).toBe(file);
    expect(error.message).toContain(file);
  }
  if (line !== undefined) {
    expect(error.line).toBe(line);
    if (line > 1) expect(error.message).toContain(`:${line}`);
  }
  if (hint) {
    expect(error.hint, "a way out").toMatch(hint);
    expect(said.err).toContain(error.hint);
  }
  expect(pictureOf(folder.root)).toEqual(before);
}

const words = /\w+ \w+/;

const everyWay: [string, string[]][] = [
  ["check", ["check"]],
  ["graph", ["graph"]],
  ["tick", ["tick"]],
  ["import", ["import"]],
];
const withPhase = (args: readonly string[], file: string): string[] => [
  ...args,
  file,
  ...(args[0] === "tick" ? ["1"] : []),
];

describe.concurrent("a plan that cannot be read is refused, by every command alike:", () => {
  const utf16 = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, "utf16le");
  const good = planOf({ id: "1" });
  const table: [string, string, string | Buffer, Refusal][] = [
    ["zero bytes", "plan.md", "", { line: 1, says: /empty/, hint: words }],
    ["only white space", "plan.md", " \n\t\n\r\n ", { line: 1, says: /empty/, hint: words }],
    ["only a byte order mark", "plan.md", "\uFEFF\n", { line: 1, says: /empty/, hint: words }],
    [
      "bytes that are not UTF-8",
      "plan.md",
      Buffer.concat([Buffer.from(`${good}\nline with `), Buffer.from([0xe4, 0x0a])]),
      { line: 11, says: /UTF-8/, hint: /UTF-8/ },
    ],
    ["UTF-16", "plan.md", utf16(good), { line: 1, says: /UTF-/, hint: /UTF-8/ }],
    ["UTF-16 without a mark", "plan.md", utf16(good).subarray(2), { line: 1, hint: words }],
    [
      "a zero byte",
      "plan.md",
      `${good}\n\u0000\n`,
      { line: 11, says: /zero byte|not text/, hint: words },
    ],
    [
      "50 MB",
      "plan.md",
      Buffer.alloc(50_000_000, "a\n"),
      { says: /\d+ MB/, code: "plan-too-large", hint: words },
    ],
    [
      "quotes nested 5,000 deep",
      "plan.md",
      `${good}\n${">".repeat(5000)} deep\n`,
      { line: 11, says: /deep/, hint: words },
    ],
    [
      "lists nested 5,000 deep on a line",
      "plan.md",
      `${good}\n${"- ".repeat(5000)}deep\n`,
      { line: 11, says: /deep/, hint: words },
    ],
    [
      "lists nested 1,200 deep, each on its line",
      "plan.md",
      `${good}\n${Array.from({ length: 1200 }, (_, at) => `${" ".repeat(at)}- x\n`).join("")}`,
      { says: /deep/, hint: words },
    ],
    [
      "a paragraph with 100,000 emphasis marks",
      "plan.md",
      `${good}\n${"*a ".repeat(100_000)}\n`,
      { line: 11, says: /marks/, hint: words },
    ],
    ["a list that is no list of tasks", "tasks.json", "[]\n", { line: 1, says: /tasks/ }],
    ["a number", "tasks.json", "42\n", { line: 1, says: /tasks/ }],
    ["tasks that are no list", "tasks.json", '{ "tasks": {} }\n', { line: 1, says: /tasks/ }],
    [
      "dependencies that are no list",
      "tasks.json",
      '{ "tasks": [\n  { "id": 1, "title": "a",\n    "dependencies": "2" }\n] }\n',
      { line: 3, says: /dependencies.*\b1\b/, hint: /\[/ },
    ],
    [
      "subtasks that are no list",
      "tasks.json",
      '{ "tasks": [\n  { "id": 1, "title": "a", "subtasks": 5 }\n] }\n',
      { line: 2, says: /subtasks.*\b1\b/, hint: /\[/ },
    ],
    [
      "JSON with a comma too many",
      "tasks.json",
      '{ "tasks": [\n  { "id": 1, "title": "a", },\n  { "id": 2, "title": "b" }\n] }\n',
      { line: 2, says: /JSON/, hint: /comma/ },
    ],
    [
      "JSON that ends too early",
      "tasks.json",
      '{ "tasks": [\n  { "id": 1, "title": "a" }\n',
      { says: /JSON/, hint: /bracket/ },
    ],
  ];
  for (const [what, file, content, wanted] of table) {
    it(
      what,
      async () => {
        const folder = folderWith({ [file]: content });
        for (const [, args] of everyWay) {
          await expectRefused(folder, withPhase(args, file), { file, ...wanted });
        }
      },
      generous,
    );
  }
  it("JSON with a word that is none: the line of the word is named", async () => {
    const folder = folderWith({
      "tasks.json": '{ "tasks": [\n  { "id": 1, "title": "a" },\n  oops\n] }\n\n\n\n',
    });
    await expectRefused(folder, ["check", "tasks.json"], { file: "tasks.json", line: 3 });
  });
  it("a task without an id: its line is named, and that the id is missing", async () => {
    const folder = folderWith({
      "tasks.json": '{ "tasks": [\n  { "id": 1, "title": "a" },\n  { "title": "b" }\n] }\n',
    });
    await expectRefused(folder, ["check", "tasks.json"], { line: 3, says: /\bid\b/ });
  });
  it("JSON of the wrong shape: the hint says what to do", async () => {
    const folder = folderWith({ "tasks.json": "[]\n" });
    const { hint } = errorOf(await folder.autodev("plan", "check", "tasks.json", "--json"));
    expect(hint).toMatch(/--format|name|write|give|autodev/);
  });

  it("a folder without a plan", async () => {
    const folder = folderWith({ "docs/notes.txt": "nothing" });
    for (const [, args] of everyWay) {
      await expectRefused(folder, withPhase(args, "docs"), { file: "docs", hint: /tasks\.json/ });
    }
  });

  it("a file that is not there, and a link that leads nowhere: usage", async () => {
    const folder = folderWith();
    fs.symlinkSync("nowhere.md", folder.at("link.md"));
    for (const [, args] of everyWay) {
      for (const file of ["missing.md", "link.md"]) {
        await expectRefused(folder, withPhase(args, file), { exit: 2, file, hint: /plan new/ });
      }
    }
  });

  it("a link to itself, and a path through a file", async () => {
    const folder = folderWith({ "plan.md": good });
    fs.symlinkSync("loop.md", folder.at("loop.md"));
    for (const file of ["loop.md", "plan.md/plan.md"]) {
      const ran = await folder.autodev("plan", "check", file, "--json");
      expect([1, 2]).toContain(ran.code);
      expect(errorOf(ran)).toMatchObject({ file });
    }
  });

  it("a pipe, without waiting for a writer", async () => {
    const folder = folderWith();
    spawnSync("mkfifo", [folder.at("pipe.md")]);
    for (const [, args] of everyWay) {
      await expectRefused(folder, withPhase(args, "pipe.md"), { file: "pipe.md", says: /file/ });
    }
  });

  it("a file that may not be read", async () => {
    const folder = folderWith({ "plan.md": good });
    fs.chmodSync(folder.at("plan.md"), 0);
    giveToNobody(folder.root);
    for (const [, args] of everyWay) {
      const said = await asNobody(folder.root, "plan", ...withPhase(args, "plan.md"));
      expectNoCrash(said);
      expect(said.code, said.all).toBe(1);
      expect(said.err).toMatch(/plan\.md cannot be read \(EACCES\)/);
    }
  });
  it("what cannot be opened has a way out, too", async () => {
    const folder = folderWith();
    spawnSync("mkfifo", [folder.at("pipe.md")]);
    const pipe = errorOf(await folder.autodev("plan", "check", "pipe.md", "--json"));
    fs.symlinkSync("loop.md", folder.at("loop.md"));
    const loop = errorOf(await folder.autodev("plan", "check", "loop.md", "--json"));
    folder.write("file.md", "a file");
    const made = errorOf(await folder.autodev("plan", "new", "file.md/x.md", "--json"));
    expect([pipe.hint, loop.hint, made.hint]).toEqual(Array(3).fill(expect.stringMatching(words)));
  });

  describe.concurrent("folders in which something lies that is no file:", () => {
    const table: [string, string, (folder: Repo) => void][] = [
      ["a link that leads nowhere", ".", (at) => fs.symlinkSync("x", at.at("link.md"))],
      ["a folder with the name of a file", ".", (at) => fs.mkdirSync(at.at("notes.md"))],
      ["a pipe", ".", (at) => void spawnSync("mkfifo", [at.at("pipe.md")])],
      [
        "a pipe as the second part of a plan",
        "x-plan-1.md",
        (at) => {
          at.write("x-plan-1.md", good);
          spawnSync("mkfifo", [at.at("x-plan-2.md")]);
        },
      ],
      [
        "a pipe as a task",
        ".",
        (at) => {
          fs.mkdirSync(at.at("todo"));
          spawnSync("mkfifo", [at.at("todo/01_a.md")]);
        },
      ],
    ];
    for (const [what, given, make] of table) {
      it(what, async () => {
        const folder = folderWith({ "other.txt": "" });
        make(folder);
        const ran = await autodevIn(
          { cwd: folder.root, timeout: 5000 },
          "plan",
          "check",
          given,
          "--json",
        );
        expect(ran.code, ran.all).toBe(1);
        errorOf(ran);
      });
    }

    it("a file that may not be read", async () => {
      const folder = folderWith({ "notes.md": "# Notes\n" });
      fs.chmodSync(folder.at("notes.md"), 0);
      giveToNobody(folder.root);
      expect((await asNobody(folder.root, "plan", "check", ".")).code).toBe(1);
    });

    it("a folder that may not be entered", async () => {
      const folder = folderWith();
      fs.mkdirSync(folder.at("closed"), { mode: 0o444 });
      giveToNobody(folder.root);
      expect((await asNobody(folder.root, "plan", "check", "closed")).code).toBe(1);
    });
  });
});

describe.concurrent("plan commands that are called wrongly exit with 2 and say how it goes:", () => {
  const table: [string, string[], RegExp][] = [
    ["a format that is none", ["check", "plan.md", "--format", "word"], /--format.*superplan/s],
    ["a form that is none", ["graph", "plan.md", "--as", "png"], /--as.*mermaid/s],
    ["a target that is none", ["import", "plan.md", "--to", "jira"], /--to.*superplan/s],
    ["a part that is none", ["tick", "plan.md", "1", "--only", "half"], /--only.*tasks/s],
    ["a status that is none", ["tick", "plan.md", "1", "--status", "fine"], /--status.*pending/s],
    ["--status with --untick", ["tick", "plan.md", "1", "--status", "failed", "--untick"], /alone/],
    ["no phase", ["tick", "plan.md"], /phase/],
    ["no plan", ["check"], /plan/],
    ["two plans", ["check", "plan.md", "other.md"], /arguments/],
    ["an option that is none", ["check", "plan.md", "--frobnicate"], /--frobnicate/],
  ];
  for (const [what, args, says] of table) {
    it(what, async () => {
      const folder = folderWith({ "plan.md": planOf({ id: "1" }) });
      await expectRefused(folder, args, { exit: 2, code: "usage", says, hint: /autodev help/ });
    });
  }

  it("a phase that is not there: the plan's phases are named, none is ticked", async () => {
    const folder = folderWith({ "plan.md": planOf({ id: "1" }, { id: "2A", depends: "1" }) });
    await expectRefused(folder, ["tick", "plan.md", "1", "9"], {
      code: "no-such-phase",
      file: "plan.md",
      says: /\b9\b/,
      hint: /\b1, 2A\b/,
    });
  });
  it("a phase of a plan without phases: that there are none is said", async () => {
    const folder = folderWith({ "plan.md": "# Shopping\n\nMilk.\n" });
    const { hint } = errorOf(await folder.autodev("plan", "tick", "plan.md", "1", "--json"));
    expect(hint).toMatch(/plan (?:new|check)/);
  });
  it("an empty name of a plan", async () => {
    const folder = folderWith({ "plan.md": planOf({ id: "1" }) });
    expect((await folder.autodev("plan", "check", "")).code).toBe(2);
  });
});

describe("large and tangled plans are read within seconds:", () => {
  const many = (length: number, row: (at: number) => string): string =>
    `# Plan\n\n${tableOf(Array.from({ length }, (_, at) => ({ id: String(at), depends: row(at) })))}\n` +
    Array.from({ length }, (_, at) => sectionOf(String(at))).join("\n");
  const limit = 40_000;
  const timed = async (text: string, exit = 0, file = "plan.md"): Promise<CheckView> => {
    const folder = folderWith({ [file]: text });
    const began = Date.now();
    const seen = await check(folder, file, exit);
    expect(Date.now() - began).toBeLessThan(limit);
    return seen;
  };

  it("10,000 phases in a row", async () => {
    const { phases, errors } = await timed(many(10_000, (at) => (at ? String(at - 1) : "-")));
    expect(errors).toEqual([]);
    expect(phases.length).toBe(10_000);
  }, 60_000);

  it("10,000 phases beside each other", async () => {
    const { batches, errors } = await timed(many(10_000, () => "-"));
    expect(errors).toEqual([]);
    expect(batches.length).toBe(1);
  }, 60_000);

  it("10,000 phases in a ring", async () => {
    const { errors } = await timed(
      many(10_000, (at) => String((at + 1) % 10_000)),
      1,
    );
    expect(errors.map(({ code }) => code)).toEqual(["cycle"]);
  }, 60_000);
  it("1,000 phases of which each waits for all before it", async () => {
    const text = many(1000, (at) => (at > 1 ? `0-${at - 1}` : "-"));
    const folder = folderWith({ "plan.md": text });
    const ran = await autodevIn({ cwd: folder.root, timeout: 12_000 }, "plan", "check", "plan.md");
    expect(ran.code).toBe(0);
  });

  it("10,000 tasks of Task Master", async () => {
    const tasks = Array.from({ length: 10_000 }, (_, at) => ({
      id: at + 1,
      title: `Task ${at + 1}`,
      status: "pending",
      dependencies: at ? [at] : [],
    }));
    const { phases } = await timed(JSON.stringify({ tasks }, null, 1), 0, "tasks.json");
    expect(phases.length).toBe(10_000);
  }, 60_000);

  it("brackets, ticks, tags and hashes without end", async () => {
    const front = `${planOf({ id: "1" })}\n`;
    for (const tangle of [
      "[".repeat(100_000),
      Array.from({ length: 4900 }, (_, at) => "`".repeat(1 + (at % 300))).join(" "),
      `${"<a ".repeat(1000)}\n\n`.repeat(100),
      "# ".repeat(100_000),
      "a ".repeat(1_000_000),
    ]) {
      await timed(`${front}${tangle}\n`);
    }
  }, 120_000);
  it("a line with 200,000 spaces", async () => {
    const folder = folderWith({ "plan.md": `${planOf({ id: "1" })}\nx${" ".repeat(200_000)}y\n` });
    const ran = await autodevIn({ cwd: folder.root, timeout: 10_000 }, "plan", "check", "plan.md");
    expect(ran.code).toBe(0);
  });
  it("a list of 790 items, each one space further in", async () => {
    const stairs = Array.from({ length: 790 }, (_, at) => `${" ".repeat(at)}- x\n`).join("");
    const folder = folderWith({ "plan.md": `${planOf({ id: "1" })}\n${stairs}` });
    const ran = await autodevIn({ cwd: folder.root, timeout: 15_000 }, "plan", "check", "plan.md");
    expect(ran.code).not.toBeNull();
  });
  it("a list of 6,000 boxes", async () => {
    const boxes = Array.from({ length: 6000 }, (_, at) => `- [ ] Box ${at}\n`).join("");
    const { phases } = await timed(`# Plan\n\n## Phase 1: All\n\n${boxes}`);
    expect(phases[0]?.tasks.total).toBe(6000);
  });
});

// ── ticking ────────────────────────────────────────────────────────────────────────────────────

/** `{before|after}` in a text: the only places that may change. */
function variants(text: string): { before: Buffer; after: Buffer } {
  const take = (which: 1 | 2): Buffer =>
    Buffer.from(text.replace(/\{([^{}|]*)\|([^{}|]*)\}/g, `$${which}`));
  return { before: take(1), after: take(2) };
}

const marked = (status: string, other = "⬜"): string =>
  `# Plän 🎉 "x"\n\n${tableOf([
    { id: "1", name: "Erste 👩‍👩‍👧‍👦 Schritte", status },
    { id: "2", depends: "1", status: other },
  ])}
### Phase 1: Erste 👩‍👩‍👧‍👦 Schritte

- [{ |x}] Write it, with tests \u{1F600}  \n  - [{ |x}] nested 漢字\n* [{ |x}] other list\t

#### Definition of Done

1. [{ |x}] All tests pass

### Phase 2: Work 2

- [ ] Not this one
`;

describe.concurrent("plan tick changes boxes and status and no other byte:", () => {
  const table: [string, string, string, string, "restores" | "loses"][] = [
    ["emoji", "plan.md", "1", marked("{⬜|✅}"), "restores"],
    ["emoji with an example", "plan.md", "1", marked("{🔲|☑️}", "☑️"), "loses"],
    ["words", "plan.md", "1", marked("{Not Started|Complete}", "Not Started"), "restores"],
    ["words in code ticks", "plan.md", "1", marked("{`pending`|`complete`}"), "restores"],
    ["emoji and words", "plan.md", "1", marked("{⬜ To do|✅ Complete}", "⬜ To do"), "restores"],
    ["boxes in cells", "plan.md", "1", marked("[{ |x}]", "[ ]"), "restores"],
    ["another language", "plan.md", "1", marked("{未开始|已完成}", "未开始"), "restores"],
    ["an empty cell", "plan.md", "1", marked("{|✅}"), "loses"],
    [
      "headings",
      "plan.md",
      "2",
      "# Plan\n\n## Phase 1: One ⬜\n\n- [ ] a\n\n## Phase 2: Two {⬜|✅}\n\n- [{ |x}] b\n\n## Phase 3: Three ✅\n\n- [x] c\n",
      "restores",
    ],
    [
      "words in headings",
      "plan.md",
      "2",
      "# Plan\n\n## Phase 1: One (Pending)\n\n- [ ] a\n\n## Phase 2: Two ({Pending|Complete})\n\n- [{ |x}] b\n",
      "restores",
    ],
    [
      "a status in the section and one in the table",
      "plan.md",
      "1",
      `# Plan\n\n${tableOf([
        { id: "1", status: "{⬜|✅}" },
        { id: "2", depends: "1" },
      ])}\n### Phase 1: Work 1\n\n**Status**: {Pending|Complete}\n\n- [{ |x}] a\n\n### Phase 2: Work 2\n\n- [ ] b\n`,
      "restores",
    ],
    ["CRLF", "plan.md", "1", marked("{⬜|✅}").replaceAll("\n", "\r\n"), "restores"],
    ["lone CR", "plan.md", "1", marked("{⬜|✅}").replace(/\n/g, "\r"), "restores"],
    [
      "mixed line ends and no line end at the end",
      "plan.md",
      "1",
      marked("{⬜|✅}")
        .replace(/\n(?=- )/g, "\r\n")
        .trimEnd(),
      "restores",
    ],
    ["a byte order mark", "plan.md", "1", `\uFEFF${marked("{⬜|✅}")}`, "restores"],
    [
      "a table in a block quote",
      "plan.md",
      "1",
      `# Plan\n\n> ${tableOf([
        { id: "1", status: "{⬜|✅}" },
        { id: "2", depends: "1" },
      ])
        .trim()
        .replaceAll(
          "\n",
          "\n> ",
        )}\n\n### Phase 1: Work 1\n\n> - [{ |x}] quoted\n\n### Phase 2: Work 2\n\n- [ ] b\n`,
      "restores",
    ],
    [
      "a document that ticks with X",
      "plan.md",
      "2",
      planOf({ id: "1", status: "✅" }, { id: "2", depends: "1", status: "{⬜|✅}" })
        .replace("- [ ] Write", "- [X] Write")
        .replace("- [ ] Write", "- [{ |X}] Write"),
      "restores",
    ],
    [
      "spec-kit",
      "tasks.md",
      "2",
      "# Tasks: Voting\n\n## Phase 1: Setup\n\n- [x] T001 Create the project\n\n## Phase 2: Foundational\n\n- [{ |x}] T002 Schema in `src/a.sql`\n- [{ |x}] T003 [P] [US1] Cookie in `src/b.ts`\n\n**Checkpoint**: ready\n\n## Phase 3: Story 1\n\n- [ ] T004 [P] [US1] Page in `src/c.ts`\n",
      "restores",
    ],
    [
      "OpenSpec",
      "tasks.md",
      "2",
      "# Tasks\n\n## 1. Data\n\n- [x] 1.1 Add a column\n\n## 2. Page\n\n- [{ |x}] 2.1 Code\n- [{ |x}] 2.2 Confirm\n\n## 3. Login\n\n- [ ] 3.1 Ask\n",
      "restores",
    ],
    [
      "Kiro, with the box of the parent",
      "tasks.md",
      "2",
      "# Implementation Plan\n\n- [x] 1. Set up\n  - [x] 1.1 Model\n    - _Requirements: 1.1_\n\n- [{ |x}] 2. Build\n  - [{ |x}] 2.1 View\n    - _Requirements: 1.2_\n  - [{ |x}] 2.2 Tests\n\n- [ ] 3. Ship\n  - [ ] 3.1 Pack\n",
      "restores",
    ],
    [
      "Task Master",
      "tasks.json",
      "2",
      '{\n\t"tasks": [\n    {"id":1,"title":"One \\u00e4","status":"done","dependencies":[]},\n    {"id":2, "title":"Two 👍", "status" : "{pending|done}", "dependencies":[1], "details": "\\"status\\": \\"pending\\"",\n     "subtasks": [ {"id":1,"title":"a","status":"{pending|done}"}, {"id":2,"title":"b","status":"done"} ] }\n  ],  "meta": 1.50 }\n'
        .replace("{\n\t", "\u0001")
        .replace(/\{(?="id|"id)/g, "\u0002"),
      "loses",
    ],
    [
      "Backlog.md, in the front matter",
      "task-7 - Dark.md",
      "task-7",
      "---\nid: task-7\ntitle: 'Dark: mode'\nstatus: {To Do|Done} # ours\nassignee: []\ndependencies: []\n---\n\n## Acceptance Criteria\n<!-- AC:BEGIN -->\n- [{ |x}] #1 Follows the system\n<!-- AC:END -->\n\n## Implementation Plan\n\n- [{ |x}] Palette\n",
      "loses",
    ],
    [
      "a story",
      "1.2.story.md",
      "1.2",
      "# Story 1.2: Reading\n\n## Status\n\n{Ready-for-dev|Done}\n\n## Story\n\n**As a** tenant\n\n## Acceptance Criteria\n\n1. A number\n\n## Tasks / Subtasks\n\n- [{ |x}] Task 1: Form (AC: 1)\n  - [{ |x}] Field\n\n## Dev Notes\n\n- [ ] no task\n",
      "restores",
    ],
  ];
  for (const [what, file, phase, text, back] of table) {
    it(
      what,
      async () => {
        const plain = (bytes: Buffer): Buffer =>
          Buffer.from(bytes.toString().replace("\u0001", "{\n\t").replaceAll("\u0002", "{"));
        const { before, after } = variants(text);
        const folder = folderWith({ [file]: plain(before) });
        const picture = pictureOf(folder.root);
        const dry = await folder.autodev("plan", "tick", file, phase, "--dry-run");
        expectNoCrash(dry);
        expect(dry.code, dry.all).toBe(0);
        expect(pictureOf(folder.root)).toEqual(picture);

        const ticked = await folder.autodev("plan", "tick", file, phase);
        expectNoCrash(ticked);
        expect(ticked.code, ticked.all).toBe(0);
        expect(folder.read(file)).toBe(plain(after).toString());
        expect(folder.bytes(file).equals(plain(after))).toBe(true);
        expect(fs.readdirSync(folder.root)).toEqual([file]);
        const { phases } = await check(folder, file);
        const id = phase.toLowerCase().replace(/\./, "-").replace(/task-/, "task");
        expect(phases.find((each) => each.id === id)?.status).toBe("complete");

        const again = await folder.autodev("plan", "tick", file, phase, "--json");
        expect(jsonOf<{ edits: unknown[]; files: unknown[] }>(again)).toMatchObject({
          edits: [],
          files: [],
        });
        expect(folder.bytes(file).equals(plain(after))).toBe(true);

        const unticked = await folder.autodev("plan", "tick", file, phase, "--untick");
        expect(unticked.code, unticked.all).toBe(0);
        if (back === "restores") expect(folder.read(file)).toBe(plain(before).toString());
      },
      generous,
    );
  }

  it("says which lines, in words and as JSON, and the same ones beforehand", async () => {
    const folder = folderWith({ "plan.md": planOf({ id: "1" }, { id: "2", depends: "1" }) });
    type Tick = { version: number; dryRun: boolean; edits: { line: number }[]; files: string[] };
    const dry = jsonOf<Tick>(
      await folder.autodev("plan", "tick", "plan.md", "1", "--dry-run", "--json"),
    );
    expect(dry).toMatchObject({ version: 1, dryRun: true, files: ["plan.md"] });
    expect(dry.edits).toEqual([
      {
        file: "plan.md",
        line: 5,
        before: "| 1 | Work 1 | - | ⬜ |",
        after: "| 1 | Work 1 | - | ✅ |",
      },
      {
        file: "plan.md",
        line: 10,
        before: "- [ ] Write it, with tests",
        after: "- [x] Write it, with tests",
      },
    ]);
    const { edits } = jsonOf<Tick>(await folder.autodev("plan", "tick", "plan.md", "1", "--json"));
    expect(edits).toEqual(dry.edits);
  });

  it("several phases at once, however they are called, also twice", async () => {
    const text = planOf({ id: "1" }, { id: "2A", depends: "1" }, { id: "4.5", depends: "2A" });
    const folder = folderWith({ "plan.md": text });
    const ran = await folder.autodev("plan", "tick", "plan.md", "Phase 2-a", "4.5", "4-5", "2A");
    expect(ran.code, ran.all).toBe(0);
    const { phases } = await check(folder, "plan.md");
    expect(phases.map(({ status }) => status)).toEqual(["pending", "complete", "complete"]);
    await folder.autodev("plan", "tick", "plan.md", "2A", "4.5", "--untick");
    expect(folder.read("plan.md")).toBe(text);
  });

  it("phases of several files at once", async () => {
    const one = `# Plan\n\n${tableOf([{ id: "1" }, { id: "2", depends: "1" }])}\n${sectionOf("1")}`;
    const folder = folderWith({ "x-plan-1.md": one, "x-plan-2.md": `# More\n\n${sectionOf("2")}` });
    const ran = await folder.autodev("plan", "tick", "x-plan-1.md", "1", "2");
    expect(ran.code, ran.all).toBe(0);
    expect(folder.read("x-plan-1.md")).toBe(one.replaceAll("⬜", "✅").replace("- [ ]", "- [x]"));
    expect(folder.read("x-plan-2.md")).toBe(`# More\n\n${sectionOf("2")}`.replace("[ ]", "[x]"));
  });

  it("only the tasks, only the definition of done, only the status, another status", async () => {
    const text = marked("⬜").replaceAll("{ |x}", " ");
    const folder = folderWith({ "plan.md": text });
    const only = async (...args: string[]): Promise<string> => {
      folder.write("plan.md", text);
      expect((await folder.autodev("plan", "tick", "plan.md", "1", ...args)).code).toBe(0);
      return folder.read("plan.md");
    };
    const done = text.replace("1. [ ] All", "1. [x] All");
    expect(await only("--only", "done")).toBe(done);
    expect(await only("--only", "status")).toBe(text.replace("| ⬜ |", "| ✅ |"));
    expect(await only("--status", "running")).toBe(text.replace("| ⬜ |", "| 🔄 |"));
    const tasks = variants(marked("⬜")).after.toString().replace("1. [x] All", "1. [ ] All");
    expect(await only("--only", "tasks")).toBe(tasks);
  });

  it("keeps the permissions, and a link a link", async () => {
    const folder = folderWith({ "docs/real.md": planOf({ id: "1" }) });
    for (const mode of [0o600, 0o640, 0o644, 0o755]) {
      folder.write("docs/real.md", planOf({ id: "1" }));
      fs.chmodSync(folder.at("docs/real.md"), mode);
      fs.rmSync(folder.at("plan.md"), { force: true });
      fs.symlinkSync("docs/real.md", folder.at("plan.md"));
      expect((await folder.autodev("plan", "tick", "plan.md", "1")).code).toBe(0);
      expect(fs.readlinkSync(folder.at("plan.md"))).toBe("docs/real.md");
      expect(folder.read("docs/real.md")).toContain("| ✅ |");
      expect(fs.statSync(folder.at("docs/real.md")).mode & 0o777).toBe(mode);
    }
  });

  it("writes nothing through a link that leads out of the repository", async () => {
    const folder = folderWith({
      "repository/.git": "gitdir: nowhere\n",
      "plan.md": planOf({ id: "1" }),
    });
    fs.symlinkSync("..", folder.at("repository/docs"));
    fs.symlinkSync("../plan.md", folder.at("repository/plan.md"));
    for (const args of [
      ["tick", "repository/plan.md", "1"],
      ["tick", "repository/docs/plan.md", "1"],
      ["new", "repository/docs/new-plan.md"],
      ["new", "repository/docs/deep/new-plan.md"],
    ]) {
      const { code, err } = await folder.autodev("plan", ...args);
      expect(code, args.join(" ")).toBe(1);
      expect(err).toContain("leads out of the repository");
    }
    expect(folder.read("plan.md")).toBe(planOf({ id: "1" }));
    expect(fs.existsSync(folder.at("new-plan.md")) || fs.existsSync(folder.at("deep"))).toBe(false);
  });

  it("keeps permissions that the umask would not give", async () => {
    const folder = folderWith({ "plan.md": planOf({ id: "1" }) });
    fs.chmodSync(folder.at("plan.md"), 0o666);
    expect((await folder.autodev("plan", "tick", "plan.md", "1")).code).toBe(0);
    expect(fs.statSync(folder.at("plan.md")).mode & 0o777).toBe(0o666);
  });
  (isRoot ? it : it.skip)("keeps the owner", async () => {
    const folder = folderWith({ "plan.md": planOf({ id: "1" }) });
    giveToNobody(folder.root);
    expect((await folder.autodev("plan", "tick", "plan.md", "1")).code).toBe(0);
    expect(fs.statSync(folder.at("plan.md")).uid).toBe(65534);
  });

  it("a folder that may not be written: an error, and the file as it was", async () => {
    const folder = folderWith({ "docs/plan.md": planOf({ id: "1" }) });
    giveToNobody(folder.root);
    fs.chmodSync(folder.at("docs"), 0o555);
    const before = pictureOf(folder.root);
    const ran = await asNobody(folder.root, "plan", "tick", "docs/plan.md", "1", "--json");
    expect(ran.code, ran.all).toBe(1);
    expect(errorOf(ran)).toMatchObject({ code: "disk", file: "docs/plan.md" });
    expect(pictureOf(folder.root)).toEqual(before);
    fs.chmodSync(folder.at("docs"), 0o755);
  });

  it("Kiro tasks that have no boxes in them", async () => {
    const folder = folderWith({
      "tasks.md": "# Plan\n\n- [ ] 1. Set up\n  - _Requirements: 1.1_\n- [x] 2. Build\n",
    });
    const ran = await folder.autodev("plan", "tick", "tasks.md", "1");
    expect(ran.code, ran.all).toBe(0);
    expect(folder.read("tasks.md")).toContain("- [x] 1. Set up");
  });

  it("Kiro tasks that are under way", async () => {
    const folder = folderWith({
      "tasks.md":
        "# Plan\n\n- [-] 1. Set up\n  - [x] 1.1 One\n    - _Requirements: 1.1_\n  - [ ] 1.2 Two\n",
    });
    const ran = await folder.autodev("plan", "tick", "tasks.md", "1");
    expect(ran.code, ran.all).toBe(0);
    expect(folder.read("tasks.md")).not.toMatch(/\[[ -]\]/);
  });

  it("a status that is a number leaves the JSON JSON", async () => {
    const folder = folderWith({ "tasks.json": '{"tasks":[{"id":1,"title":"a","status":5}]}\n' });
    await folder.autodev("plan", "tick", "tasks.json", "1");
    expect(() => JSON.parse(folder.read("tasks.json"))).not.toThrow();
  });

  it("an empty status of a subtask becomes a word", async () => {
    const folder = folderWith({
      "tasks.json":
        '{"tasks":[{"id":1,"title":"a","status":"pending","subtasks":[{"id":1,"title":"b","status":""}]}]}\n',
    });
    await folder.autodev("plan", "tick", "tasks.json", "1");
    expect(folder.read("tasks.json")).not.toContain('"x"');
  });
  for (const status of ["Pending (waits for design)", "⬜ [log](log.md)", "⬜ <!-- ours -->"]) {
    it(`a note beside the status stays: ${status}`, async () => {
      const folder = folderWith({ "plan.md": planOf({ id: "1", status }) });
      expect((await folder.autodev("plan", "tick", "plan.md", "1")).code).toBe(0);
      expect(folder.read("plan.md")).toContain(/\(waits.*\)|\[log.*\)|<!--.*-->/.exec(status)?.[0]);
    });
  }
  it("a box with words beside it does not contradict itself", async () => {
    const folder = folderWith({ "plan.md": planOf({ id: "1", status: "[ ] Not started" }) });
    await folder.autodev("plan", "tick", "plan.md", "1");
    expect(folder.read("plan.md")).not.toContain("[x] Not started");
  });
  it("an empty cell is empty again after --untick", async () => {
    const text = planOf({ id: "1", status: "" }, { id: "2", depends: "1", status: "" });
    const folder = folderWith({ "plan.md": text });
    await folder.autodev("plan", "tick", "plan.md", "1");
    await folder.autodev("plan", "tick", "plan.md", "1", "--untick");
    expect(folder.read("plan.md")).toBe(text);
  });
  it("Backlog.md's own word comes back with --untick", async () => {
    const text =
      "---\nid: task-7\ntitle: Dark\nstatus: To Do\ndependencies: []\n---\n\n## Acceptance Criteria\n\n- [ ] #1 a\n";
    const folder = folderWith({ "task-7 - Dark.md": text });
    await folder.autodev("plan", "tick", "task-7 - Dark.md", "task-7");
    await folder.autodev("plan", "tick", "task-7 - Dark.md", "task-7", "--untick");
    expect(folder.read("task-7 - Dark.md")).toBe(text);
  });
  it("a status that has no place, or that a box cannot show, is not passed over", async () => {
    const folder = folderWith({
      "none.md": `# Plan\n\n${sectionOf("1")}\n${sectionOf("2")}`,
      "box.md": planOf({ id: "1", status: "[ ]" }),
    });
    for (const file of ["none.md", "box.md"]) {
      const ran = await folder.autodev("plan", "tick", file, "1", "--status", "failed");
      expect(ran.all).not.toContain("Everything says so already");
    }
  });
});

// ── at the same time ───────────────────────────────────────────────────────────────────────────

describe("plan tick, while others write:", () => {
  const ids = Array.from({ length: 12 }, (_, at) => String(at));
  const text = planOf(...ids.map((id) => ({ id })));
  const tickedIn = async (folder: Repo): Promise<string[]> =>
    (await check(folder, "plan.md")).phases.flatMap(({ id, status, tasks }) =>
      status === "complete" && tasks.done === tasks.total ? [id] : [],
    );

  /** The built binary, with a moment between the last look at the file and its replacement. */
  function slowly(folder: Repo, between: string): Record<string, string> {
    const hook = path.join(makeFolder("hook"), "hook.cjs");
    fs.writeFileSync(
      hook,
      `const fs = require("node:fs"), disk = require("node:fs/promises"), rename = disk.rename;
       const plan = ${JSON.stringify(folder.at("plan.md"))};
       disk.rename = async (from, to) => { ${between}; return rename(from, to); };`,
    );
    return { NODE_OPTIONS: `--require ${hook}` };
  }

  it("what was appended since is still there, and so is every tick that was made", async () => {
    const folder = folderWith({ "plan.md": text });
    let lines = 0;
    for (const id of ids) {
      const ticking = folder.autodev("plan", "tick", "plan.md", id);
      await sleep(20);
      fs.appendFileSync(folder.at("plan.md"), `\nline ${lines++}\n`);
      const ran = await ticking;
      expect(ran.code, ran.all).toBe(0);
    }
    expect(await tickedIn(folder)).toEqual(ids);
    expect(folder.read("plan.md").match(/^line \d+$/gm)?.length).toBe(lines);
  });
  it("what was appended at the last moment is still there", async () => {
    const folder = folderWith({ "plan.md": text });
    const env = slowly(
      folder,
      'if (to === plan && !globalThis.once) { globalThis.once = 1; fs.appendFileSync(plan, "\\nlast words\\n"); }',
    );
    const ran = await folder.with(env, "plan", "tick", "plan.md", "1");
    expect(ran.code, ran.all).toBe(0);
    expect(folder.read("plan.md")).toContain("last words");
  });
  it("two ticks that begin at the same moment both land", async () => {
    const folder = folderWith({ "plan.md": text });
    const env = slowly(folder, "await new Promise((done) => setTimeout(done, 700))");
    const both = await Promise.all(
      ["1", "2"].map((id) => folder.with(env, "plan", "tick", "plan.md", id)),
    );
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect(await tickedIn(folder)).toEqual(["1", "2"]);
  });
  it("twelve ticks at once all land", async () => {
    const folder = folderWith({ "plan.md": text });
    const all = await Promise.all(ids.map((id) => folder.autodev("plan", "tick", "plan.md", id)));
    expect(all.map(({ code }) => code)).toEqual(ids.map(() => 0));
    expect(await tickedIn(folder)).toEqual(ids);
  });
  it("two ticks of one plan that is named by different parts both land", async () => {
    const one = `# Plan\n\n${tableOf([{ id: "1" }, { id: "2" }])}\n${sectionOf("1")}`;
    const folder = folderWith({ "x-plan-1.md": one, "x-plan-2.md": `# More\n\n${sectionOf("2")}` });
    const env = slowly(folder, "await new Promise((done) => setTimeout(done, 1500))");
    const both = await Promise.all(
      ["1", "2"].map((id) => folder.with(env, "plan", "tick", `x-plan-${id}.md`, id)),
    );
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    const { phases } = await check(folder, "x-plan-1.md");
    expect(phases.map(({ status }) => status)).toEqual(["complete", "complete"]);
  });
  it("what was appended just before and just after the replacement is still there", async () => {
    const folder = folderWith({ "plan.md": text });
    const env = slowly(
      folder,
      `if (to === plan && !globalThis.once) {
         globalThis.once = 1;
         fs.appendFileSync(plan, "\\nlast words\\n");
         await rename(from, to);
         fs.appendFileSync(plan, "\\nafterthought\\n");
         return;
       }`,
    );
    const ran = await folder.with(env, "plan", "tick", "plan.md", "1");
    expect(ran.code, ran.all).toBe(0);
    expect(folder.read("plan.md")).toContain("last words");
    expect(folder.read("plan.md")).toContain("afterthought");
  });
  it("a plan of two files, of which one cannot be written, is changed in neither", async () => {
    const one = `# Plan\n\n${tableOf([{ id: "1" }, { id: "2" }])}\n${sectionOf("1")}`;
    const folder = folderWith({
      "x-plan-1.md": one,
      "closed/x-plan-2.md": `# More\n\n${sectionOf("2")}`,
    });
    fs.symlinkSync("closed/x-plan-2.md", folder.at("x-plan-2.md"));
    giveToNobody(folder.root);
    fs.chmodSync(folder.at("closed"), 0o555);
    const ran = await asNobody(folder.root, "plan", "tick", "x-plan-1.md", "1", "2");
    fs.chmodSync(folder.at("closed"), 0o755);
    expect(ran.code, ran.all).toBe(1);
    expect(folder.read("x-plan-1.md")).toBe(one);
  });

  it("leaves no temporary file behind, also when it gives up", async () => {
    const folder = folderWith({ "plan.md": text });
    await Promise.all(ids.map((id) => folder.autodev("plan", "tick", "plan.md", id)));
    expect(fs.readdirSync(folder.root)).toEqual(["plan.md"]);
  });
});

// ── pictures ───────────────────────────────────────────────────────────────────────────────────

const escapes = "a\u001b[31mred\u001b]0;owned\u0007 b \u009b31m \u202edrow\u0000\u0008";
const names = [
  "漢字かな交じり文".repeat(12),
  "🚀 emoji 🎉 ".repeat(20),
  "<script>alert(1)</script>",
  "\"double\" & 'single' #35; ]] --> n1 ]]> <!-- x",
  escapes,
  "`ticks` **bold** | pipe \\ back",
  "end",
  "subgraph",
  "x".repeat(300),
  "한국어 ".repeat(30),
];

/** Task Master's titles are what they are: no Markdown takes anything out of them. */
const wild = (
  dependsOn: (at: number) => number[] = (at) => (at > 0 ? [at] : []),
  all: readonly string[] = names,
): string =>
  JSON.stringify(
    {
      tasks: all.map((title, at) => ({
        id: at + 1,
        title,
        status: ["pending", "done", "in-progress", "blocked", "cancelled"][at % 5],
        dependencies: dependsOn(at),
      })),
    },
    null,
    2,
  );

/** Columns of a terminal, counted as terminals do: wide ones two, marks none. */
const columnsOf = (line: string): number =>
  Array.from(line).reduce(
    (sum, each) =>
      sum +
      (/\p{M}|\u200d/u.test(each)
        ? 0
        : /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60]/u.test(
              each,
            )
          ? 2
          : 1),
    0,
  );

/** Elements that nest, attributes in quotes, nothing in the text that XML does not allow. */
function expectWellFormed(xml: string): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are forbidden
  expect(xml).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/);
  const open: string[] = [];
  const token =
    /<(\/?)([a-zA-Z][\w:-]*)((?:\s+[\w:-]+="(?:[^"<&]|&(?:#\d+|amp|lt|gt|quot|apos);)*")*)\s*(\/?)>|((?:[^<&]|&(?:#\d+|amp|lt|gt|quot|apos);)+)/gy;
  let at = 0;
  for (const match of xml.trim().matchAll(token)) {
    expect(match.index).toBe(at);
    at = match.index + match[0].length;
    const [, closing, name, attributes = "", empty] = match;
    if (name === undefined) continue;
    expect(attributes).not.toMatch(/\son\w+=|javascript:|href=/i);
    expect(name.toLowerCase()).not.toMatch(/script|foreignobject|iframe|image/);
    if (closing) expect(open.pop()).toBe(name);
    else if (!empty) open.push(name);
  }
  expect(at, `from here on it is no XML: ${xml.trim().slice(at, at + 80)}`).toBe(xml.trim().length);
  expect(open).toEqual([]);
}

describe.concurrent("plan graph", () => {
  const shapes: [string, (at: number) => number[], number][] = [
    ["a chain", (at) => (at > 0 ? [at] : []), 1],
    ["a fan", (at) => (at > 0 ? [1] : []), 1],
    ["a mesh", (at) => Array.from({ length: at }, (_, need) => need + 1), 1],
    ["forty that wait for one", (at) => (at > 0 ? [1] : []), 4],
  ];
  for (const [what, dependsOn, times] of shapes) {
    it(`is no wider than 80 columns: ${what}`, async () => {
      const all = Array.from({ length: times }, () => names).flat();
      const folder = folderWith({ "tasks.json": wild(dependsOn, all) });
      for (const command of ["graph", "check"]) {
        const ran = await folder.autodev("plan", command, "tasks.json", "--no-color");
        expect(ran.code, ran.all).toBe(0);
        const drawn = command === "graph" ? ran.out : (ran.out.split("tasks.json:")[0] ?? "");
        for (const line of drawn.split("\n")) {
          expect(columnsOf(line), line).toBeLessThanOrEqual(80);
        }
      }
    });
  }
  it("is no wider than 80 columns: a plan with a long path", async () => {
    const file = `${"long-name-of-a-folder/".repeat(5)}plan.md`;
    const folder = folderWith({ [file]: planOf({ id: "1" }) });
    const { out } = await folder.autodev("plan", "graph", file);
    for (const line of out.split("\n")) expect(columnsOf(line), line).toBeLessThanOrEqual(80);
  });

  it("as Mermaid has nodes, edges and classes, and nothing of the names gets out", async () => {
    const folder = folderWith({ "tasks.json": wild() });
    const { out, code } = await folder.autodev("plan", "graph", "tasks.json", "--as", "mermaid");
    expect(code).toBe(0);
    const [first, ...lines] = out.trimEnd().split("\n");
    expect(first).toMatch(/^(?:flowchart|graph) (?:TD|TB|LR)$/);
    const nodes = new Set<string>();
    let edges = 0;
    for (const line of lines) {
      const node =
        /^ {2}(\w+)\["([^"<>\u0000-\u001f\u007f-\u009f\u202a-\u202e]*)"\]:::(\w+)$/u.exec(line);
      const edge = /^ {2}(\w+) --> (\w+)$/.exec(line);
      if (node) {
        expect(nodes.has(node[1] as string)).toBe(false);
        nodes.add(node[1] as string);
        expect(node[1]).not.toMatch(/^(?:end|subgraph|graph|class|style|click)$/);
        // An entity is #number; and a bare # would begin one.
        expect((node[2] ?? "").replace(/#\d+;/g, "")).not.toContain("#");
      } else if (edge) {
        edges++;
        expect([nodes.has(edge[1] as string), nodes.has(edge[2] as string)]).toEqual([true, true]);
      } else expect(line).toMatch(/^ {2}classDef \w+ [\w:#,.-]+$/);
    }
    expect([nodes.size, edges]).toEqual([names.length, names.length - 1]);
  });

  it("as SVG is well-formed, whatever the names are", async () => {
    const folder = folderWith({ "tasks.json": wild(), "<b>&\"'.md": planOf({ id: "1" }) });
    for (const file of ["tasks.json", "<b>&\"'.md"]) {
      const { out, code } = await folder.autodev("plan", "graph", file, "--as", "svg");
      expect(code).toBe(0);
      expectWellFormed(out);
      expect(out).not.toMatch(/<script|\u001b|\u009b|\u202e/);
    }
  });
  it("as SVG is well-formed, also with characters that XML does not know", async () => {
    const folder = folderWith({ "tasks.json": wild(undefined, ["a\uffffb", "c\ufffed"]) });
    expectWellFormed((await folder.autodev("plan", "graph", "tasks.json", "--as", "svg")).out);
  });

  it("as JSON has nodes, edges, batches and the critical path; --json is the same", async () => {
    const folder = folderWith({
      "plan.md": planOf({ id: "1" }, { id: "2A", depends: "1" }, { id: "2B", depends: "1" }),
    });
    const form = await folder.autodev("plan", "graph", "plan.md", "--as", "json");
    const view = jsonOf<Record<string, unknown>>(form);
    expect(view).toMatchObject({
      version: 1,
      files: ["plan.md"],
      nodes: [
        { id: "1", written: "1", name: "Work 1", status: "pending", estimate: null },
        { id: "2a", written: "2A" },
        { id: "2b" },
      ],
      edges: [
        { from: "1", to: "2a" },
        { from: "1", to: "2b" },
      ],
      batches: [["1"], ["2a", "2b"]],
    });
    expect((view["criticalPath"] as unknown[]).length).toBe(2);
    expect(jsonOf(await folder.autodev("plan", "graph", "plan.md", "--json"))).toEqual(view);
  });

  it("of a plan with errors is drawn all the same, says them, and exits with 1", async () => {
    const folder = folderWith({
      "plan.md": planOf({ id: "1" }, { id: "2", depends: "3" }, { id: "3", depends: "2" }),
    });
    for (const form of ["text", "mermaid", "svg", "json"]) {
      const ran = await folder.autodev("plan", "graph", "plan.md", "--as", form);
      expectNoCrash(ran);
      expect(ran.code).toBe(1);
      expect(ran.err).toMatch(/plan\.md:6.*cycle/s);
      expect(ran.out).toMatch(/Work 3/);
      if (form === "svg") expectWellFormed(ran.out);
    }
  });

  it("into a file makes a new one, and never overwrites an old one", async () => {
    const folder = folderWith({ "plan.md": planOf({ id: "1" }), "old.svg": "mine" });
    const into = (file: string): string[] => ["graph", "plan.md", "--as", "svg", "-o", file];
    const made = await folder.autodev("plan", ...into("new.svg"));
    expect(made).toMatchObject({ code: 0, out: "" });
    expectWellFormed(folder.read("new.svg"));
    await expectRefused(folder, into("old.svg"), {
      exit: 2,
      file: "old.svg",
      hint: words,
    });
  });
});

describe.concurrent("escape sequences in a plan never reach the terminal:", () => {
  const commands: [string, string[]][] = [
    ["check", ["check", "tasks.json"]],
    ["graph", ["graph", "tasks.json"]],
    ["graph as Mermaid", ["graph", "tasks.json", "--as", "mermaid"]],
    ["graph as SVG", ["graph", "tasks.json", "--as", "svg"]],
    ["tick", ["tick", "tasks.json", "1", "2", "--dry-run"]],
    ["tick of a phase that is not there", ["tick", "tasks.json", `9${escapes}`]],
    ["a plan that is not there", ["check", `none${escapes.replace("\u0000", "")}.md`]],
  ];
  const text = wild(undefined, [escapes, escapes]);
  // Not as JSON writes them, but as they are; JSON itself allows that from U+007F on.
  const raw = text.replaceAll("\\u009b", "\u009b");
  const expectClean = (shown: string): void => {
    expect(shown).not.toContain("\u001b]");
    expect(shown).not.toContain("\u001b[31mred");
    expect(shown).not.toMatch(/[\u0080-\u009f\u202a-\u202e]/);
  };
  for (const [what, args] of commands) {
    it(what, async () => {
      const folder = folderWith({ "tasks.json": raw });
      const safe = args.map((each) => each.replaceAll("\u0000", ""));
      const terminal = atTerminal(folder.root, ["plan", ...safe]);
      await terminal.ended;
      expect(terminal.shown().length).toBeGreaterThan(10);
      expectClean(terminal.shown());
    });
  }
  it("import, when it prints the plan", async () => {
    const folder = folderWith({ "tasks.json": raw });
    const terminal = atTerminal(folder.root, ["plan", "import", "tasks.json"]);
    await terminal.ended;
    expectClean(terminal.shown());
  });
  it("check as JSON", async () => {
    const folder = folderWith({ "tasks.json": raw });
    const terminal = atTerminal(folder.root, ["plan", "check", "tasks.json", "--json"]);
    await terminal.ended;
    expectClean(terminal.shown());
  });
});

// ── import and new ─────────────────────────────────────────────────────────────────────────────

interface Example {
  readonly open: string;
}

describe.concurrent("plan import keeps ids, dependencies, statuses, tasks and definitions of done:", () => {
  const examples = [
    "superplan/canonical",
    "superplan/escaped-pipes",
    "superplan/cycle",
    "openspec/plain",
    "kiro/nested",
    "task-master/old",
    "superpowers/boxes",
    "story/folder",
    "tasks/tracker-ids",
    "generic/headings",
    "spec-kit/dependency-section",
    "backlog/file",
    "backlog/folder",
    "superplan/status-words",
    "superplan/long-id",
  ];
  const essence = ({ phases }: CheckView): unknown =>
    phases.map(({ id, dependsOn, status, tasks, definitionOfDone }) => {
      return { id, dependsOn, status, tasks, definitionOfDone };
    });
  for (const name of examples) {
    it(
      name,
      async () => {
        const folder = folderWith();
        fs.cpSync(path.join(testFolder, "plans", name), folder.root, { recursive: true });
        const { open } = JSON.parse(folder.read("expected.json")) as Example;
        const source = await folder.autodev("plan", "check", open, "--json");
        const before = JSON.parse(source.out) as CheckView;
        expect(before.phases.length).toBeGreaterThan(0);
        const into = ["plan", "import", open, "--to", "superplan", "-o"];
        const made = await folder.autodev(...into, "imported/out-plan.md");
        expect(made.code, made.all).toBe(0);
        const copy = await folder.autodev("plan", "check", "imported/out-plan.md", "--json");
        const after = JSON.parse(copy.out) as CheckView;
        expect(after.format).toBe("superplan");
        expect(essence(after)).toEqual(essence(before));
        expect(after.batches).toEqual(before.batches);
        // A second time: an old file is never overwritten.
        const bytes = folder.bytes("imported/out-plan.md");
        const again = await folder.autodev(...into, "imported/out-plan.md", "--json");
        expect(again.code).toBe(2);
        expect(errorOf(again)).toMatchObject({ code: "usage", file: "imported/out-plan.md" });
        expect(folder.bytes("imported/out-plan.md").equals(bytes)).toBe(true);
      },
      generous,
    );
  }

  it("names that look like markup, tables, boxes or headings", async () => {
    const texts = ["a | b", "# no heading", "- [x] no box", "*a* _b_ `c`", "a\nb", "[x] y", "1. z"];
    const folder = folderWith({
      "tasks.json": JSON.stringify({
        tasks: texts.map((title, at) => ({
          id: at + 1,
          title: `T ${title}`,
          status: "pending",
          dependencies: at ? [at] : [],
          subtasks: texts.map((text, id) => ({ id: id + 1, title: text, status: "done" })),
        })),
      }),
    });
    expect((await folder.autodev("plan", "import", "tasks.json", "-o", "out.md")).code).toBe(0);
    expect(essence(await check(folder, "out.md"))).toEqual(
      essence(await check(folder, "tasks.json")),
    );
  });

  it("to the terminal and as JSON is the same document", async () => {
    const folder = folderWith({ "tasks.json": wild(undefined, ["One", "Two"]) });
    const { out } = await folder.autodev("plan", "import", "tasks.json");
    const view = jsonOf<{ text: string; phases: number }>(
      await folder.autodev("plan", "import", "tasks.json", "--json"),
    );
    expect(view.phases).toBe(2);
    expect(view.text.trimEnd()).toBe(out.trimEnd());
  });
});

describe.concurrent("plan new", () => {
  it("writes a plan that passes the strictest check", async () => {
    const folder = folderWith();
    const made = await folder.autodev("plan", "new", "docs/deep/x-plan.md", "--title", "A\n# B");
    expect(made).toMatchObject({ code: 0, err: "" });
    const strict = await folder.autodev("plan", "check", "docs/deep/x-plan.md", "--strict");
    expect(strict.code, strict.all).toBe(0);
    expect(folder.read("docs/deep/x-plan.md").match(/^# /gm)?.length).toBe(1);
  });

  it("makes a file and folders that others may read, as the umask says", async () => {
    const folder = folderWith();
    await folder.autodev("plan", "new", "docs/plan.md");
    const mask = process.umask();
    expect(fs.statSync(folder.at("docs/plan.md")).mode & 0o777).toBe(0o666 & ~mask);
    expect(fs.statSync(folder.at("docs")).mode & 0o777).toBe(0o777 & ~mask);
  });

  it("without a file prints the same plan", async () => {
    const folder = folderWith();
    await folder.autodev("plan", "new", "plan.md");
    const { out } = await folder.autodev("plan", "new");
    expect(out).toBe(folder.read("plan.md"));
    const view = jsonOf<{ version: number; text: string }>(
      await folder.autodev("plan", "new", "--json"),
    );
    expect(view).toMatchObject({ version: 1, text: out });
  });

  it("never overwrites: a file, a folder, a link that leads nowhere", async () => {
    const folder = folderWith({ "plan.md": "mine", "docs/x": "" });
    fs.symlinkSync("nowhere.md", folder.at("link.md"));
    for (const file of ["plan.md", "docs", "link.md"]) {
      await expectRefused(folder, ["new", file], { exit: 2, file, says: /already/, hint: words });
    }
  });

  it("where nothing may be written: an error", async () => {
    const folder = folderWith();
    fs.mkdirSync(folder.at("docs"));
    giveToNobody(folder.root);
    fs.chmodSync(folder.at("docs"), 0o555);
    const ran = await asNobody(folder.root, "plan", "new", "docs/plan.md", "--json");
    expect(ran.code, ran.all).toBe(1);
    expect(errorOf(ran)).toMatchObject({ code: "disk", file: "docs/plan.md" });
    fs.chmodSync(folder.at("docs"), 0o755);
  });
});

// ── the schemas ────────────────────────────────────────────────────────────────────────────────

interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

/** As much of JSON Schema as the generated ones use. */
function faults(value: unknown, schema: Schema, at = "$"): string[] {
  if (schema.anyOf) {
    return schema.anyOf.some((each) => faults(value, each, at).length === 0)
      ? []
      : [`${at}: anyOf`];
  }
  if ("const" in schema && value !== schema.const) return [`${at} is ${String(value)}`];
  if (schema.enum && !schema.enum.includes(value)) return [`${at} is ${String(value)}`];
  const kind = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
  const wanted = [schema.type ?? []].flat();
  const isOf = (type: string): boolean =>
    type === kind || (type === "integer" && Number.isInteger(value));
  if (wanted.length > 0 && !wanted.some(isOf)) return [`${at} is ${kind}, not ${wanted.join()}`];
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => faults(each, schema.items ?? {}, `${at}[${index}]`));
  }
  if (kind !== "object") return [];
  const object = value as Record<string, unknown>;
  return [
    ...(schema.required ?? []).flatMap((key) => (key in object ? [] : [`${at}.${key} is missing`])),
    ...Object.entries(schema.properties ?? {}).flatMap(([key, each]) =>
      key in object ? faults(object[key], each, `${at}.${key}`) : [],
    ),
  ];
}

describe.concurrent("what --json prints satisfies its schema:", () => {
  const plan = planOf({ id: "1" }, { id: "2", depends: "7", status: "✅" });
  const table: [string, string, string[], string][] = [
    ["check of a good plan", "plan-check", ["check", "good.md"], "good.md"],
    ["check of a plan with errors", "plan-check", ["check", "bad.md"], "bad.md"],
    ["check of a plan without phases", "plan-check", ["check", "none.md"], "none.md"],
    ["check of Task Master", "plan-check", ["check", "tasks.json"], "tasks.json"],
    ["graph", "plan-graph", ["graph", "good.md"], "good.md"],
    ["tick", "plan-tick", ["tick", "good.md", "1"], "good.md"],
    ["import", "plan-import", ["import", "tasks.json"], "tasks.json"],
    ["new", "plan-new", ["new"], "good.md"],
    ["an error", "error", ["check", "missing.md"], "good.md"],
  ];
  for (const [what, name, args] of table) {
    const file = path.join(testFolder, "..", "schemas", `${name}.schema.json`);
    it.skipIf(!fs.existsSync(file))(what, async () => {
      const folder = folderWith({
        "good.md": planOf({ id: "1" }, { id: "2", depends: "1" }),
        "bad.md": plan,
        "none.md": "# Shopping\n\nMilk.\n",
        "tasks.json": wild(),
      });
      const ran = await folder.autodev("plan", ...args, "--json");
      expectNoCrash(ran);
      const schema = JSON.parse(fs.readFileSync(file, "utf8")) as Schema;
      expect(faults(JSON.parse(ran.out), schema)).toEqual([]);
    });
  }
  it("check of a plan with an estimate that is no number any more", async () => {
    const folder = folderWith({
      "plan.md": planOf({ id: "1" })
        .replace("Depends On", "Estimate")
        .replace("| - |", `| ${"9".repeat(400)} |`),
    });
    const file = path.join(testFolder, "..", "schemas", "plan-check.schema.json");
    const ran = await folder.autodev("plan", "check", "plan.md", "--json");
    const schema = JSON.parse(fs.readFileSync(file, "utf8")) as Schema;
    expect(faults(JSON.parse(ran.out), schema)).toEqual([]);
  });
});
