import * as path from "node:path";
import { describe, expect, it } from "vitest";
import { allBugs } from "./mutants.ts";
import { plantedSource, repositoryRoot } from "./rig.ts";

describe("a planted bug", () => {
  it.each(allBugs().map((bug) => [bug.name, bug] as const))(
    "%s has a place in the source",
    (_, { plant }) => {
      const source = plantedSource(path.join(repositoryRoot(), plant.file), plant);
      expect(source).toContain(plant.replace);
    },
  );
});
