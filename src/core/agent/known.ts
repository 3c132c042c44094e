/**
 * The agent programs that we know: how they are called, by what one sees that somebody is logged in,
 * what they can do. Only data; it is looked for by `activities/find-agents.ts`. What stands here was
 * seen on the programs themselves, not read about them.
 */
import { anyOf } from "../trust.ts";

export interface KnownAgent {
  readonly name: string;
  readonly title: string;
  /** As it is called on PATH. */
  readonly program: string;
  readonly dialect: "claude" | "codex" | "acp";
  /** What makes it speak that dialect, where it is not what the dialect says by itself. */
  readonly speak: readonly string[];
  readonly version: readonly string[];
  /**
   * What it obeys of a repository without asking anybody: settings, hooks, servers that it starts,
   * skills and their scripts. Rather too much than too little; `**` stands for all that is below.
   */
  readonly reads: readonly string[];
  readonly login: LoginSigns;
  /** What to type: to have it, and to be logged in. */
  readonly install: string;
  readonly logIn: string;
  readonly can: AgentSkills;
}

/** What an agent can do beside the work itself; the same words as a dialect's. */
export interface AgentSkills {
  /** Goes on with a session that was broken off. */
  readonly resume: boolean;
  /** `native`: it is made to give a result of our shape; `tool`: it hands it in by a tool of ours. */
  readonly structured: "native" | "tool";
  /** `asked`: before each tool that needs it; `mode`: settled when it starts. */
  readonly permissions: "asked" | "mode";
  /** Tells what it has used: tokens, dollars. */
  readonly usage: boolean;
  readonly cost: boolean;
  /** Leaves off when it is told to; otherwise it has to be killed. */
  readonly interrupt: boolean;
}

/** By what it is seen, in this order; a secret is never looked at, only whether it is there. */
export interface LoginSigns {
  /** Any of these is enough. */
  readonly variables: readonly string[];
  /** Its arguments: exit code 0 is yes, any other no. */
  readonly command?: readonly string[];
  /** Any of these is enough, where no command tells. */
  readonly files: readonly FileSign[];
  /** With these it may work all the same: a key of another's, a service of one's own. */
  readonly perhaps: { readonly variables: readonly string[]; readonly files: readonly FileSign[] };
}

export interface FileSign {
  /** A variable that names the folder; without it, or unset: `below`, in the user's home. */
  readonly variable?: string;
  readonly below: string;
  readonly file: string;
  /** A file that is always there says nothing: this has to be in it. */
  readonly holds?: string;
}

const spoken = { structured: "tool", permissions: "asked", interrupt: true } as const;
const config = { variable: "XDG_CONFIG_HOME", below: ".config" } as const;

export const knownAgents: readonly KnownAgent[] = [
  {
    name: "claude",
    title: "Claude Code",
    program: "claude",
    dialect: "claude",
    speak: [],
    version: ["--version"],
    reads: [".mcp.json", ".claude/**", "**/.claude/skills/**", ".agents/**"],
    login: {
      variables: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
      command: ["auth", "status"],
      files: [{ variable: "CLAUDE_CONFIG_DIR", below: ".claude", file: ".credentials.json" }],
      perhaps: {
        variables: ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"],
        files: [],
      },
    },
    install: "npm install --global @anthropic-ai/claude-code",
    logIn: "claude auth login",
    can: {
      resume: true,
      structured: "native",
      permissions: "asked",
      usage: true,
      cost: true,
      interrupt: true,
    },
  },
  {
    name: "codex",
    title: "Codex",
    program: "codex",
    dialect: "codex",
    speak: [],
    version: ["--version"],
    reads: [".codex/**", ".agents/**", ".mcp.json"],
    login: {
      // OPENAI_API_KEY is none: without `codex login --with-api-key` it is not taken.
      variables: ["CODEX_API_KEY", "CODEX_ACCESS_TOKEN"],
      command: ["login", "status"],
      files: [{ variable: "CODEX_HOME", below: ".codex", file: "auth.json" }],
      perhaps: {
        variables: [],
        files: [
          {
            variable: "CODEX_HOME",
            below: ".codex",
            file: "config.toml",
            holds: "model_provider",
          },
        ],
      },
    },
    install: "npm install --global @openai/codex",
    logIn: "codex login",
    can: {
      resume: true,
      structured: "native",
      permissions: "mode",
      usage: true,
      cost: false,
      interrupt: false,
    },
  },
  {
    name: "gemini",
    title: "Gemini CLI",
    program: "gemini",
    dialect: "acp",
    speak: ["--acp"],
    version: ["--version"],
    reads: [".gemini/**", ".env", ".agents/**"],
    login: {
      variables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
      files: [
        { below: ".gemini", file: "oauth_creds.json" },
        { below: ".gemini", file: "gemini-credentials.json" },
        { below: ".gemini", file: "google_accounts.json", holds: "@" },
      ],
      perhaps: {
        variables: ["GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"],
        files: [{ below: ".gemini", file: "settings.json", holds: "selectedType" }],
      },
    },
    install: "npm install --global @google/gemini-cli",
    logIn: "gemini, then /auth",
    // A session that is loaded within the minute in which it was left is erased by it.
    can: { ...spoken, resume: false, usage: true, cost: false },
  },
  {
    name: "copilot",
    title: "GitHub Copilot CLI",
    program: "copilot",
    dialect: "acp",
    speak: ["--acp"],
    version: ["--version"],
    reads: [
      ".github/copilot*",
      ".github/copilot/**",
      ".github/hooks/**",
      ".github/agents/**",
      ".github/skills/**",
      ".github/mcp.json",
      ".copilot/**",
      ".mcp.json",
      ".vscode/mcp.json",
      ".claude/**",
      ".agents/**",
    ],
    login: {
      variables: ["COPILOT_GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"],
      files: [
        {
          variable: "COPILOT_HOME",
          below: ".copilot",
          file: "config.json",
          holds: "lastLoggedInUser",
        },
      ],
      // It would take GH_TOKEN and GITHUB_TOKEN too, which no agent is given.
      perhaps: { variables: [], files: [] },
    },
    install: "npm install --global @github/copilot",
    logIn: "copilot login",
    can: { ...spoken, resume: true, usage: true, cost: false },
  },
  {
    name: "opencode",
    title: "OpenCode",
    program: "opencode",
    dialect: "acp",
    speak: ["acp"],
    version: ["--version"],
    reads: ["opencode.json", "opencode.jsonc", ".opencode/**", ".claude/**", ".agents/**"],
    login: {
      variables: [],
      files: [
        {
          variable: "XDG_DATA_HOME",
          below: ".local/share",
          file: "opencode/auth.json",
          holds: '"type"',
        },
      ],
      perhaps: {
        variables: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"],
        files: [{ ...config, file: "opencode/opencode.json", holds: '"provider"' }],
      },
    },
    install: "npm install --global opencode-ai",
    logIn: "opencode auth login",
    can: { ...spoken, resume: true, usage: true, cost: true },
  },
  {
    name: "qwen",
    title: "Qwen Code",
    program: "qwen",
    dialect: "acp",
    speak: ["--acp"],
    version: ["--version"],
    reads: [".qwen/**", ".mcp.json", ".env", ".agents/**"],
    login: {
      variables: ["BAILIAN_CODING_PLAN_API_KEY", "BAILIAN_TOKEN_PLAN_API_KEY"],
      files: [{ below: ".qwen", file: "oauth_creds.json" }],
      perhaps: {
        variables: ["OPENAI_API_KEY", "DASHSCOPE_API_KEY", "OPENROUTER_API_KEY"],
        files: [{ below: ".qwen", file: "settings.json", holds: "selectedType" }],
      },
    },
    install: "npm install --global @qwen-code/qwen-code",
    logIn: "qwen, then /auth",
    can: { ...spoken, permissions: "mode", resume: true, usage: true, cost: false },
  },
  {
    name: "goose",
    title: "Goose",
    program: "goose",
    dialect: "acp",
    speak: ["acp"],
    version: ["--version"],
    reads: [".goose/**", ".mcp.json", ".claude/**", ".agents/**"],
    login: {
      variables: ["GOOSE_PROVIDER"],
      files: [{ ...config, file: "goose/config.yaml", holds: "GOOSE_PROVIDER" }],
      perhaps: { variables: [], files: [] },
    },
    install: "brew install block-goose-cli",
    logIn: "goose configure",
    can: { ...spoken, resume: true, usage: true, cost: true },
  },
];

export const knownAgent = (name: string): KnownAgent | undefined =>
  knownAgents.find((each) => each.name === name);

/**
 * What an agent of that name obeys of a repository. A command of people's own that names one of those
 * programs is taken for it.
 */
export function readBy(name: string, entry: { use?: string; command?: string } = {}): string[] {
  const { use, command } = entry;
  const named = knownAgents.filter(
    (each) =>
      (command === undefined && each.name === (use ?? name)) ||
      (command !== undefined && new RegExp(`\\b${each.program}\\b`).test(command)),
  );
  return [...new Set(named.flatMap(({ reads }) => reads))];
}

/** Whether any of them would obey that file. */
export const isReadByAny = (file: string): boolean => readByAny.test(file);
const readByAny = anyOf([...new Set(knownAgents.flatMap(({ reads }) => reads))]);

/** The built-in one: it is always there, and needs nothing. */
export const applyAgent = {
  name: "apply",
  title: "built in",
  what: "does what a plan spells out; needs no model",
} as const;

/** `claude`'s are `2.1.325 (Claude Code)`, others print a banner first. */
export const versionIn = (lines: readonly string[]): string | undefined =>
  lines
    .map(
      (line) => /(?<![\w./])v?(\d+\.\d+(?:\.\d+)*(?:-[0-9A-Za-z.-]*[0-9A-Za-z])?)/.exec(line)?.[1],
    )
    .find((version) => version !== undefined);
