/**
 * From what was asked for to a run that can be driven: a new one, or the one that a session before
 * us began. Whatever has to be found out, put right, asked or approved first is done here.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Cast } from "../core/agent/cast.ts";
import type { RecordedEvent } from "../core/event.ts";
import { currentRun, openDecisions } from "../core/evolve.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { isComplete, lentBy, type PlanRun } from "../core/plan/progress.ts";
import type { RunEvent } from "../core/plan/run-event.ts";
import { planChanges, runPhases } from "../core/plan/run-phases.ts";
import { openGit } from "../git/call.ts";
import { checkVersion, commitAt, identityOf, writeBlob } from "../git/objects.ts";
import { releasedByReturn } from "./ask-agent.ts";
import { anchor, findGround } from "./find-ground.ts";
import { findSandbox } from "./find-sandbox.ts";
import { movedMeanwhile, unpublished } from "./follow-target.ts";
import { allTriedAgain } from "./hear.ts";
import { type Held, type Project, readHistory } from "./hold.ts";
import {
  approved,
  type BuildWorld,
  castOf,
  commandsIn,
  type Opening,
  type OpenSite,
  openSite,
  otherCommands,
  verifiedCommits,
} from "./open-site.ts";
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
import { checkFolders, foldersOf, landedRef, lateRef, type OtherCommands } from "./run-site.ts";
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
export const mostStarters = 3;

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
  // The files here are of runs on this machine: one that others carry leaves them alone.
  const isElsewhere = world.runId !== undefined;
  const replaces = !isElsewhere && (options.fresh === true || replaced !== undefined);
  const imported =
    replaces || isElsewhere ? succeed(phases) : await importedPhases(asker, phases, opening.said);
  if (!imported.ok) return imported;
  const id = world.runId ?? newRunId(project.world.uuid());
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
  // Whoever was given its name holds that run and no project: others may write refs here as well.
  if (!isElsewhere) removeOwnLocks(git);
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

export const newRunId = (uuid: string): string => `r${uuid.replaceAll("-", "").slice(0, 10)}`;

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
  const again = allTriedAgain(before, options.retries ?? [], world.by);
  const [nothingAgain] = again.nothing;
  if (nothingAgain !== undefined) return fail("usage", nothingAgain);
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
  const known = await trustedAlong(opening, before, cast.value.all, moved);
  if (!known.ok) return known;
  const { verified, other } = known.value;
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
  const found = { cast: cast.value, stack: stack.value, moved, other };
  const recorded = await recordResumption(opening, before, [events, again.events], found);
  if (!recorded.ok) return recorded;
  const anchored = moved === undefined ? succeed(undefined) : await anchor(git, before.id, moved);
  if (!anchored.ok) return anchored;
  tell(opening, recorded.value);
  const all = { ...found, approval: approval.value, sandbox: sandbox.value };
  const site = await openSite(opening, before.id, all, only.value);
  if (site.ok) site.value.showing.stale(edited.value.stale);
  return site;
}

/** From which commits trust is handed on; what people have committed is no verified phase. */
export async function trustedAlong(
  opening: Opening,
  run: PlanRun,
  agents: readonly string[],
  moved: string | undefined,
): Promise<Result<{ verified: string[]; other: OtherCommands | undefined }>> {
  const other =
    moved === undefined ? succeed(undefined) : await otherCommands(opening, run, agents, moved);
  if (!other.ok) return other;
  return succeed({ verified: other.value ? [] : verifiedCommits(run), other: other.value });
}

/** A new session goes on: with what has changed since, and what is tried again. */
export async function recordResumption(
  { project, held, options, world }: Opening,
  before: PlanRun,
  [changed, again]: readonly [readonly RunEvent[], readonly RunEvent[]],
  {
    cast,
    stack,
    moved,
    other,
  }: {
    readonly cast: Cast;
    readonly stack: FoundStack;
    readonly moved: string | undefined;
    readonly other: OtherCommands | undefined;
  },
): Promise<Result<RecordedEvent[]>> {
  const newGates = JSON.stringify(stack.gates) !== JSON.stringify(before.gates);
  const resumed: RunEvent = {
    type: "run-resumed",
    ...(cast.usual !== before.agent && { agent: cast.usual }),
    ...(cast.forced !== undefined && !before.forced && { forced: true as const }),
    ...(newGates && { gates: [...stack.gates] }),
    ...(options.under !== undefined && before.under === undefined && { under: options.under }),
    ...(world.pull && { pulled: true as const }),
    ...(options.review && { review: true as const }),
  };
  const released = releasedByReturn(held.state, before, project.world.hash);
  const withdrawn = released.withdrawn.map((id) => ({
    type: "decision-withdrawn" as const,
    id,
    reason: "it is tried again",
  }));
  const put = withdrawn.length > 0 ? await held.recordIn(before.id, withdrawn) : succeed(undefined);
  if (!put.ok) return put;
  return recordRun(held, before.id, [
    ...changed,
    resumed,
    ...(moved === undefined
      ? []
      : [
          {
            type: "target-moved" as const,
            commit: moved,
            undone: unpublished(before),
            ...(!other && { runsTheSame: true as const }),
          },
        ]),
    ...again,
    ...released.events,
  ]);
}

/** A death after the last transition may have left the files behind it. */
async function showAgain(
  { project, held, git, world }: Opening,
  run: PlanRun,
  stale: readonly string[],
): Promise<Result<undefined>> {
  const history = readHistory(project, run);
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
