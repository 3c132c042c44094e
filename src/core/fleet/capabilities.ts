/** What a worker can do, and what a piece of work asks for: whoever lacks nothing may take it. */

export interface Capabilities {
  /** Agent programs that are there, with somebody logged in. */
  readonly agents: readonly string[];
  /** What whoever started it says of it. */
  readonly labels: readonly string[];
  readonly os: string;
  readonly arch: string;
  readonly memoryGb: number;
}

/**
 * What is missing, in the words in which it was asked for: `agent:codex`, `os:linux`, `arch:arm64`,
 * `memory:8` (in gigabytes), and everything else a label.
 */
export const missing = (has: Capabilities, needs: readonly string[]): string[] =>
  needs.filter((need) => !meets(has, need));

function meets(has: Capabilities, need: string): boolean {
  const at = need.indexOf(":");
  const [kind, value] = at < 0 ? ["", need] : [need.slice(0, at), need.slice(at + 1)];
  switch (kind) {
    case "agent":
      return has.agents.includes(value);
    case "os":
      return has.os === value;
    case "arch":
      return has.arch === value;
    case "memory":
      return has.memoryGb >= Number(value);
    default:
      return has.labels.includes(need);
  }
}

/**
 * The queue of all workers that are alike: the same abilities, as many places. So each takes only
 * what it can do, and never more at once than it has places for.
 */
export function laneOf(
  { agents, labels, os, arch, memoryGb }: Capabilities,
  jobs: number,
  hash: (text: string) => string,
): string {
  const same = [agents.toSorted(), labels.toSorted(), os, arch, memoryGb, jobs];
  return `lane-${jobs}-${hash(JSON.stringify(same)).slice(0, 10)}`;
}

/** A worker as everybody sees it. */
export interface WorkerSeen {
  readonly lane: string;
  readonly jobs: number;
  readonly version: string;
  readonly capabilities: Capabilities;
}

/** How many wait or are at work in a lane. */
export type LaneLoad = ReadonlyMap<string, number>;

/**
 * Where a piece of work waits the least, among the lanes whose workers can do it; undefined: nobody
 * can. Of lanes that are alike the first by name, so that everybody chooses the same.
 */
export function chooseLane(
  workers: readonly WorkerSeen[],
  { needs, version }: { readonly needs: readonly string[]; readonly version: string },
  load: LaneLoad,
): string | undefined {
  const places = placesIn(
    workers.filter(
      (worker) => worker.version === version && missing(worker.capabilities, needs).length === 0,
    ),
  );
  const wait = (lane: string): number => (load.get(lane) ?? 0) / (places.get(lane) ?? 1);
  return [...places.keys()].toSorted((a, b) => wait(a) - wait(b) || (a < b ? -1 : 1))[0];
}

/**
 * Whether a worker of this version has nothing to do, in whichever lane. Who is about to go takes
 * nothing new, but what lies in a lane may be with him.
 */
export function hasFreeLane(
  workers: readonly (WorkerSeen & { readonly isLeaving: boolean })[],
  version: string,
  load: LaneLoad,
): boolean {
  const ours = workers.filter((worker) => worker.version === version);
  const places = placesIn(ours);
  return ours.some(
    ({ lane, isLeaving }) => !isLeaving && (load.get(lane) ?? 0) < (places.get(lane) ?? 0),
  );
}

function placesIn(workers: readonly WorkerSeen[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const { lane, jobs } of workers) places.set(lane, (places.get(lane) ?? 0) + jobs);
  return places;
}

/** A sentence for people: why nobody takes it. */
export function whyNobody(workers: readonly WorkerSeen[], needs: readonly string[]): string {
  if (workers.length === 0) return "no worker is running";
  const nowhere = needs.filter((need) =>
    workers.every(({ capabilities }) => missing(capabilities, [need]).length > 0),
  );
  if (nowhere.length > 0) return `none of ${workers.length} workers has ${nowhere.join(", ")}`;
  if (needs.length > 0) return `no worker has all of ${needs.join(", ")}`;
  return "no worker of this version is running";
}
