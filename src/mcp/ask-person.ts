/** A decision put to the person himself, past the model, where the host can show a form. */
import { acceptedContent, inputRequired, type ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import { type Decision, isOpen } from "../core/decision.ts";
import { openProject, readState } from "../project.ts";
import { type Answer, refusedWith } from "./answer.ts";

export async function askPerson(
  {
    cwd,
    id,
    answer,
  }: { readonly cwd: string; readonly id: string; readonly answer?: string | undefined },
  ctx: ServerContext,
  passOn: (letter: string) => Promise<Answer>,
): Promise<Answer | ReturnType<typeof inputRequired>> {
  if (answer !== undefined) return passOn(answer.toUpperCase());
  const decision = find(cwd, id);
  if (typeof decision === "string") return refusedWith(decision);
  const said = ctx.mcpReq.inputResponses;
  if (said?.["answer"] !== undefined) {
    const given = acceptedContent(said, "answer") as { letter?: unknown } | undefined;
    const letter = typeof given?.letter === "string" ? given.letter : undefined;
    if (letter === undefined || !/^[A-D]$/.test(letter))
      return refusedWith("The person has not answered; the decision stays open.");
    return passOn(letter);
  }
  const letters = decision.options.map(({ key }) => key) as [string, ...string[]];
  const lines = decision.options.map(({ key, text }) => `${key}) ${text}`);
  return inputRequired({
    inputRequests: {
      answer: inputRequired.elicit({
        message: `${decision.question}\n${lines.join("\n")}\nRecommended: ${decision.recommendation}, ${decision.reason}`,
        requestedSchema: z.object({ letter: z.enum(letters) }),
      }),
    },
  });
}

function find(cwd: string, id: string): Decision | string {
  const state = readState(openProject(cwd));
  if (!state.ok) return state.failure.message;
  const found = Object.values(state.value.decisions).filter((each) => each.id.startsWith(id));
  const [only] = found;
  if (!only || found.length > 1) return `There is no decision ${id}: call decisions.`;
  return isOpen(only) ? only : `${only.id} was answered before: call decisions.`;
}
