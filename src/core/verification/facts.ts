/** Everything that a verification knows; gathered by one activity, so that judging needs no disk. */
import type { TestChange } from "../compare-tests.ts";
import type { Phase } from "../plan/plan.ts";
import type { Claim } from "../plan/progress.ts";
import type { GateOutcome, TestCounts, Traces } from "../plan/run-event.ts";

export interface Facts {
  readonly phase: Phase;
  /** Done by ourselves, to the letter: what is as the plan spells it out need not have changed. */
  readonly toTheLetter?: boolean;
  readonly claim: Claim;
  /** Seen when the agent had ended. */
  readonly traces: Traces;
  /** Against what the phase lands on; the plan's own files are not among them. */
  readonly changes: readonly ChangedFile[];
  /** Of the paths that the claim or the definition of done names: those in the tree. */
  readonly there: ReadonlySet<string>;
  /** Files that other phases declare and that are not theirs yet. */
  readonly others: ReadonlyMap<string, string>;
  readonly surface: readonly SurfaceChange[];
  /** Of programs and hooks outside the tree. */
  readonly toolsChanged: readonly string[];
  readonly hooksChanged: readonly string[];
  readonly tests: readonly TestChange[];
  /** How many more tests the code holds than before, in the files that the phase changed. */
  readonly testsAdded: number;
  /** Test files whose code could be read before and cannot be now. */
  readonly unreadable: readonly string[];
  readonly gates: readonly GateOutcome[];
  /** What each gate counted on the commit that the phase lands on. */
  readonly countsBefore: Readonly<Record<string, TestCounts>>;
}

export interface ChangedFile {
  readonly path: string;
  readonly change: "created" | "modified" | "deleted";
  readonly kind: "test" | "snapshot" | "document" | "lock" | "code" | "other";
  readonly empty?: true;
  /** A link that leads out of the tree, and where to. */
  readonly leadsTo?: string;
  /** Git would leave it out; somebody has put it in by force. */
  readonly ignored?: true;
  /** The line of a text that could pass for a test runner's last word, if the code printed it. */
  readonly forged?: number;
  /** The first line with a mark of a merge conflict that was not there before. */
  readonly marker?: number;
}

export interface SurfaceChange {
  /** `package.json#scripts`, `vitest.config.ts`. */
  readonly name: string;
  readonly file: string;
  readonly is: "added" | "changed" | "removed";
  /** The first line that differs, short. */
  readonly detail?: string;
  /** The gates that it could concern had no command before: it introduces them. */
  readonly introduces?: true;
}
