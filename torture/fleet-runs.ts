/** What the rows about fleets share: plans, runs that are submitted from here, and how one is judged. */
import { type Fleet, openFleet, submitPlan } from "../src/project/fleet.ts";
import { type FleetProject, type FleetRig, gitIn, landedIn, pause } from "./fleet-rig.ts";
import type { Random } from "./rig.ts";

export const noPostgres = "there is no PostgreSQL on this machine";

// ── plans ──────────────────────────────────────────────────────────────────────────────────────

export interface PhaseWish {
  readonly id: string;
  readonly needs: readonly string[];
}

/** Layers of a few phases; each waits for some of the layer before. */
export function layered(ids: readonly string[], random: Random): PhaseWish[] {
  const phases: PhaseWish[] = [];
  let before: readonly string[] = [];
  for (let at = 0; at < ids.length; ) {
    const layer = ids.slice(at, at + random.between(1, 6));
    for (const id of layer) {
      const needs = random.shuffled(before).slice(0, random.between(1, 3));
      phases.push({ id, needs });
    }
    before = layer;
    at += layer.length;
  }
  return phases;
}

export const chained = (ids: readonly string[]): PhaseWish[] =>
  ids.map((id, at) => ({ id, needs: ids.slice(Math.max(0, at - 1), at) }));

/** What a phase leaves, whether an agent thinks of it or the plan spells it out. */
export const fileOf = (id: string): string => `src/${id}.txt`;
export const textOf = (id: string): string => `part ${id}\n`;

/** `spelled`: each names its file with its text, so that no agent has to think. */
export function planText(phases: readonly PhaseWish[], spelled: boolean): string {
  const rows = phases.map(
    ({ id, needs }) => `| ${id} | Part ${id} | ${needs.join(", ") || "-"} | - | 2 | ⬜ |`,
  );
  const file = (id: string): string =>
    `##### File: \`${fileOf(id)}\` (CREATE)\n\n\`\`\`text\n${textOf(id)}\`\`\`\n`;
  const sections = phases.map(({ id }) =>
    [
      `### Phase ${id}: Part ${id}\n`,
      "#### Tasks\n",
      `- [ ] Make part ${id}\n`,
      ...(spelled ? [file(id)] : []),
      "#### Definition of Done\n",
      `- [ ] Part ${id} is there\n`,
    ].join("\n"),
  );
  return [
    "# A feature\n",
    "| Phase | Name | Depends On | Parallel With | Estimate | Status |",
    "|---|---|---|---|---|---|",
    ...rows,
    "",
    ...sections,
  ].join("\n");
}

// ── runs ───────────────────────────────────────────────────────────────────────────────────────

/** A look into the fleet's database from here, which waits for a server that is away. */
export async function openFleetOf({ url }: FleetRig): Promise<Fleet> {
  const opened = await openFleet({ url, patienceMs: 120_000, connections: 8 });
  if (!opened.ok) throw new Error(opened.failure.message);
  return opened.value;
}

/** Resolves with the run's id. */
export async function submit(
  fleet: Fleet,
  { repo, plan, trust }: FleetProject,
  agent: "apply" | "mine",
  jobs?: number,
): Promise<string> {
  const never = new AbortController().signal;
  const submitted = await submitPlan(
    fleet,
    repo,
    { plan, commit: "auto", agent, trustSha256: trust, ...(jobs !== undefined && { jobs }) },
    {
      ask: async () => ({ ok: true, value: undefined }),
      askTrust: async () => ({ ok: true, value: undefined }),
      by: "torture",
      signal: never,
      killNow: never,
      onEvent: () => {},
      onNews: () => {},
    },
  );
  if (!submitted.ok) throw new Error(submitted.failure.message);
  return submitted.value.run;
}

export const workersAreReady = async (rig: FleetRig): Promise<void> => {
  for (const end = performance.now() + 60_000; ; await pause(100)) {
    if ([...rig.workers].every(({ said }) => said().includes("lane"))) return;
    if (performance.now() > end) {
      throw new Error(
        `no worker is ready: ${[...rig.workers].map(({ said }) => said()).join(" / ")}`,
      );
    }
  }
};

export interface RunEventSeen {
  readonly type: string;
  readonly phase?: string;
  readonly attempt?: number;
  readonly commit?: string;
  readonly [key: string]: unknown;
}

export async function eventsIn({ database }: Fleet, run: string): Promise<RunEventSeen[]> {
  const rows = await database.query<{ events: RunEventSeen[] }>(
    "SELECT transition -> 'events' AS events FROM autodev.journal WHERE run = $1 ORDER BY seq",
    [run],
  );
  return rows.flatMap(({ events }) => events);
}

// ── how it ended ───────────────────────────────────────────────────────────────────────────────

export interface Verdict {
  readonly lost: number;
  readonly twice: number;
  readonly falselyComplete: number;
  readonly wrong: string[];
}

/** A run of which each phase leaves the one file that is called after it. */
export function judgeRun(
  rig: FleetRig,
  { remote }: FleetProject,
  { run, ids, events }: { run: string; ids: readonly string[]; events: readonly RunEventSeen[] },
): Verdict {
  const wrong: string[] = [];
  const git = gitIn(remote, rig.env());
  const commits = landedIn(remote, rig.env());
  const onMain = countBy(commits.map(({ phase }) => phase));
  const lost = ids.filter((id) => !onMain.has(id));
  const twice = ids.filter((id) => (onMain.get(id) ?? 0) > 1);
  if (lost.length > 0) wrong.push(`not on main: ${lost.join(", ")}`);
  if (twice.length > 0) wrong.push(`more than once on main: ${twice.join(", ")}`);
  const strangers = commits.filter(({ phase }) => !ids.includes(phase));
  if (strangers.length > 0)
    wrong.push(`nobody's: ${strangers.map(({ subject }) => subject).join(", ")}`);

  const holds = (commit: string, id: string): boolean => {
    try {
      return git("cat-file", "blob", `${commit}:${fileOf(id)}`) === textOf(id);
    } catch {
      return false;
    }
  };
  // What was called complete holds what it was to leave, from the moment in which it was called so.
  const landed = events.filter(({ type }) => type === "phase-landed");
  const without = landed.filter(({ commit = "", phase = "" }) => !holds(commit, phase));
  if (without.length > 0) {
    wrong.push(
      `complete without what it was to leave: ${without.map(({ phase }) => phase).join(", ")}`,
    );
  }
  const absent = ids.filter((id) => onMain.has(id) && !holds("main", id));
  if (absent.length > 0)
    wrong.push(`not on main as they should be: ${absent.map(fileOf).join(", ")}`);

  const moved = events.some(({ type }) => type === "target-moved");
  const landings = countBy(landed.map(({ phase = "" }) => phase));
  for (const [phase, times] of landings) {
    if (times > 1 && !moved) wrong.push(`phase ${phase} has landed ${times} times`);
    const delivered = events.some(
      (each) => each.type === "attempt-delivered" && each.phase === phase,
    );
    if (!delivered) wrong.push(`phase ${phase} has landed and nobody has delivered it`);
  }
  const main = git("rev-parse", "main").trim();
  const last = landed.at(-1)?.commit;
  if (main !== last) wrong.push(`main is ${main}, the last to land was ${last}`);
  const shown = git("rev-parse", `refs/autobuild/${run}/landed`).trim();
  if (shown !== main) wrong.push(`refs/autobuild/${run}/landed is ${shown}, main is ${main}`);
  return {
    lost: lost.length,
    twice: twice.length,
    falselyComplete: without.length,
    wrong: wrong.map((line) => `${run}: ${line}`),
  };
}

export function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** The value below which so much of them lies; 0 of none. */
export const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)] ?? 0;
