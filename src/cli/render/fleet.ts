/** A fleet in a terminal. */
import { limitsOf, taskWords } from "../../core/fleet/told.ts";
import { shown } from "../../project.ts";
import type { FleetOutput } from "../shapes.ts";
import type { Style } from "./style.ts";

export function fleetLines(fleet: FleetOutput, style: Style): string[] {
  const { runs, workers, queue, agents } = fleet;
  return [
    ...(fleet.paused ? [style.bold("The fleet is paused: nothing new begins."), ""] : []),
    style.bold(`Workers (${workers.length})`),
    ...(workers.length === 0 ? ["  none: autodev worker starts one"] : workers.map(workerLine)),
    "",
    style.bold(`Runs (${runs.length})`),
    ...(runs.length === 0 ? ["  none"] : runs.flatMap(runLines)),
    ...(queue.length > 0 ? ["", style.bold("Queue")] : []),
    ...queue.map(({ lane, tasks }) => `  ${lane}: ${tasks} waiting or at work`),
    ...(agents.length > 0 ? ["", style.bold("Agents")] : []),
    ...agents.map(agentLine),
  ];
}

function workerLine(worker: FleetOutput["workers"][number]): string {
  const { id, state, jobs, doing, agents, labels, os, memoryGb } = worker;
  const can = [...agents, ...labels.map((label) => `#${label}`), os, `${memoryGb} GB`].join(" ");
  const what = doing.length > 0 ? `: ${doing.map(taskWords).join(", ")}` : "";
  return shown(`  ${id}  ${state}  ${doing.length}/${jobs}  ${can}${what}`);
}

function runLines(run: FleetOutput["runs"][number]): string[] {
  const { state, complete, phases, underWay, waitsFor, decisions, error } = run;
  const at = underWay.length > 0 ? `, at ${underWay.join(", ")}` : "";
  const why = waitsFor === null ? "" : `, waits for ${waitsFor}`;
  return [
    `  ${run.run}  ${state}  ${complete}/${phases}  ${run.plan} → ${run.branch}${at}${why}`,
    ...(error === null ? [] : [`    ${error}`]),
    ...decisions.flatMap(({ id, question, recommendation }) => [
      `    ${question}`,
      `    → autodev decide ${id} ${recommendation} --engine postgres`,
    ]),
  ].map(shown);
}

function agentLine(agent: FleetOutput["agents"][number]): string {
  const { limitedUntil, reason } = agent;
  const limits = [
    ...limitsOf(agent),
    ...(limitedUntil === null ? [] : [`nothing left until ${limitedUntil} (${reason ?? ""})`]),
  ];
  return shown(`  ${agent.agent}: ${limits.join(", ") || "no limit"}`);
}
