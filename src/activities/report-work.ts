/**
 * What somebody who came for work says of it: that he is still at it, where he is, how it ended. It is
 * on record before anything follows from it. Of what is not his any more nothing is believed, but
 * what lies in his work tree is kept.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { currentRun } from "../core/evolve.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { SaidSubStep } from "../core/flow/reported.ts";
import type { Lease, LeaseName } from "../core/lease.ts";
import type { Message } from "../core/message.ts";
import { lentBy, type PlanRun, phaseOf } from "../core/plan/progress.ts";
import type { AgentResult } from "../core/plan/result.ts";
import { openGit } from "../git/call.ts";
import { identityOf, updateRefs } from "../git/objects.ts";
import { ofLease } from "./hear.ts";
import type { Held, Project } from "./hold.ts";
import { withoutSecrets } from "./keep-secrets.ts";
import { saidSubStep } from "./lend-skill.ts";
import { keepWorkTree, removeLent } from "./recover.ts";
import { attemptBranch, foldersOf, lateRef } from "./run-site.ts";
import { recordRun } from "./show-run.ts";

type OfPhase = Extract<LeaseName, { of: "phase" }>;
type OfStep = Extract<LeaseName, { of: "step" }>;

export async function takeReport(
  project: Project,
  held: Held,
  name: LeaseName,
  { result, by }: { readonly result: AgentResult; readonly by: string },
): Promise<Result<void>> {
  const at = project.world.now();
  if (name.of === "phase")
    return sayOfPhase(project, held, name, { say: "report", result, by, at });
  const lease = leaseOfStep(held, name);
  if (!lease.ok) return lease;
  const { session, epoch } = name;
  const recorded = await held.record({ type: "skill-reported", session, epoch, result });
  return recorded.ok ? succeed(undefined) : recorded;
}

/** He is still at it; of a skill also where. */
export async function renewLease(
  project: Project,
  held: Held,
  name: LeaseName,
  { until, by, said }: { readonly until: string; readonly by: string; readonly said?: SaidSubStep },
): Promise<Result<void>> {
  const at = project.world.now();
  if (name.of === "phase") return sayOfPhase(project, held, name, { say: "renew", until, by, at });
  const lease = leaseOfStep(held, name);
  if (!lease.ok) return lease;
  const sub = said ? saidSubStep(project, held.state, withoutSecrets(said)) : succeed([]);
  if (!sub.ok) return sub;
  const { notes = [], confirmed } = held.state.course?.session ?? {};
  const recorded = await held.record(...sub.value, {
    type: "skill-leased",
    session: name.session,
    lease: { ...lease.value, until },
    notes: [...notes],
    ...(confirmed !== undefined && { confirmed }),
  });
  return recorded.ok ? succeed(undefined) : recorded;
}

// ── a phase ────────────────────────────────────────────────────────────────────────────────────

type Saying = Extract<Message, { say: "report" | "renew" }>;
type Said = Saying extends infer Each
  ? Each extends Saying
    ? Omit<Each, "run" | "phase" | "attempt" | "epoch">
    : never
  : never;

async function sayOfPhase(
  project: Project,
  held: Held,
  name: OfPhase,
  said: Said,
): Promise<Result<void>> {
  const run = held.state.runs?.[name.run];
  if (!run) {
    return fail("lease-lost", `there is no run ${name.run} here: nothing of it can be reported`, {
      hint: "call next for what is to be done now",
    });
  }
  const isCurrent = currentRun(held.state)?.id === run.id;
  const { phase, attempt, epoch } = name;
  const message = { ...said, run: run.id, phase, attempt, epoch } as Saying;
  const events = isCurrent ? ofLease(run, message) : "";
  if (typeof events === "string") return late(project, held, run, name, said.say === "report");
  const recorded = await recordRun(held, run.id, events);
  return recorded.ok ? succeed(undefined) : recorded;
}

/** Nothing of it is believed, and nothing is lost. */
async function late(
  project: Project,
  held: Held,
  run: PlanRun,
  name: OfPhase,
  hasEnded: boolean,
): Promise<Result<never>> {
  const { phase, attempt, epoch } = name;
  const progress = phaseOf(run, phase);
  const written = run.order.find(({ id }) => id === phase)?.written ?? phase;
  const kept = await keepLate(project, held, run, name, hasEnded);
  if (!kept.ok) return kept;
  const where =
    kept.value === undefined ? "" : `; what lies in your work tree is kept at ${kept.value}`;
  const hint = "call next for what is to be done now";
  return fail("lease-lost", `${whyLate(run, written, progress, attempt, epoch)}${where}`, { hint });
}

function whyLate(
  run: PlanRun,
  written: string,
  progress: ReturnType<typeof phaseOf>,
  attempt: number,
  epoch: number,
): string {
  if (run.aside !== undefined)
    return `the run of ${run.plan} was set aside, and phase ${written} with it`;
  if (!progress) return `there is no phase ${written} in ${run.plan} any more`;
  const { state, attempts } = progress;
  if (attempt > attempts) return `nobody was ever given attempt ${attempt} at phase ${written}`;
  if (state.is === "landed" && state.attempt === attempt)
    return `phase ${written} was reported before, and has landed as ${state.landed.slice(0, 10)}`;
  if ("attempt" in state && state.attempt === attempt) {
    if (state.is !== "working" || state.report)
      return `phase ${written} was reported before, and is being looked at`;
    if (!state.lease) return `attempt ${attempt} at phase ${written} is not with anybody`;
    if (state.lease.epoch > epoch) return `phase ${written} is with ${state.lease.by} now`;
    return `lease ${epoch} of phase ${written} was never given`;
  }
  return `attempt ${attempt} at phase ${written} is over; its lease had ended`;
}

/** Where it is kept; undefined: there is nothing that would be lost. */
async function keepLate(
  project: Project,
  held: Held,
  run: PlanRun,
  { phase, attempt, epoch }: OfPhase,
  hasEnded: boolean,
): Promise<Result<string | undefined>> {
  const { repository, root, world } = project;
  if (!repository) return succeed(undefined);
  const git = openGit({ ...repository, workTree: repository.root });
  const lent = lentBy(run).find((each) => each.phase === phase && each.attempt === attempt);
  const folders = foldersOf(root, git.place.commonDir, "");
  const { attempts } = foldersOf(lent?.root ?? root, "", "");
  const folder = path.join(attempts, `${run.id}-${phase}-${attempt}`);
  if (!fs.existsSync(folder)) return succeed(undefined);
  const ref = lateRef(run.id, phase, attempt, epoch);
  const identity = await identityOf(git);
  const kept = await keepWorkTree(
    { git, run, folders, identity, now: world.now },
    { id: phase, attempt, folder, base: lent?.base, ref },
  );
  if (!kept.ok) return kept;
  const progress = phaseOf(run, phase);
  const isInUse = progress?.state.is === "working" && progress.state.attempt === attempt;
  if (hasEnded && !isInUse && lent) {
    const back = { type: "lent-tree-kept" as const, phase, attempt };
    const recorded = await recordRun(held, run.id, [
      { ...back, ...(kept.value !== undefined && { ref: kept.value }) },
    ]);
    if (!recorded.ok) return recorded;
    // Only now: half of it removed would be all that is kept the next time.
    await removeLent(git, folder);
    await updateRefs(git, [
      { ref: `refs/heads/${attemptBranch(run.id, phase, attempt)}`, to: null },
    ]);
  }
  return succeed(kept.value);
}

// ── a step ─────────────────────────────────────────────────────────────────────────────────────

function leaseOfStep({ state }: Held, { session, epoch }: OfStep): Result<Lease> {
  const { flow, course } = state;
  const now = course?.session;
  const hint = "call next for what is to be done now";
  if (now?.number !== session) {
    const past = session <= (course?.sessions ?? 0);
    const why = past ? "is over" : "was never begun";
    return fail("lease-lost", `session ${session} ${why}; what it wrote lies below _docs/`, {
      hint,
    });
  }
  const where = `step ${flow?.step} ${flow?.name}`;
  if (course?.rollingBack) {
    return fail("lease-lost", `${where} is rolled back: what you wrote is not looked at`, { hint });
  }
  if (!now.lease) return fail("lease-lost", `${where} is not with anybody`, { hint });
  if (now.lease.epoch !== epoch) {
    const why =
      now.lease.epoch > epoch ? `is with ${now.lease.by} now` : "was never given so often";
    return fail("lease-lost", `${where} ${why}; what you wrote lies below _docs/`, { hint });
  }
  if (now.report || now.ended) return fail("lease-lost", `${where} was reported before`, { hint });
  return succeed(now.lease);
}
