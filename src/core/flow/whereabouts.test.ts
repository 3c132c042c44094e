import { describe, expect, it } from "vitest";
import type { RecordedEvent } from "../event.ts";
import { evolve, nothingYet, type ProjectState, renderedStateFile } from "../evolve.ts";
import { renderStateFile } from "./render.ts";
import { flowStateAt } from "./state.ts";
import { type Facts, whereabouts } from "./whereabouts.ts";

const path = "_docs/_autodev_state.md";
const at = "2026-01-01T00:00:00.000Z";
const start = flowStateAt({
  flow: "greenfield",
  step: "1",
  name: "Problem",
  status: "in_progress",
  subStep: { phase: 1, name: "gather", detail: "" },
  retryCount: 0,
  cycle: 1,
});

function recorded(...events: object[]): ProjectState {
  const text = renderStateFile(undefined, start);
  if (!text.ok) throw new Error(text.failure.message);
  const created = {
    type: "state-file-adopted",
    why: "created",
    path,
    text: text.value,
    generation: 3,
    variant: 13,
    state: start,
    corrections: [],
  };
  return [created, ...events]
    .map((event, index) => ({ ...event, seq: index + 1, at, run: "flow" }) as RecordedEvent)
    .reduce(evolve, nothingYet);
}

function verdictOn(text: string, state: ProjectState, more: Partial<Facts> = {}): string {
  const rendered = renderedStateFile(state);
  if (!state.flow || !state.stateFile || !rendered) throw new Error("nothing was recorded");
  const found = whereabouts({
    files: [{ path, text }],
    recorded: { flow: state.flow, file: state.stateFile, text: rendered.text },
    everRendered: () => false,
    gitMoved: () => false,
    recentRenderings: () => [rendered.text],
    survey: () => ({ docs: undefined, texts: new Map(), hasSource: false, members: 0 }),
    ...more,
  });
  return found.ok ? found.value.verdict.is : found.failure.code;
}

const blocked = (text: string): object => ({ type: "blocker-raised", text });

describe("a file that is not what the journal says", () => {
  // Three bytes a character: with the right padding a sector ends between two of them.
  const texts = ["a", "ab", "abc"].map((pad) => recorded(blocked(`${pad} — ${"…".repeat(300)}`)));
  const sectorOf = (of: ProjectState): string =>
    Buffer.from(renderedStateFile(of)?.text ?? "")
      .subarray(0, 512)
      .toString("utf8");
  const state = texts.find((each) => !sectorOf(each).endsWith("\ufffd")) as ProjectState;
  const text = renderedStateFile(state)?.text ?? "";

  it("is torn, not edited, when a power cut left its first sectors or zeros", () => {
    const sector = sectorOf(state);
    expect(Buffer.byteLength(sector)).toBe(512);
    expect(sector.length).toBeLessThan(512);
    expect(verdictOn(sector, state)).toBe("stale");
    expect(verdictOn("\0".repeat(text.length), state)).toBe("stale");
    expect(verdictOn(`${sector}${"\0".repeat(40)}`, state)).toBe("stale");
  });

  it("is a hand edit when it is cut anywhere else, or different", () => {
    expect(verdictOn(text.slice(0, text.indexOf("\n## Blockers")), state)).toBe("to-adopt");
    expect(verdictOn(text.replace("step: 1", "step: 2"), state)).toBe("to-adopt");
  });

  it("has a step skipped where a person says so in it", () => {
    const file = { path, text: text.replace("status: in_progress", "status: skipped") };
    const found = whereabouts({
      files: [file],
      everRendered: () => false,
      gitMoved: () => false,
      recentRenderings: () => [],
      survey: () => ({ docs: undefined, texts: new Map(), hasSource: false, members: 0 }),
    });
    expect(found.ok && found.value.state.skipped).toEqual(["1"]);
  });

  it("is stale when we wrote it once", () => {
    expect(verdictOn(text.replace("step: 1", "step: 2"), state, { everRendered: () => true })).toBe(
      "stale",
    );
  });
});

describe("text from outside", () => {
  it.each(["cut \ud83d", "a\0b\u0007c", "line\nbreak\r\nand\ttab", '\u2028 — “quotes” \\ "'])(
    "%j in a detail is written so that it reads back, and stays readable",
    (detail) => {
      const state = recorded({
        type: "sub-step-reported",
        subStep: { phase: 2, name: "x", detail },
      });
      const text = renderedStateFile(state)?.text ?? "";
      expect(Buffer.from(text).toString("utf8")).toBe(text);
      expect(verdictOn(text, state)).toBe("as-recorded");
      expect(text).not.toContain("\0");
    },
  );

  it("in a blocker never breaks the file, and the blocker can be cleared", () => {
    const raw = "x failed.\nLast failure: \0 odd \ud83d";
    const state = recorded(blocked(raw));
    expect(renderedStateFile(state)?.text).toContain("- x failed. Last failure:  odd \ufffd\n");
    expect(recorded(blocked(raw), { type: "blocker-cleared", text: raw }).flow?.blockers).toEqual(
      [],
    );
  });
});
