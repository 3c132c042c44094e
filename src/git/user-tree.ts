/** The user's own work tree: looked at before a run, and never changed but by publishing. */
import * as fs from "node:fs";
import * as path from "node:path";
import { type Result, succeed } from "../core/failure.ts";
import type { Git } from "./call.ts";

/** What git itself is in the middle of; undefined: nothing. */
export function underWay({ place: { gitDir } }: Git): string | undefined {
  const marks: readonly (readonly [string, string])[] = [
    ["rebase-merge", "a rebase"],
    ["rebase-apply", "a rebase"],
    ["MERGE_HEAD", "a merge"],
    ["CHERRY_PICK_HEAD", "a cherry-pick"],
    ["REVERT_HEAD", "a revert"],
  ];
  return marks.find(([file]) => fs.existsSync(path.join(gitDir, file)))?.[1];
}

/** Paths that differ from HEAD: staged, changed or untracked, but not ignored. */
export async function dirtyPaths(git: Git): Promise<Result<string[]>> {
  const told = await git.call({
    args: [
      "status",
      "--porcelain=v1",
      "-z",
      "--untracked-files=all",
      "--no-renames",
      "--ignore-submodules=dirty",
    ],
  });
  if (!told.ok) return told;
  return succeed(
    told.value.text
      .split("\0")
      .filter((line) => line !== "")
      .map((line) => line.slice(3)),
  );
}

/** Files of which the index holds both sides of a conflict. */
export async function unmergedPaths(git: Git): Promise<Result<string[]>> {
  const told = await git.call({ args: ["ls-files", "--unmerged", "-z"] });
  if (!told.ok) return told;
  const paths = told.value.text.split("\0").flatMap((line) => line.split("\t").slice(1));
  return succeed([...new Set(paths)]);
}

export const isIgnored = async (git: Git, file: string): Promise<boolean> =>
  (await ignoredOf(git, [file])).length > 0;

export async function ignoredOf(git: Git, files: readonly string[]): Promise<string[]> {
  const asked = await git.call({
    args: ["check-ignore", "-z", "--stdin"],
    input: files.map((file) => `${file}\0`).join(""),
    env: { GIT_LITERAL_PATHSPECS: "0" },
    expect: [1],
  });
  return asked.ok && asked.value.code === 0 ? asked.value.text.split("\0").filter(Boolean) : [];
}

/** Work trees, ours and others', in which a branch is checked out. */
export async function checkedOutIn(git: Git, branch: string): Promise<string | undefined> {
  const told = await git.call({ args: ["worktree", "list", "--porcelain", "-z"] });
  if (!told.ok) return undefined;
  for (const entry of told.value.text.split("\0\0")) {
    const lines = entry.split("\0");
    if (lines.includes(`branch ${branch}`)) return lines[0]?.replace(/^worktree /, "");
  }
  return undefined;
}
