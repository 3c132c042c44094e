/** Headings that may be those of phases, and how far each reaches. */
import { normaliseId } from "../core/plan/ids.ts";
import { type Field, fieldsOf, phaseWord } from "../core/plan/words.ts";
import type { Document, Heading, Range } from "./document.ts";
import { type PhaseName, readPhaseName } from "./phase-heading.ts";

/** A heading that may be a phase's, and all that belongs to it. */
export interface Candidate {
  readonly document: Document;
  readonly heading: Heading;
  readonly index: number;
  /** The first block after it. */
  readonly end: number;
  readonly title: PhaseName;
  /** The normalised id; of an id that leaves nothing, the letters themselves. */
  readonly id: string;
}

export const rangeOf = ({ document, heading, end }: Candidate): Range => ({
  from: heading.from,
  to: document.blocks[end]?.from ?? document.text.length,
});

export function candidatesIn(document: Document): Candidate[] {
  const headings = document.blocks.flatMap((block, index) =>
    block.kind === "heading" && block.depth === 0 ? [{ block, index }] : [],
  );
  const ends = endsOf(document, headings);
  // The title of the document is no phase of it.
  const [first] = headings;
  const hasTitle =
    first?.block.level === 1 &&
    headings.length > 1 &&
    !headings.slice(1).some(({ block }) => block.level === 1);
  return headings.flatMap(({ block, index }, at) => {
    if (at === 0 && hasTitle) return [];
    const title = readPhaseName(document.plain(block.content));
    if (!title || (title.several && !phaseWord.test(title.kind))) return [];
    const end = ends[at] ?? document.blocks.length;
    return [{ document, heading: block, index, end, title, id: keyOf(title.written) }];
  });
}

export const keyOf = (written: string): string =>
  normaliseId(written) || written.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** Headings such as "Tasks" that a flat document repeats at the level of its phases. */
function repeated(document: Document, headings: readonly Heading[]): Set<string> {
  const times = new Map<string, number>();
  for (const heading of headings) {
    const key = `${heading.level} ${document.plain(heading.content).toLowerCase()}`;
    times.set(key, (times.get(key) ?? 0) + 1);
  }
  return new Set([...times].filter(([, number]) => number > 1).map(([key]) => key));
}

/** A section ends at the next heading that is not below its own; one that is repeated goes on. */
function endsOf(
  document: Document,
  headings: readonly { readonly block: Heading; readonly index: number }[],
): number[] {
  const often = repeated(
    document,
    headings.map(({ block }) => block),
  );
  const last = document.blocks.length;
  const ends: number[] = [];
  /** By level: the next heading of it, and the next that begins something new. */
  const next = Array.from({ length: 7 }, () => ({ any: last, fresh: last }));
  for (let at = headings.length - 1; at >= 0; at--) {
    const { block, index } = headings[at] as { block: Heading; index: number };
    const { level } = block;
    ends[at] = Math.min(next[level]?.fresh ?? last, ...next.slice(1, level).map(({ any }) => any));
    const text = document.plain(block.content);
    const goesOn =
      often.has(`${level} ${text.toLowerCase()}`) &&
      fieldsOf(text).some((field) => sectionFields.has(field));
    next[level] = { any: index, fresh: goesOn ? (next[level]?.fresh ?? last) : index };
  }
  return ends;
}

const sectionFields: ReadonlySet<Field> = new Set([
  "tasks",
  "done",
  "checkpoint",
  "files",
  "dependsOn",
]);

export const isIn = (inner: Candidate, outer: Candidate): boolean =>
  inner.document === outer.document &&
  inner !== outer &&
  inner.index > outer.index &&
  inner.index < outer.end;

export const hasList = ({ document, index, end }: Candidate): boolean =>
  document.blocks.slice(index + 1, end).some((block) => block.kind === "item");

const boxSums = new WeakMap<Document, Uint32Array>();

/** Asked of every section many times: the boxes up to each block are counted once. */
export function boxesIn({
  document,
  index,
  end,
}: Pick<Candidate, "document" | "index" | "end">): number {
  let sums = boxSums.get(document);
  if (!sums) {
    sums = new Uint32Array(document.blocks.length + 1);
    for (const [at, block] of document.blocks.entries()) {
      sums[at + 1] = (sums[at] ?? 0) + (block.kind === "item" && block.box ? 1 : 0);
    }
    boxSums.set(document, sums);
  }
  return (sums[end] ?? 0) - (sums[index] ?? 0);
}

/** Names are compared by their letters and digits. */
export const nameKey = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

export const sameName = (a: string, b: string): boolean =>
  nameKey(a) !== "" && nameKey(a) === nameKey(b);

/** What `isIn` says of two, asked of many at once. */
export function nesting(all: readonly Candidate[]): {
  holds(each: Candidate): boolean;
  isHeld(each: Candidate): boolean;
} {
  const byDocument = new Map<Document, { starts: number[]; reach: number[] }>();
  for (const { document, index, end } of [...all].sort((a, b) => a.index - b.index)) {
    const list = byDocument.get(document) ?? { starts: [], reach: [] };
    list.starts.push(index);
    list.reach.push(Math.max(end, list.reach.at(-1) ?? 0));
    byDocument.set(document, list);
  }
  return {
    holds: ({ document, index, end }) => {
      const starts = byDocument.get(document)?.starts ?? [];
      return (starts[firstAfter(starts, index)] ?? Number.POSITIVE_INFINITY) < end;
    },
    isHeld: ({ document, index }) => {
      const { starts, reach } = byDocument.get(document) ?? { starts: [], reach: [] };
      return (reach[firstAfter(starts, index - 1) - 1] ?? 0) > index;
    },
  };
}

/** The first of some ascending numbers that is larger. */
function firstAfter(numbers: readonly number[], value: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
