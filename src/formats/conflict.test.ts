import { describe, expect, it } from "vitest";
import { conflictLine } from "./conflict.ts";
import { readPlan } from "./read-plan.ts";

const plan = `# A plan

| Phase | Name | Depends On | Parallel With | Estimate | Status |
|---|---|---|---|---|---|
<<<<<<< HEAD
| 1 | One | - | - | 1 | ✅ |
=======
| 1 | One | - | - | 1 | ⬜ |
>>>>>>> theirs
| 2 | Two | - | - | 1 | ⬜ |

### Phase 1: One

- [ ] Do it

### Phase 2: Two

- [ ] Do it
`;

describe("a plan in which git has left a conflict open", () => {
  it("is refused with its line, whatever a Markdown reader would make of it", () => {
    for (const text of [plan, plan.replaceAll("\n", "\r\n")])
      expect(readPlan([{ file: "plan.md", text }])).toMatchObject({
        ok: false,
        failure: { code: "plan-unreadable", file: "plan.md", line: 5 },
      });
  });

  it("is refused too where one side of it opens a fence", () => {
    expect(conflictLine("<<<<<<< a\n```sh\n=======\nwords\n>>>>>>> b\n")).toBe(1);
  });

  it("is a plan again once it is resolved", () => {
    const resolved = plan.replace(/<{7}.*\n|={7}\n[^>]*>{7}.*\n/gu, "");
    expect(readPlan([{ file: "plan.md", text: resolved }])).toMatchObject({ ok: true });
  });
});

it("marks that are shown in a fence, and headings underlined by seven, are no conflict", () => {
  expect(conflictLine(`\`\`\`text\n<<<<<<< a\n=======\n>>>>>>> b\n\`\`\`\n`)).toBeUndefined();
  expect(conflictLine("A title\n=======\n\n>>>>>>> quoted\n")).toBeUndefined();
  expect(conflictLine("<<<<<<< a\nwords\n")).toBeUndefined();
});
