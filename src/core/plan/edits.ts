/**
 * Surgical edits: ticking boxes and setting statuses, in the document's own notation. An edit
 * replaces one range; every byte outside the ranges stays what it was.
 */
import { fail, type Result, succeed } from "../failure.ts";
import { named } from "./ids.ts";
import type { Item, Phase, Place, Plan, SaidStatus } from "./plan.ts";
import { type KnownStatus, readStatus, statusOfMark, writeStatus } from "./status.ts";

export interface PhaseChange {
  /** An id, or as written. */
  readonly phase: string;
  /** Tasks and definition of done; checkpoints and optional boxes are nobody's promise. */
  readonly boxes?: "tick" | "untick";
  /** Only the tasks, or only the definition of done. */
  readonly only?: "tasks" | "done";
  readonly status?: KnownStatus;
}

export interface Edit {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** What a file says at a place; the plan itself holds no text. */
export type RawText = (place: Place) => string;

export function planEdits(
  plan: Plan,
  changes: readonly PhaseChange[],
  raw: RawText,
): Result<Edit[]> {
  const edits = new Map<string, Edit>();
  const put = (place: Place, text: string): void => {
    if (raw(place) === text) return;
    edits.set(`${place.file}\0${place.from}`, {
      file: place.file,
      from: place.from,
      to: place.to,
      text,
    });
  };
  const ticked = tickOf(plan, raw);
  const examples = examplesOf(plan, raw);
  for (const change of changes) {
    const phase = phaseNamed(plan, change.phase);
    if (!phase) {
      const known = plan.phases.map(({ written }) => written).slice(0, 30);
      return fail(
        "no-such-phase",
        `there is no phase ${change.phase} in ${plan.files[0] ?? "the plan"}`,
        {
          ...(plan.files[0] === undefined ? {} : { file: plan.files[0] }),
          hint:
            known.length > 0
              ? `it has ${known.join(", ")}`
              : "autodev plan check says what is there",
        },
      );
    }
    if (change.boxes) {
      for (const item of itemsOf(phase, change.only)) {
        if (item.box && item.done !== (change.boxes === "tick")) {
          put(item.box, boxText(item.box, change.boxes, plan, raw, ticked));
        }
      }
    }
    const own = phase.box && ownMark(change, raw(phase.box), ticked);
    if (phase.box && own !== undefined) put(phase.box, own);
    if (change.status) {
      for (const said of phase.statuses) {
        const text = statusText(said, change.status, plan, raw(said.place), examples);
        if (text !== undefined) put(said.place, text);
      }
    }
  }
  return succeed([...edits.values()]);
}

export function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = "";
  let at = 0;
  for (const edit of [...edits].sort((a, b) => a.from - b.from)) {
    if (edit.from < at) throw new Error("two edits of the same place");
    result += text.slice(at, edit.from) + edit.text;
    at = edit.to;
  }
  return result + text.slice(at);
}

export const phaseNamed = ({ phases }: Plan, name: string): Phase | undefined =>
  named(phases, name);

const itemsOf = (phase: Phase, only: PhaseChange["only"]): Item[] => [
  ...(only === "done" ? [] : phase.tasks.filter(({ optional }) => !optional)),
  ...(only === "tasks" ? [] : phase.definitionOfDone.filter(({ optional }) => !optional)),
];

/** "x", unless this document ticks with "X". */
function tickOf(plan: Plan, raw: RawText): string {
  for (const phase of plan.phases) {
    for (const { box, done } of [...phase.tasks, ...phase.definitionOfDone]) {
      if (box && done && raw(box) === "X") return "X";
      if (box && done && raw(box) === "x") return "x";
    }
  }
  return "x";
}

/** One character between brackets, or the word of a JSON status. */
function boxText(
  box: Place,
  how: "tick" | "untick",
  plan: Plan,
  raw: RawText,
  ticked: string,
): string {
  const { words } = plan.notation;
  if (plan.format !== "task-master") return how === "tick" ? ticked : " ";
  return (how === "tick" ? words.complete : words.pending) ?? raw(box);
}

/** What a phase that is itself a box becomes; undefined: it is not touched. */
function ownMark(
  { boxes, only, status }: PhaseChange,
  old: string,
  ticked: string,
): string | undefined {
  const wanted = boxes === undefined ? status : boxes === "tick" ? "complete" : "pending";
  if (only !== undefined || wanted === undefined || statusOfMark(old) === wanted) return undefined;
  return wanted === "complete" ? ticked : wanted === "running" ? "-" : " ";
}

/** Undefined: nothing has to be written there. */
function statusText(
  said: SaidStatus,
  status: KnownStatus,
  plan: Plan,
  old: string,
  examples: Examples,
): string | undefined {
  if (said.fixed) return undefined;
  if (readStatus(old, plan.notation.legend) === status) return undefined;
  // To say nothing of a phase that is struck out, or was skipped, would leave it so.
  const isGood = (each: string): boolean => each !== "" || said.status !== "skipped";
  return writeStatus(old, status, examples(said.where, isGood), plan.notation);
}

/** What the document says of statuses elsewhere, in one part of it: each once, in its order. */
type Examples = (where: SaidStatus["where"], isGood: (text: string) => boolean) => Iterable<string>;

/** Reads on no further than somebody asks: an example is mostly found at the beginning. */
function examplesOf(plan: Plan, raw: RawText): Examples {
  const known = new Map<string, string[]>();
  const seen = new Set<string>();
  let next = 0;
  const readOn = (): boolean => {
    const phase = plan.phases[next++];
    for (const { where, place } of phase?.statuses ?? []) {
      const text = raw(place);
      const texts = known.get(where) ?? [];
      if (!seen.has(`${where}\0${text}`)) texts.push(text);
      seen.add(`${where}\0${text}`);
      known.set(where, texts);
    }
    return phase !== undefined;
  };
  return (where, isGood) => ({
    *[Symbol.iterator]() {
      for (let at = 0; ; at++) {
        let text = known.get(where)?.[at];
        while (text === undefined && readOn()) text = known.get(where)?.[at];
        if (text === undefined) return;
        if (isGood(text)) yield text;
      }
    },
  });
}
