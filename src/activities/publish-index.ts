/**
 * The user's index, when a branch is moved under it: locked as git locks it, from before the branch
 * moves until the index has followed. A commit of the user's in between would take the phase back.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Git } from "../git/call.ts";
import { indexInfo } from "../git/objects.ts";
import { type Change, type Entry } from "../git/trees.ts";
import type { RunSite } from "./run-site.ts";

/** Recognised by whoever finds it after a crash. */
export const lockMark = (run: string): string => `autodev ${run}\n`;
export const copyPrefix = "autodev-index-";

/** On whose behalf: `id` is what the lock says while we hold it. */
export type IndexKeeper = Pick<RunSite, "git" | "id" | "signal">;

/**
 * `act` is given git on a copy of the index; the copy takes its place if all went well. `regained`:
 * the lock was ours already. We were killed while we held it, and nobody has changed the index since.
 */
export async function withIndex<T>(
  site: IndexKeeper,
  act: (git: Git, lock: { readonly regained: boolean }) => Promise<Result<T>>,
): Promise<Result<T>> {
  const { gitDir } = site.git.place;
  const [index, lock] = [path.join(gitDir, "index"), path.join(gitDir, "index.lock")];
  const locked = await acquire(site, lock);
  if (!locked.ok) return locked;
  const copy = path.join(gitDir, `${copyPrefix}${site.id}`);
  try {
    const stat = fs.statSync(index, { throwIfNoEntry: false });
    if (stat) {
      fs.copyFileSync(index, copy);
      // Git judges by this time which entries to look at again.
      fs.utimesSync(copy, stat.atime, new Date(Math.floor(stat.mtimeMs / 1000) * 1000));
    } else fs.rmSync(copy, { force: true });
    const done = await act(site.git.at({}, { GIT_INDEX_FILE: copy }), locked.value);
    if (done.ok && fs.existsSync(copy)) fs.renameSync(copy, index);
    return done;
  } finally {
    fs.rmSync(copy, { force: true });
    fs.rmSync(lock, { force: true });
  }
}

/** What an earlier life of ours has left, where nothing is left to be done with it. */
export function leaveIndex({ git: { place }, id }: Pick<IndexKeeper, "git" | "id">): void {
  const lock = path.join(place.gitDir, "index.lock");
  if (textIn(lock) === lockMark(id)) fs.rmSync(lock, { force: true });
  for (const name of [`${copyPrefix}${id}`, `${copyPrefix}${id}-lock`]) {
    fs.rmSync(path.join(place.gitDir, name), { force: true });
  }
}

const patienceMs = 60_000;

/** `git commit -a` holds it while its editor is open: that can take a while. */
async function acquire(site: IndexKeeper, lock: string): Promise<Result<{ regained: boolean }>> {
  const mark = lockMark(site.id);
  for (let waited = 0; waited < patienceMs && !site.signal.aborted; waited += 100) {
    if (putLock(site, lock, mark)) return succeed({ regained: false });
    if (textIn(lock) === mark) return succeed({ regained: true });
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return fail("run-halted", `another git is at work here: ${lock} is there`, {
    file: lock,
    hint: "when it has ended (or, if none runs, after removing the file) run the same command again",
  });
}

/** With the mark in it from the first moment on: a lock that says nothing could be anybody's. */
function putLock({ id }: IndexKeeper, lock: string, mark: string): boolean {
  const made = path.join(path.dirname(lock), `${copyPrefix}${id}-lock`);
  try {
    fs.writeFileSync(made, mark, { flush: true });
    fs.linkSync(made, lock);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "EEXIST") return false;
    // A file system without links.
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EMLINK") throw error;
    return putPlainly(lock, mark);
  } finally {
    fs.rmSync(made, { force: true });
  }
}

function putPlainly(lock: string, mark: string): boolean {
  try {
    fs.writeFileSync(lock, mark, { flag: "wx" });
    return true;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    return false;
  }
}

function textIn(file: string): string | undefined {
  try {
    return fs.readFileSync(file, "latin1");
  } catch {
    return undefined;
  }
}

export async function indexOf(
  git: Git,
  changes: readonly Change[],
): Promise<Map<string, Entry & { skipped: boolean }>> {
  const entries = new Map<string, Entry & { skipped: boolean }>();
  for (let at = 0; at < changes.length; at += 200) {
    const paths = changes.slice(at, at + 200).map((each) => each.path);
    const told = await git.call({ args: ["ls-files", "-s", "-t", "-z", "--", ...paths] });
    if (!told.ok) continue;
    for (const line of told.value.text.split("\0")) {
      const [, tag, mode = "", blob = "", file] =
        /^(\S) (\d+) ([0-9a-f]+) 0\t([\s\S]+)$/.exec(line) ?? [];
      if (file !== undefined) entries.set(file, { mode, blob, skipped: tag === "S" });
    }
  }
  return entries;
}

const sameEntry = (a: Entry | null | undefined, b: Entry | null | undefined): boolean =>
  (a?.blob ?? "") === (b?.blob ?? "") && (a?.mode ?? "") === (b?.mode ?? "");

/**
 * Entries that are as the phase found them follow the branch; what somebody staged stays staged.
 * `staged: "too"`: what is staged of these files went into the commit with them, and follows as well.
 */
export async function followIndex(
  site: Pick<RunSite, "tell">,
  git: Git,
  changes: readonly Change[],
  { staged }: { readonly staged?: "too" | undefined } = {},
): Promise<Result<void>> {
  const present = await indexOf(git, changes);
  const behind = changes.filter(({ path: file, old, now }) => {
    // An entry that only says "will be added" looks like one of an empty file: none is left alone.
    if (staged === "too") return true;
    const entry = present.get(file);
    return sameEntry(entry, old) && !sameEntry(old, now);
  });
  // A file in the place of a folder, or the other way round, would throw out what they staged.
  const theirs = [...present.keys()].filter((file) => !behind.some((each) => each.path === file));
  const inTheWay = ({ path: file, now }: Change): boolean =>
    now !== null &&
    theirs.some((each) => each.startsWith(`${file}/`) || file.startsWith(`${each}/`));
  const stale = behind.filter((change) => !inTheWay(change));
  for (const { path: file } of behind.filter(inTheWay)) {
    site.tell({ notice: `${file} is left out of the index: something else is staged there` });
  }
  if (stale.length === 0) return succeed(undefined);
  const [like = ""] = stale.flatMap(({ old, now }) =>
    [old, now].flatMap((each) => each?.blob ?? []),
  );
  const input = indexInfo(new Map(stale.map((each) => [each.path, each.now])), like);
  const updated = await git.call({ args: ["update-index", "-z", "--index-info"], input });
  if (!updated.ok) return updated;
  const sparse = stale.filter(({ path: file, now }) => now !== null && present.get(file)?.skipped);
  if (sparse.length === 0) return succeed(undefined);
  const left = await git.call({
    args: ["update-index", "--skip-worktree", "-z", "--stdin"],
    input: sparse.map((each) => `${each.path}\0`).join(""),
  });
  return left.ok ? succeed(undefined) : left;
}
