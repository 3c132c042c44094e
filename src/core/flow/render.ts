/**
 * The state file as we write it: the text that is there, with just those lines changed whose
 * values are no longer true. `render(base, state)` depends on nothing else, so the same
 * journal gives the same bytes on every machine.
 */
import { fail, type Result, succeed } from "../failure.ts";
import { type Generation, toGeneration, type Variant } from "./generations.ts";
import { type Reading, readPosition, stepFrom, writeScalarSubStep } from "./position.ts";
import {
  addRows,
  keyDecisionsIn,
  renumberRows,
  setBullets,
  setLastSession,
  setRows,
} from "./sections.ts";
import { awaitingInvocation, type CompletedStep, type FlowState, type Sections } from "./state.ts";
import {
  type FieldPath,
  oneLine,
  orRewritten,
  parseStateFile,
  quoteDetail,
  removeField,
  type StateFile,
  setField,
  setFields,
  setScalarSubStep,
  setSubStep,
  setTitle,
  spliceLines,
  textOf,
} from "./state-file.ts";

/** How a file is written: its generation and, in generation 2, which of its step lists. */
export interface Form {
  readonly generation: Generation;
  readonly variant: Variant;
}

export const currentForm: Form = { generation: 3, variant: 13 };

/** People skim this file and agents read it whole: it stays a pointer. */
const mostLines = 30;

const bareFile = "# Autodev State\n\n## Current Step\n";

export interface RenderOptions {
  /** How the file is written; the present form by default. */
  readonly form?: Form;
  readonly sections?: Sections;
  /** Whether a key decision is one that we told: only those give way to newer ones. */
  readonly isOurs?: (line: string) => boolean;
}

/**
 * Fails only when `form` is an older generation that has no number for the step
 * (the caller then asks to migrate).
 */
export function renderStateFile(
  base: string | undefined,
  state: FlowState,
  options: RenderOptions = {},
): Result<string> {
  const { form = currentForm } = options;
  const readBase = readOnce(base ?? bareFile);
  // Bytes that cannot be read never become a base: whoever adopts them parses them first.
  if (!readBase.ok) return readBase;
  const { file, before } = readBase.value;

  const changes: [FieldPath, string][] = [];
  const fresh = base === undefined;
  const samePlace =
    before.understood && before.state.flow === state.flow && before.state.step === state.step;
  if (!samePlace || fresh) {
    const place =
      form.generation === 3
        ? state
        : toGeneration(form.generation, form.variant, state.flow, state.step);
    if (!place) return noColumn(state, form);
    if (form.generation > 1) changes.push(["flow", oneLine(state.flow)]);
    changes.push(["step", oneLine(place.step)], ["name", oneLine(place.name)]);
  }
  if (before.state.status !== state.status || fresh) changes.push(["status", statusText(state)]);
  if (before.state.retryCount !== state.retryCount || fresh) {
    changes.push(["retry_count", String(state.retryCount)]);
  }
  // Read as 1 in a flow without cycles, the number that stands there means something in another.
  const cycleMoved =
    before.state.cycle !== state.cycle ||
    (before.state.flow !== state.flow && file.fields.has("cycle"));
  if (form.generation === 3 && (cycleMoved || fresh)) {
    changes.push(["cycle", String(state.cycle)]);
  }
  if (state.tracker !== undefined && before.state.tracker !== state.tracker) {
    changes.push(["tracker", oneLine(state.tracker)]);
  }

  const scalar = writeScalarSubStep(state.subStep);
  const subStepMoved = !before.understood || fresh || !sameSubStep(before.state, state);
  const edited = orRewritten(
    file,
    (start) => {
      const next = changes.length > 0 ? setFields(start, changes) : start;
      if (!subStepMoved) return next;
      return form.generation === 3
        ? setSubStep(next, state.subStep, scalar)
        : setScalarSubStep(next, scalar);
    },
    blockLines(state, form),
  );
  return succeed(textOf(withSections(edited, before.state, state, { ...options, form })));
}

interface ReadBase {
  readonly file: StateFile;
  readonly before: Reading;
}

/** One base serves a whole run of renderings: the last one is remembered. */
let remembered: { text: string; read: Result<ReadBase> } | undefined;

function readOnce(text: string): Result<ReadBase> {
  if (remembered?.text !== text) {
    const parsed = parseStateFile(text, "state file");
    const read = parsed.ok
      ? succeed({ file: parsed.value, before: readPosition(parsed.value, "state file") })
      : parsed;
    remembered = { text, read };
  }
  return remembered.read;
}

/** The block as we write it when there is nothing to keep; the step must have a number in it. */
function blockLines(state: FlowState, form: Form): string[] {
  const { generation, variant } = form;
  const place =
    (generation === 3 ? undefined : toGeneration(generation, variant, state.flow, state.step)) ??
    state;
  const { phase, name, detail } = state.subStep;
  return [
    ...(generation > 1 ? [`flow: ${oneLine(state.flow)}`] : []),
    `step: ${oneLine(place.step)}`,
    `name: ${oneLine(place.name)}`,
    `status: ${statusText(state)}`,
    ...(generation === 3
      ? [
          "sub_step:",
          `  phase: ${phase}`,
          `  name: ${oneLine(name)}`,
          `  detail: ${quoteDetail(detail)}`,
        ]
      : [`sub_step: ${writeScalarSubStep(state.subStep)}`]),
    `retry_count: ${state.retryCount}`,
    ...(generation === 3 ? [`cycle: ${state.cycle}`] : []),
    ...(state.tracker === undefined ? [] : [`tracker: ${oneLine(state.tracker)}`]),
  ];
}

/** Rewrites a file into another generation: title, keys, and the step numbers in its tables. */
export function convertStateFile(
  text: string,
  path: string,
  to: Form,
): Result<{ text: string; lost: string[] }> {
  const parsed = parseStateFile(text, path);
  if (!parsed.ok) return parsed;
  const { state, generation, understood, corrections, moved } = readPosition(parsed.value, path);
  if (!understood) {
    return fail("state-file-no-position", corrections[0] ?? `${path} has no position to migrate`, {
      file: path,
      hint: "autodev doctor names the line; mend it, or: autodev doctor --fix",
    });
  }
  const place =
    to.generation === 3 ? state : toGeneration(to.generation, to.variant, state.flow, state.step);
  if (!place) return noColumn(state, to);

  const title = to.generation === 3 ? "Autodev State" : "Autopilot State";
  let file = orRewritten(
    setTitle(parsed.value, title),
    (start) => inForm(start, state, place, to, moved),
    blockLines(state, to),
  );
  const lost = to.generation === 3 ? [] : withoutPlace(state, to.generation);

  const renumber = (step: string, name: string): string | undefined => {
    if (generation === to.generation) return undefined;
    const now = stepFrom(generation, state.flow, step, name);
    if (now === undefined || to.generation === 3) return now;
    return toGeneration(to.generation, to.variant, state.flow, now)?.step;
  };
  file = renumberRows(file, "completed steps", 0, renumber);
  file = renumberRows(file, "retry log", 1, renumber);
  file = renumberEndedAt(file, renumber);
  return succeed({ text: textOf(file), lost });
}

/** The keys of the block, one by one; what is as true as before keeps its own spelling. */
function inForm(
  start: StateFile,
  state: FlowState,
  place: { step: string; name: string },
  to: Form,
  moved: boolean,
): StateFile {
  let file =
    to.generation === 1 ? removeField(start, "flow") : setField(start, "flow", oneLine(state.flow));
  file = setField(setField(file, "step", place.step), "name", place.name);
  if (moved || !file.fields.has("status")) file = setField(file, "status", statusText(state));
  const scalar = writeScalarSubStep(state.subStep);
  if (to.generation < 3) return removeField(setScalarSubStep(file, scalar), "cycle");
  file = setSubStep(file, state.subStep, scalar);
  if (!file.fields.has("retry_count"))
    file = setField(file, "retry_count", String(state.retryCount));
  return file.fields.has("cycle") ? file : setField(file, "cycle", String(state.cycle));
}

/** What an older form cannot say. */
function withoutPlace(state: FlowState, generation: 1 | 2): string[] {
  const { detail } = state.subStep;
  return [
    ...(detail !== "" && !detail.startsWith("variant ") ? [`sub_step detail "${detail}"`] : []),
    ...(state.cycle > 1 ? [`cycle ${state.cycle}`] : []),
    ...(generation === 1 ? [`flow ${state.flow}`] : []),
  ];
}

/** `ended_at: Step 2 Plan — SubStep 4 …`: only the number changes. */
function renumberEndedAt(
  file: StateFile,
  renumber: (step: string, name: string) => string | undefined,
): StateFile {
  const range = file.sections.get("last session");
  if (!range) return file;
  for (let at = range.start; at < range.end; at++) {
    const text = file.lines[at]?.text ?? "";
    const match = /^([ \t]*(?:[-*+][ \t]+)?ended_at[ \t]*:[ \t]*Step )(\S+)( )(.*)$/.exec(text);
    if (!match) continue;
    const [, lead = "", step = "", gap = "", rest = ""] = match;
    const renumbered = renumber(step, rest.split(/ [—–-] /)[0]?.trim() ?? "");
    if (renumbered === undefined || renumbered === step) return file;
    return spliceLines(file, at, 1, [lead + renumbered + gap + rest]);
  }
  return file;
}

const completedTable = {
  heading: "Completed Steps",
  columns: ["Step", "Name", "Completed", "Key Outcome"],
};
const rowKey = (row: CompletedStep): string => JSON.stringify([row.step, row.name, row.completed]);
const retryTable = {
  heading: "Retry Log",
  columns: ["Attempt", "Step", "Name", "SubStep", "Failure Reason", "Timestamp"],
  same: [0, 1, 5],
};

/** A section whose story has not changed keeps every byte, however oddly it is written. */
function withSections(
  file: StateFile,
  before: FlowState,
  state: FlowState,
  { form, sections, isOurs = () => false }: RenderOptions & { readonly form: Form },
): StateFile {
  const full = sections === "full";
  const changed = (section: keyof FlowState): boolean =>
    JSON.stringify(before[section]) !== JSON.stringify(state[section]);
  let next = file;
  const numberOf = (step: string): string =>
    form.generation === 3
      ? step
      : (toGeneration(form.generation, form.variant, state.flow, step)?.step ?? step);
  const hasTable = next.sections.has("completed steps");
  if (full ? !hasTable || changed("completed") : hasTable && changed("completed")) {
    const known = new Set(before.completed.map(rowKey));
    const added = state.completed.filter((row) => !known.has(rowKey(row)));
    const shown = hasTable ? added : state.completed;
    next = addRows(
      next,
      "completed steps",
      completedTable,
      shown.map((row) => [numberOf(row.step), row.name, row.completed, row.outcome]),
    );
  }
  if (changed("lastSession") && state.lastSession) {
    const endedAt = state.lastSession.endedAt.replace(
      /^Step (\S+) /,
      (_, step: string) => `Step ${numberOf(step)} `,
    );
    next = setLastSession(next, { ...state.lastSession, endedAt });
  }
  if (changed("retryLog")) {
    next = setRows(
      next,
      "retry log",
      retryTable,
      state.retryLog.map((row) => [
        String(row.attempt),
        numberOf(row.step),
        row.name,
        row.subStep,
        row.reason,
        row.at,
      ]),
    );
  }
  if (changed("blockers")) {
    next = setBullets(next, "blockers", "Blockers", state.blockers.map(oneLine));
  }
  if (changed("keyDecisions")) {
    const decisions = state.keyDecisions.map(oneLine);
    next = full
      ? setBullets(next, "key decisions", "Key Decisions", decisions)
      : withKeyDecisions(next, decisions, isOurs);
  }
  return next;
}

const earlierMark = /^\((\d+) earlier: autodev log\)$/;

/** Decisions that we told give way, oldest first, once the file would grow past its length. */
function withKeyDecisions(
  file: StateFile,
  decisions: readonly string[],
  isOurs: (line: string) => boolean,
): StateFile {
  const written = keyDecisionsIn(file);
  const added = decisions.filter((line) => !written.includes(line));
  if (added.length === 0) return file;
  const earlier = Number(
    written.map((line) => earlierMark.exec(line)?.[1]).find((count) => count !== undefined) ?? 0,
  );
  const theirs = written.filter((line) => !earlierMark.test(line) && !isOurs(line));
  const ours = [...written.filter(isOurs), ...added];
  const show = (count: number): StateFile => {
    const dropped = earlier + ours.length - count;
    return setBullets(file, "key decisions", "Key Decisions", [
      ...theirs,
      ...ours.slice(ours.length - count),
      ...(dropped > 0 ? [`(${dropped} earlier: autodev log)`] : []),
    ]);
  };
  let count = ours.length;
  let next = show(count);
  while (count > 1 && next.lines.length >= mostLines) next = show(--count);
  return next;
}

/** A status of the user's own goes back as it was read: it came from one line. */
const statusText = ({ status }: FlowState): string => status.replaceAll("\n", " ");

const sameSubStep = (a: FlowState, b: FlowState): boolean => {
  const { phase, name, detail } = a.subStep ?? awaitingInvocation;
  return phase === b.subStep.phase && name === b.subStep.name && detail === b.subStep.detail;
};

const noColumn = (state: FlowState, form: Form): ReturnType<typeof fail> =>
  fail(
    "no-such-column",
    `${state.flow} step ${state.step} "${state.name}" has no number in generation ${form.generation}`,
    { hint: "stay with generation 3 until that step is done, or: autodev migrate" },
  );
