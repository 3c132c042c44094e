/** Puts a question of a run to people: on record first, asked once, ever. */
import { decisionId, type Question } from "../core/decision.ts";
import { type Result, succeed } from "../core/failure.ts";
import type { Held, Project } from "./hold.ts";
import { type Ask, put } from "./open-flow.ts";

export interface Asker {
  readonly project: Project;
  readonly held: Held;
  readonly ask: Ask;
  readonly by: string;
}

/** The letter that was chosen; the failure `decision-required`: nobody was there to choose. */
export async function askOnce(asker: Asker, question: Question): Promise<Result<string>> {
  const { project, held, ask, by } = asker;
  const id = decisionId(question, project.world.hash);
  const known = held.state.decisions[id];
  if (known?.answer) return succeed(known.answer.key);
  const answered = await put(project, held, id, question, { ask, by });
  if (!answered.ok) return answered;
  return succeed(held.state.decisions[id]?.answer?.key ?? question.recommendation);
}
