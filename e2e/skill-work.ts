/**
 * What a model does that works by a skill, sub-step by sub-step. Its artifacts are the examples of
 * the skill's own text, and where that has none, what its contract asks for and no more: an example
 * that would not pass its own contract is found out here.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { Script, Step } from "./script.ts";

export type SkillName = "problem" | "research" | "plan" | "decompose";

interface Promised {
  readonly path: string;
  readonly sections?: readonly string[];
  readonly columns?: readonly string[];
}

export interface SkillText {
  /** What an agent is to read. */
  readonly text: string;
  readonly phases: readonly { readonly name: string; readonly reads?: readonly string[] }[];
  readonly produces: readonly Promised[];
}

export function skillText(name: SkillName): SkillText {
  const file = readFileSync(join(process.cwd(), "skills", name, "SKILL.md"), "utf8");
  const [, head = "", text = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(file) ?? [];
  return { ...(parse(head) as Omit<SkillText, "text">), text };
}

/** Below `_docs/`, by the sub-step that leaves them. */
export type Artifacts = Readonly<Record<string, readonly string[]>>;

export const artifacts: Readonly<Record<SkillName, Artifacts>> = {
  problem: {
    "problem-statement": ["00_problem/problem.md"],
    restrictions: ["00_problem/restrictions.md"],
    "acceptance-criteria": ["00_problem/acceptance_criteria.md"],
    "input-data": ["00_problem/input_data/similar_names.csv", "00_problem/input_data/README.md"],
  },
  // The draft that people chose is there when a plan is begun.
  research: { synthesis: ["01_solution/solution_draft01.md", "01_solution/solution.md"] },
  plan: {
    "solution-analysis": ["02_document/solution_analysis.md"],
    architecture: ["02_document/architecture.md", "02_document/adr/01_no_server.md"],
    "component-decomposition": ["02_document/components/02_messenger.md"],
    "architecture-review-risk-assessment": ["02_document/risks.md"],
    "test-specifications": [
      "environment",
      "test_data",
      "blackbox_tests",
      "traceability-matrix",
    ].map((name) => `02_document/tests/${name}.md`),
    epics: ["02_document/epics.md"],
    "final-report": ["02_document/FINAL_report.md"],
  },
  decompose: {
    "bootstrap-structure": ["02_tasks/todo/01_initial_structure.md"],
    "task-decomposition": ["02_tasks/todo/03_outbox.md"],
    "blackbox-test-tasks": [],
    "cross-task-consistency": ["02_tasks/_dependencies_table.md"],
  },
};

/** What each of a skill's artifacts holds. */
export function artifactsOf(name: SkillName): Readonly<Record<string, string>> {
  const skill = skillText(name);
  const paths = Object.values(artifacts[name]).flat();
  return Object.fromEntries(
    paths.map((path) => [
      path,
      own[path]?.(skill) ?? exampleIn(skill, path) ?? asPromised(skill, path),
    ]),
  );
}

/** Of which the texts of the skills have no example. */
const own: Readonly<Record<string, (skill: SkillText) => string | undefined>> = {
  "00_problem/input_data/similar_names.csv": () => "name,flat\nMeier,12\nMaier,13\n",
  "02_tasks/todo/01_initial_structure.md": (skill) =>
    exampleIn(skill, "02_tasks/todo/03_outbox.md")
      ?.replaceAll("03_outbox", "01_initial_structure")
      .replaceAll("Outbox on disk", "Initial structure")
      .replace("**Dependencies**: 01_initial_structure", "**Dependencies**: None"),
};

const exampleIn = ({ text }: SkillText, path: string): string | undefined =>
  text.split(`\`\`\`md ${path}\n`)[1]?.split("```")[0];

function asPromised({ text, produces }: SkillText, path: string): string {
  const { sections = [], columns = [] } = produces.find((each) => each.path === path) ?? { path };
  const table = columns.length > 0 ? `\n${tableIn(text, columns)}` : "";
  const said = sections.map((name) => `\n## ${name}\n${sentences[name] ?? "As agreed."}\n`);
  return [`# ${path}\n\nWhat has to be said.\n`, ...said, table].join("");
}

const sentences: Readonly<Record<string, string>> = {
  // On this depends whether the step after the plan is done.
  "Where it runs": "One process on the desk's PC. There is no UI.",
};

/** As the skill shows it, or with a row of nothing in particular. */
function tableIn(text: string, columns: readonly string[]): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  const head = row(columns);
  const shown = text.split(`\n${head}`)[1]?.split(/\n(?!\|)/)[0];
  const rule = `|${"---|".repeat(columns.length)}\n`;
  return `${head}${shown === undefined ? rule + row(columns.map(() => "AC1")) : `${shown}\n`}`;
}

// ── what the model does ────────────────────────────────────────────────────────────────────────

/** Of a brief, what somebody who works by it has to know. */
export interface Told {
  readonly step: string;
  /** The place of the first sub-step that is to be done; the first has 1. */
  readonly from: number;
  /** By which sub-steps are reported. */
  readonly program: string;
  /** Why the last try came to nothing. */
  readonly failure?: string;
}

export function toldBy(brief: string): Told | undefined {
  const step = /^# Step (\S+): /m.exec(brief)?.[1];
  const program = /^"(\/.+)" <number> <name>/m.exec(brief)?.[1];
  if (step === undefined || program === undefined) return undefined;
  const failure = /^The last try failed: (.+)$/m.exec(brief)?.[1];
  return {
    step,
    program,
    from: Number(/^Begin at sub-step (\d+) /m.exec(brief)?.[1] ?? 1),
    ...(failure !== undefined && { failure }),
  };
}

/** All that is left of a skill, as `texts` has it; what is not in there is forgotten. */
export function workBy(
  skill: SkillName,
  { step, from, program }: Told,
  texts: Readonly<Record<string, string>>,
): Script {
  const phases = Object.entries(artifacts[skill]);
  const steps = phases.flatMap(([name, paths], at): Step[] => {
    if (at + 1 < from) return [];
    const written = paths.flatMap((path): Step[] => {
      const content = texts[path];
      return content === undefined ? [] : [{ write: { path: `_docs/${path}`, content } }];
    });
    return [{ bash: `"${program}" ${at + 1} ${name}` }, ...written];
  });
  return [...steps, ...saying({ phase_id: step, status: "complete" }, phases.length)];
}

/** One file is put right, whatever is there of it: not every agent writes over what it has not read. */
export const mending = ({ step }: Told, path: string, text: string): Script => [
  { bash: `cat > '_docs/${path}' <<'END'\n${text}END` },
  ...saying({ phase_id: step, status: "complete" }, 1),
];

/** A flow rests at a question, before anything of a step is done. */
export const asking = ({ step }: Told): Script =>
  saying(
    {
      phase_id: step,
      status: "failed",
      asks: {
        question: "Shall this step be begun?",
        options: ["Yes", "Not yet"],
        recommendation: "B",
        reason: "the one before it is what is looked at",
      },
    },
    1,
  );

const saying = (result: object, total: number): Script => [
  {
    json: {
      tasks: { total, completed: total },
      gates: {},
      commit_message: "docs: what the step leaves",
      files: { created: [], modified: [], deleted: [] },
      plan_updated: false,
      error: null,
      ...result,
    },
  },
  { say: "That is all." },
];
