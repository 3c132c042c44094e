/**
 * `autodev`: reads the state, puts right what can be put right, asks what only a person can say,
 * and shows where the project is.
 */
import * as path from "node:path";
import { flowNamed } from "../../core/flow/flows/index.ts";
import type { FlowState } from "../../core/flow/state.ts";
import { hold, openFlow } from "../../project.ts";
import { print, printError, printJson } from "../output.ts";
import { type AskOptions, answeredBy, flowAsker, openRepository } from "../prompt.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { styleFor } from "../render/style.ts";
import { summary } from "../render/summary.ts";
import { statusOutput } from "./status.ts";

export interface StartOptions extends AskOptions {
  json?: boolean;
  color?: boolean;
}

export async function run(options: StartOptions): Promise<number> {
  const json = options.json === true;
  const found = await openRepository(options);
  if (!found.ok) return reportFailure(found.failure, json);
  const project = found.value;
  const held = await hold(project, "autodev");
  if (!held.ok) return reportFailure(held.failure, json);
  const opened = await openFlow(project, held.value, {
    ask: flowAsker(project.root, options),
    by: answeredBy(options),
  });
  const released = await held.value.release();
  if (!opened.ok) return reportFailure(opened.failure, json);
  if (!released.ok) return reportFailure(released.failure, json);
  const { look, said } = opened.value;
  for (const line of said) printError(line);
  if (json) printJson(statusOutput(look, project.root));
  else {
    print(summary(look, path.basename(project.root), styleFor(options.color)));
    print(` Next: ${nextLine(look.here.state)}`);
  }
  return exitCodes.finished;
}

function nextLine(state: FlowState): string {
  if (state.step === "done") return "everything is done";
  const skill = flowNamed(state.flow)?.steps.find((step) => step.step === state.step)?.skill;
  return `step ${state.step} ${state.name}${skill ? `, by the skill ${skill}` : ""}`;
}
