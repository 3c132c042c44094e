/**
 * After a death: what a killed session left behind is put away before a new one begins. Nothing is
 * deleted that somebody may want: half-done work of an agent is kept under a ref.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import { lentBy, type PhaseProgress, type PlanRun } from "../core/plan/progress.ts";
import { isNameAlive } from "../exec/process-table.ts";
import { sweep } from "../exec.ts";
import type { Git } from "../git/call.ts";
import {
  commitAt,
  commitTree,
  type Identity,
  isWhole,
  treeOf,
  updateRefs,
} from "../git/objects.ts";
import { handedOver } from "../git/pipes.ts";
import {
  captureTree,
  gitIn,
  removeFolder,
  removeWorktree,
  worktreesUnder,
} from "../git/worktrees.ts";
import { diskTrouble } from "./attempt-phase.ts";
import { removeCheckouts } from "./clean-checkout.ts";
import { evidenceRef } from "./evidence.ts";
import { copyPrefix, lockMark } from "./publish-index.ts";
import { attemptFolder, interruptedRef, landedRef, type RunFolders } from "./run-site.ts";

export interface Recovery {
  readonly git: Git;
  readonly run: PlanRun;
  readonly folders: RunFolders;
  readonly identity: Identity;
  readonly now: () => string;
  /** Takes a file into the rescue folder. */
  keep(file: string): Promise<Result<string>>;
}

/** Says what was found and kept, a line each. */
export async function recover(recovery: Recovery): Promise<Result<string[]>> {
  const { git, run } = recovery;
  const said: string[] = [];
  await sweep(run.id);
  removeOwnLocks(git);
  removeStaleLocks(git, run);
  const tip = await checkTip(git, run);
  if (!tip.ok) return tip;
  const halfDone = await keepHalfDone(recovery);
  if (!halfDone.ok) return halfDone;
  said.push(...halfDone.value);
  const kept = await keepReplaced(recovery);
  if (!kept.ok) return kept;
  said.push(...kept.value);
  for (const file of Object.keys(run.planFiles)) {
    removeTemporaries(path.join(git.place.workTree, path.dirname(file)));
  }
  await clearFolders(recovery);
  return succeed(said);
}

/** The journal names it: it has to be there, with everything that it needs. */
async function checkTip(git: Git, run: PlanRun): Promise<Result<void>> {
  if (run.tip !== run.base && !(await isWhole(git, run.tip, run.base))) {
    return fail("git", `the landed commit ${run.tip} cannot be read`, {
      hint: "git fsck tells what is missing; --fresh begins anew and keeps everything",
    });
  }
  if ((await commitAt(git, run.base)) === undefined) {
    return fail("git", `the commit that the run began with, ${run.base}, is gone`, {
      hint: "--fresh begins anew from what is checked out",
    });
  }
  if ((await commitAt(git, landedRef(run.id))) === run.tip) return succeed(undefined);
  // A landing that is not on record: its receipt goes with it, since another may land first now,
  // and then this one is checked anew and has another.
  const receipts = run.phases.flatMap(({ state }) =>
    state.is === "verified" && state.check.evidence !== undefined
      ? [{ ref: evidenceRef(state.check.evidence), to: null }]
      : [],
  );
  return updateRefs(git, [{ ref: landedRef(run.id), to: run.tip }, ...receipts]);
}

/**
 * What an agent had done when we died is worth a ref: it may have taken hours. A disk that has no
 * room for it is a reason to stop here, since everything is cleared away afterwards.
 */
async function keepHalfDone(recovery: Recovery): Promise<Result<string[]>> {
  const { run, folders } = recovery;
  const said: string[] = [];
  for (const phase of run.phases) {
    const folder = path.join(folders.attempts, attemptFolder(run, phase.id));
    if (phase.attempts === 0 || !fs.existsSync(folder)) continue;
    // Somebody is at work there.
    if (phase.lent?.some(({ attempt }) => attempt === phase.attempts)) continue;
    try {
      const kept = await keepTree(recovery, phase, folder);
      if (!kept.ok && kept.failure.code !== "git") return kept;
      if (kept.ok && kept.value !== undefined) said.push(kept.value);
    } catch (error) {
      return { ok: false, failure: diskTrouble(error, folder) };
    }
  }
  return succeed(said);
}

/** Undefined: there is nothing. */
async function keepTree(
  recovery: Recovery,
  { id, attempts, state }: PhaseProgress,
  folder: string,
): Promise<Result<string | undefined>> {
  // What it has committed itself is its work too.
  const base = state.is === "working" ? state.base : undefined;
  const ref = interruptedRef(recovery.run.id, id, attempts);
  const kept = await keepWorkTree(recovery, { id, attempt: attempts, folder, base, ref });
  if (!kept.ok || kept.value === undefined) return kept;
  return succeed(`what attempt ${attempts} at phase ${id} had done is kept at ${kept.value}`);
}

/**
 * What lies in a work tree, and under which ref it is kept now; undefined: nothing but what it began
 * with. A tree can be half removed when we are killed: what was kept of it before stays.
 */
export async function keepWorkTree(
  { git, run, folders, identity, now }: Omit<Recovery, "keep">,
  {
    id,
    attempt,
    folder,
    base: given,
    ref,
  }: {
    readonly id: string;
    readonly attempt: number;
    readonly folder: string;
    readonly base: string | undefined;
    readonly ref: string;
  },
): Promise<Result<string | undefined>> {
  const own = gitIn(git, folder);
  if (!fs.existsSync(own.place.gitDir) || !fs.existsSync(folder)) return succeed(undefined);
  const base = given ?? (await commitAt(own, "HEAD"));
  if (base === undefined) return succeed(undefined);
  const before = await treeOf(own, base);
  if (!before.ok) return before;
  fs.mkdirSync(folders.scratch, { recursive: true });
  const index = path.join(folders.scratch, `${run.id}-rescue-index`);
  const tree = await captureTree(own, index, { asMuchAs: "can-be" });
  if (!tree.ok) return tree;
  if (tree.value === before.value) return succeed(undefined);
  const known = await commitAt(git, ref);
  const knownTree = known === undefined ? undefined : await treeOf(git, known);
  if (knownTree?.ok && knownTree.value === tree.value) return succeed(ref);
  const name = known === undefined ? ref : `${ref}-again`;
  const kept = await commitTree(git, {
    tree: tree.value,
    parent: base,
    message: `Half-done attempt ${attempt} at phase ${id}\n`,
    at: now(),
    by: identity,
  });
  if (!kept.ok) return kept;
  const named = await updateRefs(git, [{ ref: name, to: kept.value }]);
  return named.ok ? succeed(name) : named;
}

/** Files that publishing had just replaced: what git does not know of them is somebody's. */
async function keepReplaced({ git, run, folders, keep }: Recovery): Promise<Result<string[]>> {
  const said: string[] = [];
  const away = path.join(folders.attempts, `${run.id}-publish`, "away");
  for (const name of namesIn(away)) {
    const file = path.join(away, name);
    if (!fs.lstatSync(file).isFile()) continue;
    const args = ["hash-object", "--no-filters", "--stdin"];
    const hashed = await git.call({ args, input: fs.readFileSync(file) });
    if (!hashed.ok) return hashed;
    const asked = { args: ["cat-file", "-e", hashed.value.text.trim()], expect: [1, 128] };
    const known = await git.call(asked);
    if (known.ok && known.value.code === 0) continue;
    const kept = await keep(path.relative(git.place.workTree, file));
    if (!kept.ok) return kept;
    said.push(`a file that was being replaced is kept at ${kept.value}`);
  }
  return succeed(said);
}

/**
 * Work trees, branches and scratch files of this run: none of them outlives a session, but for those
 * that are out with somebody who came for them.
 */
export async function clearFolders({
  git,
  run,
  folders,
}: Pick<Recovery, "git" | "run" | "folders">): Promise<void> {
  const known = [folders.attempts, folders.checks].flatMap((folder) => worktreesUnder(git, folder));
  const lent = lentBy(run).map(({ phase, attempt }) => `${phase}-${attempt}`);
  const isOut = new Set(lent.flatMap((name) => [`${run.id}-${name}`, `${run.id}-${name}.md`]));
  const mine = (file: string): boolean =>
    path.basename(file).startsWith(`${run.id}-`) && !isOut.has(path.basename(file));
  for (const folder of known.filter(mine)) await removeWorktree(git, folder);
  // Half made, git does not know them itself.
  const admin = path.join(git.place.commonDir, "worktrees");
  for (const name of namesIn(admin)) if (mine(name)) await removeFolder(path.join(admin, name));
  for (const folder of [folders.attempts, folders.checks, folders.scratch]) {
    for (const name of namesIn(folder)) if (mine(name)) await removeFolder(path.join(folder, name));
  }
  for (const name of namesIn(folders.scratch)) {
    if (name.startsWith(handedOver)) await removeFolder(path.join(folders.scratch, name));
  }
  await removeCheckouts(folders.checks);
  const listed = await git.say(
    "for-each-ref",
    "--format=%(refname)",
    `refs/heads/autobuild/${run.id}/`,
  );
  const isLent = (ref: string): boolean => lent.some((name) => ref.endsWith(`/${name}`));
  const refs = listed.ok ? listed.value.split("\n") : [];
  const left = refs.filter((ref) => ref !== "" && !isLent(ref));
  if (left.length > 0)
    await updateRefs(
      git,
      left.map((ref) => ({ ref, to: null })),
    );
  for (const folder of [folders.attempts, folders.checks]) removeIfEmpty(folder);
}

/** What somebody who came for it was told about a session of a flow. */
export const briefPrefix = "flow-";

/** Of sessions that nobody is at work in. */
export function forgetBriefs(root: string): void {
  const folder = path.join(root, ".autodev", "var");
  const briefs = namesIn(folder).filter((name) => name.startsWith(briefPrefix));
  for (const name of briefs) fs.rmSync(path.join(folder, name), { force: true });
  if (briefs.length > 0) removeIfEmpty(folder);
}

/** A work tree that was lent, and what was told with it. */
export async function removeLent(git: Git, folder: string): Promise<void> {
  await removeWorktree(git, folder);
  fs.rmSync(`${folder}.md`, { force: true });
}

/** Of a plan's change that was cut off: the process that was at it is named in them. */
function removeTemporaries(folder: string): void {
  for (const name of namesIn(folder)) {
    const whose = /^\.autodev-tmp-([\dt]+)-/.exec(name)?.[1];
    if (whose !== undefined && !isNameAlive(whose)) {
      fs.rmSync(path.join(folder, name), { force: true });
    }
  }
}

const namesIn = (folder: string): string[] => {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
};

/** Our own folder goes with its last content; `.gitignore` alone is no content. */
export function removeIfEmpty(folder: string): void {
  const names = namesIn(folder);
  if (names.some((name) => name !== ".gitignore")) return;
  try {
    fs.rmSync(path.join(folder, ".gitignore"), { force: true });
    fs.rmdirSync(folder);
    if (path.basename(path.dirname(folder)) === ".autodev") fs.rmdirSync(path.dirname(folder));
  } catch {
    // Something else lives there.
  }
}

/**
 * A git that died with the machine leaves its lock files. The index's is ours if it bears our mark.
 * A lock of the user's branch is removed if it holds exactly what we
 * were about to write, or if no git at all is at work here: we hold the project, so no session of
 * ours is behind it.
 */
export function removeStaleLocks(git: Git, run: PlanRun): void {
  const { commonDir, gitDir } = git.place;
  const index = path.join(gitDir, "index.lock");
  const copies = namesIn(gitDir).filter((name) => name.startsWith(copyPrefix));
  const mark = readText(index);
  const waiting = new Set(run.landed.slice(run.published).map(({ commit }) => commit));
  const suspects = locksOf(git, run.target);
  const doubtful = suspects.length > 0 || mark === "";
  const nobody = doubtful && !isGitAtWork([git.place.workTree, commonDir]);
  const stale = suspects.filter((lock) => nobody || waiting.has(readText(lock)?.trim() ?? ""));
  // Whole, or as much of it as we had written; a power cut may have left nothing.
  const torn = mark !== undefined && lockMark(run.id).startsWith(mark);
  const ours = torn && (mark !== "" || nobody) ? [index] : [];
  for (const lock of [...ours, ...stale, ...copies.map((name) => path.join(gitDir, name))]) {
    fs.rmSync(lock, { force: true });
  }
}

/** Whatever keeps a branch from moving now. */
const locksOf = ({ place: { commonDir, gitDir } }: Git, target: string): string[] =>
  [
    path.join(gitDir, "HEAD.lock"),
    path.join(commonDir, "packed-refs.lock"),
    ...(target.startsWith("refs/") ? [path.join(commonDir, `${target}.lock`)] : []),
  ].filter((lock) => fs.existsSync(lock));

/** Of a git that died with the machine, since none is at work here; false: there is none of them. */
export function removeDeadLocks(git: Git, target: string): boolean {
  const locks = locksOf(git, target);
  if (locks.length === 0 || isGitAtWork([git.place.workTree, git.place.commonDir])) return false;
  for (const lock of locks) fs.rmSync(lock, { force: true });
  return true;
}

/** Locks of refs that only we write: we hold the project, so nobody is behind them. */
export function removeOwnLocks({ place: { commonDir } }: Git): void {
  const own = [
    "refs/autobuild",
    "refs/autodev",
    "refs/heads/autobuild",
    "logs/refs/heads/autobuild",
  ];
  for (const lock of own.flatMap((folder) => locksUnder(path.join(commonDir, folder)))) {
    fs.rmSync(lock, { force: true });
  }
}

function locksUnder(folder: string): string[] {
  if (!fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return fs
    .readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".lock"))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** What comes first may hold anything: a program's own name, in brackets. */
const parentOf = (pid: string): number => {
  const about = readText(`/proc/${pid}/stat`) ?? "";
  return Number(about.slice(about.lastIndexOf(")") + 2).split(" ")[1]);
};

function readText(file: string): string | undefined {
  try {
    return fs.readFileSync(file, "latin1");
  } catch {
    return undefined;
  }
}

/** Where that cannot be told, there may be one. Those that stay with us hold no locks now. */
function isGitAtWork(folders: readonly string[]): boolean {
  if (process.platform !== "linux") return true;
  return namesIn("/proc").some((pid) => {
    if (!/^\d+$/.test(pid) || !readText(`/proc/${pid}/comm`)?.startsWith("git")) return false;
    if (parentOf(pid) === process.pid) return false;
    try {
      const cwd = fs.readlinkSync(`/proc/${pid}/cwd`);
      return folders.some((folder) => cwd === folder || cwd.startsWith(`${folder}/`));
    } catch {
      return false;
    }
  });
}
