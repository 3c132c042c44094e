/**
 * Where skills are: in the project, in the folders that agents of several kinds look into, and in
 * our own package.
 *
 * 1. The first folder that has a skill decides. One that is there and cannot be used is a failure:
 *    to take the next one instead would be another skill than the team's, and nobody would know.
 * 2. A project's skill lies in the project: no link leads out of it.
 * 3. What is read is a file, bounded, and text.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { type Failure, fail, type Result, succeed } from "../core/failure.ts";
import { type Glob, globOf, type Step } from "../core/flow/flow.ts";
import { type Skill, skillOf } from "../core/flow/skill.ts";
import { nearest } from "../core/nearest.ts";
import { readWrittenSkill, type WrittenSkill } from "../formats/skill.ts";
import { contains } from "../trust.ts";

/** In the order in which they are asked. */
export const skillFolders = [
  ".autodev/skills",
  ".cursor/skills",
  ".claude/skills",
  ".agents/skills",
] as const;

export interface FoundSkill extends Skill {
  /** `built-in` comes with us; all others are the repository's, and trusted like the rest of it. */
  readonly origin: (typeof skillFolders)[number] | "built-in";
  /** Absolute: what else belongs to the skill lies there. */
  readonly folder: string;
  /** Those that it knows by name. */
  readonly modes: readonly string[];
}

const largest = 256 * 1024;
const mostListed = 500;
/** As a step may name one; nothing else becomes part of a path. */
const skillName = /^[a-z0-9][a-z0-9-]{0,63}$/u;

export function findSkill(root: string, name: string, mode?: string): Result<FoundSkill> {
  if (skillName.test(name)) {
    for (const place of placesFor(root)) {
      const read = readFrom(root, place, name);
      if (read === undefined) continue;
      return read.ok ? succeed(foundSkill(read.value, place, name, mode)) : read;
    }
  }
  const [near] = nearest(name, namesOf(root));
  return fail("not-found", `there is no skill ${JSON.stringify(name)}`, {
    hint:
      near === undefined
        ? `write it to .autodev/skills/<name>/SKILL.md`
        : `did you mean ${near}? Else write it to .autodev/skills/<name>/SKILL.md`,
  });
}

/** What a step leaves, by what its skill promises. */
export function producedBy(root: string, { skill, mode }: Step, cycle: number): Glob[] {
  if (skill === undefined) return [];
  const found = findSkill(root, skill, mode);
  return found.ok ? found.value.produces.map(({ path: each }) => globOf(each, { cycle })) : [];
}

/** As somebody wrote it, whole. */
export interface ListedSkill extends WrittenSkill, Pick<FoundSkill, "origin" | "folder"> {
  /** What else lies in its folder: paths relative to it. */
  readonly beside: readonly string[];
}

/** Every skill that can be found, by name, and why others cannot. */
export function listSkills(root: string): {
  readonly skills: readonly ListedSkill[];
  readonly failures: readonly Failure[];
} {
  const skills: ListedSkill[] = [];
  const failures: Failure[] = [];
  for (const name of namesOf(root).slice(0, mostListed)) {
    for (const place of placesFor(root)) {
      const read = readFrom(root, place, name);
      if (read === undefined) continue;
      const folder = path.join(place.folder, name);
      if (read.ok)
        skills.push({ ...read.value, origin: place.origin, folder, beside: besideIn(folder) });
      else failures.push(read.failure);
      break;
    }
  }
  return { skills, failures };
}

const besideIn = (folder: string): string[] =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .filter((name) => name !== "SKILL.md")
    .slice(0, mostListed)
    .map((name) => name.split(path.sep).join("/"))
    .sort();

interface Place {
  readonly origin: FoundSkill["origin"];
  readonly folder: string;
}

const placesFor = (root: string): readonly Place[] => [
  ...skillFolders.map((origin) => ({ origin, folder: path.join(root, origin) })),
  { origin: "built-in", folder: builtInFolder() },
];

const foundSkill = (
  written: WrittenSkill,
  { origin, folder }: Place,
  name: string,
  mode: string | undefined,
): FoundSkill => ({
  ...skillOf(written.head, { ...written, mode }),
  origin,
  folder: path.join(folder, name),
  modes: Object.keys(written.head.modes),
});

function namesOf(root: string): string[] {
  const names = placesFor(root).flatMap(({ folder }) =>
    entriesOf(folder).filter(
      (name) => skillName.test(name) && isThere(path.join(folder, name, "SKILL.md")),
    ),
  );
  return [...new Set(names)].sort();
}

/** Undefined: there is none of this name. */
function readFrom(
  root: string,
  { origin, folder }: Place,
  name: string,
): Result<WrittenSkill> | undefined {
  const full = path.join(folder, name, "SKILL.md");
  const shown =
    origin === "built-in" ? full.split(path.sep).join("/") : `${origin}/${name}/SKILL.md`;
  const text = textOf(full, shown, origin === "built-in" ? undefined : root);
  if (text === undefined || !text.ok) return text;
  return readWrittenSkill(text.value, shown);
}

/** `within`: the folder that it must not leave. */
function textOf(file: string, shown: string, within?: string): Result<string> | undefined {
  const unusable = (why: string, hint: string): ReturnType<typeof fail> =>
    fail("skill-invalid", `${shown} cannot be used: ${why}`, { file: shown, hint });
  let descriptor: number | undefined;
  try {
    if (!isThere(file)) return undefined;
    const real = fs.realpathSync(file);
    if (within !== undefined && !contains(fs.realpathSync(within), path.dirname(real))) {
      return unusable("it is a link that leads out of the repository", `copy it to ${shown}`);
    }
    // Neither a link that was put there meanwhile nor a pipe that nobody writes to.
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
    descriptor = fs.openSync(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stat = fs.fstatSync(descriptor);
    if (!stat.isFile()) return unusable("it is not a file", `put the skill's text at ${shown}`);
    if (stat.size > largest) {
      const size = Math.ceil(stat.size / 1024);
      return unusable(
        `it has ${size} KB, and ${largest / 1024} are the most`,
        "put its details into files beside it, and name them where they are needed",
      );
    }
    const bytes = Buffer.alloc(stat.size);
    const length = fs.readSync(descriptor, bytes, 0, stat.size, 0);
    return succeed(new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, length)));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    if (code === "ENOENT" || code === "ENOTDIR") {
      return unusable("it is a link that leads nowhere", `rm ${shown}, or put the skill there`);
    }
    if (code === "ERR_ENCODING_INVALID_ENCODED_DATA")
      return unusable("it is not UTF-8", `save ${shown} as UTF-8`);
    return unusable(`it cannot be read (${code})`, `chmod u+r ${shown}`);
  } finally {
    if (descriptor !== undefined) fs.closeSync(descriptor);
  }
}

/** Also as a link that leads nowhere; not below something that is a file. */
function isThere(file: string): boolean {
  try {
    return fs.lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ENOTDIR");
  }
}

function entriesOf(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}

/** The nearest above us, as source, as library and as program: they travel with the package. */
export function builtInFolder(): string {
  for (let folder = import.meta.dirname; ; folder = path.dirname(folder)) {
    const skills = path.join(folder, "skills");
    const isTop = folder === path.dirname(folder);
    if (isTop || fs.existsSync(path.join(skills, "problem", "SKILL.md"))) return skills;
  }
}
