/**
 * Removes what was decided to go, thing by thing. Each can be cut off anywhere and is finished by the
 * next time: what is half removed is still listed, as something that nobody needs.
 */
import * as fs from "node:fs";
import { rm } from "node:fs/promises";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import { type KeptThing, keptKinds, whatToRemove } from "../core/keep.ts";
import { removeEntry } from "../dependency-cache.ts";
import { updateRefs } from "../git/objects.ts";
import { removeFolder } from "../git/worktrees.ts";
import { dependencyFolder } from "./clean-checkout.ts";
import { type KeptPlace, refsOfRuns, transcriptsKept } from "./list-kept.ts";
import type { RunFolders } from "./run-site.ts";
import { isChanged, removeHalfMade, removeShell, shellTrees, usersOf } from "./shell-tree.ts";

export interface Removal {
  readonly removed: readonly KeptThing[];
  readonly failed: readonly { readonly thing: KeptThing; readonly message: string }[];
}

/** Files first: git needs some room to remove refs, and a disk may be full. */
export async function removeKept(place: KeptPlace, things: readonly KeptThing[]): Promise<Removal> {
  const removed: KeptThing[] = [];
  const failed: { thing: KeptThing; message: string }[] = [];
  const inOrder = things.toSorted((a, b) => keptKinds.indexOf(a.kind) - keptKinds.indexOf(b.kind));
  for (const thing of inOrder) {
    const done = await remove(place, thing).catch((error: unknown) => failedWith(error));
    if (done.ok) removed.push(thing);
    else failed.push({ thing, message: done.failure.message });
  }
  return { removed, failed };
}

const failedWith = (error: unknown): Result<void> =>
  fail("disk", error instanceof Error ? error.message : String(error));

async function remove(kept: KeptPlace, thing: KeptThing): Promise<Result<void>> {
  const { place } = thing;
  switch (thing.kind) {
    case "transcript":
      await removeTranscript(place);
      return succeed(undefined);
    case "dependencies":
      await removeEntry(dependencyFolder(kept.folders.checks), place);
      return isGone(place);
    case "shell":
      return removeTree(kept, thing);
    case "checkout":
    case "set-aside":
    case "rescue":
      await removeFolder(place);
      return isGone(place);
    case "run": {
      const refs = await refsOfRuns(kept.git);
      if (!refs.ok) return refs;
      const own = refs.value.get(place) ?? [];
      return updateRefs(
        kept.git,
        own.map((ref) => ({ ref, to: null })),
      );
    }
  }
}

async function removeTranscript(file: string): Promise<void> {
  await rm(file, { force: true });
  try {
    fs.rmdirSync(path.dirname(file));
  } catch {
    // Others of its run are still there.
  }
}

/** Looked at once more: somebody may have gone in since it was listed. */
async function removeTree({ git }: KeptPlace, thing: KeptThing): Promise<Result<void>> {
  const { trees, halfMade } = shellTrees(git);
  if (halfMade.includes(thing.place)) await removeHalfMade(git, thing.place);
  const tree = trees.find((each) => each.path === thing.place);
  if (!tree) return succeed(undefined);
  if (usersOf(tree).length > 0) return fail("locked", "somebody is in it");
  if (!thing.precious && (await isChanged(tree))) return fail("locked", "somebody has changed it");
  await removeShell(tree);
  return isGone(thing.place);
}

/** A folder that is not ours to remove stays, without a word from whoever tried. */
const isGone = (file: string): Result<void> =>
  fs.lstatSync(file, { throwIfNoEntry: false })
    ? fail("disk", `${file} cannot be removed: its permissions forbid it`)
    : succeed(undefined);

/** At the end of a run, without a word: a cap that nobody has to think of. */
export async function trimTranscripts(
  folders: Pick<RunFolders, "transcripts">,
  run: string,
  mostBytes: number,
): Promise<void> {
  const things = transcriptsKept(folders, run);
  const rule = { now: 0, days: Number.POSITIVE_INFINITY, mostBytes, shells: false, rescue: false };
  for (const { thing } of whatToRemove(things, rule).remove) {
    await removeTranscript(thing.place).catch(() => {});
  }
}
