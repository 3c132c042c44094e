/**
 * Claude Code, as it speaks to programs: JSON lines both ways. The brief is a message on its input,
 * never an argument, since arguments can be seen by everybody on the machine. Its input stays open:
 * it asks there whether it may use a tool, and is asked there to leave off.
 *
 *  1. What a permission does not cover is not offered to it: a rule in the repository's own settings
 *     could allow a tool without anybody being asked.
 *  2. Its last word is `result`. A limit that was announced before counts only when that says that
 *     something went wrong: there may be more to spend than the limit.
 *  3. What was used is told as it goes, and corrected at the end: an attempt that is killed has a
 *     price too.
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

export const claude: Dialect = {
  name: "claude",
  capabilities: {
    resume: true,
    structured: "native",
    permissions: "asked",
    usage: true,
    cost: true,
    interrupt: true,
  },
  launch,
  converse,
  translate: (line) => listener().hear(line).events,
};

// ── how it is started ───────────────────────────────────────────────────────────────────────

function launch(ask: Ask): Launch {
  const tools = toolsFor[ask.permission];
  return {
    program: "claude",
    args: [
      "-p",
      "--input-format=stream-json",
      "--output-format=stream-json",
      "--verbose",
      "--permission-prompt-tool=stdio",
      // Without this the user's own mode counts, and some of them change nothing or ask nobody.
      "--permission-mode=acceptEdits",
      ...(tools ? [`--tools=${tools.join()}`] : []),
      `--disallowedTools=${forPeople.join()}`,
      `--json-schema=${JSON.stringify(withoutDialect(ask.schema))}`,
      ...(ask.model === undefined ? [] : [`--model=${ask.model}`]),
      ...(ask.maxCost === undefined ? [] : [`--max-budget-usd=${ask.maxCost}`]),
      ...(ask.resume ? [`--resume=${ask.resume.session}`] : []),
      ...(ask.args ?? []),
    ],
    env: {
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      // Ours may have been started by one: it would take itself for a part of that.
      CLAUDECODE: undefined,
      CLAUDE_CODE_ENTRYPOINT: undefined,
      CLAUDE_CODE_SSE_PORT: undefined,
    },
    // By itself it tries ten times, for minutes, even when nobody is logged in: we know better when.
    defaults: { CLAUDE_CODE_MAX_RETRIES: "2" },
  };
}

/** It refuses a schema that says of which draft it is. */
function withoutDialect(schema: unknown): unknown {
  const { $schema: _, ...rest } = fieldsOf(schema) ?? {};
  return rest;
}

const readers = ["Read", "Glob", "Grep", "LS", "NotebookRead", "TodoWrite"];
const editors = ["Edit", "MultiEdit", "Write", "NotebookEdit"];

/** Undefined: all that it has. */
const toolsFor: Readonly<Record<Permission, readonly string[] | undefined>> = {
  full: undefined,
  edit: [...readers, ...editors],
  "read-only": readers,
};

/** Somebody would have to answer, or to be there later, or to look for the work elsewhere. */
const forPeople = [
  "AskUserQuestion",
  "EnterPlanMode",
  "ExitPlanMode",
  "EnterWorktree",
  "ExitWorktree",
  "CronCreate",
  "ScheduleWakeup",
];

// ── the conversation ────────────────────────────────────────────────────────────────────────

function converse(ask: Ask): Conversation {
  const { hear } = listener(ask);
  return {
    begin: () => ({ say: [message(ask.prompt)] }),
    hear,
    interrupt: () => [
      JSON.stringify({
        type: "control_request",
        request_id: "interrupt",
        request: { subtype: "interrupt" },
      }),
    ],
  };
}

const message = (text: string): string =>
  JSON.stringify({
    type: "user",
    message: { role: "user", content: [{ type: "text", text }] },
    parent_tool_use_id: null,
  });

/** What has been heard so far. Without it (a single line of a transcript) less can be told. */
interface Memory {
  readonly cwd?: string;
  session?: string;
  model?: string;
  readonly tools: Map<string, { readonly name: string; readonly what: string }>;
  /** Messages that come in several parts, each with the same numbers. */
  readonly counted: Set<string>;
  tokens: number;
  limit: Limit | undefined;
  /** What it took an error of its model's for, in a word of its own. */
  error?: string | undefined;
}

interface Limit {
  readonly fields: Readonly<Record<string, string | number>>;
  readonly until?: string;
}

function listener(ask?: Ask): { hear(line: string): Heard } {
  const memory: Memory = {
    tools: new Map(),
    counted: new Set(),
    tokens: 0,
    limit: undefined,
    ...(ask && { cwd: ask.cwd }),
  };
  return {
    hear(line) {
      const said = fieldsIn(line);
      if (!said) return { events: [] };
      switch (said.type) {
        case "system":
          return { events: aboutItself(said, memory) };
        case "assistant":
          memory.error = said.is_api_error_message === true ? textOf(said.error) : undefined;
          return { events: [...parts(said, memory), ...usageSoFar(said, ask && memory)] };
        case "user":
          return { events: toolEnds(said, memory) };
        case "rate_limit_event":
          memory.limit = limitIn(fieldsOf(said.rate_limit_info));
          return { events: [] };
        case "control_request":
          return ask ? answer(said, ask) : { events: [] };
        case "result":
          return { events: lastUsage(said, memory), ending: endingOf(said, memory) };
        default:
          return { events: [] };
      }
    },
  };
}

function aboutItself(said: Fields, memory: Memory): AgentEvent[] {
  switch (said.subtype) {
    case "init": {
      const [id, model] = [idOf(said.session_id), textOf(said.model)];
      if (id === undefined || id === memory.session) return [];
      memory.session = id;
      if (model !== undefined) memory.model = model;
      return [{ type: "session", id, ...(model !== undefined && { model }) }];
    }
    case "api_retry": {
      const { error_status: status, retry_delay_ms: delay } = said;
      const why = textOf(said.error) ?? "unknown";
      return [
        {
          type: "retry",
          why: inBrief(typeof status === "number" ? `API error ${status}: ${why}` : why),
          ...(typeof delay === "number" && { delayMs: amountOf(delay) }),
        },
      ];
    }
    case "permission_denied": {
      const tool = inBrief(textOf(said.tool_name));
      const { what } = memory.tools.get(textOf(said.tool_use_id) ?? "") ?? { what: "" };
      return tool === "" ? [] : [{ type: "permission", tool, what, allowed: false }];
    }
    default:
      return [];
  }
}

function parts(said: Fields, memory: Memory): AgentEvent[] {
  return listOf(fieldsOf(said.message)?.content).flatMap((part): AgentEvent[] => {
    const [text, thought] = [textOf(part.text), textOf(part.thinking)];
    if (part.type === "text" && text) return [{ type: "text", text }];
    if (part.type === "thinking" && thought) return [{ type: "thought", text: thought }];
    return part.type === "tool_use" ? toolBegins(part, memory) : [];
  });
}

function toolBegins(part: Fields, memory: Memory): AgentEvent[] {
  const [id, name, input] = [textOf(part.id), textOf(part.name), fieldsOf(part.input)];
  // Its way of handing in the result; what is in it comes again at the end.
  if (name === undefined || name === "StructuredOutput") return [];
  if (name === "TodoWrite") {
    const steps = listOf(input?.todos).map(({ content, status }) => ({
      text: inBrief(textOf(content)),
      done: status === "completed",
    }));
    return [{ type: "plan", steps }];
  }
  const what = whatOf(input, memory.cwd);
  if (id !== undefined) memory.tools.set(id, { name, what });
  return [{ type: "tool", name: inBrief(name), what, state: "started" }];
}

/** Which tool has ended is told by a number only: whoever has not heard the beginning cannot say. */
const toolEnds = (said: Fields, { tools }: Memory): AgentEvent[] =>
  listOf(fieldsOf(said.message)?.content).flatMap((part): AgentEvent[] => {
    const id = part.type === "tool_result" ? textOf(part.tool_use_id) : undefined;
    const tool = id === undefined ? undefined : tools.get(id);
    if (id === undefined || !tool) return [];
    tools.delete(id);
    const state = part.is_error === true ? "failed" : "done";
    return [{ type: "tool", name: inBrief(tool.name), what: tool.what, state }];
  });

/** The first of these that a tool was given says best what it is about. */
const telling = ["command", "pattern", "url", "query", "description", "skill", "prompt"];
const places = ["file_path", "notebook_path", "path"];

function whatOf(input: Fields | undefined, cwd: string | undefined): string {
  const [place, word] = [places, telling].map((names) =>
    names.map((name) => textOf(input?.[name])).find((value) => value !== undefined),
  );
  const isSearch = typeof input?.pattern === "string";
  return place !== undefined && !isSearch ? inBrief(pathIn(cwd, place)) : inBrief(word);
}

// ── permissions ─────────────────────────────────────────────────────────────────────────────

function answer(said: Fields, ask: Ask): Heard {
  const [id, request] = [textOf(said.request_id), fieldsOf(said.request)];
  if (id === undefined) return { events: [] };
  const respond = (response: object): string =>
    JSON.stringify({ type: "control_response", response: { request_id: id, ...response } });
  if (request?.subtype !== "can_use_tool") {
    // Left without an answer it would wait for ever.
    return { events: [], say: [respond({ subtype: "error", error: "this is not known here" })] };
  }
  const [tool, input] = [textOf(request.tool_name) ?? "", fieldsOf(request.input) ?? {}];
  const why = whyNot(tool, input, ask);
  const decision =
    why === undefined
      ? { behavior: "allow", ...(isWhole(input) && { updatedInput: input }) }
      : { behavior: "deny", message: why };
  const what = whatOf(input, ask.cwd);
  return {
    events: [{ type: "permission", tool: inBrief(tool), what, allowed: why === undefined }],
    say: [respond({ subtype: "success", response: decision })],
  };
}

/**
 * What was masked on its way to us and is said back is what the tool would be given. Newer versions
 * need no more than a yes; older ones want it all, and then do not run what they do not get.
 */
const isWhole = (input: Fields): boolean => !JSON.stringify(input).includes("[masked]");

/** In words for the model, which goes on by other means. */
function whyNot(tool: string, input: Fields, { permission, cwd }: Ask): string | undefined {
  if (forPeople.includes(tool)) return "Nobody is there to answer: decide for yourself, and go on.";
  if (!isShallow(input)) return "What this tool was given is nested too deeply.";
  if (permission === "full" || readers.includes(tool)) return undefined;
  if (permission === "read-only") return "This work is for reading only.";
  if (!editors.includes(tool)) return "Only files may be read and edited here.";
  const file = places.map((name) => textOf(input[name])).find((value) => value !== undefined);
  const isInside = file !== undefined && isIn(cwd, file);
  return isInside ? undefined : "Only files inside of the working directory may be edited.";
}

/** By name; what a link leads to is for the kernel to close. */
const isIn = (folder: string, file: string): boolean =>
  file.startsWith(`${folder}/`) && !file.split("/").includes("..");

// ── what it used ────────────────────────────────────────────────────────────────────────────

function usageSoFar(said: Fields, memory: Memory | undefined): AgentEvent[] {
  const message = fieldsOf(said.message);
  const [id, usage] = [textOf(message?.id), fieldsOf(message?.usage)];
  if (!memory || id === undefined || !usage || memory.counted.has(id)) return [];
  memory.counted.add(id);
  const tokens = tokensIn(usage);
  memory.tokens += tokens;
  if (tokens === 0) return [];
  // A message of its own: what a helper of its has read is in that one's window. Each message reads
  // the whole conversation, so that one says how full it is.
  const isOwn = textOf(said.parent_tool_use_id) === undefined;
  const size = /\[1m\]/i.test(memory.model ?? "") ? 1_000_000 : 200_000;
  return [
    { type: "usage", tokens },
    ...(isOwn ? [{ type: "window" as const, used: tokens, size }] : []),
  ];
}

/**
 * What is not told yet. Newer versions count the cost over the whole session, older ones over the
 * process; those say for each model what was used since the last result, which is this process too.
 */
function lastUsage(said: Fields, { tokens: told }: Memory): AgentEvent[] {
  const since = fieldsOf(said.model_usage_since_last_result);
  const models = listOf(since && Object.values(since));
  const all = since ? sum(models.map(tokensOfModel)) : tokensIn(fieldsOf(said.usage) ?? {});
  const cost = since
    ? sum(models.map(({ costUSD }) => amountOf(costUSD)))
    : amountOf(said.total_cost_usd);
  const tokens = Math.max(0, all - told);
  if (tokens === 0 && cost === 0) return [];
  return [{ type: "usage", tokens, ...(cost > 0 && { cost }) }];
}

/** All that the model has read and written, from wherever it came. */
const tokensIn = (usage: Fields): number =>
  amountOf(usage.input_tokens) +
  amountOf(usage.cache_creation_input_tokens) +
  amountOf(usage.cache_read_input_tokens) +
  amountOf(usage.output_tokens);

const tokensOfModel = (usage: Fields): number =>
  amountOf(usage.inputTokens) +
  amountOf(usage.cacheCreationInputTokens) +
  amountOf(usage.cacheReadInputTokens) +
  amountOf(usage.outputTokens);

const sum = (amounts: readonly number[]): number => amounts.reduce((a, b) => a + b, 0);

// ── how it ended ────────────────────────────────────────────────────────────────────────────

function endingOf(said: Fields, memory: Memory): Ending {
  const { model, limit } = memory;
  const errors = Array.isArray(said.errors)
    ? said.errors.flatMap((each) => textOf(each) ?? [])
    : [];
  const text = textOf(said.result) ?? errors.join("\n");
  const isError = said.is_error === true || textOf(said.subtype)?.startsWith("error_") === true;
  const { structured_output: structured } = said;
  const isAnswered = structured !== undefined && structured !== null && isShallow(structured);
  const reason = textOf(said.terminal_reason) ?? "";
  if (isError && reason.startsWith("aborted")) return { text, cancelled: true };
  const isLimited = limit !== undefined && (isError || (!isAnswered && /limit/i.test(text)));
  if (!isError && !isLimited) {
    return {
      text,
      ...(isAnswered && { structured }),
      ...(model !== undefined && { model }),
    };
  }
  const status = typeof said.api_error_status === "number" ? said.api_error_status : undefined;
  const kind = kindOf(said, text, memory.error) ?? (isLimited ? "usage_limit" : undefined);
  return {
    text,
    trouble: {
      text: text || reason || "it says that it failed, and nothing else",
      ...(status !== undefined && { status }),
      ...(kind !== undefined && { kind }),
      ...(isLimited && limit),
    },
  };
}

function kindOf(said: Fields, text: string, error: string | undefined): TroubleKind | undefined {
  switch (said.subtype) {
    case "error_max_turns":
      return "turn_limit";
    case "error_max_budget_usd":
      return "budget";
    case "error_max_structured_output_retries":
      return "schema";
  }
  if (said.stop_reason === "refusal") return "refusal";
  if (said.terminal_reason === "prompt_too_long") return "context";
  if (said.api_error === "connection_failed") return "network";
  if (said.api_error === "usage_limit_reached") return "usage_limit";
  if (error === "authentication_failed") return "auth";
  if (/^No conversation found with session ID/m.test(text)) return "session_not_found";
  const status = amountOf(said.api_error_status);
  if (status === 401 || status === 403) return "auth";
  if (status === 529) return "overloaded";
  if (status >= 500) return "server";
  if (status === 400 && /prompt is too long/i.test(text)) return "context";
  return undefined;
}

/** Rejected, and nothing to go on with: the time is in seconds since 1970. */
function limitIn(info: Fields | undefined): Limit | undefined {
  if (info?.status !== "rejected" || info.isUsingOverage === true) return undefined;
  const fields: Record<string, string | number> = {};
  const [resets, type] = [amountOf(info.resetsAt), textOf(info.rateLimitType)];
  if (type !== undefined) fields.ratelimittype = type;
  if (resets === 0 || resets > farAway) return { fields };
  fields.resetsat = resets;
  return { fields, until: new Date(resets * 1000).toISOString() };
}

/** The year 2100: whatever comes later is no time of day. */
const farAway = 4_102_444_800;
