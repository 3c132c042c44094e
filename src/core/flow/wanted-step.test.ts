import { describe, expect, it } from "vitest";
import { flowNamed } from "./flows/index.ts";
import { wantedStep } from "./wanted-step.ts";

const flow = flowNamed("greenfield");
if (!flow) throw new Error("greenfield is gone");
const at = (step: string) => ({
  step,
  name: flow.steps.find((each) => each.step === step)?.name ?? "Done",
});
const stepOf = (...args: [act: "skip" | "back" | "rollback", wanted?: string, from?: string]) => {
  const [act, wanted, from = "5"] = args;
  const found = wantedStep(act, wanted, at(from), flow);
  return found.ok ? found.value.step : found.failure.message;
};

describe("the step that is meant", () => {
  it("is the present one, by its number or by its name in any case", () => {
    expect(stepOf("skip")).toBe("5");
    expect(stepOf("back", "2")).toBe("2");
    expect(stepOf("rollback", at("2").name.toUpperCase())).toBe("2");
  });

  it("is not guessed, but the nearest are named", () => {
    const name = at("1").name;
    expect(stepOf("back", "99")).toBe('greenfield has no step "99"');
    const near = wantedStep("back", `${name}x`, at("5"), flow);
    expect(!near.ok && near.failure.hint).toBe(`did you mean ${name}?`);
  });

  it("can be skipped only while the flow is there, and gone back to only when it was", () => {
    expect(stepOf("skip", "2")).toMatch(/^only the present step can be skipped: 5 /);
    expect(stepOf("back", "7")).toMatch(/^step 7 .+ lies ahead/);
    expect(stepOf("back", "7", "done")).toBe("7");
  });
});
