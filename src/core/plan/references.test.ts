import { describe, expect, it } from "vitest";
import { phonebook } from "./references.ts";

const phases = ["0", "1", "2a", "2b", "2c", "3", "4-5"].map((id) => ({
  id,
  written: id === "4-5" ? "4.5" : id.toUpperCase(),
  name: id === "3" ? "Integration" : `Part ${id}`,
}));
const { list, leading, node } = phonebook(phases);
const last = phases.length - 1;

describe("what a cell says it waits for", () => {
  it.each([
    ["-", []],
    ["—", []],
    ["None", []],
    ["Nothing", []],
    ["N/A", []],
    ["", []],
    ["None (can start immediately)", []],
    ["нет", []],
    ["なし", []],
    ["1", ["1"]],
    ["Phase 1", ["1"]],
    ["**1**, `2A`", ["1", "2a"]],
    ["[Phase 2A](#phase-2a)", ["2a"]],
    ["2B, 1", ["1", "2b"]],
    ["1 & 2A", ["1", "2a"]],
    ["Phase 1 and Phase 2B", ["1", "2b"]],
    ["1; 2A / 2B", ["1", "2a", "2b"]],
    ["2A/2B/2C", ["2a", "2b", "2c"]],
    ["2A–2C", ["2a", "2b", "2c"]],
    ["2A-C", ["2a", "2b", "2c"]],
    ["1-3", ["1", "2a", "2b", "2c", "3"]],
    ["1 through 2B", ["1", "2a", "2b"]],
    ["Phases 0–1", ["0", "1"]],
    ["2", ["2a", "2b", "2c"]],
    ["Phase 1 (schema, types)", ["1"]],
    ["Phase 1 complete", ["1"]],
    ["Integration", ["3"]],
    ["all", ["0", "1", "2a", "2b", "2c", "3"]],
    ["All previous phases", ["0", "1", "2a", "2b", "2c", "3"]],
    ["все", ["0", "1", "2a", "2b", "2c", "3"]],
    ["Alle Phasen ✅", ["0", "1", "2a", "2b", "2c", "3"]],
  ])("%s", (text, ids) => {
    expect(list(text, last)).toEqual({ ids, unknown: [], unread: [] });
  });

  it("includes later ones in “all others”", () => {
    expect(list("2A + all others", 1).ids).toEqual(["0", "2a", "2b", "2c", "3", "4-5"]);
  });

  it("tells an id that is not there from words that are none", () => {
    expect(list("1, 9", last)).toEqual({ ids: ["1"], unknown: ["9"], unread: [] });
    expect(list("Phase 2Z", last).unknown).toEqual(["Phase 2Z"]);
    expect(list("the lawyers", last)).toEqual({ ids: [], unknown: [], unread: ["the lawyers"] });
  });

  it("does not take a phase that only runs beside for one that comes before", () => {
    expect(list("can run in parallel with Phase 1", last).ids).toEqual([]);
  });
});

it("two numbers are never joined into a third", () => {
  const many = phonebook(
    Array.from({ length: 20 }, (_, index) => ({
      id: String(index + 1),
      written: String(index + 1),
      name: `Part ${index + 1}`,
    })),
  );
  for (const text of ["1, 2", "1 & 2", "1 + 2", "1; 2", "1 and 2", "1/2", "1 / 2", "1、2"]) {
    expect(many.list(text, 19), text).toEqual({ ids: ["1", "2"], unknown: [], unread: [] });
  }
  expect(many.list("1-2", 19).ids).toEqual(["1", "2"]);
  expect(many.list("12", 19).ids).toEqual(["12"]);
});

it("a sentence is read up to where the references end", () => {
  expect(leading(" Phase 1 and 2A before anything else")).toMatchObject({ ids: ["1", "2a"] });
  expect(leading(" Node 20").ids).toEqual([]);
});

it("a node of a drawing is a phase and nothing else", () => {
  expect(node("Phase 1: Part one")).toEqual(["1"]);
  expect(node("[2A, 2B]")).toEqual(["2a", "2b"]);
  expect(node("Database")).toBeUndefined();
});
