/**
 * What every engine does with a run: it hands each move of the driver to whoever performs it, puts
 * what came of it on record before anything follows from it, and listens to people meanwhile.
 */
import { hear } from "../activities/hear.ts";
import { isGone } from "../activities/lend-phase.ts";
import type { OpenSite } from "../activities/open-site.ts";
import type { Pull, RunSite } from "../activities/run-site.ts";
import { recordRun } from "../activities/show-run.ts";
import { type Result, succeed } from "../core/failure.ts";
import { type Lease, type LeaseStanding, leaseStanding } from "../core/lease.ts";
import { minutesOfQuiet } from "../core/notice.ts";
import type { Limits, Move } from "../core/plan/next-moves.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import type { RunEvent } from "../core/plan/run-event.ts";
import { type Performed, type RunOutcome, runPlan } from "../core/plan/run-plan.ts";

/** What is particular to an engine. */
export interface Hands {
  perform(site: RunSite, move: Move, run: PlanRun): Promise<Performed>;
  /** What limits the run besides its own settings, at this moment. */
  limits?(): Partial<Limits>;
}

export async function drive(site: OpenSite, hands: Hands): Promise<RunOutcome> {
  const { limits, project, held, id } = site;
  const noted = notebook();
  const calledOff = new AbortController();
  const hearing = hear(site);
  const asked = AbortSignal.any([site.signal, hearing.signal]);
  let hasLent = false;
  const at: RunSite = {
    ...site,
    ...(site.pull && { pull: { ...site.pull, lent: lends(site.pull, () => (hasLent = true)) } }),
    asked,
    signal: AbortSignal.any([asked, calledOff.signal]),
    killNow: AbortSignal.any([site.killNow, hearing.killNow]),
    note: noted.add,
  };
  const record = async (events: readonly RunEvent[]): Promise<Result<void>> => {
    const recorded = await recordRun(held, id, events);
    if (recorded.ok) site.happened(recorded.value);
    return recorded.ok ? succeed(undefined) : recorded;
  };
  // Whichever comes first; the other is still waited for at the next call.
  let heard: Promise<readonly RunEvent[]> | undefined;
  let said: Promise<readonly RunEvent[]> | undefined;
  let isHeard = false;
  const outcome = await runPlan(site.run(), {
    limits: () => ({
      ...limits,
      now: project.world.now(),
      ...quietUntil(site),
      stopping: asked.aborted,
      finishing: hearing.isFinishing(),
      ...lending(site, hasLent),
      ...hands.limits?.(),
    }),
    perform: (move, run) => hands.perform(at, move, run),
    async record(events) {
      const recorded = await record(events);
      if (!recorded.ok) return recorded;
      if (isHeard) await hearing.recorded();
      isHeard = false;
      return succeed(site.run());
    },
    callOff: () => calledOff.abort(),
    async arriving() {
      heard ??= hearing.next();
      said ??= noted.next();
      const first = await Promise.race([
        heard.then((events) => ({ events, by: "people" })),
        said.then((events) => ({ events, by: "us" })),
      ]);
      if (first.by === "us") {
        said = undefined;
        return first.events;
      }
      heard = undefined;
      // Nothing to record: it was heard all the same.
      if (first.events.length === 0) await hearing.recorded();
      else isHeard = true;
      return first.events;
    },
  });
  hearing.end();
  const rest = noted.rest();
  if (rest.length > 0 && !outcome.refused) await record(rest);
  return outcome;
}

/**
 * With somebody who comes for work: he gets one phase, and nothing else begins; what he reports is
 * carried to its end. Without: what others have come for is waited for.
 */
function lending({ project, pull, limits }: OpenSite, hasLent: boolean): Partial<Limits> {
  const now = project.world.now();
  const leased = (lease: Lease): LeaseStanding => leaseStanding(lease, now, isGone, pull?.puller);
  if (!pull) return { leased, awaits: limits.wait };
  const isOver = hasLent || !pull.fetches;
  return {
    jobs: 1,
    wait: false,
    leased: (lease) => (isOver && leased(lease) === "ours" ? "theirs" : leased(lease)),
    ...(isOver && { only: new Set<string>() }),
  };
}

const lends =
  (pull: Pull, mark: () => void): Pull["lent"] =>
  (work) => {
    mark();
    pull.lent(work);
  };

/** What happens while moves are under way, until somebody can put it on record. */
function notebook(): {
  add(event: RunEvent): void;
  next(): Promise<readonly RunEvent[]>;
  rest(): readonly RunEvent[];
} {
  let waiting: RunEvent[] = [];
  let wake: (() => void) | undefined;
  const rest = (): RunEvent[] => {
    const all = waiting;
    waiting = [];
    return all;
  };
  return {
    add(event) {
      waiting.push(event);
      wake?.();
    },
    next: () =>
      new Promise((resolve) => {
        wake = () => {
          wake = undefined;
          // All that come in one go are one transition.
          setImmediate(() => resolve(rest()));
        };
        if (waiting.length > 0) wake();
      }),
    rest,
  };
}

function quietUntil({ quiet }: Pick<RunSite, "quiet">): Pick<Limits, "quietUntil"> {
  if (!quiet) return {};
  const now = new Date();
  const left = minutesOfQuiet(quiet, now.getHours() * 60 + now.getMinutes());
  if (left === 0) return {};
  const end = new Date(now.getTime() + left * 60_000);
  end.setSeconds(0, 0);
  return { quietUntil: end.toISOString() };
}
