/** The engine of a fleet, as a library has it: runs are carried by whichever workers there are. */
import { eventsOf } from "../../activities/hold.ts";
import { evolve, nothingYet, openDecisions, type ProjectState } from "../../core/evolve.ts";
import { fail, type Result, succeed } from "../../core/failure.ts";
import type { Engine } from "../../engine.ts";
import { runNamed } from "../../engines/postgres/rows/runs.ts";
import { attempting } from "../../stores/postgres/database.ts";
import { openPostgresStore, type PostgresStore } from "../../stores/postgres.ts";
import type { BuildPeople } from "../build.ts";
import type { Fleet } from "./connect.ts";
import { submitPlan } from "./submit.ts";
import { answerRun, stopIn } from "./watch.ts";

export function createPostgresEngine(
  fleet: Fleet,
  cwd: string,
  people: Pick<BuildPeople, "askTrust" | "by">,
): Engine {
  const { database } = fleet;
  const storeOf = (run: string): Promise<Result<PostgresStore>> =>
    openPostgresStore({ database, run, leaseMs: 15_000 });
  const stateOf = async (run: string): Promise<Result<ProjectState>> => {
    const store = await storeOf(run);
    if (!store.ok) return store;
    const reading = store.value.read();
    if (!reading.ok) return reading;
    return succeed(reading.value.after.flatMap(eventsOf).reduce(evolve, nothingYet));
  };
  const rowOf = (run: string) => attempting(database, () => runNamed(database, run));
  return {
    async submit(wish) {
      const never = new AbortController().signal;
      return submitPlan(fleet, cwd, wish, {
        ...people,
        ask: async () => succeed(undefined),
        signal: never,
        killNow: never,
        onEvent: () => {},
        onNews: () => {},
      });
    },
    async rested(run) {
      for (;;) {
        const row = await rowOf(run);
        if (!row.ok) return row;
        if (!row.value) return fail("not-found", `there is no run ${run}`);
        const { is_open, state, outcome } = row.value;
        const again = is_open && outcome?.how === "refused" && outcome.until !== undefined;
        if (!["opening", "waiting", "driving"].includes(state) && !again) {
          if (outcome?.failure) return { ok: false, failure: outcome.failure };
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
      const state = await stateOf(run);
      if (!state.ok) return state;
      const found = state.value.runs?.[run];
      return found ? succeed(found) : fail("not-found", `run ${run} has no history`);
    },
    async events(run) {
      const store = await storeOf(run);
      if (!store.ok) return store;
      const reading = store.value.read();
      if (!reading.ok) return reading;
      return succeed(reading.value.after.filter((each) => each.run === run).flatMap(eventsOf));
    },
    async openDecisions(run) {
      const state = await stateOf(run);
      return state.ok ? succeed(openDecisions(state.value)) : state;
    },
    answer: (run, decision, answer) => answerRun(fleet, run, { id: decision }, answer),
    async stop(run, by) {
      const row = await rowOf(run);
      if (!row.ok) return row;
      if (!row.value) return fail("not-found", `there is no run ${run}`);
      const stopped = await stopIn(fleet, row.value, { how: "now", by });
      return stopped.ok ? succeed(undefined) : stopped;
    },
  };
}
