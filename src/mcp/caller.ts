/** The one who calls, and the people that an engine wants: nobody sits at this end who could answer. */
import type { Event } from "../core/event.ts";
import { succeed } from "../core/failure.ts";
import type { Puller } from "../core/lease.ts";
import type { BuildPeople, FlowPeople, LentWork } from "../project.ts";

/** The one who calls: what it is called, whether it still wants to know, what it hears meanwhile. */
export interface Caller {
  readonly cwd: string;
  readonly puller: Puller;
  readonly signal: AbortSignal;
  progress(line: string): void;
  /** Something was given; the server remembers what. */
  lent(work: LentWork): void;
}

/** Nobody sits at this end who could answer: what is asked is told, and answered by `decide`. */
export function peopleFor(
  caller: Caller,
  fetches: boolean,
  lent: (work: LentWork) => void,
  happened: (events: readonly Event[]) => void = () => undefined,
): FlowPeople & BuildPeople & { readonly pull: NonNullable<BuildPeople["pull"]> } {
  const { puller, signal, progress } = caller;
  return {
    ask: async () => succeed(undefined),
    askTrust: async () => succeed(undefined),
    by: puller.by,
    signal,
    killNow: signal,
    happened: (events) => {
      happened(events);
      for (const { type } of events) progress(type.replaceAll("-", " "));
    },
    tell: progress,
    onEvent: (event) => {
      const phase = "phase" in event ? ` (phase ${event.phase})` : "";
      progress(`${event.type.replaceAll("-", " ")}${phase}`);
    },
    onNews: (news) => {
      if ("gate" in news)
        progress(`gate ${news.gate}${news.phase ? ` (phase ${news.phase})` : ""}`);
    },
    pull: { puller, fetches, lent },
  };
}
