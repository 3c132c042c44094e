import { describe, expect, it } from "vitest";
import { visible, visibleLine } from "./text.tsx";

describe("text of others", () => {
  it("stays as it is where it is harmless", () => {
    expect(visible("Größe: 12 µm\n\t✓ 日本語 <b>&amp;</b>")).toBe(
      "Größe: 12 µm\n\t✓ 日本語 <b>&amp;</b>",
    );
  });

  it("shows what would not be seen", () => {
    expect(visible("a\u0007b\u001b]0;title\u0007c\u007f")).toBe("a␇b␛]0;title␇c␡");
    expect(visible("user\u202etxt.exe")).toBe("user<U+202E>txt.exe");
    expect(visible("zero\u200bwidth\u2066x\u{e0041}")).toBe("zero<U+200B>width<U+2066>x<U+E0041>");
  });

  it("leaves a terminal's colours out, which say nothing here", () => {
    expect(visible("\u001b[1;32m✓\u001b[0m passed\r\n")).toBe("✓ passed\n");
  });

  it("cuts a line that no one can read, and says how much is missing", () => {
    const cut = visible(`first\n${"x".repeat(10_000_000)}END`);
    expect(cut.length).toBeLessThan(2400);
    expect(cut).toMatch(/^first\nx{2000} … \(9,997,803 characters left out\) … x+END$/);
  });

  it("is one line where one is wanted", () => {
    expect(visibleLine("a\n b\r\n\tc")).toBe("a b c");
    expect(visibleLine("y".repeat(20_000)).length).toBeLessThan(2400);
  });
});
