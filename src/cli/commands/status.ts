/**
 * `autodev status`: where am I? Looks, says, changes nothing. Kept lean, because it must feel
 * instant: a glance mostly tells; the whole look is a bundle of its own.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { hasUsed, toldOf } from "../../core/agent/budget.ts";
import { spendWords } from "../../core/amounts.ts";
import { currentRuns, openDecisions } from "../../core/evolve.ts";
import type { Flow } from "../../core/flow/flow.ts";
import { stepsOf } from "../../core/flow/steps.ts";
import { earliestParked } from "../../core/plan/next-moves.ts";
import { type PlanRun, unverified } from "../../core/plan/progress.ts";
import { glance, type Look, shown, shownPlace } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { styleFor } from "../render/style.ts";
import { summary } from "../render/summary.ts";
import type { StatusOutput } from "../shapes.ts";

export interface StatusOptions {
  json?: boolean;
  color?: boolean;
}

// A path that the bundler does not see.
const load = (bundle: string): { run(options: StatusOptions): Promise<number> } => {
  const file = `./${bundle}.cjs`;
  return require(file) as { run(options: StatusOptions): Promise<number> };
};

export function run(options: StatusOptions): number | Promise<number> {
  const glanced = glance(process.cwd());
  // The steps of a project's own flow are in a file of its own; it may have the name of one of ours.
  // A repository of repositories is asked about each of them.
  if (
    !glanced ||
    shownPlace(glanced.look).state.flow === "meta-repo" ||
    fs.existsSync(path.join(glanced.root, ".autodev", "flows"))
  )
    return load("status-whole").run(options);
  return showStatus(glanced.look, glanced.root, options);
}

export function showStatus(
  look: Look,
  root: string,
  options: StatusOptions,
  flows?: readonly Flow[],
): number {
  if (options.json) printJson(statusOutput(look, root, flows));
  else {
    print(summary(look, path.basename(root), styleFor(options.color), { flows }));
    for (const run of currentRuns(look.state)) {
      const unseen = unverified(run).length;
      if (unseen > 0) print(`${run.plan}: ${unseen} complete, unverified: no gate has seen them`);
      const until = wakeTime(run);
      if (until !== undefined) print(`${run.plan}: parked until ${shown(until)}`);
      if (run.spent && hasUsed(run.spent))
        print(`${run.plan}: ${spendWords(toldOf(run.spent))} used`);
    }
  }
  return 0;
}

/** When a run that waits goes on; one that has something else to do does not wait. */
const wakeTime = (run: PlanRun): string | undefined =>
  run.parkedUntil ??
  (run.ended === undefined && run.readiness.active.length === 0
    ? earliestParked(run, { now: new Date().toISOString() })
    : undefined);

export function statusOutput(look: Look, root: string, flows?: readonly Flow[]): StatusOutput {
  const { here, state } = look;
  const { state: position, corrections } = shownPlace(look);
  const { flow, step, name, status, subStep, retryCount, cycle, tracker, blockers } = position;
  return {
    version: 1,
    root,
    flow,
    step,
    name,
    status,
    subStep: { ...subStep },
    retryCount,
    cycle,
    tracker: tracker ?? null,
    source: here.source,
    generation: here.generation,
    corrections: [...corrections],
    steps: stepsOf(position, flows),
    decisions: openDecisions(state).map(({ id, question, options, recommendation, reason }) => ({
      id,
      question,
      options: options.map(({ key, text, notes }) => ({
        key,
        text,
        ...(notes && { notes: [...notes] }),
      })),
      recommendation,
      reason,
    })),
    blockers: [...blockers],
    runs: currentRuns(state).map((run) => {
      const unseen = unverified(run).length;
      const { id, plan, ended, spent } = run;
      const until = wakeTime(run);
      return {
        run: id,
        plan,
        status: ended ?? "running",
        ...(unseen > 0 && { unverified: unseen }),
        ...(until !== undefined && { until }),
        ...(spent &&
          hasUsed(spent) && {
            usage: {
              tokens: spent.tokens,
              cost_usd: spent.cost,
              seconds: Math.round(spent.ms / 1000),
            },
          }),
      };
    }),
  };
}
