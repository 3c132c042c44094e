/** The form of the tables: by what a thing is recognised, and what follows from it. */
import { baseName, folderOf, isObject, type Tree } from "./tree.ts";

/** The four that every project is asked for, in this order. */
export const standardGates = ["lint", "format", "typecheck", "test"] as const;
export type GateName = (typeof standardGates)[number];

/** Any one of these is enough; the first that is seen is the reason that people are told. */
export interface Sign {
  /** Named as a dependency in a manifest. */
  readonly packages?: readonly string[];
  /** There is such a file; patterns are from the top. */
  readonly files?: readonly string[];
  /** A manifest has such a part: `package.json#jest`, `pyproject.toml#tool.ruff`. */
  readonly parts?: readonly string[];
  /** Such a file says it. */
  readonly mentions?: readonly (readonly [file: string, says: RegExp])[];
  /** It needs no sign: why. */
  readonly always?: string;
}

export interface Named extends Sign {
  readonly name: string;
}

/** What follows from a tool: the calls by which it answers for gates. */
export interface Tool extends Named {
  readonly calls: Partial<Record<GateName, string>>;
  /** Without this it would fail by itself: its configuration, say. */
  readonly needs?: Sign;
  /** In a script: it is this tool that the script starts. */
  readonly started?: RegExp;
}

/** Who installs what a project needs. */
export interface Packager extends Named {
  /** Fills the folders in a fresh checkout. */
  readonly setup?: string;
  /** The folders that it fills. */
  readonly folders: readonly string[];
  /** What decides the content of the folders; names that are absent may come. */
  readonly keyFiles: readonly string[];
  /** Programs whose versions decide it, too. */
  readonly programs: readonly string[];
}

/** Where something was learnt. */
export interface Ground {
  readonly why: string;
  readonly file: string;
}

export interface Command extends Ground {
  readonly text: string;
  /** What it comes to, where the text only names a script. */
  readonly starts?: string;
}

export type Commands = Partial<Record<GateName, Command>>;

/** Package → where it is named. */
export type Uses = ReadonlyMap<string, Ground>;

export interface Installed {
  readonly setup?: Command;
  readonly folders: readonly string[];
  readonly keyFiles: readonly string[];
  readonly programs: readonly string[];
}

/** One family of languages. */
export interface Kind {
  /** Also in the name of its test gate where another kind is the stack: `test_python`. */
  readonly name: string;
  /** Files that say that a project is of this kind. */
  readonly marks: readonly string[];
  /** Files that say so if no kind has its marks. */
  readonly traces?: readonly string[];
  readonly languages: readonly Named[];
  readonly frameworks?: readonly Named[];
  readonly packagers: readonly Packager[];
  readonly tools: readonly Tool[];
  uses?(tree: Tree): Uses;
  /** The project's own commands; they come before a tool's usual call. */
  scripts?(tree: Tree, packager: Packager | undefined): Commands;
  /** How a tool is called here: `npx --no-install vitest run`. */
  call?(tree: Tree, packager: Packager | undefined, call: string): string;
  /** Where a packager's row does not tell all. */
  install?(tree: Tree, packager: Packager): Installed;
}

/** Undefined: it is not seen. */
export function signOf(sign: Sign, tree: Tree, uses: Uses): Ground | undefined {
  for (const name of sign.packages ?? []) {
    const ground = uses.get(name);
    if (ground) return ground;
  }
  for (const part of sign.parts ?? []) {
    const [file = "", path = ""] = part.split("#");
    if (hasPart(tree, file, path)) return { why: `${path} in ${file}`, file };
  }
  for (const pattern of sign.files ?? []) {
    const [file] = tree.like(pattern);
    if (file !== undefined) return { why: `${file} is there`, file };
  }
  for (const [pattern, says] of sign.mentions ?? []) {
    for (const file of tree.like(pattern).slice(0, mostRead)) {
      if (says.test(tree.text(file) ?? "")) return { why: `${file} says so`, file };
    }
  }
  return sign.always === undefined ? undefined : { why: sign.always, file: "" };
}

/** Of files that a pattern finds; the rest would say the same. */
const mostRead = 20;

function hasPart(tree: Tree, file: string, path: string): boolean {
  let value: unknown = file.endsWith(".toml") ? tree.toml(file) : tree.json(file);
  for (const key of path.split(".")) {
    value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value !== undefined;
}

/** The first row that is seen, and why. */
export function firstSeen<Row extends Named>(
  rows: readonly Row[],
  tree: Tree,
  uses: Uses,
): { row: Row; ground: Ground } | undefined {
  for (const row of rows) {
    const ground = signOf(row, tree, uses);
    if (ground) return { row, ground };
  }
  return undefined;
}

const testFolders = /(?:^|\/)(?:tests?|specs?|__tests__|testdata|fixtures|e2e)\//;
const testNames =
  /[._-](?:test|spec|tests)\.\w+$|^(?:test|spec)[._-][^/]*\.\w+$|^[^/]*Tests?\.(?:java|kt|cs|php|swift)$/;

/** A test, going by its name: what it holds is the subject of gates, not their definition. */
export const isTestName = (path: string): boolean =>
  testNames.test(baseName(path)) || testFolders.test(`${folderOf(path)}/`);
