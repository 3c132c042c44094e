/**
 * What an ACP agent tells while it works, as events. What comes in pieces is put together here: the
 * chunks of a message, a tool call and its updates, counters that only ever show their total.
 */
import * as path from "node:path";
import type { AgentEvent } from "../agent.ts";
import type { Asides } from "./acp-profiles.ts";
import { fieldsOf, numberOf, wordsOf } from "./acp-wire.ts";
import { type Fields, inBrief, listOf } from "./json-line.ts";

export interface Updates {
  /** One `session/update` of the turn. */
  tell(update: Fields): readonly AgentEvent[];
  /** One from before the turn: history, of which only the counters matter. */
  skip(update: Fields): void;
  /** What has been said so far of a message that nobody ended. */
  flush(): readonly AgentEvent[];
  /** The answer to the prompt can hold what the whole turn has used. */
  account(result: Fields): readonly AgentEvent[];
  /** A tool call that it asks about: some tell of it only then. */
  asked(call: Fields): { readonly told: readonly AgentEvent[]; readonly call: KnownCall };
  /** The last message. */
  lastText(): string;
}

export interface KnownCall {
  readonly kind?: string;
  /** All that it was ever called. */
  readonly titles: readonly string[];
}

export interface UpdatesOf {
  readonly cwd: string;
  /** The session was there before. */
  readonly resumed: boolean;
  readonly asides?: Asides | undefined;
}

export function updatesOf({ cwd, resumed, asides }: UpdatesOf): Updates {
  const message = gathering(asides);
  const tools = toolCalls(cwd);
  const counters = countersOf(resumed);
  return {
    tell(update) {
      switch (update.sessionUpdate) {
        case "agent_message_chunk":
          return message.add("text", update);
        case "agent_thought_chunk":
          return message.add("thought", update);
        case "tool_call":
          return [...message.flush(), ...tools.tell(update)];
        case "tool_call_update":
          return tools.tell(update);
        case "plan":
          return [...message.flush(), planOf(update)];
        case "usage_update":
          return counters.tell(update);
        case "notice":
          return noticeOf(update);
        default:
          return [];
      }
    },
    skip(update) {
      if (update.sessionUpdate === "usage_update") counters.begin(update);
    },
    flush: message.flush,
    account: counters.account,
    asked: (call) => ({
      told: [...message.flush(), ...tools.tell({ ...call, status: "pending" })],
      call: tools.known(call),
    }),
    lastText: message.last,
  };
}

/** The same of a single line, of which nobody knows what came before it. */
export function eventsOf(update: Fields): readonly AgentEvent[] {
  const alone = updatesOf({ cwd: "", resumed: false });
  const isNamed = wordsOf(update.title) !== undefined || wordsOf(update.kind) !== undefined;
  // An update without a name is to a call whose name stands in an earlier line.
  if (update.sessionUpdate === "tool_call_update" && !isNamed) return [];
  // A counter shows its total: what is new in it cannot be seen here.
  if (update.sessionUpdate === "usage_update") return [];
  return [...alone.tell(update), ...alone.flush()];
}

// ── Messages ────────────────────────────────────────────────────────────────────────────────

function gathering(asides: Asides | undefined): {
  add(type: "text" | "thought", update: Fields): readonly AgentEvent[];
  flush(): readonly AgentEvent[];
  last(): string;
} {
  let [type, id]: ["text" | "thought", unknown] = ["text", undefined];
  let pieces: string[] = [];
  let [length, last] = [0, ""];
  const flush = (): readonly AgentEvent[] => {
    const text = pieces.join("");
    [pieces, length] = [[], 0];
    if (text.trim() === "") return [];
    if (type === "text") last = text;
    return [{ type, text }];
  };
  const aside = (text: string): readonly AgentEvent[] => {
    const before = flush();
    if (asides?.retry.test(text)) return [...before, { type: "retry", why: text }];
    [type, pieces] = ["text", [text]];
    return [...before, ...flush()];
  };
  return {
    add(kind, update) {
      const { type: is, text } = fieldsOf(update.content);
      if (is !== "text" || typeof text !== "string") return [];
      if (kind === "text" && asides?.is.test(text)) return aside(text);
      const messageId = update.messageId ?? undefined;
      const isOther = kind !== type || messageId !== id || length > mostText;
      const before = isOther ? flush() : [];
      [type, id] = [kind, messageId];
      pieces.push(text);
      length += text.length;
      return before;
    },
    flush,
    last: () => last,
  };
}

const mostText = 512 * 1024;

function planOf(update: Fields): AgentEvent {
  const steps = listOf(update.entries).slice(0, 200);
  return {
    type: "plan",
    steps: steps.map(({ content, status }) => ({
      text: inBrief(wordsOf(content) ?? ""),
      done: status === "completed",
    })),
  };
}

function noticeOf({ title, description }: Fields): readonly AgentEvent[] {
  const text = [wordsOf(title), wordsOf(description)]
    .filter((each) => each !== undefined)
    .join(": ");
  return text === "" ? [] : [{ type: "text", text }];
}

// ── Tools ───────────────────────────────────────────────────────────────────────────────────

interface ToolCall {
  kind?: string | undefined;
  title?: string | undefined;
  name?: string | undefined;
  where?: string | undefined;
  titles: readonly string[];
  files: readonly FileEvent[];
  is: "new" | "started" | "over";
}

type FileEvent = Extract<AgentEvent, { type: "file" }>;

function toolCalls(cwd: string): {
  tell(update: Fields): readonly AgentEvent[];
  known(call: Fields): KnownCall;
} {
  const calls = new Map<unknown, ToolCall>();
  const nameOf = ({ name, kind }: ToolCall): string =>
    inBrief(name ?? (kind === "other" ? undefined : kind) ?? "tool");
  const whatOf = ({ title, where }: ToolCall): string => inBrief(within(cwd, title ?? where ?? ""));

  const keep = (id: string, call: ToolCall): void => {
    calls.set(id, call);
    if (calls.size <= mostCalls) return;
    for (const [oldest] of calls) {
      calls.delete(oldest);
      return;
    }
  };
  /** An update says only what has changed. */
  const learn = (call: ToolCall, update: Fields): void => {
    const [location] = listOf(update.locations);
    call.kind = wordsOf(update.kind) ?? call.kind;
    call.title = wordsOf(update.title) ?? call.title;
    if (call.title !== undefined) call.titles = [call.titles[0] ?? call.title, call.title];
    call.name = wordsOf(update.name) ?? call.name;
    call.where = wordsOf(location?.path) ?? call.where;
    const files = listOf(update.content).flatMap((each) => changeIn(each, cwd));
    if (files.length > 0) call.files = files;
  };

  return {
    tell(update) {
      const id = wordsOf(update.toolCallId);
      if (id === undefined) return [];
      const call: ToolCall = calls.get(id) ?? { files: [], titles: [], is: "new" };
      // Some go on about it when it is long done.
      if (call.is === "over") return [];
      learn(call, update);
      keep(id, call);
      const events: AgentEvent[] = [];
      const say = (state: "started" | "done" | "failed"): void => {
        events.push({ type: "tool", name: nameOf(call), what: whatOf(call), state });
      };
      if (call.is === "new") say("started");
      call.is = "started";
      if (update.status === "completed") {
        say("done");
        events.push(...call.files);
      } else if (update.status === "failed") say("failed");
      else return events;
      call.is = "over";
      return events;
    },
    known({ toolCallId, kind, title }) {
      const call = calls.get(wordsOf(toolCallId));
      const known = wordsOf(kind) ?? call?.kind;
      const titles = [wordsOf(title), ...(call?.titles ?? [])].filter((each) => each !== undefined);
      return { ...(known !== undefined && { kind: known }), titles };
    },
  };
}

/** That are remembered; memory does not grow with the length of the work. */
const mostCalls = 1000;

function changeIn(content: Fields, cwd: string): readonly FileEvent[] {
  const where = wordsOf(content.path);
  if (content.type !== "diff" || where === undefined) return [];
  const inside = cwd === "" || !path.isAbsolute(where) ? where : path.relative(cwd, where);
  // Some have no word for a file that was not there: to them it was empty.
  const isNew = (content.oldText ?? "") === "";
  return [
    {
      type: "file",
      path: inside.startsWith("..") ? where : inside,
      change: isNew ? "create" : "modify",
    },
  ];
}

/** Paths in a title as they are in the tree; OpenCode leaves off even the first slash. */
export const within = (cwd: string, text: string): string =>
  cwd.length < 2 ? text : text.replaceAll(`${cwd}/`, "").replaceAll(`${cwd.slice(1)}/`, "");

// ── Counters ────────────────────────────────────────────────────────────────────────────────

/**
 * ACP shows how full the context is and what the session has cost in all. What the context has
 * grown by is what was newly read and written, the rest came from a cache: so that is counted. The
 * answer to the prompt sets it right, for agents that say there what they have used.
 */
function countersOf(resumed: boolean): {
  begin(update: Fields): void;
  tell(update: Fields): readonly AgentEvent[];
  account(result: Fields): readonly AgentEvent[];
} {
  // A session that goes on has counters that are not at zero; nobody says where they are.
  let used: number | undefined = resumed ? undefined : 0;
  let spent: number | undefined = resumed ? undefined : 0;
  let counted = 0;
  const begin = (update: Fields): void => {
    used = numberOf(update.used) ?? used;
    spent = dollarsIn(update.cost) ?? spent;
  };
  const usage = (tokens: number, cost: number | undefined): readonly AgentEvent[] => {
    counted += tokens;
    if (tokens === 0 && !cost) return [];
    return [{ type: "usage", tokens, ...(cost !== undefined && { cost }) }];
  };
  return {
    begin,
    tell(update) {
      const [usedNow, spentNow] = [numberOf(update.used), dollarsIn(update.cost)];
      const tokens = grown(used, usedNow) ?? 0;
      const cost = grown(spent, spentNow);
      begin(update);
      return usage(tokens, cost);
    },
    account: (result) => usage(Math.max(0, totalIn(result) - counted), undefined),
  };
}

/** Undefined: nothing can be said. Smaller than it was: the context was made shorter. */
const grown = (from: number | undefined, to: number | undefined): number | undefined =>
  from === undefined || to === undefined ? undefined : Math.max(0, to - from);

function dollarsIn(cost: unknown): number | undefined {
  const { amount, currency } = fieldsOf(cost);
  return currency === undefined || currency === "USD" ? numberOf(amount) : undefined;
}

/** `usage` is how ACP is about to say it; `_meta.quota` is how Gemini does. */
function totalIn(result: Fields): number {
  const { totalTokens, inputTokens, outputTokens } = fieldsOf(result.usage);
  const total = numberOf(totalTokens) ?? sum(inputTokens, outputTokens);
  const quota = fieldsOf(fieldsOf(fieldsOf(result._meta).quota).token_count);
  return total || sum(quota.input_tokens, quota.output_tokens);
}

const sum = (...numbers: readonly unknown[]): number =>
  numbers.reduce<number>((all, each) => all + (numberOf(each) ?? 0), 0);
