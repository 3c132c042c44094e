/** What a flow's next move is decided on, besides what is on record. */
import * as fs from "node:fs";
import * as path from "node:path";
import { readConfig } from "../config.ts";
import type { ProjectState } from "../core/evolve.ts";
import { existing } from "../core/flow/contract.ts";
import { type Flow, type Glob, globOf, type Step, type Survey, stepIn } from "../core/flow/flow.ts";
import { builtInFlows, flowNamed } from "../core/flow/flows/index.ts";
import type { FlowFacts, SkillFacts } from "../core/flow/next-move.ts";
import type { FlowState } from "../core/flow/state.ts";
import { noTaskFacts, type TaskFacts } from "../core/flow/tasks.ts";
import { concernsTracker } from "../core/flow/track.ts";
import { isOver } from "../core/plan/compile.ts";
import { trackerSettings } from "../core/settings.ts";
import { readPlan } from "../formats/read-plan.ts";
import { findSkill, producedBy } from "./find-skill.ts";
import { findTrackers } from "./find-trackers.ts";
import type { Held, Project } from "./hold.ts";
import { openPlan } from "./plan-files.ts";
import { survey } from "./survey.ts";

export interface FactsSite {
  readonly project: Pick<Project, "root">;
  readonly held: Pick<Held, "state">;
  readonly flows: readonly Flow[];
}

export function factsOf({ project, held, flows }: FactsSite): FlowFacts {
  const seen = survey(project.root, flows);
  const { flow: state } = held.state;
  return {
    flows,
    survey: seen,
    skill: state ? skillFacts(project.root, state, flows, seen) : nothingKnown,
    tasks: tasksNow(project.root, held.state.flow, flows),
    ahead: state?.status === "not_started" ? ahead(project.root, seen) : [],
    ...trackerFacts(project.root, held.state, flows),
  };
}

function trackerFacts(
  root: string,
  { flow, course, tracking }: ProjectState,
  flows: readonly Flow[],
): Pick<FlowFacts, "tracker"> {
  if (!flow || !concernsTracker(flow, tracking, course?.uncommitted, flows)) return {};
  const config = readConfig(root);
  const settings = config.ok ? trackerSettings(config.value) : {};
  return { tracker: { found: findTrackers(root), settings } };
}

function tasksNow(root: string, state: FlowState | undefined, flows: readonly Flow[]): TaskFacts {
  const flow = state?.status === "in_progress" ? flowNamed(state.flow, flows) : undefined;
  const folder = flow && stepIn(flow, state?.step ?? "")?.runs?.tasks;
  return folder === undefined ? noTaskFacts : taskFacts(root, folder);
}

/** What lies in a folder of tasks, and whether it can be run. */
export function taskFacts(root: string, folder: string): TaskFacts {
  const namesIn = (name: string): string[] => {
    try {
      return fs
        .readdirSync(path.join(root, "_docs", folder, name))
        .filter((file) => file.endsWith(".md"))
        .map((file) => file.slice(0, -3))
        .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    } catch {
      return [];
    }
  };
  const known = { ...noTaskFacts, todo: namesIn("todo"), done: namesIn("done") };
  if (known.todo.length + known.done.length === 0) return known;
  const opened = openPlan(root, `_docs/${folder}`, "tasks");
  if (!opened.ok) return { ...known, errors: [opened.failure.message] };
  const { plan, errors } = opened.value.compiled;
  return {
    ...known,
    errors: errors.map(({ file, line, message }) => `${file}:${line}: ${message}`),
    missing: plan.phases.flatMap(({ written, section }) => (section ? [] : [written])),
    names: Object.fromEntries(
      plan.phases.flatMap(({ id, section }) =>
        section ? [[id, path.basename(section.file, ".md")]] : [],
      ),
    ),
  };
}

const nothingKnown: SkillFacts = { phases: [], lacks: [], there: [] };

function skillFacts(
  root: string,
  { flow: name, step: number, cycle }: FlowState,
  flows: readonly Flow[],
  { docs = new Map<string, number>() }: Survey,
): SkillFacts {
  const flow = flowNamed(name, flows.length > 0 ? flows : builtInFlows);
  const step = flow && stepIn(flow, number);
  if (!flow || step?.skill === undefined) return nothingKnown;
  const found = findSkill(root, step.skill, step.mode);
  if (!found.ok) return { ...nothingKnown, missing: found.failure.message };
  const { phases, needs, produces } = found.value;
  const lacks = needs.filter((need) => {
    const pattern = globOf(need, { cycle });
    return ![...docs.keys()].some((file) => pattern.test(file));
  });
  const there = existing(produces, docs, { cycle });
  const earlier = there.length > 0 ? leftBefore(root, flow, step, cycle) : [];
  const own = there.filter((file) => !earlier.some((pattern) => pattern.test(file)));
  return { phases, lacks, there: own };
}

/** What earlier steps leave and their skills promise: that a step finds it says nothing of itself. */
const leftBefore = (root: string, flow: Flow, step: Step, cycle: number): Glob[] =>
  flow.steps
    .slice(0, flow.steps.indexOf(step))
    .flatMap((each) => [...producedBy(root, each, cycle), ...leftBy(each, { cycle })]);

/** What is there because of a step, beside what its skill promises. */
const leftBy = ({ leaves }: Step, time: { readonly cycle: number }): Glob[] =>
  leaves && ("exists" in leaves || "filled" in leaves)
    ? [globOf("exists" in leaves ? leaves.exists : leaves.filled, time)]
    : [];

/** How much there is to do, from the task files and their table. */
function ahead(root: string, { docs }: Survey): string[] {
  const files = [...(docs?.keys() ?? [])].filter((file) =>
    /^02_tasks\/(?:(?:todo|done)\/[^/]+|_dependencies_table)\.md$/.test(file),
  );
  const tasks = files.filter((file) => file.startsWith("02_tasks/todo/"));
  if (tasks.length === 0) return [];
  const sources = files.slice(0, mostRead).flatMap((file) => {
    try {
      return [{ file, text: fs.readFileSync(path.join(root, "_docs", file), "utf8") }];
    } catch {
      // It was there a moment ago; what counts is how many there are.
      return [];
    }
  });
  let points = 0;
  for (const { file, text } of sources)
    if (tasks.includes(file))
      points += Number(/^\*\*Complexity\*\*:\s*(\d+)/m.exec(text)?.[1] ?? 0);
  const batches = batchesIn(sources);
  return [
    `Tasks: ${tasks.length}${batches > 0 ? ` · batches expected: ${batches}` : ""} · points: ${points}`,
  ];
}

const mostRead = 500;

/** What can be worked on side by side is a batch; 0: nobody can tell from what is there. */
function batchesIn(sources: readonly { file: string; text: string }[]): number {
  const plan = readPlan(sources, "tasks");
  if (!plan.ok) return 0;
  const open = new Set(plan.value.plan.phases.filter((each) => !isOver(each)).map(({ id }) => id));
  return plan.value.batches.filter((batch) => batch.some((id) => open.has(id))).length;
}
