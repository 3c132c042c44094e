/** Where a project stands by its folders alone: the fallback when no state file can tell. */
import {
  afterStep,
  type Flow,
  holds,
  type Step,
  type Survey,
  stretchOf,
  type Time,
} from "./flow.ts";
import { builtInFlows, flowNamed } from "./flows/index.ts";
import { awaitingInvocation, type Position } from "./state.ts";

/** The flows that fit, the likeliest first; more than one: a person has to say. */
export function flowsThatFit({ docs, hasSource, members }: Survey): string[] {
  const has = (folder: string): boolean =>
    [...(docs?.keys() ?? [])].some((path) => path.startsWith(`${folder}/`));
  const isSuite = docs?.has("_repo-config.yaml") === true || (members >= 2 && !hasSource);
  const isOne = has("00_problem") || has("02_document");
  const own =
    docs === undefined
      ? hasSource
        ? "existing-code"
        : "greenfield"
      : has("02_document") && !has("00_problem")
        ? "existing-code"
        : "greenfield";
  if (isSuite) return isOne ? ["meta-repo", own] : ["meta-repo"];
  return [own];
}

export interface Scan {
  readonly position: Position;
  /** The folders cannot tell which of these it is. */
  readonly candidates?: readonly Step[];
  /** Whose proof is missing, though that of a later one is there. */
  readonly owed?: readonly string[];
  /** Said when the folders alone cannot tell. */
  readonly doubt?: string;
}

/** The first step whose proof is missing, among the steps that leave one. */
export function scanPosition(
  name: string,
  survey: Survey,
  flows: readonly Flow[] = builtInFlows,
  cycle?: number,
): Scan {
  const flow = flowNamed(name, flows) ?? (flowNamed("greenfield") as Flow);
  const time: Time = { cycle: cycle ?? cycleIn(flow, survey) };
  const steps = stretchIn(flow, survey, time);
  const met = (step: Step): boolean => step.done !== undefined && holds(step.done, survey, time);
  const proven = steps.findLastIndex(met);
  const owed = steps.filter((step, at) => at < proven && isOwed(step) && !met(step));
  const [gap] = owed;
  const candidates = gap
    ? [gap, ...next(flow, steps[proven])]
    : proven < 0
      ? steps.slice(0, 1)
      : openAfter(flow, steps, proven, met);
  const [first] = candidates;
  const position: Position = {
    flow: flow.name,
    step: first?.step ?? "done",
    name: first?.name ?? "Done",
    status: first ? "not_started" : "completed",
    subStep: awaitingInvocation,
    retryCount: 0,
    cycle: time.cycle,
  };
  if (candidates.length < 2) return { position };
  const named = candidates.map(({ step, name: called }) => `${step} ${called}`);
  return {
    position,
    candidates,
    owed: owed.map(({ step }) => step),
    doubt: `the folders cannot tell which step comes next: ${named.join(", ")}`,
  };
}

/** Those that leave no proof and may have been done, and the first that has left none yet. */
function openAfter(
  flow: Flow,
  steps: readonly Step[],
  proven: number,
  met: (step: Step) => boolean,
): Step[] {
  const open: Step[] = [];
  for (const step of steps.slice(proven + 1)) {
    open.push(step);
    if (step.done && !met(step)) return open;
  }
  return open.length > 0 ? [...open, ...next(flow, steps.at(-1))] : next(flow, steps.at(-1));
}

const next = (flow: Flow, step: Step | undefined): Step[] => {
  const follows = step && afterStep(flow, step.step);
  return follows ? [follows.step] : [];
};

/** Its proof has to be there once the flow is past it. */
export const isOwed = ({ done, optional, applies }: Step): boolean =>
  done !== undefined && optional !== true && applies === undefined;

/** The last part of the flow of which anything is proven; else the first. */
function stretchIn(flow: Flow, survey: Survey, time: Time): readonly Step[] {
  const parts = (flow.stretches ?? []).map(([from]) => stretchOf(flow, from));
  const begun = parts.findLast((steps) =>
    steps.some((step) => step.done && holds(step.done, survey, time)),
  );
  return begun ?? parts[0] ?? flow.steps;
}

/** As the reports of the last cycle are named. */
function cycleIn(flow: Flow, { docs }: Survey): number {
  if (!flow.steps.some(({ then }) => then?.cycle === "next")) return 1;
  let last = 1;
  for (const path of docs?.keys() ?? []) {
    const number = Number(/_cycle(\d{1,4})\.md$/.exec(path)?.[1] ?? 1);
    if (number > last) last = number;
  }
  return last;
}
