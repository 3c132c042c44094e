/**
 * How an agent says where it is in a skill: by a little program that it calls, or by editing a copy
 * of the state file, as skills of the old kind do. Both are files in the session's own folder, which
 * is looked at while it works and once more when it has ended: what was reported before a kill is
 * not lost, and what is there twice is reported once.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { readPosition } from "../core/flow/position.ts";
import { heardSubStep, type SaidSubStep } from "../core/flow/reported.ts";
import type { SkillPhase } from "../core/flow/skill.ts";
import type { SubStep } from "../core/flow/state.ts";
import { parseStateFile } from "../core/flow/state-file.ts";
import { withoutSecrets } from "./keep-secrets.ts";

export interface SkillReports {
  /** The program that reports, and the copy that may be edited instead. */
  readonly program: string;
  readonly copy: string;
  /** What has come since the last look, in order. */
  fresh(): readonly SubStep[];
}

export function openReports(
  folder: string,
  stateFile: string,
  { from, phases }: { readonly from: SubStep; readonly phases: readonly SkillPhase[] },
): SkillReports {
  const [program, copy, lines] = [
    path.join(folder, "sub-step"),
    path.join(folder, "_autodev_state.md"),
    path.join(folder, "sub-steps"),
  ];
  fs.mkdirSync(folder, { recursive: true });
  // Never through a link that an earlier session may have left there.
  for (const file of [program, copy, lines]) fs.rmSync(file, { recursive: true, force: true });
  fs.writeFileSync(copy, stateFile, { flag: "wx" });
  fs.writeFileSync(lines, "", { flag: "wx" });
  fs.writeFileSync(program, script, { flag: "wx", mode: 0o755 });
  let last = from;
  let read = 0;
  let copied = stateFile;
  const heard = (said: SaidSubStep): SubStep[] => {
    const next = heardSubStep(said, last, phases);
    if (!next) return [];
    last = next;
    return [next];
  };
  return {
    program,
    copy,
    fresh() {
      const text = readBounded(lines);
      const whole = text.slice(0, text.lastIndexOf("\n") + 1);
      const reported = whole
        .slice(read)
        .split("\n")
        // Before anything is cut off: half of a secret is not known for one.
        .flatMap((line) => subStepIn(withoutSecrets(line)) ?? []);
      read = whole.length;
      const now = readBounded(copy);
      const edited = now === copied ? undefined : subStepOf(now);
      if (edited) copied = now;
      return [...reported, ...(edited ? [edited] : [])].flatMap(heard);
    },
  };
}

/** One line for each report: number, name, detail, with tabs between. */
const script = `#!/bin/sh
# sub-step NUMBER NAME [DETAIL]: says where the work is.
printf '%s\\t%s\\t%s\\n' "$1" "$2" "$(printf '%s' "$3" | tr '\\n\\t' '  ')" >> "$(dirname "$0")/sub-steps"
`;

const mostBytes = 1024 * 1024;

function readBounded(file: string): string {
  try {
    return fs.readFileSync(file, "utf8").slice(0, mostBytes);
  } catch {
    return "";
  }
}

function subStepIn(line: string): SaidSubStep | undefined {
  const [phase = "", name = "", detail = ""] = line.split("\t");
  return /^\d{1,4}(?:\.\d{1,4})?$/.test(phase) && name !== ""
    ? { number: Number(phase), name, detail: detail.trim().slice(0, 300) }
    : undefined;
}

/** What a skill of the old kind wrote; half a file says nothing yet. */
function subStepOf(text: string): SaidSubStep | undefined {
  const parsed = parseStateFile(text, "the copy of the state file");
  if (!parsed.ok) return undefined;
  const { phase, name, detail } = readPosition(parsed.value, "the copy of the state file").state
    .subStep;
  return phase > 0 ? { number: phase, name, detail } : undefined;
}
