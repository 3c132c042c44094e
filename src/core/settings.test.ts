import { describe, expect, it } from "vitest";
import { mergedSettings } from "./settings.ts";

describe("a user's settings and a project's", () => {
  it("have the stricter of two limits, key by key, and none is taken away", () => {
    const user = { budget: { run: { cost: 5, tokens: 100 }, phase: { cost: false as const } } };
    const project = {
      budget: {
        run: { tokens: false as const, cost: 9 },
        phase: { cost: 2 },
        attempt: { cost: 1 },
      },
    };
    expect(mergedSettings(user, project).budget).toEqual({
      run: { cost: 5, tokens: 100 },
      phase: { cost: 2 },
      attempt: { cost: 1 },
    });
    expect(mergedSettings(user, {}).budget).toEqual(user.budget);
    expect(mergedSettings({}, {}).budget).toBeUndefined();
  });

  it("say different things of the same agent, and both hold", () => {
    const user = {
      agents: { claude: { permissions: "edit" as const, model: "a" }, mine: { command: "x" } },
    };
    const project = { agents: { claude: { model: "b" } } };
    expect(mergedSettings(user, project).agents).toEqual({
      claude: { permissions: "edit", model: "b" },
      mine: { command: "x" },
    });
  });
});
