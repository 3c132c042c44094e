/**
 * `autodev`: finds out where the project is, says so, and goes on until there is a reason to rest: a
 * decision, a boundary, a limit, the end.
 */
import { type FollowOptions, follow } from "../following.ts";

export const run = (options: FollowOptions): Promise<number> => follow(options, "autodev");
