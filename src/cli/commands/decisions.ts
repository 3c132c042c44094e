/** `autodev decisions`: what was asked, what is open, who answered. */
import { type Decision, decisionBlock, isOpen } from "../../core/decision.ts";
import type { EngineName } from "../../core/settings.ts";
import { openProject, readState, shown } from "../../project.ts";
import { fleetDoor, isFleet } from "../fleet-door.ts";
import { print, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import type { DecisionsOutput } from "../shapes.ts";

export async function run(options: {
  json?: boolean;
  all?: boolean;
  engine?: EngineName;
}): Promise<number> {
  const fleet = isFleet(process.cwd(), options);
  if (!fleet.ok) return reportFailure(fleet.failure, options.json === true);
  if (fleet.value) return fleetDoor().decisions(options);
  const state = readState(openProject(process.cwd()));
  if (!state.ok) return reportFailure(state.failure, options.json === true);
  const decisions = Object.values(state.value.decisions);
  if (options.json) {
    printJson(decisions.map(view));
    return exitCodes.finished;
  }
  const open = decisions.filter(isOpen);
  if (open.length === 0) print("No decision is open.");
  for (const decision of open) {
    for (const line of decisionBlock(decision)) print(shown(line));
    print(` ${decision.id}, asked ${decision.askedAt}; it blocks ${shown(decision.blocks)}`);
    print(` autodev decide ${decision.id} ${decision.recommendation}`);
  }
  if (options.all) {
    for (const decision of decisions.filter((each) => !isOpen(each))) print(oneLine(decision));
  }
  return exitCodes.finished;
}

const oneLine = (decision: Decision): string => {
  const { id, question, answer, withdrawn } = decision;
  const outcome = answer
    ? `${answer.key} by ${answer.by}, ${answer.at}`
    : `withdrawn: ${withdrawn}`;
  return shown(`${id}  ${question} → ${outcome}`);
};

const view = (decision: Decision): DecisionsOutput[number] => ({
  id: decision.id,
  question: decision.question,
  options: decision.options.map(({ key, text, notes }) => ({
    key,
    text,
    ...(notes && { notes: [...notes] }),
  })),
  recommendation: decision.recommendation,
  reason: decision.reason,
  status: decision.answer ? "answered" : decision.withdrawn !== undefined ? "withdrawn" : "open",
  answer: decision.answer?.key ?? null,
  answeredBy: decision.answer?.by ?? null,
  askedAt: decision.askedAt,
  blocks: decision.blocks,
});
