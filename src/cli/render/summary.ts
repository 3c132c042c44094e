/** The status summary: where the project is, at a glance. */
import { decisionBlock } from "../../core/decision.ts";
import { currentRuns, openDecisions } from "../../core/evolve.ts";
import type { Flow } from "../../core/flow/flow.ts";
import type { FlowState } from "../../core/flow/state.ts";
import { stepsOf } from "../../core/flow/steps.ts";
import { isComplete, type PlanRun } from "../../core/plan/progress.ts";
import { type Look, shown, shownPlace } from "../../project.ts";

import type { Style } from "./style.ts";

const rule = "═".repeat(38);
const marks: Record<string, string> = {
  completed: "✓",
  skipped: "–",
  failed: "✗",
  not_started: "○",
};

export function summary(
  look: Look,
  project: string,
  style: Style,
  { decisions = true, flows }: { decisions?: boolean; flows?: readonly Flow[] | undefined } = {},
): string {
  const { state } = look;
  const { state: flow, corrections } = shownPlace(look);
  const lines = [
    style.dim(rule),
    ` ${style.bold(shown(project))} · ${shown(flow.flow)}${flow.flow === "existing-code" ? ` · cycle ${flow.cycle}` : ""}`,
    style.dim(rule),
  ];
  const steps = stepsOf(flow, flows);
  const width = Math.max(1, ...steps.map((step) => step.step.length));
  for (const step of steps) {
    const current = step.step === flow.step;
    const mark = current && step.status !== "failed" ? "▶" : (marks[step.status] ?? "?");
    const text = ` ${mark} ${step.step.padStart(width)} ${step.name}${step.optional ? " (optional)" : ""}`;
    if (current) lines.push(style.bold(text + whereIn(flow)));
    else lines.push(step.status === "not_started" ? style.dim(text) : text);
  }
  if (steps.length === 0) {
    lines.push(` ▶ ${shown(flow.step)} ${shown(flow.name)}${whereIn(flow)}`);
  }
  if (flow.step === "done") lines.push(style.green(" ✓ done"));
  lines.push(style.dim(rule));
  section(lines, "Key decisions", flow.keyDecisions.slice(-3));
  if (flow.lastSession) {
    const { date, endedAt, reason, notes } = flow.lastSession;
    section(lines, "Last session", [[date, endedAt, reason, notes].filter(Boolean).join(" · ")]);
  }
  section(lines, "Blockers", flow.blockers, style.red);
  section(lines, "Noticed", corrections, style.yellow);
  section(lines, "Runs", currentRuns(state).map(runLine));
  for (const decision of decisions ? openDecisions(state) : []) {
    lines.push(...decisionBlock(decision).map(shown));
    lines.push(` autodev decide ${decision.id} ${decision.recommendation}`);
  }
  return lines.join("\n");
}

function runLine({ plan, phases, ended }: PlanRun): string {
  const complete = phases.filter(isComplete).length;
  return `${plan}: ${complete} of ${phases.length} phases complete, ${ended ?? "running"}`;
}

function whereIn({ status, subStep, retryCount }: FlowState): string {
  const parts = [shown(status.replaceAll("_", " "))];
  if (subStep.phase > 0 || subStep.name !== "awaiting-invocation") {
    parts.push(`${subStep.phase} ${subStep.name}${subStep.detail ? `: ${subStep.detail}` : ""}`);
  }
  if (retryCount > 0) parts.push(`retry ${retryCount} of 3`);
  return ` — ${parts.map(shown).join(" · ")}`;
}

function section(
  lines: string[],
  title: string,
  items: readonly string[],
  paint: (text: string) => string = (text) => text,
): void {
  if (items.length === 0) return;
  lines.push(` ${title}:`, ...items.map((item) => paint(`  - ${shown(item)}`)));
}
