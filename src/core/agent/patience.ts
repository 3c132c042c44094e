/** How long an agent is left alone that cannot work just now, when nobody has said how long. */
import type { TroubleKind } from "./trouble.ts";

/** `parks`: waits before this one, with nothing between them. Undefined: it has been tried for long enough. */
export function waitMs(kind: TroubleKind | undefined, parks: number): number | undefined {
  // An account's limit passes by itself, some day: that is no reason to give up.
  if (kind === undefined || kind === "usage_limit") return halfHour;
  return parks >= mostParks ? undefined : Math.min(firstWait * 2 ** parks, quarterHour);
}

const firstWait = 30_000;
const quarterHour = 15 * 60_000;
const halfHour = 30 * 60_000;
const mostParks = 10;
