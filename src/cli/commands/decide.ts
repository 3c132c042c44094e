/**
 * `autodev decide <id> <letter>`: answers a decision from anywhere. The answer is durable before
 * anything else happens; whoever holds the project takes it up, else we record it ourselves.
 */
import { type Decision, isOpen, optionFor } from "../../core/decision.ts";
import { fail, type Result, succeed } from "../../core/failure.ts";
import { hold, openProject, type Project, readState, shown } from "../../project.ts";
import { print, printError, printJson } from "../output.ts";
import { answeredBy } from "../prompt.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import type { DecideOutput } from "../shapes.ts";

export async function run(
  id: string,
  key: string,
  options: { json?: boolean; as?: string },
): Promise<number> {
  const json = options.json === true;
  const project = openProject(process.cwd());
  const decided = await decide(project, id, key, options.as ?? answeredBy({}));
  if (!decided.ok) return reportFailure(decided.failure, json);
  const { output, warning } = decided.value;
  if (warning) printError(`autodev: ${warning}`);
  if (json) printJson(output);
  else {
    const how = output.recorded ? "recorded" : "kept; the running autodev takes it up";
    print(`${output.id}: ${output.answer} (${shown(output.answeredBy)}), ${how}`);
  }
  return exitCodes.finished;
}

async function decide(
  project: Project,
  wanted: string,
  key: string,
  by: string,
): Promise<Result<{ output: DecideOutput; warning?: string }>> {
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
  const output = {
    version: 1 as const,
    id: decision.id,
    answer: stands.value.key,
    answeredBy: stands.value.by,
  };
  // Opening the project records every answer that is waiting.
  const held = await hold(project, "autodev decide");
  if (held.ok) {
    const released = await held.value.release();
    const warning = released.ok ? {} : { warning: released.failure.message };
    return succeed({ output: { ...output, recorded: true }, ...warning });
  }
  const unrecorded = { output: { ...output, recorded: false } };
  return succeed(
    held.failure.code === "locked"
      ? unrecorded
      : { ...unrecorded, warning: `the answer is kept, but ${held.failure.message}` },
  );
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
