import { describe, expect, it } from "vitest";
import type { RecordedEvent } from "../event.ts";
import { attemptsIn, isUnderWay } from "./attempts.ts";

const history = (...events: readonly object[]): RecordedEvent[] =>
  events.map((event, index) => ({
    seq: index + 1,
    at: `2026-01-01T00:00:0${index}.000Z`,
    run: "r0000000001",
    ...event,
  })) as RecordedEvent[];

const begun = (attempt: number, phase = "1"): object => ({
  type: "attempt-started",
  phase,
  attempt,
  uuid: "u",
  base: "b",
  slot: 0,
});
const of = (type: string, attempt: number, more: object = {}): object => ({
  type,
  phase: "1",
  attempt,
  ...more,
});

const hows = (...events: readonly object[]): string[] =>
  (attemptsIn(history(...events)).get("1") ?? []).map(({ how }) => how);

describe("attempts", () => {
  it("are under way until something ends them", () => {
    const delivered = of("attempt-delivered", 1, { commit: "c" });
    expect(hows(begun(1))).toEqual(["working"]);
    expect(hows(begun(1), delivered)).toEqual(["delivered"]);
    expect(hows(begun(1), delivered, of("phase-verified", 1))).toEqual(["verified"]);
    const landed = attemptsIn(
      history(begun(1), delivered, of("phase-verified", 1), of("phase-landed", 1, { commit: "l" })),
    ).get("1")?.[0];
    expect(landed).toMatchObject({ how: "landed", commit: "l", endedAt: expect.any(String) });
    expect(landed && isUnderWay(landed)).toBe(false);
  });

  it("without an outcome were interrupted, once somebody goes on; nobody knows when", () => {
    const [first] = attemptsIn(history(begun(1), { type: "run-resumed" })).get("1") ?? [];
    expect(first).toMatchObject({ how: "interrupted", lines: ["autodev was killed"] });
    expect(first && "endedAt" in first).toBe(false);
    expect(hows(begun(1), { type: "run-resumed" }, begun(2))).toEqual(["interrupted", "working"]);
  });

  it("that had landed are to be checked again when the branch has moved", () => {
    const landed = [begun(1), of("attempt-delivered", 1, { commit: "c" }), of("phase-landed", 1)];
    const moved = { type: "target-moved", commit: "x", undone: ["1"] };
    expect(hows(...landed, moved)).toEqual(["delivered"]);
    expect(hows(...landed, { ...moved, undone: ["2"] })).toEqual(["landed"]);
  });

  it("that failed say what was wrong first, each thing once, and not for ever", () => {
    const details = Array.from({ length: 50 }, (_, at) => `line ${at}`).join("\n");
    const error = { type: "test_failure", message: "test failed: 1 of 2", details };
    const findings = [
      { code: "gate-failed", level: "error", message: "test failed: 1 of 2" },
      { code: "x", level: "note", message: "only noted" },
    ];
    const gates = [{ name: "test", command: "t", passed: false, summary: "", failures: ["a:1 b"] }];
    const failed = of("attempt-failed", 1, { error, findings, gates });
    const [record] = attemptsIn(history(begun(1), failed)).get("1") ?? [];
    expect(record?.lines).toEqual([
      "test_failure: test failed: 1 of 2",
      "a:1 b",
      "line 0",
      "line 1",
      "line 2",
    ]);
  });

  it("of phases that never began are none, and events without one change nothing", () => {
    expect(attemptsIn(history(of("attempt-failed", 3, { error: {} }))).size).toBe(0);
  });
});
