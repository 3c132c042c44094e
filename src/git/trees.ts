/** Trees, read and made entry by entry: compared and changed without an index. */
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Git } from "./call.ts";

export interface Entry {
  readonly mode: string;
  readonly blob: string;
}

export interface Change {
  readonly path: string;
  /** Null: it was not there. */
  readonly old: Entry | null;
  /** Null: it is gone. */
  readonly now: Entry | null;
}

/** By name, byte for byte: a name need not be UTF-8. */
type Tree = ReadonlyMap<string, Entry>;

const folderMode = "40000";
const isFolder = (entry: Entry | null | undefined): entry is Entry => entry?.mode === folderMode;

const asBytes = (path: string): string => Buffer.from(path, "utf8").toString("latin1");
const asPath = (bytes: string): string => Buffer.from(bytes, "latin1").toString("utf8");

async function readTree(git: Git, name: string): Promise<Result<Tree>> {
  const found = await git.read(name);
  if (!found.ok) return found;
  if (found.value?.type !== "tree") {
    return fail("git", `git has no tree ${name}`, {
      hint: "git fsck tells whether the repository is sound; then run the same command again",
    });
  }
  const { bytes, id } = found.value;
  const entries = new Map<string, Entry>();
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0, at);
    const [mode = "", ...name] = bytes.toString("latin1", at, end).split(" ");
    at = end + 1 + id.length / 2;
    entries.set(name.join(" "), { mode, blob: bytes.toString("hex", end + 1, at) });
  }
  return succeed(entries);
}

const readFolder = (git: Git, tree: string | null): Promise<Result<Tree>> =>
  tree === null ? Promise.resolve(succeed(new Map())) : readTree(git, tree);

// ── compared ───────────────────────────────────────────────────────────────────────────────────

/** File by file, in the order of their paths. */
export async function changesBetween(
  git: Git,
  from: string,
  to: string,
): Promise<Result<Change[]>> {
  const changes = await differing(git, "", `${from}^{tree}`, `${to}^{tree}`);
  if (!changes.ok) return changes;
  const byPath = changes.value.map(
    (change) => [Buffer.from(change.path, "latin1"), change] as const,
  );
  byPath.sort(([a], [b]) => Buffer.compare(a, b));
  return succeed(byPath.map(([, change]) => ({ ...change, path: asPath(change.path) })));
}

/** Null: that side has no folder there. */
async function differing(
  git: Git,
  folder: string,
  from: string | null,
  to: string | null,
): Promise<Result<Change[]>> {
  const old = await readFolder(git, from);
  if (!old.ok) return old;
  const now = await readFolder(git, to);
  if (!now.ok) return now;
  const changes: Change[] = [];
  for (const name of new Set([...old.value.keys(), ...now.value.keys()])) {
    const [was = null, is = null] = [old.value.get(name), now.value.get(name)];
    if (was?.blob === is?.blob && was?.mode === is?.mode) continue;
    const path = folder + name;
    if (isFolder(was) || isFolder(is)) {
      const below = await differing(git, `${path}/`, folderIn(was), folderIn(is));
      if (!below.ok) return below;
      changes.push(...below.value);
    }
    const [gone, come] = [fileIn(was), fileIn(is)];
    if (gone || come) changes.push({ path, old: gone, now: come });
  }
  return succeed(changes);
}

const fileIn = (entry: Entry | null): Entry | null => (isFolder(entry) ? null : entry);
const folderIn = (entry: Entry | null): string | null => (isFolder(entry) ? entry.blob : null);

// ── changed ────────────────────────────────────────────────────────────────────────────────────

/** `tree` with some entries put in or, where null, taken out. */
export async function treeWith(
  git: Git,
  tree: string,
  entries: ReadonlyMap<string, Entry | null>,
): Promise<Result<string>> {
  if (entries.size === 0) return succeed(tree);
  const odd = [...entries.keys()].find((path) =>
    path.split("/").some((part) => isNoName.test(part)),
  );
  if (odd !== undefined) return fail("git", `${JSON.stringify(odd)} is no path that git takes`);
  const put = [...entries].map(([path, entry]) => [asBytes(path).split("/"), entry] as const);
  const made = await folderWith(git, tree, put);
  // A tree without anything in it is a tree all the same.
  return made.ok ? (made.value === null ? writeTree(git, new Map()) : succeed(made.value)) : made;
}

/** Git would take none of these from an index either. */
const isNoName = /^(?:\.{0,2}|\.git)$/i;

type Put = readonly (readonly [path: readonly string[], entry: Entry | null])[];

/** Null: nothing is left in it. */
async function folderWith(git: Git, tree: string | null, put: Put): Promise<Result<string | null>> {
  const before = await readFolder(git, tree);
  if (!before.ok) return before;
  const entries = new Map(before.value);
  for (const name of new Set(put.map(([[first = ""]]) => first))) {
    const here = put.filter(([[first]]) => first === name);
    const file = here.find(([path]) => path.length === 1);
    // A file that is taken out takes no folder of its name along.
    if (file && (file[1] !== null || !isFolder(entries.get(name))))
      setEntry(entries, name, file[1]);
    const below = here.flatMap(([path, entry]) =>
      path.length > 1 ? [[path.slice(1), entry] as const] : [],
    );
    const standing = entries.get(name);
    // What is taken out from below a file is gone already.
    if (below.length === 0 || (standing && !isFolder(standing) && below.every(([, e]) => !e)))
      continue;
    const folder = await folderWith(git, isFolder(standing) ? standing.blob : null, below);
    if (!folder.ok) return folder;
    setEntry(
      entries,
      name,
      folder.value === null ? null : { mode: folderMode, blob: folder.value },
    );
  }
  return entries.size === 0 ? succeed(null) : writeTree(git, entries);
}

function setEntry(entries: Map<string, Entry>, name: string, entry: Entry | null): void {
  if (entry === null) entries.delete(name);
  else entries.set(name, entry);
}

function writeTree(git: Git, entries: Tree): Promise<Result<string>> {
  // A folder stands where its name and a slash would.
  const key = ([name, entry]: [string, Entry]): string => (isFolder(entry) ? `${name}/` : name);
  const sorted = [...entries].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  const bytes = sorted.map(([name, { mode, blob }]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`, "latin1"), Buffer.from(blob, "hex")]),
  );
  return git.write("tree", Buffer.concat(bytes));
}
