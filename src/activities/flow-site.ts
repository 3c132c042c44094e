/** Where a flow happens: its project, its people, and everything that it may start. */
import * as path from "node:path";
import type { Agent } from "../agent.ts";
import type { Event } from "../core/event.ts";
import { type Failure, type Result, succeed } from "../core/failure.ts";
import type { Flow, Step } from "../core/flow/flow.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import type { Git } from "../git/call.ts";
import type { Held, Project } from "./hold.ts";
import type { Ask } from "./open-flow.ts";
import type { TrackerOpener } from "./open-tracker.ts";
import type { Pull } from "./run-site.ts";

export interface FlowSite {
  readonly project: Project;
  readonly held: Held;
  readonly git: Git;
  readonly flows: readonly Flow[];
  /** Found, approved and confined when there is work for them, and not before. */
  workers(): Promise<Result<Workers>>;
  /** Runs a plan as a child of the flow; `heard`: after each thing that happens to it. */
  build(
    wanted: { readonly plan: string; readonly under: string },
    heard: (run: PlanRun) => void,
  ): Promise<Result<{ readonly run: PlanRun; readonly asking: readonly Failure[] }>>;
  /** Opened once in an invocation, when there is something to do there. */
  readonly trackers: TrackerOpener;
  readonly ask: Ask;
  readonly by: string;
  readonly signal: AbortSignal;
  readonly killNow: AbortSignal;
  /** True: what is under way comes to its end, and nothing new begins. Absent: nobody says so. */
  readonly isFinishing?: () => boolean;
  /** The last event before this invocation. */
  readonly begun: number;
  readonly throughBoundaries: boolean;
  readonly sameConversation: boolean;
  readonly commits: boolean;
  readonly waits: boolean;
  /** A silent agent is taken for dead after so long. */
  readonly idleMs: number;
  /** Nothing new for so long, though it is at work: it goes nowhere. */
  readonly stuckMinutes: number;
  /** How long somebody who comes for work has it without a word. */
  readonly leaseMs: number;
  /** Somebody has come for work: he gets the session instead of an agent of ours. */
  readonly pull?: Pull;
  /** It is on record. */
  happened(events: readonly Event[]): void;
  /** What a display is told beside the events; nothing is decided by it. */
  tell(line: string): void;
}

export interface Workers {
  /** Who does a step; the first choice first. */
  agentsFor(step: Step): readonly string[];
  agent(name: string): Agent;
  /** It cannot write anything but what it is to write. */
  confined(agent: string): boolean;
  readonly network: "off" | undefined;
}

/** On record first, then told to whoever watches. */
export async function recordFlow(
  { held, happened }: Pick<FlowSite, "held" | "happened">,
  events: readonly Event[],
): Promise<Result<void>> {
  const recorded = await held.record(...events);
  if (!recorded.ok) return recorded;
  happened(events);
  return succeed(undefined);
}

/** A session's own folder: its brief, its reports, its copy of the state file. */
export const sessionFolder = ({ git }: FlowSite, session: number): string =>
  path.join(git.place.commonDir, "autodev", "scratch", `flow-${session}`);

export const sessionTranscript = ({ git }: Pick<FlowSite, "git">, session: number): string =>
  path.join(git.place.commonDir, "autodev", "transcripts", "flow", `session-${session}.log`);
