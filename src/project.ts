/**
 * The composition root: finds the repository and chooses the adapters. The only file that names
 * them, and the only one besides core that the doors import.
 */
import * as path from "node:path";
import { lookFrom } from "./activities/glance.ts";
import type { Look, Project, World } from "./activities/hold.ts";
import { findRepository } from "./git.ts";
import { glanceAt } from "./stores/file/glance.ts";
import { createFileStore, sha256 } from "./stores/file.ts";

export * from "./activities/examine.ts";

export * from "./activities/hold.ts";
export * from "./activities/open-flow.ts";
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
