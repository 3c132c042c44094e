/**
 * The same with real processes: the shipped program, real git, real gates and agents that are
 * programs. One text stands everywhere at once: in the plan, the README, the commits before the run,
 * everything that agents and gates print, the result's own words, the names of tests.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { ending, freshFolder, run } from "../rig.ts";
import { git, planFile, type Site, siteAt } from "../run-rig.ts";
import { oneLine } from "./run.ts";

export interface Stage {
  readonly binary: string;
  readonly scratch: string;
  /** By agent: the hash of what is run, which no text is a part of. */
  readonly trust: Map<string, string>;
}

export const agents = ["puppet", "claude"] as const;
export type ProgramAgent = (typeof agents)[number];

export interface Performance {
  readonly log: readonly string[];
  /** Everything that the program printed, and the transcripts that it kept. */
  readonly seen: string;
}

export async function perform(
  stage: Stage,
  agent: ProgramAgent,
  text: string,
): Promise<Performance> {
  const folder = freshFolder(stage.scratch, "stage");
  try {
    const site = siteAt(folder);
    setUp(site, text);
    const trust = stage.trust.get(agent) ?? (await askedFor(stage, site, agent));
    stage.trust.set(agent, trust);
    const ran = await build(stage, site, agent, trust);
    const log = [`exit ${ran.code}`, ...phaseByPhase(decidedIn(ran.stdout)), ...landedIn(site)];
    return { log, seen: ran.stdout + ran.stderr + transcriptsIn(site) };
  } finally {
    if (process.env["TORTURE_KEEP"] === undefined) {
      fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

const build = (
  { binary }: Stage,
  site: Site,
  agent: ProgramAgent,
  trust: string,
): ReturnType<typeof run> =>
  run(
    [
      process.execPath,
      binary,
      "build",
      planFile,
      "--commit=auto",
      `--agent=${agent}`,
      "--jobs=1",
      "--json",
      `--trust-sha256=${trust}`,
    ],
    {
      cwd: site.repo,
      env: {
        ...site.env,
        INJECTED: path.join(site.folder, "words"),
        PATH: `${path.join(site.folder, "bin")}:${site.env["PATH"]}`,
      },
      timeoutMs: 120_000,
    },
  );

async function askedFor(stage: Stage, site: Site, agent: ProgramAgent): Promise<string> {
  const asked = await build(stage, site, agent, "0".repeat(64));
  const trust = /\b(?!0{64})[0-9a-f]{64}\b/.exec(asked.stdout + asked.stderr)?.[0];
  if (trust === undefined) throw new Error(`no hash was asked for: ${ending(asked)}`);
  return trust;
}

// ── the stage ──────────────────────────────────────────────────────────────────────────────────

const phases = ["1", "2", "3"];

function setUp(site: Site, text: string): void {
  const write = (file: string, content: string, mode = 0o644): void => {
    const full = path.join(site.folder, file);
    fs.mkdirSync(path.dirname(full), { recursive: true });
    fs.writeFileSync(full, content, { mode });
  };
  for (const name of ["home", "config", "cache"]) fs.mkdirSync(path.join(site.folder, name));
  write("words/text", `${text}\n`);
  write("words/name", oneLine(text));
  write("words/agent.cjs", agentProgram);
  write("bin/claude", `#!/bin/sh\nexec "${process.execPath}" "$INJECTED/agent.cjs" "$@"\n`, 0o755);
  write("repo/README.md", `# Shop\n\n${text}\n`);
  write("repo/src/p0.js", `/* ${text.replaceAll("*/", "* /")} */\nexport const part0 = 0;\n`);
  write(`repo/${planFile}`, planText(text));
  write("repo/package.json", '{ "name": "shop", "type": "module" }\n');
  write(
    "repo/.autodev/config.yaml",
    [
      "gates:",
      "  test: node --test --test-reporter=tap",
      `  lint: cat "$INJECTED/text"`,
      "agents:",
      `  puppet: { command: '"${process.execPath}" "$INJECTED/agent.cjs"' }`,
      "",
    ].join("\n"),
  );
  write("repo/test/p0.test.js", testText("0"));
  git(site, "init", "--quiet", "--initial-branch=main", "--template=");
  git(site, "add", "--all");
  write("message", `feat: the shop\n\n${text.replaceAll("\0", "")}\n\nIt is open.\n`);
  git(site, "commit", "--quiet", "--cleanup=verbatim", `--file=${site.folder}/message`);
}

/** Its name is in the environment: code that we write holds no words of others. */
const testText = (id: string): string =>
  [
    'import assert from "node:assert";',
    'import { readFileSync } from "node:fs";',
    'import { test } from "node:test";',
    `import { part${id} } from "../src/p${id}.js";`,
    "",
    `const words = readFileSync(\`\${process.env.INJECTED}/name\`, "utf8");`,
    `test(\`part ${id} \${words}\`, () => assert.equal(part${id}, ${id}));`,
    "",
  ].join("\n");

const planText = (text: string): string => {
  const words = oneLine(text);
  return [
    `# Shop, ${words}, and more`,
    "",
    "| Phase | Name | Depends On | Parallel With | Estimate | Status |",
    "|---|---|---|---|---|---|",
    ...phases.map((id) => `| ${id} | Part ${id} | ${id === "2" ? "1" : "-"} | - | 2 | ⬜ |`),
    "",
    ...phases.flatMap((id) => [
      `### Phase ${id}: Part ${id}`,
      "",
      `It is said of it: ${words} That is all.`,
      "",
      "#### Tasks",
      "",
      `- [ ] Write the part, ${words}, and no more`,
      "",
      `##### File: \`src/p${id}.js\` (CREATE)`,
      "",
      "``````js",
      text,
      "``````",
      "",
      `##### File: \`test/p${id}.test.js\` (CREATE)`,
      "",
      "Its test.",
      "",
      "#### Definition of Done",
      "",
      `- [ ] It works, ${words}, and is tested`,
      "",
    ]),
  ].join("\n");
};

/**
 * One program for both: as a command it writes its result to a file, as Claude it tells it last.
 * The second phase is wrong at first; the third says that it failed, until it gives up.
 */
const agentProgram = `"use strict";
const fs = require("node:fs");
const path = require("node:path");
const [phase, attempt] = [process.env.AUTODEV_PHASE, Number(process.env.AUTODEV_ATTEMPT)];
if (process.argv.includes("--version")) { console.log("2.1.0 (Claude Code)"); process.exit(0); }
const text = fs.readFileSync(path.join(process.env.INJECTED, "text"), "utf8");
const isFailed = phase === "3";
const isWrong = phase === "2" && attempt === 1;
if (!isFailed) {
  const comment = text.split(/[\\r\\n\\u2028\\u2029]/).map((line) => "// " + line).join("\\n");
  fs.mkdirSync("src", { recursive: true });
  fs.writeFileSync("src/p" + phase + ".js", comment + "\\nexport const part" + phase + " = " + (isWrong ? -1 : phase) + ";\\n");
  const test = fs.readFileSync("test/p0.test.js", "utf8").replaceAll("part0", "part" + phase).replaceAll("p0", "p" + phase).replaceAll("part 0", "part " + phase).replace(", 0)", ", " + phase + ")");
  fs.writeFileSync("test/p" + phase + ".test.js", test);
}
const result = {
  phase_id: phase,
  status: isFailed ? "failed" : "complete",
  tasks: { total: 1, completed: isFailed ? 0 : 1 },
  commit_message: "feat: part " + phase + "\\n\\n" + text,
  error: isFailed ? { type: "task_incomplete", message: text, details: text } : null,
};
process.stderr.write(text);
if (process.env.AUTODEV_RESULT) {
  process.stdout.write(text);
  fs.writeFileSync(process.env.AUTODEV_RESULT, JSON.stringify(result));
  process.stdout.write(text);
} else {
  const say = (event) => process.stdout.write(JSON.stringify(event) + "\\n");
  process.stdin.once("data", () => {
    say({ type: "system", subtype: "init", session_id: "s-1", model: "m" });
    say({ type: "assistant", message: { id: "m1", content: [{ type: "thinking", thinking: text }, { type: "text", text }, { type: "tool_use", id: "t1", name: "Bash", input: { command: text } }] } });
    say({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t1", content: text }] } });
    say({ type: "result", subtype: "success", is_error: false, result: text, structured_output: result });
    process.exit(0);
  });
}
`;

// ── what was decided ───────────────────────────────────────────────────────────────────────────

interface Line {
  readonly type?: string;
  readonly phase?: string;
  readonly attempt?: number;
  readonly agent?: string;
  readonly how?: string;
  readonly kind?: string;
  readonly session?: string;
  readonly created?: readonly string[];
  readonly modified?: readonly string[];
  readonly deleted?: readonly string[];
  readonly error?: { readonly type?: string } | null;
  readonly claim?: object & { readonly message?: string };
  readonly findings?: readonly { readonly code?: string }[];
  readonly gates?: readonly {
    readonly name?: string;
    readonly passed?: boolean | null;
    readonly tests?: object;
  }[];
}

/** Of each event what is decided by it; hashes and times differ from run to run. */
/** What is done for one phase while another is at work comes before or after it: that is nobody's decision. */
function phaseByPhase(decided: readonly string[]): string[] {
  const phaseOf = (line: string): string => (JSON.parse(line) as Line).phase ?? "";
  const names = [...new Set(decided.map(phaseOf))].sort();
  return names.flatMap((name) => decided.filter((line) => phaseOf(line) === name));
}

const decidedIn = (out: string): string[] =>
  out.split("\n").flatMap((text) => {
    if (!text.startsWith("{")) return [];
    const line = JSON.parse(text) as Line;
    if (line.type === undefined || line.type === "summary" || !isEvent.test(line.type)) return [];
    const { type, phase, attempt, agent, how, kind, session, created, modified, deleted } = line;
    return [
      JSON.stringify({
        type,
        phase,
        attempt,
        agent,
        how,
        kind,
        session,
        created,
        modified,
        deleted,
        error: line.error?.type,
        claim: line.claim && { ...line.claim, message: "…" },
        findings: line.findings?.map(({ code }) => code),
        gates: line.gates?.map(({ name, passed, tests }) => [name, passed, tests]),
      }),
    ];
  });

const isEvent = /^(?:attempt|phase|run|session|baseline|target|decision|review)-/;

/** Which phases are on the branch, by the trailers of its commits. */
const landedIn = (site: Site): string[] =>
  git(site, "log", "--reverse", "--format=%(trailers:key=Autobuild-Phase,valueonly,separator=%x20)")
    .split("\n")
    .map((phase) => `commit ${phase}`);

function transcriptsIn(site: Site): string {
  const folder = path.join(site.repo, ".git", "autodev", "transcripts");
  if (!fs.existsSync(folder)) return "";
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => fs.readFileSync(path.join(entry.parentPath, entry.name), "utf8"))
    .join("\n");
}
