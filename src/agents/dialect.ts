/**
 * How one kind of agent program is spoken to. A dialect is pure: it says what is to be started and
 * with what words, and what the lines that come back mean. Processes, pipes, clocks and files are
 * those of `spoken.ts`, which is the same for all.
 *
 *  1. `translate` needs nothing but the line: a transcript can be shown again at any time.
 *  2. A line that is not understood is nothing: agents change from one version to the next.
 *  3. Only an ending ends the work. Without one the agent has failed, whatever its exit code.
 */
import type { AgentEvent, Piece } from "../agent.ts";
import type { Said, TroubleKind } from "../core/agent/trouble.ts";
import type { Trusted } from "../exec.ts";

export interface Dialect {
  /** As it stands in a transcript. */
  readonly name: string;
  readonly capabilities: Capabilities;
  launch(ask: Ask): Launch;
  /** A conversation of its own for each process. */
  converse(ask: Ask): Conversation;
  /** What a line of a transcript shows. */
  translate(line: string): readonly AgentEvent[];
  /** Where messages come in pieces. */
  pieceIn?(line: string): Piece | undefined;
}

export interface Capabilities {
  readonly resume: boolean;
  /** How the result comes back; `tool`: through a tool of ours, offered over MCP. */
  readonly structured: "native" | "tool";
  /** `asked`: each time, and we answer; `mode`: settled when it starts. */
  readonly permissions: "asked" | "mode";
  readonly usage: boolean;
  readonly cost: boolean;
  /** By words; otherwise only a signal reaches it. */
  readonly interrupt: boolean;
}

/** What an agent may do in its tree; where it can write at all is not for it to say. */
export type Permission = "full" | "edit" | "read-only";

export interface Ask {
  readonly prompt: string;
  /** Of the result, as JSON Schema. */
  readonly schema: unknown;
  readonly cwd: string;
  readonly scratch: string;
  readonly permission: Permission;
  readonly model?: string;
  /** Arguments of the user's own, from the settings. */
  readonly args?: readonly string[];
  /** `tokens`: what that session has used before. */
  readonly resume?: { readonly session: string; readonly tokens: number };
  /** Of our MCP server, where the result is not native. */
  readonly resultTool?: { readonly url: string };
  readonly maxCost?: number;
}

export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  /** Instead of both: a command line of the user's own, which a person has approved. */
  readonly shell?: Trusted;
  /** On top of the user's own; undefined: taken away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The same, where the user has not said otherwise. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Written into the scratch folder before it starts. */
  readonly files?: Readonly<Record<string, string>>;
}

export interface Conversation {
  /** The first words. */
  begin(): Words;
  hear(line: string): Heard;
  /** Asks it to leave off; empty: it has no word for that. */
  interrupt(): readonly string[];
}

export interface Words {
  /** Lines for its input. */
  readonly say?: readonly string[];
  /** Nothing more will be said to it, though it is not at its end. */
  readonly hangUp?: true;
}

export interface Heard extends Words {
  readonly events: readonly AgentEvent[];
  /** Its last word; what comes after it changes nothing. */
  readonly ending?: Ending;
}

export interface Ending {
  /** The last thing that it said. */
  readonly text: string;
  /** The result, where the program gives it by itself. Not yet looked at. */
  readonly structured?: unknown;
  readonly model?: string;
  /** It says that it was told to leave off. */
  readonly cancelled?: true;
  /** What went wrong, as far as its answer seems to say so: with a result it means nothing. */
  readonly seeming?: Said;
  /** What went wrong; `kind` and `until` (ISO): when the program names them without doubt. */
  readonly trouble?: Said & { readonly kind?: TroubleKind; readonly until?: string };
}
