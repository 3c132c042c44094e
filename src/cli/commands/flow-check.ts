/** `autodev flow check`: everything that is wrong with the project's own flows. */
import type { Result } from "../../core/failure.ts";
import { succeed } from "../../core/failure.ts";
import {
  examineFlowFiles,
  examineFlows,
  type FlowExamination,
  flowsFolder,
  openProject,
  shown,
} from "../../project.ts";
import { print, printJson } from "../output.ts";
import { exitCodes, reportFailure } from "../render/failure.ts";
import { findingLines } from "../render/plan.ts";
import { type Style, styleFor } from "../render/style.ts";
import type { FlowCheckOutput } from "../shapes.ts";

interface Options {
  json?: boolean;
  color?: boolean;
}

export function run(given: readonly string[], options: Options): number {
  const examined = examine(given);
  if (!examined.ok) return reportFailure(examined.failure, options.json === true);
  const { files, findings } = examined.value;
  if (options.json) {
    printJson({
      version: 1,
      files: [...files],
      errors: [...findings],
    } satisfies FlowCheckOutput);
  } else for (const line of checkLines(examined.value, styleFor(options.color))) print(line);
  return findings.length > 0 ? exitCodes.failure : exitCodes.finished;
}

function examine(given: readonly string[]): Result<FlowExamination> {
  const { root } = openProject(process.cwd());
  return given.length === 0
    ? succeed(examineFlows(root))
    : examineFlowFiles(root, process.cwd(), given);
}

function checkLines({ files, findings }: FlowExamination, style: Style): string[] {
  if (files.length === 0 && findings.length === 0)
    return [`The project has no flows of its own: ${flowsFolder} is where they would be.`];
  const bad = new Set(findings.map(({ file }) => file));
  const number = (count: number, word: string): string =>
    `${count} ${word}${count === 1 ? "" : "s"}`;
  const looked = number(files.length, "flow");
  return [
    ...files.filter((file) => !bad.has(file)).map((file) => `${style.green("✓")} ${shown(file)}`),
    ...findingLines(findings, "error", style),
    "",
    findings.length > 0
      ? style.red(`${looked}, ${number(findings.length, "error")}`)
      : style.green(`${looked}, no errors.`),
  ];
}
