/**
 * Agents that speak ACP, each as it is: how it is started, and where it is unlike the others. Only
 * data: what is done with it stands in `acp.ts`. Seen with the versions that `e2e/` has.
 */
import type { Trusted } from "../exec.ts";
import type { Permission } from "./dialect.ts";

export interface AcpProfile {
  readonly program: string;
  readonly args: readonly string[];
  /** Instead of both: a command line of the user's own. */
  readonly shell?: Trusted;
  readonly env?: Readonly<Record<string, string>>;
  /** How it is told its model when it starts; absent: in the session, from what it offers. */
  readonly model?: { readonly arg: string } | { readonly env: string };
  /** The mode of its own in which it asks us what it is to ask; absent: as it comes. */
  readonly modes?: Readonly<Partial<Record<Permission, string>>>;
  /** For those that ask only when they are told to, or that cannot take a no of ours. */
  readonly envFor?: Readonly<Partial<Record<Permission, Readonly<Record<string, string>>>>>;
  readonly argsFor?: Readonly<Partial<Record<Permission, readonly string[]>>>;
  /** The kind of tools that it says no kind of, by the beginning of their titles. */
  readonly kinds?: readonly ToolKind[];
  /** False: its way back into a session loses it. */
  readonly resumes?: false;
  readonly cost?: true;
  /** What it says of itself as if it were an answer, each in a chunk of its own. */
  readonly asides?: Asides;
  /** An error that is its whole answer; a group `status` is that of its model's service. */
  readonly error?: RegExp;
}

export interface ToolKind {
  readonly title: RegExp;
  readonly kind: string;
}

export interface Asides {
  readonly is: RegExp;
  /** Of these, that it tries again. */
  readonly retry: RegExp;
}

export const acpProfiles = {
  gemini: {
    program: "gemini",
    // In a folder that it was not told to trust it uses no MCP server: not even ours.
    args: ["--acp", "--skip-trust"],
    model: { arg: "--model" },
    modes: { full: "default", edit: "default", "read-only": "default" },
  },
  goose: {
    program: "goose",
    args: ["acp"],
    model: { env: "GOOSE_MODEL" },
    modes: { full: "auto", edit: "approve", "read-only": "approve" },
    kinds: [
      { title: /^(?:write|edit) · /, kind: "edit" },
      { title: /^(?:tree|read) · /, kind: "read" },
      { title: /^shell · /, kind: "execute" },
    ],
    error: /^Ran into this error: (?:.{0,200}?\((?<status>[45]\d\d) )?/s,
    cost: true,
  },
  copilot: {
    program: "copilot",
    args: ["--acp", "--no-auto-update"],
    model: { arg: "--model" },
    // A no of ours ends its turn; these it is told itself, and goes on.
    argsFor: {
      edit: ["--deny-tool=shell"],
      "read-only": ["--deny-tool=shell", "--deny-tool=write"],
    },
    asides: { is: /^(?:Info|Warning|Error): /, retry: /\bRetrying\.\.\.$/ },
    error: /^Error: .{0,400}?(?:\(HTTP |Last error: .{0,40}?)(?<status>[45]\d\d)\b/s,
  },
  opencode: {
    program: "opencode",
    args: ["acp"],
    // A newer version of itself in the middle of the work is nobody's wish.
    env: { OPENCODE_DISABLE_AUTOUPDATE: "1" },
    // It asks for nothing unless it is told to, and a no of ours would end its turn.
    envFor: {
      edit: { OPENCODE_PERMISSION: '{"bash":"deny","webfetch":"deny"}' },
      "read-only": { OPENCODE_PERMISSION: '{"edit":"deny","bash":"deny","webfetch":"deny"}' },
    },
    cost: true,
  },
  qwen: {
    program: "qwen",
    args: ["--acp"],
    model: { arg: "--model" },
    // Its own default asks a model each time whether it may.
    modes: { full: "yolo", edit: "default", "read-only": "default" },
    // A no of ours ends its turn: it does not get to see what it may not use.
    argsFor: {
      edit: ["--exclude-tools=run_shell_command"],
      "read-only": [
        "--exclude-tools=run_shell_command",
        "--exclude-tools=edit",
        "--exclude-tools=write_file",
      ],
    },
  },
  "claude-acp": {
    program: "claude-agent-acp",
    args: [],
    modes: { full: "default", edit: "default", "read-only": "default" },
    cost: true,
  },
  "codex-acp": {
    program: "codex-acp",
    args: [],
    modes: { "read-only": "read-only" },
  },
} as const satisfies Readonly<Record<string, AcpProfile>>;

/** Any other that speaks ACP, started by a command line that a person has approved. */
export const acpProfileOf = (shell: Trusted): AcpProfile => ({ program: "", args: [], shell });
