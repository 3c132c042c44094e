/** `autodev skills eject`: one of ours as the project's own, to be changed. */
import { ejectSkill, openProject } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import type { SkillsEjectOutput } from "../shapes.ts";

export function run(name: string, options: { json?: boolean }): number {
  const made = ejectSkill(openProject(process.cwd()).root, name);
  if (!made.ok) return reportFailure(made.failure, options.json === true);
  if (options.json) {
    printJson({ version: 1, name, files: [...made.value] } satisfies SkillsEjectOutput);
  } else {
    for (const file of made.value) print(file);
    print("Next: change it, then autodev skills check");
  }
  return exitCodes.finished;
}
