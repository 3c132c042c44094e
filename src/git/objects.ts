/** Commits, trees and refs: made and compared without any work tree. */
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Git } from "./call.ts";

export interface Change {
  readonly path: string;
  /** Null: it was not there. */
  readonly old: Entry | null;
  /** Null: it is gone. */
  readonly now: Entry | null;
}

export interface Entry {
  readonly mode: string;
  readonly blob: string;
}

export interface RefUpdate {
  readonly ref: string;
  /** Null: the ref goes. */
  readonly to: string | null;
  /** What it must hold; empty: it must not be there; absent: whatever it is. */
  readonly from?: string;
}

/** No object, in as many digits as this repository's ids have. */
const noneLike = (id: string): string => "0".repeat(id.length);

export async function commitAt(git: Git, name: string): Promise<string | undefined> {
  const found = await git.call({
    args: ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`],
    expect: [1, 128],
  });
  const sha = found.ok && found.value.code === 0 ? found.value.text.trim() : "";
  return sha === "" ? undefined : sha;
}

/** The branch that is checked out, as a full ref; undefined: HEAD is detached. */
export async function branchOf(git: Git): Promise<string | undefined> {
  const found = await git.call({ args: ["symbolic-ref", "--quiet", "HEAD"], expect: [1, 128] });
  return found.ok && found.value.code === 0 ? found.value.text.trim() : undefined;
}

export async function treeOf(git: Git, commit: string): Promise<Result<string>> {
  return git.say("rev-parse", "--verify", "--end-of-options", `${commit}^{tree}`);
}

/** A file as it is in a commit; undefined: it is not there. */
export async function fileAt(git: Git, commit: string, file: string): Promise<Buffer | undefined> {
  const found = await git.call({ args: ["cat-file", "blob", `${commit}:${file}`], expect: [128] });
  return found.ok && found.value.code === 0 ? found.value.out : undefined;
}

/** The same as it lies in a checkout: line ends and encodings as the attributes have them. */
export async function checkedOut(
  git: Git,
  commit: string,
  file: string,
): Promise<Buffer | undefined> {
  const found = await git.call({
    args: ["cat-file", "--filters", `${commit}:${file}`],
    expect: [128],
  });
  return found.ok && found.value.code === 0 ? found.value.out : undefined;
}

export async function readBlob(git: Git, blob: string): Promise<Result<Buffer>> {
  const found = await git.call({ args: ["cat-file", "blob", blob] });
  return found.ok ? succeed(found.value.out) : found;
}

/** With `path`: as git would store that file, line ends and all. */
export async function writeBlob(git: Git, bytes: Buffer, path?: string): Promise<Result<string>> {
  const how = path === undefined ? ["--no-filters"] : [`--path=${path}`];
  const made = await git.call({ args: ["hash-object", "-w", "--stdin", ...how], input: bytes });
  return made.ok ? succeed(made.value.text.trim()) : made;
}

export async function changesBetween(
  git: Git,
  from: string,
  to: string,
): Promise<Result<Change[]>> {
  const told = await git.call({
    args: ["diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", from, to],
  });
  if (!told.ok) return told;
  const words = told.value.text.split("\0");
  const changes: Change[] = [];
  for (let at = 0; at + 1 < words.length; at += 2) {
    const [oldMode = "", mode = "", oldBlob = "", blob = ""] = (words[at] ?? "")
      .slice(1)
      .split(" ");
    changes.push({
      path: words[at + 1] ?? "",
      old: /^0+$/.test(oldMode) ? null : { mode: oldMode, blob: oldBlob },
      now: /^0+$/.test(mode) ? null : { mode, blob },
    });
  }
  return succeed(changes);
}

/** Both sides' work in one tree, or the files in which they collide. */
export async function merge(
  git: Git,
  onto: string,
  commit: string,
): Promise<Result<{ tree: string } | { conflicts: string[] }>> {
  const merged = await git.call({
    args: ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", onto, commit],
    expect: [1],
  });
  if (!merged.ok) return merged;
  const [tree = "", ...named] = merged.value.text.split("\0").filter((word) => word !== "");
  if (merged.value.code === 0) return succeed({ tree });
  // A file against a folder is told under a name of git's own.
  const files = named.map((file) => file.replace(`~${onto}`, "").replace(`~${commit}`, ""));
  return succeed({ conflicts: [...new Set(files)] });
}

/** `tree` with some entries put in or, where null, taken out; `index`: a file of ours. */
export async function treeWith(
  git: Git,
  tree: string,
  entries: ReadonlyMap<string, Entry | null>,
  index: string,
): Promise<Result<string>> {
  if (entries.size === 0) return succeed(tree);
  const own = git.at({}, { GIT_INDEX_FILE: index });
  const read = await own.call({ args: ["read-tree", tree] });
  if (!read.ok) return read;
  const put = await own.call({
    args: ["update-index", "-z", "--index-info"],
    input: indexInfo(entries, tree),
  });
  return put.ok ? own.say("write-tree") : put;
}

/** `like`: any id of the same repository. */
export const indexInfo = (entries: ReadonlyMap<string, Entry | null>, like: string): string =>
  [...entries]
    .map(([path, entry]) => {
      const { mode, blob } = entry ?? { mode: "0", blob: noneLike(like) };
      return `${mode} ${blob}\t${path}\0`;
    })
    .join("");

export interface Identity {
  readonly name: string;
  readonly email: string;
}

/** Who git says commits here; nobody: we do, and say so. */
export async function identityOf(git: Git): Promise<Identity> {
  const told = await git.call({ args: ["var", "GIT_COMMITTER_IDENT"], expect: [128] });
  const match =
    told.ok && told.value.code === 0 ? /^(.*) <([^>]*)> \d+ /.exec(told.value.text) : null;
  return match ? { name: match[1] ?? "", email: match[2] ?? "" } : nobody;
}

export const nobody: Identity = { name: "autodev", email: "autodev@localhost" };

/** Everything is given, the date too: making it twice makes the same commit. */
export async function commitTree(
  git: Git,
  commit: {
    readonly tree: string;
    /** None: it is the first. */
    readonly parent?: string;
    readonly message: string;
    readonly at: string;
    readonly by: Identity;
  },
): Promise<Result<string>> {
  const date = commit.at.replace(/\.\d+Z$/, "Z");
  const { name, email } = commit.by;
  const made = await git.call({
    args: ["commit-tree", commit.tree, ...(commit.parent ? ["-p", commit.parent] : [])],
    input: commit.message,
    env: {
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
      GIT_COMMITTER_DATE: date,
    },
  });
  return made.ok ? succeed(made.value.text.trim()) : made;
}

/** All of them or none. */
export async function updateRefs(
  git: Git,
  updates: readonly RefUpdate[],
  options: { readonly noDeref?: boolean; readonly reason?: string } = {},
): Promise<Result<void>> {
  const input = updates
    .map(({ ref, to, from }) => {
      const old = from === "" ? noneLike(to ?? "") : (from ?? "");
      return to === null ? `delete ${ref}\0${old}\0` : `update ${ref}\0${to}\0${old}\0`;
    })
    .join("");
  const args = ["update-ref", "--stdin", "-z"];
  if (options.noDeref) args.push("--no-deref");
  if (options.reason) args.push("-m", options.reason);
  const updated = await git.call({ args, input });
  return updated.ok ? succeed(undefined) : updated;
}

export async function isAncestor(git: Git, older: string, newer: string): Promise<boolean> {
  const asked = await git.call({
    args: ["merge-base", "--is-ancestor", older, newer],
    expect: [1, 128],
  });
  return asked.ok && asked.value.code === 0;
}

/** Whether everything that a commit needs can be read, back to one that is known to be whole. */
export async function isWhole(git: Git, commit: string, known: string): Promise<boolean> {
  const walked = await git.call({
    args: ["rev-list", "--objects", "--quiet", commit, `^${known}`],
    expect: [1, 128],
  });
  return walked.ok && walked.value.code === 0;
}

/** `merge-tree --write-tree` came with 2.38. */
export async function checkVersion(git: Git): Promise<Result<void>> {
  const told = await git.say("version");
  if (!told.ok) return told;
  const [, major, minor] = /(\d+)\.(\d+)/.exec(told.value) ?? [];
  if (Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 38)) return succeed(undefined);
  return fail("git-too-old", `${told.value} is too old: runs need git 2.38 or newer`, {
    hint: "install a newer git",
  });
}

/** Many blobs in two calls; those that are larger than `most` are left out. */
export async function readBlobs(
  git: Git,
  blobs: readonly string[],
  most: number,
): Promise<Result<Map<string, Buffer>>> {
  const read = new Map<string, Buffer>();
  if (blobs.length === 0) return succeed(read);
  const sized = await git.call({
    args: ["cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)"],
    input: `${blobs.join("\n")}\n`,
  });
  if (!sized.ok) return sized;
  const small = sized.value.text.split("\n").flatMap((line) => {
    const [id = "", type, size] = line.split(" ");
    return type === "blob" && Number(size) <= most ? [id] : [];
  });
  if (small.length === 0) return succeed(read);
  const told = await git.call({ args: ["cat-file", "--batch"], input: `${small.join("\n")}\n` });
  if (!told.ok) return told;
  const { out } = told.value;
  for (let at = 0; at < out.length; ) {
    const end = out.indexOf(10, at);
    const [id = "", , size = "0"] = out.toString("latin1", at, end).split(" ");
    read.set(id, out.subarray(end + 1, end + 1 + Number(size)));
    at = end + 1 + Number(size) + 1;
  }
  return succeed(read);
}

/** Which of these are in a commit's tree, as files or as folders. */
export async function pathsIn(
  git: Git,
  commit: string,
  paths: readonly string[],
): Promise<Result<ReadonlySet<string>>> {
  const inside = paths.filter((path) => !/^\/|^\.\.(?:\/|$)/.test(path));
  if (inside.length === 0) return succeed(new Set());
  const listed = await git.call({
    args: ["ls-tree", "-z", "--name-only", commit, "--", ...inside],
    expect: [128],
  });
  return listed.ok ? succeed(new Set(listed.value.text.split("\0").filter(Boolean))) : listed;
}
