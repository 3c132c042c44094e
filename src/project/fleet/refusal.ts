/** What becomes of a run that a machine, a remote or a database refuses to go on with. */
import { type Failure, fail } from "../../core/failure.ts";
import type { RunState } from "../../core/fleet/told.ts";
import type { RunResult } from "../../engines/postgres/rows/runs.ts";
import { failureOf, isFromDatabase } from "../../stores/postgres/database.ts";

/** Somebody else has taken it over: it is theirs to say how it goes on. */
export const isTakenOver = ({ code }: Failure): boolean =>
  code === "journal-fenced" || code === "journal-moved-on";

/** Tried again a few times, each later than the one before; then it is people's. */
export function restRefused(
  last: RunResult | null,
  failure: Failure,
  now: string,
): { readonly state: RunState; readonly outcome: RunResult } {
  const tries = (last?.how === "refused" ? (last.tries ?? 0) : 0) + 1;
  if (tries === mostRefusals || !passes.has(failure.code))
    return { state: "halted", outcome: { how: "refused", failure, tries } };
  const until = new Date(Date.parse(now) + 1000 * 5 ** tries).toISOString();
  return { state: "parked", outcome: { how: "refused", failure, tries, until } };
}

const mostRefusals = 3;

/** What may be otherwise in a moment, or on another machine. */
const passes = new Set<Failure["code"]>([
  "fetch-refused",
  "push-refused",
  "git",
  "disk",
  "worker-failed",
  "database",
]);

/** Thrown on the way: by the database, or by a bug of ours, which is no reason to leave a run there. */
export function troubleOf(error: unknown, shown: string): Failure {
  if (isFromDatabase(error)) return failureOf(error, shown);
  const why = error instanceof Error ? error.message : String(error);
  return fail("worker-failed", `a worker has failed: ${why}`).failure;
}
