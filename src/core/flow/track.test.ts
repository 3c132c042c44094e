import { describe, expect, it } from "vitest";
import { decisionBlock, type Question } from "../decision.ts";
import type { Event, RecordedEvent } from "../event.ts";
import { evolveTracking, type Tracking } from "../tracker/ledger.ts";
import type { FoundTracker, TrackerSettings } from "../tracker/servers.ts";
import { builtInFlows } from "./flows/index.ts";
import { awaitingInvocation, flowStateAt } from "./state.ts";
import { trackerReady, trackingDue } from "./track.ts";

const tracker = (name: string, kind: FoundTracker["kind"] = "jira"): FoundTracker => ({
  name,
  kind,
  from: ".mcp.json",
  repository: true,
  is: { command: "node", args: [], env: {} },
});

/** A flow at step 5, and what people answer. */
function world(
  found: readonly FoundTracker[],
  settings: TrackerSettings = {},
  position = { step: "5", status: "not_started" },
) {
  let seq = 10;
  let chosen: string | undefined;
  let tracking: Tracking | undefined;
  const answers = new Map<string, string>();
  const idOf = ({ kind, cause }: Question): string => `${kind} ${cause}`;
  const place = (begun: number) => ({
    state: {
      ...flowStateAt({
        flow: "greenfield",
        ...position,
        name: "Decompose",
        cycle: 1,
        subStep: awaitingInvocation,
        retryCount: 0,
      }),
      ...(chosen !== undefined && { tracker: chosen }),
    },
    tracking,
    facts: { found, settings },
    begun,
    decided: (question: Question) => answers.get(idOf(question)),
  });
  const happens = (...events: readonly Event[]): void => {
    for (const event of events) {
      seq++;
      if (event.type === "tracker-chosen") chosen = event.tracker;
      const at = "2026-01-01T00:00:00.000Z";
      tracking = evolveTracking(tracking, { ...event, seq, at, run: "flow" } as RecordedEvent);
    }
  };
  return {
    happens,
    now: () => seq,
    ready: (begun = 10) => trackerReady(place(begun), { found, settings }),
    due: (since: number | undefined, begun = 10) =>
      trackingDue(
        place(begun),
        since === undefined
          ? undefined
          : {
              flow: "greenfield",
              step: "5",
              name: "Decompose",
              cycle: 1,
              what: "complete",
              outcome: "",
              since,
            },
        builtInFlows,
      ),
    /** Everything that only has to be recorded is; what comes then. */
    settled() {
      for (;;) {
        const ready = this.ready();
        if (ready.is !== "not-yet" || ready.move.is !== "record") return ready;
        happens(...ready.move.events);
      }
    },
    answer: (question: Question, key: string) => answers.set(idOf(question), key),
  };
}

const questionIn = (ready: ReturnType<typeof trackerReady>): Question => {
  if (ready.is !== "not-yet" || ready.move.is !== "ask") throw new Error(JSON.stringify(ready));
  return ready.move.question;
};
const refused = (how: "auth" | "tools", more: object = {}): Event => ({
  type: "tracker-refused",
  tracker: "jira",
  server: "jira",
  how,
  why: "no token",
  ...more,
});
const opened: Event = { type: "tracker-opened", tracker: "jira", server: "jira" };

describe("before a step that needs a tracker", () => {
  it("the only one is chosen and opened, once in an invocation", () => {
    const at = world([tracker("jira")]);
    expect(at.settled()).toMatchObject({ move: { is: "open-tracker" } });
    at.happens(opened);
    expect(at.settled()).toMatchObject({ is: "open" });
    expect(at.ready(at.now())).toMatchObject({ move: { is: "open-tracker" } });
  });

  it("none is `tracker: local`, on record and said why", () => {
    const at = world([]);
    expect(at.ready()).toMatchObject({
      move: { events: [{ tracker: "local", why: "no MCP server of a tracker is configured" }] },
    });
    expect(at.settled()).toEqual({ is: "local" });
  });

  it("two are a question that no recommendation answers", () => {
    const at = world([tracker("jira"), tracker("boards", "ado")]);
    const question = questionIn(at.settled());
    expect(question).toMatchObject({ kind: "which-tracker", destructive: true });
    at.answer(question, "B");
    expect(at.settled()).toMatchObject({ move: { tracker: { name: "boards" } } });
  });

  it("one that lets nobody in is asked about, to the letter", () => {
    const at = world([tracker("jira")]);
    at.settled();
    at.happens(refused("auth"));
    const question = questionIn(at.settled());
    expect(decisionBlock(question).map((line) => line.trim())).toEqual([
      "═".repeat(38),
      "Tracker authentication failed",
      "═".repeat(38),
      "jira: no token",
      "═".repeat(38),
      "A) Retry authentication (retry mcp_auth)",
      "B) Continue without tracker (tasks saved locally only)",
      "═".repeat(38),
      "Recommendation: A — tracker ids drive task referencing, dependency tracking and batching",
      "═".repeat(38),
    ]);
    at.answer(question, "A");
    expect(at.settled()).toMatchObject({ move: { is: "open-tracker" } });
    // Once more, and it is for people alone.
    at.happens(refused("auth"));
    const second = questionIn(at.settled());
    expect(second.cause).not.toBe(question.cause);
    expect(second.destructive).toBe(true);
    at.answer(second, "B");
    expect(at.settled()).toEqual({ is: "local" });
  });

  it("changed tools are shown, and used only as a person has seen them", () => {
    const at = world([tracker("jira")]);
    at.settled();
    at.happens(refused("tools", { tools: "abc", difference: ["~ tool create_issue"] }));
    const question = questionIn(at.settled());
    expect(question).toMatchObject({ destructive: true, facts: ["~ tool create_issue"] });
    at.answer(question, "A");
    expect(at.settled()).toMatchObject({ move: { is: "open-tracker", accept: "abc" } });
  });

  it("one that the settings name and nobody has configured is asked about too", () => {
    const at = world([], { use: "linear" });
    expect(questionIn(at.settled()).facts).toEqual([
      "linear: no MCP server of that name or kind is configured",
    ]);
  });
});

describe("when a step is complete", () => {
  it("its items are created before anything else, and once", () => {
    const at = world([tracker("jira")]);
    at.settled();
    at.happens(opened);
    expect(at.due(at.now())).toMatchObject({ is: "track", step: "5", tracker: { name: "jira" } });
    at.happens({ type: "step-tracked", step: "5", tracker: "jira", created: 3, pending: 0 });
    expect(at.due(at.now() - 1)).toBeUndefined();
  });

  it("without a tracker it is only said what is pending", () => {
    const at = world([]);
    at.settled();
    expect(at.due(at.now())).toEqual({ is: "track", step: "5" });
  });

  it("what was left is tried again at the next start, once, and stands in nobody's way", () => {
    const at = world([tracker("jira")]);
    at.settled();
    const effect = {
      key: "ad-1",
      tracker: "jira",
      does: "create",
      kind: "task",
      of: "01",
    } as const;
    at.happens(opened, { type: "effect-deferred", ...effect, why: "429" });
    expect(at.due(undefined)).toBeUndefined();
    const begun = at.now();
    expect(at.due(undefined, begun)).toMatchObject({ is: "open-tracker" });
    at.happens(opened);
    expect(at.due(undefined, begun)).toMatchObject({ is: "track" });
    at.happens({ type: "step-tracked", step: "5", tracker: "jira", created: 0, pending: 1 });
    expect(at.due(undefined, begun)).toBeUndefined();
    const later = at.now();
    at.happens(refused("auth"));
    expect(at.due(undefined, later)).toBeUndefined();
  });

  it("what was left waits while tasks are carried out: a run knows them by their files", () => {
    const at = world([tracker("jira")], {}, { step: "6", status: "in_progress" });
    at.settled();
    const effect = {
      key: "ad-1",
      tracker: "jira",
      does: "create",
      kind: "task",
      of: "01",
    } as const;
    at.happens(opened, { type: "effect-deferred", ...effect, why: "429" });
    expect(at.due(undefined, at.now())).toBeUndefined();
  });
});
