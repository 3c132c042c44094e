/**
 * One of our examples becomes a project of somebody's: its files, a repository, a first commit, and
 * our word for what it runs.
 *
 * 1. Nothing of anybody's is overwritten: the folder is new or empty.
 * 2. The commit is made of the bytes that we carry, not of what lies in the folder by then: no
 *    filter, no ignored name and no other process has a say in it.
 * 3. We vouch for these bytes and nothing else. If more would run than they say (hooks of the
 *    user's, say), or if they are no longer what lies there, nobody is spared the question.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Landing } from "../core/plan/progress.ts";
import type { Surface } from "../core/trust.ts";
import { found } from "../exec/find-program.ts";
import { type Git, openGit } from "../git/call.ts";
import {
  commitAt,
  commitTree,
  identityOf,
  indexInfo,
  updateRefs,
  writeBlob,
} from "../git/objects.ts";
import { dirtyPaths } from "../git/user-tree.ts";
import { grantTrust, type TrustPlace } from "../trust.ts";
import type { Project } from "./hold.ts";
import { trustOfPlan } from "./trust-plan.ts";

export interface Example {
  readonly name: string;
  /** One sentence about the project, without a full stop. */
  readonly what: string;
  readonly plan: string;
  /** The program that its gates call. */
  readonly needs: string;
  /** Contents by path. */
  readonly files: Readonly<Record<string, string>>;
}

export interface MadeExample {
  readonly project: Project;
  readonly commit: string;
  /** False: its commands have to be approved like anybody's. */
  readonly trusted: boolean;
}

/** Made if need be; what is in the way is named, and nothing is touched. */
export function emptyFolderFor(folder: string, { name, plan, needs }: Example): Result<void> {
  if (found(needs, process.env["PATH"] ?? "") === undefined) {
    return fail("not-found", `the example ${name} needs ${needs}, and there is none in the PATH`, {
      hint: `install ${needs}; autodev example --list shows the others`,
    });
  }
  try {
    fs.mkdirSync(folder, { recursive: true });
    if (fs.readdirSync(folder).length === 0) return succeed(undefined);
  } catch (error) {
    const code = codeOf(error);
    const isFile = code === "EEXIST" || code === "ENOTDIR";
    return isFile
      ? fail("usage", `${folder} is in the way: it is not a folder`, { hint: elsewhere(name) })
      : fail("disk", `${folder} cannot be made (${code})`, { hint: elsewhere(name) });
  }
  return fail("usage", `${folder} is not empty, and nothing in it is overwritten`, {
    hint: fs.existsSync(path.join(folder, plan))
      ? `cd there and autodev build ${plan} --commit=auto goes on with it; ${elsewhere(name)} makes another`
      : elsewhere(name),
  });
}

const elsewhere = (name: string): string => `autodev example ${name} <another folder>`;

/** The files and the first commit; the commit's id. */
export async function writeExample(project: Project, example: Example): Promise<Result<string>> {
  const { root, world } = project;
  const git = gitOf(project);
  if (!git.ok) return git;
  const entries = new Map<string, { mode: string; blob: string }>();
  for (const [file, text] of Object.entries(example.files)) {
    const written = writeNew(path.join(root, file), text);
    if (!written.ok) return written;
    const blob = await writeBlob(git.value, Buffer.from(text));
    if (!blob.ok) return blob;
    entries.set(file, { mode: "100644", blob: blob.value });
  }
  const staged = await git.value.call({
    args: ["update-index", "-z", "--index-info"],
    input: indexInfo(entries, ""),
  });
  if (!staged.ok) return staged;
  const tree = await git.value.say("write-tree");
  if (!tree.ok) return tree;
  const commit = await commitTree(git.value, {
    tree: tree.value,
    message: `chore: begin with the ${example.name} example of autodev\n\n${example.what}.\nThe plan for it is ${example.plan}.\n`,
    at: world.now(),
    by: await identityOf(git.value),
  });
  if (!commit.ok) return commit;
  const begun = await updateRefs(git.value, [{ ref: "HEAD", to: commit.value, from: "" }]);
  return begun.ok ? commit : begun;
}

function writeNew(file: string, text: string): Result<void> {
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text, { flag: "wx" });
    return succeed(undefined);
  } catch (error) {
    return fail("disk", `${file} cannot be written (${codeOf(error)})`, { file });
  }
}

/** What the disk says; anything else is a bug of ours. */
function codeOf(error: unknown): string {
  if (error instanceof Error && "code" in error) return String(error.code);
  throw error;
}

/** Whether our word was enough; it is given once, for what was shipped. */
export async function trustAsOurs(
  project: Project,
  { plan }: Example,
  commit: string,
  place: TrustPlace,
): Promise<Result<boolean>> {
  const git = gitOf(project);
  if (!git.ok) return git;
  const looked = await trustOfPlan(project, project.root, { plan }, place);
  if (!looked.ok) return looked;
  const { surface, also } = looked.value;
  const dirty = await dirtyPaths(git.value);
  if (!dirty.ok) return dirty;
  const isAsShipped = dirty.value.length === 0 && (await commitAt(git.value, "HEAD")) === commit;
  if (!isAsShipped || !isOnlyOurs(surface)) return succeed(false);
  const granted = await grantTrust(place, surface, {
    by: "autodev",
    at: project.world.now(),
    also,
  });
  return granted.ok ? succeed(true) : granted;
}

/** Hooks come from the user's own configuration: no file of an example makes one. */
const isOnlyOurs = (surface: Surface): boolean => surface.every(({ kind }) => kind !== "hook");

export interface LandedCommit extends Landing {
  readonly subject: string;
}

/** With their subjects, in the order in which they landed. */
export async function landedCommits(
  project: Project,
  landed: readonly Landing[],
): Promise<Result<LandedCommit[]>> {
  const git = gitOf(project);
  if (!git.ok) return git;
  const commits: LandedCommit[] = [];
  for (const { phase, commit } of landed) {
    const subject = await git.value.say("log", "-1", "--format=%s", commit);
    if (!subject.ok) return subject;
    commits.push({ phase, commit, subject: subject.value });
  }
  return succeed(commits);
}

function gitOf({ root, repository }: Project): Result<Git> {
  return repository
    ? succeed(openGit({ ...repository, workTree: repository.root }))
    : fail("no-repository", `${root} is not in a git repository`);
}
