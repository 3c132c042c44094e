/**
 * `autodev retry PHASE`: has a phase tried again, with a word for whoever tries it. Without one, the
 * step of the flow that has failed.
 */
import * as path from "node:path";
import { currentRun } from "../../core/evolve.ts";
import { openProject, readState, retryStep, say, withoutSecrets } from "../../project.ts";
import { type FleetOptions, fleetDoor, isFleet } from "../fleet-door.ts";
import { follow } from "../following.ts";
import { print, printJson } from "../output.ts";
import { answeredBy } from "../prompt.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { retryTold } from "../render/run.ts";
import type { RetryOutput } from "../shapes.ts";
import { type BuildCommandOptions, run as build } from "./build.ts";

type Options = BuildCommandOptions & FleetOptions & { note?: string };

const patienceMs = 10_000;

export async function run(
  phase: string | undefined,
  { note, ...options }: Options,
): Promise<number> {
  const json = options.json === true;
  if (phase === undefined) {
    return follow(options, "autodev retry", (project, held) =>
      retryStep(project, held, answeredBy(options)),
    );
  }
  const fleet = isFleet(process.cwd(), options);
  if (!fleet.ok) return reportFailure(fleet.failure, json);
  if (fleet.value)
    return fleetDoor().retry(phase, { ...options, ...(note !== undefined && { note }) });
  const project = openProject(process.cwd());
  const state = readState(project);
  if (!state.ok) return reportFailure(state.failure, json);
  const current = currentRun(state.value);
  if (!current) {
    const message = "there is no run here that a phase could be tried again in";
    return reportFailure({ code: "usage", message, hint: "autodev build <plan> starts one" }, json);
  }
  const word = { phase, ...(note === undefined ? {} : { note: withoutSecrets(note) }) };
  const said = await say(
    project,
    { say: "retry", ...word, by: answeredBy(options), at: project.world.now() },
    patienceMs,
  );
  if (!said.ok) return reportFailure(said.failure, json);
  if (said.value.is === "nobody") {
    return build(path.join(project.root, current.plan), { ...options, retries: [word] });
  }
  const { by, is } = said.value;
  if (is === "unheard") {
    const message = `process ${by.pid} (${by.command}) has the repository and does not answer`;
    return reportFailure({ code: "locked", message, hint: `kill ${by.pid} ends it` }, json);
  }
  const told: RetryOutput = { version: 1, run: current.id, phase, told: by.pid };
  if (json) printJson(told);
  else {
    print(`process ${by.pid}, which is at it, was told: ${retryTold}`);
  }
  return exitCodes.finished;
}
