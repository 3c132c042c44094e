/**
 * Everything that an agent is told when it works by a skill: where the project is, what the skill
 * says, and the artifacts that the present sub-step needs, and no others. Disk is memory: what a
 * conversation before this one knew is not in here, and need not be.
 */
import { type Fetched, handedIn } from "../plan/brief.ts";
import { code, cut, fenced, line } from "../quote.ts";
import type { Skill } from "./skill.ts";
import type { FlowState } from "./state.ts";

export interface SkillBriefInput {
  readonly state: FlowState;
  /** As it stands on disk. */
  readonly stateFile: string;
  readonly skill: Skill;
  readonly mode?: string;
  /** What the present sub-step reads; `text` absent: it is large, and only its headings are here. */
  readonly artifacts: readonly {
    readonly path: string;
    readonly text?: string;
    readonly headings?: readonly string[];
  }[];
  /** What earlier cycles have taught, newest first; absent: nothing yet. */
  readonly lessons?: readonly string[];
  /** It is the same conversation as before. */
  readonly goesOn: boolean;
  readonly notes: readonly string[];
  /** The little program by which sub-steps are reported, and the copy of the state file. */
  readonly reportBy?: string;
  readonly stateCopy?: string;
  readonly resultSchema: string;
  readonly resultPath?: string;
  /** Somebody's own agent has come for it: it reports where it was fetched. */
  readonly fetched?: Fetched;
}

export function writeSkillBrief(input: SkillBriefInput): string {
  const parts = [
    opening(input),
    notes(input),
    position(input),
    instructions(input),
    lessons(input),
    phases(input),
    artifacts(input),
    contract(input),
    questions(input),
    rules(),
    result(input),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

const opening = ({ state, skill, mode, goesOn, fetched }: SkillBriefInput): string =>
  `# Step ${line(state.step)}: ${line(state.name)}

You do this one step of the flow ${line(state.flow)} by the skill ${code(skill.name)}${mode === undefined ? "" : `, in its mode ${code(mode)}`}, in ${fetched ? `the folder ${code(fetched.folder)}` : "the current\ndirectory"}. ${goesOn ? "You have worked on it in this conversation before: go on." : "Whatever was done before lies on disk: read it there, and do not do it again."}`;

const notes = ({ notes: all }: SkillBriefInput): string =>
  all.length === 0
    ? ""
    : `## What you have to know

${all.map((note) => fenced("text", cut(note, 4000))).join("\n\n")}`;

function position({ state, stateFile, skill }: SkillBriefInput): string {
  const { phase, name, detail } = state.subStep;
  const from =
    phase > 0
      ? `Begin at sub-step ${phase} ${code(name)}${detail === "" ? "" : ` (${line(detail)})`}: what comes before it is done.`
      : skill.phases[0]
        ? `Begin at the first: ${code(skill.phases[0].name)}.`
        : "Begin at the beginning.";
  return `## Where the project is

${fenced("markdown", stateFile)}

${from}`;
}

const instructions = ({ skill }: SkillBriefInput): string =>
  `## The skill

${fenced("markdown", skill.text)}`;

const lessons = ({ lessons: all = [], artifacts: read }: SkillBriefInput): string =>
  all.length === 0 || read.some(({ path }) => path === lessonsFile)
    ? ""
    : `## Lessons of earlier cycles

They have cost something to learn: mind those that touch your step.

${fenced("text", all.join("\n"))}`;

/** Where they are kept, below `_docs/`; the newest stand first. */
export const lessonsFile = "LESSONS.md";
export const mostLessons = 15;

export const newestLessons = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .filter((each) => /^[-*] +\S/.test(each))
    .slice(0, mostLessons)
    .map((each) => cut(each, 400));

function phases({ skill, reportBy = "", stateCopy = "", fetched }: SkillBriefInput): string {
  const list = skill.phases
    .map(({ name, reads }, at) => {
      const what = reads.map((path) => code(`_docs/${path}`)).join(", ");
      return `${at + 1}. ${code(name)}${what === "" ? "" : `: reads ${what}`}`;
    })
    .join("\n");
  const how = fetched
    ? `When you begin a sub-step, say so with the tool \`sub_step\` (its number, its name, the lease below):
whoever takes over after you goes on there, and you keep the work for longer.`
    : `When you begin a sub-step, say so; whoever takes over after you goes on there:

${fenced("sh", `"${reportBy}" <number> <name> ["a detail"]`)}

If you cannot run commands, change \`sub_step\` in ${code(stateCopy)}, a copy of the state file for
this purpose. Numbers go up by one; the name is in kebab-case.`;
  return `## Sub-steps\n\n${list === "" ? "" : `${list}\n\n`}${how}`;
}

function artifacts({ artifacts: all }: SkillBriefInput): string {
  if (all.length === 0) return "";
  const each = all.map(({ path, text, headings = [] }) =>
    text === undefined
      ? `### _docs/${line(path)}\n\nIt is long: read the sections that you need.\n\n${fenced("text", headings.join("\n"))}`
      : `### _docs/${line(path)}\n\n${fenced("markdown", text)}`,
  );
  return `## What this sub-step reads

${each.join("\n\n")}`;
}

function contract({ skill }: SkillBriefInput): string {
  const words = skill.reports ?? [];
  const reported =
    words.length > 0 ? `\n\nIn \`reports\`: ${words.map(code).join(", ")}, or none of them.` : "";
  if (skill.writes === "nothing")
    return `## What has to be there in the end

Everything as it was: you write nothing, neither below \`_docs/\` nor elsewhere. What you find is your
result.${reported}`;
  if (skill.produces.length === 0) return "";
  const each = skill.produces.map((artifact) => {
    const { path, least, optional, sections, columns, fields, says, most, mentions } = artifact;
    const wants = [
      ...(least > 1 ? [`at least ${least} files`] : []),
      ...(sections.length > 0 ? [`sections ${sections.map(code).join(", ")}`] : []),
      ...(columns.length > 0 ? [`a table with ${columns.map(code).join(", ")}`] : []),
      ...(fields.length > 0 ? [`fields ${fields.map(code).join(", ")}`] : []),
      ...(says === undefined ? [] : [`a line like ${code(`/${says}/`)}`]),
      ...(most === undefined ? [] : [`at most ${most} of these`]),
      ...(mentions === undefined
        ? []
        : [
            `every one of ${code(mentions)} is named ${artifact.in === undefined ? "in it" : `under ${code(artifact.in)}`}`,
          ]),
    ];
    const told = wants.length > 0 ? `: ${wants.join("; ")}` : "";
    return `- ${code(`_docs/${path}`)}${optional ? " (if there is any)" : ""}${told}`;
  });
  return `## What has to be there in the end

It is looked at when you have ended, and nothing else counts:

${each.join("\n")}${reported}`;
}

function questions({ skill, fetched }: SkillBriefInput): string {
  const gates = skill.gates.map(
    ({ after, question, options }) =>
      `- after ${code(after)}: ${line(question)} (${options.map(line).join(" / ")})`,
  );
  return `## Questions

${fetched ? "What only a person can decide is asked through us, so that it is on record." : "You cannot ask anybody while you work."} Where only a person can decide, save what you have, then end
with \`"status": "failed"\` and your question in \`asks\`: two to four concrete options of one line each, and
which one you recommend. You go on here with the answer.${gates.length > 0 ? `\n\nThe skill wants these asked:\n\n${gates.join("\n")}` : ""}`;
}

const rules = (): string => `## What to leave alone

Write below \`_docs/\` and nowhere else: code is changed by plan runs. Do not touch the state file, do
not commit, push or switch branches, and do not begin another step.`;

const result = (input: SkillBriefInput): string =>
  input.fetched
    ? `## The result

${handedIn(input.fetched)} Its \`commit_message\` says in one line what came of the step. If what lies there is broken, so that nobody can go
on from it, fail with the error type \`corruption\`: the step is begun anew.`
    : ownResult(input);

const ownResult = ({ state, resultSchema, resultPath }: SkillBriefInput): string => `## The result

When you end, ${resultPath === undefined ? "hand in your result, a JSON object" : `write a JSON object to ${code(resultPath)}`} with \`"phase_id": ${JSON.stringify(state.step)}\`. Its \`tasks\` are the
sub-steps; its \`commit_message\` says in one line what came of the step. If what lies there is broken, so that nobody can go
on from it, fail with the error type \`corruption\`: the step is begun anew.

${fenced("json", resultSchema)}`;
