/**
 * Troubles of agents, told apart by what they print. The hard part is what is none: agents warn
 * before a limit, and they write about limits, keys and statuses all day.
 *
 * 1. A line is an error only by how it begins; a phrase within a line proves nothing.
 * 2. A status counts where something says that it is one: a field, or the beginning of an error.
 * 3. Quotes, lists, diffs, tables and fenced code are never errors of the agent's own.
 * 4. The last error counts: what came before it did not end the attempt.
 * 5. Only the beginning and the end of a long text are looked at, and no pattern repeats without a
 *    bound, so that the work does not grow with the text.
 */
import { momentOf } from "../plan/moment.ts";
import { type Asked, type Fields, resetIn } from "./reset-time.ts";
import { kindOfStatus, litellm, type SignKind, sentences, signs, tokens } from "./trouble-signs.ts";
import { isoOf } from "./wall-clock.ts";

/** Everything that can go wrong with an agent, told apart for every agent alike. */
export const troubleKinds = [
  "auth",
  "usage_limit",
  "rate_limit",
  "overloaded",
  "server",
  "network",
  "budget",
  "turn_limit",
  "context",
  "refusal",
  "session_not_found",
  "schema",
  "idle_timeout",
  "timeout",
  "crash",
  "spawn",
] as const;

export type TroubleKind = (typeof troubleKinds)[number];

export interface Trouble {
  readonly kind: TroubleKind;
  readonly message: string;
  readonly status?: number;
  /** ISO, UTC: when it is worth trying again, as far as was said. It may have passed. */
  readonly until?: string;
}

export interface Said {
  readonly text: string;
  readonly status?: number;
  /** Lower-case header and field names. */
  readonly fields?: Fields;
}

export interface Moment {
  /** ISO, UTC. */
  readonly now: string;
  /** Minutes east of UTC of the person's clock, for texts like "resets 3pm". */
  readonly zoneMinutes: number;
}

/** From an HTTP status and/or a text. Undefined: nothing known. */
export function troubleIn(said: Said, at: Moment): Trouble | undefined {
  const fields = said.fields ?? {};
  const lines = linesOf(said.text);
  if (said.status !== undefined && said.status >= 400) {
    const message = joined(lines, 0, 4000);
    const kind = signOf(message) ?? tokenIn(fields) ?? kindOfStatus(said.status);
    return kind && trouble({ kind, message, status: said.status }, fields, at);
  }
  for (let index = lines.length - 1; index >= 0; index--) {
    const found = errorAt(lines, index);
    if (found) return trouble(found, fields, at);
  }
  const kind = tokenIn(fields);
  return kind && trouble({ kind, message: joined(lines, 0, 4000) }, fields, at);
}

/**
 * For texts that an agent gives as an ordinary answer (ACP agents return 429 and 401 as text and
 * `end_turn`): only when the whole text is such a message.
 */
export function troubleAsAnswer(text: string, at: Moment): Trouble | undefined {
  if (text.length > 4000 || text.includes("```")) return undefined;
  const lines = linesOf(text);
  const first = errorAt(lines, 0);
  if (!first || lines.length > 40) return undefined;
  const after = lines.slice(1);
  if (after.some((line) => talks.test(line) || narrates.test(line))) return undefined;
  return troubleIn({ text }, at);
}

interface Found {
  readonly kind: SignKind;
  readonly message: string;
  readonly status?: number;
}

/** Shorter than this it is a matter of requests a minute; longer, of the account. */
const briefly = 10 * 60_000;

function trouble({ kind: sign, message, status }: Found, fields: Fields, at: Moment): Trouble {
  const asked: Asked = { now: momentOf(at.now) ?? 0, zoneMinutes: at.zoneMinutes };
  const account = fields["anthropic-ratelimit-unified-status"] === "rejected";
  const limited = sign === "limit" && account ? "usage_limit" : sign;
  const quota = limited === "usage_limit";
  const reset = waits.has(limited) ? resetIn(message, fields, asked, quota) : undefined;
  const long = reset !== undefined && reset - asked.now > briefly;
  const until = reset === undefined ? undefined : isoOf(reset);
  return {
    kind: limited === "limit" ? (long ? "usage_limit" : "rate_limit") : limited,
    message: shown(message),
    ...(status === undefined ? {} : { status }),
    ...(until === undefined ? {} : { until }),
  };
}

/** Troubles that end by themselves. */
const waits: ReadonlySet<SignKind> = new Set<SignKind>([
  "limit",
  "usage_limit",
  "rate_limit",
  "overloaded",
  "server",
]);

const signOf = (message: string): SignKind | undefined =>
  signs.find(([, sign]) => sign.test(message))?.[0];

const tokenFields = ["errorkind", "errortype", "error", "code", "type", "subtype", "stopreason"];

function tokenIn(fields: Fields): SignKind | undefined {
  if (fields["anthropic-ratelimit-unified-status"] === "rejected") return "usage_limit";
  for (const [name, value] of Object.entries(fields)) {
    const kind = tokens.get(String(value).toLowerCase());
    if (kind && tokenFields.includes(name.replace(/[_-]/g, ""))) return kind;
  }
  return undefined;
}

const longest = 16_000;
const mostLines = 400;
const colours = /\u001b\[[0-9;?]{0,20}[a-z]/gi;
const escapedQuote = /\\{1,7}"/g;
const escapedLine = /\\{1,7}n(?=[\s"{}\]]|$)/g;
const decorations = new Set("⎿ ■ ✕ ✗ ✘ ✖ ● ⏺ 🖐 ⚠ │ • \ufe0f".split(" ").concat(" "));

/** Each line with single spaces and straight quotes; code between fences is left out. */
function linesOf(text: string): string[] {
  const looked =
    text.length > 2 * longest ? `${text.slice(0, longest)}\n${text.slice(-longest)}` : text;
  const plain = looked
    .replace(colours, "")
    .replace(/[’‘]/g, "'")
    .replace(escapedQuote, '"')
    .replace(escapedLine, " ");
  let fenced = false;
  const lines: string[] = [];
  for (const line of plain.split("\n")) {
    const single = line
      .split(/\s/)
      .filter((word) => word !== "")
      .join(" ");
    if (single.startsWith("```") || single.startsWith("~~~")) fenced = !fenced;
    else if (!fenced && single !== "") lines.push(undecorated(single));
  }
  return lines.length > mostLines
    ? [...lines.slice(0, mostLines / 4), ...lines.slice((-3 * mostLines) / 4)]
    : lines;
}

/** Marks that agents set before what they say; never those of lists, quotes and diffs. */
function undecorated(line: string): string {
  let from = 0;
  for (const mark of line) {
    if (!decorations.has(mark)) break;
    from += mark.length;
  }
  return line.slice(from);
}

/** A message goes on in the lines that follow: terminals wrap, and JSON is printed in many. */
function joined(lines: readonly string[], from: number, most: number): string {
  let all = "";
  for (let index = from; index < lines.length && all.length < most; index++) {
    all += `${all === "" ? "" : " "}${lines[index]}`;
  }
  return all.slice(0, most);
}

/** What stands before an error and says that it is one. */
const leadIns: readonly RegExp[] = [
  /^\[?(?:[a-z][a-z ]{0,30} )?(?:error|failed|warning)(?: from provider)?(?: \([a-z ]{1,30}\))?: ?/i,
  /^(?:api error|typeerror) \(/i,
  /^[A-Za-z][\w.]{0,60}(?:Error|Exception): /,
  /^[a-z]{3,30}Exception - /i,
  /^exception (?=TypeError: )/,
  /^(?:openai|anthropic|google|botocore|httpx)\.[\w.]{3,80}: /,
  /^(?:ran into this|error running remote compact task|error during compaction|error resuming session)(?: error)?: /i,
  /^(?:thread\/resume(?: failed)?|attempt \d{1,3} failed|fatal error): /i,
  /^failed (?:to authenticate|after \d{1,3} attempts)\. (?=(?:api|last) error: )/i,
  /^an error occurred \([a-z]{3,60}\) when calling the [a-z]{3,60} operation(?: \([a-z0-9: ]{3,40}\))?: /i,
  /^sorry, (?=you)/i,
  /^upstream (?:request failed|error): /i,
  /^\[[a-z_]{3,30}\.[a-z_]{3,30}\] /i,
  /^\d{4}-\d{2}-\d{2}T[\d:.]{8,18}Z? ERROR (?:codex|goose|opencode|gemini|qwen|claude)[\w:]{0,60}: /i,
];
const litellmLeadIn = /^litellm\.([A-Za-z]{3,40}): /;
/** A status that something says to be one; behind a lead-in a number alone will do. */
const statusFirst =
  /^"?(?:(?:exceeded retry limit, last|unexpected|got|attempt \d{1,3} failed with) status:? |request failed with status code |http (?=\d{3}:))([45]\d\d)(?!\d)/i;
const statusOnly =
  /^"?(?:[Ee]rror code: )?([45]\d\d)(?=$|[).,:]| ?-? ?[{[("A-Z]| \d{3} unauthorized)/;
const statusBeforeColon = /^(?:[a-z]{3,20} )?api error ([45]\d\d): /i;
const statusAlone =
  /^([45]\d\d) ?(?=[{[]|(?:too many requests|unauthorized|payment required|service unavailable|bad gateway|overloaded)(?:$|[.:]$))/i;
const statusInBody = /["'](?:code|status|statusCode|status_code)["'] ?: ?["']?([45]\d\d)\b/;
const errorBody =
  /^\[? ?\{ ?(?:["'](?:error|detail)["'] ?:|"type" ?: ?"(?:error|session\.error|turn\.failed)")/;
const anyBody = /^\[? ?\{/;
const rejectedEvent = /^\{ ?"type" ?: ?"rate_limit_event".{0,60}"status" ?: ?"rejected"/;

/** Only agents call it that; so words that are in no table yet are asked for their signs too. */
const ownError = /^\[?API Error: /;

/** Somebody speaks of his work: no program says such things about itself. */
const talks =
  /\b(?:I|I'm|I've|I'll|we|tests?|middleware|returns?|fixed|added|replaced|changed|implemented|handled|kept|mapped|covered|recognised)\b/;

/** What follows the sentence explains it to a reader, where a program would say what to do. */
const explains =
  /^ ?(?:[:(—–-] ?(?:(?!resets?\b|try |please|retry|wait|upgrade)[a-z]|(?:The|A|An|It|This|That|See|Yes|No|Both|All)\b)|, (?:so|and|but|then|because|as|when|if|the|this|it)\b|[.!;] ?(?:It|This|That|These|Those|There|Here|Now|So|Then|When|After|Users|Clients|Callers|The)\b(?!.{0,30}\bresets?\b))/;
/** The same for a line of its own. */
const narrates =
  /^(?:It|This|That|These|Those|There|Here|Now|So|Then|When|After|The)\b(?!.{0,30}\bresets?\b)/;

/** An error that begins at this line. */
function errorAt(lines: readonly string[], index: number): Found | undefined {
  const line = (lines[index] ?? "").slice(0, 2000);
  const rest = (most: number): string => joined(lines, index + 1, most);
  const whole = (text: string, most: number): string =>
    `${text} ${rest(most)}`.trim().slice(0, most);

  const token = tokens.get(line.toLowerCase());
  if (token) return { kind: token, message: line };
  if (rejectedEvent.test(line)) return { kind: "usage_limit", message: line };

  const { text, lead, hint } = withoutLeadIns(line);
  const status = Number(
    (statusBeforeColon.exec(text) ??
      statusFirst.exec(text) ??
      (lead ? statusOnly.exec(text) : statusAlone.exec(text)))?.[1] ?? Number.NaN,
  );
  const body = lead ? anyBody.test(text) : errorBody.test(text);
  if (!Number.isNaN(status) || body) {
    const message = whole(text, 3000);
    const inside = Number(statusInBody.exec(message)?.[1] ?? Number.NaN);
    const code = Number.isNaN(status) ? inside : status;
    const kind = signOf(message) ?? hint ?? (Number.isNaN(code) ? undefined : kindOfStatus(code));
    return kind && { kind, message, ...(Number.isNaN(code) ? {} : { status: code }) };
  }
  const bare = /^\d{3} (?=[A-Z])/.test(text) ? text.slice(4) : text;
  const known = sentences.find(({ is }) => is.test(bare));
  if (known) {
    const after = bare.slice(known.is.exec(bare)?.[0].length ?? 0);
    if (talks.test(after) || (!lead && !known.open && explains.test(after))) return undefined;
    const message = whole(bare, 900);
    return { kind: known.look ? (signOf(message) ?? known.kind) : known.kind, message };
  }
  const other = hint ?? (lead && ownError.test(line) ? signOf(text) : undefined);
  return other && { kind: signOf(text) ?? other, message: whole(text, 900) };
}

function withoutLeadIns(line: string): {
  readonly text: string;
  readonly lead: boolean;
  readonly hint?: SignKind;
} {
  let text = line;
  let hint: SignKind | undefined;
  for (let count = 0; count < 8; count++) {
    const named = litellmLeadIn.exec(text);
    if (named) hint ??= litellm.get(named[1] ?? "");
    const found = named ?? leadIns.map((each) => each.exec(text)).find((each) => each !== null);
    if (!found) break;
    text = text.slice(found[0].length);
  }
  return { text, lead: text !== line, ...(hint ? { hint } : {}) };
}

const messageInBody = /["']message["'] ?: ?["]([^"{}]{1,300})["]/;

function shown(message: string): string {
  const said = messageInBody.exec(message)?.[1] ?? message;
  // What closes the bracket of "[API Error: …]".
  const text = said.endsWith("]") && !said.includes("[") ? said.slice(0, -1) : said;
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}
