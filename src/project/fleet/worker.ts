/** A worker on this machine: what it can do, where it keeps its clones, and what it serves with. */
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { machineOf } from "../../activities/choose-cast.ts";
import { findAgents } from "../../activities/find-agents.ts";
import { fail, type Result, succeed } from "../../core/failure.ts";
import type { Capabilities } from "../../core/fleet/capabilities.ts";
import { runsOver } from "../../engines/postgres/rows/runs.ts";
import { serveFleet } from "../../engines/postgres/worker.ts";
import { removeFolder } from "../../git/worktrees.ts";
import { openObjectStore } from "../../object-store.ts";
import { acquireLock, type Lock } from "../../stores/file/lock.ts";
import { cacheFolder, realWorld } from "../open.ts";
import { type Fleet, fleetClock, openFleet } from "./connect.ts";
import { driveRun } from "./drive.ts";
import { driveFlow } from "./flow.ts";
import { doTask, type HandsPlace } from "./work.ts";

export interface WorkerWish {
  readonly name?: string;
  readonly jobs: number;
  readonly labels: readonly string[];
  readonly leaseMs: number;
  /** Where transcripts go: a folder that all see, or an S3-compatible address. */
  readonly transcripts?: string;
  /** What it takes work of; absent: this release's. */
  readonly version?: string;
  readonly signal: AbortSignal;
  readonly killNow: AbortSignal;
  told(line: string): void;
}

export async function runWorker(wish: WorkerWish): Promise<Result<void>> {
  const transcripts =
    wish.transcripts === undefined
      ? succeed(undefined)
      : openObjectStore(wish.transcripts, process.env);
  if (!transcripts.ok) return transcripts;
  const fleet = await openFleet({
    patienceMs: 5000,
    connections: 2,
    ...(wish.version !== undefined && { version: wish.version }),
  });
  if (!fleet.ok) return fleet;
  // From here on a database that is away is waited for.
  await fleet.value.close();
  const folder = ownFolder(wish.name ?? os.hostname().replace(/^\.|[^\w.-]/g, "-"));
  if (!folder.ok) return folder;
  const patient = await openFleet({
    patienceMs: Number.POSITIVE_INFINITY,
    // With those of the engine below: what is under way, what it watches, what waits.
    connections: 18,
    told: wish.told,
    ...(wish.version !== undefined && { version: wish.version }),
  });
  if (!patient.ok) {
    folder.value.lock.release();
    return patient;
  }
  const clock = fleetClock();
  const place: HandsPlace = {
    folder: folder.value.path,
    leaseMs: wish.leaseMs,
    now: clock.now,
    ...(transcripts.value && { transcripts: transcripts.value }),
  };
  const { database, carrier, url, version } = patient.value;
  const served = await serveFleet({
    database,
    carrier,
    url,
    version,
    name: folder.value.name,
    host: os.hostname(),
    jobs: wish.jobs,
    capabilities: await capabilitiesHere(wish.labels),
    leaseMs: wish.leaseMs,
    hash: realWorld.hash,
    signal: wish.signal,
    killNow: wish.killNow,
    told: wish.told,
    clockRead: clock.read,
    drive: (run, at) => driveRun(patient.value, place, run, at),
    work: (task, at) => doTask(patient.value, place, task, at),
    flow: (run, at, isDeadly) => driveFlow(patient.value, place, run, at, isDeadly),
    tidy: () => removeClones(patient.value, place.folder),
  });
  await patient.value.close();
  folder.value.lock.release();
  return served;
}

/** Agents that could begin at once: whoever is not logged in would only be asked about. */
async function capabilitiesHere(labels: readonly string[]): Promise<Capabilities> {
  const found = await findAgents(machineOf(os.tmpdir()));
  const agents = found.flatMap(({ known, program, login }) =>
    program.is === "there" && login?.is !== "no" ? [known.name] : [],
  );
  return {
    agents: agents.toSorted(),
    labels: [...new Set(labels)].toSorted(),
    os: process.platform,
    arch: process.arch,
    memoryGb: Math.round(os.totalmem() / 1024 ** 3),
  };
}

interface OwnFolder {
  readonly name: string;
  readonly path: string;
  readonly lock: Lock;
}

/** Clones are nobody else's: two workers of one name on a machine have a folder each. */
function ownFolder(wanted: string): Result<OwnFolder> {
  const { XDG_CACHE_HOME: given, HOME: home } = process.env;
  const base = given && path.isAbsolute(given) ? given : path.join(home ?? os.homedir(), ".cache");
  for (let number = 1; number <= mostWorkers; number++) {
    const name = number === 1 ? wanted : `${wanted}-${number}`;
    // Not below `autodev`, which agents never see: they work in here.
    const folder = path.join(base, "autodev-worker", name);
    try {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
      return fail("disk", `${folder} cannot be made (${code})`, { file: folder });
    }
    const file = path.join(folder, "lock");
    const lock = acquireLock(file, file, realWorld.holder("autodev worker"));
    if (lock.ok) return succeed({ name, path: folder, lock: lock.value });
    if (lock.failure.code !== "locked") return lock;
  }
  return fail("locked", `${mostWorkers} workers of the name ${wanted} run here already`, {
    hint: "--name <another>",
  });
}

const mostWorkers = 64;

/** Whoever is over has no need of a clone any more. */
async function removeClones({ database }: Fleet, folder: string): Promise<void> {
  const clones = fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) =>
      fs.readdirSync(path.join(folder, name)).flatMap((clone) => {
        const run = /^(r[0-9a-f]+)-(?:drive|work)$/.exec(clone)?.[1];
        return run === undefined ? [] : [{ run, clone: path.join(folder, name, clone) }];
      }),
    );
  const over = new Set(
    await runsOver(
      database,
      clones.map(({ run }) => run),
    ),
  );
  for (const { run, clone } of clones) {
    if (!over.has(run)) continue;
    // What was checked out of it, with everything that was installed there.
    await removeFolder(cacheFolder(path.join(clone, ".git")));
    await removeFolder(clone);
  }
}
