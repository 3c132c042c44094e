/** Where a project stands by its folders alone: the fallback when no state file can tell. */
import type { Onward } from "./cross-check.ts";
import {
  afterStep,
  datedIn,
  type Flow,
  holds,
  type Step,
  type Survey,
  stretchOf,
  type Time,
} from "./flow.ts";
import { builtInFlows, flowNamed } from "./flows/index.ts";
import { awaitingInvocation, type Position } from "./state.ts";
import { stateFileNames } from "./state-names.ts";

/** The flows that fit, the likeliest first; more than one: a person has to say. */
export function flowsThatFit(survey: Survey): string[] {
  const { docs, hasSource, members } = survey;
  const ownFiles: readonly string[] = stateFileNames;
  const paths = [...(docs?.keys() ?? [])].filter((path) => !ownFiles.includes(path));
  const has = (folder: string): boolean => paths.some((path) => path.startsWith(`${folder}/`));
  const isSuite = docs?.has("_repo-config.yaml") === true || (members >= 2 && !hasSource);
  const [isNew, isDescribed] = [has("00_problem"), has("02_document")];
  const own =
    // A folder without a document, or with what was left of a state file, is none.
    paths.length === 0
      ? [hasSource ? "existing-code" : "greenfield"]
      : isDescribed && !isNew
        ? ["existing-code"]
        : isNew && (has("02_task_plans") || cyclesIn(survey).length > 0)
          ? ["existing-code", "greenfield"]
          : ["greenfield"];
  if (isSuite) return isNew || isDescribed ? ["meta-repo", ...own] : ["meta-repo"];
  return own;
}

export interface Scan {
  readonly position: Position;
  /** The folders cannot tell which of these it is. */
  readonly candidates?: readonly Step[];
  /** The last of them, where it would begin another cycle. */
  readonly onward?: Onward;
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
  const follows = afterStep(flow, steps.at(-1)?.step ?? "");
  // Where the cycle is known, the next one has not begun.
  const open = openAfter(steps, proven, { survey, time, isLast: cycle !== undefined });
  const onward: Onward | undefined =
    !gap && open.isWhole && follows?.cycle === "next"
      ? { step: follows.step, cycle: time.cycle + 1, seen: datedIn(flow, survey, time) }
      : undefined;
  const candidates = gap
    ? [gap, ...next(flow, steps[proven])]
    : proven < 0
      ? steps.slice(0, 1)
      : [...new Set([...open.steps, ...(open.isWhole && follows ? [follows.step] : [])])];
  const [first] = candidates;
  const position: Position = {
    flow: flow.name,
    step: first?.step ?? "done",
    name: first?.name ?? "Done",
    status: first ? "not_started" : "completed",
    subStep: awaitingInvocation,
    retryCount: 0,
    cycle: first && candidates.length === 1 && first === onward?.step ? onward.cycle : time.cycle,
  };
  if (candidates.length < 2) return { position };
  const named = candidates.map(({ step, name: called }) => `${step} ${called}`);
  return {
    position,
    candidates,
    ...(onward && { onward }),
    owed: owed.map(({ step }) => step),
    doubt: `the folders cannot tell which step comes next: ${named.join(", ")}`,
  };
}

/**
 * Those that leave no proof and may have been done, and the first that has certainly not been;
 * `isWhole`: there is none, and what follows the last may be where it is.
 */
function openAfter(
  steps: readonly Step[],
  proven: number,
  { survey, time, isLast }: { survey: Survey; time: Time; isLast: boolean },
): { readonly steps: Step[]; readonly isWhole: boolean } {
  const open: Step[] = [];
  for (const step of steps.slice(proven + 1)) {
    if (step.done && doesNotApply(step, survey, time)) continue;
    open.push(step);
    if (step.done && (isLast || !mayBeDated(step, survey, time)))
      return { steps: open, isWhole: false };
  }
  return { steps: open, isWhole: true };
}

/** There is nothing to be done in it: that it left nothing does not mean that it is next. */
const doesNotApply = ({ applies }: Step, survey: Survey, time: Time): boolean =>
  applies !== undefined && holds(applies.no, survey, time) && !holds(applies.yes, survey, time);

/** Something has a date; whether that is of this cycle, nobody who has only the folders knows. */
const mayBeDated = ({ done }: Step, survey: Survey, time: Time): boolean =>
  done !== undefined && "dated" in done && holds({ exists: done.dated }, survey, time);

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

function cycleIn(flow: Flow, survey: Survey): number {
  const hasCycles = flow.steps.some(({ then }) => then?.cycle === "next");
  return hasCycles ? Math.max(1, ...cyclesIn(survey)) : 1;
}

/** As plans of tasks and reports are named. */
const cyclesIn = ({ docs }: Survey): number[] =>
  [...(docs?.keys() ?? [])].flatMap((path) => {
    const [, planned, reported] =
      /^02_task_plans\/cycle(\d{1,4})_|_cycle(\d{1,4})\.md$/.exec(path) ?? [];
    const number = Number(planned ?? reported ?? 0);
    return number > 0 ? [number] : [];
  });
