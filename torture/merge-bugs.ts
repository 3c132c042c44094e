/** Bugs planted in what reads files that git has merged. */
import type { Plant } from "./rig.ts";

export const mergeBugs: readonly {
  readonly name: string;
  readonly slow?: true;
  readonly plant: Plant;
}[] = [
  {
    name: "conflict-marks-read-over",
    plant: {
      file: "src/core/flow/state-file.ts",
      find: 'return mark === "<" || mark === ">";',
      replace: 'return mark === "<" && mark !== "<";',
    },
  },
  {
    name: "older-files-believed",
    slow: true,
    plant: {
      file: "src/core/flow/whereabouts.ts",
      find: 'if (facts.everRendered(file.path, file.text)) return "older";',
      replace: "",
    },
  },
  {
    name: "only-one-side-shown",
    slow: true,
    plant: {
      file: "src/core/flow/whereabouts.ts",
      find: "    ` B) theirs: ${placeIn({ path: file.path, text: sides.theirs })}`,\n",
      replace: "",
    },
  },
  {
    name: "merged-documents-not-asked",
    slow: true,
    plant: {
      file: "src/core/flow/opening.ts",
      find: 'return correction(state, check, chooseAmong) ?? { is: "go-on" };',
      replace: 'return { is: "go-on" };',
    },
  },
  {
    name: "conflicted-plan-read",
    slow: true,
    plant: {
      file: "src/formats/read-plan.ts",
      find: "const line = conflictLine(text);",
      replace: 'const line = text === "" ? conflictLine(text) : undefined;',
    },
  },
];
