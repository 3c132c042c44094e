import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../agent.ts";
import { mintTrusted } from "../exec.ts";
import { isEvent } from "../testing/agent-contract.ts";
import { createAcpDialect } from "./acp.ts";
import { type AcpProfile, acpProfileOf, acpProfiles } from "./acp-profiles.ts";
import type { Ask, Ending } from "./dialect.ts";

const plain: AcpProfile = { program: "agent", args: ["acp"] };
const ask: Ask = {
  prompt: "# The brief",
  schema: { type: "object" },
  cwd: "/srv/tree",
  scratch: "/srv/scratch",
  permission: "full",
  resultTool: { url: "http://127.0.0.1:5/token/mcp" },
};

interface Sent {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: { readonly code: number };
}

/** Both ends of a conversation, without a process. */
class Talk {
  readonly sent: Sent[] = [];
  readonly events: AgentEvent[] = [];
  ending: Ending | undefined;
  readonly #conversation;
  constructor(more: Partial<Ask> = {}, profile = plain) {
    this.#conversation = createAcpDialect(profile).converse({ ...ask, ...more });
    this.#keep(this.#conversation.begin().say);
  }
  #keep(lines: readonly string[] = []): void {
    this.sent.push(...lines.map((line) => JSON.parse(line) as Sent));
  }
  hear(line: string): this {
    const heard = this.#conversation.hear(line);
    this.events.push(...heard.events);
    this.ending ??= heard.ending;
    this.#keep(heard.say);
    return this;
  }
  say(message: object): this {
    return this.hear(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }
  /** An answer to what we asked last. */
  answer(result: object | null): this {
    return this.say({ id: this.last.id, result });
  }
  fail(code: number, message = "", data?: unknown): this {
    return this.say({ id: this.last.id, error: { code, message, data } });
  }
  update(update: object, sessionId = "s1"): this {
    return this.say({ method: "session/update", params: { sessionId, update } });
  }
  chunk(text: string, more: object = {}): this {
    const content = { type: "text", text };
    return this.update({ sessionUpdate: "agent_message_chunk", content, ...more });
  }
  interrupt(): this {
    this.#keep(this.#conversation.interrupt());
    return this;
  }
  get last(): Sent {
    return this.sent.at(-1) as Sent;
  }
  get methods(): (string | undefined)[] {
    return this.sent.map(({ method }) => method);
  }
}

const can = (more: object = {}): object => ({
  protocolVersion: 1,
  agentCapabilities: { loadSession: true, mcpCapabilities: { http: true }, ...more },
});
const opened = (more: Partial<Ask> = {}, profile = plain, session: object = {}): Talk =>
  new Talk(more, profile).answer(can()).answer({ sessionId: "s1", ...session });
const permissionFor = (toolCall: object, options: unknown = allOptions): object => ({
  id: "p",
  method: "session/request_permission",
  params: { sessionId: "s1", toolCall, options },
});
const allOptions = [
  { optionId: "1", kind: "reject_always" },
  { optionId: "2", kind: "allow_always" },
  { optionId: "3", kind: "reject_once" },
  { optionId: "4", kind: "allow_once" },
];
const selected = (optionId: string): object => ({ outcome: { outcome: "selected", optionId } });
const textOfPrompt = (talk: Talk): string => JSON.stringify(talk.last.params?.prompt);

describe("the way into a session", () => {
  it("offers no files and no terminal, and gives our tool along", () => {
    const talk = new Talk();
    expect(talk.last).toMatchObject({
      method: "initialize",
      params: {
        protocolVersion: 1,
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      },
    });
    talk.answer(can());
    expect(talk.last).toMatchObject({
      method: "session/new",
      params: {
        cwd: "/srv/tree",
        mcpServers: [{ type: "http", name: "autodev", url: ask.resultTool?.url, headers: [] }],
      },
    });
    talk.answer({ sessionId: "s1" });
    expect(talk.last).toMatchObject({ method: "session/prompt", params: { sessionId: "s1" } });
    expect(textOfPrompt(talk)).toMatch(/# The brief.*`submit_result`/);
  });

  it("tells the session before anything is asked of it", () => {
    const talk = opened({}, plain, {
      models: { currentModelId: "m-1", availableModels: [{ modelId: "m-1", name: "M 1" }] },
    });
    expect(talk.events).toEqual([{ type: "session", id: "s1", model: "M 1" }]);
  });

  it("asks for the result as text where our tool cannot be had", () => {
    const talk = new Talk().answer(can({ mcpCapabilities: {} }));
    expect(talk.last.params?.mcpServers).toEqual([]);
    talk.answer({ sessionId: "s1" });
    expect(textOfPrompt(talk)).toMatch(/a JSON object of this schema/);
    expect(textOfPrompt(talk)).not.toMatch(/submit_result/);
  });

  it("ends with another version of the protocol, and without a session", () => {
    expect(new Talk().answer({ protocolVersion: 2 }).ending?.trouble).toMatchObject({
      kind: "crash",
      text: "it speaks version 2 of ACP, not 1",
    });
    for (const protocolVersion of [{ toString: 1, valueOf: 1 }, "1", null]) {
      expect(new Talk().answer({ protocolVersion }).ending?.trouble?.kind).toBe("crash");
    }
    const endless = { sessionId: "x".repeat(5000) };
    expect(new Talk().answer(can()).answer(endless).ending?.trouble?.kind).toBe("crash");
    expect(new Talk().answer(can()).answer({}).ending?.trouble?.kind).toBe("crash");
    expect(new Talk().answer(can()).answer(null).ending?.trouble?.kind).toBe("crash");
  });

  describe("that was there before", () => {
    const resume = { session: "old", tokens: 10 };

    it("is without a look at the past, where that can be had", () => {
      const talk = new Talk({ resume }).answer(can({ sessionCapabilities: { resume: {} } }));
      expect(talk.last).toMatchObject({ method: "session/resume", params: { sessionId: "old" } });
      expect(talk.answer({}).last.params?.sessionId).toBe("old");
      expect(talk.events).toEqual([{ type: "session", id: "old" }]);
    });

    it("takes nothing for new that is history, but goes by its counters", () => {
      const talk = new Talk({ resume }).answer(can());
      expect(talk.last).toMatchObject({ method: "session/load", params: { sessionId: "old" } });
      const content = { type: "text", text: "said before" };
      const cost = { amount: 2, currency: "USD" };
      talk
        .update({ sessionUpdate: "agent_message_chunk", content }, "old")
        .update({ sessionUpdate: "tool_call", toolCallId: "1", title: "old" }, "old")
        .update({ sessionUpdate: "usage_update", used: 100, size: 1000, cost }, "old");
      talk.answer(null).update(
        {
          sessionUpdate: "usage_update",
          used: 130,
          size: 1000,
          cost: { amount: 2.5, currency: "USD" },
        },
        "old",
      );
      talk.answer({ stopReason: "end_turn" });
      expect(talk.events).toEqual([
        { type: "session", id: "old" },
        { type: "usage", tokens: 30, cost: 0.5 },
        expect.objectContaining({ type: "window" }),
      ]);
      expect(talk.ending).toEqual({ text: "" });
    });

    it("begins its counters where the first of them stands, when nobody said where they were", () => {
      const talk = new Talk({ resume }).answer(can()).answer({});
      const cost = (amount: number): object => ({ amount, currency: "USD" });
      talk
        .update({ sessionUpdate: "usage_update", used: 900, cost: cost(7) }, "old")
        .update({ sessionUpdate: "usage_update", used: 950, cost: cost(8) }, "old");
      expect(talk.events.slice(1)).toEqual([{ type: "usage", tokens: 50, cost: 1 }]);
    });

    it("is one anew for an agent that cannot go back", () => {
      const talk = new Talk({ resume }).answer(can({ loadSession: false }));
      expect(talk.last.method).toBe("session/new");
    });

    it.each<[number, string, unknown]>([
      [-32002, "Resource not found: old", undefined],
      [-32603, "Internal error", { details: "Invalid session identifier" }],
      [-32602, "Invalid params", undefined],
      [404, "not found", undefined],
    ])("is gone when it cannot be had (%s)", (code, message, data) => {
      const talk = new Talk({ resume }).answer(can()).fail(code, message, data);
      expect(talk.ending?.trouble?.kind).toBe("session_not_found");
    });

    it("is not gone when it is the login that is missing, or the service that is down", () => {
      const failing = (code: number, data?: unknown) =>
        new Talk({ resume }).answer(can()).fail(code, "", data).ending?.trouble;
      expect(failing(-32000)).toMatchObject({ kind: "auth" });
      expect(failing(-32603, { status: 503 })).toEqual({
        text: "error -32603",
        status: 503,
        fields: { status: 503 },
      });
    });
  });
});

describe("what is chosen before the prompt", () => {
  const offer = {
    modes: { currentModeId: "free", availableModes: [{ id: "free" }, { id: "ask" }] },
    configOptions: [
      {
        id: "the-model",
        category: "model",
        currentValue: "a",
        options: [{ name: "Group", options: [{ value: "a" }, { value: "b", name: "Model B" }] }],
      },
      { id: "the-mode", category: "mode", currentValue: "free", options: [{ value: "ask" }] },
    ],
  };
  const asking: AcpProfile = { ...plain, modes: { edit: "ask", full: "ask" } };

  it("is the model, by its id or its name, and the mode", () => {
    for (const model of ["b", "Model B"]) {
      const talk = opened({ model, permission: "edit" }, asking, offer);
      expect(talk.last).toMatchObject({
        method: "session/set_config_option",
        params: { sessionId: "s1", configId: "the-model", value: "b" },
      });
      talk.answer({ configOptions: [] });
      expect(talk.last).toMatchObject({ method: "session/set_mode", params: { modeId: "ask" } });
      expect(talk.answer({}).last.method).toBe("session/prompt");
    }
  });

  it("is nothing that is so already, or that is not offered", () => {
    expect(opened({ model: "a" }, plain, offer).last.method).toBe("session/prompt");
    expect(opened({ permission: "edit" }, asking).last.method).toBe("session/prompt");
  });

  it("is an option where there is no method for it, and a method where there is no option", () => {
    const { configOptions } = offer;
    const talk = opened({ permission: "edit" }, asking, { configOptions });
    expect(talk.last).toMatchObject({
      method: "session/set_config_option",
      params: { configId: "the-mode", value: "ask" },
    });
    const models = { currentModelId: "a", availableModels: [{ modelId: "a" }, { modelId: "b" }] };
    expect(opened({ model: "b" }, plain, { models }).last).toMatchObject({
      method: "session/set_model",
      params: { modelId: "b" },
    });
  });

  it("cannot be a model that is not offered", () => {
    expect(opened({ model: "c" }, plain, offer).ending?.trouble).toEqual({
      text: "it does not offer the model c, only: a, b",
      kind: "crash",
    });
  });

  it("must succeed, unless the agent may do everything anyway", () => {
    const failing = (permission: "edit" | "full") =>
      opened({ permission }, asking, offer).fail(-32603, "no such mode");
    expect(failing("full").last.method).toBe("session/prompt");
    expect(failing("edit").ending?.trouble?.text).toBe("no such mode");
  });
});

describe("how an agent is started", () => {
  const started = (profile: AcpProfile, more: Partial<Ask> = {}) =>
    createAcpDialect(profile).launch({ ...ask, ...more });

  it("is a matter of its profile, with the user's own arguments last", () => {
    expect(started(acpProfiles.gemini, { model: "m", args: ["--debug"] })).toMatchObject({
      program: "gemini",
      args: ["--acp", "--skip-trust", "--model=m", "--debug"],
    });
    expect(started(acpProfiles.goose, { model: "m" })).toEqual({
      program: "goose",
      args: ["acp"],
      env: { GOOSE_MODEL: "m" },
    });
    expect(started(acpProfiles.goose).env).toEqual({});
  });

  it("tells those no beforehand that would end over it", () => {
    expect(started(acpProfiles.copilot, { permission: "edit" }).args).toContain(
      "--deny-tool=shell",
    );
  });

  it("makes those mind it that would not ask", () => {
    const asked = (permission: "full" | "read-only") =>
      started(acpProfiles.opencode, { permission }).env?.OPENCODE_PERMISSION;
    expect(asked("full")).toBe(undefined);
    expect(asked("read-only")).toContain('"edit":"deny"');
  });

  it("is a command line of the user's for any other, as it was approved", () => {
    const shell = mintTrusted("exec my-agent --acp");
    expect(started(acpProfileOf(shell), { model: "m" }).shell).toBe(shell);
  });
});

describe("the turn", () => {
  it("gathers the chunks of a message into one text", () => {
    const talk = opened()
      .chunk("Hel")
      .chunk("lo")
      .update({
        sessionUpdate: "agent_thought_chunk",
        content: { type: "text", text: "hm" },
      });
    talk.chunk("a", { messageId: "1" }).chunk("b", { messageId: "2" });
    talk.answer({ stopReason: "end_turn" });
    expect(talk.events.slice(1)).toEqual([
      { type: "text", text: "Hello" },
      { type: "thought", text: "hm" },
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ]);
    expect(talk.ending).toEqual({ text: "b" });
  });

  it("tells of a tool when it begins and when it ends, with what was learned in between", () => {
    const talk = opened();
    const call = (more: object, sessionUpdate = "tool_call_update"): Talk =>
      talk.update({ sessionUpdate, toolCallId: "1", ...more });
    call({ title: "write", kind: "edit", status: "pending" }, "tool_call");
    call({ status: "in_progress", title: "Writing /srv/tree/src/a.ts" });
    const path = "/srv/tree/src/a.ts";
    call({ content: [{ type: "diff", path, oldText: null, newText: "a" }] });
    call({ status: "completed" });
    call({ status: "completed", title: "late" });
    expect(talk.events.slice(1)).toEqual([
      { type: "tool", name: "edit", what: "write", state: "started" },
      { type: "tool", name: "edit", what: "Writing src/a.ts", state: "done" },
      { type: "file", path: "src/a.ts", change: "create" },
    ]);
  });

  it("says of a file that failed to change nothing, and leaves one outside where it is", () => {
    const talk = opened();
    const call = (toolCallId: string, status: string, path: string): Talk =>
      talk.update({
        sessionUpdate: "tool_call",
        toolCallId,
        kind: "edit",
        status,
        content: [{ type: "diff", path, oldText: "a", newText: "b" }],
      });
    call("1", "failed", "/srv/tree/a");
    call("2", "completed", "/srv/other/b");
    expect(talk.events.slice(1)).toEqual([
      { type: "tool", name: "edit", what: "", state: "started" },
      { type: "tool", name: "edit", what: "", state: "failed" },
      { type: "tool", name: "edit", what: "", state: "started" },
      { type: "tool", name: "edit", what: "", state: "done" },
      { type: "file", path: "/srv/other/b", change: "modify" },
    ]);
  });

  it("tells plans and notices", () => {
    const entries = [
      { content: "One", status: "completed", priority: "high" },
      { content: "Two", status: "pending", priority: "low" },
    ];
    const talk = opened().update({ sessionUpdate: "plan", entries }).update({
      sessionUpdate: "notice",
      severity: "warning",
      title: "Slow",
      description: "today",
    });
    expect(talk.events.slice(1)).toEqual([
      {
        type: "plan",
        steps: [
          { text: "One", done: true },
          { text: "Two", done: false },
        ],
      },
      { type: "text", text: "Slow: today" },
    ]);
  });

  it("counts what the context has grown by and what it cost; the answer sets it right", () => {
    const talk = opened();
    const usage = (used: number, amount: number, currency = "USD"): Talk =>
      talk.update({ sessionUpdate: "usage_update", used, size: 9, cost: { amount, currency } });
    usage(100, 1);
    usage(100, 1);
    usage(150, 1.5);
    usage(20, 1.5);
    usage(50, 9, "EUR");
    talk.answer({ stopReason: "end_turn", usage: { totalTokens: 500 } });
    expect(talk.events.slice(1).filter(({ type }) => type === "usage")).toEqual([
      { type: "usage", tokens: 100, cost: 1 },
      { type: "usage", tokens: 50, cost: 0.5 },
      { type: "usage", tokens: 30 },
      { type: "usage", tokens: 320 },
    ]);
    // And how full it is, each time.
    expect(talk.events.filter(({ type }) => type === "window")).toEqual(
      [100, 100, 150, 20, 50].map((used) => ({ type: "window", used, size: 9 })),
    );
  });

  it("knows how Gemini says what it has used, and which model it was", () => {
    const quota = {
      token_count: { input_tokens: 50, output_tokens: 5 },
      model_usage: [{ model: "gemini-x" }],
    };
    const talk = opened().answer({ stopReason: "end_turn", _meta: { quota } });
    expect(talk.events.at(-1)).toEqual({ type: "usage", tokens: 55 });
    expect(talk.ending?.model).toBe("gemini-x");
  });

  it("ignores what it does not know, and the sessions of others", () => {
    const talk = opened()
      .update({ sessionUpdate: "available_commands_update", availableCommands: [] })
      .update({ sessionUpdate: "of_the_future", content: {} })
      .say({ method: "notifications/of_the_future" })
      .say({ id: 999, result: { stopReason: "end_turn" } });
    talk.update(
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "x" } },
      "s2",
    );
    talk.answer({ stopReason: "end_turn" });
    expect(talk.events).toEqual([{ type: "session", id: "s1" }]);
  });

  it("answers whatever it is asked for that it does not know", () => {
    const talk = opened();
    for (const method of ["fs/read_text_file", "terminal/create", "x/y", "__proto__"]) {
      talk.say({ id: method, method, params: {} });
      expect(talk.last).toMatchObject({ id: method, error: { code: -32601 } });
    }
  });

  it("tolerates what comes after its end", () => {
    const talk = opened().answer({ stopReason: "end_turn" }).chunk("late");
    talk.say(permissionFor({ toolCallId: "1", kind: "edit" }));
    expect(talk.last.result).toEqual({ outcome: { outcome: "cancelled" } });
    expect(talk.events.length).toBe(1);
  });

  it("is left off by a word, but not before it began", () => {
    expect(new Talk().interrupt().methods).toEqual(["initialize"]);
    const talk = opened().interrupt().interrupt();
    expect(talk.last).toMatchObject({ method: "session/cancel", params: { sessionId: "s1" } });
    expect(talk.methods.filter((method) => method === "session/cancel").length).toBe(1);
    talk.say(permissionFor({ toolCallId: "1", kind: "edit" }));
    expect(talk.last.result).toEqual({ outcome: { outcome: "cancelled" } });
    talk.say({ id: 3, result: { stopReason: "cancelled" } });
    expect(talk.ending).toEqual({ text: "", cancelled: true });
  });
});

describe("how a turn ends", () => {
  it.each([
    ["end_turn", undefined],
    ["of_the_future", undefined],
    ["refusal", "refusal"],
    ["max_tokens", "turn_limit"],
    ["max_turn_requests", "turn_limit"],
  ])("%s: %s", (stopReason, kind) => {
    const { ending } = opened().chunk("No.").answer({ stopReason });
    expect(ending?.text).toBe("No.");
    expect(ending?.trouble?.kind).toBe(kind);
  });

  it.each<[string, number, string, unknown, Partial<NonNullable<Ending["trouble"]>>]>([
    ["nobody is logged in", -32000, "Authentication required", undefined, { kind: "auth" }],
    ["a number that is used for anything", -32000, "Rate limit reached", undefined, {}],
    ["Gemini's own numbers", 401, "API key not valid", undefined, { status: 401 }],
    [
      "a kind",
      -32603,
      "Internal error",
      { errorKind: "rate_limit", details: "slow down" },
      { kind: "rate_limit", text: "Error: slow down" },
    ],
    ["a kind that is none", -32603, "x", { errorKind: "constructor" }, {}],
    [
      "a status and headers",
      -32603,
      "failed",
      { statusCode: 429, responseHeaders: { "Retry-After": "60", Other: {} } },
      { status: 429, fields: { statuscode: 429, "retry-after": "60" } },
    ],
    [
      "an error within",
      -32603,
      "failed",
      { error: { message: "overloaded", code: 529 } },
      { status: 529, text: "failed: overloaded" },
    ],
    ["only a text", -32603, "Internal error", "429 Too Many Requests", {}],
    [
      "a status before what was said",
      -32603,
      "Internal error",
      { details: "401 no" },
      { status: 401, text: "Error: 401 no" },
    ],
    ["only a name", -32603, "Internal error", undefined, { text: "error -32603" }],
    ["nothing at all", 0, "", null, { text: "error 0" }],
  ])("with an error: %s", (_, code, message, data, trouble) => {
    const talk = opened().chunk("before").fail(code, message, data);
    expect(talk.events.at(-1)).toEqual({ type: "text", text: "before" });
    expect(talk.ending?.text).toBe("before");
    expect(talk.ending?.trouble).toMatchObject(trouble);
    if (!("kind" in trouble)) expect(talk.ending?.trouble?.kind).toBe(undefined);
  });

  it("with an error that is its whole answer, and seems to be one", () => {
    const copilot = (text: string) =>
      opened({}, acpProfiles.copilot).chunk(text).answer({ stopReason: "end_turn" }).ending;
    const denied =
      "Error: Authentication failed with provider at http://x/v1 (HTTP 401).\n  Check …";
    expect(copilot(denied)).toEqual({ text: denied, seeming: { text: denied, status: 401 } });
    const down =
      "Error: Failed to get response from the AI model; retried 5 times Last error: 500 x";
    expect(copilot(down)?.seeming).toEqual({ text: down, status: 500 });
    expect(copilot("The API answers Error: x (HTTP 401).")?.seeming).toBe(undefined);
    const goose = opened({}, acpProfiles.goose)
      .chunk("Ran into this error: Server error (500 I")
      .answer({
        stopReason: "end_turn",
      });
    expect(goose.ending?.seeming?.status).toBe(500);
  });

  it("after tries that were told as if they were answers", () => {
    const talk = opened({}, acpProfiles.copilot)
      .chunk("I begin.")
      .chunk("Info: Request failed due to a transient API error. Retrying...")
      .chunk("Error: no (HTTP 401)")
      .answer({ stopReason: "end_turn" });
    expect(talk.events.slice(1)).toEqual([
      { type: "text", text: "I begin." },
      { type: "retry", why: "Info: Request failed due to a transient API error. Retrying..." },
      { type: "text", text: "Error: no (HTTP 401)" },
    ]);
    expect(talk.ending?.text).toBe("Error: no (HTTP 401)");
  });
});

describe("who asks whether he may", () => {
  const answered = (permitted: Ask["permission"], toolCall: object, options?: unknown): unknown =>
    opened({ permission: permitted }).say(permissionFor({ toolCallId: "1", ...toolCall }, options))
      .last.result;
  const [yes, no] = [selected("4"), selected("3")];

  it.each<[Ask["permission"], readonly string[], readonly string[]]>([
    ["full", ["read", "edit", "execute", "fetch", "other", "switch_mode", "of_the_future"], []],
    [
      "edit",
      ["read", "search", "think", "edit", "delete", "move"],
      ["execute", "fetch", "other", "of_the_future"],
    ],
    [
      "read-only",
      ["read", "search", "think"],
      ["edit", "delete", "move", "execute", "fetch", "other"],
    ],
  ])("may, when it is %s: %j, and not %j", (permitted, allowed, denied) => {
    for (const kind of allowed) expect(answered(permitted, { kind })).toEqual(yes);
    for (const kind of denied) expect(answered(permitted, { kind })).toEqual(no);
  });

  it("may always hand in the result, whatever the agent calls our tool", () => {
    for (const title of [
      "submit_result",
      "submit_result (autodev MCP Server)",
      "autodev: submit result",
      "autodev-submit_result",
      "autodev_submit_result",
      "mcp__autodev__submit_result",
      "Tool: autodev/submit_result",
    ]) {
      expect(answered("read-only", { kind: "other", title })).toEqual(yes);
      expect(answered("read-only", { title })).toEqual(yes);
    }
  });

  it("may nothing because of a title", () => {
    for (const [kind, title] of [
      ["execute", "submit_result"],
      ["edit", "submit_result"],
      ["other", "drop_table: submit_result"],
      ["other", "rm -rf / # submit_result"],
      ["other", "submit_results_elsewhere"],
      ["execute", "read"],
    ]) {
      expect(answered("read-only", { kind, title })).toEqual(no);
    }
  });

  it("is known by what was told of the tool before", () => {
    const talk = opened({ permission: "edit" });
    talk.update({ sessionUpdate: "tool_call", toolCallId: "1", kind: "execute", title: "ls" });
    talk.say(permissionFor({ toolCallId: "1" }));
    expect(talk.last.result).toEqual(no);
    expect(talk.events.slice(1)).toEqual([
      { type: "tool", name: "execute", what: "ls", state: "started" },
      { type: "permission", tool: "execute", what: "ls", allowed: false },
    ]);
  });

  it("is known by the title where the agent says no kind, and its profile does", () => {
    const kinds = (title: string, permission: Ask["permission"]): unknown =>
      opened({ permission }, acpProfiles.goose).say(
        permissionFor({ toolCallId: "1", kind: "other", title }),
      ).last.result;
    expect(kinds("write · a.txt", "edit")).toEqual(yes);
    expect(kinds("write · a.txt", "read-only")).toEqual(no);
    expect(kinds("tree · write · a", "read-only")).toEqual(yes);
    expect(kinds("shell · write · a", "edit")).toEqual(no);
    expect(kinds("database: write · a", "edit")).toEqual(no);
  });

  it("is answered by kinds of options, and broken off when none is there", () => {
    expect(answered("full", {}, [{ optionId: "x", kind: "allow_always" }])).toEqual(selected("x"));
    expect(answered("read-only", {}, [{ optionId: "x", kind: "reject_always" }])).toEqual(
      selected("x"),
    );
    const broken = { outcome: { outcome: "cancelled" } };
    for (const options of [[], null, "x", [{ optionId: "allow", kind: "of_the_future" }], [null]]) {
      expect(answered("full", {}, options)).toEqual(broken);
    }
  });
});

describe("lines of every kind", () => {
  const hostile = [
    "",
    "   ",
    "null",
    "[]",
    "{",
    '{"jsonrpc":"2.0"}',
    '{"id":1}',
    '{"id":{},"result":{}}',
    '{"id":[1],"method":5}',
    '{"id":3,"result":"text"}',
    '{"id":3,"error":"text"}',
    '{"method":"session/update"}',
    '{"method":"session/update","params":[1]}',
    '{"method":"session/update","params":{"sessionId":"s1"}}',
    '{"id":1,"method":"session/request_permission","params":{"options":{"length":5}}}',
    '{"id":null,"method":"session/request_permission"}',
    '{"__proto__":{"polluted":1},"method":"session/update","params":{"__proto__":{"polluted":1}}}',
    '{"id":3,"error":{"code":"x","message":{},"data":{"__proto__":{"polluted":1},"headers":{"__proto__":"x"},"errorKind":"__proto__"}}}',
    "  __( O)>  goose is ready",
    "\u0000\u001b[2J",
    `{"method":"session/update","params":${"[".repeat(5000)}${"]".repeat(5000)}}`,
  ];
  const updates = [
    null,
    5,
    "x",
    [],
    { sessionUpdate: {} },
    { sessionUpdate: "agent_message_chunk" },
    { sessionUpdate: "agent_message_chunk", content: "x" },
    { sessionUpdate: "agent_message_chunk", content: { type: "text", text: 5 } },
    { sessionUpdate: "agent_message_chunk", content: { type: "image", data: "x" } },
    { sessionUpdate: "tool_call" },
    { sessionUpdate: "tool_call", toolCallId: {}, title: "x" },
    { sessionUpdate: "tool_call", toolCallId: "__proto__", title: {}, kind: 5, status: [] },
    {
      sessionUpdate: "tool_call",
      toolCallId: "2",
      locations: "x",
      content: [null, { type: "diff" }],
    },
    { sessionUpdate: "tool_call", toolCallId: "3", content: [{ type: "diff", path: 5 }] },
    { sessionUpdate: "plan", entries: "x" },
    { sessionUpdate: "plan", entries: [null, { content: 5, status: {} }] },
    { sessionUpdate: "usage_update", used: "many", cost: { amount: "x" } },
    { sessionUpdate: "usage_update", used: -5, cost: { amount: -1 } },
    { sessionUpdate: "usage_update", used: 1e308, cost: 5 },
    { sessionUpdate: "notice", title: {} },
  ];

  it("do no harm, at any point of a conversation", () => {
    const dialect = createAcpDialect(plain);
    const lines = [
      ...hostile,
      ...updates.map((update) =>
        JSON.stringify({ method: "session/update", params: { sessionId: "s1", update } }),
      ),
    ];
    const stages: (() => Talk)[] = [
      () => new Talk(),
      () => new Talk().answer(can()),
      () => new Talk({ resume: { session: "s1", tokens: 1 } }).answer(can()),
      () => opened(),
      () => opened().interrupt(),
      () => opened().answer({ stopReason: "end_turn" }),
    ];
    for (const stage of stages) {
      const all = stage();
      for (const line of lines) {
        const talk = stage().hear(line);
        all.hear(line);
        expect(
          [...talk.events, ...all.events, ...dialect.translate(line)].filter(
            (each) => !isEvent(each),
          ),
        ).toEqual([]);
      }
    }
    expect(({} as { polluted?: unknown }).polluted).toBe(undefined);
  });

  it("before the first that is JSON-RPC are nothing", () => {
    const talk = new Talk().hear("a banner").hear('{"level":"info"}').answer(can());
    expect(talk.last.method).toBe("session/new");
  });

  it("of any length and number keep nothing growing", () => {
    const talk = opened();
    for (let index = 0; index < 3000; index++) {
      talk.update({ sessionUpdate: "tool_call", toolCallId: `${index}`, title: "x".repeat(5000) });
    }
    talk.update({ sessionUpdate: "tool_call_update", toolCallId: "2999", status: "completed" });
    expect(talk.events.every((event) => JSON.stringify(event).length < 400)).toBe(true);
    expect(talk.events.at(-1)).toMatchObject({ state: "done" });
  });
});

describe("a line of a transcript", () => {
  const { translate } = createAcpDialect(plain);
  const shown = (update: object): readonly AgentEvent[] =>
    translate(JSON.stringify({ method: "session/update", params: { sessionId: "s", update } }));

  it("shows what it says by itself", () => {
    expect(translate('{"id":2,"result":{"sessionId":"s1"}}')).toEqual([
      { type: "session", id: "s1" },
    ]);
    const content = { type: "text", text: "Hello" };
    expect(shown({ sessionUpdate: "agent_message_chunk", content })).toEqual([
      { type: "text", text: "Hello" },
    ]);
    expect(
      shown({ sessionUpdate: "tool_call", toolCallId: "1", title: "ls", kind: "execute" }),
    ).toEqual([{ type: "tool", name: "execute", what: "ls", state: "started" }]);
  });

  it("is a piece of a message, leaves one open, or ends it", () => {
    const { pieceIn } = createAcpDialect(plain);
    const line = (update: object): string =>
      JSON.stringify({
        jsonrpc: "2.0",
        method: "session/update",
        params: { sessionId: "s", update },
      });
    const chunk = (text: string, kind = "message"): string =>
      line({ sessionUpdate: `agent_${kind}_chunk`, content: { type: "text", text } });
    const [one, other] = [pieceIn?.(chunk("Hel")), pieceIn?.(chunk("Hm", "thought"))];
    if (one?.is !== "part" || other?.is !== "part") throw new Error("they are parts");
    expect(one.text).toBe("Hel");
    expect(JSON.parse(one.saying("lo"))).toEqual(JSON.parse(chunk("lo")));
    expect(other.of).not.toBe(one.of);
    expect(pieceIn?.(line({ sessionUpdate: "usage_update", used: 5 }))).toEqual({ is: "beside" });
    for (const last of [
      line({ sessionUpdate: "tool_call", title: "ls" }),
      '{"id":1,"result":{}}',
      "x",
    ])
      expect(pieceIn?.(last)).toBeUndefined();
  });

  it("shows nothing of what only the lines before it could explain", () => {
    expect(
      shown({ sessionUpdate: "tool_call_update", toolCallId: "1", status: "completed" }),
    ).toEqual([]);
    expect(shown({ sessionUpdate: "usage_update", used: 5, size: 9 })).toEqual([]);
    for (const line of ['{"stderr":"x"}', "x", '{"id":1,"error":{"code":1}}']) {
      expect(translate(line)).toEqual([]);
    }
  });
});
