/**
 * The engine that needs nothing but this machine: every move is performed here, by its activity.
 */
import { askAgain } from "../activities/ask-again.ts";
import { askAboutAgent, askAboutBudget } from "../activities/ask-agent.ts";
import { beginAttempt, workOn } from "../activities/attempt-phase.ts";
import { takeBaseline } from "../activities/baseline.ts";
import { awaitReport, lendPhase, takeBack, takeIn } from "../activities/lend-phase.ts";
import type { OpenSite } from "../activities/open-site.ts";
import { publishPhase, publishRun, review } from "../activities/publish.ts";
import type { RunSite } from "../activities/run-site.ts";
import { landPhase, verifyPhase } from "../activities/verify-phase.ts";
import type { Move } from "../core/plan/next-moves.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import type { Performed, RunOutcome } from "../core/plan/run-plan.ts";
import { drive, type Hands } from "./drive.ts";

export const runLocally = (site: OpenSite, limits?: Hands["limits"]): Promise<RunOutcome> =>
  drive(site, { perform: performHere, ...(limits && { limits }) });

export async function performHere(site: RunSite, move: Move, run: PlanRun): Promise<Performed> {
  switch (move.do) {
    case "baseline":
      return takeBaseline(site, run);
    case "begin":
      return beginAttempt(site, move, run);
    case "work":
      return site.pull ? lendPhase(site, move, run) : workOn(site, move, run);
    case "take-in":
      return takeIn(site, move, run);
    case "take-back":
      return takeBack(site, move, run);
    case "await-report":
      return awaitReport(site, move);
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
    case "ask-agent":
      return askAboutAgent(site, move.phase, run);
    case "ask-budget":
      return askAboutBudget(site, move, run);
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
