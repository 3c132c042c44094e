/**
 * Everything that a flow asks people, word for word. Each is about one occasion (an event), so that
 * a crash, a second session or another door arrives at the same question and finds its answer.
 */
import type { DecisionOption, Question } from "../decision.ts";
import { type Course, isBroken } from "./course.ts";
import type { Boundary, Condition, Flow, Step, Survey } from "./flow.ts";
import type { FlowState } from "./state.ts";
import { oneLine } from "./state-file.ts";

const lettered = (...texts: readonly (string | Omit<DecisionOption, "key">)[]): DecisionOption[] =>
  texts.map((text, at) => ({
    key: "ABCD"[at] as string,
    ...(typeof text === "string" ? { text } : text),
  }));

interface About {
  readonly kind: string;
  readonly state: FlowState;
  readonly cause: string;
}

const about = ({
  kind,
  state,
  cause,
}: About): Pick<Question, "kind" | "subject" | "cycle" | "cause" | "blocks"> => ({
  kind,
  subject: `${state.flow} ${state.step}`,
  cycle: state.cycle,
  cause,
  blocks: "the flow",
});

/** Those about the step that the flow is at: with it they are over. */
export const stepKinds: readonly string[] = [
  "optional-step",
  "conditional-step",
  "artifacts-exist",
  "confirmation",
  "research-round",
  "skill-failed",
  "skill-blocked",
  "needs-missing",
  "stuck",
  "skip-step",
  "go-back",
  "rollback",
  "skill-gate",
];

// ── where are we ───────────────────────────────────────────────────────────────────────────────

export const whichFlow = (names: readonly string[], flows: readonly Flow[]): Question => ({
  kind: "which-flow",
  subject: "flow",
  cycle: 1,
  cause: names.join(" "),
  question: "several flows fit this project — which one is it?",
  options: lettered(
    ...names.map((name) => `${name}: ${flows.find((flow) => flow.name === name)?.about ?? ""}`),
  ),
  recommendation: "A",
  reason: "it fits what lies at the root; --flow chooses another",
  blocks: "the flow",
});

/** Four at a time: behind the last letter are those that are left. */
export function whichStep(
  flow: string,
  places: readonly Step[],
  { cycle, cause, why }: { cycle: number; cause: string; why: string },
): Question {
  const shown = places.length > 4 ? places.slice(0, 3) : places;
  const rest = places.slice(shown.length);
  const named = ({ step, name }: Step): string => `Step ${step} ${name}`;
  return {
    kind: "which-step",
    subject: flow,
    cycle,
    cause: `${cause}: ${places.map(({ step }) => step).join(" ")}`,
    question: `${why} — where does the work go on?`,
    options: lettered(
      ...shown.map(named),
      ...(rest.length > 0 ? [`A later one: ${rest.map(named).join(", ")}`] : []),
    ),
    recommendation: "A",
    reason: "it is the earliest: nothing is left out",
    blocks: "the flow",
  };
}

/** The step that an answer means; several: there is more to ask. */
export function placesMeant(places: readonly Step[], key: string): readonly Step[] {
  const at = "ABCD".indexOf(key);
  if (places.length > 4 && at === 3) return places.slice(3);
  return places.slice(at, at + 1);
}

// ── whether a step is done at all ──────────────────────────────────────────────────────────────

const cause = ({ enteredAt }: Course): string => `event ${enteredAt}`;

export const whetherOptional = (step: Step, state: FlowState, course: Course): Question => ({
  ...about({ kind: "optional-step", state, cause: cause(course) }),
  question: `step ${step.step} ${step.name} is optional — do it?`,
  options: lettered("Do it", "Skip it"),
  recommendation: "A",
  reason: "skipping it cannot be seen later; doing it costs one session",
});

export const whetherItApplies = (
  step: Step,
  { question }: Condition,
  state: FlowState,
  course: Course,
): Question => ({
  ...about({ kind: "conditional-step", state, cause: cause(course) }),
  question: `step ${step.step} ${step.name} — ${question}`,
  options: lettered(`Yes: do step ${step.step}`, "No: skip it"),
  recommendation: "A",
  reason: "what is there does not say no",
});

export const whatOfArtifacts = (
  step: Step,
  there: readonly string[],
  state: FlowState,
  course: Course,
): Question => ({
  ...about({ kind: "artifacts-exist", state, cause: cause(course) }),
  question: `step ${step.step} ${step.name} has artifacts already — what becomes of them?`,
  facts: listed(there),
  options: lettered(
    "Resume: go on with what is there",
    "Overwrite: do the step anew",
    "Skip: take the step for done",
  ),
  recommendation: "A",
  reason: "nothing is lost by going on",
});

const listed = (paths: readonly string[]): string[] =>
  paths.length > 5
    ? [...paths.slice(0, 4).map((path) => `_docs/${path}`), `and ${paths.length - 4} more`]
    : paths.map((path) => `_docs/${path}`);

/** The document that a person has to have read. */
export const confirmation = (
  step: Step,
  { file }: NonNullable<Step["confirms"]>,
  state: FlowState,
  course: Course,
): Question => ({
  ...about({ kind: "confirmation", state, cause: `event ${course.occasion}` }),
  question: `${step.name.slice(0, 1)}${step.name.slice(1).toLowerCase()} — is \`_docs/${file}\` right?`,
  options: lettered("Yes, mark it confirmed and go on", "I'll edit it first, stop here"),
  recommendation: "B",
  reason: "everything later rests on it: read it before you confirm it",
  destructive: true,
});

export function researchRound(state: FlowState, survey: Survey, course: Course): Question {
  const drafts = draftsIn(survey);
  const there = (name: string): string => (survey.docs?.has(`01_solution/${name}`) ? "yes" : "no");
  const newest = drafts.at(-1) ?? "";
  const line = (survey.texts.get(newest) ?? "")
    .split("\n")
    .map((text) => text.replace(/^#+\s*/, "").trim())
    .find((text) => text !== "");
  return {
    ...about({ kind: "research-round", state, cause: `event ${course.occasion}` }),
    question: "research complete — another round, or on to Plan?",
    facts: [
      `Drafts: ${drafts.length} · tech_stack.md: ${there("tech_stack.md")} · security_analysis.md: ${there("security_analysis.md")}`,
      `Newest: ${line ?? newest}`,
    ],
    options: lettered(
      "Another round (mode B): the newest draft is examined and improved",
      "Go on to Plan: the last draft becomes solution.md",
    ),
    recommendation: drafts.length > 1 ? "B" : "A",
    reason:
      drafts.length > 1
        ? "the draft has been examined once"
        : "nobody has examined the first draft yet",
  };
}

export const draftsIn = ({ docs }: Survey): string[] =>
  [...(docs?.keys() ?? [])]
    .filter((path) => /^01_solution\/solution_draft[^/]*\.md$/.test(path))
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));

// ── boundaries ─────────────────────────────────────────────────────────────────────────────────

/** Not on record as a decision: the next invocation is answer A. */
export const boundaryQuestion = (
  { title, next }: Boundary,
  facts: readonly string[],
): Question => ({
  kind: "boundary",
  subject: next,
  cycle: 1,
  cause: title,
  question: `${title} — start ${next}?`,
  ...(facts.length > 0 && { facts }),
  options: lettered(`Start a new conversation for ${next} (recommended for context freshness)`, {
    text: "Continue in this conversation (NOT recommended — context may degrade)",
    notes: [
      `Warning: if context fills mid-${next}, state will be saved and you will`,
      "still be asked to resume in a new conversation — option B only delays that.",
    ],
  }),
  recommendation: "A",
  reason: `${next} is long; fresh context helps`,
  blocks: "the flow",
});

// ── failure ────────────────────────────────────────────────────────────────────────────────────

const upTo = (text: string, most = 300): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

export function skillFailed(step: Step, state: FlowState, course: Course): Question {
  const { subStep } = state;
  const series = course.failedSeries[state.step] ?? 1;
  const broken = isBroken(course, state.step);
  return {
    ...about({ kind: "skill-failed", state, cause: `event ${course.occasion}` }),
    title: "SKILL FAILED",
    question: `${step.skill ?? step.name} — 3 consecutive failures`,
    facts: [
      `Step: ${step.step} — ${step.name}`,
      `SubStep: ${subStep.phase} — ${subStep.name}`,
      `Last failure reason: ${upTo(course.session?.reason ?? lastReason(state))}`,
      ...(broken
        ? [`It has failed so ${series} times in a row: only a person starts it again.`]
        : []),
    ],
    options: lettered(
      "Retry with fresh context (new conversation)",
      "Skip this step with warning",
      "Abort — investigate and fix manually",
    ),
    recommendation: "A",
    reason: "fresh context often resolves persistent failures",
    // Retrying for ever is no recommendation.
    ...(broken && { destructive: true }),
  };
}

const lastReason = ({ retryLog, blockers }: FlowState): string =>
  retryLog.at(-1)?.reason ?? blockers.at(-1) ?? "not known: the state file says no more";

/** Its skill counts on what is not there: an older tool made it otherwise, or it was never made. */
export const needsMissing = (
  step: Step,
  lacks: readonly string[],
  state: FlowState,
  course: Course,
): Question => ({
  ...about({
    kind: "needs-missing",
    state,
    cause: `event ${Math.max(course.enteredAt, course.abortedAt ?? 0)}: ${lacks.join(" ")}`,
  }),
  question: `step ${step.step} ${step.name} needs what is not there`,
  facts: listed(lacks),
  options: lettered(
    "Go on without it: the agent is told",
    "Skip this step with warning",
    "Abort — make it first, then autodev again",
  ),
  recommendation: state.status === "in_progress" ? "A" : "C",
  reason:
    state.status === "in_progress"
      ? "the step was begun without it"
      : "whoever has to do without it can only make it up",
});

/** It cannot be done as things are, and trying again would change nothing. */
export const skillBlocked = (
  step: Step,
  why: string,
  state: FlowState,
  course: Course,
): Question => ({
  ...about({ kind: "skill-blocked", state, cause: `event ${course.occasion}: ${why}` }),
  question: `step ${step.step} ${step.name} cannot go on`,
  facts: [upTo(why)],
  options: lettered(
    "Retry: what was missing is there now",
    "Skip this step with warning",
    "Abort — investigate and fix manually",
  ),
  recommendation: "C",
  reason: "trying again changes nothing by itself",
});

export const stuckAt = (step: Step, why: string, state: FlowState, course: Course): Question => ({
  ...about({ kind: "stuck", state, cause: `event ${course.occasion}` }),
  title: "RECOVERY",
  question: `${step.skill ?? step.name} stuck at ${state.subStep.name}`,
  facts: [upTo(why)],
  options: lettered(
    "Retry with fresh context (new conversation)",
    "Skip this sub-step with warning",
    "Abort and fix manually",
  ),
  recommendation: "A",
  reason: "fresh context often resolves stuck loops",
});

// ── what people want ───────────────────────────────────────────────────────────────────────────

/** What waits for a step: the steps behind it that need what it leaves. */
export const whetherToSkip = (
  step: Step,
  dependents: readonly string[],
  state: FlowState,
  course: Course,
): Question => ({
  ...about({ kind: "skip-step", state, cause: `event ${course.occasion}` }),
  question: `skip step ${step.step} ${step.name}?`,
  facts:
    dependents.length > 0
      ? ["These need what it would leave:", ...dependents.map((each) => `  ${each}`)]
      : ["No later step needs what it would leave."],
  options: lettered(
    { text: "Skip it with warning", brings: { do: "skip", step: step.step, name: step.name } },
    "Execute the step",
  ),
  recommendation: "B",
  reason: "what is skipped is missing later",
});

export const whetherToGoBack = (
  step: Step,
  overwritten: readonly string[],
  state: FlowState,
  course: Course,
): Question => ({
  ...about({ kind: "go-back", state, cause: `event ${course.occasion}: ${step.step}` }),
  question: `go back to step ${step.step} ${step.name}?`,
  facts:
    overwritten.length > 0
      ? ["These will be overwritten:", ...listed(overwritten).map((each) => `  ${each}`)]
      : ["Nothing of it is there."],
  options: lettered(
    { text: "Re-run the step", brings: { do: "back", step: step.step, name: step.name } },
    `Stay on the current step (${state.step} ${state.name})`,
  ),
  recommendation: "B",
  reason: "later steps rest on what it left",
});

export const whetherToRollBack = (
  step: Step,
  {
    changes,
    stale,
    folder,
  }: { changes: readonly string[]; stale: readonly string[]; folder: string },
  state: FlowState,
  course: Course,
): Question => ({
  ...about({ kind: "rollback", state, cause: `event ${course.occasion}: ${step.step}` }),
  title: "ROLLBACK",
  question: `Re-run ${step.name}?`,
  facts: [
    ...(changes.length > 0 ? changes : ["No file changes: they are as the step left them."]),
    ...(stale.length > 0
      ? ["Stale afterwards, and kept:", ...stale.map((each) => `  ${each}`)]
      : []),
  ],
  options: lettered(
    {
      text: "Re-run the step (overwrites current artifacts)",
      brings: { do: "roll-back", step: step.step, name: step.name },
    },
    "Stay on current step",
  ),
  warning: `This will overwrite files in _docs/${folder}/`,
  recommendation: "B",
  reason: "what later steps have made of it would be stale",
  destructive: true,
});

// ── the skill's own ────────────────────────────────────────────────────────────────────────────

export interface SkillQuestion {
  readonly question: string;
  readonly options: readonly string[];
  readonly recommendation: string;
  readonly reason: string;
}

export const skillAsks = (
  { question, options, recommendation, reason }: SkillQuestion,
  state: FlowState,
  session: number,
): Question => ({
  ...about({ kind: "skill-gate", state, cause: `session ${session}` }),
  question: oneLine(question),
  options: lettered(...options.map(oneLine)),
  // A letter that is not offered recommends nothing.
  recommendation: "ABCD".indexOf(recommendation) < options.length ? recommendation : "A",
  reason: oneLine(reason),
});
