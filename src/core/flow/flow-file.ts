/** The schema of a flow, as people write one in `.autodev/flows/`; flow.ts says what it means. */
import { z } from "zod";
import { type Flow, stepIn } from "./flow.ts";

const words = z.string().min(1).max(200);
const pattern = z
  .string()
  .min(1)
  .regex(/^[^/\\][^\\]*$/, "relative to _docs/, with forward slashes")
  .refine((path) => !path.split("/").includes(".."), "it must stay below _docs/");

const Expression = z.string().refine((text) => {
  try {
    new RegExp(text, "im");
    return true;
  } catch {
    return false;
  }
}, "this is no regular expression");

export const ProbeFile: z.ZodType<NonNullable<Flow["steps"][number]["done"]>> = z.lazy(() =>
  z.union([
    z.strictObject({ filled: pattern.describe("Such a file is there and holds something.") }),
    z.strictObject({ exists: pattern.describe("Such a file is there.") }),
    z.strictObject({ folder: pattern.describe("This folder holds a file.") }),
    z.strictObject({
      file: pattern,
      says: Expression.describe("Such a file has a line like this."),
    }),
    z.strictObject({ dated: pattern.describe("Such a file is there, dated within the cycle.") }),
    z.strictObject({ reported: words.describe("An earlier step's skill has reported this.") }),
    z.strictObject({ all: z.array(ProbeFile).min(1) }),
    z.strictObject({ any: z.array(ProbeFile).min(1) }),
    z.strictObject({ no: ProbeFile }),
  ]),
);

const number = z.string().regex(/^\d+(?:\.\d+)?$/, 'a number as text, such as "3" or "3.5"');
const name = z.string().regex(/^[a-z][a-z0-9-]{0,63}$/, "lower case, digits and hyphens");

const StepFile = z.strictObject({
  step: number,
  name: words,
  skill: name.exactOptional().describe("Who does it; absent: a person's step, or a rest."),
  mode: name.exactOptional(),
  optional: z.boolean().exactOptional().describe("People are asked whether they want it."),
  applies: z
    .strictObject({
      yes: ProbeFile,
      no: ProbeFile,
      question: words,
      marker: pattern.exactOptional(),
    })
    .exactOptional()
    .describe("Only where it has something to do; if neither holds, people are asked."),
  done: ProbeFile.exactOptional().describe("What proves it; absent: only the state can tell."),
  finished: ProbeFile.exactOptional().describe("What has to hold besides while it is under way."),
  leaves: ProbeFile.exactOptional().describe(
    "What stays of it when later steps have used the rest.",
  ),
  progress: pattern.exactOptional().describe("Where the skill keeps its own place, as JSON."),
  tracker: z.array(name).exactOptional().describe("Sub-steps that need the tracker."),
  asks: z.literal("research-round").exactOptional(),
  confirms: z
    .strictObject({ file: pattern, line: words })
    .exactOptional()
    .describe("A line that only a person sets."),
  rests: z.boolean().exactOptional().describe("The session ends here."),
  then: z
    .strictObject({
      step: z.union([number, z.literal("done")]).exactOptional(),
      cycle: z.literal("next").exactOptional(),
      boundary: z.strictObject({ title: words, next: words, notes: words }).exactOptional(),
    })
    .exactOptional()
    .describe("What follows; absent: the next step, at once."),
});

export const FlowFile = z.strictObject({
  name,
  about: words,
  steps: z.array(StepFile).min(1).max(100),
  stretches: z.array(z.tuple([number, number])).exactOptional(),
  onward: z.strictObject({ flow: name, step: number }).exactOptional(),
});

/** What a schema cannot say: a path to the place in the flow, and what is wrong there. */
export interface FlowFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

export function faultsOf(flow: Flow, flows: readonly Flow[]): FlowFault[] {
  const faults: FlowFault[] = [];
  const fault = (path: FlowFault["path"], message: string): void =>
    void faults.push({ path, message });
  const seen = new Map<string, number>();
  for (const [at, step] of flow.steps.entries()) {
    const here = (key: string): FlowFault["path"] => ["steps", at, key];
    if (seen.has(step.step)) fault(here("step"), `there is a step ${step.step} before`);
    seen.set(step.step, at);
    const ways = [step.skill, step.confirms, step.rests].filter((way) => way !== undefined);
    if (ways.length !== 1) fault(here("name"), "a step has one of skill, confirms and rests");
    if (step.finished && !step.done) fault(here("finished"), "without done, it proves nothing");
    if (step.leaves && !step.done) fault(here("leaves"), "without done, it proves nothing");
    const to = step.then?.step;
    if (to !== undefined && to !== "done" && !stepIn(flow, to))
      fault(here("then"), `there is no step ${to}`);
  }
  for (const [at, [from, to]] of (flow.stretches ?? []).entries()) {
    const [first, last] = [seen.get(from), seen.get(to)];
    if (first === undefined || last === undefined || first > last)
      fault(["stretches", at], `there are no steps from ${from} to ${to}`);
  }
  if (flow.onward) {
    const { flow: other, step } = flow.onward;
    const target = other === flow.name ? flow : flows.find((each) => each.name === other);
    if (!target) fault(["onward"], `there is no flow ${other}`);
    else if (!stepIn(target, step)) fault(["onward"], `${other} has no step ${step}`);
  }
  if (!endsOrRests(flow))
    fault(
      ["steps"],
      "it goes round for ever: no step ends, rests, begins a cycle or has a boundary",
    );
  return faults;
}

/** From the first step on, following the chain, something makes it stop. */
function endsOrRests(flow: Flow): boolean {
  const met = new Set<string>();
  for (let step = flow.steps[0]; step && !met.has(step.step); ) {
    met.add(step.step);
    const { then, rests } = step;
    if (rests || then?.boundary || then?.cycle || then?.step === "done") return true;
    const at = flow.steps.indexOf(step);
    step = then?.step === undefined ? flow.steps[at + 1] : stepIn(flow, then.step);
    if (!step) return true;
  }
  return false;
}
