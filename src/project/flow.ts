/** A flow from where it is to the next reason to rest, and its tracker. */
import { factsOf } from "../activities/flow-facts.ts";
import { type Held, type Project } from "../activities/hold.ts";
import { openRun } from "../activities/open-run.ts";
import { type FlowOptions, type FlowWorld, openFlowSite } from "../activities/start-flow.ts";
import { type BuildOptions, intend } from "../activities/start-run.ts";
import {
  type Synced,
  showTools,
  syncItems,
  type TrackerTools,
} from "../activities/sync-tracker.ts";
import { makeAgent } from "../agents/made.ts";
import { readConfig } from "../config.ts";
import type { RecordedEvent } from "../core/event.ts";
import { type ProjectState } from "../core/evolve.ts";
import { type Result, succeed } from "../core/failure.ts";
import { builtInFlows } from "../core/flow/flows/index.ts";
import type { FlowFacts } from "../core/flow/next-move.ts";
import type { FlowOutcome } from "../core/flow/run-flow.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import { trackerSettings } from "../core/settings.ts";
import { runLocally } from "../engines/local.ts";
import { runFlowLocally } from "../engines/local-flow.ts";
import { openGit } from "../git/call.ts";
import { findRepository } from "../git.ts";
import { agentWorld, type BuildPeople, type Built, buildHeld } from "./build.ts";
import { trustPlaceOf } from "./open.ts";

/** What the next move is decided on, beside what is on record. */
export const flowFacts = (project: Project, state: ProjectState): FlowFacts =>
  factsOf({ project, held: { state }, flows: project.flows ?? builtInFlows });

export type FlowPeople = Pick<
  FlowWorld,
  "ask" | "askTrust" | "by" | "signal" | "killNow" | "isFinishing" | "happened" | "tell" | "pull"
> &
  Pick<BuildPeople, "onEvent" | "onNews">;

/** From where the project is to the next reason to rest; `held` is opened and stays so. */
export async function followFlow(
  project: Project,
  held: Held,
  options: FlowOptions,
  people: FlowPeople,
): Promise<Result<FlowOutcome>> {
  const site = await openFlowSite(project, held, project.flows ?? builtInFlows, options, {
    ...people,
    build: (wanted, heard) => buildUnder(project, held, { ...options, ...wanted }, people, heard),
    approved: () => {},
    trust: trustPlaceOf(project),
    makeAgent(name, { approval, settings }) {
      const agent = makeAgent(name, {
        ...agentWorld,
        does: "skill",
        root: project.root,
        settings: settings.agents?.[name],
        command: approval.agent(name),
        phase: () => undefined,
        shell: () => undefined,
      });
      if (!agent) throw new Error(`there is no agent ${name}`);
      return agent;
    },
    makeTracker: makeTracker(project.root),
  });
  if (!site.ok) return site;
  try {
    return succeed(await runFlowLocally(site.value));
  } finally {
    await site.value.trackers.close();
  }
}

/** Loaded when there is one: nobody else waits for the protocol's library. */
const makeTracker =
  (root: string): FlowWorld["makeTracker"] =>
  async ({ kind }, place) => {
    const { createMcpTracker } = await import("../trackers/mcp.ts");
    const config = readConfig(root);
    const settings = config.ok ? trackerSettings(config.value) : {};
    const project = settings.project ?? (kind === "github" ? await remoteOf(root) : undefined);
    return createMcpTracker({
      kind,
      place,
      settings: { ...settings, ...(project !== undefined && { project }) },
    });
  };

/** `owner/repository`, where that is what `origin` says. */
async function remoteOf(root: string): Promise<string | undefined> {
  const repository = findRepository(root);
  if (!repository) return undefined;
  const git = openGit({ ...repository, workTree: repository.root });
  const url = await git.call({ args: ["config", "--get", "remote.origin.url"] });
  const [, name] =
    (url.ok && /github\.com[:/]([\w.-]+\/[\w.-]+?)(?:\.git)?\s*$/.exec(url.value.text)) || [];
  return name;
}

export type TrackerPeople = Pick<FlowWorld, "ask" | "askTrust" | "by" | "signal" | "tell">;

/** Everything that is pending is created, and our files say so. */
export const syncTracker = (
  project: Project,
  held: Held,
  people: TrackerPeople,
  options: Pick<FlowOptions, "trustSha256">,
): Promise<Result<Synced>> =>
  syncItems(project, held, options, { ...people, ...trackerWorld(project) });

/** By which tool each verb would be done; nothing is created. */
export const trackerTools = (
  project: Project,
  state: ProjectState,
  people: TrackerPeople,
  options: Pick<FlowOptions, "trustSha256">,
): Promise<Result<TrackerTools>> =>
  showTools(project, options, { ...people, ...trackerWorld(project) }, state);

const trackerWorld = (project: Project): Pick<FlowWorld, "trust" | "makeTracker"> => ({
  trust: trustPlaceOf(project),
  makeTracker: makeTracker(project.root),
});

/** The tasks of a flow's step: the flow holds the project, and its people are asked. */
async function buildUnder(
  project: Project,
  held: Held,
  { plan, under, ...options }: FlowOptions & { plan: string; under: string },
  people: FlowPeople,
  heard: (run: PlanRun) => void,
): Promise<Result<Built>> {
  const { throughBoundaries: _, sameConversation: __, ...given } = options;
  const wanted: BuildOptions = { ...given, plan, under };
  const intended = intend(project.root, project.root, wanted);
  if (!intended.ok) return intended;
  const { settings, mode } = intended.value;
  // A flow that commits its steps commits its tasks; where it does not, nothing of ours does.
  const usual = settings.flow?.commit === "none" ? "message-only" : "auto";
  const listening = {
    ...people,
    onEvent(event: RecordedEvent, run: PlanRun) {
      people.onEvent(event, run);
      heard(run);
    },
  };
  return buildHeld(project, held, { ...intended.value, mode: mode ?? usual }, wanted, listening, {
    open: openRun,
    drive: (site) => runLocally(site, () => (people.isFinishing?.() ? { finishing: true } : {})),
  });
}
