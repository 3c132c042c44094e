/** What follows when a skill fails, goes round or is cut off: events folded as a run would. */
import { describe, expect, it } from "vitest";
import { decisionId } from "../decision.ts";
import type { Event, RecordedEvent } from "../event.ts";
import { evolve, nothingYet, type ProjectState } from "../evolve.ts";
import { stepIn } from "./flow.ts";
import { greenfield } from "./flows/greenfield.ts";
import { builtInFlows } from "./flows/index.ts";
import { afterSkill, type SkillEnd } from "./judge.ts";
import { type FlowFacts, type FlowMove, nextMove } from "./next-move.ts";
import { renderStateFile } from "./render.ts";
import type { FlowState } from "./state.ts";
import { noTaskFacts } from "./tasks.ts";

const hash = (text: string): string => Buffer.from(text).toString("hex").slice(-12);
const day = "2026-01-02T10:00:00.000Z";
const survey = { docs: new Map<string, number>(), texts: new Map(), hasSource: false, members: 0 };
const facts: FlowFacts = {
  flows: builtInFlows,
  survey,
  skill: { phases: [], lacks: [], there: [] },
  tasks: noTaskFacts,
  ahead: [],
};

/** A step at work; each call is one thing that happens. */
class Story {
  state: ProjectState = nothingYet;
  private seq = 0;
  private begun = 0;

  constructor() {
    this.happens({
      type: "step-entered",
      flow: "greenfield",
      step: "1",
      name: "Problem",
      cycle: 1,
    });
    this.goesOn();
  }

  get flow(): FlowState {
    if (!this.state.flow) throw new Error("there is no flow");
    return this.state.flow;
  }

  happens(...events: readonly Event[]): void {
    for (const event of events) {
      const recorded = { ...event, seq: ++this.seq, at: day, run: "flow" } as RecordedEvent;
      this.state = evolve(this.state, recorded);
    }
  }

  move(): FlowMove {
    const limits = {
      begun: this.begun,
      now: day,
      throughBoundaries: false,
      commits: false,
      waits: false,
      stopping: false,
    };
    return nextMove(this.state, facts, limits, hash);
  }

  /** Until somebody is to work, to answer, or to rest. */
  goesOn(): FlowMove {
    for (;;) {
      const move = this.move();
      if (move.is !== "record") return move;
      this.happens(...move.events);
    }
  }

  /** The next autodev. */
  again(): FlowMove {
    this.begun = this.seq;
    return this.goesOn();
  }

  works(end: SkillEnd, ...before: readonly Event[]): Event[] {
    const move = this.goesOn();
    if (move.is !== "run-skill") throw new Error(`${move.is} instead of work`);
    const { session, skill, step } = move.work;
    this.happens({ type: "skill-started", session, step: step.step, skill, agent: "a" }, ...before);
    const problem = stepIn(greenfield, "1");
    if (!problem) throw new Error("there is no step 1");
    const events = afterSkill(this.state, {
      flow: greenfield,
      step: problem,
      session,
      end,
      unmet: [],
      strayed: [],
      survey,
      usualWait: day,
    });
    this.happens(...events);
    return events;
  }

  answers(key: string): void {
    const move = this.goesOn();
    if (move.is !== "ask") throw new Error(`${move.is} instead of a question`);
    const id = decisionId(move.question, hash);
    const { options, facts: told, ...question } = move.question;
    this.happens(
      {
        type: "decision-asked",
        decision: {
          ...question,
          ...(told && { facts: [...told] }),
          options: options.map(({ key: letter, text }) => ({ key: letter, text })),
          id,
          askedAt: day,
        },
      },
      { type: "decision-answered", id, key, by: "me", at: day },
    );
  }

  fails(times: number, reason = "no network"): void {
    for (let n = 0; n < times; n++) this.works({ is: "failed", reason });
  }

  get asks(): string {
    const move = this.goesOn();
    return move.is === "ask" ? move.question.kind : move.is;
  }
}

const reported = (phase: number, name: string): Event => ({
  type: "sub-step-reported",
  subStep: { phase, name, detail: "" },
});
const file = (state: FlowState): string => {
  const text = renderStateFile(undefined, state);
  return text.ok ? text.value : "";
};

describe("a skill that fails", () => {
  it.each([1, 2, 3])("%s times is tried again at once, unasked, and counted", (times) => {
    const story = new Story();
    story.fails(times);
    expect(story.asks).toBe("run-skill");
    expect(story.flow).toMatchObject({ status: "in_progress", retryCount: times });
    expect(story.flow.retryLog).toHaveLength(times);
  });

  it("goes on from the sub-step at which it was, and is told why it failed", () => {
    const story = new Story();
    story.works({ is: "failed", reason: "no network" }, reported(2, "gather"));
    expect(story.flow.subStep).toMatchObject({ phase: 2, name: "gather" });
    expect(story.goesOn()).toMatchObject({
      is: "run-skill",
      work: { notes: ["The last try failed: no network"] },
    });
  });

  it("begins at its first sub-step where what it left is broken", () => {
    const story = new Story();
    story.works({ is: "failed", reason: "half a file", corrupt: true }, reported(2, "gather"));
    expect(story.flow).toMatchObject({
      retryCount: 1,
      subStep: { phase: 0, name: "awaiting-invocation" },
    });
  });

  it("a fourth time in a row has failed: three retries, a blocker, a question", () => {
    const story = new Story();
    story.works({ is: "failed", reason: "no network" }, reported(2, "gather"));
    story.fails(3);
    expect(story.flow).toMatchObject({
      status: "failed",
      retryCount: 3,
      blockers: [
        "problem failed 3 consecutive times at sub_step 2. Last failure: no network. Auto-retry exhausted.",
      ],
    });
    expect(story.asks).toBe("skill-failed");
  });

  it("leaves a row for each retry in the state file, to the letter", () => {
    const story = new Story();
    story.works({ is: "failed", reason: "no | network" }, reported(2, "gather"));
    expect(file(story.flow)).toContain(
      `## Retry Log
| Attempt | Step | Name | SubStep | Failure Reason | Timestamp |
|---|---|---|---|---|---|
| 1 | 1 | Problem | 2 gather | no \\| network | ${day} |
`,
    );
  });

  it("and succeeds in the end: the count is 0 again, and its log is empty", () => {
    const story = new Story();
    story.fails(2);
    story.happens({ type: "step-completed", outcome: "done" });
    expect(story.flow).toMatchObject({ status: "completed", retryCount: 0, retryLog: [] });
  });

  it("is counted from 0 again in the next step", () => {
    const story = new Story();
    story.fails(2);
    story.happens({ type: "step-completed", outcome: "done" });
    story.happens({
      type: "step-entered",
      flow: "greenfield",
      step: "2",
      name: "Research",
      cycle: 1,
    });
    expect(story.flow).toMatchObject({ retryCount: 0, subStep: { phase: 0 }, retryLog: [] });
  });
});

describe("a step that has failed", () => {
  const failed = (): Story => {
    const story = new Story();
    story.fails(4);
    return story;
  };

  it("is never tried again in silence: the next autodev asks first", () => {
    const story = failed();
    expect(story.again()).toMatchObject({ is: "ask", question: { kind: "skill-failed" } });
  });

  it("is asked about also where only the state file says so", () => {
    const story = new Story();
    story.happens({ type: "status-set", status: "failed" });
    expect(story.asks).toBe("skill-failed");
  });

  it("retried by a person: the count is 0, it is in progress, in a fresh session", () => {
    const story = failed();
    story.answers("A");
    const move = story.goesOn();
    expect(move).toMatchObject({ is: "run-skill" });
    expect(move.is === "run-skill" && move.work.resumes).toBeUndefined();
    expect(story.flow).toMatchObject({
      status: "in_progress",
      retryCount: 0,
      retryLog: [],
      blockers: [],
    });
  });

  it("skipped by a person: it is skipped, and the next step comes", () => {
    const story = failed();
    story.answers("B");
    story.goesOn();
    expect(story.flow).toMatchObject({ step: "2", skipped: ["1"], blockers: [] });
  });

  it("left to a person: nothing more happens in this session, and the blocker stays", () => {
    const story = failed();
    story.answers("C");
    expect(story.goesOn()).toEqual({ is: "rest", rest: { is: "aborted" } });
    expect(story.flow.blockers).toHaveLength(1);
    expect(story.again()).toMatchObject({ is: "ask", question: { kind: "skill-failed" } });
  });

  it("three series in a row, over any number of sessions, opens the breaker", () => {
    const story = failed();
    for (let series = 2; series <= 3; series++) {
      story.again();
      story.answers("A");
      story.fails(4);
    }
    expect(story.flow.blockers.at(-1)).toBe(
      "step 1 Problem has failed 3 times in a row, each time after 3 retries; it is not tried again before a person says so",
    );
    expect(story.again()).toMatchObject({
      is: "ask",
      question: { kind: "skill-failed", destructive: true },
    });
  });
});

describe("a skill that goes nowhere", () => {
  const stuck: SkillEnd = { is: "stuck", reason: "nothing new" };

  it("is begun again twice, in a fresh session and from its sub-step; then people are asked", () => {
    const story = new Story();
    story.works(stuck, reported(2, "gather"));
    for (const _ of [1, 2]) {
      expect(story.goesOn()).toMatchObject({
        is: "run-skill",
        work: { notes: ["The last session went nowhere: nothing new"] },
      });
      expect(story.flow.subStep).toMatchObject({ phase: 2 });
      story.works(stuck);
    }
    expect(story.goesOn()).toMatchObject({
      is: "ask",
      question: { title: "RECOVERY", question: "problem stuck at gather" },
    });
  });

  it.each([
    ["A", "run-skill", 2],
    ["B", "run-skill", 3],
    ["C", "rest", 2],
  ] as const)("then does as people say: %s", (key, then, phase) => {
    const story = new Story();
    story.works(stuck, reported(2, "gather"));
    story.works(stuck);
    story.works(stuck);
    story.answers(key);
    expect(story.goesOn().is).toBe(then);
    expect(story.flow.subStep.phase).toBe(phase);
  });

  it("is found out when it asks again what was answered", () => {
    const asks = { question: "Which?", options: ["x", "y"], recommendation: "A", reason: "r" };
    const story = new Story();
    story.works({ is: "asked", asks });
    story.answers("B");
    expect(story.goesOn()).toMatchObject({
      work: { notes: ["You asked: Which?\nThe answer is B) y"] },
    });
    expect(story.works({ is: "asked", asks })).toMatchObject([
      { type: "skill-ended", how: "stuck", reason: "it asks again what was answered: Which?" },
    ]);
    expect(story.asks).toBe("run-skill");
  });

  it("not when it has come further in between", () => {
    const asks = { question: "One more?", options: ["x", "y"], recommendation: "A", reason: "r" };
    const story = new Story();
    story.works({ is: "asked", asks });
    story.answers("A");
    story.works({ is: "asked", asks }, reported(2, "gather"));
    expect(story.asks).toBe("skill-gate");
  });
});

describe("a session that is cut off", () => {
  it("for its context goes on from the sub-step in a fresh one, and the file says why", () => {
    const story = new Story();
    story.works(
      { is: "context", reason: "81 % of the model's window is used" },
      reported(2, "gather"),
    );
    const move = story.goesOn();
    expect(move.is === "run-skill" && move.work.resumes).toBeUndefined();
    expect(story.flow).toMatchObject({ subStep: { phase: 2 }, retryCount: 0 });
    expect(file(story.flow)).toContain(
      `## Last Session
date: 2026-01-02
ended_at: Step 1 Problem — SubStep 2 gather
reason: context limit
notes: 81 % of the model's window is used
`,
    );
  });

  it("by a person is a pause", () => {
    const story = new Story();
    story.works({ is: "stopped" });
    expect(story.flow.lastSession).toMatchObject({ reason: "user paused" });
    expect(story.again()).toMatchObject({ is: "run-skill" });
  });
});

it("a person's answer is a key decision of the state file, with its date", () => {
  const story = new Story();
  story.fails(4);
  story.answers("A");
  expect(file(story.flow)).toContain(
    "## Key Decisions\n- 2026-01-02 problem — 3 consecutive failures → A) Retry with fresh context (new conversation)\n",
  );
});

it("a step that is rolled back is in progress again, without its date", () => {
  const story = new Story();
  story.happens(
    { type: "step-completed", outcome: "done" },
    { type: "step-entered", flow: "greenfield", step: "2", name: "Research", cycle: 1 },
  );
  expect(story.flow.completed).toMatchObject([{ step: "1", completed: "2026-01-02" }]);
  story.happens({ type: "step-reopened", step: "1", name: "Problem", how: "rollback" });
  expect(story.flow).toMatchObject({ step: "1", status: "in_progress", completed: [] });
});
