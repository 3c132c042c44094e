/** BMAD stories: a file is a phase; acceptance criteria are its definition of done. */
import { succeed } from "../core/failure.ts";
import type { Item, Said } from "../core/plan/plan.ts";
import { type Card, cardsDraft, sectionOf, under } from "./card.ts";
import type { Document } from "./document.ts";
import type { Format } from "./format.ts";
import { cleanName } from "./phase-heading.ts";
import { readSection } from "./section.ts";

const title = /^(?:story|epic)\s*#?((?:[A-Z]+[.-])?\d+(?:[.-]\d+)*)\s*(?:[:：.–—-]\s*|\s+)(.*)$/iu;

export const story: Format = {
  name: "story",
  detect(input) {
    const parsed = input.documents();
    if (!parsed.ok || parsed.value.length === 0) return undefined;
    const told = parsed.value.map(isStory);
    return told.every(Boolean)
      ? `${told.length === 1 ? "a story" : `${told.length} stories`} with acceptance criteria and tasks`
      : undefined;
  },
  read(input) {
    const parsed = input.documents();
    if (!parsed.ok) return parsed;
    const cards = parsed.value
      .map(cardOf)
      .sort((a, b) => a.written.localeCompare(b.written, "en", { numeric: true }));
    const draft = cardsDraft("story", parsed.value, cards);
    const alone = parsed.value.length === 1;
    return succeed({
      ...draft,
      notation: {
        ...draft.notation,
        words: { pending: "ready-for-dev", running: "in-progress", complete: "done" },
      },
      phases: draft.phases.map((phase) => ({
        ...phase,
        dependsOn: phase.dependsOn.map((said) =>
          alone ? { ...said, loose: true as const } : said,
        ),
      })),
    });
  },
};

const headingsOf = (document: Document): string[] =>
  document.blocks.flatMap((block) =>
    block.kind === "heading" ? [document.plain(block.content)] : [],
  );

function isStory(document: Document): boolean {
  const [first = "", ...others] = headingsOf(document);
  const named = title.test(first) && /^story/iu.test(first);
  const criteria =
    [first, ...others].some((text) => /^acceptance criteria/iu.test(text)) ||
    /^\*\*acceptance criteria/imu.test(document.text);
  const tasks = others.some((text) => /^tasks\s*(?:\/|and|&)\s*sub-?tasks/iu.test(text));
  const told = others.some((text) => /^(?:user )?story$/iu.test(text));
  return (
    (named && (criteria || tasks || told)) ||
    (tasks && (criteria || told)) ||
    /\.story\.md$/iu.test(document.file)
  );
}

function cardOf(document: Document): Card {
  const heading = headingsOf(document)[0] ?? "";
  const match = title.exec(heading);
  const fromFile = /(?:^|\/)(?:story-)?(\d+[.-]\d+(?:[.-]\d+)*)/iu.exec(document.file)?.[1];
  const section = sectionOf(document);
  const criteria = readSection(
    document,
    under(document, (text) => /^acceptance criteria/iu.test(text)),
  );
  const tasks = readSection(
    document,
    under(document, (text) => /^tasks\b/iu.test(text)),
  );
  const written = (match?.[1] ?? fromFile ?? "").replaceAll("-", ".");
  return {
    document,
    written,
    name: cleanName(match?.[2] ?? heading),
    aliases: [`story ${written}`, `story-${written}`],
    dependsOn: section.dependsOn,
    status: [...statusUnder(document), ...section.status],
    estimate: section.estimate,
    tasks: tasks.tasks.length > 0 ? tasks.tasks : section.tasks,
    definitionOfDone: together(criteria.tasks, section.definitionOfDone),
    section,
  };
}

/** The criteria, and what else is called a definition of done. */
const together = (criteria: readonly Item[], done: readonly Item[]): Item[] => [
  ...criteria,
  ...done.filter(
    (item) =>
      (criteria.length === 0 || item.box) &&
      !criteria.some(({ place }) => place.from === item.place.from),
  ),
];

/** `## Status` and a word under it, or `## Status: done`. */
function statusUnder(document: Document): Said[] {
  for (const block of document.blocks) {
    if (block.kind !== "heading") continue;
    const inline = /^status\s*[:：]\s*(.+)$/iu.exec(document.plain(block.content));
    if (inline?.[1]) {
      const at = document.raw(block).lastIndexOf(inline[1]);
      const place = { from: block.from + at, to: block.from + at + inline[1].length };
      const said = { text: inline[1], where: "section" } as const;
      return at < 0
        ? [{ ...said, place: document.place(block), fixed: true }]
        : [{ ...said, place: document.place(place) }];
    }
  }
  const [first] = under(document, (text) => /^status$/iu.test(text));
  const [line] = first?.kind === "paragraph" ? document.lines(first) : [];
  return line ? [{ text: document.raw(line), place: document.place(line), where: "section" }] : [];
}
