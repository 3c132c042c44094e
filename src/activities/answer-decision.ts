/**
 * A decision is answered, from whichever door: the answer is durable before anything else happens;
 * whoever holds the project takes it up, else we record it ourselves.
 */
import { type Decision, isOpen, optionFor } from "../core/decision.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { hold, type Project, readState } from "./hold.ts";

export interface Answered {
  readonly id: string;
  readonly answer: string;
  readonly answeredBy: string;
  /** False: it is kept, and whoever holds the project takes it up. */
  readonly recorded: boolean;
  /** What is wrong beside that. */
  readonly warning?: string;
}

/** `wanted`: its id, or how that begins. `command`: what is holding the project for a moment. */
export async function answerDecision(
  project: Project,
  wanted: string,
  { key, by, command }: { readonly key: string; readonly by: string; readonly command: string },
): Promise<Result<Answered>> {
  const found = find(project, wanted);
  if (!found.ok) return found;
  const decision = found.value;
  const option = optionFor(decision, key);
  if (!option) {
    const keys = decision.options.map((each) => each.key).join(", ");
    return fail("usage", `"${key}" is no option of ${decision.id}; there are ${keys}`, {
      hint: `autodev decide ${decision.id} ${decision.recommendation}`,
    });
  }
  if (decision.withdrawn !== undefined) {
    return fail("decision-taken", `${decision.id} no longer arises: ${decision.withdrawn}`);
  }
  const mine = { key: option.key, by, at: project.world.now() };
  const stands = isOpen(decision)
    ? await project.store.answer(decision.id, mine)
    : succeed(decision.answer ?? mine);
  if (!stands.ok) return stands;
  if (stands.value.key !== option.key) {
    const { key: first, by: who, at } = stands.value;
    return fail(
      "decision-taken",
      `${decision.id} was answered before: ${first} by ${who}, ${at}; the first answer stands`,
    );
  }
  const answered = { id: decision.id, answer: stands.value.key, answeredBy: stands.value.by };
  // On record: whoever gives it again need not keep others from the project for it.
  if (!isOpen(decision)) return succeed({ ...answered, recorded: true });
  // Opening the project records every answer that is waiting.
  const held = await hold(project, command);
  if (held.ok) {
    const released = await held.value.release();
    const warning = released.ok ? {} : { warning: released.failure.message };
    return succeed({ ...answered, recorded: true, ...warning });
  }
  return succeed({
    ...answered,
    recorded: false,
    ...(held.failure.code !== "locked" && {
      warning: `the answer is kept, but ${held.failure.message}`,
    }),
  });
}

function find(project: Project, wanted: string): Result<Decision> {
  const state = readState(project);
  if (!state.ok) return state;
  const decisions = Object.values(state.value.decisions);
  const matches = decisions.filter((decision) => wanted && decision.id.startsWith(wanted));
  const [only] = matches;
  if (only && matches.length === 1) return succeed(only);
  const open = decisions.filter(isOpen).map((decision) => decision.id);
  return fail(
    "not-found",
    `${matches.length > 1 ? "several decisions begin with" : "there is no decision"} "${wanted}"`,
    { hint: open.length > 0 ? `open: ${open.join(", ")}` : "autodev decisions --all lists them" },
  );
}
