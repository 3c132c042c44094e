/** What is told of a fleet, in a terminal, as JSON and on the page: runs, workers, the queue, and what waits for whom. */
import type { Question } from "../decision.ts";

export interface FleetTold {
  readonly version: 1;
  /** Nothing new begins anywhere. */
  readonly paused: boolean;
  readonly runs: ToldRun[];
  readonly workers: ToldWorker[];
  readonly queue: { readonly lane: string; readonly tasks: number }[];
  readonly agents: ToldAgent[];
}

/**
 * `opening`: not submitted to its end. `waiting`: somebody is to drive it. `driving`: somebody does.
 * `paused`, `asking`, `parked`: it rests until people or a moment say otherwise. `over`: it is
 * complete, or was set aside. `halted`: nothing is left that could go on by itself.
 */
export type RunState =
  | "opening"
  | "waiting"
  | "driving"
  | "paused"
  | "asking"
  | "parked"
  | "halted"
  | "over";

export interface ToldRun {
  readonly run: string;
  readonly plan: string;
  readonly remote: string;
  readonly branch: string;
  readonly state: RunState;
  readonly paused: boolean;
  readonly complete: number;
  readonly phases: number;
  readonly underWay: string[];
  readonly waitsFor: string | null;
  readonly driver: string | null;
  readonly decisions: ToldDecision[];
  readonly error: string | null;
  readonly submittedBy: string;
  readonly submittedAt: string;
}

export interface ToldDecision
  extends Pick<Question, "question" | "recommendation" | "reason" | "blocks"> {
  readonly id: string;
  readonly options: { readonly key: string; readonly text: string; readonly notes?: string[] }[];
  readonly facts: string[];
  readonly warning: string | null;
  /** What it brings about cannot be undone, or only people can do it. */
  readonly destructive: boolean;
  readonly askedAt: string;
}

export interface ToldWorker {
  readonly id: string;
  readonly host: string;
  readonly state: "active" | "draining" | "lost" | "gone";
  /** How much it does at once. */
  readonly jobs: number;
  readonly doing: string[];
  readonly agents: string[];
  readonly labels: string[];
  readonly os: string;
  readonly memoryGb: number;
  readonly version: string;
  readonly lane: string;
  readonly since: string;
  readonly seen: string;
}

export interface ToldAgent {
  readonly agent: string;
  readonly atOnce: number | null;
  readonly perMinute: number | null;
  readonly dollarsADay: number | null;
  readonly limitedUntil: string | null;
  readonly reason: string | null;
}

/** `r12/1/2a/1/work/0` → `2a work`. */
export function taskWords(name: string): string {
  const parts = name.split("/");
  return parts.length === 6 ? `${parts[2]} ${parts[4]?.replace(/@.*/, "")}` : (parts[2] ?? name);
}

/** Each with its limits in words; none: it has no limit. */
export const limitsOf = ({ atOnce, perMinute, dollarsADay }: ToldAgent): string[] => [
  ...(atOnce === null ? [] : [`${atOnce} at once`]),
  ...(perMinute === null ? [] : [`${perMinute} a minute`]),
  ...(dollarsADay === null ? [] : [`$${dollarsADay} a day`]),
];
