/** `autodev decide <id> <letter>`: answers a decision from anywhere. */
import type { EngineName } from "../../core/settings.ts";
import { answerDecision, openProject, shown } from "../../project.ts";
import { fleetDoor, isFleet } from "../fleet-door.ts";
import { print, printError, printJson } from "../output.ts";
import { answeredBy } from "../prompt.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import type { DecideOutput } from "../shapes.ts";

export async function run(
  id: string,
  key: string,
  options: { json?: boolean; as?: string; engine?: EngineName },
): Promise<number> {
  const json = options.json === true;
  const by = options.as ?? answeredBy({});
  const fleet = isFleet(process.cwd(), options);
  if (!fleet.ok) return reportFailure(fleet.failure, json);
  if (fleet.value) return fleetDoor().decide(id, key, { json, by });
  const project = openProject(process.cwd());
  const decided = await answerDecision(project, id, { key, by, command: "autodev decide" });
  if (!decided.ok) return reportFailure(decided.failure, json);
  const { warning, ...answered } = decided.value;
  if (warning) printError(`autodev: ${warning}`);
  const output: DecideOutput = { version: 1, ...answered };
  if (json) printJson(output);
  else {
    const how = output.recorded ? "recorded" : "kept; the running autodev takes it up";
    print(`${output.id}: ${output.answer} (${shown(output.answeredBy)}), ${how}`);
  }
  return exitCodes.finished;
}
