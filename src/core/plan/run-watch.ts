/**
 * What somebody who watches a run knows beside the run itself: how long things have taken, what is
 * going on this very moment, what it has cost. A fold of the same events, and of the news where
 * there is any: whoever joins later, in another process, folds the journal and arrives at the same
 * times, without what was only ever said.
 *
 *  1. A phase's time is the time in which somebody was at work on it: not the waits between
 *     attempts, not the hours between two sessions.
 *  2. A session that was killed ended with its last event.
 */
import type { RecordedEvent } from "../event.ts";
import { momentOf } from "./moment.ts";
import type { RunNews, Spend } from "./run-news.ts";

export interface PhaseTimes {
  /** Milliseconds of all attempts so far that are over. */
  readonly spent: number;
  /** Since when it is under way; absent: it is not. */
  readonly since?: number;
  /** It landed: what it took in all. */
  readonly took?: number;
}

/** Of a phase that is under way. */
export interface Activity {
  /** The gate that runs. */
  readonly gate?: string;
  /** The last line that was printed. Not ours: to be made safe before it is shown. */
  readonly line?: string;
}

export interface OpenQuestion {
  readonly id: string;
  readonly question: string;
  readonly recommendation: string;
}

export interface RunWatch {
  /** Phases at once. */
  readonly jobs: number;
  readonly only?: ReadonlySet<string>;
  /** Milliseconds of the sessions that are over. */
  readonly worked: number;
  /** Since when this session goes on; absent: none does. */
  readonly since?: number;
  /** The last sign of life in the journal. */
  readonly last: number;
  readonly times: ReadonlyMap<string, PhaseTimes>;
  readonly activities: Readonly<Record<string, Activity>>;
  /** The gate that runs on what the run builds on. */
  readonly baseline?: string;
  /** By phase: as far as agents have said. */
  readonly spend: Readonly<Record<string, Spend>>;
  /** Questions among the events that nobody has answered. */
  readonly asking: readonly OpenQuestion[];
}

export const unwatched: RunWatch = {
  jobs: 1,
  worked: 0,
  last: 0,
  times: new Map(),
  activities: {},
  spend: {},
  asking: [],
};

/** Many at once: a long history is folded in one go. */
export function watchEvents(watch: RunWatch, events: readonly RecordedEvent[]): RunWatch {
  const times = new Map(watch.times);
  let next: RunWatch = { ...watch, times };
  for (const event of events) {
    const at = momentOf(event.at);
    if (at === undefined) continue;
    next = { ...watchSession(next, times, event, at), last: at };
    if ("phase" in event) {
      const before = times.get(event.phase) ?? { spent: 0 };
      const after = timesAfter(before, event, at);
      if (after !== before) times.set(event.phase, after);
    }
    if (event.type === "usage-counted") next = withSpend(next, event);
    next = watchActivity(next, event);
  }
  return next;
}

export function watchNews(watch: RunWatch, news: RunNews): RunWatch {
  if ("opened" in news) {
    const { history, jobs, only } = news.opened;
    return { ...watchEvents(unwatched, history), jobs, ...(only && { only }) };
  }
  if ("gate" in news) {
    const { gate, phase } = news;
    if (phase === undefined) return { ...watch, baseline: gate };
    return withActivity(watch, phase, { gate, line: news.command });
  }
  if ("text" in news) {
    const { phase, text } = news;
    if (text.trim() === "") return watch;
    return withActivity(watch, phase, { ...watch.activities[phase], line: text });
  }
  return watch;
}

export function addSpend(one: Spend | undefined, other: Spend): Spend {
  const tokens = (one?.tokens ?? 0) + real(other.tokens);
  if (one?.cost === undefined && other.cost === undefined) return { tokens };
  return { tokens, cost: (one?.cost ?? 0) + real(other.cost ?? 0) };
}

/** What an agent reports is its word: what is no number adds nothing. */
const real = (value: number): number => (Number.isFinite(value) && value > 0 ? value : 0);

const withSpend = (
  watch: RunWatch,
  { phase, tokens, cost }: { readonly phase: string } & Spend,
): RunWatch => {
  const more = { tokens, ...(cost !== undefined && { cost }) };
  return { ...watch, spend: { ...watch.spend, [phase]: addSpend(watch.spend[phase], more) } };
};

function watchSession(
  watch: RunWatch,
  times: Map<string, PhaseTimes>,
  event: RecordedEvent,
  at: number,
): RunWatch {
  switch (event.type) {
    case "run-started":
      return { ...watch, since: at };
    case "run-resumed": {
      const died = watch.since === undefined ? 0 : watch.last - watch.since;
      for (const [id, time] of times) times.set(id, paused(time, watch.last));
      return { ...watch, worked: watch.worked + Math.max(0, died), since: at };
    }
    case "run-ended": {
      const { since = at, ...rest } = watch;
      for (const [id, time] of times) times.set(id, paused(time, at));
      return { ...rest, worked: watch.worked + Math.max(0, at - since), activities: {} };
    }
    case "attempt-started":
      return event.slot < watch.jobs ? watch : { ...watch, jobs: event.slot + 1 };
    case "decision-asked": {
      const { id, question, recommendation } = event.decision;
      const others = watch.asking.filter((each) => each.id !== id);
      return { ...watch, asking: [...others, { id, question, recommendation }] };
    }
    case "decision-answered":
    case "decision-withdrawn":
      return { ...watch, asking: watch.asking.filter(({ id }) => id !== event.id) };
    default:
      return watch;
  }
}

function timesAfter(before: PhaseTimes, event: RecordedEvent, at: number): PhaseTimes {
  switch (event.type) {
    case "attempt-started": {
      const { took: _, ...rest } = before;
      return { ...paused(rest, at), since: at };
    }
    case "attempt-failed":
    case "attempt-interrupted":
    case "attempt-parked":
    case "attempt-unable":
    case "attempt-over-budget":
    case "attempt-conflicted":
      return paused(before, at);
    case "phase-landed": {
      const { spent } = paused(before, at);
      return { spent, took: spent };
    }
    case "phase-reset":
      return { spent: 0 };
    default:
      return before;
  }
}

function paused({ since, ...rest }: PhaseTimes, at: number): PhaseTimes {
  return since === undefined ? rest : { ...rest, spent: rest.spent + Math.max(0, at - since) };
}

/** What was printed in one attempt, or by one gate, says nothing about the next. */
function watchActivity(watch: RunWatch, event: RecordedEvent): RunWatch {
  if (event.type === "baseline-taken") {
    const { baseline: _, ...rest } = watch;
    return rest;
  }
  // While it works it tells of these: what it printed last is still what it is at.
  if (event.type === "usage-counted" || event.type === "session-opened") return watch;
  if (!("phase" in event) || !(event.phase in watch.activities)) return watch;
  const { [event.phase]: _, ...activities } = watch.activities;
  return { ...watch, activities };
}

/** Of all the lines, only those of phases under way are kept: a line costs the same in any plan. */
const withActivity = (watch: RunWatch, phase: string, activity: Activity): RunWatch => ({
  ...watch,
  activities: { ...watch.activities, [phase]: activity },
});
