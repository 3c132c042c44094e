/**
 * Git, as far as it can be told from its files: where the repository is and what is checked out.
 * No process is started to look: `status` must be instant, and a look must run nothing.
 */
import * as fs from "node:fs";
import * as path from "node:path";
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

/**
 * A `.git` that leads elsewhere has to be known there: a work tree by its administrative folder, a
 * submodule by its configuration. One that is not would have us write into a stranger's repository.
 */
export function isKnownThere({ root, gitDir, commonDir }: Repository): boolean {
  const own = path.join(root, ".git");
  if (gitDir !== commonDir) {
    const back = readText(path.join(gitDir, "gitdir"))?.trim();
    const inside = path.dirname(path.dirname(gitDir)) === realPath(commonDir);
    return inside && back !== undefined && realPath(path.resolve(gitDir, back)) === realPath(own);
  }
  if (realPath(gitDir) === path.join(realPath(root), ".git")) return true;
  const config = readText(path.join(gitDir, "config")) ?? "";
  // `--separate-git-dir` leaves no way back: a folder that is nobody else's `.git` may be one.
  const nobodys =
    path.basename(realPath(gitDir)) !== ".git" && !/^\s*bare\s*=\s*true/im.test(config);
  const tree = /^\s*worktree\s*=\s*"?(.+?)"?\s*$/im.exec(config)?.[1];
  return tree === undefined ? nobodys : realPath(path.resolve(gitDir, tree)) === realPath(root);
}

function realPath(file: string): string {
  try {
    return fs.realpathSync(file);
  } catch {
    return file;
  }
}

export const initRepository = (root: string, ...options: string[]): boolean =>
  process.getBuiltinModule("node:child_process").spawnSync("git", ["init", "--quiet", ...options], {
    cwd: root,
    env: gitFree(),
    stdio: "ignore",
  }).status === 0;

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
