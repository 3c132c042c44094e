/**
 * Many runs that wait for people. Nobody holds anything for them meanwhile: what they cost at rest is
 * printed, and when all are answered, all are carried to their end.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { answerRun, type Fleet, type RunRow } from "../src/project/fleet.ts";
import {
  type FleetProject,
  type FleetRig,
  findPostgres,
  gitIn,
  landedIn,
  pause,
  startFleet,
} from "./fleet-rig.ts";
import { noPostgres, openFleetOf, planText, submit, workersAreReady } from "./fleet-runs.ts";
import {
  again,
  type Context,
  inParallel,
  judged,
  type Outcome,
  type Row,
  shippedProgram,
  skipped,
} from "./rig.ts";

export const fleetParked: Row = {
  name: "fleet-parked",
  promise:
    "runs that wait for people cost next to nothing, and every one goes on when it is answered",
  budgetSeconds: { ci: 15, full: 950 },
  run: (context) =>
    findPostgres() === undefined ? Promise.resolve(skipped(noPostgres)) : parked(context),
};

const usualRuns: Record<Context["tier"], number> = { ci: 6, full: 1000 };
/** How long their rest is looked at. */
const restSeconds: Record<Context["tier"], number> = { ci: 2, full: 10 };
const patienceMs: Record<Context["tier"], number> = { ci: 60_000, full: 40 * 60_000 };

async function parked(context: Context): Promise<Outcome> {
  const rig = await startFleet(
    path.join(context.scratch, "fleet"),
    await shippedProgram(context.scratch),
  );
  try {
    return await parkAndAnswer(context, rig);
  } finally {
    await rig.end();
  }
}

async function parkAndAnswer(context: Context, rig: FleetRig): Promise<Outcome> {
  const wanted = usualRuns[context.tier];
  const patience = patienceMs[context.tier];
  const failures: string[] = [];
  const wrong = (what: string): void => {
    failures.push(`${what}; to see it again: ${again(context, fleetParked.name, "all")}`);
  };
  const template = await rig.project("template", {
    plan: planText([{ id: "1", needs: [] }], true),
    config: "gates: {}\n",
  });
  for (const name of ["w1", "w2"]) rig.worker(name, { leaseSeconds: 15 });
  await workersAreReady(rig);
  const fleet = await openFleetOf(rig);

  const began = performance.now();
  const runs = new Map<string, string>();
  const lanes = Array.from({ length: 4 }, (_, lane) => copyOf(rig, template, `lane-${lane}`));
  await inParallel(
    Array.from({ length: wanted }, (_, at) => at),
    async (at) => {
      const lane = lanes.pop();
      if (!lane) throw new Error("more at once than there are lanes");
      const remote = path.join(rig.folder, "remotes", `${at}.git`);
      fs.cpSync(template.remote, remote, { recursive: true });
      gitIn(lane.repo, rig.env())("remote", "set-url", "origin", remote);
      runs.set(await submit(fleet, lane, "apply"), remote);
      lanes.push(lane);
    },
    lanes.length,
  );
  const submittedMs = performance.now() - began;
  const stillBefore = await settle(fleet, patience, "asking");
  const parkedMs = performance.now() - began;
  if (stillBefore.length > 0) wrong(`${stillBefore.length} do not ask: ${shortly(stillBefore)}`);

  const rest = await atRest(rig, restSeconds[context.tier]);
  const connections = await connectionsOf(fleet);

  const asking = await rowsIn(fleet, "state = 'asking'");
  const answeredAt = performance.now();
  await inParallel(
    asking,
    async ({ id, asking: [decision] }) => {
      if (!decision) return wrong(`${id} asks and does not say what`);
      const answered = await answerRun(fleet, id, decision, { key: "A", by: "torture" });
      if (!answered.ok) wrong(`${id}: ${answered.failure.message}`);
    },
    4,
  );
  const stillAfter = await settle(fleet, patience, "over");
  const answeredMs = performance.now() - answeredAt;
  if (stillAfter.length > 0) wrong(`${stillAfter.length} are not over: ${shortly(stillAfter)}`);
  const unlike = [...runs].filter(([, remote]) => landedIn(remote, rig.env()).length !== 1);
  if (unlike.length > 0) wrong(`not one commit each: ${unlike.map(([run]) => run).join(", ")}`);
  await fleet.close();
  if (failures.length > 0) {
    for (const { name, said } of rig.workers)
      context.note(`${name}: ${said().trim().split("\n").slice(-10).join(" / ")}`);
  }
  const aMinute = (ms: number): string => ((runs.size / ms) * 60_000).toFixed(0);
  return judged(
    {
      runs: runs.size,
      "submitted a minute": aMinute(submittedMs),
      "parked after s": (parkedMs / 1000).toFixed(1),
      ...rest,
      connections,
      "answered and complete": runs.size - unlike.length,
      "completed a minute": aMinute(answeredMs),
    },
    failures,
  );
}

function copyOf(rig: FleetRig, template: FleetProject, name: string): FleetProject {
  const repo = path.join(rig.folder, name);
  fs.cpSync(template.repo, repo, { recursive: true });
  return { ...template, repo };
}

const rowsIn = ({ database }: Fleet, where: string): Promise<readonly RunRow[]> =>
  database.query<RunRow>(`SELECT * FROM autodev.runs WHERE ${where} ORDER BY id`);

/** Those that are still otherwise when nothing has changed for that long. */
async function settle(
  fleet: Fleet,
  patience: number,
  state: RunRow["state"],
): Promise<readonly RunRow[]> {
  let [count, since] = [-1, performance.now()];
  for (;;) {
    const others = await rowsIn(fleet, `state <> '${state}'`);
    if (others.length === 0) return others;
    if (others.length !== count) [count, since] = [others.length, performance.now()];
    if (performance.now() - since > Math.min(patience, 60_000)) return others;
    await pause(300);
  }
}

const shortly = (rows: readonly RunRow[]): string =>
  rows
    .slice(0, 3)
    .map(({ id, state, outcome }) => `${id} ${state} ${JSON.stringify(outcome)}`)
    .join("; ");

async function connectionsOf({ database }: Fleet): Promise<number> {
  const [row] = await database.query<{ count: string }>(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()",
  );
  return Number(row?.count ?? 0);
}

// ── what it costs ──────────────────────────────────────────────────────────────────────────────

/** Of one core, while nothing has to be done; memory as the share of each that is its own. */
async function atRest(rig: FleetRig, seconds: number): Promise<Record<string, string>> {
  if (!fs.existsSync("/proc/self/stat")) return {};
  const trees: [string, number][] = [
    ...[...rig.workers].map(({ name, pid }): [string, number] => [name, pid]),
    ["postgres", rig.postgres.pid()],
  ];
  const before = trees.map(([, pid]) => ticksOf(pid));
  await pause(seconds * 1000);
  return Object.fromEntries(
    trees.map(([name, pid], at) => {
      const ticks = ticksOf(pid) - (before[at] ?? 0);
      const megabytes = sum(treeOf(pid).map(bytesOf)) / 1e6;
      // A tick is a hundredth of a second on every Linux.
      return [name, `${(ticks / seconds).toFixed(1)} % cpu, ${megabytes.toFixed(0)} MB`];
    }),
  );
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

function treeOf(root: number): number[] {
  const parents = fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name): [number, number] => [Number(name), Number(statOf(Number(name))[1] ?? 0)]);
  const tree = [root];
  for (const pid of tree) for (const [child, of] of parents) if (of === pid) tree.push(child);
  return tree;
}

/** After the name, which may hold anything: the state, the parent … */
function statOf(pid: number): string[] {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

/** Its own and those of children that it has waited for. */
const ticksOf = (root: number): number =>
  sum(treeOf(root).map((pid) => sum(statOf(pid).slice(11, 15).map(Number))));

function bytesOf(pid: number): number {
  const kilobytes = (file: string, pattern: RegExp): number | undefined => {
    try {
      const found = pattern.exec(fs.readFileSync(`/proc/${pid}/${file}`, "utf8"))?.[1];
      return found === undefined ? undefined : Number(found);
    } catch {
      return undefined;
    }
  };
  const own = kilobytes("smaps_rollup", /^Pss:\s+(\d+)/m);
  return (own ?? kilobytes("status", /^VmRSS:\s+(\d+)/m) ?? 0) * 1024;
}
