/** Plans with an overview table of phases, a section for each, or both; also over several files. */
import { phaseWord } from "../core/plan/words.ts";
import type { Format } from "./format.ts";
import { findPhases, readPhases } from "./phases.ts";

export const superplan: Format = {
  name: "superplan",
  detect(input) {
    const parsed = input.documents();
    if (!parsed.ok) return undefined;
    const { rows, sections } = findPhases(parsed.value);
    if (rows[0]) return `a table of phases (line ${rows[0].document.place(rows[0].table).line})`;
    const phases = sections.filter(({ title }) => title.kind !== "");
    const [first] = phases;
    if (!first) return undefined;
    return phases.length >= 2 || phaseWord.test(first.title.kind)
      ? `sections of phases (line ${first.document.place(first.heading).line})`
      : undefined;
  },
  read: (input) => readPhases(input, "superplan"),
};
