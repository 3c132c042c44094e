import { describe, expect, it } from "vitest";
import { decisionId } from "../decision.ts";
import type { Event, RecordedEvent } from "../event.ts";
import { evolve, nothingYet, type ProjectState } from "../evolve.ts";
import { crossCheck } from "./cross-check.ts";
import type { Survey } from "./flow.ts";
import { greenfield } from "./flows/greenfield.ts";
import { type Opening, openingMove } from "./opening.ts";
import { renderStateFile } from "./render.ts";
import { whereabouts } from "./whereabouts.ts";

const at = "2026-01-01T00:00:00.000Z";
const hash = (text: string): string => Buffer.from(text).toString("hex").slice(-12);

/** Everything up to Plan is missing, and what Implement leaves is there. */
const survey: Survey = {
  docs: new Map([["03_implementation/implementation_report_app.md", 1]]),
  texts: new Map(),
  hasSource: false,
  members: 0,
};

function found(): Parameters<typeof openingMove>[1] {
  const here = whereabouts({
    files: [],
    everRendered: () => false,
    recentRenderings: () => [],
    gitMoved: () => false,
    survey: () => survey,
  });
  if (!here.ok) throw new Error(here.failure.message);
  return here.value;
}

const fold = (state: ProjectState, ...events: readonly Event[]): ProjectState =>
  events
    .map((event, index) => ({ ...event, seq: index + 1, at, run: "flow" }) as RecordedEvent)
    .reduce(evolve, state);

/** What comes of a project without a state file when a person answers with this letter. */
function created(key: string): Extract<Opening, { is: "create" }> {
  const asks = openingMove(nothingYet, found(), hash);
  if (asks.is !== "ask") throw new Error(`${asks.is} instead of a question`);
  const id = decisionId(asks.question, hash);
  const decision = { ...asks.question, id, askedAt: at, answer: { key, by: "me", at } };
  const move = openingMove({ decisions: { [id]: decision } }, found(), hash);
  if (move.is !== "create") throw new Error(`${move.is} instead of a file`);
  return move;
}

describe("a project whose folders fit several steps", () => {
  it.each([
    ["A", "1", []],
    ["B", "7", ["1", "2", "3", "5"]],
  ])("goes on where a person says, and stays there: %s", (key, step, skipped) => {
    const { state, then } = created(key);
    const text = renderStateFile(undefined, state);
    if (!text.ok || !then) throw new Error("there is nothing to be made");
    const made = fold(
      nothingYet,
      {
        type: "state-file-adopted",
        why: "created",
        path: "_docs/_autodev_state.md",
        text: text.value,
        generation: 3,
        variant: 13,
        state: structuredClone(state) as never,
        corrections: [],
      },
      then,
    );
    expect(made.flow).toMatchObject({ step, skipped });
    if (!made.flow) throw new Error("there is no flow");
    expect(crossCheck(greenfield, made.flow, made.course, survey)).toEqual({ is: "agrees" });
  });
});
