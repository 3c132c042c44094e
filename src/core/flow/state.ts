/** Where a flow is, as a value: what the state file says, in the words of generation 3. */
export interface SubStep {
  readonly phase: number;
  readonly name: string;
  readonly detail: string;
}

export const awaitingInvocation: SubStep = { phase: 0, name: "awaiting-invocation", detail: "" };

export const knownStatuses = [
  "not_started",
  "in_progress",
  "completed",
  "skipped",
  "failed",
] as const;

/** At most three automatic retries; the fourth failure in a row is a person's to judge. */
export const mostRetries = 3;

export interface Position {
  readonly flow: string;
  /** The step's number as text, or "done". */
  readonly step: string;
  readonly name: string;
  /** One of `knownStatuses`, or a word of the user's that we keep and ask about. */
  readonly status: string;
  readonly subStep: SubStep;
  readonly retryCount: number;
  readonly cycle: number;
  readonly tracker?: string;
}

export interface CompletedStep {
  readonly step: string;
  readonly name: string;
  readonly completed: string;
  readonly outcome: string;
}

export interface RetryRow {
  readonly attempt: number;
  readonly step: string;
  readonly name: string;
  readonly subStep: string;
  readonly reason: string;
  readonly at: string;
}

export interface LastSession {
  readonly date: string;
  readonly endedAt: string;
  readonly reason: string;
  readonly notes: string;
}

/** How much of its history a state file tells: only where we are, or all five sections. */
export type Sections = "pointer" | "full";

export interface FlowState extends Position {
  /** Steps recorded as skipped, by number: they count as satisfied. */
  readonly skipped: readonly string[];
  readonly completed: readonly CompletedStep[];
  readonly keyDecisions: readonly string[];
  readonly lastSession?: LastSession;
  readonly retryLog: readonly RetryRow[];
  readonly blockers: readonly string[];
}

export const flowStateAt = (position: Position): FlowState => ({
  ...position,
  skipped: [],
  completed: [],
  keyDecisions: [],
  retryLog: [],
  blockers: [],
});
