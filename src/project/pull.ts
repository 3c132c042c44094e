/** Work for whoever comes for it: handed in, renewed. */
import { type Held, hold, type Project } from "../activities/hold.ts";
import { renewLease, takeReport } from "../activities/report-work.ts";
import { leaseMinutes, type Pull } from "../activities/run-site.ts";
import { type BuildOptions, intend } from "../activities/start-run.ts";
import { readConfig } from "../config.ts";
import { currentRun, type ProjectState } from "../core/evolve.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { SaidSubStep } from "../core/flow/reported.ts";
import type { FlowOutcome } from "../core/flow/run-flow.ts";
import type { LeaseName, Puller } from "../core/lease.ts";
import type { AgentResult } from "../core/plan/result.ts";
import { ourStart } from "../exec/process-table.ts";
import { type Built, buildHeld } from "./build.ts";
import { type FlowPeople, followFlow } from "./flow.ts";
import { openProject } from "./open.ts";

/**
 * Somebody who came for work says how it went: on record first, then looked at. `built`: of a phase,
 * how its run stands now; of a step, how the flow does.
 */
export async function reportWork(
  project: Project,
  name: LeaseName,
  result: AgentResult | "on record",
  people: FlowPeople & { readonly pull: Pull },
): Promise<Result<Reported>> {
  const { by } = people.pull.puller;
  const held = await hold(project, `autodev mcp (${by})`);
  if (!held.ok) return held;
  const taken =
    result === "on record"
      ? succeed(undefined)
      : await takeReport(project, held.value, name, { result, by });
  const done = taken.ok ? await carriedOn(project, held.value, name, people) : taken;
  const released = await held.value.release();
  return !done.ok || released.ok ? done : released;
}

export type Reported =
  | { readonly of: "phase"; readonly built: Built }
  | { readonly of: "step"; readonly outcome: FlowOutcome; readonly state: ProjectState };

async function carriedOn(
  project: Project,
  held: Held,
  name: LeaseName,
  people: FlowPeople,
): Promise<Result<Reported>> {
  if (name.of === "step") {
    const outcome = await followFlow(project, held, {}, people);
    return outcome.ok
      ? succeed({ of: "step", outcome: outcome.value, state: held.state })
      : outcome;
  }
  const run = held.state.runs?.[name.run];
  if (!run || currentRun(held.state)?.id !== run.id)
    return fail("lease-lost", `run ${name.run} is not under way any more`, {
      hint: "call next for what is to be done now",
    });
  const { plan, mode, under } = run;
  const options: BuildOptions = { plan, ...(under !== undefined && { under }) };
  const intended = intend(project.root, project.root, options);
  if (!intended.ok) return intended;
  const built = await buildHeld(project, held, { ...intended.value, mode }, options, people);
  return built.ok ? succeed({ of: "phase", built: built.value }) : built;
}

/** He is still at it; of a skill also where. */
export async function renewWork(
  project: Project,
  name: LeaseName,
  said: SaidSubStep | undefined,
  { by }: Puller,
): Promise<Result<string>> {
  const until = leaseEnd(project);
  if (!until.ok) return until;
  const held = await hold(project, `autodev mcp (${by})`);
  if (!held.ok) return held;
  const told = { until: until.value, by, ...(said && { said }) };
  const renewed = await renewLease(project, held.value, name, told);
  const released = await held.value.release();
  if (!renewed.ok) return renewed;
  return released.ok ? until : released;
}

/** Of one that is given or renewed now. */
export function leaseEnd({ root, world }: Project): Result<string> {
  const settings = readConfig(root);
  if (!settings.ok) return settings;
  const ms = leaseMinutes(settings.value) * 60_000;
  return succeed(new Date(Date.parse(world.now()) + ms).toISOString());
}

/** A process that an agent of somebody's talks to. */
export const pullerFor = (by: string, cwd: string): Puller => ({
  by,
  root: openProject(cwd).root,
  holder: process.getBuiltinModule("node:crypto").randomUUID(),
  host: process.getBuiltinModule("node:os").hostname(),
  pid: process.pid,
  started: ourStart(),
});
