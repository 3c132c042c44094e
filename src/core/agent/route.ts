/**
 * Who does what: pure, from what people settled and what the plan says. The first word counts:
 * `--agent`, then the phase's own line in the plan, then the routes in their order, then the
 * project's agent. Behind the chosen one stand those that take over when its account is empty.
 */
import { z } from "zod";

const name = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/);

const estimatePattern = /^(<=|>=|<|>|=)?\s*(\d+(?:\.\d+)?)$/;

export const Route = z.strictObject({
  agent: name.describe("Who does it."),
  phase: z
    .union([z.string().min(1), z.array(z.string().min(1))])
    .exactOptional()
    .describe("Ids of phases; `*` stands for anything: `2*`."),
  estimate: z.string().regex(estimatePattern).exactOptional().describe("Points: `>=8`, `<3`, `5`."),
  step: z
    .union([z.string().min(1), z.number()])
    .exactOptional()
    .describe("A step of a flow, by number or name."),
  skill: z.string().min(1).exactOptional().describe("A skill, by name."),
});
export type Route = z.infer<typeof Route>;

export interface AgentSettings {
  /** Whom it takes over from it when its account has nothing left, in this order. */
  readonly fallback?: readonly string[];
}

/** A phase of a plan, or a step of a flow. */
export interface Work {
  readonly phase?: string;
  readonly estimate?: number;
  readonly step?: string;
  readonly stepName?: string;
  readonly skill?: string;
  /** Whom the plan itself names. */
  readonly named?: string;
}

export interface Routing {
  /** By the command line, for everything. */
  readonly forced?: string;
  readonly usual: string;
  readonly routes?: readonly Route[];
  readonly agents?: Readonly<Record<string, AgentSettings>>;
}

/** The first choice first. */
export function agentsFor(work: Work, routing: Routing): readonly string[] {
  const { forced, usual, routes = [], agents = {} } = routing;
  const route = routes.find((each) => applies(each, work));
  const first = forced ?? work.named ?? route?.agent ?? usual;
  const behind = Object.hasOwn(agents, first) ? (agents[first]?.fallback ?? []) : [];
  return [...new Set([first, ...behind])];
}

function applies({ phase, estimate, step, skill }: Route, work: Work): boolean {
  if (phase !== undefined) {
    const patterns = typeof phase === "string" ? [phase] : phase;
    if (!patterns.some((pattern) => matches(pattern, work.phase))) return false;
  }
  if (estimate !== undefined && !weighs(estimate, work.estimate)) return false;
  if (step !== undefined && !isStep(String(step), work)) return false;
  if (skill !== undefined && !matches(skill, work.skill)) return false;
  return phase !== undefined || estimate !== undefined || step !== undefined || skill !== undefined;
}

const isStep = (asked: string, { step, stepName }: Work): boolean =>
  asked === step || (stepName !== undefined && asked.toLowerCase() === stepName.toLowerCase());

function matches(pattern: string, value: string | undefined): boolean {
  if (value === undefined) return false;
  const [first = "", ...rest] = pattern.toLowerCase().split("*");
  const text = value.toLowerCase();
  if (rest.length === 0) return text === first;
  const last = rest.pop() ?? "";
  if (!text.startsWith(first) || text.length < first.length + last.length) return false;
  if (!text.endsWith(last)) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

function weighs(asked: string, estimate: number | undefined): boolean {
  const [, how = "=", number = ""] = estimatePattern.exec(asked) ?? [];
  if (estimate === undefined || number === "") return false;
  const limit = Number(number);
  switch (how) {
    case "<":
      return estimate < limit;
    case "<=":
      return estimate <= limit;
    case ">":
      return estimate > limit;
    case ">=":
      return estimate >= limit;
    default:
      return estimate === limit;
  }
}

/** `**Agent**: codex`, a line of its own in the phase's section; not in a code block or a comment. */
export function agentNamed(section: string): string | undefined {
  let fence: string | undefined;
  let isComment = false;
  for (const line of section.split("\n")) {
    if (fence === undefined && (isComment || /^\s{0,3}<!--/.test(line))) {
      isComment = line.lastIndexOf("-->") < Math.max(line.lastIndexOf("<!--"), 0);
      continue;
    }
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark.startsWith(fence)) fence = undefined;
      continue;
    }
    if (fence !== undefined) continue;
    const named = agentLine.exec(line)?.[1];
    if (named !== undefined) return named.toLowerCase();
  }
  return undefined;
}

const agentLine =
  /^\s{0,3}(?:[-*+]\s{1,3})?(?:\*\*|__)?Agent(?:\*\*|__)?\s{0,3}:(?:\*\*|__)?\s{0,3}`?([A-Za-z][A-Za-z0-9-]{0,31})`?\s*$/i;
