/**
 * What a flow's steps have left below `_docs/`: as it lies there, or as it was in a commit. Looked
 * at, never followed: a link that leads elsewhere is no artifact.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Flow } from "../core/flow/flow.ts";
import { builtInFlows, flowNamed } from "../core/flow/flows/index.ts";
import { leftBy } from "../core/flow/left-by.ts";
import type { FlowState } from "../core/flow/state.ts";
import { type Git, openGit } from "../git/call.ts";
import { contains } from "../trust.ts";
import type { Project } from "./hold.ts";
import { survey } from "./survey.ts";

export interface FoundArtifact {
  /** From the repository's root: it begins with `_docs/`. */
  readonly path: string;
  readonly bytes: number;
  readonly step?: string;
}

export interface ArtifactBytes {
  readonly path: string;
  readonly bytes: number;
  /** As much of it as was wanted. */
  readonly content: Buffer;
}

const folder = "_docs";
const mostFiles = 20_000;

/** `at`: a commit; absent: as they lie there now. */
export async function listArtifacts(
  project: Project,
  place: FlowState | undefined,
  at?: string,
): Promise<Result<FoundArtifact[]>> {
  const flows = project.flows ?? builtInFlows;
  const flow = place && flowNamed(place.flow, flows);
  const files = at === undefined ? lyingThere(project, flows) : await inCommit(project, at);
  if (!files.ok) return files;
  const time = { cycle: place?.cycle ?? 1 };
  return succeed(
    files.value.map((file) => {
      const step = flow && leftBy(flow, file.path.slice(folder.length + 1), time)?.step;
      return { ...file, ...(step !== undefined && { step }) };
    }),
  );
}

function lyingThere({ root }: Project, flows: readonly Flow[]): Result<FoundArtifact[]> {
  if (!isWithin(root, path.join(root, folder))) return succeed([]);
  const { docs } = survey(root, flows);
  return succeed(
    [...(docs ?? [])]
      .map(([name, bytes]) => ({ path: `${folder}/${name}`, bytes }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  );
}

async function inCommit(project: Project, at: string): Promise<Result<FoundArtifact[]>> {
  const git = gitOf(project);
  if (!git.ok) return git;
  const entries = await entriesAt(git.value, at, ["-r"]);
  if (!entries.ok) return entries;
  const files = entries.value.filter(({ mode }) => isFile(mode)).slice(0, mostFiles);
  return succeed(files.map(({ path: file, bytes }) => ({ path: file, bytes })));
}

/** `most`: bytes of it. */
export async function readArtifact(
  project: Project,
  file: string,
  { at, most }: { readonly at?: string; readonly most: number },
): Promise<Result<ArtifactBytes>> {
  if (!isArtifactPath(file)) {
    return fail("not-found", `${file} is no file below ${folder}/`);
  }
  return at === undefined ? readHere(project, file, most) : readAt(project, file, at, most);
}

/** Plain names below `_docs/`: nothing that leads out, nothing hidden, nothing that a path is not. */
export const isArtifactPath = (file: string): boolean =>
  file.startsWith(`${folder}/`) &&
  file.length <= 1000 &&
  !/[\u0000-\u001f\\]/.test(file) &&
  file.split("/").every((part) => part !== "" && part !== "." && part !== "..");

function readHere({ root }: Project, file: string, most: number): Result<ArtifactBytes> {
  const where = path.join(root, file);
  const gone = (): ReturnType<typeof fail> => fail("not-found", `there is no ${file}`, { file });
  if (!isWithin(path.join(root, folder), where) || !isWithin(root, where)) return gone();
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    const descriptor = fs.openSync(where, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const { size } = fs.fstatSync(descriptor);
      if (!fs.fstatSync(descriptor).isFile()) return gone();
      const content = Buffer.alloc(Math.min(size, most));
      const read = fs.readSync(descriptor, content, 0, content.length, 0);
      return succeed({ path: file, bytes: size, content: content.subarray(0, read) });
    } finally {
      fs.closeSync(descriptor);
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (!/^E[A-Z]+$/.test(code)) throw error;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return gone();
    return fail("disk", `${file} cannot be read (${code})`, { file });
  }
}

async function readAt(
  project: Project,
  file: string,
  at: string,
  most: number,
): Promise<Result<ArtifactBytes>> {
  const git = gitOf(project);
  if (!git.ok) return git;
  const entries = await entriesAt(git.value, at, [], file);
  if (!entries.ok) return entries;
  const entry = entries.value.find((each) => each.path === file && isFile(each.mode));
  if (!entry) return fail("not-found", `there is no ${file} in ${at.slice(0, 10)}`, { file });
  if (entry.bytes > mostInGit) {
    return fail("not-found", `${file} is too large to be shown (${entry.bytes} bytes)`, { file });
  }
  const blob = await git.value.read(entry.id);
  await git.value.end();
  if (!blob.ok) return blob;
  const content = blob.value?.bytes ?? Buffer.alloc(0);
  return succeed({ path: file, bytes: content.length, content: content.subarray(0, most) });
}

/** A document is never so large; what is would be read whole to show its beginning. */
const mostInGit = 32 * 1024 ** 2;

interface TreeEntry {
  readonly mode: string;
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
}

async function entriesAt(
  git: Git,
  at: string,
  how: readonly string[],
  file = folder,
): Promise<Result<TreeEntry[]>> {
  const args = ["ls-tree", "-l", "-z", "--full-tree", ...how, at, "--", file];
  const told = await git.call({ args, expect: [128] });
  if (!told.ok) return told;
  if (told.value.code !== 0) return fail("not-found", `git has no commit ${at.slice(0, 10)}`);
  return succeed(
    told.value.text.split("\0").flatMap((line) => {
      const [, mode, id, bytes, name] =
        /^(\d+) \w+ ([0-9a-f]+) +(\d+|-)\t([\s\S]+)$/.exec(line) ?? [];
      if (mode === undefined || id === undefined || name === undefined) return [];
      return [{ mode, id, path: name, bytes: Number(bytes) || 0 }];
    }),
  );
}

const isFile = (mode: string): boolean => mode.startsWith("100");

function gitOf({ root, repository }: Project): Result<Git> {
  if (!repository) return fail("no-repository", `${root} is not in a git repository`);
  return succeed(openGit({ ...repository, workTree: repository.root }));
}

/** Where it really is. */
function isWithin(place: string, file: string): boolean {
  try {
    return contains(fs.realpathSync(place), fs.realpathSync(file));
  } catch {
    return false;
  }
}
