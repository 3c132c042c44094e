import { describe, expect, it } from "vitest";
import {
  chooseTracker,
  type FoundTracker,
  filledIn,
  kindOf,
  serverLine,
  serversIn,
  trackersAmong,
} from "./servers.ts";

const program = (command: string, ...args: string[]) => ({ command, args, env: {} });
const address = (url: string) => ({ url, headers: {} });

describe("a tracker is known", () => {
  it.each([
    ["user-Jira-MCP-Server", program("whatever"), "jira"],
    ["Atlassian", address("https://example.com/mcp"), "jira"],
    ["anything", address("https://mcp.atlassian.com/v1/mcp/authv2"), "jira"],
    ["anything", program("uvx", "mcp-atlassian"), "jira"],
    ["user-AzureDevops", program("whatever"), "ado"],
    ["boards", program("npx", "-y", "@azure-devops/mcp", "contoso"), "ado"],
    ["GitHub", program("whatever"), "github"],
    ["gh", program("docker", "run", "-i", "ghcr.io/github/github-mcp-server"), "github"],
    ["gh", program("npx", "-y", "@modelcontextprotocol/server-github"), "github"],
    ["linear", address("https://mcp.linear.app/mcp"), "linear"],
    // By what it is, before what it is called.
    ["github", address("https://mcp.linear.app/mcp"), "linear"],
    ["playwright", program("npx", "@playwright/mcp"), undefined],
    ["linearity", program("node", "regress.js"), undefined],
  ] as const)("%s is %o: %s", (name, is, kind) => {
    expect(kindOf({ name, is })).toBe(kind);
  });

  it("by its first mention only, and not where it is switched off", () => {
    const own = serversIn(
      { jira: { command: "node", args: ["a.js"] }, github: { command: "x", disabled: true } },
      { from: ".mcp.json", repository: true },
    );
    const user = serversIn(
      { jira: { command: "node", args: ["b.js"] }, odd: { command: "x", args: [1] } },
      { from: "~/.cursor/mcp.json", repository: false },
    );
    expect(trackersAmong([...own, ...user])).toMatchObject([{ name: "jira", from: ".mcp.json" }]);
  });
});

const found = (name: string, kind: FoundTracker["kind"]): FoundTracker => ({
  name,
  kind,
  from: ".mcp.json",
  repository: true,
  is: program("node"),
});
const [jira, other, linear] = [found("a", "jira"), found("b", "jira"), found("l", "linear")];

describe("which tracker", () => {
  it("none is local, one is used, of two a person chooses", () => {
    expect(chooseTracker([], {})).toMatchObject({ is: "local" });
    expect(chooseTracker([jira], {})).toMatchObject({ is: "chosen", tracker: jira });
    expect(chooseTracker([jira, linear], {})).toMatchObject({ is: "ask", among: [jira, linear] });
  });

  it("the settings' word goes first, by kind or by name", () => {
    expect(chooseTracker([jira, linear], { use: "linear" })).toMatchObject({ tracker: linear });
    expect(chooseTracker([jira, other], { use: "b" })).toMatchObject({ tracker: other });
    expect(chooseTracker([jira], { use: "local" })).toMatchObject({ is: "local" });
    expect(chooseTracker([jira], { use: "github" })).toEqual({ is: "missing", wanted: "github" });
    expect(chooseTracker([jira, other], { use: "jira" })).toMatchObject({ is: "ask" });
  });

  it("what is on record stands, also that a person went on without it", () => {
    const recorded = { tracker: "jira", server: "b" };
    expect(chooseTracker([jira, other], {}, recorded)).toMatchObject({ tracker: other });
    const without = { tracker: "local", server: "a" };
    expect(chooseTracker([jira], { use: "jira" }, without)).toMatchObject({ is: "local" });
  });
});

describe("what is started", () => {
  it("is one line in which nothing but variables is a shell's", () => {
    const is = {
      command: "npx",
      args: ["-y", "it's; rm -rf ~", "${TOKEN}", "a${X:-b`c`}d", "$(reboot)", ""],
      env: { KEY: "${SECRET}", PLAIN: "a b" },
    };
    expect(serverLine({ is })).toBe(
      `exec env KEY="$SECRET" PLAIN='a b' 'npx' '-y' 'it'\\''s; rm -rf ~' "$TOKEN" 'a'"\${X:-b\\\`c\\\`}"'d' '$(reboot)' ''`,
    );
  });

  it("shows where it connects to, and which variables it sends", () => {
    const is = { url: "https://x.example/mcp", headers: { Authorization: "Bearer ${TOKEN}" } };
    expect(serverLine({ is })).toBe(
      "connect to https://x.example/mcp\nheader Authorization: Bearer ${TOKEN}",
    );
    expect(filledIn("Bearer ${TOKEN}${NONE:-!}", { TOKEN: "t" })).toBe("Bearer t!");
  });
});
