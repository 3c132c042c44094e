/**
 * What follows from the end of a skill's session. The agent's word is a claim: done is what leaves
 * the artifacts that the skill promises and the proof that the step wants, and has kept within what
 * it may write.
 */
import type { Event } from "../event.ts";
import type { ProjectState } from "../evolve.ts";
import { mostSeries } from "./course.ts";
import { timeOf } from "./cross-check.ts";
import { type Flow, holds, type Step, type Survey } from "./flow.ts";
import { type SkillQuestion, skillAsks } from "./questions.ts";
import { type FlowState, mostRetries } from "./state.ts";
import { incomplete, landedIn, noTasksYet, type TaskFacts } from "./tasks.ts";

export type SkillEnd =
  | { readonly is: "done"; readonly outcome: string; readonly reports: readonly string[] }
  | { readonly is: "asked"; readonly asks: SkillQuestion }
  /** `corrupt`: what it left cannot be gone on with. */
  | { readonly is: "failed"; readonly reason: string; readonly corrupt?: boolean }
  | { readonly is: "limited"; readonly reason: string; readonly until?: string }
  | { readonly is: "unable"; readonly reason: string }
  /** Its conversation is too long to be trusted much further. */
  | { readonly is: "context"; readonly reason: string }
  | { readonly is: "stuck"; readonly reason: string }
  | { readonly is: "stopped" };

export interface Ended {
  readonly flow: Flow;
  readonly step: Step;
  readonly session: number;
  readonly end: SkillEnd;
  /** What the skill promised and did not leave, a sentence each. */
  readonly unmet: readonly string[];
  /** What it did outside of what it may write, a sentence each; it was put back. */
  readonly strayed: readonly string[];
  readonly survey: Survey;
  /** When an agent says not when, it is worth trying again. */
  readonly usualWait: string;
  /** Not the step itself: its tasks were put right, or what landed was reviewed. */
  readonly part?: { readonly is: "mend" } | { readonly is: "review"; readonly fails?: string };
}

export function afterSkill(state: ProjectState, ended: Ended): Event[] {
  const { flow: position, course } = state;
  if (!position) throw new Error("a skill has ended in no flow");
  const { session, end, strayed } = ended;
  const over = (more: Partial<Extract<Event, { type: "skill-ended" }>>): Event => ({
    type: "skill-ended",
    session,
    how: end.is,
    ...more,
  });
  switch (end.is) {
    case "stopped":
      return [over({}), sessionEnded("user paused", "")];
    case "context":
      return [over({ reason: end.reason }), sessionEnded("context limit", end.reason)];
    case "limited": {
      const until = end.until ?? ended.usualWait;
      return [over({ reason: end.reason, until })];
    }
    case "unable":
    case "stuck":
      return [over({ reason: end.reason })];
    case "asked":
      return isAskedAgain(state, end.asks)
        ? [over({ how: "stuck", reason: `it asks again what was answered: ${end.asks.question}` })]
        : [over({ asks: { ...end.asks, options: [...end.asks.options] } })];
    case "failed":
      return [over({ reason: end.reason }), ...failure(state, ended, end.reason, end.corrupt)];
    case "done": {
      // Of two cycles that end on one day the second has the first one's document to improve.
      const { seen: _, ...time } = timeOf(position, course);
      const { done, finished } = ended.step;
      const proven = (probe: typeof done): boolean =>
        probe === undefined ||
        holds(probe, ended.survey, {
          ...time,
          reported: [...(time.reported ?? []), ...end.reports],
        });
      const { part } = ended;
      const lacks = [
        ...strayed,
        ...ended.unmet,
        ...(part || (proven(done) && proven(finished))
          ? []
          : [`what proves step ${ended.step.step} ${ended.step.name} is not there`]),
      ];
      if (lacks.length > 0) {
        const reason = `it says that it is done, but ${someOf(lacks)}`;
        return [over({ how: "failed", reason }), ...failure(state, ended, reason)];
      }
      const ends = over({ ...(end.reports.length > 0 && { reports: [...end.reports] }) });
      if (!part) return [ends, { type: "step-completed", outcome: end.outcome }];
      if (part.is === "mend" || part.fails === undefined) return [ends];
      // Its findings are to become tasks, and are done like any others before anything is reported.
      return [over({ trouble: part.fails }), ...failure(state, ended, part.fails)];
    }
  }
}

/** It was answered, and the session that was told so has come no further: it goes round. */
function isAskedAgain({ flow, course, decisions }: ProjectState, asks: SkillQuestion): boolean {
  const began = course?.session?.sub;
  if (!flow || !began || JSON.stringify(began) !== JSON.stringify(flow.subStep)) return false;
  const { kind, subject, cycle, question } = skillAsks(asks, flow, 0);
  return Object.values(decisions).some(
    (each) =>
      each.answer !== undefined &&
      each.kind === kind &&
      each.subject === subject &&
      each.cycle === cycle &&
      each.question === question,
  );
}

const sessionEnded = (reason: string, notes: string): Event => ({
  type: "session-ended",
  reason,
  notes,
});

/** What has become of a step's tasks. */
export type TasksEnd =
  | { readonly is: "halted"; readonly step: Step; readonly trouble: string }
  | {
      readonly is: "reported";
      readonly step: Step;
      readonly facts: TaskFacts;
      readonly unmet: readonly string[];
      readonly survey: Survey;
    };

/** Complete is what lies there: every task in its place, every report, what proves the step. */
export function afterTasks(state: ProjectState, end: TasksEnd): Event[] {
  const { flow: position, course } = state;
  if (!position) throw new Error("tasks have ended in no flow");
  if (end.is === "halted") {
    const { trouble } = end;
    return [{ type: "tasks-ran", how: "halted", trouble }, ...failure(state, end, trouble)];
  }
  const { batches } = course?.tasks ?? noTasksYet;
  const { done } = end.step;
  const proven = done === undefined || holds(done, end.survey, timeOf(position, course));
  const lacks = [
    ...incomplete(end.facts, batches),
    ...end.unmet,
    ...(proven ? [] : [`what proves step ${end.step.step} ${end.step.name} is not there`]),
  ];
  if (lacks.length > 0) {
    const trouble = `not everything is there: ${someOf(lacks)}`;
    return [{ type: "tasks-ran", how: "halted", trouble }, ...failure(state, end, trouble)];
  }
  const landed = landedIn(batches).length;
  const outcome = `${landed} ${landed === 1 ? "task" : "tasks"} in ${batches.length} ${batches.length === 1 ? "batch" : "batches"}`;
  return [{ type: "step-completed", outcome }];
}

/** Enough to begin with; how many there are, so that nobody takes them for all. */
const someOf = (lacks: readonly string[]): string =>
  [
    ...lacks.slice(0, mostTold),
    ...(lacks.length > mostTold ? [`and ${lacks.length - mostTold} more`] : []),
  ].join("; ");

const mostTold = 5;

/** At once and without asking, three times; then it is for people to look at. */
function failure(
  { flow: state, course }: ProjectState,
  { step }: Pick<Ended, "step">,
  reason: string,
  corrupt = false,
): Event[] {
  if (!state) return [];
  if (state.retryCount < mostRetries) {
    return [
      { type: "step-retried", reason },
      ...(corrupt ? [{ type: "sub-step-reported" as const, subStep: firstOf(state) }] : []),
    ];
  }
  const skill = step.skill ?? step.name;
  const blocker = `${skill} failed 3 consecutive times at sub_step ${state.subStep.phase}. Last failure: ${reason}. Auto-retry exhausted.`;
  const series = (course?.failedSeries[state.step] ?? 0) + 1;
  return [
    { type: "step-failed", blocker },
    ...(series === mostSeries
      ? [
          {
            type: "blocker-raised" as const,
            text: `step ${step.step} ${step.name} has failed ${series} times in a row, each time after 3 retries; it is not tried again before a person says so`,
          },
        ]
      : []),
  ];
}

const firstOf = ({ subStep }: FlowState): FlowState["subStep"] => ({
  phase: 0,
  name: "awaiting-invocation",
  detail: subStep.phase > 0 ? `begun anew: ${subStep.name} left something broken` : "",
});
