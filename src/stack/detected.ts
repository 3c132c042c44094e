/** What detection finds. */
import type { Gate, Stack } from "../core/plan/run-event.ts";

export interface Detected {
  readonly stack: Stack;
  readonly gates: readonly Gate[];
  /** Fills the dependency folders of a fresh checkout; absent: there is nothing to install. */
  readonly setup?: string;
  readonly dependencies: Dependencies;
  readonly because: readonly Because[];
  /** The paths that define what the gates do. */
  readonly surface: readonly string[];
}

/** What the set-up fills, and everything that decides with what. */
export interface Dependencies {
  readonly folders: readonly string[];
  /** Some may be absent: if they come, they decide. */
  readonly keyFiles: readonly string[];
  /** Programs whose versions decide it. */
  readonly tools: readonly string[];
}

/** `test_framework vitest`: devDependencies of package.json. */
export interface Because {
  readonly what: string;
  readonly why: string;
  readonly file: string;
}
