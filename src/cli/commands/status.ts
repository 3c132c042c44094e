/** `autodev status`: where am I? Looks, says, changes nothing. Kept lean: it must feel instant. */
import * as path from "node:path";
import { openDecisions } from "../../core/evolve.ts";
import { stepsOf } from "../../core/flow/steps.ts";
import { type Look, look, openProject } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { styleFor } from "../render/style.ts";
import { summary } from "../render/summary.ts";
import type { StatusOutput } from "../shapes.ts";

export interface StatusOptions {
  json?: boolean;
  color?: boolean;
}

export function run(options: StatusOptions): number {
  const project = openProject(process.cwd());
  const looked = look(project);
  if (!looked.ok) return reportFailure(looked.failure, options.json === true);
  if (options.json) printJson(statusOutput(looked.value, project.root));
  else print(summary(looked.value, path.basename(project.root), styleFor(options.color)));
  return exitCodes.finished;
}

export function statusOutput({ here, state }: Look, root: string): StatusOutput {
  const { flow, step, name, status, subStep, retryCount, cycle, tracker, blockers } = here.state;
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
    corrections: [...here.corrections],
    steps: stepsOf(here.state),
    decisions: openDecisions(state).map(({ id, question, options, recommendation, reason }) => ({
      id,
      question,
      options: options.map(({ key, text }) => ({ key, text })),
      recommendation,
      reason,
    })),
    blockers: [...blockers],
    runs: [],
  };
}
