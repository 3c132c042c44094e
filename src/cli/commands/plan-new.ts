/** `autodev plan new`: a small plan to begin with. */
import { planTemplate } from "../../core/plan/write-superplan.ts";
import { createPlan, planDisk } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";

export async function run(
  file: string | undefined,
  options: { title?: string; json?: boolean; color?: boolean },
): Promise<number> {
  const text = planTemplate(options.title ?? "Implementation plan");
  if (file !== undefined) {
    const made = await createPlan(process.cwd(), file, text, planDisk);
    if (!made.ok) return reportFailure(made.failure, options.json === true);
  }
  if (options.json) printJson({ version: 1, file: file ?? null, text });
  else if (file === undefined) print(text.trimEnd());
  else print(`${file} is written. Edit it, then: autodev plan check ${file}`);
  return exitCodes.finished;
}
