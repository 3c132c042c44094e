import { describe, expect, it } from "vitest";
import { readLegend, readStatus, writeStatus } from "./status.ts";

describe("a status is read", () => {
  it.each([
    ["⬜", "pending"],
    ["⬜/⏭️", "pending"],
    ["⬜ Not Started", "pending"],
    ["✅", "complete"],
    ["✅*", "complete"],
    ["✅ Done (2025-01-02)", "complete"],
    ["🔄 In Progress", "running"],
    ["⏸️ Blocked", "blocked"],
    ["⏭️", "skipped"],
    ["❌", "failed"],
    ["❌ Not started", "pending"],
    ["🟡 Blocked", "blocked"],
    ["`in_progress`", "running"],
    ["`not-started`", "pending"],
    ["**Done**", "complete"],
    ["[x]", "complete"],
    ["[ ]", "pending"],
    ["[~]", "running"],
    ["60%", "running"],
    ["3/5", "running"],
    ["5/5", "complete"],
    ["~~Pending~~ Done", "complete"],
    ["已完成", "complete"],
    ["進行中", "running"],
    ["Готово (кроме тестов)", "complete"],
    ["Offen", "pending"],
    ["ask Petra", "unknown"],
  ])("%s", (text, status) => {
    expect(readStatus(text)).toBe(status);
  });

  it.each(["", "-", "—", "~~Done~~"])("%s says nothing", (text) => {
    expect(readStatus(text)).toBeUndefined();
  });

  it("by the document's own legend first", () => {
    const legend = new Map(readLegend("Legend: 🔴 not started | 🟡 in review | 🟢 done"));
    expect(readStatus("🔴", legend)).toBe("pending");
  });
});

describe("a status is written in the document's notation", () => {
  const plain = { legend: new Map(), words: {} };
  it.each([
    ["⬜", [], "✅"],
    ["⬜ Not Started", [], "✅ Complete"],
    ["⬜ Not Started", ["✅ Done"], "✅ Done"],
    ["pending", [], "complete"],
    ["pending", ["done"], "done"],
    ["`pending`", [], "`complete`"],
    ["PENDING", [], "COMPLETE"],
    ["Pending", ["done by Anna, 3 May"], "Complete"],
    ["[ ]", [], "[x]"],
    ["не начато", [], "готово"],
    ["未开始", [], "已完成"],
    ["", [], "✅"],
  ])("%s, elsewhere %s: %s", (old, examples, text) => {
    expect(readStatus(text)).toBe("complete");
    expect(writeStatus(old, "complete", examples, plain)).toBe(text);
  });

  it("with the words that a format demands", () => {
    expect(
      writeStatus("pending", "complete", [], { legend: new Map(), words: { complete: "done" } }),
    ).toBe("done");
  });
});
