import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../agent.ts";
import { claude } from "./claude.ts";
import type { Ask, Ending, Permission } from "./dialect.ts";

const ask: Ask = {
  prompt: "# The brief\n",
  schema: { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object" },
  cwd: "/srv/tree",
  scratch: "/srv/scratch",
  permission: "full",
};
const argsOf = (more: Partial<Ask> = {}): readonly string[] =>
  claude.launch({ ...ask, ...more }).args;
const valueOf = (option: string, args: readonly string[]): string | undefined =>
  args.find((arg) => arg.startsWith(`${option}=`))?.slice(option.length + 1);

interface Heard {
  readonly events: readonly AgentEvent[];
  readonly said: readonly string[];
  readonly ending: Ending | undefined;
}

function heard(lines: readonly (string | object)[], more: Partial<Ask> = {}): Heard {
  const talk = claude.converse({ ...ask, ...more });
  const all = lines.map((line) =>
    talk.hear(typeof line === "string" ? line : JSON.stringify(line)),
  );
  return {
    events: all.flatMap(({ events }) => events),
    said: all.flatMap(({ say }) => say ?? []),
    ending: all.find(({ ending }) => ending)?.ending,
  };
}

/** What the real program printed, as e2e/record.ts wrote it down. */
const recorded = (name: string): Heard =>
  heard(
    fs
      .readFileSync(
        path.join(import.meta.dirname, `../../e2e/recorded/claude/${name}.jsonl`),
        "utf8",
      )
      .split("\n")
      .slice(1)
      .filter((line) => !/^\{"std(?:in|err)":/.test(line)),
  );
const of = (type: AgentEvent["type"], { events }: Heard): readonly AgentEvent[] =>
  events.filter((event) => event.type === type);

describe("how Claude is started", () => {
  it("speaks lines of JSON both ways and is never told the brief by its arguments", () => {
    const args = argsOf();
    expect(args).toContain("-p");
    expect(valueOf("--input-format", args)).toBe("stream-json");
    expect(valueOf("--output-format", args)).toBe("stream-json");
    expect(valueOf("--permission-prompt-tool", args)).toBe("stdio");
    expect(args.join(" ")).not.toContain("The brief");
    expect(claude.converse(ask).begin()).toEqual({
      say: [expect.stringContaining("# The brief\\n")],
    });
  });

  it("gets a schema that does not say of which draft it is", () => {
    expect(valueOf("--json-schema", argsOf())).toBe('{"type":"object"}');
  });

  it("gets a model, a budget, a session and the user's own arguments, when there are any", () => {
    const args = argsOf({
      model: "opus",
      maxCost: 1.5,
      resume: { session: "s-1", tokens: 5 },
      args: ["--effort", "high"],
    });
    expect(valueOf("--model", args)).toBe("opus");
    expect(valueOf("--max-budget-usd", args)).toBe("1.5");
    expect(valueOf("--resume", args)).toBe("s-1");
    expect(args.slice(-2)).toEqual(["--effort", "high"]);
    for (const option of ["--model", "--max-budget-usd", "--resume"]) {
      expect(valueOf(option, argsOf())).toBe(undefined);
    }
  });

  it("is offered only the tools that its permission covers", () => {
    expect(valueOf("--tools", argsOf())).toBe(undefined);
    const edit = valueOf("--tools", argsOf({ permission: "edit" }))?.split(",");
    expect(edit).toContain("Write");
    expect(edit).not.toContain("Bash");
    const reading = valueOf("--tools", argsOf({ permission: "read-only" }))?.split(",");
    expect(reading).toContain("Read");
    expect(reading).not.toContain("Edit");
    expect(reading).not.toContain("Write");
  });

  it("has no tool that waits for a person", () => {
    expect(valueOf("--disallowedTools", argsOf())?.split(",")).toContain("AskUserQuestion");
  });

  it("leaves how often it tries again to the user", () => {
    const { env, defaults } = claude.launch(ask);
    expect(defaults).toEqual({ CLAUDE_CODE_MAX_RETRIES: "2" });
    expect(env).toHaveProperty("CLAUDECODE", undefined);
  });
});

describe("what Claude does", () => {
  it("is told from its first word to its result", () => {
    const work = recorded("edit-and-result");
    expect(work.events[0]).toEqual({
      type: "session",
      id: "00000000-0000-4000-8000-000000000001",
      model: "claude-opus-5-5",
    });
    expect(of("tool", work)).toEqual([
      { type: "tool", name: "Write", what: "hello.txt", state: "started" },
      { type: "tool", name: "Write", what: "hello.txt", state: "done" },
      { type: "tool", name: "Bash", what: "cat hello.txt", state: "started" },
      { type: "tool", name: "Bash", what: "cat hello.txt", state: "done" },
    ]);
    expect(work.ending).toMatchObject({
      structured: { status: "complete" },
      model: "claude-opus-5-5",
    });
    expect(work.ending?.trouble).toBe(undefined);
  });

  it("shows thoughts, plans and what its tools are about", () => {
    const use = (name: string, input: object): object => ({
      type: "assistant",
      message: { content: [{ type: "tool_use", id: name, name, input }] },
    });
    const { events } = heard([
      { type: "assistant", message: { content: [{ type: "thinking", thinking: "hm" }] } },
      use("TodoWrite", {
        todos: [
          { content: "One", status: "completed" },
          { content: "Two", status: "in_progress" },
        ],
      }),
      use("Bash", { command: "npm test\nnpm run lint", description: "Tests" }),
      use("Grep", { pattern: "foo", path: "/srv/tree/src" }),
      use("Read", { file_path: "/srv/tree/src/a.ts" }),
      use("Read", { file_path: "/srv/treehouse/a.ts" }),
      use("WebFetch", { url: "https://example.org", prompt: "x" }),
      use("mcp__x__y", {}),
      {
        type: "user",
        message: { content: [{ type: "tool_result", tool_use_id: "Bash", is_error: true }] },
      },
    ]);
    const tool = (name: string, what: string, state = "started"): object => ({
      type: "tool",
      name,
      what,
      state,
    });
    expect(events).toEqual([
      { type: "thought", text: "hm" },
      {
        type: "plan",
        steps: [
          { text: "One", done: true },
          { text: "Two", done: false },
        ],
      },
      tool("Bash", "npm test"),
      tool("Grep", "foo"),
      tool("Read", "src/a.ts"),
      tool("Read", "/srv/treehouse/a.ts"),
      tool("WebFetch", "https://example.org"),
      tool("mcp__x__y", ""),
      tool("Bash", "npm test", "failed"),
    ]);
  });

  it("tells when it tries again by itself", () => {
    expect(of("retry", recorded("status-429-then-well"))[0]).toMatchObject({
      type: "retry",
      why: "API error 429: rate_limit",
      delayMs: expect.any(Number),
    });
  });

  it("tells what it was not allowed, when nobody could be asked", () => {
    expect(of("permission", recorded("permission-nobody-to-ask"))).toEqual([
      { type: "permission", tool: "Write", what: "asked.txt", allowed: false },
    ]);
  });

  it("can be told line by line, without what came before", () => {
    expect(
      claude.translate('{"type":"assistant","message":{"content":[{"type":"text","text":"Hi"}]}}'),
    ).toEqual([{ type: "text", text: "Hi" }]);
    expect(claude.translate('{"type":"control_request","request_id":"1"}')).toEqual([]);
  });
});

describe("what Claude has used", () => {
  const total = (events: readonly AgentEvent[]): { tokens: number; cost: number } => {
    const usage = events.filter((event) => event.type === "usage");
    return {
      tokens: usage.reduce((sum, { tokens }) => sum + tokens, 0),
      cost: usage.reduce((sum, { cost = 0 }) => sum + cost, 0),
    };
  };

  it("adds up to what its result says, and is told before that", () => {
    const { events } = recorded("edit-and-result");
    expect(total(events)).toEqual({ tokens: 3150, cost: 0.015 });
    expect(total(events.slice(0, -1)).tokens).toBeGreaterThan(0);
  });

  it("counts no session twice when it is resumed", () => {
    // Of the 5250 tokens and 0.025 dollars of the session, the rest was used before.
    expect(total(recorded("resume").events)).toEqual({ tokens: 2100, cost: 0.01 });
  });

  const result = { type: "result", subtype: "success", is_error: false, result: "" };
  it("is the whole of a result of an older version", () => {
    const { events } = heard([
      { ...result, total_cost_usd: 0.5, usage: { input_tokens: 10, output_tokens: 5 } },
    ]);
    expect(events).toEqual([{ type: "usage", tokens: 15, cost: 0.5 }]);
  });

  it("is what came since the last result in a newer one", () => {
    const { events } = heard([
      {
        ...result,
        total_cost_usd: 0.5,
        usage: { input_tokens: 1000 },
        model_usage_since_last_result: {
          a: { inputTokens: 10, cacheReadInputTokens: 100, outputTokens: 5, costUSD: 0.25 },
          b: { inputTokens: 1, costUSD: 0.125 },
        },
      },
    ]);
    expect(events).toEqual([{ type: "usage", tokens: 116, cost: 0.375 }]);
  });
});

describe("what Claude may do", () => {
  const request = (tool: string, input: object = {}): object => ({
    type: "control_request",
    request_id: "r-1",
    request: { subtype: "can_use_tool", tool_name: tool, input },
  });
  const answered = (permission: Permission, tool: string, input: object = {}): unknown =>
    heard([request(tool, input)], { permission }).said.map(
      (line) => JSON.parse(line).response.response.behavior as string,
    )[0];

  it.each([
    ["full", "Bash", { command: "make" }, "allow"],
    ["full", "Write", { file_path: "/elsewhere/a" }, "allow"],
    ["full", "mcp__db__drop", {}, "allow"],
    ["full", "AskUserQuestion", {}, "deny"],
    ["edit", "Write", { file_path: "/srv/tree/src/a.ts" }, "allow"],
    ["edit", "Read", { file_path: "/elsewhere/a" }, "allow"],
    ["edit", "Write", { file_path: "/srv/other/a.ts" }, "deny"],
    ["edit", "Write", { file_path: "/srv/tree/../other/a.ts" }, "deny"],
    ["edit", "Write", { file_path: "/srv/treehouse/a.ts" }, "deny"],
    ["edit", "Write", {}, "deny"],
    ["edit", "Bash", { command: "ls" }, "deny"],
    ["edit", "mcp__db__drop", {}, "deny"],
    ["read-only", "Read", { file_path: "/srv/tree/a" }, "allow"],
    ["read-only", "Write", { file_path: "/srv/tree/a" }, "deny"],
    ["read-only", "Bash", { command: "ls" }, "deny"],
    ["read-only", "", {}, "deny"],
  ] as const)("%s: %s %j: %s", (permission, tool, input, behavior) => {
    expect(answered(permission, tool, input)).toBe(behavior);
  });

  it("is answered with what it asked, by its number, and told", () => {
    const { said, events } = recorded("permission-allowed");
    expect(said.map((line) => JSON.parse(line))).toEqual([
      {
        type: "control_response",
        response: {
          subtype: "success",
          request_id: "00000000-0000-4000-8000-000000000004",
          response: {
            behavior: "allow",
            updatedInput: { file_path: "/srv/tree/asked.txt", content: "asked\n" },
          },
        },
      },
    ]);
    expect(events).toContainEqual({
      type: "permission",
      tool: "Write",
      what: "asked.txt",
      allowed: true,
    });
  });

  it("is not given back what was masked on its way to us", () => {
    const { said } = heard([request("Bash", { command: "psql postgres://me:[masked]@db" })]);
    expect(said.map((line) => JSON.parse(line).response.response)).toEqual([{ behavior: "allow" }]);
  });

  it("is not left waiting by a question that we do not know", () => {
    const { said } = heard([
      { type: "control_request", request_id: "r-2", request: { subtype: "elicitation" } },
    ]);
    expect(said.map((line) => JSON.parse(line).response)).toEqual([
      { request_id: "r-2", subtype: "error", error: expect.any(String) },
    ]);
  });

  it("is not allowed what is nested without end", () => {
    const deep = "[".repeat(50_000) + "]".repeat(50_000);
    const line = JSON.stringify(request("Bash", { x: "DEEP" })).replace('"DEEP"', deep);
    expect(heard([line]).said).toEqual([expect.stringContaining('"deny"')]);
  });
});

describe("how Claude ends", () => {
  it.each([
    ["status-401", { kind: "auth", status: 401 }],
    ["not-logged-in", { kind: "auth" }],
    ["status-429", { status: 429 }],
    ["usage-limit", { kind: "usage_limit", status: 429, until: "2033-05-18T03:33:20.000Z" }],
    ["status-529", { kind: "overloaded", status: 529 }],
    ["status-500", { kind: "server", status: 500 }],
    ["connection-dropped", { kind: "network" }],
    ["model-out-of-reach", { kind: "network" }],
    ["context-overflow", { kind: "context", status: 400 }],
    ["refusal", { kind: "refusal" }],
    ["max-turns", { kind: "turn_limit" }],
    ["max-budget", { kind: "budget" }],
    ["unknown-session", { kind: "session_not_found" }],
  ])("in trouble, as the real one did: %s", (name, trouble) => {
    const { ending } = recorded(name);
    expect(ending?.trouble).toMatchObject(trouble);
    expect(ending?.trouble?.text).not.toBe("");
    expect(ending).not.toHaveProperty("structured");
  });

  it("leaves it to the text which kind of limit it was, when nothing else says so", () => {
    expect(recorded("status-429").ending?.trouble).not.toHaveProperty("kind");
  });

  it("takes a warning about a limit for nothing", () => {
    expect(recorded("usage-limit-near").ending).not.toHaveProperty("trouble");
  });

  it("takes a limit for nothing that did not keep it from its work", () => {
    const limit = { type: "rate_limit_event", rate_limit_info: { status: "rejected" } };
    const done = { type: "result", is_error: false, result: "{}", structured_output: { a: 1 } };
    expect(heard([limit, done]).ending).toEqual({ text: "{}", structured: { a: 1 } });
  });

  it("knows a limit in an answer that is none", () => {
    const limit = {
      type: "rate_limit_event",
      rate_limit_info: { status: "rejected", resetsAt: 2_000_000_000 },
    };
    const said = { type: "result", is_error: false, result: "You've hit your limit" };
    expect(heard([limit, said]).ending?.trouble).toMatchObject({
      kind: "usage_limit",
      until: "2033-05-18T03:33:20.000Z",
    });
  });

  it.each(["interrupted-by-control", "sigint-in-tool"])(
    "says that it was told to leave off: %s",
    (name) => {
      expect(recorded(name).ending).toMatchObject({ cancelled: true });
    },
  );

  it("has said no last word when it was killed", () => {
    expect(recorded("sigterm-in-tool").ending).toBe(undefined);
    expect(recorded("model-hangs-sigterm").ending).toBe(undefined);
  });

  it("may have only words instead of a result", () => {
    const { ending } = recorded("text-instead-of-result");
    expect(ending).toMatchObject({ text: expect.any(String) });
    expect(ending).not.toHaveProperty("structured");
    expect(ending).not.toHaveProperty("trouble");
  });

  it("is asked to leave off in its own words", () => {
    expect(
      claude
        .converse(ask)
        .interrupt()
        .map((line) => JSON.parse(line)),
    ).toEqual([
      {
        type: "control_request",
        request_id: expect.any(String),
        request: { subtype: "interrupt" },
      },
    ]);
  });
});
