/**
 * What a display is told beside the events of a run: things that are true for a moment, or that
 * nobody needs to know afterwards. Nothing is decided by them and none of them is recorded.
 */
import type { RecordedEvent } from "../event.ts";

export interface Spend {
  readonly tokens: number;
  /** In dollars; absent: nobody said. */
  readonly cost?: number;
}

export type RunNews =
  /** A line that an agent or a gate printed. */
  | { readonly phase: string; readonly text: string }
  /** A gate begins; without a phase: on what the run builds on. */
  | { readonly gate: string; readonly command: string; readonly phase?: string }
  | { readonly notice: string }
  /** A session begins: everything so far, and how it is run. */
  | { readonly opened: Opened };

export interface Opened {
  readonly history: readonly RecordedEvent[];
  /** Phases at once. */
  readonly jobs: number;
  /** Only these; absent: all. */
  readonly only?: ReadonlySet<string>;
}
