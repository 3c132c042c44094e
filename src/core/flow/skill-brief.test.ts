import { describe, expect, it } from "vitest";
import type { Skill } from "./skill.ts";
import { newestLessons, type SkillBriefInput, writeSkillBrief } from "./skill-brief.ts";
import { awaitingInvocation, flowStateAt, type SubStep } from "./state.ts";

const skill: Skill = {
  name: "plan",
  description: "plans",
  file: "SKILL.md",
  text: "# Plan\n\nThink first.\n",
  own: true,
  phases: [
    { name: "gather", reads: [], break: false },
    { name: "epics", reads: [], break: false },
  ],
  needs: [],
  produces: [],
  gates: [],
};

const brief = (subStep: SubStep, more: Partial<SkillBriefInput> = {}): string =>
  writeSkillBrief({
    state: flowStateAt({
      flow: "greenfield",
      step: "3",
      name: "Plan",
      status: "in_progress",
      subStep,
      retryCount: 0,
      cycle: 1,
    }),
    stateFile: "# Autodev State\n\n## Current Step\nstep: 3\n",
    skill,
    artifacts: [],
    goesOn: false,
    notes: [],
    reportBy: "/s/sub-step",
    stateCopy: "/s/copy.md",
    resultSchema: "{}",
    ...more,
  });

describe("whoever works by a skill is told", () => {
  it("the state file and the skill, always", () => {
    const text = brief(awaitingInvocation);
    expect(text).toContain("```markdown\n# Autodev State\n\n## Current Step\nstep: 3\n```");
    expect(text).toContain("```markdown\n# Plan\n\nThink first.\n```");
  });

  it("to begin at the first sub-step, or at the one where the work is", () => {
    expect(brief(awaitingInvocation)).toContain("Begin at the first: `gather`.");
    expect(brief({ phase: 2, name: "epics", detail: "3 of 5" })).toContain(
      "Begin at sub-step 2 `epics` (3 of 5): what comes before it is done.",
    );
  });

  it("the artifacts of this sub-step, whole or by their headings, and no others", () => {
    const text = brief(awaitingInvocation, {
      artifacts: [
        { path: "01_solution/solution.md", text: "# Files\n" },
        { path: "02_document/architecture.md", headings: ["1: # Architecture", "90: ## Risks"] },
      ],
    });
    expect(text.match(/^### _docs\/.+$/gm)).toEqual([
      "### _docs/01_solution/solution.md",
      "### _docs/02_document/architecture.md",
    ]);
    expect(text).toContain("It is long: read the sections that you need.");
    expect(text).toContain("90: ## Risks");
  });

  it("what each sub-step reads, for one session may do several of them", () => {
    const [gather, epics] = skill.phases;
    if (!gather || !epics) throw new Error("two phases");
    const reads = ["01_solution/solution.md", "02_document/components/*.md"];
    const phases = [gather, { ...epics, reads }];
    expect(brief(awaitingInvocation, { skill: { ...skill, phases } })).toContain(
      "1. `gather`\n2. `epics`: reads `_docs/01_solution/solution.md`, `_docs/02_document/components/*.md`\n",
    );
  });

  it("that what was done lies on disk, not in a conversation", () => {
    expect(brief(awaitingInvocation)).toContain("Whatever was done before lies on disk");
    expect(brief(awaitingInvocation, { goesOn: true })).toContain(
      "in this conversation before: go on",
    );
  });

  it("how to report a sub-step, and how to say that what is there is broken", () => {
    const text = brief(awaitingInvocation);
    expect(text).toContain('"/s/sub-step" <number> <name> ["a detail"]');
    expect(text).toContain("`sub_step` in `/s/copy.md`");
    expect(text).toContain("the error type `corruption`");
  });

  it("to put a question as two to four options with a recommendation", () => {
    expect(brief(awaitingInvocation)).toMatch(/two to four concrete options of one line each/);
  });
});

describe("lessons", () => {
  const all = Array.from({ length: 20 }, (_, at) => `- 2026-01-${at + 10} · tests: lesson ${at}`);

  it("are told to whoever works next, the newest fifteen", () => {
    const newest = newestLessons(`# Lessons\n\n${all.join("\n")}\n`);
    expect(newest).toEqual(all.slice(0, 15));
    const text = brief(awaitingInvocation, { lessons: newest });
    expect(text).toContain("## Lessons of earlier cycles");
    expect(text).toContain("lesson 14");
    expect(text).not.toContain("lesson 15");
  });

  it("are not spoken of where there are none", () => {
    expect(newestLessons("# Lessons\n\nnone yet\n")).toEqual([]);
    expect(brief(awaitingInvocation, { lessons: [] })).not.toContain("Lessons");
  });
});

describe("what has to be there in the end is told", () => {
  const bare = { least: 1, optional: false, sections: [], columns: [], fields: [] };

  it("with the line that is looked for, and where files are named", () => {
    const produces = [
      { ...bare, path: "a.md", says: "^\\*\\*Verdict\\*\\*: PASS$" },
      { ...bare, path: "b.md", columns: ["Task", "Epic"], mentions: "t/*.md", in: "Task" },
      { ...bare, path: "c.md", mentions: "t/*.md" },
    ];
    const text = brief(awaitingInvocation, { skill: { ...skill, produces } });
    expect(text).toContain("- `_docs/a.md`: a line like `/^\\*\\*Verdict\\*\\*: PASS$/`\n");
    expect(text).toContain("every one of `t/*.md` is named under `Task`\n");
    expect(text).toContain("- `_docs/c.md`: every one of `t/*.md` is named in it\n");
  });

  it("where nothing may be written, and only certain words reported", () => {
    const silent = { ...skill, writes: "nothing" as const, reports: ["drift", "calm"] };
    const text = brief(awaitingInvocation, { skill: silent });
    expect(text).toContain("you write nothing");
    expect(text).toContain("In `reports`: `drift`, `calm`, or none of them.");
    expect(brief(awaitingInvocation)).not.toContain("What has to be there");
  });
});
