/**
 * Git takes it for granted that an object holds what its name says, and never looks. An agent that
 * can commit can write there: over an object that is there, or under the name of one that is yet to
 * be made. So whatever in the store is new or not what it was is hashed when an agent has ended; what
 * lies is put aside, and what is gone is made again from files that still have it.
 */
import { createHash, randomUUID } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { pipeline } from "node:stream/promises";
import { createInflate } from "node:zlib";
import type { Git } from "./call.ts";
import { idOf } from "./pipes.ts";

export interface StoreWatch {
  /**
   * A sentence for each object that is not what it was. `commit` and `folders`: where files may be
   * that still hold what is gone.
   */
  damage(commit: string, folders: readonly string[]): Promise<string[]>;
}

/** As each store was when it was last looked at: what somebody did since is looked at as well. */
const lastSeen = new Map<string, ReadonlyMap<string, string>>();

/** From now on. */
export function watchStore(git: Git): StoreWatch {
  const objects = path.join(git.place.commonDir, "objects");
  const before = lastSeen.get(objects) ?? stampsIn(objects);
  lastSeen.set(objects, before);
  return {
    async damage(commit, folders) {
      const now = stampsIn(objects);
      lastSeen.set(objects, now);
      const changed = [...now].filter(([name, stamp]) => before.get(name) !== stamp);
      const told: string[] = [];
      const gone = new Set<string>();
      for (const [name] of changed) {
        const file = path.join(objects, name);
        const id = looseId(name);
        if (id === undefined && !(await isWholePack(git, file)))
          told.push(`git's ${name} is damaged`);
        if (id === undefined || (await isWhole(file, id))) continue;
        gone.add(id);
        const aside = setAside(git, file);
        told.push(
          `git's object ${id.slice(0, 10)} did not hold what its name says; what it held is at ${aside}`,
        );
      }
      for (const name of before.keys()) {
        const id = now.has(name) ? undefined : looseId(name);
        const found = id === undefined ? undefined : await git.look(id);
        // Packed by somebody's `git gc`, as a rule.
        if (id === undefined || !found?.ok || found.value) continue;
        gone.add(id);
        told.push(`git's object ${id.slice(0, 10)} was deleted`);
      }
      // What was put aside is not to be missed by whoever looks next.
      if (told.length > 0) lastSeen.delete(objects);
      if (gone.size > 0) await makeAgain(git, gone, commit, folders);
      return told;
    },
  };
}

/** Best effort: what no file holds any more is found missing by whoever needs it. */
async function makeAgain(
  git: Git,
  gone: ReadonlySet<string>,
  commit: string,
  folders: readonly string[],
): Promise<void> {
  const listed = await git.call({ args: ["ls-tree", "-r", "-z", commit], expect: [128] });
  const lines = listed.ok ? listed.value.text.split("\0") : [];
  for (const line of lines) {
    const [, id = "", name = ""] = /^100\d+ blob ([0-9a-f]+)\t([\s\S]+)$/.exec(line) ?? [];
    for (const folder of gone.has(id) ? folders : []) {
      const file = path.join(folder, name);
      if (!fs.lstatSync(file, { throwIfNoEntry: false })?.isFile()) continue;
      const bytes = fs.readFileSync(file);
      if (idOf("blob", bytes, id.length) === id) await git.write("blob", bytes);
    }
  }
}

/** Loose objects and packs, by their names below `objects`. */
function stampsIn(objects: string): Map<string, string> {
  const stamps = new Map<string, string>();
  for (const folder of namesIn(objects)) {
    if (!/^(?:[0-9a-f]{2}|pack)$/.test(folder)) continue;
    for (const file of namesIn(path.join(objects, folder))) {
      const name = `${folder}/${file}`;
      if (looseId(name) === undefined && !/^pack\/pack-.*\.(?:idx|pack)$/.test(name)) continue;
      const stat = fs.lstatSync(`${objects}/${name}`, { throwIfNoEntry: false });
      // Not by the time of its content, which anybody can set.
      if (stat) stamps.set(name, `${stat.ino}-${stat.ctimeMs}-${stat.size}`);
    }
  }
  return stamps;
}

function looseId(name: string): string | undefined {
  const [, folder, rest] = /^([0-9a-f]{2})\/((?:[0-9a-f]{38}|[0-9a-f]{62}))$/.exec(name) ?? [];
  return folder === undefined ? undefined : `${folder}${rest}`;
}

/** A loose object is its type, its size and its bytes, compressed; its id is their hash. */
async function isWhole(file: string, id: string): Promise<boolean> {
  const hash = createHash(id.length === 64 ? "sha256" : "sha1");
  try {
    await pipeline(fs.createReadStream(file), createInflate(), hash);
    return hash.digest("hex") === id;
  } catch (error) {
    // Gone since, or not to be read: that is not known to be wrong.
    return !(error instanceof Error && "code" in error && String(error.code).startsWith("Z_"));
  }
}

/** Its checksums are git's business; one that takes too long is somebody's large repository. */
async function isWholePack(git: Git, file: string): Promise<boolean> {
  if (!file.endsWith(".idx")) return true;
  const verified = await git.call({ args: ["verify-pack", file], expect: [1, 128] });
  return !verified.ok || verified.value.code === 0;
}

function setAside(git: Git, file: string): string {
  const rescue = path.join(git.place.commonDir, "autodev", "rescue");
  const aside = path.join(rescue, `${path.basename(file)}-${randomUUID().slice(0, 8)}`);
  fs.mkdirSync(rescue, { recursive: true });
  fs.renameSync(file, aside);
  return aside;
}

const namesIn = (folder: string): string[] => {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
};
