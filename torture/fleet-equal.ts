/**
 * The same plan on both engines: on this machine, and over three workers that share nothing but a
 * bare repository and a database. What comes of it has to be the same.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import {
  type FleetProject,
  type FleetRig,
  findPostgres,
  gitIn,
  landedIn,
  type Said,
  sameInBoth,
  startFleet,
} from "./fleet-rig.ts";
import {
  chained,
  eventsIn,
  layered,
  noPostgres,
  openFleetOf,
  planText,
  type RunEventSeen,
  workersAreReady,
} from "./fleet-runs.ts";
import {
  again,
  type Context,
  judged,
  type Outcome,
  type Row,
  randomFrom,
  shippedProgram,
  skipped,
} from "./rig.ts";

export const fleetEqual: Row = {
  name: "fleet-equals-local",
  promise: "a fleet makes the same commits, and tells the same history, as one machine does",
  budgetSeconds: { ci: 53, full: 400 },
  run: (context) =>
    findPostgres() === undefined ? Promise.resolve(skipped(noPostgres)) : compareAll(context),
};

const phases: Record<Context["tier"], { readonly wide: number; readonly chain: number }> = {
  ci: { wide: 8, chain: 3 },
  full: { wide: 200, chain: 30 },
};

interface Case {
  readonly name: string;
  make(rig: FleetRig): Promise<FleetProject>;
  readonly args: readonly string[];
  /** Only what is done in one order has one history. */
  readonly sameHistory: boolean;
}

async function compareAll(context: Context): Promise<Outcome> {
  const rig = await startFleet(
    path.join(context.scratch, "fleet"),
    await shippedProgram(context.scratch),
  );
  const figures: Record<string, number | string> = {};
  const failures: string[] = [];
  try {
    for (const name of ["w1", "w2", "w3"]) rig.worker(name, { jobs: 2, leaseSeconds: 15 });
    await workersAreReady(rig);
    for (const each of casesOf(context)) {
      if (context.onlyCase !== undefined && context.onlyCase !== each.name) continue;
      const { wrong, told } = await compare(rig, each);
      figures[each.name] = told;
      const seeAgain = again(context, fleetEqual.name, each.name);
      failures.push(...wrong.map((line) => `${each.name}: ${line}; to see it again: ${seeAgain}`));
    }
  } finally {
    await rig.end();
  }
  return judged(figures, failures);
}

function casesOf({ tier, seed }: Context): Case[] {
  const { wide, chain } = phases[tier];
  const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => String(at + 1));
  const random = randomFrom(seed, 1);
  return [
    { name: "example", make: makeExample, args: [], sameHistory: false },
    {
      name: "wide",
      make: (rig) => rig.project("wide", { plan: planText(layered(ids(wide), random), true) }),
      args: [],
      sameHistory: false,
    },
    {
      name: "chain",
      make: (rig) => rig.project("chain", { plan: planText(chained(ids(chain)), true) }),
      args: ["--jobs=1"],
      sameHistory: true,
    },
  ];
}

/** As a newcomer gets it, with a remote. */
async function makeExample(rig: FleetRig): Promise<FleetProject> {
  const [repo, remote] = [path.join(rig.folder, "example"), path.join(rig.folder, "example.git")];
  const made = await rig.autodev(["example", "typescript", repo, "--no-run", "--json"]);
  if (made.code !== 0) throw new Error(made.all);
  const { plan } = JSON.parse(made.out) as { plan: string };
  const git = gitIn(repo, rig.env());
  git("clone", "--quiet", "--bare", "--template=", repo, remote);
  git("remote", "add", "origin", remote);
  const told = await rig.autodev(["trust", plan, "--agent=apply", "--json"], { cwd: repo });
  return { repo, remote, plan, trust: /\b[0-9a-f]{64}\b/.exec(told.all)?.[0] ?? "" };
}

// ── both ───────────────────────────────────────────────────────────────────────────────────────

async function compare(rig: FleetRig, each: Case): Promise<{ wrong: string[]; told: string }> {
  const project = await each.make(rig);
  // Before anything is done: with everything that makes a project what it is, its settings included.
  const repo = `${project.repo}-local`;
  fs.cpSync(project.repo, repo, { recursive: true });
  const here = { ...project, repo };
  const timed = async (act: () => Promise<Said>): Promise<{ said: Said; seconds: string }> => {
    const began = performance.now();
    const said = await act();
    return { said, seconds: ((performance.now() - began) / 1000).toFixed(1) };
  };
  const timeoutMs = 15 * 60_000;
  const fleet = await timed(() => rig.build(project, each.args, { timeoutMs }));
  const local = await timed(() => rig.build(here, ["--engine=local", ...each.args], { timeoutMs }));
  const wrong: string[] = [];
  for (const [name, { said }] of Object.entries({ fleet, local })) {
    if (said.code !== 0) wrong.push(`${name}: exit ${said.code}: ${said.all.slice(-400)}`);
  }
  if (wrong.length === 0) {
    wrong.push(...unlikeCommits(rig, project.remote, repo));
    if (each.sameHistory) wrong.push(...(await unlikeHistory(rig, fleet.said, repo)));
  }
  const count = landedIn(project.remote, rig.env()).length;
  return { wrong, told: `${count} phases, fleet ${fleet.seconds} s, local ${local.seconds} s` };
}

function unlikeCommits(rig: FleetRig, fleet: string, local: string): string[] {
  const wrong: string[] = [];
  const env = rig.env();
  const tree = (repo: string): string => gitIn(repo, env)("rev-parse", "main^{tree}").trim();
  if (tree(fleet) !== tree(local)) {
    const list = (repo: string) => new Set(gitIn(repo, env)("ls-tree", "-r", "main").split("\n"));
    wrong.push(`the trees differ: ${unlike([...list(fleet)], [...list(local)])}`);
  }
  // Phases that wait for nothing of each other may land in either order: what is compared is a set.
  const commits = (repo: string): string[] =>
    landedIn(repo, env)
      .map(({ commit, phase, subject }) => {
        const files = gitIn(repo, env)(
          "diff-tree",
          "-r",
          "--name-status",
          "--no-commit-id",
          commit,
        );
        return [phase, subject, ...files.trim().split("\n").toSorted()].join(" ");
      })
      .toSorted();
  const [theirs, ours] = [commits(fleet), commits(local)];
  if (theirs.join("\n") !== ours.join("\n"))
    wrong.push(`the commits differ: ${unlike(theirs, ours)}`);
  return wrong;
}

/**
 * Event by event, every field. Left out is what cannot be the same twice on one engine either: when
 * it was, the run's and the attempts' ids, and git's, which hold both (a commit knows its time and
 * its attempt); and two numbers that are nobody's business beyond the machine: the place that an
 * attempt had there, and the version of what recorded it. A fleet's history knows no more and no
 * less events: who drove it, and how often that changed, is not in it.
 */
async function unlikeHistory(rig: FleetRig, said: Said, local: string): Promise<string[]> {
  const run = /\br[0-9a-f]{10}\b/.exec(said.all)?.[0] ?? "";
  const fleet = await openFleetOf(rig);
  const theirs = await eventsIn(fleet, run);
  await fleet.close();
  const log = await rig.autodev(["log", "--json"], { cwd: local });
  const ours = log.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as RunEventSeen);
  return strands.flatMap((isOfIt) => {
    const [a, b] = [plain(theirs.filter(isOfIt)), plain(ours.filter(isOfIt))];
    const length = Math.max(a.length, b.length);
    return Array.from({ length }, (_, at) => at)
      .filter((at) => a[at] !== b[at])
      .slice(0, 3)
      .map(
        (at) => `event ${at} of ${a.length} and ${b.length}: ${around(a[at] ?? "", b[at] ?? "")}`,
      );
  });
}

const isPublished = ({ type }: RunEventSeen): boolean => type === "phase-published";

/** What has landed is published beside the work of the next phase: either may be done first, on either engine. */
const strands = [isPublished, (event: RunEventSeen): boolean => !isPublished(event)];

/** A database keeps no order of names. */
const plain = (events: readonly RunEventSeen[]): string[] =>
  sameInBoth(events.map((event) => inOrder(event) as RunEventSeen)).map((line) =>
    // In the trailers of a commit.
    line.replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "…"),
  );

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, each]) => [name, inOrder(each)]));
}

/** Where two lines begin to differ. */
function around(a: string, b: string): string {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const some = (line: string): string => line.slice(Math.max(0, at - 80), at + 120);
  return `the fleet …${some(a)}, here …${some(b)}`;
}

const unlike = (a: readonly string[], b: readonly string[]): string => {
  const only = (some: readonly string[], others: readonly string[]): string =>
    some
      .filter((each) => !others.includes(each))
      .slice(0, 3)
      .join("; ");
  return `only in the fleet's: ${only(a, b)}; only here: ${only(b, a)}`;
};
