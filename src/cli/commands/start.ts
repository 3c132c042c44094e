/**
 * `autodev`: finds out where the project is, says so, and goes on until there is a reason to rest: a
 * decision, a boundary, a limit, the end.
 */
import { type FleetOptions, fleetDoor, isFleet } from "../fleet-door.ts";
import { type FollowOptions, follow } from "../following.ts";
import { reportFailure } from "../render/failure.ts";

export async function run(options: FollowOptions & FleetOptions): Promise<number> {
  const fleet = isFleet(process.cwd(), options);
  if (!fleet.ok) return reportFailure(fleet.failure, options.json === true);
  return fleet.value ? fleetDoor().flow(process.cwd(), options) : follow(options, "autodev");
}
