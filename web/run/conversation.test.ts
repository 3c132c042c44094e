import { describe, expect, it } from "vitest";
import type { Said } from "../../src/core/board/wire.ts";
import { heard, mostParts, nothingSaid } from "./conversation.ts";

const line = (text: string): Said => ({ is: "line", text });
const tool = (what: string, state: "started" | "done" | "failed"): Said => ({
  is: "tool",
  name: "Read",
  what,
  state,
});

describe("a conversation", () => {
  it("has lines that follow each other in one block, also when they come later", () => {
    const first = heard(nothingSaid, [line("one"), line("two")]);
    const more = heard(first, [line("three"), { is: "text", text: "hello" }, line("four")]);
    expect(more.parts).toEqual([
      { key: 0, is: "lines", lines: ["one", "two", "three"] },
      { key: 1, is: "text", text: "hello" },
      { key: 2, is: "lines", lines: ["four"] },
    ]);
    expect(heard(first, [])).toBe(first);
  });

  it("shows a tool once, as it has ended", () => {
    const { parts } = heard(nothingSaid, [
      tool("a.ts", "started"),
      tool("b.ts", "started"),
      tool("a.ts", "failed"),
      tool("b.ts", "done"),
    ]);
    expect(parts.map((part) => (part.is === "tool" ? `${part.what} ${part.state}` : ""))).toEqual([
      "a.ts failed",
      "b.ts done",
    ]);
  });

  it("shows a plan that is told again in the place of the one before", () => {
    const plan = (done: boolean): Said => ({ is: "plan", steps: [{ text: "read", done }] });
    expect(heard(nothingSaid, [plan(false), plan(true)]).parts).toEqual([
      { key: 0, is: "plan", steps: [{ text: "read", done: true }] },
    ]);
  });

  it("keeps the last three thousand parts and says that there were more", () => {
    const said = Array.from(
      { length: mostParts + 5 },
      (_, at): Said => ({ is: "text", text: `${at}` }),
    );
    const { parts, isCut, next } = heard(nothingSaid, said);
    expect([parts.length, parts[0]?.key, isCut, next]).toEqual([mostParts, 5, true, mostParts + 5]);
  });
});
