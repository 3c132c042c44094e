/** `autodev fleet limit`: what all workers together may ask of an agent. */
import { limitAgent, openFleet } from "../../project/fleet.ts";
import { print, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import type { FleetLimitOutput } from "../shapes.ts";

interface Options {
  atOnce?: number;
  perMinute?: number;
  dollarsADay?: number;
  json?: boolean;
}

export async function run(agent: string, options: Options): Promise<number> {
  const json = options.json === true;
  const { atOnce, perMinute, dollarsADay } = options;
  if (!/^[a-z][a-z0-9-]{0,31}$/.test(agent)) {
    return reportFailure({ code: "usage", message: `"${agent}" is no agent's name` }, json);
  }
  const fleet = await openFleet();
  if (!fleet.ok) return reportFailure(fleet.failure, json, { oneLine: true });
  const rule = {
    ...(atOnce !== undefined && { atOnce }),
    ...(perMinute !== undefined && { perMinute }),
    ...(dollarsADay !== undefined && { dollarsADay }),
  };
  const limited = await limitAgent(fleet.value, agent, rule);
  await fleet.value.close();
  if (!limited.ok) return reportFailure(limited.failure, json, { oneLine: true });
  const output: FleetLimitOutput = {
    version: 1,
    agent,
    atOnce: atOnce ?? null,
    perMinute: perMinute ?? null,
    dollarsADay: dollarsADay ?? null,
  };
  if (json) printJson(output);
  else {
    const said = Object.keys(rule).length === 0 ? "without limits" : JSON.stringify(rule);
    print(`${agent}: ${said}, on all workers together`);
  }
  return exitCodes.finished;
}
