/**
 * The user's own agent is the worker: real Claude Code, real Codex and real Gemini load our server by
 * what `autodev init` has written, fetch the phases of a plan and the steps of a flow, do them with
 * tools of their own, and report. What holds is committed by us, and by nobody else.
 */
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AgentName, agents, isInstalled, programOf } from "./agents.ts";
import { binary, eventsOf, makeProject, type Project } from "./project.ts";
import type { Entry } from "./protocols/protocol.ts";
import { runProgram } from "./run-program.ts";
import type { Script, Step } from "./script.ts";
import { type ScriptedModel, startScriptedModel } from "./scripted-model.ts";

const here = join(process.cwd(), "e2e");
const puppet = join(process.cwd(), "test/flow/agent.mjs");
const skills = join(process.cwd(), "skills");
const plan = "docs/parts-plan.md";

interface Host {
  readonly name: Extract<AgentName, "claude" | "codex" | "gemini">;
  call(prompt: string, tree: string): readonly string[];
}

const hosts: readonly Host[] = [
  {
    name: "claude",
    call: (prompt) => [...agents.claude.headless(prompt), "--allowedTools", "mcp__autodev"],
  },
  {
    name: "codex",
    call: (prompt, tree) => [
      "-c",
      `projects.${JSON.stringify(tree)}.trust_level="trusted"`,
      ...agents.codex.headless(prompt),
    ],
  },
  { name: "gemini", call: (prompt) => agents.gemini.headless(prompt) },
];

// ── the plan ───────────────────────────────────────────────────────────────────────────────────

const section = (id: string, part: string): string => `### Phase ${id}: ${part}

#### Tasks

- [ ] \`${part}()\` returns its name

##### File: \`src/${part}.js\` (CREATE)
##### File: \`test/${part}.test.js\` (CREATE)

#### Definition of Done

- [ ] its test passes
`;

const files = {
  [plan]: `# Parts

| Phase | Name | Depends On | Parallel With | Estimate | Status |
|---|---|---|---|---|---|
| 1 | part1 | - | - | 1 | ⬜ |
| 2A | part2 | 1 | 2B | 1 | ⬜ |
| 2B | part3 | 1 | 2A | 1 | ⬜ |

${section("1", "part1")}
${section("2A", "part2")}
${section("2B", "part3")}`,
  "package.json": `${JSON.stringify({ name: "parts", private: true, type: "module", scripts: { test: "node --test" } })}\n`,
  "src/zero.js": "export const zero = 0;\n",
  "test/zero.test.js":
    'import assert from "node:assert";\nimport test from "node:test";\nimport { zero } from "../src/zero.js";\n\ntest("zero", () => assert.equal(zero, 0));\n',
  ".autodev/config.yaml": `${JSON.stringify({ agents: { mine: { command: `node '${puppet}'` } } })}\n`,
};

// ── the model ──────────────────────────────────────────────────────────────────────────────────

/** What a model of few words does: fetch, work, report, until there is nothing more or enough. */
function nextStep(entries: readonly Entry[], wanted: object, most: number): Step {
  type At = "next" | "work" | "report" | "decide" | "end";
  const now: { at: At; lease: string; text: string; reports: number } = {
    at: "next",
    lease: "",
    text: "",
    reports: 0,
  };
  for (const entry of entries) {
    if (entry.is !== "tool-result") continue;
    const text = plain(entry.text);
    switch (now.at) {
      case "next":
        now.lease = /lease: ([\w/-]+)/.exec(text)?.[1] ?? "";
        now.at = now.lease !== "" ? "work" : /autodev decide d-/.test(text) ? "decide" : "end";
        now.text = text;
        break;
      case "work":
        now.at = "report";
        now.text = text;
        break;
      case "report":
        now.reports++;
        now.at = now.reports >= most ? "end" : "next";
        break;
      case "decide":
        now.at = "next";
        break;
      case "end":
        break;
    }
  }
  const mcp = (tool: string, args: object): Step => ({ mcp: { server: "autodev", tool, args } });
  switch (now.at) {
    case "next":
      return mcp("next", wanted);
    case "work":
      return { bash: workCommand(now.text) };
    case "report": {
      const { phase_id: _, ...claim } = JSON.parse(
        /\{"phase_id".*\}/.exec(now.text)?.[0] ?? '{"status":"failed"}',
      ) as Record<string, unknown>;
      return mcp("report", { lease: now.lease, ...claim });
    }
    case "decide": {
      const [, id, answer] = /autodev decide (d-[0-9a-f]+) ([A-D])/.exec(now.text) ?? [];
      return mcp("decide", { id, answer });
    }
    case "end":
      return { say: "There is nothing more to do." };
  }
}

/** Some hosts hand on the text, some the JSON that it came in. */
const plain = (text: string): string =>
  text.includes("\n") ? text : text.replaceAll("\\n", "\n").replaceAll('\\"', '"');

function workCommand(given: string): string {
  const [, folder = ""] = /^folder: (.+)$/m.exec(given) ?? [];
  const [, brief = ""] = /^brief: (\S+)/m.exec(given) ?? [];
  const [, id = ""] = /^# (?:Step|Phase) ([\w.-]+):/m.exec(given) ?? [];
  const env = {
    AUTODEV_PHASE: id.toLowerCase(),
    AUTODEV_RESULT: "$TMPDIR/result.json",
    AUTODEV_SUB_STEP: "/bin/true",
    AUTODEV_STATE_COPY: "$TMPDIR/copy",
    FLOW_AGENT_SKILLS: skills,
    FLOW_AGENT_MEMORY: "$TMPDIR",
  };
  const set = Object.entries(env).map(([name, value]) => `${name}="${value}"`);
  return `cd '${folder}' && ${set.join(" ")} node '${puppet}' < '${brief}'; cat "$TMPDIR/result.json"`;
}

const modelFor = (wanted: object, most: number): Promise<ScriptedModel> =>
  startScriptedModel(({ conversation }): Script => {
    const done = conversation.entries.filter(({ is }) => is === "tool-result").length;
    const before = Array.from({ length: done }, (): Step => ({ bash: "true" }));
    return [...before, nextStep(conversation.entries, wanted, most)];
  });

// ── the stage ──────────────────────────────────────────────────────────────────────────────────

async function onStage(
  host: Host,
  { wanted, most, tree }: { wanted: object; most: number; tree: Readonly<Record<string, string>> },
  act: (project: Project, play: () => Promise<string>) => Promise<void>,
): Promise<void> {
  const model = await modelFor(wanted, most);
  const project = makeProject({ [host.name]: model.url }, tree);
  try {
    symlinkSync(binary, join(project.place.home, "bin", "autodev"));
    const ready = await project.autodev("init", "--yes", "--hosts", host.name);
    expect(ready.code, ready.out + ready.err).toBe(0);
    project.git("add", "--all");
    project.git("commit", "--quiet", "--message=hosts");
    await act(project, async () => {
      const ran = await runProgram({
        program: programOf(host.name, here),
        args: host.call("Go on with autodev.", project.place.tree),
        cwd: project.place.tree,
        env: project.env,
        timeoutMs: 150_000,
        begin: (reins) => reins.endInput(),
      });
      const text = ran.lines.map((line) => line.text).join("\n");
      writeFileSync(join(project.place.home, "said"), text);
      expect(ran.exit, text.slice(-4000)).toBe(0);
      return text;
    });
  } finally {
    await model.close();
    project.remove();
  }
}

async function approve(project: Project): Promise<void> {
  const ask = ["trust", plan, "--agent", "mine"];
  const { out, err } = await project.autodev(...ask);
  const [, hash = ""] = /--sha256 ([0-9a-f]{64})/.exec(out + err) ?? [];
  expect((await project.autodev(...ask, "--sha256", hash)).code).toBe(0);
}

const treeOf = (project: Project): string =>
  project.git("ls-tree", "-r", "HEAD", "src", "test", "docs");

const subjects = (project: Project): string[] =>
  project.git("log", "--reverse", "--format=%s").trim().split("\n").slice(2);

interface Recorded {
  readonly type: string;
  readonly lease?: { readonly by: string };
  readonly agent?: string;
}

/** By whom phases and steps were fetched. */
const fetchedBy = async (project: Project): Promise<string[]> =>
  (await eventsOf<Recorded>(project)).flatMap(({ lease }) => (lease ? [lease.by] : []));

describe.concurrent.each(hosts)("$name", (host) => {
  const isThere = isInstalled(host.name, here);
  const wanted = { plan, commit: "auto" };

  it.skipIf(!isThere)(
    "takes a plan of three phases from its start to its verified end",
    async () => {
      await onStage(host, { wanted, most: 9, tree: files }, async (project, play) => {
        await approve(project);
        const said = await play();
        expect(subjects(project), said.slice(-3000)).toHaveLength(3);
        expect(subjects(project).sort()).toEqual([
          "feat: task 1",
          "feat: task 2a",
          "feat: task 2b",
        ]);
        expect((await fetchedBy(project)).every((by) => by !== "an agent")).toBe(true);
        const again = await project.autodev("build", plan, "--json");
        expect(again.code, again.out).toBe(0);
        expect((await project.autodev("audit", "HEAD~2..HEAD", "--no-gates")).code).toBe(0);
      });
    },
  );

  it.skipIf(!isThere)("half by the terminal, half by the agent: the same end", async () => {
    const ends: string[] = [];
    for (const most of [9, 1]) {
      await onStage(host, { wanted, most, tree: files }, async (project, play) => {
        await approve(project);
        await play();
        if (most === 1) {
          expect(subjects(project)).toEqual(["feat: task 1"]);
          const ran = await project.autodev("build", plan, "--agent", "mine", "--no-input");
          expect(ran.code, ran.out + ran.err).toBe(0);
        }
        ends.push(treeOf(project));
        expect(subjects(project)).toHaveLength(3);
      });
    }
    expect(ends[0]).toBe(ends[1]);
  });

  it.skipIf(!isThere)(
    "takes two steps of a flow from their start to their verified end",
    async () => {
      const tree = { ".autodev/config.yaml": files[".autodev/config.yaml"] };
      await onStage(host, { wanted: {}, most: 2, tree }, async (project, play) => {
        const said = await play();
        expect(subjects(project), said.slice(-3000)).toEqual([
          "docs: step 1 Problem complete",
          "docs: step 2 Research complete",
        ]);
        const { out } = await project.autodev("status", "--json");
        const { steps } = JSON.parse(out) as { steps: { status: string }[] };
        expect(steps.slice(0, 2).map(({ status }) => status)).toEqual(["completed", "completed"]);
      });
    },
  );
});
