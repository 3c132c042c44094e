/**
 * What a state file means: text in, position out, whatever its generation. A value that
 * cannot be understood is never guessed: it becomes a correction line, and for `step` and
 * `sub_step` the reading is not `understood`, so that the folders decide.
 */
import type { Flow } from "./flow.ts";
import { builtInFlows, flowNamed } from "./flows/index.ts";
import { fromGeneration1, fromGeneration2, type Generation, type Variant } from "./generations.ts";
import {
  blockersIn,
  completedStepsIn,
  keyDecisionsIn,
  lastSessionIn,
  retryLogIn,
} from "./sections.ts";
import {
  awaitingInvocation,
  type FlowState,
  knownStatuses,
  mostRetries,
  type SubStep,
} from "./state.ts";
import { type FieldPath, lineOf, type StateFile, valueOf } from "./state-file.ts";

export interface Reading {
  readonly generation: Generation;
  readonly variant: Variant;
  /** False: step or sub-step cannot be relied on; the folder scan decides the position. */
  readonly understood: boolean;
  /** The file's step is gone; the position is where the flow goes on. */
  readonly moved: boolean;
  readonly state: FlowState;
  readonly corrections: readonly string[];
}

export function readPosition(
  file: StateFile,
  path: string,
  flows: readonly Flow[] = builtInFlows,
): Reading {
  const corrections: string[] = [];
  const correct = (field: FieldPath, sentence: string): void => {
    const line = lineOf(file, field);
    corrections.push(`${path}${line === undefined ? "" : `:${line}`} ${sentence}`);
  };
  const generation = generationOf(file);
  const subStep = readSubStep(file);
  if (!subStep) correct("sub_step", "sub_step is not understood; the folders decide the position");

  const place = readStep(file, generation, correct, flows);
  const moved = place?.moved === true;
  const base = place ?? {
    flow: valueOf(file, "flow") ?? "",
    step: valueOf(file, "step") ?? "",
    name: valueOf(file, "name") ?? "",
    variant: 13 as Variant,
  };
  const tracker = valueOf(file, "tracker");
  const lastSession = lastSessionIn(file);
  const completed = completedStepsIn(file).map((row) => ({
    ...row,
    step: stepFrom(generation, base.flow, row.step, row.name) ?? row.step,
  }));
  return {
    generation,
    variant: base.variant,
    understood: place !== undefined && subStep !== undefined,
    moved,
    corrections,
    state: {
      flow: base.flow,
      step: base.step,
      name: base.name,
      status: moved ? "not_started" : readStatus(file, base.step, correct),
      subStep: moved || !subStep ? awaitingInvocation : subStep,
      retryCount: readRetryCount(file, correct),
      cycle: readCycle(file, base.flow, correct),
      ...(tracker ? { tracker } : {}),
      skipped: completed
        .filter((row) => /\bskipped\b/i.test(row.outcome) || /\bskipped\b/i.test(row.completed))
        .map((row) => row.step),
      completed,
      keyDecisions: keyDecisionsIn(file),
      ...(lastSession ? { lastSession } : {}),
      retryLog: retryLogIn(file).map((row) => ({
        ...row,
        step: stepFrom(generation, base.flow, row.step, row.name) ?? row.step,
      })),
      blockers: blockersIn(file),
    },
  };
}

export function generationOf(file: StateFile): Generation {
  const flow = valueOf(file, "flow");
  if (file.structured || valueOf(file, "cycle") || flow === "meta-repo") return 3;
  if (!flow) return 1;
  if (valueOf(file, "sub_step")) return 2;
  return file.title?.toLowerCase().startsWith("autodev") ? 3 : 2;
}

type Correct = (field: FieldPath, sentence: string) => void;

interface Place {
  readonly flow: string;
  readonly step: string;
  readonly name: string;
  readonly variant: Variant;
  readonly moved?: boolean;
}

function readStep(
  file: StateFile,
  generation: Generation,
  correct: Correct,
  flows: readonly Flow[],
): Place | undefined {
  const flow = valueOf(file, "flow") ?? "";
  const step = valueOf(file, "step") ?? "";
  const name = valueOf(file, "name") ?? "";
  if (step === "") {
    correct("step", "has no step; the folders decide the position");
    return undefined;
  }
  if (step.toLowerCase() === "done") {
    return { flow: flow || flowOfCompleted(file), step: "done", name: "Done", variant: 13 };
  }
  if (generation === 3) return readCurrentStep(flow, step, name, correct, flows);

  const old = generation === 2 ? fromGeneration2(flow, step, name) : fromGeneration1(step, name);
  if (!old) {
    const what = `step ${step}${name ? ` "${name}"` : ""}`;
    correct(
      "step",
      `${what} is no step of generation ${generation}; the folders decide the position`,
    );
    return undefined;
  }
  if (old.moved) correct("step", `"${name}" is no step any more; the flow goes on at ${old.name}`);
  return old;
}

function readCurrentStep(
  flow: string,
  step: string,
  name: string,
  correct: Correct,
  flows: readonly Flow[],
): Place | undefined {
  const definition = flowNamed(flow, flows);
  if (!definition) {
    if (flow === "") {
      correct("step", "has no flow; the folders decide the position");
      return undefined;
    }
    correct("flow", `flow "${flow}" is not known here; its steps are not checked`);
    return { flow, step, name, variant: 13 };
  }
  const found = definition.steps.find((each) => each.step === step);
  if (!found) {
    const range = `1 to ${definition.steps.length}`;
    correct("step", `step ${step} is not in ${flow} (${range}); the folders decide the position`);
    return undefined;
  }
  if (name !== "" && name.toLowerCase() !== found.name.toLowerCase()) {
    correct("name", `name "${name}" is not step ${step}'s; the number decides: ${found.name}`);
  }
  return { flow, step, name: found.name, variant: 13 };
}

/** A finished generation-1 file names no flow; the steps behind it do. */
function flowOfCompleted(file: StateFile): string {
  for (const row of completedStepsIn(file)) {
    const old = fromGeneration1(row.step, row.name);
    if (old) return old.flow;
  }
  return "greenfield";
}

function readStatus(file: StateFile, step: string, correct: Correct): string {
  const written = valueOf(file, "status") ?? "";
  if (written === "") {
    const assumed = step === "done" ? "completed" : "not_started";
    correct("status", `has no status; read as ${assumed}`);
    return assumed;
  }
  const folded = written.toLowerCase().replace(/[ \t-]+/g, "_");
  if ((knownStatuses as readonly string[]).includes(folded)) return folded;
  correct("status", `status "${written}" is not one of ${knownStatuses.join(", ")}; kept`);
  return written;
}

function readRetryCount(file: StateFile, correct: Correct): number {
  const written = valueOf(file, "retry_count") ?? "";
  if (written === "") return 0;
  if (!/^\d+$/.test(written)) {
    correct("retry_count", `retry_count "${written}" is no number; read as ${mostRetries}`);
    return mostRetries;
  }
  if (Number(written) > mostRetries) {
    correct(
      "retry_count",
      `retry_count ${written} is more than ${mostRetries}; read as ${mostRetries}`,
    );
    return mostRetries;
  }
  return Number(written);
}

function readCycle(file: StateFile, flow: string, correct: Correct): number {
  const written = valueOf(file, "cycle") ?? "";
  if (written === "") return 1;
  if (/^\d{1,9}$/.test(written) && Number(written) >= 1) {
    if (Number(written) === 1 || (flow !== "greenfield" && flow !== "meta-repo")) {
      return Number(written);
    }
    correct("cycle", `cycle ${written} cannot be: ${flow} has no cycles; read as 1`);
    return 1;
  }
  correct("cycle", `cycle "${written}" is no number from 1; read as 1`);
  return 1;
}

/** A step's number in generation 3; undefined: that generation had no such step. */
export function stepFrom(
  generation: Generation,
  flow: string,
  step: string,
  name: string,
): string | undefined {
  if (generation === 3) return step;
  const old = generation === 2 ? fromGeneration2(flow, step, name) : fromGeneration1(step, name);
  return old?.moved ? undefined : old?.step;
}

/** Undefined: written, but not understood; a phase is never guessed. */
function readSubStep(file: StateFile): SubStep | undefined {
  if (!file.structured) return scalarSubStep(valueOf(file, "sub_step") ?? "");
  const phase = valueOf(file, "sub_step.phase") ?? "";
  const name = valueOf(file, "sub_step.name") ?? "";
  const detail = valueOf(file, "sub_step.detail") ?? "";
  if (phase === "" && name === "" && detail === "") return awaitingInvocation;
  if (!/^\d{1,9}$/.test(phase)) return undefined;
  return { phase: Number(phase), name, detail };
}

/** `4 — Architecture Review`, `1b — Test Case Generation`, `0`, `done`, or nothing at all. */
export function scalarSubStep(written: string): SubStep | undefined {
  if (written === "" || written === "0") return awaitingInvocation;
  if (written.toLowerCase() === "done") return { phase: 0, name: "done", detail: "" };
  const match = /^(\d{1,9})([a-z]?)(?:\s*[—–:-]\s*(\S.*))?$/is.exec(written);
  if (!match) return undefined;
  const [, digits = "", letter = "", title = ""] = match;
  return {
    phase: Number(digits),
    name: kebab(title),
    detail: letter ? `variant ${digits}${letter.toLowerCase()}` : "",
  };
}

export function writeScalarSubStep(subStep: SubStep): string {
  if (subStep.phase === 0 && subStep.name === awaitingInvocation.name) return "0";
  if (subStep.phase === 0 && subStep.name === "done") return "done";
  const variant = /^variant (\d+[a-z])$/.exec(subStep.detail)?.[1];
  const number = variant?.slice(0, -1) === String(subStep.phase) ? variant : String(subStep.phase);
  return subStep.name === "" ? number : `${number} — ${titleCase(subStep.name)}`;
}

const kebab = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");

const titleCase = (name: string): string =>
  name
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
