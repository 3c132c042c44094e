/** `autodev flow list`: which flows there are, and where they come from. */
import { flowNamed } from "../../core/flow/flows/index.ts";
import { examineFlows, openProject } from "../../project.ts";
import { print, printError, printJson } from "../output.ts";
import { exitCodes } from "../render/failure.ts";
import { listLines } from "../render/flow.ts";
import { findingLines } from "../render/plan.ts";
import { styleFor } from "../render/style.ts";
import type { FlowListOutput } from "../shapes.ts";

interface Options {
  json?: boolean;
  color?: boolean;
}

export function run(options: Options): number {
  const { flows, findings } = examineFlows(openProject(process.cwd()).root);
  const listed = flows.map(({ flow, from }) => ({
    flow,
    from,
    replaces: from !== "built-in" && flowNamed(flow.name) !== undefined,
  }));
  if (options.json) {
    printJson({
      version: 1,
      flows: listed.map(({ flow, from, replaces }) => ({
        name: flow.name,
        from,
        replaces,
        steps: flow.steps.length,
        about: flow.about,
      })),
      errors: [...findings],
    } satisfies FlowListOutput);
  } else {
    for (const line of listLines(listed, styleFor(options.color))) print(line);
    for (const line of findingLines(findings, "error", styleFor(options.color, 2)))
      printError(line);
  }
  return findings.length > 0 ? exitCodes.failure : exitCodes.finished;
}
