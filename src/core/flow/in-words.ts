/** A flow in words, for whoever draws or explains one: what proves a step, when it is done at all. */
import type { Flow, Probe, Step } from "./flow.ts";

/** How what stands in a flow to the letter is told from the words around it. */
export type Marked = (text: string, kind: "path" | "text") => string;

/** For a terminal; of a text that is long, the beginning. */
const plainly: Marked = (text, kind) => {
  if (kind === "path") return text;
  return text.length > longest ? `“${text.slice(0, longest)}…”` : `“${text}”`;
};
const longest = 48;

/** What has to be seen before a step counts as done; undefined: only the state can tell. */
export function proofOf({ done, finished }: Step, marked = plainly): string | undefined {
  if (!done) return undefined;
  const also = finished ? `; while under way also ${probeInWords(finished, marked)}` : "";
  return `${probeInWords(done, marked)}${also}`;
}

export function probeInWords(probe: Probe, marked = plainly): string {
  const path = (text: string): string => marked(text, "path");
  const within = (each: Probe): string => {
    const words = probeInWords(each, marked);
    return "all" in each || "any" in each ? `(${words})` : words;
  };
  if ("filled" in probe) return `${path(probe.filled)}, not empty`;
  if ("exists" in probe) return path(probe.exists);
  if ("folder" in probe) return `a file in ${path(`${probe.folder}/`)}`;
  if ("file" in probe) return `${path(probe.file)} says ${marked(probe.says, "text")}`;
  if ("dated" in probe) return `${path(probe.dated)}, dated in this cycle`;
  if ("reported" in probe) return `${marked(probe.reported, "text")} was reported`;
  if ("no" in probe) return `no ${within(probe.no)}`;
  const [probes, word] = "all" in probe ? [probe.all, "and"] : [probe.any, "or"];
  const filled = probes.flatMap((each) => ("filled" in each ? [path(each.filled)] : []));
  if (filled.length < 2) return probes.map(within).join(` ${word} `);
  // The same said of several is said once.
  const others = probes.filter((each) => !("filled" in each)).map(within);
  const last = filled.pop() ?? "";
  return [`${filled.join(", ")} ${word} ${last}, not empty`, ...others].join(`; ${word} `);
}

/** Who does it: the skill and its mode, a person, or nobody. */
export function doerOf({ skill, mode, confirms }: Step): string {
  if (skill !== undefined) return mode === undefined ? skill : `${skill}, ${mode}`;
  return confirms ? "a person" : "nobody: the session ends";
}

/** What only some projects do, or only if people want it. */
export const marksOf = ({ optional, applies }: Step): string[] => [
  ...(optional ? ["optional"] : []),
  ...(applies ? ["conditional"] : []),
];

/** Back to an earlier step, or to itself. */
export function loopOf(flow: Flow, { step, then }: Step): string | undefined {
  const numbers = flow.steps.map((each) => each.step);
  const to = then?.step;
  if (to === undefined || !numbers.includes(to)) return undefined;
  return numbers.indexOf(to) <= numbers.indexOf(step) ? to : undefined;
}
