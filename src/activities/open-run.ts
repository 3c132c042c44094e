/**
 * From what was asked for to a run that can be driven: a new one, or the one that a session before
 * us began. Whatever has to be found out, put right, asked or approved first is done here.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Agent } from "../agent.ts";
import { budgetsOf } from "../core/agent/budget.ts";
import type { Cast } from "../core/agent/cast.ts";
import { forecastWords } from "../core/agent/forecast.ts";
import { applyAgent } from "../core/agent/known.ts";
import { type Sandbox, sandboxWarning } from "../core/agent/sandbox.ts";
import type { RecordedEvent } from "../core/event.ts";
import { currentRun, openDecisions } from "../core/evolve.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { bytesIn } from "../core/keep.ts";
import { hostAgent } from "../core/lease.ts";
import type { CompiledPlan } from "../core/plan/compile.ts";
import type { PlanFormat } from "../core/plan/plan.ts";
import { isComplete, lentBy, type PlanRun } from "../core/plan/progress.ts";
import type { RunEvent, RunPhase } from "../core/plan/run-event.ts";
import type { RunNews } from "../core/plan/run-news.ts";
import { planChanges, runPhases } from "../core/plan/run-phases.ts";
import type { Settings } from "../core/settings.ts";
import { readPlan, type Source } from "../formats/read-plan.ts";
import { type Git, openGit } from "../git/call.ts";
import { checkVersion, commitAt, identityOf, nobody, readBlob, writeBlob } from "../git/objects.ts";
import type { TrustPlace } from "../trust.ts";
import {
  type Approval,
  type ApprovalOptions,
  type AskTrust,
  approve,
  approveAlong,
  hooksOf,
  rememberTrust,
} from "./approve.ts";
import type { Asker } from "./ask.ts";
import { releasedByReturn } from "./ask-agent.ts";
import { chooseCast, machineOf } from "./choose-cast.ts";
import { anchor, findGround, movedMeanwhile } from "./find-ground.ts";
import { findSandbox } from "./find-sandbox.ts";
import { surfacesOf, toolsOf } from "./gate-surface.ts";
import { triedAgain } from "./hear.ts";
import { eventsOf, type Held, type Project } from "./hold.ts";
import type { Along } from "./introduced-gates.ts";
import type { Ask } from "./open-flow.ts";
import type { PlanDisk } from "./plan-files.ts";
import { forecastFor } from "./preview.ts";
import {
  clearFolders,
  keepWorkTree,
  recover,
  removeLent,
  removeOwnLocks,
  removeStaleLocks,
} from "./recover.ts";
import { trimTranscripts } from "./remove-kept.ts";
import { handEdits, importedPhases } from "./run-files.ts";
import {
  checkFolders,
  foldersOf,
  landedRef,
  lateRef,
  leaseMinutes,
  type Pull,
  type RunSite,
} from "./run-site.ts";
import { configFile, createRunShowing, recordRun, runFolder } from "./show-run.ts";
import {
  type BuildOptions,
  choosePhases,
  type FoundStack,
  type Intended,
  noMode,
  runStarted,
  stackAt,
} from "./start-run.ts";

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
}

/** What an agent is made from. */
export interface AgentGround {
  readonly approval: Approval;
  readonly settings: Settings;
  plan(): CompiledPlan;
}

/** Before anybody drives it. */
export type OpenSite = Omit<RunSite, "note">;

/** A run, ready to be driven; `nothing`: it is complete, there is nothing to do but say so. */
export type OpenedRun = { readonly said: string[] } & (
  | { readonly is: "ready"; readonly site: OpenSite }
  | { readonly is: "nothing"; readonly run: PlanRun }
);

export async function openRun(
  project: Project,
  held: Held,
  intended: Intended,
  options: BuildOptions,
  world: BuildWorld,
): Promise<Result<OpenedRun>> {
  const { repository } = project;
  if (!repository) return fail("no-repository", `${project.root} is not in a git repository`);
  const place = { ...repository, workTree: repository.root };
  const git = openGit(place, { starters: mostStarters });
  const version = await checkVersion(git);
  if (!version.ok) return version;
  const folders = foldersOf(project.root, git.place.commonDir, world.cache);
  const safe = checkFolders(project.root, folders);
  if (!safe.ok) return safe;
  const said: string[] = [];
  const opening: Opening = { project, held, git, intended, options, world, said };
  const before = findRun(opening);
  if (!before.ok) return before;
  const opened = before.value ? await resumeRun(opening, before.value) : await startRun(opening);
  if (!opened.ok) return opened;
  for (const notice of said) world.onNews({ notice });
  if (opened.value) return succeed({ is: "ready", site: opened.value, said });
  const run = currentRun(held.state);
  if (!run) throw new Error("a run that is complete is gone");
  return succeed({ is: "nothing", run, said });
}

/** More would only wait for each other: git is bound by the disk. */
const mostStarters = 3;

/** Nothing of a session stays behind but what was asked for. */
export async function closeRun(site: OpenSite): Promise<Result<void>> {
  const { git, folders } = site;
  const run = site.run();
  // Whoever is still at work is so because the machine refused: what lies there is not kept yet.
  const isLeft = run.phases.some(({ state }) => state.is === "working" && !state.lease);
  if (run.ended === "complete") await gatherLent(site, run);
  if (!isLeft) await clearFolders({ git, run: site.run(), folders });
  await trimTranscripts(folders, run.id, site.transcriptBytes);
  if (run.tip !== run.base && !site.trustGiven) {
    const remembered = await site.rememberTrust();
    if (!remembered.ok) site.tell({ notice: remembered.failure.message });
  }
  // A git that was killed under our hands leaves them, though what it was to do is done.
  removeStaleLocks(git, run);
  // A landing that came to nothing may have moved it.
  if ((await commitAt(git, landedRef(run.id))) !== run.tip) await anchor(git, run.id, run.tip);
  return site.showing.settled({ durable: true });
}

/** Nobody needs them any more; whoever is still at work in one is told so when he reports. */
async function gatherLent(site: OpenSite, run: PlanRun): Promise<void> {
  const { git, folders, identity, project } = site;
  for (const { phase: id, attempt, root, base } of lentBy(run)) {
    const folder = path.join(foldersOf(root, "", "").attempts, `${run.id}-${id}-${attempt}`);
    const ref = lateRef(run.id, id, attempt, 0);
    const kept = await keepWorkTree(
      { git, run, folders, identity, now: project.world.now },
      { id, attempt, folder, base, ref },
    );
    if (!kept.ok) continue;
    const event = { type: "lent-tree-kept" as const, phase: id, attempt };
    const back = { ...event, ...(kept.value !== undefined && { ref: kept.value }) };
    const recorded = await recordRun(site.held, run.id, [back]);
    if (recorded.ok) await removeLent(git, folder);
  }
}

interface Opening {
  readonly project: Project;
  readonly held: Held;
  readonly git: Git;
  readonly intended: Intended;
  readonly options: BuildOptions;
  readonly world: BuildWorld;
  readonly said: string[];
}

// ── which run ──────────────────────────────────────────────────────────────────────────────────

/** The run to go on with; undefined: a new one. */
function findRun(opening: Opening): Result<PlanRun | undefined> {
  const { held, intended, options, project } = opening;
  const current = currentRun(held.state);
  if (current && current.plan !== intended.plan && !options.fresh && !isOver(current)) {
    return fail("usage", `a run of ${current.plan} is not finished`, {
      hint: `autodev build ${current.plan} goes on with it; --fresh sets it aside`,
    });
  }
  const keep =
    current !== undefined &&
    current.plan === intended.plan &&
    !options.fresh &&
    !isOfAnotherStep(current, options);
  if (keep) return succeed(current);
  if (options.resume && !fs.existsSync(path.join(project.root, configFile))) {
    return fail("usage", `there is no run of ${intended.plan} to resume`, {
      hint: `autodev build ${intended.plan} starts one`,
    });
  }
  return succeed(undefined);
}

/** Every step that runs tasks has a run of its own; one that people began by hand is gone on with. */
const isOfAnotherStep = (run: PlanRun, { under }: BuildOptions): boolean =>
  under !== undefined && run.under !== under && (run.under !== undefined || isOver(run));

const isOver = (run: PlanRun): boolean => run.phases.every(isComplete);

/** Moved, never deleted; commits and refs stay where they are. */
async function setAside(
  { project, held, said }: Opening,
  run: PlanRun | undefined,
): Promise<Result<void>> {
  const from = path.join(project.root, runFolder);
  const name = `autobuild-${project.world.now().replace(/[^0-9A-Za-z]/g, "")}`;
  const to = path.join(project.repository?.commonDir ?? from, "autodev", "rescue", name);
  if (fs.existsSync(from)) {
    try {
      fs.mkdirSync(path.dirname(to), { recursive: true });
      moveFolder(from, to);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
      return fail("disk", `${runFolder} cannot be moved aside (${code})`, { file: runFolder });
    }
    said.push(`the earlier ${runFolder} is now at ${path.relative(project.root, to)}`);
  }
  if (!run) return succeed(undefined);
  const lapsed = openDecisions(held.state).filter(({ subject }) =>
    subject.startsWith(`${run.id} `),
  );
  const recorded = await held.recordIn(run.id, [
    { type: "run-set-aside", aside: to },
    ...lapsed.map(({ id }) => ({
      type: "decision-withdrawn" as const,
      id,
      reason: "its run was set aside",
    })),
  ]);
  return recorded.ok ? succeed(undefined) : recorded;
}

function moveFolder(from: string, to: string): void {
  try {
    fs.renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EXDEV")) throw error;
    fs.cpSync(from, to, { recursive: true });
    fs.rmSync(from, { recursive: true });
  }
}

// ── a new run ──────────────────────────────────────────────────────────────────────────────────

async function startRun(opening: Opening): Promise<Result<OpenSite | undefined>> {
  const { project, held, git, intended, options, world } = opening;
  const { settings, opened } = intended;
  const mode = intended.mode;
  if (mode === undefined) return noMode();
  const phases = runPhases(opened.compiled, project.world.hash, options.fresh === true);
  const only = choosePhases(options, phases, opened.compiled, undefined);
  if (!only.ok) return only;
  const asker = { project, held, ask: world.ask, by: world.by };
  const cast = await castOf(opening, phases, undefined, asker);
  if (!cast.ok) return cast;
  const sandbox = await findSandbox(options, settings, cast.value.all);
  if (!sandbox.ok) return sandbox;
  const replaced = currentRun(held.state);
  const replaces = options.fresh === true || replaced !== undefined;
  const imported = replaces ? succeed(phases) : await importedPhases(asker, phases, opening.said);
  if (!imported.ok) return imported;
  const id = `r${project.world.uuid().replaceAll("-", "").slice(0, 10)}`;
  const { scratch } = foldersOf(project.root, git.place.commonDir, world.cache);
  const ground = await findGround(asker, git, intended, options, mode, scratch);
  if (!ground.ok) return ground;
  const stack = await stackAt(git, ground.value.base, settings);
  if (!stack.ok) return stack;
  const approval = await approved(opening, {
    commit: ground.value.base,
    ...commandsIn(stack.value),
    agents: cast.value.all,
  });
  if (!approval.ok) return approval;
  const event = runStarted({
    intended,
    mode,
    cast: cast.value,
    attempts: options.attempts ?? settings.build?.attempts ?? 2,
    stack: stack.value.stack,
    gates: stack.value.gates,
    phases: imported.value,
    ground: ground.value,
    under: options.under,
    review: options.review === true,
  });
  // Only now that nothing can be refused any more.
  const aside = replaces ? await setAside(opening, replaced) : succeed(undefined);
  if (!aside.ok) return aside;
  removeOwnLocks(git);
  const recorded = await recordRun(held, id, [event]);
  if (!recorded.ok) return recorded;
  // Only now: a ref of a run that nobody knows of would stay for ever. A resume makes up for it.
  const anchored = await anchor(git, id, ground.value.base);
  if (!anchored.ok) return anchored;
  tell(opening, recorded.value);
  const found = {
    approval: approval.value,
    stack: stack.value,
    cast: cast.value,
    sandbox: sandbox.value,
  };
  const site = await openSite(opening, id, found, only.value);
  if (site.ok) site.value.showing.stale(imported.value.map((phase) => phase.id));
  return site;
}

function tell({ held, world }: Opening, events: readonly RecordedEvent[]): void {
  const run = currentRun(held.state);
  if (run) for (const event of events) world.onEvent(event, run);
}

// ── an old one ─────────────────────────────────────────────────────────────────────────────────

/** Undefined: everything is complete; there is nothing to do but say so. */
async function resumeRun(opening: Opening, before: PlanRun): Promise<Result<OpenSite | undefined>> {
  const { project, held, git, intended, options, world, said } = opening;
  const { settings, opened } = intended;
  if (options.commit !== undefined && options.commit !== before.mode) {
    return fail("usage", `the run commits as ${before.mode}: that cannot change half-way`, {
      hint: `--commit=${before.mode}, or --fresh`,
    });
  }
  const identity = await identityOf(git);
  const folders = foldersOf(project.root, git.place.commonDir, world.cache);
  const events: RunEvent[] = [];
  const phases = runPhases(opened.compiled, project.world.hash);
  const changes = planChanges(before, phases);
  if (changes.length > 0) {
    const planFiles = await planBlobsNow(opening, before);
    if (!planFiles.ok) return planFiles;
    const merged = phases.map(({ skipped: _now, ...phase }) => {
      const known = before.order.find(({ id }) => id === phase.id)?.skipped;
      return known === undefined ? phase : { ...phase, skipped: known };
    });
    events.push({ type: "plan-reread", phases: merged, planFiles: planFiles.value, changes });
    said.push(...changes.map((change) => `${intended.plan}: ${change}`));
  }
  const edited = await handEdits({ project, held, ask: world.ask, by: world.by }, before, said);
  if (!edited.ok) return edited;
  events.push(...edited.value.events);
  const again = options.retry && triedAgain(before, { ...options.retry, by: world.by });
  if (typeof again === "string") return fail("usage", again);
  const nothing = events.length === 0 && before.ended === "complete" && isOver(before);
  if (nothing) return showAgain(opening, before, edited.value.stale);
  const only = choosePhases(options, phases, opened.compiled, before);
  if (!only.ok) return only;
  const cast = await castOf(opening, phases, before);
  if (!cast.ok) return cast;
  const sandbox = await findSandbox(options, settings, cast.value.all);
  if (!sandbox.ok) return sandbox;
  const moved = await movedMeanwhile(git, before);
  const commit = moved ?? before.tip;
  const stack = await stackAt(git, commit, settings);
  if (!stack.ok) return stack;
  const what = { commit, ...commandsIn(stack.value), agents: cast.value.all };
  // What people have committed is no verified phase: nothing of it is trusted along.
  const verified = moved === undefined ? verifiedCommits(before) : [];
  const approval = await approved(opening, what, verified);
  if (!approval.ok) return approval;
  // Nothing is touched for a repository that nobody trusts.
  const recovered = await recover({
    git,
    run: before,
    folders,
    identity,
    now: project.world.now,
    keep: (file) => held.setAside(file),
  });
  if (!recovered.ok) return recovered;
  said.push(...recovered.value);
  const newGates = JSON.stringify(stack.value.gates) !== JSON.stringify(before.gates);
  events.push({
    type: "run-resumed",
    ...(cast.value.usual !== before.agent && { agent: cast.value.usual }),
    ...(cast.value.forced !== undefined && !before.forced && { forced: true as const }),
    ...(newGates && { gates: stack.value.gates }),
    ...(options.under !== undefined && before.under === undefined && { under: options.under }),
    ...(world.pull && { pulled: true as const }),
    ...(options.review && { review: true as const }),
  });
  if (moved !== undefined) events.push({ type: "target-moved", commit: moved, undone: [] });
  events.push(...(again ?? []));
  const released = releasedByReturn(held.state, before, project.world.hash);
  events.push(...released.events);
  const withdrawn = released.withdrawn.map((id) => ({
    type: "decision-withdrawn" as const,
    id,
    reason: "it is tried again",
  }));
  const put = withdrawn.length > 0 ? await held.recordIn(before.id, withdrawn) : succeed(undefined);
  if (!put.ok) return put;
  const recorded = await recordRun(held, before.id, events);
  if (!recorded.ok) return recorded;
  const anchored = moved === undefined ? succeed(undefined) : await anchor(git, before.id, moved);
  if (!anchored.ok) return anchored;
  tell(opening, recorded.value);
  const found = {
    approval: approval.value,
    stack: stack.value,
    cast: cast.value,
    sandbox: sandbox.value,
  };
  const site = await openSite(opening, before.id, found, only.value);
  if (site.ok) site.value.showing.stale(edited.value.stale);
  return site;
}

const castOf = (
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

/** A death after the last transition may have left the files behind it. */
async function showAgain(
  { project, held, git, world }: Opening,
  run: PlanRun,
  stale: readonly string[],
): Promise<Result<undefined>> {
  const history = readHistory(project, run.id);
  if (!history.ok) return history;
  await clearFolders({
    git,
    run,
    folders: foldersOf(project.root, git.place.commonDir, world.cache),
  });
  const showing = createRunShowing({ held, git, history: history.value });
  showing.stale(stale);
  const shown = await showing.settled({ durable: true });
  return shown.ok ? succeed(undefined) : shown;
}

/** What the tip came from by verified phases alone, latest first: the last few, and the base. */
const verifiedCommits = (run: PlanRun): string[] => [
  ...run.landed
    .slice(-20)
    .map(({ commit }) => commit)
    .reverse(),
  run.base,
];

async function planBlobsNow(
  { git, project, intended }: Opening,
  run: PlanRun,
): Promise<Result<Record<string, string>>> {
  const blobs: Record<string, string> = {};
  if (run.planOutside) return succeed(blobs);
  for (const { file } of intended.opened.sources) {
    const blob = await writeBlob(git, fs.readFileSync(path.join(project.root, file)), file);
    if (!blob.ok) return blob;
    blobs[file] = blob.value;
  }
  return succeed(blobs);
}

// ── the site ───────────────────────────────────────────────────────────────────────────────────

type Approvable = Pick<ApprovalOptions, "commit" | "gates" | "setup" | "agents">;

const commandsIn = ({ gates, setup }: FoundStack): Pick<ApprovalOptions, "gates" | "setup"> => ({
  gates,
  ...(setup !== undefined && { setup }),
});

const approvalFor = ({ git, intended, world }: Opening, what: Approvable): ApprovalOptions => ({
  ...what,
  git,
  place: world.trust,
  settings: intended.settings,
  // What a plan spells out is run by agents of ours alone.
  phases: world.pull ? [] : intended.opened.compiled.plan.phases,
});

const approved = (
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

interface FoundForRun {
  readonly approval: Approval;
  readonly stack: FoundStack;
  readonly cast: Cast;
  readonly sandbox: Sandbox;
}

async function openSite(
  opening: Opening,
  id: string,
  { approval, stack, cast, sandbox }: FoundForRun,
  only: ReadonlySet<string> | undefined,
): Promise<Result<OpenSite>> {
  const { project, held, git, intended, options, world, said } = opening;
  const identity = await identityOf(git);
  if (identity === nobody)
    said.push("git knows no user.name and user.email: commits are autodev's");
  const { settings } = intended;
  const unconfined = sandboxWarning(sandbox);
  if (unconfined !== undefined) said.push(unconfined);
  world.approved(approval);
  const history = readHistory(project, id);
  if (!history.ok) return history;
  const run = (): PlanRun => {
    const known = held.state.runs?.[id];
    if (!known) throw new Error(`there is no run ${id}`);
    return known;
  };
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

function readHistory(project: Project, id: string): Result<RecordedEvent[]> {
  const reading = project.store.read({ whole: true });
  if (!reading.ok) return reading;
  return succeed(reading.value.after.filter(({ run }) => run === id).flatMap(eventsOf));
}
