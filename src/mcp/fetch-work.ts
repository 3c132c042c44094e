/**
 * Fetching work: the project is held for the length of the call, and what was given the journal knows.
 */
import { type Result, succeed } from "../core/failure.ts";
import { restWords } from "../core/flow/describe.ts";
import type { CommitMode } from "../core/plan/run-event.ts";
import {
  type BuildPeople,
  buildPlan,
  type FlowPeople,
  followFlow,
  hold,
  type LentWork,
  openFlow,
  openProject,
  withFlows,
} from "../project.ts";
import { type Answer, failed, told } from "./answer.ts";
import { type Caller, peopleFor } from "./caller.ts";
import { afterwards, tellRun } from "./verdicts.ts";

export interface Wanted {
  readonly plan?: string | undefined;
  readonly commit?: CommitMode | undefined;
}

export async function fetchWork(caller: Caller, { plan, commit }: Wanted): Promise<Answer> {
  const given: { work?: LentWork } = {};
  const people = peopleFor(caller, true, (work) => {
    given.work = work;
  });
  const rest =
    plan === undefined
      ? await fromFlow(caller, people)
      : await fromPlan(caller, people, { plan, commit });
  if (!rest.ok) return failed(rest.failure);
  const { work } = given;
  if (!work) return rest.value;
  caller.lent(work);
  return told(
    `${work.what} is yours until ${work.until}; each call with its lease renews that.`,
    `lease: ${work.lease}`,
    `folder: ${work.folder}`,
    `brief: ${work.briefFile} (the text below; read it there if it was cut)`,
    "",
    work.brief,
  );
}

async function fromPlan(
  { cwd }: Caller,
  people: BuildPeople,
  { plan, commit }: { plan: string; commit?: CommitMode | undefined },
): Promise<Result<Answer>> {
  const built = await buildPlan(cwd, { plan, ...(commit && { commit }) }, people);
  return built.ok ? succeed(tellRun(built.value)) : built;
}

async function fromFlow(caller: Caller, people: FlowPeople): Promise<Result<Answer>> {
  const known = withFlows(openProject(caller.cwd));
  if (!known.ok) return known;
  const project = known.value;
  const held = await hold(project, `autodev mcp (${caller.puller.by})`);
  if (!held.ok) return held;
  const opened = await openFlow(project, held.value, people);
  const followed = opened.ok ? await followFlow(project, held.value, {}, people) : opened;
  const { flow } = held.value.state;
  const released = await held.value.release();
  if (!followed.ok) return followed;
  if (!released.ok) return released;
  const outcome = followed.value;
  if (outcome.is !== "rested") return { ok: false, failure: outcome.failure };
  const { rest } = outcome;
  if (!flow) throw new Error("a flow that rests has a position");
  const [what, why] = restWords(rest, flow);
  const where = `${flow.flow}, step ${flow.step} ${flow.name} (${flow.status})`;
  const isEnd = ["done", "boundary", "round"].includes(rest.is);
  return succeed(
    isEnd
      ? told(`${where}.`, ...afterwards(rest, flow))
      : told(`${where}. Now: ${what}, because ${why}.`),
  );
}
