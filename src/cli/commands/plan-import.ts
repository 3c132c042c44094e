/** `autodev plan import`: a plan of another tool as one of ours. */
import type { PlanFormat } from "../../core/plan/plan.ts";
import { writeSuperplan } from "../../core/plan/write-superplan.ts";
import { createPlan, openPlan, planDisk, shown } from "../../project.ts";
import { isTerminal, print, printError, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { findingLines } from "../render/plan.ts";
import { styleFor } from "../render/style.ts";
import type { PlanImportOutput } from "../shapes.ts";

interface Options {
  format?: PlanFormat;
  output?: string;
  json?: boolean;
  color?: boolean;
}

export async function run(file: string, options: Options): Promise<number> {
  const json = options.json === true;
  const opened = openPlan(process.cwd(), file, options.format);
  if (!opened.ok) return reportFailure(opened.failure, json);
  const { compiled } = opened.value;
  const { plan } = compiled;
  if (plan.phases.length === 0) {
    const [first] = compiled.errors;
    return reportFailure(
      {
        code: "plan-unreadable",
        message: first?.message ?? "there are no phases",
        file,
        hint: first?.hint ?? "autodev plan check",
      },
      json,
    );
  }
  const text = writeSuperplan(plan, titleOf(opened.value.sources[0]?.text ?? "", file));
  if (options.output !== undefined) {
    const made = await createPlan(process.cwd(), options.output, text, planDisk);
    if (!made.ok) return reportFailure(made.failure, json);
  }
  const output: PlanImportOutput = {
    version: 1,
    from: { format: plan.format, files: [...plan.files] },
    to: { format: "superplan", file: options.output ?? null },
    phases: plan.phases.length,
    text,
  };
  if (json) printJson(output);
  else if (options.output === undefined) {
    // Into a file byte for byte; at a terminal no line of it is obeyed.
    const lines = text.trimEnd().split("\n");
    print((isTerminal(1) ? lines.map(shown) : lines).join("\n"));
  } else
    print(
      `${plan.phases.length} phases of ${plan.format} are in ${options.output}; autodev plan check ${options.output} shows them.`,
    );
  // What the source has wrong with it, its copy has too.
  if (!json)
    for (const line of findingLines(compiled.errors, "error", styleFor(options.color)))
      printError(line);
  return exitCodes.finished;
}

const titleOf = (text: string, file: string): string =>
  /^#\s+(.+?)\s*#*\s*$/mu.exec(text)?.[1] ??
  (file.split(/[\\/]/u).at(-1) ?? file).replace(/\.\w+$/u, "");
