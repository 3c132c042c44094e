/**
 * The fleet's part of the browser's door: a bundle of its own, loaded where somebody has said where
 * the database is. The database itself is opened when somebody looks for the first time, and again
 * whenever that has failed.
 *
 *  1. However many pages look, the database is asked once a second at most.
 *  2. What is told has an end: texts, lists, and the time that anybody waits.
 *  3. Where the database is, is never told (`tellable.ts`).
 */
import type { FleetAnswer } from "../core/board/wire.ts";
import { type Answer, optionFor } from "../core/decision.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { databaseUrl, type Fleet, openFleet } from "../project/fleet/connect.ts";
import { fleetTold } from "../project/fleet/told.ts";
import { answerRun, findRunRow, pauseIn, seeFleet } from "../project/fleet/watch.ts";
import type { FleetDoor } from "./fleet.ts";
import { tellable, tellableFailure } from "./tellable.ts";

const mostRuns = 200;
const freshMs = 1000;
const patienceMs = 2000;
const longestMs = 12_000;
const lastWordMs = 2000;

export function openDoor(): FleetDoor {
  // Taken out of the environment now, whenever it is used.
  databaseUrl();
  let opened: Promise<Result<Fleet>> | undefined;
  let looked: { readonly at: number; readonly what: Promise<Result<FleetAnswer>> } | undefined;

  const open = async (): Promise<Result<Fleet>> => {
    opened ??= openFleet({ patienceMs, connections: 3 });
    let isOpen = false;
    try {
      const fleet = await opened;
      isOpen = fleet.ok;
      return fleet;
    } finally {
      if (!isOpen) opened = undefined;
    }
  };
  const within = async <T>(act: (fleet: Fleet) => Promise<Result<T>>): Promise<Result<T>> => {
    const done = await inTime(async () => {
      const fleet = await open();
      return fleet.ok ? act(fleet.value) : fleet;
    });
    return done.ok ? done : { ok: false, failure: tellableFailure(done.failure) };
  };
  const look = (): Promise<Result<FleetAnswer>> =>
    within(async (fleet) => {
      const seen = await seeFleet(fleet, mostRuns);
      return seen.ok ? succeed(tellable(fleetTold(seen.value))) : seen;
    });
  /** What was seen before something was changed is not how it is. */
  const changed = async <T>(act: (fleet: Fleet) => Promise<Result<T>>): Promise<Result<T>> => {
    const done = await within(act);
    looked = undefined;
    return done;
  };

  return {
    seen() {
      const now = performance.now();
      if (!looked || now - looked.at > freshMs) looked = { at: now, what: look() };
      return looked.what;
    },
    decide: (wish) => changed((fleet) => decide(fleet, wish)),
    pause: (run, paused) =>
      changed(async (fleet) => {
        const row = run === undefined ? undefined : await findRunRow(fleet, run);
        if (row && !row.ok) return row;
        if (row && !row.value.is_open) return fail("not-found", `run ${run} is over`);
        return pauseIn(fleet, run, paused);
      }),
    async close() {
      const fleet = await opened;
      if (!fleet?.ok) return;
      // One that is away does not hear that we go.
      await Promise.race([fleet.value.close().catch(() => {}), later(lastWordMs)]);
    },
  };
}

/** Of the run that is meant: another may ask the same. */
async function decide(
  fleet: Fleet,
  { run, id, key, by }: Parameters<FleetDoor["decide"]>[0],
): Promise<Result<Answer>> {
  const row = await findRunRow(fleet, run);
  if (!row.ok) return row;
  const decision = row.value.asking.find((each) => each.id === id);
  if (!decision || !row.value.is_open)
    return fail("decision-taken", `${id} is no longer asked: it was answered, or does not arise`);
  const option = optionFor(decision, key);
  if (!option) {
    const keys = decision.options.map((each) => each.key).join(", ");
    return fail("usage", `"${key}" is no option of ${id}; there are ${keys}`);
  }
  const stands = await answerRun(fleet, run, decision, { key: option.key, by });
  if (!stands.ok || stands.value.key === option.key) return stands;
  const { key: first, by: who } = stands.value;
  return fail(
    "decision-taken",
    `${id} was answered before: ${first} by ${who}; the first answer stands`,
  );
}

async function inTime<T>(act: () => Promise<Result<T>>): Promise<Result<T>> {
  const late = later(longestMs).then(() => fail("database", "the database does not answer"));
  return Promise.race([act(), late]);
}

const later = (ms: number): Promise<void> =>
  new Promise((resolve) => void setTimeout(resolve, ms).unref());
