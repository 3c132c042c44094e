/**
 * What we know of a kind of tracker: which of a server's tools does which verb, found by what the tools
 * are called and take, since names change between versions; and what their answers say. Pure.
 */
import type { NewItem, TrackedItem } from "../../core/tracker/ledger.ts";
import type { TrackerSettings } from "../../core/tracker/servers.ts";
import type { Tool } from "../../core/tracker/tools.ts";

export interface ToolCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface Verbs {
  find(key: string): ToolCall;
  create(item: NewItem): ToolCall;
  /** Absent: an item is created below its epic. */
  link?: (id: string, epic: string) => ToolCall;
  move?: Move;
  /** `find` asks for exactly this key: what comes back need not show it. */
  readonly exact: boolean;
  /** By which tool, for people. */
  readonly how: Readonly<Record<string, string>>;
}

/** Some want to be told by which way, and have to be asked for it first. */
export interface Move {
  ask?: (id: string) => ToolCall;
  /** Undefined: there is no such way from where it is. */
  call(id: string, answer: unknown): ToolCall | undefined;
}

export type Mapping =
  | { readonly is: "mapped"; readonly verbs: Verbs }
  /** A call that says where; its answer is one of the settings. */
  | { readonly is: "ask"; readonly call: ToolCall; readonly setting: "site" }
  | { readonly is: "missing"; readonly why: string };

export interface Profile {
  readonly lagMs: number;
  map(tools: readonly Tool[], settings: TrackerSettings): Mapping;
  /** An item of an answer, if it is one. */
  item(value: Readonly<Record<string, unknown>>): TrackedItem | undefined;
  /** Of an answer to `ask`. */
  setting?(answer: unknown): string | undefined;
}

export const missing = (why: string): Mapping => ({ is: "missing", why });

/** One tool, some of its arguments by all the names that they have had, and a choice it has to offer. */
export interface Sign {
  readonly called: RegExp;
  /** Each has to be there under one of its names. */
  readonly takes?: readonly (readonly string[])[];
  /** `action: create` of a tool that does several things. */
  readonly chosen?: readonly [argument: string, choice: string];
}

/** The first sign that a tool bears. */
export function toolFor(
  tools: readonly Tool[],
  signs: readonly Sign[],
): { readonly tool: Tool; readonly sign: Sign } | undefined {
  for (const sign of signs) {
    const { called, takes = [], chosen } = sign;
    const tool = tools.find(
      ({ name, properties }) =>
        called.test(name) &&
        takes.every((names) => names.some((each) => properties[each])) &&
        (!chosen || properties[chosen[0]]?.choices.includes(chosen[1])),
    );
    if (tool) return { tool, sign };
  }
  return undefined;
}

/** Values by all names that their argument has had; what the tool does not take is left out. */
export function callOf(
  { tool, sign }: { readonly tool: Tool; readonly sign: Sign },
  values: readonly (readonly [names: readonly string[], value: unknown])[],
): ToolCall {
  const given: Record<string, unknown> = sign.chosen ? { [sign.chosen[0]]: sign.chosen[1] } : {};
  for (const [names, value] of values) {
    const name = names.find((each) => tool.properties[each]);
    if (name !== undefined && value !== undefined) given[name] = fitting(value, tool, name);
  }
  return { tool: tool.name, arguments: given };
}

/** A list where a list is wanted, a text where that: servers differ, and say so. */
function fitting(value: unknown, { properties }: Tool, name: string): unknown {
  const type = properties[name]?.type;
  if (type === "array" && !Array.isArray(value)) return [value];
  if (type === "string" && Array.isArray(value)) return value.join(",");
  if (type === "string" && typeof value === "number") return String(value);
  if (type === "string" && typeof value === "object" && value !== null)
    return JSON.stringify(value);
  return value;
}

/** What a tool insists on and was not given. */
export const lacking = ({ tool }: { readonly tool: Tool }, call: ToolCall): string[] =>
  tool.required.filter((name) => call.arguments[name] === undefined);

/** The line by which an item is known to be ours, for people and for searches of text. */
export const marked = ({ body, key }: Pick<NewItem, "body" | "key">): string =>
  `${body}\n\nautodev-key: ${key}`.trim();

/** Every verb's call with values that stand for any, so that what it lacks is seen before it is needed. */
export function mapped(
  verbs: Omit<Verbs, "how">,
  found: Readonly<Record<string, { readonly tool: Tool } | undefined>>,
): Mapping {
  const item: NewItem = { key: "ad-0", kind: "task", title: "-", body: "-", epic: "X-1" };
  const calls: Readonly<Record<string, ToolCall | undefined>> = {
    find: verbs.find("ad-0"),
    create: verbs.create(item),
    link: verbs.link?.("X-1", "X-2"),
    move: verbs.move?.ask ? undefined : verbs.move?.call("X-1", undefined),
  };
  const how: Record<string, string> = {};
  for (const [verb, call] of Object.entries(calls)) {
    const by = found[verb];
    if (!call || !by) continue;
    const lacks = lacking(by, call);
    if (lacks.length > 0) {
      return missing(`its tool ${call.tool} wants ${lacks.join(", ")}, which nobody has told us`);
    }
    how[verb] = call.tool;
  }
  const { create = "" } = how;
  if (verbs.move?.ask && found["move"]) how["move"] = found["move"].tool.name;
  return { is: "mapped", verbs: { ...verbs, how: { link: create, ...how } } };
}

/** `AB-12`: the number alone, as the server knows it. */
export const numberOf = (id: string): number => Number(/\d+$/.exec(id)?.[0] ?? Number.NaN);

export const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

export const wholeNumber = (value: unknown): number | undefined => {
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number > 0
    ? number
    : undefined;
};

/** Only what a browser may be given, and nothing that a terminal would obey. */
export const addressOf = (value: unknown): string | undefined =>
  typeof value === "string" && /^https:\/\/[\x21-\x7e]{1,400}$/.test(value) ? value : undefined;

export const itemOf = (id: string | undefined, url: string | undefined): TrackedItem | undefined =>
  id !== undefined && /^[A-Z][A-Z0-9_]{0,19}-[0-9]{1,12}$/.test(id)
    ? { id, ...(url !== undefined && { url }) }
    : undefined;
