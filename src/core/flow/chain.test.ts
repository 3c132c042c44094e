/** The three flows as data: their steps, what follows what, where a session ends, who needs the tracker. */
import { describe, expect, it } from "vitest";
import type { Event, RecordedEvent } from "../event.ts";
import { evolve, nothingYet, type ProjectState } from "../evolve.ts";
import { afterStep, type Flow, stepIn } from "./flow.ts";
import { existingCode } from "./flows/existing-code.ts";
import { greenfield } from "./flows/greenfield.ts";
import { builtInFlows } from "./flows/index.ts";
import { metaRepo } from "./flows/meta-repo.ts";
import { type FlowFacts, nextMove } from "./next-move.ts";
import { renderStateFile } from "./render.ts";
import { noTaskFacts } from "./tasks.ts";

const day = "2026-01-02T10:00:00.000Z";
const survey = { docs: new Map<string, number>(), texts: new Map(), hasSource: false, members: 0 };
const facts: FlowFacts = {
  flows: builtInFlows,
  survey,
  skill: { phases: [], lacks: [], there: [] },
  tasks: noTaskFacts,
  ahead: ["Tasks: 4 · batches expected: 2 · points: 9"],
};

const fold = (state: ProjectState, ...events: readonly Event[]): ProjectState =>
  events
    .map((event, at) => ({ ...event, seq: at + 1, at: day, run: "flow" }) as RecordedEvent)
    .reduce(evolve, state);

/** A step that has just been completed, and what is recorded because of it. */
function completed(
  flow: Flow,
  step: string,
  cycle = 1,
): { events: readonly Event[]; state: ProjectState } {
  const { name } = stepIn(flow, step) ?? { name: "" };
  const before: Event[] = [
    { type: "step-entered", flow: flow.name, step, name, cycle },
    { type: "step-started", step, name },
    { type: "step-completed", outcome: "done" },
  ];
  const state = fold(nothingYet, ...before);
  const limits = {
    begun: 0,
    now: day,
    throughBoundaries: false,
    commits: false,
    waits: false,
    stopping: false,
  };
  const move = nextMove(state, facts, limits, (text) => text);
  const events = move.is === "record" ? move.events : [];
  return { events, state: fold(nothingYet, ...before, ...events) };
}

describe("the steps", () => {
  const names = ({ steps }: Flow): string[] => steps.map(({ step, name }) => `${step} ${name}`);

  it("of greenfield are 1 to 11", () => {
    expect(names(greenfield)).toEqual([
      "1 Problem",
      "2 Research",
      "3 Plan",
      "4 UI Design",
      "5 Decompose",
      "6 Implement",
      "7 Run Tests",
      "8 Security Audit",
      "9 Performance Test",
      "10 Deploy",
      "11 Retrospective",
    ]);
  });

  it("of existing-code are 1 to 17", () => {
    expect(names(existingCode)).toEqual([
      "1 Document",
      "2 Architecture Baseline Scan",
      "3 Test Spec",
      "4 Code Testability Revision",
      "5 Decompose Tests",
      "6 Implement Tests",
      "7 Run Tests",
      "8 Refactor",
      "9 New Task",
      "10 Implement",
      "11 Run Tests",
      "12 Test-Spec Sync",
      "13 Update Docs",
      "14 Security Audit",
      "15 Performance Test",
      "16 Deploy",
      "17 Retrospective",
    ]);
  });

  it("of meta-repo are 1 to 6", () => {
    expect(names(metaRepo)).toEqual([
      "1 Discover",
      "2 Config Review",
      "3 Status",
      "4 Document Sync",
      "5 CICD Sync",
      "6 Loop",
    ]);
  });
});

describe("a session ends", () => {
  it("behind these steps and no others", () => {
    const marked = builtInFlows.flatMap(({ name, steps }) =>
      steps.flatMap(({ step, then }) => (then?.boundary ? [`${name} ${step}`] : [])),
    );
    expect(marked).toEqual(["greenfield 5", "existing-code 5", "existing-code 9"]);
  });

  it.each([
    ["greenfield", "5", "6", "Implement", "Decompose complete, implementation ready"],
    [
      "existing-code",
      "5",
      "6",
      "Implement Tests",
      "Decompose Tests complete, implementation ready",
    ],
    ["existing-code", "9", "10", "Implement", "New Task complete, implementation ready"],
  ])("behind %s %s, before step %s", (name, step, next, called, notes) => {
    const flow = builtInFlows.find((each) => each.name === name) as Flow;
    const { state } = completed(flow, step);
    expect(state.flow).toMatchObject({
      step: next,
      name: called,
      status: "not_started",
      subStep: { phase: 0, name: "awaiting-invocation", detail: "" },
      retryCount: 0,
      lastSession: { date: "2026-01-02", reason: "session boundary", notes },
    });
    expect(state.flow?.completed).toMatchObject([{ step, completed: "2026-01-02" }]);
    expect(state.flow?.lastSession?.endedAt).toMatch(new RegExp(`^Step ${step} .+ — SubStep 0 `));
  });

  it("there, with a summary and the question, and the next one begins the step", () => {
    const { state } = completed(greenfield, "5");
    const moveOf = (begun: number, throughBoundaries = false): ReturnType<typeof nextMove> =>
      nextMove(
        state,
        facts,
        { begun, now: day, throughBoundaries, commits: false, waits: false, stopping: false },
        (text) => text,
      );
    expect(moveOf(0)).toMatchObject({
      is: "rest",
      rest: { is: "boundary", next: { step: "6" }, question: { facts: facts.ahead } },
    });
    expect(moveOf(99)).toMatchObject({ is: "record", events: [{ type: "step-started" }] });
    expect(moveOf(0, true)).toMatchObject({ is: "record", events: [{ type: "step-started" }] });
  });

  it("nowhere else: every other step is followed at once", () => {
    for (const flow of builtInFlows) {
      for (const { step, then, rests } of flow.steps) {
        const next = afterStep(flow, step);
        if (then?.boundary || rests || next?.cycle === "next" || !next) continue;
        const { events } = completed(flow, step);
        expect(events, `${flow.name} ${step}`).toEqual([
          {
            type: "step-entered",
            flow: flow.name,
            step: next.step.step,
            name: next.step.name,
            cycle: 1,
          },
        ]);
      }
    }
  });

  it.each([
    [greenfield, "11"],
    [existingCode, "17"],
  ])("with its last step, as a completed step: $name", (flow, step) => {
    expect(completed(flow, step).state.flow?.lastSession).toMatchObject({
      reason: "completed step",
      notes: "Retrospective complete",
    });
  });
});

describe("the cycle", () => {
  it("grows by one from Retrospective to New Task", () => {
    expect(completed(existingCode, "17", 3).state.flow).toMatchObject({ step: "9", cycle: 4 });
  });

  it("waits there until somebody wants it", () => {
    const { state, events } = completed(existingCode, "17");
    expect(events.at(-1)).toMatchObject({ boundary: true });
    for (const throughBoundaries of [false, true]) {
      const limits = {
        begun: 0,
        now: day,
        throughBoundaries,
        commits: false,
        waits: false,
        stopping: false,
      };
      const move = nextMove(state, facts, limits, (text) => text);
      expect(move).toMatchObject({ is: "rest", rest: { is: "round", next: { step: "9" } } });
    }
  });

  it("begins with 1 where greenfield leads into existing-code", () => {
    const done: Event = {
      type: "step-entered",
      flow: "greenfield",
      step: "done",
      name: "Done",
      cycle: 1,
    };
    const limits = {
      begun: 9,
      now: day,
      throughBoundaries: false,
      commits: false,
      waits: false,
      stopping: false,
    };
    const move = nextMove(fold(nothingYet, done), facts, limits, (text) => text);
    expect(move).toMatchObject({
      events: [
        {
          flow: "existing-code",
          step: "9",
          cycle: 1,
          skips: ["1", "2", "3", "4", "5", "6", "7", "8"],
        },
      ],
    });
  });

  it("stays 1 in greenfield and meta-repo, round by round", () => {
    for (const flow of [greenfield, metaRepo])
      expect(flow.steps.some(({ then }) => then?.cycle === "next")).toBe(false);
  });

  it("is in the name of what proves Implement", () => {
    expect(stepIn(existingCode, "10")?.done).toEqual({
      exists: "03_implementation/implementation_report_*_cycle{cycle}.md",
    });
  });
});

describe("the tracker is needed", () => {
  it.each([
    ["greenfield", "Plan", ["epics"]],
    [
      "greenfield",
      "Decompose",
      ["bootstrap-structure", "task-decomposition", "blackbox-test-tasks"],
    ],
    ["existing-code", "Decompose Tests", ["test-infrastructure-bootstrap", "blackbox-test-tasks"]],
    ["existing-code", "New Task", ["ticket"]],
  ])("in %s, %s", (name, step, subSteps) => {
    const flow = builtInFlows.find((each) => each.name === name);
    expect(flow?.steps.find((each) => each.name === step)?.tracker).toEqual(subSteps);
  });

  it("in no other step", () => {
    const all = builtInFlows.flatMap(({ steps }) => steps.filter(({ tracker }) => tracker));
    expect(all).toHaveLength(4);
  });
});

it("a chosen tracker is a line of the state file", () => {
  const state = fold(completed(greenfield, "1").state, {
    type: "tracker-chosen",
    tracker: "local",
  });
  const text = state.flow && renderStateFile(undefined, state.flow);
  expect(text?.ok && text.value).toContain("cycle: 1\ntracker: local\n");
});
