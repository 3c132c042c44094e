/**
 * A commit of ours on the branch that the user has checked out, about files below `_docs/` and
 * nothing else. It bears the id of what it was made for, so that it is made once.
 *
 *  1. The branch moves by compare-and-swap from the HEAD that was read; one that has moved since is
 *     looked at anew.
 *  2. The user's index is locked meanwhile and follows for these files only. It is made ready before
 *     the branch moves: all that is left to do then is a rename.
 *  3. Whoever is killed in between leaves the lock with his mark, and so knows later that nobody has
 *     staged anything since.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Git } from "../git/call.ts";
import { branchOf, commitAt, commitTree, identityOf, treeOf, updateRefs } from "../git/objects.ts";
import { type Change, changesBetween, treeWith } from "../git/trees.ts";
import { underWay } from "../git/user-tree.ts";
import { shown } from "../safe-text.ts";
import { diskTrouble } from "./attempt-phase.ts";
import { type Docs, docsFolder, readDocs } from "./docs-tree.ts";
import { followIndex, withIndex } from "./publish-index.ts";
import { removeDeadLocks } from "./recover.ts";

/** It cannot be now; nothing was done, and it can be asked again. */
export interface NotNow {
  readonly is: "not-now";
  readonly why: string;
}

export const notNow = (why: string): NotNow => ({ is: "not-now", why });

// ── what is there ──────────────────────────────────────────────────────────────────────────────

/** Everything that a commit of ours starts from, seen in one look. */
export interface Ground extends Docs {
  readonly is: "ground";
  readonly branch: string;
  /** Undefined: the branch is yet to be born. */
  readonly head: string | undefined;
}

/** `scratch`: a folder of ours; `also`: files that are looked for even if git ignores them. */
export async function findDocs(
  git: Git,
  scratch: string,
  also?: readonly string[],
): Promise<Result<Ground | NotNow>> {
  const branch = await branchOf(git);
  const busy = branch === undefined ? "HEAD is on no branch (detached)" : whatIsUnderWay(git);
  if (branch === undefined || busy !== undefined)
    return succeed(notNow(`${busy}: a commit of ours would be lost there, or in the way`));
  const odd = whyNoFolder(git.place.workTree);
  if (odd !== undefined) return succeed(notNow(odd));
  const head = await commitAt(git, "HEAD");
  try {
    const docs = await readDocs(git, head, scratch, also);
    if (!docs.ok) return docs;
    const [conflict] = docs.value.unmerged;
    if (conflict !== undefined)
      return succeed(notNow(`${conflict} has a conflict that nobody has resolved`));
    return succeed({ is: "ground", branch, head, ...docs.value });
  } catch (error) {
    return { ok: false, failure: diskTrouble(error, scratch) };
  }
}

function whatIsUnderWay(git: Git): string | undefined {
  const further = [
    ["BISECT_LOG", "a bisect"],
    // Between two of several picks, nothing else is there.
    ["sequencer", "a cherry-pick or revert"],
  ] as const;
  const busy =
    underWay(git) ??
    further.find(([file]) => fs.existsSync(path.join(git.place.gitDir, file)))?.[1];
  return busy && `${busy} is under way`;
}

function whyNoFolder(root: string): string | undefined {
  const docs = path.join(root, docsFolder);
  const stat = fs.lstatSync(docs, { throwIfNoEntry: false });
  if (stat?.isSymbolicLink())
    return `${docsFolder} is a link: what lies behind it is not this repository's`;
  if (stat?.isDirectory() && fs.existsSync(path.join(docs, ".git")))
    return `${docsFolder} is a repository of its own`;
  return undefined;
}

// ── the id ─────────────────────────────────────────────────────────────────────────────────────

const trailer = "Autodev-Step-Id";
const farthest = 200;

/** Whether it was made already; looked for among the last commits of what is checked out. */
export async function commitOf(git: Git, id: string): Promise<Result<string | undefined>> {
  if (!/^[A-Za-z0-9][\w.-]{0,127}$/.test(id)) throw new Error(`${JSON.stringify(id)} is no id`);
  const told = await trailersOf(git, farthest, [trailer]);
  if (!told.ok) return told;
  return succeed(told.value.find(({ values: [ids = []] }) => ids.includes(id))?.commit);
}

export interface TrailedCommit {
  readonly commit: string;
  readonly date: string;
  /** For each key that was asked for; a commit may say a thing twice. */
  readonly values: readonly (readonly string[])[];
}

/** Of the newest commits that can be reached from HEAD, `most` of them; in one process. */
export async function trailersOf(
  git: Git,
  most: number,
  keys: readonly string[],
): Promise<Result<TrailedCommit[]>> {
  const asked = keys.map((key) => `%x00%(trailers:key=${key},valueonly,separator=%x01)`);
  const told = await git.call({
    args: [
      "log",
      "-z",
      `-n${most}`,
      "--no-color",
      `--format=%H%x00%cI${asked.join("")}`,
      "HEAD",
      "--",
    ],
    // No commit yet.
    expect: [128],
  });
  if (!told.ok) return told;
  if (told.value.code !== 0) {
    // A history that cannot be read is not an empty one.
    return (await commitAt(git, "HEAD")) === undefined ? succeed([]) : unreadable(told.value.said);
  }
  const words = told.value.text.split("\0");
  const commits: TrailedCommit[] = [];
  for (let at = 0; at + keys.length + 1 < words.length; at += keys.length + 2) {
    const [commit = "", date = "", ...values] = words.slice(at, at + keys.length + 2);
    commits.push({ commit, date, values: values.map((each) => each.split("\x01").map(trimmed)) });
  }
  return succeed(commits);
}

const unreadable = (said: string): ReturnType<typeof fail> =>
  fail("git", `the history of HEAD cannot be read: ${shown(said.split("\n")[0] ?? "")}`, {
    hint: "git fsck tells whether the repository is sound; then run the same command again",
  });

const trimmed = (text: string): string => text.trim();

/**
 * Trailers are looked for in the last paragraph only, which is never the first. A line of somebody
 * else's that looks like ours is dropped: it could pass for another step's.
 */
function withId(message: string, id: string): string {
  const lines = message.replaceAll("\0", "").replace(/\r\n?/g, "\n").split("\n");
  const text = lines
    .filter((line) => !line.trim().toLowerCase().startsWith(`${trailer.toLowerCase()}:`))
    .join("\n")
    .trim();
  const last = text.lastIndexOf("\n\n");
  const joins =
    last >= 0 &&
    text
      .slice(last + 2)
      .split("\n")
      .every((line) => /^[A-Za-z][\w-]*: \S/.test(line));
  return `${text}\n${joins ? "" : "\n"}${trailer}: ${id}\n`;
}

// ── the commit ─────────────────────────────────────────────────────────────────────────────────

export interface OwnCommit {
  readonly id: string;
  /** With whatever trailers it shall have; the id is put to them. */
  readonly message: string;
  /** When, as ISO 8601. */
  readonly at: string;
  readonly signal?: AbortSignal;
  /** The user's commit hooks, as they were approved, before the branch moves. Git runs none. */
  hooks?(about: AboutToBe): Promise<Result<HooksSay>>;
}

export interface AboutToBe {
  readonly tree: string;
  /** Undefined: it is the first commit. */
  readonly onto: string | undefined;
  readonly message: string;
}

/** `message`: what they have made of it. */
export type HooksSay =
  | { readonly is: "passed"; readonly message?: string }
  | { readonly is: "refused"; readonly why: string };

type Made = { readonly is: "committed"; readonly commit: string };
type Moved = { readonly is: "moved" };

/** "moved": HEAD or the index are not what they were; whoever asked looks again. */
export async function makeCommit(
  git: Git,
  own: OwnCommit,
  ground: Ground,
  changes: readonly Change[],
): Promise<Result<Made | NotNow | Moved>> {
  const onto = ground.head;
  const before = onto === undefined ? await emptyTree(git) : await treeOf(git, onto);
  if (!before.ok) return before;
  const entries = new Map(changes.map(({ path: file, now }) => [file, now]));
  const tree = await treeWith(git, before.value, entries);
  if (!tree.ok) return tree;
  const about = { tree: tree.value, onto, message: own.message };
  const said = (await own.hooks?.(about)) ?? succeed<HooksSay>({ is: "passed" });
  if (!said.ok) return said;
  if (said.value.is === "refused") return succeed(notNow(said.value.why));
  const commit = await commitTree(git, {
    tree: tree.value,
    ...(onto !== undefined && { parent: onto }),
    message: withId(said.value.message ?? own.message, own.id),
    at: own.at,
    by: await identityOf(git),
  });
  if (!commit.ok) return commit;
  const done = await locked<Made | Moved>(git, own, async (index) => {
    if (!(await isStill(git, index, ground))) return succeed({ is: "moved" });
    const followed = await followIndex(quiet, index, changes, { staged: "too" });
    if (!followed.ok) return followed;
    const swapped = await swapHead(git, ground, commit.value);
    return swapped.ok ? succeed({ is: "committed", commit: commit.value }) : swapped;
  });
  // Somebody was faster, or git died when all was done.
  if (!done.ok && (await commitAt(git, "HEAD")) !== onto) return succeed({ is: "moved" });
  return done;
}

/** By its name HEAD: a branch that was switched to meanwhile is not where it was looked for. */
async function swapHead(git: Git, { branch, head }: Ground, to: string): Promise<Result<void>> {
  const swap = (): Promise<Result<void>> =>
    updateRefs(git, [{ ref: "HEAD", to, from: head ?? "" }], { reason: "autodev: step" });
  const swapped = await swap();
  return swapped.ok || !removeDeadLocks(git, branch) ? swapped : swap();
}

/** Made by an earlier life of ours, which may have died before the index had followed. */
export async function finishCommit(
  git: Git,
  own: Pick<OwnCommit, "id" | "signal">,
  commit: string,
): Promise<Result<Made | NotNow>> {
  const made: Made = { is: "committed", commit };
  // Somebody has gone on from there: he has seen to his index.
  if ((await commitAt(git, "HEAD")) !== commit) return succeed(made);
  const parent = await commitAt(git, `${commit}^`);
  const from = parent === undefined ? await emptyTree(git) : succeed(parent);
  if (!from.ok) return from;
  const changes = await changesBetween(git, from.value, commit);
  if (!changes.ok) return changes;
  return locked(git, own, async (index, { regained }) => {
    const staged = regained ? "too" : undefined;
    const followed = await followIndex(quiet, index, changes.value, { staged });
    return followed.ok ? succeed(made) : followed;
  });
}

/** An index that stays locked is no failure of the step's. */
async function locked<T>(
  git: Git,
  { id, signal = new AbortController().signal }: Pick<OwnCommit, "id" | "signal">,
  act: Parameters<typeof withIndex<T>>[1],
): Promise<Result<T | NotNow>> {
  try {
    const done = await withIndex<T>({ git, id, signal }, act);
    if (done.ok || done.failure.code !== "run-halted") return done;
    return succeed(notNow(done.failure.message));
  } catch (error) {
    return { ok: false, failure: diskTrouble(error, git.place.gitDir) };
  }
}

/** The same branch, the same commit, nothing else staged below `_docs/`. */
async function isStill(git: Git, index: Git, ground: Ground): Promise<boolean> {
  if ((await branchOf(git)) !== ground.branch) return false;
  if ((await commitAt(git, "HEAD")) !== ground.head) return false;
  const told = await index.call({ args: ["ls-files", "-s", "-v", "-z", "--", docsFolder] });
  return told.ok && told.value.text === ground.index;
}

export const emptyTree = (git: Git): Promise<Result<string>> => git.write("tree", Buffer.alloc(0));

const quiet = { tell(): void {} };
