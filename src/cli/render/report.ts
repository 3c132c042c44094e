/** A run as Markdown: for the summary of a step in CI, and for a pull request. */

import { duration } from "../../core/amounts.ts";
import { type Decision, decisionBlock } from "../../core/decision.ts";
import type { Failure } from "../../core/failure.ts";
import { failureLines } from "../../core/plan/failure-lines.ts";
import {
  blockers,
  type PhaseProgress,
  type PlanRun,
  standingOf,
  unverified,
} from "../../core/plan/progress.ts";
import type { GateOutcome } from "../../core/plan/run-event.ts";
import { fenced, quoted, table } from "./markdown.ts";

/** GitHub cuts off, or refuses, what is longer. */
const mostRows = 200;
const mostLetters = 60_000;

export interface Reported {
  readonly run?: PlanRun;
  readonly failure?: Failure;
  readonly decisions: readonly Decision[];
  readonly pullRequest?: string;
  /** What else is to be said, a line each. */
  readonly said: readonly string[];
}

const endings = {
  complete: "✅ complete",
  halted: "❌ halted: nothing else can run",
  interrupted: "⏹️ interrupted",
  parked: "⏸️ parked on a usage limit",
  asking: "✋ a decision is open",
  stopped: "✅ the chosen phases are done, others are not",
} as const;

export function stepSummary(told: Reported): string {
  const { run, failure, decisions, pullRequest, said } = told;
  const what = run ? endings[run.ended ?? "complete"] : "❌ it did not run";
  return cut([
    `## autodev: ${failure?.code === "untrusted" ? "✋ the commands are not trusted" : what}`,
    "",
    ...(run ? [`${quoted(run.plan)}, ${countOf(run)}, run \`${run.id}\``, ""] : []),
    ...(pullRequest === undefined ? [] : [`Pull request: ${quoted(pullRequest)}`, ""]),
    ...(run ? [...phaseTable(run), "", ...notVerified(run), ...failures(run)] : []),
    ...(failure ? refusal(failure) : []),
    ...decisions.flatMap(decisionText),
    ...said.map((line) => `- ${quoted(line)}`),
    ...next(told),
  ]);
}

export function pullRequestText(run: PlanRun): string {
  const range = `${run.base}..${run.squash ?? run.tip}`;
  return cut([
    `Built by autodev from ${quoted(run.plan)}: ${countOf(run)}, run \`${run.id}\`.`,
    "",
    ...phaseTable(run),
    "",
    ...notVerified(run),
    "Every commit has a receipt of what was seen when it was checked. To check them again:",
    "",
    ...fenced(
      [
        "git fetch origin 'refs/autobuild/evidence/*:refs/autobuild/evidence/*'",
        `autodev audit ${range} --no-gates`,
      ],
      "sh",
    ),
  ]);
}

const countOf = ({ readiness, phases }: PlanRun): string =>
  `${readiness.complete} of ${phases.length} phases complete`;

function phaseTable(run: PlanRun): string[] {
  const blocked = blockers(run);
  const unseen = new Set(unverified(run));
  const commits = new Map(run.landed.map(({ phase, commit }) => [phase, commit]));
  const rows = run.phases.map((phase, at) => [
    quoted(run.order[at]?.written ?? phase.id),
    quoted(run.order[at]?.name ?? ""),
    `${phase.state.is === "skipped" ? "skipped" : standingOf(phase, blocked)}${unseen.has(phase.id) ? ", **unverified**" : ""}`,
    String(phase.attempts),
    (commits.get(phase.id) ?? "").slice(0, 10),
    timeOf(phase),
    (phase.gates ?? []).map(gateWord).join(", "),
  ]);
  return [
    ...table(
      ["", "phase", "status", "attempts", "commit", "time", "gates"],
      rows.slice(0, mostRows),
    ),
    ...(rows.length > mostRows ? ["", `… and ${rows.length - mostRows} more`] : []),
  ];
}

/** Of the last attempt. */
function timeOf({ startedAt, endedAt }: PhaseProgress): string {
  const ms = Date.parse(endedAt ?? "") - Date.parse(startedAt ?? "");
  return ms >= 0 ? duration(ms) : "";
}

const gateWord = ({ name, passed, known }: GateOutcome): string => {
  const sign = passed === null ? "–" : passed ? "✓" : "✗";
  return `${sign} ${quoted(name)}${known ? " (known failures)" : ""}`;
};

const notVerified = (run: PlanRun): string[] => {
  const unseen = unverified(run).length;
  const which = unseen === run.readiness.complete ? "" : `${unseen} of them `;
  return unseen === 0
    ? []
    : [`> **Not verified**: no gate has seen ${which || "any of this "}run.`, ""];
};

const failures = (run: PlanRun): string[] =>
  run.phases.flatMap((phase, at) => {
    if (phase.state.is !== "failed") return [];
    const { error } = phase.state;
    const lines = failureLines({ ...phase, error });
    const title = `${quoted(run.order[at]?.written ?? phase.id)} failed: ${quoted(error.message)}`;
    return [title, "", ...(lines.length > 0 ? [...fenced(lines), ""] : [])];
  });

const refusal = ({ message, details = [], hint }: Failure): string[] => [
  quoted(message),
  "",
  ...(details.length > 0 ? [...fenced(details), ""] : []),
  ...(hint === undefined ? [] : ["What to do:", "", ...fenced([hint], "sh"), ""]),
];

const decisionText = (decision: Decision): string[] => [
  ...fenced(decisionBlock(decision)),
  "",
  `Answer it with its letter, as the action's input \`answer: ${decision.id} ${decision.recommendation}\`, or where the run's memory is:`,
  "",
  ...fenced([`autodev decide ${decision.id} ${decision.recommendation}`], "sh"),
  "",
];

function next({ run }: Reported): string[] {
  if (!run || run.readiness.complete === run.phases.length) return [];
  const failed = run.phases.some(({ state }) => state.is === "failed");
  const first = failed ? "Mend what failed, then run it again" : "Run it again";
  return [`${first}: what has landed is kept, and the run goes on from there.`];
}

function cut(lines: readonly string[]): string {
  const kept: string[] = [];
  let letters = 0;
  for (const line of lines) {
    letters += line.length + 1;
    if (letters > mostLetters) return `${kept.join("\n")}\n\n… the rest does not fit\n`;
    kept.push(line);
  }
  return `${kept.join("\n")}\n`;
}
