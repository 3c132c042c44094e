/** What a format is: it recognises its documents, with a reason, and reads them into a draft. */
import type { Result } from "../core/failure.ts";
import type { PlanDraft } from "../core/plan/draft.ts";
import type { Item, PlanFormat } from "../core/plan/plan.ts";
import {
  type Block,
  type Document,
  itemOf,
  type ListItem,
  parseDocument,
  type Source,
} from "./document.ts";

export interface Input {
  readonly sources: readonly Source[];
  /** Parsed at most once, however many formats look. */
  documents(): Result<readonly Document[]>;
}

export interface Format {
  readonly name: PlanFormat;
  /** Why these files are of this format, in a few words; undefined: they are not. */
  detect(input: Input): string | undefined;
  read(input: Input): Result<PlanDraft>;
}

export function inputOf(sources: readonly Source[]): Input {
  let parsed: Result<readonly Document[]> | undefined;
  return {
    sources,
    documents: () => (parsed ??= parseAll(sources)),
  };
}

function parseAll(sources: readonly Source[]): Result<readonly Document[]> {
  const documents: Document[] = [];
  for (const source of sources) {
    const parsed = parseDocument(source);
    if (!parsed.ok) return parsed;
    documents.push(parsed.value);
  }
  return { ok: true, value: documents };
}

export const listItems = (blocks: readonly Block[]): ListItem[] =>
  blocks.filter((block): block is ListItem => block.kind === "item");

/** Every box of the documents, with the phase that `owner` gives it. */
export function boxesOf(
  documents: readonly Document[],
  owner: (document: Document, box: ListItem) => number | undefined,
): { item: Item; phase?: number }[] {
  return documents.flatMap((document) =>
    listItems(document.blocks)
      .filter((item) => item.box)
      .map((item) => {
        const phase = owner(document, item);
        return { item: itemOf(document, item), ...(phase === undefined ? {} : { phase }) };
      }),
  );
}

export const doubtsOf = (documents: readonly Document[]): PlanDraft["unread"] =>
  documents.flatMap((document) =>
    document.doubts.map(({ message, at }) => ({
      message,
      place: document.place({ from: at, to: at }),
    })),
  );

/** Nothing of its own: our marks, or what the document shows elsewhere. */
const plainNotation: PlanDraft["notation"] = { legend: new Map(), words: {} };

/** What a draft has that no table and no legend adds to. */
export const plainDraft = (
  documents: readonly Document[],
): Pick<PlanDraft, "groups" | "notation" | "hasTable" | "unread" | "files"> => ({
  groups: [],
  notation: plainNotation,
  hasTable: false,
  unread: doubtsOf(documents),
  files: documents.map(({ file }) => file),
});
