export type SubStep = { phase: number; name: string; detail: string };

export type Fields = {
  flow: string | null;
  step: string | null;
  name: string | null;
  status: string | null;
  subStep: SubStep | "not-understood";
  retryCount: number;
  cycle: number;
  tracker: string | null;
};

type Rule = "R1" | "R2" | "R3" | "R4" | "R5";

export type Judgement =
  | { kind: "refused"; rule: Rule; line: number }
  | { kind: "empty" }
  | { kind: "read"; generation: 1 | 2 | 3; fields: Fields; lines: Record<string, number> };

export type EditableField =
  | "flow"
  | "step"
  | "name"
  | "status"
  | "retry_count"
  | "cycle"
  | "tracker"
  | "sub_step.phase"
  | "sub_step.name"
  | "sub_step.detail";

type Line = { content: string; start: number };
type Heading = { index: number; level: number; title: string };
type Fence = { mark: "`" | "~"; length: number; canClose: boolean };
type KeyLine = { key: string; value: string; afterColon: number };
type Entry = { value: string; line: number };
type Block = { entries: Map<string, Entry>; hasStep: boolean; duplicateLine: number | null };

const BYTE_ORDER_MARK = "\uFEFF";
const POSITION_TITLE = "current step";
const TITLES_ALLOWED_ONCE = new Set([
  POSITION_TITLE,
  "completed steps",
  "key decisions",
  "last session",
  "retry log",
  "blockers",
]);
const KNOWN_KEYS = new Set([
  "flow",
  "step",
  "name",
  "status",
  "sub_step",
  "retry_count",
  "cycle",
  "tracker",
]);
const SUB_KEYS = new Set(["phase", "name", "detail"]);
const KNOWN_STATUSES = new Set(["not_started", "in_progress", "completed", "skipped", "failed"]);
const HIGHEST_RETRY_COUNT = 3;
const DETAIL_ESCAPES = new Map([
  ['"', '"'],
  ["\\", "\\"],
  ["n", "\n"],
  ["t", "\t"],
]);

export function judge(text: string): Judgement {
  const nul = text.indexOf("\0");
  if (nul !== -1) return refused("R1", lineNumberAt(text, nul));

  const lines = splitLines(text);
  const conflict = lines.findIndex((line) => isConflictMarker(line.content));
  if (conflict !== -1) return refused("R2", conflict + 1);

  if (text.trim() === "") return { kind: "empty" };

  const headings = findHeadings(lines);
  const repeated = firstRepeatedHeading(headings);
  if (repeated !== null) return refused("R3", repeated.index + 1);

  const position = headings.find((heading) => heading.title === POSITION_TITLE) ?? null;
  const block = readBlock(lines, ...blockRange(headings, position, lines.length));
  if (position === null && !block.hasStep) return refused("R4", 1);
  if (block.duplicateLine !== null) return refused("R5", block.duplicateLine);

  return interpret(block.entries, headings);
}

export function expectEdit(text: string, field: EditableField, value: string): string {
  const judgement = judge(text);
  if (judgement.kind !== "read") throw new Error(`cannot edit: document is ${judgement.kind}`);
  const line = splitLines(text)[(judgement.lines[field] ?? 0) - 1];
  const keyLine = line === undefined ? null : readKeyLine(line.content);
  if (line === undefined || keyLine === null) throw new Error(`cannot edit: no ${field}`);

  const valueAt = skipBlanks(line.content, keyLine.afterColon);
  const separator = valueAt === keyLine.afterColon ? " " : "";
  const written = field === "sub_step.detail" ? quoteDetail(value) : value;
  const before = text.slice(0, line.start + valueAt);
  const after = text.slice(line.start + line.content.length);
  return before + separator + written + after;
}

function refused(rule: Rule, line: number): Judgement {
  return { kind: "refused", rule, line };
}

function lineNumberAt(text: string, offset: number): number {
  let line = 1;
  let newline = text.indexOf("\n");
  while (newline !== -1 && newline < offset) {
    line += 1;
    newline = text.indexOf("\n", newline + 1);
  }
  return line;
}

function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  let start = text.startsWith(BYTE_ORDER_MARK) ? 1 : 0;
  for (;;) {
    const newline = text.indexOf("\n", start);
    if (newline === -1) {
      lines.push({ content: text.slice(start), start });
      return lines;
    }
    const end = newline > start && text[newline - 1] === "\r" ? newline - 1 : newline;
    lines.push({ content: text.slice(start, end), start });
    start = newline + 1;
  }
}

function isConflictMarker(content: string): boolean {
  if (!content.startsWith("<<<<<<<") && !content.startsWith(">>>>>>>")) return false;
  return content.length === 7 || content[7] === " ";
}

// The scanners below go character by character: their cost stays linear on any line, and they
// share no regular expression with the parser they judge.

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

function isLetter(character: string | undefined): boolean {
  if (character === undefined) return false;
  return (character >= "a" && character <= "z") || (character >= "A" && character <= "Z");
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= "0" && character <= "9";
}

function isDigits(text: string, longest = Infinity): boolean {
  if (text.length === 0 || text.length > longest) return false;
  for (let at = 0; at < text.length; at += 1) {
    if (!isDigit(text[at])) return false;
  }
  return true;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (isBlank(text[at])) at += 1;
  return at;
}

function endWithoutBlanks(text: string, from: number, end = text.length): number {
  let at = end;
  while (at > from && isBlank(text[at - 1])) at -= 1;
  return at;
}

function skipUpToThreeSpaces(content: string): number {
  let at = 0;
  while (at < 3 && content[at] === " ") at += 1;
  return at;
}

function readHeading(content: string, index: number): Heading | null {
  const hashes = skipUpToThreeSpaces(content);
  let at = hashes;
  while (content[at] === "#") at += 1;
  const level = at - hashes;
  if (level < 1 || level > 6 || !isBlank(content[at])) return null;

  const from = skipBlanks(content, at);
  let end = endWithoutBlanks(content, from);
  while (end > from && content[end - 1] === "#") end -= 1;
  end = endWithoutBlanks(content, from, end);
  return { index, level, title: normalizeTitle(content.slice(from, end)) };
}

function normalizeTitle(written: string): string {
  const trimmed = written.trim();
  const withoutColon = trimmed.endsWith(":") ? trimmed.slice(0, -1).trim() : trimmed;
  return withoutColon.replace(/\s+/g, " ").toLowerCase();
}

function readFence(content: string): Fence | null {
  const from = skipUpToThreeSpaces(content);
  const mark = content[from];
  if (mark !== "`" && mark !== "~") return null;
  let end = from;
  while (content[end] === mark) end += 1;
  if (end - from < 3) return null;
  const canClose = end === content.length || content.slice(end).trim() === "";
  return { mark, length: end - from, canClose };
}

function findHeadings(lines: Line[]): Heading[] {
  const fences = lines.map((line) => readFence(line.content));
  const longestCloserAfter = {
    "`": longestCloserAfterEachLine(fences, "`"),
    "~": longestCloserAfterEachLine(fences, "~"),
  };

  const headings: Heading[] = [];
  let section: "nothing yet" | "current" | "other" = "nothing yet";
  for (let index = 0; index < lines.length; index += 1) {
    const fence = fences[index] ?? null;
    if (fence !== null) {
      const isClosed = (longestCloserAfter[fence.mark][index] ?? 0) >= fence.length;
      if (section === "other" && isClosed) index = closingLine(fences, index, fence);
      continue;
    }
    const heading = readHeading(lines[index]?.content ?? "", index);
    if (heading === null) continue;
    headings.push(heading);
    if (heading.title === POSITION_TITLE) section = "current";
    else if (heading.level > 1 || section !== "nothing yet") section = "other";
  }
  return headings;
}

// Knowing beforehand that a fence is closed means that searching its end only ever passes over
// lines that are then skipped, so that the walk stays linear.
function longestCloserAfterEachLine(fences: (Fence | null)[], mark: Fence["mark"]): Int32Array {
  const longest = new Int32Array(fences.length);
  let soFar = 0;
  for (let index = fences.length - 1; index >= 0; index -= 1) {
    longest[index] = soFar;
    const fence = fences[index] ?? null;
    if (fence !== null && fence.mark === mark && fence.canClose) {
      soFar = Math.max(soFar, fence.length);
    }
  }
  return longest;
}

function closingLine(fences: (Fence | null)[], openingIndex: number, opening: Fence): number {
  for (let index = openingIndex + 1; index < fences.length; index += 1) {
    const fence = fences[index] ?? null;
    if (fence === null || !fence.canClose) continue;
    if (fence.mark === opening.mark && fence.length >= opening.length) return index;
  }
  throw new Error("searched the end of a fence that has none");
}

function firstRepeatedHeading(headings: Heading[]): Heading | null {
  const seen = new Set<string>();
  for (const heading of headings) {
    if (!TITLES_ALLOWED_ONCE.has(heading.title)) continue;
    if (seen.has(heading.title)) return heading;
    seen.add(heading.title);
  }
  return null;
}

function blockRange(
  headings: Heading[],
  position: Heading | null,
  lineCount: number,
): [from: number, to: number] {
  if (position !== null) {
    const next = headings.find((heading) => heading.index > position.index);
    return [position.index + 1, next?.index ?? lineCount];
  }
  const documentTitle = headings[0]?.level === 1 ? headings[0] : null;
  const end = headings.find((heading) => heading !== documentTitle);
  return [0, end?.index ?? lineCount];
}

function readKeyLine(content: string): KeyLine | null {
  let at = skipBlanks(content, 0);
  const marker = content[at];
  if (marker === "-" || marker === "*" || marker === "+") {
    if (!isBlank(content[at + 1])) return null;
    at = skipBlanks(content, at + 1);
  }
  const keyAt = at;
  if (!isLetter(content[at])) return null;
  while (isLetter(content[at]) || isDigit(content[at]) || content[at] === "_") at += 1;
  const key = content.slice(keyAt, at).toLowerCase();

  const colon = skipBlanks(content, at);
  if (content[colon] !== ":") return null;
  const afterColon = colon + 1;
  const valueAt = skipBlanks(content, afterColon);
  return { key, value: content.slice(valueAt, endWithoutBlanks(content, valueAt)), afterColon };
}

function readBlock(lines: Line[], from: number, to: number): Block {
  const entries = new Map<string, Entry>();
  let hasStep = false;
  let duplicateLine: number | null = null;
  let isSubStepOpen = false;

  for (let index = from; index < to; index += 1) {
    const keyLine = readKeyLine(lines[index]?.content ?? "");
    if (keyLine === null) continue;
    const { key, value } = keyLine;
    if (key === "step") hasStep = true;

    let field: string;
    if (isSubStepOpen && SUB_KEYS.has(key)) {
      const subField = `sub_step.${key}`;
      field = key === "name" && entries.has(subField) ? "name" : subField;
    } else {
      isSubStepOpen = key === "sub_step" && value === "";
      if (!KNOWN_KEYS.has(key)) continue;
      field = key;
    }

    if (entries.has(field)) duplicateLine ??= index + 1;
    else entries.set(field, { value, line: index + 1 });
  }
  return { entries, hasStep, duplicateLine };
}

function interpret(entries: Map<string, Entry>, headings: Heading[]): Judgement {
  const textOf = (field: string): string => unquote(entries.get(field)?.value ?? "");
  const flow = textOf("flow");
  const scalar = textOf("sub_step");
  const cycle = textOf("cycle");
  const phase = textOf("sub_step.phase");
  const subName = textOf("sub_step.name");
  const detail = readDetail(entries.get("sub_step.detail")?.value ?? "");
  const isStructured = [...entries.keys()].some((field) => field.startsWith("sub_step."));

  const fields: Fields = {
    flow: emptyAsNull(flow),
    step: emptyAsNull(textOf("step")),
    name: emptyAsNull(textOf("name")),
    status: emptyAsNull(readStatus(textOf("status"))),
    subStep:
      phase === "" && subName === "" && detail === ""
        ? readScalar(scalar)
        : readStructured(phase, subName, detail),
    retryCount: readRetryCount(textOf("retry_count")),
    cycle: readCycle(cycle),
    tracker: emptyAsNull(textOf("tracker")),
  };

  const lines: Record<string, number> = {};
  for (const [field, entry] of entries) lines[field] = entry.line;

  let generation: 1 | 2 | 3;
  if (isStructured || cycle !== "" || flow === "meta-repo") generation = 3;
  else if (flow === "") generation = 1;
  else if (scalar !== "") generation = 2;
  else generation = isTitledAutodev(headings) ? 3 : 2;

  return { kind: "read", generation, fields, lines };
}

function isTitledAutodev(headings: Heading[]): boolean {
  const documentTitle = headings.find((heading) => heading.level === 1);
  return documentTitle !== undefined && documentTitle.title.startsWith("autodev");
}

function emptyAsNull(text: string): string | null {
  return text === "" ? null : text;
}

function isWrappedIn(quote: string, value: string): boolean {
  return value.length >= 2 && value.startsWith(quote) && value.endsWith(quote);
}

function unquote(value: string): string {
  const isQuoted = isWrappedIn('"', value) || isWrappedIn("'", value) || isWrappedIn("`", value);
  return (isQuoted ? value.slice(1, -1) : value).trim();
}

function readDetail(value: string): string {
  if (isWrappedIn("'", value)) return value.slice(1, -1);
  if (!isWrappedIn('"', value)) return value;
  const inside = value.slice(1, -1);
  let detail = "";
  for (let at = 0; at < inside.length; at += 1) {
    const character = inside.charAt(at);
    const meaning = character === "\\" ? DETAIL_ESCAPES.get(inside.charAt(at + 1)) : undefined;
    detail += meaning ?? character;
    if (meaning !== undefined) at += 1;
  }
  return detail;
}

function quoteDetail(detail: string): string {
  const escaped = detail
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("\n", "\\n")
    .replaceAll("\t", "\\t");
  return `"${escaped}"`;
}

function readStatus(written: string): string {
  const canonical = written.toLowerCase().replace(/[ \t-]+/g, "_");
  return KNOWN_STATUSES.has(canonical) ? canonical : written;
}

function readRetryCount(written: string): number {
  if (written === "") return 0;
  return isDigits(written) ? Math.min(Number(written), HIGHEST_RETRY_COUNT) : HIGHEST_RETRY_COUNT;
}

function readCycle(written: string): number {
  return isDigits(written, 9) ? Math.max(Number(written), 1) : 1;
}

function readStructured(phase: string, name: string, detail: string): Fields["subStep"] {
  return isDigits(phase, 9) ? { phase: Number(phase), name, detail } : "not-understood";
}

function readScalar(written: string): Fields["subStep"] {
  if (written === "" || written === "0") {
    return { phase: 0, name: "awaiting-invocation", detail: "" };
  }
  if (written.toLowerCase() === "done") return { phase: 0, name: "done", detail: "" };

  let at = 0;
  while (isDigit(written[at])) at += 1;
  const digits = written.slice(0, at);
  if (!isDigits(digits, 9)) return "not-understood";
  const phase = Number(digits);
  let detail = "";
  if (isLetter(written[at])) {
    detail = `variant ${digits}${written.charAt(at).toLowerCase()}`;
    at += 1;
  }

  const rest = written.slice(at);
  if (rest === "") return { phase, name: "", detail };
  const afterSpace = rest.trimStart();
  const title = afterSpace.slice(1);
  if (!/^[—–:-]/.test(afterSpace) || title === "") return "not-understood";
  return { phase, name: kebab(title), detail };
}

function kebab(title: string): string {
  const words = title.toLowerCase().split(/[^a-z0-9]+/);
  return words.filter((word) => word !== "").join("-");
}
