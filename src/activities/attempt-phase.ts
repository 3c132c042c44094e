/**
 * One attempt at a phase: a work tree of its own on a branch of its own, the agent in it, and
 * afterwards exactly what the agent left, as a commit. The agent's own commits, ticks and words
 * are claims: only the files count.
 */
import * as fs from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import * as path from "node:path";
import type { AgentOutcome } from "../agent.ts";
import { applyAgent } from "../core/agent/known.ts";
import { parkedFor } from "../core/agent/patience.ts";
import { type Result, succeed } from "../core/failure.ts";
import type { Move } from "../core/plan/next-moves.ts";
import { type PhaseError } from "../core/plan/phase-error.ts";
import { type PlanRun, phaseOf } from "../core/plan/progress.ts";
import { type AgentResult, isPessimistic } from "../core/plan/result.ts";
import type { RunEvent } from "../core/plan/run-event.ts";
import type { Performed } from "../core/plan/run-plan.ts";
import { isPlanFile } from "../core/plan/task-folder.ts";
import type { Git } from "../git/call.ts";
import { commitAt, commitTree, updateRefs } from "../git/objects.ts";
import { watchStore } from "../git/store-watch.ts";
import { type Change, changesBetween, treeWith } from "../git/trees.ts";
import { addWorktree, captureTree, removeWorktree } from "../git/worktrees.ts";
import { prepareConfinement } from "./confinement.ts";
import { runAgent, type Worked } from "./run-agent.ts";
import {
  attemptBranch,
  attemptFolder,
  attemptRef,
  interruptedRef,
  isOurs,
  type RunSite,
  refused,
} from "./run-site.ts";
import { type Refs, refsOf, tracesOf } from "./traces.ts";

/**
 * The attempt is on record, with its number and its base, before anything is started for it. Where
 * an agent was in the middle of something, it begins with that: in the same folder for the same
 * agent, which finds its session only there.
 */
export function beginAttempt(
  site: RunSite,
  { phase, attempt, slot, agent: chosen }: Extract<Move, { do: "begin" }>,
  run: PlanRun,
): Performed {
  const agent = chosen ?? run.agent;
  const { session: left } = phaseOf(run, phase) ?? {};
  // Who does what is spelled out, to the letter, has no use for half of it.
  const session = agent === applyAgent.name ? undefined : left;
  const isOwn = session?.agent === agent;
  return {
    is: "done",
    events: [
      {
        type: "attempt-started",
        phase,
        attempt,
        slot,
        uuid: site.project.world.uuid(),
        base: session?.base ?? run.tip,
        ...(agent !== run.agent && { agent }),
        ...(session && { continues: session.attempt }),
        ...(session && isOwn && { folder: session.folder ?? session.attempt }),
      },
    ],
  };
}

export async function workOn(
  site: RunSite,
  { phase, slot }: Extract<Move, { do: "work" }>,
  run: PlanRun,
): Promise<Performed> {
  const state = phaseOf(run, phase)?.state;
  if (state?.is !== "working") throw new Error(`phase ${phase} has no attempt under way`);
  const { attempt, base, agent = run.agent } = state;
  const folder = path.join(site.folders.attempts, attemptFolder(run, phase));
  const scratch = path.join(site.folders.scratch, `${run.id}-${phase}-${attempt}`);
  const branch = attemptBranch(run.id, phase, attempt);
  let [hasWorked, concluded] = [false, false];
  try {
    keepOutOfGit(site.folders.attempts);
    if (site.confined(agent)) prepareConfinement(site);
    await mkdir(scratch, { recursive: true });
    const tree = await addWorktree(site.git, folder, base, branch);
    if (!tree.ok) return refused(tree);
    const restored = await restoreWork(site, phase, state, tree.value);
    if (!restored.ok) return refused(restored);
    const refs = await refsOf(site.git);
    if (!refs.ok) return refused(refs);
    const store = watchStore(site.git);
    hasWorked = true;
    const worked = await runAgent(site, { id: phase, slot, cwd: folder, scratch }, run);
    const head = await commitAt(tree.value, "HEAD");
    // Before anything is made of what it left: an object may lie ready where one is to be written.
    const damage = await store.damage(base, [folder, site.project.root]);
    const seen = { refs: refs.value, head, damage };
    const attempted = { phase, attempt, base, scratch, git: tree.value, ...seen };
    const events = await concludeAttempt(site, attempted, worked);
    concluded = events.ok;
    return events.ok ? { is: "done", events: [...worked.rest, ...events.value] } : refused(events);
  } catch (error) {
    return { is: "refused", failure: diskTrouble(error, folder) };
  } finally {
    // What a full disk could not take up stays where it lies: the next session keeps it.
    if (concluded || !hasWorked) {
      await removeWorktree(site.git, folder);
      if (!concluded) await updateRefs(site.git, [{ ref: `refs/heads/${branch}`, to: null }]);
    }
    await rm(scratch, { recursive: true, force: true }).catch(() => {});
  }
}

/** What the attempt before it had done, as it lay there: changed files, nothing committed. */
export async function restoreWork(
  site: RunSite,
  phase: string,
  { continues, base }: { readonly continues?: number; readonly base: string },
  tree: Git,
): Promise<Result<void>> {
  if (continues === undefined) return succeed(undefined);
  const kept =
    (await commitAt(site.git, attemptRef(site.id, phase, continues))) ??
    (await commitAt(site.git, interruptedRef(site.id, phase, continues)));
  if (kept === undefined || kept === base) return succeed(undefined);
  const files = await tree.call({ args: ["read-tree", "--reset", "-u", kept] });
  if (!files.ok) return files;
  const index = await tree.call({ args: ["read-tree", base] });
  return index.ok ? succeed(undefined) : index;
}

/** The folder ignores itself: it is no part of any commit, whatever the project ignores. */
export function keepOutOfGit(folder: string): void {
  fs.mkdirSync(folder, { recursive: true });
  const ignore = path.join(folder, ".gitignore");
  const there = fs.lstatSync(ignore, { throwIfNoEntry: false });
  if (!there?.isFile()) writeOwn(ignore, "*\n");
}

/** Never through a link that somebody has left in its place: a repository can hold one. */
export function writeOwn(file: string, text: string): void {
  fs.rmSync(file, { recursive: true, force: true });
  fs.writeFileSync(file, text, { flag: "wx" });
}

export function diskTrouble(
  error: unknown,
  file: string,
): Extract<Result<never>, { ok: false }>["failure"] {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!/^E[A-Z0-9]+$/.test(code)) throw error;
  return {
    code: "disk",
    message: `${file} cannot be written (${code})`,
    file,
    hint: "free some space or mend the permissions, then run the same command again",
  };
}

interface Attempted {
  readonly phase: string;
  readonly attempt: number;
  readonly base: string;
  readonly scratch: string;
  readonly git: Git;
  /** What people's branches and tags held before. */
  readonly refs: Refs;
  /** What its own branch held when it had ended. */
  readonly head: string | undefined;
  /** Processes that went on when it had ended. */
  readonly left?: number;
  /** What happened to git's objects, a sentence each. */
  readonly damage: readonly string[];
  /** Its work tree is needed until what came of it is on record: so is its branch. */
  readonly stays?: true;
}

/** What an attempt has left, and what follows from it. */
export async function concludeAttempt(
  site: RunSite,
  worked: Attempted,
  ended: Omit<Worked, "rest">,
): Promise<Result<RunEvent[]>> {
  const { phase, attempt } = worked;
  // Kept under a ref whatever comes of it: nothing that was paid for is thrown away.
  const captured = await capture(site, worked, ended.outcome);
  // Only what the agent left can be its fault: not a full disk, not a git that was killed.
  if (!captured.ok && captured.failure.code !== "git") return captured;
  const parks = phaseOf(site.run(), phase)?.parks ?? 0;
  const follows = afterWork(
    { phase, attempt, ...ended },
    {
      now: Date.parse(site.project.world.now()),
      parks,
      takenUp: captured.ok ? true : captured.failure.message,
    },
  );
  if (follows.is === "over") return succeed([follows.event]);
  if (!captured.ok) throw new Error("what was not taken up is delivered");
  const { result, model, left } = follows;
  const seen = left === undefined ? worked : { ...worked, left };
  return deliver(site, seen, captured.value, result, model);
}

/** How an agent's work ended, and by whom it was done. */
interface EndedWork extends Omit<Worked, "rest"> {
  readonly phase: string;
  readonly attempt: number;
}

/** `delivered`: there is a result, and what it is worth is to be found out. */
type AfterWork =
  | { readonly is: "over"; readonly event: RunEvent }
  | {
      readonly is: "delivered";
      readonly result: AgentResult;
      readonly model?: string;
      readonly left?: number;
    };

const over = (event: RunEvent): AfterWork => ({ is: "over", event });

/**
 * What follows from an agent's end, before anybody has looked at its work. `takenUp`: what it left
 * is kept, or why it could not be.
 */
export function afterWork(
  work: EndedWork,
  world: { readonly now: number; readonly parks: number; readonly takenUp: true | string },
): AfterWork {
  const { phase, attempt, agent, outcome, over: used } = work;
  const { takenUp } = world;
  if (used !== undefined && outcome.is !== "done") {
    const { whose, what } = used;
    // What the whole run has used up is asked about the run.
    return over(
      whose === "phase"
        ? { type: "attempt-over-budget", phase, attempt, over: what }
        : { type: "attempt-interrupted", phase, attempt, reason: `the run: ${what}` },
    );
  }
  switch (outcome.is) {
    case "stopped":
      return over({ type: "attempt-interrupted", phase, attempt, reason: "asked to stop" });
    case "unable": {
      const { trouble, hint } = outcome;
      const { kind, message } = trouble;
      return over({ type: "attempt-unable", phase, attempt, agent, kind, message, hint });
    }
    case "limited":
      return over(parkedOr(work, world, outcome));
    case "failed": {
      const { error, result } = outcome;
      // It minds its budget by itself, and has left off.
      if (error.kind === "budget") {
        return over({ type: "attempt-over-budget", phase, attempt, over: error.message });
      }
      // Whoever fears that a gate fails may be wrong about it: that is found out, not believed.
      if (result && takenUp === true && isPessimistic(result)) return { is: "delivered", result };
      return over(failed(work, error, result && claimOf(result)));
    }
    case "done": {
      const { result, model, left = 0 } = outcome;
      if (takenUp === true) {
        return { is: "delivered", result, left, ...(model !== undefined && { model }) };
      }
      const message = `what it left cannot be taken up: ${takenUp}`;
      return over(failed(work, { type: "task_incomplete", message }, claimOf(result)));
    }
  }
}

/** Until a moment that is on record: whoever comes later waits for the same one. */
function parkedOr(
  work: EndedWork,
  { now, parks }: { readonly now: number; readonly parks: number },
  { until, reason, trouble }: Extract<AgentOutcome, { is: "limited" }>,
): RunEvent {
  const { phase, attempt, agent } = work;
  const kind = trouble?.kind;
  const told = until === undefined ? undefined : Date.parse(until) - now;
  const wait = parkedFor(kind, parks, told);
  if (wait === undefined) {
    const message = `${reason}; it was tried for long enough`;
    return failed(work, { type: "agent_crash", message, ...(kind && { kind }) });
  }
  return {
    type: "attempt-parked",
    phase,
    attempt,
    until: new Date(now + wait).toISOString(),
    reason,
    agent,
    ...(kind && { kind }),
  };
}

async function deliver(
  site: RunSite,
  worked: Attempted,
  captured: Captured,
  result: AgentResult,
  model?: string,
): Promise<Result<RunEvent[]>> {
  const { phase, attempt } = worked;
  const traces = await tracesOf(site, worked, captured, result);
  if (!traces.ok) return traces;
  return succeed([
    {
      type: "attempt-delivered",
      phase,
      attempt,
      commit: captured.commit,
      claim: claimOf(result),
      ...(Object.keys(traces.value).length > 0 && { traces: traces.value }),
      ...(model === undefined ? {} : { model }),
    },
  ]);
}

type Claim = Extract<RunEvent, { type: "attempt-delivered" }>["claim"];

export const claimOf = (result: AgentResult): Claim => ({
  status: result.status,
  tasksTotal: result.tasks.total,
  tasksCompleted: result.tasks.completed,
  message: result.commit_message,
  ...(Object.keys(result.gates).length > 0 && { gates: result.gates }),
  ...(Object.values(result.files).some((files) => files.length > 0) && {
    files: {
      created: result.files.created.slice(0, mostClaimed),
      modified: result.files.modified.slice(0, mostClaimed),
      deleted: result.files.deleted.slice(0, mostClaimed),
    },
  }),
});
const mostClaimed = 5000;

const failed = ({ phase, attempt }: EndedWork, error: PhaseError, claim?: Claim): RunEvent => ({
  type: "attempt-failed",
  phase,
  attempt,
  error: { ...error },
  ...(claim && { claim }),
});

interface Captured {
  readonly commit: string;
  readonly nested: readonly string[];
  /** Paths that the agent wrote and that are no part of its work. */
  readonly leftOut: readonly string[];
  readonly changed: ReadonlySet<string>;
}

/**
 * What the agent left, less what is not its to change: the plan (its ticks are claims) and our own
 * files.
 */
async function capture(
  site: RunSite,
  { phase, attempt, base, scratch, git, stays }: Attempted,
  outcome: AgentOutcome,
): Promise<Result<Captured>> {
  // What is to land is whole or nothing; half-done work is worth whatever can be had of it.
  const toLand = "result" in outcome && outcome.result !== undefined;
  const how = toLand ? {} : { asMuchAs: "can-be" as const };
  const tree = await captureTree(git, path.join(scratch, "index"), how);
  if (!tree.ok) return tree;
  const changes = await changesBetween(git, base, tree.value);
  if (!changes.ok) return changes;
  const run = site.run();
  const discard = changes.value.filter(({ path: file }) => isOurs(file) || isPlanFile(run, file));
  const kept = await treeWith(
    git,
    tree.value,
    new Map(discard.map((change) => [change.path, change.old])),
  );
  if (!kept.ok) return kept;
  const commit = await commitTree(git, {
    tree: kept.value,
    parent: base,
    message: `Attempt ${attempt} at phase ${phase}\n`,
    at: site.project.world.now(),
    by: site.identity,
  });
  if (!commit.ok) return commit;
  const branch = { ref: `refs/heads/${attemptBranch(site.id, phase, attempt)}`, to: null };
  const named = await updateRefs(site.git, [
    { ref: attemptRef(site.id, phase, attempt), to: commit.value },
    ...(stays ? [] : [branch]),
  ]);
  if (!named.ok) return named;
  return succeed({
    commit: commit.value,
    nested: changes.value.filter(isNewGitlink).map((change) => change.path),
    leftOut: discard.map((change) => change.path),
    changed: new Set(changes.value.map((change) => change.path)),
  });
}

const isNewGitlink = ({ old, now }: Change): boolean =>
  now?.mode === "160000" && old?.mode !== "160000";
