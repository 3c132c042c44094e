/** Whole runs by real Claude Code and real Codex, through the built binary, killed on the way. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Example, exampleFor, examplePlan } from "./example.ts";
import { processesOf } from "./processes.ts";
import { binary, eventsOf, makeProject, type Project, told, until } from "./project.ts";
import type { Script } from "./script.ts";
import { type ScriptedModel, startScriptedModel } from "./scripted-model.ts";

interface Recorded {
  readonly type: string;
  readonly at: string;
  readonly phase?: string;
  readonly attempt?: number;
  readonly agent?: string;
  readonly session?: string;
  readonly continues?: number;
  readonly until?: string;
  readonly how?: string;
}

const patience = 170_000;
const open: { remove(): void }[] = [];
afterAll(() => {
  for (const each of open) each.remove();
});

describe.concurrent("six phases by Claude Code and Codex, at the same time", () => {
  let example: Example;
  let model: ScriptedModel;
  let project: Project;
  beforeAll(async () => {
    example = exampleFor({ slowly: 3 });
    model = await startScriptedModel(example.scripts);
    project = makeProject(
      { claude: model.url, codex: model.url },
      {
        ...example.files,
        ".autodev/config.yaml": "agent: claude\nroutes:\n  - { phase: [2a, 2c], agent: codex }\n",
      },
    );
    open.push(project);
  }, patience);
  afterAll(() => model?.close());

  it(
    "are killed in the middle, go on, and come to the same end",
    async () => {
      const trust = `--trust-sha256=${await project.trust(examplePlan)}`;
      const build = ["build", examplePlan, "--commit=auto", "--jobs=3", trust];
      const first = project.start(...build);
      // Their tools run: no agent goes on with a conversation of which it has kept nothing yet.
      const atWork = (): boolean => {
        const running = processesOf(project.place);
        return ["nap-2a", "nap-2b"].every((nap) =>
          running.some(({ command }) => command.includes(nap)),
        );
      };
      await until(() => first.exitCode !== null || atWork(), "2A and 2B at work");
      first.kill("SIGKILL");
      expect((await first.ended).signal).toBe("SIGKILL");
      await until(() => processesOf(project.place).length === 0, "nothing is left of a dead run");

      const second = await project.autodev(...build);
      expect(second.code, told(second)).toBe(0);
      expect(processesOf(project.place)).toEqual([]);
      for (const [name, text] of Object.entries(example.end)) {
        if (name === examplePlan) continue;
        expect(readFileSync(join(project.place.tree, name), "utf8"), name).toBe(text);
      }
      const plan = readFileSync(join(project.place.tree, examplePlan), "utf8");
      expect(plan).not.toContain("- [ ]");
      const phases = project.git("log", "--format=%(trailers:key=Autobuild-Phase,valueonly)");
      expect(phases.split("\n").filter(Boolean).sort()).toEqual(["0", "1", "2a", "2b", "2c", "3"]);

      const events = await eventsOf<Recorded>(project);
      const started = events.filter(({ type }) => type === "attempt-started");
      const interrupted = started.filter(({ continues }) => continues !== undefined);
      const again = interrupted.map(({ phase }) => phase);
      expect(again).toEqual(expect.arrayContaining(["2a", "2b"]));
      // The same conversations went on.
      for (const { phase } of interrupted) {
        const sessions = events.filter(
          (event) => event.type === "session-opened" && event.phase === phase,
        );
        expect(new Set(sessions.map(({ session }) => session)).size, `${phase}`).toBe(1);
      }
      const byCodex = started.filter(({ agent }) => agent === "codex").map(({ phase }) => phase);
      expect(new Set(byCodex)).toEqual(new Set(["2a", "2c"]));
    },
    patience,
  );
});

describe.concurrent("an account that has nothing left for forty seconds", () => {
  it(
    "parks the phase; killed and started again, it goes on when the time has come",
    async () => {
      const resets = Math.ceil(Date.now() / 1000) + 40;
      const result = {
        phase_id: "1",
        status: "complete",
        tasks: { total: 1, completed: 1 },
        commit_message: "feat: two files",
        files: { created: ["one.txt", "two.txt"], modified: [], deleted: [] },
      };
      const script: Script = [
        { write: { path: "one.txt", content: "one\n" } },
        {
          status: 429,
          times: 1,
          headers: {
            "anthropic-ratelimit-unified-status": "rejected",
            "anthropic-ratelimit-unified-reset": `${resets}`,
            "anthropic-ratelimit-unified-representative-claim": "five_hour",
            "anthropic-ratelimit-unified-5h-status": "rejected",
            "anthropic-ratelimit-unified-5h-reset": `${resets}`,
          },
        },
        { write: { path: "two.txt", content: "two\n" } },
        { json: result },
        { say: "Both are there." },
      ];
      const model = await startScriptedModel({ limited: script });
      const project = makeProject(
        { claude: model.url },
        {
          "docs/plan.md":
            "# Two files\n\n## Phase 1: Write them\n\n[[script:limited]]\n\n- [ ] Write one.txt and two.txt\n",
          "README.md": "# A project\n",
          ".autodev/config.yaml": "agent: claude\ngates: { test: 'test -f README.md' }\n",
        },
      );
      open.push(project);
      // Limits of a subscription are told only to those who have one.
      const env = project.env as Record<string, string>;
      delete env["ANTHROPIC_API_KEY"];
      env["CLAUDE_CODE_OAUTH_TOKEN"] = "scripted-token-of-nobody-0123456789";
      try {
        const trust = `--trust-sha256=${await project.trust("docs/plan.md")}`;
        const build = ["build", "docs/plan.md", "--commit=auto", trust];
        const first = project.start(...build);
        const parked = async (): Promise<Recorded | undefined> =>
          (await eventsOf<Recorded>(project)).find(({ type }) => type === "attempt-parked");
        await until(
          async () => first.exitCode !== null || (await parked()) !== undefined,
          "parked",
        );
        const wake = new Date(resets * 1000).toISOString();
        expect((await parked())?.until).toBe(wake);
        const left = processesOf(project.place).map(({ command }) => command);
        // We ourselves may lie in a folder of that name.
        const agents = left.filter((each) => each.includes("claude") && !each.includes(binary));
        expect(agents).toEqual([]);
        const status = JSON.parse((await project.autodev("status", "--json")).out) as {
          runs: { until?: string }[];
        };
        expect(status.runs[0]?.until).toBe(wake);
        first.kill("SIGKILL");
        await first.ended;

        const impatient = await project.autodev(...build, "--no-wait");
        expect(impatient.code, told(impatient)).toBe(5);
        const last = await project.autodev(...build);
        expect(last.code, told(last)).toBe(0);
        const events = await eventsOf<Recorded>(project);
        const started = events.filter(({ type }) => type === "attempt-started");
        expect(started.map(({ attempt, continues }) => [attempt, continues])).toEqual([
          [1, undefined],
          [2, 1],
        ]);
        expect((started[1]?.at ?? "") >= wake).toBe(true);
        // What it had written before stayed, and was not written again.
        const writes = model.requests.filter(({ conversation }) =>
          JSON.stringify(conversation?.entries ?? []).includes("one.txt"),
        );
        expect(writes.length).toBeGreaterThan(0);
        for (const name of ["one.txt", "two.txt"]) {
          expect(existsSync(join(project.place.tree, name)), name).toBe(true);
        }
        expect(processesOf(project.place)).toEqual([]);
      } finally {
        await model.close();
      }
    },
    patience,
  );
});
