/**
 * What an agent did outside of `_docs/` while it wrote documents in the user's own tree: marked
 * before it begins, compared when it has ended.
 *
 *  1. Git's own index is the memory. A private copy of it knows every file by its stat and its
 *     content, untracked files too, so that a look costs a stat a file and reads only what changed.
 *  2. What only lies there, in no commit, is kept as blobs below a ref: an agent can run `git gc`.
 *     Files larger than `mostKept` are watched and not kept, and the mark says which.
 *  3. What git ignored when the mark was made is nobody's business, whatever is ignored later.
 *  4. A mark outlives us. Made again under the same id it is the first one: what was before the agent.
 *
 * Whoever else works in that tree meanwhile is seen too; whose work it was, no look can tell.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import { stateFileNames } from "../core/flow/state-names.ts";
import type { Git } from "../git/call.ts";
import { branchOf, commitAt, commitTree, nobody, updateRefs } from "../git/objects.ts";
import { asLine } from "../git/pipes.ts";
import { type Entry, treeWith } from "../git/trees.ts";
import { removeFolder } from "../git/worktrees.ts";
import { diskTrouble } from "./attempt-phase.ts";
import { docsFolder, isBelowDocs } from "./docs-tree.ts";
import { isPlainWay, whatStands } from "./place-file.ts";
import { removeOwnLocks } from "./recover.ts";
import { isOurs } from "./run-site.ts";

export interface Stray {
  /** A file from the repository's top, a ref's name, or a file of git's own from its folder. */
  readonly path: string;
  readonly how: "added" | "changed" | "removed";
  readonly what:
    | "file"
    /** Which branch is checked out. */
    | "head"
    | "ref"
    /** What is staged of a file. */
    | "index"
    /** Hooks and configuration. */
    | "git"
    /** A state file below `_docs/`. */
    | "state";
}

/** Plain data; the index that belongs to it lies in `folder`. */
export interface TreeMark {
  readonly id: string;
  readonly folder: string;
  readonly branch: string | null;
  readonly head: string | null;
  readonly refs: Readonly<Record<string, string>>;
  /** A tree with every file outside of what git ignores; what is not in a commit is only there. */
  readonly kept: string;
  /** Files that no commit need have, as they lie there: git may store them with other line ends. */
  readonly raw: Readonly<Record<string, Entry>>;
  /** Too large to be kept: how each of them looked. */
  readonly watchedOnly: Readonly<Record<string, string>>;
  /** Repositories inside of this one, and whatever git ignored. */
  readonly passedOver: readonly string[];
  readonly own: Readonly<Record<string, OwnFile>>;
  readonly states: Readonly<Record<string, OwnFile>>;
  /** Of the private index and of the user's: nobody has touched our memory. */
  readonly indexHash: string;
  readonly usersHash: string;
}

export interface OwnFile {
  /** In base64. */
  readonly bytes: string;
  readonly mode: number;
}

/** How long a file was; undefined: git has not noted it. */
export async function lengthBefore(
  git: Git,
  { folder }: TreeMark,
  file: string,
): Promise<number | undefined> {
  const own = withPrivateIndex(git, path.join(folder, privateIndex));
  const told = await own.call({ args: ["ls-files", "--debug", "-z", "--", file] });
  const [, size] = (told.ok && / size: (\d+)\t/.exec(told.value.text)) || [];
  return size === undefined || size === "0" ? undefined : Number(size);
}

export const mostKept = 10 * 1024 * 1024;

// ── before ─────────────────────────────────────────────────────────────────────────────────────

export async function watchTree(
  git: Git,
  { id, at }: { readonly id: string; readonly at: string },
): Promise<Result<TreeMark>> {
  if (!/^[A-Za-z0-9][\w.-]{0,127}$/.test(id)) throw new Error(`${JSON.stringify(id)} is no id`);
  const folder = path.join(git.place.commonDir, "autodev", "scratch", `${id}-watch`);
  try {
    const known = readMark(folder);
    if (known) return succeed(known);
    await removeFolder(folder);
    fs.mkdirSync(folder, { recursive: true });
    removeOwnLocks(git);
    return await makeMark(git, { id, at, folder });
  } catch (error) {
    return { ok: false, failure: diskTrouble(error, folder) };
  }
}

/** When all has been seen to: the mark, and what was kept for it. */
export async function forgetMark(git: Git, { id, folder }: TreeMark): Promise<Result<void>> {
  const gone = await updateRefs(git, [{ ref: watchRef(id), to: null }]);
  await removeFolder(folder);
  return gone;
}

const watchRef = (id: string): string => `refs/autodev/watch/${id}`;

async function makeMark(
  git: Git,
  { id, at, folder }: { readonly id: string; readonly at: string; readonly folder: string },
): Promise<Result<TreeMark>> {
  copyIndex(path.join(git.place.gitDir, "index"), path.join(folder, usersIndex));
  copyIndex(path.join(folder, usersIndex), path.join(folder, privateIndex));
  const own = withPrivateIndex(git, path.join(folder, privateIndex));
  const seen = await takeUp(own);
  if (!seen.ok) return seen;
  const tree = await own.say("write-tree");
  if (!tree.ok) return tree;
  const raw = await rawBytes(git, own, seen.value.taken);
  if (!raw.ok) return raw;
  const head = await commitAt(git, "HEAD");
  const kept = await keepTree(git, { id, at, head, tree: tree.value, raw: raw.value });
  if (!kept.ok) return kept;
  const refs = await refsNow(git);
  if (!refs.ok) return refs;
  const ignored = await own.call({
    args: [...others, "--ignored", "--directory", "-z"],
  });
  if (!ignored.ok) return ignored;
  const mark: TreeMark = {
    id,
    folder,
    branch: (await branchOf(git)) ?? null,
    head: head ?? null,
    refs: Object.fromEntries(refs.value),
    kept: tree.value,
    raw: Object.fromEntries(raw.value),
    watchedOnly: Object.fromEntries(seen.value.large),
    passedOver: [...seen.value.nested, ...words(ignored.value.text)],
    own: ownFiles(git),
    states: stateFiles(git.place.workTree),
    indexHash: hashOf(path.join(folder, privateIndex)),
    usersHash: hashOf(path.join(folder, usersIndex)),
  };
  const file = path.join(folder, markFile);
  fs.writeFileSync(`${file}.new`, JSON.stringify(mark), { flush: true });
  fs.renameSync(`${file}.new`, file);
  return succeed(mark);
}

const usersIndex = "users-index";
const privateIndex = "index";
const markFile = "mark.json";

function readMark(folder: string): TreeMark | undefined {
  const file = path.join(folder, markFile);
  return fs.existsSync(file) ? (JSON.parse(fs.readFileSync(file, "utf8")) as TreeMark) : undefined;
}

/** With its time, by which git judges what to look at again. */
function copyIndex(from: string, to: string): void {
  fs.rmSync(to, { force: true });
  const stat = fs.statSync(from, { throwIfNoEntry: false });
  if (!stat) return;
  fs.copyFileSync(from, to);
  fs.utimesSync(to, stat.atime, new Date(Math.floor(stat.mtimeMs / 1000) * 1000));
}

const withPrivateIndex = (git: Git, index: string): Git =>
  git.at({ whole: true }, { GIT_INDEX_FILE: index });

const words = (text: string): string[] => text.split("\0").filter((word) => word !== "");

/** Times of content can be set by anybody: whatever the user has chosen, git is to look at all. */
const exactly = ["-c", "core.trustctime=true", "-c", "core.checkStat=default"];
const others = ["ls-files", "--others", "--exclude-standard"];

interface TakenUp {
  /** Brought into the private index: no commit need have them. */
  readonly taken: readonly string[];
  readonly large: ReadonlyMap<string, string>;
  readonly nested: readonly string[];
}

/** The private index becomes what lies there, files that the user has hidden from git included. */
async function takeUp(own: Git): Promise<Result<TakenUp>> {
  const shown = await showHidden(own);
  if (!shown.ok) return shown;
  const changed = await changedSince(own);
  if (!changed.ok) return changed;
  const untracked = await own.call({ args: [...others, "-z"] });
  if (!untracked.ok) return untracked;
  const isNested = (file: string): boolean => file.endsWith("/");
  const found = words(untracked.value.text).filter(isOutside);
  const large = new Map<string, string>();
  const taken: string[] = [];
  for (const file of new Set([
    ...changed.value.keys(),
    ...found.filter((each) => !isNested(each)),
  ])) {
    const size = sizeOf(own.place.workTree, file);
    if (size > mostKept) large.set(file, stampOf(own.place.workTree, file));
    else taken.push(file);
  }
  const put = await own.call({
    args: ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"],
    input: taken.map((file) => `${file}\0`).join(""),
  });
  if (!put.ok) return put;
  const dropped = await own.call({
    args: ["update-index", "--force-remove", "-z", "--stdin"],
    input: [...large.keys()].map((file) => `${file}\0`).join(""),
  });
  if (!dropped.ok) return dropped;
  return succeed({ taken, large, nested: found.filter(isNested) });
}

async function showHidden(own: Git): Promise<Result<void>> {
  const listed = await own.call({ args: ["ls-files", "-v", "-z"] });
  if (!listed.ok) return listed;
  const hidden = words(listed.value.text).filter((line) => /^[a-zS]/.test(line));
  for (const flag of ["--no-assume-unchanged", "--no-skip-worktree"]) {
    if (hidden.length === 0) break;
    const input = hidden.map((line) => `${line.slice(2)}\0`).join("");
    const cleared = await own.call({ args: ["update-index", flag, "-z", "--stdin"], input });
    if (!cleared.ok) return cleared;
  }
  return succeed(undefined);
}

/** Files outside of `_docs/` that are not as the index has them. */
async function changedSince(index: Git): Promise<Result<Map<string, Stray["how"]>>> {
  const told = await index.call({
    args: [...exactly, "diff-files", "--raw", "-z", "--no-renames", "--ignore-submodules=dirty"],
  });
  if (!told.ok) return told;
  const changed = new Map<string, Stray["how"]>();
  const said = words(told.value.text);
  for (let at = 0; at + 1 < said.length; at += 2) {
    const [kind, file = ""] = [said[at]?.at(-1), said[at + 1]];
    if (isOutside(file)) changed.set(file, kind === "D" ? "removed" : "changed");
  }
  return succeed(changed);
}

/** Not an artifact, and not written by the engine itself. */
const isOutside = (file: string): boolean =>
  !isBelowDocs(file) && file !== docsFolder && !isOurs(file) && !file.includes("\uFFFD");

function sizeOf(root: string, file: string): number {
  if (!isPlainWay(root, path.posix.dirname(file))) return 0;
  return fs.lstatSync(path.join(root, file), { throwIfNoEntry: false })?.size ?? 0;
}

function stampOf(root: string, file: string): string {
  if (!isPlainWay(root, path.posix.dirname(file))) return absent;
  const stat = fs.lstatSync(path.join(root, file), { throwIfNoEntry: false, bigint: true });
  return stat ? `${stat.ino} ${stat.ctimeNs} ${stat.size} ${stat.mode}` : absent;
}

const absent = "-";

/** Line ends, encodings, filters: the bytes that lie there are kept too. */
async function rawBytes(
  git: Git,
  own: Git,
  files: readonly string[],
): Promise<Result<Map<string, Entry>>> {
  const raw = new Map<string, Entry>();
  if (files.length === 0) return succeed(raw);
  const listed = await entriesIn(own);
  if (!listed.ok) return listed;
  const plain = files.filter((file) => listed.value.get(file)?.[0]?.mode.startsWith("100"));
  const hashed = await storeRaw(git, plain);
  if (!hashed.ok) return hashed;
  for (const [file, blob] of hashed.value) {
    const [entry] = listed.value.get(file) ?? [];
    if (entry) raw.set(file, { mode: entry.mode, blob });
  }
  return succeed(raw);
}

/** Files as they lie there, byte for byte, in one process. */
export async function storeRaw(
  git: Git,
  files: readonly string[],
): Promise<Result<Map<string, string>>> {
  if (files.length === 0) return succeed(new Map());
  const told = await git.call({
    args: ["hash-object", "-w", "--no-filters", "--stdin-paths"],
    input: files.map((file) => `${asLine(file)}\n`).join(""),
  });
  if (!told.ok) return told;
  const ids = told.value.text.trim().split("\n");
  return succeed(new Map(files.map((file, at) => [file, ids[at] ?? ""])));
}

async function keepTree(
  git: Git,
  kept: {
    readonly id: string;
    readonly at: string;
    readonly head: string | undefined;
    readonly tree: string;
    readonly raw: ReadonlyMap<string, Entry>;
  },
): Promise<Result<void>> {
  const { id, at, head } = kept;
  const raw = new Map([...kept.raw].map(([file, entry]) => [`raw/${file}`, entry]));
  const beside = new Map([["tree", { mode: "40000", blob: kept.tree }], ...raw]);
  const empty = await git.write("tree", Buffer.alloc(0));
  if (!empty.ok) return empty;
  const tree = await treeWith(git, empty.value, beside);
  if (!tree.ok) return tree;
  const commit = await commitTree(git, {
    tree: tree.value,
    ...(head !== undefined && { parent: head }),
    message: `The tree before ${id}\n`,
    at,
    by: nobody,
  });
  if (!commit.ok) return commit;
  return updateRefs(git, [{ ref: watchRef(id), to: commit.value }]);
}

// ── after ──────────────────────────────────────────────────────────────────────────────────────

/** Everything that is not as it was; only looked at. */
export async function strayed(git: Git, mark: TreeMark): Promise<Result<Stray[]>> {
  try {
    if (
      hashOf(path.join(mark.folder, privateIndex)) !== mark.indexHash ||
      hashOf(path.join(mark.folder, usersIndex)) !== mark.usersHash
    ) {
      return fail("git", `what was noted about the tree is not what we wrote: ${mark.folder}`, {
        file: mark.folder,
        hint: "git status tells what is different; somebody has changed files of ours",
      });
    }
    const files = await strayedFiles(git, mark);
    if (!files.ok) return files;
    const refs = await strayedRefs(git, mark);
    if (!refs.ok) return refs;
    const index = await strayedIndex(git, mark);
    if (!index.ok) return index;
    return succeed([
      ...refs.value,
      ...index.value,
      ...compared("git", mark.own, ownFiles(git)),
      ...compared("state", mark.states, stateFiles(git.place.workTree)),
      ...files.value,
    ]);
  } catch (error) {
    return { ok: false, failure: diskTrouble(error, mark.folder) };
  }
}

async function strayedFiles(git: Git, mark: TreeMark): Promise<Result<Stray[]>> {
  const index = path.join(mark.folder, "after-index");
  copyIndex(path.join(mark.folder, privateIndex), index);
  const own = withPrivateIndex(git, index);
  let changed = await changedSince(own);
  if (changed.ok && changed.value.size > 0) {
    // Touched is not changed: only now is it worth while to read them.
    const args = [...exactly, "update-index", "-q", "--refresh"];
    const refreshed = await own.call({ args, expect: [1] });
    if (!refreshed.ok) return refreshed;
    changed = await changedSince(own);
  }
  if (!changed.ok) return changed;
  const untracked = await own.call({ args: [...others, "-z"] });
  if (!untracked.ok) return untracked;
  const wasThere = (file: string): boolean =>
    mark.watchedOnly[file] !== undefined ||
    mark.passedOver.some((each) => file === each || (each.endsWith("/") && file.startsWith(each)));
  const added = words(untracked.value.text).filter((file) => isOutside(file) && !wasThere(file));
  const { workTree } = git.place;
  const large = Object.entries(mark.watchedOnly).flatMap(([file, was]): Stray[] => {
    const is = stampOf(workTree, file);
    if (is === was) return [];
    return [{ path: file, how: is === absent ? "removed" : "changed", what: "file" }];
  });
  fs.rmSync(index, { force: true });
  return succeed(
    [
      ...[...changed.value].map(([file, how]): Stray => ({ path: file, how, what: "file" })),
      ...added.map((file): Stray => ({ path: file, how: "added", what: "file" })),
      ...large,
    ].sort((a, b) => (a.path < b.path ? -1 : 1)),
  );
}

async function strayedRefs(git: Git, mark: TreeMark): Promise<Result<Stray[]>> {
  const now = await refsNow(git);
  if (!now.ok) return now;
  const branch = (await branchOf(git)) ?? null;
  const head = (await commitAt(git, "HEAD")) ?? null;
  // On a branch, HEAD is where the branch is: that is told of the branch.
  const elsewhere = branch !== mark.branch || (branch === null && head !== mark.head);
  const refs = differing(mark.refs, Object.fromEntries(now.value));
  return succeed([
    ...(elsewhere ? [{ path: "HEAD", how: "changed", what: "head" } as const] : []),
    ...refs
      // A fetch of somebody's brings tags along.
      .filter(({ path: ref, how }) => how !== "added" || !ref.startsWith("refs/tags/"))
      .map((each): Stray => ({ ...each, what: "ref" })),
  ]);
}

/** Branches, tags, the stash, and what has one object stand for another; none of ours. */
export async function refsNow(git: Git): Promise<Result<Map<string, string>>> {
  const told = await git.call({
    args: [
      "for-each-ref",
      "--format=%(objectname) %(refname)",
      "refs/heads",
      "refs/tags",
      "refs/stash",
      "refs/replace",
    ],
  });
  if (!told.ok) return told;
  const lines = told.value.text.split("\n").filter((line) => line !== "");
  const refs = lines.map((line) => {
    const at = line.indexOf(" ");
    return [line.slice(at + 1), line.slice(0, at)] as const;
  });
  return succeed(new Map(refs.filter(([ref]) => !ref.startsWith("refs/heads/autobuild/"))));
}

async function strayedIndex(git: Git, mark: TreeMark): Promise<Result<Stray[]>> {
  // Byte for byte the same: nobody has staged anything.
  if (hashOf(path.join(git.place.gitDir, "index")) === mark.usersHash) return succeed([]);
  const was = await usersEntries(git, mark);
  if (!was.ok) return was;
  const is = await entriesIn(git);
  if (!is.ok) return is;
  const strays = differing(asText(was.value), asText(is.value));
  return succeed(strays.map((each): Stray => ({ ...each, what: "index" })));
}

/** What the user's index said of each file when the mark was made. */
export const usersEntries = (git: Git, { folder }: TreeMark): Promise<Result<Entries>> =>
  entriesIn(git.at({}, { GIT_INDEX_FILE: path.join(folder, usersIndex) }));

export interface IndexEntry extends Entry {
  readonly stage: string;
  /** H; a small letter: assumed to be unchanged; S: not in the work tree. */
  readonly tag: string;
}

type Entries = ReadonlyMap<string, readonly IndexEntry[]>;

/** Outside of `_docs/`; in a conflict, a file has several. */
async function entriesIn(git: Git): Promise<Result<Entries>> {
  const told = await git.call({ args: ["ls-files", "-s", "-v", "-z"] });
  if (!told.ok) return told;
  const entries = new Map<string, IndexEntry[]>();
  for (const line of words(told.value.text)) {
    const at = line.indexOf("\t");
    const [tag = "", mode = "", blob = "", stage = ""] = line.slice(0, at).split(" ");
    const file = line.slice(at + 1);
    if (!isOutside(file)) continue;
    const entry = { tag, mode, blob, stage };
    const before = entries.get(file);
    if (before) before.push(entry);
    else entries.set(file, [entry]);
  }
  return succeed(entries);
}

const asText = (entries: Entries): Record<string, string> =>
  Object.fromEntries([...entries].map(([file, each]) => [file, JSON.stringify(each)]));

// ── files of git's own, and of ours ────────────────────────────────────────────────────────────

/** What git runs and what tells it how: hooks, configuration, rules of what to ignore. */
export const ownFileAt = ({ place }: Git, name: string): string =>
  name.startsWith("worktree/")
    ? path.join(place.gitDir, name.slice("worktree/".length))
    : path.join(place.commonDir, name);

function ownFiles(git: Git): Record<string, OwnFile> {
  const { gitDir, commonDir } = git.place;
  const below = (folder: string, prefix: string): string[] =>
    namesBelow(folder).map((name) => `${prefix}${name}`);
  const names = [
    "config",
    "config.worktree",
    "objects/info/alternates",
    // Where it is a link.
    "hooks",
    ...below(path.join(commonDir, "hooks"), "hooks/"),
    ...below(path.join(commonDir, "info"), "info/"),
    ...(gitDir === commonDir
      ? []
      : ["worktree/config.worktree", ...below(path.join(gitDir, "info"), "worktree/info/")]),
  ];
  return read(names, (name) => ownFileAt(git, name));
}

const stateFiles = (root: string): Record<string, OwnFile> =>
  read(
    stateFileNames.map((name) => `${docsFolder}/${name}`),
    (name) => path.join(root, name),
  );

function read(names: readonly string[], at: (name: string) => string): Record<string, OwnFile> {
  const files: Record<string, OwnFile> = {};
  for (const name of names) {
    const stat = whatStands(at(name));
    if (!stat?.isFile() && !stat?.isSymbolicLink()) continue;
    const bytes = stat.isSymbolicLink()
      ? fs.readlinkSync(at(name), { encoding: "buffer" })
      : fs.readFileSync(at(name));
    files[name] = { bytes: bytes.toString("base64"), mode: stat.mode };
  }
  return files;
}

function namesBelow(folder: string): string[] {
  if (!fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [];
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .slice(0, 1000);
}

const compared = (
  what: Stray["what"],
  was: Readonly<Record<string, OwnFile>>,
  is: Readonly<Record<string, OwnFile>>,
): Stray[] => {
  const texts = (files: Readonly<Record<string, OwnFile>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(files).map(([name, { bytes, mode }]) => [name, `${mode} ${bytes}`]),
    );
  return differing(texts(was), texts(is)).map((each) => ({ ...each, what }));
};

function differing(
  was: Readonly<Record<string, string>>,
  is: Readonly<Record<string, string>>,
): Omit<Stray, "what">[] {
  const names = new Set([...Object.keys(was), ...Object.keys(is)]);
  return [...names].sort().flatMap((name): Omit<Stray, "what">[] => {
    if (was[name] === is[name]) return [];
    const how = was[name] === undefined ? "added" : is[name] === undefined ? "removed" : "changed";
    return [{ path: name, how }];
  });
}

const hashOf = (file: string): string =>
  fs.existsSync(file) ? createHash("sha256").update(fs.readFileSync(file)).digest("hex") : absent;
