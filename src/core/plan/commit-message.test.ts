import { describe, expect, it } from "vitest";
import { commitMessageFor } from "./commit-message.ts";
import type { Item, Phase, Place } from "./plan.ts";

const place: Place = { file: "p.md", line: 1, column: 1, from: 0, to: 1 };
const phaseNamed = (name: string, tasks: string[] = [], id = "2a"): Phase => ({
  id,
  written: id,
  name,
  dependsOn: [],
  parallelWith: [],
  status: "pending",
  statuses: [],
  tasks: tasks.map((text): Item => ({ text, done: false, place })),
  definitionOfDone: [],
  checkpoints: [],
  files: [],
  commands: [],
  place,
  text: "",
  hasWork: true,
});

describe("the message of a phase", () => {
  it.each([
    ["Backend API", ["src/api/a.ts", "src/api/b.ts"], "feat(api): backend API"],
    ["Backend API", ["src/api/a.ts", "test/api/a.test.ts"], "feat(api): backend API"],
    ["API of users", ["src/a.ts", "src/b/c.ts"], "feat: API of users"],
    ["Parser.", ["packages/core/src/a.ts"], "feat(core): parser"],
    ["Tests", ["test/a.ts", "src/a.spec.ts", "pkg/a_test.go", "tests/test_a.py"], "test: tests"],
    ["Describe it", ["README.md", "docs/a.md"], "docs: describe it"],
    ["Project set-up", ["package.json"], "chore: project set-up"],
    ["Scaffolding", ["src/a/b.ts"], "chore(a): scaffolding"],
    ["TypeScript types", ["src/types/a.ts"], "feat(types): TypeScript types"],
    ["Install", [], "chore: install"],
    ["Odd folder", ["Ünï/a.ts"], "feat: odd folder"],
  ])("%s with %j is %s", (name, paths, message) => {
    expect(commitMessageFor(phaseNamed(name), paths)).toBe(message);
  });

  it("of phase 0 is a chore", () => {
    expect(commitMessageFor(phaseNamed("Base", [], "0"), ["src/a.ts"])).toBe("chore: base");
  });

  it("lists its tasks, each on one line", () => {
    expect(commitMessageFor(phaseNamed("X", ["One\ntwo", "Three\u001b[31m"]), ["a.ts"])).toBe(
      "feat: x\n\n- One two\n- Three [31m",
    );
  });

  it("has a head of 100 characters at most", () => {
    const [head = ""] = commitMessageFor(phaseNamed("Word ".repeat(80)), ["a.ts"]).split("\n");
    expect(head.length).toBeLessThanOrEqual(100);
    expect(head).toMatch(/^feat: word Word .* Word…$/);
    expect(commitMessageFor(phaseNamed("x".repeat(500)), ["a.ts"]).length).toBeLessThanOrEqual(100);
  });
});
