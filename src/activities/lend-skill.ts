/**
 * A session of a flow whose agent we have not started: somebody comes for it, works by the skill in
 * the user's own tree, and reports. It is judged by what lies there then, like any other.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Event } from "../core/event.ts";
import type { ProjectState } from "../core/evolve.ts";
import { type Result, succeed } from "../core/failure.ts";
import type { SkillWork } from "../core/flow/next-move.ts";
import { heardSubStep, type SaidSubStep } from "../core/flow/reported.ts";
import { hostAgent, leaseAfter, leaseName } from "../core/lease.ts";
import { type AgentResult, failureSaid } from "../core/plan/result.ts";
import { keepOutOfGit, writeOwn } from "./attempt-phase.ts";
import { findSkill } from "./find-skill.ts";
import { type FlowSite, recordFlow, sessionTranscript } from "./flow-site.ts";
import type { Project } from "./hold.ts";
import { briefPrefix, forgetBriefs } from "./recover.ts";
import type { Pull } from "./run-site.ts";
import {
  endOf,
  guardTree,
  judgeWork,
  notesFor,
  openWork,
  skillBrief,
  skillStarted,
} from "./run-skill.ts";
import { openTranscript, transcriptMark } from "./transcript.ts";
import { marksBefore } from "./untouched.ts";

export async function lendSkill(
  site: FlowSite,
  { puller, lent }: Pull,
  work: SkillWork,
): Promise<Result<Event[]>> {
  const begun = await openWork(site, work);
  if (!begun.ok) return begun;
  const { skill, state, position, suite } = begun.value;
  const { step, session } = work;
  const { root, world } = site.project;
  const workers = await site.workers();
  if (!workers.ok) return workers;
  const started = work.lease
    ? succeed(undefined)
    : await recordFlow(site, [skillStarted(work, hostAgent)]);
  if (!started.ok) return started;
  const briefFile = path.join(root, ".autodev", "var", `${briefPrefix}${session}.md`);
  keepOutOfGit(path.dirname(briefFile));
  // Marked before he begins; the mark of the same session is the first one, whoever goes on with it.
  const guard = await guardTree(site, session);
  if (!guard.ok) return guard;
  if (skill.writes === "nothing") marksBefore(site, position);
  fs.mkdirSync(path.join(root, "_docs"), { recursive: true });
  const notes = work.lease ? work.notes : notesFor(site, work, suite);
  const until = new Date(Date.parse(world.now()) + site.leaseMs).toISOString();
  const lease = leaseAfter(work.lease, puller, until);
  const name = leaseName({ of: "step", session, epoch: lease.epoch });
  const told = { goesOn: work.lease !== undefined, fetched: { lease: name, folder: root } };
  const brief = skillBrief(site, { ...work, notes }, { skill, state }, told);
  const transcript = openTranscript(sessionTranscript(site, session));
  transcript.add(
    `${transcriptMark} attempt ${session} at phase ${step.step}, fetched by ${lease.by}`,
  );
  for (const line of brief.trimEnd().split("\n")) transcript.add(line);
  transcript.end();
  writeOwn(briefFile, brief);
  const what = `step ${step.step} ${step.name}`;
  lent({ lease: name, until, what, folder: root, brief, briefFile });
  return succeed([
    {
      type: "skill-leased",
      session,
      lease,
      notes: [...notes],
      ...(suite && { confirmed: suite.config?.confirmed === true }),
    },
  ]);
}

/** He says that he has ended. */
export async function judgeReport(
  site: FlowSite,
  work: SkillWork,
  report: AgentResult,
): Promise<Result<Event[]>> {
  const begun = await openWork(site, work);
  if (!begun.ok) return begun;
  const { skill, position } = begun.value;
  const { lease, confirmed = false } = site.held.state.course?.session ?? {};
  const by = lease?.by ?? hostAgent;
  const transcript = openTranscript(sessionTranscript(site, work.session));
  transcript.add(`${transcriptMark} ${by} has reported: ${report.status}`);
  transcript.end();
  const guard = await guardTree(site, work.session);
  if (!guard.ok) return guard;
  forgetBriefs(site.project.root);
  const before = skill.writes === "nothing" ? marksBefore(site, position) : undefined;
  const outcome =
    report.status === "complete"
      ? { is: "done" as const, result: report }
      : failureSaid(by, report);
  return judgeWork(site, work, begun.value, {
    end: endOf(outcome),
    guard: guard.value,
    before,
    wasConfirmed: confirmed,
  });
}

/** Where he says that he is in the skill; none: it is no news. */
export function saidSubStep(
  { root }: Project,
  { flow, course }: ProjectState,
  said: SaidSubStep,
): Result<Event[]> {
  const { skill, mode } = course?.session ?? {};
  if (!flow || skill === undefined) return succeed([]);
  const found = findSkill(root, skill, mode);
  if (!found.ok) return found;
  const subStep = heardSubStep(said, flow.subStep, found.value.phases);
  return succeed(subStep ? [{ type: "sub-step-reported", subStep }] : []);
}
