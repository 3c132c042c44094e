/**
 * What lies below `_docs/` in the user's own tree, as git would store it: beside what HEAD has there
 * and what he has staged. Seen through an index of ours; his is only read.
 *
 *  1. Nothing is read through a link: a link is a file that says where it leads.
 *  2. A repository inside of `_docs/`, registered as a submodule or not, is somebody else's.
 *  3. What the user has told git not to look at (a sparse checkout, `--assume-unchanged`) is not
 *     looked at by us either.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { type Result, succeed } from "../core/failure.ts";
import { stateFileNames } from "../core/flow/state-names.ts";
import type { Git } from "../git/call.ts";
import { indexInfo } from "../git/objects.ts";
import type { Entry } from "../git/trees.ts";
import { isPlainWay, temporaryPrefix } from "./place-file.ts";

export const docsFolder = "_docs";

export const isBelowDocs = (file: string): boolean => file.startsWith(`${docsFolder}/`);

/** Only the engine writes them. */
export const isStateFile = (file: string): boolean =>
  stateFileNames.some((name) => file === `${docsFolder}/${name}`);

/** Undefined: it cannot be read, or (unless that is `forgiven`) is no UTF-8. `file`: below `_docs/`. */
export function documentAt(
  root: string,
  file: string,
  { forgiven = false } = {},
): string | undefined {
  try {
    const bytes = fs.readFileSync(path.join(root, docsFolder, file));
    return new TextDecoder("utf-8", { fatal: !forgiven, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export interface DocsFile {
  /** From the repository's top. */
  readonly path: string;
  readonly head: Entry | null;
  readonly staged: Entry | null;
  /** What lies there; null: nothing does. */
  readonly now: Entry | null;
}

export interface Docs {
  readonly files: readonly DocsFile[];
  /** Files of which the index holds both sides of a conflict. */
  readonly unmerged: readonly string[];
  /** Everything that his index says here: another one, and he has staged something since. */
  readonly index: string;
}

/**
 * `head`: the commit that is checked out; undefined: there is none yet. `scratch`: a folder of ours
 * for the index. `also`: files that are looked for whether or not git ignores them. Objects are
 * written to wherever `git` keeps them.
 */
export async function readDocs(
  git: Git,
  head: string | undefined,
  scratch: string,
  also: readonly string[] = [],
): Promise<Result<Docs>> {
  const held = head === undefined ? succeed(new Map<string, Entry>()) : await docsAt(git, head);
  if (!held.ok) return held;
  const index = await stagedDocs(git);
  if (!index.ok) return index;
  const own = path.join(scratch, "docs-index");
  try {
    fs.mkdirSync(scratch, { recursive: true });
    fs.rmSync(own, { force: true });
    const now = await working(git.at({ whole: true }, { GIT_INDEX_FILE: own }), {
      head: held.value,
      also,
      ...index.value,
    });
    if (!now.ok) return now;
    const { entries, unmerged, text } = index.value;
    const names = new Set([...held.value.keys(), ...entries.keys(), ...now.value.keys(), ...also]);
    const left = (file: string): boolean => isLeftAlone(file, held.value, index.value);
    const files = [...names].filter((file) => !left(file)).sort();
    return succeed({
      files: files.map((file) => ({
        path: file,
        head: held.value.get(file) ?? null,
        staged: entries.get(file) ?? null,
        now: now.value.get(file) ?? null,
      })),
      unmerged,
      index: text,
    });
  } finally {
    fs.rmSync(own, { force: true });
  }
}

/** Files below `_docs/` in a commit. */
export async function docsAt(git: Git, commit: string): Promise<Result<Map<string, Entry>>> {
  const args = ["ls-tree", "-r", "-z", "--full-tree", commit, "--", `${docsFolder}/`];
  const told = await git.call({ args });
  if (!told.ok) return told;
  const entries = new Map<string, Entry>();
  for (const line of told.value.text.split("\0")) {
    const [, mode = "", blob = "", file] = /^(\d+) \w+ ([0-9a-f]+)\t([\s\S]+)$/.exec(line) ?? [];
    if (file !== undefined && isBelowDocs(file)) entries.set(file, { mode, blob });
  }
  return succeed(entries);
}

interface Staged {
  readonly entries: ReadonlyMap<string, Entry>;
  /** Git was told not to look at them. */
  readonly hidden: ReadonlySet<string>;
  readonly unmerged: readonly string[];
  readonly text: string;
}

async function stagedDocs(git: Git): Promise<Result<Staged>> {
  const told = await git.call({ args: ["ls-files", "-s", "-v", "-z", "--", docsFolder] });
  if (!told.ok) return told;
  const { text } = told.value;
  const entries = new Map<string, Entry>();
  const hidden = new Set<string>();
  const unmerged = new Set<string>();
  for (const line of text.split("\0")) {
    const [, tag = "", mode = "", blob = "", stage, file = ""] =
      /^(\S) (\d+) ([0-9a-f]+) (\d)\t([\s\S]+)$/.exec(line) ?? [];
    if (!isBelowDocs(file)) continue;
    if (stage !== "0") unmerged.add(file);
    else entries.set(file, { mode, blob });
    // A small letter: assumed to be unchanged. S: left out of the work tree.
    if (/[a-zS]/.test(tag)) hidden.add(file);
  }
  return succeed({ entries, hidden, unmerged: [...unmerged], text });
}

function isLeftAlone(
  file: string,
  head: ReadonlyMap<string, Entry>,
  { entries, hidden }: Staged,
): boolean {
  const isGitlink = [head.get(file), entries.get(file)].some((each) => each?.mode === gitlink);
  // A name that is not UTF-8 cannot be told from another such name.
  return isGitlink || hidden.has(file) || isTemporary(file) || file.includes("\uFFFD");
}

const gitlink = "160000";

/** Of a file of ours that was being replaced when we were killed. */
/** On its way to its place. */
export const isTemporary = (file: string): boolean =>
  path.basename(file).startsWith(temporaryPrefix);

// ── what lies there ────────────────────────────────────────────────────────────────────────────

async function working(
  git: Git,
  known: Staged & {
    readonly head: ReadonlyMap<string, Entry>;
    readonly also: readonly string[];
  },
): Promise<Result<Map<string, Entry>>> {
  const { head, entries, also } = known;
  const submodules = [...entries].filter(([, { mode }]) => mode === gitlink);
  const begun = new Map([...head, ...submodules]);
  const [first] = begun.values();
  if (first) {
    const input = indexInfo(begun, first.blob);
    const put = await git.call({ args: ["update-index", "-z", "--index-info"], input });
    if (!put.ok) return put;
  }
  const untracked = await git.call({
    args: ["ls-files", "--others", "--exclude-standard", "-z", "--", docsFolder],
  });
  if (!untracked.ok) return untracked;
  // A folder is a repository that nobody has registered.
  const others = untracked.value.text.split("\0").filter((file) => !/\/$|^$/.test(file));
  const names = new Set(
    [...head.keys(), ...entries.keys(), ...others, ...also].filter(isBelowDocs),
  );
  const there = [...names].filter(
    (file) => !isLeftAlone(file, head, known) && isThere(git.place.workTree, file),
  );
  if (there.length === 0) return succeed(new Map());
  const taken = await git.call({
    args: ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"],
    input: there.map((file) => `${file}\0`).join(""),
  });
  if (!taken.ok) return taken;
  const listed = await stagedDocs(git);
  if (!listed.ok) return listed;
  const wanted = new Set(there);
  return succeed(new Map([...listed.value.entries].filter(([file]) => wanted.has(file))));
}

/** A file or a link, and no link on the way to it. */
function isThere(root: string, file: string): boolean {
  if (!isPlainWay(root, path.posix.dirname(file))) return false;
  const stat = fs.lstatSync(path.join(root, file), { throwIfNoEntry: false });
  return stat !== undefined && (stat.isFile() || stat.isSymbolicLink());
}
