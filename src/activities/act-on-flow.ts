/** What people want of a flow: put to them with what it costs, answered, recorded. */
import { decisionId, type Question } from "../core/decision.ts";
import { openDecisions } from "../core/evolve.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { newCourse } from "../core/flow/course.ts";
import { type Flow, type Glob, globOf, type Step, type Survey } from "../core/flow/flow.ts";
import { builtInFlows, flowNamed } from "../core/flow/flows/index.ts";
import { whetherToGoBack, whetherToRollBack, whetherToSkip } from "../core/flow/questions.ts";
import type { FlowAct } from "../core/flow/wanted-step.ts";
import { openGit } from "../git/call.ts";
import { askOnce } from "./ask.ts";
import { findSkill, producedBy } from "./find-skill.ts";
import type { Held, Project } from "./hold.ts";
import type { Ask } from "./open-flow.ts";
import { whatRollsBack } from "./roll-back-step.ts";
import { lastCompletion } from "./step-history.ts";
import { survey } from "./survey.ts";

export interface Acted {
  readonly done: boolean;
  readonly said: readonly string[];
}

export async function actOnFlow(
  project: Project,
  held: Held,
  act: FlowAct,
  step: Step,
  people: { readonly ask: Ask; readonly by: string; readonly yes: boolean },
): Promise<Result<Acted>> {
  const question = await questionFor(project, held, act, step);
  if (!question.ok) return question;
  const ask: Ask = people.yes ? async () => succeed("A") : people.ask;
  const asked = newOccasion(held, question.value, project.world.hash);
  const answered = await askOnce({ project, held, ask, by: people.by }, asked);
  if (!answered.ok) return answered;
  return succeed({ done: answered.value === "A", said: [] });
}

/** Who types it again after an answer means it again; an open question stays the same one. */
function newOccasion(
  { state }: Held,
  question: Question,
  hash: (text: string) => string,
): Question {
  for (let times = 1; ; times++) {
    const asked = { ...question, cause: `${question.cause} (${times})` };
    if (!state.decisions[decisionId(asked, hash)]?.answer) return asked;
  }
}

/** What has failed is tried again: the open question about it is answered so. */
export async function retryStep(
  project: Project,
  held: Held,
  by: string,
): Promise<Result<unknown>> {
  const { flow } = held.state;
  const open = openDecisions(held.state).find(({ kind }) => aboutFailure.includes(kind));
  if (open) {
    const mine = { key: "A", by, at: project.world.now() };
    const stands = await project.store.answer(open.id, mine);
    return stands.ok
      ? held.record({ type: "decision-answered", id: open.id, ...stands.value })
      : stands;
  }
  if (flow?.status !== "failed") {
    return fail("usage", "no step of the flow has failed", {
      hint: "autodev goes on; autodev retry <phase> is about a phase of a plan",
    });
  }
  const { step, name } = flow;
  return held.record({ type: "step-reopened", step, name, how: "retry" });
}

const aboutFailure: readonly string[] = ["skill-failed", "skill-blocked", "stuck"];

async function questionFor(
  project: Project,
  { state }: Held,
  act: FlowAct,
  step: Step,
): Promise<Result<Question>> {
  const { flow: position, course: known } = state;
  const flows = project.flows ?? builtInFlows;
  const flow = flowNamed(position?.flow ?? "", flows);
  if (!position || !flow) return fail("not-found", "no flow that is known here is under way");
  const course = known ?? newCourse(flow.name);
  const seen = survey(project.root, flows);
  const own = filesOf(seen, producedBy(project.root, step, position.cycle));
  switch (act) {
    case "skip":
      return succeed(whetherToSkip(step, dependents(project, flow, step), position, course));
    case "back":
      return succeed(whetherToGoBack(step, own, position, course));
    case "rollback": {
      const changes = await changesOf(project, step, position);
      if (!changes.ok) return changes;
      const stale = laterSteps(flow, step, position.step).flatMap((later) => {
        const files = filesOf(seen, producedBy(project.root, later, position.cycle));
        return files.length > 0 ? [`step ${later.step} ${later.name}: ${files.length} files`] : [];
      });
      const folder = own[0]?.split("/")[0] ?? step.skill ?? step.name;
      return succeed(
        whetherToRollBack(step, { changes: changes.value, stale, folder }, position, course),
      );
    }
  }
}

const filesOf = ({ docs }: Survey, patterns: readonly Glob[]): string[] =>
  [...(docs?.keys() ?? [])].filter((file) => patterns.some((pattern) => pattern.test(file)));

const laterSteps = ({ steps }: Flow, step: Step, until: string): readonly Step[] => {
  const end = until === "done" ? steps.length : steps.findIndex((each) => each.step === until) + 1;
  return steps.slice(steps.indexOf(step) + 1, end);
};

/** Later steps whose skill needs what this one's produces. */
function dependents({ root }: Project, flow: Flow, step: Step): string[] {
  const produced = skillOf(root, step)?.produces.map(({ path }) => path) ?? [];
  return flow.steps.slice(flow.steps.indexOf(step) + 1).flatMap((later) => {
    const needs = skillOf(root, later)?.needs ?? [];
    const missed = needs.filter((need) => {
      const pattern = globOf(need, { cycle: 1 });
      return produced.some((path) => path === need || pattern.test(path.replaceAll("*", "x")));
    });
    return missed.length > 0
      ? [`step ${later.step} ${later.name}: ${missed.map((path) => `_docs/${path}`).join(", ")}`]
      : [];
  });
}

const skillOf = (
  root: string,
  { skill, mode }: Step,
): ReturnType<typeof findSkill> extends Result<infer S> ? S | undefined : never => {
  if (skill === undefined) return undefined;
  const found = findSkill(root, skill, mode);
  return found.ok ? found.value : undefined;
};

/** Which files a rollback would change, a line each. */
async function changesOf(
  project: Project,
  step: Step,
  { flow, cycle }: { readonly flow: string; readonly cycle: number },
): Promise<Result<string[]>> {
  const { repository } = project;
  if (!repository) return fail("no-repository", `${project.root} is not in a git repository`);
  const git = openGit({ ...repository, workTree: repository.root });
  const before = await lastCompletion(git, { flow, step: step.step });
  if (!before.ok) return before;
  if (!before.value) return succeed([]);
  const globs = producedBy(project.root, step, cycle);
  const told = await whatRollsBack(git, { commit: before.value.commit, globs });
  if (!told.ok) return told;
  if (told.value.is === "not-now") return succeed([`not now: ${told.value.why}`]);
  return succeed(told.value.changes.map(({ path, how }) => `${path}: ${how}`));
}
