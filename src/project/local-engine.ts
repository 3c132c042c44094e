/** The engine of this machine, as a library has it: runs are carried in this very process. */

import { eventsOf, readState } from "../activities/hold.ts";
import { say } from "../activities/say.ts";
import { currentRun, openDecisions } from "../core/evolve.ts";
import { type Failure, fail, type Result, succeed } from "../core/failure.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import type { Engine, RunWish } from "../engine.ts";
import { type BuildPeople, type Built, buildPlan } from "./build.ts";
import { openProject } from "./open.ts";

/** `people`: who is asked and told; nobody of them is waited for. */
export function createLocalEngine(
  cwd: string,
  people: Pick<BuildPeople, "askTrust" | "by">,
): Engine {
  const project = openProject(cwd);
  let carrying: Promise<Result<Built>> | undefined;
  let wished: RunWish | undefined;
  let refused: Failure | undefined;
  const current = (): PlanRun | undefined => {
    const state = readState(project);
    return state.ok ? currentRun(state.value) : undefined;
  };
  const carry = (wish: RunWish): void => {
    wished = wish;
    refused = undefined;
    const never = new AbortController().signal;
    const carried = buildPlan(cwd, wish, {
      ...people,
      ask: async () => succeed(undefined),
      signal: never,
      killNow: never,
      onEvent: () => {},
      onNews: () => {},
    });
    carrying = carried;
    void carried.then((built) => {
      if (carrying === carried) carrying = undefined;
      if (!built.ok) refused = built.failure;
    });
  };
  const stateOf = () => readState(project);
  /** An answer may have had it go on meanwhile. */
  const untilRested = async (): Promise<void> => {
    const now = carrying;
    if (!now) return;
    await now;
    return untilRested();
  };
  return {
    async submit(wish) {
      const before = current();
      const isSame = before?.plan === wish.plan && before.ended !== "complete";
      if (!carrying) carry(wish);
      // Until it has a name, or is refused.
      for (;;) {
        const run = current();
        const isKnown = run !== undefined && (isSame || run.id !== before?.id);
        if (run && isKnown) return succeed({ run: run.id, created: run.id !== before?.id });
        if (refused) return { ok: false, failure: refused };
        if (!carrying && run) return succeed({ run: run.id, created: false });
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async rested(id) {
      await untilRested();
      const state = stateOf();
      if (!state.ok) return state;
      const run = state.value.runs?.[id];
      return run ? succeed(run) : fail("not-found", `there is no run ${id}`);
    },
    async events(id) {
      const reading = project.store.read({ whole: true });
      if (!reading.ok) return reading;
      return succeed(reading.value.after.filter(({ run }) => run === id).flatMap(eventsOf));
    },
    async openDecisions() {
      const state = stateOf();
      return state.ok ? succeed(openDecisions(state.value)) : state;
    },
    async answer(_run, decision, { key, by }) {
      const at = project.world.now();
      const stands = await project.store.answer(decision, { key, by, at });
      if (stands.ok && !carrying && wished) carry(wished);
      return stands;
    },
    async stop(_run, by) {
      const at = project.world.now();
      const said = await say(project, { say: "stop", how: "now", by, at }, 10_000);
      return said.ok ? succeed(undefined) : said;
    },
  };
}
