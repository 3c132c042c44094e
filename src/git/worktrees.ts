/** Work trees of ours: one for each attempt and each verification, gone when they have served. */
import * as fs from "node:fs";
import { copyFile, mkdir, rm, utimes } from "node:fs/promises";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import { findRepository, placeOf } from "../git.ts";
import type { Git } from "./call.ts";

/** A fresh checkout of `commit`; with `branch`, on a branch of its own. */
export async function addWorktree(
  git: Git,
  folder: string,
  commit: string,
  branch?: string,
): Promise<Result<Git>> {
  try {
    await mkdir(path.dirname(folder), { recursive: true });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    return fail("disk", `${path.dirname(folder)} cannot be made (${code})`, {
      file: path.dirname(folder),
      hint: "make room or mend the permissions; XDG_CACHE_HOME names another place for checkouts",
    });
  }
  const where = branch === undefined ? ["--detach"] : ["-B", branch];
  const args = ["worktree", "add", "--quiet", "--force", "--force", ...where, folder, commit];
  const added = await alone(git, () => git.at({ whole: true }).call({ args }));
  if (!added.ok) return added;
  return succeed(gitIn(git, folder));
}

const turns = new Map<string, Promise<unknown>>();

/**
 * One after the other: each of these calls reads what all the others have just made or removed.
 * Somebody else's may still be half-way; then it is tried again.
 */
async function alone<T>(git: Git, act: () => Promise<Result<T>>): Promise<Result<T>> {
  const mine = (turns.get(git.place.commonDir) ?? Promise.resolve()).then(async () => {
    for (let tries = 5; ; tries--) {
      const done = await act();
      if (done.ok || tries === 0 || !/commondir|gitdir|worktrees/.test(done.failure.message))
        return done;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
  turns.set(
    git.place.commonDir,
    mine.catch(() => {}),
  );
  return mine;
}

/** Git in a work tree of ours, whatever somebody has made of the `.git` file in it. */
export const gitIn = (git: Git, folder: string): Git =>
  git.at({
    gitDir: path.join(git.place.commonDir, "worktrees", path.basename(folder)),
    workTree: folder,
    whole: true,
  });

/** The folder and what git knows of it; nothing in it is needed any more. */
export async function removeWorktree(git: Git, folder: string): Promise<void> {
  const args = ["worktree", "remove", "--force", "--force", folder];
  const removed = await alone(git, () => git.call({ args, expect: [1, 128] }));
  if (removed.ok && removed.value.code === 0) return;
  // Half made, half removed, or made unreadable by whoever worked in it.
  await removeFolder(folder);
  await removeFolder(path.join(git.place.commonDir, "worktrees", path.basename(folder)));
}

/** A folder that was closed to its owner is opened first. */
export async function removeFolder(folder: string): Promise<void> {
  for (let tries = 3; tries > 0; tries--) {
    try {
      await rm(folder, { recursive: true, force: true });
      return;
    } catch {
      openFolders(folder);
    }
  }
}

function openFolders(folder: string): void {
  try {
    fs.chmodSync(folder, 0o700);
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) openFolders(path.join(folder, entry.name));
    }
  } catch {
    // Somebody else's: it stays.
  }
}

/** What git knows of work trees below `folder`, whether or not they are still there. */
export function worktreesUnder(git: Git, folder: string): string[] {
  const admin = path.join(git.place.commonDir, "worktrees");
  const names = fs.existsSync(admin) ? fs.readdirSync(admin) : [];
  return names.flatMap((name) => {
    try {
      const pointer = fs.readFileSync(path.join(admin, name, "gitdir"), "utf8").trim();
      const tree = path.dirname(pointer);
      return path.dirname(tree) === folder ? [tree] : [];
    } catch {
      return [];
    }
  });
}

/**
 * Everything in a work tree that git does not ignore, as a tree. `from`: a commit to begin with,
 * instead of its index, which may have been told not to look at files. `asMuchAs`: what git cannot
 * take up (a repository without a commit, say) is left out, and is no reason to lose the rest.
 */
export async function captureTree(
  git: Git,
  index: string,
  { from, asMuchAs }: { readonly from?: string | undefined; readonly asMuchAs?: "can-be" } = {},
): Promise<Result<string>> {
  const own = path.join(git.place.gitDir, "index");
  // A copy of its index knows which files have not changed; without one, all are read. It keeps its
  // time: git reads a file again that changed within the second in which the index was written.
  const stat = from === undefined && fs.statSync(own, { throwIfNoEntry: false });
  if (stat) {
    await copyFile(own, index);
    await utimes(index, stat.atime, new Date(Math.floor(stat.mtimeMs / 1000) * 1000));
  } else await rm(index, { force: true });
  const at = git.at({}, { GIT_INDEX_FILE: index });
  const begun = from === undefined ? undefined : await at.call({ args: ["read-tree", from] });
  if (begun && !begun.ok) return begun;
  // Git would ask each submodule for its state, by that repository's own configuration.
  const submodules = await gitlinks(at);
  if (!submodules.ok) return submodules;
  const without = submodules.value.map(({ path: file }) => `:(exclude,literal)${file}`);
  const add = {
    args: ["add", "--all", "--sparse", "--", ".", ...without],
    env: { GIT_LITERAL_PATHSPECS: "0" },
  };
  let added = await at.call(add);
  if (added.ok && isClosed.test(added.value.said) && git.place.whole) {
    // A folder that was closed to its owner would be left out without a word.
    openFolders(git.place.workTree);
    added = await at.call(add);
  }
  if (!added.ok && asMuchAs && added.failure.code === "git") {
    const [first = "", ...rest] = add.args;
    added = await at.call({ ...add, args: [first, "--ignore-errors", ...rest], expect: [1] });
  }
  if (!added.ok) return added;
  const moved = await followSubmodules(at, submodules.value);
  return moved.ok ? at.say("write-tree") : moved;
}

const isClosed = /could not open directory|Permission denied/;

type Gitlink = { readonly path: string; readonly commit: string };

async function gitlinks(git: Git): Promise<Result<Gitlink[]>> {
  const staged = await git.call({ args: ["ls-files", "--stage", "-z"] });
  if (!staged.ok) return staged;
  return succeed(
    staged.value.text.split("\0").flatMap((line) => {
      const [, commit, file] = /^160000 ([0-9a-f]+) \d\t([\s\S]+)$/.exec(line) ?? [];
      return commit === undefined || file === undefined ? [] : [{ path: file, commit }];
    }),
  );
}

/** A submodule that stands elsewhere than before is part of the work; its files say where. */
async function followSubmodules(git: Git, links: readonly Gitlink[]): Promise<Result<void>> {
  const moved = links.flatMap(({ path: file, commit }) => {
    const found = findRepository(path.join(git.place.workTree, file));
    const inside = found?.root === path.join(git.place.workTree, file);
    const now = inside ? placeOf(found).commit : commit;
    return now === commit || !/^[0-9a-f]{40,64}$/.test(now) ? [] : [{ path: file, commit: now }];
  });
  if (moved.length === 0) return succeed(undefined);
  const input = moved.map(({ path: file, commit }) => `160000 ${commit}\t${file}\0`).join("");
  const put = await git.call({ args: ["update-index", "-z", "--index-info"], input });
  return put.ok ? succeed(undefined) : put;
}
