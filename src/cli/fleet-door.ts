/**
 * Whether a command is about a run of a fleet's, and the bundle that knows fleets: nobody who works
 * on one machine loads it.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { type Result, succeed } from "../core/failure.ts";
import type { EngineName } from "../core/settings.ts";
import { type BuildOptions, engineFor, openProject } from "../project.ts";
import type { TellOptions } from "./building.ts";
import { compiled } from "./compiled.ts";
import type { DisplayOptions } from "./display.ts";
import type { FollowOptions } from "./following.ts";
import type { AskOptions } from "./prompt.ts";

export interface FleetOptions {
  engine?: EngineName;
  /** Of a fleet's: which one. */
  run?: string;
}

export function isFleet(cwd: string, { engine, run }: FleetOptions): Result<boolean> {
  if (engine !== undefined || run !== undefined) return succeed(engine !== "local");
  // The settings take time to read, and nearly nobody's name an engine.
  if (!mayNameEngine(cwd)) return succeed(false);
  const named = engineFor(cwd);
  return named.ok ? succeed(named.value === "postgres") : named;
}

function mayNameEngine(cwd: string): boolean {
  try {
    const file = path.join(openProject(cwd).root, ".autodev", "config.yaml");
    return fs.readFileSync(file, "utf8").includes("postgres");
  } catch {
    return false;
  }
}

/** As `commands/fleet-runs.ts` has them. */
export interface FleetDoor {
  build(
    cwd: string,
    wanted: BuildOptions,
    options: TellOptions & { detach?: boolean },
  ): Promise<number>;
  flow(cwd: string, options: FollowOptions): Promise<number>;
  attach(options: DisplayOptions & AskOptions & FleetOptions): Promise<number>;
  decide(id: string, key: string, options: { json?: boolean; by: string }): Promise<number>;
  decisions(options: { json?: boolean }): Promise<number>;
  retry(phase: string, options: TellOptions & FleetOptions & { note?: string }): Promise<number>;
  stop(
    options: FleetOptions & { afterPhase?: boolean; wait?: boolean; json?: boolean },
  ): Promise<number>;
}

export function fleetDoor(): FleetDoor {
  const { exports, keep } = compiled(`${__dirname}/fleet-runs.cjs`, require);
  keep();
  return exports as FleetDoor;
}
