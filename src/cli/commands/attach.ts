/**
 * `autodev attach`: the run that is under way, in whatever process, as if it had been started here.
 * Questions can be answered; Ctrl-C leaves it alone again.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { isOpen } from "../../core/decision.ts";
import type { RecordedEvent } from "../../core/event.ts";
import { currentRun } from "../../core/evolve.ts";
import { evolveRun, type PlanRun } from "../../core/plan/progress.ts";
import { type Holder, openProject, type Project, readState, untilReleased } from "../../project.ts";
import { askInPlace } from "../answering.ts";
import { exitCodeOf, summaryOf, tellSummary } from "../building.ts";
import { type Display, type DisplayOptions, openDisplay } from "../display.ts";
import { type FleetOptions, fleetDoor, isFleet } from "../fleet-door.ts";
import { eventsAfter, follow } from "../follow.ts";
import { isOutputGone, print, printJsonLine } from "../output.ts";
import type { AskOptions } from "../prompt.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { styleFor } from "../render/style.ts";

interface Options extends DisplayOptions, AskOptions, FleetOptions {}

export async function run(options: Options): Promise<number> {
  const json = options.json === true;
  const fleet = isFleet(process.cwd(), options);
  if (!fleet.ok) return reportFailure(fleet.failure, json);
  if (fleet.value) return fleetDoor().attach(options);
  const project = openProject(process.cwd());
  const state = readState(project);
  if (!state.ok) return reportFailure(state.failure, json);
  const current = currentRun(state.value);
  if (!current) {
    const message = "there is no run here to attach to";
    return reportFailure({ code: "usage", message, hint: "autodev build <plan> starts one" }, json);
  }
  const holder = project.store.holder();
  const history = eventsAfter(project, 0);
  if (!history.ok) return reportFailure(history.failure, json);
  const events = history.value.filter((event) => concerns(current.id, event));
  const display = openDisplay(options);
  if (!holder) return tellEnd(current, display, options);
  return attached(project, { run: current, holder, events, display }, options);
}

/** Of the run itself, and the questions that it asks. */
const concerns = (run: string, event: RecordedEvent): boolean =>
  event.run === run || event.type.startsWith("decision-");

interface Attachment {
  readonly run: PlanRun;
  readonly holder: Holder;
  readonly events: readonly RecordedEvent[];
  readonly display: Display;
}

async function attached(
  project: Project,
  { run: start, holder, events, display }: Attachment,
  options: Options,
): Promise<number> {
  const { store } = project;
  let run = start;
  let over = false;
  let detached = false;
  const leave = (): void => {
    detached = true;
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.once(signal, leave);
  const asking = askInPlace(project, display, options);
  const each = (event: RecordedEvent): void => {
    if (!concerns(start.id, event)) return;
    run = evolveRun(run, event) ?? run;
    display.event(event, run);
    if (event.type === "run-ended") over = true;
    if (event.type === "decision-asked") asking(event.decision);
  };
  // Told as one piece: what happened hours ago is no news.
  const [last] = events.slice(-1);
  display.news({ opened: { history: events.slice(0, -1), jobs: 2 } });
  if (last) display.event(last, run);
  const open = Object.values(stateOf(project)?.decisions ?? {}).filter(isOpen);
  for (const decision of open) if (decision.subject.startsWith(`${start.id} `)) asking(decision);
  const lines = followLogs(project, () => run, display);
  const followed = await follow(project, {
    from: last?.seq ?? 0,
    each,
    isOver: () => over || detached || isOutputGone() || store.holder()?.pid !== holder.pid,
  });
  clearInterval(lines);
  for (const signal of signals) process.off(signal, leave);
  if (!followed.ok) {
    display.end();
    return reportFailure(followed.failure, options.json === true);
  }
  if (detached) return goneAway(display, holder, options);
  // It tidies up after itself.
  await untilReleased(project, holder);
  return tellEnd(stateRun(project, start.id) ?? run, display, options);
}

const stateOf = (project: Project) => {
  const state = readState(project);
  return state.ok ? state.value : undefined;
};
const stateRun = (project: Project, id: string): PlanRun | undefined =>
  stateOf(project)?.runs?.[id];

/** What agents print is in no journal: the end of their logs tells what they are at. */
function followLogs(project: Project, run: () => PlanRun, display: Display): NodeJS.Timeout {
  const seen = new Map<string, string>();
  return setInterval(() => {
    for (const { id, state } of run().phases) {
      if (state.is !== "working" && state.is !== "delivered") continue;
      const text = lastLine(path.join(project.root, ".autobuild", "logs", `phase-${id}.log`));
      if (text === undefined || seen.get(id) === text) continue;
      seen.set(id, text);
      display.news({ phase: id, text });
    }
  }, 1000).unref();
}

function lastLine(file: string): string | undefined {
  try {
    const text = fs.readFileSync(file, "utf8").trimEnd();
    return text.slice(text.lastIndexOf("\n") + 1) || undefined;
  } catch {
    return undefined;
  }
}

function goneAway(display: Display, holder: Holder, { json }: Options): number {
  display.end();
  if (json) printJsonLine({ version: 1, type: "detached", process: holder.pid });
  else print(`process ${holder.pid} goes on without you; autodev attach comes back to it`);
  return exitCodes.finished;
}

/** It rests, or whoever was at it is no more. */
function tellEnd(run: PlanRun, display: Display, options: Options): number {
  const view = display.end(run);
  const built = { run, asking: [], said: [], view };
  if (options.json) printJsonLine(summaryOf(built));
  else tellSummary(built, styleFor(options.color));
  return run.ended === undefined ? exitCodes.interrupted : exitCodeOf(run);
}
