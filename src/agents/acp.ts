/**
 * The Agent Client Protocol, version 1: one client for every agent that speaks it. It is a
 * conversation in JSON-RPC: initialize, a session, one prompt, and the answer to it is the end.
 *
 *  1. We offer no files and no terminal: an agent works in its directory with tools of its own.
 *  2. What comes before the prompt is history, and no event; what comes after the answer is nothing.
 *  3. Each request of the agent's is answered, if only with "not known": it would wait for ever.
 *  4. The result comes through our own tool; the text of the answer is only looked at without it.
 */
import type { AgentEvent, Piece } from "../agent.ts";
import { quotaIn } from "./acp-counters.ts";
import { chosen, isAllowed, optionFor } from "./acp-permission.ts";
import type { AcpProfile } from "./acp-profiles.ts";
import { type Opened, openedIn, settingsFor } from "./acp-session.ts";
import { troubleFrom, troubleOfSession } from "./acp-trouble.ts";
import { chunkIn, endsMessage, eventsOf, type Updates, updatesOf } from "./acp-updates.ts";
import {
  answer,
  fieldsOf,
  type MessageId,
  notification,
  notKnown,
  readMessage,
  request,
  type WireError,
  type WireMessage,
  wordsOf,
} from "./acp-wire.ts";
import type { Ask, Conversation, Dialect, Ending, Heard, Launch } from "./dialect.ts";
import { type Fields, listOf } from "./json-line.ts";

export const createAcpDialect = (profile: AcpProfile): Dialect => ({
  name: "acp",
  capabilities: {
    resume: profile.resumes ?? true,
    structured: "tool",
    permissions: "asked",
    usage: true,
    cost: profile.cost ?? false,
    interrupt: true,
  },
  launch: (ask) => launchOf(profile, ask),
  converse: (ask) => converse(profile, ask),
  translate,
  pieceIn,
});

function launchOf(profile: AcpProfile, ask: Ask): Launch {
  const { program, args, shell, env, envFor, argsFor, model } = profile;
  const named = model && ask.model !== undefined ? model : undefined;
  // In one: no value is taken for an option.
  const chosenBy = named && "arg" in named ? [`${named.arg}=${ask.model}`] : [];
  return {
    program,
    args: [...args, ...(argsFor?.[ask.permission] ?? []), ...chosenBy, ...(ask.args ?? [])],
    ...(shell && { shell }),
    env: {
      ...env,
      ...envFor?.[ask.permission],
      ...(named && "env" in named && { [named.env]: ask.model }),
    },
  };
}

/** A line of a transcript: without what came before, a chunk of a message is a message. */
function translate(line: string): readonly AgentEvent[] {
  const message = readMessage(line);
  if (message?.is === "notification" && message.method === "session/update") {
    return eventsOf(fieldsOf(message.params.update));
  }
  const id = message?.is === "answer" ? wordsOf(message.result.sessionId) : undefined;
  return id === undefined ? [] : [{ type: "session", id }];
}

function pieceIn(line: string): Piece | undefined {
  const message = readMessage(line);
  if (message?.is !== "notification" || message.method !== "session/update") return undefined;
  const { params } = message;
  const update = fieldsOf(params.update);
  const text = chunkIn(update);
  if (text === undefined) return endsMessage(update) ? undefined : { is: "beside" };
  const { sessionUpdate, messageId, content } = update;
  return {
    is: "part",
    of: JSON.stringify([sessionUpdate, messageId]),
    text,
    saying: (other) =>
      notification(message.method, {
        ...params,
        update: { ...update, content: { ...fieldsOf(content), text: other } },
      }),
  };
}

// ── The conversation ────────────────────────────────────────────────────────────────────────

/** What is done with the answer to a request of ours, or with the error instead of it. */
interface Awaited {
  next(result: Fields): Heard;
  orElse(error: WireError): Heard;
}

const nothing: Heard = { events: [] };

function converse(profile: AcpProfile, ask: Ask): Conversation {
  const awaited = new Map<MessageId, Awaited>();
  let nextId = 1;
  let session: Opened | undefined;
  let is: "opening" | "prompted" | "interrupted" | "over" = "opening";
  const updatesWhen = (resumed: boolean): Updates =>
    updatesOf({ cwd: ask.cwd, resumed, ...profile });
  let updates = updatesWhen(false);

  const ended = (ending: Ending, events: readonly AgentEvent[] = []): Heard => {
    is = "over";
    return { events, ending };
  };
  const inTrouble = (trouble: Ending["trouble"], events: readonly AgentEvent[] = []): Heard =>
    ended({ text: updates.lastText(), ...modelOf(session), ...(trouble && { trouble }) }, events);
  /** Asks; an error is the end, unless somebody knows better. */
  const asking = (
    method: string,
    params: object,
    next: Awaited["next"],
    orElse: Awaited["orElse"] = (error) => inTrouble(troubleFrom(error), updates.flush()),
  ): string => {
    const id = nextId++;
    awaited.set(id, { next, orElse });
    return request(id, method, params);
  };

  // ── into a session ──

  const initialized = (result: Fields): Heard => {
    const { protocolVersion, agentCapabilities } = result;
    if (protocolVersion !== version) {
      const said =
        typeof protocolVersion === "number" ? `version ${protocolVersion}` : "no version";
      const text = `it speaks ${said} of ACP, not ${version}`;
      return inTrouble({ text, kind: "crash" });
    }
    const can = fieldsOf(agentCapabilities);
    const isToolPossible = fieldsOf(can.mcpCapabilities).http === true;
    const tool = isToolPossible ? ask.resultTool : undefined;
    const where = { cwd: ask.cwd, mcpServers: tool ? [serverAt(tool.url)] : [] };
    const prompt = promptOf(ask, tool !== undefined);
    const way = ask.resume && wayBack(can);
    if (!ask.resume || !way) {
      return say(asking("session/new", where, (opened) => sessionOpened(opened, prompt)));
    }
    const { session: sessionId } = ask.resume;
    updates = updatesWhen(true);
    return say(
      asking(
        way,
        { sessionId, ...where },
        (opened) =>
          sessionOpened({ ...opened, sessionId: wordsOf(opened.sessionId) ?? sessionId }, prompt),
        (error) => inTrouble(troubleOfSession(error)),
      ),
    );
  };

  const sessionOpened = (result: Fields, prompt: string): Heard => {
    session = openedIn(result);
    if (!session) return inTrouble({ text: "it opened a session without an id", kind: "crash" });
    const { id, model } = session;
    const settings = settingsFor(session, profile, ask);
    if (typeof settings === "string") return inTrouble({ text: settings, kind: "crash" });
    const begun = settle(settings, id, prompt);
    return { ...begun, events: [{ type: "session", id, ...(model !== undefined && { model }) }] };
  };

  /** One setting after the other, then the prompt. */
  const settle = (
    [setting, ...rest]: Exclude<ReturnType<typeof settingsFor>, string>,
    sessionId: string,
    prompt: string,
  ): Heard => {
    if (!setting) return prompted(sessionId, prompt);
    const { method, params, isVital } = setting;
    const next = (): Heard => settle(rest, sessionId, prompt);
    return say(asking(method, { sessionId, ...params }, next, isVital ? undefined : next));
  };

  const prompted = (sessionId: string, prompt: string): Heard => {
    is = "prompted";
    const params = { sessionId, prompt: [{ type: "text", text: prompt }] };
    return say(asking("session/prompt", params, turnEnded));
  };

  // ── the turn ──

  const turnEnded = (result: Fields): Heard => {
    const events = [...updates.flush(), ...updates.account(result)];
    const text = updates.lastText();
    const reason = endings.find(({ stopReason }) => stopReason === result.stopReason);
    return ended(
      {
        text,
        ...modelOf(session, result),
        ...seemingIn(text, profile.error),
        ...reason?.ending(text),
      },
      events,
    );
  };

  const permissionAsked = (id: MessageId, params: Fields): Heard => {
    // Who was told to leave off is to hear that all it asks is off, too.
    if (is !== "prompted") return say(answer(id, chosen(undefined)));
    const { told, call } = updates.asked(fieldsOf(params.toolCall));
    const isYes = isAllowed(ask.permission, call);
    const option = optionFor(isYes, params.options);
    return {
      say: [answer(id, chosen(option))],
      events: [
        ...told,
        {
          type: "permission",
          tool: call.kind ?? "tool",
          what: call.what,
          allowed: isYes && option !== undefined,
        },
      ],
    };
  };

  const updated = ({ sessionId, update }: Fields): Heard => {
    // Agents that work for this one have sessions of their own.
    if (session && sessionId !== undefined && sessionId !== session.id) return nothing;
    if (is === "over") return nothing;
    if (is !== "opening") return { events: updates.tell(fieldsOf(update)) };
    updates.skip(fieldsOf(update));
    return nothing;
  };

  const hear = (message: WireMessage): Heard => {
    switch (message.is) {
      case "request":
        return message.method === "session/request_permission"
          ? permissionAsked(message.id, message.params)
          : say(notKnown(message.id, message.method));
      case "notification":
        return message.method === "session/update" ? updated(message.params) : nothing;
      default: {
        const waiting = awaited.get(message.id);
        awaited.delete(message.id);
        if (!waiting || is === "over") return nothing;
        return message.is === "answer"
          ? waiting.next(message.result)
          : waiting.orElse(message.error);
      }
    }
  };

  return {
    begin: () => ({ say: [asking("initialize", introduction, initialized)] }),
    hear(line) {
      const message = readMessage(line);
      return message ? hear(message) : nothing;
    },
    interrupt() {
      if (is !== "prompted" || !session) return [];
      is = "interrupted";
      return [notification("session/cancel", { sessionId: session.id })];
    },
  };
}

const say = (line: string): Heard => ({ events: [], say: [line] });

const version = 1;
const introduction = {
  protocolVersion: version,
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  clientInfo: { name: "autodev", title: "autodev", version: "1" },
};

const serverName = "autodev";
const serverAt = (url: string): object => ({ type: "http", name: serverName, url, headers: [] });

/** Without a look at the past, where that can be had; undefined: it cannot go back. */
function wayBack(can: Fields): "session/resume" | "session/load" | undefined {
  const { resume } = fieldsOf(can.sessionCapabilities);
  if (typeof resume === "object" && resume !== null) return "session/resume";
  return can.loadSession === true ? "session/load" : undefined;
}

/** The tool by its name: some agents show the tools of servers only to who looks for them. */
const promptOf = ({ prompt, schema }: Ask, hasTool: boolean): string =>
  hasTool
    ? `${prompt}\n\nHand in the result by calling the tool \`submit_result\` of the MCP server \`${serverName}\`; only if there is no such tool, end with the result as your last message, as JSON.\n`
    : `${prompt}\n\nEnd with the result as your last message: a JSON object of this schema, and nothing else.\n\n${JSON.stringify(schema)}\n`;

/**
 * `max_tokens` is one answer that was cut off at its length, not a conversation that is too long:
 * like the other limit it ends a turn, and the session can go on from there.
 */
const endings: readonly { stopReason: string; ending(text: string): Partial<Ending> }[] = [
  { stopReason: "cancelled", ending: () => ({ cancelled: true }) },
  {
    stopReason: "refusal",
    ending: (text) => ({ trouble: { text: text || "it gave no reason", kind: "refusal" } }),
  },
  {
    stopReason: "max_tokens",
    ending: () => ({ trouble: { text: "its answer was too long", kind: "turn_limit" } }),
  },
  {
    stopReason: "max_turn_requests",
    ending: () => ({ trouble: { text: "too many requests in one turn", kind: "turn_limit" } }),
  },
];

function seemingIn(text: string, error: RegExp | undefined): Pick<Ending, "seeming"> {
  const found = error?.exec(text);
  if (!found) return {};
  const status = Number(found.groups?.status);
  return { seeming: { text, ...(status > 0 && { status }) } };
}

/** Gemini says at the end which model it was that worked. */
function modelOf(session: Opened | undefined, result: Fields = {}): { model?: string } {
  const [usage] = listOf(quotaIn(result).model_usage);
  const used = wordsOf(usage?.model);
  const model = used ?? session?.model;
  return model === undefined ? {} : { model };
}
