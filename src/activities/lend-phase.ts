/**
 * A phase whose agent we have not started: somebody comes for it, works in a work tree of ours, and
 * reports. Between those two nobody of ours need be alive; everything that matters is on record.
 *
 *  1. What is reported is judged as if we had started him: his word is a claim, his files are his work.
 *  2. Nothing is taken from somebody who may still be at work: a tree whose lease has lapsed stays
 *     where it is, and what he reports too late is kept under a ref.
 */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import type { AgentOutcome } from "../agent.ts";
import { hostAgent, type Lease, leaseAfter, leaseName } from "../core/lease.ts";
import type { Move } from "../core/plan/next-moves.ts";
import { type PlanRun, phaseOf } from "../core/plan/progress.ts";
import { type AgentResult, failureSaid } from "../core/plan/result.ts";
import type { Performed } from "../core/plan/run-plan.ts";
import { isAlive } from "../exec/process-table.ts";
import { commitAt } from "../git/objects.ts";
import { addWorktree, gitIn } from "../git/worktrees.ts";
import {
  concludeAttempt,
  diskTrouble,
  keepOutOfGit,
  restoreWork,
  writeOwn,
} from "./attempt-phase.ts";
import { keepWorkTree, removeLent } from "./recover.ts";
import { briefFor } from "./run-agent.ts";
import {
  attemptBranch,
  attemptFolder,
  foldersOf,
  interruptedRef,
  type RunSite,
  refused,
  slotEnvironment,
} from "./run-site.ts";
import { refsOf } from "./traces.ts";
import { transcriptMark, transcriptOf } from "./transcript.ts";

/** The process that he talks to us through is no longer there; on another machine nobody can tell. */
export const isGone = (lease: Lease): boolean => lease.host === os.hostname() && !isAlive(lease);

export async function lendPhase(
  site: RunSite,
  { phase, slot }: Extract<Move, { do: "work" }>,
  run: PlanRun,
): Promise<Performed> {
  const { pull } = site;
  const state = workingOn(run, phase);
  if (!pull) throw new Error("nobody has come for work");
  const { attempt, base, continues } = state;
  const folder = folderOf(site, phase, run);
  const branch = attemptBranch(run.id, phase, attempt);
  try {
    keepOutOfGit(site.folders.attempts);
    fs.mkdirSync(site.folders.scratch, { recursive: true });
    // What somebody before him has left half-done there is where he goes on.
    const isThere = state.lease !== undefined && fs.existsSync(folder);
    if (!isThere) {
      // Somebody has removed the folder, and git still knows it.
      if (state.lease) await removeLent(site.git, folder);
      const tree = await addWorktree(site.git, folder, base, branch);
      if (!tree.ok) return refused(tree);
      const restored = await restoreWork(site, phase, state, tree.value);
      if (!restored.ok) return refused(restored);
    }
    const until = laterBy(site.project.world.now(), site.leaseMs);
    const asked = run.order.find(({ id }) => id === phase);
    const given = leaseAfter(state.lease, pull.puller, until);
    const lease = { ...given, ...(asked && { asks: asked.asks }) };
    const session = continues === undefined ? undefined : phaseOf(run, phase)?.session;
    const goesOn = isThere
      ? { own: true as const }
      : session && { own: false as const, from: session.agent };
    const name = leaseName({ of: "phase", run: run.id, phase, attempt, epoch: lease.epoch });
    const brief = briefFor(site, run, phase, {
      ...(goesOn && { goesOn }),
      fetched: { lease: name, folder, env: slotEnvironment(slot) },
    });
    tellTranscript(site, { phase, attempt }, [
      `${transcriptMark} attempt ${attempt} at phase ${phase}, fetched by ${lease.by}`,
      ...brief.text.trimEnd().split("\n"),
    ]);
    const briefFile = `${folder}.md`;
    writeOwn(briefFile, brief.text);
    const what = `phase ${asked?.written ?? phase}`;
    pull.lent({ lease: name, until, what, folder, brief: brief.text, briefFile });
    return { is: "done", events: [{ type: "attempt-leased", phase, attempt, lease }] };
  } catch (error) {
    return { is: "refused", failure: diskTrouble(error, folder) };
  }
}

/** He says that he has ended: what lies in his tree is what he did. */
export async function takeIn(
  site: RunSite,
  { phase }: Extract<Move, { do: "take-in" }>,
  run: PlanRun,
): Promise<Performed> {
  const { attempt, base, lease, report } = workingOn(run, phase);
  if (!lease || !report) throw new Error(`nobody has reported phase ${phase}`);
  const folder = folderOf(site, phase, run);
  const git = gitIn(site.git, folder);
  const scratch = path.join(site.folders.scratch, `${run.id}-${phase}-${attempt}`);
  tellTranscript(site, { phase, attempt }, [
    `${transcriptMark} ${lease.by} has reported: ${report.status}`,
  ]);
  if (!fs.existsSync(folder) || !fs.existsSync(git.place.gitDir)) {
    const message = `its work tree ${folder} is gone, and what was done in it`;
    const error = { type: "agent_crash" as const, message };
    return { is: "done", events: [{ type: "attempt-failed", phase, attempt, error }] };
  }
  const { asks = lease.asks } = run.order.find(({ id }) => id === phase) ?? {};
  if (asks !== lease.asks) {
    const kept = await keptSoFar(site, run, { phase, attempt, folder, base });
    if (!kept.ok) return refused(kept);
    const reason = "the plan asks for something else now than when it was fetched";
    return {
      is: "done",
      events: [
        { type: "attempt-interrupted", phase, attempt, reason },
        { type: "lent-tree-kept", phase, attempt, ...(kept.value && { ref: kept.value }) },
      ],
    };
  }
  try {
    fs.mkdirSync(scratch, { recursive: true });
    // His own git may be anywhere, and so may its owner: whose a moved branch is nobody can tell.
    const refs = await refsOf(site.git);
    if (!refs.ok) return refused(refs);
    const head = await commitAt(git, "HEAD");
    const seen = { refs: refs.value, head, damage: [], stays: true as const };
    const attempted = { phase, attempt, base, scratch, git, ...seen };
    const outcome = outcomeOf(lease.by, report);
    const events = await concludeAttempt(site, attempted, { agent: hostAgent, outcome });
    // The tree goes when this is on record: killed before that, it is taken in once more.
    return events.ok ? { is: "done", events: events.value } : refused(events);
  } catch (error) {
    return { is: "refused", failure: diskTrouble(error, folder) };
  } finally {
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

/** His time is over. What he has done so far is kept, and his tree too while he may be at it. */
export async function takeBack(
  site: RunSite,
  { phase }: Extract<Move, { do: "take-back" }>,
  run: PlanRun,
): Promise<Performed> {
  const { attempt, base, lease } = workingOn(run, phase);
  if (!lease) throw new Error(`nobody has come for phase ${phase}`);
  const folder = folderOf(site, phase, run);
  const kept = await keptSoFar(site, run, { phase, attempt, folder, base });
  if (!kept.ok && kept.failure.code !== "git") return refused(kept);
  const isDead = isGone(lease);
  const why = isDead ? "is no longer there" : "had it for long enough";
  const interrupted = {
    type: "attempt-interrupted" as const,
    phase,
    attempt,
    reason: `${lease.by}, who had come for it, ${why}`,
  };
  if (!isDead) return { is: "done", events: [interrupted] };
  // The tree goes when this is on record.
  return { is: "done", events: [interrupted, { type: "lent-tree-kept", phase, attempt }] };
}

const keptSoFar = (
  { git, folders, identity, project }: RunSite,
  run: PlanRun,
  at: {
    readonly phase: string;
    readonly attempt: number;
    readonly folder: string;
    readonly base: string;
  },
): ReturnType<typeof keepWorkTree> =>
  keepWorkTree(
    { git, run, folders, identity, now: project.world.now },
    { ...at, id: at.phase, ref: interruptedRef(run.id, at.phase, at.attempt) },
  );

/** Until his report is on record, or there is nothing to wait for any more. */
export async function awaitReport(
  site: RunSite,
  { phase, until }: Extract<Move, { do: "await-report" }>,
): Promise<Performed> {
  const { written = phase } = site.run().order.find(({ id }) => id === phase) ?? {};
  const by = leaseNow(site, phase)?.by ?? "somebody";
  site.tell({ notice: `phase ${written} is with ${by} until ${until}: waiting for the report` });
  for (;;) {
    const lease = leaseNow(site, phase);
    const isOver = !lease || lease.until <= site.project.world.now() || isGone(lease);
    if (isOver || site.signal.aborted) return { is: "done", events: [] };
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

const lookEveryMs = 200;

/** Undefined: it is reported, or with nobody. */
function leaseNow(site: RunSite, phase: string): Lease | undefined {
  const state = phaseOf(site.run(), phase)?.state;
  return state?.is === "working" && !state.report ? state.lease : undefined;
}

function workingOn(run: PlanRun, phase: string) {
  const state = phaseOf(run, phase)?.state;
  if (state?.is !== "working") throw new Error(`phase ${phase} has no attempt under way`);
  return state;
}

/** Where it was given, if it was: the repository may have several work trees, with one memory. */
function folderOf({ folders }: RunSite, phase: string, run: PlanRun): string {
  const state = phaseOf(run, phase)?.state;
  const root = state?.is === "working" ? state.lease?.root : undefined;
  const attempts = root === undefined ? folders.attempts : foldersOf(root, "", "").attempts;
  return path.join(attempts, attemptFolder(run, phase));
}

const laterBy = (now: string, ms: number): string => new Date(Date.parse(now) + ms).toISOString();

const outcomeOf = (by: string, result: AgentResult): AgentOutcome =>
  result.status === "complete" ? { is: "done", result } : failureSaid(by, result);

function tellTranscript(
  site: RunSite,
  { phase, attempt }: { readonly phase: string; readonly attempt: number },
  lines: readonly string[],
): void {
  const transcript = transcriptOf(site, phase, attempt);
  for (const line of lines) transcript.add(line);
  transcript.end();
}
