/**
 * What people say to a run from elsewhere while it is under way: stop, try this one again. A word
 * is on record before anything follows from it, and only then is it taken out of the inbox.
 */

import type { Message } from "../core/message.ts";
import { named } from "../core/plan/ids.ts";
import { isComplete, type PlanRun, phaseOf } from "../core/plan/progress.ts";
import type { RunEvent } from "../core/plan/run-event.ts";
import type { RunSite } from "./run-site.ts";
import type { Retry } from "./start-run.ts";

export interface Hearing {
  /** Waits for a word; resolves with what it brings about. */
  next(): Promise<readonly RunEvent[]>;
  /** What was heard is on record. */
  recorded(): Promise<void>;
  /** What is under way comes to its end, and nothing new begins. */
  isFinishing(): boolean;
  /** As with Ctrl-C, once and twice. */
  readonly signal: AbortSignal;
  readonly killNow: AbortSignal;
  end(): void;
}

const lookEveryMs = 400;

export function hear({ held, run, tell }: Pick<RunSite, "held" | "run" | "tell">): Hearing {
  const [stop, kill] = [new AbortController(), new AbortController()];
  let finishing = false;
  let heard: { readonly id: string; readonly message: Message } | undefined;
  let timer: NodeJS.Timeout | undefined;
  // What lies there from before is seen at once: a short run is over before the second look.
  let waitMs = 0;
  let over = false;
  const look = async (): Promise<readonly RunEvent[] | undefined> => {
    for (const { id, message } of await held.messages()) {
      const brings = broughtAbout(message, run());
      if (typeof brings !== "string") {
        heard = { id, message };
        return brings;
      }
      tell({ notice: brings });
      await held.takenUp(id);
    }
    return undefined;
  };
  return {
    next: () =>
      new Promise((resolve) => {
        const again = (): void => {
          timer = setTimeout(() => {
            // Whoever cannot listen for a moment listens again; nothing that was said is lost.
            void look()
              .catch(() => undefined)
              .then((events) => (events ? resolve(events) : over || again()));
          }, waitMs);
          waitMs = lookEveryMs;
          // Nobody stays only to listen.
          timer.unref();
        };
        again();
      }),
    async recorded() {
      if (!heard) return;
      const { id, message } = heard;
      heard = undefined;
      await held.takenUp(id);
      if (message.say !== "stop") return;
      if (stop.signal.aborted) kill.abort();
      else if (message.how === "now") stop.abort();
      else finishing = true;
    },
    isFinishing: () => finishing,
    signal: stop.signal,
    killNow: kill.signal,
    end() {
      over = true;
      clearTimeout(timer);
    },
  };
}

/** A string: nothing, and why. */
function broughtAbout(message: Message, run: PlanRun): readonly RunEvent[] | string {
  const { by } = message;
  switch (message.say) {
    case "stop":
      return [{ type: "stop-asked", how: message.how, by }];
    case "retry":
      return triedAgain(run, message);
    case "report":
    case "renew":
      return ofLease(run, message);
  }
}

/** From whoever came for a phase; a string: it is not his any more. */
export function ofLease(
  run: PlanRun,
  message: Extract<Message, { say: "report" | "renew" }>,
): readonly RunEvent[] | string {
  const { phase, attempt, epoch } = message;
  // Another run may have a phase of that name, with somebody else at work on it.
  const state = message.run === run.id ? phaseOf(run, phase)?.state : undefined;
  const held = state?.is === "working" && state.attempt === attempt ? state : undefined;
  if (held?.lease?.epoch !== epoch || held.report) {
    return `${message.by} no longer has phase ${phase}: what he says of it is late`;
  }
  return message.say === "report"
    ? [{ type: "attempt-reported", phase, attempt, epoch, result: message.result }]
    : [{ type: "attempt-leased", phase, attempt, lease: { ...held.lease, until: message.until } }];
}

/** All of these; said twice, it is reset once. `nothing`: of which nothing comes, and why. */
export function allTriedAgain(
  run: PlanRun,
  retries: readonly Retry[],
  by: string,
): { readonly events: readonly RunEvent[]; readonly nothing: readonly string[] } {
  const events: RunEvent[] = [];
  const nothing: string[] = [];
  const isReset = (event: RunEvent): boolean =>
    event.type === "phase-reset" &&
    events.some((other) => other.type === "phase-reset" && other.phase === event.phase);
  for (const retry of retries) {
    const brings = triedAgain(run, { ...retry, by });
    if (typeof brings === "string") nothing.push(brings);
    else events.push(...brings.filter((event) => !isReset(event)));
  }
  return { events, nothing };
}

/** The same, whether the run is under way or about to be. */
export function triedAgain(
  run: PlanRun,
  {
    phase: name,
    note,
    by,
  }: { readonly phase: string; readonly note?: string; readonly by: string },
): readonly RunEvent[] | string {
  const asked = named(run.order, name);
  const phase = asked && phaseOf(run, asked.id);
  if (!phase) {
    return `there is no phase ${name} in ${run.plan}; it has ${run.order.map(({ written }) => written).join(", ")}`;
  }
  if (isComplete(phase)) return `phase ${asked.written} is complete: there is nothing to try again`;
  const events: RunEvent[] = [];
  if (note !== undefined) events.push({ type: "note-given", phase: phase.id, note, by });
  if (phase.state.is === "failed") {
    events.push({ type: "phase-reset", phase: phase.id, reason: `${by} wants it tried again` });
  }
  return events;
}
