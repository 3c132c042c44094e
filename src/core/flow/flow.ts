/**
 * A flow is data: numbered steps, each done by a skill, and what on disk proves it.
 * Probes are questions about a survey (facts gathered elsewhere); no probe touches a disk.
 */
export type Probe =
  | { readonly filled: string }
  | { readonly exists: string }
  | { readonly folderHolds: string }
  | { readonly says: string; readonly text: RegExp }
  | { readonly all: readonly Probe[] }
  | { readonly any: readonly Probe[] }
  | { readonly no: Probe };

export interface Step {
  readonly step: string;
  readonly name: string;
  /** Absent: a human checkpoint, or a step that only loops. */
  readonly skill?: string;
  readonly mode?: string;
  readonly optional?: boolean;
  readonly conditional?: boolean;
  /** Absent: only the state can tell whether this step is done. */
  readonly done?: Probe;
}

export interface Flow {
  readonly name: string;
  readonly steps: readonly Step[];
  /** Steps after which the session ends before the next one begins. */
  readonly boundaryAfter: readonly string[];
}

/** What core may not look up by itself: paths are relative to `_docs/`, with forward slashes. */
export interface Survey {
  /** Undefined: there is no `_docs/`. Value: the file's size in bytes. */
  readonly docs: ReadonlyMap<string, number> | undefined;
  /** Texts that a probe may have to look into, by path. */
  readonly texts: ReadonlyMap<string, string>;
  readonly hasSource: boolean;
  /** Git submodules or workspace members. */
  readonly members: number;
}

export function holds(probe: Probe, survey: Survey, cycle: number): boolean {
  const docs = survey.docs ?? new Map<string, number>();
  if ("all" in probe) return probe.all.every((each) => holds(each, survey, cycle));
  if ("any" in probe) return probe.any.some((each) => holds(each, survey, cycle));
  if ("no" in probe) return !holds(probe.no, survey, cycle);
  if ("folderHolds" in probe) {
    const folder = `${probe.folderHolds}/`;
    return [...docs.keys()].some((path) => path.startsWith(folder));
  }
  if ("says" in probe) return probe.text.test(survey.texts.get(probe.says) ?? "");
  const wanted = "filled" in probe ? probe.filled : probe.exists;
  const pattern = patternOf(wanted.replaceAll("{cycle}", String(cycle)));
  const filled = "filled" in probe;
  return [...docs].some(([path, size]) => (filled ? size > 0 : true) && pattern.test(path));
}

/** `*` stands for anything but a slash. */
const patternOf = (glob: string): RegExp =>
  new RegExp(`^${glob.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^/]*")}$`);
