/**
 * `autodev log`: what happened, in order; `--follow` goes on saying it as it happens. With a phase:
 * what its attempts have printed.
 */
import type { RecordedEvent } from "../../core/event.ts";
import { sentence } from "../../core/sentence.ts";
import { openProject, type Project, shown } from "../../project.ts";
import { eventsAfter, follow } from "../follow.ts";
import { isOutputGone, print, printJsonLine } from "../output.ts";
import { showPhaseLog } from "../phase-log.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { type Style, styleFor } from "../render/style.ts";

export interface LogOptions {
  json?: boolean;
  color?: boolean;
  follow?: boolean;
  lines?: number;
  attempt?: number;
  attempts?: boolean;
}

export async function run(phase: string | undefined, options: LogOptions): Promise<number> {
  if (phase !== undefined) return showPhaseLog(phase, options);
  if (options.attempt !== undefined || options.attempts) {
    const message = "attempts are of a phase, and none was named";
    const hint = "autodev log 2A --attempts";
    return reportFailure({ code: "usage", message, hint }, options.json === true);
  }
  const project = openProject(process.cwd());
  const style = styleFor(options.color);
  const events = eventsAfter(project, 0);
  if (!events.ok) return reportFailure(events.failure, options.json === true);
  const shownEvents =
    options.lines === undefined
      ? events.value
      : events.value.slice(-options.lines || events.value.length);
  for (const event of shownEvents) say(event, options.json === true, style);
  if (events.value.length === 0 && !options.json && !options.follow)
    print("Nothing was recorded yet.");
  if (!options.follow) return exitCodes.finished;
  return goOn(project, events.value.at(-1)?.seq ?? 0, options.json === true, style);
}

async function goOn(project: Project, from: number, json: boolean, style: Style): Promise<number> {
  const ending: { code?: number } = {};
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      ending.code = exitCodes.interrupted;
    });
  }
  const followed = await follow(project, {
    from,
    each: (event) => say(event, json, style),
    isOver: () => ending.code !== undefined || isOutputGone(),
  });
  if (!followed.ok) return reportFailure(followed.failure, json);
  return ending.code ?? exitCodes.finished;
}

function say(event: RecordedEvent, json: boolean, style: Style): void {
  if (json) {
    const { seq, at, run, ...rest } = event;
    printJsonLine({ version: 1, seq, at, run, ...rest });
    return;
  }
  print(
    `${style.dim(`${String(event.seq).padStart(5)}  ${shown(event.at)}`)}  ${shown(sentence(event))}`,
  );
}
