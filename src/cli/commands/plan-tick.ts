/** `autodev plan tick`: boxes and statuses of phases, and no other byte. */
import type { CompiledPlan } from "../../core/plan/compile.ts";
import { type PhaseChange, phaseNamed } from "../../core/plan/edits.ts";
import type { PlanFormat } from "../../core/plan/plan.ts";
import type { KnownStatus } from "../../core/plan/status.ts";
import { changePlan, type PlanChange, planChange, planDisk, shown } from "../../project.ts";
import { print, printError, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { styleFor } from "../render/style.ts";
import type { PlanTickOutput } from "../shapes.ts";

interface Options {
  format?: PlanFormat;
  untick?: boolean;
  only?: "tasks" | "done" | "status";
  status?: KnownStatus;
  dryRun?: boolean;
  json?: boolean;
  color?: boolean;
}

export async function run(
  file: string,
  phases: readonly string[],
  options: Options,
): Promise<number> {
  const json = options.json === true;
  if (options.status !== undefined && (options.untick || options.only)) {
    return reportFailure(
      {
        code: "usage",
        message: "--status goes alone: it leaves the boxes as they are",
        hint: "autodev help plan",
      },
      json,
    );
  }
  const changes = phases.map((phase) => changeOf(phase, options));
  const format = options.format === undefined ? {} : { format: options.format };
  const done = options.dryRun
    ? planChange(process.cwd(), file, changes, options.format)
    : await changePlan(process.cwd(), file, changes, { disk: planDisk, ...format });
  if (!done.ok) return reportFailure(done.failure, json);
  const output = outputOf(done.value, changes, options.dryRun === true);
  if (json) printJson(output);
  else show(output, options.color);
  return exitCodes.finished;
}

function changeOf(phase: string, { untick, only, status }: Options): PhaseChange {
  if (status !== undefined) return { phase, status };
  const boxes = untick ? "untick" : "tick";
  const next = untick ? "pending" : "complete";
  if (only === "status") return { phase, status: next };
  return only === undefined ? { phase, boxes, status: next } : { phase, boxes, only };
}

function outputOf(
  { before, edits, after, compiled }: PlanChange,
  changes: readonly PhaseChange[],
  dryRun: boolean,
): PlanTickOutput {
  const lines = new Map<string, { file: string; line: number; before: string; after: string }>();
  for (const source of before.sources) {
    const changed = after.find(({ file }) => file === source.file);
    if (!changed) continue;
    const [old, now] = [splitLines(source.text), splitLines(changed.text)];
    let line = 0;
    let at = 0;
    const mine = edits.filter(({ file }) => file === source.file);
    for (const edit of mine.sort((a, b) => a.from - b.from)) {
      while (at + (old[line]?.length ?? 0) <= edit.from && line < old.length - 1) {
        at += old[line++]?.length ?? 0;
      }
      lines.set(`${source.file}:${line}`, {
        file: source.file,
        line: line + 1,
        before: trimmed(old[line]),
        after: trimmed(now[line]),
      });
    }
  }
  return {
    version: 1,
    dryRun,
    files: after.map(({ file }) => file),
    edits: [...lines.values()],
    phases: changes.map(({ phase }) => phase),
    notes: changes.flatMap((change) => notShown(change, compiled)),
  };
}

/** A status that was asked for and that the document has no place for, or no sign. */
function notShown({ phase: name, status }: PhaseChange, { plan }: CompiledPlan): string[] {
  const phase = phaseNamed(plan, name);
  if (!phase || status === undefined || phase.status === status) return [];
  const why = phase.statuses.some(({ where }) => where === "folder")
    ? "its folder is its status"
    : phase.statuses.length === 0 && !phase.box
      ? "the plan states no status for it"
      : "what stands there cannot say so";
  return [`phase ${phase.written} is not shown as ${status}: ${why}`];
}

/** Each with its end; an edit never adds or removes a line. */
const splitLines = (text: string): string[] => text.split(/(?<=\n|\r(?!\n))/u);
const trimmed = (line: string | undefined): string => (line ?? "").replace(/[\r\n]+$/u, "");

function show(output: PlanTickOutput, color: boolean | undefined): void {
  const style = styleFor(color);
  for (const { file, line, before, after } of output.edits) {
    print(style.dim(shown(`${file}:${line}`)));
    print(style.red(`-${shown(before)}`));
    print(style.green(`+${shown(after)}`));
  }
  for (const note of output.notes) printError(shown(note));
  if (output.edits.length === 0 && output.notes.length === 0) {
    print("Everything says so already; nothing was changed.");
  }
  if (output.dryRun) print("Nothing was changed (--dry-run).");
}
