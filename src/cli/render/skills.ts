/** Skills as people read them. */
import type { Finding } from "../../core/finding.ts";
import { shown, type UsedSkill } from "../../project.ts";
import type { SkillsListOutput } from "../shapes.ts";
import type { Style } from "./style.ts";
import { padTo, widthOf, wrapTo } from "./width.ts";

const columns = 100;

export const skillView = (skill: UsedSkill): SkillsListOutput["skills"][number] => ({
  name: skill.head.name,
  from: skill.origin,
  file: skill.file,
  about: skill.head.description,
  modes: Object.keys(skill.head.modes),
  usedBy: [...skill.usedBy],
});

export function skillLines(skills: readonly UsedSkill[], style: Style): string[] {
  const widest = Math.max(...skills.map(({ head }) => widthOf(head.name)));
  return skills.flatMap(({ head, origin, usedBy }) => [
    `${style.bold(padTo(head.name, widest))}  ${style.dim(`${origin}; ${usedBy.join(", ") || "no step of a flow"}`)}`,
    ...wrapTo(shown(head.description), columns - 2).map((line) => `  ${line}`),
  ]);
}

export const skillFindingLines = (findings: readonly Finding[], style: Style): string[] =>
  findings.flatMap(({ code, level, message, file, line, fix }) => {
    const place = file === undefined ? "" : `${file}${line === undefined ? "" : `:${line}`}  `;
    const paint = level === "error" ? style.red : style.yellow;
    return [
      `${shown(place)}${paint(level)} ${code}`,
      `  ${shown(message)}`,
      ...(fix === undefined ? [] : [`  ${style.dim(`→ ${shown(fix)}`)}`]),
    ];
  });
