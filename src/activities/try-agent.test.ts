import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Agent, AgentEvent, AgentOutcome, AgentRun, Brief } from "../agent.ts";
import { knownAgent } from "../core/agent/known.ts";
import { exec } from "../exec.ts";
import { type TrialSite, type Tried, tryAgent } from "./try-agent.ts";

const scratch = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), "autodev-try-agent-"));
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }));

let count = 0;
const never = new AbortController().signal;

/** What comes of an agent that does this, and what one hears of it meanwhile. */
async function tried(
  act: (brief: Brief, run: AgentRun) => Promise<AgentOutcome>,
  site: Partial<TrialSite> = {},
): Promise<{ value: Tried; heard: AgentEvent[]; folder: string }> {
  const folder = path.join(scratch, String(count++));
  const heard: AgentEvent[] = [];
  const agent: Agent = { name: "claude", run: act };
  const result = await tryAgent(
    { name: "claude", known: knownAgent("claude"), make: () => agent },
    {
      folder,
      closed: [],
      word: "hello-42",
      marker: `try-agent-test-${process.pid}-${count}`,
      timeoutMs: 20_000,
      signal: never,
      killNow: never,
      emit: (event) => heard.push(event),
      ...site,
    },
  );
  if (!result.ok) throw new Error(result.failure.message);
  return { value: result.value, heard, folder };
}

const done = (): AgentOutcome => ({
  is: "done",
  model: "some-model",
  result: {
    phase_id: "1",
    status: "complete",
    tasks: { total: 1, completed: 1 },
    gates: {},
    commit_message: "",
    files: { created: [], modified: [], deleted: [] },
    plan_updated: false,
    error: null,
  },
});

describe("an agent that is tried", () => {
  it("works in a repository of its own, which is gone afterwards", async () => {
    let seen: string[] = [];
    const { value, folder } = await tried(async (brief, { cwd }) => {
      seen = fs.readdirSync(cwd);
      expect(brief.text).toContain("hello-42");
      fs.writeFileSync(path.join(cwd, "hello.txt"), "hello-42\n");
      return done();
    });
    expect(seen).toEqual([".git"]);
    expect(value).toMatchObject({ works: true, outcome: "done", model: "some-model" });
    expect(fs.existsSync(folder)).toBe(false);
  });

  it("has its tokens and dollars added up, and its session seen", async () => {
    const { value, heard } = await tried(async (_, { cwd, emit }) => {
      emit({ type: "session", id: "s-1" });
      emit({ type: "usage", tokens: 1000, cost: 0.25 });
      emit({ type: "usage", tokens: 500, cost: 0.25 });
      fs.writeFileSync(path.join(cwd, "hello.txt"), "hello-42");
      return done();
    });
    expect(value).toMatchObject({ tokens: 1500, cost: 0.5 });
    expect(value.checks.every(({ state }) => state === "passed")).toBe(true);
    expect(heard.map(({ type }) => type)).toEqual(["session", "usage", "usage"]);
  });

  it("is not believed when the file is a link to the word", async () => {
    const { value } = await tried(async (_, { cwd, scratch: own }) => {
      fs.writeFileSync(path.join(own, "elsewhere"), "hello-42\n");
      fs.symlinkSync(path.join(own, "elsewhere"), path.join(cwd, "hello.txt"));
      return done();
    });
    expect(value.works).toBe(false);
  });

  it("has what it left running ended, and counted", async () => {
    let left: Promise<unknown> | undefined;
    const { value } = await tried(async (_, { cwd, marker }) => {
      fs.writeFileSync(path.join(cwd, "hello.txt"), "hello-42\n");
      left = exec({ program: "sleep", args: ["1000"] }, { cwd, marker });
      await started(marker);
      return done();
    });
    await left;
    expect(value.works).toBe(true);
    expect(value.checks.find(({ name }) => name === "processes")?.state).toBe("warning");
  });
});

/** Until a process carries the mark. */
async function started(marker: string): Promise<void> {
  const isThere = (): boolean =>
    fs.readdirSync("/proc").some((pid) => {
      try {
        const environ = fs.readFileSync(`/proc/${pid}/environ`, "utf8");
        const command = fs.readFileSync(`/proc/${pid}/comm`, "utf8").trim();
        return command === "sleep" && environ.includes(`AUTODEV_RUN_ID=${marker}`);
      } catch {
        return false;
      }
    });
  while (!isThere()) await new Promise((resolve) => setTimeout(resolve, 10));
}
