/**
 * One entry of ours in somebody's JSON, with whatever comments, commas and layout it has.
 *
 *  1. No byte changes but ours: the entry, and the comma that it needs.
 *  2. What was there before can be told from the text alone. So nothing is ever added behind our
 *     entry but a comma, where the file had one behind its last entry already; and before it only
 *     white space, from the brace, comma or comment on that comes before it.
 *  3. What we had to make around it (the object that it is in, the whole) has one space on either
 *     side between its braces, which we never put into braces of others.
 *  4. A file that was not there is written over several lines, which an entry that is added never is.
 */
import { getNodeValue, type Node, type ParseError, parseTree } from "jsonc-parser";
import { fail, type Result, succeed } from "../core/failure.ts";
import {
  type Found,
  type Intent,
  lineAt,
  lineEndOf,
  type Outcome,
  type PlanFile,
  plainEnds,
  same,
} from "../core/host/outcome.ts";
import type { EntryWanted } from "../core/host/wanted.ts";
import type { Edit } from "../core/plan/edits.ts";

export const planJsonEntry: PlanFile<EntryWanted> = (wanted, found, intent) => {
  const { file, text } = found;
  if (text === undefined) {
    return succeed(intent.do === "take" ? same : { is: "create", text: wholeFile(wanted) });
  }
  if (text.replace(/^\uFEFF/u, "").trim() === "") {
    return succeed(
      intent.do === "take"
        ? same
        : edited(file, text.length, text.length, braced(member(wanted, 0, text))),
    );
  }
  const read = readObjects(text, wanted, file);
  if (!read.ok) return read;
  return succeed(
    intent.do === "take" ? take(wanted, found, read.value) : put(wanted, found, read.value, intent),
  );
};

interface Objects {
  readonly root: Node;
  /** The property that holds the object that the entry is in. */
  readonly holder: Node | undefined;
  readonly entry: Node | undefined;
}

function put(wanted: EntryWanted, found: Found, objects: Objects, { replace }: Intent): Outcome {
  const { file, text = "" } = found;
  const { root, holder, entry } = objects;
  if (!entry) {
    const inside = holder ? valueOf(holder) : root;
    return { is: "edit", edits: added(file, text, inside, member(wanted, holder ? 1 : 0, text)) };
  }
  const value = valueOf(entry);
  const present: unknown = getNodeValue(value);
  if (serves(present, wanted)) return same;
  if (replace) {
    return edited(file, value.offset, endOf(value), oneLine(wanted.entry, isTight(text)));
  }
  const line = lineAt(text, entry.offset);
  return {
    is: "left",
    line,
    why: `there is another ${wanted.path.join(".")}`,
    hint: `remove it from ${file}, line ${line}, and run the same command again`,
  };
}

function take(wanted: EntryWanted, found: Found, objects: Objects): Outcome {
  const { file, text = "" } = found;
  const { root, holder, entry } = objects;
  if (!holder || !entry) return same;
  if (plainEnds(text) === wholeFile(wanted)) return { is: "remove", made: 0 };
  if (!isEqual(getNodeValue(valueOf(entry)), wanted.entry)) {
    const line = lineAt(text, entry.offset);
    const why = `${wanted.path.join(".")} is not as we write it`;
    return { is: "left", line, why, hint: "remove it yourself, if nobody needs it" };
  }
  if (!isMadeAround(text, valueOf(holder), entry)) {
    return { is: "edit", edits: removed(file, text, valueOf(holder), entry) };
  }
  if (!isMadeAround(text, root, holder)) {
    return { is: "edit", edits: removed(file, text, root, holder) };
  }
  return edited(file, root.offset, endOf(root), "");
}

// ── reading ────────────────────────────────────────────────────────────────────────────────────

function readObjects(text: string, { path }: EntryWanted, file: string): Result<Objects> {
  const broken = (offset: number, what: string, hint: string): ReturnType<typeof fail> => {
    const line = lineAt(text, offset);
    return fail("host-file-invalid", `${file}:${line}: ${what}`, { file, line, hint });
  };
  const errors: ParseError[] = [];
  // A byte order mark is white space to nobody: a space takes its place, and all offsets stay.
  const read = treeOf(text.replace(/^\uFEFF/u, " "), errors);
  const [error] = errors;
  if (error || !read) {
    return broken(error?.offset ?? 0, "this is no JSON", "mend the line; then autodev init");
  }
  const [outer, inner] = path;
  const asObject = (node: Node, what: string): Result<Node> =>
    node.type === "object"
      ? succeed(node)
      : broken(node.offset, `${what} has to be an object`, `write ${what} as { … }`);
  const property = (node: Node, key: string): Result<Node | undefined> => {
    const [first, second] = (node.children ?? []).filter((each) => keyOf(each) === key);
    return second
      ? broken(second.offset, `${key} stands here a second time`, "keep one of the two")
      : succeed(first);
  };
  const root = asObject(read, "the file");
  if (!root.ok) return root;
  const holder = property(root.value, outer);
  if (!holder.ok) return holder;
  if (!holder.value) return succeed({ root: root.value, holder: undefined, entry: undefined });
  const object = asObject(valueOf(holder.value), outer);
  if (!object.ok) return object;
  const entry = property(object.value, inner);
  return entry.ok ? succeed({ root: root.value, holder: holder.value, entry: entry.value }) : entry;
}

/** Undefined: it is nested deeper than anything that people write. */
function treeOf(text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { allowTrailingComma: true });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const keyOf = (property: Node): unknown => property.children?.[0]?.value;
const endOf = ({ offset, length }: Node): number => offset + length;

function valueOf(property: Node): Node {
  const value = property.children?.[1];
  if (!value) throw new Error("a property without a value was read as JSON");
  return value;
}

/** What stands from there to the next key or brace: where its comma is, where its last word ends. */
function gapFrom(text: string, from: number): { comma?: number; end: number; isOpen: boolean } {
  const part = /\s*(?:(\/\/[^\r\n]*)|\/\*[^]*?\*\/|(,))/uy;
  part.lastIndex = from;
  let comma: number | undefined;
  let end = from;
  let isOpen = false;
  for (let found = part.exec(text); found; found = part.exec(text)) {
    end = part.lastIndex;
    isOpen = found[1] !== undefined;
    if (found[2] !== undefined) comma = end - 1;
  }
  return { ...(comma !== undefined && { comma }), end, isOpen };
}

// ── changing ───────────────────────────────────────────────────────────────────────────────────

/** Behind all that is in the object. */
function added(file: string, text: string, object: Node, ours: string): Edit[] {
  const last = object.children?.at(-1);
  const from = last ? endOf(last) : object.offset + 1;
  const { comma, end, isOpen } = gapFrom(text, from);
  const space = spaceBefore(text, object, last, isOpen);
  const insert = (at: number, what: string): Edit => ({ file, from: at, to: at, text: what });
  if (!last) return [insert(end, space + ours)];
  if (comma !== undefined) return [insert(end, `${space}${ours},`)];
  return end === from
    ? [insert(from, `,${space}${ours}`)]
    : [insert(from, ","), insert(end, space + ours)];
}

/** As the entry before it has it; `isOpen`: a comment stands there that only a line end ends. */
function spaceBefore(text: string, object: Node, last: Node | undefined, isOpen: boolean): string {
  if (last) {
    const before = text.slice(object.offset, last.offset);
    const own = before.slice(before.trimEnd().length);
    const isOnItsLine = own.includes("\n") || isOpen;
    return isOnItsLine ? lineEndOf(text) + own.slice(own.lastIndexOf("\n") + 1) : own;
  }
  const inside = text.slice(object.offset + 1, endOf(object) - 1);
  if (!inside.includes("\n")) return "";
  const closing = /^[ \t]*/u.exec(lineWith(text, endOf(object) - 1))?.[0] ?? "";
  return lineEndOf(text) + closing + indentIn(text);
}

const lineWith = (text: string, offset: number): string =>
  text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);

const indentIn = (text: string): string => /\n([ \t]+)"/u.exec(text)?.[1] ?? "  ";

/** With its comma, or the one before it where it has none. */
function removed(file: string, text: string, object: Node, property: Node): Edit[] {
  const all = object.children ?? [];
  const before = all[all.indexOf(property) - 1];
  const gap = gapFrom(text, before ? endOf(before) : object.offset + 1);
  const after = gapFrom(text, endOf(property));
  const comma = after.comma ?? gap.comma;
  const cut = (from: number, to: number): Edit => ({ file, from, to, text: "" });
  const ours = cut(gap.end, endOf(property));
  if (comma === undefined) return [ours];
  if (comma === ours.to) return [cut(ours.from, comma + 1)];
  if (comma + 1 === ours.from) return [cut(comma, ours.to)];
  return [ours, cut(comma, comma + 1)];
}

/** Braces of ours: one space, what we put there, one space. */
const isMadeAround = (text: string, object: Node, property: Node): boolean =>
  text.slice(object.offset, endOf(object)) === braced(text.slice(property.offset, endOf(property)));

const edited = (file: string, from: number, to: number, text: string): Outcome => ({
  is: "edit",
  edits: [{ file, from, to, text }],
});

// ── writing ────────────────────────────────────────────────────────────────────────────────────

/** From the key at `depth` on: 0 with the object around it, 1 the entry alone. */
function member({ path, entry }: EntryWanted, depth: 0 | 1, text: string): string {
  const tight = isTight(text);
  const pair = (key: string, value: string): string =>
    `${JSON.stringify(key)}:${tight ? "" : " "}${value}`;
  const own = pair(path[1], oneLine(entry, tight));
  return depth === 1 ? own : pair(path[0], braced(own));
}

/** All on one line, and no space behind a colon. */
const isTight = (text: string): boolean => /":/u.test(text) && !/\n(?!$)|":\s/u.test(text);

function oneLine(entry: EntryWanted["entry"], tight: boolean): string {
  if (tight) return JSON.stringify(entry);
  const pairs = Object.entries(entry).map(([key, value]) => `"${key}": ${listed(value)}`);
  return braced(pairs.join(", "));
}

const listed = (value: unknown): string =>
  Array.isArray(value)
    ? `[${value.map((each) => JSON.stringify(each)).join(", ")}]`
    : JSON.stringify(value);

const braced = (inside: string): string => `{ ${inside} }`;

function wholeFile({ path, entry }: EntryWanted): string {
  const pairs = Object.entries(entry).map(([key, value]) => `      "${key}": ${listed(value)}`);
  return `{\n  "${path[0]}": {\n    "${path[1]}": {\n${pairs.join(",\n")}\n    }\n  }\n}\n`;
}

/** It starts what ours starts, whatever else it says. */
const serves = (value: unknown, { entry }: EntryWanted): boolean =>
  typeof value === "object" &&
  value !== null &&
  ["command", "args"].every((key) => isEqual((value as never)[key], entry[key])) &&
  (value as { enabled?: unknown }).enabled !== false;

const isEqual = (a: unknown, b: unknown): boolean => {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const keys = Object.keys(a);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    keys.length === Object.keys(b).length &&
    keys.every((key) => isEqual(a[key as never], b[key as never]))
  );
};
