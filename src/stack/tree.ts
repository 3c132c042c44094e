/** A project's files as detection sees them: names first, texts only of what is asked for. */
import { readToml, type Toml } from "../core/toml.ts";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** The text of a file of the tree; undefined: it cannot be had. */
export type Read = (path: string) => string | undefined;

export interface Tree {
  readonly paths: readonly string[];
  has(path: string): boolean;
  text(path: string): string | undefined;
  /** Comments and trailing commas are forgiven; undefined: absent, or no object. */
  json(path: string): JsonObject | undefined;
  toml(path: string): { readonly [key: string]: Toml } | undefined;
  /** All paths of this form, `*` being any part of one name and `**` any folders. */
  like(pattern: string): readonly string[];
  /** Whether some path lies in this folder, at any depth. */
  hasFolder(folder: string): boolean;
}

/** In the order of names, whatever the order in which they were listed. */
export function treeOf(listed: readonly string[], read: Read): Tree {
  const paths = [...listed].sort();
  const known = new Set(paths);
  const text = remembered((path: string) => (known.has(path) ? read(path) : undefined));
  const folders = remembered(() => new Set(paths.flatMap(foldersAbove)));
  const atTop = paths.filter((path) => !path.includes("/"));
  const byName = remembered(() => grouped(paths));
  // In a large tree most patterns would be tried in vain on most paths.
  const candidates = (pattern: string): readonly string[] => {
    if (!pattern.includes("/")) return atTop;
    const last = baseName(pattern);
    if (!/[*{},]/.test(last)) return byName("").get(last) ?? [];
    const [start = ""] = pattern.split(/[*{]/, 1);
    const end = /[^*{}]*$/.exec(pattern)?.[0] ?? "";
    return paths.filter((path) => path.startsWith(start) && path.endsWith(end));
  };
  return {
    paths,
    has: (path) => known.has(path),
    text,
    json: remembered((path: string) => {
      const found = text(path);
      return found === undefined ? undefined : readJson(found);
    }),
    toml: remembered((path: string) => {
      const found = text(path);
      return found === undefined ? undefined : readToml(found);
    }),
    like: remembered((pattern: string) => {
      if (!/[*{]/.test(pattern)) return known.has(pattern) ? [pattern] : [];
      const form = formOf(pattern);
      return candidates(pattern).filter((path) => form.test(path));
    }),
    hasFolder: (folder) => folders("").has(folder),
  };
}

function remembered<Value>(find: (key: string) => Value): (key: string) => Value {
  const found = new Map<string, Value>();
  return (key) => {
    if (!found.has(key)) found.set(key, find(key));
    return found.get(key) as Value;
  };
}

function grouped(paths: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const path of paths) {
    const name = baseName(path);
    const group = groups.get(name);
    if (group) group.push(path);
    else groups.set(name, [path]);
  }
  return groups;
}

function foldersAbove(path: string): string[] {
  const folders: string[] = [];
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
    folders.push(path.slice(0, at));
  }
  return folders;
}

/** `*.{js,ts}`, `packages/*`, and `**` before a slash for any folders or none. */
export const formOf = (pattern: string): RegExp => new RegExp(`^${sourceOf(pattern)}$`);

export const sourceOf = (pattern: string): string =>
  pattern.replace(/\*\*\/|\*+|\{[^{}]*\}|[^*{]/g, (part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part.startsWith("**")) return ".*";
    if (part === "*") return "[^/]*";
    const [, choices] = /^\{(.*)\}$/.exec(part) ?? [];
    return choices === undefined
      ? escaped(part)
      : `(?:${choices.split(",").map(sourceOf).join("|")})`;
  });

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

export const baseName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** Empty: the top. */
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

export const within = (folder: string, path: string): string =>
  folder === "" ? path : `${folder}/${path}`;

export function readJson(text: string): JsonObject | undefined {
  for (const form of [text.replace(/^\uFEFF/, ""), withoutComments(text)]) {
    try {
      const value = JSON.parse(form) as Json;
      return isObject(value) ? value : undefined;
    } catch {
      // As it is written; then as configuration files may write it.
    }
  }
  return undefined;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const objectIn = (value: JsonObject | undefined, key: string): JsonObject => {
  const inside = value?.[key];
  return isObject(inside) ? inside : {};
};

/** Empty: it is none. */
export const stringIn = (value: JsonObject | undefined, key: string): string => {
  const inside = value?.[key];
  return typeof inside === "string" ? inside : "";
};

const withoutComments = (text: string): string =>
  text
    .replace(/^\uFEFF/, "")
    .replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[^]*?\*\//g, (_, string?: string) => string ?? "")
    .replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, string?: string) => string ?? "");

/** The same text for the same value, however it was laid out and ordered. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(",")}}`;
}
