/**
 * The user's files, when a phase is published: which of them are as the phase found them, and how
 * they are replaced without ever overwriting a byte that was not looked at.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { type Result, succeed } from "../core/failure.ts";
import { indexInfo } from "../git/objects.ts";
import { type Change } from "../git/trees.ts";
import { removeFolder } from "../git/worktrees.ts";
import type { RunSite } from "./run-site.ts";

export interface Replacement extends Change {
  /** Further blobs that count as old: a plan as we read it, which no commit has had so far. */
  readonly orOld?: readonly string[];
}

export type Standing = "old" | "new" | "neither";

/** Whose bytes are there. */
export async function standingOf(
  site: RunSite,
  change: Replacement,
  leaving: ReadonlySet<string>,
): Promise<Standing> {
  const { path: file, old, now } = change;
  const { root } = site.project;
  const way = wayTo(root, file, leaving);
  // A folder on the way that is a link leads who knows where.
  if (way === "blocked") return "neither";
  const full = path.join(root, file);
  const stat = way === "clear" ? fs.lstatSync(full, { throwIfNoEntry: false }) : undefined;
  if (!stat || (stat.isDirectory() && holdsOnly(root, file, leaving))) {
    return now === null ? "new" : old === null ? "old" : "neither";
  }
  return stat.isDirectory() ? "neither" : contentOf(site, full, stat, change);
}

async function contentOf(
  site: RunSite,
  full: string,
  stat: fs.Stats,
  { path: file, old, now, orOld = [] }: Replacement,
): Promise<Standing> {
  const bytes = stat.isSymbolicLink() ? Buffer.from(fs.readlinkSync(full)) : fs.readFileSync(full);
  const isIt = (blob: string | undefined): boolean =>
    blob !== undefined && blob === hashBlob(bytes, blob.length);
  const sameBytes = old !== null && now !== null && old.blob === now.blob;
  if (sameBytes && isIt(now.blob)) {
    return ((stat.mode & 0o100) !== 0) === (now.mode === "100755") ? "new" : "old";
  }
  if (isIt(now?.blob)) return "new";
  if (isIt(old?.blob) || orOld.some(isIt)) return "old";
  if (!stat.isFile()) return "neither";
  const blob = await storedAs(site, file, bytes);
  if (blob === now?.blob) return "new";
  return blob === old?.blob || orOld.includes(blob) ? "old" : "neither";
}

/** As git would store it: line ends may differ on disk. */
export async function storedAs(site: RunSite, file: string, bytes: Buffer): Promise<string> {
  const stored = await site.git.call({
    args: ["hash-object", `--path=${file}`, "--stdin"],
    input: bytes,
  });
  return stored.ok ? stored.value.text.trim() : "";
}

/** "none": nothing can be there yet, for want of a folder or because a file makes room for one. */
function wayTo(
  root: string,
  file: string,
  leaving: ReadonlySet<string>,
): "clear" | "none" | "blocked" {
  let folder = "";
  for (const part of path.posix.dirname(file).split("/")) {
    if (part === ".") continue;
    folder = folder === "" ? part : `${folder}/${part}`;
    const stat = fs.lstatSync(path.join(root, folder), { throwIfNoEntry: false });
    if (!stat || (!stat.isDirectory() && leaving.has(folder))) return "none";
    if (!stat.isDirectory()) return "blocked";
  }
  return "clear";
}

/** A folder in whose place a file comes: nothing may be in it but what leaves with the phase. */
const holdsOnly = (root: string, folder: string, leaving: ReadonlySet<string>): boolean =>
  fs.readdirSync(path.join(root, folder), { withFileTypes: true }).every((entry) => {
    const inner = `${folder}/${entry.name}`;
    return entry.isDirectory() ? holdsOnly(root, inner, leaving) : leaving.has(inner);
  });

const hashBlob = (bytes: Buffer, length: number): string =>
  createHash(length === 64 ? "sha256" : "sha1")
    .update(`blob ${bytes.length}\0`)
    .update(bytes)
    .digest("hex");

/**
 * Made beside the tree by git itself (modes, links, line ends), then put in place one by one. What
 * stands there gets a second name first and is looked at *then*; the new file takes its place in
 * one stroke. So at every moment the old or the new file is there, and whoever saves a file while we
 * are at it keeps it. Resolves with the files that turned out to be somebody's.
 */
export async function replaceFiles(
  site: RunSite,
  changes: readonly Replacement[],
): Promise<Result<string[]>> {
  if (changes.length === 0) return succeed([]);
  const workshop = path.join(site.folders.attempts, `${site.id}-publish`);
  await removeFolder(workshop);
  fs.mkdirSync(path.join(workshop, "away"), { recursive: true });
  const made = await makeFiles(site, changes, path.join(workshop, "new"));
  if (!made.ok) return made;
  const kept: string[] = [];
  const away: Away[] = [];
  const folders = new Set<string>();
  // What goes makes room for what comes.
  for (const change of [...changes.filter(isGoing), ...changes.filter((each) => !isGoing(each))]) {
    const place = path.join(workshop, "away", String(away.length));
    const replaced = await replaceOne(site, change, path.join(workshop, "new", change.path), place);
    if (!replaced.ok) return replaced;
    if (replaced.value.is === "theirs") kept.push(change.path);
    else if (replaced.value.away) away.push(replaced.value.away);
    folders.add(path.dirname(path.join(site.project.root, change.path)));
  }
  for (const folder of folders) if (fs.existsSync(folder)) syncPath(folder);
  for (const each of away) {
    const dropped = await drop(site, each);
    if (!dropped.ok) return dropped;
  }
  await removeFolder(workshop);
  return succeed(kept);
}

const isGoing = ({ now }: Change): boolean => now === null;

interface Away {
  readonly file: string;
  readonly place: string;
  readonly stat: fs.Stats;
}

async function replaceOne(
  site: RunSite,
  change: Replacement,
  from: string,
  place: string,
): Promise<Result<{ is: "ours"; away?: Away } | { is: "theirs" }>> {
  const { root } = site.project;
  const { path: file } = change;
  const to = path.join(root, file);
  if (wayTo(root, file, new Set()) === "blocked") return succeed({ is: "theirs" });
  const stat = fs.lstatSync(to, { throwIfNoEntry: false });
  if (stat?.isDirectory() && !removeEmpty(to)) return succeed({ is: "theirs" });
  if (!stat || stat.isDirectory()) {
    if (isGoing(change)) return succeed({ is: "ours" });
    fs.mkdirSync(path.dirname(to), { recursive: true });
    return succeed(putNew(from, to) ? { is: "ours" } : { is: "theirs" });
  }
  secondName(to, place);
  const away: Away = { file, place, stat: fs.lstatSync(place) };
  const standing = await contentOf(site, place, away.stat, change);
  // Somebody's, or replaced since: it stays where it is.
  const now = fs.lstatSync(to, { throwIfNoEntry: false });
  const same = now !== undefined && sameFile(now, stat);
  if (standing === "neither" || !same) {
    fs.unlinkSync(place);
    return succeed({ is: "theirs" });
  }
  if (isGoing(change)) {
    fs.unlinkSync(to);
    removeEmptyFolders(root, path.dirname(file));
  } else fs.renameSync(from, to);
  return succeed({ is: "ours", away });
}

const sameFile = (a: fs.Stats, b: fs.Stats): boolean =>
  a.ino === b.ino && a.mtimeMs === b.mtimeMs && a.size === b.size;

/** A link: what is written into the file from now on is seen under both names. */
function secondName(file: string, place: string): void {
  try {
    fs.linkSync(file, place);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EMLINK") throw error;
    fs.cpSync(file, place, { preserveTimestamps: true, verbatimSymlinks: true });
  }
}

/** Never over anything that is there. */
function putNew(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to);
    fs.unlinkSync(from);
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "EEXIST" || code === "ENOTDIR" || code === "EISDIR") return false;
    // A file system without links: the moment between the look and the rename is all we have.
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EMLINK") throw error;
    if (fs.lstatSync(to, { throwIfNoEntry: false })) return false;
    fs.renameSync(from, to);
    return true;
  }
}

/** The old bytes are in git; what was written into them since we looked is kept. */
async function drop(site: RunSite, away: Away): Promise<Result<unknown>> {
  const now = fs.lstatSync(away.place);
  if (now.mtimeMs === away.stat.mtimeMs && now.size === away.stat.size) return succeed(undefined);
  return rescue(site, away);
}

async function rescue(site: RunSite, { file, place }: Away): Promise<Result<string>> {
  const kept = await site.held.setAside(path.relative(site.project.root, place));
  if (kept.ok) site.tell({ notice: `your ${file} is kept at ${kept.value}` });
  return kept;
}

/** Whatever stands there, a folder or a link too, into the rescue folder; empty: nothing does. */
export async function setAside(site: RunSite, file: string): Promise<Result<string>> {
  const full = path.join(site.project.root, file);
  const stat = fs.lstatSync(full, { throwIfNoEntry: false });
  if (!stat) return succeed("");
  if (stat.isFile()) return site.held.setAside(file);
  const at = site.project.world.now().replace(/[^0-9A-Za-z]/g, "");
  const rescue = path.join(site.git.place.commonDir, "autodev", "rescue");
  const to = path.join(
    rescue,
    `${at}-${path.basename(file)}-${site.project.world.uuid().slice(0, 8)}`,
  );
  fs.mkdirSync(rescue, { recursive: true });
  try {
    fs.renameSync(full, to);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EXDEV")) throw error;
    fs.cpSync(full, to, { recursive: true, verbatimSymlinks: true });
    fs.rmSync(full, { recursive: true });
  }
  return succeed(path.relative(site.project.root, to));
}

async function makeFiles(
  site: RunSite,
  changes: readonly Change[],
  folder: string,
): Promise<Result<void>> {
  const wanted = changes.filter((each) => !isGoing(each));
  if (wanted.length === 0) return succeed(undefined);
  const index = path.join(site.folders.scratch, `${site.id}-publish-index`);
  fs.mkdirSync(site.folders.scratch, { recursive: true });
  fs.rmSync(index, { force: true });
  const git = site.git.at({}, { GIT_INDEX_FILE: index });
  const put = await git.call({
    args: ["update-index", "--add", "-z", "--index-info"],
    input: indexInfo(new Map(wanted.map((each) => [each.path, each.now])), site.run().base),
  });
  if (!put.ok) return put;
  const made = await git.call({
    args: ["checkout-index", "--all", "--force", "--quiet", `--prefix=${folder}/`],
  });
  fs.rmSync(index, { force: true });
  if (!made.ok) return made;
  for (const { path: file } of wanted) {
    const full = path.join(folder, file);
    if (!fs.lstatSync(full).isSymbolicLink()) syncPath(full);
  }
  return succeed(undefined);
}

function syncPath(file: string): void {
  const fd = fs.openSync(file, "r");
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function removeEmpty(folder: string): boolean {
  try {
    fs.rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function removeEmptyFolders(root: string, folder: string): void {
  for (let each = folder; each !== "." && each !== "/"; each = path.dirname(each)) {
    if (!removeEmpty(path.join(root, each))) return;
  }
}
