/**
 * A tracker behind an MCP server. The tools are looked at each time it is opened, and the profile of its
 * kind says which of them does what; whatever comes back is data. A connection that breaks is made
 * anew for the next call, and what was under way is unknown.
 */
import type { NewItem, TrackedItem } from "../core/tracker/ledger.ts";
import type { TrackerKind, TrackerSettings } from "../core/tracker/servers.ts";
import { pinOf, type Tool, toolIn } from "../core/tracker/tools.ts";
import type { Opened, Outcome, Tracker } from "../tracker.ts";
import { answerIn, createdIn, foundIn, saying, troubleIn } from "./answer.ts";
import { type Connection, connect, type Place, reasonOf } from "./connection.ts";
import { profiles } from "./profiles/index.ts";
import type { Mapping, Profile, ToolCall, Verbs } from "./profiles/profile.ts";

export interface McpOptions {
  readonly kind: TrackerKind;
  readonly place: Place;
  readonly settings: TrackerSettings;
  readonly connectMs?: number;
  readonly callMs?: number;
}

const authTool = /^(?:.*[_.:/-])?mcp_auth$/;

export function createMcpTracker(options: McpOptions): Tracker {
  const { kind, place, settings, connectMs = 30_000, callMs = 60_000 } = options;
  const profile = profiles[kind];
  let connection: Connection | undefined;
  let verbs: Verbs | undefined;

  const connected = async (): Promise<Connection> => {
    connection ??= await connect(place, connectMs);
    return connection;
  };
  const letGo = async (): Promise<void> => {
    const open = connection;
    connection = undefined;
    await open?.close().catch(() => undefined);
  };
  const listTools = async (): Promise<readonly unknown[]> => (await connected()).tools(callMs);
  const call = async ({ tool, arguments: given }: ToolCall): Promise<Outcome<unknown>> => {
    try {
      const result = await (await connected()).call(tool, given, callMs);
      const answer = answerIn(result);
      if (answer.isError) return troubleIn(answer.text);
      return { is: "done", value: answer.value ?? answer.text };
    } catch (error) {
      // Which of its answers are still to come nobody knows: the next call has a wire of its own.
      await letGo();
      return troubleIn(reasonOf(error));
    }
  };

  const open = async (): Promise<Opened> => {
    let listed: readonly unknown[];
    try {
      listed = await listTools();
      const [only, ...more] = listed.map(toolIn);
      if (only && more.length === 0 && authTool.test(only.name)) {
        const answered = await call({ tool: only.name, arguments: {} });
        if (answered.is !== "done") return { is: "auth", why: answered.why };
        listed = await listTools();
        const after = listed.flatMap((each) => toolIn(each) ?? []);
        if (after.every(({ name }) => authTool.test(name))) {
          return { is: "auth", why: "it offers nothing but mcp_auth, also after that was called" };
        }
      }
    } catch (error) {
      await letGo();
      const why = reasonOf(error);
      return { is: troubleIn(why).is === "auth" ? "auth" : "unreachable", why: saying(why) };
    }
    const tools = listed.flatMap((each) => toolIn(each) ?? []);
    const mapping = await mappingOf(profile, tools, settings, call);
    if (mapping.is !== "mapped") {
      return { is: "unable", why: mapping.is === "missing" ? mapping.why : "it asks too much" };
    }
    verbs = mapping.verbs;
    const used = new Set(Object.values(verbs.how));
    const pins = listed.flatMap((each) => {
      const pin = pinOf(each);
      return pin && used.has(pin.name) ? [pin] : [];
    });
    return { is: "open", tools: pins, how: verbs.how };
  };

  const withVerbs = async <T>(act: (verbs: Verbs) => Promise<Outcome<T>>): Promise<Outcome<T>> =>
    verbs ? act(verbs) : { is: "cannot", why: "it was not opened" };

  return {
    name: kind,
    lagMs: (settings.search_lag_seconds ?? profile.lagMs / 1000) * 1000,
    open,
    find: (key) =>
      withVerbs(async ({ find, exact }): Promise<Outcome<readonly TrackedItem[]>> => {
        const answered = await call(find(key));
        if (answered.is !== "done") return answered;
        const found = foundIn(answered.value, { key, exact, profile });
        return found.is === "found"
          ? { is: "done", value: found.items }
          : { is: "unknown", why: found.why };
      }),
    create: (item: NewItem) =>
      withVerbs(async ({ create }): Promise<Outcome<TrackedItem>> => {
        const answered = await call(create(item));
        if (answered.is !== "done") return answered;
        const created = createdIn(answered.value, profile);
        if (created) return { is: "done", value: created };
        return { is: "unknown", why: "its answer has no id of the kind that its items have" };
      }),
    link: (id, epic) =>
      withVerbs(async ({ link }): Promise<Outcome<undefined>> => {
        // It was created below its epic.
        if (!link) return { is: "done", value: undefined };
        return settled(await call(link(id, epic)));
      }),
    move: (id, to) =>
      withVerbs(async ({ move }): Promise<Outcome<undefined>> => {
        if (!move) return { is: "cannot", why: "it has no tool to move items" };
        const asked = move.ask ? await call(move.ask(id)) : undefined;
        if (asked && asked.is !== "done") return asked;
        const way = move.call(id, asked?.value);
        if (!way) return { is: "cannot", why: `there is no way from where ${id} is to ${to}` };
        return settled(await call(way));
      }),
    close: letGo,
  };
}

/** What is so already was done: before we lost an answer, or by somebody else. */
const settled = (answered: Outcome<unknown>): Outcome<undefined> =>
  answered.is === "done" ||
  (answered.is === "unknown" && /already (?:exists|linked|added)|duplicate/i.test(answered.why))
    ? { is: "done", value: undefined }
    : answered;

/** A profile may have to ask one thing first: on which site, say. */
async function mappingOf(
  profile: Profile,
  tools: readonly Tool[],
  settings: TrackerSettings,
  call: (what: ToolCall) => Promise<Outcome<unknown>>,
): Promise<Mapping> {
  const mapping = profile.map(tools, settings);
  if (mapping.is !== "ask") return mapping;
  const answered = await call(mapping.call);
  if (answered.is !== "done") return { is: "missing", why: answered.why };
  const value = profile.setting?.(answered.value);
  if (value === undefined) {
    return {
      is: "missing",
      why: `set tracker.${mapping.setting}: ${mapping.call.tool} names none, or several`,
    };
  }
  return profile.map(tools, { ...settings, [mapping.setting]: value });
}
