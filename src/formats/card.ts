/** One file, one phase: what Backlog.md tasks, stories and our own task files have in common. */
import type { PhaseDraft, PlanDraft } from "../core/plan/draft.ts";
import type { PlanFormat, Said } from "../core/plan/plan.ts";
import type { Block, Document } from "./document.ts";
import { boxesOf, plainDraft } from "./format.ts";
import { readSection, type Section } from "./section.ts";

export interface Card {
  readonly document: Document;
  readonly written: string;
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly dependsOn: readonly Said[];
  readonly status: readonly Said[];
  readonly estimate: readonly Said[];
  readonly tasks: Section["tasks"];
  readonly definitionOfDone: Section["definitionOfDone"];
  readonly section: Section;
}

/** All of the file below its title. */
export function sectionOf(document: Document): Section {
  const title = document.blocks.findIndex((block) => block.kind === "heading");
  return readSection(
    document,
    document.blocks.filter((_, index) => index !== title),
  );
}

/** The blocks under the first heading that passes, up to the next of its level. */
export function under(document: Document, wanted: (heading: string) => boolean): Block[] {
  const start = document.blocks.findIndex(
    (block) => block.kind === "heading" && wanted(document.plain(block.content)),
  );
  const heading = document.blocks[start];
  if (heading?.kind !== "heading") return [];
  const length = document.blocks
    .slice(start + 1)
    .findIndex((block) => block.kind === "heading" && block.level <= heading.level);
  return document.blocks.slice(start + 1, length < 0 ? undefined : start + 1 + length);
}

export function cardsDraft(
  format: PlanFormat,
  documents: readonly Document[],
  cards: readonly Card[],
): PlanDraft {
  const phases = cards.map((card): PhaseDraft => {
    const whole = { from: 0, to: card.document.text.length };
    return {
      written: card.written,
      name: card.name,
      ...(card.aliases ? { aliases: card.aliases } : {}),
      place: card.document.place({ from: 0, to: 0 }),
      section: card.document.place(whole),
      dependsOn: card.dependsOn,
      blocks: card.section.blocks,
      parallelWith: [],
      estimate: card.estimate,
      status: card.status,
      tasks: card.tasks,
      definitionOfDone: card.definitionOfDone,
      checkpoints: card.section.checkpoints,
      files: card.section.files,
      commands: card.section.commands,
      text: card.document.text,
      hasWork: true,
    };
  });
  return {
    format,
    phases,
    boxes: boxesOf(documents, (document) => {
      const at = cards.findIndex((card) => card.document === document);
      return at < 0 ? undefined : at;
    }),
    hints: [],
    ...plainDraft(documents),
  };
}
