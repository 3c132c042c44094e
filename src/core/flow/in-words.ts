/** A flow in words, for whoever draws or explains one: what proves a step, when it is done at all. */
import type { Flow, Probe, Step } from "./flow.ts";

/** A flow's own text may be long; what is cut off is shown by an ellipsis. */
const longest = 48;

/** What has to be seen before a step counts as done; undefined: only the state can tell. */
export function proofOf({ done, finished }: Step): string | undefined {
  if (!done) return undefined;
  return finished
    ? `${probeInWords(done)}; while under way also ${probeInWords(finished)}`
    : probeInWords(done);
}

export function probeInWords(probe: Probe): string {
  if ("filled" in probe) return `${probe.filled}, not empty`;
  if ("exists" in probe) return probe.exists;
  if ("folder" in probe) return `a file in ${probe.folder}/`;
  if ("file" in probe) return `${probe.file} says ${quoted(probe.says)}`;
  if ("dated" in probe) return `${probe.dated}, dated in this cycle`;
  if ("reported" in probe) return `${quoted(probe.reported)} was reported`;
  if ("no" in probe) return `no ${within(probe.no)}`;
  return "all" in probe ? joined(probe.all, "and") : joined(probe.any, "or");
}

/** The same said of several is said once: “a, b and c, not empty”. */
function joined(probes: readonly Probe[], word: "and" | "or"): string {
  const [filled, others] = [
    probes.flatMap((probe) => ("filled" in probe ? [probe.filled] : [])),
    probes.filter((probe) => !("filled" in probe)).map(within),
  ];
  if (filled.length < 2) return probes.map(within).join(` ${word} `);
  return [`${listed(filled, word)}, not empty`, ...others].join(`; ${word} `);
}

const within = (probe: Probe): string =>
  "all" in probe || "any" in probe ? `(${probeInWords(probe)})` : probeInWords(probe);

const listed = (words: readonly string[], last: string): string =>
  `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1) ?? ""}`;

const quoted = (text: string): string =>
  text.length > longest ? `“${text.slice(0, longest)}…”` : `“${text}”`;

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
