/** `autodev engine migrate`: makes or updates the tables of a fleet. */
import { migrateEngine } from "../../project/fleet.ts";
import { print, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import type { EngineMigrateOutput } from "../shapes.ts";

export async function run(options: { role?: string; json?: boolean }): Promise<number> {
  const json = options.json === true;
  const migrated = await migrateEngine(options.role);
  if (!migrated.ok) return reportFailure(migrated.failure, json, { oneLine: true });
  const { from, to, at } = migrated.value;
  const output: EngineMigrateOutput = { version: 1, at, from, to, role: options.role ?? null };
  if (json) printJson(output);
  else {
    print(
      from === to ? `${at} is at version ${to} already` : `${at}: from version ${from} to ${to}`,
    );
    if (options.role) print(`${options.role} may work there, and make or drop nothing`);
  }
  return exitCodes.finished;
}
