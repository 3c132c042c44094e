/** The examples, as a newcomer meets them: through the built binary, offline, without a question. */
import * as fs from "node:fs";
import * as path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { expectSchema, expectTidy } from "./build-rig.ts";
import {
  autodevIn,
  errorOf,
  expectNoCrash,
  jsonOf,
  makeFolder,
  pictureOf,
  plainEnvironment,
  type Ran,
  type Repo,
  repoAt,
  run,
} from "./rig.ts";

interface ExampleView {
  readonly type: string;
  readonly name: string;
  readonly folder: string;
  readonly plan: string;
  readonly trusted: boolean;
  readonly base: string;
  readonly build: { readonly status: string } | null;
  readonly commits: readonly { readonly phase: string; readonly commit: string }[];
  readonly holds: boolean | null;
}

const shipped = path.resolve(import.meta.dirname, "../examples");

const kinds = [
  {
    name: "typescript",
    plan: "docs/linkcheck-plan.md",
    tests: ["npm", "test"],
    subjects: {
      "0": "chore: set up the types and a handbook to test against",
      "1": "feat: find the links of a document, with their places",
      "2a": "feat: make anchors from headings as GitHub does",
      "2b": "feat: tell where a target leads",
      "2c": "feat: report problems to people, programs and GitHub",
      "3": "feat: check whole folders from the command line",
    },
    // One character of phase 2A: the second heading of a name gets -2.
    breaks: ["let count = 1; taken", "let count = 2; taken", "2A"],
  },
  {
    name: "python",
    plan: "docs/ledger-plan.md",
    tests: ["python3", "-m", "unittest", "discover", "-t", ".", "-s", "tests"],
    subjects: {
      "0": "chore(ledger): set up entries and a book to test against",
      "1": "feat(ledger): read and write books as CSV",
      "2a": "feat(ledger): add up what was spent by month and category",
      "2b": "feat(ledger): compare a month with its budget",
      "2c": "feat(ledger): find entries that were typed twice",
      "3": "feat(ledger): totals, budgets and duplicates on the command line",
    },
    // One character of phase 2B: exactly the limit is over it.
    breaks: ["self.spent > self.limit", "self.spent >=self.limit", "2B"],
  },
] as const;

const tsc = path.resolve(import.meta.dirname, "../node_modules/.bin/tsc");

/** Which phase may come after which others only. */
const waitsFor: Readonly<Record<string, readonly string[]>> = {
  "0": [],
  "1": ["0"],
  "2a": ["1"],
  "2b": ["1"],
  "2c": ["1"],
  "3": ["2a", "2b", "2c"],
};

const example = (cwd: string, ...args: string[]): Promise<Ran> =>
  autodevIn({ cwd, timeout: 120_000 }, "example", ...args);

const build = (repo: Repo, plan: string): Promise<Ran> =>
  autodevIn({ cwd: repo.root, timeout: 120_000 }, "build", plan, "--commit=auto");

/** Only the folder, for what is done in it next. */
async function made(
  name: string,
  env: Readonly<Record<string, string>> = {},
): Promise<ExampleView> {
  const options = { cwd: makeFolder("made"), env };
  return jsonOf<ExampleView>(
    await autodevIn(options, "example", name, "here", "--no-run", "--json"),
  );
}

const linesOf = (text: string): string[] => text.trimEnd().split("\n");

describe.each(kinds)("the $name example", ({ name, plan, tests, subjects, breaks }) => {
  let repo: Repo;
  let ran: Ran;
  let landed: { phase: string; commit: string }[] = [];

  beforeAll(async () => {
    const cwd = makeFolder(name);
    // What a newcomer types: no name at all is the first example.
    ran = await (name === "typescript" ? example(cwd) : example(cwd, name));
    expectNoCrash(ran);
    expect(ran.code, ran.all).toBe(0);
    repo = repoAt(path.join(cwd, `autodev-example-${name}`));
    landed = linesOf(
      repo.git(
        "log",
        "--reverse",
        "--format=%H %(trailers:key=Autobuild-Phase,valueonly,separator=%x2C)",
        "HEAD~6..HEAD",
      ),
    ).map((line) => {
      const [commit = "", phase = ""] = line.split(" ");
      return { commit, phase };
    });
  }, 180_000);

  it("shows the graph, the progress, the commits, a receipt, and what to type next", () => {
    expect(ran.out).toMatch(/○ +0 .*\n○ +1 .*\n├─┬─╮\n/);
    for (const subject of Object.values(subjects)) expect(ran.out).toContain(` ${subject}\n`);
    expect(ran.err.match(/^✓ /gm)).toHaveLength(6);
    expect(ran.out).toMatch(/^6 of 6 phases complete, .* s$/m);
    expect(ran.out).toMatch(
      /\n\$ autodev audit HEAD\n✓ .*\n {4}test: \d\d passed\n1 of 1 commit holds\n/,
    );
    expect(ran.out).toContain(`\n  cd autodev-example-${name}\n`);
    expect(ran.all).not.toContain("\u001b");
    expect(ran.all).not.toContain("DECISION");
  });

  it("lands six commits in an order that the graph allows", () => {
    expect(landed.map(({ phase }) => phase).sort()).toEqual(Object.keys(waitsFor).sort());
    const done = new Set<string>();
    for (const { phase } of landed) {
      expect(
        (waitsFor[phase] ?? []).filter((need) => !done.has(need)),
        phase,
      ).toEqual([]);
      done.add(phase);
    }
    expect(repo.git("rev-list", "--count", "HEAD").trim()).toBe("7");
  });

  it("has messages that one would be glad to have, with trailers that lead to receipts", () => {
    for (const { phase, commit } of landed) {
      const message = repo.git("log", "-1", "--format=%B", commit);
      const [subject, blank, ...body] = message.split("\n");
      expect(subject).toBe(subjects[phase as keyof typeof subjects]);
      expect(blank).toBe("");
      expect(body.filter((line) => line.startsWith("- ")).length).toBeGreaterThanOrEqual(2);
      expect(message).toMatch(/^Autobuild-Run: r[0-9a-f]+$/m);
      expect(message).toMatch(/^Autobuild-Attempt: [0-9a-f-]{36}$/m);
      const [, evidence = ""] = /^Autobuild-Evidence: ([0-9a-f]+)$/m.exec(message) ?? [];
      expect(repo.git("cat-file", "-t", evidence).trim()).toBe("blob");
    }
  });

  it("ticks the boxes of each phase in its own commit, and all of them in the end", () => {
    const ticked = [`${landed[0]?.commit}^`, ...landed.map(({ commit }) => commit)].map(
      (commit) => repo.git("show", `${commit}:${plan}`).match(/^- \[x\] /gm)?.length ?? 0,
    );
    expect(ticked[0]).toBe(0);
    expect(ticked).toEqual([...new Set(ticked)].sort((a, b) => a - b));
    expect(repo.read(plan)).not.toMatch(/^- \[ \] |⬜/m);
  });

  it("has more tests with every commit, and an audit finds each as it says", async () => {
    const options = { cwd: repo.root, timeout: 120_000 };
    const { holds, commits } = jsonOf<{
      holds: boolean;
      commits: { holds?: boolean; gates?: { name: string; tests?: { passed: number } }[] }[];
    }>(await autodevIn(options, "audit", "HEAD~6..HEAD", "--json"));
    expect(holds).toBe(true);
    expect(commits.map((each) => each.holds)).toEqual(Array(6).fill(true));
    const counts = commits.map(
      ({ gates }) => gates?.find((gate) => gate.name === "test")?.tests?.passed ?? 0,
    );
    expect(counts[0]).toBeGreaterThan(5);
    expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
  }, 120_000);

  it("leaves a clean tree whose own tests pass", async () => {
    expectTidy(repo);
    const [command = "", ...args] = tests;
    const own = await run(command, args, { cwd: repo.root });
    expect(own.code, own.all).toBe(0);
    expectTidy(repo);
  });

  it.runIf(name === "typescript")("has types that hold, which no gate of it needs", async () => {
    const checked = await run(tsc, ["--project", "."], { cwd: repo.root });
    expect(checked.code, checked.all).toBe(0);
    repo.write("src/wrong.js", 'import { slugOf } from "./anchors.js";\nslugOf(1);\n');
    const wrong = await run(tsc, ["--project", "."], { cwd: repo.root });
    fs.rmSync(repo.at("src/wrong.js"));
    expect(wrong.out).toContain("TS2345");
  });

  it("begins with exactly the bytes that we ship, whatever the user's git is set to", async () => {
    const config = path.join(makeFolder("settings"), "config");
    const ignored = path.join(makeFolder("settings"), "ignore");
    fs.writeFileSync(ignored, "docs/\n*.md\n");
    fs.writeFileSync(config, `[core]\n\tautocrlf = true\n\texcludesFile = ${ignored}\n`);
    const { folder, base } = await made(name, { GIT_CONFIG_GLOBAL: config });
    const committed = repoAt(folder).git("ls-tree", "-r", "-z", "--name-only", base);
    const files = committed.split("\0").filter(Boolean);
    const ours = Object.keys(pictureOf(path.join(shipped, name))).filter((file) =>
      fs.statSync(path.join(shipped, name, file)).isFile(),
    );
    expect(files.sort()).toEqual(ours.filter((file) => !file.includes("__pycache__")).sort());
    for (const file of files) {
      const bytes = fs.readFileSync(path.join(shipped, name, file), "utf8");
      expect(repoAt(folder).git("show", `${base}:${file}`), file).toBe(bytes);
      expect(repoAt(folder).read(file), file).toBe(bytes);
    }
  });

  it("halts with the reason when a phase is broken, and completes when it is mended", async () => {
    const [right, wrong, phase] = breaks;
    const broken = repoAt((await made(name)).folder);
    const text = broken.read(plan);
    expect(text.split(right)).toHaveLength(2);
    broken.write(plan, text.replace(right, wrong));
    broken.git("commit", "--quiet", "--all", "--message=break it");
    const halted = await build(broken, plan);
    expectNoCrash(halted);
    expect(halted.code, halted.all).toBe(4);
    expect(halted.out).toMatch(
      new RegExp(`^✗ ${phase} .*: test failed: .* ended with 1: .*\\d failed`, "m"),
    );
    expect(halted.out).toMatch(new RegExp(`^• 3 .*: waits for ${phase}$`, "m"));
    expect(halted.out).toMatch(/^4 of 6 phases complete, .* s; halted/m);
    broken.write(plan, broken.read(plan).replace(wrong, right));
    const mended = await build(broken, plan);
    expect(mended.code, mended.all).toBe(0);
    expect(mended.out).toMatch(/^6 of 6 phases complete, .* s$/m);
    expect(broken.git("rev-list", "--count", "HEAD").trim()).toBe("8");
    expectTidy(broken);
  }, 240_000);
});

describe("autodev example", () => {
  it("prints events and a summary with --json, also where CI is set", async () => {
    const cwd = makeFolder("json");
    const options = { cwd, env: { CI: "1" }, timeout: 120_000 };
    const ran = await autodevIn(options, "example", "python", "--json");
    expect({ code: ran.code, err: ran.err }, ran.all).toEqual({ code: 0, err: "" });
    const printed = linesOf(ran.out).map((line) => JSON.parse(line) as ExampleView);
    const summary = printed.pop() as ExampleView;
    for (const event of printed) expectSchema(event, "event");
    expectSchema(summary, "example");
    expect(printed.filter(({ type }) => type === "phase-landed")).toHaveLength(6);
    expect(summary).toMatchObject({ name: "python", trusted: true, holds: true });
    expect(summary.folder).toBe(path.join(cwd, "autodev-example-python"));
    expect(summary.build?.status).toBe("complete");
    const log = repoAt(summary.folder).git("log", "--reverse", "--format=%H", `${summary.base}..`);
    expect(summary.commits.map(({ commit }) => commit)).toEqual(linesOf(log));
  }, 180_000);

  it("lists what there is, in words and as JSON", async () => {
    const cwd = makeFolder("list");
    const words = await example(cwd, "--list");
    expect(words.out).toMatch(/^typescript +A program .*\npython +A ledger /);
    const listed = jsonOf<{ examples: { name: string; plan: string }[] }>(
      await example(cwd, "--list", "--json"),
    );
    expectSchema(listed, "example-list");
    expect(listed.examples.map(({ name, plan }) => ({ name, plan }))).toEqual(
      kinds.map(({ name, plan }) => ({ name, plan })),
    );
    expect(fs.readdirSync(cwd)).toEqual([]);
  });

  it("refuses a folder that is not empty, and leaves it as it is", async () => {
    const cwd = makeFolder("taken");
    fs.mkdirSync(path.join(cwd, "mine"));
    fs.writeFileSync(path.join(cwd, "mine", ".precious"), "mine");
    fs.writeFileSync(path.join(cwd, "file"), "mine");
    const before = pictureOf(cwd);
    const taken = await example(cwd, "python", "mine", "--json");
    expect(taken.code).toBe(2);
    expect(errorOf(taken).message).toMatch(/mine is not empty, and nothing in it is overwritten$/);
    const file = await example(cwd, "python", "file");
    expect(file).toMatchObject({ code: 2, out: "" });
    expect(file.err).toMatch(
      /file is in the way: it is not a folder\n {2}→ autodev example python /,
    );
    expect(pictureOf(cwd)).toEqual(before);
  });

  it("tells whoever types it twice how to go on", async () => {
    const { folder, plan } = await made("typescript");
    const again = await example(path.dirname(folder), "typescript", "here");
    expect(again.code).toBe(2);
    expect(again.err).toContain(`autodev build ${plan} --commit=auto goes on with it`);
  });

  it("takes an empty folder, one below folders that are not there, and names with blanks", async () => {
    const cwd = makeFolder("empty");
    const here = await example(cwd, "python", ".", "--no-run");
    expect(here.code, here.all).toBe(0);
    expect(here.out).toContain("\n  cd .\n");
    const below = await example(makeFolder("below"), "python", "a/b/it's mine", "--no-run");
    expect(below.code, below.all).toBe(0);
    expect(below.out).toContain("\n  cd 'a/b/it'\\''s mine'\n");
  });

  it("says which names there are when it is given another", async () => {
    const ran = await example(makeFolder("other"), "cobol", "--json");
    expect(ran.code).toBe(2);
    expect(errorOf(ran)).toMatchObject({ code: "usage", hint: "known: typescript, python" });
  });

  it("makes nothing where the program that it needs is missing", async () => {
    const cwd = makeFolder("bare");
    const programs = makeFolder("programs");
    const options = { cwd, env: { PATH: programs } };
    const ran = await autodevIn(options, "example", "python");
    expect(ran.code).toBe(2);
    expect(ran.err).toContain("needs python3, and there is none in the PATH");
    expect(fs.readdirSync(cwd)).toEqual([]);
  });
});

describe("our word for an example", () => {
  it("covers what we ship: a build asks nothing", async () => {
    const { folder, plan, trusted } = await made("typescript");
    expect(trusted).toBe(true);
    const told = jsonOf<{ trusted: boolean; surface: { name: string }[] }>(
      await repoAt(folder).autodev("trust", plan, "--no-input", "--json"),
    );
    expect(told.trusted).toBe(true);
    expect(told.surface.map(({ name }) => name)).toEqual(["test", "package.json#scripts"]);
  });

  it.each([
    ["typescript", "package.json", '"node --test"', '"node --test; echo mine"'],
    ["python", ".autodev/config.yaml", "test: python3", "test: echo mine; python3"],
  ])("ends where the %s one is changed: the question comes", async (name, file, from, to) => {
    const { folder, plan } = await made(name);
    const repo = repoAt(folder);
    repo.write(file, repo.read(file).replace(from, to));
    repo.git("commit", "--quiet", "--all", "--message=mine");
    const ran = await build(repo, plan);
    expect(ran.code, ran.all).toBe(3);
    expect(ran.err).toContain("echo mine");
    expect(ran.err).toMatch(/not trusted yet: nothing was run\n/);
    expect(repo.git("rev-list", "--count", "HEAD").trim()).toBe("2");
  });

  it("does not cover commands that somebody adds to the plan", async () => {
    const { folder, plan } = await made("python");
    const repo = repoAt(folder);
    const added = "#### Commands\n\n```bash\ntouch added\n```\n\n#### Definition of Done";
    repo.write(plan, repo.read(plan).replace("#### Definition of Done", added));
    repo.git("commit", "--quiet", "--all", "--message=mine");
    const ran = await build(repo, plan);
    expect(ran.code, ran.all).toBe(3);
    expect(ran.err).toContain("touch added");
    expect(repo.exists("added")).toBe(false);
  });

  it("is not given for hooks of the user's", async () => {
    const hooks = makeFolder("hooks");
    fs.writeFileSync(path.join(hooks, "pre-commit"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    const config = path.join(makeFolder("settings"), "config");
    fs.writeFileSync(config, `[core]\n\thooksPath = ${hooks}\n`);
    const env = { GIT_CONFIG_GLOBAL: config };
    const { folder, trusted } = await made("python", env);
    expect(trusted).toBe(false);
    const trust = path.join(plainEnvironment["XDG_CONFIG_HOME"] ?? "", "autodev", "trust");
    const kept = fs.existsSync(trust) ? fs.readdirSync(trust, { withFileTypes: true }) : [];
    const texts = kept
      .filter((entry) => entry.isFile())
      .map(({ name }) => fs.readFileSync(path.join(trust, name), "utf8"));
    expect(texts.filter((text) => text.includes(folder))).toEqual([]);
    const ran = await autodevIn(
      { cwd: makeFolder("hooked"), env, timeout: 120_000 },
      "example",
      "python",
    );
    expect(ran.code, ran.all).toBe(3);
    expect(ran.err).toContain("Hooks of yours would run in there as well");
  });
});
