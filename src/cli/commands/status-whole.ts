/** `autodev status` when a glance cannot tell: after a crash, an edit, a checkout, or at the start. */
import { look, openProject } from "../../project.ts";
import { reportFailure } from "../render/failure.ts";
import { type StatusOptions, showStatus } from "./status.ts";

export function run(options: StatusOptions): number {
  const project = openProject(process.cwd());
  const looked = look(project);
  if (!looked.ok) return reportFailure(looked.failure, options.json === true);
  return showStatus(looked.value, project.root, options);
}
