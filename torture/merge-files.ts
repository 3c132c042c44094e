/** What git makes of one file that two people have changed: the real program, without a repository. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";

/** As `git merge`, with `-X ours` or `-X theirs`; `rebase`: ours on top of theirs; or a driver of the user's. */
export const strategies = ["default", "ours", "theirs", "rebase", "union"] as const;
export type Strategy = (typeof strategies)[number];

export interface Sides {
  /** Empty: both have made it. */
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

export function mergeFile(folder: string, { base, ours, theirs }: Sides, by: Strategy): string {
  const isRebase = by === "rebase";
  const [current, other] = isRebase ? [theirs, ours] : [ours, theirs];
  const files = Object.entries({ current, base, other }).map(([name, text]) => {
    const file = path.join(folder, name);
    fs.writeFileSync(file, text);
    return file;
  });
  const favour = by === "default" || isRebase ? [] : [`--${by}`];
  const labels = ["HEAD", "base", "incoming"].flatMap((label) => ["-L", label]);
  const merged = spawnSync("git", ["merge-file", "-p", ...favour, ...labels, ...files], {
    encoding: "utf8",
  });
  // So many conflicts, up to 127; more is an error.
  if (merged.error || merged.status === null || merged.status > 127)
    throw new Error(`git merge-file: ${merged.stderr}`);
  return merged.stdout;
}

export const isConflicted = (text: string): boolean => /^<{7} HEAD$/m.test(text);

/** As a person resolves it: all of one side. */
export function resolved(text: string, side: "ours" | "theirs"): string {
  return text.replace(
    /^<{7} HEAD\n([\s\S]*?)^={7}\n([\s\S]*?)^>{7} incoming\n/gm,
    (_, ours: string, theirs: string) => (side === "ours" ? ours : theirs),
  );
}

/** Of files that are there or not: what one side has added or removed since the base. */
export function mergeNames(
  base: ReadonlySet<string>,
  ours: ReadonlySet<string>,
  theirs: ReadonlySet<string>,
): string[] {
  return [...new Set([...ours, ...theirs])].filter((name) =>
    base.has(name) ? ours.has(name) && theirs.has(name) : true,
  );
}
