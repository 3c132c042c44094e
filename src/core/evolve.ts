/**
 * State is the fold of events: `events.reduce(evolve, nothingYet)`. This file only dispatches
 * to the nouns; it imports schemas as types alone, so that a page can run the same fold.
 */
import { type Answer, type Decision, isOpen, keyDecisionLine } from "./decision.ts";
import type { RecordedEvent } from "./event.ts";
import { type Course, confirmedBy, evolveCourse } from "./flow/course.ts";
import { evolveFlow } from "./flow/evolve.ts";
import type { Generation, Variant } from "./flow/generations.ts";
import { renderStateFile } from "./flow/render.ts";
import type { FlowState, Sections } from "./flow/state.ts";
import { oneLine } from "./flow/state-file.ts";
import { evolveRun, type PlanRun } from "./plan/progress.ts";
import { evolveTracking, type Tracking } from "./tracker/ledger.ts";

/** The bytes that later renderings are edits of, and how that file is written. */
export interface AdoptedFile {
  readonly path: string;
  readonly text: string;
  readonly generation: Generation;
  readonly variant: Variant;
  /** The event by which these bytes became the truth. */
  readonly adoptedAt: number;
  /** The event since which the file has had this name and generation. */
  readonly generationSince: number;
}

export interface ProjectState {
  readonly flow?: FlowState;
  /** How the flow came to where it is. */
  readonly course?: Course;
  readonly stateFile?: AdoptedFile;
  /** Absent: "pointer". */
  readonly sections?: Sections;
  readonly decisions: Readonly<Record<string, Decision>>;
  /** Runs of plans, by their id; the last one is the current one. */
  readonly runs?: Readonly<Record<string, PlanRun>>;
  /** What was done in a tracker. */
  readonly tracking?: Tracking;
}

export const nothingYet: ProjectState = { decisions: {} };

export function evolve(state: ProjectState, event: RecordedEvent): ProjectState {
  const flow = evolveFlow(state.flow, event);
  const course = evolveCourse(state.course, state.flow, event);
  switch (event.type) {
    case "state-file-adopted": {
      const { path, text, generation, variant, seq } = event;
      const before = state.stateFile;
      const sameName = before?.path === path || event.why === "renamed";
      const sameForm = before?.generation === generation && sameName;
      const stateFile: AdoptedFile = {
        path,
        text,
        generation,
        variant,
        adoptedAt: seq,
        generationSince: sameForm ? before.generationSince : seq,
      };
      return { ...state, ...(flow && { flow }), ...(course && { course }), stateFile };
    }
    case "sections-chosen":
      return { ...state, sections: event.sections };
    case "decision-asked":
      // Asked once, ever: a second record of the same id changes nothing, unless the question
      // had lapsed and has come up again.
      if (knownAndStanding(state.decisions[event.decision.id])) return state;
      return { ...state, decisions: { ...state.decisions, [event.decision.id]: event.decision } };
    case "decision-answered": {
      const decision = state.decisions[event.id];
      // The first answer wins, for ever.
      if (!decision || !isOpen(decision)) return state;
      const { key, by, at } = event;
      const line = oneLine(keyDecisionLine(decision, { key, by, at }));
      const confirmed = confirmedBy(course, flow, decision, key);
      return {
        ...state,
        ...(confirmed && { course: confirmed }),
        ...(flow && { flow: { ...flow, keyDecisions: [...flow.keyDecisions, line] } }),
        decisions: { ...state.decisions, [event.id]: { ...decision, answer: { key, by, at } } },
      };
    }
    case "decision-withdrawn": {
      const decision = state.decisions[event.id];
      if (!decision || !isOpen(decision)) return state;
      const withdrawn = { ...decision, withdrawn: event.reason };
      return { ...state, decisions: { ...state.decisions, [event.id]: withdrawn } };
    }
    default: {
      const before = state.runs?.[event.run];
      const run = evolveRun(before, event);
      if (run && run !== before) return { ...state, runs: { ...state.runs, [event.run]: run } };
      const tracking = evolveTracking(state.tracking, event);
      if (flow === state.flow && course === state.course && tracking === state.tracking)
        return state;
      return {
        ...state,
        ...(flow && { flow }),
        ...(course && { course }),
        ...(tracking && { tracking }),
      };
    }
  }
}

/** What people have answered counts at once, even before whoever holds the project has recorded it. */
export function withAnswers(
  state: ProjectState,
  given: (to: readonly string[]) => ReadonlyMap<string, Answer>,
): ProjectState {
  const open = openDecisions(state);
  if (open.length === 0) return state;
  const answers = given(open.map(({ id }) => id));
  const answered = open.flatMap((decision) => {
    const answer = answers.get(decision.id);
    return answer ? [[decision.id, { ...decision, answer }] as const] : [];
  });
  if (answered.length === 0) return state;
  return { ...state, decisions: { ...state.decisions, ...Object.fromEntries(answered) } };
}

const knownAndStanding = (decision: Decision | undefined): boolean =>
  decision !== undefined && decision.withdrawn === undefined;

/** Runs whose files lie in `.autobuild`; one that was set aside is history. */
export const currentRuns = (state: ProjectState): PlanRun[] =>
  Object.values(state.runs ?? {}).filter((run) => run.aside === undefined);

/** The run that `build` goes on with. */
export const currentRun = (state: ProjectState): PlanRun | undefined => currentRuns(state).at(-1);

export const openDecisions = (state: ProjectState): Decision[] =>
  Object.values(state.decisions).filter(isOpen);

/**
 * The state file as it should stand on disk. An older generation that has no number for the
 * present step is left behind: the file goes on in the current form, under its own name.
 */
export function renderedStateFile(state: ProjectState): { path: string; text: string } | undefined {
  const { flow, stateFile } = state;
  if (!flow || !stateFile) return undefined;
  const options = {
    ...(state.sections && { sections: state.sections }),
    isOurs: (line: string) => toldLines(state).has(line),
  };
  const own = renderStateFile(stateFile.text, flow, { ...options, form: stateFile });
  const text = own.ok ? own : renderStateFile(stateFile.text, flow, options);
  if (!text.ok) throw new Error(`an adopted state file does not render: ${text.failure.message}`);
  return { path: stateFile.path, text: text.value };
}

/** The decisions that we told ourselves: they may give way when the file grows too long. */
const toldLines = ({ decisions }: ProjectState): ReadonlySet<string> =>
  new Set(
    Object.values(decisions).flatMap((decision) =>
      decision.answer ? [oneLine(keyDecisionLine(decision, decision.answer))] : [],
    ),
  );
