import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Repository } from "../git.ts";
import { openGit } from "./call.ts";
import { indexInfo } from "./objects.ts";

/**
 * What `git mv` does, for a file that git knows and for one that it does not. The index entry is
 * moved by itself, since `git mv` reads the content and would run the filters that are configured;
 * an index that cannot be changed now is the user's to change later.
 */
export async function moveFile(
  repository: Repository,
  from: string,
  to: string,
): Promise<Result<void>> {
  const { root } = repository;
  // An empty file in the way is nothing; anything else is somebody's.
  if (textOf(path.join(root, to)).trim() !== "") {
    return fail("disk", `${to} is there already; ${from} stays`, { file: to, hint: "autodev" });
  }
  try {
    fs.renameSync(path.join(root, from), path.join(root, to));
  } catch (error) {
    return fail("disk", `${from} cannot be renamed to ${to}: ${String(error)}`, { file: from });
  }
  const git = openGit({ ...repository, workTree: root });
  const staged = await git.call({ args: ["ls-files", "--stage", "--", from] });
  const [, mode, blob] =
    (staged.ok && /^(\d+) ([0-9a-f]+) 0\t/.exec(staged.value.text)) || ([] as string[]);
  if (mode !== undefined && blob !== undefined) {
    const entries = new Map([
      [from, null],
      [to, { mode, blob }],
    ]);
    await git.call({
      args: ["update-index", "-z", "--index-info"],
      input: indexInfo(entries, blob),
    });
  }
  return succeed(undefined);
}

function textOf(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
