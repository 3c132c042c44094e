/** A plan goes in, commits come out: which adapters a run is given. */
import { type Held, hold, type Project, type World } from "../activities/hold.ts";
import { closeRun, type OpenedRun, openRun } from "../activities/open-run.ts";
import type { AgentGround, BuildWorld, OpenSite } from "../activities/open-site.ts";
import { type BuildOptions, type Intended, intend } from "../activities/start-run.ts";
import { type People, peopleOf, type Reach } from "../activities/tell-people.ts";
import type { Agent } from "../agent.ts";
import { makeAgent } from "../agents/made.ts";
import type { RecordedEvent } from "../core/event.ts";
import { type Failure, type Result, succeed } from "../core/failure.ts";
import { phaseNamed } from "../core/plan/edits.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import type { RunOutcome } from "../core/plan/run-plan.ts";
import { runLocally } from "../engines/local.ts";
import { exec } from "../exec.ts";
import { openResultTool } from "../result-tool.ts";
import { cacheFolder, noWorkTree, openProject, planDisk, realWorld, trustPlaceOf } from "./open.ts";

/** The people who are there, and what they are told. */
export type BuildPeople = Pick<
  BuildWorld,
  "ask" | "askTrust" | "by" | "signal" | "killNow" | "onEvent" | "onNews" | "pull" | "runId"
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

/** How a run comes to be driven, and by what. */
export interface Carrying {
  readonly open: typeof openRun;
  drive(site: OpenSite): Promise<RunOutcome>;
}

const locally: Carrying = { open: openRun, drive: runLocally };

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

export async function buildHeld(
  project: Project,
  held: Held,
  intended: Intended,
  options: BuildOptions,
  people: BuildPeople,
  by: Carrying = locally,
): Promise<Result<Built>> {
  if (!project.repository) return noWorkTree(project.root);
  const told = people.notices && tellingPeople(project.root, intended, people);
  const opened = await by.open(project, held, intended, options, {
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
  return opened.ok ? driven(opened.value, told, by) : opened;
}

const tellingPeople = (root: string, { settings }: Intended, people: BuildPeople): People =>
  peopleOf(root, settings, {
    terminal: people.notices?.terminal,
    say: (notice) => people.onNews({ notice }),
    killNow: people.killNow,
  });

async function driven(
  opened: OpenedRun,
  told: People | undefined,
  by: Carrying,
): Promise<Result<Built>> {
  const { said } = opened;
  if (opened.is === "nothing") return succeed({ run: opened.run, asking: [], said });
  const { site } = opened;
  const { asking, refused } = await by.drive(site);
  const closed = await closeRun(site);
  await site.git.end();
  if (refused) {
    // What somebody else goes on with is nobody's trouble.
    if (refused.code !== "journal-fenced") told?.refused(site.run(), refused);
    return { ok: false, failure: refused };
  }
  if (!closed.ok) said.push(closed.failure.message);
  return succeed({ run: site.run(), asking, said });
}

export function agentFor(
  root: string,
  name: string,
  { approval, settings, plan }: AgentGround,
): Agent {
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
export const agentWorld = {
  exec,
  openResultTool,
  moment: () => {
    // The same clock as the one that waits for what was told.
    const now = realWorld.now();
    return { now, zoneMinutes: -new Date(now).getTimezoneOffset() };
  },
};
