/** Commits, trees and refs: made and compared without any work tree. */
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Git } from "./call.ts";
import type { Entry } from "./trees.ts";

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
  if (isWholeName.test(name)) {
    const found = await git.look(`${name}^{commit}`);
    return found.ok ? found.value?.id : undefined;
  }
  const found = await git.call({
    args: ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`],
    expect: [1, 128],
  });
  const sha = found.ok && found.value.code === 0 ? found.value.text.trim() : "";
  return sha === "" ? undefined : sha;
}

/** Means the same from every work tree. */
const isWholeName = /^(?:[0-9a-f]{40}|[0-9a-f]{64}|refs\/.+)$/;

/** The branch that is checked out, as a full ref; undefined: HEAD is detached. */
export async function branchOf(git: Git): Promise<string | undefined> {
  const found = await git.call({ args: ["symbolic-ref", "--quiet", "HEAD"], expect: [1, 128] });
  return found.ok && found.value.code === 0 ? found.value.text.trim() : undefined;
}

export async function treeOf(git: Git, commit: string): Promise<Result<string>> {
  const found = await git.look(`${commit}^{tree}`);
  if (!found.ok) return found;
  return found.value ? succeed(found.value.id) : noObject(`${commit}^{tree}`);
}

const noObject = (name: string): ReturnType<typeof fail> =>
  fail("git", `git has no ${name}`, {
    hint: "git fsck tells whether the repository is sound; then run the same command again",
  });

/** A file as it is in a commit; undefined: it is not there. */
export async function fileAt(git: Git, commit: string, file: string): Promise<Buffer | undefined> {
  const found = await git.read(`${commit}:${file}`);
  return found.ok && found.value?.type === "blob" ? found.value.bytes : undefined;
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
  const found = await git.read(blob);
  if (!found.ok) return found;
  return found.value?.type === "blob" ? succeed(found.value.bytes) : noObject(blob);
}

/** With `path`: as git would store that file, line ends and all. */
export async function writeBlob(git: Git, bytes: Buffer, path?: string): Promise<Result<string>> {
  if (path === undefined) return git.write("blob", bytes);
  const made = await git.call({
    args: ["hash-object", "-w", "--stdin", `--path=${path}`],
    input: bytes,
  });
  return made.ok ? succeed(made.value.text.trim()) : made;
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
export function commitTree(
  git: Git,
  commit: {
    readonly tree: string;
    /** None: it is the first. */
    readonly parent?: string;
    /** Further ones, for a commit that keeps what others have come to. */
    readonly andParents?: readonly string[];
    readonly message: string;
    readonly at: string;
    readonly by: Identity;
  },
): Promise<Result<string>> {
  const { tree, parent, andParents = [], message, by } = commit;
  const who = `${plainly(by.name)} <${plainly(by.email)}> ${Math.floor(Date.parse(commit.at) / 1000)} +0000`;
  const parents = [...(parent === undefined ? [] : [parent]), ...andParents];
  const before = parents.map((each) => `parent ${each}`);
  const head = [`tree ${tree}`, ...before, `author ${who}`, `committer ${who}`];
  const text = `${head.join("\n")}\n\n${message.replaceAll("\0", "")}`;
  return git.write("commit", Buffer.from(text));
}

/** A name cannot end its line, nor begin the address. */
const plainly = (name: string): string => name.replace(/[\0\n<>]/g, "");

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

/** Those that are larger than `most` are left out. */
export async function readBlobs(
  git: Git,
  blobs: readonly string[],
  most: number,
): Promise<Result<Map<string, Buffer>>> {
  const read = new Map<string, Buffer>();
  const heads = await Promise.all(blobs.map((blob) => git.look(blob)));
  for (const head of heads) {
    if (!head.ok) return head;
    const { id, type, size } = head.value ?? { id: "", type: "tag", size: 0 };
    if (type !== "blob" || size > most) continue;
    const blob = await readBlob(git, id);
    if (!blob.ok) return blob;
    read.set(id, blob.value);
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
