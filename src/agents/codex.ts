/**
 * Codex, as `codex exec` speaks to programs: the brief on its input, JSON lines from it. It asks
 * nobody anything: what it may do is settled by its sandbox when it starts.
 *
 *  1. Its last word is `turn.completed` or `turn.failed`. An `error` before that may be one that it
 *     gets over: it says the same again when it does not.
 *  2. Its result is its last message, by a schema in which nothing is optional (strict-schema.ts).
 *  3. What was used is counted over the whole thread: what was known before is taken off.
 */
import type { AgentEvent } from "../agent.ts";
import type { TroubleKind } from "../core/agent/trouble.ts";
import type { Ask, Conversation, Dialect, Ending, Heard, Launch, Permission } from "./dialect.ts";
import {
  amountOf,
  type Fields,
  fieldsIn,
  fieldsOf,
  idOf,
  inBrief,
  isShallow,
  listOf,
  pathIn,
  textOf,
} from "./json-line.ts";
import { fromStrict, strictSchema } from "./strict-schema.ts";

export const codex: Dialect = {
  name: "codex",
  capabilities: {
    resume: true,
    structured: "native",
    permissions: "mode",
    usage: true,
    cost: false,
    interrupt: false,
  },
  launch,
  converse,
  translate: (line) => listener().hear(line).events,
};

// ── how it is started ───────────────────────────────────────────────────────────────────────

const schemaFile = "codex-schema.json";

function launch(ask: Ask): Launch {
  const { resume, model, args = [], scratch } = ask;
  return {
    program: "codex",
    args: [
      "exec",
      ...(resume ? ["resume"] : []),
      "--json",
      "--skip-git-repo-check",
      `--output-schema=${scratch}/${schemaFile}`,
      // A resumed session knows no --sandbox.
      ...set("sandbox_mode", sandboxFor[ask.permission]),
      ...set("approval_policy", "never"),
      // Without a network each of these would hold up its end for seconds.
      ...set("analytics.enabled", false),
      ...set("check_for_update_on_startup", false),
      ...(model === undefined ? [] : [`--model=${model}`]),
      ...args,
      ...(resume ? [resume.session] : []),
      "-",
    ],
    files: { [schemaFile]: JSON.stringify(strictSchema(ask.schema)) },
  };
}

/** TOML has the same strings as JSON. */
const set = (name: string, value: string | boolean): readonly string[] => [
  "-c",
  `${name}=${JSON.stringify(value)}`,
];

/**
 * `full`: nothing of its own; the walls around it are ours, and in its workspace sandbox there is no
 * network, without which hardly any project can be built.
 */
const sandboxFor: Readonly<Record<Permission, string>> = {
  full: "danger-full-access",
  edit: "workspace-write",
  "read-only": "read-only",
};

// ── the conversation ────────────────────────────────────────────────────────────────────────

function converse(ask: Ask): Conversation {
  const { hear } = listener(ask);
  return {
    // It begins when its input has ended.
    begin: () => ({ say: [ask.prompt], hangUp: true }),
    hear,
    interrupt: () => [],
  };
}

interface Memory {
  /** Its last message: the result, when it has ended. */
  text: string;
  error: string;
  /** What its thread had used before. */
  tokens: number;
}

function listener(ask?: Ask): { hear(line: string): Heard } {
  const memory: Memory = { text: "", error: "", tokens: ask?.resume?.tokens ?? 0 };
  return {
    hear(line) {
      const said = fieldsIn(line);
      switch (said?.type) {
        case "thread.started":
          return { events: sessionIn(said, ask) };
        case "item.started":
        case "item.updated":
        case "item.completed":
          return { events: itemEvents(said.type, fieldsOf(said.item) ?? {}, memory, ask?.cwd) };
        case "error":
          return { events: errorEvents(textOf(said.message), memory) };
        case "turn.completed":
          return {
            events: usageIn(fieldsOf(said.usage) ?? {}, memory),
            ending: endingOf(ask, memory),
          };
        case "turn.failed": {
          const message = textOf(fieldsOf(said.error)?.message) || memory.error;
          return { events: [], ending: { text: memory.text, trouble: troubleOf(message) } };
        }
        default:
          return { events: [] };
      }
    },
  };
}

function sessionIn(said: Fields, ask: Ask | undefined): AgentEvent[] {
  const id = idOf(said.thread_id);
  // It does not say which model it takes; it takes the one that it is told.
  return id ? [{ type: "session", id, ...(ask?.model && { model: ask.model }) }] : [];
}

/** `Reconnecting... 2/5 (why)`: it goes on by itself, or says it once more. */
function errorEvents(message: string | undefined, memory: Memory): AgentEvent[] {
  if (message === undefined) return [];
  memory.error = message;
  const why = /^Reconnecting\b[^(]*\(([\s\S]*)\)\s*$/.exec(message)?.[1];
  const isRetry = why !== undefined || message.startsWith("Reconnecting");
  return isRetry ? [{ type: "retry", why: inBrief(why ?? message) }] : [];
}

type Stage = "item.started" | "item.updated" | "item.completed";

function itemEvents(stage: Stage, item: Fields, memory: Memory, cwd?: string): AgentEvent[] {
  const isOver = stage === "item.completed";
  const tool = (name: string, what: string, isFailed = item.status === "failed"): AgentEvent[] =>
    stage === "item.updated"
      ? []
      : [{ type: "tool", name, what, state: !isOver ? "started" : isFailed ? "failed" : "done" }];
  switch (item.type) {
    case "agent_message": {
      const text = textOf(item.text);
      if (!isOver || !text) return [];
      memory.text = text;
      // The result is for us; there is nothing to read in it.
      return fieldsIn(text) ? [] : [{ type: "text", text }];
    }
    case "reasoning": {
      const text = textOf(item.text);
      return isOver && text ? [{ type: "thought", text }] : [];
    }
    case "command_execution": {
      const isFailed =
        item.status !== "completed" || (typeof item.exit_code === "number" && item.exit_code !== 0);
      return tool("shell", inBrief(unwrapped(textOf(item.command) ?? "")), isFailed);
    }
    case "file_change": {
      const files = listOf(item.changes).flatMap(({ path }) => textOf(path) ?? []);
      return tool("edit", inBrief(files.map((file) => pathIn(cwd, file)).join(", ")));
    }
    case "mcp_tool_call": {
      const name = [item.server, item.tool].flatMap((each) => textOf(each) ?? []).join(".");
      return tool(inBrief(name) || "mcp", "");
    }
    case "web_search":
      return tool("search", inBrief(textOf(item.query)));
    case "todo_list": {
      const steps = listOf(item.items).map(({ text, completed }) => ({
        text: inBrief(textOf(text)),
        done: completed === true,
      }));
      return [{ type: "plan", steps }];
    }
    case "error": {
      // A warning: the turn goes on.
      const text = textOf(item.message);
      return isOver && text ? [{ type: "text", text }] : [];
    }
    default:
      return [];
  }
}

/** Each command runs in a shell, of which nobody wants to read. */
const unwrapped = (command: string): string =>
  /^\S*\/(?:ba|z|da)?sh -l?c '([\s\S]*)'$/.exec(command)?.[1]?.replaceAll(`'\\''`, "'") ?? command;

/** The cached ones are among the read ones, and the thoughts among the written ones. */
function usageIn(usage: Fields, memory: Memory): AgentEvent[] {
  const total = amountOf(usage.input_tokens) + amountOf(usage.output_tokens);
  const tokens = Math.max(0, total - memory.tokens);
  memory.tokens = Math.max(total, memory.tokens);
  return tokens > 0 ? [{ type: "usage", tokens }] : [];
}

// ── how it ended ────────────────────────────────────────────────────────────────────────────

function endingOf(ask: Ask | undefined, { text }: Memory): Ending {
  const answer = answerIn(text);
  return {
    text,
    ...(answer && { structured: fromStrict(ask?.schema, answer) }),
    ...(ask?.model !== undefined && { model: ask.model }),
  };
}

/** With words or a fence around it, where the model is not held to the schema. */
function answerIn(text: string): Fields | undefined {
  const object = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
  const answer = fieldsIn(object);
  return answer && isShallow(answer) ? answer : undefined;
}

/** The status stands in its sentence; the words of the service may be JSON in it. */
function troubleOf(message: string): NonNullable<Ending["trouble"]> {
  const error = fieldsOf(fieldsIn(message)?.error);
  const text = textOf(error?.message) ?? message;
  const status = /\bstatus:? (\d{3})\b/.exec(message)?.[1];
  const kind = kindOf(`${textOf(error?.code) ?? ""} ${text}`);
  return {
    text: text || "it says that it failed, and nothing else",
    ...(status !== undefined && { status: Number(status) }),
    ...(kind !== undefined && { kind }),
  };
}

/** Sentences of its own, which say less to somebody who does not know it. */
const kindOf = (text: string): TroubleKind | undefined =>
  ownWords.find(([words]) => words.test(text))?.[1];

const ownWords: readonly (readonly [RegExp, TroubleKind])[] = [
  [/hit your usage limit/, "usage_limit"],
  [/experiencing high demand|at capacity/, "overloaded"],
  [/context_length_exceeded|ran out of room in the model/, "context"],
  [/^ ?Missing environment variable/, "auth"],
  [/^ ?(?:stream disconnected|Connection failed)/, "network"],
];
