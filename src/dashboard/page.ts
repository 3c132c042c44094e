/** The page's own files, as they were built: a handful of names in one folder, and nothing else. */
import * as fs from "node:fs";
import * as path from "node:path";

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
}

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  ico: "image/x-icon",
};

/** Beside the program, where the build has put them. */
export const pageFolder = path.join(import.meta.dirname, "..", "web");

/** Undefined: there is no such file. */
export function pageFile(wanted: string, folder = pageFolder): PageFile | undefined {
  const [, name, extension = ""] =
    /^\/([a-z0-9][a-z0-9-]{0,60}\.([a-z]{2,4}))$/.exec(wanted === "/" ? "/index.html" : wanted) ??
    [];
  const type = Object.hasOwn(types, extension) ? types[extension] : undefined;
  if (name === undefined || type === undefined) return undefined;
  try {
    return { type, bytes: fs.readFileSync(path.join(folder, name)) };
  } catch {
    return undefined;
  }
}

export const isBuilt = (folder = pageFolder): boolean =>
  fs.existsSync(path.join(folder, "index.html"));
