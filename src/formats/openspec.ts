/** OpenSpec's `tasks.md`: phases are `## 1. …`, tasks `- [ ] 1.1 …`. */
import { succeed } from "../core/failure.ts";
import { type Candidate, candidatesIn } from "./candidates.ts";
import { type Document, type ListItem } from "./document.ts";
import { type Format, listItems } from "./format.ts";
import { draftOf } from "./phases.ts";

export const openspec: Format = {
  name: "openspec",
  detect(input) {
    const parsed = input.documents();
    const [document, ...others] = parsed.ok ? parsed.value : [];
    if (!document || others.length > 0) return undefined;
    const numbered = sectionsOf(document);
    const [first] = numbered;
    const tasks = numbered.filter((section) =>
      boxes(section).some((box) =>
        numberOf(document, box)?.startsWith(`${section.title.written}.`),
      ),
    );
    if (first && tasks.length * 2 >= numbered.length)
      return `sections "${first.title.written}. …" with tasks ${first.title.written}.1 … (line ${document.place(first.heading).line})`;
    if (
      first &&
      (/(?:^|\/)openspec\/changes\//u.test(document.file) || /\bopenspec\b/iu.test(document.text))
    )
      return "numbered sections of an OpenSpec change";
    return undefined;
  },
  read(input) {
    const parsed = input.documents();
    if (!parsed.ok) return parsed;
    const sections = parsed.value.flatMap(sectionsOf);
    const draft = draftOf(parsed.value, { rows: [], sections, groups: [], format: "openspec" });
    return succeed({
      ...draft,
      // "5. Verification" is a phase like the others: its boxes are its tasks.
      phases: draft.phases.map((phase) => ({
        ...phase,
        dependsOn: phase.dependsOn.filter((said) => !said.loose),
      })),
    });
  },
};

const numberOf = (document: Document, item: ListItem): string | undefined =>
  /^\d+(?:\.\d+)+/u.exec(document.plain(item.lead))?.[0];

function sectionsOf(document: Document): Candidate[] {
  const numbered = candidatesIn(document).filter(
    ({ title }) => title.kind === "" && /^\d+$/u.test(title.written),
  );
  const level = Math.min(...numbered.map(({ heading }) => heading.level));
  return numbered.filter(
    ({ heading, ...each }) => heading.level === level && boxes({ heading, ...each }).length > 0,
  );
}

const boxes = ({ document, index, end }: Candidate): ListItem[] =>
  listItems(document.blocks.slice(index, end)).filter((item) => item.box);
