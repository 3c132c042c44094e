/** `autodev plan check`: what a plan says, and what is wrong with it. */
import type { CompiledPlan } from "../../core/plan/compile.ts";
import { count, type PlanFormat } from "../../core/plan/plan.ts";
import { openPlan } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { findingLines, graphLines, headline } from "../render/plan.ts";
import { type Style, styleFor } from "../render/style.ts";
import type { PlanCheckOutput } from "../shapes.ts";

interface Options {
  format?: PlanFormat;
  strict?: boolean;
  json?: boolean;
  color?: boolean;
}

export function run(file: string, options: Options): number {
  const opened = openPlan(process.cwd(), file, options.format);
  if (!opened.ok) return reportFailure(opened.failure, options.json === true);
  const { compiled } = opened.value;
  if (options.json) printJson(output(compiled));
  else show(compiled, styleFor(options.color));
  const blocking = options.strict ? [...compiled.errors, ...compiled.warnings] : compiled.errors;
  return blocking.length > 0 ? exitCodes.failure : exitCodes.finished;
}

const output = ({
  plan,
  batches,
  criticalPath,
  estimate,
  errors,
  warnings,
}: CompiledPlan): PlanCheckOutput => ({
  version: 1,
  format: plan.format,
  reason: plan.reason,
  files: [...plan.files],
  phases: plan.phases.map((phase) => ({
    id: phase.id,
    written: phase.written,
    name: phase.name,
    dependsOn: [...phase.dependsOn],
    parallelWith: [...phase.parallelWith],
    estimate: phase.estimate ?? null,
    status: phase.status,
    tasks: count(phase.tasks),
    definitionOfDone: count(phase.definitionOfDone),
    checkpoints: count(phase.checkpoints),
    files: phase.files.map(({ path, change }) => ({ path, change })),
    file: phase.place.file,
    line: phase.place.line,
  })),
  boxes: {
    total: plan.boxes.total,
    done: plan.boxes.done,
    outsidePhases: plan.boxes.outsidePhases.length,
  },
  batches: batches.map((batch) => [...batch]),
  criticalPath: [...criticalPath],
  estimate,
  errors: [...errors],
  warnings: [...warnings],
});

function show(compiled: CompiledPlan, style: Style): void {
  const { errors, warnings, plan } = compiled;
  for (const line of headline(compiled)) print(line);
  if (plan.phases.length > 0) {
    print("");
    for (const line of graphLines(compiled, style)) print(line);
  }
  if (errors.length + warnings.length > 0) print("");
  for (const line of [
    ...findingLines(errors, "error", style),
    ...findingLines(warnings, "warning", style),
  ])
    print(line);
  print("");
  const number = (count: number, word: string): string =>
    `${count} ${word}${count === 1 ? "" : "s"}`;
  print(
    errors.length > 0
      ? style.red(`${number(errors.length, "error")}, ${number(warnings.length, "warning")}`)
      : style.green(`No errors, ${number(warnings.length, "warning")}.`),
  );
}
