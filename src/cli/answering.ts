/** Whoever watches a run at a terminal can answer its questions there. */
import type { Answer, Decision } from "../core/decision.ts";
import type { Project } from "../project.ts";
import type { Display } from "./display.ts";
import { type AskOptions, answeredBy, askerFor } from "./prompt.ts";

/** Whoever is at a terminal can answer here as well as anywhere; the first answer stands. */
export function askInPlace(
  { store, world }: Pick<Project, "store" | "world">,
  display: Display,
  options: AskOptions,
  given: (id: string, answer: Answer) => Promise<unknown> = (id, answer) =>
    store.answer(id, answer),
): (decision: Decision) => void {
  const ask = askerFor(options);
  let turn: Promise<unknown> = Promise.resolve();
  return (decision) => {
    const answered = (): Answer | undefined => store.answers([decision.id]).get(decision.id);
    turn = turn.then(async () => {
      if (answered()) return;
      const chosen = await display.suspend(() => ask(decision, answered));
      if (!chosen.ok || chosen.value === undefined || answered()) return;
      await given(decision.id, { key: chosen.value, by: answeredBy(options), at: world.now() });
    });
  };
}
