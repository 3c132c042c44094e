/** What an attempt has made of its phase: a commit that is kept, or the work tree that it is in. */
import * as fs from "node:fs";
import * as path from "node:path";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { AttemptRecord } from "../core/plan/attempts.ts";
import type { Git } from "../git/call.ts";
import { commitAt } from "../git/objects.ts";
import { attemptNamed, type PhaseHistory } from "./find-attempt.ts";
import { attemptFolder, attemptRef, interruptedRef } from "./run-site.ts";

export type AttemptWork =
  | {
      readonly is: "kept";
      readonly record: AttemptRecord;
      readonly base: string;
      readonly commit: string;
    }
  | {
      readonly is: "under-way";
      readonly record: AttemptRecord;
      readonly base: string;
      readonly tree: string;
      readonly gitDir: string;
    };

/** Of the attempt that was named, or of the last that has left something; `kept`: as a commit. */
export async function findWork(
  git: Git,
  history: PhaseHistory,
  wanted: number | undefined,
  { kept = false } = {},
): Promise<Result<AttemptWork>> {
  const named = attemptNamed(history, wanted);
  if (!named.ok) return skipped(history) ?? named;
  const candidates = wanted === undefined ? history.attempts.toReversed() : [named.value];
  for (const record of candidates) {
    const work = await workOf(git, history, record);
    if (work && (work.is === "kept" || !kept)) return succeed(work);
  }
  return named.value.how === "working" && kept
    ? stillWorking(history, named.value)
    : nothingLeft(git, history, wanted);
}

async function workOf(
  git: Git,
  { run, id }: PhaseHistory,
  record: AttemptRecord,
): Promise<AttemptWork | undefined> {
  const { attempt, how } = record;
  if (how === "working") {
    const tree = treeOfAttempt(git, attemptFolder(run, id));
    if (tree) return { is: "under-way", record, base: record.base, ...tree };
  }
  const names = [
    ...(record.commit === undefined ? [] : [record.commit]),
    attemptRef(run.id, id, attempt),
    interruptedRef(run.id, id, attempt),
  ];
  for (const name of names) {
    const commit = await commitAt(git, name);
    if (commit === undefined) continue;
    const base = how === "landed" ? undefined : await commitAt(git, record.base);
    return { is: "kept", record, base: base ?? `${commit}^`, commit };
  }
  return undefined;
}

/** Where it is, by what git knows of it: the run may have been begun in another work tree. */
function treeOfAttempt(git: Git, name: string): { tree: string; gitDir: string } | undefined {
  const gitDir = path.join(git.place.commonDir, "worktrees", name);
  try {
    const tree = path.dirname(fs.readFileSync(path.join(gitDir, "gitdir"), "utf8").trim());
    return path.basename(tree) === name && fs.existsSync(tree) ? { tree, gitDir } : undefined;
  } catch {
    return undefined;
  }
}

const stillWorking = (
  { written }: PhaseHistory,
  { attempt }: AttemptRecord,
): ReturnType<typeof fail> =>
  fail(
    "not-found",
    `attempt ${attempt} at phase ${written} is under way: it has left nothing yet`,
    {
      hint: `autodev diff ${written} shows what it has done so far`,
    },
  );

function skipped({ written, progress }: PhaseHistory): ReturnType<typeof fail> | undefined {
  if (progress.state.is !== "skipped") return undefined;
  return fail("not-found", `phase ${written} was skipped: ${progress.state.reason}`, {
    hint: "it was done before the run began: git log tells by whom",
  });
}

async function nothingLeft(
  git: Git,
  history: PhaseHistory,
  wanted: number | undefined,
): Promise<ReturnType<typeof fail>> {
  const { written } = history;
  const left: number[] = [];
  for (const record of history.attempts) {
    if (await workOf(git, history, record)) left.push(record.attempt);
  }
  const message =
    wanted === undefined
      ? `no attempt at phase ${written} has left anything that is kept`
      : `attempt ${wanted} at phase ${written} has left nothing that is kept`;
  return fail("not-found", message, {
    hint:
      left.length > 0
        ? `those that have: ${left.join(", ")}`
        : `autodev log ${written} --attempts tells how they ended`,
  });
}
