/** `autodev skills show`: one of them, whole. */
import { openProject, shownLine, showSkill } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { skillView } from "../render/skills.ts";
import type { SkillsShowOutput } from "../shapes.ts";

export function run(name: string, options: { json?: boolean }): number {
  const found = showSkill(openProject(process.cwd()).root, name);
  if (!found.ok) return reportFailure(found.failure, options.json === true);
  const { skill, text } = found.value;
  if (options.json) {
    printJson({ version: 1, ...skillView(skill), text } satisfies SkillsShowOutput);
  } else for (const line of text.trimEnd().split("\n")) print(shownLine(line));
  return exitCodes.finished;
}
