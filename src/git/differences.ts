/** What is different between two trees, for people to read; nothing of the repository's draws it. */
import { mkdir, mkdtemp } from "node:fs/promises";
import * as os from "node:os";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Git, GitPlaceOfWork } from "./call.ts";
import { quoted } from "./pipes.ts";
import { captureTree, removeFolder } from "./worktrees.ts";

export interface FileChange {
  readonly path: string;
  readonly change: "create" | "modify" | "delete" | "rename";
  /** What it was called before. */
  readonly from?: string;
  /** Lines; null: it is no text. */
  readonly added: number | null;
  readonly deleted: number | null;
}

/** Plumbing: no pager, and no setting of anybody's changes what it prints. */
const compare = ["diff-tree", "-r", "-M", "--no-ext-diff", "--no-textconv", "--no-color"];

export interface Patch {
  readonly bytes: Buffer;
  /** It goes on. */
  readonly cut?: true;
}

/** As `git diff` writes it, byte for byte; `only`: of these files; `mostBytes`: git is ended there. */
export async function patchBetween(
  git: Git,
  from: string,
  to: string,
  { only = [], mostBytes }: { only?: readonly FileChange[]; mostBytes?: number | undefined } = {},
): Promise<Result<Patch>> {
  const paths = only.flatMap((file) => [
    file.path,
    ...(file.from === undefined ? [] : [file.from]),
  ]);
  const which = paths.length > 0 ? ["--", ...paths] : [];
  const args = [...compare, "-p", "--src-prefix=a/", "--dst-prefix=b/", from, to, ...which];
  const told = await git.call({ args, ...(mostBytes !== undefined && { mostBytes }) });
  if (!told.ok) return told;
  return succeed({ bytes: told.value.out, ...(told.value.cut && { cut: true }) });
}

export async function filesBetween(
  git: Git,
  from: string,
  to: string,
): Promise<Result<FileChange[]>> {
  const told = await git.call({ args: [...compare, "--raw", "--numstat", "-z", from, to] });
  if (!told.ok) return told;
  const words = told.value.text.split("\0");
  const kinds = new Map<string, Kind>();
  const files: FileChange[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const kind = /^:\d+ \d+ [0-9a-f]+ [0-9a-f]+ ([A-Z])\d*$/.exec(word)?.[1];
    if (kind !== undefined) {
      const first = words[++at] ?? "";
      if (kind === "R" || kind === "C")
        kinds.set(words[++at] ?? "", { change: "rename", from: first });
      else kinds.set(first, { change: changes[kind] ?? "modify" });
      continue;
    }
    const [, added, deleted, name] = /^(\d+|-)\t(\d+|-)\t([\s\S]*)$/.exec(word) ?? [];
    if (added === undefined || deleted === undefined || name === undefined) continue;
    // A renamed file has an empty name there, and both of its names after it.
    const file = name === "" ? (words[(at += 2)] ?? "") : name;
    const known = kinds.get(file) ?? { change: "modify" as const };
    files.push({ path: file, ...known, added: countOf(added), deleted: countOf(deleted) });
  }
  return succeed(files);
}

type Kind = Omit<FileChange, "path" | "added" | "deleted">;

const changes: Readonly<Record<string, FileChange["change"]>> = { A: "create", D: "delete" };
const countOf = (text: string): number | null => (text === "-" ? null : Number(text));

/** What lies in a work tree at this moment, as a tree that only `git` of this answer can read. */
export interface TreeNow {
  readonly git: Git;
  readonly tree: string;
  forget(): Promise<void>;
}

/**
 * Everything that git does not ignore, while somebody may be at work there: his index is only read,
 * and what has to be stored is stored elsewhere. `from`: his index is not even asked.
 */
export async function treeNow(
  git: Git,
  place: Pick<GitPlaceOfWork, "gitDir" | "workTree" | "whole">,
  from?: string,
): Promise<Result<TreeNow>> {
  const scratch = await mkdtemp(path.join(os.tmpdir(), "autodev-tree-"));
  const forget = (): Promise<void> => removeFolder(scratch);
  try {
    const objects = path.join(scratch, "objects");
    await mkdir(objects);
    const own = git.at(place, {
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(path.join(git.place.commonDir, "objects")),
    });
    for (let tries = 3; ; tries--) {
      const tree = await captureTree(own, path.join(scratch, "index"), { from });
      if (tree.ok) return succeed({ git: own, tree: tree.value, forget });
      // A file that goes while git reads it.
      if (tries > 0 && tree.failure.code === "git") continue;
      await forget();
      return tree;
    }
  } catch (error) {
    await forget();
    const why = error instanceof Error ? error.message : String(error);
    return fail("disk", `${place.workTree} cannot be looked at: ${why}`, {
      hint: "make room in the folder for temporary files, then run the same command again",
    });
  }
}
