/** `autodev fleet`: runs, workers, what waits, and for whom. */
import { fleetTold, openFleet, seeFleet } from "../../project/fleet.ts";
import { print, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { fleetLines } from "../render/fleet.ts";
import { styleFor } from "../render/style.ts";
import type { FleetOutput } from "../shapes.ts";

export async function run(options: {
  all?: boolean;
  json?: boolean;
  color?: boolean;
}): Promise<number> {
  const json = options.json === true;
  const fleet = await openFleet();
  if (!fleet.ok) return reportFailure(fleet.failure, json, { oneLine: true });
  const seen = await seeFleet(fleet.value, options.all ? 10_000 : 50);
  await fleet.value.close();
  if (!seen.ok) return reportFailure(seen.failure, json, { oneLine: true });
  const output: FleetOutput = fleetTold(seen.value);
  if (json) printJson(output);
  else for (const line of fleetLines(output, styleFor(options.color))) print(line);
  return exitCodes.finished;
}
