/** What people do beside the work: examples, cleaning, audits, trust, agents. */
import * as path from "node:path";
import {
  type AuditedCommit,
  type AuditOptions,
  type AuditWorld,
  auditCommits,
} from "../activities/audit.ts";
import { notKnownThere, type Project, readState, type World } from "../activities/hold.ts";
import { type ListedAgents, listAgentsOf, machineOf } from "../activities/list-agents.ts";
import { type KeptPlace, listKept } from "../activities/list-kept.ts";
import {
  type Example,
  emptyFolderFor,
  type MadeExample,
  trustAsOurs,
  writeExample,
} from "../activities/make-example.ts";
import { trackersPlace } from "../activities/open-tracker.ts";
import { type Removal, removeKept } from "../activities/remove-kept.ts";
import { foldersOf } from "../activities/run-site.ts";
import { type BuildOptions } from "../activities/start-run.ts";
import { type TestPeople, testAgentOf } from "../activities/test-agent.ts";
import { trustOfPlan } from "../activities/trust-plan.ts";
import type { Tried } from "../activities/try-agent.ts";
import { makeAgent } from "../agents/made.ts";
import { readConfig } from "../config.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { bytesIn, type Cleaning, type Judged, type KeepRule, whatToRemove } from "../core/keep.ts";
import { phaseNamed } from "../core/plan/edits.ts";
import { ourName } from "../exec/process-table.ts";
import { exec } from "../exec.ts";
import { openGit } from "../git/call.ts";
import { initRepository, isKnownThere } from "../git.ts";
import { acquireLock } from "../stores/file/lock.ts";
import { grantTrust, revokeTrust, type TrustPlace } from "../trust.ts";
import { agentWorld } from "./build.ts";
import {
  cacheFolder,
  lockFileOf,
  noWorkTree,
  openProject,
  realWorld,
  trustPlaceOf,
} from "./open.ts";

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
    cache: `${cacheFolder(project.repository.commonDir)}-audit-${ourName()}`,
    trust: trustPlaceOf(project),
  });
}

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
