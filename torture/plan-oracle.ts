/**
 * What must be true of a plan that was read and of one that was edited, found out without the
 * reader's own means: lines are counted again, bytes are compared as bytes, and boxes are those
 * that another Markdown parser finds.
 */
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";
import type { CompiledPlan } from "../src/core/plan/compile.ts";
import { applyEdits, type Edit, type PhaseChange, planEdits } from "../src/core/plan/edits.ts";
import type { Item, Phase, Place, Plan, SaidStatus } from "../src/core/plan/plan.ts";
import { parseDocument } from "../src/formats/document.ts";
import { readPlan, type Source } from "../src/formats/read-plan.ts";

/** `kind`: short and the same for the same bug, so that a document can be shrunk to it. */
export interface Problem {
  readonly kind: string;
  readonly said: string;
}

const problem = (kind: string, said: string): Problem => ({ kind, said });
const shown = (value: string): string =>
  JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value);

// ── positions ──────────────────────────────────────────────────────────────────────────────────

const isJson = (plan: Plan): boolean => plan.format === "task-master";

const itemsOf = (plan: Plan): Item[] => [
  ...plan.phases.flatMap((phase) => [
    ...phase.tasks,
    ...phase.definitionOfDone,
    ...phase.checkpoints,
  ]),
  ...plan.boxes.outsidePhases,
];

/** Every place is counted as an editor counts; every box is the mark between its brackets. */
export function checkPlaces(plan: Plan, sources: readonly Source[]): Problem | undefined {
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  const boxes = [
    ...itemsOf(plan).flatMap(({ box }) => box ?? []),
    ...plan.phases.flatMap(({ box }) => box ?? []),
  ];
  const places = [
    ...boxes,
    ...itemsOf(plan).map(({ place }) => place),
    ...plan.phases.flatMap((phase) => [
      phase.place,
      ...(phase.section ? [phase.section] : []),
      ...(phase.row ? [phase.row] : []),
    ]),
    ...plan.phases.flatMap(({ statuses }) => statuses.map(({ place }) => place)),
  ];
  for (const { file, from, to } of places) {
    const text = texts.get(file);
    if (text === undefined) return problem("place in no file", shown(file));
    if (!(from >= 0 && from <= to && to <= text.length))
      return problem("place outside its file", `${from}–${to} of ${text.length}`);
  }
  for (const [file, text] of texts) {
    const wrong = firstMiscounted(
      text,
      places.filter((place) => place.file === file),
    );
    if (wrong) return wrong;
  }
  for (const place of boxes) {
    const wrong = wrongBox(texts.get(place.file) ?? "", place, isJson(plan));
    if (wrong) return wrong;
  }
  return undefined;
}

/** One walk over the text, its lines ended by LF, CRLF or a CR alone. */
function firstMiscounted(text: string, places: readonly Place[]): Problem | undefined {
  const waiting = [...places].sort((a, b) => a.from - b.from);
  let next = 0;
  let line = 1;
  let column = 1;
  for (let at = 0; at <= text.length && next < waiting.length; at++) {
    for (let place = waiting[next]; place && place.from === at; place = waiting[++next]) {
      if (place.line !== line || place.column !== column) {
        return problem(
          "line and column",
          `offset ${at} is at ${line}:${column}, not at ${place.line}:${place.column}`,
        );
      }
    }
    const ends = text[at] === "\n" || (text[at] === "\r" && text[at + 1] !== "\n");
    line = ends ? line + 1 : line;
    column = ends ? 1 : column + 1;
  }
  return undefined;
}

/** Before the bracket there is nothing but indentation, quote marks and list markers. */
const beforeBox = /^\uFEFF?(?:[ \t>]|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*$/u;

function wrongBox(text: string, { from, to }: Place, json: boolean): Problem | undefined {
  const [open, mark, close] = [text[from - 1], text.slice(from, to), text[to]];
  if (json) {
    return open === '"' && close === '"' && !mark.includes("\n")
      ? undefined
      : problem("box in JSON", `is ${shown(text.slice(from - 1, to + 1))}`);
  }
  if (open !== "[" || close !== "]")
    return problem("box without brackets", `the box is ${shown(text.slice(from - 1, to + 1))}`);
  if (Array.from(mark).length !== 1)
    return problem(
      "box of several characters",
      `the box is ${shown(text.slice(from - 1, to + 1))}`,
    );
  const line =
    text
      .slice(0, from - 1)
      .split(/[\r\n]/u)
      .at(-1) ?? "";
  return beforeBox.test(line)
    ? undefined
    : problem("box in the middle of a line", `before it: ${shown(line)}`);
}

// ── edits ──────────────────────────────────────────────────────────────────────────────────────

export interface Edited {
  readonly edits: readonly Edit[];
  readonly sources: Source[];
  readonly compiled: CompiledPlan;
}

export const isProblem = (value: Problem | Edited): value is Problem => "kind" in value;

export const rawOf =
  (sources: readonly Source[]) =>
  ({ file, from, to }: Place): string =>
    sources.find((source) => source.file === file)?.text.slice(from, to) ?? "";

export const orderOf = (changes: readonly PhaseChange[]): string =>
  changes
    .map(({ phase, boxes, only, status }) => [phase, boxes, only, status].filter(Boolean).join(" "))
    .join("; ");

/** Makes the changes and holds the outcome against what it may be. */
export function checkChange(
  before: CompiledPlan,
  sources: readonly Source[],
  changes: readonly PhaseChange[],
): Problem | Edited {
  const problemOf = (kind: string, said: string): Problem =>
    problem(kind, `${said} (${orderOf(changes)})`);
  const planned = planEdits(before.plan, changes, rawOf(sources));
  if (!planned.ok) return problemOf("change refused", planned.failure.message);
  const edits = planned.value;
  const expected = new Expectation(before.plan, changes, sources);
  for (const edit of edits) {
    const wrong = expected.judge(edit);
    if (wrong) return problemOf(wrong.kind, wrong.said);
  }
  const after: Source[] = [];
  for (const source of sources) {
    const { file, text } = source;
    const own = edits.filter((edit) => edit.file === file);
    if (own.length === 0) {
      after.push(source);
      continue;
    }
    let changed: string;
    try {
      changed = applyEdits(text, own);
    } catch (error) {
      return problemOf(
        "applying edits threw",
        `${String(error)}: ${JSON.stringify(own.slice(0, 4))}`,
      );
    }
    const wrong = differentByte(Buffer.from(text), Buffer.from(changed), inBytes(text, own));
    if (wrong) return problemOf("bytes outside of the edits", wrong);
    after.push({ file, text: changed });
  }
  if (edits.length === 0)
    return (
      expected.compare(before.plan, sources, []) ?? { edits, sources: after, compiled: before }
    );
  const again = readPlan(after);
  if (!again.ok) return problemOf("not readable after the change", again.failure.message);
  const wrong = expected.compare(again.value.plan, after, edits);
  return wrong
    ? problemOf(wrong.kind, wrong.said)
    : { edits, sources: after, compiled: again.value };
}

interface ByteEdit {
  readonly from: number;
  readonly to: number;
  readonly bytes: Buffer;
}

/** UTF-16 offsets as offsets of bytes, counted character by character. */
function inBytes(text: string, edits: readonly Edit[]): ByteEdit[] {
  const at = new Map<number, number>();
  let units = 0;
  let bytes = 0;
  for (const character of text) {
    at.set(units, bytes);
    units += character.length;
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  at.set(units, bytes);
  // Half a character has no offset: a range that begins there cannot be right.
  return [...edits]
    .sort((a, b) => a.from - b.from)
    .map((edit) => ({
      from: at.get(edit.from) ?? -1,
      to: at.get(edit.to) ?? -1,
      bytes: Buffer.from(edit.text),
    }));
}

/** The old bytes with each range exchanged must be the new bytes, one by one. */
function differentByte(
  old: Buffer,
  changed: Buffer,
  edits: readonly ByteEdit[],
): string | undefined {
  let read = 0;
  let written = 0;
  const same = (until: number): boolean => {
    for (; read < until; read++, written++) if (old[read] !== changed[written]) return false;
    return true;
  };
  for (const { from, to, bytes } of edits) {
    if (from < read || to < from) return `an edit of bytes ${from}–${to} after byte ${read}`;
    if (!same(from)) return `byte ${read} became another`;
    for (const byte of bytes)
      if (changed[written++] !== byte) return `the edit at byte ${from} is not what is there`;
    read = to;
  }
  if (!same(old.length)) return `byte ${read} became another`;
  return written === changed.length ? undefined : `${changed.length - written} bytes too many`;
}

interface FoundBox {
  readonly file: string;
  readonly from: number;
  readonly mark: string;
  readonly done: boolean;
}

const isTicked = (mark: string): boolean =>
  ["x", "X", "v", "V", "✓", "✔", "✅", "☑"].includes(mark);
const isDoneWord = (word: string): boolean => ["done", "complete", "completed"].includes(word);

/** All boxes of the documents, whether or not a phase has them. */
function allBoxes(plan: Plan, sources: readonly Source[]): FoundBox[] {
  if (isJson(plan)) {
    const raw = rawOf(sources);
    return itemsOf(plan).flatMap(({ box, done }) =>
      box ? [{ file: box.file, from: box.from, mark: raw(box), done }] : [],
    );
  }
  return sources.flatMap((source) =>
    boxesIn(source).map((found) => ({ file: source.file, ...found })),
  );
}

export interface Box {
  readonly from: number;
  readonly mark: string;
  readonly done: boolean;
  readonly optional: boolean;
}

const known = new WeakMap<Source, readonly Box[]>();

export function boxesIn(source: Source): readonly Box[] {
  const boxes = known.get(source) ?? findBoxes(source);
  known.set(source, boxes);
  return boxes;
}

function findBoxes(source: Source): Box[] {
  const parsed = parseDocument(source);
  if (!parsed.ok) return [];
  return parsed.value.blocks.flatMap((block) => {
    if (block.kind !== "item" || !block.box) return [];
    const mark = source.text.slice(block.box.from, block.box.to);
    return [
      { from: block.box.from, mark, done: isTicked(mark), optional: block.optional === true },
    ];
  });
}

const keyOf = ({ file, from }: { file: string; from: number }): string => `${file}\0${from}`;
const overlaps = (a: Place, b: Place): boolean =>
  a.file === b.file && a.from < b.to && b.from < a.to;

class Expectation {
  /** Boxes that are to change, and to what. */
  readonly boxes = new Map<string, { place: Place; how: "tick" | "untick" }>();
  readonly statuses = new Map<string, { said: SaidStatus; phase: Phase }>();
  readonly changed = new Set<Phase>();
  /** Phases that are boxes, and what theirs may become. */
  readonly own = new Map<string, RegExp>();
  private readonly plan: Plan;
  private readonly changes: readonly PhaseChange[];
  private readonly sources: readonly Source[];

  constructor(plan: Plan, changes: readonly PhaseChange[], sources: readonly Source[]) {
    this.plan = plan;
    this.changes = changes;
    this.sources = sources;
    for (const { phase: id, boxes, only, status } of changes) {
      const phase = plan.phases.find((each) => each.id === id);
      if (!phase) continue;
      this.changed.add(phase);
      const items = [
        ...(only === "done" ? [] : phase.tasks),
        ...(only === "tasks" ? [] : phase.definitionOfDone),
      ];
      const places = items.flatMap(({ box, optional }) => (box && !optional ? [box] : []));
      if (phase.box && only === undefined) places.push(phase.box);
      for (const place of places) if (boxes) this.boxes.set(keyOf(place), { place, how: boxes });
      // A phase that is itself a box says its status there.
      if (phase.box && only === undefined && boxes === undefined && status) {
        this.own.set(
          keyOf(phase.box),
          status === "complete" ? /^[xX]$/u : status === "running" ? /^-$/u : /^ $/u,
        );
      }
      for (const said of status ? phase.statuses : []) {
        if (!said.fixed) this.statuses.set(keyOf(said.place), { said, phase });
      }
    }
  }

  private raw(place: Place): string {
    return rawOf(this.sources)(place);
  }

  /** An edit is of a box that is not yet so, or of a status and nothing else. */
  judge(edit: Edit): Problem | undefined {
    const box = this.boxes.get(keyOf(edit));
    if (box && box.place.to === edit.to) {
      const mark = this.raw(box.place);
      const done = isJson(this.plan) ? isDoneWord(mark) : isTicked(mark);
      const open = isJson(this.plan) ? mark === "pending" : mark === " ";
      if (box.how === "tick" ? done : open)
        return problem(
          "a box that is so already is edited",
          `${shown(mark)} becomes ${shown(edit.text)}`,
        );
      return undefined;
    }
    const own = this.own.get(keyOf(edit));
    if (own) {
      return own.test(edit.text) && edit.to - edit.from <= 2
        ? undefined
        : problem("a phase's own box becomes something else", JSON.stringify(edit));
    }
    const stated = this.statuses.get(keyOf(edit));
    if (!stated || stated.said.place.to !== edit.to)
      return problem("an edit of neither a box nor a status", JSON.stringify(edit));
    const old = this.raw(stated.said.place);
    if (/[\r\n]/u.test(old)) return problem("a status over several lines", shown(old));
    if (/[\r\n]/u.test(edit.text)) return problem("a line break is written", shown(edit.text));
    const value = isJson(this.plan) ? unescaped(old) : old;
    if (letters(value) !== letters(stated.said.text)) {
      return problem(
        "a status that is more than its value",
        `${shown(old)} for ${shown(stated.said.text)}`,
      );
    }
    return undefined;
  }

  /** What was to change has changed, and nothing else has. */
  compare(after: Plan, sources: readonly Source[], edits: readonly Edit[]): Problem | undefined {
    const { plan } = this;
    if (after.format !== plan.format)
      return problem("another format after the change", `${plan.format}, now ${after.format}`);
    const ids = (each: Plan): string => each.phases.map(({ id }) => id).join(" ");
    if (ids(after) !== ids(plan))
      return problem(
        "other phases after the change",
        `${shown(ids(plan))}, now ${shown(ids(after))}`,
      );
    return this.compareBoxes(after, sources, edits) ?? this.compareStatuses(after);
  }

  private compareBoxes(
    after: Plan,
    sources: readonly Source[],
    edits: readonly Edit[],
  ): Problem | undefined {
    const moved = ({ file, from }: FoundBox): number =>
      edits.reduce(
        (at, edit) =>
          edit.file === file && edit.from < from && edit.to <= from
            ? at + edit.text.length - (edit.to - edit.from)
            : at,
        from,
      );
    const found = new Map(allBoxes(after, sources).map((box) => [keyOf(box), box]));
    for (const box of allBoxes(this.plan, this.sources)) {
      const key = keyOf({ file: box.file, from: moved(box) });
      const now = found.get(key);
      found.delete(key);
      if (!now) return problem("a box is gone", `[${box.mark}] at ${box.from}`);
      const wanted = this.boxes.get(keyOf(box));
      const place: Place = { ...box, line: 0, column: 0, to: box.from + box.mark.length };
      const stated = [...this.statuses.values()].find(({ said }) => overlaps(said.place, place));
      if (wanted?.how === "tick" && !now.done)
        return problem("not ticked", `[${box.mark}] at ${box.from} is [${now.mark}]`);
      if (wanted?.how === "untick" && now.done)
        return problem("not unticked", `[${box.mark}] at ${box.from} is [${now.mark}]`);
      if (!wanted && !stated && !this.own.has(keyOf(box)) && now.mark !== box.mark) {
        return problem("another box changed", `[${box.mark}] at ${box.from} is [${now.mark}]`);
      }
    }
    const [more] = found.values();
    return more ? problem("a box appeared", `[${more.mark}] at ${more.from}`) : undefined;
  }

  private compareStatuses(after: Plan): Problem | undefined {
    for (const [index, phase] of this.plan.phases.entries()) {
      const now = after.phases[index];
      if (!now) return problem("a phase is gone", phase.id);
      if (!this.changed.has(phase)) {
        if (this.isShared(phase)) continue;
        const texts = (each: Phase): string => each.statuses.map(({ text }) => text).join("\n");
        if (texts(now) !== texts(phase))
          return problem(
            "another phase's status changed",
            `${phase.id}: ${shown(texts(phase))}, now ${shown(texts(now))}`,
          );
        continue;
      }
      const wanted = this.changes.find(
        ({ phase: id, status }) => id === phase.id && status !== undefined,
      )?.status;
      const stated = phase.statuses;
      const isFixed = stated.some(({ fixed }) => fixed);
      if (wanted === undefined || stated.length === 0 || isFixed || this.isShared(phase)) continue;
      // A box can say three things; an open one over others says nothing.
      const inBox = stated.some(
        (said) => said.where === "box" || /^\s*\[.\]/u.test(this.raw(said.place)),
      );
      if (
        inBox &&
        (!["running", "complete"].includes(wanted) || this.changes.some(({ boxes }) => boxes))
      )
        continue;
      if (now.status !== wanted) {
        const were = stated.map((said) => shown(this.raw(said.place))).join(", ");
        return problem(
          "the status is not what was set",
          `${phase.id} (${were}) set to ${wanted} reads as ${now.status}`,
        );
      }
    }
    return undefined;
  }

  /** The place of its status or of a box is another phase's too, or it has the id of another. */
  private isShared(phase: Phase): boolean {
    return this.plan.phases.some(
      (other) =>
        other !== phase &&
        (other.id === phase.id ||
          other.statuses.some(({ place }) =>
            phase.statuses.some(
              (mine) => mine.place.from === place.from && mine.place.file === place.file,
            ),
          )),
    );
  }
}

const unescaped = (old: string): string => {
  try {
    return String(JSON.parse(`"${old}"`));
  } catch {
    return old;
  }
};

/** Without markup, the targets of links, and spaces. */
const letters = (value: string): string =>
  value.replace(/\]\([^)]*\)|<[^>]*>/gu, "").replace(/[\s*_`~\\[\]()]/gu, "");

// ── another parser ─────────────────────────────────────────────────────────────────────────────

export interface GfmBox {
  readonly from: number;
  readonly done: boolean;
}

/** The boxes that micromark finds; offsets are those of the text, a byte order mark counted. */
export function gfmBoxes(text: string): GfmBox[] {
  const boxes: GfmBox[] = [];
  const shift = text.startsWith("\uFEFF") ? 1 : 0;
  fromMarkdown(text, {
    extensions: [gfm()],
    mdastExtensions: [
      gfmFromMarkdown(),
      {
        enter: {
          taskListCheckValueChecked: ({ start }) =>
            void boxes.push({ from: start.offset + shift, done: true }),
          taskListCheckValueUnchecked: ({ start }) =>
            void boxes.push({ from: start.offset + shift, done: false }),
        },
      },
    ],
  });
  return boxes;
}
