/** `autodev tracker sync`: what is pending is created, and files are called by its ids. */
import { hold, openFlow, shown, syncTracker, withFlows } from "../../project.ts";
import { print, printError, printJson } from "../output.ts";
import { type AskOptions, answeredBy, flowAsker, openRepository, trustAsker } from "../prompt.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import type { TrackerSyncOutput } from "../shapes.ts";

interface Options extends AskOptions {
  trustSha256?: string;
  json?: boolean;
}

export async function run(options: Options): Promise<number> {
  const json = options.json === true;
  const found = await openRepository(options);
  if (!found.ok) return reportFailure(found.failure, json);
  const known = withFlows(found.value);
  if (!known.ok) return reportFailure(known.failure, json);
  const project = known.value;
  const held = await hold(project, "autodev tracker sync");
  if (!held.ok) return reportFailure(held.failure, json);
  const synced = await withSignals(async (signal) => {
    const people = { ask: flowAsker(project.root, options), by: answeredBy(options) };
    const opened = await openFlow(project, held.value, people);
    if (!opened.ok) return opened;
    const told = {
      ...people,
      askTrust: trustAsker(options),
      signal,
      tell: (line: string) => {
        if (!json) printError(`  ${shown(line)}`);
      },
    };
    return syncTracker(project, held.value, told, options);
  });
  const released = await held.value.release();
  if (!synced.ok) return reportFailure(synced.failure, json);
  if (!released.ok) return reportFailure(released.failure, json);
  const { tracker, created, pending, renamed, commit } = synced.value;
  const output: TrackerSyncOutput = {
    version: 1,
    tracker,
    created,
    pending,
    renamed: renamed.map((each) => ({ ...each })),
    commit: commit ?? null,
  };
  if (json) printJson(output);
  else {
    print(`${tracker}: ${created} created, ${renamed.length} renamed, ${pending} pending`);
    if (commit !== undefined) print(`committed as ${commit.slice(0, 9)}`);
    if (pending > 0) print("Next: autodev tracker, which says why");
  }
  return pending > 0 ? exitCodes.blocked : exitCodes.finished;
}

async function withSignals<T>(act: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return await act(stop.signal);
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
  }
}
