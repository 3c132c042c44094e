/**
 * Anything with headings and boxes: the shallowest headings that hold boxes are the phases, in
 * document order. Without headings the whole document is one.
 */
import { type Result, succeed } from "../core/failure.ts";
import type { PlanDraft } from "../core/plan/draft.ts";
import { normaliseId } from "../core/plan/ids.ts";
import { fieldsOf } from "../core/plan/words.ts";
import { type Candidate } from "./candidates.ts";
import type { Document, Heading } from "./document.ts";
import { boxesOf, type Format, listItems, plainDraft } from "./format.ts";
import { boxedPhases, phaseUnit } from "./kiro.ts";
import { cleanName, readPhaseName } from "./phase-heading.ts";
import { draftOf, readPhases } from "./phases.ts";
import { readSection } from "./section.ts";

export const generic: Format = {
  name: "generic",
  detect: () => "headings and boxes",
  read(input): Result<PlanDraft> {
    const parsed = input.documents();
    if (!parsed.ok) return parsed;
    const documents = parsed.value;
    const boxed = boxedPhases(documents, phaseUnit, "generic");
    if (boxed.phases.length >= 2) return succeed(boxed);
    const sections = documents.flatMap(unitsOf);
    if (sections.length > 0) {
      return succeed(
        withLabels(draftOf(documents, { rows: [], sections, groups: [], format: "generic" })),
      );
    }
    const [document] = documents;
    if (document && listItems(document.blocks).some((item) => item.box))
      return succeed(onePhase(documents, document));
    return readPhases(input, "generic");
  },
};

/** A heading's own words are its id only when it has no number or label. */
const withLabels = (draft: PlanDraft): PlanDraft => ({
  ...draft,
  phases: draft.phases.map((phase) => ({ ...phase, name: phase.name || phase.written })),
});

interface Place {
  readonly heading: Heading;
  readonly index: number;
  readonly end: number;
  /** Boxes under it before any deeper heading that is a unit's own. */
  readonly own: number;
}

function unitsOf(document: Document): Candidate[] {
  const headings = document.blocks.flatMap((block, index) =>
    block.kind === "heading" && block.depth === 0 ? [{ heading: block, index }] : [],
  );
  const places = headings.map(({ heading, index }, at): Place => {
    const rest = headings.slice(at + 1);
    const end =
      rest.find((each) => each.heading.level <= heading.level)?.index ?? document.blocks.length;
    // Boxes under "Acceptance criteria" are those of the heading above it.
    const parts = rest.filter((each) => each.index < end);
    const foreign = parts.find((each) => !isPart(document, each.heading));
    const stop = foreign ? foreign.index : end;
    return { heading, index, end, own: boxesIn(document, index, stop) };
  });
  const holders = places.filter(({ heading, own }) => own > 0 && !isPart(document, heading));
  if (holders.length === 0) return listed(document, places);
  const deepest = holders.filter(({ heading }) => heading.level > 1);
  const level = Math.min(
    ...(deepest.length > 0 ? deepest : holders).map(({ heading }) => heading.level),
  );
  // The title of the document holds no unit of work, even if boxes stand right under it.
  const isTitle = (each: Place): boolean =>
    each.heading.level === 1 && each === places[0] && deepest.length > 0;
  const chosen = places.filter((each) => {
    if (isTitle(each)) return false;
    if (each.heading.level === level)
      return boxesIn(document, each.index, each.end) > 0 && !isPart(document, each.heading);
    // A deeper one that stands in none of them.
    return each.heading.level < level && each.own > 0 && !isPart(document, each.heading);
  });
  return chosen.map((each) => candidateOf(document, each));
}

function candidateOf(document: Document, { heading, index, end }: Place): Candidate {
  const text = document.plain(heading.content);
  const title = readPhaseName(text);
  const lettered = /^([A-Z])\)\s*(.+)$/u.exec(text);
  const label = title && !title.several && title.strong ? title : undefined;
  const written = label?.written || lettered?.[1] || cleanName(text);
  const name = label?.name || lettered?.[2] || cleanName(text);
  return {
    document,
    heading,
    index,
    end,
    id: normaliseId(written),
    title: { kind: "", written, name, strong: true, several: false },
  };
}

/**
 * A document without any boxes: headings that have a part called "Tasks"; or, if the title says
 * that it is a list of things to do, headings with lists.
 */
function listed(document: Document, places: readonly Place[]): Candidate[] {
  if (listItems(document.blocks).some((item) => item.box)) return [];
  const hasList = ({ index, end }: Place): boolean =>
    listItems(document.blocks.slice(index, end)).length > 0;
  const withTasks = places.filter((each) =>
    places.some(
      (part) =>
        part.index > each.index &&
        part.index < each.end &&
        part.heading.level === each.heading.level + 1 &&
        /^tasks$/iu.test(cleanName(document.plain(part.heading.content))) &&
        hasList(part),
    ),
  );
  if (withTasks.length >= 2) return withTasks.map((each) => candidateOf(document, each));
  const title = places[0] ? document.plain(places[0].heading.content) : "";
  if (!/^(?:to-?dos?|to do list|task list|backlog)\b/iu.test(title)) return [];
  return places
    .filter((each) => each.heading.level === 2 && hasList(each))
    .map((each) => candidateOf(document, each));
}

const partWords =
  /^(?:(?:[\p{L}]+ )?check ?list|deliverables|objectives|sub-?tasks|requirements|notes?|steps|(?:status )?legend)$/iu;

/** A part of what stands above it, not a unit of its own. */
const isPart = (document: Document, heading: Heading): boolean => {
  const text = document.plain(heading.content);
  return (
    heading.level > 1 &&
    (partWords.test(cleanName(text)) ||
      (fieldsOf(text).some(
        (field) => field === "done" || field === "tasks" || field === "checkpoint",
      ) &&
        !/^(?:to-?do|todos|work)$/iu.test(cleanName(text))))
  );
};

const boxesIn = (document: Document, from: number, to: number): number =>
  listItems(document.blocks.slice(from, to)).filter((item) => item.box).length;

function onePhase(documents: readonly Document[], document: Document): PlanDraft {
  const section = readSection(document, document.blocks);
  const heading = document.blocks.find((block): block is Heading => block.kind === "heading");
  const title = heading && readPhaseName(document.plain(heading.content));
  const whole = { from: 0, to: document.text.length };
  return {
    format: "generic",
    phases: [
      {
        written: title?.written ?? "",
        name:
          title?.name ||
          (heading
            ? cleanName(document.plain(heading.content))
            : (document.file.split("/").at(-1) ?? "").replace(/\.\w+$/u, "")),
        place: document.place(heading ?? { from: 0, to: 0 }),
        section: document.place(whole),
        ...section,
        text: document.text,
      },
    ],
    boxes: boxesOf(documents, (each) => (each === document ? 0 : undefined)),
    hints: [],
    ...plainDraft(documents),
  };
}
