/**
 * Reporting work. A report is on record before it is looked at: by us, or by whoever holds the project;
 * then we watch what comes of it, and carry it on ourselves if he dies over it.
 */
import type { RecordedEvent } from "../core/event.ts";
import { type Failure, fail, type Result } from "../core/failure.ts";
import type { SaidSubStep } from "../core/flow/reported.ts";
import { type LeaseName, readLeaseName } from "../core/lease.ts";
import { phaseOf } from "../core/plan/progress.ts";
import { AgentResult } from "../core/plan/result.ts";
import {
  eventsOf,
  leaseEnd,
  openProject,
  type Project,
  readState,
  renewWork,
  reportWork,
  say,
  withFlows,
  withoutSecrets,
} from "../project.ts";
import { type Answer, failed, refusedWith } from "./answer.ts";
import { type Caller, peopleFor } from "./caller.ts";
import { type Judged, tellPhase, tellReport } from "./verdicts.ts";

/** As a tool gets it: what is left out is what it would be in most cases. */
export interface Said extends Omit<AgentResult, "phase_id" | "error" | "tasks" | "plan_updated"> {
  readonly lease: string;
  readonly tasks?: AgentResult["tasks"] | undefined;
  readonly error?: { readonly type: string; readonly message: string } | null | undefined;
}

export async function reportBack(caller: Caller, { lease, ...claim }: Said): Promise<Answer> {
  const name = readLeaseName(lease);
  if (!name) return failed(notALease(lease));
  const known = withFlows(openProject(caller.cwd));
  if (!known.ok) return failed(known.failure);
  const project = known.value;
  const result = AgentResult.parse({
    // Before it is on record, or told to whoever holds the project.
    ...withoutSecrets(claim),
    phase_id: name.of === "phase" ? name.phase : stepNow(project),
    tasks: claim.tasks ?? wholePhase(project, name),
  });
  const judged: Judged = {};
  const people = peopleFor(
    caller,
    false,
    () => undefined,
    (events) => {
      for (const event of events) if (event.type === "skill-ended") judged.session = event;
    },
  );
  let said: AgentResult | "on record" = result;
  for (;;) {
    const reported = await reportWork(project, name, said, people);
    if (reported.ok) return tellReport(reported.value, name, judged);
    if (reported.failure.code !== "locked" || caller.signal.aborted)
      return failed(reported.failure);
    if (name.of === "step") return failed(busy(reported.failure));
    const heard = said === "on record" ? "gone" : await sayToHolder(project, caller, name, said);
    if (typeof heard === "object") return heard;
    // Whoever held it has gone: what he had put on record is ours to carry on, and else to report.
    if (wasTaken(project, name)) said = "on record";
    else await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

type PhaseLease = Extract<LeaseName, { of: "phase" }>;

/** A run is under way in another process: it takes the report up, and we watch what it makes of it. */
async function sayToHolder(
  project: Project,
  caller: Caller,
  name: PhaseLease,
  result: AgentResult,
): Promise<Answer | "gone"> {
  const { of: _, ...leased } = name;
  const { by } = caller.puller;
  const message = { say: "report" as const, ...leased, result, by, at: project.world.now() };
  const said = await say(project, message, patienceMs);
  if (!said.ok) return failed(said.failure);
  if (said.value.is === "nobody") return "gone";
  const holder = said.value.by;
  if (said.value.is === "unheard") {
    return refusedWith(
      `process ${holder.pid} (${holder.command}) holds the project and does not answer; nothing was reported.`,
      "Your work is safe where it lies: call report again in a minute.",
    );
  }
  if (!wasTaken(project, name)) {
    return refusedWith(
      `lease-lost: phase ${name.phase} is no longer yours; process ${holder.pid} has not taken your report.`,
      "Your files stay where they are: report once more when that process has ended, and they are kept under a ref.",
      "Call next for what is to be done now.",
    );
  }
  caller.progress(`process ${holder.pid} looks at it`);
  for (;;) {
    const state = readState(project);
    const found = state.ok ? state.value.runs?.[name.run] : undefined;
    const phase = found && phaseOf(found, name.phase);
    const isUnderWay =
      phase &&
      "attempt" in phase.state &&
      phase.state.attempt === name.attempt &&
      phase.state.is !== "landed";
    if (found && !isUnderWay) return tellPhase(found, name.phase, name.attempt);
    if (caller.signal.aborted) return refusedWith("stopped waiting; the report is on record.");
    const now = project.store.holder();
    if (now?.pid !== holder.pid || now.since !== holder.since) return "gone";
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
  }
}

/** A report of this very lease is on record. */
const wasTaken = (project: Project, { run, phase, attempt, epoch }: PhaseLease): boolean =>
  isOnRecord(
    project,
    (event) =>
      event.type === "attempt-reported" &&
      event.run === run &&
      event.phase === phase &&
      event.attempt === attempt &&
      event.epoch === epoch,
  );

function isOnRecord(project: Project, isIt: (event: RecordedEvent) => boolean): boolean {
  const reading = project.store.read({ whole: true });
  return reading.ok && reading.value.after.flatMap(eventsOf).some(isIt);
}

const patienceMs = 10_000;
const lookEveryMs = 250;

const busy = ({ message }: Failure): Failure =>
  fail("locked", message, {
    hint: "your work is safe where it lies: call report again in a minute",
  }).failure;

const notALease = (lease: string): Failure =>
  fail("lease-lost", `"${lease.slice(0, 80)}" is no lease`, {
    hint: "pass on the lease that next has given, as it stands",
  }).failure;

/** Whoever says no number of tasks speaks of all. */
function wholePhase(project: Project, name: LeaseName): { total: number; completed: number } {
  const state = name.of === "phase" ? readState(project) : undefined;
  const run = name.of === "phase" && state?.ok ? state.value.runs?.[name.run] : undefined;
  const total = run?.order.find(({ id }) => name.of === "phase" && id === name.phase)?.tasks ?? 0;
  return { total, completed: total };
}

const stepNow = (project: Project): string => {
  const state = readState(project);
  return (state.ok && state.value.flow?.step) || "0";
};

// ── still at it ────────────────────────────────────────────────────────────────────────────────

export async function stillAtIt(
  caller: Caller,
  lease: string,
  said: SaidSubStep | undefined,
): Promise<Result<string>> {
  const name = readLeaseName(lease);
  if (!name) return { ok: false, failure: notALease(lease) };
  const known = withFlows(openProject(caller.cwd));
  if (!known.ok) return known;
  const project = known.value;
  const renewed = await renewWork(project, name, said, caller.puller);
  if (renewed.ok || renewed.failure.code !== "locked" || name.of === "step") return renewed;
  const until = leaseEnd(project);
  if (!until.ok) return until;
  const { of: _, ...leased } = name;
  const { by } = caller.puller;
  const words = { until: until.value, by, at: project.world.now() };
  const heard = await say(project, { say: "renew", ...leased, ...words }, patienceMs);
  if (!heard.ok) return heard;
  if (heard.value.is !== "heard") return renewed;
  const isHis = isOnRecord(
    project,
    (event) =>
      event.type === "attempt-leased" &&
      event.run === name.run &&
      event.phase === name.phase &&
      event.lease.epoch === name.epoch &&
      event.lease.until === until.value,
  );
  return isHis
    ? until
    : fail("lease-lost", `phase ${name.phase} is no longer yours`, {
        hint: "report it all the same: your files are kept; then call next",
      });
}
