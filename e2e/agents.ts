/** Each agent as data: its program, how it is pointed at a model of ours, how it is started. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { environmentIn, type Place, putFiles } from "./place.ts";

export type AgentName = "claude" | "codex" | "gemini" | "goose" | "copilot" | "opencode" | "qwen";

export interface Recipe {
  readonly version: string;
  /** In node_modules of this folder. */
  readonly program: string;
  /** Beside what `environmentIn` gives. */
  env(place: Place, model: string): Readonly<Record<string, string>>;
  /** In the home. */
  files?(model: string): Readonly<Record<string, string>>;
  headless(prompt: string): readonly string[];
  /** What makes it speak ACP on its standard streams. */
  readonly acp?: readonly string[];
  /** What makes it ask for permissions, where it would not. */
  readonly asks?: Readonly<Record<string, string>>;
  /** As a user would have it in `agents:` of the settings. */
  readonly settings?: { readonly model?: string; readonly args?: string[] };
  /** What takes its key away. */
  readonly loggedOut?: Readonly<Record<string, string>>;
}

/** Long on purpose: Copilot strikes out the key wherever its text occurs in what it prints. */
const key = "scripted-key-of-nobody-0123456789";

export const agents: Readonly<Record<AgentName, Recipe>> = {
  claude: {
    version: "2.1.325",
    program: ".bin/claude",
    env: ({ home }, model) => ({
      ANTHROPIC_BASE_URL: model,
      ANTHROPIC_API_KEY: key,
      CLAUDE_CONFIG_DIR: join(home, ".claude"),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_MAX_RETRIES: "0",
    }),
    headless: (prompt) =>
      ["-p", prompt, "--output-format", "stream-json", "--verbose"].concat(
        "--permission-mode",
        "acceptEdits",
        "--allowedTools",
        "Bash",
      ),
  },
  codex: {
    version: "0.166.0",
    program: ".bin/codex",
    env: ({ home }) => ({ CODEX_HOME: join(home, ".codex"), SCRIPTED_KEY: key }),
    files: (model) => ({
      ".codex/config.toml": [
        // A name of its catalogue: with any other it offers no apply_patch.
        'model = "gpt-5.5"',
        'model_provider = "scripted"',
        // Without these two lines a run that succeeds waits five seconds at its end.
        "analytics.enabled = false",
        "features.plugins = false",
        "[model_providers.scripted]",
        'name = "scripted"',
        `base_url = "${model}/v1"`,
        'env_key = "SCRIPTED_KEY"',
        'wire_api = "responses"',
        "request_max_retries = 0",
        "stream_max_retries = 0",
        "",
      ].join("\n"),
    }),
    headless: (prompt) =>
      ["exec", "--json", "--skip-git-repo-check", "--sandbox", "workspace-write"].concat(prompt),
  },
  gemini: {
    version: "0.61.0",
    program: ".bin/gemini",
    env: (_place, model) => ({
      GEMINI_API_KEY: key,
      // By itself it asks another model first which one it shall ask.
      GEMINI_MODEL: "gemini-2.5-pro",
      GOOGLE_GEMINI_BASE_URL: model,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }),
    files: () => ({
      ".gemini/settings.json": JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false, maxAttempts: 2 },
      }),
    }),
    headless: (prompt) => ["-p", prompt, "-o", "stream-json", "--yolo", "-m", "gemini-2.5-pro"],
    acp: ["--acp", "-m", "gemini-2.5-pro"],
    settings: { model: "gemini-2.5-pro" },
    loggedOut: { GEMINI_API_KEY: "" },
  },
  goose: {
    version: "1.52.0",
    program: "@aaif/goose-binary-linux-x64/bin/goose",
    env: (_place, model) => ({
      GOOSE_PROVIDER: "openai",
      GOOSE_MODEL: "gpt-4.1",
      OPENAI_HOST: model,
      OPENAI_API_KEY: key,
      GOOSE_DISABLE_KEYRING: "1",
      GOOSE_MODE: "auto",
    }),
    headless: (prompt) => ["run", "--output-format", "stream-json", "-t", prompt],
    acp: ["acp"],
    asks: { GOOSE_MODE: "approve" },
    loggedOut: { GOOSE_PROVIDER: "", OPENAI_API_KEY: "" },
  },
  copilot: {
    version: "1.0.102",
    program: ".bin/copilot",
    env: ({ home }, model) => ({
      COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
      COPILOT_PROVIDER_API_KEY: key,
      COPILOT_MODEL: "gpt-5.4",
      COPILOT_OFFLINE: "true",
      COPILOT_HOME: join(home, ".copilot"),
    }),
    headless: (prompt) =>
      ["-p", prompt, "--output-format", "json", "--allow-all-tools"].concat(
        "--no-auto-update",
        "--disable-builtin-mcps",
      ),
    acp: ["--acp", "--no-auto-update", "--disable-builtin-mcps"],
    settings: { args: ["--disable-builtin-mcps"] },
    loggedOut: { COPILOT_PROVIDER_BASE_URL: "", COPILOT_PROVIDER_API_KEY: "" },
  },
  opencode: {
    version: "1.18.33",
    program: "opencode-linux-x64/bin/opencode",
    env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_AUTOUPDATE: "1" }),
    files: (model) => ({
      ".config/opencode/opencode.json": JSON.stringify({
        model: "scripted/scripted-1",
        small_model: "scripted/scripted-1",
        enabled_providers: ["scripted"],
        permission: { edit: "ask", bash: "allow" },
        provider: {
          scripted: {
            npm: "@ai-sdk/openai-compatible",
            name: "scripted",
            options: { baseURL: `${model}/v1`, apiKey: key },
            models: { "scripted-1": { name: "scripted-1" } },
          },
        },
      }),
    }),
    headless: (prompt) => ["run", "--format", "json", prompt],
    acp: ["acp"],
  },
  qwen: {
    version: "0.24.4",
    program: ".bin/qwen",
    env: (_place, model) => ({
      OPENAI_API_KEY: key,
      OPENAI_BASE_URL: `${model}/v1`,
      OPENAI_MODEL: "scripted-1",
    }),
    headless: (prompt) => [prompt, "-o", "stream-json", "--yolo", "--auth-type", "openai"],
    // Its own mode asks a model which tools to ask about.
    acp: ["--acp", "--auth-type", "openai", "--approval-mode", "default"],
    settings: { args: ["--auth-type", "openai"] },
    // Of its own accord it waits for ten minutes.
    files: () => ({
      ".qwen/settings.json": JSON.stringify({ model: { generationConfig: { maxRetries: 0 } } }),
    }),
    loggedOut: { OPENAI_API_KEY: "" },
  },
};

/** `folder`: this folder, which the program cannot know once it is bundled. */
export const programOf = (name: AgentName, folder: string): string =>
  join(folder, "node_modules", agents[name].program);

export const isInstalled = (name: AgentName, folder: string): boolean =>
  existsSync(programOf(name, folder));

/** Writes the agent's files and says what its environment is. */
export function settle(name: AgentName, place: Place, model: string): Record<string, string> {
  const recipe = agents[name];
  putFiles(place.home, recipe.files?.(model) ?? {});
  return { ...environmentIn(place), ...recipe.env(place, model) };
}
