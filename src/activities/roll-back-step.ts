/**
 * A document step is undone: the files that it produces are again what they were when it was last
 * completed, in the user's tree and as a new commit of ours.
 *
 *  1. What would be lost is kept first: bytes in the work tree or in the index that neither HEAD nor
 *     the commit has, untracked files too, exactly as they are, in a commit under the rescue ref.
 *  2. That ref is the intent as well. Where it is there, we have begun, and go on.
 *  3. A file is replaced only if it is still the one that was looked at; a new one comes whole, by a
 *     rename within its folder, and never through a link.
 *  4. The commit comes last. Where it is there, everything is done.
 *  5. State files are nobody's artifacts: they are not touched.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Glob } from "../core/flow/flow.ts";
import type { Git } from "../git/call.ts";
import {
  checkedOut,
  commitAt,
  commitTree,
  identityOf,
  treeOf,
  updateRefs,
  writeBlob,
} from "../git/objects.ts";
import { quoted } from "../git/pipes.ts";
import { type Entry, treeWith } from "../git/trees.ts";
import { removeFolder } from "../git/worktrees.ts";
import { diskTrouble } from "./attempt-phase.ts";
import { isSame, scratchOf } from "./commit-step.ts";
import { type DocsFile, docsAt, docsFolder, isStateFile } from "./docs-tree.ts";
import {
  commitOf,
  emptyTree,
  findDocs,
  finishCommit,
  type Ground,
  makeCommit,
  type NotNow,
  notNow,
  type OwnCommit,
} from "./own-commit.ts";
import { isPlainWay, placeFile, takeAway } from "./place-file.ts";
import { leaveIndex } from "./publish-index.ts";
import { removeOwnLocks } from "./recover.ts";

export interface RolledBack {
  readonly path: string;
  readonly how: "restored" | "brought back" | "removed";
}

export interface WhatRollsBack {
  readonly is: "changes";
  readonly changes: readonly RolledBack[];
  /** What was looked at: another one, and the answer that somebody gave was about something else. */
  readonly world: string;
}

export interface StepToRollBack {
  /** The step's last completion. */
  readonly commit: string;
  /** What it produces, relative to `_docs/`. */
  readonly globs: readonly Glob[];
}

/** Looks only: what has to be stored for the look is stored elsewhere. */
export async function whatRollsBack(
  git: Git,
  step: StepToRollBack,
): Promise<Result<WhatRollsBack | NotNow>> {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "autodev-docs-"));
  try {
    const objects = path.join(scratch, "objects");
    fs.mkdirSync(objects);
    const aside = git.at(
      {},
      {
        GIT_OBJECT_DIRECTORY: objects,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(path.join(git.place.commonDir, "objects")),
      },
    );
    const look = await lookAt(aside, step, scratch);
    if (!look.ok || look.value.is === "not-now") return look as Result<NotNow>;
    const { changes, world } = look.value;
    return succeed({ is: "changes", changes: changes.map(asTold), world });
  } catch (error) {
    return { ok: false, failure: diskTrouble(error, scratch) };
  } finally {
    await removeFolder(scratch);
  }
}

export type StepRolledBack =
  | {
      readonly is: "rolled-back";
      readonly commit: string;
      /** Where the bytes are that would have been lost; undefined: there were none. */
      readonly rescued?: string;
    }
  | { readonly is: "nothing" }
  | NotNow;

export async function rollBackStep(
  git: Git,
  step: StepToRollBack &
    Omit<OwnCommit, "hooks"> & {
      /** `refs/autodev/rescue/…`, this one's own. */
      readonly rescueRef: string;
      /** As `whatRollsBack` said when somebody was asked. */
      readonly world?: string;
    },
): Promise<Result<StepRolledBack>> {
  const { rescueRef } = step;
  if (!rescueRef.startsWith("refs/autodev/rescue/"))
    throw new Error(`${rescueRef} rescues nothing`);
  const scratch = scratchOf(git, step.id);
  try {
    removeOwnLocks(git);
    for (let tries = 5; tries > 0; tries--) {
      const made = await commitOf(git, step.id);
      if (!made.ok) return made;
      if (made.value !== undefined) {
        const finished = await finishCommit(git, step, made.value);
        if (!finished.ok || finished.value.is === "not-now") return finished as Result<NotNow>;
        return await closed(git, step, made.value);
      }
      const look = await lookTwice(git, step, scratch);
      if (!look.ok || look.value.is === "not-now") return look as Result<NotNow>;
      if (look.value.is === "moved") continue;
      const begun = await commitAt(git, rescueRef);
      const { ground, changes, world } = look.value;
      if (begun === undefined) {
        if (changes.length === 0) return succeed({ is: "nothing" });
        if (step.world !== undefined && step.world !== world)
          return succeed(notNow("the files are not what they were when you were asked"));
      }
      const inTheWay = whatIsInTheWay(git.place.workTree, changes);
      if (inTheWay !== undefined) return succeed(notNow(inTheWay));
      const kept = await keepWhatIsLost(git, step, look.value, begun);
      if (!kept.ok) return kept;
      const replaced = await replaceAll(git, step, look.value);
      if (!replaced.ok) return replaced;
      if (!replaced.value) continue;
      const rolled = changes.map(({ path: file, head, want }) => ({
        path: file,
        old: head,
        now: want,
      }));
      const done = await makeCommit(git, step, ground, rolled);
      if (!done.ok) return done;
      if (done.value.is === "committed") return await closed(git, step, done.value.commit);
      if (done.value.is === "not-now") return succeed(done.value);
    }
    return succeed(notNow("somebody else is at work on these files"));
  } catch (error) {
    return { ok: false, failure: diskTrouble(error, path.join(git.place.workTree, docsFolder)) };
  } finally {
    leaveIndex({ git, id: step.id });
    await removeFolder(scratch);
  }
}

/** A ref that keeps nothing but our intent goes when all is done. */
async function closed(
  git: Git,
  { rescueRef, commit: target }: { readonly rescueRef: string; readonly commit: string },
  commit: string,
): Promise<Result<StepRolledBack>> {
  const kept = await commitAt(git, rescueRef);
  if (kept !== undefined && kept !== (await commitAt(git, target)))
    return succeed({ is: "rolled-back", commit, rescued: rescueRef });
  if (kept !== undefined) {
    const gone = await updateRefs(git, [{ ref: rescueRef, to: null, from: kept }]);
    if (!gone.ok) return gone;
  }
  return succeed({ is: "rolled-back", commit });
}

// ── what differs ───────────────────────────────────────────────────────────────────────────────

interface Wanted extends DocsFile {
  /** As it was in the commit; null: it was not there. */
  readonly want: Entry | null;
}

interface Look {
  readonly is: "look";
  readonly ground: Ground;
  readonly changes: readonly Wanted[];
  readonly world: string;
}

async function lookAt(
  git: Git,
  { commit, globs }: StepToRollBack,
  scratch: string,
): Promise<Result<Look | NotNow>> {
  const target = await docsAt(git, commit);
  if (!target.ok) return target;
  const isMeant = (file: string): boolean =>
    !isStateFile(file) && globs.some((glob) => glob.test(file.slice(docsFolder.length + 1)));
  const wanted = new Map(
    [...target.value].filter(([file, { mode }]) => isMeant(file) && mode !== "160000"),
  );
  const ground = await findDocs(git, scratch, [...wanted.keys()]);
  if (!ground.ok || ground.value.is === "not-now") return ground as Result<NotNow>;
  const changes = ground.value.files
    .filter(({ path: file }) => isMeant(file))
    .map((file): Wanted => ({ ...file, want: wanted.get(file.path) ?? null }))
    .filter(
      ({ head, staged, now, want }) => ![head, staged, now].every((each) => isSame(each, want)),
    );
  const seen = JSON.stringify([commit, changes]);
  const world = createHash("sha256").update(seen).digest("hex");
  return succeed({ is: "look", ground: ground.value, changes, world });
}

const asTold = ({ path: file, head, now, want }: Wanted): RolledBack => {
  if (want === null) return { path: file, how: "removed" };
  const isBack = now === null || (isSame(now, want) && head === null);
  return { path: file, how: isBack ? "brought back" : "restored" };
};

interface SecureLook extends Look {
  /** The files as they were before the last look: one that is like this still is what was seen. */
  readonly stamps: ReadonlyMap<string, string>;
}

async function lookTwice(
  git: Git,
  step: StepToRollBack,
  scratch: string,
): Promise<Result<SecureLook | NotNow | { is: "moved" }>> {
  const first = await lookAt(git, step, scratch);
  if (!first.ok || first.value.is === "not-now") return first as Result<NotNow>;
  const root = git.place.workTree;
  const stamps = new Map(first.value.changes.map((each) => [each.path, stampOf(root, each.path)]));
  const second = await lookAt(git, step, scratch);
  if (!second.ok || second.value.is === "not-now") return second as Result<NotNow>;
  if (second.value.world !== first.value.world) return succeed({ is: "moved" });
  return succeed({ ...second.value, stamps });
}

const nothingThere = "-";

function stampOf(root: string, file: string): string {
  if (!isPlainWay(root, path.posix.dirname(file))) return nothingThere;
  const stat = fs.lstatSync(path.join(root, file), { throwIfNoEntry: false, bigint: true });
  return stat ? `${stat.ino} ${stat.ctimeNs} ${stat.size}` : nothingThere;
}

/** A sentence about what is neither to be replaced nor to be gone through. */
function whatIsInTheWay(root: string, changes: readonly Wanted[]): string | undefined {
  const leaving = new Set(changes.filter(({ want }) => want === null).map((each) => each.path));
  for (const { path: file, want } of changes) {
    if (want === null) continue;
    const parts = file.split("/");
    for (let at = 1; at < parts.length; at++) {
      const folder = parts.slice(0, at).join("/");
      const stat = fs.lstatSync(path.join(root, folder), { throwIfNoEntry: false });
      if (!stat || (!stat.isDirectory() && leaving.has(folder))) break;
      if (!stat.isDirectory()) return `${folder} is in the way of ${file}: it is no folder`;
    }
    if (isPlainWay(root, file) && !holdsOnly(root, file, leaving))
      return `${file} is a folder in which there are other files`;
  }
  return undefined;
}

const holdsOnly = (root: string, folder: string, leaving: ReadonlySet<string>): boolean =>
  fs.readdirSync(path.join(root, folder), { withFileTypes: true }).every((entry) => {
    const inner = `${folder}/${entry.name}`;
    return entry.isDirectory() ? holdsOnly(root, inner, leaving) : leaving.has(inner);
  });

// ── what would be lost ─────────────────────────────────────────────────────────────────────────

/**
 * Bytes that no commit has. What is staged comes first, what lies in the tree on top of it: both can
 * be had back from the one ref. Nothing to keep: it names the commit that we go back to.
 */
async function keepWhatIsLost(
  git: Git,
  step: StepToRollBack & Pick<OwnCommit, "id" | "at"> & { readonly rescueRef: string },
  { ground, changes }: SecureLook,
  begun: string | undefined,
): Promise<Result<void>> {
  const target = await commitAt(git, step.commit);
  if (target === undefined)
    return fail("git", `git has no commit ${step.commit}`, {
      hint: "git fsck tells whether the repository is sound; then run the same command again",
    });
  const staged = new Map<string, Entry>();
  const lying = new Map<string, Entry>();
  for (const file of changes) {
    const { path: name, now } = file;
    if (isLostStaged(file)) staged.set(name, file.staged);
    if (now === null || [file.head, file.want].some((each) => isSame(each, now))) continue;
    const blob = await asItLies(git, name, now);
    if (!blob.ok) return blob;
    lying.set(name, { mode: now.mode, blob: blob.value });
  }
  const isKeeping = begun !== undefined && begun !== target;
  let tip = isKeeping ? begun : ground.head;
  for (const [what, entries] of [
    ["staged", staged],
    ["in the work tree", lying],
  ] as const) {
    if (entries.size === 0) continue;
    const kept = await keep(git, step, tip, { what, entries });
    if (!kept.ok) return kept;
    tip = kept.value;
  }
  const lost = staged.size + lying.size > 0;
  if (!lost && begun !== undefined) return succeed(undefined);
  const to = lost && tip !== undefined ? tip : target;
  return updateRefs(git, [{ ref: step.rescueRef, to, from: begun ?? "" }]);
}

/** An empty file is no loss: it is also what git has for one that is only going to be added. */
const isLostStaged = (file: Wanted): file is Wanted & { staged: Entry } => {
  const { staged, head, now, want } = file;
  const known = [head, now, want].map((each) => each?.blob);
  return staged !== null && !known.includes(staged.blob) && !emptyBlobs.has(staged.blob);
};

const emptyBlobs = new Set(
  ["sha1", "sha256"].map((hash) => createHash(hash).update("blob 0\0").digest("hex")),
);

/** Byte for byte: what git would store has other line ends, perhaps. */
async function asItLies(git: Git, file: string, { mode, blob }: Entry): Promise<Result<string>> {
  if (mode === "120000") return succeed(blob);
  return writeBlob(git, fs.readFileSync(path.join(git.place.workTree, file)));
}

async function keep(
  git: Git,
  { id, at }: Pick<OwnCommit, "id" | "at">,
  parent: string | undefined,
  { what, entries }: { readonly what: string; readonly entries: ReadonlyMap<string, Entry> },
): Promise<Result<string>> {
  const before = parent === undefined ? await emptyTree(git) : await treeOf(git, parent);
  if (!before.ok) return before;
  const tree = await treeWith(git, before.value, entries);
  if (!tree.ok) return tree;
  return commitTree(git, {
    tree: tree.value,
    ...(parent !== undefined && { parent }),
    message: `What was ${what} before ${id}\n`,
    at,
    by: await identityOf(git),
  });
}

// ── the files ──────────────────────────────────────────────────────────────────────────────────

/** What goes makes room for what comes. False: somebody has changed one of them in this moment. */
async function replaceAll(
  git: Git,
  { commit, id }: Pick<StepToRollBack, "commit"> & Pick<OwnCommit, "id">,
  { changes, stamps }: SecureLook,
): Promise<Result<boolean>> {
  const root = git.place.workTree;
  const isStill = (file: string): boolean => stampOf(root, file) === stamps.get(file);
  const differing = changes.filter(({ now, want }) => !isSame(now, want));
  for (const { path: file, want } of differing) {
    if (want === null && !(isStill(file) && takeAway(root, file, docsFolder)))
      return succeed(false);
  }
  for (const { path: file, want } of differing) {
    if (want === null) continue;
    const bytes = await checkedOut(git, commit, file);
    if (bytes === undefined) return fail("git", `git cannot read ${file} in ${commit}`);
    const how = { id, isStill: () => isStill(file) };
    if (!placeFile(root, file, { bytes, mode: want.mode }, how)) return succeed(false);
  }
  return succeed(true);
}
