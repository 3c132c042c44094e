/** Which step of a flow leaves a file, as far as the flow's own probes tell. */
import { type Flow, globOf, type Probe, type Step, type Time } from "./flow.ts";

/** `file`: relative to `_docs/`. The first step that is proved by it; undefined: none. */
export const leftBy = (flow: Flow, file: string, time: Time): Step | undefined =>
  flow.steps.find(({ done, finished, leaves, confirms }) =>
    [done, finished, leaves].some((probe) => probe && names(probe, file, time))
      ? true
      : confirms?.file === file,
  );

function names(probe: Probe, file: string, time: Time): boolean {
  if ("all" in probe) return probe.all.some((each) => names(each, file, time));
  if ("any" in probe) return probe.any.some((each) => names(each, file, time));
  // What must not be there, and what was only said, is nobody's file.
  if ("no" in probe || "reported" in probe) return false;
  if ("folder" in probe) return file.startsWith(`${probe.folder}/`);
  return globOf(patternOf(probe), time).test(file);
}

function patternOf(
  probe: Extract<
    Probe,
    { filled: string } | { exists: string } | { file: string } | { dated: string }
  >,
): string {
  if ("filled" in probe) return probe.filled;
  if ("exists" in probe) return probe.exists;
  return "file" in probe ? probe.file : probe.dated;
}
