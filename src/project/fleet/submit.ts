/**
 * A run is submitted: everything that can be asked, refused or approved is settled here, where the
 * person is; then what it builds on is at the remote, and any worker can go on with it.
 */
import { sendGround } from "../../activities/clone-run.ts";
import { type Held, hold, type Project, type World } from "../../activities/hold.ts";
import { newRunId, openRun } from "../../activities/open-run.ts";
import type { OpenSite } from "../../activities/open-site.ts";
import { type BuildOptions, type Intended, intend } from "../../activities/start-run.ts";
import { readConfig } from "../../config.ts";
import { knownAgents } from "../../core/agent/known.ts";
import { fail, type Result, succeed } from "../../core/failure.ts";
import { chooseLane, whyNobody } from "../../core/fleet/capabilities.ts";
import { engineSettings, type Settings } from "../../core/settings.ts";
import {
  claimRun,
  closeRunRow,
  describeAnew,
  describeRun,
  openRunOf,
  type RunRow,
  retryWanted,
  runNamed,
  type Submitted,
} from "../../engines/postgres/rows/runs.ts";
import { liveWorkers } from "../../engines/postgres/rows/workers.ts";
import { wantRun } from "../../engines/postgres/want.ts";
import { type Git, openGit } from "../../git/call.ts";
import { branchOf } from "../../git/objects.ts";
import { remoteUrl } from "../../git/push.ts";
import { attempting } from "../../stores/postgres/database.ts";
import { openPostgresStore } from "../../stores/postgres.ts";
import { agentFor, type BuildPeople } from "../build.ts";
import {
  cacheFolder,
  noWorkTree,
  openProject,
  planDisk,
  realWorld,
  trustPlaceOf,
} from "../open.ts";
import type { Fleet } from "./connect.ts";

export interface Submission {
  readonly run: string;
  /** False: it was submitted before, and goes on. */
  readonly created: boolean;
  /** What was noticed on the way, a line each. */
  readonly said: readonly string[];
}

/** How long somebody who submits may be silent before another may begin anew. */
const submitLeaseMs = 15_000;

export async function submitPlan(
  fleet: Fleet,
  cwd: string,
  options: BuildOptions,
  people: BuildPeople,
  world: World = realWorld,
): Promise<Result<Submission>> {
  const here = openProject(cwd, world);
  if (!here.repository) return noWorkTree(cwd);
  const intended = intend(here.root, cwd, options);
  if (!intended.ok) return intended;
  const fit = fitsFleet(intended.value);
  if (!fit.ok) return fit;
  const git = openGit({ ...here.repository, workTree: here.repository.root });
  const place = await placeAt(git, intended.value, options);
  if (!place.ok) return place;
  const known = await attempting(fleet.database, () => openRunOf(fleet.database, place.value));
  if (!known.ok) return known;
  const existing = known.value;
  if (existing?.submitted.order && !options.fresh) return goOn(fleet, existing, options);
  const again = (): Promise<Result<Submission>> => submitPlan(fleet, cwd, options, people, world);
  if (existing && !existing.submitted.order && existing.being_submitted) {
    return waitFor(fleet, existing.id, options, again);
  }
  if (existing) {
    const gone = await setAside(fleet, existing);
    if (!gone.ok) return gone;
  }
  const submitted: Submitted = {
    options: travelling(options, intended.value.plan),
    by: people.by,
    needs: engineSettings(intended.value.settings).needs ?? [],
  };
  const id = newRunId(world.uuid());
  const row = await attempting(fleet.database, () =>
    claimRun(fleet.database, { ...place.value, id, submitted, version: fleet.version }),
  );
  if (!row.ok) return row;
  // Somebody was faster: his is the one.
  if (row.value.id !== id) return waitFor(fleet, row.value.id, options, again);
  const work = { ...intended.value, ...place.value };
  const said = await order(fleet, { here, git, id, submitted, intended: work, options, people });
  if (!said.ok) {
    await attempting(fleet.database, () => closeRunRow(fleet.database, id));
    return said;
  }
  const wanted = await attempting(fleet.database, () => wantRun(fleet, id));
  return wanted.ok ? succeed({ run: id, created: true, said: said.value }) : wanted;
}

interface Ordering {
  readonly here: Project;
  readonly git: Git;
  readonly id: string;
  readonly submitted: Submitted;
  readonly intended: Intended & Pick<RunRow, "remote">;
  readonly options: BuildOptions;
  readonly people: BuildPeople;
}

/** Held from the first question to the last word: nobody begins anew meanwhile, however long it takes. */
async function order(fleet: Fleet, ordering: Ordering): Promise<Result<readonly string[]>> {
  const { here, id, intended } = ordering;
  const store = await openPostgresStore({
    database: fleet.database,
    run: id,
    leaseMs: submitLeaseMs,
  });
  if (!store.ok) return store;
  const project: Project = { ...here, store: store.value };
  const held = await hold(project, `autodev build ${intended.plan}`);
  if (!held.ok) return held;
  const ordered = await orderHeld(fleet, ordering, project, held.value);
  const released = await held.value.release();
  return ordered.ok && !released.ok ? released : ordered;
}

async function orderHeld(
  fleet: Fleet,
  { here, git, id, submitted, intended, options, people }: Ordering,
  project: Project,
  held: Held,
): Promise<Result<readonly string[]>> {
  const { database } = fleet;
  const opened = await openRun(project, held, intended, options, {
    ...people,
    runId: id,
    approved: () => {},
    disk: planDisk,
    cache: cacheFolder(here.repository?.commonDir ?? here.root),
    trust: trustPlaceOf(here),
    makeAgent: (name, ground) => agentFor(here.root, name, ground),
  });
  if (!opened.ok) return opened;
  if (opened.value.is === "nothing") throw new Error("a new run is complete already");
  const { site, said } = opened.value;
  const trust = await site.trustElsewhere();
  if (!trust.ok) return trust;
  const lacking = await lackingFor(fleet, site, submitted.needs, intended.settings);
  if (!lacking.ok) return lacking;
  if (lacking.value !== undefined && options.wait === false)
    return fail("no-worker", lacking.value, { hint: "autodev fleet shows who is there" });
  if (lacking.value !== undefined) said.push(`${lacking.value}: the run waits for one`);
  const run = site.run();
  const { remote } = intended;
  const sent = await sendGround(git, { url: remote }, { ...run, run: id });
  await site.git.end();
  if (!sent.ok) return sent;
  const { base, planFiles } = run;
  const identity = { ...site.identity };
  const whole: Submitted = {
    ...submitted,
    trust: trust.value,
    order: { run: id, remote, base, planFiles, identity },
  };
  const described = await attempting(database, () => describeRun(database, id, whole));
  if (!described.ok) return described;
  return described.value
    ? succeed(said)
    : fail("locked", `somebody else has set run ${id} aside while it was submitted`, {
        hint: "the same command again submits it anew",
      });
}

/** What a phase needs and nobody of those at work has: said now, not an hour later. */
async function lackingFor(
  { database, version }: Fleet,
  { limits, run }: OpenSite,
  needs: readonly string[],
  settings: Settings,
): Promise<Result<string | undefined>> {
  const workers = await attempting(database, () => liveWorkers(database));
  if (!workers.ok) return workers;
  const wanted = run().order.map(({ id }) => [
    ...needs,
    ...needsOf(limits.agents?.(id)[0] ?? run().agent, settings),
  ]);
  const unmet = wanted.find(
    (each) => chooseLane(workers.value, { needs: each, version }, new Map()) === undefined,
  );
  return succeed(unmet && whyNobody(workers.value, unmet));
}

/** An agent program has to be where its phase goes; a command of the project's own is everywhere. */
export function needsOf(agent: string, { agents }: Settings): string[] {
  const { use = agent, command } = agents?.[agent] ?? {};
  const isKnown = command === undefined && knownAgents.some(({ name }) => name === use);
  return isKnown ? [`agent:${use}`] : [];
}

/** Whose account it works on: several names may share one. */
export const accountOf = (agent: string, { agents }: Settings): string =>
  agents?.[agent]?.use ?? agent;

/** What works only where somebody's files are. */
function fitsFleet({ mode, outside, opened }: Intended): Result<void> {
  if (mode === "message-only") {
    return fail(
      "usage",
      "message-only writes into your files, and a fleet has none of them at hand",
      {
        hint: "--commit=auto or --commit=single; --branch names a branch of its own for it",
      },
    );
  }
  const file = opened.sources[0]?.file ?? "the plan";
  return outside
    ? fail("usage", `${file} is not in the repository: workers would never see it`, {
        hint: "move it into the repository",
      })
    : succeed(undefined);
}

async function placeAt(
  git: Git,
  { plan, settings }: Intended,
  { branch }: BuildOptions,
): Promise<Result<Pick<RunRow, "remote" | "kind" | "plan" | "target">>> {
  const name = engineSettings(settings).remote ?? "origin";
  const told = await remoteUrl(git, name);
  if (told === undefined) {
    return fail("no-remote", `there is no remote ${name}, and a fleet gets code by git`, {
      hint: `git remote add ${name} <an address that the workers can reach>`,
    });
  }
  const target =
    branch === undefined
      ? await branchOf(git)
      : `refs/heads/${branch.replace(/^refs\/heads\//, "")}`;
  if (target === undefined) {
    return fail("usage", "no branch is checked out, and a fleet publishes to one", {
      hint: "--branch <name>",
    });
  }
  const remote = withoutSecrets(told, git.place.workTree);
  return succeed({ remote, kind: "plan", plan, target });
}

/** As runs of this repository have it; undefined: it has none. */
export async function remoteHere(cwd: string): Promise<string | undefined> {
  const { repository, root } = openProject(cwd);
  const settings = readConfig(root);
  if (!repository || !settings.ok) return undefined;
  const git = openGit({ ...repository, workTree: repository.root });
  const told = await remoteUrl(git, engineSettings(settings.value).remote ?? "origin");
  await git.end();
  return told === undefined ? undefined : withoutSecrets(told, repository.root);
}

/** A login belongs to each machine's own git, not into a database. */
function withoutSecrets(url: string, from: string): string {
  const path = process.getBuiltinModule("node:path");
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(url)) {
    const parsed = new URL(url);
    parsed.password = "";
    if (/^https?:$/.test(parsed.protocol)) parsed.username = "";
    return parsed.href;
  }
  // `host:path` is ssh's; everything else is a folder.
  return /^[^/]+:/.test(url) ? url : path.resolve(from, url);
}

const travelling = (options: BuildOptions, plan: string): Submitted["options"] => {
  const { trustSha256: _, fresh: __, resume: ___, retries: ____, ...rest } = options;
  return { ...rest, plan };
};

/** The same run again: what rests goes on, what is under way is left alone. */
async function goOn(
  fleet: Fleet,
  { id, state, submitted }: RunRow,
  options: BuildOptions,
): Promise<Result<Submission>> {
  const { database } = fleet;
  if (options.commit !== undefined && options.commit !== submitted.options.commit) {
    return fail("usage", `run ${id} commits otherwise: that cannot change half-way`, {
      hint: `--commit=${submitted.options.commit ?? "auto"}, or --fresh`,
    });
  }
  const wanted = await attempting(database, async () => {
    // What was said anew counts from the next drive on.
    const said = travelling(options, submitted.options.plan);
    await describeAnew(database, id, { options: said, trust: options.trustSha256 });
    for (const retry of options.retries ?? []) await retryWanted(database, id, retry);
    const rests = state !== "driving" && state !== "waiting";
    if (rests || options.retries) await wantRun(fleet, id);
  });
  return wanted.ok ? succeed({ run: id, created: false, said: [] }) : wanted;
}

/** It is being submitted by somebody else at this moment; `again`: he has come to nothing. */
async function waitFor(
  fleet: Fleet,
  id: string,
  options: BuildOptions,
  again: () => Promise<Result<Submission>>,
): Promise<Result<Submission>> {
  const until = performance.now() + 4 * submitLeaseMs;
  for (;;) {
    const row = await attempting(fleet.database, () => runNamed(fleet.database, id));
    if (!row.ok) return row;
    if (row.value?.submitted.order) return goOn(fleet, row.value, options);
    if (!row.value?.is_open || !row.value.being_submitted) return again();
    if (performance.now() > until) {
      return fail("locked", `somebody else is submitting run ${id}`, {
        hint: "he may be asked something: the same command again, when he has answered",
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function setAside({ database }: Fleet, { id, state }: RunRow): Promise<Result<void>> {
  if (state === "driving" || state === "waiting") {
    return fail("locked", `run ${id} of the same plan is under way`, {
      hint: `autodev stop --engine postgres --run ${id}, then the same command again`,
    });
  }
  const closed = await attempting(database, () => closeRunRow(database, id));
  return closed.ok ? succeed(undefined) : closed;
}
