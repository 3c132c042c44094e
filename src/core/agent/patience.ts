/** How long an agent is left alone that cannot work just now, when nobody has said how long. */
import type { TroubleKind } from "./trouble.ts";

/** `parks`: waits before this one, with nothing between them. Undefined: it has been tried for long enough. */
function waitMs(kind: TroubleKind | undefined, parks: number): number | undefined {
  // An account's limit passes by itself, some day: that is no reason to give up.
  if (kind === undefined || kind === "usage_limit") return halfHour;
  return parks >= mostParks ? undefined : Math.min(firstWait * 2 ** parks, quarterHour);
}

/**
 * When to try again that was told a moment: it is believed once. Named again and again it was wrong
 * (over already, or of another clock), and is waited for longer each time; and nobody is left alone
 * for years. Undefined: it has been tried for long enough.
 */
export function parkedFor(
  kind: TroubleKind | undefined,
  parks: number,
  toldMs: number | undefined,
): number | undefined {
  const own = waitMs(kind, parks);
  if (toldMs === undefined || Number.isNaN(toldMs)) return own;
  if (own === undefined && toldMs < quarterHour) return undefined;
  const least = parks === 0 ? 0 : Math.min(firstWait * 2 ** (parks - 1), quarterHour);
  return Math.min(Math.max(toldMs, least), longest);
}

/** What is counted by months comes again after one. */
const longest = 35 * 24 * 3_600_000;
const firstWait = 30_000;
const quarterHour = 15 * 60_000;
const halfHour = 30 * 60_000;
const mostParks = 10;
