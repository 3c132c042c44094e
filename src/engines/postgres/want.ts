/** Somebody wants a run to go on: it is put where whoever can take it looks. */
import { chooseLane, whyNobody } from "../../core/fleet/capabilities.ts";
import { couldGoOn, type Lack } from "../../core/fleet/lacks.ts";
import type { Database } from "../../stores/postgres/database.ts";
import { type Carrier, driveName, flowName, type Turn } from "./carrier.ts";
import { placesOf, takePlace } from "./rows/agents.ts";
import { type RunRow, runNamed, runWaits, type Wish, wantDriven } from "./rows/runs.ts";
import { liveWorkers } from "./rows/workers.ts";

interface Wanting {
  readonly database: Database;
  readonly carrier: Carrier;
  readonly version: string;
}

export async function wantRun(
  fleet: Wanting,
  id: string,
  by: Wish = {},
  turn: Turn = "usual",
): Promise<void> {
  const wanted = await wantDriven(fleet.database, id, fleet.version, by);
  if (wanted !== undefined) await enqueueWanted(fleet, id, wanted, turn);
}

/**
 * A run of a plan is driven by anybody: its work is done by others. A flow works where it is driven,
 * so it goes where its agent is; as long as nobody has one it waits, and is asked for again.
 */
export async function enqueueWanted(
  { database, carrier }: Wanting,
  id: string,
  wanted: number,
  turn: Turn = "usual",
): Promise<void> {
  const row = await runNamed(database, id);
  if (!row) return;
  const mark = String(wanted);
  const { version } = row;
  if (row.kind === "plan") return carrier.enqueueDrive(id, mark, { version, turn });
  const { needs } = row.submitted;
  const workers = await liveWorkers(database);
  const lane = chooseLane(workers, { needs, version }, await carrier.load());
  await runWaits(database, id, lane ? null : `${whyNobody(workers, needs)}: waiting for one`);
  if (lane !== undefined) await carrier.enqueueFlow(id, mark, { lane, version, turn });
}

/** Wanted for a while, and nobody is at it: nobody was told, or whoever took it came to nothing. */
export async function wantAgain(
  fleet: Wanting,
  { id, wanted, lacks }: Pick<RunRow, "id" | "wanted" | "lacks">,
): Promise<void> {
  const row = await runNamed(fleet.database, id);
  if (!row) return;
  const name = (row.kind === "plan" ? driveName : flowName)(id, String(wanted));
  // What it has made room for it has waited for; a place is kept for it, and not for long.
  const turn = lacks ? "first" : "usual";
  const known = await fleet.carrier.known(name);
  if (known === undefined) await enqueueWanted(fleet, id, wanted, turn);
  else if (known !== "taken") await wantRun(fleet, id, { unheard: wanted }, turn);
}

/** Longer than it takes to be driven again, where somebody has room for it. */
const keptSeconds = 30;

/** Those of them that lack nothing, or no longer; a place is kept for whoever lacked one. */
export async function ableToGoOn<T extends Pick<RunRow, "id" | "version" | "lacks">>(
  { database, carrier }: Wanting,
  runs: readonly T[],
): Promise<readonly T[]> {
  const lacks = runs.flatMap((run) => run.lacks ?? []);
  if (lacks.length === 0) return runs;
  const queued = await carrier.stillQueued(
    lacks.flatMap((lack) => (lack.is === "turn" ? lack.task : [])),
  );
  const atHand = {
    workers: await liveWorkers(database),
    hasPlace: () => false,
    isQueued: (task: string) => queued.has(task),
  };
  const placed = await placesOf(
    database,
    lacks.flatMap((lack) => (lack.is === "place" ? lack.task : [])),
  );
  // Where one has to wait, all have to: they are many, and whoever begins something asks there too.
  const taken = new Set<string>();
  const findsPlace = async (run: string, ofRun: readonly Lack[]): Promise<boolean> => {
    for (const lack of ofRun) {
      if (lack.is !== "place") continue;
      if (placed.has(lack.task)) return true;
      if (taken.has(lack.agent)) continue;
      const place = await takePlace(database, { ...lack, run }, keptSeconds);
      if (place.is !== "waits") return true;
      taken.add(lack.agent);
    }
    return false;
  };
  const able: T[] = [];
  for (const run of runs) {
    const { id, version, lacks: ofRun } = run;
    if (!ofRun || couldGoOn(ofRun, version, atHand) || (await findsPlace(id, ofRun)))
      able.push(run);
  }
  return able;
}

/** A flow that was left in a lane in which nobody works any more goes to another. */
export async function moveFlows({ database, carrier }: Wanting): Promise<void> {
  const flows = await carrier.waitingFlows();
  if (flows.length === 0) return;
  const workers = await liveWorkers(database);
  for (const { id, run, lane } of flows) {
    if (workers.some((worker) => worker.lane === lane)) continue;
    const row = await runNamed(database, run);
    const needs = row?.submitted.needs ?? [];
    const to = row && chooseLane(workers, { needs, version: row.version }, await carrier.load());
    if (to !== undefined) await carrier.moveTo(id, to);
  }
}
