import { parser } from "@lezer/markdown";
import { describe, expect, it } from "vitest";
import { type BriefInput, writeBrief } from "./brief.ts";
import { errorTypes } from "./phase-error.ts";
import type { Item, Phase, Place } from "./plan.ts";

const place: Place = { file: "docs/x-plan.md", line: 12, column: 1, from: 0, to: 1 };
const item = (text: string, more: Partial<Item> = {}): Item => ({
  text,
  done: false,
  place,
  ...more,
});
const phase: Phase = {
  id: "2a",
  written: "2A",
  name: "Backend API",
  dependsOn: ["1"],
  parallelWith: [],
  status: "pending",
  statuses: [],
  tasks: [item("Create the handler"), item("Test it", { optional: true })],
  definitionOfDone: [item("All tests pass")],
  checkpoints: [],
  files: [{ path: "src/api.ts", change: "create", blocks: [], place }],
  commands: [],
  place,
  text: "### Phase 2A: Backend API\n\n```ts\nconst a = 1;\n```\n",
  hasWork: true,
};
const input: BriefInput = {
  phase,
  attempt: 1,
  gates: [{ name: "test", command: "npm test" }],
  mayTouch: ["src/api.ts"],
  siblings: [{ phase: "2B", files: ["src/ui.tsx", "src/ui.css"] }],
  errors: [],
  planFile: "docs/x-plan.md",
  resultSchema: '{"type":"object"}',
  resultPath: "/tmp/scratch/result.json",
};
const textOf = (more: Partial<BriefInput> = {}): string => writeBrief({ ...input, ...more }).text;

/** The headings that a Markdown reader sees: what stands in a fence is none. */
function headingsOf(text: string): string[] {
  const headings: string[] = [];
  parser.parse(text).iterate({
    enter: ({ name, from, to }) => {
      if (/^(?:ATX|Setext)Heading/.test(name)) headings.push(text.slice(from, to));
    },
  });
  return headings;
}

describe("a brief", () => {
  it("says what the phase is", () => {
    expect(writeBrief(input)).toMatchObject({
      phase: "2a",
      name: "Backend API",
      tasks: 2,
      attempt: 1,
    });
    expect(headingsOf(textOf())).toEqual([
      "# Phase 2A: Backend API",
      "## The phase, as the plan has it",
      "## Tasks",
      "## Definition of done",
      "## Files",
      "## Gates",
      "## How to work",
      "## What to leave alone",
      "## The result",
    ]);
  });

  it("holds section, tasks, files, gates, plan, result and schema", () => {
    const text = textOf();
    for (const part of [
      phase.text.trimEnd(),
      "1. Create the handler",
      "2. Test it (optional)",
      "- All tests pass",
      "- `src/api.ts` (create)",
      "- Phase 2B: `src/ui.tsx`, `src/ui.css`",
      "npm test",
      "see it fail",
      "see it pass",
      "`docs/x-plan.md`",
      ".autobuild/",
      "`/tmp/scratch/result.json`",
      '"phase_id": "2a"',
      '{"type":"object"}',
    ]) {
      expect(text).toContain(part);
    }
  });

  it("leaves out what there is not", () => {
    const bare = textOf({
      phase: { ...phase, tasks: [], definitionOfDone: [], text: "", files: [] },
      gates: [],
      mayTouch: [],
      siblings: [{ phase: "2B", files: [] }],
    });
    expect(headingsOf(bare)).toEqual([
      "# Phase 2A: Backend API",
      "## Tasks",
      "## Files",
      "## How to work",
      "## What to leave alone",
      "## The result",
    ]);
    expect(bare).not.toContain("2B");
    expect(bare).not.toMatch(/undefined|\n\n\n/);
  });

  it("tells what went wrong, the last first, with advice for each kind once", () => {
    const text = textOf({
      attempt: 3,
      errors: [
        { attempt: 1, type: "test_failure", message: "old", details: "old details" },
        { attempt: 2, type: "test_failure", message: "new", details: "api.test.ts:4" },
      ],
    });
    expect(text.indexOf("Attempt 2")).toBeLessThan(text.indexOf("Attempt 1: "));
    expect(text).toContain("api.test.ts:4");
    expect(text).not.toContain("old details");
    expect(text.match(/Read the failing tests/g)?.length).toBe(1);
    expect(text).toContain("ended the same way");
  });

  it.each(errorTypes)("has advice for %s", (type) => {
    const errors = [{ attempt: 1, type, message: "m" }];
    expect(textOf({ errors }).length).toBeGreaterThan(textOf().length + 150);
  });

  it("says after a conflict that the others' work has landed", () => {
    const errors = [{ attempt: 1, type: "file_conflict" as const, message: "a.ts" }];
    expect(textOf({ errors })).toMatch(/landed[\s\S]*on top of them/);
  });

  it("cuts what would drown it", () => {
    const details = `first\n${"x".repeat(1_000_000)}\nlast`;
    const many = Array.from({ length: 50 }, (_, at) => ({
      attempt: at + 1,
      type: "agent_crash" as const,
      message: "m".repeat(100_000),
      details,
    }));
    const text = textOf({
      errors: many,
      siblings: [{ phase: "3", files: Array.from({ length: 5000 }, (_, at) => `f${at}`) }],
    });
    expect(text.length).toBeLessThan(40_000);
    expect(text).toContain("first\n");
    expect(text).toContain("\nlast");
    expect(text).toContain("and 4800 more");
  });

  it.each([
    ["a fence", "```\n# Not ours\n```"],
    ["a long fence", "`````\n# Not ours\n`````"],
    ["an open fence", "```ts\n# Not ours"],
    ["tildes", "~~~\n# Not ours\n~~~"],
    ["a heading", "# Not ours"],
    ["a comment", "<!-- \n# Not ours"],
    ["a line with ticks at its end", "a ````````"],
    ["a quotation", "> # Not ours"],
    ["an item", "- # Not ours\n1. # Not ours"],
    ["an underlined line", "Not ours\n===="],
  ])("is not broken by %s, wherever it stands", (_, hostile) => {
    const brief = writeBrief({
      phase: {
        ...phase,
        name: hostile,
        text: `${hostile}\n${hostile}`,
        tasks: [item(hostile), item(`${hostile}\n\n${hostile}`)],
        definitionOfDone: [item(hostile)],
      },
      attempt: 2,
      gates: [{ name: hostile, command: hostile }],
      mayTouch: [hostile],
      siblings: [{ phase: hostile, files: [hostile] }],
      errors: [{ attempt: 1, type: "gate_failure", message: hostile, details: hostile }],
      planFile: hostile,
      resultSchema: hostile,
      resultPath: hostile,
    });
    const headings = headingsOf(brief.text);
    expect(headings.slice(1)).toEqual([
      "## What went wrong before",
      "### Attempt 1: gate_failure",
      "## The phase, as the plan has it",
      "## Tasks",
      "## Definition of done",
      "## Files",
      "## Gates",
      "## How to work",
      "## What to leave alone",
      "## The result",
    ]);
  });
});
