import { describe, expect, it } from "vitest";
import type { Agent, AgentEvent, AgentOutcome, AgentRun, Brief } from "../agent.ts";
import { keepingSecrets } from "./keep-secrets.ts";

const secret = "hush-hush-0123456789";
const brief: Brief = { phase: "1", name: "One", text: "", tasks: 1, attempt: 1 };

async function told(
  events: readonly AgentEvent[],
  outcome: AgentOutcome,
): Promise<{ events: AgentEvent[]; outcome: AgentOutcome }> {
  const agent: Agent = {
    name: "mine",
    speaks: "words",
    async run(_, { emit }) {
      for (const event of events) emit(event);
      return outcome;
    },
  };
  const heard: AgentEvent[] = [];
  const run: AgentRun = {
    cwd: "/",
    scratch: "/",
    env: { MY_API_KEY: secret },
    timeoutMs: 1000,
    signal: new AbortController().signal,
    killNow: new AbortController().signal,
    marker: "test",
    emit: (event) => heard.push(event),
  };
  return { events: heard, outcome: await keepingSecrets(agent).run(brief, run) };
}

describe("what leaves an agent", () => {
  it("holds no secret of its environment, wherever it would stand", async () => {
    const { events, outcome } = await told(
      [
        { type: "text", text: `put together: ${secret}` },
        { type: "plan", steps: [{ text: secret, done: false }] },
        { type: "usage", tokens: 5 },
      ],
      {
        is: "done",
        result: {
          phase_id: "1",
          status: "complete",
          tasks: { total: 1, completed: 1 },
          gates: { [secret]: true },
          commit_message: `feat: ${secret}`,
          files: { created: [], modified: [], deleted: [] },
          plan_updated: false,
          error: null,
        },
      },
    );
    expect(JSON.stringify([events, outcome])).not.toContain(secret);
    expect(events).toEqual([
      { type: "text", text: "put together: [masked]" },
      { type: "plan", steps: [{ text: "[masked]", done: false }] },
      { type: "usage", tokens: 5 },
    ]);
    expect(outcome).toMatchObject({
      result: { commit_message: "feat: [masked]", gates: { "[masked]": true } },
    });
  });

  it("is otherwise as it was: lines that are masked already, ids, all other outcomes", async () => {
    const events: AgentEvent[] = [
      { type: "raw", line: "{}" },
      { type: "session", id: "s-1" },
    ];
    const outcome: AgentOutcome = { is: "stopped" };
    expect(await told(events, outcome)).toEqual({ events, outcome });
  });
});
