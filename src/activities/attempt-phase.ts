/**
 * One attempt at a phase: a work tree of its own on a branch of its own, the agent in it, and
 * afterwards exactly what the agent left, as a commit. The agent's own commits, ticks and words
 * are claims: only the files count.
 */
import * as fs from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import * as path from "node:path";
import type { AgentEvent, AgentOutcome } from "../agent.ts";
import { type Result, succeed } from "../core/failure.ts";
import { writeBrief } from "../core/plan/brief.ts";
import { phaseNamed } from "../core/plan/edits.ts";
import type { Move } from "../core/plan/next-moves.ts";
import { type PhaseError } from "../core/plan/phase-error.ts";
import { gatesOf, type PlanRun, phaseOf } from "../core/plan/progress.ts";
import { type AgentResult, isPessimistic, resultSchema } from "../core/plan/result.ts";
import type { RunEvent } from "../core/plan/run-event.ts";
import type { Performed } from "../core/plan/run-plan.ts";
import type { Git } from "../git/call.ts";
import { commitAt, commitTree, updateRefs } from "../git/objects.ts";
import { watchStore } from "../git/store-watch.ts";
import { type Change, changesBetween, treeWith } from "../git/trees.ts";
import { addWorktree, captureTree, removeWorktree } from "../git/worktrees.ts";
import { accessOf, prepareConfinement } from "./confinement.ts";
import { attemptBranch, attemptRef, isOurs, type RunSite, refused } from "./run-site.ts";
import { agentIdentity, type Refs, refsOf, tracesOf } from "./traces.ts";
import { transcriptMark, transcriptOf } from "./transcript.ts";

/** The attempt is on record, with its number and its base, before anything is started for it. */
export const beginAttempt = (
  site: RunSite,
  { phase, attempt, slot }: Extract<Move, { do: "begin" }>,
  run: PlanRun,
): Performed => ({
  is: "done",
  events: [
    {
      type: "attempt-started",
      phase,
      attempt,
      slot,
      uuid: site.project.world.uuid(),
      base: run.tip,
    },
  ],
});

export async function workOn(
  site: RunSite,
  { phase, slot }: Extract<Move, { do: "work" }>,
  run: PlanRun,
): Promise<Performed> {
  const state = phaseOf(run, phase)?.state;
  if (state?.is !== "working") throw new Error(`phase ${phase} has no attempt under way`);
  const { attempt, base } = state;
  const name = `${run.id}-${phase}-${attempt}`;
  const folder = path.join(site.folders.attempts, name);
  const scratch = path.join(site.folders.scratch, name);
  const branch = attemptBranch(run.id, phase, attempt);
  let concluded = false;
  try {
    keepOutOfGit(site.folders.attempts);
    if (site.confined) prepareConfinement(site);
    await mkdir(scratch, { recursive: true });
    const tree = await addWorktree(site.git, folder, base, branch);
    if (!tree.ok) return refused(tree);
    const refs = await refsOf(site.git);
    if (!refs.ok) return refused(refs);
    const store = watchStore(site.git);
    const outcome = await runAgent(site, { id: phase, slot, cwd: folder, scratch }, run);
    const head = await commitAt(tree.value, "HEAD");
    // Before anything is made of what it left: an object may lie ready where one is to be written.
    const damage = await store.damage(base, [folder, site.project.root]);
    const seen = { refs: refs.value, head, damage };
    const worked = { phase, attempt, base, scratch, git: tree.value, ...seen };
    const events = await conclude(site, worked, outcome);
    concluded = events.ok;
    return events.ok ? { is: "done", events: events.value } : refused(events);
  } catch (error) {
    return { is: "refused", failure: diskTrouble(error, folder) };
  } finally {
    await removeWorktree(site.git, folder);
    if (!concluded) await updateRefs(site.git, [{ ref: `refs/heads/${branch}`, to: null }]);
    await rm(scratch, { recursive: true, force: true }).catch(() => {});
  }
}

/** The folder ignores itself: it is no part of any commit, whatever the project ignores. */
export function keepOutOfGit(folder: string): void {
  fs.mkdirSync(folder, { recursive: true });
  const ignore = path.join(folder, ".gitignore");
  if (!fs.existsSync(ignore)) fs.writeFileSync(ignore, "*\n");
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

async function runAgent(
  site: RunSite,
  work: {
    readonly id: string;
    readonly slot: number;
    readonly cwd: string;
    readonly scratch: string;
  },
  run: PlanRun,
): Promise<AgentOutcome> {
  const { id, slot, cwd, scratch } = work;
  const { plan } = site.plan().compiled;
  const phase = phaseNamed(plan, id);
  const progress = phaseOf(run, id);
  if (!phase || progress?.state.is !== "working") throw new Error(`phase ${id} is not in the plan`);
  const { attempt } = progress.state;
  const atWork = run.phases.filter(
    (other) => other.id !== id && ["working", "delivered", "verified"].includes(other.state.is),
  );
  const brief = writeBrief({
    phase,
    attempt,
    gates: gatesOf(run).flatMap(({ name, command }) =>
      command === null ? [] : [{ name, command }],
    ),
    mayTouch: phase.files.map((file) => file.path),
    siblings: atWork.map((other) => ({
      phase: other.id,
      files: phaseNamed(plan, other.id)?.files.map((file) => file.path) ?? [],
    })),
    errors: progress.errors.slice(-3),
    notes: progress.notes ?? [],
    planFile: run.plan,
    resultSchema: resultSchema(),
    resultPath: path.join(scratch, "result.json"),
  });
  const log = site.showing.phaseLog(id, { attempt, startedAt: progress.startedAt ?? "" });
  const transcript = transcriptOf(site, id, attempt);
  transcript.add(`${transcriptMark} attempt ${attempt} at phase ${id}, by ${run.agent}`);
  const outcome = await site.agent.run(brief, {
    cwd,
    scratch,
    env: { ...slotEnvironment(slot), ...agentIdentity(site, id, attempt) },
    timeoutMs: site.attemptMs,
    signal: site.signal,
    killNow: site.killNow,
    access: site.confined ? accessOf(site, { cwd, scratch }) : [],
    marker: run.id,
    emit: (event) => {
      if (event.type === "usage") {
        const { tokens, cost } = event;
        const usage = { tokens, ...(cost !== undefined && { cost }) };
        site.tell({ phase: id, attempt, usage });
        return;
      }
      for (const line of linesOf(event)) {
        log.add(line);
        transcript.add(line);
        site.tell({ phase: id, text: line });
      }
    },
  });
  const why = outcome.is === "failed" ? `: ${outcome.error.message}` : "";
  transcript.add(`${transcriptMark} ${run.agent} has ended: ${outcome.is}${why}`);
  transcript.end();
  return outcome;
}

/** Each slot has ports of its own, so that two servers under test never meet. */
export const slotEnvironment = (slot: number): Record<string, string> => ({
  AUTODEV_SLOT: String(slot),
  AUTODEV_PORT_BASE: String(firstPort + slot * portsEach),
  AUTODEV_PORT_COUNT: String(portsEach),
});
const firstPort = 20_000;
const portsEach = 100;

function linesOf(event: Exclude<AgentEvent, { type: "usage" }>): string[] {
  switch (event.type) {
    case "text":
      return event.text.split("\n");
    case "file":
      return [`[${event.change}: ${event.path}]`];
    case "command":
      return [`[${event.command} -> ${event.passed ? "PASS" : "FAIL"}]`];
    default:
      return [];
  }
}

interface Worked {
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
}

async function conclude(
  site: RunSite,
  worked: Worked,
  outcome: AgentOutcome,
): Promise<Result<RunEvent[]>> {
  const { phase, attempt } = worked;
  // Kept under a ref whatever comes of it: nothing that was paid for is thrown away.
  const captured = await capture(site, worked);
  // Only what the agent left can be its fault: not a full disk, not a git that was killed.
  if (!captured.ok && captured.failure.code !== "git") return captured;
  switch (outcome.is) {
    case "stopped":
      return succeed([{ type: "attempt-interrupted", phase, attempt, reason: "asked to stop" }]);
    case "unable": {
      const { trouble, hint } = outcome;
      const error = { type: "agent_crash", kind: trouble.kind, message: trouble.message } as const;
      return succeed([failed(worked, { ...error, details: hint })]);
    }
    case "limited": {
      const { reason, until = site.project.world.now() } = outcome;
      return succeed([{ type: "attempt-parked", phase, attempt, until, reason }]);
    }
    case "failed": {
      const { error, result } = outcome;
      // Whoever fears that a gate fails may be wrong about it: that is found out, not believed.
      if (result && captured.ok && isPessimistic(result)) {
        return deliver(site, worked, captured.value, result);
      }
      return succeed([failed(worked, error, result && claimOf(result))]);
    }
    case "done": {
      const { result, model, left = 0 } = outcome;
      if (captured.ok) return deliver(site, { ...worked, left }, captured.value, result, model);
      const message = `what it left cannot be taken up: ${captured.failure.message}`;
      return succeed([failed(worked, { type: "task_incomplete", message }, claimOf(result))]);
    }
  }
}

async function deliver(
  site: RunSite,
  worked: Worked,
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

const claimOf = (result: AgentResult): Claim => ({
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

const failed = ({ phase, attempt }: Worked, error: PhaseError, claim?: Claim): RunEvent => ({
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
  { phase, attempt, base, scratch, git }: Worked,
): Promise<Result<Captured>> {
  const tree = await captureTree(git, path.join(scratch, "index"));
  if (!tree.ok) return tree;
  const changes = await changesBetween(git, base, tree.value);
  if (!changes.ok) return changes;
  const planFiles = new Set(Object.keys(site.run().planFiles));
  const discard = changes.value.filter(({ path: file }) => isOurs(file) || planFiles.has(file));
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
  const named = await updateRefs(site.git, [
    { ref: attemptRef(site.id, phase, attempt), to: commit.value },
    { ref: `refs/heads/${attemptBranch(site.id, phase, attempt)}`, to: null },
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
