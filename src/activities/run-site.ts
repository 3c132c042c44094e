/** Where a run happens: its git, its folders, its people, and everything it may start. */
import * as fs from "node:fs";
import * as path from "node:path";
import type { Agent } from "../agent.ts";
import type { Sandbox } from "../core/agent/sandbox.ts";
import type { RecordedEvent } from "../core/event.ts";
import { fail, type Result, succeed } from "../core/failure.ts";
import type { Puller } from "../core/lease.ts";
import type { QuietHours } from "../core/notice.ts";
import type { CompiledPlan } from "../core/plan/compile.ts";
import type { Limits } from "../core/plan/next-moves.ts";
import { type PlanRun, phaseOf } from "../core/plan/progress.ts";
import type { RunEvent } from "../core/plan/run-event.ts";
import type { RunNews } from "../core/plan/run-news.ts";
import type { Settings } from "../core/settings.ts";
import type { SurfaceEntry } from "../core/trust.ts";
import type { Trusted } from "../exec.ts";
import type { Source } from "../formats/read-plan.ts";
import type { Git } from "../git/call.ts";
import type { Identity } from "../git/objects.ts";
import type { Dependencies } from "../stack.ts";
import type { ApprovedHooks } from "./commit-hooks.ts";
import type { Tools } from "./gate-surface.ts";
import type { Held, Project } from "./hold.ts";
import type { Along } from "./introduced-gates.ts";
import type { Ask } from "./open-flow.ts";
import type { PlanDisk } from "./plan-files.ts";
import type { RunShowing } from "./show-run.ts";
import type { FoundStack } from "./start-run.ts";

export interface RunSite {
  readonly project: Project;
  readonly held: Held;
  readonly git: Git;
  readonly id: string;
  readonly folders: RunFolders;
  readonly identity: Identity;
  agent(name: string): Agent;
  /** The agent cannot write the user's own files. */
  confined(agent: string): boolean;
  readonly sandbox: Sandbox;
  /** Folders of ours elsewhere on the machine that it cannot write either. */
  readonly closed: readonly string[];
  readonly setup: Trusted | undefined;
  /** What the set-up command fills, and what decides with what. */
  readonly dependencies?: Dependencies;
  /** Ignored files that the gates need, copied from the user's tree. */
  readonly checkoutFiles: readonly string[];
  /** Tests are tried without the code that they test. */
  readonly bite: boolean;
  /** The approved command of a gate. */
  gate(name: string): Trusted | undefined;
  /** What the tree of a commit offers, with the project's settings. */
  commandsAt(commit: string): Promise<Result<FoundStack>>;
  /** What is run at somebody's commit; undefined: the same as at one that the run trusts. */
  otherCommands(run: PlanRun, commit: string): Promise<Result<OtherCommands | undefined>>;
  /** Undefined: nothing was ever approved here, so nothing new is run. */
  approveAlong(commit: string, stack: FoundStack): Promise<Result<Along | undefined>>;
  /** What was approved along with a phase, by the set-up that it brought. */
  along(setup: string): Along | undefined;
  /** The set-up command as it stands at the tip. */
  setupText(run: PlanRun): string | undefined;
  /** Everything that defines the gates in a commit, by name. */
  surfaceAt(commit: string): Promise<Result<ReadonlyMap<string, string>>>;
  surfaceHash(commit: string): Promise<Result<string>>;
  /** Programs that the gates use, and git's hooks, as they were when the run was opened. */
  readonly tools: Tools;
  readonly hooks: readonly SurfaceEntry[];
  /** The approved hooks that a commit has git run. */
  readonly commitHooks: ApprovedHooks;
  /** All commands that may be run, for the programs that they name. */
  commands(): readonly string[];
  /** As it was read: texts, and what they mean. */
  plan(): { readonly sources: readonly Source[]; readonly compiled: CompiledPlan };
  run(): PlanRun;
  readonly showing: RunShowing;
  readonly limits: Omit<Limits, "now" | "stopping">;
  readonly disk: PlanDisk;
  /** It is on record: shown in the files, told to whoever watches. */
  happened(events: readonly RecordedEvent[]): void;
  /** The hash of what was approved, as other machines work it out, which lack the hooks of this one. */
  trustElsewhere(): Promise<Result<string>>;
  /** By its hash, on the command line: nothing is remembered then. */
  readonly trustGiven: boolean;
  /** What verified phases changed about the commands is trusted with them. */
  rememberTrust(): Promise<Result<void>>;
  /** What a display is told beside the events; nothing is decided by it. */
  tell(news: RunNews): void;
  readonly ask: Ask;
  readonly by: string;
  /** People want it to end; absent: `signal` tells, which also tells that we cannot go on. */
  readonly asked?: AbortSignal;
  /** Asked to stop; and at once. */
  readonly signal: AbortSignal;
  readonly killNow: AbortSignal;
  /** How much room the transcripts of all runs may take together. */
  readonly transcriptBytes: number;
  readonly attemptMs: number;
  readonly gateMs: number;
  /** An agent that has been silent for so long is taken for dead. */
  readonly idleMs: number;
  /** Nothing begins in these hours. */
  readonly quiet?: QuietHours;
  /** Puts on record what happens while a move is under way, as soon as that can be. */
  note(event: RunEvent): void;
  /** Somebody has come for work: phases are handed to him instead of being done by us. */
  readonly pull?: Pull;
  /** How long somebody who comes for work has it, unless he says that he goes on. */
  readonly leaseMs: number;
}

export interface OtherCommands {
  /** By which they are approved. */
  readonly hash: string;
  readonly difference: readonly string[];
}

export interface Pull {
  readonly puller: Puller;
  /** False: he reports, and fetches nothing now. */
  readonly fetches: boolean;
  /** He has it, as soon as the session has ended well. */
  lent(work: LentWork): void;
}

export const leaseMinutes = ({ build }: Settings): number => build?.lease_minutes ?? 30;

/** What somebody who came for work is given. */
export interface LentWork {
  /** By which it is reported. */
  readonly lease: string;
  readonly until: string;
  /** For people: "phase 2A", "step 3 Plan". */
  readonly what: string;
  /** Where it is done. */
  readonly folder: string;
  readonly brief: string;
  /** The same text, for hosts that cut what a tool says. */
  readonly briefFile: string;
}

export interface RunFolders {
  /** Attempts' work trees, inside the repository: some agents refuse to work outside it. */
  readonly attempts: string;
  /** Verification checkouts and indexes, outside it. */
  readonly checks: string;
  /** Briefs, results, indexes: never part of any tree. */
  readonly scratch: string;
  /** What agents and gates have printed. */
  readonly transcripts: string;
}

export const foldersOf = (root: string, commonDir: string, cache: string): RunFolders => ({
  attempts: path.join(root, ".autodev", "var"),
  checks: cache,
  scratch: path.join(commonDir, "autodev", "scratch"),
  transcripts: path.join(commonDir, "autodev", "transcripts"),
});

/** A link in their place would have us work, and tidy up, in somebody's folder. */
export function checkFolders(
  root: string,
  { attempts, scratch, transcripts }: RunFolders,
): Result<void> {
  const shown = fs.statSync(path.join(root, ".autobuild"), { throwIfNoEntry: false });
  if (shown && !shown.isDirectory()) {
    return fail("disk", ".autobuild is a file; the run's folder has to be there", {
      file: ".autobuild",
      hint: "mv .autobuild .autobuild.aside",
    });
  }
  const own = [path.dirname(attempts), attempts, path.dirname(scratch), scratch, transcripts];
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

/** An index of ours, one a slot. */
export const scratchIndex = ({ folders, id }: RunSite, slot: number): string =>
  path.join(folders.scratch, `${id}-index-${slot}`);

/** Refs of a run: none of them is a branch, none is ever pushed. */
export const landedRef = (run: string): string => `refs/autobuild/${run}/landed`;
export const attemptRef = (run: string, phase: string, attempt: number): string =>
  `refs/autobuild/${run}/attempts/${phase}-${attempt}`;
/** What an attempt had done when we died. */
export const interruptedRef = (run: string, phase: string, attempt: number): string =>
  `refs/autobuild/${run}/interrupted/${phase}-${attempt}`;

/** What somebody who came for it reported when his lease had long been over. */
export const lateRef = (run: string, phase: string, attempt: number, epoch: number): string =>
  `refs/autobuild/${run}/rescue/${phase}-${attempt}-${epoch}`;

/** Where the last attempt at a phase works: an agent that goes on does so where it was. */
export function attemptFolder(run: PlanRun, phase: string): string {
  const { attempts = 0, folder = attempts } = phaseOf(run, phase) ?? {};
  return `${run.id}-${phase}-${folder}`;
}

export const attemptBranch = (run: string, phase: string, attempt: number): string =>
  `autobuild/${run}/${phase}-${attempt}`;

/** Each slot has ports of its own, so that two servers under test never meet. */
export const slotEnvironment = (slot: number): Record<string, string> => ({
  AUTODEV_SLOT: String(slot),
  AUTODEV_PORT_BASE: String(firstPort + slot * portsEach),
  AUTODEV_PORT_COUNT: String(portsEach),
});
const firstPort = 20_000;
const portsEach = 100;

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
