/**
 * What the tests of steps stand on that end in the user's own tree: real repositories, and a git
 * that is there until it is not, as it is for somebody who is killed between two of its answers.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { expect } from "vitest";
import type { Result } from "../src/core/failure.ts";
import { type Git, openGit } from "../src/git/call.ts";
import { findRepository } from "../src/git.ts";
import { makeFolder, makeRepo, pictureOf, type Repo, repoAt } from "./rig.ts";

export interface DocsRepo extends Repo {
  /** As the engine sees it. */
  readonly engine: Git;
  /** The names and the states of everything that is not as in HEAD, as `git status` has them. */
  dirty(): string[];
  /** What is staged, against HEAD. */
  staged(): string[];
  /** Files in the tree of a commit, or what a commit changed. */
  files(commit?: string): string[];
  changed(commit?: string): string[];
  commits(): number;
}

export function docsRepo(files: Readonly<Record<string, string>> = {}): DocsRepo {
  const repo = asDocsRepo(makeRepo());
  for (const [file, text] of Object.entries(files)) repo.write(file, text);
  if (Object.keys(files).length > 0) {
    repo.git("add", "--all", "--force");
    repo.git("commit", "--quiet", "--message=files");
  }
  return repo;
}

/** Without a commit. */
export function unbornRepo(...options: string[]): DocsRepo {
  const repo = repoAt(makeFolder("unborn"));
  repo.git("init", "--quiet", "--initial-branch=main", "--template=", ...options);
  return asDocsRepo(repo);
}

export function asDocsRepo(repo: Repo): DocsRepo {
  const lines = (...args: string[]): string[] =>
    repo
      .git(...args)
      .split("\0")
      .filter(Boolean);
  return {
    ...repo,
    engine: engineAt(repo.root),
    dirty: () => lines("status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"),
    staged: () => lines("diff-index", "--cached", "--name-status", "-z", "HEAD"),
    files: (commit = "HEAD") => lines("ls-tree", "-r", "-z", "--name-only", commit),
    changed: (commit = "HEAD") =>
      lines("diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-only", commit),
    commits: () => Number(repo.git("rev-list", "--count", "HEAD")),
  };
}

export function engineAt(root: string): Git {
  const repository = findRepository(root);
  if (repository === undefined) throw new Error(`${root} is no repository`);
  return openGit({ ...repository, workTree: root });
}

export function must<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.failure));
  return result.value;
}

/** Whatever was done there: the repository is whole, and nothing of ours lies about. */
export function expectSound(repo: Repo): void {
  expect(repo.git("fsck", "--strict", "--no-dangling").trim()).toBe("");
  const gitDir = findRepository(repo.root)?.gitDir ?? "";
  const left = fs.readdirSync(gitDir).filter((name) => /^autodev-index|\.lock$/.test(name));
  expect(left).toEqual([]);
  const scratch = path.join(gitDir, "autodev", "scratch");
  // A file that was just handed to git is the only thing that a death may leave.
  const forgotten = fs.existsSync(scratch) ? fs.readdirSync(scratch) : [];
  expect(forgotten.filter((name) => !name.startsWith("object-"))).toEqual([]);
}

// ── deaths ─────────────────────────────────────────────────────────────────────────────────────

/** Tells how many requests have been answered before whoever asked hears of the last. */
function countedGit(git: Git, answered: (requests: number) => Promise<void> | void): Git {
  let requests = 0;
  const counted =
    <A extends unknown[], T>(ask: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      const answer = await ask(...args);
      await answered(++requests);
      return answer;
    };
  const around = (inner: Git): Git => {
    const outer: Git = {
      ...inner,
      call: counted((call) => inner.call(call)),
      read: counted((name) => inner.read(name)),
      look: counted((name) => inner.look(name)),
      write: counted((type, bytes) => inner.write(type, bytes)),
      async say(...args) {
        const answer = await outer.call({ args });
        return answer.ok ? { ok: true, value: answer.value.text.replace(/\n$/, "") } : answer;
      },
      at: (place, env) => around(inner.at(place, env)),
    };
    return outer;
  };
  return around(git);
}

type Act<T> = (git: Git, repo: DocsRepo) => Promise<Result<T>>;

/**
 * Killed wherever that makes a difference, each time in a copy of its own, and called again: what git
 * was asked for is done, but nobody hears of it, and nothing comes of what would have come afterwards.
 * Resolves with the number of deaths.
 */
export async function killedEverywhere<T>(
  original: DocsRepo,
  act: Act<T>,
  check: (repo: DocsRepo, value: T) => void | Promise<void>,
): Promise<number> {
  const deadly = await requestsThatMatter(original, act, check);
  const never = new Promise<never>(() => {});
  for (const last of deadly) {
    const repo = copyOf(original);
    await new Promise<void>((died, failed) => {
      const git = countedGit(repo.engine, (requests) => {
        if (requests < last) return;
        died();
        return never;
      });
      act(git, repo).then(() => failed(new Error(`no request ${last}`)), failed);
    });
    await check(repo, must(await act(repo.engine, repo)));
    await discard(repo);
  }
  return deadly.length;
}

/** By its number: before it, something else lay on the disk than after it. */
async function requestsThatMatter<T>(
  original: DocsRepo,
  act: Act<T>,
  check: (repo: DocsRepo, value: T) => void | Promise<void>,
): Promise<number[]> {
  const repo = copyOf(original);
  const deadly: number[] = [];
  let before = whatLies(repo.root);
  const git = countedGit(repo.engine, (requests) => {
    const now = whatLies(repo.root);
    if (now !== before) deadly.push(requests);
    before = now;
  });
  await check(repo, must(await act(git, repo)));
  await discard(repo);
  return deadly;
}

/** Indexes and logs are about times, which are never the same. */
const whatLies = (root: string): string =>
  JSON.stringify(
    Object.entries(pictureOf(root)).map(([file, is]) =>
      /index|\/logs\//.test(file) ? [file, fs.lstatSync(path.join(root, file)).size] : [file, is],
    ),
  );

function copyOf({ root }: DocsRepo): DocsRepo {
  const copy = makeFolder("copy");
  fs.cpSync(root, copy, { recursive: true, verbatimSymlinks: true });
  return asDocsRepo(repoAt(copy));
}

async function discard({ engine, root }: DocsRepo): Promise<void> {
  await engine.end();
  fs.rmSync(root, { recursive: true });
}
