import { describe, expect, it } from "vitest";
import { laidOut } from "./lay-out.ts";
import { walked } from "./walk.ts";

const drawing = laidOut([
  { id: "a", dependsOn: [] },
  { id: "b", dependsOn: ["a"] },
  { id: "c", dependsOn: ["a"] },
  { id: "d", dependsOn: ["c"] },
]);

describe("an arrow key", () => {
  it("leads sideways along a line", () => {
    expect(walked(drawing, "d", "ArrowLeft")).toBe("c");
    expect(walked(drawing, "c", "ArrowRight")).toBe("d");
  });

  it("leads up and down within a column", () => {
    expect(walked(drawing, "b", "ArrowDown")).toBe("c");
    expect(walked(drawing, "c", "ArrowUp")).toBe("b");
  });

  it("leads nowhere where there is nothing", () => {
    expect(walked(drawing, "a", "ArrowLeft")).toBeUndefined();
    expect(walked(drawing, "nobody", "ArrowDown")).toBeUndefined();
  });
});
