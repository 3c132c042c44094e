import { expect, it } from "vitest";
import type { Event, RecordedEvent } from "../event.ts";
import { evolve, nothingYet } from "../evolve.ts";
import { stepIn } from "./flow.ts";
import { existingCode } from "./flows/existing-code.ts";
import { afterSkill } from "./judge.ts";

const retro = "06_metrics/retro_2026-01-01.md";

/** What follows when a retrospective says that it is done, and so much is missing. */
function afterRetrospective(unmet: readonly string[]): Event[] {
  const place = { flow: "existing-code", name: "Retrospective", cycle: 2 };
  const events: Event[] = [
    { type: "step-entered", ...place, step: "17", seen: [retro] },
    { type: "step-started", step: "17", name: "Retrospective" },
    { type: "skill-started", session: 1, step: "17", skill: "retrospective", agent: "a" },
  ];
  const state = events
    .map(
      (event, index) =>
        ({
          ...event,
          seq: index + 1,
          at: "2026-01-01T09:00:00.000Z",
          run: "flow",
        }) as RecordedEvent,
    )
    .reduce(evolve, nothingYet);
  const step = stepIn(existingCode, "17");
  if (!step) throw new Error("there is no step 17");
  return afterSkill(state, {
    flow: existingCode,
    step,
    session: 1,
    end: { is: "done", outcome: "", reports: [] },
    unmet,
    strayed: [],
    survey: { docs: new Map([[retro, 1]]), texts: new Map(), hasSource: true, members: 0 },
    usualWait: "",
  });
}

it("of two cycles that end on one day, the second is complete by the same document", () => {
  const after = afterRetrospective([]);
  expect(after.map(({ type }) => type)).toEqual(["skill-ended", "step-completed"]);
});

it.each([
  [["a"], "a"],
  [["a", "b", "c", "d", "e"], "a; b; c; d; e"],
  [["a", "b", "c", "d", "e", "f", "g"], "a; b; c; d; e; and 2 more"],
])("what is missing is told, and how much of it is not: %j", (unmet, told) => {
  const reason = `it says that it is done, but ${told}`;
  expect(afterRetrospective(unmet)).toMatchObject([
    { type: "skill-ended", how: "failed", reason },
    { type: "step-retried", reason },
  ]);
});
