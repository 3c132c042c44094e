/** `autodev status` when a glance cannot tell: after a crash, an edit, a checkout, or at the start. */
import { flowNamed } from "../../core/flow/flows/index.ts";
import { countWords } from "../../core/suite.ts";
import { look, openProject, shown, shownPlace, suiteOf, withFlows } from "../../project.ts";
import { print, printJson } from "../output.ts";
import { reportFailure } from "../render/failure.ts";
import type { StatusOutput } from "../shapes.ts";
import { type StatusOptions, showStatus, statusOutput } from "./status.ts";

export async function run(options: StatusOptions): Promise<number> {
  const opened = openProject(process.cwd());
  // Flows that cannot be read are told by whoever needs them: where the project is, the state says.
  const known = withFlows(opened);
  const project = known.ok ? known.value : opened;
  const looked = look(project);
  if (!looked.ok) return reportFailure(looked.failure, options.json === true);
  const isSuite = flowNamed(shownPlace(looked.value).state.flow, project.flows)?.suite === true;
  const components = isSuite ? await suiteOf(project) : undefined;
  if (options.json && components) {
    printJson({ ...statusOutput(looked.value, project.root, project.flows), components });
    return 0;
  }
  const code = showStatus(looked.value, project.root, options, project.flows);
  for (const component of components ?? []) print(shown(lineOf(component)));
  return code;
}

type Component = NonNullable<StatusOutput["components"]>[number];

/** A part, where its own flow is, and what has happened in it. */
function lineOf({
  name,
  path,
  checkedOut,
  known,
  commits,
  flow,
  step,
  ...more
}: Component): string {
  const place =
    flow === null ? "no flow of its own" : `${flow} ${step} ${more.stepName} (${more.status})`;
  return [
    ` ${name}${name === path ? "" : ` (${path})`}`,
    ...(checkedOut ? [place] : ["not checked out"]),
    ...(commits === null ? [] : [countWords(commits)]),
    ...(known ? [] : ["not in the configuration"]),
  ].join(" · ");
}
