/**
 * What should happen next in a flow. Pure: the journal's state, what was seen on disk, and the
 * limits of this invocation go in; one move comes out. Called again after each move until it rests.
 *
 *  1. A move follows from what is on record alone: killed before it was recorded, it is found again.
 *  2. What people have answered is looked up, never remembered: a question that was answered
 *     anywhere, at any time, is not asked a second time.
 *  3. Nothing is asked, started or left before what was completed is in a commit.
 */
import { decisionId, type Question } from "../decision.ts";
import type { Event } from "../event.ts";
import type { ProjectState } from "../evolve.ts";
import { type Lease, type LeaseStanding, standingOf } from "../lease.ts";
import type { PlanRun } from "../plan/progress.ts";
import type { AgentResult } from "../plan/result.ts";
import type { Tracking } from "../tracker/ledger.ts";
import type { FoundTracker } from "../tracker/servers.ts";
import { type Course, newCourse, type SkillSession, type Uncommitted } from "./course.ts";
import { isRedone, timeOf } from "./cross-check.ts";
import { afterStep, datedIn, type Flow, holds, type Step, type Survey, stepIn } from "./flow.ts";
import { flowNamed } from "./flows/index.ts";
import {
  boundaryQuestion,
  confirmation,
  draftsIn,
  needsMissing,
  researchRound,
  skillAsks,
  skillBlocked,
  skillFailed,
  stuckAt,
  whatOfArtifacts,
  whetherItApplies,
  whetherOptional,
} from "./questions.ts";
import type { SkillPhase } from "./skill.ts";
import type { FlowState, SubStep } from "./state.ts";
import {
  type Batch,
  batchFile,
  batchReported,
  dueBatches,
  hasLanded,
  highestBatch,
  noTasksYet,
  reviewFile,
  type TaskFacts,
  type TaskWork,
  underStep,
} from "./tasks.ts";
import { type TrackerFacts, trackerReady, trackingDue } from "./track.ts";

export type FlowMove =
  | { readonly is: "ask"; readonly question: Question }
  /** Nothing has to be done in the world. */
  | { readonly is: "record"; readonly events: readonly Event[] }
  | { readonly is: "run-skill"; readonly work: SkillWork }
  /** Somebody who came for it has reported: what lies there is his work. */
  | { readonly is: "judge-skill"; readonly work: SkillWork; readonly report: AgentResult }
  /** The step's tasks, as a plan run of their own. */
  | {
      readonly is: "run-tasks";
      readonly step: Step;
      readonly runs: TaskWork;
      readonly under: string;
    }
  | { readonly is: "write-batches"; readonly batches: readonly Batch[] }
  | { readonly is: "report-tasks"; readonly step: Step; readonly runs: TaskWork }
  /** A person's line is set in a file, because a person said so. */
  | { readonly is: "confirm"; readonly file: string; readonly line: string }
  | { readonly is: "mark-skipped"; readonly marker: string; readonly reason: string }
  | { readonly is: "promote-draft"; readonly draft: string }
  /** `accept`: the hash of its tools, which a person has looked at. */
  | { readonly is: "open-tracker"; readonly tracker: FoundTracker; readonly accept?: string }
  /** What a step leaves in the tracker; without one, what is pending is told. */
  | { readonly is: "track"; readonly step: string; readonly tracker?: FoundTracker }
  | { readonly is: "commit"; readonly what: Uncommitted }
  | { readonly is: "roll-back"; readonly step: Step; readonly since: number }
  | { readonly is: "wait"; readonly until: string; readonly reason: string }
  | { readonly is: "rest"; readonly rest: Rest };

export interface SkillWork {
  readonly step: Step;
  readonly skill: string;
  readonly mode?: string;
  readonly session: number;
  /** The agent's session that is gone on with. */
  readonly resumes?: { readonly agent: string; readonly id: string; readonly tokens: number };
  /** What the agent has to know besides: an answer, a failure. */
  readonly notes: readonly string[];
  /** Not the step itself: its tasks are put right, or what landed of them is reviewed. */
  readonly part?: "mend" | "review";
  /** The file that a review leaves. */
  readonly leaves?: string;
  /** Somebody had come for it before: it is the same session. */
  readonly lease?: Lease;
}

/** Why nothing more happens in this invocation. */
export type Rest =
  | { readonly is: "done" }
  | { readonly is: "boundary"; readonly question: Question; readonly next: Step }
  /** The round is complete; the next invocation begins another. */
  | { readonly is: "round"; readonly next: Step | undefined }
  | { readonly is: "aborted" }
  | { readonly is: "stopped" }
  | { readonly is: "parked"; readonly until: string; readonly reason: string }
  /** Somebody has come for it and has not reported. */
  | { readonly is: "lent"; readonly by: string; readonly until: string }
  /** Nobody here knows this flow. */
  | { readonly is: "unknown"; readonly flow: string };

export interface SkillFacts {
  /** Why there is no such skill. */
  readonly missing?: string;
  readonly phases: readonly SkillPhase[];
  /** What it needs and does not find. */
  readonly lacks: readonly string[];
  /** What of its artifacts is there already. */
  readonly there: readonly string[];
}

export interface FlowFacts {
  readonly flows: readonly Flow[];
  readonly survey: Survey;
  /** Of the skill of the present step. */
  readonly skill: SkillFacts;
  /** Of the tasks that it runs. */
  readonly tasks: TaskFacts;
  /** Said when a session ends before a step: how much there is to do. */
  readonly ahead: readonly string[];
  /** Absent: the tracker is not concerned. */
  readonly tracker?: TrackerFacts;
}

export interface FlowLimits {
  /** The last event before this invocation. */
  readonly begun: number;
  readonly now: string;
  readonly throughBoundaries: boolean;
  readonly commits: boolean;
  /** False: where there is nothing to do for now, we leave. */
  readonly waits: boolean;
  readonly stopping: boolean;
  /** A person wants the conversation before a boundary to go on behind it. */
  readonly sameConversation?: boolean;
  /** What a lease is to us; absent: somebody else's, as long as it lasts. */
  readonly leased?: (lease: Lease) => LeaseStanding;
}

export function nextMove(
  state: ProjectState,
  facts: FlowFacts,
  limits: FlowLimits,
  hash: (text: string) => string,
): FlowMove {
  const { flow: position } = state;
  if (!position) throw new Error("a flow that has no position cannot go on");
  const flow = flowNamed(position.flow, facts.flows);
  if (!flow) return rest({ is: "unknown", flow: position.flow });
  const course = state.course ?? newCourse(flow.name);
  const decided = (question: Question): string | undefined =>
    state.decisions[decisionId(question, hash)]?.answer?.key;
  const runs = Object.values(state.runs ?? {});
  const { tracking } = state;
  const at: Place = { flow, state: position, course, facts, limits, decided, runs, tracking };
  const { rollingBack, uncommitted } = course;
  if (rollingBack) {
    const step = stepIn(flow, rollingBack.step);
    if (step) return { is: "roll-back", step, since: rollingBack.since };
  }
  const move = moveAt(at);
  const isPure = move.is === "record" || move.is === "promote-draft" || move.is === "mark-skipped";
  // Files of tasks are named before a step begins that may carry them out.
  const starts = move.is === "record" && move.events.some(({ type }) => type === "step-started");
  if (isPure && !starts) return move;
  const due = trackingDue(trackerPlace(at), uncommitted, facts.flows);
  if (due) {
    if (limits.stopping) return rest({ is: "stopped" });
    return (course.abortedAt ?? 0) > limits.begun ? rest({ is: "aborted" }) : due;
  }
  if (uncommitted && limits.commits && !isPure) return { is: "commit", what: uncommitted };
  return move;
}

const trackerPlace = ({ facts, limits, ...at }: Place): Parameters<typeof trackingDue>[0] => ({
  ...at,
  facts: facts.tracker,
  begun: limits.begun,
});

interface Place {
  readonly flow: Flow;
  readonly state: FlowState;
  readonly course: Course;
  readonly facts: FlowFacts;
  readonly limits: FlowLimits;
  readonly decided: (question: Question) => string | undefined;
  readonly runs: readonly PlanRun[];
  readonly tracking: Tracking | undefined;
}

const rest = (how: Rest): FlowMove => ({ is: "rest", rest: how });
const record = (...events: readonly Event[]): FlowMove => ({ is: "record", events });

function moveAt(at: Place): FlowMove {
  const { flow, state, course, limits } = at;
  if (state.step === "done") return atTheEnd(at);
  const step = stepIn(flow, state.step);
  if (!step) return rest({ is: "unknown", flow: `${flow.name} step ${state.step}` });
  if ((course.abortedAt ?? 0) > limits.begun) return rest({ is: "aborted" });
  switch (state.status) {
    case "completed":
    case "skipped":
      return onward(at, step);
    case "failed":
      return failed(at, step);
    case "in_progress":
      // What only a person or the next session does is not under way, whoever says so.
      return step.skill === undefined ? beforeIt(at, step) : underWay(at, step);
    default:
      return beforeIt(at, step);
  }
}

// ── the chain ──────────────────────────────────────────────────────────────────────────────────

function onward(at: Place, step: Step): FlowMove {
  const { flow, state, course, facts } = at;
  const round = state.status === "completed" ? openRound(at, step) : undefined;
  if (round) return round;
  const next = afterStep(flow, step.step);
  const { boundary } = step.then ?? {};
  const over = { type: "session-ended" as const, reason: "completed step" };
  const notes = `${step.name} ${state.status === "skipped" ? "skipped" : "complete"}`;
  if (!next) {
    const end = entering(flow.name, { step: "done", name: "Done" }, state.cycle);
    return record({ ...over, notes }, end);
  }
  const cycle = state.cycle + (next.cycle === "next" ? 1 : 0);
  return record(
    ...(boundary
      ? [{ ...over, reason: "session boundary", notes: boundary.notes }]
      : next.cycle === "next"
        ? [{ ...over, notes }]
        : []),
    {
      ...entering(flow.name, next.step, cycle),
      // A new cycle waits to be wanted.
      ...((boundary !== undefined || next.cycle === "next") && { boundary: true }),
      ...(next.cycle === "next" && { seen: datedIn(flow, facts.survey, timeOf(state, course)) }),
    },
  );
}

/** There are drafts, and nobody has said yet that one of them is the solution. */
function openRound({ state, course, facts, decided }: Place, step: Step): FlowMove | undefined {
  const { survey } = facts;
  const draft = draftsIn(survey).at(-1);
  const isOver = ["01_solution/solution.md", "02_document/architecture.md"].some((file) =>
    survey.docs?.has(file),
  );
  if (step.asks !== "research-round" || draft === undefined || isOver) return undefined;
  const question = researchRound(state, survey, course);
  const answer = decided(question);
  if (answer === undefined) return { is: "ask", question };
  return answer === "A" ? record(reopening(step, "re-run")) : { is: "promote-draft", draft };
}

type Entering = Extract<Event, { type: "step-entered" }>;

const entering = (
  flow: string,
  { step, name }: Pick<Step, "step" | "name">,
  cycle: number,
): Entering => ({ type: "step-entered", flow, step, name, cycle });

const reopening = (
  { step, name }: Pick<Step, "step" | "name">,
  how: Extract<Event, { type: "step-reopened" }>["how"],
): Event => ({ type: "step-reopened", step, name, how });

/** Reached in this invocation, it is the end; met by the next one, it is where another flow begins. */
function atTheEnd({ flow, course, facts, limits }: Place): FlowMove {
  const target = flow.onward && flowNamed(flow.onward.flow, facts.flows);
  const step = target && stepIn(target, flow.onward?.step ?? "");
  if (!target || !step || course.enteredAt > limits.begun) return rest({ is: "done" });
  const skips = target.steps.slice(0, target.steps.indexOf(step)).map((each) => each.step);
  const seen = datedIn(target, facts.survey, { cycle: 1 });
  return record({ ...entering(target.name, step, 1), why: "onward", skips, seen });
}

// ── before a step ──────────────────────────────────────────────────────────────────────────────

function beforeIt(at: Place, step: Step): FlowMove {
  const { flow, state, course, facts, limits, decided } = at;
  const stop = stopBefore(at, step);
  if (stop) return stop;
  const wanted = course.reopened.includes(step.step);
  const skip = (reason: string): FlowMove => record({ type: "step-skipped", reason });
  if (step.confirms) return confirming(at, step, step.confirms);
  if (step.rests) {
    const next = afterStep(flow, step.step)?.step;
    if (course.enteredAt > limits.begun || !next) return rest({ is: "round", next });
    return record(entering(flow.name, next, state.cycle));
  }
  const before = flow.steps.find((each) => afterStep(flow, each.step)?.step === step);
  // The folders or a person may have brought the flow here past the question.
  const round = before && !state.skipped.includes(before.step) ? openRound(at, before) : undefined;
  if (round) return round;
  if (step.applies && !wanted) {
    const time = timeOf(state, course);
    const { yes, no, marker } = step.applies;
    const [applies, not] = [yes, no].map((probe) => holds(probe, facts.survey, time));
    // Both or neither: what is there does not say, and nobody guesses.
    const question = whetherItApplies(step, step.applies, state, course);
    const answer = applies === not ? decided(question) : applies ? "A" : "no";
    if (answer === undefined) return { is: "ask", question };
    if (answer !== "A") {
      const reason = answer === "no" ? "it does not apply here" : "a person said that it does not";
      return marker === undefined ? skip(reason) : { is: "mark-skipped", marker, reason };
    }
  }
  if (step.optional && !wanted) {
    const question = whetherOptional(step, state, course);
    const answer = decided(question);
    if (answer === undefined) return { is: "ask", question };
    if (answer === "B") return skip("it is optional, and nobody wants it");
  }
  const blocked = blockedBy(at, step);
  if (blocked) return blocked;
  if (step.tracker && facts.tracker) {
    const ready = trackerReady(trackerPlace(at), facts.tracker);
    if (ready.is === "not-yet") return ready.move;
  }
  const started = { type: "step-started" as const, step: step.step, name: step.name };
  const { there } = facts.skill;
  if (wanted)
    return record({ ...started, ...(there.length > 0 && { treats: "overwrite" as const }) });
  // In a later cycle what lies there is of the one before, and behind another flow it is that one's.
  const isFirst = state.cycle === 1 && course.entry === undefined;
  if (step.done && there.length > 0 && (isFirst || isRedone(step, course))) {
    const question = whatOfArtifacts(step, there, state, course);
    const answer = decided(question);
    if (answer === undefined) return { is: "ask", question };
    if (answer === "C") return skip("its artifacts were there already");
    return record({ ...started, treats: answer === "A" ? "resume" : "overwrite" });
  }
  return record(started);
}

function stopBefore({ flow, course, facts, limits }: Place, step: Step): FlowMove | undefined {
  const atBoundary = course.boundary !== undefined && course.boundary.at > limits.begun;
  if (atBoundary) {
    const before = flow.steps.find(
      ({ then, step: number }) => then?.boundary && afterStep(flow, number)?.step === step,
    );
    // A new cycle is begun by whoever wants one: no option has us go round and round.
    if (!before?.then?.boundary) return rest({ is: "round", next: step });
    if (!limits.throughBoundaries) {
      const question = boundaryQuestion(before.then.boundary, facts.ahead);
      return rest({ is: "boundary", question, next: step });
    }
  }
  return limits.stopping ? rest({ is: "stopped" }) : undefined;
}

/** A checkpoint that only a person passes. */
function confirming(
  { state, course, facts, decided }: Place,
  step: Step,
  confirms: NonNullable<Step["confirms"]>,
): FlowMove {
  if (step.done && holds(step.done, facts.survey, timeOf(state, course))) {
    return record({ type: "step-completed", outcome: "confirmed" });
  }
  const question = confirmation(step, confirms, state, course);
  const answer = decided(question);
  if (answer === undefined) return { is: "ask", question };
  if (answer === "A") return { is: "confirm", ...confirms };
  return record({ type: "step-aborted", reason: "it is edited first" });
}

/** Without what it needs, no agent is started unasked: it could only make something up. */
function blockedBy({ state, course, facts, decided }: Place, step: Step): FlowMove | undefined {
  const { missing, lacks } = facts.skill;
  if (missing !== undefined) {
    const question = skillBlocked(step, missing, state, course);
    return afterFailure(decided(question), question, step, course);
  }
  if (lacks.length === 0) return undefined;
  const question = needsMissing(step, lacks, state, course);
  const answer = decided(question);
  if (answer === undefined) return { is: "ask", question };
  if (answer === "A") return undefined;
  return record(
    answer === "B"
      ? { type: "step-skipped", reason: "with warning: what it needs is not there" }
      : { type: "step-aborted", reason: "what it needs is made first" },
  );
}

// ── a step under way ───────────────────────────────────────────────────────────────────────────

function underWay(at: Place, step: Step): FlowMove {
  const { state, course, facts, limits, decided } = at;
  const { session } = course;
  if (limits.stopping) return rest({ is: "stopped" });
  if (session?.lease && session.ended === undefined)
    return fetched(at, step, session, session.lease);
  const blocked = session === undefined ? blockedBy(at, step) : undefined;
  if (blocked) return blocked;
  if (session === undefined) return work(at, step, sessionBefore(at), retryNotes(state));
  switch (session.ended) {
    // It died with us, or was told to stop: it goes on.
    case undefined:
    case "stopped":
      return work(at, step, session, []);
    case "asked": {
      if (!session.asks) return work(at, step, session, []);
      const question = skillAsks(session.asks, state, session.number);
      const answer = decided(question);
      if (answer === undefined) return { is: "ask", question };
      const chosen = question.options.find(({ key }) => key === answer)?.text ?? "";
      return work(at, step, session, [
        `You asked: ${question.question}\nThe answer is ${answer}) ${chosen}`,
      ]);
    }
    case "limited": {
      const { until = limits.now, reason = "a usage limit" } = session;
      if (until <= limits.now) return work(at, step, session, []);
      return limits.waits ? { is: "wait", until, reason } : rest({ is: "parked", until, reason });
    }
    case "unable": {
      const question = skillBlocked(step, session.reason ?? "its agent cannot work", state, course);
      return afterFailure(decided(question), question, step, course) ?? work(at, step, session, []);
    }
    case "stuck": {
      const why = session.reason ?? "nothing new has come of it";
      if (course.stuck <= mostStuck) {
        return work(at, step, undefined, [`The last session went nowhere: ${why}`]);
      }
      const question = stuckAt(step, why, state, course);
      if (decided(question) === "B") {
        return record({ type: "sub-step-skipped", next: subStepAfter(state.subStep, facts.skill) });
      }
      return (
        afterFailure(decided(question), question, step, course) ?? work(at, step, undefined, [])
      );
    }
    // The sub-step goes on, in a session that knows nothing but what is on disk.
    default:
      return work(at, step, undefined, retryNotes(state));
  }
}

/** A session that somebody came for: his until he reports it, or his lease lapses. */
function fetched(at: Place, step: Step, session: SkillSession, lease: Lease): FlowMove {
  const { number, report, notes = [] } = session;
  const again = work(at, step, undefined, []);
  if (again.is !== "run-skill") return again;
  if (report) return { is: "judge-skill", work: { ...again.work, session: number }, report };
  const { until, by } = lease;
  switch (standingOf(lease, at.limits)) {
    case "ours":
      return { is: "run-skill", work: { ...again.work, session: number, notes, lease } };
    case "theirs":
      return rest({ is: "lent", by, until });
    case "lapsed":
      return record({
        type: "skill-ended",
        session: number,
        how: "stopped",
        reason: `${by}, who had come for it, has not reported`,
      });
  }
}

/** Of the step before, where a person wants to go on in the same conversation. */
const sessionBefore = ({ course: { boundary }, limits }: Place): Resumable | undefined =>
  limits.sameConversation && boundary?.agent !== undefined && boundary.session !== undefined
    ? { agent: boundary.agent, id: boundary.session, tokens: 0 }
    : undefined;

type Resumable = Pick<SkillSession, "agent" | "id" | "tokens">;

/** So often a sub-step that goes nowhere is begun again; then people are asked. */
const mostStuck = 2;

const retryNotes = ({ retryLog }: FlowState): string[] => {
  const last = retryLog.at(-1);
  return last ? [`The last try failed: ${last.reason}`] : [];
};

/** The next phase of the skill; of a skill that has none to name, only the number is known. */
function subStepAfter({ phase, name }: SubStep, { phases }: SkillFacts): SubStep {
  const at = phases.findIndex((each) => each.name === name);
  const next = phases[at < 0 ? phase : at + 1];
  return {
    phase: phase + 1,
    name: next?.name ?? `after-${name}`,
    detail: `${name} was skipped`,
  };
}

function work(
  at: Place,
  step: Step,
  before: Resumable | undefined,
  notes: readonly string[],
): FlowMove {
  const { state, course, facts } = at;
  const due = step.runs ? dueOfTasks(at, step, step.runs) : wholeStep(step, course, facts.survey);
  if ("is" in due) return due;
  return {
    is: "run-skill",
    work: {
      step,
      ...due.job,
      session: course.sessions + 1,
      ...(before?.id !== undefined && {
        resumes: { agent: before.agent, id: before.id, tokens: before.tokens },
      }),
      notes: [
        ...(course.treats === "overwrite" && state.subStep.phase === 0
          ? ["What is there of this step's artifacts is to be done anew: overwrite it."]
          : []),
        ...(facts.skill.lacks.length > 0
          ? [`These are not there, and a person said to go on: ${facts.skill.lacks.join(", ")}`]
          : []),
        ...(due.notes ?? []),
        ...notes,
      ],
    },
  };
}

interface Due {
  readonly job: Pick<SkillWork, "skill" | "mode" | "part" | "leaves">;
  readonly notes?: readonly string[];
}

function wholeStep(step: Step, course: Course, survey: Survey): Due {
  const { skill } = step;
  if (skill === undefined) throw new Error(`step ${step.step} has no skill`);
  const mode = modeOf(step, course, survey);
  return { job: { skill, ...(mode !== undefined && { mode }) } };
}

/**
 * Of a step that runs tasks: they are put right where they cannot be run, run, told batch by batch,
 * reviewed, and reported. A session that has not come to its end goes on before anything else.
 */
function dueOfTasks(at: Place, step: Step, runs: TaskWork): Due | FlowMove {
  const { flow, state, course, facts, limits } = at;
  const { skill = "" } = step;
  const { batches, reviewed, trouble, parked } = course.tasks ?? noTasksYet;
  const { todo, done, errors } = facts.tasks;
  const docs = [...(facts.survey.docs?.keys() ?? [])];
  const { session } = course;
  const goesOn =
    session?.ended === "done" || session?.ended === "failed" ? undefined : session?.part;
  const cannot = todo.length > 0 ? errors : [];
  if (goesOn === "mend" || (goesOn === undefined && (trouble !== undefined || cannot.length > 0))) {
    const notes = [
      ...(trouble === undefined
        ? []
        : [`Put the tasks right before they are run again: ${trouble}`]),
      ...cannot.map((error) => `The tasks cannot be run: ${error}`),
    ];
    return { job: { skill, mode: "mend", part: "mend" }, notes };
  }
  const under = underStep(flow.name, step.step, state.cycle);
  const run = at.runs.findLast((each) => each.under === under);
  const number = 1 + Math.max(highestBatch(docs), ...batches.map((each) => each.number));
  const due: readonly Batch["tasks"][] = run
    ? dueBatches(run, batches, facts.tasks)
    : todo.length === 0 && batches.length === 0 && number === 1 && done.length > 0
      ? [done.map((task) => wasDone(task))]
      : [];
  if (due.length > 0) {
    return record(...due.map((tasks, index) => batchReported({ number: number + index, tasks })));
  }
  const unwritten = batches.filter((batch) => !docs.includes(batchFile(batch.number)));
  if (unwritten.length > 0) return { is: "write-batches", batches: unwritten };
  // Nothing may be left in todo/ and the run not be over: its last landing is not published yet. What
  // has landed and lies there all the same is for whoever reads the report's complaint.
  const isRun =
    run?.ended === "complete" && todo.every((name) => hasLanded(run, name, facts.tasks));
  if (run ? !isRun : todo.length > 0) {
    if (parked && parked.until > limits.now)
      return limits.waits ? { is: "wait", ...parked } : rest({ is: "parked", ...parked });
    const lent = run && !limits.waits ? lentIn(run, limits) : undefined;
    return lent ? rest({ is: "lent", ...lent }) : { is: "run-tasks", step, runs, under };
  }
  const last = batches.at(-1);
  if (runs.review !== undefined && last && (goesOn === "review" || reviewed < batches.length)) {
    const leaves = reviewFile(last.number);
    const files = batches.slice(reviewed).map((batch) => `_docs/${batchFile(batch.number)}`);
    return {
      job: { skill: runs.review, part: "review", leaves },
      notes: [
        `Review what these batches have landed, commit by commit: ${files.join(", ")}`,
        `Write _docs/${leaves}. A finding that is critical or high is a FAIL.`,
      ],
    };
  }
  return { is: "report-tasks", step, runs };
}

/** Where all that is under way is with others, nobody here has anything to do. */
function lentIn(
  { readiness, phases }: PlanRun,
  limits: FlowLimits,
): { readonly by: string; readonly until: string } | undefined {
  const leases = readiness.active.flatMap((index) => {
    const state = phases[index]?.state;
    return state?.is === "working" && state.lease && !state.report ? [state.lease] : [];
  });
  const theirs = leases.filter((lease) => standingOf(lease, limits) === "theirs");
  const [first] = theirs;
  const isAll = theirs.length === readiness.active.length && readiness.ready.length === 0;
  return first && isAll ? { by: first.by, until: first.until } : undefined;
}

/** Nobody's run has it: it lay in `done/` when the step began. */
const wasDone = (task: string): Batch["tasks"][number] => ({
  id: task,
  task,
  name: task,
  result: "was done",
  attempts: 0,
  troubles: [],
  notes: [],
});

/** A second round of research examines the first one's draft. */
const modeOf = (step: Step, { reopened }: Course, survey: Survey): string | undefined =>
  step.asks === "research-round" && reopened.includes(step.step) && draftsIn(survey).length > 0
    ? "b"
    : step.mode;

// ── failure ────────────────────────────────────────────────────────────────────────────────────

function failed({ state, course, decided }: Place, step: Step): FlowMove {
  const question = skillFailed(step, state, course);
  const move = afterFailure(decided(question), question, step, course, state);
  return move ?? { is: "ask", question };
}

/** A) once more B) without it C) not now. */
function afterFailure(
  answer: string | undefined,
  question: Question,
  step: Step,
  { blocker }: Course,
  state?: FlowState,
): FlowMove | undefined {
  if (answer === undefined) return { is: "ask", question };
  const texts = new Set([
    ...(blocker === undefined ? [] : [blocker]),
    ...(state?.blockers ?? []).filter((text) => isOfFailure(text, step)),
  ]);
  const cleared = [...texts].map((text): Event => ({ type: "blocker-cleared", text }));
  if (answer === "A") return record(...cleared, reopening(step, "retry"));
  if (answer === "B") {
    return record(...cleared, { type: "step-skipped", reason: "with warning, after it failed" });
  }
  return record({ type: "step-aborted", reason: "to be looked at by a person" });
}

/** Ours, about this step: what people have written down themselves stays. */
const isOfFailure = (text: string, { step, name }: Step): boolean =>
  text.endsWith("Auto-retry exhausted.") || text.startsWith(`step ${step} ${name} has failed `);
