/**
 * The engine that needs nothing but this machine: it hands every move of the driver to the
 * activity that performs it, and puts what came of it on record before anything follows from it.
 */
import { askAgain } from "../activities/ask-again.ts";
import { beginAttempt, workOn } from "../activities/attempt-phase.ts";
import { takeBaseline } from "../activities/baseline.ts";
import { hear } from "../activities/hear.ts";
import { publishPhase, publishRun, review } from "../activities/publish.ts";
import type { RunSite } from "../activities/run-site.ts";
import { recordRun } from "../activities/show-run.ts";
import { landPhase, verifyPhase } from "../activities/verify-phase.ts";
import { succeed } from "../core/failure.ts";
import type { Move } from "../core/plan/next-moves.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import { type Performed, type RunOutcome, runPlan } from "../core/plan/run-plan.ts";

export async function runLocally(site: RunSite): Promise<RunOutcome> {
  const { limits, project, held, id } = site;
  const calledOff = new AbortController();
  const hearing = hear(site);
  const asked = AbortSignal.any([site.signal, hearing.signal]);
  const at: RunSite = {
    ...site,
    signal: AbortSignal.any([asked, calledOff.signal]),
    killNow: AbortSignal.any([site.killNow, hearing.killNow]),
  };
  const outcome = await runPlan(site.run(), {
    limits: () => ({
      ...limits,
      now: project.world.now(),
      stopping: asked.aborted,
      finishing: hearing.isFinishing(),
    }),
    perform: (move, run) => perform(at, move, run),
    async record(events) {
      const recorded = await recordRun(held, id, events);
      if (!recorded.ok) return recorded;
      site.happened(recorded.value);
      await hearing.recorded();
      return succeed(site.run());
    },
    callOff: () => calledOff.abort(),
    async arriving() {
      const events = await hearing.next();
      // Nothing to record: it was heard all the same.
      if (events.length === 0) await hearing.recorded();
      return events;
    },
  });
  hearing.end();
  return outcome;
}

async function perform(site: RunSite, move: Move, run: PlanRun): Promise<Performed> {
  switch (move.do) {
    case "baseline":
      return takeBaseline(site, run);
    case "begin":
      return beginAttempt(site, move, run);
    case "work":
      return workOn(site, move, run);
    case "verify":
      return verifyPhase(site, move, run);
    case "land":
      return landPhase(site, move, run);
    case "publish":
      return publishPhase(site, move.phase, run);
    case "publish-run":
      return publishRun(site, run);
    case "review":
      return review(site, run);
    case "ask-again":
      return askAgain(site, move.phase, run);
    case "wait":
      await pause(site, move.until);
      return { is: "done", events: [] };
    case "end":
      throw new Error("the driver ends by itself");
  }
}

async function pause(site: RunSite, until: string): Promise<void> {
  site.tell({ notice: `PARKED until ${until}` });
  for (;;) {
    const left = Date.parse(until) - Date.parse(site.project.world.now());
    if (!(left > 0) || site.signal.aborted) return;
    // A clock that is set, or a machine that sleeps, is noticed within a minute.
    await new Promise<void>((resolve) => {
      const timer = setTimeout(finish, Math.min(left, 60_000));
      function finish(): void {
        clearTimeout(timer);
        site.signal.removeEventListener("abort", finish);
        resolve();
      }
      site.signal.addEventListener("abort", finish);
    });
  }
}
