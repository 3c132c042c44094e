/** `autodev skills check`: what would stop a flow half-way, found before it is run. */
import { examineSkills, openProject } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { exitCodes } from "../render/failure.ts";
import { skillFindingLines } from "../render/skills.ts";
import { styleFor } from "../render/style.ts";
import type { SkillsCheckOutput } from "../shapes.ts";

export function run(options: { json?: boolean; color?: boolean }): number {
  const { skills, findings } = examineSkills(openProject(process.cwd()).root);
  const errors = findings.filter(({ level }) => level === "error").length;
  if (options.json) {
    printJson({
      version: 1,
      skills: skills.length,
      findings: findings.map(({ code, level, message, file, line, fix }) => ({
        code,
        level: level === "ok" ? "note" : level,
        message,
        file: file ?? null,
        line: line ?? null,
        fix: fix ?? null,
      })),
    } satisfies SkillsCheckOutput);
  } else {
    const style = styleFor(options.color);
    for (const line of skillFindingLines(findings, style)) print(line);
    const said = `${skills.length} skills, ${errors === 0 ? "no" : errors} error${errors === 1 ? "" : "s"}`;
    print(errors === 0 ? style.green(`${said}.`) : style.red(said));
  }
  return errors > 0 ? exitCodes.failure : exitCodes.finished;
}
