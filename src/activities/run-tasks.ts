/**
 * The tasks of a step, as a plan run of their own: each is done by its own agent, verified by our
 * gates, landed as one commit that also moves its file to `done/`. What is told of it on the way (the
 * batch that is at work, a report for each that is over) is on record first and in files then.
 */
import type { Event } from "../core/event.ts";
import { type Result, succeed } from "../core/failure.ts";
import { sentenceOf, textsOf, unmetBy } from "../core/flow/contract.ts";
import { afterTasks } from "../core/flow/judge.ts";
import type { FlowMove } from "../core/flow/next-move.ts";
import {
  type Batch,
  batchFile,
  batchReport,
  batchReported,
  batchWords,
  dueBatches,
  highestBatch,
  implementationReport,
  landedIn,
  noTasksYet,
  reportFile,
  reviewFile,
  slugOf,
  troubleOf,
  type Verdict,
  verdictIn,
} from "../core/flow/tasks.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import { documentAt } from "./docs-tree.ts";
import { findSkill } from "./find-skill.ts";
import { taskFacts } from "./flow-facts.ts";
import { type FlowSite, recordFlow } from "./flow-site.ts";
import { survey } from "./survey.ts";

type Running = Extract<FlowMove, { is: "run-tasks" }>;
type Reporting = Extract<FlowMove, { is: "report-tasks" }>;

export async function runTasks(
  site: FlowSite,
  { step, runs, under }: Running,
): Promise<Result<Event[]>> {
  const telling = tellingOf(site, runs.tasks);
  const built = await site.build({ plan: `_docs/${runs.tasks}`, under }, telling.heard);
  const told = await telling.end();
  if (!built.ok) return built;
  if (!told.ok) return told;
  const { run, asking } = built.value;
  if (run.ended === "stopped" && site.isFinishing?.()) return succeed([]);
  switch (run.ended) {
    case "asking": {
      const [failure] = asking;
      if (!failure) throw new Error(`run ${run.id} asks nothing`);
      return { ok: false, failure };
    }
    case "parked":
      // Somebody who came for it has a task of it now: that is no reason for him to wait.
      if (site.pull) return succeed([]);
      return succeed([
        { type: "tasks-ran", how: "parked", ...(run.parkedUntil && { until: run.parkedUntil }) },
      ]);
    // Somebody asked us to stop: that is seen by whoever decides what comes next.
    case "interrupted":
      return succeed([]);
    case "halted":
      return succeed(afterTasks(site.held.state, { is: "halted", step, trouble: troubleOf(run) }));
    default:
      return succeed([{ type: "tasks-ran", how: "complete" }]);
  }
}

/** What is told while a run goes on: one thing after the other, each on record before the next. */
function tellingOf(
  site: FlowSite,
  tasks: string,
): { heard(run: PlanRun): void; end(): Promise<Result<void>> } {
  let turn: Promise<Result<void>> = Promise.resolve(succeed(undefined));
  let last = "";
  const tell = async (run: PlanRun): Promise<Result<void>> => {
    const { flow, course } = site.held.state;
    const { batches } = course?.tasks ?? noTasksYet;
    const due = dueBatches(run, batches, taskFacts(site.project.root, tasks));
    if (due.length > 0) {
      const docs = survey(site.project.root, site.flows).docs?.keys() ?? [];
      const number = 1 + Math.max(highestBatch(docs), ...batches.map((each) => each.number));
      const fresh = due.map((each, index): Batch => ({ number: number + index, tasks: each }));
      const recorded = await recordFlow(site, fresh.map(batchReported));
      if (!recorded.ok) return recorded;
      const written = await writeBatches(site, fresh);
      if (!written.ok) return written;
    }
    const detail = batchWords(run, site.held.state.course?.tasks?.batches ?? []);
    if (flow?.subStep.name === batchLoop.name && flow.subStep.detail === detail)
      return succeed(undefined);
    return recordFlow(site, [{ type: "sub-step-reported", subStep: { ...batchLoop, detail } }]);
  };
  return {
    heard(run) {
      // Only what lands or begins changes the picture.
      const now = `${run.landed.length} ${run.ended ?? ""} ${run.order.length}`;
      if (now === last) return;
      last = now;
      turn = turn.then((before) => (before.ok ? tell(run) : before));
    },
    end: () => turn,
  };
}

/** As the skill numbers its phases. */
const batchLoop = { phase: 7, name: "batch-loop" } as const;

// ── what people read ───────────────────────────────────────────────────────────────────────────

export async function writeBatches(
  { held }: FlowSite,
  batches: readonly Batch[],
): Promise<Result<Event[]>> {
  for (const batch of batches) {
    const file = { path: `_docs/${batchFile(batch.number)}`, text: batchReport(batch) };
    const written = await held.write(file, { durable: true });
    if (!written.ok) return written;
  }
  return succeed([]);
}

/** Written from what is on record; whether that is all is judged by what lies there then. */
export async function reportTasks(
  site: FlowSite,
  { step, runs }: Reporting,
): Promise<Result<Event[]>> {
  const { held, project } = site;
  const { flow, course } = held.state;
  if (!flow) throw new Error("tasks are reported in no flow");
  const { batches } = course?.tasks ?? noTasksYet;
  const landed = landedIn(batches);
  const slug = slugOf(landed[0]?.task ?? "");
  const file = reportFile(runs.report, slug, flow.cycle);
  const text = implementationReport(
    slug.replaceAll("_", " "),
    batches,
    batches.flatMap(({ number }) => verdictOf(project.root, reviewFile(number))),
  );
  const written = await held.write({ path: `_docs/${file}`, text }, { durable: true });
  if (!written.ok) return written;
  const skill = findSkill(project.root, step.skill ?? "", step.mode);
  if (!skill.ok) return skill;
  const seen = survey(project.root, site.flows);
  const docs = seen.docs ?? new Map<string, number>();
  const time = { cycle: flow.cycle };
  const texts = new Map(
    textsOf(skill.value.produces, docs, time).flatMap((each) => {
      const inside = documentAt(project.root, each);
      return inside === undefined ? [] : [[each, inside] as const];
    }),
  );
  return succeed(
    afterTasks(held.state, {
      is: "reported",
      step,
      facts: taskFacts(project.root, runs.tasks),
      unmet: unmetBy(skill.value.produces, { docs, texts }, time).map(sentenceOf),
      survey: seen,
    }),
  );
}

function verdictOf(root: string, file: string): Verdict[] {
  const verdict = verdictIn(documentAt(root, file) ?? "");
  return verdict === undefined ? [] : [{ file, verdict }];
}
