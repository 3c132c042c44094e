import { describe, expect, it } from "vitest";
import {
  chooseSandbox,
  type SandboxFacts,
  type SandboxSettings,
  sandboxModes,
  sandboxText,
  sandboxWarning,
  stricter,
} from "./sandbox.ts";

const agent = (name: string, more: Partial<SandboxFacts["agents"][number]> = {}) => ({
  name,
  confined: true,
  isRemote: false,
  ...more,
});
const choose = (
  wish: SandboxSettings,
  by: SandboxFacts["by"],
  ...agents: SandboxFacts["agents"][number][]
) => chooseSandbox(wish, { by, agents: agents.length > 0 ? agents : [agent("mine")] });

const told = (...args: Parameters<typeof choose>): readonly (string | undefined)[] => {
  const choice = choose(...args);
  if (!choice.ok) return [choice.failure.code, choice.failure.message];
  return [sandboxText(choice.value), sandboxWarning(choice.value)];
};

describe("which sandbox a run has", () => {
  it("is what can be had, and nobody hears of it", () => {
    expect(told({}, "namespaces")).toEqual(["namespaces of our own", undefined]);
    expect(told({ mode: "required" }, "bubblewrap")).toEqual(["bubblewrap", undefined]);
    expect(choose({}, "bubblewrap")).toEqual({
      ok: true,
      value: { mode: "auto", network: "on", by: "bubblewrap", free: [] },
    });
  });

  it("is none where none can be had, with a warning; required, that is a refusal", () => {
    const [text, warning] = told({ mode: "auto" }, undefined);
    expect(text).toMatch(/^none/);
    expect(warning).toMatch(/nothing confines the agents here.*bubblewrap/);
    expect(told({ mode: "required" }, undefined)[0]).toBe("no-sandbox");
  });

  it("is none where that was wished for, and that is told", () => {
    expect(told({ mode: "off" }, "namespaces")).toEqual([
      "off",
      expect.stringContaining("not confined, as you wished"),
    ]);
  });

  it("leaves out whom the settings let be; not where it is required", () => {
    const free = agent("free", { confined: false });
    expect(told({}, "namespaces", agent("mine"), free)[0]).toContain("not for free");
    const [code, message] = told({ mode: "required" }, "namespaces", agent("mine"), free);
    expect([code, message]).toEqual(["no-sandbox", expect.stringMatching(/^free: not confined/)]);
  });

  it("takes the network from those who need none, or refuses", () => {
    const off = { network: "off" } as const;
    expect(told(off, "bubblewrap")[0]).toBe("bubblewrap, no network");
    expect(told(off, undefined)[0]).toBe("no-sandbox");
    expect(told({ ...off, mode: "off" }, "namespaces")[0]).toBe("usage");
    const [code, message] = told(off, "namespaces", agent("claude", { isRemote: true }));
    expect([code, message]).toEqual(["usage", "claude cannot work without a network"]);
  });

  it("is confined, refused or told of, whatever is wished for and can be had", () => {
    for (const mode of sandboxModes) {
      for (const network of ["on", "off"] as const) {
        for (const by of ["namespaces", "bubblewrap", undefined] as const) {
          const choice = choose({ mode, network }, by);
          if (!choice.ok) continue;
          const isTold = sandboxWarning(choice.value) !== undefined;
          expect(isTold).toBe(choice.value.by === undefined);
          expect(choice.value.network).toBe(network);
          if (mode === "required" || network === "off") expect(choice.value.by).toBeDefined();
        }
      }
    }
  });
});

describe("of a person's and a project's wishes", () => {
  it("the stricter one counts, part by part", () => {
    expect(stricter({ mode: "required" }, { mode: "off" })).toEqual({ mode: "required" });
    expect(stricter({ mode: "auto" }, { mode: "off" })).toEqual({ mode: "auto" });
    expect(stricter({}, { mode: "off" })).toEqual({ mode: "off" });
    expect(stricter({ network: "on" }, { network: "off" })).toEqual({ network: "off" });
    expect(stricter({ network: "off" }, { mode: "auto" })).toEqual({
      mode: "auto",
      network: "off",
    });
    expect(stricter(undefined, undefined)).toBeUndefined();
  });
});
