/**
 * From the landed ref to where people see it: the branch, their files, or both.
 *
 *  1. A branch moves by compare-and-swap, from what we last left there and from nothing else.
 *  2. A file is written only if its bytes are those that the phase began with; bytes that are
 *     neither old nor new are somebody's, and that person is asked.
 *  3. Everything is done again without harm: a branch that has moved, a file that is new already,
 *     are left alone. So a crash anywhere in between is mended by simply publishing again.
 *  4. The files are on disk before the journal says so.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Question } from "../core/decision.ts";
import { type Failure, fail, type Result, succeed } from "../core/failure.ts";
import { type PlanRun, phaseOf } from "../core/plan/progress.ts";
import type { RunEvent } from "../core/plan/run-event.ts";
import type { Performed } from "../core/plan/run-plan.ts";
import { isPlanFile } from "../core/plan/task-folder.ts";
import type { Git } from "../git/call.ts";
import { branchOf, commitAt, isAncestor, updateRefs } from "../git/objects.ts";
import { type Change, changesBetween } from "../git/trees.ts";
import { placeOf } from "../git.ts";
import { askOnce } from "./ask.ts";
import { diskTrouble } from "./attempt-phase.ts";
import { movedBy, planKey, plansWith } from "./candidate.ts";
import { goOnFrom, squashOf, unpublished } from "./follow-target.ts";
import { changePlan, leadsOut } from "./plan-files.ts";
import { type Replacement, replaceFiles, setAside, standingOf, storedAs } from "./publish-files.ts";
import { followIndex, indexOf, withIndex } from "./publish-index.ts";
import { landedRef, type RunSite } from "./run-site.ts";

export async function publishPhase(site: RunSite, phase: string, run: PlanRun): Promise<Performed> {
  const landing = run.landed[run.published];
  if (landing?.phase !== phase) throw new Error(`phase ${phase} is not the next to be published`);
  const state = phaseOf(run, phase)?.state;
  const from = state?.is === "landed" ? state.check.onto : `${landing.commit}^`;
  const planFrom = state?.is === "landed" ? state.check.planFrom : undefined;
  const published = await publishCommit(site, run, { ...landing, from, planFrom });
  if (!published.ok) return performed(published);
  if (published.value.moved) return done(published.value.moved);
  const commit = run.mode === "auto" ? landing.commit : null;
  return done({ type: "phase-published", phase, commit, kept: published.value.kept });
}

/** All phases as one commit. */
export async function publishRun(site: RunSite, run: PlanRun): Promise<Performed> {
  const last = phaseOf(run, run.landed.at(-1)?.phase ?? "")?.state;
  if (last?.is !== "landed") throw new Error("nothing has landed");
  const squash = await squashOf(site.git, run, site.identity);
  if (!squash.ok) return performed(squash);
  const parent = run.targetAt === "" ? run.base : run.targetAt;
  const { planFrom } = last.check;
  const what = { commit: squash.value, from: parent, phase: "the whole run", planFrom };
  const published = await publishCommit(site, run, what);
  if (!published.ok) return performed(published);
  if (published.value.moved) return done(published.value.moved);
  return done({ type: "run-published", commit: squash.value, kept: published.value.kept });
}

export async function review(site: RunSite, run: PlanRun): Promise<Performed> {
  const waiting = run.landed.slice(run.published);
  const names = waiting.map(({ phase }) => phase).join(", ");
  const chosen = await askOnce(site, {
    kind: "review",
    subject: `${run.id} ${names}`,
    cycle: 1,
    cause: run.tip,
    question: `${waiting.length} verified ${waiting.length === 1 ? "phase waits" : "phases wait"} for review (${names})`,
    options: [
      {
        key: "A",
        text: "Publish them",
        notes: [`git diff ${run.targetAt || run.base} ${run.tip}`],
      },
      { key: "B", text: `Leave them unpublished, at ${landedRef(run.id)}` },
    ],
    recommendation: "A",
    reason: "every gate has passed on exactly these trees",
    blocks: "publishing",
  });
  if (!chosen.ok) return performed(chosen);
  if (chosen.value === "A") return done({ type: "review-passed", commit: run.tip });
  const { failure } = fail("run-halted", `unpublished, as you decided: ${names}`, {
    hint: `git log ${landedRef(run.id)}`,
  });
  return { is: "asking", failure };
}

const done = (...events: RunEvent[]): Performed => ({ is: "done", events });

const isPeoples = new Set<Failure["code"]>(["decision-required", "run-halted", "untrusted"]);

const performed = ({ failure }: { failure: Failure }): Performed => ({
  is: isPeoples.has(failure.code) ? "asking" : "refused",
  failure,
});

const phasesOf = ({ mode, landed }: PlanRun, { phase }: Publication): string[] =>
  mode === "single" ? landed.map((landing) => landing.phase) : [phase];

interface Publication {
  readonly phase: string;
  readonly commit: string;
  readonly from: string;
  /** The reading of the plan that it was made from. */
  readonly planFrom: string | undefined;
}

async function publishCommit(
  site: RunSite,
  run: PlanRun,
  what: Publication,
): Promise<Result<{ kept: string[]; moved?: RunEvent }>> {
  const { git } = site;
  const onBranch = run.mode !== "message-only";
  if (onBranch) {
    const standing = await whereTargetStands(site, run, what.commit);
    if (!standing.ok) return standing;
    if (standing.value) return succeed({ kept: [], moved: standing.value });
  }
  const visible = !onBranch || (await isCheckedOut(git, run.target));
  const changes = await changesBetween(git, what.from, what.commit);
  if (!changes.ok) return changes;
  const sorted = visible ? await sortOut(site, run, what, changes.value) : succeed(nothingToWrite);
  if (!sorted.ok) return sorted;
  try {
    const arrived =
      onBranch && visible
        ? await withIndex(site, (index) => arrive(site, run, what, sorted.value, index))
        : await arrive(site, run, what, sorted.value, undefined);
    if (!arrived.ok || arrived.value.moved) return arrived;
    if (visible) await tickElsewhere(site, run, what, sorted.value.plans);
    return succeed({ kept: [...sorted.value.keep, ...arrived.value.kept] });
  } catch (error) {
    return { ok: false, failure: diskTrouble(error, site.project.root) };
  }
}

/** The branch, then the files, then the index: each is left alone if it has arrived already. */
async function arrive(
  site: RunSite,
  run: PlanRun,
  what: Publication,
  { write }: Sorted,
  index: Git | undefined,
): Promise<Result<{ kept: string[]; moved?: RunEvent }>> {
  if (run.mode !== "message-only") {
    const swapped = await moveTarget(site, run, what.commit);
    if (!swapped.ok) {
      // Somebody was faster; what he did is looked at like any other move of the branch.
      const standing = await whereTargetStands(site, run, what.commit);
      if (!standing.ok) return standing;
      return standing.value ? succeed({ kept: [], moved: standing.value }) : swapped;
    }
  }
  const kept = await replaceFiles(site, write);
  if (!kept.ok) return kept;
  for (const file of kept.value) {
    site.tell({ notice: `${file} was changed in this very moment: yours is left as it is` });
  }
  if (index) {
    // From what the branch held: a snapshot below the first phase is new to the index too.
    const held = run.targetAt === "" ? run.base : run.targetAt;
    const since = await changesBetween(site.git, held, what.commit);
    if (!since.ok) return since;
    const followed = await followIndex(site, index, since.value);
    if (!followed.ok) return followed;
  }
  return succeed({ kept: kept.value });
}

/** Plans that people have edited, or that are not git's: only our ticks are put into them. */
async function tickElsewhere(
  site: RunSite,
  run: PlanRun,
  what: Publication,
  edited: readonly string[],
): Promise<void> {
  for (const note of await tickByHand(site, run, what, edited)) site.tell({ notice: note });
  if (!run.planOutside) return;
  const ticked = await changePlan(
    site.project.root,
    run.plan,
    phasesOf(run, what).map((phase) => ({
      phase,
      boxes: "tick" as const,
      status: "complete" as const,
    })),
    { disk: site.disk },
  );
  if (!ticked.ok) site.tell({ notice: ticked.failure.message });
}

// ── the branch ─────────────────────────────────────────────────────────────────────────────────

/** Undefined: it is where we left it, or has arrived already. */
async function whereTargetStands(
  site: RunSite,
  run: PlanRun,
  commit: string,
): Promise<Result<RunEvent | undefined>> {
  const { git } = site;
  const current = (await commitAt(git, run.target)) ?? "";
  if (current === run.targetAt || current === commit) return succeed(undefined);
  // Published before we died, and somebody has gone on from there.
  if (current !== "" && (await isAncestor(git, commit, current))) return succeed(undefined);
  const undone = unpublished(run);
  const forward =
    current !== "" &&
    (await isAncestor(git, run.targetAt === "" ? run.base : run.targetAt, current));
  // What landed is put on top of what came first, and verified again there.
  if (forward) return goOnFrom(site, run, current);
  // Not below autobuild/: that is where attempts have their branches.
  const instead = `refs/heads/autobuild-${run.id}`;
  const short = run.target.replace(/^refs\/heads\//, "");
  const question: Question = {
    kind: "target-rewritten",
    subject: `${run.id} ${run.target}`,
    cycle: 1,
    cause: current,
    question: `${short} no longer holds what was published (${run.targetAt.slice(0, 10)}): where shall the rest go?`,
    options: [
      { key: "A", text: `To a new branch, ${instead.replace(/^refs\/heads\//, "")}` },
      { key: "B", text: `Nowhere: leave it at ${landedRef(run.id)} and stop` },
    ],
    recommendation: "A",
    reason: "nothing of yours is touched, and nothing of the run is lost",
    blocks: "publishing",
  };
  const chosen = await askOnce(site, question);
  if (!chosen.ok) return chosen;
  if (chosen.value === "A") return succeed({ type: "target-chosen", target: instead, holds: "" });
  return fail("run-halted", `unpublished, as you decided: ${undone.join(", ")}`, {
    hint: `git log ${landedRef(run.id)}`,
  });
}

async function isCheckedOut(git: Git, target: string): Promise<boolean> {
  if (target === "HEAD") return true;
  // From the file: it is asked for each phase.
  const { branch } = placeOf({ ...git.place, root: git.place.workTree });
  return (branch === "" ? await branchOf(git) : branch) === target;
}

async function moveTarget(site: RunSite, run: PlanRun, commit: string): Promise<Result<void>> {
  const swapped = await updateRefs(
    site.git,
    [{ ref: run.target, to: commit, from: run.targetAt }],
    {
      noDeref: run.target === "HEAD",
      reason: "autobuild: publish",
    },
  );
  if (swapped.ok) return swapped;
  // It has arrived already: we died after it had moved.
  const current = await commitAt(site.git, run.target);
  const there = current !== undefined && (await isAncestor(site.git, commit, current));
  return there ? succeed(undefined) : swapped;
}

// ── the files ──────────────────────────────────────────────────────────────────────────────────

interface Sorted {
  readonly write: readonly Replacement[];
  /** Somebody's: they stay as they are. */
  readonly keep: string[];
  /** Plans that people edited meanwhile: our ticks are put into what they wrote. */
  readonly plans: readonly string[];
}

const nothingToWrite: Sorted = { write: [], keep: [], plans: [] };

async function sortOut(
  site: RunSite,
  run: PlanRun,
  what: Publication,
  changes: readonly Change[],
): Promise<Result<Sorted>> {
  const write: Replacement[] = [];
  const plans: string[] = [];
  const foreign: Change[] = [];
  const moved = movedBy(site, run, phasesOf(run, what));
  const before = plansWith(
    site,
    run,
    run.landed.slice(0, run.published).map(({ phase }) => phase),
  );
  const leaving = new Set(changes.filter(({ now }) => now === null).map((each) => each.path));
  // Read from disk and in no commit so far: it leaves its folder all the same.
  const known = new Set(changes.map((change) => change.path));
  const unknown = [...moved.keys()].filter((file) => !known.has(file));
  const all = [
    ...changes,
    ...unknown.map((file): Change => ({ path: file, old: null, now: null })),
  ];
  for (const change of all) {
    if (isGitlink(change)) continue;
    const standing = await standingOf(site, change, leaving);
    const isAbsent = !fs.existsSync(path.join(site.project.root, change.path));
    if (isAbsent && standing !== "new" && (await isLeftOut(site.git, change))) continue;
    if (standing === "old") write.push(change);
    else if (standing === "neither" && isPlanFile(run, change.path)) {
      // As we read it last, though no commit has had it so far: ours to write.
      const ticked = Buffer.from(before.get(change.path) ?? "");
      const known = [run.planFiles[change.path] ?? "", await storedAs(site, change.path, ticked)];
      const asRead = { ...change, orOld: what.planFrom === planKey(run) ? known : [] };
      if ((await standingOf(site, asRead, leaving)) === "old") write.push(asRead);
      else plans.push(change.path);
    } else if (standing === "neither") foreign.push(change);
  }
  // Whoever wrote into a task keeps it, ticked, where tasks lie that have landed.
  for (const [from, to] of moved) {
    const at = plans.includes(from) ? write.findIndex((change) => change.path === to) : -1;
    if (at >= 0) write.splice(at, 1);
  }
  if (foreign.length === 0) return succeed({ write, keep: [], plans });
  const chosen = await askOnce(site, whoseFiles(run, what, foreign));
  if (!chosen.ok) return chosen;
  if (chosen.value === "A")
    return succeed({ write, keep: foreign.map((each) => each.path), plans });
  if (chosen.value !== "B") {
    return fail("run-halted", `phase ${what.phase} is verified but not published, as you decided`, {
      hint: `git diff ${what.from} ${what.commit}`,
    });
  }
  for (const { path: file } of foreign) {
    const aside = await setAside(site, file);
    if (!aside.ok) return aside;
    if (aside.value) site.tell({ notice: `your ${file} is kept at ${aside.value}` });
  }
  return succeed({ write: [...write, ...foreign], keep: [], plans });
}

function whoseFiles(run: PlanRun, what: Publication, foreign: readonly Change[]): Question {
  const names = foreign.map((each) => each.path);
  const some =
    names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");
  return {
    kind: "changed-meanwhile",
    subject: `${run.id} ${what.phase}`,
    cycle: 1,
    cause: what.commit,
    question: `${run.mode === "single" ? "the run" : `phase ${what.phase}`} and you have both changed ${some}`,
    options: [
      { key: "A", text: "Keep my files as they are; the phase's version is in its commit" },
      { key: "B", text: "Take the phase's version; mine is kept in the rescue folder" },
      { key: "C", text: "Leave the phase unpublished" },
    ],
    recommendation: "A",
    reason: "nothing of yours is touched, and nothing of the phase is lost",
    blocks: "publishing",
  };
}

const isGitlink = ({ old, now }: Change): boolean =>
  old?.mode === "160000" || now?.mode === "160000";

/** What a sparse checkout leaves out is not missing. */
const isLeftOut = async (git: Git, change: Change): Promise<boolean> =>
  (await indexOf(git, [change])).get(change.path)?.skipped === true;

/** The person's plan stays the person's: only our ticks are put into it. */
async function tickByHand(
  site: RunSite,
  run: PlanRun,
  what: Publication,
  plans: readonly string[],
): Promise<string[]> {
  if (plans.length === 0) return [];
  const { root } = site.project;
  const gone = plans.find((file) => !fs.existsSync(path.join(root, file)));
  if (gone !== undefined) return [`${gone} is gone; it is not written anew, the commits have it`];
  const phases = phasesOf(run, what);
  const ticked = await changePlan(
    root,
    run.plan,
    phases.map((each) => ({ phase: each, boxes: "tick" as const, status: "complete" as const })),
    { disk: site.disk },
  );
  for (const [from, to] of movedBy(site, run, phases)) {
    const target = path.join(root, to);
    // Never over anything, and never through a link that leads out of the repository.
    if (!plans.includes(from) || fs.existsSync(target) || leadsOut(target)) continue;
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.renameSync(path.join(root, from), target);
  }
  const changed = `${plans.join(", ")} was changed meanwhile: the run goes on with what it read, and takes up the change when it is resumed`;
  return ticked.ok ? [changed] : [changed, ticked.failure.message];
}
