/**
 * The composition root: finds the repository and chooses the adapters. The only file that names
 * them, and the only one besides core that the doors import.
 */
import * as path from "node:path";
import type { Project, World } from "./activities/hold.ts";
import { findRepository } from "./git.ts";
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
