/**
 * The contract of an agent: give it a brief and a directory, get a stream of what it does and one
 * outcome. It never rejects: failing is an outcome. What it says of its work is a claim; what it
 * left in the directory is what counts.
 */

import type { Trouble } from "./core/agent/trouble.ts";
import type { PhaseError } from "./core/plan/phase-error.ts";
import type { AgentResult } from "./core/plan/result.ts";

/** What happens while an agent is at work, for displays, logs and counters. */
export type AgentEvent =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thought"; readonly text: string }
  | {
      readonly type: "file";
      readonly path: string;
      readonly change: "create" | "modify" | "delete";
    }
  | { readonly type: "command"; readonly command: string; readonly passed: boolean }
  /** A tool of its own at work; `what`: on what, in a few words. */
  | {
      readonly type: "tool";
      readonly name: string;
      readonly what: string;
      readonly state: "started" | "done" | "failed";
    }
  | { readonly type: "plan"; readonly steps: readonly { text: string; done: boolean }[] }
  /** It asked whether it may, and was told. */
  | {
      readonly type: "permission";
      readonly tool: string;
      readonly what: string;
      readonly allowed: boolean;
    }
  /** Something stands in its way, and it tries again by itself. */
  | { readonly type: "retry"; readonly why: string; readonly delayMs?: number }
  /** Known before it does anything: with this id it can go on where it was. */
  | { readonly type: "session"; readonly id: string; readonly model?: string }
  /** What was used since the last such event; `cost` in dollars. */
  | { readonly type: "usage"; readonly tokens: number; readonly cost?: number }
  /** How much of the model's window the conversation takes, in tokens, where the agent tells. */
  | { readonly type: "window"; readonly used: number; readonly size: number }
  /** A line as it came, for the transcript: from it, all the others can be told again. */
  | { readonly type: "raw"; readonly line: string };

/** What people read of it. */
export function eventLines(event: AgentEvent): readonly string[] {
  switch (event.type) {
    case "text":
      return event.text.split("\n");
    case "file":
      return [`[${event.change}: ${event.path}]`];
    case "command":
      return [`[${event.command} -> ${event.passed ? "PASS" : "FAIL"}]`];
    case "tool":
      return [`[${event.name}${event.what === "" ? "" : ` ${event.what}`}${toolEnd[event.state]}]`];
    case "plan":
      return event.steps.map(({ text, done }) => `[${done ? "x" : " "}] ${text}`);
    case "permission":
      return event.allowed ? [] : [`[${event.tool} ${event.what}: not allowed]`];
    case "retry":
      return [`[tries again: ${event.why}]`];
    case "thought":
    case "session":
    case "usage":
    case "window":
    case "raw":
      return [];
  }
}

const toolEnd = { started: "", done: " -> done", failed: " -> FAILED" } as const;

export type AgentOutcome =
  | {
      readonly is: "done";
      readonly result: AgentResult;
      readonly model?: string;
      /** Processes of its that had to be ended, though it had ended itself. */
      readonly left?: number;
    }
  | { readonly is: "failed"; readonly error: PhaseError; readonly result?: AgentResult }
  /** Not now: a usage limit, a service that is down. `until`: when it is worth trying again, if known. */
  | {
      readonly is: "limited";
      readonly until?: string;
      readonly reason: string;
      readonly trouble?: Trouble;
    }
  /** Not before a person has done something: nobody is logged in, the program is not there. */
  | { readonly is: "unable"; readonly trouble: Trouble; readonly hint: string }
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
  /** Silent for so long, it is taken for dead. */
  readonly idleMs?: number;
  /** Where to go on: `cwd` is as that session left it. An agent that cannot begins anew. */
  readonly resume?: { readonly session: string; readonly tokens: number };
  /** In dollars: the most that this attempt may cost, for agents that mind it themselves. */
  readonly maxCost?: number;
  /** Asked to stop; then killed with all its children. */
  readonly signal: AbortSignal;
  readonly killNow: AbortSignal;
  /** Where it can write and where not: the user's own files are out of its reach. */
  readonly access?: readonly {
    readonly path: string;
    readonly writable: boolean;
    readonly hidden?: true;
  }[];
  /** `off`: nothing but its own loopback, for whatever it starts. */
  readonly network?: "off" | undefined;
  /** The run's mark in the environment of everything it starts. */
  readonly marker: string;
  emit(event: AgentEvent): void;
}

/** A line with a part of a message, or one that leaves the message open that others are parts of. */
export type Piece =
  | {
      readonly is: "part";
      /** The parts of one message say the same. */
      readonly of: string;
      readonly text: string;
      /** The same line with another text in it. */
      saying(text: string): string;
    }
  | { readonly is: "beside" };

export interface Agent {
  readonly name: string;
  /** The dialect of its `raw` lines; absent: it has none, and its events are the transcript. */
  readonly speaks?: string;
  /** Whether it can go on with a session. */
  readonly resumes?: boolean;
  /** What a `raw` line has of a message that comes in pieces; absent: none of its lines has. */
  readonly pieceIn?: (line: string) => Piece | undefined;
  run(brief: Brief, run: AgentRun): Promise<AgentOutcome>;
}
