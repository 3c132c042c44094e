/** A flow on this machine: the driver of core, with the activities that carry out its moves. */

import { factsOf } from "../activities/flow-facts.ts";
import { performMove } from "../activities/flow-moves.ts";
import type { FlowSite } from "../activities/flow-site.ts";
import { isGone } from "../activities/lend-phase.ts";
import { succeed } from "../core/failure.ts";
import { type FlowOutcome, runFlow } from "../core/flow/run-flow.ts";
import { leaseStanding } from "../core/lease.ts";

export function runFlowLocally(site: FlowSite): Promise<FlowOutcome> {
  const { held, project } = site;
  let commits = site.commits;
  let stopped = false;
  let hasLent = false;
  const { pull } = site;
  const at: FlowSite = pull
    ? { ...site, pull: { ...pull, lent: (work) => ((hasLent = true), pull.lent(work)) } }
    : site;
  const isReported = (): boolean => {
    const { report, ended } = held.state.course?.session ?? {};
    return report !== undefined && ended === undefined;
  };
  return runFlow({
    look: async () => succeed({ state: held.state, facts: factsOf(site) }),
    limits: () => ({
      begun: site.begun,
      now: project.world.now(),
      throughBoundaries: site.throughBoundaries,
      commits,
      waits: site.waits,
      stopping:
        stopped ||
        site.signal.aborted ||
        site.isFinishing?.() === true ||
        (pull?.fetches === false && !isReported()),
      sameConversation: site.sameConversation,
      leased(lease) {
        const standing = leaseStanding(lease, project.world.now(), isGone, pull?.puller);
        return hasLent && standing === "ours" ? "theirs" : standing;
      },
    }),
    hash: project.world.hash,
    async perform(move) {
      const performed = await performMove(at, move);
      // Somebody is in the middle of a merge, say: the work goes on, and is committed another time.
      const nothing = performed.ok && performed.value.length === 0;
      if (move.is === "commit" && nothing) commits = false;
      // Its run was told to stop, here or from elsewhere: so is the flow.
      if (move.is === "run-tasks" && nothing) stopped = true;
      return performed;
    },
    async record(events) {
      // Nobody who may not work has started anything.
      if (events.some(({ type }) => type === "step-started")) {
        const workers = await site.workers();
        if (!workers.ok) return workers;
      }
      const recorded = await held.record(...events);
      if (recorded.ok) site.happened(events);
      return recorded;
    },
  });
}
