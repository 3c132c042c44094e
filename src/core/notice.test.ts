import { describe, expect, it } from "vitest";
import { after, begin, failing, started } from "../../test/run-story.ts";
import type { Question } from "./decision.ts";
import {
  decisionNotice,
  endNotice,
  isQuiet,
  type NoticeKind,
  NotifySettings,
  noticeKinds,
  noticeVariables,
  parkNotice,
  routeOf,
} from "./notice.ts";
import type { PlanRun } from "./plan/progress.ts";
import { mergedSettings, Settings, UserSettings } from "./settings.ts";

const at = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
const night = { from: "22:00", to: "07:00" };

describe("quiet hours", () => {
  it.each([
    ["21:59", false],
    ["22:00", true],
    ["23:59", true],
    ["00:00", true],
    ["06:59", true],
    ["07:00", false],
    ["12:00", false],
  ] as const)("across midnight, %s is quiet: %s", (time, quiet) => {
    expect(isQuiet(night, at(time))).toBe(quiet);
  });

  it.each([
    ["11:59", false],
    ["12:00", true],
    ["12:59", true],
    ["13:00", false],
  ] as const)("within a day, %s is quiet: %s", (time, quiet) => {
    expect(isQuiet({ from: "12:00", to: "13:00" }, at(time))).toBe(quiet);
  });

  it("hold back what people have to do, and drop what they need not know", () => {
    const routes = noticeKinds.map((kind) => [kind, routeOf(kind, { quiet: night }, at("03:00"))]);
    expect(Object.fromEntries(routes)).toEqual({
      decision: { is: "later" },
      halt: { is: "later" },
      park: { is: "nowhere" },
      end: { is: "nowhere" },
    });
  });

  it.each([
    [{ from: "22:00", to: "22:00" }],
    [{ from: "24:00", to: "07:00" }],
    [{ from: "9:00", to: "10:00" }],
    [{ from: "22:00" }],
  ])("%j are none", (quiet) => {
    expect(NotifySettings.safeParse({ quiet }).success).toBe(false);
  });
});

describe("a notice goes", () => {
  it("everywhere, unless something is settled", () => {
    for (const kind of noticeKinds) {
      expect(routeOf(kind, {}, 0)).toEqual({ is: "now", bell: true, popup: true, command: true });
    }
  });

  it("nowhere, if nobody wants to hear of its kind", () => {
    const on: NoticeKind[] = ["decision"];
    expect(routeOf("halt", { on }, 0)).toEqual({ is: "nowhere" });
    expect(routeOf("decision", { on }, 0)).toMatchObject({ is: "now" });
    expect(routeOf("decision", { on: [], quiet: night }, at("23:00"))).toEqual({ is: "nowhere" });
  });

  it("without a sound, or without popping up", () => {
    const route = routeOf("halt", { bell: false, desktop: false }, 0);
    expect(route).toEqual({ is: "now", bell: false, popup: false, command: true });
  });
});

/** One phase has failed, another waits for it. */
const runThat = (how: NonNullable<PlanRun["ended"]>, plan = "docs/x-plan.md"): PlanRun => ({
  ...after(started({ "1": [], "2": ["1"] }), begin("1"), failing("1", "plan_invalid"), {
    type: "run-ended",
    how,
  }),
  id: "r1",
  plan,
});

describe("what it says", () => {
  it("of a decision: the question, its id and what to type", () => {
    const question = { id: "d-1", question: "which?", recommendation: "B" };
    expect(decisionNotice(question as never, { root: "/p" })).toEqual({
      version: 1,
      kind: "decision",
      title: "autodev: a decision is required",
      text: "which?",
      root: "/p",
      run: null,
      plan: null,
      decision: "d-1",
      command: "autodev decide d-1 B",
    });
  });

  it("of a boundary: going on is the answer", () => {
    const boundary: Question = {
      kind: "boundary",
      subject: "implementation",
      cycle: 1,
      cause: "Decompose complete",
      question: "Decompose complete — start implementation?",
      options: [],
      recommendation: "A",
      reason: "",
      blocks: "",
    };
    expect(decisionNotice({ ...boundary, id: "boundary" }, { root: "/r" })).toMatchObject({
      decision: null,
      command: "autodev",
    });
  });

  it("of an end: how, how far, and how it goes on", () => {
    expect(endNotice(runThat("halted"), "/p")).toMatchObject({
      kind: "halt",
      run: "r1",
      plan: "docs/x-plan.md",
      text: "docs/x-plan.md: 0 of 2 phases complete; 1 failed: red; 1 blocked",
      command: "autodev build docs/x-plan.md",
    });
    expect(endNotice(runThat("complete"), "/p")).toMatchObject({ kind: "end", command: null });
    expect(endNotice(runThat("interrupted"), "/p")).toMatchObject({ kind: "end" });
    expect(parkNotice(runThat("parked"), "2026-01-01T00:00:00Z", "/p")).toMatchObject({
      kind: "park",
      text: "docs/x-plan.md: parked until 2026-01-01T00:00:00Z; 0 of 2 phases complete",
    });
  });

  it("of a run that asks nothing: each decision was told by itself", () => {
    expect(endNotice(runThat("asking"), "/p")).toBeUndefined();
  });

  it("is a word to a shell, whatever the plan is called", () => {
    const plan = "docs/it's $(here).md";
    expect(endNotice(runThat("halted", plan), "/p")?.command).toBe(
      `autodev build 'docs/it'\\''s $(here).md'`,
    );
  });
});

it("variables hold the texts as they are, and take away what is not there", () => {
  const notice = decisionNotice(
    { id: "d-1", question: 'a "b"\n$(c)\u001b[31m\0', recommendation: "A" } as never,
    { root: "/p" },
  );
  expect(noticeVariables(notice)).toEqual({
    AUTODEV_NOTICE_KIND: "decision",
    AUTODEV_NOTICE_TITLE: "autodev: a decision is required",
    AUTODEV_NOTICE_TEXT: 'a "b"\n$(c)\u001b[31m',
    AUTODEV_NOTICE_ROOT: "/p",
    AUTODEV_NOTICE_RUN: undefined,
    AUTODEV_NOTICE_PLAN: undefined,
    AUTODEV_NOTICE_DECISION: "d-1",
    AUTODEV_NOTICE_COMMAND: "autodev decide d-1 A",
  });
});

describe("settings of a user and of a project", () => {
  it("are joined key by key, and the project's come first", () => {
    const user = UserSettings.parse({
      agent: "mine",
      agents: { mine: { command: "a" }, both: { command: "b" } },
      build: { jobs: 4, attempts: 3 },
      notify: { bell: false, quiet: night },
    });
    const project = Settings.parse({
      agents: { both: { command: "c" } },
      build: { jobs: 1 },
      notify: { bell: true },
      gates: { test: "t" },
    });
    expect(mergedSettings(user, project)).toEqual({
      agent: "mine",
      agents: { mine: { command: "a" }, both: { command: "c" } },
      build: { jobs: 1, attempts: 3 },
      notify: { bell: true, quiet: night },
      gates: { test: "t" },
    });
    expect(mergedSettings({}, {})).toEqual({});
  });
});
