/** `autodev stop`: asks the run that is under way here to come to an end, and waits for it. */
import { currentRun } from "../../core/evolve.ts";
import { fail, type Result, succeed } from "../../core/failure.ts";
import { isComplete, type PlanRun } from "../../core/plan/progress.ts";
import {
  type Holder,
  openProject,
  type Project,
  readState,
  say,
  shown,
  untilReleased,
} from "../../project.ts";
import { type FleetOptions, fleetDoor, isFleet } from "../fleet-door.ts";
import { print, printError, printJson } from "../output.ts";
import { answeredBy } from "../prompt.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import type { StopOutput } from "../shapes.ts";

interface Options extends FleetOptions {
  afterPhase?: boolean;
  wait?: boolean;
  json?: boolean;
}

/** Whoever is at work looks into the inbox more than twice a second. */
const patienceMs = 10_000;

export async function run(options: Options): Promise<number> {
  const json = options.json === true;
  const fleet = isFleet(process.cwd(), options);
  if (!fleet.ok) return reportFailure(fleet.failure, json);
  if (fleet.value) return fleetDoor().stop(options);
  const project = openProject(process.cwd());
  const how = options.afterPhase ? "after-phase" : "now";
  const stopped = await stop(project, how, (holder) => {
    if (json || options.wait === false) return;
    const when = how === "now" ? "agents are asked to end" : "what is under way comes to its end";
    printError(`stopping process ${holder.pid}: ${when}; Ctrl-C here stops waiting, not that`);
  });
  if (!stopped.ok) return reportFailure(stopped.failure, json);
  const holder = stopped.value;
  if (holder && options.wait !== false) await untilReleased(project, holder);
  const state = readState(project);
  if (!state.ok) return reportFailure(state.failure, json);
  const current = currentRun(state.value);
  const output = outputOf(holder, how, current, options.wait !== false);
  if (json) printJson(output);
  else for (const line of linesOf(output, current)) print(line);
  return exitCodes.finished;
}

/** Resolves with whom it has reached; undefined: nothing is under way. */
async function stop(
  project: Project,
  how: "now" | "after-phase",
  heard: (by: Holder) => void,
): Promise<Result<Holder | undefined>> {
  const { world } = project;
  const said = await say(
    project,
    { say: "stop", how, by: answeredBy({}), at: world.now() },
    patienceMs,
  );
  if (!said.ok) return said;
  if (said.value.is === "nobody") return succeed(undefined);
  const { by } = said.value;
  if (said.value.is === "heard") {
    heard(by);
    return succeed(by);
  }
  const { pid, host, command, since } = by;
  return fail(
    "locked",
    `process ${pid}${host ? ` on ${host}` : ""} (${command}) since ${since} does not answer`,
    { hint: `kill -CONT ${pid} wakes it if it is stopped; kill ${pid} ends it` },
  );
}

const outputOf = (
  holder: Holder | undefined,
  how: "now" | "after-phase",
  run: PlanRun | undefined,
  waited: boolean,
): StopOutput => ({
  version: 1,
  running: holder !== undefined,
  asked: holder ? how : null,
  process: holder?.pid ?? null,
  run: run?.id ?? null,
  plan: run?.plan ?? null,
  status: !run ? null : holder && !waited ? "stopping" : (run.ended ?? "interrupted"),
});

function linesOf({ running, status }: StopOutput, run: PlanRun | undefined): string[] {
  const complete = run?.phases.filter(isComplete).length ?? 0;
  const far = run
    ? `${complete} of ${run.phases.length} phases of ${shown(run.plan)} complete`
    : "";
  if (!running) return [run ? `nothing is running here; ${far}` : "nothing is running here"];
  if (!run) return ["stopped"];
  if (status === "stopping") return [`asked to stop; ${far}`, "  → autodev log --follow"];
  const on = complete < run.phases.length ? [`  → autodev build ${shown(run.plan)} goes on`] : [];
  return [`stopped: ${far}`, ...on];
}
