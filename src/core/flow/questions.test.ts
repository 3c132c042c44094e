/** Every block that people see, word for word, and what all of them have in common. */
import { describe, expect, it } from "vitest";
import { decisionBlock, keyDecisionLine, type Question } from "../decision.ts";
import { newCourse } from "./course.ts";
import type { Step, Survey } from "./flow.ts";
import { existingCode } from "./flows/existing-code.ts";
import { greenfield } from "./flows/greenfield.ts";
import { builtInFlows } from "./flows/index.ts";
import { metaRepo } from "./flows/meta-repo.ts";
import {
  boundaryQuestion,
  confirmation,
  needsMissing,
  placesMeant,
  researchRound,
  skillAsks,
  skillBlocked,
  skillFailed,
  stuckAt,
  whatOfArtifacts,
  whetherItApplies,
  whetherOptional,
  whetherToGoBack,
  whetherToRollBack,
  whetherToSkip,
  whichFlow,
  whichStep,
} from "./questions.ts";
import { type FlowState, flowStateAt } from "./state.ts";

const step = (flow: typeof greenfield, number: string): Step => {
  const found = flow.steps.find((each) => each.step === number);
  if (!found) throw new Error(`${flow.name} has no step ${number}`);
  return found;
};

const state: FlowState = {
  ...flowStateAt({
    flow: "greenfield",
    step: "3",
    name: "Plan",
    status: "failed",
    subStep: { phase: 4, name: "architecture-review", detail: "" },
    retryCount: 3,
    cycle: 1,
  }),
  retryLog: [
    { attempt: 3, step: "3", name: "Plan", subStep: "4", reason: "no network", at: "now" },
  ],
};
const course = newCourse("greenfield");
const plan = step(greenfield, "3");
const survey: Survey = {
  docs: new Map([["01_solution/solution_draft01.md", 9]]),
  texts: new Map([["01_solution/solution_draft01.md", "# A store on files\n"]]),
  hasSource: false,
  members: 0,
};

const boundaryOf = (flow: typeof greenfield, number: string): Question => {
  const boundary = step(flow, number).then?.boundary;
  if (!boundary) throw new Error(`no session ends behind step ${number} of ${flow.name}`);
  return boundaryQuestion(boundary, []);
};
const applies = step(greenfield, "4").applies;
const confirms = step(metaRepo, "2").confirms;
if (!applies || !confirms) throw new Error("the flows have changed");

const asked: Readonly<Record<string, Question>> = {
  "which flow": whichFlow(["meta-repo", "greenfield"], builtInFlows),
  "which step": whichStep("greenfield", greenfield.steps, { cycle: 1, cause: "", why: "doubt" }),
  "whether an optional step is done": whetherOptional(step(greenfield, "8"), state, course),
  "whether a conditional step is done": whetherItApplies(plan, applies, state, course),
  "what becomes of artifacts": whatOfArtifacts(plan, ["02_document/a.md"], state, course),
  "whether a file is confirmed": confirmation(step(metaRepo, "2"), confirms, state, course),
  "another round of research": researchRound(state, survey, course),
  "a boundary": boundaryOf(greenfield, "5"),
  "a failed skill": skillFailed(plan, state, course),
  "what a skill lacks": needsMissing(plan, ["01_solution/solution.md"], state, course),
  "a blocked skill": skillBlocked(plan, "nobody is logged in", state, course),
  "a stuck skill": stuckAt(plan, "nothing new", state, course),
  "whether to skip": whetherToSkip(plan, ["step 5 Decompose"], state, course),
  "whether to go back": whetherToGoBack(plan, ["02_document/a.md"], state, course),
  "whether to roll back": whetherToRollBack(
    plan,
    { changes: [], stale: [], folder: "02_document" },
    state,
    course,
  ),
  "a skill's own question": skillAsks(
    {
      question: "Two\nlines?",
      options: ["this\none", "that"],
      recommendation: "D",
      reason: "r\nr",
    },
    state,
    1,
  ),
};

describe.each(Object.entries(asked))("a question about %s", (_, question) => {
  const letters = question.options.map(({ key }) => key);

  it("has two to four options, lettered from A on", () => {
    expect(letters.length).toBeGreaterThanOrEqual(2);
    expect(letters).toEqual(["A", "B", "C", "D"].slice(0, letters.length));
    for (const { text } of question.options) expect(text).toMatch(/\S/);
  });

  it("recommends one of them, with a reason", () => {
    expect(letters).toContain(question.recommendation);
    expect(question.reason).toMatch(/\S/);
  });

  it("keeps each option to one line, and the whole to its frame", () => {
    const lines = decisionBlock(question);
    for (const line of lines) expect(line).not.toMatch(/[\r\n]/);
    expect(lines[0]).toBe("═".repeat(38));
    expect(lines[2]).toBe(lines[0]);
    expect(lines.slice(-3).map((line) => line.slice(0, 16))).toEqual([
      "═".repeat(16),
      " Recommendation:",
      "═".repeat(16),
    ]);
    for (const line of lines.filter((each) => !each.startsWith("═")))
      expect(line).toMatch(/^ \S|^ {2,}\S/);
  });
});

const block = (question: Question): string =>
  decisionBlock(question)
    .map((line) => line.trim())
    .join("\n");
const rule = "═".repeat(38);

describe("the block", () => {
  it("of any decision has its title, options and recommendation between rules", () => {
    expect(block(asked["whether an optional step is done"] as Question)).toBe(
      [
        rule,
        "DECISION REQUIRED: step 8 Security Audit is optional — do it?",
        rule,
        "A) Do it",
        "B) Skip it",
        rule,
        "Recommendation: A — skipping it cannot be seen later; doing it costs one session",
        rule,
      ].join("\n"),
    );
  });

  it.each([
    ["greenfield 5", greenfield, "5", "Decompose complete", "implementation"],
    ["existing-code 5", existingCode, "5", "Decompose Tests complete", "test implementation"],
    ["existing-code 9", existingCode, "9", "New Task complete", "implementation"],
  ] as const)("of the boundary behind %s, to the letter", (_, flow, number, what, next) => {
    expect(block(boundaryOf(flow, number))).toBe(
      [
        rule,
        `DECISION REQUIRED: ${what} — start ${next}?`,
        rule,
        `A) Start a new conversation for ${next} (recommended for context freshness)`,
        "B) Continue in this conversation (NOT recommended — context may degrade)",
        `Warning: if context fills mid-${next}, state will be saved and you will`,
        "still be asked to resume in a new conversation — option B only delays that.",
        rule,
        `Recommendation: A — ${next} is long; fresh context helps`,
        rule,
      ].join("\n"),
    );
  });

  it("of a boundary tells first how much there is to do", () => {
    const boundary = step(greenfield, "5").then?.boundary;
    const ahead = "Tasks: 4 · batches expected: 2 · points: 9";
    const lines = boundary ? decisionBlock(boundaryQuestion(boundary, [ahead])) : [];
    expect(lines.slice(2, 5).map((line) => line.trim())).toEqual([rule, ahead, rule]);
  });

  it("of Config Review is its own: confirmed, or edited first", () => {
    expect(block(asked["whether a file is confirmed"] as Question)).toBe(
      [
        rule,
        "DECISION REQUIRED: Config review — is `_docs/_repo-config.yaml` right?",
        rule,
        "A) Yes, mark it confirmed and go on",
        "B) I'll edit it first, stop here",
        rule,
        "Recommendation: B — everything later rests on it: read it before you confirm it",
        rule,
      ].join("\n"),
    );
  });

  it("of a skill that has failed, to the letter", () => {
    expect(block(asked["a failed skill"] as Question)).toBe(
      [
        rule,
        "SKILL FAILED: plan — 3 consecutive failures",
        rule,
        "Step: 3 — Plan",
        "SubStep: 4 — architecture-review",
        "Last failure reason: no network",
        rule,
        "A) Retry with fresh context (new conversation)",
        "B) Skip this step with warning",
        "C) Abort — investigate and fix manually",
        rule,
        "Recommendation: A — fresh context often resolves persistent failures",
        rule,
      ].join("\n"),
    );
  });

  it("of a skill that is stuck, to the letter", () => {
    expect(block(asked["a stuck skill"] as Question)).toBe(
      [
        rule,
        "RECOVERY: plan stuck at architecture-review",
        rule,
        "nothing new",
        rule,
        "A) Retry with fresh context (new conversation)",
        "B) Skip this sub-step with warning",
        "C) Abort and fix manually",
        rule,
        "Recommendation: A — fresh context often resolves stuck loops",
        rule,
      ].join("\n"),
    );
  });

  it("of a rollback, to the letter", () => {
    expect(block(asked["whether to roll back"] as Question)).toBe(
      [
        rule,
        "ROLLBACK: Re-run Plan?",
        rule,
        "No file changes: they are as the step left them.",
        rule,
        "A) Re-run the step (overwrites current artifacts)",
        "B) Stay on current step",
        rule,
        "Warning: This will overwrite files in _docs/02_document/",
        rule,
        "Recommendation: B — what later steps have made of it would be stale",
        rule,
      ].join("\n"),
    );
  });
});

describe("what people are offered", () => {
  const options = (name: string): string[] =>
    (asked[name] as Question).options.map(({ text }) => text);

  it("where a skill cannot go on: retry, skip with warning, abort", () => {
    expect(options("a blocked skill")).toEqual([
      "Retry: what was missing is there now",
      "Skip this step with warning",
      "Abort — investigate and fix manually",
    ]);
  });

  it("who want to skip: skip, with the steps that depend on it, or do it", () => {
    expect(options("whether to skip")).toEqual(["Skip it with warning", "Execute the step"]);
    expect(asked["whether to skip"]?.facts).toEqual([
      "These need what it would leave:",
      "  step 5 Decompose",
    ]);
  });

  it("who want to go back: do it again, with what is overwritten, or stay", () => {
    expect(options("whether to go back")).toEqual([
      "Re-run the step",
      "Stay on the current step (3 Plan)",
    ]);
    expect(asked["whether to go back"]?.facts).toEqual([
      "These will be overwritten:",
      "  _docs/02_document/a.md",
    ]);
  });

  it("where artifacts are there already: resume, overwrite, skip", () => {
    expect(options("what becomes of artifacts").map((text) => text.split(":")[0])).toEqual([
      "Resume",
      "Overwrite",
      "Skip",
    ]);
  });

  it("where several steps fit: those steps, four letters at a time", () => {
    const two = greenfield.steps.slice(6, 8);
    const told = { cycle: 1, cause: "scan", why: "the folders cannot tell" };
    expect(whichStep("greenfield", two, told).options.map(({ text }) => text)).toEqual([
      "Step 7 Run Tests",
      "Step 8 Security Audit",
    ]);
    expect(placesMeant(greenfield.steps, "D").map((each) => each.step)[0]).toBe("4");
  });

  it("after research: another round or Plan, with what there is to judge by", () => {
    expect(asked["another round of research"]?.facts).toEqual([
      "Drafts: 1 · tech_stack.md: no · security_analysis.md: no",
      "Newest: A store on files",
    ]);
  });

  it("by a skill, in its own words; a letter that it does not offer is not recommended", () => {
    expect(asked["a skill's own question"]).toMatchObject({
      question: "Two lines?",
      options: [{ text: "this one" }, { text: "that" }],
      recommendation: "A",
      reason: "r r",
    });
  });
});

it("an answer is told with its date, on one line", () => {
  const question = asked["whether an optional step is done"] as Question;
  expect(keyDecisionLine(question, { key: "B", by: "me", at: "2026-01-02T10:00:00Z" })).toBe(
    "2026-01-02 step 8 Security Audit is optional — do it? → B) Skip it",
  );
});

it("what cannot be undone, and what only a person can confirm, no recommendation answers", () => {
  const never = Object.entries(asked).flatMap(([name, { destructive }]) =>
    destructive ? [name] : [],
  );
  expect(never).toEqual(["whether a file is confirmed", "whether to roll back"]);
});
