/**
 * `build --detach`: the same command again, in a session of its own that outlives this terminal. What
 * a person has to look at (whether the commands are trusted) is asked here first; then we wait until
 * the run is really under way, or tell why it is not.
 */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { currentRun } from "../core/evolve.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import {
  type BuildOptions,
  cacheFolder,
  openProject,
  type Project,
  readState,
  trustPlaceOf,
  trustPlan,
} from "../project.ts";
import { eventsAfter } from "./follow.ts";
import { print, printJson } from "./output.ts";
import { type AskOptions, answeredBy, trustAsker } from "./prompt.ts";
import { exitCodes, reportFailure } from "./render/failure.ts";
import type { DetachOutput } from "./shapes.ts";

export async function detach(
  wanted: BuildOptions,
  options: AskOptions & { json?: boolean },
): Promise<number> {
  const json = options.json === true;
  const project = openProject(process.cwd());
  const holder = project.store.holder();
  const { repository } = project;
  // Whatever is wrong with what was asked for is told by the command itself, here.
  const trusted = repository && !holder ? await askFirst(project, wanted, options) : undefined;
  if (trusted !== undefined) return trusted;
  const before = eventsAfter(project, 0);
  const from = before.ok ? (before.value.at(-1)?.seq ?? 0) : 0;
  // Not in the repository: whose it is, and where its folders lead, is looked at by the run itself.
  const log = `${cacheFolder(repository?.commonDir ?? project.root)}-detached.log`;
  const child = start(repository ? log : undefined);
  const ended = new Promise<number>((resolve) => {
    child.once("error", () => resolve(exitCodes.failure));
    child.once("exit", (code) => resolve(code ?? exitCodes.failure));
  });
  const waiting = new AbortController();
  const begun = underWay(project, from, child.pid ?? 0, waiting.signal);
  const early = await Promise.race([ended, begun]);
  waiting.abort();
  if (typeof early !== "object") {
    tellAgain(log, json);
    return early ?? exitCodes.failure;
  }
  child.unref();
  const output: DetachOutput = {
    version: 1,
    run: early.id,
    plan: early.plan,
    process: child.pid ?? 0,
    log,
  };
  if (json) printJson(output);
  else {
    print(`the run of ${early.plan} is under way in process ${output.process}`);
    print("  → autodev attach shows it, autodev stop ends it");
  }
  return exitCodes.finished;
}

/** A number: it ends here. */
async function askFirst(
  project: Project,
  wanted: BuildOptions,
  options: AskOptions & { json?: boolean },
): Promise<number | undefined> {
  if (wanted.trustSha256 !== undefined) return undefined;
  const looked = await trustPlan.look(project, process.cwd(), wanted);
  // A plan that cannot be read, an agent that is not there: the build says it better.
  if (!looked.ok || looked.value.state.is === "trusted") return undefined;
  const { state, hash, surface, also } = looked.value;
  if (surface.length === 0) return undefined;
  const answered = await trustAsker(options)(state.difference, hash, state.is === "changed");
  if (!answered.ok) return reportFailure(answered.failure, options.json === true);
  if (answered.value !== true) return undefined;
  const how = { by: answeredBy(options), at: project.world.now(), also };
  const granted = await trustPlan.grant(trustPlaceOf(project), surface, how);
  return granted.ok ? undefined : reportFailure(granted.failure, options.json === true);
}

function start(log: string | undefined): ReturnType<typeof spawn> {
  const args = process.argv.slice(2).filter((arg) => arg !== "--detach");
  const out = log === undefined ? ("ignore" as const) : openLog(log);
  const child = spawn(
    process.execPath,
    [...process.execArgv, path.join(__dirname, "main.cjs"), ...args, "--no-input"],
    { detached: true, stdio: ["ignore", out, out] },
  );
  if (typeof out === "number") fs.closeSync(out);
  return child;
}

function openLog(log: string): number {
  fs.mkdirSync(path.dirname(log), { recursive: true });
  return fs.openSync(log, "w", 0o600);
}

/** Its run has begun, or goes on, and it holds the repository. */
async function underWay(
  project: Project,
  from: number,
  pid: number,
  signal: AbortSignal,
): Promise<PlanRun | undefined> {
  while (!signal.aborted) {
    const since = eventsAfter(project, from);
    const begun =
      since.ok &&
      since.value.some(({ type }) => type === "run-started" || type === "run-resumed") &&
      project.store.holder()?.pid === pid;
    const state = begun ? readState(project) : undefined;
    const run = state?.ok ? currentRun(state.value) : undefined;
    if (run && run.ended === undefined) return run;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return undefined;
}

/** What it had to say before it ended; of JSON, only that. */
function tellAgain(log: string, json: boolean): void {
  try {
    const lines = fs.readFileSync(log, "utf8").trimEnd().split("\n");
    for (const line of lines) if (!json || line.startsWith("{")) print(line);
  } catch {
    // It did not come that far.
  }
}
