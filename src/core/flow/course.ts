/**
 * What only the journal remembers of a flow: how it came to where it is. A state file shows the
 * position; this is why it may stay there. Editing the file by hand leaves it as it is, except for
 * what was true of another step.
 */
import type { Question } from "../decision.ts";
import type { RecordedEvent } from "../event.ts";
import type { Lease } from "../lease.ts";
import type { AgentResult } from "../plan/result.ts";
import type { SkillQuestion } from "./questions.ts";
import type { FlowState, SubStep } from "./state.ts";
import { noTasksYet, type TaskCourse } from "./tasks.ts";

export interface Course {
  /** The flow that all of this is about. */
  readonly flow: string;
  /** Steps before it are outside: the flow was entered there. */
  readonly entry?: string;
  /** When this cycle began, and what had a date in its name then. */
  readonly since?: string;
  readonly seen?: readonly string[];
  /** A person put the flow where it is: no folder overrules that. */
  readonly placed: boolean;
  /** A person has chosen this step among several that fitted, or confirmed it: it is not left before it is done. */
  readonly chosen?: string;
  /** Opened again, and not completed since: what lies on disk proves nothing about them. */
  readonly reopened: readonly string[];
  /** Where the flow was when a person went back: the steps before it are done once more. */
  readonly redoneUntil?: string;
  /** Series of failures in a row, by step; only success or a person ends them. */
  readonly failedSeries: Readonly<Record<string, number>>;
  /** The blocker that the last failure raised. */
  readonly blocker?: string;
  /** The event that the next question is about. */
  readonly occasion: number;
  /** The event by which the flow came to this step. */
  readonly enteredAt: number;
  /** The event by which a session ended before this step; the session's own name, if it had one. */
  readonly boundary?: { readonly at: number; readonly agent?: string; readonly session?: string };
  /** A person said that nothing is to be done. */
  readonly abortedAt?: number;
  /** It is one of these steps; which, only a person can say. */
  readonly doubt?: readonly string[];
  /** What is to be done with artifacts that were there before this step began. */
  readonly treats?: "resume" | "overwrite";
  /** How many sessions of agents there were, in all. */
  readonly sessions: number;
  readonly session?: SkillSession;
  /** How often the present sub-step was found to go nowhere. */
  readonly stuck: number;
  /** What skills have said of the project in this cycle, by step: the last time is what counts. */
  readonly reports: Readonly<Record<string, readonly string[]>>;
  /** Of a step that runs tasks. */
  readonly tasks?: TaskCourse;
  /** Completed or rolled back, and in no commit yet. */
  readonly uncommitted?: Uncommitted;
  /** A rollback that was wanted and is not done. */
  readonly rollingBack?: { readonly step: string; readonly name: string; readonly since: number };
}

/** The last session of the present step: at work, or how it ended. */
export interface SkillSession {
  readonly number: number;
  readonly agent: string;
  /** Absent: it began before that was kept. */
  readonly skill?: string;
  readonly mode?: string;
  /** The agent's own name for it. */
  readonly id?: string;
  readonly tokens: number;
  readonly cost: number;
  /** Absent: it is at work, or died with us. */
  readonly ended?:
    | "done"
    | "failed"
    | "asked"
    | "context"
    | "stuck"
    | "stopped"
    | "limited"
    | "unable";
  readonly reason?: string;
  readonly until?: string;
  readonly asks?: SkillQuestion;
  /** Where it began. */
  readonly sub: SubStep;
  /** Absent: the step itself. */
  readonly part?: "mend" | "review";
  /** Somebody has come for it; absent: whoever does it was started by us. */
  readonly lease?: Lease;
  readonly notes?: readonly string[];
  readonly confirmed?: boolean;
  /** What the holder of the lease says of it; it is yet to be looked at. */
  readonly report?: AgentResult;
}

export interface Uncommitted {
  readonly flow: string;
  readonly step: string;
  readonly name: string;
  readonly cycle: number;
  readonly what: "complete" | "rolled back";
  readonly outcome: string;
  /** The event that made it so. */
  readonly since: number;
}

export const newCourse = (flow: string): Course => ({
  flow,
  placed: false,
  reopened: [],
  failedSeries: {},
  occasion: 0,
  enteredAt: 0,
  sessions: 0,
  stuck: 0,
  reports: {},
});

/**
 * Killed between the line that a person had us set and the record of it, the step looks as if
 * somebody else had done it: it stays ours to complete and to commit.
 */
export const confirmedBy = (
  course: Course | undefined,
  before: FlowState | undefined,
  { kind, subject }: Pick<Question, "kind" | "subject">,
  key: string,
): Course | undefined =>
  course &&
  before &&
  kind === "confirmation" &&
  key === "A" &&
  subject === `${before.flow} ${before.step}`
    ? { ...course, chosen: before.step }
    : course;

/** `before`: the flow as it was when the event happened. */
export function evolveCourse(
  course: Course | undefined,
  before: FlowState | undefined,
  event: RecordedEvent,
): Course | undefined {
  if (event.type === "state-file-adopted") return adopted(course, before, event);
  if (event.type === "step-entered") return entered(course, before, event);
  if (!course || !before) return course;
  const { seq, at } = event;
  switch (event.type) {
    case "step-started":
      return {
        ...withoutTasks(withoutSession(course)),
        occasion: seq,
        since: course.since ?? at,
        ...(event.treats && { treats: event.treats }),
      };
    case "sub-step-reported":
    case "sub-step-skipped":
      return { ...course, stuck: 0 };
    case "steps-excused":
      return { ...course, chosen: before.step };
    case "step-completed": {
      const { blocker: _, chosen: __, ...rest } = course;
      return {
        ...rest,
        placed: false,
        reopened: course.reopened.filter((step) => step !== before.step),
        failedSeries: without(course.failedSeries, before.step),
        occasion: seq,
        uncommitted: uncommitted(before, "complete", event.outcome, seq),
      };
    }
    case "step-skipped": {
      const { blocker: _, ...rest } = withoutSession(course);
      return {
        ...rest,
        placed: true,
        reopened: course.reopened.filter((step) => step !== before.step),
        occasion: seq,
      };
    }
    case "step-failed":
      return {
        ...course,
        blocker: event.blocker,
        occasion: seq,
        failedSeries: {
          ...course.failedSeries,
          [before.step]: (course.failedSeries[before.step] ?? 0) + 1,
        },
      };
    case "step-aborted":
      return { ...course, occasion: seq, abortedAt: seq };
    case "step-reopened": {
      const {
        blocker: _,
        rollingBack: __,
        treats: ___,
        chosen: ____,
        tasks,
        ...rest
      } = withoutSession(course);
      const isRetry = event.how === "retry";
      return {
        ...rest,
        placed: true,
        occasion: seq,
        enteredAt: isRetry ? course.enteredAt : seq,
        // Whoever says so has looked at what went wrong: it is run again as it is.
        ...(isRetry && tasks && { tasks: { batches: tasks.batches, reviewed: tasks.reviewed } }),
        ...(event.how === "back" || event.how === "rollback"
          ? { redoneUntil: later(before.step, course.redoneUntil) }
          : {}),
        reopened: [...course.reopened.filter((step) => step !== event.step), event.step],
        // An open breaker is closed by a person alone, and so it was.
        failedSeries:
          isRetry && !isBroken(course, event.step)
            ? course.failedSeries
            : without(course.failedSeries, event.step),
        ...(event.how === "rollback" && {
          uncommitted: uncommitted({ ...before, ...event }, "rolled back", "", seq),
        }),
      };
    }
    case "rollback-chosen":
      return { ...course, rollingBack: { step: event.step, name: event.name, since: seq } };
    case "step-committed": {
      const { uncommitted: _, ...rest } = course;
      return rest;
    }
    case "skill-started":
      return {
        ...course,
        sessions: Math.max(course.sessions, event.session),
        session: {
          number: event.session,
          agent: event.agent,
          skill: event.skill,
          ...(event.mode !== undefined && { mode: event.mode }),
          ...(event.resumes !== undefined && { id: event.resumes }),
          tokens: 0,
          cost: 0,
          sub: before.subStep,
          ...(event.part && { part: event.part }),
        },
      };
    case "skill-session-opened":
      return changeSession(course, event.session, () => ({ id: event.id }));
    case "skill-usage-counted":
      return changeSession(course, event.session, ({ tokens, cost }) => ({
        tokens: tokens + event.tokens,
        cost: cost + (event.cost ?? 0),
      }));
    case "skill-leased": {
      const { lease, notes, confirmed } = event;
      return changeSession(course, event.session, () => ({
        lease,
        notes,
        ...(confirmed !== undefined && { confirmed }),
      }));
    }
    case "skill-reported":
      return changeSession(course, event.session, ({ lease, ended }) =>
        lease?.epoch === event.epoch && ended === undefined ? { report: event.result } : {},
      );
    case "batch-reported": {
      const { number, tasks } = event;
      const known = course.tasks ?? noTasksYet;
      return { ...course, tasks: { ...known, batches: [...known.batches, { number, tasks }] } };
    }
    case "tasks-ran": {
      const { trouble, until } = event;
      const { trouble: _, parked: __, ...known } = course.tasks ?? noTasksYet;
      return {
        ...course,
        occasion: seq,
        tasks: {
          ...known,
          ...(trouble !== undefined && { trouble }),
          ...(until !== undefined && { parked: { until, reason: "its agents have to wait" } }),
        },
      };
    }
    case "skill-ended": {
      const { how, reason, until, reports, asks } = event;
      const { part } = course.session ?? {};
      const ended = changeSession(course, event.session, () => ({
        ended: how,
        ...(reason !== undefined && { reason }),
        ...(until !== undefined && { until }),
        ...(asks && { asks }),
      }));
      return {
        ...ended,
        occasion: seq,
        stuck: how === "stuck" ? course.stuck + 1 : course.stuck,
        ...(how === "done" &&
          part === undefined && { reports: { ...course.reports, [before.step]: reports ?? [] } }),
        ...(how === "done" &&
          part !== undefined && {
            tasks: lookedAt(course.tasks ?? noTasksYet, part, event.trouble),
          }),
      };
    }
    default:
      return course;
  }
}

function entered(
  course: Course | undefined,
  before: FlowState | undefined,
  event: Extract<RecordedEvent, { type: "step-entered" }>,
): Course {
  const { flow, step, cycle, why, seq, at } = event;
  const known = course?.flow === flow ? course : undefined;
  const isNew = known === undefined || before?.cycle !== cycle;
  const base = known ?? { ...newCourse(flow), sessions: course?.sessions ?? 0 };
  const {
    boundary: _,
    blocker: __,
    treats: ___,
    redoneUntil: ____,
    chosen: _____,
    doubt: ______,
    tasks: _______,
    ...rest
  } = withoutSession(base);
  const { agent, id } = course?.session ?? {};
  return {
    ...rest,
    occasion: seq,
    enteredAt: seq,
    ...(event.boundary && {
      boundary: { at: seq, ...(agent !== undefined && id !== undefined && { agent, session: id }) },
    }),
    // What a person has skipped on the way here stays skipped; being chained is nobody's act.
    placed: why === "answered" || why === "onward" ? true : base.placed,
    ...(why === "answered" && { chosen: step }),
    ...(isNew && { since: at, reports: {}, reopened: [], seen: event.seen ?? [] }),
    ...(base.redoneUntil !== undefined && !isNew && numberOf(step) < numberOf(base.redoneUntil)
      ? { redoneUntil: base.redoneUntil }
      : {}),
    ...(why === "onward" && { entry: step }),
    ...(course?.uncommitted && { uncommitted: course.uncommitted }),
  };
}

/** A position that came from outside is nobody's act; of the same step, what is known stays. */
function adopted(
  course: Course | undefined,
  before: FlowState | undefined,
  event: Extract<RecordedEvent, { type: "state-file-adopted" }>,
): Course {
  const { state, seq, places: doubt } = event;
  const known = course?.flow === state.flow ? course : undefined;
  const base = known ?? { ...newCourse(state.flow), sessions: course?.sessions ?? 0 };
  const isSame = before?.step === state.step && before.cycle === state.cycle;
  if (known && isSame && !doubt) return known;
  const { chosen: _, doubt: __, tasks: ___, ...rest } = withoutSession(base);
  return { ...rest, placed: false, occasion: seq, enteredAt: seq, ...(doubt && { doubt }) };
}

const uncommitted = (
  { flow, step, name, cycle }: Pick<FlowState, "flow" | "step" | "name" | "cycle">,
  what: Uncommitted["what"],
  outcome: string,
  since: number,
): Uncommitted => ({ flow, step, name, cycle, what, outcome, since });

/** Put right, the tasks can be run again; reviewed, what landed can be told. */
function lookedAt(
  { batches, reviewed }: TaskCourse,
  part: "mend" | "review",
  trouble: string | undefined,
): TaskCourse {
  return {
    batches,
    reviewed: part === "review" ? batches.length : reviewed,
    ...(trouble !== undefined && { trouble }),
  };
}

function withoutTasks(course: Course): Course {
  const { tasks: _, ...rest } = course;
  return rest;
}

function withoutSession(course: Course): Course {
  const { session: _, ...rest } = course;
  return { ...rest, stuck: 0 };
}

function changeSession(
  course: Course,
  number: number,
  change: (session: SkillSession) => Partial<SkillSession>,
): Course {
  const { session } = course;
  if (session?.number !== number) return course;
  return { ...course, session: { ...session, ...change(session) } };
}

function without(
  counts: Readonly<Record<string, number>>,
  step: string,
): Readonly<Record<string, number>> {
  const { [step]: _, ...rest } = counts;
  return rest;
}

/** Steps are numbered in their order; behind all of them is the end. */
export const numberOf = (step: string): number => (step === "done" ? Infinity : Number(step));

const later = (one: string, other: string | undefined): string =>
  other !== undefined && numberOf(other) > numberOf(one) ? other : one;

/** Series of failures after which nobody but a person starts the step again. */
export const mostSeries = 3;

export const isBroken = ({ failedSeries }: Course, step: string): boolean =>
  (failedSeries[step] ?? 0) >= mostSeries;
