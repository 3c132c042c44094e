/**
 * A work tree in which a person looks at an attempt, and mends it if he likes.
 *
 *  1. It is his: what he has changed in it is never removed unless he says so.
 *  2. It says whose it is in git's own folder for it. The mark is made last and removed first: a
 *     tree without one was cut off half-way, by us, and holds nothing of anybody's.
 *  3. Nobody's session sweeps it: its name does not begin with a run's.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import { isNameAlive, ourName } from "../exec/process-table.ts";
import { type Git, openGit } from "../git/call.ts";
import { treeNow } from "../git/differences.ts";
import { commitAt, treeOf } from "../git/objects.ts";
import { addWorktree, removeFolder, removeWorktree } from "../git/worktrees.ts";
import { isKnownThere } from "../git.ts";
import { keepOutOfGit } from "./attempt-phase.ts";
import { type AttemptWork, findWork } from "./attempt-work.ts";
import { findPhase, type PhaseHistory } from "./find-attempt.ts";
import { notKnownThere, type Project } from "./hold.ts";
import { removeIfEmpty } from "./recover.ts";
import { checkFolders, foldersOf } from "./run-site.ts";

export interface ShellTree {
  readonly git: Git;
  readonly path: string;
  /** Git's own folder for it. */
  readonly admin: string;
  readonly mark: ShellMark;
}

export interface ShellMark {
  readonly run: string;
  readonly phase: string;
  readonly attempt: number;
  readonly commit: string;
}

export interface OpenedShell {
  readonly tree: ShellTree;
  readonly history: PhaseHistory;
  readonly work: Extract<AttemptWork, { is: "kept" }>;
}

/** The attempt's tree, made if it is not there. */
export async function openShell(
  project: Project,
  name: string,
  wanted: number | undefined,
): Promise<Result<OpenedShell>> {
  const { repository, root } = project;
  if (!repository) return fail("no-repository", `${root} is not in a git repository`);
  if (!isKnownThere(repository)) return notKnownThere(repository);
  const history = findPhase(project, name);
  if (!history.ok) return history;
  const folders = foldersOf(root, repository.commonDir, "");
  const safe = checkFolders(root, folders);
  if (!safe.ok) return safe;
  const git = openGit({ ...repository, workTree: root });
  const work = await findWork(git, history.value, wanted, { kept: true });
  if (!work.ok) return work;
  const kept = work.value;
  if (kept.is !== "kept") throw new Error("an attempt under way was offered");
  const { run, id } = history.value;
  const { attempt } = kept.record;
  const folder = path.join(folders.attempts, `shell-${id}-${attempt}`);
  const mark: ShellMark = { run: run.id, phase: id, attempt, commit: kept.commit };
  const tree = await treeAt(git, folder, mark);
  return tree.ok ? succeed({ tree: tree.value, history: history.value, work: kept }) : tree;
}

async function treeAt(git: Git, folder: string, mark: ShellMark): Promise<Result<ShellTree>> {
  const known = shellAt(git, folder);
  if (known && known !== "half-made") {
    if (known.mark.run === mark.run && known.mark.commit === mark.commit) return succeed(known);
    if (usersOf(known).length > 0 || (await isChanged(known))) return inTheWay(known);
    await removeShell(known);
  } else if (known) await removeHalfMade(git, folder);
  else if (isInUse(folder)) return notOurs(folder);
  try {
    keepOutOfGit(path.dirname(folder));
  } catch (error) {
    return cannotMake(folder, error);
  }
  const added = await addWorktree(git, folder, mark.commit);
  if (!added.ok) return added;
  const admin = adminOf(git, folder);
  if (admin === undefined) return fail("git", `git knows nothing of ${folder}, which it made`);
  try {
    fs.writeFileSync(path.join(admin, markName), JSON.stringify(mark));
  } catch (error) {
    return cannotMake(folder, error);
  }
  return succeed({ git, path: folder, admin, mark });
}

const inTheWay = ({ path: folder, mark }: ShellTree): ReturnType<typeof fail> =>
  fail("busy-repository", `${folder} holds changes of yours to what an earlier run left`, {
    file: folder,
    details: [`it was made for attempt ${mark.attempt} at phase ${mark.phase} of ${mark.run}`],
    hint: `take what you need (git -C ${folder} diff), then: git worktree remove --force ${folder}`,
  });

const notOurs = (folder: string): ReturnType<typeof fail> =>
  fail("disk", `${folder} is in the way: it is no work tree of ours`, {
    file: folder,
    hint: `mv ${folder} ${folder}.aside`,
  });

function cannotMake(folder: string, error: unknown): ReturnType<typeof fail> {
  const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
  return fail("disk", `${folder} cannot be made (${code})`, {
    file: folder,
    hint: "free some space or mend the permissions, then run the same command again",
  });
}

/** An empty folder is what a death leaves before git has begun. */
function isInUse(folder: string): boolean {
  const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
  if (!stat) return false;
  return !stat.isDirectory() || fs.readdirSync(folder).length > 0;
}

// ── what git knows ─────────────────────────────────────────────────────────────────────────────

const markName = "autodev-shell.json";

/** By git's own folders, whatever lies in the tree itself. */
function adminOf(git: Git, folder: string): string | undefined {
  return worktreesOf(git).find(({ tree }) => tree === folder)?.admin;
}

function worktreesOf(git: Git): { admin: string; tree: string }[] {
  const all = path.join(git.place.commonDir, "worktrees");
  const names = fs.existsSync(all) ? fs.readdirSync(all) : [];
  return names.flatMap((name) => {
    const admin = path.join(all, name);
    try {
      const pointer = fs.readFileSync(path.join(admin, "gitdir"), "utf8").trim();
      return [{ admin, tree: path.dirname(path.resolve(admin, pointer)) }];
    } catch {
      return [];
    }
  });
}

function shellAt(git: Git, folder: string): ShellTree | "half-made" | undefined {
  const admin = adminOf(git, folder);
  if (admin === undefined) return undefined;
  const mark = markIn(admin);
  return mark && fs.existsSync(folder) ? { git, path: folder, admin, mark } : "half-made";
}

function markIn(admin: string): ShellMark | undefined {
  try {
    const text = fs.readFileSync(path.join(admin, markName), "utf8");
    const { run, phase, attempt, commit } = JSON.parse(text) as Partial<ShellMark>;
    const sound = typeof run === "string" && typeof phase === "string";
    if (!sound || typeof attempt !== "number" || !isCommit.test(commit ?? "")) return undefined;
    return { run, phase, attempt, commit: commit ?? "" };
  } catch {
    return undefined;
  }
}

const isCommit = /^[0-9a-f]{40,64}$/;

/** All of this repository, in whichever of its work trees they were made. */
export function shellTrees(git: Git): {
  readonly trees: readonly ShellTree[];
  readonly halfMade: readonly string[];
} {
  const own = worktreesOf(git).filter(({ tree }) =>
    /[/\\]\.autodev[/\\]var[/\\]shell-[^/\\]+$/.test(tree),
  );
  const found = own.map(({ tree }) => ({ tree, shell: shellAt(git, tree) }));
  return {
    trees: found.flatMap(({ shell }) => (shell && shell !== "half-made" ? [shell] : [])),
    halfMade: found.flatMap(({ tree, shell }) => (shell === "half-made" ? [tree] : [])),
  };
}

/** When somebody last went in. */
export const enteredAt = ({ admin }: ShellTree): number =>
  fs.statSync(path.join(admin, markName), { throwIfNoEntry: false })?.mtimeMs ?? 0;

/**
 * Another file, another index, another commit: then there is something to keep. What git ignores
 * (installed, built) can be had again. Where it cannot be told, there is.
 */
export async function isChanged({ git, path: folder, admin, mark }: ShellTree): Promise<boolean> {
  const place = { gitDir: admin, workTree: folder, whole: true as const };
  const own = git.at(place);
  if ((await commitAt(own, "HEAD")) !== mark.commit) return true;
  const staged = await own.call({
    args: ["diff-index", "--cached", "--quiet", "--no-ext-diff", mark.commit, "--"],
    expect: [1],
  });
  if (!staged.ok || staged.value.code !== 0) return true;
  const before = await treeOf(git, mark.commit);
  const now = await treeNow(git, place, mark.commit);
  if (now.ok) await now.value.forget();
  return !before.ok || !now.ok || before.value !== now.value.tree;
}

// ── in and out ─────────────────────────────────────────────────────────────────────────────────

const userPrefix = "autodev-shell-user-";

export function enterShell({ admin }: ShellTree): void {
  const now = new Date();
  fs.writeFileSync(path.join(admin, `${userPrefix}${process.pid}`), ourName());
  fs.utimesSync(path.join(admin, markName), now, now);
}

/** Others who are in it, beside us. */
export function usersOf({ admin }: ShellTree): number[] {
  return fs
    .readdirSync(admin)
    .filter((name) => name.startsWith(userPrefix) && isNameAlive(nameIn(admin, name)))
    .map((name) => Number(name.slice(userPrefix.length)))
    .filter((pid) => pid !== process.pid);
}

/** By name, as he has written it there himself; older ones have written nothing. */
function nameIn(admin: string, file: string): string {
  try {
    return fs.readFileSync(path.join(admin, file), "utf8") || file.slice(userPrefix.length);
  } catch {
    // He has just left.
    return "";
  }
}

/** Gone if there is nothing in it to keep, and nobody. */
export async function leaveShell(tree: ShellTree): Promise<"removed" | "kept" | "in-use"> {
  // Whoever works in it may have removed it himself.
  if (!fs.existsSync(tree.path) || !fs.existsSync(tree.admin)) return "removed";
  fs.rmSync(path.join(tree.admin, `${userPrefix}${process.pid}`), { force: true });
  if (usersOf(tree).length > 0) return "in-use";
  if (await isChanged(tree)) return "kept";
  await removeShell(tree);
  return "removed";
}

export async function removeShell({ git, path: folder, admin }: ShellTree): Promise<void> {
  fs.rmSync(path.join(admin, markName), { force: true });
  await removeHalfMade(git, folder);
}

export async function removeHalfMade(git: Git, folder: string): Promise<void> {
  const admin = adminOf(git, folder);
  await removeWorktree(git, folder);
  if (admin !== undefined && fs.existsSync(admin)) await removeFolder(admin);
  removeIfEmpty(path.dirname(folder));
}
