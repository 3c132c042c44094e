/**
 * Before a flow goes on: who does the work, whether what the repository tells them may be followed,
 * and what keeps them from the user's files. Everything that can be refused is refused here.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Agent } from "../agent.ts";
import { type Config, readConfig } from "../config.ts";
import { agentsFor } from "../core/agent/route.ts";
import { type SandboxMode, sandboxWarning } from "../core/agent/sandbox.ts";
import type { Event } from "../core/event.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Flow, Step } from "../core/flow/flow.ts";
import { hostAgent } from "../core/lease.ts";
import { openGit } from "../git/call.ts";
import { treeNow } from "../git/differences.ts";
import { checkVersion } from "../git/objects.ts";
import type { TrustPlace } from "../trust.ts";
import { type Approval, type ApprovalOptions, type AskTrust, approve } from "./approve.ts";
import { chooseForFlow, machineOf } from "./choose-cast.ts";
import { flowsFolder } from "./find-flows.ts";
import { findSandbox } from "./find-sandbox.ts";
import { skillFolders } from "./find-skill.ts";
import type { FlowSite, Workers } from "./flow-site.ts";
import type { Held, Project } from "./hold.ts";
import type { Ask } from "./open-flow.ts";
import { type TrackerSite, trackerOpener } from "./open-tracker.ts";
import { forgetBriefs } from "./recover.ts";
import { checkFolders, foldersOf, leaseMinutes, type Pull } from "./run-site.ts";

export interface FlowOptions {
  readonly agent?: string;
  readonly throughBoundaries?: boolean;
  readonly sameConversation?: boolean;
  readonly wait?: boolean;
  readonly sandbox?: SandboxMode;
  readonly trustSha256?: string;
  readonly idleMinutes?: number;
}

export interface FlowWorld {
  readonly ask: Ask;
  readonly askTrust: AskTrust;
  readonly by: string;
  readonly trust: TrustPlace;
  readonly signal: AbortSignal;
  readonly killNow: AbortSignal;
  readonly isFinishing?: () => boolean;
  approved(approval: Approval): void;
  makeAgent(name: string, ground: { approval: Approval; settings: Config }): Agent;
  makeTracker: TrackerSite["make"];
  readonly build: FlowSite["build"];
  happened(events: readonly Event[]): void;
  tell(line: string): void;
  /** Somebody has come for work, or with work. */
  readonly pull?: Pull;
}

const usualIdleMinutes = 20;

export async function openFlowSite(
  project: Project,
  held: Held,
  flows: readonly Flow[],
  options: FlowOptions,
  world: FlowWorld,
): Promise<Result<FlowSite>> {
  const { repository, root } = project;
  if (!repository) return fail("no-repository", `${root} is not in a git repository`);
  const config = readConfig(root);
  if (!config.ok) return config;
  const settings = config.value;
  const git = openGit({ ...repository, workTree: repository.root });
  const version = await checkVersion(git);
  if (!version.ok) return version;
  const safe = checkFolders(root, foldersOf(root, git.place.commonDir, ""));
  if (!safe.ok) return safe;
  const { lease, ended } = held.state.course?.session ?? {};
  if (!lease || ended !== undefined) forgetBriefs(root);
  let workers: Promise<Result<Workers>> | undefined;
  return succeed({
    project,
    held,
    git,
    flows,
    workers() {
      workers ??= findWorkers({ project, held, flows, settings, options, world });
      return workers;
    },
    build: world.build,
    trackers: trackerOpener(trackerSite(project, settings, options, world)),
    ask: world.ask,
    by: world.by,
    signal: world.signal,
    killNow: world.killNow,
    ...(world.isFinishing && { isFinishing: world.isFinishing }),
    begun: held.head.seq,
    throughBoundaries: options.throughBoundaries === true,
    sameConversation: options.sameConversation === true,
    commits: settings.flow?.commit !== "none",
    waits: options.wait !== false,
    idleMs: (options.idleMinutes ?? settings.build?.idle_minutes ?? usualIdleMinutes) * 60_000,
    stuckMinutes: settings.flow?.stuck_minutes ?? usualIdleMinutes,
    leaseMs: leaseMinutes(settings) * 60_000,
    ...(world.pull && { pull: world.pull }),
    happened: world.happened,
    tell: world.tell,
  });
}

interface Finding {
  readonly project: Project;
  readonly held: Held;
  readonly flows: readonly Flow[];
  readonly settings: Config;
  readonly options: FlowOptions;
  readonly world: FlowWorld;
}

async function findWorkers(finding: Finding): Promise<Result<Workers>> {
  const { project, held, flows, settings, options, world } = finding;
  if (world.pull) return hostAlone(finding);
  const usual = await chooseForFlow(
    { agent: options.agent, settings, machine: machineOf(project.root) },
    { project, held, ask: world.ask, by: world.by },
  );
  if (!usual.ok) return usual;
  const routing = {
    ...(options.agent !== undefined && { forced: options.agent }),
    usual: usual.value,
    ...(settings.routes && { routes: settings.routes }),
    ...(settings.agents && { agents: settings.agents }),
  };
  const whoDoes = ({ step, name, skill }: Step): readonly string[] =>
    agentsFor({ step, stepName: name, ...(skill !== undefined && { skill }) }, routing);
  const all = [...new Set(flows.flatMap(({ steps }) => steps.flatMap(whoDoes)))];
  const approval = await approved(finding, all);
  if (!approval.ok) return approval;
  world.approved(approval.value);
  const sandbox = await findSandbox(options, settings, all);
  if (!sandbox.ok) return sandbox;
  const warning = sandboxWarning(sandbox.value);
  if (warning !== undefined) world.tell(warning);
  const made = new Map<string, Agent>();
  return succeed({
    agentsFor: whoDoes,
    agent(name) {
      const agent = made.get(name) ?? world.makeAgent(name, { approval: approval.value, settings });
      made.set(name, agent);
      return agent;
    },
    confined: (name) => sandbox.value.by !== undefined && !sandbox.value.free.includes(name),
    network: sandbox.value.network === "off" ? "off" : undefined,
  });
}

/** Folders with a skill that a flow works by: what else hosts keep there, nobody here follows. */
function ownSkillFolders(root: string, flows: readonly Flow[]): string[] {
  const used = flows.flatMap(({ steps }) =>
    steps.flatMap(({ skill, runs }) => [skill ?? [], runs?.review ?? []].flat()),
  );
  return skillFolders.filter((folder) =>
    used.some((skill) => fs.existsSync(path.join(root, folder, skill))),
  );
}

/** Who comes for work was started by somebody else; what he is told to follow is approved all the same. */
async function hostAlone(finding: Finding): Promise<Result<Workers>> {
  const approval = await approved(finding, []);
  if (!approval.ok) return approval;
  return succeed({
    agentsFor: () => [hostAgent],
    agent: () => {
      throw new Error("whoever comes for work is started by nobody here");
    },
    confined: () => false,
    network: undefined,
  });
}

/** What a server of the repository's starts is approved by itself, and remembered. */
export function trackerSite(
  project: Project,
  settings: Config,
  options: Pick<FlowOptions, "trustSha256">,
  world: Pick<FlowWorld, "askTrust" | "by" | "trust" | "makeTracker">,
): TrackerSite {
  return {
    root: project.root,
    trust: world.trust,
    by: world.by,
    now: project.world.now,
    make: world.makeTracker,
    approved: (server, trust) =>
      approvedNow(project, settings, { agents: [], trackers: [server] }, options, {
        ...world,
        trust,
      }),
  };
}

/**
 * They work in the user's own tree, so that is what is judged, as it is now: what it has agents run,
 * and the skills and flows of its own that they are told to follow.
 */
const approved = (
  { project, flows, settings, options, world }: Finding,
  agents: readonly string[],
): Promise<Result<Approval>> => {
  const folders = [...ownSkillFolders(project.root, flows), flowsFolder];
  const follows = folders.map((folder) => `${folder}/**`);
  return approvedNow(project, settings, { agents, follows }, { ...options, partial: true }, world);
};

async function approvedNow(
  { root, repository, world: { now } }: Project,
  settings: Config,
  what: Pick<ApprovalOptions, "agents" | "follows" | "trackers">,
  { trustSha256, partial }: Pick<FlowOptions, "trustSha256"> & { readonly partial?: true },
  world: Pick<FlowWorld, "askTrust" | "by" | "trust">,
): Promise<Result<Approval>> {
  if (!repository) return fail("no-repository", `${root} is not in a git repository`);
  const place = { ...repository, workTree: repository.root };
  const tree = await treeNow(openGit(place), place);
  if (!tree.ok) return tree;
  try {
    return await approve(
      {
        git: tree.value.git,
        commit: tree.value.tree,
        place: world.trust,
        gates: [],
        settings: { ...settings, gates: { hooks: false } },
        phases: [],
        ...what,
      },
      {
        ask: world.askTrust,
        by: world.by,
        now,
        ...(partial && { partial }),
        ...(trustSha256 !== undefined && { sha256: trustSha256 }),
      },
    );
  } finally {
    await tree.value.forget();
  }
}
