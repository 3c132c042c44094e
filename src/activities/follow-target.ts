/**
 * People commit to the branch while a run is under way, or between two of its sessions: the run goes on
 * from there. What is run there has to be what is run anyway; else it is theirs to approve, and a session
 * that is open cannot take it up: its commands are those that it was opened with.
 */
import { fail, type Result, succeed } from "../core/failure.ts";
import { squashMessage } from "../core/plan/phase-commit.ts";
import { type PlanRun, phaseOf } from "../core/plan/progress.ts";
import type { RunEvent } from "../core/plan/run-event.ts";
import type { Git } from "../git/call.ts";
import {
  commitAt,
  commitTree,
  type Identity,
  identityOf,
  isAncestor,
  treeOf,
  updateRefs,
} from "../git/objects.ts";
import { landedRef, type OtherCommands, type RunSite } from "./run-site.ts";

/** Landed, and nobody sees it yet. */
export const unpublished = (run: PlanRun): string[] =>
  run.landed.slice(run.published).map(({ phase }) => phase);

/**
 * What people have committed on top of all that we have published: then that is what the run goes on
 * from. They may have mended what a phase fails for.
 */
export async function movedMeanwhile(git: Git, run: PlanRun): Promise<string | undefined> {
  const now = await commitAt(git, run.target === "" ? "HEAD" : run.target);
  if (now === undefined || now === run.targetAt || now === run.tip) return undefined;
  const waits = run.published < run.landed.length;
  if (waits && run.mode === "message-only") return undefined;
  if (!waits && run.tip !== run.targetAt) return undefined;
  // It may be ours: published before we died.
  const ours = waits ? await nextOf(git, run) : undefined;
  if (ours !== undefined && (await isAncestor(git, ours, now))) return undefined;
  const from = run.targetAt === "" ? run.base : run.targetAt;
  return (await isAncestor(git, from, now)) ? now : undefined;
}

/** What would be published next. */
async function nextOf(git: Git, run: PlanRun): Promise<string | undefined> {
  if (run.mode !== "single") return run.landed[run.published]?.commit;
  const squash = await squashOf(git, run, await identityOf(git));
  return squash.ok ? squash.value : undefined;
}

/** All phases as one commit, dated by the last of them: making it again makes the same one. */
export async function squashOf(
  git: Git,
  run: PlanRun,
  identity: Identity,
): Promise<Result<string>> {
  const last = phaseOf(run, run.landed.at(-1)?.phase ?? "")?.state;
  if (last?.is !== "landed") throw new Error("nothing has landed");
  const tree = await treeOf(git, run.tip);
  if (!tree.ok) return tree;
  return commitTree(git, {
    tree: tree.value,
    parent: run.targetAt === "" ? run.base : run.targetAt,
    message: squashMessage(run),
    at: last.verifiedAt,
    by: identity,
  });
}

/** In the middle of a session: only where nothing else is run than before. */
export async function goOnFrom(
  site: RunSite,
  run: PlanRun,
  commit: string,
): Promise<Result<RunEvent>> {
  const other = await site.otherCommands(run, commit);
  if (!other.ok) return other;
  if (other.value) return notFollowed(run, commit, other.value);
  const moved = await updateRefs(site.git, [{ ref: landedRef(run.id), to: commit }]);
  if (!moved.ok) return moved;
  return succeed({ type: "target-moved", commit, undone: unpublished(run), runsTheSame: true });
}

export function notFollowed(
  { target }: PlanRun,
  commit: string,
  { hash, difference }: OtherCommands,
): ReturnType<typeof fail> {
  const branch = target.replace(/^refs\/heads\//, "") || "HEAD";
  return fail(
    "untrusted",
    `${branch} has moved to ${commit.slice(0, 10)}, which changes what the run would start: nothing of it was run`,
    {
      details: difference,
      hint: `read it; then the same autodev build with --trust-sha256 ${hash}`,
    },
  );
}
