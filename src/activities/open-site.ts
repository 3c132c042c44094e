/**
 * The site of a run: everything that its moves need, made from what was asked for, what was approved
 * and what is on record. The same for whoever starts a run, goes on with one, or does a part of one
 * for somebody else.
 */
import * as path from "node:path";
import type { Agent } from "../agent.ts";
import { budgetsOf } from "../core/agent/budget.ts";
import type { Cast } from "../core/agent/cast.ts";
import { forecastWords } from "../core/agent/forecast.ts";
import { applyAgent } from "../core/agent/known.ts";
import { type Sandbox, sandboxWarning } from "../core/agent/sandbox.ts";
import type { RecordedEvent } from "../core/event.ts";
import { type Result, succeed } from "../core/failure.ts";
import { bytesIn } from "../core/keep.ts";
import { hostAgent } from "../core/lease.ts";
import type { CompiledPlan } from "../core/plan/compile.ts";
import type { PlanFormat } from "../core/plan/plan.ts";
import { isComplete, type PlanRun } from "../core/plan/progress.ts";
import type { Gate, RunPhase } from "../core/plan/run-event.ts";
import type { RunNews } from "../core/plan/run-news.ts";
import type { Settings } from "../core/settings.ts";
import { type Surface, surfaceDifference } from "../core/trust.ts";
import { readPlan, type Source } from "../formats/read-plan.ts";
import type { Git } from "../git/call.ts";
import { identityOf, nobody, readBlob } from "../git/objects.ts";
import { surfaceHash, type TrustPlace } from "../trust.ts";
import {
  type Approval,
  type ApprovalOptions,
  type AskTrust,
  approve,
  approveAlong,
  hooksOf,
  rememberTrust,
  surfaceFor,
} from "./approve.ts";
import type { Asker } from "./ask.ts";
import { chooseCast, machineOf } from "./choose-cast.ts";
import { surfacesOf, toolsOf } from "./gate-surface.ts";
import { type Held, type Project, readHistory } from "./hold.ts";
import type { Along } from "./introduced-gates.ts";
import type { Ask } from "./open-flow.ts";
import type { PlanDisk } from "./plan-files.ts";
import { forecastFor } from "./preview.ts";
import {
  foldersOf,
  leaseMinutes,
  type OtherCommands,
  type Pull,
  type RunSite,
} from "./run-site.ts";
import { createRunShowing } from "./show-run.ts";
import { type BuildOptions, type FoundStack, type Intended, stackAt } from "./start-run.ts";

/** The people, the machine and the adapters that a build needs; chosen in project.ts. */
export interface BuildWorld {
  readonly ask: Ask;
  readonly askTrust: AskTrust;
  readonly by: string;
  /** Verification checkouts. */
  readonly cache: string;
  readonly trust: TrustPlace;
  readonly disk: PlanDisk;
  /** What may be run is known. */
  approved(approval: Approval): void;
  makeAgent(name: string, known: AgentGround): Agent;
  /** First: stop, politely; second: at once. */
  readonly signal: AbortSignal;
  readonly killNow: AbortSignal;
  /** Everything that happens, as it happens. */
  onEvent(event: RecordedEvent, run: PlanRun): void;
  onNews(news: RunNews): void;
  /** Somebody has come for work, or with work. */
  readonly pull?: Pull;
  /** What a new run is called, where that was settled before. */
  readonly runId?: string;
  /** Kept open by whoever does several parts of a run, one after the other. */
  readonly git?: Git;
}

/** What an agent is made from. */
export interface AgentGround {
  readonly approval: Approval;
  readonly settings: Settings;
  plan(): CompiledPlan;
}

/** Before anybody drives it. */
export type OpenSite = Omit<RunSite, "note">;

export interface Opening {
  readonly project: Project;
  readonly held: Held;
  readonly git: Git;
  readonly intended: Intended;
  readonly options: BuildOptions;
  readonly world: BuildWorld;
  readonly said: string[];
}

// ── who works, and what may be run ────────────────────────────────────────────────────────────

export const castOf = (
  { options, intended, project, world }: Opening,
  phases: readonly RunPhase[],
  run: PlanRun | undefined,
  asker?: Asker,
): Promise<Result<Cast>> => {
  const { settings, opened } = intended;
  // Whoever comes for work was started by somebody else: there is nobody to choose or to approve.
  if (world.pull) {
    const usual = run?.agent ?? hostAgent;
    return Promise.resolve(succeed({ usual, all: [], for: () => [hostAgent] }));
  }
  const { compiled } = opened;
  const machine = machineOf(project.root);
  return chooseCast({ options, settings, compiled, phases, run, machine }, asker);
};

/** What the tip came from by verified phases alone, latest first: the last few, and their ground. */
export const verifiedCommits = ({ landed, ground, base }: PlanRun): string[] => [
  ...landed
    .slice(ground?.landed ?? 0)
    .slice(-20)
    .map(({ commit }) => commit)
    .reverse(),
  ground?.commit ?? base,
];

export type Approvable = Pick<ApprovalOptions, "commit" | "gates" | "setup" | "agents">;

export const commandsIn = ({
  gates,
  setup,
}: FoundStack): Pick<ApprovalOptions, "gates" | "setup"> => ({
  gates,
  ...(setup !== undefined && { setup }),
});

export const approvalFor = (
  { git, intended, world }: Opening,
  what: Approvable,
): ApprovalOptions => ({
  ...what,
  git,
  place: world.trust,
  settings: intended.settings,
  // What a plan spells out is run by agents of ours alone.
  phases: world.pull ? [] : intended.opened.compiled.plan.phases,
});

export const approved = (
  opening: Opening,
  what: Approvable,
  verifiedSince: readonly string[] = [],
): Promise<Result<Approval>> => {
  const { project, options, world, git, intended } = opening;
  return approve(approvalFor(opening, what), {
    ask: world.askTrust,
    by: world.by,
    now: project.world.now,
    plan: intended.plan,
    verifiedSince,
    async commandsAt(commit) {
      const stack = await stackAt(git, commit, intended.settings);
      return stack.ok ? succeed(commandsIn(stack.value)) : stack;
    },
    ...(options.trustSha256 === undefined ? {} : { sha256: options.trustSha256 }),
  });
};

/** What is run at somebody's commit, where it is not what is run at any that the run trusts. */
export async function otherCommands(
  opening: Opening,
  run: PlanRun,
  agents: readonly string[],
  commit: string,
): Promise<Result<OtherCommands | undefined>> {
  const { git, intended } = opening;
  const surfaceAt = async (at: string, also: readonly Gate[]): Promise<Result<Surface>> => {
    const stack = await stackAt(git, at, intended.settings);
    if (!stack.ok) return stack;
    const { gates, ...found } = commandsIn(stack.value);
    return surfaceFor(
      approvalFor(opening, { commit: at, ...found, gates: [...gates, ...also], agents }),
    );
  };
  // What the run goes on with, though the project no longer says so, is run there too.
  const { setup } = run;
  const kept = [...run.gates, ...(setup === undefined ? [] : [{ name: "set-up", command: setup }])];
  const theirs = await surfaceAt(commit, kept);
  if (!theirs.ok) return theirs;
  const hash = surfaceHash(theirs.value);
  let nearest: Surface | undefined;
  for (const each of verifiedCommits(run)) {
    const ours = await surfaceAt(each, kept);
    if (!ours.ok) return ours;
    if (surfaceHash(ours.value) === hash) return succeed(undefined);
    nearest ??= ours.value;
  }
  const asked = await surfaceAt(commit, []);
  if (!asked.ok) return asked;
  return succeed({
    hash: surfaceHash(asked.value),
    difference: surfaceDifference(nearest, theirs.value),
  });
}

export interface FoundForRun {
  readonly approval: Approval;
  readonly stack: FoundStack;
  readonly cast: Cast;
  readonly sandbox: Sandbox;
  /** No agent is started here: how they are confined is told where they are. */
  readonly isElsewhere?: boolean;
}

export async function openSite(
  opening: Opening,
  id: string,
  { approval, stack, cast, sandbox, isElsewhere }: FoundForRun,
  only: ReadonlySet<string> | undefined,
): Promise<Result<OpenSite>> {
  const { project, held, git, intended, options, world, said } = opening;
  const identity = await identityOf(git);
  if (identity === nobody)
    said.push("git knows no user.name and user.email: commits are autodev's");
  const { settings } = intended;
  const unconfined = isElsewhere ? undefined : sandboxWarning(sandbox);
  if (unconfined !== undefined) said.push(unconfined);
  world.approved(approval);
  const run = (): PlanRun => {
    const known = held.state.runs?.[id];
    if (!known) throw new Error(`there is no run ${id}`);
    return known;
  };
  const history = readHistory(project, run());
  if (!history.ok) return history;
  const plans = await loadPlan(git, run(), intended);
  if (!plans.ok) return plans;
  const plan = (): typeof plans.value => plans.value;
  const showing = createRunShowing({ held, git, history: history.value });
  const hooks = await hooksOf(git);
  if (!hooks.ok) return hooks;
  const surfaces = surfacesOf((commit) =>
    approvalFor(opening, { commit, ...commandsIn(stack), gates: run().gates, agents: cast.all }),
  );
  const commands = (): string[] => [
    ...approval.surface.map(({ text }) => text),
    ...run().gates.flatMap(({ command }) => command ?? []),
  ];
  const minutes = 60_000;
  // Of a phase that brought gates along: its commands are among those that may be run from then on.
  let introduced: Approval | undefined;
  const setups = new Map<string, Along>();
  const limits = {
    jobs: options.jobs ?? settings.build?.jobs ?? 2,
    // Whoever comes for work has no say in what a person wants to see first.
    review: world.pull ? run().review === true : options.review === true,
    wait: options.wait !== false,
    agents: (phase: string) => cast.for(phase),
    budgets: budgetsOf(settings.budget),
    ...(only && { only }),
  };
  const left = run()
    .phases.filter((phase) => !isComplete(phase) && only?.has(phase.id) !== false)
    .map((phase) => phase.id);
  const expected = forecastFor(held.state, run().order, left);
  if (expected && left.some((phase) => cast.for(phase)[0] !== applyAgent.name)) {
    said.push(`about ${forecastWords(expected)}`);
  }
  world.onNews({ opened: { history: history.value, jobs: limits.jobs, ...(only && { only }) } });
  return succeed({
    project,
    held,
    git,
    id,
    identity,
    folders: foldersOf(project.root, git.place.commonDir, world.cache),
    agent: oneEach((name) =>
      world.makeAgent(name, { approval, settings, plan: () => plan().compiled }),
    ),
    sandbox,
    confined: (name) => sandbox.by !== undefined && !sandbox.free.includes(name),
    // Their parents: a folder that is closed itself cannot be moved out of the way.
    closed: [path.dirname(world.trust.folder), path.dirname(path.dirname(world.cache))],
    setup: approval.setup,
    ...(stack.dependencies && { dependencies: stack.dependencies }),
    checkoutFiles: settings.checkout?.files ?? [],
    bite: settings.verify?.bite === "on",
    gate: (name) => (introduced ?? approval).gate(name),
    commandsAt: (commit) => stackAt(git, commit, settings),
    otherCommands: (at, commit) => otherCommands(opening, at, cast.all, commit),
    async approveAlong(commit, found) {
      const what = { commit, ...commandsIn(found), agents: cast.all };
      const more = await approveAlong(approvalFor(opening, what), approval);
      if (!more.ok || !more.value) return more.ok ? succeed(undefined) : more;
      introduced = more.value;
      const { setup } = more.value;
      const along = {
        gate: more.value.gate,
        ...(setup && { setup }),
        ...(found.dependencies && { dependencies: found.dependencies }),
      };
      if (found.setup !== undefined) setups.set(found.setup, along);
      return succeed(along);
    },
    along: (text) => setups.get(text),
    setupText: (at) => at.setup ?? stack.setup,
    ...surfaces,
    tools: toolsOf(commands()),
    hooks: hooks.value,
    commitHooks: approval.hooks,
    commands,
    plan,
    run,
    showing,
    limits,
    disk: world.disk,
    happened(events) {
      showing.happened(events);
      for (const event of events) world.onEvent(event, run());
    },
    async trustElsewhere() {
      const what = { commit: run().tip, ...commandsIn(stack), agents: cast.all };
      const surface = await surfaceFor({ ...approvalFor(opening, what), hooks: false });
      return surface.ok ? succeed(surfaceHash(surface.value)) : surface;
    },
    trustGiven: options.trustSha256 !== undefined,
    rememberTrust: () =>
      rememberTrust(
        approvalFor(opening, {
          commit: run().tip,
          ...commandsIn(stack),
          gates: run().gates,
          agents: cast.all,
        }),
        { by: `verified phases of ${id}`, at: project.world.now() },
      ),
    tell: (news) => {
      if ("notice" in news) said.push(news.notice);
      world.onNews(news);
    },
    ask: oneAtATime(world.ask),
    by: world.by,
    signal: world.signal,
    killNow: world.killNow,
    transcriptBytes: bytesIn(settings.keep?.size ?? "") ?? usualTranscriptBytes,
    attemptMs: (options.attemptMinutes ?? settings.build?.attempt_minutes ?? 60) * minutes,
    idleMs: (options.idleMinutes ?? settings.build?.idle_minutes ?? 20) * minutes,
    ...(settings.build?.quiet && { quiet: settings.build.quiet }),
    gateMs: (options.gateMinutes ?? settings.build?.gate_minutes ?? 10) * minutes,
    leaseMs: leaseMinutes(settings) * minutes,
    ...(world.pull && { pull: world.pull }),
  });
}

/** Made when its first phase begins; the same for all of them. */
function oneEach<T>(make: (name: string) => T): (name: string) => T {
  const made = new Map<string, T>();
  return (name) => {
    const known = made.get(name) ?? make(name);
    made.set(name, known);
    return known;
  };
}

const usualTranscriptBytes = 2 * 1024 ** 3;

/** Two questions at once would share one terminal. */
function oneAtATime(ask: Ask): Ask {
  let turn: Promise<unknown> = Promise.resolve();
  return (decision, elsewhere) => {
    const mine = turn.then(() => ask(decision, elsewhere));
    turn = mine.catch(() => {});
    return mine;
  };
}

/** As it was read: from the blobs, so that no edit meanwhile moves a place. */
async function loadPlan(
  git: Git,
  run: PlanRun,
  { opened }: Intended,
): Promise<Result<{ sources: readonly Source[]; compiled: CompiledPlan }>> {
  if (run.planOutside) return succeed(opened);
  const sources: Source[] = [];
  for (const [file, blob] of Object.entries(run.planFiles)) {
    const bytes = await readBlob(git, blob);
    if (!bytes.ok) return bytes;
    sources.push({ file, text: bytes.value.toString("utf8") });
  }
  const compiled = readPlan(sources, run.format as PlanFormat);
  return compiled.ok ? succeed({ sources, compiled: compiled.value }) : compiled;
}
