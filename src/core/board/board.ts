/**
 * Everything that the dashboard shows of a project, as a fold of the same events that the engine
 * folds. The server folds it so that a page that opens late has it at once; from there on the page
 * folds on by itself, forwards as things happen, and anew when somebody wants to see the past.
 *
 *  1. A board depends on events alone: the same events, the same board, in any process.
 *  2. What it keeps does not grow with how often things happen: figures are kept in slices.
 */
import type { RecordedEvent } from "../event.ts";
import { evolve, nothingYet, type ProjectState } from "../evolve.ts";
import { momentOf } from "../plan/moment.ts";
import type { PlanRun } from "../plan/progress.ts";
import { type RunWatch, unwatched, watchEvents } from "../plan/run-watch.ts";
import { evolveStories, type Stories } from "./attempt-story.ts";
import { nothingSpentYet, type SpendSeries, spendMore } from "./spend.ts";
import { evolveSteps, noStepsYet, type StepStories } from "./step-story.ts";

export interface Board {
  /** Of the last event; 0: nothing has happened yet. */
  readonly seq: number;
  readonly at: string;
  readonly state: ProjectState;
  readonly runs: Readonly<Record<string, RunBoard>>;
  readonly flow: StepStories;
}

/** Of one run, what its own state does not tell. */
export interface RunBoard {
  readonly watch: RunWatch;
  readonly stories: Stories;
  readonly spend: SpendSeries;
  /** As it was when another run took its place: its state is not carried on. */
  readonly last?: PlanRun;
}

export const blankBoard: Board = {
  seq: 0,
  at: "",
  state: nothingYet,
  runs: {},
  flow: noStepsYet,
};

const blankRun: RunBoard = { watch: unwatched, stories: [], spend: nothingSpentYet };

export function evolveBoard(board: Board, event: RecordedEvent): Board {
  const state = evolve(board.state, event);
  const flow = evolveSteps(board.flow, event, board.state);
  const runs = evolveRuns(board, event, state);
  return { seq: event.seq, at: event.at, state, runs, flow };
}

function evolveRuns({ runs, state: before }: Board, event: RecordedEvent, after: ProjectState) {
  // A question is asked by whoever holds the project: every run that goes on shows it.
  if (event.type.startsWith("decision-")) return runs;
  const run = after.runs?.[event.run];
  if (!run) return runs;
  const known = runs[event.run] ?? blankRun;
  const last = event.type === "run-set-aside" ? before.runs?.[event.run] : known.last;
  return {
    ...runs,
    [event.run]: {
      watch: watchEvents(known.watch, [event]),
      stories: evolveStories(known.stories, event, run.agent),
      spend: spent(known, event, run),
      ...(last && { last }),
    },
  };
}

function spent({ spend, stories }: RunBoard, event: RecordedEvent, run: PlanRun): SpendSeries {
  if (event.type !== "usage-counted") return spend;
  const { phase, attempt, tokens, cost } = event;
  const story = stories.findLast((each) => each.phase === phase && each.attempt === attempt);
  return spendMore(spend, {
    at: momentOf(event.at) ?? 0,
    agent: story?.agent ?? run.agent,
    phase,
    tokens,
    ...(cost !== undefined && { cost }),
  });
}

/** The run as people see it: its state, or what it was before another took its place. */
export const runOn = ({ state, runs }: Board, id: string): PlanRun | undefined =>
  runs[id]?.last ?? state.runs?.[id];

/** Newest first. */
export const runsOn = (board: Board): PlanRun[] =>
  Object.keys(board.state.runs ?? {})
    .flatMap((id) => runOn(board, id) ?? [])
    .reverse();

// ── on the wire ────────────────────────────────────────────────────────────────────────────────

type PackedWatch = Omit<RunWatch, "times" | "only"> & {
  readonly times: readonly (readonly [string, unknown])[];
};

/** A board as JSON can carry it. */
export interface PackedBoard extends Omit<Board, "runs"> {
  readonly runs: Readonly<
    Record<string, Omit<RunBoard, "watch"> & { readonly watch: PackedWatch }>
  >;
}

export function packBoard({ runs, ...rest }: Board): PackedBoard {
  const packed = Object.entries(runs).map(([id, { watch, ...run }]) => {
    const { times, only: _, ...plain } = watch;
    return [id, { ...run, watch: { ...plain, times: [...times] } }] as const;
  });
  return { ...rest, runs: Object.fromEntries(packed) };
}

export function unpackBoard({ runs, ...rest }: PackedBoard): Board {
  const unpacked = Object.entries(runs).map(([id, { watch, ...run }]) => {
    const times = new Map(watch.times) as RunWatch["times"];
    return [id, { ...run, watch: { ...watch, times } }] as const;
  });
  return { ...rest, runs: Object.fromEntries(unpacked) };
}
