/** A fleet's rows as every door tells them. */
import type { Decision } from "../../core/decision.ts";
import type { FleetTold, ToldDecision, ToldRun, ToldWorker } from "../../core/fleet/told.ts";
import type { RunRow } from "../../engines/postgres/rows/runs.ts";
import type { WorkerRow } from "../../engines/postgres/rows/workers.ts";
import type { FleetSeen } from "./watch.ts";

export const fleetTold = ({ paused, runs, workers, agents, load }: FleetSeen): FleetTold => ({
  version: 1,
  paused,
  runs: runs.map(runTold),
  workers: workers.map(workerTold),
  queue: [...load].map(([lane, tasks]) => ({ lane, tasks })),
  agents: agents.map((row) => ({
    agent: row.agent,
    atOnce: row.at_once,
    perMinute: row.per_minute,
    dollarsADay: row.dollars_a_day === null ? null : Number(row.dollars_a_day),
    limitedUntil: row.limited_until?.toISOString() ?? null,
    reason: row.reason,
  })),
});

const runTold = (row: RunRow): ToldRun => ({
  run: row.id,
  plan: row.plan,
  remote: row.remote,
  branch: row.target.replace(/^refs\/heads\//, ""),
  state: row.state,
  paused: row.paused,
  complete: row.progress.complete ?? 0,
  phases: row.progress.phases ?? 0,
  underWay: [...(row.progress.underWay ?? [])],
  waitsFor: row.waits ?? waitsFor(row),
  driver: row.holder ? `${row.holder.host} (${row.holder.pid})` : null,
  decisions: row.asking.map(decisionTold),
  error: row.outcome?.failure?.message ?? null,
  submittedBy: row.submitted.by,
  submittedAt: row.created_at.toISOString(),
});

const decisionTold = (decision: Decision): ToldDecision => ({
  id: decision.id,
  question: decision.question,
  options: decision.options.map(({ key, text, notes }) => ({
    key,
    text,
    ...(notes && { notes: [...notes] }),
  })),
  facts: [...(decision.facts ?? [])],
  warning: decision.warning ?? null,
  recommendation: decision.recommendation,
  reason: decision.reason,
  destructive: decision.destructive === true,
  blocks: decision.blocks,
  askedAt: decision.askedAt,
});

const workerTold = (worker: WorkerRow): ToldWorker => ({
  id: worker.id,
  host: worker.host,
  state: worker.state,
  jobs: worker.jobs,
  doing: [...worker.doing],
  agents: [...worker.capabilities.agents],
  labels: [...worker.capabilities.labels],
  os: worker.capabilities.os,
  memoryGb: worker.capabilities.memoryGb,
  version: worker.version,
  lane: worker.lane,
  since: worker.started_at.toISOString(),
  seen: worker.beat_at.toISOString(),
});

/** Whom a run waits for that rests. */
function waitsFor({ state, outcome, asking }: RunRow): string | null {
  switch (state) {
    case "waiting":
      return "a worker to drive it";
    case "asking":
      return `people: ${asking.length} ${asking.length === 1 ? "decision" : "decisions"}`;
    case "parked":
      return outcome?.until ?? "later";
    case "paused":
      return "autodev fleet resume";
    case "halted":
      return "people";
    default:
      return null;
  }
}
