/** The schema of a flow, as people write one in `.autodev/flows/`; flow.ts says what it means. */
import { z } from "zod";
import { nearest } from "../nearest.ts";
import { type Flow, type Probe, stepIn } from "./flow.ts";
import { patternFault } from "./line-pattern.ts";

const words = z
  .string("a text")
  .min(1, "a text that is not empty")
  .max(200, "at most 200 characters");

const pattern = z
  .string("a path")
  .max(200, "at most 200 characters")
  .regex(
    /^(?!\.\.?(?:\/|$))[^/\\]+(?:\/(?!\.\.?(?:\/|$))[^/\\]+)*$/,
    "a path below _docs/ with forward slashes, such as 02_tasks/todo/*.md",
  );

const folder = pattern.regex(/^[^*{]*$/, "the path of one folder, without * and {cycle}");

const expression = z
  .string("a regular expression")
  .min(1, "a regular expression that is not empty")
  .max(500, "at most 500 characters")
  .check(({ value, issues }) => {
    const fault = patternFault(value);
    if (fault === undefined) return;
    issues.push({ code: "custom", message: `a regular expression (${fault})`, input: value });
  });

const ProbeFile: z.ZodType<Probe> = z.lazy(() => z.union(probeFileParts)).meta({ id: "probe" });

const probes = z
  .array(ProbeFile, "a list of probes")
  .min(1, "at least one probe")
  .max(50, "at most 50 probes");

/** Each has a key of its own, by which it is recognised; `says` goes with `file`. */
export const probeFileParts = [
  z.strictObject({ filled: pattern.describe("Such a file is there and holds something.") }),
  z.strictObject({ exists: pattern.describe("Such a file is there.") }),
  z.strictObject({ folder: folder.describe("This folder holds a file.") }),
  z.strictObject({
    file: pattern.describe("Such a file has a line"),
    says: expression.describe("like this regular expression."),
  }),
  z.strictObject({
    dated: pattern.describe("Such a file is there, with a date in its name, of this cycle."),
  }),
  z.strictObject({
    reported: words.describe("A skill of an earlier step has reported this, in this cycle."),
  }),
  z.strictObject({ all: probes.describe("All of these hold.") }),
  z.strictObject({ any: probes.describe("One of these holds.") }),
  z.strictObject({ no: ProbeFile.describe("This does not hold.") }),
] as const;
const probeKeys = probeFileParts.map((part) => Object.keys(part.shape)[0] ?? "");

/** Read as text, however it is written: 3.10 is not 3.1. */
const number = z
  .string("a number, such as 3 or 3.5")
  .regex(/^\d{1,4}(?:\.\d{1,4})?$/, "a number, such as 3 or 3.5")
  .meta({ type: ["string", "number"] });

const name = z
  .string("a name of lower-case letters, digits and hyphens")
  .regex(/^[a-z][a-z0-9-]{0,63}$/, "a name of lower-case letters, digits and hyphens");

const yesOrNo = z.boolean("true or false");

const ConditionFile = z.strictObject(
  {
    yes: ProbeFile.describe("It has something to do where this holds."),
    no: ProbeFile.describe("It is skipped where this holds."),
    question: words.describe("What people are asked where neither holds."),
    marker: pattern.exactOptional().describe("A file that says that it was skipped."),
  },
  "a condition: yes, no and question",
);

const BoundaryFile = z.strictObject(
  {
    title: words.describe("What has just been completed, such as “Decompose complete”."),
    next: words.describe("What is next, as people call it, such as “implementation”."),
    notes: words.describe("What the next session is told."),
  },
  "a boundary: title, next and notes",
);

const ChainFile = z.strictObject(
  {
    step: z
      .string("the number of a step, or done")
      .regex(/^(?:\d{1,4}(?:\.\d{1,4})?|done)$/, "the number of a step, or done")
      .meta({ type: ["string", "number"] })
      .exactOptional()
      .describe("Which step follows, or `done`; absent: the next of the list."),
    cycle: z.literal("next", "next").exactOptional().describe("`next`: a new cycle begins."),
    boundary: BoundaryFile.exactOptional().describe("The session ends before what follows."),
  },
  "what follows: step, cycle, boundary",
);

const ConfirmFile = z.strictObject(
  {
    file: pattern.describe("In which file a person says so."),
    line: words.describe("The line that only a person sets."),
  },
  "file and line",
);

const RunsFile = z.strictObject(
  {
    tasks: folder.describe("A folder with todo/, done/ and a dependencies table."),
    review: name.exactOptional().describe("The skill that reviews what has landed."),
    report: pattern.describe("Where it is told; {slug} and {cycle} are filled in."),
  },
  "what it runs: tasks and report",
);

const StepFile = z.strictObject(
  {
    step: number.describe("Its number; 3.5 lies between 3 and 4."),
    name: words.describe("What people call it."),
    skill: name.exactOptional().describe("Who does it; absent: a person's step, or a rest."),
    mode: name.exactOptional().describe("In which of its modes the skill does it."),
    runs: RunsFile.exactOptional().describe(
      "Its tasks are run as a plan; the skill only puts them right where they cannot be.",
    ),
    optional: yesOrNo.exactOptional().describe("People are asked whether they want it."),
    applies: ConditionFile.exactOptional().describe("Only where it has something to do."),
    done: ProbeFile.exactOptional().describe("What proves it; absent: only the state can tell."),
    finished: ProbeFile.exactOptional().describe("What has to hold besides while it is under way."),
    leaves: ProbeFile.exactOptional().describe(
      "What stays of it when later steps have used up the rest.",
    ),
    progress: pattern
      .exactOptional()
      .describe("A file in which the skill keeps its own place, as JSON."),
    tracker: z
      .array(name, "a list of names of sub-steps")
      .max(50, "at most 50 sub-steps")
      .exactOptional()
      .describe("Sub-steps that need the tracker."),
    asks: z
      .literal("research-round", "research-round")
      .exactOptional()
      .describe("What people are asked when it is done, before anything follows."),
    confirms: ConfirmFile.exactOptional().describe("Instead of a skill: a person's own step."),
    rests: yesOrNo.exactOptional().describe("Instead of a skill: the session ends here."),
    then: ChainFile.exactOptional().describe("What follows; absent: the next step, at once."),
  },
  "a step",
);

const OnwardFile = z.strictObject(
  {
    flow: name.describe("The flow in which the project goes on."),
    step: number.describe("Its step."),
  },
  "flow and step",
);

export const FlowFile = z.strictObject(
  {
    name: name.describe("A built-in flow of the same name is replaced by this one."),
    about: words.describe("What it is for, in a sentence."),
    suite: yesOrNo
      .exactOptional()
      .describe("A repository of repositories: whoever works on it is told of its parts."),
    steps: z
      .array(StepFile, "a list of steps")
      .min(1, "at least one step")
      .max(100, "at most 100 steps")
      .describe("In the order in which they follow each other."),
    stretches: z
      .array(
        z.tuple([number, number], "two numbers of steps, such as [1, 8]"),
        "a list of pairs of steps",
      )
      .max(100, "at most 100 pairs")
      .exactOptional()
      .describe("From which to which step they are judged together; absent: all of them."),
    onward: OnwardFile.exactOptional().describe("Where the next invocation goes on after the end."),
  },
  "a flow: name, about and steps",
);

/** The parts of a flow file, for whoever explains them. */
export const flowFileParts = {
  flow: FlowFile,
  step: StepFile,
  applies: ConditionFile,
  runs: RunsFile,
  then: ChainFile,
  boundary: BoundaryFile,
  confirms: ConfirmFile,
  onward: OnwardFile,
} as const;

// ── what is wrong with one ─────────────────────────────────────────────────────────────────────

/** Something that is wrong with a flow: where, what should be there, what is, and the way out. */
export interface FlowFault {
  readonly path: readonly (string | number)[];
  readonly expected: string;
  readonly found: string;
  readonly wayOut: string;
}

/** A fault with its place in a file. */
export interface FlowFinding {
  readonly code: "flow-invalid" | "flow-unreadable" | "flow-twice";
  readonly message: string;
  readonly file: string;
  readonly line: number;
  /** As `steps[2].skill`; empty: the whole of it. */
  readonly field: string;
  readonly expected: string;
  readonly found: string;
  readonly hint: string;
}

type Path = FlowFault["path"];

/** Nobody mends more at once, and a stranger's file may have thousands. */
const mostFaults = 50;

/** `value`: as YAML or JSON gives it. */
export function flowFrom(
  value: unknown,
): { readonly flow: Flow } | { readonly faults: readonly FlowFault[] } {
  const read = FlowFile.safeParse(value);
  if (read.success) return { flow: read.data };
  const issues = read.error.issues.slice(0, mostFaults);
  return { faults: issues.flatMap((issue) => faultsIn(issue, value, [])).slice(0, mostFaults) };
}

function faultsIn(issue: z.core.$ZodIssue, value: unknown, above: Path): FlowFault[] {
  const path = [...above, ...(issue.path as (string | number)[])];
  const here = valueAt(value, path);
  if (issue.code === "unrecognized_keys")
    return issue.keys.slice(0, mostFaults).map((key) => unknownKey(path, key));
  if (issue.code === "invalid_union" && issue.errors.length === probeKeys.length)
    return probeFaults(issue.errors, value, path);
  const key = path.findLast((part) => typeof part === "string") ?? "it";
  return [
    {
      path,
      expected: issue.message,
      found: foundWords(here),
      wayOut: here === undefined ? `add ${key}` : `write ${issue.message} for ${key}`,
    },
  ];
}

function unknownKey(path: Path, key: string): FlowFault {
  const [known, shown] = [keysAt(path), key.slice(0, 60)];
  const [near] = nearest(shown, known);
  const some = known.length > 6 ? [...known.slice(0, 5), "…"] : known;
  return {
    path: [...path, key],
    expected: near ?? (known.length === 0 ? "no other key" : `one of ${some.join(", ")}`),
    found: shown,
    wayOut:
      near === undefined
        ? `remove ${shown}; docs/reference/flows.md has all keys`
        : `write ${near} instead of ${shown}`,
  };
}

/** None: not a part whose keys are told by where it stands. */
function keysAt(path: Path): readonly string[] {
  const [last, before] = [path.at(-1) ?? "flow", path.at(-2)];
  const part = before === "steps" ? "step" : last;
  const known = Object.entries(flowFileParts).find(([each]) => each === part)?.[1];
  return Object.keys(known?.shape ?? {});
}

/** One key says which probe is meant; only what is wrong with that one is told. */
function probeFaults(
  errors: readonly (readonly z.core.$ZodIssue[])[],
  value: unknown,
  path: Path,
): FlowFault[] {
  const here = valueAt(value, path);
  const keys = here !== null && typeof here === "object" ? Object.keys(here) : [];
  const meant = keys.filter((key) => probeKeys.includes(key));
  const [only = ""] = meant;
  if (meant.length === 1)
    return (errors[probeKeys.indexOf(only)] ?? []).flatMap((each) => faultsIn(each, value, path));
  const [wrong] = keys;
  const [near] = wrong === undefined ? [] : nearest(wrong, probeKeys);
  return [
    {
      path: wrong === undefined ? path : [...path, wrong],
      expected: meant.length === 0 && near !== undefined ? near : `one of ${listed(probeKeys)}`,
      found: keys.length === 0 ? foundWords(here) : listed(keys, "and"),
      wayOut:
        meant.length > 1
          ? "put each into a list below all or any"
          : near === undefined
            ? "say what proves it: exists: 02_document/architecture.md"
            : `write ${near} instead of ${wrong}`,
    },
  ];
}

function valueAt(value: unknown, path: Path): unknown {
  let here = value;
  for (const part of path) {
    if (here === null || typeof here !== "object") return undefined;
    here = Object.entries(here).find(([key]) => key === String(part))?.[1];
  }
  return here;
}

function foundWords(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "keys and values";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 40)}… (${text.length} characters)` : text;
}

const listed = (words: readonly string[], last = "or"): string =>
  words.length < 2
    ? words.join()
    : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1) ?? ""}`;

/** What a schema cannot say; `flows`: all that there are. */
export function faultsOf(flow: Flow, flows: readonly Flow[]): FlowFault[] {
  const faults: FlowFault[] = [];
  const fault = (path: Path, expected: string, found: string, wayOut: string): void =>
    void faults.push({ path, expected, found, wayOut });
  const numbers = flow.steps.map(({ step }) => step);
  const seen = new Map<string, number>();
  for (const [at, step] of flow.steps.entries()) {
    const here = (...keys: readonly string[]): Path => ["steps", at, ...keys];
    if (seen.has(step.step)) {
      const way = `give one of the two another; ${step.step}.5 goes between it and the next`;
      fault(here("step"), "a number of its own", `a second ${step.step}`, way);
    }
    seen.set(step.step, at);
    const ways = waysOf(step);
    if (ways.length !== 1) {
      const found = ways.length === 0 ? "none of them" : listed(ways, "and");
      const way = ways.length === 0 ? "say who does it: skill: …" : "keep one of them";
      fault(here(ways[1] ?? "name"), "one of skill, confirms and rests", found, way);
    }
    if (step.mode !== undefined && step.skill === undefined)
      fault(here("mode"), "a skill that has this mode", "no skill", "remove mode, or add skill");
    for (const key of ["finished", "leaves"] as const) {
      if (step[key] && !step.done)
        fault(here(key), "done, which it adds to", "no done", `write done instead of ${key}`);
    }
    const to = step.then?.step;
    if (to !== undefined && to !== "done" && !stepIn(flow, to))
      fault(
        here("then", "step"),
        `one of ${listed([...numbers, "done"])}`,
        to,
        "name a step that there is",
      );
  }
  for (const [at, [from, to]] of (flow.stretches ?? []).entries()) {
    const [first, last] = [seen.get(from), seen.get(to)];
    if (first === undefined || last === undefined || first > last)
      fault(
        ["stretches", at],
        `two of ${listed(numbers, "and")}, the earlier one first`,
        `${from} and ${to}`,
        "name the first and the last step of the stretch",
      );
  }
  const { onward } = flow;
  if (onward) {
    const target =
      onward.flow === flow.name ? flow : flows.find(({ name }) => name === onward.flow);
    if (!target)
      fault(
        ["onward", "flow"],
        `one of ${listed(flows.map((each) => each.name))}`,
        onward.flow,
        "autodev flow list shows which there are",
      );
    else if (!stepIn(target, onward.step))
      fault(
        ["onward", "step"],
        `a step of ${target.name}: ${listed(target.steps.map(({ step }) => step))}`,
        onward.step,
        `autodev flow graph ${target.name} shows them`,
      );
  }
  return [...faults, ...chainFaults(flow, flows)];
}

/** `rests: false` is how some say nothing. */
const waysOf = (step: Flow["steps"][number]): string[] =>
  (["skill", "confirms", "rests"] as const).filter(
    (key) => step[key] !== undefined && step[key] !== false,
  );

/** Steps that nobody comes to, and rounds that nobody gets out of. */
function chainFaults(flow: Flow, flows: readonly Flow[]): FlowFault[] {
  const next = (at: number): number => {
    const to = flow.steps[at]?.then?.step;
    if (to === undefined) return at + 1;
    return flow.steps.findIndex(({ step }) => step === to);
  };
  const stops = (at: number): boolean => {
    const { then, rests } = flow.steps[at] ?? {};
    return rests === true || then?.boundary !== undefined || then?.cycle !== undefined;
  };
  const entries = flows.flatMap(({ onward }) =>
    onward?.flow === flow.name ? [flow.steps.findIndex(({ step }) => step === onward.step)] : [],
  );
  const reached = new Set<number>();
  const faults: FlowFault[] = [];
  for (const entry of [0, ...entries]) {
    const passed = new Set<number>();
    for (let at = entry; flow.steps[at] && !reached.has(at); at = next(at)) {
      reached.add(at);
      passed.add(at);
      const to = next(at);
      if (!passed.has(to)) continue;
      const round = [...passed].slice([...passed].indexOf(to));
      if (round.some(stops)) continue;
      faults.push({
        path: ["steps", at, "then"],
        expected: "a way out of the round: a boundary, a rest, or a new cycle",
        found: `${[...round, to].map((each) => flow.steps[each]?.step).join(" → ")}, for ever`,
        wayOut: "add boundary or cycle: next to it, or let it lead to done",
      });
    }
  }
  for (const [at, { step }] of flow.steps.entries()) {
    if (reached.has(at)) continue;
    faults.push({
      path: ["steps", at, "step"],
      expected: "a step that is come to",
      found: `nothing that leads to ${step}`,
      wayOut: `let an earlier step lead to it (then: { step: ${step} }), or remove it`,
    });
  }
  return faults;
}
