/**
 * What an ACP agent tells while it works, as events. What comes in pieces is put together here: the
 * chunks of a message, a tool call and its updates, counters that only ever show their total.
 */
import type { AgentEvent } from "../agent.ts";
import { countersOf } from "./acp-counters.ts";
import type { Asides, ToolKind } from "./acp-profiles.ts";
import { type KnownCall, toolCalls } from "./acp-tools.ts";
import { fieldsOf, wordsOf } from "./acp-wire.ts";
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

export interface UpdatesOf {
  readonly cwd: string;
  /** The session was there before. */
  readonly resumed: boolean;
  readonly asides?: Asides;
  readonly kinds?: readonly ToolKind[];
}

export function updatesOf({ cwd, resumed, asides, kinds }: UpdatesOf): Updates {
  const message = gathering(asides);
  const tools = toolCalls({ cwd, kinds });
  const counters = countersOf({ resumed });
  return {
    tell(update) {
      switch (update.sessionUpdate) {
        case "agent_message_chunk":
          return [...message.add("text", update), ...counters.add(update)];
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

/** What a chunk of a message says. */
export function chunkIn({ sessionUpdate, content }: Fields): string | undefined {
  if (!["agent_message_chunk", "agent_thought_chunk"].includes(String(sessionUpdate)))
    return undefined;
  const { type, text } = fieldsOf(content);
  return type === "text" && typeof text === "string" ? text : undefined;
}

/** What comes after it is another message (see `updatesOf`). */
export const endsMessage = ({ sessionUpdate }: Fields): boolean =>
  sessionUpdate === "tool_call" || sessionUpdate === "plan";

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
