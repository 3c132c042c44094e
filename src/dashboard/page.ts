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

/** Pages by the names that people type. */
const pages: Readonly<Record<string, string>> = { "/": "/index.html", "/fleet": "/fleet.html" };

/** Undefined: there is no such file. */
export function pageFile(wanted: string, folder = pageFolder): PageFile | undefined {
  const [, name, extension = ""] =
    /^\/([a-z0-9][a-z0-9-]{0,60}\.([a-z]{2,4}))$/.exec(pages[wanted] ?? wanted) ?? [];
  const type = Object.hasOwn(types, extension) ? types[extension] : undefined;
  if (name === undefined || type === undefined) return undefined;
  try {
    return { type, bytes: fs.readFileSync(path.join(folder, name)) };
  } catch {
    return undefined;
  }
}

/** That there is a fleet is known before the page's script asks for anything: its way there is a plain link. */
export const withFleet = ({ type, bytes }: PageFile): PageFile =>
  type === types["html"]
    ? { type, bytes: Buffer.from(bytes.toString("utf8").replace(plainRoot, fleetRoot)) }
    : { type, bytes };

const [plainRoot, fleetRoot] = ['<html lang="en">', '<html lang="en" data-fleet>'];

export const isBuilt = (folder = pageFolder): boolean =>
  fs.existsSync(path.join(folder, "index.html"));
