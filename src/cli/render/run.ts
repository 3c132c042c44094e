/** A run in words: as it happens, when it has ended, and before it begins. */
import { forecastWords } from "../../core/agent/forecast.ts";
import { sandboxText } from "../../core/agent/sandbox.ts";
import { duration, spendWords } from "../../core/amounts.ts";
import type { RecordedEvent } from "../../core/event.ts";
import { failureLines } from "../../core/plan/failure-lines.ts";
import {
  blockers,
  isChecked,
  isComplete,
  type PlanRun,
  phaseOf,
  type RunEnd,
  unverified,
} from "../../core/plan/progress.ts";
import { placeOf } from "../../core/plan/readiness.ts";
import type { RunView } from "../../core/plan/run-view.ts";
import type { RunWatch } from "../../core/plan/run-watch.ts";
import { type Preview, shown } from "../../project.ts";
import type { Style } from "./style.ts";
import { cutTo, padTo, widthOf } from "./width.ts";

/** A phase begins: said where nothing shows it anyway. */
export function beginningLine(
  event: RecordedEvent,
  run: PlanRun,
  style: Style,
): string | undefined {
  if (event.type !== "attempt-started") return undefined;
  const again = event.attempt > 1 ? ` (attempt ${event.attempt})` : "";
  return `${style.dim("▸")} ${titleOf(run, event.phase)}${again}`;
}

/** What stays to be read afterwards, with the lines that help where something failed. */
export function storyLines(
  event: RecordedEvent,
  run: PlanRun,
  watch: RunWatch,
  style: Style,
): string[] {
  switch (event.type) {
    case "attempt-failed": {
      const { charged = 1, state } = phaseOf(run, event.phase) ?? {};
      const again = state?.is === "failed" ? "" : ` (attempt ${charged} of ${run.maxAttempts})`;
      return [
        `${style.red("✗")} ${titleOf(run, event.phase)}: ${shown(event.error.message)}${again}`,
        ...failureLines(event).map((line) => `    ${cutTo(shown(line), 300)}`),
      ];
    }
    case "attempt-conflicted":
      return [
        `${style.yellow("↻")} ${titleOf(run, event.phase)}: collides with what has landed in ${shown(event.files.join(", "))}`,
      ];
    case "attempt-parked":
      return [
        `${style.yellow("‖")} ${titleOf(run, event.phase)}: parked until ${shown(event.until)}, ${shown(event.reason)}`,
      ];
    case "attempt-unable":
      return [
        `${style.red("✗")} ${titleOf(run, event.phase)}: ${shown(event.agent)} cannot work: ${shown(event.message)}`,
        `    ${shown(event.hint)}`,
      ];
    case "attempt-over-budget":
      return [`${style.yellow("‖")} ${titleOf(run, event.phase)}: stopped, ${shown(event.over)}`];
    case "baseline-taken":
      return event.unverified
        ? [`${style.yellow("!")} no gate runs here: what is complete is unverified`]
        : [];
    case "phase-landed": {
      const took = watch.times.get(event.phase)?.took;
      const phase = phaseOf(run, event.phase);
      const unseen = phase && !isChecked(phase) ? style.yellow("  unverified") : "";
      const time = took === undefined ? "" : style.dim(`  ${duration(took)}`);
      const commit = style.dim(event.commit.slice(0, 7));
      return [`${style.green("✓")} ${titleOf(run, event.phase)}  ${commit}${time}${unseen}`];
    }
    case "target-moved": {
      const { undone } = event;
      const what =
        undone.length === 0
          ? "the run goes on from there"
          : `${undone.join(", ")} ${undone.length === 1 ? "is" : "are"} verified again on top`;
      const commit = event.commit.slice(0, 7);
      return [`${style.yellow("↻")} somebody's commits came first (${commit}): ${what}`];
    }
    default:
      return [];
  }
}

const writtenOf = (run: PlanRun, id: string): string =>
  shown(run.order[placeOf(run.order, id) ?? -1]?.written ?? id);
const nameOf = (run: PlanRun, id: string): string =>
  shown(run.order[placeOf(run.order, id) ?? -1]?.name ?? "");
const titleOf = (run: PlanRun, id: string): string => `${writtenOf(run, id)} ${nameOf(run, id)}`;

/** A sign of life after a long silence. */
export function stillAtWork({ phases, baseline }: RunView): string[] {
  const atWork = phases.filter(({ stage }) =>
    ["working", "checking", "landing"].includes(stage.is),
  );
  const names = atWork.map(
    ({ written, elapsed }) =>
      `${shown(written)}${elapsed === undefined ? "" : ` (${duration(elapsed)})`}`,
  );
  if (names.length > 0) return [`still at work: ${names.join(", ")}`];
  return baseline === undefined ? [] : [`still at the baseline: ${shown(baseline)}`];
}

/**
 * What came of it, and what to type next. `view`: what was seen on the way, if anything was. `told`:
 * how many of the last landings stand right above, on the same screen.
 */
export function summaryLines(
  run: PlanRun,
  view: RunView | undefined,
  style: Style,
  { known = 0, isFleet = false }: { readonly known?: number; readonly isFleet?: boolean } = {},
): string[] {
  const blocked = blockers(run);
  const total = run.phases.length;
  const complete = run.readiness.complete;
  const unseen = unverified(run).length;
  const marked =
    unseen === 0 ? "" : `, ${unseen === complete ? "" : `${unseen} of them `}unverified`;
  const spent = [
    ...(view ? [duration(view.elapsed)] : []),
    ...(view?.spend ? [spendWords(view.spend)] : []),
  ].map((each) => `, ${each}`);
  return [
    ...landedLines(run, run.landed.slice(0, run.landed.length - known), view, style),
    ...run.phases.flatMap((phase) => {
      const title = titleOf(run, phase.id);
      if (phase.state.is === "failed") {
        const { error } = phase.state;
        return [
          `${style.red("✗")} ${title}: ${shown(error.message)}`,
          ...failureLines({ ...phase, error }).map((line) => `    ${cutTo(shown(line), 300)}`),
          ...(isFleet ? [] : [style.dim(`    .autobuild/logs/phase-${phase.id}.log`)]),
        ];
      }
      const by = blocked.get(phase.id);
      return by === undefined || isComplete(phase)
        ? []
        : [`${style.yellow("•")} ${title}: waits for ${writtenOf(run, by)}`];
    }),
    `${complete} of ${total} phases complete${marked}${spent.join("")}${endOf(run)}`,
    ...nextSteps(run, isFleet),
  ];
}

/** In columns; all of them, unless that would push what matters off the screen. */
function landedLines(
  run: PlanRun,
  all: PlanRun["landed"],
  view: RunView | undefined,
  style: Style,
): string[] {
  const took = new Map(view?.phases.map(({ id, elapsed }) => [id, elapsed]));
  const more = Math.max(0, all.length - mostLanded);
  const landed = all.slice(more);
  const unseen = new Set(unverified(run));
  const ids = landed.map(({ phase }) => writtenOf(run, phase));
  const names = landed.map(({ phase }) => cutTo(nameOf(run, phase), 60));
  // One long name does not push the others' commits off a narrow screen.
  const [idWidth, nameWidth] = [ids, names].map((texts) =>
    Math.min(30, Math.max(0, ...texts.map(widthOf))),
  );
  return [
    ...(more > 0 ? [style.dim(`  … ${more} more landed before these`)] : []),
    ...landed.map(({ phase, commit }, index) => {
      const time = took.get(phase);
      return [
        `${style.green("✓")} ${padTo(ids[index] ?? "", idWidth ?? 0)} `,
        `${padTo(names[index] ?? "", nameWidth ?? 0)}  ${style.dim(commit.slice(0, 7))}`,
        time === undefined ? "" : style.dim(`  ${duration(time)}`),
        unseen.has(phase) ? style.yellow("  unverified") : "",
      ].join("");
    }),
  ];
}
const mostLanded = 30;

/** What follows from `autodev retry` where somebody is at it. */
export const retryTold =
  "a phase that had failed begins anew, an attempt\nunder way goes on, and the next one has your note in its brief";

function nextSteps(run: PlanRun, isFleet: boolean): string[] {
  const lines: string[] = [];
  const unpublished = run.landed.length - run.published;
  if (unpublished > 0)
    lines.push(`${unpublished} landed, not published: refs/autobuild/${run.id}/landed`);
  if (run.mode === "message-only" && run.published > 0)
    lines.push("sh .autobuild/commits.sh commits them");
  const failed = run.phases.find(({ state }) => state.is === "failed");
  if (failed) {
    const id = writtenOf(run, failed.id);
    const which = isFleet ? ` --run ${run.id}` : "";
    lines.push(
      isFleet
        ? `  → see why: autodev fleet log ${run.id} ${id}`
        : `  → see why: autodev log ${id}, autodev diff ${id}, autodev shell ${id}`,
      `  → try it again with a word: autodev retry ${id}${which} --note "…"`,
    );
  }
  if (run.landed.length > 0) {
    const range = `${run.base.slice(0, 9)}..${run.tip.slice(0, 9)}`;
    const look =
      run.squash === undefined
        ? `git log --oneline ${range}`
        : `git show --stat ${run.squash.slice(0, 9)}`;
    if (isFleet) lines.push("  → bring it here: git pull");
    lines.push(`  → look at it: ${look}`, `  → check it again: autodev audit ${range}`);
  }
  if (run.readiness.complete < run.phases.length)
    lines.push(
      `  → ${toGoOn[run.ended ?? "stopped"]}autodev build ${shown(run.plan)}${isFleet ? " --engine postgres" : ""}`,
    );
  return lines;
}

const toGoOn: Record<RunEnd, string> = {
  complete: "go on: ",
  halted: "mend what is named above, then: ",
  interrupted: "go on: ",
  parked: "go on, then: ",
  asking: "go on, once it is answered: ",
  stopped: "go on with the others: ",
};

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

const sandboxLines = ({ sandbox, sandboxProblem }: Preview): string[] => {
  if (sandbox) return [`Sandbox: ${shown(sandboxText(sandbox))}`];
  return sandboxProblem === undefined ? [] : [`Sandbox: refused: ${shown(sandboxProblem)}`];
};

export function previewLines(preview: Preview, style: Style): string[] {
  const { stack, gates, compiled, toRun } = preview;
  const byId = new Map(compiled.plan.phases.map((phase) => [phase.id, phase]));
  const known = [stack.language, stack.framework, stack.package_manager].filter(
    (each) => each !== null,
  );
  return [
    `Plan:    ${shown(preview.plan)}`,
    `Commit:  ${preview.mode ?? "not chosen (--commit=auto, message-only or single)"}`,
    `Agent:   ${preview.agent ?? `none: ${shown(preview.agentProblem ?? "")}`}`,
    ...sandboxLines(preview),
    `Stack:   ${known.length > 0 ? known.join(", ") : "unknown"}`,
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
        const by = preview.by.get(id);
        if (!toRun.includes(id)) return style.dim(`${line}: not run`);
        return by === undefined ? line : `${line}: by ${shown(by)}`;
      }),
    ]),
    "",
    ...(preview.forecast ? [`About ${forecastWords(preview.forecast)}.`, ""] : []),
    compiled.warnings.length === 0
      ? "No errors, no warnings."
      : `No errors, ${compiled.warnings.length} ${compiled.warnings.length === 1 ? "warning" : "warnings"}: autodev plan check ${shown(preview.plan)}`,
    "Nothing was run and nothing was changed.",
  ];
}
