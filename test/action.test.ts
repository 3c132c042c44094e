/**
 * The action as its runner would run it: the scripts of `action.yml` in bash, in their order, with the
 * files and variables that a runner gives them. What others have written (`uses`) is stood in for.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import {
  environmentOf,
  makeBuildRepo,
  plan,
  planOf,
  type Surroundings,
  spelled,
  trustHash,
  twoPhases,
} from "./build-rig.ts";
import { packageRoot, readDocument } from "./document.ts";
import { type GitHubServer, startGitHub } from "./github-server.ts";
import { binary, gitIn, makeFolder, type Repo, repoAt, run } from "./rig.ts";

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly run?: string;
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly "working-directory"?: string;
}

interface Action {
  readonly name: string;
  readonly description: string;
  readonly inputs: Readonly<
    Record<string, { description: string; required?: boolean; default?: string }>
  >;
  readonly outputs: Readonly<Record<string, { description: string; value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

const action = parse(fs.readFileSync(path.join(packageRoot, "action.yml"), "utf8")) as Action;
const { steps } = action.runs;

// ── a small runner ─────────────────────────────────────────────────────────────────────────────

type Values = Readonly<Record<string, string>>;

/** As much of the runner's expressions as the action uses: names, texts, ==, !=, &&, ||, always(). */
function evaluate(text: string, values: Values): string {
  const inside = (by: string | RegExp): string[] =>
    text.split(by).map((each) => (text.split(by).length > 1 ? evaluate(each, values) : each));
  if (text.includes(" || ")) return inside(" || ").find(isTrue) ?? "";
  if (text.includes(" && ")) return String(inside(" && ").every(isTrue));
  const [left, right] = inside(/ [!=]= /);
  if (right !== undefined) return String((left === right) === text.includes(" == "));
  if (text === "always()") return "true";
  if (/^'[^']*'$/.test(text)) return text.slice(1, -1);
  if (!/^(?:inputs|steps|runner|github)\.[\w.-]+$/.test(text)) throw new Error(`what is ${text}?`);
  return values[text] ?? "";
}

const isTrue = (value: string): boolean => value !== "" && value !== "false";

const filled = (text: string, values: Values): string =>
  text.replace(/\$\{\{(.*?)\}\}/g, (_, inner: string) => evaluate(inner.trim(), values));

/** What a step wrote for its outputs, read as a runner reads it. */
function outputsIn(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const [, name, end] = /^([\w-]+)<<(.+)$/.exec(line) ?? [];
    if (name !== undefined) {
      const to = lines.indexOf(end ?? "", at + 1);
      if (to < 0) throw new Error(`${name} does not end`);
      found[name] = lines.slice(at + 1, to).join("\n");
      at = to;
    } else if (line !== "") {
      const equals = line.indexOf("=");
      if (equals < 1) throw new Error(`"${line}" is no output`);
      found[line.slice(0, equals)] = line.slice(equals + 1);
    }
  }
  return found;
}

interface Acted {
  readonly code: number;
  readonly outputs: Values;
  readonly summary: string;
  readonly log: string;
  /** Where a cache would have taken it from. */
  readonly state: string;
}

async function act(
  repo: Repo,
  inputs: Values,
  around: Surroundings = {},
  earlier?: string,
): Promise<Acted> {
  const temp = makeFolder("runner");
  const state = path.join(temp, "autodev-state");
  if (earlier !== undefined && fs.existsSync(earlier))
    fs.cpSync(earlier, state, { recursive: true });
  const values: Record<string, string> = { "runner.temp": temp, "github.run_id": "1" };
  for (const [name, { default: usual = "" }] of Object.entries(action.inputs))
    values[`inputs.${name}`] = inputs[name] ?? filled(usual, values);
  let [code, summary, log] = [0, "", ""];
  for (const step of steps) {
    if (step.run === undefined) continue;
    const condition = step.if ?? "true";
    if (code !== 0 && !condition.includes("always()")) continue;
    if (step.if !== undefined && evaluate(step.if, values) !== "true") continue;
    const file = (name: string): string => {
      const made = path.join(temp, `${name}-${step.id ?? "last"}`);
      fs.writeFileSync(made, "");
      return made;
    };
    const [output, summaryFile, script] = [file("output"), file("summary"), file("script")];
    fs.writeFileSync(script, step.run);
    const env = Object.fromEntries(
      Object.entries(step.env ?? {}).map(([name, value]) => [name, filled(value, values)]),
    );
    const ran = await run("bash", ["--noprofile", "--norc", "-eo", "pipefail", script], {
      cwd: path.join(repo.root, filled(step["working-directory"] ?? ".", values)),
      env: {
        ...environmentOf(around),
        CI: "true",
        GITHUB_ACTIONS: "true",
        RUNNER_TEMP: temp,
        GITHUB_ACTION_PATH: path.dirname(path.dirname(path.dirname(actionAt()))),
        GITHUB_OUTPUT: output,
        GITHUB_STEP_SUMMARY: summaryFile,
        GITHUB_REPOSITORY: "o/r",
        ...env,
      },
      timeout: 60_000,
    });
    log += ran.all;
    code ||= ran.code ?? 255;
    for (const [name, value] of Object.entries(outputsIn(fs.readFileSync(output, "utf8"))))
      values[`steps.${step.id}.outputs.${name}`] = value;
    summary += fs.readFileSync(summaryFile, "utf8");
  }
  const outputs = Object.fromEntries(
    Object.entries(action.outputs).map(([name, { value }]) => [name, filled(value, values)]),
  );
  return { code, outputs, summary, log, state };
}

/** Where an action lies that was built before. */
let built: string | undefined;
function actionAt(): string {
  if (built !== undefined) return built;
  const folder = makeFolder("action");
  fs.mkdirSync(path.join(folder, "dist"), { recursive: true });
  fs.symlinkSync(path.dirname(binary()), path.join(folder, "dist/cli"));
  built = path.join(folder, "dist/cli/main.cjs");
  return built;
}

async function trusted(repo: Repo, more: Values = {}): Promise<Values> {
  return { plan, "trust-sha256": await trustHash(repo), ...more };
}

// ── what it is ─────────────────────────────────────────────────────────────────────────────────

describe("action.yml", () => {
  it("is a composite action, with what those may have", () => {
    expect(Object.keys(action).sort()).toEqual([
      "branding",
      "description",
      "inputs",
      "name",
      "outputs",
      "runs",
    ]);
    expect(Object.keys(action.runs).sort()).toEqual(["steps", "using"]);
    expect(action.runs.using).toBe("composite");
    for (const input of Object.values(action.inputs)) {
      expect(
        Object.keys(input).filter((key) => !["description", "required", "default"].includes(key)),
      ).toEqual([]);
      expect(input.description.length).toBeGreaterThan(5);
      if (input.default !== undefined) expect(typeof input.default).toBe("string");
    }
    for (const output of Object.values(action.outputs))
      expect(Object.keys(output)).toEqual(["description", "value"]);
    const allowed = [
      "id",
      "if",
      "name",
      "uses",
      "with",
      "run",
      "shell",
      "env",
      "working-directory",
      "continue-on-error",
    ];
    for (const step of steps) {
      expect(Object.keys(step).filter((key) => !allowed.includes(key))).toEqual([]);
      expect([step.run, step.uses].filter((each) => each !== undefined)).toHaveLength(1);
      if (step.run !== undefined) expect(step.shell).toBe("bash");
      if (step.uses !== undefined) expect(step.uses).toMatch(/^actions\/[\w/-]+@v\d+$/);
    }
  });

  it("has no value in the text of a script: values are never code", () => {
    for (const { run: script = "" } of steps) expect(script).not.toContain("${{");
  });

  it("names inputs, steps and outputs that there are", () => {
    const text = JSON.stringify(action);
    for (const [, name = ""] of text.matchAll(/inputs\.([\w-]+)/g))
      expect(action.inputs).toHaveProperty([name]);
    const ids = steps.flatMap(({ id }) => id ?? []);
    for (const [, id] of text.matchAll(/steps\.([\w-]+)\./g)) expect(ids).toContain(id);
    for (const name of Object.keys(action.inputs)) expect(text).toContain(`inputs.${name}`);
  });

  it("gives the token to one step, which starts no agent", () => {
    const holding = steps.filter((step) => JSON.stringify(step).includes("inputs.token"));
    expect(holding.map(({ id }) => id)).toEqual(["pr"]);
    expect(holding[0]?.if).toContain("steps.build.outputs.status == 'complete'");
  });
});

describe("the guide", () => {
  const { text: guide } = readDocument("docs/guides/use-in-ci.md");
  const recipes = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(
    ([, text = ""]) => parse(text) as Recipe,
  );

  interface Recipe {
    readonly name: string;
    readonly on: unknown;
    readonly permissions: unknown;
    readonly jobs: Readonly<
      Record<string, { readonly "runs-on": string; readonly steps: readonly Step[] }>
    >;
  }

  it("has whole files, which use what the action has", () => {
    expect(recipes.length).toBeGreaterThan(0);
    const used = recipes.flatMap(({ jobs }) => Object.values(jobs).flatMap((each) => each.steps));
    const ours = used.filter(({ uses }) => uses?.includes("/autodev@"));
    expect(ours.length).toBeGreaterThan(0);
    for (const step of ours) {
      for (const name of Object.keys(step.with ?? {})) expect(action.inputs).toHaveProperty([name]);
      for (const [name, { required }] of Object.entries(action.inputs))
        if (required) expect(step.with).toHaveProperty([name]);
    }
    const ids = ours.flatMap(({ id }) => id ?? []);
    for (const [, id, name = ""] of guide.matchAll(/steps\.([\w-]+)\.outputs\.([\w-]+)/g))
      if (ids.includes(id ?? "")) expect(action.outputs).toHaveProperty([name]);
    for (const { name, on, permissions, jobs } of recipes) {
      expect([name, on, permissions].every((each) => each !== undefined)).toBe(true);
      for (const each of Object.values(jobs)) expect(each["runs-on"]).toBe("ubuntu-latest");
    }
  });

  it("names every input and output of the action", () => {
    const names = [...Object.keys(action.inputs), ...Object.keys(action.outputs)];
    expect(names.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
  });
});

// ── what it does ───────────────────────────────────────────────────────────────────────────────

describe("a step", () => {
  it("that is complete says so, with its phases and commits", async () => {
    const repo = makeBuildRepo(twoPhases);
    const { code, outputs, summary, log } = await act(repo, await trusted(repo));
    expect(code, log).toBe(0);
    const commits = repo.git("log", "--reverse", "--format=%H", "HEAD~2..HEAD").trim().split("\n");
    expect(outputs).toMatchObject({
      status: "complete",
      "exit-code": "0",
      error: "",
      commits: commits.join(" "),
      decisions: "",
      "pr-url": "",
    });
    expect(outputs["run"]).toMatch(/^r[0-9a-f]{10}$/);
    expect(summary).toContain("## autodev: ✅ complete");
    expect(summary).toMatch(
      /\| <code>1<\/code> \| <code>Part 1<\/code> \| complete \| 1 \| [0-9a-f]{10} \| \d+ s \| .*✓ <code>test<\/code> \|/,
    );
    expect(log).not.toContain("::error");
  });

  it("that has halted fails with 4, and shows what failed", async () => {
    const repo = makeBuildRepo(twoPhases);
    const gate = 'echo "it is wrong"; exit 1';
    const { code, outputs, summary, log } = await act(repo, await trusted(repo), { gate });
    expect(code, log).toBe(4);
    expect(outputs).toMatchObject({ status: "halted", "exit-code": "4", commits: "" });
    expect(summary).toContain("❌ halted");
    expect(summary).toContain("it is wrong");
    expect(summary).toMatch(/<code>2<\/code>.*\| blocked \|/);
    expect(log).toMatch(/^::error title=Phase 1::/m);
  });

  it("with a plan that cannot be run names each line of it", async () => {
    const repo = makeBuildRepo(
      planOf([
        { id: "1", needs: ["7"] },
        { id: "2", needs: ["8"] },
      ]),
    );
    const { code, outputs, summary, log } = await act(repo, { plan });
    expect(code, log).toBe(1);
    expect(outputs).toMatchObject({ status: "failed", "exit-code": "1", error: "plan-invalid" });
    const named = [
      ...log.matchAll(/^::error file=docs\/feature-plan.md,line=(\d+),title=([\w-]+)::/gm),
    ];
    expect(named.length).toBeGreaterThan(1);
    expect(summary).toContain("❌ it did not run");
    expect(summary).toContain("autodev plan check docs/feature-plan.md");
  });

  it("with a wrong option fails with 2, and its outputs are set", async () => {
    const repo = makeBuildRepo();
    const { code, outputs } = await act(repo, { plan, args: "--no-such\n--option" });
    expect(code).toBe(2);
    expect(outputs).toMatchObject({ status: "failed", "exit-code": "2" });
  });

  it("that is not trusted ends with 3 and the hash to look at", async () => {
    const repo = makeBuildRepo();
    const hash = await trustHash(repo);
    const { code, outputs, summary, log } = await act(repo, { plan });
    expect(code, log).toBe(3);
    expect(outputs).toMatchObject({ status: "decision", "exit-code": "3", error: "untrusted" });
    expect(summary).toContain("✋ the commands are not trusted");
    expect(summary).toContain(`--trust-sha256 ${hash}`);
    expect(log).toContain("A person has to decide");
  });

  it("takes its values as values, whatever is in them", async () => {
    const repo = makeBuildRepo();
    const mailbox = makeFolder("mailbox");
    const evil = `x"; touch ${mailbox}/ran; $(touch ${mailbox}/ran) \`touch ${mailbox}/ran\` '`;
    for (const name of ["plan", "agent", "branch", "args", "answer", "trust-sha256", "commit"]) {
      const { code } = await act(repo, { plan, [name]: evil });
      expect(code, name).not.toBe(0);
    }
    expect(fs.readdirSync(mailbox)).toEqual([]);
  });

  it("cannot be told anything by lines of an agent, a gate or a plan", async () => {
    const name = "a ::set-output name=status::complete";
    const repo = makeBuildRepo(planOf([{ ...spelled("1"), name }]));
    const gate = `echo "::add-mask::x"; echo "##[error]y"; printf 'status=complete\\n' >> "\${GITHUB_OUTPUT:-/dev/null}"; echo "@team"; exit 1`;
    const { outputs, summary, log } = await act(repo, await trusted(repo), { gate });
    expect(outputs["status"]).toBe("halted");
    const [, word = ""] = /^::stop-commands::(\S+)$/m.exec(log) ?? [];
    const within = log.slice(log.indexOf(word), log.lastIndexOf(`::${word}::`));
    expect(within).toContain("::set-output name=status::complete");
    expect(within).toContain("##[error]y");
    // What the runner hears again is ours, and each of it a line.
    const after = log.slice(log.lastIndexOf(`::${word}::`) + word.length + 4);
    expect(after.split("\n").filter((line) => /^\s*::|##\[/.test(line))).toEqual([
      expect.stringMatching(/^::error title=Phase 1::/),
    ]);
    // In a fence nobody is called.
    expect(summary).toContain("@team");
    expect(summary.replace(/^```text\n[\s\S]*?^```$/gm, "")).not.toContain("@team");
  });
});

describe("a decision", () => {
  const asking = (): Repo => makeBuildRepo(twoPhases);
  const red = '[ "$AUTODEV_PHASE" ] || exit 1';

  it("ends the step with 3, and the next run in a fresh clone goes on with its answer", async () => {
    const origin = asking();
    const clone = (): Repo => {
      const folder = makeFolder("clone");
      gitIn(path.dirname(folder))("clone", "--quiet", origin.root, folder);
      return repoAt(folder);
    };
    const first = clone();
    const inputs = await trusted(first, { branch: "work" });
    // A baseline that is red is a question, and by then the run is on record.
    const around = { env: { TEST_GATE: red } };
    const asked = await act(first, inputs, around);
    expect(asked.code, asked.log).toBe(3);
    expect(asked.outputs).toMatchObject({ status: "decision", "exit-code": "3" });
    const id = asked.outputs["decisions"] ?? "";
    expect(id).toMatch(/^d-\w+$/);
    expect(asked.summary).toContain("DECISION REQUIRED");
    expect(asked.summary).toMatch(new RegExp(`autodev decide ${id} [A-D]`));
    expect(asked.log).toMatch(/^::error title=A decision is required::/m);

    const second = clone();
    const answered = await act(second, { ...inputs, answer: `${id} B` }, around, asked.state);
    expect(answered.code, answered.log).toBe(0);
    expect(answered.outputs).toMatchObject({
      status: "complete",
      run: asked.outputs["run"],
      decisions: "",
    });
    expect(second.git("log", "--format=%s", "work").split("\n")[0]).toBe("feat: part 2");
  });

  it("does not fail the step where one says so", async () => {
    const repo = asking();
    const inputs = await trusted(repo, { "fail-on-decision": "false" });
    const asked = await act(repo, inputs, { env: { TEST_GATE: red } });
    expect(asked.code, asked.log).toBe(0);
    expect(asked.outputs).toMatchObject({ status: "decision", "exit-code": "3" });
  });
});

describe("what a run remembers", () => {
  it("goes with it into a fresh clone: what has landed is not built again", async () => {
    const origin = makeBuildRepo(twoPhases);
    const clone = (): Repo => {
      const folder = makeFolder("clone");
      gitIn(path.dirname(folder))("clone", "--quiet", origin.root, folder);
      return repoAt(folder);
    };
    const first = clone();
    const inputs = await trusted(first, { branch: "work" });
    const halted = await act(first, inputs, { gate: '[ "$AUTODEV_PHASE" = 1 ]' });
    expect(halted.outputs, halted.log).toMatchObject({ status: "halted" });
    const landed = halted.outputs["commits"] ?? "";
    expect(landed).toMatch(/^[0-9a-f]{40}$/);

    const second = clone();
    const done = await act(second, inputs, {}, halted.state);
    expect(done.code, done.log).toBe(0);
    expect(done.outputs).toMatchObject({ status: "complete", run: halted.outputs["run"] });
    expect(done.outputs["commits"]?.split(" ")[0]).toBe(landed);
    expect(second.git("rev-parse", "work^").trim()).toBe(landed);
    second.git("fsck", "--strict", "--no-dangling");
  });
});

describe("a pull request", () => {
  let server: GitHubServer;
  beforeEach(async () => {
    server = await startGitHub();
  });
  afterEach(() => server.close());

  it("is opened once the run is complete, and its address is an output", async () => {
    const origin = makeBuildRepo(twoPhases);
    const folder = makeFolder("clone");
    gitIn(path.dirname(folder))("clone", "--quiet", origin.root, folder);
    const repo = repoAt(folder);
    const inputs = await trusted(repo, { pr: "true", token: "ghs_atokenofsomebodyssomebodys" });
    const env = { GITHUB_API_URL: server.api };
    const { code, outputs, summary, log } = await act(repo, inputs, { env });
    expect(code, log).toBe(0);
    expect(outputs).toMatchObject({
      status: "complete",
      "pr-url": "https://github.example/o/r/pull/1",
    });
    expect(summary.match(/^## /gm)).toHaveLength(1);
    expect(summary).toContain("Pull request:");
    expect(server.pulls[0]?.head.ref).toBe("autodev/feature-plan");
    expect(log).not.toContain("ghs_");
  });
});
