/**
 * Which of the MCP servers that are configured for a project are trackers. The files have been read
 * and parsed by others; here is what they mean, and which tracker it comes to.
 */
import { fieldsOf } from "./tools.ts";

export const trackerKinds = ["jira", "ado", "github", "linear"] as const;
export type TrackerKind = (typeof trackerKinds)[number];

/** An MCP server as a configuration has it. */
export interface McpServer extends Origin {
  readonly name: string;
  readonly is: McpProgram | McpAddress;
}

export interface Origin {
  /** The file that names it, as people call it. */
  readonly from: string;
  /** A file of the repository's: nothing of it is run before it is approved. */
  readonly repository: boolean;
}

export interface McpProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface McpAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface FoundTracker extends McpServer {
  readonly kind: TrackerKind;
}

/** `mcpServers` of Claude and Cursor, `servers` of VS Code, `mcp_servers` of Codex: a table of servers. */
export function serversIn(table: unknown, about: Origin): McpServer[] {
  return Object.entries(fieldsOf(table)).flatMap(([name, value]) => {
    const entry = fieldsOf(value);
    if (entry["disabled"] === true || !/^[\w .@/:-]{1,100}$/.test(name)) return [];
    const is = programIn(entry) ?? addressIn(entry);
    return is ? [{ name, ...about, is }] : [];
  });
}

function programIn({ command, args, env }: Record<string, unknown>): McpProgram | undefined {
  if (typeof command !== "string" || command === "") return undefined;
  const words = Array.isArray(args) ? args : [];
  if (!words.every((each) => typeof each === "string")) return undefined;
  return { command, args: words, env: textsIn(env) };
}

function addressIn(entry: Record<string, unknown>): McpAddress | undefined {
  const { url, headers, http_headers: codex } = entry;
  if (typeof url !== "string" || !/^https?:\/\//.test(url)) return undefined;
  return { url, headers: { ...textsIn(headers), ...textsIn(codex) } };
}

const textsIn = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fieldsOf(value)).filter(
      (entry): entry is [string, string] =>
        typeof entry[1] === "string" && /^[\w-]+$/.test(entry[0]),
    ),
  );

/** By what it starts or where it is; only then by what it is called. */
const signs: Readonly<Record<TrackerKind, { readonly is: RegExp; readonly called: RegExp }>> = {
  jira: {
    is: /mcp\.atlassian\.com|mcp-atlassian|\bjira[\w-]*mcp|mcp[\w-]*jira|atlassian[\w-]*mcp/i,
    called: /\b(?:jira|atlassian)\b/i,
  },
  ado: {
    is: /@azure-devops\/mcp|azure-?devops|dev\.azure\.com/i,
    called: /\b(?:azure-?devops|ado)\b/i,
  },
  github: {
    is: /github-mcp-server|server-github\b|api\.githubcopilot\.com\/mcp/i,
    called: /\bgithub\b/i,
  },
  linear: { is: /mcp\.linear\.app|\blinear[\w-]*mcp|mcp[\w-]*linear/i, called: /\blinear\b/i },
};

export function kindOf({ name, is }: Pick<McpServer, "name" | "is">): TrackerKind | undefined {
  const what = "url" in is ? is.url : [is.command, ...is.args].join(" ");
  const words = name.replace(/([a-z])([A-Z])/g, "$1 $2").replaceAll(/[_-]/g, " ");
  return (
    trackerKinds.find((kind) => signs[kind].is.test(what)) ??
    trackerKinds.find((kind) => signs[kind].called.test(words) || signs[kind].called.test(name))
  );
}

/** One for each name: the project's own word goes before the user's. */
export function trackersAmong(servers: readonly McpServer[]): FoundTracker[] {
  const found = new Map<string, FoundTracker>();
  for (const server of servers) {
    const kind = kindOf(server);
    if (kind !== undefined && !found.has(server.name)) found.set(server.name, { ...server, kind });
  }
  return [...found.values()];
}

/** What people have settled: a kind, a server's name, or `local`; and where items go. */
export interface TrackerSettings {
  readonly use?: string;
  readonly project?: string;
  readonly site?: string;
  readonly epic_type?: string;
  readonly task_type?: string;
  readonly done_state?: string;
  readonly search_lag_seconds?: number;
}

export type TrackerChoice =
  | { readonly is: "local"; readonly why: string }
  | { readonly is: "chosen"; readonly tracker: FoundTracker; readonly why: string }
  | { readonly is: "ask"; readonly among: readonly FoundTracker[] }
  /** The settings name one that is not configured. */
  | { readonly is: "missing"; readonly wanted: string };

/**
 * The settings' word goes first, then what is on record, then what there is: one is used, of several
 * a person chooses, and where there is none nobody pretends.
 */
export function chooseTracker(
  found: readonly FoundTracker[],
  { use }: TrackerSettings,
  recorded: { readonly tracker?: string | undefined; readonly server?: string | undefined } = {},
): TrackerChoice {
  if (recorded.tracker === "local" && recorded.server !== undefined) {
    return { is: "local", why: `a person went on without ${recorded.server}` };
  }
  const wanted = use ?? recorded.tracker;
  const why = use === undefined ? "on record" : "the settings say so";
  if (wanted === "local") return { is: "local", why };
  if (wanted !== undefined) {
    const fitting = found.filter(({ name, kind }) => name === wanted || kind === wanted);
    const exact = fitting.filter(({ name }) => name === (recorded.server ?? wanted));
    const [only] = exact.length > 0 ? exact : fitting;
    if (!only) return { is: "missing", wanted };
    if (exact.length === 0 && fitting.length > 1) return { is: "ask", among: fitting };
    return { is: "chosen", tracker: only, why };
  }
  const [only, ...more] = found;
  if (!only) return { is: "local", why: "no MCP server of a tracker is configured" };
  if (more.length > 0) return { is: "ask", among: found };
  return { is: "chosen", tracker: only, why: `${only.name} in ${only.from}` };
}

// ── what is approved, and what is started ──────────────────────────────────────────────────────

/**
 * A server as one text that says all of what it does: for a program, the very shell line that is run.
 * Variables stay names: what they hold is the user's and nobody's to read here.
 */
export function serverLine({ is }: Pick<McpServer, "is">): string {
  if ("url" in is) {
    const headers = Object.entries(is.headers).map(([name, value]) => `header ${name}: ${value}`);
    return [`connect to ${is.url}`, ...headers].join("\n");
  }
  const words = [
    "exec",
    "env",
    ...Object.entries(is.env).map(([name, value]) => `${name}=${quoted(value)}`),
    quoted(is.command),
    ...is.args.map(quoted),
  ];
  return words.join(" ");
}

/** `${VAR}` and `${VAR:-else}` of the configuration stay what they are to a shell; all else is text. */
const quoted = (text: string): string =>
  text
    .split(/(\$\{[A-Za-z_]\w*(?::-[^{}]*)?\})/)
    .map((part, at) => {
      if (at % 2 === 0) return part === "" ? "" : `'${part.replaceAll("'", `'\\''`)}'`;
      const [, name = "", otherwise] = /^\$\{(\w+)(?::-([^{}]*))?\}$/.exec(part) ?? [];
      if (otherwise === undefined) return `"$${name}"`;
      return `"\${${name}:-${otherwise.replace(/["$`\\]/g, "\\$&")}}"`;
    })
    .join("") || "''";

/** With the user's variables filled in, where no shell does it. */
export const filledIn = (text: string, env: Readonly<Record<string, string | undefined>>): string =>
  text.replace(
    /\$\{([A-Za-z_]\w*)(?::-([^{}]*))?\}/g,
    (_, name: string, otherwise?: string) => env[name] || (otherwise ?? ""),
  );
