/** A run in words: as it happens, when it has ended, and before it begins. */
import type { RecordedEvent } from "../../core/event.ts";
import { blockers, type PlanRun, standingOf, unverified } from "../../core/plan/progress.ts";
import { type Preview, shown } from "../../project.ts";
import type { Style } from "./style.ts";

/** One line, where there is something to say. */
export function progressLine(event: RecordedEvent, run: PlanRun, style: Style): string | undefined {
  const name = (id: string): string => {
    const phase = run.order.find((each) => each.id === id);
    return phase ? `${shown(phase.written)} ${shown(phase.name)}` : id;
  };
  switch (event.type) {
    case "attempt-started":
      return `${style.dim("▸")} ${name(event.phase)}${event.attempt > 1 ? ` (attempt ${event.attempt})` : ""}`;
    case "attempt-failed":
      return `${style.red("✗")} ${name(event.phase)}: ${shown(event.error.message)}`;
    case "attempt-conflicted":
      return `${style.yellow("↻")} ${name(event.phase)}: collides with what has landed in ${shown(event.files.join(", "))}`;
    case "attempt-parked":
      return `${style.yellow("‖")} ${name(event.phase)}: parked until ${event.until}, ${shown(event.reason)}`;
    case "baseline-taken":
      return event.unverified
        ? `${style.yellow("!")} no gate runs here: what is complete is unverified`
        : undefined;
    case "phase-landed": {
      const unseen = unverified(run).includes(event.phase) ? style.yellow(" unverified") : "";
      return `${style.green("✓")} ${name(event.phase)}  ${style.dim(event.commit.slice(0, 7))}${unseen}`;
    }
    case "target-moved":
      return `${style.yellow("↻")} somebody's commits came first (${event.commit.slice(0, 7)}): ${event.undone.join(", ")} ${event.undone.length === 1 ? "is" : "are"} verified again on top`;
    default:
      return undefined;
  }
}

export function summaryLines(run: PlanRun, style: Style): string[] {
  const blocked = blockers(run);
  const lines: string[] = [];
  let complete = 0;
  for (const [index, phase] of run.phases.entries()) {
    const { written = phase.id, name = "" } = run.order[index] ?? {};
    const standing = standingOf(phase, blocked);
    if (standing === "complete") complete++;
    const title = `${shown(written)} ${shown(name)}`;
    if (phase.state.is === "failed") {
      lines.push(`${style.red("✗")} ${title}: ${shown(phase.state.error.message)}`);
      lines.push(`    .autobuild/logs/phase-${phase.id}.log`);
    } else if (standing === "blocked") {
      lines.push(`${style.yellow("•")} ${title}: waits for ${blocked.get(phase.id) ?? ""}`);
    }
  }
  const total = run.phases.length;
  const resume = `autodev build ${shown(run.plan)}`;
  const unpublished = run.landed.length - run.published;
  const unseen = unverified(run).length;
  const marked =
    unseen === 0 ? "" : `, ${unseen === complete ? "" : `${unseen} of them `}unverified`;
  lines.push(`${complete} of ${total} phases complete${marked}${endOf(run)}`);
  if (unpublished > 0)
    lines.push(`${unpublished} landed, not published: refs/autobuild/${run.id}/landed`);
  if (run.mode === "message-only" && run.published > 0)
    lines.push("sh .autobuild/commits.sh commits them");
  if (complete < total) lines.push(`  → mend what is named above, then: ${resume}`);
  return lines;
}

function endOf(run: PlanRun): string {
  switch (run.ended) {
    case "halted":
      return "; halted: nothing else can run";
    case "interrupted":
      return "; interrupted";
    case "parked":
      return `; parked until ${run.parkedUntil ?? ""}`;
    case "asking":
      return "; a decision is open";
    default:
      return "";
  }
}

export function previewLines(preview: Preview, style: Style): string[] {
  const { stack, gates, compiled, toRun } = preview;
  const byId = new Map(compiled.plan.phases.map((phase) => [phase.id, phase]));
  const known = [stack.language, stack.framework, stack.package_manager].filter(
    (each) => each !== null,
  );
  return [
    `Plan:   ${shown(preview.plan)}`,
    `Commit: ${preview.mode ?? "not chosen (--commit=auto, message-only or single)"}`,
    `Agent:  ${preview.agent ?? `none: ${shown(preview.agentProblem ?? "")}`}`,
    `Stack:  ${known.length > 0 ? known.join(", ") : "unknown"}`,
    "",
    "Commands",
    ...gates.map(({ name, command, reason }) =>
      command === null
        ? style.dim(`  ${name.padEnd(10)} skipped: ${shown(reason ?? "")}`)
        : `  ${name.padEnd(10)} ${shown(command)}`,
    ),
    "",
    ...compiled.batches.flatMap((batch, index) => [
      `Batch ${index + 1}`,
      ...batch.map((id) => {
        const phase = byId.get(id);
        const points = phase?.estimate === undefined ? "" : `, ${phase.estimate} points`;
        const tasks = phase?.tasks.length ?? 0;
        const line = `  ${shown(phase?.written ?? id)} ${shown(phase?.name ?? "")} (${tasks} ${tasks === 1 ? "task" : "tasks"}${points})`;
        return toRun.includes(id) ? line : style.dim(`${line}: not run`);
      }),
    ]),
    "",
    compiled.warnings.length === 0
      ? "No errors, no warnings."
      : `No errors, ${compiled.warnings.length} ${compiled.warnings.length === 1 ? "warning" : "warnings"}: autodev plan check ${shown(preview.plan)}`,
    "Nothing was run and nothing was changed.",
  ];
}
