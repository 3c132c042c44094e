/**
 * The state file as text: where each value stands, and how to change one without
 * touching another byte. Nothing here knows what a step means (see position.ts).
 *
 * Invariants
 *  1. `textOf(parse(t))` is `t`, byte for byte, or `t` is refused with a line.
 *  2. An edit changes its own line and nothing else, in that line's own ending.
 *  3. Keys count only inside the Current Step block; other sections may hold examples.
 *  4. Time is linear in the length of the text, whatever the text.
 */
import { fail, type Result, succeed } from "../failure.ts";

export interface Line {
  readonly text: string;
  readonly ending: "" | "\n" | "\r\n";
}

export const fieldNames = [
  "flow",
  "step",
  "name",
  "status",
  "sub_step",
  "retry_count",
  "cycle",
  "tracker",
] as const;
export type FieldName = (typeof fieldNames)[number];

const subFieldNames = ["phase", "name", "detail"] as const;
export type SubFieldName = (typeof subFieldNames)[number];

export type FieldPath = FieldName | `sub_step.${SubFieldName}`;

export interface FieldAt {
  /** Index into `lines`. */
  readonly at: number;
  /** As written, blanks trimmed, quotes kept. */
  readonly written: string;
}

export const sectionNames = [
  "completed steps",
  "key decisions",
  "last session",
  "retry log",
  "blockers",
] as const;
export type SectionName = (typeof sectionNames)[number];

/** Lines `start` up to, not including, `end`; `heading` is the line before `start`. */
export interface Section {
  readonly heading: number;
  readonly start: number;
  readonly end: number;
}

export interface StateFile {
  readonly bom: boolean;
  readonly lines: readonly Line[];
  readonly title: string | undefined;
  readonly block: { readonly start: number; readonly end: number };
  readonly fields: ReadonlyMap<FieldPath, FieldAt>;
  /** True when `sub_step:` is followed by its own keys (generation 3). */
  readonly structured: boolean;
  readonly sections: ReadonlyMap<SectionName, Section>;
}

export const isBlank = (text: string): boolean => text.replace(/^\uFEFF/, "").trim() === "";

export function textOf(file: Pick<StateFile, "bom" | "lines">): string {
  return (file.bom ? "\uFEFF" : "") + file.lines.map((line) => line.text + line.ending).join("");
}

export function parseStateFile(text: string, path: string): Result<StateFile> {
  const bom = text.startsWith("\uFEFF");
  const lines = splitLines(bom ? text.slice(1) : text);

  const nul = lines.findIndex((line) => line.text.includes("\0"));
  if (nul >= 0) {
    return fail(
      "state-file-binary",
      `${path}:${nul + 1} holds a NUL byte: this is not a text file`,
      {
        file: path,
        line: nul + 1,
        hint: "autodev doctor --fix sets it aside and writes the position anew",
      },
    );
  }
  const conflict = conflictIn(lines);
  if (conflict >= 0) {
    return fail("state-file-conflict", `${path}:${conflict + 1} holds git conflict markers`, {
      file: path,
      line: conflict + 1,
      hint: "autodev doctor --fix --take=ours (or --take=theirs) keeps one side",
    });
  }

  const outline = readOutline(lines);
  if (outline.duplicate) {
    const { name, first, second } = outline.duplicate;
    return duplicateFailure(path, `the section "${name}"`, first, second);
  }
  const block = outline.current ?? outline.leading;
  const read = readFields(lines, block, outline.opaque);
  if (!outline.current && !read.sawStep) {
    return fail("state-file-no-position", `${path}:1 has no "## Current Step" section`, {
      file: path,
      line: 1,
      hint: "autodev doctor --fix sets it aside and writes the position anew",
    });
  }
  if (read.duplicate) {
    const { name, first, second } = read.duplicate;
    return duplicateFailure(path, `"${name}:"`, first, second);
  }
  return succeed({
    bom,
    lines,
    title: outline.title,
    block,
    fields: read.fields,
    structured: read.structured,
    sections: outline.sections,
  });
}

/** The value without its quotes; `detail` has escapes, the rest has none. */
export function valueOf(file: StateFile, field: FieldPath): string | undefined {
  const written = file.fields.get(field)?.written;
  if (written === undefined) return undefined;
  return field === "sub_step.detail" ? unquoteDetail(written) : unquote(written);
}

export const lineOf = (file: StateFile, field: FieldPath): number | undefined => {
  const at = file.fields.get(field)?.at;
  return at === undefined ? undefined : at + 1;
};

/** A value of the person's never breaks out of its line. */
export const quoteDetail = (detail: string): string =>
  `"${writable(detail)
    .replace(/\\/g, "\\\\")
    .replace(/"/g, '\\"')
    .replace(/\r?\n|\r/g, "\\n")
    .replace(/\t/g, "\\t")}"`;

export const oneLine = (value: string): string => writable(value.replace(/[\r\n\t]+/g, " ")).trim();

/** What a file can hold and give back: no control characters, no halves of a character. */
const writable = (value: string): string =>
  value
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, "")
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");

/** Changes one field's line; a field that is not there yet gets a line of its own. */
export const setField = (file: StateFile, field: FieldPath, value: string): StateFile =>
  setFields(file, [[field, value]]);

/** Several at once, in one pass: what is present keeps its place, what is missing is inserted. */
export function setFields(
  file: StateFile,
  changes: readonly (readonly [FieldPath, string])[],
): StateFile {
  const lines = [...file.lines];
  const fields = new Map(file.fields);
  const missing: (readonly [FieldPath, string])[] = [];
  for (const [field, value] of changes) {
    const present = file.fields.get(field);
    const line = present && lines[present.at];
    if (!line) {
      missing.push([field, value]);
      continue;
    }
    const colon = keyPrefix.exec(line.text)?.[0] ?? "";
    const prefix = value === "" ? colon.trimEnd() : colon.endsWith(":") ? `${colon} ` : colon;
    lines[present.at] = { ...line, text: prefix + value };
    fields.set(field, { at: present.at, written: value });
  }
  // A new value on an old line moves nothing, but for `sub_step`, whose emptiness means something.
  const reshaped = changes.some(([field]) => field === "sub_step");
  const start = reshaped ? reparsed(file, lines) : { ...file, lines, fields };
  return missing.reduce((next, [field, value]) => insertField(next, field, value), start);
}

export function removeField(file: StateFile, field: FieldPath): StateFile {
  const present = file.fields.get(field);
  if (!present) return file;
  return reparsed(file, replaceLines(file.lines, present.at, 1, []));
}

/** Only a title of ours is changed: whatever else people call their file stays. */
export function setTitle(file: StateFile, title: string): StateFile {
  const at = file.lines.findIndex(({ text }) => {
    const heading = headingOf(text);
    return heading?.level === 1 && /^auto(dev|pilot) state$/i.test(heading.text);
  });
  if (at < 0) return file;
  const line = file.lines[at] as Line;
  const marks = /^ {0,3}#[ \t]+/.exec(line.text)?.[0] ?? "# ";
  return reparsed(file, replaceLines(file.lines, at, 1, [{ ...line, text: marks + title }]));
}

/** Replaces `count` lines from `at`; new lines take the ending of their surroundings. */
export function spliceLines(
  file: StateFile,
  at: number,
  count: number,
  texts: readonly string[],
): StateFile {
  const ending = endingOf(file.lines);
  let lines = file.lines;
  const before = lines[at - 1];
  if (texts.length > 0 && before && before.ending === "") {
    lines = replaceLines(lines, at - 1, 1, [{ ...before, ending }]);
  }
  return reparsed(
    file,
    replaceLines(
      lines,
      at,
      count,
      texts.map((text) => ({ text, ending })),
    ),
  );
}

export function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  let from = 0;
  while (from < text.length) {
    const newline = text.indexOf("\n", from);
    if (newline < 0) {
      lines.push({ text: text.slice(from), ending: "" });
      break;
    }
    const carriage = newline > from && text[newline - 1] === "\r";
    lines.push({
      text: text.slice(from, carriage ? newline - 1 : newline),
      ending: carriage ? "\r\n" : "\n",
    });
    from = newline + 1;
  }
  return lines;
}

/** The two sides of the first conflict, whole documents, for showing and for choosing. */
export function conflictSides(text: string): { ours: string; theirs: string } | undefined {
  const bom = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const sides = { ours: bom, theirs: bom };
  let inside: "both" | "ours" | "base" | "theirs" = "both";
  let seen = false;
  for (const line of splitLines(text.slice(bom.length))) {
    const mark = conflictMark(line.text);
    if (mark === "<") inside = "ours";
    else if (mark === "|" && inside === "ours") inside = "base";
    else if (mark === "=" && (inside === "ours" || inside === "base")) inside = "theirs";
    else if (mark === ">") inside = "both";
    else {
      if (inside === "both" || inside === "ours") sides.ours += line.text + line.ending;
      if (inside === "both" || inside === "theirs") sides.theirs += line.text + line.ending;
    }
    seen ||= mark === "<" || mark === ">";
  }
  return seen ? sides : undefined;
}

// ── reading ────────────────────────────────────────────────────────────────────────────────────

const keyPrefix = /^[ \t]*(?:[-*+][ \t]+)?([A-Za-z][A-Za-z0-9_]*)[ \t]*:[ \t]*/;

function keyOf(text: string): { key: string; written: string } | undefined {
  const match = keyPrefix.exec(text);
  if (!match) return undefined;
  return { key: (match[1] as string).toLowerCase(), written: trimBlanksEnd(text, match[0].length) };
}

function trimBlanksEnd(text: string, from: number): string {
  let end = text.length;
  while (end > from && (text[end - 1] === " " || text[end - 1] === "\t")) end--;
  return text.slice(from, end);
}

function headingOf(text: string): { level: number; text: string } | undefined {
  const marks = /^ {0,3}(#{1,6})[ \t]+/.exec(text);
  if (!marks) return undefined;
  let body = trimBlanksEnd(text, marks[0].length);
  let end = body.length;
  while (end > 0 && body[end - 1] === "#") end--;
  body = body.slice(0, end).trim();
  if (body.endsWith(":")) body = body.slice(0, -1).trim();
  return { level: (marks[1] as string).length, text: body.replace(/\s+/g, " ") };
}

function fenceOf(text: string): { mark: string; length: number; closes: boolean } | undefined {
  const match = /^ {0,3}(`{3,}|~{3,})/.exec(text);
  if (!match) return undefined;
  const run = match[1] as string;
  return {
    mark: run[0] as string,
    length: run.length,
    closes: text.slice(match[0].length).trim() === "",
  };
}

function conflictMark(text: string): "<" | "|" | "=" | ">" | undefined {
  const match = /^(<{7}|\|{7}|={7}|>{7})(?: |$)/.exec(text);
  return match ? ((match[1] as string)[0] as "<" | "|" | "=" | ">") : undefined;
}

const conflictIn = (lines: readonly Line[]): number =>
  lines.findIndex((line) => {
    const mark = conflictMark(line.text);
    return mark === "<" || mark === ">";
  });

interface Repeated {
  readonly name: string;
  readonly first: number;
  readonly second: number;
}

interface Outline {
  title: string | undefined;
  current: { start: number; end: number } | undefined;
  /** What stands before the first real heading, for files without a Current Step heading. */
  leading: { start: number; end: number };
  sections: Map<SectionName, Section>;
  opaque: Set<number>;
  duplicate: Repeated | undefined;
}

function readOutline(lines: readonly Line[]): Outline {
  const closers = longestClosersBelow(lines);
  const outline: Outline = {
    title: undefined,
    current: undefined,
    leading: { start: 0, end: lines.length },
    sections: new Map(),
    opaque: new Set(),
    duplicate: undefined,
  };
  const firstSeen = new Map<string, number>();
  let where: "nothing" | "current" | "other" = "nothing";
  let leadingOpen = true;
  let passedTitle = false;
  let open: { name: string; heading: number } | undefined;

  const closeSection = (end: number): void => {
    if (!open) return;
    const range = { start: open.heading + 1, end };
    if (open.name === "current step") outline.current ??= range;
    else if (isSectionName(open.name) && !outline.sections.has(open.name)) {
      outline.sections.set(open.name, { heading: open.heading, ...range });
    }
    open = undefined;
  };

  for (let at = 0; at < lines.length; at++) {
    const text = (lines[at] as Line).text;
    const fence = fenceOf(text);
    if (fence) {
      const closes = closers[at]?.[fence.mark === "`" ? 0 : 1] ?? 0;
      if (where !== "other" || closes < fence.length) {
        outline.opaque.add(at);
        continue;
      }
      outline.opaque.add(at);
      for (at++; at < lines.length; at++) {
        outline.opaque.add(at);
        const closing = fenceOf((lines[at] as Line).text);
        if (closing?.closes && closing.mark === fence.mark && closing.length >= fence.length) break;
      }
      continue;
    }
    const heading = headingOf(text);
    if (!heading) continue;
    const name = heading.text.toLowerCase();
    if (heading.level === 1) outline.title ??= heading.text;

    if (leadingOpen) {
      if (heading.level === 1 && !passedTitle) passedTitle = true;
      else {
        outline.leading = { start: 0, end: at };
        leadingOpen = false;
      }
    }
    closeSection(at);
    open = { name, heading: at };
    if (name === "current step") where = "current";
    else if (heading.level > 1 || where !== "nothing") where = "other";

    if (name === "current step" || isSectionName(name)) {
      const first = firstSeen.get(name);
      if (first === undefined) firstSeen.set(name, at);
      else outline.duplicate ??= { name: heading.text, first, second: at };
    }
  }
  closeSection(lines.length);
  return outline;
}

const isSectionName = (name: string): name is SectionName =>
  (sectionNames as readonly string[]).includes(name);

/** For each line, the longest closing fence of each kind below it: [backticks, tildes]. */
function longestClosersBelow(lines: readonly Line[]): ([number, number] | undefined)[] {
  const below: ([number, number] | undefined)[] = [];
  let backticks = 0;
  let tildes = 0;
  for (let at = lines.length - 1; at >= 0; at--) {
    const fence = fenceOf((lines[at] as Line).text);
    if (!fence) continue;
    below[at] = [backticks, tildes];
    if (!fence.closes) continue;
    if (fence.mark === "`") backticks = Math.max(backticks, fence.length);
    else tildes = Math.max(tildes, fence.length);
  }
  return below;
}

function readFields(
  lines: readonly Line[],
  block: { start: number; end: number },
  opaque: ReadonlySet<number>,
): {
  fields: Map<FieldPath, FieldAt>;
  structured: boolean;
  sawStep: boolean;
  duplicate: Repeated | undefined;
} {
  const fields = new Map<FieldPath, FieldAt>();
  let duplicate: Repeated | undefined;
  let subStepOpen = false;
  let structured = false;

  const take = (path: FieldPath, at: number, written: string): void => {
    const first = fields.get(path);
    if (first) duplicate ??= { name: path, first: first.at, second: at };
    else fields.set(path, { at, written });
  };

  for (let at = block.start; at < block.end; at++) {
    if (opaque.has(at)) continue;
    const line = keyOf((lines[at] as Line).text);
    if (!line) continue;
    const { key, written } = line;
    if (subStepOpen && isSubField(key)) {
      const path = `sub_step.${key}` as const;
      if (key === "name" && fields.has(path)) take("name", at, written);
      else take(path, at, written);
      structured = true;
      continue;
    }
    if (isField(key)) {
      take(key, at, written);
      subStepOpen = key === "sub_step" && written === "";
    } else {
      subStepOpen = false;
    }
  }
  return { fields, structured, sawStep: fields.has("step"), duplicate };
}

const isField = (key: string): key is FieldName => (fieldNames as readonly string[]).includes(key);
const isSubField = (key: string): key is SubFieldName =>
  (subFieldNames as readonly string[]).includes(key);

function unquote(written: string): string {
  const first = written[0];
  const quoted =
    written.length >= 2 &&
    first === written[written.length - 1] &&
    (first === '"' || first === "'" || first === "`");
  return (quoted ? written.slice(1, -1) : written).trim();
}

function unquoteDetail(written: string): string {
  if (written.length >= 2 && written.startsWith('"') && written.endsWith('"')) {
    return written
      .slice(1, -1)
      .replace(/\\(["\\nt])/g, (_, char: string) =>
        char === "n" ? "\n" : char === "t" ? "\t" : char,
      );
  }
  if (written.length >= 2 && written.startsWith("'") && written.endsWith("'")) {
    return written.slice(1, -1);
  }
  return written;
}

const duplicateFailure = (
  path: string,
  what: string,
  first: number,
  second: number,
): ReturnType<typeof fail> =>
  fail(
    "state-file-duplicate",
    `${path}:${second + 1} repeats ${what}, which stands at line ${first + 1} already`,
    {
      file: path,
      line: second + 1,
      hint: `delete one of the two (lines ${first + 1} and ${second + 1}), or: autodev doctor --fix`,
    },
  );

// ── editing ────────────────────────────────────────────────────────────────────────────────────

const canonicalOrder: readonly FieldPath[] = [
  "flow",
  "step",
  "name",
  "status",
  "sub_step",
  "sub_step.phase",
  "sub_step.name",
  "sub_step.detail",
  "retry_count",
  "cycle",
  "tracker",
];

function insertField(file: StateFile, field: FieldPath, value: string): StateFile {
  const before = canonicalOrder.slice(0, canonicalOrder.indexOf(field)).reverse();
  const neighbour = before.map((name) => file.fields.get(name)).find((at) => at !== undefined);
  const key = field.startsWith("sub_step.") ? field.slice("sub_step.".length) : field;
  const indent = neighbour ? indentFor(file, field, neighbour) : "";
  const at = neighbour ? neighbour.at + 1 : firstBlockLine(file);
  return spliceLines(file, at, 0, [
    value === "" ? `${indent}${key}:` : `${indent}${key}: ${value}`,
  ]);
}

/** Before the first key, or else right after the heading: never after a fence that closes the block. */
function firstBlockLine(file: StateFile): number {
  const keys = [...file.fields.values()].map((field) => field.at);
  return keys.length > 0 ? Math.min(...keys) : file.block.start;
}

function indentFor(file: StateFile, field: FieldPath, neighbour: FieldAt): string {
  const lead = (at: FieldAt | undefined): string =>
    at ? (/^[ \t]*(?:[-*+][ \t]+)?/.exec((file.lines[at.at] as Line).text)?.[0] ?? "") : "";
  if (!field.startsWith("sub_step.")) {
    const sibling = fieldNames.map((name) => file.fields.get(name)).find((at) => at !== undefined);
    return lead(sibling ?? neighbour);
  }
  const sub = subFieldNames
    .map((name) => file.fields.get(`sub_step.${name}`))
    .find((at) => at !== undefined);
  return sub ? lead(sub) : `${lead(file.fields.get("sub_step")).replace(/[-*+]/, " ")}  `;
}

function endingOf(lines: readonly Line[]): "\n" | "\r\n" {
  let crlf = 0;
  let lf = 0;
  for (const line of lines) {
    if (line.ending === "\r\n") crlf++;
    else if (line.ending === "\n") lf++;
  }
  return crlf > lf ? "\r\n" : "\n";
}

function replaceLines(
  lines: readonly Line[],
  at: number,
  count: number,
  replacement: readonly Line[],
): Line[] {
  return [...lines.slice(0, at), ...replacement, ...lines.slice(at + count)];
}

/** What an edit throws that would leave a file that cannot be read; see `orRewritten`. */
class EditBreaksFile extends Error {}

/**
 * An edit of single lines, or, where keys stand so oddly that no line can be changed alone, the
 * block's known keys written anew in their usual order; everything else keeps its place.
 */
export function orRewritten(
  file: StateFile,
  edit: (file: StateFile) => StateFile,
  lines: readonly string[],
): StateFile {
  try {
    return edit(file);
  } catch (error) {
    if (!(error instanceof EditBreaksFile)) throw error;
    const at = firstBlockLine(file);
    const known = new Set([...file.fields.values()].map((field) => field.at));
    const ending = endingOf(file.lines);
    const kept = file.lines.flatMap((line, index) => {
      const block = index === at ? lines.map((text) => ({ text, ending })) : [];
      return known.has(index) ? block : [...block, line];
    });
    return reparsed(file, kept);
  }
}

/** An edit that would not parse never becomes a broken file of the user's. */
function reparsed(file: StateFile, lines: readonly Line[]): StateFile {
  const result = parseStateFile(textOf({ bom: file.bom, lines }), "state file");
  if (!result.ok) throw new EditBreaksFile(`an edit broke it: ${result.failure.message}`);
  return result.value;
}

/**
 * Writes the sub-step with its own keys. Where stray `phase:` or `detail:` lines stand below,
 * which would then read as repetitions, it is written on one line instead.
 */
export function setSubStep(
  file: StateFile,
  subStep: { phase: number; name: string; detail: string },
  scalar: string,
): StateFile {
  try {
    return setFields(file.structured ? file : setField(file, "sub_step", ""), [
      ["sub_step.phase", String(subStep.phase)],
      ["sub_step.name", oneLine(subStep.name)],
      ["sub_step.detail", quoteDetail(subStep.detail)],
    ]);
  } catch (error) {
    if (!(error instanceof EditBreaksFile)) throw error;
    return setScalarSubStep(file, scalar);
  }
}

export function setScalarSubStep(file: StateFile, scalar: string): StateFile {
  // Its own keys go first: behind a line that has a value they would read as somebody else's.
  const own = subFieldNames.flatMap((name) => file.fields.get(`sub_step.${name}`)?.at ?? []);
  const bare = own.sort((a, b) => b - a).reduce((next, at) => spliceLines(next, at, 1, []), file);
  return setField(bare, "sub_step", scalar);
}
