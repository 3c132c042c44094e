import { describe, expect, it } from "vitest";
import { readDrawnOrder } from "./drawing.ts";

/** "Phase 2A (API)" is 2A; so is a bare 2A. */
const node = (label: string): readonly string[] | undefined => {
  const id = /^(?:Phase )?(\d[A-Z]?)\b(?! ?[a-z])/u.exec(label)?.[1];
  return id === undefined ? undefined : [id];
};

const read = (drawing: string): string[] | undefined =>
  readDrawnOrder(drawing.split("\n"), node)
    ?.map(({ phase, dependsOn }) => `${dependsOn}→${phase}`)
    .sort();

describe("an order that is drawn", () => {
  it("is read from boxes joined by lines", () => {
    expect(
      read(`
┌─────────────────────┐
│  Phase 0: Bootstrap │
│   Estimate: 5 pts   │
└──────────┬──────────┘
           │ (skip if present)
           ▼
      ┌─────────┐
      │ Phase 1 │
      └────┬────┘
           │
    ┌──────┼───────┐   ← in parallel
    ▼      ▼       ▼
┌──────┐┌──────┐┌──────┐
│  2A  ││  2B  ││  2C  │
└──┬───┘└──┬───┘└──┬───┘
   └───────┼───────┘
           ▼
      ┌─────────┐
      │ Phase 3 │
      └─────────┘`),
    ).toEqual(["0→1", "1→2A", "1→2B", "1→2C", "2A→3", "2B→3", "2C→3"]);
  });

  it("is read from a tree", () => {
    expect(
      read(`
Phase 1 (Setup)
    │
    ├──► Phase 2 (API)
    │       └──► Phase 4
    └──► Phase 3 (UI)`),
    ).toEqual(["1→2", "1→3", "2→4"]);
  });

  it("is read from a tree without arrow heads", () => {
    expect(
      read(`
Phase 1
├── Phase 2
│   └── Phase 4
└── Phase 3`),
    ).toEqual(["1→2", "1→3", "2→4"]);
  });

  it("is read downwards, in plain characters too", () => {
    expect(read("Phase 1\n   |\n   v\nPhase 2\n   ↓\nPhase 3")).toEqual(["1→2", "2→3"]);
  });

  it("is read from branches and joins beside names", () => {
    expect(
      read(`
Phase 1 ──┬──► Phase 2A ──┐
          └──► Phase 2B ──┴──► Phase 3`),
    ).toEqual(["1→2A", "1→2B", "2A→3", "2B→3"]);
  });

  it("is not guessed when an arrow leads nowhere", () => {
    expect(read("Phase 1\n   ↓\nRelease party\n   ↓\nPhase 2")).toBeUndefined();
  });

  it("is not guessed when it runs in a circle", () => {
    expect(read("Phase 1 ──► Phase 2\nPhase 2 ──► Phase 1")).toBeUndefined();
  });
});
