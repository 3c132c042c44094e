/**
 * A file that people write by hand, read where a stranger may have put something else in its place: a
 * link to a device would never end, a pipe would be waited for.
 */
import * as fs from "node:fs";

const most = 1024 ** 2;

/** Throws as the file system does where nothing can be opened. */
export function readSmallFile(file: string): string | { readonly why: string } {
  // On Windows the second is undefined, which adds nothing.
  const { O_RDONLY, O_NONBLOCK } = fs.constants;
  const descriptor = fs.openSync(file, O_RDONLY | O_NONBLOCK);
  try {
    const stat = fs.fstatSync(descriptor);
    if (!stat.isFile()) return { why: "it is not a file" };
    // What the kernel makes up has no size, and need not have an end.
    const bytes = Buffer.alloc(Math.min(stat.size === 0 ? most : stat.size, most) + 1);
    let length = 0;
    while (length < bytes.length) {
      const count = fs.readSync(descriptor, bytes, length, bytes.length - length, null);
      if (count === 0) break;
      length += count;
    }
    const isLarge = stat.size > most || length > most;
    return isLarge
      ? { why: `it is larger than ${most / 1024} KB` }
      : bytes.toString("utf8", 0, length);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Undefined: there is none that could be read. */
export function smallFileAt(file: string): string | undefined {
  try {
    const read = readSmallFile(file);
    return typeof read === "string" ? read : undefined;
  } catch {
    return undefined;
  }
}
