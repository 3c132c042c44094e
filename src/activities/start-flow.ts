/**
 * Before a flow goes on: who does the work, whether what the repository tells them may be followed,
 * and what keeps them from the user's files. Everything that can be refused is refused here.
 */
import type { Agent } from "../agent.ts";
import { type Config, readConfig } from "../config.ts";
import { agentsFor } from "../core/agent/route.ts";
import { type SandboxMode, sandboxWarning } from "../core/agent/sandbox.ts";
import type { Event } from "../core/event.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Flow, Step } from "../core/flow/flow.ts";
import { openGit } from "../git/call.ts";
import { treeNow } from "../git/differences.ts";
import { checkVersion } from "../git/objects.ts";
import type { TrustPlace } from "../trust.ts";
import { type Approval, type AskTrust, approve } from "./approve.ts";
import { chooseForFlow, machineOf } from "./choose-cast.ts";
import { flowsFolder } from "./find-flows.ts";
import { findSandbox } from "./find-sandbox.ts";
import { skillFolders } from "./find-skill.ts";
import type { FlowSite, Workers } from "./flow-site.ts";
import type { Held, Project } from "./hold.ts";
import type { Ask } from "./open-flow.ts";
import { checkFolders, foldersOf } from "./run-site.ts";

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
  approved(approval: Approval): void;
  makeAgent(name: string, ground: { approval: Approval; settings: Config }): Agent;
  readonly build: FlowSite["build"];
  happened(events: readonly Event[]): void;
  tell(line: string): void;
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
    ask: world.ask,
    by: world.by,
    signal: world.signal,
    killNow: world.killNow,
    begun: held.head.seq,
    throughBoundaries: options.throughBoundaries === true,
    sameConversation: options.sameConversation === true,
    commits: settings.flow?.commit !== "none",
    waits: options.wait !== false,
    idleMs: (options.idleMinutes ?? settings.build?.idle_minutes ?? usualIdleMinutes) * 60_000,
    stuckMinutes: settings.flow?.stuck_minutes ?? usualIdleMinutes,
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
  const approval = await approved(project, settings, all, options, world);
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

/**
 * They work in the user's own tree, so that is what is judged, as it is now: what it has agents run,
 * and the skills and flows of its own that they are told to follow.
 */
async function approved(
  { root, repository, world: { now } }: Project,
  settings: Config,
  agents: readonly string[],
  { trustSha256 }: FlowOptions,
  world: FlowWorld,
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
        agents,
        phases: [],
        follows: [...skillFolders, flowsFolder].map((folder) => `${folder}/**`),
      },
      {
        ask: world.askTrust,
        by: world.by,
        now,
        partial: true,
        ...(trustSha256 !== undefined && { sha256: trustSha256 }),
      },
    );
  } finally {
    await tree.value.forget();
  }
}
