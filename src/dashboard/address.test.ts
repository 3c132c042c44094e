import { describe, expect, it } from "vitest";
import { isForBrowsers } from "./address.ts";

describe("a port for the dashboard", () => {
  it("is none that browsers refuse to open, whoever has it otherwise", () => {
    expect([4045, 5060, 5061, 6000, 6667, 10_080].filter(isForBrowsers)).toEqual([]);
    expect([4700, 5059, 5062, 8123, 49_152].filter(isForBrowsers)).toHaveLength(5);
  });
});
