/**
 * What a tool has answered, as data. Servers put JSON into a text, some with marks around it that warn
 * a model; strangers may have written what it holds. Nothing of it is more than an id and an address.
 */
import type { TrackedItem, Trouble } from "../core/tracker/ledger.ts";
import { fieldsOf } from "../core/tracker/tools.ts";
import type { Profile } from "./profiles/profile.ts";

export interface Answer {
  readonly isError: boolean;
  readonly text: string;
  /** Undefined: it is no JSON. */
  readonly value: unknown;
}

const mostText = 4_000_000;

export function answerIn(result: unknown): Answer {
  const { content, structuredContent, isError } = fieldsOf(result);
  const texts = (Array.isArray(content) ? content : []).flatMap((each) => {
    const { type, text } = fieldsOf(each);
    return type === "text" && typeof text === "string" ? [text] : [];
  });
  const text = texts.join("\n").slice(0, mostText);
  return { isError: isError === true, text, value: structuredContent ?? jsonIn(text) };
}

/** The whole text, or what lies between the marks around it. */
function jsonIn(text: string): unknown {
  const inner = text.split("\n").slice(1, -1).join("\n");
  const object = text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1);
  for (const each of [text, inner, object]) {
    try {
      return JSON.parse(each) as unknown;
    } catch {
      // Perhaps the next.
    }
  }
  return undefined;
}

/** Where lists of items are, by all the names that servers have for them. */
const lists = ["issues", "items", "workItems", "results", "value", "nodes", "data"] as const;

export type FoundItems =
  | { readonly is: "found"; readonly items: readonly TrackedItem[] }
  | { readonly is: "unclear"; readonly why: string };

/**
 * Those that carry the key, as we put it there: as a label, or as a line of its own (`marked`).
 * Whoever only speaks of it in a sentence has an item of his own. An item that shows its labels or
 * its text, and not the key, is another; one that shows neither is ours if exactly the key was asked
 * for, and else nobody can tell.
 */
export function foundIn(
  value: unknown,
  { key, exact, profile }: { key: string; exact: boolean; profile: Profile },
): FoundItems {
  const list = listIn(value);
  if (!list) return { is: "unclear", why: "its search gave no list that we understand" };
  const items: TrackedItem[] = [];
  for (const each of list) {
    const fields = fieldsOf(each);
    const item = profile.item(fields);
    if (carries(fields, key) || (exact && !showsMarks(fields))) {
      if (!item)
        return { is: "unclear", why: "its search shows an item without an id of its kind" };
      items.push(item);
    } else if (!showsMarks(fields)) {
      return { is: "unclear", why: "its search shows items, and not whose they are" };
    }
  }
  const known = new Map(items.map((item) => [item.id, item]));
  return { is: "found", items: [...known.values()].sort(byNumber) };
}

/** The lowest number was given first. */
const byNumber = (a: TrackedItem, b: TrackedItem): number =>
  a.id.localeCompare(b.id, "en", { numeric: true });

const labels = ["labels", "tags", "System.Tags", "system.tags"];
const bodies = ["body", "description"];
const marks = [...labels, ...bodies];

function carries(item: Record<string, unknown>, key: string): boolean {
  return [item, fieldsOf(item["fields"])].some(
    (fields) =>
      labels.some((name) => labelsIn(fields[name]).includes(key)) ||
      bodies.some((name) => textsIn(fields[name]).some((text) => hasMark(text, key))),
  );
}

/** A list of names or of things with names, or all of them in one text. */
const labelsIn = (value: unknown): readonly unknown[] =>
  typeof value === "string"
    ? value.split(/[;,]/).map((each) => each.trim())
    : (Array.isArray(value) ? value : Object.values(fieldsOf(value)).flat()).map(
        (each: unknown) => fieldsOf(each)["name"] ?? each,
      );

/** Some keep a text as a tree of paragraphs. */
function textsIn(value: unknown, depth = 0): readonly string[] {
  if (typeof value === "string") return [value];
  if (depth > deepest || typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap((each) => textsIn(each, depth + 1));
}
const deepest = 12;

/** What a tracker makes of Markdown may be written a little otherwise than it was given. */
const hasMark = (text: string, key: string): boolean =>
  text
    .split(/[\r\n]|<\/?(?:p|br|div)\b[^>]{0,200}>/i)
    .some((line) => line.replace(/[\\*_`]/g, "").trim() === `autodev-key: ${key}`);

const showsMarks = (item: Record<string, unknown>): boolean =>
  [item, fieldsOf(item["fields"])].some((fields) => marks.some((name) => name in fields));

function listIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  const fields = fieldsOf(value);
  for (const name of lists) {
    const list = fields[name];
    if (Array.isArray(list)) return list;
    const within = Object.keys(fieldsOf(list)).length > 0 ? listIn(list) : undefined;
    if (within) return within;
  }
  return undefined;
}

/** The item that was created; some answer with it, some with a list of one. */
export function createdIn(value: unknown, profile: Profile): TrackedItem | undefined {
  const own = profile.item(fieldsOf(value));
  if (own) return own;
  const list = listIn(value) ?? [];
  const within = list.length === 1 ? list[0] : fieldsOf(value)["issue"];
  return profile.item(fieldsOf(within));
}

// ── what went wrong ────────────────────────────────────────────────────────────────────────────

/** An error's own words are data too: one line, cut, and nothing that a terminal would obey. */
export const saying = (text: string): string =>
  text
    .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|.)/g, "")
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim()
    .slice(0, mostSaid);

/** Far more than anybody is told of it: a secret is masked before the rest is cut off. */
const mostSaid = 8000;

/** A refusal may come after the deed: only what says clearly that nothing was done is taken for that. */
export function troubleIn(text: string): Trouble {
  const why = saying(text) || "it answered with an error and no words";
  if (/\b429\b|rate.?limit|too many requests|throttl/i.test(text)) {
    const [, seconds] = /retry.?after\D{0,12}(\d{1,5})\b/i.exec(text) ?? [];
    return {
      is: "limited",
      why,
      ...(seconds !== undefined && { afterMs: Number(seconds) * 1000 }),
    };
  }
  if (
    /\b401\b|unauthori[sz]ed|not authenticated|authentication (?:required|failed)|log ?in required/i.test(
      text,
    )
  )
    return { is: "auth", why };
  return { is: "unknown", why };
}
