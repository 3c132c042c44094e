/** What a person does about the tracker: look at it, see by which tools it is used, catch up with it. */
import { readConfig } from "../config.ts";
import { decisionId } from "../core/decision.ts";
import type { ProjectState } from "../core/evolve.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { stepIn } from "../core/flow/flow.ts";
import { builtInFlows, flowNamed } from "../core/flow/flows/index.ts";
import { chosenAs } from "../core/flow/track.ts";
import { trackerSettings } from "../core/settings.ts";
import { type LedgerEntry, nothingTracked, type Refusal } from "../core/tracker/ledger.ts";
import { answered, toolsChanged, whichTracker } from "../core/tracker/questions.ts";
import { chooseTracker, type FoundTracker, type TrackerChoice } from "../core/tracker/servers.ts";
import { openGit } from "../git/call.ts";
import type { Tracker } from "../tracker.ts";
import { askOnce } from "./ask.ts";
import { commitStep } from "./commit-step.ts";
import { findTrackers } from "./find-trackers.ts";
import type { Held, Project } from "./hold.ts";
import { type TrackerOpener, trackerOpener } from "./open-tracker.ts";
import { type FlowOptions, type FlowWorld, trackerSite } from "./start-flow.ts";
import { pendingIn, type Tracked, trackItems } from "./track.ts";

export interface TrackerLook {
  readonly found: readonly FoundTracker[];
  readonly choice: TrackerChoice;
  /** On record. */
  readonly tracker?: string;
  readonly server?: string;
  readonly opened: boolean;
  readonly refused?: Refusal;
  readonly pending: number;
  readonly entries: readonly LedgerEntry[];
}

/** Nothing is started, and nobody is connected to. */
export function lookAtTracker(project: Project, state: ProjectState): Result<TrackerLook> {
  const config = readConfig(project.root);
  if (!config.ok) return config;
  const { entries, server, openedAt, refused } = state.tracking ?? nothingTracked;
  const { tracker } = state.flow ?? {};
  const found = findTrackers(project.root);
  return succeed({
    found,
    choice: chooseTracker(found, trackerSettings(config.value), { tracker, server }),
    ...(tracker !== undefined && { tracker }),
    ...(server !== undefined && { server }),
    opened: openedAt !== undefined,
    ...(refused && { refused }),
    pending: pendingIn({ project }),
    entries: Object.values(entries),
  });
}

type World = Pick<
  FlowWorld,
  "ask" | "askTrust" | "by" | "signal" | "tell" | "trust" | "makeTracker"
>;
type Options = Pick<FlowOptions, "trustSha256">;

export interface Synced extends Tracked {
  readonly tracker: string;
  readonly commit?: string;
}

export async function syncItems(
  project: Project,
  held: Held,
  options: Options,
  world: World,
): Promise<Result<Synced>> {
  const { repository } = project;
  if (!repository) return fail("no-repository", `${project.root} is not in a git repository`);
  const busy = atWork(project, held.state);
  if (busy !== undefined) {
    return fail("tracker-unavailable", `${busy} carries out tasks: their files keep their names`, {
      hint: "autodev, until it is complete; then autodev tracker sync",
    });
  }
  const config = readConfig(project.root);
  if (!config.ok) return config;
  const trackers = trackerOpener(trackerSite(project, config.value, options, world));
  try {
    const opened = await openedFor(project, held, trackers, world);
    if (!opened.ok) return opened;
    const { server, tracker } = opened.value;
    const git = openGit({ ...repository, workTree: repository.root });
    const site = { ...world, project, held, git, happened: () => undefined };
    const tracked = await trackItems(site, tracker, { done: true });
    if (!tracked.ok) return tracked;
    const value = { ...tracked.value, tracker: server.kind };
    if (config.value.flow?.commit === "none" || !held.state.flow) return succeed(value);
    const committed = await commitStep(git, {
      id: `tracker-${String(held.head.seq).padStart(8, "0")}`,
      message: `docs: ids of the tracker\n\nAutodev-Tracker: ${server.kind}\n`,
      at: project.world.now(),
      signal: world.signal,
    });
    if (!committed.ok) return committed;
    if (committed.value.is === "not-now") world.tell(`not committed now: ${committed.value.why}`);
    const { value: made } = committed;
    return succeed({ ...value, ...(made.is === "committed" && { commit: made.commit }) });
  } finally {
    await trackers.close();
  }
}

/** A run knows its tasks by the names of their files. */
function atWork({ flows = builtInFlows }: Project, { flow }: ProjectState): string | undefined {
  const known = flow && flowNamed(flow.flow, flows);
  const step = known && stepIn(known, flow.step);
  return step?.runs && flow?.status === "in_progress"
    ? `step ${step.step} ${step.name}`
    : undefined;
}

async function openedFor(
  project: Project,
  held: Held,
  trackers: TrackerOpener,
  world: World,
): Promise<Result<{ readonly server: FoundTracker; readonly tracker: Tracker }>> {
  const server = await serverFor(project, held, world);
  if (!server.ok) return server;
  const { flow, tracking } = held.state;
  if (flow && (flow.tracker !== server.value.kind || tracking?.server !== server.value.name)) {
    const chosen = await held.record(chosenAs(server.value, "a person wants it"));
    if (!chosen.ok) return chosen;
  }
  for (;;) {
    const accept = acceptedIn(held.state, project.world.hash, server.value);
    const opened = await trackers.open(server.value, accept);
    if (!opened.ok) return opened;
    const { tracker, event } = opened.value;
    const recorded = await held.record(event, ...(tracker ? answered(held.state.decisions) : []));
    if (!recorded.ok) return recorded;
    if (tracker) return succeed({ server: server.value, tracker });
    const refused = held.state.tracking?.refused;
    if (event.type !== "tracker-refused" || refused?.how !== "tools") {
      return unavailable(server.value, event.type === "tracker-refused" ? event.why : "");
    }
    const question = toolsChanged(server.value.name, refused);
    const wanted = await askOnce({ ...world, project, held }, question);
    if (!wanted.ok) return wanted;
    if (wanted.value !== "A") return unavailable(server.value, refused.why);
  }
}

/** Tools that a person has looked at and wants used. */
function acceptedIn(
  { tracking, decisions }: ProjectState,
  hash: (text: string) => string,
  { name }: FoundTracker,
): string | undefined {
  const { refused } = tracking ?? {};
  if (refused?.how !== "tools") return undefined;
  const id = decisionId(toolsChanged(name, refused), hash);
  return decisions[id]?.answer?.key === "A" ? refused.tools : undefined;
}

const unavailable = ({ name, from }: FoundTracker, why: string): ReturnType<typeof fail> =>
  fail("tracker-unavailable", `${name} (${from}) cannot be used: ${why}`, {
    hint: "autodev tracker shows what is configured; autodev tracker tools what it offers",
  });

/** Chosen anew: whoever went on without one has changed his mind. */
async function serverFor(
  project: Project,
  held: Pick<Held, "state"> & Partial<Held>,
  world: Pick<World, "ask" | "by">,
): Promise<Result<FoundTracker>> {
  const config = readConfig(project.root);
  if (!config.ok) return config;
  const { flow, tracking } = held.state;
  const recorded =
    flow?.tracker === "local" ? {} : { tracker: flow?.tracker, server: tracking?.server };
  const found = findTrackers(project.root);
  const choice = chooseTracker(found, trackerSettings(config.value), recorded);
  switch (choice.is) {
    case "chosen":
      return succeed(choice.tracker);
    case "ask": {
      const question = whichTracker(choice.among);
      const known = held.state.decisions[decisionId(question, project.world.hash)]?.answer?.key;
      const key =
        known === undefined && held.record
          ? await askOnce({ ...world, project, held: held as Held }, question)
          : succeed(known ?? "none");
      if (!key.ok) return key;
      const chosen = choice.among.slice(0, 3)["ABC".indexOf(key.value)];
      return chosen ? succeed(chosen) : noTracker("none of those that are configured is chosen");
    }
    case "missing":
      return noTracker(`no MCP server is "${choice.wanted}"`);
    case "local":
      return noTracker(choice.why);
  }
}

const noTracker = (why: string): ReturnType<typeof fail> =>
  fail("tracker-unavailable", `there is no tracker: ${why}`, {
    hint: "configure its MCP server in .mcp.json, or name it as tracker: in .autodev/config.yaml",
  });

export interface TrackerTools {
  readonly server: FoundTracker;
  readonly how: Readonly<Record<string, string>>;
  /** Why it cannot be used. */
  readonly refused?: { readonly how: string; readonly why: string; readonly difference: string[] };
}

export async function showTools(
  project: Project,
  options: Options,
  world: World,
  state: ProjectState,
): Promise<Result<TrackerTools>> {
  const config = readConfig(project.root);
  if (!config.ok) return config;
  const server = await serverFor(project, { state }, world);
  if (!server.ok) return server;
  const trackers = trackerOpener(trackerSite(project, config.value, options, world));
  try {
    const opened = await trackers.open(server.value);
    if (!opened.ok) return opened;
    const { how, event } = opened.value;
    if (event.type === "tracker-opened") return succeed({ server: server.value, how });
    const { how: kind, why, difference = [] } = event;
    return succeed({ server: server.value, how, refused: { how: kind, why, difference } });
  } finally {
    await trackers.close();
  }
}
