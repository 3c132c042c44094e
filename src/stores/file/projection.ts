/**
 * Files that people read and edit: rendered by us, found by us, never trusted blindly. Whatever
 * is wrong with one is a Failure that names it; the bytes stay as they are.
 */
import * as path from "node:path";
import { type Failure, fail, type Result, succeed } from "../../core/failure.ts";
import { largestStateFile } from "../../core/flow/state-names.ts";
import { codeOf, type Disk, reasonFor, replaceFile, temporaryMark } from "./disk.ts";

export function readProjection(disk: Disk, root: string, file: string): Result<string | undefined> {
  const full = path.join(root, file);
  try {
    const kind = disk.kind(full);
    if (kind === undefined) {
      const folder = path.dirname(file);
      if (disk.kind(path.dirname(full)) !== "file") return succeed(undefined);
      return fail("state-file-not-a-file", `${folder} is a file, not a folder`, {
        file: folder,
        hint: `mv ${folder} ${folder}.aside`,
      });
    }
    const target = kind === "link" ? disk.realPath(full) : full;
    if (target === undefined) {
      return fail("state-file-not-a-file", `${file} is a link to something that is not there`, {
        file,
        hint: `rm ${file}`,
      });
    }
    const outside = outsideOf(disk, root, full);
    if (outside) return { ok: false, failure: outside };
    if (disk.kind(target) !== "file") {
      return fail(
        "state-file-not-a-file",
        `${file} is ${disk.kind(target) === "folder" ? "a folder" : "no plain file"}`,
        {
          file,
          hint: `mv ${file} ${file}.aside`,
        },
      );
    }
    const size = disk.size(target);
    if (size > largestStateFile) {
      return fail(
        "state-file-too-large",
        `${file} has ${size} bytes; a state file has less than ${largestStateFile}`,
        { file, line: 1, hint: "autodev doctor --fix sets it aside and writes the position anew" },
      );
    }
    const bytes = disk.read(target);
    return bytes === undefined ? succeed(undefined) : decode(bytes, file);
  } catch (error) {
    const code = codeOf(error);
    if (!code) throw error;
    const folder = path.dirname(file);
    const hint = entersFolder(disk, full) ? `chmod u+rw ${file}` : `chmod u+rwx ${folder}`;
    return fail("state-file-unreadable", `${file} cannot be read: ${reasonFor(code)} (${code})`, {
      file,
      hint,
    });
  }
}

/** Old bytes or new bytes, never a mixture; a link inside the repository stays a link. */
export async function writeProjection(
  disk: Disk,
  root: string,
  file: string,
  text: string,
  options: { unique: string; durable: boolean },
): Promise<Result<void>> {
  const full = path.join(root, file);
  try {
    const outside = outsideOf(disk, root, full);
    if (outside) return { ok: false, failure: outside };
    await disk.makeFolder(path.dirname(full), 0o777);
    const target = disk.realPath(full) ?? full;
    const mode = disk.mode(target) ?? 0o644;
    await replaceFile(disk, target, Buffer.from(text), { ...options, mode });
    return succeed(undefined);
  } catch (error) {
    const code = codeOf(error);
    if (!code) throw error;
    return fail("disk", `${file} cannot be written: ${reasonFor(code)} (${code})`, {
      file,
      hint: "the journal has it: once the file can be written, the next command writes it",
    });
  }
}

function entersFolder(disk: Disk, full: string): boolean {
  try {
    disk.kind(full);
    return true;
  } catch {
    return false;
  }
}

/** What a crash left of our own temporary files in this folder. */
export const leftovers = (disk: Disk, folder: string): string[] =>
  disk
    .list(folder)
    .filter((name) => name.startsWith(temporaryMark))
    .map((name) => path.join(folder, name));

function outsideOf(disk: Disk, root: string, full: string): Failure | undefined {
  const realRoot = disk.realPath(root) ?? root;
  const real = nearestReal(disk, full);
  const inside = path.relative(realRoot, real);
  if (inside !== ".." && !inside.startsWith(`..${path.sep}`) && !path.isAbsolute(inside)) {
    return undefined;
  }
  const file = path.relative(root, full);
  // Removing a link loses nothing of what it leads to.
  const link = disk.kind(full) === "link" ? file : path.dirname(file);
  const { failure } = fail(
    "state-file-outside",
    `${file} leads out of the repository, to ${real}`,
    {
      file,
      hint: `rm ${link}`,
    },
  );
  return failure;
}

/** Of the path itself, or of the nearest folder above it that is there. */
function nearestReal(disk: Disk, full: string): string {
  for (let at = full; at !== path.dirname(at); at = path.dirname(at)) {
    const real = disk.realPath(at);
    if (real !== undefined) return real;
  }
  return full;
}

function decode(bytes: Buffer, file: string): Result<string> {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    return fail("state-file-encoding", `${file}:1 is UTF-16; a state file is UTF-8`, {
      file,
      line: 1,
      hint: "autodev doctor --fix sets it aside and writes the position anew",
    });
  }
  const text = bytes.toString("utf8");
  // Only text that decodes cleanly encodes back to the same bytes.
  if (text.includes("\uFFFD")) {
    const again = Buffer.from(text);
    const cut = cutCharacter(bytes);
    if (cut !== undefined) return succeed(cut);
    if (!again.equals(bytes)) {
      const line = lineOfFirstDifference(bytes, again);
      return fail("state-file-encoding", `${file}:${line} holds bytes that are not UTF-8`, {
        file,
        line,
        hint: "autodev doctor --fix sets it aside and writes the position anew",
      });
    }
  }
  return succeed(text);
}

/**
 * A file that ends at a sector, in the middle of a character, is one that a power cut tore: the
 * rest of that character reads as zeros, like the rest of any torn sector.
 */
function cutCharacter(bytes: Buffer): string | undefined {
  const sector = 512;
  if (bytes.length === 0 || bytes.length % sector !== 0) return undefined;
  for (let missing = 1; missing <= 3; missing++) {
    const whole = bytes.subarray(0, bytes.length - missing);
    const text = whole.toString("utf8");
    if (Buffer.from(text).equals(whole)) return text + "\0".repeat(missing);
  }
  return undefined;
}

function lineOfFirstDifference(a: Buffer, b: Buffer): number {
  let line = 1;
  for (let at = 0; at < a.length && a[at] === b[at]; at++) if (a[at] === 10) line++;
  return line;
}
