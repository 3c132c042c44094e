/**
 * Documents with phases: rows and sections brought together into a draft. The table says who there
 * is, the sections say what to do; either may be missing.
 */
import { type Result, succeed } from "../core/failure.ts";
import type { Hint, PhaseDraft, PlanDraft } from "../core/plan/draft.ts";
import type { Said } from "../core/plan/plan.ts";
import { type Legend, readLegend } from "../core/plan/status.ts";
import { type Candidate, candidatesIn, rangeOf, sameName } from "./candidates.ts";
import { chooseSections } from "./choose-sections.ts";
import type { Document, Range } from "./document.ts";
import { boxesOf, doubtsOf, type Input } from "./format.ts";
import { fenceHints, lineHint } from "./hints.ts";
import { overviewRows, type Row } from "./overview.ts";
import { headingMark } from "./phase-heading.ts";
import { readSection } from "./section.ts";

export function readPhases(input: Input, format: PlanDraft["format"]): Result<PlanDraft> {
  const parsed = input.documents();
  if (!parsed.ok) return parsed;
  const documents = parsed.value;
  const { rows, sections, groups } = findPhases(documents);
  return succeed(draftOf(documents, { rows, sections, groups, format }));
}

export function draftOf(
  documents: readonly Document[],
  found: {
    rows: readonly Row[];
    sections: readonly Candidate[];
    groups: readonly Candidate[];
    format: PlanDraft["format"];
  },
): PlanDraft {
  const { rows, sections, groups, format } = found;
  const legend = legendOf(documents);
  const phases: PhaseDraft[] = [];
  const owners: { document: Document; from: number; to: number; phase: number }[] = [];
  const hints: Hint[] = [];
  const unread = [...doubtsOf(documents)];
  const taken = new Set<Candidate>();
  const byId = new Map<string, Candidate[]>();
  for (const section of sections) {
    const list = byId.get(section.id);
    if (list) list.push(section);
    else byId.set(section.id, [section]);
  }
  const add = (row: Row | undefined, section: Candidate | undefined): void => {
    const index = phases.length;
    if (section) {
      taken.add(section);
      const range = rangeOf(section);
      owners.push({ document: section.document, ...range, phase: index });
    }
    const { draft, hints: found } = phaseDraft(row, section);
    phases.push(draft);
    hints.push(...found.map((hint) => ({ ...hint, phase: index })));
    if (row?.note) unread.push({ message: row.note, place: row.document.place(row.range) });
  };
  const later = new Map<string, Row[]>();
  const firstRow = new Map<string, Row>();
  const main = rows.filter((row) => {
    const first = row.id === "" ? undefined : (firstRow.get(row.id) ?? row);
    if (first === row) firstRow.set(row.id, row);
    // A second table about the same phases; two tables of different phases stay two.
    const isAgain =
      first !== undefined &&
      first.table !== row.table &&
      (first.name === "" ||
        row.name === "" ||
        sameName(first.name, row.name) ||
        first.nickname ||
        row.nickname);
    if (isAgain) later.set(row.id, [...(later.get(row.id) ?? []), row]);
    return !isAgain;
  });
  const initials = new Map(
    sections.map((each) => [`${each.title.kind[0] ?? ""}${each.id}`, each.id]),
  );
  const nameless = sections.filter(({ title }) => title.written === "");
  const free = (list: readonly Candidate[] = []): Candidate | undefined =>
    list.find((each) => !taken.has(each));
  /** By its id; "P1" is the section "Phase 1"; else by its name, if one of the two has no id. */
  const sectionOf = ({ id, name, written }: Row): Candidate | undefined =>
    (id === "" ? undefined : (free(byId.get(id)) ?? free(byId.get(initials.get(id) ?? "")))) ??
    (written === "" ? sections : nameless).find(
      (each) => !taken.has(each) && sameName(each.title.name, name),
    );
  for (const row of main) {
    const again = later.get(row.id) ?? [];
    const section = sectionOf(row);
    add(row, section);
    const last = phases.at(-1);
    if (last && again.length > 0) phases[phases.length - 1] = withStatements(last, again);
  }
  const named = phases.length;
  for (const section of sections) if (!taken.has(section)) add(undefined, section);
  const order = inPlace(named, phases, sections);
  hints.push(...outsideHints(documents, owners));
  // From the order in which they were found to the order in which they stand.
  const at = new Map(order.map((index, position) => [index, position]));
  const moved = <T extends { readonly phase?: number }>(each: T): T =>
    each.phase === undefined ? each : { ...each, phase: at.get(each.phase) ?? each.phase };
  return {
    format,
    phases: order.map((index) => phases[index] as PhaseDraft),
    groups: groups.map((group) => ({
      written: group.title.written,
      members: owners
        .filter(
          ({ document, from }) =>
            document === group.document && from > group.heading.from && from < rangeOf(group).to,
        )
        .map(({ phase }) => at.get(phase) ?? phase),
    })),
    boxes: boxesOf(documents, ownerOf(owners)).map(moved),
    hints: hints.map(moved),
    notation: { legend, words: {} },
    hasTable: rows.length > 0,
    unread,
    files: documents.map(({ file }) => file),
  };
}

/** A section that no row names stands before the next one that has a row. */
function inPlace(
  named: number,
  phases: readonly PhaseDraft[],
  sections: readonly Candidate[],
): number[] {
  const order = Array.from({ length: named }, (_, index) => index);
  if (named === phases.length) return order;
  if (named === 0) return phases.map((_, index) => index);
  const bySection = new Map(
    phases.map((phase, index) => [`${phase.section?.file} ${phase.section?.from}`, index]),
  );
  const indices = sections.flatMap(
    (section) => bySection.get(`${section.document.file} ${section.heading.from}`) ?? [],
  );
  const before = new Map<number | undefined, number[]>();
  let next: number | undefined;
  for (const index of indices.reverse()) {
    if (index < named) next = index;
    else before.set(next, [index, ...(before.get(next) ?? [])]);
  }
  return [
    ...order.flatMap((index) => [...(before.get(index) ?? []), index]),
    ...(before.get(undefined) ?? []),
  ];
}

/** Which phase a box stands in; sections do not overlap, so the last that begins before it. */
function ownerOf(
  owners: readonly { document: Document; from: number; to: number; phase: number }[],
): (document: Document, box: Range) => number | undefined {
  const sorted = new Map<Document, { from: number; to: number; phase: number }[]>();
  for (const owner of owners) {
    const list = sorted.get(owner.document);
    if (list) list.push(owner);
    else sorted.set(owner.document, [owner]);
  }
  for (const list of sorted.values()) list.sort((a, b) => a.from - b.from);
  return (document, box) => {
    const list = sorted.get(document) ?? [];
    let low = 0;
    let high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((list[middle]?.from ?? 0) <= box.from) low = middle + 1;
      else high = middle;
    }
    const owner = list[low - 1];
    return owner && box.from < owner.to ? owner.phase : undefined;
  };
}

function withStatements(phase: PhaseDraft, rows: readonly Row[]): PhaseDraft {
  const more = (field: "dependsOn" | "parallelWith" | "estimate" | "status" | "blocks"): Said[] =>
    rows.flatMap((row) => row.said[field] ?? []);
  return {
    ...phase,
    dependsOn: [...phase.dependsOn, ...more("dependsOn")],
    parallelWith: [...phase.parallelWith, ...more("parallelWith")],
    estimate: [...phase.estimate, ...more("estimate")],
    status: [...phase.status, ...more("status")],
  };
}

function phaseDraft(
  row: Row | undefined,
  section: Candidate | undefined,
): { draft: PhaseDraft; hints: Omit<Hint, "phase">[] } {
  const read =
    section &&
    readSection(section.document, section.document.blocks.slice(section.index + 1, section.end));
  const document = section?.document ?? row?.document;
  const heading = section && headingStatus(section);
  const text = section ? section.document.raw(rangeOf(section)) : "";
  const place = section ? section.document.place(section.heading) : row?.document.place(row.range);
  if (!document || !place) throw new Error("a phase without row and section");
  const one = (field: keyof Row["said"]): Said[] => (row?.said[field] ? [row.said[field]] : []);
  return {
    draft: {
      written: row?.written || section?.title.written || "",
      name:
        (row?.nickname ? section?.title.name || row.name : row?.name) || section?.title.name || "",
      place,
      ...(row ? { row: row.document.place(row.range) } : {}),
      ...(section ? { section: section.document.place(rangeOf(section)) } : {}),
      dependsOn: [...one("dependsOn"), ...(read?.dependsOn ?? [])],
      blocks: [...one("blocks"), ...(read?.blocks ?? [])],
      parallelWith: [...one("parallelWith"), ...(read?.parallelWith ?? [])],
      estimate: [...one("estimate"), ...(read?.estimate ?? [])],
      status: [...one("status"), ...(read?.status ?? []), ...(heading ? [heading] : [])],
      tasks: read?.tasks ?? [],
      definitionOfDone: read?.definitionOfDone ?? [],
      checkpoints: read?.checkpoints ?? [],
      files: read?.files ?? [],
      commands: read?.commands ?? [],
      text,
      hasWork: read?.hasWork ?? false,
      ...(row?.struck || (section && section.document.isStruck(contentOf(section)))
        ? { struck: true }
        : {}),
    },
    hints: read?.hints ?? [],
  };
}

const contentOf = ({ document, heading }: Candidate): Range => {
  const front = /^#*\s*/.exec(document.raw(heading))?.[0].length ?? 0;
  return { from: heading.from + front, to: heading.to };
};

function headingStatus({ document, heading }: Candidate): Said | undefined {
  const text = document.plain(heading.content);
  const mark = headingMark(text);
  if (!mark) return undefined;
  const raw = document.raw(heading);
  const at = text.startsWith(mark.text) ? raw.indexOf(mark.text) : raw.lastIndexOf(mark.text);
  const value = /^\[.\]$/u.test(mark.text)
    ? mark.text
    : mark.text.replace(/^[([（]|[)\]）]$/gu, "");
  // With markup in the middle of it, it is read but cannot be written.
  if (at < 0) {
    return { text: value, place: document.place(heading), where: "heading", fixed: true };
  }
  const from = heading.from + at + Math.max(0, mark.text.indexOf(value));
  return {
    text: value,
    place: document.place({ from, to: from + value.length }),
    where: "heading",
  };
}

interface Found {
  readonly rows: readonly Row[];
  readonly sections: readonly Candidate[];
  readonly groups: readonly Candidate[];
}

const found = new WeakMap<readonly Document[], Found>();

/** Asked for by detection and by reading: found once. */
export function findPhases(documents: readonly Document[]): Found {
  const known = found.get(documents);
  if (known) return known;
  const candidates = documents.flatMap(candidatesIn);
  const rows = overviewRows(documents, candidates);
  const result = { rows, ...chooseSections(candidates, rows) };
  found.set(documents, result);
  return result;
}

function legendOf(documents: readonly Document[]): Legend {
  const legend = new Map<string, ReturnType<typeof readLegend>[number][1]>();
  const learn = (text: string): void => {
    for (const [mark, status] of readLegend(text)) if (!legend.has(mark)) legend.set(mark, status);
  };
  for (const document of documents) {
    for (const block of document.blocks) {
      if (block.kind === "paragraph" || block.kind === "item") {
        const range = block.kind === "item" ? block.lead : block;
        if (range.to - range.from > 600) continue;
        const text = document.plain(range);
        if (
          /legend|\bkey\b|状态|图例|凡例|легенд|leyenda|legende|légende|symbols?/iu.test(
            text.slice(0, 40),
          ) ||
          /^\p{Extended_Pictographic}.*[|,·/].*\p{Extended_Pictographic}/u.test(text)
        )
          learn(text);
      } else if (block.kind === "table" && block.header.length === 2) {
        const marks = block.rows.filter(
          (row) =>
            row.cells[0] &&
            /^\p{Extended_Pictographic}\uFE0F?$/u.test(document.plain(row.cells[0])),
        );
        if (marks.length >= 2)
          learn(
            marks.map((row) => row.cells.map((cell) => document.plain(cell)).join(" ")).join(" | "),
          );
      }
    }
  }
  return legend;
}

/** Sentences and drawings outside of all phases. */
function outsideHints(
  documents: readonly Document[],
  owners: readonly { document: Document; from: number; to: number }[],
): Hint[] {
  return documents.flatMap((document) => {
    const mine = owners
      .filter((owner) => owner.document === document)
      .sort((a, b) => a.from - b.from);
    let next = 0;
    return document.blocks.flatMap((block): Hint[] => {
      while (next < mine.length && (mine[next]?.to ?? 0) <= block.from) next++;
      const owner = mine[next];
      if (owner && owner.from <= block.from && block.from < owner.to) return [];
      if (block.kind === "fence") return fenceHints(document, block);
      if (block.kind !== "paragraph" && block.kind !== "item") return [];
      const range = block.kind === "item" ? block.lead : block;
      return document.lines(range).flatMap((line) => lineHint(document, line) ?? []);
    });
  });
}
