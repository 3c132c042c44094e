/** What is made of the tools of real servers; where their lists come from: test/tracker-servers/README.md. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { TrackerKind } from "../../core/tracker/servers.ts";
import { type Tool, toolIn } from "../../core/tracker/tools.ts";
import { answerIn, createdIn, foundIn, saying, troubleIn } from "../answer.ts";
import { profiles } from "./index.ts";

function toolsOf(name: string): Tool[] {
  const file = join(import.meta.dirname, "../../../test/tracker-servers/tools", `${name}.json`);
  const { tools } = JSON.parse(readFileSync(file, "utf8")) as { tools: unknown[] };
  return tools.flatMap((each) => toolIn(each) ?? []);
}
const settings = { project: "acme/shop", site: "example.atlassian.net" };
const verbsOf = (kind: TrackerKind, name: string) => {
  const mapping = profiles[kind].map(toolsOf(name), settings);
  if (mapping.is !== "mapped") throw new Error(JSON.stringify(mapping));
  return mapping.verbs;
};

describe("the verbs are found among the tools of", () => {
  it.each([
    [
      "jira",
      "jira",
      "searchJiraIssuesUsingJql createJiraIssue createJiraIssue transitionJiraIssue",
    ],
    [
      "jira",
      "jira-renamed",
      "jira_search jira_create_issue jira_create_issue jira_transition_issue",
    ],
    ["ado", "ado", "wit_query wit_work_item_write wit_work_item_link_write wit_work_item_write"],
    [
      "ado",
      "ado-renamed",
      "search_workitem wit_create_work_item wit_work_items_link wit_update_work_item",
    ],
    ["github", "github", "list_issues create_issue create_issue update_issue"],
    ["github", "github-renamed", "list_issues issue_write issue_write issue_write"],
    ["linear", "linear", "list_issues create_issue create_issue update_issue"],
  ] as const)("%s: %s", (kind, name, tools) => {
    const { how } = verbsOf(kind, name);
    expect([how["find"], how["create"], how["link"], how["move"]].join(" ")).toBe(tools);
  });

  it.each(["jira", "ado", "github", "linear"] as const)(
    "no other kind: %s says what is missing",
    (kind) => {
      for (const name of ["jira", "ado", "github"].filter((each) => each !== kind))
        expect(
          profiles[kind].map(
            toolsOf(name).filter(({ name: tool }) => !/issue/.test(tool)),
            settings,
          ).is,
        ).toBe("missing");
    },
  );

  it("a server that wants more than we know is not called", () => {
    const tools = toolsOf("github").map((tool) =>
      tool.name === "create_issue" ? { ...tool, required: [...tool.required, "approval"] } : tool,
    );
    expect(profiles.github.map(tools, settings)).toEqual({
      is: "missing",
      why: "its tool create_issue wants approval, which nobody has told us",
    });
  });

  it("nothing is created where it is not said where", () => {
    for (const kind of ["jira", "ado", "github", "linear"] as const) {
      const mapping = profiles[kind].map(toolsOf(kind), {});
      expect(mapping.is === "missing" && mapping.why).toMatch(/tracker\.project/);
    }
  });

  it("the site of Jira is asked for, unless it is said", () => {
    expect(profiles.jira.map(toolsOf("jira"), { project: "AZ" })).toMatchObject({ is: "ask" });
    expect(profiles.jira.setting?.([{ id: "one" }])).toBe("one");
    expect(profiles.jira.setting?.([{ id: "one" }, { id: "two" }])).toBeUndefined();
  });
});

const key = "ad-0123456789abcdef";

describe("an item carries its key", () => {
  const item = { key, kind: "task", title: "T", body: "B", epic: "AZ-1" } as const;
  it.each([
    ["jira", "jira"],
    ["ado", "ado"],
    ["github", "github"],
    ["linear", "linear"],
  ] as const)("in what is created at %s", (kind, name) => {
    const verbs = verbsOf(kind, name);
    expect(JSON.stringify(verbs.create(item).arguments)).toContain(key);
    expect(JSON.stringify(verbs.find(key).arguments)).toContain(key);
  });
});

describe("an answer", () => {
  const profile = profiles.ado;
  const text = (value: string) => answerIn({ content: [{ type: "text", text: value }] }).value;

  it("is read also between marks that warn a model", () => {
    const marked = `<<ab>> [UNTRUSTED CONTENT] <<ab>>\n{"workItems":[{"id":7}]}\n<</ab>>`;
    expect(foundIn(text(marked), { key, exact: true, profile })).toEqual({
      is: "found",
      items: [{ id: "AB-7" }],
    });
  });

  it("that shows items without saying whose they are settles nothing", () => {
    const items = { results: [{ id: 7 }] };
    expect(foundIn(items, { key, exact: false, profile }).is).toBe("unclear");
    expect(foundIn("<html>", { key, exact: true, profile }).is).toBe("unclear");
    const others = { results: [{ id: 7, fields: { "system.tags": "another" } }] };
    expect(foundIn(others, { key, exact: true, profile })).toEqual({ is: "found", items: [] });
  });

  it("is of ours by a label or a line of our own, not by a sentence about us", () => {
    const found = (fields: object): number => {
      const answer = foundIn([{ number: 3, ...fields }], {
        key,
        exact: false,
        profile: profiles.github,
      });
      return answer.is === "found" ? answer.items.length : -1;
    };
    expect(found({ labels: ["autodev", { name: key }], body: "" })).toBe(1);
    expect(found({ labels: [], body: `What it is.\r\n\r\nautodev-key: ${key}` })).toBe(1);
    expect(found({ body: `<p>What it is.</p><p>autodev-key: \`${key}\`</p>` })).toBe(1);
    expect(found({ description: { content: [{ text: `autodev-key: ${key}` }] } })).toBe(1);
    expect(found({ tags: `autodev; ${key}` })).toBe(1);
    expect(found({ labels: [], title: key, body: `The same as ${key}, I think.` })).toBe(0);
    expect(found({ body: `They say "autodev-key: ${key}" there.` })).toBe(0);
    expect(found({ labels: [`not-${key}`], body: "" })).toBe(0);
  });

  it("has an id of its kind or none", () => {
    for (const id of ["../etc/passwd", "$(reboot)", -1, 1e99, "1\u001b[2J"])
      expect(createdIn({ id, key: id }, profile)).toBeUndefined();
    expect(createdIn({ id: 12, url: "javascript:alert(1)" }, profile)).toEqual({ id: "AB-12" });
    expect(createdIn({ key: "AZ-1;rm" }, profiles.jira)).toBeUndefined();
  });

  it("that is an error is one short line, whatever is in it", () => {
    expect(saying(`\u001b]0;x\u0007a\u001b[31m\nb\u202e${"c".repeat(9000)}`).length).toBe(8000);
    expect(saying("\u001b]0;title\u0007a\u001b[31m\nb")).toBe("a b");
    expect(troubleIn("HTTP 429, Retry-After: 30")).toMatchObject({
      is: "limited",
      afterMs: 30_000,
    });
    expect(troubleIn("Error: 401 Unauthorized").is).toBe("auth");
    expect(troubleIn("Work item was not created").is).toBe("unknown");
  });
});
