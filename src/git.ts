/**
 * Git, as far as it can be told from its files: where the repository is and what is checked out.
 * No process is started to look: `status` must be instant, and a look must run nothing.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "./core/failure.ts";
import type { GitPlace } from "./core/git-place.ts";

export interface Repository {
  /** The working tree's top. */
  readonly root: string;
  readonly gitDir: string;
  /** Shared by all linked worktrees. */
  readonly commonDir: string;
}

export function findRepository(from: string): Repository | undefined {
  for (let folder = path.resolve(from); ; folder = path.dirname(folder)) {
    const gitDir = gitDirAt(path.join(folder, ".git"));
    if (gitDir) {
      const shared = readText(path.join(gitDir, "commondir"))?.trim();
      return { root: folder, gitDir, commonDir: shared ? path.resolve(gitDir, shared) : gitDir };
    }
    if (folder === path.dirname(folder)) return undefined;
  }
}

export const initRepository = (root: string): boolean =>
  process
    .getBuiltinModule("node:child_process")
    .spawnSync("git", ["init", "--quiet"], { cwd: root, env: gitFree(), stdio: "ignore" })
    .status === 0;

/** The branch and commit that are checked out; empty where there is none. */
export function placeOf({ gitDir, commonDir }: Repository): GitPlace {
  const head = readText(path.join(gitDir, "HEAD"))?.trim() ?? "";
  const ref = /^ref: (.+)$/.exec(head)?.[1];
  if (ref === undefined) return { branch: "", commit: head };
  const loose = readText(path.join(commonDir, ref))?.trim();
  return { branch: ref, commit: loose || packed(commonDir, ref) };
}

/** `placeOf`, asked again and again: the files are read only when they have changed. */
export function placeWatch(repository: Repository): () => GitPlace {
  const { gitDir, commonDir } = repository;
  let place = placeOf(repository);
  const watched = (): string => {
    const ref = place.branch ? stamp(path.join(commonDir, place.branch)) : "";
    const packedRefs = ref === absent ? stamp(path.join(commonDir, "packed-refs")) : "";
    return `${stamp(path.join(gitDir, "HEAD"))} ${ref} ${packedRefs}`;
  };
  let seen = watched();
  let lookedAt = performance.now();
  return () => {
    // Nobody checks out twice between two blinks; a look at three files costs more than a blink.
    if (performance.now() - lookedAt < blinkMs) return place;
    lookedAt = performance.now();
    if (watched() !== seen) {
      place = placeOf(repository);
      seen = watched();
    }
    return place;
  };
}

const absent = "-";
const blinkMs = 20;

function stamp(file: string): string {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  return stat ? `${stat.mtimeMs}-${stat.ino}-${stat.size}` : absent;
}

/** Nothing that a repository's own configuration names is run by our calls. */
const harmless = [
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "core.fsmonitor=false",
  "-c",
  "safe.bareRepository=explicit",
  "--literal-pathspecs",
];

/**
 * What `git mv` does, for a file that git knows and for one that it does not. The index entry is
 * moved by itself, since `git mv` reads the content and would run the filters that are configured.
 */
export function moveFile(repository: Repository, from: string, to: string): Result<void> {
  const { root } = repository;
  // An empty file in the way is nothing; anything else is somebody's.
  if ((readText(path.join(root, to)) ?? "").trim() !== "") {
    return fail("disk", `${to} is there already; ${from} stays`, { file: to, hint: "autodev" });
  }
  try {
    fs.renameSync(path.join(root, from), path.join(root, to));
  } catch (error) {
    return fail("disk", `${from} cannot be renamed to ${to}: ${String(error)}`, { file: from });
  }
  const entry = /^(\d+) ([0-9a-f]+) 0\t/.exec(git(root, ["ls-files", "--stage", "--", from]));
  if (entry) {
    const [, mode, blob] = entry;
    const none = "0".repeat((blob as string).length);
    const moved = `0 ${none}\t${from}\n${mode} ${blob} 0\t${to}\n`;
    git(root, [...withoutFilters(root), "update-index", "--index-info"], moved);
  }
  return succeed(undefined);
}

/**
 * Even writing the index may read files that changed within the clock's last tick, and would run
 * their filters: each one that is configured is blanked by its name.
 */
function withoutFilters(root: string): string[] {
  const keys = git(root, ["config", "--null", "--name-only", "--get-regexp", "^filter[.]"]);
  return keys
    .split("\0")
    .filter((key) => /\.(clean|smudge|process|required)$/.test(key))
    .flatMap((key) => ["-c", key.endsWith("required") ? `${key}=false` : `${key}=`]);
}

/** What git says, or nothing: an index that cannot be changed now is the user's to change later. */
function git(root: string, args: readonly string[], input = ""): string {
  const { status, stdout } = process
    .getBuiltinModule("node:child_process")
    .spawnSync("git", [...harmless, ...args], {
      cwd: root,
      env: gitFree(),
      input,
      encoding: "utf8",
      timeout: 20_000,
    });
  return status === 0 ? stdout : "";
}

/** A hook's environment would send git to another repository. */
const gitFree = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")));

function packed(commonDir: string, ref: string): string {
  for (const line of (readText(path.join(commonDir, "packed-refs")) ?? "").split("\n")) {
    if (line.endsWith(` ${ref}`)) return line.slice(0, line.indexOf(" "));
  }
  return "";
}

function gitDirAt(dotGit: string): string | undefined {
  let stat: fs.Stats | undefined;
  try {
    stat = fs.statSync(dotGit, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
  if (!stat) return undefined;
  if (stat.isDirectory()) return fs.existsSync(path.join(dotGit, "HEAD")) ? dotGit : undefined;
  const pointer = /^gitdir: (.+?)\s*$/.exec(readText(dotGit) ?? "")?.[1];
  if (pointer === undefined) return undefined;
  const gitDir = path.resolve(path.dirname(dotGit), pointer);
  return fs.existsSync(path.join(gitDir, "HEAD")) ? gitDir : undefined;
}

function readText(file: string): string | undefined {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
