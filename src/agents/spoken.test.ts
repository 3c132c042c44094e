/**
 * Agents that are spoken to, with real processes: a small program stands in for theirs. It plays what
 * it is given, line by line; most of that was printed by the real ones (e2e/recorded).
 */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import type { Agent, AgentEvent, AgentOutcome, AgentRun, Brief } from "../agent.ts";
import { type Said, troubleIn } from "../core/agent/trouble.ts";
import { resultSchema } from "../core/plan/result.ts";
import { type Ended, exec } from "../exec.ts";
import { agentContract, isEvent } from "../testing/agent-contract.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import type { Ask, Dialect } from "./dialect.ts";
import { troubleOf } from "./ending.ts";
import { createSpokenAgent, type SpokenSettings } from "./spoken.ts";

const brief: Brief = { phase: "2a", name: "Two", text: "# The brief\n", tasks: 2, attempt: 1 };

/** One after the other; `heard`: a word that has to come in on its input before it goes on. */
type Step =
  | { readonly out: string | object }
  /** In base64: no text at all. */
  | { readonly bytes: string }
  | { readonly err: string }
  | { readonly heard: string }
  | { readonly inputEnds: true }
  | { readonly write: string }
  /** Goes on only with this word among its arguments; otherwise with the steps beside it. */
  | { readonly given: string; readonly or: readonly Step[] }
  | { readonly child: "holds stdout" }
  | { readonly hang: true }
  | { readonly dies: NodeJS.Signals }
  | { readonly exit: number };

const player = `#!${process.execPath}
const fs = require("node:fs");
const { spawn } = require("node:child_process");
let input = "";
let wake = () => {};
let isOver = false;
process.stdin.on("data", (text) => { input += text; wake(); });
process.stdin.on("end", () => { isOver = true; wake(); });
const until = async (is) => { while (!is()) await new Promise((resolve) => { wake = resolve; }); };
async function play(steps) {
  for (const step of steps) {
    if ("out" in step) fs.writeSync(1, (typeof step.out === "string" ? step.out : JSON.stringify(step.out)) + "\\n");
    if ("bytes" in step) fs.writeSync(1, Buffer.from(step.bytes, "base64"));
    if ("err" in step) fs.writeSync(2, step.err + "\\n");
    if ("heard" in step) await until(() => input.includes(step.heard));
    if ("inputEnds" in step) await until(() => isOver);
    if ("write" in step) fs.writeFileSync(step.write, "made\\n");
    if ("given" in step && !process.argv.join(" ").includes(step.given)) return play(step.or);
    if ("child" in step) spawn("sleep", ["300"], { detached: true, stdio: ["ignore", 1, 2] }).unref();
    if ("hang" in step) await new Promise((resolve) => setTimeout(resolve, 300000));
    if ("dies" in step) { process.kill(process.pid, step.dies); await new Promise((resolve) => setTimeout(resolve, 5000)); }
    if ("exit" in step) process.exit(step.exit);
  }
  process.exit(0);
}
fs.writeFileSync(__dirname + "/told-" + process.pid + ".json", JSON.stringify({ argv: process.argv.slice(2), env: process.env }));
play(JSON.parse(fs.readFileSync(__dirname + "/steps.json", "utf8")));
`;

/** First on PATH, there is a program of this name that plays these steps. */
function programFor(name: string, steps: readonly Step[]): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "autodev-program-"));
  fs.writeFileSync(path.join(folder, "steps.json"), JSON.stringify(steps));
  fs.writeFileSync(path.join(folder, name), player, { mode: 0o755 });
  return folder;
}

const schema: unknown = JSON.parse(resultSchema());
const agentOf = (dialect: Dialect, settings: SpokenSettings = {}): Agent =>
  createSpokenAgent({
    name: dialect.name,
    dialect,
    exec,
    settings,
    schema,
    openResultTool: () => Promise.reject(new Error("nobody needs one")),
    moment: () => ({ now: "2026-01-01T00:00:00.000Z", zoneMinutes: 0 }),
  });

/** The same agent, whose program is the one in this folder. */
const withProgram = (agent: Agent, folder: string): Agent => ({
  ...agent,
  run: (told, run) =>
    agent.run(told, {
      ...run,
      env: { ...run.env, PATH: `${folder}${path.delimiter}${process.env.PATH}` },
    }),
});

interface Ran {
  readonly outcome: AgentOutcome;
  readonly events: readonly AgentEvent[];
  readonly run: AgentRun;
  /** What each of the processes was started with. */
  readonly told: readonly { argv: string[]; env: Record<string, string> }[];
}

async function ran(
  dialect: Dialect,
  steps: readonly Step[],
  more: Partial<AgentRun> = {},
  settings: SpokenSettings = {},
): Promise<Ran> {
  const base = fs.mkdtempSync(path.join(os.tmpdir(), "autodev-spoken-"));
  const folder = programFor(dialect.name, steps);
  const events: AgentEvent[] = [];
  const run: AgentRun = {
    cwd: path.join(base, "tree"),
    scratch: path.join(base, "scratch"),
    env: {},
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    killNow: new AbortController().signal,
    marker: "spoken-test",
    emit: (event) => events.push(event),
    ...more,
  };
  fs.mkdirSync(run.cwd);
  const outcome = await withProgram(agentOf(dialect, settings), folder).run(brief, run);
  const told = fs
    .readdirSync(folder)
    .filter((name) => name.startsWith("told-"))
    .map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), "utf8")));
  return { outcome, events, run, told };
}

// ── what they say ───────────────────────────────────────────────────────────────────────────

const result = (more: object = {}): object => ({
  phase_id: "2a",
  status: "complete",
  tasks: { total: 2, completed: 2 },
  files: { created: ["made.txt"] },
  ...more,
});
const failure = result({ status: "failed", error: { type: "test_failure", message: "no" } });

/** A dialect's words for what happens in every one of them. */
interface Words {
  readonly begins: readonly Step[];
  readonly does: readonly Step[];
  ends(given: object): readonly Step[];
  readonly limited: readonly Step[];
  readonly unable: readonly Step[];
  readonly lost: readonly Step[];
}

const ofClaude: Words = {
  begins: [
    { heard: "\n" },
    { out: { type: "system", subtype: "init", session_id: "s-1", model: "opus" } },
  ],
  does: [
    {
      out: {
        type: "assistant",
        message: {
          id: "m-1",
          usage: { input_tokens: 100, output_tokens: 1 },
          content: [
            { type: "text", text: "I begin" },
            { type: "tool_use", id: "t-1", name: "Write", input: { file_path: "made.txt" } },
          ],
        },
      },
    },
    {
      out: {
        type: "control_request",
        request_id: "r-1",
        request: { subtype: "can_use_tool", tool_name: "Write", input: { file_path: "made.txt" } },
      },
    },
    { heard: '"behavior":"allow"' },
    { write: "made.txt" },
    {
      out: { type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t-1" }] } },
    },
  ],
  ends: (given) => [
    {
      out: {
        is_error: false,
        subtype: "success",
        result: JSON.stringify(given),
        structured_output: given,
        usage: { input_tokens: 100, output_tokens: 50 },
        total_cost_usd: 0.5,
        type: "result",
      },
    },
    { inputEnds: true },
  ],
  limited: [
    {
      out: {
        type: "rate_limit_event",
        rate_limit_info: { status: "rejected", resetsAt: 2_000_000_000 },
      },
    },
    {
      out: {
        type: "result",
        subtype: "success",
        is_error: true,
        api_error_status: 429,
        result: "You've hit your limit · resets 3am (UTC)",
      },
    },
    { exit: 1 },
  ],
  unable: [
    {
      out: {
        type: "result",
        subtype: "success",
        is_error: true,
        api_error_status: 401,
        result: "Failed to authenticate. API Error: 401 no such key",
      },
    },
    { exit: 1 },
  ],
  lost: [
    { err: "No conversation found with session ID: lost-session" },
    {
      out: {
        type: "result",
        subtype: "error_during_execution",
        is_error: true,
        errors: ["No conversation found with session ID: lost-session"],
      },
    },
    { exit: 1 },
  ],
};

const ofCodex: Words = {
  begins: [{ inputEnds: true }, { out: { type: "thread.started", thread_id: "s-1" } }],
  does: [
    { out: { type: "turn.started" } },
    { out: { type: "item.completed", item: { type: "agent_message", text: "I begin" } } },
    { write: "made.txt" },
    {
      out: {
        type: "item.completed",
        item: {
          type: "file_change",
          changes: [{ path: "made.txt", kind: "add" }],
          status: "completed",
        },
      },
    },
  ],
  ends: (given) => [
    {
      out: {
        type: "item.completed",
        item: { type: "agent_message", text: JSON.stringify(given) },
      },
    },
    { out: { type: "turn.completed", usage: { input_tokens: 100, output_tokens: 50 } } },
  ],
  limited: [
    {
      out: {
        type: "turn.failed",
        error: { message: "You’ve hit your usage limit. Try again at May 18th, 2033 3:33 AM." },
      },
    },
    { exit: 1 },
  ],
  unable: [
    {
      out: {
        type: "turn.failed",
        error: { message: "Missing environment variable: `SOME_KEY`." },
      },
    },
    { exit: 1 },
  ],
  lost: [
    {
      err: "Error: thread/resume: thread/resume failed: no rollout found for thread id 00000000-0000-4000-8000-000000000001 (code -32600)",
    },
    { err: Array.from({ length: 40 }, (_, index) => `  ${index}: <unknown>`).join("\n") },
    { exit: 1 },
  ],
};

describe.each([
  { dialect: claude, words: ofClaude },
  { dialect: codex, words: ofCodex },
])("$dialect.name", ({ dialect, words }) => {
  const { begins, does, ends } = words;
  const work = [...begins, ...does, ...ends(result())];
  const at = (steps: readonly Step[]) => () => ({
    brief,
    agent: withProgram(agentOf(dialect), programFor(dialect.name, steps)),
  });

  agentContract(
    dialect.name,
    (kind) =>
      at(
        {
          work,
          fail: [...begins, ...ends(failure)],
          endless: [...begins, { hang: true } as const],
        }[kind],
      )(),
    { describe, it, expect },
    {
      session: at(work),
      usage: at(work),
      resume: at([{ given: "known-session", or: [{ exit: 1 }] }, ...work]),
      lostSession: at([{ given: "lost-session", or: work }, ...words.lost]),
      limited: at([...begins, ...words.limited]),
      unable: at([...begins, ...words.unable]),
      silent: at([...begins, { hang: true }]),
    },
  );

  it("is told the brief on its input, and what else it has to know by its environment", async () => {
    const { outcome, told } = await ran(dialect, [{ heard: "# The brief" }, ...work]);
    expect(outcome.is).toBe("done");
    expect(told).toHaveLength(1);
    expect(told[0]?.argv.join(" ")).not.toContain("The brief");
    expect(told[0]?.env).toMatchObject({ AUTODEV_PHASE: "2a", AUTODEV_ATTEMPT: "1" });
  });

  it("has done its work when it says so, whatever its exit code", async () => {
    const { outcome } = await ran(dialect, [...work, { exit: 1 }]);
    expect(outcome).toMatchObject({ is: "done", result: { files: { created: ["made.txt"] } } });
  });

  it("has failed when it says nothing of an end, whatever its exit code", async () => {
    for (const end of [{ exit: 0 }, { exit: 3 }]) {
      const { outcome } = await ran(dialect, [...begins, ...does, end]);
      expect(outcome).toMatchObject({
        is: "failed",
        error: {
          type: "agent_crash",
          kind: "crash",
          message: expect.stringContaining(`${end.exit}`),
        },
      });
    }
  });

  it("has failed when it was killed by somebody else", async () => {
    const { outcome } = await ran(dialect, [...begins, { dies: "SIGKILL" }]);
    expect(outcome).toMatchObject({
      is: "failed",
      error: { type: "agent_crash", message: expect.stringContaining("SIGKILL") },
    });
  });

  it("is done though it stays after its last word", async () => {
    const { outcome } = await ran(dialect, [...begins, ...does, ...stays(ends(result()))]);
    expect(outcome.is).toBe("done");
  });

  it("is done though a child of its holds its output open", async () => {
    const { outcome } = await ran(dialect, [{ child: "holds stdout" }, ...work]);
    expect(outcome).toMatchObject({ is: "done", left: 1 });
  });

  it("has failed when its time is over", async () => {
    const { outcome } = await ran(dialect, [...begins, { hang: true }], { timeoutMs: 1500 });
    expect(outcome).toMatchObject({ is: "failed", error: { type: "timeout", kind: "timeout" } });
  });

  it("says what a person has to do when its program is not there", async () => {
    const base = fs.mkdtempSync(path.join(os.tmpdir(), "autodev-spoken-"));
    const missing = await agentOf(dialect).run(brief, {
      cwd: base,
      scratch: path.join(base, "scratch"),
      env: { PATH: path.join(base, "nothing") },
      timeoutMs: 10_000,
      signal: new AbortController().signal,
      killNow: new AbortController().signal,
      marker: "spoken-test",
      emit: () => {},
    });
    expect(missing).toMatchObject({
      is: "unable",
      trouble: { kind: "spawn" },
      hint: expect.stringContaining(`install ${dialect.name}`),
    });
  });

  it("has a result that cannot be read when there is none in what it says", async () => {
    for (const given of [{ status: "complete" }, { nothing: "of it" }, result({ phase_id: "9" })]) {
      const { outcome } = await ran(dialect, [...begins, ...ends(given)]);
      expect(outcome).toMatchObject({
        is: "failed",
        error: { type: "parse_error", kind: "schema" },
      });
    }
  });

  it("is not led astray by lines that are no words of its own", async () => {
    const noise: Step[] = hostile.map((out) => ({ out }));
    const { outcome, events } = await ran(dialect, [
      ...noise,
      ...begins,
      ...noise,
      ...does,
      ...noise,
      ...ends(result()),
    ]);
    expect(outcome.is).toBe("done");
    expect(events.filter((event) => !isEvent(event))).toEqual([]);
  });

  it("is not led astray by a line without end, nor by bytes that are no text", async () => {
    const [last] = ends(failure)
      .filter((step) => "out" in step)
      .slice(-1);
    const long = { ...(last && "out" in last ? (last.out as object) : {}), pad: "x".repeat(5e6) };
    const broken = Buffer.from('{"type":"assistant","x":"\xff\xfe\xc3("}\n', "latin1");
    const { outcome, events } = await ran(dialect, [
      { out: long },
      { bytes: broken.toString("base64") },
      ...work,
    ]);
    expect(outcome.is).toBe("done");
    const raw = events.flatMap((event) => (event.type === "raw" ? [event.line] : []));
    expect(raw[0]).toMatch(/x … \[cut\]$/);
    expect(raw[1]).toContain("\ufffd");
  });

  it("has all that it printed in the transcript", async () => {
    const { events } = await ran(dialect, [{ err: "a warning" }, { out: "no JSON" }, ...work]);
    const raw = events.flatMap((event) => (event.type === "raw" ? [event.line] : []));
    expect(raw).toContain('{"stderr":"a warning"}');
    expect(raw).toContain("no JSON");
    expect(raw.length).toBe(2 + work.filter((step) => "out" in step).length);
  });

  it("loses no word that comes with the last one", async () => {
    const all = [...begins, ...does, ...ends(result())];
    const text = all
      .flatMap((step) => ("out" in step ? [JSON.stringify(step.out)] : []))
      .filter((line) => !line.includes("control_request"))
      .join("\n");
    const { outcome, events } = await ran(dialect, [{ write: "made.txt" }, { out: text }]);
    expect(outcome.is).toBe("done");
    expect(events.some(({ type }) => type === "session")).toBe(true);
  });

  describe("survives whatever a line can be", () => {
    const ask: Ask = {
      prompt: "",
      schema,
      cwd: "/srv/tree",
      scratch: "/srv/scratch",
      permission: "full",
    };

    it("one by one, and all together", () => {
      for (const whole of [hostile, [...hostile].reverse()]) {
        const talk = dialect.converse(ask);
        for (const line of whole) {
          const { events, say = [] } = talk.hear(line);
          expect(events.filter((event) => !isEvent(event))).toEqual([]);
          for (const each of say) expect(each).not.toContain("\n");
          expect(dialect.translate(line).filter((event) => !isEvent(event))).toEqual([]);
        }
      }
      expect(({} as { polluted?: unknown }).polluted).toBe(undefined);
    });

    it("with any field of what it really says gone, or of another type", () => {
      for (const line of kindsOfLines(dialect.name)) {
        const said: unknown = JSON.parse(line);
        for (const changed of spoiled(said)) {
          const talk = dialect.converse(ask);
          const { events } = talk.hear(JSON.stringify(changed));
          expect(events.filter((event) => !isEvent(event))).toEqual([]);
        }
      }
    });

    it("cut off at any place", () => {
      for (const { out } of recordings(dialect.name).slice(0, 5)) {
        for (const line of out) {
          for (let length = 0; length < line.length; length += 97) {
            expect(dialect.translate(`${line.slice(0, length)} … [cut]`)).toEqual([]);
          }
        }
      }
    });

    it("with escape sequences and separators in it, as they came", () => {
      const text = "\u001b[2J\u001b]0;x\u0007 a\u2028b\u2029c \ud800 \ufffd";
      const [event] = dialect
        .translate(
          JSON.stringify(
            dialect.name === "claude"
              ? { type: "assistant", message: { content: [{ type: "text", text }] } }
              : { type: "item.completed", item: { type: "agent_message", text } },
          ),
        )
        .filter(({ type }) => type === "text");
      expect(event).toEqual({ type: "text", text });
    });
  });
});

/** Its last word, and then nothing, not even when nobody talks to it any more. */
const stays = (steps: readonly Step[]): Step[] => [
  ...steps.filter((step) => !("inputEnds" in step)),
  { hang: true },
];

// ── hostile lines ───────────────────────────────────────────────────────────────────────────

const deep = (open: string, inner: string, close: string): string =>
  open.repeat(20_000) + inner + close.repeat(20_000);
const hostile: readonly string[] = [
  "",
  " ",
  "{",
  "}",
  "null",
  "[]",
  "1",
  '"text"',
  "{}",
  "{}{}",
  '{"type"',
  '{"type":"result"',
  '{"type":"result","is_err … [cut]',
  "\u001b[31mred\u001b[0m \u001b]0;title\u0007",
  "\ufffd\ufffd\ufffd",
  "\u0000",
  `[${"1,".repeat(100_000)}1]`,
  deep("[", "", "]"),
  deep('{"a":', "1", "}"),
  '{"__proto__":{"polluted":true,"type":"result"}}',
  '{"constructor":{"prototype":{"polluted":true}},"type":"toString"}',
  ...[null, 1, [], {}, true, "unheard of", "__proto__", "constructor"].map((type) =>
    JSON.stringify({ type, subtype: type, message: type, item: type }),
  ),
  '{"type":"system","subtype":"init"}',
  '{"type":"system","subtype":"init","session_id":7}',
  '{"type":"system","subtype":"init","session_id":"--help"}',
  '{"type":"system","subtype":"init","session_id":"a b"}',
  '{"type":"system","subtype":"api_retry","error":{},"retry_delay_ms":"soon"}',
  '{"type":"system","subtype":"api_retry","error_status":"x","retry_delay_ms":-1}',
  '{"type":"system","subtype":"permission_denied","tool_name":[]}',
  '{"type":"assistant"}',
  '{"type":"assistant","message":{"content":"text"}}',
  '{"type":"assistant","message":{"content":[null,1,"a",[],{"type":"text"},{"type":"text","text":5}]}}',
  '{"type":"assistant","message":{"content":[{"type":"tool_use"}]}}',
  '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"__proto__","name":"x","input":7}]}}',
  '{"type":"assistant","message":{"content":[{"type":"tool_use","name":"TodoWrite","input":{"todos":[1,{"content":2}]}}]}}',
  '{"type":"assistant","message":{"id":"z","usage":{"input_tokens":"1e9","output_tokens":-5}}}',
  '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"constructor"}]}}',
  '{"type":"rate_limit_event"}',
  '{"type":"rate_limit_event","rate_limit_info":{"status":"allowed"}}',
  '{"type":"control_request"}',
  '{"type":"control_request","request_id":5,"request":{"subtype":"can_use_tool"}}',
  '{"type":"control_response","response":{}}',
  '{"type":"thread.started"}',
  '{"type":"thread.started","thread_id":"-c"}',
  '{"type":"item.completed"}',
  '{"type":"item.completed","item":{"type":"agent_message"}}',
  '{"type":"item.completed","item":{"type":"command_execution","command":{},"exit_code":"x"}}',
  '{"type":"item.completed","item":{"type":"file_change","changes":{"path":1}}}',
  '{"type":"item.completed","item":{"type":"todo_list","items":[{"text":{}}]}}',
  '{"type":"item.completed","item":{"type":"mcp_tool_call","server":1,"tool":null}}',
  '{"type":"error"}',
  '{"type":"error","message":"Reconnecting..."}',
  JSON.stringify({
    type: "assistant",
    message: { content: Array.from({ length: 20_000 }, () => ({ type: "text", text: "a" })) },
  }),
];

/** One of each kind that was recorded. */
const kindsOfLines = (dialect: string): string[] => {
  const kinds = new Map<string, string>();
  for (const line of recordings(dialect).flatMap(({ out }) => out)) {
    const { type, subtype, item } = JSON.parse(line);
    kinds.set(`${type} ${subtype} ${item?.type}`, line);
  }
  return [...kinds.values()];
};

/** Each field of it gone, or something else, one at a time. */
function* spoiled(value: unknown, depth = 0): Generator {
  if (typeof value !== "object" || value === null || depth > 4) return;
  for (const key of Object.keys(value)) {
    const rest = structuredClone(value) as Record<string, unknown>;
    for (const other of [undefined, null, 0, "", "other", [], {}, [[]], [null], true]) {
      rest[key] = other;
      yield rest;
    }
    const inner = (value as Record<string, unknown>)[key];
    for (const changed of spoiled(inner, depth + 1)) {
      rest[key] = changed;
      yield rest;
    }
  }
}

// ── what the real programs printed ──────────────────────────────────────────────────────────

interface Recording {
  readonly name: string;
  readonly steps: readonly Step[];
  readonly out: readonly string[];
}

function recordings(dialect: string): readonly Recording[] {
  const folder = path.join(import.meta.dirname, "../../e2e/recorded", dialect);
  return fs.readdirSync(folder).map((file) => {
    const [header = "", ...lines] = fs
      .readFileSync(path.join(folder, file), "utf8")
      .trim()
      .split("\n");
    const { exit, signal } = JSON.parse(header);
    const steps = lines.map((line): Step => {
      const said = JSON.parse(line);
      if ("stderr" in said) return { err: said.stderr };
      if (!("stdin" in said)) return { out: line };
      const word = said.stdin.type === "user" ? "\n" : said.stdin.type;
      return word === undefined ? { inputEnds: true } : { heard: word };
    });
    const end: Step = signal === null ? { exit } : { dies: signal };
    return {
      name: file.replace(".jsonl", ""),
      steps: [...steps, end],
      out: steps.flatMap((step) => ("out" in step ? [step.out as string] : [])),
    };
  });
}

const replayed = (dialect: "claude" | "codex", name: string): Promise<Ran> => {
  const recording = recordings(dialect).find((each) => each.name === name);
  return ran({ claude, codex }[dialect], recording?.steps ?? []);
};

describe("what becomes of an end of the real programs", () => {
  it.each([
    ["claude", "status-401", { is: "unable", trouble: { kind: "auth" } }],
    ["claude", "not-logged-in", { is: "unable", trouble: { kind: "auth" } }],
    ["claude", "usage-limit", { is: "limited", until: "2033-05-18T03:33:20.000Z" }],
    ["claude", "status-429", { is: "limited", trouble: { kind: "rate_limit", status: 429 } }],
    ["claude", "status-500", { is: "limited", trouble: { kind: "server" } }],
    ["claude", "status-529", { is: "limited", trouble: { kind: "overloaded" } }],
    ["claude", "stream-says-overloaded", { is: "limited", trouble: { kind: "overloaded" } }],
    ["claude", "usage-limit-with-api-key", { is: "limited", trouble: { status: 429 } }],
    ["claude", "model-out-of-reach", { is: "limited", trouble: { kind: "network" } }],
    ["claude", "context-overflow", { is: "failed", error: { kind: "context" } }],
    ["claude", "refusal", { is: "failed", error: { kind: "refusal" } }],
    ["claude", "max-budget", { is: "failed", error: { kind: "budget" } }],
    ["claude", "max-turns", { is: "failed", error: { kind: "turn_limit" } }],
    ["claude", "text-instead-of-result", { is: "failed", error: { kind: "schema" } }],
    ["claude", "sigterm-in-tool", { is: "failed", error: { kind: "crash" } }],
    ["claude", "sigint-in-tool", { is: "failed", error: { kind: "crash" } }],
    ["codex", "status-401", { is: "unable", trouble: { kind: "auth", status: 401 } }],
    ["codex", "status-429", { is: "limited", trouble: { kind: "rate_limit", status: 429 } }],
    ["codex", "status-529", { is: "limited", trouble: { kind: "overloaded", status: 529 } }],
    ["codex", "unknown-session", { is: "failed", error: { kind: "session_not_found" } }],
    ["codex", "usage-limit", { is: "limited", until: "2033-05-18T03:33:00.000Z" }],
    ["codex", "usage-limit-today", { is: "limited", until: expect.any(String) }],
    ["codex", "usage-limit-without-end", { is: "limited", trouble: { kind: "usage_limit" } }],
    ["codex", "stream-says-quota", { is: "limited", trouble: { kind: "usage_limit" } }],
    ["codex", "stream-says-rate-limit", { is: "limited", trouble: { kind: "rate_limit" } }],
    ["codex", "stream-says-context-overflow", { is: "failed", error: { kind: "context" } }],
    ["codex", "status-500", { is: "limited", trouble: { kind: "overloaded" } }],
    ["codex", "connection-dropped", { is: "limited", trouble: { kind: "network" } }],
    ["codex", "key-missing", { is: "unable", trouble: { kind: "auth" } }],
    ["codex", "context-overflow", { is: "failed", error: { kind: "context" } }],
    ["codex", "text-instead-of-result", { is: "failed", error: { kind: "schema" } }],
    ["codex", "sigint-in-tool", { is: "failed", error: { kind: "crash" } }],
  ] as const)("%s: %s", async (dialect, name, outcome) => {
    expect((await replayed(dialect, name)).outcome).toMatchObject(outcome);
  });
});

describe("what an end is worth", () => {
  const ended: Ended = {
    code: null,
    signal: "SIGKILL",
    timedOut: false,
    aborted: false,
    tail: [],
    lines: 0,
    bytes: 0,
  };
  const told = {
    said: (said: Said) => troubleIn(said, { now: "2026-01-01T00:00:00.000Z", zoneMinutes: 0 }),
    answered: () => undefined,
    submitted: undefined,
    waitingFor: undefined,
    lastWords: [],
  };

  it("is what was said last, however it came to its end after that", () => {
    const ending = { text: "", structured: result() };
    for (const how of [{ idle: true }, { timedOut: true }, { code: 1 }] as const) {
      expect(troubleOf({ ...ended, ...how }, ending, told)).toBe(undefined);
    }
  });

  it.each([
    [{ idle: true }, "idle_timeout"],
    [{ timedOut: true }, "timeout"],
  ] as const)("tells silence from too long a time: %j", (how, kind) => {
    expect(troubleOf({ ...ended, ...how }, undefined, told)).toMatchObject({ kind });
  });

  it.each([
    ["Connection failed: error sending request", "network"],
    ["API error 429: rate_limit", "rate_limit"],
    ["API error 401: authentication_failed", "auth"],
    ["API error 529: overloaded", "overloaded"],
  ])("is no failure of the work when it was waiting until its time was over: %s", (why, kind) => {
    for (const how of [{ idle: true }, { timedOut: true }] as const) {
      const waiting = { ...told, waitingFor: why };
      expect(troubleOf({ ...ended, ...how }, undefined, waiting)).toMatchObject({ kind });
    }
  });

  it("is not told by what was being read or written, only by what was said beside that", () => {
    const tail = ['{"type":"user","text":"API Error: 429 Too Many Requests"}'];
    expect(troubleOf({ ...ended, code: 1, tail }, undefined, told)).toBe(undefined);
    const lastWords = ["API Error: 401 Unauthorized"];
    expect(troubleOf({ ...ended, code: 1 }, undefined, { ...told, lastWords })).toMatchObject({
      kind: "auth",
    });
  });

  it("has a time when the program itself names one", () => {
    const until = "2033-05-18T03:33:20.000Z";
    const trouble = { text: "limit", kind: "usage_limit", until } as const;
    expect(troubleOf(ended, { text: "", trouble }, told)).toMatchObject({ until });
  });
});

describe("an agent that is told to stop", () => {
  it("is asked in its own words first, where it has any", async () => {
    const stop = new AbortController();
    const recording = recordings("claude").find(({ name }) => name === "interrupted-by-control");
    const events: AgentEvent[] = [];
    const { outcome } = await ran(claude, recording?.steps ?? [], {
      signal: stop.signal,
      emit: (event) => {
        events.push(event);
        if (event.type === "tool") stop.abort();
      },
    });
    expect(outcome).toEqual({ is: "stopped" });
    expect(events.filter(({ type }) => type === "tool").at(-1)).toMatchObject({ state: "failed" });
  });

  it("is not left running when that comes while its files are being written", async () => {
    for (const dialect of [claude, codex]) {
      const stop = new AbortController();
      queueMicrotask(() => stop.abort());
      const { outcome } = await ran(dialect, [{ hang: true }], { signal: stop.signal });
      expect(outcome).toEqual({ is: "stopped" });
    }
  });
});

describe("the environment of an agent", () => {
  it("has our settings where the user has none of his own", async () => {
    const steps = [...ofClaude.begins, ...ofClaude.ends(result())];
    const own = await ran(claude, steps);
    expect(own.told[0]?.env).toMatchObject({ CLAUDE_CODE_MAX_RETRIES: "2" });
    const set = await ran(claude, steps, { env: { CLAUDE_CODE_MAX_RETRIES: "7" } });
    expect(set.told[0]?.env).toMatchObject({ CLAUDE_CODE_MAX_RETRIES: "7" });
  });
});
