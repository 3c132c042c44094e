/** A working tree as detection wants it: names and texts. Nothing is run, no link is followed. */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Read } from "./tree.ts";

/** What others made of the project's own files, or brought along. */
const aside = new Set([
  ..."node_modules .git .venv venv vendor target dist build coverage __pycache__".split(" "),
  ..."bower_components .tox .nox .next .nuxt .gradle .mypy_cache .pytest_cache".split(" "),
  ..."ruff_cache .turbo .cache .autobuild obj".split(" "),
]);

/** Enough to see what a project is built with; a look must stay quick in any folder. */
const mostFiles = 20_000;
const deepest = 8;
const mostBytes = 1024 * 1024;

export function treeIn(root: string): { readonly paths: readonly string[]; readonly read: Read } {
  const paths: string[] = [];
  // Folder by folder, the nearest first: where there are too many, the deep ones are left out.
  let folders = [""];
  for (let depth = 0; depth < deepest && folders.length > 0; depth++) {
    const next: string[] = [];
    for (const folder of folders) {
      for (const entry of entriesOf(path.join(root, folder))) {
        const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
        if (entry.isFile()) paths.push(name);
        else if (entry.isDirectory() && !aside.has(entry.name) && name !== ".autodev/var") {
          next.push(name);
        }
      }
      if (paths.length > mostFiles) return { paths, read };
    }
    folders = next;
  }
  return { paths, read };

  function read(file: string): string | undefined {
    const full = path.join(root, file);
    try {
      const { size } = fs.lstatSync(full);
      return size > mostBytes ? undefined : fs.readFileSync(full, "utf8");
    } catch {
      return undefined;
    }
  }
}

function entriesOf(folder: string): fs.Dirent[] {
  try {
    return fs.readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
