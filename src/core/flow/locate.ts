/** Where a project stands by its folders alone: the fallback when no state file can tell. */
import { type Flow, holds, type Survey } from "./flow.ts";
import { flowNamed } from "./flows/index.ts";
import { awaitingInvocation, type Position } from "./state.ts";

/** Two members and next to no code of its own: a repository of repositories. */
export function whichFlow(survey: Survey): string {
  const has = (folder: string): boolean =>
    [...(survey.docs?.keys() ?? [])].some((path) => path.startsWith(`${folder}/`));
  if (survey.docs?.has("_repo-config.yaml")) return "meta-repo";
  if (survey.members >= 2 && !survey.hasSource) return "meta-repo";
  if (survey.docs === undefined) return survey.hasSource ? "existing-code" : "greenfield";
  if (has("02_document") && !has("00_problem")) return "existing-code";
  return "greenfield";
}

export interface Scan {
  readonly position: Position;
  /** Said when the folders alone cannot tell which of several steps it is. */
  readonly doubt?: string;
}

/** The first step whose proof is missing, among the steps that leave one. */
export function scanPosition(flowName: string, survey: Survey, cycle = 1): Scan {
  const flow = flowNamed(flowName) ?? (flowNamed("greenfield") as Flow);
  const steps = flow.steps;
  const missing = steps.findIndex((step) => step.done && !holds(step.done, survey, { cycle }));
  const proven = steps.findLastIndex(
    (step, at) => step.done && (missing < 0 || at < missing) && holds(step.done, survey, { cycle }),
  );
  const between = steps.slice(proven + 1, missing < 0 ? steps.length : missing);
  const found = between[0] ?? steps[Math.max(missing, 0)] ?? steps[0];
  if (!found) throw new Error(`flow ${flow.name} has no steps`);
  const position: Position = {
    flow: flow.name,
    step: found.step,
    name: found.name,
    status: "not_started",
    subStep: awaitingInvocation,
    retryCount: 0,
    cycle,
  };
  const candidates = missing < 0 ? between : [...between, steps[missing] as (typeof steps)[number]];
  if (proven < 0 || between.length === 0 || candidates.length < 2) return { position };
  const last = candidates[candidates.length - 1] as (typeof steps)[number];
  return {
    position,
    doubt: `the folders cannot tell which of the steps ${found.step} to ${last.step} comes next; ${found.step} (${found.name}) is assumed`,
  };
}
