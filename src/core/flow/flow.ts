import { type Glob, globOf } from "./glob.ts";
import { linePattern } from "./line-pattern.ts";
import type { TaskWork } from "./tasks.ts";

export { type Glob, globOf };

/**
 * A flow is data: numbered steps, each done by a skill, what on disk proves it, what comes next.
 * Whoever writes one writes exactly this, as YAML (see flow-file.ts for its schema).
 */
export interface Flow {
  readonly name: string;
  readonly about: string;
  /** It is about a repository of repositories: whoever works on it is told of its parts. */
  readonly suite?: boolean;
  readonly steps: readonly Step[];
  /**
   * Parts that are judged by themselves, from one step to another; absent: the flow is one. What
   * lies before the part that a project is in is history.
   */
  readonly stretches?: readonly (readonly [from: string, to: string])[];
  /** Where a project goes on that has come to this flow's end, at its next invocation. */
  readonly onward?: { readonly flow: string; readonly step: string };
}

export interface Step {
  readonly step: string;
  readonly name: string;
  /** Absent: a person's own step (`confirms`), or one where a session ends (`rests`). */
  readonly skill?: string;
  readonly mode?: string;
  /** Code is changed here: tasks are run as a plan, and the skill only puts them right. */
  readonly runs?: TaskWork;
  /** People are asked whether they want it. */
  readonly optional?: boolean;
  /** Only where it has something to do. */
  readonly applies?: Condition;
  /** Absent: only the state can tell whether this step is done. */
  readonly done?: Probe;
  /** What has to hold besides, of a step that is under way. */
  readonly finished?: Probe;
  /** What stays of it when later steps have used up the rest; absent: all of `done`. */
  readonly leaves?: Probe;
  /** A file in which the skill keeps its own place, as JSON. */
  readonly progress?: string;
  /** Sub-steps, by name, that need the tracker. */
  readonly tracker?: readonly string[];
  /** What people are asked when it is done, before anything follows. */
  readonly asks?: "research-round";
  /** A file with a line that only a person sets, and that line. */
  readonly confirms?: { readonly file: string; readonly line: string };
  /** Nothing is done here: the session ends, and the next one goes on. */
  readonly rests?: boolean;
  /** Absent: the next of the list, in the same session. */
  readonly then?: Chain;
}

/** A chain without a boundary is followed at once. */
export interface Chain {
  /** Absent: the next of the list; `done`: the end. */
  readonly step?: string;
  /** A new cycle begins with it. */
  readonly cycle?: "next";
  readonly boundary?: Boundary;
}

export interface Boundary {
  /** What has just been completed, as a sentence's beginning: "Decompose complete". */
  readonly title: string;
  /** What is next, as people call it: "implementation". */
  readonly next: string;
  /** For the last session's notes. */
  readonly notes: string;
}

/** Neither holds: people are asked. */
export interface Condition {
  readonly yes: Probe;
  readonly no: Probe;
  /** As a question about the project: "Does it have a user interface?" */
  readonly question: string;
  /** A file that says that it was skipped, for those who have nothing but the folders. */
  readonly marker?: string;
}

/** Questions about a survey; patterns are relative to `_docs/`, and `{cycle}` is the cycle. */
export type Probe =
  | { readonly filled: string }
  | { readonly exists: string }
  | { readonly folder: string }
  /** One of the files that match has such a line; a regular expression, without regard to case. */
  | { readonly file: string; readonly says: string }
  /** A file with a date in its name, not from before this cycle. */
  | { readonly dated: string }
  /** The skill of an earlier step has said so, in this cycle. */
  | { readonly reported: string }
  | { readonly all: readonly Probe[] }
  | { readonly any: readonly Probe[] }
  | { readonly no: Probe };

/** What core may not look up by itself: paths are relative to `_docs/`, with forward slashes. */
export interface Survey {
  /** Undefined: there is no `_docs/`. Value: the file's size in bytes. */
  readonly docs: ReadonlyMap<string, number> | undefined;
  /** Texts that a probe may have to look into, by path. */
  readonly texts: ReadonlyMap<string, string>;
  readonly hasSource: boolean;
  /** Git submodules or workspace members. */
  readonly members: number;
}

/** In which a probe is asked. */
export interface Time {
  readonly cycle: number;
  /** The day on which the cycle began; absent: nobody knows, and no date proves anything. */
  readonly since?: string;
  /** What had a date when the cycle began. */
  readonly seen?: readonly string[];
  readonly reported?: readonly string[];
}

export function holds(probe: Probe, survey: Survey, time: Time): boolean {
  const docs = survey.docs ?? new Map<string, number>();
  if ("all" in probe) return probe.all.every((each) => holds(each, survey, time));
  if ("any" in probe) return probe.any.some((each) => holds(each, survey, time));
  if ("no" in probe) return !holds(probe.no, survey, time);
  // Of one part alone, or of all: `drift: orders` is drift.
  if ("reported" in probe)
    return time.reported?.some((each) => each.split(":")[0] === probe.reported) === true;
  if ("folder" in probe) {
    const folder = `${probe.folder}/`;
    // A file whose name begins with a dot only keeps a folder in git, or marks something.
    for (const path of docs.keys())
      if (path.startsWith(folder) && !/(?:^|\/)\.[^/]*$/.test(path)) return true;
    return false;
  }
  if ("file" in probe) {
    const [pattern, line] = [globOf(probe.file, time), linePattern(probe.says)];
    for (const [path, text] of survey.texts) if (pattern.test(path) && line.test(text)) return true;
    return false;
  }
  if ("dated" in probe) {
    const pattern = globOf(probe.dated, time);
    const { since, seen = [] } = time;
    if (since === undefined) return false;
    for (const path of docs.keys()) {
      if (!pattern.test(path) || seen.includes(path)) continue;
      if ((dateIn(path) ?? "") >= since.slice(0, 10)) return true;
    }
    return false;
  }
  const glob = "filled" in probe ? probe.filled : probe.exists;
  const least = "filled" in probe ? 1 : 0;
  if (!/[*{]/.test(glob)) return (docs.get(glob) ?? -1) >= least;
  const pattern = globOf(glob, time);
  for (const [path, size] of docs) if (size >= least && pattern.test(path)) return true;
  return false;
}

/** Files of which a probe of this flow asks whether they hold something. */
export function sizesWanted(flow: Flow, time: Time): Glob[] {
  return flow.steps.flatMap(({ done, finished, leaves }) =>
    [done, finished, leaves].flatMap((probe) => filledIn(probe, time)),
  );
}

function filledIn(probe: Probe | undefined, time: Time): Glob[] {
  if (!probe) return [];
  if ("filled" in probe) return [globOf(probe.filled, time)];
  if ("all" in probe) return probe.all.flatMap((each) => filledIn(each, time));
  if ("any" in probe) return probe.any.flatMap((each) => filledIn(each, time));
  return "no" in probe ? filledIn(probe.no, time) : [];
}

/** Files whose text a probe may have to look into; `proofs`: only those that prove a step. */
export function textsWanted(flow: Flow, time: Time, { proofs = false } = {}): Glob[] {
  const inside = (probe: Probe | undefined): Glob[] => {
    if (!probe) return [];
    if ("file" in probe) return [globOf(probe.file, time)];
    if ("all" in probe) return probe.all.flatMap(inside);
    if ("any" in probe) return probe.any.flatMap(inside);
    return "no" in probe ? inside(probe.no) : [];
  };
  return flow.steps.flatMap(({ done, finished, leaves, applies, progress, confirms }) => [
    ...[done, finished, leaves].flatMap(inside),
    ...(proofs ? [] : [applies?.yes, applies?.no].flatMap(inside)),
    ...[progress, confirms?.file].flatMap((file) =>
      file === undefined ? [] : [globOf(file, time)],
    ),
  ]);
}

/** Everything that a probe of this flow could take for dated within the cycle. */
export function datedIn(flow: Flow, { docs }: Survey, time: Time): string[] {
  const patterns = flow.steps.flatMap(({ done }) =>
    done && "dated" in done ? [globOf(done.dated, time)] : [],
  );
  return [...(docs?.keys() ?? [])].filter((path) => patterns.some((each) => each.test(path)));
}

const dateIn = (path: string): string | undefined =>
  /(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)/.exec(path.slice(path.lastIndexOf("/") + 1))?.[0];

// ── the chain ──────────────────────────────────────────────────────────────────────────────────

export const stepIn = (flow: Flow, step: string): Step | undefined =>
  flow.steps.find((each) => each.step === step);

/** What follows a step; undefined: nothing, the flow is done. */
export function afterStep(
  flow: Flow,
  step: string,
): { step: Step; cycle: "next" | "same" } | undefined {
  const at = flow.steps.findIndex((each) => each.step === step);
  const { then } = flow.steps[at] ?? {};
  if (then?.step === "done") return undefined;
  const next = then?.step === undefined ? flow.steps[at + 1] : stepIn(flow, then.step);
  return next && { step: next, cycle: then?.cycle ?? "same" };
}

/** The steps that are judged together with this one. */
export function stretchOf(flow: Flow, step: string): readonly Step[] {
  const indexOf = (wanted: string): number => flow.steps.findIndex((each) => each.step === wanted);
  const at = indexOf(step);
  for (const [from, to] of flow.stretches ?? []) {
    if (at >= indexOf(from) && at <= indexOf(to))
      return flow.steps.slice(indexOf(from), indexOf(to) + 1);
  }
  return flow.steps;
}
