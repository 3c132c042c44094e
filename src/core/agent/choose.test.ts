import { describe, expect, it } from "vitest";
import { type Chooseable, chooseDefault } from "./choose.ts";
import { knownAgent, knownAgents, versionIn } from "./known.ts";

const nobody: Chooseable = { spelledOut: false, own: [], installed: [] };

describe("who does the work when nobody was named", () => {
  it("is apply, where every phase spells out its files", () => {
    const installed = [{ name: "claude", login: "yes" }] as const;
    expect(chooseDefault({ ...nobody, spelledOut: true, own: ["mine"], installed })).toMatchObject({
      is: "chosen",
      name: "apply",
    });
  });

  it("is the only one in the settings, whoever else is logged in", () => {
    const installed = [{ name: "claude", login: "yes" }] as const;
    expect(chooseDefault({ ...nobody, own: ["mine"], installed })).toMatchObject({
      is: "chosen",
      name: "mine",
    });
  });

  it("is the only one that is logged in, whoever else is installed", () => {
    const installed = [
      { name: "claude", login: "no" },
      { name: "codex", login: "yes" },
      { name: "gemini", login: "unknown" },
    ] as const;
    expect(chooseDefault({ ...nobody, installed })).toEqual({
      is: "chosen",
      name: "codex",
      why: "it is the only one that is logged in",
    });
  });

  it("is for people to say, where several could be meant", () => {
    const installed = [
      { name: "claude", login: "yes" },
      { name: "codex", login: "yes" },
    ] as const;
    expect(chooseDefault({ ...nobody, installed })).toMatchObject({
      is: "ask",
      names: ["claude", "codex"],
    });
    expect(chooseDefault({ ...nobody, own: ["a", "b"], installed })).toMatchObject({
      is: "ask",
      names: ["a", "b", "claude", "codex"],
    });
  });

  it("is for people to say, where a login is only supposed", () => {
    const installed = [
      { name: "qwen", login: "unknown" },
      { name: "codex", login: "no" },
    ] as const;
    expect(chooseDefault({ ...nobody, installed })).toMatchObject({ is: "ask", names: ["qwen"] });
  });

  it("is nobody, where nothing is installed or nobody is logged in", () => {
    expect(chooseDefault(nobody)).toEqual({ is: "none", why: "none is installed" });
    const installed = [{ name: "claude", login: "no" }] as const;
    expect(chooseDefault({ ...nobody, installed })).toMatchObject({
      is: "none",
      why: expect.stringContaining("nobody is logged in"),
    });
  });

  it("is whom the settings name, before everything else, if there is such a one", () => {
    const installed = [{ name: "claude", login: "no" }] as const;
    const named = (name: string) =>
      chooseDefault({ ...nobody, spelledOut: true, own: ["mine"], installed, named: name });
    expect(named("claude")).toMatchObject({ is: "chosen", name: "claude" });
    expect(named("mine")).toMatchObject({ is: "chosen", name: "mine" });
    expect(named("apply")).toMatchObject({ is: "chosen", name: "apply" });
    expect(named("codex")).toMatchObject({
      is: "none",
      why: "the settings name codex, which is not installed",
    });
    expect(named("cluade")).toMatchObject({ is: "none", why: expect.stringContaining("no agent") });
  });
});

describe("the agents that we know", () => {
  it("have names of their own, which settings can hold", () => {
    const names = knownAgents.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-z][a-z0-9-]{0,31}$/);
    expect(names).not.toContain("apply");
    expect(knownAgent("claude")?.title).toBe("Claude Code");
  });

  it("are programs that are found by name, never by a path", () => {
    for (const { program } of knownAgents) expect(program).toMatch(/^[a-z][a-z0-9-]*$/);
  });

  it("have a sign by which a login is seen", () => {
    for (const { login } of knownAgents) {
      expect(login.variables.length + login.files.length).toBeGreaterThan(0);
    }
  });

  it("tell their version in as many ways as there are of them", () => {
    expect(versionIn(["2.1.325 (Claude Code)"])).toBe("2.1.325");
    expect(versionIn(["WARNING: 1 thing", "codex-cli 0.166.0"])).toBe("0.166.0");
    expect(versionIn(["GitHub Copilot CLI 1.0.102."])).toBe("1.0.102");
    expect(versionIn([" 1.52.0"])).toBe("1.52.0");
    expect(versionIn(["v3.0.0-beta.2"])).toBe("3.0.0-beta.2");
    expect(versionIn(["no version here", ""])).toBeUndefined();
  });
});
