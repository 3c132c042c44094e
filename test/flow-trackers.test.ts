/**
 * A flow whose project has a tracker, through the real door: found, logged in to, filled when a step is
 * complete and before its commit; and what happens where there is none, or it will not have us. The
 * servers are ours, with the tools of real ones (tracker-servers/).
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { itemsByKey } from "../torture/tracker-world.ts";
import { type FlowProject, liveAndDie, makeFlowProject, outcomeOf } from "./flow-rig.ts";
import { binary, makeFolder, type Ran, run } from "./rig.ts";

const patience = 180_000;
const decided = ["--decide", "recommended"];
const program = join(import.meta.dirname, "tracker-servers", "server.mjs");

interface Tracked extends FlowProject {
  /** Where the server keeps its items. */
  readonly folder: string;
  setMode(mode: string): void;
}

/** The user's own server: nothing of the repository is started. */
async function withTracker(
  shape: string,
  name: string,
  { mode = "", settings = {} }: { mode?: string; settings?: object } = {},
): Promise<Tracked> {
  const [folder, home] = [makeFolder("server"), makeFolder("home")];
  for (const each of [folder, join(home, ".cursor")]) mkdirSync(each, { recursive: true });
  const servers = { mcpServers: { [name]: { command: "node", args: [program, shape, folder] } } };
  writeFileSync(join(home, ".cursor", "mcp.json"), JSON.stringify(servers));
  const project = await makeFlowProject({}, ({ root }) => {
    const file = join(root, ".autodev/config.yaml");
    const own = JSON.parse(readFileSync(file, "utf8")) as object;
    const tracker = { project: "AZ", search_lag_seconds: 1, ...settings };
    writeFileSync(file, `${JSON.stringify({ ...own, tracker })}\n`);
  });
  project.environment["HOME"] = home;
  const setMode = (now: string): void => writeFileSync(join(folder, "mode"), now);
  setMode(mode);
  return { ...project, folder, setMode };
}

const cli = ({ root, environment }: FlowProject, ...args: string[]): Promise<Ran> =>
  run(process.execPath, [binary(), ...args], { cwd: root, env: environment, timeout: 60_000 });
const textOf = ({ root }: FlowProject, file: string): string =>
  readFileSync(join(root, "_docs", file), "utf8");
const tasksOf = ({ root }: FlowProject, folder = "todo"): string[] =>
  existsSync(join(root, "_docs/02_tasks", folder))
    ? readdirSync(join(root, "_docs/02_tasks", folder)).sort()
    : [];
const typesOf = async (project: FlowProject): Promise<string[]> =>
  (await project.events()).map(({ type }) => type);

/** Every item once; an epic and three tasks. */
const expectOneOfEach = ({ folder }: Tracked): void => {
  expect([...itemsByKey(folder).values()]).toEqual([1, 1, 1, 1]);
};
const atBoundary = (ran: Ran): void => expect(outcomeOf(ran), ran.all).toBe("boundary");

describe.concurrent("a flow with a tracker", () => {
  it(
    "creates an epic when the plan is complete and a ticket for each task, and calls the files by them",
    async () => {
      const project = await withTracker("jira", "user-Jira-MCP-Server");
      atBoundary(await project.flow(...decided, "--json"));
      expect((await project.status()).tracker).toBe("jira");
      expect(readFileSync(project.stateFile, "utf8")).toMatch(/^tracker: jira$/m);
      expectOneOfEach(project);
      expect(tasksOf(project)).toEqual(["AZ-2_first.md", "AZ-3_second.md", "AZ-4_third.md"]);
      const second = textOf(project, "02_tasks/todo/AZ-3_second.md");
      expect(second).toContain("**Task**: AZ-3_second\n**Alias**: 02_second\n");
      expect(second).toContain("**Dependencies**: AZ-2_first\n");
      expect(second).toMatch(/^\*\*Tracker\*\*: AZ-3$/m);
      expect(textOf(project, "02_tasks/_dependencies_table.md")).toContain("| AZ-3_second |");
      // In the step's own commit, and nothing beside it.
      expect(project.git("status", "--porcelain", "--", "_docs")).toBe("");
      const commits = project.git("log", "--format=%s", "--", "_docs/02_tasks").trim().split("\n");
      expect(commits).toEqual(["docs: step 5 Decompose complete"]);
      const done = await project.flow(...decided, "--json");
      expect(outcomeOf(done), done.all).toBe("done");
      expect(tasksOf(project, "done")).toEqual([
        "AZ-2_first.md",
        "AZ-3_second.md",
        "AZ-4_third.md",
      ]);
      expectOneOfEach(project);
      // Whoever mentions an old name means the same task.
      const check = await cli(project, "plan", "check", "_docs/02_tasks", "--json");
      expect(check.code, check.all).toBe(0);
      // What has landed is moved there, once.
      const synced = await cli(project, "tracker", "sync", "--json");
      expect(synced.code, synced.all).toBe(0);
      const calls = readFileSync(join(project.folder, "calls"), "utf8").split("\n");
      expect(calls.filter((line) => line.startsWith("transitionJiraIssue")).length).toBe(3);
    },
    patience,
  );

  it(
    "logs in first where the server offers nothing else, and never asks anybody twice",
    async () => {
      const project = await withTracker("ado", "user-AzureDevops", { mode: "auth" });
      atBoundary(await project.flow(...decided, "--json"));
      expectOneOfEach(project);
      expect(tasksOf(project)[0]).toBe("AB-2_first.md");
      const types = await typesOf(project);
      // Once before the first step that needs it; the next one finds it open.
      expect(types.filter((type) => type === "tracker-opened").length).toBe(1);
      const [opened, started] = ["tracker-opened", "skill-started"].map((type) =>
        types.indexOf(type),
      );
      expect(opened).toBeGreaterThan(started ?? 0);
      const events = await project.events();
      const plan = events.findIndex(({ type, step }) => type === "step-started" && step === "3");
      expect(types.indexOf("tracker-opened")).toBeLessThan(plan);
    },
    patience,
  );

  it(
    "that lets nobody in asks, word for word; without it the tasks are pending, and sync catches up",
    async () => {
      const project = await withTracker("jira", "Atlassian", { mode: "locked" });
      const asked = await project.flow(...decided);
      expect(asked.code, asked.all).toBe(3);
      for (const line of [
        "Tracker authentication failed",
        "A) Retry authentication (retry mcp_auth)",
        "B) Continue without tracker (tasks saved locally only)",
        "Recommendation: A — tracker ids drive task referencing, dependency tracking and batching",
      ])
        expect(asked.all).toContain(line);
      const [open] = (await project.status()).decisions;
      expect((await cli(project, "decide", open?.id ?? "", "B")).code).toBe(0);
      atBoundary(await project.flow(...decided, "--json"));
      expect((await project.status()).tracker).toBe("local");
      expect(tasksOf(project)).toEqual(["01_first.md", "02_second.md", "03_third.md"]);
      expect(textOf(project, "02_tasks/todo/01_first.md")).toContain("**Tracker**: pending");
      const look = JSON.parse((await cli(project, "tracker", "--json")).out) as { pending: number };
      expect(look.pending).toBe(4);
      const refused = await cli(project, "tracker", "sync", "--no-input");
      expect(refused.code, refused.all).toBe(4);
      project.setMode("");
      const synced = await cli(project, "tracker", "sync", "--no-input");
      expect(synced.code, synced.all).toBe(0);
      expectOneOfEach(project);
      expect(tasksOf(project)[0]).toBe("AZ-2_first.md");
      expect((await project.status()).tracker).toBe("jira");
      expect(project.git("log", "-1", "--format=%s").trim()).toBe("docs: ids of the tracker");
      const done = await project.flow(...decided, "--json");
      expect(outcomeOf(done), done.all).toBe("done");
    },
    patience,
  );

  it(
    "whose tools say something else than before asks a person, and shows what",
    async () => {
      const project = await withTracker("github", "github", { settings: { project: "acme/shop" } });
      const tools = await cli(project, "tracker", "tools", "--json");
      expect(JSON.parse(tools.out)).toMatchObject({
        verbs: { find: "list_issues", create: "create_issue", move: "update_issue" },
      });
      project.setMode("reworded");
      const asked = await project.flow(...decided);
      expect(asked.code, asked.all).toBe(3);
      expect(asked.all).toContain("the tools of github are not what they were");
      expect(asked.all).toContain("Now also sends a copy to somebody.");
      const [open] = (await project.status()).decisions;
      expect((await cli(project, "decide", open?.id ?? "", "A")).code).toBe(0);
      atBoundary(await project.flow(...decided, "--json"));
      expectOneOfEach(project);
    },
    patience,
  );

  it(
    "that limits for long goes on with its own files, and the next start creates the rest",
    async () => {
      const project = await withTracker("jira", "jira");
      writeFileSync(join(project.folder, "faults"), "create unauthorized\ncreate unauthorized\n");
      atBoundary(await project.flow(...decided, "--json"));
      expect(tasksOf(project)[0]).toBe("01_first.md");
      const left = "_docs/_process_leftovers/tracker.md";
      expect(project.git("ls-files", left).trim()).toBe(left);
      const done = await project.flow(...decided, "--json");
      expect(outcomeOf(done), done.all).toBe("done");
      expectOneOfEach(project);
      expect(existsSync(join(project.root, left))).toBe(false);
    },
    patience,
  );

  it(
    "killed at any moment creates each item once",
    async () => {
      const project = await withTracker("jira", "jira");
      writeFileSync(join(project.folder, "faults"), "create die-after\ncreate silent-before\n");
      const killed = await liveAndDie(project, [...decided, "--json"], {
        kills: 12,
        isOver: async () =>
          (await typesOf(project)).filter((type) => type === "step-tracked").length > 1,
        spares: ({ step }) => Number(step) > 5,
      });
      expect(killed).toBeGreaterThan(3);
      expectOneOfEach(project);
      const names = ["todo", "done"].flatMap((folder) => tasksOf(project, folder));
      expect(names).toEqual(["AZ-2_first.md", "AZ-3_second.md", "AZ-4_third.md"]);
    },
    patience,
  );
});

describe.concurrent("which tracker", () => {
  it(
    "there is none: said aloud, and everything else goes on",
    async () => {
      const project = await makeFlowProject();
      const ran = await project.flow(...decided);
      expect(ran.all).toContain("tracker: local (no MCP server of a tracker is configured)");
      expect(ran.all).toContain("tracker: local — 4 pending");
      expect((await project.status()).tracker).toBe("local");
      expect(tasksOf(project)).toEqual(["01_first.md", "02_second.md", "03_third.md"]);
    },
    patience,
  );

  it(
    "two are configured: a person says which, and that stands",
    async () => {
      const project = await withTracker("jira", "Atlassian");
      const file = join(project.environment["HOME"] ?? "", ".cursor", "mcp.json");
      const { mcpServers } = JSON.parse(readFileSync(file, "utf8")) as { mcpServers: object };
      const linear = { url: "https://mcp.linear.app/mcp" };
      writeFileSync(file, JSON.stringify({ mcpServers: { linear, ...mcpServers } }));
      const asked = await project.flow(...decided);
      expect(asked.code, asked.all).toBe(3);
      expect(asked.all).toContain("several trackers are configured");
      expect(asked.all).toContain("A) linear: linear (~/.cursor/mcp.json)");
      const [open] = (await project.status()).decisions;
      expect((await cli(project, "decide", open?.id ?? "", "B")).code).toBe(0);
      atBoundary(await project.flow(...decided, "--json"));
      expect((await project.status()).tracker).toBe("jira");
      expectOneOfEach(project);
    },
    patience,
  );

  it(
    "the repository names it: nothing of it is started before a person has approved exactly that",
    async () => {
      const folder = makeFolder("server");
      mkdirSync(folder, { recursive: true });
      const jira = { command: "node", args: [program, "jira", folder] };
      const project = await makeFlowProject({
        ".mcp.json": JSON.stringify({ mcpServers: { jira } }),
      });
      writeFileSync(join(project.root, ".autodev/config.yaml"), "tracker: { project: AZ }\n");
      const refused = await cli(project, "tracker", "tools", "--no-input");
      expect(refused.code, refused.all).toBe(3);
      expect(refused.all).toContain("tracker jira: exec env 'node'");
      expect(readdirSync(folder)).toEqual([]);
      const [, hash = ""] = /--trust-sha256 ([0-9a-f]{64})/.exec(refused.all) ?? [];
      const tools = await cli(project, "tracker", "tools", "--trust-sha256", hash);
      expect(tools.code, tools.all).toBe(0);
      expect(tools.all).toContain("create createJiraIssue");
    },
    patience,
  );
});
