/**
 * An agent for flows without a model: it does what a skill promises, from the skill's own front
 * matter, and reports its sub-steps on the way; a task of a plan it does as its files say.
 * $FLOW_AGENT_DO, JSON by step (a task: by "task NN"), makes it behave otherwise: `fail` so many
 * times, `ask` a question once, find things `corrupt` once, `lie`, `hang`, `stray`, `skipFile`, give
 * a `verdict` once; what it `leaves` besides is written in Latin-1.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "yaml";

const brief = readFileSync(0, "utf8");
const step = process.env.AUTODEV_PHASE;
const [, skill] = /by the skill `([\w-]+)`/.exec(brief) ?? [];
const [, mode] = /in its mode `([\w-]+)`/.exec(brief) ?? [];
const [, from = "0"] = /^Begin at sub-step (\d+)/m.exec(brief) ?? [];
const memory = process.env.FLOW_AGENT_MEMORY;
const nap = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** How often this was done in this step, over all sessions: the agent's own memory, for its misdeeds. */
function count(what) {
  const at = join(memory, `${step}-${what}`);
  const before = existsSync(at) ? Number(readFileSync(at, "utf8")) : 0;
  writeFileSync(at, String(before + 1));
  return before;
}
const finish = (result) => {
  writeFileSync(
    process.env.AUTODEV_RESULT,
    JSON.stringify({ phase_id: step, tasks: { total: 1, completed: 1 }, ...result }),
  );
  process.exit(0);
};
if (skill === undefined) doTask();

/** A task names its files: code and a test that fails without it. */
function doTask() {
  const acts = JSON.parse(process.env.FLOW_AGENT_DO ?? "{}")[`task ${step}`] ?? {};
  if (acts.slow) nap(acts.slow);
  if (acts.fail !== undefined && count("task") < acts.fail)
    finish({ status: "failed", error: { type: "test_failure", message: "it cannot be done" } });
  const files = [...brief.matchAll(/`((?:src|test)\/[\w./-]+)` \(CREATE\)/g)].map(
    ([, name]) => name,
  );
  for (const name of new Set(files)) {
    const what = name.replace(/^.*\/|(?:\.test)?\.js$/g, "");
    mkdirSync(dirname(name), { recursive: true });
    writeFileSync(
      name,
      name.endsWith(".test.js")
        ? `import assert from "node:assert";\nimport test from "node:test";\nimport { ${what} } from "../src/${what}.js";\n\ntest("${what}", () => assert.equal(${what}(), "${what}"));\n`
        : `export const ${what} = () => "${what}";\n`,
    );
  }
  finish({
    status: "complete",
    tasks: { total: 2, completed: 2 },
    files: { created: [...new Set(files)], modified: [], deleted: [] },
    commit_message: `feat: task ${step}`,
  });
}

const file = join(process.env.FLOW_AGENT_SKILLS, skill, "SKILL.md");
const head = parse(/^---\n([\s\S]*?)\n---/.exec(readFileSync(file, "utf8"))[1]);
const way = { ...head, ...head.modes?.[mode] };
const cycle = /^cycle: (\d+)$/m.exec(brief)?.[1] ?? "1";
const acts = JSON.parse(process.env.FLOW_AGENT_DO ?? "{}")[step] ?? {};
const answered = /The answer is ([A-D])\)/.exec(brief)?.[1];

const today = new Date().toISOString().slice(0, 10);
const pathAs = (path) =>
  path
    .replaceAll("{cycle}", cycle)
    .replaceAll("{date}", today)
    .replace(/\{(\w+),[^}]*\}/g, "$1");
const isTask = (path) => path.startsWith("02_tasks/todo/");
/** What a review is to be called, it is told. */
const [, told] = /Write _docs\/(\S+?)\. /.exec(brief) ?? [];

function pathFor(path) {
  if (told !== undefined && globOf(pathAs(path)).test(told)) return told;
  const there = isTask(path) ? namesLike(path)[0] : undefined;
  if (there !== undefined) return join(dirname(path), there);
  return pathAs(path).replace(/\*/g, isTask(path) ? `${nextNumber()}_first` : "first");
}

const allTasks = () => [...namesLike("02_tasks/todo/*.md"), ...namesLike("02_tasks/done/*.md")];

/** Also behind a tracker's letters. */
const numberIn = (name) => Number(/\d+/.exec(name)?.[0] ?? 0);

function nextNumber() {
  const last = Math.max(0, ...allTasks().map(numberIn));
  return String(last + 1).padStart(2, "0");
}

/** Named after its number, so that no two are about the same files. */
function taskText(name, waitsFor) {
  const id = name.replace(/\.md$/, "");
  const what = `part${numberIn(id)}`;
  const component = mode === "tests-only" ? "Blackbox Tests" : "01_core";
  return [
    `# ${id}`,
    "",
    `**Task**: ${id}`,
    `**Name**: ${what} says its name`,
    "**Description**: It says its name.",
    "**Complexity**: 3",
    `**Dependencies**: ${waitsFor ?? "None"}`,
    `**Component**: ${component}`,
    "**Tracker**: pending",
    "**Epic**: E1",
    "",
    "## Tasks",
    `- [ ] \`${what}()\` returns its name`,
    "",
    "## Files",
    `- \`src/${what}.js\` (CREATE)`,
    `- \`test/${what}.test.js\` (CREATE)`,
    "",
    "## Acceptance criteria",
    `- [ ] its test passes`,
    "",
  ].join("\n");
}

/** One that others wait for, and two that can be done side by side. */
function writeTasks() {
  const [first] = namesLike("02_tasks/todo/*.md");
  // Whoever puts tasks right makes new ones only where there are none.
  if (first === undefined || (skill === "implement" && !first.endsWith("_first.md"))) return;
  const number = numberIn(first);
  for (const [at, name] of ["second", "third"].entries()) {
    const id = String(number + 1 + at).padStart(2, "0");
    const path = `_docs/02_tasks/todo/${id}_${name}.md`;
    if (!existsSync(path)) writeFileSync(path, taskText(`${id}_${name}.md`, first.slice(0, -3)));
  }
}

/** A component for each part that the brief names. */
function repoConfig() {
  const parts = [...brief.matchAll(/^- .* · (?:submodule|workspace) (\S+)/gm)].map(([, at]) => at);
  const rows = parts.flatMap((at) => [`  - name: ${at.split("/").at(-1)}`, `    path: ${at}`]);
  return ["version: 1", "confirmed_by_user: false", "components:", ...rows, ""].join("\n");
}

/** A row for each task, as its header has it. */
function dependenciesTable() {
  const headOf = (name) => {
    const folder = existsSync(join("_docs/02_tasks/todo", name)) ? "todo" : "done";
    const text = readFileSync(join("_docs/02_tasks", folder, name), "utf8");
    const field = (what) => new RegExp(`^\\*\\*${what}\\*\\*: (.*)$`, "m").exec(text)?.[1] ?? "";
    return [name.slice(0, -3), field("Name"), field("Complexity"), field("Dependencies"), "E1"];
  };
  return [
    "# Dependencies",
    "",
    "| Task | Name | Complexity | Dependencies | Epic |",
    "|---|---|---|---|---|",
    ...allTasks()
      .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
      .map((name) => `| ${headOf(name).join(" | ")} |`),
    "",
  ].join("\n");
}

/** Of a table's cells, those that somebody reads. */
const usual = { Epic: "E1", Tracker: "pending" };

function contentFor({ sections = [], columns = [], fields = [], says, mentions, column }) {
  const lines = [`# ${skill} ${mode ?? ""} of step ${step}`, "", "What it is about.", ""];
  for (const field of fields)
    lines.push(
      `**${field}**: ${field === "Complexity" ? 3 : field === "Dependencies" ? "None" : `a ${field}`}`,
    );
  for (const section of sections)
    lines.push("", `## ${section}`, "", "What is to be said about it.");
  if (columns.length > 0) {
    lines.push(
      "",
      `| ${columns.join(" | ")} |`,
      `|${columns.map(() => "---").join("|")}|`,
      ...(mentions === undefined ? ["x"] : namesLike(mentions)).map(
        (each) =>
          `| ${columns.map((name) => (name === column ? each : (usual[name] ?? "x"))).join(" | ")} |`,
      ),
    );
  }
  if (says !== undefined) lines.push("", ...sayings(says));
  return `${lines.join("\n")}\n`;
}

function namesLike(path) {
  const folder = join("_docs", dirname(path));
  const pattern = globOf(path.split("/").at(-1));
  return existsSync(folder) ? readdirSync(folder).filter((name) => pattern.test(name)) : [];
}

function globOf(path) {
  return new RegExp(`^${path.replace(/[.]/g, "\\.").replaceAll("*", "[^/]*")}$`);
}

/** One file may be promised by several patterns: it has to keep what all of them say. */
function promisedOf(name) {
  const all = way.produces.filter(({ path }) => path === name || globOf(pathAs(path)).test(name));
  const list = (what) => [...new Set(all.flatMap((each) => each[what] ?? []))];
  const [sections, columns, fields] = ["sections", "columns", "fields"].map(list);
  return {
    sections,
    columns,
    fields,
    says: all.find(({ says }) => says !== undefined)?.says,
    mentions: all.find(({ mentions }) => mentions !== undefined)?.mentions,
    column: all.find((each) => each.in !== undefined)?.in,
  };
}

/** A skill that keeps its own place has come to its end. */
function ownPlace() {
  const phases = way.phases ?? [];
  return `${JSON.stringify({ phase: phases.length, name: phases.at(-1)?.name })}\n`;
}

/** A line for each expression that the skills have. */
function sayings(says) {
  const verdict = acts.verdict !== undefined && count("verdict") === 0 ? acts.verdict : "PASS";
  const known = [
    `**Verdict**: ${verdict}`,
    "**Testability**: testable as it is",
    "**Complexity**: 3",
    "- A point",
    "confirmed_by_user: false",
    "<main>A page</main>",
  ];
  const line = known.find((each) => new RegExp(says, "im").test(each));
  if (line === undefined) throw new Error(`no line for ${says}`);
  return [line];
}

if (acts.hang) nap(600_000);
if (acts.fail !== undefined && count("fail") < acts.fail) {
  finish({
    status: "failed",
    error: { type: "blocked", message: acts.reason ?? "it did not work" },
  });
}
const phases = way.phases ?? [{ name: "work" }];
const reports = spawnSync.bind(undefined, process.env.AUTODEV_SUB_STEP);
for (const [at, phase] of phases.entries()) {
  if (at + 1 < Number(from)) continue;
  reports([String(at + 1), phase.name, ""]);
  if (acts.slow) nap(acts.slow);
  if (acts.corrupt === phase.name && count("corrupt") === 0) {
    const message = "what was there is broken";
    finish({ status: "failed", error: { type: "corruption", message } });
  }
  const ask = acts.ask !== undefined && acts.ask === phase.name && answered === undefined;
  if (ask) {
    finish({
      status: "failed",
      asks: {
        question: `${skill} asks about ${phase.name}`,
        options: ["This", "That"],
        recommendation: "B",
        reason: "it is better",
      },
    });
  }
}
const produced = (way.produces ?? [])
  .filter(({ path }) => path !== acts.without)
  // What names others comes after them.
  .sort((a, b) => Number(a.mentions !== undefined) - Number(b.mentions !== undefined));
for (const artifact of produced) {
  if (artifact.path === "02_tasks/_dependencies_table.md") writeTasks();
  for (let n = 0; n < (artifact.least ?? 1); n++) {
    const name =
      n === 0 ? pathFor(artifact.path) : pathFor(artifact.path).replace("first", `more${n}`);
    const path = join("_docs", name);
    // What names others has to name those of today.
    const isAsItShouldBe =
      existsSync(path) && (!acts.anew || isTask(name)) && artifact.mentions === undefined;
    if (artifact.optional || isAsItShouldBe) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      path,
      path.endsWith(".json")
        ? ownPlace()
        : isTask(name)
          ? taskText(name.split("/").at(-1))
          : name === "02_tasks/_dependencies_table.md"
            ? dependenciesTable()
            : name === "_repo-config.yaml"
              ? repoConfig()
              : contentFor(promisedOf(name)),
    );
  }
}
if (acts.stray) writeFileSync("stray.txt", "outside\n");
for (const [name, text] of Object.entries(acts.leaves ?? {})) {
  mkdirSync(dirname(join("_docs", name)), { recursive: true });
  writeFileSync(join("_docs", name), text, "latin1");
}
finish({
  status: "complete",
  commit_message: `docs: what ${skill} makes${answered ? ` (${answered})` : ""}`,
  ...(acts.reports ? { reports: acts.reports } : {}),
});
