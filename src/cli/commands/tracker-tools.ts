/** `autodev tracker tools`: connects, and shows by which tool each thing would be done. */
import { openProject, readState, shown, trackerTools } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { type AskOptions, answeredBy, askerFor, trustAsker } from "../prompt.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import type { TrackerToolsOutput } from "../shapes.ts";

interface Options extends AskOptions {
  trustSha256?: string;
  json?: boolean;
}

export async function run(options: Options): Promise<number> {
  const json = options.json === true;
  const project = openProject(process.cwd());
  const state = readState(project);
  if (!state.ok) return reportFailure(state.failure, json);
  const people = {
    ask: askerFor(options),
    askTrust: trustAsker(options),
    by: answeredBy(options),
    signal: new AbortController().signal,
    tell: () => undefined,
  };
  const tools = await trackerTools(project, state.value, people, options);
  if (!tools.ok) return reportFailure(tools.failure, json);
  const { name, kind, from, repository } = tools.value.server;
  const output: TrackerToolsOutput = {
    version: 1,
    server: { name, kind, from, repository },
    verbs: { ...tools.value.how },
    refused: tools.value.refused ? { ...tools.value.refused } : null,
  };
  if (json) printJson(output);
  else tell(output);
  return output.refused ? exitCodes.blocked : exitCodes.finished;
}

function tell({ server, verbs, refused }: TrackerToolsOutput): void {
  print(`${shown(server.name)}: ${server.kind}, in ${shown(server.from)}`);
  for (const [verb, tool] of Object.entries(verbs)) print(`  ${verb.padEnd(6)} ${shown(tool)}`);
  if (!refused) return;
  print(`It cannot be used: ${shown(refused.why)}`);
  for (const line of refused.difference) print(`  ${shown(line)}`);
}
