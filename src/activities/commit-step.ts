/**
 * The end of a step that writes documents: what lies below `_docs/` becomes a commit of ours on the
 * user's branch. Whatever else he has changed or staged stays exactly as it is, and out of it.
 */
import * as path from "node:path";
import { type Result, succeed } from "../core/failure.ts";
import type { Git } from "../git/call.ts";
import type { Change, Entry } from "../git/trees.ts";
import { removeFolder } from "../git/worktrees.ts";
import { docsFolder, isBelowDocs } from "./docs-tree.ts";
import {
  commitOf,
  findDocs,
  finishCommit,
  type Ground,
  makeCommit,
  type NotNow,
  notNow,
  type OwnCommit,
} from "./own-commit.ts";
import { leaveIndex } from "./publish-index.ts";

export type StepCommit =
  | { readonly is: "committed"; readonly commit: string }
  | { readonly is: "nothing" }
  | NotNow;

export interface StepToCommit extends OwnCommit {
  /** Files and folders below `_docs/`; all of it unless told. */
  readonly paths?: readonly string[];
}

/** `id` stands for one completion of one step: asked again, the same commit is the answer. */
export async function commitStep(git: Git, step: StepToCommit): Promise<Result<StepCommit>> {
  const outside = step.paths?.find((file) => file !== docsFolder && !isBelowDocs(file));
  if (outside !== undefined) throw new Error(`${outside} is not below ${docsFolder}/`);
  const scratch = scratchOf(git, step.id);
  try {
    for (let tries = 5; tries > 0; tries--) {
      const made = await commitOf(git, step.id);
      if (!made.ok) return made;
      if (made.value !== undefined) return await finishCommit(git, step, made.value);
      const ground = await findDocs(git, scratch);
      if (!ground.ok || ground.value.is === "not-now") return ground as Result<NotNow>;
      const changes = changesIn(ground.value, step.paths ?? [docsFolder]);
      if (changes.length === 0) return succeed({ is: "nothing" });
      const done = await makeCommit(git, step, ground.value, changes);
      if (!done.ok) return done;
      if (done.value.is !== "moved") return succeed(done.value);
    }
    return succeed(notNow("somebody else is committing here all the time"));
  } finally {
    leaveIndex({ git, id: step.id });
    await removeFolder(scratch);
  }
}

/** By the id: whoever is killed leaves a folder that his next life uses again. */
export const scratchOf = ({ place }: Git, id: string): string =>
  path.join(place.commonDir, "autodev", "scratch", `${id}-docs`);

const changesIn = ({ files }: Ground, paths: readonly string[]): Change[] =>
  files
    .filter(({ path: file }) =>
      paths.some((each) => file === each || file.startsWith(`${each.replace(/\/$/, "")}/`)),
    )
    .filter(({ head, now }) => !isSame(head, now))
    .map(({ path: file, head, now }) => ({ path: file, old: head, now }));

export const isSame = (a: Entry | null, b: Entry | null): boolean =>
  a?.blob === b?.blob && a?.mode === b?.mode;
