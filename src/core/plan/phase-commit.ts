/** What a phase's commit says: the agent's words if they can be used, ours if not. */
import { type PhaseProgress, type PlanRun, phaseOf } from "./progress.ts";
import type { RunPhase } from "./run-event.ts";

const longest = 8000;

/**
 * The trailers let a crash, an audit or `commits.sh` find the commit again. A line of the agent's
 * that looks like one of ours is dropped: it could pass for another phase's.
 */
export function commitMessage(
  claimed: string,
  { id, name }: Pick<RunPhase, "id" | "name">,
  trailers: { readonly run: string; readonly attempt: string; readonly evidence?: string },
): string {
  const lines = claimed
    .replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n")
    .replace(obeyed, (character) => (character === "\n" || character === "\t" ? character : ""))
    .slice(0, longest)
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => !/^\s*autobuild-/i.test(line));
  while (lines[0] === "") lines.shift();
  while (lines.at(-1) === "") lines.pop();
  const [subject, ...body] =
    lines.length > 0 ? lines : [`feat: ${lowerFirst(oneLine(name)) || `phase ${id}`}`];
  const rest = body[0] === "" ? body.slice(1) : body;
  return [
    subject,
    "",
    ...(rest.length > 0 ? [...rest, ""] : []),
    `Autobuild-Run: ${trailers.run}`,
    `Autobuild-Phase: ${id}`,
    `Autobuild-Attempt: ${trailers.attempt}`,
    ...(trailers.evidence === undefined ? [] : [`Autobuild-Evidence: ${trailers.evidence}`]),
    "",
  ].join("\n");
}

/** Everything at once, for `single`. */
export function squashMessage(run: PlanRun): string {
  const told = run.order.filter((_, index) => isLanded(run.phases[index]));
  return [
    `feat: ${lowerFirst(oneLine(run.title)) || run.plan}`,
    "",
    ...told.map((phase) => `- Phase ${oneLine(phase.written)}: ${oneLine(phase.name)}`),
    "",
    `Autobuild-Run: ${run.id}`,
    ...told.map(({ id }) => `Autobuild-Phase: ${id}`),
    ...run.landed.flatMap(({ phase }) => evidenceOf(run, phase)),
    "",
  ].join("\n");
}

const evidenceOf = (run: PlanRun, phase: string): string[] => {
  const state = phaseOf(run, phase)?.state;
  const evidence = state?.is === "landed" ? state.check.evidence : undefined;
  return evidence === undefined ? [] : [`Autobuild-Evidence: ${evidence}`];
};

const isLanded = (phase: PhaseProgress | undefined): boolean => phase?.state.is === "landed";

/** By a terminal that shows the message: control characters, and what turns its direction round. */
const obeyed = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g;

const oneLine = (text: string): string => text.replace(obeyed, " ").replace(/ +/g, " ").trim();

const lowerFirst = (text: string): string =>
  /^[A-Z][a-z]/.test(text) ? `${text.charAt(0).toLowerCase()}${text.slice(1)}` : text;
