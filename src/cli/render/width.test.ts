import { describe, expect, it } from "vitest";
import { cutTo, padTo, widthOf, wrapTo } from "./width.ts";

describe("the width of a text", () => {
  it.each([
    ["plain", 5],
    ["naïve", 5],
    ["nai\u0308ve", 5],
    ["監査ログ", 8],
    ["ｆｕｌｌ", 8],
    ["한국어", 6],
    ["🔒", 2],
    ["👍🏽", 2],
    ["🇩🇪", 2],
    ["⚠️", 2],
    ["क्षि", 3],
    ["𠀀", 2],
    ["", 0],
  ])("%s: %i", (text, width) => {
    expect(widthOf(text)).toBe(width);
    expect(widthOf(padTo(text, 10))).toBe(10);
  });

  it("is kept to, and a wide character is not cut in half", () => {
    expect(cutTo("監査ログ", 8)).toBe("監査ログ");
    expect(cutTo("監査ログ", 7)).toBe("監査ロ…");
    expect(cutTo("監査ログ", 6)).toBe("監査…");
    expect(cutTo("abc", 2)).toBe("a…");
    expect(cutTo("abc", 0)).toBe("");
    expect(widthOf(cutTo("x".repeat(1e6), 40))).toBe(40);
  });

  it("is kept to by all lines of a text", () => {
    expect(wrapTo("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrapTo("one two three", 100)).toEqual(["one two three"]);
    expect(wrapTo("a verylongword b", 5)).toEqual(["a", "veryl", "ongwo", "rd b"]);
    expect(wrapTo("監査ログ", 3)).toEqual(["監", "査", "ロ", "グ"]);
    expect(wrapTo("", 5)).toEqual([""]);
  });
});
