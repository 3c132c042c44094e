import { expect, it } from "vitest";
import { normaliseId } from "./ids.ts";

it.each([
  ["Phase 2-A", "2a"],
  ["2A", "2a"],
  ["phase 2 a", "2a"],
  ["**Phase 3**", "3"],
  ["4.5", "4-5"],
  ["Phase 4.5.1", "4-5-1"],
  ["1.1", "1-1"],
  ["11", "11"],
  ["WU-01", "wu01"],
  ["F1", "f1"],
  ["Étape 2", "2"],
  ["Этап 3", "3"],
  ["阶段 2", "2"],
  ["Straße", "strae"],
  ["第一阶段", ""],
  ["—", ""],
])("files %s under %s", (written, id) => {
  expect(normaliseId(written)).toBe(id);
});

it("cuts what is too long for a file name, and keeps two such apart", () => {
  const [one, two] = [normaliseId(`${"a".repeat(60)}1`), normaliseId(`${"a".repeat(60)}2`)];
  expect(one).toHaveLength(48);
  expect(two).toHaveLength(48);
  expect(one).not.toBe(two);
});
