/**
 * Random state files, judged by a model that shares no line with the parser: read alike or
 * refused at the same line, rendered back byte for byte, edited in one line and no other.
 */

import { flowNamed } from "../src/core/flow/flows/index.ts";
import { readPosition } from "../src/core/flow/position.ts";
import { convertStateFile, renderStateFile } from "../src/core/flow/render.ts";
import {
  type FieldPath,
  isBlank,
  lineOf,
  parseStateFile,
  quoteDetail,
  setField,
  textOf,
  valueOf,
} from "../src/core/flow/state-file.ts";
import { again, type Context, type Outcome, type Row } from "./rig.ts";
import { generate } from "./state-file-generator.ts";
import { type EditableField, expectEdit, type Judgement, judge } from "./state-file-model.ts";

const documents = { ci: 20_000, full: 1_000_000 };
/** Far beyond what any document needs: a document that takes this long is a hang in the making. */
const slowMs = 200;

export const fuzzStateFiles: Row = {
  name: "fuzz-state-files",
  promise:
    "every state file is read as the model reads it, or refused at the same line; no byte lost",
  budgetSeconds: { ci: 5, full: 400 },
  async run(context) {
    return fuzz(context, documents[context.tier]);
  },
};

export function fuzz(context: Context, count: number): Outcome {
  const failures: string[] = [];
  const figures = {
    documents: count,
    read: 0,
    refused: 0,
    empty: 0,
    edits: 0,
    crashes: 0,
    slowest: 0,
  };
  const first = context.seed * 10_000_019;
  const only = context.onlyCase === undefined ? undefined : Number(context.onlyCase);
  const fail = (n: number, what: string): void =>
    void failures.push(
      `seed ${first + n}: ${what}; ${again(context, "fuzz-state-files", String(n))}`,
    );
  for (let n = only ?? 0; n < (only ?? count - 1) + 1 && failures.length < 10; n++) {
    const seed = first + n;
    const text = generate(seed);
    const began = performance.now();
    try {
      const found = check(text, seed, figures);
      if (found) fail(n, found);
    } catch (error) {
      figures.crashes++;
      fail(n, `crashed: ${error instanceof Error ? error.stack : String(error)}`);
    }
    const took = performance.now() - began;
    figures.slowest = Math.max(figures.slowest, Math.round(took));
    if (took > slowMs * 5) fail(n, `took ${Math.round(took)} ms`);
  }
  return { is: failures.length > 0 ? "failed" : "passed", figures, failures };
}

type Tally = { read: number; refused: number; empty: number; edits: number };

/** The first difference, or nothing. */
export function check(text: string, seed: number, tally: Tally): string | undefined {
  const judgement = judge(text);
  if (judgement.kind === "empty") {
    tally.empty++;
    return isBlank(text) ? undefined : "the model calls it empty, we do not";
  }
  const parsed = parseStateFile(text, "file");
  if (judgement.kind === "refused") {
    tally.refused++;
    if (parsed.ok) return `the model refuses it (${judgement.rule}, line ${judgement.line})`;
    if (parsed.failure.line !== judgement.line) {
      return `refused at line ${parsed.failure.line}, the model at ${judgement.line} (${judgement.rule})`;
    }
    return undefined;
  }
  tally.read++;
  if (!parsed.ok) return `refused: ${parsed.failure.message}; the model reads it`;
  const file = parsed.value;
  if (textOf(file) !== text) return "parse and render is not the same text";

  const difference = compare(judgement, text);
  if (difference) return difference;

  for (const generation of [1, 2, 3] as const) {
    const converted = convertStateFile(text, "file", { generation, variant: 13 });
    if (!converted.ok) continue;
    const again = parseStateFile(converted.value.text, "file");
    if (!again.ok) return `converted to generation ${generation}: ${again.failure.message}`;
    const before = readPosition(file, "file");
    if (!flowNamed(before.state.flow)) continue;
    const after = readPosition(again.value, "file");
    if (before.state.step !== after.state.step || before.state.status !== after.state.status) {
      return `converted to generation ${generation}: step ${before.state.step} became ${after.state.step}`;
    }
  }

  const editable = Object.keys(judgement.lines).filter((key) => key !== "sub_step");
  const field = editable[seed % Math.max(1, editable.length)] as EditableField | undefined;
  if (!field) return undefined;
  const value = values[seed % values.length] as string;
  tally.edits++;
  const edited = textOf(
    setField(file, field as FieldPath, field === "sub_step.detail" ? quoteDetail(value) : value),
  );
  return edited === expectEdit(text, field, value) ? undefined : `edit of ${field} touched more`;
}

const values = ["7", "in_progress", "Plan", "batch-loop", "x", "existing-code", 'a "b" \\c'];

/** Flows without cycles: whatever the file says, it is the first. */
const uncounted = ["greenfield", "meta-repo"];

function compare(
  judgement: Extract<Judgement, { kind: "read" }>,
  text: string,
): string | undefined {
  const parsed = parseStateFile(text, "file");
  if (!parsed.ok) return "unreachable";
  const file = parsed.value;
  const { generation, fields, lines } = judgement;
  const reading = readPosition(file, "file");
  const say = (what: string, ours: unknown, theirs: unknown): string | undefined =>
    JSON.stringify(ours) === JSON.stringify(theirs)
      ? undefined
      : `${what}: ${JSON.stringify(ours)}, the model: ${JSON.stringify(theirs)}`;
  const written = (field: FieldPath): string | null => valueOf(file, field) || null;
  const { moved } = reading;
  const understood = !reading.corrections.some((line) =>
    line.includes("sub_step is not understood"),
  );
  const again = renderStateFile(text, reading.state, { form: reading });
  return (
    say("generation", reading.generation, generation) ??
    say("flow", written("flow"), fields.flow) ??
    say("step", written("step"), fields.step) ??
    say("name", written("name"), fields.name) ??
    say("tracker", written("tracker"), fields.tracker) ??
    (moved || fields.status === null
      ? undefined
      : say("status", reading.state.status, fields.status)) ??
    say("sub-step understood", understood, fields.subStep !== "not-understood") ??
    (moved || fields.subStep === "not-understood"
      ? undefined
      : say("sub-step", reading.state.subStep, fields.subStep)) ??
    say("retry count", reading.state.retryCount, fields.retryCount) ??
    (uncounted.includes(reading.state.flow)
      ? undefined
      : say("cycle", reading.state.cycle, fields.cycle)) ??
    say(
      "lines",
      Object.keys(lines).map((key) => [key, lineOf(file, key as FieldPath)]),
      Object.entries(lines),
    ) ??
    (reading.understood && !moved && fields.status !== null
      ? say("rendering what was read", again.ok ? again.value : again.failure.message, text)
      : undefined)
  );
}
