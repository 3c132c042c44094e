/**
 * Programs of agents that are none: each speaks its own format line by line, as the real one was
 * recorded speaking it (e2e/recorded), with somebody's words wherever that format has room for
 * words. What is structure (the last event, the result, an error of its own) is ours and the same
 * every time.
 */
import * as fs from "node:fs";
import type { Agent } from "../../src/agent.ts";
import { makeAgent } from "../../src/agents/made.ts";
import type { AgentResult } from "../../src/core/plan/result.ts";
import { type Ended, type ExecOptions, type exec, mintTrusted } from "../../src/exec.ts";

export type PuppetName = "claude" | "codex" | "gemini" | "script";

/** How a session ends, by what its own format says. */
export type PuppetEnd = "done" | "says-failed" | "limited" | "crash";

export interface Act {
  readonly name: PuppetName;
  readonly end: PuppetEnd;
  readonly result: AgentResult;
  /** What it says between its first event and its last. */
  readonly words: string;
  readonly stderr: string;
  /** Why it is limited, in the one format in which that is for people alone. */
  readonly reason: string;
}

/** The real adapter, with a program behind it that plays the act. */
export function puppet(act: Act, now: string, does: "phase" | "skill" = "phase"): Agent {
  const agent = makeAgent(act.name, {
    settings: undefined,
    root: undefined,
    command: act.name === "script" ? mintTrusted("script") : undefined,
    exec: playing(act),
    does,
    // `apply` alone reads the plan by itself.
    phase: () => undefined,
    shell: () => undefined,
    openResultTool: async ({ accept }) => {
      const given = act.end === "done" || act.end === "says-failed" ? act.result : undefined;
      const refused = given && accept(given);
      if (refused !== undefined) throw new Error(`a puppet's own result is refused: ${refused}`);
      return { url: "http://127.0.0.1:1/mcp", submitted: () => given, close: async () => {} };
    },
    moment: () => ({ now, zoneMinutes: 0 }),
  });
  if (!agent) throw new Error(`there is no agent ${act.name}`);
  return agent;
}

const playing =
  (act: Act): typeof exec =>
  async (_, options) => {
    const tail: string[] = [];
    let lines = 0;
    const print = (stream: "out" | "err", text: string): void => {
      // As exec itself has it: lines end with a line feed, and only with that.
      for (const line of text.split("\n")) {
        lines++;
        tail.push(line);
        options.onLine?.(line.endsWith("\r") ? line.slice(0, -1) : line, stream);
      }
    };
    const code = await speakers[act.name](act, options, print);
    return { ...endedWell, code, tail: tail.slice(-(options.tailLines ?? 200)), lines };
  };

const endedWell: Ended = {
  code: 0,
  signal: null,
  timedOut: false,
  aborted: false,
  tail: [],
  lines: 0,
  bytes: 0,
};

type Print = (stream: "out" | "err", text: string) => void;
type Speak = (act: Act, options: ExecOptions, print: Print) => Promise<number>;

const limited = "You've hit your usage limit. Try again later.";
const until = "2026-01-01T02:00:00.000Z";

/** Any program: what it prints beside the file of its result is for people. */
const script: Speak = async ({ end, result, words, stderr, reason }, { env = {} }, print) => {
  print("out", "begins");
  const file = env["AUTODEV_RESULT"];
  if (file === undefined) throw new Error("it is not told where its result goes");
  if (end === "crash") {
    print("err", "it broke");
    return 1;
  }
  print("out", words);
  print("err", stderr);
  const said = end === "limited" ? { status: "limited", until, reason } : result;
  fs.writeFileSync(file, JSON.stringify(said));
  // Whoever comes after it says the last word on the screen.
  print("out", words);
  return 0;
};

const claude: Speak = async ({ end, result, words, stderr }, options, print) => {
  const say = (event: object): void => print("out", JSON.stringify(event));
  options.talk?.({ say: () => {}, hangUp: () => {} });
  say({ type: "system", subtype: "init", session_id: "s-claude", model: "model" });
  const speaks = (content: object[], id: string): void =>
    say({
      type: "assistant",
      message: { id, content, usage: { input_tokens: 10, output_tokens: 5 } },
      parent_tool_use_id: null,
    });
  speaks([{ type: "thinking", thinking: words }], "m1");
  speaks([{ type: "text", text: words }], "m2");
  speaks(
    [
      { type: "tool_use", id: "t1", name: "Bash", input: { command: words } },
      { type: "tool_use", id: "t2", name: "TodoWrite", input: { todos: [{ content: words }] } },
      { type: "tool_use", id: "t3", name: "Write", input: { file_path: "a.md", content: words } },
    ],
    "m3",
  );
  const results = [{ type: "tool_result", tool_use_id: "t1", content: words }];
  say({ type: "user", message: { content: results } });
  print("err", stderr);
  if (end === "crash") return 1;
  if (end === "limited") {
    const info = { status: "rejected", resetsAt: Date.parse(until) / 1000 };
    say({ type: "rate_limit_event", rate_limit_info: info });
    say({ type: "result", subtype: "success", is_error: true, result: limited });
    return 1;
  }
  say({
    type: "result",
    subtype: "success",
    is_error: false,
    result: words,
    structured_output: result,
    usage: { input_tokens: 30, output_tokens: 15 },
  });
  return 0;
};

const codex: Speak = async ({ end, result, words, stderr }, options, print) => {
  const say = (event: object): void => print("out", JSON.stringify(event));
  const item = (fields: object): void => {
    say({ type: "item.started", item: { id: "i", ...fields } });
    say({ type: "item.completed", item: { id: "i", ...fields } });
  };
  options.talk?.({ say: () => {}, hangUp: () => {} });
  say({ type: "thread.started", thread_id: "s-codex" });
  say({ type: "turn.started" });
  item({ type: "reasoning", text: words });
  item({ type: "agent_message", text: `I go on. ${words}` });
  item({
    type: "command_execution",
    command: `/bin/bash -lc 'echo ${words}'`,
    aggregated_output: words,
    exit_code: 0,
    status: "completed",
  });
  item({ type: "todo_list", items: [{ text: words, completed: false }] });
  item({ type: "web_search", query: words });
  item({ type: "error", message: words });
  print("err", stderr);
  if (end === "crash") return 1;
  if (end === "limited") {
    const message = limited;
    say({ type: "error", message });
    say({ type: "turn.failed", error: { message } });
    return 1;
  }
  // Nothing is optional there: what is not said is null.
  item({ type: "agent_message", text: JSON.stringify({ ...result, asks: null, reports: null }) });
  say({ type: "turn.completed", usage: { input_tokens: 40, output_tokens: 20 } });
  return 0;
};

/** A conversation: it answers what it is asked. */
const gemini: Speak = async ({ end, words, stderr }, options, print) => {
  const say = (message: object): void =>
    print("out", JSON.stringify({ jsonrpc: "2.0", ...message }));
  let code: number | undefined;
  const update = (fields: object): void =>
    say({ method: "session/update", params: { sessionId: "s-gemini", update: fields } });
  const text = (content: string): object => ({ type: "text", text: content });
  const work = (id: number): void => {
    update({ sessionUpdate: "agent_thought_chunk", content: text(words) });
    update({ sessionUpdate: "agent_message_chunk", content: text(words) });
    update({
      sessionUpdate: "tool_call",
      toolCallId: "t1",
      title: words,
      kind: "execute",
      status: "in_progress",
      content: [{ type: "content", content: text(words) }],
    });
    update({ sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed" });
    update({
      sessionUpdate: "plan",
      entries: [{ content: words, priority: "high", status: "pending" }],
    });
    update({ sessionUpdate: "agent_message_chunk", content: text(`\n${words}`) });
    print("err", stderr);
    code = end === "crash" ? 1 : 0;
    if (end === "crash") return;
    if (end === "limited") {
      say({ id, error: { code: 429, message: "Rate limit exceeded. Try again later." } });
    } else say({ id, result: { stopReason: "end_turn" } });
  };
  const hear = (line: string): void => {
    const { id, method } = JSON.parse(line) as { id: number; method?: string };
    if (method === "initialize") {
      const can = { mcpCapabilities: { http: true } };
      say({ id, result: { protocolVersion: 1, agentCapabilities: can } });
    } else if (method === "session/new") say({ id, result: { sessionId: "s-gemini" } });
    else if (method === "session/prompt") work(id);
    else if (id !== undefined && method !== undefined) say({ id, result: {} });
  };
  // What is said while something is heard comes after it, as it would through a pipe.
  const waiting: string[] = [];
  options.talk?.({ say: (line) => void waiting.push(line), hangUp: () => {} });
  for (let line = waiting.shift(); line !== undefined; line = waiting.shift()) hear(line);
  return code ?? 1;
};

const speakers: Readonly<Record<PuppetName, Speak>> = { script, claude, codex, gemini };
