/**
 * One file of the user's tree, put in its place whole or taken away: by a rename within its folder,
 * on disk before anybody is told, and never through a link.
 */
import * as fs from "node:fs";
import * as path from "node:path";

/** Never part of anything; whoever was killed while he wrote one leaves it. */
export const temporaryPrefix = ".autodev-tmp-";

export interface FileContent {
  readonly bytes: Buffer;
  /** As git has it. */
  readonly mode: string;
}

/**
 * `id`: by what its temporary file is known, to a later life too. `isStill`: asked last, before what
 * is there is replaced. False: it was not, or something else is in the way.
 */
export function placeFile(
  root: string,
  file: string,
  content: FileContent,
  { id, isStill = () => true }: { readonly id: string; readonly isStill?: () => boolean },
): boolean {
  const folder = path.posix.dirname(file);
  if (!makeFolders(root, folder)) return false;
  clearTemporaries(path.join(root, folder), id);
  const temporary = path.join(root, folder, `${temporaryPrefix}${process.pid}-${id}`);
  put(temporary, content);
  if (!isStill() || !makeRoom(path.join(root, file))) {
    fs.rmSync(temporary);
    return false;
  }
  fs.renameSync(temporary, path.join(root, file));
  syncFolder(path.join(root, folder));
  return true;
}

/** With the folders that become empty by it, up to `top`. False: a link leads there. */
export function takeAway(root: string, file: string, top: string): boolean {
  const folder = path.posix.dirname(file);
  if (!isPlainWay(root, folder)) return false;
  fs.rmSync(path.join(root, file), { force: true });
  let standing = folder;
  while (standing !== top && removeIfEmpty(path.join(root, standing)))
    standing = path.posix.dirname(standing);
  syncFolder(path.join(root, standing));
  return true;
}

/** What stands there itself, be it a link; undefined: nothing does, or a file is in the way to it. */
export function whatStands(file: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(file, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** All of it folders, and no link among them; "." always is. */
export function isPlainWay(root: string, folder: string): boolean {
  const parts = folder.split("/");
  return parts.every((_, at) => {
    const part = path.join(root, ...parts.slice(0, at + 1));
    return fs.lstatSync(part, { throwIfNoEntry: false })?.isDirectory() ?? false;
  });
}

/** False: one of them is something else. */
function makeFolders(root: string, folder: string): boolean {
  const parts = folder.split("/");
  for (const [at] of parts.entries()) {
    const part = path.join(root, ...parts.slice(0, at + 1));
    const stat = fs.lstatSync(part, { throwIfNoEntry: false });
    if (!stat) fs.mkdirSync(part);
    else if (!stat.isDirectory()) return false;
  }
  return true;
}

function put(file: string, { bytes, mode }: FileContent): void {
  if (mode === "120000") {
    fs.symlinkSync(bytes, file);
    return;
  }
  const access = mode === "100755" ? 0o777 : 0o666;
  fs.writeFileSync(file, bytes, { mode: access, flag: "wx", flush: true });
}

/** A folder in whose place a file comes: nothing but folders may be in it any more. */
function makeRoom(file: string): boolean {
  if (!fs.lstatSync(file, { throwIfNoEntry: false })?.isDirectory()) return true;
  const isRoom = fs
    .readdirSync(file, { withFileTypes: true })
    .every((entry) => entry.isDirectory() && makeRoom(path.join(file, entry.name)));
  return isRoom && removeIfEmpty(file);
}

function removeIfEmpty(folder: string): boolean {
  try {
    fs.rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function clearTemporaries(folder: string, id: string): void {
  for (const name of fs.readdirSync(folder)) {
    if (name.startsWith(temporaryPrefix) && name.endsWith(`-${id}`))
      fs.rmSync(path.join(folder, name), { force: true });
  }
}

function syncFolder(folder: string): void {
  const fd = fs.openSync(folder, "r");
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
