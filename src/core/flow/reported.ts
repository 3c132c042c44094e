/** Where a skill says that it is, and what of it is kept as the sub-step. */
import type { SkillPhase } from "./skill.ts";
import { awaitingInvocation, type SubStep } from "./state.ts";

/** In the skill's own numbering, in which half-steps occur. */
export interface SaidSubStep {
  readonly number: number;
  readonly name: string;
  readonly detail: string;
}

/**
 * A skill's own phases are known by name and numbered by their place. Of others the number is theirs
 * as long as it goes up by whole steps: what comes between two takes the next one, and so does
 * another name under a number that is taken. Undefined: it is no news, or nothing that can be kept.
 */
export function heardSubStep(
  said: SaidSubStep,
  last: SubStep,
  phases: readonly SkillPhase[],
): SubStep | undefined {
  const name = kebab(said.name);
  // Reserved for what has not begun; nobody can be at work in it.
  if (name === "" || name === awaitingInvocation.name || said.number <= 0) return undefined;
  if (name === last.name && last.phase > 0) {
    return said.detail === last.detail ? undefined : { ...last, detail: said.detail };
  }
  const at = phases.findIndex((each) => each.name === name);
  if (at >= 0) return at < last.phase ? undefined : { phase: at + 1, name, detail: said.detail };
  if (Math.ceil(said.number) < last.phase) return undefined;
  const phase = Math.max(Math.ceil(said.number), last.phase + 1);
  return { phase, name, detail: said.detail };
}

const kebab = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 80);
