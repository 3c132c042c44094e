import { describe, expect, it } from "vitest";
import { branchFor, ownText, repositoryIn, withOwnText } from "./pull-request.ts";

describe("the branch of a plan", () => {
  it.each([
    ["docs/feature-plan.md", "autodev/feature-plan"],
    ["./docs/feature-plan.md", "autodev/feature-plan"],
    ["specs/001-login/tasks.md", "autodev/specs-001-login-tasks"],
    ["_docs/02_tasks", "autodev/docs-02-tasks"],
    ["tasks.json", "autodev/tasks"],
    ["a b/..@{x}~^:?*[.lock.md", "autodev/a-b-x-lock"],
    ["ü.md", "autodev/plan"],
  ])("of %s is %s", (plan, branch) => {
    expect(branchFor(plan)).toBe(branch);
  });
});

describe("a remote's repository", () => {
  it.each([
    ["https://github.com/o/r", "github.com", "o/r"],
    ["https://github.com/o/r.git", "github.com", "o/r"],
    ["https://user:secret@github.com/o/r.git/", "github.com", "o/r"],
    ["https://git.example.org:8443/o/r.name.git", "git.example.org", "o/r.name"],
    ["git@github.com:o/r.git", "github.com", "o/r"],
    ["ssh://git@github.com:22/o/r.git", "github.com", "o/r"],
  ])("is read from %s", (url, host, repository) => {
    expect(repositoryIn(url)).toEqual({ host, repository });
  });

  it.each(["/srv/git/r.git", "../r", "file:///srv/r.git", "https://github.com/o", ""])(
    "is not in %j",
    (url) => {
      expect(repositoryIn(url)).toBeUndefined();
    },
  );
});

describe("the text of a pull request", () => {
  it("is replaced between its marks, and nowhere else", () => {
    const body = `Mine.\n\n${ownText("old")}\n\nMine too.`;
    expect(withOwnText(body, "new")).toBe(`Mine.\n\n${ownText("new")}\n\nMine too.`);
  });

  it("is left alone where the marks are gone", () => {
    expect(withOwnText("All mine.", "new")).toBe("All mine.");
    expect(withOwnText("<!-- autodev:end --><!-- autodev:begin -->", "new")).not.toContain("new");
  });
});
