/** A repository, as everything else begins with it: found, its store opened, its places known. */
import * as path from "node:path";
import { findFlows } from "../activities/find-flows.ts";
import { foldersAgree, lookFrom } from "../activities/glance.ts";
import { type Look, type Project, type World } from "../activities/hold.ts";
import type { PlanDisk } from "../activities/plan-files.ts";
import { foldersOf } from "../activities/run-site.ts";
import { partsOf, type SuitePart, surveySuite } from "../activities/survey-suite.ts";
import { transcriptFile } from "../activities/transcript.ts";
import { readConfig } from "../config.ts";
import { type Budgets, budgetsOf } from "../core/agent/budget.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import { flowNamed } from "../core/flow/flows/index.ts";
import { type EngineName, engineSettings } from "../core/settings.ts";
import { openGit } from "../git/call.ts";
import { findRepository } from "../git.ts";
import { createDurably, realDisk, replaceFile } from "../stores/file/disk.ts";
import { glanceAt } from "../stores/file/glance.ts";
import { acquireLock, holderOf, isLocked } from "../stores/file/lock.ts";
import { writerName } from "../stores/file/writer.ts";
import { createFileStore, sha256 } from "../stores/file.ts";
import { type TrustPlace, trustFolder } from "../trust.ts";
import { steadyClock } from "./steady-clock.ts";

/** What everything in this process goes by that takes time. */
export const timeNow = steadyClock();

export const realWorld: World = {
  now: () => new Date(timeNow()).toISOString(),
  holder: (command) => ({
    pid: process.pid,
    host: process.getBuiltinModule("node:os").hostname(),
    since: new Date(timeNow()).toISOString(),
    command,
  }),
  uuid: () => process.getBuiltinModule("node:crypto").randomUUID(),
  hash: sha256,
  showEvery: 25,
};

/**
 * `look`, when nothing has happened since the last rest and the file is as we wrote it: the same
 * answer for a fraction of the work. Undefined: it takes a whole look to tell.
 */
export function glance(cwd: string): { root: string; look: Look } | undefined {
  const repository = findRepository(cwd);
  if (!repository) return undefined;
  const { root, commonDir } = repository;
  const found = glanceAt(path.join(commonDir, "autodev"), root);
  const look = found && lookFrom(found.snapshot, found.readProjection);
  return look && foldersAgree(root, look) ? { root, look } : undefined;
}

/** How a plan's files are written: whole or not at all, and still there after a power cut. */
export const planDisk: PlanDisk = {
  replace: (file, bytes, proceed) => {
    const mode = realDisk.mode(file);
    return replaceFile(realDisk, file, bytes, {
      unique: `${writerName()}-${Date.now()}`,
      durable: true,
      proceed,
      ...(mode === undefined ? {} : { mode }),
    });
  },
  alone: async (file, act) => {
    // Not beside the plan, which is somebody's folder, and not for ever: the kernel lets go of it.
    const lockFile = path.join(
      process.getBuiltinModule("node:os").tmpdir(),
      `autodev-plan-${sha256(file).slice(0, 16)}.lock`,
    );
    for (let round = 0; ; round++) {
      const lock = acquireLock(lockFile, lockFile, realWorld.holder("autodev plan"));
      if (!lock.ok && lock.failure.code === "locked" && round < 600) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        continue;
      }
      // Without a lock (no flock, a lock file of another user's) two of ours may have to try again.
      try {
        return await act();
      } finally {
        if (lock.ok) lock.value.release();
      }
    }
  },
  create: async (file, bytes) => {
    const mask = process.umask();
    await realDisk.makeFolder(path.dirname(file), 0o777 & ~mask);
    const unique = `${writerName()}-${Date.now()}`;
    return createDurably(realDisk, file, bytes, unique, 0o666 & ~mask);
  },
};

export function openProject(cwd: string, world: World = realWorld): Project {
  const repository = findRepository(cwd);
  const root = repository?.root ?? path.resolve(cwd);
  // Outside a repository one can look, but nothing is ever written there.
  const folder = path.join(repository?.commonDir ?? path.join(root, ".git"), "autodev");
  const relative = path.relative(root, folder);
  const store = createFileStore({
    folder,
    root,
    shown: relative.startsWith("..") ? folder : relative,
  });
  return { root, repository, store, world };
}

/** The project with the flows of its own. */
export function withFlows(project: Project, wantedFlow?: string): Result<Project> {
  const found = findFlows(project.root);
  if (!found.ok) return found;
  const flows = found.value.map(({ flow }) => flow);
  if (wantedFlow !== undefined && !flowNamed(wantedFlow, flows)) {
    return fail("usage", `there is no flow "${wantedFlow}"`, {
      hint: `there are ${flows.map(({ name }) => name).join(", ")}`,
    });
  }
  return succeed({ ...project, flows, ...(wantedFlow !== undefined && { wantedFlow }) });
}

/** The parts of a repository of repositories, and where each is by itself. */
export async function suiteOf({ root, repository }: Project): Promise<SuitePart[]> {
  if (!repository) return [];
  const git = openGit({ ...repository, workTree: repository.root });
  return partsOf(root, await surveySuite(root, git));
}

/** By what the project's settings have runs carried. */
export function engineFor(cwd: string): Result<EngineName> {
  const settings = readConfig(openProject(cwd).root);
  return settings.ok ? succeed(engineSettings(settings.value).use ?? "local") : settings;
}

/** What agents may use up here; where the settings cannot be read, what is usual. */
export function budgetsAt({ root }: Project): Budgets {
  const settings = readConfig(root);
  return budgetsOf(settings.ok ? settings.value.budget : undefined);
}

/** Whether a session is open here, as far as a look can tell. */
export function isHeld({ repository }: Project): boolean {
  if (!repository) return false;
  const file = lockFileOf(repository.commonDir);
  if (process.platform === "linux") return isLocked(file);
  const holder = holderOf(file);
  try {
    return holder !== undefined && process.kill(holder.pid, 0);
  } catch {
    return false;
  }
}

export const lockFileOf = (commonDir: string): string => path.join(commonDir, "autodev", "lock");

/** What an attempt's agent and gates have printed. */
export const transcriptOf = (
  { repository, root }: Project,
  run: string,
  phase: string,
  attempt: number,
): string => {
  const commonDir = repository?.commonDir ?? path.join(root, ".git");
  return transcriptFile(foldersOf(root, commonDir, ""), run, phase, attempt);
};

export const trustPlaceOf = ({ root }: Project): TrustPlace => ({ root, folder: trustFolder() });

/** Outside the repository, one for each: no agent's work tree is near, nothing there is precious. */
export function cacheFolder(commonDir: string): string {
  const { XDG_CACHE_HOME: given, HOME: home } = process.env;
  const base =
    given && path.isAbsolute(given)
      ? given
      : path.join(home ?? process.getBuiltinModule("node:os").homedir(), ".cache");
  return path.join(base, "autodev", "checks", sha256(commonDir).slice(0, 16));
}

export function noWorkTree(cwd: string): ReturnType<typeof fail> {
  const fs = process.getBuiltinModule("node:fs");
  const bare = ["HEAD", "objects", "refs"].every((name) => fs.existsSync(path.join(cwd, name)));
  return bare
    ? fail("no-repository", `${cwd} is a bare repository: there is no tree to build in`, {
        hint: "git clone it, and run there",
      })
    : fail("no-repository", `${cwd} is not in a git repository, and plans become commits`, {
        hint: "git init && git add -A && git commit -m 'First commit'",
      });
}
