import { describe, expect, it } from "vitest";
import { desktopCall, terminalNotice } from "./notify.ts";
import { shown } from "./safe-text.ts";

describe("text of others, on a terminal", () => {
  it.each([
    ["colours", "\u001b[31mred\u001b[0m", "red"],
    ["titles", "\u001b]0;owned\u0007after", "after"],
    ["strings that never end", "\u001bPdcs and more", ""],
    ["one-byte sequences", "\u009b31mred", "red"],
    ["bells, backspaces, carriage returns", "a\u0007b\u0008c\rd", "abc d"],
    ["direction overrides and zero widths", "a\u202eb\u200bc", "abc"],
    ["tag characters", "a\u{e0041}b", "ab"],
    ["line breaks", "a\nb\u2028c", "a b c"],
  ])("loses %s", (_, text, expected) => {
    expect(shown(text)).toBe(expected);
  });

  it("stays as it is when it is harmless", () => {
    for (const text of ["plain", "naïve — “quotes” 日本語 🎉", ""]) expect(shown(text)).toBe(text);
  });
});

describe("a notice", () => {
  it("always rings the bell, and speaks the terminal's own language", () => {
    expect(terminalNotice("t", "x", {})).toBe("\u0007");
    expect(terminalNotice("t", "x", { KITTY_WINDOW_ID: "1" })).toBe(
      "\u0007\u001b]99;;t: x\u001b\\",
    );
    expect(terminalNotice("t", "x", { TERM_PROGRAM: "iTerm.app" })).toBe(
      "\u0007\u001b]9;t: x\u0007",
    );
    expect(terminalNotice("t", "x", { TERM_PROGRAM: "ghostty" })).toBe(
      "\u0007\u001b]777;notify;t;x\u0007",
    );
  });

  it("is wrapped for tmux", () => {
    const inTmux = terminalNotice("t", "x", { TERM_PROGRAM: "WezTerm", TMUX: "1" });
    expect(inTmux).toBe("\u0007\u001bPtmux;\u001b\u001b]9;t: x\u0007\u001b\\");
  });

  it("hands its text over as data, never as an option or a script", () => {
    const call = desktopCall("linux", { DISPLAY: ":0" }, "-x", "$(rm)");
    expect(call?.slice(-3)).toEqual(["--", "-x", "$(rm)"]);
    expect(desktopCall("linux", {}, "t", "x")).toBeUndefined();
    expect(desktopCall("darwin", { AUTODEV_NO_NOTIFY: "1" }, "t", "x")).toBeUndefined();
  });
});
