/**
 * Kiro's `tasks.md`: a numbered top-level box is a phase, the boxes in it (nested, or numbered 1.1
 * beside it) are its tasks. A phase without any is its own only task.
 */
import { type Result, succeed } from "../core/failure.ts";
import type { PhaseDraft, PlanDraft } from "../core/plan/draft.ts";
import type { Item, Said } from "../core/plan/plan.ts";
import { phaseWord } from "../core/plan/words.ts";
import { commandIn } from "./commands.ts";
import { type Block, type Document, itemOf, type ListItem } from "./document.ts";
import { boxesOf, type Format, listItems, plainDraft } from "./format.ts";
import { fenceHints, lineHint } from "./hints.ts";
import { cleanName, readPhaseName } from "./phase-heading.ts";

const numbered = /^(?:Task\s+)?(\d+(?:\.\d+)*)(?:[.:)]\s*|\s+)(\S.*)$/su;
const top = /^(?:Task\s+)?\d+(?:[.:)]|\s)/u;

/** A box that is a phase: its id and its name; undefined: it is work in one. */
type ReadUnit = (text: string) => { written: string; name: string } | undefined;

const kiroUnit: ReadUnit = (text) => {
  const match = numbered.exec(text);
  if (!match || !top.test(text) || (match[1] ?? "").includes(".")) return undefined;
  return { written: match[1] ?? "", name: cleanName(match[2] ?? "") };
};

/** "- [x] Phase 1 — …": a list of phases that are boxes. */
export const phaseUnit: ReadUnit = (text) => {
  const title = readPhaseName(text);
  return title && phaseWord.test(title.kind) && !title.several ? title : undefined;
};

export const kiro: Format = {
  name: "kiro",
  detect(input) {
    const parsed = input.documents();
    const [document, ...others] = parsed.ok ? parsed.value : [];
    if (!document || others.length > 0) return undefined;
    const units = unitsOf(document, kiroUnit);
    const [first] = units;
    if (!first) return undefined;
    const boxes = listItems(document.blocks).filter((item) => item.box);
    const owned = units.reduce((sum, unit) => sum + 1 + unit.children.length, 0);
    const signs =
      /_(?:Requirements?|Depends)\s*:|_要件|_需求/u.test(document.text) ||
      /(?:^|\/)\.kiro\/specs\//u.test(document.file);
    if (!signs && (units.length < 2 || owned * 2 < boxes.length)) return undefined;
    return `numbered boxes "${first.written}. …"${signs ? " with their requirements" : ""} (line ${document.place(first.item).line})`;
  },
  read(input): Result<PlanDraft> {
    const parsed = input.documents();
    return parsed.ok ? succeed(boxedPhases(parsed.value, kiroUnit, "kiro")) : parsed;
  },
};

export function boxedPhases(
  documents: readonly Document[],
  readUnit: ReadUnit,
  format: PlanDraft["format"],
): PlanDraft {
  const [document] = documents;
  const units = document ? unitsOf(document, readUnit) : [];
  const phases = document ? units.map((unit) => phaseOf(document, unit)) : [];
  return {
    format,
    phases,
    boxes: boxesOf(documents, (_, box) => owner(units, box)),
    hints: document ? hintsOf(document, units) : [],
    ...plainDraft(documents),
  };
}

interface Unit {
  readonly written: string;
  readonly name: string;
  readonly item: ListItem;
  readonly children: readonly ListItem[];
  readonly from: number;
  readonly to: number;
}

/** Top-level numbered boxes with what follows them up to the next. */
function unitsOf(document: Document, readUnit: ReadUnit): Unit[] {
  const units: {
    written: string;
    name: string;
    item: ListItem;
    children: ListItem[];
    from: number;
    to: number;
  }[] = [];
  for (const block of document.blocks) {
    const last = units.at(-1);
    if (block.kind === "heading") {
      // What stands under the next heading belongs to nobody.
      if (last && last.to === Number.MAX_SAFE_INTEGER) last.to = block.from;
      continue;
    }
    if (block.kind !== "item") continue;
    const text = document.plain(block.lead);
    const unit = block.depth === 0 && block.box ? readUnit(text) : undefined;
    if (unit) {
      if (last && last.to === Number.MAX_SAFE_INTEGER) last.to = block.from;
      units.push({
        written: unit.written,
        name: unit.name,
        item: block,
        children: [],
        from: block.from,
        to: Number.MAX_SAFE_INTEGER,
      });
    } else if (last && block.from < last.to) {
      const beside =
        block.depth === 0 && !text.replace(/^Task\s+/u, "").startsWith(`${last.written}.`);
      if (beside) last.to = Math.min(last.to, block.from);
      else if (block.box) last.children.push(block);
    }
  }
  return units.map((unit) => ({ ...unit, to: Math.min(unit.to, document.text.length) }));
}

const owner = (units: readonly Unit[], box: ListItem): number | undefined => {
  const at = units.findIndex((unit) => unit.from <= box.from && box.from < unit.to);
  return at < 0 ? undefined : at;
};

function phaseOf(document: Document, unit: Unit): PhaseDraft {
  const own = itemOf(document, unit.item);
  const children = unit.children.map((child) => itemOf(document, child));
  const plain = numberedLines(document, unit);
  const isCheckpoint = /^\W*(?:final )?checkpoint\b|^检查点|^チェックポイント/iu.test(unit.name);
  const work = children.length > 0 ? children : plain.length > 0 ? plain : [own];
  const mark = unit.item.box ? document.raw(unit.item.box) : " ";
  // An open box over ticked ones says less than they do.
  const says = mark.trim() !== "" || children.length === 0;
  const status: Said[] =
    unit.item.box && says
      ? [
          {
            text: `[${mark}]`,
            place: document.place({ from: unit.item.box.from - 1, to: unit.item.box.to + 1 }),
            where: "box",
            // The phase's own box is what is written.
            fixed: true,
          },
        ]
      : [];
  const range = { from: unit.from, to: unit.to };
  return {
    written: unit.written,
    name: unit.name,
    place: document.place(unit.item),
    section: document.place(range),
    ...(unit.item.box ? { box: document.place(unit.item.box) } : {}),
    dependsOn: dependsLines(document, unit),
    blocks: [],
    parallelWith: [],
    estimate: [],
    status,
    tasks: isCheckpoint && children.length === 0 ? [] : work,
    definitionOfDone: [],
    checkpoints: isCheckpoint && children.length === 0 ? [own] : [],
    files: [],
    commands: inside(document, unit).flatMap((block) =>
      block.kind === "fence" ? (commandIn(document, block) ?? []) : [],
    ),
    text: document.raw(range),
    hasWork: true,
  };
}

/** Sub-tasks that are numbered and have no boxes. */
function numberedLines(document: Document, unit: Unit): Item[] {
  return inside(document, unit).flatMap((block) => {
    if (block.kind !== "item" || block.box || block.depth === 0) return [];
    const text = document.plain(block.lead);
    return text.startsWith(`${unit.written}.`) && /^\d+\.\d+/u.test(text)
      ? [{ text, done: false, place: document.place({ from: block.from, to: block.lead.to }) }]
      : [];
  });
}

const inside = (document: Document, unit: Unit): Block[] =>
  document.blocks.filter((block) => block.from >= unit.from && block.from < unit.to);

/** `_Depends: 1_`; a dependency of a sub-task on a sub-task is no matter between phases. */
function dependsLines(document: Document, unit: Unit): Said[] {
  return inside(document, unit).flatMap((block) => {
    if (block.kind !== "item" && block.kind !== "paragraph") return [];
    const range = block.kind === "item" ? block.lead : block;
    return document.lines(range).flatMap((line): Said[] => {
      const match = /^_?(?:Depends(?: on)?|Dependencies|Blocked by)\s*[:：]\s*(.+?)_?$/iu.exec(
        line.text,
      );
      const owned = block.kind === "paragraph" ? block.depth : block.depth;
      if (!match?.[1] || /\d\.\d/u.test(match[1]) || owned > 1) return [];
      return [{ text: match[1], place: document.place(line), where: "section" }];
    });
  });
}

function hintsOf(document: Document, units: readonly Unit[]): PlanDraft["hints"] {
  return document.blocks.flatMap((block) => {
    if (units.some((unit) => unit.from <= block.from && block.from < unit.to)) return [];
    if (block.kind === "fence") return /^json/i.test(block.info) ? [] : fenceHints(document, block);
    if (block.kind !== "item" && block.kind !== "paragraph") return [];
    const range = block.kind === "item" ? block.lead : block;
    return document
      .lines(range)
      .flatMap((line) => (/\b\d+\.\d+\b/u.test(line.text) ? [] : (lineHint(document, line) ?? [])));
  });
}
