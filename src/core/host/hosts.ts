/**
 * The programs inside of which people work with an agent, and in which ours can be called: what each
 * of them reads of a repository. Only data. What stands here was seen on the programs themselves,
 * but for Cursor, which has no program that could be tried without an account.
 */
export const hostNames = ["claude", "codex", "cursor", "gemini", "opencode", "copilot"] as const;
export type HostName = (typeof hostNames)[number];

export interface Host {
  readonly name: HostName;
  readonly title: string;
  /** As it is called on PATH. */
  readonly program: string;
  /** Any of these in a repository shows that somebody works there with it. */
  readonly signs: readonly string[];
  readonly server: ServerPlace;
  readonly calls: CallPlace;
  /** A document that it reads instead of AGENTS.md, and that can import it. */
  readonly imports?: string;
}

/** Where it looks for MCP servers. */
export interface ServerPlace {
  readonly file: string;
  /** Where this one is there, it is the one. */
  readonly rather?: string;
  readonly format: "json" | "toml";
  readonly key: string;
  readonly entry: ServerEntry;
}

/** How a host is told to start our server. */
export type ServerEntry = Readonly<Record<string, string | boolean | readonly string[]>>;

/** Where it looks for what people can call by name. */
export interface CallPlace {
  readonly form: "skill" | "cursor" | "opencode" | "gemini";
  readonly file: (name: string) => string;
  /** What is typed before the name. */
  readonly sign: "/" | "$";
}

/** By its name on PATH: a registry could have somebody else's program under that name. */
export const serverProgram = "autodev";
const args = ["mcp"];
export const startedServer: ServerEntry = { command: serverProgram, args };
const agentSkills = (name: string): string => `.agents/skills/${name}/SKILL.md`;
const shared = {
  file: ".mcp.json",
  format: "json",
  key: "mcpServers",
  entry: startedServer,
} as const;

export const hosts: Readonly<Record<HostName, Host>> = {
  claude: {
    name: "claude",
    title: "Claude Code",
    program: "claude",
    signs: [".claude", "CLAUDE.md", ".mcp.json"],
    server: shared,
    calls: { form: "skill", file: (name) => `.claude/skills/${name}/SKILL.md`, sign: "/" },
    imports: "CLAUDE.md",
  },
  codex: {
    name: "codex",
    title: "Codex",
    program: "codex",
    signs: [".codex"],
    server: {
      file: ".codex/config.toml",
      format: "toml",
      key: "mcp_servers",
      entry: startedServer,
    },
    calls: { form: "skill", file: agentSkills, sign: "$" },
  },
  cursor: {
    name: "cursor",
    title: "Cursor",
    program: "cursor",
    signs: [".cursor", ".cursorrules"],
    server: { ...shared, file: ".cursor/mcp.json" },
    calls: { form: "cursor", file: (name) => `.cursor/commands/${name}.md`, sign: "/" },
  },
  gemini: {
    name: "gemini",
    title: "Gemini CLI",
    program: "gemini",
    signs: [".gemini", "GEMINI.md"],
    server: { ...shared, file: ".gemini/settings.json" },
    calls: { form: "gemini", file: (name) => `.gemini/commands/${name}.toml`, sign: "/" },
    imports: "GEMINI.md",
  },
  opencode: {
    name: "opencode",
    title: "OpenCode",
    program: "opencode",
    signs: [".opencode", "opencode.json", "opencode.jsonc"],
    server: {
      file: "opencode.json",
      rather: "opencode.jsonc",
      format: "json",
      key: "mcp",
      entry: { type: "local", command: [serverProgram, ...args], enabled: true },
    },
    calls: { form: "opencode", file: (name) => `.opencode/command/${name}.md`, sign: "/" },
  },
  copilot: {
    name: "copilot",
    title: "GitHub Copilot CLI",
    program: "copilot",
    signs: [".github/copilot-instructions.md", ".copilot"],
    server: shared,
    calls: { form: "skill", file: agentSkills, sign: "/" },
  },
};

/** The server's name, everywhere. */
export const serverName = "autodev";
