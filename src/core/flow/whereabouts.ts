/**
 * Where are we? The journal, the state file and the folders each say something; this decides
 * whom to believe. Pure: the facts are arguments, the expensive ones as questions that are
 * asked only when the answer matters.
 */
import type { AdoptedFile } from "../evolve.ts";
import { type Failure, type Result, succeed } from "../failure.ts";
import type { Onward } from "./cross-check.ts";
import type { Flow, Step, Survey } from "./flow.ts";
import { builtInFlows, flowNamed } from "./flows/index.ts";
import { type Generation, type Variant } from "./generations.ts";
import { flowsThatFit, scanPosition } from "./locate.ts";
import { generationOf, readPosition } from "./position.ts";
import { type FlowState, flowStateAt } from "./state.ts";
import { conflictSides, isBlank, parseStateFile } from "./state-file.ts";

export interface Facts {
  /** The state files that exist, the present name first. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** What the journal holds, and the text that it would have on disk. */
  readonly recorded?: {
    readonly flow: FlowState;
    readonly file: AdoptedFile;
    readonly text: string;
  };
  /** Did we ever render exactly this text at this path? */
  everRendered(path: string, text: string): boolean;
  /** Texts that we rendered and that may not have reached the disk whole before a power cut. */
  recentRenderings(): readonly string[];
  /** Has HEAD or the branch moved since the last transition? */
  gitMoved(): boolean;
  survey(): Survey;
  /** Absent: the built-in ones. */
  readonly flows?: readonly Flow[];
  /** A person said which flow this project is in. */
  readonly wanted?: string;
}

export type AdoptedBecause = "imported" | "hand-edit" | "came-with-git" | "renamed";

/** What the file on disk is to the journal. */
export type Verdict =
  | { readonly is: "as-recorded" }
  /** Older than the journal, emptied or deleted: rendered anew at the next write. */
  | { readonly is: "stale"; readonly why: "deleted" | "emptied" | "older" }
  /** Bytes with a meaning of their own: to be recorded before anything else happens. */
  | {
      readonly is: "to-adopt";
      readonly because: AdoptedBecause;
      readonly path: string;
      readonly text: string;
    }
  /** No journal and no file. */
  | { readonly is: "nothing" };

export interface Whereabouts {
  readonly source: "state" | "scan" | "rebuilt";
  readonly state: FlowState;
  readonly generation: Generation;
  readonly variant: Variant;
  readonly corrections: readonly string[];
  readonly verdict: Verdict;
  /** Both names exist: which one is right is a person's to say. */
  readonly bothNames: boolean;
  /** The state files that were found, filled or not. */
  readonly files: Facts["files"];
  /** More than one: which flow this is, only a person can say. */
  readonly fitting?: readonly string[];
  /** More than one: which of these steps it is, only a person can say. */
  readonly places?: readonly Step[];
  /** The last of those, where it would begin another cycle. */
  readonly onward?: Onward;
  /** Steps before one of those, whose proof is missing. */
  readonly owed?: readonly string[];
}

export function whereabouts(facts: Facts): Result<Whereabouts> {
  const filled = facts.files.filter((file) => !isBlank(file.text));
  const bothNames = filled.length > 1;
  const { recorded } = facts;
  const atRecordedPath = filled.find((file) => file.path === recorded?.file.path);
  const file = atRecordedPath ?? filled[0];
  const doubled = bothNames
    ? [
        `${filled.map((each) => each.path).join(" and ")} both exist; ${file?.path} is shown, autodev asks which is right`,
      ]
    : [];

  if (recorded) {
    const why = staleness(facts, file);
    if (why !== "not-stale") {
      const asRecorded = why === "as-recorded";
      return succeed({
        source: why === "deleted" ? "rebuilt" : "state",
        state: recorded.flow,
        generation: recorded.file.generation,
        variant: recorded.file.variant,
        corrections: asRecorded ? doubled : [staleLine(recorded.file.path, why), ...doubled],
        verdict: asRecorded ? { is: "as-recorded" } : { is: "stale", why },
        bothNames,
        files: facts.files,
      });
    }
  }
  if (file) {
    const because: AdoptedBecause = !recorded
      ? "imported"
      : file.text === recorded.text
        ? "renamed"
        : facts.gitMoved()
          ? "came-with-git"
          : "hand-edit";
    const read = interpret(file, facts, recorded?.flow);
    if (!read.ok) return read;
    const told = {
      imported: [],
      renamed: [`${file.path} has a new name; its position is the same`],
      "came-with-git": [`${file.path} came with git; its position is taken over`],
      "hand-edit": [`${file.path} was edited by hand; its position is taken over`],
    }[because];
    return succeed({
      ...read.value,
      corrections: [...told, ...read.value.corrections, ...doubled],
      verdict: { is: "to-adopt", because, path: file.path, text: file.text },
      bothNames,
      files: facts.files,
    });
  }
  const survey = facts.survey();
  const fitting = facts.wanted === undefined ? flowsThatFit(survey) : [facts.wanted];
  const scan = scanPosition(fitting[0] ?? "greenfield", survey, facts.flows);
  const emptied = facts.files.map(
    (each) => `${each.path}:1 is empty; the folders decide the position`,
  );
  return succeed({
    source: "scan",
    state: flowStateAt(scan.position),
    generation: 3,
    variant: 13,
    corrections: [...emptied, ...(scan.doubt ? [scan.doubt] : [])],
    verdict: { is: "nothing" },
    bothNames: false,
    files: facts.files,
    fitting,
    ...(scan.candidates && { places: scan.candidates }),
    ...(scan.onward && { onward: scan.onward }),
    ...(scan.owed && { owed: scan.owed }),
  });
}

function staleness(
  facts: Facts,
  file: { path: string; text: string } | undefined,
): "as-recorded" | "deleted" | "emptied" | "older" | "not-stale" {
  if (!file) return facts.files.length > 0 ? "emptied" : "deleted";
  if (file.path === facts.recorded?.file.path && file.text === facts.recorded.text) {
    return "as-recorded";
  }
  // Under another name it is not the file that we wrote: a checkout brought it, or a rename.
  if (file.path !== facts.recorded?.file.path) return "not-stale";
  if (facts.everRendered(file.path, file.text)) return "older";
  return isTorn(file.text, facts) ? "emptied" : "not-stale";
}

/**
 * Projections are synced at rests, not at each transition: after a power cut one may be cut at
 * the end of a sector or filled with zeros. That is not a hand edit.
 */
function isTorn(text: string, facts: Facts): boolean {
  const sector = 512;
  if (!text.endsWith("\0") && utf8Length(text) % sector !== 0) return false;
  const rest = text.replace(/\0+$/, "");
  return facts.recentRenderings().some((rendering) => rendering.startsWith(rest));
}

function utf8Length(text: string): number {
  let length = 0;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return length;
}

const staleLine = (path: string, why: "deleted" | "emptied" | "older"): string =>
  ({
    deleted: `${path} is gone; the journal has the position, and autodev writes the file anew`,
    emptied: `${path} is empty or cut short; the journal has the position, and autodev writes the file anew`,
    older: `${path} is older than the journal; the journal has the position, and autodev writes the file anew`,
  })[why];

/** A file that is readable but whose step cannot be understood: the folders decide. */
function interpret(
  file: { path: string; text: string },
  facts: Facts,
  before: FlowState | undefined,
): Result<
  Pick<Whereabouts, "source" | "state" | "generation" | "variant" | "corrections" | "places">
> {
  const parsed = parseStateFile(file.text, file.path);
  if (!parsed.ok) return withBothSides(parsed, file);
  const { flows = builtInFlows } = facts;
  const reading = readPosition(parsed.value, file.path, flows);
  const { generation, variant } = reading;
  // Generations 1 and 2 have no place for the cycle, and no file has to list what a person
  // skipped: within one flow the journal remembers both.
  const same = before?.flow === reading.state.flow ? before : undefined;
  const cycle = generation < 3 && same ? same.cycle : reading.state.cycle;
  const here = reading.state.status === "skipped" ? [reading.state.step] : [];
  const skipped = [...new Set([...(same?.skipped ?? []), ...reading.state.skipped, ...here])];
  const state = { ...reading.state, cycle, skipped };
  if (reading.understood) {
    return succeed({
      source: "state",
      state,
      generation,
      variant,
      corrections: reading.corrections,
    });
  }
  const survey = facts.survey();
  const known = flowNamed(state.flow, flows) ? state.flow : flowsThatFit(survey)[0];
  const scan = scanPosition(known ?? "greenfield", survey, flows, cycle);
  return succeed({
    source: "scan",
    state: { ...state, ...scan.position },
    generation,
    variant,
    corrections: [...reading.corrections, ...(scan.doubt ? [scan.doubt] : [])],
    ...(scan.candidates && { places: scan.candidates }),
  });
}

/** A conflict shows its two sides as what they are: two positions to choose from. */
function withBothSides(
  refused: { readonly ok: false; readonly failure: Failure },
  file: { path: string; text: string },
): { readonly ok: false; readonly failure: Failure } {
  const sides = conflictSides(file.text);
  if (refused.failure.code !== "state-file-conflict" || !sides) return refused;
  const details = [
    ` A) ours: ${placeIn({ path: file.path, text: sides.ours })}`,
    ` B) theirs: ${placeIn({ path: file.path, text: sides.theirs })}`,
  ];
  return { ok: false, failure: { ...refused.failure, details } };
}

/** One line about a file that may not even be readable. */
export function placeIn(file: { path: string; text: string }): string {
  const parsed = parseStateFile(file.text, file.path);
  if (!parsed.ok) return parsed.failure.message;
  const { state } = readPosition(parsed.value, file.path);
  return `${state.flow || "no flow"}, step ${state.step} ${state.name}, ${state.status}`;
}

/** The form that a file has; one that cannot be read has none, and counts as the present one. */
export function generationIn(file: { path: string; text: string }): Generation {
  const parsed = parseStateFile(file.text, file.path);
  return parsed.ok ? generationOf(parsed.value) : 3;
}
