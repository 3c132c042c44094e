/** What a run builds on and where it will be published; what is unusual is asked for or refused. */
import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { CommitMode } from "../core/plan/run-event.ts";
import type { Git } from "../git/call.ts";
import {
  branchOf,
  commitAt,
  commitTree,
  identityOf,
  indexInfo,
  updateRefs,
  writeBlob,
} from "../git/objects.ts";
import { changesBetween, treeWith } from "../git/trees.ts";
import { checkedOutIn, dirtyPaths, isIgnored, underWay, unmergedPaths } from "../git/user-tree.ts";
import { captureTree } from "../git/worktrees.ts";
import { type Asker, askOnce } from "./ask.ts";
import { isOurs, landedRef } from "./run-site.ts";
import { type BuildOptions, type Intended, realPath } from "./start-run.ts";

export interface Ground {
  readonly base: string;
  readonly target: string;
  readonly targetAt: string;
  readonly planFiles: Record<string, string>;
}

/** HEAD, as a rule: what it is not is asked for or refused. */
export async function findGround(
  asker: Asker,
  git: Git,
  intended: Intended,
  options: BuildOptions,
  mode: CommitMode,
  scratch: string,
): Promise<Result<Ground>> {
  const head = await commitAt(git, "HEAD");
  if (head === undefined) {
    return fail("no-commits", "the repository has no commit yet: there is nothing to build on", {
      hint: "git add -A && git commit -m 'First commit'",
    });
  }
  const busy = underWay(git);
  if (busy !== undefined) {
    return fail("busy-repository", `${busy} is under way in this repository`, {
      hint: "finish or abort it, then run the same command again",
    });
  }
  const unmerged = await unmergedPaths(git);
  if (!unmerged.ok) return unmerged;
  if (unmerged.value.length > 0) {
    const names = unmerged.value.slice(0, 4).join(", ");
    return fail("busy-repository", `there are conflicts that nobody has resolved: ${names}`, {
      hint: "resolve them (git add), then run the same command again",
    });
  }
  const target = await chooseTarget(git, options, mode, head);
  if (!target.ok) return target;
  const planFiles = await planBlobs(git, asker.project.root, intended);
  if (!planFiles.ok) return planFiles;
  const { ref, at } = target.value;
  // A branch that nobody looks at is built on as it is, whatever lies in the tree.
  const elsewhere = options.branch !== undefined && at !== "" && (await branchOf(git)) !== ref;
  const base = elsewhere
    ? succeed({ base: at })
    : await chooseBase(asker, git, { head, mode, planFiles: planFiles.value, scratch });
  if (!base.ok) return base;
  return succeed({
    base: base.value.base,
    target: ref,
    targetAt: "committed" in base.value ? base.value.base : at,
    planFiles: planFiles.value,
  });
}
async function chooseTarget(
  git: Git,
  { branch }: BuildOptions,
  mode: CommitMode,
  head: string,
): Promise<Result<{ ref: string; at: string }>> {
  if (branch === undefined) {
    return succeed({
      ref: mode === "message-only" ? "" : ((await branchOf(git)) ?? "HEAD"),
      at: head,
    });
  }
  if (mode === "message-only") {
    return fail("usage", "--branch needs a mode that commits: message-only leaves branches alone", {
      hint: "--commit=auto --branch …",
    });
  }
  const ref = `refs/heads/${branch.replace(/^refs\/heads\//, "")}`;
  const valid = await git.call({ args: ["check-ref-format", ref], expect: [1] });
  if (!valid.ok || valid.value.code !== 0) {
    return fail("usage", `"${branch}" cannot be the name of a branch`, {
      hint: "--branch feature/x",
    });
  }
  const elsewhere = await checkedOutIn(git, ref);
  if (elsewhere !== undefined && realPath(elsewhere) !== realPath(git.place.workTree)) {
    return fail(
      "usage",
      `${branch} is checked out in ${elsewhere}: it would change under that tree`,
      {
        hint: "name another branch, or run there",
      },
    );
  }
  return succeed({ ref, at: (await commitAt(git, ref)) ?? "" });
}

/** As git would store them, so that line ends do not make a difference. */
async function planBlobs(
  git: Git,
  root: string,
  { opened, outside }: Intended,
): Promise<Result<Record<string, string>>> {
  const blobs: Record<string, string> = {};
  if (outside) return succeed(blobs);
  for (const { file } of opened.sources) {
    if (await isIgnored(git, file)) return succeed({});
    const blob = await writeBlob(git, fs.readFileSync(path.join(root, file)), file);
    if (!blob.ok) return blob;
    blobs[file] = blob.value;
  }
  return succeed(blobs);
}

async function chooseBase(
  asker: Asker,
  git: Git,
  start: {
    readonly head: string;
    readonly mode: CommitMode;
    readonly planFiles: Readonly<Record<string, string>>;
    readonly scratch: string;
  },
): Promise<Result<{ base: string; committed?: true }>> {
  const { head, mode, planFiles, scratch } = start;
  const dirty = await dirtyPaths(git);
  if (!dirty.ok) return dirty;
  const theirs = dirty.value.filter((file) => !isOurs(file) && planFiles[file] === undefined);
  if (theirs.length === 0) return succeed({ base: head });
  const some =
    theirs.slice(0, 4).join(", ") + (theirs.length > 4 ? ` and ${theirs.length - 4} more` : "");
  const snapshot = await snapshotOf(asker, git, head, scratch);
  if (!snapshot.ok) return snapshot;
  const chosen = await askOnce(asker, {
    kind: "dirty-tree",
    subject: asker.project.root,
    cycle: 1,
    cause: snapshot.value.tree,
    question: `the tree has changes that are not committed (${some})`,
    options: [
      {
        key: "A",
        text: "Use a snapshot of it as the base; your tree, index and branch stay as they are",
        ...(mode !== "message-only" && {
          notes: ["when the first phase is published, the snapshot is a commit below it"],
        }),
      },
      { key: "B", text: "Commit it now, as one commit on your branch" },
      { key: "C", text: "Stop; nothing is changed" },
    ],
    recommendation: "A",
    reason: "nothing of yours is touched, and the phases see what you see",
    blocks: "the run",
  });
  if (!chosen.ok) return chosen;
  if (chosen.value === "A") return succeed({ base: snapshot.value.commit });
  if (chosen.value === "B") {
    const committed = await commitAll(git, head, snapshot.value.commit);
    return committed.ok ? succeed({ base: snapshot.value.commit, committed: true }) : committed;
  }
  return fail("busy-repository", "the tree has changes that are not committed", {
    hint: "commit or stash them, then run the same command again",
  });
}

/** Everything that git does not ignore, as it stands, in a commit that nothing points to yet. */
async function snapshotOf(
  asker: Asker,
  git: Git,
  parent: string,
  scratch: string,
): Promise<Result<{ tree: string; commit: string }>> {
  fs.mkdirSync(scratch, { recursive: true });
  const index = path.join(scratch, "snapshot-index");
  const captured = await captureTree(git, index);
  if (!captured.ok) return captured;
  const changes = await changesBetween(git, parent, captured.value);
  if (!changes.ok) return changes;
  const ours = changes.value.filter((change) => isOurs(change.path));
  const tree = await treeWith(
    git,
    captured.value,
    new Map(ours.map((change) => [change.path, change.old])),
  );
  fs.rmSync(index, { force: true });
  if (!tree.ok) return tree;
  const commit = await commitTree(git, {
    tree: tree.value,
    parent,
    message: "chore: work in progress before the run\n",
    at: asker.project.world.now(),
    by: await identityOf(git),
  });
  return commit.ok ? succeed({ tree: tree.value, commit: commit.value }) : commit;
}

async function commitAll(git: Git, from: string, commit: string): Promise<Result<void>> {
  const target = (await branchOf(git)) ?? "HEAD";
  const moved = await updateRefs(git, [{ ref: target, to: commit, from }], {
    noDeref: target === "HEAD",
    reason: "autobuild: work in progress before the run",
  });
  if (!moved.ok) return moved;
  // The files are what was committed: only the entries that differ have to follow, so that what
  // a sparse checkout leaves out stays left out.
  const changes = await changesBetween(git, from, commit);
  if (!changes.ok) return changes;
  const entries = new Map(changes.value.map((change) => [change.path, change.now]));
  const input = indexInfo(entries, commit);
  const followed = await git.call({ args: ["update-index", "-z", "--index-info"], input });
  return followed.ok ? succeed(undefined) : followed;
}

/** The run's own ref, from its first moment: what it lands on is never collected as garbage. */
export const anchor = (git: Git, run: string, base: string): Promise<Result<void>> =>
  updateRefs(git, [{ ref: landedRef(run), to: base }]);
