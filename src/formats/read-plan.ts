/** From texts to a compiled plan: the formats in the order in which they are asked. */
import { fail, type Result, succeed } from "../core/failure.ts";
import { type CompiledPlan, compilePlan } from "../core/plan/compile.ts";
import type { PlanFormat } from "../core/plan/plan.ts";
import { understand } from "../core/plan/understand.ts";
import { backlog } from "./backlog.ts";
import { conflictLine } from "./conflict.ts";
import type { Source } from "./document.ts";
import { type Format, inputOf } from "./format.ts";
import { generic } from "./generic.ts";
import { kiro } from "./kiro.ts";
import { openspec } from "./openspec.ts";
import { specKit } from "./spec-kit.ts";
import { story } from "./story.ts";
import { superplan } from "./superplan.ts";
import { superpowers } from "./superpowers.ts";
import { taskMaster } from "./task-master.ts";
import { tasks } from "./tasks.ts";

export type { Source } from "./document.ts";

/** From the surest sign to the weakest; the last one takes what is left. */
const formats: readonly Format[] = [
  tasks,
  taskMaster,
  backlog,
  story,
  specKit,
  superpowers,
  kiro,
  superplan,
  openspec,
  generic,
];

export function readPlan(sources: readonly Source[], forced?: PlanFormat): Result<CompiledPlan> {
  const input = inputOf(sources);
  const [first] = sources;
  if (first && sources.length === 1 && /^\uFEFF?\s*$/u.test(first.text)) {
    return fail("plan-unreadable", `${first.file} is empty`, {
      file: first.file,
      line: 1,
      hint: "autodev plan new shows what a plan looks like",
    });
  }
  for (const { file, text } of sources) {
    const line = conflictLine(text);
    if (line === undefined) continue;
    const hint = "resolve the conflict; then run the same command again";
    return fail("plan-unreadable", `${file}:${line}: git left conflict markers`, {
      file,
      line,
      hint,
    });
  }
  // JSON that is no list of tasks is no Markdown either.
  const isJson = first !== undefined && /\.json$/iu.test(first.file);
  const chosen = forced ?? (isJson ? "task-master" : undefined);
  for (const format of formats) {
    if (chosen !== undefined && format.name !== chosen) continue;
    const reason = format.detect(input) ?? (chosen === undefined ? undefined : "asked for");
    if (reason === undefined) continue;
    const draft = format.read(input);
    if (!draft.ok) return draft;
    return succeed(compilePlan(understand(draft.value, forced ? "asked for" : reason)));
  }
  throw new Error("the generic format takes everything");
}
