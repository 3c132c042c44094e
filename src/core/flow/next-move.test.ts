import { describe, expect, it } from "vitest";
import type { Event, RecordedEvent } from "../event.ts";
import { evolve, nothingYet, type ProjectState } from "../evolve.ts";
import { crossCheck } from "./cross-check.ts";
import { builtInFlows, flowNamed } from "./flows/index.ts";
import { metaRepo } from "./flows/meta-repo.ts";
import { type FlowFacts, type FlowMove, nextMove } from "./next-move.ts";
import type { FlowState } from "./state.ts";
import { noTaskFacts } from "./tasks.ts";

const at = "2026-01-01T00:00:00.000Z";

/** Begun by a move to a step, as the folders make it. */
function stateAfter(flow: string, step: string, ...events: readonly Event[]): ProjectState {
  const name = flowNamed(flow)?.steps.find((each) => each.step === step)?.name ?? "Done";
  const entered: Event = { type: "step-entered", flow, step, name, cycle: 1 };
  return [entered, ...events]
    .map((event, index) => ({ ...event, seq: index + 1, at, run: "flow" }) as RecordedEvent)
    .reduce(evolve, nothingYet);
}

function surveyOf(files: Readonly<Record<string, string>>): FlowFacts["survey"] {
  const texts = new Map(Object.entries(files));
  const docs = new Map([...texts].map(([path, text]) => [path, text.length]));
  return { docs, texts, hasSource: false, members: 0 };
}

function moveOf(
  state: ProjectState,
  files: Readonly<Record<string, string>> = {},
  skill: Partial<FlowFacts["skill"]> = {},
  tasks: FlowFacts["tasks"] = noTaskFacts,
): FlowMove {
  const facts: FlowFacts = {
    flows: builtInFlows,
    survey: surveyOf(files),
    skill: { phases: [], lacks: [], there: [], ...skill },
    tasks,
    ahead: [],
  };
  const limits = {
    begun: 99,
    now: at,
    throughBoundaries: false,
    commits: false,
    waits: false,
    stopping: false,
  };
  return nextMove(state, facts, limits, (text) => text);
}

const asked = (move: FlowMove): string => (move.is === "ask" ? move.question.kind : move.is);
const status = (word: string): Event => ({ type: "status-set", status: word });

describe("a step that no skill does", () => {
  it("is not under way, whoever says so", () => {
    expect(asked(moveOf(stateAfter("meta-repo", "2", status("in_progress"))))).toBe("confirmation");
    expect(moveOf(stateAfter("meta-repo", "6", status("in_progress")))).toMatchObject({
      is: "record",
      events: [{ type: "step-entered", step: "3" }],
    });
  });
});

it("a step that a person has confirmed is ours to complete, though its line stands there already", () => {
  const confirmed = { "_repo-config.yaml": "confirmed_by_user: true\n" };
  const here = stateAfter("meta-repo", "2");
  const move = moveOf(here);
  if (move.is !== "ask" || !here.flow) throw new Error("nothing is asked");
  const decision = { ...move.question, id: "d-1", askedAt: at };
  const events = [
    { type: "decision-asked", decision } as Event,
    { type: "decision-answered", id: "d-1", key: "A", by: "person", at } as const,
  ];
  const answered = stateAfter("meta-repo", "2", ...events);
  const seen = surveyOf(confirmed);
  const says = (state: ProjectState): object =>
    crossCheck(metaRepo, state.flow as FlowState, state.course, seen);
  // Killed before it was on record: nobody else has done it, and it is committed like any other.
  expect(says(answered)).toEqual({ is: "agrees" });
  expect(moveOf(answered, confirmed)).toMatchObject({ events: [{ type: "step-completed" }] });
  // Without an answer somebody else has set the line, and the folders are believed.
  expect(says(here)).toMatchObject({ is: "elsewhere", to: { step: { step: "3" } } });
});

describe("the decision about another round of research", () => {
  const draft = { "01_solution/solution_draft01.md": "# A\n" };

  it("is asked before Plan too, however the flow has come there", () => {
    expect(asked(moveOf(stateAfter("greenfield", "3"), draft))).toBe("research-round");
  });

  it("is not asked where somebody has skipped research", () => {
    const skipped: Event = { type: "steps-excused", steps: ["2"] };
    expect(asked(moveOf(stateAfter("greenfield", "3", skipped), draft))).toBe("record");
  });
});

describe("a step that is done only where it has something to do", () => {
  const plan = (text: string): Readonly<Record<string, string>> => ({
    "02_document/architecture.md": text,
  });

  it.each([
    ["There is a dashboard.", "record"],
    ["It is a library without UI.", "mark-skipped"],
    ["It has no user interface.", "conditional-step"],
    ["It computes.", "conditional-step"],
  ])("by what is written: %s", (text, move) => {
    expect(asked(moveOf(stateAfter("greenfield", "4"), plan(text)))).toBe(move);
  });

  it("goes by what was reported last", () => {
    const said = (...reports: string[]): Event[] => [
      { type: "skill-started", session: 1, step: "3", skill: "monorepo-status", agent: "a" },
      { type: "skill-ended", session: 1, how: "done", ...(reports.length > 0 && { reports }) },
    ];
    const entered: Event = {
      type: "step-entered",
      flow: "meta-repo",
      step: "4",
      name: "Document Sync",
      cycle: 1,
    };
    const round = stateAfter("meta-repo", "3", ...said("document-drift"), entered);
    expect(moveOf(round)).toMatchObject({ events: [{ type: "step-started" }] });
    const next = stateAfter("meta-repo", "3", ...said("document-drift"), ...said(), entered);
    expect(moveOf(next)).toMatchObject({ events: [{ type: "step-skipped" }] });
  });
});

describe("a flow that goes on behind another", () => {
  it("does not take that one's documents for its own", () => {
    const retro = "06_metrics/retro_2026-01-01.md";
    const move = moveOf(stateAfter("greenfield", "done"), { [retro]: "# R\n" });
    expect(move).toMatchObject({ is: "record", events: [{ step: "9", seen: [retro] }] });
    const onward = move.is === "record" ? move.events : [];
    const last: Event = {
      type: "step-entered",
      flow: "existing-code",
      step: "17",
      name: "Retrospective",
      cycle: 1,
    };
    const state = stateAfter("greenfield", "done", ...onward, last);
    expect(moveOf(state, { [retro]: "# R\n" }, { there: [retro] })).toMatchObject({
      is: "record",
      events: [{ type: "step-started" }],
    });
  });
});

describe("a step that runs tasks", () => {
  const started = {
    type: "run-started",
    plan: "_docs/02_tasks",
    format: "tasks",
    title: "t",
    mode: "auto",
    target: "refs/heads/main",
    targetAt: "c0",
    base: "c0",
    agent: "mine",
    maxAttempts: 2,
    stack: {},
    gates: [],
    planFiles: {},
    phases: [],
    under: "greenfield 6 cycle 1",
  };
  const stateWith = (...events: readonly object[]): ProjectState =>
    events
      .map((event, index) => ({ ...event, seq: index + 10, at, run: "r0123456789" }))
      .reduce<ProjectState>(
        (state, event) => evolve(state, event as unknown as RecordedEvent),
        stateAfter("greenfield", "6", { type: "step-started", step: "6", name: "Implement" }),
      );

  it("goes on with a run that is not over, though no task is left in todo/", () => {
    expect(moveOf(stateWith(started)).is).toBe("run-tasks");
  });
  it("does not run for ever what has landed and lies in todo/ all the same", () => {
    const phase = {
      id: "01",
      written: "01",
      name: "A",
      dependsOn: [],
      parallelWith: [],
      tasks: 1,
      asks: "a",
    };
    const done = { ...phase, skipped: "complete in the plan before the run" };
    const over = [
      { ...started, phases: [done] },
      { type: "run-ended", how: "complete" },
    ];
    const tasks = { ...noTaskFacts, todo: ["01_a"], names: { "01": "01_a" } };
    expect(moveOf(stateWith(...over), {}, {}, tasks).is).toBe("report-tasks");
    const more = { ...tasks, todo: ["01_a", "02_b"], names: { "01": "01_a", "02": "02_b" } };
    expect(moveOf(stateWith(...over), {}, {}, more).is).toBe("run-tasks");
  });
  it("reports when it is", () => {
    expect(moveOf(stateWith(started, { type: "run-ended", how: "complete" })).is).toBe(
      "report-tasks",
    );
  });
});
