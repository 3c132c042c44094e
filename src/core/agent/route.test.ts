import { describe, expect, it } from "vitest";
import { agentNamed, agentsFor, Route, type Routing, type Work } from "./route.ts";

const first = (work: Work, routing: Partial<Routing>): string | undefined =>
  agentsFor(work, { usual: "claude", ...routing })[0];

describe("who does it", () => {
  it("is the usual one where nobody says anything", () => {
    expect(agentsFor({ phase: "1" }, { usual: "claude" })).toEqual(["claude"]);
  });

  it("is whom the command line, the plan, the routes name, in this order", () => {
    const routes = [{ phase: "2a", agent: "codex" }];
    expect(first({ phase: "2a" }, { routes })).toBe("codex");
    expect(first({ phase: "2a", named: "gemini" }, { routes })).toBe("gemini");
    expect(first({ phase: "2a", named: "gemini" }, { routes, forced: "apply" })).toBe("apply");
  });

  it.each([
    ["2a", "2a", true],
    ["2*", "2a", true],
    ["2*", "12a", false],
    ["*-api", "3-api", true],
    ["a*b*c", "a-b-b-c", true],
    ["a*b*c", "acb", false],
    ["ab*ba", "aba", false],
    ["*", "anything", true],
    ["2A", "2a", true],
  ])("by phase: %s and %s", (pattern, phase, is) => {
    const routes = [{ phase: pattern, agent: "codex" }];
    expect(first({ phase }, { routes }) === "codex").toBe(is);
    expect(
      first({ phase }, { routes: [{ phase: ["none", pattern], agent: "codex" }] }) === "codex",
    ).toBe(is);
  });

  it.each([
    [">=8", 8, true],
    [">8", 8, false],
    ["<3", 2, true],
    ["<=3", 3, true],
    ["5", 5, true],
    ["= 5", 5, true],
    ["5", 6, false],
  ])("by estimate: %s and %s", (estimate, points, is) => {
    const routes = [{ estimate, agent: "codex" }];
    expect(first({ phase: "1", estimate: points }, { routes }) === "codex").toBe(is);
    expect(first({ phase: "1" }, { routes })).toBe("claude");
  });

  it("by step and by skill, of flows", () => {
    const routes = [
      { step: 7, agent: "codex" },
      { step: "Deploy", agent: "gemini" },
      { skill: "code-*", agent: "goose" },
    ];
    expect(first({ step: "7" }, { routes })).toBe("codex");
    expect(first({ step: "10", stepName: "deploy" }, { routes })).toBe("gemini");
    expect(first({ skill: "code-review" }, { routes })).toBe("goose");
  });

  it("needs all of a route's conditions, and a route without any fits nothing", () => {
    const routes = [{ phase: "2*", estimate: ">5", agent: "codex" }, { agent: "gemini" }];
    expect(first({ phase: "2a", estimate: 8 }, { routes })).toBe("codex");
    expect(first({ phase: "2a", estimate: 3 }, { routes })).toBe("claude");
  });

  it("is followed by those who take over, each once", () => {
    const agents = { claude: { fallback: ["codex", "claude", "gemini"] } };
    expect(agentsFor({ phase: "1" }, { usual: "claude", agents })).toEqual([
      "claude",
      "codex",
      "gemini",
    ]);
    expect(agentsFor({ phase: "1" }, { usual: "constructor", agents })).toEqual(["constructor"]);
  });

  it("has no route that cannot be read", () => {
    for (const estimate of ["many", ">", "8+", ""]) {
      expect(Route.safeParse({ agent: "codex", estimate }).success, estimate).toBe(false);
    }
  });
});

describe("an agent that a phase names", () => {
  it.each([
    ["**Agent**: codex", "codex"],
    ["Agent: codex", "codex"],
    ["**Agent:** `codex`", "codex"],
    ["- Agent: Codex", "codex"],
    ["* __Agent__: my-agent", "my-agent"],
  ])("%s", (line, name) => {
    expect(agentNamed(`### Phase 1\n\n${line}\n\nText.\n`)).toBe(name);
  });

  it("after a comment, and after one that is only spoken of", () => {
    expect(agentNamed("<!-- a\nb --> c\n\nAgent: codex")).toBe("codex");
    expect(agentNamed("Mind the `<!--` here.\n\nAgent: codex")).toBe("codex");
  });

  it.each([
    "Agent: codex and others",
    "The agent: codex",
    "User-Agent: codex",
    "Agent:",
    "```\nAgent: codex\n```",
    "~~~~yaml\n```\nAgent: codex\n~~~~",
    "    Agent: codex",
    "<!-- not yet:\nAgent: codex\n-->",
    "<!-- Agent: codex -->",
  ])("not in %j", (text) => {
    expect(agentNamed(text)).toBeUndefined();
  });
});
