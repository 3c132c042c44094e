/** Superpowers plans: phases are `### Task N: …`, their tasks the steps, as boxes or bold lines. */
import { succeed } from "../core/failure.ts";
import type { Said } from "../core/plan/plan.ts";
import { phaseWord } from "../core/plan/words.ts";
import { type Candidate, candidatesIn } from "./candidates.ts";
import type { Document } from "./document.ts";
import type { Format } from "./format.ts";
import { draftOf } from "./phases.ts";

export const superpowers: Format = {
  name: "superpowers",
  detect(input) {
    const parsed = input.documents();
    if (!parsed.ok) return undefined;
    const sections = parsed.value.flatMap(tasksOf);
    const [first] = sections;
    if (!first || isInsidePhases(parsed.value, sections)) return undefined;
    const text = parsed.value.map((document) => document.text).join("\n");
    const signed = /superpowers:|REQUIRED SUB-SKILL|For (?:Claude|agentic workers):/u.test(text);
    const stepped = sections.filter(({ document, index, end }) =>
      document.blocks
        .slice(index, end)
        .some(
          (block) =>
            block.kind !== "heading" &&
            /\*\*Step \d+\b|^\*\*Files:\*\*/mu.test(document.raw(block)),
        ),
    );
    if (!signed && stepped.length * 2 < sections.length) return undefined;
    return `sections "Task ${first.title.written}: …"${signed ? " and the note to its readers" : " with steps"} (line ${first.document.place(first.heading).line})`;
  },
  read(input) {
    const parsed = input.documents();
    if (!parsed.ok) return parsed;
    const documents = parsed.value;
    const draft = draftOf(documents, {
      rows: [],
      sections: documents.flatMap(tasksOf),
      groups: [],
      format: "superpowers",
    });
    const whole = documents.flatMap(documentStatus);
    return succeed({
      ...draft,
      // What a task consumes of another is said of code, not of order.
      hints: draft.hints.filter(({ phase }) => phase === undefined),
      phases: draft.phases.map((phase) => ({
        ...phase,
        // A step is a step, whatever stands above it.
        tasks: phase.tasks.length > 0 ? phase.tasks : phase.definitionOfDone,
        definitionOfDone: phase.tasks.length > 0 ? phase.definitionOfDone : [],
        status: phase.status.length > 0 ? phase.status : whole,
      })),
    });
  },
};

/** Tasks that are numbered anew in each phase are parts of the phases. */
function isInsidePhases(documents: readonly Document[], sections: readonly Candidate[]): boolean {
  const phases = documents
    .flatMap(candidatesIn)
    .filter(({ title }) => phaseWord.test(title.kind) && title.strong);
  const again = new Set(sections.map(({ id }) => id)).size < sections.length;
  return (
    again &&
    phases.some((phase) =>
      sections.some(
        (each) =>
          each.document === phase.document && each.index > phase.index && each.index < phase.end,
      ),
    )
  );
}

function tasksOf(document: Document): Candidate[] {
  const tasks = candidatesIn(document).filter(
    ({ title }) => /^task$/iu.test(title.kind) && title.strong,
  );
  const level = Math.min(...tasks.map(({ heading }) => heading.level));
  return tasks.filter(({ heading }) => heading.level === level);
}

/** A status in the front matter is one of the whole plan. */
export function documentStatus(document: Document): Said[] {
  if (!document.frontMatter) return [];
  const match = /^status:[ \t]*["']?([^"'\r\n#]+?)["']?[ \t]*$/mu.exec(
    document.raw(document.frontMatter),
  );
  if (!match?.[1]) return [];
  const from = document.frontMatter.from + match.index + match[0].indexOf(match[1]);
  return [
    {
      text: match[1],
      place: document.place({ from, to: from + match[1].length }),
      where: "document",
      fixed: true,
    },
  ];
}
