/** Where a run happens: its git, its folders, its people, and everything it may start. */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Agent } from "../agent.ts";
import type { RecordedEvent } from "../core/event.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { CompiledPlan } from "../core/plan/compile.ts";
import type { Limits } from "../core/plan/next-moves.ts";
import type { PlanRun } from "../core/plan/progress.ts";
import type { Trusted } from "../exec.ts";
import type { Source } from "../formats/read-plan.ts";
import type { Git } from "../git/call.ts";
import type { Identity } from "../git/objects.ts";
import type { Held, Project } from "./hold.ts";
import type { Ask } from "./open-flow.ts";
import type { PlanDisk } from "./plan-files.ts";
import type { RunShowing } from "./show-run.ts";

export interface RunSite {
  readonly project: Project;
  readonly held: Held;
  readonly git: Git;
  readonly id: string;
  readonly folders: RunFolders;
  readonly identity: Identity;
  readonly agent: Agent;
  readonly setup: Trusted | undefined;
  /** The approved command of a gate. */
  gate(name: string): Trusted | undefined;
  /** As it was read: texts, and what they mean. */
  plan(): { readonly sources: readonly Source[]; readonly compiled: CompiledPlan };
  run(): PlanRun;
  readonly showing: RunShowing;
  readonly limits: Omit<Limits, "now" | "stopping">;
  readonly disk: PlanDisk;
  /** It is on record: shown in the files, told to whoever watches. */
  happened(events: readonly RecordedEvent[]): void;
  /** By its hash, on the command line: nothing is remembered then. */
  readonly trustGiven: boolean;
  /** What verified phases changed about the commands is trusted with them. */
  rememberTrust(): Promise<Result<void>>;
  /** What a display is told beside the events; nothing is decided by it. */
  tell(line: RunNews): void;
  readonly ask: Ask;
  readonly by: string;
  /** Asked to stop; and at once. */
  readonly signal: AbortSignal;
  readonly killNow: AbortSignal;
  readonly attemptMs: number;
  readonly gateMs: number;
}

export type RunNews =
  | { readonly phase: string; readonly text: string }
  | { readonly notice: string };

export interface RunFolders {
  /** Attempts' work trees, inside the repository: some agents refuse to work outside it. */
  readonly attempts: string;
  /** Verification checkouts and indexes, outside it. */
  readonly checks: string;
  /** Briefs, results, indexes: never part of any tree. */
  readonly scratch: string;
}

export const foldersOf = (root: string, commonDir: string, cache: string): RunFolders => ({
  attempts: path.join(root, ".autodev", "var"),
  checks: cache,
  scratch: path.join(commonDir, "autodev", "scratch"),
});

/** A link in their place would have us work, and tidy up, in somebody's folder. */
export function checkFolders(root: string, { attempts, scratch }: RunFolders): Result<void> {
  const shown = fs.statSync(path.join(root, ".autobuild"), { throwIfNoEntry: false });
  if (shown && !shown.isDirectory()) {
    return fail("disk", ".autobuild is a file; the run's folder has to be there", {
      file: ".autobuild",
      hint: "mv .autobuild .autobuild.aside",
    });
  }
  const own = [path.dirname(attempts), attempts, path.dirname(scratch), scratch];
  const link = own.find((folder) => {
    const stat = fs.lstatSync(folder, { throwIfNoEntry: false });
    return stat !== undefined && !stat.isDirectory();
  });
  if (link === undefined) return succeed(undefined);
  return fail("disk", `${link} is a link or a file; a folder of ours has to be there`, {
    file: link,
    hint: `mv ${link} ${link}.aside`,
  });
}

/** Refs of a run: none of them is a branch, none is ever pushed. */
export const landedRef = (run: string): string => `refs/autobuild/${run}/landed`;
export const attemptRef = (run: string, phase: string, attempt: number): string =>
  `refs/autobuild/${run}/attempts/${phase}-${attempt}`;
export const attemptBranch = (run: string, phase: string, attempt: number): string =>
  `autobuild/${run}/${phase}-${attempt}`;

/** Paths that no phase commits and no dirty tree is judged by. */
export const isOurs = (file: string): boolean =>
  file.startsWith(".autobuild/") ||
  file.startsWith(".autodev/var/") ||
  file === "_docs/_autodev_state.md" ||
  path.basename(file).startsWith(".autodev-tmp-");

/** Every failure of git or of the disk is one of the machine: the run stops, nothing is lost. */
export const refused = <T>(
  result: Extract<Result<T>, { ok: false }>,
): { is: "refused"; failure: typeof result.failure } => ({
  is: "refused",
  failure: result.failure,
});
