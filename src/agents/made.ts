/** The agent of a name: which adapter it is, and what it is made from. */
import { type Agent, type AgentEvent, eventLines } from "../agent.ts";
import { applyAgent, knownAgent } from "../core/agent/known.ts";
import type { Moment } from "../core/agent/trouble.ts";
import type { Said } from "../core/board/wire.ts";
import { readClaim } from "../core/plan/read-result.ts";
import { resultSchema } from "../core/plan/result.ts";
import type { Settings } from "../core/settings.ts";
import type { exec, Trusted } from "../exec.ts";
import { createAcpDialect } from "./acp.ts";
import { acpProfileOf, acpProfiles } from "./acp-profiles.ts";
import { type ApplyDeps, createApplyAgent } from "./apply.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { createCommandAgent } from "./command.ts";
import type { Dialect } from "./dialect.ts";
import { createSpokenAgent, type ResultTool } from "./spoken.ts";

export interface AgentParts extends Omit<ApplyDeps, "exec"> {
  /** What the settings say of it. */
  readonly settings: NonNullable<Settings["agents"]>[string] | undefined;
  /** The repository that it is to work on. */
  readonly root: string | undefined;
  /** Its command, as it was approved. */
  readonly command: Trusted | undefined;
  readonly exec: typeof exec;
  /** What its work is; absent: phases of a plan. */
  readonly does?: "phase" | "skill";
  openResultTool(deps: {
    readonly schema: unknown;
    accept(value: unknown): string | undefined;
  }): Promise<ResultTool>;
  moment(): Moment;
}

/** Undefined: there is none of that name. */
export function makeAgent(name: string, parts: AgentParts): Agent | undefined {
  const { settings = {}, command, exec } = parts;
  if (command && settings.use === undefined) return createCommandAgent({ name, command, exec });
  const dialect = dialectOf(settings.use ?? name, command);
  if (!dialect) return name === applyAgent.name ? createApplyAgent(parts) : undefined;
  const { model, args, permissions } = settings;
  const schema: unknown = JSON.parse(resultSchema(parts.does));
  return createSpokenAgent({
    name,
    dialect,
    exec,
    root: parts.root,
    settings: {
      ...(model !== undefined && { model }),
      ...(args && { args }),
      ...(permissions && { permission: permissions }),
    },
    schema,
    openResultTool: ({ phase }) =>
      parts.openResultTool({
        schema,
        accept(value) {
          const claim = readClaim(JSON.stringify(value) ?? "", phase);
          return typeof claim === "string" ? claim : undefined;
        },
      }),
    moment: parts.moment,
  });
}

/** How an agent of that name is spoken to, by the table of those that are known. */
function dialectOf(name: string, command: Trusted | undefined): Dialect | undefined {
  if (name === "acp") return command && createAcpDialect(acpProfileOf(command));
  const known = knownAgent(name);
  switch (known?.dialect) {
    case "claude":
      return claude;
    case "codex":
      return codex;
    case "acp": {
      const profiles: Readonly<Record<string, (typeof acpProfiles)[keyof typeof acpProfiles]>> =
        acpProfiles;
      const profile = Object.hasOwn(profiles, known.name) ? profiles[known.name] : undefined;
      return profile && createAcpDialect(profile);
    }
    default:
      return undefined;
  }
}

/**
 * A transcript as the conversation that it was: what an agent said in its dialect, in words; all
 * else (the brief, gates, our own remarks) as it stands. Who speaks which dialect stands in it.
 */
export function inWords(each: (line: string) => void): (line: string) => void {
  let dialect: Dialect | undefined;
  return (line) => {
    const speaks = /^── attempt \d+ at phase \S+, by \S+ speaking (\w+)$/.exec(line)?.[1];
    if (speaks !== undefined) dialect = spoken.find(({ name }) => name === speaks);
    if (!dialect || !line.startsWith("{")) return each(line);
    const beside = stderrIn(line);
    if (beside !== undefined) return each(beside);
    for (const event of dialect.translate(line)) for (const words of eventLines(event)) each(words);
  };
}

/**
 * The same as entries that a page can draw. What its agent was told is left out: whoever wants it
 * asks for the brief.
 */
export function asConversation(each: (said: Said) => void): (line: string) => void {
  let dialect: Dialect | undefined;
  let brief: "marked" | "plain" | undefined;
  return (line) => {
    if (line.startsWith("── ")) {
      const [, how, name] =
        /^── attempt \d+ at phase \S+, (by \S+ speaking (\w+)$|fetched by )/.exec(line) ?? [];
      if (how !== undefined) {
        dialect = spoken.find((known) => known.name === name);
        brief = name === undefined ? "plain" : "marked";
      } else brief = undefined;
      return each({ is: "heading", text: line.slice(3) });
    }
    if (brief === "plain" || (brief === "marked" && line.startsWith("> "))) return;
    brief = undefined;
    if (!dialect || !line.startsWith("{")) return each({ is: "line", text: line });
    const beside = stderrIn(line);
    if (beside !== undefined) return each({ is: "line", text: beside });
    for (const event of dialect.translate(line)) {
      const said = saidBy(event);
      if (said) each(said);
    }
  };
}

function saidBy(event: AgentEvent): Said | undefined {
  switch (event.type) {
    case "text":
    case "thought":
      return { is: event.type, text: event.text };
    case "file":
      return { is: "file", path: event.path, change: event.change };
    case "command":
      return { is: "command", command: event.command, passed: event.passed };
    case "tool":
      return { is: "tool", name: event.name, what: event.what, state: event.state };
    case "plan":
      return { is: "plan", steps: event.steps };
    case "permission":
      return event.allowed
        ? undefined
        : { is: "note", text: `${event.tool} ${event.what}: not allowed` };
    case "retry":
      return { is: "note", text: `tries again: ${event.why}` };
    case "session":
    case "usage":
    case "window":
    case "raw":
      return undefined;
  }
}

const spoken: readonly Dialect[] = [claude, codex, createAcpDialect({ program: "", args: [] })];

/** What it printed beside its dialect (see `spoken.ts`). */
function stderrIn(line: string): string | undefined {
  if (!line.startsWith('{"stderr":')) return undefined;
  try {
    const { stderr } = JSON.parse(line) as { stderr?: unknown };
    return typeof stderr === "string" ? stderr : undefined;
  } catch {
    return undefined;
  }
}
