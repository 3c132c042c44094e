/** `autodev skills list`: who can do a step, and where that comes from. */
import { examineSkills, openProject } from "../../project.ts";
import { print, printError, printJson } from "../output.ts";
import { exitCodes } from "../render/failure.ts";
import { skillFindingLines, skillLines, skillView } from "../render/skills.ts";
import { styleFor } from "../render/style.ts";
import type { SkillsListOutput } from "../shapes.ts";

export function run(options: { json?: boolean; color?: boolean }): number {
  const { skills, findings } = examineSkills(openProject(process.cwd()).root);
  if (options.json) {
    printJson({ version: 1, skills: skills.map(skillView) } satisfies SkillsListOutput);
    return exitCodes.finished;
  }
  for (const line of skillLines(skills, styleFor(options.color))) print(line);
  const unusable = findings.filter(({ code }) => code === "skill-invalid");
  for (const line of skillFindingLines(unusable, styleFor(options.color, 2))) printError(line);
  return exitCodes.finished;
}
