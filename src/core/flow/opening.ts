/**
 * What has to happen before a flow goes on: the file is made, a doubt about it is put to a
 * person, an answer is carried out. Pure; called again after each move until it says "go-on".
 */
import { type Answer, decisionId, type Question } from "../decision.ts";
import type { Event } from "../event.ts";
import type { ProjectState } from "../evolve.ts";
import { type FlowState, knownStatuses } from "./state.ts";
import { placeIn, type Whereabouts } from "./whereabouts.ts";

/** The kinds that are asked here, and lapse by themselves when they no longer arise. */
export const openingKinds: readonly string[] = ["both-names", "migrate", "unknown-status"];

export type Opening =
  | { readonly is: "create" }
  | { readonly is: "ask"; readonly id: string; readonly question: Question }
  | { readonly is: "keep-one"; readonly keep: string; readonly drop: string }
  | { readonly is: "migrate" }
  | { readonly is: "go-on" };

export function openingMove(
  state: ProjectState,
  here: Whereabouts,
  hash: (text: string) => string,
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
  if (here.verdict.is === "nothing") return { is: "create" };
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
  return { is: "go-on" };
}

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

/**
 * What an answer brings about by itself, to be recorded in the same transition: no file is ever
 * seen that has the answer but not what follows from it.
 */
export const effectOf = (question: Pick<Question, "kind">, key: string): Event[] =>
  question.kind === "unknown-status"
    ? [{ type: "status-set", status: statusOptions[key] ?? "not_started" }]
    : [];

const statusOptions: Readonly<Record<string, string>> = {
  A: "in_progress",
  B: "not_started",
  C: "completed",
};

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
