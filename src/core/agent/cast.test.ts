import { describe, expect, it } from "vitest";
import { planOf } from "../../../test/build-rig.ts";
import { readPlan } from "../../formats/read-plan.ts";
import type { CompiledPlan } from "../plan/compile.ts";
import { runPhases } from "../plan/run-phases.ts";
import type { Settings } from "../settings.ts";
import { type Cast, type CastOptions, castFor } from "./cast.ts";

function compiled(text: string): CompiledPlan {
  const read = readPlan([{ file: "docs/plan.md", text }]);
  if (!read.ok) throw new Error(read.failure.message);
  return read.value;
}

const cast = (text: string, settings: Settings, options: CastOptions = {}) => {
  const plan = compiled(text);
  return castFor(
    options,
    settings,
    plan,
    runPhases(plan, (each) => each),
  );
};
const castIn = (...args: Parameters<typeof cast>): Cast => {
  const found = cast(...args);
  if (!found.ok || !("for" in found.value)) throw new Error(JSON.stringify(found));
  return found.value;
};

const spelled = { files: { "a.txt": "a" } };
const vague = planOf([{ id: "1" }, { id: "2" }]);
const clear = planOf([{ id: "1", ...spelled }]);
const loggedIn = (...names: string[]) => names.map((name) => ({ name, login: "yes" as const }));

describe("who does a plan", () => {
  it("is apply where every phase spells out its files", () => {
    expect(castIn(clear, {})).toMatchObject({ usual: "apply", all: ["apply"] });
  });

  it("is the only agent of the settings, or the only one that is logged in", () => {
    expect(castIn(vague, { agents: { mine: { command: "x" } } }).usual).toBe("mine");
    expect(castIn(vague, {}, { installed: loggedIn("codex") }).usual).toBe("codex");
  });

  it("is a question where several could be meant", () => {
    const found = cast(vague, {}, { installed: loggedIn("claude", "codex") });
    expect(found).toMatchObject({ ok: true, value: { among: ["claude", "codex"] } });
  });

  it("is nobody where there is nobody, and the phases that need somebody are named", () => {
    const found = cast(vague, {}, { installed: [] });
    expect(found).toMatchObject({ ok: false, failure: { code: "no-agent" } });
    if (!found.ok) expect(found.failure.message).toContain("apply cannot: 1, 2 do not spell out");
  });

  it("leaves apply what it can do when a route takes the rest", () => {
    const mixed = planOf([{ id: "1", ...spelled }, { id: "2" }]);
    const found = castIn(mixed, { routes: [{ phase: "2", agent: "codex" }] });
    expect(found.usual).toBe("apply");
    expect(found.for("2")).toEqual(["codex"]);
    expect(found.all).toEqual(["apply", "codex"]);
  });

  it("is one for all where somebody names one, and goes on as it was", () => {
    const settings: Settings = { agent: "claude", routes: [{ phase: "2", agent: "codex" }] };
    expect(castIn(vague, settings, { agent: "gemini" }).all).toEqual(["gemini"]);
    expect(castIn(vague, {}, { usual: "qwen" }).usual).toBe("qwen");
  });

  it("counts those who take over among those who may come", () => {
    const settings: Settings = { agent: "claude", agents: { claude: { fallback: ["codex"] } } };
    expect(castIn(vague, settings)).toMatchObject({ usual: "claude", all: ["claude", "codex"] });
  });

  it("names one that nobody knows, whoever named it", () => {
    const texts = [
      cast(vague, { agent: "nobody" }),
      cast(vague, { agent: "claude", agents: { claude: { fallback: ["nobody"] } } }),
      cast(vague, { agent: "claude", routes: [{ phase: "1", agent: "nobody" }] }),
    ];
    for (const found of texts) {
      expect(found).toMatchObject({
        ok: false,
        failure: { message: 'there is no agent "nobody"' },
      });
    }
  });
});
