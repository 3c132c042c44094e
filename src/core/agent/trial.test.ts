import { describe, expect, it } from "vitest";
import { knownAgent } from "./known.ts";
import {
  isWorking,
  judgeTrial,
  type TrialEnd,
  type TrialFacts,
  trialBrief,
  trialVerdict,
} from "./trial.ts";

const good: TrialFacts = {
  end: { is: "done" },
  word: "hello-1",
  content: "hello-1\n",
  session: true,
  usage: true,
  left: 0,
  can: { resume: true, usage: true },
};

const states = (facts: Partial<TrialFacts>): Record<string, string> =>
  Object.fromEntries(judgeTrial({ ...good, ...facts }).map(({ name, state }) => [name, state]));

const verdict = (end: TrialEnd, facts: Partial<TrialFacts> = {}, name = "claude") =>
  trialVerdict(name, knownAgent(name), end, judgeTrial({ ...good, ...facts, end }));

describe("what a self-test makes of what it has seen", () => {
  it("is content with an agent that does what it says and says what it does", () => {
    expect(Object.values(states({}))).toEqual(Array.from({ length: 6 }, () => "passed"));
    expect(verdict({ is: "done" })).toEqual({ message: "claude works", hint: null });
  });

  it("believes the file, not the result", () => {
    const facts = { content: null };
    expect(states(facts)).toMatchObject({ result: "passed", file: "failed" });
    expect(isWorking(judgeTrial({ ...good, ...facts }))).toBe(false);
    expect(verdict({ is: "done" }, facts).message).toContain("but it has not written hello.txt");
    expect(states({ content: "hello-2\n" })).toMatchObject({ file: "failed" });
  });

  it("minds what only helps, and lets the agent pass", () => {
    const facts = { session: false, usage: false, left: 2 };
    expect(states(facts)).toMatchObject({
      session: "warning",
      usage: "warning",
      processes: "warning",
    });
    expect(isWorking(judgeTrial({ ...good, ...facts }))).toBe(true);
  });

  it("misses nothing of an agent that cannot", () => {
    const can = { resume: false, usage: false };
    expect(states({ session: false, usage: false, can })).toMatchObject({
      session: "skipped",
      usage: "skipped",
    });
  });

  it("says nothing more of one that never began", () => {
    const end: TrialEnd = {
      is: "unable",
      trouble: { kind: "spawn", message: "claude is not on PATH" },
      hint: "",
    };
    expect(states({ end })).toEqual({ started: "failed" });
    expect(verdict(end)).toEqual({
      message: "claude could not be started: claude is not on PATH",
      hint: "npm install --global @anthropic-ai/claude-code",
    });
  });

  it("names the way to a login", () => {
    const trouble = { kind: "auth", message: "401 Unauthorized\nand more" } as const;
    expect(verdict({ is: "unable", trouble, hint: "log in" }, { content: null }, "codex")).toEqual({
      message: "codex cannot be used before somebody has logged in: 401 Unauthorized",
      hint: "codex login, then autodev agents test codex",
    });
    expect(verdict({ is: "unable", trouble, hint: "log in" }, {}, "mine").hint).toBe("log in");
  });

  it("tells a limit with the time at which it ends", () => {
    const end: TrialEnd = { is: "limited", reason: "used up", until: "2099-01-01T00:00:00Z" };
    expect(verdict(end, { content: null })).toEqual({
      message: "claude cannot work now: used up",
      hint: "after 2099-01-01T00:00:00Z: autodev agents test claude; or choose another: autodev agents",
    });
  });

  it("asks for the word in the brief, and for a result in any way that there is", () => {
    const { text } = trialBrief("hello-1", { schema: "{}", path: "/somewhere/result.json" });
    expect(text).toContain("\nhello-1\n");
    expect(text).toContain("/somewhere/result.json");
  });
});
