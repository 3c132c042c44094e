/**
 * A skill: instructions for an agent, and what they promise. The front matter of a `SKILL.md` is the
 * standard's (`name`, `description` …) and ours: phases, what it needs, what it produces, what
 * people are asked on the way. A skill of another system has none of ours, and works all the same.
 *
 * Phases are numbered 1, 2, 3 … in the order in which they stand; that number and the name are what
 * is kept as a sub-step. Paths are relative to `_docs/`; `*` is anything but a slash, `{cycle}` the
 * cycle, `{date}` a date.
 */
import { z } from "zod";

const name = z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "kebab-case");
const path = z.string().min(1);

const SkillPhase = z.strictObject({
  name,
  reads: z.array(path).default([]).describe("The artifacts that this phase needs, and no others."),
  /** A good place to go on in a fresh session. */
  break: z.boolean().default(false).describe("After it, a fresh session is worth its price."),
});
export type SkillPhase = z.infer<typeof SkillPhase>;

/** An artifact, and what makes it one: each is checked by us, whatever the agent says. */
const Artifact = z.strictObject({
  path,
  least: z.int().min(1).default(1).describe("How many such files there have to be."),
  optional: z
    .boolean()
    .default(false)
    .describe("It may be absent; if it is there, the rest holds."),
  sections: z
    .array(z.string())
    .default([])
    .describe("Headings, at any level, with text below each."),
  columns: z
    .array(z.string())
    .default([])
    .describe("A table that has these columns, in this order, and a row."),
  fields: z
    .array(z.string())
    .default([])
    .describe("Lines such as `**Task**: …`, none of them empty."),
  says: z.string().exactOptional().describe("A regular expression; some line is like this."),
  most: z.int().min(1).exactOptional().describe("No more lines than these are like `says`."),
  mentions: path
    .exactOptional()
    .describe(
      "Every file that matches is named in it: by its name, with or without .md, or its id.",
    ),
  in: z
    .string()
    .exactOptional()
    .describe("The column in which they are named: to wait for a task is not to list it."),
});
export type Artifact = z.infer<typeof Artifact>;

/** A question that the skill has to put to people; the agent fills in what is in braces. */
const SkillGate = z.strictObject({
  name,
  after: name.describe("The phase after which it is asked."),
  question: z.string().min(1),
  options: z.array(z.string().min(1)).min(2).max(4),
  recommendation: z.enum(["A", "B", "C", "D"]),
  reason: z.string().min(1),
});
export type SkillGate = z.infer<typeof SkillGate>;

const ways = {
  phases: z.array(SkillPhase).min(1),
  needs: z.array(path).default([]),
  produces: z.array(Artifact).default([]),
  gates: z.array(SkillGate).default([]),
  writes: z
    .literal("nothing")
    .exactOptional()
    .describe("What it finds is its result: below `_docs/` everything stays as it is."),
  reports: z
    .array(name)
    .exactOptional()
    .describe("The words that its result may report, and no others; absent: any."),
};

/** What the standard has besides is kept as it is. */
export const SkillHead = z.looseObject({
  name,
  description: z.string().min(1).max(1024),
  ...ways,
  phases: ways.phases.exactOptional(),
  /** A mode has phases of its own; what else it does not say is the skill's. */
  modes: z
    .record(
      name,
      z.strictObject({
        phases: ways.phases.exactOptional(),
        needs: z.array(path).exactOptional(),
        produces: z.array(Artifact).exactOptional(),
        gates: z.array(SkillGate).exactOptional(),
        writes: ways.writes,
        reports: ways.reports,
      }),
    )
    .default({}),
});
export type SkillHead = z.infer<typeof SkillHead>;

export interface Skill {
  readonly name: string;
  readonly description: string;
  /** Where its SKILL.md lies; a display shows it. */
  readonly file: string;
  /** The instructions, without the front matter. */
  readonly text: string;
  /** It is one of ours, or written as ours are: phases and artifacts are known. */
  readonly own: boolean;
  readonly phases: readonly SkillPhase[];
  readonly needs: readonly string[];
  readonly produces: readonly Artifact[];
  readonly gates: readonly SkillGate[];
  readonly writes?: "nothing";
  readonly reports?: readonly string[];
}

/** As it is done in a mode; one that the skill does not know is told to the agent all the same. */
export function skillOf(
  head: SkillHead,
  { file, text, mode }: { file: string; text: string; mode?: string | undefined },
): Skill {
  const way = mode === undefined ? undefined : head.modes[mode];
  const { writes = head.writes, reports = head.reports } = way ?? {};
  return {
    name: head.name,
    description: head.description,
    file,
    text,
    own: head.phases !== undefined,
    phases: way?.phases ?? head.phases ?? [],
    needs: way?.needs ?? head.needs,
    produces: way?.produces ?? head.produces,
    gates: way?.gates ?? head.gates,
    ...(writes && { writes }),
    ...(reports && { reports }),
  };
}
