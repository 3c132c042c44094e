/**
 * The contract of an agent: give it a brief and a directory, get a stream of what it does and one
 * outcome. It never rejects: failing is an outcome. What it says of its work is a claim; what it
 * left in the directory is what counts.
 */

import type { PhaseError } from "./core/plan/phase-error.ts";
import type { AgentResult } from "./core/plan/result.ts";

/** What happens while an agent is at work, for displays and logs; nothing is decided by it. */
export type AgentEvent =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "file";
      readonly path: string;
      readonly change: "create" | "modify" | "delete";
    }
  | { readonly type: "command"; readonly command: string; readonly passed: boolean }
  /** What was used since the last such event; `cost` in dollars. */
  | { readonly type: "usage"; readonly tokens: number; readonly cost?: number };

export type AgentOutcome =
  | {
      readonly is: "done";
      readonly result: AgentResult;
      readonly model?: string;
      /** Processes of its that had to be ended, though it had ended itself. */
      readonly left?: number;
    }
  | { readonly is: "failed"; readonly error: PhaseError; readonly result?: AgentResult }
  /** A usage limit; `until`: when it is worth trying again. */
  | { readonly is: "limited"; readonly until: string; readonly reason: string }
  | { readonly is: "stopped" };

/** Everything that an agent is told, and nothing of other phases. */
export interface Brief {
  readonly phase: string;
  readonly name: string;
  /** The whole brief as Markdown. */
  readonly text: string;
  readonly tasks: number;
  readonly attempt: number;
}

export interface AgentRun {
  readonly cwd: string;
  /** A folder of this attempt's own, outside `cwd`: nothing in it is ever committed. */
  readonly scratch: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Asked to stop; then killed with all its children. */
  readonly signal: AbortSignal;
  readonly killNow: AbortSignal;
  /** Where it can write and where not: the user's own files are out of its reach. */
  readonly access?: readonly { readonly path: string; readonly writable: boolean }[];
  /** The run's mark in the environment of everything it starts. */
  readonly marker: string;
  emit(event: AgentEvent): void;
}

export interface Agent {
  readonly name: string;
  run(brief: Brief, run: AgentRun): Promise<AgentOutcome>;
}
