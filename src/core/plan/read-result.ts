/**
 * Finds what an agent says of its work in what it wrote: a file of JSON, or the last such object
 * among any amount of prose, code and logs. Nothing in the text is believed beyond its shape.
 */
import { z } from "zod";
import { normaliseId } from "./ids.ts";
import { AgentResult } from "./result.ts";

/** Not an end of the work: the agent may not go on before that time. */
const Limited = z.object({
  status: z.literal("limited"),
  until: z.iso.datetime({ offset: true }),
  reason: z.string().optional(),
});
export type Limited = z.infer<typeof Limited>;

/** Of a longer text only the end is looked at: that is where a result stands. */
export const mostResultLength = 1024 * 1024;

export const isUntil = (text: string): boolean => Limited.shape.until.safeParse(text).success;

/** The result, or why there is none: a sentence for the agent's next attempt. */
export function parseResult(text: string, phase: string): AgentResult | string {
  const claim = readClaim(text, phase);
  return typeof claim === "object" && claim.status === "limited"
    ? `a usage limit was reached, until ${claim.until}`
    : (claim as AgentResult | string);
}

export function readClaim(text: string, phase: string): AgentResult | Limited | string {
  const end = text
    .slice(-mostResultLength)
    .trim()
    .replace(/^\uFEFF/, "");
  if (end === "") return "there is nothing in it";
  const whole = text.length > mostResultLength ? undefined : objectIn(end);
  if (whole) return claimIn(whole, phase);
  let why = "";
  for (const object of objectsFromEnd(end)) {
    const claim = claimIn(object, phase);
    if (typeof claim !== "string") return claim;
    why ||= claim;
  }
  return why || "no JSON object with a status was found in it";
}

function claimIn(object: object, phase: string): AgentResult | Limited | string {
  const isLimit = "status" in object && object.status === "limited";
  const read = isLimit ? Limited.safeParse(object) : AgentResult.safeParse(object);
  if (!read.success) {
    const [issue] = read.error.issues;
    const at = issue?.path.map(String).join(".") || "the object";
    return `${at}: ${issue?.message ?? "not as asked for"}`.slice(0, 300);
  }
  if (read.data.status === "limited") return read.data;
  const { phase_id: said } = read.data;
  if (said !== phase && normaliseId(said) !== phase) {
    return `it is the result of phase ${JSON.stringify(said.slice(0, 60))}, not of ${phase}`;
  }
  return { ...read.data, phase_id: phase };
}

/**
 * Every object around a `"status"` key, the last key first and the innermost object first. Each
 * try may cost a walk to the end of the text, so there is a limit to the steps of all together.
 */
function* objectsFromEnd(text: string): Generator<object> {
  const budget = { steps: text.length * 16 };
  let key = text.lastIndexOf('"status"');
  for (
    ;
    key >= 0 && budget.steps > 0;
    key = key === 0 ? -1 : text.lastIndexOf('"status"', key - 1)
  ) {
    let open = key;
    for (let tries = 0; tries < mostTries && open > 0 && budget.steps > 0; tries++) {
      const from = open;
      open = text.lastIndexOf("{", from - 1);
      // Without a brace before this key there is none before an earlier one.
      if (open < 0) {
        if (tries === 0) return;
        break;
      }
      budget.steps -= from - open;
      const end = endOfObject(text, open, budget);
      const object = end > key ? objectIn(text.slice(open, end)) : undefined;
      if (object) yield object;
    }
  }
}

const mostTries = 64;

/** Behind the brace that closes the one at `open`; 0: there is none. */
function endOfObject(text: string, open: number, budget: { steps: number }): number {
  let depth = 0;
  let isString = false;
  for (let at = open; at < text.length && budget.steps > 0; at++) {
    budget.steps--;
    const char = text[at];
    if (isString) {
      if (char === "\\") at++;
      else if (char === '"') isString = false;
      // JSON has no line breaks in strings: this quotation mark was prose.
      else if (char === "\n") return 0;
    } else if (char === '"') isString = true;
    else if (char === "{") depth++;
    else if (char === "}" && --depth === 0) return at + 1;
  }
  return 0;
}

function objectIn(text: string): object | undefined {
  if (!text.startsWith("{") || !text.endsWith("}")) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
