/** The skills of a project and ours beside the flows that use them: a list, what does not fit, a copy. */
import * as fs from "node:fs";
import * as path from "node:path";
import { type Failure, fail, type Result, succeed } from "../core/failure.ts";
import type { Finding } from "../core/finding.ts";
import type { Flow } from "../core/flow/flow.ts";
import { lintSkills } from "../core/flow/skill-lint.ts";
import { examineFlows } from "./find-flows.ts";
import { builtInFolder, findSkill, type ListedSkill, listSkills } from "./find-skill.ts";
import { placeFile, whatStands } from "./place-file.ts";

export interface UsedSkill extends ListedSkill {
  /** As `greenfield 1`. */
  readonly usedBy: readonly string[];
}

export interface SkillExamination {
  readonly skills: readonly UsedSkill[];
  readonly findings: readonly Finding[];
}

export function examineSkills(root: string): SkillExamination {
  const { skills, failures } = listSkills(root);
  const flows = examineFlows(root).flows.map(({ flow }) => flow);
  const used = skills.map((skill) => ({ ...skill, usedBy: stepsWith(flows, skill.head.name) }));
  // Others that lie in the same folders are no business of ours.
  const linted = used.filter(({ origin, usedBy }) => origin === "built-in" || usedBy.length > 0);
  const findings = lintSkills(flows, linted).filter(({ level }) => level !== "ok");
  return { skills: used, findings: [...failures.map(asFinding), ...findings] };
}

const stepsWith = (flows: readonly Flow[], name: string): string[] =>
  flows.flatMap((flow) =>
    flow.steps.filter(({ skill }) => skill === name).map(({ step }) => `${flow.name} ${step}`),
  );

const asFinding = ({ code, message, file, line, hint }: Failure): Finding => ({
  code,
  level: "error",
  message,
  ...(file !== undefined && { file }),
  ...(line !== undefined && { line }),
  ...(hint !== undefined && { fix: hint }),
});

/** The whole file, as an agent would be given it and a person reads it. */
export function showSkill(root: string, name: string): Result<{ skill: UsedSkill; text: string }> {
  const found = findSkill(root, name);
  if (!found.ok) return found;
  const skill = examineSkills(root).skills.find(({ folder }) => folder === found.value.folder);
  if (!skill) return fail("not-found", `there is no skill ${JSON.stringify(name)}`);
  return succeed({ skill, text: fs.readFileSync(path.join(skill.folder, "SKILL.md"), "utf8") });
}

/** One of ours as the project's own, to be changed: from then on it is the one that is used. */
export function ejectSkill(root: string, name: string): Result<readonly string[]> {
  const found = findSkill(root, name);
  if (!found.ok) return found;
  const { origin } = found.value;
  if (origin !== "built-in") {
    return fail("usage", `${name} is the project's own already: ${origin}/${name}/SKILL.md`, {
      hint: "change it there",
    });
  }
  const from = path.join(builtInFolder(), name);
  const beside = listSkills(root).skills.find(({ folder }) => folder === from)?.beside ?? [];
  const made: string[] = [];
  for (const file of ["SKILL.md", ...beside]) {
    const to = `.autodev/skills/${name}/${file}`;
    const bytes = fs.readFileSync(path.join(from, file));
    const isNew = whatStands(path.join(root, to)) === undefined;
    if (!isNew || !placeFile(root, to, { bytes, mode: "100644" }, { id: "skill" })) {
      return fail("disk", `${to} cannot be written: something else is in the way`, {
        file: to,
        hint: "a link or a file stands where a folder has to be; move it away, and try again",
      });
    }
    made.push(to);
  }
  return succeed(made);
}
