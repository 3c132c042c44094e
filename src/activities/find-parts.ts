/** The repositories that a suite consists of, as far as they are checked out, from its own files. */
import * as fs from "node:fs";
import * as path from "node:path";
import { configFile } from "../core/suite.ts";
import { readRepoConfig } from "../formats/repo-config.ts";
import { findRepository, isKnownThere, type Repository } from "../git.ts";
import { smallFileAt } from "../stack/small-file.ts";
import { contains } from "../trust.ts";
import type { Project } from "./hold.ts";
import { membersIn } from "./survey.ts";

export interface FoundPart {
  /** From the suite's root. */
  readonly path: string;
  readonly name: string;
}

const mostParts = 100;

/** Only what is a repository of its own, and lies where its path says: no link is followed out. */
export function findParts({ root, repository }: Project): FoundPart[] {
  if (!repository) return [];
  const names = new Map(membersIn(root).map((member) => [plain(member.path), member.path]));
  for (const { path: where, name } of componentsOf(root)) names.set(plain(where), name);
  return [...names]
    .filter(([where]) => isOwnRepository(repository, where))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .slice(0, mostParts)
    .map(([where, name]) => ({ path: where, name }));
}

function componentsOf(root: string): readonly { readonly path: string; readonly name: string }[] {
  const text = smallFileAt(path.join(root, "_docs", configFile));
  try {
    return text === undefined ? [] : readRepoConfig(text).components;
  } catch {
    return [];
  }
}

const plain = (where: string): string => path.posix.normalize(where).replace(/\/+$/, "");

function isOwnRepository({ root, commonDir }: Repository, where: string): boolean {
  if (path.isAbsolute(where) || /^\.\.?(?:\/|$)/.test(where)) return false;
  const folder = path.join(root, where);
  const own = findRepository(folder);
  if (own?.root !== folder || !isKnownThere(own)) return false;
  try {
    const [top, shared] = [fs.realpathSync(root), fs.realpathSync(commonDir)];
    const memory = fs.realpathSync(own.commonDir);
    const isNear = contains(top, memory) || contains(shared, memory);
    return isNear && memory !== shared && contains(top, fs.realpathSync(folder));
  } catch {
    return false;
  }
}
