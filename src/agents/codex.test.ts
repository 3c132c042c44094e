import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../agent.ts";
import { AgentResult, resultSchema } from "../core/plan/result.ts";
import { codex } from "./codex.ts";
import type { Ask, Ending } from "./dialect.ts";
import { fromStrict, strictSchema } from "./strict-schema.ts";

const ours: unknown = JSON.parse(resultSchema());
const ask: Ask = {
  prompt: "# The brief\n",
  schema: ours,
  cwd: "/srv/tree",
  scratch: "/srv/scratch",
  permission: "full",
};
const argsOf = (more: Partial<Ask> = {}): readonly string[] =>
  codex.launch({ ...ask, ...more }).args;

interface Heard {
  readonly events: readonly AgentEvent[];
  readonly ending: Ending | undefined;
}

function heard(lines: readonly (string | object)[], more: Partial<Ask> = {}): Heard {
  const talk = codex.converse({ ...ask, ...more });
  const all = lines.map((line) =>
    talk.hear(typeof line === "string" ? line : JSON.stringify(line)),
  );
  return {
    events: all.flatMap(({ events }) => events),
    ending: all.find(({ ending }) => ending)?.ending,
  };
}

/** What the real program printed, as e2e/record.ts wrote it down. */
const recorded = (name: string, more: Partial<Ask> = {}): Heard =>
  heard(
    fs
      .readFileSync(
        path.join(import.meta.dirname, `../../e2e/recorded/codex/${name}.jsonl`),
        "utf8",
      )
      .split("\n")
      .slice(1)
      .filter((line) => !/^\{"std(?:in|err)":/.test(line)),
    more,
  );
const of = (type: AgentEvent["type"], { events }: Heard): readonly AgentEvent[] =>
  events.filter((event) => event.type === type);
const completed = (item: object): object => ({ type: "item.completed", item });

describe("how Codex is started", () => {
  it("reads the brief from its input, which ends there", () => {
    const args = argsOf();
    expect(args.slice(0, 2)).toEqual(["exec", "--json"]);
    expect(args.at(-1)).toBe("-");
    expect(args.join(" ")).not.toContain("The brief");
    expect(codex.converse(ask).begin()).toEqual({ say: ["# The brief\n"], hangUp: true });
    expect(codex.converse(ask).interrupt()).toEqual([]);
  });

  it("goes on with a session, under the same sandbox", () => {
    const args = argsOf({ resume: { session: "s-1", tokens: 5 }, args: ["--search"], model: "m" });
    expect(args.slice(0, 3)).toEqual(["exec", "resume", "--json"]);
    expect(args.slice(-3)).toEqual(["--search", "s-1", "-"]);
    expect(args).toContain('sandbox_mode="danger-full-access"');
    expect(args).toContain("--model=m");
    expect(args).not.toContain("--sandbox");
  });

  it.each([
    ["full", "danger-full-access"],
    ["edit", "workspace-write"],
    ["read-only", "read-only"],
  ] as const)("is in a sandbox of its own by its permission: %s", (permission, sandbox) => {
    expect(argsOf({ permission })).toContain(`sandbox_mode="${sandbox}"`);
  });

  it("finds its schema in the scratch folder", () => {
    const { args, files } = codex.launch(ask);
    const option = args.find((arg) => arg.startsWith("--output-schema="));
    const file = option?.slice("--output-schema=".length) ?? "";
    expect(path.dirname(file)).toBe("/srv/scratch");
    expect(JSON.parse(files?.[path.basename(file)] ?? "")).toEqual(strictSchema(ours));
  });
});

describe("what Codex does", () => {
  it("is told from its first word to its result", () => {
    const work = recorded("edit-and-result");
    expect(work.events).toEqual([
      { type: "session", id: "00000000-0000-4000-8000-000000000001" },
      { type: "text", text: "I write the file." },
      { type: "tool", name: "edit", what: "hello.txt", state: "started" },
      { type: "tool", name: "edit", what: "hello.txt", state: "done" },
      { type: "tool", name: "shell", what: "cat hello.txt", state: "started" },
      { type: "tool", name: "shell", what: "cat hello.txt", state: "done" },
      { type: "usage", tokens: 3150 },
    ]);
    expect(work.ending?.structured).toMatchObject({ status: "complete" });
  });

  it("shows thoughts, plans, searches, tools of servers and warnings", () => {
    const { events } = heard([
      completed({ type: "reasoning", text: "hm" }),
      {
        type: "item.updated",
        item: {
          type: "todo_list",
          items: [
            { text: "One", completed: true },
            { text: "Two", completed: false },
          ],
        },
      },
      completed({ type: "web_search", query: "how to" }),
      completed({ type: "mcp_tool_call", server: "db", tool: "ask", status: "failed" }),
      completed({ type: "error", message: "Model metadata not found." }),
      completed({ type: "command_execution", command: "make", exit_code: 2, status: "completed" }),
      completed({ type: "command_execution", command: "make", status: "declined" }),
      completed({ type: "file_change", changes: [{ path: "/srv/tree/a" }, { path: "/b" }] }),
    ]);
    const tool = (name: string, what: string, state: string): object => ({
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
      tool("search", "how to", "done"),
      tool("db.ask", "", "failed"),
      { type: "text", text: "Model metadata not found." },
      tool("shell", "make", "failed"),
      tool("shell", "make", "failed"),
      tool("edit", "a, /b", "done"),
    ]);
  });

  it("names its model when it was told which", () => {
    const { events, ending } = recorded("edit-and-result", { model: "gpt-5.5" });
    expect(events[0]).toMatchObject({ type: "session", model: "gpt-5.5" });
    expect(ending?.model).toBe("gpt-5.5");
  });

  it("tells why it tries again by itself", () => {
    expect(of("retry", recorded("model-out-of-reach"))[0]).toEqual({
      type: "retry",
      why: "Connection failed: error sending request",
    });
    expect(of("retry", recorded("status-401"))).toEqual([]);
    expect(recorded("model-out-of-reach").ending).toBe(undefined);
  });

  it("counts what was used since its thread was left", () => {
    const usage = { input_tokens: 7000, cached_input_tokens: 6000, output_tokens: 350 };
    const line = { type: "turn.completed", usage };
    const resume = { session: "s-1", tokens: 4200 };
    expect(heard([line], { resume }).events).toEqual([{ type: "usage", tokens: 3150 }]);
    expect(heard([line]).events).toEqual([{ type: "usage", tokens: 7350 }]);
    const more = { resume: { session: "s-1", tokens: 9000 } };
    expect(heard([line], more).events).toEqual([]);
  });
});

describe("how Codex ends", () => {
  it.each([
    ["status-401", { status: 401 }],
    ["status-429", { status: 429 }],
    ["status-529", { status: 529 }],
    ["status-500", { kind: "overloaded" }],
    ["usage-limit", { kind: "usage_limit" }],
    ["connection-dropped", { kind: "network" }],
    ["context-overflow", { kind: "context", text: expect.stringMatching(/^Your input exceeds/) }],
    ["key-missing", { kind: "auth" }],
  ])("in trouble, as the real one did: %s", (name, trouble) => {
    const { ending } = recorded(name);
    expect(ending?.trouble).toMatchObject(trouble);
    expect(ending).not.toHaveProperty("structured");
  });

  it.each(["sigint-in-tool", "sigterm-in-tool", "unknown-session", "model-hangs-sigterm"])(
    "without a last word: %s",
    (name) => {
      expect(recorded(name).ending).toBe(undefined);
    },
  );

  it("with words instead of a result", () => {
    expect(recorded("text-instead-of-result").ending).toEqual({
      text: "I have thought about it.",
    });
    expect(recorded("refusal").ending).toEqual({ text: "" });
  });

  it("gets over an error", () => {
    expect(recorded("status-500-then-well").ending).not.toHaveProperty("trouble");
  });

  it("with a result in a fence, where nobody held it to the schema", () => {
    const text = 'Done:\n```json\n{"status":"complete","plan_updated":null}\n```';
    const { ending } = heard([
      completed({ type: "agent_message", text }),
      { type: "turn.completed" },
    ]);
    expect(ending?.structured).toEqual({ status: "complete" });
  });
});

describe("a schema in which nothing is optional", () => {
  const strict = strictSchema(ours);

  it("closes every object and requires every field", () => {
    const open: string[] = [];
    const walk = (schema: unknown, where: string): void => {
      if (typeof schema !== "object" || schema === null) return;
      const { type, properties, required, additionalProperties } = schema as Record<
        string,
        unknown
      >;
      if (type === "object") {
        const isClosed =
          additionalProperties === false &&
          JSON.stringify(required) === JSON.stringify(Object.keys(properties ?? {}));
        if (!isClosed) open.push(where);
      }
      for (const [key, value] of Object.entries(schema)) walk(value, `${where}.${key}`);
    };
    walk(strict, "");
    expect(open).toEqual([]);
  });

  it("demands nothing that such a model does not know", () => {
    for (const word of ["default", "minimum", "maximum", "propertyNames", "$schema"]) {
      expect(JSON.stringify(strict)).not.toContain(`"${word}"`);
    }
  });

  const answer = {
    phase_id: "2a",
    status: "failed",
    tasks: { total: 2, completed: 1 },
    gates: [
      { key: "test", value: true },
      { key: "__proto__", value: null },
    ],
    commit_message: null,
    files: { created: ["a"], modified: null, deleted: null },
    plan_updated: null,
    error: { type: "timeout", message: "m", details: null },
  };

  it("has answers that are read by our own again", () => {
    const read = AgentResult.parse(fromStrict(ours, answer));
    expect(read).toMatchObject({
      status: "failed",
      gates: { test: true },
      commit_message: "",
      files: { created: ["a"], modified: [], deleted: [] },
      plan_updated: false,
      error: { type: "timeout", message: "m" },
    });
    expect(AgentResult.parse(fromStrict(ours, { ...answer, error: null })).error).toBe(null);
    expect(Object.getPrototypeOf({})).toBe(Object.prototype);
  });

  it("leaves an answer alone that is by our own already", () => {
    const own = {
      phase_id: "2a",
      status: "complete",
      tasks: { total: 1, completed: 1 },
      gates: { test: null },
      extra: [[1]],
    };
    expect(fromStrict(ours, own)).toEqual(own);
  });

  it.each([[null], [1], ["text"], [[1, { a: null }]], [{ gates: [1] }], [{ files: "x" }]])(
    "does not stumble over an answer that fits nothing: %j",
    (nonsense) => {
      expect(fromStrict(ours, nonsense)).toEqual(nonsense);
    },
  );

  it("leaves a schema that says nothing as it is", () => {
    expect(strictSchema({})).toEqual({});
    expect(strictSchema({ type: "array", items: { type: "string" } })).toEqual({
      type: "array",
      items: { type: "string" },
    });
  });
});
