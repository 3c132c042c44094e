/** `autodev ui`: shows what goes on here in a browser, until it is interrupted. */
import { isCI } from "std-env";
import type { Result } from "../../core/failure.ts";
import { hasScreen, openPage, openProject } from "../../project.ts";
import { compiled } from "../compiled.ts";
import { isTerminal, print, printError, printJsonLine } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import type { UiOutput } from "../shapes.ts";

interface Options {
  port?: number;
  open?: boolean;
  untilInputEnds?: boolean;
  json?: boolean;
}

/** The browser's door, which is a bundle of its own (see dashboard/main.ts). */
interface Dashboard {
  serve(cwd: string, options: { port?: number; fleet(): unknown }): Promise<Result<Served>>;
}

interface Served {
  readonly port: number;
  readonly pid: number;
  readonly url: string;
  oneTimeUrl(): Promise<string | undefined>;
  readonly close?: () => Promise<void>;
}

export async function run(options: Options): Promise<number> {
  const json = options.json === true;
  if (options.port !== undefined && options.port > 65_535) {
    const message = `--port: there is no port ${options.port}`;
    return reportFailure({ code: "usage", message }, json, { oneLine: true });
  }
  const ended = asked(options);
  const bundle = compiled(`${__dirname}/dashboard.cjs`, require);
  const { serve } = bundle.exports as Dashboard;
  const { port } = options;
  const fleet = (): unknown => compiled(`${__dirname}/dashboard-fleet.cjs`, require).exports;
  const served = await serve(process.cwd(), { fleet, ...(port !== undefined && { port }) });
  if (!served.ok) return reportFailure(served.failure, json, { oneLine: true });
  const { url, close } = served.value;
  if (json) {
    const { port: at, pid } = served.value;
    printJsonLine({ version: 1, url, port: at, pid } satisfies UiOutput);
  } else print(url);
  if (mayOpen(options)) {
    const once = await served.value.oneTimeUrl();
    if (once !== undefined) openPage(once, openProject(process.cwd()).repository?.root);
  }
  if (!close) {
    if (!json) printError("It is open already, in another process; this one ends here.");
    return exitCodes.finished;
  }
  if (!json) printError("Ctrl-C ends it. Whatever runs here goes on without it.");
  bundle.keep();
  await ended;
  await close();
  return exitCodes.finished;
}

/** Resolves when somebody wants it to end. */
function asked({ untilInputEnds }: Options): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => resolve();
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, end);
    // Whoever has started us holds the other end, and lets go of it however he ends.
    if (untilInputEnds) process.stdin.on("end", end).on("close", end).on("error", end).resume();
  });
}

/** Somebody sits in front of it, and has not said that he does not want to. */
const mayOpen = ({ open, json, untilInputEnds }: Options): boolean =>
  open !== false &&
  (json !== true || untilInputEnds === true) &&
  !isCI &&
  isTerminal(2) &&
  hasScreen(process.platform, process.env);
