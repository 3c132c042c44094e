/** What a phase has changed, or is changing: `autodev diff`. */
import { fail, type Result, succeed } from "../core/failure.ts";
import type { AttemptRecord } from "../core/plan/attempts.ts";
import { type Git, openGit } from "../git/call.ts";
import { type FileChange, filesBetween, patchBetween, treeNow } from "../git/differences.ts";
import { findWork } from "./attempt-work.ts";
import { findPhase, type PhaseHistory } from "./find-attempt.ts";
import type { Project } from "./hold.ts";

export interface PhaseDiff {
  readonly history: PhaseHistory;
  readonly record: AttemptRecord;
  readonly base: string;
  /** Null: it is under way, and this is what lies in its work tree. */
  readonly commit: string | null;
  readonly files: readonly FileChange[];
  /** Absent: it was not asked for. */
  readonly patch?: Buffer;
  /** There is more than it shows. */
  readonly cut?: true;
}

/** Of no more files than have so many lines together, and no more of them than these bytes. */
export interface PatchLimits {
  readonly lines: number;
  readonly bytes: number;
}

export async function phaseDiff(
  project: Project,
  name: string,
  options: {
    readonly attempt?: number;
    readonly patch: boolean | PatchLimits;
    /** Absent: the current one. */
    readonly run?: string;
  },
): Promise<Result<PhaseDiff>> {
  const { repository } = project;
  if (!repository) return fail("no-repository", `${project.root} is not in a git repository`);
  const history = findPhase(project, name, options.run);
  if (!history.ok) return history;
  const git = openGit({ ...repository, workTree: repository.root });
  const work = await findWork(git, history.value, options.attempt);
  if (!work.ok) return work;
  const { record, base } = work.value;
  const about = { history: history.value, record, base };
  if (work.value.is === "kept") {
    const { commit } = work.value;
    const between = await difference(git, base, commit, options.patch);
    return between.ok ? succeed({ ...about, commit, ...between.value }) : between;
  }
  const { tree: workTree, gitDir } = work.value;
  const now = await treeNow(git, { gitDir, workTree });
  if (!now.ok) return now;
  const between = await difference(now.value.git, base, now.value.tree, options.patch);
  await now.value.forget();
  return between.ok ? succeed({ ...about, commit: null, ...between.value }) : between;
}

async function difference(
  git: Git,
  from: string,
  to: string,
  wanted: boolean | PatchLimits,
): Promise<Result<Pick<PhaseDiff, "files" | "patch" | "cut">>> {
  const files = await filesBetween(git, from, to);
  if (!files.ok || wanted === false) return files.ok ? succeed({ files: files.value }) : files;
  const shown = wanted === true ? files.value : firstOf(files.value, wanted.lines);
  const isWhole = shown.length === files.value.length;
  if (!isWhole && shown.length === 0)
    return succeed({ files: files.value, patch: Buffer.alloc(0), cut: true });
  const patch = await patchBetween(git, from, to, {
    only: isWhole ? [] : shown,
    mostBytes: wanted === true ? undefined : wanted.bytes,
  });
  if (!patch.ok) return patch;
  const { bytes, cut } = patch.value;
  return succeed({ files: files.value, patch: bytes, ...((cut || !isWhole) && { cut: true }) });
}

function firstOf(files: readonly FileChange[], most: number): readonly FileChange[] {
  let lines = 0;
  const end = files.findIndex(({ added, deleted }, at) => {
    lines += (added ?? 0) + (deleted ?? 0);
    return lines > most || at >= mostFiles;
  });
  return end < 0 ? files : files.slice(0, end);
}

/** As many as fit on a command line. */
const mostFiles = 500;
