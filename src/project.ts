/**
 * The composition root: finds the repository and chooses the adapters. The only file that names
 * them, and the only one besides core that the doors import.
 */
import * as path from "node:path";
import { lookFrom } from "./activities/glance.ts";
import type { Look, Project, World } from "./activities/hold.ts";
import type { PlanDisk } from "./activities/plan-files.ts";
import { findRepository } from "./git.ts";
import { createDurably, realDisk, replaceFile } from "./stores/file/disk.ts";
import { glanceAt } from "./stores/file/glance.ts";
import { acquireLock } from "./stores/file/lock.ts";
import { createFileStore, sha256 } from "./stores/file.ts";

export * from "./activities/examine.ts";

export * from "./activities/hold.ts";
export * from "./activities/open-flow.ts";
export * from "./activities/plan-files.ts";
export { initRepository } from "./git.ts";
export { notify } from "./notify.ts";
export { shown } from "./safe-text.ts";

export const realWorld: World = {
  now: () => new Date().toISOString(),
  holder: (command) => ({
    pid: process.pid,
    host: process.getBuiltinModule("node:os").hostname(),
    since: new Date().toISOString(),
    command,
  }),
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
  return look && { root, look };
}

/** How a plan's files are written: whole or not at all, and still there after a power cut. */
export const planDisk: PlanDisk = {
  replace: (file, bytes, proceed) => {
    const mode = realDisk.mode(file);
    return replaceFile(realDisk, file, bytes, {
      unique: `${process.pid}-${Date.now()}`,
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
    const unique = `${process.pid}-${Date.now()}`;
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
