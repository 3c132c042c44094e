/** `autodev status` when a glance cannot tell: after a crash, an edit, a checkout, or at the start. */
import { look, openProject, withFlows } from "../../project.ts";
import { reportFailure } from "../render/failure.ts";
import { type StatusOptions, showStatus } from "./status.ts";

export function run(options: StatusOptions): number {
  const opened = openProject(process.cwd());
  // Flows that cannot be read are told by whoever needs them: where the project is, the state says.
  const known = withFlows(opened);
  const project = known.ok ? known.value : opened;
  const looked = look(project);
  if (!looked.ok) return reportFailure(looked.failure, options.json === true);
  return showStatus(looked.value, project.root, options, project.flows);
}
