/**
 * The tools of a server as it lists them, and what of them is held fast: who calls a tool by what it
 * says of itself wants to be asked when it says something else.
 */
import type { SurfaceEntry } from "../trust.ts";

/** As `tools/list` has it; of a stranger's text nothing is believed but its shape. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** Its arguments by name; absent in the list: none. */
  readonly properties: Readonly<Record<string, Property>>;
  readonly required: readonly string[];
}

export interface Property {
  readonly type: string;
  readonly choices: readonly string[];
}

export interface ToolPin {
  readonly name: string;
  /** Description and input schema, as one text. */
  readonly text: string;
}

/** As what a person approves is written elsewhere: a changed one is shown line by line. */
export const pinnedSurface = (tools: readonly ToolPin[]): SurfaceEntry[] =>
  tools.map(({ name, text }) => ({ kind: "tool", name, text }));

export function toolIn(value: unknown): Tool | undefined {
  const { name, description, inputSchema } = fieldsOf(value);
  if (typeof name !== "string" || !/^[\w./:-]{1,128}$/.test(name)) return undefined;
  const { properties, required } = fieldsOf(inputSchema);
  return {
    name,
    description: typeof description === "string" ? description : "",
    properties: Object.fromEntries(
      Object.entries(fieldsOf(properties)).map(([key, each]) => [key, propertyIn(each)]),
    ),
    required: Array.isArray(required) ? required.filter((each) => typeof each === "string") : [],
  };
}

function propertyIn(value: unknown): Property {
  const { type, enum: choices } = fieldsOf(value);
  return {
    type: typeof type === "string" ? type : "",
    choices: Array.isArray(choices) ? choices.filter((each) => typeof each === "string") : [],
  };
}

/** What counts of a tool, in an order of its own. */
export function pinOf(value: unknown): ToolPin | undefined {
  const { name, description, inputSchema } = fieldsOf(value);
  if (typeof name !== "string") return undefined;
  return {
    name,
    text: JSON.stringify({ description, inputSchema: inOrder(inputSchema) }, null, 1),
  };
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, inOrder(each)]));
}

export const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
