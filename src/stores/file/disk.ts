/**
 * The seam to the file system: everything the store reads or writes goes through a Disk, so
 * that a simulator can cut the power between any two calls. Reads are synchronous (they are
 * small and `status` must be instant); everything that changes the disk is not.
 */
import * as fs from "node:fs";
import * as path from "node:path";

export interface AppendFile {
  /** All of it, or an error; an error leaves the file suspect for ever. */
  append(bytes: Buffer): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface Disk {
  /** Undefined: there is no such file. */
  read(file: string): Buffer | undefined;
  /** The last bytes from `offset` on, and the size; undefined: there is no such file. */
  readFrom(file: string, offset: number): Buffer | undefined;
  exists(file: string): boolean;
  /** What stands at a path, links not followed. */
  kind(file: string): "file" | "folder" | "link" | "other" | undefined;
  /** Through all links; undefined: it leads nowhere. */
  realPath(file: string): string | undefined;
  size(file: string): number;
  /** Permission bits; undefined: there is no such file. */
  mode(file: string): number | undefined;
  /** The system's word for why nothing can be written there; empty: it can. */
  refusesWrites(folder: string): string;
  /** Names, unordered; an absent folder is empty. */
  list(folder: string): string[];
  makeFolder(folder: string, mode?: number): Promise<void>;
  /** A new file, never an old one; with exactly this mode, or for its owner only. */
  create(file: string, bytes: Buffer, mode?: number): Promise<void>;
  syncFile(file: string): Promise<void>;
  openForAppend(file: string): Promise<AppendFile>;
  rename(from: string, to: string): Promise<void>;
  /** False: `to` is there already. */
  link(from: string, to: string): Promise<boolean>;
  remove(file: string): Promise<void>;
  /** Gives a file the owner of another, if we are allowed to. */
  own?(file: string, like: string): Promise<void>;
  /** With all that is in it; an absent one is fine. */
  removeFolder(folder: string): Promise<void>;
  syncFolder(folder: string): Promise<void>;
}

/** The mark of our temporary files: what a crash leaves behind is recognised by it. */
export const temporaryMark = ".autodev-tmp-";

/**
 * Readers see the old bytes or the new ones; after `durable`, so does a reader after a power cut.
 * False: `proceed`, asked at the last moment, said no, and nothing has changed.
 */
export async function replaceFile(
  disk: Disk,
  file: string,
  bytes: Buffer,
  options: { unique: string; durable: boolean; mode?: number; proceed?: () => boolean },
): Promise<boolean> {
  const temporary = temporaryFor(file, options.unique);
  await disk.create(temporary, bytes, options.mode);
  try {
    await disk.own?.(temporary, file);
    if (options.durable) await disk.syncFile(temporary);
    if (options.proceed?.() === false) {
      await disk.remove(temporary);
      return false;
    }
    await disk.rename(temporary, file);
  } catch (error) {
    await disk.remove(temporary).catch(() => {});
    throw error;
  }
  if (options.durable) await disk.syncFolder(path.dirname(file));
  return true;
}

/** The file appears whole and durable, or not at all; false: somebody else's is there. */
export async function createDurably(
  disk: Disk,
  file: string,
  bytes: Buffer,
  unique: string,
  mode?: number,
): Promise<boolean> {
  const temporary = temporaryFor(file, unique);
  await disk.create(temporary, bytes, mode);
  try {
    await disk.syncFile(temporary);
    const first = await disk.link(temporary, file);
    await disk.syncFolder(path.dirname(file));
    return first;
  } finally {
    await disk.remove(temporary).catch(() => {});
  }
}

const temporaryFor = (file: string, unique: string): string =>
  path.join(path.dirname(file), `${temporaryMark}${unique}-${path.basename(file)}`);

export const isMissing = (error: unknown): boolean =>
  codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";

/** The system's word for what went wrong; empty: it was not the system, so it is a bug. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/^E(?!RR_)[A-Z0-9]+$/.test(code)) return code;
  // Node does not know every errno by name (EDQUOT, ESTALE), and says so in more than one way.
  const number = error instanceof Error && "errno" in error ? Number(error.errno) : Number.NaN;
  if (!(number < 0)) return "";
  const { errno } = process.getBuiltinModule("node:os").constants;
  return Object.entries(errno).find(([, each]) => each === -number)?.[0] ?? "EUNKNOWN";
}

/** Loaded with the first write: looking never needs it. */
const promises = (): typeof import("node:fs/promises") =>
  process.getBuiltinModule("node:fs/promises");

export const realDisk: Disk = {
  read: (file) => unlessMissing(file, () => fs.readFileSync(file)),
  readFrom: (file, offset) =>
    unlessMissing(file, () => {
      const fd = fs.openSync(file, "r");
      try {
        const size = fs.fstatSync(fd).size;
        const bytes = Buffer.alloc(Math.max(0, size - offset));
        let got = 0;
        while (got < bytes.length) {
          const read = fs.readSync(fd, bytes, got, bytes.length - got, offset + got);
          if (read === 0) break;
          got += read;
        }
        return bytes.subarray(0, got);
      } finally {
        fs.closeSync(fd);
      }
    }),
  exists: (file) => fs.existsSync(file),
  list: (folder) => unlessMissing(folder, () => fs.readdirSync(folder)) ?? [],
  kind(file) {
    const stat = unlessMissing(file, () => fs.lstatSync(file));
    if (!stat) return undefined;
    if (stat.isSymbolicLink()) return "link";
    return stat.isFile() ? "file" : stat.isDirectory() ? "folder" : "other";
  },
  realPath: (file) => unlessMissing(file, () => fs.realpathSync.native(file)),
  size: (file) => fs.statSync(file).size,
  mode: (file) => unlessMissing(file, () => fs.statSync(file).mode & 0o777),
  refusesWrites(folder) {
    try {
      fs.accessSync(folder, fs.constants.W_OK | fs.constants.X_OK);
      return "";
    } catch (error) {
      return codeOf(error);
    }
  },
  makeFolder: (folder, mode = 0o700) => makeFolders(folder, mode),
  async create(file, bytes, mode) {
    const handle = await promises().open(file, "wx", 0o600);
    try {
      // Asked for exactly: the mask of whoever runs us must not narrow a file that is replaced.
      if (mode !== undefined) await handle.chmod(mode);
      await handle.writeFile(bytes);
    } catch (error) {
      await promises()
        .unlink(file)
        .catch(() => {});
      throw named(error, file);
    } finally {
      await handle.close();
    }
  },
  async own(file, like) {
    if (process.getuid?.() !== 0) return;
    try {
      const { uid, gid } = fs.statSync(like);
      if (uid !== 0 || gid !== 0) await promises().chown(file, uid, gid);
    } catch {
      // A new file, or one of a file system that knows no owners.
    }
  },
  async syncFile(file) {
    const handle = await promises().open(file, "r");
    try {
      await handle.sync();
    } catch (error) {
      throw named(error, file);
    } finally {
      await handle.close();
    }
  },
  openForAppend: (file) =>
    new Promise((resolve, reject) => {
      fs.open(file, fs.constants.O_WRONLY | fs.constants.O_APPEND, (error, fd) =>
        error ? reject(error) : resolve(appendFile(fd, file)),
      );
    }),
  rename: (from, to) => promises().rename(from, to),
  async link(from, to) {
    try {
      await promises().link(from, to);
      return true;
    } catch (error) {
      if (codeOf(error) === "EEXIST") return false;
      throw error;
    }
  },
  remove: (file) => promises().unlink(file),
  removeFolder: (folder) => promises().rm(folder, { recursive: true, force: true }),
  syncFolder: (folder) => realDisk.syncFile(folder),
};

/** The system does not say which file an open one is: whoever opened it knows. */
const named = (error: unknown, file: string): unknown =>
  error instanceof Error && !("path" in error) ? Object.assign(error, { path: file }) : error;

/**
 * From the first that is missing downwards, one by one: Node's own way of making several at once
 * says of a full disk that there is no such folder.
 */
async function makeFolders(folder: string, mode: number): Promise<void> {
  const make = async (): Promise<void> => {
    try {
      await promises().mkdir(folder, mode);
    } catch (error) {
      const isThere = fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory();
      if (!isThere) throw error;
    }
  };
  try {
    await make();
  } catch (error) {
    const parent = path.dirname(folder);
    if (codeOf(error) !== "ENOENT" || parent === folder) throw error;
    await makeFolders(parent, mode);
    await make();
  }
}

/** One transition is one write and one sync, with nothing else in between. */
const appendFile = (fd: number, file: string): AppendFile => ({
  // Into the page cache, at once: a trip to the thread pool would cost more than the write.
  async append(bytes) {
    try {
      // A disk that takes only a part says why when it is asked for the rest.
      for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at, bytes.length - at);
    } catch (error) {
      throw named(error, file);
    }
  },
  async sync() {
    try {
      await syncData(fd);
    } catch (error) {
      throw named(error, file);
    }
  },
  close: () => new Promise((resolve) => fs.close(fd, () => resolve())),
});

/** A disk that answers within this is not worth a trip to the thread pool. */
const quickMs = 10;
let lastSyncMs = 0;

/** On a slow disk the event loop goes on meanwhile; on a fast one going there is the slow part. */
async function syncData(fd: number): Promise<void> {
  const began = performance.now();
  if (lastSyncMs < quickMs) fs.fdatasyncSync(fd);
  else {
    await new Promise<void>((resolve, reject) => {
      fs.fdatasync(fd, (error) => (error ? reject(error) : resolve()));
    });
  }
  lastSyncMs = performance.now() - began;
}

function unlessMissing<T>(file: string, look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw named(error, file);
  }
}

/** Why the system refused, in words. */
export const reasonFor = (code: string): string =>
  ({
    ENOSPC: "no space is left on the disk",
    EDQUOT: "the disk quota is used up",
    EROFS: "the file system is read-only",
    EACCES: "permission is denied",
    EPERM: "the operation is not permitted",
    EIO: "the disk reports an error",
    EMFILE: "too many files are open",
    ENFILE: "too many files are open on this machine",
    EFBIG: "the file would grow too large",
    ENOTDIR: "a part of the path is not a folder",
    EISDIR: "a folder stands in its place",
  })[code] ?? "the system refuses it";
