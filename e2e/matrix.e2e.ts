/**
 * What has to be true of every agent, each as `autodev build` has it, against a scripted model: it
 * edits and hands in its result, goes on in a second process, says what stands in its way, and when
 * it is ended, by whatever, nothing of it is left. At the end there is a table; AUTODEV_E2E_JSON
 * names a file for the same as JSON.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentEvent } from "../src/agent.ts";
import { knownAgent } from "../src/core/agent/known.ts";
import { type AgentName, agents, isInstalled } from "./agents.ts";
import { makeWorker, phase, type Work, type Worked, type Worker } from "./at-work.ts";
import { type Process, processesOf, stillThere } from "./processes.ts";
import { until } from "./project.ts";
import type { Script } from "./script.ts";
import { type ScriptedModel, startScriptedModel } from "./scripted-model.ts";
import { makeTable } from "./table.ts";

const names = Object.keys(agents) as AgentName[];
const cases = ["edit", "resume", "401", "429", "cancel", "kill", "timeout", "hang"] as const;
type Case = (typeof cases)[number];

const table = makeTable(names, cases);
/** Longer than anything here may take: each case ends by limits of its own. */
const patience = 90_000;

const resultFor = (created: string): object => ({
  phase_id: phase,
  status: "complete",
  tasks: { total: 1, completed: 1 },
  gates: {},
  commit_message: `feat: ${created}`,
  files: { created: [created], modified: [], deleted: [] },
  plan_updated: false,
  error: null,
});

/** We never show it, but whoever works has to have it. */
const url = "postgres://user:pass1234@localhost/db";

const scripts: Readonly<Record<string, Script>> = {
  edit: [
    { say: "I write the file." },
    { write: { path: "hello.txt", content: "hello\n" } },
    { json: resultFor("hello.txt") },
    // As the prompt wants it, for agents to whom our tool was not there.
    { say: JSON.stringify(resultFor("hello.txt")) },
  ],
  again: [
    { write: { path: "again.txt", content: "again\n" } },
    { bash: `node -e "require('fs').writeFileSync('url.txt', '${url}')"` },
    { json: resultFor("again.txt") },
    { say: JSON.stringify(resultFor("again.txt")) },
  ],
  unauthorized: [{ status: 401, message: "Incorrect API key provided" }],
  // Most try again by themselves, and say nothing of it: they are told not to wait for long.
  limited: [
    { status: 429, message: "Rate limit reached for requests", headers: { "retry-after": "1" } },
  ],
  linger: [{ bash: "sh ./linger.sh" }, { say: "It has ended." }],
  hang: [{ hang: true }],
};

/** Three that sleep, one of them in a session of its own, which no signal to a group reaches. */
const linger = { "linger.sh": "sleep 600 &\nsetsid sleep 600 &\ntouch started\nsleep 600\n" };
const sleeps = 3;

const briefFor = (script: keyof typeof scripts): string => `# The work\n\n[[script:${script}]]\n`;

afterAll(() => {
  console.log(`\n${table.print()}\n`);
  const file = process.env["AUTODEV_E2E_JSON"];
  if (file !== undefined) writeFileSync(file, `${table.json()}\n`);
});

// Side by side, as many as `maxConcurrency` lets; the cases of an agent one after the other.
describe.concurrent.each(names)("%s", (name) => {
  if (!isInstalled(name, join(process.cwd(), "e2e"))) {
    for (const each of cases) table.set(name, each, { is: "–", why: "not installed" });
    it.skip("is not installed: node e2e/install.mjs");
    return;
  }
  let model: ScriptedModel;
  let worker: Worker;
  let first: Worked;
  /** How long it takes until a tool of its runs: on a busy machine, longer. */
  let toToolMs = 5000;
  beforeAll(async () => {
    model = await startScriptedModel(scripts);
    worker = makeWorker(name, model.url);
  });
  afterAll(async () => {
    await model?.close();
    worker?.place.remove();
  });

  /** Into the table, too; what it resolves with is a note there. */
  const tried = (which: Case, what: string, play: () => Promise<string | undefined>): void => {
    it.sequential(
      what,
      async () => {
        const began = performance.now();
        const ms = (): number => performance.now() - began;
        try {
          const why = await play();
          table.set(name, which, { is: "✓", ms: ms(), ...(why !== undefined && { why }) });
        } catch (error) {
          table.set(name, which, { is: "✗", ms: ms() });
          throw error;
        }
      },
      patience,
    );
  };
  const nobodyIsLeft = (seen: readonly Process[] = []): undefined => {
    expect(stillThere(seen)).toEqual([]);
    expect(processesOf(worker.place)).toEqual([]);
  };
  /** Its tool runs: who is there now. */
  const lingering = async (
    more: Partial<Work> = {},
  ): Promise<{ work: Worked; seen: readonly Process[] }> => {
    const began = performance.now();
    const work = worker.work({ text: briefFor("linger"), files: linger, ...more });
    let isOver = false;
    void work.ended.then(() => (isOver = true));
    let seen: readonly Process[] = [];
    const isRunning = (): boolean => {
      if (!existsSync(join(work.tree, "started"))) return false;
      seen = processesOf(worker.place);
      return seen.filter(({ command }) => command === "sleep 600").length === sleeps;
    };
    await until(() => isOver || isRunning(), "the tool runs");
    if (isOver) expect.fail(`it ended before: ${JSON.stringify(await work.ended)}`);
    toToolMs = performance.now() - began;
    return { work, seen };
  };

  /** Through our tool, where it has no way of its own; Qwen gives a server five seconds to answer it. */
  const howHandedIn = ({ events }: Worked): string | undefined => {
    const isTaken = model.requests.some(({ conversation }) =>
      conversation?.entries.some(({ text }) => text.includes("The result was taken.")),
    );
    const isNative = knownAgent(name)?.can.structured === "native";
    if (isTaken || isNative) return undefined;
    const isLate = ({ type, ...event }: AgentEvent): boolean =>
      type === "raw" && JSON.stringify(event).includes("failed to start: autodev");
    expect(events.some(isLate)).toBe(true);
    return "the machine was too slow for its way to our tool: the result was its last message";
  };

  tried("edit", "edits by a tool of its own, and hands in a result", async () => {
    first = worker.work({ text: briefFor("edit") });
    const outcome = await first.ended;
    expect(outcome, JSON.stringify(outcome)).toMatchObject({
      is: "done",
      result: { phase_id: phase, status: "complete" },
    });
    expect(readFileSync(join(first.tree, "hello.txt"), "utf8")).toBe("hello\n");
    const told = first.events.filter(({ type }) => type !== "raw");
    expect(told[0]?.type).toBe("session");
    const isTold = tokensIn(first.events) > 0;
    expect(isTold).toBe(knownAgent(name)?.can.usage);
    nobodyIsLeft();
    return howHandedIn(first);
  });

  tried("resume", "goes on in a second process, or begins anew where it cannot", async () => {
    const session = sessionIn(first.events) ?? expect.fail("there is no session");
    const before = model.requests.length;
    const second = worker.work({
      text: briefFor("again"),
      tree: first.tree,
      more: { resume: { session, tokens: tokensIn(first.events) } },
    });
    expect(await second.ended).toMatchObject({ is: "done" });
    expect(readFileSync(join(second.tree, "again.txt"), "utf8")).toBe("again\n");
    expect(readFileSync(join(second.tree, "url.txt"), "utf8")).toBe(url);
    const seen = model.requests
      .slice(before)
      .some(({ conversation }) =>
        conversation?.entries.some(({ text }) => text.includes("[[script:edit]]")),
      );
    const goesOn = knownAgent(name)?.can.resume === true;
    expect({ isSame: sessionIn(second.events) === session, seen }).toEqual({
      isSame: goesOn,
      seen: goesOn,
    });
    return nobodyIsLeft();
  });

  tried("401", "says that nobody is logged in", async () => {
    const { ended } = worker.work({ text: briefFor("unauthorized") });
    expect(await ended).toMatchObject({ is: "unable", trouble: { kind: "auth" } });
    return nobodyIsLeft();
  });

  tried("429", "says that it may not go on now", async () => {
    const { ended } = worker.work({ text: briefFor("limited") });
    expect(await ended).toMatchObject({ is: "limited", trouble: { kind: "rate_limit" } });
    return nobodyIsLeft();
  });

  tried("cancel", "is asked to stop while its tool runs", async () => {
    const { work, seen } = await lingering();
    work.stop();
    expect(await work.ended).toEqual({ is: "stopped" });
    return nobodyIsLeft(seen);
  });

  tried("kill", "is killed while its tool runs", async () => {
    const { work, seen } = await lingering();
    work.kill();
    expect(await work.ended).toEqual({ is: "stopped" });
    return nobodyIsLeft(seen);
  });

  tried("timeout", "has no more time while its tool runs", async () => {
    const { work, seen } = await lingering({ timeoutMs: 1.5 * toToolMs + 2000 });
    expect(await work.ended).toMatchObject({ is: "failed", error: { kind: "timeout" } });
    return nobodyIsLeft(seen);
  });

  tried("hang", "waits for a model that never answers", async () => {
    const before = model.requests.length;
    const { ended } = worker.work({
      text: briefFor("hang"),
      more: { idleMs: toToolMs + 1000 },
    });
    expect(await ended).toMatchObject({ is: "failed", error: { kind: "idle_timeout" } });
    expect(model.requests.length).toBeGreaterThan(before);
    return nobodyIsLeft();
  });
});

const sessionIn = (events: readonly AgentEvent[]): string | undefined =>
  events.find((event) => event.type === "session")?.id;

const tokensIn = (events: readonly AgentEvent[]): number =>
  events.reduce((sum, event) => sum + (event.type === "usage" ? event.tokens : 0), 0);
