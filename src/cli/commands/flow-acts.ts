/**
 * `autodev skip`, `back`, `rollback`: what people can want of a flow at any time. Each is a decision
 * first, which names what it costs; with `--yes` it is answered by whoever typed it.
 */
import { fail, type Result } from "../../core/failure.ts";
import { type Flow, type Step, stepIn } from "../../core/flow/flow.ts";
import { flowNamed } from "../../core/flow/flows/index.ts";
import type { FlowState } from "../../core/flow/state.ts";
import { nearest } from "../../core/nearest.ts";
import {
  actOnFlow,
  type FlowAct,
  hold,
  openFlow,
  openProject,
  shown,
  withFlows,
} from "../../project.ts";
import { print, printError, printJson } from "../output.ts";
import { type AskOptions, answeredBy, flowAsker } from "../prompt.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import type { FlowActOutput } from "../shapes.ts";

export interface ActOptions extends AskOptions {
  yes?: boolean;
  json?: boolean;
  color?: boolean;
}

export async function act(
  what: FlowAct,
  wanted: string | undefined,
  options: ActOptions,
): Promise<number> {
  const json = options.json === true;
  const known = withFlows(openProject(process.cwd()));
  if (!known.ok) return reportFailure(known.failure, json);
  const project = known.value;
  const held = await hold(project, `autodev ${what}`);
  if (!held.ok) return reportFailure(held.failure, json);
  const people = { ask: flowAsker(project.root, options), by: answeredBy(options) };
  const opened = await openFlow(project, held.value, people);
  const done = opened.ok
    ? await wantedStep(what, wanted, held.value.state.flow, project.flows ?? [], (step) =>
        actOnFlow(project, held.value, what, step, { ...people, yes: options.yes === true }),
      )
    : opened;
  const released = await held.value.release();
  if (!done.ok) return reportFailure(done.failure, json);
  if (!released.ok) return reportFailure(released.failure, json);
  const { step, name, status } = held.value.state.flow ?? { step: "", name: "", status: "" };
  const output: FlowActOutput = {
    version: 1,
    act: what,
    done: done.value.done,
    step,
    name,
    status,
  };
  if (json) printJson(output);
  else {
    for (const line of done.value.said) printError(shown(line));
    print(
      `${done.value.done ? "done" : "nothing was changed"}: step ${step} ${shown(name)} is ${status.replaceAll("_", " ")}`,
    );
    print("Next: autodev");
  }
  return exitCodes.finished;
}

/** By number or name; `skip` without one means the present step. */
async function wantedStep<T>(
  what: FlowAct,
  wanted: string | undefined,
  state: FlowState | undefined,
  flows: readonly Flow[],
  act: (step: Step) => Promise<Result<T>>,
): Promise<Result<T>> {
  const flow = state && flowNamed(state.flow, flows);
  if (!state || !flow) return fail("not-found", "no flow that is known here is under way");
  const asked = wanted ?? state.step;
  const step =
    stepIn(flow, asked) ??
    flow.steps.find(({ name }) => name.toLowerCase() === asked.toLowerCase());
  if (!step) {
    const near = nearest(
      asked,
      flow.steps.map(({ name }) => name),
    );
    return fail("not-found", `${flow.name} has no step "${asked}"`, {
      hint:
        near.length > 0 ? `did you mean ${near.join(" or ")}?` : `autodev flow graph ${flow.name}`,
    });
  }
  const at = (number: string): number =>
    number === "done" ? flow.steps.length : flow.steps.findIndex((each) => each.step === number);
  if (what === "skip" && step.step !== state.step) {
    return fail("usage", `only the present step can be skipped: ${state.step} ${state.name}`, {
      hint: "autodev status shows where the flow is",
    });
  }
  if (what !== "skip" && at(step.step) > at(state.step)) {
    return fail(
      "usage",
      `step ${step.step} ${step.name} lies ahead: there is nothing to go back to`,
      {
        hint: "autodev goes on; autodev skip leaves a step out",
      },
    );
  }
  return act(step);
}
