import { describe, expect, it } from "vitest";
import { detailAt, fitted, panned, revealing, zoomed } from "./viewport.ts";

const frame = { width: 1000, height: 500 };

describe("what is looked at", () => {
  it("fits a large drawing into the frame, in the middle", () => {
    const { x, y, scale } = fitted({ width: 4000, height: 1000 }, frame);
    expect(scale).toBeCloseTo(952 / 4000);
    expect(x).toBeCloseTo(24);
    expect(y + (1000 * scale) / 2).toBeCloseTo(250);
  });

  it("never shows a small drawing larger than it was drawn", () => {
    expect(fitted({ width: 100, height: 50 }, frame)).toEqual({ x: 450, y: 225, scale: 1 });
  });

  it("zooms around the point that somebody points at", () => {
    const view = zoomed({ x: 10, y: 20, scale: 1 }, 2, { x: 110, y: 70 });
    expect(view).toEqual({ x: -90, y: -30, scale: 2 });
    // What was under it, (100, 50) of the drawing, is there still.
    expect([100 * view.scale + view.x, 50 * view.scale + view.y]).toEqual([110, 70]);
  });

  it("stops zooming where nothing can be seen any more", () => {
    const far = zoomed({ x: 0, y: 0, scale: 1 }, 1e-9, { x: 0, y: 0 });
    expect(far.scale).toBe(0.02);
    expect(zoomed(far, 1e9, { x: 0, y: 0 }).scale).toBe(2.5);
  });

  it("moves no more than it takes to show a box", () => {
    const view = { x: 0, y: 0, scale: 1 };
    const size = { width: 200, height: 60 };
    expect(revealing(view, { x: 500, y: 250 }, size, frame)).toEqual(view);
    expect(revealing(view, { x: 1100, y: 250 }, size, frame)).toEqual({ x: -224, y: 0, scale: 1 });
    expect(revealing(view, { x: 0, y: -100 }, size, frame)).toEqual({ x: 124, y: 154, scale: 1 });
  });

  it("is moved by what somebody drags", () => {
    expect(panned({ x: 1, y: 2, scale: 3 }, { x: 4, y: -4 })).toEqual({ x: 5, y: -2, scale: 3 });
  });

  it("shows less text from afar", () => {
    expect([1, 0.5, 0.4, 0.2, 0.1].map(detailAt)).toEqual([
      "all",
      "names",
      "ids",
      "blocks",
      "specks",
    ]);
  });
});
