/**
 * From what an agent delivered to a commit that is ready to land: gathered, judged, and on record
 * with everything that was seen. The order is the promise: the tree is made, the gates run on
 * exactly it, the findings are judged, the evidence is stored, and only then is there a commit
 * that names it.
 */
import { fail, type Result, succeed } from "../core/failure.ts";
import { phaseNamed } from "../core/plan/edits.ts";
import type { Move } from "../core/plan/next-moves.ts";
import { commitMessage } from "../core/plan/phase-commit.ts";
import type { Phase } from "../core/plan/plan.ts";
import { type Delivery, type PlanRun, phaseOf } from "../core/plan/progress.ts";
import type { GateOutcome, RunEvent, RunPhase } from "../core/plan/run-event.ts";
import type { Performed } from "../core/plan/run-plan.ts";
import { isPlanFile } from "../core/plan/task-folder.ts";
import type { VerificationFinding } from "../core/verification/finding-table.ts";
import { errorFrom, isFailure, verify } from "../core/verification.ts";
import { commitTree, updateRefs } from "../git/objects.ts";
import { type Change, changesBetween } from "../git/trees.ts";
import { bite } from "./bite.ts";
import { candidateFor, planKey, type Ticks } from "./candidate.ts";
import { type HookRun, hookedMessage, runCommitHooks } from "./commit-hooks.ts";
import { evidenceRef, storeEvidence } from "./evidence.ts";
import { gatherFacts } from "./gather-facts.ts";
import { type GatesToRun, gatesFor, withSetup } from "./introduced-gates.ts";
import { type GateReceipt, runGates } from "./run-gates.ts";
import { attemptRef, landedRef, type RunSite, refused } from "./run-site.ts";
import { type Transcript, transcriptMark, transcriptOf } from "./transcript.ts";

type VerifyMove = Extract<Move, { do: "verify" | "land" }>;

export async function verifyPhase(
  site: RunSite,
  { phase, slot }: VerifyMove,
  run: PlanRun,
): Promise<Performed> {
  const state = phaseOf(run, phase)?.state;
  if (state?.is !== "delivered") throw new Error(`phase ${phase} has delivered nothing`);
  const events = await verifyDelivery(site, phase, run, { ...state, slot });
  return events.ok ? { is: "done", events: events.value } : refused(events);
}

/**
 * One at a time. What was verified on top of another tip is merged and checked again first; the
 * verdict is on record before the ref moves, so that a crash in between finds the very commit.
 */
export async function landPhase(
  site: RunSite,
  { phase, slot }: VerifyMove,
  run: PlanRun,
): Promise<Performed> {
  const state = phaseOf(run, phase)?.state;
  if (state?.is !== "verified") throw new Error(`phase ${phase} is not verified`);
  const { attempt, check } = state;
  if (check.onto !== run.tip) {
    const again = await verifyDelivery(site, phase, run, { ...state, slot });
    return again.ok ? { is: "done", events: again.value } : refused(again);
  }
  const landed = await updateRefs(site.git, [
    { ref: landedRef(run.id), to: check.commit },
    { ref: attemptRef(run.id, phase, attempt), to: null },
    ...(check.evidence === undefined
      ? []
      : [{ ref: evidenceRef(check.evidence), to: check.evidence }]),
  ]);
  if (!landed.ok) return refused(landed);
  return { is: "done", events: [{ type: "phase-landed", phase, attempt, commit: check.commit }] };
}

async function verifyDelivery(
  site: RunSite,
  phase: string,
  run: PlanRun,
  delivery: Delivery,
): Promise<Result<RunEvent[]>> {
  const transcript = transcriptOf(site, phase, delivery.attempt);
  try {
    transcript.add(`${transcriptMark} what it left is verified`);
    const events = await judged(site, phase, run, { ...delivery, transcript });
    for (const line of events.ok ? events.value.flatMap(verdict) : []) transcript.add(line);
    return events;
  } finally {
    transcript.end();
  }
}

const verdict = (event: RunEvent): string[] => {
  if (event.type === "phase-verified") return [`${transcriptMark} verified`];
  if (event.type === "attempt-conflicted") {
    return [`${transcriptMark} collides with what has landed in ${event.files.join(", ")}`];
  }
  if (event.type !== "attempt-failed") return [];
  const { error, findings = [] } = event;
  return [
    `${transcriptMark} ${error.type}: ${error.message}`,
    ...findings
      .filter(({ message }) => message !== error.message)
      .map(({ level, message }) => `${transcriptMark} ${level}: ${message}`),
  ];
};

interface Subject extends Delivery {
  /** Where everything goes that hooks and gates print. */
  readonly transcript: Transcript;
}

async function judged(
  site: RunSite,
  phase: string,
  run: PlanRun,
  delivery: Subject,
): Promise<Result<RunEvent[]>> {
  const { attempt, claim } = delivery;
  const prepared = await prepare(site, phase, run, delivery);
  if (!prepared.ok) return prepared;
  if (prepared.value === "stopped") return succeed([]);
  if ("conflicts" in prepared.value) {
    const files = prepared.value.conflicts;
    return succeed([{ type: "attempt-conflicted", phase, attempt, files }]);
  }
  const examined = await examine(site, run, delivery, prepared.value);
  if (!examined.ok) return examined;
  // It stays delivered: the next session checks it, and no agent has to work again.
  if (examined.value === "stopped") return succeed([]);
  const { findings, outcomes, printed } = examined.value;
  const error = errorFrom(findings, [...failedTests(outcomes), printed].join("\n"));
  if (error) {
    const told = { gates: outcomes, findings: findings.map(recorded), claim };
    return succeed([{ type: "attempt-failed", phase, attempt, error: { ...error }, ...told }]);
  }
  return readyToLand(site, run, delivery, prepared.value, examined.value);
}

/** The tree that would be committed, as the user's hooks leave it. */
interface Prepared {
  readonly phase: string;
  readonly asked: RunPhase;
  readonly planned: Phase;
  readonly onto: string;
  readonly at: string;
  readonly tree: string;
  readonly ticks: Ticks;
  readonly hooked: HookRun;
  /** Without what names the evidence: that is known only afterwards. */
  readonly message: string;
  /** Under a name of its own, to be checked. */
  readonly commit: string;
  /** Without the plan's own files. */
  readonly changes: readonly Change[];
}

async function prepare(
  site: RunSite,
  phase: string,
  run: PlanRun,
  delivery: Subject,
): Promise<Result<Prepared | { conflicts: string[] } | "stopped">> {
  const { uuid, claim, slot, transcript } = delivery;
  const onto = run.tip;
  const asked = run.order.find(({ id }) => id === phase);
  const planned = phaseNamed(site.plan().compiled.plan, phase);
  if (!asked || !planned) return fail("no-such-phase", `there is no phase ${phase} in ${run.plan}`);
  const candidate = await candidateFor(site, phase, run, delivery);
  if (!candidate.ok) return candidate;
  if ("conflicts" in candidate.value) return succeed(candidate.value);
  const { ticks } = candidate.value;
  const at = site.project.world.now();
  const message = commitMessage(claim.message, asked, { run: run.id, attempt: uuid });
  const log = site.showing.phaseLog(phase);
  // First: they may change the tree, and everything else is about the one that they leave.
  const written = { tree: candidate.value.tree, message };
  const about = { phase, slot, onto, at, log, transcript };
  const hooked = await runCommitHooks(site, run, { ...about, ...written });
  if (!hooked.ok) return hooked;
  if (hooked.value.stopped) return succeed("stopped");
  const { tree } = hooked.value;
  const draft = { tree, parent: onto, at, by: site.identity };
  const commit = await commitTree(site.git, {
    ...draft,
    message: `Phase ${phase}, to be checked\n`,
  });
  if (!commit.ok) return commit;
  const changed = await changesBetween(site.git, onto, commit.value);
  if (!changed.ok) return changed;
  const changes = changed.value.filter(({ path: file }) => !isPlanFile(run, file));
  const named = { phase, asked, planned, onto, at, tree, ticks, message };
  return succeed({ ...named, hooked: hooked.value, commit: commit.value, changes });
}

interface Examined {
  readonly findings: readonly VerificationFinding[];
  readonly outcomes: GateOutcome[];
  readonly receipts: readonly GateReceipt[];
  readonly gates: GatesToRun;
  /** The end of what a failing gate printed. */
  readonly printed: string;
}

async function examine(
  site: RunSite,
  run: PlanRun,
  { claim, slot, traces, transcript }: Subject,
  { phase, planned, onto, tree, commit, changes, hooked }: Prepared,
): Promise<Result<Examined | "stopped">> {
  const subject = { planned, claim, onto, commit, changes };
  const gathered = await gatherFacts(site, run, subject, traces);
  if (!gathered.ok) return gathered;
  const gates = await gatesFor(site, run, { commit, changes });
  if (!gates.ok) return gates;
  const checking = withSetup(site, run, gates.value.setup);
  const log = site.showing.phaseLog(phase);
  const told = { log, transcript };
  const ran = await runGates(checking, run, { phase, slot, commit, ...told, ...gates.value });
  if (!ran.ok) return ran;
  if (ran.value.stopped) return succeed("stopped");
  const outcomes = [...ran.value.outcomes, ...(hooked.outcome ? [hooked.outcome] : [])];
  const facts = { ...gathered.value, gates: outcomes };
  const findings = verify(facts);
  const { receipts, output } = ran.value;
  const examined = { outcomes, receipts, gates: gates.value, printed: output || hooked.output };
  if (findings.some(isFailure)) return succeed({ ...examined, findings });
  const testGates = outcomes.filter(({ tests }) => tests).map(({ name }) => name);
  const bitten = await bite(checking, run, {
    ...gates.value,
    phase,
    slot,
    transcript,
    onto,
    tree,
    changes,
    files: facts.changes,
    testGates: new Set(testGates.length > 0 ? testGates : ["test"]),
  });
  if (!bitten.ok) return bitten;
  if (bitten.value === "stopped") return succeed("stopped");
  return succeed({ ...examined, findings: [...findings, ...bitten.value] });
}

/** With the evidence stored, and a commit that names it. */
async function readyToLand(
  site: RunSite,
  run: PlanRun,
  { attempt, uuid, claim }: Delivery,
  { phase, asked, onto, at, tree, ticks, changes, hooked, message: given }: Prepared,
  { findings, outcomes, receipts, gates }: Examined,
): Promise<Result<RunEvent[]>> {
  const notes = findings.map(recorded);
  const seen = { phase, attempt: uuid, onto, tree, at, claim, findings: notes };
  const evidence = await storeEvidence(site, run, { ...seen, outcomes, receipts });
  if (!evidence.ok) return evidence;
  const trailers = { run: run.id, attempt: uuid, evidence: evidence.value };
  const message =
    hooked.message === given
      ? commitMessage(claim.message, asked, trailers)
      : hookedMessage(hooked.message, asked, trailers);
  const commit = await commitTree(site.git, {
    tree,
    parent: onto,
    message,
    at,
    by: site.identity,
  });
  if (!commit.ok) return commit;
  const { introduced, setup } = gates;
  return succeed([
    {
      type: "phase-verified",
      phase,
      attempt,
      onto,
      commit: commit.value,
      message,
      ...filesOf(changes),
      gates: outcomes,
      ...(notes.length > 0 && { findings: notes }),
      ...(introduced.length > 0 && { introduced: [...introduced] }),
      ...(setup !== undefined && { setup }),
      evidence: evidence.value,
      planFrom: planKey(run),
      ...ticks,
    },
  ]);
}

/** The kind of a gate's failure is in the error itself. */
const recorded = ({ code, level, message, file, line }: VerificationFinding) => ({
  code,
  level,
  message,
  ...(file !== undefined && { file }),
  ...(line !== undefined && { line }),
});

/** By name: the end of what a runner prints seldom holds all of them. */
function failedTests(outcomes: readonly GateOutcome[]): string[] {
  return outcomes
    .filter(({ passed }) => passed === false)
    .flatMap(({ failures = [] }) => {
      const more = failures.length - mostTold;
      return [
        ...failures.slice(0, mostTold).map((failure) => `failed: ${failure}`),
        ...(more > 0 ? [`… and ${more} more`] : []),
      ];
    });
}
const mostTold = 20;

function filesOf(changes: readonly Change[]): {
  created: string[];
  modified: string[];
  deleted: string[];
} {
  const paths = (is: (change: Change) => boolean): string[] =>
    changes.filter(is).map((each) => each.path);
  return {
    created: paths(({ old }) => old === null),
    modified: paths(({ old, now }) => old !== null && now !== null),
    deleted: paths(({ now }) => now === null),
  };
}
