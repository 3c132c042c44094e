/**
 * What strayed is again what it was when the mark was made; what the agent had made of it is kept
 * under a rescue ref first.
 *
 *  1. Only what strays now is put back: called again after a death, the rest is done.
 *  2. Git's own files come first (they say what is ignored and how files are stored), then refs and
 *     the index, then files. What goes makes room for what comes.
 *  3. Nothing is followed: a link is removed, not what it leads to. What cannot be put back is left
 *     as it is, and said.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { type Result, succeed } from "../core/failure.ts";
import type { Git } from "../git/call.ts";
import { commitAt, commitTree, identityOf, readBlob, updateRefs } from "../git/objects.ts";
import { type Entry, treeWith } from "../git/trees.ts";
import { diskTrouble } from "./attempt-phase.ts";
import {
  type IndexEntry,
  lengthBefore,
  type OwnFile,
  ownFileAt,
  refsNow,
  type Stray,
  storeRaw,
  strayed,
  type TreeMark,
  usersEntries,
} from "./docs-guard.ts";
import { isPlainWay, placeFile, takeAway, whatStands } from "./place-file.ts";
import { leaveIndex, withIndex } from "./publish-index.ts";
import { removeOwnLocks } from "./recover.ts";

export interface PutBack {
  readonly restored: readonly Stray[];
  /** What stays as it is, and why. */
  readonly left: readonly (Stray & { readonly why: string })[];
  /** Where the agent's version is; undefined: it had only taken away. */
  readonly rescued?: string;
}

/** Rules of what to ignore may have hidden something: look again (`strayed`) when it is done. */
export async function putBack(
  git: Git,
  mark: TreeMark,
  strays: readonly Stray[],
  {
    at,
    signal = new AbortController().signal,
  }: { readonly at: string; readonly signal?: AbortSignal },
): Promise<Result<PutBack>> {
  const wanted = new Set(strays.map(keyOf));
  const rescueRef = `refs/autodev/rescue/${mark.id}`;
  try {
    removeOwnLocks(git);
    const now = await strayed(git, mark);
    if (!now.ok) return now;
    const meant = now.value.filter((stray) => wanted.has(keyOf(stray)));
    const kept = await keepTheirs(git, mark, meant, { at, rescueRef });
    if (!kept.ok) return kept;
    for (const act of [putBackOwn, putBackRefs, putBackIndex, putBackFiles]) {
      const done = await act(git, mark, meant, signal);
      if (!done.ok) return done;
    }
    const after = await strayed(git, mark);
    if (!after.ok) return after;
    const still = after.value.filter((stray) => wanted.has(keyOf(stray)));
    const left = still.map((stray) => ({ ...stray, why: whyLeft(git, mark, stray) }));
    const unchanged = new Set(left.map(keyOf));
    const rescued = (await commitAt(git, rescueRef)) !== undefined;
    return succeed({
      restored: strays.filter((stray) => !unchanged.has(keyOf(stray))),
      left,
      ...(rescued && { rescued: rescueRef }),
    });
  } catch (error) {
    return { ok: false, failure: diskTrouble(error, git.place.workTree) };
  } finally {
    leaveIndex({ git, id: mark.id });
  }
}

const keyOf = ({ what, path: file }: Stray): string => `${what} ${file}`;

function whyLeft(git: Git, mark: TreeMark, { what, path: file }: Stray): string {
  if (what === "file" && file.endsWith("/")) return "it is a repository of its own";
  if (what === "file" && mark.watchedOnly[file] !== undefined)
    return "it was too large to be kept, and is in no commit";
  const isInTheTree = what === "file" || what === "state";
  if (isInTheTree && !isPlainWay(git.place.workTree, path.posix.dirname(file)))
    return "something else is in its way";
  if (what === "state") return "a state file is never removed";
  return "somebody is still changing it";
}

const of = (what: Stray["what"], strays: readonly Stray[]): Stray[] =>
  strays.filter((stray) => stray.what === what);

// ── what the agent made of it ──────────────────────────────────────────────────────────────────

/** Files under their names; git's own, and what was staged, in folders beside them. */
async function keepTheirs(
  git: Git,
  mark: TreeMark,
  strays: readonly Stray[],
  { at, rescueRef }: { readonly at: string; readonly rescueRef: string },
): Promise<Result<void>> {
  const entries = new Map<string, Entry>();
  const lying = of("file", strays).filter(({ path: file }) => !file.endsWith("/"));
  const names = [...lying, ...of("state", strays)].map((stray) => stray.path);
  const root = git.place.workTree;
  const places = [
    ...names
      .filter((file) => isPlainWay(root, path.posix.dirname(file)))
      .map((file) => [file, path.join(root, file)] as const),
    ...of("git", strays).map(
      ({ path: name }) => [`autodev-kept/git/${name}`, ownFileAt(git, name)] as const,
    ),
  ];
  const plain: (readonly [string, string, string])[] = [];
  for (const [name, file] of places) {
    const stat = whatStands(file);
    if (stat?.isSymbolicLink()) {
      const blob = await git.write("blob", fs.readlinkSync(file, { encoding: "buffer" }));
      if (!blob.ok) return blob;
      entries.set(name, { mode: "120000", blob: blob.value });
    } else if (stat?.isFile()) {
      plain.push([name, file, (stat.mode & 0o100) === 0 ? "100644" : "100755"]);
    }
  }
  const stored = await storeRaw(
    git,
    plain.map(([, file]) => file),
  );
  if (!stored.ok) return stored;
  for (const [name, file, mode] of plain)
    entries.set(name, { mode, blob: stored.value.get(file) ?? "" });
  const staged = await stagedNow(git, of("index", strays));
  if (!staged.ok) return staged;
  for (const [file, entry] of staged.value) entries.set(`autodev-kept/index/${file}`, entry);
  const moved = await movedCommits(git, mark, strays);
  if (!moved.ok) return moved;
  if (entries.size === 0 && moved.value.length === 0) return succeed(undefined);
  return keepUnder(git, { rescueRef, at, id: mark.id, entries, moved: moved.value });
}

async function stagedNow(git: Git, strays: readonly Stray[]): Promise<Result<Map<string, Entry>>> {
  const staged = new Map<string, Entry>();
  if (strays.length === 0) return succeed(staged);
  const wanted = new Set(strays.map((stray) => stray.path));
  const told = await git.call({ args: ["ls-files", "-s", "-z"] });
  if (!told.ok) return told;
  for (const line of told.value.text.split("\0")) {
    const [, mode = "", blob = "", file] = /^(\d+) ([0-9a-f]+) \d\t([\s\S]+)$/.exec(line) ?? [];
    // A submodule's commit is another repository's to keep.
    if (file !== undefined && wanted.has(file) && mode !== "160000")
      staged.set(file, { mode, blob });
  }
  return succeed(staged);
}

/** Commits that only the agent's refs name: parents of the rescue keep them. */
async function movedCommits(
  git: Git,
  mark: TreeMark,
  strays: readonly Stray[],
): Promise<Result<string[]>> {
  const now = await refsNow(git);
  if (!now.ok) return now;
  const names = of("ref", strays).map((stray) => stray.path);
  if (of("head", strays).length > 0) names.push("HEAD");
  const commits = new Set<string>();
  for (const name of names) {
    const commit = await commitAt(git, name);
    if (commit !== undefined && commit !== mark.head) commits.add(commit);
  }
  return succeed([...commits]);
}

async function keepUnder(
  git: Git,
  kept: {
    readonly rescueRef: string;
    readonly at: string;
    readonly id: string;
    readonly entries: ReadonlyMap<string, Entry>;
    readonly moved: readonly string[];
  },
): Promise<Result<void>> {
  const { rescueRef, at, id, entries, moved } = kept;
  const earlier = await commitAt(git, rescueRef);
  const empty = await git.write("tree", Buffer.alloc(0));
  if (!empty.ok) return empty;
  const tree = await treeWith(git, empty.value, entries);
  if (!tree.ok) return tree;
  const commit = await commitTree(git, {
    tree: tree.value,
    andParents: [...(earlier === undefined ? [] : [earlier]), ...moved],
    message: `What ${id} had made of files that were not its own\n`,
    at,
    by: await identityOf(git),
  });
  if (!commit.ok) return commit;
  return updateRefs(git, [{ ref: rescueRef, to: commit.value, from: earlier ?? "" }]);
}

// ── put back ───────────────────────────────────────────────────────────────────────────────────

type Act = (
  git: Git,
  mark: TreeMark,
  strays: readonly Stray[],
  signal: AbortSignal,
) => Promise<Result<void>>;

const putBackOwn: Act = async (git, mark, strays) => {
  for (const { path: name } of of("git", strays))
    restoreOwn(ownFileAt(git, name), mark.own[name], path.join(mark.folder, "back"));
  for (const { path: name } of of("state", strays)) {
    const was = mark.states[name];
    // One that has come meanwhile stays: no command ever removes it.
    if (was === undefined) continue;
    const mode = isLink(was) ? "120000" : "100644";
    const bytes = Buffer.from(was.bytes, "base64");
    placeFile(git.place.workTree, name, { bytes, mode }, { id: mark.id });
  }
  return succeed(undefined);
};

const isLink = ({ mode }: OwnFile): boolean =>
  (mode & fs.constants.S_IFMT) === fs.constants.S_IFLNK;

function restoreOwn(file: string, was: OwnFile | undefined, temporary: string): void {
  if (was === undefined) {
    fs.rmSync(file, { force: true });
    return;
  }
  const bytes = Buffer.from(was.bytes, "base64");
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.rmSync(temporary, { force: true });
  if (isLink(was)) fs.symlinkSync(bytes, temporary);
  else {
    fs.writeFileSync(temporary, bytes, { flush: true });
    fs.chmodSync(temporary, was.mode & 0o7777);
  }
  fs.renameSync(temporary, file);
}

const putBackRefs: Act = async (git, mark, strays) => {
  const names = of("ref", strays).map((stray) => stray.path);
  const now = await refsNow(git);
  if (!now.ok) return now;
  const updates = names.map((ref) => {
    const is = now.value.get(ref);
    return { ref, to: mark.refs[ref] ?? null, from: is ?? "" };
  });
  // HEAD first: a branch that goes must not be the one that is checked out.
  if (of("head", strays).length > 0) {
    const back =
      mark.branch === null
        ? await updateRefs(git, [{ ref: "HEAD", to: mark.head }], { noDeref: true })
        : await git.call({ args: ["symbolic-ref", "-m", reason, "HEAD", mark.branch] });
    if (!back.ok) return back;
  }
  if (updates.length === 0) return succeed(undefined);
  return updateRefs(git, updates, { reason });
};

const reason = "autodev: put back";

const putBackIndex: Act = async (git, mark, strays, signal) => {
  const names = of("index", strays).map((stray) => stray.path);
  if (names.length === 0) return succeed(undefined);
  const was = await usersEntries(git, mark);
  if (!was.ok) return was;
  const none = "0".repeat((mark.head ?? mark.kept).length);
  const gone = names.map((file) => `0 ${none}\t${file}\0`);
  const entries = names.flatMap((file) =>
    (was.value.get(file) ?? []).map((each) => [file, each] as const),
  );
  const come = entries.map(
    ([file, { mode, blob, stage }]) => `${mode} ${blob} ${stage}\t${file}\0`,
  );
  return withIndex({ git, id: mark.id, signal }, async (index) => {
    const input = [...gone, ...come].join("");
    const put = await index.call({ args: ["update-index", "-z", "--index-info"], input });
    if (!put.ok) return put;
    return hideAgain(index, entries);
  });
};

async function hideAgain(
  index: Git,
  entries: readonly (readonly [string, IndexEntry])[],
): Promise<Result<void>> {
  for (const [flag, isHidden] of [
    ["--assume-unchanged", /[a-z]/],
    ["--skip-worktree", /[sS]/],
  ] as const) {
    const hidden = entries.filter(([, { tag }]) => isHidden.test(tag));
    if (hidden.length === 0) continue;
    const input = hidden.map(([file]) => `${file}\0`).join("");
    const put = await index.call({ args: ["update-index", flag, "-z", "--stdin"], input });
    if (!put.ok) return put;
  }
  return succeed(undefined);
}

const putBackFiles: Act = async (git, mark, strays) => {
  const root = git.place.workTree;
  const files = of("file", strays).filter(({ path: file }) => !file.endsWith("/"));
  for (const { path: file, how } of files) if (how === "added") takeAway(root, file, ".");
  // What says how files are stored comes before the files.
  const rules = (file: string): number => (path.posix.basename(file) === ".gitattributes" ? 0 : 1);
  const gone = files
    .filter(({ how, path: file }) => how !== "added" && mark.watchedOnly[file] === undefined)
    .sort((a, b) => rules(a.path) - rules(b.path));
  for (const { path: file } of gone) {
    const content = await contentBefore(git, mark, file);
    if (!content.ok) return content;
    if (content.value) placeFile(root, file, content.value, { id: mark.id });
  }
  return succeed(undefined);
};

/** Undefined: it was a submodule, whose files are its own. */
async function contentBefore(
  git: Git,
  mark: TreeMark,
  file: string,
): Promise<Result<{ bytes: Buffer; mode: string } | undefined>> {
  const listed = await git.call({ args: ["ls-tree", "-z", "--full-tree", mark.kept, "--", file] });
  if (!listed.ok) return listed;
  const [, mode = "", blob = ""] = /^(\d+) \w+ ([0-9a-f]+)\t/.exec(listed.value.text) ?? [];
  if (mode === "160000" || blob === "") return succeed(undefined);
  const raw = mark.raw[file];
  if (raw || mode === "120000") {
    const bytes = await readBlob(git, raw?.blob ?? blob);
    return bytes.ok ? succeed({ bytes: bytes.value, mode }) : bytes;
  }
  const told = await git.call({ args: ["cat-file", "--filters", `--path=${file}`, blob] });
  if (!told.ok) return told;
  // A checkout today need not have the line ends that the file had.
  const length = await lengthBefore(git, mark, file);
  const stored =
    length === undefined || told.value.out.length === length
      ? undefined
      : await readBlob(git, blob);
  const isStored = stored?.ok && stored.value.length === length;
  return succeed({ bytes: isStored ? stored.value : told.value.out, mode });
}
