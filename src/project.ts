/**
 * The composition root: finds the repository and chooses the adapters. The only file that names
 * them, and the only one besides core that the doors import.
 */
import * as path from "node:path";
import {
  type AuditedCommit,
  type AuditOptions,
  type AuditWorld,
  auditCommits,
} from "./activities/audit.ts";
import { findFlows } from "./activities/find-flows.ts";
import { factsOf } from "./activities/flow-facts.ts";
import { foldersAgree, lookFrom } from "./activities/glance.ts";
import {
  type Held,
  hold,
  type Look,
  notKnownThere,
  type Project,
  readState,
  type World,
} from "./activities/hold.ts";
import { type ListedAgents, listAgentsOf, machineOf } from "./activities/list-agents.ts";
import { type KeptPlace, listKept } from "./activities/list-kept.ts";
import { isStartable, type SeenHost, seenHosts } from "./activities/look-at-hosts.ts";
import {
  type Example,
  emptyFolderFor,
  type MadeExample,
  trustAsOurs,
  writeExample,
} from "./activities/make-example.ts";
import {
  type OpenedPullRequest,
  openPullRequest,
  type PullRequestPlace,
  pullRequestPlace,
} from "./activities/open-pull-request.ts";
import {
  type AgentGround,
  type BuildWorld,
  closeRun,
  type OpenedRun,
  openRun,
} from "./activities/open-run.ts";
import { trackersPlace } from "./activities/open-tracker.ts";
import type { PlanDisk } from "./activities/plan-files.ts";
import { type Removal, removeKept } from "./activities/remove-kept.ts";
import { renewLease, takeReport } from "./activities/report-work.ts";
import { foldersOf, leaseMinutes, type Pull } from "./activities/run-site.ts";
import { type FlowOptions, type FlowWorld, openFlowSite } from "./activities/start-flow.ts";
import { type BuildOptions, type Intended, intend } from "./activities/start-run.ts";
import { partsOf, type SuitePart, surveySuite } from "./activities/survey-suite.ts";
import { type Synced, showTools, syncItems, type TrackerTools } from "./activities/sync-tracker.ts";
import { type People, peopleOf, type Reach } from "./activities/tell-people.ts";
import { type TestPeople, testAgentOf } from "./activities/test-agent.ts";
import { transcriptFile } from "./activities/transcript.ts";
import { trustOfPlan } from "./activities/trust-plan.ts";
import type { Tried } from "./activities/try-agent.ts";
import {
  type HostDisk,
  type InitRequest,
  type PlannedFile,
  planInit,
  presentChoice,
  writeInit,
} from "./activities/write-host-files.ts";
import type { Agent } from "./agent.ts";
import { makeAgent } from "./agents/made.ts";
import { readConfig } from "./config.ts";
import { type Budgets, budgetsOf } from "./core/agent/budget.ts";
import type { RecordedEvent } from "./core/event.ts";
import { currentRun, type ProjectState } from "./core/evolve.ts";
import { type Failure, fail, type Result, succeed } from "./core/failure.ts";
import { builtInFlows, flowNamed } from "./core/flow/flows/index.ts";
import type { FlowFacts } from "./core/flow/next-move.ts";
import type { SaidSubStep } from "./core/flow/reported.ts";
import type { FlowOutcome } from "./core/flow/run-flow.ts";
import type { AutobuildChoice } from "./core/host/wanted.ts";
import { bytesIn, type Cleaning, type Judged, type KeepRule, whatToRemove } from "./core/keep.ts";
import type { LeaseName, Puller } from "./core/lease.ts";
import { phaseNamed } from "./core/plan/edits.ts";
import type { PlanRun } from "./core/plan/progress.ts";
import type { AgentResult } from "./core/plan/result.ts";
import { trackerSettings } from "./core/settings.ts";
import { runLocally } from "./engines/local.ts";
import { runFlowLocally } from "./engines/local-flow.ts";
import { ourStart } from "./exec/process-table.ts";
import { exec } from "./exec.ts";
import { type Git, openGit } from "./git/call.ts";
import { findRepository, initRepository, isKnownThere } from "./git.ts";
import type { WantedPullRequest } from "./github.ts";
import { openResultTool } from "./result-tool.ts";
import { createDurably, realDisk, replaceFile } from "./stores/file/disk.ts";
import { glanceAt } from "./stores/file/glance.ts";
import { acquireLock, holderOf, isLocked } from "./stores/file/lock.ts";
import { createFileStore, sha256 } from "./stores/file.ts";
import { grantTrust, revokeTrust, type TrustPlace, trustFolder } from "./trust.ts";

export { type Acted, actOnFlow, retryStep } from "./activities/act-on-flow.ts";
export { answerDecision } from "./activities/answer-decision.ts";
export type { AskTrust } from "./activities/approve.ts";
export type { AuditedCommit } from "./activities/audit.ts";
export * from "./activities/examine.ts";
export {
  ejectSkill,
  examineSkills,
  showSkill,
  type UsedSkill,
} from "./activities/examine-skills.ts";
export type { FoundAgent, Presence } from "./activities/find-agents.ts";
export { attemptNamed, findPhase, type PhaseHistory } from "./activities/find-attempt.ts";
export {
  examineFlowFiles,
  examineFlows,
  type FlowExamination,
  type FoundFlow,
  flowsFolder,
} from "./activities/find-flows.ts";
export { findParts } from "./activities/find-parts.ts";
export { examineSandbox } from "./activities/find-sandbox.ts";
export * from "./activities/hold.ts";
export type { ListedAgents } from "./activities/list-agents.ts";
export { type Example, type LandedCommit, landedCommits } from "./activities/make-example.ts";
export * from "./activities/open-flow.ts";
export type { OpenedPullRequest } from "./activities/open-pull-request.ts";
export { type PhaseDiff, phaseDiff } from "./activities/phase-diff.ts";
export * from "./activities/plan-files.ts";
export { type Preview, previewBuild } from "./activities/preview.ts";
export { listArtifacts, readArtifact } from "./activities/read-artifacts.ts";
export type { LentWork, Pull } from "./activities/run-site.ts";
export { say, untilReleased } from "./activities/say.ts";
export {
  enterShell,
  leaveShell,
  type OpenedShell,
  openShell,
} from "./activities/shell-tree.ts";
export type { FlowOptions } from "./activities/start-flow.ts";
export type { BuildOptions } from "./activities/start-run.ts";
export {
  lookAtTracker,
  type Synced,
  type TrackerLook,
  type TrackerTools,
} from "./activities/sync-tracker.ts";
export { askingPeople } from "./activities/tell-people.ts";
export { briefIn, readTranscript } from "./activities/transcript.ts";
export type { Tried } from "./activities/try-agent.ts";
export type { InitRequest, PlannedFile } from "./activities/write-host-files.ts";
export type { AgentEvent } from "./agent.ts";
export { asConversation, inWords } from "./agents/made.ts";
export { attached } from "./exec/attached.ts";
export { hasScreen, openPage } from "./exec/open-page.ts";
export { markdownTree } from "./formats/markdown-tree.ts";
export { initRepository } from "./git.ts";
export { shown, shownLine } from "./safe-text.ts";
export type { Holder } from "./store.ts";
export { contains, notOurs, uiFolder } from "./trust.ts";

export const realWorld: World = {
  now: () => new Date().toISOString(),
  holder: (command) => ({
    pid: process.pid,
    host: process.getBuiltinModule("node:os").hostname(),
    since: new Date().toISOString(),
    command,
  }),
  uuid: () => process.getBuiltinModule("node:crypto").randomUUID(),
  hash: sha256,
  showEvery: 25,
};

/**
 * `look`, when nothing has happened since the last rest and the file is as we wrote it: the same
 * answer for a fraction of the work. Undefined: it takes a whole look to tell.
 */
export function glance(cwd: string): { root: string; look: Look } | undefined {
  const repository = findRepository(cwd);
  if (!repository) return undefined;
  const { root, commonDir } = repository;
  const found = glanceAt(path.join(commonDir, "autodev"), root);
  const look = found && lookFrom(found.snapshot, found.readProjection);
  return look && foldersAgree(root, look) ? { root, look } : undefined;
}

/** How a plan's files are written: whole or not at all, and still there after a power cut. */
export const planDisk: PlanDisk = {
  replace: (file, bytes, proceed) => {
    const mode = realDisk.mode(file);
    return replaceFile(realDisk, file, bytes, {
      unique: `${process.pid}-${Date.now()}`,
      durable: true,
      proceed,
      ...(mode === undefined ? {} : { mode }),
    });
  },
  alone: async (file, act) => {
    // Not beside the plan, which is somebody's folder, and not for ever: the kernel lets go of it.
    const lockFile = path.join(
      process.getBuiltinModule("node:os").tmpdir(),
      `autodev-plan-${sha256(file).slice(0, 16)}.lock`,
    );
    for (let round = 0; ; round++) {
      const lock = acquireLock(lockFile, lockFile, realWorld.holder("autodev plan"));
      if (!lock.ok && lock.failure.code === "locked" && round < 600) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        continue;
      }
      // Without a lock (no flock, a lock file of another user's) two of ours may have to try again.
      try {
        return await act();
      } finally {
        if (lock.ok) lock.value.release();
      }
    }
  },
  create: async (file, bytes) => {
    const mask = process.umask();
    await realDisk.makeFolder(path.dirname(file), 0o777 & ~mask);
    const unique = `${process.pid}-${Date.now()}`;
    return createDurably(realDisk, file, bytes, unique, 0o666 & ~mask);
  },
};

const hostDisk: HostDisk = {
  ...planDisk,
  remove: async (file, proceed) => {
    if (!proceed()) return false;
    await realDisk.remove(file);
    await realDisk.syncFolder(path.dirname(file));
    return true;
  },
};

/** The files by which hosts know of us. */
export interface HostFiles {
  readonly root: string;
  readonly seen: readonly SeenHost[];
  /** What was chosen here before. */
  readonly autobuild: AutobuildChoice | undefined;
  /** Whether hosts can start us by our name. */
  readonly startable: boolean;
  plan(request: InitRequest): Result<readonly PlannedFile[]>;
  write(request: InitRequest): Promise<Result<readonly PlannedFile[]>>;
}

export function hostFilesOf({ root, repository }: Project): Result<HostFiles> {
  if (!repository) {
    return fail("no-repository", `${root} is not in a git repository: nothing is written there`, {
      hint: "git init",
    });
  }
  const hash = (text: string): string => sha256(text).slice(0, 8);
  return succeed({
    root,
    seen: seenHosts(root, process.env),
    autobuild: presentChoice(root),
    startable: isStartable(root, process.env),
    plan: (request) => planInit({ root, hash }, request),
    write: (request) => writeInit({ root, hash, disk: hostDisk }, request),
  });
}

export function openProject(cwd: string, world: World = realWorld): Project {
  const repository = findRepository(cwd);
  const root = repository?.root ?? path.resolve(cwd);
  // Outside a repository one can look, but nothing is ever written there.
  const folder = path.join(repository?.commonDir ?? path.join(root, ".git"), "autodev");
  const relative = path.relative(root, folder);
  const store = createFileStore({
    folder,
    root,
    shown: relative.startsWith("..") ? folder : relative,
  });
  return { root, repository, store, world };
}

/** The project with the flows of its own. */
export function withFlows(project: Project, wantedFlow?: string): Result<Project> {
  const found = findFlows(project.root);
  if (!found.ok) return found;
  const flows = found.value.map(({ flow }) => flow);
  if (wantedFlow !== undefined && !flowNamed(wantedFlow, flows)) {
    return fail("usage", `there is no flow "${wantedFlow}"`, {
      hint: `there are ${flows.map(({ name }) => name).join(", ")}`,
    });
  }
  return succeed({ ...project, flows, ...(wantedFlow !== undefined && { wantedFlow }) });
}

/** The parts of a repository of repositories, and where each is by itself. */
export async function suiteOf({ root, repository }: Project): Promise<SuitePart[]> {
  if (!repository) return [];
  const git = openGit({ ...repository, workTree: repository.root });
  return partsOf(root, await surveySuite(root, git));
}

/** What agents may use up here; where the settings cannot be read, what is usual. */
export function budgetsAt({ root }: Project): Budgets {
  const settings = readConfig(root);
  return budgetsOf(settings.ok ? settings.value.budget : undefined);
}

/** Whether a session is open here, as far as a look can tell. */
export function isHeld({ repository }: Project): boolean {
  if (!repository) return false;
  const file = lockFileOf(repository.commonDir);
  if (process.platform === "linux") return isLocked(file);
  const holder = holderOf(file);
  try {
    return holder !== undefined && process.kill(holder.pid, 0);
  } catch {
    return false;
  }
}

const lockFileOf = (commonDir: string): string => path.join(commonDir, "autodev", "lock");

/** What an attempt's agent and gates have printed. */
export const transcriptOf = (
  { repository, root }: Project,
  run: string,
  phase: string,
  attempt: number,
): string => {
  const commonDir = repository?.commonDir ?? path.join(root, ".git");
  return transcriptFile(foldersOf(root, commonDir, ""), run, phase, attempt);
};

/** The people who are there, and what they are told. */
export type BuildPeople = Pick<
  BuildWorld,
  "ask" | "askTrust" | "by" | "signal" | "killNow" | "onEvent" | "onNews" | "pull"
> & {
  /** They have left, and want to hear when they are needed; absent: whoever calls us tells them. */
  readonly notices?: Pick<Reach, "terminal">;
};

export interface Built {
  readonly run: PlanRun;
  /** Questions that nobody was there to answer. */
  readonly asking: readonly Failure[];
  /** What was put right or noticed on the way, a line each. */
  readonly said: readonly string[];
}

/** What the next move is decided on, beside what is on record. */
export const flowFacts = (project: Project, state: ProjectState): FlowFacts =>
  factsOf({ project, held: { state }, flows: project.flows ?? builtInFlows });

export type FlowPeople = Pick<
  FlowWorld,
  "ask" | "askTrust" | "by" | "signal" | "killNow" | "happened" | "tell" | "pull"
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
    const { createMcpTracker } = await import("./trackers/mcp.ts");
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
  return buildHeld(project, held, { ...intended.value, mode: mode ?? usual }, wanted, {
    ...people,
    onEvent(event, run) {
      people.onEvent(event, run);
      heard(run);
    },
  });
}

/**
 * Somebody who came for work says how it went: on record first, then looked at. `built`: of a phase,
 * how its run stands now; of a step, how the flow does.
 */
export async function reportWork(
  project: Project,
  name: LeaseName,
  result: AgentResult | "on record",
  people: FlowPeople & { readonly pull: Pull },
): Promise<Result<Reported>> {
  const { by } = people.pull.puller;
  const held = await hold(project, `autodev mcp (${by})`);
  if (!held.ok) return held;
  const taken =
    result === "on record"
      ? succeed(undefined)
      : await takeReport(project, held.value, name, { result, by });
  const done = taken.ok ? await carriedOn(project, held.value, name, people) : taken;
  const released = await held.value.release();
  return !done.ok || released.ok ? done : released;
}

export type Reported =
  | { readonly of: "phase"; readonly built: Built }
  | { readonly of: "step"; readonly outcome: FlowOutcome; readonly state: ProjectState };

async function carriedOn(
  project: Project,
  held: Held,
  name: LeaseName,
  people: FlowPeople,
): Promise<Result<Reported>> {
  if (name.of === "step") {
    const outcome = await followFlow(project, held, {}, people);
    return outcome.ok
      ? succeed({ of: "step", outcome: outcome.value, state: held.state })
      : outcome;
  }
  const run = held.state.runs?.[name.run];
  if (!run || currentRun(held.state)?.id !== run.id)
    return fail("lease-lost", `run ${name.run} is not under way any more`, {
      hint: "call next for what is to be done now",
    });
  const { plan, mode, under } = run;
  const options: BuildOptions = { plan, ...(under !== undefined && { under }) };
  const intended = intend(project.root, project.root, options);
  if (!intended.ok) return intended;
  const built = await buildHeld(project, held, { ...intended.value, mode }, options, people);
  return built.ok ? succeed({ of: "phase", built: built.value }) : built;
}

/** He is still at it; of a skill also where. */
export async function renewWork(
  project: Project,
  name: LeaseName,
  said: SaidSubStep | undefined,
  { by }: Puller,
): Promise<Result<string>> {
  const until = leaseEnd(project);
  if (!until.ok) return until;
  const held = await hold(project, `autodev mcp (${by})`);
  if (!held.ok) return held;
  const told = { until: until.value, by, ...(said && { said }) };
  const renewed = await renewLease(project, held.value, name, told);
  const released = await held.value.release();
  if (!renewed.ok) return renewed;
  return released.ok ? until : released;
}

/** Of one that is given or renewed now. */
export function leaseEnd({ root, world }: Project): Result<string> {
  const settings = readConfig(root);
  if (!settings.ok) return settings;
  const ms = leaseMinutes(settings.value) * 60_000;
  return succeed(new Date(Date.parse(world.now()) + ms).toISOString());
}

/** A process that an agent of somebody's talks to. */
export const pullerFor = (by: string, cwd: string): Puller => ({
  by,
  root: openProject(cwd).root,
  holder: process.getBuiltinModule("node:crypto").randomUUID(),
  host: process.getBuiltinModule("node:os").hostname(),
  pid: process.pid,
  started: ourStart(),
});

/** A plan goes in, commits come out. */
export async function buildPlan(
  cwd: string,
  options: BuildOptions,
  people: BuildPeople,
  world: World = realWorld,
): Promise<Result<Built>> {
  const project = openProject(cwd, world);
  if (!project.repository) return noWorkTree(cwd);
  const intended = intend(project.root, cwd, options);
  if (!intended.ok) return intended;
  const held = await hold(project, `autodev build ${intended.value.plan}`);
  if (!held.ok) return held;
  const built = await buildHeld(project, held.value, intended.value, options, people);
  const released = await held.value.release();
  return !built.ok || released.ok ? built : released;
}

async function buildHeld(
  project: Project,
  held: Held,
  intended: Intended,
  options: BuildOptions,
  people: BuildPeople,
): Promise<Result<Built>> {
  if (!project.repository) return noWorkTree(project.root);
  const told = people.notices && tellingPeople(project.root, intended, people);
  const opened = await openRun(project, held, intended, options, {
    ...people,
    ...(told && {
      ask: told.asking(people.ask),
      onEvent(event: RecordedEvent, run: PlanRun) {
        people.onEvent(event, run);
        told.happened(event, run);
      },
    }),
    approved: (approval) => told?.approved(approval),
    disk: planDisk,
    cache: cacheFolder(project.repository.commonDir),
    trust: trustPlaceOf(project),
    makeAgent: (name, ground) => agentFor(project.root, name, ground),
  });
  return opened.ok ? driven(opened.value, told) : opened;
}

const tellingPeople = (root: string, { settings }: Intended, people: BuildPeople): People =>
  peopleOf(root, settings, {
    terminal: people.notices?.terminal,
    say: (notice) => people.onNews({ notice }),
    killNow: people.killNow,
  });

async function driven(opened: OpenedRun, told: People | undefined): Promise<Result<Built>> {
  const { said } = opened;
  if (opened.is === "nothing") return succeed({ run: opened.run, asking: [], said });
  const { site } = opened;
  const { asking, refused } = await runLocally(site);
  const closed = await closeRun(site);
  await site.git.end();
  if (refused) {
    told?.refused(site.run(), refused);
    return { ok: false, failure: refused };
  }
  if (!closed.ok) said.push(closed.failure.message);
  return succeed({ run: site.run(), asking, said });
}

/** Whether a pull request could be opened: told before anything is spent on a run. */
export async function mayRequestPull(cwd: string): Promise<Result<void>> {
  const place = await pullPlace(cwd);
  return place.ok ? succeed(undefined) : place;
}

/** A complete run at the remote, and one pull request for it. */
export async function requestPull(
  cwd: string,
  run: PlanRun,
  wanted: Omit<WantedPullRequest, "commit">,
): Promise<Result<OpenedPullRequest>> {
  const place = await pullPlace(cwd);
  return place.ok ? openPullRequest(place.value.git, run, place.value, wanted) : place;
}

async function pullPlace(cwd: string): Promise<Result<PullRequestPlace & { git: Git }>> {
  const { repository } = openProject(cwd);
  if (!repository) return noWorkTree(cwd);
  const git = openGit({ ...repository, workTree: repository.root });
  const place = await pullRequestPlace(git, process.env);
  return place.ok ? succeed({ ...place.value, git }) : place;
}

/** One of our examples in a new folder, with a repository, a first commit, and our word for it. */
export async function makeExample(
  folder: string,
  example: Example,
  world: World = realWorld,
): Promise<Result<MadeExample>> {
  const empty = emptyFolderFor(folder, example);
  if (!empty.ok) return empty;
  // Nobody's templates: a hook in there would not be ours to vouch for.
  if (!initRepository(folder, "--template=", "--initial-branch=main"))
    return fail("git", `git init does not work in ${folder}`, { hint: "git --version" });
  const project = openProject(folder, world);
  const commit = await writeExample(project, example);
  if (!commit.ok) return commit;
  const trusted = await trustAsOurs(project, example, commit.value, trustPlaceOf(project));
  return trusted.ok ? succeed({ project, commit: commit.value, trusted: trusted.value }) : trusted;
}

export interface CleanOptions extends Partial<Omit<KeepRule, "now">> {
  readonly dryRun: boolean;
  /** Of these, people's own bytes go: whether they may. */
  confirm(destroyed: readonly Judged[]): Promise<Result<void>>;
}

export interface Cleaned extends Cleaning, Removal {}

/** What is kept on disk, and what of it goes; settings fill in what was not said. */
export async function cleanProject(
  cwd: string,
  options: CleanOptions,
  world: World = realWorld,
): Promise<Result<Cleaned>> {
  const project = openProject(cwd, world);
  const { repository, root } = project;
  if (!repository) return noWorkTree(cwd);
  if (!isKnownThere(repository)) return notKnownThere(repository);
  const { commonDir } = repository;
  const settings = readConfig(root);
  if (!settings.ok) return settings;
  const { days, size } = settings.value.keep ?? {};
  const mostBytes = options.mostBytes ?? bytesIn(size ?? "");
  const rule: KeepRule = {
    now: Date.parse(world.now()),
    days: options.days ?? days ?? 30,
    ...(mostBytes !== undefined && { mostBytes }),
    shells: options.shells === true,
    rescue: options.rescue === true,
  };
  const memory = process
    .getBuiltinModule("node:fs")
    .lstatSync(path.dirname(lockFileOf(commonDir)), {
      throwIfNoEntry: false,
    });
  if (memory && !memory.isDirectory()) {
    return fail("disk", `${commonDir}/autodev is a link; a folder of ours has to be there`);
  }
  // Without a memory nothing was ever run here: there is nobody to keep out.
  const held = !memory || options.dryRun ? undefined : lockOf(commonDir, world);
  if (held && !held.ok) return held;
  try {
    const state = readState(project);
    if (!state.ok) return state;
    const git = openGit({ ...repository, workTree: root });
    const folders = foldersOf(root, commonDir, cacheFolder(commonDir));
    const place: KeptPlace = { git, root, folders, state: state.value };
    const listed = await listKept(place);
    if (!listed.ok) return listed;
    const cleaning = whatToRemove(listed.value, rule);
    if (options.dryRun) return succeed({ ...cleaning, removed: [], failed: [] });
    const destroyed = cleaning.remove.filter(({ thing }) => thing.precious);
    const allowed = destroyed.length > 0 ? await options.confirm(destroyed) : succeed(undefined);
    if (!allowed.ok) return allowed;
    const removal = await removeKept(
      place,
      cleaning.remove.map(({ thing }) => thing),
    );
    return succeed({ ...cleaning, ...removal });
  } finally {
    if (held?.ok) held.value.release();
  }
}

/** Without a session: cleaning writes no history, and has to work on a disk that is full. */
const lockOf = (commonDir: string, world: World): ReturnType<typeof acquireLock> =>
  acquireLock(lockFileOf(commonDir), ".git/autodev/lock", world.holder("autodev clean"));

/** Whether commits that runs have made are what they say. */
export function auditRange(
  cwd: string,
  options: AuditOptions,
  people: Omit<AuditWorld, "cache" | "trust">,
  world: World = realWorld,
): Promise<Result<AuditedCommit[]>> {
  const project = openProject(cwd, world);
  if (!project.repository) return Promise.resolve(noWorkTree(cwd));
  return auditCommits(project, options, {
    ...people,
    // One for each: two at once would take each other's checkout away.
    cache: `${cacheFolder(project.repository.commonDir)}-audit-${process.pid}`,
    trust: trustPlaceOf(project),
  });
}

export const trustPlaceOf = ({ root }: Project): TrustPlace => ({ root, folder: trustFolder() });

/** What a build would run, and a person's approval of it. */
export const trustPlan = {
  look: (project: Project, cwd: string, options: BuildOptions) =>
    trustOfPlan(project, cwd, options, trustPlaceOf(project)),
  grant: grantTrust,
  /** All of it: what a tracker's server starts too. */
  revoke: async (place: TrustPlace): Promise<Result<boolean>> => {
    const tracker = await revokeTrust(trackersPlace(place));
    return tracker.ok ? revokeTrust(place) : tracker;
  },
};

function agentFor(root: string, name: string, { approval, settings, plan }: AgentGround): Agent {
  const agent = makeAgent(name, {
    ...agentWorld,
    root,
    settings: settings.agents?.[name],
    command: approval.agent(name),
    phase: (id) => phaseNamed(plan().plan, id),
    shell: (text) => approval.plan(text),
  });
  if (!agent) throw new Error(`there is no agent ${name}`);
  return agent;
}

/** What every agent of ours is made with. */
const agentWorld = {
  exec,
  openResultTool,
  moment: () => {
    const now = new Date();
    return { now: now.toISOString(), zoneMinutes: -now.getTimezoneOffset() };
  },
};

/** Which agents there are on this machine and in the settings. */
export const listAgents = (
  cwd: string,
  world: World = realWorld,
): Promise<Result<ListedAgents>> => {
  const project = openProject(cwd, world);
  return listAgentsOf(project, machineOf(project, exec));
};

/** Has an agent do a little work, far from every project, and looks whether it was done. */
export function testAgent(
  cwd: string,
  name: string,
  people: TestPeople,
  world: World = realWorld,
): Promise<Result<Tried>> {
  const project = openProject(cwd, world);
  return testAgentOf(project, name, people, {
    machine: machineOf(project, exec),
    trust: trustPlaceOf(project),
    folders: [process.getBuiltinModule("node:os").tmpdir(), path.dirname(cacheFolder(""))],
    make: (own, { settings, command, plan }) =>
      makeAgent(own, {
        ...agentWorld,
        root: project.repository?.root,
        settings,
        command,
        phase: (id) => phaseNamed(plan().plan, id),
        shell: () => undefined,
      }),
  });
}

/** Outside the repository, one for each: no agent's work tree is near, nothing there is precious. */
export function cacheFolder(commonDir: string): string {
  const { XDG_CACHE_HOME: given, HOME: home } = process.env;
  const base =
    given && path.isAbsolute(given)
      ? given
      : path.join(home ?? process.getBuiltinModule("node:os").homedir(), ".cache");
  return path.join(base, "autodev", "checks", sha256(commonDir).slice(0, 16));
}

function noWorkTree(cwd: string): ReturnType<typeof fail> {
  const fs = process.getBuiltinModule("node:fs");
  const bare = ["HEAD", "objects", "refs"].every((name) => fs.existsSync(path.join(cwd, name)));
  return bare
    ? fail("no-repository", `${cwd} is a bare repository: there is no tree to build in`, {
        hint: "git clone it, and run there",
      })
    : fail("no-repository", `${cwd} is not in a git repository, and plans become commits`, {
        hint: "git init && git add -A && git commit -m 'First commit'",
      });
}
