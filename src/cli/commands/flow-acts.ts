/**
 * `autodev skip`, `back`, `rollback`: what people can want of a flow at any time. Each is a decision
 * first, which names what it costs; with `--yes` it is answered by whoever typed it.
 */
import { fail, type Result } from "../../core/failure.ts";
import { flowNamed } from "../../core/flow/flows/index.ts";
import { type FlowAct, wantedStep } from "../../core/flow/wanted-step.ts";
import {
  type Acted,
  actOnFlow,
  type Held,
  hold,
  openFlow,
  openProject,
  type Project,
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
  const acting = { ...people, yes: options.yes === true };
  const done = opened.ok ? await acted(project, held.value, { what, wanted }, acting) : opened;
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

async function acted(
  project: Project,
  held: Held,
  { what, wanted }: { readonly what: FlowAct; readonly wanted: string | undefined },
  people: Parameters<typeof actOnFlow>[4],
): Promise<Result<Acted>> {
  const state = held.state.flow;
  const flow = state && flowNamed(state.flow, project.flows ?? []);
  if (!flow) return fail("not-found", "no flow that is known here is under way");
  const step = wantedStep(what, wanted, state, flow);
  return step.ok ? actOnFlow(project, held, what, step.value, people) : step;
}
