/**
 * What has to happen before a flow goes on: the file is made, a doubt about it is put to a
 * person, an answer is carried out. Pure; called again after each move until it says "go-on".
 */
import { type Answer, decisionId, type Question } from "../decision.ts";
import type { Event } from "../event.ts";
import type { ProjectState } from "../evolve.ts";
import { numberOf } from "./course.ts";
import type { Check, Onward } from "./cross-check.ts";
import type { Flow, Step } from "./flow.ts";
import { builtInFlows, flowNamed } from "./flows/index.ts";
import { placesMeant, whichFlow, whichStep } from "./questions.ts";
import { type FlowState, knownStatuses } from "./state.ts";
import { placeIn, type Whereabouts } from "./whereabouts.ts";

/** The kinds that are asked here, and lapse by themselves when they no longer arise. */
export const openingKinds: readonly string[] = [
  "both-names",
  "migrate",
  "unknown-status",
  "which-flow",
  "which-step",
];

export type Opening =
  /** `then`: where a person wants it to be, of the places that the folders leave open. */
  | { readonly is: "create"; readonly state: FlowState; readonly then?: Event }
  /** The flow is somewhere else than the file says. */
  | { readonly is: "move"; readonly event: Event; readonly line: string }
  | { readonly is: "ask"; readonly id: string; readonly question: Question }
  | { readonly is: "keep-one"; readonly keep: string; readonly drop: string }
  | { readonly is: "migrate" }
  | { readonly is: "go-on" };

export function openingMove(
  state: ProjectState,
  here: Whereabouts,
  hash: (text: string) => string,
  { check, flows = builtInFlows }: { check?: Check; flows?: readonly Flow[] } = {},
): Opening {
  const decided = (question: Question): { id: string; answer: Answer | undefined } => {
    const id = decisionId(question, hash);
    return { id, answer: state.decisions[id]?.answer };
  };
  if (here.bothNames) {
    const [first, second] = here.files;
    if (first && second) {
      const question = whichFile(first, second, state, hash);
      const { id, answer } = decided(question);
      if (!answer) return { is: "ask", id, question };
      const [keep, drop] = answer.key === "A" ? [first, second] : [second, first];
      return { is: "keep-one", keep: keep.path, drop: drop.path };
    }
  }
  const chooseAmong = (
    places: readonly Step[],
    told: Parameters<typeof whichStep>[2],
  ): Step | Extract<Opening, { is: "ask" }> => {
    const question = whichStep(here.state.flow, places, told);
    const { id, answer } = decided(question);
    if (!answer) return { is: "ask", id, question };
    const meant = placesMeant(places, answer.key);
    return meant.length > 1 ? chooseAmong(meant, told) : (meant[0] ?? (places[0] as Step));
  };
  if (here.verdict.is === "nothing") {
    if ((here.fitting?.length ?? 0) > 1) {
      const question = whichFlow(here.fitting ?? [], flows);
      return { is: "ask", id: decisionId(question, hash), question };
    }
    if (here.places) {
      const { cycle } = here.state;
      const why = "the folders cannot tell which step comes next";
      const step = chooseAmong(here.places, { cycle, cause: "scan", why });
      if ("is" in step) return step;
      const to = step === here.onward?.step ? here.onward : { step, cycle };
      const skips = (here.owed ?? []).filter((each) => numberOf(each) < numberOf(step.step));
      const then = answered(here.state.flow, to, skips);
      return { is: "create", state: here.state, then };
    }
    return { is: "create", state: here.state };
  }
  if (here.generation < 3) {
    const question = whetherToMigrate(here, state);
    const { id, answer } = decided(question);
    if (!answer) return { is: "ask", id, question };
    if (answer.key === "A") return { is: "migrate" };
  }
  const { status } = here.state;
  if (!(knownStatuses as readonly string[]).includes(status)) {
    const question = whatStatusMeans(here.state, state);
    return { is: "ask", id: decisionId(question, hash), question };
  }
  const { flow: position, course } = state;
  const flow = position && flowNamed(position.flow, flows);
  if (flow && course?.doubt) {
    const places = flow.steps.filter(({ step }) => course.doubt?.includes(step));
    const why = "neither the state file nor the folders say which step it is";
    const told = { cycle: position.cycle, cause: `event ${course.enteredAt}`, why };
    const step = chooseAmong(places, told);
    if ("is" in step) return step;
    const line = `the work goes on at step ${step.step} ${step.name}, as a person said`;
    const event = answered(flow.name, { step, cycle: position.cycle }, []);
    return { is: "move", event, line };
  }
  return correction(state, check, chooseAmong) ?? { is: "go-on" };
}

/** What the folders contradict is put right, or put to a person. */
function correction(
  { flow: position, course }: ProjectState,
  check: Check | undefined,
  chooseAmong: (
    places: readonly Step[],
    told: Parameters<typeof whichStep>[2],
  ) => Step | Extract<Opening, { is: "ask" }>,
): Opening | undefined {
  if (!position || !check || check.is === "agrees") return undefined;
  if (check.is === "further") {
    const { subStep, line } = check;
    return { is: "move", event: { type: "sub-step-reported", subStep }, line };
  }
  const { flow, cycle } = position;
  if (check.is === "elsewhere") {
    const event: Event = { ...entering(flow, check.to), why: "corrected" };
    return { is: "move", event, line: check.line };
  }
  const told = { cycle, cause: `event ${course?.enteredAt ?? 0}`, why: check.line };
  const chosen = chooseAmong(check.places, told);
  if ("is" in chosen) return chosen;
  const line = `the work goes on at step ${chosen.step} ${chosen.name}, as a person said`;
  const owed = check.owed.map(({ step }) => step);
  if (chosen.step === position.step) {
    return { is: "move", event: { type: "steps-excused", steps: owed }, line };
  }
  const to = chosen === check.onward?.step ? check.onward : { step: chosen, cycle };
  const skips = owed.includes(chosen.step) ? [] : owed;
  return { is: "move", event: answered(flow, to, skips), line };
}

const entering = (
  flow: string,
  { step, cycle, seen }: Onward,
): Extract<Event, { type: "step-entered" }> => ({
  type: "step-entered",
  flow,
  step: step?.step ?? "done",
  name: step?.name ?? "Done",
  cycle,
  ...(seen && { seen: [...seen] }),
});

/** There, because a person said so, and without what is not there of the steps before it. */
const answered = (flow: string, to: Onward, skips: readonly string[]): Event => ({
  ...entering(flow, to),
  why: "answered",
  ...(skips.length > 0 && { skips: [...skips] }),
});

type FoundFile = Whereabouts["files"][number];

function whichFile(
  first: FoundFile,
  second: FoundFile,
  state: ProjectState,
  hash: (text: string) => string,
): Question {
  // Our own file changes as we write to it; what raises the question is the other one.
  const foreign = [first, second].filter(({ path }) => path !== state.stateFile?.path);
  return {
    kind: "both-names",
    subject: `${first.path} ${second.path}`,
    cycle: 1,
    cause: hash(foreign.map(({ text }) => text).join("\0")).slice(0, 24),
    question: `two state files — which one is right?`,
    options: [
      { key: "A", text: `${first.path}: ${placeIn(first)}` },
      { key: "B", text: `${second.path}: ${placeIn(second)}` },
    ],
    recommendation: "A",
    reason: "it has the present name; the other one is kept in the rescue folder",
    blocks: "the flow",
  };
}

function whetherToMigrate(here: Whereabouts, state: ProjectState): Question {
  const path = state.stateFile?.path ?? here.files[0]?.path ?? "the state file";
  return {
    kind: "migrate",
    subject: "state file",
    cycle: 1,
    cause: `event ${state.stateFile?.generationSince ?? 0}`,
    question: `${path} is of generation ${here.generation} — migrate it?`,
    options: [
      { key: "A", text: "Migrate it to generation 3, as _docs/_autodev_state.md" },
      { key: "B", text: "Keep its name and form, for older skills that read it" },
    ],
    recommendation: "A",
    reason: "generation 3 knows cycles and exact sub-steps; autodev migrate --to goes back",
    blocks: "the flow",
  };
}

function whatStatusMeans(state: FlowState, { stateFile }: ProjectState): Question {
  return {
    kind: "unknown-status",
    subject: `${state.flow} ${state.step}`,
    cycle: state.cycle,
    cause: `event ${stateFile?.adoptedAt ?? 0}`,
    question: `step ${state.step} ${state.name} has the status "${state.status}" — what does it mean?`,
    options: [
      { key: "A", text: "The step is under way: go on with it" },
      { key: "B", text: "The step has not begun: start it" },
      { key: "C", text: "The step is done: go to the next" },
    ],
    recommendation: "A",
    reason: "going on loses nothing, whichever it is",
    blocks: "the flow",
  };
}
